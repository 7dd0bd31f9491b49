"""Positions added, or turned by, in a wrong way (rules.md 2.2, embedding and position; E6 and after are ours)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

from symattn.derivation.derivation import Derivation, Op, Shape, Step, transposed
from symattn.derivation.misconceptions.base import COPY, Misconception, ReplacementOp, Rewritten, found
from symattn.derivation.misconceptions.projection import products
from symattn.derivation.ops import Add, MatMul, Multiple, Rotate, Sinusoids, Stack
from symattn.exact import Matrix

Waves = TypeVar("Waves", Sinusoids, Rotate)

# ------------------------------------------------------------------------------------------ positions that are added


def added(d: Derivation) -> Step | None:
    """X = E + P."""
    place = found(d, "X", Add)
    return place[0] if place and place[0].operands[1].name == "P" else None


def added_after_projection(d: Derivation) -> Rewritten | None:
    step, projected = added(d), list(products(d))
    if step is None or not projected:
        return None
    late = ReplacementOp(MatMul(), _product_and_position, _shape_of_both)
    return {
        "X": step.with_op(COPY).with_operands(step.operands[0]),
        **{own.name: own.with_op(late).with_operands(*own.operands, "P") for _, own in projected},
    }


def _product_and_position(of: Op, x: Matrix, weights: Matrix, positions: Matrix) -> Matrix:
    return Add().apply(of.apply(x, weights), positions)


def _shape_of_both(x: Shape, weights: Shape, positions: Shape) -> Shape:
    return Add().shape(MatMul().shape(x, weights), positions)


def counted_otherwise(d: Derivation) -> Rewritten | None:
    """From 1 where positions count from 0, and from 0 where they count from 1."""
    place = encoded(d)
    if place is None:
        return None
    step, op = place
    return {"P": step.with_op(_from_the_other(op))}


def encoded(d: Derivation) -> tuple[Step, Sinusoids] | None:
    """The step that works positions out, where each of them is known."""
    place = found(d, "P", Sinusoids)
    return place if place and place[1].is_listed else None


def _from_the_other(op: Waves) -> Waves:
    _, positions = op.listed
    shift = 1 if positions[0] == 0 else -1
    return replace(op, positions=tuple(p + shift for p in positions))


def exchanged(d: Derivation) -> Rewritten | None:
    place = encoded(d)
    return {"P": place[0].with_op(ReplacementOp(place[1], _exchanged))} if place else None


def _exchanged(of: Op) -> Matrix:
    """Cosines where sines belong, and sines where cosines belong."""
    assert isinstance(of, Sinusoids)
    half = len(of.listed[0])
    order = [j ^ 1 for j in range(2 * half)] if of.layout == "pairs" else [*range(half, 2 * half), *range(half)]
    return Matrix.of([row[j] for j in order[: 2 * half - of.odd]] for row in replace(of, odd=False).apply().rows)


def concatenated(d: Derivation) -> Rewritten | None:
    return {"X": step.with_op(Stack("columns"))} if (step := added(d)) else None


def not_multiplied(d: Derivation) -> Rewritten | None:
    place = found(d, "E_scaled", Multiple)
    return {"E_scaled": place[0].with_op(COPY)} if place else None


# ------------------------------------------------------------------------------------------ queries and keys turned


def turned(d: Derivation) -> tuple[tuple[Step, Rotate], tuple[Step, Rotate]] | None:
    """The steps that turn queries and keys, where each position is known."""
    queries, keys = found(d, "R_Q", Rotate), found(d, "R_K", Rotate)
    return (queries, keys) if queries and keys and queries[1].is_listed else None


def forgotten(d: Derivation) -> Rewritten | None:
    if step := added(d):
        return {"X": step.with_op(COPY).with_operands(step.operands[0])}
    return {step.name: step.with_op(COPY) for step, _ in places} if (places := turned(d)) else None


def values_turned(d: Derivation) -> Rewritten | None:
    """The values turned as keys are, as far as they have angles: as wide as the keys, or one angle for all pairs."""
    places, output = turned(d), found(d, "Z", MatMul)
    if places is None or output is None:
        return None
    (_, turn), width = places[1], d.value("V").shape[1]
    angles, _ = turn.listed
    if not isinstance(width, int) or width % 2 or (width != 2 * len(angles) and len(set(angles)) > 1):
        return None
    own = replace(turn, angles=angles[:1] * (width // 2) if len(set(angles)) == 1 else angles)
    return {"Z": output[0].with_op(ReplacementOp(MatMul(), _Turning(own)))}


@dataclass(frozen=True)
class _Turning:
    """The second factor turned first."""

    turn: Rotate

    def __call__(self, of: Op, weights: Matrix, values: Matrix) -> Matrix:
        return of.apply(weights, self.turn.apply(values))


def only_queries(d: Derivation) -> Rewritten | None:
    return {"R_K": places[1][0].with_op(COPY)} if (places := turned(d)) else None


def keys_counted_otherwise(d: Derivation) -> Rewritten | None:
    both = both_counted_otherwise(d)
    return {"R_K": both["R_K"]} if both else None


def both_counted_otherwise(d: Derivation) -> Rewritten | None:
    places = turned(d)
    return places and {step.name: step.with_op(_from_the_other(turn)) for step, turn in places}


def backwards(d: Derivation) -> Rewritten | None:
    if (places := turned(d)) is None:
        return None
    return {
        step.name: step.with_op(replace(turn, positions=tuple(-p for p in turn.listed[1]))) for step, turn in places
    }


def other_pairs(d: Derivation) -> Rewritten | None:
    places = turned(d)
    if places is None or len(places[0][1].listed[0]) == 1:
        return None
    return {
        step.name: step.with_op(replace(turn, layout="halves" if turn.layout == "pairs" else "pairs"))
        for step, turn in places
    }


def turned_after_scores(d: Derivation) -> Rewritten | None:
    """The scores of queries and keys as they were: the turning is written down and not used."""
    scores = found(d, "S", MatMul)
    return {"S": scores[0].with_operands("Q", transposed("K"))} if turned(d) and scores else None


# ------------------------------------------------------------------------------------------ the entries

MISCONCEPTIONS = (
    Misconception(
        "E1",
        "position added after the projection",
        "X",
        added_after_projection,
        exactly="Q = E W_Q + P, and K and V likewise",
        tell="X is E alone; where d_k is not d_model, the sum is not defined.",
        feedback="Add $@name(P)$ to the embeddings, before anything is projected.",
        source="experience",
        prior="medium",
    ),
    Misconception(
        "E2",
        "positions counted from the wrong number",
        "P",
        counted_otherwise,
        exactly="the line of position p has the angles of p + 1 (of p − 1, where positions count from 1)",
        tell="All lines of P are the next ones.",
        feedback="Count positions as the conventions say: look at the first {row} of $@name(P)$ again.",
        source="experience",
        prior="medium",
        core=True,
    ),
    Misconception(
        "E3",
        "sine and cosine swapped",
        "P",
        exchanged,
        exactly="P has cos pθ where sin pθ belongs, and sin pθ where cos pθ belongs",
        tell="At position 0 the sines are 0 and the cosines are 1.",
        feedback="In every pair of $@name(P)$, the sine comes first and the cosine second.",
        source="experience",
        prior="medium",
        core=True,
    ),
    Misconception(
        "E4",
        "position put beside the embedding",
        "X",
        concatenated,
        exactly="X = [E P]",
        tell="X is twice as wide.",
        feedback="Add $@name(P)$ to the embeddings entry by entry; the width stays the same.",
        source="experience",
        prior="medium",
    ),
    Misconception(
        "E5",
        "embedding not multiplied by √d_model",
        "E_scaled",
        not_multiplied,
        exactly="E' = E",
        tell="The embeddings are √d_model times too small.",
        feedback="Multiply the embeddings before positions are added, as the conventions say.",
        source="Vaswani et al. 2017, section 3.4, multiplies",
        prior="medium",
        core=True,
    ),
    Misconception(
        "E6",
        "positions forgotten",
        "X",
        forgotten,
        exactly="X = E; with rotations, Q and K are not turned",
        tell="Tokens with the same embedding get the same output.",
        feedback="Without positions attention cannot tell the order of the tokens: bring them in first.",
        source="experience",
        prior="medium",
    ),
    Misconception(
        "E7",
        "values rotated as well",
        "Z",
        values_turned,
        exactly="Z = A R(V)",
        tell="Scores and weights are right.",
        feedback="Only queries and keys are rotated: the values $@name(V)$ are mixed as they are.",
        source="experience",
        prior="medium",
    ),
    Misconception(
        "E8",
        "only the queries rotated",
        "R_K",
        only_queries,
        exactly="the keys stay as they are",
        tell="Scores depend on the query's position, and not on how far the key is away.",
        feedback="Rotate the keys as well: only then does the angle between a query and a key depend on their "
        "distance.",
        source="experience",
        prior="medium",
        core=True,
    ),
    Misconception(
        "E9",
        "key positions counted from a different number than query positions",
        "R_K",
        keys_counted_otherwise,
        exactly="the key of position p is turned by (p + 1)θ (by (p − 1)θ, where positions count from 1)",
        tell="Every distance is wrong by one.",
        feedback="Queries and keys count their positions from the same number.",
        source="experience",
        prior="low",
    ),
    Misconception(
        "E10",
        "rotated the other way",
        "R_Q",
        backwards,
        exactly="(x, y) becomes (x cos pθ + y sin pθ, −x sin pθ + y cos pθ)",
        tell="Scores are those of the opposite distance, and differ only off the diagonal.",
        feedback="Rotate by +pθ: the first of a pair becomes x cos pθ − y sin pθ.",
        source="experience",
        prior="medium",
        core=True,
    ),
    Misconception(
        "E11",
        "wrong features paired",
        "R_Q",
        other_pairs,
        exactly="pairs are k and d/2 + k where neighbours belong together, or neighbours where those do",
        tell="At position 0 nothing differs.",
        feedback="The conventions say which features form a pair: rotate those.",
        source="the two layouts of GPT-J (neighbours) and GPT-NeoX (halves)",
        prior="medium",
    ),
    Misconception(
        "E12",
        "scores of unrotated queries and keys",
        "S",
        turned_after_scores,
        exactly="S = Q Kᵀ",
        tell="The rotations are right, and nothing after them.",
        feedback="The scores are those of the rotated queries and keys.",
        source="experience",
        prior="low",
    ),
    Misconception(
        "E13",
        "rotations counted from the wrong number",
        "R_Q",
        both_counted_otherwise,
        exactly="queries and keys of position p are turned by (p + 1)θ (by (p − 1)θ, where positions count from 1)",
        tell="Queries and keys are wrong, and the scores right, since every distance is.",
        feedback="Count positions as the conventions say: look at the first {row} of the rotated queries again.",
        source="experience",
        prior="medium",
    ),
)
