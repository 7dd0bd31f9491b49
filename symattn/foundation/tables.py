"""Tables of texts, as CSV or as a spreadsheet (.xlsx): read whatever program saved them, and written for any."""

from __future__ import annotations

import codecs
import csv
import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, time
from itertools import islice
from pathlib import Path

from symattn.errors import InputError
from symattn.foundation.files import LARGEST, read_bytes

KINDS = (".csv", ".tsv", ".xlsx")
READ = (*KINDS, ".xls", ".txt")
"""What is read: Blackboard calls text with tabs .xls."""
MOST_ROWS, MOST_COLUMNS = 20_000, 2_000

Rows = list[list[str]]
_WIDTHS = {"name": 24, "differs": 40, "then": 24, "would be": 60}


def read_table(path: Path, *, strict: bool = False) -> Rows:
    """The cells of a table as texts, row by row; `InputError` if the file cannot be read as one, `strict` also where
    quotation marks are left open.
    """
    check_kind(path, READ)
    content = read_bytes(path)
    try:
        rows = _of_xlsx(content) if path.suffix.lower() == ".xlsx" else _of_csv(content, strict)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    if len(rows) > MOST_ROWS or max(map(len, rows), default=0) > MOST_COLUMNS:
        raise InputError(f"{path} has more than {MOST_ROWS} rows or {MOST_COLUMNS} columns.")
    return rows


def check_kind(path: Path, kinds: Sequence[str] = KINDS) -> None:
    """`InputError` unless the name is that of a table."""
    if path.suffix.lower() not in kinds:
        raise InputError(f"{path} is not a table; a file that ends in .csv or .xlsx was expected.")


def table(path: Path, rows: Iterable[Sequence[str]]) -> bytes:
    """A table as the bytes of a file of that name."""
    if path.suffix.lower() == ".xlsx":
        return _as_xlsx(rows)
    return "".join(csv_lines(rows)).encode("utf-8-sig")  # without the mark, Excel reads S′ as three letters


def _of_csv(content: bytes, strict: bool) -> Rows:
    text = _text_of(content)
    first, _, others = text.partition("\n")
    said = _SEPARATOR.fullmatch(first.strip())  # Excel's own first line
    text = others if said else text
    first = next((line for line in text.splitlines() if line.strip()), "")
    delimiter = said[1] if said else max(",;\t", key=first.count)
    try:
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=strict)
        return [[typed_again(cell.strip()) for cell in row] for row in lines]
    except csv.Error as error:
        raise InputError(f"It cannot be read as CSV: {error}.") from error


_SEPARATOR = re.compile("sep=([,;\t|])")


def _text_of(content: bytes) -> str:
    """A text in UTF-8, UTF-16 or, as Excel saves CSV, Windows-1252."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = content.decode("utf-16", "replace")
    else:
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = content.decode("cp1252", "replace")
    if "\0" in text:
        raise InputError("It is not a text; CSV or a spreadsheet (.xlsx) was expected.")
    return text


def _of_xlsx(content: bytes) -> Rows:
    """The first sheet of a workbook; formulas are read as they are typed, so that =1/2 is 1/2."""
    from openpyxl import load_workbook

    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if sum(info.file_size for info in archive.infolist()) > LARGEST:
                raise InputError(f"It unpacks to more than {LARGEST // 2**20} MB.")
        book = load_workbook(io.BytesIO(content), read_only=True)
        lines = islice(book.worksheets[0].iter_rows(), MOST_ROWS + 1)
        rows = [[_text(cell) for cell in line[: MOST_COLUMNS + 1]] for line in lines]
    except InputError:
        raise
    except Exception as error:  # openpyxl lets errors of all kinds through
        raise InputError("It cannot be read as a spreadsheet (.xlsx).") from error
    while rows and not any(rows[-1]):
        rows.pop()
    return rows


def _text(cell: object) -> str:
    """What was typed into a cell."""
    value, number_format = getattr(cell, "value", None), str(getattr(cell, "number_format", "") or "")
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case datetime() | date() | time():
            place = getattr(cell, "coordinate", "a cell")
            raise InputError(
                f"{place} is a date ({value:%d.%m.%Y}): the spreadsheet made one of what was typed; format the cell as "
                "text and type it again (1/2)."
                if not isinstance(value, time)
                else f"{place} is a time; format the cell as text and type it again."
            )
        case int():
            return f"{value * 100}%" if number_format.endswith("%") else str(value)
        case float():
            return f"{value * 100:.15g}%" if number_format.endswith("%") else f"{value:.15g}"
    return str(value).strip().removeprefix("=")


def _as_xlsx(rows: Iterable[Sequence[str]]) -> bytes:
    """Every cell is text, so that 1/2 does not become a date, and nothing is taken for a formula."""
    from openpyxl import Workbook
    from openpyxl.styles import Font
    from openpyxl.utils import get_column_letter

    book = Workbook()
    sheet = book.active
    assert sheet is not None
    for i, row in enumerate(rows, 1):
        for j, value in enumerate(row, 1):
            cell = sheet.cell(i, j)
            if value:
                cell.value, cell.data_type = value, "s"
            cell.number_format = "@"
            if i == 1:
                cell.font = Font(bold=True)
                sheet.column_dimensions[get_column_letter(j)].width = _WIDTHS.get(value, max(8, len(value) + 2))
    sheet.freeze_panes = "B2"
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


# ------------------------------------------------------------------------------------------ for spreadsheets
# CSV that no spreadsheet takes for formulas, whatever it takes for the separator.


def csv_lines(table: Iterable[Sequence[object]], end: str = "\r\n") -> Iterator[str]:
    """The lines of a table as CSV (RFC 4180), each cell on one line and harmless."""
    for cells in table:
        out = io.StringIO()
        csv.writer(out, lineterminator=end).writerow([harmless(cell) for cell in cells])
        yield out.getvalue()


def harmless(cell: object) -> object:
    """A text in which nothing begins like a formula, neither the whole nor a part behind a separator.

    A spreadsheet in another country splits at semicolons what was written with commas, and would run the second part of
    `foo;=cmd|…`.  So an apostrophe, which spreadsheets read as "this is text", stands before =, +, − or @ at the
    beginning of every such part.  Numbers stay numbers; a number that was typed as a text, an id +1, stays a text.

    >>> harmless("foo;=cmd|' /C calc'!A0"), harmless("-3"), harmless(-3)
    ("foo;'=cmd|' /C calc'!A0", "'-3", -3)
    """
    if not isinstance(cell, str):
        return "" if cell is None else cell
    return _FORMULA.sub(r"\1'", " ".join(cell.split()))


def typed_again(cell: str) -> str:
    """The text that `harmless` was given, without the apostrophes.

    >>> typed_again("[[1,'-2]]"), typed_again("S'=S")
    ('[[1,-2]]', "S'=S")
    """
    return _HARMLESS.sub(r"\1", cell)


_SIGNS = "=+@\\-＝＋－＠﹢﹣﹦﹫"  # also their wide and small forms, which some programs make plain
_FORMULA = re.compile(rf'((?:^|[;,|])[\s"]*)(?=[{_SIGNS}])')
_HARMLESS = re.compile(rf"""((?:^|[;,|])[\s"]*)'(?=[{_SIGNS}])""")
