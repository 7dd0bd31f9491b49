"""`symattn check`: one piece of work marked."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from symattn.cli.options import (
    FILES,
    MARKING,
    PROBLEM,
    Command,
    chosen_look,
    completing,
    look_options,
    marking_options,
    option,
    read_list,
    read_settings,
    read_terms,
    settings_options,
    source_names,
    template_options,
)
from symattn.errors import InputError, ReadError, SymattnError, unread

if TYPE_CHECKING:
    from symattn.foundation.workers import Job
    from symattn.marking.grading.worker import Answer

NOT_ALL_RIGHT = 1
MOST_UNREAD = 5
"""Entries that are shown with a caret; the report names them all."""
CHECKING = f"{__name__}:checking"
CHECK_SECONDS = 60
"""Of processor time, for one student's work."""
CHECK_MEMORY = 2 * 2**30


@click.command(cls=Command)
@click.argument("problem", metavar="PROBLEM", shell_complete=completing(source_names))
@click.argument("answers", type=click.Path(path_type=Path), metavar="ANSWERS")
@marking_options
@option("--for", "reader", group=MARKING, default="student", show_default=True, metavar="READER",
        type=click.Choice(["student", "teacher"]), help="student (without the key) or teacher.")  # fmt: skip
@option("--exit-code", group=FILES, is_flag=True, help="Exit with 1 unless everything is right.")
@option("--exercise", group=FILES, is_flag=True,
        help="Also print a fresh exercise (--out writes one).")  # fmt: skip
@option("--format", "forms", group=FILES, default="text", show_default=True, metavar="F,F,…",
        help="json, or as `symattn list formats` says.")  # fmt: skip
@option("--out", "folder", group=FILES, type=click.Path(path_type=Path), metavar="FOLDER",
        help="Write files here (needed for PDF) instead of printing.")  # fmt: skip
@option("--as-written/--corrected", "as_written", group=PROBLEM, default=False,
        help="A note with its own mistakes, or with them corrected (default).")  # fmt: skip
@settings_options
@look_options
@template_options
@click.pass_context
def check(
    ctx: click.Context,
    /,
    problem: str,
    answers: Path,
    reader: str,
    forms: str,
    folder: Path | None,
    exit_code: bool,
    exercise: bool,
    as_written: bool,
    templates: Path | None,
    latex_class: str,
    **settings: Any,
) -> None:
    """Mark one piece of work, entry by entry, with follow-through and every mistake named.

    PROBLEM is an example or a problem file, the .json beside a set of worksheets, an exam's folder, or a key in
    Markdown or as a notebook (a worksheet only if it was made with --recipe).  ANSWERS is the worksheet filled in
    (Markdown, HTML, a PDF form, or a notebook, whose code is read and never run), or TOML, JSON, CSV, .xlsx, .ods,
    .docx, .odt, LaTeX or plain text; - is standard input.  The report is in the exam's language unless --language says
    otherwise.

    \b
    symattn check note-000 answers.md
    symattn check problem.toml answers.toml --for teacher --policy ib
    symattn check output/midterm answers.md --format pdf --out marked
    """
    if settings.pop("sizes") is not None:
        raise InputError("--size is for random numbers; this problem has sizes of its own.")
    job = {
        "folder": str(Path.cwd()),
        "problem": problem,
        "look": chosen_look(settings),
        "terms": read_terms(settings),
        "worked_out": {
            "notation": settings.pop("notation"),
            "corrected": not as_written,
            "settings": read_settings(settings),
        },
        "reader": reader,
        "exercise": exercise,
        "forms": read_list(forms),
        "out": str(folder) if folder else None,
        "templates": str(templates) if templates else None,
        "latex_class": latex_class,
    }
    with _at_hand(answers) as path:
        marked = _in_checker({**job, "answers": str(path)})
    for path in marked["written"]:
        click.echo(path)
    for text in marked["texts"]:
        click.echo(text, nl=False)
    for text in marked["unread"][:MOST_UNREAD]:
        click.echo(text, err=True)
    if more := len(marked["unread"][MOST_UNREAD:]):
        click.echo(f"{more} more could not be read; the report says which.", err=True)
    if exit_code and not marked["right"]:
        ctx.exit(NOT_ALL_RIGHT)


@contextmanager
def _at_hand(answers: Path) -> Iterator[Path]:
    """The file of the answers; of standard input one that is there for as long."""
    if str(answers) != "-":
        yield answers
        return
    with TemporaryDirectory() as folder:
        path = Path(folder, "stdin")
        path.write_bytes(sys.stdin.buffer.read())
        yield path


def _in_checker(job: dict[str, Any]) -> dict[str, Any]:
    """What the process that marks says about one piece of work; it is kept for the next."""
    from symattn.foundation.workers import KEPT, Limits, LostError, answer_of, text_of

    limits = Limits(CHECK_SECONDS, CHECK_MEMORY)
    try:
        marked: dict[str, Any] = answer_of(
            KEPT.do(CHECKING, "null", text_of({**job, "seconds": CHECK_SECONDS}), limits)
        )
    except LostError as lost:
        raise InputError(f"{job['answers']}: Marking it {lost.why}.") from lost
    if "error" in marked:
        cause = marked.get("unread")
        raise InputError(marked["error"]) from (ReadError(*cause) if cause else None)
    return marked


# ------------------------------------------------------------------------------------------------ in that process
# Whatever a student typed can at worst end it.  In Python, `symattn.check` marks in the process that calls it.

PROBLEM_SECONDS = 3600
"""Of processor time, for the problem, which is no student's."""


def answer(job: Any) -> Answer:
    """What is told about a piece of work: texts, or the files that were written; or the sentence that refuses it."""
    from symattn.marking.grading.worker import defect
    from symattn.page.writers.page import typesetting

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
    from symattn.api import make_terms
    from symattn.foundation.confined import limit_seconds
    from symattn.marking.grading.checking import checked
    from symattn.marking.grading.source import language_of, papers
    from symattn.page.presentation import make_look
    from symattn.teaching.rendering import render

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
    from symattn.teaching.rendering import check_formats

    listed = list(dict.fromkeys(forms))
    if not listed:
        check_formats(listed)
    return [name for form in listed for name in (["json"] if form == "json" else check_formats([form]))]


def checking(settings: Any) -> Job:
    """What `symattn.foundation.workers` has done."""
    return answer
