"""Figures of a derivation: data flows from the inputs at the foot to the output on top; weights as heat maps.

`figure` makes every one of them of layers in which boxes have names, and of arrows between names.

A notation asks for the figure of a note by name.  After the name may come what an as-written note draws differently,
one remark a semicolon: `projections; Q.2 := [2, 2, 1]; weights := per token; rule := q = x w^T`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, groupby, pairwise
from types import MappingProxyType
from typing import Literal

from symattn.derivation.derivation import Derivation, Operand, Step, StepName
from symattn.derivation.mechanisms.descent import is_gradient
from symattn.derivation.ops.attention import Mask, Softmax
from symattn.derivation.ops.gradient import Copy
from symattn.derivation.ops.linear import MatMul, Scale
from symattn.errors import InputError, offered
from symattn.exact import Matrix, Value, compare, decimal_text, has_symbols
from symattn.formula import (
    Annotated,
    Formula,
    ListOf,
    MatrixOf,
    Name,
    Product,
    Relation,
    Row,
    Text,
    contains,
    read_formula,
)
from symattn.formula.width import width
from symattn.foundation.languages import Message, capitalised, message, series
from symattn.page.document import (
    Block,
    Diagram,
    DiagramFrame,
    DiagramLayer,
    Document,
    HeatMap,
    HeatMaps,
    Inlines,
    Math,
    Paragraph,
    Together,
    Words,
    as_text,
    described,
    sentence,
)
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.problem import Problem

Layer = tuple[Mapping[str, Formula], Inlines]
"""Boxes by name, from left to right, and the remark beside them."""

Arrow = tuple[str, str]

_BOX, _GAP = 0.85, 1.0  # em: what a box has round its formula, and what is between two


def figure(
    what: str,
    layers: Sequence[Layer],
    arrows: Iterable[Arrow],
    frames: Iterable[tuple[Iterable[str], str]] = (),
    free: bool = False,
) -> Diagram:
    """Layers from top to bottom, with arrows from box to box and frames round boxes; `what` it shows."""
    place = {name: (i, j) for i, (boxes, _) in enumerate(layers) for j, name in enumerate(boxes)}
    diagram = Diagram(
        tuple(DiagramLayer(tuple(boxes.values()), remark) for boxes, remark in layers),
        tuple(dict.fromkeys((place[start], place[end]) for start, end in arrows)),
        frames=tuple(
            DiagramFrame(tuple(place[name] for name in names if name in place), as_text(label))
            for names, label in frames
        ),
        free=free,
    )
    return described(diagram, what)


def named(wording: Wording, name: str) -> Annotated:
    """A matrix by name, its shape under it."""
    return Annotated(wording.name(name), wording.shape(wording.derivation.value(name)), "under")


# ------------------------------------------------------------------------------------------- the figures of notes


def diagram(spec: str, wording: Wording) -> Diagram:
    """The figure that `spec` asks for: `projections`, or `attention`, which goes on to the scores and weights."""
    kind, *remarks = (part.strip() for part in spec.split(";"))
    changes = dict(part.split(" := ", 1) for part in remarks)
    if kind not in ("projections", "attention"):
        raise InputError(f"There is no figure {kind!r}; {offered(kind, ('projections', 'attention'))}")
    layers, arrows = _projections(wording, changes)
    if kind == "projections":
        what = message("The inputs, the weight matrices, the queries, keys and values of every input")
        return figure(what, layers, arrows)
    steps = _attention_steps(wording.derivation)
    top, remark = layers[0]
    layers[0] = top, (*remark, *_regrouped(wording))
    origins = {role: [name for name in top if name.startswith(f"{role}.")] for role in ("Q", "K", "V")}
    for step in steps:
        arrows += [(origin, step.name) for o in step.operands for origin in origins.get(o.name, [o.name])]
    if steps[-1].role == "Z":
        what = message(
            "The inputs, the weight matrices, the queries, keys and values of every input, the scores, the scaled "
            "scores, the weights that softmax makes of them, and the output"
        )
    else:
        what = message(
            "The inputs, the weight matrices, the queries, keys and values of every input, the scores, the scaled "
            "scores, and the weights that softmax makes of them"
        )
    return figure(what, [*(_layer(step, wording) for step in reversed(steps)), *layers], arrows)


def _projections(wording: Wording, changes: Mapping[str, str]) -> tuple[list[Layer], list[Arrow]]:
    """Every token's inputs, the weights, and its queries, keys and values; in numbers, these stand above the names."""
    derivation = wording.derivation
    inputs = derivation.value("X")
    n, wide = inputs.shape if wording.orientation == "rows" else inputs.shape[::-1]
    if not isinstance(n, int):
        raise InputError("The figure needs a number of tokens, not a letter.")
    roles = [step.name for step in derivation if step.name in ("Q", "K", "V")]
    numbered = all(isinstance(derivation.value(name), Matrix) for name in (*roles, "X"))
    weights: dict[str, Formula] = {}
    arrows: list[Arrow] = []
    products, tokens = list[str](), [f"X.{t}" for t in range(1, n + 1)]
    for t, token in enumerate(tokens, 1):
        shown = [token, _in_numbers(token)] if numbered else [token]
        for role in roles:
            weight, name = f"W_{role}", wording.name(f"W_{role}")
            if changes.get("weights") == "per token":
                weight, name = f"{weight}.{t}", _with_index(name, t)
            weights[weight] = name
            products.append(f"{role}.{t}")
            arrows += pairwise([f"input {t}", *shown, weight, products[-1]])
    rule = changes.get("rule")
    rules = read_formula(rule) if rule else Row(tuple(wording.equation(derivation[role]) for role in roles))
    rows, columns = derivation.value(f"W_{roles[0]}").shape
    products_in_numbers, tokens_in_numbers = list[Layer](), list[Layer]()
    if numbered:
        each = f"[{n} × [{len(roles)} × (1, {derivation.value(roles[0]).shape[1]})]]"
        products_in_numbers = [(_numbers_of(products, wording, changes), as_text(changes.get("products", each)))]
        tokens_in_numbers = [(_numbers_of(tokens, wording, changes), as_text(f"[{n} × (1, {wide})]"))]
        arrows += [(name, _in_numbers(name)) for name in products]
    layers = [
        *products_in_numbers,
        ({name: wording.name(name) for name in products}, as_text(rules)),
        (weights, as_text(f"[{len(roles)} × ({rows}, {columns})]")),
        *tokens_in_numbers,
        ({name: wording.name(name) for name in tokens}, ()),
        ({f"input {t}": Text(message("Input {number}", number=t)) for t in range(1, n + 1)}, ()),
    ]
    return layers, arrows


def _in_numbers(name: str) -> str:
    """The box with the numbers of what has a box by name."""
    return f"{name} ="


def _numbers_of(names: Iterable[str], wording: Wording, changes: Mapping[str, str]) -> dict[str, Formula]:
    """The rows of some tokens in numbers, or as a note has them."""
    boxes = {}
    for name in names:
        role, token = name.split(".")
        own = read_formula(changes[name]) if name in changes else wording.values(wording.token(role, int(token)))
        boxes[_in_numbers(name)] = own
    return boxes


def _with_index(name: Formula, t: int) -> Formula:
    if isinstance(name, Name):
        return replace(name, sub=(*name.sub, Text(str(t))))
    return Product((name, Text(str(t))))


def _regrouped(wording: Wording) -> Inlines:
    """How the remark goes on: the rows of every token are those of three matrices."""
    shapes = {wording.derivation.value(role).shape for role in ("Q", "K", "V")}
    return tuple(Words(f" = [3 × ({n} × {wide})]") for n, wide in shapes) if len(shapes) == 1 else ()


def _attention_steps(derivation: Derivation) -> list[Step]:
    """The steps from the scores to the output whose operands the figure has, in order."""
    known, steps = {"Q", "K", "V"}, list[Step]()
    for step in derivation:
        drawn = step.role in ("S", "S'", "M", "A", "A_rounded", "Z")
        if drawn and known >= {operand.name for operand in step.operands}:
            known.add(step.name)
            steps.append(step)
    if not steps:
        raise InputError("The figure of attention needs its scores as one matrix, not token by token.")
    return steps


def _layer(step: Step, wording: Wording) -> Layer:
    """A step by its rule, with what it does and its shape beside it."""
    does: Inlines = ()
    if isinstance(step.op, Scale):
        does = sentence("Normalize by {divisor}", divisor=step.op.symbol(wording.notation.style))
    elif isinstance(step.op, Softmax) or step.role == "Z":
        does = as_text("Softmax" if isinstance(step.op, Softmax) else "weights times values")
    gap = as_text("  ") if does else ()
    return {step.name: wording.equation(step)}, (*does, *gap, Math(wording.shape(step.result)))


# ---------------------------------------------------------------------------------------- the computation graph

_LAYERS = 10  # that fit on a page over one another
_PAGE = 43.3  # em: the width of a page
_ROOM = 1.5  # a layer may be so much wider than a page, and is made smaller then
_LONGEST_RULE = 13.0  # em: a rule above this is left out


def graph(wording: Wording) -> list[Block]:
    """The whole graph, every matrix with its shape; one that is too large for a page in parts, each with what it takes
    over."""
    parts = list(_parts(wording))
    if len(parts) == 1:
        return [_part(wording, parts[0], message("The computation graph"))]
    drawn: list[Block] = []
    for number, steps in enumerate(parts, 1):
        first, last = (Math(wording.name(step.name)) for step in (steps[0], steps[-1]))
        lead = sentence(
            "Part {part} of {count}: from {first} to {last}.", part=number, count=len(parts), first=first, last=last
        )
        what = message("The computation graph, part {part} of {count}", part=number, count=len(parts))
        drawn.append(Together((Paragraph(lead), _part(wording, steps, what))))
    return drawn


def _parts(wording: Wording) -> Iterable[Sequence[Step]]:
    """The steps in parts that fit on a page: all in one; else cut between sections, and between layers."""
    steps = wording.derivation.steps
    groups: list[Sequence[Step]] = [steps]
    if max((_width(_boxes(wording, layer)) for layer in _layered(steps)), default=0) > _ROOM * _PAGE:
        groups = [tuple(group) for _, group in groupby(steps, lambda step: step.section)]
    for group in groups:
        level = _levels(group)
        highest = max(level.values(), default=1)
        count = -(-highest // _LAYERS)
        for k in range(count):
            low, high = (round(highest * end / count) for end in (k, k + 1))
            yield tuple(step for step in group if low < level[step.name] <= high)


def _levels(steps: Sequence[Step]) -> dict[str, int]:
    """The longest path, in steps, from what these steps start from to each of them: 1 for the first ones."""
    heights: dict[str, int] = {}
    for step in steps:
        heights[step.name] = 1 + max((heights.get(operand.name, 0) for operand in step.operands), default=0)
    return heights


def _layered(steps: Sequence[Step]) -> list[list[str]]:
    """The names in every layer, the last results first: what is taken over stands right below its first use."""
    level = _levels(steps)
    used: dict[str, int] = {}
    for step in steps:
        for operand in step.operands:
            if operand.name not in level:
                used[operand.name] = min(used.get(operand.name, level[step.name]), level[step.name])
    places = {name: first - 1 for name, first in used.items()} | level
    return [[name for name in places if places[name] == i] for i in range(max(places.values(), default=0), -1, -1)]


def _part(wording: Wording, steps: Sequence[Step], what: str) -> Diagram:
    """Names with shapes, and with the rule by which they come about, where the page is wide enough for that."""
    own = {step.name for step in steps}
    layers: list[Layer] = []
    for names in _layered(steps):
        with_rules = _boxes(wording, names, own)
        layers.append((with_rules if _width(with_rules) < _PAGE else _boxes(wording, names), ()))
    return figure(what, layers, ((o.name, step.name) for step in steps for o in step.operands), free=True)


def _width(boxes: Mapping[str, Formula]) -> float:
    return sum(width(box) + _BOX + _GAP for box in boxes.values())


def _boxes(wording: Wording, names: Iterable[str], by_rule: Set[str] = frozenset()) -> dict[str, Formula]:
    """Names with shapes, some of them with their rules, where these are short and hold no numbers."""
    boxes: dict[str, Formula] = {}
    for name in names:
        boxes[name] = box = named(wording, name)
        equation = wording.equation(wording.derivation[name]) if name in by_rule else None
        if equation and width(equation) <= _LONGEST_RULE and not contains(equation, MatrixOf, ListOf):
            boxes[name] = replace(box, body=equation)
    return boxes


# --------------------------------------------------------------------------------------------------- attention

_BESIDE, _AROUND = 36.0, 2.1  # em: the width of a page beside remarks, and what a box has round its formula
_LONG = 14.0  # em: of a box with numbers or letters
_MOST = 4  # dot products or heads that are drawn side by side; of more, the first ones and the last
_ROLES = ("Q", "K", "V")


def dot_products(wording: Wording) -> list[Block]:
    """The first query, all keys, and arrows from both to every score of the first row."""
    step, query, key = _scores(wording)
    asked, keys = (wording.derivation.seen(operand.name) for operand in (query, key))
    if not (isinstance(asked, Matrix) and isinstance(keys, Matrix)):
        raise InputError("Dot products are drawn with numbers or letters in every place; here only shapes are known.")
    count = keys.shape[1 if wording.orientation == "columns" else 0]
    chosen = [*range(_MOST - 1), count - 1] if count > _MOST else range(count)
    row = step.token - 1 if step.token else 0
    scores: dict[str, Formula] = {}
    for j in chosen:
        at = (j, 0) if key is step.operands[0] else (0, j)
        score = wording.entry(step.name, *at)
        value = step.result[at] if isinstance(step.result, Matrix) else None
        scores[f"S{j}"] = score if value is None else _short((score, wording.number(value)))
    layers: list[Layer] = [
        (scores, as_text(wording.equation(step))),
        ({f"K{j}": _with_numbers(wording, key.name, j + 1) for j in chosen}, as_text("keys")),
        ({"Q": _with_numbers(wording, query.name, row + 1)}, as_text("query")),
    ]
    what = message(
        "Every score of query {query} is its dot product with one of {count} keys", query=row + 1, count=count
    )
    return [figure(what, layers, ((start, f"S{j}") for j in chosen for start in (f"K{j}", "Q")))]


def _scores(wording: Wording) -> tuple[Step, Operand, Operand]:
    """The step of the scores, its queries and its keys."""
    for step in wording.derivation:
        if step.stem == "S" and isinstance(step.op, MatMul):
            one, two = step.operands
            keys_first = wording.orientation == "columns"
            if step.token:  # K qᵀ where a notation has it so
                keys_first = StepName.of(one.name).stem.startswith("K")
            return (step, two, one) if keys_first else (step, one, two)
    raise InputError("There are no scores S = Q Kᵀ here, so there are no dot products to draw.")


def _with_numbers(wording: Wording, name: str, i: int) -> Formula:
    """One token's row (or column, laid down) by name and with what stands in it."""
    matrix = wording.derivation.seen(name)
    own = (matrix.T if wording.orientation == "columns" else matrix).row(i - 1)
    return _short((wording.row(name, i), wording.values(own)))


def _short(parts: tuple[Formula, Formula]) -> Formula:
    """A name = what it stands for; the name alone, where that is long."""
    equation = Relation(parts, ("=",))
    return equation if width(equation) <= _LONG else parts[0]


def heads(wording: Wording) -> list[Block]:
    """Split, attention in every head, side by side, W^O: for every layer that has heads."""
    weights = [step for step in wording.derivation if step.stem == "A" and StepName.of(step.name).head]
    places = list(dict.fromkeys(StepName.of(step.name).place for step in weights))
    if not places:
        raise InputError("There are no heads here; multi-head attention has them.")
    return [_heads(wording, place) for place in places]


def _heads(wording: Wording, place: str) -> Diagram:
    """The heads of one layer, from the inputs at the foot to the output."""
    at = f"^{place}" if place else ""
    of = {step.name: StepName.of(step.name) for step in wording.derivation}
    names = {*wording.derivation.givens, *of}
    count = max(name.head or 0 for name in of.values() if name.stem == "A" and name.place == place)
    parts = _parts_of_heads(wording, names, count, at)
    title, of_all = _SOME_HEADS if len(parts) < count else _ALL_HEADS
    rows: list[tuple[Sequence[str], Inlines]] = [
        ([f"O{at}"], _rule_of_heads(wording, f"O{at}")),
        ([f"C{at}", f"W_O{at}"], _rule_of_heads(wording, f"C{at}")),
        ([f"Z_{i}{at}" for i in parts], as_text("weights times values")),
        ([f"A_{i}{at}" for i in parts], as_text("softmax of the scores")),
        ([*chain(*parts.values())], as_text("each head's own part")),
        ([f"{role}{at}" for role in _ROLES], as_text(of_all)),
        (["X", "E"], ()),
    ]
    layers = [(own, remark) for row, remark in rows if (own := [name for name in row if name in names])]
    level = {name: i for i, (row, _) in enumerate(layers) for name in row}
    without = {name for name, own in of.items() if own.head and own.head not in parts and name not in level}
    return figure(
        message(title, count=count),
        [({name: named(wording, name) for name in row}, remark) for row, remark in layers],
        _contracted(wording, level, without),
        [((f"Z_{i}{at}", f"A_{i}{at}", *own), _frame_of_head(i, parts)) for i, own in parts.items()],
    )


_ALL_HEADS = "Multi-head attention with {count} heads", "of all heads"
_SOME_HEADS = (
    "Multi-head attention with {count} heads, here the first and the last",
    "of all heads, here the first and the last",
)
"""The title, and what stands beside the queries, keys and values of all heads together."""


def _parts_of_heads(wording: Wording, names: Collection[str], count: int, at: str) -> dict[int, list[str]]:
    """The queries, keys and values of each head; where a page has no room for all, of the first ones and the last."""
    parts: dict[int, list[str]] = {}
    for most in range(_MOST, 1, -1):
        shown = [*range(1, most), count] if count > most else range(1, count + 1)
        parts = {i: [name for role in _ROLES if (name := f"{role}_{i}{at}") in names] for i in shown}
        if sum(width(named(wording, name)) + _AROUND for name in chain(*parts.values())) < _BESIDE:
            break
    return parts


def _frame_of_head(head: int, shown: Collection[int]) -> Message:
    return message("Head {head}" if head == 1 or head - 1 in shown else "… Head {head}", head=head)


def _rule_of_heads(wording: Wording, name: str) -> Inlines:
    if name not in wording.derivation:
        return ()
    rule = wording.equation(wording.derivation[name])
    return as_text(rule) if width(rule) <= _LONG else as_text("the heads side by side")


def _contracted(wording: Wording, level: Mapping[str, int], without: Collection[str]) -> Iterator[Arrow]:
    """Arrows upwards between the matrices with a level, 0 on top, for what leads from one to another `without` some."""
    origins: dict[str, dict[str, None]] = {name: {name: None} for name in wording.derivation.givens if name in level}
    for step in wording.derivation:
        if step.name in without:
            continue
        sources = {origin: None for operand in step.operands for origin in origins.get(operand.name, {})}
        if step.name in level:
            yield from ((origin, step.name) for origin in sources if level[origin] > level[step.name])
            sources = {step.name: None}
        origins[step.name] = sources


# ------------------------------------------------------------------------------------------------ whole layers


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
    count = max((int(place) for step in derivation if (place := StepName.of(step.name).place).isdecimal()), default=1)
    sublayers = _sublayers([step for step in derivation if StepName.of(step.name).place in ("", "1") or count == 1])
    sources = {name: named(wording, name) for name in ("X", "E", "Z") if name in derivation.givens}
    layers: list[Layer] = [(sources, ())]
    origin = {name: name for name in sources}
    arrows: list[Arrow] = []
    for number, sublayer in enumerate(sublayers, 1):
        box, own = f"sublayer {number}", {step.name for step in sublayer.steps}
        for operand in (operand for step in sublayer.steps for operand in step.operands):
            name = operand.name if operand.name in origin else f"{StepName.of(operand.name).stem}^1"
            if name not in own and name in origin:  # what a later block gives leaves the one that is drawn
                arrows.append((origin[name], box))
        layers.insert(0, ({box: _box(sublayer, wording)}, _remark(sublayer, wording)))
        origin |= dict.fromkeys(own, box)
    if count == 1:
        return [figure(message("A block with its residuals"), layers, arrows)]
    first = [f"sublayer {k}" for k, one in enumerate(sublayers, 1) if StepName.of(one.last.name).place == "1"]
    return [figure(message("A stack of {count} blocks", count=count), layers, arrows, [(first, f"× {count}")])]


def _residual(step: Step) -> bool:
    return step.stem in ("R1", "R2", "R3")


def _sublayers(steps: Sequence[Step]) -> list[_Sublayer]:
    """Steps in a row that are of the same kind; what is only copied is left out, unless it is the whole result."""
    sublayers: list[_Sublayer] = []
    for step in steps:
        if isinstance(step.op, Copy) and step.name != "Y":
            continue
        called = StepName.of(step.name)
        stem = called.stem.partition("_")[0]  # N1 of N1_mean
        if _residual(step):
            own = _Sublayer("residual", step.name, (step,))
        elif stem in ("N1", "N2", "N3", "Y"):
            own = _Sublayer("norm", stem + called.place, (step,))
        elif stem in ("H", "F"):
            own = _Sublayer("feed-forward", "", (step,))
        else:
            own = _Sublayer("attention", called.place, (step,))
        if sublayers and (sublayers[-1].kind, sublayers[-1].name) == (own.kind, own.name):
            sublayers[-1] = replace(sublayers[-1], steps=(*sublayers[-1].steps, step))
        else:
            sublayers.append(own)
    return sublayers


def _box(sublayer: _Sublayer, wording: Wording) -> Formula:
    if sublayer.kind == "attention":
        return Text(_attention(sublayer))
    if sublayer.kind == "feed-forward":
        return Text("Feed-forward network")
    if sublayer.kind == "norm" and not isinstance(sublayer.last.op, Copy):
        return Text("Root mean square norm" if any("_ms" in s.name for s in sublayer.steps) else "Layer norm")
    return wording.equation(sublayer.last)


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


_POSITIONS = 5


def recurrence(wording: Wording) -> list[Block]:
    """States that wait for one another, beside attention, in which every position sees every other one at once."""
    states = [step.token for step in wording.derivation if step.stem == "H" and step.token]
    if not states or "X" not in wording.derivation:
        raise InputError("There are no states h_1, h_2, … here, so there is no recurrence; recurrent_network has them.")
    n = min(len(states), _POSITIONS)
    positions = range(1, n + 1)

    def row(*roles: str) -> Layer:
        """Of the network and of attention, which has inputs of its own in the figure."""
        return {f"{side}{role}{t}": wording.row(role, t) for side, role in enumerate(roles) for t in positions}, ()

    arrows = [(f"0X{t}", f"0H{t}") for t in positions]
    arrows += [(f"0H{t}", f"0H{t + 1}") for t in positions[:-1]]
    arrows += [(f"1X{j}", f"1Z{t}") for t in positions for j in positions]
    layers = [row("H", "Z"), row("X", "X")]
    labels = (message("Recurrence: up to {count} steps", count=n), message("Attention: 1 step"))
    frames = (
        ([name for boxes, _ in layers for name in boxes if name.startswith(str(side))], label)
        for side, label in enumerate(labels)
    )
    what = message("A recurrent network beside attention, with {count} positions each", count=n)
    return [figure(what, layers, arrows, frames)]


# --------------------------------------------------------------------------------------------- weights in pictures

BOUNDS = (Fraction(1, 5), Fraction(2, 5), Fraction(7, 10))
"""Level 0 of a heat map is exactly 0; 1 to 4 are parted by these."""

_PLACES = 2
_SIGNS = 4  # of a fraction that is written in a cell


def level(weight: Value) -> int:
    """The level of a weight: 0 for exactly 0, else one more than the number of bounds below it."""
    return 0 if weight == 0 else 1 + sum(compare(bound, weight) < 0 for bound in BOUNDS)


def weights(wording: Wording) -> list[Block]:
    """The weights of every head, side by side; what was worked out token by token is put together again."""
    maps = tuple(weight_maps(wording))
    if not maps:
        raise InputError("There are no weights in numbers here, so there is no heat map to draw.")
    return [HeatMaps(maps)]


def weight_maps(wording: Wording) -> Iterator[tuple[Inlines, HeatMap]]:
    """A heat map of every matrix of weights, under its name, that lies as the matrix does."""
    columns = wording.orientation == "columns"
    groups: dict[str, list[tuple[Value, ...]]] = {}  # the weights of every query
    for step in wording.derivation:
        if step.stem == "A" and isinstance(step.result, Matrix):
            groups.setdefault(step.role, []).extend((step.result.T if columns else step.result).rows)
    for role, rows in groups.items():
        if len({len(row) for row in rows}) == 1 and not any(has_symbols(x) for row in rows for x in row):
            yield as_text(wording.name(role)), _heat_map(list(zip(*rows, strict=True)) if columns else rows, wording)


def _heat_map(rows: list[tuple[Value, ...]], wording: Wording) -> HeatMap:
    words = tuple(tuple(map(_number, row)) for row in rows)
    said = series(message("row {row}: {weights}", row=i, weights=", ".join(row)) for i, row in enumerate(words, 1))
    labels = (wording.notation.named("Q").row, wording.notation.named("K").row)
    down, across = labels if wording.orientation == "rows" else labels[::-1]
    return HeatMap(
        tuple(tuple(map(level, row)) for row in rows),
        message("The weights as a heat map, from 0, white, to 1, black. {rows}.", rows=capitalised(said)),
        row_labels=tuple(wording.read(down, i=i + 1) for i in range(len(rows))),
        column_labels=tuple(wording.read(across, i=j + 1) for j in range(len(rows[0]))),
        words=words,
    )


def _number(weight: Value) -> str:
    """A weight in a few signs: 0, 1/3, 0.27."""
    text = str(weight)
    return text if isinstance(weight, int | Fraction) and len(text) <= _SIGNS else decimal_text(weight, _PLACES)


# ----------------------------------------------------------------------------------------- what can be asked for

DIAGRAMS: Mapping[str, Callable[[Wording], list[Block]]] = MappingProxyType(
    {
        "graph": graph,
        "dot-products": dot_products,
        "weights": weights,
        "heads": heads,
        "blocks": blocks,
        "recurrence": recurrence,
    }
)
"""By the name of `symattn derive … --diagram=KIND`; an `InputError` says why a derivation has no such figure."""

_DEFAULT = {
    "multi_head_attention": "heads",
    "encoder_block": "blocks",
    "encoder_block_gradient": "blocks",
    "decoder_block": "blocks",
    "encoder": "blocks",
    "recurrent_network": "recurrence",
}


def default_diagram(problem: Problem) -> list[Block]:
    """The figure that a derivation begins with: of mechanisms that are put together of others, an overview.

    A note as it was written has what it has.
    """
    kind = _DEFAULT.get(problem.mechanism)
    if kind is None or not problem.corrected:
        return []
    try:
        return _drawn(problem, kind)
    except InputError:  # with a single head there are no heads to show
        return []


def diagram_document(problem: Problem, kind: str = "graph") -> Document:
    """One figure of a problem as a document of its own; `InputError` where there is no such figure."""
    if kind not in DIAGRAMS:
        raise InputError(f"There is no diagram {kind!r}; {offered(kind, DIAGRAMS)}")
    return Document(problem.title, tuple(_drawn(problem, kind)))


def _drawn(problem: Problem, kind: str) -> list[Block]:
    """One figure; the way back is drawn in the graph of the computation alone, the others are of the forward pass."""
    d = problem.derivation
    if kind != "graph":
        d = replace(d, steps=tuple(step for step in d if not is_gradient(step)))
    return DIAGRAMS[kind](Wording(d, problem.notation))
