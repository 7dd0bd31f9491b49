"""Multi-head attention there and back: through W_O, the heads side by side, every head, and the projections.

With the weights A_1, A_2, … of the forward pass given, it is gone back from them, and all numbers stay fractions.
"""

from __future__ import annotations

import random
from collections.abc import Mapping

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms.attention_gradient import CHANGED_SCORES, output_with_gradient
from symattn.derivation.mechanisms.backward import backward, from_weights
from symattn.derivation.mechanisms.base import DESCENT, HEADS, Mechanism, Settings
from symattn.derivation.mechanisms.drawing import entries, number, product
from symattn.derivation.mechanisms.drawing_gradients import Weights, first, full, rounded, upstream_of_heads
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
    n, d_model, d_k, d_v, d_out = (number(sizes, letter) for letter in ("n", "d_model", "d_k", "d_v", "d_out"))
    h, g = settings.heads, settings.groups
    keep = mask_keep(settings.mask, n, n) or full(n, n)
    if h == 1:
        raise InputError("Numbers are drawn for two heads or more; for one there is self_attention_gradient.")

    def drawn() -> dict[str, Matrix] | None:
        x, w_v, w_o = entries(n, d_model, rng), entries(d_model, g * d_v, rng), entries(h * d_v, d_out, rng)
        v = product(x, w_v)
        shares = [Slice.of_head(group, g, d_v, settings.split).indices for group in range(1, g + 1)]
        values = [[[row[j] for j in shares[head * g // h]] for row in v] for head in range(h)]
        given = {"X": Matrix(x), "W_V": Matrix(w_v), "W_O": Matrix(w_o)}
        given["W_K"], queries = Matrix(entries(d_model, g * d_k, rng)), entries(d_model, h * d_k, rng)
        weights: dict[int, list[Weights]] = {}
        for _ in range(QUERIES):
            given["W_Q"] = Matrix(queries)
            forward = heads(Derivation(given), settings, sizes)
            own = {head: rounded(forward.value(f"A_{head}"), keep) for head in range(1, h + 1)}
            weights = {head: rows for head, rows in own.items() if rows}
            if len(weights) == h:
                break
            fresh = entries(d_model, h * d_k, rng)
            kept = {j for head in weights for j in Slice.of_head(head, h, d_k, settings.split).indices}
            queries = [[x if j in kept else y for j, (x, y) in enumerate(zip(*p, strict=True))]
                       for p in zip(queries, fresh, strict=True)]  # fmt: skip
        else:
            return None
        gradient = upstream_of_heads(list(weights.values()), values, w_o, d_out, rng)
        of_heads = {f"A_{head}": Matrix(rows) for head, rows in weights.items()}
        return {**given, **of_heads, "dO": Matrix(gradient)} if gradient else None

    return first(drawn, "weights and gradients that come out", SHEETS)


SHEETS, QUERIES = 100, 10
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
