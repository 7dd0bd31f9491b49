"""Multi-head attention there and back: through W_O, the heads side by side, every head, and the projections.

With the weights A_1, A_2, … of the forward pass given, it is gone back from them, and all numbers stay fractions.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms.attention_gradient import CHANGED_SCORES, output_with_gradient
from symattn.derivation.mechanisms.backward import backward, from_weights
from symattn.derivation.mechanisms.base import DESCENT, HEADS, Mechanism, Settings
from symattn.derivation.mechanisms.drawing import entries, first_success, numbers, product, tried
from symattn.derivation.mechanisms.drawing_gradients import (
    Weights,
    can_be_rounded,
    full,
    rounded,
    upstream_of_heads,
)
from symattn.derivation.mechanisms.masks import mask_keep
from symattn.derivation.mechanisms.multi_head_attention import alike, heads, output_and_biases, projections
from symattn.derivation.ops import Slice
from symattn.errors import InputError
from symattn.exact import Matrix, Size


def derive(d: Derivation, settings: Settings, sizes: Mapping[str, Size]) -> Derivation:
    if settings.heads == 1 and "A_1" in d.givens:
        raise InputError("With one head alone no weights are given here; self_attention_gradient starts from them.")

    def there_and_back(d: Derivation) -> Derivation:
        d = heads(d, settings, sizes)
        return backward(d, output_with_gradient(d))

    return from_weights(d, settings, there_and_back)


def draw(settings: Settings, sizes: Mapping[str, Size], rng: random.Random) -> dict[str, Matrix]:
    n, d_model, d_k, d_v, d_out = numbers(sizes, "n", "d_model", "d_k", "d_v", "d_out")
    h, g = settings.heads, settings.groups
    keep = mask_keep(settings.mask, n, n) or full(n, n)
    if h == 1:
        raise InputError("Numbers are drawn for two heads or more; for one there is self_attention_gradient.")

    def columns(head: int) -> Sequence[int]:
        return Slice.of_head(head, h, d_k, settings.split).indices

    def drawn() -> dict[str, Matrix] | None:
        x, w_v, w_o = entries(n, d_model, rng), entries(d_model, g * d_v, rng), entries(h * d_v, d_out, rng)
        v = product(x, w_v)
        shares = [Slice.of_head(group, g, d_v, settings.split).indices for group in range(1, g + 1)]
        values = [[[row[j] for j in shares[head * g // h]] for row in v] for head in range(h)]
        given = {"X": Matrix(x), "W_V": Matrix(w_v), "W_O": Matrix(w_o)}
        w_k, w_q = entries(d_model, g * d_k, rng), entries(d_model, h * d_k, rng)
        keys = product(x, w_k)

        def may_be_rounded(head: int) -> bool:
            of_keys = Slice.of_head((head - 1) * g // h + 1, g, d_k, settings.split).indices
            own = product(x, [[row[j] for j in columns(head)] for row in w_q])
            theirs = [[row[j] for j in of_keys] for row in keys]
            return can_be_rounded(own, theirs, keep, replace(settings, heads=1), sizes, rng)

        for _ in range(QUERIES):
            kept = {j for head in range(1, h + 1) if may_be_rounded(head) for j in columns(head)}
            if len(kept) == h * d_k:
                break
            fresh = entries(d_model, h * d_k, rng)
            w_q = [[x if j in kept else y for j, (x, y) in enumerate(zip(*p, strict=True))]
                   for p in zip(w_q, fresh, strict=True)]  # fmt: skip
        else:
            return None
        given |= {"W_K": Matrix(w_k), "W_Q": Matrix(w_q)}
        forward = tried(heads(Derivation(given), settings, sizes), rng)
        found = [rounded(forward.value(f"A_{head}"), keep) for head in range(1, h + 1)]
        weights: list[list[Weights]] = [rows for rows in found if rows]
        if len(weights) < h:
            return None
        gradient = upstream_of_heads(weights, values, w_o, d_out, rng)
        of_heads = {f"A_{head}": Matrix(rows) for head, rows in enumerate(weights, 1)}
        return {**given, **of_heads, "dO": Matrix(gradient)} if gradient else None

    return first_success(drawn, "weights and gradients that come out", SHEETS)


SHEETS, QUERIES = 1000, 100
"""Draws of all numbers, and for each of the queries of heads whose weights say nothing."""


MECHANISM = Mechanism(
    name="multi_head_gradient",
    title="Multi-head attention and its gradients",
    givens={"X": ("n", "d_model"), **projections()},
    optional={
        **output_and_biases("d_out"),
        "dO": ("n", "d_out"),
        "dC": ("n", "h*d_v"),
        "dZ": ("n", "d_v"),
        "A_{head}": ("n", "n"),
        "B": ("n", "n"),
        "B_{head}": ("n", "n"),
    },
    usual=("W_O", "dO", "A_{head}"),
    defaults={"heads": 2},
    drawn={"scale": "none"},  # whose heads are one feature wide
    uses=CHANGED_SCORES | HEADS | DESCENT,
    default_sizes={"n": 2, "d_model": 2, "d_k": 1, "d_v": 1, "d_out": 2},
    derive=derive,
    draw=draw,
    complaint=alike,
)
