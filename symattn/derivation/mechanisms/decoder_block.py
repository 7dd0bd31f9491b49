"""One block of the decoder: Vaswani et al. 2017, section 3.1.

Self-attention that sees no later token, cross-attention to the encoder's output E, a feed-forward network; each with a
residual and a norm.  The steps of the two attentions are told apart by their places: Q^self and Q^cross.  Pre-norm is
Xiong et al. 2020, section 3.1.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms.base import Mechanism
from symattn.derivation.mechanisms.drawing import attention_weights, entries, first_success, number, numbers
from symattn.derivation.mechanisms.drawing_blocks import Sublayers
from symattn.derivation.mechanisms.encoder import exact_scores, whole_numbers
from symattn.derivation.mechanisms.encoder_block import fed_forward, second_half, sublayer
from symattn.derivation.mechanisms.layer_norm import normable
from symattn.derivation.mechanisms.multi_head_attention import heads, output_and_biases, projections
from symattn.derivation.mechanisms.settings import HEADS, NORM, SCORES, Givens, Settings, Sizes
from symattn.exact import Matrix


def derive(d: Derivation, settings: Settings, sizes: Sizes) -> Derivation:
    """The last step is the block's output: N3 in post-norm, R3 in pre-norm or without norms."""
    d, source = _attended(d, settings, sizes, "X", "self")
    d, source = _attended(d, settings, sizes, source, "cross")
    return fed_forward(d, settings, 3, source)


def _attended(d: Derivation, settings: Settings, sizes: Sizes, source: str, place: str) -> tuple[Derivation, str]:
    """One of the attentions with its residual and its norm, and what its result is called.

    Only self-attention is masked: every token may see all of E.
    """
    memory = "E" if place == "cross" else ""
    chosen = replace(settings, mask=None) if memory else settings
    own = {**sizes, "m": sizes["m" if memory else "n"]}
    number = 2 if memory else 1
    return sublayer(d, settings, number, source, lambda d, x: heads(d, chosen, own, x, memory, place))


# ------------------------------------------------------------------------------------------ random numbers


def draw(settings: Settings, sizes: Sizes, rng: Random) -> Givens:
    """Weights for one sublayer after the other; where arithmetic is exact, norms come out (see `drawing_blocks`)."""
    if settings.norm == "none" and settings.arithmetic == "exact":
        return _without_norms(settings, sizes, rng)
    m, width, source = numbers(sizes, "m", "d_model", "d_source")
    normable(width, settings)
    sublayers = Sublayers(settings, sizes, rng)

    def drawn() -> Givens | None:
        start = sublayers.started()
        own = start and sublayers.attended(start[1], place="self", before_attention=True)
        if not start or not own:
            return None
        for _ in range(AGAIN):
            e = entries(m, source, rng)
            across = sublayers.attended(own[1], memory=e, place="cross")
            layers = across and sublayers.fed_forward(across[1])
            if across and layers:
                return {"X": start[0], "E": Matrix(e), **own[0], **across[0], **layers[0]}
        return None

    return first_success(drawn, "a block whose norms come out exactly (with arithmetic = decimal they need not)")


AGAIN = 20
"""Draws of later sublayers until the block is begun again."""


def _without_norms(settings: Settings, sizes: Sizes, rng: Random) -> Givens:
    """Where what a sublayer starts from is no matrix of whole numbers, the inputs stand in for it."""
    n, m, width, source = numbers(sizes, "n", "m", "d_model", "d_source")

    def drawn() -> Givens | None:
        x, e = entries(n, width, rng), entries(m, source, rng)
        givens, stream = {"X": Matrix(x), "E": Matrix(e)}, x
        for place in ("self", "cross"):
            memory, chosen = (e, replace(settings, mask=None)) if place == "cross" else (stream, settings)
            weights = attention_weights(stream, memory, chosen, {**sizes, "d_out": width}, rng, place)
            if weights is None:
                return None
            givens |= weights
            alone = Derivation({"X": Matrix(stream), "E": Matrix(e), **weights})
            after = _attended(alone, settings, sizes, "X", place)[0].last.result
            if place == "self" and not exact_scores(after, settings):
                return None
            stream = whole_numbers(after) or x
        layers = second_half([list(row) for row in stream], settings, number(sizes, "d_ff"), rng)
        return layers and {**givens, **layers}

    return first_success(drawn, "weights that are worth setting")


_OUTPUT = output_and_biases("d_model")
_NORMS = {f"{letter}_{i}": ("1", "d_model") for i in (1, 2, 3) for letter in ("gamma", "beta")}

MECHANISM = Mechanism(
    name="decoder_block",
    title="Decoder block",
    givens={
        "X": ("n", "d_model"),
        "E": ("m", "d_source"),
        **{f"{name}^self": shape for name, shape in projections().items()},
        **{f"{name}^cross": shape for name, shape in projections("d_source").items()},
        "W_1": ("d_model", "d_ff"),
        "W_2": ("d_ff", "d_model"),
    },
    optional={
        **{f"{name}^{place}": shape for place in ("self", "cross") for name, shape in _OUTPUT.items()},
        "b_1": ("1", "d_ff"),
        "b_2": ("1", "d_model"),
        **_NORMS,
    },
    usual=("W_O^self", "W_O^cross", "b_1", "b_2"),
    defaults={"mask": "causal"},
    drawn={"arithmetic": "decimal"},  # exact wrong answers after a wrong norm are pages of roots
    drawn_exactly={"base": 2},  # rational weights, so that norms come out
    uses=(SCORES - {"bias"}) | HEADS | NORM | {"function"},  # ALiBi counts how far tokens of one sequence are apart
    default_sizes={"n": 2, "m": 3, "d_model": 4, "d_source": 2, "d_k": 4, "d_v": 3, "d_ff": 2},
    derive=derive,
    draw=draw,
)
