"""How far probabilities are from what was wanted: the cross-entropy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from symattn.derivation.algebra import Algebra, Entries, Index, T, sum_over
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
from symattn.derivation.numpy_source import by_line
from symattn.derivation.ops.lines import LineRuleOp
from symattn.derivation.sizes import Axis
from symattn.derivation.windows import NOTHING, RING, Box, Window, times
from symattn.derivation.witnesses import entrywise
from symattn.errors import ShapeError, UndefinedError
from symattn.exact import (
    ExpSum,
    Matrix,
    Quotient,
    Rational,
    Real,
    Value,
    exponential,
    has_symbols,
    is_symbolic,
    logarithm,
    sign,
    to_sympy,
)
from symattn.exact.bridge import from_sympy
from symattn.exact.values import coefficients, terms_of
from symattn.formula import ONE, ZERO, Call, Formula, Fraction, Name, Negative, Number, Product, Sum


@dataclass(frozen=True)
class CrossEntropy(LineRuleOp):
    """−Σ_j t_j ln p_j of each row (n×c and n×c become n×1), or of each column (1×n): in nats.

    p are probabilities, t the target: one-hot, or any distribution.  What is not wanted at all (t = 0) counts nothing,
    whatever its probability; what is wanted and has probability 0 makes the loss infinite, which is an
    `UndefinedError`.
    """

    along: Axis = "rows"
    arity = 2
    title = "Cross-entropy"
    shows_factors = False
    by_hand = True

    def shape_of_rows(self, *shapes: Shape) -> Shape:
        p, t = shapes
        if p != t:
            raise ShapeError("every probability needs a target;")
        return p[0], 1

    def values_of_rows(self, *operands: Matrix) -> Matrix:
        p, t = operands
        return Matrix.of([_cross_entropy(*lines, i)] for i, lines in enumerate(zip(p.rows, t.rows, strict=True), 1))

    def rule_of_rows(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        p, t = operands
        return A.negative(A.total(p.columns, lambda k: A.product(t[i, k], A.apply("ln", p[i, k]))))

    def flows(self, k: int) -> bool:
        return k == 0

    def pull(self, use: Use) -> Pull:
        """To the probabilities; what was wanted is no variable."""
        return Pull((use.g, *use.step.operands), ProbabilityGradient(self.along))

    def working_of_rows(self, i: Index, j: Index, *operands: View) -> Formula:
        p, t = operands
        size = p.shape[1]

        def term(k: Index) -> Formula:
            wanted, logarithm = t.entry(i, k), Call(Name("ln"), (p.entry(i, k),))
            if wanted == ZERO:
                return ZERO
            return logarithm if wanted == ONE else Product((wanted, logarithm), "·")

        if isinstance(size, str) or p.long:
            return Negative(sum_over(size, term("k"), p.first))
        terms = [shown for k in range(size) if (shown := term(k)) != ZERO]
        return Sum(tuple(map(Negative, terms))) if terms[1:] else Negative(terms[0]) if terms else ZERO

    def witness_of_rows(self, *operands: Floats) -> Floats:
        """By the logarithm of one product of powers: −ln Π p^t."""
        pairs = (zip(*rows, strict=True) for rows in zip(*operands, strict=True))
        products = [math.prod(p**t for p, t in row) for row in pairs]
        if 0 in products:
            raise OverflowError("A probability is too near to 0 for a float.")
        return [[-math.log(product)] for product in products]

    def written(self, style: Style, *operands: Formula) -> Formula:
        """−Sum(T ⊙ ln(P))."""
        p, t = operands
        return Negative(Call(Name("Sum"), (Product((t, Call(Name("ln"), (p,))), "⊙"),)))

    def numpy(self, *operands: str) -> str:
        """Where nothing is wanted, the logarithm is of 1, and counts nothing."""
        p, t = operands
        return f"-({t} * np.log(np.where({t} == 0, 1, {p}))).sum({by_line(self.along)})"

    def range_of_rows(self, *boxes: Box) -> Box:
        rows = zip(*boxes, strict=True)
        return tuple((RING.negate(reduce(RING.add, map(_wanted, *lines))),) for lines in rows)

    def conventions(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        return [convention(_LOSS[self.along])]


_LOSS: Mapping[Axis, str] = {
    "rows": (
        "The loss of a token is minus the sum, over its row, of target times ln of probability; ln "
        "has base e, and a term with target 0 counts as 0."
    ),
    "columns": (
        "The loss of a token is minus the sum, over its column, of target times ln of probability; "
        "ln has base e, and a term with target 0 counts as 0."
    ),
}


def _cross_entropy(probabilities: Sequence[Value], targets: Sequence[Value], i: int) -> Value:
    total: Value = 0
    in_reals = any(isinstance(x, Real) for x in (*probabilities, *targets))
    for j, (p, t) in enumerate(zip(probabilities, targets, strict=True), 1):
        if not has_symbols(t) and t == 0:
            continue
        if not has_symbols(p) and sign(p) <= 0:
            raise UndefinedError(
                f"Token {i} is to have entry {j}, whose probability is {p}: the logarithm of that is not defined."
            )
        total = total - (t * logarithm(p) if in_reals else to_sympy(t) * written_logarithm(p))
    return from_sympy(total) if is_symbolic(total) else total


def _wanted(p: Window, t: Window) -> Window:
    """t ln p, and 0 where t is; p may not be 0 elsewhere."""
    if t == NOTHING:
        return NOTHING
    if p.low <= 0:
        raise UndefinedError("The logarithm of a number that may be 0 is undefined.")
    return times(t, RING.ln(p))


def written_logarithm(p: Value) -> Any:
    """ln p for p > 0, as SymPy expression: ln(e²/(1 + e + e²)) as 2 − ln(1 + e + e²)."""
    import sympy

    if isinstance(p, Quotient):
        least = _least_exponent(p.denominator)  # ln(1/e + 1 + e) as ln(1 + e + e²) − 1
        return (
            written_logarithm(p.numerator) - to_sympy(least) - sympy.log(to_sympy(p.denominator * exponential(-least)))
        )
    if isinstance(p, ExpSum) and len(terms_of(p)) == 1:  # c·√r·e^a
        return sympy.expand_log(sympy.log(to_sympy(p)), force=True)
    return sympy.log(to_sympy(p))


def _least_exponent(total: ExpSum) -> Rational:
    """The least a of the e^a in a sum, where all of them are rational; else 0."""
    exponents = [coefficients(a) for a, _, _ in total.terms]
    return min(a.get(1, 0) for a in exponents) if all(a.keys() <= {1} for a in exponents) else 0


# ------------------------------------------------------------------------------------------------ the way back


@dataclass(frozen=True)
class CrossEntropyGradient(RuleOp):
    """(P − T)/n: the gradient of the cross-entropy −Σ t·ln p with respect to the logits whose softmax is P (each n×c).

    For targets T whose rows sum to 1.  The loss is the mean over n tokens, or their sum, where n is 1.
    """

    tokens: int = 1
    arity = 2
    title = "Back through cross-entropy and softmax"
    by_hand = True

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        p, t = operands
        difference = A.minus(p[i, j], t[i, j])
        return difference if self.tokens == 1 else A.quotient(difference, A.number(self.tokens))

    def witness(self, *operands: Floats) -> Floats:
        return entrywise(lambda p, t: (p - t) / self.tokens, *operands)

    def written(self, style: Style, *operands: Formula) -> Formula:
        if self.tokens == 1:
            return self._over(*operands)
        return Product((Fraction(ONE, Number(str(self.tokens))), self._difference(*operands)))

    def numpy(self, *operands: str) -> str:
        difference = " - ".join(operands)
        return difference if self.tokens == 1 else f"({difference}) / {self.tokens}"

    def _over(self, p: Formula, t: Formula) -> Formula:
        difference = self._difference(p, t)
        return difference if self.tokens == 1 else Fraction(difference, Number(str(self.tokens)))

    def _difference(self, p: Formula, t: Formula) -> Formula:
        return Sum((p, Negative(t)))


@dataclass(frozen=True)
class ProbabilityGradient(LineRuleOp):
    """−g·t/p for the gradients g of the losses of rows (n×1), or of columns, and P and T (each n×c); 0 where t = 0."""

    along: Axis = "rows"
    arity = 3
    title = "Back through cross-entropy"
    shows_factors = False
    by_hand = True

    def shape_of_rows(self, *shapes: Shape) -> Shape:
        g, p, t = shapes
        if g != CrossEntropy().shape(p, t):
            raise ShapeError("every loss needs a gradient;")
        return p

    def values_of_rows(self, *operands: Matrix) -> Matrix:
        g, p, t = operands
        rows = zip(p.rows, t.rows, strict=True)
        wanted = Matrix.of([x if y != 0 else 1 for x, y in zip(*lines, strict=True)] for lines in rows)
        return super().values_of_rows(g, wanted, t)

    def rule_of_rows(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        g, p, t = operands
        return A.negative(A.quotient(A.product(g.stretched(i, j), t[i, j]), p[i, j]))

    def written(self, style: Style, *operands: Formula) -> Formula:
        g, p, t = operands
        return Negative(Fraction(Product((g, t), "⊙"), p))

    def numpy(self, *operands: str) -> str:
        g, p, t = operands
        return f"-{g} * {t} / np.where({t} == 0, 1, {p})"

    def witness_of_rows(self, *operands: Floats) -> Floats:
        return [
            [-(g / x) * y if y else 0.0 for x, y in zip(*lines, strict=True)]
            for (g,), *lines in zip(*operands, strict=True)
        ]


OPS = {"cross_entropy": CrossEntropy}
