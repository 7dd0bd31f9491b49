"""No key leaves without having been recomputed by a second route.

The first route is the derivation itself, in exact arithmetic, matrix by matrix.  The second one works the same steps
out in binary floating point with formulas of its own, and attention besides token by token, exactly.  They must agree.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from symattn.derivation import Derivation, Step
from symattn.errors import SelfCheckError
from symattn.exact import (
    NEGATIVE_INFINITY,
    Matrix,
    Outline,
    Value,
    decide,
    decimal_text,
    exponential,
    has_symbols,
    power,
)
from symattn.ops import Activation, Add, Hadamard, Mask, MatMul, Part, Round, Scale, Softmax, Stack, SumOver, Transpose

Floats = list[list[float]]
TOLERANCE = 1e-9


def self_check(derivation: Derivation) -> None:
    """Raise `SelfCheckError` if the second route gives anything else.  Symbols and shapes alone are not checked."""
    for step in derivation:
        operands = [operand.of(derivation.seen(operand.name)) for operand in step.operands]
        if step.pinned or any(isinstance(m, Outline) or _has_symbols(m) for m in (*operands, step.result)):
            continue
        result = step.result
        assert isinstance(result, Matrix)
        again = _route(step)([_floats(m) for m in operands if isinstance(m, Matrix)], step)
        for i, (row, other) in enumerate(zip(result.rows, again, strict=True), 1):
            for j, (x, y) in enumerate(zip(row, other, strict=True), 1):
                if not _close(_float(x), y):
                    raise SelfCheckError(
                        f"Step {step.name!r}, entry ({i}, {j}): the key says {x}, a second computation {y!r}. "
                        "Nothing was written; please report this."
                    )
    _by_token(derivation)


def _by_token(d: Derivation) -> None:
    """Z once more, exactly, from the scores alone: z_ic · Σ_j e^s_ij = Σ_j e^s_ij v_jc, with no division and no A."""
    names = {s.name for s in d}
    if not {"A", "Z"} <= names or "V" not in d or "A_rounded" in names:
        return
    softmax, last = d["A"], d["Z"]
    scores, values, output = d.seen(softmax.operands[0].name), d.seen("V"), last.result
    if not all(isinstance(m, Matrix) for m in (scores, values, output)) or not isinstance(softmax.op, Softmax):
        return
    if any(map(_has_symbols, (scores, values))) or not isinstance(last.op, MatMul):
        return
    assert isinstance(scores, Matrix) and isinstance(values, Matrix) and isinstance(output, Matrix)
    if softmax.op.along == "columns":
        scores, values, output = scores.T, values.T, output.T
    base = softmax.op.base
    for i, row in enumerate(scores.rows):
        visible = [(j, x) for j, x in enumerate(row) if x is not NEGATIVE_INFINITY]
        powers = [(j, exponential(x) if base == "e" else power(base, x)) for j, x in visible]
        total = _sum_of(p for _, p in powers)
        for c in range(values.shape[1]):
            mixed = _sum_of(p * values[j, c] for j, p in powers)
            if decide(mixed, output[i, c] * total).equal is False:
                raise SelfCheckError(f"Output ({i + 1}, {c + 1}) differs when it is worked out for its token alone.")


def _sum_of(terms: Iterable[Value]) -> Value:
    total: Value = 0
    for term in terms:
        total = total + term
    return total


def _has_symbols(matrix: object) -> bool:
    return isinstance(matrix, Matrix) and any(map(has_symbols, matrix))


def _floats(matrix: Matrix) -> Floats:
    return [[_float(x) for x in row] for row in matrix.rows]


def _float(x: Value) -> float:
    if x is NEGATIVE_INFINITY:
        return -math.inf
    return float(x) if isinstance(x, int) else float(decimal_text(x, 18))


def _close(x: float, y: float) -> bool:
    if math.isinf(x) or math.isinf(y):
        return x == y
    return abs(x - y) <= TOLERANCE * max(1.0, abs(x), abs(y))


Route = Callable[[list[Floats], Step], Floats]


def _route(step: Step) -> Route:
    return _ROUTES[type(step.op)]


def _matmul(m: list[Floats], step: Step) -> Floats:
    a, b = m
    return [[math.fsum(x * b[k][j] for k, x in enumerate(row)) for j in range(len(b[0]))] for row in a]


def _transpose(m: list[Floats], step: Step) -> Floats:
    return [list(column) for column in zip(*m[0], strict=True)]


def _broadcast(combine: Callable[[float, float], float]) -> Route:
    def route(m: list[Floats], step: Step) -> Floats:
        a, b = m
        rows, columns = max(len(a), len(b)), max(len(a[0]), len(b[0]))
        return [
            [
                combine(a[i % len(a)][j % len(a[0])], b[i % len(b)][j % len(b[0])])
                for j in range(columns)
            ]
            for i in range(rows)
        ]  # fmt: skip

    return route


def _scale(m: list[Floats], step: Step) -> Floats:
    assert isinstance(step.op, Scale)
    return [[x / _float(step.op.divisor) for x in row] for row in m[0]]


def _mask(m: list[Floats], step: Step) -> Floats:
    assert isinstance(step.op, Mask)
    return [
        [x if seen else -math.inf for x, seen in zip(row, kept, strict=True)]
        for row, kept in zip(m[0], step.op.keep, strict=True)
    ]


def _softmax(m: list[Floats], step: Step) -> Floats:
    assert isinstance(step.op, Softmax)
    rate = 1.0 if step.op.base == "e" else math.log(_float(step.op.base))

    def line(scores: Sequence[float]) -> list[float]:
        shifted = [rate * s if s > -math.inf else s for s in scores]
        log_total = max(shifted) + math.log(math.fsum(math.exp(s - max(shifted)) for s in shifted))
        return [math.exp(s - log_total) for s in shifted]

    if step.op.along == "columns":
        return [list(row) for row in zip(*(line(column) for column in zip(*m[0], strict=True)), strict=True)]
    return [line(row) for row in m[0]]


def _sum(m: list[Floats], step: Step) -> Floats:
    assert isinstance(step.op, SumOver)
    if step.op.over == "columns":
        return [[math.fsum(row)] for row in m[0]]
    return [[math.fsum(column) for column in zip(*m[0], strict=True)]]


def _stack(m: list[Floats], step: Step) -> Floats:
    assert isinstance(step.op, Stack)
    if step.op.along == "columns":
        return [[x for part in parts for x in part] for parts in zip(*m, strict=True)]
    return [row for matrix in m for row in matrix]


def _part(m: list[Floats], step: Step) -> Floats:
    assert isinstance(step.op, Part)
    stop = step.op.start + step.op.count * step.op.step
    lines = m[0] if step.op.of == "rows" else _transpose(m, step)
    kept = lines[step.op.start : stop : step.op.step]
    return kept if step.op.of == "rows" else _transpose([kept], step)


def _round(m: list[Floats], step: Step) -> Floats:
    """What rounding may give: so many places, no further off than the rule allows, sums kept where it keeps them."""
    assert isinstance(step.op, Round) and isinstance(step.result, Matrix)
    unit = 10.0**-step.op.places
    reach = unit / 2 if step.op.method == "nearest" else unit
    rounded, exact = _floats(step.result), m[0]
    if step.op.along == "columns":
        rounded, exact = _transpose([rounded], step), _transpose([exact], step)
    again: Floats = []
    for row, other in zip(rounded, exact, strict=True):
        kept = step.op.method != "largest-remainder" or _close(math.fsum(row), math.fsum(other))
        fits = [
            kept
            and (r == x or abs(r - x) <= reach * (1 + TOLERANCE))
            and (math.isinf(r) or abs(r / unit - round(r / unit)) < 1e-6)
            and (step.op.method != "truncate" or abs(r) <= abs(x) + TOLERANCE)
            for r, x in zip(row, other, strict=True)
        ]
        again.append([r if fit else math.nan for r, fit in zip(row, fits, strict=True)])
    return _transpose([again], step) if step.op.along == "columns" else again


def _activation(m: list[Floats], step: Step) -> Floats:
    assert isinstance(step.op, Activation)
    if step.op.name == "identity":
        return m[0]
    if step.op.name.lower() == "relu":
        return [[x if x > 0 else 0.0 for x in row] for row in m[0]]
    raise SelfCheckError(f"The activation {step.op.name!r} has no second route.")


_ROUTES: dict[type, Route] = {
    MatMul: _matmul,
    Transpose: _transpose,
    Add: _broadcast(lambda x, y: x + y),
    Hadamard: _broadcast(lambda x, y: x * y),
    Scale: _scale,
    Mask: _mask,
    Softmax: _softmax,
    SumOver: _sum,
    Stack: _stack,
    Part: _part,
    Round: _round,
    Activation: _activation,
}
