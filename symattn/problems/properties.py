"""Marking by a property: whether matrices of the student's own choice do what was asked, decided exactly.

A rule is given what the question printed, as JSON, and the student's matrices by name.  Only the property counts:
a constant added to a row of scores, a fraction for a whole number, quite another matrix make no difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, cast

from symattn.errors import UndecidedError
from symattn.exact import Matrix, Value, compare, decide, divide, exact, exponential, has_symbols, power
from symattn.exact.values import NegativeInfinity
from symattn.languages import Message, message
from symattn.ops import MatMul
from symattn.question import Content


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the property holds, and a sentence to the student that says so or what is missing."""

    holds: bool
    says: Message


Rule = Callable[[Content, Mapping[str, Matrix]], Verdict]


def weights_of_scores(parameters: Content, own: Mapping[str, Matrix]) -> Verdict:
    """Softmax of the student's S, row by row, is exactly `weights`; base "e" or a number.

    parameters: {"base": "e" | 2, "weights": rows}
    """
    wanted = Matrix(cast("list[list[object]]", parameters["weights"]))
    if trouble := _unusable(own, "S", wanted.shape):
        return trouble
    for i, (scores, weights) in enumerate(zip(own["S"].rows, wanted.rows, strict=True), 1):
        if not _gives(scores, weights, parameters["base"]):
            return Verdict(False, message("Softmax of row {row} is not the row of weights that was asked for.", row=i))
    return Verdict(True, message("Softmax of these scores gives the weights that were asked for."))


def exact_weights(parameters: Content, own: Mapping[str, Matrix]) -> Verdict:
    """One token's weights are exactly `weights`.

    parameters: {"asked": "W_Q", "x": row, "K": rows, …} or {"asked": "K", "q": row, "shape": [n, d_k], …}, each with
    "base" and "weights" (one row).
    """
    if trouble := _unusable(own, str(parameters["asked"]), _shape(parameters)):
        return trouble
    weights = Matrix([cast("list[object]", parameters["weights"])])
    if _gives(_scores(parameters, own).rows[0], weights.rows[0], parameters["base"]):
        return Verdict(True, message("The weights come out exactly as they were asked for."))
    return Verdict(False, message("The weights do not come out as they were asked for."))


def attends(parameters: Content, own: Mapping[str, Matrix]) -> Verdict:
    """One token gives key `to` (from 0) a weight of at least `least`; the other parameters as for `exact_weights`.

    a_u = 1/Σ b^(s_j − s_u) is compared as Σ b^(s_j − s_u) ≤ 1/least, which stays small where the answer is right.
    """
    if trouble := _unusable(own, str(parameters["asked"]), _shape(parameters)):
        return trouble
    scores = _scores(parameters, own).rows[0]
    to, least = cast(int, parameters["to"]), exact(parameters["least"])
    total = _sum(_power(parameters["base"], s - scores[to]) for s in scores)
    if compare(total, divide(1, least)) <= 0:
        return Verdict(True, message("The weight is at least {least}.", least=str(least)))
    return Verdict(False, message("The weight is less than {least}.", least=str(least)))


def _shape(parameters: Content) -> tuple[int, int]:
    if parameters["asked"] == "W_Q":
        x, K = cast("list[int]", parameters["x"]), cast("list[list[int]]", parameters["K"])
        return len(x), len(K[0])
    rows, columns = cast("list[int]", parameters["shape"])
    return rows, columns


def _scores(parameters: Content, own: Mapping[str, Matrix]) -> Matrix:
    """The row of scores q Kᵀ with the student's matrix in its place."""
    times = MatMul().apply
    if parameters["asked"] == "W_Q":
        x, K = Matrix([cast("list[object]", parameters["x"])]), Matrix(cast("list[list[object]]", parameters["K"]))
        return times(times(x, own["W_Q"]), K.T)
    return times(Matrix([cast("list[object]", parameters["q"])]), own["K"].T)


def _unusable(own: Mapping[str, Matrix], name: str, shape: tuple[int, int]) -> Verdict | None:
    if name not in own:
        return Verdict(False, message("There is no {matrix}.", matrix=name))
    rows, columns = own[name].shape
    if (rows, columns) != shape:
        text = "The shape of {matrix} is {shape}; it must be {expected}."
        return Verdict(False, message(text, matrix=name, shape=f"{rows}×{columns}", expected=f"{shape[0]}×{shape[1]}"))
    if any(isinstance(x, NegativeInfinity) or has_symbols(x) for x in own[name]):
        return Verdict(False, message("Every entry of {matrix} must be a finite number.", matrix=name))
    return None


def _gives(scores: Iterable[Value], weights: Iterable[Value], base: Any) -> bool:
    """Whether powers of the scores are in the proportions of the weights: b^{s_j}·a_1 = b^{s_1}·a_j for every j."""
    (s, a), *others = zip(scores, weights, strict=True)
    return all(decide(_power(base, t - s) * a, b).equal is True for t, b in others)


def _power(base: Any, exponent: Value) -> Value:
    return exponential(exponent) if base == "e" else power(base, exponent)


def _sum(values: Iterable[Value]) -> Value:
    total: Value = 0
    for value in values:
        total = total + value
    return total


def verdict(rule: str, parameters: Content, own: Mapping[str, Matrix]) -> Verdict:
    """What a rule says; a verdict against the answer where it cannot be decided, which a person must then look at."""
    try:
        return RULES[rule](parameters, own)
    except UndecidedError as error:
        return Verdict(False, message("This could not be decided and needs a person: {error}", error=str(error)))


RULES: Mapping[str, Rule] = MappingProxyType(
    {"weights of scores": weights_of_scores, "exact weights": exact_weights, "attends": attends}
)

__all__ = ["RULES", "Rule", "Verdict", "verdict"]
