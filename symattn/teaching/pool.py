"""A pool of variants: all different, equally hard, none hiding a mistake, every one proved before it is handed out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from symattn.errors import InputError, SelfCheckError
from symattn.exact import Matrix
from symattn.formula.width import width
from symattn.foundation.dice import Dice
from symattn.foundation.identity import digest, identity
from symattn.page.document import AnswerGrid, all_blocks
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.fairness import self_check
from symattn.teaching.problems import ProblemType, Spec, problem_type
from symattn.teaching.question import EntriesAnswer, Question, StepAnswer

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
    chosen, tally = problem_type(spec.type), tally or Tally()
    most = OVERLAP[spec.level] if overlap is None else overlap
    key_of = chosen.key or (lambda content: ())
    family = chosen.family(spec, dice.rng("family"))
    seen: set[str] = set()
    keys = Keys()
    while True:
        number = len(seen) + 1
        enough = ENOUGH_DRAWS if number <= ROOMY else ENOUGH_DRAWS // CROWDED
        best: tuple[float, tuple[str, ...], Any] | None = None
        for attempt in range(MOST_DRAWS):
            if best and (best[0] <= most or attempt >= enough):
                break
            tally.drawn += 1
            rng = dice.rng(number, attempt)
            content = chosen.draw(spec, rng, number, family)
            found = (keys.likeness(key := key_of(content)), key, content)
            if found[0] > most and chosen.relabellings:
                others = [(keys.likeness(k), k, m) for k, m in chosen.relabellings(content, spec, rng)]
                if others:
                    least, key, made = min(others, key=lambda f: f[0])
                    found = (least, key, made())
            if identity(chosen.freeze(found[2])) in seen:
                tally.refuse("the same as another")
            elif best and found[0] >= best[0]:
                tally.refuse("a key too much like another one")
            elif not spec.given and (complaint := chosen.complaint(found[2], family)):
                tally.refuse(complaint)
            else:
                best = found
        if best is None:
            raise InputError(_exhausted(spec, len(seen), tally))
        overlapping, key, content = best
        if overlapping > most:
            tally.alike.append(overlapping)
        question = chosen.make(content)
        prove(question, chosen)
        seen.add(identity(question.frozen))
        keys.add(key)
        yield question


def _exhausted(spec: Spec, found: int, tally: Tally) -> str:
    why = max(tally.refused, key=lambda reason: tally.refused[reason], default="")
    numbers = "all with the numbers given" if spec.given else f"most often refused: {why}"
    return (
        f"After {found} variants of {spec.type} {MOST_DRAWS} more draws gave none that may be set ({numbers}): "
        "ask for fewer, or for larger sizes."
    )


def shared(one: Sequence[str], other: Sequence[str]) -> float:
    """The share of entries that two keys have in common, position by position."""
    same = sum(a == b for a, b in zip(one, other, strict=False))
    return same / max(min(len(one), len(other)), 1)


class Keys:
    """The keys of a pool, indexed by what stands where: how much a new one is like any of them is told in one pass.

    A set of keys is one integer with a bit for each.  Those of each length are a group of their own, for which there is
    an index for every place.
    """

    def __init__(self) -> None:
        self.sizes: dict[int, int] = {}
        self.places: dict[int, list[dict[str, int]]] = {}

    def add(self, key: Sequence[str]) -> None:
        length = len(key)
        size = self.sizes.get(length, 0)
        self.sizes[length] = size + 1
        for having, entry in zip(self.places.setdefault(length, [{} for _ in key]), key, strict=True):
            having[entry] = having.get(entry, 0) | 1 << size

    def likeness(self, key: Sequence[str]) -> float:
        """The largest share of entries that a key has in common with one of these, position by position."""
        return max((_most(key, p) / max(min(len(key), length), 1) for length, p in self.places.items()), default=0.0)


def _most(key: Sequence[str], places: Sequence[Mapping[str, int]]) -> int:
    """The most entries that a key has in common with one of those that are indexed.

    Entries are counted for all of them at once: `digits` has a set of keys for every binary digit of the counts.
    """
    digits: list[int] = []
    for having, entry in zip(places, key, strict=False):
        carry = having.get(entry, 0)
        for i, digit in enumerate(digits):
            if not carry:
                break
            digits[i], carry = digit ^ carry, digit & carry
        if carry:
            digits.append(carry)
    most, best = 0, -1  # all of them
    for i in reversed(range(len(digits))):
        if digits[i] & best:
            best &= digits[i]
            most += 1 << i
    return most


# ------------------------------------------------------------------------------------------------ proving


def prove(question: Question, chosen: ProblemType[Any, Any]) -> None:
    """Every variant proves itself before it is written; `SelfCheckError` says what does not hold."""
    if question.problem is not None:
        self_check(question.problem.derivation)
    thawed = chosen.thaw(question.frozen, "A variant")
    if not alike(thawed, question.content):  # else the question, which is a function of its content, is the same
        again = chosen.make(thawed)
        if digest(list(again.entries())) != digest(list(question.entries())):
            raise SelfCheckError(f"A variant of {question.type} does not come out of its frozen form as it went in.")
    for part in question.parts:
        for block in all_blocks(part.ask):
            if isinstance(block, AnswerGrid):
                _fits(question, part.answer, block)
    chosen.prove(question)


def alike(one: object, other: object) -> bool:
    """Whether two contents are the same, type for type: 1 is neither True nor a fraction, a tuple is no list."""
    if type(one) is not type(other):
        return False
    if is_dataclass(one):
        return all(alike(getattr(one, f.name), getattr(other, f.name)) for f in fields(one))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return list(one) == list(other) and all(alike(x, other[name]) for name, x in one.items())
    if isinstance(one, tuple | list) and isinstance(other, tuple | list):
        return len(one) == len(other) and all(map(alike, one, other))
    return one == other


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


__all__ = ["OVERLAP", "Keys", "Tally", "alike", "pool", "prove", "shared"]
