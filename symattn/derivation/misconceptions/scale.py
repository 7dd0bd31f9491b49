"""Wrong scaling (rules.md 2.2, scale).

A problem may declare another divisor than √d_k; what is wrong is then another one than the declared.
"""

from __future__ import annotations

from dataclasses import dataclass

from symattn.derivation.derivation import Derivation, Op, Step
from symattn.derivation.misconceptions.base import (
    COPY,
    Change,
    Misconception,
    ReplacementOp,
    Rewritten,
    sizes,
    step_of_kind,
)
from symattn.derivation.ops import Scale, Softmax
from symattn.exact import Matrix, Value, divide, exact, square_root

# ------------------------------------------------------------------------------------------ what is changed


def scaling(d: Derivation) -> tuple[Step, Scale] | None:
    """The step that scales; None if nothing is divided, or by 1."""
    place = step_of_kind(d, "S'", Scale)
    return place if place and place[1].divisor != 1 else None


def divided_by(size: str, *, root: bool) -> Change:
    """The size, or its square root, as the divisor; no place where the derivation has no such size.

    Scores that are given have no width of keys but in what they are divided by: √d_k.
    """

    def change(d: Derivation) -> Rewritten | None:
        place, number = scaling(d), sizes(d).get(size)
        if place is not None and number is None and place[1].of == f"sqrt({size})":
            square = exact(place[1].divisor * place[1].divisor)
            number = square if isinstance(square, int) else None
        if place is None or number is None:
            return None
        return {"S'": place[0].with_op(Scale(square_root(number), f"sqrt({size})") if root else Scale(number, size))}

    return change


def not_scaled(d: Derivation) -> Rewritten | None:
    return {"S'": place[0].with_op(COPY)} if (place := scaling(d)) else None


def multiplied(d: Derivation) -> Rewritten | None:
    if not (place := scaling(d)):
        return None
    of = place[1].of
    return {"S'": place[0].with_op(Scale(divide(1, place[1].divisor), f"1/{of}" if of else ""))}


def scaled_after_softmax(d: Derivation) -> Rewritten | None:
    place, weights = scaling(d), step_of_kind(d, "A", Softmax)
    if place is None or weights is None:
        return None
    divisor = place[1].divisor
    return {"S'": place[0].with_op(COPY), "A": weights[0].with_op(ReplacementOp(weights[1], _Divided(divisor)))}


def only_first_row_scaled(d: Derivation) -> Rewritten | None:
    return {"S'": place[0].with_op(ReplacementOp(place[1], _first_row_scaled))} if (place := scaling(d)) else None


@dataclass(frozen=True)
class _Divided:
    """The result of the operation, divided by a number."""

    divisor: Value

    def __call__(self, of: Op, scores: Matrix) -> Matrix:
        return Scale(self.divisor).apply(of.apply(scores))


def _first_row_scaled(of: Op, scores: Matrix) -> Matrix:
    return Matrix.of((of.apply(scores.row(0)).rows[0], *scores.rows[1:]))


# ------------------------------------------------------------------------------------------ the entries

MISCONCEPTIONS = (
    Misconception(
        "C1",
        "not scaled",
        "S'",
        not_scaled,
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
        multiplied,
        exactly="S' = S √d_k",
        tell="The scaled scores are larger than S.",
        feedback="Divide by $@scale(S')$; do not multiply by it.",
        source="esceptico/perceiver-io #9",
        prior="medium",
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
        prior="medium",
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
        prior="medium",
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
        only_first_row_scaled,
        exactly="row 1 of S' is that of S/√d_k, the other rows are those of S",
        tell="Some rows are those of S, some those of S'.",
        feedback="Every entry of $@name(S)$ is divided by $@scale(S')$.",
        source="experience",
        prior="low",
        turned_name="only the first column scaled",
    ),
)
