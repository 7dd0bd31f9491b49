"""Intervals that carry decimals: ours beside mpmath's, and python-flint's balls where that is installed.

python tests/bench/enclosures.py: microseconds of processor time, the least of several runs, at 40 digits.
"""

import random
import time
from fractions import Fraction

from mpmath import iv

from symattn.exact.intervals import LEAST_DIGITS, interval_ring

BITS = 140  # some 42 digits
TERMS = 64


def microseconds(work, times):
    def once():
        start = time.process_time()
        for _ in range(times):
            work()
        return (time.process_time() - start) / times * 1e6

    return min(once() for _ in range(5))


def libraries():
    """How each makes a number of a fraction, and its operations."""
    ring = interval_ring(LEAST_DIGITS)
    found = {
        "symattn": (ring.number, {
            "+": ring.add, "·": ring.multiply, "exp": ring.exp, "sqrt": ring.sqrt, "tanh": ring.tanh, "erf": ring.erf,
        }),
        "mpmath.iv": (lambda q: iv.mpf(q.numerator) / q.denominator, {
            "+": lambda a, b: a + b, "·": lambda a, b: a * b, "exp": iv.exp, "sqrt": iv.sqrt,
        }),
    }  # fmt: skip
    iv.prec = BITS
    try:
        import flint
    except ImportError:
        return found
    flint.ctx.prec = BITS
    functions = {name: getattr(flint.arb, name) for name in ("exp", "sqrt", "tanh", "erf")}
    operations = {"+": lambda a, b: a + b, "·": lambda a, b: a * b, **functions}
    return {**found, "python-flint": (lambda q: flint.arb(q.numerator) / q.denominator, operations)}


def main():
    rng = random.Random(1)
    pairs = [(Fraction(rng.randint(-99, 99), 7), Fraction(rng.randint(-99, 99), 11)) for _ in range(TERMS)]
    for name, (number, operations) in libraries().items():
        left = [operations["exp"](number(a)) for a, _ in pairs]
        right = [number(b) for _, b in pairs]

        def dot(left=left, right=right, operations=operations, number=number):
            total = number(Fraction(0))
            for a, b in zip(left, right, strict=True):
                total = operations["+"](total, operations["·"](a, b))
            return total

        x = number(Fraction(22, 7))
        figures = {f"a term of a dot product of {TERMS}": microseconds(dot, 20) / TERMS}
        for function in set(operations) - {"+", "·"}:
            figures[function] = microseconds(lambda f=operations[function], x=x: f(x), 20)
        print(f"{name:13}", "  ".join(f"{what} {figure:.2f}" for what, figure in sorted(figures.items())))


if __name__ == "__main__":
    main()
