"""What problem types of items share: each item is drawn, asks one thing, and says what is wrong with its answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from symattn.errors import SelfCheckError
from symattn.page.document import Block, Inlines
from symattn.teaching.problems.asking import Prose, lettered, right_letter
from symattn.teaching.problems.base import ProblemType
from symattn.teaching.question import Part, Question


class Item:
    """One thing to be asked, a frozen dataclass of what is drawn for it; `load` says how much work it is."""

    kind: str

    load: ClassVar[float]

    def part(self, say: Prose) -> Part:
        """What is asked; the question names it."""
        raise NotImplementedError

    def trouble(self, part: Part) -> str:
        """Why the answer of its part is not the one right answer, by another route; "" if it is."""
        raise NotImplementedError


def question(
    asked: ProblemType[Any, Any],
    content: Any,
    parts: Sequence[Part],
    introduction: Block,
    conventions: tuple[Inlines, ...],
    given: tuple[Block, ...] = (),
) -> Question:
    """The question of a content with `items`, each of which has one of the parts; keys are balanced kind by kind."""
    keys: dict[str, str] = {}
    for item, part in zip(content.items, parts, strict=True):
        if letter := right_letter(part):
            keys[item.kind] = keys.get(item.kind, "") + letter
    return Question(
        type=asked.name,
        title=asked.title,
        introduction=(introduction,),
        given=given,
        parts=lettered(parts),
        content=content,
        conventions=conventions,
        features={"load": float(sum(item.load for item in content.items))},
        positions=keys,
    )


def prove(question: Question) -> None:
    """`SelfCheckError` for an answer that is not the right one."""
    for item, part in zip(question.content.items, question.parts, strict=True):
        if trouble := item.trouble(part):
            raise SelfCheckError(f"Part {part.name} of {question.type}, {item}: {trouble}.")


__all__ = ["Item", "prove", "question"]
