"""Arrays of NumPy, PyTorch, JAX … and nested lists as rows of floats, and with how many digits they were worked out.

None of these libraries is imported here.
"""

from __future__ import annotations

import importlib
import inspect
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, Literal, get_args

from symattn.errors import InputError, offered
from symattn.exact import NEGATIVE_INFINITY, Matrix
from symattn.exact.rounding import FORMATS, Format, approximate

if TYPE_CHECKING:  # what runs a program apart has no derivation
    from symattn.derivation.derivation import Derivation

Rows = tuple[tuple[float, ...], ...]

PYTHON = "float64"
"""What numbers are in that have no format of their own: Python's, and integers."""


@dataclass(frozen=True)
class Array:
    """Numbers of some shape, nested as deep as it has dimensions, in a precision of `PRECISIONS`."""

    shape: tuple[int, ...]
    nested: Any
    format: str = PYTHON

    @property
    def squeezed(self) -> Array:
        """Without the leading dimensions that are 1: a batch of one sequence is that sequence."""
        array = self
        while len(array.shape) > 2 and array.shape[0] == 1:
            array = array[0]
        return array

    def __getitem__(self, index: int) -> Array:
        """One slice along the first dimension."""
        return Array(self.shape[1:], self.nested[index], self.format)

    @property
    def rows(self) -> Rows:
        """The rows of two dimensions; a vector is one row, a number a single entry."""
        if not self.shape:
            return ((float(self.nested),),)
        nested = [self.nested] if len(self.shape) == 1 else self.nested
        return tuple(tuple(map(float, row)) for row in nested)


def array(given: object, format: str | None = None) -> Array:
    """An array, a tensor, nested lists or a number; `InputError` where there is none.

    `format` is how it was worked out, if that is not what it is kept in.
    """
    name = _dtype(given)
    if _TOO_SHORT.match(name):
        raise InputError(f"{name} came; float16, bfloat16, float32 or float64 was expected.")
    found = read_array(given)
    if found is None:
        raise InputError(f"{type(given).__name__} came; an array, a tensor or nested lists of numbers were expected.")
    return found if format is None else Array(found.shape, found.nested, coarser(found.format, checked(format)))


def read_array(given: object) -> Array | None:
    """The same; None for what is no array of real numbers."""
    format = PYTHON
    if isinstance(given, Matrix):
        given = tuple(tuple(-math.inf if x is NEGATIVE_INFINITY else approximate(x) for x in row) for row in given.rows)
    elif callable(tolist := getattr(given, "tolist", None)):
        format = name if (name := _dtype(given)) in FORMATS else PYTHON
        try:
            given = tolist()
        except (RuntimeError, TypeError, ValueError):  # a tensor without numbers in it
            return None
    elif isinstance(given, list | tuple) and any(hasattr(one, "tolist") for one in given):  # arrays, one a row
        inner = [one for one in map(read_array, given) if one is not None]
        if len(inner) < len(given):
            return None
        given, format = [one.nested for one in inner], reduce(coarser, (one.format for one in inner))
    shape = _shape(given)
    return None if shape is None else Array(shape, given, format)


_TOO_SHORT = re.compile("float[1-9](?![0-9])")  # float8_e4m3fn


def _dtype(given: object) -> str:
    return str(getattr(given, "dtype", "")).rpartition(".")[2]  # torch.float32


def _shape(nested: Any) -> tuple[int, ...] | None:
    if isinstance(nested, int | float):
        return ()
    if not isinstance(nested, list | tuple) or not nested:
        return None
    inner = _shape(nested[0])
    if inner is None or any(_shape(x) != inner for x in nested[1:]):
        return None
    return (len(nested), *inner)


PRECISIONS: Mapping[str, Format] = {**FORMATS, "tf32": Format("tf32", 10, -126, 127)}
"""How a program may work: in a format, or in TF32, in which graphics cards multiply numbers that are float32.  Of each
factor eleven digits are left, the others cut off: that is as far off as it would be rounded to ten."""


def checked(format: str) -> str:
    """A format by its name; `InputError` if there is none."""
    if format not in list(PRECISIONS):  # it may be anything
        raise InputError(f"precision is {format!r}; {offered(format, PRECISIONS, 'one of {} was expected')}")
    return format


def dtype_of(precision: str) -> str:
    """The format of the arrays with which a program works in some precision: in TF32 only products are short."""
    return "float32" if precision == "tf32" else precision


def coarser(a: str, b: str) -> str:
    """That of two formats that has fewer digits."""
    return min(a, b, key=lambda name: PRECISIONS[name].digits)


def turned(rows: Rows) -> Rows:
    """The transpose."""
    return tuple(zip(*rows, strict=True))


def side_by_side(parts: Sequence[Rows]) -> Rows:
    """Matrices next to one another, as heads are concatenated."""
    return tuple(tuple(x for row in rows for x in row) for rows in zip(*parts, strict=True))


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
