"""Scores under a mask: weights come out pretty, and every mistake with the mask shows in them."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations

from symattn.derivation.ops.attention import Keep
from symattn.errors import InputError
from symattn.foundation.dice import pick

LARGEST_SUM = 20  # of the powers in a row, in lowest terms
APART = 0.05  # what two wrong answers must differ by in some weight (rules.md 4.8)
TRIES = 2000
Scores = tuple[tuple[str, ...], ...]

LOGS: Mapping[str, Fraction] = {
    "-ln(2)": Fraction(1, 2),
    "0": Fraction(1),
    "ln(2)": Fraction(2),
    "ln(3)": Fraction(3),
    "ln(4)": Fraction(4),
}
"""Scores whose powers of e are rational."""


def telling_scores(keep: Keep, asked: Sequence[int], softmax: str, logs: bool, rng: random.Random) -> Scores:
    """Scaled scores of which masking mistakes show: hidden ones of every sign (rules.md 2.4, D4), no two rows equal."""
    for _ in range(TRIES):
        rows = tuple(_row(seen, i in asked, softmax, logs, rng) for i, seen in enumerate(keep))
        hidden = [
            _sign(x) for row, seen in zip(rows, keep, strict=True) for x, s in zip(row, seen, strict=True) if not s
        ]
        signs = {_sign(rows[i][j]) for i in asked for j, s in enumerate(keep[i]) if not s}
        if len(set(rows)) < len(rows) or signs == {1}:
            continue
        if len(set(hidden)) == 3 or len(hidden) < 3:
            return rows
    raise InputError("No scores were found under which every mistake with this mask would show.")


def _row(seen: Sequence[bool], asked: bool, softmax: str, logs: bool, rng: random.Random) -> tuple[str, ...]:
    choices_: Sequence[str] = list(LOGS) if logs else [str(x) for x in (-1, 0, 1, 2)]
    for _ in range(TRIES):
        row = tuple(pick(rng, choices_) for _ in seen)
        if softmax == "equal":
            row = tuple(row[0] if s else x for x, s in zip(row, seen, strict=True))
        if not asked or _pretty(row, seen, softmax, logs):
            return row
    raise InputError(f"No row of scores gives pretty weights with softmax = {softmax!r} here.")


def _pretty(row: Sequence[str], seen: Sequence[bool], softmax: str, logs: bool) -> bool:
    """Whether weights are worth working out: mistakes show, of a small sum, not all equal unless that is wished for."""
    visible = [x for x, s in zip(row, seen, strict=True) if s]
    if not _telling(row, seen, float(softmax[-1]) if softmax.startswith("base") else math.e):
        return False
    if softmax == "equal":
        return True
    if len(set(visible)) < 2:
        return False
    if softmax == "e" and not logs:
        return True
    powers = [LOGS[x] if logs else Fraction(int(softmax[-1])) ** int(x) for x in visible]
    total = sum(powers) / min(powers)
    small = total.denominator * total <= LARGEST_SUM
    return small and (logs or all(_terminates(p / sum(powers)) for p in powers))


def _telling(row: Sequence[str], seen: Sequence[bool], base: float) -> bool:
    """Whether no mask (M1), 0 for −∞ (M4) and masking after softmax (M5) give three other rows of weights."""
    powers = [float(LOGS[x]) if x in LOGS else base ** int(x) for x in row]
    unmasked = _shares(powers)
    answers = [
        _shares([p if s else 0.0 for p, s in zip(powers, seen, strict=True)]),
        unmasked,
        _shares([p if s else 1.0 for p, s in zip(powers, seen, strict=True)]),
        [w if s else 0.0 for w, s in zip(unmasked, seen, strict=True)],
    ]
    return all(max(abs(x - y) for x, y in zip(a, b, strict=True)) >= APART for a, b in combinations(answers, 2))


def _shares(powers: Sequence[float]) -> list[float]:
    return [power / sum(powers) for power in powers]


def _terminates(x: Fraction) -> bool:
    return bool(10**12 % x.denominator == 0)


def _sign(score: str) -> int:
    return -1 if score.startswith("-") else 0 if score == "0" else 1
