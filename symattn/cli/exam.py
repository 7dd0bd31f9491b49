"""`symattn exam`: an exam file to start from, what will come of one, and the exam itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from symattn.cli.exam_runs import NO_SUCH_CHOICE, in_exam, make, refuse_what_is_no_exam
from symattn.cli.options import FILES, PROBLEM, Command, option, quiet_option, typesetting_options, work_options
from symattn.cli.reading import read_list
from symattn.errors import InputError

if TYPE_CHECKING:
    from symattn.teaching.exam.preview import Foreseen, Preview


class _Command(Command):
    """One that knows the options of worksheets, which stand in the file."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            said = in_exam(error.option_name.lstrip("-").replace("-", "_"), "the file")
            if said == NO_SUCH_CHOICE:
                raise
            raise InputError(f"There is no option {error.option_name}; {said}.") from error


@click.command(cls=_Command)
@click.argument("file", metavar="EXAM.toml", type=click.Path(path_type=Path))
@option("--new", group=FILES, is_flag=True, help="Write this file, with comments, to start from.")
@option("--check", group=FILES, is_flag=True, help="Say what will come of it, and all that is refused; write nothing.")
@option("--seed", group=PROBLEM, type=int, metavar="N",
        help="The same seed gives the same papers; default: unpredictable ones.")  # fmt: skip
@option("--secret", group=PROBLEM, type=click.Path(path_type=Path), metavar="FILE",
        help="The secret that papers can be made again from; made if there is none.")  # fmt: skip
@option("--format", "forms", group=FILES, default="latex,markdown,pdf", show_default=True, metavar="F,F,…",
        help="See `symattn list formats`.")  # fmt: skip
@option("--out", "folder", group=FILES, default="output", show_default=True, type=click.Path(path_type=Path),
        metavar="FOLDER", help="Where the files go.")  # fmt: skip
@work_options
@quiet_option
@typesetting_options
@click.pass_context
def exam(
    ctx: click.Context, /, file: Path, new: bool, check: bool, seed: int | None, secret: Path | None, forms: str,
    folder: Path, jobs: int, cluster: str | None, quiet: bool,
) -> None:  # fmt: skip
    """Make a whole exam from one file: a paper for every student, keys, an overview.

    Every key of the file is explained in docs/exams.md.

    \b
    symattn exam midterm.toml --new
    symattn exam midterm.toml --check
    symattn exam midterm.toml --secret secret.txt --out private
    """
    from symattn.teaching.sheets import check_formats

    if new and check:
        raise InputError("--new and --check exclude each other.")
    if new:
        _start(file)
        return
    listed = check_formats(read_list(forms), banks=True)
    if not check:
        make(ctx, file, folder, listed, seed, secret, jobs, cluster, quiet)
        return
    from symattn.teaching.exam.preview import preview

    refuse_what_is_no_exam(file)
    shown, refused = preview(file)
    if shown is not None:
        click.echo("\n".join(_described(shown, file)))
        return
    for error in refused[:-1]:
        click.echo(f"{click.style('Error: ', fg='red', bold=True)}{error}", err=True)
    raise refused[-1]


def _start(file: Path) -> None:
    """Write an exam file that makes an exam as it stands."""
    from symattn.teaching.exam.preview import starter

    if file.suffix != ".toml":
        raise InputError(f"{file} is to be an exam file; a name that ends in .toml was expected.")
    try:
        with file.open("x", encoding="utf-8") as there:
            there.write(starter(file.name))
    except FileExistsError as error:
        raise InputError(f"{file} is there already, and is left as it is; choose another name.") from error
    click.echo(f"{file}: edit it; symattn exam {file} --check says what will come of it.")


def _described(shown: Preview, file: Path) -> list[str]:
    """Line by line: questions, what a paper takes, how many are printed, and what may not be meant."""
    spec = shown.spec
    rows = [_row(number, one) for number, one in enumerate(shown.questions, 1)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [f"{spec.title} ({file.name})", ""]
    lines += ["  ".join(cell.ljust(wide) for cell, wide in zip(row, widths, strict=True)).rstrip() for row in rows]
    allowed = f" The paper allows {spec.time}." if spec.time else ""
    lines += ["", f"Total: {_several(shown.marks, 'mark')}, about {_several(shown.minutes, 'minute')}.{allowed}"]
    lines += _printed(shown)
    for number, one in enumerate(shown.questions, 1):
        if (marks := one.question.marks) < one.joined:
            lines.append(
                f"Question {number} has {_several(marks, 'point')} for {one.joined} lines: neighbouring lines share a "
                "mark, which needs all of them."
            )
    return [*lines, "Minutes and pages are estimates, from one variant of each question. Nothing was written."]


def _row(number: int, one: Foreseen) -> tuple[str, ...]:
    variants = _several(one.variants, "variant") if one.variants > 1 else "the same for all"
    title = f"{one.question.title} ({one.asked.spec.type})"
    return (
        f"{number}.",
        title,
        _several(one.question.marks, "mark"),
        variants,
        f"about {_several(one.minutes, 'minute')}",
    )


def _printed(shown: Preview) -> list[str]:
    """How many papers of how many pages, and what paper that takes."""
    spec, lines = shown.spec, []
    who = f"{_several(len(spec.students), 'student')} in the class list" if spec.students else "no class list"
    lines.append(f"Papers: {_several(shown.papers, 'different one')}; {who}.")
    for pages, copies in shown.pages:
        sheets = -(-pages // 2)
        with_separators = ", separators included" * spec.separators
        lines.append(
            f"Pages: {pages} in each of {_several(copies, 'copy')}, so printed on both sides "
            f"{_several(sheets, 'sheet')} of paper each, {copies * (sheets + spec.separators)} in all{with_separators}."
        )
    return lines


def _several(count: int, what: str) -> str:
    """1 mark, 2 marks."""
    plural = {"copy": "copies"}.get(what, f"{what}s")
    return f"{count} {what if count == 1 else plural}"
