"""What stands in a table and what stands beside it: labels of rows and columns, ticks and remarks are no entries.

One rule for every table, of whatever format: what was asked for is a block of it, and round the block there is nothing
but labels.  A label counts (1 2 3, 0 1 2, [1,]), or it is no number at all (k1, token 2, ✓).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from symattn.marking.submissions.entries import is_number, undecorated
from symattn.marking.submissions.matrices import LARGEST, Rows, split_at
from symattn.marking.submissions.stated import Shape

MOST_BESIDE = 2
"""Columns of labels before the entries: the name of the matrix, and the number of the row."""


class Block(NamedTuple):
    """The entries of a table, whether something stood round them, and what was said behind them in words."""

    rows: Rows
    labelled: bool
    remarks: tuple[str, ...] = ()


def entries_of(rows: Sequence[Sequence[str]], shape: Shape) -> Block | None:
    """The entries of a table without the labels round them; None if nothing is left.

    A block of the `shape` that was asked for comes first; otherwise, and where no shape is known, (0, 0), every line of
    labels that can be nothing else is left out.

    >>> entries_of([["", "k1", "k2"], ["q1", "1", "0"], ["q2", "3", "4"]], (2, 2)).rows
    (('1', '0'), ('3', '4'))
    >>> entries_of([["1.", "1", "0", "✓"], ["2.", "3", "4", ""]], (2, 2)).rows
    (('1', '0'), ('3', '4'))
    >>> entries_of([["[,1]", "[,2]"], ["[1,]", "1", "0"], ["[2,]", "3", "4"]], (2, 2)).rows
    (('1', '0'), ('3', '4'))
    """
    table = _even([tuple(row) for row in rows if any(cell.strip() for cell in row)])
    if not table or len(table) > LARGEST + 2 or len(table[0]) > LARGEST + MOST_BESIDE + 1:
        return None
    asked = next((block for block in _blocks(table, shape) if block.is_labelled), None)
    found = asked or _without_sure_labels(table, shape)
    inner = found.inside
    return Block(inner, inner != table, found.remarks) if inner and inner[0] else None


def is_label(cell: str) -> bool:
    """Whether a cell may be the label of a row or a column: a word, a sign, a place such as [1,]; or nothing."""
    plain = undecorated(cell).strip()
    return not plain or (bool(_LABEL.fullmatch(plain)) and not is_number(plain))


def is_remark(cell: str) -> bool:
    """Whether a cell behind the entries is none: nothing, a tick, words without a number, a comment; a cross may mean
    that the row does not count.

    >>> [text for text in ("✓", "ok", "# row 1", "(sums to 1)", "✗", "0.5", "S = 2") if is_remark(text)]
    ['✓', 'ok', '# row 1', '(sums to 1)']
    """
    plain = undecorated(cell).strip()
    if not plain or plain in _CROSSES:
        return not plain
    return not (any(map(str.isdigit, plain)) or is_number(plain)) or bool(_COMMENT.match(plain))


_LABEL = re.compile(r"\[\d{0,2},\d{0,2}\]|[^=≈\[\]]{1,40}[=:]?")
_CROSSES = ("✗", "✘", "❌", "×", "x")
_COMMENT = re.compile(r"(?:#|//|%|←|<-|\()\s*[^\W\d]")
_COUNTER = re.compile(r"[^\W\d]*[\s_]?[\[(]?,?(\d{1,2}),?[\])]?[.:)]?")


def labelled_cells(line: str, gap: re.Pattern[str]) -> tuple[str, ...]:
    """The cells of a line at a gap, the label before them in one of its own: 1. or row 1:

    >>> labelled_cells("1) 0.5, 0.25", re.compile(", ?")), labelled_cells("row 2: 3 4", re.compile(" "))
    (('1)', '0.5', '0.25'), ('row 2:', '3', '4'))
    """
    found = _ROW_LABEL.match(line.strip())
    if found is None:
        return split_at(line.strip(), gap)
    rest = line.strip()[found.end() :]
    inside = _ROW_IN_BRACKETS.fullmatch(rest)
    return found[1] or found[2], *split_at(inside[1] if inside else rest, gap)


_ROW_IN_BRACKETS = re.compile(r"[\[(]\s*([^\[\]()]*?)\s*[\])]")
_ROW_LABEL = re.compile(
    r"(\(?(?:[^\W\d_]{1,8}[\s_]?)?\d{1,2}(?:[.):]|\s?[:=])\)?)\s+(?=\S)"
    r"|([^\W\d_][\w'’. -]{0,20}?)\s*(?:[-=]>|[→⟶⇒:])\s*(?=[\[(]\s*[-+−.\d√])"  # please → [1, 0]
)


class _Cut(NamedTuple):
    """A table with a block in it: rows from `top` on, columns from `left` to `right`."""

    table: Rows
    top: int
    left: int
    right: int

    @property
    def inside(self) -> Rows:
        return tuple(row[self.left : self.right] for row in self.table[self.top :])

    @property
    def remarks(self) -> tuple[str, ...]:
        behind = chain.from_iterable(row[self.right :] for row in self.table[self.top :])
        return tuple(cell.strip() for cell in behind if any(map(str.isalpha, cell)))

    @property
    def is_labelled(self) -> bool:
        """Whether all that stands round the block is labels."""
        columns = range(self.left, self.right)
        beside = [[row[j] for row in self.table[self.top :]] for j in range(self.left)]
        behind = (row[self.right :] for row in self.table)
        above = [[row[j] for j in columns] for row in self.table[: self.top]]
        return (
            all(map(are_labels, chain(beside, above)))
            and all(map(str.strip, chain.from_iterable(above)))
            and all(map(is_remark, chain.from_iterable(behind)))
        )


def are_labels(cells: Sequence[str]) -> bool:
    """Whether cells label what stands behind or below them: they count from 0 or 1, or none of them is a number; the
    first of them may be the only one, as the name beside a matrix is.
    """
    plain = [undecorated(cell).strip() for cell in cells]
    if not all(plain) and any(plain[1:]):
        return False
    counted = [_COUNTER.fullmatch(cell) for cell in plain]
    if all(counted) and not (len(plain) == 1 and plain[0].isdigit()):
        numbers = [int(found[1]) for found in counted if found]
        if numbers in ([*range(len(cells))], [*range(1, len(cells) + 1)]):
            return True
    return all(map(is_label, cells))


def _blocks(table: Rows, shape: Shape) -> Iterator[_Cut]:
    """The blocks of the shape that was asked for, with at most a line of labels above it and some beside."""
    high, wide = shape
    top, aside = len(table) - high, len(table[0]) - wide
    for left in range(min(aside, MOST_BESIDE) + 1) if high and wide and top in (0, 1) else ():
        yield _Cut(table, top, left, left + wide)


def _without_sure_labels(table: Rows, shape: Shape) -> _Cut:
    """The table without lines of labels at its edges: words, and numbers that count where the corner is no number."""
    high, wide = len(table), len(table[0])
    corner = is_label(table[0][0])
    top = int(high > 1 and corner and high != shape[0] and are_labels(table[0][1:] or table[0]))
    side = [row[0] for row in table[top:]]
    left = int(wide > 1 and wide != shape[1] and are_labels(side) and (corner or all(map(is_label, side))))
    right = wide - int(wide > left + 1 and wide - left != shape[1] and all(is_remark(row[-1]) for row in table))
    return _Cut(table, top, left, right)


def _even(rows: Sequence[tuple[str, ...]]) -> Rows:
    """All rows of one length: a line of heads that lacks the corner gets one, other short rows end in nothing."""
    wide = max(map(len, rows), default=0)
    headless = len(rows) > 1 and len(rows[0]) == wide - 1 and {len(row) for row in rows[1:]} == {wide}
    first = [("", *rows[0])] if headless and are_labels(rows[0]) else [*rows[:1]]
    return tuple((*row, *[""] * (wide - len(row))) for row in (*first, *rows[1:]))
