"""Practice pages filled in, as a browser would give them back."""

import re
from collections.abc import Mapping
from functools import cache

from scripts import key_of

from symattn.practice.session import recipe_of
from symattn.teaching.sheets import sheets

Cells = Mapping[tuple[int, int, int], str]
"""What is typed, by part, row and column, from 1."""

_PLACE = re.compile(
    r'data-part="(\d+)"|<td data-row="(\d+)" data-column="(\d+)"><input type="(text|checkbox)"(?= )|<input|<textarea'
)


def places(page):
    """Every box of a matrix on a page, in its order."""
    found, part = [], 0
    for match in _PLACE.finditer(page):
        part = int(match[1]) if match[1] else part
        if match[2]:
            found.append((part, int(match[2]), int(match[3])))
    return found


def filled(page, cells):
    """The page with boxes filled in."""
    part = 0

    def typed(match):
        nonlocal part
        part = int(match[1]) if match[1] else part
        if not match[2] or not (text := cells.get((part, int(match[2]), int(match[3])), "")):
            return match[0]
        return f'{match[0]} checked=""' if match[4] == "checkbox" else f'{match[0]} value="{text}"'

    return _PLACE.sub(typed, page)


def drawn(session, recipe, seed, language="en"):
    """A sheet as the session shows it, and the same sheet drawn beside it."""
    return session.draw(recipe, seed, language), sheet_of(recipe, seed)


@cache
def sheet_of(recipe, seed):
    return next(sheets(recipe_of(recipe, seed), 1))


def lines_of(sheet):
    """The right lines of a sheet that asks for steps, by the names of its parts."""
    return {p.name: [[str(x) for x in row] for row in sheet.problem[p.name].result.rows] for p in sheet.question.parts}


def right_values(sheet):
    """What is right in every box of a matrix, by part, row and column."""
    return cells_of(sheet, key_of(sheet.question))


def cells_of(sheet, lines):
    """Lines by part, row and column."""
    return {
        (number, i, j): text
        for number, part in enumerate(sheet.question.parts, 1)
        for i, row in enumerate(lines.get(part.name, ()), 1)
        for j, text in enumerate(row, 1)
    }
