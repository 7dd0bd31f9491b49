"""Tier A: exact isomorphs of a variant, by permuting what has no order of its own (rules.md 4.7.1).

Every axis of every given carries a letter: X is n × d_model, W_Q is d_model × d_k.  One permutation for each letter,
applied wherever the letter stands, leaves the computation what it is: scores and outputs are the permuted ones, and
nothing that counts as difficulty changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from symattn.exact import Matrix

TOKENS = ("n", "m")
"""The letters of axes along which tokens lie: a mask gives them an order."""


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


__all__ = ["TOKENS", "permuted"]
