"""Misconceptions about counting (rules.md 2.2), which spoil no step of a derivation: they give another number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from symattn.derivation.misconceptions.base import Prior


@dataclass(frozen=True)
class Miscount:
    """One entry of the catalogue: what is counted instead, how that shows, and one sentence to the student."""

    id: str
    name: str
    exactly: str
    tell: str
    feedback: str
    source: str
    prior: Prior = "medium"


_ALL = (
    Miscount(
        "N1",
        "biases were forgotten, or counted where there are none",
        "4d² for 4d² + 4d, or the other way about",
        "Off by a multiple of d, with no factor n or h.",
        "Every product with a bias has one number more for each of its columns; say which ones have a bias.",
        "experience",
    ),
    Miscount(
        "N2",
        "every head was given the full width",
        "h·4d² for 4d²: weights d × d in every head, which are d × d/h",
        "The right number times h.",
        "The heads share the width: each has d/h columns, and all of them together have d.",
        "experience",
        "high",
    ),
    Miscount(
        "N3",
        "the output weights were left out",
        "3d² for 4d²",
        "Three quarters of the right number.",
        "The heads side by side are multiplied by the output weights, which are d × d as well.",
        "experience",
    ),
    Miscount(
        "N4",
        "multiply-adds and FLOPs were confused",
        "n·d² for 2n·d², or the other way about",
        "Half or twice the right number.",
        "A multiply-add is one multiplication and one addition: one operation, or two FLOPs.",
        "experience",
    ),
    Miscount(
        "N5",
        "the scores and the weighted values were forgotten",
        "4n·d² for 4n·d² + 2n²·d",
        "No term with n².",
        "Every query is multiplied by every key, and every weight by a value: that makes n²·d twice.",
        "experience",
    ),
    Miscount(
        "N6",
        "tied embeddings were counted twice",
        "2V·d for V·d",
        "Too much by V·d.",
        "A tied output layer uses the weights of the embedding: count them once as parameters, but do count its "
        "multiplications.",
        "Press and Wolf 2017",
    ),
    Miscount(
        "N7",
        "a layer norm was given d parameters, or none",
        "d for 2d",
        "Too little by d for every norm.",
        "A layer norm has γ and β, d numbers each; an RMS norm has γ alone.",
        "experience",
    ),
    Miscount(
        "N8",
        "shared weights counted once per token, or operations counted for one token only",
        "n·4d² for 4d², or d² for n·d²",
        "A factor n too much, or too little.",
        "All tokens are multiplied by the same weights: the number of weights does not depend on n, but the number "
        "of operations does.",
        "note 000: nine boxes of weights for three tokens",
    ),
)

COUNTING: Mapping[str, Miscount] = MappingProxyType({m.id: m for m in _ALL})
"""The catalogue by id."""
