"""What the fast suite takes, and hypothesis for the whole tree.

`pytest` alone runs the fast suite: what is not `slow`.  `make test` runs everything.

Slow machines are not failures, and a run tries the same examples every time, so that a change is judged by what it
changed and not by luck; `make thorough` looks for new failures, at random and longer.
"""

import gc
import itertools
import os
from collections import Counter
from math import ceil
from zlib import crc32

import pytest
from hypothesis import HealthCheck, settings
from trials import LONG

os.environ["SYMATTN_CACHE"] = ""
"""Nothing is remembered between tests, and nothing written where the user keeps things; before symattn is loaded."""

from commands import here  # noqa: E402

from symattn.cli import options  # noqa: E402
from symattn.foundation import crew  # noqa: E402
from symattn.marking.grading import run  # noqa: E402

gc.set_threshold(100_000, 20, 20)
"""Tests and what they keep are many objects, of which few go: looking for circles among them took a sixth of a run."""

options.EVERY = 3600
"""Commands say nothing by the clock, however slow the machine."""

settings.register_profile(
    "symattn", deadline=None, max_examples=20, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("thorough", settings.get_profile("symattn"), max_examples=400, derandomize=False)
settings.load_profile("symattn")

PROCESSORS = crew.processors

LONG_CASES = set(map(repr, LONG))
"""As the values of parameters are compared."""


@pytest.fixture(scope="session")
def torch():
    """PyTorch, a witness in the whole suite alone: it takes seconds to load, and who runs README's command has none."""
    return pytest.importorskip("torch")


@pytest.fixture(scope="session", autouse=True)
def no_processes():
    """What a test has done is done here, without processes, which take a second to start; who tests these asks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(crew, "processors", lambda: 1)
        patch.setattr(run, "crew", here)
        yield


@pytest.fixture
def processes(monkeypatch):
    monkeypatch.setattr(crew, "processors", PROCESSORS)
    monkeypatch.setattr(run, "crew", crew.crew)


def pytest_collection_finish():
    """Nothing that is collected goes before the end: circles are no longer looked for in it."""
    gc.freeze()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items):
    """Leave to the whole suite what the fast one does not take of a test, and most of a sweep to the thorough.

    Browsers and TeX engines come first: some of their tests take minutes, and all others fit in beside them.
    """
    for item in items:
        if "torch" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            item.add_marker(pytest.mark.property)
    functions = [item for item in items if isinstance(item, pytest.Function) and item.get_closest_marker("covering")]
    left = set()
    for (_, name), group in itertools.groupby(functions, lambda item: (item.path, item.originalname)):
        cases = list(group)
        quick = [case for case in cases if not case.get_closest_marker("slow")]
        kept = list(covering(quick, values_of))
        how = cases[0].get_closest_marker("covering").kwargs
        if most := how.get("most"):
            kept = few(
                name, [case for case in kept if not LONG_CASES & {value for _, value in values_of(case)}] or kept, most
            )
        for case in quick:
            if case not in kept:
                case.add_marker(pytest.mark.slow)
        rest = [case for case in cases if case not in kept]
        if not how.get("product", True):
            rest = list(covering(rest, rows_of, kept))
        if every := how.get("rest"):
            rest = few(name, rest, ceil(len(rest) / every))
        left |= set(cases) - set(kept) - set(rest)
    if left and settings.default.derandomize:  # which the thorough profile is not
        items[0].config.hook.pytest_deselected(items=[item for item in items if item in left])
        items[:] = [item for item in items if item not in left]
    done = yield
    items.sort(key=lambda item: item.get_closest_marker("players") is None)
    return done


def covering(cases, values_of, already=()):
    """So few cases of a test that every value of every parameter comes, in as many combinations as may be.

    What comes in cases that are taken already is not looked for.  Each time the case with the most values that have not
    come yet; of several, the one whose values came least often.
    """
    values = {case: set(values_of(case)) for case in cases}
    came, missing = Counter(), set().union(*values.values()) - {value for case in already for value in values_of(case)}
    if len(missing) == sum(map(len, values.values())):  # no two have anything in common
        yield from cases
        return
    while missing:
        cases = [case for case in cases if values[case] & missing]
        best = max(cases, key=lambda case: (len(values[case] & missing), -sum(came[value] for value in values[case])))
        came.update(values[best])
        missing -= values[best]
        yield best


def values_of(case):
    return ((name, repr(value)) for name, value in case.callspec.params.items())


def rows_of(case):
    """The row of each table of values that `parametrize` has: what somebody put together in a row stays together."""
    values = dict(values_of(case))
    for mark in case.iter_markers("parametrize"):
        names = mark.args[0].replace(" ", "").split(",") if isinstance(mark.args[0], str) else mark.args[0]
        yield ",".join(names), repr([values.pop(name) for name in names])
    yield from values.items()


def few(name, cases, most):
    """At most so many cases, spread evenly; another test begins elsewhere, so that together they see more values."""
    if len(cases) <= most:
        return cases
    begin = crc32(str(name).encode()) % len(cases)
    return [cases[(begin + k * len(cases) // most) % len(cases)] for k in range(most)]
