"""What is read in a script, and what is said of it, tells nobody the key: with another key, all of it is the same."""

import json
from dataclasses import replace
from functools import cache

import pytest
from scripts import other_answer, other_results

from symattn.api import make_recipe
from symattn.errors import InputError
from symattn.marking.submissions import read_submission
from symattn.teaching.problems import drawn_types
from symattn.teaching.question import (
    EntriesAnswer,
    OrderAnswer,
    StepAnswer,
)
from symattn.teaching.sheets import sheets

TYPES = sorted(set(drawn_types()))[::2]
TEXTS = ["dont know", "A B", "D C B A", "A < B", "3 x", "2x3", "12", "[[1, 2], [3]]", "1 2 ; 3 4", "x", "(9, 9)", "S'",
         "3x + ", "=", "none of these"]  # fmt: skip


@cache
def keys(kind, seed):
    """A question, and the same with another key; what is printed of a derivation stays as it is."""
    (sheet,) = sheets(make_recipe(problem=kind, seed=seed), 1)
    question = sheet.question
    parts = tuple(replace(part, answer=other_answer(part.answer)) for part in question.parts)
    problem = question.problem
    if problem is not None and not any(isinstance(part.answer, EntriesAnswer) for part in parts):
        asked = {part.answer.step for part in parts if isinstance(part.answer, StepAnswer)}
        problem = replace(problem, derivation=other_results(problem.derivation, asked))
    return question, replace(question, parts=parts, problem=problem)


def reading(text, form, question):
    """What a script is read as, with all that is said of it; or why it is refused."""
    try:
        return read_submission(text, [question], form=form)
    except InputError as error:
        return str(error)


@pytest.mark.covering(most=1)
@pytest.mark.parametrize("kind", TYPES)
def test_reading_and_its_messages_do_not_depend_on_the_key(kind):
    question, changed = keys(kind, 3)
    for first in range(0, len(TEXTS), 3):
        said = {part.name: TEXTS[(first + k) % len(TEXTS)] for k, part in enumerate(question.parts)}
        script = "\n".join(f"{k}. {text}" for k, text in enumerate(said.values(), 1))
        for text, form in ((json.dumps({"answers": said}), "json"), (script, "markdown")):
            assert reading(text, form, question) == reading(text, form, changed)


def test_labels_of_an_order_are_named_in_the_order_of_the_alphabet():
    question, _ = keys("estimate", 3)
    part = next(part for part in question.parts if isinstance(part.answer, OrderAnswer))
    (attempt,) = read_submission(json.dumps({"answers": {part.name: "dont know"}}), [question], form="json").attempts
    (remark,) = attempt.remarks
    assert remark.says == "Found 'dont know', where A, B, C, D were expected in some order."
