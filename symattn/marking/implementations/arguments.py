"""The givens of a derivation as the arguments of somebody's function, in the library that it is written for."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args

from symattn.derivation.derivation import Derivation
from symattn.errors import InputError, offered
from symattn.exact import Matrix
from symattn.marking.implementations.arrays import array, checked

Library = Literal["numpy", "torch", "python"]

ALIASES = {"query": "q", "queries": "q", "key": "k", "keys": "k", "value": "v", "values": "v", "inputs": "x"}


def arguments(
    function: Callable[..., Any], d: Derivation, library: str, precision: str, more: Mapping[str, object]
) -> tuple[list[object], dict[str, object]]:
    """What a function is called with: each given by its name, if its parameters have these, or all in their order.

    `more` are arguments of the caller's own.  `InputError` if the function takes other things.
    """
    if library not in get_args(Library):
        raise InputError(f"library is {library!r}; {offered(library, get_args(Library), 'one of {} was expected')}")
    given = {
        name: made([list(row) for row in array(m).rows], library, checked(precision))
        for name, m in d.givens.items()
        if isinstance(m, Matrix)
    }
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # written in C
        return list(given.values()), dict(more)
    taken = [p for p in parameters if p.name not in more]
    needed = [p for p in taken if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    called = {_plain(name): name for name in given}
    if (
        needed
        and all(_plain(p.name) in called for p in needed)
        and not any(p.kind is p.POSITIONAL_ONLY for p in needed)
    ):
        named = {p.name: given[called[_plain(p.name)]] for p in taken if _plain(p.name) in called}
        if len(named) == len(given):
            return [], {**named, **more}
    any_number = any(p.kind is p.VAR_POSITIONAL for p in taken)
    if len(needed) == len(given) or (any_number and len(needed) < len(given)):
        return list(given.values()), dict(more)
    raise InputError(
        f"The function takes {', '.join(p.name for p in needed) or 'nothing'}; what is given is {', '.join(given)}. "
        "Name its other arguments as well, or wrap it in a lambda."
    )


def _plain(name: str) -> str:
    short = re.sub(r"[_^]", "", name).lower()
    return ALIASES.get(short, short)


def made(nested: list[Any], library: str, format: str) -> Any:
    """Nested lists of numbers, or of True and False with the format bool, as an array of a library."""
    if library == "python":
        return nested
    module, format = _imported(library), "float32" if format == "tf32" else format
    if not hasattr(module, format):
        raise InputError(f'NumPy has no {format}; float16, float32 or float64 was expected, or library="torch".')
    make = module.tensor if library == "torch" else module.array
    return make(nested, dtype=getattr(module, format))


def _imported(library: str) -> Any:
    try:
        return importlib.import_module(library)
    except ImportError as error:
        raise InputError(f'{library} is not installed here; install it, or say library="python".') from error


__all__ = ["Library", "arguments", "made"]
