"""Ways of working out a step: the usual one, some that look wrong and are right, and some that are wrong.

rules.md 2.6 lists those that look wrong and earn full marks.  Each way is carried out on the numbers of a variant, so
that what is said of it is proved there and not believed.  Tokens are rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from symattn.derivation.derivation import Derivation
from symattn.derivation.ops import Add, Mask, MatMul, Scale, Softmax
from symattn.errors import ShapeError, UndefinedError
from symattn.exact import NEGATIVE_INFINITY, Matrix, Value, compare, divide, exponential, power, square_root

Work = Callable[["Numbers"], Matrix]


class Numbers:
    """The matrices of a derivation by name, and the operations of its steps."""

    def __init__(self, d: Derivation) -> None:
        self.d = d

    def __getattr__(self, name: str) -> Matrix:
        found = self.d.value(name)
        assert isinstance(found, Matrix)
        return found

    @property
    def scores(self) -> Matrix:
        """What the softmax is taken of."""
        return self.__getattr__(self.d["A"].operands[0].name)

    @property
    def unmasked(self) -> Matrix:
        return self.__getattr__(self.d["M"].operands[0].name)

    @property
    def keep(self) -> tuple[tuple[bool, ...], ...]:
        op = self.d["M"].op
        assert isinstance(op, Mask)
        return op.keep

    @property
    def divisor(self) -> Value:
        op = self.d["S'"].op
        assert isinstance(op, Scale)
        return op.divisor

    @property
    def normalisation(self) -> Softmax:
        op = self.d["A"].op
        assert isinstance(op, Softmax)
        return op

    def softmax(self, scores: Matrix) -> Matrix:
        return self.normalisation.apply(scores)

    def powers(self, scores: Matrix) -> Matrix:
        """b^x of every entry, 0 for what is hidden."""
        base = self.normalisation.base
        return scores.map(lambda x: 0 if x is NEGATIVE_INFINITY else exponential(x) if base == "e" else power(base, x))


@dataclass(frozen=True)
class Way:
    """One way: its step, whether it is right, how it is said, why it is right or wrong, and how it is carried out.

    `needs` are matrices without which it has no place; with "no M" it has none under a mask.
    """

    id: str
    step: str
    right: bool
    text: str
    why: str
    work: Work
    needs: tuple[str, ...] = ()
    diagnosis: str = ""

    def suits(self, d: Derivation) -> bool:
        return all((name.removeprefix("no ") in d) != name.startswith("no ") for name in self.needs)


def carried_out(way: Way, d: Derivation) -> Matrix | None:
    """What a way gives; None if it is not defined."""
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
    Way("S product", "S", True, "$@name(Q) @name(K^T)$", "row i belongs to query i.", lambda n: dot(n.Q, n.K.T)),
    Way(
        "S turned twice",
        "S",
        True,
        "the transpose of $@name(K) @name(Q^T)$",
        "the transpose of a product is the product of the transposes in the other order.",
        lambda n: dot(n.K, n.Q.T).T,
    ),
    Way(
        "S at once",
        "S",
        True,
        "$@name(X) (@name(W_Q) @name(W_K^T)) @name(X^T)$, without the queries and the keys",
        "products may be bracketed in any way.",
        lambda n: dot(dot(n.X, dot(n.W_Q, n.W_K.T)), n.X.T),
        ("W_Q", "W_K"),
    ),
    Way(
        "S by columns",
        "S",
        True,
        "column by column: the queries $@name(Q)$ times one key at a time",
        "each product is one column of the scores.",
        lambda n: Matrix.of([dot(n.Q, n.K.row(j).T).T.rows[0] for j in range(n.K.shape[0])]).T,
    ),
    Way("S T2", "S", False, "$@name(K) @name(Q^T)$", "this is the transpose.", lambda n: dot(n.K, n.Q.T), (), "T2"),
    Way("S T1", "S", False, "$@name(Q) @name(K)$", "the keys must be transposed.", lambda n: dot(n.Q, n.K), (), "T1"),
    Way(
        "S T3",
        "S",
        False,
        "$@name(Q^T) @name(K)$",
        "this compares features, not tokens.",
        lambda n: dot(n.Q.T, n.K),
        (),
        "T3",
    ),
    Way(
        "S T4",
        "S",
        False,
        "$@name(Q) @name(V^T)$",
        "queries are compared with keys.",
        lambda n: dot(n.Q, n.V.T),
        (),
        "T4",
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
        (),
        "T7",
    ),
    # ------------------------------------------------------------------------------------------- scaled scores
    Way(
        "S' entries",
        "S'",
        True,
        "every entry of $@name(S)$ divided by $@scale(S')$",
        "this is what scaling means.",
        lambda n: over(n.S, n.divisor),
    ),
    Way(
        "S' queries",
        "S'",
        True,
        "the queries $@name(Q)$ divided by $@scale(S')$ first, and then multiplied by $@name(K^T)$",
        "a number may be taken out of a product.",
        lambda n: dot(over(n.Q, n.divisor), n.K.T),
    ),
    Way(
        "S' keys",
        "S'",
        True,
        "the keys $@name(K)$ divided by $@scale(S')$ first, and then the scores as usual",
        "a number may be taken out of a product.",
        lambda n: dot(n.Q, over(n.K, n.divisor).T),
    ),
    Way(
        "S' both",
        "S'",
        True,
        "$@name(Q)$ and $@name(K)$ both divided by the square root of $@scale(S')$, and then the scores as usual",
        "the two roots multiply to the divisor.",
        _fourth_roots,
    ),
    Way(
        "S' weights",
        "S'",
        True,
        "$@name(W_Q)$ divided by $@scale(S')$ before anything else",
        "a number may be taken out of a product.",
        lambda n: dot(dot(n.X, over(n.W_Q, n.divisor)), n.K.T),
        ("W_Q",),
    ),
    Way(
        "S' twice",
        "S'",
        False,
        "$@name(Q)$ and $@name(K)$ both divided by $@scale(S')$, and then the scores as usual",
        "this divides twice.",
        lambda n: dot(over(n.Q, n.divisor), over(n.K, n.divisor).T),
        (),
        "C2",
    ),
    Way(
        "S' times",
        "S'",
        False,
        "every entry of $@name(S)$ times $@scale(S')$",
        "divide, and do not multiply.",
        lambda n: n.S.map(lambda x: x * n.divisor),
        (),
        "C4",
    ),
    Way(
        "S' tokens",
        "S'",
        False,
        "every entry of $@name(S)$ divided by the square root of the number of tokens",
        "the divisor depends on the width of the keys.",
        lambda n: over(n.S, square_root(n.S.shape[1])),
        (),
        "C5",
    ),
    Way(
        "S' values",
        "S'",
        False,
        "every entry of $@name(S)$ divided by the square root of the width of the values",
        "the divisor depends on the width of the keys.",
        lambda n: over(n.S, square_root(n.V.shape[1])),
        (),
        "C9",
    ),
    Way(
        "S' first row",
        "S'",
        False,
        "the first row of $@name(S)$ divided by $@scale(S')$, the other rows as they are",
        "every entry is divided.",
        lambda n: Matrix.of((over(n.S.row(0), n.divisor).rows[0], *n.S.rows[1:])),
        (),
        "C10",
    ),
    # ------------------------------------------------------------------------------------------------- weights
    Way(
        "A row maximum",
        "A",
        True,
        "the softmax of each row after its largest score has been subtracted from it",
        "a number subtracted from a whole row cancels.",
        lambda n: n.softmax(_less(n.scores, lambda i, j: _largest(n.scores.rows[i]))),
    ),
    Way(
        "A global maximum",
        "A",
        True,
        "the softmax of each row after the largest score of the whole matrix has been subtracted everywhere",
        "it is the same number for every entry of a row, so it cancels.",
        lambda n: n.softmax(_less(n.scores, lambda i, j: _largest(list(n.scores)))),
    ),
    Way(
        "A turned",
        "A",
        True,
        "the matrix of scores transposed, softmax along each column, and the result transposed back",
        "the columns of the transpose are the rows.",
        lambda n: replace(n.normalisation, along="columns").apply(n.scores.T).T,
    ),
    Way(
        "A normalised",
        "A",
        True,
        "the exponential of every score, each row then divided by its sum",
        "this is the definition.",
        lambda n: normalised(n.powers(n.scores)),
    ),
    Way(
        "A masked after",
        "A",
        True,
        "softmax without the mask, the hidden weights set to 0, and each row divided by what is left of its sum",
        "the common denominator cancels.",
        lambda n: normalised(_hidden_as(n, n.softmax(n.unmasked), 0)),
        ("M",),
    ),
    Way(
        "A M5",
        "A",
        False,
        "softmax without the mask, and the hidden weights set to 0",
        "the rows no longer sum to 1.",
        lambda n: _hidden_as(n, n.softmax(n.unmasked), 0),
        ("M",),
        "M5",
    ),
    Way(
        "A M4",
        "A",
        False,
        "softmax with 0 for every hidden score",
        "a score of 0 still gets weight.",
        lambda n: n.softmax(_hidden_as(n, n.unmasked, 0)),
        ("M",),
        "M4",
    ),
    Way(
        "A X1",
        "A",
        False,
        "the exponential of every score, each column then divided by its sum",
        "each query's row must sum to 1.",
        lambda n: normalised(n.powers(n.scores).T).T,
        (),
        "X1",
    ),
    Way(
        "A X2",
        "A",
        False,
        "the exponential of every score, all divided by the sum of the whole matrix",
        "each query's row must sum to 1.",
        lambda n: over(n.powers(n.scores), _total(list(n.powers(n.scores)))),
        (),
        "X2",
    ),
    Way(
        "A X5",
        "A",
        False,
        "each row of scores divided by its sum",
        "exponentiate first, then divide.",
        lambda n: normalised(n.scores),
        ("no M",),
        "X5",
    ),
    Way(
        "A X9",
        "A",
        False,
        "the softmax of each row with the sign of every score changed",
        "a larger score must get a larger weight.",
        lambda n: n.softmax(n.scores.map(lambda x: -x)),
        ("no M",),
        "X9",
    ),
    Way(
        "A column maximum",
        "A",
        False,
        "the softmax of each row after the largest score of each column has been subtracted from that column",
        "what is subtracted differs within a row, so it does not cancel.",
        lambda n: n.softmax(_less(n.scores, lambda i, j: _largest([row[j] for row in n.scores.rows]))),
        (),
        "X15",
    ),
    Way(
        "A doubled",
        "A",
        False,
        "the softmax of each row after every score has been doubled",
        "a factor does not cancel: only what is added to a whole row does.",
        lambda n: n.softmax(n.scores.map(lambda x: x if x is NEGATIVE_INFINITY else x + x)),
    ),
    # -------------------------------------------------------------------------------------------------- output
    Way("Z product", "Z", True, "$@name(A) @name(V)$", "row i mixes the values for token i.", lambda n: dot(n.A, n.V)),
    Way(
        "Z turned",
        "Z",
        True,
        "the transpose of $@name(V^T) @name(A^T)$",
        "the transpose of a product is the product of the transposes in the other order.",
        lambda n: dot(n.V.T, n.A.T).T,
    ),
    Way(
        "Z late weights",
        "Z",
        True,
        "$(@name(A) @name(X)) @name(W_V)$: the inputs mixed first, and then projected",
        "products may be bracketed in any way.",
        lambda n: dot(dot(n.A, n.X), n.W_V),
        ("W_V",),
    ),
    Way(
        "Z outer",
        "Z",
        True,
        "for every token j, column j of $@name(A)$ times row j of $@name(V)$; all these matrices added up",
        "this is the same sum in another order.",
        lambda n: reduce(
            lambda a, b: Add().apply(a, b),
            [dot(n.A.T.row(j).T, n.V.row(j)) for j in range(n.V.shape[0])],
        ),
    ),
    Way(
        "Z O1",
        "Z",
        False,
        "$@name(A^T) @name(V)$",
        "this uses the columns of the weights.",
        lambda n: dot(n.A.T, n.V),
        (),
        "O1",
    ),
    Way("Z O2", "Z", False, "$@name(V) @name(A)$", "the weights stand on the left.", lambda n: dot(n.V, n.A), (), "O2"),
    Way("Z O3", "Z", False, "$@name(A) @name(K)$", "the values are mixed.", lambda n: dot(n.A, n.K), (), "O3"),
    Way(
        "Z O7",
        "Z",
        False,
        "every row of $@name(V)$ times the weight that its token gives to itself",
        "every token mixes all the values that it sees.",
        _own_weights,
        (),
        "O7",
    ),
    Way(
        "Z O8",
        "Z",
        False,
        "$@name(A) @name(V)$, divided by the number of tokens",
        "the weights already average.",
        lambda n: over(dot(n.A, n.V), n.A.shape[1]),
        (),
        "O8",
    ),
)


BY_ID: Mapping[str, Way] = {way.id: way for way in WAYS}

__all__ = ["BY_ID", "WAYS", "Way", "carried_out"]
