"""Wrong scores (rules.md 2.2, scores)."""

from __future__ import annotations

from collections.abc import Callable

from symattn.derivation.derivation import Derivation, Op, Operand, Step, transposed
from symattn.derivation.misconceptions.base import (
    Change,
    EntryByEntry,
    Misconception,
    ReplacementOp,
    Rewritten,
    first_row_repeated,
    square,
    step_of_kind,
)
from symattn.derivation.misconceptions.softmax import without_empty_rows
from symattn.derivation.ops import MatMul
from symattn.errors import UndefinedError
from symattn.exact import NEGATIVE_INFINITY, Matrix, Value, divide, square_root
from symattn.exact.sums import total

# ------------------------------------------------------------------------------------------ what is changed


def scores(d: Derivation) -> Step | None:
    """S = Q Kᵀ."""
    place = step_of_kind(d, "S", MatMul)
    return place[0] if place and place[0].operands == (Operand("Q"), transposed("K")) else None


def rewritten(rewrite: Callable[[Step], Step], *needed: str) -> Change:
    """The scores in another way; they have a place where what is needed besides Q and K is there."""

    def change(d: Derivation) -> Rewritten | None:
        step = scores(d)
        return {"S": rewrite(step)} if step and all(name in d for name in needed) else None

    return change


def among_equals(does: Callable[..., Matrix]) -> Change:
    """As `rewritten`, for what has a meaning only where every query has a key of its own."""

    def change(d: Derivation) -> Rewritten | None:
        step = scores(d)
        if step is None or d.value("Q").shape[0] != d.value("K").shape[0]:
            return None
        return {"S": step.with_op(ReplacementOp(MatMul(), does))}

    return change


def without_own_key(d: Derivation) -> Rewritten | None:
    change = among_equals(_self_excluded)(d)
    return {**change, **without_empty_rows(d)} if change else None


def _cosine(of: Op, q: Matrix, k: Matrix) -> Matrix:
    lengths = [[square_root(total([x * x for x in row])) for row in m.rows] for m in (q, k.T)]
    for name, own in zip(("query", "key"), lengths, strict=True):
        if 0 in own:
            raise UndefinedError(f"the {name} of token {own.index(0) + 1} is 0, and has no angle to another one.")
    dots = of.apply(q, k)
    return Matrix.of(
        [divide(x, a * b) for x, b in zip(row, lengths[1], strict=True)]
        for row, a in zip(dots.rows, lengths[0], strict=True)
    )


def _own_key_only(of: Op, q: Matrix, k: Matrix) -> Matrix:
    return _where(square(of.apply(q, k), "the own key"), lambda i, j: i == j, 0)


def _self_excluded(of: Op, q: Matrix, k: Matrix) -> Matrix:
    return _where(square(of.apply(q, k), "the own key"), lambda i, j: i != j, NEGATIVE_INFINITY)


def _where(m: Matrix, kept: Callable[[int, int], bool], other: Value) -> Matrix:
    return Matrix.of([x if kept(i, j) else other for j, x in enumerate(row)] for i, row in enumerate(m.rows))


# ------------------------------------------------------------------------------------------ the entries

MISCONCEPTIONS = (
    Misconception(
        "T1",
        "Q K, not transposed",
        "S",
        rewritten(lambda step: step.with_operands("Q", "K")),
        exactly="S = Q K",
        tell="An entry is a query times a column of K; defined only where n = d_k.",
        feedback="Transpose $@name(K)$: a score is a {row} of $@name(Q)$ times a {row} of $@name(K)$.",
        source="common; fill-in quizzes test exactly this",
        prior="high",
    ),
    Misconception(
        "T2",
        "K Qᵀ",
        "S",
        rewritten(lambda step: step.with_operands("K", transposed("Q"))),
        exactly="S = K Qᵀ",
        tell="S is transposed, but Q and K are right; with P4 they are not.",
        feedback="Your table of scores is transposed: {row} i must belong to query i.",
        source="llm.c PR #531 (discussion)",
        prior="medium",
        core=True,
    ),
    Misconception(
        "T3",
        "Qᵀ K",
        "S",
        rewritten(lambda step: step.with_operands(transposed("Q"), "K")),
        exactly="S = Qᵀ K, d_k × d_k",
        tell="The wrong shape, unless n = d_k.",
        feedback="You compared features, not tokens: a score belongs to a pair of tokens.",
        source="huggingface/pytorch-openai-transformer-lm #2",
        prior="low",
    ),
    Misconception(
        "T4",
        "Q Vᵀ",
        "S",
        rewritten(lambda step: step.with_operands("Q", transposed("V")), "V"),
        exactly="S = Q Vᵀ",
        tell="The scores are built from V; defined only where d_k = d_v.",
        feedback="Compare the queries with the keys $@name(K)$, not with the values $@name(V)$.",
        source='solving-ml-papers #1 ("Q * V is scaled…")',
        prior="medium",
    ),
    Misconception(
        "T5",
        "Q ∘ K",
        "S",
        rewritten(lambda step: step.with_op(EntryByEntry()).with_operands("Q", "K")),
        exactly="S = Q ∘ K, n × d_k",
        tell="The shape of Q.",
        feedback="A score is one number for each pair of tokens: add up the products.",
        source="experience",
        prior="low",
    ),
    Misconception(
        "T6",
        "cosine similarity",
        "S",
        rewritten(lambda step: step.with_op(ReplacementOp(MatMul(), _cosine))),
        exactly="s_ij = q_i·k_j / (|q_i| |k_j|)",
        tell="All scores lie between −1 and 1.",
        feedback="Use the plain dot product: do not divide by the lengths of the vectors.",
        source="experience",
        prior="low",
    ),
    Misconception(
        "T7",
        "compared with its own key only",
        "S",
        among_equals(_own_key_only),
        exactly="s_ij = 0 for i ≠ j",
        tell="S is zero off the diagonal.",
        feedback="Each query is compared with every key, not only with its own.",
        source="wording of note 000",
        prior="medium",
    ),
    Misconception(
        "T7b",
        "only the first query compared",
        "S",
        rewritten(lambda step: step.with_op(ReplacementOp(MatMul(), first_row_repeated))),
        exactly="s_ij = q_1·k_j for every i",
        tell="All rows of S are equal.",
        feedback="Each query is compared with every key: {row} i of $@name(S)$ is made with query i.",
        source="wording of note 000",
        prior="medium",
    ),
    Misconception(
        "T8",
        "self excluded from the keys",
        "S",
        without_own_key,
        exactly="s_ii is left out (−∞ here); the rest goes on with n − 1 scores for each token",
        tell="One score fewer in every row; X12 writes it and leaves it out of the softmax.",
        feedback="Each query is compared with every key, including its own.",
        source='notes 000 and 002 say "including itself"',
        prior="low",
    ),
)
