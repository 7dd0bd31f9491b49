"""How far a run has come, for whoever waits for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

Progress = Callable[[int], AbstractContextManager[Callable[[object], None]]]
"""Shows how far a run of `count` jobs has come: called with what is done."""


@contextmanager
def silent(count: int) -> Iterator[Callable[[object], None]]:
    """No progress shown."""
    yield lambda done: None
