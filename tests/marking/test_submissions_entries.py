"""Single numbers as people type them: what they mean, what means nothing, what is crossed out."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from symattn.exact import NEGATIVE_INFINITY, to_sympy
from symattn.exact.reading import read
from symattn.marking.attempt import Entry
from symattn.marking.submissions import entry, grid
from symattn.marking.submissions.entries import noticed

e, sqrt = sympy.E, sympy.sqrt
F = Fraction


def same(found: Entry, expected: object) -> bool:
    assert found.value is not None, found.complaint
    return sympy.simplify(to_sympy(found.value) - sympy.sympify(expected)) == 0


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("1/2", F(1, 2), None), ("0.5", F(1, 2), F(1, 10)), (".50", F(1, 2), F(1, 100)), ("½", F(1, 2), None),
        ("50 %", F(1, 2), F(1, 100)), ("25%", F(1, 4), F(1, 100)), ("2.5 %", F(1, 40), F(1, 1000)),
        ("1 1/2", F(3, 2), None), ("-3", F(-3), None), ("−3", F(-3), None), ("1⁄4", F(1, 4), None),
        ("１／２", F(1, 2), None), ("٣", F(3), None), ("𝟑/𝟒", F(3, 4), None), ("\u200b7\u2060", F(7), None),
        ("\u00a05\u202f", F(5), None), ("4 194 304", F(4194304), None), ("2**3", F(8), None), ("3.", F(3), None),
        ("= 5", F(5), None), ("2/6 = 1/3", F(1, 3), None), ("1/3 ≈ 0.33", F(1, 3), None),
        ("1/3 = 0.33", F(1, 3), None), ("x", None, None), ("1e-3", F(1, 1000), F(1, 1000)),
        ("6.11e-1", F(611, 1000), F(1, 1000)), ("2.5E3", F(2500), None), ("6.11*10^-1", F(611, 1000), F(1, 1000)),
        (r"$6.11 \cdot 10^{-1}$", F(611, 1000), F(1, 1000)), (r"\num{6.11e-1}", F(611, 1000), F(1, 1000)),
    ],
)  # fmt: skip
def test_numbers_and_their_last_place(text: str, value: F | None, unit: F | None) -> None:
    found = entry(text)
    assert (found.value, found.unit) == (value, unit)
    assert found.readable == (value is not None) == (found.complaint == "")


@pytest.mark.parametrize(
    "text",
    [
        "e^2/(1+2e^2)", "**e^2/(1+2e^2)**", "$e^2/(1+2e^2)$", "$`e^2/(1+2e^2)`$", "$$e^2/(1+2e^2)$$", "`e^2/(1+2e^2)`",
        r"\(e^2/(1+2e^2)\)", r"\[ e^2/(1+2e^2) \]", r"\frac{e^2}{1+2e^2}", r"\dfrac{\mathrm{e}^{2}}{1+2\mathrm e^{2}}",
        r"\boxed{\frac{e^2}{1+2e^2}}", "e²/(1+2e²)", "exp(2)/(1+2exp(2))", "e<sup>2</sup>/(1+2e<sup>2</sup>)",
        r"e\^2/(1+2\*e\^2)", "<b>e^2/(1+2e^2)</b>", "ｅ^2/(1+2ｅ^2)", "1/(2+e^-2)", "~~1/2~~ e^2/(1+2e^2)",
        r"\cancel{\frac{1}{2}} e^2/(1+2e^2)", "<del>0</del> e^2/(1+2e^2)", "0\u0336 e^2/(1+2e^2)",
        "e^2/(1+2e^2) ≈ 0.47", "&nbsp;e^2/(1+2e^2)", "$\\frac{e^{2}}{1+2e^{2}}$",
    ],
)  # fmt: skip
def test_decoration_changes_nothing(text: str) -> None:
    assert same(entry(text), e**2 / (1 + 2 * e**2))


@pytest.mark.parametrize("text", ["-inf", "−∞", r"$-\infty$", "-infinity", "**-∞**"])
def test_minus_infinity(text: str) -> None:
    assert entry(text).value is NEGATIVE_INFINITY


@pytest.mark.parametrize(
    "text",
    ["", " ", "____", r"\_\_\_", "?", "??", "☐", "□", "…", "...", "-", "–", "—", "&nbsp;", "$\\cdot$", "~~3~~",
     r"\cancel{3}", "3\u0336", r"$\underline{\qquad}$", "\u200b", "**  **", "{}"],
)  # fmt: skip
def test_nothing_is_written(text: str) -> None:
    found = entry(text)
    assert found.blank
    assert found.value is None


@pytest.mark.parametrize("text", ["0", "-0", "0 %", "$0$"])
def test_zero_is_an_answer(text: str) -> None:
    assert entry(text).value == 0
    assert not entry(text).blank


@pytest.mark.parametrize(
    ("text", "value", "told"),
    [("3 or 4", 4, "two values"), ("3; 4", 4, "two values"), ("3 → 4", 4, "two values"), ("~~3~~ 4", 4, ""),
     ("1/3 = 0.5", F(1, 2), "not equal"), ("1/3 = 2/6", F(1, 3), ""), ("1/3 = 0.3333", F(1, 3), "")],
)  # fmt: skip
def test_two_values_in_one_box(text: str, value: object, told: str) -> None:
    found = noticed(text)
    assert found.entry.value == value
    assert told in found.remark
    assert bool(found.remark) == bool(told)


@pytest.mark.parametrize(
    ("text", "mark", "value"),
    [("0,25", ",", F(1, 4)), ("0,25", "auto", F(1, 4)), ("0.25", "auto", F(1, 4)), ("0,25", ".", None),
     ("0.25", ",", None), ("1,234.5", "auto", F("1234.5")), ("1.234,5", "auto", F("1234.5")),
     ("1,234,567", "auto", 1234567),
     ("1,234.5", ",", None), ("12,34.5", "auto", None), ("1.234,5", ".", None)],
)  # fmt: skip
def test_decimal_marks(text: str, mark: str, value: F | None) -> None:
    found = entry(text, mark)
    assert found.value == value
    assert bool(found.complaint) == (value is None)


@pytest.mark.parametrize(
    "text",
    ["__import__('os')", "1/0", "1e500", "2e3^2", "2 3", "е", "2a", "((((", "1/2e", "9" * 5000, "(" * 100 + "1",
     "\\input{x}", "sqrt(-1)", "ln(0)", "1\x002", "\ud800"],
)  # fmt: skip
def test_what_cannot_be_read_is_said_in_a_sentence(text: str) -> None:
    found = entry(text)
    assert not found.readable
    assert not found.blank
    assert found.complaint.endswith(".")


def test_a_common_factor_multiplies_values_and_last_places() -> None:
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


def test_both_readings_of_a_number_keep_a_common_factor() -> None:
    found = entry("2e-3", factor=read("1/2"))
    assert found.value == F(1, 1000)
    assert found.reading is not None
    (other,) = found.reading.alternatives
    assert sympy.simplify(to_sympy(other.value) - (e - F(3, 2))) == 0


def test_the_echo_says_how_it_was_read() -> None:
    assert entry("2e^2 - 1 1/2").echo == "2·e^2 - (1 + 1/2)"
    assert entry("2", factor=read("1/7")).echo == "(1/7)·2" or entry("2", factor=read("1/7")).echo == "1/7·2"
    assert entry("?").echo == entry("banana").echo == ""


def test_a_number_too_large_to_be_multiplied_out_can_still_be_compared() -> None:
    found = entry("(1+e)^200*(1-e)^200")
    assert found.readable
    assert found.value is None
    assert found.complaint == ""


def test_letters_where_they_are_asked_for() -> None:
    n, d = sympy.symbols("n d")
    assert same(entry("4 n d^2", symbols=True), 4 * n * d**2)
    assert entry("4 n d^2").complaint


def test_short_rows_are_filled_up() -> None:
    made = grid([["1", "2"], ["3"]])
    assert made.shape == (2, 2)
    assert made[1, 1].blank
    assert made[1, 0].value == 3


@given(st.text(max_size=60), st.sampled_from([".", ",", "auto"]), st.booleans())
def test_nothing_that_is_typed_raises(text: str, mark: str, symbols: bool) -> None:
    found = entry(text, mark, symbols=symbols)
    assert found.blank or found.readable != bool(found.complaint)


@given(st.fractions(max_denominator=99), st.sampled_from(["{}", "**{}**", "${}$", "= {}", "~~7~~ {}", " {} ", "`{}`"]))
def test_dressed_fractions(value: F, form: str) -> None:
    assert entry(form.format(value)).value == value


@given(st.integers(-(10**6), 10**6), st.integers(1, 5), st.sampled_from([".", ","]))
def test_decimals_keep_their_digits(units: int, places: int, mark: str) -> None:
    digits = f"{abs(units):0{places + 1}}"
    text = ("-" if units < 0 else "") + digits[:-places] + mark + digits[-places:]
    found = entry(text, mark)
    assert (found.value, found.unit) == (F(units, 10**places), F(1, 10**places))


@pytest.mark.parametrize(
    ("text", "value"), [("20*128*128 = 327,680", 327680), ("4*1000=4,000", 4000), ("1/2 = 0,5", Fraction(1, 2))]
)
def test_what_stands_before_says_whether_a_comma_groups_digits(text, value):
    found = noticed(text, "auto")
    assert found.entry.value == value
    assert not found.remark
    assert noticed("20*128*128 = 327,681", "auto").remark  # and what is unequal either way is told
