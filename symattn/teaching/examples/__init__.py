"""The worked examples: the five notes, as data."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources

from symattn.errors import InputError, offered
from symattn.teaching.problem_file import ProblemFile, problem_file


@cache
def examples() -> tuple[str, ...]:
    """The names of the examples."""
    folder = resources.files(__name__)
    return tuple(sorted(f.name.removesuffix(".toml") for f in folder.iterdir() if f.name.endswith(".toml")))


def load_example(name: str) -> ProblemFile:
    """An example by name; `InputError` lists those there are."""
    if name not in examples():
        raise InputError(f"There is no example {name!r}; {offered(name, examples())}")
    text = (resources.files(__name__) / f"{name}.toml").read_text(encoding="utf-8")
    return problem_file(tomllib.loads(text), name)
