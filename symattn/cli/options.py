"""What commands share: options in groups, what is read of them, who does the work, what is said meanwhile."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from textwrap import fill
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, cast

import click

from symattn.cli.listed import entries
from symattn.derivation.settings import ABOUT, typed_rounding
from symattn.errors import InputError

if TYPE_CHECKING:
    from symattn.page.document import Look
    from symattn.teaching.explanation.steps import WhichEntries
if TYPE_CHECKING:
    from concurrent.futures import Executor


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

    The settings of mechanisms are only named: `symattn list settings` explains them.  Of an option that there is not,
    `elsewhere` tells where what it says is said, if anywhere.
    """

    def __init__(self, *arguments: Any, elsewhere: Callable[[str], str] = lambda name: "", **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        self.elsewhere = elsewhere
        self.context_settings["help_option_names"] = HELP  # its own, since click keeps the first help option it makes

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if said := self.elsewhere(error.option_name):
                raise InputError(f"There is no option {error.option_name}; {said}.") from error
            raise

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


# ------------------------------------------------------------------------------------------------ as they are typed


def read_look(settings: dict[str, Any], language: str | None = None) -> Look:
    """The look that was asked for, in a `language` unless another was; its options are taken out of `settings`."""
    from symattn.page.presentation import make_look

    chosen = chosen_look(settings)
    return make_look(**{**chosen, "language": chosen["language"] or language})


def chosen_look(settings: dict[str, Any]) -> dict[str, Any]:
    """The choices of a look, taken out of `settings`."""
    names = ("text_size", "paper", "spacing", "decimal_sign", "brackets", "transpose", "language")
    chosen = {name: settings.pop(name) for name in names}
    if settings.pop("fillable", False):
        chosen["fillable"] = True
    return chosen | ({"text_size": int(chosen["text_size"])} if chosen["text_size"] else {})


def read_terms(settings: dict[str, Any]) -> dict[str, Any]:
    """How work is marked, in the words of `symattn.api.make_terms`; its options are taken out of `settings`."""
    terms = {name: settings.pop(name) for name in ("policy", "precision_mark", "decimal_mark")}
    scheme = settings.pop("scheme")
    return {**terms, "scheme": str(scheme) if scheme else None, "rounding": settings.pop("decimals")}


def read_list(text: str) -> list[str]:
    """latex, pdf → ["latex", "pdf"]."""
    return [part.strip() for part in text.split(",") if part.strip()]


def read_settings(given: dict[str, Any]) -> dict[str, Any]:
    """The settings that were named on the command line."""
    by_token, by_matrix, rounding = (given.pop(key) for key in ("by_token", "by_matrix", "rounding"))
    settings = {key: value for key, value in given.items() if value is not None}
    if by_token and by_matrix:
        raise InputError("--by-token and --by-matrix exclude each other.")
    if by_token or by_matrix:
        settings["by"] = "token" if by_token else "matrix"
    if rounding is not None:
        settings["rounding"] = typed_rounding(rounding, "--round")
    return settings


def read_entries(text: str) -> WhichEntries:
    """auto, all, first-row, none, or 1,1;2,3 → ((0, 0), (1, 2))."""
    if text in ("auto", "all", "first-row", "none"):
        return cast("WhichEntries", text)
    chosen = []
    for part in text.split(";"):
        i, _, j = part.partition(",")
        if not all(x.strip().isdecimal() and len(x) < 9 and int(x) > 0 for x in (i, j)):
            raise InputError(
                f"--entries is {text!r}; all, first-row, none, auto or pairs such as 1,1;2,3 were expected."
            )
        chosen.append((int(i) - 1, int(j) - 1))
    return tuple(chosen)


# ------------------------------------------------------------------------------------------------ who does the work

HOW_TO_GO_ON = "symattn.how_to_go_on"
"""Where a command leaves in its context what is said after Ctrl-C."""


EVERY = 10.0
"""Seconds between two lines where there is no terminal."""


@contextmanager
def progress(count: int, quiet: bool, what: str) -> Iterator[Callable[[object], None]]:
    """A bar on a terminal; into a file or a pipe a line every ten seconds, with the time that is probably left."""
    if quiet or count < 2:
        yield lambda done: None
        return
    if not sys.stderr.isatty():
        with lines(count, what, EVERY) as step:
            yield step
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=count)
        yield lambda done: bar.advance(task)


@contextmanager
def lines(count: int, what: str, every: float) -> Iterator[Callable[[object], None]]:
    """A line `every` few seconds, also where nothing has been done since the last."""
    import click

    done, begun, over = 0, monotonic(), Event()

    def step(_: object) -> None:
        nonlocal done
        done += 1

    def say() -> None:
        while not over.wait(every):
            click.echo(line(what, done, count, monotonic() - begun), err=True)

    teller = Thread(target=say, daemon=True)
    teller.start()
    try:
        yield step
    finally:
        over.set()
        teller.join()


def line(what: str, done: int, count: int, seconds: float) -> str:
    """How far the run is after some seconds, and how long the rest takes at that speed; the count is an estimate."""
    left, count = "", max(count, done)
    if 0 < done < count:
        rest = seconds * (count - done) / done
        left = f", about {rest:.0f} s to go" if rest < 100 else f", about {rest / 60:.0f} min to go"
    return f"{what}: {done} of {count} done{left}."


@contextmanager
def executor(jobs: int, address: str | None) -> Iterator[Executor | None]:
    """What has the work done by a cluster, if one is named."""
    if address is None:
        yield None
        return
    if jobs:
        raise InputError("--jobs is for the processes of this machine; with --cluster, its workers do the work.")
    from symattn.foundation.crew import cluster

    with cluster(address) as executor:
        yield executor
