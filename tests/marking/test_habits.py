"""Numbers as people write them for people: every plausible reading is kept, and noise round a number is none."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import symattn
from symattn.exact import exact
from symattn.marking.submissions import entry
from symattn.marking.submissions.tables import Cells
from symattn.marking.submissions.written import Written
from symattn.teaching.question import MatrixAnswer, StepAnswer


@given(st.integers(0, 99), st.text("0123456789", max_size=4), st.text("0123456789", min_size=1, max_size=4))
def test_a_recurring_decimal_is_the_limit_of_its_digits(whole, before, period):
    """Far along the digits, what is left is less than one in the last place."""
    digits = before + period * 30
    close = Fraction(int(f"{whole}{digits}"), 10 ** len(digits))
    for typed in (f"{whole}.{before}({period})", f"{whole}.{before}" + "".join(f"{c}\u0305" for c in period)):
        found = entry(typed)
        assert found.unit is None
        assert 0 <= Fraction(found.value) - close <= Fraction(1, 10 ** len(digits))


TWOFOLD = {
    "160,000": [160, 160000], "2·204": [408, "2.204"], "4 (5)": [20, 4], "e^-1/2": ["e^(-1)/2", "e^(-1/2)"],
}  # fmt: skip


@pytest.mark.parametrize("typed", TWOFOLD)
def test_every_plausible_reading_is_kept(typed):
    found = entry(typed, "auto")
    meant = [entry(str(way)).value for way in TWOFOLD[typed]]
    assert [one.value for one in (found.reading, *found.reading.alternatives)] == meant


@pytest.mark.parametrize(("truth", "typed"), [("2/3", "0.6666…"), ("2/3", "0.6667..."), ("-2/3", "**-0.66…**")])
def test_digits_that_go_on_may_have_been_cut_off(truth, typed):
    d = symattn.derive("attention", Q=[[1]], K=[[1]], V=[[exact(truth)]], scale="none")
    assert symattn.check(d, {"Z": [[typed]]}).right
    assert not symattn.check(d, {"Z": [[typed.replace("6", "5", 1)]]}).right


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("8nd^2", "8*n*d^2"), ("2nd(2d+n)", "2*n*d*(2*d+n)"), ("2nd_k + hn", "2*n*d_k + h*n"), ("4d²+4d", "4d^2+4d")],
)
def test_letters_written_together_are_a_product(typed, meant):
    assert entry(typed, symbols=True).value == entry(meant, symbols=True).value


@pytest.mark.parametrize("typed", ["see above", "row", "2 heads more"])
def test_a_word_is_no_product(typed):
    assert not entry(typed, symbols=True).readable
    assert not entry("8nd^2").readable


def test_units_belong_to_counts_and_not_to_matrices():
    """385 tokens are 385 where tokens are counted; in a matrix nobody knows what "3 rows" is, and a person looks."""
    counts, lines = symattn.worksheet("", problem="counts", seed=1)[0], symattn.worksheet("attention", seed=1)[0]
    for sheet, typed, expected in ((counts, "385 tokens", 385), (lines, "385 tokens", None), (lines, "385", 385)):
        part = next(part for part in sheet.question.parts if isinstance(part.answer, MatrixAnswer | StepAnswer))
        written = Written(sheet.question)
        written.parts[part.name] = Cells((("1", typed),) if expected is None else ((typed,),))
        said = written.attempt(".").answers[part.name]
        assert [x.value for _, _, x in said.cells()][-1] == expected
        assert bool(written.remarks) == (expected is None)
