"""Derivations that go token by token, laid out matrix by matrix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from symattn.derivation.derivation import Derivation, Op, Operand, Step, transposed, turned
from symattn.derivation.ops.attention import Mask, Softmax
from symattn.derivation.ops.entrywise import Round
from symattn.derivation.ops.linear import Hadamard, MatMul, Scale, Stack, SumOver
from symattn.exact import AnyMatrix, Matrix, Value


def matrixwise(d: Derivation) -> Derivation:
    """A token-by-token derivation as the matrix-wise one with the same values; any other one as it is."""
    if all(step.token is None for step in d):
        return d
    if d.orientation == "columns":
        rows = _rowwise(turned(d))
        return d if rows is None else turned(rows)
    return _rowwise(d) or d


def _rowwise(d: Derivation) -> Derivation | None:
    """Token by token, tokens as rows, put together; None if the lines are not those of our mechanisms."""
    tokens: dict[str, list[Step]] = {}
    for step in d:
        if step.token is not None:
            tokens.setdefault(step.role, []).append(step)
    if not all(_ours(role, steps) for role, steps in tokens.items()) or len(set(map(len, tokens.values()))) != 1:
        return None
    before = tuple(step for step in d if step.token is None and step.name != "Z")
    gathered = [_gathered(role, steps, d) for role, steps in tokens.items() if role != "weighted"]
    if any(step is None for step in gathered):
        return None
    return replace(d, steps=(*before, *(step for step in gathered if step is not None)))


_LINES: dict[str, tuple[type[Op], tuple[str, ...]]] = {
    "S": (MatMul, ("Q", "K")),
    "S'": (Scale, ("S",)),
    "M": (Mask, ("S", "S'")),
    "A": (Softmax, ("S", "S'", "M")),
    "A_rounded": (Round, ("A",)),
    "weighted": (Hadamard, ("A", "A_rounded", "V")),
    "Z": (SumOver, ("weighted",)),
}
"""What our mechanisms do token by token: the operation, and what it may be done with."""


def _ours(role: str, steps: Sequence[Step]) -> bool:
    """Whether these are the lines of all tokens, 1, 2, …, as our mechanisms write them."""
    kind, sources = _LINES.get(role, (Stack, ()))
    return [step.token for step in steps] == list(range(1, len(steps) + 1)) and all(
        isinstance(step.op, kind) and all(operand.name in sources for operand in _roles(step)) for step in steps
    )


def _gathered(role: str, steps: Sequence[Step], d: Derivation) -> Step | None:
    """One matrix from its rows, which may stand as columns; its operation read off the first of them."""
    result: AnyMatrix | None = _stacked(step.result for step in steps)
    if result is None:
        return None
    op, operands = steps[0].op, _roles(steps[0])
    if role == "S":
        operands = (Operand("Q"), transposed("K"))
    elif role == "Z":
        op, operands = MatMul(), (_roles(d[f"weighted.{steps[0].token}"])[0], Operand("V"))
        result = d.value("Z") if "Z" in d else result
    elif isinstance(op, Mask):
        keep = tuple(tuple(x for row in s.op.keep for x in row) for s in steps if isinstance(s.op, Mask))
        op = replace(op, keep=keep)
    elif isinstance(op, Softmax | Round):
        op = replace(op, along="rows")
    return Step(role, op, operands, result, pinned=any(step.pinned for step in steps))


def _roles(step: Step) -> tuple[Operand, ...]:
    return tuple(Operand(operand.name.partition(".")[0]) for operand in step.operands)


def _stacked(parts: Iterator[AnyMatrix]) -> Matrix | None:
    """Rows, or columns that stand for rows, one below the other; None if their lengths differ."""
    rows: list[tuple[Value, ...]] = []
    for part in parts:
        if not isinstance(part, Matrix):
            return None
        rows += (part if part.shape[0] == 1 else part.T).rows
    return Matrix.of(rows) if len({len(row) for row in rows}) == 1 else None
