"""Rows and cells: a matrix in text, `1/7 * [[1, 2], [3, 4]]` or `1 2 ; 3 4`, and what stands in a table and beside it.

Labels of rows and columns, ticks and remarks are no entries.  One rule for every table, of whatever format: what was
asked for is a block of it, and round the block there is nothing but labels.  A label counts (1 2 3, 0 1 2, [1,]), or it
is no number at all (k1, token 2, ✓).  Nothing nests deeper than a list of rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import accumulate, chain
from typing import NamedTuple

from symattn.foundation.languages.words import any_of
from symattn.marking.submissions.entries import (
    Shape,
    begins_with_a_word,
    is_blank,
    is_crossed,
    is_number,
    kind_of,
    may_hold_number,
    undecorated,
)
from symattn.marking.submissions.labels import AND, BULLETS, IS, ROW
from symattn.marking.submissions.names import LONGEST_LINE, ONE_ROW, ROW_NUMBER

LARGEST = 40
"""Rows and columns that a matrix may have."""

LONGEST = 20_000
"""Characters of a text that is looked at as a matrix: as many entries as there may be, a dozen for each."""

Rows = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Cells:
    """A matrix as the texts of its entries, with a common factor outside ("" for none)."""

    rows: Rows
    factor: str = ""

    @classmethod
    def at_places(
        cls, texts: Mapping[tuple[int, int], str] | Mapping[tuple[int, ...], str], shape: tuple[int, ...]
    ) -> Cells:
        """Entries by their places, from 1; nothing where there is none."""
        high, wide = shape
        return cls(tuple(tuple(texts.get((i, j), "") for j in range(1, wide + 1)) for i in range(1, high + 1)))

    @property
    def shape(self) -> tuple[int, int]:
        """Its rows, and the entries of the first."""
        return len(self.rows), len(self.rows[0])

    def transposed(self) -> Cells:
        """Its columns as rows, where its rows are of one length."""
        return Cells(tuple(zip(*self.rows, strict=True)), self.factor)

    def texts(self) -> Iterator[str]:
        yield self.factor
        for row in self.rows:
            yield from row

    @property
    def blank(self) -> bool:
        return all(map(is_blank, self.texts()))


def read_matrix(text: str, shape: tuple[int, int] = (0, 0)) -> Cells | None:
    """A matrix in brackets, or in lines, or with `;` between its rows; None if nothing is written, or far too much.

    `shape` is the one that it should have: it decides where signs can be taken in two ways.  A decimal approximation
    behind ≈ is left away.

    >>> read_matrix("S = 1/2 * [[1, -2], [0, 1]]")
    Cells(rows=(('1', '-2'), ('0', '1')), factor='1/2')
    >>> read_matrix("1,5 2 ; 3 4", (2, 2)).rows
    (('1,5', '2'), ('3', '4'))
    """
    if len(text) > LONGEST:
        return None
    exact, *about = split(_without_sign(_RUN.sub("  ", without_kind(text))), "≈")
    if about and (("[" in about[0] and "[" not in exact) or not may_hold_number(exact)):
        exact += f"= {about[0]}"  # A = softmax(S/2) ≈ [[0.5, 0.5]]
    several = split(exact, "=")[-1].strip()
    body = _in_square_brackets(_MATRICES.sub(_below_each_other, _MATRICES.sub(_below_each_other, several)), shape)
    start, end = _bracketed(body)
    if not end:
        return Cells(rows) if (rows := _rows_of_lines(body, shape)) else None
    rows = _rows_in_brackets(body[start:end], shape)
    return Cells(rows, factor_outside(body[:start], body[end:])) if rows else None


_ROWS = r"\[\s*(?:\[[^\[\]]*\][\s,;]*){1,40}\]"
_MATRICES = re.compile(rf"\[\s*((?:{_ROWS}[\s,;]*){{1,16}})\]")
"""Matrices in a list, as all heads are printed, or a batch of one."""


def _below_each_other(several: re.Match[str]) -> str:
    """The matrices of a list as one."""
    return f"[{'; '.join(row.group() for row in _INNERMOST.finditer(several[1]))}]"


_INNERMOST = re.compile(r"\[[^\[\]]*\]")
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


def _in_square_brackets(text: str, shape: tuple[int, int] = (0, 0)) -> str:
    """Rows in round or curly brackets, as in "(1, 2), (3, 4)" or "(1) (2)" of a column, in square ones; else the text.

    >>> [_in_square_brackets(text) for text in ("(1 2), (3 4)", "(1 2; 3 4)", "(1 + e), (2, 3)", "{e/(1 + e), 2}")]
    ['[1 2], [3 4]', '[1 2], [ 3 4]', '(1 + e), (2, 3)', '[e/(1 + e), 2]']
    """
    whole = _WHOLE.fullmatch(text)
    inside = whole[1] or whole[2] if whole else text
    rows, beside = _bracketed_parts(inside)
    alone = not beside.strip(" \t\n,;/")
    if len(rows) == 1 and all(map(_NUMBERS.fullmatch, lines := rows[0].split(";"))):
        rows, listed = lines, alone  # (1 2; 3 4) and (1 2)
    else:
        several, is_column = len(rows) > 1 or whole is not None, shape == (len(rows), 1)
        are_rows = all(set(",;") & set(row) or is_column or _NUMBERS.fullmatch(row) for row in rows)
        listed = several and alone and are_rows
    if listed:
        return ", ".join(f"[{row}]" for row in rows)
    stripped = text.strip()
    ends = stripped[:1] + stripped[-1:]
    is_row = ends in ("()", "{}") and closed(stripped, 0, *ends) == len(stripped)
    is_row = is_row and len(split(stripped[1:-1], ",;")) > 1 and not _ONE_DECIMAL.fullmatch(stripped)
    return f"[{stripped[1:-1]}]" if is_row else text


def _bracketed_parts(text: str) -> tuple[list[str], str]:
    """What stands in round or curly brackets, of which none is within another, and what stands beside them.

    >>> _bracketed_parts("(1/(1 + e), 2), {3, 4} and")
    (['1/(1 + e), 2', '3, 4'], ',  and')
    """
    parts, beside, at = list[str](), "", 0
    while found := _OPENING.search(text, at):
        end = closed(text, found.start(), found[0], ")" if found[0] == "(" else "}")
        inside = text[found.end() : end - 1]
        if not end or set(inside) & set("[]={}"):
            break
        parts.append(inside)
        beside, at = beside + text[at : found.start()], end
    return parts, beside + text[at:]


_OPENING = re.compile(r"[({]")
_ONE_DECIMAL = re.compile(r"\(\s*[-+−]?\d+,\d{3,}(?:[eE][-+−]?\d+)?\s*\)")  # (1,4795)
_WHOLE = re.compile(r"\s*(?:[(\[](?=\s*\()(.*\))[\s,]*[)\]]|\{(?=\s*\{)(.*\})[\s,]*\})\s*", re.DOTALL)
_ONE = r"[-+−]?(?:(?:\d+(?:[.,]\d+|\.)?|[.,]\d+)(?:[eE][-+−]?\d+)?(?:/\d+)?%?|∞|inf(?:inity|ty)?)"
_NUMBERS = re.compile(rf"\s*{_ONE}(?:\s+{_ONE})+\s*")


def _bracketed(text: str) -> tuple[int, int]:
    """Where a list of rows, or rows in square brackets of their own, begin and end; (0, 0) if there are none."""
    listed = next((i for i in (text.find("[["), text.find("[ [")) if i >= 0), -1)
    start = listed if listed >= 0 else text.find("[")
    end = closed(text, start) if start >= 0 else 0
    while end and listed < 0 and (found := _NEXT_ROW.match(text, end)) and (further := closed(text, found.end() - 1)):
        end = further
    return (start, end) if end else (0, 0)


_NEXT_ROW = re.compile(r"[\s,;]*\[")


def closed(text: str, start: int, opening: str = "[", closing: str = "]") -> int:
    """Behind the bracket that closes the one at `start`; 0 if none does."""
    depth = 0
    for found in _any_of(opening + closing).finditer(text, start):
        depth += 1 if found[0] in opening else -1
        if depth == 0:
            return found.end()
    return 0


def _rows_in_brackets(text: str, shape: tuple[int, int]) -> Rows:
    several = text.startswith("[") and closed(text, 0) < len(text)  # [1, 2] and below it [3, 4]
    inside = text if several else text[1:-1].strip()
    if inside.startswith("["):
        lists = [piece.strip().strip("[]").rstrip(" ,") for piece in _pieces(inside, _BETWEEN_LISTS)]
        return _cells([piece for piece in lists if piece.strip(", ;")], shape[1])
    return _rows_of_lines(inside, shape)


_BETWEEN_LISTS = re.compile(r"(?<=\])(?:[\s,;]*(?=\0)|\s*[,;\n])")


def _rows_of_lines(text: str, shape: tuple[int, int]) -> Rows:
    """Rows on lines of their own, or with `;` between them."""
    lines = [_without_end(line.strip().strip("|").strip(), shape[1]) for line in text.splitlines()]
    lines = [line for line in lines if line]
    if all(map(in_round, lines)):
        lines = [line[1:-1].strip() for line in lines]
    if len(lines) == 1 and ";" in lines[0]:
        pieces, across = ([piece.strip() for piece in split(lines[0], sign)] for sign in ";|")
        if shape == (1, len(pieces)):
            return (tuple(pieces),)  # 0,5; 0,25: one row with `;` between the entries
        parted = across if 1 != len(across) == shape[0] != len(pieces) else pieces  # 1; 2 | 3; 4
        lines = [piece for piece in parted if piece]
    if len(lines) == 1 < shape[0] and shape[1] == 1 and len(row := _cells(lines, shape[0])[0]) == shape[0]:
        return tuple((entry,) for entry in row)  # a column is written in a line
    return _cells(lines, shape[1])


def _without_end(line: str, columns: int) -> str:
    """A row without the sign that ends it; a comma with a blank entry behind it is none.

    >>> _without_end("0,5  0,25,", 2), _without_end("1 2;", 2), _without_end("1, 2,", 3)
    ('0,5  0,25', '1 2', '1, 2,')
    """
    cells = split(line, ",") if line.endswith(",") else []
    is_blank = len(cells) == columns and not any(map(holds_two, cells))
    return line if is_blank else line.rstrip(",; \t")


def in_round(line: str) -> bool:
    """Whether round brackets stand round all of a line, with spaces between its entries: ( 1  2 )."""
    if line[:1] != "(" or closed(line, 0, "(", ")") < len(line):
        return False
    depths = accumulate((c == "(") - (c == ")") for c in line)
    return (" ", 1) in zip(line, depths, strict=True)


GAPS = tuple(map(re.compile, (r"\t+", r"\s*&\s*", r"\s*\|\s*", r"\s*;\s*", r",\s+", r",", r"\s{2,}", r"\s+")))
"""What can stand between entries, the plainest first."""


def _cells(lines: Sequence[str], columns: int) -> Rows:
    """Lines as entries: at the plainest separator that gives every line as many as there should be, in every line the
    same if possible; else at one that gives them alike many."""

    def rank(rows: Rows) -> tuple[int, int]:
        counts = set(map(len, rows))
        if columns > 1 and all(_fits(row, columns) for row in rows):
            return 0, 0
        if counts == {columns}:
            return 1, 0
        return (2, 0) if len(counts) == 1 and counts != {1} else (3, -len(rows[0]))

    if not lines or columns == 1:
        return tuple((line.strip(),) for line in lines)
    every = [tuple(split_at(line.strip(), gap) for line in lines) for gap in GAPS]
    ways = [rows for rows in every if not any(map(_is_gap, chain.from_iterable(rows)))] or every
    ways.sort(key=lambda rows: any(map(holds_two, chain.from_iterable(rows))))
    each = tuple(next((row for row in line if _fits(row, columns)), ()) for line in zip(*ways, strict=True))
    return min([*ways, each] if all(each) else ways, key=rank)


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
    return tuple(map(str.strip, _pieces(line, gap)))


def split(text: str, separators: str) -> list[str]:
    """Pieces between separators that stand in no bracket."""
    return _pieces(text, _any_of(separators))


def _pieces(text: str, gap: re.Pattern[str]) -> list[str]:
    masked = _masked(text)
    if masked == text:
        return gap.split(text)
    starts, ends = [0], list[int]()
    for found in gap.finditer(masked):
        ends.append(found.start())
        starts.append(found.end())
    return [text[start:end] for start, end in zip(starts, [*ends, len(text)], strict=True)]


@lru_cache(maxsize=2**8)  # a line is split at every gap
def _masked(text: str) -> str:
    """A text that has nothing but zeros in its brackets."""
    if not _IN_BRACKETS.search(text):
        return text
    depth, start, parts = 0, 0, list[str]()
    for found in _IN_BRACKETS.finditer(text):
        between = text[start : found.start()]
        parts.append("\0" * len(between) if depth else between)
        depth = max(0, depth + (1 if found[0] in "([{" else -1))
        parts.append("\0" if depth else found[0])
        start = found.end()
    return "".join((*parts, "\0" * (len(text) - start) if depth else text[start:]))


_IN_BRACKETS = re.compile(r"[][(){}]")


@cache
def _any_of(separators: str) -> re.Pattern[str]:
    return re.compile(f"[{re.escape(separators)}]")


_CALL = re.compile(r"[A-Za-z_.]{0,20}(?:[Mm]atrix|[Aa]rray|[Tt]ensor)\s*\($")
_DIGIT = re.compile(r"\d")
_BEHIND = re.compile(r"[\s)]*(?:/(?P<below>.+)|[*·×⋅](?P<times>.+))?")


def factor_outside(before: str, behind: str) -> str:
    """The common factor outside the brackets: 1/7 of 1/7 * [[…]], 1/(7) of [[…]]/7."""
    before = _CALL.sub("", before.strip()).strip(" *·×⋅")
    before = before.removesuffix("\\cdot").removesuffix("\\times").strip()
    before = "" if before.endswith(":") else before  # softmax(S): [[0.5, 0.5]]
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
    >>> entries_of([["", "1"], ["1", "7"], ["2", "8"]], (3, 2)).rows
    (('7',), ('8',))
    >>> entries_of([["[,1]", "[,2]"], ["[1,]", "1", "0"], ["[2,]", "3", "4"]], (2, 2)).rows
    (('1', '0'), ('3', '4'))
    """
    ragged = _spread([tuple(row) for row in rows if any(cell.strip() for cell in row)])
    table = _even(ragged)
    if not table or len(table) > LARGEST + 2 or len(table[0]) > LARGEST + MOST_BESIDE + 1:
        return None
    lengths = [*map(len, ragged)]
    asked = next((block for block in _blocks(table, lengths, shape) if block.is_labelled), None)
    found = _Cut(table, 1, 1, len(table[0])) if is_framed(table) else asked or _without_sure_labels(table, shape)
    written = max(lengths[found.top :], default=0)  # below a long line of heads there may be less
    inner = found._replace(right=min(found.right, written)).inside
    return Block(inner, inner != table, found.remarks) if inner and inner[0] else None


def is_framed(table: Sequence[Sequence[str]]) -> bool:
    """Whether heads above and beside count, from a corner that is no number: they can be nothing else."""
    above, beside = table[0][1:], [row[0] for row in table[1:]]
    return bool(above and beside) and is_label(table[0][0]) and are_counted(above) and are_counted(beside)


def is_label(cell: str) -> bool:
    """Whether a cell may be the label of a row or a column: a word, a sign, a place such as [1,]; or nothing."""
    plain = undecorated(cell).strip()
    if any(map(str.isdigit, plain)) and not (any(map(str.isalpha, plain)) or _PLACE.fullmatch(plain)):
        return False
    if len(_SEVERAL.findall(plain)) > MOST_NUMBERS:
        return False
    return not plain or (bool(_LABEL.fullmatch(plain)) and not is_number(plain))


def is_remark(cell: str) -> bool:
    """Whether a cell behind the entries is none: nothing, a tick, words without a number, a comment; a cross may mean
    that the row does not count.

    >>> [text for text in ("✓", "ok", "# row 1", "(sums to 1)", "✗", "0.5", "S = 2") if is_remark(text)]
    ['✓', 'ok', '# row 1', '(sums to 1)']
    """
    if any(map(str.isdigit, cell)) and not _COMMENT.search(cell):
        return False
    plain = undecorated(cell).strip()
    if not plain or plain in _CROSSES:
        return not plain
    return not (any(map(str.isdigit, plain)) or is_number(plain)) or bool(_COMMENT.match(plain))


_PLACE = re.compile(r"\[\d{0,2},\d{0,2}\]")
_SEVERAL, MOST_NUMBERS = re.compile(r"\d+(?:[.,]\d+)?"), 3
"""Numbers, and how many may be in a label: block 1, head 2, token 3."""
_LABEL = re.compile(rf"{_PLACE.pattern}|[^=≈\[\]]{{1,40}}[=:]?")
_CROSSES = ("✗", "✘", "❌", "×", "x")
_COMMENT = re.compile(r"(?:#|//|%|←|<-|\()\s*[^\W\d]")
_COUNTER = re.compile(r"[^\W\d]*[\s_]?[\[(]?,?(\d{1,2}),?[\])]?[.:)]?")


@lru_cache(maxsize=2**8)  # a line is looked at from above, too
def labelled_cells(line: str, gap: re.Pattern[str]) -> tuple[str, ...]:
    """The cells of a line at a gap, the label before them in one of its own: 1. or row 1:

    >>> labelled_cells("1) 0.5, 0.25", re.compile(", ?")), labelled_cells("row 2: 3 4", re.compile(" "))
    (('1)', '0.5', '0.25'), ('row 2:', '3', '4'))
    """
    found = _ROW_LABEL.match(line.strip())
    if found is None:
        return split_at(line.rstrip().strip(" "), gap)  # a tab before its first entry ends an empty cell
    rest = line.strip()[found.end() :]
    inside = _ROW_IN_BRACKETS.fullmatch(rest)
    return found[1] or found[2], *split_at(inside[1] if inside else rest, gap)


_ROW_IN_BRACKETS = re.compile(r"[\[(]\s*([^\[\]()]*?)\s*[\])]")
_ROW_LABEL = re.compile(
    r"(\(?(?:[^\W\d_]{1,8}[\s_]?)?\d{1,2}(?:[.):]|\s?[:=])\)?)\s+(?=\S)"
    r"|((?:\d{1,2}\s+)?[^\W\d_][\w'’. -]{0,20}?)\s*(?:[-=]>|[→⟶⇒:]|\s(?=\s*\[))\s*"
    r"(?=[\[(]\s*[-+−.\d√])"  # please → [1, 0]
)


_SUM = re.compile(rf"(?i)\W*(?:{any_of('row sum|sum|total|check')}|Σ|∑|\\sum)\W*")


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
        behind = zip(*(row[self.right :] for row in self.table), strict=True)
        above = [[row[j] for j in columns] for row in self.table[: self.top]]
        return (
            all(map(str.strip, chain.from_iterable(above)))
            and all(all(map(is_remark, column)) or (self.top and _SUM.fullmatch(column[0])) for column in behind)
            and all(map(are_labels, chain(beside, above)))
        )


def are_labels(cells: Sequence[str]) -> bool:
    """Whether cells label what stands behind or below them: they count from 0 or 1, or none of them is a number; the
    first of them may be the only one, as the name beside a matrix is.
    """
    plain = [undecorated(cell).strip() for cell in cells]
    if not all(plain) and any(plain[1:]):
        return False
    one_number = len(plain) == 1 and plain[0].isdigit()
    return (are_counted(plain) and not one_number) or all(map(is_label, cells))


def are_counted(labels: Sequence[str]) -> bool:
    """Whether labels count from 0 or 1: q1, q2, q3.

    >>> are_counted(["1.", "2."]), are_counted(["q0", "q1"]), are_counted(["q1", "q3"]), are_counted(["the", "cat"])
    (True, True, False, False)
    """
    numbers = [int(found[1]) for found in map(_COUNTER.fullmatch, map(undecorated, labels)) if found]
    return numbers in ([*range(len(labels))], [*range(1, len(labels) + 1)])


def _blocks(table: Rows, lengths: Sequence[int], shape: Shape) -> Iterator[_Cut]:
    """The blocks of the shape that was asked for, with at most a line of labels above it and some beside; in one row at
    least, of the `lengths` that were written, they are not wider than what is there.
    """
    high, wide = shape
    top, aside = len(table) - high, len(table[0]) - wide
    for left in range(min(aside, MOST_BESIDE) + 1) if high and wide and top in (0, 1) else ():
        if max(lengths[top:]) >= left + wide:
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
    cornered = [("", *rows[0]), *rows[1:]] if headless else []
    are_heads = headless and (are_labels(rows[0]) or is_framed(cornered))
    return tuple((*row, *[""] * (wide - len(row))) for row in (cornered if are_heads else rows))


def _spread(rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The same, where a column holds whole rows in brackets, [0.5, 0.25], with a column for each of their entries."""
    even = len(rows) > 1 and len(set(map(len, rows))) == 1
    for j, column in reversed([*enumerate(zip(*rows[1:], strict=True))] if even else []):
        found = [_ROW_IN_BRACKETS.fullmatch(undecorated(cell)) for cell in column]
        parts = [re.split(r"\s*[,;]\s*|\s+", one[1]) for one in found if one]
        if len(parts) == len(column) and len(set(map(len, parts))) == 1 < len(parts[0]):
            heads = [rows[0][j]] * len(parts[0])
            rows = [(*row[:j], *own, *row[j + 1 :]) for row, own in zip(rows, [heads, *parts], strict=True)]
    return rows


BULLET = re.compile(rf"^\s*[{BULLETS}]\s+")


FIRST_ROW = re.compile(rf"(?i)((?:[^\d\[\n]|(?<=[\w^])\d){{0,80}}?){ROW}\s*1(?:\s*[:=.)]|\s{IS}\b)\s*")


_TO = re.compile(r"[-=]>|[→⟶⇒]")


_FURTHER_ROW = re.compile(rf"(?i)\s{{0,64}}[,;/|]{{1,2}}{ROW_NUMBER}")


def are_bulleted(lines: Sequence[str]) -> bool:
    """Whether every row of numbers is an item of a list, so that "- 3, 4" does not begin with −3.

    A row alone is one if its number has a sign of its own, or all of it stands in brackets, or if it stands further in
    than the item above it.

    >>> are_bulleted(["- 3, 4", "- 5, 6"]), are_bulleted(["- 3, 4"]), are_bulleted(["- -3, 4"])
    (True, False, True)
    >>> are_bulleted(["- S", "  - 3, 4"]), are_bulleted(["S", "- 3, 4"])
    (True, False)
    """
    items = [*map(BULLET.match, lines)]
    if not any(items):
        return False
    rows = [k for k, line in enumerate(lines) if count_numbers(BULLET.sub("", line), 0)]
    if len(rows) != 1:
        return len(rows) > 1 and all(items[k] for k in rows)
    row, above = items[rows[0]], items[rows[0] - 1] if rows[0] else None
    if row is None:
        return False
    text = lines[rows[0]][row.end() :]
    has_sign = text.startswith(("-", "−", "+"))
    is_list = closed(text, 0, "([", ")]") == len(text) and count_numbers(text, 0) > 1  # - (3, 4)
    return has_sign or is_list or (above is not None and _indent(above[0]) < _indent(row[0]))


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def as_row(line: str) -> str:
    """Row 2: 3, 4 and 5 as the numbers alone, and so row 1: 3 4, row 2: 5 6; any other line as it is."""
    if ONE_ROW.match(line) and (rows := without_row_numbers(line)) != line:
        return rows
    line = BULLET.sub("", line) if ONE_ROW.match(BULLET.sub("", line)) else line
    row = re.sub(rf",?\s+{AND}\s+", ", ", behind_arrow(ONE_ROW.sub("", line), 0))
    is_list = row.startswith(("[", "(")) and closed(row, 0, "([", ")]") == len(row)
    row = row[1:-1] if is_list else _FACTORED.sub(_multiplied, row)
    return row if row != line and ONE_ROW.match(line) and count_numbers(row, 0) else line


_FACTORED = re.compile(r"^(.+?)\s*[*·×⋅]\s*(?:\[([^\[\]]+)\]|\(([^()]*,[^()]*)\))$")


def _multiplied(found: re.Match[str]) -> str:
    """1/3 * [1, 2] with the factor before each entry, for a row may have one that others have not."""
    inside = found[2] or found[3]
    entries = (_parted(inside, 0, is_number) or [inside]) if is_number(found[1]) else []
    return ", ".join(f"({found[1]})*({entry.strip()})" for entry in entries) or found[0]


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
    if begins_with_a_word(text):
        return 0
    text = text.strip().strip("|").strip()
    text = text.removesuffix("\\\\").rstrip(",;").strip()
    text = text[:-1] if text.endswith(("].", ").")) else text
    one_pair = text[:1] in ("[", "(") and text[-1:] in ("]", ")") and text.count(text[0]) == 1
    text = text[1:-1].strip() if one_pair or in_round(text) else text
    cell = is_number if _BETWEEN_NUMBERS.search(text) else is_entry
    if not text or _BEGINS_WRONGLY.match(text) or len(text) > LONGEST_LINE or ":" in text or not may_hold_number(text):
        return 0
    if "=" in text:
        return len(_equations(text, columns))
    cells = _parted(text, columns, cell)
    return len(cells) or int(is_number(text) and ";" not in text)


def _parted(line: str, columns: int, is_cell: Callable[[str], bool]) -> Sequence[str]:
    """The cells of a line at the plainest gap that gives as many as there should be, else more than one."""
    for right in (columns, 0):
        for gap in GAPS:
            cells = split_at(line, gap)
            whole = ";" in line and len(cells) == 1  # of 1; 2 the last would be read
            if not whole and (len(cells) == right or len(cells) > 1 > right) and all(map(is_cell, cells)):
                return cells
    return []


_known_count = lru_cache(maxsize=2**11)(_counted)


_LONGEST_KNOWN = 120


def _equations(line: str, columns: int) -> Sequence[str]:
    """Entries with their working, `2.72/3.72 = 0.73, 1/3.72 ≈ 0.27, 0`, or some of them: as many as there should be,
    else more than one.
    """
    line = _ROUND_A_SIGN.sub(r"\1", line.strip())
    return _parted(line, columns, _is_equation) or _parted(line, columns, _is_worked_out)


def _is_equation(cell: str) -> bool:
    sides = re.split("[=≈]", cell)
    return len(sides) > 1 and all(side and is_number(side) for side in sides)


def _is_worked_out(cell: str) -> bool:
    """Whether a cell is a number, perhaps behind its working; 0.7 = 1 may say what a row sums to."""
    first = re.split("[=≈]", cell, maxsplit=1)[0]
    return is_number(cell) if first == cell else _WORKING.search(first) is not None and _is_equation(cell)


def results(text: str, columns: int) -> Rows:
    """Lines of such entries, as many in each; none if it is anything else."""
    has_working = ("=" in text or "≈" in text) and "[" not in text
    lines = [line for line in text.splitlines() if line.strip()] if has_working else []
    rows = tuple(tuple(_equations(line, columns)) for line in lines)
    return rows if len({len(row) for row in rows}) == 1 and len(rows) * len(rows[0]) > 1 and rows[0] else ()


_WORKING = re.compile(r"[/*·×√^+(]|\d\s*[-−]")
_ROUND_A_SIGN = re.compile(r"(?<!\s)\s*([=≈*/·×÷+]|(?<=\s)[-−](?=\s))\s*")


_BEGINS_WRONGLY = re.compile(r";|,(?!\d)")


def is_entry(cell: str) -> bool:
    """Also a cross, as in a row of masked scores: 1 x x."""
    return is_number(cell) or is_crossed(cell)


_BETWEEN_NUMBERS = re.compile(r"\d\s*[^\d\s.,;+−-]\s*\d")  # 3 x 4


def is_plausible(rows: Rows) -> bool:
    """Whether a matrix has numbers in it: most of what is written can be read."""
    if len(rows) > LARGEST or max(map(len, rows), default=0) > LARGEST:
        return False
    count, numbers, words = sum(map(len, rows)), 0, 0
    for cell in chain.from_iterable(rows):
        kind = kind_of(cell)
        numbers, words = numbers + (kind == "number"), words + (kind == "words")
        if words * 2 > count:
            return False
    return numbers >= max(1, words)


def has_shape(rows: Rows, shape: Shape) -> bool:
    return len(rows) == shape[0] and {len(row) for row in rows} == {shape[1]}


def has_unread(rows: Rows) -> bool:
    """Whether an entry is no number, so that a shape that does not fit may be no mistake."""
    return not all(map(is_entry, chain.from_iterable(rows)))


def are_entries(rows: Rows) -> bool:
    """Whether every entry is a number, a cross, or nothing, and one is a number at least."""
    return is_plausible(rows) and not has_unread(rows) and not any(map(holds_two, chain.from_iterable(rows)))
