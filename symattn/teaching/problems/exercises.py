"""Full derivations of one mechanism or another, which stand in `exercises.toml`: the parts of a Transformer block
beside attention (rules.md 5, type 13), gradients by hand (14), and what comes after self-attention (18).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from symattn.teaching.problems import derived, full
from symattn.teaching.problems.asking import bank
from symattn.teaching.problems.draws import NOTHING, ProblemType


@dataclass(frozen=True)
class Exercise:
    """One thing to ask for: its mechanism, what the student is told first, and its own choices for a `Spec`."""

    mechanism: str
    told: str
    preset: Mapping[str, Any] = field(default_factory=lambda: NOTHING)


@dataclass(frozen=True)
class ExerciseBank:
    """What `exercises.toml` has of a type."""

    title: str
    exercises: Mapping[str, Exercise]


def variety(name: str, title: str, asked: Mapping[str, Exercise]) -> ProblemType:
    """A type that asks for a full derivation, of which mechanism its option `what` says; the first is the usual one."""
    return derived.about_derivations(
        partial(full.made, told={one.mechanism: one.told for one in asked.values()}),
        name=name,
        title=title,
        relabellings=derived.relabellings,
        options={"what": (next(iter(asked)), ", ".join(asked))},
        presets={what: {"mechanism": one.mechanism, **one.preset} for what, one in asked.items()},
    )


TYPES = tuple(
    variety(name, of_type.title, of_type.exercises)
    for name, of_type in bank(dict[str, ExerciseBank], "exercises").items()
)
