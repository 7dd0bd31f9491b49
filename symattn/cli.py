"""The command line: `symattn worksheet`, `derive`, `check`, `grade`, `stress`, `list`.

Everything heavy is imported inside the commands, so that help and completion answer at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click
from click.core import ParameterSource

from symattn import __version__
from symattn.errors import InputError, SymattnError, offered
from symattn.settings import ABOUT

if TYPE_CHECKING:
    from symattn.document import Look, Solutions
    from symattn.explanation import Conventions, Layout, WhichEntries
    from symattn.workers import Kept

NOT_ALL_RIGHT = 1
INPUT_WAS_WRONG = 2
INTERRUPTED = 130  # as a shell has it

HOW_TO_GO_ON = "symattn.how_to_go_on"
"""Where a command leaves in its context what is said after Ctrl-C."""


class _Group(click.Group):
    """Turns every error raised on purpose into one sentence and exit code 2, and says after Ctrl-C how to go on."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except SymattnError as error:
            _refuse(ctx, str(error))
        except KeyboardInterrupt:
            how_to_go_on: Callable[[], str] = ctx.meta.get(HOW_TO_GO_ON, lambda: "")
            click.echo(f"\nInterrupted. {how_to_go_on()}".rstrip(), err=True)
            ctx.exit(INTERRUPTED)
        except BrokenPipeError:  # `symattn derive … | head`
            sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115
            ctx.exit(0)
        except OSError as error:
            if error.filename is not None:
                _refuse(ctx, f"{error.filename} cannot be used: {error.strerror or error}.")
            sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115  (what is left cannot be written either)
            _refuse(ctx, f"The output cannot be written: {error.strerror or error}.")  # `symattn derive … > /dev/full`
        except (MemoryError, RecursionError):
            _refuse(ctx, "This is too large, or nested too deep, to be worked out in the memory that there is.")


def _refuse(ctx: click.Context, sentence: str) -> None:
    click.echo(click.style("Error: ", fg="red", bold=True) + str(SymattnError(sentence)), err=True)
    ctx.exit(INPUT_WAS_WRONG)


def _completing(names: Callable[[], list[str]]) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    return lambda ctx, param, incomplete: [name for name in names() if name.startswith(incomplete)]


def _mechanisms() -> list[str]:
    from symattn.mechanisms import mechanisms

    return list(mechanisms())


def _sources() -> list[str]:
    from symattn.examples import examples

    return [*examples(), *_mechanisms(), *(str(p) for p in Path().glob("*.toml"))]


def _problems() -> list[str]:
    from symattn.problems import problem_types

    return list(problem_types())


def _policies() -> list[str]:
    from symattn.marking.policy import POLICIES

    return list(POLICIES)


def _diagrams() -> list[str]:
    from symattn.explanation import DIAGRAMS

    return list(DIAGRAMS)


def _notations() -> list[str]:
    from symattn.notation import notations

    return list(notations())


def _look_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options that say how pages look, the same for every command."""
    options = [
        click.option("--language", metavar="NAME|FILE", help="en, de, fr, es, zh, or a language file of your own."),
        click.option("--text-size", type=click.Choice(["11", "18", "24"]), help="Points; 18 and 24 are large print."),
        click.option("--paper", type=click.Choice(["a4", "letter"]), help="A4 or US letter."),
        click.option("--spacing", type=click.Choice(["roomy", "compact"]), help="How much space is left."),
        click.option("--decimal-sign", type=click.Choice(["point", "comma"]), help="As the language has it, or this."),
        click.option("--brackets", type=click.Choice(["square", "round"]), help="Of matrices; else the notation's."),
        click.option("--transpose", metavar="SIGN", help="Of transposed matrices: T, ⊤ or ′."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def _layout_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options that say how questions are set, the same for every command."""
    options = [
        click.option("--layout", default="matrix", show_default=True, type=click.Choice(["matrix", "falk", "columns"]),
                     help="Of products: one line, Falk's scheme, or beside the step in two columns."),
        click.option("--conventions", default="full", show_default=True, type=click.Choice(["full", "bare", "none"]),
                     help="The box of conventions: in sentences, in formulas, or left out."),
    ]  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


def _typesetting_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options that say with what templates pages are made; while the command runs, writers use those."""

    @wraps(command)
    def run(*args: Any, templates: Path | None, latex_class: str, **others: Any) -> None:
        from symattn.writers.page import typesetting

        with typesetting(templates, latex_class):
            command(*args, **others)

    return _template_options(run)


def _template_options(command: Callable[..., None]) -> Callable[..., None]:
    options = [
        click.option("--templates", type=click.Path(path_type=Path), metavar="FOLDER",
                     help="Templates of your own; those that are not there are ours."),
        click.option("--latex-class", default="article", show_default=True, metavar="CLASS",
                     help="article or exam, or one that a template of your own is for."),
    ]  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


def _look(settings: dict[str, Any]) -> Look:
    """The look that was asked for; its options are taken out of `settings`."""
    from symattn.presentation import make_look

    return make_look(**_chosen_look(settings))


def _chosen_look(settings: dict[str, Any]) -> dict[str, Any]:
    """The choices of a look, taken out of `settings`."""
    names = ("text_size", "paper", "spacing", "decimal_sign", "brackets", "transpose", "language")
    chosen = {name: settings.pop(name) for name in names}
    return chosen | ({"text_size": int(chosen["text_size"])} if chosen["text_size"] else {})


def _settings_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options that say how a mechanism is worked out, the same for every command."""
    options = [
        *(
            click.option(f"--{name.replace('_', '-')}", name, metavar=metavar, help=words)
            for name, (metavar, words) in ABOUT.items()
            if name not in ("by", "rounding")
        ),
        click.option(
            "--round", "rounding", metavar="P[:HOW[:TIES]]",
            help="Round the weights to P places and go on with them; HOW: nearest, largest-remainder or truncate.",
        ),
        click.option("--by-token", is_flag=True, help="One token after the other."),
        click.option("--by-matrix", is_flag=True, help="Whole matrices, also where the notation goes token by token."),
        click.option("--size", "sizes", metavar="n=3,d_k=4,…", help="Sizes n, m, d_model, d_k, d_v, d_ff, …"),
        click.option(
            "--notation", metavar="NAME|FILE", help="How it is written; see symattn list notations.",
            shell_complete=_completing(_notations),
        ),
    ]  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="symattn")
def main() -> None:
    """Exact transformer attention, step by step: worksheets, answer keys, derivations.

    \b
    symattn worksheet                      a worksheet and its answer key
    symattn worksheet -n 30 --seed 7       thirty different ones, equally hard
    symattn worksheet exam.toml            a whole exam for a class, from one file
    symattn derive note-000                a note worked out, in its own notation
    symattn derive problem.toml            your own numbers
    symattn check note-000 answers.md      somebody's work marked, with follow-through
    symattn grade exam/ submissions/       a whole class: gradebook and feedback sheets
    symattn list                           what there is to choose from
    """


@main.command()
@click.argument("source", default="", metavar="[MECHANISM|EXAM.toml]", shell_complete=_completing(_mechanisms))
@click.option("--problem", default="full", show_default=True, metavar="TYPE", shell_complete=_completing(_problems),
              help="The type of problem; see symattn list problems.")  # fmt: skip
@click.option("-n", "count", default=1, show_default=True, type=click.IntRange(1, 10_000), help="How many.")
@click.option("--seed", type=int, help="The same seed gives the same worksheets; without it, a new one is taken.")
@click.option("--secret", type=click.Path(path_type=Path), metavar="FILE",
              help="For an exam: whoever has not this file cannot make its variants.")  # fmt: skip
@click.option("--level", metavar="LEVEL", help="starter, standard or long.")
@click.option("--softmax", metavar="HOW", help="How weights come out: e, base 2, base 3 (decimals that end), equal.")
@click.option("--option", "options", multiple=True, metavar="NAME=VALUE", help="An option of the problem type.")
@click.option("--format", "forms", default="latex,markdown,pdf", show_default=True, metavar="F,F,…",
              help="latex, markdown, pdf, html, notebook, text, typst, latex-pdf (PDF through TeX).")  # fmt: skip
@click.option("--out", "folder", default="output", show_default=True, type=click.Path(path_type=Path), help="Folder.")
@click.option("--together", is_flag=True, help="All worksheets in one file, all keys in another.")
@click.option("--overview", is_flag=True, help="Besides, all sheets on a page: givens, answers, weights side by side.")
@click.option("--solutions", default="blank,key", show_default=True, metavar="S,S,…",
              help="The files of each: blank, partly (the first row done), worked, key (with marks).")  # fmt: skip
@click.option("--decimal", is_flag=True, help="Ask for decimals, not for exact values.")
@click.option("--places", default=4, show_default=True, type=click.IntRange(0, 50), help="Places of decimals.")
@click.option("--quiet", "-q", is_flag=True, help="Print nothing but errors.")
@_settings_options
@_layout_options
@_look_options
@_typesetting_options
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
    solutions: str,
    decimal: bool,
    places: int,
    quiet: bool,
    layout: Layout,
    conventions: Conventions,
    **settings: Any,
) -> None:
    """Random worksheets, each with its answer key; or a whole exam from one file.

    MECHANISM is self_attention, or attention on the starter level, unless another one is named; see `symattn list
    mechanisms` and `symattn list problems`.  Variants of one set are equally hard, none hides a mistake that the others
    show, and every key is recomputed by a second route before it is written.

    \b
    symattn worksheet --seed 7
    symattn worksheet causal_self_attention -n 30 --seed 7 --size n=4,d_model=5,d_k=4,d_v=2
    symattn worksheet attention --notation note-000 --decimal --places 3
    symattn worksheet --problem masks -n 10 --seed 7
    symattn worksheet exam.toml --secret key.txt
    """
    import secrets

    from symattn.api import make_recipe, stem_of
    from symattn.sheets import check_formats, check_solutions, sheets, write_sheets

    listed = check_formats(_parts(forms))
    look = _look(settings)
    if source.endswith(".toml"):
        _exam(ctx, Path(source), folder, listed, seed, secret, quiet)
        return
    shown = check_solutions(_parts(solutions))
    if source.startswith("note-"):
        raise InputError(f"{source} has numbers of its own: symattn derive {source} --as worksheet (or key).")
    if secret is not None:
        raise InputError("--secret is for exams (symattn worksheet exam.toml); for practice there is --seed.")
    sizes = _sizes(settings.pop("sizes"))
    if sizes and (letters := [s for s in sizes.values() if isinstance(s, str)]):
        raise InputError(f"To draw numbers, sizes must be numbers; {letters[0]!r} is none.")
    chosen = secrets.randbelow(1_000_000) if seed is None else seed
    recipe = make_recipe(
        source, _settings({**settings, "notation": None}), problem=problem, notation=settings.get("notation"),
        sizes=sizes, seed=chosen, level=level, softmax=softmax, exact=False if decimal else None,
        places=None if ctx.get_parameter_source("places") is ParameterSource.DEFAULT else places,
        options=_options(problem, options),
    )  # fmt: skip
    again = "" if seed is not None else f" with --seed {chosen}"
    ctx.meta[HOW_TO_GO_ON] = lambda: f"The same command{again} makes the whole set."
    with _progress(count, quiet, "Worksheets") as step:
        written = write_sheets(
            sheets(recipe, count), folder, listed, stem=stem_of(recipe), together=together, solutions=shown,
            layout=layout, conventions=conventions, look=look, overview=overview, on_sheet=step,
        )  # fmt: skip
    if not quiet:
        for path in written:
            click.echo(path)


def _exam(
    ctx: click.Context, path: Path, folder: Path, forms: tuple[str, ...], seed: int | None, secret: Path | None,
    quiet: bool,
) -> None:  # fmt: skip
    from symattn.dice import Dice
    from symattn.exam import is_exam, read_exam_file, write_exam
    from symattn.exam.deploy import FROZEN

    if not is_exam(path):
        raise InputError(
            f"{path.name} has no [[question]], so it is a problem: symattn derive {path} --as worksheet (or key)."
        )
    stated = [p for p in ctx.params if ctx.get_parameter_source(p) is ParameterSource.COMMANDLINE]
    general = ("source", "seed", "secret", "forms", "folder", "quiet", "templates", "latex_class")
    if foreign := [p for p in ctx.command.params if p.name in stated and p.name not in general]:
        raise InputError(f"{foreign[0].opts[-1]} goes with single worksheets; {_in_exam(foreign[0], path.name)}.")
    if seed is not None and secret is not None:
        raise InputError("--seed and --secret exclude each other.")
    spec = read_exam_file(path)
    dice = Dice.seeded(seed) if seed is not None else Dice.secret(secret) if secret is not None else None
    papers = 1 if all(q.spec.given for q in spec.questions) else spec.variants
    drawn = sum(1 if q.spec.given else spec.variants for q in spec.questions)
    steps = drawn + 1 + len(forms) * (1 + papers + (len(spec.students) or papers)) + bool(spec.students)
    frozen = folder / path.stem / FROZEN

    def how_to_go_on() -> str:
        if frozen.exists():
            return f"The same command continues: {frozen} holds the exam, and pages that are finished stay."
        return "Nothing was written yet; the same command begins anew."

    ctx.meta[HOW_TO_GO_ON] = how_to_go_on
    with _progress(steps, quiet, path.stem) as step:
        exam, written = write_exam(spec, folder / path.stem, forms, dice, step, step)
    if not quiet:
        click.echo(f"{folder / path.stem}: {len(exam.papers)} papers with keys, {len(written)} files.")


_OTHERWISE_IN_EXAMS = {
    "count": "variants", "problem": "type", "decimal": "exact", "by_token": "by", "by_matrix": "by",
}  # fmt: skip
"""What options of worksheets are called in exam files, where it is another name."""


def _in_exam(option: click.Parameter, file: str) -> str:
    """Where an exam file says what an option says of single worksheets."""
    from symattn.exam.spec import HEAD, LOOK, SHARED
    from symattn.problems import Spec

    name = option.name or ""
    key = _OTHERWISE_IN_EXAMS.get(name, name)
    if name == "options":
        return f"in an exam it stands in a [[question]] of {file}, as NAME = VALUE"
    if key in (*HEAD, *LOOK, *SHARED):
        return f"in an exam it stands at the top of {file}, as {key} = …"
    if key in ABOUT or key in Spec.__dataclass_fields__:
        return f"in an exam it stands in a [[question]] of {file}, as {key} = …"
    return "an exam has no such choice"


def _options(problem: str, stated: tuple[str, ...]) -> dict[str, object]:
    """NAME=VALUE as the problem type wants it: a number, true or false, a text, a list with commas."""
    from symattn.problems import problem_type

    known, found = problem_type(problem).options, dict[str, object]()
    for text in stated:
        name, sign, value = text.partition("=")
        if not sign:
            raise InputError(f"--option is {text!r}; NAME=VALUE was expected.")
        kind = type(known[name][0]) if name in known else str
        if kind is bool and value in ("true", "false"):
            found[name] = value == "true"
        elif kind is int and value.removeprefix("-").isdecimal() and len(value) < 10:
            found[name] = int(value)
        elif kind is list:
            found[name] = _listed(value)
        else:
            found[name] = value
    return found


def _listed(value: str) -> list[str]:
    """A list with commas; also as footers print it, ["a", "b"]."""
    return [part for piece in value.strip("[]").split(",") if (part := piece.strip().strip('"'))]


@main.command()
@click.argument("source", metavar="FILE|EXAMPLE|MECHANISM", shell_complete=_completing(_sources))
@click.option("--as-written/--corrected", "as_written", default=False,
              help="A note with its own mistakes, or mended with the mistakes listed (the default).")  # fmt: skip
@click.option("--symbolic", is_flag=True, help="Letters for numbers: every entry named, q_11 = x_11 w_11 + …")
@click.option("--miniature", is_flag=True, help="Small numbers for a note that has shapes only.")
@click.option("--as", "kind", default="derivation", show_default=True,
              type=click.Choice(["derivation", "worksheet", "key"]), help="What to make of it.")  # fmt: skip
@click.option("--solutions", type=click.Choice(["blank", "partly", "worked", "key"]),
              help="Of a worksheet: blank, the first row of each step done, all of it, or all with marks.")  # fmt: skip
@click.option("--diagram", is_flag=False, flag_value="graph", metavar="KIND", shell_complete=_completing(_diagrams),
              help="A figure instead: graph (of the computation; --diagram alone), dot-products, weights, heads, "
                   "blocks or recurrence.")  # fmt: skip
@click.option("--entries", default="auto", show_default=True, metavar="WHICH",
              help="Entries written out: all, first-row, none, chosen ones as 1,1;2,3, or auto.")  # fmt: skip
@click.option("--places", type=click.IntRange(0, 50), help="Places of the decimals beside exact values.")
@click.option("--format", "forms", default="text", show_default=True, metavar="F,F,…",
              help="text, latex, markdown, html, notebook, typst; with --out also pdf and latex-pdf.")  # fmt: skip
@click.option("--out", "folder", type=click.Path(path_type=Path), help="Write files here instead of printing.")
@_settings_options
@_layout_options
@_look_options
@_typesetting_options
def derive(
    source: str,
    as_written: bool,
    symbolic: bool,
    miniature: bool,
    kind: str,
    solutions: Solutions | None,
    diagram: str | None,
    entries: str,
    places: int | None,
    forms: str,
    folder: Path | None,
    layout: Layout,
    conventions: Conventions,
    **settings: Any,
) -> None:
    """A derivation worked out step by step, every entry of every product shown.

    \b
    symattn derive note-002 --as-written
    symattn derive note-000 --notation note-002
    symattn derive self_attention --symbolic --size n=2,d_model=3,d_k=2,d_v=2
    symattn derive problem.toml --format latex,pdf --out output
    symattn derive note-002 --diagram
    """
    from symattn.api import derive as work_out
    from symattn.sheets import check_formats, render, write_documents

    listed = check_formats(_parts(forms))
    look = _look(settings)
    solution = work_out(
        source,
        notation=settings.pop("notation"),
        symbolic=symbolic,
        sizes=_sizes(settings.pop("sizes")),
        corrected=not as_written,
        miniature=miniature,
        entries=_entries(entries),
        places=places,
        layout=layout,
        **_settings(settings),
    )
    if solutions and kind != "worksheet":
        raise InputError("--solutions says what of a worksheet is worked: it goes with --as worksheet.")
    if diagram and kind != "derivation":
        raise InputError("--diagram gives a figure in place of the derivation; it does not go with --as.")
    if diagram:
        document = solution.diagram(diagram)
    elif kind == "derivation":
        document = solution.document
    else:
        shown: Solutions = "key" if kind == "key" else solutions or "blank"
        document = solution.worksheet().document(shown, layout=layout, conventions=conventions)
    document = replace(document, look=look)
    if folder is not None:
        stem = Path(source).stem + ("" if kind == "derivation" else f"-{kind}")
        stem += f"-{solutions}" if solutions and solutions != "blank" else ""
        stem += f"-{diagram}" if diagram else ""
        for path in write_documents([(stem, document)], folder, listed):
            click.echo(path)
        return
    if binary := [form for form in listed if form.endswith("pdf")]:
        raise InputError(f"{binary[0]} is written to a file: say where with --out FOLDER.")
    for form in listed:
        click.echo(render(document, form)[1].decode(), nl=False)


def _marking_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options that say how work is marked, the same for one piece and for a class."""
    options = [
        click.option("--policy", metavar="NAME", shell_complete=_completing(_policies),
                     help="ecf (follow-through everywhere; the default), ib, uk, strict, formative (no marks)."),
        click.option("--scheme", type=click.Path(path_type=Path), metavar="FILE", help="A mark scheme of your own."),
        click.option("--rounding", "decimals", metavar="HOW",
                     help="Decimals that count as rounded: nearest (the default), truncate, largest-remainder."),
        click.option("--precision-mark", is_flag=True, help="Take a mark off, once a question, for wrong rounding."),
        click.option("--decimal-mark", default="auto", show_default=True, type=click.Choice(["auto", ".", ","]),
                     help="What stands before decimals in the answers."),
    ]  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


@main.command()
@click.argument("problem", metavar="PROBLEM", shell_complete=_completing(_sources))
@click.argument("answers", type=click.Path(path_type=Path), metavar="ANSWERS")
@_marking_options
@click.option("--for", "reader", default="student", show_default=True, type=click.Choice(["student", "teacher"]),
              help="Without the key, or with it.")  # fmt: skip
@click.option("--format", "forms", default="text", show_default=True, metavar="F,F,…",
              help="text, markdown, html, latex, typst, json; with --out also pdf and latex-pdf.")  # fmt: skip
@click.option("--out", "folder", type=click.Path(path_type=Path), help="Write files here instead of printing.")
@click.option("--exit-code", is_flag=True, help="End with 1 if not everything is right.")
@click.option("--as-written/--corrected", "as_written", default=False, help="A note with its own mistakes, or mended.")
@_settings_options
@_look_options
@_template_options
@click.pass_context
def check(
    ctx: click.Context,
    /,
    problem: str,
    answers: Path,
    policy: str | None,
    scheme: Path | None,
    decimals: str | None,
    precision_mark: bool,
    decimal_mark: str,
    reader: str,
    forms: str,
    folder: Path | None,
    exit_code: bool,
    as_written: bool,
    templates: Path | None,
    latex_class: str,
    **settings: Any,
) -> None:
    """Mark somebody's work, entry by entry, with follow-through and every mistake named.

    PROBLEM is an example or a problem file, a worksheet (Markdown or notebook), the .json beside a set of worksheets,
    or an exam's folder.  ANSWERS is the worksheet filled in (Markdown or notebook, whose code is read and never run),
    or TOML, JSON, CSV, LaTeX.

    \b
    symattn check note-000 answers.md
    symattn check problem.toml answers.toml --for teacher --policy ib
    symattn check output/midterm answers.md --format pdf --out marked
    """
    if settings.pop("sizes") is not None:
        raise InputError("--size is for what is drawn; the problem has the sizes that it has.")
    job = {
        "folder": str(Path.cwd()),
        "problem": problem,
        "answers": str(answers),
        "look": _chosen_look(settings),
        "terms": {
            "policy": policy,
            "scheme": str(scheme) if scheme else None,
            "rounding": decimals,
            "precision_mark": precision_mark,
            "decimal_mark": decimal_mark,
        },
        "worked_out": {
            "notation": settings.pop("notation"),
            "corrected": not as_written,
            "settings": _settings(settings),
        },
        "reader": reader,
        "forms": _parts(forms),
        "out": str(folder) if folder else None,
        "templates": str(templates) if templates else None,
        "latex_class": latex_class,
    }
    marked = _in_checker(job)
    for path in marked["written"]:
        click.echo(path)
    for text in marked["texts"]:
        click.echo(text, nl=False)
    if exit_code and not marked["right"]:
        ctx.exit(NOT_ALL_RIGHT)


def _in_checker(job: dict[str, Any]) -> dict[str, Any]:
    """What the process that marks says about one piece of work; it is kept for the next."""
    from symattn.workers import LostError

    try:
        marked: dict[str, Any] = _checker().ask(job)
    except LostError as lost:
        raise InputError(f"{job['answers']}: {lost}") from lost
    if "error" in marked:
        raise InputError(marked["error"])
    return marked


CHECK_SECONDS = 60
"""Of processor time, for one student's work."""


@cache
def _checker() -> Kept:
    from symattn.workers import Kept, command

    return Kept(command("symattn.checker"), CHECK_SECONDS)


@main.command()
@click.argument("exam", metavar="EXAM", type=click.Path(path_type=Path))
@click.argument("submissions", metavar="SUBMISSIONS", type=click.Path(path_type=Path))
@_marking_options
@click.option("--for", "reader", default="student", show_default=True,
              type=click.Choice(["student", "teacher", "both"]),
              help="Sheets without the key, with it, or both.")  # fmt: skip
@click.option("--format", "forms", default="pdf", show_default=True, metavar="F,F,…",
              help="Of the sheets and the summary: pdf, markdown, html, latex, text, typst, latex-pdf.")  # fmt: skip
@click.option("--out", "folder", type=click.Path(path_type=Path), help="Folder; without it output/<exam>-marked.")
@click.option("--jobs", default=0, metavar="N", type=click.IntRange(0, 256),
              help="How many processes; without it, one for each processor.")  # fmt: skip
@click.option("--quiet", "-q", is_flag=True, help="Print nothing but errors.")
@_look_options
@_typesetting_options
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
    from symattn.grading.checking import READERS
    from symattn.grading.record import counted
    from symattn.reports import Reader
    from symattn.sheets import check_formats

    listed = check_formats(_parts(forms))
    out = folder or Path("output", f"{_exam_name(exam)}-marked")
    readers = READERS if reader == "both" else (cast(Reader, reader),)
    ctx.meta[HOW_TO_GO_ON] = lambda: "The same command continues: what has been marked is kept."
    book = mark(
        exam, submissions, out=out, policy=policy, scheme=scheme, rounding=decimals, precision_mark=precision_mark,
        decimal_mark=decimal_mark, forms=listed, look=_look(look), readers=readers, jobs=jobs,
        progress=lambda count: _progress(count, quiet, "Submissions"),
    )  # fmt: skip
    if not quiet:
        for row in book.rows:
            if row.status == "broken":
                click.echo(f"broken: {row.file}: {row.reason}")
        click.echo(f"{out}: {', '.join(counted(book.rows))}; {len(book.written)} files.")


def _exam_name(exam: Path) -> str:
    from symattn.exam.deploy import FROZEN

    return exam.resolve().parent.name if exam.name == FROZEN else exam.resolve().stem


def _parts(text: str) -> list[str]:
    """latex, pdf → ["latex", "pdf"]."""
    return [part.strip() for part in text.split(",") if part.strip()]


@main.command("stress")
@click.argument("problem", metavar="TYPE", shell_complete=_completing(_problems))
@click.option("-n", "count", default=200, show_default=True, type=click.IntRange(1, 100_000), help="How many variants.")
@click.option("--seed", type=int, default=1, show_default=True, help="The same seed gives the same variants.")
@click.option("--mechanism", default="", metavar="NAME", shell_complete=_completing(_mechanisms))
@click.option("--level", metavar="LEVEL", help="starter, standard or long.")
@click.option("--softmax", metavar="HOW", help="How weights come out: e, base 2, base 3 (decimals that end), equal.")
@click.option("--option", "options", multiple=True, metavar="NAME=VALUE", help="An option of the problem type.")
@click.option("--marking", is_flag=True, help="Mark a script for every misconception, and say what is found.")
@click.option("--format", "form", default="text", show_default=True, help="text, markdown, html, latex or typst.")
@_settings_options
@_typesetting_options
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
    **settings: Any,
) -> None:
    """Try a problem type many times before you set it: times, spread, duplicates, collisions, guessable answers.

    \b
    symattn stress full -n 30
    symattn stress full --mechanism attention -n 1000 --seed 7
    symattn stress full --marking -n 20
    """
    from symattn.api import make_recipe
    from symattn.dice import Dice
    from symattn.sheets import check_formats, render
    from symattn.stress import stress
    from symattn.trial import trial

    [form] = check_formats([form])
    if form.endswith("pdf"):
        raise InputError(f"The report is text; {form} is none.")
    recipe = make_recipe(
        mechanism, _settings({**settings, "sizes": None, "notation": None}), problem=problem, seed=seed,
        notation=settings["notation"], sizes=_sizes(settings["sizes"]), level=level, softmax=softmax,
        options=_options(problem, options),
    )  # fmt: skip
    with _progress(count, False, problem) as step:
        dice = Dice.seeded(seed)
        report = trial(recipe.spec, count, dice, step) if marking else stress(recipe.spec, count, dice, step)
    click.echo(render(report.document(), form)[1].decode(), nl=False)


@main.command("list")
@click.argument("what", required=False, metavar="[WHAT]")
@click.argument("name", required=False, metavar="[NAME]")
def list_(what: str | None, name: str | None) -> None:
    """What there is: mechanisms, settings, problems, options, misconceptions, policies, notations, examples, formats, …

    \b
    symattn list settings                  what can be said of a mechanism, and which mechanisms have it
    symattn list options                   what can be said of a problem type
    symattn list mechanism layer_norm      its givens, settings and steps, with an example
    symattn list problem masks             the same of a problem type
    """
    catalogues = _catalogues()
    if what in DESCRIBED:
        if name is None:
            raise InputError(f"symattn list {what} NAME describes one; symattn list {what}s names them all.")
        click.echo(_described(what, name))
        return
    if name is not None:
        raise InputError(f"A single one is described of {', '.join(DESCRIBED)}, as in symattn list mechanism {name}.")
    if what is not None and what not in catalogues:
        raise InputError(f"There is no list of {what!r}; {offered(what, catalogues)}")
    for name in [what] if what else catalogues:
        rows = catalogues[name]()
        if not what:
            click.secho(name, bold=True)
        longest = max(len(key) for key in rows)
        for key, title in rows.items():
            click.echo(f"  {key.ljust(longest)}  {title}".rstrip())


DESCRIBED = ("mechanism", "problem")


def _described(what: str, name: str) -> str:
    from symattn.description import describe
    from symattn.mechanisms import mechanism
    from symattn.problems import problem_type

    if what == "problem":
        return str(describe(problem_type(name).name))
    return str(describe(name if name == "custom" else mechanism(name).name))


@main.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of a shell.

    \b
    symattn completion bash >> ~/.bashrc
    """
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(main, {}, "symattn", "_SYMATTN_COMPLETE").source())


def _catalogues() -> dict[str, Callable[[], Mapping[str, str]]]:
    def mechanisms() -> Mapping[str, str]:
        from symattn.mechanisms import mechanisms as found

        return {m.name: m.title for m in found().values()}

    def settings() -> Mapping[str, str]:
        from symattn.mechanisms import mechanisms as found
        from symattn.mechanisms.base import NOT_OF_ALL

        having = {name: ", ".join(m.name for m in found().values() if name in m.uses) for name in NOT_OF_ALL}
        return {name: words + (f" [{having[name]}]" if name in having else "") for name, (_, words) in ABOUT.items()}

    def problems() -> Mapping[str, str]:
        from symattn.problems import problem_types

        return {p.name: p.title for p in problem_types().values()}

    def options() -> Mapping[str, str]:
        from symattn.problems import problem_types
        from symattn.sheets import option_text

        return {
            f"{t.name}: {name}={option_text(default)}": word
            for t in problem_types().values()
            for name, (default, word) in t.options.items()
        }

    def misconceptions() -> Mapping[str, str]:
        from symattn.misconceptions import COUNTING
        from symattn.misconceptions import misconceptions as found

        return {m.id: m.name for m in found().values()} | {m.id: m.name for m in COUNTING.values()}

    def policies() -> Mapping[str, str]:
        from symattn.marking.policy import POLICIES

        return {policy.name: policy.title.partition(": ")[2] for policy in POLICIES.values()}

    def notations() -> Mapping[str, str]:
        from symattn.notation import load_notation

        return {name: load_notation(name).title for name in _notations()}

    def examples() -> Mapping[str, str]:
        from symattn.examples import examples as found
        from symattn.examples import load_example

        return {name: load_example(name).title for name in found()}

    def formats() -> Mapping[str, str]:
        from symattn.sheets import formats as found
        from symattn.writers import FORMATS

        through = {"pdf": "PDF/A-2a and PDF/UA-1, without TeX.", "latex-pdf": "PDF through TeX."}
        return {form: through.get(form) or _about(FORMATS[form]) for form in found()}

    def languages() -> Mapping[str, str]:
        from symattn.languages import catalogue
        from symattn.languages import languages as found

        return {code: catalogue(code).name for code in found()}

    def diagrams() -> Mapping[str, str]:
        from symattn.explanation import DIAGRAMS

        return {kind: _about(make) for kind, make in DIAGRAMS.items()}

    def ops() -> Mapping[str, str]:
        from symattn.ops import OPS

        return {name: _about(op) for name, op in OPS.items()}

    return {
        "mechanisms": mechanisms,
        "settings": settings,
        "problems": problems,
        "options": options,
        "misconceptions": misconceptions,
        "policies": policies,
        "notations": notations,
        "examples": examples,
        "formats": formats,
        "languages": languages,
        "diagrams": diagrams,
        "ops": ops,
    }


def _about(thing: object) -> str:
    """The first line of what is said of it where it is defined."""
    return (thing.__doc__ or "").strip().split("\n")[0]


def _settings(given: dict[str, Any]) -> dict[str, Any]:
    """The settings that were named on the command line."""
    by_token, by_matrix, rounding = (given.pop(key) for key in ("by_token", "by_matrix", "rounding"))
    settings = {key: value for key, value in given.items() if value is not None}
    if by_token and by_matrix:
        raise InputError("--by-token and --by-matrix exclude each other.")
    if by_token or by_matrix:
        settings["by"] = "token" if by_token else "matrix"
    if rounding is not None:
        parts = rounding.split(":")
        places, method, ties = (*parts, "", "")[:3]
        if not places.isdecimal() or len(places) > 3 or len(parts) > 3:
            raise InputError(f"--round is {rounding!r}; places such as 2, or 1:largest-remainder, were expected.")
        settings["rounding"] = {"places": int(places), "method": method or "nearest", "ties": ties or "even"}
    return settings


def _sizes(text: str | None) -> dict[str, int | str] | None:
    """n=3,d_k=d → {"n": 3, "d_k": "d"}."""
    if text is None:
        return None
    from symattn.mechanisms import mechanisms

    known = dict.fromkeys(letter for chosen in mechanisms().values() for letter in chosen.letters)
    sizes: dict[str, int | str] = {}
    for part in text.split(","):
        name, sign, size = (p.strip() for p in part.partition("="))
        if sign and size and name not in known:
            raise InputError(f"There is no size {name!r}; {offered(name, known, 'the sizes are {}')}")
        if not sign or not size:
            raise InputError(
                f"--size has {part!r}; something like n=3,d_model=5,d_k=4,d_v=2 was expected, the sizes being "
                f"{', '.join(known)}."
            )
        if size.isdecimal():
            if len(size) > 9 or not 1 <= int(size) <= 10_000:
                raise InputError(f"--size has {part!r}; a size is from 1 to 10000.")
            sizes[name] = int(size)
        elif size.isidentifier() and len(size) <= 12:
            sizes[name] = size
        else:
            raise InputError(f"--size has {part!r}; a size is a number from 1 or a letter.")
    return sizes


def _entries(text: str) -> WhichEntries:
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


@contextmanager
def _progress(count: int, quiet: bool, what: str) -> Iterator[Callable[[object], None]]:
    """A bar on the terminal; nothing where nobody looks."""
    if quiet or count < 2 or not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=count)
        yield lambda done: progress.advance(task)
