"""What a set of worksheets is made from: as the command that stands in the footer of its keys, and read back from it.

Nothing is run: the words of a command are told apart as a POSIX shell would, and every option is looked up.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from symattn.derivation.mechanisms import Settings, mechanism, mechanisms, typed_sizes
from symattn.derivation.mechanisms.settings import INSTEAD
from symattn.derivation.settings import ABOUT, typed_rounding
from symattn.errors import InputError, nearest, offered
from symattn.exact import Matrix
from symattn.page.notation import load_notation
from symattn.page.presentation import CHOICES
from symattn.teaching.problems import Spec, problem_type, problem_types
from symattn.teaching.question import Json


@dataclass(frozen=True)
class Recipe:
    """Everything a set of worksheets is made from: the same recipe gives the same bytes.

    Of the parts those are asked that `ask` names (all, where it names none); some of them may have other `marks`.
    """

    spec: Spec
    seed: int = 1
    ask: tuple[str, ...] = ()
    marks: Mapping[str, int] = field(default_factory=dict)

    def command(self) -> str:
        """The command that makes the same again; it stands in the footer of every key."""
        return " ".join(["symattn worksheet", self.spec.mechanism, *self._options(), f"--seed {self.seed}"])

    @property
    def stem(self) -> str:
        """What its files are called: after the type, and after the mechanism unless its questions are all the same."""
        kind = "" if self.spec.type == "full" else self.spec.type
        of = "" if problem_type(self.spec.type).mechanisms else Path(self.spec.mechanism).stem.replace("_", "-")
        return "-".join(filter(None, (kind, of, str(self.seed))))

    def _options(self) -> Iterator[str]:
        spec = self.spec
        stated: list[tuple[str, object, object]] = [
            ("problem", spec.type, "full"),
            ("level", spec.level, "standard"),
            ("softmax", spec.softmax, "e"),
            *(("option", f"{name}={option_text(value)}", "") for name, value in spec.options.items()),
            ("size", _with_numbers(spec.sizes), ""),
            ("notation", spec.notation, "standard"),
            ("decimal", not spec.exact, False),
            ("places", spec.places, 4),
            ("ask", ",".join(self.ask), ""),
            ("marks", _with_numbers(self.marks), ""),
        ]
        yield from self._settings()
        yield from (option(name, value) for name, value, usual in stated if value != usual)

    def _settings(self) -> Iterator[str]:
        """The options for settings that are not what the mechanism and the notation have anyhow."""
        spec, settings = self.spec, self.spec.chosen_settings()
        chosen, defaults = mechanism(spec.mechanism), Settings()
        preset = {**chosen.defaults, **chosen.layout(load_notation(spec.notation).settings)}
        if spec.softmax.startswith("base"):
            preset["base"] = settings.base
        for name in (name for name in ABOUT if name not in ("by", "rounding")):
            value = getattr(settings, name)
            if value == preset.get(name, getattr(defaults, name)) and not (name in INSTEAD and name in spec.settings):
                continue
            rows: Any = value.rows if isinstance(value, Matrix) else value
            if isinstance(rows, list | tuple):
                value = json.dumps([[int(x) for x in row] for row in rows])
            yield option(name, str(value))
        if settings.by != preset.get("by", "matrix"):
            yield f"--by-{settings.by}"
        if rounding := settings.rounding:
            ties = f":{rounding.ties}" if rounding.ties != "even" else ""
            yield f"--round {rounding.places}:{rounding.method}{ties}"


def _with_numbers(stated: Mapping[str, int]) -> str:
    """n=3,d_k=4"""
    return ",".join(f"{name}={number}" for name, number in stated.items())


def option(name: str, value: object) -> str:
    """An option of the command line; one that is True takes no value."""
    said = f"--{name.replace('_', '-')}"
    return said if value is True else f"{said} {_shell(str(value))}"


def option_text(value: Json) -> str:
    """An option's value as it is typed: true, 3, a text."""
    return value if isinstance(value, str) else json.dumps(value)


def _shell(text: str) -> str:
    plain = all(c.isalnum() or c in "_-.:/,=" for c in text)
    return text if text and plain else "'" + text.replace("'", "'\\''") + "'"


# ------------------------------------------------------------------------------------------------ as it is typed
# In commands, and in recipes that are read back.


def typed_options(problem: str, stated: Iterable[str]) -> dict[str, Json]:
    """NAME=VALUE as the problem type wants it: a number, true or false, a text, a list with commas."""
    known, options = problem_type(problem).options, dict[str, Json]()
    for text in stated:
        name, sign, value = text.partition("=")
        if not sign:
            raise InputError(f"--option is {text!r}; NAME=VALUE was expected.")
        kind = type(known[name][0]) if name in known else str
        if kind is bool and value in ("true", "false"):
            options[name] = value == "true"
        elif kind is int and value.removeprefix("-").isdecimal() and len(value) < 10:
            options[name] = int(value)
        elif kind is list:
            options[name] = _typed_list(value)
        else:
            options[name] = value
    return options


def _typed_list(value: str) -> list[Json]:
    """A list with commas; also as footers print it, ["a", "b"]."""
    if value.startswith("[") != value.endswith("]"):
        raise InputError(f"--option has the list {value}; one such as a,b was expected.")
    return [part for piece in value.strip("[]").split(",") if (part := piece.strip().strip('"'))]


def typed_marks(text: str) -> dict[str, int]:
    """S=5,A=4 → {"S": 5, "A": 4}."""
    marks: dict[str, int] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        name, sign, number = (p.strip() for p in part.partition("="))
        if not (sign and name and number.isdecimal() and len(number) <= 4 and 1 <= int(number) <= 1000):
            raise InputError(f"--marks has {part!r}; something like S=5,A=4 was expected, each from 1 to 1000.")
        marks[name] = int(number)
    return marks


# ------------------------------------------------------------------------------------------------ recipes read back

_COMMAND = ("symattn", "worksheet")
_NUMBER = re.compile(r" \(sheet (\d{1,7})\)$")
"""As sheets were numbered before -n said it."""
_COUNT = re.compile(r"0*[1-9]\d{0,5}")
_SETTINGS = tuple(name.replace("_", "-") for name in ABOUT if name not in ("by", "rounding"))
_PAGES = ("layout", "conventions", "latex-class", "language", *(name.replace("_", "-") for name in CHOICES))
"""How pages look: no question is another one for it."""
_FLAGS = ("by-token", "by-matrix", "decimal", "together", "overview", "fillable", "recipe")
_OTHERS = (
    "round", "problem", "level", "softmax", "option", "size", "notation", "places", "ask", "marks", "seed", *_PAGES,
)  # fmt: skip


def read_recipe(text: str) -> tuple[Recipe, int]:
    """The recipe of a footer and the number of the sheet, from 1; `InputError` if the text is none.

    >>> read_recipe("symattn worksheet attention --level starter --seed 5 -n 2")[1]
    2
    """
    numbered = _NUMBER.search(text)
    with _read_as(text, "a recipe that this version of symattn writes"):
        mechanism, stated = _stated(shlex.split(text[: numbered.start()] if numbered else text))
        return _recipe(mechanism, stated), int(numbered[1] if numbered else stated.get("n", ["1"])[-1])


def read_unnumbered(text: str, seed: int) -> Recipe:
    """A recipe as people write it, without the command and a seed: `attention --level starter`; `InputError` if it is
    none."""
    with _read_as(text, "a recipe"):
        mechanism, stated = _stated([*_COMMAND, *shlex.split(text)])
        if not {"seed", "n"}.isdisjoint(stated):
            raise ValueError("leave out --seed and -n: every sheet is drawn afresh")
        if not (mechanism or "problem" in stated):
            raise ValueError("a mechanism or --problem was expected")
        return _recipe(mechanism, {**stated, "seed": [str(seed)]})


@contextmanager
def _read_as(text: str, what: str) -> Iterator[None]:
    """`InputError` for words that cannot be told apart, and for an option or a number that is none."""
    try:
        yield
    except (ValueError, KeyError) as error:
        said = str(error)
        raise InputError(f"{text!r} is not {what}: {said}{'' if said.endswith(('.', '?')) else '.'}") from error


def _stated(words: list[str]) -> tuple[str, dict[str, list[str]]]:
    """The mechanism, and every option with all its values: as --name value, or --name=value."""
    if tuple(words[:2]) != _COMMAND:
        raise ValueError("symattn worksheet MECHANISM and options were expected")
    rest = iter(words[2:])
    mechanism, stated = "", dict[str, list[str]]()
    for word in rest:
        name, equals, value = word.removeprefix("--").partition("=")
        if not word.startswith("-") and not mechanism:
            mechanism = word
        elif word.startswith("--") and name in _FLAGS and not equals:
            stated[name] = []
        elif word == "-n":
            stated["n"] = [_counted(_value(rest, word))]
        elif word.startswith("--") and name in (*_SETTINGS, *_OTHERS):
            stated.setdefault(name, []).append(value if equals else _value(rest, word))
        else:
            known = [f"--{one}" for one in (*_SETTINGS, *_FLAGS, *_OTHERS)]
            near = f"; {offered(word, known)}" if nearest(word, known) else ""
            raise ValueError(f"{word} does not belong to a recipe{near}")
    if mechanism and mechanism not in mechanisms() and mechanism in problem_types():
        raise ValueError(f"{mechanism} is a type of problem: --problem {mechanism}")
    return mechanism, stated


def _counted(text: str) -> str:
    if not _COUNT.fullmatch(text):
        raise ValueError(f"-n is {text}")
    return text


def _value(rest: Iterator[str], word: str) -> str:
    for value in rest:
        return value
    raise ValueError(f"{word} has no value")


def _recipe(mechanism: str, stated: dict[str, list[str]]) -> Recipe:
    one = {name: values[-1] for name, values in stated.items() if values}
    settings: dict[str, Any] = {name.replace("-", "_"): one[name] for name in _SETTINGS if name in one}
    if way := next((name for name in ("by-token", "by-matrix") if name in stated), ""):
        settings["by"] = way.removeprefix("by-")
    if "round" in one:
        settings["rounding"] = typed_rounding(one["round"], "--round")
    chosen = problem_type(one.get("problem", "full"))
    said: dict[str, Any] = {"settings": settings, **({"mechanism": mechanism} if mechanism else {})}
    said |= {name: one[name] for name in ("level", "softmax", "notation") if name in one}
    if "size" in one:
        said["sizes"] = typed_sizes(one["size"])
    if "places" in one:
        said["places"] = int(one["places"])
    if "decimal" in stated:
        said["exact"] = False
    said["options"] = typed_options(chosen.name, stated.get("option", ()))
    ask = tuple(name for name in one.get("ask", "").split(",") if name)
    marks = typed_marks(one.get("marks", ""))
    return Recipe(chosen.spec(said), int(one["seed"]), ask, marks)
