"""Layers of attention, recurrence and convolution: what they cost, and derivations of them in shapes alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from typing import Literal

from symattn.derivation.counting import independent
from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms import Settings, mechanism
from symattn.exact import Outline

# ------------------------------------------------------------------------------------------------ counting


def attention_products(n: int, d: int) -> int:
    """Multiply-adds of Q, K and V: three n × d times d × d."""
    return 3 * n * d * d


def attention_pairs(n: int, d: int) -> int:
    """Multiply-adds of the scores, n × d times d × n, and of the weighted values, n × n times n × d."""
    return 2 * n * n * d


def recurrent_operations(n: int, d: int) -> int:
    """Multiply-adds of h_t = f(W x_t + U h_{t−1}) at n positions: two d × d products at each."""
    return 2 * n * d * d


def convolution_operations(n: int, d: int, k: int) -> int:
    """Multiply-adds of a convolution of width k: at each position k products with a d × d matrix."""
    return k * n * d * d


def stacked_layers(distance: int, k: int) -> int:
    """Causal convolutions of width k, one on another, to reach back `distance` positions: each reaches k − 1."""
    return -(-distance // (k - 1))


def dilated_layers(distance: int, k: int) -> int:
    """The same with dilations 1, k, k², …: L layers see k^L positions, which are distances 0 to k^L − 1."""
    return next(layers for layers in count() if k**layers > distance)


# ------------------------------------------------------------------------------------------------ derivations


@lru_cache(maxsize=32)
def attention_layer(n: int, d: int, by: str = "matrix") -> Derivation:
    """Self-attention over n tokens of width d, in shapes alone; its scores are scaled."""
    weights = {name: Outline((d, d)) for name in ("W_Q", "W_K", "W_V")}
    return mechanism("self_attention").run({"X": Outline((n, d)), **weights}, Settings.read({"by": by}))


@lru_cache(maxsize=32)
def recurrent_layer(n: int, d: int, by: str = "matrix") -> Derivation:
    """A recurrent layer over n tokens of width d, from a state that is given, in shapes alone."""
    weights = {name: Outline((d, d)) for name in ("W_x", "W_h")}
    givens = {"X": Outline((n, d)), **weights, "H_0": Outline((1, d))}
    return mechanism("recurrent_network").run(givens, Settings.read({"by": by, "function": "tanh"}))


@dataclass(frozen=True)
class Work:
    """Steps of a layer of three positions that may or may not be done at the same time, and why."""

    text: str
    layer: Literal["attention", "recurrent"]
    steps: tuple[str, ...]
    why: str

    @property
    def parallel(self) -> bool:
        """Whether none of them waits for another: told by the derivation."""
        layer = attention_layer if self.layer == "attention" else recurrent_layer
        return independent(layer(3, 2, "token" if "." in self.steps[0] else "matrix"), self.steps)
