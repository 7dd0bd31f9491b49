"""Worksheets filled in in a browser, and texts that a learning platform saves as a web page: as Markdown.

Of a sheet of ours only what can be typed into counts, with the headings above it: boxes, lines, boxes to tick, space.
Of any other page everything that can be seen does.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

from symattn.foundation.identity import is_identity
from symattn.marking.submissions.blocks import escaped

_UNSEEN = frozenset(("style", "script", "title", "template", "noscript", "annotation", "caption-side"))
_BLOCKS = frozenset(
    ("p", "div", "li", "tr", "table", "pre", "section", "ul", "ol", "fieldset", "blockquote", "body", "figure")
)
_HEADING = re.compile(r"h([1-6])")
_TYPED_INTO = re.compile(r'<table class="grid"|class="fill-in"|<fieldset class="choices"')
"""What a sheet of ours has for answers, one of them at least."""
_ACCENTS = {"^": "\u0302", "ˆ": "\u0302", "~": "\u0303", "¯": "\u0304"}
"""What MathML puts over a letter, as the accent that it is: N̂."""
_MATHEMATICS = {
    "mtable": (r"\pmatrix{", "", "}"), "mtr": ("", "", r"\\"), "mtd": ("", "", "&"),
    "mfrac": (r"\frac{", "}{", "}"), "msup": ("", "^{", "}"), "msub": ("", "_{", "}"), "msqrt": (r"\sqrt{", "", "}"),
}  # fmt: skip
"""What stands in LaTeX before an element of MathML, between the two that are in it, and behind it."""
_IDENTITY = re.compile(r"\b[0-9A-Z]{4}-[0-9A-Z]{4}\b")


class _Page(HTMLParser):
    """The page as lines of Markdown; tags that are not closed, or never opened, do no harm."""

    def __init__(self, sheet: bool) -> None:
        super().__init__(convert_charrefs=True)
        self.sheet = sheet
        self.lines: list[str] = []
        self._tables: dict[str, tuple[int, list[list[str]]]] = {}
        self.language = ""
        self._text: list[str] = []
        self._rows: list[list[str]] | None = None
        self._caption = ""
        self._unseen = 0
        self._typed_into = 0
        self._over = 0
        self._spans: list[str] = []
        self._first_character = 0
        self._box = ""
        self._field: list[str] | None = None
        self._formulas: list[tuple[str, int]] = []
        """The elements of MathML that are open, each with the number of those in it."""

    # -------------------------------------------------------------------------------- tags

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        said = {name: value or "" for name, value in attributes}
        if not self.sheet:
            self._begin_mathematics(tag)
        if tag in _UNSEEN:
            self._unseen += 1
        elif tag == "html":
            self.language = said.get("lang", "")
        elif _HEADING.fullmatch(tag):
            self._line()
            self._typed_into += 1
        elif tag == "table":
            self._line()
            self._rows, self._caption = [], ""
        elif tag == "tr" and self._rows is not None:
            self._rows.append([])
        elif tag in ("td", "th", "caption") and self._rows is not None:
            self._text = []
        elif tag == "label" and not self._in_table:
            self._line()
            self._typed_into += 1
        elif tag == "mover":
            self._over += 1
        elif tag == "span":
            self._spans.append(said.get("class", ""))
            if self._spans[-1] == "fill-in":
                self._line()
                self._typed_into += 1
            elif self._spans[-1] == "characters":
                self._first_character = len(self._text)
        elif tag == "textarea" or (tag == "pre" and not (self.sheet or self._in_table)):
            self._line()
            self._field = []
        elif tag == "input":
            self._input(said)
        elif tag == "br" and not self._in_table:
            self.lines.append(self._taken())
        elif tag in _BLOCKS and not self._in_table:
            self._line()

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag in ("input", "br"):
            self.handle_starttag(tag, attributes)

    def _begin_mathematics(self, tag: str) -> None:
        """An element of MathML, and what stands between it and the one before it: a fraction, an exponent."""
        if self._formulas:
            outer, before = self._formulas[-1]
            self._formulas[-1] = outer, before + 1
            self._write(_MATHEMATICS[outer][1] if before == 1 and outer in _MATHEMATICS else "")
        if self._formulas or tag == "math":
            self._formulas.append((tag, 0))
            self._write(_MATHEMATICS.get(tag, ("",))[0])

    def _end_mathematics(self, tag: str) -> None:
        if any(tag == opened for opened, _ in self._formulas):
            while self._formulas.pop()[0] != tag:
                pass
            self._write(_MATHEMATICS.get(tag, ("",))[-1])

    def _write(self, signs: str) -> None:
        if signs:
            self.handle_data(f"{signs} " if signs == "&" else signs)

    def handle_endtag(self, tag: str) -> None:
        self._end_mathematics(tag)
        if tag in _UNSEEN:
            self._unseen = max(0, self._unseen - 1)
        elif heading := _HEADING.fullmatch(tag):
            self._line("#" * int(heading[1]) + " ")
            self._typed_into = max(0, self._typed_into - 1)
        elif tag in ("td", "th") and self._rows is not None:
            self._rows = self._rows or [[]]
            self._rows[-1].append(self._taken())
        elif tag == "caption" and self._rows is not None:
            self._caption = self._taken().rstrip("= ")
        elif tag == "table" and self._rows is not None:
            self._table(self._rows)
        elif tag == "label" and not self._in_table:
            self._line(self._box)
            self._box = ""
            self._typed_into = max(0, self._typed_into - 1)
        elif tag == "mover":
            self._over = max(0, self._over - 1)
        elif tag == "strong" and self._box and not "".join(self._text).endswith("."):  # pages of earlier versions
            self._text.append(".")
        elif tag == "span" and self._spans:
            self._end_of_span(self._spans.pop())
        elif tag in ("textarea", "pre") and self._field is not None:
            self.lines += ["", *"".join(self._field).strip("\r\n").rstrip().splitlines(), ""]
            self._field = None
        elif tag in _BLOCKS and not self._in_table:
            self._line()

    def _end_of_span(self, kind: str) -> None:
        if kind == "fill-in":
            self._line()
            self._typed_into = max(0, self._typed_into - 1)
        elif kind == "characters":  # one box each, of one number
            typed = self._text[self._first_character :]
            self._text[self._first_character :] = [f" {''.join(''.join(typed).split())} "]

    def handle_data(self, data: str) -> None:
        if self._field is not None:
            self._field.append(data)
        elif not self._unseen and (not self.sheet or self._typed_into or self._in_table):
            self._text.append(_ACCENTS.get(data.strip(), data) if self._over else data)

    @property
    def _in_table(self) -> bool:
        return self._rows is not None

    # -------------------------------------------------------------------------------- what was typed

    def _input(self, said: dict[str, str]) -> None:
        kind = said.get("type", "text")
        if kind in ("checkbox", "radio") and self._in_table:
            self._text.append("x" if "checked" in said else "☐")
        elif kind in ("checkbox", "radio"):
            self._box = "- [x] " if "checked" in said else "- [ ] "
        elif kind not in ("hidden", "button", "submit", "reset"):
            self._text.append(f" {said.get('value', '')} ")

    def _taken(self) -> str:
        text, self._text = " ".join("".join(self._text).split()), []
        return text

    def _line(self, before: str = "") -> None:
        if text := self._taken():
            self.lines += [before + text] if before.startswith("- [") else [*[""] * bool(before), before + text, ""]

    def _table(self, rows: list[list[str]]) -> None:
        self._rows = None
        rows = [row for row in rows if row]
        if rows and self._caption:
            rows[0] = [self._caption, *rows[0][1:]]
            if self._is_continued(rows):
                return
            self._tables[self._caption] = len(self.lines) + 1, rows
        self.lines += ["", *_lines_of(rows), ""]

    def _is_continued(self, rows: list[list[str]]) -> bool:
        """Whether the table goes on with one of the same name, its columns or rows numbered on: they are joined."""
        at, before = self._tables.get(self._caption, (0, []))
        if not before:
            return False
        if len(rows) == len(before) and rows[0][1:2] == [str(len(before[0]))]:
            whole = [[*row, *more[1:]] for row, more in zip(before, rows, strict=True)]
        elif rows[0] == before[0] and rows[1:] and rows[1][:1] == [str(len(before))]:
            whole = [*before, *rows[1:]]
        else:
            return False
        self.lines[at : at + len(before)] = _lines_of(whole)
        self._tables = {
            name: (line + len(whole) - len(before) if line > at else line, own)
            for name, (line, own) in self._tables.items()
        }
        self._tables[self._caption] = at, whole
        return True


def _lines_of(rows: list[list[str]]) -> list[str]:
    return [f"| {' | '.join(escaped(cell) for cell in row)} |" for row in rows]


def as_markdown(text: str) -> str:
    """A web page as Markdown, with the identity of the sheet and its language at the head."""
    page = _Page(_TYPED_INTO.search(text) is not None)
    page.feed(text)
    page.close()
    sheet = next((name for name in _IDENTITY.findall(text) if is_identity(name)), "")
    head = {"symattn": "html", "lang": page.language, "sheet": sheet} if page.sheet else {}
    front = ["---", *(f"{key}: {value}" for key, value in head.items() if value), "---"] if head else []
    return "\n".join([*front, *page.lines, *([f"\n{sheet}"] if sheet and not front else [])])


def with_tables(text: str) -> str:
    """A text in which every table of HTML or of a wiki stands as one of Markdown."""
    if "{|" in text:
        text = _out_of_wikis(text)
    if "<table" not in text:
        return text
    *pages, rest = _END_OF_TABLE.split(text)
    return "".join((*map(_with_table, pages), rest))


def _with_table(text: str) -> str:
    """A text that ends in front of </table>, with the table as one of Markdown."""
    begins = _TABLE.search(text)
    if begins is None:
        return f"{text}</table>"
    table = as_markdown(f"<html><body>{text[begins.start() :]}</table></body></html>").strip()
    return f"{text[: begins.start()]}\n\n{table}\n\n"


_TABLE, _END_OF_TABLE = re.compile(r"(?i)<table\b"), re.compile(r"(?i)</table>")
_BETWEEN_ROWS, _BEFORE_CELL = re.compile(r"(?m)^\|-[^\n]*$"), re.compile(r"(?m)^[|!]|\|\||!!")


def _out_of_wikis(text: str) -> str:
    """Tables of MediaWiki's as those of Markdown: |- between rows, | or ! before a cell, || or !! between cells."""
    lines: list[str] = []
    start = -1
    for line in text.split("\n"):
        if line.startswith("{|"):
            start = len(lines)
        if start < 0 or not line.startswith("|}"):
            lines.append(line)
            continue
        rows = (_BEFORE_CELL.split(row)[1:] for row in _BETWEEN_ROWS.split("\n".join(lines[start + 1 :])))
        lines[start:] = ["", *_lines_of([[cell.strip() for cell in row] for row in rows if row]), ""]
        start = -1
    return "\n".join(lines)


def out_of_archive(text: str) -> str:
    """The page in what browsers save as a single file (.mhtml, RFC 2557); any other text as it is."""
    head = text[:2000].lower()
    if not head.startswith(_FIELDS) or "multipart/related" not in head:
        return text
    from email import message_from_string  # takes a while to import, and is hardly ever wanted
    from email.policy import default

    parts = message_from_string(text, policy=default).walk()
    page = next((part.get_payload(decode=True) for part in parts if part.get_content_type() == "text/html"), None)
    return page.decode("utf-8", "replace") if isinstance(page, bytes) else text


_FIELDS = ("from:", "mime-version:", "subject:", "content-type:")
