"""No key leaves without having been recomputed by a second route.

The first route is the derivation itself, in exact arithmetic, matrix by matrix.  The second one works the same steps
out in binary floating point with formulas of its own, and attention besides token by token, exactly.  They must agree.
"""

from __future__ import annotations

import cmath
import math
import struct
from collections.abc import Callable, Iterable, Sequence

from symattn.derivation.derivation import Derivation, Floats, Step
from symattn.derivation.ops import (
    Activation,
    ActivationGradient,
    Add,
    Copy,
    CrossEntropyGradient,
    Hadamard,
    Interleave,
    Mask,
    MatMul,
    NormGradient,
    Padded,
    Part,
    ProductSum,
    PutTogether,
    Round,
    Scale,
    SoftCapGradient,
    Softmax,
    SoftmaxGradient,
    SoftmaxJacobian,
    Spread,
    SpreadEvenly,
    Stack,
    SumOver,
    Total,
    Transpose,
)
from symattn.derivation.ops.arithmetic import (
    Divide,
    DivisorGradient,
    Exponential,
    Opposite,
    SquareRoot,
    Subtract,
    ToFloat,
)
from symattn.derivation.ops.cache import Append
from symattn.derivation.ops.jacobian import InfinityNorm, Slope
from symattn.derivation.ops.loss import CrossEntropy
from symattn.derivation.ops.normalisation import Mean, MeanSquare, Rescale, Standardise, Variance
from symattn.derivation.ops.online import Accumulate, Exponentials, RunningMaximum
from symattn.derivation.ops.position import (
    Angle,
    Degrees,
    Direction,
    Frequency,
    Multiple,
    Radians,
    Rotate,
    RotateBack,
    Sinusoids,
)
from symattn.derivation.ops.positional import Positional
from symattn.derivation.ops.scores import Bias, FeatureMap, Hardmax, Over, OverSum, SoftCap, Temperature
from symattn.errors import InputError, SelfCheckError
from symattn.exact import (
    NEGATIVE_INFINITY,
    Matrix,
    Outline,
    Value,
    decide,
    decimal_text,
    exponential,
    has_symbols,
    is_symbolic,
    power,
)
from symattn.exact.intervals import interval_ring

TOLERANCE = 1e-9


def self_check(derivation: Derivation) -> None:
    """Raise `SelfCheckError` if the second route gives anything else.  Symbols and shapes alone are not checked."""
    for step in derivation:
        operands = [operand.of(derivation.seen(operand.name)) for operand in step.operands]
        if step.pinned or any(isinstance(m, Outline) or _has_symbols(m) for m in (*operands, step.result)):
            continue
        result = step.result
        assert isinstance(result, Matrix)
        try:
            again = _route(step)([_floats(m) for m in operands if isinstance(m, Matrix)], step)
        except OverflowError as error:
            raise InputError(
                f"Step {step.name!r} has numbers beyond 10^308, which are too large to be computed a second time."
            ) from error
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
    if not {"A", "Z"} <= names or "A_rounded" in names:
        return
    softmax, last = d["A"], d["Z"]
    if not isinstance(softmax.op, Softmax) or not isinstance(last.op, MatMul):
        return
    mixed_in = last.operands[1 if softmax.op.along == "rows" else 0]
    scores, values, output = d.seen(softmax.operands[0].name), mixed_in.of(d.seen(mixed_in.name)), last.result
    if not all(isinstance(m, Matrix) for m in (scores, values, output)):
        return
    if any(map(_has_symbols, (scores, values))):
        return
    assert isinstance(scores, Matrix) and isinstance(values, Matrix) and isinstance(output, Matrix)
    if any(map(is_symbolic, scores)):  # beyond the exact numbers equality is seldom proved, and seeking long
        return
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
    return ROUTES.get(type(step.op), _by_witness)


def _by_witness(m: list[Floats], step: Step) -> Floats:
    again = step.op.witness(*m)
    if again is None:
        raise SelfCheckError(
            f"Step {step.name!r}: {type(step.op).__name__} has no second way to its numbers (its method `witness`), "
            "and no key is written that was worked out only once."
        )
    return again


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
        if max(scores) == -math.inf:  # nothing is seen
            return [0.0] * len(scores)
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
    functions: dict[str, Callable[[float], float]] = {
        "identity": lambda x: x,
        "relu": lambda x: x if x > 0 else 0.0,
        "gelu": lambda x: x * math.erfc(-x / math.sqrt(2)) / 2,
        "gelu_tanh": lambda x: x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2,
        "silu": lambda x: x * (1 + math.tanh(x / 2)) / 2,
        "sigmoid": lambda x: (1 + math.tanh(x / 2)) / 2,
        "tanh": math.tanh,
    }
    if step.op.name.lower() in functions:
        return [[functions[step.op.name.lower()](x) for x in row] for row in m[0]]
    raise SelfCheckError(f"The activation {step.op.name!r} has no second route.")


def _slope(m: list[Floats], step: Step) -> Floats:
    assert isinstance(step.op, Slope)
    slopes: dict[str, Callable[[float], float]] = {
        "tanh": lambda h: (1 - h) * (1 + h),
        "sigmoid": lambda h: 0.25 - (h - 0.5) ** 2,
        "relu": lambda h: 1.0 if h > 0 else 0.0,
    }
    return [[slopes[step.op.function](h) for h in row] for row in m[0]]


def _cross_entropy(m: list[Floats], step: Step) -> Floats:
    """By the logarithm of one product of powers: −ln Π p^t."""
    assert isinstance(step.op, CrossEntropy)
    p, t = m if step.op.along == "rows" else ([list(column) for column in zip(*x, strict=True)] for x in m)
    losses = [
        -math.log(math.prod(x**y for x, y in zip(row, wanted, strict=True))) for row, wanted in zip(p, t, strict=True)
    ]
    return [[x] for x in losses] if step.op.along == "rows" else [losses]


def _norm(m: list[Floats], step: Step) -> Floats:
    assert isinstance(step.op, InfinityNorm)
    lines = m[0] if step.op.along == "rows" else _transpose(m, step)
    return [[max(math.fsum(map(abs, line)) for line in lines)]]


def _cap(m: list[Floats], step: Step) -> Floats:
    assert isinstance(step.op, SoftCap)
    cap = _float(step.op.cap)
    return [[cap * math.tanh(x / cap) for x in row] for row in m[0]]


def _bias(m: list[Floats], step: Step) -> Floats:
    """What is added, by the distance of query and key for ALiBi, and as it is stated for a mask."""
    assert isinstance(step.op, Bias)
    added = _floats(step.op.values)
    if step.op.slope is not None:
        slope, ahead = _float(step.op.slope), len(m[0][0]) - len(m[0])
        added = [[-slope * abs(ahead + i - j) for j in range(len(row))] for i, row in enumerate(m[0])]
    return [[x + y for x, y in zip(row, other, strict=True)] for row, other in zip(m[0], added, strict=True)]


def _by_line(weights: Callable[[list[float]], list[float]]) -> Route:
    """Weights of the visible scores of each row or column; the others get 0."""

    def line(scores: Sequence[float]) -> list[float]:
        found = iter(weights([x for x in scores if x > -math.inf]))
        return [next(found) if x > -math.inf else 0.0 for x in scores]

    def route(m: list[Floats], step: Step) -> Floats:
        assert isinstance(step.op, OverSum | Hardmax)
        if step.op.along == "rows":
            return [line(row) for row in m[0]]
        return _transpose([[line(column) for column in _transpose(m, step)]], step)

    return route


def _largest(scores: list[float]) -> list[float]:
    won = [_close(x, max(scores)) for x in scores]
    return [w / sum(won) for w in won]


def _features(m: list[Floats], step: Step) -> Floats:
    assert isinstance(step.op, FeatureMap)
    maps: dict[str, Callable[[float], float]] = {
        "elu+1": lambda x: max(x, 0.0) + math.exp(min(x, 0.0)),
        "relu": lambda x: (x + abs(x)) / 2,
        "square": lambda x: x**2,
        "identity": lambda x: x,
    }
    return [[maps[step.op.feature](x) for x in row] for row in m[0]]


def _maxima(m: list[Floats], step: Step) -> Floats:
    assert isinstance(step.op, RunningMaximum)
    rows = m if step.op.along == "rows" else [_transpose([x], step) for x in m]
    maxima = [[max(map(max, lines))] for lines in zip(*rows, strict=True)]
    return maxima if step.op.along == "rows" else _transpose([maxima], step)


def _exponentials(m: list[Floats], step: Step) -> Floats:
    """b^(x − m); nothing for what is hidden, also where everything is."""
    assert isinstance(step.op, Exponentials)
    rate = 1.0 if step.op.base == "e" else math.log(_float(step.op.base))
    powers = _broadcast(lambda x, m: 0.0 if math.isinf(x) else math.exp(rate * (x - m)))
    return powers(m, step)


def _exponential(m: list[Floats], step: Step) -> Floats:
    assert isinstance(step.op, Exponential)
    base = math.e if step.op.base == "e" else _float(step.op.base)
    return [[0.0 if math.isinf(x) else base**x for x in row] for row in m[0]]


def _to_float(m: list[Floats], step: Step) -> Floats:
    """What rounding may give: a number that survives being packed in so many bytes, as near as its neighbours allow."""
    assert isinstance(step.op, ToFloat) and isinstance(step.result, Matrix)
    own = step.op.format
    code = {"float16": "<e", "float64": "<d"}.get(own.name, "<f")

    def fits(r: float, x: float) -> bool:
        if math.isinf(r) or math.isinf(x):
            return r == x or (r < 0 and x < -6e4)
        packed = struct.pack(code, r)
        short = own.name != "bfloat16" or packed[:2] == b"\0\0"
        step_to_next = math.ulp(max(abs(x), 2.0**own.least)) * 2.0 ** (53 - own.digits)
        return short and struct.unpack(code, packed)[0] == r and abs(r - x) <= step_to_next / 2 * (1 + TOLERANCE)

    rounded = _floats(step.result)
    return [
        [r if fits(r, x) else math.nan for r, x in zip(row, other, strict=True)]
        for row, other in zip(rounded, m[0], strict=True)
    ]


def _back_through_quotient(m: list[Floats], step: Step) -> Floats:
    gradient, quotient, divisor = m
    products = [[-g * y for g, y in zip(*rows, strict=True)] for rows in zip(gradient, quotient, strict=True)]
    return _broadcast(lambda x, y: x / y)([products, divisor], step)


def _positional(m: list[Floats], step: Step) -> Floats:
    """The formula of every entry in intervals, which know nothing of exact values."""
    assert isinstance(step.op, Positional)
    ring, op = interval_ring(20), step.op
    rows = [[float(ring(op.tree(p, j)).low) for j in range(op.width)] for p in op.positions]
    return rows if step.op.tokens == "rows" else _transpose([rows], step)


def _accumulate(m: list[Floats], step: Step) -> Floats:
    factors, old, new = m
    kept = _broadcast(lambda x, y: x * y)([factors, old], step)
    return [[x + y for x, y in zip(row, more, strict=True)] for row, more in zip(kept, new, strict=True)]


def _turn(angle: Angle, position: int) -> complex:
    """e^(ipθ)."""
    if isinstance(angle, Frequency):
        return cmath.rect(1, position * _float(angle.base) ** (-angle.above / angle.below))
    if isinstance(angle, Radians):
        return cmath.rect(1, position * float(angle.radians))
    if isinstance(angle, Degrees):
        return cmath.rect(1, position * math.radians(angle.degrees))
    assert isinstance(angle, Direction)
    return cmath.rect(1, position * math.atan2(_float(angle.sine), _float(angle.cosine)))


def _sinusoids(m: list[Floats], step: Step) -> Floats:
    op = step.op
    assert isinstance(op, Sinusoids)
    turns = [[_turn(angle, p) for angle in op.angles] for p in op.positions]
    if op.layout == "pairs":
        rows = [[x for z in row for x in (z.imag, z.real)] for row in turns]
    else:
        rows = [[*(z.imag for z in row), *(z.real for z in row)] for row in turns]
    return rows if op.tokens == "rows" else _transpose([rows], step)


def _rotate(m: list[Floats], step: Step) -> Floats:
    """Each pair as a complex number times e^(ipθ), or times e^(−ipθ) where it is turned back."""
    op = step.op
    assert isinstance(op, Rotate)
    direction = -1 if isinstance(op, RotateBack) else 1
    rows: Floats = []
    for p, row in zip(op.positions, m[0] if op.tokens == "rows" else _transpose(m, step), strict=True):
        half = len(row) // 2
        ends = (row[::2], row[1::2]) if op.layout == "pairs" else (row[:half], row[half:])
        pairs = zip(*ends, strict=True)
        turned = [complex(*pair) * _turn(angle, direction * p) for pair, angle in zip(pairs, op.angles, strict=True)]
        if op.layout == "pairs":
            rows.append([x for z in turned for x in (z.real, z.imag)])
        else:
            rows.append([*(z.real for z in turned), *(z.imag for z in turned)])
    return rows if op.tokens == "rows" else _transpose([rows], step)


def _multiple(m: list[Floats], step: Step) -> Floats:
    assert isinstance(step.op, Multiple)
    factor = _float(step.op.factor)
    return [[factor * x for x in row] for row in m[0]]


def _jacobian(m: list[Floats], step: Step) -> Floats:
    """The covariances of one draw with these probabilities."""
    (a,) = m[0] if isinstance(step.op, SoftmaxJacobian) and step.op.along == "rows" else _transpose(m, step)
    return [[a[i] * (i == j) - a[i] * a[j] for j in range(len(a))] for i in range(len(a))]


def _back_through_softmax(m: list[Floats], step: Step) -> Floats:
    """Σ_k a_i·a_k·(g_i − g_k), since weights sum to 1, times the logarithm of the base."""
    op = step.op
    assert isinstance(op, SoftmaxGradient)
    rate = 1.0 if op.base == "e" else math.log(_float(op.base))
    weights, gradient = m if op.along == "rows" else (_transpose([x], step) for x in m)
    pairs = [list(zip(row, back, strict=True)) for row, back in zip(weights, gradient, strict=True)]
    rows = [[rate * math.fsum(a * b * (g - h) for b, h in row) for a, g in row] for row in pairs]
    return rows if op.along == "rows" else _transpose([rows], step)


def _back_through_function(m: list[Floats], step: Step) -> Floats:
    """Derivatives in closed form; of tanh and of the sigmoid by their values."""
    assert isinstance(step.op, ActivationGradient)

    def logistic(x: float) -> float:
        return (1 + math.tanh(x / 2)) / 2

    def bell(x: float) -> float:
        return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)

    def gelu_tanh(x: float) -> float:
        rate = math.sqrt(2 / math.pi)
        t = math.tanh(rate * (x + 0.044715 * x**3))
        return (1 + t) / 2 + x * (1 - t * t) * rate * (1 + 3 * 0.044715 * x * x) / 2

    slopes: dict[str, Callable[[float], float]] = {
        "relu": lambda x: 1.0 if x > 0 else 0.0,
        "gelu": lambda x: math.erfc(-x / math.sqrt(2)) / 2 + x * bell(x),
        "gelu_tanh": gelu_tanh,
        "silu": lambda x: logistic(x) + x * logistic(x) * logistic(-x),
        "sigmoid": lambda y: 0.25 - (y - 0.5) ** 2,
        "tanh": lambda y: (1 - y) * (1 + y),
    }
    slope = slopes[step.op.name]
    return [[g * slope(x) for g, x in zip(*rows, strict=True)] for rows in zip(*m, strict=True)]


def _back_through_cap(m: list[Floats], step: Step) -> Floats:
    assert isinstance(step.op, SoftCapGradient)
    cap = _float(step.op.cap)
    return [[g * (cap - y) * (cap + y) / cap**2 for g, y in zip(*rows, strict=True)] for rows in zip(*m, strict=True)]


def _back_through_norm(m: list[Floats], step: Step) -> Floats:
    """Each row times its Jacobian, entry by entry."""
    op = step.op
    assert isinstance(op, NormGradient)
    gradient, normed, variance = m if op.over == "columns" else (_transpose([x], step) for x in m)
    rows: Floats = []
    for back, row, (v,) in zip(gradient, normed, variance, strict=True):
        size, centred = len(row), op.kind != "rms"
        share = size - (op.kind == "sample")
        jacobian = [[(i == j) - centred / size - x * y / share for j, y in enumerate(row)] for i, x in enumerate(row)]
        root = math.sqrt(v + _float(op.epsilon))
        rows.append([math.fsum(g * x for g, x in zip(back, line, strict=True)) / root for line in jacobian])
    return rows if op.over == "columns" else _transpose([rows], step)


def _back_through_loss(m: list[Floats], step: Step) -> Floats:
    assert isinstance(step.op, CrossEntropyGradient)
    return [[(p - t) / step.op.tokens for p, t in zip(*rows, strict=True)] for rows in zip(*m, strict=True)]


def _padded(m: list[Floats], step: Step) -> Floats:
    """Every entry of the result looked up, or 0."""
    op = step.op
    assert isinstance(op, Padded)
    found = dict(zip(op.part.indices, m[0] if op.part.of == "rows" else _transpose(m, step), strict=True))
    width = len(next(iter(found.values())))
    rows = [found.get(i, [0.0] * width) for i in range(op.size)]
    return rows if op.part.of == "rows" else _transpose([rows], step)


def _spread(m: list[Floats], step: Step) -> Floats:
    """The product with a column of ones, or of shares."""
    op = step.op
    assert isinstance(op, Spread)
    count = step.result.shape[0 if op.over == "rows" else 1]
    assert isinstance(count, int)
    share = 1 / count if isinstance(op, SpreadEvenly) else 1.0
    (row,) = m[0] if op.over == "rows" else _transpose(m, step)
    rows = [[share * x for x in row] for _ in range(count)]
    return rows if op.over == "rows" else _transpose([rows], step)


def _product_sum(m: list[Floats], step: Step) -> Floats:
    """What stands on the diagonal of a product of matrices."""
    assert isinstance(step.op, ProductSum)
    a, b = m if step.op.over == "columns" else (_transpose([x], step) for x in m)
    sums = [[math.fsum(x * y for x, y in zip(row, other, strict=True))] for row, other in zip(a, b, strict=True)]
    return sums if step.op.over == "columns" else _transpose([sums], step)


def _interleave(m: list[Floats], step: Step) -> Floats:
    assert isinstance(step.op, Interleave)
    if step.op.along == "columns":
        return [[x for group in zip(*rows, strict=True) for x in group] for rows in zip(*m, strict=True)]
    return [row for rows in zip(*m, strict=True) for row in rows]


def _moments(m: list[Floats], step: Step) -> Floats:
    """Means of lines, their mean squares, and variances by pairs of entries (about any mean: Steiner's theorem)."""
    op = step.op
    assert isinstance(op, Mean | Variance | MeanSquare)
    lines, *means = m if op.over == "columns" else (_transpose([x], step) for x in m)
    found = []
    for k, line in enumerate(lines):
        size = len(line)
        if isinstance(op, Variance):
            pairs = math.fsum((x - y) ** 2 for i, x in enumerate(line) for y in line[:i]) / size
            off = math.fsum(line) / size - means[0][k][0]
            found.append((pairs + size * off**2) / (size - (op.of == "sample")))
        else:
            found.append(math.fsum(x if isinstance(op, Mean) else x * x for x in line) / size)
    return [[x] for x in found] if op.over == "columns" else [found]


def _normed(m: list[Floats], step: Step) -> Floats:
    """What is standardised or rescaled; the deviation is a power of the variance."""
    assert isinstance(step.op, Standardise | Rescale)
    epsilon = _float(step.op.epsilon)
    deviations = _broadcast(lambda x, mean: x - mean)(m[:2], step) if len(m) == 3 else m[0]
    return _broadcast(lambda x, v: x * (v + epsilon) ** -0.5)([deviations, m[-1]], step)


ROUTES: dict[type, Route] = {
    SoftmaxJacobian: _jacobian,
    SoftmaxGradient: _back_through_softmax,
    ActivationGradient: _back_through_function,
    SoftCapGradient: _back_through_cap,
    NormGradient: _back_through_norm,
    CrossEntropyGradient: _back_through_loss,
    ProductSum: _product_sum,
    Padded: _padded,
    Spread: _spread,
    SpreadEvenly: _spread,
    Total: lambda m, step: [[math.fsum(xs) for xs in zip(*rows, strict=True)] for rows in zip(*m, strict=True)],
    Interleave: _interleave,
    PutTogether: _stack,
    Copy: lambda m, step: m[0],
    MatMul: _matmul,
    Transpose: _transpose,
    Add: _broadcast(lambda x, y: x + y),
    Hadamard: _broadcast(lambda x, y: x * y),
    Scale: _scale,
    Mask: _mask,
    Softmax: _softmax,
    Temperature: _scale,
    SoftCap: _cap,
    Bias: _bias,
    OverSum: _by_line(lambda scores: [x / math.fsum(scores) for x in scores]),
    Hardmax: _by_line(_largest),
    FeatureMap: _features,
    Over: _broadcast(lambda x, y: x / y),
    SumOver: _sum,
    Stack: _stack,
    Part: _part,
    Round: _round,
    Activation: _activation,
    Mean: _moments,
    Variance: _moments,
    MeanSquare: _moments,
    Standardise: _normed,
    Rescale: _normed,
    Append: _stack,
    RunningMaximum: _maxima,
    Exponentials: _exponentials,
    Accumulate: _accumulate,
    Subtract: _broadcast(lambda x, y: x - y),
    Divide: _broadcast(lambda x, y: x / y),
    Opposite: lambda m, step: [[0.0 - x for x in row] for row in m[0]],
    Exponential: _exponential,
    SquareRoot: lambda m, step: [[math.sqrt(x) for x in row] for row in m[0]],
    ToFloat: _to_float,
    DivisorGradient: _back_through_quotient,
    Positional: _positional,
    Sinusoids: _sinusoids,
    Rotate: _rotate,
    RotateBack: _rotate,
    Multiple: _multiple,
    Slope: _slope,
    InfinityNorm: _norm,
    CrossEntropy: _cross_entropy,
}
