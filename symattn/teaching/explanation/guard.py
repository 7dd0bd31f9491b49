"""How many digits the operands of a line are printed with: as many as its printed result needs.

A decimal that is carried on is rounded only where it is printed.  0.64213 − 0.08377 is 0.55836, but the difference of
0.6421 and 0.0838 is 0.5583: a check of that line comes to another last digit.  So a line whose result would not
follow from what is printed has operands with guard digits, the fewest with which it does; the others stay short.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

from symattn.derivation.algebra import VALUES, Entries
from symattn.derivation.derivation import Index, Op, RuleOp
from symattn.errors import UndecidedError, UndefinedError
from symattn.exact import NEGATIVE_INFINITY, Value, compare
from symattn.exact.carry import is_short_fraction
from symattn.exact.real import as_real, going_on
from symattn.formula import Formula, Negative, Number

MOST = 20
"""The most guard digits; a result that does not follow with these does not follow from the operands at all."""

Printed = tuple[Value, int]
"""A number as it is printed, and the decimal places to which it is."""


def guard_digits(
    op: Op,
    cells: Iterable[tuple[Index, Index]],
    operands: Callable[[int], Sequence[Entries[Value]]],
    result: Callable[[int, int], Printed],
) -> int:
    """The fewest digits more than usual with which `operands` give every entry of the `result` as it is printed.

    0 where nothing is worked out by a rule, where an index is a letter, or where no number of digits helps: what
    was put in the place of a result need not follow from anything.
    """
    places = [(i, j) for i, j in cells if isinstance(i, int) and isinstance(j, int)]
    if not isinstance(op, RuleOp):
        return 0
    counts = (k for k in range(MOST + 1) if all(_follows(op, operands(k), cell, *result(*cell)) for cell in places))
    return next(counts, 0)


def _follows(op: RuleOp, operands: Sequence[Entries[Value]], cell: tuple[int, int], result: Value, places: int) -> bool:
    """Whether an entry worked out from its operands rounds to the result, however ties are rounded."""
    half = Fraction(1, 2 * 10**places)
    try:
        with going_on("decimal"):
            value = op.rule(VALUES, *cell, *operands)
            if NEGATIVE_INFINITY in (value, result):
                return value is result
            return compare(-half, value - result) < 0 < compare(half, value - result)
    except (UndefinedError, UndecidedError):  # a divisor that is printed as 0
        return False


def read_off(shown: Formula, value: Value) -> Value:
    """A number as it is read off the page: the digits that stand there, or the value of an exact form.

    A form that is no fraction is enclosed, for sums and quotients of such forms outgrow a check of digits.
    """
    match shown:
        case Number(digits):
            return Fraction(digits)
        case Negative(Number(digits)):
            return -Fraction(digits)
    return value if is_short_fraction(value) else as_real(value)
