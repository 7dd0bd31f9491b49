"""Reading a picture of weights: which matrix, which mask, which kind of head, which statements (rules.md 5, type 16).

The tones of a picture stand for declared ranges of weights; no weight lies near the end of a range, and white means
exactly 0, so that every question has one answer that the picture alone decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache, partial
from itertools import combinations
from random import Random

from symattn.derivation.ops.attention import Keep, Mask, Softmax, blocks, causal, padding, window
from symattn.exact import Matrix, Value, compare
from symattn.exact.sums import total
from symattn.formula import Formula, Text
from symattn.foundation.dice import pick, sample, shuffled, whole
from symattn.foundation.languages import capitalised, message, series
from symattn.page.document import HeatMap, Inlines, TextLike
from symattn.teaching.explanation.diagrams import BOUNDS, level
from symattn.teaching.problems.asking import Offer, Prose, choice_part, put_in, ticks
from symattn.teaching.problems.draws import Draw, Item, ProblemType, ProvedQuestion, Record, question
from symattn.teaching.problems.systems import Rows, normalised, softmax
from symattn.teaching.question import Mark, Part

ITEMS = {
    "starter": ("mask", "statements"),
    "standard": ("matrix", "mask", "head", "head", "statements"),
    "long": ("matrix", "mask", "head", "head", "statements", "matrix", "statements"),
}
MATRIX = 3  # tokens in a question on numbers
PICTURE = 4  # tokens in a picture
MARGIN = Fraction(1, 50)
RANGES = (
    "0",
    message("{low} to {high}", low="0", high="0.2"),
    message("{low} to {high}", low="0.2", high="0.4"),
    message("{low} to {high}", low="0.4", high="0.7"),
    message("{low} to {high}", low="0.7", high="1"),
)
"""What the levels of a picture stand for."""

# ------------------------------------------------------------------------------------------------ pictures


def is_clear(weight: Value) -> bool:
    """Whether a weight is 0, or away from 0 and from every bound."""
    return weight == 0 or all(
        compare(weight, bound - MARGIN) < 0 or compare(bound + MARGIN, weight) < 0 for bound in (0, *BOUNDS)
    )


def levels(weights: Matrix) -> Rows:
    return tuple(tuple(map(level, row)) for row in weights.rows)


def picture(weights: Matrix, say: Prose) -> HeatMap:
    """The weights, a row for each query, as they lie in the notation."""
    level_rows = levels(say.turned(weights))
    queries, keys = (
        tuple(say.formula(f"{letter}_{i + 1}") for i in range(size))
        for letter, size in zip("qk", weights.shape, strict=True)
    )
    rows = series(
        message("row {row}: {levels}", row=i, levels=", ".join(map(str, row))) for i, row in enumerate(level_rows, 1)
    )
    return HeatMap(
        level_rows,
        message("Weights by level, from 0, white, to 4, black. {rows}.", rows=capitalised(rows)),
        row_labels=keys if say.columns else queries,
        column_labels=queries if say.columns else keys,
    )


def scale() -> HeatMap:
    description = message("Levels 0 to 4 stand for: {ranges}.", ranges=series(RANGES))
    labels: tuple[Formula, ...] = tuple(map(Text, RANGES))
    return HeatMap(((0, 1, 2, 3, 4),), description, column_labels=labels)


ALL_SEEN: Keep = ((True,) * PICTURE,) * PICTURE
MASKS: Mapping[str, tuple[str, Keep]] = {
    "none": ("No mask.", ALL_SEEN),
    "causal": ("Causal mask: no token sees a later one.", causal(PICTURE, PICTURE)),
    "window": ("Local window: each token sees itself and the one before.", window(PICTURE, PICTURE, 2)),
    "padding": ("Padding mask: the last token is padding.", padding(PICTURE, PICTURE, PICTURE - 1)),
    "blocks": ("Block mask: two blocks of two tokens.", blocks((2, 2))),
}


@cache
def row_levels(scores: tuple[int, ...]) -> tuple[int, ...]:
    """The levels of the weights of visible scores; None if a weight is not clear.  Rows come again and again."""
    weights = softmax([scores]).rows[0]
    return tuple(map(level, weights)) if all(map(is_clear, weights)) else ()


def clear_scores(rng: Random, keep: Keep) -> Rows:
    """Scores whose weights are clear under the mask, row by row."""
    rows = []
    for kept in keep:
        while True:
            row = tuple(whole(rng, -2, 3) for _ in kept)
            visible = tuple(s for s, seen in zip(row, kept, strict=True) if seen)
            if max(visible) - min(visible) <= 3 and row_levels(visible):
                break
        rows.append(row)
    return tuple(rows)


def misprinted(A: Matrix, say: Prose, part: Part) -> str:
    """What is wrong with the levels printed, compared with the ends of their ranges."""
    *_, shown = (block for block in part.ask if isinstance(block, HeatMap))  # after the scale, if that stands there
    ends = (0, *BOUNDS, 1 + MARGIN)
    for row, cells in zip(say.turned(A).rows, shown.levels, strict=True):
        for weight, cell in zip(row, cells, strict=True):
            low, high = ends[max(cell - 1, 0)], ends[cell]
            inside = compare(weight - MARGIN, low) > 0 and compare(weight + MARGIN, high) < 0 if cell else weight == 0
            if not (inside or (cell == 4 and weight == 1)):
                return f"the weight {weight} is not well inside the range {RANGES[cell]}"
    return ""


def picture_item(
    kind: str, title: str, asked: str, A: Matrix, offers: Sequence[Offer], right: Callable[[int], bool], load: float,
    say: Prose, *marks: Mark,
) -> Item:  # fmt: skip
    """What is asked of a picture of weights; which options are `right` is told by another route."""
    ask = asked, picture(A, say)
    part = choice_part(title, ask, offers, *marks, key=ask)
    return Item(part, partial(misprinted, A, say), load, kind, again=lambda: set(filter(right, range(len(offers)))))


# ------------------------------------------------------------------------------------------------ which matrix


def _wrong_matrices(say: Prose) -> Mapping[str, tuple[str, TextLike]]:
    """The misconception that each comes of, and what rules it out."""
    return {
        "transposed": ("O1", "its rows are the columns of the picture."),
        "columns": (
            "X1",
            say("its columns sum to 1 instead of its rows.", "its rows sum to 1 instead of its columns."),
        ),
        "unmasked": (
            "M1",
            say(
                "it has weights above the diagonal, where the picture is white.",
                "it has weights below the diagonal, where the picture is white.",
            ),
        ),
        "triangle": ("M2", "it hides the earlier tokens, and the picture the later ones."),
    }


def which_matrix(draw: Draw, say: Prose, place: int) -> Item:
    """Which of four matrices is shown."""

    def chosen(rng: Random) -> tuple[Rows, tuple[str, ...]]:
        number = draw.turn - 1 + place * (1 + draw.turn // 4)
        others = [name for k, name in enumerate(("columns", "unmasked", "triangle")) if k != number // 4 % 3]
        wrong = ["transposed", *others]
        while True:
            scores = clear_scores(rng, causal(MATRIX, MATRIX))
            shown = _matrices(scores)
            patterns = [levels(shown[name]) for name in ("right", *wrong)]
            two_apart = all(_differences(p, q) >= 2 for p, q in combinations(patterns, 2))
            if two_apart and len({*patterns[0][2]}) > 1:
                return scores, put_in(shuffled(rng, wrong), number % 4, "right")

    scores, names = draw.several("scores options", chosen)
    shown, wrong = _matrices(scores), _wrong_matrices(say)
    offers = []
    for name in names:
        text = say.wording.rounded(say.turned(shown[name]), 2)
        diagnosis, why = wrong.get(name) or ("", "every entry lies in the range of its cell.")
        offers.append(Offer(text, why, name == "right", diagnosis))

    def right(k: int) -> bool:
        """It looks like the picture, whose rows sum to 1."""
        alike = levels(shown[names[k]]) == levels(shown["right"])
        return alike and all(total(row) == 1 for row in shown["right"].rows)

    asked = "Which of these matrices (rounded to two places) is shown?"
    return picture_item("matrix", "Which matrix", asked, shown["right"], offers, right, 6, say, Mark("B", 2))


def _matrices(scores: Rows) -> dict[str, Matrix]:
    """The right weights with a causal mask, and what misreadings and misconceptions give instead."""
    keep = causal(len(scores), len(scores))
    right = softmax(scores, keep)
    later: Keep = tuple(zip(*keep, strict=True))
    return {
        "right": right,
        "transposed": right.T,
        "columns": Softmax("columns").apply(Mask(keep).apply(Matrix(scores))),
        "unmasked": softmax(scores),
        "triangle": softmax(scores, later),
    }


def _differences(p: Rows, q: Rows) -> int:
    return sum(a != b for r, s in zip(p, q, strict=True) for a, b in zip(r, s, strict=True))


# ------------------------------------------------------------------------------------------------ which mask


def which_mask(draw: Draw, say: Prose, place: int) -> Item:
    """Which mask was used."""
    mask = draw("mask", lambda rng: list(MASKS)[(draw.turn - 1) % len(MASKS)])
    _, keep = MASKS[mask]
    A = softmax(draw("scores", lambda rng: clear_scores(rng, keep)), keep)
    right = say("no cell is white." if mask == "none" else "the white cells are exactly those that it hides.")
    offers = [
        Offer(title, right if name == mask else _unlike(keep, other, say), name == mask)
        for name, (title, other) in MASKS.items()
    ]

    def is_right(k: int) -> bool:
        return [*MASKS.values()][k][1] == tuple(tuple(weight != 0 for weight in row) for row in A.rows)

    return picture_item("mask", "Which mask", "Which mask was used?", A, offers, is_right, 4, say)


def _unlike(keep: Keep, other: Keep, say: Prose) -> Inlines:
    """A cell by which another mask is ruled out."""
    i, j = next((i, j) for i, row in enumerate(keep) for j, seen in enumerate(row) if seen != other[i][j])
    hides = "it would hide $a_{{row},{column}}$, which is not white."
    shows = "it would show $a_{{row},{column}}$, which is white."
    return say(hides if keep[i][j] else shows, **say.cell(i, j))


# ------------------------------------------------------------------------------------------------ which head

PATTERNS = {
    "previous": "Previous token: each token attends mostly to the one before it (the first one to itself).",
    "first": "First token: each token attends mostly to the first one.",
    "itself": "Itself: each token attends mostly to itself.",
    "uniform": "Uniform: each token attends to all tokens alike.",
    "causal mean": "Causal mean: each token attends alike to itself and all earlier ones.",
}
TARGETS: Mapping[str, Callable[[int], int]] = {
    "previous": lambda i: max(i - 1, 0),
    "first": lambda i: 0,
    "itself": lambda i: i,
}


def which_head(draw: Draw, say: Prose, place: int) -> Item:
    """Which pattern a head has; its rows are given as parts of their own sums."""

    def next_pattern(rng: Random) -> str:
        number = draw.turn - 1 + place * (1 + (draw.turn - 1) // 5 % 2)
        return list(PATTERNS)[number % len(PATTERNS)]

    pattern = draw("pattern", next_pattern)
    parts = draw("parts", lambda rng: _head(rng, pattern, rng.random() < 0.5))
    A = normalised(*parts)
    right = "this is what the picture shows."
    offers = [
        Offer(words, right if name == pattern else _unlike_head(A, name, say), name == pattern)
        for name, words in PATTERNS.items()
    ]

    asked = "This picture shows one head. Which pattern does it have?"
    return picture_item("head", "Which head", asked, A, offers, lambda k: _is_head(A, list(PATTERNS)[k]), 4, say)


def _head(rng: Random, name: str, is_causal: bool) -> Rows:
    n = PICTURE
    if name == "uniform":
        return ((1,) * n,) * n
    if name == "causal mean":
        return tuple(tuple(int(j <= i) for j in range(n)) for i in range(n))
    rows = []
    for i in range(n):
        target = TARGETS[name](i)
        row = [whole(rng, 2, 3) if j != target and (j <= i or not is_causal) else 0 for j in range(n)]
        row[target] = 40 - sum(row)
        rows.append(tuple(row))
    return tuple(rows)


def _unlike_head(A: Matrix, pattern: str, say: Prose) -> Inlines:
    """The first row by which a pattern is ruled out."""
    n = A.shape[0]
    if pattern in TARGETS:
        i = next(i for i in range(n) if level(A[i, TARGETS[pattern](i)]) < 4)
        return say(
            "then $a_{{row},{column}}$ would be the darkest of its row, and it is not.",
            "then $a_{{row},{column}}$ would be the darkest of its column, and it is not.",
            **say.cell(i, TARGETS[pattern](i)),
        )
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


def _is_head(A: Matrix, pattern: str) -> bool:
    tokens = range(PICTURE)
    if pattern in TARGETS:
        return all(compare(A[i, TARGETS[pattern](i)], BOUNDS[-1]) > 0 for i in tokens)
    if pattern == "uniform":
        return all(a == A[0, 0] for a in A)
    return all(A[i, j] == (Fraction(1, i + 1) if j <= i else 0) for i in tokens for j in tokens)


# ------------------------------------------------------------------------------------------------ which statements


def _statement(says: str, i: int, j: int, true: bool, level: int = 0) -> Record:
    """That token i attends most to token j, that their weight lies in a range, or is above its mirror image."""
    return {"says": says, "cell": (i, j), **({"level": level} if level else {}), "true": true}


def _stated(said: Record, A: Matrix, say: Prose) -> tuple[Inlines, Inlines, bool]:
    """A statement, what the picture says of it, and whether the weights themselves, not their levels, say so."""
    i, j = said["cell"]
    match said["says"]:
        case "most":
            best = max(range(PICTURE), key=lambda k: level(A[i, k]))
            return (
                say("$x_{row}$ attends most to $x_{column}$.", row=i + 1, column=j + 1),
                say("the darkest cell of $q_{query}$ is that of $k_{key}$.", query=i + 1, key=best + 1),
                all(compare(A[i, j], A[i, k]) > 0 for k in range(PICTURE) if k != j),
            )
        case "range":
            low, high = (0, *BOUNDS)[said["level"] - 1], (*BOUNDS, 1)[said["level"] - 1]
            lies = "$a_{{row},{column}}$ lies in the range {range}."
            where = "$a_{{row},{column}}$ is the cell of $q_{query}$ and $k_{key}$: {range}."
            return (
                say(lies, **say.cell(i, j), range=RANGES[said["level"]]),
                say(where, **say.cell(i, j), query=i + 1, key=j + 1, range=RANGES[level(A[i, j])]),
                compare(low, A[i, j]) < 0 < compare(high, A[i, j]),
            )
    first, second = (RANGES[level(A[cell])] for cell in ((i, j), (j, i)))
    return (
        say("$a_{{row},{column}} > a_{{column},{row}}$", **say.cell(i, j)),
        say("the first lies in the range {first}, the second in {second}.", first=first, second=second),
        compare(A[i, j], A[j, i]) > 0,
    )


def which_statements(draw: Draw, say: Prose, place: int) -> Item:
    """Which of five statements on an unmasked picture are true: two or three of them."""
    scores, statements = draw.several("scores statements", _statements)
    A = softmax(scores)
    offers = []
    for statement in statements:
        text, why, _ = _stated(statement, A, say)
        offers.append(Offer(text, why, statement["true"]))

    def again() -> set[int]:
        return {k for k, statement in enumerate(statements) if _stated(statement, A, say)[-1]}

    asked, shown = "No mask was used here. Tick every statement that is true.", picture(A, say)
    part = choice_part("True statements", (asked, scale(), shown), offers, ticks(3), key=(asked, shown), several=True)
    return Item(part, partial(misprinted, A, say), 7, "statements", again=again)


def _statements(rng: Random) -> tuple[Rows, list[Record]]:
    """False ones come of reading columns as rows."""
    while True:
        scores = clear_scores(rng, ALL_SEEN)
        A = tuple(map(row_levels, scores))
        most = [_about_most(rng, A, i) for i in sample(rng, range(PICTURE), 2)]
        cells = [(i, j) for i in range(PICTURE) for j in range(i) if A[i][j] != A[j][i]]
        made: list[Record] = [statement for statement in most if statement]
        if len(cells) < 3 or len(made) < len(most):
            continue
        used = []
        for i, j in sample(rng, cells, 2):
            i, j = pick(rng, [(i, j), (j, i)])
            said = pick(rng, [A[i][j], A[j][i]])
            made.append(_statement("range", i, j, said == A[i][j], said))
            used.append({i, j})
        i, j = pick(rng, [cell for cell in cells if set(cell) not in used])
        i, j = pick(rng, [(i, j), (j, i)])
        made.append(_statement("greater", i, j, A[i][j] > A[j][i]))
        if 2 <= sum(statement["true"] for statement in made) <= 3:
            return scores, made


def _about_most(rng: Random, A: Rows, i: int) -> Record | None:
    """x_i attends most to x_j: true by the row, false by the column; None if the picture leaves one open."""
    row, column = A[i], [line[i] for line in A]
    right, wrong = row.index(max(row)), column.index(max(column))
    if row.count(max(row)) > 1 or column.count(max(column)) > 1 or right == wrong:
        return None
    said = pick(rng, [right, wrong])
    return _statement("most", i, said, said == right)


# ------------------------------------------------------------------------------------------------ the question

KINDS: Mapping[str, Callable[[Draw, Prose, int], Item]] = {
    "matrix": which_matrix,
    "mask": which_mask,
    "head": which_head,
    "statements": which_statements,
}


def ask(draw: Draw) -> ProvedQuestion:
    say = draw.prose()
    items = draw.each("items", lambda: [{"kind": kind} for kind in ITEMS[draw.spec.level]])
    return question(
        draw,
        [KINDS[item["kind"]](item, say, place) for place, item in enumerate(items)],
        introduction="Answer from the pictures alone.",
        given=(
            say.paragraph(
                "In every picture the row is the query and the column is the key. A cell shows the range of the "
                "weight:",
                "In every picture the column is the query and the row is the key. A cell shows the range of the "
                "weight:",
            ),
            scale(),
            say.paragraph("A white cell is exactly 0, and no other weight lies on the boundary between two ranges."),
        ),
        conventions=[
            say(
                "Tokens are rows: row $i$ of a picture shows the weights of token $i$, which sum to 1.",
                "Tokens are columns: column $i$ of a picture shows the weights of token $i$, which sum to 1.",
            )
        ],
    )


TYPE = ProblemType(ask, name="heatmap", title="Read a picture of weights")
