"""How long a question takes: an estimate for the teacher, made from its load and from what is to be written.

The seconds of an answer are the rules of thumb by which tests are planned (rules.md 4.6); nothing is fitted to timings.
"""

from __future__ import annotations

from symattn.exact import Size
from symattn.foundation.languages import Message, counted, message
from symattn.teaching.problem import Problem
from symattn.teaching.question import (
    CellsAnswer,
    ChoiceAnswer,
    EntriesAnswer,
    FormulaAnswer,
    MatrixAnswer,
    OrderAnswer,
    Part,
    PropertyAnswer,
    Question,
    RubricAnswer,
    ShapeAnswer,
    StepAnswer,
    WordAnswer,
    total,
)

READING = 60
UNIT_OF_LOAD = 5
ENTRY = 5
CHOICE = 60
MOST_FOR_A_CHOICE = 90
FILL_IN = 40
SHORT_ANSWER = 120
MARK = 60
"""Seconds: for reading a question, a unit of load, a number that is written, options and at most their arithmetic, a
shape or a word that is filled in, a formula or a point of an explanation, and a mark of anything else."""

LOAD = message(
    "Load measures the arithmetic: 1 stands for a product with 1 or −1, 1.5 for an addition, 2.5 for a product of two "
    "larger numbers."
)
MINUTES = message(
    "Minutes are a rough estimate for a student who is prepared: five seconds for a unit of load and for a number "
    "that is written, one minute for a choice, two for a formula or for a point of an explanation."
)


def minutes(question: Question) -> float:
    """About how many minutes a student who is prepared takes for a question."""
    written = sum(_seconds(part, question.problem) for part in question.parts)
    return (READING + _arithmetic(question) + written) / 60


def _arithmetic(question: Question) -> float:
    """For the load, which is that of a whole derivation: of blanks in it their share, of options a row each."""
    whole = UNIT_OF_LOAD * question.features.get("load", 0.0)
    answers = [part.answer for part in question.parts]
    if all(isinstance(answer, ChoiceAnswer) for answer in answers):
        return min(whole, MOST_FOR_A_CHOICE * len(answers))
    blanks = [len(answer.cells) for answer in answers if isinstance(answer, EntriesAnswer)]
    if blanks and question.problem is not None:
        entries = sum(_entries(step.result.shape) for step in question.problem.steps)
        return whole * sum(blanks) / max(sum(blanks), entries)
    return whole


def _entries(shape: tuple[Size, Size]) -> int:
    """How many numbers there are to write; None if a size is a letter."""
    rows, columns = shape
    return rows * columns if isinstance(rows, int) and isinstance(columns, int) else 0


def about_minutes(least: int, most: int) -> Message:
    """About 20 minutes.  About 20 to 25 minutes."""
    if least < most:
        return message("About {least} to {most} minutes.", least=least, most=most)
    return counted("About {n} minute.", "About {n} minutes.", n=most)


def _seconds(part: Part, problem: Problem | None) -> float:
    """For deciding on the answer of a part and writing it down, without the arithmetic that makes up the load."""
    match part.answer:
        case StepAnswer(step) if problem is not None:
            return ENTRY * _entries(problem[step].result.shape) or FILL_IN
        case EntriesAnswer(_, cells):
            return ENTRY * len(cells)
        case MatrixAnswer(value):
            return ENTRY * value.shape[0] * value.shape[1]
        case PropertyAnswer(model=model):
            return SHORT_ANSWER + ENTRY * sum(matrix.shape[0] * matrix.shape[1] for matrix in model.values())
        case ChoiceAnswer():
            return CHOICE
        case ShapeAnswer() | WordAnswer() | CellsAnswer():
            return FILL_IN
        case OrderAnswer(groups):
            return FILL_IN * sum(map(len, groups))
        case FormulaAnswer():
            return SHORT_ANSWER
        case RubricAnswer(points) if points:
            return SHORT_ANSWER * len(points)
    return MARK * total(part.marks)
