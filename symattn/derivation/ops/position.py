"""Where a token stands: sinusoids that are added (Vaswani et al. 2017, section 3.5), rotations (Su et al. 2021)."""

from __future__ import annotations

import cmath
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction as Ratio
from typing import ClassVar, Literal

from symattn.derivation.algebra import FORMULAS, Algebra, Entries, Index, T
from symattn.derivation.derivation import (
    Brings,
    Convention,
    Floats,
    Pull,
    RuleOp,
    Shape,
    Signs,
    Step,
    Style,
    Use,
    View,
    convention,
)
from symattn.derivation.numpy_source import factor, value
from symattn.derivation.witnesses import across, as_float, entrywise, transposed
from symattn.errors import InputError, ShapeError
from symattn.exact import Matrix, Rational, Real, Value, decide, divide, from_sympy, power, to_sympy
from symattn.exact.real import real
from symattn.exact.values import tidy
from symattn.formula import (
    ONE,
    ZERO,
    Call,
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
    Scope,
    Sum,
    Text,
    number,
    read_formula,
)

Layout = Literal["pairs", "halves"]
"""Which features make pair k of d: pairs: 2k − 1 and 2k;  halves: k and d/2 + k."""

Tokens = Literal["rows", "columns"]


class Angle(ABC):
    """How far one pair of features turns from one position to the next: θ."""

    @abstractmethod
    def at(self, position: int) -> tuple[Value, Value]:
        """cos pθ and sin pθ."""

    @abstractmethod
    def working(self, position: int, function: Literal["cos", "sin"]) -> Formula:
        """cos pθ or sin pθ as it is to be worked out."""

    @abstractmethod
    def stated(self, name: Formula) -> tuple[Formula, ...]:
        """What θ is, with the name that it has here."""

    @abstractmethod
    def numpy(self) -> str:
        """θ in radians, in NumPy."""

    @abstractmethod
    def radians_of(self, position: int) -> float:
        """pθ in floating point."""

    def turned(self, position: int) -> complex:
        """e^(ipθ) in floating point."""
        return cmath.rect(1, self.radians_of(position))


@dataclass(frozen=True)
class Frequency(Angle):
    """θ = base^(−above/below) in radians: 1/10000^(2/4)."""

    base: Value
    above: int
    below: int

    def at(self, position: int) -> tuple[Value, Value]:
        return _cosine_and_sine(divide(position, power(self.base, tidy(Ratio(self.above, self.below)))))

    def working(self, position: int, function: Literal["cos", "sin"]) -> Formula:
        return Call(Name(function), (Fraction(Number(str(position)), self._divisor),))

    def stated(self, name: Formula) -> tuple[Formula, ...]:
        return (Relation((name, Fraction(ONE, self._divisor)), ("=",)),)

    def numpy(self) -> str:
        return f"1 / {factor(self.base)}**({self.above}/{self.below})"

    def radians_of(self, position: int) -> float:
        return position * math.pow(as_float(self.base), -self.above / self.below)

    @property
    def _divisor(self) -> Formula:
        return Power(number(self.base), Fraction(Number(str(self.above)), Number(str(self.below))))


@dataclass(frozen=True)
class Degrees(Angle):
    """θ in degrees."""

    degrees: Rational

    def at(self, position: int) -> tuple[Value, Value]:
        import sympy

        return _cosine_and_sine(sympy.pi * to_sympy(tidy(Ratio(self.degrees * position, 180))))

    def working(self, position: int, function: Literal["cos", "sin"]) -> Formula:
        return Call(Name(function), (Product((Number(str(position)), self._written), "·"),))

    def stated(self, name: Formula) -> tuple[Formula, ...]:
        return (Relation((name, self._written), ("=",)),)

    def numpy(self) -> str:
        return f"np.radians({value(self.degrees)})"

    def radians_of(self, position: int) -> float:
        return position * math.radians(self.degrees)

    @property
    def _written(self) -> Formula:
        return Text(f"{self.degrees}°")


@dataclass(frozen=True)
class Radians(Angle):
    """θ in radians."""

    radians: Rational

    def at(self, position: int) -> tuple[Value, Value]:
        return _cosine_and_sine(divide(position * self.radians, 1))

    def working(self, position: int, function: Literal["cos", "sin"]) -> Formula:
        return Call(Name(function), (Product((Number(str(position)), number(self.radians)), "·"),))

    def stated(self, name: Formula) -> tuple[Formula, ...]:
        return (Relation((name, number(self.radians)), ("=",)),)

    def numpy(self) -> str:
        return value(self.radians)

    def radians_of(self, position: int) -> float:
        return position * float(self.radians)


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
            Relation((Call(Name(function), (name,)), number(x)), ("=",))
            for function, x in (("cos", self.cosine), ("sin", self.sine))
        )

    def numpy(self) -> str:
        return f"np.arctan2({value(self.sine)}, {value(self.cosine)})"

    def radians_of(self, position: int) -> float:
        return position * math.atan2(as_float(self.sine), as_float(self.cosine))


@dataclass(frozen=True)
class Sinusoids(RuleOp):
    """sin pθ_k and cos pθ_k, a line for every position p, as large as the one operand, which is only measured.

    For so many angles θ_k it is n × 2·(number of angles), or one less; nothing else of the operand is used.

    pairs: sin pθ_1, cos pθ_1, sin pθ_2, …, as in the paper;  halves: all sines, then all cosines, as in its first
    implementation (tensor2tensor).  Where the number of features is `odd`, the last cosine is left out.
    """

    angles: tuple[Angle, ...]
    positions: tuple[int, ...]
    layout: Layout = "pairs"
    tokens: Tokens = "rows"
    odd: bool = False
    arity = 0
    title = "Positional encoding"
    shows_factors = False

    @property
    def width(self) -> int:
        """The number of features."""
        return 2 * len(self.angles) - self.odd

    def shape(self, *shapes: Shape) -> Shape:
        shape = (len(self.positions), self.width)
        return shape if self.tokens == "rows" else shape[::-1]

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        token, feature = (i, j) if self.tokens == "rows" else (j, i)
        assert isinstance(token, int) and isinstance(feature, int)  # its size is never a letter
        k, second = _place(self.layout, feature, len(self.angles))
        return A.number(self.angles[k].at(self.positions[token])[0 if second else 1])

    def working(self, i: Index, j: Index, *operands: View) -> Formula:
        token, feature = (i, j) if self.tokens == "rows" else (j, i)
        assert isinstance(token, int) and isinstance(feature, int)  # its size is never a letter
        k, second = _place(self.layout, feature, len(self.angles))
        return self.angles[k].working(self.positions[token], "cos" if second else "sin")

    def witness(self, *operands: Floats) -> Floats:
        turns = [[angle.turned(p) for angle in self.angles] for p in self.positions]
        rows = [_features(self.layout, [z.imag for z in row], [z.real for z in row])[: self.width] for row in turns]
        return rows if self.tokens == "rows" else transposed(rows)

    def written(self, style: Style, *operands: Formula) -> Formula:
        angle = Product((Name("p"), Name("θ", (Name("k"),))))
        waves = tuple(Call(Name(function), (angle,)) for function in ("sin", "cos"))
        return ListOf(waves, separator=",")

    def numpy(self, *operands: str) -> str:
        rows = f"sinusoids({_numpy_turns(self.layout)})" + ("[:, :-1]" if self.odd else "")
        return rows + (".T" if self.tokens == "columns" else "")

    def numpy_above(self) -> tuple[str, ...]:
        return _numpy_angles(self.positions, self.angles)

    @property
    def brings(self) -> Brings | None:
        return "sines" if any(isinstance(angle, Frequency | Radians) for angle in self.angles) else None

    def conventions(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        thetas = _thetas(self.angles)
        waves = [_wave(function, theta) for theta in thetas for function in ("sin", "cos")]
        ordered = waves if self.layout == "pairs" else (*waves[::2], *waves[1::2])
        features = ListOf(tuple(ordered[: self.width]), separator=",")
        token = "The row of a position is {features}.", "The column of a position is {features}."
        line = convention(token[self.tokens == "columns"], features=features)
        return [stated_positions(self.positions), line, _stated_angles(self.angles, thetas)]


@dataclass(frozen=True)
class Rotate(RuleOp):
    """Each token's pairs of features turned by pθ_k, p its position: (x, y) ↦ (x cos − y sin, x sin + y cos).

    Su et al. 2021, section 3.4.2, with neighbouring features as pairs; halves pair the first with the one in the
    middle, as most implementations do.  n × d stays n × d with d twice the number of angles.
    """

    angles: tuple[Angle, ...]
    positions: tuple[int, ...]
    layout: Layout = "pairs"
    tokens: Tokens = "rows"
    title = "Rotation by position"
    shows_factors = False
    by_hand = True
    direction: ClassVar[int] = 1

    def shape(self, *shapes: Shape) -> Shape:
        rows, width = shapes[0] if self.tokens == "rows" else shapes[0][::-1]
        if width != 2 * len(self.angles):
            raise ShapeError(f"a rotation of {len(self.angles)} pairs needs {2 * len(self.angles)} features;")
        if rows != len(self.positions):
            raise ShapeError(f"a rotation for {len(self.positions)} positions needs as many tokens;")
        return shapes[0]

    def _turned(self, A: Algebra[T], x: T, y: T, cosine: T, sine: T) -> tuple[T, T]:
        """A pair turned by an angle of this cosine and sine."""
        return (
            A.minus(A.product(x, cosine), A.product(y, sine)),
            A.sum(A.product(x, sine), A.product(y, cosine)),
        )

    def matrix(self, position: int) -> Matrix:
        """R with x ↦ x R for a row x at this position."""
        width = 2 * len(self.angles)
        alone = replace(self, positions=(position,), tokens="rows")
        return Matrix.of(alone.apply(Matrix.of([[int(i == j) for j in range(width)]])).rows[0] for i in range(width))

    @property
    def brings(self) -> Brings | None:
        return "sines" if any(isinstance(angle, Frequency | Radians) for angle in self.angles) else None

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        token, feature = (i, j) if self.tokens == "rows" else (j, i)
        assert isinstance(token, int) and isinstance(feature, int)  # positions are numbers, so sizes are
        x = operands[0] if self.tokens == "rows" else operands[0].transposed
        k, second = _place(self.layout, feature, len(self.angles))
        first, other = (x[token, place] for place in _pair(self.layout, k, len(self.angles)))
        cosine, sine = map(A.number, self.angles[k].at(self.positions[token]))
        return self._turned(A, first, other, cosine, sine)[second]

    def pull(self, use: Use) -> Pull:
        """By the transpose of the rotation, which is its inverse."""
        return Pull((use.g,), RotateBack(self.angles, self.positions, self.layout, self.tokens))

    def witness(self, *operands: Floats) -> Floats:
        """Each pair as a complex number times e^(ipθ)."""
        if self.tokens == "columns":
            return across(self, *operands)
        rows = []
        for p, row in zip(self.positions, operands[0], strict=True):
            half = len(row) // 2
            ends = (row[::2], row[1::2]) if self.layout == "pairs" else (row[:half], row[half:])
            pairs = zip(*ends, self.angles, strict=True)
            turned = [complex(x, y) * angle.turned(self.direction * p) for x, y, angle in pairs]
            rows.append(_features(self.layout, [z.real for z in turned], [z.imag for z in turned]))
        return rows

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Call(Name("rotate"), operands)

    def numpy(self, *operands: str) -> str:
        turns, (x,) = _numpy_turns(self.layout), operands
        return f"rotated({x}, {turns})" if self.tokens == "rows" else f"rotated({x}.T, {turns}).T"

    def numpy_above(self) -> tuple[str, ...]:
        return _numpy_angles(self.positions, self.angles)

    def conventions(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        turn = convention(_PAIRS[self.layout], turn=self._written_turn())
        one = all(angle == self.angles[0] for angle in self.angles)
        angles = _stated_angles(self.angles[:1], [THETA]) if one else _stated_angles(self.angles, _thetas(self.angles))
        return [stated_positions(self.positions), turn, angles]

    def _written_turn(self) -> Formula:
        """(x, y) → (x cos pθ − y sin pθ, x sin pθ + y cos pθ)."""
        x, y = Name("x"), Name("y")
        turned = self._turned(FORMULAS, x, y, _wave("cos", THETA), _wave("sin", THETA))
        return Relation((ListOf((x, y), "(", ","), ListOf(turned, "(", ",")), ("→",))


@dataclass(frozen=True)
class RotateBack(Rotate):
    """Each pair turned back by pθ_k: (x, y) ↦ (x cos + y sin, −x sin + y cos), the inverse of `Rotate`.

    A rotation's inverse is its transpose, so that this is how a gradient goes back through it.
    """

    title = "Rotation back"
    direction = -1

    def _turned(self, A: Algebra[T], x: T, y: T, cosine: T, sine: T) -> tuple[T, T]:
        return (
            A.sum(A.product(x, cosine), A.product(y, sine)),
            A.minus(A.product(y, cosine), A.product(x, sine)),
        )

    def pull(self, use: Use) -> Pull:
        return Pull((use.g,), Rotate(self.angles, self.positions, self.layout, self.tokens))

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Call(Name("rotate", (Negative(Name("p")),)), operands)

    def numpy_above(self) -> tuple[str, ...]:
        return _numpy_angles([-p for p in self.positions], self.angles)

    def conventions(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        return [convention("Gradients are rotated back: {turn}.", turn=self._written_turn())]


@dataclass(frozen=True)
class Multiple(RuleOp):
    """A times one number; `of` says in the formula language what the number is (`sqrt(d_model)`)."""

    factor: Value
    of: str = ""
    title = "Multiple"

    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        return A.product(A.number(self.factor), operands[0][i, j])

    def pull(self, use: Use) -> Pull:
        return Pull((use.g,), self)

    def witness(self, *operands: Floats) -> Floats:
        factor = as_float(self.factor)
        return entrywise(lambda x: factor * x, *operands)

    def written(self, style: Style, *operands: Formula) -> Formula:
        return Product((self.symbol(style), *operands), "·")

    def numpy(self, *operands: str) -> str:
        return f"{factor(self.factor)} * {operands[0]}"

    def symbol(self, style: Style) -> Formula:
        """The factor by name: √d_model."""
        return read_formula(self.of, Scope(names=style.letters)) if self.of else number(self.factor)

    def conventions(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        if not self.of:
            return []
        factor = Relation((self.symbol(signs.style), signs.number(self.factor)), ("=",))
        return [convention("Embeddings are multiplied by {factor}.", factor=factor)]


# ------------------------------------------------------------------------------------------------ in words

POSITION, THETA = Name("p"), Name("θ")
_PAIRS: Mapping[Layout, str] = {
    "pairs": "Neighbouring features form pairs, and each pair is rotated: {turn}.",
    "halves": "Features half the width apart form pairs, and each pair is rotated: {turn}.",
}


def stated_positions(positions: Sequence[int]) -> Convention:
    """p = 0, 1, 2."""
    listed = ListOf(tuple(Number(str(p)) for p in positions), "", ",")
    return convention("The positions are {positions}.", positions=Relation((POSITION, listed), ("=",)))


def _stated_angles(angles: Sequence[Angle], thetas: Sequence[Formula]) -> Convention:
    stated = Row(tuple(part for angle, theta in zip(angles, thetas, strict=True) for part in angle.stated(theta)))
    if any(isinstance(angle, Frequency | Radians) for angle in angles):
        return convention("The angles are: {angles}, in radians.", angles=stated)
    return convention("The angles are: {angles}.", angles=stated)


def _thetas(angles: Sequence[Angle]) -> list[Formula]:
    return [Name("θ", (Number(str(k + 1)),)) for k in range(len(angles))]


def _wave(function: str, theta: Formula) -> Formula:
    return Call(Name(function), (Product((POSITION, theta)),))


def _place(layout: Layout, j: int, pairs: int) -> tuple[int, bool]:
    """The pair that feature j belongs to, and whether it is the second of it; from 0."""
    return (j // 2, j % 2 == 1) if layout == "pairs" else (j % pairs, j >= pairs)


def _pair(layout: Layout, k: int, pairs: int) -> tuple[int, int]:
    """The two features of pair k; from 0."""
    return (2 * k, 2 * k + 1) if layout == "pairs" else (k, k + pairs)


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


OPS = {"multiple": Multiple, "sinusoids": Sinusoids, "rotate": Rotate}

__all__ = [
    "Angle",
    "Degrees",
    "Direction",
    "Frequency",
    "Layout",
    "Multiple",
    "Radians",
    "Rotate",
    "RotateBack",
    "Sinusoids",
]
