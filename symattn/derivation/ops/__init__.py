"""The vocabulary of steps, a subject a file, and their names for problem files."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from symattn.derivation.derivation import Op
from symattn.foundation.additions import added, modules

__path__ += added("ops")


@cache
def operations() -> Mapping[str, type[Op]]:
    """Every operation by its name in problem files, which `OPS` of its module gives it."""
    return dict(
        sorted((name, op) for module in modules(__name__, __path__) for name, op in getattr(module, "OPS", {}).items())
    )


def __getattr__(name: str) -> Any:
    """For files of the user's: `from symattn.derivation.ops import MatMul`, whichever module has it."""
    if not name.startswith("_"):
        for module in modules(__name__, __path__):
            if name in vars(module):
                return vars(module)[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
