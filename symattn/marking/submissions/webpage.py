"""Worksheets filled in in a browser, and texts that a learning platform saves as a web page: as Markdown.

Of a sheet of ours only what can be typed into counts, with the headings above it: boxes, lines, boxes to tick, space.
Of any other page everything that can be seen does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from itertools import compress

from symattn.foundation.identity import is_identity
from symattn.marking.submissions.blocks import in_one_line, table_row

_UNSEEN = frozenset(("style", "script", "title", "template", "noscript", "annotation", "annotation-xml"))
_BLOCKS = frozenset(
    ("p", "div", "li", "tr", "td", "table", "pre", "section", "ul", "ol", "fieldset", "blockquote", "body", "figure")
)
_HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}
_EMPTY = frozenset(("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"))
_ENDS = {"tr": ("tr",), "td": ("td", "th"), "th": ("td", "th")}
"""What ends where another element begins, whether or not there is a tag that says so."""
DEEPEST = 60
"""Elements inside one another that are told apart."""
_TYPED_INTO = re.compile(r'<table class="grid"|class="fill-in"|<fieldset class="choices"')
"""What a sheet of ours has for answers, one of them at least."""
_ACCENTS = {"^": "\u0302", "ˆ": "\u0302", "~": "\u0303", "¯": "\u0304"}
"""What MathML puts over a letter, as the accent that it is: N̂."""
_MATHEMATICS = {
    "mtable": (r"\pmatrix{", "", "}"), "mtr": ("", " & ", r" \\ "), "mtd": ("", "", ""),
    "mfrac": (r"\frac{", "}{", "}"), "msup": ("", "^{", "}"), "msub": ("", "_{", "}"), "msqrt": (r"\sqrt{", "", "}"),
}  # fmt: skip
"""What stands in LaTeX before an element of MathML, between the two that are in it, and behind it."""
_BOXES = ("checkbox", "radio")
_IN_TEX = re.compile(r"(?:application/x-|math/)tex\b")
_DRAWN = "katex-html"
"""The class of what KaTeX draws beside the formula itself."""
_BEFORE_TEX = re.compile(r"(?i)\s*LaTeX:\s*")
"""How Canvas begins the words for a picture of a formula."""
_LEAVES = frozenset(("img", "input", "mover", "semantics", *_MATHEMATICS, *_UNSEEN))
_IDENTITY = re.compile(r"\b[0-9A-Z]{4}-[0-9A-Z]{4}\b")


@dataclass(slots=True)
class _Element:
    tag: str
    said: dict[str, str] = field(default_factory=dict)
    inside: list[_Element | str] = field(default_factory=list)
    is_layout: bool = False
    """Whether it is a table in which there are tables."""


class _Tree(HTMLParser):
    """The elements of a page; tags that are not closed, or never opened, do no harm."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.root = _Element("")
        self._open = [self.root]
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for ended in _ENDS.get(tag, ()):
            self.handle_endtag(ended)
        for outer in self._open if tag == "table" else ():
            outer.is_layout = outer.tag == "table"
        element = _Element(tag, {name: value or "" for name, value in attributes})
        self._open[-1].inside.append(element)
        if tag not in _EMPTY and len(self._open) < DEEPEST:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        for at in range(len(self._open) - 1, 0, -1):
            if self._open[at].tag == tag:
                del self._open[at:]
            elif self._open[at].tag != "table":
                continue
            return

    def handle_data(self, data: str) -> None:
        self._open[-1].inside.append(data)


class _Page:
    """The page as lines of Markdown."""

    def __init__(self, text: str, sheet: bool) -> None:
        self.sheet = sheet
        self.language = ""
        self._pieces: list[str | list[list[str]]] = []
        """Lines, and the rows of tables."""
        self._text: list[str] = []
        self._tables: dict[str, list[list[str]]] = {}
        self._box = ""
        self._read(_Tree(text).root, not sheet)
        self._line()

    def _read(self, outer: _Element, seen: bool) -> None:
        """What stands in an element; text outside what is asked and typed into is `seen` in other people's pages."""
        for inner in outer.inside:
            if isinstance(inner, _Element):
                self._element(inner, seen)
            elif seen:
                self._text.append(inner)

    def _element(self, one: _Element, seen: bool) -> None:
        tag, kind = one.tag, one.said.get("class", "")
        asks = tag in _HEADINGS or tag == "label" or kind == "fill-in"
        if tag == "html":
            self.language = one.said.get("lang", "")
        if tag == "textarea" or (tag == "pre" and not self.sheet):
            self._line()
            self._pieces += ["", *"".join(self._inline(one)).strip("\r\n").rstrip().splitlines(), ""]
        elif tag == "table" and not one.is_layout:
            self._line()
            self._table(one)
        elif asks or tag in _BLOCKS:
            self._line()
            self._read(one, seen or asks)
            self._line(_HEADINGS.get(tag, self._box if tag == "label" else ""))
            self._box = "" if tag == "label" else self._box
        elif tag == "br":
            self._pieces.append(self._taken())
        elif tag == "th":
            pass  # what stands above the columns of a layout
        elif tag == "input" and one.said.get("type") in _BOXES:
            self._box = "- [x] " if "checked" in one.said else "- [ ] "
        elif tag in _LEAVES or kind in ("characters", _DRAWN):
            self._text += self._written(one) if seen or tag == "input" else ()
        else:
            self._read(one, seen)

    def _inline(self, outer: _Element) -> Iterator[str]:
        """The text of an element, such as the cell of a table, with everything in it as it stands in a line."""
        for inner in outer.inside:
            yield from (inner,) if isinstance(inner, str) else self._written(inner)

    def _written(self, one: _Element) -> Iterator[str]:
        tag, kind = one.tag, one.said.get("type", "text")
        if tag == "input" and kind in _BOXES:
            yield "x" if "checked" in one.said else "☐"
        elif tag == "input":
            yield "" if kind in ("hidden", "button", "submit", "reset") else f" {one.said.get('value', '')} "
        elif _is_tex(one) and not self.sheet:
            yield f" ${''.join(self._inline(one)).strip()}$ "
        elif tag == "img":
            yield "" if self.sheet else _in_words(one.said)
        elif tag == "semantics":
            is_tex = [isinstance(part, _Element) and _is_tex(part) and not self.sheet for part in one.inside]
            inside = [*compress(one.inside, is_tex)]
            yield from self._inline(replace(one, inside=inside or one.inside))
        elif tag == "mover":
            yield from (_ACCENTS.get(text.strip(), text) for text in self._inline(one))
        elif tag in _MATHEMATICS and not self.sheet:
            before, between, behind = _MATHEMATICS[tag]
            parts = ("".join(self._written(part)) for part in one.inside if isinstance(part, _Element))
            yield before + between.join(parts) + behind
        elif one.said.get("class") == "characters":  # one box each, of one number
            yield f" {''.join(''.join(self._inline(one)).split())} "
        elif tag == "br" or tag in _BLOCKS:
            yield from ("\n", *self._inline(one))
        elif tag not in _UNSEEN and one.said.get("class") != _DRAWN:
            yield from self._inline(one)

    def _taken(self) -> str:
        text, self._text = " ".join("".join(self._text).split()), []
        return text

    def _line(self, before: str = "") -> None:
        if text := self._taken():
            self._pieces += [before + text] if before.startswith("- [") else [*[""] * bool(before), before + text, ""]

    def _table(self, table: _Element) -> None:
        rows, caption = list[list[str]](), ""
        for one in _parts_of(table):
            if one.tag == "tr" or not rows:
                rows.append([])
            if one.tag in ("td", "th", "caption"):
                text = in_one_line("".join(self._inline(one)))
                caption = text.rstrip("= ") if one.tag == "caption" else caption
                rows[-1] += [text] if one.tag != "caption" else []
        rows = [row for row in rows if row]
        if rows and caption:
            rows[0] = [caption, *rows[0][1:]]
            if self._is_continued(caption, rows):
                return
            self._tables[caption] = rows
        self._pieces += ["", rows, ""]

    def _is_continued(self, caption: str, rows: list[list[str]]) -> bool:
        """Whether the table goes on with one of the same name, its columns or rows numbered on: they are joined."""
        before = self._tables.get(caption)
        if before and len(rows) == len(before) and rows[0][1:2] == [str(len(before[0]))]:
            for row, more in zip(before, rows, strict=True):
                row += more[1:]
        elif before and rows[0] == before[0] and rows[1:] and rows[1][:1] == [str(len(before))]:
            before += rows[1:]
        else:
            return False
        return True

    @property
    def lines(self) -> Iterator[str]:
        for piece in self._pieces:
            yield from (piece,) if isinstance(piece, str) else map(table_row, piece)


def _is_tex(one: _Element) -> bool:
    """Whether an element holds a formula in LaTeX: an annotation, or a script of MathJax's."""
    return _IN_TEX.match(one.said.get("encoding") or one.said.get("type") or "") is not None


def _in_words(picture: Mapping[str, str]) -> str:
    """What stands in place of a picture: the formula that it shows, as learning platforms write it, or that there is
    one, for somebody to look at.

    >>> _in_words({"alt": r"LaTeX: S=\\frac{1}{2}"}), _in_words({"alt": "my work"})
    (' $S=\\\\frac{1}{2}$ ', ' ![my work](…) ')
    """
    said = " ".join(_BEFORE_TEX.sub("", picture.get("data-equation-content") or picture.get("alt", "")).split())
    return f" ${said}$ " if "\\" in said or "=" in said else f" ![{said or 'picture'}](…) "


def _parts_of(table: _Element) -> Iterator[_Element]:
    """The rows of a table, each followed by its cells, and its caption."""
    for one in table.inside:
        if isinstance(one, _Element):
            yield one
            if one.tag not in ("td", "th", "caption", "table"):
                yield from _parts_of(one)


def as_markdown(text: str) -> str:
    """A web page as Markdown, with the identity of the sheet and its language at the head.

    >>> as_markdown("<table><tr><td>1<td>2<br>3</table>").strip()
    '| 1 | 2 3 |'
    >>> as_markdown("<table><tr><td>Scores <table><tr><td>1<td>2</table></table>").split("\\n")[0]
    'Scores'
    """
    page = _Page(text, _TYPED_INTO.search(text) is not None)
    sheet = next((name for name in _IDENTITY.findall(text) if is_identity(name)), "")
    head = {"symattn": "html", "lang": page.language, "sheet": sheet} if page.sheet else {}
    front = ["---", *(f"{key}: {value}" for key, value in head.items() if value), "---"] if head else []
    return "\n".join([*front, *page.lines, *([f"\n{sheet}"] if sheet and not front else [])])


def with_tables(text: str) -> str:
    """A text in which every table of HTML or of a wiki stands as one of Markdown."""
    text = _TABLE_OF_A_WIKI.sub(_of_a_wiki, text)
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
_TABLE_OF_A_WIKI = re.compile(r"(?m)^\{\|(?P<rows>.*(?:\n(?!\{\||\|\}).*){0,400})\n\|\}.*$")
_BETWEEN_ROWS, _BEFORE_CELL = re.compile(r"(?m)^\|-[^\n]*$"), re.compile(r"(?m)^[|!]|\|\||!!")


def _of_a_wiki(table: re.Match[str]) -> str:
    """A table of MediaWiki's as one of Markdown: |- between rows, | or ! before a cell, || or !! between cells."""
    rows = (_BEFORE_CELL.split(row)[1:] for row in _BETWEEN_ROWS.split(table["rows"]))
    return "\n".join(("", *map(table_row, filter(None, rows)), ""))


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
