"""Probabilities of the next token and their loss worked out wrongly (rules.md 2.2, softmax)."""

from __future__ import annotations

from dataclasses import replace

from symattn.derivation.derivation import Op
from symattn.derivation.misconceptions.base import Change, Misconception, ReplacementOp, replaced
from symattn.derivation.ops import CrossEntropy, Softmax
from symattn.exact import Matrix, divide, logarithm


def in_base(base: int) -> Change:
    """Logarithms to another base than e."""

    def does(of: Op, probabilities: Matrix, targets: Matrix) -> Matrix:
        return of.apply(probabilities, targets).map(lambda loss: divide(loss, logarithm(base)))

    return replaced("loss", CrossEntropy, lambda own: ReplacementOp(own, does))


MISCONCEPTIONS = (
    Misconception(
        "X16",
        "softmax over the logits of one word",
        "probabilities",
        replaced("probabilities", Softmax, lambda own: replace(own, along="columns")),
        exactly="every column of the probabilities sums to 1",
        tell="Columns sum to 1, rows do not.",
        feedback="Each token has a probability for every word: its {row} sums to 1.",
        source="experience",
        prior="medium",
    ),
    Misconception(
        "X17",
        "logarithm to base 10",
        "loss",
        in_base(10),
        exactly="−log₁₀ p for −ln p",
        tell="Every loss is the right one divided by 2.3026.",
        feedback="The loss has natural logarithms, ln.",
        source="experience",
        prior="medium",
    ),
    Misconception(
        "X18",
        "logarithm to base 2",
        "loss",
        in_base(2),
        exactly="−log₂ p for −ln p",
        tell="Every loss is the right one divided by 0.6931: in bits, not in nats.",
        feedback="The loss has natural logarithms, ln.",
        source="experience",
        prior="medium",
    ),
)
