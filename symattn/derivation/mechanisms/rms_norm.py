"""Root mean square norm: Zhang and Sennrich 2019, section 4: layer norm without the mean."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms.base import Mechanism
from symattn.derivation.mechanisms.drawing import numbers
from symattn.derivation.mechanisms.layer_norm import normalise, scale_and_shift, telling_rows
from symattn.derivation.mechanisms.settings import Givens, Settings, Sizes


def derive(d: Derivation, settings: Settings, sizes: Sizes) -> Derivation:
    return normalise(d, "N", "X", replace(settings, norm="rms"))[0]


def draw(settings: Settings, sizes: Sizes, rng: Random) -> Givens:
    n, d = numbers(sizes, "n", "d_model")
    x = telling_rows(n, d, replace(settings, norm="rms"), rng)
    return {"X": x, "gamma": scale_and_shift(d, rng)["gamma"]}


MECHANISM = Mechanism(
    name="rms_norm",
    title="Root mean square norm",
    givens={"X": ("n", "d_model")},
    optional={"gamma": ("1", "d_model")},
    usual=("gamma",),
    uses=frozenset({"epsilon"}),
    default_sizes={"n": 3, "d_model": 4},
    draw=draw,
    derive=derive,
)
