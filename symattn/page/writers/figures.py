"""Figures: where boxes, arrows and frames stand, as one list of shapes that every back end draws, or in characters.

Layers lie over one another, as in Sugiyama, Tagawa, Toda 1981, "Methods for visual understanding of hierarchical system
structures": an arrow that skips a layer passes it at a waypoint; where boxes may be exchanged, barycentres order them,
so that few arrows cross; then every box moves as near to the middle of its neighbours as its own layer allows.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import accumulate, pairwise

from symattn.errors import columns_of
from symattn.formula.nodes import Formula
from symattn.formula.width import width
from symattn.page.document import Diagram, DiagramFrame, Inlines, Place
from symattn.page.writers.characters import COLUMNS, on_one_line, plain
from symattn.page.writers.common import label
from symattn.page.writers.measure import height, inlines_width
from symattn.page.writers.paper import EM, Page
from symattn.page.writers.tiles import EMPTY, Tile, beside, level, stacked, text

_TITLE = 26  # the height of a title above a figure, in millimetres at 11 pt

# --- what is drawn: lengths in millimetres at 11 pt, from the upper left corner -----------------------------------


Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Box:
    """A formula in a box with its middle at (x, y); shaded where no arrow leads to it."""

    content: Formula
    x: float
    y: float
    width: float
    height: float
    shaded: bool

    @property
    def top(self) -> float:
        return self.y - self.height / 2

    @property
    def bottom(self) -> float:
        return self.y + self.height / 2


@dataclass(frozen=True, slots=True)
class Line:
    """A line through points: straight between two of them that have x or y in common, else bent like an S.

    With `arrow` there is a head at its end.
    """

    points: tuple[Point, ...]
    arrow: bool

    def pieces(self) -> Iterator[tuple[Point, ...]]:
        """From point to point: its end, if straight, or two control points and the end of a cubic Bézier curve."""
        for (x, y), (to_x, to_y) in pairwise(self.points):
            middle = (y + to_y) / 2
            yield ((to_x, to_y),) if x == to_x or y == to_y else ((x, middle), (to_x, middle), (to_x, to_y))

    @property
    def head(self) -> tuple[Point, Point]:
        """The tip of the arrow and the direction, of length 1, in which it points."""
        (x, y), tip = self.points[-2:]
        return tip, ((1.0 if tip[0] > x else -1.0, 0.0) if y == tip[1] else (0.0, 1.0 if tip[1] > y else -1.0))


@dataclass(frozen=True, slots=True)
class Remark:
    """Words whose left end is at x and whose middle is at y."""

    content: Inlines
    x: float
    y: float
    width: float


@dataclass(frozen=True, slots=True)
class Frame:
    """A dashed frame round boxes, its upper left corner at (x, y), with words inside along its upper edge."""

    label: Inlines
    x: float
    y: float
    width: float
    height: float


Shape = Frame | Line | Box | Remark


@dataclass(frozen=True, slots=True)
class Drawing:
    """Shapes in the order in which they are drawn."""

    shapes: tuple[Shape, ...]
    width: float
    height: float
    description: str

    def smaller(self, page: Page) -> float:
        """The factor, at most 1, by which the drawing fits on a page, below a title."""
        room = page.height - _TITLE * page.scale
        return min(1.0, page.width / (self.width * page.scale), room / (self.height * page.scale))


# --- who stands beside whom ------------------------------------------------------------------------------------

Waypoint = tuple[int, int, int]  # the layer and the box that a line comes from, and the layer that it passes
Node = Place | Waypoint


@dataclass(frozen=True)
class Network:
    """The nodes of every layer from left to right, and the lines from each to the next layer above it."""

    rows: tuple[tuple[Node, ...], ...]
    edges: tuple[tuple[Node, Node], ...]  # (below, above)

    @cached_property
    def above(self) -> Mapping[Node, Sequence[Node]]:
        return _grouped(self.edges)

    @cached_property
    def below(self) -> Mapping[Node, Sequence[Node]]:
        return _grouped((above, below) for below, above in self.edges)

    @cached_property
    def neighbours(self) -> Mapping[Node, Sequence[Node]]:
        every = (node for row in self.rows for node in row)
        return {node: (*self.below.get(node, ()), *self.above.get(node, ())) for node in every}

    def is_straight(self, node: Node, other: Node) -> bool:
        """Whether a line is to be straight if it can be: it passes a layer, or is the only one at both its ends."""
        if is_waypoint(node) and is_waypoint(other):
            return True
        low, high = sorted((node, other), key=layer_of, reverse=True)
        return len(self.above[low]) == len(self.below[high]) == 1


def _grouped(pairs: Iterable[tuple[Node, Node]]) -> Mapping[Node, Sequence[Node]]:
    neighbours: dict[Node, list[Node]] = {}
    for node, other in pairs:
        neighbours.setdefault(node, []).append(other)
    return neighbours


def layer_of(node: Node) -> int:
    return node[-1] if is_waypoint(node) else node[0]


def is_waypoint(node: Node) -> bool:
    return len(node) == 3


def network(diagram: Diagram) -> Network:
    """Boxes and waypoints; in a diagram that is `free`, in an order with few crossings."""
    boxes: list[list[Node]] = [[(i, j) for j in range(len(layer.boxes))] for i, layer in enumerate(diagram.layers)]
    place = {box: (j + 0.5) / len(row) for row in boxes for j, box in enumerate(row)}
    edges: dict[tuple[Node, Node], None] = {}  # a dict keeps the order
    ends: dict[Node, list[float]] = {}
    for source, target in diagram.edges:
        passed: list[Node] = [(*source, layer) for layer in range(source[0] - 1, target[0], -1)]
        if source[0] > target[0]:
            edges.update(dict.fromkeys(pairwise((source, *passed, target))))
        for waypoint in passed:
            ends.setdefault(waypoint, [place[source]]).append(place[target])
    rows = [list(row) for row in boxes]
    for waypoint, places in ends.items():
        place[waypoint] = sum(places) / len(places) + 1e-9  # level with a box, it passes at the right
        rows[layer_of(waypoint)].append(waypoint)
    made = Network(tuple(tuple(sorted(row, key=place.__getitem__)) for row in rows), tuple(edges))
    return _untangled(made) if diagram.free else made


_SWEEPS = 12


def _untangled(start: Network) -> Network:
    """The order with the fewest crossings of those that barycentres give, sweeping up and down."""
    best, fewest = start, crossings(start)
    rows = [list(row) for row in start.rows]
    for sweep in range(_SWEEPS):
        upwards = sweep % 2 == 0
        layers = range(len(rows) - 2, -1, -1) if upwards else range(1, len(rows))
        for i in layers:
            fixed, own = _spread(rows[i + 1 if upwards else i - 1]), _spread(rows[i])
            sought = {}
            for node in rows[i]:
                near = [fixed[other] for other in start.neighbours[node] if other in fixed]
                sought[node] = sum(near) / len(near) if near else own[node]
            rows[i].sort(key=sought.__getitem__)
        now = Network(tuple(map(tuple, rows)), start.edges)
        if (count := crossings(now)) < fewest:
            best, fewest = now, count
    return best


def _spread(row: Sequence[Node]) -> dict[Node, float]:
    """The places of a layer from 0 to 1."""
    return {node: j / max(1, len(row) - 1) for j, node in enumerate(row)}


def crossings(net: Network) -> int:
    """How many pairs of lines cross."""
    place = {node: j for row in net.rows for j, node in enumerate(row)}
    between: dict[int, list[tuple[int, int]]] = {}
    for below, above in net.edges:
        between.setdefault(layer_of(below), []).append((place[below], place[above]))
    return sum(
        (a - c) * (b - d) < 0 for lines in between.values() for k, (a, b) in enumerate(lines) for c, d in lines[:k]
    )


# --- where they stand from left to right ------------------------------------------------------------------------

_ROUNDS = 60
_STRAIGHT = 1000.0  # how much more lines count that are to be straight


def arranged(net: Network, widths: Mapping[Node, float], apart: Callable[[Node, Node], float]) -> dict[Node, float]:
    """The middle of every node, none nearer to its neighbour in the layer than `apart`; the left end is at 0."""
    middles: dict[Node, float] = {}
    steps = {
        row: [0.0, *((widths[a] + widths[b]) / 2 + apart(a, b) for a, b in pairwise(row))] for row in net.rows if row
    }
    for row, gaps in steps.items():
        left = -sum(gaps) / 2
        for node, gap in zip(row, gaps, strict=True):
            left += gap
            middles[node] = left
    weights = {
        node: [(other, _STRAIGHT if net.is_straight(node, other) else 1.0) for other in others]
        for node, others in net.neighbours.items()
    }
    for turn in range(_ROUNDS):
        for row in net.rows if turn % 2 else reversed(net.rows):
            if row:
                near = ([(middles[other], weight) for other, weight in weights[node]] for node in row)
                wanted = [_mean(places or [(middles[node], 0.01)]) for node, places in zip(row, near, strict=True)]
                middles.update(zip(row, _placed(wanted, steps[row]), strict=True))
    left = min((x - widths[node] / 2 for node, x in middles.items()), default=0.0)
    return {node: round(x - left, 1) for node, x in middles.items()}


def _mean(places: Sequence[Point]) -> Point:
    """The mean of places by their weights, and the sum of these."""
    weight = sum(w for _, w in places)
    return sum(x * w for x, w in places) / weight, weight


def _placed(wanted: Iterable[Point], gaps: Iterable[float]) -> Iterator[float]:
    """The places in a layer nearest to those that are wanted, by weight, with gaps: an isotonic regression.

    Nodes that want the same place share a block, whose place is the mean of what they want (pool adjacent violators).
    """
    blocks: list[tuple[float, float, int]] = []  # what it wants, how much, and how many nodes it has
    offsets = list(accumulate(gaps))
    for (place, weight), offset in zip(wanted, offsets, strict=True):
        blocks.append((place - offset, weight, 1))
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (a, v, m), (b, w, n) = blocks[-2:]
            blocks[-2:] = [(*_mean([(a, v), (b, w)]), m + n)]
    shifts = [shift for shift, _, count in blocks for _ in range(count)]
    return (shift + offset for shift, offset in zip(shifts, offsets, strict=True))


# --- the drawing ---------------------------------------------------------------------------------------------

_GAP = 4.0  # between neighbours
_LANE = 2.0  # what a line that passes needs
_PAD = 3.0  # between a frame and what is in it
_LABEL = 6.0  # the height of a line of words
_WORDS = 0.85 * EM  # words of a label: closer to how wide they are than the generous estimate
_TIP = 2.6  # between the tips of two arrows
_BENT = 2.5  # lines with their ends nearer than this are straight


def drawn(diagram: Diagram) -> Drawing:
    """The diagram as shapes."""
    layout = _Layout(diagram)
    shapes: tuple[Shape, ...] = (*layout.frames, *layout.lines(), *layout.boxes.values(), *layout.remarks)
    beside: tuple[Remark | Frame, ...] = (*layout.remarks, *layout.frames)
    right = max([layout.whole, *(shape.x + shape.width for shape in beside)])
    left = min([0.0, *(frame.x for frame in layout.frames)])
    top = min([0.0, *(frame.y for frame in layout.frames)])
    bottom = max([0.0, *(low for _, low in layout.bands), *(frame.y + frame.height for frame in layout.frames)])
    if left or top:
        shapes = tuple(_moved(shape, -left, -top) for shape in shapes)
    return Drawing(shapes, right - left, bottom - top, diagram.description)


Band = Point
"""The upper and the lower end of a layer."""


class _Layout:
    """Where everything in a diagram stands; nodes are placed from left to right, then layers from top to bottom."""

    def __init__(self, diagram: Diagram) -> None:
        self.diagram = diagram
        self.net = network(diagram)
        self.nodes = [node for row in self.net.rows for node in row]
        self.sizes = {
            node: (_LANE, 0.0) if is_waypoint(node) else _size(diagram.layers[node[0]].boxes[node[1]])
            for node in self.nodes
        }
        self.framed = list(map(self._inside, diagram.frames))
        self.layers = [set(map(layer_of, inside)) for inside in self.framed]  # of every frame
        self.x = arranged(self.net, {node: wide for node, (wide, _) in self.sizes.items()}, self._apart)
        self.whole = max((self.x[node] + wide / 2 for node, (wide, _) in self.sizes.items()), default=0.0)

    def _inside(self, frame: DiagramFrame) -> frozenset[Node]:
        """The nodes in a frame: its boxes, and lines that lead from one of them to others of them only."""
        inside = frozenset(frame.boxes)
        leaving = {source for source, target in self.diagram.edges if target not in inside}
        lines = filter(is_waypoint, self.nodes)
        return inside | {line for line in lines if line[:2] in inside and line[:2] not in leaving}

    def _apart(self, a: Node, b: Node) -> float:
        """The gap between two neighbours; a frame ends with its words, where they are longer than its boxes."""
        gap = (_GAP, 3.0, 1.5)[is_waypoint(a) + is_waypoint(b)]
        row = next(row for row in self.net.rows if a in row)
        short = [0.0]
        for frame, inside in zip(self.diagram.frames, self.framed, strict=True):
            gap += 2 * _PAD * ((a in inside) != (b in inside))
            if a in inside and b not in inside:
                boxes = sum(self.sizes[node][0] + _GAP for node in row if node in inside)
                short.append(inlines_width(frame.label) * _WORDS - boxes)
        return gap + max(short)

    @cached_property
    def bands(self) -> list[Band]:
        """Layers are farther apart where lines between them run far to the side."""
        bands: list[Band] = []
        y = 0.0
        for i, row in enumerate(self.net.rows):
            if i:
                far = max((abs(self.x[a] - self.x[b]) for a, b in self.net.edges if layer_of(a) == i), default=0.0)
                y += min(26.0, max(8.0, 6 + far * 0.16))
                y += self._above_frames(i) + self._below_frames(i - 1)
            high = max([_LABEL, *(self.sizes[node][1] for node in row)])
            bands.append((y, y + high))
            y += high
        return bands

    def _above_frames(self, layer: int) -> float:
        """What frames take above the layer with which they begin."""
        return (_PAD + _LABEL) * any(layer == min(layers) for layers in self.layers)

    def _below_frames(self, layer: int) -> float:
        return _PAD * any(layer == max(layers) for layers in self.layers)

    def _clear(self, layer: int) -> Band:
        """A layer with the edges of frames: lines go straight through them, past the words in their upper edges."""
        top, bottom = self.bands[layer]
        return top - self._above_frames(layer), bottom + self._below_frames(layer)

    @cached_property
    def boxes(self) -> dict[Place, Box]:
        reached = {target for _, target in self.diagram.edges}
        return {
            (i, j): Box(box, self.x[i, j], sum(band) / 2, *self.sizes[i, j], shaded=(i, j) not in reached)
            for i, (layer, band) in enumerate(zip(self.diagram.layers, self.bands, strict=True))
            for j, box in enumerate(layer.boxes)
        }

    def _box(self, node: Node) -> Box | None:
        """A node that is a box."""
        return None if is_waypoint(node) else self.boxes[node[0], node[1]]

    @cached_property
    def remarks(self) -> list[Remark]:
        return [
            Remark(layer.remark, self.whole + 5, sum(band) / 2, inlines_width(layer.remark) * EM)
            for layer, band in zip(self.diagram.layers, self.bands, strict=True)
            if layer.remark
        ]

    @cached_property
    def frames(self) -> list[Frame]:
        return [
            self._frame(frame.label, inside) for frame, inside in zip(self.diagram.frames, self.framed, strict=True)
        ]

    def _frame(self, label: Inlines, inside: frozenset[Node]) -> Frame:
        boxes = [box for node in inside if (box := self._box(node))]
        passing = [self.x[node] for node in inside if is_waypoint(node)]
        left = min([*(box.x - box.width / 2 for box in boxes), *passing]) - _PAD
        right = max([*(box.x + box.width / 2 for box in boxes), *passing]) + _PAD
        right = max(right, left + inlines_width(label) * _WORDS + 2 * _PAD)
        top = min(box.top for box in boxes) - _PAD - (_LABEL if label else 0)
        bottom = max(box.bottom for box in boxes) + _PAD
        return Frame(label, round(left, 1), round(top, 1), round(right - left, 1), round(bottom - top, 1))

    def lines(self) -> Iterator[Line]:
        """From the top of what is below to the bottom of what is above; then arrows between neighbours in a layer."""
        for above in self.nodes:
            sources = sorted(self.net.below.get(above, ()), key=self.x.__getitem__)
            for k, below in enumerate(sources):
                yield self._line(below, above, k - (len(sources) - 1) / 2, len(sources))
        for source, target in self.diagram.edges:
            if source[0] == target[0]:
                a, b = self.boxes[source], self.boxes[target]
                side = 1 if b.x > a.x else -1
                yield Line(((a.x + side * a.width / 2, a.y), (b.x - side * b.width / 2, b.y)), True)

    def _line(self, below: Node, above: Node, place: float, of: int) -> Line:
        """One line of so many to the same node, which end side by side there, with the middle one in `place` 0."""
        lower, upper = self._clear(layer_of(below)), self._clear(layer_of(above))
        source, target = self._box(below), self._box(above)
        x = self.x[below]
        to_x = self.x[above] + (place * min(_TIP, 0.8 * target.width / of) if target else 0.0)
        if abs(x - to_x) < _BENT and (source or target):  # no room for a bend: boxes are met beside their middle
            x, to_x = (to_x, to_x) if source else (x, x)
        leaves, enters = source.top if source else lower[0], target.bottom if target else upper[0]
        points = ((x, leaves), (x, lower[0]), (to_x, upper[1]), (to_x, enters))
        rounded = dict.fromkeys((round(a, 1), round(b, 1)) for a, b in points)
        return Line(tuple(rounded), target is not None)


def _size(formula: Formula) -> Point:
    return max(9.0, round(width(formula) * EM + 3.4, 1)), round(height(formula) * EM + 2.8, 1)


def _moved(shape: Shape, right: float, down: float) -> Shape:
    match shape:
        case Line(points, arrow):
            return Line(tuple((round(x + right, 1), round(y + down, 1)) for x, y in points), arrow)
        case _:
            return replace(shape, x=shape.x + right, y=shape.y + down)


# --- in characters: boxes in layers, and between two layers bars that join them ---------------------------------------
#
# What leads to the same boxes shares a bar.  Bars that would overlap lie over one another; a line that only crosses a
# bar interrupts it, one that joins it has a corner or a branch there.  Where that cannot be drawn, words say what leads
# where.

_FRAMED, _BARE = 3, 1  # columns between boxes with frames, and between boxes without
_INDENT = "    "


def in_characters(diagram: Diagram, columns: int = COLUMNS) -> str:
    """The figure as it is drawn on a terminal.

    Where it is wider than the columns, its boxes lose their frames, and then all of it is said in words.
    """
    said = {(i, j): on_one_line(box) for i, layer in enumerate(diagram.layers) for j, box in enumerate(layer.boxes)}
    remarks = [plain(layer.remark) for layer in diagram.layers]
    room = columns - len(_INDENT)
    figures = (_Figure(diagram, said, remarks, framed) for framed in (True, False))
    fitting = next((figure for figure in figures if figure.wide <= room), None)
    drawn = fitting.drawn(room) if fitting else _in_words(diagram, said, remarks)
    lines = [line for block in drawn for line in block.lines]
    labels = [
        f"{plain(frame.label)}{label('')} {', '.join(said[place] for place in frame.boxes)}"
        for frame in diagram.frames
        if frame.label
    ]
    lines += ["", *labels] if labels else []
    return "\n".join(f"{_INDENT}{line}".rstrip() for line in lines)


class _Figure:
    """A diagram in characters: the middle column of every node, and how many columns there are."""

    def __init__(self, diagram: Diagram, said: Mapping[Place, str], remarks: Sequence[str], framed: bool) -> None:
        self.diagram, self.said, self.remarks = diagram, said, remarks
        self.net = network(diagram)
        self.pictures = {place: _framed(word) if framed else text(word) for place, word in said.items()}
        self.middles: dict[Node, int] = {}
        self.wide = 0
        widths = {node: self.picture(node).width for row in self.net.rows for node in row}
        for row in self.net.rows:
            for node, feet in _feet(_bundles(self.net, row)).items():
                widths[node] = max(widths[node], 2 * len(feet) - 1)
        gap = _FRAMED if framed else _BARE
        # An odd width has a middle, so that what is to stand over one another does.
        exact = arranged(self.net, {node: 2.0 * (wide // 2) + 1 for node, wide in widths.items()}, lambda a, b: gap)
        for row in self.net.rows:
            free = 0
            for node in row:
                half = widths[node] // 2
                self.middles[node] = max(free + half, round(exact[node] - 0.5))
                free = self.middles[node] - half + widths[node] + 1
            self.wide = max(self.wide, free - 1)

    def picture(self, node: Node) -> Tile:
        return text("│") if is_waypoint(node) else self.pictures[node[0], node[1]]

    def drawn(self, room: int) -> Iterator[Tile]:
        """The layers with their remarks, where all have room beside the figure, or next to each layer, or below it."""
        beside_all = all(self.wide + columns_of(remark) + 3 <= room for remark in self.remarks)
        for below, (row, remark) in enumerate(zip(self.net.rows, self.remarks, strict=True), 1):
            layer = self._layer(row)
            if not beside_all:
                layer = Tile(tuple(str(layer).split("\n")), layer.baseline)
                layer = level([[layer]], "l")[0][0]
            beside_it = text(f"   {remark}" if remark else "")
            if layer.width + beside_it.width <= room:
                yield layer + beside_it
            else:
                yield from (layer, self._below(remark, row))
            if below < len(self.net.rows):
                yield self._wires(row) or self._told(row)

    def _layer(self, row: Sequence[Node]) -> Tile:
        """The boxes of a layer, arrows between neighbours, and the lines that pass."""
        height = max((self.picture(node).height for node in row), default=1)
        blocks, used = [EMPTY], 0
        before: Node | None = None
        for node in row:
            block = Tile(("│",) * height, height // 2) if is_waypoint(node) else self.picture(node)
            start = self.middles[node] - block.width // 2
            gap = start - used
            right, left = ((before, node) in self.diagram.edges, (node, before) in self.diagram.edges)
            arrow = "─" * (gap - 1) + "▶" if right else "◀" + "─" * (gap - 1) if left else " " * gap
            blocks += [text(arrow), block]
            used, before = start + block.width, node
        return beside(*blocks, text(" " * (self.wide - used)))

    def _below(self, remark: str, row: Sequence[Node]) -> Tile:
        """A remark on a line of its own, beside the lines that pass."""
        line = f"  {remark} "
        for x in sorted(self.middles[node] for node in row if is_waypoint(node)):
            if x >= columns_of(line):
                line += " " * (x - columns_of(line)) + "│"
        return text(line)

    def _wires(self, row: Sequence[Node]) -> Tile | None:
        """Arrows above, bars, feet below; None if no order of bars keeps lines apart that have nothing in common."""
        bundles, middles = _bundles(self.net, row), self.middles
        if not bundles:
            return text("")
        feet: dict[tuple[Node, ...], set[int]] = {}
        forks: list[_Bar] = []
        for node, every in _feet(bundles).items():
            from_left = sorted(every, key=lambda sources: sum(middles[above] for above in bundles[sources]))
            start = middles[node] - len(every) + 1
            ends = range(start, start + 2 * len(every), 2)
            for sources, end in zip(from_left, ends, strict=True):
                feet.setdefault(sources, set()).add(end)
            forks.append(_Bar(frozenset({middles[node]}), frozenset(ends)))
        bars = [
            _Bar(frozenset(feet[sources]), frozenset(map(middles.__getitem__, bundles[sources]))) for sources in bundles
        ]
        if (tracks := _tracks(bars)) is None:
            return None
        tips = {middles[node] for node in row if not is_waypoint(node) and node in self.net.below}
        ups = {x for bar in bars for x in bar.up}
        lines = ["".join("▲" if x in tips else "│" if x in ups else " " for x in range(self.wide))]
        if any(bar.ends[0] < bar.ends[1] for bar in bars):
            for track in range(max(tracks.values()), -1, -1):
                passing = {x for bar in bars if tracks[bar] > track for x in bar.down}
                passing |= {x for bar in bars if tracks[bar] < track for x in bar.up}
                lines.append(_line_of([bar for bar in bars if tracks[bar] == track], passing, self.wide))
        return Tile((*lines, _line_of(forks, (), self.wide)))

    def _told(self, row: Sequence[Node]) -> Tile:
        """What leads to the boxes of a layer, in words."""
        lines = [
            text(f"  {self.said[node[0], node[1]]} ← {', '.join(self.said[x[0], x[1]] for x in self.net.below[node])}")
            for node in row
            if not is_waypoint(node) and node in self.net.below
        ]
        return stacked(lines or [EMPTY], 0, "left")


def _framed(word: str) -> Tile:
    bar = "─" * (columns_of(word) + 2)
    return Tile((f"┌{bar}┐", f"│ {word} │", f"└{bar}┘"), 1)


def _in_words(diagram: Diagram, said: Mapping[Place, str], remarks: Sequence[str]) -> Iterator[Tile]:
    """Every layer on lines of its own, from the top, each box with what leads to it."""
    for i, (layer, remark) in enumerate(zip(diagram.layers, remarks, strict=True)):
        if remark:
            yield text(remark)
        for j in range(len(layer.boxes)):
            lower = ", ".join(said[source] for source, target in diagram.edges if target == (i, j))
            yield text(f"{said[i, j]} ← {lower}" if lower else said[i, j])


# --- lines between two layers ------------------------------------------------------------------------------------


Bundles = Mapping[tuple[Node, ...], Sequence[Node]]  # what leads to the same nodes, and these


def _bundles(net: Network, row: Sequence[Node]) -> Bundles:
    """The lines that lead to a layer, those together that lead from the same nodes."""
    targets: dict[tuple[Node, ...], list[Node]] = {}
    for above in row:
        if sources := net.below.get(above):
            targets.setdefault(tuple(sorted(sources)), []).append(above)
    return targets


def _feet(bundles: Bundles) -> dict[Node, list[tuple[Node, ...]]]:
    """The bundles that each node below belongs to: a line of its own leads to each of them."""
    bars: dict[Node, list[tuple[Node, ...]]] = {}
    for sources in bundles:
        for node in sources:
            bars.setdefault(node, []).append(sources)
    return bars


@dataclass(frozen=True, slots=True)
class _Bar:
    """What a bar joins: columns below and columns above it."""

    down: frozenset[int]
    up: frozenset[int]

    @property
    def ends(self) -> tuple[int, int]:
        return min(self.down | self.up), max(self.down | self.up)


_JOINT = {"": " ", "LR": "─", "UD": "│", "UL": "┘", "UR": "└", "DL": "┐", "DR": "┌", "ULR": "┴",
          "DLR": "┬", "UDL": "┤", "UDR": "├", "UDLR": "┼"}  # fmt: skip


def _tracks(bars: Sequence[_Bar]) -> dict[_Bar, int] | None:
    """How high every bar lies, from 0: below another one where it takes its line up in a column of the other's feet.

    None if two bars would each have to lie below the other.
    """
    below: dict[_Bar, set[_Bar]] = {bar: set() for bar in bars}
    for bar in bars:
        for other in bars:
            if bar is not other and bar.up & other.down:
                below[bar].add(other)  # the other's foot must end before this bar's line upwards begins
    try:
        order = list(TopologicalSorter(below).static_order())
    except CycleError:
        return None
    tracks: dict[_Bar, int] = {}
    for bar in order:
        track = max((tracks[other] + 1 for other in below[bar]), default=0)
        while any(tracks[other] == track and _overlap(bar, other) for other in tracks):
            track += 1
        tracks[bar] = track
    return tracks


def _overlap(one: _Bar, two: _Bar) -> bool:
    return one.ends[0] <= two.ends[1] and two.ends[0] <= one.ends[1]


def _line_of(bars: Iterable[_Bar], passing: Container[int], wide: int) -> str:
    """A line of characters with bars in it, and the lines that go past them."""
    row = ["│" if x in passing else " " for x in range(wide)]
    for bar in bars:
        start, end = bar.ends
        for x in range(start, end + 1):
            if x not in passing:
                sides = "U" * (x in bar.up) + "D" * (x in bar.down)
                row[x] = _JOINT[sides + "L" * (x > start) + "R" * (x < end)]
    return "".join(row)
