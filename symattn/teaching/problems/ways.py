"""Ways of working out a step: the usual one, some that look wrong and are right, and some that are wrong.

rules.md 2.6 lists those that look wrong and earn full marks.  Each way is carried out on the numbers of a variant, so
that what is said of it is proved there and not believed.  Numbers are laid out with tokens as rows, and so are
formulas, which are turned where they are written; sentences on a direction have another one beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TypeVar

from symattn.derivation.derivation import Derivation, Op, Step
from symattn.derivation.misconceptions.base import found
from symattn.derivation.ops import Add, Mask, MatMul, Scale, Softmax
from symattn.errors import ShapeError, UndefinedError
from symattn.exact import NEGATIVE_INFINITY, Matrix, Value, compare, divide, exponential, power, square_root
from symattn.formula import Formula
from symattn.page.document import Inlines
from symattn.teaching.problems.asking import TurningProse

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
        if (place := found(self.d, name, kind)) is None:
            raise MissingError(name)
        return place

    def softmax(self, scores: Matrix) -> Matrix:
        return self.normalisation.apply(scores)

    def powers(self, scores: Matrix) -> Matrix:
        """b^x of every entry, 0 for what is hidden."""
        base = self.normalisation.base
        return scores.map(lambda x: 0 if x is NEGATIVE_INFINITY else exponential(x) if base == "e" else power(base, x))


@dataclass(frozen=True)
class Way:
    """One way: its step, whether it is right, how it is said, why it is right or wrong, and how it is carried out.

    It has no place where a matrix is missing that it works with; one of `unmasked` scores has none under a mask.
    `text` and `why` are said of tokens as rows, with standard names in formulas; `turned` and `turned_why` take their
    places where tokens are columns and more than the formulas is turned.
    """

    id: str
    step: str
    right: bool
    text: str
    why: str
    work: Work
    diagnosis: str = ""
    unmasked: bool = False
    turned: str = ""
    turned_why: str = ""

    def suits(self, d: Derivation) -> bool:
        """Whether the way has a place in a derivation with tokens as rows."""
        if self.unmasked and "M" in d:
            return False
        try:
            carried_out(self, d)
        except MissingError:
            return False
        return True

    def said(self, say: TurningProse, divisor: Formula | None) -> Inlines:
        """The way in words, with the divisor of the scores if there is one."""
        shown = {} if divisor is None else {"divisor": divisor}
        return say(say.either(self.text, self.turned or self.text), **shown)

    def reason(self, say: TurningProse) -> Inlines:
        """Why it is right or wrong."""
        return say(say.either(self.why, self.turned_why or self.why))


def carried_out(way: Way, d: Derivation) -> Matrix | None:
    """What a way gives in a derivation with tokens as rows; None if it is not defined.

    `MissingError` where the way has no place.
    """
    try:
        return way.work(Numbers(d))
    except (ShapeError, UndefinedError, ZeroDivisionError):
        return None


def dot(*matrices: Matrix) -> Matrix:
    """The product, after its shapes have been checked."""

    def times(a: Matrix, b: Matrix) -> Matrix:
        MatMul().shape(a.shape, b.shape)
        return MatMul().apply(a, b)

    return reduce(times, matrices)


def over(matrix: Matrix, divisor: Value) -> Matrix:
    return Scale(divisor).apply(matrix)


def normalised(matrix: Matrix) -> Matrix:
    """Every row divided by its sum."""
    return Matrix.of([divide(x, _total(row)) for x in row] for row in matrix.rows)


def _total(values: Sequence[Value]) -> Value:
    return reduce(lambda a, b: a + b, values)


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


def _own_weights(n: Numbers) -> Matrix:
    return Matrix.of([n.A[i, i] * x for x in row] for i, row in enumerate(n.V.rows[: n.A.shape[0]]))


def _fourth_roots(n: Numbers) -> Matrix:
    """(Q/c)(K/c)ᵀ with c² the divisor: worked out as (Q Kᵀ)/c·c, since c itself need not be exact."""
    return over(dot(n.Q, n.K.T), n.divisor)


WAYS: tuple[Way, ...] = (
    # ---------------------------------------------------------------------------------------------- the scores
    Way(
        "S product",
        "S",
        True,
        "$Q K^T$",
        "row i belongs to query i.",
        lambda n: dot(n.Q, n.K.T),
        turned_why="column i belongs to query i.",
    ),
    Way(
        "S turned twice",
        "S",
        True,
        "the transpose of $K Q^T$",
        "the transpose of a product is the product of the transposes in the other order.",
        lambda n: dot(n.K, n.Q.T).T,
    ),
    Way(
        "S at once",
        "S",
        True,
        "$X (W_Q W_K^T) X^T$, without the queries and the keys",
        "products may be bracketed in any way.",
        lambda n: dot(dot(n.X, dot(n.W_Q, n.W_K.T)), n.X.T),
    ),
    Way(
        "S by columns",
        "S",
        True,
        "column by column: the queries $Q$ times one key at a time",
        "each product is one column of the scores.",
        lambda n: Matrix.of([dot(n.Q, n.K.row(j).T).T.rows[0] for j in range(n.K.shape[0])]).T,
        turned="row by row: one key at a time times the queries $Q$",
        turned_why="each product is one row of the scores.",
    ),
    Way("S T2", "S", False, "$K Q^T$", "this is the transpose.", lambda n: dot(n.K, n.Q.T), diagnosis="T2"),
    Way("S T1", "S", False, "$Q K$", "the keys must be transposed.", lambda n: dot(n.Q, n.K), diagnosis="T1"),
    Way(
        "S T3",
        "S",
        False,
        "$Q^T K$",
        "this compares features, not tokens.",
        lambda n: dot(n.Q.T, n.K),
        diagnosis="T3",
    ),
    Way(
        "S T4",
        "S",
        False,
        "$Q V^T$",
        "queries are compared with keys.",
        lambda n: dot(n.Q, n.V.T),
        diagnosis="T4",
    ),
    Way(
        "S own key",
        "S",
        False,
        "every query times the key of its own token, and 0 elsewhere",
        "each query is compared with every key.",
        lambda n: Matrix.of(
            [x if i == j else 0 for j, x in enumerate(row)] for i, row in enumerate(dot(n.Q, n.K.T).rows)
        ),
        diagnosis="T7",
    ),
    # ------------------------------------------------------------------------------------------- scaled scores
    Way(
        "S' entries",
        "S'",
        True,
        "every entry of $S$ divided by $divisor$",
        "this is what scaling means.",
        lambda n: over(n.S, n.divisor),
    ),
    Way(
        "S' queries",
        "S'",
        True,
        "the queries $Q$ divided by $divisor$ first, and then multiplied by $K^T$",
        "a number may be taken out of a product.",
        lambda n: dot(over(n.Q, n.divisor), n.K.T),
        turned="the queries $Q$ divided by $divisor$ first, and then multiplied by $K^T$ from the left",
    ),
    Way(
        "S' keys",
        "S'",
        True,
        "the keys $K$ divided by $divisor$ first, and then the scores as usual",
        "a number may be taken out of a product.",
        lambda n: dot(n.Q, over(n.K, n.divisor).T),
    ),
    Way(
        "S' both",
        "S'",
        True,
        "$Q$ and $K$ both divided by the square root of $divisor$, and then the scores as usual",
        "the two roots multiply to the divisor.",
        _fourth_roots,
    ),
    Way(
        "S' weights",
        "S'",
        True,
        "$W_Q$ divided by $divisor$ before anything else",
        "a number may be taken out of a product.",
        lambda n: dot(dot(n.X, over(n.W_Q, n.divisor)), n.K.T),
    ),
    Way(
        "S' twice",
        "S'",
        False,
        "$Q$ and $K$ both divided by $divisor$, and then the scores as usual",
        "this divides twice.",
        lambda n: dot(over(n.Q, n.divisor), over(n.K, n.divisor).T),
        diagnosis="C2",
    ),
    Way(
        "S' times",
        "S'",
        False,
        "every entry of $S$ times $divisor$",
        "divide, and do not multiply.",
        lambda n: n.S.map(lambda x: x * n.divisor),
        diagnosis="C4",
    ),
    Way(
        "S' tokens",
        "S'",
        False,
        "every entry of $S$ divided by the square root of the number of tokens",
        "the divisor depends on the width of the keys.",
        lambda n: over(n.S, square_root(n.S.shape[1])),
        diagnosis="C5",
    ),
    Way(
        "S' values",
        "S'",
        False,
        "every entry of $S$ divided by the square root of the width of the values",
        "the divisor depends on the width of the keys.",
        lambda n: over(n.S, square_root(n.V.shape[1])),
        diagnosis="C9",
    ),
    Way(
        "S' first row",
        "S'",
        False,
        "the first row of $S$ divided by $divisor$, the other rows as they are",
        "every entry is divided.",
        lambda n: Matrix.of((over(n.S.row(0), n.divisor).rows[0], *n.S.rows[1:])),
        diagnosis="C10",
        turned="the first column of $S$ divided by $divisor$, the other columns as they are",
    ),
    # ------------------------------------------------------------------------------------------------- weights
    Way(
        "A row maximum",
        "A",
        True,
        "the softmax of each row after its largest score has been subtracted from it",
        "a number subtracted from a whole row cancels.",
        lambda n: n.softmax(_less(n.scores, lambda i, j: _largest(n.scores.rows[i]))),
        turned="the softmax of each column after its largest score has been subtracted from it",
        turned_why="a number subtracted from a whole column cancels.",
    ),
    Way(
        "A global maximum",
        "A",
        True,
        "the softmax of each row after the largest score of the whole matrix has been subtracted everywhere",
        "it is the same number for every entry of a row, so it cancels.",
        lambda n: n.softmax(_less(n.scores, lambda i, j: _largest(list(n.scores)))),
        turned="the softmax of each column after the largest score of the whole matrix has been subtracted everywhere",
        turned_why="it is the same number for every entry of a column, so it cancels.",
    ),
    Way(
        "A turned",
        "A",
        True,
        "the matrix of scores transposed, softmax along each column, and the result transposed back",
        "the columns of the transpose are the rows.",
        lambda n: replace(n.normalisation, along="columns").apply(n.scores.T).T,
        turned="the matrix of scores transposed, softmax along each row, and the result transposed back",
        turned_why="the rows of the transpose are the columns.",
    ),
    Way(
        "A normalised",
        "A",
        True,
        "the exponential of every score, each row then divided by its sum",
        "this is the definition.",
        lambda n: normalised(n.powers(n.scores)),
        turned="the exponential of every score, each column then divided by its sum",
    ),
    Way(
        "A masked after",
        "A",
        True,
        "softmax without the mask, the hidden weights set to 0, and each row divided by what is left of its sum",
        "the common denominator cancels.",
        lambda n: normalised(_hidden_as(n, n.softmax(n.unmasked), 0)),
        turned=(
            "softmax without the mask, the hidden weights set to 0, and each column divided by what is left of its sum"
        ),
    ),
    Way(
        "A M5",
        "A",
        False,
        "softmax without the mask, and the hidden weights set to 0",
        "the rows no longer sum to 1.",
        lambda n: _hidden_as(n, n.softmax(n.unmasked), 0),
        diagnosis="M5",
        turned_why="the columns no longer sum to 1.",
    ),
    Way(
        "A M4",
        "A",
        False,
        "softmax with 0 for every hidden score",
        "a score of 0 still gets weight.",
        lambda n: n.softmax(_hidden_as(n, n.unmasked, 0)),
        diagnosis="M4",
    ),
    Way(
        "A X1",
        "A",
        False,
        "the exponential of every score, each column then divided by its sum",
        "each query's row must sum to 1.",
        lambda n: normalised(n.powers(n.scores).T).T,
        diagnosis="X1",
        turned="the exponential of every score, each row then divided by its sum",
        turned_why="each query's column must sum to 1.",
    ),
    Way(
        "A X2",
        "A",
        False,
        "the exponential of every score, all divided by the sum of the whole matrix",
        "each query's row must sum to 1.",
        lambda n: over(n.powers(n.scores), _total(list(n.powers(n.scores)))),
        diagnosis="X2",
        turned_why="each query's column must sum to 1.",
    ),
    Way(
        "A X5",
        "A",
        False,
        "each row of scores divided by its sum",
        "exponentiate first, then divide.",
        lambda n: normalised(n.scores),
        diagnosis="X5",
        unmasked=True,
        turned="each column of scores divided by its sum",
    ),
    Way(
        "A X9",
        "A",
        False,
        "the softmax of each row with the sign of every score changed",
        "a larger score must get a larger weight.",
        lambda n: n.softmax(n.scores.map(lambda x: -x)),
        diagnosis="X9",
        unmasked=True,
        turned="the softmax of each column with the sign of every score changed",
    ),
    Way(
        "A column maximum",
        "A",
        False,
        "the softmax of each row after the largest score of each column has been subtracted from that column",
        "what is subtracted differs within a row, so it does not cancel.",
        lambda n: n.softmax(_less(n.scores, lambda i, j: _largest([row[j] for row in n.scores.rows]))),
        diagnosis="X15",
        turned="the softmax of each column after the largest score of each row has been subtracted from that row",
        turned_why="what is subtracted differs within a column, so it does not cancel.",
    ),
    Way(
        "A doubled",
        "A",
        False,
        "the softmax of each row after every score has been doubled",
        "a factor does not cancel: only what is added to a whole row does.",
        lambda n: n.softmax(n.scores.map(lambda x: x if x is NEGATIVE_INFINITY else x + x)),
        turned="the softmax of each column after every score has been doubled",
        turned_why="a factor does not cancel: only what is added to a whole column does.",
    ),
    # -------------------------------------------------------------------------------------------------- output
    Way(
        "Z product",
        "Z",
        True,
        "$A V$",
        "row i mixes the values for token i.",
        lambda n: dot(n.A, n.V),
        turned_why="column i mixes the values for token i.",
    ),
    Way(
        "Z turned",
        "Z",
        True,
        "the transpose of $V^T A^T$",
        "the transpose of a product is the product of the transposes in the other order.",
        lambda n: dot(n.V.T, n.A.T).T,
    ),
    Way(
        "Z late weights",
        "Z",
        True,
        "$(A X) W_V$: the inputs mixed first, and then projected",
        "products may be bracketed in any way.",
        lambda n: dot(dot(n.A, n.X), n.W_V),
    ),
    Way(
        "Z outer",
        "Z",
        True,
        "for every token j, column j of $A$ times row j of $V$; all these matrices added up",
        "this is the same sum in another order.",
        lambda n: reduce(
            lambda a, b: Add().apply(a, b),
            [dot(n.A.T.row(j).T, n.V.row(j)) for j in range(n.V.shape[0])],
        ),
        turned="for every token j, column j of $V$ times row j of $A$; all these matrices added up",
    ),
    Way(
        "Z O1",
        "Z",
        False,
        "$A^T V$",
        "this uses the columns of the weights.",
        lambda n: dot(n.A.T, n.V),
        diagnosis="O1",
        turned_why="this uses the rows of the weights.",
    ),
    Way(
        "Z O2",
        "Z",
        False,
        "$V A$",
        "the weights stand on the left.",
        lambda n: dot(n.V, n.A),
        diagnosis="O2",
        turned_why="the weights stand on the right.",
    ),
    Way("Z O3", "Z", False, "$A K$", "the values are mixed.", lambda n: dot(n.A, n.K), diagnosis="O3"),
    Way(
        "Z O7",
        "Z",
        False,
        "every row of $V$ times the weight that its token gives to itself",
        "every token mixes all the values that it sees.",
        _own_weights,
        diagnosis="O7",
        turned="every column of $V$ times the weight that its token gives to itself",
    ),
    Way(
        "Z O8",
        "Z",
        False,
        "$A V$, divided by the number of tokens",
        "the weights already average.",
        lambda n: over(dot(n.A, n.V), n.A.shape[1]),
        diagnosis="O8",
    ),
)


BY_ID: Mapping[str, Way] = {way.id: way for way in WAYS}

__all__ = ["BY_ID", "WAYS", "MissingError", "Way", "carried_out"]
