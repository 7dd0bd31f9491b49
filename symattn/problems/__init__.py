"""The problem types, one a file, found by listing the folder."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from types import MappingProxyType
from typing import Any

from symattn.errors import InputError, offered
from symattn.problems.base import ProblemType, Spec


@cache
def problem_types() -> MappingProxyType[str, ProblemType[Any, Any]]:
    modules = (importlib.import_module(f"{__name__}.{m.name}") for m in pkgutil.iter_modules(__path__))
    types = [m.TYPE for m in modules if hasattr(m, "TYPE")]
    return MappingProxyType({t.name: t for t in types})


def problem_type(name: str) -> ProblemType[Any, Any]:
    """The problem type of that name; `InputError` lists those there are."""
    if name not in problem_types():
        raise InputError(f"There is no problem type {name!r}; {offered(name, problem_types())}")
    return problem_types()[name]


__all__ = ["ProblemType", "Spec", "problem_type", "problem_types"]
