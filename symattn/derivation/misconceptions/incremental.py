"""What goes wrong bit by bit: attention in blocks of keys or with a key/value cache, and networks through time.

What is believed wrongly of recurrences changes one line for each position.  It has not been collected from anywhere:
its priors are guesses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from symattn.derivation.derivation import Derivation, Op, Step, StepName
from symattn.derivation.misconceptions.base import (
    COPY,
    Change,
    Kind,
    Misconception,
    ReplacementOp,
    Rewritten,
    copying,
    each,
    everywhere,
    of_matrices,
)
from symattn.derivation.ops.entrywise import Activation
from symattn.derivation.ops.gradient import InfinityNorm
from symattn.derivation.ops.linear import Add, Append, Hadamard, MatMul
from symattn.derivation.ops.online import Accumulate, Exponentials, RunningMaximum
from symattn.derivation.ops.scores import Over
from symattn.exact import NEGATIVE_INFINITY, Matrix
from symattn.exact.sums import total

# ------------------------------------------------------------------------------------------ block by block


def of_stems(write: Callable[[Step], Step], kind: Kind[Op], *stems: str) -> Change:
    """Every step of these stems, whichever block it belongs to."""
    return each(kind, write, where=lambda step: step.stem in stems)


def added_as_they_are(*stems: str) -> Change:
    """Sums of different maxima added without rescaling."""
    return of_stems(lambda step: step.with_op(Add()).with_operands(*step.operands[1:]), Accumulate, *stems)


def not_divided(d: Derivation, step: Step, own: Over) -> Step | None:
    return copying(step) if any(isinstance(other.op, RunningMaximum) for other in d) else None


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


# ------------------------------------------------------------------------------------ recurrences


def at_positions(role: str, kind: type[Op], write: Callable[[Step], Step | Op | None]) -> Change:
    """The lines of a role, position by position."""
    return each(kind, write, where=lambda step: step.role == role and bool(step.token))


def with_weights_flipped(step: Step) -> Step:
    return step.with_operands(step.operands[0], step.operands[1].flipped)


# ------------------------------------------------------------------------------------------ the network


def from_before_the_function(d: Derivation) -> Rewritten | None:
    before = {s.name: s.operands[0] for s in d if s.role == "H" and isinstance(s.op, Activation) and s.op != COPY}

    def write(step: Step) -> Step | None:
        state, weights = step.operands
        return step.with_operands(before[state.name], weights) if state.name in before else None

    return at_positions("H_h", MatMul, write)(d)


def always_the_first_state(d: Derivation) -> Rewritten | None:
    """The state is not carried on: every position goes on from the one that the first product has used."""
    first = next((s for s in d if s.role == "H_h" and s.token and isinstance(s.op, MatMul)), None)

    def write(step: Step) -> Step | None:
        return step.with_operands(first.operands[0], step.operands[1]) if first and step is not first else None

    return at_positions("H_h", MatMul, write)(d)


def weights_exchanged(step: Step) -> Step:
    """Inputs times W_h, states times W_x."""
    return of_matrices(step, {"W_x": "W_h", "W_h": "W_x"})


# ------------------------------------------------------------------------------------------ through time


def products_turned_round(step: Step) -> Step | None:
    first, second = step.operands
    return step.with_operands(second, first) if first != second else None


def _largest_sum(of: Op, a: Matrix) -> Matrix:
    """The largest sum of a row with its signs: a row of the sizes of these sums has the same largest entry."""
    return of.apply(Matrix.of([total(row)] for row in a.rows))


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
        core=True,
    ),
    Misconception(
        "F3",
        "rescaled the other way",
        "alpha",
        of_stems(lambda step: step.with_operands(*step.operands[::-1]), Exponentials, "alpha"),
        exactly="the factor is e^(m_new − m_old)",
        tell="Factors above 1.",
        feedback="A larger maximum shrinks what was summed before: the exponent is the old maximum minus the new one.",
        core=True,
    ),
    Misconception(
        "F4",
        "not divided at the end",
        "Z",
        everywhere(Over, not_divided, "Z"),
        exactly="Z is the running output of the last block",
        tell="The weights behind it do not sum to 1.",
        feedback="Divide the running output by the running sum once all blocks have been processed.",
        core=True,
    ),
    Misconception(
        "F5",
        "only the last block counted",
        "l",
        of_stems(lambda step: copying(step, 2), Accumulate, "l", "O_run"),
        exactly="the sum and the output of a block replace those so far",
        tell="The output is a mean of the last block's values.",
        feedback="Every block is added to what the earlier ones gave.",
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
    ),
    Misconception(
        "U1",
        "activation left out",
        "H",
        at_positions("H", Activation, lambda step: COPY if step.op != COPY else None),
        exactly="h_t = a_t",
        tell="States are negative where ReLU would cut them off, or above 1 where tanh would not let them.",
        feedback="Apply the function before you go on to the next position.",
    ),
    Misconception(
        "U2",
        "previous state left out",
        "H_linear",
        each(Add, copying, where=lambda step: step.role in ("H_linear", "H") and bool(step.token)),
        exactly="a_t = x_t W_x",
        tell="Equal inputs at different positions give equal states.",
        feedback="Add what comes from the previous state: that is what makes the network recurrent.",
    ),
    Misconception(
        "U3",
        "pre-activation passed on",
        "H_h",
        from_before_the_function,
        exactly="a_t = x_t W_x + a_{t−1} W_h",
        tell="Right as long as nothing is cut off.",
        feedback="The next position reads the state after the function, not the pre-activation.",
        prior="high",
    ),
    Misconception(
        "U4",
        "state not carried on",
        "H_h",
        always_the_first_state,
        exactly="a_t = x_t W_x + h_0 W_h at every position",
        tell="The first position is right, and the contribution of the state is the same everywhere.",
        feedback="Every position reads the state of the position before it.",
    ),
    Misconception(
        "U5",
        "W_h transposed",
        "H_h",
        at_positions("H_h", MatMul, with_weights_flipped),
        exactly="h_{t−1} W_hᵀ",
        tell="Right where W_h is symmetric.",
        feedback="Do not transpose $@name(W_h)$ in this convention.",
        source="notes that write W_h h_{t−1} for columns",
    ),
    Misconception(
        "U6",
        "weights of inputs and states swapped",
        "H_x",
        of_stems(weights_exchanged, MatMul, "H_x", "H_x_product", "H_h"),
        exactly="x_t W_h + h_{t−1} W_x",
        tell="Not defined unless inputs and states are equally wide.",
        feedback="Inputs are multiplied by $@name(W_x)$ and states by $@name(W_h)$.",
        prior="low",
    ),
    Misconception(
        "U7",
        "derivative of the activation forgotten",
        "J",
        at_positions("J", Hadamard, copying),
        exactly="J_t = W_h",
        tell="Every Jacobian is the same.",
        feedback="By the chain rule, the derivatives of the activation are factors too.",
        prior="high",
    ),
    Misconception(
        "U8",
        "slopes on the wrong side",
        "J",
        at_positions("J", Hadamard, with_weights_flipped),
        exactly="Row i of W_h times the slope of unit i, in place of column j times that of unit j",
        tell="A row of zeros where a unit is off, in place of a column.",
        feedback="The slope of a unit multiplies everything that goes into this unit: one {column} of $@name(W_h)$.",
    ),
    Misconception(
        "U9",
        "powers entry by entry",
        "G",
        at_positions("G", MatMul, lambda step: Hadamard()),
        exactly="G_t = G_{t−1} ⊙ J_t",
        tell="Zeros of W_h stay zeros.",
        feedback="Jacobians are multiplied as matrices.",
    ),
    Misconception(
        "U10",
        "Jacobians in the other order",
        "G",
        at_positions("G", MatMul, products_turned_round),
        exactly="G_t = J_t G_{t−1}",
        tell="Right where all Jacobians are the same.",
        feedback="The order of the factors is that in which the states follow one another.",
        source="texts with states as columns, where it is J_T … J_1",
    ),
    Misconception(
        "U11",
        "absolute values left out of the norm",
        "norm",
        at_positions("norm", InfinityNorm, lambda step: ReplacementOp(step.op, _largest_sum)),
        exactly="The largest size of a row's sum, in place of the largest sum of sizes",
        tell="Too small where a row has entries of both signs.",
        feedback="Take the absolute value of every entry before you add.",
    ),
)
