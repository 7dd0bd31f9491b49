"""What programs get wrong and hand calculations do not: no part of the catalogue, which is for what is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from symattn.derivation.algebra import Algebra, Entries, Index, T
from symattn.derivation.derivation import Derivation, RuleOp, Shape, StepName, Style
from symattn.derivation.misconceptions import misconceptions
from symattn.derivation.misconceptions.base import (
    Change,
    Misconception,
    ReplacementOp,
    Rewritten,
    reshaped,
    step_of_kind,
)
from symattn.derivation.misconceptions.mask import hidden_as, masking
from symattn.derivation.misconceptions.scores import divided_by, rewritten
from symattn.derivation.ops.attention import Softmax
from symattn.derivation.ops.linear import MatMul
from symattn.exact import Matrix, Value, divide, logarithm
from symattn.formula import Formula


@dataclass(frozen=True)
class OverHeads(RuleOp):
    """b^x over the sum of b^x of the same entry in all heads, of head number `head` (from 0)."""

    of: Softmax
    head: int
    arity = -1

    def shape(self, *shapes: Shape) -> Shape:
        return shapes[self.head]

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        powers = [A.exponential(s[i, j], self.of.base) for s in operands]
        return A.quotient(powers[self.head], A.sum(*powers))

    def written(self, style: Style, *operands: Formula) -> Formula:
        return self.of.written(style, operands[self.head])


def _over_heads(d: Derivation) -> Rewritten | None:
    heads = [step for step in d if StepName.of(step.name).stem == "A" and isinstance(step.op, Softmax)]
    if len(heads) < 2:
        return None
    scores = tuple(operand for step in heads for operand in step.operands)
    if len({d.operand(operand).shape for operand in scores}) != 1:
        return None
    return {
        step.name: replace(step, operands=scores, op=OverHeads(step.op, head))
        for head, step in enumerate(heads)
        if isinstance(step.op, Softmax)
    }


def _logarithms(d: Derivation) -> Rewritten | None:
    """The logarithms of the weights; none where a weight is 0."""
    place = step_of_kind(d, "A", Softmax)
    if place is None or (isinstance(place[0].result, Matrix) and 0 in place[0].result):
        return None
    return {"A": place[0].with_op(ReplacementOp(place[1], _logarithm_of))}


def _logarithm_of(of: Softmax, scores: Matrix) -> Matrix:
    return of.apply(scores).map(logarithm)


def _wrong_way_round(d: Derivation) -> Rewritten | None:
    """What may be seen is hidden, with a large number: where that is everything, all weights are equal."""
    place, weights = masking(d), step_of_kind(d, "A", Softmax)
    if place is None or weights is None:
        return None
    step, mask = place
    keep = tuple(tuple(not seen for seen in row) for row in mask.keep)
    even = ReplacementOp(weights[1], _even_where_hidden)
    return {"M": step.with_op(replace(mask, keep=keep)), "A": weights[0].with_op(even)}


def _even_where_hidden(of: Softmax, scores: Matrix) -> Matrix:
    seen = replace(of, empty="zero").apply(scores)
    share: Value = divide(1, scores.shape[1])
    return Matrix.of(row if any(x != 0 for x in row) else [share] * len(row) for row in seen.rows)


def _with_reshaped(of: MatMul, queries: Matrix, turned: Matrix) -> Matrix:
    """Scores with the numbers of the keys in their order, in the shape of the transpose."""
    return of.apply(queries, reshaped(turned.T, turned.shape[1]))


def _entry(id: str, name: str, at: str, change: Change, exactly: str, feedback: str) -> Misconception:
    return Misconception(id, name, at, change, exactly, "", feedback, "experience", "medium")


MISCONCEPTIONS = (
    _entry(
        "I1",
        "logarithm of the weights",
        "A",
        _logarithms,
        "a_ij = ln softmax(s)_ij (log_softmax)",
        "Values are averaged with the weights themselves; log_softmax is for losses.",
    ),
    _entry(
        "I2",
        "softmax over the heads",
        "A",
        _over_heads,
        "a_ij of head h is e^{m_ij} over the sum of e^{m_ij} over all heads (axis 0 of h × n × m)",
        "Normalise over the keys, the last axis: every head has weights of its own.",
    ),
    _entry(
        "I3",
        "mask added as 1 and 0",
        "M",
        hidden_as(lambda score, divisor: score - 1),
        "S' + mask, with 1 for what may be seen and 0 for what may not",
        "A mask that is added needs 0 for what may be seen and −∞ for what may not.",
    ),
    _entry(
        "I4",
        "hidden scores raised by 1",
        "M",
        hidden_as(lambda score, divisor: score + 1),
        "S' + mask, with 1 for what is hidden and 0 for what is seen",
        "A mask that is added needs 0 for what may be seen and −∞ for what may not.",
    ),
    _entry(
        "I5",
        "mask the wrong way round",
        "M",
        _wrong_way_round,
        "what may be seen is hidden and the other way round; a row that sees nothing gets equal weights",
        "The mask says the opposite of what was meant: True may stand for what is seen, or for what is hidden.",
    ),
    _entry(
        "I6",
        "keys reshaped, not transposed",
        "S",
        rewritten(lambda step: step.with_op(ReplacementOp(MatMul(), _with_reshaped))),
        "S = Q · reshape(K, d_k × m)",
        "Reshaping leaves the numbers in their order; transposing makes rows of columns: .T, .transpose(-2, -1).",
    ),
    _entry(
        "I7",
        "divided by the root of the number of keys",
        "S'",
        divided_by("m", root=True),
        "S' = S/√m, from len(k) or k.shape[0]",
        "The scores are divided by $@scale(S')$: the divisor does not depend on the number of tokens.",
    ),
)


def of_programs() -> Mapping[str, Misconception]:
    """Everything that may explain a program: the misconceptions of hand calculations, and those of programs."""
    return MappingProxyType({**misconceptions(), **{one.id: one for one in MISCONCEPTIONS}})
