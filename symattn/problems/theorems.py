"""The bank of theorems: statement, proof, what a marker looks for, and a random instance to check with numbers.

The two answers of an instance follow from the theorem; `direct` gets them without it, and both must agree.  Instances
have whole scores with base 2, so that weights are fractions, unless the theorem is about something else.
"""

from __future__ import annotations

import math
import random
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cmp_to_key
from importlib import resources
from types import MappingProxyType
from typing import Any, TypeAlias, cast

from symattn.dice import pick, sample, shuffled, whole
from symattn.document import AnswerGrid, Block, Display, FillIn, FillIns, Inlines, Math, Words, listing
from symattn.exact import Matrix, Value, compare, divide, exponential, power, square_root
from symattn.formula import CellKind, Formula, ListOf, Relation
from symattn.ops import Mask, MatMul, Softmax
from symattn.ops.attention import Keep, causal
from symattn.problems.asking import Offer, Prose, choice, choices, choices_key
from symattn.question import Answer, FormulaAnswer, MatrixAnswer

Instance = Mapping[str, Any]
Drawn = dict[str, Any]
Direct: TypeAlias = "Matrix | Value | frozenset[int]"


@dataclass(frozen=True)
class Task:
    """One thing to be worked out in an instance: the sentence, the room for it, the answer, and how one gets there."""

    ask: Inlines
    room: tuple[Block, ...]
    answer: Answer
    key: tuple[Block, ...]


@dataclass(frozen=True)
class Theorem:
    """One of `theorems.toml`, which has its words, with its instances.

    `draw` takes the random generator alone; `instance` gives what is printed and the two tasks; `direct` works the
    two answers out again by the definitions: a matrix, a number, or the places of the right options.
    """

    id: str
    title: str
    statement: str
    points: tuple[str, ...]
    proof: tuple[str, ...]
    draw: Callable[[random.Random], Drawn]
    instance: Callable[[Instance, Prose], tuple[tuple[Block, ...], Task, Task]]
    direct: Callable[[Instance], tuple[Direct, Direct]]


# ------------------------------------------------------------------------------------------------ numbers


def weights(scores: Matrix, keep: Keep | None = None) -> Matrix:
    """Softmax with base 2, of masked scores if there is a mask: whole scores give fractions."""
    return Softmax(base=2).apply(Mask(keep).apply(scores) if keep else scores)


def times(a: Matrix, b: Matrix) -> Matrix:
    return MatMul().apply(a, b)


def normalised(parts: Sequence[int]) -> Matrix:
    """(1, 2, 1) → (1/4, 1/2, 1/4), as a matrix of one row."""
    return Matrix([[Fraction(part, sum(parts)) for part in parts]])


def grid(rng: random.Random, rows: int, columns: int, low: int, high: int) -> list[list[int]]:
    return [[whole(rng, low, high) for _ in range(columns)] for _ in range(rows)]


def different(rows: Sequence[object]) -> bool:
    return all(a != b for i, a in enumerate(rows) for b in rows[:i])


def ordered(m: Matrix, order: Sequence[int]) -> Matrix:
    return Matrix.of(m.rows[i] for i in order)


def _modest(scores: Sequence[Sequence[int]]) -> bool:
    """No row equal in all places, none with a range over 3."""
    return all(1 <= max(row) - min(row) <= 3 for row in scores)


def _values(rng: random.Random, rows: int) -> list[list[int]]:
    while not different(found := grid(rng, rows, 2, -3, 6)):
        pass
    return found


# ------------------------------------------------------------------------------------------------ tasks


def _kind(m: Matrix) -> CellKind:
    if all(isinstance(x, int) for x in m):
        return "integer"
    return "fraction" if all(isinstance(x, int | Fraction) for x in m) else "exponential"


def _boxes(say: Prose, ask: Inlines, name: Formula, value: Matrix, *key: Block) -> Task:
    room = AnswerGrid(name, *value.shape, _kind(value))
    result = Display((Relation((name, say.values(value)), ("=",)),))
    return Task(ask, (room,), MatrixAnswer(value), (*key, result))


def _line(say: Prose, ask: Inlines, name: Formula, value: Value, *key: Block) -> Task:
    room = FillIns((FillIn((Math(name), Words(" =")), 30),))
    return Task(ask, (room,), FormulaAnswer(value), (*key, Display((Relation((name, say.number(value)), ("=",)),))))


def _choice(ask: Inlines, offers: Sequence[Offer], several: bool = False) -> Task:
    return Task(ask, (choices(offers, several),), choice(offers, several), choices_key(offers, several))


def _placed(offers: Sequence[Offer], order: Sequence[int]) -> list[Offer]:
    return [offers[i] for i in order]


# ------------------------------------------------------------------------------------------------ row shift


def _draw_shift(rng: random.Random) -> Drawn:
    while True:
        parts = sample(rng, range(1, 10), 3)
        if math.gcd(*parts) == 1:
            return {"c": pick(rng, [-4, -3, -2, 2, 3, 4, 5, 6, 7]), "other": whole(rng, 8, 12), "parts": parts}


def _logs(whole_part: int, parts: Sequence[int], factor: int = 1) -> list[str]:
    """3 + 2·ln 2, 3, 3 + 2·ln 5: a whole number plus logarithms, ln 1 left out."""
    sign, size = "+-"[factor < 0], "" if abs(factor) == 1 else f"{abs(factor)} · "
    return [str(whole_part) if a == 1 else f"{whole_part} {sign} {size}ln({a})" for a in parts]


def _listed(say: Prose, entries: Sequence[str]) -> Formula:
    return ListOf(tuple(map(say.formula, entries)), "(", ",")


def _shift(x: Instance, say: Prose) -> tuple[tuple[Block, ...], Task, Task]:
    c, other, parts = x["c"], x["other"], x["parts"]
    rows = (
        _logs(other, parts),
        _logs(2 * c, parts, 2),
        _logs(c, parts, -1),
        [*_logs(other, parts[:1]), *_logs(c, parts[1:])],
    )
    reasons = (
        say("every score is greater by {constant}.", constant=other - c),
        say("all scores are doubled, so the powers of the logarithms are squared."),
        say("the logarithms have changed their signs, which turns every power upside down."),
        say("only the first score has changed."),
    )
    offers = [
        Offer(_math(_listed(say, row)), why, right=row is rows[0]) for row, why in zip(rows, reasons, strict=True)
    ]
    shown = _listed(say, _logs(c, parts))
    given = Display((Relation((say.formula("s"), shown), ("=",)),))
    return (
        (given,),
        _boxes(
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
        _choice(say("Which of these rows of scores has the same weights?"), _placed(offers, x["order"])),
    )


def _math(formula: Formula) -> Inlines:
    return (Math(formula),)


def _shift_direct(x: Instance) -> tuple[Matrix, frozenset[int]]:
    c, other, parts = x["c"], x["other"], x["parts"]
    rows = (
        [exponential(other) * a for a in parts],
        [exponential(2 * c) * a**2 for a in parts],
        [exponential(c) * Fraction(1, a) for a in parts],
        [exponential(other if j == 0 else c) * a for j, a in enumerate(parts)],
    )
    right = _divided([exponential(c) * a for a in parts])
    return right, _places(x, [_divided(row) == right for row in rows])


def _divided(powers: Sequence[Any]) -> Matrix:
    return Matrix.of([[divide(p, sum(powers[1:], powers[0])) for p in powers]])


def _places(x: Instance, right: Sequence[bool]) -> frozenset[int]:
    """Where the right options stand in the order in which they are printed."""
    return frozenset(place for place, option in enumerate(x["order"]) if right[option])


# ------------------------------------------------------------------------------------------------ permutation


def _draw_permutation(rng: random.Random) -> Drawn:
    while True:
        q, k = grid(rng, 3, 2, -1, 2), grid(rng, 3, 2, -1, 2)
        scores = times(Matrix(q), Matrix(k).T).rows
        if _modest(scores) and different(scores) and different(list(zip(*scores, strict=True))):  # type: ignore[arg-type]
            order = pick(rng, [[1, 0, 2], [0, 2, 1], [2, 1, 0], [1, 2, 0], [2, 0, 1]])
            return {"Q": q, "K": k, "V": _values(rng, 3), "new": order}


def _permutation(x: Instance, say: Prose) -> tuple[tuple[Block, ...], Task, Task]:
    A, V, new = weights(times(Matrix(x["Q"]), Matrix(x["K"]).T)), Matrix(x["V"]), x["new"]
    moved = ordered(ordered(A, new).T, new).T
    given = (
        say.equations(A=A, V=V, Z=times(A, V)),
        say.paragraph(
            "These are the weights, values and outputs for three tokens. Now the tokens come as {tokens}.",
            tokens=say.formulas([f"x_{i + 1}" for i in new]),
        ),
    )
    return (
        given,
        _boxes(
            say,
            say("Write down the new weights."),
            say.formula('index(A, "new")'),
            moved,
            say.paragraph(
                "Rows and columns both come in the new order: {order}.", order=", ".join(str(i + 1) for i in new)
            ),
        ),
        _boxes(
            say,
            say("Write down the new outputs, without multiplying again."),
            say.formula('index(Z, "new")'),
            ordered(times(A, V), new),
            say.paragraph("The same rows, in the new order."),
        ),
    )


def _permutation_direct(x: Instance) -> tuple[Matrix, Matrix]:
    Q, K, V = (ordered(Matrix(x[name]), x["new"]) for name in "QKV")
    A = weights(times(Q, K.T))
    return A, times(A, V)


# ------------------------------------------------------------------------------------------------ key bias


def _draw_key_bias(rng: random.Random) -> Drawn:
    while True:
        q, b = grid(rng, 1, 2, -2, 3), grid(rng, 1, 2, -2, 3)
        K = grid(rng, 3, 2, -2, 2)
        scores = times(Matrix(q), Matrix(K).T).rows[0]
        if different(scores) and times(Matrix(q), Matrix(b).T)[0, 0] not in (0, 1) and 0 not in q[0]:
            return {"q": q, "K": K, "b": b}


def _key_bias(x: Instance, say: Prose) -> tuple[tuple[Block, ...], Task, Task]:
    q, K, b = Matrix(x["q"]), Matrix(x["K"]), Matrix(x["b"])
    plain, more = times(q, K.T), times(q, b.T)[0, 0]
    given = Display(
        (
            Relation((say.formula("q"), say.values(q)), ("=",)),
            say.equation("K", K),
            Relation((say.formula("b"), say.values(b)), ("=",)),
        )
    )
    return (
        (given,),
        _boxes(
            say,
            say("The scores of the query $q$ are $plain$ without the bias. Find them with the bias $b$ on every key.",
                plain=say.values(plain)),
            say.formula("s"),
            plain.map(lambda s: s + more),
            say.paragraph("$q b^T = more$ is added to every score.", more=say.number(more)),
        ),
        _line(
            say,
            say("By what factor does the bias multiply the power $e^{s_j}$ of every score?"),
            say.formula('"factor"'),
            exponential(more),
            say.paragraph("The factor is $e^{q b^T}$, the same for every key, so it cancels."),
        ),
    )  # fmt: skip


def _key_bias_direct(x: Instance) -> tuple[Matrix, Value]:
    q, K, (b,) = Matrix(x["q"]), x["K"], x["b"]
    scores = [times(q, Matrix(rows).T) for rows in (K, [[a + c for a, c in zip(k, b, strict=True)] for k in K])]
    factors = [divide(exponential(t), exponential(s)) for s, t in zip(*(m.rows[0] for m in scores), strict=True)]
    assert all(f == factors[0] for f in factors)
    return scores[1], factors[0]


# ------------------------------------------------------------------------------------------------ convex hull


def _draw_hull(rng: random.Random) -> Drawn:
    while True:
        V, parts = grid(rng, 3, 2, -4, 6), pick(rng, [[1, 1, 2], [1, 2, 2], [1, 1, 3], [1, 2, 3], [1, 3, 4], [2, 3, 5]])
        parts = shuffled(rng, parts)
        point = times(normalised(parts), Matrix(V))
        if abs(_area(V)) >= 4 and all(isinstance(x, int) for x in point):
            return {"V": V, "parts": parts}


def _area(V: Sequence[Sequence[int]]) -> int:
    """Twice the signed area of the triangle of three values."""
    (a, b), (c, d), (e, f) = V
    return (c - a) * (f - b) - (e - a) * (d - b)


_OUTSIDE = ((-1, 1, 1), (2, -1, 0), (0, -1, 2))


def _hull(x: Instance, say: Prose) -> tuple[tuple[Block, ...], Task, Task]:
    V, parts = Matrix(x["V"]), x["parts"]
    point = times(normalised(parts), V)
    offers = [Offer(_math(say.values(point)), say("it is a mean with the weights of the next part."), right=True)]
    for outside in _OUTSIDE:
        why = say("only the numbers $numbers$ in place of weights give it, and one of them is negative.",
                  numbers=say.row(outside))  # fmt: skip
        offers.append(Offer(_math(say.values(times(Matrix([outside]), V))), why))
    return (
        (say.equations(V=V),),
        _choice(
            say("Exactly one of these vectors can be the output of a token that sees all three values. Which one?"),
            _placed(offers, x["order"]),
        ),
        _boxes(
            say,
            say("Which weights give it?"),
            say.formula("a"),
            normalised(parts),
            say.paragraph("They solve $a V = z$ with a sum of 1: $z = point$.", point=say.values(point)),
        ),
    )


def _hull_direct(x: Instance) -> tuple[frozenset[int], Matrix]:
    """Barycentric coordinates by areas (Cramer): an output has positive ones."""
    V = x["V"]

    def coordinates(numbers: Matrix) -> list[Fraction]:
        point = cast(Any, times(numbers, Matrix(V)).rows[0])
        return [Fraction(_area([*V[:i], point, *V[i + 1 :]]), _area(V)) for i in range(3)]

    found = [coordinates(m) for m in (normalised(x["parts"]), *(Matrix([outside]) for outside in _OUTSIDE))]
    return _places(x, [min(c) > 0 for c in found]), Matrix([found[0]])


# ------------------------------------------------------------------------------------------------ masks


def _draw_mask(rng: random.Random) -> Drawn:
    hidden = sorted(sample(rng, range(4), pick(rng, [1, 2])))
    while True:
        parts = [whole(rng, 1, 9) for _ in range(4)]
        if len({part for j, part in enumerate(parts) if j not in hidden}) > 1 and math.gcd(*parts) == 1:
            return {"parts": parts, "hidden": hidden}


def _mask(x: Instance, say: Prose) -> tuple[tuple[Block, ...], Task, Task]:
    full, hidden = normalised(x["parts"]), x["hidden"]
    kept = [0 if j in hidden else part for j, part in enumerate(x["parts"])]
    part = divide(sum(kept), sum(x["parts"]))
    texts = {
        1: "These are the weights of one query without a mask. Find its weights when {keys} is hidden.",
        2: "These are the weights of one query without a mask. Find its weights when {keys} are hidden.",
    }
    return (
        (Display((Relation((say.formula("a"), say.values(full)), ("=",)),)),),
        _boxes(
            say,
            say(texts[len(hidden)], keys=say.formulas([f"k_{j + 1}" for j in hidden], "and")),
            say.formula('index(a, "masked")'),
            normalised(kept),
            say.paragraph("The visible weights sum to $part$; they are divided by it.", part=say.number(part)),
        ),
        _line(
            say,
            say("By what factor has every visible weight grown?"),
            say.formula('"factor"'),
            divide(1, part),
            say.paragraph("One over the sum of the visible weights."),
        ),
    )


def _mask_direct(x: Instance) -> tuple[Matrix, Value]:
    """From scores ln a, with −∞ where they are hidden."""
    scores = [f"ln({part})" for part in x["parts"]]
    full, masked = (
        Softmax().apply(Matrix([row]))
        for row in (scores, ["-inf" if j in x["hidden"] else s for j, s in enumerate(scores)])
    )
    seen = next(j for j in range(4) if j not in x["hidden"])
    return masked, divide(masked[0, seen], full[0, seen])


# ------------------------------------------------------------------------------------------------ variance


def _draw_variance(rng: random.Random) -> Drawn:
    q, k = sample(rng, range(1, 10), 2)
    return {"d_k": pick(rng, [4, 8, 9, 16, 24, 25, 32, 36, 48, 64]), "q": q, "k": k}


def _variance(x: Instance, say: Prose) -> tuple[tuple[Block, ...], Task, Task]:
    d, q, k = x["d_k"], x["q"], x["k"]
    given = say.paragraph(
        "Let $d_k = d$. The entries of $q$ and $k$ are independent with mean 0, those of $q$ with variance $a$, those "
        "of $k$ with variance $b$.",
        d=say.number(d), a=say.number(q), b=say.number(k),
    )  # fmt: skip
    return (
        (given,),
        _line(
            say,
            say("What is the variance of the score $q k^T$?"),
            say.formula("Var(q k^T)"),
            d * q * k,
            Display((say.formula(f"Var(q k^T) = {d} · {q} · {k}"),)),
        ),
        _line(
            say,
            say("By what must scores be divided so that their variance is 1? Give it exactly."),
            say.formula('"divisor"'),
            square_root(d * q * k),
            say.paragraph("By the root of the variance: dividing by $c$ divides the variance by $c^2$."),
        ),
    )


def _variance_direct(x: Instance) -> tuple[Value, Value]:
    """For entries ±√a and ±√b, each sign as likely: the distribution of a sum of d_k signs, counted out."""
    counts = {0: 1}
    for _ in range(x["d_k"]):
        longer: dict[int, int] = {}
        for total, ways in counts.items():
            for sign in (-1, 1):
                longer[total + sign] = longer.get(total + sign, 0) + ways
        counts = longer
    mean_square = Fraction(sum(ways * total**2 for total, ways in counts.items()), sum(counts.values()))
    variance = divide(mean_square * x["q"] * x["k"], 1)
    return variance, square_root(variance)


# ------------------------------------------------------------------------------------------------ temperature


def _draw_temperature(rng: random.Random) -> Drawn:
    while True:
        scores, factor, exponent = [whole(rng, 0, 2) for _ in range(3)], whole(rng, 2, 3), whole(rng, 2, 6)
        i, j = sample(rng, range(3), 2)
        difference = scores[i] - scores[j]
        if min(scores) == 0 and difference > 0 and exponent not in (difference, factor * difference):
            return {"parts": [2**s for s in scores], "factor": factor, "pair": [i, j], "wanted": exponent}


def _temperature(x: Instance, say: Prose) -> tuple[tuple[Block, ...], Task, Task]:
    parts, factor, (i, j), wanted = x["parts"], x["factor"], x["pair"], x["wanted"]
    raised = [part**factor for part in parts]
    once = parts[i].bit_length() - parts[j].bit_length()
    return (
        (Display((Relation((say.formula("a"), say.values(normalised(parts))), ("=",)),)),),
        _boxes(
            say,
            say("These are the weights of one query. Find its weights after $W_Q$ has been multiplied by {factor}.",
                factor=factor),
            say.formula('index(a, "new")'),
            normalised(raised),
            say.paragraph("Every ratio of two weights is raised to the power {factor}: $raised$ in proportion.",
                          factor=factor, raised=say.row(raised)),
        ),
        _line(
            say,
            say("At which temperature $T$ is the weight of $k_{one}$ exactly $ratio$ times that of $k_{other}$?",
                one=i + 1, other=j + 1, ratio=say.number(2**wanted)),
            say.formula("T"),
            Fraction(once, wanted),
            say.paragraph("At $T = 1$ the ratio is $now$; at $T$ it is that number to the power $frac(1, T)$.",
                          now=say.number(2**once)),
        ),
    )  # fmt: skip


def _temperature_direct(x: Instance) -> tuple[Matrix, Value]:
    scores = [part.bit_length() - 1 for part in x["parts"]]
    (i, j), wanted = x["pair"], x["wanted"]
    for temperature in (Fraction(above, below) for above in range(1, 4) for below in range(1, 7)):
        at = Matrix([[s / temperature for s in scores]])
        if power(2, at[0, i] - at[0, j]) == 2**wanted:
            return weights(Matrix([[s * x["factor"] for s in scores]])), divide(temperature, 1)
    raise AssertionError("no temperature among those tried")


# ------------------------------------------------------------------------------------------------ doubling


def _draw_doubling(rng: random.Random) -> Drawn:
    while True:
        scores = [whole(rng, 0, 2) for _ in range(4)]
        if min(scores) == 0 and max(scores) >= 1 and scores.count(max(scores)) < 3:
            return {"parts": [2**s * pick(rng, [1, 3]) for s in scores]}


def _doubling(x: Instance, say: Prose) -> tuple[tuple[Block, ...], Task, Task]:
    parts = x["parts"]
    squared = [part**2 for part in parts]
    ratio = Fraction(max(parts), min(parts))
    return (
        (Display((Relation((say.formula("a"), say.values(normalised(parts))), ("=",)),)),),
        _boxes(
            say,
            say("These are the weights of one query. Find its weights after all its scores have been doubled."),
            say.formula('index(a, "new")'),
            normalised(squared),
            say.paragraph("The weights are as the squares $squared$.", squared=say.row(squared)),
        ),
        _line(
            say,
            say("The scores are then doubled once more. What is then the ratio of the largest weight to the smallest?"),
            say.formula('"ratio"'),
            divide(ratio**4, 1),
            say.paragraph("It was $ratio$ and is squared twice.", ratio=say.number(divide(ratio, 1))),
        ),
    )


def _doubling_direct(x: Instance) -> tuple[Matrix, Value]:
    """From scores ln a: doubled, 2 ln a, and e^(2 ln a) worked out by the exact numbers."""
    scores = [Matrix([[f"{c} * ln({a})" for a in x["parts"]]]) for c in (2, 4)]
    twice, often = (Softmax().apply(s) for s in scores)
    ranked = sorted(often.rows[0], key=cmp_to_key(compare))
    return twice, divide(ranked[-1], ranked[0])


# ------------------------------------------------------------------------------------------------ equal scores


def _draw_equal(rng: random.Random) -> Drawn:
    return {"V": _values(rng, 4), "hidden": pick(rng, [0, 1, 2, 3]), "score": whole(rng, -3, 5)}


def _equal(x: Instance, say: Prose) -> tuple[tuple[Block, ...], Task, Task]:
    V, hidden = Matrix(x["V"]), x["hidden"]
    means = Matrix.of([_mean(x["V"][: i + 1]) for i in range(4)])
    rest = [v for j, v in enumerate(x["V"]) if j != hidden]
    return (
        (
            say.paragraph("Every score is $c$.", c=say.number(x["score"])),
            say.equations(V=V),
        ),
        _boxes(
            say,
            say("Find the outputs with a causal mask."),
            say.formula("Z"),
            means,
            say.paragraph("Row $i$ is the mean of the first $i$ values."),
        ),
        _boxes(
            say,
            say("Find the output of a query that sees every token except $x_{token}$.", token=hidden + 1),
            say.formula("z"),
            Matrix.of([_mean(rest)]),
            say.paragraph("It is the mean of the three values that are seen."),
        ),
    )


def _mean(rows: Sequence[Sequence[int]]) -> list[Value]:
    return [divide(sum(column), len(rows)) for column in zip(*rows, strict=True)]


def _equal_direct(x: Instance) -> tuple[Matrix, Matrix]:
    V, c = Matrix(x["V"]), x["score"]
    seen: Keep = (tuple(j != x["hidden"] for j in range(4)),)
    full, one = Matrix([[c] * 4] * 4), Matrix([[c] * 4])
    return (
        times(Softmax().apply(Mask(causal(4, 4)).apply(full)), V),
        times(Softmax().apply(Mask(seen).apply(one)), V),
    )


# ------------------------------------------------------------------------------------------------ copies


def _draw_copies(rng: random.Random) -> Drawn:
    while math.gcd(*(parts := sample(rng, range(1, 10), 3))) > 1:
        pass
    return {"parts": parts, "V": _values(rng, 3), "copies": whole(rng, 2, 3)}


def _copies(x: Instance, say: Prose) -> tuple[tuple[Block, ...], Task, Task]:
    a, V, copies = normalised(x["parts"]), Matrix(x["V"]), x["copies"]
    texts = {
        2: "These are the weights of one query and the values. Now the whole list of keys and values stands there "
        "twice, one list after the other. Find the weights of all {number} keys.",
        3: "These are the weights of one query and the values. Now the whole list of keys and values stands there "
        "three times, one list after the other. Find the weights of all {number} keys.",
    }
    given = Display((Relation((say.formula("a"), say.values(a)), ("=",)), say.equation("V", V)))
    return (
        (given,),
        _boxes(
            say,
            say(texts[copies], number=3 * copies),
            say.formula('index(a, "new")'),
            Matrix.of([[divide(w, copies) for w in a] * copies]),
            say.paragraph("Every weight is divided by {copies}.", copies=copies),
        ),
        _boxes(
            say,
            say("Find the output of the query with all {number} keys.", number=3 * copies),
            say.formula("z"),
            times(a, V),
            say.paragraph("It is the same as with three keys: $a V$."),
        ),
    )  # fmt: skip


def _copies_direct(x: Instance) -> tuple[Matrix, Matrix]:
    """From scores ln a, as often as there are copies."""
    a = Softmax().apply(Matrix([[f"ln({part})" for part in x["parts"]] * x["copies"]]))
    return a, times(a, Matrix(x["V"] * x["copies"]))


# ------------------------------------------------------------------------------------------------ the product alone

_INVERTIBLE = (
    [[1, 1], [0, 1]],
    [[1, 0], [1, 1]],
    [[2, 1], [1, 1]],
    [[1, -1], [0, 1]],
    [[1, 1], [1, 2]],
    [[0, 1], [-1, 1]],
)


def _draw_product(rng: random.Random) -> Drawn:
    while True:
        found: Drawn = {
            "W_Q": grid(rng, 2, 2, -1, 2),
            "W_K": grid(rng, 2, 2, -1, 2),
            "C": pick(rng, _INVERTIBLE),
        }
        products = [times(a, b.T).rows for a, b in _pairs(found)]
        if all(p != products[0] for p in products[1:]) and different(found["W_Q"] + found["W_K"]):
            return found


def _pairs(x: Instance) -> list[tuple[Matrix, Matrix]]:
    """Four pairs of weights: the first has the same product, the others have not."""
    W_Q, W_K, C = Matrix(x["W_Q"]), Matrix(x["W_K"]), Matrix(x["C"])
    (a, b), (c, d) = x["C"]
    turned = Matrix([[d, -c], [-b, a]])  # the inverse transposed; every C here has determinant 1
    return [
        (times(W_Q, C), times(W_K, turned)),
        (times(W_Q, C), times(W_K, C)),
        (W_K, W_Q),
        (W_Q.map(lambda w: 2 * w), W_K.map(lambda w: 2 * w)),
    ]


def _product(x: Instance, say: Prose) -> tuple[tuple[Block, ...], Task, Task]:
    W_Q, W_K = Matrix(x["W_Q"]), Matrix(x["W_K"])
    product = times(W_Q, W_K.T)
    offers = []
    for number, (a, b) in enumerate(_pairs(x)):
        shown = (
            Relation((say.formula("W_Q"), say.values(a)), ("=",)),
            Relation((say.formula("W_K"), say.values(b)), ("=",)),
        )
        text = listing([_math(shown[0]), _math(shown[1])], "")
        why = say("its product is $p$.", p=say.values(times(a, b.T)))
        offers.append(Offer(text, why, right=number == 0))
    return (
        (say.equations(W_Q=W_Q, W_K=W_K),),
        _boxes(say, say("Work out $W_Q W_K^T$."), say.formula("W_Q W_K^T"), product),
        _choice(
            say("Which of these pairs of weights gives the same scores for every input?"), _placed(offers, x["order"])
        ),
    )


def _product_direct(x: Instance) -> tuple[Matrix, frozenset[int]]:
    """Scores of the unit vectors, which are the entries of the product."""
    unit = Matrix([[1, 0], [0, 1]])

    def scores(a: Matrix, b: Matrix) -> Matrix:
        return times(times(unit, a), times(unit, b).T)

    own = scores(Matrix(x["W_Q"]), Matrix(x["W_K"]))
    return own, _places(x, [scores(a, b) == own for a, b in _pairs(x)])


# ------------------------------------------------------------------------------------------------ causal


def _draw_causal(rng: random.Random) -> Drawn:
    while True:
        scores, row, V = grid(rng, 3, 3, 0, 2), [whole(rng, 0, 2) for _ in range(3)], _values(rng, 3)
        v = _values(rng, 1)[0]
        if scores[1][0] != scores[1][1] and _modest([scores[2], row]) and row != scores[2] and v not in V:
            return {
                "scores": scores,
                "row": row,
                "V": V,
                "v": v,
                "tokens": pick(rng, [5, 6]),
                "changed": whole(rng, 2, 4),
            }


def _causal(x: Instance, say: Prose) -> tuple[tuple[Block, ...], Task, Task]:
    before, after, V, new_V = _before_and_after(x)
    last = times(after.row(2), new_V)
    Z = times(before, V)
    n, t = x["tokens"], x["changed"]
    offers = []
    for i in range(1, n + 1):
        why = "it sees the changed token." if i >= t else "the changed token comes later and is hidden from it."
        offers.append(Offer(_math(say.formula(f"z_{i}")), say(why), right=i >= t))
    return (
        (
            say.equations(A=before, V=V, Z=Z),
            say.paragraph("These are weights with a causal mask, values and outputs. Then $x_3$ is changed: now"),
            Display(
                (
                    Relation((say.formula("a_3"), say.values(after.row(2))), ("=",)),
                    Relation((say.formula("v_3"), say.values(new_V.row(2))), ("=",)),
                )
            ),
        ),
        _boxes(
            say,
            say("Find the new outputs."),
            say.formula('index(Z, "new")'),
            Matrix.of((*Z.rows[:2], *last.rows)),
            say.paragraph("The first two rows stay; the third is $a_3 V$ with the new row and value."),
        ),
        _choice(
            say("In a text of {tokens} tokens with a causal mask, $x_{token}$ is changed. Tick every output that may "
                "change.", tokens=n, token=t),
            offers,
            several=True,
        ),
    )  # fmt: skip


def _before_and_after(x: Instance) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    """Weights before and after the third token is changed, and values before and after."""
    keep = causal(3, 3)
    before = weights(Matrix(x["scores"]), keep)
    column = [[*scores[:2], 9 - i] for i, scores in enumerate(x["scores"][:2])]  # hidden, so it makes no difference
    after = weights(Matrix([*column, x["row"]]), keep)
    return before, after, Matrix(x["V"]), Matrix([*x["V"][:2], x["v"]])


def _causal_direct(x: Instance) -> tuple[Matrix, frozenset[int]]:
    _, after, _, V = _before_and_after(x)
    seen = causal(x["tokens"], x["tokens"])
    return times(after, V), frozenset(i for i, row in enumerate(seen) if row[x["changed"] - 1])


# ------------------------------------------------------------------------------------------------ associativity


def _draw_associative(rng: random.Random) -> Drawn:
    while True:
        parts = [shuffled(rng, pick(rng, [[1, 1, 2], [1, 3, 0], [1, 1, 0]])) for _ in range(2)]
        X, W = grid(rng, 3, 2, -2, 3), grid(rng, 2, 2, -1, 2)
        if different(parts) and different(X) and different(W) and all(any(row) for row in X + W):
            return {"parts": parts, "X": X, "W_V": W}


def _associative(x: Instance, say: Prose) -> tuple[tuple[Block, ...], Task, Task]:
    A, X, W = (Matrix.of(normalised(p).rows[0] for p in x["parts"])), Matrix(x["X"]), Matrix(x["W_V"])
    mixed = times(A, X)
    return (
        (say.equations(A=A, X=X, W_V=W), say.paragraph("These are the weights of two queries over three tokens.")),
        _boxes(say, say("First mix the inputs: work out $A X$."), say.formula("A X"), mixed),
        _boxes(
            say,
            say("From this work out the outputs, without the values $V$."),
            say.formula("Z"),
            times(mixed, W),
            say.paragraph("$Z = (A X) W_V$, two products with rows of two instead of three."),
        ),
    )


def _associative_direct(x: Instance) -> tuple[Matrix, Matrix]:
    A, X, W = (Matrix.of(normalised(p).rows[0] for p in x["parts"])), Matrix(x["X"]), Matrix(x["W_V"])
    entries = [
        [sum((a * v for a, v in zip(row, c, strict=True)), 0) for c in zip(*x["X"], strict=True)] for row in A.rows
    ]
    return Matrix.of(entries), times(A, times(X, W))


# ------------------------------------------------------------------------------------------------ rounding


def _draw_rounding(rng: random.Random) -> Drawn:
    while True:
        V, low, gap = grid(rng, 3, 3, 0, 8), whole(rng, 0, 3), pick(rng, [2, 2, 3])
        if all(2 * a != b + c for a, b, c in zip(*V, strict=True)):
            return {"V": V, "scores": [low, low + gap, low + gap]}


def _rounding(x: Instance, say: Prose) -> tuple[tuple[Block, ...], Task, Task]:
    first, second, third = x["V"]
    gap = x["scores"][1] - x["scores"][0]
    middle = _mean([second, third])
    small = divide(1, 1 + 2 * exponential(gap))
    change = [small * (m - v) for m, v in zip(middle, first, strict=True)]
    given = Display((Relation((say.formula("s"), say.row(x["scores"])), ("=",)), say.equation("V", Matrix(x["V"]))))
    return (
        (given, say.paragraph("The weights of these scores are rounded to $rounded$.", rounded=say.row(_HALVES))),
        _boxes(
            say,
            say("Find the output from the rounded weights."),
            say.formula('index(z, "rounded")'),
            Matrix.of([middle]),
            say.paragraph("It is the mean of $v_2$ and $v_3$."),
        ),
        _boxes(
            say,
            say("By how much is it greater than the output from the exact weights? Give exact numbers."),
            say.formula('index(z, "rounded") - z'),
            Matrix.of([change]),
            say.paragraph("The exact weight of $v_1$ is $a = small$; the difference is $a$ times $means$.",
                          small=say.number(small),
                          means=say.row([m - v for m, v in zip(middle, first, strict=True)])),
        ),
    )  # fmt: skip


_HALVES = (0, Fraction(1, 2), Fraction(1, 2))


def _rounding_direct(x: Instance) -> tuple[Matrix, Matrix]:
    V = Matrix(x["V"])
    rounded, true = times(Matrix([_HALVES]), V), times(Softmax().apply(Matrix([x["scores"]])), V)
    return rounded, Matrix.of([[r - t for r, t in zip(rounded, true, strict=True)]])


# ------------------------------------------------------------------------------------------------ the bank

_INSTANCES = {
    "shift": (_draw_shift, _shift, _shift_direct),
    "permutation": (_draw_permutation, _permutation, _permutation_direct),
    "key bias": (_draw_key_bias, _key_bias, _key_bias_direct),
    "convex hull": (_draw_hull, _hull, _hull_direct),
    "mask": (_draw_mask, _mask, _mask_direct),
    "variance": (_draw_variance, _variance, _variance_direct),
    "temperature": (_draw_temperature, _temperature, _temperature_direct),
    "doubling": (_draw_doubling, _doubling, _doubling_direct),
    "equal scores": (_draw_equal, _equal, _equal_direct),
    "copies": (_draw_copies, _copies, _copies_direct),
    "product": (_draw_product, _product, _product_direct),
    "causal": (_draw_causal, _causal, _causal_direct),
    "order of products": (_draw_associative, _associative, _associative_direct),
    "rounding": (_draw_rounding, _rounding, _rounding_direct),
}


def _bank() -> Mapping[str, Theorem]:
    with resources.files(__package__).joinpath("theorems.toml").open("rb") as file:
        texts = tomllib.load(file)
    return {
        name: Theorem(
            name, text["title"], text["statement"], tuple(text["points"]), tuple(text["proof"]), *_INSTANCES[name]
        )
        for name, text in texts.items()
    }


THEOREMS: Mapping[str, Theorem] = MappingProxyType(_bank())

__all__ = ["THEOREMS", "Direct", "Instance", "Task", "Theorem"]
