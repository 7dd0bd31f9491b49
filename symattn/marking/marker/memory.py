"""What has been worked out while one script is marked.

A script is walked through many times: as it was written, with lines left blank, in another layout, by another method.
Most lines are the same each time and come of the same lines; they are worked out once.  Things are told apart by
identity, since values are compared by proof and have no hashes, and are kept so that no other gets their identity.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeVar

from symattn.exact import Matrix, Value

T = TypeVar("T")


class Memory:
    def __init__(self) -> None:
        self._known: dict[Hashable, tuple[Sequence[object], Any]] = {}
        self._alike: dict[Any, Any] = {}

    def once(self, name: Hashable, things: Sequence[object], work: Callable[[], T]) -> T:
        """What comes of these things, worked out the first time; `name` says what it is."""
        key = (name, *map(id, things))
        if (known := self._known.get(key)) is None:
            known = self._known[key] = (things, work())
        return known[1]

    def alike(self, thing: T) -> T:
        """The first thing that came and equals this one; the thing itself where it cannot be told by a hash."""
        try:
            first: T = self._alike.setdefault(thing, thing)
        except TypeError:
            return thing
        return first

    def matrix(self, rows: Iterable[Iterable[Value]]) -> Matrix:
        """A matrix of these entries, the same one for the same entries."""
        laid = [list(row) for row in rows]
        return self.once(("matrix", *map(len, laid)), [x for row in laid for x in row], lambda: Matrix.of(laid))


__all__ = ["Memory"]
