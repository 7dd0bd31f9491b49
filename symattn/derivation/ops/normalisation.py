"""What a norm does: means, variances, and each entry in units of its line's deviation.

Layer norm (Ba, Kiros and Hinton 2016, section 3, equation 4, for one token) takes from each entry the mean of its token
and divides by the root of the variance; root mean square norm (Zhang and Sennrich 2019, section 4) leaves the mean out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction as Ratio
from functools import reduce
from itertools import pairwise
from operator import add, mul
from typing import ClassVar, Literal, TypeVar

from symattn.derivation.algebra import FORMULAS, Algebra, Entries, Index, Indices, T, size_formula
from symattn.derivation.derivation import (
    Convention,
    Floats,
    Operand,
    Pull,
    RuleOp,
    Shape,
    Signs,
    Step,
    Style,
    Use,
    alike,
    convention,
)
from symattn.derivation.numpy_source import over_all, value
from symattn.derivation.ops.entrywise import Opposite
from symattn.derivation.ops.linear import Spread, SumOver
from symattn.derivation.ops.lines import OverOp
from symattn.derivation.sizes import Axis
from symattn.derivation.windows import (
    RING,
    Box,
    Window,
    at_least_0,
    constant,
    minus,
    over,
    point,
    size,
    square,
    times,
)
from symattn.derivation.witnesses import as_float, entrywise
from symattn.errors import InputError, OutgrownError, ShapeError, UndefinedError
from symattn.exact import Matrix, Size, Value, divide, has_symbols, is_symbolic, square_root, squared, to_sympy
from symattn.exact.intervals import ZERO
from symattn.exact.values import denominator_of, is_finite, length, numerator_of, parts, quotient_of_symbols, tidy
from symattn.formula import (
    ONE,
    Call,
    Formula,
    Fraction,
    Name,
    Negative,
    Number,
    Product,
    Root,
    Sum,
    equal,
    number,
)

Line = tuple[Window, ...]


@dataclass(frozen=True)
class Mean(OverOp):
    """The mean over the columns, one for each row (n×d becomes n×1), or over the rows (n×d becomes 1×d)."""

    over: Axis = "columns"
    title = "Mean"
    shows_factors = False
    by_hand = True
    in_numpy = "{0}.mean({op.axis})"

    def shape_of_rows(self, *shapes: Shape) -> Shape:
        return shapes[0][0], 1

    def values_of_rows(self, *operands: Matrix) -> Matrix:
        return Matrix.of([_share(row, len(row))] for row in operands[0].rows)

    def rule_of_rows(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        (x,) = operands
        return _mean(A, x.columns, lambda k: x[i, k])

    def pull(self, use: Use) -> Pull:
        return Pull((use.g,), SpreadEvenly(use.shapes[0][0 if self.over == "rows" else 1], self.over))

    def witness_of_rows(self, *operands: Floats) -> Floats:
        return [[math.fsum(row) / len(row)] for row in operands[0]]

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Call(Name("mean"), operands)


@dataclass(frozen=True)
class Variance(OverOp):
    """The mean square of the deviations from a mean that is given: of x (n×d) and its means (n×1), n×1.

    The population's divides by the number d of entries, as layer norm does; the sample's by d − 1.
    """

    of: Literal["population", "sample"] = "population"
    over: Axis = "columns"
    arity = 2
    title = "Variance"
    entwined = True
    shows_factors = False
    by_hand = True

    def shape_of_rows(self, *shapes: Shape) -> Shape:
        (rows, columns), means = shapes
        if means != (rows, 1):
            raise ShapeError("the means must be one for every line whose variance is taken;")
        if self.of == "sample" and columns == 1:
            raise ShapeError("the variance of a sample needs two entries or more;")
        return rows, 1

    def values_of_rows(self, *operands: Matrix) -> Matrix:
        def variance(row: Sequence[Value], mean: Value) -> Value:
            deviations = [x - mean for x in row]
            return _share([squared(x) for x in deviations], len(row) - (self.of == "sample"))

        x, means = operands
        _check_length(x)
        return Matrix.of([variance(row, mean)] for row, (mean,) in zip(x.rows, means.rows, strict=True))

    def rule_of_rows(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        x, mean = operands
        less = int(self.of == "sample")
        return _mean(A, x.columns, lambda k: A.square(A.minus(x[i, k], mean.stretched(i, k))), less)

    def pull(self, use: Use) -> Pull:
        """To the entries, and to the mean what comes to all of them together, with the other sign."""
        count = _length(use.shapes[0], self.over)
        back = (use.g, *use.step.operands), SquaresGradient(count, self.of, self.over)
        return Pull.chain(*back) if use.k == 0 else Pull.chain(*back, SumOver(self.over), Opposite())

    def witness_of_rows(self, *operands: Floats) -> Floats:
        """By pairs of entries; about any mean, by Steiner's theorem."""
        variances = []
        for row, (mean,) in zip(*operands, strict=True):
            size = len(row)
            pairs = math.fsum((x - y) ** 2 for i, x in enumerate(row) for y in row[:i]) / size
            off = math.fsum(row) / size - mean
            variances.append([(pairs + size * off**2) / (size - (self.of == "sample"))])
        return variances

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Call(Name("var"), operands[:1])

    def numpy(self, *operands: str) -> str:
        squares = "(({} - {})**2)".format(*operands)
        if self.of == "population":
            return f"{squares}.mean({over_all(self.over)})"
        return f"{squares}.sum({over_all(self.over)}) / ({_numpy_length(operands[0], self.over)} - 1)"

    def range_of_rows(self, *boxes: Box) -> Box:
        less = int(self.of == "sample")
        return tuple((_variance(row, mean, len(row) - less),) for row, (mean,) in zip(*boxes, strict=True))

    def conventions(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        lines, columns = signs.shape_of(steps[0].operands[0])
        size = signs.size(columns if self.over == "columns" else lines)
        divisor = size if self.of == "population" else Sum((size, Negative(ONE)))
        return [convention(_VARIANCE[self.over], divisor=divisor)]


@dataclass(frozen=True)
class MeanSquare(OverOp):
    """The mean of the squares over the columns, one for each row (n×d becomes n×1), or over the rows."""

    over: Axis = "columns"
    title = "Mean square"
    shows_factors = False
    by_hand = True
    in_numpy = "({0}**2).mean({op.axis})"

    def shape_of_rows(self, *shapes: Shape) -> Shape:
        return shapes[0][0], 1

    def values_of_rows(self, *operands: Matrix) -> Matrix:
        return Matrix.of([_share([squared(x) for x in row], len(row))] for row in operands[0].rows)

    def rule_of_rows(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        (x,) = operands
        return _mean(A, x.columns, lambda k: A.square(x[i, k]))

    def pull(self, use: Use) -> Pull:
        return Pull((use.g, use.operand), SquaresGradient(_length(use.shapes[0], self.over), over=self.over))

    def witness_of_rows(self, *operands: Floats) -> Floats:
        return [[math.fsum(x * x for x in row) / len(row)] for row in operands[0]]

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Call(Name("mean"), (Product((operands[0], operands[0]), "⊙"),))


@dataclass(frozen=True)
class OverRoot(RuleOp):
    """Entries, perhaps less a mean, over roots to whose squares ε is added.

    `UndefinedError` names the line where the root is 0.
    """

    epsilon: Value = 0
    norms = True
    entwined = True
    shows_factors = False
    by_hand = True
    needs: ClassVar[str]
    """What the statistics have to be."""
    is_zero: ClassVar[str]
    """Of which lines the root is 0."""

    def shape(self, *shapes: Shape) -> Shape:
        return _stretching(self.needs, *shapes)

    def apply(self, *operands: Matrix) -> Matrix:
        x, *means, squares = operands
        roots = _roots(squares, self.epsilon, self.is_zero)
        return Matrix.of(
            [_over(value - _of(means[0], i, j) if means else value, _of(roots, i, j)) for j, value in enumerate(row)]
            for i, row in enumerate(x.rows)
        )

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        x, *means, squares = operands
        above = A.minus(x[i, j], means[0].stretched(i, j)) if means else x[i, j]
        return A.quotient(above, A.once(lambda: _root(A, squares.stretched(i, j), self.epsilon), divides=True))

    def flows(self, k: int) -> bool:
        return k == 0

    def witness(self, *operands: Floats) -> Floats:
        epsilon = as_float(self.epsilon)

        def normed(x: float, *statistics: float) -> float:
            *means, squares = statistics
            return float((x - sum(means)) * (squares + epsilon) ** -0.5)

        return entrywise(normed, *operands)

    def written(self, style: Style, *operands: Formula) -> Formula:
        x, *means, squares = operands
        return Fraction(Sum((x, Negative(means[0]))) if means else x, _root(FORMULAS, squares, self.epsilon))

    def numpy(self, *operands: str) -> str:
        x, *means, squares = operands
        return f"{f'({x} - {means[0]})' if means else x} / {_numpy_root(squares, self.epsilon)}"

    def conventions(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        return [convention("ε, added under the root, is {epsilon}.", epsilon=signs.number(self.epsilon))]

    def in_brief(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        epsilon = equal(Name("ε"), signs.number(self.epsilon))
        return [convention("{epsilon} under the root", epsilon=epsilon)]


@dataclass(frozen=True)
class Standardise(OverRoot):
    """(x − μ)/√(σ² + ε) for x (n×d), means and variances (each n×1 or 1×d); undefined where σ² + ε = 0."""

    arity = 3
    title = "Standardise"
    needs = "there must be one mean and one variance for every row, or for every column;"
    is_zero = "all its entries are equal"

    def pull(self, use: Use) -> Pull:
        """All at once, through the mean and the variance too, whose steps get no gradient of their own."""
        source, mean, variance = use.step.operands
        spread = _statistic(use, variance, Variance, source, mean)
        _statistic(use, mean, Mean, source)
        return Pull((use.g, use.result, variance), NormGradient(spread.of, self.epsilon, spread.over))


@dataclass(frozen=True)
class Rescale(OverRoot):
    """x/√(m + ε) for x (n×d) and its mean squares (n×1 or 1×d); undefined where m + ε = 0."""

    arity = 2
    title = "Rescale"
    needs = "there must be one mean square for every row, or for every column;"
    is_zero = "all its entries are 0"

    def pull(self, use: Use) -> Pull:
        source, squares = use.step.operands
        spread = _statistic(use, squares, MeanSquare, source)
        return Pull((use.g, use.result, squares), NormGradient("rms", self.epsilon, spread.over))


_VARIANCE: Mapping[Axis, str] = {
    "columns": "Each row has its own mean and variance; the variance is the sum of the squared deviations "
    "divided by {divisor}.",
    "rows": "Each column has its own mean and variance; the variance is the sum of the squared deviations "
    "divided by {divisor}.",
}


# ------------------------------------------------------------------------------------------------ lines


def _length(shape: Shape, over: Axis) -> Size:
    return shape[1] if over == "columns" else shape[0]


def _share(terms: Sequence[Value], number: int) -> Value:
    """The sum over a number; a quotient keeps its denominator, so that differences of such shares are small."""
    return tidy(reduce(add, terms) * Ratio(1, number))


def _mean(A: Algebra[T], places: Indices, term: Callable[[Index], T], less: int = 0) -> T:
    """The sum of a term for each place, over their number, or a few less."""
    return A.quotient(A.total(places, term), A.size(places, less))


def _root(A: Algebra[T], variance: T, epsilon: Value) -> T:
    """√(v + ε), without an ε of 0."""
    return A.root(variance if isinstance(epsilon, int) and epsilon == 0 else A.sum(variance, A.number(epsilon)))


def _numpy_root(variance: str, epsilon: Value) -> str:
    return f"np.sqrt({variance if isinstance(epsilon, int) and epsilon == 0 else f'{variance} + {value(epsilon)}'})"


def _numpy_length(name: str, over: Axis) -> str:
    """How many entries a line has."""
    return f"{name}.shape[{0 if over == 'rows' else 1}]"


def _variance(line: Line, mean: Window, number: int) -> Window:
    """Σ(x_j − μ)² over a number, over all x_j and μ in their windows.

    It is convex in μ: the greatest value stands at an end of the window of μ.  The least is sought between neighbouring
    ends of the x_j, where those on one side of μ are as near to it as they can be and all others are equal to it.
    """

    def farthest(m: Decimal) -> Decimal:
        away = (size(minus(x, point(m))).high for x in line)
        return reduce(RING.add, (square(point(d)) for d in away)).high

    def nearest(m: Window) -> Decimal:
        ends = [point(x.high if x.high <= m.low else x.low) for x in line if x.high <= m.low or m.high <= x.low]
        if not ends:
            return ZERO
        centre = RING.divide(reduce(RING.add, ends), RING.number(len(ends)))
        off = size(minus(centre, m)).low
        about = reduce(RING.add, (square(minus(end, centre)) for end in ends))
        return RING.add(about, RING.multiply(RING.number(len(ends)), square(point(off)))).low

    stops = sorted({mean.low, mean.high, *(end for x in line for end in x if mean.low < end < mean.high)})
    pieces = [Window(*pair) for pair in pairwise(stops)] or [mean]
    sums = Window(min(map(nearest, pieces)), max(map(farthest, mean)))
    return RING.divide(sums, RING.number(number))


# ------------------------------------------------------------------------------------------------ stretching


def _stretching(rule: str, x: Shape, *statistics: Shape) -> Shape:
    """The shape of x, over whose rows or columns the others are stretched."""
    for shape in statistics:
        if shape not in ((x[0], 1), (1, x[1]), (1, 1)):
            raise ShapeError(rule)
    return x


def _of(m: Matrix, i: int, j: int) -> Value:
    rows, columns = m.shape
    return m[i if rows > 1 else 0, j if columns > 1 else 0]


LONGEST, MOST_PARTS = 1000, 10_000
"""Terms of an exact number, and parts of an expression, of which squares and roots are still taken: exponentials of
roots of exponentials, as a second block has them, have more, and take minutes."""


def _check_length(numbers: Matrix) -> None:
    """`InputError` for an entry that is too long to be gone on with."""
    for x in numbers:
        if is_finite(x):
            long = length(numerator_of(x)) + length(denominator_of(x)) > LONGEST
        else:
            long = is_symbolic(x) and not has_symbols(x) and parts(x, MOST_PARTS) == MOST_PARTS
        if long:
            raise OutgrownError(
                "The numbers are too long to be normed exactly; arithmetic = 'auto' goes on in decimals, and weights "
                "that are rational (base 2 or hardmax), rounded weights or norm = 'none' keep them short."
            )


def _roots(variances: Matrix, epsilon: Value, why: str) -> Matrix:
    _check_length(variances)
    roots = variances.map(lambda v: square_root(v + epsilon))
    for k, root in enumerate(roots, 1):
        if isinstance(root, int) and root == 0:
            line = "Row" if variances.shape[1] == 1 else "Column"
            raise UndefinedError(f"{line} {k} cannot be divided by a deviation of 0: {why}, and ε is 0.")
    return roots


def _over(x: Value, root: Value) -> Value:
    """x/root, which is known not to be 0: to ask SymPy again takes long."""
    if is_symbolic(x) or is_symbolic(root):
        return quotient_of_symbols(to_sympy(x), to_sympy(root))
    return divide(x, root)


# ------------------------------------------------------------------------------------------------ the way back


_Statistic = TypeVar("_Statistic", Mean, Variance, MeanSquare)


def _statistic(use: Use, statistic: Operand, kind: type[_Statistic], *of: Operand) -> _Statistic:
    """The operation that gives a norm its mean, variance or mean square, which must be that of what is normed."""
    step = next((step for step in use.d if step.name == statistic.name), None)
    if step is None or not isinstance(step.op, kind) or step.operands != of or statistic != Operand(statistic.name):
        wanted = f"the {kind.title.lower()} of {' with '.join(map(str, of))}"
        raise InputError(f"Step {use.step.name!r} is gone back through only where {statistic} is {wanted}.")
    return step.op


@dataclass(frozen=True)
class SpreadEvenly(Spread):
    """The same for a mean: every term gets its share, 1/`count` of the gradient."""

    title = "Back through the mean"
    trivial = False

    def rule_of_rows(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        return A.quotient(super().rule_of_rows(A, i, j, *operands), A.size(Indices(self.count)))

    def witness_of_rows(self, *operands: Floats) -> Floats:
        share = 1 / float(self.count)
        return super().witness_of_rows(entrywise(lambda x: share * x, *operands))

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Product((Fraction(ONE, size_formula(self.count)), Spread.written(self, style, *operands)))

    def numpy(self, *operands: str) -> str:
        return f"{super().numpy(*operands)} / {self.count}"


@dataclass(frozen=True)
class SquaresGradient(OverOp):
    """2·g·(x − μ)/d for the gradients g of variances, `count` = d entries x (n×d) and their means μ (each n×1).

    Of mean squares it is 2·g·x/d.  With a sample's variance it is divided by d − 1.
    """

    count: Size
    of: Literal["population", "sample"] = "population"
    over: Axis = "columns"
    arity = -1
    title = "Back through the squares"
    shows_factors = False
    by_hand = True

    def shape_of_rows(self, *shapes: Shape) -> Shape:
        gradient, x, *mean = shapes
        if {gradient, *mean} != {(x[0], 1)}:
            raise ShapeError("there must be one gradient and one mean for every line;")
        return x

    def rule_of_rows(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        gradient, x, *mean = operands
        away = A.minus(x[i, j], mean[0].stretched(i, j)) if mean else x[i, j]
        share = A.quotient(A.number(2), A.size(Indices(self.count), int(self.of == "sample")))
        return A.product(share, gradient.stretched(i, j), away)

    def written(self, style: Style, *operands: Formula) -> Formula:
        gradient, x, *mean = operands
        size = size_formula(self.count)
        divisor = size if self.of == "population" else Sum((size, Negative(ONE)))
        away = Sum((x, Negative(mean[0]))) if mean else x
        return Product((Fraction(Number("2"), divisor), Product((gradient, away), "⊙")), "·")

    def numpy(self, *operands: str) -> str:
        gradient, x, *mean = operands
        away = f"({x} - {mean[0]})" if mean else x
        divisor = f"{self.count}" if self.of == "population" else f"({self.count} - 1)"
        return f"2 * {gradient} * {away} / {divisor}"

    def witness_of_rows(self, *operands: Floats) -> Floats:
        """By differences of squares, (y + 1)² − y² − 1 = 2·y for y = x − μ."""
        gradient, x, *mean = operands
        rows, share = [], len(x[0]) - (self.of == "sample")
        for k, ((g,), row) in enumerate(zip(gradient, x, strict=True)):
            away = [entry - (mean[0][k][0] if mean else 0) for entry in row]
            rows.append([g * ((y + 1) ** 2 - y**2 - 1) / share for y in away])
        return rows


@dataclass(frozen=True)
class NormGradient(OverOp):
    """(g_i − mean(g) − n_i·mean(g ⊙ n))/√(v + ε) for each row: back through a norm to what was normed.

    Operands: G and the standardised entries N (each n×d), and their variances v (n×1).  The mean and the variance
    depend on every entry of the row, which is where the two means come from.  With a sample's variance, the second mean
    divides by d − 1.  A root mean square norm has no first mean, and v are its mean squares.
    """

    kind: Literal["population", "sample", "rms"] = "population"
    epsilon: Value = 0
    over: Axis = "columns"
    arity = 3
    title = "Back through the norm"
    entwined = True
    shows_factors = False
    by_hand = True

    def shape_of_rows(self, *shapes: Shape) -> Shape:
        gradient, normed, variance = shapes
        alike(gradient, normed)
        if variance != (gradient[0], 1):
            raise ShapeError("the variances must be one for every line;")
        return gradient

    def values_of_rows(self, *operands: Matrix) -> Matrix:
        gradient, normed, variance = operands
        return Matrix.of(map(self._line, gradient.rows, normed.rows, variance.T.rows[0]))

    def _line(self, gradient: Sequence[Value], normed: Sequence[Value], variance: Value) -> list[Value]:
        deviation = square_root(variance + self.epsilon)
        mean = 0 if self.kind == "rms" else divide(reduce(add, gradient), len(gradient))
        along = divide(reduce(add, map(mul, gradient, normed)), len(gradient) - (self.kind == "sample"))
        return [divide(g - mean - n * along, deviation) for g, n in zip(gradient, normed, strict=True)]

    def rule_of_rows(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        g, n, v = operands
        length = g.columns
        along = A.once(lambda: _mean(A, length, lambda k: A.product(g[i, k], n[i, k]), int(self.kind == "sample")))
        terms = [g[i, j], A.negative(A.product(n[i, j], along))]
        if self.kind != "rms":
            terms.insert(1, A.negative(A.once(lambda: _mean(A, length, lambda k: g[i, k]))))
        inverse = A.once(lambda: A.quotient(A.number(1), _root(A, v[i, 0], self.epsilon)))
        return A.product(inverse, A.sum(*terms))  # large enough to be read

    def witness_of_rows(self, *operands: Floats) -> Floats:
        """Each row times its Jacobian, entry by entry."""
        rows = []
        for gradient, row, (variance,) in zip(*operands, strict=True):
            size, centred = len(row), self.kind != "rms"
            share = size - (self.kind == "sample")
            jacobian = [
                [(i == j) - centred / size - x * y / share for j, y in enumerate(row)] for i, x in enumerate(row)
            ]
            root = math.sqrt(variance + as_float(self.epsilon))
            rows.append([math.fsum(map(mul, gradient, line)) / root for line in jacobian])
        return rows

    def written(self, style: Style, *operands: Formula) -> Formula:
        g, n, v = operands
        mean = Name("mean")
        along: Formula = Call(mean, (Product((g, n), "⊙"),))
        if self.kind == "sample":
            along = Fraction(Call(Name("sum"), (Product((g, n), "⊙"),)), Sum((Name("d"), Negative(ONE))))
        terms = () if self.kind == "rms" else (Negative(Call(mean, (g,))),)
        return Fraction(Sum((g, *terms, Negative(Product((n, along), "⊙")))), self._root(v))

    def numpy(self, *operands: str) -> str:
        gradient, normed, variance = operands
        mean = "" if self.kind == "rms" else f" - {gradient}.mean({over_all(self.over)})"
        products = f"({gradient} * {normed}).mean({over_all(self.over)})"
        if self.kind == "sample":
            length = _numpy_length(gradient, self.over)
            products = f"({gradient} * {normed}).sum({over_all(self.over)}) / ({length} - 1)"
        return f"({gradient}{mean} - {normed} * {products}) / {_numpy_root(variance, self.epsilon)}"

    def range_of_rows(self, *boxes: Box) -> Box:
        return tuple(map(self._range, *boxes))

    def _range(self, gradient: Line, normed: Line, variance: Line) -> Line:
        """The textbook's line, each number wherever it stands: wide enough, and wider than the range."""
        root = RING.sqrt(RING.add(at_least_0(variance[0]), constant(self.epsilon)))
        mean = RING.divide(reduce(RING.add, gradient), RING.number(len(gradient)))
        products = reduce(RING.add, map(times, gradient, normed))
        along = RING.divide(products, RING.number(len(gradient) - (self.kind == "sample")))
        centred = [g if self.kind == "rms" else minus(g, mean) for g in gradient]
        return tuple(over(minus(g, times(n, along)), root) for g, n in zip(centred, normed, strict=True))

    def _root(self, variance: Formula) -> Formula:
        bare = isinstance(self.epsilon, int) and self.epsilon == 0
        return Root(variance if bare else Sum((variance, number(self.epsilon))))


OPS = {"mean": Mean, "variance": Variance, "mean_square": MeanSquare, "standardise": Standardise, "rescale": Rescale}
