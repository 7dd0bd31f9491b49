"""Wrong recurrences, and wrong products of Jacobians through time.  They have not been collected from anywhere: their
priors are guesses.

What is done wrongly is done at every position, so that each of them changes one line for each position.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from symattn.derivation.derivation import Derivation, Op, Step
from symattn.derivation.misconceptions.base import COPY, Misconception, ReplacementOp, Rewritten
from symattn.derivation.ops import Activation, Add, Hadamard, MatMul
from symattn.derivation.ops.jacobian import InfinityNorm
from symattn.exact import Matrix, Value


def _positions(d: Derivation, role: str, kind: type[Op]) -> Iterator[Step]:
    """The lines of a role, position by position."""
    return (step for step in d if step.role == role and step.token and isinstance(step.op, kind))


def _rewritten(*steps: Step) -> Rewritten | None:
    return {step.name: step for step in steps} or None


# ------------------------------------------------------------------------------------------ the network


def without_function(d: Derivation) -> Rewritten | None:
    active = (s for s in _positions(d, "H", Activation) if s.op != COPY)
    return _rewritten(*(s.with_op(COPY) for s in active))


def without_the_state_before(d: Derivation) -> Rewritten | None:
    """Every position by itself: the product with the state before is worked out and not added."""
    sums = [s for role in ("H_linear", "H") for s in _positions(d, role, Add)]
    return _rewritten(*(replace(s, op=COPY, operands=s.operands[:1]) for s in sums))


def from_before_the_function(d: Derivation) -> Rewritten | None:
    before = {s.name: s.operands[0] for s in _positions(d, "H", Activation) if s.op != COPY}
    products = (s for s in _positions(d, "H_h", MatMul) if s.operands[0].name in before)
    return _rewritten(*(replace(s, operands=(before[s.operands[0].name], s.operands[1])) for s in products))


def always_the_first_state(d: Derivation) -> Rewritten | None:
    """The state is not carried on: every position goes on from the one that the first product has used."""
    products = list(_positions(d, "H_h", MatMul))
    return _rewritten(*(replace(s, operands=(products[0].operands[0], s.operands[1])) for s in products[1:]))


def weights_transposed(d: Derivation) -> Rewritten | None:
    products = _positions(d, "H_h", MatMul)
    return _rewritten(*(replace(s, operands=(s.operands[0], s.operands[1].flipped)) for s in products))


def weights_exchanged(d: Derivation) -> Rewritten | None:
    """Inputs times W_h, states times W_x."""
    own = {"W_x": "W_h", "W_h": "W_x"}
    products = [s for s in d if s.stem in ("H_x", "H_x_product", "H_h") and isinstance(s.op, MatMul)]
    changed = (
        replace(s, operands=tuple(replace(o, name=own.get(o.name, o.name)) for o in s.operands)) for s in products
    )
    return _rewritten(*changed)


# ------------------------------------------------------------------------------------------ through time


def slopes_forgotten(d: Derivation) -> Rewritten | None:
    jacobians = _positions(d, "J", Hadamard)
    return _rewritten(*(replace(s, op=COPY, operands=s.operands[:1]) for s in jacobians))


def slopes_along_the_other_way(d: Derivation) -> Rewritten | None:
    jacobians = _positions(d, "J", Hadamard)
    return _rewritten(*(replace(s, operands=(s.operands[0], s.operands[1].flipped)) for s in jacobians))


def products_entry_by_entry(d: Derivation) -> Rewritten | None:
    return _rewritten(*(s.with_op(Hadamard()) for s in _positions(d, "G", MatMul)))


def products_turned_round(d: Derivation) -> Rewritten | None:
    turned_round = [replace(s, operands=s.operands[::-1]) for s in _positions(d, "G", MatMul)]
    return _rewritten(*(s for s in turned_round if s.operands[0] != s.operands[1]))


def signs_kept(d: Derivation) -> Rewritten | None:
    return _rewritten(*(s.with_op(ReplacementOp(s.op, _largest_sum)) for s in _positions(d, "norm", InfinityNorm)))


def _largest_sum(of: Op, a: Matrix) -> Matrix:
    """The largest sum of a row with its signs: a row of the sizes of these sums has the same largest entry."""
    sums: list[Value] = []
    for row in a.rows:
        total: Value = 0
        for x in row:
            total = total + x
        sums.append(total)
    return of.apply(Matrix.of([x] for x in sums))


# ------------------------------------------------------------------------------------------ the entries

MISCONCEPTIONS = (
    Misconception(
        "U1",
        "activation left out",
        "H",
        without_function,
        exactly="h_t = a_t",
        tell="States are negative where ReLU would cut them off, or above 1 where tanh would not let them.",
        feedback="Apply the function before you go on to the next position.",
        source="experience",
        prior="medium",
    ),
    Misconception(
        "U2",
        "previous state left out",
        "H_linear",
        without_the_state_before,
        exactly="a_t = x_t W_x",
        tell="Equal inputs at different positions give equal states.",
        feedback="Add what comes from the previous state: that is what makes the network recurrent.",
        source="experience",
        prior="medium",
    ),
    Misconception(
        "U3",
        "pre-activation passed on",
        "H_h",
        from_before_the_function,
        exactly="a_t = x_t W_x + a_{t−1} W_h",
        tell="Right as long as nothing is cut off.",
        feedback="The next position reads the state after the function, not the pre-activation.",
        source="experience",
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
        source="experience",
        prior="medium",
    ),
    Misconception(
        "U5",
        "W_h transposed",
        "H_h",
        weights_transposed,
        exactly="h_{t−1} W_hᵀ",
        tell="Right where W_h is symmetric.",
        feedback="Do not transpose $@name(W_h)$ in this convention.",
        source="notes that write W_h h_{t−1} for columns",
        prior="medium",
    ),
    Misconception(
        "U6",
        "weights of inputs and states swapped",
        "H_x",
        weights_exchanged,
        exactly="x_t W_h + h_{t−1} W_x",
        tell="Not defined unless inputs and states are equally wide.",
        feedback="Inputs are multiplied by $@name(W_x)$ and states by $@name(W_h)$.",
        source="experience",
        prior="low",
    ),
    Misconception(
        "U7",
        "derivative of the activation forgotten",
        "J",
        slopes_forgotten,
        exactly="J_t = W_h",
        tell="Every Jacobian is the same.",
        feedback="By the chain rule, the derivatives of the activation are factors too.",
        source="experience",
        prior="high",
    ),
    Misconception(
        "U8",
        "slopes on the wrong side",
        "J",
        slopes_along_the_other_way,
        exactly="Row i of W_h times the slope of unit i, in place of column j times that of unit j",
        tell="A row of zeros where a unit is off, in place of a column.",
        feedback="The slope of a unit multiplies everything that goes into this unit: one {column} of $@name(W_h)$.",
        source="experience",
        prior="medium",
    ),
    Misconception(
        "U9",
        "powers entry by entry",
        "G",
        products_entry_by_entry,
        exactly="G_t = G_{t−1} ⊙ J_t",
        tell="Zeros of W_h stay zeros.",
        feedback="Jacobians are multiplied as matrices.",
        source="experience",
        prior="medium",
    ),
    Misconception(
        "U10",
        "Jacobians in the other order",
        "G",
        products_turned_round,
        exactly="G_t = J_t G_{t−1}",
        tell="Right where all Jacobians are the same.",
        feedback="The order of the factors is that in which the states follow one another.",
        source="texts with states as columns, where it is J_T … J_1",
        prior="medium",
    ),
    Misconception(
        "U11",
        "absolute values left out of the norm",
        "norm",
        signs_kept,
        exactly="The largest size of a row's sum, in place of the largest sum of sizes",
        tell="Too small where a row has entries of both signs.",
        feedback="Take the absolute value of every entry before you add.",
        source="experience",
        prior="medium",
    ),
)
