"""A pool of variants: all different, equally hard, none hiding a mistake, every one proved before it is handed out."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, TypeVar

from symattn.errors import InputError, SelfCheckError
from symattn.exact import Matrix
from symattn.formula.width import width
from symattn.foundation.dice import Counted, Dice
from symattn.foundation.identity import digest, identity
from symattn.page.document import AnswerGrid, all_blocks
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.fairness import self_check
from symattn.teaching.problems import ProblemType, Spec, problem_type
from symattn.teaching.question import Content, EntriesAnswer, Question, StepAnswer

ENOUGH_DRAWS, MOST_DRAWS = 100, 1000
"""For one variant: after the first so many, the one least like the others will do; after the second, there is none."""

ROOMY, CROWDED = 50, 5
"""Beyond so many variants the search for one unlike all others is shorter by this factor: it seldom finds one."""

OVERLAP = {"starter": 0.4, "standard": 0.3, "long": 0.3}
"""The largest share of entries that two keys may have in common (rules.md 4.8)."""


@dataclass
class Tally:
    """How a pool came about: how many were drawn, why some again, and the overlaps above what was wanted."""

    drawn: int = 0
    refused: dict[str, int] = field(default_factory=dict)
    alike: list[float] = field(default_factory=list)

    def refuse(self, why: str) -> None:
        self.refused[why] = self.refused.get(why, 0) + 1


def pool(spec: Spec, dice: Dice, tally: Tally | None = None, overlap: float | None = None) -> Iterator[Question]:
    """Variants without end, the first ones the same however many are taken.

    Keys of numbers overlap in at most the share of entries that the level allows, or `overlap`; where a family has no
    more room, by as little more as can be found, and the tally tells.  `InputError` when no more can be found at all;
    `SelfCheckError` if a key does not stand up to its second route.
    """
    drawn = Drawn(spec, dice)
    for found in choose(spec, drawn, tally or Tally(), overlap):
        question = drawn.type.make(found.content)
        prove(question, drawn.type)
        yield question


Key = Sequence[Hashable]


class Candidate(Protocol):
    """What an attempt at a variant came to.

    `key` is what it is compared by, `frozen` what it is made from, as JSON, and `name` its identity; `complaint` says
    why it may not be set, "" if it may; `others` are as hard and have other keys.
    """

    @property
    def key(self) -> Key: ...
    @property
    def name(self) -> str: ...
    @property
    def frozen(self) -> Content: ...
    @property
    def complaint(self) -> str: ...
    def others(self) -> Sequence[Any]: ...


One = TypeVar("One", bound=Candidate, covariant=True)


class Candidates(Protocol[One]):
    """Candidates by the number of the variant, from 1, and of the attempt, from 0; the same whoever draws them."""

    def drawn(self, number: int, attempt: int) -> One: ...


def choose(spec: Spec, candidates: Candidates[One], tally: Tally, overlap: float | None = None) -> Iterator[One]:
    """Of the candidates for one variant after the other, the first that may be set beside those chosen before."""
    most = OVERLAP[spec.level] if overlap is None else overlap
    seen: set[str] = set()
    keys: list[Key] = []

    def likeness(key: Key) -> float:
        return max((shared(key, other) for other in keys), default=0.0)

    while True:
        number = len(seen) + 1
        enough = ENOUGH_DRAWS if number <= ROOMY else ENOUGH_DRAWS // CROWDED
        best: tuple[float, One] | None = None
        for attempt in range(MOST_DRAWS):
            if best and (best[0] <= most or attempt >= enough):
                break
            tally.drawn += 1
            found = candidates.drawn(number, attempt)
            alike = likeness(found.key)
            if alike > most and (others := [(likeness(other.key), other) for other in found.others()]):
                alike, found = min(others, key=lambda other: other[0])
            if best and alike >= best[0]:
                tally.refuse("a key too much like another one")
            elif found.name in seen:
                tally.refuse("the same as another")
            elif complaint := found.complaint:
                tally.refuse(complaint)
            else:
                best = alike, found
        if best is None:
            raise InputError(_exhausted(spec, len(seen), tally))
        overlapping, found = best
        if overlapping > most:
            tally.alike.append(overlapping)
        seen.add(found.name)
        keys.append(found.key)
        yield found


def _exhausted(spec: Spec, found: int, tally: Tally) -> str:
    why = max(tally.refused, key=lambda reason: tally.refused[reason], default="")
    numbers = "all with the numbers given" if spec.given else f"most often refused: {why}"
    return (
        f"After {found} variants of {spec.type} {MOST_DRAWS} more draws gave none that may be set ({numbers}): "
        "ask for fewer, or for larger sizes."
    )


def shared(one: Key, other: Key) -> float:
    """The share of entries that two keys have in common, position by position."""
    same = sum(a == b for a, b in zip(one, other, strict=False))
    return same / max(min(len(one), len(other)), 1)


# ------------------------------------------------------------------------------------------------ drawing


class Drawn:
    """Candidates that are drawn here, when they are asked for."""

    def __init__(self, spec: Spec, dice: Dice) -> None:
        self.spec, self.dice, self.type = spec, dice, problem_type(spec.type)
        self.family = self.type.family(spec, dice.rng("family"))

    def drawn(self, number: int, attempt: int) -> DrawnHere:
        rng = self.dice.rng(number, attempt)
        return self._candidate(self.type.draw(self.spec, rng, number, self.family), rng)

    def thawed(self, frozen: Content, rng: Counted) -> DrawnHere:
        """A candidate that was drawn elsewhere, and the generator as it was left there."""
        return self._candidate(self.type.thaw(frozen, "A variant"), rng)

    def _candidate(self, content: Any, rng: Counted) -> DrawnHere:
        key = self.type.key(content) if self.type.key else ()
        return DrawnHere(self, key, lambda: content, rng)


class DrawnHere:
    """A candidate that was drawn here; what nobody asks about it is not worked out."""

    def __init__(self, of: Drawn, key: Key, make: Callable[[], Any], rng: Counted | None = None) -> None:
        self._of, self.key, self._make, self._rng = of, key, make, rng
        self.used = rng.used if rng else 0

    @cached_property
    def content(self) -> Any:
        return self._make()

    @property
    def frozen(self) -> Content:
        return self._of.type.freeze(self.content)

    @property
    def name(self) -> str:
        return identity(self.frozen)

    @property
    def complaint(self) -> str:
        return "" if self._of.spec.given else self._of.type.complaint(self.content, self._of.family)

    def others(self) -> list[DrawnHere]:
        if self._rng is None or self._of.type.relabellings is None:
            return []
        made = self._of.type.relabellings(self.content, self._of.spec, self._rng)
        return [DrawnHere(self._of, key, make) for key, make in made]


# ------------------------------------------------------------------------------------------------ proving


def prove(question: Question, chosen: ProblemType[Any, Any]) -> None:
    """Every variant proves itself before it is written; `SelfCheckError` says what does not hold."""
    if question.problem is not None:
        self_check(question.problem.derivation)
    again = chosen.make(chosen.thaw(question.frozen, "A variant"))
    if digest(list(again.entries())) != digest(list(question.entries())):
        raise SelfCheckError(f"A variant of {question.type} does not come out of its frozen form as it went in.")
    for part in question.parts:
        for block in all_blocks(part.ask):
            if isinstance(block, AnswerGrid):
                _fits(question, part.answer, block)
    chosen.prove(question)


ROOM = {"integer": 2.2, "decimal": 5.0, "fraction": 3.0}
"""The widest answer for a box, in em of print, of which handwriting takes about 5 mm each (rules.md 6.1)."""


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


__all__ = ["OVERLAP", "Candidate", "Drawn", "Tally", "choose", "pool", "prove", "shared"]
