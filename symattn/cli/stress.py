"""`symattn stress`: a problem type tried many times."""

from __future__ import annotations

from typing import Any

import click

from symattn.cli.options import (
    FILES,
    PROBLEM,
    Command,
    completing,
    drawing_options,
    executor,
    names_of,
    option,
    progress,
    read_settings,
    settings_options,
    typesetting_options,
    work_options,
)
from symattn.errors import InputError


@click.command("stress", cls=Command)
@click.argument("problem", metavar="TYPE", shell_complete=completing(names_of("problems")))
@option("-n", "count", group=PROBLEM, default=200, show_default=True, metavar="N", type=click.IntRange(1, 100_000),
        help="The number of variants.")  # fmt: skip
@option("--seed", group=PROBLEM, type=int, default=1, show_default=True, metavar="N",
        help="The same seed gives the same variants.")  # fmt: skip
@option("--mechanism", group=PROBLEM, default="", metavar="NAME", shell_complete=completing(names_of("mechanisms")),
        help="The mechanism; see `symattn list mechanisms`.")  # fmt: skip
@drawing_options
@option("--marking", group=PROBLEM, is_flag=True,
        help="Mark a script for every misconception and report what is found.")  # fmt: skip
@option("--format", "form", group=FILES, default="text", show_default=True, metavar="F",
        help="A text format; see `symattn list formats`.")  # fmt: skip
@work_options
@settings_options
@typesetting_options
def stress_(
    problem: str,
    count: int,
    seed: int,
    mechanism: str,
    level: str | None,
    softmax: str | None,
    options: tuple[str, ...],
    marking: bool,
    form: str,
    jobs: int,
    cluster: str | None,
    **settings: Any,
) -> None:
    """Try a problem type many times before you set it: timing, spread, duplicates, collisions, guessable answers.

    \b
    symattn stress full -n 30
    symattn stress full --mechanism attention -n 1000 --seed 7
    symattn stress full --marking -n 20
    """
    from symattn.api import make_recipe
    from symattn.derivation.mechanisms import typed_sizes
    from symattn.foundation.crew import crew
    from symattn.foundation.dice import Dice
    from symattn.marking.trial import trial
    from symattn.teaching.recipe import typed_options
    from symattn.teaching.rendering import check_formats, render
    from symattn.teaching.stress import stress

    [form] = check_formats([form])
    if form.endswith("pdf"):
        raise InputError(f"The report is text; {form} is not.")
    recipe = make_recipe(
        mechanism, read_settings({**settings, "sizes": None, "notation": None}), problem=problem, seed=seed,
        notation=settings["notation"], sizes=typed_sizes(settings["sizes"]), level=level, softmax=softmax,
        options=typed_options(problem, options),
    )  # fmt: skip
    attempt = trial if marking else stress
    with (
        executor(jobs, cluster) as elsewhere,
        crew(jobs, elsewhere, of=count) as those,
        progress(count, False, problem) as step,
    ):
        report = attempt(recipe.spec, count, Dice.seeded(seed), step, those)
    click.echo(render(report.document(), form)[1].decode(), nl=False)
