"""An exam: variants drawn once, proved, and frozen in `exam.json`, from which everything is written and marked.

A run that was interrupted, however abruptly, draws again what it had drawn, and takes what was frozen as it is.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Any, cast

from symattn.errors import InputError
from symattn.foundation.crew import Crew
from symattn.foundation.dice import Dice
from symattn.foundation.identity import digest, identity
from symattn.foundation.installed import VERSION
from symattn.foundation.typed import Place, plain, read
from symattn.foundation.workers import Job
from symattn.page import markup
from symattn.page.document import Document, Quoted
from symattn.page.writers.characters import plain as on_one_line
from symattn.teaching.exam.class_list import Student, assign, balanced, places
from symattn.teaching.exam.spec import ExamSpec, QuestionSpec, exam_spec
from symattn.teaching.frozen import (
    FORMAT,
    FrozenPart,
    as_format_1,
    as_frozen,
    freeze_parts,
    sealed,
    unsealed,
    worth_in_format_1,
)
from symattn.teaching.pool import chosen_contents, prove
from symattn.teaching.problems import problem_type
from symattn.teaching.question import FROZEN, Content, Question

BEGUN = ".exam.jsonl"
"""The variants of an exam that is being drawn, until `exam.json` has them."""


@dataclass(frozen=True)
class Variant:
    """One variant of one question, frozen: what it is made from, how hard it is, what is asked and right and worth.

    `answers` and `hash` are what format 1 has instead of parts.
    """

    id: str
    content: Mapping[str, object]
    features: Mapping[str, float]
    positions: Mapping[str, str]
    parts: tuple[FrozenPart, ...] = ()
    answers: tuple[str, ...] = ()
    hash: str = ""


@dataclass(frozen=True, slots=True)
class Copy:
    """One printed paper: its number among the papers (from 0), its short name, and its student, if assigned."""

    paper: int
    sheet: str
    name: str = ""
    id: str = ""
    seat: str = ""
    text_size: int = 0  # that of the exam, where it is 0


@dataclass(frozen=True)
class Exam:
    """Variants of every question, the papers made of them (one variant of each), and who gets which paper."""

    spec: ExamSpec
    pools: tuple[tuple[Variant, ...], ...]
    papers: tuple[tuple[int, ...], ...]
    given_out: tuple[int, ...] = ()
    software: str = f"symattn {VERSION}"
    made: dict[tuple[int, int], Question] = field(default_factory=dict, compare=False, repr=False)
    last: dict[tuple[int, Copy, bool], Document] = field(default_factory=dict, compare=False, repr=False)
    """The paper or key that was made last: of every format there is one file after the other."""

    def question(self, number: int, variant: int) -> Question:
        """A question made from its frozen variant; `InputError` if its key would be another one."""
        if (number, variant) not in self.made:
            frozen, asked = self.pools[number][variant], self.spec.questions[number]
            with Place(f"{FROZEN}, variant {frozen.id} of question {number + 1}").here():
                question = problem_type(asked.spec.type).make(cast(Content, frozen.content)).asking(asked.ask)
            named = f"Variant {frozen.id} of question {number + 1}"
            if frozen.parts:
                question = as_frozen(question, frozen.parts, named, self.software)
            else:
                question = as_format_1(question, frozen.answers, named, self.software)
                if asked.points is not None:
                    question = worth_in_format_1(question, asked.points)
            self.made[number, variant] = _titled(question, asked)
        return self.made[number, variant]

    def questions(self, paper: int) -> list[Question]:
        return [self.question(q, v) for q, v in enumerate(self.papers[paper])]

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """The short names of the papers."""
        return tuple(
            identity([self.spec.title, [self.pools[q][v].id for q, v in enumerate(paper)]]) for paper in self.papers
        )


def _titled(question: Question, asked: QuestionSpec) -> Question:
    """The question under the title, and with the text, that the exam file gives it."""
    if asked.title:
        heading = markup.inlines(asked.title)
        question = replace(question, title=Quoted(on_one_line(heading)), heading=heading)
    return replace(question, introduction=(*markup.blocks(asked.text), *question.introduction))


# ------------------------------------------------------------------------------------------------ making


def make_exam(
    spec: ExamSpec,
    dice: Dice,
    on_variant: Callable[[object], None] = lambda variant: None,
    crew: Crew | None = None,
    begun: Begun | None = None,
) -> Exam:
    """Draw every variant, have a crew prove and freeze it, and decide who gets what.

    One variant of every question is made before the second of any, so that what cannot be asked is refused at once.
    Those that an interrupted run had frozen (`begun`) are drawn again, which is quick, and taken as they are.
    """
    crew, begun = crew or Crew(), begun or Begun()
    listed = list(enumerate(spec.questions, 1))
    drawing = []
    for number, asked in listed:
        drawing.append(chosen_contents(asked.spec, dice.part("question", number), spec.variants_of(asked)))
    drawn: list[list[Variant]] = [[] for _ in listed]
    for most in (1, None):
        for number, asked in listed:
            with _in_question(number):
                for variant in _frozen_of(number, asked, islice(drawing[number - 1], most), crew, begun):
                    drawn[number - 1].append(variant)
                    on_variant(variant)
    pools = tuple(map(tuple, drawn))
    loads = [[v.features.get("load", 0.0) for v in variants] for variants in pools]
    papers = max(map(len, pools))  # questions with numbers of their own are the same on all of them
    many = [load * (papers // len(load)) for load in loads]
    chosen = [tuple(v % len(pools[q]) for q, v in enumerate(listed)) for listed in balanced(many)]
    given_out = [0] * len(spec.students)
    if papers > 1:
        given_out = assign(places(spec.students, spec.seats_per_row), papers, dice.rng("seats"))
    return Exam(spec, pools, tuple(chosen), tuple(given_out))


def first_variants(spec: ExamSpec, dice: Dice) -> Iterator[Question | InputError]:
    """A variant of every question, proved and with its points, or why there is none.  Nothing is written."""
    for number, asked in enumerate(spec.questions, 1):
        try:
            with _in_question(number):
                chosen = problem_type(asked.spec.type)
                content = next(chosen_contents(asked.spec, dice.part("question", number), 1))
                question = chosen.make(content)
                prove(question, chosen)
                yield _titled(question.asking(asked.ask).worth(asked.points, asked.marks), asked)
        except InputError as error:
            yield error


@contextmanager
def _in_question(number: int) -> Iterator[None]:
    """Every sentence about what is wrong begins with the question."""
    try:
        yield
    except InputError as error:
        raise InputError(f"Question {number}: {error}") from error


def _frozen_of(
    number: int, asked: QuestionSpec, contents: Iterator[Content], crew: Crew, begun: Begun
) -> Iterator[Variant]:
    """Variants of a question from their contents: those that there are, and others proved and frozen by a crew."""
    settings = {
        "type": asked.spec.type, "points": asked.points, "ask": list(asked.ask), "marks": dict(asked.marks)
    }  # fmt: skip
    for content in contents:
        known = begun.variant(number, identity(content))
        if known is None:
            contents = chain([content], contents)
            break
        yield known
    for _, said in crew.in_order(FREEZE, settings, ((f"question {number}", content) for content in contents)):
        yield begun.keep(number, read(Variant, said, "A variant"))


def freezing(settings: Any) -> Job:
    """The job of making a variant from its content, proving it, and freezing it."""
    chosen = problem_type(settings["type"])
    ask, points, marks = settings["ask"], settings["points"], settings["marks"]

    def job(content: Any) -> Any:
        question = chosen.make(content)
        prove(question, chosen)
        return plain(_frozen(question.asking(ask).worth(points, marks)))

    return job


FREEZE = f"{__name__}:freezing"


def _frozen(question: Question) -> Variant:
    content, parts = question.frozen, freeze_parts(question)
    return Variant(identity(content), content, dict(question.features), dict(question.positions), parts)


class Begun:
    """The variants of an exam that is not whole yet, in a file: a line for each, as soon as it is frozen.

    The first line says of which exam, in which software, and with which dice.  Without a file, nothing is kept.
    """

    def __init__(self, file: Path | None = None, exam: str = "", dice: Dice | None = None) -> None:
        self._file, self.dice = file, dice
        self._known: dict[tuple[int, str], Variant] = {}
        if file is None:
            return
        head = {"exam": exam, "software": f"symattn {VERSION}"}
        before = file.read_bytes() if file.exists() else b""
        with suppress(ValueError, KeyError, TypeError, AttributeError, InputError):  # cut off, changed, of another exam
            first, *lines = before.decode().splitlines() or [""]
            said = json.loads(first)
            key = bytes.fromhex(said.pop("dice"))
            if said == head and (dice is None or dice.key == key):
                self.dice = Dice(key)
                for line in lines:
                    self._remember(*json.loads(line))
        self.dice = self.dice or Dice.unpredictable()
        texts = [json.dumps({**head, "dice": self.dice.key.hex()}), *map(self._line, self._known)]
        file.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")

    def _remember(self, number: int, variant: object, stated: str) -> None:
        if digest(variant) != stated:
            raise ValueError("not as it was written")
        known = read(Variant, variant, "A variant")
        self._known[number, known.id] = known

    def _line(self, of: tuple[int, str]) -> str:
        variant = plain(self._known[of])
        return json.dumps([of[0], variant, digest(variant)])

    def variant(self, number: int, id: str) -> Variant | None:
        """The variant of a question that has this identity, if there is one."""
        return self._known.get((number, id))

    def keep(self, number: int, variant: Variant) -> Variant:
        self._known[number, variant.id] = variant
        if self._file is not None:
            with self._file.open("a", encoding="utf-8") as file:
                file.write(f"{self._line((number, variant.id))}\n")
        return variant


# ------------------------------------------------------------------------------------------------ freezing


@dataclass(frozen=True)
class FrozenQuestion:
    """A question with all its variants."""

    type: str
    points: int | None
    variants: tuple[Variant, ...]


@dataclass(frozen=True)
class FrozenPaper:
    """A paper: a variant of every question, by name."""

    id: str
    variants: tuple[str, ...]


@dataclass(frozen=True)
class FrozenStudent:
    """A student of the class list, the paper that was given out, and what a learning platform knows the student by."""

    name: str
    id: str
    seat: str
    paper: str
    listed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class FrozenExam:
    """What stands in `exam.json`."""

    format: int
    software: str
    title: str
    recipe: str
    key: str
    exam: Mapping[str, object]
    questions: tuple[FrozenQuestion, ...]
    papers: tuple[FrozenPaper, ...]
    students: tuple[FrozenStudent, ...]
    hash: str = ""


def freeze(exam: Exam, dice: Dice) -> str:
    """The exam as the text of `exam.json`: enough to make every page again, and to see that nothing was changed."""
    spec = exam.spec
    pools = zip(spec.questions, exam.pools, strict=True)
    given_out = zip(spec.students, exam.given_out, strict=True)
    frozen = FrozenExam(
        format=FORMAT,
        software=f"symattn {VERSION}",
        title=spec.title,
        recipe=recipe_digest(spec),
        key=_fingerprint(dice),
        exam=spec.kept,
        questions=tuple(FrozenQuestion(asked.spec.type, asked.points, variants) for asked, variants in pools),
        papers=tuple(
            FrozenPaper(name, tuple(exam.pools[q][v].id for q, v in enumerate(paper)))
            for name, paper in zip(exam.ids, exam.papers, strict=True)
        ),
        students=tuple(FrozenStudent(s.name, s.id, s.seat, exam.ids[p], dict(s.listed)) for s, p in given_out),
    )
    return sealed(plain(frozen))


def thaw(text: str, spec: ExamSpec, dice: Dice | None, where: Path) -> Exam:
    """The exam of an `exam.json`; `InputError` if it is another exam's, was changed, or cannot be read."""
    elsewhere = f"choose another folder with --out, or remove {where.parent} to make the exam again"
    data = _whole(text, where, elsewhere)
    if data.recipe != recipe_digest(spec):
        raise InputError(f"{where} holds an exam made from another exam file, notation or class list; {elsewhere}.")
    fitting = [dice, with_exam(dice, spec)] if dice else []  # formerly a secret was not mixed with what the exam is
    if dice and not any(hmac.compare_digest(data.key, _fingerprint(one)) for one in fitting):
        raise InputError(f"{where} was made from another seed or secret; {elsewhere}.")
    return _exam(data, spec.as_made(data.exam))


def thawed(text: str, where: Path) -> tuple[Exam, str]:
    """The exam of an `exam.json` from that file alone, and the hash of its contents: what marking goes by.

    The exam file and the class list that it was made from may be gone.
    """
    data = _whole(text, where, "the file that symattn worksheet wrote was expected")
    students = tuple(Student(s.name, s.id, s.seat, listed=tuple(s.listed.items())) for s in data.students)
    titled = {"title": data.title, **data.exam}  # that of a file without one was its name
    return _exam(data, exam_spec(titled, where, students, made=True)), data.hash


def _whole(text: str, where: Path, otherwise: str) -> FrozenExam:
    """The verified contents of an `exam.json`."""
    data = unsealed(text, where, "a frozen exam", otherwise=otherwise)
    exam = read(FrozenExam, data, str(where))
    key = "answers" if exam.format == 1 else "parts"
    for number, question in enumerate(exam.questions, 1):
        for k, variant in enumerate(question.variants, 1):
            if not getattr(variant, key):
                raise Place(str(where)).at("questions", number, "variants", k).lacks(key, "what marking goes by")
    return exam


def _exam(data: FrozenExam, spec: ExamSpec) -> Exam:
    pools = tuple(question.variants for question in data.questions)
    at = [{v.id: k for k, v in enumerate(variants)} for variants in pools]
    papers = tuple(tuple(at[q][name] for q, name in enumerate(p.variants)) for p in data.papers)
    names = {p.id: k for k, p in enumerate(data.papers)}
    return Exam(spec, pools, papers, tuple(names[s.paper] for s in data.students), data.software)


def recipe_digest(spec: ExamSpec) -> str:
    return digest([spec.source, [[s.name, s.id, s.seat, s.text_size] for s in spec.students]])


def with_exam(dice: Dice, spec: ExamSpec) -> Dice:
    """A secret mixed with what the exam is, so that a resit with the same questions has other variants."""
    return dice.part("exam", spec.institution, spec.course, spec.title, spec.date) if dice.kept else dice


def _fingerprint(dice: Dice) -> str:
    """What tells two keys apart and gives neither away."""
    return hmac.digest(dice.key, b"fingerprint", hashlib.sha256).hex()[:16]


# ------------------------------------------------------------------------------------------------ papers


def copies(exam: Exam) -> Iterator[tuple[str, Copy]]:
    """Every paper that is printed: one for each student, or one of each kind."""
    spec = exam.spec
    if not spec.students:
        for p, name in enumerate(exam.ids):
            yield f"papers/{name}", Copy(p, name)
    for number, (student, p) in enumerate(zip(spec.students, exam.given_out, strict=True), 1):
        copy = Copy(p, exam.ids[p], student.name, student.id, student.seat, student.text_size)
        yield f"papers/{number:03}-{_plain(student.id)}", copy


def in_order_of_seats(exam: Exam) -> list[tuple[str, Copy]]:
    """Every paper that is printed, in the order in which they are put down: row by row."""
    listed = list(copies(exam))
    if not exam.spec.students:
        return listed
    seats = places(exam.spec.students, exam.spec.seats_per_row)
    return [listed[k] for k in sorted(range(len(listed)), key=seats.__getitem__)]


def _plain(text: str) -> str:
    """What of a student's id can be part of a file's name anywhere."""
    return re.sub(r"[^A-Za-z0-9_-]+", "", text)[:40] or "student"
