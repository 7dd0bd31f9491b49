"""Random givens from a seed, and not naively: a careless draw gives a saturated or uniform row four times in five.

What is refused, and why: weights so lopsided or so even that softmax teaches nothing; rows of zeros and equal rows,
which hide copying errors; symmetric scores, which hide an exchange of Q and K; numbers too large to be worked by hand;
under a mask, hidden scores that would make a wrong mask look right.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from functools import cache, partial
from random import Random

from symattn.derivation.derivation import Derivation, Op, StepName
from symattn.derivation.mechanisms import Mechanism, Settings
from symattn.derivation.mechanisms.drawing import HEADS_THAT_DIFFER, LARGEST_SHOWN, STEP, is_small, most_ties
from symattn.derivation.mechanisms.masks import masks
from symattn.derivation.ops.attention import Mask, Softmax
from symattn.derivation.ops.gradient import Descent
from symattn.derivation.ops.linear import MatMul
from symattn.errors import InputError, UndecidedError, UndefinedError
from symattn.exact import Matrix, Size
from symattn.exact.rounding import approximate
from symattn.foundation.dice import spend, whole

FILLED = 0.7
"""The share of inputs and weights that are not 0, for widths up to 5; wider sums need more zeros."""

NEGATIVE = 3 / 7
"""The share of those that are −1; the others are 1."""

LARGEST = {"Q": 4, "K": 4, "V": 9, "S": 12}
"""The largest entries, for widths up to 5; they grow with the square root of the width."""

MOST_WEIGHT = 0.95
TRIES, HOPELESS = 10_000, 1000
"""Givens that are drawn until one passes, and after how many with one and the same complaint there is no hope."""


def draw(mechanism: Mechanism, settings: Settings, sizes: Mapping[str, Size], rng: Random) -> Derivation:
    """Givens for a mechanism, worked out; the same generator gives the same ones, on every machine.

    `InputError` if none passes: the sizes leave no room for a variant that is worth setting.
    """
    if settings.activation.lower() not in ("identity", "relu"):
        raise InputError(f"The activation {settings.activation!r} is only a name; numbers need identity or relu.")
    for letter in mechanism.letters:
        size = sizes.get(letter)
        if not isinstance(size, int) or size < 1:
            raise InputError(f"To draw numbers, {letter} must be a number from 1, not {size!r}.")
    complaints, upright = set[str](), settings.upright
    for tries in range(1, TRIES + 1):
        givens = _candidate(mechanism, upright, sizes, rng)
        worked_out = cache(partial(mechanism.run, givens, upright))
        try:
            complaint = next(_complaints(mechanism, upright, givens, worked_out, _width(sizes)), "")
        except UndecidedError as error:
            complaint = str(error)
        if not complaint:
            laid = givens if settings.orientation == "rows" else {name: m.T for name, m in givens.items()}
            return worked_out() if settings == upright else mechanism.run(laid, settings)
        complaints.add(complaint)
        spend(rng, STEP * (1 + len(worked_out().steps) if worked_out.cache_info().currsize else 1))
        if tries == HOPELESS and len(complaints) == 1:
            break
    listed = ", ".join(f"{name} = {size}" for name, size in sizes.items())
    raise InputError(
        f"No variant of {mechanism.name} with {listed} is worth setting: of {tries} drawn, none passed; the last one: "
        f"{complaint}. Other sizes leave more room: middling and unequal ones most."
    )


def _candidate(mechanism: Mechanism, settings: Settings, sizes: Mapping[str, Size], rng: Random) -> dict[str, Matrix]:
    if mechanism.draw is not None:
        return dict(mechanism.draw(settings, sizes, rng))
    filled = FILLED * min(1.0, math.sqrt(5 / _width(sizes)))
    givens = {}
    for name, (rows, columns) in mechanism.given_shapes(sizes, settings).items():
        assert isinstance(rows, int) and isinstance(columns, int)  # `draw` has seen to it
        if name == "A":
            givens[name] = _weights(rows, columns, rng)
        else:
            largest = _largest_needed(rows, columns) if name in ("Q", "K") else 1
            givens[name] = _entries(name, rows, columns, filled, largest, rng)
    return givens


def _largest_needed(tokens: int, width: int) -> int:
    """The largest entry with which as many queries or keys can differ, none of them 0: scores of equal ones are equal.

    1, unless there are a feature or two, and many tokens.
    """
    largest = 1
    while (2 * largest + 1) ** width <= tokens:
        largest += 1
    return largest


def _entries(name: str, rows: int, columns: int, filled: float, largest: int, rng: Random) -> Matrix:
    """Entries of a size, −1, 0 and 1 mostly; drawn again while the matrix alone would be refused."""
    for _ in range(TRIES):
        matrix = Matrix.of([_entry(rng, filled, largest) for _ in range(columns)] for _ in range(rows))
        if not any(_dull(name, matrix)):
            return matrix
    raise InputError(f"Of the {rows}×{columns} matrices of −1, 0 and 1 none is fit for {name}: all have equal rows.")


def _width(sizes: Mapping[str, Size]) -> int:
    return max((s for s in (sizes.get("d_model"), sizes.get("d_k")) if isinstance(s, int)), default=1)


def _entry(rng: Random, filled: float, largest: int) -> int:
    """−1, 0 or 1, or up to a size, by `random()` alone: the only method whose sequence Python promises never to
    change."""
    x = rng.random()
    sign = 0 if x >= filled else -1 if x < filled * NEGATIVE else 1
    return sign * whole(rng, 1, largest) if largest > 1 else sign


def _weights(rows: int, columns: int, rng: Random) -> Matrix:
    """Rows of tenths that sum to 1, as in note 004."""
    listed = []
    for _ in range(rows):
        most = max(1, min(6, 24 // columns - 2))  # so that the one that makes up for the others stays positive
        parts = [1 + int(rng.random() * most) for _ in range(columns)]
        parts[int(rng.random() * columns)] += 10 - sum(parts)
        listed.append([Fraction(p, 10) for p in parts])
    return Matrix(listed)


def _complaints(
    mechanism: Mechanism,
    settings: Settings,
    givens: Mapping[str, Matrix],
    worked_out: Callable[[], Derivation],
    inner: int,
) -> Iterator[str]:
    """What is wrong with these givens, cheapest checks first; nothing if they may be set."""
    is_plain = mechanism.is_attention and settings.plain_scores
    for name, matrix in givens.items():
        if is_plain or _must_differ(name, matrix, settings):
            yield from _dull(name, matrix)
    products = _products(givens) if is_plain else {}
    yield from _of_products(products, inner)
    try:
        d = worked_out()
    except UndefinedError as error:
        yield str(error)
        return
    if not is_plain:
        yield from _of_steps(d, settings)
    elif settings.activation != "identity":
        after = {name: m for name in products if name in d and isinstance(m := d.value(name), Matrix)}
        yield from _of_products(after, inner)
    yield from _bad_mask(d)
    yield from _bad_weights(d)
    if complaint := mechanism.complaint(d):
        yield complaint


def _must_differ(name: str, matrix: Matrix, settings: Settings) -> bool:
    """Whether lines of a given matrix must differ: a mask may decide them, and many heads cannot all have columns of
    their own."""
    decided_by_mask = StepName.of(name).stem == "A" and masks(settings.mask) is not None
    of_many_heads = StepName.of(name).stem[:1] == "W" and settings.heads > HEADS_THAT_DIFFER
    return len(matrix.rows) > 1 and name[0] != "b" and name != "T" and not decided_by_mask and not of_many_heads


def _of_products(products: Mapping[str, Matrix], inner: int) -> Iterator[str]:
    """What is wrong with Q, K, V and S, as far as there are any."""
    for name, product in products.items():
        yield from _dull(name, product)
        largest = LARGEST[name] * max(1.0, math.sqrt(inner / 5))
        if any(isinstance(x, int) and abs(x) > largest for x in product):
            yield f"{name} has an entry above {largest:.0f}"
    yield from _symmetric("S", products.get("S"))
    if "Q" in products and products["Q"] == products.get("K"):
        yield "Q and K are equal"


def _symmetric(name: str, scores: Matrix | None) -> Iterator[str]:
    if scores is not None and scores.shape[0] == scores.shape[1] > 1 and scores == scores.T:
        yield f"{name} is symmetric, which hides an exchange of Q and K"


def _of_steps(d: Derivation, settings: Settings) -> Iterator[str]:
    """What is wrong with what the numbers of a mechanism lead to."""
    fits = is_small if settings.arithmetic == "exact" else (lambda x: -LARGEST_SHOWN <= x <= LARGEST_SHOWN)
    stated = _made_of_stated_numbers(d)
    for step in d:
        if not isinstance(step.result, Matrix):
            continue
        for x in step.result if step.name not in stated else ():
            if isinstance(x, int | Fraction) and not (fits(x) or (d.taken and _is_short(x))):
                yield f"{step.name} has {x} in it"
        if step.stem == "S":
            yield from _symmetric(step.name, step.result)


def _made_of_stated_numbers(d: Derivation) -> set[str]:
    """The steps that a setting's own number makes long, such as ALiBi's slope of 1/256: no other draw is shorter.

    So does a learning rate of 1/10, and the gradient that it goes with has been judged.
    """
    found = set[str]()
    for step in d:
        is_long = isinstance(step.op, Descent) or not all(map(is_small, _own_numbers(step.op)))
        if is_long or any(operand.name in found for operand in step.operands):
            found.add(step.name)
    return found


def _own_numbers(op: Op) -> Iterator[int | Fraction]:
    """The rational numbers that an operation brings: a divisor, the matrix of a bias."""
    names: list[str] = [field.name for field in fields(op)] if is_dataclass(op) else []
    for value in (getattr(op, name) for name in names):
        yield from (x for x in (value if isinstance(value, Matrix) else (value,)) if isinstance(x, int | Fraction))


def _is_short(x: int | Fraction) -> bool:
    """Whether a number is a short decimal: what comes of weights that were rounded."""
    return -LARGEST_SHOWN <= x <= LARGEST_SHOWN and 10**SHORT % x.denominator == 0


SHORT = 3
"""Places of decimals that come of rounded weights."""


def _products(givens: Mapping[str, Matrix]) -> dict[str, Matrix]:
    """Q, K, V and S = Q Kᵀ, as far as there are any: most draws are refused by them, and they cost little."""
    found: dict[str, Matrix] = {}
    for role in "QKV":
        if role in givens:
            found[role] = givens[role]
        elif f"W_{role}" in givens:
            found[role] = MatMul().apply(givens["X"], givens[f"W_{role}"])
    if "Q" in found and "K" in found:
        found["S"] = MatMul().apply(found["Q"], found["K"].T)
    return found


def _dull(name: str, matrix: Matrix) -> Iterator[str]:
    """Lines of zeros, and equal lines where there are enough different ones."""
    rows, columns = matrix.rows, matrix.T.rows
    if any(len(line) > 1 and all(x == 0 for x in line) for line in (*rows, *columns)):
        yield f"{name} has a row or column of zeros"
    if name == "A" and any(not 0 < x < 1 for x in matrix):  # type: ignore[operator]
        yield "a weight is not between 0 and 1"
    for lines in (rows, columns):
        if len(lines[0]) > 1 and len(lines) < 3 ** len(lines[0]) - 1 and len(set(lines)) < len(lines):
            yield f"{name} has two equal rows or columns"


def _bad_mask(d: Derivation) -> Iterator[str]:
    """Hidden scores of every sign and of modest size: only then does every wrong way of masking show."""
    hidden: list[float] = []
    for step in d:
        if isinstance(step.op, Mask):
            scores = d.value(step.operands[0].name)
            assert isinstance(scores, Matrix)
            pairs = zip(scores.rows, step.op.keep, strict=True)
            hidden += [approximate(x) for row, kept in pairs for x, seen in zip(row, kept, strict=True) if not seen]
    if len(hidden) >= 3 and not (min(hidden) < 0 < max(hidden)):
        yield "the hidden scores are not of both signs"
    if any(abs(x) > 3.01 for x in hidden):
        yield "a hidden score is above 3 in size"


def _bad_weights(d: Derivation) -> Iterator[str]:
    for step in d:
        if not isinstance(step.op, Softmax) or not isinstance(step.result, Matrix):
            continue
        ties, counts = 0, list[int]()
        for line in step.result.rows:
            seen = [approximate(x) for x in line if not (isinstance(x, int) and x == 0)]
            if len(seen) < 2:
                continue
            if max(seen) > MOST_WEIGHT:
                yield "a row of weights is saturated"
            if max(seen) - min(seen) < 1e-6:
                yield "a row of weights is uniform"
            ties += len(seen) - len({round(x, 9) for x in seen})
            counts.append(len(seen))
        if ties > most_ties(counts):
            yield "too many ties among the weights"
