"""Probabilities of the next token, their loss and the choice of a word worked out wrongly (rules.md 2.2, softmax)."""

from __future__ import annotations

from dataclasses import replace

from symattn.derivation.derivation import Op
from symattn.derivation.misconceptions.base import Change, Misconception, ReplacementOp, replaced
from symattn.derivation.ops import CrossEntropy, Softmax, TopK
from symattn.derivation.ops.scores import LogitTemperature
from symattn.exact import Matrix, divide, logarithm


def in_base(base: int) -> Change:
    """Logarithms to another base than e."""

    def does(of: Op, probabilities: Matrix, targets: Matrix) -> Matrix:
        return of.apply(probabilities, targets).map(lambda loss: divide(loss, logarithm(base)))

    return replaced("loss", CrossEntropy, lambda own: ReplacementOp(own, does))


def _not_divided(of: Op, probabilities: Matrix) -> Matrix:
    """The probabilities that are kept, as they were."""
    rows = zip(of.apply(probabilities).rows, probabilities.rows, strict=True)
    return Matrix.of([p if kept != 0 else 0 for kept, p in zip(*lines, strict=True)] for lines in rows)


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
    Misconception(
        "X19",
        "top-k without dividing by the sum",
        "top_k",
        replaced("top_k", TopK, lambda own: ReplacementOp(own, _not_divided)),
        exactly="the k largest probabilities as they were, and 0 for the others",
        tell="Every row sums to less than 1; the zeros are right.",
        feedback="Divide the probabilities that are kept by their sum, so that each {row} sums to 1 again.",
        source="experience",
        prior="medium",
    ),
    Misconception(
        "X20",
        "multiplied by the temperature",
        "L_T",
        replaced("L_T", LogitTemperature, lambda own: replace(own, divisor=divide(1, own.divisor))),
        exactly="τL for L/τ",
        tell="Every logit is the right one times τ².",
        feedback="Logits are divided by the temperature: a high one makes the probabilities more even.",
        source="experience",
        prior="medium",
    ),
)
