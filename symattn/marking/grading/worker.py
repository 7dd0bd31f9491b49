"""What is done with a submission, in a process of its own: it is read, marked, and told about."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from symattn.errors import InputError, SymattnError
from symattn.foundation.identity import Same
from symattn.foundation.languages import message, packed, sentences
from symattn.foundation.workers import Job
from symattn.marking.attempt import Attempt
from symattn.marking.grading.checking import Marking, mark_one
from symattn.marking.grading.handed_in import Head
from symattn.marking.grading.record import Marks, Result, Row, read_record, record, settled
from symattn.marking.grading.source import papers
from symattn.marking.grading.unpacking import content_of, members_of
from symattn.marking.marker.policy import Terms
from symattn.marking.marker.report import Report
from symattn.marking.reports import Reader
from symattn.marking.submissions import read_submission, sheet_of
from symattn.marking.submissions.files import EMPTY, FORMS
from symattn.page.document import Look
from symattn.page.writers.page import typesetting
from symattn.teaching.question import Question
from symattn.teaching.rendering import render, suffix

LOOKED_INTO, HEAD, MARKED = f"{__name__}:looked_into", f"{__name__}:head_of", f"{__name__}:marked"
"""The jobs that there are with a submission, for `symattn.foundation.crew`."""

FOLDERS: dict[Reader, str] = {"student": "feedback", "teacher": "marked"}
PRACTICE = ("exercises", "solutions")
"""Folders of what goes with feedback, where something went wrong: a fresh exercise, and its solution."""


Answer = dict[str, Any]


def looked_into(settings: Any) -> Job:
    return members


def head_of(settings: Any) -> Job:
    return head


def marked(settings: Any) -> Job:
    return Marker(settings).mark


def members(job: Any) -> Answer:
    """What is in a zip, or why it is not looked into."""
    try:
        return {"complaint": packed(""), "members": [member.json() for member in members_of(job["data"])]}
    except InputError as error:
        return {"complaint": packed(error.said), "members": []}


def head(job: Any) -> Answer:
    """The sheet, the name and the id in a file, or a complaint; `keep`: whether it is the file's own fault."""
    keep = True
    try:
        data = _content(job)
        head = Head(*sheet_of(data, job["form"])) if data.strip() else Head(complaint=EMPTY)
    except InputError as error:
        head = Head(complaint=str(error))
    except MemoryError:
        raise
    except Exception as error:
        head, keep = Head(complaint=defect("read", error)), False
    return {"head": head.json(), "keep": keep}


def _content(job: Any) -> bytes:
    """The bytes of a job's file, out of the zip that it is in."""
    data, zipped = job["data"], job["zipped"]
    return data if zipped is None else content_of(data, zipped)


class Marker:
    """Reads and marks the submissions of one run, and writes what is told about each."""

    def __init__(self, settings: Any) -> None:
        self.papers = papers(settings["source"])
        if self.papers.hash != settings["hash"]:
            raise InputError(f"{settings['source']} was changed while work was marked against it.")
        self.terms = Terms.read(settings["terms"])
        self.forms: list[str] = settings["forms"]
        self.look = Look(**settings["look"])
        self.typesetting: dict[str, str] = settings["typesetting"]
        self.readers: list[Reader] = settings["readers"]
        self.reports: dict[Hashable, Report] = {}
        self.practice: dict[tuple[str, str, Look], tuple[bytes, ...]] = {}

    def mark(self, job: Any) -> Answer:
        """The row of a job's submission; a submission that cannot be marked is broken, with the reason.

        `keep`: whether the row holds until something changes.  `pages` are what is told about it, by name of file.
        """
        [row] = read_record(job["record"])
        try:
            marked, marking = self._marked(row, _content(job), job["settled"])
            with typesetting(**self.typesetting):
                pages = dict(self._pages(marking, job["stem"]))
        except SymattnError as error:
            reason = str(error).removeprefix(f"{row.file}: ")
            return _answer(replace(row, status="broken", reason=reason), keep=True)
        except MemoryError:
            raise
        except Exception as error:  # whatever it is, it is this submission's alone, and is told
            return _answer(replace(row, status="broken", reason=defect("mark", error)), keep=False)
        return _answer(marked, keep=True, pages=pages)

    def _marked(self, row: Row, data: bytes, given: Marks) -> tuple[Row, Marking]:
        questions = self.papers.questions(row.sheet)
        submission = read_submission(
            data,
            questions,
            form=FORMS.get(Path(row.file).suffix.lower(), ""),
            source=row.file,
            decimal_mark=self.terms.decimal_mark,
        )
        pairs = zip(questions, submission.attempts, strict=True)
        marked = (self._report(question, attempt, questions) for question, attempt in pairs)
        reports = tuple(settled(report, given.get(str(k), {})) for k, report in enumerate(marked, 1))
        marking = Marking(submission, reports)
        loose = [] if "" in given else marking.loose
        variants = self.papers.papers[row.sheet].variants
        results = (Result.of_report(r, v) for r, v in zip(reports, variants, strict=True))
        remarks = (
            message("{place}: {notice}", place=r.where, notice=r.says) if r.where else r.says
            for r in submission.remarks
            if not r.loose
        )
        marked_row = replace(
            row,
            status="pending" if loose or any(r.pending for r in reports) or row.status == "pending" else "marked",
            reason=sentences(row.reason, *(r.says for r in loose)),
            notices=(*row.notices, *remarks),
            results=tuple(results),
        )
        named = replace(submission, name=row.name, student=row.id, sheet=row.sheet)
        return marked_row, replace(marking, submission=named, look=self.look, of_exam=self.papers.of_exam)

    def _report(self, question: Question, attempt: Attempt, questions: Sequence[Question]) -> Report:
        """A question marked, once for all who wrote the very same: all of it as in the key, or with a usual mistake."""
        key = Same(question), attempt.key
        if key not in self.reports:
            if len(self.reports) >= MOST_REPORTS:
                self.reports.clear()
            self.reports[key] = mark_one(question, attempt, questions, self.terms)
        return self.reports[key]

    def _pages(self, marking: Marking, stem: str) -> Iterator[tuple[str, bytes]]:
        """What is told about a submission, by the name of the file."""
        if not self.forms:
            return
        for reader in self.readers:
            document = marking.document(reader, exercise=True)
            for form in self.forms:
                yield f"{FOLDERS[reader]}/{stem}{suffix(form)}", render(document, form)[1]
                if reader == "student" and marking.exercise:
                    pages = self._practice(marking, marking.exercise.name, document.look, form)
                    for folder, page in zip(PRACTICE, pages, strict=True):
                        yield f"{folder}/{stem}{suffix(form)}", page

    def _practice(self, marking: Marking, name: str, look: Look, form: str) -> tuple[bytes, ...]:
        """An exercise, which its name tells, and its solution, set once for everybody who got the same steps wrong."""
        if (key := (name, form, look)) not in self.practice:
            if len(self.practice) >= MOST_PRACTICE:
                self.practice.clear()
            self.practice[key] = tuple(render(document, form)[1] for document in marking.exercise_documents())
        return self.practice[key]


def _answer(row: Row, **more: object) -> Answer:
    return {"record": record([row]), **more}


MOST_REPORTS = 100
"""Reports on questions that are kept, in case that somebody else wrote the same."""

MOST_PRACTICE = 100
"""Exercises of which the pages are kept: those of all steps of an exam, as a rule."""


def defect(verb: str, error: Exception) -> str:
    """What is said of an error that nobody raised on purpose."""
    said = " ".join(str(error).split())[:LONGEST_REASON]
    return f"symattn cannot {verb} it, which is a defect of symattn: {type(error).__name__}: {said}"


LONGEST_REASON = 300
