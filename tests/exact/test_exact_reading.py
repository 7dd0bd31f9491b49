"""What people type is read as they mean it, and nothing that anybody can type does any harm."""

import random
import re
import time
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import mpmath
import pytest
import sympy
from exact_witness import everything, in_sympy
from hypothesis import given
from hypothesis import strategies as st
from sentences import refused_saying
from tables import tables_beside
from trials import tries

from symattn.errors import ReadError
from symattn.exact.bridge import from_sympy, to_sympy
from symattn.exact.decide import Decision, decide
from symattn.exact.reading import decide_reading, read
from symattn.exact.tree import OverBudget
from symattn.exact.values import NEGATIVE_INFINITY, divide, exact, exponential, square_root

TABLES = tables_beside(__file__)

SECTIONS = re.split("# What .*", (Path(__file__).parent / "readings.md").read_text("utf-8"))
ROW = re.compile(r"^\| `(.*?)` \| (.+?) \| (.+?) \|$", re.MULTILINE)
READ, REFUSED, TWOFOLD = map(ROW.findall, SECTIONS)


def worth(text):
    return eval(re.sub(r"\b(\d+)", r"Integer(\1)", text), vars(sympy).copy())  # our own table


@pytest.mark.parametrize(("typed", "echoed", "value"), READ)
def test_how_it_is_read(typed, echoed, value):
    reading = read(typed)
    assert reading.echo() == echoed
    assert decide(reading.value, from_sympy(worth(value))).equal is True


@pytest.mark.parametrize("typed", [typed for typed, _, _ in READ])
def test_the_echo_reads_as_the_same_number(typed):
    reading = read(typed)
    again = read(reading.echo())
    assert again.echo() == reading.echo()
    assert decide(again.value, reading.value).equal is True


@pytest.mark.parametrize(("typed", "place", "said"), REFUSED)
def test_what_is_refused_and_where(typed, place, said):
    with pytest.raises(ReadError) as error:
        read(typed).value  # noqa: B018  (evaluating is the test)
    assert said in str(error.value)
    assert error.value.position == int(place) - 1
    assert str(error.value).endswith(".")
    assert error.value.pointer


@pytest.mark.parametrize(("typed", "first", "other"), TWOFOLD)
def test_what_can_be_read_in_two_ways(typed, first, other):
    reading = read(typed)
    assert [reading.echo(), *(one.echo() for one in reading.alternatives)] == [first, other]
    assert exact(typed) == read(first).value
    for echoed in (first, other):
        assert decide_reading(reading, read(echoed).value).equal is True
    assert decide_reading(reading, 7).equal is False


@pytest.mark.parametrize("typed", [typed for typed, _, _ in READ if typed not in ("2e+1",)])
def test_everything_else_has_one_reading(typed):
    assert read(typed).alternatives == ()


decimals = st.decimals(allow_nan=False, allow_infinity=False, places=None).filter(
    lambda x: abs(x.adjusted()) < 300 and len(x.as_tuple().digits) < 40
)


@tries(100)
@given(decimals, st.sampled_from(["{:e}", "{:E}"]), st.sampled_from([".", ","]))
def test_what_other_programs_write_is_read_as_they_mean_it(number, form, mark):
    """Python's own reader of decimals is the witness."""
    typed = form.format(number)
    reading = read(typed.replace(".", mark), mark)
    values = [reading.value, *(other.value for other in reading.alternatives)]
    assert Fraction(number) in values
    assert (Fraction(number) == values[0]) or "e+" in typed


@tries(100)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_is_read_as_the_decimal_that_it_is_printed_as(number):
    reading = read(repr(number))
    assert Fraction(repr(number)) in [reading.value, *(other.value for other in reading.alternatives)]


KINDS = TABLES["kinds"]  # fmt: skip


@pytest.mark.parametrize(("typed", "kind", "places"), KINDS)
def test_kinds(typed, kind, places):
    assert (read(typed).kind, read(typed).places or 0) == (kind, places)


def test_decimal_comma():
    assert read("1,25", ",").value == Fraction(5, 4)
    assert read("-,5", ",").places == 1
    assert read("1,5e^2", ",").value == exponential(2) * Fraction(3, 2)
    with pytest.raises(ReadError, match="0,5"):
        read("1.5", ",")
    with refused_saying("decimal mark"):
        read("1", ";")


def test_symbols():
    a, x1, alpha = sympy.symbols("a x_1 α")
    assert read("2a + x_1/2", symbols=True).value == 2 * a + x1 / 2
    for typed in ("√d_k/2", "sqrt(d_{k})/2"):
        assert read(typed, symbols=True).value == sympy.sqrt(sympy.Symbol("d_k")) / 2
    assert read("a^2α", symbols=True).value == a**2 * alpha
    assert read("e^2a", symbols=True).value == sympy.exp(2) * a
    assert read("x_{1}", symbols=True).value == x1
    for refused in ("ab", "a_", "e_1", "i^a", "σσ"):
        with pytest.raises(ReadError):
            read(refused, symbols=True)


def is_read_as(expression, typed, refused):
    """SymPy's own printers are the witness: what they write is read as what it meant, or is told to be unclear."""
    try:
        value = read(typed).value
    except ReadError as error:
        assert "at most 200" in str(error) or refused in str(error)  # noqa: PT017
        return
    assert decide(value, from_sympy(expression)).equal is True


@pytest.mark.slow
@tries(60)
@given(everything)
def test_numbers_written_in_sympys_notation(recipe):
    expression = in_sympy(recipe)
    is_read_as(expression, str(expression).replace("E", "e"), "in two ways")


@pytest.mark.slow
@tries(30)
@given(everything)
def test_numbers_written_in_sympys_latex(recipe):
    expression = in_sympy(recipe)
    is_read_as(expression, sympy.latex(expression), "mixed number")


# ------------------------------------------------------------------------------------ answers too large to expand


def test_huge_answers_are_decided_without_expanding():
    e = exponential
    t = e(1) + square_root(2) * e(divide(square_root(3), 2)) + e(Fraction(1, 3))
    base = "(e+√2e^(√3/2)+e^(1/3))"
    huge = read(f"{base}^200/{base}^199")
    with pytest.raises(ReadError, match="too large"):
        huge.value  # noqa: B018
    assert decide_reading(huge, t) == Decision(True, "modular")
    assert decide_reading(huge, t + Fraction(1, 10**60)) == Decision(False, "modular")
    assert decide_reading(huge, 8) == Decision(False, "interval", 50)
    assert decide_reading(read("e^2/(1+2e^2)"), divide(1, 2 + e(-2))) == Decision(True, "exact")
    assert decide_reading(read("-∞"), NEGATIVE_INFINITY).equal is True
    softmax = "(e^2/(1+e^2)+e^√3)^100/(e^2/(1+e^2)+e^√3)^99"
    assert decide_reading(read(softmax), divide(e(2), 1 + e(2)) + e(square_root(3))).equal is True


# ------------------------------------------------------------------------------------ hostile text

HOSTILE = {
    **TABLES["plain"],
    **{name: "".join(text * count for text, count in parts) for name, parts in TABLES["repeated"].items()},
    **{name: sign.join(map(term.format, range(*ends))) for name, (sign, term, *ends) in TABLES["joined"].items()},
    **{
        name: sign.join(map(term.format, sympy.primerange(*ends)))
        for name, (sign, term, *ends) in TABLES["primes"].items()
    },
    "long product of long numbers": "*".join(["9" * 199] * 20),
    "large radicands": "+".join(f"√{10**30 + i}" for i in range(100)),
    "surrogate": "\ud800",
    "surrogate in a name": "e\udfff",
}


def attempt(typed):
    started = time.process_time()
    try:
        reading = read(typed)
        reading.echo()
        assert reading.value is not None
    except ReadError as error:
        assert str(error).endswith(".")  # noqa: PT017
        assert 0 <= error.position <= len(typed)  # noqa: PT017
        str(error).encode("utf-8")  # the sentence can be printed
    return time.process_time() - started


@pytest.mark.covering(most=47)
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_harmless_and_fast(name):
    import symattn.exact.bridge  # noqa: F401

    assert min(attempt(HOSTILE[name]) for _ in range(3)) < 0.25


T, TRUTH = "(√(e^2+1)+e^0.5)", square_root(exponential(2) + 1) + exponential(Fraction(1, 2))


@pytest.mark.covering(most=53, product=False)
@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("form", ["{0}+({1})-({1})", "{0}*({1})/({1})"])
def test_the_truth_in_disguise_is_never_called_wrong(name, form):
    """Whatever X is, T + X − X and T·X/X are T, unless they have no value; undecided is allowed, wrong is not."""
    started = time.process_time()
    try:
        decision = decide_reading(read(form.format(T, HOSTILE[name])), TRUTH)
    except ReadError:
        return
    assert decision.equal is not False
    assert time.process_time() - started < 5
    assert decide_reading(read(form.format(T, HOSTILE[name])), TRUTH + Fraction(1, 10**60)).equal is not True


PIECES = TABLES["pieces"]  # fmt: skip


@pytest.mark.parametrize("seed", range(2))
def test_ten_thousand_token_soups(seed):
    rng = random.Random(seed)
    good = 0
    for _ in range(5000):
        typed = "".join(rng.choices(PIECES, k=rng.randint(1, 12)))
        try:
            reading = read(typed, rng.choice(".,"))
            reading.value  # noqa: B018
            good += 1
        except ReadError as error:
            assert 0 <= error.position <= len(typed)  # noqa: PT017
            continue
        again = read(reading.echo().replace(",", "."))
        assert decide(again.value, reading.value).equal is True
    assert good > 100


@pytest.mark.parametrize(
    "typed", ["sqrt(sin(10^199))", "sqrt(sin(10^28))", "ln(-cos(10^199+1))", "(sin(10^199))^(1/2)"]
)
def test_a_number_that_is_none_is_refused_however_many_digits_it_takes_to_see_that(typed):
    """At 25 digits sin(10^199) lies anywhere between −1 and 1."""
    with mpmath.workdps(300):
        assert mpmath.sin(mpmath.mpf(10) ** 199) < 0
        assert mpmath.sin(mpmath.mpf(10) ** 28) < 0
        assert mpmath.cos(mpmath.mpf(10) ** 199 + 1) > 0
    with pytest.raises(ReadError, match=r"real|positive"):
        read(typed).value  # noqa: B018
    for truth in (Fraction(1, 3), exponential(1), NEGATIVE_INFINITY):
        with suppress(ReadError):
            assert decide_reading(read(typed), truth).equal is False


def test_what_is_not_seen_to_be_a_number_is_none_to_go_on_with():
    """It is 0, as no number of digits shows."""
    reading = read("sqrt(ln(6)-ln(2)-ln(3))")
    with pytest.raises(OverBudget):
        reading.evaluate()
    assert decide_reading(reading, 1).equal is False


@tries(40)
@given(st.text(max_size=40))
def test_any_text(typed):
    attempt(typed)


def test_only_text_is_read():
    with refused_saying("text"):
        read(3)
    assert to_sympy(read("1/2").value) == sympy.Rational(1, 2)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 58 + "-ln(2)/2" + ")^2" * 58, "(" * 58 + "ln(2)" + ")^3" * 58, "(" * 58 + "1+ln(3)" + ")^2" * 58,
        "exp(-" * 12 + "1" + ")+1" * 12, "*".join(f"(1+e^(1/{k}))" for k in range(2, 40)),
        "e^(e^(1/2)/(1+e^(1/2)))^99", "+".join(f"e^{k}" for k in range(-150, 150)),
    ],
)  # fmt: skip
def test_what_would_take_long_to_multiply_out_is_compared_all_the_same(text):
    """SymPy writes (c·x²)² as c²·x⁴ at once, and 58 squares would give c an astronomical length."""
    reading = read(text)
    with pytest.raises(OverBudget):
        reading.evaluate()
    with pytest.raises(OverBudget):  # remembered, and no other error
        reading.evaluate()
    assert decide_reading(reading, Fraction(1, 3)).equal is False


def test_roots_of_powers_of_letters_are_not_multiplied_out():
    """It took four seconds, for SymPy multiplies out real and imaginary parts."""
    started = time.process_time()
    reading = read("sin(ln(10^-200*sqrt((((3 n d^2)^99)^(-20/199))^(-200/12))))", symbols=True)
    with suppress(OverBudget):
        reading.evaluate()
    assert decide_reading(reading, read("3 n d^2", symbols=True).value).equal is not True
    assert time.process_time() - started < 1


LARGE = "(1+e)^200*(1-e)^200"


@pytest.mark.parametrize("none", ["ln(√2*√2-2)", "ln(√2*√3-√6)", "1/(√2*√2-2)", "ln(√2*√2-2)*0"])
def test_the_logarithm_of_0_is_not_looked_for_modulo_a_prime(none):
    """Dividing 0 by 2 as often as that goes never ended; intervals do not see that it is 0."""
    decision = decide_reading(read(f"{LARGE}*0+ln(2)+{none}"), exact("ln(2)"))
    assert decision.equal is not True


def test_a_number_too_large_to_be_multiplied_out_may_not_be_defined_at_all():
    with pytest.raises(ReadError):  # intervals find it
        read(f"ln(-1)+{LARGE}").evaluate()
    with pytest.raises(ReadError):
        read("ln(" * 9 + "sqrt(2)+e" + ")" * 9).evaluate()
    hidden = read(f"{LARGE}+1/(e-e)")  # only the exact ring does
    with pytest.raises(OverBudget):
        hidden.evaluate()
    assert decide_reading(hidden, Fraction(1, 3)) == Decision(None, "undecided")


@pytest.mark.parametrize(
    "text", ["1/(ln(6)-ln(2)-ln(3))", f"{LARGE}*0+1/(ln(6)-ln(2)-ln(3))", "sqrt(e^(2*e^7)+1)-e^(e^7)"]
)
def test_what_no_digits_are_known_of_agrees_with_nothing(text):
    """1/0 in disguise lies anywhere, and so does a difference of numbers with more digits than are worked with."""
    decision = decide_reading(read(text), Fraction(1, 3))
    assert decision.equal is not True
    assert decision.digits is None
