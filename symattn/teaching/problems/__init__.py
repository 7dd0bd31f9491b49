"""The problem types, found by listing the folder; mostly one a file."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import ModuleType

from symattn.derivation.mechanisms import mechanisms
from symattn.errors import InputError, offered
from symattn.foundation.additions import Catalogue, added
from symattn.teaching.problems.draws import ProblemType, Spec

__path__ += added("problems")


@cache
def problem_types() -> Mapping[str, ProblemType]:
    """Every problem type by its name."""
    return Catalogue(__name__, __path__, _entries, _HOME)


_HOME = {**dict.fromkeys(("block", "extensions", "gradient"), "exercises"), "find-error": "find_error"}
"""The files of types that are called otherwise."""


def _entries(module: ModuleType) -> list[tuple[str, ProblemType]]:
    own: list[ProblemType] = [module.TYPE] if hasattr(module, "TYPE") else [*getattr(module, "TYPES", ())]
    return [(one.name, one) for one in own]


def drawn_types() -> tuple[str, ...]:
    """The names of those that draw variants, and do not set a teacher's text."""
    return tuple(name for name, chosen in problem_types().items() if not chosen.fixed)


def problem_type(name: str) -> ProblemType:
    """The problem type of that name; `InputError` lists those there are."""
    if name not in problem_types() and name in mechanisms():
        raise InputError(f"{name} is a mechanism, not a type of problem.")
    if name not in problem_types():
        raise InputError(f"There is no problem type {name!r}; {offered(name, problem_types())}")
    return problem_types()[name]


__all__ = ["ProblemType", "Spec", "drawn_types", "problem_type", "problem_types"]
