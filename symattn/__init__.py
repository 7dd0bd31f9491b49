"""Exact, step-by-step transformer attention: worksheets, answer keys, and hand calculations checked exactly.

>>> import symattn
>>> d = symattn.derive("attention", Q=[[1, 0]], K=[[1, 0], [0, 1]], V=[[1], [2]])
>>> d["A"].result.decimals(4)
(('0.6698', '0.3302'),)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from symattn.foundation.installed import VERSION

if TYPE_CHECKING:
    from symattn import counting
    from symattn.api import Batch, Solution, batch, check, compare, decide, derive, grade, trace, worksheet
    from symattn.errors import (
        InputError,
        LetterError,
        OutgrownError,
        OutsideError,
        PlacedError,
        ReadError,
        SelfCheckError,
        ShapeError,
        SymattnError,
        UndecidedError,
        UndefinedError,
    )
    from symattn.exact import Matrix
    from symattn.marking.implementations.report import Comparison
    from symattn.page.document import Look
    from symattn.page.presentation import make_look
    from symattn.teaching.description import describe


__version__ = VERSION

_HOMES = {
    "Batch": "symattn.api",
    "Comparison": "symattn.marking.implementations.report",
    "InputError": "symattn.errors",
    "LetterError": "symattn.errors",
    "Look": "symattn.page.document",
    "Matrix": "symattn.exact",
    "OutgrownError": "symattn.errors",
    "OutsideError": "symattn.errors",
    "PlacedError": "symattn.errors",
    "ReadError": "symattn.errors",
    "SelfCheckError": "symattn.errors",
    "ShapeError": "symattn.errors",
    "Solution": "symattn.api",
    "SymattnError": "symattn.errors",
    "UndecidedError": "symattn.errors",
    "UndefinedError": "symattn.errors",
    "batch": "symattn.api",
    "check": "symattn.api",
    "compare": "symattn.api",
    "decide": "symattn.api",
    "derive": "symattn.api",
    "describe": "symattn.teaching.description",
    "grade": "symattn.api",
    "make_look": "symattn.page.presentation",
    "trace": "symattn.api",
    "worksheet": "symattn.api",
}

__all__ = [
    "Batch", "Comparison", "InputError", "LetterError", "Look", "Matrix", "OutgrownError", "OutsideError",
    "PlacedError", "ReadError", "SelfCheckError", "ShapeError", "Solution", "SymattnError", "UndecidedError",
    "UndefinedError", "__version__", "batch", "check", "compare", "counting", "decide", "derive", "describe", "grade",
    "make_look", "trace", "worksheet",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import on first use, so that `symattn --help` need not wait for SymPy."""
    if name == "counting":
        return importlib.import_module("symattn.counting")
    if name not in _HOMES:
        raise AttributeError(f"module 'symattn' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
