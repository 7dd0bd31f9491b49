"""Reading a picture of weights: which matrix, which mask, which kind of head, which statements (rules.md 5, type 16).

The tones of a picture stand for declared ranges of weights; no weight lies near the end of a range, and white means
exactly 0, so that every question has one answer that the picture alone decides.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from types import MappingProxyType
from typing import ClassVar, Literal

from symattn.derivation.ops import Mask, Softmax
from symattn.derivation.ops.attention import Keep, causal
from symattn.exact import Matrix, compare
from symattn.foundation.dice import pick, sample, shuffled, whole
from symattn.page.document import Block, HeatMap, Inlines, Math, Words
from symattn.page.notation import kept_notation
from symattn.teaching.explanation.diagrams import BOUNDS, level
from symattn.teaching.problems.asking import Offer, Prose, choice_part, prose, put_in
from symattn.teaching.problems.base import ATTENTION, Family, ProblemType, Spec, turn_of
from symattn.teaching.problems.items import Item, prove, question
from symattn.teaching.problems.pictures import (
    MASKS,
    PICTURE,
    RANGES,
    Rows,
    clear_scores,
    keep_of,
    legend,
    levels,
    misprinted,
    picture,
    row_levels,
    scale,
    weights_under,
)
from symattn.teaching.question import Mark, OneLess, Part, Question

ITEMS: Mapping[str, tuple[str, ...]] = {
    "starter": ("mask", "statements"),
    "standard": ("matrix", "mask", "head", "head", "statements"),
    "long": ("matrix", "mask", "head", "head", "statements", "matrix", "statements"),
}
MATRIX = 3  # tokens in a question on numbers


# ------------------------------------------------------------------------------------------------ which matrix

WRONG: Mapping[str, tuple[str, str]] = {
    "transposed": ("O1", "its rows are the columns of the picture."),
    "columns": ("X1", "its columns sum to 1 instead of its rows."),
    "unmasked": ("M1", "it has weights above the diagonal, where the picture is white."),
    "triangle": ("M2", "it hides the earlier tokens, and the picture the later ones."),
}
TURNED: Mapping[str, str] = {
    "columns": "its rows sum to 1 instead of its columns.",
    "unmasked": "it has weights below the diagonal, where the picture is white.",
}
"""What is said of wrong matrices where tokens are columns, where that is something else."""


@dataclass(frozen=True)
class WhichMatrix(Item):
    """Which of four matrices is shown."""

    kind: Literal["matrix"]
    scores: Rows
    options: tuple[str, ...]

    load: ClassVar = 6

    @classmethod
    def draw(cls, rng: random.Random, number: int) -> WhichMatrix:
        others = [name for k, name in enumerate(("columns", "unmasked", "triangle")) if k != number // 4 % 3]
        wrong = ["transposed", *others]
        while True:
            scores = clear_scores(rng, causal(MATRIX, MATRIX))
            shown = _variants(scores)
            patterns = [levels(shown[name]) for name in ("right", *wrong)]
            two_apart = all(_differences(p, q) >= 2 for p, q in combinations(patterns, 2))
            if two_apart and len({*patterns[0][2]}) > 1:
                wrong = shuffled(rng, wrong)
                return cls("matrix", scores, put_in(wrong, number % 4, "right"))

    def part(self, say: Prose) -> Part:
        shown = _variants(self.scores)
        offers = []
        for name in self.options:
            text = (Math(say.wording.rounded(say.turned(shown[name]), 2)),)
            if name == "right":
                offers.append(Offer(text, say("every entry lies in the range of its cell."), right=True))
            else:
                diagnosis, why = WRONG[name]
                why = TURNED.get(name, why) if say.columns else why
                offers.append(Offer(text, say(why), diagnosis=diagnosis))
        asked = say.paragraph("Which of these matrices (rounded to two places) is shown?")
        ask = (asked, picture(shown["right"], say))
        return choice_part("", (Words("Which matrix"),), ask, offers, Mark("B", 2), key=ask)

    def trouble(self, part: Part) -> str:
        shown = _variants(self.scores)
        same = [name for name in self.options if levels(shown[name]) == levels(shown["right"])]
        sums = all(sum(row[1:], row[0]) == 1 for row in shown["right"].rows)
        return misprinted(shown["right"], part) or ("" if same == ["right"] and sums else f"{same} look alike")


def _variants(scores: Rows) -> dict[str, Matrix]:
    """The right weights with a causal mask, and what misreadings and misconceptions give instead."""
    n = len(scores)
    keep = causal(n, n)
    right = weights_under(scores, keep)
    later: Keep = tuple(zip(*keep, strict=True))
    return {
        "right": right,
        "transposed": right.T,
        "columns": Softmax("columns").apply(Mask(keep).apply(Matrix(scores))),
        "unmasked": weights_under(scores, keep_of("none", n)),
        "triangle": weights_under(scores, later),
    }


def _differences(p: Rows, q: Rows) -> int:
    return sum(a != b for r, s in zip(p, q, strict=True) for a, b in zip(r, s, strict=True))


# ------------------------------------------------------------------------------------------------ which mask


@dataclass(frozen=True)
class WhichMask(Item):
    """Which mask was used."""

    kind: Literal["mask"]
    mask: str
    scores: Rows

    load: ClassVar = 4

    @classmethod
    def draw(cls, rng: random.Random, number: int) -> WhichMask:
        mask = list(MASKS)[(number - 1) % len(MASKS)]
        return cls("mask", mask, clear_scores(rng, keep_of(mask)))

    def part(self, say: Prose) -> Part:
        keep = keep_of(self.mask)
        offers = []
        for name, (title, other) in MASKS.items():
            if name != self.mask:
                why = _unlike(keep, other(PICTURE), say)
            elif name == "none":
                why = say("no cell is white.")
            else:
                why = say("the white cells are exactly those that it hides.")
            offers.append(Offer((Words(title),), why, right=name == self.mask))
        ask = (say.paragraph("Which mask was used?"), picture(weights_under(self.scores, keep), say))
        return choice_part("", (Words("Which mask"),), ask, offers, key=ask)

    def trouble(self, part: Part) -> str:
        A = weights_under(self.scores, keep_of(self.mask))
        white = [[weight != 0 for weight in row] for row in A.rows]
        fitting = [name for name in MASKS if [list(row) for row in keep_of(name)] == white]
        return misprinted(A, part) or ("" if fitting == [self.mask] else f"the masks {fitting} fit")


def _unlike(keep: Keep, other: Keep, say: Prose) -> Inlines:
    """A cell by which another mask is ruled out."""
    i, j = next((i, j) for i, row in enumerate(keep) for j, seen in enumerate(row) if seen != other[i][j])
    if keep[i][j]:
        return say("it would hide $a_{{row},{column}}$, which is not white.", **say.cell(i, j))
    return say("it would show $a_{{row},{column}}$, which is white.", **say.cell(i, j))


# ------------------------------------------------------------------------------------------------ which head

PATTERNS: Mapping[str, str] = MappingProxyType(
    {
        "previous": "Previous token: each token attends mostly to the one before it (the first one to itself).",
        "first": "First token: each token attends mostly to the first one.",
        "itself": "Itself: each token attends mostly to itself.",
        "uniform": "Uniform: each token attends to all tokens alike.",
        "causal mean": "Causal mean: each token attends alike to itself and all earlier ones.",
    }
)
TARGETS: Mapping[str, Callable[[int], int]] = MappingProxyType(
    {"previous": lambda i: max(i - 1, 0), "first": lambda i: 0, "itself": lambda i: i}
)


@dataclass(frozen=True)
class WhichHead(Item):
    """Which pattern a head has; its rows are given as parts of their own sums."""

    kind: Literal["head"]
    pattern: str
    parts: Rows

    load: ClassVar = 4

    @classmethod
    def draw(cls, rng: random.Random, number: int) -> WhichHead:
        pattern = list(PATTERNS)[number % len(PATTERNS)]
        return cls("head", pattern, _head(rng, pattern, rng.random() < 0.5))

    @property
    def weights(self) -> Matrix:
        return Matrix([[Fraction(part, sum(row)) for part in row] for row in self.parts])

    def part(self, say: Prose) -> Part:
        A = self.weights
        offers = []
        for name, words in PATTERNS.items():
            right = name == self.pattern
            why = say("this is what the picture shows.") if right else _unlike_head(A, name, say)
            offers.append(Offer((Words(words),), why, right))
        ask = (say.paragraph("This picture shows one head. Which pattern does it have?"), picture(A, say))
        return choice_part("", (Words("Which head"),), ask, offers, key=ask)

    def trouble(self, part: Part) -> str:
        """The pattern recognised from the weights by what it says."""
        fitting = [pattern for pattern, fits in _RECOGNISED.items() if fits(self.weights)]
        return misprinted(self.weights, part) or ("" if fitting == [self.pattern] else f"the patterns {fitting} fit")


def _head(rng: random.Random, name: str, is_causal: bool) -> Rows:
    n = PICTURE
    if name == "uniform":
        return ((1,) * n,) * n
    if name == "causal mean":
        return tuple(tuple(int(j <= i) for j in range(n)) for i in range(n))
    rows = []
    for i in range(n):
        target = TARGETS[name](i)
        others = [j for j in range(n) if j != target and (j <= i or not is_causal)]
        row = [0] * n
        for j in others:
            row[j] = whole(rng, 2, 3)
        row[target] = 40 - sum(row)
        rows.append(tuple(row))
    return tuple(rows)


def _unlike_head(A: Matrix, pattern: str, say: Prose) -> Inlines:
    """The first row by which a pattern is ruled out."""
    n = A.shape[0]
    if pattern in TARGETS:
        i = next(i for i in range(n) if level(A[i, TARGETS[pattern](i)]) < 4)
        darkest = {
            False: "then $a_{{row},{column}}$ would be the darkest of its row, and it is not.",
            True: "then $a_{{row},{column}}$ would be the darkest of its column, and it is not.",
        }
        return say(darkest[say.columns], **say.cell(i, TARGETS[pattern](i)))
    seen = [n if pattern == "uniform" else i + 1 for i in range(n)]
    i = next(
        i
        for i in range(n)
        if len({level(a) for a in A.rows[i][: seen[i]]}) > 1 or any(map(level, A.rows[i][seen[i] :]))
    )
    if seen[i] == n:
        return say("then the visible cells of $q_{query}$ would be alike.", query=i + 1)
    alike = "then the visible cells of $q_{query}$ would be alike and those after $k_{last}$ white."
    return say(alike, query=i + 1, last=seen[i])


def _mostly(A: Matrix, target: Callable[[int], int]) -> bool:
    return all(compare(A[i, target(i)], BOUNDS[-1]) > 0 for i in range(A.shape[0]))


_RECOGNISED: Mapping[str, Callable[[Matrix], bool]] = {
    "previous": lambda A: _mostly(A, lambda i: max(i - 1, 0)),
    "first": lambda A: _mostly(A, lambda i: 0),
    "itself": lambda A: _mostly(A, lambda i: i),
    "uniform": lambda A: all(a == A[0, 0] for a in A),
    "causal mean": lambda A: all(A[i, j] == (Fraction(1, i + 1) if j <= i else 0) for i in range(4) for j in range(4)),
}


# ------------------------------------------------------------------------------------------------ which statements


@dataclass(frozen=True, kw_only=True)
class Statement:
    """That a token attends most to another, that a weight lies in a range, or that it is above its mirror image."""

    says: Literal["most", "range", "greater"]
    cell: tuple[int, int]
    level: int = 0
    true: bool

    def text(self, say: Prose) -> Inlines:
        i, j = self.cell
        match self.says:
            case "most":
                return say("$x_{row}$ attends most to $x_{column}$.", row=i + 1, column=j + 1)
            case "range":
                lies = "$a_{{row},{column}}$ lies in the range {range}."
                return say(lies, **say.cell(i, j), range=RANGES[self.level])
            case "greater":
                return say("$a_{{row},{column}} > a_{{column},{row}}$", **say.cell(i, j))

    def why(self, A: Matrix, say: Prose) -> Inlines:
        i, j = self.cell
        match self.says:
            case "most":
                best = max(range(PICTURE), key=lambda k: level(A[i, k]))
                return say("the darkest cell of $q_{query}$ is that of $k_{key}$.", query=i + 1, key=best + 1)
            case "range":
                where = "$a_{{row},{column}}$ is the cell of $q_{query}$ and $k_{key}$: {range}."
                return say(where, **say.cell(i, j), query=i + 1, key=j + 1, range=RANGES[level(A[i, j])])
            case "greater":
                first, second = (RANGES[level(A[cell])] for cell in ((i, j), (j, i)))
                return say("the first lies in the range {first}, the second in {second}.", first=first, second=second)

    def holds(self, A: Matrix) -> bool:
        """Decided by the weights themselves, not by their levels."""
        i, j = self.cell
        match self.says:
            case "most":
                return all(compare(A[i, j], A[i, k]) > 0 for k in range(PICTURE) if k != j)
            case "range":
                low, high = (0, *BOUNDS)[self.level - 1], (*BOUNDS, 1)[self.level - 1]
                return compare(low, A[i, j]) < 0 < compare(high, A[i, j])
            case "greater":
                return compare(A[i, j], A[j, i]) > 0


@dataclass(frozen=True)
class WhichStatements(Item):
    """Which of five statements on an unmasked picture are true.

    Two or three of them are; false ones come of reading columns as rows.
    """

    kind: Literal["statements"]
    scores: Rows
    statements: tuple[Statement, ...]

    load: ClassVar = 7

    @classmethod
    def draw(cls, rng: random.Random) -> WhichStatements:
        while True:
            scores = clear_scores(rng, keep_of("none"))
            A = tuple(map(row_levels, scores))
            most = [_about_most(rng, A, i) for i in sample(rng, range(PICTURE), 2)]
            cells = [(i, j) for i in range(PICTURE) for j in range(i) if A[i][j] != A[j][i]]
            made: list[Statement] = [statement for statement in most if statement]
            if len(cells) < 3 or len(made) < len(most):
                continue
            used = []
            for i, j in sample(rng, cells, 2):
                i, j = pick(rng, [(i, j), (j, i)])
                said = pick(rng, [A[i][j], A[j][i]])
                made.append(Statement(says="range", cell=(i, j), level=said, true=said == A[i][j]))
                used.append({i, j})
            i, j = pick(rng, [cell for cell in cells if set(cell) not in used])
            i, j = pick(rng, [(i, j), (j, i)])
            made.append(Statement(says="greater", cell=(i, j), true=A[i][j] > A[j][i]))
            if 2 <= sum(statement.true for statement in made) <= 3:
                return cls("statements", scores, tuple(made))

    @property
    def weights(self) -> Matrix:
        return weights_under(self.scores, keep_of("none"))

    def part(self, say: Prose) -> Part:
        A = self.weights
        offers = [Offer(s.text(say), s.why(A, say), s.true) for s in self.statements]
        asked, shown = say.paragraph("No mask was used here. Tick every statement that is true."), picture(A, say)
        marks = Mark("B", 3, "deduct one for each wrong tick", OneLess())
        ask, key = (asked, scale(), shown), (asked, shown)
        return choice_part("", (Words("True statements"),), ask, offers, marks, key=key, several=True)

    def trouble(self, part: Part) -> str:
        A = self.weights
        wrong = [statement for statement in self.statements if statement.holds(A) != statement.true]
        return misprinted(A, part) or (f"the statement {wrong[0]} is not so" if wrong else "")


def _about_most(rng: random.Random, A: Rows, i: int) -> Statement | None:
    """x_i attends most to x_j: true by the row, false by the column; None where the picture leaves one open."""
    row, column = A[i], [line[i] for line in A]
    if row.count(max(row)) > 1 or column.count(max(column)) > 1:
        return None
    right, wrong = row.index(max(row)), column.index(max(column))
    if right == wrong:
        return None
    said = pick(rng, [right, wrong])
    return Statement(says="most", cell=(i, said), true=said == right)


# ------------------------------------------------------------------------------------------------ the question


@dataclass(frozen=True)
class Content:
    """What a variant is made from."""

    type: str
    notation: str
    items: tuple[WhichMatrix | WhichMask | WhichHead | WhichStatements, ...]


def draw(spec: Spec, rng: random.Random, number: int, family: Family) -> Content:
    items: list[WhichMatrix | WhichMask | WhichHead | WhichStatements] = []
    number = turn_of(number, family)
    for turn, kind in enumerate(ITEMS[spec.level]):
        match kind:
            case "matrix":
                items.append(WhichMatrix.draw(rng, number - 1 + turn * (1 + number // 4)))
            case "mask":
                items.append(WhichMask.draw(rng, number))
            case "head":
                items.append(WhichHead.draw(rng, number - 1 + turn * (1 + (number - 1) // 5 % 2)))
            case "statements":
                items.append(WhichStatements.draw(rng))
    return Content(spec.type, kept_notation(spec.notation), tuple(items))


def make(content: Content) -> Question:
    say = prose(content.notation)
    return question(
        TYPE,
        content,
        [item.part(say) for item in content.items],
        introduction=say.paragraph("Answer from the pictures alone."),
        given=legend(say),
        conventions=(say(TOKENS[say.columns]),),
    )


TOKENS = {
    False: "Tokens are rows: row $i$ of a picture shows the weights of token $i$, which sum to 1.",
    True: "Tokens are columns: column $i$ of a picture shows the weights of token $i$, which sum to 1.",
}


def prove_pictures(question: Question) -> None:
    """As other items are proved, with every picture laid so that a row is a query."""
    if prose(question.content.notation).columns:
        question = replace(question, parts=tuple(map(_upright, question.parts)))
    prove(question)


def _upright(part: Part) -> Part:
    def turned(block: Block) -> Block:
        if not isinstance(block, HeatMap):
            return block
        return replace(block, levels=tuple(zip(*block.levels, strict=True)))

    return replace(part, ask=tuple(map(turned, part.ask)))


TYPE = ProblemType(
    name="heatmap",
    title="Read a picture of weights",
    draw=draw,
    make=make,
    content=Content,
    proof=prove_pictures,
    mechanisms=ATTENTION,
    draws=("sizes", "given"),
)
