"""Reading a picture of weights: which matrix, which mask, which kind of head, which statements (rules.md 5, type 16).

The tones of a picture stand for declared ranges of weights; no weight lies near the end of a range, and white means
exactly 0, so that every question has one answer that the picture alone decides.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from types import MappingProxyType
from typing import Any, cast

from symattn.dice import pick, sample, shuffled, whole
from symattn.document import (
    Block,
    HeatMap,
    Inlines,
    Math,
    Words,
)
from symattn.errors import SelfCheckError
from symattn.exact import Matrix, Value, compare
from symattn.explanation.diagrams_weights import BOUNDS, level
from symattn.formula import Formula
from symattn.ops import Mask, Softmax
from symattn.ops.attention import Keep, blocks, causal, padding, window
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
from symattn.question import ChoiceAnswer, Content, Mark, OneLess, Part, Question

Drawn = dict[str, Any]
Item = Mapping[str, Any]

RANGES = ("0", "0 to 0.2", "0.2 to 0.4", "0.4 to 0.7", "0.7 to 1")
MARGIN = Fraction(1, 50)

ITEMS: Mapping[str, tuple[str, ...]] = {
    "starter": ("mask", "statements"),
    "standard": ("matrix", "mask", "head", "head", "statements"),
    "long": ("matrix", "mask", "head", "head", "statements", "matrix", "statements"),
}
MATRIX, PICTURE = 3, 4  # tokens in a question on numbers, and in one on the picture alone


# ------------------------------------------------------------------------------------------------ levels


def is_clear(weight: Value) -> bool:
    """Whether a weight is 0, or away from 0 and from every bound."""
    return weight == 0 or all(
        compare(weight, bound - MARGIN) < 0 or compare(bound + MARGIN, weight) < 0 for bound in (0, *BOUNDS)
    )


def levels(weights: Matrix) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(map(level, row)) for row in weights.rows)


def picture(weights: Matrix, say: Prose) -> HeatMap:
    found = levels(weights)
    n, m = weights.shape
    words = "; ".join(f"row {i}: {', '.join(map(str, row))}" for i, row in enumerate(found, 1))
    return HeatMap(
        found,
        f"Weights by level, from 0, white, to 4, black. {words.capitalize()}.",
        row_labels=tuple(say.formula(f"q_{i + 1}") for i in range(n)),
        column_labels=tuple(say.formula(f"k_{j + 1}") for j in range(m)),
    )


def scale(say: Prose) -> HeatMap:
    labels: tuple[Formula, ...] = tuple(say.formula(f'"{text}"') for text in RANGES)
    return HeatMap(((0, 1, 2, 3, 4),), f"Levels 0 to 4 stand for: {'; '.join(RANGES)}.", column_labels=labels)


def legend(say: Prose) -> tuple[Block, ...]:
    return (
        say.paragraph(
            "In every picture the row is the query and the column is the key. A cell shows the range of the weight:"
        ),
        scale(say),
        say.paragraph("A white cell is exactly 0, and no other weight is where two ranges meet."),
    )


# ------------------------------------------------------------------------------------------------ masks


MASKS: Mapping[str, tuple[str, Callable[[int], Keep]]] = MappingProxyType(
    {
        "none": ("No mask", lambda n: ((True,) * n,) * n),
        "causal": ("Causal mask: no token sees a later one", lambda n: causal(n, n)),
        "window": ("Local window: each token sees itself and the one before", lambda n: window(n, n, 2)),
        "padding": ("Padding mask: the last token is padding", lambda n: padding(n, n, n - 1)),
        "blocks": ("Block mask: two blocks of two tokens", lambda n: blocks((n // 2, n - n // 2))),
    }
)


def _weights(scores: Sequence[Sequence[int]], keep: Keep) -> Matrix:
    return Softmax().apply(Mask(keep).apply(Matrix(scores)))


@cache
def _row_levels(scores: tuple[int, ...]) -> tuple[int, ...]:
    """The levels of the weights of visible scores; none where a weight is not clear.  Rows come again and again."""
    weights = Softmax().apply(Matrix([scores])).rows[0]
    return tuple(map(level, weights)) if all(map(is_clear, weights)) else ()


def _clear_scores(rng: random.Random, keep: Keep) -> list[list[int]]:
    """Scores whose weights are clear under the mask, row by row."""
    rows = []
    for kept in keep:
        while True:
            row = [whole(rng, -2, 3) for _ in kept]
            visible = tuple(s for s, seen in zip(row, kept, strict=True) if seen)
            if max(visible) - min(visible) <= 3 and _row_levels(visible):
                break
        rows.append(row)
    return rows


# ------------------------------------------------------------------------------------------------ drawing


def draw(spec: Spec, rng: random.Random, number: int, family: Family) -> Content:
    tokens_are_rows(spec)
    no_sizes(spec)
    items: list[Drawn] = []
    for turn, kind in enumerate(ITEMS[spec.level]):
        place = number - 1 + turn * (1 + number // 4)
        match kind:
            case "matrix":
                items.append({"kind": kind, **_draw_matrix(rng, place)})
            case "mask":
                mask = list(MASKS)[(number - 1) % len(MASKS)]
                items.append({"kind": kind, "mask": mask, "scores": _clear_scores(rng, MASKS[mask][1](PICTURE))})
            case "head":
                pattern = list(PATTERNS)[(number - 1 + turn * (1 + (number - 1) // 5 % 2)) % len(PATTERNS)]
                items.append({"kind": kind, "pattern": pattern, "parts": _head(rng, pattern, rng.random() < 0.5)})
            case "statements":
                items.append({"kind": kind, **_draw_statements(rng)})
    return {"type": spec.type, "notation": spec.notation, "items": cast("Any", items)}


# -- which matrix

WRONG = {
    "transposed": ("O1", "its rows are the columns of the picture"),
    "columns": ("X1", "its columns sum to 1 instead of its rows"),
    "unmasked": ("M1", "it has weights above the diagonal, where the picture is white"),
    "triangle": ("M2", "it hides the earlier tokens, and the picture the later ones"),
}


def _variants(scores: Sequence[Sequence[int]]) -> dict[str, Matrix]:
    """The right weights with a causal mask, and what misreadings and misconceptions give instead."""
    n = len(scores)
    keep, all_seen = causal(n, n), MASKS["none"][1](n)
    right = _weights(scores, keep)
    later: Keep = tuple(zip(*keep, strict=True))
    return {
        "right": right,
        "transposed": right.T,
        "columns": Softmax("columns").apply(Mask(keep).apply(Matrix(scores))),
        "unmasked": _weights(scores, all_seen),
        "triangle": _weights(scores, later),
    }


def _draw_matrix(rng: random.Random, number: int) -> Drawn:
    wrong = [
        "transposed",
        *(name for k, name in enumerate(("columns", "unmasked", "triangle")) if k != number // 4 % 3),
    ]
    while True:
        scores = _clear_scores(rng, causal(MATRIX, MATRIX))
        shown = _variants(scores)
        patterns = [levels(shown[name]) for name in ("right", *wrong)]
        two_apart = all(_differences(p, q) >= 2 for i, p in enumerate(patterns) for q in patterns[:i])
        if two_apart and len({*patterns[0][2]}) > 1:
            wrong = shuffled(rng, wrong)
            return {"scores": scores, "options": [*wrong[: number % 4], "right", *wrong[number % 4 :]]}


def _differences(p: Sequence[Sequence[int]], q: Sequence[Sequence[int]]) -> int:
    return sum(a != b for r, s in zip(p, q, strict=True) for a, b in zip(r, s, strict=True))


# -- which head

PATTERNS: Mapping[str, str] = MappingProxyType(
    {
        "previous": "Previous token: each token attends mostly to the one before it (the first one to itself)",
        "first": "First token: each token attends mostly to the first one",
        "itself": "Itself: each token attends mostly to itself",
        "uniform": "Uniform: each token attends to all tokens alike",
        "causal mean": "Causal mean: each token attends alike to itself and all earlier ones",
    }
)


TARGETS: Mapping[str, Callable[[int], int]] = MappingProxyType(
    {"previous": lambda i: max(i - 1, 0), "first": lambda i: 0, "itself": lambda i: i}
)


def _head(rng: random.Random, name: str, is_causal: bool) -> list[list[int]]:
    """The rows of a head, each as parts of its own sum."""
    n = PICTURE
    if name == "uniform":
        return [[1] * n for _ in range(n)]
    if name == "causal mean":
        return [[int(j <= i) for j in range(n)] for i in range(n)]
    rows = []
    for i in range(n):
        target = TARGETS[name](i)
        others = [j for j in range(n) if j != target and (j <= i or not is_causal)]
        row = [0] * n
        for j in others:
            row[j] = whole(rng, 2, 3)
        row[target] = 40 - sum(row)
        rows.append(row)
    return rows


# -- which statements


def _draw_statements(rng: random.Random) -> Drawn:
    """An unmasked picture and five statements, two or three true; false ones come of reading columns as rows."""
    keep = MASKS["none"][1](PICTURE)
    while True:
        scores = _clear_scores(rng, keep)
        A = tuple(_row_levels(tuple(row)) for row in scores)
        made = [_about_most(rng, A, i) for i in sample(rng, range(PICTURE), 2)]
        cells = [(i, j) for i in range(PICTURE) for j in range(i) if A[i][j] != A[j][i]]
        if len(cells) < 3 or any(statement is None for statement in made):
            continue
        for i, j in sample(rng, cells, 2):
            i, j = pick(rng, [(i, j), (j, i)])
            said = pick(rng, [A[i][j], A[j][i]])
            made.append({"says": "range", "cell": [i, j], "level": said, "true": said == A[i][j]})
        used = [set(cast("list[int]", m["cell"])) for m in made[2:] if m]
        left = [cell for cell in cells if set(cell) not in used]
        i, j = pick(rng, left)
        i, j = pick(rng, [(i, j), (j, i)])
        made.append({"says": "greater", "cell": [i, j], "true": A[i][j] > A[j][i]})
        if 2 <= sum(bool(m and m["true"]) for m in made) <= 3:
            return {"scores": scores, "statements": made}


def _about_most(rng: random.Random, A: Sequence[Sequence[int]], i: int) -> Drawn | None:
    """x_i attends most to x_j: true by the row, false by the column; None where the picture leaves one open."""
    row, column = A[i], [line[i] for line in A]
    if row.count(max(row)) > 1 or column.count(max(column)) > 1:
        return None
    right, wrong = row.index(max(row)), column.index(max(column))
    if right == wrong:
        return None
    said = pick(rng, [right, wrong])
    return {"says": "most", "cell": [i, said], "true": said == right}


# ------------------------------------------------------------------------------------------------ parts


def _matrix_part(item: Item, say: Prose) -> Part:
    shown = _variants(item["scores"])
    offers = []
    for name in item["options"]:
        text = (Math(say.wording.rounded(shown[name], 2)),)
        if name == "right":
            offers.append(Offer(text, say("every entry lies in the range of its cell."), right=True))
        else:
            diagnosis, why = WRONG[name]
            offers.append(Offer(text, say(f"{why}."), diagnosis=diagnosis))
    ask = (
        say.paragraph("Which of these matrices (rounded to two places) is shown?"),
        picture(shown["right"], say),
        choices(offers),
    )
    return Part("", (Words("Which matrix"),), ask, choices_key(offers), choice(offers), (Mark("B", 2),))


def _mask_part(item: Item, say: Prose) -> Part:
    keep = MASKS[item["mask"]][1](PICTURE)
    offers = []
    for name, (title, other) in MASKS.items():
        why = (
            say(_SHOWN["none" if name == "none" else "mask"])
            if name == item["mask"]
            else _unlike(keep, other(PICTURE), say)
        )
        offers.append(Offer((Words(f"{title}."),), why, right=name == item["mask"]))
    ask = (say.paragraph("Which mask was used?"), picture(_weights(item["scores"], keep), say), choices(offers))
    return Part("", (Words("Which mask"),), ask, choices_key(offers), choice(offers), (Mark("B", 1),))


_SHOWN = {"none": "no cell is white.", "mask": "the white cells are exactly those that it hides."}


def _unlike(keep: Keep, other: Keep, say: Prose) -> Inlines:
    """A cell by which another mask is ruled out."""
    i, j = next((i, j) for i, row in enumerate(keep) for j, seen in enumerate(row) if seen != other[i][j])
    cell = f"$a_{{{i + 1},{j + 1}}}$"
    return say(f"it would hide {cell}, which is not white." if keep[i][j] else f"it would show {cell}, which is white.")


def _head_part(item: Item, say: Prose) -> Part:
    A = _parts(item["parts"])
    offers = []
    for name, words in PATTERNS.items():
        right = name == item["pattern"]
        why = say("this is what the picture shows.") if right else _unlike_head(A, name, say)
        offers.append(Offer((Words(f"{words}."),), why, right))
    ask = (say.paragraph("This picture shows one head. Which pattern does it have?"), picture(A, say), choices(offers))
    return Part("", (Words("Which head"),), ask, choices_key(offers), choice(offers), (Mark("B", 1),))


def _unlike_head(A: Matrix, pattern: str, say: Prose) -> Inlines:
    """The first row by which a pattern is ruled out."""
    n = A.shape[0]
    if pattern in TARGETS:
        i = next(i for i in range(n) if level(A[i, TARGETS[pattern](i)]) < 4)
        return say(f"then $a_{{{i + 1},{TARGETS[pattern](i) + 1}}}$ would be the darkest of its row, and it is not.")
    seen = [n if pattern == "uniform" else i + 1 for i in range(n)]
    i = next(
        i
        for i in range(n)
        if len({level(a) for a in A.rows[i][: seen[i]]}) > 1 or any(map(level, A.rows[i][seen[i] :]))
    )
    alike = f"then the visible cells of row $q_{i + 1}$ would be alike"
    return say(f"{alike}." if seen[i] == n else f"{alike} and those after $k_{seen[i]}$ white.")


def _parts(rows: Sequence[Sequence[int]]) -> Matrix:
    return Matrix([[Fraction(part, sum(row)) for part in row] for row in rows])


def _statements_part(item: Item, say: Prose) -> Part:
    A = _weights(item["scores"], MASKS["none"][1](PICTURE))
    offers = []
    for s in cast("list[Drawn]", item["statements"]):
        (i, j), right = s["cell"], bool(s["true"])
        here, there = (f"a_{{{a + 1},{b + 1}}}" for a, b in ((i, j), (j, i)))
        match s["says"]:
            case "most":
                best = max(range(PICTURE), key=lambda k: level(A[i, k]))
                text = say(f"$x_{i + 1}$ attends most to $x_{j + 1}$.")
                why = say(f"the darkest cell of the row of $q_{i + 1}$ is in the column of $k_{best + 1}$.")
            case "range":
                text = say(f"${here}$ lies in the range {RANGES[s['level']]}.")
                why = say(
                    f"${here}$ is in the row of $q_{i + 1}$ and the column of $k_{j + 1}$: {RANGES[level(A[i, j])]}."
                )
            case _:
                text = say(f"${here} > {there}$")
                why = say(
                    f"the first lies in the range {RANGES[level(A[i, j])]}, the second in {RANGES[level(A[j, i])]}."
                )
        offers.append(Offer(text, why, right))
    ask = (
        say.paragraph("No mask was used here. Tick every statement that is true."),
        picture(A, say),
        scale(say),
        choices(offers, several=True),
    )
    answer = choice(offers, several=True)
    key = choices_key(offers, several=True)
    return Part(
        "", (Words("True statements"),), ask, key, answer, (Mark("B", 3, "one less for each wrong tick", OneLess()),)
    )


def make(content: Content) -> Question:
    say = prose(str(content["notation"]))
    makers = {"matrix": _matrix_part, "mask": _mask_part, "head": _head_part, "statements": _statements_part}
    items = cast("list[Item]", content["items"])
    parts = [makers[item["kind"]](item, say) for item in items]
    return Question(
        type=TYPE.name,
        title="Read a picture of weights",
        introduction=(say.paragraph("Answer from the pictures alone."),),
        given=legend(say),
        parts=tuple(replace(part, name=letter) for letter, part in zip("abcdefgh", parts, strict=False)),
        content=content,
        conventions=(say("Tokens are rows: row $i$ of a picture has the weights of token $i$, and sums to 1."),),
        features={"load": float(sum(_LOAD[item["kind"]] for item in items))},
        positions=_positions(items, parts),
    )


_LOAD = {"matrix": 6, "mask": 4, "head": 4, "statements": 7}


def _positions(items: Sequence[Item], parts: Sequence[Part]) -> dict[str, str]:
    found: dict[str, str] = {}
    for item, part in zip(items, parts, strict=True):
        if isinstance(part.answer, ChoiceAnswer) and not part.answer.several:
            found[item["kind"]] = found.get(item["kind"], "") + LETTERS[min(part.answer.right)]
    return found


# ------------------------------------------------------------------------------------------------ proving


def prove(question: Question) -> None:
    """Every picture is clear, and its answer is the only one that agrees with the weights it was drawn from."""
    for item, part in zip(cast("list[Item]", question.content["items"]), question.parts, strict=True):
        trouble = _PROOFS[item["kind"]](item, part)
        if trouble:
            raise SelfCheckError(f"Part {part.name} of a question on pictures: {trouble}.")


def _prove_picture(A: Matrix, part: Part) -> str:
    """The levels printed, against the ends of their ranges."""
    shown = [block for block in part.ask if isinstance(block, HeatMap)]
    ends = ((0, 0), (0, BOUNDS[0]), (BOUNDS[0], BOUNDS[1]), (BOUNDS[1], BOUNDS[2]), (BOUNDS[2], 1 + MARGIN))
    for row, cells in zip(A.rows, shown[0].levels, strict=True):
        for weight, cell in zip(row, cells, strict=True):
            low, high = ends[cell]
            inside = (
                weight == 0 if not cell else compare(weight - MARGIN, low) > 0 and compare(weight + MARGIN, high) < 0
            )
            if not (inside or (cell == 4 and weight == 1)):
                return f"the weight {weight} is not well inside the range {RANGES[cell]}"
    return ""


def _prove_matrix(item: Item, part: Part) -> str:
    shown = _variants(item["scores"])
    same = [name for name in item["options"] if levels(shown[name]) == levels(shown["right"])]
    sums = all(sum(row[1:], row[0]) == 1 for row in shown["right"].rows)
    return _prove_picture(shown["right"], part) or ("" if same == ["right"] and sums else f"{same} look alike")


def _prove_mask(item: Item, part: Part) -> str:
    A = _weights(item["scores"], MASKS[item["mask"]][1](PICTURE))
    white = [[weight != 0 for weight in row] for row in A.rows]
    fitting = [name for name, (_, keep) in MASKS.items() if [list(row) for row in keep(PICTURE)] == white]
    return _prove_picture(A, part) or ("" if fitting == [item["mask"]] else f"the masks {fitting} fit")


def _prove_head(item: Item, part: Part) -> str:
    """The pattern recognised from the weights by what it says."""
    A = _parts(item["parts"])
    fitting = [pattern for pattern, fits in _RECOGNISED.items() if fits(A)]
    return _prove_picture(A, part) or ("" if fitting == [item["pattern"]] else f"the patterns {fitting} fit")


def _mostly(A: Matrix, target: Callable[[int], int]) -> bool:
    return all(compare(A[i, target(i)], BOUNDS[-1]) > 0 for i in range(A.shape[0]))


_RECOGNISED: Mapping[str, Callable[[Matrix], bool]] = {
    "previous": lambda A: _mostly(A, lambda i: max(i - 1, 0)),
    "first": lambda A: _mostly(A, lambda i: 0),
    "itself": lambda A: _mostly(A, lambda i: i),
    "uniform": lambda A: len({Fraction(cast("Any", a)) for a in A}) == 1,
    "causal mean": lambda A: all(A[i, j] == (Fraction(1, i + 1) if j <= i else 0) for i in range(4) for j in range(4)),
}


def _prove_statements(item: Item, part: Part) -> str:
    A = _weights(item["scores"], MASKS["none"][1](PICTURE))
    wrong = [s for s in item["statements"] if _is_true(s, A) != s["true"]]
    return _prove_picture(A, part) or (f"the statement {wrong[0]} is not so" if wrong else "")


def _is_true(statement: Drawn, A: Matrix) -> bool:
    """A statement decided by the weights themselves, not by their levels."""
    i, j = statement["cell"]
    match statement["says"]:
        case "most":
            return all(compare(A[i, j], A[i, k]) > 0 for k in range(PICTURE) if k != j)
        case "range":
            low, high = (0, *BOUNDS)[statement["level"] - 1], (*BOUNDS, 1)[statement["level"] - 1]
            return compare(low, A[i, j]) < 0 < compare(high, A[i, j])
        case _:
            return compare(A[i, j], A[j, i]) > 0


_PROOFS: Mapping[str, Callable[[Item, Part], str]] = {
    "matrix": _prove_matrix,
    "mask": _prove_mask,
    "head": _prove_head,
    "statements": _prove_statements,
}


TYPE = ProblemType(
    name="heatmap",
    title="Read a picture of weights",
    draw=draw,
    make=make,
    prove=prove,
)
