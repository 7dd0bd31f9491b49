"""Tables on a page: how wide their columns are, and how many rows fit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from symattn.formula.nodes import (
    Blank,
    MatrixOf,
    contains,
)
from symattn.formula.width import width
from symattn.foundation.identity import is_identity
from symattn.page.document import (
    Inlines,
    Math,
    Table,
    Words,
    as_text,
    spans,
)
from symattn.page.writers.measure import LINE, formulas_in, height, inlines_width
from symattn.page.writers.paper import EM, Page

CELL_INSET = 1.2
"""Em of a column beside what stands in it."""


def laid_out(table: Table, page: Page) -> Table:
    """The table, turned with its rows as columns where it has few rows and is much too wide for the page."""
    columns = table.columns
    if not table.row_heads or table_width(table) <= 1.25 * page.line or len(columns) <= 2 * (len(table.rows) + 1):
        return table
    return replace(table, header=columns[0], rows=tuple(columns[1:]))


_LONG_AND_NARROW = 8  # rows of two columns


def in_two_halves(table: Table, page: Page) -> bool:
    """Whether a table is so long and narrow that its second half stands beside the first."""
    if page.large or page.share < 1 or len(table.header) != 2 or len(table.rows) < _LONG_AND_NARROW:
        return False
    wide = table_width(table)
    return wide < 0.45 * page.line and not has_rows_for_writing(table)


def is_for_writing(row: Sequence[Inlines], table: Table) -> bool:
    """Whether nothing stands in a row of a table but its head: it is to be filled in by hand."""
    return table.row_heads and len(row) > 1 and not any(map(inlines_width, row[1:]))


def has_rows_for_writing(table: Table) -> bool:
    return any(is_for_writing(row, table) for row in table.rows)


def is_blank(cell: Inlines) -> bool:
    """Whether a cell of a table is a place to write."""
    match cell:
        case (Math(Blank()),):
            return True
        case _:
            return False


def has_matrices(table: Table) -> bool:
    """Whether there are matrices in a table: its rows are then set apart by lines."""
    return any(contains(formula, MatrixOf) for row in table.rows for cell in row for formula in formulas_in(cell))


_WORD = 7.0  # em: a column of words is to be no narrower, or as narrow as the words are


def column_shares(table: Table, limit: float = LINE) -> list[float]:
    """The share of the line each column of a table gets, if its words have to be wrapped; else nothing.

    Formulas, the ids of sheets and short words are not broken; a column that a short word does not fit takes room from
    the others.  Where too little is left for words, the shares are more than a line together, and the table is made
    smaller as a whole.
    """
    columns, widths = table.columns, _column_widths(table)
    if sum(widths) <= limit:
        return []
    room = 0.97 - 0.03 * len(widths)
    shares = [wide / limit * room for wide in _narrowed(widths, limit)]
    needed = [max(map(_unbroken, column)) for column in columns]
    if all(need < share * limit for need, share in zip(needed, shares, strict=True)):
        words = [max(map(_short_word, column)) for column in columns]
        return _widened(shares, [max(need, word) / limit for need, word in zip(needed, words, strict=True)])
    least = [max(need + 0.6, min(wide, _WORD)) for need, wide in zip(needed, widths, strict=True)]
    more = [wide - low for wide, low in zip(widths, least, strict=True)]
    if not any(more):
        return []
    spare = max(0.0, limit * room - sum(least))
    return [(low + spare * extra / sum(more)) / limit for low, extra in zip(least, more, strict=True)]


def _narrowed(widths: Sequence[float], limit: float) -> list[float]:
    """Widths that are together as wide as the limit: what is wider than its fair share makes room for the others."""
    fair = limit / len(widths)
    narrow = sum(wide for wide in widths if wide <= fair)
    smaller = (limit - narrow) / sum(wide for wide in widths if wide > fair)
    return [wide if wide <= fair else wide * smaller for wide in widths]


def _widened(shares: Sequence[float], least: Sequence[float]) -> list[float]:
    """Shares that are each as large as they must be: what some lack is taken from what the others have to spare."""
    lack = sum(max(0.0, low - share) for share, low in zip(shares, least, strict=True))
    spare = sum(max(0.0, share - low) for share, low in zip(shares, least, strict=True))
    kept = 1 - min(1.0, lack / spare) if spare else 1.0
    return [low + kept * max(0.0, share - low) if lack else share for share, low in zip(shares, least, strict=True)]


def table_width(table: Table) -> float:
    """How wide a table is in em if nothing in it is wrapped."""
    return sum(_column_widths(table))


def _column_widths(table: Table) -> list[float]:
    return [max(map(inlines_width, column)) + CELL_INSET for column in table.columns]


def is_too_wide(table: Table, shares: Sequence[float], limit: float) -> bool:
    """Whether a table with these shares has to be made smaller for a line."""
    if shares:
        return sum(shares) >= 1
    return table_width(table) > limit


def table_parts(table: Table, shares: Sequence[float], page: Page, most: int) -> list[tuple[tuple[Inlines, ...], ...]]:
    """The rows in as many parts as it takes for each part to fit on a page, with `most` rows at most."""
    wide = table_width(table)
    rooms = [share * page.line for share in shares] or [wide] * len(table.header)
    smaller = min(1.0, page.line / (sum(rooms) if shares else wide))
    room = page.height / (page.scale * EM) / smaller
    parts: list[list[tuple[Inlines, ...]]] = [[]]
    used = head = _row_height(table.header, rooms)
    for row in table.rows:
        high = _row_height(row, rooms)
        if parts[-1] and (used + high > room or len(parts[-1]) == most):
            parts.append([])
            used = head
        parts[-1].append(row)
        used += high
    return [tuple(part) for part in parts]


def _row_height(row: Iterable[Inlines], rooms: Iterable[float]) -> float:
    """The height of a row of a table in em: an estimate, a little generous."""
    return max(
        (
            max(1.3 * -(-inlines_width(cell) // (0.9 * room)), *map(height, formulas_in(cell)), 1.3) + 0.9
            for cell, room in zip(row, rooms, strict=True)
        ),
        default=0.0,
    )


def _unbroken(content: Inlines) -> float:
    """How wide what is not wrapped is, in em: formulas, and the id of a sheet."""
    ids = [
        1.2 * inlines_width((part,)) for part in spans(content) if isinstance(part, Words) and is_identity(part.text)
    ]
    return max([*map(width, formulas_in(content)), *ids], default=0.0)


_SHORT = 4.0  # em: a word that is no wider is not hyphenated, as "Marks" and "19/20"


def _short_word(content: Inlines) -> float:
    """How wide the widest short word is where it is bold, in em."""
    words = (word for part in spans(content) if isinstance(part, Words) for word in part.text.split())
    return 1.2 * max((wide for word in words if (wide := inlines_width(as_text(word))) <= _SHORT), default=0.0)
