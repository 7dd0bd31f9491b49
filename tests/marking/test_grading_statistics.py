"""Figures of a class against Python's own `statistics` and NumPy, and the flags of rules.md 4.7 (9) by their words."""

import math
import statistics
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.marking.grading.summary import Spread, facility_is_off, is_off, percent, two_places, variance

MARKS = st.lists(st.integers(0, 40), min_size=2, max_size=60)


@given(MARKS)
def test_mean_median_and_variance(marks):
    spread = Spread(tuple(marks))
    assert spread.mean == statistics.mean(map(Fraction, marks))
    assert spread.median == Fraction(statistics.median(marks))
    assert spread.variance == statistics.variance(map(Fraction, marks))
    assert float(spread.deviation) == pytest.approx(np.std(marks, ddof=1), abs=0.00501)


def test_one_alone_has_no_spread():
    assert (Spread((7,)).variance, Spread((7,)).deviation, Spread((7,)).median) == (0, "0.00", 7)


@given(st.lists(st.integers(0, 20), min_size=1, max_size=40), st.lists(st.integers(0, 20), min_size=1, max_size=40))
def test_a_variant_is_off_by_more_than_a_quarter_of_a_deviation_if_twenty_had_it(own, others):
    everybody = [*own, *others]
    deviation = float(np.std(everybody, ddof=1))
    difference = abs(float(np.mean(own)) - float(np.mean(everybody)))
    if math.isclose(difference, deviation / 4, rel_tol=1e-9):
        return
    assert is_off(Spread(tuple(own)), Spread(tuple(everybody))) == (len(own) >= 20 and difference > deviation / 4)


def test_exactly_a_quarter_is_not_more_than_a_quarter():
    # 20 marks of 5 and 20 of 3, 160 of 4: mean 4, and a sample variance of 40/199
    family = Spread((5,) * 20 + (3,) * 20 + (4,) * 160)
    assert family.variance == Fraction(40, 199)
    assert is_off(Spread((5,) * 20), family)
    assert not is_off(Spread((5,) * 19), family)
    even = Spread((0, 8) * 20)  # deviation squared: 40·16/39
    assert not is_off(Spread((4,) * 19 + (5,)), even)
    assert variance((1, 1, 1)) == 0


@pytest.mark.parametrize(
    ("own", "family", "count", "off"),
    [
        (Fraction(1, 2), Fraction(13, 20), 20, False),  # exactly 0.15
        (Fraction(1, 2), Fraction(651, 1000), 20, True),
        (Fraction(1, 2), Fraction(9, 10), 19, False),
        (Fraction(9, 10), Fraction(1, 2), 200, True),
    ],
)
def test_a_step_is_off_by_more_than_fifteen_points(own, family, count, off):
    assert facility_is_off(own, family, count) == off


def test_figures_are_printed_exactly_rounded():
    assert [two_places(Fraction(x)) for x in ("1/3", "-2/3", "0.125", "0.375")] == ["0.33", "-0.67", "0.12", "0.38"]
    assert [percent(Fraction(x)) for x in ("1/3", "1", "0")] == ["33%", "100%", "0%"]
