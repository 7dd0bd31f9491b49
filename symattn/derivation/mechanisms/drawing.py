"""Random inputs and weights in small whole numbers, for mechanisms that are made of attention.

Only `random()` of the generators is used (see `symattn.foundation.dice`), and floats only for choosing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import combinations
from itertools import product as iterate
from operator import mul
from random import Random
from typing import TypeVar

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms.masks import mask_keep
from symattn.derivation.mechanisms.settings import Givens, Settings, Sizes
from symattn.derivation.mechanisms.steps import Scope, scale_op
from symattn.derivation.ops.attention import Keep
from symattn.derivation.ops.linear import Slice
from symattn.errors import InputError, UndefinedError
from symattn.exact import Matrix, Rational
from symattn.exact.rounding import approximate
from symattn.foundation.dice import pick, picks, spend, whole

T = TypeVar("T")
Q = TypeVar("Q", int, float, Rational)
Rows = list[list[int]]
Numbers = Sequence[Sequence[float]]

ENTRIES = (-1, -1, -1, 0, 0, 0, 1, 1, 1, 1)
"""What inputs and weights are drawn from."""

KEYS = 5
"""Draws of keys until the inputs are given up: tokens such as x and −x leave none."""

LARGEST_SCORE = 12
LARGEST_HIDDEN = 3
LARGEST_SHOWN = 30
"""Of rational numbers that come out, the largest size of numerators and denominators."""

JUDGING = 50
"""Random numbers that take as long as judging a matrix of scores."""

HEADS_THAT_DIFFER = 2
"""Up to this number of heads all columns differ between heads; there are too few columns of −1, 0 and 1 for more."""

MOST_WEIGHT = 0.95
LEAST_RANGE, LARGEST_RANGE = 0.9, 3.1
"""From the smallest to the largest visible scaled score of a row (rules.md 4.8): 1 to 3, where they are whole."""

LEAST_SUM = 0.5
"""What scores sum to at least that are divided by their sum."""

STEP = 200
"""Random numbers that take as long as a step of a derivation, and as looking at givens."""

TRIES, MOST_TRIES = 100, 10_000
"""Draws of one thing until it is given up, and what it depends on is drawn again; and of what comes cheap."""


def is_small(q: Rational) -> bool:
    """Whether one can work with a number by hand."""
    return max(abs(q.numerator), q.denominator) <= LARGEST_SHOWN


def first(draw: Callable[[], T | None], tries: int) -> T | None:
    """The first that a draw gives; None if there is none."""
    for _ in range(tries):
        with suppress(UndefinedError):  # a norm of equal features, or scores over a sum of 0
            if (drawn := draw()) is not None:
                return drawn
    return None


def first_success(draw: Callable[[], T | None], what: str, tries: int = TRIES) -> T:
    """The first that a draw gives; `InputError` says that there is none."""
    if (drawn := first(draw, tries)) is None:
        raise InputError(f"Of {tries} draws none gave {what}; other sizes leave more room.")
    return drawn


def tried(d: Derivation, rng: Random) -> Derivation:
    """What is worked out only to choose by, its steps counted like random numbers."""
    spend(rng, STEP * len(d.steps))
    return d


def number(sizes: Sizes, letter: str) -> int:
    """A size that has to be a number."""
    size = sizes[letter]
    if not isinstance(size, int):
        raise InputError(f"To draw numbers, {letter} must be a number, not {size}.")
    return size


def numbers(sizes: Sizes, *letters: str) -> list[int]:
    """Sizes that all have to be numbers."""
    return [number(sizes, letter) for letter in letters]


def entries(rows: int, columns: int, rng: Random) -> Rows:
    """A matrix of −1, 0 and 1 that is not `dull`."""
    while True:
        drawn = [picks(rng, ENTRIES, columns) for _ in range(rows)]
        if not dull(drawn):
            return drawn


def queries(d_k: int, rng: Random) -> Rows:
    """What queries are looked for among: all of −1, 0 and 1 where there are no more than `MOST_QUERIES`."""
    if 3**d_k <= MOST_QUERIES:
        return [list(row) for row in iterate((-1, 0, 1), repeat=d_k) if any(row)]
    return [picks(rng, ENTRIES, d_k) for _ in range(MOST_QUERIES)]


MOST_QUERIES = 1000


def dull(matrix: Sequence[Sequence[int]]) -> bool:
    """Whether a line is all zeros, or two lines are equal that need not be: copying errors would not show there."""
    for lines in (list(map(tuple, matrix)), list(zip(*matrix, strict=True))):
        length = len(lines[0])
        if length > 1 and not all(map(any, lines)):
            return True
        if length > 1 and len(lines) < 3**length - 1 and len(set(lines)) < len(lines):
            return True
    return False


def small(rows: int, columns: int, largest: int, rng: Random) -> Rows:
    """Whole numbers up to a size, not dull."""

    def drawn() -> Rows | None:
        numbers = [[whole(rng, -largest, largest) for _ in range(columns)] for _ in range(rows)]
        return None if dull(numbers) else numbers

    return first_success(drawn, f"{rows}×{columns} numbers that differ")


def attention_weights(
    x: Numbers, memory: Numbers, settings: Settings, sizes: Sizes, rng: Random, place: str = ""
) -> Givens | None:
    """W_Q, W_K, W_V and W_O of a layer with these inputs, keys and values made of `memory`; None if no draw succeeds.

    Scaled scores are whole where √d_k is 1 or 2; no row of weights is uniform or saturated, and heads weigh
    differently.
    """
    h, g, d_k, d_v = settings.heads, settings.groups, number(sizes, "d_k"), number(sizes, "d_v")
    keep = mask_keep(settings.mask, len(x), len(memory))
    judge = _Judge(divisor(settings, sizes), keep, settings.weights)
    queries: list[Rows] = []
    keys: list[Rows] = []
    for _ in range(g):
        group = _queries_and_keys(x, memory, h // g, d_k, judge, rng)
        if group is None:
            return None
        queries += group[0]
        keys.append(group[1])
    values = [
        first_success(lambda: _values(memory, d_v, rng), "values that differ from token to token") for _ in range(g)
    ]
    outputs = first_success(lambda: output_weights(h, d_v, number(sizes, "d_out"), rng), "outputs that differ")
    drawn = {
        "Q": side_by_side(queries, settings),
        "K": side_by_side(keys, settings),
        "V": side_by_side(values, settings),
    }
    if h <= HEADS_THAT_DIFFER and any(map(dull, drawn.values())):
        return None
    return {Scope(place=place)(f"W_{role}"): Matrix(w) for role, w in {**drawn, "O": outputs}.items()}


def side_by_side(parts: Sequence[Rows], settings: Settings) -> Rows:
    """The weights of all heads as one matrix, the columns of every head where its `Slice` finds them."""
    width = len(parts[0][0])
    columns: dict[int, list[int]] = {}
    for head, weights in enumerate(parts, 1):
        where = Slice.of_head(head, len(parts), width, settings.split).indices
        columns |= dict(zip(where, transposed(weights), strict=True))
    return transposed([columns[j] for j in sorted(columns)])


# ------------------------------------------------------------------------------------------ scores


@dataclass
class _Judge:
    """What scores have to be like; it remembers those of earlier heads."""

    divisor: float
    keep: Keep | None
    weights: str
    accepted: list[Numbers] = field(default_factory=list)

    def accepts(self, scores: Numbers) -> bool:
        """Whether no row of weights is uniform or saturated, rows differ from one another and heads from earlier ones,
        neither scores nor weights are symmetric, and hidden scores are small and of both signs."""
        if any(abs(s) > LARGEST_SCORE for row in scores for s in row):
            return False
        scaled = [[s / self.divisor for s in row] for row in scores]
        visible = [[s for j, s in enumerate(row) if self._sees(i, j)] for i, row in enumerate(scaled)]
        hidden = [s for i, row in enumerate(scaled) for j, s in enumerate(row) if not self._sees(i, j)]
        return (
            (self._hard(scores) if self.weights == "hardmax" else self._soft(visible, scores))
            and (self.weights != "sum" or all(abs(sum(row)) >= LEAST_SUM for row in visible if row))
            and all(abs(s) <= LARGEST_HIDDEN for s in hidden)
            and (not hidden or any(hidden))
            and (len(hidden) < 3 or min(hidden) < 0 < max(hidden))
            and not _symmetric(scores)
        )

    def _soft(self, visible: list[list[float]], scores: Numbers) -> bool:
        weights = [_softmax(row) for row in visible]
        several = [(row, own) for row, own in zip(visible, weights, strict=True) if len(row) > 1]
        above = _above_first(scores)
        return (
            all(neither_flat_nor_steep(row) for row in visible)
            and all(max(own) <= MOST_WEIGHT for _, own in several)
            and sum(len(row) - len(set(row)) for row, _ in several) <= most_ties(map(len, visible))
            and (len(scores) == 1 or len(set(above)) > 1)
            and all(above != _above_first(other) for other in self.accepted)
            and not (self.keep is None and _symmetric(weights))
        )

    def _hard(self, scores: Numbers) -> bool:
        """For weights of 0 and 1: every row has one largest score, not all of them the same one, and a mask matters:
        without it, or with zeros for what it hides, other scores would be the largest."""
        right, unmasked, zeros = (
            [
                _places_of_largest([s if self._sees(i, j) else hidden(s) for j, s in enumerate(row)])
                for i, row in enumerate(scores)
                if any(self._sees(i, j) for j in range(len(row)))
            ]
            for hidden in (lambda s: -math.inf, lambda s: s, lambda s: 0)
        )
        return (
            all(len(places) == 1 for places in right)
            and (len(right) == 1 or any(places != right[0] for places in right))
            and (not self.keep or all(a != b for a, b in combinations((right, unmasked, zeros), 2)))
        )

    def _sees(self, i: int, j: int) -> bool:
        return not self.keep or self.keep[i][j]


def divisor(settings: Settings, sizes: Sizes) -> float:
    """What scores are divided by, to choose by."""
    scale = scale_op(settings.scale, sizes)
    return float(approximate(scale.divisor)) if scale else 1.0


def scores_seen(
    query: Sequence[int], keys: Numbers, divisor: float, keep: Keep | None, i: int
) -> tuple[list[float], list[float]]:
    """The scaled scores of the i-th query with every key, and with those that it sees."""
    scores = [sum(map(mul, query, key)) / divisor for key in keys]
    return scores, [s for j, s in enumerate(scores) if not keep or keep[i][j]]


def most_ties(seen: Iterable[int]) -> int:
    """How many weights may be equal to others, by how many keys each token sees: one, and one more for each key beyond
    three (rules.md 4.8)."""
    return 1 + sum(max(count - 3, 0) for count in seen)


def neither_flat_nor_steep(visible: Sequence[float]) -> bool:
    """Whether weights are neither uniform nor saturated, by the visible scaled scores of a row.

    A query that sees one key, or none, has no choice.
    """
    return len(visible) < 2 or LEAST_RANGE <= max(visible) - min(visible) <= LARGEST_RANGE


def _symmetric(m: Sequence[Sequence[float]]) -> bool:
    """Whether it is a symmetric matrix of more than one entry."""
    n = len(m)
    return n == len(m[0]) > 1 and all(abs(m[i][j] - m[j][i]) < 1e-9 for i in range(n) for j in range(i))


def _softmax(scores: Sequence[float]) -> list[float]:
    powers = [math.exp(s) for s in scores]
    return [p / sum(powers) for p in powers]


def _places_of_largest(row: Sequence[float]) -> list[int]:
    return [j for j, x in enumerate(row) if x == max(row)]


def _above_first(scores: Numbers) -> list[tuple[float, ...]]:
    """Every row less its first score: all that its weights depend on."""
    return [tuple(s - row[0] for s in row) for row in scores]


def _queries_and_keys(
    x: Numbers, memory: Numbers, count: int, d_k: int, judge: _Judge, rng: Random
) -> tuple[list[Rows], Rows] | None:
    """Weights for the queries of `count` heads, and for the keys that they share; None if no draw succeeds."""
    twins = judge.divisor == 2 and d_k % 2 == 0
    before = len(judge.accepted)
    for _ in range(KEYS):
        shared = projection(len(memory[0]), d_k, twins, rng)
        keys = product(memory, shared)
        queries: list[Rows] = []
        for _ in range(TRIES):
            spend(rng, JUDGING)
            own = projection(len(x[0]), d_k, twins, rng)
            scores = product(product(x, own), transposed(keys))
            if judge.accepts(scores):
                queries.append(own)
                judge.accepted.append(scores)
                if len(queries) == count:
                    return queries, shared
        del judge.accepted[before:]
    return None


def projection(rows: int, d_k: int, twins: bool, rng: Random) -> Rows:
    """Weights of queries or keys; as twins, the second, fourth, … column has its zeros where the one before has them.

    Twins are even in the same places.  Where both queries and keys are made so, all scores are even, and half of them
    is whole.  Sums of many terms have more zeros, so that scores stay small.
    """
    among = (*ENTRIES, *(0,) * (ZEROS * (rows - FEW)))
    while True:
        drawn = [picks(rng, among, d_k) for _ in range(rows)]
        for row in drawn if twins else ():
            for j in range(1, d_k, 2):
                row[j] = pick(rng, (-1, 1)) if row[j - 1] else 0
        if not dull(drawn):
            return drawn


FEW, ZEROS = 4, 3
"""Up to so many rows have as many zeros as `ENTRIES` has, and so many more of them each further row."""


# ------------------------------------------------------------------------------------------ values and outputs


def _values(memory: Numbers, d_v: int, rng: Random) -> Rows | None:
    """Weights of values, if no feature is the same for all tokens: it would be the same in every output."""
    drawn = entries(len(memory[0]), d_v, rng)
    features = transposed(product(memory, drawn))
    return drawn if len(memory) == 1 or all(len(set(feature)) > 1 for feature in features) else None


def output_weights(heads: int, d_v: int, d_out: int, rng: Random) -> Rows | None:
    """W_O: each output takes one feature of every head, or its negative; every feature is used, and one entry is 2.

    None where two outputs, or what becomes of two features, would be the same.
    """
    w = [[0] * d_out for _ in range(heads * d_v)]
    for column in range(d_out):
        for head in range(heads):
            w[head * d_v + whole(rng, 0, d_v - 1)][column] = pick(rng, (-1, 1, 1))
    for row in w:
        if not any(row):
            row[whole(rng, 0, d_out - 1)] = 1
    row = pick(rng, w)
    row[row.index(next(filter(None, row)))] *= 2
    return None if dull(w) else w


def product(a: Sequence[Sequence[Q]], b: Sequence[Sequence[Q]]) -> list[list[Q]]:
    columns = list(zip(*b, strict=True))
    return [[sum(map(mul, row, column)) for column in columns] for row in a]


def transposed(rows: Sequence[Sequence[Q]]) -> list[list[Q]]:
    return [list(column) for column in zip(*rows, strict=True)]


def plus(a: Sequence[Sequence[Q]], b: Sequence[Sequence[Q]]) -> list[list[Q]]:
    return [[x + y for x, y in zip(*rows, strict=True)] for rows in zip(a, b, strict=True)]
