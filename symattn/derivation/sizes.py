"""Sizes and indices with letters in them: sums of multiples, as they are written (2*d_k, n+1, d_k+j-1)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

from symattn.exact import Size


def plus(*sizes: Size) -> Size:
    """The sum of sizes: a number where all are numbers, and else with equal letters collected.

    >>> plus(2, 3), plus("d_v", "d_v"), plus("n", 1), plus(0, "d_k", "j")
    (5, '2*d_v', 'n+1', 'd_k+j')
    """
    return _written(_collected(*sizes))


def times(count: int, size: Size) -> Size:
    """`count` times a size.

    >>> times(2, 4), times(3, "d_k"), times(1, "n"), times(-1, "d_k")
    (8, '3*d_k', 'n', '-d_k')
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


def in_sympy(size: Size, letter: Callable[[str], Any]) -> Any:
    """A size or an index as SymPy has it, each letter made a symbol by `letter`."""
    import sympy

    terms = (number * (letter(name) if name else 1) for name, number in _collected(size).items())
    return sympy.Add(*map(sympy.sympify, terms))


def _collected(*sizes: Size) -> Counter[str]:
    """How often each letter comes; "" counts the ones."""
    collected: Counter[str] = Counter()
    for size in sizes:
        if isinstance(size, int):
            collected[""] += size
            continue
        for sign, term in re.findall(r"([+-]?)([^+-]+)", size.replace(" ", "")):
            number, letters = -1 if sign == "-" else 1, []
            for factor in term.split("*"):
                if factor.isdecimal():
                    number *= int(factor)
                else:
                    letters.append(factor)
            collected["*".join(letters)] += number
    return collected


def _written(collected: Counter[str]) -> Size:
    letters = {letter: number for letter, number in collected.items() if letter and number}
    if not letters:
        return collected[""]
    terms = [f"{number:+}*{letter}" if abs(number) != 1 else f"{'+-'[number < 0]}{letter}" for letter, number in
             letters.items()]  # fmt: skip
    if collected[""]:
        terms.append(f"{collected['']:+}")
    return "".join(terms).removeprefix("+")


__all__ = ["in_sympy", "plus", "share", "times"]
