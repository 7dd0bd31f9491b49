"""Single numbers as people type them: what they mean, what means nothing, what is crossed out."""

from __future__ import annotations

from fractions import Fraction

import sympy
from hypothesis import given
from hypothesis import strategies as st

from symattn.exact import NEGATIVE_INFINITY, to_sympy
from symattn.exact.reading import read
from symattn.marking.submissions import entry, grid

e, sqrt = sympy.E, sympy.sqrt
F = Fraction


def same(found, expected):
    assert found.value is not None, found.complaint
    return sympy.simplify(to_sympy(found.value) - sympy.sympify(expected)) == 0


def test_a_common_factor_multiplies_values_and_last_places():
    half, seventh, about = read("1/2"), read("-1/7"), read("0.14")
    assert entry("0.25", factor=seventh).value == F(-1, 28)
    assert entry("0.25", factor=seventh).unit == F(1, 700)
    assert entry("3", factor=about).unit == F(3, 100)
    assert entry("0.5", factor=about).unit == F(14, 1000) + F(5, 1000)
    assert entry("-inf", factor=half).value is NEGATIVE_INFINITY
    assert entry("-inf", factor=seventh).complaint
    assert entry("", factor=half).blank
    found = entry("0.5", factor=read("1/sqrt(2)"))
    assert same(found, sqrt(2) / 4)
    assert found.unit is not None
    assert 0 <= found.unit - F(1, 10) / F(str(sqrt(2).evalf(40))) < F(1, 10**20)
    assert same(entry("e", factor=read("1/(1+2e)")), e / (1 + 2 * e))


def test_both_readings_of_a_number_keep_a_common_factor():
    found = entry("2e-3", factor=read("1/2"))
    assert found.value == F(1, 1000)
    assert found.reading is not None
    (other,) = found.reading.alternatives
    assert sympy.simplify(to_sympy(other.value) - (e - F(3, 2))) == 0


def test_the_echo_says_how_it_was_read():
    assert entry("2e^2 - 1 1/2").echo == "2·e^2 - (1 + 1/2)"
    assert entry("2", factor=read("1/7")).echo == "(1/7)·2" or entry("2", factor=read("1/7")).echo == "1/7·2"
    assert entry("?").echo == entry("banana").echo == ""


def test_a_number_too_large_to_be_multiplied_out_can_still_be_compared():
    found = entry("(1+e)^200*(1-e)^200")
    assert found.readable
    assert found.value is None
    assert found.complaint == ""


def test_short_rows_are_filled_up():
    made = grid([["1", "2"], ["3"]])
    assert made.shape == (2, 2)
    assert made[1, 1].blank
    assert made[1, 0].value == 3


@given(st.text(max_size=60), st.sampled_from([".", ",", "auto"]), st.booleans())
def test_nothing_that_is_typed_raises(text, mark, symbols):
    found = entry(text, mark, symbols=symbols)
    assert found.blank or found.readable != bool(found.complaint)


@given(st.fractions(max_denominator=99), st.sampled_from(["{}", "**{}**", "${}$", "= {}", "~~7~~ {}", " {} ", "`{}`"]))
def test_dressed_fractions(value, form):
    assert entry(form.format(value)).value == value
