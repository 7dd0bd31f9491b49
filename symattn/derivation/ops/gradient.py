"""What backpropagation is made of besides products: how gradients go back through softmax, norms and activations.

G stands for the gradient of a loss with respect to the result of a forward step, entry by entry; each operation here
gives the gradient with respect to the operand of that step (a vector-Jacobian product; Goodfellow et al. 2016, 6.5.2).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add, mul
from types import MappingProxyType
from typing import Any, Literal, Self

from symattn.derivation.algebra import Algebra, Entries, Index, Indices, T, along_rows, size_formula
from symattn.derivation.derivation import RuleOp, Shape, Style
from symattn.derivation.ops.attention import Along
from symattn.derivation.ops.entrywise import FUNCTIONS, in_sympy, sigmoid
from symattn.derivation.ops.heads import Part
from symattn.derivation.ops.linear import Stack
from symattn.errors import InputError, ShapeError
from symattn.exact import Matrix, Size, Value, divide, has_symbols, logarithm, sign, square_root, to_sympy
from symattn.formula import (
    ONE,
    Call,
    Formula,
    Fraction,
    MatrixOf,
    Name,
    Negative,
    Number,
    Power,
    Product,
    Root,
    Sum,
    Transposed,
    number,
)

TWO = Number("2")


# ------------------------------------------------------------------------------------------------ softmax


@dataclass(frozen=True)
class SoftmaxJacobian(RuleOp):
    """J = diag(a) − aᵀa for one row a of weights (1×m): J_ij = ∂a_i/∂s_j = a_i·(δ_ij − a_j), m×m and symmetric.

    Along columns the weights are one column (m×1).
    """

    along: Along = "rows"
    title = "Softmax Jacobian"

    def shape(self, *shapes: Shape) -> Shape:
        lines, length = shapes[0] if self.along == "rows" else shapes[0][::-1]
        if lines != 1:
            raise ShapeError(f"the Jacobian is that of one {self.along[:-1]} of weights;")
        return length, length

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        a = operands[0] if self.along == "rows" else operands[0].transposed
        one, other = a[0, i], a[0, j]
        if isinstance(i, int) and isinstance(j, int) and i != j:
            return A.negative(A.product(one, other))
        return A.product(one, A.minus(A.delta(i, j), other))

    def written(self, style: Style, *operands: Formula) -> Formula:
        (a,) = operands
        outer = (Transposed(a), a) if self.along == "rows" else (a, Transposed(a))
        return Sum((Call(Name("diag"), (a,)), Negative(Product(outer))))


@dataclass(frozen=True)
class SoftmaxGradient(RuleOp):
    """a_ij·(g_ij − Σ_k a_ik·g_ik) for weights A and the gradient G with respect to them (each n×m), along each row.

    Each row of G times the Jacobian of its softmax (FlashAttention: Dao et al. 2022, appendix B.2).  Where a weight is
    0, as behind a mask, it is 0.  With another base b than e, everything is multiplied by ln b.
    """

    along: Along = "rows"
    base: Value | Literal["e"] = "e"
    arity = 2
    title = "Back through softmax"

    def shape(self, *shapes: Shape) -> Shape:
        return _alike(*shapes)

    def apply(self, *operands: Matrix) -> Matrix:
        weights, gradient = operands if self.along == "rows" else (m.T for m in operands)
        rows = Matrix.of(map(self._line, weights.rows, gradient.rows))
        return rows if self.along == "rows" else rows.T

    def _line(self, weights: Sequence[Value], gradient: Sequence[Value]) -> list[Value]:
        mean = reduce(add, map(mul, weights, gradient))
        rate = self._rate
        return [rate * (a * (g - mean)) for a, g in zip(weights, gradient, strict=True)]

    @property
    def _rate(self) -> Value:
        return 1 if self.base == "e" else logarithm(self.base)

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        i, j, (a, g) = along_rows(self.along, i, j, *operands)
        mean = A.total(a.columns, lambda k: A.product(a[i, k], g[i, k]))
        rate = () if self.base == "e" else (A.apply("ln", A.number(self.base)),)
        return A.product(*rate, a[i, j], A.minus(g[i, j], mean))

    def written(self, style: Style, *operands: Formula) -> Formula:
        a, g = operands
        mean = Call(Name(f"{self.along[:-1]}sums"), (Product((a, g), "⊙"),))
        product = Product((a, Sum((g, Negative(mean)))), "⊙")
        return Product((*self._written_rate, product), "·") if self._written_rate else product

    @property
    def _written_rate(self) -> tuple[Formula, ...]:
        return () if self.base == "e" else (Call(Name("ln"), (number(self.base),)),)


# ------------------------------------------------------------------------------------------------ entry by entry


@dataclass(frozen=True, slots=True)
class Slope:
    """The derivative f′, as a number and as it is written; of f's value y = f(x) where it is known from that.

    `whole` is how it is written for a matrix, where that is not as for an entry.
    """

    value: Callable[[Value], Value]
    working: Callable[[Formula], Formula]
    whole: Callable[[Formula], Formula] | None = None

    @property
    def of_result(self) -> bool:
        return self.whole is not None

    def written(self, matrix: Formula) -> Formula:
        return (self.whole or self.working)(matrix)


def _relu_slope(x: Value) -> Value:
    """1 where x > 0, else 0: also at 0, where ReLU has no derivative (Goodfellow et al. 2016, section 6.3)."""
    if has_symbols(x):
        import sympy

        return sympy.Heaviside(x, 0)
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


SLOPES: Mapping[str, Slope] = MappingProxyType(
    {
        "relu": Slope(_relu_slope, _primed("relu")),
        "gelu": Slope(_differentiated("gelu"), _primed("gelu")),
        "gelu_tanh": Slope(_differentiated("gelu_tanh"), _primed("gelu_tanh")),
        "silu": Slope(_silu_slope, _primed("silu")),
        "sigmoid": Slope(lambda y: y * (1 - y), partial(_logistic_slope, "·"), partial(_logistic_slope, "⊙")),
        "tanh": Slope(
            lambda y: 1 - y * y, lambda y: _one_minus(Power(y, TWO)), lambda y: _one_minus(Product((y, y), "⊙"))
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

    def __post_init__(self) -> None:
        if self.name not in SLOPES:
            raise InputError(f"The derivative of {self.name!r} is not known; one of {', '.join(SLOPES)} was expected.")

    def shape(self, *shapes: Shape) -> Shape:
        return _alike(*shapes)

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        g, x = operands
        return A.product(g[i, j], A.known(SLOPES[self.name], x[i, j]))

    def written(self, style: Style, *operands: Formula) -> Formula:
        g, x = operands
        slope = SLOPES[self.name].written(x)
        return Product((g, *(slope.factors if isinstance(slope, Product) else (slope,))), "⊙")


@dataclass(frozen=True)
class SoftCapGradient(RuleOp):
    """G ⊙ (1 − (y/c)²) for capped scores y = c·tanh(s/c) (each n×m)."""

    cap: Value
    arity = 2
    title = "Back through the soft cap"

    def shape(self, *shapes: Shape) -> Shape:
        return _alike(*shapes)

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        g, y = operands
        share = A.quotient(y[i, j], A.number(self.cap))
        return A.product(g[i, j], A.minus(A.number(1), A.square(share)))

    def written(self, style: Style, *operands: Formula) -> Formula:
        g, y = operands
        share = Fraction(y, number(self.cap))
        return Product((g, Sum((ONE, Negative(Product((share, share), "⊙"))))), "⊙")


# ------------------------------------------------------------------------------------------------ norms


@dataclass(frozen=True)
class NormGradient(RuleOp):
    """(g_i − mean(g) − n_i·mean(g ⊙ n))/√(v + ε) for each row: back through a norm to what was normed.

    Operands: G and the standardised entries N (each n×d), and their variances v (n×1).  The mean and the variance
    depend on every entry of the row, which is where the two means come from.  With a sample's variance, the second mean
    divides by d − 1.  A root mean square norm has no first mean, and v are its mean squares.
    """

    kind: Literal["population", "sample", "rms"] = "population"
    epsilon: Value = 0
    over: Literal["columns", "rows"] = "columns"
    arity = 3
    title = "Back through the norm"

    def shape(self, *shapes: Shape) -> Shape:
        gradient, normed, variance = shapes
        _alike(gradient, normed)
        rows, columns = gradient
        if variance != ((rows, 1) if self.over == "columns" else (1, columns)):
            raise ShapeError("the variances must be one for every line;")
        return gradient

    def apply(self, *operands: Matrix) -> Matrix:
        gradient, normed, variance = operands if self.over == "columns" else (m.T for m in operands)
        rows = Matrix.of(map(self._line, gradient.rows, normed.rows, variance.T.rows[0]))
        return rows if self.over == "columns" else rows.T

    def _line(self, gradient: Sequence[Value], normed: Sequence[Value], variance: Value) -> list[Value]:
        deviation = square_root(variance + self.epsilon)
        mean = 0 if self.kind == "rms" else divide(reduce(add, gradient), len(gradient))
        along = divide(reduce(add, map(mul, gradient, normed)), len(gradient) - (self.kind == "sample"))
        return [divide(g - mean - n * along, deviation) for g, n in zip(gradient, normed, strict=True)]

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        i, j, (g, n, v) = along_rows("rows" if self.over == "columns" else "columns", i, j, *operands)
        length = g.columns
        along = A.quotient(
            A.total(length, lambda k: A.product(g[i, k], n[i, k])), A.size(length, int(self.kind == "sample"))
        )
        terms = [g[i, j], A.negative(A.product(n[i, j], along))]
        if self.kind != "rms":
            terms.insert(1, A.negative(A.quotient(A.total(length, lambda k: g[i, k]), A.size(length))))
        variance = v[i, 0]
        bare = isinstance(self.epsilon, int) and self.epsilon == 0
        root = A.root(variance if bare else A.sum(variance, A.number(self.epsilon)))
        return A.product(A.quotient(A.number(1), root), A.sum(*terms))  # large enough to be read

    def written(self, style: Style, *operands: Formula) -> Formula:
        g, n, v = operands
        mean = Name("mean")
        along: Formula = Call(mean, (Product((g, n), "⊙"),))
        if self.kind == "sample":
            along = Fraction(Call(Name("sum"), (Product((g, n), "⊙"),)), Sum((Name("d"), Negative(ONE))))
        terms = () if self.kind == "rms" else (Negative(Call(mean, (g,))),)
        return Fraction(Sum((g, *terms, Negative(Product((n, along), "⊙")))), self._root(v))

    def _root(self, variance: Formula) -> Formula:
        bare = isinstance(self.epsilon, int) and self.epsilon == 0
        return Root(variance if bare else Sum((variance, number(self.epsilon))))


# ------------------------------------------------------------------------------------------------ loss


@dataclass(frozen=True)
class CrossEntropyGradient(RuleOp):
    """(P − T)/n: the gradient of the cross-entropy −Σ t·ln p with respect to the logits whose softmax is P (each n×c).

    For targets T whose rows sum to 1.  The loss is the mean over n tokens, or their sum, where n is 1.
    """

    tokens: int = 1
    arity = 2
    title = "Back through cross-entropy and softmax"

    def shape(self, *shapes: Shape) -> Shape:
        return _alike(*shapes)

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        p, t = operands
        difference = A.minus(p[i, j], t[i, j])
        return difference if self.tokens == 1 else A.quotient(difference, A.number(self.tokens))

    def written(self, style: Style, *operands: Formula) -> Formula:
        if self.tokens == 1:
            return self._over(*operands)
        return Product((Fraction(ONE, Number(str(self.tokens))), self._difference(*operands)))

    def _over(self, p: Formula, t: Formula) -> Formula:
        difference = self._difference(p, t)
        return difference if self.tokens == 1 else Fraction(difference, Number(str(self.tokens)))

    def _difference(self, p: Formula, t: Formula) -> Formula:
        return Sum((p, Negative(t)))


# ------------------------------------------------------------------------------------------------ putting together


@dataclass(frozen=True)
class ProductSum(RuleOp):
    """Σ_i a_ij·b_ij: the column sums of A ⊙ B (1×m), or over columns its row sums (n×1): for what was stretched."""

    over: Literal["rows", "columns"] = "rows"
    arity = 2
    title = "Sum of products"

    def shape(self, *shapes: Shape) -> Shape:
        rows, columns = _alike(*shapes)
        return (1, columns) if self.over == "rows" else (rows, 1)

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        a, b = operands
        if self.over == "rows":
            return A.total(a.rows, lambda k: A.product(a[k, j], b[k, j]))
        return A.total(a.columns, lambda k: A.product(a[i, k], b[i, k]))

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Call(Name("columnsums" if self.over == "rows" else "rowsums"), (Product(operands, "⊙"),))


@dataclass(frozen=True)
class Spread(RuleOp):
    """One row (1×m) `count` times, or over columns one column (n×1): every term gets the gradient of the sum."""

    count: Size
    over: Literal["rows", "columns"] = "rows"
    title = "Back through the sum"
    trivial = True

    def shape(self, *shapes: Shape) -> Shape:
        lines, length = shapes[0] if self.over == "rows" else shapes[0][::-1]
        if lines != 1:
            raise ShapeError(f"what is repeated must be one {self.over[:-1]};")
        return (self.count, length) if self.over == "rows" else (length, self.count)

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        return operands[0].stretched(i, j)

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Call(Name("repeat"), operands)


@dataclass(frozen=True)
class SpreadEvenly(Spread):
    """The same for a mean: every term gets its share, 1/`count` of the gradient."""

    title = "Back through the mean"
    trivial = False

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        return A.quotient(super().rule(A, i, j, *operands), A.size(Indices(self.count)))

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Product((Fraction(ONE, size_formula(self.count)), Spread.written(self, style, *operands)))


@dataclass(frozen=True)
class Total(RuleOp):
    """A + B + …, matrices of one shape: a matrix that is used several times gets a gradient from each of its uses."""

    arity = -1
    title = "Sum"

    def shape(self, *shapes: Shape) -> Shape:
        return _alike(*shapes)

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        return A.sum(*(m[i, j] for m in operands))

    def whole(self, *operands: Any) -> Any:
        return sum(operands[1:], operands[0])

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Sum(operands)


@dataclass(frozen=True)
class PutTogether(Stack):
    """A `Stack` of gradients that have been worked out: the forward pass took the matrix apart."""

    trivial = True


@dataclass(frozen=True)
class Interleave(RuleOp):
    """Matrices of one shape whose columns (or rows) are dealt out in turn: the first of each, the second of each, …

    It puts together what interleaved heads took apart (`Part` with a step).
    """

    along: Along = "columns"
    arity = -1
    title = "Columns in turn"
    trivial = True

    def shape(self, *shapes: Shape) -> Shape:
        rows, columns = _alike(*shapes)
        grown = columns if self.along == "columns" else rows
        if not isinstance(grown, int):
            raise ShapeError("to be dealt out in turn, their number must be known;")
        return (rows, len(shapes) * grown) if self.along == "columns" else (len(shapes) * grown, columns)

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        i, j, operands = along_rows("rows" if self.along == "columns" else "columns", i, j, *operands)
        if isinstance(j, str):
            return A.dots()
        return operands[j % len(operands)][i, j // len(operands)]

    def written(self, style: Style, *operands: Formula) -> Formula:
        cells = (operands,) if self.along == "columns" else tuple((operand,) for operand in operands)
        return Call(Name("interleaved"), (MatrixOf(cells),))


@dataclass(frozen=True)
class Padded(RuleOp):
    """Columns (or rows) at the places of `part` among `size` of them, and 0 elsewhere, where nothing was used."""

    part: Part
    size: int
    title = "Padded with zeros"
    trivial = True

    def shape(self, *shapes: Shape) -> Shape:
        rows, columns = shapes[0]
        if (columns if self.part.of == "columns" else rows) != self.part.count:
            raise ShapeError(f"{self.part.count} {self.part.of} were expected;")
        return (rows, self.size) if self.part.of == "columns" else (self.size, columns)

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        i, j, (x,) = along_rows("rows" if self.part.of == "columns" else "columns", i, j, *operands)
        if isinstance(j, str):
            return A.dots()
        return x[i, self.part.indices.index(j)] if j in self.part.indices else A.number(0)

    def turn(self) -> Self:
        return replace(self, part=self.part.turn())

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Call(Name("padded"), operands)


@dataclass(frozen=True)
class Copy(RuleOp):
    """The same matrix under another name: the gradient of what was only added is that of the sum."""

    title = "The same"
    trivial = True

    def shape(self, *shapes: Shape) -> Shape:
        return shapes[0]

    def apply(self, *operands: Matrix) -> Matrix:
        return operands[0]

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        return operands[0][i, j]

    def whole(self, *operands: Any) -> Any:
        return operands[0]

    def written(self, style: Style, *operands: Formula) -> Formula:
        return operands[0]


# ------------------------------------------------------------------------------------------------ small things


def _alike(*shapes: Shape) -> Shape:
    if len(set(shapes)) != 1:
        raise ShapeError("the matrices must have the same shape;")
    return shapes[0]


OPS = {"softmax_jacobian": SoftmaxJacobian, "softmax_gradient": SoftmaxGradient}

__all__ = [
    "SLOPES",
    "ActivationGradient",
    "Copy",
    "CrossEntropyGradient",
    "Interleave",
    "NormGradient",
    "Padded",
    "ProductSum",
    "PutTogether",
    "Slope",
    "SoftCapGradient",
    "SoftmaxGradient",
    "SoftmaxJacobian",
    "Spread",
    "SpreadEvenly",
    "Total",
]
