"""What all writers agree on: where brackets and commas go, and how large the boxes are."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from symattn.document import AnswerGrid, Block, Box, Heading, Inlines, Math, Table, Together
from symattn.formula.nodes import (
    NEGATIVE,
    POWER,
    SUM,
    Annotated,
    BigSum,
    CellKind,
    Formula,
    Fraction,
    MatrixOf,
    Name,
    Negative,
    Number,
    Power,
    Product,
    Relation,
    Text,
    children,
    factor_needs_brackets,
    tightness,
)
from symattn.formula.width import fold, width

# --- brackets -----------------------------------------------------------------------------------------


def term_needs_brackets(term: Formula, last: bool) -> bool:
    """Whether a term of a sum is bracketed: a sum in a sum, and a Σ that others follow."""
    if isinstance(term, BigSum):
        return not last
    return tightness(term) <= SUM


def opposite_needs_brackets(body: Formula) -> bool:
    """Whether what a minus stands before is bracketed: −(a + b), −(−a)."""
    return tightness(body) <= NEGATIVE


def slashed_factor_needs_brackets(factor: Formula, first: bool, sign: str) -> bool:
    """The rule for factors where fractions are written with a slash: (1/2)x, but 1/2 · x."""
    if isinstance(factor, Fraction):
        return sign == ""
    return factor_needs_brackets(factor, first, sign)


def above_slash_needs_brackets(above: Formula) -> bool:
    return tightness(above) <= SUM or isinstance(above, Fraction)


def below_slash_needs_brackets(below: Formula) -> bool:
    return tightness(below) < POWER or isinstance(below, Fraction)


def summand_needs_brackets(body: Formula) -> bool:
    """Whether the body of a Σ is bracketed."""
    return tightness(body) <= SUM and not isinstance(body, BigSum)


# --- commas and gaps ----------------------------------------------------------------------------------


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


def ends_with_digit(node: Formula) -> bool:
    match node:
        case Number():
            return True
        case Product(factors, _):
            return bool(factors) and ends_with_digit(factors[-1])
        case Negative(body):
            return ends_with_digit(body)
        case _:
            return False


def begins_with_digit(node: Formula) -> bool:
    match node:
        case Number():
            return True
        case Power(base, _):
            return begins_with_digit(base)
        case Product(factors, _):
            return bool(factors) and begins_with_digit(factors[0])
        case _:
            return False


def factor_signs(product: Product) -> Iterator[str]:
    """The sign before every factor but the first.  Digits get one in any case: 2·3 is not to read 23."""
    for left, right in pairwise(product.factors):
        clash = product.sign == "" and ends_with_digit(left) and begins_with_digit(right)
        yield "·" if clash else product.sign


# --- fractions ----------------------------------------------------------------------------------------


def is_short_fraction(node: Fraction) -> bool:
    """A fraction of plain numbers, such as 1/2, −3/4: legible when small."""
    return all(
        isinstance(part.body if isinstance(part, Negative) else part, Number) for part in (node.above, node.below)
    )


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


def contains(node: Formula, *kinds: type[Formula]) -> bool:
    """Whether there is a node of one of these kinds in the formula, exponents and indices left aside."""
    match node:
        case _ if isinstance(node, kinds):
            return True
        case Power(base, _):
            return contains(base, *kinds)
        case Name():
            return False
        case _:
            return any(contains(child, *kinds) for child in children(node))


def is_tall(node: Formula) -> bool:
    """Whether brackets round it must grow."""
    return contains(node, Fraction, MatrixOf, BigSum)


# --- lines and columns --------------------------------------------------------------------------------

LINE = 41.0  # the width of a line of text, in em: 165 mm at 11 pt
PAGE_WIDTH = 165  # the same in millimetres
PAGE_HEIGHT = 235


def before_sign(line: Formula) -> tuple[Formula | None, Formula]:
    """A line cut at its first relation sign: what stands before it, if there is a sign, and the rest."""
    match line:
        case Relation(parts, signs) if signs:
            return parts[0], Relation((Text(""), *parts[1:]), signs)
        case _:
            return None, line


def columns_that_fit(equations: Sequence[Formula], columns: int, limit: float = LINE, gap: float = 2) -> int:
    """The largest number of columns, at most the one wished for, whose equations fit on a line."""
    widths = [width(equation) for equation in equations]
    for n in range(max(1, min(columns, len(equations))), 1, -1):
        if sum(max(widths[i::n]) + gap for i in range(n)) - gap <= limit:
            return n
    return 1


# --- boxes to write in --------------------------------------------------------------------------------

BOX: dict[CellKind, tuple[int, int]] = {
    "integer": (12, 10),
    "decimal": (20, 10),
    "fraction": (16, 18),
    "exponential": (32, 18),
    "word": (40, 10),
}


def box_size(grid: AnswerGrid) -> tuple[int, int]:
    """Width and height of a box in millimetres: for handwriting, smaller only where the page ends."""
    wide, high = BOX[grid.kind]
    room = PAGE_WIDTH - 22 - int(width(grid.name) * 4)
    return min(wide, room // grid.columns), min(high, PAGE_HEIGHT // grid.rows)


# --- documents ----------------------------------------------------------------------------------------


def visible(text: str) -> str:
    """Text on one line: line ends become spaces, control characters the sign � and format characters nothing.

    >>> visible("a\\tb\\x00")
    'a b�'
    """
    return "".join(map(_visible, text)) if not text.isascii() or not text.isprintable() else text


def _visible(character: str) -> str:
    match unicodedata.category(character):
        case "Cc" | "Zl" | "Zp":
            return " " if character.isspace() else "�"
        case "Cs" | "Co" | "Cn":
            return "�"
        case "Cf":
            return ""
        case _:
            return character


def composed(text: str) -> str:
    """Letters and the accents after them as one character wherever there is one."""
    return unicodedata.normalize("NFC", text)


def formulas_in(content: Inlines) -> Iterator[Formula]:
    return (inline.formula for inline in content if isinstance(inline, Math))


def all_blocks(blocks: Iterable[Block]) -> Iterator[Block]:
    """Blocks and the blocks inside them."""
    for block in blocks:
        yield block
        if isinstance(block, Box | Together):
            yield from all_blocks(block.blocks)


def folded(lines: Iterable[Formula], lead: Inlines = (), limit: float = LINE) -> list[Formula]:
    """Lines with chains that are too wide for the page cut at their relation signs."""
    room = limit - (inlines_width(lead) + 1 if lead else 0)
    done: list[Formula] = []
    for line in lines:
        done += fold(line, room) if isinstance(line, Relation) and width(line) > room else (line,)
    return done


def lead_stands_above(lines: Iterable[Formula], lead: Inlines) -> bool:
    """Whether the text before formulas gets a line of its own, since beside it they would be too wide."""
    return bool(lead) and max(map(width, lines), default=0.0) + inlines_width(lead) + 1 > 1.1 * LINE


def inlines_width(content: Inlines) -> float:
    """How wide text with formulas is, in em."""
    return sum(width(part.formula) if isinstance(part, Math) else 0.5 * len(part.text) for part in content)


def column_shares(table: Table) -> list[float]:
    """The share of the line each column of a table gets, if its words have to be wrapped; else nothing.

    A table whose formulas alone are too wide cannot be wrapped: it is made smaller as a whole.
    """
    columns = list(zip(table.header, *table.rows, strict=True))
    widths = [max(map(inlines_width, column)) + 1.2 for column in columns]
    if sum(widths) <= LINE:
        return []
    fair = LINE / len(widths)
    narrow = sum(wide for wide in widths if wide <= fair)
    wide_ones = sum(wide for wide in widths if wide > fair)
    room = 0.97 - 0.03 * len(widths)
    shares = [(wide if wide <= fair else wide * (LINE - narrow) / wide_ones) / LINE * room for wide in widths]
    needed = (max(map(_widest_formula, column)) for column in columns)
    return shares if all(need < share * LINE for need, share in zip(needed, shares, strict=True)) else []


def _widest_formula(content: Inlines) -> float:
    return max(map(width, formulas_in(content)), default=0.0)


def run_together(left: Formula, right: Formula) -> bool:
    """Whether two factors side by side need a thin space: words, and formulas with notes under them."""
    return any(
        isinstance(node, Text | Annotated) or (isinstance(node, Name) and len(node.base) > 1) for node in (left, right)
    )


def with_sound_levels(blocks: Iterable[Block]) -> tuple[Block, ...]:
    """The same blocks with no heading more than one level below the heading before it."""
    level = 0

    def sound(block: Block) -> Block:
        nonlocal level
        match block:
            case Heading():
                level = max(1, min(block.level, level + 1))
                return replace(block, level=level)
            case Box() | Together():
                return replace(block, blocks=tuple(map(sound, block.blocks)))
            case _:
                return block

    return tuple(map(sound, blocks))
