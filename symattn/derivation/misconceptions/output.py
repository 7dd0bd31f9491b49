"""Wrong outputs (rules.md 2.2, output)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from symattn.derivation.derivation import Derivation, Op, Operand, Shape, Step
from symattn.derivation.misconceptions.base import (
    COPY,
    Change,
    EntryByEntry,
    Misconception,
    ReplacementOp,
    Rewritten,
    first_row_repeated,
    square,
    step_of_kind,
)
from symattn.derivation.misconceptions.base import Rule as ShapeRule
from symattn.derivation.ops import MatMul
from symattn.errors import ShapeError
from symattn.exact import Matrix, Value, divide

# ------------------------------------------------------------------------------------------ what is changed


def output(d: Derivation) -> Step | None:
    """Z = A V."""
    place = step_of_kind(d, "Z", MatMul)
    return place[0] if place and place[0].operands[1] == Operand("V") else None


def rewritten(rewrite: Callable[[Step, Operand, Operand], Step], *needed: str) -> Change:
    """The output in another way, made from the step, the weights and the values."""

    def change(d: Derivation) -> Rewritten | None:
        step = output(d)
        return {"Z": rewrite(step, *step.operands)} if step and all(name in d for name in needed) else None

    return change


def mixing(wrong: str) -> Change:
    """Another matrix in place of V."""
    return rewritten(lambda step, weights, values: step.with_operands(weights, wrong), wrong)


def instead(does: Callable[..., Matrix], rule: ShapeRule | None = None) -> Change:
    return rewritten(lambda step, weights, values: step.with_op(ReplacementOp(MatMul(), does, rule)))


def among_equals(does: Callable[..., Matrix]) -> Change:
    """As `instead`, for what has a meaning only where every token has a value of its own."""

    def change(d: Derivation) -> Rewritten | None:
        step = output(d)
        if step is None or len(set(d.value(step.operands[0].name).shape)) != 1:
            return None
        return {"Z": step.with_op(ReplacementOp(MatMul(), does))}

    return change


def _own_weight(of: Op, a: Matrix, v: Matrix) -> Matrix:
    """a_ii v_i."""
    square(a, "a weight of a token for itself")
    return Matrix.of([_times(a[i, i], x) for x in row] for i, row in enumerate(v.rows))


def _diagonal_weights(of: Op, a: Matrix, v: Matrix) -> Matrix:
    """Σ_j a_jj v_j, the same for every token."""
    square(a, "a weight of a token for itself")
    (row,) = of.apply(Matrix.of([[a[j, j] for j in range(a.shape[0])]]), v).rows
    return Matrix.of(row for _ in a.rows)


def _times(a: Value, x: Value) -> Value:
    return a * x


def _averaged_again(of: Op, a: Matrix, v: Matrix) -> Matrix:
    return of.apply(a, v).map(lambda x: divide(x, v.shape[0]))


def _not_summed(of: Op, a: Matrix, v: Matrix) -> Matrix:
    return Matrix.of(
        [_times(weight, x) for x in value] for row in a.rows for weight, value in zip(row, v.rows, strict=True)
    )


def _every_pair(a: Shape, v: Shape) -> Shape:
    """A row for every token and every value."""
    if a[1] != v[0] or isinstance(a[0], str) or isinstance(a[1], str):
        raise ShapeError("every value needs a weight;")
    return a[0] * a[1], v[1]


# ------------------------------------------------------------------------------------------ the entries

OWN_WEIGHT = "Value j is scaled by the weight that query i gives to token j."

MISCONCEPTIONS = (
    Misconception(
        "O1",
        "Aᵀ V",
        "Z",
        rewritten(
            lambda step, weights, values: step.with_operands(
                replace(weights, transposed=not weights.transposed), values
            )
        ),
        exactly="Z = Aᵀ V, that is z_i = Σ_j a_ji v_j",
        tell="The columns of A are used, which do not sum to 1.",
        feedback="The weights for token i are {row} i of $@name(A)$: you used {column} i.",
        source="experience",
        prior="medium",
        core=True,
    ),
    Misconception(
        "O2",
        "V A",
        "Z",
        rewritten(lambda step, weights, values: step.with_operands(values, weights)),
        exactly="Z = V A",
        tell="Defined only where d_v = n.",
        feedback="Exchange the two factors: the weights of a token multiply the {rows} of $@name(V)$.",
        source="experience",
        prior="medium",
    ),
    Misconception(
        "O3",
        "A K",
        "Z",
        mixing("K"),
        exactly="Z = A K",
        tell="As wide as a key.",
        feedback="Mix the values $@name(V)$, not the keys.",
        source="experience",
        prior="medium",
    ),
    Misconception(
        "O4",
        "A Q",
        "Z",
        mixing("Q"),
        exactly="Z = A Q",
        tell="As wide as a query.",
        feedback="Mix the values $@name(V)$, not the queries.",
        source="experience",
        prior="medium",
    ),
    Misconception(
        "O5",
        "A X",
        "Z",
        mixing("X"),
        exactly="Z = A X",
        tell="As wide as an input; with P7 V is wrong already.",
        feedback="Mix the values $@name(V)$, not the inputs.",
        source="experience",
        prior="medium",
        core=True,
    ),
    Misconception(
        "O6",
        "A ∘ V",
        "Z",
        rewritten(lambda step, weights, values: step.with_op(EntryByEntry())),
        exactly="Z = A ∘ V",
        tell="Defined only where n = d_v.",
        feedback="An output is a weighted sum of the {rows} of $@name(V)$: multiply and add up.",
        source="experience",
        prior="low",
    ),
    Misconception(
        "O7",
        "value scaled by its own weight alone",
        "Z",
        among_equals(_own_weight),
        exactly="z_i = a_ii v_i",
        tell="Every output is a multiple of the token's own value.",
        feedback=OWN_WEIGHT,
        source="note 003",
        prior="high",
        core=True,
    ),
    Misconception(
        "O7b",
        "every value scaled by its own weight",
        "Z",
        among_equals(_diagonal_weights),
        exactly="z_i = Σ_j a_jj v_j for every i",
        tell="All outputs are equal.",
        feedback=OWN_WEIGHT,
        source="note 003",
        prior="high",
    ),
    Misconception(
        "O8",
        "divided by n again",
        "Z",
        instead(_averaged_again),
        exactly="Z = A V/n, with n the number of values",
        tell="The right output divided by n.",
        feedback="The weights sum to 1, so they already average: do not divide again.",
        source="experience",
        prior="low",
    ),
    Misconception(
        "O9",
        "stops at the weights",
        "Z",
        rewritten(lambda step, weights, values: step.with_op(COPY).with_operands(weights)),
        exactly="Z = A",
        tell="n × n.",
        feedback="The weights are not the output yet: multiply by $@name(V)$.",
        source="note 000",
        prior="medium",
    ),
    Misconception(
        "O10",
        "weighted values not summed",
        "Z",
        instead(_not_summed, _every_pair),
        exactly="a_ij v_j for every i and j, one below the other",
        tell="n vectors for each token in place of one.",
        feedback="Add up the weighted values of each token.",
        source="notes 001 and 002 have the sum as a step of its own",
        prior="medium",
    ),
    Misconception(
        "O11",
        "first output repeated for all",
        "Z",
        instead(first_row_repeated),
        exactly="z_i = z_1 for every i",
        tell="Row 1 is right, and all rows are equal.",
        feedback="Each token has weights of its own, and so an output of its own.",
        source="note 002",
        prior="medium",
    ),
)
