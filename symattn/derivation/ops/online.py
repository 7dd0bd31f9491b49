"""Softmax block by block (Milakov and Gimelshein 2018, section 3), as kernels do it (Dao et al. 2022, section 3.1).

Every row keeps the greatest score m so far, and sums of e^(s − m); where m grows, the sums so far are multiplied by
e^(m_old − m_new).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, isclose, isinf

from symattn.derivation.algebra import FORMULAS, Algebra, Base, Entries, Index, T
from symattn.derivation.derivation import (
    Floats,
    Pull,
    Shape,
    Style,
    Use,
    View,
)
from symattn.derivation.numpy_source import by_line, joined, value
from symattn.derivation.ops.attention import range_of_weights
from symattn.derivation.ops.entrywise import Opposite, rate
from symattn.derivation.ops.linear import Hadamard, ProductSum
from symattn.derivation.ops.lines import ACROSS, LineRuleOp
from symattn.derivation.ops.scores import hardmax
from symattn.derivation.sizes import Axis
from symattn.derivation.windows import Box, times
from symattn.derivation.witnesses import entrywise, power_of
from symattn.errors import ShapeError
from symattn.formula import Bracketed, Call, Formula, Name, Negative, Power, Product, Sum, equal, number

MAXIMUM = Name("max")


@dataclass(frozen=True)
class RunningMaximum(LineRuleOp):
    """The greatest entry of each row of all the operands together (n×k, n×l, … become n×1), or of each column."""

    along: Axis = "rows"
    arity = -1
    title = "Running maximum"
    shows_factors = False
    by_blocks = True
    says = (
        "max is the largest number in each row, over all the matrices in the brackets.",
        "max is the largest number in each column, over all the matrices in the brackets.",
    )
    in_short = "max by rows", "max by columns"

    def shape_of_rows(self, *shapes: Shape) -> Shape:
        counts = {rows for rows, _ in shapes}
        if len(counts) != 1:
            raise ShapeError(f"all need as many {self.along};")
        return counts.pop(), 1

    def rule_of_rows(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        counted = [m.columns.counted if isinstance(m.shape[1], int) else (0, "k") for m in operands]
        return A.maximum(*(m[i, k] for m, places in zip(operands, counted, strict=True) for k in places))

    def pull(self, use: Use) -> Pull:
        return Pull((use.g, use.result, use.operand, *use.others), MaximumGradient(self.along))

    def witness_of_rows(self, *operands: Floats) -> Floats:
        return [[max(map(max, rows))] for rows in zip(*operands, strict=True)]

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Call(MAXIMUM, operands)

    def numpy(self, *operands: str) -> str:
        together = joined(ACROSS[self.along], *operands) if operands[1:] else operands[0]
        return f"{together}.max({by_line(self.along)})"


@dataclass(frozen=True)
class MaximumGradient(LineRuleOp):
    """The gradient of a row's maximum for its largest entries, in equal shares, and 0 for the others.

    Operands: the gradients g and the maxima m (each n×1), the matrix that is asked about, and all others of which m are
    the maxima.
    """

    along: Axis = "rows"
    arity = -1
    title = "Back through the maximum"
    shows_factors = False
    says = "The gradient of a maximum goes to the largest entry, in equal shares to those that tie."

    def shape_of_rows(self, *shapes: Shape) -> Shape:
        gradient, maxima, *matrices = shapes
        if {gradient, maxima} != {RunningMaximum().shape(*matrices)}:
            raise ShapeError("every maximum needs a gradient;")
        return matrices[0]

    def rule_of_rows(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        return self._share(A, lambda x, m: A.minus(A.number(1), A.apply("positive", A.minus(m, x))), i, j, *operands)

    def working_of_rows(self, i: Index, j: Index, *operands: View) -> Formula:
        return self._share(FORMULAS, lambda x, m: Bracketed(equal(x, m), "["), i, j, *operands)

    def _share(self, A: Algebra[T], is_largest: Callable[[T, T], T], i: Index, j: Index, *operands: Entries[T]) -> T:
        """g·[x = m] over how many of the row are m."""
        gradient, maxima, *matrices = operands
        if A.hidden(matrices[0][i, j]):
            return A.number(0)

        def largest(x: Entries[T], k: Index) -> T:
            return is_largest(x[i, k], maxima[i, 0])

        seen = [(x, A.visible(x.columns, lambda k, x=x: x[i, k])) for x in matrices]  # type: ignore[misc]
        sums = [A.total(places, lambda k, x=x: largest(x, k)) for x, places in seen]  # type: ignore[misc]
        return A.quotient(A.product(gradient[i, 0], largest(matrices[0], j)), A.sum(*sums) if sums[1:] else sums[0])

    def written(self, style: Style, *operands: Formula) -> Formula:
        gradient, maxima, x, *_ = operands
        return Product((gradient, Bracketed(equal(x, maxima), "[")), "⊙")

    def numpy(self, *operands: str) -> str:
        gradient, maxima, *matrices = operands
        largest_here = [f"np.isclose({x}, {maxima})" for x in matrices]
        ties = " + ".join(f"{one}.sum({by_line(self.along)})" for one in largest_here)
        return f"{gradient} * {largest_here[0]} / ({ties})"

    def range_of_rows(self, *boxes: Box) -> Box:
        gradient, _, *matrices = boxes
        rows = []
        for (g,), *lines in zip(gradient, *matrices, strict=True):
            (weights,) = range_of_weights((sum(lines, ()),), "zero", hardmax)
            rows.append(tuple(times(g, weight) for weight in weights[: len(lines[0])]))
        return tuple(rows)

    def witness_of_rows(self, *operands: Floats) -> Floats:
        """By sorting each row: as many share as are within rounding of the last."""
        gradient, _, *matrices = operands
        rows = []
        for (g,), *lines in zip(gradient, *matrices, strict=True):
            largest = sorted(x for line in lines for x in line)[-1]
            ties = sum(isclose(x, largest, abs_tol=1e-12) for line in lines for x in line)
            rows.append([g / ties if isclose(x, largest, abs_tol=1e-12) and x > -inf else 0.0 for x in lines[0]])
        return rows


@dataclass(frozen=True)
class Exponentials(LineRuleOp):
    """b^(x − m) for x (n×k) and one m for every row (n×1), or for every column; 0 for a score of −∞."""

    along: Axis = "rows"
    base: Base = "e"
    arity = 2
    title = "Exponentials"
    entwined = True
    shows_factors = False
    by_hand = True
    brings = "powers"
    says = (
        "In the exponent, each row uses its own maximum.",
        "In the exponent, each column uses its own maximum.",
    )
    in_short = (
        "Exponent: minus the maximum of its row",
        "Exponent: minus the maximum of its column",
    )

    def shape_of_rows(self, *shapes: Shape) -> Shape:
        scores, maxima = shapes
        return one_for_each(self.line, scores, maxima)

    def rule_of_rows(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        scores, maxima = operands
        x = scores[i, j]
        return A.number(0) if A.hidden(x) else A.exponential(A.minus(x, maxima.stretched(i, j)), self.base)

    def pull(self, use: Use) -> Pull:
        """To the exponents as they are, to what is taken from them with the other sign, and added up."""
        if use.k == 0:
            return Pull.chain((use.g, use.result), Hadamard(), *rate(self.base))
        return Pull.chain((use.g, use.result), ProductSum(ACROSS[self.along]), *rate(self.base), Opposite())

    def witness_of_rows(self, *operands: Floats) -> Floats:
        """Nothing for what is hidden, also where everything is."""
        return entrywise(lambda x, m: 0.0 if isinf(x) else power_of(self.base, x - m), *operands)

    def written(self, style: Style, *operands: Formula) -> Formula:
        return self._written(Sum((operands[0], Negative(operands[1]))))

    def numpy(self, *operands: str) -> str:
        scores, greatest = operands
        below = f"{scores} - np.where({greatest} > -np.inf, {greatest}, 0)"
        return f"np.exp({below})" if self.base == "e" else f"powers_of({value(self.base)}, {below})"

    def _written(self, exponent: Formula) -> Formula:
        return Power(Name("e") if self.base == "e" else number(self.base), exponent)


@dataclass(frozen=True)
class Accumulate(LineRuleOp):
    """α·old + new, every row of the old (n×k) times its own α (n×1), or every column times its own."""

    along: Axis = "rows"
    arity = 3
    title = "Running sum"
    shows_factors = False
    by_hand = True
    in_numpy = "{0} * {1} + {2}"
    says = (
        "⊙ multiplies each row by its own number.",
        "⊙ multiplies each column by its own number.",
    )
    in_short = "⊙: entry by entry, a single row or column with all"

    def shape_of_rows(self, *shapes: Shape) -> Shape:
        factors, old, new = shapes
        if old != new:
            raise ShapeError("what is added must be of the shape of the sum so far;")
        return one_for_each(self.line, old, factors)

    def rule_of_rows(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        factors, old, new = operands
        return A.sum(A.product(factors.stretched(i, j), old[i, j]), new[i, j])

    def pull(self, use: Use) -> Pull:
        factors, old, _ = use.step.operands
        pulls = (
            Pull((use.g, old), ProductSum(ACROSS[self.along])),
            Pull((use.g, factors), Hadamard()),
            Pull((use.g,)),
        )
        return pulls[use.k]

    def witness_of_rows(self, *operands: Floats) -> Floats:
        return entrywise(lambda factor, old, new: factor * old + new, *operands)

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Sum((Product(operands[:2], "⊙"), operands[2]))


def one_for_each(line: str, shape: Shape, own: Shape) -> Shape:
    """The shape, if the numbers beside it are one for every row; errors call a row `line`."""
    if own != (shape[0], 1):
        raise ShapeError(f"every {line} needs one number of its own;")
    return shape


OPS = {"running_maximum": RunningMaximum, "exponentials": Exponentials, "accumulate": Accumulate}
