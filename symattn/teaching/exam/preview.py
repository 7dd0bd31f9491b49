"""What will come of an exam file: its questions, how long and how many pages a paper is, and all that is refused."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from symattn.errors import InputError
from symattn.foundation.dice import Dice
from symattn.foundation.files import read_toml
from symattn.page.writers.binding import page_count
from symattn.teaching.exam.class_list import assign, places
from symattn.teaching.exam.frozen_exam import Copy, first_variants
from symattn.teaching.exam.papers import minutes, paper
from symattn.teaching.exam.spec import ExamSpec, QuestionSpec, checked_exam
from symattn.teaching.question import Question
from symattn.teaching.rendering import render

SHEET = "0000-0000"
"""The name of a paper that is typeset and not printed."""


@dataclass(frozen=True)
class Foreseen:
    """One variant of a question of an exam file: what it asks, and for how many papers it is drawn."""

    asked: QuestionSpec
    question: Question
    variants: int

    @property
    def minutes(self) -> int:
        return round(minutes(self.question))

    @property
    def joined(self) -> int:
        """How many lines share marks with their neighbours, since there are fewer points than lines."""
        return sum(len(mark.joined) for part in self.question.parts for mark in part.marks)


@dataclass(frozen=True)
class Preview:
    """An exam as it will be: `pages` are those of a paper by its text size, with how many copies there are of each.

    Papers are typeset from one variant of every question, so that other papers may have a page more or less.
    """

    spec: ExamSpec
    questions: tuple[Foreseen, ...]
    papers: int
    pages: tuple[tuple[int, int], ...]

    @property
    def marks(self) -> int:
        return sum(one.question.marks for one in self.questions)

    @property
    def minutes(self) -> int:
        return round(sum(minutes(one.question) for one in self.questions))


def preview(path: Path, typeset: bool = True) -> tuple[Preview | None, list[InputError]]:
    """What an exam file will give, or everything that is wrong with it; nothing is written.

    Without being `typeset` it has no pages.
    A file that is no TOML, or has no questions, raises its `InputError`.
    """
    spec, faults = checked_exam(read_toml(path), path)
    if spec is None:
        return None, faults
    dice = Dice.unpredictable()
    made = list(first_variants(spec, dice))
    faults = [one for one in made if isinstance(one, InputError)]
    foreseen = tuple(
        Foreseen(asked, question, spec.variants_of(asked))
        for asked, question in zip(spec.questions, made, strict=True)
        if not isinstance(question, InputError)
    )
    papers = spec.papers
    try:
        if papers > 1:
            assign(places(spec.students, spec.seats_per_row), papers, dice.rng("seats"))
    except InputError as error:
        faults.append(error)
    if faults:
        return None, faults
    questions = [one.question for one in foreseen]
    sizes = [student.text_size or spec.look.text_size for student in spec.students] or [spec.look.text_size] * papers
    pages = []
    for size in sorted(set(sizes)) if typeset else ():
        pdf = render(paper(spec, Copy(0, SHEET, text_size=size), questions), "pdf")[1]
        pages.append((page_count(pdf), sizes.count(size)))
    return Preview(spec, foreseen, papers, tuple(pages)), []


def starter(file: str) -> str:
    """An exam file to begin with, its comments in English, which is called `file` in them."""
    text = (resources.files("symattn.teaching.exam") / "starter.toml").read_text(encoding="utf-8")
    return text.replace("exam.toml", file)
