"""Whatever is handed in, for whatever is asked, comes out marked, with marks from none to all, and can be reported."""

from dataclasses import replace
from random import Random

import pytest
from catalogue_sheets import ROWS, sheet, the
from filling import fill
from scripts import ids, key_of, key_script, spoilt
from trials import LONG, some

import symattn
from symattn.exact import exact
from symattn.marking.attempt import Attempt, Entry, Grid, Grids, Ordered, Shaded, Shaped, Text, Ticked, Unreadable
from symattn.marking.marker import mark
from symattn.marking.marker.policy import POLICIES
from symattn.marking.reports import feedback_document, marking_document, report_json
from symattn.marking.submissions import entry, read_submission
from symattn.page.document import AnswerGrid, all_blocks
from symattn.page.writers import markdown, text
from symattn.teaching.question import ShapeAnswer
from symattn.teaching.sheets import make_sheet

WITHOUT_NUMBERS = ("note-001", "note-001-feed-forward", "note-003")


# ------------------------------------------------------------------------------------------------ anything at all


TEXTS = (
    "", "0", "1", "-1", "17", "0.5", "0.333", "33 %", "1/2e", "??", "-inf", "inf", "-∞", "1/0", "0/0", "10^400",
    "1e999", "9" * 60, "-1999", "2001", "e^1999", "e^(10^9)", "e^(e^2)", "2^0.8165", "sqrt(-1)", "sqrt(2)", "√3/3",
    "ln(0)", "ln 2", "sin(1)", "1/3", "e/(1+e)", "1/(e-e)", "x", "q_1", "a + b", "1 | 2", "0,25", "1.000000001",
    "ln(2) + ln(3) - ln(6)", "(2^(1/3) - 1)^(1/3) - (1/9)^(1/3) + (2/9)^(1/3) - (4/9)^(1/3)",
)  # fmt: skip
"""The last is 0, as Ramanujan found, and nothing here proves it."""

LETTERS = ("x", "2a + b", "q_1 k_1/sqrt(d)", "e^x/(e^x + 1)", "v_1", "x/(x - x)", "1/x")


def any_entry(rng):
    """Any entry at all."""
    return entry(rng.choice(LETTERS), symbols=True) if rng.random() < 0.15 else entry(rng.choice(TEXTS))


def any_grid(rng, rows, columns):
    return Grid(tuple(tuple(any_entry(rng) for _ in range(columns)) for _ in range(rows)))


def other_said(rng):
    """An answer of any kind, whatever was asked."""
    made = any_grid(rng, rng.randrange(1, 5), rng.randrange(1, 5))
    said = [
        made, any_entry(rng), Grids({"S": made, "?": made}), Grids({}), Ticked(frozenset()), Ticked(frozenset({0, 25})),
        Shaded(frozenset()), Shaded(frozenset({(40, 40)})), Shaped(None), Shaped((0, 0)), Shaped(("n", "?")),
        Ordered(()), Ordered((("a", "b"), ("zzz",))), Text(""), Text("x" * 300), Text("so", 99),
        Unreadable("<b>", "It cannot be read."),
    ]  # fmt: skip
    return rng.choice(said)


def spoilt_further(asked, rng):
    """A spoilt script, and answers of another kind, exchanged, or given for what was not asked."""
    answers = dict(spoilt(asked, rng).answers)
    answers |= {name: other_said(rng) for name in [*answers, "?"] if rng.random() < 0.2}
    if len(answers) > 1:
        one, other = rng.sample(sorted(answers), 2)
        answers[one], answers[other] = answers[other], answers[one]
    steps = [step.name for step in asked.problem.steps] if asked.problem else []
    more = {name: any_grid(rng, 3, 3) for name in (*steps, "?") if rng.random() < 0.1}
    return Attempt(answers, more, frozenset(part.name for part in asked.parts if rng.random() < 0.1))


@pytest.mark.slow
@the(*some([row for row in ROWS if row.name not in LONG], 8))
def test_whatever_is_handed_in_comes_out_marked(row):
    """With marks from none to all, under any policy, and can be reported."""
    asked, rng = sheet(row).question, Random(row.name)
    for policy in some(rng.sample(sorted(POLICIES), 3), 1):
        report = mark(asked, spoilt_further(asked, rng), POLICIES[policy])
        assert report.available == (asked.marks if POLICIES[policy].marks else 0)
        assert 0 <= report.total <= report.available
        assert report_json(report)
        for document in (feedback_document(report), marking_document(report)):
            assert text.write(document)


# ------------------------------------------------------------------------------------------------ shapes alone


@pytest.mark.parametrize("name", WITHOUT_NUMBERS)
def test_of_a_derivation_without_numbers_the_shapes_are_asked(name):
    sheet = symattn.derive(name).worksheet()
    steps = {step.name: step for step in sheet.question.problem.steps}
    for part in sheet.question.parts:
        assert part.answer == ShapeAnswer(steps[part.name].result.shape)
        assert not any(isinstance(block, AnswerGrid) for block in all_blocks(part.ask))
    kinds = {(step.stem, type(step.op), step.result.shape) for step in sheet.question.problem.asked_steps}
    assert len(sheet.question.parts) == len(kinds) == sheet.question.marks


@pytest.mark.parametrize("name", WITHOUT_NUMBERS)
def test_shapes_come_back_from_a_worksheet_that_was_filled_in(name):
    sheet = symattn.derive(name).worksheet()
    blank = markdown.write(sheet.worksheet)
    assert read_submission(blank, [sheet.question], form="markdown").attempts[0].answers == {}
    right = key_script(sheet.question)
    [attempt] = read_submission(fill(blank, [sheet.question], [right]), [sheet.question], form="markdown").attempts
    assert attempt.answers == right.answers
    assert mark(sheet.question, attempt).total == sheet.question.marks
    turned = {part.name: Shaped(part.answer.shape[::-1]) for part in sheet.question.parts}
    square = sum(1 for shaped in turned.values() if shaped.shape == shaped.shape[::-1])
    assert mark(sheet.question, Attempt(turned)).total == square


def test_named_steps_are_asked_as_they_are_named():
    problem = symattn.derive("note-001").problem
    named = replace(problem, asked=("S.1", "S.2"))
    assert [part.name for part in make_sheet(named).question.parts] == ["S.1", "S.2"]


# ------------------------------------------------------------------------------------------------ symbols


def in_symbols(asked):
    """The key of a derivation in symbols, some of which nobody can type (w^Q_{11})."""
    read = entry("x", symbols=True).reading
    return {
        name: Grid(tuple(tuple(Entry(str(x), read, None if x is None else exact(x)) for x in row) for row in rows))
        for name, rows in key_of(asked).items()
    }


@pytest.mark.slow
def test_what_follows_from_a_wrong_score_in_symbols():
    """Row 2 of the scores has k_3 for k_2; the scaled ones and the masked ones follow from that."""
    asked = symattn.derive("note-004").worksheet().question
    answers = in_symbols(asked)
    for part, typed in (("S", "q_2 k_3"), ("S'", "q_2 k_3/sqrt(d_k)"), ("M", "q_2 k_3/sqrt(d_k)")):
        answers[part] = answers[part].put(1, 1, entry(typed, symbols=True))
    report = mark(asked, Attempt(answers))
    assert [report.of(part)[1, 1].state for part in ("S", "S'", "M")] == ["wrong", "follows", "follows"]


def test_a_misconception_in_symbols_is_named():
    asked = symattn.derive("note-004").worksheet().question
    answers = in_symbols(asked)
    answers["S'"] = answers["S"]  # not scaled
    [event] = mark(asked, Attempt({name: said for name, said in answers.items() if name not in ("M", "A", "Z")})).events
    assert "C1" in ids(event)
