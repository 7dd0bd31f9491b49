"""How long a question takes, reckoned by hand from rules.md 4.6."""

from dataclasses import replace

import pytest

from symattn.exact import Matrix
from symattn.page.document import Words
from symattn.teaching.exam.workload import minutes
from symattn.teaching.question import (
    ChoiceAnswer,
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


def test_arithmetic_counts_by_its_load_and_what_is_unknown_by_its_marks():
    one, other = asks(ANSWERS[0][0], load=120.0), asks("something new")
    assert minutes(one) == pytest.approx(1 + 10 + 0.5)
    assert minutes(other) == pytest.approx(1 + 2)
    both = replace(one, parts=one.parts + other.parts)
    assert minutes(both) == pytest.approx(1 + 10 + 0.5 + 2)
