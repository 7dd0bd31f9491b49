"""Positions added, or turned by, in a wrong way (rules.md 2.2, embedding and position; E6 and after are ours)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Literal, TypeVar

from symattn.derivation.derivation import Derivation, Op, Shape, Step, StepName, transposed
from symattn.derivation.misconceptions.base import (
    COPY,
    Change,
    Misconception,
    ReplacementOp,
    Rewritten,
    copying,
    each,
    replaced,
    step_of_kind,
)
from symattn.derivation.misconceptions.projection import products
from symattn.derivation.ops.linear import Add, MatMul, Multiple, Stack
from symattn.derivation.ops.position import Angle, Degrees, Frequency, Layout, Radians, Rotate, Sinusoids, Turning
from symattn.derivation.ops.scores import Bias, alibi, alibi_slope
from symattn.exact import Matrix, Value
from symattn.exact.values import RATIONAL

Waves = TypeVar("Waves", Sinusoids, Rotate)

# ------------------------------------------------------------------------------------------ positions that are added


def summed(write: Callable[[Step], Step | Op]) -> Change:
    """X = E + P in another way."""
    return each(Add, write, "X", where=lambda step: step.operands[1].name == "P")


embedding_alone = summed(copying)


def added_after_projection(d: Derivation) -> Rewritten | None:
    alone, projected = embedding_alone(d), list(products(d))
    if alone is None or not projected:
        return None
    late = ReplacementOp(MatMul(), _product_and_position, _shape_of_both)
    return {**alone, **{own.name: own.with_op(late).with_operands(*own.operands, "P") for _, own in projected}}


def _product_and_position(of: Op, x: Matrix, weights: Matrix, positions: Matrix) -> Matrix:
    return Add().apply(of.apply(x, weights), positions)


def _shape_of_both(x: Shape, weights: Shape, positions: Shape) -> Shape:
    return Add().shape(MatMul().shape(x, weights), positions)


def encoded(write: Callable[[Sinusoids], Op | None]) -> Change:
    """The step that works positions out, where each of them is known, in another way."""
    return replaced(Sinusoids, lambda own: write(own) if own.is_listed else None, "P")


def from_the_other(op: Waves) -> Waves:
    """From 1 where positions count from 0, and from 0 where they count from 1."""
    _, positions = op.listed
    shift = 1 if positions[0] == 0 else -1
    return replace(op, positions=tuple(p + shift for p in positions))


def _exchanged(of: Op) -> Matrix:
    """Cosines where sines belong, and sines where cosines belong."""
    assert isinstance(of, Sinusoids)
    half = len(of.listed[0])
    order = [j ^ 1 for j in range(2 * half)] if of.layout == "pairs" else [*range(half, 2 * half), *range(half)]
    return Matrix.of([row[j] for j in order[: 2 * half - of.odd]] for row in replace(of, odd=False).apply().rows)


# ------------------------------------------------------------------------------------------ queries and keys turned


def turned(d: Derivation) -> tuple[tuple[Step, Rotate], tuple[Step, Rotate]] | None:
    """The steps that turn queries and keys, where each position is known."""
    queries, keys = step_of_kind(d, "R_Q", Rotate), step_of_kind(d, "R_K", Rotate)
    return (queries, keys) if queries and keys and queries[1].is_listed else None


def turning(write: Callable[[Rotate], Op | None], *names: str) -> Change:
    """Queries and keys, or one of them, turned in another way."""
    change = replaced(Rotate, write, *(names or ("R_Q", "R_K")))
    return lambda d: change(d) if turned(d) else None


def forgotten(d: Derivation) -> Rewritten | None:
    return embedding_alone(d) or turning(lambda own: COPY)(d)


def values_turned(d: Derivation) -> Rewritten | None:
    """The values turned as keys are, as far as they have angles: as wide as the keys, or one angle for all pairs."""
    places, output = turned(d), step_of_kind(d, "Z", MatMul)
    if places is None or output is None:
        return None
    (_, turn), width = places[1], d.value("V").shape[1]
    angles, _ = turn.listed
    if not isinstance(width, int) or width % 2 or (width != 2 * len(angles) and len(set(angles)) > 1):
        return None
    own = replace(turn, angles=angles[:1] * (width // 2) if len(set(angles)) == 1 else angles)
    return {"Z": output[0].with_op(ReplacementOp(MatMul(), _turning, given=(own,)))}


def _turning(turn: Rotate, of: Op, weights: Matrix, values: Matrix) -> Matrix:
    """The second factor turned first."""
    return of.apply(weights, turn.apply(values))


def backwards(own: Rotate) -> Op:
    return replace(own, positions=tuple(-p for p in own.listed[1]))


def other_pairs(own: Rotate) -> Op | None:
    return replace(own, layout=OTHER[own.layout]) if len(own.listed[0]) > 1 else None


def turned_after_scores(d: Derivation) -> Rewritten | None:
    """The scores of queries and keys as they were: the turning is written down and not used."""
    scores = step_of_kind(d, "S", MatMul)
    return {"S": scores[0].with_operands("Q", transposed("K"))} if turned(d) and scores else None


# ------------------------------------------------------------------------------------------ other angles


def with_angles(other: Callable[[Angle], Angle | None]) -> Change:
    """Other angles in everything that turns by position; no place where `other` gives None for one of them."""

    def write(own: Turning) -> Op | None:
        angles = tuple(filter(None, map(other, own.listed[0]))) if own.is_listed else ()
        return replace(own, angles=angles) if angles and len(angles) == len(own.listed[0]) else None

    return replaced(Turning, write)


def other_base(angle: Angle) -> Angle | None:
    """10,000 where another base is declared, and 1,000 where it is 10,000."""
    return replace(angle, base=1000 if angle.base == 10_000 else 10_000) if isinstance(angle, Frequency) else None


def half_exponent(angle: Angle) -> Angle | None:
    return replace(angle, above=angle.above // 2) if isinstance(angle, Frequency) else None


def degrees_and_radians(angle: Angle) -> Angle | None:
    match angle:
        case Degrees(degrees) if isinstance(degrees, RATIONAL):
            return Radians(degrees)
        case Radians() | Frequency():
            return Degrees(angle.theta())
    return None


def own_exponents(factor: int) -> Change:
    """An angle of its own for every feature j (from 0): base^(−factor·j/d), where two features share one."""

    def write(own: Sinusoids) -> Op | None:
        fits = own.layout == "pairs" and all(isinstance(angle, Frequency) for angle in own.listed[0])
        return ReplacementOp(own, _own_exponents, given=(factor,)) if fits else None

    return encoded(write)


def _own_exponents(factor: int, of: Sinusoids) -> Matrix:
    (first, *_), positions = of.listed
    assert isinstance(first, Frequency)
    angles = [replace(first, above=factor * j) for j in range(2 * len(of.listed[0]) - of.odd)]
    return Matrix.of([angle.at(p)[1 - j % 2] for j, angle in enumerate(angles)] for p in positions)


def layouts_mixed(wrong: Literal["pairs", "angles"]) -> Change:
    """Pairs of one layout with the angles of the other; no place where all angles are equal: that is E11, or right."""
    return turning(lambda own: ReplacementOp(own, _mixed, given=(wrong,)) if len(set(own.listed[0])) > 1 else None)


def _mixed(wrong: Literal["pairs", "angles"], of: Rotate, x: Matrix) -> Matrix:
    """x_j cos ∓ its partner's sin, with the partner of one layout and the angle of the other."""
    angles, positions = of.listed
    own, other = pairs(of.layout, len(angles)), pairs(OTHER[of.layout], len(angles))
    partners, turns = (other, own) if wrong == "pairs" else (own, other)
    angle_of = {j: angles[k] for k, pair in enumerate(turns) for j in pair}
    rows = []
    for position, row in zip(positions, x.rows, strict=True):
        waves = {j: angle.at(position) for j, angle in angle_of.items()}
        entries = dict[int, Value]()
        for first, second in partners:
            entries[first] = row[first] * waves[first][0] - row[second] * waves[first][1]
            entries[second] = row[first] * waves[second][1] + row[second] * waves[second][0]
        rows.append([entries[j] for j in range(len(row))])
    return Matrix.of(rows)


OTHER: Mapping[Layout, Layout] = {"pairs": "halves", "halves": "pairs"}


def pairs(layout: Layout, count: int) -> list[tuple[int, int]]:
    """The features (from 0) of each pair."""
    return [(2 * k, 2 * k + 1) if layout == "pairs" else (k, k + count) for k in range(count)]


# ------------------------------------------------------------------------------------------ a bias by distance


def slopes_one_early(d: Derivation) -> Rewritten | None:
    """2^(−8(k − 1)/h) for head k of h, where h is a power of two and the slopes are ALiBi's own."""
    rewritten = {}
    layers = dict.fromkeys(StepName.of(step.name).place for step in d)
    for layer in layers:
        own = [(step, step.op) for step in d if step.stem == "S_B" and StepName.of(step.name).place == layer]
        biases = [(step, op) for step, op in own if isinstance(op, Bias)]
        slopes, heads = [op.slope for _, op in biases], len(biases)
        if heads > 1 and heads.bit_count() == 1 and slopes == [alibi_slope(k, heads) for k in range(1, heads + 1)]:
            for early, (step, op) in zip((1, *slopes), biases, strict=False):
                rewritten[step.name] = step.with_op(alibi(early, *op.values.shape))
    return rewritten


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
    ),
    Misconception(
        "E2",
        "positions counted from the wrong number",
        "P",
        encoded(from_the_other),
        exactly="the line of position p has the angles of p + 1 (of p − 1, where positions count from 1)",
        tell="All lines of P are the next ones.",
        feedback="Count positions as the conventions say: look at the first {row} of $@name(P)$ again.",
        core=True,
    ),
    Misconception(
        "E3",
        "sine and cosine swapped",
        "P",
        encoded(lambda own: ReplacementOp(own, _exchanged)),
        exactly="P has cos pθ where sin pθ belongs, and sin pθ where cos pθ belongs",
        tell="At position 0 the sines are 0 and the cosines are 1.",
        feedback="In every pair of $@name(P)$, the sine comes first and the cosine second.",
        core=True,
    ),
    Misconception(
        "E4",
        "position put beside the embedding",
        "X",
        summed(lambda step: Stack("columns")),
        exactly="X = [E P]",
        tell="X is twice as wide.",
        feedback="Add $@name(P)$ to the embeddings entry by entry; the width stays the same.",
    ),
    Misconception(
        "E5",
        "embedding not multiplied by √d_model",
        "E_scaled",
        replaced(Multiple, COPY, "E_scaled"),
        exactly="E' = E",
        tell="The embeddings are √d_model times too small.",
        feedback="Multiply the embeddings before positions are added, as the conventions say.",
        source="Vaswani et al. 2017, section 3.4, multiplies",
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
    ),
    Misconception(
        "E7",
        "values rotated as well",
        "Z",
        values_turned,
        exactly="Z = A R(V)",
        tell="Scores and weights are right.",
        feedback="Only queries and keys are rotated: the values $@name(V)$ are mixed as they are.",
    ),
    Misconception(
        "E8",
        "only the queries rotated",
        "R_K",
        turning(lambda own: COPY, "R_K"),
        exactly="the keys stay as they are",
        tell="Scores depend on the query's position, and not on how far the key is away.",
        feedback="Rotate the keys as well: only then does the angle between a query and a key depend on their "
        "distance.",
        core=True,
    ),
    Misconception(
        "E9",
        "key positions counted from a different number than query positions",
        "R_K",
        turning(from_the_other, "R_K"),
        exactly="the key of position p is turned by (p + 1)θ (by (p − 1)θ, where positions count from 1)",
        tell="Every distance is wrong by one.",
        feedback="Queries and keys count their positions from the same number.",
        prior="low",
    ),
    Misconception(
        "E10",
        "rotated the other way",
        "R_Q",
        turning(backwards),
        exactly="(x, y) becomes (x cos pθ + y sin pθ, −x sin pθ + y cos pθ)",
        tell="Scores are those of the opposite distance, and differ only off the diagonal.",
        feedback="Rotate by +pθ: the first of a pair becomes x cos pθ − y sin pθ.",
        core=True,
    ),
    Misconception(
        "E11",
        "wrong features paired",
        "R_Q",
        turning(other_pairs),
        exactly="pairs are k and d/2 + k where neighbours belong together, or neighbours where those do",
        tell="At position 0 nothing differs.",
        feedback="The conventions say which features form a pair: rotate those.",
        source="the two layouts of GPT-J (neighbours) and GPT-NeoX (halves)",
    ),
    Misconception(
        "E12",
        "scores of unrotated queries and keys",
        "S",
        turned_after_scores,
        exactly="S = Q Kᵀ",
        tell="The rotations are right, and nothing after them.",
        feedback="The scores are those of the rotated queries and keys.",
        prior="low",
    ),
    Misconception(
        "E13",
        "rotations counted from the wrong number",
        "R_Q",
        turning(from_the_other),
        exactly="queries and keys of position p are turned by (p + 1)θ (by (p − 1)θ, where positions count from 1)",
        tell="Queries and keys are wrong, and the scores right, since every distance is.",
        feedback="Count positions as the conventions say: look at the first {row} of the rotated queries again.",
    ),
    Misconception(
        "E14",
        "exponent 2j/d for feature j",
        "P",
        own_exponents(2),
        exactly="feature j, from 0, has θ = 1/10000^(2j/d) in place of 1/10000^(2k/d), with k the number of its pair",
        tell="The first feature is right; sine and cosine of a pair have different angles.",
        feedback="The exponent counts pairs, not features: the sine and the cosine of a pair have the same angle.",
        source="Kyubyong/transformer #38, jadore801120/attention-is-all-you-need-pytorch #32, "
        "DongjunLee/transformer-tensorflow #6, SamLynnEvans/Transformer #25",
        drawn=False,
    ),
    Misconception(
        "E15",
        "exponent j/d for feature j",
        "P",
        own_exponents(1),
        exactly="feature j, from 0, has θ = 1/10000^(j/d) in place of 1/10000^(2k/d), with k the number of its pair",
        tell="The sines are right; each cosine has an angle of its own.",
        feedback="The sine and the cosine of a pair have the same angle: give the cosine the exponent of its sine.",
        source="maxjcohen/transformer #62",
        drawn=False,
    ),
    Misconception(
        "E16",
        "wrong base for the angles",
        "P",
        with_angles(other_base),
        exactly="1/1000^(2k/d) in place of 1/10000^(2k/d); with 10000 where another base is declared",
        tell="The first pair is right.",
        feedback="Use the base that the conventions give for the angles.",
        drawn=False,
    ),
    Misconception(
        "E16b",
        "factor 2 missing in the exponent",
        "P",
        with_angles(half_exponent),
        exactly="1/10000^(k/d) in place of 1/10000^(2k/d), as with the base 100",
        tell="The first pair is right; the others turn faster than they should.",
        feedback="The exponent of pair k, counted from 0, is 2k/d: do not leave out the 2.",
        prior="low",
        drawn=False,
    ),
    Misconception(
        "E17",
        "pairs of the other layout, with the right angles",
        "R_Q",
        layouts_mixed("pairs"),
        exactly="each feature has its own angle, and the partner of the other layout (neighbours or halves)",
        tell="As E11 says, but the two features of a pair turn by different angles.",
        feedback="Rotate the pairs that the conventions give: both features of a pair turn by the same angle.",
        source="baidu/ERNIE-Image #6",
        prior="low",
        drawn=False,
    ),
    Misconception(
        "E17b",
        "angles of the other layout, with the right pairs",
        "R_Q",
        layouts_mixed("angles"),
        exactly="each feature has its own partner, and the angle of the other layout (neighbours or halves)",
        tell="The pairs are right, and their two features turn by different angles.",
        feedback="Both features of a pair turn by the angle of that pair.",
        source="facebookresearch/vjepa2 PR #15",
        prior="low",
        drawn=False,
    ),
    Misconception(
        "E18",
        "degrees and radians mixed up",
        "P",
        with_angles(degrees_and_radians),
        exactly="sin pθ and cos pθ with θ in degrees where it is in radians; in radians where it is in degrees",
        tell="Position 0 is right; where radians are meant, all sines are small and all cosines near 1.",
        feedback="Set your calculator to the unit in which the conventions give the angles.",
        drawn=False,
    ),
    Misconception(
        "E19",
        "ALiBi slopes off by one head",
        "S_B",
        slopes_one_early,
        exactly="head k of h has the slope 2^(−8(k − 1)/h)",
        tell="The slope of head 1 is 1, and every other head has that of the head before it.",
        feedback="The first head does not have slope 1: head k of h has slope $2^(-8k/h)$.",
        source="paiml/aprender #2143",
        drawn=False,
    ),
)
