"""Types that ask for a full derivation of one mechanism or another: their option `what` says of which."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from symattn.page.document import Paragraph, Words
from symattn.teaching.problems import derived, full
from symattn.teaching.problems.base import NOTHING, ProblemType
from symattn.teaching.problems.derived import Content, Family
from symattn.teaching.question import Question


@dataclass(frozen=True)
class Asked:
    """One thing to ask for: its mechanism, what the student is told first, and its own choices for a `Spec`."""

    mechanism: str
    told: str
    preset: Mapping[str, Any] = field(default_factory=lambda: NOTHING)


def variety(name: str, title: str, asked: Mapping[str, Asked]) -> ProblemType[Content, Family]:
    """The type of that name; the first of what it may ask for is the usual one."""
    told = {one.mechanism: one.told for one in asked.values()}

    def make(content: Content) -> Question:
        question = full.make(content)
        first = Paragraph((Words(told[content.mechanism]),))
        return replace(question, type=name, introduction=(first, *question.introduction))

    first, *_ = asked
    return ProblemType(
        name=name,
        title=title,
        draw=derived.content,
        make=make,
        content=Content,
        family=derived.family,
        key=derived.key,
        relabellings=derived.relabellings,
        options={"what": (first, ", ".join(asked))},
        presets={what: {"mechanism": one.mechanism, **one.preset} for what, one in asked.items()},
    )


__all__ = ["Asked", "variety"]
