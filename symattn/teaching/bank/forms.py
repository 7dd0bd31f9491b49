"""What people type for a number, for systems that compare texts: every form of it that is expected.

Such a system takes 2/6 for another answer than 1/3.  So the forms are listed: fractions and multiples of them, decimals
with a point or a comma, powers of e with their terms in any order.  The first form is the one that is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import partial
from itertools import chain, islice, permutations
from typing import Any

from symattn.exact import NEGATIVE_INFINITY, Real, Value, decimal_text, has_symbols
from symattn.exact.approximate import approximate
from symattn.exact.rounding import Ties
from symattn.exact.upward import upward
from symattn.exact.values import Key, coefficients, denominator_of, exponent_of, is_finite, numerator_of, terms_of, text

MOST = 96
"""Of forms of one number; those that are typed most come first."""

FEWEST_PLACES, MOST_PLACES = 2, 6
"""Decimals that stand for a number which has no end: as many places, correctly rounded."""

HIDDEN = ("-inf", "-∞", "-infinity", "-oo", "-1e9", "-10^9", "-1000000000")
MINUS = "−"  # what word processors make of a hyphen


def typed(value: Value, most: int = MOST) -> tuple[str, ...]:
    """The forms of a value, each once.

    >>> typed(Fraction(-1, 3), 6)
    ('-1/3', '−1/3', '-2/6', '−2/6', '-3/9', '−3/9')
    """
    return tuple(islice(dict.fromkeys(chain.from_iterable(map(_with_minus, _forms(value)))), most))


def few(value: Value, exact: int = 1) -> tuple[str, ...]:
    """The commonest forms of a wrong answer: as it is printed, or in so many ways, and with two to four places.

    >>> few(Fraction(5, 3))
    ('5/3', '1.6667', '1.67', '1.667')
    """
    shown = islice((form for form in _forms(value) if "." not in form and "," not in form), exact)
    signs = "." if exact == 1 else ".,"
    rounded = () if _is_whole(value) else (decimals.replace(".", sign) for decimals in _usual(value) for sign in signs)
    return tuple(dict.fromkeys(chain.from_iterable(map(_with_minus, chain(shown, rounded)))))


def _usual(value: Value) -> Iterator[str]:
    for places in (4, 2, 3):
        if (shown := decimal_text(value, places)).strip("-0."):  # a small number is not to be taken for 0
            yield shown


def _with_minus(form: str) -> Iterator[str]:
    yield form
    if "-" in form:
        yield form.replace("-", MINUS)


def _forms(value: Value) -> Iterator[str]:
    if value is NEGATIVE_INFINITY:
        yield from HIDDEN
    elif isinstance(value, int):
        yield from _whole(value)
    elif isinstance(value, Fraction):
        yield from _fraction(value)
    elif has_symbols(value):
        yield from _in_letters(value)
    elif is_finite(value):
        yield from _irrational(value)
    else:
        if not isinstance(value, Real):
            yield text(value).replace("**", "^")
        yield from _rounded(value, _places(value))


def _is_whole(value: Value) -> bool:
    return isinstance(value, int) or value is NEGATIVE_INFINITY or has_symbols(value)


# ------------------------------------------------------------------------------------------------ rational numbers


def _whole(n: int) -> Iterator[str]:
    yield str(n)
    if abs(n) >= 1000:
        yield from (f"{n:,}".replace(",", gap) for gap in (" ", ",", "\u00a0", "\u202f", "'"))
        if abs(n) >= 1_000_000:  # with one point it would be a decimal
            yield f"{n:,}".replace(",", ".")
    for places in (1, 2, 3, 4):
        yield from (f"{n}{sign}{'0' * places}" for sign in ".,")
    if n > 0:
        yield f"+{n}"


def _fraction(x: Fraction) -> Iterator[str]:
    p, q = x.numerator, x.denominator
    yield f"{p}/{q}"
    yield from (f"{k * p}/{k * q}" for k in range(2, 7))
    yield from _rounded(x, _places(x))
    yield f"{p} / {q}"
    if abs(p) > q:
        yield f"{'-' if p < 0 else ''}{abs(p) // q} {abs(p) % q}/{q}"
    if p < 0:
        yield from (f"-({-p}/{q})", f"{-p}/-{q}", f"{-p}/(-{q})")
    yield from (f"{10 * p}/{10 * q}", f"({p}/{q})")


def _places(value: Value) -> Iterable[int]:
    """How many places a decimal may have: all that there are, or from two on where they do not end."""
    if isinstance(value, Fraction):
        ends = next((k for k in range(MOST_PLACES + 1) if 10**k % value.denominator == 0), None)
        if ends is not None:
            return range(ends, max(ends, 4) + 1)
    size = abs(approximate(value))
    zeros = next((k for k in range(30) if size * 10**k >= 1), 30)  # 0.0012 has three
    return range(max(FEWEST_PLACES, zeros), max(MOST_PLACES, zeros + 4) + 1)


def _rounded(value: Value, places: Iterable[int]) -> Iterator[str]:
    """Correctly rounded decimals, the usual four places first; a tie either way."""
    ways: tuple[Ties, ...] = ("even", "up") if isinstance(value, Fraction) else ("even",)
    for digits in sorted(places, key=lambda k: (k != 4, k)):
        for found in dict.fromkeys(decimal_text(value, digits, way) for way in ways):
            yield from (found, found.replace(".", ","))
    for digits in places:
        found = decimal_text(value, digits)
        if found.lstrip("-").startswith("0."):
            yield from (found.replace("0.", sign, 1) for sign in ".,")


# ------------------------------------------------------------------------------------------------ powers of e, roots

Writing = Callable[[Fraction], str]


def _power(exponent: Fraction) -> str:
    """e^2, e^(-1), e^(1/2)."""
    if exponent == 1:
        return "e"
    return f"e^{exponent}" if exponent.denominator == 1 and exponent > 0 else f"e^({exponent})"


def _bare_power(exponent: Fraction) -> str:
    return f"e^{exponent}" if exponent.denominator == 1 and exponent != 1 else _power(exponent)


def _function(exponent: Fraction) -> str:
    return f"exp({exponent})"


def _raised(exponent: Fraction) -> str:
    if exponent.denominator != 1 or exponent == 1:
        return _power(exponent)
    return "e" + str(exponent).translate(_SUPERSCRIPTS)


_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

Sum = Mapping[Key, Any]


def _irrational(value: Any) -> Iterator[str]:
    """Sums of powers of e and of roots, and quotients of such sums."""
    lowest = upward.lowest(value)
    above, below = terms_of(numerator_of(lowest)), terms_of(denominator_of(lowest))
    terms = (*above, *below)
    if any(roots or any(r != 1 for r, _, _ in e) for e, _, roots in terms):  # a root below a root: as printed
        written = text(lowest).replace("·", "*").replace(" ", "")
        yield from (written, written.replace("√", "sqrt"))
        yield from _rounded(value, _places(value))
        return
    quotients = [(above, below)]
    if len(above) == 1 < len(below):  # e/(e + 1) as 1/(1 + e^(-1)), too
        quotients.append(_divided(above, below))
    plain = list(_quotients(quotients[0], write=_power))
    yield plain[0]
    yield from _rounded(value, _places(value))
    signed = {sign: list(_some(_quotients(quotients[0], write=_power, times=sign), 6)) for sign in "*·"}
    yield from (form for forms in signed.values() for form in forms[:2])
    yield from plain
    yield from signed["*"]
    yield from (form.replace("sqrt(", "√(") for form in plain if "sqrt(" in form)
    yield from _some(_quotients(quotients[0], write=_function), 6)
    yield from _some(_quotients(quotients[0], write=_power, gap=" "), 6)
    yield from _some(_quotients(quotients[0], write=_raised), 6)
    yield from signed["·"]
    for other in quotients[1:]:
        yield from _some(_quotients(other, write=_power), 6)
        yield from _some(_quotients(other, write=_bare_power), 6)
        yield from _some(_quotients(other, write=_function), 2)


def _some(forms: Iterator[str], most: int) -> Iterator[str]:
    return islice(forms, most)


def _divided(above: Sum, below: Sum) -> tuple[Sum, Sum]:
    """The quotient with 1, or what is no power, above."""
    ((exponent, _, _),) = above
    less = coefficients(exponent).get(1, 0)

    def shifted(terms: Sum) -> Sum:
        found: dict[Key, Any] = {}
        for (e, r, roots), c in terms.items():
            moved = coefficients(e).get(1, 0) - less
            found[exponent_of({1: moved}), r, roots] = c
        return found

    return shifted(above), shifted(below)


def _quotients(quotient: tuple[Sum, Sum], write: Writing, gap: str = "", times: str = "") -> Iterator[str]:
    """A quotient with its terms in every order that is likely: all of up to three, else as they are and turned."""
    above, below = quotient
    for lower in _orders(below, write, gap, times):
        for upper in _orders(above, write, gap, times):
            if below == {((), 1, ()): 1}:
                yield upper
            else:
                yield f"{_in_brackets(upper, len(above) > 1)}/{_in_brackets(lower, _needs_brackets(lower))}"


def _orders(terms: Sum, write: Writing, gap: str, times: str) -> Iterator[str]:
    items = list(terms.items())
    orders: Iterable[Any] = permutations(items) if len(items) <= 3 else (items, items[::-1])
    for order in orders:
        signed = ((c < 0, _term(key, abs(c), write, times)) for key, c in order)
        joined = "".join(f"{gap}{'-' if minus else '+'}{gap}{term}" for minus, term in signed)
        yield joined.strip().removeprefix("+").strip() if joined.strip()[0] == "+" else f"-{joined.strip()[1:].strip()}"


def _term(key: Key, c: Any, write: Writing, times: str) -> str:
    """2e^2, sqrt(2)/3: a positive coefficient and what it multiplies."""
    exponent, r, _ = key
    factors = [f"sqrt({r})"] if r != 1 else []
    if exponent:
        factors.append(write(Fraction(coefficients(exponent)[1])))
    upper, lower = Fraction(c).numerator, Fraction(c).denominator
    if upper != 1 or not factors:
        factors.insert(0, str(upper))
    joined = (times or "*" if r != 1 else times).join(factors)
    return f"{joined}/{lower}" if lower != 1 else joined


def _in_brackets(written: str, needed: bool) -> str:
    return f"({written})" if needed else written


def _needs_brackets(lower: str) -> bool:
    return any(sign in lower.lstrip("(") for sign in "+-*/ ") or (lower[0].isdigit() and not lower.isdigit())


# ------------------------------------------------------------------------------------------------ letters


def _in_letters(value: Any) -> Iterator[str]:
    """An expression in letters: multiplied out and as it is, with and without signs of multiplication."""
    from sympy import Add, expand, factor

    whole = expand(value)
    shown = str(value).replace("**", "^")
    yield shown
    terms = Add.make_args(whole)
    for write in (_plain_monomial, _close_monomial, _spaced_monomial, _raised_monomial):
        for order in permutations(terms) if len(terms) <= 3 else (terms, terms[::-1]):
            for written in zip(*(list(write(term)) for term in order), strict=False):
                joined = "".join(w if w.startswith("-") else f"+{w}" for w in written).removeprefix("+")
                yield joined
                if len(order) > 1:
                    yield joined.replace("+", " + ").replace("-", " - ").strip()
    for other in (str(factor(value)), str(whole)):
        other = other.replace("**", "^")
        yield from (other, other.replace("*", ""), other.replace(" ", ""), other.replace("*", "·"))
    yield from (shown.replace("*", ""), shown.replace(" ", ""), shown.replace("^", "**"))


def _factors(term: Any) -> tuple[str, Fraction, list[tuple[str, Any]]]:
    coefficient, rest = term.as_coeff_Mul()
    number = Fraction(int(coefficient.p), int(coefficient.q))
    powers = [(str(base), e) for base, e in rest.as_powers_dict().items() if rest != 1]
    return ("-" if number < 0 else ""), abs(number), sorted(powers)


def _monomials(term: Any, times: str, raised: Callable[[str, Any], str]) -> Iterator[str]:
    sign, number, powers = _factors(term)
    front = [str(number)] if number != 1 or not powers else []
    orders: Iterable[Any] = permutations(powers) if len(powers) <= 3 else (powers, powers[::-1])
    for order in orders:
        yield sign + times.join([*front, *(raised(*power) for power in order)])


def _caret(base: str, e: Any) -> str:
    return base if e == 1 else f"{base}^{e}"


def _small(base: str, e: Any) -> str:
    return base if e == 1 else base + str(e).translate(_SUPERSCRIPTS)


_plain_monomial = partial(_monomials, times="*", raised=_caret)
_close_monomial = partial(_monomials, times="", raised=_caret)
_spaced_monomial = partial(_monomials, times=" ", raised=_caret)
_raised_monomial = partial(_monomials, times="", raised=_small)

__all__ = ["few", "typed"]
