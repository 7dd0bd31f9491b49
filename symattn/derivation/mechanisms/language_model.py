"""What a language model makes of its last layer: logits, probabilities of the next token, and the loss.

The logits are what the output layer gives (Vaswani et al. 2017, section 3.4); the loss is the mean cross-entropy of the
tokens, in nats.
"""

from __future__ import annotations

import random
from collections.abc import Mapping

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms.base import Mechanism, Settings
from symattn.derivation.mechanisms.drawing import Rows, dull, entries, found, number, product
from symattn.derivation.ops import Add, CrossEntropy, MatMul, Mean, Softmax
from symattn.exact import Matrix, Size
from symattn.foundation.dice import pick, sample


def derive(d: Derivation, settings: Settings, sizes: Mapping[str, Size]) -> Derivation:
    names = ["L_product", "L"] if "b_U" in d.givens else ["L"]
    d = d.then(names[0], MatMul(), "N", "W_U")  # n × d_vocab
    if names[1:]:
        d = d.then("L", Add(), "L_product", "b_U")
    d = d.then("probabilities", Softmax(base=settings.base), "L")
    if "T" not in d.givens:
        return d
    d = d.then("loss", CrossEntropy(), "probabilities", "T")  # n × 1
    return d.then("mean_loss", Mean("rows"), "loss")


def draw(settings: Settings, sizes: Mapping[str, Size], rng: random.Random) -> dict[str, Matrix]:
    """Logits that differ by 1 to 3 within a row; every token is to have another one, not always the likeliest."""
    n, d_model, vocabulary = number(sizes, "n"), number(sizes, "d_model"), number(sizes, "d_vocab")

    def drawn() -> dict[str, Matrix] | None:
        inputs, weights = entries(n, d_model, rng), entries(d_model, vocabulary, rng)
        logits = product(inputs, weights)
        wanted = (
            sample(rng, range(vocabulary), n) if n <= vocabulary else [pick(rng, range(vocabulary)) for _ in range(n)]
        )
        if dull(logits) or not _worth_setting(logits, wanted):
            return None
        targets = [[int(j == own) for j in range(vocabulary)] for own in wanted]
        return {"N": Matrix(inputs), "W_U": Matrix(weights), "T": Matrix(targets)}

    return found(drawn, "logits that are worth setting")


def _worth_setting(logits: Rows, wanted: list[int]) -> bool:
    """No row saturated, at most one tie in it; some target is not the likeliest, and the losses differ."""
    likeliest = [row[own] == max(row) for row, own in zip(logits, wanted, strict=True)]
    spread = all(1 <= max(row) - min(row) <= 3 and len(set(row)) >= len(row) - 1 for row in logits)
    below = [sorted(x - row[own] for x in row) for row, own in zip(logits, wanted, strict=True)]
    return spread and not all(likeliest) and len(set(map(tuple, below))) == len(below)


MECHANISM = Mechanism(
    name="language_model",
    title="Logits, probabilities and cross-entropy",
    givens={"N": ("n", "d_model"), "W_U": ("d_model", "d_vocab")},
    optional={"b_U": ("1", "d_vocab"), "T": ("n", "d_vocab")},
    usual=("T",),
    default_sizes={"n": 2, "d_model": 3, "d_vocab": 3},
    derive=derive,
    draw=draw,
)
