"""Weights given: back through attention from the weights A of the forward pass, so that fractions stay fractions."""

from __future__ import annotations

import random
from collections.abc import Mapping

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms import attention_gradient
from symattn.derivation.mechanisms.backward import from_weights
from symattn.derivation.mechanisms.base import DESCENT, Mechanism, Settings, attend
from symattn.derivation.mechanisms.drawing import entries, number
from symattn.derivation.mechanisms.drawing_gradients import first, full, rounded, upstream_of_heads
from symattn.derivation.mechanisms.masks import mask_keep
from symattn.exact import Matrix, Size


def derive(d: Derivation, settings: Settings, sizes: Mapping[str, Size]) -> Derivation:
    return from_weights(d, settings, lambda d: attention_gradient.derive(d, settings, sizes))


def draw(settings: Settings, sizes: Mapping[str, Size], rng: random.Random) -> dict[str, Matrix]:
    n, m, d_k, d_v = (number(sizes, letter) for letter in ("n", "m", "d_k", "d_v"))
    keep = mask_keep(settings.mask, n, m) or full(n, m)

    def drawn() -> dict[str, Matrix] | None:
        q, k, v = entries(n, d_k, rng), entries(m, d_k, rng), entries(m, d_v, rng)
        given = {"Q": Matrix(q), "K": Matrix(k), "V": Matrix(v)}
        weights = rounded(attend(Derivation(given), settings, sizes).value("A"), keep)
        gradient = weights and upstream_of_heads([weights], [v], None, d_v, rng)
        return {"A": Matrix(weights), **given, "dZ": Matrix(gradient)} if weights and gradient else None

    return first(drawn, "weights and gradients that come out", 1000)


MECHANISM = Mechanism(
    name="weights_given_gradient",
    title="Gradients of attention, given the weights",
    givens={"A": ("n", "m"), "Q": ("n", "d_k"), "K": ("m", "d_k"), "V": ("m", "d_v"), "dZ": ("n", "d_v")},
    uses=DESCENT,
    default_sizes={"n": 2, "m": 3, "d_k": 4, "d_v": 2},
    derive=derive,
    draw=draw,
)
