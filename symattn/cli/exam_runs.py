"""Making an exam from its file, for the commands that do so."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from symattn.cli.progress import HOW_TO_GO_ON, executor, progress
from symattn.errors import InputError, nearest

if TYPE_CHECKING:
    from symattn.foundation.dice import Dice
    from symattn.teaching.question import Question


def make(
    ctx: click.Context, path: Path, folder: Path, forms: tuple[str, ...], seed: int | None, secret: Path | None,
    jobs: int, cluster: str | None, quiet: bool,
) -> None:  # fmt: skip
    """Make or continue an exam in a folder of its own below `folder`."""
    from symattn.foundation.crew import crew
    from symattn.teaching.exam import read_exam_file, write_exam
    from symattn.teaching.exam.deploy import BOUND
    from symattn.teaching.frozen import FROZEN
    from symattn.teaching.sheets import banks_apart

    refuse_what_is_no_exam(path)
    if seed is not None and secret is not None:
        raise InputError("--seed and --secret exclude each other.")
    spec = read_exam_file(path)
    dice = _dice(seed, secret, quiet)
    papers = spec.variants if any(asked.varies for asked in spec.questions) else 1
    drawn = sum(spec.variants if asked.varies else 1 for asked in spec.questions)
    pages, banks = banks_apart(forms)
    booklets = 2 * sum(form in BOUND for form in pages)
    files = len(pages) * (3 + papers + (len(spec.students) or papers)) + len(banks)
    if "latex" in pages and spec.students:
        files += papers  # which students' files read
    steps = drawn + 1 + files + booklets + bool(spec.students)
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
        say_what_is_lost(forms, [exam.question(number, 0) for number in range(len(exam.pools))])


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
    from symattn.teaching.exam import is_exam

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


def say_what_is_lost(forms: Sequence[str], questions: Sequence[Question]) -> None:
    """What banks of other systems cannot do."""
    from symattn.teaching.exporters import not_carried
    from symattn.teaching.sheets import banks_apart

    _, banks = banks_apart(forms)
    for sentence in not_carried(banks, questions):
        click.echo(sentence, err=True)


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
