"""Rows and columns exchanged: every derivation is said once, with tokens as rows, and turned where they are columns."""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch

from symattn.derivation import Derivation, Op, Step
from symattn.ops.attention import Mask, Softmax
from symattn.ops.entrywise import Round
from symattn.ops.heads import Part
from symattn.ops.linear import MatMul, Stack, SumOver


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
def _(op: Part) -> Op:
    return replace(op, of="columns" if op.of == "rows" else "rows")


@turned_op.register
def _(op: SumOver) -> Op:
    return replace(op, over="columns" if op.over == "rows" else "rows")


@singledispatch
def reverses(op: Op) -> bool:
    """Whether the operands change places when everything is transposed."""
    return isinstance(op, MatMul)
