"""SymPy's expressions as trees."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from symattn.exact import values
from symattn.exact.tree import Apply, MinusInfinity, Node, Number, OutsideTheClass, Power, Product, Symbol, Total


def tree_of(expr: Any) -> Node:
    """A SymPy expression as a tree; what no ring knows is refused as outside the class."""
    import sympy

    if expr.is_Rational:
        return Number(values.tidy(Fraction(int(expr.p), int(expr.q))))
    if expr.is_Float:
        return Number(of_float(expr))
    if expr.is_Add:
        return Total(tuple(map(tree_of, expr.args)))
    if expr.is_Mul:
        return Product(tuple(map(tree_of, expr.args)))
    if expr is sympy.E:
        return Apply("e", ())
    if expr is sympy.pi:
        return Apply("pi", ())
    if expr is sympy.S.NegativeInfinity:
        return MinusInfinity()
    if isinstance(expr, sympy.exp):
        return Power(Apply("e", ()), tree_of(expr.exp))
    if expr.is_Pow:
        return Power(tree_of(expr.base), tree_of(expr.exp))
    if expr.is_Symbol:  # x_{11} is x_11, as it is when it is read
        return Symbol(expr.name.replace("{", "").replace("}", ""))
    name = _FUNCTIONS.get(type(expr).__name__)
    if name is None:
        raise OutsideTheClass(f"The expression {expr} cannot be evaluated here.")
    return Apply(name, tuple(map(tree_of, expr.args)))


_FUNCTIONS = {
    "log": "ln", "tanh": "tanh", "erf": "erf", "sin": "sin", "cos": "cos", "Max": "max", "Min": "min", "Abs": "abs"
}  # fmt: skip
"""SymPy's functions, and what they are called in trees."""


def of_float(x: Any) -> values.Rational:
    """The shortest decimal that is this float; of a Float of another precision, the digits it prints."""
    shortest = repr(float(x)) if x._prec == 53 else str(x)
    return values.tidy(Fraction(shortest))
