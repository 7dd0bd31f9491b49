"""A pool of variants: all different, equally hard, none hiding a mistake, every one proved before it is handed out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from symattn.document import AnswerGrid, Block, Box, Together
from symattn.errors import InputError, SelfCheckError
from symattn.exact import Matrix
from symattn.explanation.wording import Wording
from symattn.fairness import self_check
from symattn.fairness.dice import Dice
from symattn.formula.width import width
from symattn.identity import digest, identity
from symattn.problems import ProblemType, Spec, problem_type
from symattn.question import EntriesAnswer, Question, StepAnswer

MOST_DRAWS = 1000
"""For one variant, before the pool is called exhausted."""

RELABELLED = 20
"""Other orders of its features that are tried of every draw."""

OVERLAP = {"starter": 0.4, "standard": 0.3, "long": 0.3}
"""The largest share of entries that two keys may have in common (PEDAGOGY 4.8)."""


@dataclass
class Tally:
    """Why variants were drawn again."""

    drawn: int = 0
    refused: dict[str, int] = field(default_factory=dict)

    def refuse(self, why: str) -> None:
        self.refused[why] = self.refused.get(why, 0) + 1


def pool(spec: Spec, dice: Dice, tally: Tally | None = None, overlap: float | None = None) -> Iterator[Question]:
    """Variants without end, the first ones the same however many are taken.

    `InputError` when no more can be found that share little enough with those before; `SelfCheckError` if a key does
    not stand up to its second route.
    """
    chosen, tally = problem_type(spec.type), tally or Tally()
    most = OVERLAP[spec.level] if overlap is None else overlap
    key_of, relabel = chosen.key or (lambda content: ()), chosen.relabelled
    family = chosen.family(spec, dice.rng("family"))
    seen: set[str] = set()
    keys: list[tuple[str, ...]] = []
    while True:
        number = len(seen) + 1
        for attempt in range(MOST_DRAWS):
            tally.drawn += 1
            rng = dice.rng(number, attempt)
            content = chosen.draw(spec, rng, number, family)
            key = key_of(content)
            if spec.given:
                break
            for _ in range(RELABELLED):
                if relabel is None or all(shared(key, other) <= most for other in keys):
                    break
                content = relabel(content, spec, rng)
                key = key_of(content)
            if identity(content) in seen:
                tally.refuse("the same as another")
            elif any(shared(key, other) > most for other in keys):
                tally.refuse("a key too much like another one")
            elif complaint := chosen.complaint(content, family):
                tally.refuse(complaint)
            else:
                break
        else:
            raise InputError(_exhausted(spec, len(seen), tally))
        question = chosen.make(content)
        prove(question, chosen)
        seen.add(identity(content))
        keys.append(key)
        yield question


def _exhausted(spec: Spec, found: int, tally: Tally) -> str:
    why = max(tally.refused, key=lambda reason: tally.refused[reason], default="")
    numbers = "all with the numbers given" if spec.given else f"most often refused: {why}"
    return (
        f"After {found} variants of {spec.type} {MOST_DRAWS} more draws gave none that may be set ({numbers}): "
        "ask for fewer, for larger sizes, or allow more overlap."
    )


def shared(one: Sequence[str], other: Sequence[str]) -> float:
    """The share of entries that two keys have in common, position by position."""
    same = sum(a == b for a, b in zip(one, other, strict=False))
    return same / max(min(len(one), len(other)), 1)


# ------------------------------------------------------------------------------------------------ proving


def prove(question: Question, chosen: ProblemType) -> None:
    """Every variant proves itself before it is written; `SelfCheckError` says what does not hold."""
    if question.problem is not None:
        self_check(question.problem.derivation)
    frozen = json.loads(json.dumps(question.content))
    if digest(list(chosen.make(frozen).entries())) != digest(list(question.entries())):
        raise SelfCheckError(f"A variant of {question.type} does not come out of its frozen form as it went in.")
    for part in question.parts:
        for grid in _grids(part.ask):
            _fits(question, part.answer, grid)
    chosen.prove(question)


def _grids(blocks: Sequence[Block]) -> Iterator[AnswerGrid]:
    for block in blocks:
        if isinstance(block, AnswerGrid):
            yield block
        elif isinstance(block, Together | Box):
            yield from _grids(block.blocks)


ROOM = {"integer": 2.2, "decimal": 5.0, "fraction": 3.0}
"""The widest answer for a box, in em of print, of which handwriting takes about 5 mm each (PEDAGOGY 6.1)."""


def _fits(question: Question, answer: object, grid: AnswerGrid) -> None:
    if not isinstance(answer, StepAnswer | EntriesAnswer) or question.problem is None or grid.kind not in ROOM:
        return
    result = question.problem[answer.step].result
    if not isinstance(result, Matrix) or grid.kind == "decimal":
        return
    wording = Wording(question.problem.derivation, question.problem.notation)
    for i, row in enumerate(result.rows, 1):
        for j, x in enumerate(row, 1):
            if width(wording.number(x)) > ROOM[grid.kind]:
                raise SelfCheckError(
                    f"The answer {x} to {answer.step} ({i}, {j}) is too wide for its box ({grid.kind})."
                )


Progress = Callable[[Question], None]

__all__ = ["OVERLAP", "Progress", "Tally", "pool", "prove", "shared"]
