"""Wrong scores, and scores scaled in a wrong way (rules.md 2.2, scores and scale).

A problem may declare another divisor than √d_k; what is wrong is then another one than the declared.
"""

from __future__ import annotations

from collections.abc import Callable

from symattn.derivation.derivation import Derivation, Op, Operand, Step, transposed
from symattn.derivation.misconceptions.base import (
    COPY,
    Change,
    EntryByEntry,
    Misconception,
    ReplacementOp,
    Rewritten,
    done_later,
    everywhere,
    first_row_repeated,
    in_first_row_only,
    sizes,
    square,
    step_of_kind,
    where,
)
from symattn.derivation.misconceptions.softmax import hiding_too_much
from symattn.derivation.ops.attention import Softmax
from symattn.derivation.ops.linear import MatMul, Scale
from symattn.errors import UndefinedError
from symattn.exact import NEGATIVE_INFINITY, Matrix, divide, exact, square_root
from symattn.exact.sums import total

# ------------------------------------------------------------------------------------------ what is changed


def rewritten(rewrite: Callable[[Step], Step | Op | None], *needed: str) -> Change:
    """S = Q Kᵀ in another way; it has a place where what is needed besides Q and K is there."""

    def write(d: Derivation, step: Step, own: MatMul) -> Step | Op | None:
        fits = step.operands == (Operand("Q"), transposed("K")) and all(name in d for name in needed)
        return rewrite(step) if fits else None

    return everywhere(MatMul, write, "S")


def among_equals(does: Callable[..., Matrix]) -> Change:
    """As `rewritten`, for what has a meaning only where every query has a key of its own."""
    change = rewritten(lambda step: ReplacementOp(MatMul(), does))
    return lambda d: change(d) if "Q" in d and "K" in d and d.value("Q").shape[0] == d.value("K").shape[0] else None


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
    return where(lambda i, j: i == j, square(of.apply(q, k), "the own key"), lambda x: 0)


def _self_excluded(of: Op, q: Matrix, k: Matrix) -> Matrix:
    return where(lambda i, j: i != j, square(of.apply(q, k), "the own key"), lambda x: NEGATIVE_INFINITY)


# ------------------------------------------------------------------------------------------ scale


def scaling(d: Derivation) -> tuple[Step, Scale] | None:
    """The step that scales; None if nothing is divided, or by 1."""
    place = step_of_kind(d, "S'", Scale)
    return place if place and place[1].divisor != 1 else None


def rescaled(write: Callable[[Derivation, Scale], Op | None]) -> Change:
    """What scores are divided by in another way, where they are divided by something."""
    return everywhere(Scale, lambda d, step, own: write(d, own) if own.divisor != 1 else None, "S'")


def divided_by(size: str, *, root: bool) -> Change:
    """The size, or its square root, as the divisor; no place where the derivation has no such size.

    Scores that are given have no width of keys but in what they are divided by: √d_k.
    """

    def write(d: Derivation, own: Scale) -> Op | None:
        number = sizes(d).get(size)
        if number is None and own.of == f"sqrt({size})":
            square = exact(own.divisor * own.divisor)
            number = square if isinstance(square, int) else None
        if number is None:
            return None
        return Scale(square_root(number), f"sqrt({size})") if root else Scale(number, size)

    return rescaled(write)


def scaled_after_softmax(d: Derivation) -> Rewritten | None:
    return done_later(scaling(d), step_of_kind(d, "A", Softmax))


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
    ),
    Misconception(
        "T5",
        "Q ∘ K",
        "S",
        rewritten(lambda step: step.with_op(EntryByEntry()).with_operands("Q", "K")),
        exactly="S = Q ∘ K, n × d_k",
        tell="The shape of Q.",
        feedback="A score is one number for each pair of tokens: add up the products.",
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
    ),
    Misconception(
        "T8",
        "self excluded from the keys",
        "S",
        hiding_too_much(among_equals(_self_excluded)),
        exactly="s_ii is left out (−∞ here); the rest goes on with n − 1 scores for each token",
        tell="One score fewer in every row; X12 writes it and leaves it out of the softmax.",
        feedback="Each query is compared with every key, including its own.",
        source='notes 000 and 002 say "including itself"',
        prior="low",
    ),
    Misconception(
        "C1",
        "not scaled",
        "S'",
        rescaled(lambda d, own: COPY),
        exactly="S' = S",
        tell="The scores are √d_k times too large; with C8 the weights are divided later.",
        feedback="Divide the scores by $@scale(S')$ before the softmax.",
        source="notes 002, 003, 004; flexflow #467",
        prior="high",
        core=True,
    ),
    Misconception(
        "C2",
        "divided by d_k",
        "S'",
        divided_by("d_k", root=False),
        exactly="S' = S/d_k",
        tell="The scores are √d_k times too small.",
        feedback="The scores are divided by $@scale(S')$, not by the number of features of a key.",
        source="delzac/cntkx #10; charliezchen #2 chose 1/d_k on purpose, which may be declared",
        prior="high",
        core=True,
    ),
    Misconception(
        "C3",
        "divided by √d_model",
        "S'",
        divided_by("d_model", root=True),
        exactly="S' = S/√d_model",
        tell="The ratio to the right scores is √(d_k/d_model).",
        feedback="The scores are divided by $@scale(S')$: what counts is the width of a key, not that of the input.",
        source="note 000; omihub777 #11, FareedKhan #3, Graylab #12, dfdx #171, aladdinpersson #65",
        prior="high",
        core=True,
    ),
    Misconception(
        "C4",
        "multiplied instead of divided",
        "S'",
        rescaled(lambda d, own: Scale(divide(1, own.divisor), f"1/{own.of}" if own.of else "")),
        exactly="S' = S √d_k",
        tell="The scaled scores are larger than S.",
        feedback="Divide by $@scale(S')$; do not multiply by it.",
        source="esceptico/perceiver-io #9",
        core=True,
    ),
    Misconception(
        "C5",
        "divided by √n",
        "S'",
        divided_by("n", root=True),
        exactly="S' = S/√n",
        tell="Invisible where n = d_k.",
        feedback="The scores are divided by $@scale(S')$: the divisor does not depend on the number of tokens.",
        source="phlippe/uvadlc_notebooks #72 (a reader took d_k for the sequence length)",
        core=True,
    ),
    Misconception(
        "C6",
        "divided by n",
        "S'",
        divided_by("n", root=False),
        exactly="S' = S/n",
        tell="The same as C2 where n = d_k.",
        feedback="The scores are divided by $@scale(S')$: the divisor does not depend on the number of tokens.",
        source="phlippe/uvadlc_notebooks #72",
        prior="low",
    ),
    Misconception(
        "C7",
        "divided by d_model",
        "S'",
        divided_by("d_model", root=False),
        exactly="S' = S/d_model",
        tell="The ratio to the right scores is √d_k/d_model.",
        feedback="The scores are divided by $@scale(S')$: what counts is the width of a key, not that of the input.",
        source="omihub777 #11",
        prior="low",
    ),
    Misconception(
        "C8",
        "scaled after the softmax",
        "S'",
        scaled_after_softmax,
        exactly="S' = S, and A = softmax(S)/√d_k",
        tell="The rows of A sum to 1/√d_k; with C1 they sum to 1.",
        feedback="Divide the scores by $@scale(S')$, not the weights: every {row} of weights must sum to 1.",
        source="FrancescoSaverioZuppichini/ViT #2 (a confirmed bug)",
        core=True,
    ),
    Misconception(
        "C9",
        "divided by √d_v",
        "S'",
        divided_by("d_v", root=True),
        exactly="S' = S/√d_v",
        tell="Invisible where d_v = d_k.",
        feedback="The scores are divided by $@scale(S')$: what counts is the width of a key, not that of a value.",
        source="juho-lee/set_transformer #18",
        prior="low",
        core=True,
    ),
    Misconception(
        "C10",
        "only the first row scaled",
        "S'",
        rescaled(lambda d, own: ReplacementOp(own, in_first_row_only)),
        exactly="row 1 of S' is that of S/√d_k, the other rows are those of S",
        tell="Some rows are those of S, some those of S'.",
        feedback="Every entry of $@name(S)$ is divided by $@scale(S')$.",
        prior="low",
        turned_name="only the first column scaled",
    ),
)
