"""`symattn grade`: a whole class marked."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import click

from symattn.cli.options import (
    FILES,
    MARKING,
    Command,
    look_options,
    marking_options,
    option,
    quiet_option,
    typesetting_options,
)
from symattn.cli.progress import HOW_TO_GO_ON, progress
from symattn.cli.reading import read_list, read_look


@click.command(cls=Command)
@click.argument("exam", metavar="EXAM", type=click.Path(path_type=Path))
@click.argument("submissions", metavar="SUBMISSIONS", type=click.Path(path_type=Path))
@marking_options
@option("--for", "reader", group=MARKING, default="student", show_default=True, metavar="READER",
        type=click.Choice(["student", "teacher", "both"]),
        help="student (without the key), teacher or both.")  # fmt: skip
@option("--format", "forms", group=FILES, default="pdf", show_default=True, metavar="F,F,…",
        help="Of feedback and summary; see `symattn list formats`.")  # fmt: skip
@option("--out", "folder", group=FILES, type=click.Path(path_type=Path), metavar="FOLDER",
        help="Where the files go; default: output/<exam>-marked.")  # fmt: skip
@option("--jobs", group=FILES, default=0, metavar="N", type=click.IntRange(0, 256),
        help="The number of processes; default: one per processor.")  # fmt: skip
@quiet_option
@look_options
@typesetting_options
@click.pass_context
def grade(
    ctx: click.Context,
    /,
    exam: Path,
    submissions: Path,
    policy: str | None,
    scheme: Path | None,
    decimals: str | None,
    precision_mark: bool,
    decimal_mark: str,
    reader: str,
    forms: str,
    folder: Path | None,
    jobs: int,
    quiet: bool,
    **look: Any,
) -> None:
    """Mark a whole class: a gradebook, a feedback sheet each, and a summary.

    EXAM is the exam's folder (or its exam.json, or the .json of a set of worksheets), SUBMISSIONS a folder or a zip
    with a file for each student, of any kind that check reads (.md, .ipynb, .toml, .json, .csv, .tex), named like the
    paper or with the student's id in it.  A file that cannot be marked is named with the reason, and the rest is
    marked.  The same command again marks only what is new.

    \b
    symattn grade output/midterm submissions/
    symattn grade output/midterm submissions.zip --policy strict --format pdf,markdown --out marked
    """
    from symattn.api import grade as mark
    from symattn.marking.grading.checking import READERS
    from symattn.marking.grading.record import counted
    from symattn.marking.reports import Reader
    from symattn.teaching.sheets import check_formats

    listed = check_formats(read_list(forms))
    out = folder or Path("output", f"{_exam_name(exam)}-marked")
    readers = READERS if reader == "both" else (cast(Reader, reader),)
    ctx.meta[HOW_TO_GO_ON] = lambda: "The same command continues: what has been marked is kept."
    book = mark(
        exam, submissions, out=out, policy=policy, scheme=scheme, rounding=decimals, precision_mark=precision_mark,
        decimal_mark=decimal_mark, forms=listed, look=read_look(look), readers=readers, jobs=jobs,
        progress=lambda count: progress(count, quiet, "Submissions"),
    )  # fmt: skip
    if not quiet:
        for row in book.rows:
            if row.status == "broken":
                click.echo(f"broken: {row.file}: {row.reason}")
        click.echo(f"{out}: {', '.join(counted(book.rows))}; {len(book.written)} files.")


def _exam_name(exam: Path) -> str:
    from symattn.teaching.exam.deploy import FROZEN

    return exam.resolve().parent.name if exam.name == FROZEN else exam.resolve().stem
