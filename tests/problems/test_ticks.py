"""Of a part with several right options, the key says what is done: a wrong tick and a missing one cost alike."""

import pytest
from problem_laws import questions

from symattn.marking.attempt import Attempt, Ticked
from symattn.marking.marker import mark
from symattn.teaching.problems import problem_type
from symattn.teaching.question import ChoiceAnswer

OWN = {"text": "Which are even?", "options": ["2", "3", "4"], "answer": ["A", "C"]}


@pytest.mark.parametrize(
    ("name", "options"),
    [("choice", {"several": True}), ("heatmap", {}), ("recurrence", {}), ("text", OWN)],
)
def test_the_key_says_what_wrong_and_missing_ticks_cost(name, options):
    [question] = questions(problem_type(name), 1, options=options)
    parts = [part for part in question.parts if isinstance(part.answer, ChoiceAnswer) and part.answer.several]
    assert parts
    for part in parts:
        right, every = part.answer.right, range(len(part.answer.options))
        assert [m.what for m in part.marks] == ["deduct one for every wrong or missing tick"]
        for k in every:  # one option ticked otherwise
            report = mark(question, Attempt({part.name: Ticked(frozenset(right ^ {k}))}))
            assert sum(given.given for given in report.marks) == max(0, part.marks[0].number - 1)
