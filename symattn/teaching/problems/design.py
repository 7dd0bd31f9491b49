"""Inverse problems: scores, weight matrices, keys or a mask that make attention do what is wanted (rules.md 5, type 9).

What the student chooses is marked by its property (`properties.py`).  Every wish can be fulfilled because it was made
from an answer, and every one said to be impossible is a linear system without a solution.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from random import Random
from typing import Annotated, Any, TypeVar

from symattn.exact import Matrix, Value, compare, exact
from symattn.formula import equal
from symattn.foundation.dice import pick, sample, shuffled, whole
from symattn.foundation.languages import message
from symattn.foundation.typed import OneOf, plain
from symattn.page.document import AnswerGrid, Display, Inlines, ItemList, WorkingSpace, as_text
from symattn.teaching.problems.asking import (
    WORKED_OUT,
    BlockLike,
    Offer,
    Prose,
    choice_part,
    make_part,
    named,
    number_part,
)
from symattn.teaching.problems.draws import Draw, Item, ProblemType, ProvedQuestion, question
from symattn.teaching.problems.systems import (
    Row,
    Rows,
    as_rows,
    different,
    doubled_area,
    grid,
    mean,
    normalised,
    query_for,
    scores_by,
    scores_of,
    softmax,
    solution,
    times,
    verdict,
    weights_for,
)
from symattn.teaching.question import CellsAnswer, Mark, Part, PropertyAnswer, RubricAnswer

T = TypeVar("T")

ITEMS = {
    "starter": ("scores", "mask", "keys"),
    "standard": ("scores", "exact", "attend", "impossible"),
    "long": ("scores", "mask", "exact", "attend", "missing", "impossible"),
}
LEAST = "99/100"
GAP = 6  # two other scores lower by 6 have weights below 0.0025 each

PATTERNS = ((1, 1, 2), (1, 2, 2), (1, 1, 4), (1, 2, 4), (1, 4, 4), (1, 1, 8), (1, 2, 8))
"""Rows of weights in proportion, with powers of 2 (rules.md 4.3)."""

LOG_PATTERNS = (
    (1, 2, 3), (1, 3, 4), (1, 2, 5), (2, 3, 5), (1, 3, 6), (1, 4, 5), (2, 3, 7), (1, 5, 6), (3, 4, 5), (1, 2, 7),
)  # fmt: skip
"""Rows of weights in proportion, with logarithms for scores."""

SUBSETS = tuple(subset for size in (1, 2, 3) for subset in combinations(range(3), size))
QUERY_MARKS = (Mark("M", 1, "differences of scores"), Mark("M", 1, "a query"), Mark("A", 1))


@dataclass(frozen=True)
class SharedInputs:
    """Inputs and keys that several items share, which stand at the top if one of them is about them (`shown`)."""

    X: Rows
    K: Rows
    shown: bool


def inputs_and_keys(rng: Random) -> tuple[Rows, Rows]:
    """Three tokens, and keys at the corners of a triangle whose area lets whole scores have whole queries."""
    while True:
        X, K = grid(rng, 3, 2, -1, 2), grid(rng, 3, 2, -1, 2)
        one_each = all(1 in map(abs, x) for x in X)
        independent = all(x[0] * y[1] != x[1] * y[0] for x, y in combinations(X, 2))
        if one_each and independent and abs(doubled_area(K)) == 1 and all(map(any, K)):
            return X, K


def _pattern(rng: Random) -> Row:
    return tuple(shuffled(rng, pick(rng, PATTERNS)))


def _ratio(parts: Sequence[int]) -> str:
    """1 : 2 : 1, on one line."""
    return "\N{NO-BREAK SPACE}:\N{NO-BREAK SPACE}".join(map(str, parts))


def _fractions(parts: Row) -> tuple[str, ...]:
    return tuple(f"{part}/{sum(parts)}" for part in parts)


def _logs(parts: Row) -> Row:
    """Base-2 logarithms of powers of 2."""
    return tuple(part.bit_length() - 1 for part in parts)


def _property(rule: str, say: Prose, model: Mapping[str, Matrix], **wanted: object) -> PropertyAnswer:
    """A model answer, and what it must be like."""
    parameters = plain({**({"tokens": "columns"} if say.columns else {}), **wanted})
    return PropertyAnswer(rule, parameters, {name: say.turned(matrix) for name, matrix in model.items()})


# ------------------------------------------------------------------------------------------------ items


def scores_from_weights(draw: Draw, say: Prose, given: SharedInputs) -> Item:
    weights = draw(
        "weights",
        lambda rng: tuple(tuple(shuffled(rng, pick(rng, LOG_PATTERNS))) for _ in range(2)),
        lambda rows: sorted(rows[0]) != sorted(rows[1]),
    )
    model = Matrix([[f"ln({part})" if part > 1 else 0 for part in parts] for parts in weights])
    asked = (
        say(
            "Find scores $S$ that softmax (with base $e$) turns into these weights. Logarithms may be left as they are."
        ),
        say.equations(A=normalised(*weights)),
        say.boxes("S", (2, 3), "exponential"),
    )
    key = (
        say(
            "The powers $e^{s_{i,j}}$ of a row must be in the proportions of its weights, so logarithms of whole "
            "numbers in those proportions will do. Any constant may be added to a row.",
            "The powers $e^{s_{i,j}}$ of a column must be in the proportions of its weights, so logarithms of whole "
            "numbers in those proportions will do. Any constant may be added to a column.",
        ),
        say.equations(S=model),
    )
    answer = _property("weights of scores", say, {"S": model}, base="e", weights=tuple(map(_fractions, weights)))
    each = Mark("A", 2, say.either("one for each row", "one for each column"), "rows")
    return Item(make_part("Scores from weights", asked, key, answer, Mark("M", 1), each), _has_property, 6)


def _query(x: Row, K: Rows, scores: Row) -> tuple[list[Fraction], Matrix]:
    """A query with these scores up to a constant, and weights that make it of the token."""
    query = query_for(K, scores)
    assert query is not None
    weights = weights_for(x, query)
    assert weights is not None
    return query, weights


def _weights_item(
    title: str, asked: Inlines, rule: str, model: Matrix, key: Sequence[BlockLike], x: Row, K: Rows, say: Prose,
    **wanted: object,
) -> Item:  # fmt: skip
    """A W_Q that makes the token x have scores with these keys that are as they are wanted."""
    scores = times(times(Matrix([x]), model), Matrix(K).T).rows[0]
    last = say("Its scores are $scores$. Any other matrix with the property is right as well.", scores=scores)
    answer = _property(rule, say, {"W_Q": model}, asked="W_Q", x=x, K=K, **wanted)
    boxes = AnswerGrid(say.formula("W_Q"), 2, 2, "fraction")
    part = make_part(title, [asked, WorkingSpace(36), boxes], [*key, last], answer, *QUERY_MARKS)
    return Item(part, _has_property, 12)


def weights_of_token(draw: Draw, say: Prose, given: SharedInputs) -> Item:
    token, weights = draw.whole("token", 0, 2), draw("weights", _pattern)
    x, K, scores = given.X[token], given.K, _logs(weights)
    query, model = _query(x, K, scores)
    asked = say(
        "With softmax to base 2, choose $W_Q$ so that the weights of token $x_{token}$ are exactly in the "
        "ratio {ratio}.",
        token=token + 1,
        ratio=_ratio(weights),
    )
    key = (
        say(
            "The powers of 2 are in this ratio if the scores are $scores$ up to a constant. The query $q$ gives "
            "these scores, and $x W_Q = q$ with $x = row$ holds for",
            scores=scores,
            row=Matrix([x]),
        ),
        Display((say.equation("q", Matrix([query])), say.equation("W_Q", model))),
    )
    wanted = {"base": 2, "weights": _fractions(weights)}
    return _weights_item("Exact weights", asked, "exact weights", model, key, x, K, say, **wanted)


def one_token(draw: Draw, say: Prose, given: SharedInputs) -> Item:
    token, to = draw.several("token to", lambda rng: sample(rng, range(3), 2))
    x, K = given.X[token], given.K
    _, model = _query(x, K, tuple(GAP if j == to else 0 for j in range(3)))
    asked = say(
        "With softmax to base $e$, choose $W_Q$ so that token $x_{token}$ gives $x_{other}$ a weight of at least 0.99.",
        token=token + 1,
        other=to + 1,
    )
    key = (
        say(
            "The score of $k_{key}$ must exceed the other two by differences $d$ and $d'$ with $e^{-d} + "
            "e^{-d'} ≤ frac(1, 99)$; 6 is enough for both, since $2 e^{-6}$ is about 0.005. One such choice:",
            key=to + 1,
        ),
        say.equations(W_Q=model),
    )
    return _weights_item("One token only", asked, "attends", model, key, x, K, say, base="e", to=to, least=LEAST)


def keys_for_weights(draw: Draw, say: Prose, given: SharedInputs) -> Item:
    q = draw("q", lambda rng: tuple(shuffled(rng, [pick(rng, [-1, 1]), pick(rng, [-3, -2, 2, 3])])))
    weights = draw("weights", _pattern)
    scores, unit = _logs(weights), next(i for i, a in enumerate(q) if abs(a) == 1)
    model = Matrix([[s * q[unit] if c == unit else 0 for c in range(2)] for s in scores])
    asked = (
        say(
            "A query is $q = row$. With softmax to base 2, choose keys $K$ so that its weights are exactly in the "
            "ratio {ratio}.",
            row=Matrix([q]),
            ratio=_ratio(weights),
        ),
        WorkingSpace(24),
        say.boxes("K", (3, 2), "fraction"),
    )
    key = (
        say(
            "Powers of 2 are in this proportion if the scores are $scores$ up to a constant. Keys with one entry "
            "each will do:",
            scores=scores,
        ),
        say.equations(K=model),
        "Any other keys with these differences of scores are right as well.",
    )
    answer = _property(
        "exact weights", say, {"K": model}, asked="K", q=q, shape=(3, 2), base=2, weights=_fractions(weights)
    )
    marks = Mark("M", 1, "differences of scores"), Mark("A", 2)
    return Item(make_part("Keys", asked, key, answer, *marks), _has_property, 8)


def missing_entry(draw: Draw, say: Prose, given: SharedInputs) -> Item:
    """A query matrix of whole numbers with modest scores, and one entry of it that its token's weights betray."""

    def candidate(rng: Random) -> tuple[Rows, int, tuple[int, int]]:
        return grid(rng, 2, 2, -2, 2), whole(rng, 0, 2), (whole(rng, 0, 1), whole(rng, 0, 1))

    def is_suitable(W: Rows, token: int, entry: tuple[int, int]) -> bool:
        (row, column), scores = entry, scores_of(given.X[token], W, given.K)
        telling = W[row][column] and given.X[token][row] and len({k[column] for k in given.K}) > 1
        return bool(1 <= max(scores) - min(scores) <= 3 and telling)

    W, token, (row, column) = draw.several("W_Q token entry", candidate, is_suitable)
    right = W[row][column]

    def with_entry(value: T) -> list[list[int | T]]:
        return [[value if (i, j) == (row, column) else w for j, w in enumerate(r)] for i, r in enumerate(W)]

    def scores_with(value: int) -> Row:
        return scores_of(given.X[token], tuple(map(tuple, with_entry(value))), given.K)

    def check(part: Part) -> str:
        """Of the whole numbers from −9 to 9; scores are linear in the entry, so that one is all."""
        weights = {value: softmax([scores_with(value)], base=2) for value in range(-9, 10)}
        fitting = [value for value, row in weights.items() if row == weights[right]]
        return "" if fitting == [right] else f"the missing entry could be any of {fitting}"

    scores = scores_with(right)
    cells = [list(map(say.shown, r)) for r in with_entry(say.formula("w"))]
    shown = say.wording.grid(zip(*cells, strict=True) if say.columns else cells)
    asked = (
        say(
            "With softmax to base 2, the weights of token $x_{token}$ are in the ratio {ratio}. Find the entry $w$ of",
            token=token + 1,
            ratio=_ratio([2 ** (s - min(scores)) for s in scores]),
        ),
        Display((equal(say.formula("W_Q"), shown),)),
    )
    terms = [_linear(a, b - a) for a, b in zip(scores_with(0), scores_with(1), strict=True)]
    in_row = say.formula(f"[{', '.join(terms)}]")
    key = (
        say(
            "The scores are $scores$.",
            scores=say.wording.grid([[say.formula(term)] for term in terms]) if say.columns else in_row,
        ),
        say(
            "From the weights, the scores differ from the first one by $differences$, which gives $w = value$.",
            differences=[s - scores[0] for s in scores[1:]],
            value=right,
        ),
    )
    label = named(say.formula("w"))
    return Item(number_part("A missing entry", asked, label, right, key, *WORKED_OUT, room=30, width=20), check, 10)


def _linear(constant: int, slope: int) -> str:
    """3 − 2w as a formula to be read."""
    term = f"{abs(slope)} w" if abs(slope) > 1 else "w"
    if not slope or not constant:
        return str(constant) if not slope else f"-{term}" if slope < 0 else term
    return f"{constant} {'-' if slope < 0 else '+'} {term}"


def mask_for_outputs(draw: Draw, say: Prose, given: SharedInputs) -> Item:
    """Values whose subsets all have different means, and a set of visible tokens for each query."""

    def means(V: Rows, sets: Rows) -> list[tuple[Value, ...]]:
        return [mean([V[j] for j in tokens]) for tokens in sets]

    def is_suitable(V: Rows, seen: Rows) -> bool:
        return different(means(V, SUBSETS)) and len({*map(len, seen)}) > 1 and different(seen)

    V, seen = draw.several(
        "V seen", lambda rng: (grid(rng, 3, 2, -3, 6), tuple(pick(rng, SUBSETS) for _ in range(3))), is_suitable
    )

    def check(part: Part) -> str:
        keep = tuple(tuple(j in tokens for j in range(3)) for tokens in seen)
        A = softmax([[1] * 3] * 3, keep)
        fitting = [means(V, SUBSETS).count(row) for row in times(A, Matrix(V)).rows]
        return "" if fitting == [1, 1, 1] else f"the outputs are means of {fitting} sets of values, not of one each"

    cells = ((i, j) for i in range(3) for j in range(3) if j not in seen[i])
    hidden = frozenset((j, i) if say.columns else (i, j) for i, j in cells)
    rows, columns = (tuple(say.formula(f"{letter}_{i}") for i in (1, 2, 3)) for letter in say.either("qk", "kq"))
    name = say.formula('"mask"')
    asked = (
        say(
            "All scores are equal. Choose a mask that gives the values $V$ the outputs $Z$: shade the cells that it "
            "hides."
        ),
        say.equations(V=Matrix(V), Z=Matrix.of(means(V, seen))),
        AnswerGrid(name, 3, 3, shade=True, row_labels=rows, column_labels=columns),
    )
    lines = [
        say(
            "$z_{row}$ is the mean of {values}." if len(tokens) > 1 else "$z_{row}$ is {values}.",
            row=i,
            values=say.formulas([f"v_{j + 1}" for j in tokens], "and"),
        )
        for i, tokens in enumerate(seen, 1)
    ]
    shown, shaded = say.formula('"visible"'), say.formula('"hidden"')
    table = say.wording.grid([[shaded if (i, j) in hidden else shown for j in range(3)] for i in range(3)], "spaces")
    key = (
        "With equal scores an output is the mean of the visible values.",
        ItemList(tuple(lines)),
        Display((equal(name, table),)),
    )
    each = Mark("B", 3, say.either("one for each row", "one for each column"), "rows")
    return Item(make_part(message("A mask"), asked, key, CellsAnswer((3, 3), hidden, say.columns), each), check, 9)


def impossible_wish(draw: Draw, say: Prose, given: SharedInputs) -> Item:
    """Three wishes for single tokens, one of them impossible: for equal keys, or for an input that is zero.

    It is `about` the two keys, or the input.
    """
    reason, X, K, weights, tokens, about = draw.several(
        "reason X K weights tokens about", lambda rng: _wishes(rng, given, draw.turn)
    )

    def offer(token: int, parts: Row) -> Offer:
        wish = say("The weights of token $x_{token}$ are in the ratio {ratio}.", token=token + 1, ratio=_ratio(parts))
        query = query_for(K, _logs(parts))
        if query is None or weights_for(X[token], query) is None:
            return Offer(wish, say("no $W_Q$ does this; the next part says why."), right=True)
        why = "the query $q = found$ has these weights, and $x_{token} W_Q = q$ has a solution."
        return Offer(wish, say(why, found=Matrix([query]), token=token + 1))

    def check(part: Part) -> str:
        """x W_Q Kᵀ + c = scores has a solution in all entries of W_Q at once, and c, for two of three wishes."""

        def system(token: int) -> list[list[int]]:
            return [[*(a * b for a in X[token] for b in k), 1] for k in K]

        wishes = zip(tokens, weights, strict=True)
        impossible = sum(solution(system(token), _logs(parts)) is None for token, parts in wishes)
        return "" if impossible == 1 else f"of three wishes, {impossible} are impossible; one was expected"

    offers = [offer(token, parts) for token, parts in zip(tokens, weights, strict=True)]
    own = say.equations(X=Matrix(X), K=Matrix(K))
    asked = (
        say(
            "Now other inputs and keys are given, and softmax has base 2:"
            if given.shown
            else "These inputs and keys are given, and softmax has base 2:"
        ),
        own,
        say("Two of these requests can be met, each by a $W_Q$ of its own. Tick the one that no $W_Q$ can meet."),
    )
    first = choice_part("An impossible request", asked, offers, key=[own])
    if reason == "equal keys":
        names = {"one": about[0] + 1, "other": about[1] + 1}
        points = (
            say("two keys are equal, $k_{one} = k_{other}$, so every query has the same score with both", **names),
            say(
                "equal scores have equal weights, but the request has different ones for $k_{one}$ and $k_{other}$",
                **names,
            ),
        )
    else:
        points = (
            say(
                "the input $x_{token}$ is zero, so its query is zero and all its scores are 0 whatever $W_Q$ is",
                token=about[0] + 1,
            ),
            as_text("equal scores have equal weights, one third each, but the request has different ones"),
        )
    why = say("Explain why no $W_Q$ can meet it."), WorkingSpace(32, ruled=True)
    marks = Mark("B", len(points), "one for each point")
    second = make_part("Why it is impossible", why, [ItemList(points)], RubricAnswer(points), marks)
    return Item(first, check, 6, "impossible request", (second,))


def _wishes(rng: Random, given: SharedInputs, turn: int) -> tuple[str, list[Row], list[Row], list[Row], list[int], Row]:
    """Other inputs and keys with no row of those given: what changed must not tell which wish is impossible."""
    while True:
        others, keys = inputs_and_keys(rng)
        if not {*others} & {*given.X} and not {*keys} & {*given.K}:
            break
    X, K, place = list(others), list(keys), (turn - 1) % 3
    if turn % 2 == 0:
        one, two = sorted(sample(rng, range(3), 2))
        K[two] = K[one]

        def wish(of_one: int, of_two: int, of_third: int) -> Row:
            parts = {one: of_one, two: of_two, 3 - one - two: of_third}
            return tuple(parts[j] for j in range(3))

        wishes = [wish(a, a, b) for a, b in sample(rng, [(1, 2), (1, 4), (2, 1), (4, 1)], 2)]
        odd = shuffled(rng, [1, 2])
        wishes.insert(place, wish(odd[0], odd[1], pick(rng, [1, 4])))
        return "equal keys", X, K, wishes, shuffled(rng, [0, 1, 2]), (one, two)
    zero = whole(rng, 0, 2)
    X[zero] = (0, 0)
    order = [t for t in range(3) if t != zero]
    order.insert(place, zero)
    return "zero input", X, K, [tuple(shuffled(rng, parts)) for parts in sample(rng, PATTERNS, 3)], order, (zero,)


KINDS: Mapping[str, Callable[[Draw, Prose, SharedInputs], Item]] = {
    "scores": scores_from_weights,
    "mask": mask_for_outputs,
    "exact": weights_of_token,
    "attend": one_token,
    "keys": keys_for_weights,
    "missing": missing_entry,
    "impossible": impossible_wish,
}
ABOUT_GIVEN = {"exact", "attend", "missing"}

# ------------------------------------------------------------------------------------------------ the question


def ask(draw: Draw) -> ProvedQuestion:
    say = draw.prose(turns=True)
    X, K = draw.several("X K", inputs_and_keys)
    items = draw.each("items", lambda: [{"kind": kind} for kind in draw.option("items") or ITEMS[draw.spec.level]])
    given = SharedInputs(X, K, any(item["kind"] in ABOUT_GIVEN for item in items))
    return question(
        draw,
        [KINDS[item["kind"]](item, say, given) for item in items],
        title="Design attention",
        introduction="Choose the matrices asked for. Any choice that does what is asked is right; show that it does.",
        given=(say.equations(X=Matrix(X), K=Matrix(K)),) if given.shown else (),
        conventions=(
            say(
                "Tokens are rows; $Q = X W_Q$ and $S = Q K^T$. Scores are not scaled.",
                "Tokens are columns; $Q = X W_Q$ and $S = Q K^T$. Scores are not scaled.",
            ),
            say(
                "Softmax is taken along each row; its base is given in the question.",
                "Softmax is taken along each column; its base is given in the question.",
            ),
        ),
    )


def _has_property(part: Part) -> str:
    """A model answer has its property by the rule and by the whole softmax."""
    assert isinstance(part.answer, PropertyAnswer)
    parameters: Mapping[str, Any] = part.answer.parameters
    judged = verdict(part.answer.rule, parameters, part.answer.model)
    if not judged.holds:
        return f"a model answer does not have its property: {judged.says}"
    found = softmax(scores_by(parameters, as_rows(parameters, part.answer.model)), base=parameters["base"])
    if "to" in parameters:
        holds = compare(found[0, parameters["to"]], exact(parameters["least"])) >= 0
    else:
        wanted = parameters["weights"]
        holds = found == Matrix(wanted if isinstance(wanted[0], list) else [wanted])
    return "" if holds else f"a model answer gives the weights {found}"


TYPE = ProblemType(
    ask,
    name="design",
    title="Design: choose matrices with a property",
    options={
        "items": (
            [],
            f"which items, in order, of {', '.join(KINDS)}; those of the level where none are named",
            tuple[Annotated[str, OneOf(lambda: KINDS)], ...],
        )
    },
)
