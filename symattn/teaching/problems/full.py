"""The full derivation in boxes: every step asked, from the givens to the output (rules.md 5, type 1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from symattn.teaching import derivation_question
from symattn.teaching.problems import derived
from symattn.teaching.problems.asking import blocks
from symattn.teaching.problems.draws import NOTHING, Draw, ProvedQuestion


def made(draw: Draw, told: Mapping[str, str] = NOTHING) -> ProvedQuestion:
    """What the student is `told` first goes by the mechanism."""
    whole = derivation_question.question(derived.problem_of(draw.record), draw.record)
    opening = blocks([told[draw["mechanism"]]] if told else [])
    return ProvedQuestion(replace(whole, type=draw.type.name, introduction=(*opening, *whole.introduction)))


TYPE = derived.about_derivations(
    made, name="full", title="Full derivation in answer boxes", relabellings=derived.relabellings
)
