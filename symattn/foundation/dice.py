"""Randomness that can be repeated: from a seed, or from a secret key."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TypeVar

from symattn.errors import InputError

T = TypeVar("T")
LARGEST_SECRET = 2**20


@dataclass(frozen=True, repr=False)
class Dice:
    """One generator for every purpose, all from one key by HMAC-SHA256 (RFC 2104).

    With a secret key, tomorrow's paper cannot be made from the software alone.  Only `random()` is used of the
    generators, the one method whose sequence Python promises never to change.  `kept` says that the key is a secret
    which its owner uses again, for other exams.
    """

    key: bytes
    kept: bool = False

    @classmethod
    def seeded(cls, seed: int) -> Dice:
        return cls(f"seed {seed}".encode())

    @classmethod
    def secret(cls, path: Path) -> Dice:
        """From a file of at least 16 bytes that is kept to oneself; spaces at its ends don't count."""
        try:
            with path.open("rb") as file:
                content = file.read(LARGEST_SECRET + 1)
        except OSError as error:
            raise InputError(f"The secret {path} cannot be read: {error.strerror}.") from error
        if len(content) > LARGEST_SECRET:
            raise InputError(f"The secret {path} has more than {LARGEST_SECRET} bytes; a short file was expected.")
        key = content.strip()
        if len(key) < 16:
            raise InputError(f"The secret {path} has {len(key)} bytes; at least 16 were expected.")
        return cls(b"secret " + key, kept=True)

    @classmethod
    def unpredictable(cls) -> Dice:
        """From the operating system's randomness: never the same again."""
        return cls(secrets.token_bytes(32))

    def part(self, *labels: object) -> Dice:
        """Dice of their own for one purpose."""
        return Dice(hmac.digest(self.key, "\0".join(map(str, labels)).encode(), hashlib.sha256))

    def rng(self, *labels: object) -> Counted:
        """The generator for one purpose: `dice.rng("question 2", "variant 7", "attempt 0")`."""
        return Counted(int.from_bytes(self.part(*labels).key, "big"))


def make_secret(path: Path) -> None:
    """Write a new secret of 256 random bits to a file that only its owner can read; `InputError` if it cannot be."""
    text = secrets.token_urlsafe(32)
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
            file.write(f"{text}\n")
    except OSError as error:
        raise InputError(f"The secret {path} cannot be written: {error.strerror}.") from error


MOST_NUMBERS = 2_000_000
"""Random numbers for one purpose.

How many a variant takes is spread like a time of waiting: the gradients of cross-attention take 45,000 on average, and
one sheet in 100,000 takes more than ten times as many.  The chance of more than this is nil.
"""


class Counted(Random):
    """A generator that ends what draws in vain, after the same count on every machine."""

    left = MOST_NUMBERS

    @property
    def used(self) -> int:
        """How many numbers were drawn."""
        return MOST_NUMBERS - self.left

    def random(self) -> float:
        """The next number from 0 to 1; `InputError` after `MOST_NUMBERS` of them."""
        self.left -= 1
        if self.left < 0:
            raise self._used_up()
        return super().random()

    def several(self, count: int) -> Callable[[], float]:
        """What gives the next `count` numbers, which are counted at once: shuffling takes thousands."""
        self.left -= count
        if self.left < 0:
            raise self._used_up()
        return super().random

    def spend(self, count: int) -> None:
        """Count work that takes as long as drawing `count` numbers; `InputError` as for these."""
        self.left -= count
        if self.left < 0:
            raise self._used_up()

    def _used_up(self) -> InputError:
        return InputError(
            "No variant that is worth setting was found in time; other sizes or settings leave more room, and decimals "
            "(arithmetic = decimal) the most."
        )


def spend(rng: Random, count: int) -> None:
    """Count work that takes as long as drawing `count` numbers, where numbers are counted."""
    if isinstance(rng, Counted):
        rng.spend(count)


def whole(rng: Random, low: int, high: int) -> int:
    """A whole number from `low` to `high`, both included."""
    return low + int(rng.random() * (high - low + 1))


def pick(rng: Random, items: Sequence[T]) -> T:
    return items[int(rng.random() * len(items))]


def picks(rng: Random, items: Sequence[T], count: int) -> list[T]:
    """`count` picks, one after the other."""
    number = _numbers(rng, count)
    return [items[int(number() * len(items))] for _ in range(count)]


def shuffled(rng: Random, items: Sequence[T]) -> list[T]:
    """The items in a random order (Fisher–Yates)."""
    listed = list(items)
    last = len(listed) - 1
    number = _numbers(rng, max(last, 0))
    for i in range(last, 0, -1):
        j = int(number() * (i + 1))
        listed[i], listed[j] = listed[j], listed[i]
    return listed


def _numbers(rng: Random, count: int) -> Callable[[], float]:
    """What gives the next `count` numbers."""
    return rng.several(count) if isinstance(rng, Counted) else rng.random


def sample(rng: Random, items: Sequence[T], count: int) -> list[T]:
    """`count` different ones, in random order; all of them where there are fewer (the first steps of a shuffle)."""
    listed = list(items)
    count = min(count, len(listed))
    number = _numbers(rng, count)
    for i in range(count):
        j = i + int(number() * (len(listed) - i))
        listed[i], listed[j] = listed[j], listed[i]
    return listed[:count]
