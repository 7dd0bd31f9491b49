"""Random numbers with which the way back stays in small fractions, for mechanisms whose weights are given.

A row of the softmax's gradient is a_j·(g_j − Σ a_k·g_k), so the gradients g are chosen with a whole mean over the
weights where there is one, and weights are tenths: those of the forward pass, rounded.  Only `random()` of the
generators is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations, compress, pairwise
from math import e, lcm
from operator import mul
from random import Random

from symattn.derivation.derivation import Derivation, Step
from symattn.derivation.mechanisms.backward import backward
from symattn.derivation.mechanisms.descent import gradient
from symattn.derivation.mechanisms.drawing import (
    STEP,
    Rows,
    divisor,
    dull,
    first_success,
    is_small,
    product,
    transposed,
    tried,
)
from symattn.derivation.mechanisms.settings import Givens, Settings, Sizes
from symattn.derivation.ops.attention import Keep, SoftmaxGradient
from symattn.exact import AnyMatrix, Matrix, Rational, Value, is_symbolic
from symattn.exact.rounding import approximate
from symattn.foundation.dice import pick, spend, whole

Weights = list[Fraction]

DENOMINATORS = (4, 5, 6, 8, 10)
"""Of weights that come from nothing else that is given."""

TENTHS = 10
"""Weights of a forward pass are rounded to them."""

UPSTREAM = (-2, -1, -1, 0, 1, 1, 2)
"""What gradients that are given are drawn from."""

LARGEST_GRADIENT = 9
LARGEST_SHARE = 0.8
ROWS = 40
"""Rows drawn until what they depend on is drawn again."""

TELLING = 30
"""Random numbers that take as long as looking at a row."""


@cache
def shares(denominator: int, count: int) -> tuple[tuple[int, ...], ...]:
    """Partitions of 1 into `count` weights in units of 1/denominator, without uniform and dominated ones."""
    if count == 1:
        return ((denominator,),)
    cuts = combinations(range(1, denominator), count - 1)
    partitions = (tuple(b - a for a, b in pairwise((0, *cut, denominator))) for cut in cuts)
    return tuple(parts for parts in partitions if len(set(parts)) > 1 and max(parts) <= LARGEST_SHARE * denominator)


def upstream_row(columns: int, rng: Random) -> list[int]:
    return [pick(rng, UPSTREAM) for _ in range(columns)]


def telling_row(gradient: Sequence[int], seen: Sequence[bool], denominator: int, rng: Random) -> Weights | None:
    """Attention weights for which the mean gradient is an integer; None if there are none.

    Nor where all gradients are equal, so that going back through the softmax leaves nothing.
    """
    visible = [g for g, x in zip(gradient, seen, strict=True) if x]
    if max(map(abs, gradient)) > LARGEST_GRADIENT or (len(visible) > 1 and len(set(visible)) == 1):
        return None
    whole_mean = [s for s in shares(denominator, len(visible)) if sum(map(mul, s, visible)) % denominator == 0]
    if not whole_mean:
        return None
    parts = iter(pick(rng, whole_mean))
    return [Fraction(next(parts), denominator) if x else Fraction(0) for x in seen]


def rounded(weights: AnyMatrix, keep: Keep) -> list[Weights] | None:
    """Weights of a forward pass rounded to tenths, if every row still sums to 1, and not all rows are equal.

    What is seen keeps a weight, and several that are seen do not all have the same.
    """
    if not isinstance(weights, Matrix):
        return None
    rows = [[Fraction(round(TENTHS * approximate(x)), TENTHS) for x in row] for row in weights.rows]
    for row, seen in zip(rows, keep, strict=True):
        visible = [x for x, kept in zip(row, seen, strict=True) if kept]
        if sum(row) != 1 or not all(visible) or any(x for x, kept in zip(row, seen, strict=True) if not kept):
            return None
        if len(visible) > 1 and len(set(visible)) == 1:
            return None
    several = [row for row in rows if sum(map(bool, row)) > 1]
    return None if len(several) > 1 and all(row == several[0] for row in several) else rows


def can_be_rounded(q: Rows, k: Rows, keep: Keep, settings: Settings, sizes: Sizes, rng: Random) -> bool:
    """Whether weights of these queries and keys, rounded to tenths, may still sum to 1 in every row, in floats; True
    where more is done to scores than to scale and to mask them.
    """
    if not settings.plain_scores:
        return True
    base, by = approximate(settings.base) if settings.base != "e" else e, divisor(settings, sizes)
    for scores, seen in zip(product(q, transposed(k)), keep, strict=True):
        spend(rng, TELLING + len(k) * len(k[0]))
        powers = [base ** (s / by) for s in compress(scores, seen)]
        tenths = [round(TENTHS * x / sum(powers)) for x in powers]
        if sum(tenths) != TENTHS or not all(tenths):
            return False
    return True


def upstream_of_heads(
    heads: Sequence[Sequence[Weights]],
    values: Sequence[Rows],
    outputs: Rows | None,
    width: int,
    rng: Random,
) -> Rows | None:
    """The gradient with respect to the output, `width` wide, for these weights and values of every head (m×d_v).

    `outputs` is W_O, none where the output is that of the only head.  Of the rows that leave something after the way
    back through the softmax, one is taken for which the means over the weights have the smallest denominators.
    """
    gradients: Rows = []
    for i in range(len(heads[0])):
        by_denominator: dict[int, Rows] = {}
        for _ in range(ROWS):
            spend(rng, TELLING)
            gradient = upstream_row(width, rng)
            back = gradient if outputs is None else [sum(map(mul, gradient, row)) for row in outputs]
            own = [[sum(map(mul, _columns(back, h, v), value)) for value in v] for h, v in enumerate(values)]
            if gradient in gradients or not all(map(_tells, own, (weights[i] for weights in heads))):
                continue
            means = (sum(map(mul, weights[i], g)) for weights, g in zip(heads, own, strict=True))
            by_denominator.setdefault(max(Fraction(mean).denominator for mean in means), []).append(gradient)
        if not by_denominator:
            return None
        gradients.append(by_denominator[min(by_denominator)][0])
    return gradients if all(map(any, zip(*gradients, strict=True))) else None


def _tells(gradient: Sequence[int], weights: Weights) -> bool:
    """Whether a gradient with respect to weights is small and leaves something for their scores."""
    visible = [g for g, x in zip(gradient, weights, strict=True) if x]
    return max(map(abs, gradient)) <= LARGEST_GRADIENT and (len(visible) == 1 or len(set(visible)) > 1)


def _columns(row: list[int], head: int, values: Rows) -> list[int]:
    """What one head has of a row of all heads side by side."""
    width = len(values[0])
    return row[head * width : (head + 1) * width]


def full(rows: int, columns: int) -> Keep:
    """Every query sees every key."""
    return tuple((True,) * columns for _ in range(rows))


def one_hot(rows: int, columns: int, rng: Random) -> Matrix:
    """Rows with a single 1; every column has one if there are rows enough."""
    first_one = whole(rng, 0, columns - 1)
    turn = pick(rng, (-1, 1))
    return Matrix([[int(j == (first_one + turn * i) % columns) for j in range(columns)] for i in range(rows)])


# ------------------------------------------------------------------------------------------------ after a forward pass

CANDIDATES = 3000
"""Gradients of the output that are tried."""

FORMS = 50
"""Random numbers that take as long as trying one of them."""

STEEP = 4
"""Up to what size their entries are drawn."""


def upstream(d: Derivation, rng: Random) -> Matrix | None:
    """An integer gradient of the output such that all later gradients have short entries; None if no draw succeeds.

    Every gradient is linear in it, so that those for its entries one by one give those for any.  Where something in
    them is neither rational nor a rational multiple of a logarithm, all of them are long, and any will do.
    """
    of = d.last
    rows, columns = (int(size) for size in of.result.shape)
    places = [(i, j) for i in range(rows) for j in range(columns)]

    def units() -> Iterator[list[Step]]:
        for place in places:
            spend(rng, STEP * len(d.steps))
            yield _back(d, Matrix([[int((i, j) == place) for j in range(columns)] for i in range(rows)]))

    forms = _forms(units())
    for _ in range(CANDIDATES):
        spend(rng, FORMS)
        flat = [whole(rng, -STEEP, STEEP) for _ in places]
        grid = [flat[i * columns : (i + 1) * columns] for i in range(rows)]
        if dull(grid) or (forms is not None and not all(_fits(form, flat) for form in forms)):
            continue
        if not _is_idle(d, _back(d, gradient_matrix := Matrix(grid))):
            return gradient_matrix
    return None


def _back(d: Derivation, gradient_of_output: Matrix) -> list[Step]:
    """The steps of the way back."""
    of = d.last.name
    back = backward(replace(d, givens={**d.givens, gradient(of): gradient_of_output}), of)
    return list(back.steps[len(d.steps) :])


Drawing = Callable[[Settings, Sizes, Random], Givens]


def there_and_back(
    draw: Drawing, derive: Callable[[Derivation, Settings, Sizes], Derivation], what: str, tries: int
) -> Drawing:
    """Numbers for a forward pass, and a gradient of its output for which all others have short entries."""

    def drawn(settings: Settings, sizes: Sizes, rng: Random) -> Givens:
        def once() -> Givens | None:
            given = draw(settings, sizes, rng)
            forward = tried(derive(Derivation(given, arithmetic=settings.arithmetic), settings, sizes), rng)
            back = upstream(forward, rng)
            return None if back is None else {**given, gradient(forward.last.name): back}

        return first_success(once, what, tries)

    return drawn


Form = tuple[int, tuple[int, ...]]
"""A number that is linear in others: their factors, and what the sum is divided by."""


def _forms(units: Iterable[list[Step]]) -> list[Form] | None:
    """Every entry of every gradient, the largest divisors first; None as soon as an entry is of another kind."""
    parts = list[list[tuple[Rational, Rational]]]()
    for steps in units:
        of_unit = [_parts(x) for step in steps if isinstance(step.result, Matrix) for x in step.result]
        known = [part for part in of_unit if part]
        if len(known) < len(of_unit):
            return None
        parts.append(known)
    forms: dict[Form, None] = {}
    for entry in zip(*parts, strict=True):
        for factors in zip(*entry, strict=True):
            below = lcm(*(x.denominator for x in factors))
            if any(factors):
                forms[below, tuple(int(x * below) for x in factors)] = None
    return sorted(forms, reverse=True)


def _parts(x: Value) -> tuple[Rational, Rational] | None:
    """a and b of a + b·ln c; None for any other number."""
    if isinstance(x, int | Fraction):
        return x, 0
    if not is_symbolic(x):
        return None
    import sympy

    a, rest = sympy.expand(x).as_coeff_Add()
    b, logarithm = rest.as_coeff_Mul()
    if not (a.is_Rational and b.is_Rational and isinstance(logarithm, sympy.log)):
        return None
    return Fraction(int(a.p), int(a.q)), Fraction(int(b.p), int(b.q))


def _fits(form: Form, numbers: Sequence[int]) -> bool:
    below, factors = form
    return is_small(Fraction(sum(map(mul, factors, numbers)), below))


def _is_idle(d: Derivation, steps: Sequence[Step]) -> bool:
    """Whether a gradient is 0, or no score of a token gets any; one that sees a single key never does."""
    for step in steps:
        if not isinstance(step.result, Matrix) or not any(x != 0 for x in step.result):
            return True
        if isinstance(step.op, SoftmaxGradient):
            weights = step.operands[0].of(d.value(step.operands[0].name))
            assert isinstance(weights, Matrix)
            lines = zip(weights.rows, step.result.rows, strict=True)
            if any(sum(x != 0 for x in own) > 1 and not any(x != 0 for x in got) for own, got in lines):
                return True
    return False
