"""Where everything stands on a flow sheet: matrices, arrows, marks of tokens, as one list of shapes for every back end.

Data flows from the foot of the page upwards.  Where tokens are rows, the keys turned over, the scores, their powers and
the weights stand in one column of the page, each key above itself, queries left of the scores, values below the output.
Where tokens are columns, every query runs straight up from the inputs to the output, with keys and values at the left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from symattn.formula.nodes import NOTHING, Formula, Relation, equal
from symattn.formula.width import fold
from symattn.foundation.languages import say
from symattn.page.document import Blocks, Flow, FlowGrid, FlowSheet, Inlines, Math, Strong, Words, all_blocks, as_text
from symattn.page.writers.figures import Line, Point
from symattn.page.writers.measure import goes_on_with_a_sum, inlines_width
from symattn.page.writers.paper import EM, PAGE_WIDTH, Page

# --- what is drawn: lengths in millimetres at 11 pt, from the upper left corner -----------------------------------


@dataclass(frozen=True, slots=True)
class Boxes:
    """A matrix, its upper left corner at (x, y); numbers that are given are shaded."""

    grid: FlowGrid
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Title:
    """What stands above or beside a matrix, in lines: the lower end of all is at y, and they begin, or end, at x."""

    grid: FlowGrid
    lines: tuple[Inlines, ...]
    x: float
    y: float
    ends: bool = False

    @property
    def sides(self) -> Point:
        """Where it begins and ends, by estimate."""
        wide = max(map(inlines_width, self.lines)) * _OF_EM * EM
        return (self.x - wide, self.x) if self.ends else (self.x, self.x + wide)

    @property
    def high(self) -> float:
        return TITLE * len(self.lines)

    def meets(self, note: Note) -> bool:
        """Whether it would touch a note, both in a panel, where y runs upwards."""
        right = note.x + inlines_width(note.content) * _OF_EM * EM + _AWAY
        return self.sides[0] < right and abs(self.y + self.high / 2 - note.y) < (self.high + TITLE) / 2


@dataclass(frozen=True, slots=True)
class Token:
    """The mark of a token along the edge of a row or a column: tone and pattern tell tokens apart."""

    token: int
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Outline:
    """A thick line round a row, a column or an entry of the dot product that is pointed out."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Note:
    """Words or a formula that begin at x, their middle at y."""

    content: Inlines
    x: float
    y: float


Shape = Boxes | Title | Token | Outline | Note | Line

PATTERNS = 6  # a seventh token looks like the first


@dataclass(frozen=True, slots=True)
class Picture:
    """Shapes in the order in which they are read, and how large they are together."""

    shapes: tuple[Shape, ...]
    width: float
    height: float
    legend: Inlines

    @property
    def grids(self) -> list[FlowGrid]:
        return [shape.grid for shape in self.shapes if isinstance(shape, Boxes)]

    def smaller(self, page: Page) -> float:
        """The factor, at most 1, by which the picture fits on a page; smaller where what follows is to fit as well."""
        fits = min(1.0, PAGE_WIDTH / (self.width * page.scale), self._room(page) / (self.height * page.scale))
        return max(min(fits, _SMALLEST), _CLOSER * fits) if _is_close(page) else fits

    def _room(self, page: Page) -> float:
        """The height that a page has for it, below its title and its legend."""
        lines = -(-inlines_width(self.legend) // (0.92 * page.line))
        return page.height - (_ABOVE + _LEGEND * lines) * page.scale


_ABOVE, _LEGEND = 15.0, 5.8  # what stands above the picture, and a line of its legend, in millimetres at 11 pt
_SMALLEST = 8 / 11  # no text is below 8 pt
_CLOSER = 0.92  # by which a picture is smaller where that may save a page
_HIGHER = (1.3, 1.25, 1.2, 1.15, 1.1, 1.05)  # by how much boxes may be higher where a page has room


def _is_close(page: Page) -> bool:
    """Whether as much is to stand on a page as has room, and nothing is written there by hand."""
    return page.closer and page.dense


def shown(flow: Flow, page: Page) -> Blocks:
    """The sheets of a question; the usual form, where they would be too small."""
    sheets = [block for block in all_blocks(flow.sheet) if isinstance(block, FlowSheet)]
    pictures = (picture for sheet in sheets for picture in fitted(sheet, page))
    has_room = page.share == 1 and all(picture.smaller(page) >= _SMALLEST for picture in pictures)
    return flow.sheet if has_room else flow.otherwise


def fitted(sheet: FlowSheet, page: Page) -> list[Picture]:
    """The sheet as shapes, its boxes as high as a page has room for; if need be on two pages, cut above the scores."""
    if drawn(sheet).smaller(page) >= _SMALLEST or any(grid.head for grid in sheet.grids):
        return [_stretched(sheet, "", page)]
    return [_stretched(sheet, part, page) for part in _PARTS]


def _stretched(sheet: FlowSheet, part: Part, page: Page) -> Picture:
    usual = drawn(sheet, part)
    if _is_close(page):
        return usual
    higher = (drawn(_higher(sheet, by), part) for by in _HIGHER)
    return next((picture for picture in higher if picture.smaller(page) >= usual.smaller(page)), usual)


def _higher(sheet: FlowSheet, by: float) -> FlowSheet:
    """The sheet with higher boxes, and whatever stands in rows beside them."""
    low = min(grid.cell[1] for grid in sheet.grids)
    grids = (
        grid if grid.cell[1] == low else replace(grid, cell=(grid.cell[0], round(grid.cell[1] * by, 1)))
        for grid in sheet.grids
    )
    return replace(sheet, grids=tuple(grids))


def shape_of(grid: FlowGrid) -> tuple[int, int]:
    """How many rows and columns it has."""
    return len(grid.cells), len(grid.cells[0])


# --- the drawing ------------------------------------------------------------------------------------------------

_MARK = 2.2  # how thick the mark of a token is
_EDGE = 3.0  # the same with the gap between it and its matrix
TITLE = 5.4  # the height of a title, and of a line of a note
_UP = 7.2  # between matrices above one another, with a title between them
_ON = 5.0  # the same without a title
_ACROSS = 5.0  # between matrices side by side
_AWAY = 0.8  # between the ends of an arrow and what it joins
_IN = 5.0  # between the left edge of a matrix and the arrow that leads up to it
_DEEPER = 4.0  # by how much lines of a sum are indented
_APART = 5.0  # between two heads
_OF_EM = 0.92  # what titles take of the width that is reckoned for them, which is generous
_LEAST = 27.0  # the width of the column at the left, which has room for notes
_OF_ALL = ("C", "W_O", "O")
_LABEL = 14.0  # a token's mark and name at the top

_LOWER = ("X", "E", "W_Q", "Q", "W_K", "K", "K^T", "S")  # on the first of two pages

Part = Literal["", "lower", "upper"]
_PARTS: tuple[Part, ...] = ("lower", "upper")


def drawn(sheet: FlowSheet, part: Part = "") -> Picture:
    """The sheet, or a part of it, as shapes."""
    heads = sorted({grid.head for grid in sheet.grids if grid.role not in _OF_ALL})
    arrangement = {"rows": _ByRows, "columns": _ByColumns}[sheet.along]
    panels: list[_Panel] = []
    left = 0.0
    for head in heads:
        own = {grid.role: grid for grid in sheet.grids if grid.head == head and grid.role not in _OF_ALL}
        panel = arrangement(own, sheet, left, part)
        panel.arrange()
        panels.append(panel)
        left = panel.right + _APART
    if own := {grid.role: grid for grid in sheet.grids if grid.role in _OF_ALL}:
        last = arrangement(own, sheet, 0.0)
        last.join(panels)
        panels.append(last)
    wide, high = max(panel.right for panel in panels), max(panel.top for panel in panels)
    foot = min(panel.foot for panel in panels)
    if part:
        foot, high = panels[0].ends()
    names = list(_names(sheet, wide))
    high += max((y for _, _, y in names), default=0.0) + TITLE
    shapes: list[Shape] = []
    for token, x, y in names:
        shapes += [Token(token, x, y, 4.0, 3.6), Note(as_text(sheet.tokens[token]), x + 5.5, y + 1.8)]
    for panel in panels:
        shapes += (_from_above(shape, high) for shape in panel.shapes())
    return Picture(tuple(shapes), round(wide, 1), round(high - foot, 1), () if part == "upper" else sheet.legend)


def _names(sheet: FlowSheet, wide: float) -> Iterator[tuple[int, float, float]]:
    """What the tokens are called, in lines at the top: the token, and where its mark stands."""
    in_a_line = max(1, int(wide / _LABEL))
    for token in range(len(sheet.tokens)):
        yield token, token % in_a_line * _LABEL, token // in_a_line * TITLE


class _Panel:
    """The matrices of one head; here y runs upwards from the foot of the page."""

    marked_below: tuple[str, ...]  # matrices with the marks of their columns below them
    marked_above: str  # and the one above which they end

    def __init__(self, grids: Mapping[str, FlowGrid], sheet: FlowSheet, left: float, part: Part = "") -> None:
        self.grids, self.sheet, self.left, self.part = grids, sheet, left, part
        self.places: dict[str, Point] = {}  # of lower left corners
        self.titles: list[Title] = []
        self.arrows: list[tuple[tuple[str, str], tuple[Point, ...]]] = []
        self.notes: list[Note] = []
        self.outlines: list[Outline] = []
        self.right = self.top = self.foot = 0.0
        self.apart = "E" in grids
        self.source = "E" if self.apart else "X"  # what keys and values are made from

    # -- sizes and places

    def wide(self, *roles: str) -> float:
        return max((shape_of(self.grids[x])[1] * self.grids[x].cell[0] for x in roles if x in self.grids), default=0.0)

    def high(self, role: str) -> float:
        return shape_of(self.grids[role])[0] * self.grids[role].cell[1] if role in self.grids else 0.0

    def put(self, role: str, x: float, y: float) -> float:
        """Places a matrix with its lower left corner there; where its upper edge is."""
        if role not in self.grids:
            return y
        self.places[role] = x, y
        self.right = max(self.right, x + self.wide(role))
        self.top = max(self.top, y + self.high(role))
        return y + self.high(role)

    def put_above(self, x: float, y: float, apart: float, *roles: str) -> float:
        """Places matrices above one another, each so far above the one before it; where the next one would stand."""
        for role in roles:
            if role in self.grids:
                y = self.put(role, x, y) + apart
        return y

    def left_of(self, role: str) -> float:
        return self.places[role][0]

    def right_of(self, role: str) -> float:
        return self.left_of(role) + self.wide(role)

    def foot_of(self, role: str) -> float:
        return self.places[role][1] if role in self.places else 0.0

    def top_of(self, role: str) -> float:
        return self.foot_of(role) + self.high(role)

    def middle(self, role: str) -> float:
        return self.foot_of(role) + self.high(role) / 2

    def last_row(self, role: str) -> float:
        """The middle of its last row."""
        return self.foot_of(role) + self.grids[role].cell[1] / 2

    # -- titles

    def title(self, role: str, x: float, y: float, ends: bool = False, room: float = 0.0) -> None:
        """A title that is level with y, if there is `room` for it beside something, or stands on it."""
        grid = self.grids[role]
        number: Inlines = ()
        marks: Inlines = ()
        if grid.heading:
            number = *(Strong(x.text) if isinstance(x, Words) else x for x in grid.heading.label), Words(" ")
            marks = as_text(f" {grid.heading.marks}") if grid.heading.marks else ()
        lines: tuple[Inlines, ...] = ((*number, Math(grid.rule), *marks),)
        match grid.rule:
            case Relation((name, rule), signs) if room and inlines_width(lines[0]) * _OF_EM * EM > room:
                lines = (*number, Math(name), *marks), as_text(Relation((NOTHING, rule), signs))
        self.titles.append(Title(grid, lines, x, y - len(lines) * TITLE / 2 if room else y, ends))

    def above(self, role: str, at: float = 0.0, ends: bool = False, room: float = 0.0) -> None:
        """A title above a matrix, from so far right of its left edge, or up to its right edge.

        Where it has only so much `room`, up to an arrow, it begins further left.
        """
        if role in self.places:
            x, y = self.left_of(role), self.top_of(role) + _EDGE * (role == self.marked_above)
            self.title(role, x + (self.wide(role) if ends else at), y, ends)
            if room:
                left, right = self.titles[-1].sides
                self.titles[-1] = replace(self.titles[-1], x=round(x - max(0.0, right - left - room), 1))
            self.top = max(self.top, y + TITLE)

    def beside(self, *roles: str) -> None:
        """Titles that end left of the mark before a matrix, level with its middle; on two lines where they are long."""
        for role in roles:
            if role in self.places:
                x = self.left_of(role) - _EDGE - 1.5
                self.title(role, x, self.middle(role), True, x - self.left)

    # -- arrows

    def arrow(self, start: str, end: str, *points: Point) -> None:
        self.arrows.append(((start, end), points))

    def up(self, x: float, *roles: str) -> None:
        """Arrows straight up, from each of the matrices that are there to the next."""
        for below, above in pairwise(role for role in roles if role in self.places):
            end = self.foot_of(above) - _AWAY - self.mark_below(above)
            self.arrow(below, above, (x, self.top_of(below) + _AWAY), (x, end))

    def across(self, left: str, right: str, y: float) -> None:
        """An arrow to a matrix beside it."""
        if left in self.places and right in self.places:
            a, b = (left, right) if self.left_of(left) < self.left_of(right) else (right, left)
            ends = [self.right_of(a) + _AWAY, self.left_of(b) - _AWAY - _EDGE * self.has_mark_beside(b)]
            start, end = ends if a == left else ends[::-1]
            self.arrow(left, right, (start, y), (end, y))

    # -- tokens

    def has_mark_beside(self, role: str) -> bool:
        """The rows of scores go on from those of the factor beside them."""
        return bool(self.grids[role].rows) and role not in ("S", "Z", "O")

    def mark_below(self, role: str) -> float:
        return _EDGE if self.grids[role].columns and role in self.marked_below else 0.0

    def marks(self) -> Iterator[Token]:
        """The marks of tokens left of rows and below columns; above them where a stream of columns ends."""
        for role in filter(self.is_shown, self.places):
            grid, x = self.grids[role], self.left_of(role)
            wide, high = grid.cell
            if self.has_mark_beside(role):
                for i, token in enumerate(grid.rows):
                    yield Token(token, x - _EDGE, self.top_of(role) - i * high, _MARK, high)
            if (ends := role == self.marked_above) or self.mark_below(role):
                level = self.top_of(role) + _EDGE if ends else self.foot_of(role) - _EDGE + _MARK
                for j, token in enumerate(grid.columns):
                    yield Token(token, x + j * wide, level, wide, _MARK)

    # -- the arrangements

    def arrange(self) -> None:
        """Everything in its place, with titles and arrows."""
        self.put_all()
        self.top += _EDGE
        self.entitle()
        self.join_up()
        self.right = max(self.right, *(title.sides[1] for title in self.titles))
        if head := self.grids["A"].head:
            self.top += TITLE * (self.sheet.along == "columns")
            self.notes.insert(0, Note((Strong(say("Head {head}", head=head)),), self.left, self.top - TITLE))

    def put_all(self) -> None:
        raise NotImplementedError

    def entitle(self) -> None:
        raise NotImplementedError

    def join_up(self) -> None:
        raise NotImplementedError

    def put_output(self, across: float, top: float) -> None:
        """The heads side by side and what comes of them, above panels so wide and high together."""
        raise NotImplementedError

    def point_out(self, left: str, below: str, x: float, room: float, y: float) -> None:
        """The last row of one factor, the first column of the other, their entry, and the product written out."""
        tall = self.middle("A") - 6 - y
        for role, row, column in ((left, True, False), (below, False, True), ("S", True, True)):
            (at, low), (wide, high) = self.places[role], self.grids[role].cell
            wide, high = wide if column else self.wide(role), high if row else self.high(role)
            self.outlines.append(Outline(at, low + high, wide, high))
        if min((grid.head for grid in self.sheet.grids if grid.role == "S"), default=0) != self.grids["S"].head:
            return
        beside = [title for title in self.titles if title.ends and y < title.y + title.high and title.y < y + tall]
        starts = (y, *sorted(title.y + title.high for title in beside))
        for parts in (self.sheet.dot, self.sheet.dot[:2]):  # the numbers may be left to the boxes
            for notes in (_notes(parts, x, room, start) for start in starts):
                if notes[0].y + TITLE / 2 <= y + tall and not any(
                    title.meets(note) for title in beside for note in notes
                ):
                    self.notes += notes
                    return

    def join(self, panels: Sequence[_Panel]) -> None:
        """The heads side by side, or one below the other, and their output."""
        across = max(panel.right for panel in panels)
        top = max(panel.top for panel in panels) + _UP
        self.put_output(across, top)
        for role in _OF_ALL:
            self.above(role)
        x, y = self.places["C"]
        for k, panel in enumerate(panels):
            at = x + self.wide("C") * (k + 0.5) / len(panels)
            start, rise = panel.right_of("Z") - 1.5, panel.top_of("Z") + _EDGE * (panel.marked_above == "Z")
            level = top - 2.5 - 1.5 * k
            end = (at, y - _AWAY - self.mark_below("C"))
            self.arrow("C", "C", (start, rise + _AWAY), (start, level), (at, level), end)
        self.right = max(self.right, across, *(title.sides[1] for title in self.titles))

    # -- as shapes

    def is_shown(self, role: str) -> bool:
        return not self.part or (role in _LOWER) == (self.part == "lower")

    def ends(self) -> Point:
        """The lower and the upper end of what is shown of it."""
        shown = list(filter(self.is_shown, self.places))
        if self.part == "upper":
            return min(map(self.foot_of, shown)) - _EDGE - 1, self.top
        notes = max((note.y for note in self.notes), default=0.0)
        return self.foot, max(notes, *map(self.top_of, shown)) + TITLE

    def shapes(self) -> Iterator[Shape]:
        """What was placed and is shown, in the order in which it is drawn."""
        yield from (Line(points, True) for ends, points in self.arrows if all(map(self.is_shown, ends)))
        yield from self.marks()
        for role in filter(self.is_shown, self.grids):
            grid = self.grids[role]
            yield from (title for title in self.titles if title.grid is grid)
            yield Boxes(grid, self.left_of(role), self.top_of(role))
        if self.part != "upper":
            yield from self.outlines
            yield from self.notes


def _from_above(shape: Shape, high: float) -> Shape:
    """A shape of a panel, with y from the upper edge of a picture so high."""
    match shape:
        case Line(points, arrow):
            return Line(tuple((round(x, 1), round(high - y, 1)) for x, y in points), arrow)
    return replace(shape, x=round(shape.x, 1), y=round(high - shape.y, 1))


class _ByRows(_Panel):
    """Queries at the left, what softmax works on in the middle, keys and values at the right."""

    marked_below = ("K^T",)
    marked_above = "A"

    @property
    def queries_wide(self) -> float:
        return max(_LEAST, self.wide("Q", "W_Q", *("X",) * self.apart))

    def put_all(self) -> None:
        source, begin = self.source, self.left + _EDGE
        queries = begin + self.queries_wide  # where the queries end
        weights = queries + _ACROSS
        inputs = weights + self.wide("A") - self.wide(source)  # they end where the scores do
        if not self.apart and source in self.grids and inputs < begin + 6:
            queries, weights, inputs = (x + begin + 6 - inputs for x in (queries, weights, inputs))
        values = weights + self.wide("A") + _ACROSS + _EDGE
        top = self.put(source, inputs, 0.0)
        scores = self.put("K^T", weights, (top + _UP if source in self.grids else 0.0) + _EDGE) + _UP
        if "W_Q" in self.grids:
            below = self.high("X") + _UP if self.apart else max(top / 2, 6.0)
            scores = max(scores, self.high("W_Q") + _UP + below)
        self.put("S", weights, scores)
        self.put("Q", queries - self.wide("Q"), scores)
        self.put("W_Q", queries - self.wide("W_Q"), scores - _UP - self.high("W_Q"))
        if self.apart:
            self.put("X", queries - self.wide("X"), 0.0)
        keys = self.put("K", values, self.put("W_K", values, 0.0) + _UP) if "K" in self.grids else 0.0
        level = self.put_above(weights, self.top_of("S") + _UP, _ON, "S'", "M")
        under = self.top_of("S") + TITLE if self.part else keys
        room = self.high("V") + (self.high("W_V") + _UP if "W_V" in self.grids else 0.0)
        level = max(level, under + (_UP if under else 0.0) + room + _UP)
        self.put("exp", weights, level)
        self.put("sum", values, level)
        self.put("V", values, level - _UP - self.high("V"))
        self.put("W_V", values, self.foot_of("V") - _UP - self.high("W_V"))
        level += self.high("exp") + TITLE + 0.6
        self.put("A", weights, level)
        self.put("Z", values, level)

    def entitle(self) -> None:
        for role in ("X", "E", "W_Q", "Q", "W_K", "K", "sum"):
            self.above(role)
        for role in ("V", "Z"):
            self.above(role, room=self.wide(role) - _IN / 2)
        self.above("W_V", 4.0)
        self.above("K^T", ends=True)
        for role in ("S", "exp"):
            self.above(role, _IN + 1.6)
        self.beside("S'", "M", "A")

    def join_up(self) -> None:
        queries, values = self.right_of("Q"), self.left_of("V")
        self.up(self.left_of("S") + _IN, "K^T", "S", "S'", "M", "exp", "A")
        self.across("Q", "S", self.last_row("S"))
        self.up(queries - self.grids["Q"].cell[0] / 2, "W_Q", "Q")
        self.across("K", "K^T", self.middle("K"))
        self.across("exp", "sum", self.middle("exp"))
        self.across("A", "Z", self.last_row("A"))
        ends = values + self.wide("V") - 1.6
        self.up(ends, "V", "Z")
        self.up(ends, "W_V", "V")
        if "K" in self.grids:
            self._from_inputs(values)
        if "W_Q" in self.grids:
            x = queries - self.wide("W_Q") / 2
            if self.apart:
                self.up(queries - 3, "X", "W_Q")
            else:
                y = min(self.top_of("X") / 2, self.foot_of("W_Q") - 3)
                start = self.left_of("X") - _EDGE - _AWAY
                self.arrow("X", "W_Q", (start, y), (x, y), (x, self.foot_of("W_Q") - _AWAY))
        highest = next((role for role in ("M", "S'") if role in self.grids), "S")
        low = self.top_of("S") + 8 if self.part else self.middle(highest) + 7
        self.point_out("Q", "K^T", self.left + _EDGE, self.queries_wide, low)

    def _from_inputs(self, keys: float) -> None:
        """To the weights of the keys beside them, and round these to those of the values."""
        source = self.source
        self.up(keys + self.wide("K") - self.grids["K"].cell[0] / 2, "W_K", "K")
        y = min(self.top_of(source), self.high("W_K")) / 2
        self.arrow(source, "W_K", (self.right_of(source) + _AWAY, y), (keys - _AWAY, y))
        x, lane, half = self.left_of(source) + self.wide(source) / 2, self.right + 3.0, self.middle("W_V")
        end = keys + self.wide("W_V") + _AWAY
        self.arrow(source, "W_V", (x, -_AWAY), (x, -3.0), (lane, -3.0), (lane, half), (end, half))
        self.right, self.foot = lane + 0.5, -3.5

    def put_output(self, across: float, top: float) -> None:
        gap = _ACROSS + _EDGE
        whole = self.wide("C") + (gap + self.wide("O", "W_O") if "O" in self.grids else 0.0)
        x = max(_EDGE + 26, (across - whole) / 2)
        self.put("C", x, top + (self.high("W_O") + _UP if "O" in self.grids else 0.0))
        x = self.right_of("C") + gap
        self.put("W_O", x, top)
        self.put("O", x, self.foot_of("C"))
        self.up(x + self.wide("W_O") - 3, "W_O", "O")
        self.across("C", "O", self.foot_of("C") + 4)


class _ByColumns(_Panel):
    """What runs from the inputs to the output at the right, what meets it on the way at the left."""

    marked_below = ("X", "E", "K", "V", "C")
    marked_above = "Z"

    @property
    def factors_end(self) -> float:
        """Where what stands left of the stream ends."""
        keys, factors = self.wide("K", "W_K", "W_V"), self.wide("W_Q", "K^T", "V")
        begin = self.left + _ACROSS + keys + (_ACROSS if keys else 0.0) + _EDGE
        return max(begin + factors, self.left + (_LEAST + 8 if keys else max(_LEAST + 8, 2 * _LEAST)))

    def put_all(self) -> None:
        end = self.factors_end
        keys = end - self.wide("W_Q", "K^T", "V") - _EDGE - _ACROSS  # where these end
        stream, level = end + _ACROSS, _EDGE
        if self.apart:
            self.put("E", end - self.wide("E") - 2, _EDGE)
            level += max(0.0, self.high("E") + TITLE - self.high("X"))
        level = self.put_above(stream, level, _ON, "X")
        self.put("W_Q", end - self.wide("W_Q"), level)
        level = self.put_above(stream, level, _UP, "Q")
        self.put("K^T", end - self.wide("K^T"), level)
        level = self.put_above(stream, level, _UP, "S")
        level = self.put_above(stream, level, _ON, "S'", "M")
        level = self.put_above(stream, level, 2.6, "exp")
        level = self.put_above(stream, level, _ON, "sum")
        level = self.put_above(stream, level, _UP, "A")
        self.put("Z", stream, level)
        self.put("V", end - self.wide("V"), level)
        self.put("W_V", keys - self.wide("W_V"), level)
        self.put("K", keys - self.wide("K"), max(self.foot_of("S"), self.high("W_K") + _UP + _EDGE + 6.0))
        self.put("W_K", keys - self.wide("W_K"), self.foot_of("K") - _EDGE - _UP - self.high("W_K"))

    def entitle(self) -> None:
        for role in ("W_Q", "W_K", "W_V", "E", "K^T"):
            self.above(role)
        if "K" in self.places:
            self.above("K", room=self.right_of("K") - self.left - _IN)
        self.above("V", ends=self.wide("V") < _LEAST)
        for role in ("Q", "S"):
            self.above(role, _IN + 2.5)
        self.above("Z")
        if self.apart:
            self.title("X", self.right_of("X") + 2, self.middle("X"), room=20.0)
        elif "X" in self.places:
            x = self.left_of("X") - 3
            self.title("X", x, self.middle("X"), True, x - self.left)
        self.beside("S'", "M", "exp", "sum", "A")

    def join_up(self) -> None:
        first = self.left_of("S") + _IN
        self.up(first, "X", "Q", "S", "S'", "M", "exp")
        self.up(first, "sum", "A", "Z")
        self.across("W_Q", "Q", self.last_row("Q"))
        self.across("K^T", "S", self.last_row("S"))
        self.across("V", "Z", self.last_row("Z"))
        if "K" in self.grids:
            self._from_inputs()
        low = self.foot_of("S") + max(self.high("K^T"), self.high("K")) + 8
        self.point_out("K^T", "Q", self.left + 4, self.factors_end - self.left - 30, low)

    def _from_inputs(self) -> None:
        """To the weights of the keys above them, and past these to those of the values."""
        source, keys = self.source, self.right_of("K")
        self.across("K", "K^T", self.middle("K^T"))
        self.up(keys - 3, "W_K", "K")
        self.across("W_V", "V", self.middle("V"))
        y, x = self.middle(source), keys - self.wide("W_K") / 2
        edge = self.left_of(source) - _AWAY
        if not self.apart:
            edge -= inlines_width(as_text(self.grids["X"].rule)) * EM + 3
        self.arrow(source, "W_K", (edge, y), (x, y), (x, self.foot_of("W_K") - _AWAY))
        side, half = self.left + 1.5, self.middle("W_V")
        self.arrow(source, "W_V", (x, y), (side, y), (side, half), (self.left_of("W_V") - _AWAY, half))

    def put_output(self, across: float, top: float) -> None:
        gap = _ACROSS + _EDGE
        whole = self.wide("C") + self.wide("W_O") + self.wide("O") + 2 * gap + 10
        self.put("C", max(_EDGE, (across - whole) / 2), top + _EDGE)
        self.put("W_O", self.right_of("C") + gap + 10, top + _EDGE)
        self.put("O", self.right_of("C") + gap + 10 + self.wide("W_O") + _ACROSS, top + _EDGE)
        self.across("W_O", "O", self.middle("O"))


def _notes(parts: Sequence[Formula], x: float, room: float, y: float) -> list[Note]:
    """A chain of equal parts in lines no wider than `room` millimetres, the last of which stands on y."""
    lines = fold(equal(*parts), room / EM)
    return [
        Note(as_text(line), x + _DEEPER * goes_on_with_a_sum(line), y + (len(lines) - k - 0.5) * TITLE)
        for k, line in enumerate(lines)
    ]
