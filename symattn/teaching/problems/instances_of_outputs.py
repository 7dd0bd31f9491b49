"""Instances of theorems about outputs: orders of tokens, means of values, masks, products in another order."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from symattn.derivation.ops import Mask, Softmax
from symattn.derivation.ops.attention import Keep, causal
from symattn.exact import Matrix, divide, exponential
from symattn.formula import Relation
from symattn.foundation.dice import pick, sample, shuffled, whole
from symattn.page.document import Display
from symattn.teaching.problems.asking import Offer, TurningProse
from symattn.teaching.problems.instances import (
    NEW,
    Instance,
    Tasks,
    boxes,
    different,
    distinct_values,
    grid,
    inline,
    mean,
    modest,
    options,
    ordered,
    weights,
)
from symattn.teaching.problems.systems import Row, Rows, normalised, times

# ------------------------------------------------------------------------------------------------ permutation


@dataclass(frozen=True)
class Permutation(Instance):
    Q: Rows
    K: Rows
    V: Rows
    new: Row
    order: Row

    @classmethod
    def drawn(cls, rng: random.Random, order: Row) -> Permutation:
        while True:
            q, k = grid(rng, 3, 2, -1, 2), grid(rng, 3, 2, -1, 2)
            scores = times(Matrix(q), Matrix(k).T).rows
            if modest(scores) and different(scores) and different(list(zip(*scores, strict=True))):  # type: ignore[arg-type]
                new = pick(rng, [(1, 0, 2), (0, 2, 1), (2, 1, 0), (1, 2, 0), (2, 0, 1)])
                return cls(Q=q, K=k, V=distinct_values(rng, 3), new=new, order=order)

    def tasks(self, say: TurningProse) -> Tasks:
        A, V, new = weights(times(Matrix(self.Q), Matrix(self.K).T)), Matrix(self.V), self.new
        moved = ordered(ordered(A, new).T, new).T
        given = (
            say.equations(A=A, V=V, Z=times(A, V)),
            say.paragraph(
                "These are the weights, values and outputs for three tokens. Now the tokens are put in the order "
                "{tokens}.",
                tokens=say.formulas([f"x_{i + 1}" for i in new]),
            ),
        )
        return (
            given,
            boxes(
                say,
                say("Write down the new weights."),
                say.formula(f'index(A, "{NEW}")'),
                moved,
                say.paragraph(
                    "Rows and columns both come in the new order: {order}.", order=", ".join(str(i + 1) for i in new)
                ),
            ),
            boxes(
                say,
                say("Write down the new outputs, without multiplying again."),
                say.formula(f'index(Z, "{NEW}")'),
                ordered(times(A, V), new),
                say.paragraph(
                    "The same columns, in the new order." if say.columns else "The same rows, in the new order."
                ),
            ),
        )

    def direct(self) -> tuple[Matrix, Matrix]:
        Q, K, V = (ordered(Matrix(rows), self.new) for rows in (self.Q, self.K, self.V))
        A = weights(times(Q, K.T))
        return A, times(A, V)


# ------------------------------------------------------------------------------------------------ convex hull


def _area(V: Sequence[Sequence[int | Fraction]]) -> Fraction:
    """Twice the signed area of the triangle of three values."""
    (a, b), (c, d), (e, f) = V
    return Fraction((c - a) * (f - b) - (e - a) * (d - b))


PATTERNS = ((1, 1, 2), (1, 2, 2), (1, 1, 3), (1, 2, 3), (1, 3, 4), (2, 3, 5))
_OUTSIDE = ((-1, 1, 1), (2, -1, 0), (0, -1, 2))


@dataclass(frozen=True)
class ConvexHull(Instance):
    V: Rows
    parts: Row
    order: Row

    @classmethod
    def drawn(cls, rng: random.Random, order: Row) -> ConvexHull:
        while True:
            V, pattern = grid(rng, 3, 2, -4, 6), pick(rng, PATTERNS)
            parts = tuple(shuffled(rng, pattern))
            point = times(normalised(parts), Matrix(V))
            if abs(_area(V)) >= 4 and all(isinstance(x, int) for x in point):
                return cls(V=V, parts=parts, order=order)

    def tasks(self, say: TurningProse) -> Tasks:
        V, parts = Matrix(self.V), self.parts
        point = times(normalised(parts), V)
        offers = [Offer(inline(say.values(point)), say("it is a mean with the weights of the next part."), right=True)]
        for outside in _OUTSIDE:
            why = say(
                "only the numbers $numbers$ in place of weights give it, and one of them is negative.",
                numbers=say.row(outside),
            )
            offers.append(Offer(inline(say.values(times(Matrix([outside]), V))), why))
        return (
            (say.equations(V=V),),
            options(
                say("Exactly one of these vectors can be the output of a token that sees all three values. Which one?"),
                self.placed(offers),
            ),
            boxes(
                say,
                say("Which weights give it?"),
                say.formula("a"),
                normalised(parts),
                say.paragraph("They solve $a V = z$ with a sum of 1: $z = point$.", point=say.values(point)),
            ),
        )

    def direct(self) -> tuple[frozenset[int], Matrix]:
        """Barycentric coordinates by areas (Cramer): an output has positive ones."""
        V = self.V

        def coordinates(numbers: Matrix) -> list[Fraction]:
            point = [x for x in times(numbers, Matrix(V)) if isinstance(x, int | Fraction)]
            return [Fraction(_area([*V[:i], point, *V[i + 1 :]]), _area(V)) for i in range(3)]

        found = [coordinates(m) for m in (normalised(self.parts), *(Matrix([outside]) for outside in _OUTSIDE))]
        return self.places([min(c) > 0 for c in found]), Matrix([found[0]])


# ------------------------------------------------------------------------------------------------ equal scores


@dataclass(frozen=True)
class EqualScores(Instance):
    V: Rows
    hidden: int
    score: int
    order: Row

    @classmethod
    def drawn(cls, rng: random.Random, order: Row) -> EqualScores:
        return cls(V=distinct_values(rng, 4), hidden=pick(rng, [0, 1, 2, 3]), score=whole(rng, -3, 5), order=order)

    def tasks(self, say: TurningProse) -> Tasks:
        V, hidden = Matrix(self.V), self.hidden
        means = Matrix.of([mean(self.V[: i + 1]) for i in range(4)])
        rest = [v for j, v in enumerate(self.V) if j != hidden]
        return (
            (
                say.paragraph("Every score is $c$.", c=say.number(self.score)),
                say.equations(V=V),
            ),
            boxes(
                say,
                say("Find the outputs with a causal mask."),
                say.formula("Z"),
                means,
                say.paragraph(_MEANS[say.columns]),
            ),
            boxes(
                say,
                say("Find the output of a query that sees every token except $x_{token}$.", token=hidden + 1),
                say.formula("z"),
                Matrix.of([mean(rest)]),
                say.paragraph("It is the mean of the three visible values."),
            ),
        )

    def direct(self) -> tuple[Matrix, Matrix]:
        V, c = Matrix(self.V), self.score
        seen: Keep = (tuple(j != self.hidden for j in range(4)),)
        full, one = Matrix([[c] * 4] * 4), Matrix([[c] * 4])
        return (
            times(Softmax().apply(Mask(causal(4, 4)).apply(full)), V),
            times(Softmax().apply(Mask(seen).apply(one)), V),
        )


_MEANS = {
    False: "Row $i$ is the mean of the first $i$ values.",
    True: "Column $i$ is the mean of the first $i$ values.",
}


# ------------------------------------------------------------------------------------------------ copies


@dataclass(frozen=True)
class Copies(Instance):
    parts: Row
    V: Rows
    copies: int
    order: Row

    @classmethod
    def drawn(cls, rng: random.Random, order: Row) -> Copies:
        while math.gcd(*(parts := tuple(sample(rng, range(1, 10), 3)))) > 1:
            pass
        return cls(parts=parts, V=distinct_values(rng, 3), copies=whole(rng, 2, 3), order=order)

    def tasks(self, say: TurningProse) -> Tasks:
        a, V, copies = normalised(self.parts), Matrix(self.V), self.copies
        texts = {
            2: "These are the weights of one query and the values. Now the whole list of keys and "
            "values is written twice, one copy after the other. Find the weights of all {number} "
            "keys.",
            3: "These are the weights of one query and the values. Now the whole list of keys and "
            "values is written three times, one copy after the other. Find the weights of all "
            "{number} keys.",
        }
        return (
            (Display((say.equation("a", a), say.equation("V", V))),),
            boxes(
                say,
                say(texts[copies], number=3 * copies),
                say.formula(f'index(a, "{NEW}")'),
                Matrix.of([[divide(w, copies) for w in a] * copies]),
                say.paragraph("Every weight is divided by {copies}.", copies=copies),
            ),
            boxes(
                say,
                say("Find the output of the query with all {number} keys.", number=3 * copies),
                say.formula("z"),
                times(a, V),
                say.paragraph("It is the same as with three keys: $a V$."),
            ),
        )

    def direct(self) -> tuple[Matrix, Matrix]:
        """From scores ln a, as often as there are copies."""
        a = Softmax().apply(Matrix([[f"ln({part})" for part in self.parts] * self.copies]))
        return a, times(a, Matrix(self.V * self.copies))


# ------------------------------------------------------------------------------------------------ causal


@dataclass(frozen=True)
class Causal(Instance):
    scores: Rows
    row: Row
    V: Rows
    v: Row
    tokens: int
    changed: int
    order: Row

    @classmethod
    def drawn(cls, rng: random.Random, order: Row) -> Causal:
        while True:
            scores, (row,), V = grid(rng, 3, 3, 0, 2), grid(rng, 1, 3, 0, 2), distinct_values(rng, 3)
            (v,) = distinct_values(rng, 1)
            if scores[1][0] != scores[1][1] and modest([scores[2], row]) and row != scores[2] and v not in V:
                return cls(
                    scores=scores, row=row, V=V, v=v, tokens=pick(rng, [5, 6]), changed=whole(rng, 2, 4), order=order
                )

    def tasks(self, say: TurningProse) -> Tasks:
        before, after, V, new_V = self._before_and_after()
        last = times(after.row(2), new_V)
        Z = times(before, V)
        n, t = self.tokens, self.changed
        offers = []
        for i in range(1, n + 1):
            why = "it sees the changed token." if i >= t else "the changed token comes later and is hidden from it."
            offers.append(Offer(inline(say.formula(f"z_{i}")), say(why), right=i >= t))
        return (
            (
                say.equations(A=before, V=V, Z=Z),
                say.paragraph("These are weights with a causal mask, values and outputs. Then $x_3$ is changed: now"),
                Display((say.equation("a_3", after.row(2)), say.equation("v_3", new_V.row(2)))),
            ),
            boxes(
                say,
                say("Find the new outputs."),
                say.formula(f'index(Z, "{NEW}")'),
                Matrix.of((*Z.rows[:2], *last.rows)),
                say.paragraph(_STAY[say.columns]),
            ),
            options(
                say(
                    "In a text of {tokens} tokens with a causal mask, $x_{token}$ is changed. Tick every output that "
                    "may change.",
                    tokens=n,
                    token=t,
                ),
                offers,
                several=True,
            ),
        )

    def _before_and_after(self) -> tuple[Matrix, Matrix, Matrix, Matrix]:
        """Weights before and after the third token is changed, and values before and after."""
        keep = causal(3, 3)
        before = weights(Matrix(self.scores), keep)
        column = [[*scores[:2], 9 - i] for i, scores in enumerate(self.scores[:2])]  # hidden, so it makes no difference
        after = weights(Matrix([*column, self.row]), keep)
        return before, after, Matrix(self.V), Matrix([*self.V[:2], self.v])

    def direct(self) -> tuple[Matrix, frozenset[int]]:
        _, after, _, V = self._before_and_after()
        seen = causal(self.tokens, self.tokens)
        return times(after, V), frozenset(i for i, row in enumerate(seen) if row[self.changed - 1])


_STAY = {
    False: "The first two rows stay; the third is $a_3 V$ with the new row and value.",
    True: "The first two columns stay; the third is $a_3 V$ with the new column and value.",
}


# ------------------------------------------------------------------------------------------------ associativity


@dataclass(frozen=True)
class OrderOfProducts(Instance):
    parts: Rows
    X: Rows
    W_V: Rows
    order: Row

    @classmethod
    def drawn(cls, rng: random.Random, order: Row) -> OrderOfProducts:
        while True:
            parts = tuple(tuple(shuffled(rng, pick(rng, [(1, 1, 2), (1, 3, 0), (1, 1, 0)]))) for _ in range(2))
            X, W = grid(rng, 3, 2, -2, 3), grid(rng, 2, 2, -1, 2)
            if different(parts) and different(X) and different(W) and all(any(row) for row in X + W):
                return cls(parts=parts, X=X, W_V=W, order=order)

    def tasks(self, say: TurningProse) -> Tasks:
        A, X, W = (Matrix.of(normalised(p).rows[0] for p in self.parts)), Matrix(self.X), Matrix(self.W_V)
        mixed = times(A, X)
        return (
            (say.equations(A=A, X=X, W_V=W), say.paragraph("These are the weights of two queries over three tokens.")),
            boxes(say, say("First mix the inputs: work out $A X$."), say.formula("A X"), mixed),
            boxes(
                say,
                say("From this work out the outputs, without the values $V$."),
                say.formula("Z"),
                times(mixed, W),
                say.paragraph(_TWO_PRODUCTS[say.columns]),
            ),
        )

    def direct(self) -> tuple[Matrix, Matrix]:
        A, X, W = (Matrix.of(normalised(p).rows[0] for p in self.parts)), Matrix(self.X), Matrix(self.W_V)
        entries = [
            [sum((a * v for a, v in zip(row, c, strict=True)), 0) for c in zip(*self.X, strict=True)] for row in A.rows
        ]
        return Matrix.of(entries), times(A, times(X, W))


_TWO_PRODUCTS = {
    False: "$Z = (A X) W_V$, two products with rows of two instead of three.",
    True: "$Z = (A X) W_V$, two products with columns of two instead of three.",
}


# ------------------------------------------------------------------------------------------------ rounding


_HALVES = (0, Fraction(1, 2), Fraction(1, 2))


@dataclass(frozen=True)
class Rounded(Instance):
    V: Rows
    scores: Row
    order: Row

    @classmethod
    def drawn(cls, rng: random.Random, order: Row) -> Rounded:
        while True:
            V, low, gap = grid(rng, 3, 3, 0, 8), whole(rng, 0, 3), pick(rng, [2, 2, 3])
            if all(2 * a != b + c for a, b, c in zip(*V, strict=True)):
                return cls(V=V, scores=(low, low + gap, low + gap), order=order)

    def tasks(self, say: TurningProse) -> Tasks:
        first, second, third = self.V
        gap = self.scores[1] - self.scores[0]
        middle = mean([second, third])
        small = divide(1, 1 + 2 * exponential(gap))
        change = [small * (m - v) for m, v in zip(middle, first, strict=True)]
        given = Display((Relation((say.formula("s"), say.row(self.scores)), ("=",)), say.equation("V", Matrix(self.V))))
        return (
            (given, say.paragraph("The weights of these scores are rounded to $rounded$.", rounded=say.row(_HALVES))),
            boxes(
                say,
                say("Find the output from the rounded weights."),
                say.formula('index(z, "rounded")'),
                Matrix.of([middle]),
                say.paragraph("It is the mean of $v_2$ and $v_3$."),
            ),
            boxes(
                say,
                say("By how much is it greater than the output from the exact weights? Give exact numbers."),
                say.formula('index(z, "rounded") - z'),
                Matrix.of([change]),
                say.paragraph(
                    "The exact weight of $v_1$ is $a = small$; the difference is $a$ times $means$.",
                    small=say.number(small),
                    means=say.row([m - v for m, v in zip(middle, first, strict=True)]),
                ),
            ),
        )

    def direct(self) -> tuple[Matrix, Matrix]:
        V = Matrix(self.V)
        rounded, true = times(Matrix([_HALVES]), V), times(Softmax().apply(Matrix([self.scores])), V)
        return rounded, Matrix.of([[r - t for r, t in zip(rounded, true, strict=True)]])
