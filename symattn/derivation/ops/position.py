"""Where a token stands: sinusoids that are added (Vaswani et al. 2017, section 3.5), rotations (Su et al. 2021).

`Positional` takes any formula of where a token stands, and of which feature an entry is of how many.
"""

from __future__ import annotations

import cmath
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction as Ratio
from functools import lru_cache
from typing import ClassVar, Literal

from symattn.derivation.algebra import FORMULAS, Algebra, Entries, Index, Indices, T, size_formula
from symattn.derivation.derivation import (
    Brings,
    Convention,
    Floats,
    Orientation,
    Pull,
    Shape,
    Signs,
    Step,
    Style,
    Use,
    View,
    convention,
)
from symattn.derivation.numpy_source import assigned, factor, value
from symattn.derivation.ops.lines import LineOp, LineRuleOp
from symattn.derivation.sizes import plus, times
from symattn.derivation.windows import Box, constant
from symattn.derivation.witnesses import as_float
from symattn.errors import InputError, ShapeError
from symattn.exact import Matrix, Rational, Real, Size, Value, decide, divide, from_sympy, power, to_sympy
from symattn.exact.intervals import interval_ring
from symattn.exact.reading import read
from symattn.exact.real import real
from symattn.exact.tree import Node
from symattn.exact.values import tidy
from symattn.formula import (
    ONE,
    ZERO,
    Bracketed,
    Call,
    Dots,
    Formula,
    Fraction,
    ListOf,
    Name,
    Negative,
    Number,
    Power,
    Product,
    Relation,
    Row,
    Sum,
    Text,
    equal,
    number,
    read_formula,
)

Layout = Literal["pairs", "halves"]
"""Which features make pair k of d: pairs: 2k − 1 and 2k;  halves: k and d/2 + k."""


class Angle(ABC):
    """How far one pair of features turns from one position to the next: θ."""

    @abstractmethod
    def theta(self) -> Value:
        """θ in radians."""

    @property
    @abstractmethod
    def near(self) -> float:
        """θ in radians, worked out in floating point."""

    @property
    @abstractmethod
    def written(self) -> Formula:
        """θ as it is written."""

    @abstractmethod
    def numpy(self) -> str:
        """θ in radians, in NumPy."""

    def at(self, position: int) -> tuple[Value, Value]:
        """cos pθ and sin pθ."""
        return _cosine_and_sine(position * self.theta())

    def working(self, position: int, function: Literal["cos", "sin"]) -> Formula:
        """cos pθ or sin pθ as it is to be worked out."""
        return Call(Name(function), (Product((Number(str(position)), self.written), "·"),))

    def stated(self, name: Formula) -> tuple[Formula, ...]:
        """What θ is, with the name that it has here."""
        return (equal(name, self.written),)

    def turned(self, position: int) -> complex:
        """e^(ipθ) in floating point."""
        return cmath.rect(1, position * self.near)


@lru_cache(maxsize=1024)
def _at(angle: Angle, position: int) -> tuple[Value, Value]:
    """Cosine and sine at a position: every entry asks for the same few."""
    return angle.at(position)


@dataclass(frozen=True)
class Frequency(Angle):
    """θ = base^(−above/below) in radians: 1/10000^(2/4)."""

    base: Value
    above: int
    below: int

    def theta(self) -> Value:
        return divide(1, self._power)

    @property
    def near(self) -> float:
        return math.pow(as_float(self.base), -self.above / self.below)

    @property
    def written(self) -> Formula:
        return Fraction(ONE, self._divisor)

    def numpy(self) -> str:
        return f"1 / {factor(self.base)}**({self.above}/{self.below})"

    def at(self, position: int) -> tuple[Value, Value]:
        return _cosine_and_sine(divide(position, self._power))

    def working(self, position: int, function: Literal["cos", "sin"]) -> Formula:
        return Call(Name(function), (Fraction(Number(str(position)), self._divisor),))

    @property
    def _power(self) -> Value:
        return power(self.base, tidy(Ratio(self.above, self.below)))

    @property
    def _divisor(self) -> Formula:
        return Power(number(self.base), Fraction(Number(str(self.above)), Number(str(self.below))))


@dataclass(frozen=True)
class Degrees(Angle):
    """θ in degrees."""

    degrees: Value

    def theta(self) -> Value:
        import sympy

        return from_sympy(sympy.pi * to_sympy(divide(self.degrees, 180)))

    @property
    def near(self) -> float:
        return math.radians(as_float(self.degrees))

    @property
    def written(self) -> Formula:
        return Text(f"{self.degrees}°")

    def numpy(self) -> str:
        return f"np.radians({value(self.degrees)})"


@dataclass(frozen=True)
class Radians(Angle):
    """θ in radians."""

    radians: Rational

    def theta(self) -> Value:
        return self.radians

    @property
    def near(self) -> float:
        return float(self.radians)

    @property
    def written(self) -> Formula:
        return number(self.radians)

    def numpy(self) -> str:
        return value(self.radians)


@dataclass(frozen=True)
class Direction(Angle):
    """θ by its cosine and its sine, which may be rational: 3/5 and 4/5."""

    cosine: Value
    sine: Value

    def __post_init__(self) -> None:
        square = self.cosine * self.cosine + self.sine * self.sine
        if not decide(square, 1).equal:
            raise InputError(
                f"{self.cosine} and {self.sine} are not cosine and sine of one angle: their squares sum to {square}; "
                "1 was expected, as for 3/5 and 4/5."
            )

    def theta(self) -> Value:
        import sympy

        return from_sympy(sympy.atan2(to_sympy(self.sine), to_sympy(self.cosine)))

    @property
    def near(self) -> float:
        return math.atan2(as_float(self.sine), as_float(self.cosine))

    @property
    def written(self) -> Formula:
        return Name("θ")

    def numpy(self) -> str:
        return f"np.arctan2({value(self.sine)}, {value(self.cosine)})"

    def at(self, position: int) -> tuple[Value, Value]:
        """(cos θ + i sin θ)^p (de Moivre)."""
        cosine: Value = 1
        sine: Value = 0
        for _ in range(abs(position)):
            cosine, sine = cosine * self.cosine - sine * self.sine, sine * self.cosine + cosine * self.sine
        return cosine, sine if position >= 0 else -sine

    def working(self, position: int, function: Literal["cos", "sin"]) -> Formula:
        """Of pθ from (p − 1)θ and θ: cos·cos − sin·sin, and sin·cos + cos·sin."""
        if position == 0:
            return Call(Name(function), (ZERO,))
        own = number(self.cosine), number(self.sine)
        if position == 1:
            return own[0] if function == "cos" else own[1]
        before = [number(x) for x in self.at(position - 1)]
        if function == "cos":
            return Sum((Product((before[0], own[0]), "·"), Negative(Product((before[1], own[1]), "·"))))
        return Sum((Product((before[1], own[0]), "·"), Product((before[0], own[1]), "·")))

    def stated(self, name: Formula) -> tuple[Formula, ...]:
        return tuple(
            equal(Call(Name(function), (name,)), number(x))
            for function, x in (("cos", self.cosine), ("sin", self.sine))
        )


@dataclass(frozen=True)
class Frequencies:
    """θ_k = base^(−2k/width) for k = 0, 1, …, where the number of features is a letter."""

    base: Value
    width: Size

    @property
    def pairs(self) -> Size:
        """How many pairs there are: half of an even width."""
        return times(Ratio(1, 2), self.width)

    def stated(self) -> Formula:
        """θ_k = 1/base^(2(k − 1)/width) for k from 1."""
        return equal(Name("θ", (PAIR,)), Fraction(ONE, self.divisor))

    @property
    def divisor(self) -> Formula:
        """1/θ_k as it is written."""
        above = Product((Number("2"), Bracketed(Sum((PAIR, Negative(ONE))))))
        return Power(number(self.base), Fraction(above, size_formula(self.width)))

    def angle(self, A: Algebra[T], pair: Index) -> T:
        """θ of a pair, in radians."""
        power = A.quotient(A.index(times(2, pair)), A.size(Indices(self.width)))
        return A.exponential(A.negative(power), self.base)


@dataclass(frozen=True)
class Consecutive:
    """Positions from the first on, where the number of tokens is a letter."""

    first: int
    count: Size


Angles = tuple[Angle, ...] | Frequencies
Positions = tuple[int, ...] | Consecutive


@dataclass(frozen=True)
class Turning(LineRuleOp):
    """What is worked out of cos pθ and sin pθ, for positions p and a θ for every pair of features.

    Where there are letters, a feature is one of the two of its pair by where it stands, and θ a power.
    """

    angles: Angles
    positions: Positions
    layout: Layout = "pairs"
    tokens: Orientation = "rows"
    shows_factors = False

    @property
    def turned(self) -> bool:
        return self.tokens == "columns"

    @property
    def width(self) -> Size:
        """The number of features."""
        return self.angles.width if isinstance(self.angles, Frequencies) else 2 * len(self.angles)

    @property
    def count(self) -> Size:
        """The number of tokens."""
        return self.positions.count if isinstance(self.positions, Consecutive) else len(self.positions)

    @property
    def is_listed(self) -> bool:
        """Whether no size is a letter."""
        return isinstance(self.angles, tuple) and isinstance(self.positions, tuple)

    @property
    def listed(self) -> tuple[tuple[Angle, ...], tuple[int, ...]]:
        """Angles and positions, one by one, where no size is a letter."""
        assert isinstance(self.angles, tuple) and isinstance(self.positions, tuple)
        return self.angles, self.positions

    def of_pair(self, A: Algebra[T], feature: Index, entry: Callable[[Index, bool], T]) -> T:
        """entry(k, second), where a feature is the first or the second of pair k."""
        pairs = self.angles.pairs if isinstance(self.angles, Frequencies) else len(self.angles)
        if self.layout == "pairs":
            return A.in_turn(feature, 2, lambda second, k: entry(k, bool(second)))
        return A.pieces(feature, [pairs, pairs], lambda second, k: entry(k, bool(second)))

    def wave(self, A: Algebra[T], function: Literal["cos", "sin"], token: Index, pair: Index) -> T:
        """cos pθ or sin pθ for the position of a token and the angle of a pair."""
        if isinstance(token, int) and isinstance(pair, int) and isinstance(self.angles, tuple):
            return A.number(_at(self.angles[pair], self._position(token))[0 if function == "cos" else 1])

        def wave() -> T:
            return A.apply(function, A.product(self._any_position(A, token), self._any_angle(A, pair)))

        return A.constant(function, wave)

    def wave_of_any(self, function: Literal["cos", "sin"]) -> Formula:
        """cos pθ or sin pθ as it is written for any token i and pair k, both from 1."""
        if not isinstance(self.angles, Frequencies) or not isinstance(self.positions, Consecutive):
            return _wave(function, Name("θ", (PAIR,)))
        token = Name("i")
        position = token if self.positions.first else Sum((token, Negative(ONE)))
        return Call(Name(function), (Fraction(position, self.angles.divisor),))

    def _position(self, token: int) -> int:
        return self.positions[token] if isinstance(self.positions, tuple) else self.positions.first + token

    def _any_position(self, A: Algebra[T], token: Index) -> T:
        if isinstance(token, int):
            return A.number(self._position(token))
        if isinstance(self.positions, tuple):
            return A.pieces(token, [1] * len(self.positions), lambda at, _: A.number(self._position(at)))
        return A.sum(A.index(token), A.number(self.positions.first))

    def _any_angle(self, A: Algebra[T], pair: Index) -> T:
        if isinstance(self.angles, Frequencies):
            return self.angles.angle(A, pair)
        angles = self.angles
        return A.pieces(pair, [1] * len(angles), lambda k, _: A.number(angles[k].theta()))

    def stated_positions(self) -> Convention:
        return stated_positions(self.positions)

    def stated_angles(self) -> Convention:
        if isinstance(self.angles, Frequencies):
            return convention("The angles are: {angles}, in radians.", angles=self.angles.stated())
        return _stated_angles(self.angles, _thetas(self.angles))

    @property
    def brings(self) -> Brings | None:
        if isinstance(self.angles, Frequencies):
            return "sines"
        return "sines" if any(isinstance(angle, Frequency | Radians) for angle in self.angles) else None


@dataclass(frozen=True)
class Sinusoids(Turning):
    """sin pθ_k and cos pθ_k, a line for every position p, as large as the one operand, which is only measured.

    It is n × 2·(number of angles θ_k), or one less; nothing else of the operand is used.

    pairs: sin pθ_1, cos pθ_1, sin pθ_2, …, as in the paper;  halves: all sines, then all cosines, as in its first
    implementation (tensor2tensor).  Where the number of features is `odd`, the last cosine is left out.
    """

    odd: bool = False
    arity = 0
    title = "Positional encoding"

    @property
    def width(self) -> Size:
        return plus(super().width, -self.odd)

    def shape_of_rows(self, *shapes: Shape) -> Shape:
        return self.count, self.width

    def rule_of_rows(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        return self.of_pair(A, j, lambda k, second: self.wave(A, "cos" if second else "sin", i, k))

    def working_of_rows(self, i: Index, j: Index, *operands: View) -> Formula:
        if isinstance(i, str) or isinstance(j, str):
            return ListOf((self.wave_of_any("sin"), self.wave_of_any("cos")), separator=",")
        angles, positions = self.listed
        k, second = _place(self.layout, j, len(angles))
        return angles[k].working(positions[i], "cos" if second else "sin")

    def witness_of_rows(self, *operands: Floats) -> Floats:
        angles, positions = self.listed
        turns = [[angle.turned(p) for angle in angles] for p in positions]
        rows = [_features(self.layout, [z.imag for z in row], [z.real for z in row]) for row in turns]
        return [row[:-1] if self.odd else row for row in rows]

    def written(self, style: Style, *operands: Formula) -> Formula:
        angle = Name("θ", (PAIR,))
        return ListOf((_wave("sin", angle), _wave("cos", angle)), separator=",")

    def numpy(self, *operands: str) -> str:
        rows = f"sinusoids({_numpy_turns(self.layout)})" + ("[:, :-1]" if self.odd else "")
        return rows + (".T" if self.tokens == "columns" else "")

    def numpy_above(self) -> tuple[str, ...]:
        return _numpy_angles(*self.listed[::-1])

    def conventions(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        token = "The row of a position is {features}.", "The column of a position is {features}."
        line = convention(token[self.tokens == "columns"], features=self._features())
        return [self.stated_positions(), line, self.stated_angles()]

    def _features(self) -> Formula:
        """sin pθ_1, cos pθ_1, sin pθ_2, … as they stand in a row."""
        known = isinstance(self.angles, tuple)
        thetas = _thetas(self.angles if isinstance(self.angles, tuple) else range(2))
        sines, cosines = ([_wave(function, theta) for theta in thetas] for function in ("sin", "cos"))
        rest = [] if known else [Dots()]
        if self.layout == "pairs":
            waves = [wave for pair in zip(sines, cosines, strict=True) for wave in pair] + rest
        else:
            waves = [*sines, *rest, *cosines, *rest]
        return ListOf(tuple(waves[:-1] if self.odd else waves), separator=",")


@dataclass(frozen=True)
class Rotate(Turning):
    """Each token's pairs of features turned by pθ_k, p its position: (x, y) ↦ (x cos − y sin, x sin + y cos).

    Su et al. 2021, section 3.4.2, with neighbouring features as pairs; halves pair the first with the one in the
    middle, as most implementations do.  n × d stays n × d with d twice the number of angles.
    """

    title = "Rotation by position"
    by_hand = True
    by_place = True
    direction: ClassVar[int] = 1

    def shape_of_rows(self, *shapes: Shape) -> Shape:
        ((rows, width),) = shapes
        if width != self.width:
            raise ShapeError(f"a rotation of {times(Ratio(1, 2), self.width)} pairs needs {self.width} features;")
        if rows != self.count:
            raise ShapeError(f"a rotation for {self.count} positions needs as many tokens;")
        return shapes[0]

    def _rotated(self, A: Algebra[T], x: T, y: T, cosine: T, sine: T, second: bool) -> T:
        """The first or the second of a pair turned by an angle of this cosine and sine."""
        if second:
            return A.sum(A.product(x, sine), A.product(y, cosine))
        return A.minus(A.product(x, cosine), A.product(y, sine))

    def matrix(self, position: int) -> Matrix:
        """R with x ↦ x R for a row x at this position."""
        width = 2 * len(self.listed[0])
        alone = replace(self, positions=(position,), tokens="rows")
        return Matrix.of(alone.apply(Matrix.of([[int(i == j) for j in range(width)]])).rows[0] for i in range(width))

    def rule_of_rows(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        (x,) = operands

        def entry(k: Index, second: bool) -> T:
            first, other = (x[i, place] for place in self._pair(A, k))
            cosine, sine = (self.wave(A, function, i, k) for function in WAVES)
            return self._rotated(A, first, other, cosine, sine, second)

        return self.of_pair(A, j, entry)

    def working_of_rows(self, i: Index, j: Index, *operands: View) -> Formula:
        if isinstance(i, int) and isinstance(j, int):
            return self.rule_of_rows(FORMULAS, i, j, *operands)
        (x,) = operands
        ends = ("2k-1", "2k") if self.layout == "pairs" else ("k", f"k+{times(Ratio(1, 2), self.width)}")
        first, other = (x["i", end] for end in ends)
        angle = Name("θ", (PAIR,))
        waves = _wave("cos", angle), _wave("sin", angle)
        pair = [self._rotated(FORMULAS, first, other, *waves, second) for second in (False, True)]
        return ListOf(tuple(pair), separator=",")

    def _pair(self, A: Algebra[T], k: Index) -> tuple[Index, Index]:
        """The two features of pair k; from 0."""
        if self.layout == "pairs":
            return A.nth(k, 0, 2), A.nth(k, 1, 2)
        return k, A.nth(k, times(Ratio(1, 2), self.width))

    def pull(self, use: Use) -> Pull:
        """By the transpose of the rotation, which is its inverse."""
        return Pull((use.g,), RotateBack(self.angles, self.positions, self.layout, self.tokens))

    def witness_of_rows(self, *operands: Floats) -> Floats:
        """Each pair as a complex number times e^(ipθ)."""
        rows = []
        listed, positions = self.listed
        for p, row in zip(positions, operands[0], strict=True):
            half = len(row) // 2
            ends = (row[::2], row[1::2]) if self.layout == "pairs" else (row[:half], row[half:])
            pairs = zip(*ends, listed, strict=True)
            turned = [complex(x, y) * angle.turned(self.direction * p) for x, y, angle in pairs]
            rows.append(_features(self.layout, [z.real for z in turned], [z.imag for z in turned]))
        return rows

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Call(Name("rotate"), operands)

    def numpy(self, *operands: str) -> str:
        turns, (x,) = _numpy_turns(self.layout), operands
        return f"rotated({x}, {turns})" if self.tokens == "rows" else f"rotated({x}.T, {turns}).T"

    def numpy_above(self) -> tuple[str, ...]:
        return _numpy_angles(*self.listed[::-1])

    def conventions(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        turn = convention(_PAIRS[self.layout], turn=self._written_turn())
        one = isinstance(self.angles, tuple) and all(angle == self.angles[0] for angle in self.angles)
        angles = _stated_angles(self.listed[0][:1], [THETA]) if one else self.stated_angles()
        return [self.stated_positions(), turn, angles]

    def _written_turn(self) -> Formula:
        """(x, y) → (x cos pθ − y sin pθ, x sin pθ + y cos pθ)."""
        x, y = Name("x"), Name("y")
        waves = _wave("cos", THETA), _wave("sin", THETA)
        rotated = [self._rotated(FORMULAS, x, y, *waves, second) for second in (False, True)]
        return Relation((ListOf((x, y), "(", ","), ListOf(tuple(rotated), "(", ",")), ("→",))


@dataclass(frozen=True)
class RotateBack(Rotate):
    """Each pair turned back by pθ_k: (x, y) ↦ (x cos + y sin, −x sin + y cos), the inverse of `Rotate`.

    A rotation's inverse is its transpose, so that this is how a gradient goes back through it.
    """

    title = "Rotation back"
    direction = -1

    def _rotated(self, A: Algebra[T], x: T, y: T, cosine: T, sine: T, second: bool) -> T:
        if second:
            return A.minus(A.product(y, cosine), A.product(x, sine))
        return A.sum(A.product(x, cosine), A.product(y, sine))

    def pull(self, use: Use) -> Pull:
        return Pull((use.g,), Rotate(self.angles, self.positions, self.layout, self.tokens))

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Call(Name("rotate", (Negative(Name("p")),)), operands)

    def numpy_above(self) -> tuple[str, ...]:
        angles, positions = self.listed
        return _numpy_angles([-p for p in positions], angles)

    def conventions(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        return [convention("Gradients are rotated back: {turn}.", turn=self._written_turn())]


# ------------------------------------------------------------------------------------------------ in words

WAVES: tuple[Literal["cos"], Literal["sin"]] = ("cos", "sin")
POSITION, THETA, PAIR = Name("p"), Name("θ"), Name("k")
_PAIRS: Mapping[Layout, str] = {
    "pairs": "Neighbouring features form pairs, and each pair is rotated: {turn}.",
    "halves": "Features half the width apart form pairs, and each pair is rotated: {turn}.",
}


def stated_positions(positions: Positions) -> Convention:
    """p = 0, 1, 2; p = 0, 1, …"""
    shown = positions if isinstance(positions, tuple) else (positions.first, positions.first + 1)
    rest = () if isinstance(positions, tuple) else (Dots(),)
    listed = ListOf((*(Number(str(p)) for p in shown), *rest), "", ",")
    return convention("The positions are {positions}.", positions=equal(POSITION, listed))


def _stated_angles(angles: Sequence[Angle], thetas: Sequence[Formula]) -> Convention:
    stated = Row(tuple(part for angle, theta in zip(angles, thetas, strict=True) for part in angle.stated(theta)))
    if any(isinstance(angle, Frequency | Radians) for angle in angles):
        return convention("The angles are: {angles}, in radians.", angles=stated)
    return convention("The angles are: {angles}.", angles=stated)


def _thetas(angles: Sequence[object]) -> list[Formula]:
    return [Name("θ", (Number(str(k + 1)),)) for k in range(len(angles))]


def _wave(function: str, theta: Formula) -> Formula:
    return Call(Name(function), (Product((POSITION, theta)),))


def _place(layout: Layout, j: int, pairs: int) -> tuple[int, bool]:
    """The pair that feature j belongs to, and whether it is the second of it; from 0."""
    return (j // 2, j % 2 == 1) if layout == "pairs" else (j % pairs, j >= pairs)


def _features(layout: Layout, first: list[float], second: list[float]) -> list[float]:
    """The features of a token from the first and the second of each pair."""
    return [x for pair in zip(first, second, strict=True) for x in pair] if layout == "pairs" else first + second


def _numpy_angles(positions: Sequence[int], angles: Sequence[Angle]) -> tuple[str, str]:
    """Where tokens stand and how far their features turn."""
    return f"positions = {list(positions)}", f"angles = [{', '.join(angle.numpy() for angle in angles)}]"


def _numpy_turns(layout: Layout) -> str:
    """The arguments of a helper function that say so."""
    return f"positions, angles{'' if layout == 'pairs' else ', in_pairs=False'}"


def _cosine_and_sine(radians: Value) -> tuple[Value, Value]:
    if isinstance(radians, Real):
        return real("cos", radians), real("sin", radians)
    import sympy

    angle = to_sympy(radians)
    return from_sympy(sympy.cos(angle)), from_sympy(sympy.sin(angle))


# ------------------------------------------------------------------------------------ positions by any formula


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
        for letter, integer in zip(LETTERS, (position, k, self.width), strict=True):
            text = re.sub(rf"(?<=[\d)])\s*{letter}(?![A-Za-z_])", f"*{integer}", text)
            text = re.sub(rf"(?<![A-Za-z_]){letter}(?![A-Za-z_])", str(integer), text)
        return text


_FEATURES = {
    True: "For {groups} and {width}, the features of a position are, in turn, {features}.",
    False: "For {groups} and {width}, the features of a position are {features}.",
}


def _braced(text: str) -> str:
    """Exponents in the braces of the formula language, which are not printed as brackets are."""
    return re.sub(r"\^\(([^()]*)\)", r"^{\1}", text)


OPS = {
    "sinusoids": Sinusoids,
    "rotate": Rotate,
    "positions": Positional,
}
