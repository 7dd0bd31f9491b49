"""A small run of the fuzzer: nothing crashes, nothing is run.  How fast it is, `tests/bench/fuzz_answers.py` says."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


def fuzzer() -> ModuleType:
    path = Path(__file__).parent.parent / "bench" / "fuzz_answers.py"
    spec = importlib.util.spec_from_file_location("fuzz_answers", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["fuzz_answers"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_hundreds_of_answers():
    tally = fuzzer().fuzz(500, seed=7)
    assert tally.crashes == []
    assert dict(tally.events) == {}
    assert sum(tally.outcomes.values()) == 500
    kinds = {outcome.split()[0] for outcome in tally.outcomes}
    assert kinds == {"soup", "mutation", "nesting", "huge", "look_alike", "code", "dressed", "expression"}
    assert any("accepted" in outcome for outcome in tally.outcomes)


@pytest.mark.slow
def test_hundreds_of_functions_of_functions():
    """With exponents of both signs and every size.  Processor time; a limit that is far above what the bench allows."""
    module = fuzzer()
    tally = module.fuzz(200, seed=3, kinds=(module.expression,))
    assert tally.crashes == []
    assert [slow for slow in tally.slowest if slow[0] > 5 * module.LIMIT] == []
    assert sum(number for outcome, number in tally.outcomes.items() if "complaint" in outcome) < 150
    assert any("interval" in outcome for outcome in tally.outcomes)
    assert any("exact" in outcome for outcome in tally.outcomes)


def test_it_would_see_code_that_is_run():
    """The hook counts what it is there to count."""
    module = fuzzer()
    sys.addaudithook(module._hook)
    tally = module.Tally()
    module._watching[:] = [tally.events]
    exec("1")
    module._watching.clear()
    assert any(event.startswith("exec") for event in tally.events)
