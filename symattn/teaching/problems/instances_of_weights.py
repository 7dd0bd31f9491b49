"""Instances of theorems about weights: what leaves a softmax as it is, and what changes it how."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cmp_to_key
from typing import Any

from symattn.derivation.ops import Softmax
from symattn.exact import Matrix, Value, compare, divide, exponential, power, square_root
from symattn.formula import Formula, ListOf, Relation
from symattn.foundation.dice import pick, sample, whole
from symattn.page.document import Display, listing
from symattn.teaching.problems.asking import Offer, TurningProse
from symattn.teaching.problems.instances import (
    NEW,
    Instance,
    Tasks,
    boxes,
    different,
    grid,
    inline,
    line,
    options,
    weights,
)
from symattn.teaching.problems.systems import Row, Rows, normalised, times

# ------------------------------------------------------------------------------------------------ row shift


def _logs(whole_part: int, parts: Sequence[int], factor: int = 1) -> list[str]:
    """3 + 2·ln 2, 3, 3 + 2·ln 5: a whole number plus logarithms, ln 1 left out."""
    sign, size = "+-"[factor < 0], "" if abs(factor) == 1 else f"{abs(factor)} · "
    return [str(whole_part) if a == 1 else f"{whole_part} {sign} {size}ln({a})" for a in parts]


def _listed(say: TurningProse, entries: Sequence[str]) -> Formula:
    return ListOf(tuple(map(say.formula, entries)), "(", ",")


def _divided(powers: Sequence[Any]) -> Matrix:
    return Matrix.of([[divide(p, sum(powers[1:], powers[0])) for p in powers]])


_SAME_WEIGHTS = {
    False: "Which of these rows of scores has the same weights?",
    True: "Which of these columns of scores has the same weights?",
}


@dataclass(frozen=True)
class Shift(Instance):
    c: int
    other: int
    parts: Row
    order: Row

    @classmethod
    def drawn(cls, rng: random.Random, order: Row) -> Shift:
        while True:
            parts = tuple(sample(rng, range(1, 10), 3))
            if math.gcd(*parts) == 1:
                c = pick(rng, [-4, -3, -2, 2, 3, 4, 5, 6, 7])
                return cls(c=c, other=whole(rng, 8, 12), parts=parts, order=order)

    def tasks(self, say: TurningProse) -> Tasks:
        c, other, parts = self.c, self.other, self.parts
        rows = (
            _logs(other, parts),
            _logs(2 * c, parts, 2),
            _logs(c, parts, -1),
            [*_logs(other, parts[:1]), *_logs(c, parts[1:])],
        )
        reasons = (
            say("{constant} is added to every score.", constant=other - c),
            say("all scores are doubled, so the powers of the logarithms are squared."),
            say("the logarithms have changed their signs, which inverts every power."),
            say("only the first score has changed."),
        )
        offers = [
            Offer(inline(_listed(say, row)), why, right=row is rows[0]) for row, why in zip(rows, reasons, strict=True)
        ]
        shown = _listed(say, _logs(c, parts))
        given = Display((Relation((say.formula("s"), shown), ("=",)),))
        return (
            (given,),
            boxes(
                say,
                say("Use the theorem to find the weights $softmax(s)$ exactly."),
                say.formula("softmax(s)"),
                normalised(parts),
                say.paragraph(
                    "Without the common $c$ the powers are $parts$, and their sum is $total$.",
                    c=say.number(c),
                    parts=say.row(parts),
                    total=say.number(sum(parts)),
                ),
            ),
            options(say(_SAME_WEIGHTS[say.columns]), self.placed(offers)),
        )

    def direct(self) -> tuple[Matrix, frozenset[int]]:
        c, other, parts = self.c, self.other, self.parts
        rows = (
            [exponential(other) * a for a in parts],
            [exponential(2 * c) * a**2 for a in parts],
            [exponential(c) * Fraction(1, a) for a in parts],
            [exponential(other if j == 0 else c) * a for j, a in enumerate(parts)],
        )
        right = _divided([exponential(c) * a for a in parts])
        return right, self.places([_divided(row) == right for row in rows])


# ------------------------------------------------------------------------------------------------ key bias


@dataclass(frozen=True)
class KeyBias(Instance):
    q: Rows
    K: Rows
    b: Rows
    order: Row

    @classmethod
    def drawn(cls, rng: random.Random, order: Row) -> KeyBias:
        while True:
            q, b = grid(rng, 1, 2, -2, 3), grid(rng, 1, 2, -2, 3)
            K = grid(rng, 3, 2, -2, 2)
            scores = times(Matrix(q), Matrix(K).T).rows[0]
            if different(scores) and times(Matrix(q), Matrix(b).T)[0, 0] not in (0, 1) and 0 not in q[0]:
                return cls(q=q, K=K, b=b, order=order)

    def tasks(self, say: TurningProse) -> Tasks:
        q, K, b = Matrix(self.q), Matrix(self.K), Matrix(self.b)
        plain, more = times(q, K.T), times(q, b.T)[0, 0]
        return (
            (Display((say.equation("q", q), say.equation("K", K), say.equation("b", b))),),
            boxes(
                say,
                say(
                    "The scores of the query $q$ are $plain$ without the bias. Find them with the bias $b$ on every "
                    "key.",
                    plain=say.values(plain),
                ),
                say.formula("s"),
                plain.map(lambda s: s + more),
                say.paragraph("$q b^T = more$ is added to every score.", more=say.number(more)),
            ),
            line(
                say,
                say("By what factor does the bias multiply the power $e^{s_j}$ of every score?"),
                say.formula('"factor"'),
                exponential(more),
                say.paragraph("The factor is $e^{q b^T}$, the same for every key, so it cancels."),
            ),
        )

    def direct(self) -> tuple[Matrix, Value]:
        q, K, (b,) = Matrix(self.q), self.K, self.b
        scores = [times(q, Matrix(rows).T) for rows in (K, [[a + c for a, c in zip(k, b, strict=True)] for k in K])]
        factors = [divide(exponential(t), exponential(s)) for s, t in zip(*(m.rows[0] for m in scores), strict=True)]
        assert all(f == factors[0] for f in factors)
        return scores[1], factors[0]


# ------------------------------------------------------------------------------------------------ masks


@dataclass(frozen=True)
class Masked(Instance):
    parts: Row
    hidden: Row
    order: Row

    @classmethod
    def drawn(cls, rng: random.Random, order: Row) -> Masked:
        hidden = tuple(sorted(sample(rng, range(4), pick(rng, [1, 2]))))
        while True:
            parts = tuple(whole(rng, 1, 9) for _ in range(4))
            if len({part for j, part in enumerate(parts) if j not in hidden}) > 1 and math.gcd(*parts) == 1:
                return cls(parts=parts, hidden=hidden, order=order)

    def tasks(self, say: TurningProse) -> Tasks:
        full, hidden = normalised(self.parts), self.hidden
        kept = [0 if j in hidden else part for j, part in enumerate(self.parts)]
        part = divide(sum(kept), sum(self.parts))
        texts = {
            1: "These are the weights of one query without a mask. Find its weights when {keys} is hidden.",
            2: "These are the weights of one query without a mask. Find its weights when {keys} are hidden.",
        }
        return (
            (say.equations(a=full),),
            boxes(
                say,
                say(texts[len(hidden)], keys=say.formulas([f"k_{j + 1}" for j in hidden], "and")),
                say.formula('index(a, "masked")'),
                normalised(kept),
                say.paragraph("The visible weights sum to $part$; they are divided by it.", part=say.number(part)),
            ),
            line(
                say,
                say("By what factor has every visible weight grown?"),
                say.formula('"factor"'),
                divide(1, part),
                say.paragraph("One over the sum of the visible weights."),
            ),
        )

    def direct(self) -> tuple[Matrix, Value]:
        """From scores ln a, with −∞ where they are hidden."""
        scores = [f"ln({part})" for part in self.parts]
        full, masked = (
            Softmax().apply(Matrix([row]))
            for row in (scores, ["-inf" if j in self.hidden else s for j, s in enumerate(scores)])
        )
        seen = next(j for j in range(4) if j not in self.hidden)
        return masked, divide(masked[0, seen], full[0, seen])


# ------------------------------------------------------------------------------------------------ variance


@dataclass(frozen=True)
class Variance(Instance):
    d_k: int
    q: int
    k: int
    order: Row

    @classmethod
    def drawn(cls, rng: random.Random, order: Row) -> Variance:
        q, k = sample(rng, range(1, 10), 2)
        return cls(d_k=pick(rng, [4, 8, 9, 16, 24, 25, 32, 36, 48, 64]), q=q, k=k, order=order)

    def tasks(self, say: TurningProse) -> Tasks:
        d, q, k = self.d_k, self.q, self.k
        given = say.paragraph(
            "Let $d_k = d$. The entries of $q$ and $k$ are independent with mean 0, those of $q$ with variance $a$, "
            "those of $k$ with variance $b$.",
            d=say.number(d),
            a=say.number(q),
            b=say.number(k),
        )
        return (
            (given,),
            line(
                say,
                say("What is the variance of the score $q k^T$?"),
                say.formula("Var(q k^T)"),
                d * q * k,
                Display((say.formula(f"Var(q k^T) = {d} · {q} · {k}"),)),
            ),
            line(
                say,
                say("By what must scores be divided so that their variance is 1? Give it exactly."),
                say.formula('"divisor"'),
                square_root(d * q * k),
                say.paragraph("By the root of the variance: dividing by $c$ divides the variance by $c^2$."),
            ),
        )

    def direct(self) -> tuple[Value, Value]:
        """For entries ±√a and ±√b, each sign as likely: the distribution of a sum of d_k signs, counted out."""
        counts = {0: 1}
        for _ in range(self.d_k):
            longer: dict[int, int] = {}
            for total, ways in counts.items():
                for sign in (-1, 1):
                    longer[total + sign] = longer.get(total + sign, 0) + ways
            counts = longer
        mean_square = Fraction(sum(ways * total**2 for total, ways in counts.items()), sum(counts.values()))
        variance = divide(mean_square * self.q * self.k, 1)
        return variance, square_root(variance)


# ------------------------------------------------------------------------------------------------ temperature


@dataclass(frozen=True)
class Temperature(Instance):
    parts: Row
    factor: int
    pair: tuple[int, int]
    wanted: int
    order: Row

    @classmethod
    def drawn(cls, rng: random.Random, order: Row) -> Temperature:
        while True:
            scores, factor, exponent = [whole(rng, 0, 2) for _ in range(3)], whole(rng, 2, 3), whole(rng, 2, 6)
            i, j = sample(rng, range(3), 2)
            difference = scores[i] - scores[j]
            if min(scores) == 0 and difference > 0 and exponent not in (difference, factor * difference):
                return cls(parts=tuple(2**s for s in scores), factor=factor, pair=(i, j), wanted=exponent, order=order)

    def tasks(self, say: TurningProse) -> Tasks:
        parts, factor, (i, j), wanted = self.parts, self.factor, self.pair, self.wanted
        raised = [part**factor for part in parts]
        once = parts[i].bit_length() - parts[j].bit_length()
        return (
            (say.equations(a=normalised(parts)),),
            boxes(
                say,
                say(
                    "These are the weights of one query. Find its weights after $W_Q$ has been multiplied by {factor}.",
                    factor=factor,
                ),
                say.formula(f'index(a, "{NEW}")'),
                normalised(raised),
                say.paragraph(
                    "Every ratio of two weights is raised to the power {factor}: $raised$ in proportion.",
                    factor=factor,
                    raised=say.row(raised),
                ),
            ),
            line(
                say,
                say(
                    "At which temperature $T$ is the weight of $k_{one}$ exactly $ratio$ times that of $k_{other}$?",
                    one=i + 1,
                    other=j + 1,
                    ratio=say.number(2**wanted),
                ),
                say.formula("T"),
                Fraction(once, wanted),
                say.paragraph(
                    "At $T = 1$ the ratio is $now$; at $T$ it is that number to the power $frac(1, T)$.",
                    now=say.number(2**once),
                ),
            ),
        )

    def direct(self) -> tuple[Matrix, Value]:
        scores = [part.bit_length() - 1 for part in self.parts]
        (i, j), wanted = self.pair, self.wanted
        for temperature in (Fraction(above, below) for above in range(1, 4) for below in range(1, 7)):
            at = Matrix([[s / temperature for s in scores]])
            if power(2, at[0, i] - at[0, j]) == 2**wanted:
                return weights(Matrix([[s * self.factor for s in scores]])), divide(temperature, 1)
        raise AssertionError("no temperature among those tried")


# ------------------------------------------------------------------------------------------------ doubling


@dataclass(frozen=True)
class Doubling(Instance):
    parts: Row
    order: Row

    @classmethod
    def drawn(cls, rng: random.Random, order: Row) -> Doubling:
        while True:
            scores = [whole(rng, 0, 2) for _ in range(4)]
            if min(scores) == 0 and max(scores) >= 1 and scores.count(max(scores)) < 3:
                return cls(parts=tuple(2**s * pick(rng, [1, 3]) for s in scores), order=order)

    def tasks(self, say: TurningProse) -> Tasks:
        parts = self.parts
        squared = [part**2 for part in parts]
        ratio = Fraction(max(parts), min(parts))
        return (
            (say.equations(a=normalised(parts)),),
            boxes(
                say,
                say("These are the weights of one query. Find its weights after all its scores have been doubled."),
                say.formula(f'index(a, "{NEW}")'),
                normalised(squared),
                say.paragraph("The weights are in the ratio of the squares $squared$.", squared=say.row(squared)),
            ),
            line(
                say,
                say(
                    "The scores are then doubled once more. What is then the ratio of the largest weight to the "
                    "smallest?"
                ),
                say.formula('"ratio"'),
                divide(ratio**4, 1),
                say.paragraph("It was $ratio$ and is squared twice.", ratio=say.number(divide(ratio, 1))),
            ),
        )

    def direct(self) -> tuple[Matrix, Value]:
        """From scores ln a: doubled, 2 ln a, and e^(2 ln a) worked out by the exact numbers."""
        scores = [Matrix([[f"{c} * ln({a})" for a in self.parts]]) for c in (2, 4)]
        twice, often = (Softmax().apply(s) for s in scores)
        ranked = sorted(often.rows[0], key=cmp_to_key(compare))
        return twice, divide(ranked[-1], ranked[0])


# ------------------------------------------------------------------------------------------------ the product alone


_INVERTIBLE: tuple[Rows, ...] = (
    ((1, 1), (0, 1)),
    ((1, 0), (1, 1)),
    ((2, 1), (1, 1)),
    ((1, -1), (0, 1)),
    ((1, 1), (1, 2)),
    ((0, 1), (-1, 1)),
)


@dataclass(frozen=True)
class ProductAlone(Instance):
    W_Q: Rows
    W_K: Rows
    C: Rows
    order: Row

    @classmethod
    def drawn(cls, rng: random.Random, order: Row) -> ProductAlone:
        while True:
            found = cls(grid(rng, 2, 2, -1, 2), grid(rng, 2, 2, -1, 2), pick(rng, _INVERTIBLE), order)
            products = [times(a, b.T).rows for a, b in found._pairs()]
            if all(p != products[0] for p in products[1:]) and different(found.W_Q + found.W_K):
                return found

    def _pairs(self) -> list[tuple[Matrix, Matrix]]:
        """Four pairs of weights: the first has the same product, the others have not."""
        W_Q, W_K, C = Matrix(self.W_Q), Matrix(self.W_K), Matrix(self.C)
        (a, b), (c, d) = self.C
        turned = Matrix([[d, -c], [-b, a]])  # the inverse transposed; every C here has determinant 1
        return [
            (times(W_Q, C), times(W_K, turned)),
            (times(W_Q, C), times(W_K, C)),
            (W_K, W_Q),
            (W_Q.map(lambda w: 2 * w), W_K.map(lambda w: 2 * w)),
        ]

    def tasks(self, say: TurningProse) -> Tasks:
        W_Q, W_K = Matrix(self.W_Q), Matrix(self.W_K)
        product = times(W_Q, W_K.T)
        offers = []
        for number, (a, b) in enumerate(self._pairs()):
            text = listing([inline(say.equation("W_Q", a)), inline(say.equation("W_K", b))], "")
            why = say("its product is $p$.", p=say.values(times(a, b.T)))
            offers.append(Offer(text, why, right=number == 0))
        return (
            (say.equations(W_Q=W_Q, W_K=W_K),),
            boxes(say, say("Work out $W_Q W_K^T$."), say.formula("W_Q W_K^T"), product),
            options(say("Which of these pairs of weights gives the same scores for every input?"), self.placed(offers)),
        )

    def direct(self) -> tuple[Matrix, frozenset[int]]:
        """Scores of the unit vectors, which are the entries of the product."""
        unit = Matrix([[1, 0], [0, 1]])

        def scores(a: Matrix, b: Matrix) -> Matrix:
            return times(times(unit, a), times(unit, b).T)

        own = scores(Matrix(self.W_Q), Matrix(self.W_K))
        return own, self.places([scores(a, b) == own for a, b in self._pairs()])
