"""The catalogue of misconceptions (rules.md 2.2), a family a file, and what each makes of a derivation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType

from symattn.derivation.derivation import Derivation
from symattn.derivation.misconceptions.base import MatrixwiseDerivation, Misconception, WrongDerivation
from symattn.errors import InputError, offered
from symattn.foundation.additions import added, modules

__path__ += added("misconceptions")

FAMILIES = (
    "projection", "scores", "mask", "softmax", "heads", "block", "rounding", "position", "incremental", "gradient",
)  # fmt: skip
"""The order of the catalogue; other modules of the folder follow."""


@cache
def misconceptions() -> Mapping[str, Misconception]:
    """Every misconception by its id, in the order of the catalogue."""
    modules_by_name = {module.__name__.rpartition(".")[2]: module for module in modules(__name__, __path__)}
    families = (
        getattr(modules_by_name[name], "MISCONCEPTIONS", ()) for name in dict.fromkeys((*FAMILIES, *modules_by_name))
    )
    return MappingProxyType({m.id: m for family in families for m in family})


def drawn_misconceptions() -> tuple[Misconception, ...]:
    """Those that problem types plant and offer as options, in the order of the catalogue."""
    return tuple(m for m in misconceptions().values() if m.drawn)


def misconception(id: str) -> Misconception:
    """The misconception of that id; `InputError` names the nearest, or the command that lists all."""
    if id not in misconceptions():
        raise InputError(
            f"There is no misconception {id!r}; {offered(id, misconceptions(), see='symattn list misconceptions')}"
        )
    return misconceptions()[id]


def replayed(derivation: Derivation, only: Iterable[str] | None = None) -> tuple[WrongDerivation, ...]:
    """What each misconception, or each of `only`, makes of a derivation: those that have a place in it."""
    laid = MatrixwiseDerivation(derivation)
    chosen = misconceptions() if only is None else [misconception(id).id for id in only]
    return tuple(wrong for id in chosen if (wrong := laid.wrong(misconceptions()[id])) is not None)
