"""Rows and columns exchanged: every derivation is said once, with tokens as rows, and turned where they are columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import singledispatch
from typing import Any

from symattn.derivation import Derivation, Op, Step
from symattn.ops.attention import Mask, Softmax
from symattn.ops.entrywise import Round
from symattn.ops.gradient import Interleave, NormGradient, Padded, ProductSum, SoftmaxGradient, SoftmaxJacobian, Spread
from symattn.ops.heads import Part
from symattn.ops.jacobian import InfinityNorm
from symattn.ops.linear import MatMul, Stack, SumOver
from symattn.ops.loss import CrossEntropy
from symattn.ops.normalisation import Mean, MeanSquare, Variance
from symattn.ops.online import Accumulate, Exponentials, RunningMaximum
from symattn.ops.position import Rotate, Sinusoids
from symattn.ops.positional import Positional
from symattn.ops.scores import Bias, Hardmax, Over, OverSum


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


@turned_op.register
def _(op: Bias) -> Op:
    return replace(op, values=op.values.T)


@turned_op.register
def _(op: Part) -> Op:
    return replace(op, of=_ACROSS[op.of])


@turned_op.register
def _(op: Padded) -> Op:
    return replace(op, part=replace(op.part, of=_ACROSS[op.part.of]))


@turned_op.register(Softmax)
@turned_op.register(Round)
@turned_op.register(Stack)
@turned_op.register(InfinityNorm)
@turned_op.register(OverSum)
@turned_op.register(Hardmax)
@turned_op.register(Over)
@turned_op.register(CrossEntropy)
@turned_op.register(SoftmaxJacobian)
@turned_op.register(SoftmaxGradient)
@turned_op.register(Interleave)
@turned_op.register(RunningMaximum)
@turned_op.register(Exponentials)
@turned_op.register(Accumulate)
def _along(op: Any) -> Op:
    """One that goes along rows or columns."""
    turned: Op = replace(op, along=_ACROSS[op.along])
    return turned


@turned_op.register(SumOver)
@turned_op.register(Mean)
@turned_op.register(Variance)
@turned_op.register(MeanSquare)
@turned_op.register(NormGradient)
@turned_op.register(ProductSum)
@turned_op.register(Spread)
def _over(op: Any) -> Op:
    """One that adds up over rows or columns."""
    turned: Op = replace(op, over=_ACROSS[op.over])
    return turned


_ACROSS: Mapping[str, Any] = {"rows": "columns", "columns": "rows"}


@turned_op.register(Sinusoids)
@turned_op.register(Rotate)
@turned_op.register(Positional)
def _positions(op: Sinusoids | Rotate | Positional) -> Op:
    return replace(op, tokens=_ACROSS[op.tokens])


@singledispatch
def reverses(op: Op) -> bool:
    """Whether the operands change places when everything is transposed."""
    return isinstance(op, MatMul)
