"""Formulas in lines: what stands between signs, what is cut where it is too wide, and how wide and high it all is."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TypeGuard, TypeVar

from symattn.formula.nodes import (
    NOTHING,
    Annotated,
    BigSum,
    Formula,
    Fraction,
    MatrixOf,
    Name,
    Number,
    Power,
    Relation,
    Row,
    Sum,
    Text,
    children,
    contains,
    is_short_fraction,
    is_tall,
)
from symattn.formula.width import fold, width, wrapped
from symattn.page.document import (
    Display,
    Entries,
    Inlines,
    Math,
    Words,
    spans,
)

T = TypeVar("T")


def is_single_character(index: Formula) -> bool:
    match index:
        case Number(digits):
            return len(digits) == 1
        case Name(base, sub, sup, primes, hat):
            return len(base) == 1 and not (sub or sup or primes or hat)
        case Text(words):
            return len(words) == 1
        case _:
            return False


def index_comma(sub: tuple[Formula, ...]) -> str:
    """What stands between indices: nothing in q₁₂, a comma in q_{10,2} and x_{i,query}."""
    return "" if all(map(is_single_character, sub)) else ","


def sign_after(matrix: MatrixOf, i: int, j: int) -> str:
    """What stands behind an entry of a matrix: what parts the columns, or the rows."""
    if j < len(matrix.rows[i]) - 1:
        return matrix.separator
    return matrix.row_end if i < len(matrix.rows) - 1 else ""


def has_tall_fraction(node: Formula) -> bool:
    """Whether a fraction of more than plain numbers is set with a bar in it: not inside an exponent or index."""
    match node:
        case Fraction():
            return not is_short_fraction(node)
        case Power(base, _):
            return has_tall_fraction(base)
        case Name():
            return False
        case _:
            return any(map(has_tall_fraction, children(node)))


def has_dense_fraction(node: Formula) -> bool:
    """Whether there are powers or sums in a fraction: in a line of text they would be too small to read."""
    match node:
        case Fraction(above, below):
            return any(contains(part, Power, BigSum, Fraction) for part in (above, below))
        case Name():
            return False
        case _:
            return any(map(has_dense_fraction, children(node)))


LINE = 43.3  # the width of a line of formulas, in em: 174 mm at 11 pt, less what they are indented by


def before_sign(line: Formula) -> tuple[Formula | None, Formula]:
    """A line cut at its first relation sign: what stands before it, if there is a sign, and the rest."""
    match line:
        case Relation(parts, signs) if signs:
            return parts[0], Relation((Text(""), *parts[1:]), signs)
        case _:
            return None, line


def goes_on_with_a_sum(line: Formula) -> bool:
    """Whether a line continues a sum of the line above: it stands a little to the right of the relation sign."""
    match line:
        case Row((Relation((Sum((Text(""), *_)), *_), _),)) | Row((Sum((Text(""), *_)),)) | Sum((Text(""), *_)):
            return True
        case _:
            return False


def goes_on(line: Formula) -> bool:
    """Whether a line continues the one above, with a relation sign or with a sum."""
    return (isinstance(line, Relation) and line.parts[0] == NOTHING) or goes_on_with_a_sum(line)


ON_A_SCREEN = 3  # columns of equations at most, since it may be narrow


def columns_that_fit(equations: Sequence[Formula], columns: int, limit: float = LINE, gap: float = 2) -> int:
    """The largest number of columns, at most the one wished for, whose equations fit on a line."""
    return columns_as_wide([width(equation) for equation in equations], columns, limit, gap)


def in_lines(items: Sequence[T], columns: int) -> list[Sequence[T]]:
    """Items row by row in `columns` columns."""
    return [items[i : i + columns] for i in range(0, len(items), columns)]


def entries_in_lines(entries: Entries, limit: float = LINE, most: int = 10) -> list[Sequence[Formula]]:
    """Equations in as many columns as have room, `most` at most; in a single one, what is too wide is folded."""
    columns = columns_that_fit(entries.equations, min(entries.columns, most), limit)
    return in_lines(folded(entries.equations, limit=limit) if columns == 1 else entries.equations, columns)


def columns_as_wide(widths: Sequence[float], columns: int, limit: float, gap: float) -> int:
    """The same for what is so wide."""
    for n in range(max(1, min(columns, len(widths))), 1, -1):
        if sum(max(widths[i::n]) + gap for i in range(n)) - gap <= limit:
            return n
    return 1


def formulas_in(content: Inlines) -> Iterator[Formula]:
    return (inline.formula for inline in spans(content) if isinstance(inline, Math))


def folded(lines: Iterable[Formula], lead: Inlines = (), limit: float = LINE) -> list[Formula]:
    """Lines that are too wide for the page cut: chains at their relation signs, rows of formulas at their gaps."""
    room = limit - (inlines_width(lead) + 1 if lead else 0)
    given = tuple(lines)
    apart = [part for line in given for part in (wrapped(line.items, room) if _is_wide(line, room) else (line,))]
    rows = any(isinstance(line, Row) for line in apart)
    done: list[Formula] = []
    for line in apart:
        if rows and line not in given:
            done.append(line if isinstance(line, Row) else Row((line,)))  # so that it begins where the others do
        elif isinstance(line, Relation) and width(line) > room:
            done += fold(line, room)
        else:
            done.append(line)
    return done


def _is_wide(line: Formula, room: float) -> TypeGuard[Row]:
    return isinstance(line, Row) and len(line.items) > 1 and width(line) > room


def in_one_line(block: Display) -> Inlines | None:
    """Leading words and the only formula after them as a line of text; None if there is more, or it is high."""
    match block:
        case Display((formula,), lead) if lead and not is_tall(formula):
            content = (*lead, Words(" "), Math(formula))
            return content if inlines_width(content) <= LINE else None
    return None


def lead_stands_above(lines: Iterable[Formula], lead: Inlines, limit: float = LINE) -> bool:
    """Whether the text before formulas gets a line of its own, since beside it they would be too wide."""
    return bool(lead) and max(map(width, lines), default=0.0) + inlines_width(lead) + 1 > 1.1 * limit


@lru_cache(maxsize=2**12)  # several arrangements are tried
def inlines_width(content: Inlines) -> float:
    """How wide text with formulas is, in em."""
    return sum(
        width(part.formula) if isinstance(part, Math) else sum(map(_character_width, part.text))
        for part in spans(content)
    )


def _character_width(character: str) -> float:
    """How wide a letter is on average, in em."""
    if unicodedata.east_asian_width(character) in "WF":
        return 1.0
    return 0.72 if character.isupper() else 0.5


def lines_height(lines: Iterable[Formula]) -> float:
    """The height of formulas one below the other, in em."""
    return sum(map(line_height, lines))


def line_height(line: Formula) -> float:
    """The height of a formula on a line of its own with the space above it, in em."""
    return height(line) + 0.9


@lru_cache(maxsize=2**12)  # several arrangements are tried
def height(formula: Formula) -> float:
    match formula:
        case MatrixOf(rows):
            return 0.4 + sum(max((1.45, *map(height, row))) for row in rows)
        case Fraction():
            return 2.6
        case Annotated(body, _, "under"):
            return height(body) + 0.7
        case Power(base, _):
            return height(base)
        case Name():
            return 1.3
        case _:
            return max((1.3, *map(height, children(formula))))


_SHORT_FORMULA = 16.0  # em: it has room in a narrow part of a line


def stays_whole(formula: Formula) -> bool:
    """Whether a formula in a heading is so short that the line breaks before it and not at its equals sign."""
    return width(formula) <= _SHORT_FORMULA
