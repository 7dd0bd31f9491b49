"""A matrix in a text that may say more: with the rows of another kind, labels, comments and sentences round it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from symattn.foundation.languages.words import any_of
from symattn.marking.submissions.entries import Shape, may_hold_number
from symattn.marking.submissions.labels import AND
from symattn.marking.submissions.tables import (
    GAPS,
    Block,
    Cells,
    are_entries,
    behind_arrow,
    closed,
    entries_of,
    has_shape,
    has_unread,
    is_framed,
    is_plausible,
    labelled_cells,
    read_matrix,
    results,
    without_row_numbers,
)


@lru_cache(maxsize=2**6)  # a line is tried as several things
def matrix_in(text: str, shape: Shape) -> Cells | None:
    """A text as a matrix of the shape, else as any matrix in which numbers stand."""
    if not may_hold_number(text):
        return None
    text = behind_arrow(text.strip(" \t\n`*").replace("\\\\", ";").rstrip("! \t"), shape[1])
    text = text[:-1].strip() if text.endswith((".", ",", ";", "!")) and open_brackets(text) == 0 else text
    text = without_row_numbers(_ROWS_ARE.sub("", text))
    if rows := results(text, shape[1]):
        return Cells(rows)
    if labelled := _within_labels(text, shape):
        return labelled
    found: Cells | None = None
    for way in dict.fromkeys((text, *(re.sub(separator, " ; ", text) for separator in _BETWEEN_ROWS))):
        matrix = read_matrix(way, shape)
        if matrix is None and way == text:
            return None
        if matrix is None or not is_plausible(matrix.rows):
            continue
        if has_shape(matrix.rows, shape):
            return matrix
        if found is None and not (any(shape) and has_unread(matrix.rows)):
            found = matrix
    if found is None:
        return None
    is_matrix = max(map(len, found.rows)) > 1 or shape[1] == 1 or text[:1] + text[-1:] == "[]"
    return found if is_matrix else None


def fits(text: str, shape: Shape) -> bool:
    """Whether a text is a matrix of a shape."""
    matrix = matrix_in(text, shape)
    return matrix is not None and has_shape(matrix.rows, shape) and are_entries(matrix.rows)


def labelled_block(
    lines: Sequence[str], shape: Shape, are_statements: Callable[[Sequence[str]], bool]
) -> tuple[Block, int] | None:
    """The matrix of a shape in lines, with labels above or beside its entries, and how many lines it takes; None if it
    stands there without labels or not at all.  What counts above and beside is labels before it is a row.
    """
    high, wide = shape
    is_there = bool(lines) and lines[0].startswith("[") and not HEADS_OF_R.match(lines[0]) and fits(lines[0], shape)
    if not lines or is_there:
        return None
    for gap in GAPS if len(lines) >= high else ():  # 0,5  0,25 is not labelled 0
        cells = [labelled_cells(line, gap) for line in lines[: high + 1]]
        heights = (high + 1, high) if is_framed(cells) else (high, high + 1)
        blocks = [
            (block, count)
            for count in heights
            if count <= len(cells) and min(map(len, cells[:count])) >= wide and not are_statements(lines[:count])
            if (block := entries_of(cells[:count], shape)) and has_shape(block.rows, shape) and are_entries(block.rows)
        ]
        if blocks:
            return next((found for found in blocks if found[0].labelled), None)
    return None


HEADS_OF_R = re.compile(r"\s*\[(?:,\d{1,2}|\d{1,2},)\]")  # [,1] [,2]


_ROWS_ARE = re.compile(rf"(?i)^(?:{any_of('with|has|the|these')}\s+)*{any_of('row|rows')}[\s:]+(?=[\d(+−.√-])")


_BETWEEN_ROWS = (
    r"\s+/\s+|\s*//\s*",
    rf",?\s+{AND}\s+",
    r"\s*\|\|\s*|\s+\|\s+",
    rf",?\s+{AND}\s+|,\s+",
)


def _within_labels(text: str, shape: Shape) -> Cells | None:
    """The matrix of this shape in a table of LaTeX with labels above and beside its entries."""
    table = read_matrix(text) if "&" in text and all(shape) else None
    block = entries_of(table.rows, shape) if table and not has_shape(table.rows, shape) else None
    is_whole = block and block.labelled and has_shape(block.rows, shape) and are_entries(block.rows)
    return Cells(block.rows, table.factor) if table and block and is_whole else None


def another_beside(text: str, matrix: Cells) -> str:
    """What stands beside a matrix in a text and may be another one; "" if nothing does."""
    another = _ANOTHER.search(text)
    return another[1] if another else text if _leaves_numbers(text, matrix) else ""


_ANOTHER = re.compile(  # … or [[1, 2]], and numbers behind a matrix
    r"(?s)\][\s,;]*+([^\W\d_]{2,}\s[^\[\]=]{0,40}\[\s*\[.*|[-+−]?\(?\.?\d[^\[\]=]*$)"
)


def _leaves_numbers(text: str, matrix: Cells) -> bool:
    """Whether so many numbers stand beside a matrix, with no equals sign between, that they may be another one."""
    last = re.split("[=≈]", text)[-1]
    start = last.find("[")
    outside = last[:start] + last[closed(last, start) :] if start >= 0 else last  # in it there may be labels
    most = len(NUMBERS.findall(" ".join(matrix.texts()))) + 2
    return len(NUMBERS.findall(last)) > most and has_numbers(outside)


def has_numbers(text: str) -> bool:
    """Whether there are more numbers in a text than in a name."""
    return len(NUMBERS.findall(text)) > 2


NUMBERS = re.compile(r"\d+(?:[.,]\d+)?")


def open_brackets(text: str) -> int:
    """How many square brackets are open at the end."""
    return text.count("[") - text.count("]")


def without_comment(text: str) -> tuple[str, str]:
    """A row without the comment behind it, and the comment."""
    found = _COMMENT_BEHIND.search(text)
    return (text[: found.start()], found[1]) if found else (text, "")


_COMMENT_BEHIND = re.compile(r"(?<=[\]),;])[ \t]+((?:#|//|%|←|<-)[ \t]*[^\W\d_].*)$")  # [1, 2],  # token 1
