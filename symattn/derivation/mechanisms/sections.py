"""Where steps stand: the heads, layers and tokens in their names, and the headings above them."""

from __future__ import annotations

from dataclasses import dataclass

from symattn.derivation.derivation import Derivation, Op, Operand
from symattn.foundation.languages import message


def layer_words(place: str) -> str:
    """A layer in words, from its place in names: self-attention of Q^self, block 2 of Q^2; "" where there is none."""
    return message("block {block}", block=place) if place.isdecimal() else _ATTENTIONS.get(place, place)


_ATTENTIONS = {"self": message("self-attention"), "cross": message("cross-attention")}


@dataclass(frozen=True, slots=True)
class Scope:
    """Where steps stand: in which of how many heads, in which layer, for which token.  Names end in it: S_1^self.2."""

    head: int | None = None
    place: str = ""
    of: int = 1
    token: int | None = None

    def __call__(self, stem: str) -> str:
        head, place = f"_{self.head}" if self.head else "", f"^{self.place}" if self.place else ""
        return stem + head + place + (f".{self.token}" if self.token else "")

    @property
    def section(self) -> str:
        if self.token:
            return message("token {token}", token=self.token)
        if not self.head:
            return layer_words(self.place)
        if not self.place:
            return message("head {head}", head=self.head)
        return message("head {head}, {place}", head=self.head, place=layer_words(self.place))


NO_SCOPE = Scope()
"""Of steps that are in no head, layer or token."""


@dataclass
class Section:
    """A part of a derivation that is being written: steps under one heading, in the names of their scope."""

    d: Derivation
    scope: Scope
    heading: str | None = None

    def add(self, stem: str, op: Op, *operands: str | Operand) -> str:
        """One more step; what it is called."""
        name, heading = self.scope(stem), self.scope.section if self.heading is None else self.heading
        self.d = self.d.then(name, op, *operands, section=heading)
        return name
