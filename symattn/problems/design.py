"""Inverse problems: scores, weight matrices, keys or a mask that make attention do what is wanted (rules.md 5, type 9).

What the student chooses is marked by its property (`properties.py`).  Every wish can be fulfilled because it was made
from an answer, and every one said to be impossible is a linear system without a solution.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from types import MappingProxyType
from typing import Any, cast

from symattn.dice import pick, sample, shuffled, whole
from symattn.document import AnswerGrid, Block, Display, FillIn, FillIns, ItemList, Math, Paragraph, Words, WorkingSpace
from symattn.errors import InputError, SelfCheckError, offered
from symattn.exact import Matrix, compare, divide, exact
from symattn.formula import Relation
from symattn.ops import Mask, MatMul, Softmax
from symattn.problems.asking import (
    LETTERS,
    Offer,
    Prose,
    choice,
    choices,
    choices_key,
    no_sizes,
    prose,
    tokens_are_rows,
)
from symattn.problems.base import Family, ProblemType, Spec
from symattn.problems.properties import verdict
from symattn.question import (
    Answer,
    CellsAnswer,
    ChoiceAnswer,
    Content,
    FormulaAnswer,
    Json,
    Mark,
    Part,
    PropertyAnswer,
    Question,
    RubricAnswer,
)

Drawn = dict[str, Any]
Item = Mapping[str, Any]

ITEMS: Mapping[str, tuple[str, ...]] = {
    "starter": ("scores", "mask", "keys"),
    "standard": ("scores", "exact", "attend", "impossible"),
    "long": ("scores", "mask", "exact", "attend", "missing", "impossible"),
}
LEAST = "99/100"
GAP = 6  # two other scores lower by 6 have weights below 0.0025 each

PATTERNS = ((1, 1, 2), (1, 2, 2), (1, 1, 4), (1, 2, 4), (1, 4, 4), (1, 1, 8), (1, 2, 8))
"""Rows of weights in proportion, with powers of 2 (rules.md 4.3)."""


@dataclass(frozen=True)
class Kind:
    """One kind of item: what is drawn for it besides X and K, and its parts (without their names)."""

    title: str
    draw: Callable[[random.Random, Drawn, int], Drawn]
    parts: Callable[[Item, Content, Prose], list[Part]]


# ------------------------------------------------------------------------------------------------ drawing


def draw(spec: Spec, rng: random.Random, number: int, family: Family) -> Content:
    tokens_are_rows(spec)
    no_sizes(spec)
    asked = TYPE.option(spec, "items") or list(ITEMS[spec.level])
    if unknown := [name for name in asked if name not in KINDS]:
        raise InputError(f"There is no item {unknown[0]!r} of design; {offered(unknown[0], KINDS)}")
    shared = _given(rng)
    items = [{"kind": name, **KINDS[name].draw(rng, shared, number)} for name in asked]
    return {"type": spec.type, "notation": spec.notation, **shared, "items": cast("Any", items)}


def _given(rng: random.Random) -> Drawn:
    """Three tokens and keys that are corners of a triangle, with an area that lets whole scores have whole queries."""
    while True:
        X = [[whole(rng, -1, 2) for _ in range(2)] for _ in range(3)]
        K = [[whole(rng, -1, 2) for _ in range(2)] for _ in range(3)]
        one_each = all(1 in map(abs, x) and any(x) for x in X)
        if one_each and abs(_twice_area(K)) == 1 and _parallel_free(X) and all(any(k) for k in K):
            return {"X": X, "K": K}


def _twice_area(K: Sequence[Sequence[int]]) -> int:
    (a, b), (c, d), (e, f) = K
    return (c - a) * (f - b) - (e - a) * (d - b)


def _parallel_free(X: Sequence[Sequence[int]]) -> bool:
    return all(a[0] * b[1] != a[1] * b[0] for a, b in combinations(X, 2))


def _draw_scores(rng: random.Random, shared: Drawn, number: int) -> Drawn:
    while True:
        rows = [shuffled(rng, pick(rng, _LOG_PATTERNS)) for _ in range(2)]
        if sorted(rows[0]) != sorted(rows[1]):
            return {"weights": rows}


_LOG_PATTERNS = (
    (1, 2, 3),
    (1, 3, 4),
    (1, 2, 5),
    (2, 3, 5),
    (1, 3, 6),
    (1, 4, 5),
    (2, 3, 7),
    (1, 5, 6),
    (3, 4, 5),
    (1, 2, 7),
)


def _draw_token_pattern(rng: random.Random, shared: Drawn, number: int) -> Drawn:
    return {"token": whole(rng, 0, 2), "weights": shuffled(rng, pick(rng, PATTERNS))}


def _draw_attend(rng: random.Random, shared: Drawn, number: int) -> Drawn:
    token, to = sample(rng, range(3), 2)
    return {"token": token, "to": to}


def _draw_keys(rng: random.Random, shared: Drawn, number: int) -> Drawn:
    q = shuffled(rng, [pick(rng, [-1, 1]), pick(rng, [-3, -2, 2, 3])])
    return {"q": q, "weights": shuffled(rng, pick(rng, PATTERNS))}


def _draw_missing(rng: random.Random, shared: Drawn, number: int) -> Drawn:
    """A query matrix of whole numbers with modest scores, and one entry of it that its token's weights betray."""
    while True:
        W = [[whole(rng, -2, 2) for _ in range(2)] for _ in range(2)]
        token, row, column = whole(rng, 0, 2), whole(rng, 0, 1), whole(rng, 0, 1)
        scores = _scores(shared["X"][token], W, shared["K"])
        spread = max(scores) - min(scores)
        if (
            1 <= spread <= 3
            and W[row][column]
            and shared["X"][token][row]
            and len({k[column] for k in shared["K"]}) > 1
        ):
            return {"W_Q": W, "token": token, "entry": [row, column]}


def _draw_mask(rng: random.Random, shared: Drawn, number: int) -> Drawn:
    """Values whose subsets all have different means, and a set of visible tokens for each query."""
    while True:
        V = [[whole(rng, -3, 6) for _ in range(2)] for _ in range(3)]
        seen = [list(pick(rng, _SUBSETS)) for _ in range(3)]
        means = [tuple(_mean(V, subset)) for subset in _SUBSETS]
        if (
            len(set(means)) == len(means)
            and len({len(s) for s in seen}) > 1
            and seen[0] != seen[1] != seen[2] != seen[0]
        ):
            return {"V": V, "seen": seen}


_SUBSETS = tuple(subset for size in (1, 2, 3) for subset in combinations(range(3), size))


def _mean(V: Sequence[Sequence[int]], subset: Sequence[int]) -> list[Fraction]:
    return [Fraction(sum(V[j][c] for j in subset), len(subset)) for c in range(2)]


def _draw_impossible(rng: random.Random, shared: Drawn, number: int) -> Drawn:
    """Three wishes for single tokens, one of them impossible: for equal keys, or for an input that is zero."""
    reason = ("equal keys", "zero input")[number % 2]
    place = (number - 1) % 3
    X, K = _other_given(rng, shared)
    if reason == "equal keys":
        one, other = sorted(sample(rng, range(3), 2))
        K[other] = list(K[one])
        third = 3 - one - other
        wishes = []
        for parts in sample(rng, [(1, 2), (1, 4), (2, 1), (4, 1)], 2):
            wishes.append(_at({one: parts[0], other: parts[0], third: parts[1]}))
        odd = shuffled(rng, [1, 2])
        wishes.insert(place, _at({one: odd[0], other: odd[1], third: pick(rng, [1, 4])}))
        return {
            "reason": reason,
            "X": X,
            "K": K,
            "weights": wishes,
            "tokens": shuffled(rng, [0, 1, 2]),
            "about": [one, other],
        }
    zero = whole(rng, 0, 2)
    X[zero] = [0, 0]
    tokens = [t for t in range(3) if t != zero]
    tokens.insert(place, zero)
    wishes = [shuffled(rng, parts) for parts in sample(rng, PATTERNS, 3)]
    return {"reason": reason, "X": X, "K": K, "weights": wishes, "tokens": tokens, "about": [zero]}


def _other_given(rng: random.Random, shared: Drawn) -> tuple[list[list[int]], list[list[int]]]:
    """Inputs and keys with no row of those above: what changed must not tell which wish is impossible."""
    while True:
        other = _given(rng)
        if not any(row in shared[name] for name in ("X", "K") for row in other[name]):
            return [list(x) for x in other["X"]], [list(k) for k in other["K"]]


def _at(parts: Mapping[int, int]) -> list[int]:
    return [parts[j] for j in range(3)]


# ------------------------------------------------------------------------------------------------ exact linear algebra


def _scores(x: Sequence[int], W: Sequence[Sequence[int]], K: Sequence[Sequence[int]]) -> list[int]:
    row = MatMul().apply(MatMul().apply(Matrix([x]), Matrix(W)), Matrix(K).T).rows[0]
    return [cast(int, s) for s in row]


def solution(rows: Sequence[Sequence[int | Fraction]], right: Sequence[int | Fraction]) -> list[Fraction] | None:
    """One solution of a linear system (free unknowns are 0), or None if there is none: Gauss–Jordan with fractions."""
    system = [[Fraction(x) for x in (*row, b)] for row, b in zip(rows, right, strict=True)]
    unknowns, pivots = len(rows[0]), list[int]()
    for column in range(unknowns):
        done = len(pivots)
        lead = next((r for r in range(done, len(system)) if system[r][column]), None)
        if lead is None:
            continue
        system[done], system[lead] = system[lead], system[done]
        system[done] = [x / system[done][column] for x in system[done]]
        for r, row in enumerate(system):
            if r != done and row[column]:
                system[r] = [x - row[column] * y for x, y in zip(row, system[done], strict=True)]
        pivots.append(column)
    if any(row[-1] and not any(row[:-1]) for row in system):
        return None
    found = [Fraction(0)] * unknowns
    for r, column in enumerate(pivots):
        found[column] = system[r][-1]
    return found


def query_for(K: Sequence[Sequence[int]], scores: Sequence[int]) -> list[Fraction] | None:
    """A query with these scores up to a constant: K q + c = scores, the constant c the last unknown."""
    found = solution([[*k, 1] for k in K], scores)
    return found and found[:-1]


def weights_for(x: Sequence[int], query: Sequence[Fraction]) -> Matrix | None:
    """W_Q with x W_Q = query: one row of it is the query over an entry of x, 1 or −1 if there is one."""
    if not any(x):
        return Matrix([[0] * len(query)] * len(x)) if not any(query) else None
    place = min((i for i, a in enumerate(x) if a), key=lambda i: abs(x[i]))
    return Matrix([[divide(q, x[i]) if i == place else 0 for q in query] for i in range(len(x))])


def _logs(parts: Sequence[int]) -> list[int]:
    """Base-2 logarithms of powers of 2."""
    return [part.bit_length() - 1 for part in parts]


def _chosen(x: Sequence[int], K: Sequence[Sequence[int]], scores: Sequence[int]) -> Matrix | None:
    query = query_for(K, scores)
    return None if query is None else weights_for(x, query)


# ------------------------------------------------------------------------------------------------ parts


def _normalised(parts: Sequence[int]) -> Matrix:
    return Matrix([[Fraction(part, sum(parts)) for part in parts]])


def _ratio(parts: Sequence[int]) -> str:
    """1 : 2 : 1, on one line."""
    return "\N{NO-BREAK SPACE}:\N{NO-BREAK SPACE}".join(map(str, parts))


def _frozen(parts: Sequence[int]) -> list[Json]:
    return [f"{part}/{sum(parts)}" for part in parts]


def _shown(say: Prose, name: str, value: Matrix) -> Display:
    return Display((Relation((say.formula(name), say.values(value)), ("=",)),))


def _part(title: str, ask: Sequence[Block], key: Sequence[Block], answer: Answer, *marks: Mark) -> Part:
    return Part("", (Words(title),), tuple(ask), tuple(key), answer, marks)


def _scores_parts(item: Item, content: Content, say: Prose) -> list[Part]:
    rows = item["weights"]
    A = Matrix.of(_normalised(parts).rows[0] for parts in rows)
    model = Matrix([[f"ln({part})" if part > 1 else 0 for part in parts] for parts in rows])
    answer = PropertyAnswer("weights of scores", {"base": "e", "weights": [_frozen(p) for p in rows]}, {"S": model})
    ask: list[Block] = [
        say.paragraph("Find scores $S$ that softmax (with base $e$) turns into these weights. Logarithms may stand."),
        say.equations(A=A),
        AnswerGrid(say.formula("S"), 2, 3, "exponential"),
    ]
    key: list[Block] = [
        say.paragraph(
            "The powers $e^{s_{i,j}}$ of a row must be in the proportions of its weights, so logarithms of whole "
            "numbers in those proportions will do. Any constant may be added to a row."
        ),
        say.equations(S=model),
    ]
    return [_part("Scores from weights", ask, key, answer, Mark("M", 1), Mark("A", 2, "one for each row"))]


def _exact_parts(item: Item, content: Content, say: Prose) -> list[Part]:
    x, K = cast("Any", content["X"])[item["token"]], cast("Any", content["K"])
    scores = _logs(item["weights"])
    query, model = query_for(K, scores), _chosen(x, K, scores)
    assert query is not None
    assert model is not None
    parameters: Content = {"asked": "W_Q", "x": x, "K": K, "base": 2, "weights": _frozen(item["weights"])}
    ask: list[Block] = [
        say.paragraph(
            f"With softmax to base 2, choose $W_Q$ so that the weights of token $x_{item['token'] + 1}$ are exactly in "
            f"the ratio {_ratio(item['weights'])}.",
        ),
        WorkingSpace(36),
        AnswerGrid(say.formula("W_Q"), 2, 2, "fraction"),
    ]
    key: list[Block] = [
        say.paragraph(
            "Powers of 2 are in this proportion if the scores are $scores$ up to a constant. The query $q$ has them, "
            "and $x W_Q = q$ with $x = row$ holds for",
            scores=say.row(scores), row=say.values(Matrix([x])),
        ),
        Display((Relation((say.formula("q"), say.values(Matrix([query]))), ("=",)), say.equation("W_Q", model))),
        _scores_line(say, x, K, model),
    ]  # fmt: skip
    answer = PropertyAnswer("exact weights", parameters, {"W_Q": model})
    marks = (Mark("M", 1, "differences of scores"), Mark("M", 1, "a query"), Mark("A", 1))
    return [_part("Exact weights", ask, key, answer, *marks)]


def _scores_line(say: Prose, x: Sequence[int], K: Sequence[Sequence[int]], W: Matrix) -> Paragraph:
    scores = MatMul().apply(MatMul().apply(Matrix([x]), W), Matrix(K).T).rows[0]
    return say.paragraph(
        "Its scores are $scores$. Any other matrix with the property is right as well.", scores=say.row(scores)
    )


def _attend_parts(item: Item, content: Content, say: Prose) -> list[Part]:
    token, to = item["token"], item["to"]
    x, K = cast("Any", content["X"])[token], cast("Any", content["K"])
    model = _chosen(x, K, [GAP if j == to else 0 for j in range(3)])
    assert model is not None
    parameters: Content = {"asked": "W_Q", "x": x, "K": K, "base": "e", "to": to, "least": LEAST}
    ask: list[Block] = [
        say.paragraph(
            "With softmax to base $e$, choose $W_Q$ so that token $x_{token}$ gives $x_{other}$ a weight of at least "
            "0.99.",
            token=token + 1,
            other=to + 1,
        ),
        WorkingSpace(36),
        AnswerGrid(say.formula("W_Q"), 2, 2, "fraction"),
    ]
    key: list[Block] = [
        say.paragraph(
            "The score of $k_{key}$ must be greater than the two others by so much that "
            "$e^{-d} + e^{-d'} ≤ frac(1, 99)$ for the two differences; 6 is enough for both, since $2 e^{-6}$ is about "
            "0.005. One such choice:",
            key=to + 1,
        ),
        say.equations(W_Q=model),
        _scores_line(say, x, K, model),
    ]
    answer = PropertyAnswer("attends", parameters, {"W_Q": model})
    marks = (Mark("M", 1, "differences of scores"), Mark("M", 1, "a query"), Mark("A", 1))
    return [_part("One token only", ask, key, answer, *marks)]


def _keys_parts(item: Item, content: Content, say: Prose) -> list[Part]:
    q, scores = item["q"], _logs(item["weights"])
    unit = next(i for i, a in enumerate(q) if abs(a) == 1)
    model = Matrix([[s * q[unit] if c == unit else 0 for c in range(2)] for s in scores])
    parameters: Content = {
        "asked": "K", "q": q, "shape": [3, 2], "base": 2, "weights": _frozen(item["weights"]),
    }  # fmt: skip
    ask: list[Block] = [
        say.paragraph(
            "A query is $q = row$. With softmax to base 2, choose keys $K$ so that its weights are exactly in the "
            "ratio {ratio}.",
            row=say.values(Matrix([q])), ratio=_ratio(item["weights"]),
        ),
        WorkingSpace(24),
        AnswerGrid(say.formula("K"), 3, 2, "fraction"),
    ]  # fmt: skip
    key: list[Block] = [
        say.paragraph(
            "Powers of 2 are in this proportion if the scores are $scores$ up to a constant. Keys with one entry each "
            "will do:",
            scores=say.row(scores),
        ),
        say.equations(K=model),
        say.paragraph("Any other keys with these differences of scores are right as well."),
    ]  # fmt: skip
    answer = PropertyAnswer("exact weights", parameters, {"K": model})
    return [_part("Keys", ask, key, answer, Mark("M", 1, "differences of scores"), Mark("A", 2))]


def _missing_parts(item: Item, content: Content, say: Prose) -> list[Part]:
    x, K, W = cast("Any", content["X"])[item["token"]], cast("Any", content["K"]), item["W_Q"]
    row, column = item["entry"]
    scores = _scores(x, W, K)
    cells = [[say.number(w) for w in line] for line in W]
    cells[row][column] = say.formula("w")
    ask: list[Block] = [
        say.paragraph(
            "With softmax to base 2, the weights of token $x_{token}$ are in the ratio {ratio}. Find the entry $w$ of",
            token=item["token"] + 1,
            ratio=_ratio([2 ** (s - min(scores)) for s in scores]),
        ),
        Display((Relation((say.formula("W_Q"), say.wording.grid(cells)), ("=",)),)),
        WorkingSpace(30),
        FillIns((FillIn((Math(say.formula("w")), Words(" =")), 20),)),
    ]
    zero, one = (_scores(x, _with(W, row, column, w), K) for w in (0, 1))
    terms = ", ".join(_linear(a, b - a) for a, b in zip(zero, one, strict=True))
    key: list[Block] = [
        say.paragraph("The scores are $scores$.", scores=say.formula(f"[{terms}]")),
        say.paragraph(
            "By the weights, the scores differ from the first one by $differences$, which gives $w = value$.",
            differences=say.row([s - scores[0] for s in scores[1:]]), value=say.number(W[row][column]),
        ),
    ]  # fmt: skip
    answer = FormulaAnswer(W[row][column])
    return [_part("A missing entry", ask, key, answer, Mark("M", 1), Mark("A", 1))]


def _linear(constant: int, slope: int) -> str:
    """3 − 2w as a formula to be read."""
    term = f"{abs(slope)} w" if abs(slope) > 1 else "w"
    if not slope or not constant:
        return str(constant) if not slope else f"-{term}" if slope < 0 else term
    return f"{constant} {'-' if slope < 0 else '+'} {term}"


def _with(W: Sequence[Sequence[int]], row: int, column: int, value: int) -> list[list[int]]:
    return [[value if (i, j) == (row, column) else w for j, w in enumerate(line)] for i, line in enumerate(W)]


def _mask_parts(item: Item, content: Content, say: Prose) -> list[Part]:
    V, seen = item["V"], item["seen"]
    Z = Matrix.of([divide(x, 1) for x in _mean(V, subset)] for subset in seen)
    hidden = frozenset((i, j) for i in range(3) for j in range(3) if j not in seen[i])
    rows, columns = (tuple(say.formula(f"{letter}_{i}") for i in (1, 2, 3)) for letter in "qk")
    name = say.formula('"mask"')
    ask: list[Block] = [
        say.paragraph(
            "All scores are equal. Choose a mask that gives the values $V$ the outputs $Z$: shade the cells that it "
            "hides."
        ),
        say.equations(V=Matrix(V), Z=Z),
        AnswerGrid(name, 3, 3, shade=True, row_labels=rows, column_labels=columns),
    ]
    lines = []
    for i, subset in enumerate(seen, 1):
        text = "$z_{row}$ is the mean of {values}." if len(subset) > 1 else "$z_{row}$ is {values}."
        lines.append(say(text, row=i, values=say.formulas([f"v_{j + 1}" for j in subset], "and")))
    grid = tuple(tuple("hidden" if (i, j) in hidden else "seen" for j in range(3)) for i in range(3))
    table = say.wording.grid([[say.formula(f'"{word}"') for word in line] for line in grid], "spaces")
    key: list[Block] = [
        say.paragraph("With equal scores an output is the mean of the values that are seen."),
        ItemList(tuple(lines)),
        Display((Relation((name, table), ("=",)),)),
    ]
    return [_part("A mask", ask, key, CellsAnswer((3, 3), hidden), Mark("B", 3, "one for each row"))]


def _impossible_parts(item: Item, content: Content, say: Prose) -> list[Part]:
    X, K, tokens, wishes = item["X"], item["K"], item["tokens"], item["weights"]
    offers = []
    for token, parts in zip(tokens, wishes, strict=True):
        wish = say("The weights of token $x_{token}$ are in the ratio {ratio}.", token=token + 1, ratio=_ratio(parts))
        query = query_for(K, _logs(parts))
        possible = query is not None and weights_for(X[token], query) is not None
        why = (
            say(
                "the query $q = found$ has these weights, and $x_{token} W_Q = q$ has a solution.",
                found=say.values(Matrix([query])),
                token=token + 1,
            )
            if possible and query is not None
            else say("no $W_Q$ does this; the next part says why.")
        )
        offers.append(Offer(wish, why, right=not possible))
    ask: list[Block] = [
        say.paragraph(
            "Now other inputs and keys are given, and softmax has base 2:"
            if _has_given(content)
            else "These inputs and keys are given, and softmax has base 2:"
        ),
        say.equations(X=Matrix(X), K=Matrix(K)),
        say.paragraph(
            "Two of these wishes can be fulfilled, each by a $W_Q$ of its own. Tick the one that no $W_Q$ can fulfil."
        ),
        choices(offers),
    ]
    first = _part("An impossible wish", ask, choices_key(offers), choice(offers), Mark("B", 1))
    if item["reason"] == "equal keys":
        one, other = (j + 1 for j in item["about"])
        points = (
            say(
                "two keys are equal, $k_{one} = k_{other}$, so every query has the same score with both",
                one=one,
                other=other,
            ),
            say(
                "equal scores have equal weights, but the wish has different ones for $k_{one}$ and $k_{other}$",
                one=one,
                other=other,
            ),
        )
    else:
        zero = item["about"][0] + 1
        points = (
            say(
                "the input $x_{token}$ is zero, so its query is zero and all its scores are 0 whatever $W_Q$ is",
                token=zero,
            ),
            say("equal scores have equal weights, one third each, but the wish has different ones"),
        )
    ask = [say.paragraph("Explain why no $W_Q$ can fulfil it."), WorkingSpace(32, ruled=True)]
    key = [ItemList(points)]
    marks = Mark("B", len(points), "one for each point")
    return [first, _part("Why it is impossible", ask, key, RubricAnswer(points), marks)]


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "scores": Kind("Scores from weights", _draw_scores, _scores_parts),
        "mask": Kind("A mask", _draw_mask, _mask_parts),
        "exact": Kind("Exact weights", _draw_token_pattern, _exact_parts),
        "attend": Kind("One token only", _draw_attend, _attend_parts),
        "keys": Kind("Keys", _draw_keys, _keys_parts),
        "missing": Kind("A missing entry", _draw_missing, _missing_parts),
        "impossible": Kind("An impossible wish", _draw_impossible, _impossible_parts),
    }
)

SHARED = ("exact", "attend", "missing")  # items about the inputs and keys that are given at the top


def _has_given(content: Content) -> bool:
    """Whether inputs and keys stand at the top, for some item is about them."""
    return any(item["kind"] in SHARED for item in cast("list[Item]", content["items"]))


def make(content: Content) -> Question:
    say = prose(str(content["notation"]))
    items = cast("list[Item]", content["items"])
    parts = [part for item in items for part in KINDS[item["kind"]].parts(item, content, say)]
    X, K = (Matrix(cast("Any", content[name])) for name in ("X", "K"))
    given = (say.equations(X=X, K=K),) if _has_given(content) else ()
    return Question(
        type=TYPE.name,
        title="Design attention",
        introduction=(
            say.paragraph(
                "Choose the matrices asked for. Any choice that does what is asked is right; show that it does."
            ),
        ),
        given=given,
        parts=tuple(replace(part, name=letter) for letter, part in zip("abcdefghij", parts, strict=False)),
        content=content,
        conventions=(
            say("Tokens are rows; $Q = X W_Q$ and $S = Q K^T$. Scores are not scaled."),
            say("Softmax goes along each row; its base is given in the question."),
        ),
        features={"load": float(sum(_LOAD[item["kind"]] for item in items))},
        positions=_positions(parts),
    )


_LOAD = {"scores": 6, "mask": 9, "exact": 12, "attend": 12, "keys": 8, "missing": 10, "impossible": 6}


def _positions(parts: Sequence[Part]) -> dict[str, str]:
    """Where the right option stands, for the one item that is a choice."""
    right = "".join(LETTERS[min(part.answer.right)] for part in parts if isinstance(part.answer, ChoiceAnswer))
    return {"impossible wish": right} if right else {}


# ------------------------------------------------------------------------------------------------ proving


def prove(question: Question) -> None:
    """Model answers have their property by the rule and by the whole softmax; single answers are the only ones."""
    for part in question.parts:
        if isinstance(part.answer, PropertyAnswer):
            _prove_property(part.answer)
    for item in cast("list[Item]", question.content["items"]):
        _prove_item(item, question.content)


def _prove_property(answer: PropertyAnswer) -> None:
    said = verdict(answer.rule, answer.parameters, answer.model)
    if not said.holds:
        raise SelfCheckError(f"A model answer does not have its property: {said.says}")
    parameters = cast("Any", answer.parameters)
    found = Softmax(base=parameters["base"]).apply(_scores_of(parameters, answer.model))
    if "to" in parameters:
        holds = compare(found[0, parameters["to"]], exact(LEAST)) >= 0
    else:
        wanted = parameters["weights"]
        holds = found == Matrix(wanted if isinstance(wanted[0], list) else [wanted])
    if not holds:
        raise SelfCheckError(f"A model answer for {answer.rule!r} gives the weights {found}.")


def _scores_of(parameters: Mapping[str, Any], model: Mapping[str, Matrix]) -> Matrix:
    if "S" in model:
        return model["S"]
    times = MatMul().apply
    query = Matrix([parameters["q"]]) if "q" in parameters else times(Matrix([parameters["x"]]), model["W_Q"])
    return times(query, (model["K"] if "K" in model else Matrix(parameters["K"])).T)


def _prove_item(item: Item, content: Content) -> None:
    match item["kind"]:
        case "mask":
            keep = tuple(tuple(j in seen for j in range(3)) for seen in item["seen"])
            A = Softmax().apply(Mask(keep).apply(Matrix([[1] * 3] * 3)))
            means = [_mean(item["V"], subset) for subset in _SUBSETS]
            fitting = [means.count(cast("Any", list(row))) for row in MatMul().apply(A, Matrix(item["V"])).rows]
            if fitting != [1, 1, 1]:
                raise SelfCheckError(f"The outputs of a mask are means of {fitting} sets of values, not of one each.")
        case "missing":
            fitting = _entries_that_fit(item, content)
            if fitting != [item["W_Q"][item["entry"][0]][item["entry"][1]]]:
                raise SelfCheckError(f"A missing entry could be any of {fitting}.")
        case "impossible":
            wishes = zip(item["tokens"], item["weights"], strict=True)
            impossible = [not _fulfillable(item["X"][t], item["K"], parts) for t, parts in wishes]
            if sum(impossible) != 1:
                raise SelfCheckError(f"Of three wishes, {sum(impossible)} are impossible; one was expected.")


def _entries_that_fit(item: Item, content: Content) -> list[int]:
    """Of the whole numbers from −9 to 9 those that give the weights; scores are linear in the entry, so one is all."""
    x, K = cast("Any", content["X"])[item["token"]], cast("Any", content["K"])

    def weights(W: Sequence[Sequence[int]]) -> Matrix:
        return Softmax(base=2).apply(Matrix([_scores(x, W, K)]))

    row, column = item["entry"]
    right = weights(item["W_Q"])
    return [w for w in range(-9, 10) if weights(_with(item["W_Q"], row, column, w)) == right]


def _fulfillable(x: Sequence[int], K: Sequence[Sequence[int]], parts: Sequence[int]) -> bool:
    """Whether x W_Q Kᵀ + c = scores has a solution in all entries of W_Q at once, and c."""
    rows = [[*(a * b for a in x for b in k), 1] for k in K]
    return solution(rows, _logs(parts)) is not None


TYPE = ProblemType(
    name="design",
    title="Design: choose matrices with a property",
    draw=draw,
    make=make,
    prove=prove,
    options={"items": ([], f"which items, in order, of {', '.join(KINDS)}; those of the level where none are named")},
)
