"""Documents of word processors (.docx, ISO/IEC 29500) as text: paragraphs, tables, and equations on one line each."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from xml.etree import ElementTree

from symattn.errors import InputError
from symattn.foundation.languages import message
from symattn.foundation.languages.words import any_of
from symattn.marking.submissions.blocks import table_row
from symattn.marking.submissions.labels import before_item
from symattn.marking.submissions.tables import closed

LARGEST_UNPACKED = 20_000_000
"""In bytes: the text of a book has a million."""
DEEPEST = 120
"""Elements inside one another."""

BROKEN = message("This document cannot be read: it is broken, or locked with a password. Save it as plain text (.txt).")
TOO_LARGE = (
    f"This document has more than {LARGEST_UNPACKED // 1_000_000} MB when it is unpacked; "
    "that is not a sheet of answers."
)
PICTURE = " ![picture](…) "
"""What stands in place of a picture, so that it is told."""
_BODY, _LISTS = "word/document.xml", "word/numbering.xml"


def is_document(content: bytes) -> bool:
    """Whether it is a zip, perhaps a broken one, that holds a document of Word's."""
    return _holds(content, _BODY)


def is_workbook(content: bytes) -> bool:
    """Whether it is a zip, perhaps a broken one, that holds a workbook."""
    return _holds(content, "xl/workbook.xml")


def _holds(content: bytes, member: str) -> bool:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return member in archive.namelist()
    except (zipfile.BadZipFile, ValueError, OSError):
        return member.encode() in content


def document_text(content: bytes) -> str:
    """The paragraphs and tables of a document as Markdown; what is crossed out stands between ~~, what was deleted is
    left out.  `InputError` if it cannot be read or is far too large.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as file:
            archive = Archive(file)
            body = archive.parsed(_BODY)
            lists = _list_styles(archive.parsed(_LISTS)) if archive.has(_LISTS) else {}
    except NOT_READABLE as error:
        raise InputError(BROKEN) from error
    return "\n".join(_Document(lists).lines(body))


NOT_READABLE = (zipfile.BadZipFile, ElementTree.ParseError, RuntimeError, NotImplementedError, KeyError, OSError)
"""What reading a broken document raises, or one with a password."""


class Archive:
    """The members of a document as XML; all that is unpacked is counted."""

    def __init__(self, file: zipfile.ZipFile) -> None:
        self.file = file
        self.names = frozenset(file.namelist())
        self._left = LARGEST_UNPACKED

    def has(self, name: str) -> bool:
        return name in self.names

    def parsed(self, name: str) -> ElementTree.Element:
        with self.file.open(name) as member:
            source = member.read(self._left + 1)
        self._left -= len(source)
        if self._left < 0:
            raise InputError(TOO_LARGE)
        if b"<!" in source.replace(b"<!--", b"").replace(b"<![CDATA[", b""):
            raise InputError(BROKEN)  # a declaration of entities, which no word processor writes
        root = ElementTree.fromstring(source)
        level = [root]
        for _ in range(DEEPEST):
            level = [inner for element in level for inner in element]
        if level:
            raise InputError(BROKEN)
        return root


def _kind(element: ElementTree.Element) -> str:
    """The name of an element without its namespace; those of equations have the same names as others."""
    space, _, name = element.tag.rpartition("}")
    return f"m:{name}" if space.endswith("/math") else name


def _inside(element: ElementTree.Element, *path: str) -> ElementTree.Element | None:
    """The first element on a path of kinds below this one."""
    for kind in path:
        found = next((inner for inner in element if _kind(inner) == kind), None)
        if found is None:
            return None
        element = found
    return element


def value_of(element: ElementTree.Element | None, name: str = "val") -> str:
    """An attribute, in whatever namespace it stands."""
    own = element.attrib if element is not None else {}
    return next((value for key, value in own.items() if key.rpartition("}")[2] == name), "")


def _is_on(element: ElementTree.Element | None) -> bool:
    return element is not None and value_of(element) not in ("0", "false", "none")


def _list_styles(numbering: ElementTree.Element) -> dict[str, str]:
    """How the items of each list are counted: bullet, decimal, lowerLetter …"""
    formats = {
        value_of(one, "abstractNumId"): value_of(_inside(one, "lvl", "numFmt"))
        for one in numbering
        if _kind(one) == "abstractNum"
    }
    lists = (one for one in numbering if _kind(one) == "num")
    return {value_of(one, "numId"): formats.get(value_of(_inside(one, "abstractNumId")), "") for one in lists}


class _Document:
    """A document from its first paragraph to the last, with the items of its lists counted."""

    def __init__(self, list_styles: dict[str, str]) -> None:
        self.list_styles = list_styles
        self._items = Counter[str]()

    def lines(self, element: ElementTree.Element) -> Iterator[str]:
        for inner in element:
            match _kind(inner):
                case "p":
                    yield from (self.paragraph(inner), "")
                case "tbl":
                    rows = [self.row(row) for row in inner if _kind(row) == "tr"]
                    yield from ("", *rows, "")
                case "del" | "moveFrom":
                    pass
                case _:
                    yield from self.lines(inner)

    def row(self, row: ElementTree.Element) -> str:
        return table_row(["\n".join(self.lines(cell)) for cell in row if _kind(cell) == "tc"])

    def paragraph(self, paragraph: ElementTree.Element) -> str:
        style = value_of(_inside(paragraph, "pPr", "pStyle"))
        heading = "## " if style.lower().startswith(("heading", "title", "berschrift", "titre", "überschrift")) else ""
        return heading + self.item(paragraph) + "".join(self.pieces(paragraph)).strip()

    def item(self, paragraph: ElementTree.Element) -> str:
        """The number that stands before an item of a list, which no text holds."""
        number = value_of(_inside(paragraph, "pPr", "numPr", "numId"))
        if not number or number == "0":
            return ""
        self._items[number] += 1
        return before_item(self.list_styles.get(number, "decimal"), self._items[number])

    def pieces(self, element: ElementTree.Element) -> Iterator[str]:
        """The text of a paragraph in its order."""
        for inner in element:
            match _kind(inner):
                case "r":
                    yield _styled(inner, "".join(map(self.character, inner)))
                case "m:oMath":
                    yield formula(inner)
                case "del" | "moveFrom" | "pPr":
                    pass
                case _:
                    yield from self.pieces(inner)

    def character(self, element: ElementTree.Element) -> str:
        match _kind(element):
            case "t":
                return element.text or ""
            case "tab":
                return "\t"
            case "br" | "cr":
                return "\n"
            case "noBreakHyphen":
                return "-"
            case "AlternateContent":  # the same once more, for older programs, is in its second element
                return "".join(map(self.character, element[0])) if len(element) else ""
            case "drawing" | "pict" | "object":
                boxes = [box for box in element.iter() if _kind(box) == "txbxContent"]
                return "\n".join(line for box in boxes for line in ("", *self.lines(box))) or PICTURE
        return ""


def _styled(run: ElementTree.Element, text: str) -> str:
    """A run with what its look says."""
    look = _inside(run, "rPr")
    if look is None:
        return text
    is_struck = _is_on(_inside(look, "strike")) or _is_on(_inside(look, "dstrike"))
    return aligned(text, is_struck, value_of(_inside(look, "vertAlign")))


def aligned(text: str, is_struck: bool, place: str) -> str:
    """A text that is crossed out, raised or lowered."""
    if not text.strip():
        return text
    if is_struck:
        return f"~~{text}~~"
    match place:
        case "superscript":
            return f"^({text})" if len(text) > 1 else f"^{text}"
        case "subscript":
            return f"_{text}"
    return text


def formula(element: ElementTree.Element) -> str:
    """An equation as it is typed: fractions with a slash, powers with ^, a matrix in square brackets."""

    def of(kind: str) -> str:
        inner = _inside(element, f"m:{kind}")
        return formula(inner).strip() if inner is not None else ""

    match _kind(element):
        case "m:r":
            return "".join(inner.text or "" for inner in element if _kind(inner) == "m:t")
        case "m:f":
            return f"({of('num')})/({of('den')})"
        case "m:sSup":
            return f"{of('e')}^{_grouped(of('sup'))}"
        case "m:sSub":
            return f"{of('e')}_{of('sub')}"
        case "m:sSubSup":
            return f"{of('e')}_{of('sub')}^{_grouped(of('sup'))}"
        case "m:rad":
            return f"√({of('e')})"
        case "m:acc":
            return of("e") + (value_of(_inside(element, "m:accPr", "m:chr")) or "\u0302")  # N̂
        case "m:func":
            return f"{of('fName')}{_grouped(of('e'))}"
        case "m:d":
            return _in_delimiters(element)
        case "m:m":
            rows = ([formula(cell).strip() for cell in row if _kind(cell) == "m:e"]
                    for row in element if _kind(row) == "m:mr")  # fmt: skip
            return f"[{'; '.join(map(' & '.join, rows))}]"
    return "".join(formula(inner) for inner in element if not _kind(inner).endswith("Pr"))


def _grouped(text: str) -> str:
    is_one = text.isalnum() or closed(text, 0, "(", ")") == len(text)
    return text if is_one else f"({text})"


def _in_delimiters(element: ElementTree.Element) -> str:
    """What stands in brackets; round a matrix they are its own."""
    parts = [formula(inner).strip() for inner in element if _kind(inner) == "m:e"]
    look = _inside(element, "m:dPr")
    signs = [_inside(look, kind) if look is not None else None for kind in ("m:begChr", "m:sepChr", "m:endChr")]
    opening, between, closing = (
        value_of(sign) if sign is not None else usual for sign, usual in zip(signs, "(|)", strict=True)
    )
    if len(parts) == 1 and parts[0][:1] == "[" and parts[0][-1:] == "]":
        return parts[0]
    return f"{opening}{between.join(parts)}{closing}"


MOST_ROWS, MOST_COLUMNS, MOST_SHEETS = 2_000, 300, 100
UNNAMED = re.compile(rf"(?i){any_of('sheet|worksheet')}\s*\d*")


def workbook_text(content: bytes) -> str:
    """The cells of all its sheets, one below the other, each below its name where it has one of its own.

    Formulas count as what they came to when the file was saved. `InputError` if it cannot be read or is far too large.
    """
    import openpyxl  # takes longer to load than to use

    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            pictures = [name for name in archive.namelist() if name.startswith("xl/media/")]
            if sum(info.file_size for info in archive.infolist()) > LARGEST_UNPACKED:
                most = LARGEST_UNPACKED // 1_000_000
                says = f"This workbook has more than {most} MB when it is unpacked; that is not a sheet of answers."
                raise InputError(says)
        book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True, keep_links=False)
        rows = rows_of_sheets(
            (sheet.title, sheet.iter_rows(max_row=MOST_ROWS + 1, max_col=MOST_COLUMNS + 1, values_only=True))
            for sheet in book.worksheets
        )
    except InputError:
        raise
    except Exception as error:  # openpyxl raises whatever its parsers do
        raise InputError("This workbook cannot be read: it is broken, or locked with a password.") from error
    return as_csv([*rows, *([PICTURE.strip()] for _ in pictures)])


def rows_of_sheets(sheets: Iterable[tuple[str, Iterable[Sequence[object]]]]) -> list[Sequence[object]]:
    """The rows of all sheets, each below its name where it has one of its own; `InputError` if there are far too many.

    What fills a sheet up to its end is nothing.
    """
    rows = list[Sequence[object]]()
    for number, (name, own) in enumerate(sheets):
        cells = [["" if value is None else value for value in row] for row in islice(own, MOST_ROWS + 1)]
        beyond = (cells[MOST_ROWS:], [row[MOST_COLUMNS:] for row in cells])
        if number == MOST_SHEETS or any(cell != "" for part in beyond for row in part for cell in row):
            says = f"This workbook has more than {MOST_SHEETS} sheets, or one with more than {MOST_ROWS} rows or "
            raise InputError(f"{says}{MOST_COLUMNS} columns; that is not a sheet of answers.")
        rows += [[name]] * bool(name and not UNNAMED.fullmatch(name))
        rows += [*(_without_end(row) for row in cells[:MOST_ROWS]), []]
    return rows


def _without_end(row: Sequence[object]) -> Sequence[object]:
    """A row up to the last cell in which something stands."""
    return row[: max((k for k, cell in enumerate(row, 1) if cell != ""), default=0)]


def as_csv(rows: Iterable[Sequence[object]]) -> str:
    """Rows of cells as they are read from a file with tabs between them."""
    text = io.StringIO()
    csv.writer(text, delimiter="\t", lineterminator="\n").writerows(map(_text, row) for row in rows)
    return text.getvalue()


def _text(value: object) -> str:
    """A number with the digits that it has; 3 for 3.0."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return " ".join(str(value).split())
