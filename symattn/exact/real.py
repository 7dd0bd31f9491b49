"""Numbers that are known by how they are worked out, and by intervals as narrow as wanted.

Where exact values outgrow a page, or leave the class of `values`, a derivation goes on with these: e^(e²), a mean of
eighty exponentials, the output of a second block.  A `Real` is a function of numbers, some of which are `Real`s
themselves; `intervals.enclose` works it out to any number of digits, so that every digit that is printed is proved, as
for exact values.  What is never proved is that two of them are equal: `decide` says to how many digits they agree.

The same function of the same numbers is the same object, so that what is worked out twice, as replays do, costs once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, TypeAlias
from weakref import WeakValueDictionary

from symattn.exact.upward import upward

if TYPE_CHECKING:
    from symattn.exact.intervals import Interval

Function: TypeAlias = Literal[
    "value", "sum", "product", "dot", "quotient", "power", "exp", "sqrt", "ln", "tanh", "erf", "sin", "cos", "max",
    "min", "abs", "pi",
]  # fmt: skip
"""`value` is its only operand, `dot` is a·b + c·d + …, `power` has a rational exponent."""

RATIONAL = (int, Fraction)


class Real:
    """function(operands).  Immutable but for what is known of it; made by `real` and by arithmetic."""

    __slots__ = ("__weakref__", "digits", "function", "interval", "operands")

    function: Function
    operands: tuple[Any, ...]  # of `Value`s without symbols
    digits: int  # with which `interval` was computed
    interval: Interval | None

    def __init__(self, function: Function, operands: tuple[Any, ...]) -> None:
        self.function, self.operands = function, operands
        self.digits, self.interval = 0, None

    def __add__(self, other: Any) -> Any:
        if type(other) in RATIONAL and not other:
            return self
        if isinstance(other, Real) and (_opposite(self, other) or _opposite(other, self)):
            return 0
        return real("sum", self, other) if _is_number(other) else NotImplemented

    def __mul__(self, other: Any) -> Any:
        if type(other) in RATIONAL and (not other or other == 1):
            return self if other else 0
        return real("product", other, self) if _is_number(other) else NotImplemented

    def __neg__(self) -> Any:
        if self.function == "product" and self.operands[0] == -1:
            return self.operands[1]
        return real("product", -1, self)

    def __sub__(self, other: Any) -> Any:
        return self + -other if _is_number(other) else NotImplemented

    def __rsub__(self, other: Any) -> Any:
        return -self + other if _is_number(other) else NotImplemented

    def __pow__(self, exponent: Any) -> Any:
        return upward.power(self, exponent) if _is_number(exponent) else NotImplemented

    __radd__ = __add__
    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        """Whether nothing tells the two apart: `decide` says how far it has looked."""
        if self is other:
            return True
        if not (isinstance(other, Real) or _is_number(other)):
            return NotImplemented
        return upward.decide(self, other).equal is True

    __hash__ = object.__hash__

    def __reduce__(self) -> tuple[Any, ...]:
        return real, (self.function, *self.operands)

    def __repr__(self) -> str:
        return upward.text(self)


_known: WeakValueDictionary[tuple[Any, ...], Real] = WeakValueDictionary()


def real(function: Function, *operands: Any) -> Real:
    """function(operands), the same object for the same operands."""
    operands = tuple(map(_hashable, operands))
    key = (function, *operands)
    number = _known.get(key)
    if number is None:
        number = _known[key] = Real(function, operands)
    return number


def as_real(value: Any) -> Real:
    """A number as one that is known by intervals."""
    return value if isinstance(value, Real) else real("value", value)


def dot(left: Sequence[Any], right: Sequence[Any]) -> Any:
    """Σ a·b, where some of the factors are `Real`s: one number, however many terms it has."""
    pairs = [(a, b) for a, b in zip(left, right, strict=True) if not (_is_zero(a) or _is_zero(b))]
    exact = [a * b for a, b in pairs if not (isinstance(a, Real) or isinstance(b, Real))]
    rest = [x for a, b in pairs if isinstance(a, Real) or isinstance(b, Real) for x in (a, b)]
    if not rest:
        return sum(exact)
    if len(rest) == 2 and not exact:
        return rest[0] * rest[1]
    return real("dot", *rest, *(x for term in exact for x in (term, 1)))


def _is_zero(x: Any) -> bool:
    return type(x) in RATIONAL and not x


def _opposite(a: Real, b: Real) -> bool:
    return a.function == "product" and a.operands[0] == -1 and a.operands[1] is b


def _hashable(x: Any) -> Any:
    """An operand as it is kept: a quotient by its two parts, for it has no hash."""
    if isinstance(x, Real) or type(x) in RATIONAL:
        return x
    return real("quotient", x.numerator, x.denominator) if type(x).__hash__ is None else x


def _is_number(x: object) -> bool:
    return isinstance(x, Real) or type(x) in RATIONAL or upward.is_number(x)


# ------------------------------------------------------------------------------------ where the class ends

Outside: TypeAlias = Literal["exact", "short", "decimal"]
_outside: ContextVar[Outside] = ContextVar("outside the class", default="exact")


@contextmanager
def going_on(outside: Outside) -> Iterator[None]:
    """Within: exact keeps what leaves the class of exact values as a SymPy expression, as does short, which gives long
    products up early, since decimals can go on; decimal makes a `Real` of it."""
    token = _outside.set(outside)
    try:
        yield
    finally:
        _outside.reset(token)


def in_decimals() -> bool:
    """Whether what leaves the class of exact values becomes a `Real`."""
    return _outside.get() == "decimal"


def kept_short() -> bool:
    """Whether decimals go on where exact values grow long."""
    return _outside.get() != "exact"
