"""Steps that mechanisms have in common: projections, and the way from Q, K and V to the output."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from symattn.derivation.derivation import Derivation, Operand, row_of, transposed
from symattn.derivation.mechanisms.scores import mask_op, scale_op, score_changes, weights_op
from symattn.derivation.mechanisms.sections import NO_SCOPE, Scope, Section, layer_words
from symattn.derivation.mechanisms.settings import Settings
from symattn.derivation.ops.attention import Mask, Softmax
from symattn.derivation.ops.entrywise import Activation
from symattn.derivation.ops.linear import Add, Hadamard, MatMul, Scale, Stack, SumOver
from symattn.derivation.sizes import Axis
from symattn.errors import InputError, LetterError
from symattn.exact import Size


def affine(
    d: Derivation,
    name: str,
    source: str | Operand,
    weights: str,
    bias: str,
    function: str = "identity",
    section: str = "",
) -> Derivation:
    """f(source · weights + bias), with the bias if it is given; what comes before is Q_product and Q_linear for Q."""
    linear = name if function == "identity" else _unfinished(name, "linear")
    product = _unfinished(name, "product") if bias in d.givens else linear
    d = d.then(product, MatMul(), source, weights, section=section)
    if product != linear:
        d = d.then(linear, Add(), product, bias, section=section)
    return d if linear == name else d.then(name, Activation(function), linear, section=section)


def _unfinished(name: str, so_far: str) -> str:
    """Q_linear^self for Q^self."""
    return re.sub(r"(?=[\^.])|$", f"_{so_far}", name, count=1)


def project(d: Derivation, role: str, settings: Settings, source: str = "X", place: str = "") -> Derivation:
    """Q = X W_Q, with a bias and an activation where there are any.

    `source` is what is projected, in place of X; `place` says in which layer: Q^self = X W_Q^self.
    """
    at = f"^{place}" if place else ""
    return affine(d, role + at, source, f"W_{role}{at}", f"b_{role}{at}", settings.activation, layer_words(place))


def attend(
    d: Derivation,
    settings: Settings,
    sizes: Mapping[str, Size],
    scope: Scope = NO_SCOPE,
    operands: tuple[str, str, str] | None = None,
) -> Derivation:
    """softmax(Q Kᵀ / √d_k + mask) V (Vaswani et al. 2017, section 3.2.1, equation 1).

    `operands` are the names of Q, K and V where they are not those of the scope (heads that share keys).  Scores may be
    changed on the way: divided by a temperature, capped, biased; the order is that of scale, temperature, cap, bias,
    mask.
    """
    n, m = sizes["n"], sizes.get("m", sizes["n"])
    q, k, v = operands or (scope("Q"), scope("K"), scope("V"))
    scale = scale_op(settings.scale, sizes)
    mask = mask_op(settings, n, m)
    if settings.by == "token":
        if not isinstance(n, int):
            raise LetterError("Token by token, the number of tokens must be a number.")
        changed = [name for name in ("temperature", "cap", "bias") if getattr(settings, name)]
        changed += ["B"] if "B" in d.givens else []
        if changed or scope != NO_SCOPE or settings.weights != "softmax" or not isinstance(mask, Mask | None):
            raise InputError(
                "Token by token there is one head, a softmax, and only scale and mask before it; what else is done "
                "to scores goes matrix by matrix (by = 'matrix')."
            )
        return _attend_by_token(d, settings, n, scale, mask)
    lines = Section(d, scope)
    last = lines.add("S", MatMul(), q, transposed(k))  # n × m, row i: query i against every key
    if scale:
        last = lines.add("S'", scale, last)
    for stem, op, *others in score_changes(d, settings, scope, (n, m)):
        last = lines.add(stem, op, last, *others)
    if mask:
        last = lines.add("M", mask, last)
    lines.add("A", weights_op(settings), last)
    return mix(lines.d, settings, scope, v)


def mix(d: Derivation, settings: Settings, scope: Scope = NO_SCOPE, values: str = "V") -> Derivation:
    """From the weights A to the output Z: the values weighted and summed, with the weights rounded first if asked."""
    lines, weights = Section(d, scope), scope("A")
    if settings.rounding:
        weights = lines.add("A_rounded", settings.rounding.op(), weights)
    lines.add("Z", MatMul(), weights, values)  # n × d_v
    return lines.d


def _attend_by_token(d: Derivation, settings: Settings, n: int, scale: Scale | None, mask: Mask | None) -> Derivation:
    """The same, one token after the other: its scores, its weights, the values times the weights, their sum."""
    upright = settings.scores == "column"
    along: Axis = "columns" if upright else "rows"
    for t in range(n):
        lines = Section(d, Scope(token=t + 1))
        last = lines.add("S", MatMul(), *(("K", transposed("Q", t)) if upright else (row_of("Q", t), transposed("K"))))
        if scale:
            last = lines.add("S'", scale, last)
        if mask:
            own = replace(mask, keep=mask.keep[t : t + 1])
            last = lines.add("M", own.turn() if upright else own, last)
        weights = lines.add("A", Softmax(along, settings.base, settings.empty), last)
        d = mix_token(lines.d, settings, t, Operand(weights), along)
    return gather(d, n)


def mix_token(d: Derivation, settings: Settings, t: int, weights: Operand, along: Axis = "rows") -> Derivation:
    """One token's output: every value times its weight, then the sum; weights stand `along` a row or a column."""
    lines = Section(d, Scope(token=t + 1))
    if settings.rounding:
        weights = Operand(lines.add("A_rounded", settings.rounding.op(along), weights))
    below = weights.flipped if along == "rows" else weights
    weighted = lines.add("weighted", Hadamard(), below, "V")  # n × d_v
    lines.add("Z", SumOver("rows"), weighted)  # 1 × d_v
    return lines.d


def gather(d: Derivation, n: int) -> Derivation:
    """The tokens' outputs put together: Z."""
    return d.then("Z", Stack("rows"), *(f"Z.{t + 1}" for t in range(n)))
