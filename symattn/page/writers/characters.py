"""Pictures made of characters: small blocks of lines that are set beside and above one another, and figures of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from symattn.errors import columns_of
from symattn.formula.nodes import Formula
from symattn.page.document import Diagram, Inlines, Place
from symattn.page.writers.common import label
from symattn.page.writers.figures import Network, Node, arranged, is_waypoint, network


def left(text: str, columns: int) -> str:
    return text + " " * (columns - columns_of(text))


def right(text: str, columns: int) -> str:
    return " " * (columns - columns_of(text)) + text


def centre(text: str, columns: int) -> str:
    space = columns - columns_of(text)
    return " " * (space // 2) + text + " " * (space - space // 2)


@dataclass(frozen=True, slots=True)
class Block:
    """Lines of one width; `baseline` is the index of the line that neighbours are set level with."""

    lines: tuple[str, ...]
    baseline: int = 0

    @property
    def width(self) -> int:
        return columns_of(self.lines[0])

    @property
    def height(self) -> int:
        return len(self.lines)

    @property
    def depth(self) -> int:
        """The number of lines below the baseline."""
        return len(self.lines) - self.baseline - 1

    def __str__(self) -> str:
        return "\n".join(line.rstrip() for line in self.lines)

    def __add__(self, other: Block) -> Block:
        return beside(self, other)


def text(line: str) -> Block:
    return Block((line,))


EMPTY = text("")


def grown(block: Block, above: int, below: int) -> Block:
    """The block with blank lines above and below its baseline, as many as asked for at least."""
    top, bottom = max(0, above - block.baseline), max(0, below - block.depth)
    if not top and not bottom:
        return block
    blank = (" " * block.width,)
    return Block(blank * top + block.lines + blank * bottom, block.baseline + top)


def beside(*blocks: Block) -> Block:
    """Blocks in a row, baselines level."""
    above = max((block.baseline for block in blocks), default=0)
    below = max((block.depth for block in blocks), default=0)
    columns = [grown(block, above, below).lines for block in blocks or (EMPTY,)]
    return Block(tuple(map("".join, zip(*columns, strict=True))), above)


def stacked(blocks: Sequence[Block], baseline: int, align: str = "centre") -> Block:
    """Blocks over one another; `baseline` counts lines from the top."""
    wide = max(block.width for block in blocks)
    place = {"centre": centre, "left": left, "right": right}[align]
    return Block(tuple(place(line, wide) for block in blocks for line in block.lines), baseline)


def fraction(above: Block, below: Block) -> Block:
    """One block over another with a bar between."""
    bar = text("─" * max(3, above.width, below.width))
    return stacked((above, bar, below), above.height)


# top, middle, bottom, and the one for a single line
_LEFT = {"[": "⎡⎢⎣[", "(": "⎛⎜⎝(", "|": "│││|", "⟨": "⎧⎨⎩⟨", "": "    "}
_RIGHT = {"[": "⎤⎥⎦]", "(": "⎞⎟⎠)", "|": "│││|", "⟨": "⎫⎬⎭⟩", "": "    "}


def _delimiter(signs: str, block: Block) -> Block:
    if block.height == 1:
        return text(signs[3])
    column = (signs[0], *(signs[1] * (block.height - 2)), signs[2])
    return Block(column, block.baseline)


def bracketed(block: Block, bracket: str) -> Block:
    """A block in brackets as high as it is."""
    if bracket == "":
        return block
    space = text(" ") if block.height > 1 else EMPTY
    return beside(_delimiter(_LEFT[bracket], block), space, block, space, _delimiter(_RIGHT[bracket], block))


def level(rows: Iterable[Sequence[Block]], align: str = "c") -> list[list[Block]]:
    """The same blocks, made equally wide in each column and equally high in each row.

    `align` is one letter (l, c, r) for all columns, or one for each.
    """
    rows = [list(row) for row in rows]
    widths = [max(cell.width for cell in column) for column in zip(*rows, strict=True)]
    places = [{"l": left, "c": centre, "r": right}[letter] for letter in align]
    places *= len(widths) if len(places) == 1 else 1
    result = []
    for row in rows:
        above, below = max(cell.baseline for cell in row), max(cell.depth for cell in row)
        padded = (
            Block(tuple(place(line, wide) for line in cell.lines), cell.baseline)
            for cell, wide, place in zip(row, widths, places, strict=True)
        )
        result.append([grown(cell, above, below) for cell in padded])
    return result


def lines(rows: Sequence[Block], apart: bool = False) -> Block:
    """Rows over one another, level with the middle; blank lines between if `apart`, or if one is higher than a line."""
    if apart or any(row.height > 1 for row in rows):
        rows = [part for row in rows for part in (EMPTY, row)][1:]
    return stacked(rows, (sum(row.height for row in rows) - 1) // 2, "left")


# --- figures: boxes in layers, and between two layers bars that join them ---------------------------------------------
#
# What leads to the same boxes shares a bar.  Bars that would overlap lie over one another; a line that only crosses a
# bar interrupts it, one that joins it has a corner or a branch there.  Where that cannot be drawn, words say what leads
# where.

_GAP = 3  # columns between boxes with frames
_BARE = 1  # and between boxes without
_INDENT = "    "


def figure(diagram: Diagram, formula: Callable[[Formula], str], words: Callable[[Inlines], str], columns: int) -> str:
    """The figure; where it is wider than the columns, its boxes lose their frames, and then all of it is said in words.

    `formula` and `words` write what stands in it, on one line.
    """
    said = {(i, j): formula(box) for i, layer in enumerate(diagram.layers) for j, box in enumerate(layer.boxes)}
    remarks = [words(layer.remark) for layer in diagram.layers]
    room = columns - len(_INDENT)
    figures = (_Figure(diagram, said, remarks, framed) for framed in (True, False))
    fitting = next((figure for figure in figures if figure.wide <= room), None)
    drawn = fitting.drawn(room) if fitting else _in_words(diagram, said, remarks)
    lines = [line for block in drawn for line in block.lines]
    labels = [
        f"{words(frame.label)}{label('')} {', '.join(said[place] for place in frame.boxes)}"
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
        gap = _GAP if framed else _BARE
        # An odd width has a middle, so that what is to stand over one another does.
        exact = arranged(self.net, {node: 2.0 * (wide // 2) + 1 for node, wide in widths.items()}, lambda a, b: gap)
        for row in self.net.rows:
            free = 0
            for node in row:
                half = widths[node] // 2
                self.middles[node] = max(free + half, round(exact[node] - 0.5))
                free = self.middles[node] - half + widths[node] + 1
            self.wide = max(self.wide, free - 1)

    def picture(self, node: Node) -> Block:
        return text("│") if is_waypoint(node) else self.pictures[node[0], node[1]]

    def drawn(self, room: int) -> Iterator[Block]:
        """The layers with their remarks, where all have room beside the figure, or next to each layer, or below it."""
        beside_all = all(self.wide + columns_of(remark) + 3 <= room for remark in self.remarks)
        for below, (row, remark) in enumerate(zip(self.net.rows, self.remarks, strict=True), 1):
            layer = self._layer(row)
            if not beside_all:
                layer = Block(tuple(str(layer).split("\n")), layer.baseline)
                layer = level([[layer]], "l")[0][0]
            beside_it = text(f"   {remark}" if remark else "")
            if layer.width + beside_it.width <= room:
                yield layer + beside_it
            else:
                yield from (layer, self._below(remark, row))
            if below < len(self.net.rows):
                yield self._wires(row) or self._told(row)

    def _layer(self, row: Sequence[Node]) -> Block:
        """The boxes of a layer, arrows between neighbours, and the lines that pass."""
        height = max((self.picture(node).height for node in row), default=1)
        blocks, used = [EMPTY], 0
        before: Node | None = None
        for node in row:
            block = Block(("│",) * height, height // 2) if is_waypoint(node) else self.picture(node)
            start = self.middles[node] - block.width // 2
            gap = start - used
            right, left = ((before, node) in self.diagram.edges, (node, before) in self.diagram.edges)
            arrow = "─" * (gap - 1) + "▶" if right else "◀" + "─" * (gap - 1) if left else " " * gap
            blocks += [text(arrow), block]
            used, before = start + block.width, node
        return beside(*blocks, text(" " * (self.wide - used)))

    def _below(self, remark: str, row: Sequence[Node]) -> Block:
        """A remark on a line of its own, beside the lines that pass."""
        line = f"  {remark} "
        for x in sorted(self.middles[node] for node in row if is_waypoint(node)):
            if x >= columns_of(line):
                line += " " * (x - columns_of(line)) + "│"
        return text(line)

    def _wires(self, row: Sequence[Node]) -> Block | None:
        """Arrows above, bars, feet below; None if no order of bars keeps lines apart that have nothing in common."""
        bundles, middles = _bundles(self.net, row), self.middles
        if not bundles:
            return text("")
        feet: dict[tuple[Node, ...], set[int]] = {}
        last = [" "] * self.wide
        for node, every in _feet(bundles).items():
            from_left = sorted(every, key=lambda sources: sum(middles[above] for above in bundles[sources]))
            start = middles[node] - len(every) + 1
            ends = range(start, start + 2 * len(every), 2)
            for sources, end in zip(from_left, ends, strict=True):
                feet.setdefault(sources, set()).add(end)
            for column in range(ends[0], ends[-1] + 1):
                sides = "U" * (column in ends) + "D" * (column == middles[node])
                last[column] = _JOINT[sides + "L" * (column > ends[0]) + "R" * (column < ends[-1])]
        reached = {sources: frozenset(middles[above] for above in bundles[sources]) for sources in bundles}
        bars = [_Bar(frozenset(feet[sources]), up) for sources, up in reached.items()]
        if (tracks := _tracks(bars)) is None:
            return None
        tips = {middles[node] for node in row if not is_waypoint(node) and node in self.net.below}
        ups = set[int]().union(*reached.values())
        lines = ["".join("▲" if x in tips else "│" if x in ups else " " for x in range(self.wide))]
        if any(bar.ends[0] < bar.ends[1] for bar in bars):
            lines += [_track(track, bars, tracks, self.wide) for track in range(max(tracks.values()), -1, -1)]
        return Block((*lines, "".join(last)))

    def _told(self, row: Sequence[Node]) -> Block:
        """What leads to the boxes of a layer, in words."""
        lines = [
            text(f"  {self.said[node[0], node[1]]} ← {', '.join(self.said[x[0], x[1]] for x in self.net.below[node])}")
            for node in row
            if not is_waypoint(node) and node in self.net.below
        ]
        return stacked(lines or [EMPTY], 0, "left")


def _framed(word: str) -> Block:
    bar = "─" * (columns_of(word) + 2)
    return Block((f"┌{bar}┐", f"│ {word} │", f"└{bar}┘"), 1)


def _in_words(diagram: Diagram, said: Mapping[Place, str], remarks: Sequence[str]) -> Iterator[Block]:
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


def _track(track: int, bars: Sequence[_Bar], tracks: Mapping[_Bar, int], wide: int) -> str:
    """The line of characters with the bars of one height, and the lines that go past them."""
    passing = {x for bar in bars if tracks[bar] > track for x in bar.down}
    passing |= {x for bar in bars if tracks[bar] < track for x in bar.up}
    row = ["│" if x in passing else " " for x in range(wide)]
    for bar in bars:
        start, end = bar.ends
        for x in range(start, end + 1) if tracks[bar] == track else ():
            if x not in passing:
                sides = "U" * (x in bar.up) + "D" * (x in bar.down)
                row[x] = _JOINT[sides + "L" * (x > start) + "R" * (x < end)]
    return "".join(row)
