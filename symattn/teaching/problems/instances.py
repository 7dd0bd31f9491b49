"""Instances of theorems: random numbers that a theorem is checked with, and the two tasks about them.

The two answers of an instance follow from the theorem; `direct` gets them without it, and both must agree.  Instances
have whole scores with base 2, so that weights are fractions, unless the theorem is about something else.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeAlias

from symattn.derivation.ops import Mask, Softmax
from symattn.derivation.ops.attention import Keep
from symattn.exact import Matrix, Value, divide
from symattn.formula import Formula, Relation
from symattn.foundation.dice import whole
from symattn.foundation.languages import message
from symattn.page.document import Block, Display, FillIn, FillIns, Inlines, Math, Paragraph, Words
from symattn.teaching.explanation.steps import cell_kind
from symattn.teaching.problems.asking import Offer, TurningProse, choice_part
from symattn.teaching.problems.systems import Row, Rows
from symattn.teaching.question import Answer, FormulaAnswer, Mark, MatrixAnswer, Part

NEW = message("new")
"""The index of what a theorem's change makes of a matrix."""

Direct: TypeAlias = "Matrix | Value | frozenset[int]"


Tasks = tuple[tuple[Block, ...], Part, Part]
"""What is printed above, and the two tasks, which have no names yet."""


class Instance:
    """The numbers of one instance; each theorem has a frozen dataclass of its own.

    `order` is the order in which options of a choice are printed, where there is one.
    """

    order: Row

    @classmethod
    def drawn(cls, rng: random.Random, order: Row) -> Instance:
        raise NotImplementedError

    def tasks(self, say: TurningProse) -> Tasks:
        raise NotImplementedError

    def direct(self) -> tuple[Direct, Direct]:
        """The two answers by the definitions alone: a matrix, a number, or the places of the right options."""
        raise NotImplementedError

    def placed(self, offers: Sequence[Offer]) -> list[Offer]:
        return [offers[i] for i in self.order]

    def places(self, right: Sequence[bool]) -> frozenset[int]:
        """Where the right options stand in the order in which they are printed."""
        return frozenset(place for place, option in enumerate(self.order) if right[option])


# ------------------------------------------------------------------------------------------------ numbers


def weights(scores: Matrix, keep: Keep | None = None) -> Matrix:
    """Softmax with base 2, of masked scores if there is a mask: whole scores give fractions."""
    return Softmax(base=2).apply(Mask(keep).apply(scores) if keep else scores)


def grid(rng: random.Random, rows: int, columns: int, low: int, high: int) -> Rows:
    return tuple(tuple(whole(rng, low, high) for _ in range(columns)) for _ in range(rows))


def different(rows: Sequence[object]) -> bool:
    return all(a != b for i, a in enumerate(rows) for b in rows[:i])


def ordered(m: Matrix, order: Sequence[int]) -> Matrix:
    return Matrix.of(m.rows[i] for i in order)


def modest(scores: Sequence[Sequence[int]]) -> bool:
    """No row equal in all places, none with a range over 3."""
    return all(1 <= max(row) - min(row) <= 3 for row in scores)


def distinct_values(rng: random.Random, rows: int) -> Rows:
    while not different(found := grid(rng, rows, 2, -3, 6)):
        pass
    return found


def mean(rows: Sequence[Sequence[int]]) -> list[Value]:
    return [divide(sum(column), len(rows)) for column in zip(*rows, strict=True)]


# ------------------------------------------------------------------------------------------------ tasks


def boxes(say: TurningProse, ask: Inlines, name: Formula, value: Matrix, *key: Block) -> Part:
    """A matrix to be worked out, said for tokens as rows."""
    room = say.boxes(name, value.shape, cell_kind(value, exact=True))
    return _task(
        ask, room, MatrixAnswer(say.turned(value)), *key, Display((Relation((name, say.values(value)), ("=",)),))
    )


def line(say: TurningProse, ask: Inlines, name: Formula, value: Value, *key: Block) -> Part:
    room = FillIns((FillIn((Math(name), Words(" =")), 30),))
    return _task(ask, room, FormulaAnswer(value), *key, Display((Relation((name, say.number(value)), ("=",)),)))


def _task(ask: Inlines, room: Block, answer: Answer, *key: Block) -> Part:
    return Part("", (), (Paragraph(ask), room), key, answer, WORKED_OUT)


def options(ask: Inlines, offers: Sequence[Offer], several: bool = False) -> Part:
    marks = WORKED_OUT if several else (Mark("B", 2),)
    return choice_part("", (), [Paragraph(ask)], offers, *marks, several=several)


WORKED_OUT = (Mark("M", 1), Mark("A", 1))


def inline(formula: Formula) -> Inlines:
    return (Math(formula),)
