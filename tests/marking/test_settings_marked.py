"""Every setting that `symattn list settings` offers, with one line wrong, is marked: no operation stops the marker."""

from contextlib import suppress
from functools import cache
from pathlib import Path
from random import Random

import pytest
from scripts import asked, decimals, exactly, ids, key_of, marked, script
from strategies import any_numbers
from tables import tables_beside
from trials import some

from symattn import check, worksheet
from symattn.derivation.mechanisms import Settings, mechanism, mechanisms
from symattn.derivation.misconceptions import replayed
from symattn.derivation.settings import ABOUT
from symattn.errors import InputError
from symattn.exact import NEGATIVE_INFINITY
from symattn.teaching.description import settings_of
from symattn.teaching.problems import problem_type

TABLES = tables_beside(Path(__file__).parents[1] / "mechanisms" / "settings.toml")
VALUES = {
    name: [value for value in (*TABLES["values"].get(name, ()), *TABLES["marked"].get(name, ())) if value != ""]
    for name in (*TABLES["values"], *TABLES["marked"])
}
VALUES["stop_at"] = ["the step before the last one"]
"""What is tried of each setting: every word that it takes, and numbers that are exact in another way."""

WITH = {
    "mask_style": {"mask": "causal"},
    "scores": {"by": "token"},
    "kv_heads": {"heads": 2},
    "split": {"heads": 2},
    "empty": {"mask": "past"},
    "blocks": {"arithmetic": "decimal"},
}
"""Without these a setting changes nothing, or gives no numbers that can be drawn."""


SMALL = {"n": 3, "m": 3, "d_k": 2, "d_v": 2}
"""Three tokens, since the masks above are those of three; an even d_k, for pairs of features."""


@cache
def cases():
    """The plainest mechanisms first."""
    names = [*PLAINEST, *(name for name in mechanisms() if name not in PLAINEST)]
    return [(name, setting, value) for name in names for setting in settings_of(name) for value in VALUES[setting]]


def derived(name, setting, value):
    """A mechanism with a setting and random givens; `InputError` for what it cannot do."""
    stated = {**mechanism(name).defaults, **WITH.get(setting, {}), setting: value}
    if setting == "stop_at":
        stated[setting] = list(derived(name, "arithmetic", "exact"))[-2].name
    sizes = problem_type("full").spec({"mechanism": name}).chosen_sizes()
    sizes = {letter: SMALL.get(letter, size) for letter, size in sizes.items()}
    return any_numbers(name, Settings.read(stated), sizes, Random(name))


def form(value):
    """Exact where anybody would write it so, else to four places."""
    return exactly(value) if value is NEGATIVE_INFINITY or isinstance(value, int) else decimals(4)(value)


def assert_marked(name, setting, value, lines=99):
    """One line after another has a wrong entry, everything else is as in the key: that entry is not accepted.

    Says how many lines were tried.
    """
    q = asked(derived(name, setting, value), exact=False)
    key = key_of(q)
    tried = Random(f"{name} {setting} {value}").sample(list(key), min(lines, len(key)))
    for line in tried:
        rows = [list(row) for row in key[line]]
        i, j = next((i, j) for i, row in enumerate(rows) for j, x in enumerate(row) if x is not NEGATIVE_INFINITY)
        rows[i][j] = rows[i][j] + 5
        report = marked(q, script(q, {**key, line: rows}, form))
        [verdict] = [v for v in report.verdicts if (v.part, v.i, v.j) == (line, i, j)]
        shifted = any(notice.kind == "method" for notice in report.notices)  # the one score that a token sees
        assert shifted or not verdict.accepted
    return len(tried)


def test_every_setting_that_is_listed_is_tried():
    assert {*VALUES} == {*ABOUT}


PLAINEST = ("self_attention", "attention", "positional_encoding", "rotary_attention", "feed_forward", "layer_norm")
STOPPED = [
    ("attention", "bias", "alibi"),
    ("attention", "mask", TABLES["marked"]["mask"][-2]),
    ("attention", "scale", "e/(e+1)"),
    ("multi_head_attention", "bias", "alibi"),
]
"""Operations that hold what has no hash, a matrix or a quotient: the marker stopped at them."""


@pytest.mark.parametrize("case", STOPPED, ids=str)
def test_a_wrong_line_is_marked_whatever_an_operation_holds(case):
    assert_marked(*case, lines=1)


@pytest.mark.covering(most=1)
@pytest.mark.parametrize("belief", ["X3", "X9"])
def test_a_belief_in_every_head_is_one_mistake_whatever_the_slopes(belief):
    """ALiBi's slopes of two heads are 1/16 and 1/256: powers of 2 with such exponents are followed, too."""
    [sheet] = worksheet("multi_head_attention", seed=3, bias="alibi", heads=2)
    [wrong] = replayed(sheet.problem.derivation, [belief])
    said = {part.name: [[str(x) for x in row] for row in wrong.value(part.name).rows] for part in sheet.question.parts}
    [event] = check(sheet, said).reports[0].events
    assert belief in ids(event)


@pytest.mark.covering(rest=2)
@pytest.mark.slow
@pytest.mark.parametrize("setting", VALUES)
def test_a_wrong_line_is_marked_under_every_setting(setting):
    for value in some(VALUES[setting], 1):
        for case in (one for one in cases() if one[1:] == (setting, value)):
            with suppress(InputError):  # the mechanism does not take it
                assert_marked(*case, lines=1)
                break
        else:
            pytest.fail(f"no mechanism takes {setting} = {value}")
