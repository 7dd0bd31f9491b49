"""Wrong queries, keys and values (rules.md 2.2, projection)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from symattn.derivation.derivation import Derivation, Op, Operand, Step, transposed
from symattn.derivation.misconceptions.base import (
    Change,
    EntryByEntry,
    Misconception,
    ReplacementOp,
    Rewritten,
    copying,
    each,
    first_row_repeated,
    in_first_row_only,
    of_matrices,
    step_of_kind,
)
from symattn.derivation.ops.linear import Add, MatMul
from symattn.errors import ShapeError
from symattn.exact import Matrix

ROLES = ("Q", "K", "V")


def product(d: Derivation, role: str) -> Step | None:
    """X W, before a bias and an activation; None if Q, K or V is given."""
    for name in (f"{role}_product", f"{role}_linear", role):
        place = step_of_kind(d, name, MatMul)
        if place and place[0].operands == (Operand("X"), Operand(f"W_{role}")):
            return place[0]
    return None


def products(d: Derivation) -> Iterator[tuple[str, Step]]:
    return ((role, step) for role in ROLES if (step := product(d, role)))


# ------------------------------------------------------------------------------------------ what is changed


def every_product(rewrite: Callable[[str, Step], Step]) -> Change:
    """All of Q, K and V in another way, as far as the shapes allow it; all of them where they allow none."""

    def change(d: Derivation) -> Rewritten:
        rewritten = {step.name: rewrite(role, step) for role, step in products(d)}
        return {name: step for name, step in rewritten.items() if _defined(d, step)} or rewritten

    return change


def _defined(d: Derivation, step: Step) -> bool:
    try:
        step.op.shape(*(matrix.shape for matrix in d.operands(step)))
    except ShapeError:
        return False
    return True


def exchanged(one: str, other: str) -> Change:
    """The weights of two roles change places, and their biases where both have one."""

    def change(d: Derivation) -> Rewritten | None:
        if product(d, one) is None or product(d, other) is None:
            return None
        names = {f"W_{one}": f"W_{other}", f"W_{other}": f"W_{one}"}
        if f"b_{one}" in d.givens and f"b_{other}" in d.givens:
            names |= {f"b_{one}": f"b_{other}", f"b_{other}": f"b_{one}"}
        return {
            step.name: of_matrices(step, names) for step in d if any(operand.name in names for operand in step.operands)
        }

    return change


def values_forgotten(d: Derivation) -> Rewritten | None:
    return {"V": copying(d["V"], "X")} if product(d, "V") else None


def same_weight(d: Derivation) -> Rewritten | None:
    step = product(d, "K")
    return {step.name: step.with_operands("X", "W_Q")} if step and product(d, "Q") else None


def weights_by_token(d: Derivation) -> Rewritten:
    """Token i is multiplied by the i-th of W_Q, W_K, W_V, counting round, of those that are as wide."""
    rewritten = {}
    for role, step in products(d):
        width = d.value(f"W_{role}").shape
        weights = [f"W_{r}" for r, _ in products(d) if d.value(f"W_{r}").shape == width]
        if len(weights) > 1:
            rewritten[step.name] = step.with_op(ReplacementOp(MatMul(), _row_by_row)).with_operands("X", *weights)
    return rewritten


def biased(write: Callable[[Step], Step | Op]) -> Change:
    """Every sum of a product and its bias, worked out in another way."""
    biases = {f"b_{role}" for role in ROLES}
    return each(Add, write, where=lambda step: step.operands[-1].name in biases)


def _row_by_row(_: Op, x: Matrix, *weights: Matrix) -> Matrix:
    rows = (MatMul().apply(x.row(i), weights[i % len(weights)]) for i in range(x.shape[0]))
    return Matrix.of(row.rows[0] for row in rows)


# ------------------------------------------------------------------------------------------ the entries

MISCONCEPTIONS = (
    Misconception(
        "P1",
        "rows of W used: X Wᵀ",
        "Q",
        every_product(lambda role, step: step.with_operands("X", transposed(f"W_{role}"))),
        exactly="Q = X W_Qᵀ, and K and V likewise where the shapes allow it",
        tell="Every entry is a row of X times a row of W; defined only where W is square.",
        feedback="Multiply the {rows} of $@name(X)$ by the {columns} of $@name(W_Q)$; you used the {rows} of "
        "$@name(W_Q)$.",
        source="column and row conventions disputed in probml/pml2-book #228",
        prior="high",
        turned_name="columns of W used: X Wᵀ",
    ),
    Misconception(
        "P2",
        "wrong order: W X",
        "Q",
        every_product(lambda role, step: step.with_operands(f"W_{role}", "X")),
        exactly="Q = W_Q X, and K and V likewise where the shapes allow it",
        tell="The result has d_model rows, or nothing shows where everything is square.",
        feedback="Tokens are {rows} here, so exchange the two factors: every {row} of $@name(Q)$ is made from one "
        "{row} of $@name(X)$.",
        source="column and row conventions disputed in probml/pml2-book #228; note 004 uses columns, and rightly",
        prior="high",
    ),
    Misconception(
        "P3",
        "multiplied entry by entry",
        "Q",
        every_product(lambda role, step: step.with_op(EntryByEntry())),
        exactly="Q = X ∘ W_Q, and K and V likewise where the shapes allow it",
        tell="Zero wherever X or W is zero; defined only where X and W have the same shape.",
        feedback="Each entry of $@name(Q)$ is a sum of products along a row and a column, not one product.",
        source="guides to errors in matrix multiplication",
        prior="low",
    ),
    Misconception(
        "P4",
        "Q and K swapped",
        "Q",
        exchanged("Q", "K"),
        exactly="Q = X W_K and K = X W_Q",
        tell="Q shows the values of K, and S is transposed; with T2 only S is.",
        feedback="Your $@name(Q)$ was made with $@name(W_K)$ and your $@name(K)$ with $@name(W_Q)$.",
        source="order mix-ups: jsbaan #1, TDNet #17",
        core=True,
    ),
    Misconception(
        "P5",
        "K and V swapped",
        "K",
        exchanged("K", "V"),
        exactly="K = X W_V and V = X W_K",
        tell="The scores are built from V; they are not defined unless d_k = d_v.",
        feedback="Keys are for matching and values for mixing: you swapped $@name(K)$ and $@name(V)$.",
        source="jsbaan #1 (q, k, v assigned q, v, k: harmless in training, wrong by hand)",
    ),
    Misconception(
        "P6",
        "Q and V swapped",
        "Q",
        exchanged("Q", "V"),
        exactly="Q = X W_V and V = X W_Q",
        tell="The scores are V Kᵀ; they are not defined unless d_k = d_v.",
        feedback="You swapped $@name(Q)$ and $@name(V)$: the queries ask, the values are what is mixed.",
        prior="low",
    ),
    Misconception(
        "P7",
        "W_V forgotten",
        "V",
        values_forgotten,
        exactly="V = X",
        tell="The output has d_model columns; with O5 V is right.",
        feedback="Mix the values, which are made from $@name(X)$ with $@name(W_V)$, not the raw inputs.",
        core=True,
    ),
    Misconception(
        "P8",
        "the same weight twice",
        "K",
        same_weight,
        exactly="K = X W_Q",
        tell="S is Q Qᵀ: symmetric, with sums of squares on the diagonal.",
        feedback="You used $@name(W_Q)$ for both $@name(Q)$ and $@name(K)$.",
        core=True,
    ),
    Misconception(
        "P9",
        "one row copied to all",
        "Q",
        every_product(lambda role, step: step.with_op(ReplacementOp(MatMul(), first_row_repeated))),
        exactly="every row of Q is x_1 W_Q, and of K and V likewise",
        tell="Row 1 is right, and all rows are equal.",
        feedback="Every {row} of $@name(X)$ is multiplied by $@name(W_Q)$: each token has a query of its own.",
        source="diagram of note 000",
        turned_name="one column copied to all",
    ),
    Misconception(
        "P9b",
        "a weight of its own for every token",
        "Q",
        weights_by_token,
        exactly="row i is x_i times the i-th of W_Q, W_K, W_V (counting round, of those that are as wide)",
        tell="Wrong in some rows only; Q and K are equal.",
        feedback="The same $@name(W_Q)$ is used for every token.",
        source="diagram of note 000",
    ),
    Misconception(
        "P10",
        "bias forgotten",
        "Q",
        biased(copying),
        exactly="Q = X W_Q without b_Q, and K and V likewise",
        tell="Every column is off by a constant.",
        feedback="Add the bias to every {row}.",
    ),
    Misconception(
        "P10b",
        "bias added to one row only",
        "Q",
        biased(lambda step: ReplacementOp(Add(), in_first_row_only)),
        exactly="b_Q is added to row 1 of X W_Q alone, and in K and V likewise",
        tell="Row 1 is right; every other row is off by the bias.",
        feedback="Add the bias to every {row}, not to the first one only.",
        turned_name="bias added to one column only",
    ),
)
