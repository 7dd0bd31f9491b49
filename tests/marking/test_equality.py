"""Right answers in any form are right, and answers that are wrong by 1e-60 are wrong.

Texts are written by `written_forms` from random derivations and read as a student's are; mpmath, at 90 digits, says
what each text stands for.
"""

import mpmath
import pytest
from written_forms import FORMS, NEAR_MISSES, PROBLEMS, entries, one_fraction

from symattn.exact.reading import decide_reading, read
from symattn.marking.marker.policy import POLICIES
from symattn.marking.marker.trace import Accepts
from symattn.marking.submissions import entry as as_typed

SEED = 1
KINDS = [pytest.param(kind, marks=pytest.mark.slow if "4 tokens" in kind else ()) for kind in PROBLEMS]
TOLERANCE = mpmath.mpf(10) ** -80


@pytest.fixture(autouse=True, scope="module")
def _digits():
    with mpmath.workdps(90):
        yield


@pytest.mark.covering(most=2, product=False)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", KINDS)
def test_right_answers_in_every_form(kind, form):
    for entry in entries(kind, SEED):
        written = FORMS[form](entry)
        assert abs(written.number - entry.number) < TOLERANCE
        decision = decide_reading(read(written.text), entry.truth)
        assert decision.equal is True, (written.text, entry.truth, decision)


@pytest.mark.covering(most=2, product=False)
@pytest.mark.parametrize("places", [12, 60])
@pytest.mark.parametrize("miss", NEAR_MISSES)
@pytest.mark.parametrize("kind", KINDS)
def test_near_misses_in_every_form(kind, miss, places):
    for entry in entries(kind, SEED):
        for form in FORMS.values():
            written = NEAR_MISSES[miss](entry, form, places)
            off = abs(written.number - entry.number)
            assert mpmath.mpf(10) ** -(places + 6) < off < mpmath.mpf(10) ** -(places - 3)
            decision = decide_reading(read(written.text), entry.truth)
            assert decision.equal is False, (written.text, entry.truth, decision)


def test_rational_weights_as_one_fraction():
    for entry in entries("base 3", SEED):
        written = one_fraction(entry)
        assert abs(written.number - entry.number) < TOLERANCE
        assert decide_reading(read(written.text), entry.truth).equal is True
        for places in (12, 60):
            assert decide_reading(read(f"{written.text} + 1/10^{places}"), entry.truth).equal is False


@pytest.mark.parametrize(
    ("text", "same", "other"),
    [
        ("e^(3·ln(2))", "8", "9"),
        ("4^(1/2)", "2", "3"),
        ("e^(ln(2)·5/2)", "4√2", "4√3"),
        ("e^(1/2·ln(9)) + 1", "4", "5"),
        ("exp(-ln(3))/(1 + exp(-ln(3)))", "1/4", "1/3"),
        ("8^(2/3)", "4", "2"),
    ],
)
def test_logarithms_and_roots_of_numbers(text, same, other):
    assert decide_reading(read(text), read(same).value).equal is True
    assert decide_reading(read(text), read(other).value).equal is False
    assert decide_reading(read(f"{text} + 1/10^60"), read(same).value).equal is False


@pytest.mark.parametrize(("text", "one", "other"), [("2e-1", "1/5", "2*e-1"), ("2e+1", "2*e+1", "20")])
def test_what_can_be_read_in_two_ways_is_right_in_either(text, one, other):
    accepts = Accepts(POLICIES["ecf"], exact=True, places=4)
    for right in (one, other):
        assert accepts(as_typed(text), read(right).value)[0]
    assert not accepts(as_typed(text), read("2*e").value)[0]
