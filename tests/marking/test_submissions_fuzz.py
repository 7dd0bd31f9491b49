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
def test_thousands_of_answers() -> None:
    tally = fuzzer().fuzz(5_000, seed=7)
    assert tally.crashes == []
    assert dict(tally.events) == {}
    assert sum(tally.outcomes.values()) == 5_000
    kinds = {outcome.split()[0] for outcome in tally.outcomes}
    assert kinds == {"soup", "mutation", "nesting", "huge", "look_alike", "code", "dressed"}
    assert any("accepted" in outcome for outcome in tally.outcomes)


def test_it_would_see_code_that_is_run() -> None:
    """The hook counts what it is there to count."""
    module = fuzzer()
    sys.addaudithook(module._hook)
    tally = module.Tally()
    module._watching[:] = [tally.events]
    exec("1")
    module._watching.clear()
    assert any(event.startswith("exec") for event in tally.events)
