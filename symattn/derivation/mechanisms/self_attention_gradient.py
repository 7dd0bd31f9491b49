"""Self-attention there and back: the gradients with respect to the weights and to the inputs.

With the weights A of the forward pass given, it is gone back from them, and all numbers stay fractions.
"""

from __future__ import annotations

from random import Random

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms import self_attention
from symattn.derivation.mechanisms.attention_gradient import CHANGED_SCORES
from symattn.derivation.mechanisms.backward import backward, from_weights
from symattn.derivation.mechanisms.base import Mechanism
from symattn.derivation.mechanisms.drawing import MOST_TRIES, entries, first_success, numbers, product, tried
from symattn.derivation.mechanisms.drawing_gradients import can_be_rounded, full, rounded, upstream_of_heads
from symattn.derivation.mechanisms.masks import mask_keep
from symattn.derivation.mechanisms.settings import DESCENT, Givens, Settings, Sizes
from symattn.exact import Matrix


def derive(d: Derivation, settings: Settings, sizes: Sizes) -> Derivation:
    return from_weights(d, settings, lambda d: backward(self_attention.derive(d, settings, sizes), "Z"))


def draw(settings: Settings, sizes: Sizes, rng: Random) -> Givens:
    n, d_model, d_k, d_v = numbers(sizes, "n", "d_model", "d_k", "d_v")
    keep = mask_keep(settings.mask, n, n) or full(n, n)

    def drawn() -> Givens | None:
        x, w_v = entries(n, d_model, rng), entries(d_model, d_v, rng)
        w_q, w_k = entries(d_model, d_k, rng), entries(d_model, d_k, rng)
        if not can_be_rounded(product(x, w_q), product(x, w_k), keep, settings, sizes, rng):
            return None
        given = {"X": Matrix(x), "W_Q": Matrix(w_q), "W_K": Matrix(w_k), "W_V": Matrix(w_v)}
        weights = rounded(tried(self_attention.derive(Derivation(given), settings, sizes), rng).value("A"), keep)
        gradient = weights and upstream_of_heads([weights], [product(x, w_v)], None, d_v, rng)
        return {**given, "A": Matrix(weights), "dZ": Matrix(gradient)} if weights and gradient else None

    return first_success(drawn, "weights and gradients that come out", MOST_TRIES)


MECHANISM = Mechanism(
    name="self_attention_gradient",
    title="Self-attention and its gradients",
    givens={**self_attention.MECHANISM.givens, "dZ": ("n", "d_v")},
    optional={"A": ("n", "n"), **self_attention.MECHANISM.optional},
    usual=("A",),
    uses=CHANGED_SCORES | DESCENT,
    default_sizes={"n": 2, "d_model": 2, "d_k": 4, "d_v": 2},
    derive=derive,
    draw=draw,
)
