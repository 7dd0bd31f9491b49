"""Tier A: exact isomorphs of a variant, by permuting what has no order of its own (PEDAGOGY 4.7.1).

Every axis of every given carries a letter: X is n × d_model, W_Q is d_model × d_k.  One permutation for each letter,
applied wherever the letter stands, leaves the computation what it is: scores and outputs are the permuted ones, and
nothing that counts as difficulty changes.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from math import factorial, prod

from symattn.dice import shuffled
from symattn.errors import InputError
from symattn.exact import Matrix
from symattn.mechanisms import Mechanism, Settings

TOKENS = ("n", "m")
PAIRED = "d_k"  # Q and K meet along it: a sign changed in both leaves the scores as they are


def relabelled(
    givens: Mapping[str, Matrix],
    mechanism: Mechanism,
    settings: Settings,
    rng: random.Random,
    *,
    signs: bool = False,
) -> dict[str, Matrix]:
    """The givens with tokens (where no mask gives them an order) and features in a random order.

    With `signs`, features of Q and K also change their sign in pairs: this keeps S, and changes how many terms are
    negative.  As many keys as queries are taken to be the same tokens, and stay in one order.
    """
    shapes = mechanism.shapes(settings)
    sizes = _sizes(givens, shapes)
    orders = {letter: shuffled(rng, range(size)) for letter, size in sizes.items()}
    if _masked(settings):
        orders |= {letter: list(range(sizes[letter])) for letter in TOKENS if letter in sizes}
    elif sizes.get("n") == sizes.get("m") and "n" in sizes:
        orders["m"] = orders["n"]
    found = permuted(givens, shapes, orders)
    if not signs:
        return found
    if settings.activation != "identity":
        raise InputError(f"Signs cannot change under the activation {settings.activation!r}: it is not odd.")
    flips = [1 if rng.random() < 0.5 else -1 for _ in range(sizes.get(PAIRED, 0))]
    return {name: _flipped(matrix, shapes[name], flips) for name, matrix in found.items()}


def permuted(
    givens: Mapping[str, Matrix], shapes: Mapping[str, tuple[str, str]], orders: Mapping[str, Sequence[int]]
) -> dict[str, Matrix]:
    """Line i along a letter is what was line `orders[letter][i]`; letters that are left out keep their order."""
    found = {}
    for name, matrix in givens.items():
        rows, columns = (
            orders.get(letter, range(size)) for letter, size in zip(shapes[name], matrix.shape, strict=True)
        )
        found[name] = Matrix.of([matrix[i, j] for j in columns] for i in rows)
    return found


def orbit_size(sizes: Mapping[str, int], masked: bool) -> int:
    """How many relabellings there are; as many variants, unless the parent is symmetric itself."""
    free = {letter: size for letter, size in sizes.items() if not (masked and letter in TOKENS)}
    if free.get("m") == free.get("n"):
        free.pop("m", None)
    return prod(map(factorial, free.values()))


def _sizes(givens: Mapping[str, Matrix], shapes: Mapping[str, tuple[str, str]]) -> dict[str, int]:
    """Every letter's size, in the order of the givens."""
    pairs = (pair for name, m in givens.items() for pair in zip(shapes[name], m.shape, strict=True))
    return {letter: size for letter, size in pairs if not letter.isdigit()}


def _masked(settings: Settings) -> bool:
    return settings.mask not in (None, False, "", "none")


def _flipped(matrix: Matrix, shape: tuple[str, str], flips: Sequence[int]) -> Matrix:
    if shape[1] == PAIRED:
        return Matrix.of([x * s for x, s in zip(row, flips, strict=True)] for row in matrix.rows)
    if shape[0] == PAIRED:
        return _flipped(matrix.T, shape[::-1], flips).T
    return matrix


__all__ = ["orbit_size", "permuted", "relabelled"]
