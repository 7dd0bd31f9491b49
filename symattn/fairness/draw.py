"""Random givens from a seed, and not naively: a careless draw gives a saturated or uniform row four times in five.

What is refused, and why: weights so lopsided or so even that softmax teaches nothing; rows of zeros and equal rows,
which hide copying errors; symmetric scores, which hide an exchange of Q and K; numbers too large to be worked by hand;
under a mask, hidden scores that would make a wrong mask look right.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from symattn.derivation import Derivation
from symattn.errors import InputError, UndefinedError
from symattn.exact import NEGATIVE_INFINITY, Matrix, Size, Value, is_symbolic
from symattn.mechanisms import Mechanism, Settings
from symattn.ops import Mask, Softmax

ENTRIES = (-1, -1, -1, 0, 0, 0, 1, 1, 1, 1)
"""Where the entries of inputs and weight matrices come from: {−1, 0, 1}, a third of them 0."""

LARGEST = {"Q": 4, "K": 4, "V": 9, "S": 12}
MOST_WEIGHT = 0.95
TRIES = 20_000


@dataclass(frozen=True, slots=True)
class Draw:
    """Givens that passed, and how many were drawn until then."""

    givens: Mapping[str, Matrix]
    tries: int


def draw(mechanism: Mechanism, settings: Settings, sizes: Mapping[str, Size], seed: str) -> Draw:
    """Givens for a mechanism; the same seed gives the same ones, on every machine.

    `InputError` if none passes: the sizes leave no room for a variant that is worth setting.
    """
    rng = random.Random(seed)
    complaint = ""
    for tries in range(1, TRIES + 1):
        givens = _candidate(mechanism, settings, sizes, rng)
        complaint = next(_complaints(mechanism, settings, givens), "")
        if not complaint:
            return Draw(givens, tries)
    listed = ", ".join(f"{name} = {size}" for name, size in sizes.items())
    raise InputError(
        f"No variant of {mechanism.name} with {listed} is worth setting: of {TRIES} drawn, none passed; the last one: "
        f"{complaint}. Larger or unequal sizes leave more room."
    )


def _candidate(
    mechanism: Mechanism, settings: Settings, sizes: Mapping[str, Size], rng: random.Random
) -> dict[str, Matrix]:
    shapes = mechanism.shapes(settings)
    givens = {}
    for name in mechanism.givens:
        rows, columns = (_number(s, sizes) for s in shapes[name])
        if name == "A":
            givens[name] = _weights(rows, columns, settings, rng)
        else:
            givens[name] = Matrix.of([_pick(rng, ENTRIES) for _ in range(columns)] for _ in range(rows))
    return givens


def _number(letter: str, sizes: Mapping[str, Size]) -> int:
    size = int(letter) if letter.isdigit() else sizes.get(letter)
    if not isinstance(size, int) or size < 1:
        raise InputError(f"To draw numbers, {letter} must be a number from 1, not {size!r}.")
    return size


def _pick(rng: random.Random, choices: tuple[int, ...]) -> int:
    """One of the choices, by `random()` alone: the only method whose sequence Python promises never to change."""
    return choices[int(rng.random() * len(choices))]


def _weights(rows: int, columns: int, settings: Settings, rng: random.Random) -> Matrix:
    """Rows of tenths that sum to 1, as in note 004; columns of them where tokens are columns."""
    if settings.orientation == "columns":
        rows, columns = columns, rows
    listed = []
    for _ in range(rows):
        parts = [1 + int(rng.random() * 6) for _ in range(columns)]
        parts[int(rng.random() * columns)] += 10 - sum(parts)
        listed.append([Fraction(p, 10) for p in parts])
    matrix = Matrix(listed)
    return matrix.T if settings.orientation == "columns" else matrix


def _complaints(mechanism: Mechanism, settings: Settings, givens: Mapping[str, Matrix]) -> Iterator[str]:
    """What is wrong with these givens, cheapest checks first; nothing if they may be set."""
    for name, matrix in givens.items():
        yield from _dull(name, matrix)
    try:
        d = mechanism.run(givens, settings)
    except UndefinedError as error:
        yield str(error)
        return
    for name in ("Q", "K", "V", "S"):
        if name in d:
            product = d.value(name)
            assert isinstance(product, Matrix)
            if name not in givens:
                yield from _dull(name, product)
            if any(isinstance(x, int) and abs(x) > LARGEST[name] for x in product):
                yield f"{name} has an entry above {LARGEST[name]}"
    yield from _confusable(d)
    yield from _bad_mask(d)
    yield from _bad_weights(d)


def _dull(name: str, matrix: Matrix) -> Iterator[str]:
    rows, columns = matrix.rows, matrix.T.rows
    if any(all(x == 0 for x in line) for line in (*rows, *columns)):
        yield f"{name} has a row or column of zeros"
    if name == "A" and any(not 0 < x < 1 for x in matrix):  # type: ignore[operator]
        yield "a weight is not between 0 and 1"
    for lines in (rows, columns):
        if len(lines[0]) > 1 and len(set(lines)) < len(lines):
            yield f"{name} has two equal rows or columns"


def _confusable(d: Derivation) -> Iterator[str]:
    if "S" in d:
        s = d.value("S")
        assert isinstance(s, Matrix)
        if s.shape[0] == s.shape[1] > 1 and s == s.T:
            yield "S is symmetric, which hides an exchange of Q and K"
    if "Q" in d and "K" in d and d.value("Q") == d.value("K"):
        yield "Q and K are equal"


def _bad_mask(d: Derivation) -> Iterator[str]:
    """Hidden scores of every sign and of modest size: only then does every wrong way of masking show."""
    for step in d:
        if isinstance(step.op, Mask) and step.token is None:
            scores = d.value(step.operands[0].name)
            assert isinstance(scores, Matrix)
            pairs = zip(scores.rows, step.op.keep, strict=True)
            hidden = [_float(x) for row, kept in pairs for x, seen in zip(row, kept, strict=True) if not seen]
            if len(hidden) >= 3 and not (min(hidden) < 0 < max(hidden)):
                yield "the hidden scores are not of both signs"
            if any(abs(x) > 3.01 for x in hidden):
                yield "a hidden score is above 3 in size"


def _bad_weights(d: Derivation) -> Iterator[str]:
    for step in d:
        if not isinstance(step.op, Softmax) or not isinstance(step.result, Matrix):
            continue
        lines = step.result.rows if step.op.along == "rows" else step.result.T.rows
        ties = 0
        for line in lines:
            seen = [_float(x) for x in line if not (isinstance(x, int) and x == 0)]
            if len(seen) < 2:
                continue
            if max(seen) > MOST_WEIGHT:
                yield "a row of weights is saturated"
            if max(seen) - min(seen) < 1e-6:
                yield "a row of weights is uniform"
            ties += len(seen) - len({round(x, 9) for x in seen})
        if ties > 1:
            yield "more than one tie among the weights"


def _float(x: Value) -> float:
    """For choosing only: nothing that is printed comes from here."""
    if x is NEGATIVE_INFINITY:
        return -math.inf
    if isinstance(x, int | Fraction):
        return float(x)
    if is_symbolic(x):
        return float(x)
    from symattn.exact import decimal_text

    return float(decimal_text(x, 9))


__all__ = ["Draw", "draw"]
