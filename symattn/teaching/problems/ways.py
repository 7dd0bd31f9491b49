"""Ways of working out a step: the usual one, some that look wrong and are right (rules.md 2.6), some that are wrong.

Each is carried out on the numbers of a variant, so that its claim is proved there and not believed.  Numbers are laid
out with tokens as rows; what is said of each way stands in `ways.toml`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TypeVar

from symattn.derivation.derivation import Derivation, Op, Step
from symattn.derivation.misconceptions import misconception
from symattn.derivation.misconceptions.base import step_of_kind
from symattn.derivation.ops.attention import Mask, Softmax
from symattn.derivation.ops.linear import Add, MatMul, Scale
from symattn.errors import ShapeError, UndefinedError
from symattn.exact import NEGATIVE_INFINITY, Matrix, Value, compare, decide, exponential, square_root, values_of
from symattn.exact.rounding import approximate
from symattn.teaching.fairness.separation import LEAST
from symattn.teaching.problems.asking import Phrase, bank
from symattn.teaching.problems.systems import normalised

Entries = tuple[Value, ...]
Work = Callable[["Numbers"], Matrix]
SomeOp = TypeVar("SomeOp", bound=Op)


class MissingError(Exception):
    """A way asks for a matrix or a step that a derivation does not have."""


class Numbers:
    """The matrices of a derivation by name, and the operations of its steps."""

    def __init__(self, d: Derivation) -> None:
        self.d = d

    def __getattr__(self, name: str) -> Matrix:
        value = self.d.value(name) if name in self.d else None
        if not isinstance(value, Matrix):
            raise MissingError(name)
        return value

    @property
    def scores(self) -> Matrix:
        """What the softmax is taken of."""
        return self.__getattr__(self._step("A", Softmax)[0].operands[0].name)

    @property
    def unmasked(self) -> Matrix:
        return self.__getattr__(self._step("M", Mask)[0].operands[0].name)

    @property
    def keep(self) -> tuple[tuple[bool, ...], ...]:
        return self._step("M", Mask)[1].keep

    @property
    def divisor(self) -> Value:
        return self._step("S'", Scale)[1].divisor

    @property
    def normalisation(self) -> Softmax:
        return self._step("A", Softmax)[1]

    def _step(self, name: str, kind: type[SomeOp]) -> tuple[Step, SomeOp]:
        if (place := step_of_kind(self.d, name, kind)) is None:
            raise MissingError(name)
        return place

    def softmax(self, scores: Matrix) -> Matrix:
        return self.normalisation.apply(scores)

    def powers(self, scores: Matrix) -> Matrix:
        """b^x of every entry, 0 for what is hidden."""
        base = self.normalisation.base
        return scores.map(lambda x: exponential(x, base))


@dataclass(frozen=True)
class Way:
    """One way, as `ways.toml` has it: whether it is right, how it is said, and why it is right or wrong.

    It has no place where a matrix is missing that it works with; one of `unmasked` scores has none under a mask.
    """

    right: bool
    text: Phrase
    why: Phrase
    diagnosis: str = ""
    unmasked: bool = False
    id: str = ""

    @property
    def step(self) -> str:
        return self.id.partition(" ")[0]

    def holds(self, d: Derivation) -> bool:
        """Whether it has a place in a derivation with tokens as rows, and is seen to be there what it is said to be."""
        try:
            return not (self.unmasked and "M" in d) and gives(self, d) is self.right
        except MissingError:
            return False


def gives(way: Way, d: Derivation) -> bool | None:
    """Whether a way gives its step, tokens as rows; None where neither that nor a difference is seen."""
    result, right = carried_out(way, d), values_of(d.value(way.step))
    if result is None or result.shape != right.shape:
        return False
    if any(apart(a, b) for a, b in zip(result.rows, right.rows, strict=True)):
        return False
    return all(decide(a, b).equal is True for a, b in zip(result, right, strict=True)) or None


def carried_out(way: Way, d: Derivation) -> Matrix | None:
    """What a way gives in a derivation with tokens as rows; None if it is not defined.

    `MissingError` where the way has no place.
    """
    if way.id not in WORK:
        if (wrong := misconception(way.diagnosis).on(d)) is None:
            raise MissingError(way.step)
        value = wrong.value(way.step)
        return value if isinstance(value, Matrix) else None
    try:
        return WORK[way.id](Numbers(d))
    except (ShapeError, UndefinedError, ZeroDivisionError):
        return None


def apart(one: Entries, other: Entries) -> bool:
    """Whether two rows are seen to differ in some entry."""
    return any(a != b and not abs(a - b) < LEAST for a, b in zip(size(one), size(other), strict=True))


def size(row: Entries) -> tuple[float, ...]:
    """By which rows are put in order: by the first entry, then by the next."""
    return tuple(round(approximate(x), 9) for x in row)


def dot(*matrices: Matrix) -> Matrix:
    """The product, after its shapes have been checked."""

    def times(a: Matrix, b: Matrix) -> Matrix:
        MatMul().shape(a.shape, b.shape)
        return MatMul().apply(a, b)

    return reduce(times, matrices)


def over(matrix: Matrix, divisor: Value) -> Matrix:
    return Scale(divisor).apply(matrix)


def _largest(values: Sequence[Value]) -> Value:
    finite = [x for x in values if x is not NEGATIVE_INFINITY]
    return reduce(lambda a, b: a if compare(a, b) >= 0 else b, finite)


def _less(matrix: Matrix, least: Callable[[int, int], Value]) -> Matrix:
    """The matrix less something for every entry; what is hidden stays hidden."""
    return Matrix.of(
        [x if x is NEGATIVE_INFINITY else x - least(i, j) for j, x in enumerate(row)]
        for i, row in enumerate(matrix.rows)
    )


def _hidden_as(n: Numbers, matrix: Matrix, value: Value) -> Matrix:
    return Matrix.of(
        [x if seen else value for x, seen in zip(row, kept, strict=True)]
        for row, kept in zip(matrix.rows, n.keep, strict=True)
    )


WORK: Mapping[str, Work] = {
    "S product": lambda n: dot(n.Q, n.K.T),
    "S turned twice": lambda n: dot(n.K, n.Q.T).T,
    "S at once": lambda n: dot(dot(n.X, dot(n.W_Q, n.W_K.T)), n.X.T),
    "S by columns": lambda n: Matrix.of([dot(n.Q, n.K.row(j).T).T.rows[0] for j in range(n.K.shape[0])]).T,
    "S own key": lambda n: Matrix.of(
        [x if i == j else 0 for j, x in enumerate(row)] for i, row in enumerate(dot(n.Q, n.K.T).rows)
    ),
    "S' entries": lambda n: over(n.S, n.divisor),
    "S' queries": lambda n: dot(over(n.Q, n.divisor), n.K.T),
    "S' keys": lambda n: dot(n.Q, over(n.K, n.divisor).T),
    "S' both": lambda n: over(dot(n.Q, n.K.T), n.divisor),  # (Q/c)(K/c)ᵀ with c² the divisor; c need not be exact
    "S' weights": lambda n: dot(dot(n.X, over(n.W_Q, n.divisor)), n.K.T),
    "S' tokens": lambda n: over(n.S, square_root(n.S.shape[1])),
    "A row maximum": lambda n: n.softmax(_less(n.scores, lambda i, j: _largest(n.scores.rows[i]))),
    "A global maximum": lambda n: n.softmax(_less(n.scores, lambda i, j: _largest(list(n.scores)))),
    "A turned": lambda n: replace(n.normalisation, along="columns").apply(n.scores.T).T,
    "A normalised": lambda n: normalised(*n.powers(n.scores).rows),
    "A masked after": lambda n: normalised(*_hidden_as(n, n.softmax(n.unmasked), 0).rows),
    "A column maximum": lambda n: n.softmax(_less(n.scores, lambda i, j: _largest([row[j] for row in n.scores.rows]))),
    "A doubled": lambda n: n.softmax(n.scores.map(lambda x: x if x is NEGATIVE_INFINITY else x + x)),
    "Z product": lambda n: dot(n.A, n.V),
    "Z turned": lambda n: dot(n.V.T, n.A.T).T,
    "Z late weights": lambda n: dot(dot(n.A, n.X), n.W_V),
    "Z outer": lambda n: reduce(Add().apply, [dot(n.A.T.row(j).T, n.V.row(j)) for j in range(n.V.shape[0])]),
    "Z O7": lambda n: Matrix.of([n.A[i, i] * x for x in row] for i, row in enumerate(n.V.rows[: n.A.shape[0]])),
}
"""How ways are carried out; those that are not here are what the misconception does that is their diagnosis."""

WAYS: Mapping[str, Way] = {id: replace(way, id=id) for id, way in bank(dict[str, Way], "ways").items()}
