"""Operations on each entry alone: rounding and activations, and arithmetic as programs of one's own need it.

What a gradient needs to go back through these stands beside them.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_DOWN, Decimal
from fractions import Fraction as Ratio
from functools import partial
from operator import sub, truediv
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from symattn.derivation.algebra import Algebra, Base, Entries, Index, T, tanh
from symattn.derivation.derivation import (
    Convention,
    Floats,
    Op,
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
from symattn.derivation.numpy_source import factor, helper_axis
from symattn.derivation.ops.linear import Hadamard, Multiple, summed
from symattn.derivation.sizes import Axis
from symattn.derivation.windows import (
    HIDDEN,
    RING,
    Box,
    Window,
    constant,
    each,
    positive,
    sigmoid_slope,
    tanh_slope,
    times,
)
from symattn.derivation.witnesses import TOLERANCE, close, entrywise, power_of, transposed
from symattn.errors import InputError, ShapeError
from symattn.exact import (
    Matrix,
    Real,
    Value,
    divide,
    exponential,
    from_sympy,
    has_symbols,
    largest_remainder,
    logarithm,
    rounded,
    sign,
    to_sympy,
    truncated,
)
from symattn.exact.bridge import value_at
from symattn.exact.intervals import MOST_DIGITS, Interval, IntervalRing
from symattn.exact.real import in_decimals
from symattn.exact.rounding import FORMATS, MODES, Format, nearest_in
from symattn.exact.values import NEGATIVE_INFINITY
from symattn.formula import (
    ONE,
    ZERO,
    Call,
    Formula,
    Fraction,
    Name,
    Negative,
    Number,
    Power,
    Product,
    Root,
    Sum,
    equal,
    number,
)
from symattn.foundation.languages import counted, message

RoundingMethod = Literal["nearest", "largest-remainder", "truncate"]


class Rounding(Op):
    """Other numbers for the entries, with which one goes on."""

    shows_factors = False

    def shape(self, *shapes: Shape) -> Shape:
        return shapes[0]

    def working(self, i: Index, j: Index, *operands: View) -> Formula:
        return operands[0].entry(i, j)

    def conventions(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        return [convention(message("{rounding}, and continue with the rounded values.", rounding=self.title))]

    def in_brief(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        return [convention(message("{rounding}, continue rounded", rounding=self.title))]


@dataclass(frozen=True)
class Round(Rounding):
    """Rounding as a step, so that what follows is worked out from the rounded values.

    nearest: each entry to the nearest, ties as declared (even, up, down);
    largest-remainder: rows keep their exact sum: each entry is cut off, then the missing units go to the entries that
    lost most (Hamilton's method of apportionment);  truncate: each entry is cut off.
    """

    places: int
    method: RoundingMethod = "nearest"
    ties: Literal["even", "up", "down"] = "even"
    along: Axis = "rows"  # what keeps its sum

    @property
    def title(self) -> str:
        match self.method:
            case "nearest":
                return counted("Round to {n} decimal place", "Round to {n} decimal places", n=self.places)
            case "largest-remainder":
                return counted(
                    "Round by largest remainder to {n} decimal place",
                    "Round by largest remainder to {n} decimal places",
                    n=self.places,
                )
            case "truncate":
                return counted("Truncate to {n} decimal place", "Truncate to {n} decimal places", n=self.places)

    def apply(self, *operands: Matrix) -> Matrix:
        (a,) = operands
        if self.method == "largest-remainder" and self.along == "columns":
            return replace(self, along="rows").apply(a.T).T
        if self.method == "largest-remainder":
            return Matrix.of(largest_remainder(row, self.places) for row in a.rows)
        return a.map(self._rounded)

    def _rounded(self, x: Value) -> Value:
        if x is NEGATIVE_INFINITY:
            return x
        if has_symbols(x):
            raise InputError(f"{x} has no decimal value to be rounded to: it contains a symbol.")
        return truncated(x, self.places) if self.method == "truncate" else rounded(x, self.places, self.ties)

    def confirmed(self, result: Floats, *operands: Floats) -> Floats:
        """n places, no further off than the method allows, and sums kept where it keeps them."""
        if self.along == "columns":
            return transposed(self.turn().confirmed(transposed(result), *map(transposed, operands)))
        return [self._confirmed(*rows) for rows in zip(result, *operands, strict=True)]

    def _confirmed(self, result: Sequence[float], exact: Sequence[float]) -> list[float]:
        unit = 10.0**-self.places
        reach = unit / 2 if self.method == "nearest" else unit
        kept = self.method != "largest-remainder" or close(math.fsum(result), math.fsum(exact))

        def fits(r: float, x: float) -> bool:
            near = r == x or abs(r - x) <= reach * (1 + TOLERANCE)
            whole = math.isinf(r) or abs(r / unit - round(r / unit)) < 1e-6
            return near and whole and (self.method != "truncate" or abs(r) <= abs(x) + TOLERANCE)

        return [r if kept and fits(r, x) else math.nan for r, x in zip(result, exact, strict=True)]

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Call(Name("round", (Number(str(self.places)),)), operands)

    def numpy(self, *operands: str) -> str:
        (exact,) = operands
        if self.method == "largest-remainder":
            return f"by_largest_remainder({exact}, {self.places}{helper_axis(self.along)})"
        units = f"units({exact}, {self.places})"
        nearest = {"even": f"np.round({units})", "up": f"np.floor({units} + 1/2)", "down": f"np.ceil({units} - 1/2)"}
        whole = f"np.trunc({units})" if self.method == "truncate" else nearest[self.ties]
        return f"{whole} / 10**{self.places}"

    def range(self, *boxes: Box) -> Box | None:
        """Unknown where the sums of rows are kept: then a number depends on its neighbours."""
        return None if self.method == "largest-remainder" else each(self._range, *boxes)

    def _range(self, x: Window) -> Window:
        return x if x == HIDDEN else Window(*map(self._end, x))

    def _end(self, x: Decimal) -> Decimal:
        mode = MODES[self.ties] if self.method == "nearest" else ROUND_DOWN
        return x.scaleb(self.places, RING.nearest).to_integral_value(mode).scaleb(-self.places, RING.nearest)


@dataclass(frozen=True)
class Activation(RuleOp):
    """A function of each entry: one of `FUNCTIONS`, the identity, or a function known only by name."""

    name: str = "f"
    title = "Activation"
    shows_factors = False

    @property
    def function(self) -> Function | None:
        """What is known of the function; None for the identity and for a mere name."""
        return FUNCTIONS.get(self.name.lower())

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        x = operands[0][i, j]
        if self.name == "identity":
            return x
        return A.known(self.function, x) if self.function else A.apply(self.name, x)

    def pull(self, use: Use) -> Pull:
        if self.name == "identity":
            return Pull((use.g,))
        name = self.name.lower()
        by_result = name in SLOPES and SLOPES[name].of_result
        return Pull((use.g, use.result if by_result else use.operand), ActivationGradient(name))

    def witness(self, *operands: Floats) -> Floats | None:
        if self.name == "identity":
            return operands[0]
        return entrywise(self.function.witness, *operands) if self.function else None

    def written(self, style: Style, *operands: Formula) -> Formula:
        if self.name == "identity":
            return operands[0]
        return Call(Name(self.function.written if self.function else self.name), operands)

    def numpy(self, *operands: str) -> str | None:
        if self.name == "identity":
            return operands[0]
        return self.function.numpy.format(*operands) if self.function else None

    def conventions(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        if self.function is None:
            return []
        x = Name("x")
        written, working = self.written(Style(), x), self.function.working(x)
        if written == working:
            return [convention("{function} is applied entry by entry.", function=Name(self.function.written))]
        return [convention("Entry by entry, {function}.", function=equal(written, working))]


# ------------------------------------------------------------------------------------------------ the functions


Range: TypeAlias = Callable[[IntervalRing, Interval], Interval]


@dataclass(frozen=True, slots=True)
class Function:
    """A function of one number: the name that is printed, its exact values, itself with its argument put in, its range
    over an interval, NumPy for it of {0}, and the second way to its values."""

    written: str
    value: Callable[[Value], Value]
    working: Callable[[Formula], Formula]
    over: Range
    numpy: str
    witness: Callable[[float], float]


def _has_a_sign(x: Any) -> bool:
    """Whether SymPy can know the sign of x: of an unknown number of terms it cannot, and takes seconds to say so."""
    import sympy

    return not x.has(sympy.Sum)


def relu(x: Value) -> Value:
    """max(0, x)."""
    if has_symbols(x):
        import sympy

        return sympy.Max(0, x, evaluate=_has_a_sign(x))
    return x if sign(x) > 0 else 0


def in_sympy(expression: Callable[[Any], Any], x: Value) -> Value:
    """A function that SymPy knows, at x; as a `Real` where numbers are decimals."""
    import sympy

    if isinstance(x, Real) or (in_decimals() and not has_symbols(x)):
        t = sympy.Symbol("t", real=True)
        return value_at(expression(t), t, x)
    return from_sympy(expression(to_sympy(x)))


def gelu(x: Value) -> Value:
    """x·Φ(x) = x/2·(1 + erf(x/√2)), with the distribution function Φ of the standard normal (Hendrycks and Gimpel 2016,
    section 2)."""
    import sympy

    return in_sympy(lambda y: y / 2 * (1 + sympy.erf(y / sympy.sqrt(2))), x)


def gelu_tanh(x: Value) -> Value:
    """Its approximation x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³))) (section 2 of the same)."""
    import sympy

    def expression(y: Any) -> Any:
        inner = sympy.sqrt(2 / sympy.pi) * (y + sympy.Rational(44715, 10**6) * y**3)
        return y / 2 * (1 + sympy.tanh(inner))

    return in_sympy(expression, x)


def sigmoid(x: Value) -> Value:
    """1/(1 + e^−x)."""
    return divide(1, 1 + exponential(-x))


def silu(x: Value) -> Value:
    """x/(1 + e^−x) (Hendrycks and Gimpel 2016; Elfwing, Uchibe and Doya 2018), also called swish."""
    return divide(x, 1 + exponential(-x))


# ------------------------------------------------------------------------------------------------ written out


def _logistic(above: Formula, x: Formula) -> Formula:
    return Fraction(above, Sum((ONE, Power(Name("e"), Negative(x)))))


def _half(x: Formula, other: Formula) -> Formula:
    """x/2·(1 + other)."""
    return Product((Fraction(x, TWO), Sum((ONE, other))), "·")


def _gelu_tanh(x: Formula) -> Formula:
    cubic = Sum((x, Product((Number("0.044715"), Power(x, Number("3"))), "·")))
    return _half(x, Call(Name("tanh"), (Product((Root(Fraction(TWO, Name("π"))), cubic), "·"),)))


TWO = Number("2")


# ------------------------------------------------------------------------------------------------ over an interval


def _sigmoid_over(ring: IntervalRing, x: Interval) -> Interval:
    unit = ring.number(1)
    return ring.divide(unit, ring.add(unit, ring.exp(ring.negate(x))))


def _silu_over(ring: IntervalRing, x: Interval) -> Interval:
    return ring.multiply(x, _sigmoid_over(ring, x))


def _gelu_over(ring: IntervalRing, x: Interval) -> Interval:
    return _half_over(ring, x, ring.erf(ring.divide(x, ring.sqrt(ring.number(2)))))


def _gelu_tanh_over(ring: IntervalRing, x: Interval) -> Interval:
    rate = ring.sqrt(ring.divide(ring.number(2), ring.apply("pi", ())))
    cubic = ring.multiply(ring.number(Ratio(44715, 10**6)), ring.integer_power(x, 3))
    return _half_over(ring, x, ring.tanh(ring.multiply(rate, ring.add(x, cubic))))


def _half_over(ring: IntervalRing, x: Interval, other: Interval) -> Interval:
    return ring.multiply(ring.divide(x, ring.number(2)), ring.add(ring.number(1), other))


def _dipping(at: str, over: Range) -> Range:
    """The range of a function that falls to its only minimum, and then rises.

    The minimum lies between `at` and the next number of as many digits; `over` may be wider than the range there, but
    gives the value at a point.
    """
    start = Decimal(at)
    lowest = Interval(start, start + Decimal((0, (1,), int(start.as_tuple().exponent))))

    def whole(ring: IntervalRing, x: Interval) -> Interval:
        ends = [over(ring, Interval(end, end)) for end in x]
        inside = [over(ring, lowest)] if x.low <= lowest.high and lowest.low <= x.high else []
        return Interval(min(value.low for value in (*ends, *inside)), max(value.high for value in ends))

    return whole


# ------------------------------------------------------------------------------------------------ once more in floats


def _logistic_in_floats(x: float) -> float:
    return (1 + math.tanh(x / 2)) / 2


def _inside_gelu_tanh(x: float) -> float:
    return math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)


def _gelu_slope_in_floats(x: float) -> float:
    """Φ(x) + x·φ(x)."""
    return math.erfc(-x / math.sqrt(2)) / 2 + x * math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def _gelu_tanh_slope_in_floats(x: float) -> float:
    t, inner = math.tanh(_inside_gelu_tanh(x)), math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x * x)
    return (1 + t) / 2 + x * (1 - t * t) * inner / 2


def _silu_slope_in_floats(x: float) -> float:
    return _logistic_in_floats(x) * (1 + x * _logistic_in_floats(-x))


FUNCTIONS: Mapping[str, Function] = MappingProxyType(
    {
        "relu": Function(
            "ReLU",
            relu,
            lambda x: Call(Name("max"), (ZERO, x)),
            lambda ring, x: Interval(max(Decimal(0), x.low), max(Decimal(0), x.high)),
            "np.maximum({0}, 0)",
            lambda x: (x + abs(x)) / 2,
        ),
        "gelu": Function(
            "GELU",
            gelu,
            lambda x: _half(x, Call(Name("erf"), (Fraction(x, Root(TWO)),))),
            _dipping("-0.75179152469356445746", _gelu_over),
            "gelu({0})",
            lambda x: x * math.erfc(-x / math.sqrt(2)) / 2,
        ),
        "gelu_tanh": Function(
            "GELU",
            gelu_tanh,
            _gelu_tanh,
            _dipping("-0.75246142207101625849", _gelu_tanh_over),
            "gelu_tanh({0})",
            lambda x: x * (1 + math.tanh(_inside_gelu_tanh(x))) / 2,
        ),
        "silu": Function(
            "SiLU",
            silu,
            lambda x: _logistic(x, x),
            _dipping("-1.27846454276107379511", _silu_over),
            "{0} / (1 + np.exp(-{0}))",
            lambda x: x * _logistic_in_floats(x),
        ),
        "sigmoid": Function(
            "sigmoid",
            sigmoid,
            lambda x: _logistic(ONE, x),
            _sigmoid_over,
            "1 / (1 + np.exp(-{0}))",
            lambda x: _logistic_in_floats(x),
        ),
        "tanh": Function(
            "tanh", tanh, lambda x: Call(Name("tanh"), (x,)), lambda ring, x: ring.tanh(x), "np.tanh({0})", math.tanh
        ),
    }
)
"""Every activation that has values, by its name in settings."""


# ------------------------------------------------------------------------------------------------ the way back


@dataclass(frozen=True, slots=True)
class Derivative:
    """f′ as a number, as it is written, as a factor in NumPy and once more in floats; of f's value y = f(x) where it is
    known from that.

    `whole` is how it is written for a matrix, where that is not as for an entry; `window` its range, where it is known.
    """

    value: Callable[[Value], Value]
    working: Callable[[Formula], Formula]
    numpy: str
    witness: Callable[[float], float]
    whole: Callable[[Formula], Formula] | None = None
    window: Callable[[Window], Window] | None = None

    @property
    def of_result(self) -> bool:
        return self.whole is not None

    def written(self, matrix: Formula) -> Formula:
        return (self.whole or self.working)(matrix)


def _relu_slope(x: Value) -> Value:
    """1 where x > 0, else 0: also at 0, where ReLU has no derivative (Goodfellow et al. 2016, section 6.3)."""
    if has_symbols(x):
        import sympy

        return sympy.Heaviside(x, 0, evaluate=_has_a_sign(x))
    return int(sign(x) > 0)


def _silu_slope(x: Value) -> Value:
    """σ(x)·(1 + x·(1 − σ(x)))."""
    s = sigmoid(x)
    return s * (1 + x * (1 - s))


def _differentiated(name: str) -> Callable[[Value], Value]:
    """The derivative by SymPy of a function that it knows."""

    def derivative(y: Any) -> Any:
        import sympy

        t = sympy.Symbol("t", real=True)
        return sympy.diff(to_sympy(FUNCTIONS[name].value(t)), t).subs(t, y)

    return lambda x: in_sympy(derivative, x)


def _one_minus(y: Formula) -> Formula:
    return Sum((ONE, Negative(y)))


def _logistic_slope(sign: Literal["·", "⊙"], y: Formula) -> Formula:
    return Product((y, _one_minus(y)), sign)


def _primed(name: str) -> Callable[[Formula], Formula]:
    return lambda x: Call(Name(FUNCTIONS[name].written, primes=1), (x,))


SLOPES: Mapping[str, Derivative] = MappingProxyType(
    {
        "relu": Derivative(_relu_slope, _primed("relu"), "({0} > 0)", lambda x: 1.0 if x > 0 else 0.0, window=positive),
        "gelu": Derivative(_differentiated("gelu"), _primed("gelu"), "gelu_slope({0})", _gelu_slope_in_floats),
        "gelu_tanh": Derivative(
            _differentiated("gelu_tanh"), _primed("gelu_tanh"), "gelu_tanh_slope({0})", _gelu_tanh_slope_in_floats
        ),
        "silu": Derivative(_silu_slope, _primed("silu"), "silu_slope({0})", _silu_slope_in_floats),
        "sigmoid": Derivative(
            lambda y: y * (1 - y),
            partial(_logistic_slope, "·"),
            "{0} * (1 - {0})",
            lambda y: 0.25 - (y - 0.5) ** 2,
            partial(_logistic_slope, "⊙"),
            sigmoid_slope,
        ),
        "tanh": Derivative(
            lambda y: 1 - y * y,
            lambda y: _one_minus(Power(y, TWO)),
            "(1 - {0}**2)",
            lambda y: (1 - y) * (1 + y),
            lambda y: _one_minus(Product((y, y), "⊙")),
            tanh_slope,
        ),
    }
)
"""Every activation that can be gone back through, by its name in settings."""


@dataclass(frozen=True)
class ActivationGradient(RuleOp):
    """G ⊙ f′, entry by entry (each n×m); the second operand is x, or f(x) where f′ is known from that (`SLOPES`)."""

    name: str
    arity = 2
    title = "Back through the activation"
    by_hand = True

    def __post_init__(self) -> None:
        if self.name not in SLOPES:
            raise InputError(f"The derivative of {self.name!r} is not known; one of {', '.join(SLOPES)} was expected.")

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        g, x = operands
        return A.product(g[i, j], A.known(SLOPES[self.name], x[i, j]))

    def witness(self, *operands: Floats) -> Floats:
        slope = SLOPES[self.name].witness
        return entrywise(lambda g, x: g * slope(x), *operands)

    def written(self, style: Style, *operands: Formula) -> Formula:
        g, x = operands
        slope = SLOPES[self.name].written(x)
        return Product((g, *(slope.factors if isinstance(slope, Product) else (slope,))), "⊙")

    def numpy(self, *operands: str) -> str:
        gradient, x = operands
        return f"{gradient} * {SLOPES[self.name].numpy.format(x)}"

    def range(self, *boxes: Box) -> Box | None:
        """Known where the slope is that of a value, or 0 or 1."""
        slope = SLOPES[self.name].window
        return each(lambda g, x: times(g, slope(x)), *boxes) if slope else None


# ------------------------------------------------------------------------------------ arithmetic


@dataclass(frozen=True)
class Subtract(RuleOp):
    """A − B entry by entry; a single row or column is taken from every row or column, or every one from it."""

    arity = 2
    title = "Difference"
    by_hand = True
    in_numpy = "{0} - {1}"

    def shape(self, *shapes: Shape) -> Shape:
        return _stretched_shape("a difference needs equal shapes, or one row or column to stretch;", *shapes)

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        return A.minus(*(m.stretched(i, j) for m in operands))

    def pull(self, use: Use) -> Pull:
        return Pull.chain((use.g,), *([Opposite()] if use.k else []), *summed(use))

    def witness(self, *operands: Floats) -> Floats:
        return entrywise(sub, *operands)

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Sum((operands[0], Negative(operands[1])))


@dataclass(frozen=True)
class Divide(RuleOp):
    """A over B entry by entry; a single row or column is stretched over the other's."""

    arity = 2
    title = "Quotient"
    shows_factors = False
    by_hand = True
    ends_in_decimals = True
    in_numpy = "{0} / {1}"
    says = "The fraction bar divides entry by entry; a single row or column is used for all."

    def shape(self, *shapes: Shape) -> Shape:
        return _stretched_shape("a quotient needs equal shapes, or one row or column to stretch;", *shapes)

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        return A.quotient(*(m.stretched(i, j) for m in operands))

    def pull(self, use: Use) -> Pull:
        divisor = use.step.operands[1]
        if use.k == 0:
            return Pull.chain((use.g, divisor), self, *summed(use))
        return Pull.chain((use.g, use.result, divisor), DivisorGradient(), *summed(use))

    def witness(self, *operands: Floats) -> Floats:
        return entrywise(truediv, *operands)

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Fraction(*operands)


@dataclass(frozen=True)
class Opposite(RuleOp):
    """−A."""

    title = "Negative"
    in_numpy = "-{0}"

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        return A.negative(operands[0][i, j])

    def pull(self, use: Use) -> Pull:
        return Pull((use.g,), self)

    def witness(self, *operands: Floats) -> Floats:
        return entrywise(lambda x: 0.0 - x, *operands)

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Negative(operands[0])


@dataclass(frozen=True)
class Exponential(RuleOp):
    """b^x of each entry x, with base e unless another is stated; 0 for −∞.  No matrix exponential."""

    base: Base = "e"
    title = "Exponential"
    shows_factors = False
    by_hand = True
    ends_in_decimals = True
    brings = "powers"

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        return A.exponential(operands[0][i, j], self.base)

    def pull(self, use: Use) -> Pull:
        return Pull.chain((use.g, use.result), Hadamard(), *rate(self.base))

    def witness(self, *operands: Floats) -> Floats:
        return entrywise(lambda x: power_of(self.base, x), *operands)

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Call(Name("exp", () if self.base == "e" else (self.written_base,)), operands)

    def numpy(self, *operands: str) -> str:
        return f"np.exp({operands[0]})" if self.base == "e" else f"{factor(self.base)} ** {operands[0]}"

    @property
    def written_base(self) -> Formula:
        """e, or the number in its place."""
        return Name("e") if self.base == "e" else number(self.base)

    def conventions(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        return [convention("exp is applied entry by entry, with base {base}.", base=signs.base(self.base))]


@dataclass(frozen=True)
class SquareRoot(RuleOp):
    """√x of each entry x; `UndefinedError` where one is negative."""

    title = "Square root"
    shows_factors = False
    by_hand = True
    ends_in_decimals = True
    in_numpy = "np.sqrt({0})"
    says = "sqrt is the square root of each entry."

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        return A.root(operands[0][i, j])

    def pull(self, use: Use) -> Pull:
        return Pull((use.g, use.result), Divide(), (Multiple(Ratio(1, 2)),))

    def witness(self, *operands: Floats) -> Floats:
        return entrywise(math.sqrt, *operands)

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Call(Name("sqrt"), operands)


@dataclass(frozen=True)
class ToFloat(Rounding):
    """Each entry as the nearest number of a binary format, ties to even: float16, bfloat16, float32 or float64.

    Subnormal numbers are as in IEEE 754; −∞ stays, and what is too far below 0 becomes it.  `UndefinedError` where an
    entry is too large for the format.
    """

    format: Format = FORMATS["float16"]

    @property
    def title(self) -> str:
        return message("Round to {format}", format=self.format.name)

    def apply(self, *operands: Matrix) -> Matrix:
        return operands[0].map(self._nearest)

    def _nearest(self, x: Value) -> Value:
        if has_symbols(x):
            raise InputError(f"{x} has no nearest number in {self.format.name}: it contains a symbol.")
        return nearest_in(x, self.format)

    def confirmed(self, result: Floats, *operands: Floats) -> Floats:
        """Each number that is the rounding of its operand to a float; NaN for any other."""
        return entrywise(lambda r, x: r if self._fits(r, x) else math.nan, result, *operands)

    def _fits(self, r: float, x: float) -> bool:
        if math.isinf(r) or math.isinf(x):
            return r == x or (r < 0 and x < -6e4)
        code = {"float16": "<e", "float64": "<d"}.get(self.format.name, "<f")
        packed = struct.pack(code, r)
        short = self.format.name != "bfloat16" or packed[:2] == b"\0\0"
        gap = math.ulp(max(abs(x), 2.0**self.format.least)) * 2.0 ** (53 - self.format.digits)
        return short and struct.unpack(code, packed)[0] == r and abs(r - x) <= gap / 2 * (1 + TOLERANCE)

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Call(Name(self.format.name), operands)

    def numpy(self, *operands: str) -> str:
        """NumPy has all formats but one."""
        known, name = self.format.name != "bfloat16", self.format.name
        return f"{operands[0]}.astype(np.{name}).astype(float)" if known else f"bfloat16({operands[0]})"

    def range(self, *boxes: Box) -> Box:
        return each(self._range, *boxes)

    def _range(self, x: Window) -> Window:
        """Both ends rounded, for rounding never changes the order of two numbers."""
        if x == HIDDEN:
            return x
        low, high = (nearest_in(Ratio(end) if end.adjusted() > -MOST_DIGITS else 0, self.format) for end in x)
        return Window(HIDDEN.low if low is NEGATIVE_INFINITY else constant(low).low, constant(high).high)


# ------------------------------------------------------------------------------------------------ the way back


@dataclass(frozen=True)
class DivisorGradient(RuleOp):
    """−g·y/b for the gradient G of quotients Y = A/B (each n×m) and their divisors B, which may have to be stretched.

    What comes to one divisor from every quotient in which it stands, before it is added up.
    """

    arity = 3
    title = "Back through the quotient"
    shows_factors = False
    by_hand = True
    in_numpy = "-{0} * {1} / {2}"

    def shape(self, *shapes: Shape) -> Shape:
        return Divide().shape(Hadamard().shape(*shapes[:2]), shapes[2])

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        gradient, quotient, divisor = operands
        above = A.product(gradient.stretched(i, j), quotient.stretched(i, j))
        return A.negative(A.quotient(above, divisor.stretched(i, j)))

    def witness(self, *operands: Floats) -> Floats:
        return entrywise(lambda g, y, b: -g * y / b, *operands)

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Negative(Fraction(Product(operands[:2], "⊙"), operands[2]))


def rate(base: Value | Literal["e"]) -> tuple[Multiple, ...]:
    """The factor ln b of the derivative of b^x."""
    return () if base == "e" else (Multiple(logarithm(base)),)


def _stretched_shape(rule: str, first: Shape, second: Shape) -> Shape:
    """The shape of what is made of two matrices entry by entry; `ShapeError` with the rule where they do not fit."""
    rows, columns = (b if a == 1 else a for a, b in zip(first, second, strict=True))
    if any(
        size not in (1, full) for shape in (first, second) for size, full in zip(shape, (rows, columns), strict=True)
    ):
        raise ShapeError(rule)
    return rows, columns


OPS = {
    "round": Round,
    "activation": Activation,
    "subtract": Subtract,
    "divide": Divide,
    "opposite": Opposite,
    "exp": Exponential,
    "sqrt": SquareRoot,
    "float": ToFloat,
}
