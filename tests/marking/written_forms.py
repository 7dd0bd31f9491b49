"""Right answers of random derivations, written as students write them, with mpmath beside every text.

An entry of the weights or of the output is Σ v_j·b^s_j / Σ b^s_j.  The scores s_j = q_j/√r and the values v_j are
whole numbers or fractions in the key; the forms are written from these, operation by operation, and mpmath follows
each operation, at the precision that is set.  Nothing of symattn is used but problems and their products.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache, reduce
from math import isqrt
from operator import add

import mpmath

from symattn.api import worksheet
from symattn.exact import Value

F = Fraction


# ------------------------------------------------------------------------------------ texts with their numbers


@dataclass(frozen=True)
class Written:
    """A text and the number it stands for; `loose` where it needs brackets as a factor or a term."""

    text: str
    number: mpmath.mpf
    loose: bool = False

    @property
    def tight(self):
        return f"({self.text})" if self.loose else self.text

    def __add__(self, other):
        right = f"({other.text})" if other.text.startswith("-") else other.text
        return Written(f"{self.text} + {right}", self.number + other.number, True)

    def __sub__(self, other):
        return Written(f"{self.text} - {other.tight}", self.number - other.number, True)

    def __mul__(self, other):
        return Written(f"{self.tight}·{other.tight}", self.number * other.number, True)

    def __truediv__(self, other):
        return Written(f"{self.tight}/{other.tight}", self.number / other.number, True)


def rational(q):
    return Written(str(q), mpmath.mpf(q.numerator) / q.denominator, q < 0 or q.denominator > 1)


def total(terms):
    return reduce(add, terms)


# ------------------------------------------------------------------------------------ entries


@dataclass(frozen=True)
class Entry:
    """Σ v_j·b^(q_j/√r) / Σ b^(q_j/√r), as it is in the key."""

    base: int | None  # none for e
    r: int
    q: tuple[F, ...]
    v: tuple[F, ...]
    truth: Value

    def score(self, q):
        return rational(q) if self.r == 1 else rational(q) / Written(f"√{self.r}", mpmath.sqrt(self.r))

    def power(self, q):
        """b to the score q/√r."""
        if self.base is None:
            return Written(f"e^({self.score(q).text})", mpmath.exp(self.score(q).number))
        return Written(f"{self.base}^({q})", mpmath.power(self.base, self.score(q).number))

    def entry(self, power):
        """With every term, also those times 0 and 1."""
        above = total([rational(v) * power(q) for v, q in zip(self.v, self.q, strict=True)])
        return above / total([power(q) for q in self.q])

    @property
    def number(self):
        powers = [mpmath.power(self.base or mpmath.e, rational(q).number / mpmath.sqrt(self.r)) for q in self.q]
        return mpmath.fdot([rational(v).number for v in self.v], powers) / mpmath.fsum(powers)


def as_it_comes(x):
    return x.entry(x.power)


def with_exp(x):
    def power(q):
        exponent = x.score(q) if x.base is None else x.score(q) * Written(f"ln({x.base})", mpmath.log(x.base))
        return Written(f"exp({exponent.text})", mpmath.exp(exponent.number))

    return x.entry(power)


def base_changed(x):
    """The square of the base to half of the score: 4^(s/2), (e^2)^(s/2); with roots e^(q·(√r/r)).

    A base other than e takes exponents of moderate length only, so e^s with a long one becomes 2^k·e^(s − k·ln 2).
    """

    def power(q):
        if x.base is not None:
            return Written(f"{x.base**2}^({q / 2})", mpmath.power(x.base**2, rational(q / 2).number))
        if x.r == 1 and q.denominator > 200:
            two, three_ln_2 = Written("2^3", mpmath.mpf(8)), Written("3·ln(2)", 3 * mpmath.log(2), True)
            exponent = rational(q) - three_ln_2
            return two * Written(f"e^({exponent.text})", mpmath.exp(exponent.number))
        if x.r == 1:
            return Written(f"(e^2)^({q / 2})", mpmath.power(mpmath.e**2, rational(q / 2).number))
        root = Written(f"(√{x.r}/{x.r})", mpmath.sqrt(x.r) / x.r)
        exponent = rational(q) * root
        return Written(f"e^({exponent.text})", mpmath.exp(exponent.number))

    return x.entry(power)


def max_shifted(x):
    return x.entry(lambda q: x.power(q - max(x.q)))


def shifted_in_the_exponent(x):
    """Another number than the greatest is subtracted, and not worked out."""

    def power(q):
        if x.base is not None:
            return x.power(q - F(7))
        exponent = x.score(q) - rational(F(5, 2))
        return Written(f"e^({exponent.text})", mpmath.exp(exponent.number))

    return x.entry(power)


def split_powers(x):
    """e^s as e^(s+1)·e^(−1)."""
    one = F(1)
    return x.entry(lambda q: x.power(q + one) * x.power(-one))


def sum_of_fractions(x):
    below = total([x.power(q) for q in x.q])
    return total([rational(v) * (x.power(q) / below) for v, q in zip(x.v, x.q, strict=True)])


def own_power_divided_out(x):
    """1/(1 + e^(s_2−s_1) + …), each weight with a denominator of its own."""
    return total(
        [rational(v) * (rational(F(1)) / total([x.power(p - q) for p in x.q])) for v, q in zip(x.v, x.q, strict=True)]
    )


def like_terms_collected(x):
    """Equal powers together, what is 0 left out."""
    powers = sorted(set(x.q), reverse=True)
    above = {p: sum(v for v, q in zip(x.v, x.q, strict=True) if q == p) for p in powers}
    terms = [rational(c) * x.power(p) for p, c in above.items() if c] or [rational(F(0))]
    return total(terms) / total([rational(F(x.q.count(p))) * x.power(p) for p in powers])


def common_factor_out(x):
    least, three = min(x.q), rational(F(3))
    above = total([rational(v) * x.power(q - least) for v, q in zip(x.v, x.q, strict=True)])
    below = total([x.power(q - least) for q in x.q])
    return three * x.power(least) * above / (three * x.power(least) * below)


def widened(x):
    """Above and below times 1 + e."""
    factor = rational(F(1)) + Written("e", mpmath.e)
    above = total([rational(v) * x.power(q) for v, q in zip(x.v, x.q, strict=True)])
    return above * factor / (factor * total([x.power(q) for q in x.q]))


def from_the_first_value(x):
    """v_1 + Σ (v_j − v_1)·a_j, for the weights sum to 1."""
    below = total([x.power(q) for q in x.q])
    parts = [rational(v - x.v[0]) * x.power(q) / below for v, q in zip(x.v[1:], x.q[1:], strict=True)]
    return total([rational(x.v[0]), *parts])


def in_latex(x):
    def power(q):
        exponent = str(q) if x.r == 1 else rf"{q}/\sqrt{{{x.r}}}"
        return Written(f"{x.base or 'e'}^{{{exponent}}}", x.power(q).number)

    whole = x.entry(power)
    above = " + ".join(rf"({v}) \cdot {power(q).text}" for v, q in zip(x.v, x.q, strict=True))
    below = " + ".join(power(q).text for q in x.q)
    return Written(rf"\frac{{{above}}}{{{below}}}", whole.number)


def one_fraction(x):
    """Rational powers worked out to a single fraction; only where the base is a number and the scores are whole."""
    powers = [F(x.base or 0) ** int(q) for q in x.q]
    return rational(sum(v * p for v, p in zip(x.v, powers, strict=True)) / sum(powers))


FORMS = {
    form.__name__.replace("_", " "): form
    for form in (
        as_it_comes, with_exp, base_changed, max_shifted, shifted_in_the_exponent, split_powers, sum_of_fractions,
        own_power_divided_out, like_terms_collected, common_factor_out, widened, from_the_first_value, in_latex,
    )
}  # fmt: skip


# ------------------------------------------------------------------------------------ near misses


def fraction_added(x, form, places):
    return form(x) + Written(f"1/10^{places}", mpmath.mpf(10) ** -places)


def exponent_perturbed(x, form, places):
    """Another e-form: one score a little off, where that is no whole number any more.

    If all values are equal, the output does not depend on the scores; then one value is off.
    """
    if x.base is not None or len(set(x.v)) == 1:
        return value_perturbed(x, form, places)
    first = x.v.index(max(x.v))
    q = tuple(q + F(1, 10**places) * (i == first) for i, q in enumerate(x.q))
    return form(Entry(x.base, x.r, q, x.v, x.truth))


def value_perturbed(x, form, places):
    return form(Entry(x.base, x.r, x.q, (x.v[0] + F(1, 10**places), *x.v[1:]), x.truth))


NEAR_MISSES = {
    "a fraction added": fraction_added,
    "an exponent perturbed": exponent_perturbed,
    "a value perturbed": value_perturbed,
}


# ------------------------------------------------------------------------------------ random derivations

PROBLEMS = {
    "e": {},
    "e, root": {"sizes": {"n": 3, "d_model": 5, "d_k": 3, "d_v": 2}},
    "e, causal": {"mechanism_name": "causal_self_attention"},
    "e, 4 tokens": {"sizes": {"n": 4, "d_model": 4, "d_k": 4, "d_v": 4}},
    "base 2": {"softmax": "base 2"},
    "base 3": {"softmax": "base 3"},
}


@cache
def entries(kind, seed):
    """All weights that are not hidden, and all outputs, of one random derivation."""
    return tuple(_entries(kind, seed))


def _entries(kind, seed):
    [sheet] = worksheet(seed=seed, **PROBLEMS[kind])
    problem = sheet.problem
    S, V = ([list(map(F, row)) for row in problem[name].result.rows] for name in "SV")
    d_k = problem["K"].result.shape[1]
    root = isqrt(d_k)
    divisor, r = (root, 1) if root * root == d_k else (1, d_k)
    base = int(kind[-1]) if kind.startswith("base") else None
    for i, row in enumerate(S):
        seen = i + 1 if kind == "e, causal" else len(row)
        q = tuple(s / divisor for s in row[:seen])
        for j in range(seen):
            yield Entry(base, r, q, tuple(F(k == j) for k in range(seen)), problem["A"].result[i, j])
        for j in range(len(V[0])):
            yield Entry(base, r, q, tuple(v[j] for v in V[:seen]), problem["Z"].result[i, j])
