"""A pool of variants: all different, equally hard, none hiding a mistake, every one proved before it is handed out."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cached_property
from itertools import chain, islice
from typing import Any, Protocol, TypeVar

from symattn.errors import InputError, SelfCheckError
from symattn.foundation.dice import Counted, Dice
from symattn.foundation.identity import digest, identity
from symattn.teaching.fairness import self_check
from symattn.teaching.problems import ProblemType, Spec, problem_type
from symattn.teaching.question import Content, Question

MOST_DRAWS = 1000
"""For one variant; after so many, there is none."""

ENOUGH_DRAWS = {50: 100, 100: 20}
"""After so many draws the one least like the others will do, for variants up to that number: further on, few families
have one unlike all others, and to search for it would be all the work there is."""

FEW_DRAWS = 5
"""The same beyond these numbers."""

AHEAD = 100
"""So many variants at most are chosen before the first is made, to know what room there is: two to six seconds."""

OVERLAP = {"starter": 0.4, "standard": 0.3, "long": 0.3}
"""The largest share of entries that two keys may have in common (rules.md 4.8)."""


@dataclass
class Tally:
    """How a pool came about: how many were drawn, why some again, and the overlaps above what was wanted."""

    drawn: int = 0
    refused: dict[str, int] = field(default_factory=dict)
    alike: list[float] = field(default_factory=list)
    room: int | None = None
    """How many there were before the first that overlaps more than is wanted, once there is one."""
    ahead: int = 0
    """How many are chosen before the first is handed out."""
    told: Callable[[int], None] = lambda room: None
    """Who is told of the room: before the first is handed out, if it is known then."""

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
    """Of the candidates for one variant after the other, the first that may be set beside those chosen before.

    One whose key is too much like another's waits, and is judged only if after enough draws there is none better.
    """
    found = _one_by_one(spec, candidates, tally, overlap)
    first = [next(found) for _ in range(tally.ahead)]
    if first and tally.room is not None:
        tally.told(tally.room)
    yield from chain(first, found)


def room(spec: Spec, dice: Dice, most: int = AHEAD) -> int | None:
    """How many variants there are before the keys overlap more than is wanted, or end; None for at least `most`."""
    tally, found, drawn = Tally(), 0, Drawn(spec, dice)
    try:
        for _ in islice(choose(spec, drawn, tally), most):
            if tally.room is not None:
                return tally.room
            found += 1
    except InputError:
        return found
    return None


def _one_by_one(spec: Spec, candidates: Candidates[One], tally: Tally, overlap: float | None) -> Iterator[One]:
    most = OVERLAP[spec.level] if overlap is None else overlap
    seen: set[str] = set()
    keys = Keys()

    def may_be_set(found: Candidate) -> bool:
        if complaint := found.complaint or ("the same as another" if found.name in seen else ""):
            tally.refuse(complaint)
        return not complaint

    while True:
        number = len(seen) + 1
        enough = next((draws for last, draws in ENOUGH_DRAWS.items() if number <= last), FEW_DRAWS)
        best: tuple[float, One] | None = None
        waiting: list[tuple[float, One]] = []
        for attempt in range(MOST_DRAWS):
            tally.drawn += 1
            found = candidates.drawn(number, attempt)
            alike = keys.likeness(found.key)
            if alike > most and (others := [(keys.likeness(other.key), other) for other in found.others()]):
                alike, found = min(others, key=lambda other: other[0])
            if alike <= most:
                judged = iter([(alike, found)])
            else:
                waiting.append((alike, found))
                if attempt + 1 < enough:
                    continue
                waiting, judged = [], iter(sorted(waiting, key=lambda one: one[0]))
            best = next((one for one in judged if may_be_set(one[1])), None)
            if best:
                for _ in (*judged, *waiting):
                    tally.refuse("a key too much like another one")
                break
        if best is None:
            raise InputError(_exhausted(spec, len(seen), tally))
        overlapping, found = best
        if overlapping > most:
            tally.alike.append(overlapping)
            if tally.room is None:
                tally.room = len(seen)
                if len(seen) >= tally.ahead:
                    tally.told(tally.room)
        seen.add(found.name)
        keys.add(found.key)
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


class Keys:
    """The keys of a pool, indexed by what stands where: how much a new one is like any of them is told in one pass.

    A set of keys is one integer with a bit for each.  Those of each length are a group of their own, for which there is
    an index for every place.
    """

    def __init__(self) -> None:
        self.sizes: dict[int, int] = {}
        self.places: dict[int, list[dict[Hashable, int]]] = {}

    def add(self, key: Key) -> None:
        length = len(key)
        size = self.sizes.get(length, 0)
        self.sizes[length] = size + 1
        for having, entry in zip(self.places.setdefault(length, [{} for _ in key]), key, strict=True):
            having[entry] = having.get(entry, 0) | 1 << size

    def likeness(self, key: Key) -> float:
        """The largest share of entries that a key has in common with one of these, position by position."""
        return max((_most(key, p) / max(min(len(key), length), 1) for length, p in self.places.items()), default=0.0)


def _most(key: Key, places: Sequence[Mapping[Hashable, int]]) -> int:
    """The most entries that a key has in common with one of those that are indexed.

    Entries are counted for all of them at once: `digits` has a set of keys for every binary digit of the counts, and
    two sets of one digit are added to the total of it, which leaves one of the next.
    """
    digits: list[int] = []
    having = [found for place, entry in zip(places, key, strict=False) if (found := place.get(entry))]
    while having:
        total = having.pop() if len(having) % 2 else 0
        pairs, having = iter(having), []
        for a, b in zip(pairs, pairs, strict=True):
            half = total ^ a
            if carried := total & a | half & b:
                having.append(carried)
            total = half ^ b
        digits.append(total)
    most, best = 0, -1  # all of them
    for i in reversed(range(len(digits))):
        if digits[i] & best:
            best &= digits[i]
            most += 1 << i
    return most


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

    @cached_property
    def frozen(self) -> Content:
        return self._of.type.freeze(self.content)

    @cached_property
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
    thawed = chosen.thaw(question.frozen, "A variant")
    if not alike(thawed, question.content):  # else the question, which is a function of its content, is the same
        again = chosen.make(thawed)
        if digest(list(again.entries())) != digest(list(question.entries())):
            raise SelfCheckError(f"A variant of {question.type} does not come out of its frozen form as it went in.")
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


__all__ = [
    "AHEAD",
    "OVERLAP",
    "Candidate",
    "Drawn",
    "Keys",
    "Tally",
    "alike",
    "choose",
    "pool",
    "prove",
    "room",
    "shared",
]
