"""A stack of encoder blocks: Vaswani et al. 2017, section 3.1.

Each block has weights of its own and starts from what the one below gives.  A last norm follows where its γ or β is
given, as pre-norm stacks have it (Xiong et al. 2020, section 3.1).
"""

from __future__ import annotations

from random import Random

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms.base import Mechanism, Shapes
from symattn.derivation.mechanisms.drawing import (
    Rows,
    attention_weights,
    entries,
    first,
    first_success,
    number,
)
from symattn.derivation.mechanisms.drawing_blocks import Stream, Sublayers, rational, whole_rows
from symattn.derivation.mechanisms.encoder_block import MECHANISM as BLOCK
from symattn.derivation.mechanisms.encoder_block import encoder_block, residual, second_half
from symattn.derivation.mechanisms.layer_norm import normable, normalise
from symattn.derivation.mechanisms.multi_head_attention import heads
from symattn.derivation.mechanisms.settings import Givens, Settings, Sizes
from symattn.derivation.mechanisms.steps import layer_words
from symattn.derivation.ops.gradient import Copy
from symattn.errors import InputError
from symattn.exact import AnyMatrix, Matrix


def derive(d: Derivation, settings: Settings, sizes: Sizes) -> Derivation:
    source = "X"
    for block in range(1, settings.blocks + 1):
        if block > 1:
            d, source = d.then(f"X^{block}", Copy(), source, section=layer_words(str(block))), f"X^{block}"
        d = encoder_block(d, settings, sizes, source, str(block))
        source = d.last.name
    if "gamma" in d.givens or "beta" in d.givens:
        return normalise(d, "Y", source, settings)[0]
    return d.then("Y", Copy(), source)


def draw(settings: Settings, sizes: Sizes, rng: Random) -> Givens:
    """Weights for one block after the other; where arithmetic is exact, norms come out (see `drawing_blocks`)."""
    if settings.norm == "none" and settings.arithmetic == "exact":
        return _without_norms(settings, sizes, rng)
    sublayers = Sublayers(settings, sizes, rng)
    normable(number(sizes, "d_model"), settings)

    def block(stream: Stream, is_last: bool) -> tuple[Givens, Stream] | None:
        if (own := sublayers.attended(stream, before_attention=True)) is None:
            return None
        layers = sublayers.fed_forward(own[1], before_attention=not is_last)
        return layers and ({**own[0], **layers[0]}, layers[1])

    def drawn() -> Givens | None:
        if (start := sublayers.started()) is None:
            return None
        givens, stream = {"X": start[0]}, start[1]
        for k in range(1, settings.blocks + 1):
            tries = (
                1 if k == 1 else AGAIN if settings.arithmetic == "exact" else FEWER
            )  # other inputs are as good as other weights
            made = first(lambda stream=stream, k=k: block(stream, k == settings.blocks), tries)  # type: ignore[misc]
            if made is None:
                return None
            givens |= {f"{name}^{k}": matrix for name, matrix in made[0].items()}
            stream = made[1]
        return givens

    return first_success(drawn, "blocks that are worth setting", SHEETS)


SHEETS, AGAIN, FEWER = 1000, 15, 2
"""Draws of the whole stack; draws of a later block until the stack is begun again: exactly, and in decimals."""


def _without_norms(settings: Settings, sizes: Sizes, rng: Random) -> Givens:
    """Weights for one block after the other; the inputs stand in for what a block gives, where that is not whole."""

    def drawn() -> Givens | None:
        x = entries(number(sizes, "n"), number(sizes, "d_model"), rng)
        givens, source = {"X": Matrix(x)}, x
        for block in range(1, settings.blocks + 1):
            weights = _block(source, settings, sizes, rng)
            if weights is None:
                return None
            givens |= {f"{name}^{block}": matrix for name, matrix in weights.items()}
            alone = encoder_block(Derivation({"X": Matrix(source), **weights}), settings, sizes)
            if block < settings.blocks and not exact_scores(alone.last.result, settings):
                return None
            source = whole_numbers(alone.last.result) or x
        return givens

    return first_success(drawn, "blocks that are worth setting")


def _block(source: Rows, settings: Settings, sizes: Sizes, rng: Random) -> Givens | None:
    width = number(sizes, "d_model")
    weights = attention_weights(source, source, settings, {**sizes, "d_out": width}, rng)
    if weights is None:
        return None
    attended = heads(Derivation({"X": Matrix(source), **weights}), settings, sizes)
    sums, _ = residual(attended, "R1", "X", attended.last.name)
    rows = whole_numbers(sums.last.result) or source
    layers = second_half([list(row) for row in rows], settings, number(sizes, "d_ff"), rng)
    return layers and {**weights, **layers}


def exact_scores(m: AnyMatrix, settings: Settings) -> bool:
    """Whether scores of these tokens can become weights exactly: powers need whole exponents.

    `InputError` where no draw could change that.
    """
    if settings.weights != "softmax" or whole_numbers(m) is not None:
        return True
    if rational(m) is None:
        raise InputError(
            "These settings make what the next attention sees irrational, and its weights powers with irrational "
            "exponents: arithmetic = decimal takes any; exactly, weights by hardmax leave room."
        )
    return False


def whole_numbers(m: AnyMatrix) -> Rows | None:
    """The rows of a matrix of whole numbers, none for any other."""
    rows = rational(m)
    return whole_rows(rows) if rows else None


def in_each_block(named: Shapes) -> Shapes:
    """The givens of a block as those of every block; X and biases of scores are those of the whole stack."""
    return {name if name in ("X", "B", "B_{head}") else f"{name}^{{block}}": shape for name, shape in named.items()}


MECHANISM = Mechanism(
    name="encoder",
    title="Encoder: a stack of blocks",
    givens=in_each_block(BLOCK.givens),
    optional={**in_each_block(BLOCK.optional), "gamma": ("1", "d_model"), "beta": ("1", "d_model")},
    usual=tuple(f"{name}^{{block}}" for name in BLOCK.usual),
    defaults={"blocks": 2},
    drawn={"arithmetic": "decimal"},  # what a second block sees is hardly ever rational
    drawn_exactly={"norm": "none", "weights": "hardmax", "scale": "none"},  # whole numbers all the way
    uses=BLOCK.uses | {"blocks"},
    default_sizes={"n": 2, "d_model": 4, "d_k": 4, "d_v": 2, "d_ff": 2},
    derive=derive,
    draw=draw,
)
