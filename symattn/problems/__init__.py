"""The problem types, one a file, found by listing the folder."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from types import MappingProxyType
from typing import Protocol, cast

from symattn.errors import InputError
from symattn.problem import Problem


class ProblemType(Protocol):
    """What a file of this folder offers: a name, a title, and what it asks of a derivation."""

    NAME: str
    TITLE: str

    def ask(self, problem: Problem) -> Problem:
        """The problem with what this type asks for."""


@cache
def problem_types() -> MappingProxyType[str, ProblemType]:
    modules = (importlib.import_module(f"{__name__}.{m.name}") for m in pkgutil.iter_modules(__path__))
    return MappingProxyType({m.NAME: cast(ProblemType, m) for m in modules if hasattr(m, "NAME")})


def problem_type(name: str) -> ProblemType:
    """The problem type of that name; `InputError` lists those there are."""
    if name not in problem_types():
        raise InputError(f"There is no problem type {name!r}; there are {', '.join(problem_types())}.")
    return problem_types()[name]
