"""Attempting costs next to nothing (rules.md 3.12, P5): what is wrong where nothing stood loses a mark of its own line.

Scripts are right, with lines and entries left out at random, but for what is written there instead.
"""

from fractions import Fraction
from functools import cache
from pathlib import Path
from random import Random

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from scripts import drawn, exactly, key_of, key_script, laid, legible, lost, marked, page, pages, script, without
from trials import some, tries

import symattn
from symattn.derivation.misconceptions import replayed
from symattn.exact import to_sympy
from symattn.marking.attempt import BLANK, Attempt, Grid, Shaded
from symattn.marking.marker import blanks
from symattn.marking.marker.blanks import recounted
from symattn.marking.marker.diagnosis import diagnosed
from symattn.marking.marker.policy import POLICIES
from symattn.marking.submissions.entries import entry, grid
from symattn.teaching.question import EntriesAnswer

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
def key_to(number):
    mechanism, problem, chosen = SHEETS[number]
    q = drawn(mechanism, problem=problem, **chosen)
    return q, key_script(q)


@cache
def wrong_scripts_to(number):
    """What people write who have one of the misconceptions and go on from there."""
    q, _ = key_to(number)
    wrongs = [w for w in replayed(q.problem.derivation) if w.first and not w.stopped]
    return [script(q, laid(q, pages(w.derivation)), legible) for w in wrongs]


def with_gaps(attempt, rng):
    """Lines and entries left out."""
    share, answers = rng.choice([0, 0, 0.1]), dict(attempt.answers)
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


def anything(shape, rng):
    """A matrix of that shape, or of another, of numbers and words."""
    texts = rng.choice([["0"], ["see working"], rng.sample(ANYTHING, 4), [str(k) for k in range(-3, 4)]])
    rows, columns = rng.choice(
        [shape, shape, shape[::-1], (1, 1), (1, shape[1]), (shape[0], 1), (shape[0], shape[1] - 1)]
    )
    return grid([[rng.choice(texts) for _ in range(max(1, columns))] for _ in range(rows)])


def earned(report, *but, open_too=False):
    """The marks of every line of which none of these parts is one; `open_too`, with those that wait for a person."""
    found = {}
    for mark in report.marks:
        if mark.code != "N" and not set(but) & set(mark.parts):
            found[mark.parts] = found.get(mark.parts, 0) + (mark.of if open_too and mark.pending else mark.given)
    return found


def costs_at_most(most, q, before, after, part, names=WITH_MARKS):
    for name in names:
        less, more = marked(q, before, name), marked(q, after, name)
        says = f"{name}: {less.total}, {more.total} with {part}"
        waits = sum(mark.of - mark.given for mark in more.marks if mark.pending)  # what cannot be read, a person reads
        assert more.total + waits >= less.total - most, says
        others = earned(more, part, open_too=True)
        assert all(others[line] >= n for line, n in earned(less, part).items()), says
        assert_blanks_are_told_where_they_cost(more)


def assert_blanks_are_told_where_they_cost(report):
    """Nobody is told that a line was taken for blank in which nothing is wrong and which has all its marks."""
    wrong = {verdict.part for verdict in report.verdicts if not verdict.accepted}
    short = {part for mark in report.marks if mark.given < mark.of for part in mark.parts}
    assert {notice.part for notice in report.notices if notice.kind == "blank"} <= wrong | short


def any_part(seed):
    """A sheet, a right script to it with gaps, and one of its matrices: its part, and what is right there."""
    rng = Random(seed)
    q, right = key_to(rng.randrange(len(SHEETS)))
    attempt = with_gaps(right, rng)
    part = rng.choice([p.name for p in q.parts if p.name in key_of(q)])
    return rng, q, attempt, part, right.answers[part]


@tries(5)
@given(st.integers(0, 10**6))
def test_a_line_that_is_anything_costs_a_mark_of_its_own_at_most(seed):
    rng, q, attempt, part, key = any_part(seed)
    before = without(attempt, part)
    after = Attempt({**before.answers, part: anything(key.shape, rng)})
    costs_at_most(1, q, before, after, part, rng.sample(WITH_MARKS, 2))


@tries(5)
@given(st.integers(0, 10**6))
def test_an_entry_that_is_anything_costs_a_mark_of_its_line_at_most(seed):
    rng, q, attempt, part, key = any_part(seed)
    said = attempt.answers.get(part, Grid.blank(*key.shape))
    if said.shape != key.shape:
        return
    asked = next(p.answer for p in q.parts if p.name == part)
    places = asked.cells if isinstance(asked, EntriesAnswer) else [(i, j) for i, j, _ in said.cells()]
    i, j = rng.choice(list(places))
    before = Attempt({**attempt.answers, part: said.put(i, j, BLANK)})
    for most, new in ((1, entry(rng.choice(ANYTHING))), (0, entry(exactly(key_of(q)[part][i][j])))):
        after = Attempt({**attempt.answers, part: said.put(i, j, new)})
        costs_at_most(most, q, before, after, part, rng.sample(WITH_MARKS, 1))


def mistaken_by(mechanism, id, **chosen):
    """A question, and what somebody writes who has a misconception and goes on from there."""
    q = drawn(mechanism, **chosen)
    [wrong] = replayed(q.problem.derivation, [id])
    return q, script(q, laid(q, pages(wrong.derivation)), legible)


@pytest.mark.parametrize(("id", "text", "policy"), [("C6", "1/2", "ib"), ("C3", "e^2", "uk")])
def test_a_line_that_hides_a_mistake_counts_as_blank(id, text, policy):
    """Scores that are anything, so that scaled ones do not seem to come of the wrong divisor or axis."""
    q, mistaken = mistaken_by("causal_self_attention", id, by="token")
    before = without(mistaken, "S.1")
    costs_at_most(1, q, before, Attempt({**before.answers, "S.1": grid([[text]])}), "S.1", [policy])


@pytest.mark.covering(most=5, product=False)
@pytest.mark.parametrize("policy", WITH_MARKS)
@pytest.mark.parametrize(
    ("mechanism", "id", "written", "part"),
    [
        ("attention", "C10", "", "S'"),
        ("self_attention", "C6", "", "S'"),
        ("attention", "X11", "", "A"),
        ("rms_norm", "B6", "", "N_hat"),
        ("rms_norm", "B3", "N", "N_ms"),  # and normalised rows left out
    ],
)
def test_a_right_line_that_was_not_gone_on_with_costs_nothing(mechanism, id, written, part, policy):
    """What comes after it was worked out with a mistake in it: no less is earned than if it had not been written, and
    not everything.
    """
    q, mistaken = mistaken_by(mechanism, id)
    left_out = {
        name: said for name, said in mistaken.answers.items() if name == written or (name != part and not written)
    }
    right = {**left_out, part: key_script(q).answers[part]}
    less, more = (marked(q, Attempt(answers), policy) for answers in (left_out, right))
    assert less.available > more.total >= less.total


@pytest.mark.covering(most=1, product=False)
@pytest.mark.parametrize("policy", WITH_MARKS)
@pytest.mark.parametrize("id", ["T2", "T7", "T8"])
def test_what_is_implied_is_worth_no_more_than_what_is_written(id, policy):
    """Weights that follow from wrong scores, left out and written."""
    q, mistaken = mistaken_by("attention", id)
    less, more = (marked(q, one, policy) for one in (without(mistaken, "A"), mistaken))
    assert more.total >= less.total


@pytest.mark.parametrize(
    ("mechanism", "part", "hidden"), [("causal_self_attention", "S'", (0, 2)), ("feed_forward", "H_linear", None)]
)
def test_a_wrong_entry_that_nothing_shows_counts_as_blank(mechanism, part, hidden):
    """A hidden score, and what ReLU cuts off anyway: whatever stands there, the next line is the key's."""
    q = drawn(mechanism)
    right = key_script(q)
    said, rows = right.answers[part], key_of(q)[part]
    i, j = hidden or next((i, j) for i, row in enumerate(rows) for j, x in enumerate(row) if x < 0)
    before = Attempt({**right.answers, part: said.put(i, j, BLANK)})
    after = Attempt({**right.answers, part: said.put(i, j, entry("-7"))})
    costs_at_most(1, q, before, after, part)


def mixed_up(seed):
    """A sheet that mixes several misconceptions and nonsense line by line, without one line and with anything there."""
    rng = Random(f"harsh {seed}")
    number = rng.randrange(len(SHEETS))
    q, right = key_to(number)
    scripts, answers = [right, *rng.sample(wrong_scripts_to(number), 3)], {}
    for name, said in right.answers.items():
        own = rng.choice(scripts).answers.get(name)
        if rng.random() < 0.1:
            own = anything(said.shape, rng)
        if own is not None and rng.random() > 0.05:
            answers[name] = own
    part = rng.choice([name for name in right.answers if name in key_of(q)])
    answers.pop(part, None)
    new = rng.choice(wrong_scripts_to(number)).answers.get(part) if rng.random() < 0.5 else None
    new = new or anything(right.answers[part].shape, rng)
    return q, part, Attempt(answers), Attempt({**answers, part: new})


@pytest.mark.parametrize(
    "seed",
    [
        pytest.param(10, id="one line is left out whole, and of another what is wrong"),
        pytest.param(14, id="what is implied without the line says nothing against leaving it out"),
        pytest.param(15, id="a right line before it was not gone on with either"),
        pytest.param(318, id="a line is left out before one that is wrong by a misconception"),
        pytest.param(317, id="all blanks of a matrix that is printed in part are left out"),
        pytest.param(398, id="it alone is left out of several doubtful lines"),
        *(pytest.param(seed, marks=pytest.mark.slow) for seed in some(range(100, 300), 10)),
    ],
)
def test_anything_between_lines_of_several_mistakes_costs_a_mark_at_most(seed):
    costs_a_mark_at_most(*mixed_up(seed))


def costs_a_mark_at_most(q, part, before, after):
    less, more = marked(q, before), marked(q, after)
    waits = sum(mark.of - mark.given for mark in more.marks if mark.pending)
    says = f"{less.total}, {more.total} with {part}"
    assert more.total + waits >= less.total - 1, says


@pytest.mark.slow
@tries(4)
@given(st.integers(0, 10**6))
def test_after_a_mistake_that_was_carried_on_anything_costs_a_mark_at_most(seed):
    """What one writes may happen to follow, or to be wrong as something is that has a name: a mark of accuracy."""
    rng = Random(seed)
    number = rng.choice([0, 1, 2, 3])
    (q, right), mistaken = key_to(number), rng.choice(wrong_scripts_to(number))
    part = rng.choice([name for name in mistaken.answers if name in key_of(q)])
    said = right.answers[part]
    before = without(mistaken, part)
    after = Attempt({**before.answers, part: anything(said.shape, rng)})
    costs_a_mark_at_most(q, part, before, after)


def nonsense(seed):
    """A sheet with lines that are right, that have nothing to do with the question, and that are not there."""
    rng = Random(f"nonsense {seed}")
    q, right = key_to(rng.choice([0, 1, 3, 4]))
    texts = rng.choice(
        [[str(k) for k in range(-9, 10)], [f"{k / 8:.2f}" for k in range(-24, 25)], ["0", "1", "-10000"]]
    )
    answers = {
        part: said if rng.random() < 0.2 else grid([[rng.choice(texts) for _ in row] for row in said.rows])
        for part, said in right.answers.items()
        if rng.random() > 0.1 or not isinstance(said, Grid)
    }
    return q, Attempt(answers), rng.choice(WITH_MARKS)


def test_lines_judged_anew_are_as_a_diagnosis_has_them(monkeypatch):
    """What earns no more with lines blank is known from the lines that rest on them alone."""
    known = []

    def compared(other, before):
        recount = recounted(other, before)
        if recount is not None:
            whole = diagnosed(other, before.policy)
            assert [(v.place, v.state, v.flags) for v in recount.every_verdict] == [
                (v.place, v.state, v.flags) for v in whole.every_verdict
            ]
            known.append(other)
        return recount

    for seed in range(3):
        q, attempt, policy = nonsense(seed)
        monkeypatch.setattr(blanks, "recounted", compared)
        report = marked(q, attempt, policy)
        monkeypatch.setattr(blanks, "recounted", lambda other, before: None)
        whole = marked(q, attempt, policy)
        assert (report.marks, report.events, report.notices) == (whole.marks, whole.events, whole.notices)
    assert len(known) > 10


def test_rows_swapped_after_a_blank_line_show_the_method():
    """The queries are anything; the scores are those of the right ones, two rows of them in each other's places."""
    q = drawn("self_attention")
    d = q.problem.derivation
    first, second, third = page(d.value("S"))
    answers = script(q, laid(q, pages(d.replay(pinned={"S": [second, first, third]})))).answers
    anything_else = grid([[str(7 * i - 5 * j) for j, _ in enumerate(row)] for i, row in enumerate(answers["Q"].rows)])
    report = marked(q, Attempt({**answers, "Q": anything_else}))
    assert [mark.given for mark in report.marks if mark.parts == ("S",) and mark.code == "M"] == [2]


def test_zeros_everywhere_earn_next_to_nothing():
    """The shapes are right; half of the accuracy of scores and output follows from zeros, without any method."""
    q = symattn.derive(str(Path(__file__).with_name("cases") / "g1.toml")).worksheet().question
    report = marked(q, script(q, {name: [["0"] * len(rows[0])] * len(rows) for name, rows in key_of(q).items()}))
    assert {(m.parts, m.code): m.given for m in report.marks if m.given} == {
        (("Q",), "B"): 1,
        (("S",), "A"): 1,
        (("Z",), "A"): 1,
    }


def test_weights_follow_from_the_students_own_mask():
    """One cell of the mask is shaded wrongly: that is the mistake, and the weights under it are right."""
    q = drawn(problem="masks", seed=2)
    parts = {part.name: part.answer for part in q.parts}
    hidden, matrix = parts["shade"].cells, parts["mask"].value
    rows, columns = map(range, matrix.shape)
    row = next(i for i, _ in parts["weights"].cells if sum((i, j) not in hidden for j in columns) > 1)
    own = hidden | {max((row, j) for j in columns if (row, j) not in hidden)}
    base = {"e": sympy.E}.get(str(q.content["base"]), q.content["base"])
    scores = page(q.problem.derivation.value("S'"))
    powers = [[0 if (i, j) in own else base ** to_sympy(x) for j, x in enumerate(r)] for i, r in enumerate(scores)]
    marks = {(i, j) in hidden: matrix[i, j] for i in rows for j in columns}
    lines = {**key_of(q), "weights": [[str(x / sum(r)).replace("E", "e") for x in r] for r in powers],
             "mask": [[marks[(i, j) in own] for j in columns] for i in rows]}  # fmt: skip
    attempt = Attempt({**script(q, lines).answers, "shade": Shaded(own)})
    report = marked(q, attempt)
    assert [event.part for event in report.events] == ["shade"]
    assert set(lost(report)) == {"shade"}
    assert marked(q, attempt, "strict").total < report.total


def test_a_decimal_and_the_fraction_that_it_equals_are_worth_the_same():
    """P8: halves after a slip, as 1.5 or as 3/2, before weights and outputs that were rounded on the way."""
    q = drawn("attention", seed=2)
    d, right = q.problem.derivation, key_of(q)
    scores = [[*row] for row in right["S"]]
    scores[0][2] += 1
    halves = [[Fraction(x) / 2 for x in row] for row in scores]
    powers = np.round(np.exp(np.array(halves, dtype=float)), 2)
    weights = np.round(powers / powers.sum(axis=1, keepdims=True), 2)
    outputs = np.round(weights @ np.array(page(d.value("V")), dtype=float), 2)
    rest = {"S": scores, "A": [[f"{x:.2f}" for x in row] for row in weights],
            "Z": [[f"{x:.2f}" for x in row] for row in outputs]}  # fmt: skip
    both = [
        marked(q, script(q, {**rest, "S'": [[form(x) for x in row] for row in halves]}))
        for form in (str, lambda x: str(x) if x.denominator == 1 else f"{float(x)}")
    ]
    assert both[0].total == both[1].total


def test_a_right_line_between_mistakes_is_told_nothing_of_blanks():
    """K is wrong and the scores, which were worked out from the right K, are not; the weights are turned over."""
    q = drawn("causal_self_attention")
    right = key_script(q)
    turned = Grid(tuple(zip(*right.answers["A"].rows, strict=True)))
    spoilt = {"K": right.answers["K"].put(2, 1, entry("97")), "A": turned}
    report = marked(q, Attempt({**right.answers, **spoilt}), "ecf")
    assert [notice.part for notice in report.notices if notice.kind == "blank"] == ["K", "A"]
    off = {mark.parts: mark.why.reason for mark in report.marks if mark.given < mark.of}
    assert off == {("K",): "not carried forward", ("A",): "not carried forward"}
