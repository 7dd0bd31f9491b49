"""Matrices of other libraries as nested lists: NumPy's, PyTorch's and SymPy's, none of which is imported here."""

from __future__ import annotations

import math
from collections.abc import Callable

SHORT = {"float16": (11, -24), "bfloat16": (8, -133), "float32": (24, -149)}
"""Numbers with fewer digits than Python's floats: bits of the significand, exponent of the smallest number above 0."""


def listed(given: object) -> object:
    """An array, a tensor or a matrix of SymPy as (nested) lists, tuples as lists; anything else as it is.

    A number of a short format is the shortest decimal that is rounded to it, as NumPy prints it: 0.1 in float32 is 0.1
    and not 0.10000000149.

    >>> listed(((1, 2), [3, 4]))
    [[1, 2], [3, 4]]
    """
    tolist = getattr(given, "tolist", None)
    if callable(tolist):
        kind = str(getattr(given, "dtype", "")).rpartition(".")[2]  # torch.float32
        rows = tolist()
        return _mapped(lambda x: shortest(x, kind), rows) if kind in SHORT else rows
    if isinstance(given, list | tuple):
        return [listed(x) for x in given]
    return given


def _mapped(function: Callable[[float], float], nested: object) -> object:
    if isinstance(nested, list):
        return [_mapped(function, x) for x in nested]
    return function(nested) if isinstance(nested, float) else nested


def shortest(x: float, kind: str) -> float:
    """The decimal with the fewest digits that is rounded to x in a format of `SHORT`; x is a number of that format.

    >>> shortest(0.0999755859375, "float16"), shortest(0.10000000149011612, "float32")
    (0.1, 0.1)
    """
    if not x or not math.isfinite(x):
        return x
    bits, lowest = SHORT[kind]
    for digits in range(9):
        near = float(f"{x:.{digits}e}")
        unit = max(math.frexp(near)[1] - bits, lowest)
        if math.ldexp(round(math.ldexp(near, -unit)), unit) == x:
            return near
    return x
