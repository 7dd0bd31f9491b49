"""Marking by a property: whether matrices of the student's own choice do what was asked, decided exactly.

A property has the numbers that the question printed, and judges the student's matrices, by name.  Only what was asked
counts: a constant added to a row of scores, a fraction for a whole number, quite another matrix make no difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from types import MappingProxyType
from typing import Any, Literal

from symattn.errors import UndecidedError
from symattn.exact import Matrix, Value, compare, decide, divide, exact, exponential, has_symbols, power
from symattn.exact.sums import total
from symattn.exact.values import NegativeInfinity
from symattn.foundation.languages import Message, message
from symattn.foundation.typed import read
from symattn.teaching.problems.systems import Row, Rows, times
from symattn.teaching.question import Content

Base = Literal["e"] | int
Weights = tuple[str, ...]
"""Fractions, as text: 1/4."""
Own = Mapping[str, Matrix]
"""The student's matrices by name; or the units of their decimals (0.01 for 0.25; 0 for what is exact)."""
NOTHING: Own = MappingProxyType({})

COARSEST = Fraction(1, 100)
"""Logarithms that were evaluated stand for themselves if they have two places or more."""


@dataclass(frozen=True, slots=True)
class PropertyVerdict:
    """Whether the property holds, a sentence to the student that says so or what is missing, and how that is proved."""

    holds: bool
    says: Message
    proof: str = "exact"


@dataclass(frozen=True)
class Property:
    """What matrices must have, said for tokens as rows; where they are columns, the student's are transposed first."""

    tokens: Literal["rows", "columns"] = field(default="rows", kw_only=True)

    def verdict(self, own: Own, units: Own = NOTHING) -> PropertyVerdict:
        raise NotImplementedError

    def judged(self, own: Own, units: Own = NOTHING) -> PropertyVerdict:
        """The verdict on matrices as they lie on the sheet."""
        if self.tokens == "rows":
            return self.verdict(own, units)
        return self.verdict(*({name: m.T for name, m in these.items()} for these in (own, units)))

    def unusable(self, own: Own, name: str, shape: tuple[int, int]) -> PropertyVerdict | None:
        """What is wrong with a matrix itself; its shape is told as it lies on the sheet."""
        if name not in own:
            return PropertyVerdict(False, message("There is no {matrix}.", matrix=name))
        if own[name].shape != shape:
            shapes = [own[name].shape, shape] if self.tokens == "rows" else [own[name].shape[::-1], shape[::-1]]
            (rows, columns), expected = shapes
            text = "The shape of {matrix} is {shape}; it must be {expected}."
            return PropertyVerdict(
                False, message(text, matrix=name, shape=f"{rows}×{columns}", expected=f"{expected[0]}×{expected[1]}")
            )
        if any(isinstance(x, NegativeInfinity) or has_symbols(x) for x in own[name]):
            return PropertyVerdict(False, message("Every entry of {matrix} must be a finite number.", matrix=name))
        return None


@dataclass(frozen=True)
class WeightsOfScores(Property):
    """Softmax of the student's S, row by row, is exactly `weights`, as far as its decimals go."""

    base: Base
    weights: tuple[Weights, ...]

    def verdict(self, own: Own, units: Own = NOTHING) -> PropertyVerdict:
        wanted = Matrix(self.weights)
        if trouble := self.unusable(own, "S", wanted.shape):
            return trouble
        rounded = False
        for i, (scores, weights) in enumerate(zip(own["S"].rows, wanted.rows, strict=True)):
            if _gives(scores, weights, self.base):
                continue
            if "S" in units and _may_give(scores, units["S"].rows[i], weights, self.base):
                rounded = True
                continue
            if self.tokens == "columns":
                says = message(
                    "Softmax of column {column} is not the column of weights that was asked for.", column=i + 1
                )
            else:
                says = message("Softmax of row {row} is not the row of weights that was asked for.", row=i + 1)
            return PropertyVerdict(False, says)
        says = message("Softmax of these scores gives the weights that were asked for.")
        return PropertyVerdict(True, says, "rounding" if rounded else "exact")


@dataclass(frozen=True)
class QueryOfToken(Property):
    """W_Q is asked for, which turns the input x of one token into its query."""

    asked: Literal["W_Q"]
    x: Row
    K: Rows
    base: Base

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.x), len(self.K[0])

    def scores(self, own: Own) -> Matrix:
        return times(times(Matrix([self.x]), own["W_Q"]), Matrix(self.K).T)


@dataclass(frozen=True)
class KeysOfQuery(Property):
    """K is asked for, keys for one query q."""

    asked: Literal["K"]
    q: Row
    shape: tuple[int, int]
    base: Base

    def scores(self, own: Own) -> Matrix:
        return times(Matrix([self.q]), own["K"].T)


@dataclass(frozen=True)
class ExactWeights(QueryOfToken):
    """One token's weights are exactly `weights`."""

    weights: Weights

    def verdict(self, own: Own, units: Own = NOTHING) -> PropertyVerdict:
        return _exactly(self, own)


@dataclass(frozen=True)
class ExactWeightsByKeys(KeysOfQuery):
    """One query's weights are exactly `weights`."""

    weights: Weights

    def verdict(self, own: Own, units: Own = NOTHING) -> PropertyVerdict:
        return _exactly(self, own)


def _exactly(wanted: ExactWeights | ExactWeightsByKeys, own: Own) -> PropertyVerdict:
    if trouble := wanted.unusable(own, wanted.asked, wanted.shape):
        return trouble
    if _gives(wanted.scores(own).rows[0], Matrix([wanted.weights]).rows[0], wanted.base):
        return PropertyVerdict(True, message("The weights come out exactly as they were asked for."))
    return PropertyVerdict(False, message("The weights do not come out as they were asked for."))


@dataclass(frozen=True)
class Attends(QueryOfToken):
    """One token gives key `to` (from 0) a weight of at least `least`.

    a_u = 1/Σ b^(s_j − s_u) is compared as Σ b^(s_j − s_u) ≤ 1/least, which stays small where the answer is right.
    """

    to: int
    least: str

    def verdict(self, own: Own, units: Own = NOTHING) -> PropertyVerdict:
        if trouble := self.unusable(own, self.asked, self.shape):
            return trouble
        scores, least = self.scores(own).rows[0], exact(self.least)
        whole = total([_power(self.base, s - scores[self.to]) for s in scores])
        if compare(whole, divide(1, least)) <= 0:
            return PropertyVerdict(True, message("The weight is at least {least}.", least=str(least)))
        return PropertyVerdict(False, message("The weight is less than {least}.", least=str(least)))


def _gives(scores: Iterable[Value], weights: Iterable[Value], base: Base) -> bool:
    """Whether powers of the scores are in the proportions of the weights: b^{s_j}·a_1 = b^{s_1}·a_j for every j."""
    (s, a), *others = zip(scores, weights, strict=True)
    return all(decide(_power(base, t - s) * a, b).equal is True for t, b in others)


def _may_give(scores: Sequence[Value], units: Sequence[Value], weights: Sequence[Value], base: Base) -> bool:
    """Whether scores do that of which these are decimals, rounded or cut off: as far as every two of them go."""
    if not any(units) or any(compare(unit, COARSEST) > 0 for unit in units):
        return False
    for (s, u, a), (t, v, b) in combinations(zip(scores, units, weights, strict=True), 2):
        if compare(_power(base, t - s - u - v) * a, b) > 0 or compare(_power(base, t - s + u + v) * a, b) < 0:
            return False
    return True


def _power(base: Base, exponent: Value) -> Value:
    return exponential(exponent) if base == "e" else power(base, exponent)


def verdict(rule: str, parameters: Content, own: Own) -> PropertyVerdict:
    """What a rule says; a verdict against the answer where it cannot be decided, which a person must then look at."""
    try:
        return RULES[rule](parameters, own, NOTHING)
    except UndecidedError as error:
        return PropertyVerdict(
            False, message("This could not be decided and needs a person: {error}", error=str(error))
        )


Rule = Callable[[Content, Own, Own], PropertyVerdict]


def _rule(kind: Any) -> Rule:
    """The property with its numbers as JSON."""

    def judged(parameters: Content, own: Own, units: Own) -> PropertyVerdict:
        said: PropertyVerdict = read(kind, parameters).judged(own, units)
        return said

    return judged


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "weights of scores": _rule(WeightsOfScores),
        "exact weights": _rule(ExactWeights | ExactWeightsByKeys),
        "attends": _rule(Attends),
    }
)

__all__ = [
    "RULES",
    "Attends",
    "ExactWeights",
    "ExactWeightsByKeys",
    "PropertyVerdict",
    "Rule",
    "WeightsOfScores",
    "verdict",
]
