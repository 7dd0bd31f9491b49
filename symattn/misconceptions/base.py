"""A misconception: a wrong belief, as a function from a derivation to the derivation that someone with it writes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from symattn.derivation import Derivation
from symattn.exact import AnyMatrix, Matrix

Prior = Literal["high", "medium", "low"]


@dataclass(frozen=True)
class Misconception:
    """One entry of the catalogue.

    `change` gives the derivation that someone with this belief writes, everything after it right: it raises
    `ShapeError` or `UndefinedError` where that cannot be worked out, and returns None where it has no place (no mask,
    no projection, a scale that is 1).  `at` is the role of the first step that it spoils.  `tell` says how it differs
    from its look-alikes, `feedback` is one sentence to the student, with matrices as `$@name(Q)$`, in the notation's
    own signs.  A `core` one must be visible in every exam variant.
    """

    id: str
    name: str
    at: str
    change: Callable[[Derivation], Derivation | None]
    exactly: str
    tell: str
    feedback: str
    source: str
    prior: Prior
    core: bool = False

    def on(self, derivation: Derivation) -> Wrong | None:
        """What this belief makes of a derivation; None where it has no place in it."""
        raise NotImplementedError


@dataclass(frozen=True)
class Wrong:
    """A derivation with a misconception in it, as far as it goes.

    `first` is the first step whose value is not the right one, none where the misconception cannot be seen in this
    variant; `stopped` says why it goes no further (a product that is not defined), which gives the mistake away.
    """

    misconception: Misconception
    derivation: Derivation
    first: str | None
    stopped: str = ""

    def value(self, step: str) -> AnyMatrix | None:
        """What would be written for a step; None where it goes no further."""
        return self.derivation.value(step) if step in self.derivation else None


__all__ = ["Matrix", "Misconception", "Prior", "Wrong"]
