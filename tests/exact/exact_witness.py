"""Recipes for numbers, and three independent ways to follow one: ours, mpmath's and SymPy's.

A recipe is a nested tuple such as ("add", ("exp", ("int", 2)), ("sqrt", ("int", 3))).  Only the strategies know
which recipes stay inside the class of exact numbers.
"""

from fractions import Fraction
from operator import add, mul, neg, truediv

import mpmath
import sympy
from hypothesis import strategies as st

from symattn.exact.values import divide, exponential, square_root


def follow(recipe, leaf, divide, root, power):
    """A recipe with such numbers for its leaves, and such functions of them."""
    op, *operands = recipe
    if op == "number":
        return leaf(*operands)
    first, *second = (follow(operand, leaf, divide, root, power) for operand in operands)
    functions = {"add": add, "multiply": mul, "negate": neg, "divide": divide, "sqrt": root, "exp": power}
    return functions[op](first, *second)


def ours(recipe):
    return follow(recipe, lambda q: q.numerator if q.denominator == 1 else q, divide, square_root, exponential)


def in_mpmath(recipe):
    """At the precision that is set in mpmath.mp."""
    return follow(recipe, lambda q: mpmath.mpf(q.numerator) / q.denominator, truediv, mpmath.sqrt, mpmath.exp)


def in_sympy(recipe):
    return follow(recipe, lambda q: sympy.Rational(q.numerator, q.denominator), truediv, sympy.sqrt, sympy.exp)


def mp_fraction(x):
    """The exact fraction that an mpmath number is."""
    sign, mantissa, exponent, _ = x._mpf_
    value = Fraction(int(mantissa)) * (Fraction(2) ** exponent)
    return -value if sign else value


def number(q):
    return ("number", Fraction(q))


small = st.fractions(min_value=-6, max_value=6, max_denominator=6)
positive = st.fractions(min_value=Fraction(1, 6), max_value=30, max_denominator=6)
surds = st.builds(lambda c, r: ("multiply", number(c), ("sqrt", number(r))), small, st.integers(2, 12))
exponents = st.one_of(small.map(number), surds, st.builds(lambda a, b: ("add", a, b), small.map(number), surds))
terms = st.builds(
    lambda c, r, a: ("multiply", number(c), ("multiply", ("sqrt", number(r)), ("exp", a))),
    small, st.sampled_from([1, 1, 1, 2, 3, 6, 12]), exponents,
)  # fmt: skip
sums = st.lists(terms, min_size=1, max_size=3).map(
    lambda ts: (
        ts[0] if len(ts) == 1 else ("add", ts[0], ts[1]) if len(ts) == 2 else ("add", ts[0], ("add", ts[1], ts[2]))
    )
)
positive_sums = st.builds(
    lambda c, a, d, b: (
        "add",
        ("multiply", number(c), ("exp", a)),
        ("multiply", number(d), ("multiply", ("sqrt", number(2)), ("exp", b))),
    ),
    positive, exponents, positive, exponents,
)  # fmt: skip
quotients = st.builds(lambda n, d: ("divide", n, d), sums, positive_sums)
towers = st.builds(lambda a, b: ("add", a, ("sqrt", b)), sums, positive_sums)
members = st.one_of(small.map(number), surds, sums, quotients)
everything = st.one_of(members, towers, st.builds(lambda n, d: ("divide", n, ("sqrt", d)), sums, positive_sums))


def random_positive(rng, depth=2):
    """A recipe made of positive parts only, so that every division in it is defined."""
    kind = rng.choice(["number", "exp", "surd"] if depth == 0 else ["add", "add", "multiply", "divide", "exp"])
    match kind:
        case "number":
            return number(Fraction(rng.randint(1, 9), rng.randint(1, 5)))
        case "exp":
            a = number(Fraction(rng.randint(-6, 6), rng.randint(1, 3)))
            return ("exp", rng.choice([a, ("multiply", a, ("sqrt", number(3)))]))
        case "surd":
            return ("sqrt", number(rng.randint(2, 12)))
    return (kind, random_positive(rng, depth - 1), random_positive(rng, depth - 1))


def rewritten(rng, recipe):
    """Another recipe for the same number."""
    match recipe:
        case ("add" | "multiply" as op, a, b):
            a, b = rewritten(rng, a), rewritten(rng, b)
            result = (op, b, a) if rng.random() < 0.5 else (op, a, b)
        case ("divide", a, b):
            c = random_positive(rng, 1)
            result = ("divide", ("multiply", rewritten(rng, a), c), ("multiply", c, rewritten(rng, b)))
        case ("exp", a):
            half = ("multiply", number(Fraction(1, 2)), a)
            result = rng.choice(
                [("multiply", ("exp", half), ("exp", half)), ("divide", number(1), ("exp", ("negate", a))), recipe]
            )
        case ("sqrt", a):
            result = rng.choice([("divide", a, recipe), recipe])
        case _:
            result = recipe
    if rng.random() < 0.2:
        extra = random_positive(rng, 1)
        result = ("add", ("add", result, extra), ("negate", extra))
    return result
