"""How long a question takes, reckoned by hand from rules.md 4.6."""

from dataclasses import replace

import pytest

import symattn
from symattn.exact import Matrix
from symattn.page.document import Words
from symattn.teaching.exam.papers import minutes
from symattn.teaching.question import (
    ChoiceAnswer,
    EntriesAnswer,
    FormulaAnswer,
    Mark,
    MatrixAnswer,
    Option,
    OrderAnswer,
    Part,
    PropertyAnswer,
    Question,
    RubricAnswer,
    ShapeAnswer,
    WordAnswer,
)

ANSWERS = [
    (MatrixAnswer(Matrix([[1, 2, 3], [4, 5, 6]])), 30),  # six numbers
    (ChoiceAnswer((Option((Words("yes"),), True), Option((Words("no"),)))), 60),
    (ShapeAnswer((2, 3)), 40),
    (WordAnswer("softmax"), 40),
    (OrderAnswer((("a",), ("b", "c"))), 120),
    (FormulaAnswer(4), 120),
    (RubricAnswer(((Words("one"),), (Words("two"),), (Words("three"),))), 360),
    (PropertyAnswer("any", {}, {"Q": Matrix([[1, 0]])}), 130),
]


def asks(*answers, load=0.0):
    parts = (Part(str(k), (Words("A part"),), (), (), answer, (Mark("B", 2),)) for k, answer in enumerate(answers))
    return Question("made up", "Made up", (), tuple(parts), {}, features={"load": load} if load else {})


@pytest.mark.parametrize(("answer", "seconds"), ANSWERS, ids=[type(answer).__name__ for answer, _ in ANSWERS])
def test_a_minute_of_reading_and_the_time_of_the_answer(answer, seconds):
    assert minutes(asks(answer)) == pytest.approx(1 + seconds / 60)


def test_options_take_at_most_a_row_each_and_blanks_their_share():
    options = ANSWERS[1][0]
    assert minutes(asks(options, options, load=1000.0)) == pytest.approx(1 + 2 * (1 + 1.5))
    [sheet] = symattn.worksheet("attention", problem="faded", seed=3)
    blanks = sum(len(part.answer.cells) for part in sheet.question.parts if isinstance(part.answer, EntriesAnswer))
    entries = sum(step.result.shape[0] * step.result.shape[1] for step in sheet.question.problem.steps)
    load = sheet.question.features["load"]
    assert 0 < blanks < entries
    assert minutes(sheet.question) == pytest.approx(1 + (5 * load * blanks / entries + 5 * blanks) / 60)


def test_arithmetic_counts_by_its_load_and_what_is_unknown_by_its_marks():
    one, other = asks(ANSWERS[0][0], load=120.0), asks("something new")
    assert minutes(one) == pytest.approx(1 + 10 + 0.5)
    assert minutes(other) == pytest.approx(1 + 2)
    both = replace(one, parts=one.parts + other.parts)
    assert minutes(both) == pytest.approx(1 + 10 + 0.5 + 2)
