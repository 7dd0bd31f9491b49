"""What goes wrong where attention is worked out bit by bit: in blocks of keys, and with a key/value cache."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from symattn.derivation.derivation import Derivation, Op, Step, StepName
from symattn.derivation.misconceptions.base import COPY, Change, Misconception, ReplacementOp, Rewritten
from symattn.derivation.ops import Accumulate, Add, Append, Exponentials, Over, RunningMaximum
from symattn.exact import NEGATIVE_INFINITY, Matrix

# ------------------------------------------------------------------------------------------ block by block


def running(d: Derivation, *stems: str) -> Iterator[Step]:
    """The steps that bring a sum so far and a new block together."""
    return (step for step in d if step.stem in stems and isinstance(step.op, Accumulate))


def added_as_they_are(*stems: str) -> Change:
    """Sums of different maxima added without rescaling."""

    def change(d: Derivation) -> Rewritten:
        return {step.name: step.with_op(Add()).with_operands(*step.operands[1:]) for step in running(d, *stems)}

    return change


def rescaled_the_other_way(d: Derivation) -> Rewritten:
    factors = (step for step in d if step.stem == "alpha" and isinstance(step.op, Exponentials))
    return {step.name: step.with_operands(*step.operands[::-1]) for step in factors}


def not_divided(d: Derivation) -> Rewritten | None:
    last = next((step for step in d if step.name == "Z" and isinstance(step.op, Over)), None)
    summed = last is not None and any(isinstance(step.op, RunningMaximum) for step in d)
    return {"Z": last.with_op(COPY).with_operands(last.operands[0])} if last and summed else None


def last_block_alone(d: Derivation) -> Rewritten:
    return {step.name: step.with_op(COPY).with_operands(step.operands[2]) for step in running(d, "l", "O_run")}


# ------------------------------------------------------------------------------------------ with a cache


def later(d: Derivation, *roles: str) -> Iterator[tuple[Step, int]]:
    """The lines of every token but the first, with its number, where keys are kept."""
    if any(isinstance(step.op, Append) for step in d):
        for step in d:
            if step.role in roles and step.token is not None and step.token > 1:
                yield step, step.token


def asked_before_kept(d: Derivation) -> Rewritten:
    rewritten = {}
    for step, t in later(d, "S", "Z"):
        first, kept = step.operands
        rewritten[step.name] = step.with_operands(first, replace(kept, name=f"{StepName.of(kept.name).stem}.{t - 1}"))
    return rewritten


def first_key_alone(d: Derivation) -> Rewritten:
    return {step.name: step.with_op(ReplacementOp(step.op, _first_alone)) for step, _ in later(d, "A")}


def _first_alone(of: Op, scores: Matrix) -> Matrix:
    hidden = [NEGATIVE_INFINITY] * (scores.shape[1] - 1)
    return of.apply(Matrix.of([[row[0], *hidden] for row in scores.rows]))


# ------------------------------------------------------------------------------------------ the entries

MISCONCEPTIONS = (
    Misconception(
        "F1",
        "running sum not rescaled",
        "l",
        added_as_they_are("l", "O_run"),
        exactly="the sum and the output so far are added to those of the new block as they are",
        tell="Right where the maximum does not grow, for the factor is 1.",
        feedback="Multiply what was summed with the old maximum by $@name(alpha_2)$ before the new block is added.",
        source="experience",
        prior="high",
        core=True,
    ),
    Misconception(
        "F2",
        "running output not rescaled",
        "O_run",
        added_as_they_are("O_run"),
        exactly="the sum is rescaled, and the output is not",
        tell="The running sums are right.",
        feedback="The running output was summed with the old maximum too: multiply it by $@name(alpha_2)$ as well.",
        source="experience",
        prior="medium",
        core=True,
    ),
    Misconception(
        "F3",
        "rescaled the other way",
        "alpha",
        rescaled_the_other_way,
        exactly="the factor is e^(m_new − m_old)",
        tell="Factors above 1.",
        feedback="A larger maximum shrinks what was summed before: the exponent is the old maximum minus the new one.",
        source="experience",
        prior="medium",
        core=True,
    ),
    Misconception(
        "F4",
        "not divided at the end",
        "Z",
        not_divided,
        exactly="Z is the running output of the last block",
        tell="The weights behind it do not sum to 1.",
        feedback="Divide the running output by the running sum once all blocks have been processed.",
        source="experience",
        prior="medium",
        core=True,
    ),
    Misconception(
        "F5",
        "only the last block counted",
        "l",
        last_block_alone,
        exactly="the sum and the output of a block replace those so far",
        tell="The output is a mean of the last block's values.",
        feedback="Every block is added to what the earlier ones gave.",
        source="experience",
        prior="low",
    ),
    Misconception(
        "F6",
        "query used before its own key is cached",
        "S",
        asked_before_kept,
        exactly="token t is scored against the keys of 1 … t − 1",
        tell="Each list of scores is one too short, but for the first.",
        feedback="A token sees itself: cache its key and its value first, then use its query.",
        source="experience",
        prior="medium",
    ),
    Misconception(
        "F7",
        "masked as if it were the first query",
        "A",
        first_key_alone,
        exactly="the one new query sees the first key alone",
        tell="Every output is the first value.",
        feedback="The new query is the last one: it sees every cached key.",
        source="a causal mask aligned at the top left, put on a single query",
        prior="medium",
    ),
)
