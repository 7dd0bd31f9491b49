"""How much a layer or a whole model costs: parameters, operations, memory, caches, in numbers or in letters.

>>> from symattn import counting
>>> bert = counting.Attention(d=768, h=12, width=64, bias=True)
>>> counting.parameters(bert), counting.memory(counting.parameters(bert), "float16")
(2362368, 4724736)
>>> n, d = counting.sizes("n d")
>>> counting.operations(counting.FeedForward(d, 4 * d, n))
8*d**2*n
"""

from __future__ import annotations

from symattn.derivation.counting import (
    BYTES,
    AdditiveScores,
    Attention,
    Block,
    Count,
    Embedding,
    FeedForward,
    Layer,
    Linear,
    Model,
    Norm,
    Recurrent,
    cache,
    memory,
    operations,
    parameters,
    scores,
    sizes,
    training,
)

__all__ = [
    "BYTES",
    "AdditiveScores",
    "Attention",
    "Block",
    "Count",
    "Embedding",
    "FeedForward",
    "Layer",
    "Linear",
    "Model",
    "Norm",
    "Recurrent",
    "cache",
    "memory",
    "operations",
    "parameters",
    "scores",
    "sizes",
    "training",
]
