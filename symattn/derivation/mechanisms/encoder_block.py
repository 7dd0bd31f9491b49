"""One block of the encoder: attention and a feed-forward network, each with a residual and a norm.

Post-norm, LN(x + f(x)), is Vaswani et al. 2017, section 3.1; pre-norm, x + f(LN(x)), is Xiong et al. 2020, section 3.1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms.base import Mechanism
from symattn.derivation.mechanisms.drawing import (
    attention_weights,
    entries,
    first,
    first_success,
    number,
    numbers,
    plus,
    product,
    tried,
)
from symattn.derivation.mechanisms.drawing_blocks import Sublayers, rational
from symattn.derivation.mechanisms.feed_forward import BIASES, drawn_hidden, feed_forward
from symattn.derivation.mechanisms.layer_norm import (
    Grid,
    can_be_normed,
    comes_out,
    drawn_output,
    normable,
    normalise,
    normed,
    whole_rows_to_norm,
)
from symattn.derivation.mechanisms.multi_head_attention import heads, output_and_biases, projections
from symattn.derivation.mechanisms.settings import HEADS, NORM, SCORES, Givens, Settings, Sizes
from symattn.derivation.mechanisms.steps import layer_words
from symattn.derivation.ops.linear import Add
from symattn.errors import ShapeError
from symattn.exact import Matrix


def encoder_block(d: Derivation, settings: Settings, sizes: Sizes, source: str = "X", place: str = "") -> Derivation:
    """The whole block from its input `source`; the last step is its output: N2 in post-norm, R2 in pre-norm."""
    d, source = sublayer(d, settings, 1, source, lambda d, x: heads(d, settings, sizes, x, place=place), place)
    return fed_forward(d, settings, 2, source, place)


def fed_forward(d: Derivation, settings: Settings, number: int, source: str, place: str = "") -> Derivation:
    """The last sublayer of a block, its feed-forward network."""
    return sublayer(d, settings, number, source, lambda d, x: feed_forward(d, settings, x, place), place)[0]


def sublayer(
    d: Derivation,
    settings: Settings,
    number: int,
    source: str,
    work: Callable[[Derivation, str], Derivation],
    place: str = "",
) -> tuple[Derivation, str]:
    """A sublayer with its residual and its norm, and what its result is called.

    In post-norm N1 = LN(x + f(x)), in pre-norm R1 = x + f(LN(x)), with the number of the sublayer.
    """
    pre = settings.norm_place == "pre"
    d, inside = normalise(d, f"N{number}", source, settings, place) if pre else (d, source)
    d = work(d, inside)
    d, total = residual(d, f"R{number}", source, d.last.name, place)
    return (d, total) if pre else normalise(d, f"N{number}", total, settings, place)


def residual(d: Derivation, name: str, source: str, added: str, place: str = "") -> tuple[Derivation, str]:
    """source + added, which must be of one shape, and what the sum is called."""
    shapes = d.value(source).shape, d.value(added).shape
    if shapes[0] != shapes[1]:
        (rows, columns), (more, others) = shapes
        raise ShapeError(
            f"The residual {name} adds {added} ({more}×{others}) to {source} ({rows}×{columns}); both must have the "
            "same shape, so that what a sublayer gives must be as wide as its input."
        )
    name = f"{name}^{place}" if place else name
    return d.then(name, Add(), source, added, section=layer_words(place)), name


# ------------------------------------------------------------------------------------------------ random numbers

TRIES = 2000
"""Draws of one half of the block until what it starts from is drawn again."""


def draw(settings: Settings, sizes: Sizes, rng: Random) -> Givens:
    """Numbers for the whole block; all norms come out where arithmetic and the weights of attention are exact.

    In pre-norm powers of e may have fractions as exponents; those of 2 need whole ones.
    """
    whole_exponents = settings.norm_place == "pre" and settings.norm != "none" and settings.base != "e"
    if settings.arithmetic != "exact" or whole_exponents:
        return _by_sublayers(settings, sizes, rng)

    def drawn() -> Givens | None:
        if (half := _first_half(settings, sizes, rng)) is None:
            return None
        givens, sums = half
        layers = second_half(sums, settings, number(sizes, "d_ff"), rng)
        return layers and {**givens, **layers}

    return first_success(drawn, "a block whose norms come out exactly (with arithmetic = decimal they need not)")


def _by_sublayers(settings: Settings, sizes: Sizes, rng: Random) -> Givens:
    sublayers = Sublayers(settings, sizes, rng)
    normable(number(sizes, "d_model"), settings)

    def drawn() -> Givens | None:
        start = sublayers.started()
        own = start and sublayers.attended(start[1])
        layers = own and sublayers.fed_forward(own[1])
        return {"X": start[0], **own[0], **layers[0]} if start and own and layers else None

    return first_success(drawn, "a block that is worth setting")


def _first_half(settings: Settings, sizes: Sizes, rng: Random) -> tuple[Givens, Grid] | None:
    """Inputs, weights of attention, and R1; None if no draw has a rational norm.

    In pre-norm the norm of the inputs does.  Where R1 is irrational its norm cannot, and the inputs stand in for R1.
    """
    n, width = numbers(sizes, "n", "d_model")
    pre = settings.norm_place == "pre" and settings.norm != "none"
    x = whole_rows_to_norm(n, width, settings, rng) if pre else entries(n, width, rng)
    weights = attention_weights(x, x, settings, {**sizes, "d_out": width}, rng)
    if weights is None:
        return None
    inputs: Grid = [list(row) for row in x]
    givens = {"X": Matrix(x), **weights}
    del weights["W_O"]
    attended = tried(heads(Derivation({"X": Matrix(x), **weights}), settings, sizes), rng)
    outputs = None if pre else rational(attended.last.result)
    if outputs is None:
        return givens, inputs
    drawn = drawn_output(inputs, outputs, (0,), settings, rng)
    if drawn is None:
        return None
    w_o, _ = drawn
    return {**givens, "W_O": Matrix(w_o)}, plus(inputs, product(outputs, w_o))


def second_half(sums: Grid, settings: Settings, d_ff: int, rng: Random) -> Givens | None:
    """Weights of the feed-forward network after R1; in post-norm the norm of R2 comes out where that of R1 does."""
    inside = [normed(row, settings) or row for row in sums]
    post = settings.norm_place == "post"
    judged = replace(settings, norm=settings.norm if post and comes_out(sums, settings) else "none")

    def layers() -> tuple[Givens, Grid] | None:
        drawn = drawn_hidden(inside, d_ff, settings, rng)
        return drawn if drawn and (judged.norm == "none" or can_be_normed(drawn[1])) else None

    if (drawn := first(layers, TRIES)) is None:
        return None
    given, hidden = drawn
    ended = drawn_output(inside if post else sums, hidden, BIASES, judged, rng)
    if ended is None:
        return None
    w_2, b_2 = ended
    return {**given, "W_2": Matrix(w_2), "b_2": Matrix([b_2])}


MECHANISM = Mechanism(
    name="encoder_block",
    title="Encoder block",
    givens={
        "X": ("n", "d_model"),
        **projections(),
        "W_1": ("d_model", "d_ff"),
        "W_2": ("d_ff", "d_model"),
    },
    optional={
        **output_and_biases("d_model"),
        "gamma_1": ("1", "d_model"),
        "beta_1": ("1", "d_model"),
        "b_1": ("1", "d_ff"),
        "b_2": ("1", "d_model"),
        "gamma_2": ("1", "d_model"),
        "beta_2": ("1", "d_model"),
        "B": ("n", "n"),
        "B_{head}": ("n", "n"),
    },
    usual=("W_O", "b_1", "b_2"),
    drawn={"base": 2},  # rational weights, so that norms come out
    uses=SCORES | HEADS | NORM | {"function"},
    default_sizes={"n": 2, "d_model": 4, "d_k": 4, "d_v": 2, "d_ff": 2},
    derive=encoder_block,
    draw=draw,
)
