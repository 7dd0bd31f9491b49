"""The problem types, one a file, found by listing the folder."""

from __future__ import annotations

from functools import cache
from types import MappingProxyType
from typing import Any

from symattn.errors import InputError, offered
from symattn.foundation.additions import added, modules
from symattn.teaching.problems.base import ProblemType, Spec

__path__ += added("problems")


@cache
def problem_types() -> MappingProxyType[str, ProblemType[Any, Any]]:
    """Every problem type by its name."""
    types = [m.TYPE for m in modules(__name__, __path__) if hasattr(m, "TYPE")]
    return MappingProxyType({t.name: t for t in types})


def problem_type(name: str) -> ProblemType[Any, Any]:
    """The problem type of that name; `InputError` lists those there are."""
    if name not in problem_types():
        raise InputError(f"There is no problem type {name!r}; {offered(name, problem_types())}")
    return problem_types()[name]


__all__ = ["ProblemType", "Spec", "problem_type", "problem_types"]
