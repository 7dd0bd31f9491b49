"""What numbers ask of the modules above them: each of those sets its functions here as it is imported.

`a == b` is a proof, and proofs are made of numbers; √a needs the sign of a, and signs are found by intervals.  So
operators and what serves them cannot stand in one order by themselves.  All calls that go up go through `upward`;
everything else in this package is imported from below.  `symattn.exact` imports every module that sets a function, so
that none is ever missing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from symattn.exact.decide import Decision
    from symattn.exact.intervals import Interval
    from symattn.exact.reading import Reading
    from symattn.exact.real import Real
    from symattn.exact.tree import Budget
    from symattn.exact.values import ExpSum, Finite, Rational, Value


class _Decide(Protocol):
    def __call__(self, a: Value, b: Value, *, budget: Budget | None = None) -> Decision: ...


class _Sign(Protocol):
    def __call__(self, v: Value, *, budget: Budget | None = None) -> int: ...


class Upward:
    """Functions by the module that sets them."""

    # values
    is_number: Callable[[Any], bool]
    power: Callable[[Value, Value], Value]
    text: Callable[[Value], str]
    # intervals
    enclose: Callable[[Value, int], Interval]
    # lowest
    cofactors: Callable[[ExpSum, ExpSum], tuple[Rational | ExpSum, Rational | ExpSum]]
    lowest: Callable[[Finite], Finite]
    # decide
    decide: _Decide
    sign: _Sign
    # approximate
    nearest_float: Callable[[Value], float]
    text_of_real: Callable[[Real], str]
    # bridge
    from_sympy: Callable[[Any], Value]
    to_sympy: Callable[[Value], Any]
    # reading
    read: Callable[[str], Reading]


upward = Upward()
