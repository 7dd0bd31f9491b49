"""Decoding with a key/value cache: one token after the other, each against the keys and values kept so far.

Every token is projected once and its key and value are appended; its query is used once and forgotten (Shazeer 2019,
section 2.4).  What comes out is what a causal pass over all tokens gives, for a token never sees a later one.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from symattn.derivation.derivation import Derivation, Operand, row_of, transposed
from symattn.derivation.mechanisms.base import Mechanism
from symattn.derivation.mechanisms.drawing import attention_weights, entries, first_success, numbers
from symattn.derivation.mechanisms.masks import masks
from symattn.derivation.mechanisms.settings import Givens, Settings, Sizes
from symattn.derivation.mechanisms.steps import BIASES, PROJECTIONS, Scope, Section, affine, scale_op
from symattn.derivation.ops.attention import Mask, Softmax, causal
from symattn.derivation.ops.linear import Append, MatMul
from symattn.errors import InputError, LetterError
from symattn.exact import Matrix
from symattn.foundation.languages import message


def derive(d: Derivation, settings: Settings, sizes: Sizes) -> Derivation:
    n = sizes["n"]
    if not isinstance(n, int):
        raise LetterError(f"Token by token, the number of tokens must be a number, not {n}.")
    if masks(settings.mask) not in (None, masks("causal")):
        raise InputError(
            f"The mask is {settings.mask!r}; with a cache a token sees itself and all before it, as causal."
        )
    scale = scale_op(settings.scale, sizes)
    for t in range(1, n + 1):
        lines, before = Section(d, Scope(token=t)), Scope(token=t - 1)
        now = lines.scope
        for role in settings.order:
            row, weights = row_of("X", t - 1), f"W_{role}"
            lines.d = affine(lines.d, now(role), row, weights, f"b_{role}", settings.activation, now.section)
        for role in "KV":
            kept = (before(f"{role}_cache"),) if t > 1 else ()
            lines.add(f"{role}_cache", Append(), *kept, now(role))  # t × d
        last = lines.add("S", MatMul(), now("Q"), transposed(now("K_cache")))  # 1 × t
        if scale:
            last = lines.add("S'", scale, last)
        last = lines.add("A", Softmax("rows", settings.base), last)
        if settings.rounding:
            last = lines.add("A_rounded", settings.rounding.op(), last)
        lines.add("Z", MatMul(), last, now("V_cache"))  # 1 × d_v
        d = lines.d
    return d.then("Z", Append(), *(f"Z.{t}" for t in range(1, n + 1)), section=message("all tokens"))


def full_pass(d: Derivation) -> Derivation:
    """The same output for all tokens at once, under a causal mask."""
    full, n = Derivation(d.givens), d.givens["X"].shape[0]
    assert isinstance(n, int)
    mask = Mask(causal(n, n), kind="causal")
    for step in (step for step in d if step.token == 1 and not isinstance(step.op, Append)):
        if step.role == "A":
            full = full.then("M", mask, full.last.name).then("A", step.op, "M")
        else:
            full = full.then(step.role, step.op, *(_whole(operand) for operand in step.operands))
    return full


def _whole(operand: Operand) -> Operand:
    """What all tokens have where one token has its own: Q for Q.1, K for what is kept of it."""
    return replace(operand, name=operand.name.partition(".")[0].removesuffix("_cache"), row=None)


def draw(settings: Settings, sizes: Sizes, rng: Random) -> Givens:
    """Inputs and weights as for a causal pass."""
    n, width = numbers(sizes, "n", "d_model")
    own, wide = replace(settings, mask="causal"), {**sizes, "d_out": sizes["d_v"]}

    def givens() -> Givens | None:
        x = entries(n, width, rng)
        weights = attention_weights(x, x, own, wide, rng)
        return weights and {"X": Matrix(x), **{name: weights[name] for name in ("W_Q", "W_K", "W_V")}}

    return first_success(givens, "weights that are neither uniform nor saturated")


MECHANISM = Mechanism(
    name="kv_cache",
    title="Decoding with a key/value cache",
    givens={"X": ("n", "d_model"), **PROJECTIONS},
    optional=BIASES,
    default_sizes={"n": 3, "d_model": 3, "d_k": 4, "d_v": 2},
    draw=draw,
    derive=derive,
    other_way=full_pass,
)
