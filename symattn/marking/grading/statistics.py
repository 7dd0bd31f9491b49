"""Figures of a class, exact: means, medians, spread, and whether variants were equally hard (rules.md 4.7 (9))."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from symattn.exact import decimal_text, square_root
from symattn.foundation.languages import Message, message

FEWEST = 20
"""So many of a variant are needed before it is compared."""
MEAN_OFF = Fraction(1, 4)
"""Standard deviations that a variant's mean may be off the family's."""
FACILITY_OFF = Fraction(15, 100)


@dataclass(frozen=True)
class Spread:
    """Some marks: how many, and where they lie.  `variance` is that of a sample, 0 for a single one."""

    marks: tuple[int, ...]

    @property
    def count(self) -> int:
        return len(self.marks)

    @property
    def mean(self) -> Fraction:
        return mean(self.marks)

    @property
    def median(self) -> Fraction:
        ordered, half = sorted(self.marks), self.count // 2
        return Fraction(ordered[half]) if self.count % 2 else Fraction(ordered[half - 1] + ordered[half], 2)

    @property
    def variance(self) -> Fraction:
        return variance(self.marks)

    @property
    def deviation(self) -> str:
        """The standard deviation to two places."""
        return decimal_text(square_root(self.variance), 2)


def mean(values: Sequence[int | Fraction]) -> Fraction:
    return Fraction(sum(values), len(values))


def variance(values: Sequence[int | Fraction]) -> Fraction:
    """Of a sample: divided by one less than there are; 0 for a single one."""
    if len(values) < 2:
        return Fraction(0)
    centre = mean(values)
    return sum(((x - centre) ** 2 for x in values), Fraction(0)) / (len(values) - 1)


def is_off(variant: Spread, family: Spread) -> bool:
    """Whether a variant was harder or easier than its family: |mean − family's mean| > SD/4, of 20 or more."""
    return variant.count >= FEWEST and (variant.mean - family.mean) ** 2 > MEAN_OFF**2 * family.variance


def facility_is_off(variant: Fraction, family: Fraction, count: int) -> bool:
    """The same for the share of the marks of one step."""
    return count >= FEWEST and abs(variant - family) > FACILITY_OFF


def two_places(value: Fraction) -> str:
    return decimal_text(value, 2)


def percent(share: Fraction) -> Message:
    """A share as whole per cent."""
    return message("{number}%", number=decimal_text(100 * share, 0))
