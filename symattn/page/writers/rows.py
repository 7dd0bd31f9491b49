"""Questions side by side on paper: which of them stand in a row, where that takes less of a page.

Boxes leave the rest of their line to working, which seldom goes into it.  In a row the boxes stand beside one another,
and below them is one frame, as wide as the page, with the room that all of them need.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from symattn.formula.width import width
from symattn.page.document import (
    AnswerGrid,
    AnswerSpace,
    Block,
    Box,
    Choices,
    Display,
    Heading,
    ItemList,
    Math,
    PageBreak,
    Paragraph,
    Table,
    Together,
    WorkingSpace,
    spans,
)
from symattn.page.writers import common
from symattn.page.writers.common import Page

MOST = 4  # questions in a row
GUTTER = 4  # millimetres between them
NARROW = 0.92  # of their width, boxes that have to be narrower for a row
TITLE = 17.5  # millimetres of the first page
_EM = 3.9  # an em of 11 pt in millimetres
_CHARACTERS = 3.4  # the same in text, of which widths are estimated generously
_LINE = 5.2  # millimetres of a line of text
_ABOVE_HEADING, _BELOW_HEADING = 4.6, 2.0
_MARKS = 9  # millimetres at the end of a heading
_BEFORE_BREAK = 0.75  # of a formula, which may break at its equals sign


@dataclass(frozen=True)
class Asked:
    """A question with boxes: its heading, what stands above the boxes, and the room for working."""

    heading: Heading
    above: tuple[Block, ...]
    boxes: AnswerGrid
    working: WorkingSpace | None

    @property
    def blocks(self) -> tuple[Block, ...]:
        """What it is without the row."""
        last = AnswerSpace(self.boxes, self.working) if self.working else self.boxes
        return (self.heading, Together((*self.above, last)))

    @property
    def shown(self) -> tuple[Display, ...]:
        """The formulas above the boxes."""
        return tuple(block for block in self.above if isinstance(block, Display))

    @property
    def said(self) -> tuple[Paragraph, ...]:
        return tuple(block for block in self.above if isinstance(block, Paragraph))

    def width(self, page: Page, beside: bool) -> float:
        """The least that it needs of a line, in millimetres, with its formulas beside its boxes or above them."""
        heading, unbroken = _heading_width(self.heading)
        formulas, boxes = _displayed(self.shown), _boxes(self.boxes, page)[0]
        return max(formulas + boxes if beside else max(formulas, boxes), min(heading, max(unbroken, heading * 0.55)))

    def height(self, page: Page, room: float, beside: bool) -> float:
        """The height of heading, formulas and boxes in so much of a line."""
        words = sum(-(-common.inlines_width(block.content) * _CHARACTERS // room) * _LINE + 3 for block in self.said)
        formulas, boxes = _high(self.shown), _boxes(self.boxes, page)[1]
        high = max(formulas, boxes) - 2.5 if beside else formulas + boxes  # no space between them
        return _heading(-(-_heading_width(self.heading)[0] // room)) + words + high


def _heading(lines: float) -> float:
    return _ABOVE_HEADING + lines * _LINE + _BELOW_HEADING


def _heading_width(heading: Heading) -> tuple[float, float]:
    """The width of a heading with its marks, and of the widest formula in it."""
    formulas = (width(part.formula) for part in spans(heading.whole) if isinstance(part, Math))
    return common.inlines_width(heading.whole) * _EM + _MARKS, max(formulas, default=0.0) * _EM * _BEFORE_BREAK


def _displayed(blocks: Sequence[Display]) -> float:
    return max((width(line) * _EM + 6 for block in blocks for line in block.lines), default=0.0)


def _high(blocks: Sequence[Display]) -> float:
    return sum(common.lines_height(block.lines) * 3.7 + 3 for block in blocks)


def _boxes(boxes: AnswerGrid, page: Page) -> tuple[float, float]:
    """Width and height of boxes with their name and brackets."""
    wide, high = common.box_size(boxes, page)
    names = width(boxes.name) + max(map(width, boxes.row_labels), default=0.0) + 1.8
    above = 6 if boxes.column_labels else 0
    return boxes.columns * wide + names * _EM + 5, boxes.rows * high + above + 6


@dataclass(frozen=True)
class InRow:
    """Questions side by side, with their shares of the line in millimetres, and room for working below them.

    Formulas stand `beside` the boxes or above them; boxes that have to be are `narrow`.
    """

    questions: tuple[Asked, ...]
    widths: tuple[float, ...]
    below: int
    beside: bool
    narrow: float = 1.0


def in_rows(blocks: Sequence[Block], page: Page) -> list[Block | InRow]:
    """The blocks, with questions in rows where that saves a page; as they are in large print and in columns."""
    if page.large or page.form or page.share < 1:
        return list(blocks)
    parts = list(_parts(common.without_programs(blocks)))
    ways = [_arranged(parts, page, most) for most in range(1, MOST + 1)]
    fewest = min(pages for pages, _ in ways)
    return next(found for pages, found in ways if pages == fewest)


def _parts(blocks: Sequence[Block]) -> Iterator[Block | Asked]:
    k = 0
    while k < len(blocks):
        question = _asked(blocks[k : k + 2])
        yield question or blocks[k]
        k += 2 if question else 1


def _asked(blocks: Sequence[Block]) -> Asked | None:
    """A question whose formulas and boxes can stand in a part of a line."""
    match blocks:
        case (Heading() as heading, Together() as group):
            *above, last = _flat(group)
        case _:
            return None
    if not all(map(_is_plain, above)):
        return None
    match last:
        case AnswerSpace(AnswerGrid() as boxes, working) if not working.ruled:
            return Asked(heading, tuple(above), boxes, working)
        case AnswerGrid():
            return Asked(heading, tuple(above), last, None)
    return None


def _flat(group: Together) -> Iterator[Block]:
    for block in group.blocks:
        yield from _flat(block) if isinstance(block, Together) else (block,)


def _is_plain(block: Block) -> bool:
    return (isinstance(block, Paragraph) and not block.marks) or (isinstance(block, Display) and not block.lead)


def _arranged(parts: Sequence[Block | Asked], page: Page, most: int) -> tuple[int, list[Block | InRow]]:
    """How many pages it takes with so many questions in a row, and the rows that take least."""
    best: list[tuple[tuple[int, float], list[Block | InRow]]] = [((0, TITLE), [])]
    for end, part in enumerate(parts, 1):
        if not isinstance(part, Asked):
            where, before = best[-1]
            best.append((_after(where, _height(part, page), page, part), [*before, part]))
            continue
        options = []
        for count in range(1, min(most, end) + 1):
            row = [question for question in parts[end - count : end] if isinstance(question, Asked)]
            if len({question.heading.level for question in row}) > 1 or len(row) < count:
                break
            for high, rows in _rows(row, page):
                where, before = best[end - count]
                options.append((_after(where, high, page), [*before, *rows]))
        best.append(min(options, key=lambda option: option[0]))
    (pages, _), found = best[-1]
    return pages, found


def _after(where: tuple[int, float], high: float, page: Page, block: Block | None = None) -> tuple[int, float]:
    """The page, and how far down it, after something so high that stays on one page."""
    pages, used = where
    if isinstance(block, PageBreak) or (used + high > page.text_height and used):
        pages, used = pages + 1, 0.0
    return pages + int(high // page.text_height), used + high % page.text_height


def _height(block: Block, page: Page) -> float:
    """About how high a block is that is no question with boxes, in millimetres."""
    match block:
        case Paragraph(content):
            return -(-common.inlines_width(content) * _CHARACTERS // page.width) * _LINE + 2.5
        case Heading():
            return _heading(1)
        case Display():
            return _high((block,))
        case ItemList(items):
            lines = sum(-(-common.inlines_width(item) * _CHARACTERS // page.width) for item in items)
            return (-(-lines // 2) if common.in_two_columns(block, page) else lines) * _LINE
        case Box(_, inside):
            return sum(_height(one, page) for one in inside) + 15
        case Together(inside):
            return sum(_height(one, page) for one in inside)
        case AnswerSpace(AnswerGrid() as boxes):
            return _boxes(boxes, page)[1] + common.below_boxes(block, page)
        case AnswerGrid():
            return _boxes(block, page)[1]
        case WorkingSpace():
            return common.space_height(block, page)
        case Table(rows=rows):
            return 10.0 * (len(rows) + 1)
        case Choices(items):
            return 9.0 * -(-len(items) // common.choice_columns(block, page))
        case PageBreak():
            return 0.0
    return 12.0


def _rows(questions: Sequence[Asked], page: Page) -> Iterator[tuple[float, list[Block | InRow]]]:
    """What these questions may be in one row, with its height."""
    if len(questions) == 1:
        yield _usual(questions[0], page)
    below = common.lines_of_pieces((q.working for q in questions if q.working), page)
    for beside, narrow in product((True, False) if any(q.shown for q in questions) else (False,), (1.0, NARROW)):
        narrower = replace(page, narrow=narrow)
        least = [question.width(narrower, beside) for question in questions]
        spare = page.width - sum(least) - GUTTER * (len(least) - 1)
        widths = tuple(wide + spare / len(least) for wide in least)
        high = max(q.height(page, wide, beside) for q, wide in zip(questions, widths, strict=True)) + below
        if spare >= 0 and high <= page.text_height:
            yield high, [InRow(tuple(questions), widths, below, beside, narrow)]
            return


def _usual(question: Asked, page: Page) -> tuple[float, list[Block | InRow]]:
    """A question by itself, its boxes and its working in one frame."""
    high = question.height(page, page.width, False)
    if question.working:
        high += common.below_boxes(AnswerSpace(question.boxes, question.working), page) + 2
    return high, list(question.blocks)
