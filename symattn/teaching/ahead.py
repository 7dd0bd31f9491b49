"""Variants drawn by a crew: it draws ahead of time, while one process chooses, and judges what it may choose.

What is drawn for an attempt at a variant depends on the seed and on their numbers alone, so whoever draws it, the same
variants are chosen.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from functools import cached_property, lru_cache, partial
from itertools import islice
from typing import Any

from symattn.foundation.crew import Asked, Crew
from symattn.foundation.dice import Dice
from symattn.foundation.typed import plain, read
from symattn.foundation.workers import Job
from symattn.teaching.pool import Candidate, Candidates, Drawn, Key, Tally, choose
from symattn.teaching.problems import Spec
from symattn.teaching.question import Content, Json

DRAFT = f"{__name__}:drafting"


def chosen(
    spec: Spec, dice: Dice, count: int, crew: Crew, tally: Tally | None = None, overlap: float | None = None
) -> Iterator[Content]:
    """What the first `count` variants of a pool are made from, as JSON, drawn by a crew."""
    can_be_sent = not crew.alone and _sent_back(spec) == spec
    candidates: Candidates[Candidate] = Ahead(spec, dice, count, crew) if can_be_sent else Drawn(spec, dice)
    for candidate in islice(choose(spec, candidates, tally or Tally(), overlap), count):
        yield candidate.frozen


def spec_to_send(spec: Spec) -> dict[str, Json]:
    """A spec as JSON, which `read(Spec, …)` reads."""
    return {f.name: plain(getattr(spec, f.name)) for f in fields(spec)}


def _sent_back(spec: Spec) -> Spec | None:
    """A spec after its way through JSON; None for what there is no JSON of, such as settings that are Python's own."""
    try:
        return read(Spec, spec_to_send(spec))
    except Exception:  # whatever is wrong with it, it is drawn here
        return None


# ------------------------------------------------------------------------------------------------ who draws


def drafting(settings: Any) -> Job:
    """The job of drawing what is asked for, a number and an attempt, or of being ready to (None)."""
    drawn = _drawn(settings)

    def job(asked: Any) -> Any:
        if asked is None:
            return None
        found = drawn.drawn(*asked)
        others = [list(other.key) for other in found.others()]
        return {"key": list(found.key), "frozen": found.frozen, "used": found.used, "others": others}

    return job


def _drawn(settings: Any) -> Drawn:
    """What draws by these settings; the last one is remembered, for who chooses also helps with the drawing."""
    return _drawn_by(json.dumps(settings["spec"]), settings["key"])


@lru_cache(maxsize=1)
def _drawn_by(spec: str, key: str) -> Drawn:
    return Drawn(read(Spec, json.loads(spec)), Dice(bytes.fromhex(key)))


# ------------------------------------------------------------------------------------------------ who chooses


class Ahead:
    """Candidates that a crew draws; those that will probably be wanted are asked for early."""

    def __init__(self, spec: Spec, dice: Dice, count: int, crew: Crew) -> None:
        self._count, self._crew = count, crew
        self._settings = {"spec": spec_to_send(spec), "key": dice.key.hex()}
        crew.prepare(DRAFT, self._settings)
        _drawn_by.cache_clear()  # since an earlier run, files may have changed that a family depends on
        self._here, self._drawn = drafting(self._settings), _drawn(self._settings)
        self._out: dict[tuple[int, int], Asked] = {}
        self._at, self._asked, self._took = (1, 0), 0, 1

    def drawn(self, number: int, attempt: int) -> Told:
        if number != self._at[0]:
            self._took = self._at[1] + 1
            for late in [one for one in self._out if one[0] < number]:
                self._out.pop(late).drop()
        self._at, self._asked = (number, attempt), self._asked + 1
        waited = sum(not asked.ready() for asked in self._out.values())
        for ahead in self._likely(number, attempt):
            if ahead not in self._out:
                if waited >= self._crew.ahead:
                    break
                waited += 1
                self._out[ahead] = self._crew.ask(DRAFT, self._settings, ahead, f"variant {ahead[0]}")
        asked = self._out.pop(self._at, None)
        return self._told(self._at, asked() if asked else self._here(self._at))

    def _told(self, at: tuple[int, int], said: Any) -> Told:
        """A candidate as a crew has drawn it; more than its key is worked out here, when it may be the one."""

        def thawed() -> Candidate:
            rng = self._drawn.dice.rng(*at)
            for _ in range(said["used"]):
                rng.random()
            return self._drawn.thawed(said["frozen"], rng)

        def others() -> Sequence[Told]:
            return [Told(key, partial(other, k)) for k, key in enumerate(said["others"])]

        def other(k: int) -> Candidate:
            made: Candidate = one.made.others()[k]
            return made

        one = Told(said["key"], thawed, others)
        return one

    def _likely(self, number: int, attempt: int) -> Iterator[tuple[int, int]]:
        """What will be asked for after this, the surest first: of each variant as many as the last one took, unless
        those until now took fewer.
        """
        usual = min(self._took, -(-self._asked // number))
        for ahead in range(number, min(number + self._crew.ahead, self._count) + 1):
            yield from ((ahead, k) for k in range(attempt + 1 if ahead == number else 0, usual))
        yield from ((number, k) for k in range(attempt + 1, attempt + 1 + self._crew.hands()))


class Told:
    """A candidate that a crew has drawn: its key is known, what else there is of it is made when it may be the one."""

    def __init__(
        self, key: Key, make: Callable[[], Candidate], others: Callable[[], Sequence[Told]] = lambda: ()
    ) -> None:
        self.key, self._make, self.others = key, make, others

    @cached_property
    def made(self) -> Candidate:
        return self._make()

    @property
    def frozen(self) -> Content:
        return self.made.frozen

    @property
    def name(self) -> str:
        return self.made.name

    @property
    def complaint(self) -> str:
        return self.made.complaint


__all__ = ["chosen", "spec_to_send"]
