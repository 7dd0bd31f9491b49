"""`symattn grade`: a whole class marked."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from symattn.cli.options import (
    FILES,
    HOW_TO_GO_ON,
    MARKING,
    Command,
    executor,
    look_options,
    marking_options,
    option,
    progress,
    quiet_option,
    read_list,
    read_look,
    read_terms,
    typesetting_options,
    work_options,
)
from symattn.errors import InputError

if TYPE_CHECKING:
    from symattn.marking.grading.entries import Question
    from symattn.marking.grading.gradebook import Gradebook
    from symattn.marking.grading.record import Row


NOT_ALL_MARKED = 1


@click.command(cls=Command)
@click.argument("exam", metavar="EXAM", type=click.Path(path_type=Path))
@click.argument("submissions", metavar="[SUBMISSIONS]", required=False, type=click.Path(path_type=Path))
@marking_options
@option("--for", "reader", group=MARKING, default="student", show_default=True, metavar="READER",
        type=click.Choice(["student", "teacher", "both"]),
        help="student (without the key), teacher or both.")  # fmt: skip
@option("--entries", group=FILES, type=click.Path(path_type=Path), metavar="FILE",
        help="Scripts on paper, entered in a table (.csv, .xlsx); see above.")  # fmt: skip
@option("--table", group=FILES, type=click.Path(path_type=Path), metavar="FILE",
        help="Write an empty table for --entries, a column for each box.")  # fmt: skip
@option("--format", "forms", group=FILES, default="pdf", show_default=True, metavar="F,F,…",
        help="Of summary and feedback; see `symattn list formats`.")  # fmt: skip
@option("--feedback", group=FILES, metavar="F,F,…|none",
        help="Formats of feedback, where others; or none of it.")  # fmt: skip
@option("--gradebook", "gradebooks", group=FILES, default="", metavar="P,P,…",
        help="Also write it as moodle, canvas, gradescope or brightspace import it.")  # fmt: skip
@option("--class", "class_list", group=FILES, type=click.Path(path_type=Path), metavar="FILE",
        help="The class list as the platform exports it, if the exam has another.")  # fmt: skip
@option("--out", "folder", group=FILES, type=click.Path(path_type=Path), metavar="FOLDER",
        help="Where files go; default: output/<exam>-marked.")  # fmt: skip
@option("--exit-code", group=FILES, is_flag=True, help="Exit with 1 if a file could not be marked.")
@work_options
@quiet_option
@look_options
@typesetting_options
@click.pass_context
def grade(
    ctx: click.Context,
    /,
    exam: Path,
    submissions: Path | None,
    entries: Path | None,
    table: Path | None,
    reader: str,
    forms: str,
    feedback: str | None,
    gradebooks: str,
    class_list: Path | None,
    folder: Path | None,
    exit_code: bool,
    jobs: int,
    cluster: str | None,
    quiet: bool,
    **settings: Any,
) -> None:
    """Mark a whole class: a gradebook, a feedback sheet each, and a summary.

    EXAM is the exam's folder (or its exam.json, or the .json of a set of worksheets), SUBMISSIONS a folder or a zip
    with a file for each student, of any kind that check reads (.md, .txt, .docx, .odt, .html, .pdf, .ipynb, .toml,
    .json, .csv, .xlsx, .ods, .tex), named like the paper or with the student's id or full name in it; also as Moodle,
    Canvas, Brightspace and Gradescope export them.  What cannot be marked is named, with the reason.  The same command
    again marks only what is new.  The exit code is 1 with --exit-code if a file could not be marked, or 2 if nothing
    was marked.

    Scripts on paper are entered in a table: headings with name or id, then a row for each student with what
    differs from the key; all else counts as in the key.  An empty row is not marked.

    \b
    name,differs
    Ada Lovelace,all right
    Alan Turing,S12=3; Z31=.81          two boxes: row 1, column 2 of S; row 3, column 1 of Z
    Emmy Noether,S'=S; A1=.5 .5 0       S was copied; a row of A, values separated by spaces
    Kurt Gödel,S=[[1 2] [3 4]]; (b)=C   a whole matrix; another kind of answer
    Grace Hopper,blank: A Z; S11=blank  nothing is written there
    Max Planck,C1                       somebody with misconception C1 (`symattn list misconceptions`)

    With several questions, the number stands in front (Q2 S12=3; blank: Q4 is the whole question).  If later lines
    would follow from an entry, you are asked whether they do (follows: A Z) or are as in the key (key: A Z); without a
    terminal they follow, and a copy of the table says so.

    \b
    symattn grade output/midterm submissions/
    symattn grade output/midterm submissions.zip --policy strict --gradebook moodle --out marked
    symattn grade output/midterm --entries class.csv
    symattn grade output/midterm --table class.xlsx
    """
    from symattn.api import grade as mark
    from symattn.marking.grading.checking import READERS
    from symattn.marking.grading.record import counted
    from symattn.marking.grading.source import language_of
    from symattn.marking.reports import Reader
    from symattn.teaching.rendering import check_formats

    if table is not None:
        if submissions or entries:
            raise InputError("--table writes an empty table and marks nothing; leave out submissions and --entries.")
        _write_table(exam, table, quiet)
        return
    if submissions is None and entries is None:
        raise InputError("There is nothing to mark; SUBMISSIONS, a folder or a zip, or --entries FILE was expected.")
    listed = check_formats(read_list(forms))
    out = folder or Path("output", f"{_exam_name(exam)}-marked")
    told = None if feedback is None else () if feedback == "none" else check_formats(read_list(feedback))
    readers = READERS if reader == "both" else (cast(Reader, reader),)
    terms, shown = read_terms(settings), read_look(settings, language_of(exam))
    ctx.meta[HOW_TO_GO_ON] = lambda: "The same command continues: what has been marked is kept."
    ask = _ask if sys.stdin.isatty() and not quiet else None
    with executor(jobs, cluster) as elsewhere:
        book = mark(
            exam, submissions, entries=entries, ask=ask, out=out, **terms, forms=listed, feedback=told, look=shown,
            readers=readers, jobs=jobs, executor=elsewhere, class_list=class_list,
            gradebooks=read_list(gradebooks),
            progress=lambda count: progress(count, quiet, "Submissions"),
        )  # fmt: skip
    if not quiet:
        for line in book.replied:
            click.echo(line)
        for row in book.pending:
            click.echo(f"{row.status if row.is_unmarked else 'pending'}: {': '.join(filter(None, _about(row)))}")
        click.echo(f"{out}: {', '.join(counted(book.rows))}; {len(book.written)} files.")
        for line in _where(out, book):
            click.echo(line)
    if exit_code and any(row.is_unmarked for row in book.rows):
        ctx.exit(NOT_ALL_MARKED)


def _about(row: Row) -> tuple[str, str, str]:
    """Whose a row is that is pending, its file, and what a person has to do."""
    who = f"{row.name} ({row.id})" if row.name and row.id else row.name or row.id
    open_marks = sum(sum(result.pending.values()) for result in row.results)
    count = f"{open_marks} mark{'s' * (open_marks != 1)} to give" if open_marks else ""
    return who, row.file, row.reason or count


def _where(out: Path, book: Gradebook) -> Iterator[str]:
    """What lies where in a folder, a line each."""
    from symattn.marking.grading.gradebook import PLATFORMS

    statuses = Counter("pending" if row.unread else row.status for row in book.rows if row.number)
    left = ", ".join(f"{statuses[status]} {status}" for status in ("pending", "broken", "missing") if statuses[status])
    left = f"; empty for {left}" if left else ""
    of_class = {"gradebook.csv": "all marks", "pending.csv": "fill in the column “marks”; the same command reads them"}
    of_class |= {f"gradebook-{name}.csv": f"to import in {name.capitalize()}{left}" for name in PLATFORMS}
    of_class |= {"changes.csv": "what changed since earlier runs"}
    names = [path.relative_to(out) for path in book.written]
    alone = {str(name): of_class.get(str(name), "") for name in names if len(name.parts) == 1}
    folders = Counter(name.parts[0] for name in names if len(name.parts) > 1)
    shown = {name: about or "the class" for name, about in alone.items() if about or name.startswith("summary.")}
    shown |= {f"{name}/": f"{count} file{'s' * (count != 1)}" for name, count in folders.items()}
    wide = max(map(len, shown), default=0)
    return (f"  {name.ljust(wide)}  {about}" for name, about in shown.items())


def _write_table(exam: Path, path: Path, quiet: bool) -> None:
    from symattn.marking.grading.entries import write_table
    from symattn.marking.grading.source import papers

    boxes = write_table(path, papers(exam))
    if not quiet:
        click.echo(
            f"{path}: {boxes} boxes. Fill in what differs from the key, and key in the column “rest” (blank: the rest "
            f"is empty); then mark with --entries {path}."
        )


def _ask(question: Question) -> str:
    """Ask on the terminal what stands in boxes of which nothing was said."""
    if question.complaint:
        click.echo(f"  {question.complaint}")
    else:
        click.echo(f"{question.who}: {question.said}")
        for follows, key in zip(question.doubt.follows, question.doubt.key, strict=True):
            click.echo(f"  follows: {follows}    key: {key.partition(' = ')[2]}")
    choices = "[f]ollows, [k]ey, [b]lank, values (A11=.5), F: all others follow"
    return str(click.prompt(f"  {question.doubt.name} on paper: {choices}", default="f", show_default=False))


def _exam_name(exam: Path) -> str:
    from symattn.teaching.question import FROZEN

    return exam.resolve().parent.name if exam.name == FROZEN else exam.resolve().stem
