"""One piece of work checked: read, every question of its sheet marked, and told to the student or to the teacher."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any

from symattn.errors import InputError
from symattn.exact import Matrix, exact
from symattn.exact.values import listed
from symattn.marking.attempt import Attempt, Entry, Grid, Grids, Remark, Said, Submission
from symattn.marking.grading.source import Papers
from symattn.marking.marker import mark
from symattn.marking.marker.policy import Terms
from symattn.marking.marker.report import Report
from symattn.marking.submissions import read_submission, sheet_of
from symattn.marking.submissions.files import FORMS, LARGEST_FILE
from symattn.page.document import DEFAULT_LOOK, Document, Look
from symattn.teaching.question import Json, Question
from symattn.teaching.rendering import check_formats, render, shown, write_documents

if TYPE_CHECKING:
    from symattn.marking.reports import Reader
    from symattn.teaching.sheets import Sheet

Answers = str | Path | Mapping[str, Any]
ANSWERS = 'a file, a text of several lines or a mapping such as {"S": [[1, 0]]}'
_COMMA, _POINT = re.compile(r"\d,\d"), re.compile(r"\d\.\d")
READERS: tuple[Reader, ...] = ("student", "teacher")


@dataclass(frozen=True, repr=False)
class Marking:
    """Work that was marked: `reports`, one for each question, and all of it as a document for either reader.

    For the student there is no right value in it but one of every mistake, worked out in the student's own numbers; for
    the teacher it has the key, what every entry was compared with, and how equality was decided.  Who works `alone`, on
    a problem of their own, is not told that somebody will look at what is in doubt.
    """

    submission: Submission
    reports: tuple[Report, ...]
    look: Look = DEFAULT_LOOK
    of_exam: bool = False
    alone: bool = False

    @property
    def total(self) -> int:
        """The marks that were given."""
        return sum(report.total for report in self.reports)

    @property
    def available(self) -> int:
        """The marks that there are."""
        return sum(report.available for report in self.reports)

    @property
    def pending(self) -> bool:
        """Whether somebody has to read something before the total is final."""
        return bool(self.loose) or any(report.pending for report in self.reports)

    @property
    def loose(self) -> list[Remark]:
        """What is said of answers that belong to no question: somebody has to say where they belong."""
        return [remark for remark in self.submission.remarks if remark.loose]

    @property
    def right(self) -> bool:
        """Whether everything is right: all marks are given, and nothing was found wrong or is left open."""
        judged = all(verdict.accepted for report in self.reports for verdict in report.verdicts)
        mistaken = any(report.events for report in self.reports)
        return judged and not mistaken and not self.pending and self.total == self.available

    @property
    def unread(self) -> list[str]:
        """What could not be read, for a terminal: place and reason, the text, and a caret below the character."""
        remarks = (remark for attempt in self.submission.attempts for remark in attempt.remarks if remark.pointer)
        return [f"{remark.where}: {remark.says}\n{indent(remark.pointer, '  ')}" for remark in remarks]

    def document(self, reader: Reader = "student", *, exercise: bool = False) -> Document:
        """The report for the student, or for the teacher; with `exercise`, the student's says that one is beside it."""
        from symattn.marking.reports import feedback_document, marking_document  # most want the marks alone

        if reader == "teacher":
            document = marking_document(self.reports, self.submission, of_exam=self.of_exam)
            return replace(document, look=self.look)
        exercise = exercise and self.exercise is not None
        document = feedback_document(
            self.reports, self.submission, of_exam=self.of_exam, exercise=exercise, alone=self.alone
        )
        return replace(document, look=self._students_look)

    @cached_property
    def _students_look(self) -> Look:
        """The look, with a decimal comma for somebody who wrote commas alone."""
        said = [s for attempt in self.submission.attempts for s in (*attempt.answers.values(), *attempt.more.values())]
        texts = [entry.text for one in said for entry in _entries(one) if entry.unit is not None and entry.unit < 1]
        commas = any(_COMMA.search(text) for text in texts) and not any(_POINT.search(text) for text in texts)
        return replace(self.look, decimal=",") if commas else self.look

    @cached_property
    def exercise(self) -> Sheet | None:
        """A fresh exercise on the step that went wrong first in each question, with its key; none if nothing did."""
        from symattn.marking.reports import exercise_sheet

        return exercise_sheet(self.reports)

    def exercise_documents(self) -> tuple[Document, ...]:
        """The exercise, blank, and then its solution; nothing where there is none."""
        made = [self.exercise.document("blank"), self.exercise.document("worked")] if self.exercise else []
        return tuple(replace(document, fields=(), look=self._students_look) for document in made)

    def json(self) -> Json:
        """Everything, as plain data."""
        from symattn.marking.reports import report_json

        found = self.submission
        return {
            "file": found.source,
            "sheet": found.sheet,
            "name": found.name,
            "student": found.student,
            "total": self.total,
            "of": self.available,
            "remarks": [{"where": remark.where, "says": remark.says} for remark in found.remarks],
            "questions": [report_json(report) for report in self.reports],
        }

    def text(self, form: str = "text", reader: Reader = "student") -> str:
        """The marking in json, or in one format that is text (`symattn list formats`)."""
        if form == "json":
            return json.dumps(self.json(), ensure_ascii=False, indent=1) + "\n"
        if form.endswith("pdf"):
            raise InputError(f"{form} is not text; use write(folder).")
        [form] = check_formats([form])
        return render(self.document(reader), form)[1].decode()

    def write(
        self, folder: str | Path, *, forms: Sequence[str] = ("pdf",), stem: str = "marking", reader: Reader = "student"
    ) -> list[Path]:
        """Write the marking in several formats, beside a student's a fresh exercise and its key; the paths written."""
        documents = [form for form in forms if form != "json"]
        named = [(stem, self.document(reader, exercise=True))]
        if reader == "student":
            named += zip((f"{stem}-exercise", f"{stem}-exercise-key"), self.exercise_documents(), strict=False)
        written = write_documents(named, Path(folder), documents) if documents else []
        if "json" in forms:
            path = Path(folder, f"{stem}.json")
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(self.text("json"), encoding="utf-8")
            except OSError as error:
                raise InputError(f"{path} cannot be written: {error.strerror}.") from error
            written.append(path)
        return written

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        events = sum(len(report.events) for report in self.reports)
        return f"<{self.total}/{self.available} marks, {events} mistake{'s' * (events != 1)}>"

    def _repr_html_(self) -> str:
        return shown(self.document(), "html")

    def _repr_markdown_(self) -> str:
        return shown(self.document(), "markdown")


def _entries(said: Said) -> Iterator[Entry]:
    """The numbers of an answer."""
    match said:
        case Entry():
            yield said
        case Grid():
            yield from (entry for _, _, entry in said.cells())
        case Grids(grids):
            yield from (entry for one in grids.values() for _, _, entry in one.cells())


def mark_all(submission: Submission, questions: Sequence[Question], terms: Terms) -> Marking:
    """Every question of a sheet marked."""
    pairs = zip(questions, submission.attempts, strict=True)
    return Marking(submission, tuple(mark_one(question, attempt, questions, terms) for question, attempt in pairs))


def mark_one(question: Question, attempt: Attempt, questions: Sequence[Question], terms: Terms) -> Report:
    """One of the questions of a sheet marked."""
    return mark(question, attempt, terms.policy, terms.scheme_for(question, questions))


def checked(papers: Papers, answers: Answers, terms: Terms) -> Marking:
    """One person's answers marked.

    `answers` is a path, a text (anything of more than one line), or a mapping from parts to what was answered: matrices
    as lists, texts, numbers, SymPy's and NumPy's own.  `InputError` if something in a mapping is none of these.
    """
    if not isinstance(answers, str | Path | Mapping) or answers in ("", {}):
        given = "empty" if isinstance(answers, str | Mapping) else repr(answers)
        raise InputError(f"The answers are {given}; {ANSWERS} was expected.")
    text: str | bytes
    form = source = ""
    if isinstance(answers, Mapping):
        text, form = json.dumps({"answers": _plain(answers)}, ensure_ascii=False), "json"
    elif isinstance(answers, str) and "\n" in answers:
        text = answers
    else:
        path = Path(answers)
        text, form, source = _bytes(path), FORMS.get(path.suffix.lower(), ""), path.name
    try:
        sheet, _, _ = sheet_of(text, form)
    except InputError as error:
        raise InputError(f"{source or 'The text'}: {error}") from error
    questions = papers.questions(sheet)
    submission = read_submission(text, questions, form=form, source=source, decimal_mark=terms.decimal_mark)
    alone = not any(question.intended for question in questions)
    return replace(mark_all(submission, questions, terms), of_exam=papers.of_exam, alone=alone)


def _bytes(path: Path) -> bytes:
    try:
        if not path.exists():
            raise InputError(f"There is no file {path}.")
        if not path.is_file() and not path.is_dir():  # a pipe might never end, or never begin
            raise InputError(f"{path} is a pipe or a device; a file was expected.")
        with path.open("rb") as file:
            return file.read(LARGEST_FILE + 1)  # a longer one is refused by whoever reads it
    except OSError as error:
        raise InputError(f"The file {path} cannot be read: {error.strerror}.") from error


def _plain(answer: object) -> Json:
    """An answer given in Python as JSON: matrices as nested lists, numbers exact."""
    match answer:
        case None | bool() | int() | str():
            return answer
        case float():
            return repr(answer)
        case Matrix():
            return [[str(x) for x in row] for row in answer.rows]
        case Mapping():
            return {str(key): _plain(value) for key, value in answer.items()}
        case list() | tuple():
            return [_plain(x) for x in answer]
        case set() | frozenset():
            return [*sorted(map(str, answer))]
    if (plain := listed(answer)) is not answer:  # matrices of SymPy, arrays and numbers of NumPy and PyTorch
        return _plain(plain)
    return str(exact(answer))
