"""One step down a gradient."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from symattn.derivation.algebra import Algebra, Entries, Index, T
from symattn.derivation.derivation import Convention, Floats, InSympy, Pull, RuleOp, Signs, Step, Style, Use, convention
from symattn.derivation.numpy_source import factor
from symattn.derivation.ops.linear import product_in_sympy, sum_in_sympy
from symattn.derivation.ops.position import Multiple
from symattn.derivation.witnesses import as_float, entrywise
from symattn.exact import Value, to_sympy
from symattn.formula import Formula, Name, Negative, Product, Sum, equal


@dataclass(frozen=True)
class Descent(RuleOp):
    """W − η·dW: weights after one step of gradient descent with the learning rate η.

    Goodfellow, Bengio and Courville 2016, section 4.3, equation 4.5, where the rate is ε.
    """

    rate: Value
    arity = 2
    title = "Gradient descent"
    by_hand = True

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        w, g = operands
        return A.minus(w[i, j], A.product(A.number(self.rate), g[i, j]))

    def whole(self, *operands: InSympy) -> InSympy:
        w, g = operands
        return sum_in_sympy(w, product_in_sympy(-to_sympy(self.rate), g))

    def pull(self, use: Use) -> Pull:
        return Pull((use.g,)) if use.k == 0 else Pull((use.g,), Multiple(-self.rate))

    def witness(self, *operands: Floats) -> Floats:
        rate = as_float(self.rate)
        return entrywise(lambda w, g: w - rate * g, *operands)

    def written(self, style: Style, *operands: Formula) -> Formula:
        w, g = operands
        return Sum((w, Negative(Product((Name("η"), g)))))

    def numpy(self, *operands: str) -> str:
        w, g = operands
        return f"{w} - {factor(self.rate)} * {g}"

    def conventions(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        rate = equal(Name("η"), signs.number(self.rate))
        return [convention("Gradient descent takes one step with the learning rate {rate}.", rate=rate)]

    def in_brief(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        return [convention("{rate}", rate=equal(Name("η"), signs.number(self.rate)))]


OPS = {"descent": Descent}
