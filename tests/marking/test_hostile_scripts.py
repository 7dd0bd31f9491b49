"""Whatever is handed in, for whatever is asked, comes out marked, with marks from none to all, and can be reported."""

from dataclasses import replace
from random import Random

import pytest
from filling import fill
from hostile import FEW, attempt, in_symbols, key, question
from scripts import key_script, shown

import symattn
from symattn.marking.attempt import Attempt, Shaped
from symattn.marking.marker import POLICIES, mark
from symattn.marking.reports import feedback_document, marking_document, report_json
from symattn.marking.submissions import entry, read_submission
from symattn.page.document import AnswerGrid, all_blocks
from symattn.page.writers import markdown, text
from symattn.teaching.question import ShapeAnswer
from symattn.teaching.sheets import make_sheet

POLICY_NAMES = sorted(POLICIES)
WITHOUT_NUMBERS = ("note-001", "note-001-feed-forward", "note-003")


def marked_and_reported(asked, attempt, policy):
    report = mark(asked, attempt, POLICIES[policy])
    assert report.available == (asked.marks if POLICIES[policy].marks else 0), shown(report)
    assert 0 <= report.total <= report.available, shown(report)
    assert report_json(report)
    for document in (feedback_document(report), marking_document(report)):
        assert text.write(document)
    return report


@pytest.mark.slow
@pytest.mark.parametrize("name", FEW[::2])
def test_nothing_earns_nothing_the_key_everything_and_what_is_spoilt_is_marked(name):
    asked, rng = question(name, 1), Random(name)
    assert marked_and_reported(asked, Attempt({}), "ecf").total == 0
    report = marked_and_reported(asked, key(asked), "strict")
    assert report.total == asked.marks, shown(report)
    for _ in range(3):
        marked_and_reported(asked, attempt(asked, rng), rng.choice(POLICY_NAMES))


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


@pytest.mark.slow
def test_what_follows_from_a_wrong_score_in_symbols():
    """Row 2 of the scores has k_3 for k_2; the scaled ones and the masked ones follow from that."""
    asked = symattn.derive("note-004").worksheet().question
    answers = dict(in_symbols(asked).answers)

    def in_place(part, i, j, typed):
        answers[part] = answers[part].put(i, j, entry(typed, symbols=True))

    in_place("S", 1, 1, "q_2 k_3")
    in_place("S'", 1, 1, "q_2 k_3/sqrt(d_k)")
    in_place("M", 1, 1, "q_2 k_3/sqrt(d_k)")
    report = mark(asked, Attempt(answers))
    assert report.of("S")[1, 1].state == "wrong"
    assert report.of("S'")[1, 1].state == "follows"
    assert report.of("M")[1, 1].state == "follows"


def test_a_misconception_in_symbols_is_named():
    asked = symattn.derive("note-004").worksheet().question
    answers = dict(in_symbols(asked).answers)
    answers["S'"] = answers["S"]  # not scaled
    for later in ("M", "A", "Z"):
        answers.pop(later, None)
    [event] = mark(asked, Attempt(answers)).events
    assert "C1" in [candidate.id for candidate in event.candidates]
