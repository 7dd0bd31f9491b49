"""A pool of variants: all different, equally hard, none hiding a mistake, every one proved before it is handed out."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, count, islice
from operator import itemgetter
from random import Random

from symattn.errors import InputError, SelfCheckError
from symattn.foundation.dice import Dice
from symattn.foundation.identity import digest, identity
from symattn.teaching.fairness.selfcheck import self_check
from symattn.teaching.problems import ProblemType, Spec, problem_type
from symattn.teaching.problems.draws import Record
from symattn.teaching.question import Content, Question

MOST_DRAWS, MOST_ORDERS = 1000, 4000
"""The most draws for one variant, and the most orders of these that are looked at."""

ENOUGH_DRAWS = 6
"""After so many draws, each in many orders, the one least like the others will do.  Once there is no more room, the
first will: to search for a better one would be all the work there is, and of two the better is hardly better."""

AHEAD = 100
"""The most variants that are chosen before the first is made, to know what room there is."""

SAME_KEY_DRAWS = 30
"""The most draws where all of them would have the same key as another one."""

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

    def overlaps(self, share: float, before: int) -> None:
        """A variant after so many `before` it has a key that overlaps another by more than is wanted."""
        self.alike.append(share)
        if self.room is None:
            self.room = before
            if before >= self.ahead:
                self.told(before)


def pool(spec: Spec, dice: Dice, tally: Tally | None = None, overlap: float | None = None) -> Iterator[Question]:
    """Variants without end, the first ones the same however many are taken.

    Keys of numbers overlap in at most the share of entries that the level allows, or `overlap`; where a family has no
    more room, by as little more as can be found, and the tally tells.  `InputError` when no more can be found at all;
    `SelfCheckError` if a key does not stand up to its second route.
    """
    chosen = problem_type(spec.type)
    for candidate in choose(spec, Drawn(spec, dice), tally or Tally(), overlap):
        question = chosen.make(candidate.content)
        prove(question, chosen)
        yield question


def chosen_contents(
    spec: Spec, dice: Dice, count: int, tally: Tally | None = None, overlap: float | None = None
) -> Iterator[Content]:
    """What the first `count` variants of a pool are made from, as JSON."""
    for candidate in islice(choose(spec, Drawn(spec, dice), tally or Tally(), overlap), count):
        yield candidate.content


Key = Sequence[Hashable]


def choose(spec: Spec, candidates: Drawn, tally: Tally, overlap: float | None = None) -> Iterator[Candidate]:
    """Of the candidates for one variant after the other, the first that may be set beside those chosen before.

    One whose key is too much like another's waits, and is taken only if after enough draws there is none better.
    """
    chosen_ones = _one_by_one(spec, candidates, tally, overlap)
    first = [next(chosen_ones) for _ in range(tally.ahead)]
    if first and tally.room is not None:
        tally.told(tally.room)
    yield from chain(first, chosen_ones)


def room(spec: Spec, dice: Dice, most: int = AHEAD) -> int | None:
    """How many variants there are before the keys overlap more than is wanted, or end; None for at least `most`."""
    tally, count, drawn = Tally(), 0, Drawn(spec, dice)
    try:
        for _ in islice(choose(spec, drawn, tally), most):
            if tally.room is not None:
                return tally.room
            count += 1
    except InputError:
        return count
    return None


def no_more_room(room: int, level: str) -> str:
    """The sentence on a set in which too few keys differ as much as they should on a level."""
    return (
        f"From sheet {room + 1} on, keys may have more than {OVERLAP[level]:.0%} of their entries in common with "
        "earlier ones: there is room for no more that differ so much. Larger sizes leave more."
    )


def _one_by_one(spec: Spec, candidates: Drawn, tally: Tally, overlap: float | None) -> Iterator[Candidate]:
    most = OVERLAP[spec.level] if overlap is None else overlap
    seen: set[str] = set()
    keys = Keys()
    for number in count(1):
        least = _least_alike(
            (candidates.drawn(number, attempt) for attempt in range(MOST_DRAWS)), keys, seen, most, tally
        )
        if least is None:
            raise InputError(_exhausted(spec, number - 1, tally))
        alike, chosen = least
        if alike > most:
            tally.overlaps(alike, number - 1)
        seen.add(chosen.name)
        keys.add(chosen.key)
        yield chosen


def _least_alike(
    draws: Iterable[Candidate], keys: Keys, seen: set[str], most: float, tally: Tally
) -> tuple[float, Candidate] | None:
    """Of the draws for one variant, the first whose key overlaps others by at most `most`, with its overlap.

    Of enough draws that all overlap more, the one that does least; None if all of them were `seen`.
    """
    least: tuple[float, Candidate] | None = None
    looked_at = 0
    for attempt, drawn in enumerate(draws, 1):
        tally.drawn += 1
        alike = keys.likeness(drawn.key)
        if alike > most:
            orders = drawn, *drawn.others()
            looked_at += len(orders)
            alike, drawn = min(((keys.likeness(other.key), other) for other in orders), key=itemgetter(0))
        if drawn.name in seen:
            tally.refuse("the same as another")
        else:
            if least is None or alike < least[0]:
                least = alike, drawn
            enough = SAME_KEY_DRAWS if least[0] == 1 else ENOUGH_DRAWS if tally.room is None else 1
            if least[0] <= most or attempt >= enough:
                break
            tally.refuse("a key too much like another one")
        if looked_at > MOST_ORDERS:
            break
    return least


def _exhausted(spec: Spec, drawn: int, tally: Tally) -> str:
    why = max(tally.refused, key=lambda reason: tally.refused[reason], default="")
    numbers = "all with the numbers given" if spec.given else f"most often refused: {why}"
    return (
        f"After {drawn} variants of {spec.type} many more draws gave none that may be set ({numbers}): "
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
    having = [holders for place, entry in zip(places, key, strict=False) if (holders := place.get(entry))]
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
    """Candidates for the variants of a pool, one after the other: the members of a family come in turn."""

    def __init__(self, spec: Spec, dice: Dice) -> None:
        self.spec, self.dice, self.type = spec, dice, problem_type(spec.type)
        self.family = self.type.family(spec, dice.rng("family"))

    def drawn(self, number: int, attempt: int) -> Candidate:
        rng = self.dice.rng(number, attempt)
        content = self.type.draw(self.spec, rng, number, self.family)
        return Candidate(self, self.type.key(content) if self.type.key else (), lambda: content, rng)


class Candidate:
    """What may become a variant: the key that it is compared by, with all else evaluated lazily."""

    def __init__(self, of: Drawn, key: Key, make: Callable[[], Record], rng: Random | None = None) -> None:
        self._of, self.key, self._make, self._rng = of, key, make, rng

    @cached_property
    def content(self) -> Record:
        return self._make()

    @cached_property
    def name(self) -> str:
        return identity(self.content)

    def others(self) -> Iterator[Candidate]:
        """Equally hard ones that have other keys."""
        if self._rng is not None and self._of.type.relabellings is not None:
            made = self._of.type.relabellings(self.content, self._of.spec, self._of.family, self._rng)
            yield from (Candidate(self._of, key, make) for key, make in made)


# ------------------------------------------------------------------------------------------------ proving


def prove(question: Question, chosen: ProblemType) -> None:
    """Every variant proves itself before it is written; `SelfCheckError` says what does not hold."""
    if question.problem is not None:
        self_check(question.problem.derivation)
    thawed = dict(question.frozen)
    if not alike(thawed, question.content):  # else the question, which is a function of its content, is the same
        again = chosen.make(thawed)
        if digest(list(again.entries())) != digest(list(question.entries())):
            raise SelfCheckError(f"A variant of {question.type} does not come out of its frozen form as it went in.")
    chosen.prove(question)


def alike(one: object, other: object) -> bool:
    """Whether two contents are the same, type for type: 1 is neither True nor a fraction, a tuple is no list."""
    if type(one) is not type(other):
        return False
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return list(one) == list(other) and all(alike(x, other[name]) for name, x in one.items())
    if isinstance(one, tuple | list) and isinstance(other, tuple | list):
        return len(one) == len(other) and all(map(alike, one, other))
    return one == other
