"""Where everything stands on a flow sheet: matrices, arrows, marks of tokens, as one list of shapes for every back end.

Data flows from the foot of the page upwards.  Where tokens are rows, the keys turned over, the scores, their powers and
the weights stand in one column of the page, each key above itself, queries left of the scores, values below the output.
Where tokens are columns, every query runs straight up from the inputs to the output, with keys and values at the left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from symattn.formula.nodes import NOTHING, Formula, Relation, equal
from symattn.formula.width import fold, width
from symattn.foundation.languages import say
from symattn.page.document import Flow, FlowGrid, FlowSheet, Inlines, Math, Strong, Words, all_blocks, as_text
from symattn.page.writers.common import PAGE_WIDTH, Page, goes_on_with_a_sum, inlines_width
from symattn.page.writers.figures import Line

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
    def sides(self) -> tuple[float, float]:
        """Where it begins and ends, by estimate."""
        wide = max(map(inlines_width, self.lines)) * _OF_EM * _EM
        return (self.x - wide, self.x) if self.ends else (self.x, self.x + wide)

    @property
    def high(self) -> float:
        return TITLE * len(self.lines)

    def meets(self, note: Note) -> bool:
        """Whether it would touch a note, both in a panel, where y runs upwards."""
        right = note.x + width(note.content) * _OF_EM * _EM + _AWAY
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
class Caption:
    """Words in bold that begin at x, their middle at y."""

    words: str
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Note:
    """A formula that begins at x, its middle at y."""

    content: Formula
    x: float
    y: float


Shape = Boxes | Title | Token | Outline | Caption | Note | Line

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


def has_room(flow: Flow, page: Page) -> bool:
    """Whether the sheets of a question can be drawn without being made too small."""
    sheets = [block for block in all_blocks(flow.sheet) if isinstance(block, FlowSheet)]
    return page.share == 1 and all(
        picture.smaller(page) >= _SMALLEST for sheet in sheets for picture in fitted(sheet, page)
    )


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
_EM = 4.0
_OF_EM = 0.92  # what titles take of the width that is reckoned for them, which is generous
_LEAST = 27.0  # the width of the column at the left, which has room for notes
_OF_ALL = ("C", "W_O", "O")
_LABEL = 14.0  # a token's mark and name at the top

_LOWER = ("X", "E", "W_Q", "Q", "W_K", "K", "K^T", "S")  # on the first of two pages

Point = tuple[float, float]
Part = Literal["", "lower", "upper"]
_PARTS: tuple[Part, ...] = ("lower", "upper")


def drawn(sheet: FlowSheet, part: Part = "") -> Picture:
    """The sheet, or a part of it, as shapes."""
    heads = sorted({grid.head for grid in sheet.grids if grid.role not in _OF_ALL})
    panels: list[_Panel] = []
    left = 0.0
    for head in heads:
        own = {grid.role: grid for grid in sheet.grids if grid.head == head and grid.role not in _OF_ALL}
        panel = _Panel(own, sheet, left, part)
        panel.arrange()
        panels.append(panel)
        left = panel.right + _APART
    if own := {grid.role: grid for grid in sheet.grids if grid.role in _OF_ALL}:
        last = _Panel(own, sheet, 0.0)
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
        shapes += [Token(token, x, y, 4.0, 3.6), Note(sheet.tokens[token], x + 5.5, y + 1.8)]
    for panel in panels:
        shapes += panel.shapes(high)
    return Picture(tuple(shapes), round(wide, 1), round(high - foot, 1), () if part == "upper" else sheet.legend)


def _names(sheet: FlowSheet, wide: float) -> Iterator[tuple[int, float, float]]:
    """What the tokens are called, in lines at the top: the token, and where its mark stands."""
    in_a_line = max(1, int(wide / _LABEL))
    for token in range(len(sheet.tokens)):
        yield token, token % in_a_line * _LABEL, token // in_a_line * TITLE


class _Panel:
    """The matrices of one head; here y runs upwards from the foot of the page."""

    def __init__(self, grids: Mapping[str, FlowGrid], sheet: FlowSheet, left: float, part: Part = "") -> None:
        self.grids, self.sheet, self.left, self.part = grids, sheet, left, part
        self.places: dict[str, Point] = {}  # of lower left corners
        self.titles: list[Title] = []
        self.arrows: list[tuple[tuple[str, str], tuple[Point, ...]]] = []
        self.notes: list[Note] = []
        self.outlines: list[Outline] = []
        self.captions: list[Caption] = []
        self.right = self.top = self.foot = 0.0

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

    def middle(self, role: str) -> float:
        return self.places[role][1] + self.high(role) / 2

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
            case Relation((name, rule), signs) if room and inlines_width(lines[0]) * _OF_EM * _EM > room:
                lines = (*number, Math(name), *marks), as_text(Relation((NOTHING, rule), signs))
        self.titles.append(Title(grid, lines, x, y - len(lines) * TITLE / 2 if room else y, ends))

    def above(self, role: str, at: float = 0.0, ends: bool = False, room: float = 0.0) -> None:
        """A title above a matrix, from so far right of its left edge, or up to its right edge.

        Where it has only so much `room`, up to an arrow, it begins further left.
        """
        if role in self.places:
            x, y = self.places[role]
            y += self.high(role) + _EDGE * self._is_marked_above(role)
            self.title(role, x + (self.wide(role) if ends else at), y, ends)
            if room:
                left, right = self.titles[-1].sides
                self.titles[-1] = replace(self.titles[-1], x=round(x - max(0.0, right - left - room), 1))
            self.top = max(self.top, y + TITLE)

    def beside(self, role: str, x: float) -> None:
        """A title that ends at x, level with the middle of a matrix; on two lines where it is long."""
        if role in self.places:
            self.title(role, x, self.middle(role), True, x - self.left)

    def arrow(self, start: str, end: str, *points: Point) -> None:
        self.arrows.append(((start, end), points))

    def up(self, below: str, above: str, x: float) -> None:
        """An arrow straight up."""
        if below in self.places and above in self.places:
            start = self.places[below][1] + self.high(below)
            self.arrow(below, above, (x, start + _AWAY), (x, self.places[above][1] - _AWAY - self._mark_below(above)))

    def across(self, left: str, right: str, y: float) -> None:
        """An arrow to a matrix beside it."""
        if left in self.places and right in self.places:
            a, b = (left, right) if self.places[left][0] < self.places[right][0] else (right, left)
            ends = [self.places[a][0] + self.wide(a) + _AWAY, self.places[b][0] - _AWAY - self._mark_beside(b)]
            start, end = ends if a == left else ends[::-1]
            self.arrow(left, right, (start, y), (end, y))

    # -- tokens

    def _mark_beside(self, role: str) -> float:
        return _EDGE if self._has_mark_beside(role) else 0.0

    def _has_mark_beside(self, role: str) -> bool:
        """The rows of scores go on from those of the factor beside them."""
        return bool(self.grids[role].rows) and role not in ("S", "Z", "O")

    def _mark_below(self, role: str) -> float:
        return _EDGE if self.grids[role].columns and role in self._marked_below else 0.0

    @property
    def _marked_below(self) -> tuple[str, ...]:
        return ("K^T",) if self.sheet.along == "rows" else ("X", "E", "K", "V", "C")

    def _is_marked_above(self, role: str) -> bool:
        """Where a stream of columns ends."""
        return role == ("A" if self.sheet.along == "rows" else "Z")

    def marks(self) -> Iterator[Token]:
        """The marks of tokens left of rows and below columns; above them where a stream of columns ends."""
        for role, (x, y) in self.places.items():
            if not self._is_shown(role):
                continue
            grid = self.grids[role]
            (wide, high), own = grid.cell, y + self.high(role)
            if self._has_mark_beside(role):
                for i, token in enumerate(grid.rows):
                    yield Token(token, x - _EDGE, own - i * high, _MARK, high)
            if above := self._is_marked_above(role) or self._mark_below(role):
                level = own + _EDGE if above is True else y - _EDGE + _MARK
                for j, token in enumerate(grid.columns):
                    yield Token(token, x + j * wide, level, wide, _MARK)

    # -- the arrangements

    def arrange(self) -> None:
        if self.sheet.along == "rows":
            self._by_rows()
        else:
            self._by_columns()
        self.right = max(self.right, *(title.sides[1] for title in self.titles))
        if head := self.grids["A"].head:
            if self.sheet.along == "columns":
                self.top += TITLE
            self.captions.append(Caption(say("Head {head}", head=head), self.left, self.top - TITLE))

    def _by_rows(self) -> None:
        """Queries at the left, what softmax works on in the middle, keys and values at the right."""
        apart = "E" in self.grids
        a_wide = max(_LEAST, self.wide("Q", "W_Q", *("X",) * apart))
        a = self.left + _EDGE
        a_end = a + a_wide
        b = a_end + _ACROSS
        b_wide = self.wide("A")
        c = b + b_wide + _ACROSS + _EDGE
        source = "E" if apart else "X"
        start = b + b_wide - self.wide(source)  # the inputs end where the scores do
        if not apart and source in self.grids and start < a + 6:
            shift = a + 6 - start
            a_end, b, c, start = a_end + shift, b + shift, c + shift, start + shift
        foot = self.put(source, start, 0.0)
        turned = self.put("K^T", b, (foot + _UP if source in self.grids else 0.0) + _EDGE)
        scores = turned + _UP
        least = self.high("W_Q") + _UP + (max(foot / 2, 6.0) if not apart else self.high("X") + _UP)
        scores = max(scores, least) if "W_Q" in self.grids else scores
        self.put("S", b, scores)
        self.put("Q", a_end - self.wide("Q"), scores)
        self.put("W_Q", a_end - self.wide("W_Q"), scores - _UP - self.high("W_Q"))
        if apart:
            self.put("X", a_end - self.wide("X"), 0.0)
        keys = self.put("K", c, self.put("W_K", c, 0.0) + _UP) if "K" in self.grids else 0.0
        level, below = scores + self.high("S") + _UP, "S"
        for role in ("S'", "M"):
            if role in self.grids:
                level = self.put(role, b, level) + _ON
        values = self.high("V") + (self.high("W_V") + _UP if "W_V" in self.grids else 0.0)
        under = scores + self.high("S") + TITLE if self.part else keys
        level = max(level, under + (_UP if under else 0.0) + values + _UP)
        self.put("exp", b, level)
        self.put("sum", c, level)
        v = level - _UP - self.high("V")
        self.put("V", c, v)
        self.put("W_V", c, v - _UP - self.high("W_V"))
        level += self.high("exp") + TITLE + 0.6
        self.put("A", b, level)
        self.put("Z", c, level)
        self.top += _EDGE
        # titles
        for role in ("X", "E", "W_Q", "Q", "W_K", "K", "sum"):
            self.above(role)
        for role in ("V", "Z"):
            self.above(role, room=self.wide(role) - _IN / 2)
        self.above("W_V", 4.0)
        first = b + _IN
        self.above("K^T", ends=True)
        for role in ("S", "exp"):
            self.above(role, _IN + 1.6)
        for role in ("S'", "M", "A"):
            self.beside(role, b - _EDGE - 1.5)
        # arrows
        below = "S"
        self.up("K^T", "S", first)
        for role in ("S'", "M", "exp", "A"):
            if role in self.grids:
                self.up(below, role, first)
                below = role
        last_row = self.places["S"][1] + self.grids["S"].cell[1] / 2
        self.across("Q", "S", last_row)
        self.up("W_Q", "Q", a_end - self.grids["Q"].cell[0] / 2)
        self.across("K", "K^T", self.middle("K") if "K" in self.grids else 0.0)
        self.across("exp", "sum", self.middle("exp"))
        self.across("A", "Z", self.places["A"][1] + self.grids["A"].cell[1] / 2)
        ends = c + self.wide("V") - 1.6
        self.up("V", "Z", ends)
        self.up("W_V", "V", ends)
        if "K" in self.grids:
            self.up("W_K", "K", c + self.wide("K") - self.grids["K"].cell[0] / 2)
            y = min(foot, self.high("W_K")) / 2
            self.arrow(source, "W_K", (start + self.wide(source) + _AWAY, y), (c - _AWAY, y))
            x, lane, half = start + self.wide(source) / 2, self.right + 3.0, self.middle("W_V")
            end = c + self.wide("W_V") + _AWAY
            self.arrow(source, "W_V", (x, -_AWAY), (x, -3.0), (lane, -3.0), (lane, half), (end, half))
            self.right, self.foot = lane + 0.5, -3.5
        if "W_Q" in self.grids:
            x = a_end - self.wide("W_Q") / 2
            if apart:
                self.up("X", "W_Q", a_end - 3)
            else:
                y = min(foot / 2, self.places["W_Q"][1] - 3)
                self.arrow("X", "W_Q", (start - _EDGE - _AWAY, y), (x, y), (x, self.places["W_Q"][1] - _AWAY))
        low = self.middle(next((role for role in ("M", "S'") if role in self.grids), "S")) + 7
        if self.part:
            low = scores + self.high("S") + 8
        self._point_out("Q", "K^T", a, a_wide, low, self.middle("A") - 6 - low)

    def _by_columns(self) -> None:
        """What runs from the inputs to the output at the right, what meets it on the way at the left."""
        apart = "E" in self.grids
        z = self.left + _ACROSS
        z_wide = self.wide("K", "W_K", "W_V")
        a = z + z_wide + (_ACROSS if z_wide else 0.0) + _EDGE
        a_end = max(a + self.wide("W_Q", "K^T", "V"), self.left + _LEAST + 8)
        if not z_wide:
            a_end = max(a_end, self.left + 2 * _LEAST)
        z_end = a_end - self.wide("W_Q", "K^T", "V") - _EDGE - _ACROSS
        b = a_end + _ACROSS
        level = _EDGE
        if apart:
            self.put("E", a_end - self.wide("E") - 2, _EDGE)
            level += max(0.0, self.high("E") + TITLE - self.high("X"))
        if "X" in self.grids:
            level = self.put("X", b, level) + _ON
        self.put("W_Q", a_end - self.wide("W_Q"), level)
        level = self.put("Q", b, level) + _UP
        scores = level
        self.put("K^T", a_end - self.wide("K^T"), scores)
        level = self.put("S", b, scores) + _UP
        for role in ("S'", "M"):
            if role in self.grids:
                level = self.put(role, b, level) + _ON
        level = self.put("exp", b, level) + 2.6
        level = self.put("sum", b, level) + _ON
        level = self.put("A", b, level) + _UP
        self.put("Z", b, level)
        self.put("V", a_end - self.wide("V"), level)
        self.put("W_V", z_end - self.wide("W_V"), level)
        self.top += _EDGE
        keys = max(scores, self.high("W_K") + _UP + _EDGE + 6.0)
        self.put("K", z_end - self.wide("K"), keys)
        self.put("W_K", z_end - self.wide("W_K"), keys - _EDGE - _UP - self.high("W_K"))
        source = "E" if apart else "X"
        first = b + _IN
        for role in ("W_Q", "W_K", "W_V", "E", "K^T"):
            self.above(role)
        self.above("K", room=z_end - self.left - _IN)
        self.above("V", ends=self.wide("V") < _LEAST)
        for role in ("Q", "S", "Z"):
            self.above(role, 0.0 if role == "Z" else _IN + 2.5)
        if apart:
            self.title("X", b + self.wide("X") + 2, self.middle("X"), room=20.0)
        elif "X" in self.grids:
            self.beside("X", b - 3)
        for role in ("S'", "M", "exp", "sum", "A"):
            self.beside(role, b - _EDGE - 1.5)
        below = ""
        for role in ("X", "Q", "S", "S'", "M", "exp", "A", "Z"):
            if role in self.grids:
                if below:
                    self.up("sum" if below == "exp" else below, role, first)
                below = role
        self.across("W_Q", "Q", self.places["Q"][1] + self.grids["Q"].cell[1] / 2)
        self.across("K^T", "S", self.places["S"][1] + self.grids["S"].cell[1] / 2)
        self.across("V", "Z", self.places["Z"][1] + self.grids["Z"].cell[1] / 2)
        if "K" in self.grids:
            y = self.middle("K^T")
            self.across("K", "K^T", y)
            self.up("W_K", "K", z_end - 3)
            self.across("W_V", "V", self.middle("V"))
            y, x = self.middle(source), z_end - self.wide("W_K") / 2
            edge = self.places[source][0] - _AWAY
            if not apart:
                edge -= inlines_width(as_text(self.grids["X"].rule)) * _EM + 3
            self.arrow(source, "W_K", (edge, y), (x, y), (x, self.places["W_K"][1] - _AWAY))
            side, half = self.left + 1.5, self.middle("W_V")
            self.arrow(source, "W_V", (x, y), (side, y), (side, half), (self.places["W_V"][0] - _AWAY, half))
        low = scores + max(self.high("K^T"), self.high("K")) + 8
        self._point_out("K^T", "Q", self.left + 4, a_end - self.left - 30, low, self.middle("A") - 6 - low)

    def _point_out(self, left: str, below: str, x: float, room: float, y: float, tall: float) -> None:
        """The last row of one factor, the first column of the other, their entry, and the product written out."""
        for role, row, column in ((left, True, False), (below, False, True), ("S", True, True)):
            (at, low), (wide, high) = self.places[role], self.grids[role].cell
            whole = self.wide(role), self.high(role)
            self.outlines.append(Outline(at, low, wide if column else whole[0], high if row else whole[1]))
        if min((grid.head for grid in self.sheet.grids if grid.role == "S"), default=0) != self.grids["S"].head:
            return
        beside = [title for title in self.titles if title.ends and y < title.y + title.high and title.y < y + tall]
        starts = (y, *sorted(title.y + title.high for title in beside))
        for parts in (self.sheet.dot, self.sheet.dot[:2]):  # the numbers may be left to the boxes
            for notes in (self._notes(parts, x, room, start) for start in starts):
                if notes[0].y + TITLE / 2 <= y + tall and not any(
                    title.meets(note) for title in beside for note in notes
                ):
                    self.notes += notes
                    return

    @staticmethod
    def _notes(parts: Sequence[Formula], x: float, room: float, y: float) -> list[Note]:
        """A chain of equal parts in lines, the last of which stands on y."""
        lines = _folded(parts, room / _EM)
        return [
            Note(line, x + _DEEPER * goes_on_with_a_sum(line), y + (len(lines) - k - 0.5) * TITLE)
            for k, line in enumerate(lines)
        ]

    def join(self, panels: Sequence[_Panel]) -> None:
        """The heads side by side, or one below the other, and their output."""
        across = max(panel.right for panel in panels)
        top = max(panel.top for panel in panels) + _UP
        gap = _ACROSS + _EDGE
        if self.sheet.along == "rows":
            whole = self.wide("C") + (gap + self.wide("O", "W_O") if "O" in self.grids else 0.0)
            x = max(_EDGE + 26, (across - whole) / 2)
            low = top + (self.high("W_O") + _UP if "O" in self.grids else 0.0)
            self.put("C", x, low)
            self.put("W_O", x + self.wide("C") + gap, top)
            self.put("O", x + self.wide("C") + gap, low)
            self.up("W_O", "O", x + self.wide("C") + gap + self.wide("W_O") - 3)
            self.across("C", "O", low + 4)
        else:
            whole = self.wide("C") + self.wide("W_O") + self.wide("O") + 2 * gap + 10
            x = max(_EDGE, (across - whole) / 2)
            low = top
            self.put("C", x, low + _EDGE)
            self.put("W_O", x + self.wide("C") + gap + 10, low + _EDGE)
            self.put("O", x + self.wide("C") + gap + 10 + self.wide("W_O") + _ACROSS, low + _EDGE)
            self.across("W_O", "O", self.middle("O") if "O" in self.grids else 0.0)
        for role in _OF_ALL:
            self.above(role)
        x, y = self.places["C"]
        for k, panel in enumerate(panels):
            at = x + self.wide("C") * (k + 0.5) / len(panels)
            z = panel.places["Z"]
            start = z[0] + panel.wide("Z") - 1.5
            rise = z[1] + panel.high("Z") + (_EDGE if self.sheet.along == "columns" else 0.0)
            level = top - 2.5 - 1.5 * k
            self.arrow(
                "C", "C", (start, rise + _AWAY), (start, level), (at, level), (at, y - _AWAY - self._mark_below("C"))
            )
        self.right = max(self.right, across, *(title.sides[1] for title in self.titles))

    # -- as shapes

    def _is_shown(self, role: str) -> bool:
        return not self.part or (role in _LOWER) == (self.part == "lower")

    def ends(self) -> tuple[float, float]:
        """The lower and the upper end of what is shown of it."""
        shown = [(y, y + self.high(role)) for role, (_, y) in self.places.items() if self._is_shown(role)]
        if self.part == "upper":
            return min(low for low, _ in shown) - _EDGE - 1, self.top
        notes = max((note.y for note in self.notes), default=0.0)
        return self.foot, max(notes, *(high for _, high in shown)) + TITLE

    def shapes(self, high: float) -> Iterator[Shape]:
        """What was placed, with y from the upper edge of a picture so high."""
        for ends, points in self.arrows:
            if all(map(self._is_shown, ends)):
                yield Line(tuple((round(x, 1), round(high - y, 1)) for x, y in points), True)
        for mark in self.marks():
            yield replace(mark, x=round(mark.x, 1), y=round(high - mark.y, 1))
        for role in filter(self._is_shown, self.grids):
            x, y = self.places[role]
            yield from (replace(t, x=t.x, y=round(high - t.y, 1)) for t in self.titles if t.grid is self.grids[role])
            yield Boxes(self.grids[role], round(x, 1), round(high - y - self.high(role), 1))
        if self.part == "upper":
            return
        for line in self.outlines:
            yield replace(line, y=round(high - line.y - line.height, 1))
        for caption in self.captions:
            yield replace(caption, y=round(high - caption.y, 1))
        for note in self.notes:
            yield replace(note, y=round(high - note.y, 1))


def _folded(parts: Sequence[Formula], room: float) -> list[Formula]:
    """A chain of equal parts in lines no wider than `room` em, where its signs allow it."""
    return list(fold(equal(*parts), room))
