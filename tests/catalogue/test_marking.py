"""Every sheet of the catalogue filled in with its key earns everything, however it is typed, and a belief one event."""

from dataclasses import replace
from random import Random

import pytest
from catalogue_sheets import ROWS, derivation, sheet, the, written
from filling import fill, fill_notebook
from scripts import key_script

from symattn.derivation.misconceptions import replayed
from symattn.marking.attempt import Attempt, Text
from symattn.marking.marker import mark
from symattn.marking.marker.policy import POLICIES
from symattn.marking.submissions import read_submission
from symattn.marking.trial import right_scripts, script

MECHANISMS = [row for row in ROWS if row.kind == "mechanism"]


def answers(attempt):
    """What was written; a text without the points that it was given."""
    return {
        part: replace(said, points=None) if isinstance(said, Text) else said for part, said in attempt.answers.items()
    }


@pytest.mark.covering(most=5, rest=3)
@the(*ROWS[::2])
def test_the_key_filled_into_the_page_is_read_back_and_earns_everything(row):
    """In the row's language and layout; a blank page holds nothing, and nothing earns nothing.

    What a person reads has no marks yet.
    """
    question = sheet(row).question
    attempt = key_script(question)
    for form, filled in (("notebook", fill_notebook), ("markdown", fill)):
        blank = written(row, "blank", form)
        [untouched] = read_submission(blank, [question], form=form).attempts
        assert not [*untouched.answers, *untouched.more, *untouched.remarks]
        page = filled(blank, [question], [attempt], name="Ada", student="17")
        found = read_submission(page, [question], form=form)
        assert (found.sheet, found.name, found.student) == (sheet(row).name, "Ada", "17")
        assert answers(found.attempts[0]) == answers(attempt)
    report = mark(question, found.attempts[0])
    assert report.events == ()
    assert report.available > 0
    assert all(given.given == given.of or given.pending for given in report.marks)
    nothing = mark(question, Attempt({}))
    assert (nothing.total, nothing.events) == (0, ())
    assert {verdict.state for verdict in nothing.verdicts} <= {"missing"}


@pytest.mark.covering(most=5)
@the(*MECHANISMS[::2])
def test_the_key_earns_everything_as_it_is_typed(row):
    """Exactly, to a few places, with a decimal comma, in percent or transposed; exactly, under any policy as well."""
    question, number = sheet(row).question, ROWS.index(row)
    forms, policies = list(right_scripts(question, derivation(row))), [one for one in POLICIES.values() if one.marks]
    for (form, attempt), policy in (
        (forms[number % len(forms)], POLICIES["ecf"]),
        (("exactly", key_script(question)), policies[number % len(policies)]),
    ):
        report = mark(question, attempt, policy)
        assert not report.events, f"{form}, {policy.name}: {report.events}"
        assert report.total == report.available > 0, f"{form}, {policy.name}"


@pytest.mark.covering(most=4, rest=2)
@the(*MECHANISMS[1::2])
def test_a_belief_carried_on_is_one_event(row):
    """One of the misconceptions that have a place here, can be carried through, and are seen in a box."""
    question, d = sheet(row).question, derivation(row)
    asked = [step.name for step in question.problem.asked_steps]
    visible = [
        wrong for wrong in replayed(d)
        if not wrong.stopped and wrong.first in asked and wrong.misconception.prior != "low"
    ]  # fmt: skip
    for wrong in Random(row.name).sample(visible, min(1, len(visible))):
        [event] = mark(question, script(question, wrong.derivation)).events
        assert wrong.misconception.id in [one.id for one in event.candidates]
