"""The process that reads and marks submissions for `symattn.foundation.workers`: a line of JSON in, a line of JSON
out."""

from __future__ import annotations

import base64
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from symattn.errors import InputError, SymattnError
from symattn.foundation.workers import OUT_OF_MEMORY, command
from symattn.marking.grading.checking import Marking, mark_all
from symattn.marking.grading.handed_in import Head
from symattn.marking.grading.record import Result, Row, Terms
from symattn.marking.grading.source import papers
from symattn.marking.reports import Reader
from symattn.marking.submissions import read_submission, sheet_of
from symattn.marking.submissions.files import FORMS
from symattn.page.document import Look
from symattn.page.writers.confined import limit, limit_seconds
from symattn.page.writers.page import typesetting
from symattn.teaching.sheets import render, suffix

COMMAND = command(__name__)

FOLDERS: dict[Reader, str] = {"student": "feedback", "teacher": "marked"}
PRACTICE = ("exercises", "solutions")
"""Folders of what goes with feedback, where something went wrong: a fresh exercise, and its solution."""


Answer = dict[str, Any]


def head(job: Any) -> Answer:
    """The sheet, the name and the id in a file, or a complaint; `keep`: whether it is the file's own fault."""
    keep = True
    try:
        head = Head(*sheet_of(base64.b64decode(job["data"]), job["form"]))
    except InputError as error:
        head = Head(complaint=str(error))
    except MemoryError:
        raise
    except Exception as error:
        head, keep = Head(complaint=defect("read", error)), False
    return {"head": head.json(), "keep": keep}


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
        self.staging: str = settings["staging"]

    def answer(self, job: Any) -> Answer:
        """What a file says about itself; or, if the job has a row, the row marked."""
        return self._mark(job) if "row" in job else head(job)

    def _mark(self, job: Any) -> Answer:
        """The row of a job's submission; a submission that cannot be marked is broken, with the reason.

        `failed` says why nothing can be written; `keep`: whether the row holds until something changes.  Pages
        are left where they are made, named as `staged` has it; who asked puts them in their place.
        """
        row = Row.read(job["row"])
        try:
            marked, marking = self._marked(row, base64.b64decode(job["data"]))
            with typesetting(**self.typesetting):
                pages = dict(self._pages(marking, job["stem"]))
        except SymattnError as error:
            reason = str(error).removeprefix(f"{row.file}: ")
            return {"row": replace(row, status="broken", reason=reason).json(), "keep": True}
        except MemoryError:
            raise
        except Exception as error:  # whatever it is, it is this submission's alone, and is told
            return {"row": replace(row, status="broken", reason=defect("mark", error)).json(), "keep": False}
        try:
            for name, content in pages.items():
                staged(Path(self.staging), name).write_bytes(content)
        except OSError as error:
            return {"failed": error.strerror}
        return {"row": marked.json(), "keep": True, "pages": list(pages)}

    def _marked(self, row: Row, data: bytes) -> tuple[Row, Marking]:
        questions = self.papers.questions(row.sheet)
        submission = read_submission(
            data,
            questions,
            form=FORMS.get(Path(row.file).suffix.lower(), ""),
            source=row.file,
            decimal_mark=self.terms.decimal_mark,
        )
        marking = mark_all(submission, questions, self.terms)
        variants = self.papers.papers[row.sheet].variants
        results = (Result.of_report(r, v) for r, v in zip(marking.reports, variants, strict=True))
        remarks = (f"{r.where}: {r.says}" if r.where else r.says for r in submission.remarks)
        marked = replace(
            row,
            status="pending" if marking.pending or row.status == "pending" else "marked",
            notices=(*row.notices, *remarks),
            results=tuple(results),
        )
        named = replace(submission, name=row.name, student=row.id, sheet=row.sheet)
        return marked, replace(marking, submission=named, look=self.look, of_exam=self.papers.of_exam)

    def _pages(self, marking: Marking, stem: str) -> Iterator[tuple[str, bytes]]:
        """What is told about a submission, by the name of the file."""
        if not self.staging:
            return
        documents = [(FOLDERS[reader], marking.document(reader, exercise=True)) for reader in self.readers]
        if "student" in self.readers:
            documents += zip(PRACTICE, marking.exercise_documents(), strict=False)
        for folder, document in documents:
            for form in self.forms:
                yield f"{folder}/{stem}{suffix(form)}", render(document, form)[1]


def staged(staging: Path, name: str) -> Path:
    """Where a page of that name lies until it is put in its place."""
    return staging / name.replace("/", "-")


def defect(verb: str, error: Exception) -> str:
    """What is said of an error that nobody raised on purpose."""
    said = " ".join(str(error).split())[:LONGEST_REASON]
    return f"symattn cannot {verb} it, which is a defect of symattn: {type(error).__name__}: {said}"


LONGEST_REASON = 300


def serve(make: Callable[[Any], Callable[[Any], Answer]]) -> None:
    """Answer the jobs of a `symattn.foundation.workers.Worker`, within its limits, with what `make` makes of its
    settings."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started it ends it
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what anything prints must not be taken for an answer
    asked = json.loads(sys.stdin.buffer.readline())
    answer = make(asked["settings"])
    limit("RLIMIT_CORE", 0)
    limit("RLIMIT_AS", asked["memory"])
    _say(answers, "ready")
    for line in sys.stdin.buffer:
        limit_seconds(asked["seconds"])
        try:
            said = answer(json.loads(line))
        except MemoryError:
            said = OUT_OF_MEMORY
        _say(answers, said)


def _say(answers: IO[bytes], answer: object) -> None:
    answers.write(json.dumps(answer).encode() + b"\n")
    answers.flush()


def main() -> None:
    serve(lambda settings: Marker(settings).answer)
