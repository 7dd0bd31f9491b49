"""A problem: a derivation, how it is written, what is asked of the student, and how figures are rounded."""

from __future__ import annotations

from dataclasses import dataclass

from symattn.derivation.derivation import Derivation, Step
from symattn.exact import AnyMatrix
from symattn.page.notation import Notation, with_decimals

OWN = "custom"
"""The mechanism of a program of one's own steps."""


@dataclass(frozen=True, slots=True)
class Erratum:
    """A mistake or an oddity of a note: what it says, what it should say, of which kind, and why."""

    id: str
    kind: str
    as_written: str
    corrected: str
    why: str = ""
    at: str = ""
    patch: str = ""


@dataclass(frozen=True)
class Problem:
    """One piece of work.

    `asked` are the names of the steps that a worksheet asks for, all in which something is worked out if it is empty;
    `exact` asks for exact values, otherwise for decimals with `places` places.  Decimals that are carried on are asked
    for as decimals, and printed with as many places.
    """

    title: str
    mechanism: str
    derivation: Derivation
    notation: Notation
    asked: tuple[str, ...] = ()
    exact: bool = True
    places: int = 4
    introduction: tuple[str, ...] = ()
    errata: tuple[Erratum, ...] = ()
    corrected: bool = True

    def __post_init__(self) -> None:
        if self.derivation.arithmetic != "exact":
            object.__setattr__(self, "exact", self.exact and self.derivation.arithmetic == "auto")
            object.__setattr__(self, "notation", with_decimals(self.notation, self.places))

    def __getitem__(self, name: str) -> Step:
        """The step of that name."""
        return self.derivation[name]

    @property
    def steps(self) -> tuple[Step, ...]:
        return self.derivation.steps

    @property
    def givens(self) -> dict[str, AnyMatrix]:
        return dict(self.derivation.givens)

    @property
    def asked_steps(self) -> tuple[Step, ...]:
        """The steps that have boxes on the worksheet: those named, else all in which something is worked out."""
        return tuple(s for s in self.steps if (s.name in self.asked if self.asked else not s.op.trivial))
