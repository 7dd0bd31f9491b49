"""Matrices in the wrong box: found by what stands in them.

Somebody who writes every line one box too low, or A where Z belongs, has made no mistake in the mathematics. A matrix
belongs to another box if all of it is what the key has there, and nothing of the kind stands there already.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isclose

from symattn.exact import is_symbolic, values_of
from symattn.exact.approximate import near
from symattn.exact.values import is_finite
from symattn.marking.attempt import Entry, Grid
from symattn.marking.marker.script import Script


def misplaced(script: Script) -> Mapping[str, str]:
    """The steps in whose boxes another step's matrix stands, each with the step that the matrix belongs to.

    A single matrix only where it has not even the shape of its box: one that has may have been put there by a mistake
    (scores that were not scaled), several that all stand where others belong hardly were.
    """
    if script.printed:
        return {}
    asked = [step.name for step in script.d if step.name in script.asked]
    right = {name: values_of(script.d[name].result) for name in asked}
    keys = {name: [[_number(x) for x in row] for row in matrix.rows] for name, matrix in right.items()}
    grids = {name: grid for name, grid in script.written.items() if name in keys}
    wrong = {name: grid for name, grid in grids.items() if not _is(grid, keys[name])}
    free = [name for name in asked if name not in grids or name in wrong]
    moves: dict[str, str] = {}
    for name, grid in wrong.items():
        fitting = [other for other in free if other != name and _is(grid, keys[other])]
        if len(fitting) == 1 and fitting[0] not in moves.values():
            moves[name] = fitting[0]
    stays = set(wrong) - set(moves)
    moves = {name: target for name, target in moves.items() if target not in stays}
    return moves if len(moves) > 1 or any(not script.fitting(name) for name in moves) else {}


def _number(value: object) -> float | None:
    return near(value) if is_finite(value) and not is_symbolic(value) else None


def _is(grid: Grid, key: list[list[float | None]]) -> bool:
    """Whether every entry was written and is that of the key, as far as its decimals go."""
    if grid.shape != (len(key), len(key[0]) if key else 0):
        return False
    return all(_fits(entry, key[i][j]) for i, j, entry in grid.cells())


def _fits(entry: Entry, number: float | None) -> bool:
    if number is None or entry.value is None or (own := _number(entry.value)) is None:
        return False
    return isclose(own, number, rel_tol=1e-9, abs_tol=near(entry.unit or 0) + 1e-12)
