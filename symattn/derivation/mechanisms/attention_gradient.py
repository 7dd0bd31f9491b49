"""Attention there and back: softmax(Q Kᵀ/√d_k) V, and the gradients of a loss with respect to Q, K and V.

The gradient of the loss with respect to the output is given: dZ, or dC of the outputs of several heads side by side
(FlashAttention: Dao et al. 2022, appendix B.2).
"""

from __future__ import annotations

from random import Random

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms import attention
from symattn.derivation.mechanisms.backward import backward
from symattn.derivation.mechanisms.base import Mechanism
from symattn.derivation.mechanisms.descent import gradient
from symattn.derivation.mechanisms.drawing import (
    MOST_TRIES,
    Rows,
    dull,
    first_success,
    numbers,
    product,
    projection,
    queries,
    transposed,
)
from symattn.derivation.mechanisms.settings import DESCENT, HEADS, Givens, Settings, Sizes
from symattn.errors import InputError
from symattn.exact import Matrix
from symattn.foundation.dice import pick, sample, spend

CHANGED_SCORES = frozenset({"empty", "cap", "temperature", "bias"})
"""What may be done to scores that have to be gone back through: all but weights that are no softmax."""


def derive(d: Derivation, settings: Settings, sizes: Sizes) -> Derivation:
    d = attention.derive(d, settings, sizes)
    return backward(d, output_with_gradient(d))


def output_with_gradient(d: Derivation) -> str:
    """The output of a forward pass, whose gradient must be given, and that of nothing else: O with W_O, else C with
    several heads, else Z."""
    of = d.last.name
    if [name for name in UPSTREAM if name in d.givens] != [gradient(of)]:
        raise InputError(f"The output is {of} here, so that {gradient(of)} must be given, and no other gradient.")
    return of


UPSTREAM = ("dZ", "dC", "dO")


LARGE, LESS_LARGE = (-4, -3, -2, 2, 3, 4), (-3, -2, -1, 1, 2, 3)
"""What values and gradients are drawn from: large enough for every wrong way to show in the last line; the others where
sums have more than `FEW` terms."""

FEW = 3


def draw(settings: Settings, sizes: Sizes, rng: Random) -> Givens:
    """Queries each of which has scores that differ; with d_k = 4 they are even, so that powers of e are whole."""
    if settings.heads > 1:
        raise InputError("Numbers are drawn for one head here; for several there is multi_head_gradient.")
    n, m, d_k, d_v = numbers(sizes, "n", "m", "d_k", "d_v")

    def large(rows: int) -> Matrix:
        return Matrix([[pick(rng, LARGE if d_v <= FEW else LESS_LARGE) for _ in range(d_v)] for _ in range(rows)])

    def queries_and_keys() -> tuple[Rows, Rows] | None:
        keys = projection(m, d_k, d_k == 4, rng)
        tried = queries(d_k, rng)
        spend(rng, len(tried))
        scored = zip(tried, product(tried, transposed(keys)), strict=True)
        fit = [q for q, scores in scored if len(set(scores)) == m and (d_k != 4 or not any(s % 2 for s in scores))]
        q = sample(rng, fit, n)
        return (q, keys) if len(q) == n and not dull(q) else None

    q, k = first_success(queries_and_keys, "scores that differ", MOST_TRIES)
    return {"Q": Matrix(q), "K": Matrix(k), "V": large(m), "dZ": large(n)}


MECHANISM = Mechanism(
    name="attention_gradient",
    title="Attention and its gradients",
    givens=attention.GIVENS,
    optional={**attention.OPTIONAL, "dZ": ("n", "d_v"), "dC": ("n", "h*d_v")},
    usual=("dZ",),
    uses=CHANGED_SCORES | HEADS | DESCENT,
    default_sizes={"n": 1, "m": 2, "d_k": 4, "d_v": 2},
    derive=derive,
    draw=draw,
)
