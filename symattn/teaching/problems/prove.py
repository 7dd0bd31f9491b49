"""Explain and prove: a theorem of attention, and an instance of it with numbers (rules.md 5, type 12).

The proof is marked by a rubric, or its lines are put in order; the instance is marked exactly.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cmp_to_key, partial
from types import MappingProxyType
from typing import Any, TypeAlias

from symattn.derivation.ops.attention import Keep, causal
from symattn.exact import Matrix, Value, compare, divide, exponential, power, square_root
from symattn.formula import Formula, ListOf, equal
from symattn.foundation.dice import pick, sample, shuffled, whole
from symattn.foundation.languages import message
from symattn.page.document import Block, Box, Display, ItemList, Paragraph, TextLike, WorkingSpace, as_text, listing
from symattn.teaching.explanation.steps import cell_kind
from symattn.teaching.problems.asking import (
    BlockLike,
    Offer,
    Prose,
    bank,
    blocks,
    choice_part,
    fill_in,
    labelled,
    make_part,
    put_in,
)
from symattn.teaching.problems.draws import Draw, Item, ProblemType, ProvedQuestion, one_of, question
from symattn.teaching.problems.systems import Row, Rows, different, grid, normalised, softmax, times
from symattn.teaching.question import (
    LETTERS,
    Answer,
    FormulaAnswer,
    Mark,
    MatrixAnswer,
    OneLess,
    OrderAnswer,
    Part,
    RubricAnswer,
)


@dataclass(frozen=True)
class Theorem:
    """What `theorems.toml` says of one: what a marker looks for, one mark each, and the lines of a proof."""

    title: str
    statement: str
    points: tuple[str, ...]
    proof: tuple[str, ...]
    turned: Mapping[str, str] = field(default_factory=dict)

    def lying(self, columns: bool) -> Theorem:
        """The texts for tokens as rows or as columns: `turned` has those that differ, by their places."""
        if not columns:
            return self

        def lines(place: str, texts: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(self.turned.get(f"{place} {k}", text) for k, text in enumerate(texts, 1))

        statement = self.turned.get("statement", self.statement)
        return replace(self, statement=statement, points=lines("point", self.points), proof=lines("proof", self.proof))


THEOREMS: Mapping[str, Theorem] = MappingProxyType(bank(dict[str, Theorem], "theorems"))


def ask(draw: Draw) -> ProvedQuestion:
    say = draw.prose(turns=True)

    def order(rng: random.Random) -> tuple[int, ...]:
        """Of the options of a choice, with the right one, 0, where it is its turn."""
        turn = (draw.turn - 1 + (draw.number - 1) // len(THEOREMS)) % 4
        return put_in(shuffled(rng, [1, 2, 3]), turn, 0)

    def mixed(rng: random.Random) -> list[int]:
        lines = list(range(len(theorem.proof)))
        while (given := shuffled(rng, lines)) == lines:
            pass
        return given if draw.option("lines") else []

    name = draw("theorem", lambda rng: draw.option("theorem") or list(THEOREMS)[(draw.number - 1) % len(THEOREMS)])
    theorem, inside = THEOREMS[name].lying(say.columns), draw.inside("instance")
    inside("order", order)
    given, first, second = INSTANCES[name](inside, say)
    lines = draw("lines", mixed)
    first_part = replace(first.part, title=as_text("An instance"), ask=(*blocks(given), *first.part.ask))
    along = say(
        "Tokens are rows; softmax is taken along each row, with base $e$.",
        "Tokens are columns; softmax is taken along each column, with base $e$.",
    )
    divided = say("Softmax with the temperature $T$ is softmax of the scores divided by $T$.")
    return question(
        draw,
        [
            Item(_in_order(theorem, lines, say) if lines else _proof(theorem, say), load=len(theorem.points)),
            replace(first, part=first_part),
            replace(second, part=replace(second.part, title=as_text("The same instance"))),
        ],
        title=theorem.title,
        given=(Box("Theorem", (say.paragraph(theorem.statement),)),),
        introduction=Paragraph(
            as_text("Prove the theorem, then check it with numbers. Give exact values."),
            typed=as_text("Prove the theorem, then check it with numbers."),
        ),
        conventions=(along, divided) if name == "temperature" else (along,),
    )


def _proof(theorem: Theorem, say: Prose) -> Part:
    points = tuple(map(say, theorem.points))
    looked_for = "The marks are shared among these points; any other valid proof earns the same marks."
    return make_part(
        "Proof",
        ["Prove the theorem. Say what you use in every step.", WorkingSpace(72, ruled=True)],
        [ItemList(tuple(map(say, theorem.proof)), ordered=True)],
        RubricAnswer(points),
        Mark("B", len(points), "one for each point"),
        marking=[looked_for, ItemList(points)],
    )


def _in_order(theorem: Theorem, lines: Sequence[int], say: Prose) -> Part:
    """The lines of the proof out of order, to be put in order."""
    right = [LETTERS[lines.index(line)] for line in range(len(lines))]
    return make_part(
        "Proof",
        [
            "Here is a proof with its lines out of order. Write down their letters in the right order.",
            ItemList(tuple(labelled(say(theorem.proof[line]) for line in lines))),
            fill_in("Order:", boxes=len(lines)),
        ],
        [
            say("The order is {order}.", order=", ".join(right)),
            ItemList(tuple(map(say, theorem.proof)), ordered=True),
        ],
        OrderAnswer(tuple((letter,) for letter in right)),
        Mark("B", 3, "deduct one for each line that must be moved", OneLess()),
    )


# ------------------------------------------------------------------------------------------------ instances
# Random numbers that a theorem is checked with, and the two tasks about them.  The two answers of an instance follow
# from the theorem; again they are worked out without it, by the definitions alone.  Instances have whole scores with
# base 2, so that weights are fractions, unless the theorem is about something else.


NEW = message("new")
"""The index of what a theorem's change makes of a matrix."""
WORKED_OUT = (Mark("M", 1), Mark("A", 1))

Instance: TypeAlias = tuple[Sequence[BlockLike], Item, Item]
"""What is printed above, and the two tasks."""


# ------------------------------------------------------------------------------------------------ numbers


def weights(scores: Matrix, keep: Keep | None = None) -> Matrix:
    """Softmax with base 2, of masked scores if there is a mask: whole scores give fractions."""
    return softmax(scores, keep, base=2)


def ordered(m: Matrix, order: Sequence[int]) -> Matrix:
    return Matrix.of(m.rows[i] for i in order)


def modest(scores: Sequence[Sequence[Any]]) -> bool:
    """No row equal in all places, none with a range over 3."""
    return all(1 <= max(row) - min(row) <= 3 for row in scores)


def distinct_values(rng: random.Random, rows: int) -> Rows:
    while not different(rows_drawn := grid(rng, rows, 2, -3, 6)):
        pass
    return rows_drawn


def mean(rows: Sequence[Sequence[int]]) -> list[Value]:
    return [divide(sum(column), len(rows)) for column in zip(*rows, strict=True)]


def log_scores(parts: Sequence[int]) -> list[str]:
    return [f"ln({part})" for part in parts]


# ------------------------------------------------------------------------------------------------ tasks


def boxes(say: Prose, ask: BlockLike, name: str, value: Matrix, *key: BlockLike, again: Callable[[], Matrix]) -> Item:
    """A matrix to be worked out, said for tokens as rows."""
    room = say.boxes(name, value.shape, cell_kind(value, exact=True))
    part = _task(say, ask, room, MatrixAnswer(say.turned(value)), name, say.values(value), key)
    return Item(part, load=len([*value]), again=lambda: say.turned(again()))


def line(say: Prose, ask: BlockLike, name: str, value: Value, *key: BlockLike, again: Callable[[], Value]) -> Item:
    room = fill_in((*as_text(say.formula(name)), *as_text(" =")), 30)
    return Item(_task(say, ask, room, FormulaAnswer(value), name, say.number(value), key), load=2, again=again)


def _task(
    say: Prose, ask: BlockLike, room: Block, answer: Answer, name: str, value: Formula, key: Sequence[BlockLike]
) -> Part:
    solved = Display((equal(say.formula(name), value),))
    return make_part("", [ask, room], [*key, solved], answer, *WORKED_OUT)


def options(ask: BlockLike, offers: Sequence[Offer], again: Callable[[], set[int]], several: bool = False) -> Item:
    marks = WORKED_OUT if several else [Mark("B", 2)]
    return Item(choice_part("", [ask], offers, *marks, several=several), load=2, again=again)


def placed(draw: Draw, offers: Sequence[Offer]) -> list[Offer]:
    """The options in the order in which they are printed."""
    return [offers[i] for i in draw["order"]]


def places(draw: Draw, right: Sequence[bool]) -> set[int]:
    """Where the right options stand in that order."""
    return {place for place, option in enumerate(draw["order"]) if right[option]}


# ------------------------------------------------------------------------------------------------ of outputs


def permutation(draw: Draw, say: Prose) -> Instance:
    def is_suitable(q: Rows, k: Rows) -> bool:
        scores = times(Matrix(q), Matrix(k).T)
        return modest(scores.rows) and different(scores.rows) and different(scores.T.rows)

    Q, K = map(Matrix, draw.several("Q K", lambda rng: (grid(rng, 3, 2, -1, 2), grid(rng, 3, 2, -1, 2)), is_suitable))
    new = draw.pick("new", [(1, 0, 2), (0, 2, 1), (2, 1, 0), (1, 2, 0), (2, 0, 1)])
    V = Matrix(draw("V", lambda rng: distinct_values(rng, 3)))
    A = weights(times(Q, K.T))

    def new_weights() -> Matrix:
        return weights(times(ordered(Q, new), ordered(K, new).T))

    return (
        [
            say.equations(A=A, V=V, Z=times(A, V)),
            say(
                "These are the weights, values and outputs for three tokens. Now the tokens are put in the order "
                "{tokens}.",
                tokens=say.formulas([f"x_{i + 1}" for i in new]),
            ),
        ],
        boxes(
            say,
            "Write down the new weights.",
            f'index(A, "{NEW}")',
            ordered(ordered(A, new).T, new).T,
            say("Rows and columns both come in the new order: {order}.", order=", ".join(str(i + 1) for i in new)),
            again=new_weights,
        ),
        boxes(
            say,
            "Write down the new outputs, without multiplying again.",
            f'index(Z, "{NEW}")',
            ordered(times(A, V), new),
            say("The same rows, in the new order.", "The same columns, in the new order."),
            again=lambda: times(new_weights(), ordered(V, new)),
        ),
    )


def _area(V: Sequence[Sequence[int | Fraction]]) -> Fraction:
    """Twice the signed area of the triangle of three values."""
    (a, b), (c, d), (e, f) = V
    return Fraction((c - a) * (f - b) - (e - a) * (d - b))


PATTERNS = ((1, 1, 2), (1, 2, 2), (1, 1, 3), (1, 2, 3), (1, 3, 4), (2, 3, 5))
_OUTSIDE = ((-1, 1, 1), (2, -1, 0), (0, -1, 2))


def convex_hull(draw: Draw, say: Prose) -> Instance:
    def whole_point(V: Rows, parts: Row) -> bool:
        return abs(_area(V)) >= 4 and all(isinstance(x, int) for x in times(normalised(parts), Matrix(V)))

    def values_and_parts(rng: random.Random) -> tuple[Rows, list[int]]:
        V, pattern = grid(rng, 3, 2, -4, 6), pick(rng, PATTERNS)
        return V, shuffled(rng, pattern)

    V, parts = draw.several("V parts", values_and_parts, whole_point)
    point = times(normalised(parts), Matrix(V))
    offers = [Offer(say.values(point), "it is a mean with the weights of the next part.", right=True)]
    for outside in _OUTSIDE:
        why = "only the numbers $numbers$ in place of weights give it, and one of them is negative."
        offers.append(Offer(say.values(times(Matrix([outside]), Matrix(V))), say(why, numbers=say.row(outside))))

    def coordinates(numbers: Matrix) -> list[Fraction]:
        """Barycentric ones, by areas (Cramer): those of an output are positive."""
        point = [x for x in times(numbers, Matrix(V)) if isinstance(x, int | Fraction)]
        return [Fraction(_area([*V[:i], point, *V[i + 1 :]]), _area(V)) for i in range(3)]

    def inside() -> list[bool]:
        points = normalised(parts), *(Matrix([outside]) for outside in _OUTSIDE)
        return [min(coordinates(point)) > 0 for point in points]

    return (
        [say.equations(V=Matrix(V))],
        options(
            "Exactly one of these vectors can be the output of a token that sees all three values. Which one?",
            placed(draw, offers),
            lambda: places(draw, inside()),
        ),
        boxes(
            say,
            "Which weights give it?",
            "a",
            normalised(parts),
            say("They solve $a V = z$ with a sum of 1: $z = point$.", point=say.values(point)),
            again=lambda: Matrix([coordinates(normalised(parts))]),
        ),
    )


def equal_scores(draw: Draw, say: Prose) -> Instance:
    V = draw("V", lambda rng: distinct_values(rng, 4))
    hidden, score = draw.pick("hidden", [0, 1, 2, 3]), draw.whole("score", -3, 5)

    def outputs(keep: Keep) -> Matrix:
        return times(softmax([[score] * 4] * len(keep), keep), Matrix(V))

    return (
        [say("Every score is $c$.", c=say.number(score)), say.equations(V=Matrix(V))],
        boxes(
            say,
            "Find the outputs with a causal mask.",
            "Z",
            Matrix.of([mean(V[: i + 1]) for i in range(4)]),
            say("Row $i$ is the mean of the first $i$ values.", "Column $i$ is the mean of the first $i$ values."),
            again=lambda: outputs(causal(4, 4)),
        ),
        boxes(
            say,
            say("Find the output of a query that sees every token except $x_{token}$.", token=hidden + 1),
            "z",
            Matrix.of([mean([v for j, v in enumerate(V) if j != hidden])]),
            "It is the mean of the three visible values.",
            again=lambda: outputs((tuple(j != hidden for j in range(4)),)),
        ),
    )


def copies(draw: Draw, say: Prose) -> Instance:
    parts = draw("parts", lambda rng: sample(rng, range(1, 10), 3), lambda parts: math.gcd(*parts) == 1)
    values = draw("V", lambda rng: distinct_values(rng, 3))
    times_written = draw.whole("copies", 2, 3)
    a, V = normalised(parts), Matrix(values)

    def copied() -> Matrix:
        """From scores ln a, as often as there are copies."""
        return softmax([log_scores(parts) * times_written])

    texts = {
        2: "These are the weights of one query and the values. Now the whole list of keys and values is written twice, "
        "one copy after the other. Find the weights of all {number} keys.",
        3: "These are the weights of one query and the values. Now the whole list of keys and values is written three "
        "times, one copy after the other. Find the weights of all {number} keys.",
    }
    return (
        [Display((say.equation("a", a), say.equation("V", V)))],
        boxes(
            say,
            say(texts[times_written], number=3 * times_written),
            f'index(a, "{NEW}")',
            Matrix.of([[divide(w, times_written) for w in a] * times_written]),
            say("Every weight is divided by {copies}.", copies=times_written),
            again=copied,
        ),
        boxes(
            say,
            say("Find the output of the query with all {number} keys.", number=3 * times_written),
            "z",
            times(a, V),
            say("It is the same as with three keys: $a V$."),
            again=lambda: times(copied(), Matrix(values * times_written)),
        ),
    )


def causal_mask(draw: Draw, say: Prose) -> Instance:
    def candidate(rng: random.Random) -> tuple[Rows, Row, Rows, Row]:
        scores, (row,), V = grid(rng, 3, 3, 0, 2), grid(rng, 1, 3, 0, 2), distinct_values(rng, 3)
        (v,) = distinct_values(rng, 1)
        return scores, row, V, v

    def is_suitable(scores: Rows, row: Row, V: Rows, v: Row) -> bool:
        return scores[1][0] != scores[1][1] and modest([scores[2], row]) and row != scores[2] and v not in V

    scores, row, values, v = draw.several("scores row V v", candidate, is_suitable)
    n, t = draw.pick("tokens", [5, 6]), draw.whole("changed", 2, 4)
    V, new_V = Matrix(values), Matrix([*values[:2], v])
    before = weights(Matrix(scores), causal(3, 3))
    column = [[*row[:2], 9 - i] for i, row in enumerate(scores[:2])]  # hidden, so it makes no difference
    after = weights(Matrix([*column, row]), causal(3, 3))
    offers = []
    for i in range(1, n + 1):
        why = "it sees the changed token." if i >= t else "the changed token comes later and is hidden from it."
        offers.append(Offer(say.formula(f"z_{i}"), say(why), right=i >= t))

    return (
        [
            say.equations(A=before, V=V, Z=times(before, V)),
            say("These are weights with a causal mask, values and outputs. Then $x_3$ is changed: now"),
            Display((say.equation("a_3", after.row(2)), say.equation("v_3", new_V.row(2)))),
        ],
        boxes(
            say,
            "Find the new outputs.",
            f'index(Z, "{NEW}")',
            Matrix.of((*times(before, V).rows[:2], *times(after.row(2), new_V).rows)),
            say(
                "The first two rows stay; the third is $a_3 V$ with the new row and value.",
                "The first two columns stay; the third is $a_3 V$ with the new column and value.",
            ),
            again=lambda: times(after, new_V),
        ),
        options(
            say(
                "In a text of {tokens} tokens with a causal mask, $x_{token}$ is changed. Tick every output that may "
                "change.",
                tokens=n,
                token=t,
            ),
            offers,
            lambda: {i for i, row in enumerate(causal(n, n)) if row[t - 1]},
            several=True,
        ),
    )


def order_of_products(draw: Draw, say: Prose) -> Instance:
    def candidate(rng: random.Random) -> tuple[list[list[int]], Rows, Rows]:
        parts = [shuffled(rng, pick(rng, [(1, 1, 2), (1, 3, 0), (1, 1, 0)])) for _ in range(2)]
        return parts, grid(rng, 3, 2, -2, 3), grid(rng, 2, 2, -1, 2)

    def is_suitable(parts: Rows, X: Rows, W: Rows) -> bool:
        return different(parts) and different(X) and different(W) and all(any(row) for row in X + W)

    parts, inputs, weights_of_values = draw.several("parts X W_V", candidate, is_suitable)
    A, X, W = normalised(*parts), Matrix(inputs), Matrix(weights_of_values)

    def entries() -> Matrix:
        columns = list(zip(*inputs, strict=True))
        return Matrix.of([sum((a * v for a, v in zip(row, c, strict=True)), 0) for c in columns] for row in A.rows)

    return (
        [say.equations(A=A, X=X, W_V=W), "These are the weights of two queries over three tokens."],
        boxes(say, say("First mix the inputs: work out $A X$."), "A X", times(A, X), again=entries),
        boxes(
            say,
            say("From this work out the outputs, without the values $V$."),
            "Z",
            times(times(A, X), W),
            say(
                "$Z = (A X) W_V$, two products with rows of two instead of three.",
                "$Z = (A X) W_V$, two products with columns of two instead of three.",
            ),
            again=lambda: times(A, times(X, W)),
        ),
    )


_HALVES = (0, Fraction(1, 2), Fraction(1, 2))


def rounded(draw: Draw, say: Prose) -> Instance:
    def candidate(rng: random.Random) -> tuple[Rows, Row]:
        V, low, gap = grid(rng, 3, 3, 0, 8), whole(rng, 0, 3), pick(rng, [2, 2, 3])
        return V, (low, low + gap, low + gap)

    V, scores = draw.several(
        "V scores", candidate, lambda V, scores: all(2 * a != b + c for a, b, c in zip(*V, strict=True))
    )
    middle = mean(V[1:])
    differences = [m - v for m, v in zip(middle, V[0], strict=True)]
    small = divide(1, 1 + 2 * exponential(scores[1] - scores[0]))

    def by_halves() -> Matrix:
        return times(Matrix([_HALVES]), Matrix(V))

    def too_much() -> Matrix:
        true = times(softmax([scores]), Matrix(V))
        return Matrix.of([[r - t for r, t in zip(by_halves(), true, strict=True)]])

    return (
        [
            Display((equal(say.formula("s"), say.row(scores)), say.equation("V", Matrix(V)))),
            say("The weights of these scores are rounded to $rounded$.", rounded=say.row(_HALVES)),
        ],
        boxes(
            say,
            "Find the output from the rounded weights.",
            'index(z, "rounded")',
            Matrix.of([middle]),
            say("It is the mean of $v_2$ and $v_3$."),
            again=by_halves,
        ),
        boxes(
            say,
            "By how much is it greater than the output from the exact weights? Give exact numbers.",
            'index(z, "rounded") - z',
            Matrix.of([[small * x for x in differences]]),
            say(
                "The exact weight of $v_1$ is $a = small$; the difference is $a$ times $means$.",
                small=say.number(small),
                means=say.row(differences),
            ),
            again=too_much,
        ),
    )


# ------------------------------------------------------------------------------------------------ of weights


def _logs(whole_part: int, parts: Sequence[int], factor: int = 1) -> list[str]:
    """3 + 2·ln 2, 3, 3 + 2·ln 5: a whole number plus logarithms, ln 1 left out."""
    sign, size = "+-"[factor < 0], "" if abs(factor) == 1 else f"{abs(factor)} · "
    return [str(whole_part) if a == 1 else f"{whole_part} {sign} {size}ln({a})" for a in parts]


def _listed(say: Prose, entries: Sequence[str]) -> Formula:
    return ListOf(tuple(map(say.formula, entries)), "(", ",")


def shift(draw: Draw, say: Prose) -> Instance:
    parts = draw("parts", lambda rng: sample(rng, range(1, 10), 3), lambda parts: math.gcd(*parts) == 1)
    c, other = draw.several("c other", lambda rng: (pick(rng, [-4, -3, -2, 2, 3, 4, 5, 6, 7]), whole(rng, 8, 12)))
    rows = (
        _logs(other, parts),
        _logs(2 * c, parts, 2),
        _logs(c, parts, -1),
        [*_logs(other, parts[:1]), *_logs(c, parts[1:])],
    )
    reasons: Sequence[TextLike] = (
        say("{constant} is added to every score.", constant=other - c),
        "all scores are doubled, so the powers of the logarithms are squared.",
        "the logarithms have changed their signs, which inverts every power.",
        "only the first score has changed.",
    )
    offers = [Offer(_listed(say, row), why, right=row is rows[0]) for row, why in zip(rows, reasons, strict=True)]

    def by_powers() -> Matrix:
        return normalised([exponential(c) * a for a in parts])

    def alike() -> list[bool]:
        rows = (
            [exponential(other) * a for a in parts],
            [exponential(2 * c) * a**2 for a in parts],
            [exponential(c) * Fraction(1, a) for a in parts],
            [exponential(other if j == 0 else c) * a for j, a in enumerate(parts)],
        )
        return [normalised(row) == by_powers() for row in rows]

    return (
        [Display((equal(say.formula("s"), _listed(say, _logs(c, parts))),))],
        boxes(
            say,
            say("Use the theorem to find the weights $softmax(s)$ exactly."),
            "softmax(s)",
            normalised(parts),
            say(
                "Without the common $c$ the powers are $parts$, and their sum is $total$.",
                c=say.number(c),
                parts=say.row(parts),
                total=say.number(sum(parts)),
            ),
            again=by_powers,
        ),
        options(
            say(
                "Which of these rows of scores has the same weights?",
                "Which of these columns of scores has the same weights?",
            ),
            placed(draw, offers),
            lambda: places(draw, alike()),
        ),
    )


def key_bias(draw: Draw, say: Prose) -> Instance:
    def is_suitable(q: Rows, b: Rows, K: Rows) -> bool:
        plain, more = (times(Matrix(q), Matrix(rows).T) for rows in (K, b))
        return different(plain.rows[0]) and more[0, 0] not in (0, 1) and 0 not in q[0]

    def candidate(rng: random.Random) -> tuple[Rows, Rows, Rows]:
        return grid(rng, 1, 2, -2, 3), grid(rng, 1, 2, -2, 3), grid(rng, 3, 2, -2, 2)

    q, b, K = map(Matrix, draw.several("q b K", candidate, is_suitable))
    plain, more = times(q, K.T), times(q, b.T)[0, 0]

    def biased() -> Matrix:
        return times(q, Matrix([[a + c for a, c in zip(k, b.rows[0], strict=True)] for k in K.rows]).T)

    def factor() -> Value:
        factors = [divide(exponential(t), exponential(s)) for s, t in zip(times(q, K.T), biased(), strict=True)]
        assert all(f == factors[0] for f in factors)
        return factors[0]

    return (
        [Display((say.equation("q", q), say.equation("K", K), say.equation("b", b)))],
        boxes(
            say,
            say(
                "The scores of the query $q$ are $plain$ without the bias. Find them with the bias $b$ on every key.",
                plain=say.values(plain),
            ),
            "s",
            plain.map(lambda s: s + more),
            say("$q b^T = more$ is added to every score.", more=say.number(more)),
            again=biased,
        ),
        line(
            say,
            say("By what factor does the bias multiply the power $e^{s_j}$ of every score?"),
            '"factor"',
            exponential(more),
            say("The factor is $e^{q b^T}$, the same for every key, so it cancels."),
            again=factor,
        ),
    )


def masked(draw: Draw, say: Prose) -> Instance:
    hidden = draw("hidden", lambda rng: sorted(sample(rng, range(4), pick(rng, [1, 2]))))

    def is_suitable(parts: Sequence[int]) -> bool:
        return len({part for j, part in enumerate(parts) if j not in hidden}) > 1 and math.gcd(*parts) == 1

    parts = draw("parts", lambda rng: [whole(rng, 1, 9) for _ in range(4)], is_suitable)
    kept = [0 if j in hidden else part for j, part in enumerate(parts)]
    part = divide(sum(kept), sum(parts))

    def weighed(hidden: Sequence[int]) -> Matrix:
        """From scores ln a, with −∞ where they are hidden."""
        return softmax([["-inf" if j in hidden else s for j, s in enumerate(log_scores(parts))]])

    first = next(j for j in range(4) if j not in hidden)
    texts = {
        1: "These are the weights of one query without a mask. Find its weights when {keys} is hidden.",
        2: "These are the weights of one query without a mask. Find its weights when {keys} are hidden.",
    }
    return (
        [say.equations(a=normalised(parts))],
        boxes(
            say,
            say(texts[len(hidden)], keys=say.formulas([f"k_{j + 1}" for j in hidden], "and")),
            'index(a, "masked")',
            normalised(kept),
            say("The visible weights sum to $part$; they are divided by it.", part=say.number(part)),
            again=lambda: weighed(hidden),
        ),
        line(
            say,
            "By what factor has every visible weight grown?",
            '"factor"',
            divide(1, part),
            "One over the sum of the visible weights.",
            again=lambda: divide(weighed(hidden)[0, first], weighed([])[0, first]),
        ),
    )


def variance(draw: Draw, say: Prose) -> Instance:
    q, k = draw.several("q k", lambda rng: sample(rng, range(1, 10), 2))
    d = draw.pick("d_k", [4, 8, 9, 16, 24, 25, 32, 36, 48, 64])

    def by_signs() -> Value:
        """For entries ±√a and ±√b, each sign as likely: the distribution of a sum of d_k signs, counted out."""
        counts = {0: 1}
        for _ in range(d):
            longer: dict[int, int] = {}
            for signs, ways in counts.items():
                for sign in (-1, 1):
                    longer[signs + sign] = longer.get(signs + sign, 0) + ways
            counts = longer
        mean_square = Fraction(sum(ways * signs**2 for signs, ways in counts.items()), sum(counts.values()))
        return divide(mean_square * q * k, 1)

    return (
        [
            say(
                "Let $d_k = d$. The entries of $q$ and $k$ are independent with mean 0, those of $q$ with variance "
                "$a$, those of $k$ with variance $b$.",
                d=say.number(d),
                a=say.number(q),
                b=say.number(k),
            )
        ],
        line(
            say,
            say("What is the variance of the score $q k^T$?"),
            "Var(q k^T)",
            d * q * k,
            Display((say.formula(f"Var(q k^T) = {d} · {q} · {k}"),)),
            again=by_signs,
        ),
        line(
            say,
            "By what must scores be divided so that their variance is 1? Give it exactly.",
            '"divisor"',
            square_root(d * q * k),
            say("By the root of the variance: dividing by $c$ divides the variance by $c^2$."),
            again=lambda: square_root(by_signs()),
        ),
    )


def temperature(draw: Draw, say: Prose) -> Instance:
    def candidate(rng: random.Random) -> tuple[list[int], int, int, list[int]]:
        scores, factor, exponent = [whole(rng, 0, 2) for _ in range(3)], whole(rng, 2, 3), whole(rng, 2, 6)
        return [2**s for s in scores], factor, exponent, sample(rng, range(3), 2)

    def is_suitable(parts: Sequence[int], factor: int, wanted: int, pair: Sequence[int]) -> bool:
        difference = parts[pair[0]].bit_length() - parts[pair[1]].bit_length()
        return min(parts) == 1 and difference > 0 and wanted not in (difference, factor * difference)

    parts, factor, wanted, (i, j) = draw.several("parts factor wanted pair", candidate, is_suitable)
    raised = [part**factor for part in parts]
    once = parts[i].bit_length() - parts[j].bit_length()

    scores = [part.bit_length() - 1 for part in parts]

    def tried() -> Value:
        temperatures = (Fraction(above, below) for above in range(1, 4) for below in range(1, 7))
        return divide(next(T for T in temperatures if power(2, (scores[i] - scores[j]) / T) == 2**wanted), 1)

    return (
        [say.equations(a=normalised(parts))],
        boxes(
            say,
            say(
                "These are the weights of one query. Find its weights after $W_Q$ has been multiplied by {factor}.",
                factor=factor,
            ),
            f'index(a, "{NEW}")',
            normalised(raised),
            say(
                "Every ratio of two weights is raised to the power {factor}: $raised$ in proportion.",
                factor=factor,
                raised=say.row(raised),
            ),
            again=lambda: weights(Matrix([[s * factor for s in scores]])),
        ),
        line(
            say,
            say(
                "At which temperature $T$ is the weight of $k_{one}$ exactly $ratio$ times that of $k_{other}$?",
                one=i + 1,
                other=j + 1,
                ratio=say.number(2**wanted),
            ),
            "T",
            Fraction(once, wanted),
            say(
                "At $T = 1$ the ratio is $now$; at $T$ it is that number to the power $frac(1, T)$.",
                now=say.number(2**once),
            ),
            again=tried,
        ),
    )


def doubling(draw: Draw, say: Prose) -> Instance:
    def is_suitable(scores: Sequence[int]) -> bool:
        return min(scores) == 0 and max(scores) >= 1 and scores.count(max(scores)) < 3

    def candidate(rng: random.Random) -> list[int]:
        while not is_suitable(scores := [whole(rng, 0, 2) for _ in range(4)]):
            pass
        return [2**s * pick(rng, [1, 3]) for s in scores]

    parts = draw("parts", candidate)
    squared = [part**2 for part in parts]
    ratio = Fraction(max(parts), min(parts))

    def multiplied(factor: int) -> Matrix:
        """From scores ln a: doubled, 2 ln a, and e^(2 ln a) worked out by the exact numbers."""
        return softmax([[f"{factor} * {log}" for log in log_scores(parts)]])

    def largest_to_smallest() -> Value:
        ranked = sorted(multiplied(4), key=cmp_to_key(compare))
        return divide(ranked[-1], ranked[0])

    return (
        [say.equations(a=normalised(parts))],
        boxes(
            say,
            "These are the weights of one query. Find its weights after all its scores have been doubled.",
            f'index(a, "{NEW}")',
            normalised(squared),
            say("The weights are in the ratio of the squares $squared$.", squared=say.row(squared)),
            again=lambda: multiplied(2),
        ),
        line(
            say,
            "The scores are then doubled once more. What is then the ratio of the largest weight to the smallest?",
            '"ratio"',
            divide(ratio**4, 1),
            say("It was $ratio$ and is squared twice.", ratio=say.number(divide(ratio, 1))),
            again=largest_to_smallest,
        ),
    )


_INVERTIBLE = (
    ((1, 1), (0, 1)), ((1, 0), (1, 1)), ((2, 1), (1, 1)), ((1, -1), (0, 1)), ((1, 1), (1, 2)), ((0, 1), (-1, 1)),
)  # fmt: skip


def _pairs(W_Q: Matrix, W_K: Matrix, C: Matrix) -> list[tuple[Matrix, Matrix]]:
    """Four pairs of weights: the first has the same product, the others have not."""
    (a, b), (c, d) = C.rows
    turned = Matrix([[d, -c], [-b, a]])  # the inverse transposed; every C here has determinant 1
    return [
        (times(W_Q, C), times(W_K, turned)),
        (times(W_Q, C), times(W_K, C)),
        (W_K, W_Q),
        (W_Q.map(lambda w: 2 * w), W_K.map(lambda w: 2 * w)),
    ]


def product_alone(draw: Draw, say: Prose) -> Instance:
    def is_suitable(*matrices: Rows) -> bool:
        first, *others = [times(a, b.T) for a, b in _pairs(*map(Matrix, matrices))]
        return first not in others and different(matrices[0] + matrices[1])

    W_Q, W_K, C = map(
        Matrix,
        draw.several(
            "W_Q W_K C",
            lambda rng: (grid(rng, 2, 2, -1, 2), grid(rng, 2, 2, -1, 2), pick(rng, _INVERTIBLE)),
            is_suitable,
        ),
    )
    offers = []
    for number, (a, b) in enumerate(_pairs(W_Q, W_K, C)):
        text = listing([as_text(say.equation("W_Q", a)), as_text(say.equation("W_K", b))], "")
        why = say("its product is $p$.", p=say.values(times(a, b.T)))
        offers.append(Offer(text, why, right=number == 0))

    def by_unit_vectors(a: Matrix, b: Matrix) -> Matrix:
        """Their scores, which are the entries of the product."""
        unit = Matrix([[1, 0], [0, 1]])
        return times(times(unit, a), times(unit, b).T)

    own = partial(by_unit_vectors, W_Q, W_K)
    return (
        [say.equations(W_Q=W_Q, W_K=W_K)],
        boxes(say, say("Work out $W_Q W_K^T$."), "W_Q W_K^T", times(W_Q, W_K.T), again=own),
        options(
            "Which of these pairs of weights gives the same scores for every input?",
            placed(draw, offers),
            lambda: places(draw, [by_unit_vectors(*pair) == own() for pair in _pairs(W_Q, W_K, C)]),
        ),
    )


INSTANCES: Mapping[str, Callable[[Draw, Prose], Instance]] = {
    "shift": shift,
    "permutation": permutation,
    "key bias": key_bias,
    "convex hull": convex_hull,
    "mask": masked,
    "variance": variance,
    "temperature": temperature,
    "doubling": doubling,
    "equal scores": equal_scores,
    "copies": copies,
    "product": product_alone,
    "causal": causal_mask,
    "order of products": order_of_products,
    "rounding": rounded,
}


TYPE = ProblemType(
    ask,
    name="prove",
    title="Explain and prove",
    options={
        "theorem": ("", f"which theorem; all in turn where none is named: {', '.join(THEOREMS)}", one_of(THEOREMS)),
        "lines": (False, "whether the lines of the proof are given, to be put in order"),
    },
)
