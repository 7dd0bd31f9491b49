"""The feed-forward network there and back: H = f(X W_1 + b_1), F = H W_2 + b_2, and all gradients."""

from __future__ import annotations

from random import Random

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms import feed_forward as forward
from symattn.derivation.mechanisms.backward import backward
from symattn.derivation.mechanisms.base import Mechanism
from symattn.derivation.mechanisms.drawing import entries, number
from symattn.derivation.mechanisms.feed_forward import feed_forward
from symattn.derivation.mechanisms.settings import DESCENT, Givens, Settings, Sizes
from symattn.derivation.ops.entrywise import Activation
from symattn.exact import Matrix


def derive(d: Derivation, settings: Settings, sizes: Sizes) -> Derivation:
    return backward(feed_forward(d, settings, "X"), "F")


def draw(settings: Settings, sizes: Sizes, rng: Random) -> Givens:
    given = forward.draw(settings, sizes, rng, kinks=settings.function != "relu")
    return {**given, "dF": Matrix(entries(number(sizes, "n"), number(sizes, "d_out"), rng))}


def complaint(d: Derivation) -> str:
    """A 0 before ReLU: there it has no derivative."""
    for step in d:
        if isinstance(step.op, Activation) and step.op.name == "relu":
            before = step.operands[0].of(d.value(step.operands[0].name))
            if isinstance(before, Matrix) and any(x == 0 for x in before):
                return f"{step.operands[0]} has a 0, where ReLU has no derivative"
    return ""


MECHANISM = Mechanism(
    name="feed_forward_gradient",
    title="Feed-forward network and its gradients",
    givens={"X": ("n", "d_model"), "W_1": ("d_model", "d_ff"), "W_2": ("d_ff", "d_out"), "dF": ("n", "d_out")},
    optional={"b_1": ("1", "d_ff"), "b_2": ("1", "d_out")},
    usual=("b_1", "b_2"),
    uses=frozenset({"function"}) | DESCENT,
    default_sizes={"n": 2, "d_model": 2, "d_ff": 3, "d_out": 2},
    derive=derive,
    draw=draw,
    complaint=complaint,
)
