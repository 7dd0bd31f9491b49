"""Multi-head attention there and back: through W_O, the heads side by side, every head, and the projections.

With the weights A_1, A_2, … of the forward pass given, it is gone back from them, and all numbers stay fractions.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms.attention_gradient import CHANGED_SCORES, output_with_gradient
from symattn.derivation.mechanisms.backward import backward, from_weights
from symattn.derivation.mechanisms.base import Mechanism
from symattn.derivation.mechanisms.drawing import Rows, entries, first_success, numbers, product, side_by_side, tried
from symattn.derivation.mechanisms.drawing_gradients import (
    Weights,
    can_be_rounded,
    full,
    rounded,
    upstream_of_heads,
)
from symattn.derivation.mechanisms.masks import mask_keep
from symattn.derivation.mechanisms.multi_head_attention import alike, heads, output_and_biases, projections
from symattn.derivation.mechanisms.settings import DESCENT, HEADS, Givens, Settings, Sizes
from symattn.derivation.ops.linear import Slice
from symattn.errors import InputError
from symattn.exact import Matrix


def derive(d: Derivation, settings: Settings, sizes: Sizes) -> Derivation:
    if settings.heads == 1 and "A_1" in d.givens:
        raise InputError("With one head alone no weights are given here; self_attention_gradient starts from them.")

    def there_and_back(d: Derivation) -> Derivation:
        d = heads(d, settings, sizes)
        return backward(d, output_with_gradient(d))

    return from_weights(d, settings, there_and_back)


def draw(settings: Settings, sizes: Sizes, rng: Random) -> Givens:
    if settings.heads == 1:
        raise InputError("Numbers are drawn for two heads or more; for one there is self_attention_gradient.")
    return first_success(lambda: _drawn(settings, sizes, rng), "weights and gradients that come out", SHEETS)


def _drawn(settings: Settings, sizes: Sizes, rng: Random) -> Givens | None:
    n, d_model, d_k, d_v, d_out = numbers(sizes, "n", "d_model", "d_k", "d_v", "d_out")
    h, g = settings.heads, settings.groups
    keep = mask_keep(settings.mask, n, n) or full(n, n)
    group = [head * g // h for head in range(h)]
    x, w_v, w_o = entries(n, d_model, rng), entries(d_model, g * d_v, rng), entries(h * d_v, d_out, rng)
    w_k, w_q = entries(d_model, g * d_k, rng), entries(d_model, h * d_k, rng)
    keys, queries = _parts(product(x, w_k), g, settings), _parts(w_q, h, settings)
    alone = replace(settings, heads=1)
    for _ in range(QUERIES):
        pairs = zip(queries, group, strict=True)
        fit = [can_be_rounded(product(x, own), keys[k], keep, alone, sizes, rng) for own, k in pairs]
        if all(fit):
            break
        fresh = _parts(entries(d_model, h * d_k, rng), h, settings)
        queries = [own if fits else other for own, other, fits in zip(queries, fresh, fit, strict=True)]
    else:
        return None
    weights_of = {"W_V": w_v, "W_O": w_o, "W_K": w_k, "W_Q": side_by_side(queries, settings)}
    given = {"X": Matrix(x), **{name: Matrix(rows) for name, rows in weights_of.items()}}
    forward = tried(heads(Derivation(given), settings, sizes), rng)
    found = [rounded(forward.value(f"A_{head}"), keep) for head in range(1, h + 1)]
    weights: list[list[Weights]] = [rows for rows in found if rows]
    if len(weights) < h:
        return None
    values = _parts(product(x, w_v), g, settings)
    gradient = upstream_of_heads(weights, [values[k] for k in group], w_o, d_out, rng)
    of_heads = {f"A_{head}": Matrix(rows) for head, rows in enumerate(weights, 1)}
    return {**given, **of_heads, "dO": Matrix(gradient)} if gradient else None


def _parts(rows: Rows, count: int, settings: Settings) -> list[Rows]:
    """The columns of each of several heads, which `side_by_side` puts together again."""
    width = len(rows[0]) // count
    columns = [Slice.of_head(head, count, width, settings.split).indices for head in range(1, count + 1)]
    return [[[row[j] for j in own] for row in rows] for own in columns]


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
