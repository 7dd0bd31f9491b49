"""Rows and columns exchanged: every derivation is said once, with tokens as rows, and turned where they are columns."""

from __future__ import annotations

from dataclasses import replace

from symattn.derivation.derivation import Derivation, Step


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
        op=step.op.turn(),
        operands=operands[::-1] if step.op.reverses else operands,
        result=step.result.T,
    )
