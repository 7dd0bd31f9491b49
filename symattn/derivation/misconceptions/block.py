"""Wrong residuals, norms and feed-forward networks (rules.md 2.2, block).

A belief about norms is held at every norm of a block, and one about residuals at every residual.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from symattn.derivation.derivation import Derivation, Op, Step
from symattn.derivation.misconceptions.base import (
    COPY,
    Change,
    Misconception,
    ReplacementOp,
    Rewritten,
    copying,
    done_otherwise,
    each,
    everywhere,
    replaced,
    step_of_kind,
)
from symattn.derivation.ops.entrywise import Activation
from symattn.derivation.ops.linear import Add, Hadamard
from symattn.derivation.ops.normalisation import Mean, MeanSquare, OverRoot, Rescale, Variance
from symattn.exact import Matrix, Value, divide, square_root

NORMS = ("N", "N1", "N2", "N3")
DIVIDED = tuple(f"{name}{kind}" for name in NORMS for kind in ("", "_hat", "_gamma"))
STATISTICS = (Mean, Variance, MeanSquare)
RESIDUALS = ("R1", "R2", "R3")
PROJECTIONS = ("Q", "K", "V", "Q_product", "K_product", "V_product", "Q_linear", "K_linear", "V_linear")

# ------------------------------------------------------------------------------------------ what is changed


@dataclass(frozen=True)
class Norm:
    """One norm of a derivation: of which matrix, its step that divides, and the steps of γ and β after it."""

    name: str
    source: str
    divided: Step
    after: tuple[Step, ...]


def norms(d: Derivation) -> Iterator[Norm]:
    for name in NORMS:
        own = [step for step in d if step.name in (name, f"{name}_hat", f"{name}_gamma")]
        divided = next((step for step in own if isinstance(step.op, OverRoot)), None)
        if divided is not None:
            after = tuple(step for step in own if step is not divided)
            yield Norm(name, divided.operands[0].name, divided, after)


def residual_of_the_norm(d: Derivation, step: Step, own: Add) -> Step | None:
    """In pre-norm, where what is normed goes past the sublayer as it was."""
    order = {step.name: i for i, step in enumerate(d)}
    for norm in norms(d):
        if norm.source == step.operands[0].name and order[norm.name] < order[step.name]:
            return step.with_operands(norm.name, step.operands[1])
    return None


def over_everything(d: Derivation) -> Rewritten | None:
    """One mean and one variance of all entries, at every norm."""
    statistics = [operand.name for norm in norms(d) for operand in norm.divided.operands[1:]]
    return done_otherwise(STATISTICS, _of_all_rows, *statistics)(d) if statistics else None


def _of_all_rows(of: Op, *operands: Matrix) -> Matrix:
    """The mean of all that a statistic gives for rows of equal length, for each of them."""
    (mean,) = Mean("rows").apply(Matrix.of([x] for x in of.apply(*operands)))
    return Matrix.of([mean] for _ in operands[0].rows)


def each_norm(by: Callable[[Value, Value], Value]) -> Change:
    """What a norm divides, over something else than √(σ² + ε), at every norm; no place where that is the same."""

    def write(own: OverRoot) -> Op | None:
        same = own.epsilon == 0 and by is _root_and_epsilon
        return None if same else ReplacementOp(own, _divided, given=(by,))

    return replaced(OverRoot, write, *DIVIDED)


def _divided(by: Callable[[Value, Value], Value], of: OverRoot, x: Matrix, *statistics: Matrix) -> Matrix:
    *means, variance = statistics
    deviations = Add().apply(x, means[0].map(lambda m: -m)) if means else x
    return Hadamard().apply(deviations, variance.map(lambda v: divide(1, by(v, of.epsilon))))


def _root_and_epsilon(variance: Value, epsilon: Value) -> Value:
    return square_root(variance) + epsilon


def _no_root(variance: Value, epsilon: Value) -> Value:
    return variance + epsilon


def other_norm_place(d: Derivation) -> Rewritten | None:
    """Pre-norm for post-norm, x + f(LN(x)) for LN(x + f(x)), or the other way round; norms without γ and β.

    The lines keep their names and their order: a norm that stands elsewhere is worked out within the line that uses it.
    """
    second = step_of_kind(d, "R2", Add)
    listed = {norm.name: norm for norm in norms(d)}
    if second is None or "N2" not in listed or any(norm.after for norm in listed.values()):
        return None
    step, norm = second[0], listed["N2"]
    projections = [s for s in d if s.name in PROJECTIONS and s.operands[0].name in ("X", "N1")]
    if norm.source == "R2":  # post
        early = {s.name: s.with_op(ReplacementOp(s.op, _of_normed, given=(norm.divided.op,))) for s in projections}
        return {**early, "R2": step.with_operands("R1", step.operands[1]), "N2": copying(norm.divided, "R2")}
    rewritten = {s.name: s.with_operands("X", s.operands[1]) for s in projections}
    normed = ReplacementOp(step.op, _then_normed, given=(norm.divided.op,))
    return {**rewritten, "R2": step.with_op(normed).with_operands("N2", step.operands[1])}


def _norm_of(x: Matrix, op: Op) -> Matrix:
    """A whole norm, statistics and all."""
    if isinstance(op, Rescale):
        return op.apply(x, MeanSquare().apply(x))
    mean = Mean().apply(x)
    return op.apply(x, mean, Variance().apply(x, mean))


def _of_normed(norm: Op, of: Op, first: Matrix, *others: Matrix) -> Matrix:
    return of.apply(_norm_of(first, norm), *others)


def _then_normed(norm: Op, of: Op, *operands: Matrix) -> Matrix:
    return _norm_of(of.apply(*operands), norm)


def activated_before_bias(d: Derivation) -> Rewritten | None:
    linear, activated = step_of_kind(d, "H_linear", Add), step_of_kind(d, "H", Activation)
    if linear is None or activated is None:
        return None
    product, bias = linear[0].operands
    return {
        "H_linear": linear[0].with_op(activated[1]).with_operands(product),
        "H": activated[0].with_op(linear[1]).with_operands("H_linear", bias),
    }


def not_activated(d: Derivation, step: Step, own: Activation) -> Op | None:
    return COPY if "W_2" in d else None


def not_scaled_and_shifted(d: Derivation) -> Rewritten | None:
    """The lines of γ and β copy the one before."""
    return {step.name: copying(step) for norm in norms(d) for step in norm.after}


def norm_not_used(d: Derivation) -> Rewritten | None:
    """Everything after the statistics copies what was to be normed."""
    return {step.name: copying(step, norm.source) for norm in norms(d) for step in (norm.divided, *norm.after)}


# ------------------------------------------------------------------------------------------ the entries

MISCONCEPTIONS = (
    Misconception(
        "B1",
        "residual forgotten",
        "R1",
        each(Add, lambda step: copying(step, 1), *RESIDUALS),
        exactly="R = f(X) instead of X + f(X), in every sublayer",
        tell="The sum is what the sublayer gave.",
        feedback="Add the input of the sublayer to its output before you go on.",
        prior="high",
        core=True,
    ),
    Misconception(
        "B2",
        "residual taken from the normalised input",
        "R1",
        everywhere(Add, residual_of_the_norm, *RESIDUALS),
        exactly="R = LN(X) + f(LN(X)) instead of X + f(LN(X)), in pre-norm",
        tell="The difference from the right sum is LN(X) − X.",
        feedback="The residual is the input of the sublayer before the norm.",
        source="faster-trajectory-transformer #3, RiNALMo #9",
    ),
    Misconception(
        "B3",
        "normalised over the tokens",
        "N1_mean",
        replaced(STATISTICS, lambda own: own.turn() if own.over != "rows" else None),
        exactly="means and variances of every column, and not of every row",
        tell="Columns have mean 0, and not rows.",
        feedback="Each token is normalised by itself, across its features.",
        source="jadore801120 PR #17 (a confirmed bug), udlbook #237, GATr PR #8",
        prior="high",
        core=True,
    ),
    Misconception(
        "B4",
        "sample variance used",
        "N1_var",
        replaced(Variance, lambda own: Variance("sample") if own.of == "population" else None),
        exactly="σ² divides by d − 1 instead of d",
        tell="The norm is smaller by the factor √((d − 1)/d).",
        feedback="The variance of a norm divides by the number of features, not by one less.",
        source="annotated-transformer #119, #122; allennlp #953; BERT-pytorch #30",
        prior="high",
        core=True,
    ),
    Misconception(
        "B5",
        "ε outside the root",
        "N1",
        each_norm(_root_and_epsilon),
        exactly="N = (X − μ)/(σ + ε)",
        tell="The same where ε = 0, and nearly so where it is small.",
        feedback="ε is added to the variance, under the root.",
        source="hyunwoongko #7, BERT-pytorch #30",
        prior="low",
    ),
    Misconception(
        "B6",
        "divided by the variance",
        "N1",
        each_norm(_no_root),
        exactly="N = (X − μ)/(σ² + ε)",
        tell="The same where the variance is 1; the ratio is σ elsewhere.",
        feedback="Divide by the standard deviation: take the root of the variance first.",
    ),
    Misconception(
        "B7",
        "pre-norm and post-norm swapped",
        "R2",
        other_norm_place,
        exactly="X + f(LN(X)) for LN(X + f(X)), or the other way round",
        tell="In pre-norm the last line is a sum, and in post-norm a norm.",
        feedback="Look where the norm is: at the input of the sublayer (pre-norm), or after the sum (post-norm).",
        source="mlx #1636, NeMo PR #4350",
    ),
    Misconception(
        "B8",
        "activation applied before the bias",
        "H_linear",
        activated_before_bias,
        exactly="H = f(X W_1) + b_1",
        tell="With ReLU, hidden units are negative where the bias is.",
        feedback="Add the bias first, then apply the function.",
        core=True,
    ),
    Misconception(
        "B9",
        "no activation",
        "H",
        everywhere(Activation, not_activated, "H"),
        exactly="H = X W_1 + b_1",
        tell="Hidden units are those before the function; with ReLU some are negative.",
        feedback="Apply the function to every hidden unit; without it both layers are one.",
    ),
    Misconception(
        "B10",
        "γ and β left out",
        "N1",
        not_scaled_and_shifted,
        exactly="N = (X − μ)/σ",
        tell="Rows have mean 0 and variance 1.",
        feedback="Scale by γ and shift by β last, feature by feature.",
        prior="low",
    ),
    Misconception(
        "B11",
        "normalisation not used",
        "N1",
        norm_not_used,
        exactly="N = X: what comes after uses what was to be normed",
        tell="Rows keep their means.",
        feedback="Continue with the normalised rows.",
        source="LA_MIL #3",
        prior="low",
    ),
    Misconception(
        "B12",
        "normalised over the whole matrix",
        "N1_mean",
        over_everything,
        exactly="one μ and one σ² of all entries, in place of one for each token",
        tell="All tokens have the same mean and the same variance; with B3 these are one for each feature.",
        feedback="Each token has its own mean and variance: work them out {row} by {row}.",
        source="Qualcomm-AI-research/geometric-algebra-transformer PR #8, reczoo/FuxiCTR #23",
        drawn=False,
    ),
)
