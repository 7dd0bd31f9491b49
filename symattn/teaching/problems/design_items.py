"""The items of design problems: each is drawn, asks for something, and proves that nothing else will do.

Every wish can be fulfilled because it was made from an answer, and every one said to be impossible is a linear system
without a solution.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from types import MappingProxyType
from typing import ClassVar, Literal

from symattn.derivation.ops import Mask, MatMul, Softmax
from symattn.errors import SelfCheckError
from symattn.exact import Matrix, divide, exact
from symattn.formula import Relation
from symattn.foundation.dice import pick, sample, shuffled, whole
from symattn.foundation.languages import message
from symattn.foundation.typed import plain
from symattn.page.document import (
    AnswerGrid,
    Block,
    Display,
    FillIn,
    FillIns,
    Inlines,
    ItemList,
    Math,
    Paragraph,
    Words,
    WorkingSpace,
)
from symattn.teaching.problems.asking import Offer, TurningProse, choice, choices, choices_key
from symattn.teaching.problems.properties import Attends, ExactWeights, ExactWeightsByKeys, WeightsOfScores
from symattn.teaching.problems.systems import Row, Rows, normalised, query_for, scores_of, solution, times, weights_for
from symattn.teaching.question import Answer, CellsAnswer, FormulaAnswer, Mark, Part, PropertyAnswer, RubricAnswer

LEAST = "99/100"
GAP = 6  # two other scores lower by 6 have weights below 0.0025 each

PATTERNS = ((1, 1, 2), (1, 2, 2), (1, 1, 4), (1, 2, 4), (1, 4, 4), (1, 1, 8), (1, 2, 8))
"""Rows of weights in proportion, with powers of 2 (rules.md 4.3)."""

LOG_PATTERNS = (
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
"""Rows of weights in proportion, with logarithms for scores."""


# ------------------------------------------------------------------------------------------------ what is given


@dataclass(frozen=True)
class Given:
    """Inputs and keys that several items share, which stand at the top if one of them is about them (`shown`)."""

    X: Rows
    K: Rows
    shown: bool = False

    @classmethod
    def drawn(cls, rng: random.Random) -> Given:
        """Three tokens, and keys at the corners of a triangle whose area lets whole scores have whole queries."""
        while True:
            X, K = _rows(rng), _rows(rng)
            one_each = all(1 in map(abs, x) and any(x) for x in X)
            if one_each and abs(_twice_area(K)) == 1 and _parallel_free(X) and all(any(k) for k in K):
                return cls(X, K)

    def other(self, rng: random.Random) -> Given:
        """Inputs and keys with no row of these: what changed must not tell which wish is impossible."""
        while True:
            other = Given.drawn(rng)
            if not any(row in self.X for row in other.X) and not any(row in self.K for row in other.K):
                return other


def _rows(rng: random.Random) -> Rows:
    return tuple(tuple(whole(rng, -1, 2) for _ in range(2)) for _ in range(3))


def _twice_area(K: Rows) -> int:
    (a, b), (c, d), (e, f) = K
    return (c - a) * (f - b) - (e - a) * (d - b)


def _parallel_free(X: Rows) -> bool:
    return all(a[0] * b[1] != a[1] * b[0] for a, b in combinations(X, 2))


# ------------------------------------------------------------------------------------------------ words and weights


def _ratio(parts: Sequence[int]) -> str:
    """1 : 2 : 1, on one line."""
    return "\N{NO-BREAK SPACE}:\N{NO-BREAK SPACE}".join(map(str, parts))


def _fractions(parts: Row) -> tuple[str, ...]:
    return tuple(f"{part}/{sum(parts)}" for part in parts)


def _logs(parts: Row) -> Row:
    """Base-2 logarithms of powers of 2."""
    return tuple(part.bit_length() - 1 for part in parts)


def _pattern(rng: random.Random) -> Row:
    return tuple(shuffled(rng, pick(rng, PATTERNS)))


def _tokens(say: TurningProse) -> Literal["rows", "columns"]:
    return "columns" if say.columns else "rows"


def _part(title: str, ask: Sequence[Block], key: Sequence[Block], answer: Answer, *marks: Mark) -> Part:
    return Part("", (Words(title),), tuple(ask), tuple(key), answer, marks)


# ------------------------------------------------------------------------------------------------ items


@dataclass(frozen=True)
class Design:
    """One item of a question, with what is drawn for it besides inputs and keys.

    `load` says how much work it is; an item that is `about_given` uses the inputs and keys at the top.
    """

    kind: str

    load: ClassVar[float]
    about_given: ClassVar[bool] = False

    def parts(self, given: Given, say: TurningProse) -> list[Part]:
        """Its parts, without their names."""
        raise NotImplementedError

    def prove(self, given: Given) -> None:
        """`SelfCheckError` where a single answer is not the only one."""


@dataclass(frozen=True)
class ScoresFromWeights(Design):
    kind: Literal["scores"]
    weights: Rows

    load = 6

    @classmethod
    def drawn(cls, rng: random.Random, given: Given, number: int) -> ScoresFromWeights:
        while True:
            rows = tuple(tuple(shuffled(rng, pick(rng, LOG_PATTERNS))) for _ in range(2))
            if sorted(rows[0]) != sorted(rows[1]):
                return cls("scores", rows)

    def parts(self, given: Given, say: TurningProse) -> list[Part]:
        A = Matrix.of(normalised(parts).rows[0] for parts in self.weights)
        model = Matrix([[f"ln({part})" if part > 1 else 0 for part in parts] for parts in self.weights])
        wanted = WeightsOfScores("e", tuple(map(_fractions, self.weights)), tokens=_tokens(say))
        answer = PropertyAnswer("weights of scores", plain(wanted), {"S": say.turned(model)})
        ask: list[Block] = [
            say.paragraph(
                "Find scores $S$ that softmax (with base $e$) turns into these weights. Logarithms "
                "may be left as they are."
            ),
            say.equations(A=A),
            say.boxes(say.formula("S"), (2, 3), "exponential"),
        ]
        key: list[Block] = [
            say.paragraph(_POWERS[say.columns]),
            say.equations(S=model),
        ]
        each = Mark("A", 2, say.either("one for each row", "one for each column"), "rows")
        return [_part("Scores from weights", ask, key, answer, Mark("M", 1), each)]


_POWERS = {
    False: (
        "The powers $e^{s_{i,j}}$ of a row must be in the proportions of its weights, so logarithms of whole "
        "numbers in those proportions will do. Any constant may be added to a row."
    ),
    True: (
        "The powers $e^{s_{i,j}}$ of a column must be in the proportions of its weights, so logarithms of whole "
        "numbers in those proportions will do. Any constant may be added to a column."
    ),
}
"""By whether tokens are columns."""


@dataclass(frozen=True)
class OfToken(Design):
    """An item about one token of the inputs."""

    token: int

    about_given = True

    def model(self, given: Given, scores: Row) -> tuple[list[Fraction], Matrix]:
        """A query with these scores up to a constant, and weights that make it of the token."""
        query = query_for(given.K, scores)
        assert query is not None
        weights = weights_for(given.X[self.token], query)
        assert weights is not None
        return query, weights

    def scores_line(self, given: Given, weights: Matrix, say: TurningProse) -> Paragraph:
        scores = times(times(Matrix([given.X[self.token]]), weights), Matrix(given.K).T).rows[0]
        return say.paragraph(
            "Its scores are $scores$. Any other matrix with the property is right as well.", scores=say.row(scores)
        )


QUERY_MARKS = (Mark("M", 1, "differences of scores"), Mark("M", 1, "a query"), Mark("A", 1))


@dataclass(frozen=True)
class WeightsOfToken(OfToken):
    kind: Literal["exact"]
    weights: Row

    load = 12

    @classmethod
    def drawn(cls, rng: random.Random, given: Given, number: int) -> WeightsOfToken:
        return cls("exact", token=whole(rng, 0, 2), weights=_pattern(rng))

    def parts(self, given: Given, say: TurningProse) -> list[Part]:
        x, scores = given.X[self.token], _logs(self.weights)
        query, model = self.model(given, scores)
        wanted = ExactWeights("W_Q", x, given.K, 2, _fractions(self.weights), tokens=_tokens(say))
        ask: list[Block] = [
            say.paragraph(
                "With softmax to base 2, choose $W_Q$ so that the weights of token $x_{token}$ are exactly in the "
                "ratio {ratio}.",
                token=self.token + 1,
                ratio=_ratio(self.weights),
            ),
            WorkingSpace(36),
            AnswerGrid(say.formula("W_Q"), 2, 2, "fraction"),
        ]
        key: list[Block] = [
            say.paragraph(
                "The powers of 2 are in this ratio if the scores are $scores$ up to a constant. The query $q$ gives "
                "these scores, and $x W_Q = q$ with $x = row$ holds for",
                scores=say.row(scores),
                row=say.values(Matrix([x])),
            ),
            Display((say.equation("q", Matrix([query])), say.equation("W_Q", model))),
            self.scores_line(given, model, say),
        ]
        answer = PropertyAnswer("exact weights", plain(wanted), {"W_Q": say.turned(model)})
        return [_part("Exact weights", ask, key, answer, *QUERY_MARKS)]


@dataclass(frozen=True)
class OneToken(OfToken):
    kind: Literal["attend"]
    to: int

    load = 12

    @classmethod
    def drawn(cls, rng: random.Random, given: Given, number: int) -> OneToken:
        token, to = sample(rng, range(3), 2)
        return cls("attend", token, to)

    def parts(self, given: Given, say: TurningProse) -> list[Part]:
        _, model = self.model(given, tuple(GAP if j == self.to else 0 for j in range(3)))
        wanted = Attends("W_Q", given.X[self.token], given.K, "e", self.to, LEAST, tokens=_tokens(say))
        ask: list[Block] = [
            say.paragraph(
                "With softmax to base $e$, choose $W_Q$ so that token $x_{token}$ gives $x_{other}$ a weight of at "
                "least 0.99.",
                token=self.token + 1,
                other=self.to + 1,
            ),
            WorkingSpace(36),
            AnswerGrid(say.formula("W_Q"), 2, 2, "fraction"),
        ]
        key: list[Block] = [
            say.paragraph(
                "The score of $k_{key}$ must exceed the other two by differences $d$ and $d'$ with $e^{-d} + "
                "e^{-d'} ≤ frac(1, 99)$; 6 is enough for both, since $2 e^{-6}$ is about 0.005. One such choice:",
                key=self.to + 1,
            ),
            say.equations(W_Q=model),
            self.scores_line(given, model, say),
        ]
        answer = PropertyAnswer("attends", plain(wanted), {"W_Q": say.turned(model)})
        return [_part("One token only", ask, key, answer, *QUERY_MARKS)]


@dataclass(frozen=True)
class Keys(Design):
    kind: Literal["keys"]
    q: Row
    weights: Row

    load = 8

    @classmethod
    def drawn(cls, rng: random.Random, given: Given, number: int) -> Keys:
        q = shuffled(rng, [pick(rng, [-1, 1]), pick(rng, [-3, -2, 2, 3])])
        return cls("keys", tuple(q), _pattern(rng))

    def parts(self, given: Given, say: TurningProse) -> list[Part]:
        scores = _logs(self.weights)
        unit = next(i for i, a in enumerate(self.q) if abs(a) == 1)
        model = Matrix([[s * self.q[unit] if c == unit else 0 for c in range(2)] for s in scores])
        wanted = ExactWeightsByKeys("K", self.q, (3, 2), 2, _fractions(self.weights), tokens=_tokens(say))
        ask: list[Block] = [
            say.paragraph(
                "A query is $q = row$. With softmax to base 2, choose keys $K$ so that its weights are exactly in the "
                "ratio {ratio}.",
                row=say.values(Matrix([self.q])),
                ratio=_ratio(self.weights),
            ),
            WorkingSpace(24),
            say.boxes(say.formula("K"), (3, 2), "fraction"),
        ]
        key: list[Block] = [
            say.paragraph(
                "Powers of 2 are in this proportion if the scores are $scores$ up to a constant. Keys with one entry "
                "each will do:",
                scores=say.row(scores),
            ),
            say.equations(K=model),
            say.paragraph("Any other keys with these differences of scores are right as well."),
        ]
        answer = PropertyAnswer("exact weights", plain(wanted), {"K": say.turned(model)})
        return [_part("Keys", ask, key, answer, Mark("M", 1, "differences of scores"), Mark("A", 2))]


@dataclass(frozen=True)
class MissingEntry(Design):
    """A query matrix of whole numbers, and one entry of it that its token's weights betray."""

    kind: Literal["missing"]
    W_Q: Rows
    token: int
    entry: tuple[int, int]

    load = 10
    about_given = True

    @classmethod
    def drawn(cls, rng: random.Random, given: Given, number: int) -> MissingEntry:
        """One with modest scores."""
        while True:
            W = tuple(tuple(whole(rng, -2, 2) for _ in range(2)) for _ in range(2))
            token, row, column = whole(rng, 0, 2), whole(rng, 0, 1), whole(rng, 0, 1)
            scores = scores_of(given.X[token], W, given.K)
            telling = W[row][column] and given.X[token][row] and len({k[column] for k in given.K}) > 1
            if 1 <= max(scores) - min(scores) <= 3 and telling:
                return cls("missing", W, token, (row, column))

    def scores(self, given: Given, value: int) -> Row:
        """The token's scores with this value for the entry."""
        W = tuple(
            tuple(value if (i, j) == self.entry else w for j, w in enumerate(row)) for i, row in enumerate(self.W_Q)
        )
        return scores_of(given.X[self.token], W, given.K)

    @property
    def right(self) -> int:
        row, column = self.entry
        return self.W_Q[row][column]

    def parts(self, given: Given, say: TurningProse) -> list[Part]:
        scores = self.scores(given, self.right)
        cells = [[say.number(w) for w in row] for row in self.W_Q]
        row, column = self.entry
        cells[row][column] = say.formula("w")
        if say.columns:
            cells = [list(line) for line in zip(*cells, strict=True)]
        ask: list[Block] = [
            say.paragraph(
                "With softmax to base 2, the weights of token $x_{token}$ are in the ratio {ratio}. Find the entry $w$ "
                "of",
                token=self.token + 1,
                ratio=_ratio([2 ** (s - min(scores)) for s in scores]),
            ),
            Display((Relation((say.formula("W_Q"), say.wording.grid(cells)), ("=",)),)),
            WorkingSpace(30),
            FillIns((FillIn((Math(say.formula("w")), Words(" =")), 20),)),
        ]
        zero, one = (self.scores(given, w) for w in (0, 1))
        terms = [_linear(a, b - a) for a, b in zip(zero, one, strict=True)]
        shown = (
            say.wording.grid([[say.formula(term)] for term in terms])
            if say.columns
            else say.formula(f"[{', '.join(terms)}]")
        )
        key: list[Block] = [
            say.paragraph("The scores are $scores$.", scores=shown),
            say.paragraph(
                "From the weights, the scores differ from the first one by $differences$, which gives $w = value$.",
                differences=say.row([s - scores[0] for s in scores[1:]]),
                value=say.number(self.right),
            ),
        ]
        return [_part("A missing entry", ask, key, FormulaAnswer(self.right), Mark("M", 1), Mark("A", 1))]

    def prove(self, given: Given) -> None:
        """Of the whole numbers from −9 to 9; scores are linear in the entry, so that one is all."""

        def weights(value: int) -> Matrix:
            return Softmax(base=2).apply(Matrix([self.scores(given, value)]))

        fitting = [w for w in range(-9, 10) if weights(w) == weights(self.right)]
        if fitting != [self.right]:
            raise SelfCheckError(f"A missing entry could be any of {fitting}.")


def _linear(constant: int, slope: int) -> str:
    """3 − 2w as a formula to be read."""
    term = f"{abs(slope)} w" if abs(slope) > 1 else "w"
    if not slope or not constant:
        return str(constant) if not slope else f"-{term}" if slope < 0 else term
    return f"{constant} {'-' if slope < 0 else '+'} {term}"


SUBSETS = tuple(subset for size in (1, 2, 3) for subset in combinations(range(3), size))


@dataclass(frozen=True)
class MaskForOutputs(Design):
    """Values whose subsets all have different means, and a set of visible tokens for each query."""

    kind: Literal["mask"]
    V: Rows
    seen: Rows

    load = 9

    @classmethod
    def drawn(cls, rng: random.Random, given: Given, number: int) -> MaskForOutputs:
        while True:
            V = tuple(tuple(whole(rng, -3, 6) for _ in range(2)) for _ in range(3))
            found = cls("mask", V, tuple(pick(rng, SUBSETS) for _ in range(3)))
            seen, means = found.seen, [found.mean(subset) for subset in SUBSETS]
            several_sizes = len({len(s) for s in seen}) > 1
            if len(set(means)) == len(means) and several_sizes and len(set(seen)) == len(seen):
                return found

    def mean(self, subset: Row) -> tuple[Fraction, ...]:
        return tuple(Fraction(sum(self.V[j][c] for j in subset), len(subset)) for c in range(2))

    def parts(self, given: Given, say: TurningProse) -> list[Part]:
        Z = Matrix.of([divide(x, 1) for x in self.mean(subset)] for subset in self.seen)
        hidden = frozenset((i, j) for i in range(3) for j in range(3) if j not in self.seen[i])
        if say.columns:
            hidden = frozenset((j, i) for i, j in hidden)
        letters = say.either("qk", "kq")
        rows, columns = (tuple(say.formula(f"{letter}_{i}") for i in (1, 2, 3)) for letter in letters)
        name = say.formula('"mask"')
        ask: list[Block] = [
            say.paragraph(
                "All scores are equal. Choose a mask that gives the values $V$ the outputs $Z$: shade the cells that "
                "it hides."
            ),
            say.equations(V=Matrix(self.V), Z=Z),
            AnswerGrid(name, 3, 3, shade=True, row_labels=rows, column_labels=columns),
        ]
        lines = []
        for i, subset in enumerate(self.seen, 1):
            text = "$z_{row}$ is the mean of {values}." if len(subset) > 1 else "$z_{row}$ is {values}."
            lines.append(say(text, row=i, values=say.formulas([f"v_{j + 1}" for j in subset], "and")))
        shown, shaded = say.formula('"visible"'), say.formula('"hidden"')
        table = say.wording.grid(
            [[shaded if (i, j) in hidden else shown for j in range(3)] for i in range(3)], "spaces"
        )
        key: list[Block] = [
            say.paragraph("With equal scores an output is the mean of the visible values."),
            ItemList(tuple(lines)),
            Display((Relation((name, table), ("=",)),)),
        ]
        each = Mark("B", 3, say.either("one for each row", "one for each column"), "rows")
        return [_part(message("A mask"), ask, key, CellsAnswer((3, 3), hidden, say.columns), each)]

    def prove(self, given: Given) -> None:
        keep = tuple(tuple(j in seen for j in range(3)) for seen in self.seen)
        A = Softmax().apply(Mask(keep).apply(Matrix([[1] * 3] * 3)))
        means = [tuple(map(exact, self.mean(subset))) for subset in SUBSETS]
        fitting = [means.count(row) for row in MatMul().apply(A, Matrix(self.V)).rows]
        if fitting != [1, 1, 1]:
            raise SelfCheckError(f"The outputs of a mask are means of {fitting} sets of values, not of one each.")


@dataclass(frozen=True)
class ImpossibleWish(Design):
    """Three wishes for single tokens, one of them impossible: for equal keys, or for an input that is zero.

    It is `about` the two keys, or the input.
    """

    kind: Literal["impossible"]
    reason: Literal["equal keys", "zero input"]
    X: Rows
    K: Rows
    weights: Rows
    tokens: Row
    about: Row

    load = 6

    @classmethod
    def drawn(cls, rng: random.Random, given: Given, number: int) -> ImpossibleWish:
        other, place = given.other(rng), (number - 1) % 3
        X, K = list(other.X), list(other.K)
        if number % 2 == 0:
            one, two = sorted(sample(rng, range(3), 2))
            K[two] = K[one]
            third = 3 - one - two
            wishes = []
            for parts in sample(rng, [(1, 2), (1, 4), (2, 1), (4, 1)], 2):
                wishes.append(_at({one: parts[0], two: parts[0], third: parts[1]}))
            odd = shuffled(rng, [1, 2])
            wishes.insert(place, _at({one: odd[0], two: odd[1], third: pick(rng, [1, 4])}))
            tokens = tuple(shuffled(rng, [0, 1, 2]))
            return cls("impossible", "equal keys", tuple(X), tuple(K), tuple(wishes), tokens, (one, two))
        zero = whole(rng, 0, 2)
        X[zero] = (0, 0)
        order = [t for t in range(3) if t != zero]
        order.insert(place, zero)
        wishes = [tuple(shuffled(rng, parts)) for parts in sample(rng, PATTERNS, 3)]
        return cls("impossible", "zero input", tuple(X), tuple(K), tuple(wishes), tuple(order), (zero,))

    def parts(self, given: Given, say: TurningProse) -> list[Part]:
        offers = [self._offer(token, parts, say) for token, parts in zip(self.tokens, self.weights, strict=True)]
        now_other = "Now other inputs and keys are given, and softmax has base 2:"
        these = "These inputs and keys are given, and softmax has base 2:"
        own = say.equations(X=Matrix(self.X), K=Matrix(self.K))
        ask: list[Block] = [
            say.paragraph(now_other if given.shown else these),
            own,
            say.paragraph(
                "Two of these requests can be met, each by a $W_Q$ of its own. Tick the one that no $W_Q$ can meet."
            ),
            choices(offers),
        ]
        first = _part("An impossible request", ask, [own, *choices_key(offers)], choice(offers), Mark("B", 1))
        why: list[Block] = [say.paragraph("Explain why no $W_Q$ can meet it."), WorkingSpace(32, ruled=True)]
        points = self._points(say)
        marks = Mark("B", len(points), "one for each point")
        return [first, _part("Why it is impossible", why, [ItemList(points)], RubricAnswer(points), marks)]

    def _offer(self, token: int, parts: Row, say: TurningProse) -> Offer:
        wish = say("The weights of token $x_{token}$ are in the ratio {ratio}.", token=token + 1, ratio=_ratio(parts))
        query = query_for(self.K, _logs(parts))
        if query is None or weights_for(self.X[token], query) is None:
            return Offer(wish, say("no $W_Q$ does this; the next part says why."), right=True)
        why = say(
            "the query $q = found$ has these weights, and $x_{token} W_Q = q$ has a solution.",
            found=say.values(Matrix([query])),
            token=token + 1,
        )
        return Offer(wish, why)

    def _points(self, say: TurningProse) -> tuple[Inlines, ...]:
        match self.about:
            case (one, other):
                same = "two keys are equal, $k_{one} = k_{other}$, so every query has the same score with both"
                but = (
                    "equal scores have equal weights, but the request has different ones for $k_{one}$ and $k_{other}$"
                )
                return tuple(say(text, one=one + 1, other=other + 1) for text in (same, but))
        (zero,) = self.about
        return (
            say(
                "the input $x_{token}$ is zero, so its query is zero and all its scores are 0 whatever $W_Q$ is",
                token=zero + 1,
            ),
            say("equal scores have equal weights, one third each, but the request has different ones"),
        )

    def prove(self, given: Given) -> None:
        impossible = [not self._fulfillable(*wish) for wish in zip(self.tokens, self.weights, strict=True)]
        if sum(impossible) != 1:
            raise SelfCheckError(f"Of three wishes, {sum(impossible)} are impossible; one was expected.")

    def _fulfillable(self, token: int, parts: Row) -> bool:
        """Whether x W_Q Kᵀ + c = scores has a solution in all entries of W_Q at once, and c."""
        rows = [[*(a * b for a in self.X[token] for b in k), 1] for k in self.K]
        return solution(rows, _logs(parts)) is not None


def _at(parts: Mapping[int, int]) -> Row:
    return tuple(parts[j] for j in range(3))


Item = ScoresFromWeights | WeightsOfToken | OneToken | Keys | MissingEntry | MaskForOutputs | ImpossibleWish

KINDS: Mapping[str, Callable[[random.Random, Given, int], Item]] = MappingProxyType(
    {
        "scores": ScoresFromWeights.drawn,
        "mask": MaskForOutputs.drawn,
        "exact": WeightsOfToken.drawn,
        "attend": OneToken.drawn,
        "keys": Keys.drawn,
        "missing": MissingEntry.drawn,
        "impossible": ImpossibleWish.drawn,
    }
)

__all__ = ["KINDS", "Given", "Item"]
