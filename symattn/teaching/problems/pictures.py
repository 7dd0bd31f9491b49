"""Pictures of weights: tones that stand for ranges, scores that give clear ones, and the masks under them."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from types import MappingProxyType

from symattn.derivation.ops import Mask, Softmax
from symattn.derivation.ops.attention import Keep, blocks, causal, padding, window
from symattn.exact import Matrix, Value, compare
from symattn.formula import Formula, Text
from symattn.foundation.dice import whole
from symattn.foundation.languages import capitalised, message
from symattn.page.document import Block, HeatMap
from symattn.teaching.explanation.diagrams import BOUNDS, level
from symattn.teaching.problems.asking import Prose, series
from symattn.teaching.question import Part

Rows = tuple[tuple[int, ...], ...]

RANGES = (
    "0",
    message("{low} to {high}", low="0", high="0.2"),
    message("{low} to {high}", low="0.2", high="0.4"),
    message("{low} to {high}", low="0.4", high="0.7"),
    message("{low} to {high}", low="0.7", high="1"),
)
"""What the levels of a picture stand for."""
MARGIN = Fraction(1, 50)
PICTURE = 4  # tokens in a picture


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
    found = levels(say.turned(weights))
    n, m = weights.shape
    queries = tuple(say.formula(f"q_{i + 1}") for i in range(n))
    keys = tuple(say.formula(f"k_{j + 1}") for j in range(m))
    rows = series(
        message("row {row}: {levels}", row=i, levels=", ".join(map(str, row))) for i, row in enumerate(found, 1)
    )
    return HeatMap(
        found,
        message("Weights by level, from 0, white, to 4, black. {rows}.", rows=capitalised(rows)),
        row_labels=keys if say.columns else queries,
        column_labels=queries if say.columns else keys,
    )


def scale() -> HeatMap:
    description = message("Levels 0 to 4 stand for: {ranges}.", ranges=series(RANGES))
    labels: tuple[Formula, ...] = tuple(map(Text, RANGES))
    return HeatMap(((0, 1, 2, 3, 4),), description, column_labels=labels)


LIES = {
    False: "In every picture the row is the query and the column is the key. A cell shows the range of the weight:",
    True: "In every picture the column is the query and the row is the key. A cell shows the range of the weight:",
}
"""By whether tokens are columns."""


def legend(say: Prose) -> tuple[Block, ...]:
    return (
        say.paragraph(LIES[say.columns]),
        scale(),
        say.paragraph("A white cell is exactly 0, and no other weight lies on the boundary between two ranges."),
    )


# ------------------------------------------------------------------------------------------------ weights


MASKS: Mapping[str, tuple[str, Callable[[int], Keep]]] = MappingProxyType(
    {
        "none": ("No mask.", lambda n: ((True,) * n,) * n),
        "causal": ("Causal mask: no token sees a later one.", lambda n: causal(n, n)),
        "window": ("Local window: each token sees itself and the one before.", lambda n: window(n, n, 2)),
        "padding": ("Padding mask: the last token is padding.", lambda n: padding(n, n, n - 1)),
        "blocks": ("Block mask: two blocks of two tokens.", lambda n: blocks((n // 2, n - n // 2))),
    }
)


def keep_of(mask: str, tokens: int = PICTURE) -> Keep:
    return MASKS[mask][1](tokens)


def weights_under(scores: Rows, keep: Keep) -> Matrix:
    return Softmax().apply(Mask(keep).apply(Matrix(scores)))


@cache
def row_levels(scores: tuple[int, ...]) -> tuple[int, ...]:
    """The levels of the weights of visible scores; none where a weight is not clear.  Rows come again and again."""
    weights = Softmax().apply(Matrix([scores])).rows[0]
    return tuple(map(level, weights)) if all(map(is_clear, weights)) else ()


def clear_scores(rng: random.Random, keep: Keep) -> Rows:
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


def misprinted(A: Matrix, part: Part) -> str:
    """What is wrong with the levels printed, a row for each query, compared with the ends of their ranges."""
    *_, shown = (block for block in part.ask if isinstance(block, HeatMap))  # after the scale, if that stands there
    ends = ((0, 0), (0, BOUNDS[0]), (BOUNDS[0], BOUNDS[1]), (BOUNDS[1], BOUNDS[2]), (BOUNDS[2], 1 + MARGIN))
    for row, cells in zip(A.rows, shown.levels, strict=True):
        for weight, cell in zip(row, cells, strict=True):
            low, high = ends[cell]
            inside = (
                weight == 0 if not cell else compare(weight - MARGIN, low) > 0 and compare(weight + MARGIN, high) < 0
            )
            if not (inside or (cell == 4 and weight == 1)):
                return f"the weight {weight} is not well inside the range {RANGES[cell]}"
    return ""
