"""Figures of characters: boxes in layers, and between two layers bars that join them.

What leads to the same boxes shares a bar.  Bars that would overlap lie over one another; a line that only crosses a
bar interrupts it, one that joins it has a corner or a branch there.  Where that cannot be drawn, words say what leads
where.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from symattn.formula.nodes import Formula
from symattn.foundation.terminal import columns_of
from symattn.page.document import Diagram, Inlines, Place
from symattn.page.writers import blocks as draw
from symattn.page.writers.blocks import EMPTY, Block, text
from symattn.page.writers.common import label
from symattn.page.writers.figures import Network, Node, arranged, is_waypoint, network

_GAP = 3  # columns between boxes with frames
_BARE = 1  # and between boxes without
_INDENT = "    "


def characters(
    diagram: Diagram, formula: Callable[[Formula], str], words: Callable[[Inlines], str], columns: int
) -> str:
    """The figure; where it is wider than the columns, its boxes lose their frames, and then all of it is said in words.

    `formula` and `words` write what stands in it, on one line.
    """
    net = network(diagram)
    room = columns - len(_INDENT)
    said = {(i, j): formula(box) for i, layer in enumerate(diagram.layers) for j, box in enumerate(layer.boxes)}
    for framed in (True, False):
        pictures = {place: _framed(word) if framed else text(word) for place, word in said.items()}
        middles, wide = _columns(net, pictures, _GAP if framed else _BARE)
        if wide <= room:
            drawn = _layers(diagram, net, pictures, middles, wide, said, words, room)
            break
    else:
        drawn = list(_in_words(diagram, said, words))
    labels = [
        f"{words(frame.label)}{label('')} {', '.join(said[place] for place in frame.boxes)}"
        for frame in diagram.frames
        if frame.label
    ]
    lines = [line for block in drawn for line in block.lines] + ([""] if labels else []) + labels
    return "\n".join(f"{_INDENT}{line}".rstrip() for line in lines)


def _columns(net: Network, pictures: Mapping[Place, Block], gap: int) -> tuple[dict[Node, int], int]:
    """The middle column of every node, and how many columns there are."""
    widths = {node: _width(node, pictures) for row in net.rows for node in row}
    for row in net.rows:
        for node, feet in _feet(_bundles(net, row)).items():
            widths[node] = max(widths[node], 2 * len(feet) - 1)
    # An odd width has a middle, so that what is to stand over one another does.
    exact = arranged(net, {node: 2.0 * (wide // 2) + 1 for node, wide in widths.items()}, lambda a, b: gap)
    middles: dict[Node, int] = {}
    whole = 0
    for row in net.rows:
        free = 0
        for node in row:
            half = widths[node] // 2
            middles[node] = max(free + half, round(exact[node] - 0.5))
            free = middles[node] - half + widths[node] + 1
        whole = max(whole, free - 1)
    return middles, whole


def _width(node: Node, pictures: Mapping[Place, Block]) -> int:
    return 1 if is_waypoint(node) else pictures[node[0], node[1]].width


def _framed(word: str) -> Block:
    bar = "─" * (columns_of(word) + 2)
    return Block((f"┌{bar}┐", f"│ {word} │", f"└{bar}┘"), 1)


def _layers(
    diagram: Diagram,
    net: Network,
    pictures: Mapping[Place, Block],
    middles: Mapping[Node, int],
    wide: int,
    said: Mapping[Place, str],
    words: Callable[[Inlines], str],
    room: int,
) -> list[Block]:
    drawn: list[Block] = []
    remarks = [words(layer.remark) for layer in diagram.layers]
    beside = all(wide + columns_of(remark) + 3 <= room for remark in remarks)
    for i, row in enumerate(net.rows):
        picture = _row(row, pictures, middles, wide, diagram)
        remark = text(f"   {remarks[i]}" if remarks[i] else "")
        if not beside:  # then next to its own layer, or below it
            picture = Block(tuple(str(picture).split("\n")), picture.baseline)
            picture = draw.level([[picture]], "l")[0][0]
        if picture.width + remark.width <= room:
            drawn.append(picture + remark)
        else:
            drawn += [picture, _below(remarks[i], row, middles)]
        if i + 1 < len(net.rows):
            drawn.append(_wires(_bundles(net, row), middles, wide) or _told(net, row, said))
    return drawn


def _row(
    row: Sequence[Node], pictures: Mapping[Place, Block], middles: Mapping[Node, int], wide: int, diagram: Diagram
) -> Block:
    """The boxes of a layer, arrows between neighbours, and the lines that pass."""
    height = max((pictures[node[0], node[1]].height for node in row if not is_waypoint(node)), default=1)
    blocks, used = [EMPTY], 0
    before: Node | None = None
    for node in row:
        block = Block(("│",) * height, height // 2) if is_waypoint(node) else pictures[node[0], node[1]]
        start = middles[node] - block.width // 2
        gap = start - used
        right, left = ((before, node) in diagram.edges, (node, before) in diagram.edges)
        arrow = "─" * (gap - 1) + "▶" if right else "◀" + "─" * (gap - 1) if left else " " * gap
        blocks += [text(arrow), block]
        used, before = start + block.width, node
    return draw.beside(*blocks, text(" " * (wide - used)))


def _below(remark: str, row: Sequence[Node], middles: Mapping[Node, int]) -> Block:
    """A remark on a line of its own, beside the lines that pass."""
    line = f"  {remark} "
    for x in sorted(middles[node] for node in row if is_waypoint(node)):
        if x >= columns_of(line):
            line += " " * (x - columns_of(line)) + "│"
    return text(line)


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


def _wires(bundles: Bundles, middles: Mapping[Node, int], wide: int) -> Block | None:
    """Arrows above, bars, feet below; None if no order of bars keeps lines apart that have nothing in common."""
    if not bundles:
        return text("")
    foot: dict[tuple[tuple[Node, ...], Node], int] = {}
    last = [" "] * wide
    for node, all_of_them in _feet(bundles).items():
        x, count = middles[node], len(all_of_them)
        from_left = sorted(all_of_them, key=lambda sources: sum(middles[t] for t in bundles[sources]))
        for k, sources in enumerate(from_left):
            foot[sources, node] = x + 2 * k - (count - 1)
        ends = [foot[sources, node] for sources in from_left]
        for column in range(ends[0], ends[-1] + 1):
            sides = "U" * (column in ends) + "D" * (column == x)
            last[column] = _JOINT[sides + "L" * (column > ends[0]) + "R" * (column < ends[-1])]
    bars = [
        _Bar(frozenset(foot[sources, node] for node in sources), frozenset(middles[above] for above in reached))
        for sources, reached in bundles.items()
    ]
    tracks = _tracks(bars)
    if tracks is None:
        return None
    boxes = {middles[above] for reached in bundles.values() for above in reached if not is_waypoint(above)}
    ups = set[int]().union(*(bar.up for bar in bars))
    lines = ["".join("▲" if x in boxes else "│" if x in ups else " " for x in range(wide))]
    if any(bar.ends[0] < bar.ends[1] for bar in bars):
        lines += [_track(track, bars, tracks, wide) for track in range(max(tracks.values()), -1, -1)]
    return Block((*lines, "".join(last)))


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


# --- words --------------------------------------------------------------------------------------------------


def _told(net: Network, row: Sequence[Node], said: Mapping[Place, str]) -> Block:
    """What leads to the boxes of a layer, in words."""
    lines = [
        text(f"  {said[node[0], node[1]]} ← {', '.join(said[below[0], below[1]] for below in net.below[node])}")
        for node in row
        if not is_waypoint(node) and node in net.below
    ]
    return draw.stacked(lines or [EMPTY], 0, "left")


def _in_words(diagram: Diagram, said: Mapping[Place, str], words: Callable[[Inlines], str]) -> Iterator[Block]:
    """Every layer on lines of its own, from the top, each box with what leads to it."""
    for i, layer in enumerate(diagram.layers):
        if layer.remark:
            yield text(words(layer.remark))
        for j in range(len(layer.boxes)):
            lower = ", ".join(said[source] for source, target in diagram.edges if target == (i, j))
            yield text(f"{said[i, j]} ← {lower}" if lower else said[i, j])
