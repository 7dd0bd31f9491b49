"""Rows of numbers in the lines of a text: which lines are some, and how many numbers they have."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain

from symattn.marking.submissions.entries import is_number, kind_of
from symattn.marking.submissions.matrices import LARGEST, Rows, holds_two, in_round
from symattn.marking.submissions.stated import Shape
from symattn.marking.submissions.written import is_crossed

BULLET = re.compile(r"^\s*[-*+•]\s+")


_ROW_NUMBER = r"\s*(?:row|token|zeile|fila|ligne)\s*(\d{1,2})\s*[:=.)]\s*"


ONE_ROW = re.compile(f"(?i)^{_ROW_NUMBER}")


FIRST_ROW = re.compile(r"(?i)((?:[^\d\[\n]|(?<=[\w^])\d){0,80}?)(?:row|token|zeile|fila|ligne)\s*1\s*[:=.)]\s*")


_TO = re.compile(r"[-=]>|[→⟶⇒]")


_WORD = re.compile(r"(?!sqrt|array|tensor)[^\W\d_]{4}")


_FURTHER_ROW = re.compile(rf"(?i)\s{{0,64}}[,;/|]{{1,2}}{_ROW_NUMBER}")


DRAWING = re.compile(r"[⎡⎢⎣⎤⎥⎦│⎛⎜⎝⎞⎟⎠]")


def are_bulleted(lines: Sequence[str]) -> bool:
    """Whether every row of numbers is an item of a list, so that "- 3, 4" does not begin with −3."""
    rows = [line for line in lines if count_numbers(BULLET.sub("", line), 0)]
    return len(rows) > 1 and all(map(BULLET.match, rows))


def as_row(line: str) -> str:
    """Row 2: 3, 4 and 5 as the numbers alone, and so row 1: 3 4, row 2: 5 6; any other line as it is."""
    if ONE_ROW.match(line) and (rows := without_row_numbers(line)) != line:
        return rows
    line = BULLET.sub("", line) if ONE_ROW.match(BULLET.sub("", line)) else line
    row = re.sub(r",?\s+(?:and|und|et|y)\s+", ", ", behind_arrow(ONE_ROW.sub("", line), 0))
    return row if row != line and ONE_ROW.match(line) and count_numbers(row, 0) else line


def without_row_numbers(text: str) -> str:
    """Row 1: 3 4, row 2: 5 6 as 3 4 ; 5 6, also behind words; any other text as it is."""
    first = FIRST_ROW.match(text)
    numbers = [1, *map(int, _FURTHER_ROW.findall(text))] if first else []
    if first is None or len(numbers) < 2 or numbers != [*range(1, len(numbers) + 1)]:
        return text
    return first[1] + _FURTHER_ROW.sub(" ; ", text[first.end() :])


def behind_arrow(text: str, columns: int) -> str:
    """Of lines that lead to something, "sum 82.07 -> 0.67, 0.09, 0.24", what they lead to.

    Nothing where a row leads to another, as in "8, 4, 6 -> 4, 2, 3": only a person can say which of them is meant.
    """
    lines = []
    for line in text.split("\n"):
        first, *others = _TO.split(line)
        if others and count_numbers(first, columns) > 1:
            return ""
        lines.append(others[-1].strip() if others else line)
    return "\n".join(lines)


def count_numbers(text: str, columns: int) -> int:
    """How many numbers a line has, if it has nothing but numbers, 0 if it has anything else."""
    return _known_count(text, columns) if len(text) <= _LONGEST_KNOWN else _counted(text, columns)


def _counted(text: str, columns: int) -> int:
    text = DRAWING.sub(" ", text).strip().strip("|").strip()
    text = text.removesuffix("\\\\").rstrip(",;").strip()
    one_pair = text[:1] in ("[", "(") and text[-1:] in ("]", ")") and text.count(text[0]) == 1
    text = text[1:-1].strip() if one_pair or in_round(text) else text
    cell = is_number if _BETWEEN_NUMBERS.search(text) else is_entry
    if (
        not text
        or _BEGINS_WRONGLY.match(text)
        or len(text) > LONGEST_LINE
        or ":" in text
        or not any(c.isdigit() or c in "∞ef½" for c in text)
    ):
        return 0
    if "=" in text:
        return len(_equations(text, columns))
    for right in (columns, 0):
        for gap in _GAPS:
            cells = re.split(gap, text)
            if ";" in text and len(cells) == 1:
                continue  # of 1; 2 the last would be read
            if (len(cells) == right or (not right and len(cells) > 1)) and all(map(cell, cells)):
                return len(cells)
    return 1 if is_number(text) and ";" not in text else 0


_known_count = lru_cache(maxsize=2**11)(_counted)


_LONGEST_KNOWN = 120


def _equations(line: str, columns: int) -> list[str]:
    """Entries with their working, `2.72/3.72 = 0.73, 1/3.72 = 0.27`: as many as there should be, else more than one."""
    line = _ROUND_A_SIGN.sub(r"\1", line.strip())
    for right in (columns, 0):
        for gap in _GAPS:
            cells = re.split(gap, line)
            if (len(cells) == right or (not right and len(cells) > 1)) and all(map(_is_equation, cells)):
                return cells
    return []


def _is_equation(cell: str) -> bool:
    sides = re.split("[=≈]", cell)
    return len(sides) > 1 and all(side and is_number(side) for side in sides)


def _alone(line: str, columns: int) -> list[str]:
    """A number without working, between others that have it, in a column."""
    return [line.strip()] if columns == 1 and "=" not in line and is_number(line) else []


def results(text: str, columns: int) -> Rows:
    """Lines of such entries, as many in each; none if it is anything else."""
    lines = [line for line in text.splitlines() if line.strip()] if "=" in text and "[" not in text else []
    rows = tuple(tuple(_equations(line, columns) or _alone(line, columns)) for line in lines)
    return rows if len({len(row) for row in rows}) == 1 and len(rows) * len(rows[0]) > 1 and rows[0] else ()


_SPACE = r"(?<!\s)\s*"  # a whole run of it: beginning in the middle of a long one takes its square


_GAPS = (r"\t+", rf"{_SPACE}&\s*", rf"{_SPACE}\|\s*", rf"{_SPACE};\s*", r",\s+", r",", r"\s{2,}", r"\s+")


_ROUND_A_SIGN = re.compile(rf"{_SPACE}([=≈*/·×÷+]|(?<=\s)[-−](?=\s))\s*")


LONGEST_LINE = 2000


_BEGINS_WRONGLY = re.compile(r";|,(?!\d)")


def is_entry(cell: str) -> bool:
    """Also a cross, as in a row of masked scores: 1 x x."""
    return is_crossed(cell) or is_number(cell)


_BETWEEN_NUMBERS = re.compile(r"\d\s*[^\d\s.,;+−-]\s*\d")  # 3 x 4


def is_plausible(rows: Rows) -> bool:
    """Whether a matrix has numbers in it: most of what is written can be read."""
    if len(rows) > LARGEST or max(map(len, rows), default=0) > LARGEST:
        return False
    kinds = Counter(kind_of(cell) for row in rows for cell in row)
    return kinds["number"] > 0 and kinds["number"] >= kinds["words"]


def has_shape(rows: Rows, shape: Shape) -> bool:
    return len(rows) == shape[0] and {len(row) for row in rows} == {shape[1]}


def has_unread(rows: Rows) -> bool:
    """Whether an entry is no number, so that a shape that does not fit may be no mistake."""
    return not all(map(is_entry, chain.from_iterable(rows)))


def is_run_together(rows: Rows, shape: Shape) -> bool:
    """Whether entries were not told apart, so that the shape is wrong as well: "1,0  -1,0" is no difference."""
    return not has_shape(rows, shape) and any(map(holds_two, chain.from_iterable(rows)))


def is_prose(text: str, rows: Rows, shape: Shape) -> bool:
    """Whether what was read in a line is a sentence with numbers in it: words between them, or rows of any length."""
    if "\n" in text:
        return False
    unread = [cell for row in rows for cell in row if not is_number(cell)]
    if any(map(_WORD.search, unread)):
        return True
    return len(set(map(len, rows))) > 1 if len(rows) > 1 else bool(unread) and len(rows[0]) != shape[1]


def are_entries(rows: Rows) -> bool:
    """Whether every entry is a number, a cross, or nothing, and one is a number at least."""
    return is_plausible(rows) and not has_unread(rows)
