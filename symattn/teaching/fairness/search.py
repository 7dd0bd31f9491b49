"""Tier B: matched siblings, generated backwards from the softmax rows they are to have (rules.md 4.7.2–4.7.3, 4.8).

A table of what the columns of weights can make of X stands in for solving equations: keys and values are taken from
what X can reach; every query is looked up by the row of scores that it gives; and among the columns of weights that
make the same Q, K and V those are chosen that bring the arithmetic to what the family shares.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property, lru_cache
from itertools import chain, combinations_with_replacement, compress, product
from operator import getitem, mul
from statistics import median
from typing import Any, Literal, Self, TypeVar

from symattn.derivation.mechanisms import Mechanism, Settings
from symattn.derivation.mechanisms.base import scale_op
from symattn.derivation.mechanisms.masks import mask_keep
from symattn.errors import InputError
from symattn.exact import NEGATIVE_INFINITY, Matrix, Value, divide
from symattn.exact.approximate import approximate
from symattn.foundation.dice import pick, picks, sample, shuffled, whole
from symattn.teaching.fairness.features import Counts, Features, Row, dot_counts, powers
from symattn.teaching.fairness.patterns import divides_a_power_of_ten
from symattn.teaching.fairness.separation import LEAST

Level = Literal["starter", "standard", "long"]
SoftmaxKind = Literal["e", "base 2", "base 3", "equal"]

Integers = tuple[int, ...]
Rows = tuple[Integers, ...]
Keep = tuple[tuple[bool, ...], ...]
T = TypeVar("T")

# ------------------------------------------------------------------------------------------- the numeric targets


@dataclass(frozen=True)
class Target:
    """One column of the table of numeric targets, rules.md 4.8; ranges hold both ends.

    entries      of the givens;  twos: the largest share of entries of size 2
    largest      the largest size shown in Q, K, V and S
    zeros        the share of zeros in X and the W
    negatives    the share of negative terms among those that are not 0, up to the scores
    h            the most hard products up to the scores, and how far siblings may differ in them
    reach        from the smallest to the largest scaled score of a row
    max_weight   of any row that sees more than one key
    ties         the most equal scores in all rows together; one more for each key beyond three that a row sees
    D            the largest sum of a row of weights, for up to three visible keys
    same_rows    whether siblings have the same softmax rows, up to order, and so the same D and ties
    loads        the band of L_S + L_out by sizes: (n, d_model, d_k, d_v), 0 for d_model where Q, K and V are given;
                 nothing masked
    output       the most L_out for each entry of the output, for up to three keys: with V given, and with V worked out
    spread       of the load within a family
    overlap      the share of entries that two keys may have in common, position by position
    """

    entries: Integers
    twos: float
    largest: Mapping[str, int]
    zeros: tuple[float, float]
    negatives: tuple[float, float]
    h: tuple[int, int]
    reach: tuple[int, int]
    max_weight: tuple[float, float]
    ties: int
    D: int
    same_rows: bool
    loads: Mapping[Integers, tuple[float, float]]
    output: tuple[float, float]
    spread: float
    overlap: float


TARGETS: Mapping[Level, Target] = {
    "starter": Target(
        entries=(0, 1, 2), twos=0.25, largest={"Q": 9, "K": 9, "V": 9, "S": 9},
        zeros=(0.25, 0.50), negatives=(0.0, 0.0), h=(2, 1),
        reach=(1, 2), max_weight=(0.40, 0.95), ties=0, D=10, same_rows=True,
        loads={(2, 0, 1, 2): (20, 25), (2, 0, 2, 2): (20, 25), (3, 0, 2, 2): (45, 58)},
        output=(4.7, 7.0),  # without these it is more work than on the standard level
        spread=0.10, overlap=0.40,
    ),
    "standard": Target(
        entries=(-1, 0, 1), twos=0.15, largest={"Q": 4, "K": 4, "V": 9, "S": 12},
        zeros=(0.25, 0.45), negatives=(0.15, 0.30), h=(6, 1),
        reach=(1, 3), max_weight=(0.40, 0.90), ties=1, D=13, same_rows=True,
        loads={(3, 0, 4, 2): (65, 80), (3, 4, 2, 2): (125, 150), (3, 5, 4, 2): (240, 265)},
        output=(math.inf, math.inf),
        spread=0.05, overlap=0.30,
    ),
    "long": Target(
        entries=(-1, 0, 1, 2), twos=0.25, largest={"Q": 20, "K": 20, "V": 20, "S": 20},
        zeros=(0.25, 0.40), negatives=(0.15, 0.30), h=(12, 2),
        reach=(1, 3), max_weight=(0.40, 0.95), ties=1, D=20, same_rows=False,
        loads={(4, 5, 4, 2): (250, 400)},
        output=(math.inf, math.inf),
        spread=0.07, overlap=0.30,
    ),
}  # fmt: skip


# ------------------------------------------------------------------------------------------ what siblings share

TWO_APART, NEG_APART, ADDS_APART = 1, 2, 3
"""How far siblings may differ in results of two digits, negative terms and additions up to the scores (4.8)."""


@dataclass(frozen=True)
class Band:
    """The radicals of a family: what every sibling has in common with the first one (4.6, 4.8).

    `patterns` are the rows of scaled scores above their smallest; none where the level lets them differ.
    """

    load: float
    spread: float
    patterns: tuple[tuple[Value, ...], ...]
    ties: int
    h: int
    h_apart: int
    two: int
    neg: int
    adds: int

    @classmethod
    def of(cls, first: Features, level: Level) -> Band:
        target = TARGETS[level]
        counts = first.counts
        return cls(
            load=first.load,
            spread=target.spread,
            patterns=_multiset(first.offsets) if target.same_rows else (),
            ties=first.ties,
            h=counts.h,
            h_apart=target.h[1],
            two=counts.two,
            neg=counts.neg,
            adds=counts.adds,
        )

    def allows(self, counts: Counts, load: float) -> bool:
        return all(low <= x <= high for x, (low, high) in zip(self.held(counts, load), self.bounds, strict=True))

    @staticmethod
    def held(counts: Counts, load: float) -> tuple[float, ...]:
        """The numbers that siblings have nearly in common."""
        return load, counts.h, counts.two, counts.neg, counts.adds

    @cached_property
    def bounds(self) -> tuple[tuple[float, float], ...]:
        """The least and the most that each of them may be."""
        return (
            (self.load * (1 - self.spread), self.load * (1 + self.spread)),
            (self.h - self.h_apart, self.h + self.h_apart),
            (self.two - TWO_APART, self.two + TWO_APART),
            (self.neg - NEG_APART, self.neg + NEG_APART),
            (self.adds - ADDS_APART, self.adds + ADDS_APART),
        )


def _multiset(offsets: Iterable[Sequence[Value]]) -> tuple[tuple[Value, ...], ...]:
    return tuple(sorted(map(tuple, offsets), key=lambda row: (len(row), *map(approximate, row))))


# ------------------------------------------------------------------------------------------------------ drawing

EFFORT = {"fresh": 240_000, "sibling": 60_000}
"""How many small steps (columns of weights, queries, changes) are made before a family, or a sibling, counts as
impossible: some two seconds, and half of one."""

OUTPUT, SCORES = 15, 150
"""How many steps it is worth to count the arithmetic of one column of outputs, and to work out the scores for one K."""

COLUMNS = 7000
"""How many columns of weights are tabulated for each X; where there are more, so many are drawn."""

HALVES = 50
"""How many halves of queries are put together for each K; where there are more, so many are drawn."""

FRESH = 9, 30
"""How many variants a fresh family is chosen from; more, where there are few columns of weights, for there families
differ most in how many siblings they have.
"""

KEYS, MANY_KEYS, NODES, FOUND, VALUES, CHANGES = 6, 60, 500, 6, 6, 100
"""Per X: how many K, and how many where it is known of which ones there are queries; per K: nodes of the search for Q
and how many it may find; per Q: how many V where they are given, and how many changes of the weights where they are
not."""

NEGATIVE = 0.2
"""The share of −1 among the entries of X that are not 0: products of two signs are negative more often."""

TWOS = 5 / 6
"""From here on it is a 2, where there are any."""

SMALL = 4
"""The largest size of what the columns of weights are tabulated for."""

LENIENT = 1.2, 1.6
"""How much above the level's share of negative terms one column may be; more, where there are few."""

ALIKE = 3
"""What it counts, beside what is outside of what is wanted, that values do not tell two mistakes apart."""

FEW = 100
"""Up to so many columns of weights are few: those of four features are."""


def draw_givens(
    mechanism: Mechanism,
    settings: Settings,
    sizes: Mapping[str, int],
    level: Level,
    softmax: SoftmaxKind,
    rng: random.Random,
    band: Band | None = None,
    steep: bool = False,
) -> dict[str, Matrix]:
    """One sibling: givens that meet the level's targets and design rules D1–D5, and the band if there is one.

    Without a band, the most typical of a few variants is taken, with a load in the middle of the level's for these
    sizes, where 4.8 states one (it does so without a mask).  `softmax` "base 2" and "base 3" ask for weights that are
    finite decimals (the settings' base must be that one), "equal" for rows of equal scores.  `steep` asks for values
    that tell multiplied scores from all weight on the largest one (C4 and X10), which come nearest to one another at
    the output.  `InputError` if no such family is found.
    """
    wanted = _wanted(mechanism, settings, sizes, level, softmax, band, steep)
    found: list[Found] = []
    while wanted.effort.left > 0:
        for one in (_projected if wanted.d_model else _given)(wanted, rng):
            if band is None:
                found.append(one)
            elif band.allows(one.counts, one.load):
                return _matrices(one.givens, mechanism, settings)
        if len(found) >= FRESH[wanted.narrow]:
            break
    if found:
        return _matrices(_most_typical(found, level, wanted.narrow).givens, mechanism, settings)
    listed = ", ".join(f"{name} = {size}" for name, size in sizes.items())
    raise InputError(
        f"No family of {mechanism.name} with {listed}, the scale {settings.scale}, the level {level!r} and "
        f"softmax {softmax!r} was found."
    )


def _matrices(givens: Mapping[str, Rows], mechanism: Mechanism, settings: Settings) -> dict[str, Matrix]:
    found = {name: Matrix.of(givens[name]) for name in mechanism.givens}
    return found if settings.orientation == "rows" else {name: m.T for name, m in found.items()}


@dataclass(frozen=True)
class Found:
    """Givens, the arithmetic up to the scores, the load of it with that of the output, and the rows of scores above
    their smallest.
    """

    givens: Mapping[str, Rows]
    counts: Counts
    load: float
    patterns: Rows


def _most_typical(drawn: Sequence[Found], level: Level, narrow: bool) -> Found:
    """Which of these has the most siblings: whose rows of scores come often, and in whose middle many others lie."""
    target = TARGETS[level]
    often = Counter(pattern for one in drawn for pattern in one.patterns)
    apart = (target.spread * median(one.load for one in drawn), target.h[1], TWO_APART, NEG_APART, ADDS_APART)
    held = [[x / most for x, most in zip(Band.held(one.counts, one.load), apart, strict=True)] for one in drawn]

    def chance(k: int) -> float:
        """Of what is shared to come as near, and of rows drawn one by one to make up these, in any order."""
        near = sum(math.exp(-(math.dist(held[k], other) ** 2) / 2) for other in held)
        if not narrow:  # where there are many columns of weights, rows of all kinds are found
            return near
        rows = Counter(drawn[k].patterns)
        return near * math.prod(math.pow(often[row], count) / math.factorial(count) for row, count in rows.items())

    return drawn[max(range(len(drawn)), key=chance)]


@dataclass
class _Effort:
    left: int


@dataclass(frozen=True)
class _Wanted:
    """What a candidate is held against, in integers; `patterns` are scores above the row's smallest, not scaled."""

    n: int
    m: int
    d_model: int
    d_k: int
    d_v: int
    target: Target
    keep: Keep
    divisor: Value
    step: int
    base: Value | Literal["e"]
    relu: bool
    even: bool
    patterns: Mapping[int, frozenset[Integers]]
    multiset: tuple[Integers, ...] | None
    ties: float
    band: Band | None
    load: tuple[float, float] | None
    rows: _ScoreRows
    remainders: _Remainders
    box: Integers
    fewest: _Fewest | None
    small: _SmallColumns
    mild: _Mild
    powers: dict[tuple[int, _ScoreRow], Row]
    steep: bool
    left: dict[tuple[int, _ScoreRow], tuple[float, ...]]
    narrow: bool
    effort: _Effort

    def may_be(self, i: int, row: _ScoreRow) -> bool:
        """Whether query i may have these scores."""
        return row.patterns[i] is not None

    @cached_property
    def alike(self) -> list[int]:
        """For each query, the first one that may have the same scores: it sees the same keys."""
        return list(map(self.keep.index, self.keep))

    @cached_property
    def hard(self) -> tuple[int, int]:
        """The least and the most hard products; a fresh family leaves room for its siblings."""
        most, apart = self.target.h
        if self.band:
            return self.band.h - apart, min(self.band.h + apart, most)
        return 0, most - apart

    def fertile(self, K: Rows) -> bool:
        """Whether these keys may have as many queries as are wanted, with so few hard products."""
        if self.fewest is None:
            return True
        fewest = self.fewest[_code(tuple(chain.from_iterable(K)))]
        return len(fewest) >= self.n and sum(fewest[: self.n]) <= self.hard[1]

    def in_reach(self, least: Counts, most: Counts) -> bool:
        """Whether the arithmetic up to the scores can come to what siblings share: the least and the most of each."""
        if not self.band:
            return True
        lows, highs = self.band.held(least, 0)[1:], self.band.held(most, 0)[1:]
        bounds = self.band.bounds[1:]
        return all(a <= high and b >= low for a, b, (low, high) in zip(lows, highs, bounds, strict=True))

    def scores_fit(self, Q: Rows, K: Rows, S: Sequence[_ScoreRow], patterns: Rows) -> bool:
        """Rules D3 and D4 on the whole, and what 4.8 says about all rows together."""
        rows = tuple(row.scores for row in S)
        columns = tuple(zip(*rows, strict=True))
        if not _sound(Q) or Q == K or columns == rows:
            return False
        if self.even:
            return True
        if len(set(columns)) < self.m:
            return False
        hidden = [
            x for row, kept in zip(rows, self.keep, strict=True) for x, seen in zip(row, kept, strict=True) if not seen
        ]
        if len(hidden) >= 3 and min(self.target.entries) < 0 and not (min(hidden) < 0 < max(hidden) and 0 in hidden):
            return False
        varied = self.band is None and self.ties < math.inf and max(self.patterns, default=0) >= 3
        if varied and max(map(len, map(set, patterns))) < 3:
            return False
        if self.n == self.m >= 3:
            return any(row.largest[i][0] != i for i, row in enumerate(S))
        return True

    def excess(self, counts: Counts, output: float, zeros: float | None = None) -> float:
        """How far the arithmetic up to the scores, and the load of the output, are outside of what is wanted; 0 where
        they are inside.
        """
        load, terms = counts.load + output, counts.terms
        least, most = self.target.negatives
        least, most = least * terms, most * terms
        room = 0 if self.band else min(NEG_APART, (most - least) / 4)
        outside = max(least + room - counts.neg, counts.neg - (most - room), 0.0)
        held: tuple[float, ...] = (counts.h, output)
        if self.band:
            held += self.band.held(counts, load)
        elif self.load:
            held += (load,)
        if zeros is not None:
            held += (50 * zeros,)
        for x, (low, high) in zip(held, self.bounds, strict=False):
            if not low <= x <= high:
                outside += low - x if x < low else x - high
        return outside

    @cached_property
    def bounds(self) -> tuple[tuple[float, float], ...]:
        """The least and the most of what is held, but for negative terms."""
        most_output = self.target.output[self.d_model > 0] * self.n * self.d_v * max(self.m, 3) / 3
        loads = self.band.bounds if self.band else (self.load,) if self.load else ()
        least, most = self.target.zeros
        return (self.hard, (0, most_output), *loads, (50 * least, 50 * most))

    def whole_weights(self, S: Sequence[_ScoreRow]) -> list[Row]:
        """The integer weights of the output, or what there is in their place."""
        return [self._powers(i, row) for i, row in enumerate(S)]

    def _powers(self, i: int, row: _ScoreRow) -> Row:
        if (i, row) not in self.powers:
            pairs = zip(row.scores, self.keep[i], strict=True)
            masked = tuple(divide(x, self.divisor) if seen else NEGATIVE_INFINITY for x, seen in pairs)
            self.powers[i, row] = powers(masked, self.base)
        return self.powers[i, row]

    def tells_apart(self, S: Sequence[_ScoreRow], values: Sequence[Integers]) -> bool:
        """Whether these columns of values show which of two mistakes in the weights was made (`draw_givens`)."""
        if not self.steep:
            return True
        apart = (sum(map(mul, self._left(i, row), column)) for i, row in enumerate(S) for column in values)
        return any(abs(x) >= LEAST for x in apart)

    def _left(self, i: int, row: _ScoreRow) -> tuple[float, ...]:
        """The weights of scores that were multiplied, less those that are all on the largest score."""
        if (i, row) not in self.left:
            rate = approximate(self.divisor) * (1 if self.base == "e" else math.log(approximate(self.base)))
            most = max(compress(row.scores, self.keep[i]))
            pairs = list(zip(row.scores, self.keep[i], strict=True))
            grown = [math.exp(rate * (x - most)) if seen else 0.0 for x, seen in pairs]
            largest = [x == most and seen for x, seen in pairs]
            total, ties = sum(grown), sum(largest)
            self.left[i, row] = tuple(x / total - is_one / ties for x, is_one in zip(grown, largest, strict=True))
        return self.left[i, row]


class _Known(dict[int, T]):
    """What is worked out once for each code; it is forgotten when it grows too large."""

    @classmethod
    @lru_cache(maxsize=32)
    def of(cls, *rules: Any) -> Self:
        """The same for the same rules: siblings share it."""
        return cls(*rules)

    def __missing__(self, code: int) -> T:
        if len(self) >= MOST_KNOWN:
            self.clear()
        self[code] = found = self.worked_out(code)
        return found

    def worked_out(self, code: int) -> T:
        raise NotImplementedError


MOST_KNOWN = 50_000


@dataclass(frozen=True, slots=True, eq=False)
class _ScoreRow:
    """A row of scores as each query has it: its pattern, none where it may not have these (they are neither wanted nor
    modest), and which keys get the largest weight.
    """

    scores: Integers
    patterns: tuple[Integers | None, ...]
    largest: tuple[Integers, ...]


class _ScoreRows(_Known[_ScoreRow | None]):
    """Rows of scores by their code; None for those that are too large, or that no query may have."""

    def __init__(self, keep: Keep, wanted: tuple[tuple[int, frozenset[Integers]], ...], modest: float, most: int):
        super().__init__()
        self.keep, self.wanted, self.modest, self.most = keep, dict(wanted), modest, most
        self.kinds = list(dict.fromkeys(keep))  # what is seen, each once
        self.reach = {count: max(map(max, patterns), default=0) for count, patterns in wanted}

    def worked_out(self, code: int) -> _ScoreRow | None:
        scores = _decoded(code, len(self.keep[0]))
        if max(scores) > self.most or min(scores) < -self.most:
            return None
        of = {kept: self._pattern(scores, kept) for kept in self.kinds}
        if not any(pattern is not None for pattern in of.values()):
            return None
        largest = {kept: self._largest(scores, kept) for kept in self.kinds}
        return _ScoreRow(scores, tuple(map(of.__getitem__, self.keep)), tuple(map(largest.__getitem__, self.keep)))

    def _pattern(self, scores: Integers, kept: tuple[bool, ...]) -> Integers | None:
        visible = list(compress(scores, kept))
        count, least = len(visible), min(visible)
        if count > 1 and max(visible) - least > self.reach[count]:
            return None
        pattern = tuple([x - least for x in sorted(visible)])
        if count > 1 and pattern not in self.wanted[count]:
            return None
        modest = all(seen or abs(x) <= self.modest for x, seen in zip(scores, kept, strict=True))
        return pattern if modest else None

    def _largest(self, scores: Integers, kept: tuple[bool, ...]) -> Integers:
        most = max(compress(scores, kept))
        return tuple(j for j, (x, seen) in enumerate(zip(scores, kept, strict=True)) if seen and x == most)


class _Remainders(_Known[tuple[Integers, Integers]]):
    """The remainders of some scores by their code, and those that go with them to multiples of the step."""

    def __init__(self, step: int, length: int) -> None:
        super().__init__()
        self.step, self.length = step, length

    def worked_out(self, code: int) -> tuple[Integers, Integers]:
        numbers = _decoded(code, self.length)
        return tuple(x % self.step for x in numbers), tuple(-x % self.step for x in numbers)


class _Fewest(_Known[Integers]):
    """For keys by their code, the fewest hard products of a query with each row of scores that one may have, in order.

    `rules` are those of `_ScoreRows`.
    """

    def __init__(self, m: int, d_k: int, box: Integers, step: int, *rules: Any) -> None:
        super().__init__()
        self.shape, self.box, self.step = (m, d_k), box, step
        self.rows, self.remainders = _ScoreRows.of(*rules), _Remainders.of(step, m)

    def worked_out(self, code: int) -> Integers:
        m, d_k = self.shape
        numbers = _decoded(code, m * d_k)
        columns = tuple(numbers[j::d_k] for j in range(d_k))
        large = [sum(abs(x) > 1 for x in column) for column in columns]
        fewest = dict[Integers, int]()
        every = random.Random()  # with so few columns all queries are gone through, and chance is not asked
        for start, end, row in _scored(columns, self.box, self.step, self.rows, self.remainders, every):
            hard = _hard(start + end, large)
            fewest[row.scores] = min(fewest.get(row.scores, hard), hard)
        return tuple(sorted(fewest.values()))


def _hard(q: Integers, large: Sequence[int]) -> int:
    """The hard products of a query with keys that have so many entries of size 2 and more in each column."""
    return sum([count for x, count in zip(q, large, strict=True) if x > 1 or x < -1])


class _Mild(_Known[bool]):
    """Whether so many of so many terms may be negative, by the code of both."""

    def __init__(self, most: float) -> None:
        super().__init__()
        self.most = most

    def worked_out(self, code: int) -> bool:
        negative, terms = _decoded(code, 2)
        return negative <= self.most * terms


class _SmallColumns(_Known[Integers]):
    """What weights make of X by its code, a column after the activation; empty where it is 0 or too large."""

    def __init__(self, length: int, relu: bool) -> None:
        super().__init__()
        self.length, self.relu = length, relu

    def worked_out(self, code: int) -> Integers:
        made = _decoded(code, self.length)
        if self.relu:
            made = tuple(max(x, 0) for x in made)
        return made if any(made) and max(made) <= SMALL and min(made) >= -SMALL else ()


@cache
def _ties(pattern: Integers) -> int:
    return len(pattern) - len(set(pattern))


DIGIT = 20
"""Binary digits for each number of a column, or of a row, that is coded as one integer: codes add as they do."""

HALF = 1 << DIGIT - 1


@lru_cache(maxsize=1 << 14)
def _code(numbers: Integers) -> int:
    return sum(x << DIGIT * i for i, x in enumerate(numbers))


@lru_cache(maxsize=1 << 14)
def _rest(numbers: Integers, step: int) -> int:
    """The code of the remainders."""
    return _code(tuple(x % step for x in numbers))


def _decoded(code: int, length: int) -> Integers:
    above = code + _middle(length)
    return tuple([(above >> place & 2 * HALF - 1) - HALF for place in range(0, DIGIT * length, DIGIT)])


@cache
def _middle(length: int) -> int:
    """What makes all numbers of a code positive."""
    return _code((HALF,) * length)


MODEST = 3
"""The largest size of a hidden scaled score (rule D4)."""

MIDDLE = 1 / 4
"""How near a fresh family comes to the middle of the band of loads that 4.8 states, as a share of the band's width."""


def _wanted(
    mechanism: Mechanism,
    settings: Settings,
    sizes: Mapping[str, int],
    level: Level,
    softmax: SoftmaxKind,
    band: Band | None,
    steep: bool,
) -> _Wanted:
    if not {"X", "Q"} & set(mechanism.givens):
        raise InputError(f"{mechanism.name} has no scores that its givens could be generated from.")
    if settings.activation.lower() not in ("identity", "relu"):
        raise InputError(f"The activation {settings.activation!r} is only a name; numbers need identity or relu.")
    n, m = sizes["n"], sizes.get("m", sizes["n"])
    if m < 2:
        raise InputError("A family needs at least two keys: the softmax of one score is always 1.")
    if softmax in ("base 2", "base 3") and settings.base != int(softmax[-1]):
        raise InputError(f"The softmax is to have {softmax}, but the base is set to {settings.base}.")
    scale = scale_op(settings.scale, sizes)
    divisor: Value = scale.divisor if scale else 1
    rational = isinstance(divisor, int | Fraction)
    step = divisor.numerator if isinstance(divisor, int | Fraction) else 1
    relu = settings.activation.lower() == "relu"
    if softmax in ("base 2", "base 3") and not rational:
        raise InputError(f"Weights that are finite decimals need a rational scale, not {settings.scale}.")
    target = TARGETS[level]
    d_model = sizes["d_model"] if "X" in mechanism.givens else 0
    keep = mask_keep(settings.mask, n, m) or ((True,) * m,) * n
    visible = sorted({row.count(True) for row in keep} - {1})
    patterns = {v: _patterns(v, target, softmax, divisor, settings.base) for v in visible}
    multiset = _unscaled(band, divisor) if band and band.patterns else None
    if multiset:
        patterns = {v: allowed & frozenset(multiset) for v, allowed in patterns.items()}
    if not all(patterns.values()):
        raise InputError(f"No row of {max(visible)} scores has the softmax {softmax!r} at the level {level!r}.")
    narrow = d_model > 0 and len(target.entries) ** d_model <= FEW
    more = sum(max(row.count(True) - 3, 0) for row in keep)
    stated = target.loads.get((n, d_model, sizes["d_k"], sizes["d_v"])) if all(map(all, keep)) else None
    middle, near = (sum(stated) / 2, MIDDLE * (stated[1] - stated[0])) if stated else (0, 0)
    rules = keep, tuple(patterns.items()), MODEST * approximate(divisor), target.largest["S"]
    reach = 2 if sizes["d_k"] > 2 else 4
    box = tuple(range(0 if min(target.entries) >= 0 or relu else -reach, reach + 1))
    few = d_model > 0 and sizes["d_k"] <= 2 and softmax != "equal"
    return _Wanted(
        n=n,
        m=m,
        d_model=d_model,
        d_k=sizes["d_k"],
        d_v=sizes["d_v"],
        target=target,
        keep=keep,
        divisor=divisor,
        step=step,
        base=settings.base,
        relu=relu,
        even=softmax == "equal",
        patterns=patterns,
        multiset=multiset,
        ties=target.ties + more if softmax == "e" else math.inf,
        band=band,
        load=(middle - near, middle + near) if stated else None,
        rows=_ScoreRows.of(*rules),
        remainders=_Remainders.of(step, m),
        box=box,
        fewest=_Fewest.of(m, sizes["d_k"], box, step, *rules) if few else None,
        small=_SmallColumns.of(n, relu),
        mild=_Mild.of(LENIENT[narrow] * target.negatives[1]),
        powers={},
        steep=steep and scale is not None,
        left={},
        narrow=narrow,
        effort=_Effort(EFFORT["sibling" if band else "fresh"]),
    )


MOST_PATTERNS = 100_000
"""No more rows of scores are gone through: sizes that have more leave no variant worth setting anyway."""


def _patterns(
    visible: int, target: Target, softmax: SoftmaxKind, divisor: Value, base: Value | Literal["e"]
) -> frozenset[Integers]:
    """The rows of scores above their smallest, not scaled, that a row with so many visible keys may have.

    Scaled scores are integers where the divisor is rational; where it is not, their range is taken to the nearest.
    """
    if softmax == "equal":
        return frozenset({(0,) * visible})
    size = approximate(divisor)
    step = divisor.numerator if isinstance(divisor, int | Fraction) else 1
    most = math.floor((target.reach[1] + 0.5) * size / step) * step
    heights = range(0, most + 1, step)
    if math.comb(visible - 2 + len(heights), visible - 1) > MOST_PATTERNS:
        raise InputError(f"{visible} keys are too many for a fair variant; smaller sizes were expected.")
    kept = set()
    for above in combinations_with_replacement(heights, visible - 1):
        offsets = (0, *above)
        if not target.reach[0] <= round(offsets[-1] / size) <= target.reach[1]:
            continue
        b = math.e if base == "e" else approximate(base)
        weights = [b ** (x / size) for x in offsets]
        if not target.max_weight[0] - 1e-9 <= max(weights) / sum(weights) <= target.max_weight[1] + 1e-9:
            continue
        if isinstance(divisor, int | Fraction):
            D = sum(x for x in powers(tuple(Fraction(x) / divisor for x in offsets), base) if isinstance(x, int))
            most_D = target.D * max(visible, 3) / 3
            if most_D < D or (softmax != "e" and not divides_a_power_of_ten(D)):
                continue
        kept.add(offsets)
    return frozenset(kept)


def _unscaled(band: Band, divisor: Value) -> tuple[Integers, ...]:
    """The band's patterns as differences of scores before scaling: integers, though √2 may stand in between."""
    return tuple(tuple(round(approximate(x) * approximate(divisor)) for x in row) for row in band.patterns)


# ------------------------------------------------------------------------------------------ candidates, backwards


Scored = tuple[Integers, Integers, "_ScoreRow"]
"""The two halves of a query, and its scores."""


def _given(wanted: _Wanted, rng: random.Random) -> Iterator[Found]:
    """Q, K and V given: K from small entries, each query by its row of scores, then a V that brings the load right."""
    values = (*range(2 * min(wanted.target.entries), 0), 0, 1, 2)
    for _ in range(10 * KEYS):
        wanted.effort.left -= 1
        K = _small(wanted.m, wanted.d_k, wanted, rng)
        if not _sound(K):
            continue
        for Q, S in _queries(wanted, K, values, None, rng):
            weights = wanted.whole_weights(S)
            counts = dot_counts(Q, K)
            for _ in range(VALUES):
                V = _small(wanted.m, wanted.d_v, wanted, rng)
                twos = [abs(x) == 2 for matrix in (Q, K, V) for row in matrix for x in row]
                if not _sound(V) or wanted.target.twos < sum(twos) / len(twos):
                    continue
                wanted.effort.left -= 1
                output = dot_counts(weights, tuple(zip(*V, strict=True))).load
                if not wanted.excess(counts, output) and wanted.tells_apart(S, tuple(zip(*V, strict=True))):
                    yield Found({"Q": Q, "K": K, "V": V}, counts, counts.load + output, _offsets(S))
                    return


def _projected(wanted: _Wanted, rng: random.Random) -> Iterator[Found]:
    """X first; K and V from what weights can make of it; queries by their scores; then the weights themselves."""
    wanted.effort.left -= 1
    X = _zeroed(wanted, rng)
    if not _sound(X):
        return
    table = _Columns(X, wanted, rng)
    for _ in range(MANY_KEYS if wanted.fewest is not None else KEYS):
        K = table.keys(pick(rng, (2, 2, 3)), rng)
        if K is None or not wanted.fertile(K):
            wanted.effort.left -= 1
            continue
        for Q, S in _queries(wanted, K, wanted.box, table, rng):
            if found := _steered(wanted, table, Q, K, S, rng):
                weights, counts, load = found
                yield Found({**weights, "X": X}, counts, load, _offsets(S))
                return


def _offsets(S: Sequence[_ScoreRow]) -> Rows:
    """The patterns of the rows of scores that there are."""
    return tuple(pattern for i, row in enumerate(S) if (pattern := row.patterns[i]) is not None)


def _queries(
    wanted: _Wanted, K: Rows, values: Integers, table: _Columns | None, rng: random.Random
) -> Iterator[tuple[Rows, tuple[_ScoreRow, ...]]]:
    """Q and S = Q Kᵀ for keys K, from the last row up, as far as some weights make the columns of Q.

    The last row sees most under a causal mask, so there is least to choose from.
    """
    scored = _scored(tuple(zip(*K, strict=True)), values, wanted.step, wanted.rows, wanted.remainders, rng)
    if table is None:
        scored = _mild_queries(wanted, K, values, scored)
    wanted.effort.left -= SCORES
    likely = shuffled(rng, [(start + end, row) for start, end, row in scored])
    sieve = _Sieve(likely, K, wanted, table)
    left, found = NODES, 0

    def extend(
        i: int, among: int, Q: Rows, S: tuple[_ScoreRow, ...], patterns: Rows, ends: list[int], *gone: int
    ) -> Iterator[tuple[Rows, tuple[_ScoreRow, ...]]]:
        """Row i, one `among` these, and those above it; `ends` are those of the columns of Q, as `table` has them, and
        what is `gone` is a bit for each query whose scores are there, and the hard products of these.
        """
        nonlocal left, found
        tied, (taken, hard) = sum(map(_ties, patterns)), gone
        for bit in _bits(among):
            if left <= 0 or found >= FOUND:
                return
            left -= 1
            wanted.effort.left -= 1
            q, row = likely[bit]
            pattern = row.patterns[i]
            assert pattern is not None  # it fits
            if _ties(pattern) + tied > wanted.ties:
                continue
            longer = (pattern, *patterns)
            if i:
                gone = taken | sieve.alike[bit], hard + sieve.hard[bit]
                above, higher = sieve.passing(i - 1, longer, ends, q, *gone)
                if above:
                    yield from extend(i - 1, above, (q, *Q), (row, *S), longer, higher, *gone)
            elif wanted.scores_fit((q, *Q), K, (row, *S), longer):
                found += 1
                yield (q, *Q), (row, *S)

    if all(sieve.fitting):
        last = wanted.n - 1
        lowest = sieve.fitting_beside(last, (), 0, 0)
        for passed in sieve.passed:
            lowest &= passed[0]
        yield from extend(last, lowest, (), (), (), [0] * wanted.d_k, 0, 0)


def _bits(numbers: int) -> Iterator[int]:
    """The places of the ones in a number, from the last."""
    while numbers:
        one = numbers & -numbers
        numbers ^= one
        yield one.bit_length() - 1


def _mild_queries(wanted: _Wanted, K: Rows, values: Integers, scored: Sequence[Scored]) -> list[Scored]:
    """Queries that have neither too many entries of size 2 nor too many negative terms to be one of many."""
    most = math.ceil(wanted.target.twos * wanted.d_k)
    signs = [{x: _signs(x, column) for x in values} for column in zip(*K, strict=True)]
    return [
        (start, end, row)
        for start, end, row in scored
        if _twos(q := start + end) <= most and wanted.mild[sum(map(getitem, signs, q))]
    ]


@lru_cache(maxsize=1 << 14)
def _twos(numbers: Integers) -> int:
    return sum(abs(x) > 1 for x in numbers)


class _Sieve:
    """Of the queries that fit a row, those that go with what stands below it: rows of scores are all different, their
    patterns those of the band, hard products as many as are wanted, and columns of Q within what weights can make.

    A set of queries is one integer with a bit for each: for every column the union over the entries that may stand
    above those that there are, then the intersection over the columns.
    """

    def __init__(
        self, queries: Sequence[tuple[Integers, _ScoreRow]], K: Rows, wanted: _Wanted, table: _Columns | None
    ) -> None:
        self.wanted = wanted
        bits = [1 << k for k in range(len(queries))]
        columns = zip(*(q for q, _ in queries), strict=True)
        self.passed = [_Passed(column, bits, table.above) for column in columns] if table else []
        kinds: dict[int, dict[Integers, int]] = {i: {} for i in wanted.alike}
        alike: dict[Integers, int] = {}
        least, most = wanted.hard
        large = [sum(abs(x) > 1 for x in column) for column in zip(*K, strict=True)]
        self.hard: list[int] = []
        self.having_hard = [0] * (most + 1)
        for bit, (q, row) in zip(bits, queries, strict=True):
            hard = _hard(q, large)
            self.hard.append(hard)
            if hard > most:
                continue
            self.having_hard[hard] |= bit
            alike[row.scores] = alike.get(row.scores, 0) | bit
            for i, having in kinds.items():
                if (pattern := row.patterns[i]) is not None and wanted.may_be(i, row):
                    having[pattern] = having.get(pattern, 0) | bit
        self.least = 0 if 2 in wanted.target.entries else least
        self.having = [kinds[i] for i in wanted.alike]
        self.fitting = [sum(having.values()) for having in self.having]
        self.alike = bits if wanted.even else [alike.get(row.scores, 0) for _, row in queries]
        self._spare: dict[tuple[int, Rows], int] = {}
        self._fit_hard: dict[tuple[bool, int], int] = {}

    def passing(
        self, i: int, patterns: Rows, ends: Sequence[int], q: Integers, taken: int, hard: int
    ) -> tuple[int, list[int]]:
        """Those of `fitting_beside` that may stand above query q, and the ends of the columns with its entries above
        them; none where nothing may.
        """
        left, higher = self.fitting_beside(i, patterns, taken, hard), list[int]()
        for end, x, passed in zip(ends, q, self.passed, strict=False):
            if not left:
                break
            end = end << BITS | x + SMALL + 1
            left &= passed[end]
            higher.append(end)
        return left, higher

    def fitting_beside(self, i: int, patterns: Rows, taken: int, hard: int) -> int:
        """Those that may stand in row i, above rows with these patterns and so many hard products; `taken` are those
        whose scores are there.
        """
        if (i, patterns) not in self._spare:
            self._spare[i, patterns] = self._with_pattern(i, patterns)
        return self._spare[i, patterns] & ~taken & self._as_hard(i, hard)

    def _as_hard(self, i: int, hard: int) -> int:
        """Those that bring no more hard products than there may be; above all others, no fewer."""
        if (i == 0, hard) not in self._fit_hard:
            least = max(self.least - hard, 0) if i == 0 else 0
            self._fit_hard[i == 0, hard] = sum(self.having_hard[least : self.wanted.hard[1] - hard + 1])
        return self._fit_hard[i == 0, hard]

    def _with_pattern(self, i: int, others: Rows) -> int:
        """Those that fit row i with a pattern of which one more may come beside others."""
        shared = self.wanted.multiset
        spare = {pattern for pattern in shared or () if others.count(pattern) < (shared or ()).count(pattern)}
        return sum(self.having[i].get(pattern, 0) for pattern in spare) if shared else self.fitting[i]


class _Passed(_Known[int]):
    """The queries whose entry in one column may stand above its last ones, by the code of these."""

    def __init__(self, column: Integers, bits: Sequence[int], above: _Above) -> None:
        super().__init__()
        self.above, self.having = above, [0] * (2 * SMALL + 1)  # from the end, those with a negative entry
        for x, bit in zip(column, bits, strict=True):
            self.having[x] |= bit

    def worked_out(self, code: int) -> int:
        passed = 0
        for x in self.above[code]:
            passed |= self.having[x]
        return passed


def _scored(
    columns: Rows, values: Integers, step: int, rows: _ScoreRows, remainders: _Remainders, rng: random.Random
) -> list[Scored]:
    """The halves of every query with entries among `values`, and its scores with keys of these columns, where these are
    integers after scaling and not too large.

    The halves are put together by the remainders of their scores, which leaves few to be looked at.
    """
    cut = len(columns) // 2
    ends: dict[Integers, list[tuple[Integers, int]]] = {}
    for end, code, remainder in _halves(columns[cut:], values, step, rng):
        ends.setdefault(remainders[remainder][1], []).append((end, code))
    return [
        (start, end, row)
        for start, code, remainder in _halves(columns[:cut], values, step, rng)
        for end, other in ends.get(remainders[remainder][0], ())
        if (row := rows[code + other])
    ]


def _halves(columns: Rows, values: Integers, step: int, rng: random.Random) -> Iterable[tuple[Integers, int, int]]:
    """Halves of queries, with codes of their scores for these columns of K, and of what leaves the same remainders."""
    halves = _chosen(values, len(columns), HALVES, rng)
    scores = _totals(halves, [{x: x * code for x in values} for code in map(_code, columns)])
    rests = _totals(halves, [{x: x % step * code for x in values} for code in (_rest(c, step) for c in columns)])
    return zip(halves, scores, rests, strict=True)


def _chosen(values: Integers, width: int, most: int, rng: random.Random) -> Sequence[Integers]:
    """All choices of so many of these values, or, where there are more than `most`, so many at random."""
    if len(values) ** width <= most:
        return _every(values, width)
    return [tuple(picks(rng, values, width)) for _ in range(most)]


@cache
def _every(values: Integers, width: int) -> Sequence[Integers]:
    return tuple(product(values, repeat=width))


def _totals(chosen: Sequence[Integers], parts: Sequence[Mapping[int, int]]) -> list[int]:
    """For each choice, the sum of what its values stand for."""
    if len(chosen) < math.prod(map(len, parts)):
        return [sum(part[x] for part, x in zip(parts, choice, strict=True)) for choice in chosen]
    totals = [0]
    for part in parts:
        totals = [total + x for total in totals for x in part.values()]
    return totals


class _Columns:
    """Every small column that weights can make of X, and by which columns of weights.

    `above` has the entries that may stand above the last ones of such a column.
    """

    def __init__(self, X: Rows, wanted: _Wanted, rng: random.Random) -> None:
        self.X, self.columns, self.wanted = X, tuple(zip(*X, strict=True)), wanted
        self.makes: dict[Integers, Integers] = {}
        self.made_by: dict[Integers, list[Integers]] = {}
        self.used: dict[Integers, int] = {}
        self._counts: dict[Integers, Counts] = {}
        self._up_to: dict[int, dict[Integers, Integers]] = {}
        entries = wanted.target.entries
        chosen = _chosen(entries, wanted.d_model, COLUMNS, rng)
        wanted.effort.left -= len(chosen)
        codes = _totals(chosen, [{w: w * code for w in entries} for code in map(_code, self.columns)])
        signs = _totals(chosen, [{w: _signs(w, column) for w in entries} for column in self.columns])
        zeros = math.ceil(wanted.target.zeros[1] * wanted.d_model)
        for w, code, sign in zip(chosen, codes, signs, strict=True):
            if w.count(0) <= zeros and wanted.mild[sign] and (made := wanted.small[code]):
                self.makes[w] = made
                self.made_by.setdefault(made, []).append(w)
                self.used[made] = self.used.get(made, 0) | _nonzero(w)
        self.weights = list(self.makes)
        self.above = _Above({code >> BITS * i for code in map(_end, self.made_by) for i in range(wanted.n)})

    def keys(self, largest: int, rng: random.Random) -> Rows | None:
        """Keys of columns that can be made, with entries up to `largest`; None if chance gave dull ones.

        Two columns are made of the others modulo the step, or hardly any query would have scores that are multiples of
        it; where there are too few columns for that, they are left as they come.
        """
        columns, width = self._columns_up_to(largest), self.wanted.d_k
        chosen, free = sample(rng, [*columns], width), width - 2
        if 1 < free < self.wanted.m and 1 < self.wanted.step**free <= len(columns):
            made = self._made_of(chosen[:free])
            others = [column for column, rest in columns.items() if rest in made and column not in chosen[:free]]
            chosen[free:] = sample(rng, others, 2)
        if len(chosen) < width:
            return None
        rows = tuple(zip(*chosen, strict=True))
        return rows if self.usable(chosen) and _sound(rows) else None

    def usable(self, columns: Iterable[Integers]) -> bool:
        """Whether some weights that make these columns use every feature of X."""
        used = 0
        for column in columns:
            used |= self.used[column]
        return used == (1 << self.wanted.d_model) - 1

    def _columns_up_to(self, largest: int) -> dict[Integers, Integers]:
        """Those with entries up to `largest`, and their remainders modulo the step."""
        if largest not in self._up_to:
            small = (column for column in self.made_by if max(map(abs, column)) <= largest)
            self._up_to[largest] = {column: self.wanted.remainders[_code(column)][0] for column in small}
        return self._up_to[largest]

    def _made_of(self, columns: Sequence[Integers]) -> set[Integers]:
        """The remainders of all sums of multiples of some columns."""
        codes = [0]
        for column in columns:
            codes = [code + k * _code(column) for code in codes for k in range(self.wanted.step)]
        return {self.wanted.remainders[code][0] for code in codes}

    @cached_property
    def extremes(self) -> tuple[Counts, Counts]:
        """Of one column, see below."""
        return _extremes(map(self.counts, self.weights))

    def counts(self, w: Integers) -> Counts:
        """The arithmetic of X w."""
        if w not in self._counts:
            self._counts[w] = dot_counts(self.X, (w,))
        return self._counts[w]


def _extremes(counts: Iterable[Counts]) -> tuple[Counts, Counts]:
    """The least and the most of each count."""
    each = list(zip(*counts, strict=True))
    return Counts(*map(min, each)), Counts(*map(max, each))


class _Above(_Known[list[int]]):
    """The entries that may stand above the last ones of a column, by the code of these."""

    def __init__(self, ends: Set[int]) -> None:
        super().__init__()
        self.ends = ends

    def worked_out(self, code: int) -> list[int]:
        return [x for x in range(-SMALL, SMALL + 1) if (code << BITS | x + SMALL + 1) in self.ends]


BITS = 4
"""Binary digits for each entry of a column, up to `SMALL` in size, in the code of its end."""


@lru_cache(maxsize=1 << 14)
def _end(column: Integers) -> int:
    return sum((x + SMALL + 1) << BITS * i for i, x in enumerate(column))


@lru_cache(maxsize=1 << 14)
def _nonzero(w: Integers) -> int:
    """A bit for each entry that is not 0."""
    return sum(1 << k for k, x in enumerate(w) if x)


@lru_cache(maxsize=1 << 14)
def _signs(w: int, column: Integers) -> int:
    """How many of these entries times w are negative and how many are not 0, coded as one number."""
    return _code((sum(w * x < 0 for x in column), sum(w * x != 0 for x in column)))


def _steered(
    wanted: _Wanted, table: _Columns, Q: Rows, K: Rows, S: Sequence[_ScoreRow], rng: random.Random
) -> tuple[dict[str, Rows], Counts, float] | None:
    """W_Q, W_K and W_V for the X of a table, changed a column at a time until the arithmetic is as wanted.

    The columns of W_Q and W_K are held to what makes Q and K; those of W_V, and so V, are free.
    """
    columns = list(zip(*Q, strict=True))
    if not table.usable(columns):  # K is
        return None
    choices = [table.made_by[column] for column in (*columns, *zip(*K, strict=True))]
    scores, d_k, values = dot_counts(Q, K), wanted.d_k, len(choices)
    choices += [table.weights] * wanted.d_v
    ends = [_extremes(map(table.counts, choice)) for choice in choices[:values]] + [table.extremes] * wanted.d_v
    if not wanted.in_reach(*(sum(each, scores) for each in zip(*ends, strict=True))):
        return None
    free = [c for c, choice in enumerate(choices) if len(choice) > 1]
    cells = wanted.d_model * (wanted.n + len(choices))
    weights, outputs = wanted.whole_weights(S), dict[Integers, float]()

    def work(c: int, w: Integers) -> tuple[Counts, float, int]:
        """Of column c: its arithmetic, its share of the load of the output, and its zeros."""
        if c < values:
            return table.counts(w), 0, w.count(0)
        made = table.makes[w]
        if made not in outputs:
            wanted.effort.left -= OUTPUT
            outputs[made] = dot_counts(weights, (made,)).load
        return table.counts(w), outputs[made], w.count(0)

    def excess(counts: Counts, output: float, zeros: int, apart: bool) -> float:
        return wanted.excess(counts, output, zeros / cells) + (0 if apart else ALIKE)

    def tells_apart() -> bool:
        return wanted.tells_apart(S, [table.makes[w] for w in chosen[values:]])

    def found() -> tuple[dict[str, Rows], Counts, float] | None:
        """Unless some row of weights is all zeros, for then a feature of X would not be used, or V is dull."""
        W_Q, W_K, W_V = (tuple(zip(*part, strict=True)) for part in (chosen[:d_k], chosen[d_k:values], chosen[values:]))
        used = all(any(row) for W in (W_Q, W_K, W_V) for row in W)
        columns = tuple(table.makes[w] for w in chosen[values:])
        if not (used and _sound(tuple(zip(*columns, strict=True)))):
            return None
        load = state[0].load + dot_counts(weights, columns).load
        return {"W_Q": W_Q, "W_K": W_K, "W_V": W_V}, state[0], load

    chosen = [pick(rng, choice) for choice in choices]
    works = [work(c, w) for c, w in enumerate(chosen)]
    state = (
        sum((counts for counts, _, _ in works), scores),
        sum(load for _, load, _ in works),
        sum(zeros for _, _, zeros in works) + sum(row.count(0) for row in table.X),
        tells_apart(),
    )
    best = excess(*state)
    for _ in range(CHANGES):
        if not best and (givens := found()):
            return givens
        wanted.effort.left -= 1
        c = pick(rng, free)
        w = pick(rng, choices[c])
        if w is chosen[c]:
            continue
        old, new, before = works[c], work(c, w), chosen[c]
        chosen[c] = w
        apart = tells_apart() if c >= values else state[3]
        changed = (state[0].exchanged(old[0], new[0]), state[1] - old[1] + new[1], state[2] - old[2] + new[2], apart)
        if (now := excess(*changed)) <= best:
            works[c], state, best = new, changed, now
        else:
            chosen[c] = before
    return None


# ------------------------------------------------------------------------------------------------- small matrices


def _zeroed(wanted: _Wanted, rng: random.Random) -> Rows:
    """X, with a share of zeros as the level has it; few of its other entries are of size 2."""
    size = wanted.n * wanted.d_model
    least, most = wanted.target.zeros
    zeros = whole(rng, math.ceil(least * size), math.floor(most * size))
    entries = shuffled(rng, [0] * zeros + [_other(wanted.target.entries, rng) for _ in range(size - zeros)])
    return tuple(tuple(entries[i * wanted.d_model : (i + 1) * wanted.d_model]) for i in range(wanted.n))


def _other(entries: Integers, rng: random.Random) -> int:
    """An entry that is not 0; a 2 comes one time in six where there are any."""
    x = rng.random()
    if -1 in entries and x < NEGATIVE:
        return -1
    return 2 if 2 in entries and x > TWOS else 1


def _small(rows: int, columns: int, wanted: _Wanted, rng: random.Random) -> Rows:
    """A given K or V: a third of zeros, and a 2 now and then."""

    def entry() -> int:
        return 0 if rng.random() < 1 / 3 else _other((*wanted.target.entries, 2), rng)

    return tuple(tuple(entry() for _ in range(columns)) for _ in range(rows))


def _sound(rows: Rows) -> bool:
    """No two equal rows or columns, and none of zeros (rule D3); a line of one entry may be 0."""
    for lines in (rows, tuple(zip(*rows, strict=True))):
        if len(set(lines)) < len(lines) or (len(lines[0]) > 1 and not all(map(any, lines))):
            return False
    return True


__all__ = ["TARGETS", "Band", "Level", "SoftmaxKind", "Target", "draw_givens"]
