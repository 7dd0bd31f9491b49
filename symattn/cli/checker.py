"""The process in which `symattn check` marks: whatever a student typed can at worst end this process.

In Python, `symattn.check` marks in the process that calls it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from symattn.api import make_terms
from symattn.errors import InputError, SymattnError, unread
from symattn.foundation.confined import limit_seconds
from symattn.foundation.workers import Job
from symattn.marking.grading.checking import checked
from symattn.marking.grading.source import language_of, papers
from symattn.marking.grading.worker import Answer, defect
from symattn.page.presentation import make_look
from symattn.page.writers.page import typesetting
from symattn.teaching.sheets import check_formats, render

PROBLEM_SECONDS = 3600
"""Of processor time, for the problem, which is no student's."""


def answer(job: Any) -> Answer:
    """What is told about a piece of work: texts, or the files that were written; or the sentence that refuses it."""
    os.chdir(job["folder"])
    try:
        with typesetting(job["templates"], job["latex_class"]):
            return _marked(job)
    except SymattnError as error:
        cause = unread(error)
        return {"error": str(error), "unread": [str(cause), cause.text, cause.position] if cause else None}
    except OSError as error:
        return {"error": f"A file cannot be used: {error.strerror}."}
    except MemoryError:
        raise
    except Exception as error:  # a defect, which is told in a sentence like anything else
        return {"error": f"{job['answers']}: {defect('mark', error)}"}


def _marked(job: Any) -> Answer:
    listed = _formats_with_json(job["forms"])
    look = make_look(**{**job["look"], "language": job["look"]["language"] or language_of(job["problem"])})
    terms = make_terms(**job["terms"])
    limit_seconds(PROBLEM_SECONDS)
    against = papers(job["problem"], **job["worked_out"])
    limit_seconds(job["seconds"])
    marking = replace(checked(against, Path(job["answers"]), terms), look=look)
    said: Answer = {"right": marking.right, "written": [], "texts": [], "unread": marking.unread}
    if job["out"] is not None:
        stem = f"{Path(job['answers']).stem}-marked"
        written = marking.write(job["out"], forms=listed, stem=stem, reader=job["reader"])
        said["written"] = [str(path) for path in written]
    elif binary := [form for form in listed if form.endswith("pdf")]:
        raise InputError(f"{binary[0]} is written to a file: say where with --out FOLDER.")
    else:
        said["texts"] = [marking.text(form, job["reader"]) for form in listed]
        if job["exercise"] and (exercise := marking.exercise_documents()):
            said["texts"] += [render(exercise[0], form)[1].decode() for form in listed if form != "json"]
    return said


def _formats_with_json(forms: Sequence[str]) -> list[str]:
    """The formats of a document, and json."""
    listed = list(dict.fromkeys(forms))
    if not listed:
        check_formats(listed)
    return [name for form in listed for name in (["json"] if form == "json" else check_formats([form]))]


def checking(settings: Any) -> Job:
    """What `symattn.foundation.workers` has done."""
    return answer
