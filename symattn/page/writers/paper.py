"""A page of paper as its reader wants it, and how large the places to write in are on it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from symattn.formula.nodes import (
    CellKind,
    Formula,
    MatrixOf,
)
from symattn.formula.width import width
from symattn.foundation.languages import say
from symattn.page.document import (
    DEFAULT_LOOK,
    AnswerGrid,
    AnswerSpace,
    Choices,
    Falk,
    FillIn,
    HeatMap,
    ItemList,
    Look,
    WorkingSpace,
)
from symattn.page.writers import common
from symattn.page.writers.measure import LINE, formulas_in, inlines_width, lines_height

if TYPE_CHECKING:
    from symattn.page.writers.forms import Form


# --- the page -----------------------------------------------------------------------------------------

TEXT_SIZE = 11  # in points; whatever is larger is large print
EM = 4  # an em of text in millimetres at 11 pt, a little generous
INDENT, DENSE_INDENT = 1.5, 0.5  # em, of formulas, and of those in keys
PAGE_WIDTH = 174  # of a line of text, in millimetres, on either paper
PAPERS: Mapping[str, tuple[float, int]] = {"a4": (210, 297), "letter": (215.9, 279)}
"""Widths and heights in millimetres."""
_SLACK = 23  # millimetres of a page that a figure or boxes leave free, for the words before them


@dataclass(frozen=True, slots=True)
class Page:
    """A page as the reader wants it: large print is the same page with fewer em in a line.

    The lines of A4 and letter are equally long, so that they break at the same words.  `share` is less than 1 in a
    column, which has that part of a line; `narrow`, where boxes are narrower to stand side by side; `dense`, where
    formulas are indented less; `closer`, where as much is to stand on a page as has room.  `form` names the
    fields, where a page is filled in on a screen.
    """

    look: Look = DEFAULT_LOOK
    share: float = 1.0
    narrow: float = 1.0
    dense: bool = False
    closer: bool = False
    form: Form | None = None

    @property
    def text_size(self) -> int:
        return self.look.text_size

    @property
    def paper_height(self) -> int:
        """In millimetres."""
        return PAPERS[self.look.paper][1]

    @property
    def side(self) -> float:
        """The left and the right margin in millimetres."""
        return round((PAPERS[self.look.paper][0] - PAGE_WIDTH) / 2, 2)

    @property
    def large(self) -> bool:
        return self.text_size > TEXT_SIZE

    @property
    def scale(self) -> float:
        """How much larger everything is than at 11 pt."""
        return self.text_size / TEXT_SIZE

    @property
    def line(self) -> float:
        """The width of a line of formulas, in em."""
        return (LINE + INDENT - self.indent) / self.scale * self.share

    @property
    def formula_size(self) -> float:
        """That of formulas beside text: indices are 8 points high, and 18 points and more in large print."""
        return 1.0715 if self.large else 1.04

    @property
    def room(self) -> float:
        """The width of a line in em of formulas, for those that stand on lines of their own in PDF."""
        return self.line / self.formula_size

    @property
    def indent(self) -> float:
        """What formulas are indented by, in em."""
        return DENSE_INDENT if self.dense else INDENT

    @property
    def width(self) -> int:
        """The width of a line in millimetres."""
        return int(PAGE_WIDTH * self.share)

    @property
    def compact(self) -> bool:
        return self.look.spacing == "compact"

    @property
    def top(self) -> int:
        """The upper margin in millimetres, with the header in it."""
        least = {"a4": 16 if self.closer else 18, "letter": 15}[self.look.paper]
        return least + round(8 * (self.scale - 1))

    @property
    def bottom(self) -> int:
        """The lower margin in millimetres, with the footer in it."""
        least = {"a4": 18 if self.closer else 21, "letter": 18}[self.look.paper]
        return least + round(12 * (self.scale - 1))

    def bottom_of(self, lines: int) -> int:
        """The lower margin with `lines` lines in the footer, of which the last is 10 mm above the edge."""
        return self.bottom if lines == 1 else max(self.bottom, 13 + 4 * lines)

    @property
    def height(self) -> int:
        """How high one thing may be, in millimetres."""
        return self.text_height - _SLACK

    def millimetres(self, length: float) -> int:
        """A length at 11 pt in proportion to the text."""
        return int(length * self.scale)

    @property
    def text_height(self) -> int:
        """The height of what is printed between the margins, in millimetres."""
        return self.paper_height - self.top - self.bottom

    def rows(self, at_11_points: int) -> int:
        """How many rows of a table fit, from how many do at 11 pt."""
        return max(1, int(at_11_points / self.scale))


# --- boxes to write in --------------------------------------------------------------------------------

BOX: dict[CellKind, tuple[int, int]] = {
    "integer": (12, 10),
    "decimal": (20, 10),
    "fraction": (16, 16),
    "exponential": (32, 16),
    "word": (40, 10),
}
BLANK: dict[CellKind, int] = {"integer": 11, "decimal": 18, "fraction": 15, "exponential": 30, "word": 40}
"""Millimetres of a place to write in a formula."""
SMALL = 0.4  # small heat maps beside others
SQUARE = 10  # a cell to shade, and a cell of a picture of a matrix
CHARACTER_BOX = 6.5  # the width of a box for one character
RULING = 8  # from one line to write on to the next
WRITING = 8  # the height of a row of a table to write in
COMPACT_BOX = 0.8  # how high a box is on a compact page, in proportion to a roomy one
COMPACT_SPACE = 0.7  # and space for working
CLOSER_SPACE = 0.93  # where that saves a page: lines 6 mm apart, for digits 4 mm high


def box_size(grid: AnswerGrid, page: Page) -> tuple[int, int]:
    """Width and height of a box in millimetres: for handwriting, smaller only where the page ends."""
    wide, high = (SQUARE, SQUARE) if grid.shade else BOX[grid.kind]
    labels = width(grid.name) + max(map(width, grid.row_labels), default=0.0)
    room = max(page.width - page.millimetres(22) - page.millimetres(labels * EM), grid.columns)
    wide = min(page.millimetres(wide * page.narrow), room // grid.columns)
    high = min(page.millimetres(high * (COMPACT_BOX if page.compact else 1)), page.height // grid.rows)
    return (min(wide, high),) * 2 if grid.shade else (wide, high)


def space_height(space: WorkingSpace, page: Page) -> int:
    """The height of space for working in millimetres, a page at most."""
    return min(lines_of_pieces((space,), page, page.width), page.height)


def lines_of_pieces(spaces: Iterable[WorkingSpace], page: Page, room: int) -> int:
    """The height of space for working in millimetres, of some together in lines as wide as there is room.

    How many pieces a line has is a mean, since some are wider than others.
    """
    lines: dict[float, float] = {}
    for space in spaces:
        high, wide = _piece(space, page)
        in_a_line = max(1, room // wide, MIXED * room / wide) if wide else 1
        lines[high] = lines.get(high, 0.0) + space.count / in_a_line
    return math.ceil(sum(high * math.ceil(count) for high, count in lines.items()))


def _piece(space: WorkingSpace, page: Page) -> tuple[float, int]:
    """Height and width of a piece of working in millimetres: what is written by hand, large where print is large.

    Lines to write on are as many on a page that is written closer.
    """
    closer = COMPACT_SPACE if page.compact else CLOSER_SPACE if page.closer else 1
    high = space.height * page.scale * (1 if space.ruled else closer)
    return high, page.millimetres(space.width)


MIXED = 0.85  # of a line is filled by pieces that are not equally wide
FRAME = 3  # between a frame and what stands in it


def below_boxes(answer: AnswerSpace, page: Page) -> int:
    """How much space for working there is below boxes, in millimetres: what has no room beside them.

    Beside them are as many pieces as fit, in lines no wider than what the boxes leave.
    """
    space = answer.working
    if not isinstance(answer.boxes, AnswerGrid):
        return min(space_height(space, page), page.height // 3)  # a scheme takes half a page in large print
    high, wide = _piece(space, page)
    across, down = grid_size(answer.boxes, page)
    room = max(0, page.width - across - 3 * FRAME)
    in_a_line = max(min(1, room // wide), int(MIXED * room / wide)) if wide else 0
    beside = in_a_line * int(down // high)
    rest = replace(space, count=max(0, space.count - beside))
    below = lines_of_pieces((rest,), page, page.width - 2 * FRAME)
    return max(0, min(below, page.height - down - page.millimetres(20)))  # its heading stands on the page, too


def working_label(answer: AnswerSpace, page: Page) -> str:
    """The word beside the boxes; nothing where they leave no room for it."""
    boxes = answer.boxes
    if isinstance(boxes, AnswerGrid):
        across = grid_size(boxes, page)[0]
    else:
        inside = boxes.inside
        right = width(boxes.above) if isinstance(inside, MatrixOf) else 0.0
        across = page.millimetres((width(boxes.left) + sum(map(width, boxes.names)) + right + 6) * EM)
        across += grid_size(inside, page)[0] if isinstance(inside, AnswerGrid) else 0
    return say("Working") if across + page.millimetres(20) < page.width else ""


def boxes_height(boxes: AnswerGrid | Falk, page: Page) -> int:
    return grid_size(boxes, page)[1] if isinstance(boxes, AnswerGrid) else 0


def grid_size(grid: AnswerGrid, page: Page) -> tuple[int, int]:
    """Width and height in millimetres of boxes with their brackets, their labels and their name."""
    wide, high = box_size(grid, page)
    names = width(grid.name) + max(map(width, grid.row_labels), default=0.0) + 3
    above = 1.5 if grid.column_labels else 0.0
    return (
        grid.columns * wide + page.millimetres(names * EM),
        grid.rows * high + page.millimetres(3 + above * EM),
    )


def ruled_lines(space: WorkingSpace, page: Page) -> int:
    """How many lines to write on there are in ruled space."""
    return max(1, space_height(space, page) // page.millimetres(RULING))


def line_width(item: FillIn, page: Page) -> int:
    """The length of a line to fill in, in millimetres."""
    room = page.width - page.millimetres((inlines_width((*item.label, *item.after)) + 2) * EM)
    return min(page.millimetres(item.width), room if room > page.millimetres(20) else page.width * 9 // 10)


def is_short(item: FillIn, page: Page) -> bool:
    """Whether a label and its place to write are to stay on one line."""
    if common.has_character_boxes(item):
        place = CHARACTER_BOX * item.boxes
    else:
        place = max(line_width(item, page) / page.scale, 0.55 * EM * len(item.value))
    return inlines_width((*item.label, *item.after)) + place / EM <= 0.98 * page.line


# --- options and pictures -----------------------------------------------------------------------------

CHOICE_LABEL = 3.2  # the width of the box to tick and the letter, in em
CHOICE_GAP = 1.0  # between two columns of options


def choice_columns(choices: Choices, page: Page) -> int:
    """In how many columns options stand: as many as fit and leave no row shorter than the others."""
    count = len(choices.items)
    widest = max(map(inlines_width, choices.items), default=0.0) + CHOICE_LABEL
    most = min(count, int((page.line + CHOICE_GAP) / (widest + CHOICE_GAP)))
    return max((n for n in range(1, most + 1) if count % n == 0), default=1)


TEXT = 0.87  # of its estimated width, text takes
_BULLET = 1.8  # em


def in_first_column(listed: ItemList, page: Page) -> int:
    """How many items of a list stand in the first of two columns, where these are lower; else 0."""
    if listed.ordered or page.large or page.share < 1 or len(listed.items) < 3:
        return 0
    widths = [TEXT * inlines_width(item) for item in listed.items]
    formulas = max((width(formula) for item in listed.items for formula in formulas_in(item)), default=0.0)

    half = -(-len(widths) // 2)
    if max(widths[:half]) + max(widths[half:]) + 2 * _BULLET < page.line:
        return half
    high, first = min(
        (max(_lines(side, page.line / 2) for side in (widths[:k], widths[k:])), -k) for k in range(1, len(widths))
    )
    return -first if high < _lines(widths, page.line) and formulas < page.line / 3 else 0


def have_room_in_columns(listed: ItemList, first: int, page: Page) -> bool:
    """Whether surely no item of a list in two columns takes more than a line: then typst need not measure it."""
    widths = [inlines_width(item) for item in listed.items]
    return max(widths[:first]) + max(widths[first:]) + 2 * _BULLET < page.line


def _lines(widths: Iterable[float], room: float) -> int:
    """How many lines items of such widths take."""
    return sum(math.ceil(wide / (room - _BULLET)) for wide in widths)


def lines_of_list(listed: ItemList, page: Page) -> int:
    """How high a list is, in lines."""
    widths = [TEXT * inlines_width(item) for item in listed.items]
    first = in_first_column(listed, page)
    if not first:
        return _lines(widths, page.line)
    return max(_lines(side, page.line / 2) for side in (widths[:first], widths[first:]))


def cell_width(picture: HeatMap) -> float:
    """The width of the cells of a picture in millimetres at 11 pt: square, or wide enough for words of some length."""
    words = max((word_width(word) for row in picture.words for word in row), default=0.0)
    heads = max(map(width, picture.column_labels), default=0.0) * EM
    return max(SQUARE, min(40.0, max(words, heads) + 4))


def word_width(word: str) -> float:
    """The width of a word in millimetres at 11 pt, a little generous."""
    return 0.55 * EM * len(common.visible(word))


def in_chunks(lines: Sequence[Formula], page: Page) -> list[Sequence[Formula]]:
    """Lines of formulas as they are, or one by one where together they are higher than half a page."""
    room = page.height / (page.scale * EM) / 2
    return [lines] if lines_height(lines) <= room else [(line,) for line in lines]
