"""Explain and prove: a theorem of attention, and an instance of it with numbers (rules.md 5, type 12).

The proof is marked by a rubric, or its lines are put in order; the instance is marked exactly.  What is said stands in
`theorems.toml`; here are the numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cmp_to_key
from itertools import chain, product, repeat
from random import Random
from types import MappingProxyType
from typing import Annotated, Any

from symattn.derivation.ops.attention import Keep, causal
from symattn.exact import Matrix, Value, compare, divide, exponential, power, square_root
from symattn.formula import ListOf, equal
from symattn.foundation.dice import pick, sample, shuffled, whole
from symattn.foundation.typed import OrOne
from symattn.page.document import Block, Box, Display, ItemList, TextLike, WorkingSpace, as_text, listing
from symattn.teaching.explanation.parts import instruction
from symattn.teaching.problems.asking import (
    WORKED_OUT,
    Offer,
    Phrase,
    Prose,
    Shown,
    bank,
    choice_part,
    make_part,
    matrix_part,
    named,
    number_part,
    order_part,
    put_in,
)
from symattn.teaching.problems.draws import Draw, Item, ProblemType, ProvedQuestion, one_of, question
from symattn.teaching.problems.systems import (
    Row,
    Rows,
    different,
    doubled_area,
    grid,
    mean,
    normalised,
    softmax,
    times,
)
from symattn.teaching.question import Mark, OneLess, Part, RubricAnswer


@dataclass(frozen=True)
class Task:
    """What is said of one of the two tasks about an instance.

    What is asked (in one way or several, of which the numbers choose), how its answer is called, and what the key says
    above it; of options, `why` the right one is right, and why others are wrong: in turn, the last for all the rest.
    """

    ask: Annotated[tuple[Phrase, ...], OrOne()]
    name: str = ""
    key: Phrase = ()
    why: tuple[str, ...] = ()


@dataclass(frozen=True)
class Theorem:
    """What `theorems.toml` says of one.

    What a marker looks for, one mark each, and the lines of a proof; then what is `given` of an instance in words, and
    its two tasks.  What numbers are put in is written as `Prose` has it.
    """

    title: str
    statement: Phrase
    points: tuple[Phrase, ...]
    proof: tuple[Phrase, ...]
    first: Task
    second: Task
    given: str = ""


THEOREMS: Mapping[str, Theorem] = MappingProxyType(bank(dict[str, Theorem], "theorems"))


def ask(draw: Draw) -> ProvedQuestion:
    say = draw.prose(turns=True)

    def order(rng: Random) -> tuple[int, ...]:
        """Of the options of a choice, with the right one, 0, where it is its turn."""
        turn = (draw.turn - 1 + (draw.number - 1) // len(THEOREMS)) % 4
        return put_in(shuffled(rng, [1, 2, 3]), turn, 0)

    def mixed(rng: Random) -> list[int]:
        lines = list(range(len(theorem.proof)))
        while (given := shuffled(rng, lines)) == lines:
            pass
        return given if draw.option("lines") else []

    name = draw("theorem", lambda rng: draw.option("theorem") or list(THEOREMS)[(draw.number - 1) % len(THEOREMS)])
    theorem, inside = THEOREMS[name], draw.inside("instance")
    inside("order", order)
    instance = INSTANCES[name](inside, say)
    lines = draw("lines", mixed)
    given = [block or say.paragraph(theorem.given, **instance.shown) for block in instance.given]
    along = say(
        "Tokens are rows; softmax is taken along each row, with base $e$.",
        "Tokens are columns; softmax is taken along each column, with base $e$.",
    )
    divided = say("Softmax with the temperature $T$ is softmax of the scores divided by $T$.")
    return question(
        draw,
        [
            Item(_in_order(theorem, lines, say) if lines else _proof(theorem, say), load=len(theorem.points)),
            instance.first.item("An instance", given, theorem.first, say, instance.shown),
            instance.second.item("The same instance", [], theorem.second, say, instance.shown),
        ],
        title=theorem.title,
        given=(Box("Theorem", (say.paragraph(*theorem.statement),)),),
        introduction=instruction("Prove the theorem, then check it with numbers.", "Give exact values."),
        conventions=(along, divided) if name == "temperature" else (along,),
    )


def _proof(theorem: Theorem, say: Prose) -> Part:
    points = tuple(say(*point) for point in theorem.points)
    looked_for = "The marks are shared among these points; any other valid proof earns the same marks."
    return make_part(
        "Proof",
        ["Prove the theorem. Say what you use in every step.", WorkingSpace(72, ruled=True)],
        [ItemList(tuple(say(*line) for line in theorem.proof), ordered=True)],
        RubricAnswer(points),
        Mark("B", len(points), "one for each point"),
        marking=[looked_for, ItemList(points)],
    )


def _in_order(theorem: Theorem, lines: Sequence[int], say: Prose) -> Part:
    """The lines of the proof out of order, to be put in order."""
    proof = [say(*line) for line in theorem.proof]
    return order_part(
        "Proof",
        "Here is a proof with its lines out of order. Write down their letters in the right order.",
        [proof[line] for line in lines],
        [lines.index(line) for line in range(len(lines))],
        [ItemList(tuple(proof), ordered=True)],
        Mark("B", 3, "deduct one for each line that must be moved", OneLess()),
    )


# ------------------------------------------------------------------------------------------------ instances
# Random numbers that a theorem is checked with, and the two tasks about them.  The two answers of an instance follow
# from the theorem; again they are worked out without it, by the definitions alone.  Instances have whole scores with
# base 2, so that weights are fractions, unless the theorem is about something else.


Numbers = Mapping[str, Shown]
"""What is put into sentences, by its names there."""


@dataclass(frozen=True)
class Worked:
    """A matrix or a number to be worked out, the same `again` by another route; asked for in the `form`-th way.

    Matrices are those of tokens as rows.
    """

    value: Matrix | Value
    again: Callable[[], Matrix | Value]
    form: int = 0

    def item(self, title: str, above: Sequence[Block], task: Task, say: Prose, shown: Numbers) -> Item:
        def again() -> object:
            value = self.again()
            return say.turned(value) if isinstance(value, Matrix) else value

        value, name = self.value, say.formula(task.name)
        asked = [*above, say(*task.ask[self.form], **shown)]
        key = [say.block(*task.key, **shown)] if task.key else []
        if isinstance(value, Matrix):
            part = matrix_part(title, asked, task.name, value, say, *WORKED_OUT, key=key)
            return Item(part, load=len([*value]), again=again)
        key.append(Display((equal(name, say.number(value)),)))
        return Item(number_part(title, asked, named(name), value, key, *WORKED_OUT, width=30), load=2, again=again)


@dataclass(frozen=True)
class Choosing:
    """Options, each with what is put into its reason; which are right is found `again` by another route.

    The first is right, and they are printed in the `order` that was drawn; or several are `right` as they stand.
    """

    options: Sequence[tuple[TextLike, Numbers]]
    again: Callable[[], Iterable[bool]]
    order: Sequence[int] = ()
    right: Sequence[bool] = (True, False, False, False)

    def item(self, title: str, above: Sequence[Block], task: Task, say: Prose, shown: Numbers) -> Item:
        reasons = chain(task.why[1:], repeat(task.why[-1]))
        offers = []
        for (text, numbers), right in zip(self.options, self.right, strict=True):
            why = task.why[0] if right else next(reasons)
            offers.append(Offer(text, say(why, **{**shown, **numbers}), right))
        order, several = self.order or range(len(offers)), not self.order

        def again() -> set[int]:
            right = list(self.again())
            return {place for place, option in enumerate(order) if right[option]}

        marks = WORKED_OUT if several else [Mark("B", 2)]
        asked = [*above, say(*task.ask[0], **shown)]
        part = choice_part(title, asked, [offers[i] for i in order], *marks, several=several)
        return Item(part, load=2, again=again)


GIVEN = None
"""Among what is given: the sentence of `theorems.toml`."""


@dataclass(frozen=True)
class Instance:
    """What is printed above, the two tasks, and what is put into the sentences of `theorems.toml`."""

    given: Sequence[Block | None]
    first: Worked | Choosing
    second: Worked | Choosing
    shown: Numbers = field(default_factory=dict)


# ------------------------------------------------------------------------------------------------ numbers


def weights(scores: Matrix, keep: Keep | None = None) -> Matrix:
    """Softmax with base 2, of masked scores if there is a mask: whole scores give fractions."""
    return softmax(scores, keep, base=2)


def ordered(m: Matrix, order: Sequence[int]) -> Matrix:
    return Matrix.of(m.rows[i] for i in order)


def modest(scores: Sequence[Sequence[Any]]) -> bool:
    """No row equal in all places, none with a range over 3."""
    return all(1 <= max(row) - min(row) <= 3 for row in scores)


def distinct_values(rng: Random, rows: int) -> Rows:
    while not different(rows_drawn := grid(rng, rows, 2, -3, 6)):
        pass
    return rows_drawn


def without_divisor(draw: Draw) -> tuple[int, ...]:
    """Three weights in proportion, in lowest terms."""
    return draw("parts", lambda rng: tuple(sample(rng, range(1, 10), 3)), lambda parts: math.gcd(*parts) == 1)


def log_scores(parts: Sequence[int]) -> list[str]:
    return [f"ln({part})" for part in parts]


def counted(numbers: Iterable[int]) -> str:
    """1, 3, 2, of numbers that begin with 0."""
    return ", ".join(str(i + 1) for i in numbers)


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

    return Instance(
        [say.equations(A=A, V=V, Z=times(A, V)), GIVEN],
        Worked(ordered(ordered(A, new).T, new).T, new_weights),
        Worked(ordered(times(A, V), new), lambda: times(new_weights(), ordered(V, new))),
        {"tokens": say.formulas([f"x_{i + 1}" for i in new]), "order": counted(new)},
    )


PATTERNS = ((1, 1, 2), (1, 2, 2), (1, 1, 3), (1, 2, 3), (1, 3, 4), (2, 3, 5))
_OUTSIDE = ((-1, 1, 1), (2, -1, 0), (0, -1, 2))


def convex_hull(draw: Draw, say: Prose) -> Instance:
    def whole_point(V: Rows, parts: Row) -> bool:
        return abs(doubled_area(V)) >= 4 and all(isinstance(x, int) for x in times(normalised(parts), Matrix(V)))

    def values_and_parts(rng: Random) -> tuple[Rows, list[int]]:
        V, pattern = grid(rng, 3, 2, -4, 6), pick(rng, PATTERNS)
        return V, shuffled(rng, pattern)

    V, parts = draw.several("V parts", values_and_parts, whole_point)
    numbers = [normalised(parts), *(Matrix([outside]) for outside in _OUTSIDE)]
    points = [times(one, Matrix(V)) for one in numbers]

    def coordinates(point: Matrix) -> list[Fraction]:
        """Barycentric ones, by areas (Cramer): those of an output are positive."""
        (x,) = ([x for x in row if isinstance(x, int | Fraction)] for row in point.rows)
        return [doubled_area([*V[:i], x, *V[i + 1 :]]) / doubled_area(V) for i in range(3)]

    return Instance(
        [say.equations(V=Matrix(V))],
        Choosing(
            [(say.values(point), {"numbers": one.rows[0]}) for point, one in zip(points, numbers, strict=True)],
            lambda: (min(coordinates(point)) > 0 for point in points),
            draw["order"],
        ),
        Worked(numbers[0], lambda: Matrix([coordinates(points[0])])),
        {"point": points[0]},
    )


def equal_scores(draw: Draw, say: Prose) -> Instance:
    V = draw("V", lambda rng: distinct_values(rng, 4))
    hidden, score = draw.pick("hidden", [0, 1, 2, 3]), draw.whole("score", -3, 5)

    def outputs(keep: Keep) -> Matrix:
        return times(softmax([[score] * 4] * len(keep), keep), Matrix(V))

    return Instance(
        [GIVEN, say.equations(V=Matrix(V))],
        Worked(Matrix.of([mean(V[: i + 1]) for i in range(4)]), lambda: outputs(causal(4, 4))),
        Worked(
            Matrix.of([mean([v for j, v in enumerate(V) if j != hidden])]),
            lambda: outputs((tuple(j != hidden for j in range(4)),)),
        ),
        {"c": score, "token": hidden + 1},
    )


def copies(draw: Draw, say: Prose) -> Instance:
    parts = without_divisor(draw)
    values = draw("V", lambda rng: distinct_values(rng, 3))
    count = draw.whole("copies", 2, 3)
    a, V = normalised(parts), Matrix(values)

    def copied() -> Matrix:
        """From scores ln a, as often as there are copies."""
        return softmax([log_scores(parts) * count])

    return Instance(
        [Display((say.equation("a", a), say.equation("V", V)))],
        Worked(Matrix.of([[divide(w, count) for w in a] * count]), copied, form=count - 2),
        Worked(times(a, V), lambda: times(copied(), Matrix(values * count))),
        {"number": 3 * count, "copies": count},
    )


def causal_mask(draw: Draw, say: Prose) -> Instance:
    def candidate(rng: Random) -> tuple[Rows, Row, Rows, Row]:
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
    return Instance(
        [
            say.equations(A=before, V=V, Z=times(before, V)),
            GIVEN,
            Display((say.equation("a_3", after.row(2)), say.equation("v_3", new_V.row(2)))),
        ],
        Worked(
            Matrix.of((*times(before, V).rows[:2], *times(after.row(2), new_V).rows)),
            lambda: times(after, new_V),
        ),
        Choosing(
            [(say.formula(f"z_{i}"), {}) for i in range(1, n + 1)],
            lambda: (row[t - 1] for row in causal(n, n)),
            right=[i >= t for i in range(1, n + 1)],
        ),
        {"tokens": n, "token": t},
    )


def order_of_products(draw: Draw, say: Prose) -> Instance:
    def candidate(rng: Random) -> tuple[list[list[int]], Rows, Rows]:
        parts = [shuffled(rng, pick(rng, [(1, 1, 2), (1, 3, 0), (1, 1, 0)])) for _ in range(2)]
        return parts, grid(rng, 3, 2, -2, 3), grid(rng, 2, 2, -1, 2)

    def is_suitable(parts: Rows, X: Rows, W: Rows) -> bool:
        return different(parts) and different(X) and different(W) and all(any(row) for row in X + W)

    parts, inputs, weights_of_values = draw.several("parts X W_V", candidate, is_suitable)
    A, X, W = normalised(*parts), Matrix(inputs), Matrix(weights_of_values)

    def entries() -> Matrix:
        columns = list(zip(*inputs, strict=True))
        return Matrix.of([sum((a * v for a, v in zip(row, c, strict=True)), 0) for c in columns] for row in A.rows)

    return Instance(
        [say.equations(A=A, X=X, W_V=W), GIVEN],
        Worked(times(A, X), entries),
        Worked(times(times(A, X), W), lambda: times(A, times(X, W))),
    )


_HALVES = (0, Fraction(1, 2), Fraction(1, 2))


def rounded(draw: Draw, say: Prose) -> Instance:
    def candidate(rng: Random) -> tuple[Rows, Row]:
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

    return Instance(
        [Display((equal(say.formula("s"), say.row(scores)), say.equation("V", Matrix(V)))), GIVEN],
        Worked(Matrix.of([middle]), by_halves),
        Worked(Matrix.of([[small * x for x in differences]]), too_much),
        {"rounded": _HALVES, "small": small, "means": differences},
    )


# ------------------------------------------------------------------------------------------------ of weights


def shift(draw: Draw, say: Prose) -> Instance:
    parts = without_divisor(draw)
    c, other = draw.several("c other", lambda rng: (pick(rng, [-4, -3, -2, 2, 3, 4, 5, 6, 7]), whole(rng, 8, 12)))
    # constants, and how often the logarithms of the parts are added to them; the first has the weights of the given one
    given = (c, c, c), 1
    offered = ((other,) * 3, 1), ((2 * c,) * 3, 2), ((c,) * 3, -1), ((other, c, c), 1)

    def scores(constants: Row, factor: int) -> ListOf:
        """3 + 2·ln 2, 3, 3 + 2·ln 5: ln 1 is left out."""
        sign, size = "+-"[factor < 0], "" if abs(factor) == 1 else f"{abs(factor)} · "
        texts = (str(x) if a == 1 else f"{x} {sign} {size}ln({a})" for x, a in zip(constants, parts, strict=True))
        return ListOf(tuple(map(say.formula, texts)), "(", ",")

    def by_powers(constants: Row, factor: int) -> Matrix:
        return normalised([exponential(x) * Fraction(a) ** factor for x, a in zip(constants, parts, strict=True)])

    return Instance(
        [Display((equal(say.formula("s"), scores(*given)),))],
        Worked(normalised(parts), lambda: by_powers(*given)),
        Choosing(
            [(scores(*row), {}) for row in offered],
            lambda: (by_powers(*row) == by_powers(*given) for row in offered),
            draw["order"],
        ),
        {"c": c, "parts": parts, "total": sum(parts), "constant": other - c},
    )


def key_bias(draw: Draw, say: Prose) -> Instance:
    def is_suitable(q: Rows, b: Rows, K: Rows) -> bool:
        plain, more = (times(Matrix(q), Matrix(rows).T) for rows in (K, b))
        return different(plain.rows[0]) and more[0, 0] not in (0, 1) and 0 not in q[0]

    def candidate(rng: Random) -> tuple[Rows, Rows, Rows]:
        return grid(rng, 1, 2, -2, 3), grid(rng, 1, 2, -2, 3), grid(rng, 3, 2, -2, 2)

    q, b, K = map(Matrix, draw.several("q b K", candidate, is_suitable))
    plain, more = times(q, K.T), times(q, b.T)[0, 0]

    def biased() -> Matrix:
        return times(q, Matrix([[a + c for a, c in zip(k, b.rows[0], strict=True)] for k in K.rows]).T)

    def factor() -> Value:
        factors = [divide(exponential(t), exponential(s)) for s, t in zip(times(q, K.T), biased(), strict=True)]
        assert all(f == factors[0] for f in factors)
        return factors[0]

    return Instance(
        [Display((say.equation("q", q), say.equation("K", K), say.equation("b", b)))],
        Worked(plain.map(lambda s: s + more), biased),
        Worked(exponential(more), factor),
        {"plain": plain, "more": more},
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
    return Instance(
        [say.equations(a=normalised(parts))],
        Worked(normalised(kept), lambda: weighed(hidden), form=len(hidden) - 1),
        Worked(divide(1, part), lambda: divide(weighed(hidden)[0, first], weighed([])[0, first])),
        {"keys": say.formulas([f"k_{j + 1}" for j in hidden], "and"), "part": part},
    )


def variance(draw: Draw, say: Prose) -> Instance:
    q, k = draw.several("q k", lambda rng: sample(rng, range(1, 10), 2))
    d = draw.pick("d_k", [4, 8, 9, 16, 24, 25, 32, 36, 48, 64])

    def by_signs() -> Value:
        """For entries ±√a and ±√b, each sign as likely: the distribution of a sum of d_k signs, counted out."""
        counts = {0: 1}
        for _ in range(d):
            longer: dict[int, int] = {}
            for (signs, ways), sign in product(counts.items(), (-1, 1)):
                longer[signs + sign] = longer.get(signs + sign, 0) + ways
            counts = longer
        mean_square = Fraction(sum(ways * signs**2 for signs, ways in counts.items()), sum(counts.values()))
        return divide(mean_square * q * k, 1)

    return Instance(
        [GIVEN],
        Worked(d * q * k, by_signs),
        Worked(square_root(d * q * k), lambda: square_root(by_signs())),
        {"d": d, "a": q, "b": k},
    )


def temperature(draw: Draw, say: Prose) -> Instance:
    def candidate(rng: Random) -> tuple[list[int], int, int, list[int]]:
        scores, factor, exponent = [whole(rng, 0, 2) for _ in range(3)], whole(rng, 2, 3), whole(rng, 2, 6)
        return [2**s for s in scores], factor, exponent, sample(rng, range(3), 2)

    def is_suitable(parts: Sequence[int], factor: int, wanted: int, pair: Sequence[int]) -> bool:
        difference = parts[pair[0]].bit_length() - parts[pair[1]].bit_length()
        return min(parts) == 1 and difference > 0 and wanted not in (difference, factor * difference)

    parts, factor, wanted, (i, j) = draw.several("parts factor wanted pair", candidate, is_suitable)
    raised, scores = [part**factor for part in parts], [part.bit_length() - 1 for part in parts]
    once = scores[i] - scores[j]

    def tried() -> Value:
        temperatures = (Fraction(above, below) for above in range(1, 4) for below in range(1, 7))
        return divide(next(T for T in temperatures if power(2, once / T) == 2**wanted), 1)

    return Instance(
        [say.equations(a=normalised(parts))],
        Worked(normalised(raised), lambda: weights(Matrix([[s * factor for s in scores]]))),
        Worked(Fraction(once, wanted), tried),
        {
            "factor": factor,
            "raised": raised,
            "one": i + 1,
            "other": j + 1,
            "ratio": 2**wanted,
            "now": 2**once,
        },
    )


def doubling(draw: Draw, say: Prose) -> Instance:
    def is_suitable(scores: Sequence[int]) -> bool:
        return min(scores) == 0 and max(scores) >= 1 and scores.count(max(scores)) < 3

    def candidate(rng: Random) -> list[int]:
        while not is_suitable(scores := [whole(rng, 0, 2) for _ in range(4)]):
            pass
        return [2**s * pick(rng, [1, 3]) for s in scores]

    parts = draw("parts", candidate)
    squared, ratio = [part**2 for part in parts], Fraction(max(parts), min(parts))

    def multiplied(factor: int) -> Matrix:
        """From scores ln a: doubled, 2 ln a, and e^(2 ln a) worked out by the exact numbers."""
        return softmax([[f"{factor} * {log}" for log in log_scores(parts)]])

    def largest_to_smallest() -> Value:
        ranked = sorted(multiplied(4), key=cmp_to_key(compare))
        return divide(ranked[-1], ranked[0])

    return Instance(
        [say.equations(a=normalised(parts))],
        Worked(normalised(squared), lambda: multiplied(2)),
        Worked(divide(ratio**4, 1), largest_to_smallest),
        {"squared": squared, "ratio": divide(ratio, 1)},
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
    def candidate(rng: Random) -> tuple[Rows, Rows, Rows]:
        return grid(rng, 2, 2, -1, 2), grid(rng, 2, 2, -1, 2), pick(rng, _INVERTIBLE)

    def is_suitable(*matrices: Rows) -> bool:
        first, *others = [times(a, b.T) for a, b in _pairs(*map(Matrix, matrices))]
        return first not in others and different(matrices[0] + matrices[1])

    W_Q, W_K, C = map(Matrix, draw.several("W_Q W_K C", candidate, is_suitable))
    pairs = _pairs(W_Q, W_K, C)

    def by_unit_vectors(a: Matrix, b: Matrix) -> Matrix:
        """Their scores, which are the entries of the product."""
        unit = Matrix([[1, 0], [0, 1]])
        return times(times(unit, a), times(unit, b).T)

    def listed(a: Matrix, b: Matrix) -> TextLike:
        return listing([as_text(say.equation("W_Q", a)), as_text(say.equation("W_K", b))], "")

    return Instance(
        [say.equations(W_Q=W_Q, W_K=W_K)],
        Worked(times(W_Q, W_K.T), lambda: by_unit_vectors(W_Q, W_K)),
        Choosing(
            [(listed(a, b), {"p": times(a, b.T)}) for a, b in pairs],
            lambda: (by_unit_vectors(*pair) == by_unit_vectors(W_Q, W_K) for pair in pairs),
            draw["order"],
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
