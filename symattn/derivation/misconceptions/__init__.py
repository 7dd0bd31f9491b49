"""The catalogue of misconceptions (rules.md 2.2), a family a file, and what each makes of a derivation."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from symattn.derivation.derivation import Derivation, StepName
from symattn.derivation.mechanisms.base import is_gradient
from symattn.derivation.misconceptions.base import MatrixwiseDerivation, Misconception, WrongDerivation
from symattn.errors import InputError, offered
from symattn.foundation.additions import added, files, module

__path__ += added("misconceptions")

HEAD, TOKEN, WAY_BACK = "a head", "a token", "the way back"

FAMILIES: Mapping[str, Collection[str]] = MappingProxyType(
    {
        "projection": ("W_Q", "W_K", "W_V", "b_Q", "b_K", "b_V"),
        "scores": ("S", "S'"),
        "mask": ("Mask",),
        "softmax": ("A", "A_rounded", "Z"),
        "heads": (HEAD, "W_O"),
        "block": ("R1", "R2", "R3", "H", "H_linear", "Mean", "Variance", "MeanSquare", "OverRoot"),
        "rounding": ("A", "A_rounded", "S'"),
        "position": ("P", "E_scaled", "Turning", "Bias"),
        "incremental": (TOKEN, "RunningMaximum", "Exponentials", "Accumulate"),
        "gradient": (
            *(WAY_BACK, "SoftmaxJacobian", "SoftmaxGradient", "ActivationGradient", "NormGradient", "Total", "Descent"),
            *("RotateBack", "CrossEntropy", "CrossEntropyGradient", "probabilities", "LogitTemperature", "TopK"),
        ),
    }
)
"""The families in the order of the catalogue, and by what a derivation is known that one of them changes something in:
its matrices, its operations, or where its steps belong.  Other modules of the folder follow, and are tried on all."""


def signs(d: Derivation) -> set[str]:
    """What the families go by, of a derivation."""
    names = [StepName.of(name) for name in (*d.givens, *(step.name for step in d))]
    found = {name.stem for name in names}
    found |= {kind.__name__ for op in {type(step.op) for step in d} for kind in op.__mro__}
    belongs = {
        HEAD: any(name.head for name in names),
        TOKEN: any(step.token for step in d),
        WAY_BACK: any(is_gradient(step) for step in d),
    }
    return found | {sign for sign, has in belongs.items() if has}


@cache
def _added() -> Mapping[str, Path]:
    """Where the families are that are none of ours."""
    return {name: file for name, file in files(__path__).items() if name not in (*FAMILIES, "base")}


_READ: dict[str, tuple[Misconception, ...]] = {}
"""The misconceptions of the files that have been read."""


def family(name: str) -> tuple[Misconception, ...]:
    """The misconceptions of a file."""
    if name not in _READ:
        file = _added().get(name, Path(__path__[0]) / f"{name}.py")
        _READ[name] = getattr(module(__name__, name, file, __path__), "MISCONCEPTIONS", ())
    return _READ[name]


def _by_id(families: Iterable[str]) -> Mapping[str, Misconception]:
    return MappingProxyType({m.id: m for name in families for m in family(name)})


@cache
def misconceptions() -> Mapping[str, Misconception]:
    """Every misconception by its id, in the order of the catalogue."""
    return _by_id((*FAMILIES, *_added()))


def misconceptions_in(d: Derivation) -> Mapping[str, Misconception]:
    """Those by id that may change something in a derivation; the files of the others are not read."""
    own = signs(d)
    return _by_id((*(name for name in FAMILIES if not own.isdisjoint(FAMILIES[name])), *_added()))


def drawn_misconceptions() -> tuple[Misconception, ...]:
    """Those that problem types plant and offer as options, in the order of the catalogue."""
    return tuple(m for m in misconceptions().values() if m.drawn)


@cache
def misconception(id: str) -> Misconception:
    """The misconception of that id; `InputError` names the nearest, or the command that lists all."""
    for name in (*_added(), *_READ, *FAMILIES):  # no more files are read than need be
        if found := next((m for m in family(name) if m.id == id), None):
            return found
    raise InputError(
        f"There is no misconception {id!r}; {offered(id, misconceptions(), see='symattn list misconceptions')}"
    )


def replayed(derivation: Derivation, only: Iterable[str] | None = None) -> tuple[WrongDerivation, ...]:
    """What each misconception, or each of `only`, makes of a derivation: those that have a place in it."""
    laid = MatrixwiseDerivation(derivation)
    chosen = misconceptions_in(laid.rows).values() if only is None else [misconception(id) for id in only]
    return tuple(wrong for m in chosen if (wrong := laid.wrong(m)) is not None)
