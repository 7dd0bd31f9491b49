"""Options that several commands share, and help in groups."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from textwrap import fill
from typing import Any

import click

from symattn.cli.listed import entries
from symattn.derivation.settings import ABOUT

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

PROBLEM, MECHANISM, SETTINGS, MARKING, PAGE, FILES, OTHER = (
    "Problem",
    "Mechanism",
    "Settings of the mechanism",
    "Marking",
    "Page",
    "Files and output",
    "Other",
)
GROUPS = (PROBLEM, MECHANISM, SETTINGS, MARKING, PAGE, FILES, OTHER)
"""The groups of options, in the order in which help shows them."""


HELP = ["-h", "--help"]


class Option(click.Option):
    """An option that belongs to a group of its command's help.

    One that takes a list, with commas between, may be given several times: nothing that was said first is lost.
    """

    def __init__(self, *declarations: Any, group: str, **attributes: Any) -> None:
        self.group = group
        self.listed = ",…" in attributes.get("metavar", "")
        self.usual = attributes.get("default")
        if self.listed:
            attributes |= {"multiple": True, "default": [self.usual] if self.usual else None}
        super().__init__(*declarations, **attributes)

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        values = super().process_value(ctx, value)
        return values if not self.listed else ",".join(values) if values else self.usual


class Command(click.Command):
    """A command whose help has its options in groups, each on one line.

    The settings of mechanisms are only named: `symattn list settings` explains them.
    """

    def __init__(self, *arguments: Any, **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        self.context_settings["help_option_names"] = HELP  # its own, since click keeps the first help option it makes

    def get_short_help_str(self, limit: int = 45) -> str:
        """The first sentence up to its first comma, whole where click would cut it at the margin."""
        sentence = super().get_short_help_str(1000)
        return re.split(r"[,:;]", sentence)[0].rstrip(".") + "."

    def groups(self, ctx: click.Context) -> dict[str, list[click.Option]]:
        """The options by their group, in the order of `GROUPS`; options of click's own are in the last."""
        grouped: dict[str, list[click.Option]] = {group: [] for group in GROUPS}
        for parameter in self.get_params(ctx):
            if isinstance(parameter, click.Option):
                grouped[getattr(parameter, "group", OTHER)].append(parameter)
        return {group: options for group, options in grouped.items() if options}

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        groups = self.groups(ctx)
        settings = [option.opts[0] for option in groups.pop(SETTINGS, ())]
        records = {name: [r for o in options if (r := o.get_help_record(ctx))] for name, options in groups.items()}
        widest = max(len(left) for rows in records.values() for left, _ in rows)
        for name, rows in records.items():
            with formatter.section(name):
                formatter.write_dl([(left.ljust(widest), right) for left, right in rows], col_max=widest)
            if name == MECHANISM and settings:
                with formatter.section(f"{SETTINGS} (`symattn list settings MECHANISM` explains them)"):
                    margin = " " * formatter.current_indent
                    names = fill(" ".join(settings), formatter.width, initial_indent=margin, subsequent_indent=margin,
                                 break_on_hyphens=False)  # fmt: skip
                    formatter.write(f"{names}\n")


def option(*declarations: str, group: str, **attributes: Any) -> Decorator:
    """click's option, in a group of the help."""
    return click.option(*declarations, cls=Option, group=group, **attributes)


def together(options: Iterable[Decorator]) -> Decorator:
    """Several options as one decorator, in the order in which they are written."""
    listed = tuple(options)

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for one in reversed(listed):
            command = one(command)
        return command

    return decorate


# ------------------------------------------------------------------------------------------------ completion


def completing(names: Callable[[], list[str]]) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    return lambda ctx, param, incomplete: [name for name in names() if name.startswith(incomplete)]


def names_of(what: str) -> Callable[[], list[str]]:
    return lambda: list(entries(what))


def source_names() -> list[str]:
    return [*entries("examples"), *entries("mechanisms"), *(str(p) for p in Path().glob("*.toml"))]


# ------------------------------------------------------------------------------------------------ shared options

drawing_options = together(
    [
        option("--level", group=PROBLEM, metavar="LEVEL", help="starter, standard or long."),
        option("--softmax", group=PROBLEM, metavar="HOW",
               help="Kind of weights: e, base 2, base 3 (finite decimals), equal."),
        option("--option", "options", group=PROBLEM, multiple=True, metavar="NAME=VALUE",
               help="An option of the problem type; see `symattn list options`."),
    ]
)  # fmt: skip
"""What is drawn."""

settings_options = together(
    [
        option("--notation", group=MECHANISM, metavar="NAME|FILE", shell_complete=completing(names_of("notations")),
               help="The notation; see `symattn list notations`."),
        option("--size", "sizes", group=MECHANISM, metavar="n=3,d_k=4,…",
               help="Sizes n, m, d_model, d_k, d_v, d_ff, …"),
        option("--round", "rounding", group=MECHANISM, metavar="P[:HOW[:TIES]]",
               help="Round the weights to P places and go on with the rounded ones."),
        option("--by-token", group=MECHANISM, is_flag=True, help="Work token by token."),
        option("--by-matrix", group=MECHANISM, is_flag=True,
               help="Whole matrices, even if the notation goes token by token."),
        *(
            option(f"--{name.replace('_', '-')}", name, group=SETTINGS, metavar=setting.metavar, help=setting.about)
            for name, setting in ABOUT.items()
            if name not in ("by", "rounding")
        ),
    ]
)  # fmt: skip
"""How a mechanism is worked out."""

look_options = together(
    [
        option("--language", group=PAGE, metavar="NAME|FILE", help="en, de, fr, es, zh, or your own .po file."),
        option("--text-size", group=PAGE, type=click.Choice(["11", "18", "24"]),
               help="In points; 18 and 24 are large print."),
        option("--paper", group=PAGE, type=click.Choice(["a4", "letter"]), help="A4 or US letter."),
        option("--spacing", group=PAGE, type=click.Choice(["roomy", "compact"]),
               help="How much space there is between lines."),
        option("--decimal-sign", group=PAGE, metavar="SIGN", type=click.Choice(["point", "comma"]),
               help="point or comma; the language's own unless given."),
        option("--brackets", group=PAGE, metavar="KIND", type=click.Choice(["square", "round"]),
               help="Brackets of matrices, square or round; the notation's unless given."),
        option("--transpose", group=PAGE, metavar="SIGN", help="The sign of a transpose: T, ⊤ or ′."),
    ]
)  # fmt: skip
"""How pages look."""

layout_options = together(
    [
        option("--layout", group=PAGE, default="matrix", show_default=True, metavar="KIND",
               type=click.Choice(["matrix", "falk", "columns", "flow"]),
               help="matrix, falk (Falk's scheme), columns or flow."),
        option("--conventions", group=PAGE, default="full", show_default=True, metavar="KIND",
               type=click.Choice(["full", "bare", "none"]),
               help="Stated conventions: full, bare (formulas) or none."),
    ]
)  # fmt: skip
"""How questions are set."""

fillable_option = option("--fillable", group=PAGE, is_flag=True,
                         help="PDF with form fields; check and grade read them.")  # fmt: skip

template_options = together(
    [
        option("--templates", group=PAGE, type=click.Path(path_type=Path), metavar="FOLDER",
               help="Your own templates; they replace ours of the same name."),
        option("--latex-class", group=PAGE, default="article", show_default=True, metavar="CLASS",
               help="article, exam or one of your own templates."),
    ]
)  # fmt: skip


def typesetting_options(command: Callable[..., None]) -> Callable[..., None]:
    """The templates that pages are made with; while the command runs, writers use those."""

    @wraps(command)
    def run(*args: Any, templates: Path | None, latex_class: str, **others: Any) -> None:
        from symattn.page.writers.page import typesetting

        with typesetting(templates, latex_class):
            command(*args, **others)

    return template_options(run)


marking_options = together(
    [
        option("--policy", group=MARKING, metavar="NAME", shell_complete=completing(names_of("policies")),
               help="ecf (full follow-through; default), ib, uk, strict, formative."),
        option("--scheme", group=MARKING, type=click.Path(path_type=Path), metavar="FILE",
               help="Your own mark scheme."),
        option("--rounding", "decimals", group=MARKING, metavar="HOW",
               help="Accepted: nearest (default), truncate, largest-remainder."),
        option("--precision-mark", group=MARKING, is_flag=True,
               help="Take one mark off per question for wrong rounding."),
        option("--decimal-mark", group=MARKING, default="auto", show_default=True, metavar="SIGN",
               type=click.Choice(["auto", ".", ","]), help="The decimal sign of the answers: auto, . or ,"),
    ]
)  # fmt: skip
"""How work is marked, the same for one piece and for a class."""

quiet_option = option("--quiet", "-q", group=FILES, is_flag=True, help="Print nothing but errors.")

work_options = together(
    [
        option("--jobs", group=FILES, default=0, metavar="N", type=click.IntRange(0, 256),
               help="The number of processes; default: one per processor."),
        option("--cluster", group=FILES, metavar="ADDRESS|FILE",
               help="A Dask scheduler: tcp://… or its file."),
    ]
)  # fmt: skip
"""Who does the work."""
