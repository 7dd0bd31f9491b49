"""The computation graph of any derivation: what it starts from and every step, with their shapes, in layers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from itertools import groupby

from symattn.derivation.derivation import Step
from symattn.formula import Annotated, Formula, ListOf, MatrixOf, Relation
from symattn.formula.nodes import children
from symattn.formula.width import width
from symattn.foundation.languages import message
from symattn.page.document import Block, Diagram, DiagramLayer, Math, Paragraph, Place, Together, sentence
from symattn.page.figure_words import described
from symattn.teaching.explanation.wording import Wording

_LAYERS = 10  # that fit on a page over one another
_PAGE = 43.3  # em: the width of a page
_ROOM = 1.5  # a layer may be so much wider than a page, and is made smaller then
_BOX, _GAP = 0.85, 1.0  # em: what a box has round its formula, and what is between two


def graph(wording: Wording) -> list[Block]:
    """The whole graph; one that is too high or too wide for a page in several parts, each with what it takes over."""
    parts = list(_parts(wording))
    blocks: list[Block] = []
    for number, steps in enumerate(parts, 1):
        if len(parts) == 1:
            blocks.append(described(_part(wording, steps), message("The computation graph")))
            continue
        first, last = (Math(wording.name(step.name)) for step in (steps[0], steps[-1]))
        lead = sentence(
            "Part {part} of {count}: from {first} to {last}.", part=number, count=len(parts), first=first, last=last
        )
        what = message("The computation graph, part {part} of {count}", part=number, count=len(parts))
        figure = described(_part(wording, steps), what)
        blocks.append(Together((Paragraph(lead), figure)))
    return blocks


def levels(steps: Sequence[Step]) -> dict[str, int]:
    """The longest path, in steps, from what these steps start from to each of them: 1 for the first ones."""
    found: dict[str, int] = {}
    for step in steps:
        found[step.name] = 1 + max((found.get(operand.name, 0) for operand in step.operands), default=0)
    return found


def _parts(wording: Wording) -> Iterable[Sequence[Step]]:
    """The steps in parts that fit on a page: all in one; else cut between sections, and between layers."""
    steps = wording.derivation.steps
    groups: list[Sequence[Step]] = [steps]
    if _widest(wording, steps) > _ROOM * _PAGE:
        groups = [tuple(group) for _, group in groupby(steps, lambda step: step.section)]
    for group in groups:
        level = levels(group)
        highest = max(level.values(), default=1)
        count = -(-highest // _LAYERS)
        for k in range(count):
            low, high = (round(highest * end / count) for end in (k, k + 1))
            yield tuple(step for step in group if low < level[step.name] <= high)


def _widest(wording: Wording, steps: Sequence[Step]) -> float:
    layers = _layered(steps)
    return max((sum(width(_box(wording, name, False)) + _BOX + _GAP for name in layer) for layer in layers), default=0)


def _layered(steps: Sequence[Step]) -> list[list[str]]:
    """The names in every layer, the last results first: what is taken over stands right below its first use."""
    level = levels(steps)
    used: dict[str, int] = {}
    for step in steps:
        for operand in step.operands:
            if operand.name not in level:
                used[operand.name] = min(used.get(operand.name, level[step.name]), level[step.name])
    places = {name: first - 1 for name, first in used.items()} | level
    return [[name for name in places if places[name] == i] for i in range(max(places.values(), default=0), -1, -1)]


def _part(wording: Wording, steps: Sequence[Step]) -> Diagram:
    layers = _layered(steps)
    own = {step.name for step in steps}
    boxes = [_boxes(wording, layer, own) for layer in layers]
    place: dict[str, Place] = {name: (i, j) for i, layer in enumerate(layers) for j, name in enumerate(layer)}
    edges = [(place[o.name], place[step.name]) for step in steps for o in step.operands]
    return Diagram(tuple(map(DiagramLayer, boxes)), tuple(dict.fromkeys(edges)), "", free=True)


def _boxes(wording: Wording, layer: Sequence[str], own: Set[str]) -> tuple[Formula, ...]:
    """Names with shapes, and with the rule by which they come about, if the page is wide enough for that."""
    for rules in (True, False):
        boxes = tuple(_box(wording, name, rules and name in own) for name in layer)
        if sum(width(box) + _BOX + _GAP for box in boxes) < _PAGE:
            break
    return boxes


_LONG = 13.0  # em: a rule above this is left out


def _box(wording: Wording, name: str, rule: bool) -> Formula:
    formula = wording.name(name)
    if rule:
        equation = Relation((formula, wording.rule(wording.derivation[name])), ("=",))
        if width(equation) <= _LONG and not _has_numbers(equation):
            formula = equation
    return Annotated(formula, wording.shape(wording.derivation.value(name)), "under")


def _has_numbers(formula: Formula) -> bool:
    return isinstance(formula, MatrixOf | ListOf) or any(map(_has_numbers, children(formula)))
