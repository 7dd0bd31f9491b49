"""Attempting never costs (rules.md 3.12, P5): whatever is written where nothing stood, no mark is lost for it.

Scripts are the key, or one mistake carried on, with lines and entries left out at random.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from scripts import exactly, key_of, key_script, laid, marked, pages, script, shown

import symattn
from symattn.derivation.misconceptions import replayed
from symattn.errors import SymattnError
from symattn.marking.attempt import BLANK, Attempt, Grid
from symattn.marking.marker.policy import POLICIES
from symattn.marking.marker.report import Report
from symattn.marking.submissions.entries import entry, grid
from symattn.teaching.question import EntriesAnswer, Question

WITH_MARKS = tuple(name for name, policy in POLICIES.items() if policy.marks)
ANYTHING = ["0", "1", "-7", "17", "1/2", "e^2", "0.3", "0.25", "99 %", "?", "1/0", "see working", "10^40", "-∞"]
SHEETS = (
    ("attention", "full", {}),
    ("self_attention", "full", {}),
    ("causal_self_attention", "full", {"by": "token"}),
    ("attention", "full", {"notation": "columns"}),
    ("self_attention", "faded", {}),
)


@cache
def scripts_of(number: int) -> tuple[Question, tuple[Attempt, ...]]:
    """A question, its key, and some misconceptions carried on."""
    mechanism, problem, chosen = SHEETS[number]
    [sheet] = symattn.worksheet(mechanism, problem=problem, seed=1, **chosen)
    q = sheet.question
    assert q.problem is not None
    found = [key_script(q)]
    if problem == "full":
        wrongs = [w for w in replayed(q.problem.derivation) if w.first and not w.stopped]
        for wrong in Random(number).sample(wrongs, 6):
            try:
                found.append(script(q, laid(q, pages(wrong.derivation))))
            except SymattnError:  # a product of other shapes
                continue
    return q, tuple(found)


def with_gaps(attempt: Attempt, rng: Random) -> Attempt:
    """Lines and entries left out, and some that are anything."""
    share, answers = rng.choice([0, 0.1, 0.3]), dict(attempt.answers)
    for part, said in attempt.answers.items():
        if not isinstance(said, Grid):
            continue
        if rng.random() < share:
            del answers[part]
        else:
            answers[part] = Grid(
                tuple(tuple(BLANK if rng.random() < share / 2 else x for x in row) for row in said.rows)
            )
    return Attempt(answers)


def anything(shape: tuple[int, int], rng: Random) -> Grid:
    """A matrix of that shape, or of another, of numbers and words."""
    texts = rng.choice([["0"], ["see working"], rng.sample(ANYTHING, 4), [str(k) for k in range(-3, 4)]])
    rows, columns = rng.choice(
        [shape, shape, shape[::-1], (1, 1), (1, shape[1]), (shape[0], 1), (shape[0], shape[1] - 1)]
    )
    return grid([[rng.choice(texts) for _ in range(max(1, columns))] for _ in range(rows)])


def earned(report: Report, *but: str) -> dict[Sequence[str], int]:
    """The marks of every line of which none of these parts is one."""
    found: dict[Sequence[str], int] = {}
    for mark in report.marks:
        if mark.code != "N" and not set(but) & set(mark.parts):
            found[mark.parts] = found.get(mark.parts, 0) + mark.given
    return found


def never_costs(q: Question, before: Attempt, after: Attempt, part: str, names: Sequence[str] = WITH_MARKS) -> None:
    for name in names:
        less, more = marked(q, before, name), marked(q, after, name)
        says = f"{name}: {less.total}, {more.total} with {part}\n{shown(less)}\n\n{shown(more)}"
        assert more.total >= less.total, says
        others = earned(more, part)
        assert all(others[line] >= n for line, n in earned(less, part).items()), says


@settings(max_examples=60)
@given(st.integers(0, 10**6))
def test_a_line_that_is_anything_earns_at_least_what_it_does_left_blank(seed):
    rng = Random(seed)
    q, attempts = scripts_of(rng.randrange(len(SHEETS)))
    attempt = with_gaps(rng.choice(attempts), rng)
    part = rng.choice([p.name for p in q.parts if p.name in key_of(q)])
    key = key_script(q).answers[part]
    assert isinstance(key, Grid)
    before = Attempt({name: said for name, said in attempt.answers.items() if name != part})
    after = Attempt({**before.answers, part: anything(key.shape, rng)})
    never_costs(q, before, after, part, rng.sample(WITH_MARKS, 2))


@settings(max_examples=60)
@given(st.integers(0, 10**6))
def test_an_entry_that_is_anything_earns_at_least_what_it_does_left_blank(seed):
    rng = Random(seed)
    q, attempts = scripts_of(rng.randrange(len(SHEETS)))
    attempt = with_gaps(rng.choice(attempts), rng)
    part = rng.choice([p.name for p in q.parts if p.name in key_of(q)])
    key = key_script(q).answers[part]
    said = attempt.answers.get(part, Grid.blank(*key.shape))
    if said.shape != key.shape:
        return
    asked = next(p.answer for p in q.parts if p.name == part)
    places = asked.cells if isinstance(asked, EntriesAnswer) else [(i, j) for i, j, _ in said.cells()]
    i, j = rng.choice(list(places))
    before = Attempt({**attempt.answers, part: said.put(i, j, BLANK)})
    for new in (entry(rng.choice(ANYTHING)), entry(exactly(key_of(q)[part][i][j]))):
        never_costs(q, before, Attempt({**attempt.answers, part: said.put(i, j, new)}), part, rng.sample(WITH_MARKS, 1))
