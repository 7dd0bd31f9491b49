"""A small run of the fuzzer: nothing crashes, nothing is run, and nothing takes long."""

import fuzz_answers
import pytest


@pytest.mark.slow
def test_hundreds_of_answers():
    tally = fuzz_answers.fuzz(500, seed=7)
    assert tally.crashes == []
    assert dict(tally.events) == {}
    assert sum(tally.outcomes.values()) == 500
    assert any("accepted" in outcome for outcome in tally.outcomes)


@pytest.mark.slow
def test_hundreds_of_functions_of_functions():
    """With exponents of both signs and every size, in processor time."""
    tally = fuzz_answers.fuzz(200, seed=3, kinds=(fuzz_answers.expression,))
    assert tally.crashes == []
    assert tally.slowest < 1
    assert sum(number for outcome, number in tally.outcomes.items() if "complaint" in outcome) < 150
    assert any("interval" in outcome for outcome in tally.outcomes)
    assert any("exact" in outcome for outcome in tally.outcomes)


def test_it_would_see_code_that_is_run():
    """The hook counts what it is there to count."""
    tally = fuzz_answers.Tally()
    fuzz_answers.watching[:] = [tally.events]
    exec("1")
    fuzz_answers.watching.clear()
    assert any(event.startswith("exec") for event in tally.events)
