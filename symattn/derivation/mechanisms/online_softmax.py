"""Attention without all scores at once: the online softmax (Milakov and Gimelshein 2018, algorithm 3).

Keys and values come in blocks of `tile`.  Each row keeps a running maximum m, a running sum l of e^(s − m) and a
running output, which is divided by l only at the end (Dao 2023, FlashAttention-2, section 3.1.1; algorithm 1 of Dao et
al. 2022 divides in every block).
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import chain
from random import Random

from symattn.derivation.derivation import Derivation, transposed
from symattn.derivation.mechanisms.base import Mechanism
from symattn.derivation.mechanisms.drawing import (
    ENTRIES,
    TRIES,
    Rows,
    divisor,
    dull,
    first_success,
    neither_flat_nor_steep,
    numbers,
    projection,
    scores_seen,
    small,
)
from symattn.derivation.mechanisms.masks import mask_keep
from symattn.derivation.mechanisms.settings import Givens, Settings, Sizes
from symattn.derivation.mechanisms.steps import Scope, Section, mask_op, scale_op
from symattn.derivation.ops.attention import Mask, Softmax
from symattn.derivation.ops.linear import MatMul, Slice, Stack, SumOver
from symattn.derivation.ops.online import Accumulate, Exponentials, RunningMaximum
from symattn.derivation.ops.scores import Bias, Over
from symattn.errors import InputError, LetterError
from symattn.exact import Matrix
from symattn.foundation.dice import pick
from symattn.foundation.languages import message


def derive(d: Derivation, settings: Settings, sizes: Sizes) -> Derivation:
    n, m = sizes["n"], sizes["m"]
    if not isinstance(m, int):
        raise LetterError("Block by block, the number of keys m must be a number.")
    if settings.rounding:
        raise InputError("The online softmax has no weights that could be rounded.")
    scale, mask = scale_op(settings.scale, sizes), mask_op(settings, n, m)
    for block, start in enumerate(range(0, m, settings.tile), 1):
        lines, before = Section(d, Scope(block), message("block {block}", block=block)), Scope(block - 1)
        count = min(settings.tile, m - start)
        keys, values = (lines.add(name, Slice(start, count, of="rows"), name) for name in ("K", "V"))
        scores = lines.add("S", MatMul(), "Q", transposed(keys))  # n × count
        if scale:
            scores = lines.add("S'", scale, scores)
        if mask:
            scores = lines.add("M", _columns(mask, start, count), scores)
        earlier = (before("m"),) if block > 1 else ()
        largest = lines.add("m", RunningMaximum(), *earlier, scores)  # n × 1
        powers = lines.add("powers", Exponentials("rows", settings.base), scores, largest)
        if not earlier:
            lines.add("l", SumOver("columns"), powers)  # n × 1
            lines.add("O_run", MatMul(), powers, values)  # n × d_v
        else:
            factor = lines.add("alpha", Exponentials("rows", settings.base), *earlier, largest)  # n × 1
            lines.add("l", Accumulate(), factor, before("l"), lines.add("r", SumOver("columns"), powers))
            lines.add("O_run", Accumulate(), factor, before("O_run"), lines.add("U", MatMul(), powers, values))
        d, last = lines.d, lines.scope
    return d.then("Z", Over(), last("O_run"), last("l"), section=message("the end"))


def _columns(mask: Mask | Bias, start: int, count: int) -> Mask | Bias:
    """A mask's part for some of the keys."""
    if isinstance(mask, Bias):
        return replace(mask, values=Slice(start, count).apply(mask.values))
    return replace(mask, keep=tuple(row[start : start + count] for row in mask.keep))


def plain(d: Derivation) -> Derivation:
    """The same output with all scores at once and one softmax."""
    plain = Derivation(d.givens).then("S", MatMul(), "Q", transposed("K"))
    if "S'_1" in d:
        plain = plain.then("S'", d["S'_1"].op, "S")
    masks = [step.op for step in d if isinstance(step.op, Mask)]
    biases = [step.op.values for step in d if isinstance(step.op, Bias)]
    if masks:
        keep = tuple(tuple(chain(*rows)) for rows in zip(*(mask.keep for mask in masks), strict=True))
        plain = plain.then("M", replace(masks[0], keep=keep), plain.last.name)
    if biases:
        plain = plain.then("M", Bias(Stack("columns").apply(*biases)), plain.last.name)
    exponentials = d["powers_1"].op
    assert isinstance(exponentials, Exponentials)
    return plain.then("A", Softmax("rows", exponentials.base), plain.last.name).then("Z", MatMul(), "A", "V")


# ------------------------------------------------------------------------------------------ random numbers


def draw(settings: Settings, sizes: Sizes, rng: Random) -> Givens:
    """Queries that are looked up by their scores: the maximum of the first one grows on the way, that of the last one
    does not, so that sums are rescaled, and are not."""
    n, m, d_k, d_v = numbers(sizes, "n", "m", "d_k", "d_v")
    by, keep = divisor(settings, sizes), mask_keep(settings.mask, n, m)
    twins = by == 2 and d_k % 2 == 0

    def query() -> list[int]:
        drawn = [pick(rng, ENTRIES) for _ in range(d_k)]
        for j in range(1, d_k, 2) if twins else ():  # even where keys are, so that half of every score is whole
            drawn[j] = pick(rng, (-1, 1)) if drawn[j - 1] else 0
        return drawn

    def suits(i: int, query: list[int], keys: Rows) -> bool:
        scores, seen = scores_seen(query, keys, by, keep, i)
        spread = neither_flat_nor_steep(seen)
        neat = all(s.is_integer() for s in scores) or not by.is_integer()
        grows = max(seen, default=-math.inf) > max(scores[: settings.tile])
        return spread and neat and (grows == (i < n - 1 or n == 1) or keep is not None or m <= settings.tile)

    def queries() -> tuple[Rows, Rows] | None:
        keys, tries = projection(m, d_k, twins, rng), [query() for _ in range(TRIES)]
        fit = [[query for query in tries if suits(i, query, keys)] for i in range(n)]
        if not all(fit):
            return None
        chosen = ([pick(rng, listed) for listed in fit] for _ in range(TRIES))
        return next(((q, keys) for q in chosen if not dull(q)), None)

    q, k = first_success(queries, "scores with a maximum that grows")
    return {"Q": Matrix(q), "K": Matrix(k), "V": Matrix(small(m, d_v, 3, rng))}


MECHANISM = Mechanism(
    name="online_softmax",
    title="Attention by the online softmax",
    givens={"Q": ("n", "d_k"), "K": ("m", "d_k"), "V": ("m", "d_v")},
    uses=frozenset({"tile"}),
    default_sizes={"n": 2, "m": 4, "d_k": 4, "d_v": 2},
    draw=draw,
    derive=derive,
    other_way=plain,
)
