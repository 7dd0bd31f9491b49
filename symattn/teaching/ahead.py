"""Variants drawn by a crew: it draws and judges ahead of time, while one process chooses.

What is drawn for an attempt at a variant depends on the seed and on their numbers alone, so whoever draws it, the same
variants are chosen.  Of a key only digests of its entries travel, for keys are only compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from functools import cached_property
from hashlib import blake2b
from itertools import islice
from typing import Any

from symattn.foundation.crew import Asked, Crew
from symattn.foundation.dice import Dice
from symattn.foundation.identity import identity
from symattn.foundation.typed import plain, read
from symattn.foundation.workers import Job
from symattn.teaching.pool import Candidate, Candidates, Drawn, Key, Tally, choose
from symattn.teaching.problems import Spec
from symattn.teaching.question import Content, Json

DRAFT, JUDGE = f"{__name__}:drafting", f"{__name__}:judging"
ENTRY = 8  # bytes of the digest of an entry


def chosen(
    spec: Spec, dice: Dice, count: int, crew: Crew, tally: Tally | None = None, overlap: float | None = None
) -> Iterator[Content]:
    """What the first `count` variants of a pool are made from, as JSON, drawn and judged by a crew."""
    can_be_sent = not crew.alone and _sent_back(spec) == spec
    candidates: Candidates[Candidate] = Ahead(spec, dice, count, crew) if can_be_sent else Drawn(spec, dice)
    found = choose(spec, candidates, tally or Tally(), overlap)
    return (candidate.frozen for candidate in islice(found, count))


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
    """The job of drawing what is asked for, a number and an attempt, and of judging it."""
    drawn = _drawn(settings)

    def job(asked: Any) -> Any:
        candidate = drawn.drawn(*asked)
        return {
            "key": _digests(candidate.key),
            "frozen": candidate.frozen,
            "complaint": candidate.complaint,
            "used": candidate.used,
            "others": [_digests(other.key) for other in candidate.others()],
        }

    return job


def judging(settings: Any) -> Job:
    """The job of making one of the others, as hard as what was drawn, from the same random numbers, and judging it."""
    drawn = _drawn(settings)

    def job(asked: Any) -> Any:
        rng = drawn.dice.rng(*asked["at"])
        for _ in range(asked["used"]):
            rng.random()
        other = drawn.thawed(asked["frozen"], rng).others()[asked["other"]]
        return {"frozen": other.frozen, "complaint": other.complaint}

    return job


def _drawn(settings: Any) -> Drawn:
    return Drawn(read(Spec, settings["spec"]), Dice(bytes.fromhex(settings["key"])))


def _digests(key: Key) -> bytes:
    return b"".join(blake2b(str(entry).encode(), digest_size=ENTRY).digest() for entry in key)


# ------------------------------------------------------------------------------------------------ who chooses


class Ahead:
    """Candidates that a crew draws; those that will be asked for are asked of it before."""

    def __init__(self, spec: Spec, dice: Dice, count: int, crew: Crew) -> None:
        self._count, self._crew = count, crew
        self._settings = {"spec": spec_to_send(spec), "key": dice.key.hex()}
        self._out: dict[tuple[int, int], Asked] = {}
        self._number, self._asked = 1, 0

    def drawn(self, number: int, attempt: int) -> Told:
        if number != self._number:
            for late in [one for one in self._out if one[0] < number]:
                self._out.pop(late).drop()
            self._number = number
        self._asked += 1
        for ahead in self._wanted(number, attempt):
            if ahead not in self._out:
                if len(self._out) >= self._crew.ahead and ahead != (number, attempt):
                    break
                self._out[ahead] = self._crew.ask(DRAFT, self._settings, ahead, f"variant {ahead[0]}")
        return Told(self, (number, attempt), self._out.pop((number, attempt))())

    def judged(self, asked: Any) -> Any:
        return self._crew.ask(JUDGE, self._settings, asked, f"variant {asked['at'][0]}")()

    def _wanted(self, number: int, attempt: int) -> Iterator[tuple[int, int]]:
        """What will be asked for, the surest first: this one, then of each variant as many as one took until now."""
        yield number, attempt
        usual = -(-self._asked // number)
        for ahead in range(number, min(number + self._crew.ahead, self._count) + 1):
            yield from ((ahead, k) for k in range(attempt + 1 if ahead == number else 0, usual))
        yield from ((number, k) for k in range(attempt + 1, attempt + self._crew.hands()))


class Told:
    """A candidate that a crew has drawn."""

    def __init__(self, ahead: Ahead, at: tuple[int, int], said: Any) -> None:
        self._ahead, self._at, self._said = ahead, at, said
        self.key: Key = _entries(said["key"])
        self.frozen: Content = said["frozen"]
        self.complaint: str = said["complaint"]

    @property
    def name(self) -> str:
        return identity(self.frozen)

    def others(self) -> Sequence[Candidate]:
        return [Other(self, k, _entries(key)) for k, key in enumerate(self._said["others"])]

    def judged(self, other: int) -> Any:
        """What comes of one of the others, which a crew makes when it may be the one."""
        asked = {"at": self._at, "frozen": self.frozen, "used": self._said["used"], "other": other}
        return self._ahead.judged(asked)


class Other:
    """One of those that are as hard as one that a crew has drawn."""

    def __init__(self, of: Told, number: int, key: Key) -> None:
        self._of, self._number, self.key = of, number, key

    @cached_property
    def _judged(self) -> Any:
        return self._of.judged(self._number)

    @property
    def frozen(self) -> Content:
        frozen: Content = self._judged["frozen"]
        return frozen

    @property
    def name(self) -> str:
        return identity(self.frozen)

    @property
    def complaint(self) -> str:
        return str(self._judged["complaint"])

    def others(self) -> Sequence[Candidate]:
        return ()


def _entries(digests: bytes) -> Key:
    return tuple(memoryview(digests).cast("Q"))


__all__ = ["chosen", "spec_to_send"]
