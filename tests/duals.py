"""An operation's rule read in dual numbers: the derivative along a direction, the witness of every `pull`.

Griewank and Walther, Evaluating Derivatives, 2008, chapter 3.
"""

from __future__ import annotations

from functools import reduce
from typing import NamedTuple

from symattn import exact
from symattn.derivation.algebra import VALUES, Algebra, Base, Indices, Known
from symattn.exact import NEGATIVE_INFINITY, Value, compare, divide


class Dual(NamedTuple):
    """x + x′ε with ε² = 0: a number, and how fast it changes along a direction."""

    value: Value
    slope: Value


class Duals(Algebra[Dual]):
    """Numbers with their derivatives along a direction, by the rules of calculus."""

    def number(self, value: Value) -> Dual:
        return Dual(value, 0)

    def size(self, indices: Indices, less: int = 0) -> Dual:
        return Dual(VALUES.size(indices, less), 0)

    def sum(self, *terms: Dual) -> Dual:
        return Dual(VALUES.sum(*(x.value for x in terms)), VALUES.sum(*(x.slope for x in terms)))

    def negative(self, x: Dual) -> Dual:
        return Dual(-x.value, -x.slope)

    def product(self, *factors: Dual) -> Dual:
        return reduce(lambda x, y: Dual(x.value * y.value, x.slope * y.value + x.value * y.slope), factors)

    def quotient(self, x: Dual, y: Dual) -> Dual:
        whole = divide(x.value, y.value)
        return Dual(whole, divide(x.slope - whole * y.slope, y.value))

    def square(self, x: Dual) -> Dual:
        return self.product(x, x)

    def exponential(self, x: Dual, base: Base = "e") -> Dual:
        power = VALUES.exponential(x.value, base)
        rate = power if base == "e" else power * exact.logarithm(base)
        return Dual(power, 0 if x.value is NEGATIVE_INFINITY else rate * x.slope)

    def root(self, x: Dual) -> Dual:
        root = exact.square_root(x.value)
        return Dual(root, divide(x.slope, 2 * root))

    def apply(self, function: str, x: Dual) -> Dual:
        value = VALUES.apply(function, x.value)
        match function:
            case "ln":
                return Dual(value, divide(x.slope, x.value))
            case "tanh":
                return Dual(value, (1 - value * value) * x.slope)
            case "abs":
                return Dual(value, x.slope * exact.sign(x.value))
            case "positive":
                return Dual(value, 0)
        raise TypeError(f"Nothing is known of the function {function}.")

    def known(self, function: Known, x: Dual) -> Dual:
        """By SymPy, which knows nothing of our own derivatives; at a kink 0 for the step, as programs have it."""
        import sympy

        t = sympy.Symbol("t", real=True)
        slope = sympy.diff(exact.to_sympy(function.value(t)), t)
        slope = slope.replace(sympy.Heaviside, lambda x, *_: sympy.Heaviside(x, 0))
        return Dual(function.value(x.value), exact.from_sympy(slope.subs(t, exact.to_sympy(x.value))) * x.slope)

    def maximum(self, *terms: Dual) -> Dual:
        return reduce(lambda x, y: x if compare(x.value, y.value) >= 0 else y, terms)

    def hidden(self, x: Dual) -> bool:
        return x.value is NEGATIVE_INFINITY


DUALS = Duals()
