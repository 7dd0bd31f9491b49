"""An encoder block there and back: through both norms and residuals, the feed-forward network and attention.

Y is the output, with the norm at the end (post-norm) or without it (pre-norm), and its gradient dY is given.  What goes
round a sublayer, the residual, and what goes through it are added up on the way back.
"""

from __future__ import annotations

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms import encoder_block as block
from symattn.derivation.mechanisms.attention_gradient import CHANGED_SCORES
from symattn.derivation.mechanisms.backward import backward
from symattn.derivation.mechanisms.base import Mechanism
from symattn.derivation.mechanisms.drawing_gradients import there_and_back
from symattn.derivation.mechanisms.feed_forward_gradient import complaint
from symattn.derivation.mechanisms.settings import DESCENT, HEADS, NORM, Settings, Sizes
from symattn.derivation.ops.gradient import Copy


def derive(d: Derivation, settings: Settings, sizes: Sizes) -> Derivation:
    return backward(forward(d, settings, sizes), "Y")


def forward(d: Derivation, settings: Settings, sizes: Sizes) -> Derivation:
    d = block.encoder_block(d, settings, sizes)
    return d.then("Y", Copy(), d.last.name)


MECHANISM = Mechanism(
    name="encoder_block_gradient",
    title="Encoder block and its gradients",
    givens={**block.MECHANISM.givens, "dY": ("n", "d_model")},
    optional=block.MECHANISM.optional,
    usual=block.MECHANISM.usual,
    drawn={"arithmetic": "decimal"},  # through a norm, fractions are long; without one, base 2 keeps them short
    uses=CHANGED_SCORES | HEADS | NORM | {"function"} | DESCENT,
    default_sizes={"n": 2, "d_model": 4, "d_k": 4, "d_v": 2, "d_ff": 2},
    derive=derive,
    draw=there_and_back(
        block.draw,
        forward,
        "gradients that come out, as they hardly do with a norm (arithmetic = decimal takes any)",
        30,
    ),
    complaint=complaint,
)
