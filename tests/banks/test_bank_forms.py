"""The forms that people type for a number: every one of them is read by SymPy, and is the number or its rounding."""

import re
from fractions import Fraction

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from sympy.parsing.sympy_parser import convert_xor, implicit_multiplication, parse_expr, standard_transformations

from symattn.exact import NEGATIVE_INFINITY, read
from symattn.teaching.bank.forms import decimals_near, few, is_listed, typed

HOW = (*standard_transformations, convert_xor, implicit_multiplication)
SUPERSCRIPTS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")

NUMBERS = [
    "3", "0", "-2", "1200", "-45000", "7680000", "1/3", "-5/2", "7/4", "1/1024", "22/7",
    "1/8", "399/400", "-1/1000",
]  # fmt: skip
IRRATIONAL = [
    "e", "-e^2", "2e^3", "e^2/(e^2+1)", "e^3/(e^3+e^2+1)", "-e/(2e+1)", "3/(e+2)", "(e^3+1)/(e^2+e+2)",
    "e^(1/2)/(1+e^(1/2))", "2*sqrt(3)/3", "sqrt(2)+1", "(sqrt(2)+e)/3", "sqrt(e^2+1)",
]  # fmt: skip


def by_sympy(form):
    """What a form means, read by SymPy: superscripts, signs and thousands as they are written by hand."""
    plain = form.replace("−", "-").replace("√", "sqrt").replace("·", "*")
    plain = re.sub(r"[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+", lambda found: f"^({found[0].translate(SUPERSCRIPTS)})", plain)
    plain = re.sub(r"\^-(\d+)", r"^(-\1)", plain)
    plain = re.sub(r"(?<=\d)e", "*e", plain)  # 2e+1 is no power of ten
    if mixed := re.fullmatch(r"(-?)(\d+) (\d+)/(\d+)", plain):
        plain = f"{mixed[1]}({mixed[2]} + {mixed[3]}/{mixed[4]})"
    names = {"e": sympy.E, "sqrt": sympy.sqrt, "exp": sympy.exp}
    return parse_expr(plain, local_dict=names, transformations=HOW, evaluate=True)


DECIMAL = re.compile(r"[-−+]?\d*[.,]\d+")
THOUSANDS = re.compile(r"[-−]?\d{1,3}([ \u00a0\u202f,.']\d{3})+")


@pytest.mark.parametrize("number", NUMBERS)
def test_every_form_is_the_number(number):
    right = by_sympy(number)
    forms = typed(read(number).value)
    assert len(set(forms)) == len(forms)
    for form in forms:
        if THOUSANDS.fullmatch(form) and int(re.sub(r"[^\d]", "", form)) == abs(right):
            assert (form[0] in "-−") == (right < 0), form
        elif DECIMAL.fullmatch(form):
            plain = Fraction(form.replace("−", "-").replace(",", "."))
            places = len(re.split("[.,]", form)[1])
            assert abs(sympy.Rational(plain) - right).evalf(30) <= sympy.Rational(1, 2 * 10**places), form
            assert plain != 0 or right == 0, form
        else:
            assert abs((by_sympy(form) - right).evalf(30)) < 1e-25, form


@pytest.mark.parametrize(
    ("number", "forms"),
    [
        ("1/3", ("1/3", "2/6", "0.33", "0,3333", ".333", "0.333333")),
        ("3", ("3", "3.0", "3,0", "3.00")),
        ("-1/2", ("-1/2", "−1/2", "-0.5", "−0,5", "-.5", "-2/4")),
        ("2", ("4/2", "2.00", "40/20")),
        ("1/8", ("0.125", "0.13", "0.12", "0.1250", ".125")),
        ("7680000", ("7680000", "7,680,000", "7 680 000", "7.680.000")),
    ],
)  # fmt: skip
def test_what_people_type_is_among_them(number, forms):
    assert set(forms) <= set(typed(read(number).value))


def test_what_is_not_the_number_is_not_among_them():
    assert not {"0.3", "0.34", "1/30", "3/1"} & set(typed(Fraction(1, 3)))
    assert not {"0.00", "0.000"} & {*typed(Fraction(1, 19683)), *few(Fraction(1, 19683))}


def test_minus_infinity():
    assert {"-inf", "−∞", "-∞"} <= set(typed(NEGATIVE_INFINITY))


@pytest.mark.parametrize("written", ["3*d**2*n", "4*d**2 + 4*d", "h*n**2", "2*n*d - d", "d/2"])
def test_letters(written):
    value = parse_expr(written)
    forms = typed(value)
    for form in forms:
        plain = re.sub(r"(?<=[dhn\d])(?=[dhn(])", "*", form.replace("·", "*").replace("**", "^"))
        plain = re.sub(r"(?<=[dhn\d²]) (?=[dhn])", "*", plain)
        plain = re.sub("[²]", "^2", re.sub(r"(?<=²)(?=[dhn(])", "*", plain)).replace("^", "**").replace("−", "-")
        assert sympy.expand(parse_expr(plain) - value) == 0, form
    assert len(forms) > 2


def test_letters_with_spaces_between_them_as_questions_ask():
    assert {"3 d^2 n", "3 n d^2", "3nd^2", "3*d^2*n"} <= set(typed(parse_expr("3*d**2*n")))


@pytest.mark.parametrize("number", IRRATIONAL)
def test_sums_of_powers_and_roots_are_not_listed(number):
    """They are asked for in decimals.  A wrong answer is known by its commonest decimals."""
    value, right = read(number).value, by_sympy(number)
    assert not is_listed(value)
    with pytest.raises(TypeError, match="cannot be listed"):
        typed(value)
    for form in few(value)[1:]:
        if DECIMAL.fullmatch(form):
            places = len(form.partition(".")[2])
            off = abs(sympy.Rational(form.replace("−", "-")) - right).evalf(30)
            assert off <= sympy.Rational(1, 2 * 10**places), form


@given(st.fractions(-30, 30, max_denominator=60), st.integers(0, 4), st.integers(1, 60))
def test_decimals_near_a_number_are_all_within_the_tolerance(value, places, off):
    tolerance = Fraction(off, 10**places * 4)
    forms = decimals_near(value, tolerance, places)
    unit = 10**places
    middle = round(value * unit)  # and no tolerance is more than 15 units
    near = [n for n in range(middle - 17, middle + 18) if abs(Fraction(n, unit) - value) <= tolerance]
    values = [Fraction(form.replace("−", "-")) for form in forms]
    assert set(values) == {Fraction(n, unit) for n in near}
    assert [abs(x - value) for x in values] == sorted(abs(x - value) for x in values)
