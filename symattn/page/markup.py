"""A teacher's own words: Markdown, in which formulas stand between dollar signs, as blocks of a page.

Paragraphs, **weight**, `code`, lists, tables, and formulas in LaTeX, in a line ($Q K^\\top$) or on one of their own
($$…$$).  Text stays as it was typed, in every language of a page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from symattn.errors import InputError
from symattn.formula.from_tex import read_tex
from symattn.page.document import (
    Block,
    Code,
    Display,
    Inlines,
    ItemList,
    Math,
    Paragraph,
    Quoted,
    Strong,
    Table,
    Words,
)

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

_DISPLAYED, _IN_LINE = "formula on a line", "formula"
_LINE_OF_CODE = re.compile(r"[^\n]+")


def blocks(text: str) -> tuple[Block, ...]:
    """Text as blocks; `InputError` says what it has that no page shows, and which formula cannot be read."""
    return tuple(_Reading(_parser().parse(text)).blocks())


def inlines(text: str) -> Inlines:
    """Text in one line, as of a title."""
    return tuple(_spans(_parser().parseInline(text)[0].children or []))


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.inline.ruler.before("escape", "formula", _formula)
    return parser


def _formula(state: StateInline, silent: bool) -> bool:
    """$…$ and $$…$$, as Pandoc has them: no space after the first dollar sign nor before the last, no digit behind."""
    source, start = state.src, state.pos
    if source[start] != "$":
        return False
    sign = "$$" if source.startswith("$$", start) else "$"
    begin = start + len(sign)
    end = source.find(sign, begin)
    if sign == "$":
        while end > 0 and source[end - 1] == "\\":
            end = source.find("$", end + 1)
    inside = source[begin:end] if end > 0 else ""
    behind = source[end + 1 : end + 2]
    if not inside.strip() or (sign == "$" and (inside != inside.strip() or behind.isdigit())):
        return False
    if not silent:
        state.push(_DISPLAYED if sign == "$$" else _IN_LINE, "", 0).content = inside
    state.pos = end + len(sign)
    return True


class _Reading:
    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = iter(tokens)

    def blocks(self) -> Iterator[Block]:
        for token in self._tokens:
            yield from self._block(token)

    def _block(self, token: Token) -> Iterator[Block]:
        match token.type:
            case "paragraph_open":
                yield from _paragraph(next(self._tokens).children or [])
                next(self._tokens)
            case "heading_open":
                yield Paragraph(tuple(_spans(next(self._tokens).children or [], strong=1)))
                next(self._tokens)
            case "bullet_list_open" | "ordered_list_open":
                yield ItemList(tuple(self._items(token.type.replace("open", "close"))), token.tag == "ol")
            case "table_open":
                yield self._table()
            case "fence" | "code_block":
                yield from (Paragraph((Code(line),)) for line in _LINE_OF_CODE.findall(token.content))
            case kind:
                raise InputError(
                    f"A text has {_CALLED.get(kind, kind)}, which not every format of pages shows; paragraphs, lists, "
                    "tables and formulas were expected."
                )

    def _items(self, end: str) -> Iterator[Inlines]:
        item: list[Inlines] = []
        for token in self._tokens:
            match token.type:
                case "list_item_open":
                    item = []
                case "inline":
                    item.append(tuple(_spans(token.children or [])))
                case "list_item_close":
                    yield tuple(span for k, part in enumerate(item) for span in ((Words(" "),) if k else ()) + part)
                case "paragraph_open" | "paragraph_close":
                    pass
                case kind if kind == end:
                    return
                case kind:
                    raise InputError(f"A list has {_CALLED.get(kind, kind)} in it; text and formulas were expected.")

    def _table(self) -> Table:
        rows: list[list[Inlines]] = []
        for token in self._tokens:
            match token.type:
                case "tr_open":
                    rows.append([])
                case "inline":
                    rows[-1].append(tuple(_spans(token.children or [])))
                case "table_close":
                    break
        header, *others = map(tuple, rows)
        return Table(header, tuple(others))


_CALLED = {
    "blockquote_open": "a quotation",
    "hr": "a rule",
    "bullet_list_open": "another list",
    "ordered_list_open": "another list",
    "fence": "code",
    "code_block": "code",
}


def _paragraph(children: Sequence[Token]) -> Iterator[Block]:
    """A paragraph; formulas on lines of their own part it."""
    begun: list[Token] = []
    for child in children:
        if child.type == _DISPLAYED:
            yield from _text(begun)
            begun = []
            yield Display((read_tex(child.content),))
        else:
            begun.append(child)
    yield from _text(begun)


def _text(children: Sequence[Token]) -> Iterator[Block]:
    begin, end = 0, len(children)
    while begin < end and _is_empty(children[begin]):
        begin += 1
    while begin < end and _is_empty(children[end - 1]):
        end -= 1
    if begin < end:
        yield Paragraph(tuple(_spans(children[begin:end])))


def _is_empty(child: Token) -> bool:
    return child.type in ("softbreak", "hardbreak") or (child.type == "text" and not child.content.strip())


def _spans(children: Sequence[Token], strong: int = 0) -> Iterator[Words | Strong | Code | Math]:
    for child in children:
        match child.type:
            case "text" if child.content:
                yield (Strong if strong else Words)(Quoted(child.content))
            case "softbreak" | "hardbreak":
                yield Words(" ")
            case "code_inline":
                yield Code(child.content)
            case "strong_open" | "em_open":
                strong += 1
            case "strong_close" | "em_close":
                strong -= 1
            case "formula" | "formula on a line":
                yield Math(read_tex(child.content))
            case "image":
                raise InputError(f"A text has the picture {child.attrs.get('src')}; pictures cannot stand in a text.")
            case "link_open":
                raise InputError(f"A text has a link to {child.attrs.get('href')}; paper shows the address alone.")
