"""Workbooks of Excel and others (.xlsx) as text with tabs between its cells."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterator

from symattn.errors import InputError

MOST_ROWS, MOST_COLUMNS, MOST_SHEETS = 2_000, 60, 20
LARGEST_UNPACKED = 20_000_000
"""In bytes: a workbook of answers has a hundred thousand."""

_UNNAMED = re.compile(r"(?i)(?:sheet|tabelle|feuil|hoja|worksheet|工作表)\s*\d*")


def is_workbook(content: bytes) -> bool:
    """Whether it is a zip that holds a workbook."""
    if not content.startswith(b"PK\x03\x04"):
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return "xl/workbook.xml" in archive.namelist()
    except (zipfile.BadZipFile, ValueError, OSError):
        return False


def workbook_text(content: bytes) -> str:
    """The cells of all its sheets, one below the other, each below its name where it has one of its own.

    Formulas count as what they came to when the file was saved. `InputError` if it cannot be read or is far too large.
    """
    import openpyxl  # takes longer to load than to use

    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if sum(info.file_size for info in archive.infolist()) > LARGEST_UNPACKED:
            most = LARGEST_UNPACKED // 1_000_000
            raise InputError(
                f"This workbook has more than {most} MB when it is unpacked; that is not a sheet of answers."
            )
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t", lineterminator="\n")
    try:
        book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True, keep_links=False)
        for sheet in book.worksheets[:MOST_SHEETS]:
            if not _UNNAMED.fullmatch(sheet.title):
                writer.writerow([sheet.title])
            writer.writerows(_rows(sheet.iter_rows(max_row=MOST_ROWS, max_col=MOST_COLUMNS, values_only=True)))
            writer.writerow([])
    except InputError:
        raise
    except Exception as error:  # openpyxl raises whatever its parsers do
        raise InputError("This workbook cannot be read: it is broken, or locked with a password.") from error
    return text.getvalue()


def _rows(rows: Iterator[tuple[object, ...]]) -> Iterator[list[str]]:
    for row in rows:
        yield ["" if value is None else _text(value) for value in row]


def _text(value: object) -> str:
    """A number with the digits that it has; 3 for 3.0."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return " ".join(str(value).split())
