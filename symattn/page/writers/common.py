"""What all writers agree on: words that anything can show, and which blocks belong together."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from types import MappingProxyType
from typing import Any, assert_never

from symattn.formula.nodes import (
    NOTHING,
    MatrixOf,
    Product,
    equal,
)
from symattn.foundation.languages import say
from symattn.page.document import (
    AnswerGrid,
    AnswerSpace,
    Block,
    Blocks,
    Columns,
    Display,
    Document,
    Entries,
    Falk,
    FillIn,
    Flow,
    Heading,
    HeatMap,
    ItemList,
    Paragraph,
    Program,
    Solved,
    Together,
    WorkingSpace,
    all_blocks,
    as_text,
    with_blocks_inside,
)
from symattn.page.writers.measure import inlines_width

# --- blocks that a user's own writer writes -----------------------------------------------------------

_REPLACED: ContextVar[Mapping[type[Block], Callable[[Any], str]]] = ContextVar("replaced", default=MappingProxyType({}))


@contextmanager
def replacing(writers: Mapping[type[Block], Callable[[Any], str]]) -> Iterator[None]:
    """While this lasts, blocks of some classes are written by these functions, whatever the format does with them.

    So an output format of one's own is another one but for a node: see `docs/python.md`.
    """
    token = _REPLACED.set(MappingProxyType({**_REPLACED.get(), **writers}))
    try:
        yield
    finally:
        _REPLACED.reset(token)


def replaced(block: Block) -> str | None:
    """What takes the place of a block; None if its format writes the block itself."""
    own = _REPLACED.get().get(type(block))
    return own(block) if own else None


def letter(index: int) -> str:
    """The letter of an option, from 0.

    >>> letter(0), letter(25), letter(26)
    ('A', 'Z', 'AA')
    """
    before, last = divmod(index, 26)
    return (letter(before - 1) if before else "") + chr(ord("A") + last)


# --- documents ----------------------------------------------------------------------------------------


def visible(text: str) -> str:
    """Text on one line: line ends become spaces, control characters the sign � and format characters nothing.

    >>> visible("a\\tb\\x00")
    'a b�'
    """
    return "".join(map(_visible, text)) if not text.isascii() or not text.isprintable() else text


def _visible(character: str) -> str:
    match unicodedata.category(character):
        case "Cc" | "Zl" | "Zp":
            return " " if character.isspace() else "�"
        case "Cs" | "Co" | "Cn":
            return "�"
        case "Cf":
            return ""
        case _:
            return character


def label(name: str) -> str:
    """A name before what it is of, with the language's colon: "Nom :" in French."""
    return say("{label}:", label=name)


def page_words(page: str, count: str, words: Callable[[str], str]) -> list[str]:
    """ "page 1 of 9" in pieces, with what a format has for the two numbers, and its words as the format writes them."""
    pieces = re.split("([\ue000\ue001])", say("page {page} of {count}", page="\ue000", count="\ue001"))
    numbers = {"\ue000": page, "\ue001": count}
    return [numbers.get(piece) or words(piece) for piece in pieces if piece]


def composed(text: str) -> str:
    """Letters and the accents after them as one character wherever there is one."""
    return unicodedata.normalize("NFC", text)


def parts_used(document: Document) -> frozenset[str]:
    """Names of the blocks in a document, and of features that need furniture of their own."""
    return frozenset(part for block in all_blocks(document.blocks) for part in _parts(block))


def _parts(block: Block) -> Iterator[str]:
    yield type(block).__name__
    match block:
        case WorkingSpace(ruled=True):
            yield "ruled"
        case AnswerGrid() if not is_plain(block):
            yield "cells"


def is_plain(grid: AnswerGrid) -> bool:
    """Whether a grid is only an empty matrix."""
    return grid.in_brackets and not grid.filled


def one_after_another(block: AnswerSpace | Falk | Flow | Columns | Solved) -> Sequence[Block]:
    """The same without anything side by side, for formats and pages that have no room for it."""
    match block:
        case Falk(left, above, inside):
            product = Product((left, above))
            if isinstance(inside, AnswerGrid):
                return (Display((product,)), inside)
            return (Display((equal(product, inside),)),)
        case AnswerSpace(boxes, working):
            return (boxes, working)
        case Flow(_, otherwise):
            return otherwise
        case Columns(_, rows):
            return [part for left, right in rows for part in (*left, *right)]
        case Solved(ask):
            return ask
        case _:
            assert_never(block)


def as_matrix(scheme: Falk) -> MatrixOf:
    """A scheme that is worked out as a matrix of matrices, for formats that have nothing else."""
    assert isinstance(scheme.inside, MatrixOf)
    left, above = scheme.names or (NOTHING, NOTHING)
    return MatrixOf(((NOTHING, above, scheme.above), (left, scheme.left, scheme.inside)), bracket="")


def without_programs(blocks: Iterable[Block]) -> list[Block]:
    """The blocks that are written: programs are for notebooks alone."""
    return [block for block in blocks if not isinstance(block, Program)]


FEW = 4  # lines of formulas that stay on one page


def stays_with_next(blocks: Sequence[Block], together: bool) -> list[bool]:
    """For each block, whether it stays with the next one.

    A paragraph does that announces it, or begins what is under a heading, or is kept `together`; a rule stays with its
    working or its boxes, and what is short with the marks for it.
    """
    kept = [
        (isinstance(block, Paragraph) and (together or block.announces or isinstance(before, Heading)))
        or (isinstance(block, Display) and block.role == "rule" and isinstance(after, _BELOW_RULE))
        or (_is_short(block) and isinstance(after, Paragraph) and after.marks != "")
        for before, block, after in zip((None, *blocks), blocks, blocks[1:], strict=False)
    ]
    return [*kept, False] if blocks else []


_BELOW_RULE = (Display, Entries, AnswerSpace, AnswerGrid)


def _is_short(block: Block) -> bool:
    match block:
        case Display(lines) | Entries(lines):
            return len(lines) <= FEW
    return isinstance(block, Paragraph | ItemList)


def level_of_first_heading(group: Together) -> int:
    """The level of the heading that a group begins with; 0 if it begins with something else."""
    match group.blocks:
        case (Heading(level=level), *_):
            return level
        case _:
            return 0


def with_sound_levels(blocks: Iterable[Block]) -> Blocks:
    """The same blocks with no heading more than one level below the heading before it."""
    level = 0

    def sound(block: Block) -> Block:
        nonlocal level
        match block:
            case Heading():
                level = max(1, min(block.level, level + 1))
                return replace(block, level=level)
            case _:
                return with_blocks_inside(block, lambda inside: tuple(map(sound, inside)))

    return tuple(map(sound, blocks))


OF_HEADING = 1.25  # of the width of text, that of headings, which are bold


def with_marks_in_headings(blocks: Iterable[Block], line: float) -> Blocks:
    """The same blocks, codes of marks in the heading above, before what they add up to.

    What is said of them stands there as well, if the heading has room for it on one line.
    """
    done: list[Block] = []
    heading: int | None = None
    for block in blocks:
        match block:
            case Heading():
                heading = len(done)
            case Paragraph(_, codes, alone) if alone and heading is not None:
                above = done[heading]
                assert isinstance(above, Heading)
                marks = " ".join(filter(None, (alone, above.marks)))
                whole = inlines_width(above.whole) * OF_HEADING + inlines_width(as_text(marks)) + 2
                if alone == codes or whole < line:
                    done[heading] = replace(above, marks=marks)
                    heading = None
                    continue
        done.append(block)
    return tuple(done)


# --- places to write in, and pictures -----------------------------------------------------------------


def characters(words: str) -> list[str]:
    """Text in characters as a reader counts them: an accent belongs to its letter.

    >>> characters("ne\u0301e")
    ['n', 'é', 'e']
    """
    characters: list[str] = []
    for character in composed(visible(words)):
        if characters and unicodedata.combining(character):
            characters[-1] += character
        else:
            characters.append(character)
    return characters


def has_character_boxes(item: FillIn) -> bool:
    """Whether there is a box for each character; a value that is too long for its boxes stands on a line instead."""
    return item.boxes > 0 and len(characters(item.value)) <= item.boxes


def in_boxes(item: FillIn) -> list[str]:
    """What stands in the boxes for one character each."""
    value = characters(item.value)
    return [*value, *[""] * (item.boxes - len(value))]


def word_in(picture: HeatMap, i: int, j: int) -> str:
    """The word in a cell, if there is one."""
    return picture.words[i][j] if picture.words else ""
