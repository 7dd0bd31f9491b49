"""Tier B: matched siblings, from the softmax rows and the arithmetic that they are to have (rules.md 4.7.2–4.7.3, 4.8).

Entries are changed one at a time.  What is wrong with givens is one number, 0 if nothing is, and a change that makes it
much larger is taken back.  The search ends after a number of small steps; families of the usual sizes are kept as data.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import ItemsView, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import chain, compress, islice
from operator import mul
from random import Random
from typing import Literal, NamedTuple, cast

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms.masks import mask_keep
from symattn.derivation.mechanisms.steps import scale_op
from symattn.errors import InputError
from symattn.exact import NEGATIVE_INFINITY, Matrix, Value, divide
from symattn.exact.rounding import approximate
from symattn.foundation.dice import Counted, pick, picks, whole
from symattn.teaching.fairness.draw import draw
from symattn.teaching.fairness.family import PARENTS, Givens, Kind, Level, read_member
from symattn.teaching.fairness.features import (
    Counts,
    Features,
    Row,
    divides_a_power_of_ten,
    dot_counts,
    features,
    powers,
    work,
)
from symattn.teaching.fairness.separation import LEAST, troubles

Integers = tuple[int, ...]
Rows = tuple[Integers, ...]
Items = ItemsView[str, tuple[int, int]]


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
    same_rows    whether siblings have the same D and ties; a row of more than three keys, one more or less for each
    loads        the band of L_S + L_out by sizes: (n, d_model, d_k, d_v), 0 for d_model where Q, K and V are given;
                 nothing masked
    output       the most L_out for each entry of the output, for up to three keys: with V given, and with V worked out
    spread       of the load within a family
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


TARGETS: Mapping[Level, Target] = {
    "starter": Target(
        entries=(0, 1, 2), twos=0.25, largest={"Q": 9, "K": 9, "V": 9, "S": 9},
        zeros=(0.25, 0.50), negatives=(0.0, 0.0), h=(2, 1),
        reach=(1, 2), max_weight=(0.40, 0.95), ties=0, D=10, same_rows=True,
        loads={(2, 0, 1, 2): (20, 25), (2, 0, 2, 2): (20, 25), (3, 0, 2, 2): (45, 58)},
        output=(4.7, 7.0),  # without these it is more work than on the standard level
        spread=0.10,
    ),
    "standard": Target(
        entries=(-1, 0, 1), twos=0.15, largest={"Q": 4, "K": 4, "V": 9, "S": 12},
        zeros=(0.25, 0.45), negatives=(0.15, 0.30), h=(6, 1),
        reach=(1, 3), max_weight=(0.40, 0.90), ties=1, D=13, same_rows=True,
        loads={(3, 0, 4, 2): (65, 80), (3, 4, 2, 2): (125, 150), (3, 5, 4, 2): (240, 265)},
        output=(math.inf, math.inf),
        spread=0.05,
    ),
    "long": Target(
        entries=(-1, 0, 1, 2), twos=0.25, largest={"Q": 20, "K": 20, "V": 20, "S": 20},
        zeros=(0.25, 0.40), negatives=(0.15, 0.30), h=(12, 2),
        reach=(1, 3), max_weight=(0.40, 0.95), ties=1, D=20, same_rows=False,
        loads={(4, 5, 4, 2): (250, 400)},
        output=(math.inf, math.inf),
        spread=0.07,
    ),
}  # fmt: skip


# ------------------------------------------------------------------------------------------ what siblings share

TWO_APART, NEG_APART, ADDS_APART = 1, 2, 3
"""How far siblings may differ in results of two digits, negative terms and additions up to the scores (4.8)."""


@dataclass(frozen=True)
class Band:
    """The radicals of a family: what every sibling has in common with the first one (4.6, 4.8).

    `sums` are D of every row, the smallest first: of the powers of the base, or of 2 where it is e.
    """

    load: float
    counts: Counts
    ties: int
    sums: tuple[float, ...]

    @classmethod
    def of(cls, first: Features, base: Value | Literal["e"] = "e") -> Band:
        sums = sorted(_sum(list(map(approximate, row)), base) for row in first.offsets)
        return cls(first.load, first.counts, first.ties, tuple(sums))

    def excess(self, load: float, counts: Counts, target: Target) -> float:
        """How far a load and the arithmetic up to the scores are outside of what siblings may have."""
        first = self.counts
        return (
            _beyond(load - self.load, target.spread * self.load)
            + _beyond(counts.h - first.h, target.h[1])
            + _beyond(counts.two - first.two, TWO_APART)
            + _beyond(counts.neg - first.neg, NEG_APART)
            + _beyond(counts.adds - first.adds, ADDS_APART)
        )


def _sum(offsets: Sequence[float], base: Value | Literal["e"]) -> float:
    """D of a row of scaled scores above its smallest one."""
    b = 2.0 if base == "e" else approximate(base)
    least = 0 if b > 1 else max(offsets)
    return math.fsum(b ** (x - least) for x in offsets)


def _beyond(difference: float, most: float) -> float:
    return max(abs(difference) - most, 0.0)


def _outside(x: float, least: float, most: float) -> float:
    return max(least - x, x - most, 0.0)


# ------------------------------------------------------------------------------------------------------ drawing

ENTRIES = {0: 5, 1: 8, -1: 2, 2: 2}
"""How often each entry is tried: products of two signs are negative more often, and a 2 comes now and then."""

RULE, ARITHMETIC, SUM = 3.0, 0.3, 0.2
"""What counts as much as a score that is off by 1: a rule of design that is broken, and how far the arithmetic and the
sums of softmax rows are off."""

SLACK, COOLING = 0.4, 1000
"""How much worse a change may leave the givens, on average, to begin with; and after how many changes, in which this
goes down to nothing, it is as much again.  Three to seven times as many are found as where it is always half as much.
"""

MODEST = 3
"""The largest size of a hidden scaled score (rule D4)."""

ROUNDED = 1e-9
"""How far floats may be from one another that stand for the same number."""

MIDDLE = 1 / 4
"""How near a fresh family comes to the middle of the band of loads that 4.8 states, as a share of the band's width."""


def draw_givens(kind: Kind, rng: Counted, band: Band | None = None, steep: bool = False) -> dict[str, Matrix]:
    """One sibling: givens that meet the level's targets and design rules D1–D5, and the band if there is one.

    Without a band, the load is in the middle of the level's for these sizes, where 4.8 states one (it does so without a
    mask).  The softmax "base 2" and "base 3" are weights that are finite decimals (the base must be set to that one),
    "equal" rows of equal scores.  `steep` asks for values that tell multiplied scores from all weight on the largest
    one (C4 and X10), which come nearest to one another at the output.  Each change counts as many random numbers as it
    has products of a row with a column; `InputError` when these are used up.
    """
    wanted = _Wanted(kind, band, steep)
    entries = [x for x, often in ENTRIES.items() if x in wanted.entries for _ in range(often)]
    of_parity = [[x for x in entries if x % 2 == parity] for parity in (0, 1)]
    givens = {name: [[0] * columns for _ in range(rows)] for name, (rows, columns) in wanted.shapes}
    places = [
        (row, slice(start, start + wanted.together(name)))
        for name, rows in givens.items()
        for row in rows
        for start in range(0, len(row), wanted.together(name))
    ]

    def drawn(place: slice) -> list[int]:
        """Entries of a place, all even or all odd."""
        first = pick(rng, entries)
        return [first, *picks(rng, of_parity[first % 2], place.stop - place.start - 1)]

    for row, place in places:
        row[place] = drawn(place)
    now, cooled = wanted.excess(givens), 0.0
    try:
        while now:
            rng.spend(wanted.products)
            cooled = (cooled + 1 / COOLING) % 1
            row, place = pick(rng, places)
            before, row[place] = row[place], drawn(place)
            most = now - SLACK * (1 - cooled) * math.log(1 - rng.random())
            if row[place] != before and (changed := wanted.excess(givens, most)) <= most:
                now = changed
            else:
                row[place] = before
    except InputError:
        raise InputError(kind.none) from None
    return {name: Matrix(rows) for name, rows in givens.items()}


class _Line(NamedTuple):
    """A row of scores: how far it is from what is wanted, how many scores are equal to others, D, where the largest is,
    integer weights (or what there is in their place), and by how much C4 and X10 differ for each key.
    """

    off: float
    ties: int
    sum: float
    largest: int
    weights: Row
    apart: tuple[float, ...]


class _Wanted:
    """What givens are held against."""

    def __init__(self, kind: Kind, band: Band | None, steep: bool) -> None:
        mechanism, settings, sizes = kind.mechanism, kind.settings, kind.sizes
        if settings.activation.lower() not in ("identity", "relu"):
            raise InputError(f"The activation {settings.activation!r} is only a name; numbers need identity or relu.")
        n, m = sizes["n"], sizes.get("m", sizes["n"])
        if m < 2:
            raise InputError("A family needs at least two keys: the softmax of one score is always 1.")
        self.decimals = kind.softmax in ("base 2", "base 3")
        if self.decimals and settings.base != int(kind.softmax[-1]):
            raise InputError(f"The softmax is to have {kind.softmax}, but the base is set to {settings.base}.")
        scale = scale_op(settings.scale, sizes)
        self.divisor: Value = scale.divisor if scale else 1
        self.step = self.divisor.numerator if isinstance(self.divisor, int | Fraction) else 0
        if self.decimals and not self.step:
            raise InputError(f"Weights that are finite decimals need a rational scale, not {settings.scale}.")
        self.size, self.base, self.band = approximate(self.divisor), settings.base, band
        self.target, self.softmax = TARGETS[kind.level], kind.softmax
        self.relu = settings.activation.lower() == "relu"
        self.steep = steep and scale is not None
        self.keep = mask_keep(settings.mask, n, m) or ((True,) * m,) * n
        self.more = sorted(max(sum(kept) - 3, 0) for kept in self.keep)
        self.projected, d_k, d_v = "X" in mechanism.givens, sizes["d_k"], sizes["d_v"]
        self.shapes = cast(Items, mechanism.given_shapes(sizes, settings).items())
        self.twins = d_k % 2 == 0 and self.step > 0 and self.step % 2 == 0
        self.cells = sum(rows * columns for _, (rows, columns) in self.shapes)
        self.entries = self.target.entries if self.projected else (*self.target.entries, 2)
        self.products = n * (m + d_v + (2 * d_k + d_v if self.projected else 0))
        stated = self.target.loads.get((n, sizes["d_model"] if self.projected else 0, d_k, d_v))
        self.load = stated if all(map(all, self.keep)) else None
        self.output = self.target.output[self.projected] * n * d_v * max(m, 3) / 3
        self.line = lru_cache(maxsize=1 << 14)(self._line)

    def together(self, name: str) -> int:
        """How many neighbours in a row are even or odd together: two columns of queries and of keys, where a divisor is
        even, since all scores are then even."""
        return 2 if self.twins and name[-1] in "QK" else 1

    def excess(self, givens: Mapping[str, Sequence[Sequence[int]]], most: float = math.inf) -> float:
        """How far givens are from what is wanted; 0 if nothing is wrong with them.  Above `most`, it may be too low."""
        tables = {name: tuple(map(tuple, rows)) for name, rows in givens.items()}
        made, counts = dict(tables), list[Counts]()
        for role in "QKV" if self.projected else "":
            product = _product(tables["X"], tuple(zip(*tables[f"W_{role}"], strict=True)))
            made[role] = _rectified(product.totals) if self.relu else product.totals
            counts.append(product.counts)
        S, of_scores = _product(made["Q"], made["K"])
        made["S"] = S
        lines = list(map(self.line, self.keep, S))
        off = sum(line.off for line in lines)
        off += sum(max(max(map(abs, chain(*made[role]))) - large, 0) for role, large in self.target.largest.items())
        values = tuple(zip(*made["V"], strict=True))
        if off <= most:
            off += SUM * self._unlike(lines)
        if off <= most:
            off += RULE * self._broken(made, lines, values)
        if off <= most:
            output = sum(_product((line.weights,), values).counts.load for line in lines)
            off += ARITHMETIC * self._arithmetic(tables, Counts.added([*counts, of_scores]), output)
        return off

    def _line(self, kept: tuple[bool, ...], scores: Integers) -> _Line:
        seen = sorted(compress(scores, kept))
        offsets = [(x - seen[0]) / self.size for x in seen]
        off = sum(min(x % self.step, -x % self.step) for x in scores) / self.step if self.step else 0.0
        off += sum(_beyond(x, MODEST * self.size) for x, is_seen in zip(scores, kept, strict=True) if not is_seen)
        D = _sum(offsets, self.base)
        if self.softmax == "equal":
            off += sum(offsets)
        elif len(seen) > 1:
            off += self._pattern(offsets, D)
            off += self.decimals and not off and not divides_a_power_of_ten(round(D))
        most, rate = seen[-1], self.size * (1 if self.base == "e" else math.log(approximate(self.base)))
        pairs = list(zip(scores, kept, strict=True))
        grown = [math.exp(rate * (x - most)) if is_seen else 0.0 for x, is_seen in pairs]
        largest = [is_seen and x == most for x, is_seen in pairs]

        def scaled(x: int) -> Value:
            return round(x / self.size) if off else divide(x, self.divisor)  # irrational ones take long

        return _Line(
            off=off,
            ties=len(seen) - len(set(seen)),
            sum=D,
            largest=largest.index(True),
            weights=powers(tuple(scaled(x) if is_seen else NEGATIVE_INFINITY for x, is_seen in pairs), self.base),
            apart=tuple(x / sum(grown) - one / sum(largest) for x, one in zip(grown, largest, strict=True)),
        )

    def _pattern(self, offsets: Sequence[float], D: float) -> float:
        """How far scaled scores above the smallest one are from a row that the level has."""
        target, b = self.target, math.e if self.base == "e" else approximate(self.base)
        weights = [b ** (x - offsets[-1]) for x in offsets]
        off = _outside(offsets[-1], target.reach[0] - 0.5, target.reach[1] + 0.5)
        off += 5 * _outside(max(weights) / sum(weights), target.max_weight[0] - ROUNDED, target.max_weight[1] + ROUNDED)
        return off + (_outside(D, 0, target.D * max(len(offsets), 3) / 3 + ROUNDED) / 4 if self.step else 0)

    def _broken(self, made: Mapping[str, Rows], lines: Sequence[_Line], values: Rows) -> float:
        """How often rules D3 and D4 are broken, what 4.8 says about all rows together, and what is asked of values."""
        S = made["S"]
        columns = tuple(zip(*S, strict=True))
        broken: float = sum(_dull(made[name]) for name in "XQKV" if name in made)
        broken += sum(not any(row) for name, rows in made.items() if name[0] == "W" for row in rows)
        broken += made["Q"] == made["K"] or columns == S
        if self.steep:
            apart = max(abs(sum(map(mul, line.apart, column))) for line in lines for column in values)
            broken += max(LEAST - apart, 0) / LEAST
        if self.softmax == "equal":
            return broken
        broken += len(S) - len(set(S)) + len(columns) - len(set(columns))
        hidden = [
            x for row, kept in zip(S, self.keep, strict=True) for x, seen in zip(row, kept, strict=True) if not seen
        ]
        if len(hidden) >= 3 and min(self.target.entries) < 0:
            broken += (min(hidden) >= 0) + (max(hidden) <= 0) + (0 not in hidden)
        if len(S) == len(columns) >= 3:  # a token that attends to another
            broken += all(line.largest == i for i, line in enumerate(lines))
        seen = list(map(sum, self.keep))
        if self.softmax == "e" and not self.band and max(seen) >= 3:  # a row that has more than two weights
            broken += all(count - line.ties < 3 for count, line in zip(seen, lines, strict=True))
        return broken

    def _arithmetic(self, tables: Mapping[str, Rows], counts: Counts, output: float) -> float:
        """How far the arithmetic up to the scores, the load of the output, zeros and twos are outside."""
        target, load = self.target, counts.load + output
        entries = list(chain.from_iterable(chain.from_iterable(tables.values())))
        least, most = (share * counts.terms for share in target.negatives)
        room = 0 if self.band else min(NEG_APART, (most - least) / 4)  # for siblings
        far = _outside(counts.neg, least + room, most - room) + _outside(output, 0, self.output)
        far += _outside(counts.h, 0, target.h[0] - (0 if self.band else target.h[1]))
        far += _outside(entries.count(2) + entries.count(-2), 0, target.twos * self.cells)
        if self.projected:
            far += _outside(entries.count(0), *(share * self.cells for share in target.zeros))
        if self.band:
            far += self.band.excess(load, counts, target)
        elif self.load:
            far += _beyond(load - sum(self.load) / 2, MIDDLE * (self.load[1] - self.load[0]))
        return far

    def _unlike(self, lines: Sequence[_Line]) -> float:
        """How far ties and sums of rows are from those that are wanted; a row of more than three keys has some room."""
        ties = sum(line.ties for line in lines)
        if self.band and self.target.same_rows:
            sums = zip(sorted(line.sum for line in lines), self.band.sums, self.more, strict=True)
            off = sum(_beyond(one - other, room + ROUNDED) for one, other, room in sums)
            return off + _beyond(ties - self.band.ties, self.more[-1])
        return _beyond(ties, self.target.ties + sum(self.more)) if self.softmax == "e" else 0


# ------------------------------------------------------------------------------------------------- small things


class _Product(NamedTuple):
    totals: Rows
    counts: Counts


@lru_cache(maxsize=1 << 12)
def _product(rows: Sequence[Row], columns: Rows) -> _Product:
    """Every row times every column; a change of the givens leaves most products what they were."""
    dots = [[_dot(row, column) for column in columns] for row in rows]
    totals = tuple(tuple(total for total, _ in row) for row in dots)
    return _Product(totals, Counts.added([counts for row in dots for _, counts in row]))


@lru_cache(maxsize=1 << 16)
def _dot(row: Row, column: Integers) -> tuple[int, Counts]:
    return sum(map(mul, row, column)), dot_counts((row,), (column,))


def _rectified(rows: Rows) -> Rows:
    return tuple(tuple(max(x, 0) for x in row) for row in rows)


@lru_cache(maxsize=1 << 14)
def _dull(rows: Rows) -> int:
    """How many rows and columns are equal to others, or all zeros (rule D3); a line of one entry may be 0."""
    found = 0
    for lines in (rows, tuple(zip(*rows, strict=True))):
        found += len(lines) - len(set(lines))
        if len(lines[0]) > 1:
            found += sum(not any(line) for line in lines)
    return found


# ------------------------------------------------------------------------------------------------ a whole family

FEW, LONG = 3, 200
"""Parents of a family whose derivations have more than `LONG` entries; of others there are `PARENTS`."""

IN_VAIN = 2
"""Searches in a row that find no further member, after which there are no more of them."""

MISSES = 60
"""Draws in a row that are not alike, or that hide what others show, after which no further member is looked for."""

LIKE, HARD = 0.07, 1
"""How far siblings that are drawn forwards may differ in their work, and in their hard products (rules.md 4.8)."""

DRAWING = 500_000
"""Random numbers for one member that is drawn forwards, which take some seconds."""

FRESH, SIBLING = 1_000_000, 2_000_000
"""Those for all parents of a family that is found backwards, which take a second, and for each of its members."""


def searched(kind: Kind, rng: Random, lines: Sequence[str] = ()) -> Iterator[Givens]:
    """Members of a new family, or further ones of that with these lines: equally hard, and hiding nothing that the
    first does not hide.

    The first is of a few that hide least.  It goes on where one is not found in time, and ends after a few of these;
    `InputError` if there is not even one.
    """
    search = _search(kind, rng, [kind.mechanism.run(read_member(line), kind.settings) for line in lines])
    hidden = [troubles(d, at_the_end=search.at_the_end) for d in search.parents]
    fewest = min(map(len, hidden))
    first = search.typical([k for k, found in enumerate(hidden) if len(found) == fewest])
    misses = in_vain = 0
    drawn: Iterator[Derivation] = chain(() if lines else search.parents, search)
    while in_vain < IN_VAIN and misses <= MISSES:
        d = next(drawn, None)
        if d is None:
            in_vain, drawn = in_vain + 1, iter(search)
        elif search.is_alike(d) and troubles(d, at_the_end=search.at_the_end) <= hidden[first]:
            yield {name: m for name, m in d.givens.items() if isinstance(m, Matrix)}
            misses = in_vain = 0
        else:
            misses += 1
            continue
        search.again()


def _search(kind: Kind, rng: Random, parents: Sequence[Derivation]) -> _Search:
    """Backwards where that is possible; ordinary sheets, of sizes that have no siblings, forwards."""
    if not kind.is_found_backwards:
        return _Forwards(kind, rng, parents)
    try:
        return _Backwards(kind, rng, parents)
    except InputError:
        if (kind.level, kind.softmax) != ("standard", "e"):
            raise
    return _Forwards(kind, rng, parents)


class _Search:
    """Derivations of a kind, drawn with so many random numbers for each member; it ends where these are used up.

    `parents` are the first of them, drawn before it is known which one is `typical`; `InputError` if there is not even
    one.
    """

    at_the_end: bool
    """Whether the output has to tell misconceptions apart, too."""
    numbers: int

    def __init__(self, kind: Kind, seeds: Random, parents: Sequence[Derivation]) -> None:
        self.kind, self._seeds = kind, seeds
        self.again()
        self.parents = list(parents)
        if not parents:
            self.parents.append(self._drawn())
            entries = sum(1 for step in self.parents[0] if isinstance(step.result, Matrix) for _ in step.result)
            several = PARENTS if entries <= LONG else FEW
            self.parents += islice(self, several - 1)
            self.again()

    def again(self) -> None:
        """For the next member, there are as many numbers again."""
        self._rng = Counted(whole(self._seeds, 0, 2**50))
        self._rng.left = self.numbers

    def __iter__(self) -> Iterator[Derivation]:
        with suppress(InputError):
            while True:
                yield self._drawn()

    def _drawn(self) -> Derivation:
        raise NotImplementedError

    def typical(self, among: Sequence[int]) -> int:
        """Which of these parents has most in common with the others: siblings are like that one."""
        raise NotImplementedError

    def is_alike(self, d: Derivation) -> bool:
        raise NotImplementedError


class _Backwards(_Search):
    """From what a family has in common; where there can be, with values that tell C4 from X10."""

    at_the_end = True
    numbers = FRESH
    _band: Band | None = None
    _steep = False

    def _drawn(self) -> Derivation:
        givens = draw_givens(self.kind, self._rng, self._band, self._steep)
        self._steep = not self.kind.settings.stop_at  # of the others
        return self.kind.mechanism.run(givens, self.kind.settings)

    def typical(self, among: Sequence[int]) -> int:
        """One whose rows of scores come often."""
        bands = [Band.of(features(d), self.kind.settings.base) for d in self.parents]
        often = Counter(chain.from_iterable(band.sums for band in bands))
        first = max(among, key=lambda k: sum(often[x] for x in bands[k].sums))
        self._band, self._others = bands[first], [d for k, d in enumerate(self.parents) if k != first]
        self._steep = len(self.parents) > 1 and not self.kind.settings.stop_at
        self.numbers = SIBLING
        self.again()
        return first

    def is_alike(self, d: Derivation) -> bool:
        return d not in self._others


class _Forwards(_Search):
    """At random; siblings are about as much work as the middle one of the first few."""

    numbers = DRAWING
    at_the_end = False  # of so many lines, the last need not tell what those before it show

    def _drawn(self) -> Derivation:
        return draw(self.kind.mechanism, self.kind.settings, self.kind.sizes, self._rng)

    def typical(self, among: Sequence[int]) -> int:
        found = sorted((work(self.parents[k]), k) for k in among)
        self._middle, first = found[len(found) // 2]
        return first

    def is_alike(self, d: Derivation) -> bool:
        found, middle = work(d), self._middle
        return abs(found.load - middle.load) <= LIKE * middle.load and abs(found.hard - middle.hard) <= HARD
