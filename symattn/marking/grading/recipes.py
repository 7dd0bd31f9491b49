"""Recipes read back: the command in a worksheet's footer, `Recipe.command()`, as a recipe again.

Nothing is run: the words are told apart as a POSIX shell would, and every option is looked up here.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from typing import Any

from symattn.derivation.mechanisms import mechanisms
from symattn.derivation.settings import ABOUT
from symattn.errors import InputError, nearest, offered
from symattn.page.presentation import CHOICES
from symattn.teaching.problems import ProblemType, problem_type, problem_types
from symattn.teaching.question import Json
from symattn.teaching.sheets import Recipe

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
    try:
        mechanism, stated = _stated(shlex.split(text[: numbered.start()] if numbered else text))
        return _recipe(mechanism, stated), int(numbered[1] if numbered else stated.get("n", ["1"])[-1])
    except (ValueError, KeyError) as error:  # words that cannot be told apart, an option or a number that is none
        said = str(error)
        end = "" if said.endswith((".", "?")) else "."
        raise InputError(f"{text!r} is not a recipe that this version of symattn writes: {said}{end}") from error


def read_unnumbered(text: str, seed: int) -> Recipe:
    """A recipe as people write it, without the command and a seed: `attention --level starter`; `InputError` if it is
    none."""
    try:
        mechanism, stated = _stated([*_COMMAND, *shlex.split(text)])
        if not {"seed", "n"}.isdisjoint(stated):
            raise ValueError("leave out --seed and -n: every sheet is drawn afresh")
        if not (mechanism or "problem" in stated):
            raise ValueError("a mechanism or --problem was expected")
        return _recipe(mechanism, {**stated, "seed": [str(seed)]})
    except (ValueError, KeyError) as error:
        said = str(error)
        raise InputError(f"{text!r} is not a recipe: {said}{'' if said.endswith(('.', '?')) else '.'}") from error


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
        places, method, ties = (*one["round"].split(":"), "even")[:3]
        settings["rounding"] = {"places": int(places), "method": method, "ties": ties}
    chosen = problem_type(one.get("problem", "full"))
    said: dict[str, Any] = {"settings": settings, **({"mechanism": mechanism} if mechanism else {})}
    said |= {name: one[name] for name in ("level", "softmax", "notation") if name in one}
    if "size" in one:
        said["sizes"] = _numbers(one["size"])
    if "places" in one:
        said["places"] = int(one["places"])
    if "decimal" in stated:
        said["exact"] = False
    options = (text.partition("=") for text in stated.get("option", ()))
    said["options"] = {name: _option(chosen, name, text) for name, _, text in options}
    ask = tuple(name for name in one.get("ask", "").split(",") if name)
    marks = _numbers(one["marks"]) if "marks" in one else {}
    if any(not 1 <= number <= 1000 for number in marks.values()):
        raise ValueError(f"--marks is {one['marks']}; each is from 1 to 1000")
    return Recipe(chosen.spec(said), int(one["seed"]), ask, marks)


def _numbers(text: str) -> dict[str, int]:
    """n=3,d_k=4 by name."""
    return {name: int(number) for name, number in (part.split("=") for part in text.split(","))}


def _option(chosen: ProblemType, name: str, text: str) -> Json:
    """An option's value, as `option_text` writes it."""
    default = chosen.options[name][0] if name in chosen.options else ""
    value: Json = text if isinstance(default, str) else json.loads(text)
    return value
