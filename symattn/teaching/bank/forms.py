"""What may be typed for a number, for systems that compare texts: every form of it that a question says is accepted.

Such a system takes 2/6 for another answer than 1/3.  So the forms of a rational number are listed: fractions, reduced
or expanded, and decimals with a point or a comma.  The forms of a sum of powers of e or of roots cannot be listed; a
question asks for its decimals, which a system compares as numbers, or has as a list (`decimals_near`).  The first form
is the one that is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, count, islice, permutations, product
from math import ceil, factorial, floor, gcd, lcm, prod
from typing import Any

from symattn.exact import NEGATIVE_INFINITY, Value, decimal_text, has_symbols
from symattn.exact.values import text

MOST = 48
"""Of forms of an expression in letters that are taken besides those that a question states."""

MOST_ORDERS = 24
"""Of terms and of letters in them; if there are more, letters stand in the order of the alphabet."""

EXPANDED = 20
"""A fraction may be expanded by every whole number up to this, as a sum of powers of 2 makes it before it is reduced;
by a larger power of 2, too."""

FEWEST_PLACES, MOST_PLACES = 2, 6
"""Decimals of a rational number: correctly rounded to as many places, or all that there are."""

HIDDEN = ("-inf", "-∞", "-infinity", "-oo", "-1e9", "-10^9", "-1000000000")
MINUS = "−"  # what word processors make of a hyphen


def typed(value: Value) -> tuple[str, ...]:
    """The forms of a rational number, of −∞ or of an expression in letters, each once.

    >>> typed(Fraction(-1, 3))[:6]
    ('-1/3', '−1/3', '-2/6', '−2/6', '-3/9', '−3/9')
    """
    return tuple(dict.fromkeys(chain.from_iterable(map(_with_minus, _forms(value)))))


def few(value: Value, exact: int = 1) -> tuple[str, ...]:
    """The commonest forms of a wrong answer: as it is printed, or the first few, and with two to four places.

    >>> few(Fraction(5, 3))
    ('5/3', '1.6667', '1.67', '1.667')
    """
    listed = _forms(value) if is_listed(value) else iter((text(value).replace("**", "^").replace(" ", ""),))
    shown = islice((form for form in listed if "." not in form and "," not in form), exact)
    whole = isinstance(value, int) or value is NEGATIVE_INFINITY or has_symbols(value)
    signs = "." if exact == 1 else ".,"
    rounded = () if whole else (decimals.replace(".", sign) for decimals in _usual(value) for sign in signs)
    return tuple(dict.fromkeys(chain.from_iterable(map(_with_minus, chain(shown, rounded)))))


def decimals_near(value: Fraction, tolerance: Fraction, places: int) -> tuple[str, ...]:
    """Every decimal with at most `places` places within a tolerance of a number; nearest first.

    >>> decimals_near(Fraction(-1, 4), Fraction(1, 200), 2)
    ('-0.25', '−0.25', '-.25', '−.25')
    """
    decimals: list[tuple[Fraction, str]] = []
    for digits in range(places, -1, -1):
        unit = 10**digits
        for n in range(ceil((value - tolerance) * unit), floor((value + tolerance) * unit) + 1):
            near = Fraction(n, unit)
            decimals.append((abs(near - value), decimal_text(near, digits)))
    nearest = (form for _, form in sorted(decimals, key=lambda pair: pair[0]))
    return tuple(dict.fromkeys(chain.from_iterable(map(_with_minus, chain.from_iterable(map(_without_zero, nearest))))))


def is_listed(value: Value) -> bool:
    """Whether what may be typed for a value can be listed: not for sums of powers of e and of roots."""
    return isinstance(value, int | Fraction) or value is NEGATIVE_INFINITY or has_symbols(value)


def _usual(value: Value) -> Iterator[str]:
    for places in (4, 2, 3):
        if _is_something(shown := decimal_text(value, places)):
            yield shown


def _is_something(shown: str) -> bool:
    """Whether a rounded number is not taken for 0."""
    return bool(shown.strip("-0."))


def _with_minus(form: str) -> Iterator[str]:
    yield form
    if "-" in form:
        yield form.replace("-", MINUS)


def _without_zero(form: str) -> Iterator[str]:
    """0.5 and .5."""
    yield form
    if form.lstrip("-").startswith("0."):
        yield form.replace("0.", ".", 1)


def _forms(value: Value) -> Iterator[str]:
    if value is NEGATIVE_INFINITY:
        yield from HIDDEN
    elif isinstance(value, int):
        yield from _whole(value)
    elif isinstance(value, Fraction):
        yield from _fraction(value)
    elif has_symbols(value):
        yield from _in_letters(value)
    else:
        raise TypeError(f"The forms of {value} cannot be listed.")


# ------------------------------------------------------------------------------------------------ rational numbers


def _whole(n: int) -> Iterator[str]:
    yield str(n)
    if abs(n) >= 1000:
        yield from (f"{n:,}".replace(",", gap) for gap in (" ", ",", "\u00a0", "\u202f", "'"))
        if abs(n) >= 1_000_000:  # with one point it would be a decimal
            yield f"{n:,}".replace(",", ".")
    for places in range(1, MOST_PLACES + 1):
        yield from (f"{n}{sign}{'0' * places}" for sign in ".,")
    if n > 0:
        yield f"+{n}"
    yield from _expanded(Fraction(n))


def _fraction(x: Fraction) -> Iterator[str]:
    p, q = x.numerator, x.denominator
    yield from _expanded(x)
    yield from _rounded(x)
    yield f"{p} / {q}"
    if abs(p) > q:
        yield f"{'-' if p < 0 else ''}{abs(p) // q} {abs(p) % q}/{q}"
    if p < 0:
        yield from (f"-({-p}/{q})", f"{-p}/-{q}", f"{-p}/(-{q})")
    yield f"({p}/{q})"


def _expanded(x: Fraction) -> Iterator[str]:
    for k in (*range(1, EXPANDED + 1), 32, 64):
        yield f"{k * x.numerator}/{k * x.denominator}"


def _rounded(x: Fraction) -> Iterator[str]:
    """Decimals, the usual four places first; a tie either way, with and without zeros at the end."""
    shown: list[str] = []
    for places in sorted(range(FEWEST_PLACES, MOST_PLACES + 1), key=lambda k: (k != 4, k)):
        for way in ("even", "up"):
            decimal = decimal_text(x, places, way)
            shown += (decimal, short) if not (short := decimal.rstrip("0")).endswith(".") else (decimal,)
    for form in chain.from_iterable(map(_without_zero, filter(_is_something, dict.fromkeys(shown)))):
        yield from (form, form.replace(".", ","))


# ------------------------------------------------------------------------------------------------ letters


def in_any_order(value: Any) -> bool:
    """Whether the letters of each product may stand in any order: more orders than `MOST_ORDERS` are not listed."""
    products = [_factors(term) for term in _terms(value)]
    orders = factorial(len(products)) * prod(factorial(len(product.letters)) for product in products)
    return orders <= MOST_ORDERS


def _terms(value: Any) -> Sequence[Any]:
    from sympy import Add, expand

    terms: Sequence[Any] = Add.make_args(expand(value))
    return terms


def _in_letters(value: Any) -> Iterator[str]:
    """An expression in letters: as it is shown, by the grammar that a question states, and a few other ways."""
    from sympy import expand, factor

    shown = str(value).replace("**", "^")
    yield shown
    yield from _sums(value, " ", " ", _caret)
    yield from _sums(value, "*", "*", _caret)
    yield from _sums(value, "", "", _caret)
    yield from islice(_others(value, shown, str(factor(value)), str(expand(value))), MOST)


def _others(value: Any, *written: str) -> Iterator[str]:
    for one in written:
        power = one.replace("**", "^")
        yield from (power, power.replace("*", ""), power.replace(" ", ""), power.replace("*", "·"))
        yield one.replace("^", "**")
    for numbers, letters, raised in (("", " ", _caret), ("", "*", _caret), ("", "", _small), (" ", " ", _small)):
        yield from _sums(value, numbers, letters, raised)


def _sums(value: Any, behind: str, between: str, raised: Callable[[str, int], str]) -> Iterator[str]:
    """Sums of products, multiplied out: terms in any order, with a sign behind the number and between letters."""
    free, known = in_any_order(value), [_factors(term) for term in _terms(value)]
    for terms in permutations(known):
        for written in product(*(term.written(behind, between, raised, free) for term in terms)):
            for space in ("", " ") if len(terms) > 1 else ("",):
                first, *others = ((term.sign, one) for term, one in zip(terms, written, strict=True))
                rest = (f"{space}{sign or '+'}{space}{one}" for sign, one in others)
                yield "".join(("".join(first), *rest))


@dataclass(frozen=True, slots=True)
class _Product:
    """A term: its sign, its number, and its letters and divisors with their powers, in the order of the alphabet."""

    sign: str
    number: int
    letters: tuple[tuple[str, int], ...]
    divisors: tuple[tuple[str, int], ...]

    def written(self, behind: str, between: str, raised: Callable[[str, int], str], free: bool) -> Iterator[str]:
        """The product without its sign, its letters in every order if they are `free`."""
        number = str(self.number) if self.number != 1 or not self.letters else ""
        divisors = [f"/{raised(*divisor)}" for divisor in self.divisors]
        for letters in permutations(self.letters) if free else (self.letters,):
            joined = between.join(raised(*letter) for letter in letters)
            yield number + (behind if number and letters else "") + joined + "".join(divisors)
            if letters and self.divisors and self.divisors[0][0].isdecimal():  # 1/2 d as well as d/2
                yield f"{self.number}{divisors[0]}{behind}{joined}{''.join(divisors[1:])}"


def _factors(term: Any) -> _Product:
    coefficient, rest = term.as_coeff_Mul()
    powers = sorted(
        ((str(base), int(e)) for base, e in rest.as_powers_dict().items() if rest != 1),
        key=lambda power: power[0].lower(),
    )
    divisors = [(base, -e) for base, e in powers if e < 0]
    if coefficient.q != 1:
        divisors.insert(0, (str(coefficient.q), 1))
    letters = tuple((base, e) for base, e in powers if e > 0)
    return _Product("-" if coefficient < 0 else "", abs(int(coefficient.p)), letters, tuple(divisors))


def _caret(base: str, e: int) -> str:
    return base if e == 1 else f"{base}^{e}"


_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def _small(base: str, e: int) -> str:
    return base if e == 1 else base + str(e).translate(_SUPERSCRIPTS)


# ------------------------------------------------------------------------------------------------ as systems write them


def decimal(x: Fraction, places: int) -> str:
    """With `places` places at most.

    >>> decimal(Fraction(1, 8), 12), decimal(Fraction(-100, 3), 5), decimal(Fraction(20), 5)
    ('0.125', '-33.33333', '20')
    """
    return f"{float(x):.{places}f}".rstrip("0").rstrip(".")


def exact(x: Fraction) -> str:
    """A number with finitely many decimals, all of them.

    >>> exact(Fraction(-1, 8)), exact(Fraction(3, 10**15)), exact(Fraction(200))
    ('-0.125', '0.000000000000003', '200')
    """
    return decimal_text(x, next(places for places in count() if 10**places % x.denominator == 0))


def in_proportion(points: Sequence[Fraction]) -> list[int]:
    """Whole numbers in proportion to the points, as small as they can be.

    >>> in_proportion([Fraction(1, 4), Fraction(1, 6), Fraction(1, 4)])
    [3, 2, 3]
    """
    whole = [int(x * lcm(*(x.denominator for x in points))) for x in points]
    return [n // gcd(*whole) for n in whole]
