"""What is counted in letters, which costs overtake which, and published models: the bank of `counts.toml`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from symattn.derivation.counting import Attention, Block, Count, Embedding, FeedForward, Model, Norm
from symattn.teaching.problems.asking import bank


@dataclass(frozen=True)
class CountedItem:
    """Something to be written in letters: `how` is it part by part, `wrong` what miscounting makes of it.

    Each of these is a misconception, the formula as typed, and what it means.
    """

    ask: str
    how: str
    wrong: tuple[tuple[str, str, str], ...]
    bias: bool = False
    output: bool = True
    grouped: bool = False


@dataclass(frozen=True)
class Crossover:
    """Two costs in letters, the first of which is larger from some number of tokens on: where a·n > b·d."""

    ask: str
    more: str
    less: str
    a: int
    b: int
    common: str = "n d"

    def first(self, d: int) -> int:
        """The smallest n with a·n > b·d: the first whole number above b·d/a."""
        return self.b * d // self.a + 1


@dataclass(frozen=True)
class Published:
    """Sizes as published: width d, h heads, layers, and how many heads have keys and values of their own."""

    title: str
    d: int
    h: int
    layers: int
    shared: int


@dataclass(frozen=True)
class Bank:
    """What `counts.toml` has."""

    items: Mapping[str, CountedItem]
    crossovers: Mapping[str, Crossover]
    models: Mapping[str, Published]


_BANK = bank(Bank, "counts")
ITEMS, CROSSOVERS, MODELS = _BANK.items, _BANK.crossovers, _BANK.models


@dataclass(frozen=True)
class Around:
    """What stands around a layer: how many layers, tokens of the memory (of the encoder), and words there are."""

    layers: Count
    memory: Count
    words: Count


def _feed_forward(a: Attention) -> FeedForward:
    return FeedForward(a.d, 4 * a.d, a.n)


def _block(a: Attention) -> Block:
    return Block(replace(a, bias=True), _feed_forward(a), Norm(a.d))


COUNTED: Mapping[str, Callable[[Attention, Around], Count]] = {
    "weights": lambda a, _: a.parameters,
    "biased": lambda a, _: a.parameters,
    "inward": lambda a, _: a.parameters,
    "projecting": lambda a, _: a.projecting,
    "scoring": lambda a, _: a.scoring,
    "operations": lambda a, _: a.operations,
    "flops": lambda a, _: 2 * a.operations,
    "scores": lambda a, _: a.scores,
    "cache": lambda a, around: a.cache(around.layers),
    "step": lambda a, _: a.parameters + 2 * a.n * a.h * a.width,
    "grouped weights": lambda a, _: a.parameters,
    "grouped cache": lambda a, around: a.cache(around.layers),
    "feed forward": lambda a, _: _feed_forward(a).parameters,
    "feeding forward": lambda a, _: _feed_forward(a).operations,
    "norms": lambda a, _: 2 * Norm(a.d).parameters,
    "cross": lambda a, around: replace(a, memory=around.memory).scoring,
    "block": lambda a, _: _block(a).parameters,
    "block operations": lambda a, _: _block(a).operations,
    "decoder block": lambda a, _: replace(_block(a), cross=replace(a, bias=True)).parameters,
    "stack": lambda a, around: around.layers * _block(a).parameters,
    "model": lambda a, around: Model(Embedding(around.words, a.d, a.n), _block(a), around.layers).parameters,
    "logits": lambda a, around: Embedding(around.words, a.d).operations(a.n),
}
LETTERS = ("L", "n", "g", "d", "h", "m", "w")


@cache
def polynomial(name: str) -> Any:
    """The item in SymPy symbols named L, n, g, d, h, m, w."""
    import sympy

    return sympy.expand(count_of(name, *map(sympy.Symbol, LETTERS)))


def count_of(name: str, layers: Count, n: Count, g: Count, d: Count, h: Count, m: Count, words: Count) -> Count:
    """The item for these sizes, numbers or letters."""
    item, width = ITEMS[name], d // h if isinstance(d, int) else d / h
    layer = Attention(d, h, width, n, g if item.grouped else h, item.bias, item.output)
    return COUNTED[name](layer, Around(layers, m, words))


def language_model(words: int, positions: int, d: int, layers: int, tied: bool = True, shift: bool = True) -> Model:
    """A model like GPT-2 (Radford et al. 2019): learned positions, biases everywhere, inner width 4 d, a last norm.

    How many heads share the width makes no difference to the number of parameters.
    """
    block = Block(Attention(d, 1, d, bias=True), FeedForward(d, 4 * d), Norm(d, shift))
    return Model(Embedding(words, d, positions, tied), block, layers)
