"""Documents and spreadsheets of LibreOffice and others (.odt, .ods; OpenDocument, ISO/IEC 26300) as text."""

from __future__ import annotations

import io
import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from xml.etree import ElementTree

from symattn.errors import InputError
from symattn.marking.submissions.blocks import table_row
from symattn.marking.submissions.labels import before_item
from symattn.marking.submissions.office import (
    BROKEN,
    LARGEST_UNPACKED,
    MOST_COLUMNS,
    MOST_ROWS,
    NOT_READABLE,
    PICTURE,
    TOO_LARGE,
    Archive,
    aligned,
    as_csv,
    rows_of_sheets,
    value_of,
)
from symattn.marking.submissions.webpage import as_markdown

_KIND = re.compile(rb"mimetypeapplication/vnd\.oasis\.opendocument\.(text|spreadsheet)")
_BODY = "content.xml"
_LONGEST_GAP = 64
"""Spaces that one element may stand for."""
_HIDDEN = ("tracked-changes", "annotation", "annotation-end", "note-citation", "sequence-decls", "forms")
"""What was deleted, remarks of whoever read it, and what has no text."""
_NOT_REPEATED = 1
"""How often a cell or a row counts that is repeated to the end of a spreadsheet."""


def kind_of(content: bytes) -> str:
    """text or spreadsheet, as the first member of the zip says; "" if it is neither."""
    found = _KIND.search(content[:200])
    return found[1].decode() if found else ""


def opendocument_text(content: bytes) -> str:
    """The paragraphs, tables and equations of a document as Markdown, or the tables of a spreadsheet as CSV.

    `InputError` if it cannot be read or is far too large.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as file:
            archive = Archive(file)
            document = _Document(archive, archive.parsed(_BODY))
            return document.tables() if kind_of(content) == "spreadsheet" else "\n".join(document.lines(document.body))
    except NOT_READABLE as error:
        raise InputError(BROKEN) from error


def _kind(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _count(element: ElementTree.Element, name: str) -> int:
    said = value_of(element, name)
    return int(said) if said.isdecimal() and len(said) < 9 else 1


class _Document:
    """A document from its first paragraph to the last, with the items of its lists counted."""

    def __init__(self, archive: Archive, root: ElementTree.Element) -> None:
        self.archive = archive
        self.body = next((inner for inner in root if _kind(inner) == "body"), root)
        styles = [style for group in root if _kind(group) == "automatic-styles" for style in group]
        self._looks = {value_of(style, "name"): look for style in styles if (look := _look(style))}
        self._lists = {value_of(style, "name"): _numbering(style) for style in styles if _kind(style) == "list-style"}
        self._items = Counter[str]()
        self._left = LARGEST_UNPACKED  # characters in tables, of which a few may stand for many

    def lines(self, element: ElementTree.Element) -> Iterator[str]:
        for inner in element:
            match _kind(inner):
                case "p" | "h":
                    yield from (self.paragraph(inner), "")
                case "list":
                    yield from self.items(inner, value_of(inner, "style-name"))
                case "table":
                    yield from ("", *map(table_row, self.rows(inner)), "")
                case kind if kind not in _HIDDEN:
                    yield from self.lines(inner)

    def paragraph(self, paragraph: ElementTree.Element) -> str:
        return "## " * (_kind(paragraph) == "h") + "".join(self.pieces(paragraph)).strip()

    def items(self, items: ElementTree.Element, style: str) -> Iterator[str]:
        """The items of a list, with the numbers that no text holds."""
        for item in items:
            numbers, start = self._lists.get(style, ("", 1))
            self._items[style] += _kind(item) == "list-item"
            lines = iter(self.lines(item))
            yield before_item(numbers, start + self._items[style] - 1) + next(lines, "")
            yield from lines

    def rows(self, table: ElementTree.Element) -> Iterator[list[str]]:
        for inner in table:
            if _kind(inner) == "table-row":
                cells = [cell for cell in inner if _kind(cell) in ("table-cell", "covered-table-cell")]
                times = _repeated(inner, "rows", MOST_ROWS)
                yield from [[*self.cells(cells, times)]] * times
            elif _kind(inner) != "table":
                yield from self.rows(inner)

    def cells(self, cells: list[ElementTree.Element], rows: int) -> Iterator[str]:
        for cell in cells:
            text, times = self.cell(cell), _repeated(cell, "columns", MOST_COLUMNS)
            self._left -= (len(text) + 1) * times * rows
            if self._left < 0:
                raise InputError(TOO_LARGE)
            yield from [text] * times

    def cell(self, cell: ElementTree.Element) -> str:
        """What a cell shows; a number with all of its digits."""
        number = value_of(cell, "value") if value_of(cell, "value-type") == "float" else ""
        return number or "\n".join(self.lines(cell))

    def pieces(self, element: ElementTree.Element) -> Iterator[str]:
        """The text of a paragraph in its order."""
        yield _run_together(element.text)
        for inner in element:
            match _kind(inner):
                case "s":
                    yield " " * min(_count(inner, "c"), _LONGEST_GAP)
                case "tab":
                    yield "\t"
                case "line-break":
                    yield "\n"
                case "span":
                    yield aligned(
                        "".join(self.pieces(inner)), *self._looks.get(value_of(inner, "style-name"), (False, ""))
                    )
                case "frame":
                    yield from self.frame(inner)
                case kind if kind not in _HIDDEN:
                    yield from self.pieces(inner)
            yield _run_together(inner.tail)

    def frame(self, frame: ElementTree.Element) -> Iterator[str]:
        """An equation, a box of text, or a picture."""
        for inner in frame:
            if _kind(inner) == "object" and (written := self.equation(inner)):
                yield f" {written} "
                return
            if _kind(inner) == "text-box":
                yield from (f"\n{line}" for line in self.lines(inner))
                return
        yield PICTURE

    def equation(self, placed: ElementTree.Element) -> str:
        """An equation as LaTeX; "" for anything else that is put in, as a chart."""
        inside = next((inner for inner in placed if _kind(inner) == "math"), None)
        name = f"{value_of(placed, 'href').removeprefix('./').rstrip('/')}/{_BODY}"
        if inside is None and self.archive.has(name):
            inside = self.archive.parsed(name)
        if inside is None or _kind(inside) != "math":
            return ""
        for element in inside.iter():
            element.tag = _kind(element)
        return as_markdown(f"<html><body>{ElementTree.tostring(inside, 'unicode')}</body></html>").strip()

    def tables(self) -> str:
        """The tables of a spreadsheet, one below the other, each below its name where it has one of its own."""
        tables = (table for table in self.body.iter() if _kind(table) == "table")
        return as_csv(rows_of_sheets((value_of(table, "name"), self.rows(table)) for table in tables))


def _repeated(element: ElementTree.Element, what: str, most: int) -> int:
    """How often a cell or a row is repeated; once where it fills up a spreadsheet to its end."""
    times = _count(element, f"number-{what}-repeated")
    return times if times <= most else _NOT_REPEATED


def _run_together(text: str | None) -> str:
    """A text with white space as it counts in OpenDocument: in the source it is one space."""
    return re.sub(r"[ \t\r\n]+", " ", text or "")


def _look(style: ElementTree.Element) -> tuple[bool, str] | None:
    """Whether a style crosses text out, and whether it is raised or lowered."""
    for one in style:
        if _kind(one) == "text-properties":
            struck = value_of(one, "text-line-through-style") not in ("", "none")
            place = value_of(one, "text-position").partition(" ")[0]
            raised = place == "super" or (place.endswith("%") and not place.startswith(("-", "0%")))
            lowered = place == "sub" or place.startswith("-")
            return struck, "superscript" if raised else "subscript" if lowered else ""
    return None


def _numbering(style: ElementTree.Element) -> tuple[str, int]:
    """How the items of a list are counted, and from what number on."""
    first = next(iter(style), None)
    if first is None or _kind(first) != "list-level-style-number":
        return "bullet", 1
    letters = value_of(first, "num-format").lower() == "a"
    return "lowerLetter" if letters else "decimal", _count(first, "start-value")
