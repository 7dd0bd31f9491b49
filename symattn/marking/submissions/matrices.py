"""Matrices in text, `1/7 * [[1, 2], [3, 4]]` or `1 2 ; 3 4`, taken apart into the texts of their entries.

Nothing is read as a number here, and nothing nests deeper than a list of rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain

LARGEST = 40
"""Rows and columns that a matrix may have."""

LONGEST = 20_000
"""Characters of a text that is looked at as a matrix: as many entries as there may be, a dozen for each."""

Rows = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class TextMatrix:
    """The entries as they were typed, what stands before the first equals sign, and a common factor outside."""

    rows: Rows
    name: str = ""
    factor: str = ""


def read_matrix(text: str, shape: tuple[int, int] = (0, 0)) -> TextMatrix | None:
    """A matrix in brackets, or in lines, or with `;` between its rows; None if nothing is written, or far too much.

    `shape` is the one that it should have: it decides where signs can be taken in two ways.  A decimal approximation
    behind ≈ is left away.

    >>> read_matrix("S = 1/2 * [[1, -2], [0, 1]]")
    TextMatrix(rows=(('1', '-2'), ('0', '1')), name='S', factor='1/2')
    >>> read_matrix("1,5 2 ; 3 4", (2, 2)).rows
    (('1,5', '2'), ('3', '4'))
    """
    if len(text) > LONGEST:
        return None
    exact = _without_sign(_RUN.sub("  ", without_kind(text))).partition("≈")[0]
    first, *others = split(exact, "=")
    name, body = (first.strip(), others[-1].strip()) if others else ("", exact.strip())
    body = _in_square_brackets(body)
    start, end = _bracketed(body)
    if not end:
        return TextMatrix(rows, name) if (rows := _rows_of_lines(body, shape)) else None
    rows = _rows_in_brackets(body[start:end], shape)
    return TextMatrix(rows, name, factor_outside(body[:start], body[end:])) if rows else None


_RUN = re.compile(r"[^\S\n\t]{3,}")


def _without_sign(text: str) -> str:
    """Rows in which every entry has its sign, ≈ 0.33, ≈ 0.67, without the signs."""
    lines = [line for line in text.splitlines() if line.strip()]
    return _ABOUT.sub("", text) if all(line.lstrip(" \t[|").startswith("≈") for line in lines) else text


_ABOUT = re.compile(r"≈[ \t]*(?=[-+−.\d√(e])")


def without_kind(text: str) -> str:
    """An array without what NumPy and PyTorch say of it behind its numbers.

    >>> without_kind("tensor([[1.]], dtype=torch.float64, grad_fn=<MmBackward0>)")
    'tensor([[1.]])'
    """
    return _KIND.sub("", text)


_KIND = re.compile(r",\s*(?:dtype|device|grad_fn|requires_grad)=(?:<[^<>]*>|'[^']*'|[\w.]+)")


def _in_square_brackets(text: str) -> str:
    """Rows in round or curly brackets, as in "(1, 2), (3, 4)", in square ones; any other text as it is.

    >>> [_in_square_brackets(text) for text in ("(1 2), (3 4)", "(1 2; 3 4)", "(1 + e), (2, 3)")]
    ['[1 2], [3 4]', '[1 2], [ 3 4]', '(1 + e), (2, 3)']
    """
    whole = _WHOLE.fullmatch(text)
    inside = whole[1] or whole[2] if whole else text
    rows = [one or other for one, other in _LIST.findall(inside)]
    alone = not _LIST.sub("", inside).strip(" \t\n,;/")
    if len(rows) == 1 and all(map(_NUMBERS.fullmatch, lines := rows[0].split(";"))):
        rows, listed = lines, alone  # (1 2; 3 4) and (1 2)
    else:
        several = len(rows) > 1 or whole is not None
        listed = several and alone and all(set(",;") & set(row) or _NUMBERS.fullmatch(row) for row in rows)
    return ", ".join(f"[{row}]" for row in rows) if listed else text


_LIST = re.compile(r"\(([^()\[\]{}=]+)\)|\{([^()\[\]{}=\\]+)\}")
_WHOLE = re.compile(r"\s*(?:[(\[](?=\s*\()(.*\))[\s,]*[)\]]|\{(?=\s*\{)(.*\})[\s,]*\})\s*", re.DOTALL)
_ONE = r"[-+−]?(?:\d+(?:[.,]\d+|\.)?|[.,]\d+)(?:[eE][-+−]?\d+)?(?:/\d+)?%?"
_NUMBERS = re.compile(rf"\s*{_ONE}(?:\s+{_ONE})+\s*")


def _bracketed(text: str) -> tuple[int, int]:
    """Where a list of rows, or rows in square brackets of their own, begin and end; (0, 0) if there are none."""
    listed = next((i for i in (text.find("[["), text.find("[ [")) if i >= 0), -1)
    start = listed if listed >= 0 else text.find("[")
    if start < 0:
        return _tuple(text)
    end = closed(text, start)
    while end and listed < 0 and (found := _NEXT_ROW.match(text, end)) and (further := closed(text, found.end() - 1)):
        end = further
    return (start, end) if end else (0, 0)


_NEXT_ROW = re.compile(r"[\s,;]*\[")


def closed(text: str, start: int, opening: str = "[", closing: str = "]") -> int:
    """Behind the bracket that closes the one at `start`; 0 if none does."""
    depth = 0
    for i in range(start, len(text)):
        depth += (text[i] in opening) - (text[i] in closing)
        if depth == 0:
            return i + 1
    return 0


def _tuple(text: str) -> tuple[int, int]:
    """(1, 2, 3) or {1, 2, 3}: the whole text, with a comma or a semicolon that stands in no inner bracket."""
    stripped = text.strip()
    if _ONE_DECIMAL.fullmatch(stripped):
        return 0, 0
    if stripped[:1] + stripped[-1:] not in ("()", "{}") or len(list(split(stripped[1:-1], ",;"))) < 2:
        return 0, 0
    if closed(stripped, 0, stripped[0], stripped[-1]) < len(stripped):
        return 0, 0
    start = text.index(stripped[0])
    return start, start + len(stripped)


_ONE_DECIMAL = re.compile(r"\(\s*[-+−]?\d+,\d{3,}(?:[eE][-+−]?\d+)?\s*\)")  # (1,4795)


def _rows_in_brackets(text: str, shape: tuple[int, int]) -> Rows:
    several = text.startswith("[") and closed(text, 0) < len(text)  # [1, 2] and below it [3, 4]
    inside = text if several else text[1:-1].strip()
    if inside.startswith("["):
        lists = [piece.strip().strip("[]").rstrip(" ,") for piece in split(inside, ",;\n", behind="]")]
        return _cells([piece for piece in lists if piece.strip(", ;")], shape[1])
    if text.startswith(("(", "{")):
        rows = _rows_of_lines(inside, shape) if ";" in inside else ()
        if rows and (", " in inside or (len(rows) == shape[0] and {len(row) for row in rows} == {shape[1]})):
            return rows  # (1, 2; 3, 4)
        row = tuple(cell.strip() for cell in split(inside, ";" if ";" in inside else ","))
        return tuple((entry,) for entry in row) if shape == (len(row), 1) else (row,)
    return _rows_of_lines(inside, shape)


def _rows_of_lines(text: str, shape: tuple[int, int]) -> Rows:
    """Rows on lines of their own, or with `;` between them."""
    lines = [line.strip().strip("|").rstrip(";").strip() for line in text.splitlines()]
    lines = [line for line in lines if line]
    if all(map(in_round, lines)):
        lines = [line[1:-1].strip() for line in lines]
    if len(lines) == 1 and ";" in lines[0]:
        pieces = [piece.strip() for piece in split(lines[0], ";")]
        if shape == (1, len(pieces)):
            return (tuple(pieces),)  # 0,5; 0,25: one row with `;` between the entries
        lines = [piece for piece in pieces if piece]
    if len(lines) == 1 < shape[0] and shape[1] == 1 and len(row := _cells(lines, shape[0])[0]) == shape[0]:
        return tuple((entry,) for entry in row)  # a column is written in a line
    return _cells(lines, shape[1])


def in_round(line: str) -> bool:
    """Whether round brackets stand round all of a line, with spaces between its entries: ( 1  2 )."""
    depths = list(accumulate((c == "(") - (c == ")") for c in line))
    return line[:1] == "(" and 0 not in depths[:-1] and depths[-1] == 0 and (" ", 1) in zip(line, depths, strict=True)


GAPS = tuple(map(re.compile, (r"\t+", r"\s*&\s*", r"\s*\|\s*", r"\s*;\s*", r",\s+", r",", r"\s{2,}", r"\s+")))
"""What can stand between entries, the plainest first."""


def _cells(lines: Sequence[str], columns: int) -> Rows:
    """Lines as entries: at the plainest separator that gives every line as many as there should be, in every line the
    same if possible; else at one that gives them alike many."""
    every = [tuple(split_at(line.strip(), gap) for line in lines) for gap in GAPS]
    ways = [rows for rows in every if not any(map(_is_gap, chain.from_iterable(rows)))] or every
    ways.sort(key=lambda rows: any(map(holds_two, chain.from_iterable(rows))))
    same = (rows for rows in ways if all(_fits(row, columns) for row in rows))
    each = tuple(next((row for row in line if _fits(row, columns)), ()) for line in zip(*ways, strict=True))
    if columns > 1 and (rows := next(same, each)) and all(rows):
        return rows
    for right in ({columns}, None):
        for rows in ways:
            counts = set(map(len, rows))
            if counts == right or (right is None and len(counts) == 1 and counts != {1} and columns != 1):
                return rows
    return max(ways, key=lambda rows: len(rows[0])) if lines and columns != 1 else tuple((line,) for line in lines)


def _is_gap(cell: str) -> bool:
    """Whether a sign that parts entries was taken for one: 2, &, 1."""
    return cell in (",", ";", "&", "|")


def _fits(row: Sequence[str], columns: int) -> bool:
    """Whether a line has as many entries as it should, and no sign between entries is left in one."""
    return len(row) == columns and not any(cell.endswith((",", ";")) for cell in row)


def holds_two(entry: str) -> bool:
    """Whether two numbers stand in an entry with nothing but a gap between them, and are no mixed number.

    >>> [text for text in ("1 2", "3  -1", "1,0 -1/2", "1 1/2", "3 - 1", "2 -1e", "e^2 -1", "1 000") if holds_two(text)]
    ['1 2', '3  -1', '1,0 -1/2']
    """
    return _TWO.search(entry) is not None


_NUMBER = r"(?:\d++(?:[.,]\d*+)?|[.,]\d++)(?:[eE][-+−]?\d++)?"
_TWO = re.compile(
    rf"(?<![\w^.,]){_NUMBER}\s+(?:[-+−]{_NUMBER}|(?!\d{{3}}(?!\d)){_NUMBER}(?![\d.,eE+−-]*\s*/))(?![\w(])"
    r"|\)\s{2,}[-+−]?[\d.,]"
)


def split_at(line: str, gap: re.Pattern[str]) -> tuple[str, ...]:
    """What a line has between its gaps, of which none stands in brackets."""
    if not _IN_BRACKETS.search(line):
        return tuple(map(str.strip, gap.split(line)))
    cells, depth, start, at = [], 0, 0, 0
    while at < len(line):
        if depth == 0 and (found := gap.match(line, at)):
            cells.append(line[start:at])
            start = at = found.end()
            continue
        depth = max(0, depth + (line[at] in "([{") - (line[at] in ")]}"))
        at += 1
    return tuple(cell.strip() for cell in (*cells, line[start:]))


_IN_BRACKETS = re.compile(r"[][(){}]")


def split(text: str, separators: str, behind: str = "") -> Iterator[str]:
    """Pieces between separators that stand in no bracket; with `behind`, only those right behind that sign."""
    depth, start, last = 0, 0, ""
    for i, character in enumerate(text):
        depth = max(0, depth + (character in "([{") - (character in ")]}"))
        if depth == 0 and character in separators and (not behind or last == behind):
            yield text[start:i]
            start = i + 1
        elif behind and depth == 1 and character == "[" and last == behind and text[start:i].strip():
            yield text[start:i]  # [1 2] [3 4], as NumPy prints it
            start = i
        last = character if not character.isspace() else last
    yield text[start:]


_CALL = re.compile(r"[A-Za-z_.]{0,20}(?:[Mm]atrix|array|tensor)\s*\($")
_DIGIT = re.compile(r"\d")
_BEHIND = re.compile(r"[\s)]*(?:/(?P<below>.+)|[*·×⋅](?P<times>.+))?")


def factor_outside(before: str, behind: str) -> str:
    """The common factor outside the brackets: 1/7 of 1/7 * [[…]], 1/(7) of [[…]]/7."""
    before = _CALL.sub("", before.strip()).strip(" *·×⋅")
    before = before.removesuffix("\\cdot").removesuffix("\\times").strip()
    found = _BEHIND.fullmatch(behind)
    if before.endswith((",", ";")) or (before and not found and _DIGIT.search(behind)):
        return f"{before} … {behind.strip()}"  # -1, [-2], 1: no number can be read here
    factors = [f"({before})"] if before else []
    if found and found["times"]:
        factors.append(f"({found['times'].strip()})")
    product = "*".join(factors) or "1"
    if found and found["below"]:
        return f"{product}/({found['below'].strip()})"
    return before if factors == [f"({before})"] else "*".join(factors)
