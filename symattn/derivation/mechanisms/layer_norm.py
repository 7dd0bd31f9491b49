"""Layer norm: Ba, Kiros and Hinton 2016, section 3, each token over its own features.

The variance is the population's, divided by d_model, unless a problem declares the sample's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache, partial
from itertools import islice
from itertools import product as iterate
from math import isqrt, lcm
from operator import mul
from random import Random
from typing import TypeVar

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms.base import Mechanism
from symattn.derivation.mechanisms.drawing import first, is_small, numbers, plus, product
from symattn.derivation.mechanisms.settings import Givens, Settings, Sizes
from symattn.derivation.mechanisms.steps import Scope, Section
from symattn.derivation.ops.linear import Add, Hadamard
from symattn.derivation.ops.normalisation import Mean, MeanSquare, Rescale, Standardise, Variance
from symattn.errors import InputError
from symattn.exact import Matrix, Rational
from symattn.foundation.dice import pick, spend, whole

T = TypeVar("T")


def normalise(d: Derivation, name: str, source: str, settings: Settings, place: str = "") -> tuple[Derivation, str]:
    """The source normed as `settings.norm` says, and what the result is called: the source itself with no norm.

    The norm N1 is worked out by the steps N1_mean, N1_var and N1, or N1_ms and N1.  Where γ (gamma_1) or β (beta_1) is
    given, what was N1 is N1_hat, then follow N1_gamma and N1, as far as they are needed.
    """
    if settings.norm == "none":
        return d, source
    lines, number = Section(d, Scope(place=place)), f"_{name[1:]}" if name[1:] else ""
    gamma, beta = (lines.scope(letter + number) for letter in ("gamma", "beta"))
    stretched, shifted = gamma in d.givens, beta in d.givens
    normed = f"{name}_hat" if stretched or shifted else name
    if settings.norm == "layer":
        mean = lines.add(f"{name}_mean", Mean(), source)  # n × 1
        variance = lines.add(f"{name}_var", Variance(settings.variance), source, mean)  # n × 1
        last = lines.add(normed, Standardise(settings.epsilon), source, mean, variance)
    else:
        square = lines.add(f"{name}_ms", MeanSquare(), source)  # n × 1
        last = lines.add(normed, Rescale(settings.epsilon), source, square)
    if stretched:
        last = lines.add(f"{name}_gamma" if shifted else name, Hadamard(), last, gamma)
    if shifted:
        last = lines.add(name, Add(), last, beta)
    return lines.d, last


# ------------------------------------------------------------------------------------------------ random rows

TRIES = 10_000
"""Rows drawn until it is given up."""

NORMING = 20
"""Random numbers that take as long as norming a row."""

Grid = list[list[Rational]]


def normed(row: Sequence[Rational], settings: Settings) -> list[Rational] | None:
    """A rational row normalised exactly; None if the norm is irrational.

    It does where the divisor is rational and not 0, and no number on the way is too large.
    """
    if settings.norm == "none":
        return list(row)
    if not isinstance(settings.epsilon, int | Fraction):
        return None
    mean, variance = moments(row, settings)
    root = _root(variance + settings.epsilon)
    if not root:
        return None
    result: list[Rational] = [(x - mean) / root for x in row]
    return result if all(map(is_small, (mean, variance, *result))) else None


def moments(row: Sequence[Rational], settings: Settings) -> tuple[Fraction, Fraction]:
    """The mean and the variance by which a row is normed; without a mean, 0 and the mean of its squares."""
    centred = settings.norm == "layer"
    mean = Fraction(sum(row), len(row)) if centred else Fraction(0)
    away = [x - mean for x in row] if centred else row
    number = len(row) - (centred and settings.variance == "sample")
    return mean, Fraction(sum(map(mul, away, away)), number) if number else Fraction(0)


def _root(q: Fraction) -> Fraction | None:
    """√q if it is rational."""
    above, below = isqrt(q.numerator), isqrt(q.denominator)
    return Fraction(above, below) if (above * above, below * below) == (q.numerator, q.denominator) else None


def normable(width: int, settings: Settings, *, exactly: bool = False) -> None:
    """`InputError` for features of which no norm can be set at random, or none that comes out `exactly`.

    Two always give ±1, and with three the deviation is never rational, for 2(a² + ab + b²) = 3k² has no solution; in
    decimals, three will do.
    """
    fewest = 4 if exactly or settings.arithmetic == "exact" else 3
    if settings.norm == "layer" and settings.variance == "population" and width < fewest:
        why = "its deviation is never rational" if width == 3 else "a norm of so few tells nothing"
        raise InputError(
            f"Layer norm of {width} features is not set at random, for {why}; {fewest} features or more are."
        )


def whole_rows_to_norm(n: int, d: int, settings: Settings, rng: Random) -> list[list[int]]:
    """Rows of small whole numbers with whole means, whose norm comes out.

    For layer norm and four features, those are the deviations (−k, −k, k, k), (−3, −1, −1, 5) and (−5, 1, 1, 3) with
    their signs and orders (rules.md 4.3).
    """
    normable(d, settings, exactly=True)

    def row() -> list[int] | None:
        spend(rng, NORMING)
        drawn = [whole(rng, -5, 6) for _ in range(d)]
        plain = settings.norm != "layer" or sum(drawn) % d == 0
        return drawn if plain and len(set(drawn)) > 1 and normed(drawn, settings) else None

    rows = [first(row, TRIES) for _ in range(n)]
    if None in rows:
        raise InputError(f"Of {TRIES} rows of {d} whole numbers none has a norm that comes out with these settings.")
    return [row for row in rows if row]


def comes_out(rows: Grid, settings: Settings) -> bool:
    """Whether the norms of all rows are rational and small, and differ."""
    out = [normed(row, settings) for row in rows]
    return None not in out and all(x != y for i, x in enumerate(out) for y in out[:i])


def _normed_rows(rows: Grid, settings: Settings) -> Grid:
    return [normed(row, settings) or [] for row in rows]


def drawn_output(
    residual: Grid,
    inputs: Grid,
    biases: Sequence[int],
    settings: Settings,
    rng: Random,
    accept: Callable[[Grid], bool] = lambda normed: True,
) -> tuple[Grid, list[Rational]] | None:
    """W of −1 to 2 and b out of `biases` so that residual + inputs W + b has a rational norm; None if no draw succeeds.

    `accept` says whether what comes out will do.  Tokens with an input of their own come last, one by one: its weights
    change none of those before.
    """
    starts = [(*map(tuple, rows),) for rows in zip(residual, inputs, strict=True)]
    if len(set(starts)) < len(starts):  # what comes out of equal rows is equal
        return None
    own = own_inputs(inputs)
    together = [i for i in range(len(inputs)) if i not in dict(own)]
    shared = [j for j in range(len(inputs[0])) if j not in dict(own).values()]
    of_together = [[inputs[i][j] for j in shared] for i in together]
    ends = _joint_output([residual[i] for i in together], of_together, biases, settings, rng)
    for some, bias in ends:
        weights: Grid = [[0] * len(bias) for _ in inputs[0]]
        for j, row in zip(shared, some, strict=True):
            weights[j] = row
        for i, j in own:
            before = plus(plus([residual[i]], product([inputs[i]], weights)), [bias])[0]
            own_row = first(partial(_own_row, before, inputs[i][j], settings, rng), ROWS)
            if own_row is None:
                break
            weights[j] = own_row
        if differ(weights):
            out = plus(plus(residual, product(inputs, weights)), [bias] * len(residual))
            if comes_out(out, settings) and accept(_normed_rows(out, settings)):
                return weights, bias
    return None


ROWS = 200
"""Draws of weights for a token that has an input of its own."""

TOGETHER = 3
"""The most tokens whose norms come out at once in a few draws."""


def can_be_normed(inputs: Grid) -> bool:
    """Whether there are few tokens but those with an input of their own."""
    return len(inputs) - len(own_inputs(inputs)) <= TOGETHER


def own_inputs(inputs: Grid) -> list[tuple[int, int]]:
    """Tokens, each with an input that is 0 for all of those before it that follow here, and for all that do not."""
    left, unused, found = list(range(len(inputs))), list(range(len(inputs[0]))), list[tuple[int, int]]()
    while len(left) > 2:
        using = {j: [i for i in left if inputs[i][j]] for j in unused}
        of_one = next((j for j in unused if len(using[j]) == 1), None)
        if of_one is None:
            break
        found.append((using[of_one][0], of_one))
        left.remove(using[of_one][0])
        unused.remove(of_one)
    return found[::-1]


def _own_row(before: Sequence[Rational], own: Rational, settings: Settings, rng: Random) -> list[Rational] | None:

    weights: list[Rational] = [pick(rng, WEIGHTS) for _ in before]
    return weights if normed([x + own * w for x, w in zip(before, weights, strict=True)], settings) else None


def _joint_output(
    residual: Grid, inputs: Grid, biases: Sequence[int], settings: Settings, rng: Random
) -> Iterator[tuple[Grid, list[Rational]]]:
    """W and b with which all norms may come out at once; few, for what fails so often fails always.

    Two halves of the columns are drawn, many times each, and all pairs of them are judged in whole numbers by the sum
    and the sum of squares of every row.
    """
    spend(rng, len(inputs) * HALVES * HALVES // 4)
    below = lcm(*(x.denominator for rows in (residual, inputs) for row in rows for x in row))
    r, h = ([[int(x * below) for x in row] for row in rows] for rows in (residual, inputs))
    choices = [(w, b) for w in iterate(WEIGHTS, repeat=len(h[0])) for b in biases if any(w)]
    added = [[sum(map(mul, row, w)) + b * below for w, b in choices] for row in h]
    width = len(r[0])

    def half(columns: Sequence[int]) -> Half:
        drawn = [int(rng.random() * len(choices)) for _ in columns]
        lines = zip(r, added, strict=True)
        rows = [[row[j] + more[k] for j, k in zip(columns, drawn, strict=True)] for row, more in lines]
        return drawn, [(sum(row), sum(x * x for x in row)) for row in rows]

    left, right = ([half(columns) for _ in range(HALVES)] for columns in (range(width // 2), range(width // 2, width)))
    may = cache(_judge(width, below, settings))
    for chosen in islice(_pairs(left, right, may), LOOKED_AT):
        drawn = [choices[k] for k in chosen]
        yield [list(row) for row in zip(*(w for w, _ in drawn), strict=True)], [b for _, b in drawn]


Half = tuple[list[int], list[tuple[int, int]]]
"""What is drawn for half of the columns, and the sum and the sum of squares of every row."""


def _pairs(left: Sequence[Half], right: Sequence[Half], may: Callable[[int, int], bool]) -> Iterator[list[int]]:
    """What two halves have drawn whose sums pass, row by row."""
    for start, sums in left:
        ends = right
        for k, (total, squares) in enumerate(sums):
            ends = [end for end in ends if may(total + end[1][k][0], squares + end[1][k][1])]
        yield from ([*start, *end] for end, _ in ends)


WEIGHTS = (-1, 0, 1, 2)
HALVES, LOOKED_AT = 200, 300
"""Draws of each half, and pairs of them that are looked at."""


def _judge(d: int, below: int, settings: Settings) -> Callable[[int, int], bool]:
    """Whether d numbers, each over `below`, with this sum and this sum of squares have a rational deviation, and a mean
    and a variance that are small.

    Their variance is a square over `unit`²; with ε = p/q added it stands over (q·unit)².
    """
    if settings.norm == "none" or not isinstance(settings.epsilon, int | Fraction):
        return lambda total, squares: settings.norm == "none"
    centred = settings.norm == "layer"
    factor = d * (d - 1) if centred and settings.variance == "sample" else 1
    unit = below * (factor if factor > 1 else d)
    p, q = settings.epsilon.numerator, settings.epsilon.denominator

    def may(total: int, squares: int) -> bool:
        square = q * (q * factor * (d * squares - total * total * centred) + p * unit * unit)
        if square <= 0 or isqrt(square) ** 2 != square:
            return False
        mean = Fraction(total, d * below) if centred else Fraction(0)
        variance = Fraction(factor * (d * squares - total * total * centred), unit * unit)
        return is_small(mean) and is_small(variance)

    return may


def differ(rows: Grid) -> bool:
    """Whether no two rows and no two columns are equal, and none is 0."""
    both = [tuple(row) for row in rows], list(zip(*rows, strict=True))
    return all(len(set(lines)) == len(lines) and all(map(any, lines)) for lines in both)


def telling_rows(n: int, d: int, settings: Settings, rng: Random) -> Matrix:
    """Rows to be normed for their own sake: different ones come out, and not of ±1 alone."""

    def drawn() -> Matrix | None:
        rows = whole_rows_to_norm(n, d, settings, rng)
        out = [normed(row, settings) or () for row in rows]
        different = len(set(map(tuple, out))) == n
        return Matrix(rows) if different and any(abs(x) != 1 for row in out for x in row) else None

    if (rows := first(drawn, TRIES)) is None:
        raise InputError(f"Of {TRIES} draws of {n} rows of {d} numbers none has norms that differ.")
    return rows


def scale_and_shift(d: int, rng: Random) -> Givens:
    """γ and β of small whole numbers that are not all equal, no γ being 0."""

    def drawn(choice: Sequence[int]) -> Matrix:
        row = [pick(rng, choice) for _ in range(d)]
        while d > 1 and len(set(row)) == 1:
            row = [pick(rng, choice) for _ in range(d)]
        return Matrix([row])

    return {"gamma": drawn((-1, 1, 2, 2, 3)), "beta": drawn((-2, -1, 0, 1, 2))}


def draw(settings: Settings, sizes: Sizes, rng: Random) -> Givens:
    n, d = numbers(sizes, "n", "d_model")
    return {"X": telling_rows(n, d, settings, rng), **scale_and_shift(d, rng)}


def derive(d: Derivation, settings: Settings, sizes: Sizes) -> Derivation:
    return normalise(d, "N", "X", settings)[0]


MECHANISM = Mechanism(
    name="layer_norm",
    title="Layer norm",
    givens={"X": ("n", "d_model")},
    optional={"gamma": ("1", "d_model"), "beta": ("1", "d_model")},
    usual=("gamma", "beta"),
    uses=frozenset({"epsilon", "variance"}),
    default_sizes={"n": 3, "d_model": 4},
    draw=draw,
    derive=derive,
)
