"""Wrong ways with heads (rules.md 2.2, heads): splitting them, putting them together, and what comes after.

A derivation may have several layers with heads; a wrong way of splitting is applied to all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import chain
from typing import Literal

from symattn.derivation.algebra import Index
from symattn.derivation.derivation import Derivation, Op, Shape, Step, StepName, Style, View, transposed
from symattn.derivation.misconceptions.base import (
    Change,
    Misconception,
    ReplacementOp,
    copying,
    each,
    everywhere,
    reshaped,
)
from symattn.derivation.ops.attention import Softmax
from symattn.derivation.ops.linear import MatMul, Scale, Slice, Stack
from symattn.errors import ShapeError
from symattn.exact import Matrix, Value, compare, divide, square_root
from symattn.exact.sums import total
from symattn.formula import Call, Formula, Fraction, Name, Number, Sum

# ------------------------------------------------------------------------------------------ what is changed


def split(rewrite: Callable[[Derivation, Step, Slice], Op | None]) -> Change:
    """The columns of each head found in another way; rows are blocks of tokens, and no heads."""

    def write(d: Derivation, step: Step, own: Slice) -> Op | None:
        return None if own.of == "rows" or StepName.of(step.name).head is None else rewrite(d, step, own)

    return everywhere(Slice, write)


def merged(rewrite: Callable[[Step], Step | Op]) -> Change:
    """C, the outputs of all heads put together, in another way."""

    def of_heads(step: Step) -> bool:
        return step.stem == "C" and len(step.operands) > 1 and all(StepName.of(o.name).head for o in step.operands)

    return each(Stack, rewrite, where=of_heads)


def mixed(rewrite: Callable[[Step], Step]) -> Change:
    """What is multiplied by W_O, in another way."""

    return each(MatMul, rewrite, where=lambda step: StepName.of(step.operands[1].name).stem == "W_O")


def heads_of(d: Derivation, step: Step, part: Slice) -> int:
    """How many heads the matrix is split into that a part is taken of; 0 where it is of a width that does not fit."""
    columns = d.value(step.operands[0].name).shape[1]
    assert isinstance(columns, int)  # nothing is split by letters
    return 0 if columns % part.count else columns // part.count


def reread(d: Derivation, step: Step, part: Slice) -> Op:
    """The matrix read row by row, and cut into one piece of equal length for every head."""
    return ReplacementOp(part, _reread, given=(part.start // (1 if part.step > 1 else part.count),))


def _reread(head: int, of: Slice, m: Matrix) -> Matrix:
    rows = m.shape[0]
    return Matrix.of(reshaped(m, of.count).rows[head * rows : (head + 1) * rows])


def interleaved(d: Derivation, step: Step, part: Slice) -> Op | None:
    if part.step > 1 or not (heads := heads_of(d, step, part)):
        return None
    return Slice.of_head(part.start // part.count + 1, heads, part.count, "interleaved")


def consecutive(d: Derivation, step: Step, part: Slice) -> Op | None:
    if part.step == 1 or not (heads := heads_of(d, step, part)):
        return None
    return Slice.of_head(part.start + 1, heads, part.count, "consecutive")


def with_head_1s(stem: str, kind: type[Softmax | MatMul]) -> Change:
    """A step of another head with the first operand that it has in head 1, whatever its own is."""

    def write(d: Derivation, step: Step, own: Op) -> Step | None:
        called = StepName.of(step.name)
        first = stem + replace(called, head=1).scope
        wrong = called.stem == stem and (called.head or 1) > 1 and first in d
        return step.with_operands(d[first].operands[0], *step.operands[1:]) if wrong else None

    return everywhere(kind, write)


def taking_turns(d: Derivation, step: Step, own: MatMul) -> Step | None:
    """The scores or the output of a query head with key heads 1, 2, 1, 2, … in place of 1, 1, 2, 2, ….

    The wrong part may stand further down than this step, so that it is taken from the whole matrix.
    """
    called = StepName.of(step.name)
    if called.stem not in ("S", "Z") or called.head is None:
        return None
    shared = step.operands[1]
    theirs, parts = StepName.of(shared.name), list[tuple[Step, Slice]]()
    for other in d:
        name = StepName.of(other.name)
        if isinstance(other.op, Slice) and name.head and (name.stem, name.place) == (theirs.stem, theirs.place):
            parts.append((other, other.op))
    if not parts or (wrong := parts[(called.head - 1) % len(parts)])[0].name == shared.name:
        return None
    given = wrong[1], shared.transposed
    whole = replace(shared, name=wrong[0].operands[0].name)
    late = ReplacementOp(own, _with_part, partial(_shape_with_part, *given), given=given)
    return step.with_op(late).with_operands(step.operands[0], whole)


def _with_part(part: Slice, transposed: bool, of: Op, left: Matrix, right: Matrix) -> Matrix:
    """The product with a part of the second factor, which may be transposed."""
    return of.apply(left, part.apply(right.T).T if transposed else part.apply(right))


def _shape_with_part(part: Slice, transposed: bool, left: Shape, right: Shape) -> Shape:
    return left[0], right[1] if transposed else part.count


def divided_by_all_keys(d: Derivation, step: Step, own: Scale) -> Op | None:
    """√(h d_k), where it is not √d_model."""
    called = StepName.of(step.name)
    if called.stem != "S'" or called.head is None:
        return None
    scores = next(s for s in d if s.name == step.operands[0].name)
    queries = next((s for s in d if s.name == scores.operands[0].name), None)
    if queries is None or not isinstance(queries.op, Slice):
        return None
    width = d.value(queries.operands[0].name).shape[1]
    if not isinstance(width, int) or ("X" in d and d.value("X").shape[1] == width):
        return None
    return Scale(square_root(width))


# ------------------------------------------------------------------------------------------ other ways to merge


@dataclass(frozen=True)
class RowByRow(Stack):
    """The numbers of one matrix after the other, read row by row, in rows of the right length (no transpose)."""

    witness = Op.witness  # that of what is right is none

    def apply(self, *operands: Matrix) -> Matrix:
        if self.along == "rows":
            return replace(self, along="columns").apply(*(m.T for m in operands)).T
        return reshaped(chain(*operands), sum(m.shape[1] for m in operands))


@dataclass(frozen=True)
class Pooled(Op):
    """Matrices of one shape, entry by entry: their mean, their sum, or the largest."""

    how: Literal["mean", "sum", "max"]
    arity = -1
    title = "Pooled heads"

    def shape(self, *shapes: Shape) -> Shape:
        if len(set(shapes)) != 1:
            raise ShapeError("matrices that are added up need equal shapes;")
        return shapes[0]

    def apply(self, *operands: Matrix) -> Matrix:
        rows = (zip(*rows, strict=True) for rows in zip(*(m.rows for m in operands), strict=True))
        return Matrix.of([self._pool(entries) for entries in row] for row in rows)

    def _pool(self, entries: tuple[Value, ...]) -> Value:
        if self.how == "max":
            return reduce(lambda a, b: a if compare(a, b) >= 0 else b, entries)
        return divide(total(entries), len(entries) if self.how == "mean" else 1)

    def working(self, i: Index, j: Index, *operands: View) -> Formula:
        return self._of_all(tuple(view.entry(i, j) for view in operands))

    def written(self, style: Style, *operands: Formula) -> Formula:
        return self._of_all(operands)

    def _of_all(self, terms: tuple[Formula, ...]) -> Formula:
        if self.how == "max":
            return Call(Name("max"), terms)
        return Fraction(Sum(terms), Number(str(len(terms)))) if self.how == "mean" else Sum(terms)


def pooled(how: Literal["mean", "sum", "max"]) -> Change:
    return merged(lambda step: Pooled(how))


# ------------------------------------------------------------------------------------------ the entries

MISCONCEPTIONS = (
    Misconception(
        "C11",
        "divided by the root of the full key width, over all heads",
        "S'",
        everywhere(Scale, divided_by_all_keys),
        exactly="S' = S/√(h d_k) in every head",
        tell="The ratio to the right scores is 1/√h; C3 where h d_k = d_model.",
        feedback="The scores are divided by $@scale(S')$: what counts is the width of a key of one head.",
        source="omihub777 #11",
    ),
    Misconception(
        "H1",
        "heads read off row by row",
        "Q",
        split(reread),
        exactly="Q, K and V (n × h d) are re-read as h matrices of n × d, and not split by columns",
        tell="Numbers of several tokens stand in one row of a head.",
        feedback="Split the {columns}, which are features: every head sees every token.",
        source="FuxiCTR #30, hyunwoongko/transformer #15",
        prior="high",
        core=True,
        turned_name="heads read off column by column",
    ),
    Misconception(
        "H2",
        "heads put together row by row",
        "C",
        merged(lambda step: RowByRow("columns")),
        exactly="the outputs of the heads, one below the other, are re-read as n × h d_v",
        tell="A token's row holds outputs of other tokens; H3 has the right numbers in it.",
        feedback="The {row} of a token in $@name(C)$ holds what every head gives for this token, and nothing else.",
        source="jsbaan/transformer-from-scratch #6, ajhalthor #4",
        prior="high",
        core=True,
        turned_name="heads put together column by column",
    ),
    Misconception(
        "H3",
        "heads in reverse order",
        "C",
        merged(lambda step: step.with_operands(*reversed(step.operands))),
        exactly="C = [Z_h … Z_1]",
        tell="The same as with the blocks of W_O exchanged.",
        feedback="The heads stand in their order in $@name(C)$, head 1 first.",
        core=True,
    ),
    Misconception(
        "H4",
        "W_O forgotten",
        "O",
        mixed(copying),
        exactly="O = C",
        tell="The output is the heads' outputs side by side.",
        feedback="The outputs of the heads are still to be multiplied by $@name(W_O)$.",
        source="Kyubyong/transformer #17 and #117, jwallbridge/translob #4",
        prior="high",
        core=True,
    ),
    Misconception(
        "H5",
        "heads averaged",
        "C",
        pooled("mean"),
        exactly="C = (Z_1 + … + Z_h)/h",
        tell="It is only as wide as one head, so that W_O does not fit.",
        feedback="Put the outputs of the heads side by side: they are not averaged.",
        source="diegoantognini/pyGAT #31",
    ),
    Misconception(
        "H5b",
        "heads added up",
        "C",
        pooled("sum"),
        exactly="C = Z_1 + … + Z_h",
        tell="It is only as wide as one head, so that W_O does not fit.",
        feedback="Put the outputs of the heads side by side: they are not added up.",
        source="diegoantognini/pyGAT #31",
    ),
    Misconception(
        "H5c",
        "the largest of all heads",
        "C",
        pooled("max"),
        exactly="C is the entry-by-entry maximum of Z_1, …, Z_h",
        tell="It is only as wide as one head, so that W_O does not fit.",
        feedback="Put the outputs of the heads side by side: all of them count, not just the largest.",
        source="broadinstitute/CellCap #40",
        prior="low",
    ),
    Misconception(
        "H6",
        "the same weights in every head",
        "Z",
        with_head_1s("Z", MatMul),
        exactly="Z_i = A_1 V_i in every head",
        tell="Head 1 is right; the others mix their own values by its weights.",
        feedback="Each head has scores of its own, and so weights of its own.",
        source="MarcoMeter/episodic-transformer-memory-ppo #22",
        core=True,
    ),
    Misconception(
        "H7",
        "interleaved split",
        "Q",
        split(interleaved),
        exactly="head 1 gets the columns 1, h + 1, 2h + 1, … of Q, K and V",
        tell="Every row keeps to its token; with H1 it does not.",
        feedback="Head 1 takes the first {columns}, head 2 those that follow: not every second one.",
        source="a convention of some implementations; here another one is declared",
        prior="low",
    ),
    Misconception(
        "H7b",
        "consecutive split",
        "Q",
        split(consecutive),
        exactly="head 1 gets the first columns of Q, K and V, though the problem declares an interleaved split",
        tell="Every row keeps to its token; with H1 it does not.",
        feedback="The {columns} of the heads take turns here: those of one head do not stand beside one another.",
        source="the usual convention; here another one is declared",
    ),
    Misconception(
        "H8",
        "W_O transposed",
        "O",
        mixed(lambda step: step.with_operands(step.operands[0], transposed(step.operands[1].name))),
        exactly="O = C W_Oᵀ",
        tell="Not defined unless W_O is square.",
        feedback="Multiply by $@name(W_O)$ as it is given, not by its transpose.",
        prior="low",
    ),
    Misconception(
        "H8b",
        "W_O on the wrong side",
        "O",
        mixed(lambda step: step.with_operands(step.operands[1], step.operands[0])),
        exactly="O = W_O C",
        tell="Not defined unless W_O has as many columns as there are tokens.",
        feedback="Exchange the two factors: the outputs of each token are multiplied by $@name(W_O)$.",
        prior="low",
    ),
    Misconception(
        "H9",
        "the weights of head 1 copied into every head",
        "A",
        with_head_1s("A", Softmax),
        exactly="A_i = A_1 in every head",
        tell="The scores of each head are right, and all weights are those of head 1.",
        feedback="Each head has scores of its own, and so weights of its own.",
    ),
    Misconception(
        "H10",
        "key heads shared out in turn",
        "S",
        everywhere(MatMul, taking_turns),
        exactly="query heads 1, 2, 3, 4 use key and value heads 1, 2, 1, 2 in place of 1, 1, 2, 2",
        tell="The first head and the last one are right.",
        feedback="Consecutive query heads share a key head: the first ones use key head 1, the next ones key head 2.",
        source="onnx/onnx #7274, apple/axlearn #842, ekzhang/jax-js #180, HazyResearch/HipKittens #22",
        drawn=False,
    ),
)
