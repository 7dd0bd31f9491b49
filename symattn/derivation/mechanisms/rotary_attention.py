"""Attention with rotary positions: queries and keys are turned by angles that grow with the position.

Su et al. 2021 (RoFormer), section 3.2: the product of a query at i and a key at j depends on i − j alone, since
R(i)ᵀ R(j) = R(j − i).  Values are not turned.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms.base import Mechanism
from symattn.derivation.mechanisms.drawing import (
    divisor,
    dull,
    entries,
    first_success,
    most_ties,
    neither_flat_nor_steep,
    numbers,
    queries,
    scores_seen,
    small,
)
from symattn.derivation.mechanisms.masks import mask_keep
from symattn.derivation.mechanisms.positional_encoding import angles, layout, positions
from symattn.derivation.mechanisms.settings import ROTARY, SCORES, Givens, Settings, Sizes
from symattn.derivation.mechanisms.steps import attend
from symattn.derivation.ops.linear import MatMul
from symattn.derivation.ops.position import Rotate
from symattn.errors import InputError
from symattn.exact import Matrix
from symattn.exact.rounding import approximate
from symattn.foundation.dice import pick, spend

ROTATIONS = ("rotary", "rotary-halves")


def derive(d: Derivation, settings: Settings, sizes: Sizes) -> Derivation:
    return attend(rotated(d, settings, sizes), settings, sizes, operands=("R_Q", "R_K", "V"))


def rotated(d: Derivation, settings: Settings, sizes: Sizes) -> Derivation:
    """R_Q and R_K: queries and keys turned by their positions."""
    if settings.position not in ROTATIONS:
        raise InputError(f"position is {settings.position!r}; queries and keys are turned by rotary or rotary-halves.")
    turn = Rotate(angles(settings, sizes["d_k"]), positions(settings, sizes["n"]), layout(settings))
    for role in "QK":
        d = d.then(f"R_{role}", turn, role)
    return d


# ------------------------------------------------------------------------------------------ random numbers


DRAWS = 5000
"""Of keys with queries, which take a millisecond each."""

LOOKING_UP = 10
"""Random numbers that take as long as looking at a query."""


def draw(settings: Settings, sizes: Sizes, rng: Random) -> Givens:
    """Keys, values, and queries that are looked up by the scores that they give after both are turned."""
    n, d_k, d_v = numbers(sizes, "n", "d_k", "d_v")
    by, keep = divisor(settings, sizes), mask_keep(settings.mask, n, n)
    turn = Rotate(angles(settings, d_k), positions(settings, n), layout(settings))
    neat = by.is_integer() and all(isinstance(x, int) for x in turn.apply(Matrix([[1] * d_k] * n)))

    among = queries(d_k, rng)

    def suits(i: int, query: list[int], turned_keys: Sequence[Sequence[float]]) -> bool:
        scores, seen = scores_seen(query, turned_keys, by, keep, i)
        few_ties = len(seen) - len(set(seen)) < most_ties([len(seen)])
        return few_ties and neither_flat_nor_steep(seen) and (all(s.is_integer() for s in scores) or not neat)

    def drawn() -> Givens | None:
        spend(rng, LOOKING_UP * len(among) * n)
        k = Matrix(entries(n, d_k, rng))
        keys = turn.apply(k)
        q = []
        for i, p in enumerate(turn.listed[1]):
            back = MatMul().apply(keys, turn.matrix(p).T)  # q R · k = q · k Rᵀ
            turned_keys = [list(map(approximate, row)) for row in back.rows]
            if not (fitting := [query for query in among if suits(i, query, turned_keys)]):
                return None
            q.append(pick(rng, fitting))
        if dull(q):
            return None
        scores = MatMul().apply(turn.apply(Matrix(q)), keys.T)
        if len(set(scores.rows)) < n:
            return None
        return {"Q": Matrix(q), "K": k, "V": Matrix(small(n, d_v, 3, rng))}

    return first_success(drawn, "weights that are neither uniform nor saturated", DRAWS)


MECHANISM = Mechanism(
    name="rotary_attention",
    title="Attention with rotary position embeddings",
    givens={"Q": ("n", "d_k"), "K": ("n", "d_k"), "V": ("n", "d_v")},
    defaults={"position": "rotary", "arithmetic": "auto"},  # sines and cosines are soon too long to be exact
    drawn={"angles": "90", "arithmetic": "exact"},
    uses=ROTARY | SCORES,
    default_sizes={"n": 3, "d_k": 4, "d_v": 2},
    draw=draw,
    derive=derive,
)
