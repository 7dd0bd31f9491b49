"""What a function works out on its way: the arrays that its variables hold, line by line, and those that it returns."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from symattn.marking.implementations.arrays import Array, read_array

MOST = 2000
"""Arrays that are kept."""


class Recorder:
    """Calls a function and keeps every matrix of one of the `shapes` that comes up in Python code.

    Variables are looked at after every line, so that one that is written over is seen as well; what stands only inside
    an expression is not.  Stacks of such matrices are kept as stacks.
    """

    def __init__(self, shapes: set[tuple[int, int]]) -> None:
        self._shapes = shapes
        self._seen: dict[tuple[object, ...], Array] = {}

    @property
    def arrays(self) -> tuple[Array, ...]:
        """Everything that was seen, each once, in the order in which it came up."""
        return tuple(self._seen.values())

    def call(self, function: Callable[[], Any]) -> Any:
        """What the function returns; a tracer that was there before, a debugger's, is put back."""
        before = sys.gettrace()
        sys.settrace(self._enter)
        try:
            result = function()
        finally:
            sys.settrace(before)
        self._keep(result)
        return result

    def _enter(self, frame: FrameType, event: str, argument: object) -> Any:
        return self._look if "importlib" not in frame.f_code.co_filename else None

    def _look(self, frame: FrameType, event: str, argument: object) -> Any:
        if event in ("line", "return"):
            for value in list(frame.f_locals.values()):
                self._keep(value)
        if event == "return":
            self._keep(argument)
        return self._look

    def _keep(self, value: object) -> None:
        for one in value if isinstance(value, tuple) else (value,):
            if len(self._seen) < MOST and _last_two(one) in self._shapes and (array := read_array(one)) is not None:
                self._seen.setdefault((array.shape, repr(array.nested)), array)


def _last_two(value: object) -> object:
    """The last two dimensions of an array, or of nested lists; None for anything else."""
    if isinstance(value, list):
        found = read_array(value)
        return found.shape[-2:] if found else None
    try:
        shape = getattr(value, "shape", None)
    except Exception:  # a property of somebody else's that fails, as a finished iterator's of NumPy
        return None
    return tuple(shape[-2:]) if isinstance(shape, tuple) else None
