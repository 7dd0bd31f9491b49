"""The catalogue of misconceptions (rules.md 2.2), a family a file, and what each makes of a derivation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType

from symattn.derivation import Derivation
from symattn.errors import InputError, offered
from symattn.misconceptions.base import MatrixwiseDerivation, Misconception, WrongDerivation
from symattn.misconceptions.block import BLOCK
from symattn.misconceptions.counting import COUNTING, Miscount
from symattn.misconceptions.gradient import GRADIENT
from symattn.misconceptions.heads import HEADS
from symattn.misconceptions.incremental import INCREMENTAL
from symattn.misconceptions.layout import whole
from symattn.misconceptions.mask import MASK
from symattn.misconceptions.output import OUTPUT
from symattn.misconceptions.position import POSITION
from symattn.misconceptions.projection import PROJECTION
from symattn.misconceptions.recurrence import RECURRENCE
from symattn.misconceptions.rounding import ROUNDING
from symattn.misconceptions.scale import SCALE
from symattn.misconceptions.scores import SCORES
from symattn.misconceptions.slips import SLIPS, Slip, Slipped, misread, slips
from symattn.misconceptions.softmax import SOFTMAX


@cache
def misconceptions() -> Mapping[str, Misconception]:
    """Every misconception by its id, in the order of the catalogue."""
    families = (
        PROJECTION,
        SCORES,
        SCALE,
        MASK,
        SOFTMAX,
        OUTPUT,
        HEADS,
        BLOCK,
        ROUNDING,
        POSITION,
        INCREMENTAL,
        RECURRENCE,
        GRADIENT,
    )
    return MappingProxyType({m.id: m for family in families for m in family})


def misconception(id: str) -> Misconception:
    """The misconception of that id; `InputError` lists those there are."""
    if id not in misconceptions():
        raise InputError(f"There is no misconception {id!r}; {offered(id, misconceptions())}")
    return misconceptions()[id]


def replayed(derivation: Derivation, only: Iterable[str] | None = None) -> tuple[WrongDerivation, ...]:
    """What each misconception, or each of `only`, makes of a derivation: those that have a place in it."""
    laid = MatrixwiseDerivation(derivation)
    chosen = misconceptions() if only is None else [misconception(id).id for id in only]
    return tuple(wrong for id in chosen if (wrong := laid.wrong(misconceptions()[id])) is not None)


__all__ = [
    "COUNTING",
    "SLIPS",
    "Misconception",
    "Miscount",
    "Slip",
    "Slipped",
    "WrongDerivation",
    "misconception",
    "misconceptions",
    "misread",
    "replayed",
    "slips",
    "whole",
]
