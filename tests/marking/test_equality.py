"""Right answers in any form are right, and answers that are wrong by 1e-60 are wrong.

An entry of the weights or of the output is Σ v_j·b^s_j / Σ b^s_j.  The scores s_j = q_j/√r and the values v_j are whole
numbers or fractions in the key of a random derivation; the forms are written from these as students write them, and
mpmath, at 90 digits, works out what each text stands for.
"""

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from math import isqrt

import mpmath
import pytest
from trials import at_least_one

from symattn.api import worksheet
from symattn.exact import Value
from symattn.exact.reading import decide_reading, read
from symattn.marking.marker.policy import POLICIES
from symattn.marking.marker.trace import Accepts
from symattn.marking.submissions import entry as as_typed

F = Fraction
TOLERANCE = mpmath.mpf(10) ** -80


@pytest.fixture(autouse=True, scope="module")
def _digits():
    with mpmath.workdps(90):
        yield


def number(text):
    """What a text stands for, by mpmath."""
    for old, new in (
        (r"\frac", ""),
        ("}{", ")/("),
        ("{", "("),
        ("}", ")"),
        ("\\", ""),
        ("^", "**"),
        ("cdot", "*"),
        ("·", "*"),
    ):
        text = text.replace(old, new)
    text = re.sub(r"√(\d+)", r"sqrt(\1)", text)
    named = {"mpf": mpmath.mpf, "e": mpmath.e, "exp": mpmath.exp, "ln": mpmath.log, "sqrt": mpmath.sqrt}
    return eval(re.sub(r"\d+", r"mpf(\g<0>)", text), named)


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
        return f"({q})" if self.r == 1 else f"({q})/√{self.r}"

    def power(self, q):
        return f"{self.base or 'e'}^({self.score(q)})"

    def above(self, power):
        """With every term, also those times 0 and 1."""
        return f"({' + '.join(f'({v})·{power(q)}' for v, q in zip(self.v, self.q, strict=True))})"

    def below(self, power):
        return f"({' + '.join(map(power, self.q))})"

    def entry(self, power):
        return f"{self.above(power)}/{self.below(power)}"

    @property
    def number(self):
        powers = [mpmath.power(self.base or mpmath.e, mpmath.mpf(q.numerator) / q.denominator / mpmath.sqrt(self.r))
                  for q in self.q]  # fmt: skip
        values = [mpmath.mpf(v.numerator) / v.denominator for v in self.v]
        return mpmath.fdot(values, powers) / mpmath.fsum(powers)


PROBLEMS = {
    "e": {},
    "e, root": {"sizes": {"n": 3, "d_model": 5, "d_k": 3, "d_v": 2}},
    "e, causal": {"mechanism_name": "causal_self_attention"},
    "e, 4 tokens": {"sizes": {"n": 4, "d_model": 4, "d_k": 4, "d_v": 4}},
    "base 2": {"softmax": "base 2"},
    "base 3": {"softmax": "base 3"},
}
KINDS = [pytest.param(kind, marks=pytest.mark.slow if "4 tokens" in kind else ()) for kind in PROBLEMS]


@cache
def entries(kind):
    """All weights that are not hidden, and all outputs, of one random derivation."""
    [sheet] = worksheet(seed=1, **PROBLEMS[kind])
    S, V = ([list(map(F, row)) for row in sheet.problem[name].result.rows] for name in "SV")
    weights, output = (sheet.problem[name].result for name in "AZ")
    d_k = sheet.problem["K"].result.shape[1]
    divisor, r = (isqrt(d_k), 1) if isqrt(d_k) ** 2 == d_k else (1, d_k)
    base, found = int(kind[-1]) if kind.startswith("base") else None, []
    for i, row in enumerate(S):
        seen = i + 1 if kind == "e, causal" else len(row)
        q = tuple(s / divisor for s in row[:seen])
        found += [Entry(base, r, q, tuple(F(k == j) for k in range(seen)), weights[i, j]) for j in range(seen)]
        columns = enumerate(zip(*V[:seen], strict=True))
        found += [Entry(base, r, q, column, output[i, j]) for j, column in columns]
    return tuple(found)


# ------------------------------------------------------------------------------------ forms


def with_exp(x):
    times = f"·ln({x.base})" if x.base else ""
    return x.entry(lambda q: f"exp({x.score(q)}{times})")


def base_changed(x):
    """The square of the base to half of the score: 4^(s/2), (e^2)^(s/2); with roots e^(q·(√r/r)).

    A base other than e takes exponents of moderate length only, so e^s with a long one becomes 2^k·e^(s − k·ln 2).
    """

    def power(q):
        if x.base is not None:
            return f"{x.base**2}^({q / 2})"
        if x.r == 1 and q.denominator > 200:
            return f"2^3·e^(({q}) - 3·ln(2))"
        return f"(e^2)^({q / 2})" if x.r == 1 else f"e^(({q})·(√{x.r}/{x.r}))"

    return x.entry(power)


def shifted_in_the_exponent(x):
    """Another number than the greatest is subtracted, and not worked out."""
    return x.entry(lambda q: x.power(q - 7) if x.base else f"e^({x.score(q)} - 5/2)")


def own_power_divided_out(x):
    """1/(1 + e^(s_2−s_1) + …), each weight with a denominator of its own."""
    terms = (f"({v})·(1/{x.below(lambda p, q=q: x.power(p - q))})" for v, q in zip(x.v, x.q, strict=True))
    return " + ".join(terms)


def like_terms_collected(x):
    """Equal powers together, what is 0 left out."""
    powers = sorted(set(x.q), reverse=True)
    above = {p: sum(v for v, q in zip(x.v, x.q, strict=True) if q == p) for p in powers}
    terms = " + ".join(f"({c})·{x.power(p)}" for p, c in above.items() if c) or "0"
    return f"({terms})/({' + '.join(f'{x.q.count(p)}·{x.power(p)}' for p in powers)})"


def common_factor_out(x):
    least = min(x.q)
    above, below = (sums(lambda q: x.power(q - least)) for sums in (x.above, x.below))
    return f"3·{x.power(least)}·{above}/(3·{x.power(least)}·{below})"


def from_the_first_value(x):
    """v_1 + Σ (v_j − v_1)·a_j, for the weights sum to 1."""
    below = x.below(x.power)
    terms = (f" + ({v - x.v[0]})·{x.power(q)}/{below}" for v, q in zip(x.v[1:], x.q[1:], strict=True))
    return f"({x.v[0]}){''.join(terms)}"


def in_latex(x):
    root = "" if x.r == 1 else rf"/\sqrt{{{x.r}}}"
    above, below = (sums(lambda q: f"{x.base or 'e'}^{{{q}{root}}}") for sums in (x.above, x.below))
    return rf"\frac{{{above}}}{{{below}}}".replace("·", r" \cdot ")


FORMS = {
    "as it comes": lambda x: x.entry(x.power),
    "with exp": with_exp,
    "base changed": base_changed,
    "max shifted": lambda x: x.entry(lambda q: x.power(q - max(x.q))),
    "shifted in the exponent": shifted_in_the_exponent,
    "powers split": lambda x: x.entry(lambda q: f"{x.power(q + 1)}·{x.power(F(-1))}"),
    "sum of fractions": lambda x: x.above(lambda q: f"({x.power(q)}/{x.below(x.power)})"),
    "own power divided out": own_power_divided_out,
    "like terms collected": like_terms_collected,
    "common factor out": common_factor_out,
    "widened": lambda x: f"{x.above(x.power)}·(1 + e)/((1 + e)·{x.below(x.power)})",
    "from the first value": from_the_first_value,
    "in LaTeX": in_latex,
}


# ------------------------------------------------------------------------------------ near misses


def value_perturbed(x, form, places):
    return form(replace(x, v=(x.v[0] + F(1, 10**places), *x.v[1:])))


def exponent_perturbed(x, form, places):
    """Another e-form: one score a little off, where that is no whole number any more.

    If all values are equal, the output does not depend on the scores; then one value is off.
    """
    if x.base is not None or len(set(x.v)) == 1:
        return value_perturbed(x, form, places)
    first = x.v.index(max(x.v))
    return form(replace(x, q=tuple(q + F(1, 10**places) * (i == first) for i, q in enumerate(x.q))))


NEAR_MISSES = {
    "a fraction added": lambda x, form, places: f"{form(x)} + 1/10^{places}",
    "an exponent perturbed": exponent_perturbed,
    "a value perturbed": value_perturbed,
}


# ------------------------------------------------------------------------------------ the law


@pytest.mark.covering(most=2, product=False)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", KINDS)
def test_right_answers_in_every_form(kind, form):
    for entry in at_least_one(entries(kind)):
        text = FORMS[form](entry)
        assert abs(number(text) - entry.number) < TOLERANCE
        decision = decide_reading(read(text), entry.truth)
        assert decision.equal is True, (text, entry.truth, decision)


@pytest.mark.covering(most=2, product=False)
@pytest.mark.parametrize("places", [12, 60])
@pytest.mark.parametrize("miss", NEAR_MISSES)
@pytest.mark.parametrize("kind", KINDS)
def test_near_misses_in_every_form(kind, miss, places):
    for entry in at_least_one(entries(kind)):
        for form in FORMS.values():
            text = NEAR_MISSES[miss](entry, form, places)
            off = abs(number(text) - entry.number)
            assert mpmath.mpf(10) ** -(places + 6) < off < mpmath.mpf(10) ** -(places - 3)
            decision = decide_reading(read(text), entry.truth)
            assert decision.equal is False, (text, entry.truth, decision)


def test_rational_weights_as_one_fraction():
    """Powers worked out: the base is a number, and the scores are whole."""
    for entry in at_least_one(entries("base 3")):
        powers = [F(entry.base) ** int(q) for q in entry.q]
        one = sum(v * p for v, p in zip(entry.v, powers, strict=True)) / sum(powers)
        assert abs(number(f"({one})") - entry.number) < TOLERANCE
        assert decide_reading(read(str(one)), entry.truth).equal is True
        for places in (12, 60):
            assert decide_reading(read(f"{one} + 1/10^{places}"), entry.truth).equal is False


@pytest.mark.parametrize(
    ("text", "same", "other"),
    [
        ("e^(3·ln(2))", "8", "9"),
        ("4^(1/2)", "2", "3"),
        ("e^(ln(2)·5/2)", "4√2", "4√3"),
        ("e^(1/2·ln(9)) + 1", "4", "5"),
        ("exp(-ln(3))/(1 + exp(-ln(3)))", "1/4", "1/3"),
        ("8^(2/3)", "4", "2"),
    ],
)
def test_logarithms_and_roots_of_numbers(text, same, other):
    assert decide_reading(read(text), read(same).value).equal is True
    assert decide_reading(read(text), read(other).value).equal is False
    assert decide_reading(read(f"{text} + 1/10^60"), read(same).value).equal is False


@pytest.mark.parametrize(("text", "one", "other"), [("2e-1", "1/5", "2*e-1"), ("2e+1", "2*e+1", "20")])
def test_what_can_be_read_in_two_ways_is_right_in_either(text, one, other):
    accepts = Accepts(POLICIES["ecf"], exact=True, places=4)
    for right in (one, other):
        assert accepts(as_typed(text), read(right).value)[0]
    assert not accepts(as_typed(text), read("2*e").value)[0]
