"""The catalogue of misconceptions (rules.md 2.2), a family a file, and what each makes of a derivation."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType

from symattn.derivation.derivation import Derivation, StepName
from symattn.derivation.mechanisms.descent import is_gradient
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

APART = ("base", "programs")
"""Files of the folder that are no families of the catalogue."""


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


class Families(Mapping[str, Misconception]):
    """Misconceptions by id, in the order of the catalogue; a file is read when one of its family may be asked for."""

    def __init__(self, paths: Mapping[str, Path]) -> None:
        self._paths = paths
        self._added = [name for name in paths if name not in (*FAMILIES, *APART)]
        self._read: dict[str, Mapping[str, Misconception]] = {}

    def __getitem__(self, id: str) -> Misconception:
        for name in (*self._added, *self._read, *FAMILIES):
            if id in self._family(name):
                return self._family(name)[id]
        raise KeyError(id)

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    @cached_property
    def _all(self) -> Mapping[str, Misconception]:
        return self._of(FAMILIES)

    def that_matter(self, d: Derivation) -> Mapping[str, Misconception]:
        """Those that may change something in a derivation."""
        own = signs(d)
        return self._of(name for name, known in FAMILIES.items() if not own.isdisjoint(known))

    def _of(self, families: Iterable[str]) -> Mapping[str, Misconception]:
        return {id: m for name in (*families, *self._added) for id, m in self._family(name).items()}

    def _family(self, name: str) -> Mapping[str, Misconception]:
        if name not in self._read:
            found = module(__name__, name, self._paths[name], __path__)
            self._read[name] = {m.id: m for m in getattr(found, "MISCONCEPTIONS", ())}
        return self._read[name]


@cache
def misconceptions() -> Families:
    """Every misconception by its id, in the order of the catalogue."""
    return Families(files(__path__))


def misconceptions_in(d: Derivation) -> Mapping[str, Misconception]:
    """Those by id that may change something in a derivation; the files of the others are not read."""
    return misconceptions().that_matter(d)


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
    chosen = misconceptions_in(laid.rows).values() if only is None else [misconception(id) for id in only]
    return tuple(wrong for m in chosen if (wrong := laid.wrong(m)) is not None)
