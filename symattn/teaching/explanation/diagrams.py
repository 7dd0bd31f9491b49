"""Bottom-up data-flow figures of a derivation: inputs below, weights above them, then Q, K, V, the scores, the output.

A notation asks for one by name. After the name may come what an as-written note draws differently, one remark a
semicolon: `projections; Q.2 := [2, 2, 1]; weights := per token; rule := q = x w^T`.
"""

from __future__ import annotations

from dataclasses import replace

from symattn.derivation.derivation import Derivation, Step
from symattn.derivation.ops import Scale, Softmax
from symattn.errors import InputError, offered
from symattn.exact import Matrix
from symattn.formula import Formula, Name, Product, Relation, Row, Text, read_formula
from symattn.foundation.languages import message
from symattn.page.document import Diagram, DiagramLayer, Inlines, Math, Words, sentence
from symattn.page.figure_words import described
from symattn.teaching.explanation.wording import Wording

Edge = tuple[tuple[int, int], tuple[int, int]]


def diagram(spec: str, wording: Wording) -> Diagram:
    """The figure that `spec` asks for: `projections`, or `attention`, which goes on to the scores and weights."""
    kind, *remarks = (part.strip() for part in spec.split(";"))
    changes = dict(part.split(" := ", 1) for part in remarks)
    if kind not in ("projections", "attention"):
        raise InputError(f"There is no figure {kind!r}; {offered(kind, ('projections', 'attention'))}")
    layers, edges = _projections(wording, changes)
    if kind == "projections":
        what = message("The inputs, the weight matrices, the queries, keys and values of every input")
        return described(Diagram(tuple(layers), tuple(edges), ""), what)
    steps = _attention_steps(wording.derivation)
    shift = len(steps)
    layers[0] = _regrouped(layers[0], wording)
    edges = [((a + shift, i), (b + shift, j)) for (a, i), (b, j) in edges]
    roles = _roles(wording.derivation) * (len(layers[0].boxes) // len(_roles(wording.derivation)))
    places = {role: [(shift, j) for j, own in enumerate(roles) if own == role] for role in roles}
    for k, step in enumerate(steps):
        places[step.name] = [(shift - 1 - k, 0)]
        edges += [(place, places[step.name][0]) for operand in step.operands for place in places[operand.name]]
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
    above = [_layer(step, wording) for step in reversed(steps)]
    return described(Diagram((*above, *layers), tuple(edges), ""), what)


def _projections(wording: Wording, changes: dict[str, str]) -> tuple[list[DiagramLayer], list[Edge]]:
    derivation = wording.derivation
    inputs = derivation.value("X")
    n, width = inputs.shape if wording.orientation == "rows" else inputs.shape[::-1]
    if not isinstance(n, int):
        raise InputError("The figure needs a number of tokens, not a letter.")
    roles = _roles(derivation)
    r = len(roles)
    per_token = changes.get("weights") == "per token"
    weights = [wording.name(f"W_{role}") for role in roles]
    if per_token:
        weights = [_with_index(name, t) for t in range(1, n + 1) for name in weights]
    numbered = all(isinstance(derivation.value(name), Matrix) for name in (*roles, "X"))
    rule = changes.get("rule")
    rules = read_formula(rule) if rule else Row(tuple(_rule(wording, role) for role in roles))
    q, w = derivation.value(roles[0]), derivation.value(f"W_{roles[0]}")
    products = [(role, t) for t in range(1, n + 1) for role in roles]
    tokens = [("X", t) for t in range(1, n + 1)]
    layers = [
        DiagramLayer(_names(wording, products), (Math(rules),)),
        DiagramLayer(tuple(weights), (Words(f"[{r} × ({w.shape[0]}, {w.shape[1]})]"),)),
        DiagramLayer(_names(wording, tokens)),
        DiagramLayer(tuple(Text(message("Input {number}", number=t)) for t in range(1, n + 1))),
    ]
    edges: list[Edge] = []
    for t in range(n):
        edges.append(((3, t), (2, t)))
        for k in range(r):
            weight = t * r + k if per_token else k
            edges += [((2, t), (1, weight)), ((1, weight), (0, t * r + k))]
    if not numbered:
        return layers, list(dict.fromkeys(edges))
    layers.insert(2, DiagramLayer(_numbers(wording, tokens, changes), (Words(f"[{n} × (1, {width})]"),)))
    counted = changes.get("products", f"[{n} × [{r} × (1, {q.shape[1]})]]")
    layers.insert(0, DiagramLayer(_numbers(wording, products, changes), (Words(counted),)))
    moved = {0: 1, 1: 2, 2: 4, 3: 5}
    shifted: list[Edge] = []
    for (low, i), (high, j) in dict.fromkeys(edges):
        if (low, high) == (2, 1):  # the numbers of an input stand between its name and the weights
            shifted += [((4, i), (3, i)), ((3, i), (2, j))]
        else:
            shifted.append(((moved[low], i), (moved[high], j)))
    shifted += [((1, i), (0, i)) for i in range(len(products))]
    return layers, list(dict.fromkeys(shifted))


def _roles(derivation: Derivation) -> list[str]:
    """Q, K and V in the order in which they are worked out."""
    return [step.name for step in derivation if step.name in ("Q", "K", "V")]


def _names(wording: Wording, rows: list[tuple[str, int]]) -> tuple[Formula, ...]:
    return tuple(wording.row(role, t) for role, t in rows)


def _numbers(wording: Wording, rows: list[tuple[str, int]], changes: dict[str, str]) -> tuple[Formula, ...]:
    return tuple(
        read_formula(changes[f"{role}.{t}"]) if f"{role}.{t}" in changes else wording.values(wording.token(role, t))
        for role, t in rows
    )


def _regrouped(layer: DiagramLayer, wording: Wording) -> DiagramLayer:
    """The remark goes on: the rows of every token are those of three matrices."""
    shapes = {wording.derivation.value(role).shape for role in ("Q", "K", "V")}
    if len(shapes) != 1:
        return layer
    ((n, width),) = shapes
    return replace(layer, remark=(*layer.remark, Words(f" = [3 × ({n} × {width})]")))


def _rule(wording: Wording, role: str) -> Formula:
    return Relation((wording.name(role), wording.rule(wording.derivation[role])), ("=",))


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


def _layer(step: Step, wording: Wording) -> DiagramLayer:
    """A step by its rule, with what it does and its shape beside it."""
    rule = Relation((wording.name(step.name), wording.rule(step)), ("=",))
    return DiagramLayer((rule,), (*_operation(step, wording), Math(wording.shape(step.result))))


def _operation(step: Step, wording: Wording) -> Inlines:
    if isinstance(step.op, Scale):
        return (*sentence("Normalize by {divisor}", divisor=step.op.symbol(wording.notation.style)), Words("  "))
    words = "Softmax" if isinstance(step.op, Softmax) else "weights times values" if step.role == "Z" else ""
    return (Words(words), Words("  ")) if words else ()


def _with_index(name: Formula, t: int) -> Formula:
    if isinstance(name, Name):
        return Name(name.base, (*name.sub, Text(str(t))), name.sup, name.primes, name.hat)
    return Product((name, Text(str(t))))
