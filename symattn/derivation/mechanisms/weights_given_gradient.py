"""Weights given: back through attention from the weights A of the forward pass, so that fractions stay fractions."""

from __future__ import annotations

from random import Random

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms import attention_gradient
from symattn.derivation.mechanisms.backward import from_weights
from symattn.derivation.mechanisms.base import Mechanism
from symattn.derivation.mechanisms.drawing import Rows, dull, entries, first, first_success, numbers, tried
from symattn.derivation.mechanisms.drawing_gradients import can_be_rounded, full, rounded, upstream_of_heads
from symattn.derivation.mechanisms.masks import mask_keep
from symattn.derivation.mechanisms.settings import DESCENT, Givens, Settings, Sizes
from symattn.derivation.mechanisms.steps import attend
from symattn.exact import Matrix


def derive(d: Derivation, settings: Settings, sizes: Sizes) -> Derivation:
    return from_weights(d, settings, lambda d: attention_gradient.derive(d, settings, sizes))


QUERIES = 100
"""Draws of a query until other keys are drawn."""


def draw(settings: Settings, sizes: Sizes, rng: Random) -> Givens:
    n, m, d_k, d_v = numbers(sizes, "n", "m", "d_k", "d_v")
    keep = mask_keep(settings.mask, n, m) or full(n, m)

    def query(i: int, keys: Rows) -> list[int] | None:
        (drawn,) = entries(1, d_k, rng)
        return drawn if can_be_rounded([drawn], keys, (keep[i],), settings, sizes, rng) else None

    def drawn() -> Givens | None:
        k, v = entries(m, d_k, rng), entries(m, d_v, rng)
        found = [first(lambda i=i: query(i, k), QUERIES) for i in range(n)]  # type: ignore[misc]
        q = [row for row in found if row]
        if len(q) < n or dull(q):
            return None
        given = {"Q": Matrix(q), "K": Matrix(k), "V": Matrix(v)}
        weights = rounded(tried(attend(Derivation(given), settings, sizes), rng).value("A"), keep)
        gradient = weights and upstream_of_heads([weights], [v], None, d_v, rng)
        return {"A": Matrix(weights), **given, "dZ": Matrix(gradient)} if weights and gradient else None

    return first_success(drawn, "weights and gradients that come out", 1000)


MECHANISM = Mechanism(
    name="weights_given_gradient",
    title="Gradients of attention, given the weights",
    givens={"A": ("n", "m"), "Q": ("n", "d_k"), "K": ("m", "d_k"), "V": ("m", "d_v"), "dZ": ("n", "d_v")},
    uses=DESCENT,
    default_sizes={"n": 2, "m": 3, "d_k": 4, "d_v": 2},
    derive=derive,
    draw=draw,
)
