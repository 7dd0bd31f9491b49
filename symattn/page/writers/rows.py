"""What stands beside what on paper, where that takes less of a page, and how high and how wide it is by estimate.

On a worksheet, boxes leave the rest of their line to working, which seldom goes into it.  In a row of questions, the
boxes stand beside one another, and below them is one frame, as wide as the page, with the room that all of them need.
In a key, questions whose working is narrow stand beside one another as well, and equations beside the formulas of
their step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from itertools import accumulate, chain, pairwise, product
from operator import itemgetter
from typing import Any, TypeGuard, TypeVar, assert_never

from symattn.formula.nodes import Formula, MatrixOf, Row, contains
from symattn.formula.width import width, wrapped
from symattn.foundation.languages import speaking
from symattn.page.document import (
    AnswerGrid,
    AnswerSpace,
    Block,
    Blocks,
    Box,
    Choices,
    Columns,
    Diagram,
    Display,
    Entries,
    Falk,
    Flow,
    FlowSheet,
    Heading,
    HeatMap,
    HeatMaps,
    Inlines,
    ItemList,
    Look,
    Math,
    PageBreak,
    Paragraph,
    Table,
    Together,
    Words,
    WorkingSpace,
    all_blocks,
    as_text,
    spans,
)
from symattn.page.writers import common, coverage, measure, paper
from symattn.page.writers.characters import plain
from symattn.page.writers.paper import Page
from symattn.page.writers.typst_text import SURE, aligned_lines, widest, width_aligned

C = TypeVar("C")
T = TypeVar("T")
H = TypeVar("H", bound=Any)

MOST = 4  # questions in a row
GUTTER = 4  # millimetres between them
NARROW = 0.92  # of their width, boxes that have to be narrower for a row
TITLE = 17.5  # millimetres of the first page
_EM = 3.9  # an em of 11 pt in millimetres
_TIGHT_EM = 3.7  # and one of heights, which are estimated generously
_CHARACTERS = 3.4  # the same in text, of which widths are estimated generously
_LINE = 5.2  # millimetres of a line of text
_ABOVE_HEADING, _BELOW_RULE, _BELOW_HEADING = 4.6, 1.2, 2.0
_MARKS = 9  # millimetres at the end of a heading
_LARGER = 1.22  # than text, formulas in headings are


@dataclass(frozen=True)
class Asked:
    """A question with boxes: its heading, what stands above the boxes, and the room for working."""

    heading: Heading
    above: Blocks
    boxes: AnswerGrid
    working: WorkingSpace | None

    @property
    def blocks(self) -> Blocks:
        """What it is without the row."""
        last = AnswerSpace(self.boxes, self.working) if self.working else self.boxes
        return (self.heading, Together((*self.above, last)))

    @cached_property
    def heading_size(self) -> HeadingSize:
        """Asked for in every row that the question may stand in."""
        return HeadingSize.of(self.heading)

    @cached_property
    def shown(self) -> tuple[Display, ...]:
        """The formulas above the boxes."""
        return tuple(block for block in self.above if isinstance(block, Display))

    @cached_property
    def said(self) -> tuple[Paragraph, ...]:
        return tuple(block for block in self.above if isinstance(block, Paragraph))

    def width(self, page: Page, beside: bool) -> float:
        """The least that it needs of a line, in millimetres, with its formulas beside its boxes or above them."""
        heading = self.heading_size
        formulas = max((width(line) * _EM + 6 for block in self.shown for line in block.lines), default=0.0)
        boxes, _ = paper.grid_size(self.boxes, page)
        return max(formulas + boxes if beside else max(formulas, boxes), heading.least)

    def height(self, page: Page, room: float, beside: bool) -> float:
        """The height of heading, formulas and boxes in so much of a line."""
        words = sum(_millimetres(block, in_part(page, room)) for block in self.said)
        formulas, boxes = sum(_millimetres(block, page) for block in self.shown), _height_of_boxes(self.boxes, page)
        high = max(formulas, boxes) - 2.5 if beside else formulas + boxes  # no space between them
        return self.heading_size.height(room) + words + high


@dataclass(frozen=True)
class HeadingSize:
    """The millimetres that the words of a heading take, the formula after them, and the marks behind a gap.

    Where they have no room in one line, the formula stands below the words.
    """

    words: float
    longest: float  # of the words
    rule: float
    marks: float

    @classmethod
    def of(cls, heading: Heading) -> HeadingSize:
        rules = tuple(measure.formulas_in(heading.whole))
        words = plain(tuple(part for part in spans(heading.whole) if not isinstance(part, Math)))
        return cls(
            _bold_width(words),
            max(map(_bold_width, words.split()), default=0.0),
            max(map(width, rules), default=0.0) * _EM * _LARGER,
            max(_MARKS, measure.inlines_width(as_text(heading.marks)) * _CHARACTERS + 4),
        )

    @property
    def whole(self) -> float:
        """The width of all of it in one line."""
        return self.words + self.rule + self.marks

    @property
    def least(self) -> float:
        """The least width in which it is legible: its words in two lines at most."""
        return max(self.rule, self.longest, self.marks, (self.words + self.marks) / 2)

    def lines(self, room: float) -> int:
        """How many lines it takes in a width."""
        return 1 if self.whole <= room else math.ceil((self.words + self.marks) / room) + (self.rule > 0)

    def height(self, room: float) -> float:
        """The millimetres that it takes of a page, with the space above and below it."""
        lines = self.lines(room)
        return _ABOVE_HEADING + lines * _LINE + _BELOW_RULE * (self.rule > 0 and lines > 1) + _BELOW_HEADING


def _bold_width(words: str) -> float:
    """The millimetres that words in a heading take."""
    return measure.inlines_width(as_text(words)) * common.OF_HEADING * _EM


def _height_of_boxes(boxes: AnswerGrid, page: Page) -> float:
    """With the space below them."""
    return paper.grid_size(boxes, page)[1] + 3


@dataclass(frozen=True)
class Labelled:
    """A heading, and the lines of formulas beside it."""

    heading: Heading
    shown: Display


def _labelled(blocks: Sequence[Block], page: Page) -> Labelled | None:
    """What is given, with the word for it on the same line, if that takes no more lines."""
    match blocks:
        case [Heading(of="given") as heading, Together((Display(lines, ()),)) | Display(lines, ())]:
            pass
        case _:
            return None
    room = page.room - measure.inlines_width(heading.whole) * common.OF_HEADING - _BESIDE_HEADING
    items = [item for line in lines for item in (line.items if isinstance(line, Row) else (line,))]
    rewrapped = wrapped(tuple(items), room)
    if len(rewrapped) > len(lines) or max(map(width, rewrapped)) > room or page.large or page.form:
        return None
    return Labelled(heading, Display(rewrapped))


_BESIDE_HEADING = 1.5  # em


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


@dataclass(frozen=True)
class WorkedRow:
    """Questions that are worked out side by side: their blocks, and their shares of the line in millimetres."""

    questions: Sequence[Blocks]
    widths: Sequence[float]


SideBySide = Labelled | InRow | WorkedRow

Placed = Block | SideBySide
"""What stands on a page from top to bottom."""


def in_rows(blocks: Sequence[Block], page: Page) -> list[Placed]:
    """The blocks, with questions in rows where that saves a page; as they are in large print and in columns.

    On a page that is to be `closer` any row will do, else the shortest that do.  Rows without which the pages are as
    few are taken apart again.
    """
    if page.large or page.form or page.share < 1:
        return list(blocks)
    choices = _choices(blocks, page)
    ways = [_arranged(choices, page, most) for most in range(MOST if page.closer else 1, MOST + 1)]
    fewest = min(pages for pages, _ in ways)
    pieces = _taken_apart(next(way for way in ways if way[0] == fewest), page)
    return [one for piece in _with_more_at_the_end(pieces, page) for one in piece.placed]


def pages_in_rows(blocks: Sequence[Block], page: Page) -> int:
    """How many pages the blocks may take in the rows that are lowest: an estimate, rather too small."""
    pages, _ = _arranged(_choices(blocks, page), page, MOST, page.text_height * _HOPEFUL)
    return pages + 1


def on_new_pages(questions: Sequence[Sequence[Block]], look: Look) -> list[bool]:
    """Which questions begin on a new page: the first, and each that would else be spread over more pages.

    Heights are estimates.  In large print, and where something is laid out in columns or as a figure, every question
    begins on a new page, and so does the one after it.
    """
    page = Page(look)
    room = float(page.text_height)
    ends, gaps = room, list[bool]()
    with speaking(look.language):
        for blocks in questions:
            if page.large or any(isinstance(block, _NOT_ESTIMATED) for block in all_blocks(blocks)):
                gaps.append(True)
                ends = room
                continue
            _, pieces = _arranged(_choices(blocks, page), page, MOST)
            likely = [replace(piece, high=piece.high * (1 if _has_room(piece) else _TEXT)) for piece in pieces]
            (apart, below), (after, there) = (
                reduce(partial(_after, room=room), likely, (0, used)) for used in (0.0, ends)
            )
            gaps.append(after > apart)
            ends = below if gaps[-1] else there
    return gaps


def _has_room(piece: _Piece) -> bool:
    """Whether there are boxes or room for working in it, whose height is known."""
    inside = (all_blocks((one,)) for one in piece.placed if not isinstance(one, SideBySide))
    return bool(piece.questions) or any(
        isinstance(block, AnswerGrid | WorkingSpace) for blocks in inside for block in blocks
    )


_TEXT = 0.85  # of its estimate, which is generous, text takes


_NOT_ESTIMATED = (Columns, Diagram, Falk, Flow, FlowSheet, HeatMaps)

_HOPEFUL = 1.05  # of a page, what is estimated to fill it may have room
_CAREFUL = 0.975  # and what certainly has


def _parts(blocks: Sequence[Block], page: Page) -> Iterator[Block | Labelled | Asked]:
    k = 0
    while k < len(blocks):
        both = blocks[k : k + 2]
        pair = _asked(both) or _labelled(both, page)
        yield pair or blocks[k]
        k += 2 if pair else 1


def _asked(blocks: Sequence[Block]) -> Asked | None:
    """A question whose formulas and boxes can stand in a part of a line."""
    match blocks:
        case (Heading() as heading, Together() as group) if group.blocks:
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


@dataclass(frozen=True)
class _Piece:
    """What stays on one page: a block, or some questions in a row; and about how high it is in millimetres."""

    placed: tuple[Placed, ...]
    high: float
    questions: tuple[Asked, ...] = ()


_Choices = list[list[list[_Piece]]]
"""For every part, what it may be: alone, in a row with the one before it, with the two before it …"""


def _choices(blocks: Sequence[Block], page: Page) -> _Choices:
    parts = list(_parts(common.without_programs(blocks), page))
    return [_choices_of(parts[:end], page) for end in range(1, len(parts) + 1)]


def _choices_of(parts: Sequence[Block | Labelled | Asked], page: Page) -> list[list[_Piece]]:
    """What the last of these parts may be."""
    if not isinstance(parts[-1], Asked):
        return [[_Piece((parts[-1],), height_on_worksheet(parts[-1], page))]]
    row: list[Asked] = []
    choices = []
    for question in reversed(parts[-MOST:]):
        if not isinstance(question, Asked) or question.heading.level != parts[-1].heading.level:
            break
        row.insert(0, question)
        choices.append(list(_rows(row, page)))
    return choices


def _arranged(choices: _Choices, page: Page, most: int, room: float = 0.0) -> tuple[int, list[_Piece]]:
    """How many pages end among the lowest rows of at most `most` questions, on pages with the given room; and these."""

    def rows(end: int) -> Iterator[tuple[int, _Piece, _Piece]]:
        for count, pieces in enumerate(choices[end - 1][:most], 1):
            yield from ((count, piece, piece) for piece in pieces)

    (pages, _), found = _lowest(len(choices), rows, _top(page), partial(_after, room=room or page.text_height))
    return pages, found


def _lowest(
    count: int, runs: Callable[[int], Iterable[tuple[int, C, T]]], start: H, after: Callable[[H, C], H]
) -> tuple[H, list[T]]:
    """So many things cut into the runs that are lowest together, and how high these are.

    `runs` are those that end with a thing, by its number from 1: how many things each is of, what it costs, and what
    it is; `after` adds a cost to a height.
    """
    best: list[tuple[H, list[T]]] = [(start, [])]
    for end in range(1, count + 1):
        options = ((after(best[end - n][0], cost), n, one) for n, cost, one in runs(end))
        high, n, one = min(options, key=itemgetter(0))
        best.append((high, [*best[end - n][1], one]))
    return best[-1]


def _top(page: Page) -> tuple[int, float]:
    return 0, TITLE - _saved("title", page)


def _after(where: tuple[int, float], piece: _Piece, room: float) -> tuple[int, float]:
    """The page, and how far down it, after a piece."""
    pages, used = where
    if isinstance(piece.placed[0], PageBreak) or (used + piece.high > room and used):
        pages, used = pages + 1, 0.0
    return pages + int(piece.high // room), used + piece.high % room


def _taken_apart(arranged: tuple[int, list[_Piece]], page: Page) -> list[_Piece]:
    """The pieces, the questions of a row one below the other where that certainly takes no page more."""
    pages, pieces = arranged
    room = page.text_height * _CAREFUL
    k = 0
    while k < len(pieces):
        apart = [_usual(question, page) for question in pieces[k].questions]
        tried = [*pieces[:k], *apart, *pieces[k + 1 :]]
        if len(apart) > 1 and reduce(partial(_after, room=room), tried, _top(page))[0] <= pages:
            pieces, k = tried, k + len(apart) - 1
        k += 1
    return pieces


def _with_more_at_the_end(pieces: list[_Piece], page: Page) -> list[_Piece]:
    """The pieces, those before the last page on it as well where it would have little: frames fill what they leave."""
    places = list(accumulate(pieces, partial(_after, room=page.text_height), initial=_top(page)))
    last, used = places[-1]
    start = next((k for k, (number, _) in enumerate(places[1:]) if number == last), 0)
    for k in range(start - 1, -1, -1):
        if used > _LITTLE * page.text_height or places[k + 1][0] < last - 1:
            break
        used += pieces[k].high
        if isinstance(pieces[k].placed[0], InRow | Heading) and _LITTLE < used / page.text_height < _MUCH:
            return [*pieces[:k], _Piece((PageBreak(),), 0.0), *pieces[k:]]
    return pieces


_LITTLE, _MUCH = 0.3, 0.6  # of a page


def height_on_worksheet(block: Block | Labelled, page: Page) -> float:
    """About how high a block is that is no question with boxes, in millimetres."""
    match block:
        case Labelled(_, shown):
            return _millimetres(shown, page) + 3 - _saved("given", page)
        case Paragraph():
            return _millimetres(block, page) - _saved("text", page)
        case Heading():
            return HeadingSize.of(block).height(page.width) - _saved("heading", page)
        case Display() | Entries() | Choices() | ItemList():
            return _millimetres(block, page)
        case Box(_, inside):
            return sum(height_on_worksheet(one, page) for one in inside) + 13 - _saved("box", page)
        case Together(inside):
            heights = [height_on_worksheet(one, page) for one in inside]
            pairs = zip(pairwise(inside), pairwise(heights), strict=True)
            return sum(heights) - sum(min(high) for pair, high in pairs if pictured(*pair, page))
        case AnswerSpace(AnswerGrid() as boxes):
            return _height_of_boxes(boxes, page) + paper.below_boxes(block, page)
        case AnswerGrid():
            return _height_of_boxes(block, page)
        case WorkingSpace():
            return paper.space_height(block, page)
        case Table(rows=rows):
            return 10.0 * (len(rows) + 1)
        case HeatMap(levels, column_labels=labels):
            return paper.SQUARE * len(levels) + (20 if labels else 12)
        case PageBreak():
            return 0.0
    return 12.0


def pictured(picture: Block, options: Block, page: Page) -> float:
    """The millimetres of a line that options have beside the picture before them; 0 if they have no room there."""
    if not isinstance(picture, HeatMap) or not isinstance(options, Choices) or page.large or page.share < 1:
        return 0.0
    labels = max(map(width, picture.row_labels), default=0.0) + 0.4
    columns = max(map(len, picture.levels), default=0)
    wide = page.width - columns * paper.cell_width(picture) - labels * _EM - APART - 2
    return wide if wide > 0 and are_legible(options.items, in_part(page, wide)) else 0.0


def are_legible(items: Sequence[Inlines], page: Page) -> bool:
    """Whether a part of a line is wide enough for items: lines of text are not too short, formulas have room."""
    formulas = (width(formula) for item in items for formula in measure.formulas_in(item))
    return page.width >= LEGIBLE and max(formulas, default=0.0) + paper.CHOICE_LABEL < page.line


LEGIBLE = 72  # millimetres of a line of text
_CLOSER = {"title": 5.5, "given": 10.0, "text": 3.0, "box": 3.0, "heading": 5.0, "question": 4.5}


def _saved(what: str, page: Page) -> float:
    """The millimetres that something takes less on a page that is closer, on average."""
    return _CLOSER[what] if page.closer else 0.0


def _rows(questions: Sequence[Asked], page: Page) -> Iterator[_Piece]:
    """What these questions may be in one row."""
    if len(questions) == 1:
        yield _usual(questions[0], page)
    below = paper.lines_of_pieces((q.working for q in questions if q.working), page, page.width - 2 * paper.FRAME)
    narrower = replace(page, narrow=NARROW)
    for beside, sized in product((True, False) if any(q.shown for q in questions) else (False,), (page, narrower)):
        least = [question.width(sized, beside) for question in questions]
        spare = page.width - sum(least) - GUTTER * (len(least) - 1)
        if spare < 0:
            continue
        widths = _shared(least, [question.heading_size.whole for question in questions], spare)
        high = max(q.height(page, wide, beside) for q, wide in zip(questions, widths, strict=True)) + below
        if high <= page.text_height:
            row = InRow(tuple(questions), widths, below, beside, sized.narrow)
            yield _Piece((row,), high - _saved("question", page), row.questions)
            return


def _shared(least: Sequence[float], wished: Sequence[float], spare: float) -> tuple[float, ...]:
    """The least widths, and what is spare: first to those that are then as wide as they are wished, then to all."""
    widths = list(least)
    for lacking, k in sorted((wish - wide, k) for k, (wide, wish) in enumerate(zip(least, wished, strict=True))):
        if 0 < lacking <= spare:
            widths[k], spare = wished[k], spare - lacking
    return tuple(wide + spare / len(widths) for wide in widths)


def _usual(question: Asked, page: Page) -> _Piece:
    """A question by itself, its boxes and its working in one frame."""
    high = question.height(page, page.width, False) - _saved("question", page)
    if question.working:
        high += paper.below_boxes(AnswerSpace(question.boxes, question.working), page) + 2
    return _Piece(question.blocks, high)


# --- keys ---------------------------------------------------------------------------------------------

MOST_WORKED = 3  # questions in a row of a key
HIGHEST = 26.0  # em: a row stays on one page
APART = 6  # millimetres between questions of a key
_LEAST_SAVED = 0.6  # em, for which a row is worth while
_PARTS = 29  # of a line, which questions share


def in_part(page: Page, wide: float) -> Page:
    """The page for what stands in a part of a line, given in millimetres."""
    return replace(page, share=(wide / _EM_OF_LINE - page.indent) / replace(page, share=1.0).line)


_EM_OF_LINE = paper.PAGE_WIDTH / (measure.LINE + paper.INDENT)


def worked_in_rows(blocks: Sequence[Block], page: Page) -> list[Placed]:
    """The blocks of a key, its questions in rows where these are lower."""
    if page.large or page.share < 1:
        return list(blocks)
    placed: list[Placed] = []
    run: list[_Worked] = []
    for part in _worked_parts(common.without_programs(blocks), page):
        if isinstance(part, tuple):
            run.append(_Worked.of(part, page))
        else:
            placed += [*_lowest_rows(run), part]
            run = []
    return [*placed, *_lowest_rows(run)]


def _worked_parts(blocks: Sequence[Block], page: Page) -> Iterator[Blocks | Block | Labelled]:
    """The blocks, those of a question together if they are text, formulas and options."""
    k = 0
    while k < len(blocks):
        end = k + 1
        first = blocks[k]
        if isinstance(first, Heading) and first.of in ("question", "part"):
            while end < len(blocks) and isinstance(blocks[end], Paragraph | Display | Entries | Choices | ItemList):
                end += 1
            alone = end < len(blocks) and not isinstance(blocks[end], Heading | Box | PageBreak)
            yield from blocks[k:end] if alone else (tuple(blocks[k:end]),)
        elif given := _labelled(blocks[k : k + 2], page):
            end += 1
            yield given
        else:
            yield first
        k = end


@dataclass(frozen=True)
class _Worked:
    """A question that is worked out, and its height in em in every number of parts of a line."""

    blocks: Blocks
    heights: tuple[float, ...]

    @property
    def least(self) -> int:
        """The fewest parts of a line in which it can stand in a row; more than there are, if there are none."""
        return next((parts for parts, high in enumerate(self.heights) if high <= HIGHEST), len(self.heights))

    @classmethod
    def of(cls, blocks: Blocks, page: Page) -> _Worked:
        heading, *rest = blocks
        assert isinstance(heading, Heading)
        size = HeadingSize.of(heading)
        heights = [math.inf] * (_PARTS + 1)
        for parts in range(_PARTS, 0, -1):
            wide = _wide(parts)
            high = height_of(rest, in_part(page, wide) if parts < _PARTS else page)
            if high == math.inf or wide < size.least:  # nor has it room in less
                break
            heights[parts] = 1.4 * size.lines(wide) + 1 + high
        return cls(blocks, tuple(heights))


def _wide(parts: int) -> float:
    """The width in mm of a number of parts of a line, without the gap to what stands beside them."""
    return parts * (paper.PAGE_WIDTH + APART) / _PARTS - APART


def _lowest_rows(questions: Sequence[_Worked]) -> list[Placed]:
    """The questions in the rows that are lowest together."""

    def rows(end: int) -> Iterator[tuple[int, tuple[float, float], Sequence[Placed]]]:
        alone = questions[end - 1]
        yield 1, (min(alone.heights[-1], 1000), 0.0), alone.blocks
        for count in range(2, min(MOST_WORKED, end) + 1):
            row = questions[end - count : end]
            ways = [
                (max(one.heights[own] for one, own in zip(row, shares, strict=True)), shares)
                for shares in _shares([one.least for one in row], _PARTS)
            ]
            if not ways:
                continue
            high, shares = min(ways, key=lambda way: (round(way[0], 1), max(way[1]) - min(way[1])))
            if high <= HIGHEST:
                yield count, (high, _LEAST_SAVED), (WorkedRow([one.blocks for one in row], [*map(_wide, shares)]),)

    return [*chain.from_iterable(_lowest(len(questions), rows, 0.0, _higher)[1])]


def _higher(before: float, costs: tuple[float, float]) -> float:
    """With the height of a run, and what it has to save to be worth while."""
    high, saved = costs
    return before + high + saved


def _shares(least: Sequence[int], parts: int) -> Iterator[tuple[int, ...]]:
    """Every way to share the parts of a line among questions each of which needs so many at least."""
    first, *others = least
    if not others:
        yield from [(parts,)] if first <= parts else ()
        return
    for own in range(first, parts - sum(others) + 1):
        yield from ((own, *rest) for rest in _shares(others, parts - own))


# --- formulas of a key side by side --------------------------------------------------------------------

ENTRIES_APART = 1.0  # em
_GENEROUS = 0.98  # of their estimated width, equations of digits take
_TIGHT = {  # and what of the width in em is saved
    " ⋅ ": (" tightdot ", 0.36),
    " + ": (" tightplus ", 0.29),
    " − ": (" tightminus ", 0.29),
    "= ": ("tightequal ", 0.2),
    "≈ ": ("tightapprox ", 0.2),
}


@coverage.once_for_a_document
def tightened(equations: tuple[Formula, ...]) -> tuple[list[str], list[float]]:
    """Equations with less space round their signs, so that more of them stand in a line, and their widths in em."""
    cells, widths = aligned_lines(equations), [_GENEROUS * width(equation) for equation in equations]
    for sign, (tight, saved) in _TIGHT.items():
        widths = [wide - saved * cell.count(sign) for wide, cell in zip(widths, cells, strict=True)]
        cells = [cell.replace(sign, tight) for cell in cells]
    return cells, widths


def columns_of_entries(widths: Sequence[float], most: int, page: Page) -> int:
    """In how many columns equations stand: as few as do with as few lines as have room."""
    columns = measure.columns_as_wide(widths, most, page.room, ENTRIES_APART)
    lines = -(-len(widths) // columns)
    return next(n for n in range(1, columns + 1) if -(-len(widths) // n) == lines)


_MOST_BESIDE = 6  # lines of equations with formulas beside them, all of which stay on one page
_MOST_IN_GROUP = 3  # blocks
_BESIDE = 1.5  # em, between formulas side by side
_BETWEEN = 0.5  # em, between blocks of a key


@dataclass(frozen=True)
class Group:
    """Blocks that stand side by side if they are several, and about how high they are in em.

    Equations among them stand in `columns` columns; 0 for as many as they have alone.  What has no room, or is no text
    and no formulas, is `high` without end.  What surely has room side by side `fits`.
    """

    blocks: Blocks
    columns: int
    high: float
    fits: bool = False


def groups(blocks: Sequence[Block], page: Page) -> list[Group]:
    """The blocks, equations with what is before or after them beside them where that is lower."""

    def ending(end: int) -> Iterator[tuple[int, tuple[float, float], Group]]:
        if end > 1 and pictured(blocks[end - 2], blocks[end - 1], page):
            yield 2, (0.0, 0.0), Group(tuple(blocks[end - 2 : end]), 0, math.inf)
            return
        block = blocks[end - 1]
        high = _height_alone(block, page)
        compared = isinstance(block, Display | Entries) and high < math.inf  # nothing else stands beside equations
        yield 1, (high if compared else 0.0, 0.0), Group((block,), 0, high)
        for count in () if page.form or page.large else range(2, min(_MOST_IN_GROUP, end) + 1):
            if group := beside(tuple(blocks[end - count : end]), page.room):
                yield count, (group.high, 0.1), group

    return _lowest(len(blocks), ending, 0.0, _higher)[1]


def height_of(blocks: Sequence[Block], page: Page) -> float:
    """About how high a part of a key is, in em; without end where it has no room, or is no text and formulas."""
    return sum(group.high for group in groups(blocks, page))


def _height_alone(block: Block, page: Page) -> float:
    return _height(block, page) + _BETWEEN if _is_text(block) and _is_legible(block, page) else math.inf


def _is_text(block: Block) -> TypeGuard[Text]:
    """Whether it is words or formulas as a key has them."""
    match block:
        case Display(lead=lead):
            return not lead
        case ItemList(ordered=ordered):
            return not ordered
        case _:
            return isinstance(block, Paragraph | Entries | Choices)


def _is_legible(block: Text, page: Page) -> bool:
    """Whether it has room in a part of a line."""
    match block:
        case Paragraph():
            return page.width >= LEGIBLE or _lines(block, page) < 2
        case Display(lines):
            return max(map(width, lines), default=0.0) <= page.room
        case Entries(equations):
            return max(tightened(equations)[1], default=0.0) <= page.room
        case Choices(items) | ItemList(items):
            return page.share == 1 or are_legible(items, page)


Text = Paragraph | Display | Entries | Choices | ItemList


def _height(block: Text, page: Page) -> float:
    """The height of words or formulas in em, without the space below them."""
    match block:
        case Paragraph():
            return 1.4 * _lines(block, page)
        case Display(lines):
            return measure.lines_height(lines)
        case Entries(equations, most):
            return _height_of_entries(block, columns_of_entries(tightened(equations)[1], most, page))
        case Choices():
            return _height_of_choices(block, page)
        case ItemList():
            return 1.35 * paper.lines_of_list(block, page)
        case _:
            assert_never(block)


def _millimetres(block: Text, page: Page) -> float:
    """The same on a worksheet, with the space below, in millimetres."""
    return _height(block, page) * _TIGHT_EM + 1


def _lines(block: Paragraph, page: Page) -> int:
    """How many lines text takes."""
    return math.ceil(paper.TEXT * measure.inlines_width((*block.content, Words(block.marks))) / page.line)


def _height_of_entries(block: Entries, columns: int) -> float:
    return -(-len(block.equations) // columns) * max(map(measure.line_height, block.equations))


def beside(blocks: Blocks, room: float) -> Group | None:
    """Equations with the formulas of the same step beside them, in as many columns as have room; None without room."""
    if (found := _of_one_step(blocks)) is None or room <= found.width:
        return None
    widths = tightened(found.own.equations)[1]
    columns = measure.columns_as_wide(widths, found.own.columns, room - found.width, ENTRIES_APART)
    wide = found.words * (found.width + width_of_columns(widths, columns))
    if wide > room:
        return None
    if -(-len(widths) // columns) > _MOST_BESIDE:
        return None
    high = max(_height_of_entries(found.own, columns), found.high) + _BETWEEN
    return Group(blocks, columns, high, wide < SURE * room)


@dataclass(frozen=True)
class _Step:
    """The equations of a step, and how wide and high its formulas are beside them, in em.

    `words` is by how much all may be wider than is estimated.
    """

    own: Entries
    width: float
    high: float
    words: float


@coverage.once_for_a_document
def _of_one_step(blocks: Blocks) -> _Step | None:
    """Blocks that are equations and formulas; None if these are of another step, or if there is anything else."""
    match [block for block in blocks if isinstance(block, Entries)]:
        case [own]:
            middle = blocks.index(own)
            shown = [block for block in blocks if isinstance(block, Display) and not block.lead]
            before, after = ({block.role for block in side} for side in (shown[:middle], shown[middle:]))
            if len(shown) == len(blocks) - 1 and "values" not in before and "rule" not in after:
                wide = sum(width_aligned(block.lines) + _BESIDE for block in shown)
                sources = (*tightened(own.equations)[0], *(x for block in shown for x in aligned_lines(block.lines)))
                high = max(measure.lines_height(block.lines) for block in shown)
                return _Step(own, wide, high, widest(1.0, sources))
    return None


def width_of_columns(widths: Sequence[float], columns: int) -> float:
    return sum(max(widths[k::columns]) for k in range(columns)) + ENTRIES_APART * (columns - 1)


def _height_of_choices(choices: Choices, page: Page) -> float:
    """The height of options in em, a row of them as high as its highest."""
    columns = len(columns_of_choices(choices, page))
    room = (page.line - paper.CHOICE_GAP * (columns - 1)) / columns - paper.CHOICE_LABEL
    heights = [_height_of_option(item, room) for item in choices.items]
    rows = [max(heights[start : start + columns]) for start in range(0, len(heights), columns)]
    apart, around = (0.5, 0.0) if page.dense or page.closer else (0.9, 0.5)
    return sum(rows) + apart * len(rows) + around


def _height_of_option(item: Inlines, room: float) -> float:
    """Its lines, or its highest formula; beside words, fractions are small."""
    lines = math.ceil(paper.TEXT * measure.inlines_width(item) / room)
    alone = all(isinstance(part, Math) for part in item)
    formulas = (f for f in measure.formulas_in(item) if alone or contains(f, MatrixOf))
    return max(1.32 * lines, *map(measure.height, formulas), 1.32)


def columns_of_choices(choices: Choices, page: Page) -> Sequence[str]:
    """The columns in which options stand: in a key all in one line, if they have room there as wide as they are."""
    widths = [measure.inlines_width(item) + paper.CHOICE_LABEL + paper.CHOICE_GAP for item in choices.items]
    columns = paper.choice_columns(choices, page)
    if page.dense and columns < len(widths) and sum(widths) < page.line:
        return ["auto"] * len(widths)
    return ["1fr"] * columns
