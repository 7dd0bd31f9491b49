"""Sizes and indices with letters in them: sums of multiples, as they are written (2*d_k, n+1, d_k+j-1, d_k/2)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Literal

from symattn.exact import Size

Axis = Literal["rows", "columns"]
"""What something goes along, or over."""

LARGEST_SIZE = 10_000
"""The largest number that a size may be."""

_TERM = r"(?:\d{1,9}|(?:\d{1,9}\s*\*\s*)?[^\W\d]\w{0,15})"


def read_size(value: object) -> Size | None:
    """A size as people state it: a whole number from 1, a letter, SymPy's symbol, or a sum such as 2*d+1; else None.

    >>> read_size(3), read_size("N"), read_size("2*d + 1"), read_size("0"), read_size(1.5), read_size(True)
    (3, 'N', '2*d+1', None, None, None)
    """
    text = "" if isinstance(value, bool) else str(value)
    if not re.fullmatch(rf"{_TERM}(?:\s*\+\s*{_TERM}){{0,9}}", text):
        return None
    size = plus(text)
    return None if size == 0 else size


def plus(*sizes: Size) -> Size:
    """The sum of sizes: a number where all are numbers, and else with equal letters collected.

    >>> plus(2, 3), plus("d_v", "d_v"), plus("n", 1), plus(0, "d_k", "j")
    (5, '2*d_v', 'n+1', 'd_k+j')
    """
    return _written(_collected(*sizes))


def times(count: int | Fraction, size: Size) -> Size:
    """`count` times a size.

    >>> times(2, 4), times(3, "d_k"), times(1, "n"), times(-1, "d_k"), times(Fraction(1, 2), "j-1")
    (8, '3*d_k', 'n', '-d_k', 'j/2-1/2')
    """
    return _written(Counter({letter: count * number for letter, number in _collected(size).items()}))


def share(size: Size, count: int) -> Size | None:
    """One of `count` equal parts of a size; None where it cannot be shared evenly.

    >>> share(8, 2), share("2*d_k", 2), share("d_k", 2), share(3, 2)
    (4, 'd_k', None, None)
    """
    collected = _collected(size)
    if any(number % count for number in collected.values()):
        return None
    return _written(Counter({letter: number // count for letter, number in collected.items()}))


def letters_of(size: Size) -> tuple[str, ...]:
    """The letters in a size: d_k for 2*d_k."""
    return tuple(letter for letter in _collected(size) if letter)


def solved(size: Size, number: int) -> tuple[str, int] | None:
    """The letter in a size, and what it must be for the size to be `number`; None if there is no such letter or value.

    >>> solved("2*d_k", 8), solved("n+1", 3), solved("2*d_k", 7), solved("n+m", 3), solved(4, 4)
    (('d_k', 4), ('n', 2), None, None, None)
    """
    collected = _collected(size)
    ones = collected.pop("", 0)
    if len(collected) != 1:
        return None
    [(letter, times_letter)] = collected.items()
    value, rest = divmod(number - ones, times_letter)
    return None if rest or value < 1 else (letter, value)


def with_letters(size: Size, values: Mapping[str, Size]) -> Size:
    """A size with something else in place of its letters.

    >>> with_letters("2*d_k", {"d_k": 4}), with_letters("n+1", {"n": "m"})
    (8, 'm+1')
    """
    return plus(*(times(number, values.get(letter, letter) if letter else 1) for letter, number in
                  _collected(size).items()))  # fmt: skip


def in_sympy(size: Size, letter: Callable[[str], Any]) -> Any:
    """A size or an index as SymPy has it, each letter made a symbol by `letter`."""
    import sympy

    terms = (number * (letter(name) if name else 1) for name, number in _collected(size).items())
    return sympy.Add(*map(sympy.sympify, terms))


def _collected(*sizes: Size) -> Counter[str]:
    """How often each letter comes, which may be half a time; "" counts the ones."""
    collected: Counter[str] = Counter()
    for size in sizes:
        if isinstance(size, int):
            collected[""] += size
            continue
        for sign, term in re.findall(r"([+-]?)([^+-]+)", size.replace(" ", "")):
            above, _, below = term.partition("/")
            number, letters = Fraction(-1 if sign == "-" else 1, int(below or 1)), []
            for factor in above.split("*"):
                if factor.isdecimal():
                    number *= int(factor)
                else:
                    letters.append(factor)
            collected["*".join(letters)] += int(number) if number.denominator == 1 else number  # type: ignore[assignment]
    return collected


def _written(collected: Mapping[str, int | Fraction]) -> Size:
    terms = [_term(number, letter) for letter, number in collected.items() if letter and number]
    ones = collected.get("", 0)
    if not terms and ones.denominator == 1:
        return int(ones)
    if ones:
        terms.append(_term(ones, ""))
    return "".join(terms).removeprefix("+")


def _term(number: int | Fraction, letter: str) -> str:
    """+3*d_k, −d_k/2, +1 with its sign."""
    above, below = number.numerator, number.denominator
    over = f"/{below}" if below != 1 else ""
    if not letter:
        return f"{above:+}{over}"
    return (f"{above:+}*{letter}" if abs(above) != 1 else f"{'+-'[above < 0]}{letter}") + over
