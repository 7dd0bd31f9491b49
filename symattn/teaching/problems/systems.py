"""Small exact matrices, and linear systems: queries and weights that make scores what they are wanted to be; and
whether matrices of the student's own choice do what was asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from random import Random
from types import MappingProxyType
from typing import Any, TypeVar

from symattn.derivation.algebra import Base
from symattn.derivation.ops.attention import Keep, Mask, Softmax
from symattn.derivation.ops.linear import MatMul
from symattn.errors import UndecidedError
from symattn.exact import Matrix, Value, compare, decide, divide, exact, exponential, has_symbols
from symattn.exact.sums import total
from symattn.exact.values import NegativeInfinity
from symattn.foundation.dice import whole
from symattn.foundation.languages import Message, message

T = TypeVar("T", int, tuple[str, int, int])
Row = tuple[int, ...]
Rows = tuple[Row, ...]


def grid(rng: Random, rows: int, columns: int, low: int, high: int) -> Rows:
    return tuple(tuple(whole(rng, low, high) for _ in range(columns)) for _ in range(rows))


def different(rows: Sequence[object]) -> bool:
    return all(a != b for i, a in enumerate(rows) for b in rows[:i])


def mean(rows: Sequence[Sequence[int]]) -> tuple[Value, ...]:
    """The mean of some rows, column by column."""
    return tuple(divide(sum(column), len(rows)) for column in zip(*rows, strict=True))


def doubled_area(points: Sequence[Sequence[int | Fraction]]) -> Fraction:
    """Twice the signed area of the triangle of three points."""
    (a, b), (c, d), (e, f) = points
    return Fraction((c - a) * (f - b) - (e - a) * (d - b))


Equation = dict[T, Fraction]
"""The coefficients of the unknowns, none of them 0, where the whole is 0."""


def reduced(equations: Iterable[Mapping[T, Fraction]]) -> list[tuple[T, Equation[T]]]:
    """Gauss and Jordan: the reduced echelon form, as rows with their pivots; each stands in its own row alone."""
    rows: list[tuple[T, Equation[T]]] = []
    for equation in equations:
        new = dict(equation)
        for pivot, row in rows:
            if pivot in new:
                _subtract(new, row, new[pivot])
        if new:
            lead = min(new)
            new = {unknown: c / new[lead] for unknown, c in new.items()}
            for _, row in rows:
                if lead in row:
                    _subtract(row, new, row[lead])
            rows.append((lead, new))
    return rows


def _subtract(row: Equation[T], other: Mapping[T, Fraction], times: Fraction) -> None:
    for unknown, c in other.items():
        rest = row.pop(unknown, Fraction(0)) - times * c
        if rest:
            row[unknown] = rest


def solution(rows: Sequence[Sequence[int | Fraction]], right: Sequence[int | Fraction]) -> list[Fraction] | None:
    """One solution of a linear system (free unknowns are 0), or None if there is none."""
    unknowns = len(rows[0])
    lines = (enumerate((*row, b)) for row, b in zip(rows, right, strict=True))
    pivots = dict(reduced({k: Fraction(x) for k, x in line if x} for line in lines))
    if unknowns in pivots:  # 0 = 1
        return None
    return [pivots[k].get(unknowns, Fraction(0)) if k in pivots else Fraction(0) for k in range(unknowns)]


def query_for(K: Rows, scores: Sequence[int]) -> list[Fraction] | None:
    """A query with these scores up to a constant: K q + c = scores, the constant c the last unknown."""
    solved = solution([[*k, 1] for k in K], scores)
    return solved and solved[:-1]


def weights_for(x: Row, query: Sequence[Fraction]) -> Matrix | None:
    """W_Q with x W_Q = query: one row of it is the query over an entry of x, 1 or −1 if there is one."""
    if not any(x):
        return Matrix([[0] * len(query)] * len(x)) if not any(query) else None
    place = min((i for i, a in enumerate(x) if a), key=lambda i: abs(x[i]))
    return Matrix([[divide(q, x[i]) if i == place else 0 for q in query] for i in range(len(x))])


def scores_of(x: Row, W: Rows, K: Rows) -> Row:
    """The scores of a token with every key: x W Kᵀ."""
    query = [sum(a * row[c] for a, row in zip(x, W, strict=True)) for c in range(len(W[0]))]
    return tuple(sum(a * b for a, b in zip(query, k, strict=True)) for k in K)


def times(a: Matrix, b: Matrix) -> Matrix:
    return MatMul().apply(a, b)


def softmax(scores: Matrix | Sequence[Sequence[Any]], keep: Keep | None = None, base: Base = "e") -> Matrix:
    """The weights of scores, row by row, under a mask if there is one."""
    matrix = scores if isinstance(scores, Matrix) else Matrix(scores)
    return Softmax(base=base).apply(Mask(keep).apply(matrix) if keep else matrix)


def normalised(*rows: Sequence[Value]) -> Matrix:
    """Each row divided by its sum: (1, 2, 1) → (1/4, 1/2, 1/4)."""
    return Matrix.of([divide(x, total(row)) for x in row] for row in rows)


# ------------------------------------------------------------------------------------------------ a property
# By which matrices of the student's own choice are marked, decided exactly.  It has the numbers that the question
# printed, and judges the student's matrices, by name.  Only what was asked counts: a constant added to a row of
# scores, a fraction for a whole number, quite another matrix make no difference.  All of it is for tokens as rows;
# where `tokens` are columns, the student's matrices are transposed first.
#
#     weights of scores   softmax of S, row by row, is exactly `weights`, as far as its decimals go
#     exact weights       the weights of token x by W_Q, or of query q by K, are exactly `weights`
#     attends             token x gives key `to` (from 0) a weight of at least `least`

Own = Mapping[str, Matrix]
"""The student's matrices by name; or the units of their decimals (0.01 for 0.25; 0 for what is exact)."""
Parameters = Mapping[str, Any]
NOTHING: Own = MappingProxyType({})

COARSEST = Fraction(1, 100)
"""Logarithms that were evaluated stand for themselves if they have two places or more."""


@dataclass(frozen=True, slots=True)
class PropertyVerdict:
    """Whether the property holds, a sentence to the student that says so or what is missing, and how that is proved."""

    holds: bool
    says: Message
    proof: str = "exact"


def _unusable(own: Own, name: str, shape: tuple[int, ...], columns: bool) -> PropertyVerdict | None:
    """What is wrong with a matrix itself; its shape is told as it lies on the sheet."""
    if name not in own:
        return PropertyVerdict(False, message("There is no {matrix}.", matrix=name))
    if own[name].shape != shape:
        came, expected = ("×".join(map(str, s[::-1] if columns else s)) for s in (own[name].shape, shape))
        text = "The shape of {matrix} is {shape}; it must be {expected}."
        return PropertyVerdict(False, message(text, matrix=name, shape=came, expected=expected))
    if any(isinstance(x, NegativeInfinity) or has_symbols(x) for x in own[name]):
        return PropertyVerdict(False, message("Every entry of {matrix} must be a finite number.", matrix=name))
    return None


def _weights_of_scores(parameters: Parameters, own: Own, units: Own) -> PropertyVerdict:
    base, rounded = parameters["base"], False
    for i, (scores, weights) in enumerate(zip(own["S"].rows, Matrix(parameters["weights"]).rows, strict=True), 1):
        if _gives(scores, weights, base):
            continue
        if "S" in units and _may_give(scores, units["S"].rows[i - 1], weights, base):
            rounded = True
            continue
        if _columns(parameters):
            says = message("Softmax of column {column} is not the column of weights that was asked for.", column=i)
        else:
            says = message("Softmax of row {row} is not the row of weights that was asked for.", row=i)
        return PropertyVerdict(False, says)
    says = message("Softmax of these scores gives the weights that were asked for.")
    return PropertyVerdict(True, says, "rounding" if rounded else "exact")


def scores_by(parameters: Parameters, own: Own) -> Matrix:
    """The scores that were chosen; those of token x by W_Q; or those of query q by K."""
    if "S" in own:
        return own["S"]
    if "q" in parameters:
        return times(Matrix([parameters["q"]]), own["K"].T)
    return times(times(Matrix([parameters["x"]]), own["W_Q"]), Matrix(parameters["K"]).T)


def _exact_weights(parameters: Parameters, own: Own, units: Own) -> PropertyVerdict:
    if _gives(scores_by(parameters, own), Matrix([parameters["weights"]]), parameters["base"]):
        return PropertyVerdict(True, message("The weights come out exactly as they were asked for."))
    return PropertyVerdict(False, message("The weights do not come out as they were asked for."))


def _attends(parameters: Parameters, own: Own, units: Own) -> PropertyVerdict:
    """a_u = 1/Σ b^(s_j − s_u) is compared as Σ b^(s_j − s_u) ≤ 1/least, which stays small where the answer is right."""
    scores, least = scores_by(parameters, own).rows[0], exact(parameters["least"])
    whole = total([exponential(s - scores[parameters["to"]], parameters["base"]) for s in scores])
    if compare(whole, divide(1, least)) <= 0:
        return PropertyVerdict(True, message("The weight is at least {least}.", least=str(least)))
    return PropertyVerdict(False, message("The weight is less than {least}.", least=str(least)))


def _gives(scores: Iterable[Value], weights: Iterable[Value], base: str | int) -> bool:
    """Whether powers of the scores are in the proportions of the weights: b^{s_j}·a_1 = b^{s_1}·a_j for every j."""
    (s, a), *others = zip(scores, weights, strict=True)
    return all(decide(exponential(t - s, base) * a, b).equal is True for t, b in others)


def _may_give(scores: Sequence[Value], units: Sequence[Value], weights: Sequence[Value], base: str | int) -> bool:
    """Whether scores do that of which these are decimals, rounded or cut off: as far as every two of them go."""
    if not any(units) or any(compare(unit, COARSEST) > 0 for unit in units):
        return False
    for (s, u, a), (t, v, b) in combinations(zip(scores, units, weights, strict=True), 2):
        if compare(exponential(t - s - u - v, base) * a, b) > 0 or compare(exponential(t - s + u + v, base) * a, b) < 0:
            return False
    return True


RULES: Mapping[str, Callable[[Parameters, Own, Own], PropertyVerdict]] = {
    "weights of scores": _weights_of_scores,
    "exact weights": _exact_weights,
    "attends": _attends,
}


def _columns(parameters: Parameters) -> bool:
    return bool(parameters.get("tokens") == "columns")


def as_rows(parameters: Parameters, own: Own) -> Own:
    """The student's matrices for tokens as rows."""
    return {name: m.T for name, m in own.items()} if _columns(parameters) else own


def judged(rule: str, parameters: Parameters, own: Own, units: Own = NOTHING) -> PropertyVerdict:
    """The verdict on matrices as they lie on the sheet."""
    own, units = as_rows(parameters, own), as_rows(parameters, units)
    if rule == "weights of scores":
        name, shape = "S", Matrix(parameters["weights"]).shape
    else:
        name = parameters["asked"]
        shape = tuple(parameters["shape"]) if name == "K" else (len(parameters["x"]), len(parameters["K"][0]))
    return _unusable(own, name, shape, _columns(parameters)) or RULES[rule](parameters, own, units)


def verdict(rule: str, parameters: Parameters, own: Own) -> PropertyVerdict:
    """What a rule says; a verdict against the answer where it cannot be decided, which a person must then look at."""
    try:
        return judged(rule, parameters, own)
    except UndecidedError as error:
        return PropertyVerdict(
            False, message("This could not be decided and needs a person: {error}", error=str(error))
        )
