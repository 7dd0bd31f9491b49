"""Figures of attention: one row of dot products, and the heads side by side."""

from __future__ import annotations

from collections.abc import Collection

from symattn.derivation.derivation import Operand, Step, StepName
from symattn.derivation.ops import MatMul
from symattn.errors import InputError
from symattn.exact import Matrix
from symattn.formula import Annotated, Formula, Relation
from symattn.formula.width import width
from symattn.foundation.languages import message
from symattn.page.document import Block, Diagram, DiagramFrame, DiagramLayer, Inlines, Math, Place, Words
from symattn.page.figure_words import described
from symattn.teaching.explanation.wording import Wording

_PAGE, _AROUND = 36.0, 2.1  # em: the width of a page beside remarks, and what a box has round its formula
_LONG = 14.0  # em: of a box with numbers or letters
_MOST = 4  # dot products or heads that are drawn side by side; of more, the first ones and the last


# --- dot products ------------------------------------------------------------------------------------------------


def dot_products(wording: Wording) -> list[Block]:
    """The first query, all keys, and arrows from both to every score of the first row."""
    step, query, key = _scores(wording)
    asked = wording.derivation.seen(query.name)
    keys = wording.derivation.seen(key.name)
    turned = wording.orientation == "columns"
    if not (isinstance(asked, Matrix) and isinstance(keys, Matrix)):
        raise InputError("Dot products are drawn with numbers or letters in every place; here only shapes are known.")
    count = keys.shape[1 if turned else 0]
    chosen = [*range(_MOST - 1), count - 1] if count > _MOST else range(count)
    row = step.token - 1 if step.token else 0
    boxes: list[Formula] = []
    for j in chosen:
        i, column = (j, row) if turned else (0 if step.token else row, j)
        if step.token and turned:
            column = 0
        own = wording.entry(step.name, i, column)
        value = step.result[i, column] if isinstance(step.result, Matrix) else None
        boxes.append(own if value is None else _short((own, wording.number(value))))
    named = [_with_numbers(wording, key.name, j + 1) for j in chosen]
    rule = Relation((wording.name(step.name), wording.rule(step)), ("=",))
    above = DiagramLayer(tuple(boxes), (Math(rule),))
    layers = (above, DiagramLayer(tuple(named), (Words("keys"),)),
              DiagramLayer((_with_numbers(wording, query.name, row + 1),), (Words("query"),)))  # fmt: skip
    edges = [edge for j in range(len(boxes)) for edge in (((1, j), (0, j)), ((2, 0), (0, j)))]
    what = message(
        "Every score of query {query} is its dot product with one of {count} keys", query=row + 1, count=count
    )
    return [described(Diagram(layers, tuple(edges), ""), what)]


def _scores(wording: Wording) -> tuple[Step, Operand, Operand]:
    """The step of the scores, its queries and its keys."""
    for step in wording.derivation:
        if step.stem == "S" and isinstance(step.op, MatMul):
            one, two = step.operands
            return (step, one, two) if wording.orientation == "rows" else (step, two, one)
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


# --- heads ---------------------------------------------------------------------------------------------------


_ROLES = ("Q", "K", "V")


def heads(wording: Wording) -> list[Block]:
    """Split, attention in every head, side by side, W^O: for every layer that has heads."""
    weights = [step for step in wording.derivation if step.stem == "A" and StepName.of(step.name).head]
    places = list(dict.fromkeys(StepName.of(step.name).place for step in weights))
    if not places:
        raise InputError("There are no heads here; multi-head attention has them.")
    return [_heads(wording, place) for place in places]


def _heads(wording: Wording, place: str) -> Diagram:
    """All heads, or as many as fit on a page side by side: the first ones and the last."""
    at = f"^{place}" if place else ""
    steps = wording.derivation.steps
    count = max(StepName.of(s.name).head or 0 for s in steps if s.stem == "A" and StepName.of(s.name).place == place)
    names = {*wording.derivation.givens, *(step.name for step in steps)}
    for most in range(_MOST, 1, -1):
        shown = [*range(1, most), count] if count > most else list(range(1, count + 1))
        own = {i: [name for role in _ROLES if (name := f"{role}_{i}{at}") in names] for i in shown}
        boxes = [named(wording, name) for listed in own.values() for name in listed]
        if sum(width(box) + _AROUND for box in boxes) < _PAGE:
            break
    whole = [name for role in _ROLES if (name := f"{role}{at}") in names]
    ends = [name for name in (f"O{at}", f"C{at}") if name in names]
    some = len(shown) < count
    rows: list[tuple[list[str], Inlines]] = [
        *(([name], _rule(wording, name)) for name in ends),
        ([f"Z_{i}{at}" for i in shown], (Words("weights times values"),)),
        ([f"A_{i}{at}" for i in shown], (Words("softmax of the scores"),)),
        ([name for listed in own.values() for name in listed], (Words("each head's own part"),)),
        (whole, (Words("of all heads, here the first and the last" if some else "of all heads"),)),
        ([name for name in wording.derivation.givens if name in ("X", "E")], ()),
    ]
    rows = [([name for name in row if name in names], remark) for row, remark in rows]
    rows = [(row, remark) for row, remark in rows if row]
    if f"O{at}" in names and f"W_O{at}" in names:
        rows[1][0].append(f"W_O{at}")
    place_of = {name: (i, j) for i, (row, _) in enumerate(rows) for j, name in enumerate(row)}
    frames = tuple(
        DiagramFrame(
            tuple(place_of[name] for name in (f"Z_{i}{at}", f"A_{i}{at}", *listed) if name in place_of),
            (Words(message("Head {head}" if i == 1 or i - 1 in own else "… Head {head}", head=i)),),
        )
        for i, listed in own.items()
    )
    layers = tuple(DiagramLayer(tuple(named(wording, name) for name in row), remark) for row, remark in rows)
    others = {s.name for s in steps if (head := StepName.of(s.name).head) and head not in shown}
    diagram = Diagram(layers, contracted(wording, place_of, others - place_of.keys()), "", frames)
    text = "Multi-head attention with {count} heads"
    if some:
        text = "Multi-head attention with {count} heads, here the first and the last"
    return described(diagram, message(text, count=count))


def _rule(wording: Wording, name: str) -> Inlines:
    step = wording.derivation[name]
    rule = Relation((wording.name(name), wording.rule(step)), ("=",))
    return (Math(rule),) if width(rule) <= _LONG else (Words("the heads side by side"),)


def named(wording: Wording, name: str) -> Formula:
    """A matrix by name, its shape under it."""
    return Annotated(wording.name(name), wording.shape(wording.derivation.value(name)), "under")


def contracted(
    wording: Wording, kept: dict[str, Place], without: Collection[str] = ()
) -> tuple[tuple[Place, Place], ...]:
    """Arrows between the matrices that are kept, for what leads from one to another, but not `without` some."""
    origins: dict[str, dict[str, None]] = {name: {name: None} for name in wording.derivation.givens if name in kept}
    edges: dict[tuple[Place, Place], None] = {}
    for step in wording.derivation:
        if step.name in without:
            continue
        found = {origin: None for operand in step.operands for origin in origins.get(operand.name, {})}
        if step.name in kept:
            edges |= {(kept[origin], kept[step.name]): None for origin in found}
            found = {step.name: None}
        origins[step.name] = found
    return tuple(edge for edge in edges if edge[0][0] > edge[1][0])
