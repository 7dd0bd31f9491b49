"""What the verbs take in Python besides matrices and settings; on the command line the same limits hold."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import Annotated, Any, TypeGuard, get_args

from symattn.derivation.sizes import read_size
from symattn.exact import Size
from symattn.foundation.typed import Between, OrOne, Place, ReadBy, Some, read
from symattn.page.document import Look
from symattn.teaching.explanation import Conventions, Layout, WhichEntries
from symattn.teaching.problems.draws import LARGEST_SIZE

NAMED_ENTRIES: tuple[str, ...] = get_args(get_args(WhichEntries)[0])
ENTRIES = f"{', '.join(NAMED_ENTRIES)}, or pairs of indices from 0 such as [(0, 0), (1, 2)]"
SIZE = f"a whole number from 1 to {LARGEST_SIZE}, a letter, or a sum such as 2*d"
LOOK = "what make_look gives"


def _is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _entries(value: Any, place: Place) -> Any:
    if isinstance(value, str) and value in NAMED_ENTRIES:
        return value
    if isinstance(value, str):
        raise place.wrong(value, ENTRIES, NAMED_ENTRIES)
    if not isinstance(value, list | tuple) or not all(map(_is_pair, value)):
        raise place.wrong(value, ENTRIES)
    return tuple((int(i), int(j)) for i, j in value)


def _is_pair(value: object) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2 and all(_is_whole(x) and x >= 0 for x in value)


def _size(value: Any, place: Place) -> Size:
    size = read_size(value)
    if size is None or (isinstance(size, int) and size > LARGEST_SIZE):
        raise place.wrong(value, SIZE)
    return size


def _path(value: Any, place: Place) -> Any:
    if not isinstance(value, str | Path):
        raise place.wrong(value, "a path")
    return value


def _executor(value: object, place: Place) -> Executor:
    if not isinstance(value, Executor):
        raise place.wrong(value, "an executor of concurrent.futures, such as ProcessPoolExecutor()")
    return value


def _function(value: Any, place: Place) -> Any:
    if not callable(value):
        raise place.wrong(value, "a function")
    return value


def _look(value: object, place: Place) -> Look:
    if not isinstance(value, Look):
        raise place.wrong(value, LOOK)
    return value


Names = Annotated[tuple[str, ...], OrOne()]


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """What every argument may be; what several verbs take under one name is the same for all."""

    n: Annotated[int, Between(1, 100_000)]
    seed: int
    places: Annotated[int, Between(0, 50)] | None
    jobs: Annotated[int, Between(0, 256)]
    time_limit: Annotated[float, Between(0)]
    mechanism_name: str
    problem: str
    scheme: Annotated[Any, ReadBy(_path)] | None
    out: Annotated[Any, ReadBy(_path)] | None
    title: str
    symbolic: bool
    corrected: bool
    miniature: bool
    together: bool
    overview: bool
    recipe: bool
    precision_mark: bool
    entries: Annotated[Any, ReadBy(_entries)]
    sizes: Mapping[str, Annotated[Any, ReadBy(_size)]] | None
    layout: Layout
    conventions: Conventions
    look: Annotated[Any, ReadBy(_look)]
    executor: Annotated[Any, ReadBy(_executor)] | None
    progress: Annotated[Any, ReadBy(_function)]
    ask: Annotated[Any, ReadBy(_function)] | None
    forms: Names
    feedback: Names | None
    gradebooks: Names
    solutions: Names
    parts: Names
    marks: Mapping[str, Annotated[int, Between(1, 1000)]] | None


def checked(**stated: object) -> Any:
    """The arguments of a verb by name, as they are worked with; `InputError` says which one is wrong, and why."""
    whole = {key: int(value) if _is_whole(value) else value for key, value in stated.items()}  # NumPy's are whole too
    return read(Annotated[Any, Some(Arguments)], whole)
