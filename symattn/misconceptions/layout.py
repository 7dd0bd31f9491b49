"""One layout for all: tokens as rows, matrix by matrix, so that every misconception is said once.

`turned` exchanges tokens as rows and tokens as columns; `whole` puts the lines of a token-by-token derivation together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import singledispatch

from symattn.derivation import Derivation, Op, Operand, Step, transposed
from symattn.exact import AnyMatrix, Matrix
from symattn.ops import Mask, MatMul, Round, Softmax, Stack, SumOver

# ------------------------------------------------------------------------------------------ rows and columns


def turned(d: Derivation) -> Derivation:
    """The same derivation with every matrix transposed: tokens as columns become tokens as rows, and back."""
    return replace(
        d,
        givens={name: matrix.T for name, matrix in d.givens.items()},
        steps=tuple(map(turned_step, d.steps)),
        orientation="columns" if d.orientation == "rows" else "rows",
    )


def turned_step(step: Step) -> Step:
    """A line for the transposed matrices: (A B)ᵀ = Bᵀ Aᵀ, so that factors change places; the rest stay in theirs."""
    operands = tuple(replace(o, row=o.column, column=o.row) for o in step.operands)
    return replace(
        step,
        op=turned_op(step.op),
        operands=operands[::-1] if reverses(step.op) else operands,
        result=step.result.T,
    )


@singledispatch
def turned_op(op: Op) -> Op:
    """What an operation is on transposed matrices; one that treats rows and columns alike is itself."""
    return op


@turned_op.register
def _(op: Mask) -> Op:
    return replace(op, keep=tuple(zip(*op.keep, strict=True)))


@turned_op.register(Softmax)
@turned_op.register(Round)
@turned_op.register(Stack)
def _along(op: Softmax | Round | Stack) -> Op:
    return replace(op, along="columns" if op.along == "rows" else "rows")


@turned_op.register
def _(op: SumOver) -> Op:
    return replace(op, over="columns" if op.over == "rows" else "rows")


@singledispatch
def reverses(op: Op) -> bool:
    """Whether the operands change places when everything is transposed."""
    return isinstance(op, MatMul)


# ------------------------------------------------------------------------------------------ token by token


def whole(d: Derivation) -> Derivation:
    """A token-by-token derivation as the matrix-wise one with the same values; any other one as it is."""
    if all(step.token is None for step in d):
        return d
    if d.orientation == "columns":
        rows = whole_rows(turned(d))
        return d if rows is None else turned(rows)
    return whole_rows(d) or d


def whole_rows(d: Derivation) -> Derivation | None:
    """Token by token, tokens as rows, put together; none where the lines are not those of our mechanisms."""
    tokens: dict[str, list[Step]] = {}
    for step in d:
        if step.token is not None:
            tokens.setdefault(step.role, []).append(step)
    count = len(next(iter(tokens.values())))
    if not set(tokens) <= {"S", "S'", "M", "A", "A_rounded", "weighted", "Z"} or any(
        [step.token for step in steps] != list(range(1, count + 1)) for steps in tokens.values()
    ):
        return None
    before = tuple(step for step in d if step.token is None and step.name != "Z")
    gathered = [_gathered(role, steps, d) for role, steps in tokens.items() if role != "weighted"]
    if any(step is None for step in gathered):
        return None
    return replace(d, steps=(*before, *(step for step in gathered if step is not None)))


def _gathered(role: str, steps: Sequence[Step], d: Derivation) -> Step | None:
    """One matrix from its rows, which may stand as columns; its operation read off the first of them."""
    result = _stacked(step.result for step in steps)
    match role, steps[0].op:
        case "S", MatMul():
            op, operands = MatMul(), (Operand("Q"), transposed("K"))
        case "M", Mask() as mask:
            keep = tuple(tuple(x for row in s.op.keep for x in row) for s in steps if isinstance(s.op, Mask))
            op, operands = replace(mask, keep=keep), _roles(steps[0])
        case "A" | "A_rounded", Softmax() | Round() as along:
            op, operands = replace(along, along="rows"), _roles(steps[0])
        case "Z", _:
            weights = _roles(d[f"weighted.{steps[0].token}"])[0]
            op, operands = MatMul(), (weights, Operand("V"))
            result = d.value("Z") if "Z" in d else result
        case _, other:
            op, operands = other, _roles(steps[0])
    pinned = any(step.pinned for step in steps)
    return None if result is None else Step(role, op, operands, result, pinned=pinned)


def _roles(step: Step) -> tuple[Operand, ...]:
    return tuple(Operand(operand.name.partition(".")[0]) for operand in step.operands)


def _stacked(parts: Iterator[AnyMatrix]) -> Matrix | None:
    """Rows, or columns that stand for rows, one below the other; none where their lengths differ."""
    rows: list[tuple[object, ...]] = []
    for part in parts:
        if not isinstance(part, Matrix):
            return None
        rows += (part if part.shape[0] == 1 else part.T).rows
    return Matrix.of(rows) if len({len(row) for row in rows}) == 1 else None  # type: ignore[arg-type]
