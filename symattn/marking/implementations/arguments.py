"""The givens of a derivation as the arguments of somebody's function, in the library that it is written for."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, get_args

from symattn.errors import InputError, offered
from symattn.exact import Matrix
from symattn.marking.implementations.arrays import array

if TYPE_CHECKING:  # what runs a program apart has no derivation
    from symattn.derivation.derivation import Derivation

Library = Literal["numpy", "torch", "python"]

ALIASES = {
    "query": "q", "queries": "q", "key": "k", "keys": "k", "value": "v", "values": "v", "inputs": "x",
    "attnmask": "mask", "attentionmask": "mask",
}  # fmt: skip


def numbers(d: Derivation, library: str) -> dict[str, list[list[float]]]:
    """The givens of a derivation as nested lists, for arrays of a library; `InputError` if there is no such library."""
    if library not in get_args(Library):
        raise InputError(f"library is {library!r}; {offered(library, get_args(Library), 'one of {} was expected')}")
    return {name: [list(row) for row in array(m).rows] for name, m in d.givens.items() if isinstance(m, Matrix)}


def placed(
    function: Callable[..., Any], given: Mapping[str, object], more: Mapping[str, object]
) -> tuple[list[object], dict[str, object]]:
    """What is given to a function by place and by name: all by their names, if its parameters have these; else in their
    order, but for what it can do without and has a name for."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # written in C
        return list(given.values()), dict(more)
    taken = [p for p in parameters if p.name not in more]
    needed = [p for p in taken if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    called = {_plain(name): name for name in given}
    named = {
        p.name: called[_plain(p.name)] for p in taken if _plain(p.name) in called and p.kind is not p.POSITIONAL_ONLY
    }
    if len(named) < len(given) or any(p.name not in named for p in needed):
        named = {p.name: named[p.name] for p in taken if p.name in named and p not in needed}
    by_place = [one for name, one in given.items() if name not in named.values()]
    places = [p for p in taken if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.name not in named]
    room = len(places) if all(p.kind is not p.VAR_POSITIONAL for p in taken) else len(given)
    waiting = [p for p in needed if p.name not in named]
    if len(waiting) <= len(by_place) <= room and all(p in places for p in waiting):
        return by_place, {**{name: given[one] for name, one in named.items()}, **more}
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
    module = _imported(library)
    if not hasattr(module, format):
        raise InputError(f'NumPy has no {format}; float16, float32 or float64 was expected, or library="torch".')
    make = module.tensor if library == "torch" else module.array
    return make(nested, dtype=getattr(module, format))


def _imported(library: str) -> Any:
    try:
        return importlib.import_module(library)
    except ImportError as error:
        raise InputError(f'{library} is not installed here; install it, or say library="python".') from error
