"""`symattn exam`: an exam file to start from, what will come of one, and the exam itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from symattn.cli.options import (
    FILES,
    HOW_TO_GO_ON,
    PROBLEM,
    Command,
    executor,
    option,
    progress,
    quiet_option,
    read_list,
    typesetting_options,
    work_options,
)
from symattn.errors import InputError, nearest

if TYPE_CHECKING:
    from symattn.foundation.dice import Dice
    from symattn.teaching.exam.preview import Foreseen, Preview


def _in_file(option: str) -> str:
    """Where the file says what an option of worksheets says; "" if it is none."""
    said = in_exam(option.lstrip("-").replace("-", "_"), "the file")
    return "" if said == NO_SUCH_CHOICE else said


@click.command(cls=Command, elsewhere=_in_file)
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
    from symattn.teaching.rendering import check_formats

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


# ------------------------------------------------------------------------------------------------ making


def make(
    ctx: click.Context, path: Path, folder: Path, forms: tuple[str, ...], seed: int | None, secret: Path | None,
    jobs: int, cluster: str | None, quiet: bool,
) -> None:  # fmt: skip
    """Make or continue an exam in a folder of its own below `folder`."""
    from symattn.foundation.crew import crew
    from symattn.teaching.exam.deploy import steps_of, write_exam
    from symattn.teaching.exam.spec import read_exam_file
    from symattn.teaching.exporters import not_carried
    from symattn.teaching.question import FROZEN
    from symattn.teaching.sheets import banks_apart

    refuse_what_is_no_exam(path)
    if seed is not None and secret is not None:
        raise InputError("--seed and --secret exclude each other.")
    spec = read_exam_file(path)
    dice = _dice(seed, secret, quiet)
    steps = steps_of(spec, forms)
    frozen = folder / path.stem / FROZEN

    def how_to_go_on() -> str:
        if frozen.exists():
            return f"The same command continues: {frozen} holds the exam, and pages that are finished stay."
        return "Nothing was written yet; the same command starts again."

    ctx.meta[HOW_TO_GO_ON] = how_to_go_on
    with (
        executor(jobs, cluster) as elsewhere,
        crew(jobs, elsewhere, of=steps) as those,
        progress(steps, quiet, path.stem) as step,
    ):
        exam, written = write_exam(spec, folder / path.stem, forms, dice, step, step, those)
    if not quiet:
        made = "1 paper with its key" if len(exam.papers) == 1 else f"{len(exam.papers)} papers with keys"
        click.echo(f"{folder / path.stem}: {made}, {len(written)} files.")
        _, banks = banks_apart(forms)
        for sentence in not_carried(banks, (exam.question(number, 0) for number in range(len(exam.pools)))):
            click.echo(sentence, err=True)


def _dice(seed: int | None, secret: Path | None, quiet: bool) -> Dice | None:
    """What variants depend on; a secret that is not there is made."""
    from symattn.foundation.dice import Dice, make_secret

    if secret is None:
        return None if seed is None else Dice.seeded(seed)
    if not secret.exists():
        make_secret(secret)
        if not quiet:
            click.echo(
                f"{secret} is new: the secret that the papers depend on. Keep it, and keep it to yourself: whoever has "
                "it can make the same papers and keys again, and without it nobody can.",
                err=True,
            )
    return Dice.secret(secret)


def refuse_what_is_no_exam(path: Path) -> None:
    """`InputError` for a file without questions: it is empty, meant to be an exam, as its keys show, or a problem."""
    from symattn.foundation.files import read_toml
    from symattn.teaching.exam.spec import is_exam

    if is_exam(path):
        return
    stated = read_toml(path)
    if not stated:
        raise InputError(f"{path.name} is empty; an exam with [[question]], or a problem, was expected.")
    for key, value in stated.items():
        if isinstance(value, list) and nearest(key, ["question"]):
            raise InputError(f"{path.name} has [[{key}]]; did you mean [[question]]?")
    raise InputError(
        f"{path.name} has no [[question]], so it is a problem: symattn derive {path} --as worksheet (or key)."
    )


# ------------------------------------------------------------------------------------------------ other words

_IN_FILES = {
    "count": "variants", "n": "variants", "problem": "type", "decimal": "exact", "by_token": "by", "by_matrix": "by",
    "size": "sizes", "round": "rounding",
}  # fmt: skip
"""What options of worksheets are called in exam files, where it is another name."""

_IN_SHELLS = {
    "type": "--problem", "variants": "-n", "exact": "--decimal", "by": "--by-token or --by-matrix", "sizes": "--size",
    "rounding": "--round", "mechanism": "the first word, as in symattn worksheet attention",
    "check": "symattn exam EXAM.toml --check", "new": "symattn exam EXAM.toml --new",
}  # fmt: skip


NO_SUCH_CHOICE = "an exam has no such choice"


def in_exam(name: str, file: str) -> str:
    """Where an exam file says what an option of worksheets says."""
    from symattn.foundation.typed import keys
    from symattn.teaching.exam.spec import ExamFile, QuestionTable

    key = _IN_FILES.get(name, name)
    if name in ("option", "options"):
        return f"in an exam it stands in a [[question]] of {file}, as NAME = VALUE"
    if key in keys(ExamFile):
        return f"in an exam it stands at the top of {file}, as {key} = …"
    if key in keys(QuestionTable):
        return f"in an exam it stands in a [[question]] of {file}, as {key} = …"
    return NO_SUCH_CHOICE


def in_shell(option: str) -> str:
    """What a key of exam files, typed as an option of worksheets, is called there; "" if it is none."""
    from symattn.foundation.typed import keys
    from symattn.teaching.exam.spec import ExamFile, QuestionTable
    from symattn.teaching.problems import problem_types

    key = option.lstrip("-").replace("-", "_")
    if key in _IN_SHELLS:
        return f"on the command line it is {_IN_SHELLS[key]}"
    if any(key in chosen.options for chosen in problem_types().values()):
        return f"an option of a problem type is written --option {key}=…"
    if key in keys(ExamFile) or key in keys(QuestionTable):
        return f"{key} is a key of exam files, which symattn exam FILE --new writes"
    return ""
