"""The bank of theorems: statement, proof, what a marker looks for, and instances to check it with numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from symattn.teaching.problems.asking import bank
from symattn.teaching.problems.instances import Direct
from symattn.teaching.problems.instances_of_outputs import (
    Causal,
    ConvexHull,
    Copies,
    EqualScores,
    OrderOfProducts,
    Permutation,
    Rounded,
)
from symattn.teaching.problems.instances_of_weights import (
    Doubling,
    KeyBias,
    Masked,
    ProductAlone,
    Shift,
    Temperature,
    Variance,
)


@dataclass(frozen=True)
class Theorem:
    """What `theorems.toml` says of one: what a marker looks for, one mark each, and the lines of a proof."""

    title: str
    statement: str
    points: tuple[str, ...]
    proof: tuple[str, ...]
    turned: Mapping[str, str] = field(default_factory=dict)

    def lying(self, columns: bool) -> Theorem:
        """What is said of tokens as rows, or of tokens as columns: `turned` has what is said otherwise by its place."""
        if not columns:
            return self

        def said(place: str, texts: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(self.turned.get(f"{place} {k}", text) for k, text in enumerate(texts, 1))

        return replace(
            self,
            statement=self.turned.get("statement", self.statement),
            points=said("point", self.points),
            proof=said("proof", self.proof),
        )


AnInstance = (
    Shift
    | Permutation
    | KeyBias
    | ConvexHull
    | Masked
    | Variance
    | Temperature
    | Doubling
    | EqualScores
    | Copies
    | ProductAlone
    | Causal
    | OrderOfProducts
    | Rounded
)

INSTANCES: Mapping[str, type[AnInstance]] = {
    "shift": Shift,
    "permutation": Permutation,
    "key bias": KeyBias,
    "convex hull": ConvexHull,
    "mask": Masked,
    "variance": Variance,
    "temperature": Temperature,
    "doubling": Doubling,
    "equal scores": EqualScores,
    "copies": Copies,
    "product": ProductAlone,
    "causal": Causal,
    "order of products": OrderOfProducts,
    "rounding": Rounded,
}

THEOREMS: Mapping[str, Theorem] = MappingProxyType(bank(dict[str, Theorem], "theorems"))

__all__ = ["INSTANCES", "THEOREMS", "AnInstance", "Direct", "Theorem"]
