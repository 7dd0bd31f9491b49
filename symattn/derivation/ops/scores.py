"""What may be done to scores besides scaling, masking and softmax: temperature, soft cap, bias, other weights.

And what linear attention has in their place: a feature map of queries and keys, and one division at the end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction as Ratio
from functools import cmp_to_key, reduce
from operator import add
from types import MappingProxyType
from typing import Literal, NamedTuple, Self

from symattn.derivation.algebra import FORMULAS, Algebra, Entries, Index, Positive, T, index
from symattn.derivation.derivation import (
    Convention,
    Floats,
    Pull,
    RuleOp,
    Shape,
    Signs,
    Step,
    Style,
    Use,
    View,
    convention,
)
from symattn.derivation.numpy_source import assigned, factor
from symattn.derivation.ops.attention import Empty, normalised, range_of_weights
from symattn.derivation.ops.entrywise import FUNCTIONS, ActivationGradient, Divide, relu
from symattn.derivation.ops.linear import Hadamard, Multiple, Scale
from symattn.derivation.ops.lines import LineOp, LineRuleOp
from symattn.derivation.sizes import Axis
from symattn.derivation.windows import (
    NOTHING,
    RING,
    UNIT,
    Box,
    Window,
    at_least_0,
    constant,
    each,
    over,
    point,
    square,
    tanh_slope,
    times,
)
from symattn.derivation.witnesses import as_float, as_floats, close, entrywise
from symattn.errors import InputError, ShapeError, UndefinedError
from symattn.exact import (
    Matrix,
    Size,
    Value,
    compare,
    divide,
    exponential,
    from_sympy,
    has_symbols,
    power,
    sign,
    to_sympy,
)
from symattn.exact.intervals import ZERO
from symattn.exact.sums import shares, total
from symattn.exact.values import is_zero_for_sure
from symattn.formula import (
    ONE,
    Call,
    Dots,
    Formula,
    Fraction,
    ListOf,
    MatrixOf,
    Name,
    Negative,
    Number,
    Power,
    Product,
    Sum,
    equal,
    number,
)

Feature = Literal["elu+1", "relu", "square", "identity"]


@dataclass(frozen=True)
class Temperature(Scale):
    """Scores over the temperature τ: a high one makes weights even, a low one makes them hard (Hinton et al. 2015)."""

    of: str = "τ"
    title = "Temperature"

    def conventions(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        return [convention("Scores are divided by the temperature {temperature}.", temperature=self._stated(signs))]

    def in_brief(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        return [convention("{temperature}", temperature=self._stated(signs))]

    def _stated(self, signs: Signs) -> Formula:
        """τ = 2, or the letter that it is called here."""
        return equal(Name(self.of), signs.number(self.divisor)) if self.of else signs.number(self.divisor)


@dataclass(frozen=True)
class LogitTemperature(Temperature):
    """The same of logits: probabilities of the next word for sampling (Holtzman et al. 2020, section 2.2)."""

    def conventions(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        return [convention("Logits are divided by the temperature {temperature}.", temperature=self._stated(signs))]


@dataclass(frozen=True)
class SoftCap(RuleOp):
    """c·tanh(s/c), which keeps every score between −c and c (Gemma 2: Gemma Team 2024, section 2)."""

    cap: Positive
    title = "Soft cap"
    shows_factors = False
    by_hand = True
    ends_in_decimals = True

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        cap = A.number(self.cap)
        return A.product(cap, A.apply("tanh", A.quotient(operands[0][i, j], cap)))

    def pull(self, use: Use) -> Pull:
        return Pull((use.g, use.result), SoftCapGradient(self.cap))

    def witness(self, *operands: Floats) -> Floats:
        cap = as_float(self.cap)
        return entrywise(lambda x: cap * math.tanh(x / cap), *operands)

    def written(self, style: Style, *operands: Formula) -> Formula:
        cap = number(self.cap)
        return Product((cap, Call(Name("tanh"), (Fraction(operands[0], cap),))), "·")

    def numpy(self, *operands: str) -> str:
        cap = factor(self.cap)
        return f"{cap} * np.tanh({operands[0]} / {cap})"

    def conventions(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        score = Name("s")
        capped = self.written(signs.style, score)
        return [convention("The soft cap turns each score {score} into {capped}.", capped=capped, score=score)]


@dataclass(frozen=True)
class Bias(RuleOp):
    """A fixed matrix added to the scores, entry by entry: a mask with finite values, or ALiBi's distances.

    `slope` is that of ALiBi, none for a mask.
    """

    values: Matrix
    slope: Value | None = None

    @property
    def title(self) -> str:
        return "Mask" if self.slope is None else "Bias"

    @property
    def _name(self) -> str:
        return "mask" if self.slope is None else "bias"

    def shape(self, *shapes: Shape) -> Shape:
        if shapes[0] != self.values.shape:
            rows, columns = self.values.shape
            raise ShapeError(f"the {self._name} is {rows}×{columns} and must fit the scores;")
        return shapes[0]

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        if isinstance(i, str) or isinstance(j, str):
            return A.sum(operands[0][i, j], A.named(self._name, i, j))
        return A.sum(operands[0][i, j], A.number(self.values[i, j]))

    def turn(self) -> Self:
        return replace(self, values=self.values.T)

    def pull(self, use: Use) -> Pull:
        return Pull((use.g,))

    def witness(self, *operands: Floats) -> Floats:
        """What is added, by the distance of query and key for ALiBi, and as it is stated for a mask."""
        added = as_floats(self.values)
        if self.slope is not None:
            slope, (rows, columns) = as_float(self.slope), self.values.shape
            added = [[-slope * abs(columns - rows + i - j) for j in range(columns)] for i in range(rows)]
        return entrywise(add, *operands, added)

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Sum((operands[0], Name(self._name)))

    def numpy(self, *operands: str) -> str:
        return f"{operands[0]} + {self._name}"

    def numpy_above(self) -> tuple[str, ...]:
        return (assigned(self._name, self.values),)

    def matrix(self) -> MatrixOf:
        """The matrix itself as it is written."""
        return MatrixOf(tuple(tuple(map(number, row)) for row in self.values.rows))

    def own_matrix(self, style: Style) -> tuple[Name, MatrixOf]:
        return Name(self._name), replace(self.matrix(), bracket=style.bracket)

    def factors(self, style: Style, *matrices: Formula) -> Formula:
        return Sum((*matrices, self.own_matrix(style)[1]))

    def conventions(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        if self.slope is None:
            return [convention("The mask is added to the scores.")]
        return _stated_slopes([step.op.slope for step in steps if isinstance(step.op, Bias)], signs)


@dataclass(frozen=True)
class AlibiInLetters(RuleOp):
    """ALiBi's bias where a size is a letter: s_ij − slope·|i + keys − queries − j| (Press et al. 2022, section 3)."""

    slope: Value
    title = "Bias"

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        rows, columns = operands[0].rows, operands[0].columns
        ahead = [] if rows.size == columns.size else [A.size(columns), A.negative(A.size(rows))]
        distance = A.apply("abs", A.sum(A.index(i), *ahead, A.negative(A.index(j))))
        return A.minus(operands[0][i, j], A.product(A.number(self.slope), distance))

    def pull(self, use: Use) -> Pull:
        return Pull((use.g,))

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Sum((operands[0], Name("bias")))

    def numpy(self, *operands: str) -> str:
        (s,) = operands
        places = f"np.subtract.outer(np.arange({s}.shape[0]), np.arange({s}.shape[1])) + {s}.shape[1] - {s}.shape[0]"
        return f"{s} - {factor(self.slope)} * np.abs({places})"

    def conventions(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        return _stated_slopes([step.op.slope for step in steps if isinstance(step.op, AlibiInLetters)], signs)


def _stated_slopes(slopes: Sequence[Value | None], signs: Signs) -> Sequence[Convention]:
    numbers = ListOf(tuple(signs.number(slope) for slope in slopes if slope is not None), "", ",")
    return [convention(_SLOPES, slopes=numbers) if numbers.items[1:] else convention(_SLOPE, slope=numbers)]


def alibi(slope: Value, rows: Size, columns: Size) -> Bias | AlibiInLetters:
    """−slope·|i − j| for query i and key j (Press et al. 2022, section 3); the last query belongs to the last key.

    The paper has causal models, where no key is later; a later one is as far away as an earlier one here.
    """
    if isinstance(rows, str) or isinstance(columns, str):
        return AlibiInLetters(slope)
    ahead = columns - rows
    return Bias(Matrix.of([-slope * abs(i + ahead - j) for j in range(columns)] for i in range(rows)), slope)


def alibi_slope(head: int, heads: int) -> Value:
    """2^(−8k/h) for head k of h, a power of two (Press et al. 2022, section 3).

    Between two powers of two, p and 2p, the first p heads have the slopes of p heads, and the others the first, third,
    fifth, … of 2p heads, as in the paper's released code.
    """
    lower = 1 << (heads.bit_length() - 1)
    if head <= lower:
        return power(2, divide(-8 * head, lower))
    return power(2, divide(-8 * (2 * (head - lower) - 1), 2 * lower))


# ---------------------------------------------------------------------------------------------- weights


@dataclass(frozen=True)
class OverSum(LineRuleOp):
    """Every score over the sum of its row (or column); what is hidden counts nothing and gets 0.

    No exponentials, so that negative scores give negative weights; undefined where the sum is 0.
    """

    along: Axis = "rows"
    empty: Empty = "undefined"
    shows_factors = False
    by_hand = True
    ends_in_decimals = True
    weighs = True
    in_numpy = "shares({0}{op.helper_axis})"
    says = (
        "A weight is its score divided by the sum of its row; no powers are taken.",
        "A weight is its score divided by the sum of its column; no powers are taken.",
    )
    in_short = "Weights: score over sum, by rows", "Weights: score over sum, by columns"

    @property
    def title(self) -> str:
        return "Divided by the row sum" if self.along == "rows" else "Divided by the column sum"

    def values_of_rows(self, *operands: Matrix) -> Matrix:
        return normalised(operands[0], self.line, self.empty, self._shares)

    def _shares(self, scores: Sequence[Value]) -> list[Value]:
        if is_zero_for_sure(total(scores)):
            raise UndefinedError("the scores add up to 0, and nothing can be divided by that.")
        return shares(scores)

    def rule_of_rows(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        (s,) = operands
        if A.hidden(s[i, j]):
            return A.number(0)
        return A.quotient(s[i, j], A.total(A.visible(s.columns, lambda k: s[i, k]), lambda k: s[i, k]))

    def pull(self, use: Use) -> Pull:
        return Pull((use.g, use.operand, use.result), OverSumGradient(self.along))

    def witness_of_rows(self, *operands: Floats) -> Floats:
        return [_over_seen(row, lambda seen: [x / math.fsum(seen) for x in seen]) for row in operands[0]]

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Fraction(operands[0], Call(Name("Sum"), operands))

    def range_of_rows(self, *boxes: Box) -> Box:
        """A quotient of linear functions: its extremes over a score and the sum of the others stand at corners."""
        return range_of_weights(boxes[0], self.empty, _over_sum)


@dataclass(frozen=True)
class Hardmax(LineOp):
    """All weight on the largest score of each row (or column), shared equally by those that are tied.

    The limit of the softmax as its temperature goes to 0 (averaging hard attention: Merrill, Sabharwal and Smith,
    Saturated Transformers are Constant-Depth Threshold Circuits, 2022, section 3).
    """

    along: Axis = "rows"
    empty: Empty = "undefined"
    title = "Hardmax"
    shows_factors = False
    weighs = True
    in_numpy = "hardmax({0}{op.helper_axis})"
    says = (
        "The largest score of each row gets the weight 1; ties share it.",
        "The largest score of each column gets the weight 1; ties share it.",
    )
    in_short = "Hardmax by rows, ties share", "Hardmax by columns, ties share"

    def values_of_rows(self, *operands: Matrix) -> Matrix:
        if any(map(has_symbols, operands[0])):
            raise InputError("Which of several scores in letters is the largest is not known; hardmax needs numbers.")
        return normalised(operands[0], self.line, self.empty, self._shares)

    def _shares(self, scores: Sequence[Value]) -> list[Value]:
        largest = max(scores, key=cmp_to_key(compare))
        won = [compare(x, largest) == 0 for x in scores]
        return [divide(1, sum(won)) if w else 0 for w in won]

    def working_of_rows(self, i: Index, j: Index, *operands: View) -> Formula:
        """Component j of the hardmax of row i: hardmax_2(1, 4, 4)."""
        return Call(Name("hardmax", (index(j),)), row_written(i, *operands))

    def witness_of_rows(self, *operands: Floats) -> Floats:
        return [_over_seen(row, _shared_by_largest) for row in operands[0]]

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Call(Name("hardmax"), operands)

    def range_of_rows(self, *boxes: Box) -> Box:
        """1 over the number of those that share the largest score, 0 for the others."""
        return range_of_weights(boxes[0], self.empty, hardmax)


def _over_seen(scores: Sequence[float], weights: Callable[[list[float]], list[float]]) -> list[float]:
    """Weights of the visible scores of a row; the others get 0."""
    seen = iter(weights([x for x in scores if x > -math.inf]))
    return [next(seen) if x > -math.inf else 0.0 for x in scores]


def _shared_by_largest(scores: list[float]) -> list[float]:
    won = [close(x, max(scores)) for x in scores]
    return [w / sum(won) for w in won]


def _over_sum(scores: Sequence[Window]) -> list[Window]:
    def share(i: int) -> Window:
        rest = reduce(RING.add, (s for j, s in enumerate(scores) if j != i), NOTHING)
        if RING.add(scores[i], rest).sign in (0, None):
            raise UndefinedError("The sum may be 0.")
        corners = [RING.divide(point(s), RING.add(point(s), point(r))) for s in scores[i] for r in rest]
        return Window(min(c.low for c in corners), max(c.high for c in corners))

    return list(map(share, range(len(scores))))


def hardmax(scores: Sequence[Window]) -> list[Window]:
    """The ranges of equal shares for the largest."""

    def share(i: int) -> Window:
        others = [s for j, s in enumerate(scores) if j != i]
        tied = [sum(s.low == scores[i].high for s in others), sum(s.high == scores[i].low for s in others)]
        most, least = (RING.number(Ratio(1, 1 + ties)) for ties in tied)
        may_win = all(s.low <= scores[i].high for s in others)
        must_win = all(s.high <= scores[i].low for s in others)
        return Window(least.low if must_win else ZERO, most.high if may_win else ZERO)

    return list(map(share, range(len(scores))))


def row_written(i: Index, a: View) -> tuple[Formula, ...]:
    """The entries of row i; its ends, where it is too long to be written out."""
    size = a.shape[1]
    if isinstance(size, int) and not a.long:
        return tuple(a.entry(i, k) for k in range(size))
    return a.entry(i, 0), Dots(), a.entry(i, size if isinstance(size, str) else size - 1)


# ---------------------------------------------------------------------------------------------- linear attention


def _elu(x: Value) -> Value:
    """x where x > 0, else e^x − 1."""
    if has_symbols(x):
        import sympy

        y = to_sympy(x)
        return from_sympy(sympy.exp(y - sympy.Max(0, y)) - 1 + sympy.Max(0, y))
    return x if sign(x) > 0 else exponential(x) - 1


def _elu_and_one(x: Window) -> Window:
    """x + 1 above 0, e^x below: increasing, and one number at 0."""
    low, high = (RING.add(point(end), UNIT) if end > 0 else RING.exp(point(end)) for end in x)
    return Window(low.low, high.high)


class _Feature(NamedTuple):
    value: Callable[[Value], Value]
    working: Callable[[Formula], Formula]
    numpy: str
    window: Callable[[Window], Window]
    witness: Callable[[float], float]


FEATURES: Mapping[Feature, _Feature] = MappingProxyType(
    {
        "elu+1": _Feature(
            lambda x: _elu(x) + 1,
            lambda x: Sum((Call(Name("elu"), (x,)), ONE)),
            "np.where({0} > 0, {0} + 1, np.exp(np.minimum({0}, 0)))",
            _elu_and_one,
            lambda x: max(x, 0.0) + math.exp(min(x, 0.0)),
        ),
        "relu": _Feature(relu, FUNCTIONS["relu"].working, FUNCTIONS["relu"].numpy, at_least_0, lambda x: max(x, 0.0)),
        "square": _Feature(lambda x: x * x, lambda x: Power(x, Number("2")), "{0}**2", square, lambda x: x**2),
        "identity": _Feature(lambda x: x, lambda x: x, "{0}", lambda x: x, lambda x: x),
    }
)
"""What queries and keys may be mapped by, by its name in settings."""


@dataclass(frozen=True)
class FeatureMap(RuleOp):
    """φ of each entry: elu(x) + 1 (Katharopoulos et al. 2020, section 3.2.1), max(0, x), x² or x itself.

    elu(x) + 1 is x + 1 where x is positive, and e^x elsewhere, so that every feature is positive.
    """

    feature: Feature = "elu+1"
    title = "Feature map"
    brings = "powers"

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        return A.known(FEATURES[self.feature], operands[0][i, j])

    def pull(self, use: Use) -> Pull:
        match self.feature:
            case "elu+1":
                return Pull((use.g, use.result), FeatureGradient())
            case "relu":
                return Pull((use.g, use.operand), ActivationGradient("relu"))
            case "square":
                return Pull((use.g, use.operand), Hadamard(), (Multiple(2),))
        return Pull((use.g,))

    def witness(self, *operands: Floats) -> Floats:
        return entrywise(FEATURES[self.feature].witness, *operands)

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Call(Name("φ"), operands)

    def numpy(self, *operands: str) -> str:
        return FEATURES[self.feature].numpy.format(*operands)

    def range(self, *boxes: Box) -> Box:
        return each(FEATURES[self.feature].window, *boxes)

    def conventions(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        x = Name("x")
        entry: View = Entries((1, 1), lambda i, j: x)
        feature = equal(self.written(Style(), x), self.working(0, 0, entry))
        if self.feature != "elu+1":
            return [convention("The feature map is, entry by entry, {feature}.", feature=feature)]
        above, below = Sum((x, ONE)), Power(Name("e"), x)
        return [convention(_ELU, feature=feature, above=above, argument=x, below=below)]


@dataclass(frozen=True)
class Over(Divide):
    """Each row of the first matrix (n×d) over its own number in the second (n×1), or column over column."""

    along: Axis = "rows"

    def shape(self, *shapes: Shape) -> Shape:
        (rows, columns), divisors = shapes
        if divisors != ((rows, 1) if self.along == "rows" else (1, columns)):
            line = "row" if self.along == "rows" else "column"
            raise ShapeError(f"every {line} of the first needs one divisor of its own;")
        return shapes[0]

    def conventions(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        above, below = map(signs.operand, steps[0].operands)
        return [convention(_DIVIDED[self.along], above=above, below=below)]


# ------------------------------------------------------------------------------------------------ the way back


@dataclass(frozen=True)
class SoftCapGradient(RuleOp):
    """G ⊙ (1 − (y/c)²) for capped scores y = c·tanh(s/c) (each n×m)."""

    cap: Value
    arity = 2
    title = "Back through the soft cap"

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        g, y = operands
        share = A.quotient(y[i, j], A.number(self.cap))
        return A.product(g[i, j], A.minus(A.number(1), A.square(share)))

    def witness(self, *operands: Floats) -> Floats:
        cap = as_float(self.cap)
        return entrywise(lambda g, y: g * (cap - y) * (cap + y) / cap**2, *operands)

    def written(self, style: Style, *operands: Formula) -> Formula:
        g, y = operands
        share = Fraction(y, number(self.cap))
        return Product((g, Sum((ONE, Negative(Product((share, share), "⊙"))))), "⊙")

    def numpy(self, *operands: str) -> str:
        gradient, capped = operands
        return f"{gradient} * (1 - ({capped} / {factor(self.cap)})**2)"

    def range(self, *boxes: Box) -> Box:
        cap = constant(self.cap)
        return each(lambda g, y: times(g, tanh_slope(over(y, cap))), *boxes)


@dataclass(frozen=True)
class OverSumGradient(LineRuleOp):
    """(g − Σ g·a)/Σ s, row by row, for the gradient G of weights A that are scores S over their sums (each n×m).

    What is hidden gets 0.
    """

    along: Axis = "rows"
    arity = 3
    title = "Back through division by the sum"
    shows_factors = False
    by_hand = True
    in_numpy = (
        "np.where({1} > -np.inf, ({0} - ({0} * {2}).sum({op.axis})) / "
        "np.where({1} > -np.inf, {1}, 0).sum({op.axis}), 0)"
    )

    def rule_of_rows(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        g, s, a = operands
        if A.hidden(s[i, j]):
            return A.number(0)
        seen = A.visible(s.columns, lambda k: s[i, k])
        less = A.minus(g[i, j], A.dot(seen, lambda k: g[i, k], lambda k: a[i, k]))
        return A.quotient(less, A.total(seen, lambda k: s[i, k]))

    def written(self, style: Style, *operands: Formula) -> Formula:
        g, s, a = operands
        return Fraction(Sum((g, Negative(Call(Name("Sum"), (Product((g, a), "⊙"),))))), Call(Name("Sum"), (s,)))

    def witness_of_rows(self, *operands: Floats) -> Floats:
        """By the Jacobian ∂a_k/∂s_j = (δ_jk·Σ s − s_k)/(Σ s)²."""
        return [_back_over_sum(g, s) for g, s in zip(*operands[:2], strict=True)]


def _back_over_sum(gradient: Sequence[float], scores: Sequence[float]) -> list[float]:
    seen = {k: s for k, s in enumerate(scores) if s != -math.inf}
    whole = sum(seen.values())
    return [
        sum(gradient[k] * (whole * (j == k) - s) for k, s in seen.items()) / whole**2 if j in seen else 0.0
        for j in range(len(scores))
    ]


@dataclass(frozen=True)
class FeatureGradient(RuleOp):
    """G ⊙ min(1, φ) for the feature map φ = elu(x) + 1, whose derivative is φ itself up to x = 0, then 1."""

    arity = 2
    title = "Back through the feature map"
    by_hand = True
    in_numpy = "{0} * np.minimum(1, {1})"

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        g, phi = operands
        return A.product(g[i, j], A.negative(A.maximum(A.number(-1), A.negative(phi[i, j]))))

    def working(self, i: Index, j: Index, *operands: View) -> Formula:
        g, phi = operands
        return FORMULAS.product(g.entry(i, j), Call(Name("min"), (ONE, phi.entry(i, j))))

    def written(self, style: Style, *operands: Formula) -> Formula:
        g, phi = operands
        return Product((g, Call(Name("min"), (ONE, phi))), "⊙")

    def witness(self, *operands: Floats) -> Floats:
        return [[g if y > 1 else g * y for g, y in zip(*lines, strict=True)] for lines in zip(*operands, strict=True)]


_SLOPE = "ALiBi: the bias is minus the slope times the distance between query and key; the slope is {slope}."
_SLOPES = (
    "ALiBi: the bias is minus the slope times the distance between query and key; the slopes of the heads are {slopes}."
)
_ELU = (
    "The feature map is, entry by entry, {feature}, which is {above} where {argument} is positive, and {below} "
    "elsewhere."
)
_DIVIDED: Mapping[Axis, str] = {
    "rows": "Each row of {above} is divided by its own entry of {below}.",
    "columns": "Each column of {above} is divided by its own entry of {below}.",
}


OPS = {
    "temperature": Temperature,
    "soft_cap": SoftCap,
    "over_sum": OverSum,
    "hardmax": Hardmax,
    "feature_map": FeatureMap,
    "over": Over,
}
