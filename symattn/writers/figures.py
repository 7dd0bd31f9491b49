"""Where the boxes of a figure stand, the same for every format that can draw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from symattn.document import Diagram, Inlines
from symattn.formula.nodes import Formula
from symattn.formula.width import width
from symattn.writers.common import inlines_width

_EM = 4.0  # millimetres, at 11 pt
_GAP = 9.0  # between neighbours
_RISE = 17.0  # from the middle of a layer to the middle of the next
HEIGHT = 8.0  # of a box


@dataclass(frozen=True, slots=True)
class Placed:
    """A box with its middle at (x, y), in millimetres; y grows upwards."""

    formula: Formula
    x: float
    y: float
    width: float


@dataclass(frozen=True, slots=True)
class Remark:
    """Words whose left end is at x, level with the middle y of a layer."""

    content: Inlines
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Figure:
    boxes: Mapping[tuple[int, int], Placed]
    remarks: tuple[Remark, ...]
    width: float
    height: float
    margin: float  # what stands to the right of the boxes needs

    def passes_left(self, lower: tuple[int, int], upper: tuple[int, int]) -> bool:
        """Whether an arrow that skips a layer goes round the others at the left."""
        return self.boxes[lower].x + self.boxes[upper].x < self.width


def placed(diagram: Diagram) -> Figure:
    """Layers centred over one another, the last one at the bottom, with x and y from 0 at its left lower corner."""
    sizes = [[max(10.0, width(box) * _EM + 4) for box in layer.boxes] for layer in diagram.layers]
    whole = max((sum(layer) + _GAP * (len(layer) - 1) for layer in sizes if layer), default=0.0)
    margin = 4.0 if all(lower - upper == 1 for (lower, _), (upper, _) in diagram.edges) else 16.0
    boxes: dict[tuple[int, int], Placed] = {}
    remarks: list[Remark] = []
    for i, (layer, widths) in enumerate(zip(diagram.layers, sizes, strict=True)):
        y = (len(sizes) - 1 - i) * _RISE + HEIGHT / 2
        gap = (whole - sum(widths)) / (len(widths) + 1) if len(widths) < 2 else _GAP
        spread = (whole - sum(widths) - gap * (len(widths) - 1)) / 2
        x = spread
        for j, (box, wide) in enumerate(zip(layer.boxes, widths, strict=True)):
            boxes[i, j] = Placed(box, x + wide / 2, y, wide)
            x += wide + gap
        if layer.remark:
            remarks.append(Remark(layer.remark, whole + margin, y))
    beside = max((margin + inlines_width(layer.remark) * _EM for layer in diagram.layers if layer.remark), default=0)
    return Figure(boxes, tuple(remarks), whole, max(0, len(sizes) - 1) * _RISE + HEIGHT, beside)
