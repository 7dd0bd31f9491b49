"""Wrong ways back (rules.md 2.2, gradient: D1 to D4; D5 to D11 are what else goes wrong in the same exercises).

Before them stands the loss: probabilities of the next word, and its choice, worked out wrongly (rules.md 2.2, softmax).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from symattn.derivation.derivation import Derivation, Op, Step
from symattn.derivation.mechanisms.descent import is_gradient
from symattn.derivation.misconceptions.base import (
    COPY,
    Change,
    Misconception,
    ReplacementOp,
    done_otherwise,
    everywhere,
    replaced,
    where,
)
from symattn.derivation.ops.attention import Softmax, SoftmaxGradient, SoftmaxJacobian
from symattn.derivation.ops.entrywise import ActivationGradient
from symattn.derivation.ops.gradient import Descent, Total
from symattn.derivation.ops.linear import Hadamard, MatMul, Scale
from symattn.derivation.ops.lines import LineRuleOp
from symattn.derivation.ops.normalisation import NormGradient, Rescale
from symattn.derivation.ops.position import Rotate, RotateBack
from symattn.derivation.ops.scores import LogitTemperature
from symattn.derivation.ops.words import CrossEntropy, CrossEntropyGradient, TopK
from symattn.exact import Matrix, Value, divide, logarithm
from symattn.exact.sums import total

# ------------------------------------------------------------------------------------------------ what is changed


def _diagonal_alone(own: LineRuleOp) -> Op:
    return ReplacementOp(own, _on_the_diagonal if isinstance(own, SoftmaxJacobian) else _own_slope)


def _on_the_diagonal(of: Op, weights: Matrix) -> Matrix:
    return where(lambda i, j: i == j, of.apply(weights), lambda x: 0)


def _own_slope(of: Op, weights: Matrix, gradient: Matrix) -> Matrix:
    return _entrywise(lambda a, g: a * (1 - a) * g, weights, gradient)


def _not_scaled(d: Derivation, step: Step, own: Scale) -> Op | None:
    scores = any(other.stem == "dS" for other in d)  # and not of whatever else a program divides
    return COPY if scores and is_gradient(step) and own.divisor != 1 else None


def _not_transposed(d: Derivation, step: Step, own: MatMul) -> Step | None:
    """A G in place of Aᵀ G."""
    left, right = step.operands
    return step.with_operands(left.flipped, right) if left.transposed and is_gradient(step) else None


def _hidden_too(d: Derivation, step: Step, own: SoftmaxGradient) -> Op | None:
    weights = step.operands[0].of(d.value(step.operands[0].name))
    hidden = isinstance(weights, Matrix) and any(isinstance(a, int) and a == 0 for a in weights)
    return ReplacementOp(own, _without_factor) if hidden else None


def _without_factor(of: Op, weights: Matrix, gradient: Matrix) -> Matrix:
    """The bracket alone, da − Σ a·da, where the weight is 0."""
    products = Hadamard().apply(weights, gradient)
    means = [total(row) for row in products.rows]
    right = of.apply(weights, gradient).rows
    return Matrix.of(
        [g - mean if isinstance(a, int) and a == 0 else x for a, g, x in zip(*rows, strict=True)]
        for *rows, mean in zip(weights.rows, gradient.rows, right, means, strict=True)
    )


def _first_alone(of: Op, first: Matrix, *others: Matrix) -> Matrix:
    return first


def _divided(of: Op, gradient: Matrix, normed: Matrix, variance: Matrix) -> Matrix:
    assert isinstance(of, NormGradient)
    return Rescale(of.epsilon).apply(gradient, variance)


def _turned_forwards(own: RotateBack) -> Op:
    return Rotate(own.angles, own.positions, own.layout, own.tokens)


def _entrywise(combine: Callable[..., Value], *matrices: Matrix) -> Matrix:
    rows: Sequence[tuple[tuple[Value, ...], ...]] = list(zip(*(m.rows for m in matrices), strict=True))
    return Matrix.of(map(combine, *lines) for lines in rows)


# ------------------------------------------------------------------------------------ losses


def in_base(base: int) -> Change:
    """Logarithms to another base than e."""

    def does(of: Op, probabilities: Matrix, targets: Matrix) -> Matrix:
        return of.apply(probabilities, targets).map(lambda loss: divide(loss, logarithm(base)))

    return done_otherwise(CrossEntropy, does, "loss")


def _not_divided(of: Op, probabilities: Matrix) -> Matrix:
    """The probabilities that are kept, as they were."""
    rows = zip(of.apply(probabilities).rows, probabilities.rows, strict=True)
    return Matrix.of([p if kept != 0 else 0 for kept, p in zip(*lines, strict=True)] for lines in rows)


MISCONCEPTIONS = (
    Misconception(
        "D1",
        "only the diagonal of the Jacobian",
        "dS'",
        replaced((SoftmaxJacobian, SoftmaxGradient), _diagonal_alone),
        exactly="ds_ij = a_ij·(1 − a_ij)·da_ij, as if ∂a_i/∂s_j were a_i·(1 − a_i)·δ_ij",
        tell="The rows of the gradient with respect to the scores do not sum to 0.",
        feedback="Every score changes all weights of its {row}, so the Jacobian has entries off its diagonal.",
        prior="high",
        core=True,
    ),
    Misconception(
        "D2",
        "the scale left out on the way back",
        "dS",
        everywhere(Scale, _not_scaled),
        exactly="dS = dS'",
        tell="The gradients of queries and keys are √d_k times too large.",
        feedback="The scores were divided by $@scale(dS)$, and so is their gradient.",
        prior="high",
        core=True,
    ),
    Misconception(
        "D3",
        "not transposed on the way back",
        "dV",
        everywhere(MatMul, _not_transposed),
        exactly="dV = A dZ, dK = dS Q, dW = X dQ in place of the products with Aᵀ, dSᵀ, Xᵀ",
        tell="Not defined where the matrix is not square.",
        feedback="For the second factor of a product, the gradient is the first factor, transposed, times the gradient "
        "with respect to the product.",
        core=True,
    ),
    Misconception(
        "D4",
        "gradient for a hidden score",
        "dS'",
        everywhere(SoftmaxGradient, _hidden_too),
        exactly="where a_ij = 0: da_ij − Σ_k a_ik·da_ik, without the factor a_ij",
        tell="Entries that the mask hides are not 0.",
        feedback="A hidden score has weight 0 whatever it is, so its gradient is 0.",
        core=True,
    ),
    Misconception(
        "D5",
        "only one use counted",
        "dX",
        done_otherwise(Total, _first_alone),
        exactly="of a sum of gradients, such as dX = dX_Q + dX_K + dX_V, the first alone",
        tell="The gradients on the way are all right.",
        feedback="A matrix that is used several times gets a gradient from each use, and they are added up.",
        core=True,
    ),
    Misconception(
        "D6",
        "straight back through the activation",
        "dH_linear",
        done_otherwise(ActivationGradient, _first_alone),
        exactly="dH_linear = dH",
        tell="Gradients pass where ReLU gave 0.",
        feedback="Multiply by the slope of the activation, entry by entry.",
        core=True,
    ),
    Misconception(
        "D7",
        "mean and variance treated as constants",
        "dX",
        done_otherwise(NormGradient, _divided),
        exactly="dX = dN/√(σ² + ε)",
        tell="The rows of the gradient of a layer norm do not sum to 0.",
        feedback="The mean and the variance depend on every entry of the {row}, and gradients go through them, too.",
        core=True,
    ),
    Misconception(
        "D8",
        "targets minus probabilities",
        "dL",
        done_otherwise(CrossEntropyGradient, lambda of, p, t: of.apply(t, p)),
        exactly="dL = (T − P)/n",
        tell="All gradients have the opposite sign.",
        feedback="Subtract the targets from the probabilities: the loss falls where the logit of the target grows.",
        core=True,
    ),
    Misconception(
        "D9",
        "rotated forwards on the way back",
        "dQ",
        replaced(RotateBack, _turned_forwards),
        exactly="dQ = rotate(dR_Q), dK = rotate(dR_K), by the angles of the forward pass",
        tell="The gradient of a token at position 0 is right, and no other.",
        feedback="Gradients are rotated back, by the same angles as queries and keys were rotated.",
        core=True,
    ),
    Misconception(
        "D10",
        "up the gradient",
        "W_Q^new",
        replaced(Descent, lambda own: Descent(-own.rate)),
        exactly="W + η·dW for W − η·dW",
        tell="Every entry is as far off as the right one, on the other side of the old weight.",
        feedback="The loss falls against its gradient: subtract the learning rate times the gradient.",
    ),
    Misconception(
        "D11",
        "the learning rate left out",
        "W_Q^new",
        replaced(Descent, lambda own: Descent(1) if own.rate != 1 else None),
        exactly="W − dW for W − η·dW",
        tell="The changes are 1/η times too large.",
        feedback="The gradient is multiplied by the learning rate before it is subtracted.",
    ),
    Misconception(
        "X16",
        "softmax over the logits of one word",
        "probabilities",
        replaced(Softmax, lambda own: replace(own, along="columns"), "probabilities"),
        exactly="every column of the probabilities sums to 1",
        tell="Columns sum to 1, rows do not.",
        feedback="Each token has a probability for every word: its {row} sums to 1.",
    ),
    Misconception(
        "X17",
        "logarithm to base 10",
        "loss",
        in_base(10),
        exactly="−log₁₀ p for −ln p",
        tell="Every loss is the right one divided by 2.3026.",
        feedback="The loss has natural logarithms, ln.",
    ),
    Misconception(
        "X18",
        "logarithm to base 2",
        "loss",
        in_base(2),
        exactly="−log₂ p for −ln p",
        tell="Every loss is the right one divided by 0.6931: in bits, not in nats.",
        feedback="The loss has natural logarithms, ln.",
    ),
    Misconception(
        "X19",
        "top-k without dividing by the sum",
        "top_k",
        done_otherwise(TopK, _not_divided, "top_k"),
        exactly="the k largest probabilities as they were, and 0 for the others",
        tell="Every row sums to less than 1; the zeros are right.",
        feedback="Divide the probabilities that are kept by their sum, so that each {row} sums to 1 again.",
    ),
    Misconception(
        "X20",
        "multiplied by the temperature",
        "L_T",
        replaced(LogitTemperature, lambda own: replace(own, divisor=divide(1, own.divisor)), "L_T"),
        exactly="τL for L/τ",
        tell="Every logit is the right one times τ².",
        feedback="Logits are divided by the temperature: a high one makes the probabilities more even.",
    ),
)
