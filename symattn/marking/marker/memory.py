"""What has been worked out while scripts are marked.

A script is walked through many times: as it was written, with lines left blank, in another layout, by another method.
Most lines are the same each time and come of the same lines; they are worked out once.  What comes of the question
alone is the same in every script, and kept for the next.  Things are told apart by identity, since values are compared
by proof and have no hashes, and are kept so that no other gets their identity.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeVar

from symattn.derivation.derivation import Derivation
from symattn.exact import Matrix, Value

T = TypeVar("T")


class Memory:
    """That of one script; what comes of the question alone is looked up in its `key`."""

    def __init__(self, key: KeyMemory | None = None) -> None:
        self.key = key
        self._known: dict[Hashable, tuple[Sequence[object], Any]] = {}
        self._interned: dict[Any, Any] = {}

    def of(self, things: Iterable[object]) -> Memory:
        """The memory that what comes of these things belongs into."""
        return self.key if self.key is not None and self.key.has(things) else self

    def memoize(self, name: Hashable, things: Sequence[object], work: Callable[[], T]) -> T:
        """What comes of these things, worked out the first time; `name` says what it is."""
        memory, key = self.of(things), (name, *map(id, things))
        if (known := memory._known.get(key)) is None:
            known = memory._known[key] = (things, memory.adopt(work()))
        return known[1]

    def adopt(self, thing: T) -> T:
        """A thing, which from now on belongs to this memory."""
        return thing

    def intern(self, thing: T) -> T:
        """The first thing that came and equals this one; the thing itself where it cannot be told by a hash."""
        try:
            known = None if self.key is None else self.key._interned.get(thing)
            first: T = self._interned.setdefault(thing, thing) if known is None else known
        except TypeError:
            return self.adopt(thing)
        return self.adopt(first)

    def matrix(self, rows: Iterable[Iterable[Value]]) -> Matrix:
        """A matrix of these entries, the same one for the same entries."""
        laid = [list(row) for row in rows]
        return self.memoize(("matrix", *map(len, laid)), [x for row in laid for x in row], lambda: Matrix.of(laid))


class KeyMemory(Memory):
    """What comes of a question's derivation alone."""

    def __init__(self, d: Derivation) -> None:
        super().__init__()
        self._own: dict[int, object] = {id(None): None}
        for thing in (d, *d.givens.values(), *d, *(step.result for step in d)):
            self.adopt(thing)
        for step in d:
            self.intern(step.op)

    def __len__(self) -> int:
        return len(self._known)

    def has(self, things: Iterable[object]) -> bool:
        return all(id(thing) in self._own for thing in things)

    def adopt(self, thing: T) -> T:
        self._own[id(thing)] = thing
        return thing
