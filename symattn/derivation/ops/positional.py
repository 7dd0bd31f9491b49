"""Positions by any formula: entries that follow from where a token stands, and which feature of how many it is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from symattn.derivation.algebra import Index
from symattn.derivation.derivation import (
    Brings,
    Convention,
    Floats,
    Orientation,
    Shape,
    Signs,
    Step,
    Style,
    View,
    convention,
)
from symattn.derivation.numpy_source import assigned
from symattn.derivation.ops.lines import LineOp
from symattn.derivation.ops.position import stated_positions
from symattn.derivation.windows import Box, constant
from symattn.exact import Matrix, Value
from symattn.exact.intervals import interval_ring
from symattn.exact.reading import read
from symattn.exact.tree import Node
from symattn.formula import ONE, ZERO, Dots, Formula, ListOf, Name, Number, equal, read_formula

LETTERS = ("p", "k", "d")
"""What a formula may use: the position, the number of the feature's group from 0, and the width."""


@dataclass(frozen=True)
class Positional(LineOp):
    """Feature j of position p by a formula in p, k and d, as large as the one operand, which is only measured.

    With c formulas it is formula j mod c, for k = ⌊j/c⌋ and the width d (n × d; nothing else of the operand is used).
    With sin(p/10000^(2k/d)) and cos(p/10000^(2k/d)) it is the encoding of Vaswani et al. 2017, section 3.5; with
    p/(k+1), c = 1, every feature has the one formula.  `ReadError` for a formula that cannot be read.
    """

    formulas: tuple[str, ...]
    positions: tuple[int, ...]
    width: int
    tokens: Orientation = "rows"
    arity = 0
    title = "Positional encoding"
    shows_factors = False

    def __post_init__(self) -> None:
        for j in range(len(self.formulas)):
            self._value(1, j)
            self._written(1, j)

    @property
    def turned(self) -> bool:
        return self.tokens == "columns"

    def shape_of_rows(self, *shapes: Shape) -> Shape:
        return len(self.positions), self.width

    def values_of_rows(self, *operands: Matrix) -> Matrix:
        return Matrix.of([self._value(p, j) for j in range(self.width)] for p in self.positions)

    def working_of_rows(self, i: Index, j: Index, *operands: View) -> Formula:
        assert isinstance(i, int) and isinstance(j, int)  # its size is never a letter
        return self._written(self.positions[i], j)

    def witness_of_rows(self, *operands: Floats) -> Floats:
        """The formula of every entry in intervals, which know nothing of exact values."""
        ring = interval_ring(20)
        return [[float(ring(self.tree(p, j)).low) for j in range(self.width)] for p in self.positions]

    def written(self, style: Style, *operands: Formula) -> Formula:
        return ListOf(tuple(read_formula(_braced(text)) for text in self.formulas), separator=",")

    def numpy(self, *operands: str) -> str:
        return "positional"

    def numpy_above(self) -> tuple[str, ...]:
        return (assigned("positional", self.apply()),)

    def range(self, *boxes: Box) -> Box:
        return tuple(tuple(map(constant, row)) for row in self.apply().rows)

    @property
    def brings(self) -> Brings | None:
        return "sines" if any("sin" in formula or "cos" in formula for formula in self.formulas) else None

    def conventions(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        groups = equal(Name("k"), ListOf((ZERO, ONE, Dots()), "", ","))
        width = equal(Name("d"), Number(str(self.width)))
        features = convention(
            _FEATURES[len(self.formulas) > 1], groups=groups, width=width, features=self.written(signs.style)
        )
        return [stated_positions(self.positions), features]

    def tree(self, position: int, j: int) -> Node:
        """The formula of an entry with its numbers put in, as it is read."""
        return read(self._at(position, j)).tree

    def _value(self, position: int, j: int) -> Value:
        return read(self._at(position, j)).value

    def _written(self, position: int, j: int) -> Formula:
        return read_formula(_braced(self._at(position, j)))

    def _at(self, position: int, j: int) -> str:
        """The formula of feature j with numbers for its letters: 2k becomes 2*1."""
        k, which = divmod(j, len(self.formulas))
        text = self.formulas[which]
        for letter, number in zip(LETTERS, (position, k, self.width), strict=True):
            text = re.sub(rf"(?<=[\d)])\s*{letter}(?![A-Za-z_])", f"*{number}", text)
            text = re.sub(rf"(?<![A-Za-z_]){letter}(?![A-Za-z_])", str(number), text)
        return text


_FEATURES = {
    True: "For {groups} and {width}, the features of a position are, in turn, {features}.",
    False: "For {groups} and {width}, the features of a position are {features}.",
}


def _braced(text: str) -> str:
    """Exponents in the braces of the formula language, which are not printed as brackets are."""
    return re.sub(r"\^\(([^()]*)\)", r"^{\1}", text)


OPS = {"positions": Positional}
