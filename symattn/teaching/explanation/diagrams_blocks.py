"""Figures of whole layers: a block with its residuals and norms, and a recurrence beside attention."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from symattn.derivation.derivation import Step, StepName
from symattn.derivation.ops import Copy, Mask
from symattn.errors import InputError
from symattn.formula import Formula, Relation, Text
from symattn.foundation.languages import Message, message
from symattn.page.document import Block, Diagram, DiagramFrame, DiagramLayer, Inlines, Math, Place, Words
from symattn.page.figure_words import described
from symattn.teaching.explanation.diagrams_attention import named
from symattn.teaching.explanation.wording import Wording

# --- blocks ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Sublayer:
    """Steps that are one box: attention, a feed-forward network, a norm, or a residual."""

    kind: Literal["attention", "feed-forward", "norm", "residual"]
    name: str
    steps: tuple[Step, ...]

    @property
    def last(self) -> Step:
        return self.steps[-1]


def blocks(wording: Wording) -> list[Block]:
    """The residual stream with its sublayers, in the order in which the derivation has them.

    Of a stack the first block is drawn, in a frame that says how many there are.
    """
    derivation = wording.derivation
    if not any(_residual(step) for step in derivation):
        raise InputError("There are no residuals here, so there is no block to draw; encoder_block has them.")
    numbers = [int(place) for step in derivation if (place := StepName.of(step.name).place).isdecimal()]
    count = max(numbers, default=1)
    steps = [step for step in derivation if StepName.of(step.name).place in ("", "1") or count == 1]
    sublayers = _sublayers(steps)
    boxes: list[tuple[Formula, ...]] = []
    remarks: list[Inlines] = []
    sources = tuple(name for name in ("X", "E", "Z") if name in derivation.givens)
    edges: dict[tuple[tuple[int, int], tuple[int, int]], None] = {}
    boxes.append(tuple(named(wording, name) for name in sources))
    remarks.append(())
    origin: dict[str, Place] = {name: (0, j) for j, name in enumerate(sources)}
    for number, sublayer in enumerate(sublayers, 1):
        own = {step.name for step in sublayer.steps}
        for step in sublayer.steps:
            for operand in step.operands:
                name = operand.name if operand.name in origin else f"{StepName.of(operand.name).stem}^1"
                if name not in own and name in origin:  # what a later block gives leaves the one that is drawn
                    edges[origin[name], (number, 0)] = None
        boxes.append((_box(sublayer, wording),))
        remarks.append(_remark(sublayer, wording))
        origin |= dict.fromkeys(own, (number, 0))
    top = len(boxes) - 1
    turned = [((top - a, i), (top - b, j)) for (a, i), (b, j) in edges]
    layers = tuple(DiagramLayer(*pair) for pair in zip(reversed(boxes), reversed(remarks), strict=True))
    frames: tuple[DiagramFrame, ...] = ()
    if count > 1:
        inside = [number for number, sub in enumerate(sublayers, 1) if StepName.of(sub.last.name).place == "1"]
        frames = (DiagramFrame(tuple((top - n, 0) for n in inside), (Words(f"× {count}"),)),)
    what = message("A stack of {count} blocks", count=count) if count > 1 else message("A block with its residuals")
    return [described(Diagram(layers, tuple(turned), "", frames), what)]


def _residual(step: Step) -> bool:
    return step.stem in ("R1", "R2", "R3")


def _norm(step: Step) -> str:
    """The norm that a step belongs to, N1 for N1_mean; "" for others."""
    stem = StepName.of(step.name).stem.partition("_")[0]
    return stem if stem in ("N1", "N2", "N3", "Y") else ""


def _sublayers(steps: Sequence[Step]) -> list[_Sublayer]:
    """Steps in a row that are of the same kind; what is only copied is left out, unless it is the whole result."""
    found: list[_Sublayer] = []
    for step in steps:
        if isinstance(step.op, Copy) and step.name != "Y":
            continue
        if _residual(step):
            own = _Sublayer("residual", step.name, (step,))
        elif norm := _norm(step):
            own = _Sublayer("norm", norm + StepName.of(step.name).place, (step,))
        elif StepName.of(step.name).stem.partition("_")[0] in ("H", "F"):
            own = _Sublayer("feed-forward", "", (step,))
        else:
            own = _Sublayer("attention", StepName.of(step.name).place, (step,))
        if found and (found[-1].kind, found[-1].name) == (own.kind, own.name):
            found[-1] = replace(found[-1], steps=(*found[-1].steps, step))
        else:
            found.append(own)
    return found


def _box(sublayer: _Sublayer, wording: Wording) -> Formula:
    step = sublayer.last
    if sublayer.kind == "attention":
        return Text(_attention(sublayer))
    if sublayer.kind == "feed-forward":
        return Text("Feed-forward network")
    if sublayer.kind == "norm" and not isinstance(step.op, Copy):
        return Text("Root mean square norm" if any("_ms" in s.name for s in sublayer.steps) else "Layer norm")
    return Relation((wording.name(step.name), wording.rule(step)), ("=",))


def _attention(sublayer: _Sublayer) -> Message:
    heads = max((StepName.of(step.name).head or 1 for step in sublayer.steps), default=1)
    crossed = any(operand.name == "E" for step in sublayer.steps for operand in step.operands)
    masked = any(isinstance(step.op, Mask) and step.op.keep for step in sublayer.steps)
    kind = _ATTENTION[crossed, masked]
    return message("{attention}, {count} heads", attention=kind, count=heads) if heads > 1 else kind


_ATTENTION = {
    (False, False): message("Self-attention"),
    (False, True): message("Masked self-attention"),
    (True, False): message("Cross-attention"),
    (True, True): message("Masked cross-attention"),
}
"""By whether keys and values come from elsewhere, and whether there is a mask."""


def _remark(sublayer: _Sublayer, wording: Wording) -> Inlines:
    """What the sublayer gives, with its shape."""
    step = sublayer.last
    shape = Math(wording.shape(step.result))
    return (shape,) if _residual(step) else (Math(wording.name(step.name)), Words(" "), shape)


# --- recurrence ----------------------------------------------------------------------------------------------

_POSITIONS = 5


def recurrence(wording: Wording) -> list[Block]:
    """States that wait for one another, beside attention, in which every position sees every other one at once."""
    states = [step.token for step in wording.derivation if step.stem == "H" and step.token]
    if not states or "X" not in wording.derivation:
        raise InputError("There are no states h_1, h_2, … here, so there is no recurrence; recurrent_network has them.")
    n = min(len(states), _POSITIONS)
    inputs = [wording.row("X", t) for t in range(1, n + 1)]
    hidden = [wording.row("H", t) for t in range(1, n + 1)]
    outputs = [wording.row("Z", t) for t in range(1, n + 1)]
    layers = (DiagramLayer((*hidden, *outputs)), DiagramLayer((*inputs, *inputs)))
    edges: list[tuple[Place, Place]] = [((1, t), (0, t)) for t in range(n)]
    edges += [((0, t), (0, t + 1)) for t in range(n - 1)]
    edges += [((1, n + j), (0, n + t)) for t in range(n) for j in range(n)]
    frames = tuple(
        DiagramFrame(tuple((i, j) for i in (0, 1) for j in range(start, start + n)), (Words(label),))
        for start, label in (
            (0, message("Recurrence: up to {count} steps", count=n)), (n, message("Attention: 1 step")),
        )
    )  # fmt: skip
    what = message("A recurrent network beside attention, with {count} positions each", count=n)
    return [described(Diagram(layers, tuple(edges), "", frames), what)]
