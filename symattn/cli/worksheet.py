"""`symattn worksheet`: worksheets with keys, or a whole exam."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from symattn.cli.exam import in_exam, in_shell, make, refuse_what_is_no_exam
from symattn.cli.options import (
    FILES,
    HOW_TO_GO_ON,
    PROBLEM,
    Command,
    completing,
    drawing_options,
    executor,
    fillable_option,
    layout_options,
    look_options,
    names_of,
    option,
    progress,
    quiet_option,
    read_list,
    read_look,
    read_settings,
    settings_options,
    typesetting_options,
    work_options,
)
from symattn.errors import InputError

if TYPE_CHECKING:
    from symattn.teaching.explanation import Conventions, Layout
    from symattn.teaching.question import Question


@click.command(cls=Command, elsewhere=in_shell)
@click.argument(
    "source", default="", metavar="[MECHANISM|EXAM.toml]", shell_complete=completing(names_of("mechanisms"))
)
@option("--problem", group=PROBLEM, default="full", show_default=True, metavar="TYPE",
        shell_complete=completing(names_of("problems")),
        help="The type of problem; see `symattn list problems`.")  # fmt: skip
@option("-n", "count", group=PROBLEM, default=1, show_default=True, metavar="N", type=click.IntRange(1, 100_000),
        help="The number of worksheets.")  # fmt: skip
@option("--seed", group=PROBLEM, type=int, metavar="N",
        help="The same seed gives the same worksheets; default: a new one.")  # fmt: skip
@option("--secret", group=PROBLEM, type=click.Path(path_type=Path), metavar="FILE",
        help="Exams: the file with the secret that papers depend on.")  # fmt: skip
@drawing_options
@option("--decimal", group=PROBLEM, is_flag=True, help="Ask for decimals instead of exact values.")
@option("--places", group=PROBLEM, default=4, show_default=True, metavar="N", type=click.IntRange(0, 50),
        help="Decimal places.")  # fmt: skip
@option("--ask", group=PROBLEM, default="", metavar="NAME,…", help="Only these parts, such as S,A; default: all.")
@option("--marks", group=PROBLEM, default="", metavar="NAME=N,…", help="Marks of single parts, such as S=5.")
@option("--format", "forms", group=FILES, default="latex,markdown,pdf", show_default=True, metavar="F,F,…",
        help="See `symattn list formats`.")  # fmt: skip
@option("--out", "folder", group=FILES, default="output", show_default=True, type=click.Path(path_type=Path),
        metavar="FOLDER", help="Where the files go.")  # fmt: skip
@option("--together", group=FILES, is_flag=True, help="All worksheets in one file, all keys in another.")
@option("--overview", group=FILES, is_flag=True,
        help="Also a page with all sheets: givens, answers, weights.")  # fmt: skip
@option("--recipe", "printed", group=FILES, is_flag=True,
        help="Also print the recipe, which makes the key, on worksheets.")  # fmt: skip
@option("--solutions", group=FILES, default="blank,key", show_default=True, metavar="S,S,…",
        help="blank, partly, worked, key, answers, diagnosis.")  # fmt: skip
@option("--header", group=FILES, default="", metavar="FILE", help="A file of LaTeX to stand above the title.")
@option("--logo", group=FILES, default="", metavar="FILE", help="A picture for the head of the PDF.")
@work_options
@quiet_option
@settings_options
@layout_options
@look_options
@fillable_option
@typesetting_options
@click.pass_context
def worksheet(
    ctx: click.Context,
    /,
    source: str,
    problem: str,
    count: int,
    seed: int | None,
    secret: Path | None,
    level: str | None,
    softmax: str | None,
    options: tuple[str, ...],
    forms: str,
    folder: Path,
    together: bool,
    overview: bool,
    printed: bool,
    solutions: str,
    header: str,
    logo: str,
    decimal: bool,
    places: int,
    ask: str,
    marks: str,
    jobs: int,
    cluster: str | None,
    quiet: bool,
    layout: Layout,
    conventions: Conventions,
    **settings: Any,
) -> None:
    """Make random worksheets, each with its answer key; or a whole exam from one file.

    MECHANISM defaults to self_attention, or to attention on the starter level; see `symattn list mechanisms` and
    `symattn list problems`.  Variants of one set are equally hard, each reveals the same mistakes, and every key is
    recomputed by a second route before it is written.

    \b
    symattn worksheet --seed 7
    symattn worksheet causal_self_attention -n 30 --seed 7 --size n=4,d_model=5,d_k=4,d_v=2
    symattn worksheet attention --notation note-000 --decimal --places 3
    symattn worksheet --problem masks -n 10 --seed 7
    symattn worksheet exam.toml --secret secret.txt
    """
    import secrets

    from symattn.api import make_recipe
    from symattn.derivation.mechanisms import typed_sizes
    from symattn.foundation.crew import crew
    from symattn.page.writers.page import headed, read_masthead
    from symattn.teaching.pool import AHEAD, Tally, no_more_room
    from symattn.teaching.recipe import typed_marks, typed_options
    from symattn.teaching.rendering import check_formats
    from symattn.teaching.sheets import Setting, check_solutions, write_set

    listed = check_formats(read_list(forms), banks=True)
    look = read_look(settings)
    if source.endswith(".toml"):
        from symattn.derivation.mechanisms.custom import is_mechanism

        if not is_mechanism(Path(source)):
            _exam(ctx, Path(source), folder, listed, seed, secret, jobs, cluster, quiet)
            return
    shown = check_solutions(read_list(solutions))
    if source.startswith("note-"):
        raise InputError(f"{source} has numbers of its own: symattn derive {source} --as worksheet (or key).")
    if secret is not None:
        raise InputError("--secret is for exams (symattn exam); for practice there is --seed.")
    sizes = typed_sizes(settings.pop("sizes"))
    if sizes and (letters := [s for s in sizes.values() if isinstance(s, str)]):
        raise InputError(f"To draw numbers, sizes must be numbers; {letters[0]!r} is not.")
    chosen = secrets.randbelow(1_000_000) if seed is None else seed
    recipe = make_recipe(
        source, read_settings({**settings, "notation": None}), problem=problem, notation=settings.get("notation"),
        sizes=sizes, seed=chosen, level=level, softmax=softmax, exact=False if decimal else None,
        places=None if ctx.get_parameter_source("places") is ParameterSource.DEFAULT else places,
        options=typed_options(problem, options), parts=read_list(ask), marks=typed_marks(marks),
    )  # fmt: skip
    again = "" if seed is not None else f" with --seed {chosen}"
    ctx.meta[HOW_TO_GO_ON] = lambda: f"The same command{again} makes the whole set."
    ctx.with_resource(headed(read_masthead(header, logo)))
    how = Setting(listed, recipe.stem, shown, layout, conventions, look, printed)
    questions: list[Question] = []

    def told(room: int) -> None:
        if not quiet:
            click.echo(no_more_room(room, recipe.spec.level), err=True)

    tally = Tally(ahead=min(count, AHEAD), told=told)
    with (
        executor(jobs, cluster) as elsewhere,
        crew(jobs, elsewhere, of=count) as those,
        progress(count, quiet, "Worksheets") as step,
    ):
        written = write_set(
            recipe, count, folder, how, those, together=together, overview=overview, on_sheet=step, tally=tally,
            keep=(lambda sheet: questions.append(sheet.question)) if how.banks else None,
        )  # fmt: skip
    if not quiet:
        for path in written:
            click.echo(path)
        for sentence in how.remarks(recipe, written, questions):
            click.echo(sentence, err=True)


def _exam(
    ctx: click.Context, path: Path, folder: Path, forms: tuple[str, ...], seed: int | None, secret: Path | None,
    jobs: int, cluster: str | None, quiet: bool,
) -> None:  # fmt: skip
    """The exam of a file, without options of single worksheets."""
    refuse_what_is_no_exam(path)
    stated = [p for p in ctx.params if ctx.get_parameter_source(p) is ParameterSource.COMMANDLINE]
    general = ("source", "seed", "secret", "forms", "folder", "jobs", "cluster", "quiet", "templates", "latex_class")
    if foreign := [p for p in ctx.command.params if p.name in stated and p.name not in general]:
        raise InputError(
            f"{foreign[0].opts[-1]} goes with single worksheets; {in_exam(foreign[0].name or '', path.name)}."
        )
    make(ctx, path, folder, forms, seed, secret, jobs, cluster, quiet)
