"""Whatever an argument is in Python, it is used or refused in a sentence: no other exception, and no nonsense.

The witness of what is in range are the options of the command line.
"""

import math
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from inspect import Parameter, signature

import pytest
from sentences import refused_saying

import symattn
from symattn import api
from symattn.cli.derive import derive as derive_command
from symattn.cli.worksheet import worksheet as worksheet_command
from symattn.derivation.mechanisms import Settings
from symattn.errors import SymattnError

ODD = (
    None, True, 0, -1, 1.5, math.nan, "", "foo", "a\nb", b"x", [], [1], ["foo"], (), {}, {"n": 0}, {"a": [1]}, print,
)  # fmt: skip
GIVEN = {"Q": [[1, 0]], "K": [[1, 0], [0, 1]], "V": [[1], [2]]}
SOLVED = symattn.derive("attention", **GIVEN)
ANSWERS = {"Z": [[1]]}
SETTINGS = tuple(f.name for f in fields(Settings))
FUNCTIONS = ("progress", "ask")


def _words(function):
    """What a function takes by name, but for what is itself called: what that raises is the caller's own."""
    own = (p.name for p in signature(function).parameters.values() if p.kind is Parameter.KEYWORD_ONLY)
    return tuple(name for name in own if name not in FUNCTIONS)


def _program(q, k, v):
    return v[:1]


VERBS = {
    "derive": (
        lambda source="attention", **odd: symattn.derive(source, **{**GIVEN, **odd}).text(),
        ("source", *_words(symattn.derive), *SETTINGS, *GIVEN),
    ),
    "derive in letters": (
        lambda **odd: symattn.derive("attention", **{"symbolic": True, **odd}),
        _words(symattn.derive),
    ),
    "worksheet": (
        lambda **odd: symattn.worksheet(**{"problem": "counts", "forms": ["markdown"], **odd}),
        ("mechanism_name", *_words(symattn.worksheet)),
    ),
    "check": (lambda **odd: symattn.check(SOLVED, **{"answers": ANSWERS, **odd}), ("answers", *_words(symattn.check))),
    "compare": (
        lambda **odd: symattn.compare(SOLVED, **{"results": [[1]], **odd}),
        ("results", *_words(symattn.compare)),
    ),
    "trace": (
        lambda **odd: symattn.trace(**{"function": _program, "d": SOLVED, **odd}),
        ("function", "d", *_words(symattn.trace)),
    ),
    "make_look": (symattn.make_look, ("language", "fillable", *symattn.page.presentation.CHOICES)),
    "decide": (lambda **odd: symattn.decide(**{"a": 1, "b": 1, **odd}), ("a", "b")),
}


@pytest.mark.covering(most=6, rest=3)
@pytest.mark.parametrize(("verb", "name"), [(verb, name) for verb, (_, names) in VERBS.items() for name in names])
def test_an_odd_argument_is_used_or_refused_in_a_sentence(verb, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = {}
    for odd in ODD:
        try:
            VERBS[verb][0](**{name: odd})
        except SymattnError as error:
            said[repr(odd)] = str(error)
    assert {odd: sentence for odd, sentence in said.items() if not sentence.endswith((".", "?"))} == {}


RANGES = (
    (worksheet_command, "count", "n"),
    (worksheet_command, "places", "places"),
    (worksheet_command, "jobs", "jobs"),
    (derive_command, "places", "places"),
)


@pytest.mark.parametrize(("command", "option", "argument"), RANGES)
def test_an_argument_has_the_range_of_its_option(command, option, argument):
    [kind] = (p.type for p in command.params if p.name == option)
    for value in (kind.min, kind.max):
        assert api.checked_arguments(**{argument: value}) == {argument: value}
    for value in (kind.min - 1, kind.max + 1):
        with refused_saying(rf"^{argument} is {value}; .* from {kind.min} to {kind.max} was expected\.$"):
            api.checked_arguments(**{argument: value})


WORKERS = [
    (symattn.worksheet, "executor"), (symattn.worksheet, "progress"),
    (symattn.grade, "executor"), (symattn.grade, "progress"), (symattn.grade, "ask"),
]  # fmt: skip


@pytest.mark.parametrize("odd", [3, "foo", ThreadPoolExecutor], ids=["number", "text", "class"])
@pytest.mark.parametrize(("verb", "name"), WORKERS)
def test_workers_and_functions_are_refused_in_a_sentence(verb, name, odd):
    if callable(odd) and name != "executor":
        return
    expected = r"an executor of concurrent\.futures, .*" if name == "executor" else "a function"
    with refused_saying(rf"^{name} is {re.escape(repr(odd))}; {expected} was expected\.$"):
        verb("attention", **{name: odd})


def test_whole_numbers_of_numpy_are_whole_numbers():
    import numpy as np

    given = symattn.derive("attention", **GIVEN, places=np.int64(2), entries=[(np.int64(0), 0)])
    assert given.text() == symattn.derive("attention", **GIVEN, places=2, entries=[(0, 0)]).text()


def test_matrices_that_letters_would_replace_are_refused():
    with refused_saying(r"^symbolic=True names every entry itself, so the Q .* Leave it out"):
        symattn.derive("attention", symbolic=True, **GIVEN)
    shape = {"rows": 2, "columns": 3}
    assert symattn.derive("softmax_jacobian", symbolic=True).steps
    assert symattn.derive("attention", symbolic=True, Q=shape, K=shape, V=shape).output.shape == (2, 3)
