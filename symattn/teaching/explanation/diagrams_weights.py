"""Weights of attention as heat maps, with their numbers in the cells."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from symattn.derivation.derivation import Step
from symattn.errors import InputError
from symattn.exact import Matrix, Value, compare, decimal_text, has_symbols
from symattn.foundation.languages import capitalised, message
from symattn.page.document import Block, HeatMap, HeatMaps, Inlines, Math
from symattn.teaching.explanation.wording import Wording

BOUNDS = (Fraction(1, 5), Fraction(2, 5), Fraction(7, 10))
"""Level 0 of a heat map is exactly 0; 1 to 4 are parted by these."""

_PLACES = 2
_LONG = 4  # signs of a fraction that is written in a cell


def level(weight: Value) -> int:
    """The level of a weight: 0 for exactly 0, else one more than the number of bounds below it."""
    return 0 if weight == 0 else 1 + sum(compare(bound, weight) < 0 for bound in BOUNDS)


def weights(wording: Wording) -> list[Block]:
    """The weights of every head, side by side; what was worked out token by token is put together again."""
    maps = tuple(weight_maps(wording))
    if not maps:
        raise InputError("There are no weights in numbers here, so there is no heat map to draw.")
    return [HeatMaps(maps)]


def weight_maps(wording: Wording) -> Iterator[tuple[Inlines, HeatMap]]:
    """A heat map of every matrix of weights, under its name, that lies as the matrix does."""
    groups: dict[str, list[Step]] = {}
    for step in wording.derivation:
        if step.stem == "A" and isinstance(step.result, Matrix):
            groups.setdefault(step.role, []).append(step)
    for role, steps in groups.items():
        rows = [row for step in steps for row in _of_queries(step, wording)]
        if len({len(row) for row in rows}) == 1 and not any(has_symbols(x) for row in rows for x in row):
            columns = wording.orientation == "columns"
            yield (Math(wording.name(role)),), _heat_map(list(zip(*rows, strict=True)) if columns else rows, wording)


def _of_queries(step: Step, wording: Wording) -> tuple[tuple[Value, ...], ...]:
    assert isinstance(step.result, Matrix)
    return step.result.T.rows if wording.orientation == "columns" else step.result.rows


def _heat_map(rows: list[tuple[Value, ...]], wording: Wording) -> HeatMap:
    words = tuple(tuple(map(_number, row)) for row in rows)
    rows_said = [message("row {row}: {weights}", row=i, weights=", ".join(row)) for i, row in enumerate(words, 1)]
    said, *others = [capitalised(rows_said[0]), *rows_said[1:]]
    for other in others:
        said = message("{rows}; {row}", rows=said, row=other)
    labels = (wording.notation.named("Q").row, wording.notation.named("K").row)
    down, across = labels if wording.orientation == "rows" else labels[::-1]
    return HeatMap(
        tuple(tuple(map(level, row)) for row in rows),
        message("The weights as a heat map, from 0, white, to 1, black. {rows}.", rows=said),
        row_labels=tuple(wording.read(down, i=i + 1) for i in range(len(rows))),
        column_labels=tuple(wording.read(across, i=j + 1) for j in range(len(rows[0]))),
        words=words,
    )


def _number(weight: Value) -> str:
    """A weight in a few signs: 0, 1/3, 0.27."""
    text = str(weight)
    return text if isinstance(weight, int | Fraction) and len(text) <= _LONG else decimal_text(weight, _PLACES)
