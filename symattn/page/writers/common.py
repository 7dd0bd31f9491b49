"""What all writers agree on: where brackets and commas go, and how large the boxes are."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar, assert_never

from symattn.formula.nodes import (
    NOTHING,
    BigSum,
    Blank,
    CellKind,
    Formula,
    Fraction,
    MatrixOf,
    Name,
    Number,
    Power,
    Product,
    Relation,
    Row,
    Sum,
    Text,
    children,
    contains,
    equal,
    is_short_fraction,
    is_tall,
)
from symattn.formula.width import fold, width, wrapped
from symattn.foundation.identity import is_identity
from symattn.foundation.languages import say
from symattn.page.document import (
    DEFAULT_LOOK,
    AnswerGrid,
    AnswerSpace,
    Block,
    Choices,
    Columns,
    Display,
    Document,
    Entries,
    Falk,
    FillIn,
    Flow,
    Heading,
    HeatMap,
    Inlines,
    ItemList,
    Look,
    Math,
    Paragraph,
    Program,
    Solved,
    Table,
    Together,
    Words,
    WorkingSpace,
    all_blocks,
    as_text,
    spans,
    with_blocks_inside,
)

if TYPE_CHECKING:
    from symattn.page.writers.forms import Form

T = TypeVar("T")

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


# --- commas and gaps ----------------------------------------------------------------------------------


def is_single_character(index: Formula) -> bool:
    match index:
        case Number(digits):
            return len(digits) == 1
        case Name(base, sub, sup, primes, hat):
            return len(base) == 1 and not (sub or sup or primes or hat)
        case Text(words):
            return len(words) == 1
        case _:
            return False


def index_comma(sub: tuple[Formula, ...]) -> str:
    """What stands between indices: nothing in q₁₂, a comma in q_{10,2} and x_{i,query}."""
    return "" if all(map(is_single_character, sub)) else ","


def sign_after(matrix: MatrixOf, i: int, j: int) -> str:
    """What stands behind an entry of a matrix: what parts the columns, or the rows."""
    if j < len(matrix.rows[i]) - 1:
        return matrix.separator
    return matrix.row_end if i < len(matrix.rows) - 1 else ""


# --- fractions ----------------------------------------------------------------------------------------


def has_tall_fraction(node: Formula) -> bool:
    """Whether a fraction of more than plain numbers is set with a bar in it: not inside an exponent or index."""
    match node:
        case Fraction():
            return not is_short_fraction(node)
        case Power(base, _):
            return has_tall_fraction(base)
        case Name():
            return False
        case _:
            return any(map(has_tall_fraction, children(node)))


def has_dense_fraction(node: Formula) -> bool:
    """Whether there are powers or sums in a fraction: in a line of text they would be too small to read."""
    match node:
        case Fraction(above, below):
            return any(contains(part, Power, BigSum, Fraction) for part in (above, below))
        case Name():
            return False
        case _:
            return any(map(has_dense_fraction, children(node)))


# --- lines and columns --------------------------------------------------------------------------------

TEXT_SIZE = 11  # in points; whatever is larger is large print
EM = 4  # an em of text in millimetres at 11 pt, a little generous
LINE = 43.3  # the width of a line of formulas, in em: 174 mm at 11 pt, less what they are indented by
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


def before_sign(line: Formula) -> tuple[Formula | None, Formula]:
    """A line cut at its first relation sign: what stands before it, if there is a sign, and the rest."""
    match line:
        case Relation(parts, signs) if signs:
            return parts[0], Relation((Text(""), *parts[1:]), signs)
        case _:
            return None, line


def goes_on_with_a_sum(line: Formula) -> bool:
    """Whether a line continues a sum of the line above: it stands a little to the right of the relation sign."""
    match line:
        case Row((Relation((Sum((Text(""), *_)), *_), _),)) | Row((Sum((Text(""), *_)),)) | Sum((Text(""), *_)):
            return True
        case _:
            return False


def goes_on(line: Formula) -> bool:
    """Whether a line continues the one above, with a relation sign or with a sum."""
    return (isinstance(line, Relation) and line.parts[0] == NOTHING) or goes_on_with_a_sum(line)


ON_A_SCREEN = 3  # columns of equations at most, since it may be narrow


def columns_that_fit(equations: Sequence[Formula], columns: int, limit: float = LINE, gap: float = 2) -> int:
    """The largest number of columns, at most the one wished for, whose equations fit on a line."""
    return columns_as_wide([width(equation) for equation in equations], columns, limit, gap)


def in_lines(items: Sequence[T], columns: int) -> list[Sequence[T]]:
    """Items row by row in `columns` columns."""
    return [items[i : i + columns] for i in range(0, len(items), columns)]


def entries_in_lines(entries: Entries, limit: float = LINE, most: int = 10) -> list[Sequence[Formula]]:
    """Equations in as many columns as have room, `most` at most; in a single one, what is too wide is folded."""
    columns = columns_that_fit(entries.equations, min(entries.columns, most), limit)
    return in_lines(folded(entries.equations, limit=limit) if columns == 1 else entries.equations, columns)


def columns_as_wide(widths: Sequence[float], columns: int, limit: float, gap: float) -> int:
    """The same for what is so wide."""
    for n in range(max(1, min(columns, len(widths))), 1, -1):
        if sum(max(widths[i::n]) + gap for i in range(n)) - gap <= limit:
            return n
    return 1


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
    return min(_lines_of_pieces(space, page, page.width, space.count), page.height)


def lines_of_pieces(spaces: Iterable[WorkingSpace], page: Page) -> int:
    """The height of space for working in millimetres, of some together in lines as wide as a frame."""
    lines: dict[float, float] = {}
    for space in spaces:
        high, _ = _piece(space, page)
        lines[high] = lines.get(high, 0.0) + space.count / _in_a_line(space, page, page.width - 2 * FRAME)
    return math.ceil(sum(high * math.ceil(count) for high, count in lines.items()))


def _lines_of_pieces(space: WorkingSpace, page: Page, room: int, count: int) -> int:
    """The height of a number of pieces of working, in lines as wide as there is room."""
    return math.ceil(_piece(space, page)[0] * math.ceil(count / _in_a_line(space, page, room)))


def _in_a_line(space: WorkingSpace, page: Page, room: int) -> float:
    """How many pieces a line has on average, since some are wider than others."""
    _, wide = _piece(space, page)
    return max(1, room // wide, MIXED * room / wide) if wide else 1


def _piece(space: WorkingSpace, page: Page) -> tuple[float, int]:
    """Height and width of a piece of working in millimetres: what is written by hand, large where print is large."""
    high = space.height * page.scale * (COMPACT_SPACE if page.compact else CLOSER_SPACE if page.closer else 1)
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
    below = _lines_of_pieces(space, page, page.width - 2 * FRAME, max(0, space.count - beside))
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


def has_character_boxes(item: FillIn) -> bool:
    """Whether there is a box for each character; a value that is too long for its boxes stands on a line instead."""
    return item.boxes > 0 and len(characters(item.value)) <= item.boxes


def in_boxes(item: FillIn) -> list[str]:
    """What stands in the boxes for one character each."""
    value = characters(item.value)
    return [*value, *[""] * (item.boxes - len(value))]


def line_width(item: FillIn, page: Page) -> int:
    """The length of a line to fill in, in millimetres."""
    room = page.width - page.millimetres((inlines_width((*item.label, *item.after)) + 2) * EM)
    return min(page.millimetres(item.width), room if room > page.millimetres(20) else page.width * 9 // 10)


def is_short(item: FillIn, page: Page) -> bool:
    """Whether a label and its place to write are to stay on one line."""
    if has_character_boxes(item):
        place = CHARACTER_BOX * item.boxes
    else:
        place = max(line_width(item, page) / page.scale, 0.55 * EM * len(item.value))
    return inlines_width((*item.label, *item.after)) + place / EM <= 0.98 * page.line


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


# --- options and pictures -----------------------------------------------------------------------------

CHOICE_LABEL = 3.2  # the width of the box to tick and the letter, in em
CHOICE_GAP = 1.0  # between two columns of options


def letter(index: int) -> str:
    """The letter of an option, from 0.

    >>> letter(0), letter(25), letter(26)
    ('A', 'Z', 'AA')
    """
    before, last = divmod(index, 26)
    return (letter(before - 1) if before else "") + chr(ord("A") + last)


def choice_columns(choices: Choices, page: Page) -> int:
    """In how many columns options stand: as many as fit and leave no row shorter than the others."""
    count = len(choices.items)
    widest = max(map(inlines_width, choices.items), default=0.0) + CHOICE_LABEL
    most = min(count, int((page.line + CHOICE_GAP) / (widest + CHOICE_GAP)))
    return max((n for n in range(1, most + 1) if count % n == 0), default=1)


_TEXT = 0.87  # of its estimated width, text takes
_BULLET = 1.8  # em


def in_first_column(listed: ItemList, page: Page) -> int:
    """How many items of a list stand in the first of two columns, where these are lower; else 0."""
    if listed.ordered or page.large or page.share < 1 or len(listed.items) < 3:
        return 0
    widths = [_TEXT * inlines_width(item) for item in listed.items]
    formulas = max((width(formula) for item in listed.items for formula in formulas_in(item)), default=0.0)

    half = -(-len(widths) // 2)
    if max(widths[:half]) + max(widths[half:]) + 2 * _BULLET < page.line:
        return half
    high, first = min(
        (max(_lines(side, page.line / 2) for side in (widths[:k], widths[k:])), -k) for k in range(1, len(widths))
    )
    return -first if high < _lines(widths, page.line) and formulas < page.line / 3 else 0


def _lines(widths: Iterable[float], room: float) -> int:
    """How many lines items of such widths take."""
    return sum(math.ceil(wide / (room - _BULLET)) for wide in widths)


def lines_of_list(listed: ItemList, page: Page) -> int:
    """How high a list is, in lines."""
    widths = [_TEXT * inlines_width(item) for item in listed.items]
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
    return 0.55 * EM * len(visible(word))


def word_in(picture: HeatMap, i: int, j: int) -> str:
    """The word in a cell, if there is one."""
    return picture.words[i][j] if picture.words else ""


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
        case Heading(marks=marks) | Paragraph(marks=marks) if marks:
            yield "marks"
        case WorkingSpace(ruled=True):
            yield "ruled"
        case AnswerGrid() if not is_plain(block):
            yield "cells"


def is_plain(grid: AnswerGrid) -> bool:
    """Whether a grid is only an empty matrix."""
    return grid.in_brackets and not grid.filled


def formulas_in(content: Inlines) -> Iterator[Formula]:
    return (inline.formula for inline in spans(content) if isinstance(inline, Math))


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


def folded(lines: Iterable[Formula], lead: Inlines = (), limit: float = LINE) -> list[Formula]:
    """Lines that are too wide for the page cut: chains at their relation signs, rows of formulas at their gaps."""
    room = limit - (inlines_width(lead) + 1 if lead else 0)
    given = tuple(lines)
    apart = [part for line in given for part in (wrapped(line.items, room) if _is_wide(line, room) else (line,))]
    rows = any(isinstance(line, Row) for line in apart)
    done: list[Formula] = []
    for line in apart:
        if rows and line not in given:
            done.append(line if isinstance(line, Row) else Row((line,)))  # so that it begins where the others do
        elif isinstance(line, Relation) and width(line) > room:
            done += fold(line, room)
        else:
            done.append(line)
    return done


def _is_wide(line: Formula, room: float) -> TypeGuard[Row]:
    return isinstance(line, Row) and len(line.items) > 1 and width(line) > room


def in_one_line(block: Display) -> Inlines | None:
    """Leading words and the only formula after them as a line of text; None if there is more, or it is high."""
    match block:
        case Display((formula,), lead) if lead and not is_tall(formula):
            content = (*lead, Words(" "), Math(formula))
            return content if inlines_width(content) <= LINE else None
    return None


def lead_stands_above(lines: Iterable[Formula], lead: Inlines, limit: float = LINE) -> bool:
    """Whether the text before formulas gets a line of its own, since beside it they would be too wide."""
    return bool(lead) and max(map(width, lines), default=0.0) + inlines_width(lead) + 1 > 1.1 * limit


@lru_cache(maxsize=2**12)  # several arrangements are tried
def inlines_width(content: Inlines) -> float:
    """How wide text with formulas is, in em."""
    return sum(
        width(part.formula) if isinstance(part, Math) else sum(map(_character_width, part.text))
        for part in spans(content)
    )


def _character_width(character: str) -> float:
    """How wide a letter is on average, in em."""
    if unicodedata.east_asian_width(character) in "WF":
        return 1.0
    return 0.72 if character.isupper() else 0.5


CELL_INSET = 1.2
"""Em of a column beside what stands in it."""


def laid_out(table: Table, page: Page) -> Table:
    """The table, turned with its rows as columns where it has few rows and is much too wide for the page."""
    columns = table.columns
    if not table.row_heads or table_width(table) <= 1.25 * page.line or len(columns) <= 2 * (len(table.rows) + 1):
        return table
    return replace(table, header=columns[0], rows=tuple(columns[1:]))


_LONG_AND_NARROW = 8  # rows of two columns


def in_two_halves(table: Table, page: Page) -> bool:
    """Whether a table is so long and narrow that its second half stands beside the first."""
    if page.large or page.share < 1 or len(table.header) != 2 or len(table.rows) < _LONG_AND_NARROW:
        return False
    wide = table_width(table)
    return wide < 0.45 * page.line and not has_rows_for_writing(table)


def is_for_writing(row: Sequence[Inlines], table: Table) -> bool:
    """Whether nothing stands in a row of a table but its head: it is to be filled in by hand."""
    return table.row_heads and len(row) > 1 and not any(map(inlines_width, row[1:]))


def has_rows_for_writing(table: Table) -> bool:
    return any(is_for_writing(row, table) for row in table.rows)


def is_blank(cell: Inlines) -> bool:
    """Whether a cell of a table is a place to write."""
    match cell:
        case (Math(Blank()),):
            return True
        case _:
            return False


def has_matrices(table: Table) -> bool:
    """Whether there are matrices in a table: its rows are then set apart by lines."""
    return any(contains(formula, MatrixOf) for row in table.rows for cell in row for formula in formulas_in(cell))


_WORD = 7.0  # em: a column of words is to be no narrower, or as narrow as the words are


def column_shares(table: Table, limit: float = LINE) -> list[float]:
    """The share of the line each column of a table gets, if its words have to be wrapped; else nothing.

    Formulas, the ids of sheets and short words are not broken; a column that a short word does not fit takes room from
    the others.  Where too little is left for words, the shares are more than a line together, and the table is made
    smaller as a whole.
    """
    columns, widths = table.columns, _column_widths(table)
    if sum(widths) <= limit:
        return []
    room = 0.97 - 0.03 * len(widths)
    shares = [wide / limit * room for wide in _narrowed(widths, limit)]
    needed = [max(map(_unbroken, column)) for column in columns]
    if all(need < share * limit for need, share in zip(needed, shares, strict=True)):
        words = [max(map(_short_word, column)) for column in columns]
        return _widened(shares, [max(need, word) / limit for need, word in zip(needed, words, strict=True)])
    least = [max(need + 0.6, min(wide, _WORD)) for need, wide in zip(needed, widths, strict=True)]
    more = [wide - low for wide, low in zip(widths, least, strict=True)]
    if not any(more):
        return []
    spare = max(0.0, limit * room - sum(least))
    return [(low + spare * extra / sum(more)) / limit for low, extra in zip(least, more, strict=True)]


def _narrowed(widths: Sequence[float], limit: float) -> list[float]:
    """Widths that are together as wide as the limit: what is wider than its fair share makes room for the others."""
    fair = limit / len(widths)
    narrow = sum(wide for wide in widths if wide <= fair)
    smaller = (limit - narrow) / sum(wide for wide in widths if wide > fair)
    return [wide if wide <= fair else wide * smaller for wide in widths]


def _widened(shares: Sequence[float], least: Sequence[float]) -> list[float]:
    """Shares that are each as large as they must be: what some lack is taken from what the others have to spare."""
    lack = sum(max(0.0, low - share) for share, low in zip(shares, least, strict=True))
    spare = sum(max(0.0, share - low) for share, low in zip(shares, least, strict=True))
    kept = 1 - min(1.0, lack / spare) if spare else 1.0
    return [low + kept * max(0.0, share - low) if lack else share for share, low in zip(shares, least, strict=True)]


def table_width(table: Table) -> float:
    """How wide a table is in em if nothing in it is wrapped."""
    return sum(_column_widths(table))


def _column_widths(table: Table) -> list[float]:
    return [max(map(inlines_width, column)) + CELL_INSET for column in table.columns]


def is_too_wide(table: Table, shares: Sequence[float], limit: float) -> bool:
    """Whether a table with these shares has to be made smaller for a line."""
    if shares:
        return sum(shares) >= 1
    return table_width(table) > limit


def table_parts(table: Table, shares: Sequence[float], page: Page, most: int) -> list[tuple[tuple[Inlines, ...], ...]]:
    """The rows in as many parts as it takes for each part to fit on a page, with `most` rows at most."""
    wide = table_width(table)
    rooms = [share * page.line for share in shares] or [wide] * len(table.header)
    smaller = min(1.0, page.line / (sum(rooms) if shares else wide))
    room = page.height / (page.scale * EM) / smaller
    parts: list[list[tuple[Inlines, ...]]] = [[]]
    used = head = _row_height(table.header, rooms)
    for row in table.rows:
        high = _row_height(row, rooms)
        if parts[-1] and (used + high > room or len(parts[-1]) == most):
            parts.append([])
            used = head
        parts[-1].append(row)
        used += high
    return [tuple(part) for part in parts]


def _row_height(row: Iterable[Inlines], rooms: Iterable[float]) -> float:
    """The height of a row of a table in em: an estimate, a little generous."""
    return max(
        (
            max(1.3 * -(-inlines_width(cell) // (0.9 * room)), *map(_height, formulas_in(cell)), 1.3) + 0.9
            for cell, room in zip(row, rooms, strict=True)
        ),
        default=0.0,
    )


def lines_height(lines: Iterable[Formula]) -> float:
    """The height of formulas one below the other, in em."""
    return sum(map(line_height, lines))


def line_height(line: Formula) -> float:
    """The height of a formula on a line of its own with the space above it, in em."""
    return _height(line) + 0.9


@lru_cache(maxsize=2**12)  # several arrangements are tried
def _height(formula: Formula) -> float:
    match formula:
        case MatrixOf(rows):
            return 0.4 + sum(max((1.45, *map(_height, row))) for row in rows)
        case Fraction():
            return 2.6
        case Power(base, _):
            return _height(base)
        case Name():
            return 1.3
        case _:
            return max((1.3, *map(_height, children(formula))))


def in_chunks(lines: Sequence[Formula], page: Page) -> list[Sequence[Formula]]:
    """Lines of formulas as they are, or one by one where together they are higher than half a page."""
    room = page.height / (page.scale * EM) / 2
    return [lines] if lines_height(lines) <= room else [(line,) for line in lines]


def _unbroken(content: Inlines) -> float:
    """How wide what is not wrapped is, in em: formulas, and the id of a sheet."""
    ids = [
        1.2 * inlines_width((part,)) for part in spans(content) if isinstance(part, Words) and is_identity(part.text)
    ]
    return max([*map(width, formulas_in(content)), *ids], default=0.0)


_SHORT = 4.0  # em: a word that is no wider is not hyphenated, as "Marks" and "19/20"


def _short_word(content: Inlines) -> float:
    """How wide the widest short word is where it is bold, in em."""
    words = (word for part in spans(content) if isinstance(part, Words) for word in part.text.split())
    return 1.2 * max((wide for word in words if (wide := inlines_width(as_text(word))) <= _SHORT), default=0.0)


def without_programs(blocks: Iterable[Block]) -> list[Block]:
    """The blocks that are written: programs are for notebooks alone."""
    return [block for block in blocks if not isinstance(block, Program)]


FEW = 4  # lines of formulas that stay on one page


def stays_with_next(blocks: Sequence[Block], together: bool) -> list[bool]:
    """For each block, whether it stays with the next one.

    A paragraph does that announces it, or begins what is under a heading, or is kept `together`; and what is short
    stays with the marks for it.
    """
    kept = [
        (isinstance(block, Paragraph) and (together or block.announces or isinstance(before, Heading)))
        or (_is_short(block) and isinstance(after, Paragraph) and after.marks != "")
        for before, block, after in zip((None, *blocks), blocks, blocks[1:], strict=False)
    ]
    return [*kept, False] if blocks else []


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


def with_sound_levels(blocks: Iterable[Block]) -> tuple[Block, ...]:
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


_SHORT_FORMULA = 16.0  # em: it has room in a narrow part of a line


def stays_whole(formula: Formula) -> bool:
    """Whether a formula in a heading is so short that the line breaks before it and not at its equals sign."""
    return width(formula) <= _SHORT_FORMULA


def ends_whole(heading: Heading) -> bool:
    """Whether a heading ends with a short formula, behind words, and its marks are a number of marks."""
    match tuple(spans(heading.whole)):
        case (Words(), *_, Math(formula)):
            return heading.marks.startswith("[") and stays_whole(formula)
        case _:
            return False


OF_HEADING = 1.25  # of the width of text, that of headings, which are bold


def with_marks_in_headings(blocks: Iterable[Block], line: float) -> tuple[Block, ...]:
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
