"""Reference descriptions of mechanisms and problem types: givens, settings, steps, and an example to copy.

Nothing is said twice: shapes and settings are the mechanism's own, the steps those of its derivation in letters, the
words those that stand where it is defined, and the example has numbers that it draws itself.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import combinations
from random import Random
from textwrap import indent

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms import Mechanism, Settings, kept_mechanism, mechanism, mechanisms
from symattn.derivation.mechanisms.settings import NOT_OF_ALL, UNSET, layered
from symattn.derivation.settings import ABOUT
from symattn.errors import InputError, offered
from symattn.exact import Matrix, Size, values_of
from symattn.page.notation import load_notation
from symattn.page.writers.characters import on_one_line, wrapped
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.fairness.draw import draw
from symattn.teaching.problem import OF_CUSTOM
from symattn.teaching.problems import ProblemType, problem_type, problem_types
from symattn.teaching.problems.draws import changed

WIDTH = 100
SEED = 7

PROBES: Mapping[str, tuple[object, ...]] = {
    "scale": ("none", 3), "mask": ("none", "causal", "window:1"), "base": (2, 3), "orientation": ("columns", "rows"),
    "activation": ("relu", "identity"), "order": ("KVQ", "QKV"), "rounding": ({"places": 2}, {"places": 3}),
    "mask_style": ("additive", "keep"),
}  # fmt: skip
"""Values of each setting that every mechanism takes: a mechanism has it where they do not all lead to the same."""

WITH: Mapping[str, Mapping[str, object]] = {"mask_style": {"mask": "causal"}}
"""What a setting says something about, and is nothing without."""

INDEPENDENT = ("arithmetic", "stop_at")
"""The settings that change no step, and that every mechanism has."""


@dataclass(frozen=True)
class Given:
    """A matrix to start from: its shape in letters, such as n × h·d_k."""

    name: str
    shape: tuple[str, str]
    optional: bool = False


@dataclass(frozen=True)
class Setting:
    """What may be said: its default, what it takes, and what it does."""

    name: str
    default: str
    values: str
    about: str


@dataclass(frozen=True)
class DescribedStep:
    """A line of the derivation: its name in Python, its shape in letters, and what it computes, as a formula."""

    name: str
    shape: tuple[str, str]
    computes: str


@dataclass(frozen=True)
class Example:
    """A program in Python and a command for the shell; both run as they are."""

    python: str
    shell: str


@dataclass(frozen=True, repr=False)
class Description:
    """What `describe` gives; printed, it is a page to read."""

    name: str
    title: str
    about: str
    givens: tuple[Given, ...]
    settings: tuple[Setting, ...]
    steps: tuple[DescribedStep, ...]
    example: Example
    sizes: Mapping[str, int] = field(default_factory=dict)
    """Those that had to be numbers for there to be steps, as where positions are counted."""

    def __str__(self) -> str:
        return "\n".join(_page(self))

    def __repr__(self) -> str:
        return str(self)


def describe(name: str) -> Description:
    """What a mechanism starts from, what can be set, its steps in order, and an example; a problem type likewise.

    A mechanism may be that of a file, `additive.toml`.

    Shapes are in letters, for tokens as rows; a size that has to be a number for there to be steps is one in `steps`.
    Settings that change no step are left out.  `InputError` names the nearest mechanism or problem type, if there is
    none of that name.

    >>> describe("rms_norm").givens[0], [step.name for step in describe("rms_norm").steps]
    (Given(name='X', shape=('n', 'd_model'), optional=False), ['N_ms', 'N_hat', 'N'])
    """
    plain = name.replace("-", "_") if isinstance(name, str) else name
    if isinstance(name, str) and name.endswith(".toml"):
        return _of_mechanism(kept_mechanism(name))
    if plain in mechanisms():
        return _of_mechanism(plain)
    if plain == "custom":
        return _of_custom()
    if name in problem_types():
        return _of_problem(problem_type(name))
    known = (*mechanisms(), "custom", *problem_types())
    raise InputError(f"There is no mechanism or problem type {name!r}; {offered(name, known, see='symattn list')}")


# ------------------------------------------------------------------------------------------------ mechanisms


@cache
def _of_mechanism(name: str) -> Description:
    chosen = mechanism(name)
    settings = Settings.read(chosen.defaults)
    shapes = {**chosen.givens, **chosen.optional}
    d, sizes = in_letters(chosen, settings)
    example = _of_file(chosen) if chosen.name != name else _python(chosen)
    return Description(
        chosen.name,
        chosen.title,
        _about(sys.modules.get(f"symattn.derivation.mechanisms.{name}")),
        tuple(Given(one, (_size(r), _size(c)), one in chosen.optional) for one, (r, c) in shapes.items()),
        tuple(_setting(one, settings) for one in settings_of(name)),
        tuple(_steps(d)),
        Example(example, f"symattn worksheet {chosen.name} --seed {SEED} --format markdown"),
        sizes,
    )


def in_letters(chosen: Mechanism, settings: Settings) -> tuple[Derivation, dict[str, int]]:
    """The derivation with sizes as letters, and those that had to be numbers: as few as possible."""
    refused: list[InputError] = []
    for count in range(len(chosen.letters) + 1):
        for fixed in combinations(chosen.letters, count):
            numbers = {letter: chosen.default_sizes.get(letter, 2) for letter in fixed}
            sizes: dict[str, Size] = {letter: numbers.get(letter, letter) for letter in chosen.letters}
            try:
                return chosen.run(chosen.symbolic(sizes, settings), settings, staged=True), numbers
            except InputError as error:
                refused.append(error)
    raise refused[-1]


@cache
def settings_of(name: str) -> tuple[str, ...]:
    """The settings that a mechanism has, in the order in which they are listed for all."""
    chosen = mechanism(name)
    settings = Settings.read(chosen.defaults)
    general = (one for one in ABOUT if one not in NOT_OF_ALL and one not in INDEPENDENT)
    own = {one for one in general if _matters(chosen, settings, one)}
    return tuple(one for one in ABOUT if one in chosen.uses or one in INDEPENDENT or one in own)


def refuse_idle(name: str, stated: Mapping[str, object]) -> None:
    """`InputError` for a setting that changes no step of a mechanism: it would be passed over in silence."""
    if idle := [one for one in changed(stated) if one not in settings_of(name)]:
        raise InputError(f"{name} has no setting {idle[0]!r}; {offered(idle[0], settings_of(name), 'its own are {}')}")


def _matters(chosen: Mechanism, settings: Settings, name: str) -> bool:
    """Whether a setting changes a step, with all usual givens or without one: where weights are given, no mask is seen.

    One that is asked for more than letters have does matter.
    """
    given = {one: getattr(settings, one) for one in chosen.defaults}
    probed = [Settings.read(layered(given, WITH.get(name, {}), {name: probe})) for probe in PROBES[name]]
    try:
        if _differ(chosen, probed):
            return True
    except InputError:
        return True
    for left_out in chosen.usual:
        with suppress(InputError):  # without a gradient of the output there is no way back
            if _differ(replace(chosen, usual=tuple(name for name in chosen.usual if name != left_out)), probed):
                return True
    return False


def _differ(chosen: Mechanism, probed: Sequence[Settings]) -> bool:
    """Whether some of these settings lead to other steps than the first."""
    first, *others = (_program(chosen, one) for one in probed)
    return any(other != first for other in others)


def _program(chosen: Mechanism, settings: Settings) -> object:
    return [(step.name, step.op, step.operands) for step in in_letters(chosen, settings)[0]]


def _setting(name: str, settings: Settings) -> Setting:
    words, default = ABOUT[name], getattr(settings, name)
    return Setting(name, UNSET[name] if default in (None, "") else str(default), words.values, words.about)


def _steps(d: Derivation) -> Iterator[DescribedStep]:
    wording = Wording(d, load_notation("standard"))
    for step in d:
        rows, columns = step.result.shape
        written = f"{on_one_line(wording.name(step.name))} = {on_one_line(wording.rule(step))}"
        yield DescribedStep(step.name, (_size(rows), _size(columns)), written)


def _python(chosen: Mechanism) -> str:
    """A call of `derive` with numbers that the mechanism draws, and its output."""
    spec = problem_type("full").spec({"mechanism": chosen.name})
    settings, own = spec.chosen_settings(), Settings.read(chosen.defaults)
    sizes, rng = spec.chosen_sizes(), Random(SEED)
    drawn = chosen.draw(settings, sizes, rng) if chosen.draw else draw(chosen, settings, sizes, rng).givens
    givens = {name: values_of(m) for name, m in drawn.items()}
    stated = [name for name in ABOUT if getattr(settings, name) != getattr(own, name)]
    lines = [f"{name}={_rows(m)}" for name, m in givens.items() if name.isidentifier()]
    if others := [f'    "{name}": {_rows(m)},' for name, m in givens.items() if not name.isidentifier()]:
        lines.append("\n".join(["**{", *others, "}"]))
    return _call([f'"{chosen.name}"', *lines, *(f"{name}={_literal(getattr(settings, name))}" for name in stated)])


def _of_file(chosen: Mechanism) -> str:
    """A worksheet of a mechanism that stands in a file, and what is asked on it."""
    return (
        f'import symattn\n\n[sheet] = symattn.worksheet("{chosen.name}", seed={SEED})\n'
        "print([part.name for part in sheet.question.parts])\n"
    )


def _call(arguments: Sequence[str]) -> str:
    inside = indent("".join(f"{argument},\n" for argument in arguments), "    ")
    return f"import symattn\n\nd = symattn.derive(\n{inside})\nprint(d.output)\n"


def _rows(m: Matrix) -> str:
    return "[" + ", ".join("[" + ", ".join(map(_literal, row)) + "]" for row in m.rows) + "]"


def _size(size: Size) -> str:
    """h*d_k, as it is read: h·d_k."""
    return str(size).replace("*", "·")


def _about(module: object) -> str:
    """What a module says of itself, each paragraph on one line."""
    paragraphs = (getattr(module, "__doc__", "") or "").strip().split("\n\n")
    return "\n\n".join(p if p.startswith("    ") else " ".join(p.split()) for p in paragraphs)


def _literal(x: object) -> str:
    """A number or a text as it is written in Python."""
    return str(x) if isinstance(x, int) else json.dumps(str(x), ensure_ascii=False)


# ------------------------------------------------------------------------------------------------ steps of one's own


def _of_custom() -> Description:
    from symattn.derivation.mechanisms import custom

    steps = """steps=[
    {"name": "S", "op": "matmul", "of": ["Q", "K^T"]},
    {"name": "A", "op": "softmax", "of": ["S"], "base": 2},
]"""
    return Description(
        "custom",
        "Steps of your own",
        _about(custom),
        (),
        tuple(_setting(name, Settings()) for name in ABOUT if name in OF_CUSTOM),
        (),
        Example(_call(['"custom"', steps, "Q=[[1, 0]]", "K=[[1, 0], [0, 1]]"]), "symattn list ops"),
    )


# ------------------------------------------------------------------------------------------------ problem types


def _of_problem(chosen: ProblemType) -> Description:
    asked = {"text": "Why do the rows of A sum to 1?", "lines": 4} if chosen.fixed else {}
    stated = f", options={asked}" if asked else ""
    call = f'[sheet] = symattn.worksheet(problem="{chosen.name}", seed={SEED}{stated})'
    options = "".join(f" --option '{name}={value}'" for name, value in asked.items())
    return Description(
        chosen.name,
        chosen.title,
        "",
        (),
        tuple(_option(name, default, about) for name, (default, about, *_) in chosen.options.items()),
        (),
        Example(
            f"import symattn\n\n{call}\nprint(sheet.key.title)\n",
            f"symattn worksheet --problem {chosen.name}{options} --seed {SEED} --format markdown",
        ),
    )


def _option(name: str, default: object, about: str) -> Setting:
    kind = {bool: "true or false", int: "a whole number", str: "a text", list: "a list"}[type(default)]
    return Setting(name, default if isinstance(default, str) else json.dumps(default), kind, about)


# ------------------------------------------------------------------------------------------------ on a page


def _page(d: Description) -> Iterator[str]:
    yield f"{d.name}: {d.title}"
    for paragraph in filter(None, d.about.split("\n\n")):
        yield from ("", *wrapped(paragraph, WIDTH))
    rows = [(g.name, " × ".join(g.shape), "may be left out" if g.optional else "") for g in d.givens]
    yield from _table("Givens", rows)
    rows = [(s.name, s.default, s.about) for s in d.settings]
    yield from _table("Settings", rows)
    where = ", ".join(f"{letter} = {size}" for letter, size in d.sizes.items())
    yield from _table(
        f"Steps, for {where}" if where else "Steps", [(s.name, " × ".join(s.shape), s.computes) for s in d.steps]
    )
    yield from ("", "Example", "")
    yield from (f"    {line}".rstrip() for line in d.example.python.splitlines())
    yield from ("", f"    {d.example.shell}")


def _table(title: str, rows: Sequence[tuple[str, str, str]]) -> Iterator[str]:
    """Rows of three cells, the last of which may go on over lines."""
    if not rows:
        return
    first, second = (max(len(row[k]) for row in rows) for k in (0, 1))
    yield from ("", title)
    for name, what, rest in rows:
        begin = f"  {name.ljust(first)}  {what.ljust(second)}  "
        lines = wrapped(rest, WIDTH, begin, " " * len(begin)) if rest else [begin]
        yield from (line.rstrip() for line in lines)
