"""Documents as plain text for the terminal: matrices drawn over several lines with Unicode characters."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import assert_never

from symattn.errors import columns_of
from symattn.formula.nodes import (
    NOTHING,
    Annotated,
    BigSum,
    Blank,
    Bracket,
    Bracketed,
    Call,
    CellKind,
    Dots,
    Formula,
    Fraction,
    Infinity,
    ListOf,
    Marked,
    MatrixOf,
    Name,
    Negative,
    Number,
    Power,
    Product,
    Relation,
    Root,
    Row,
    Shape,
    Sum,
    Text,
    Transposed,
    contains,
    explicit,
    is_signed_number,
    pieces,
    run_together,
)
from symattn.foundation.languages import speaking
from symattn.page.document import (
    AnswerGrid,
    AnswerSpace,
    Besides,
    Block,
    Box,
    Choices,
    Code,
    Columns,
    Diagram,
    Display,
    Document,
    Entries,
    Falk,
    FillIn,
    FillIns,
    Flow,
    FlowSheet,
    Heading,
    HeatMap,
    HeatMaps,
    Inlines,
    ItemList,
    Math,
    PageBreak,
    Paragraph,
    Program,
    Solved,
    Span,
    Strong,
    Table,
    Together,
    Words,
    WorkingSpace,
    as_text,
    settled,
    spans,
)
from symattn.page.writers import characters as draw
from symattn.page.writers import common
from symattn.page.writers.characters import EMPTY, beside, bracketed, text
from symattn.page.writers.characters import Block as Picture
from symattn.page.writers.common import visible

SUFFIX = ".txt"
BESIDES: frozenset[Besides] = frozenset()

COLUMNS = 100  # the width of formulas
PROSE = 84  # and of prose, which is read more easily in shorter lines

_SUPERSCRIPT = dict(zip("0123456789+−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", strict=True))
_SUBSCRIPT = dict(zip("0123456789aehijklmnoprstuvx×=−,", "₀₁₂₃₄₅₆₇₈₉ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓₓ₌₋,", strict=True))
_DOTS = {"horizontal": "…", "vertical": "⋮", "diagonal": "⋱", "cell": "·"}
_BLANK: dict[CellKind, int] = {"integer": 4, "decimal": 6, "fraction": 6, "exponential": 12, "word": 12}


# --- formulas -----------------------------------------------------------------------------------------


def formula(formula: Formula) -> str:
    """A formula as it is printed on a terminal, over several lines if need be."""
    return str(_display((formula,), COLUMNS))


def on_one_line(node: Formula) -> str:
    """A formula for a line of text: a matrix as [1 0; 0 1], a fraction with a slash."""
    return _picture(node, flat=True).lines[0]


@lru_cache(maxsize=2**13)
def _picture(node: Formula, flat: bool) -> Picture:
    """A formula as a block of characters, one line high if `flat`."""

    def inner(child: Formula) -> Picture:
        return _picture(child, flat)

    match explicit(node):
        case Number(digits):
            return text(visible(digits))
        case Name() as name:
            return text(_name(name))
        case Text(words):
            return text(visible(words))
        case Infinity():
            return text("∞")
        case Dots(kind):
            return text(_DOTS[kind])
        case Blank(kind):
            return text("_" * _BLANK[kind])
        case Negative(body):
            return text("−") + inner(body)
        case Product() as factors:
            return beside(*_factors(factors, flat))
        case Fraction(above, below) if not flat:
            return draw.fraction(_part_of_fraction(above), _part_of_fraction(below))
        case Sum() | Fraction() as chain:
            return beside(*(text(f" {s} " if s in ("+", "−") else s) + inner(part) for s, part in pieces(chain)))
        case Power(base, exponent):
            return _raised(inner(base), _exponent(exponent))
        case Root(body):
            return text("√") + inner(body if isinstance(body, Number | Name) else Bracketed(body))
        case Transposed(body, sign):
            return _raised(inner(body), "′" if sign == "′" else "ᵀ")
        case Call(function, arguments, separator):
            return text(_name(function)) + bracketed(_joined(map(inner, arguments), f"{separator} "), "(")
        case Bracketed(body, bracket):
            return bracketed(inner(body), bracket)
        case ListOf(items, bracket, separator):
            gap = f"{separator} " if separator else "  "
            return bracketed(_joined(map(inner, items), gap), bracket)
        case MatrixOf() as matrix:
            return text(_matrix_on_one_line(matrix)) if flat else _matrix(matrix)
        case Shape(rows, columns):
            return _joined((inner(rows), inner(columns)), "×")
        case Annotated() as annotated:
            return _annotated(annotated, flat)
        case Marked(body, sign, _):
            return _joined((part for part in (inner(body), text(visible(sign))) if part.width), " ")
        case BigSum() as total:
            return _big_sum(total, flat)
        case Relation() as relation:
            return _joined((part for part in _segments(relation, flat) if part is not EMPTY), " ")
        case Row(items):
            return _joined(map(inner, items), "    ")
        case unknown:
            assert_never(unknown)


def _part_of_fraction(node: Formula) -> Picture:
    """A numerator or a denominator: a Σ in it takes one line only."""
    return _picture(node, flat=not contains(node, Fraction, MatrixOf))


def _joined(pictures: Iterable[Picture], gap: str) -> Picture:
    """Pictures in a row with a gap between."""
    return beside(*[part for picture in pictures for part in (text(gap), picture)][1:])


def _name(name: Name) -> str:
    base = visible(name.base) + ("\N{COMBINING CIRCUMFLEX ACCENT}" if name.hat else "")
    label = f"^{visible(name.sup)}" if name.sup else ""
    return common.composed(base) + "′" * name.primes + _index(name.sub) + label


def _index(sub: tuple[Formula, ...]) -> str:
    """Small characters if there are any for all of it; else after a low line."""
    words = common.index_comma(sub).join(map(on_one_line, sub))
    is_word = any(isinstance(item, Name) and len(item.base) > 1 for item in sub)
    return _below(words, small=not is_word)


def _below(words: str, small: bool = True) -> str:
    if small and all(character in _SUBSCRIPT for character in words):
        return "".join(_SUBSCRIPT[character] for character in words)
    return f"_{words}" if words.isalnum() else f"_{{{words}}}"


def _exponent(node: Formula) -> str:
    words = on_one_line(node)
    if all(character in _SUPERSCRIPT for character in words):
        return "".join(_SUPERSCRIPT[character] for character in words)
    return f"^{words}" if words.isalnum() else f"^({words})"


def _raised(base: Picture, script: str) -> Picture:
    """A script at the upper right corner."""
    return Picture(tuple(f"{line}{script if i == 0 else ' ' * columns_of(script)}"
                         for i, line in enumerate(base.lines)), base.baseline)  # fmt: skip


def _lowered(base: Picture, script: str) -> Picture:
    """A script at the lower right corner."""
    last = base.height - 1
    return Picture(tuple(f"{line}{script if i == last else ' ' * columns_of(script)}"
                         for i, line in enumerate(base.lines)), base.baseline)  # fmt: skip


_ENDS_IN_SCRIPT = re.compile(r"[\^_√][^\s()\[\]{}]*$")


def _factors(product: Product, flat: bool) -> Iterator[Picture]:
    """Factors and the signs between them: a dot is set tight; words and what ends in an index get a space."""
    before = EMPTY
    for i, (sign, factor) in enumerate(pieces(product, slashed=flat)):
        picture = _picture(factor, flat)
        apart = before.height > 1 or picture.height > 1 or (i > 0 and run_together(*product.factors[i - 1 : i + 1]))
        match sign:
            case "":
                pass
            case "\N{INVISIBLE TIMES}" | "\N{THIN SPACE}":
                yield text(" " if apart or _ENDS_IN_SCRIPT.search(before.lines[-1]) else "")
            case "·":
                yield text(" · " if apart else "·")
            case _:
                yield text(f" {sign} ")
        yield picture
        before = picture


def _segments(node: Relation, flat: bool) -> list[Picture]:
    """What stands before the first sign, and every sign with what follows it."""
    first, *others = (EMPTY if part == NOTHING else _picture(part, flat) for part in node.parts)
    return [first, *(text(f"{sign} ") + part for sign, part in zip(node.signs, others, strict=True))]


def _matrix_on_one_line(node: MatrixOf) -> str:
    rows = [[on_one_line(cell) for cell in row] for row in node.rows]
    comma = node.separator or ("," if any(" " in cell for row in rows for cell in row) else "")
    inside = [(f"{comma} " if comma else " ").join(row) for row in rows]
    if node.nested:
        inside = [bracketed(text(row), node.bracket).lines[0] for row in inside]
    between = f"{node.row_end} " if node.nested else "; "
    return bracketed(text(between.join(inside)), node.bracket).lines[0]


def _matrix(node: MatrixOf) -> Picture:
    """A matrix with its labels, if any, outside the brackets."""
    flat = not any(map(common.has_tall_fraction, node.entries))
    cells = [[_cell(node, i, j, flat) for j in range(len(row))] for i, row in enumerate(node.rows)]
    numbers = not node.column_labels and all(map(is_signed_number, node.entries))
    rows = _Rows(cells, " " if node.separator else "  ", "r" if numbers else "c")
    return rows.framed(node, node.bracket, (node.bracket or "[") if node.nested else "")


@dataclass(frozen=True)
class _Rows:
    """Cells in rows and columns with a gap between columns, and with blank lines between rows if set `apart`."""

    cells: Sequence[Sequence[Picture]]
    gap: str
    align: str = "c"
    apart: bool = False

    def framed(self, labelled: MatrixOf | AnswerGrid, bracket: Bracket, inner: Bracket = "") -> Picture:
        """In brackets, each row in `inner` ones; labels stand outside."""
        heads = [_picture(label, True) for label in labelled.column_labels]
        *cells, above = draw.level([*self.cells, heads or [EMPTY] * len(self.cells[0])], self.align)
        rows = [bracketed(_joined(row, self.gap), inner) for row in cells]
        body = bracketed(draw.lines(rows, self.apart), bracket)
        edge = (body.width - rows[0].width) // 2
        if labels := [_picture(label, True) for label in labelled.row_labels]:
            margin = draw.level([[label, row] for label, row in zip(labels, rows, strict=True)], "lc")
            body = draw.lines([label for label, _ in margin], self.apart) + text(" ") + body
        if isinstance(labelled, AnswerGrid) and labelled.name != NOTHING:
            body = _picture(labelled.name, True) + text("   " if labels else " = ") + body
        if not heads:
            return body
        over = " " * (body.width - rows[0].width - edge) + _joined(above, self.gap).lines[0] + " " * edge
        return Picture((over, *body.lines), body.baseline + 1)


def _cell(node: MatrixOf, i: int, j: int, flat: bool) -> Picture:
    picture = _picture(node.rows[i][j], flat)
    if (i, j) in node.excluded:
        picture = text("░") + picture + text("░")
    return picture + text(common.sign_after(node, i, j))


def _annotated(node: Annotated, flat: bool) -> Picture:
    body = _picture(node.body, flat)
    note = _picture(node.note, flat=True)
    match node.place:
        case "under" if not flat:
            return draw.stacked((body, note), body.baseline)
        case "index":
            return _lowered(body, _below(note.lines[0].strip("()")))
        case "under" | "beside":
            return beside(body, text("  " if node.place == "beside" else " "), note)
        case _:
            assert_never(node.place)


def _big_sum(node: BigSum, flat: bool) -> Picture:
    index, lower, upper = map(on_one_line, (node.index, node.lower, node.upper))
    below = f"{index}={lower}" if lower else index
    body = _picture(node.body, flat)
    if flat:
        small = all(character in _SUBSCRIPT for character in below)
        bound = "".join(_SUBSCRIPT[character] for character in below) if small else f"_({below})"
        return text(f"Σ{bound}{_exponent(node.upper) if upper else ''} ") + body
    return draw.stacked((text(upper), text("Σ"), text(below)), 1) + text(" ") + body


# --- lines of formulas --------------------------------------------------------------------------------


def _cut(line: Formula) -> tuple[Picture | None, list[Picture]]:
    """What stands before the first relation sign, if there is one, and the pieces a line may be broken between."""
    if isinstance(line, Relation) and line.signs:
        first, *others = _segments(line, flat=False)
        return first, others
    return None, [_picture(line, flat=False)]


def _wrapped(parts: Sequence[Picture], limit: int) -> list[Picture]:
    """Pieces joined to lines no wider than `limit` where that is possible."""
    done: list[Picture] = []
    current = parts[0]
    for piece in parts[1:]:
        longer = _joined((current, piece), " ")
        if longer.width <= limit:
            current = longer
        else:
            done.append(current)
            current = piece
    return [*done, current]


def _display(lines: Sequence[Formula], limit: int) -> Picture:
    """Lines aligned at their first relation sign; what is too wide goes on below that sign."""
    cut = [_cut(line) for line in lines]
    margin = max((first.width for first, _ in cut if first), default=0)
    indent = margin + 1 if margin else 0
    rows = []
    for first, rest in cut:
        head, *others = _wrapped(rest, limit - indent)
        before = first or EMPTY
        rows.append(text(" " * (margin - before.width)) + before + text(" " * (indent - margin)) + head)
        rows += [text(" " * indent) + other for other in others]
    return _spread(rows)


def _spread(rows: Sequence[Picture]) -> Picture:
    """Rows under one another, with a blank line wherever one of two neighbours is high."""
    spaced = list(rows[:1])
    for above, below in pairwise(rows):
        spaced += [EMPTY, below] if above.height > 1 or below.height > 1 else [below]
    return draw.stacked(spaced, rows[0].baseline, "left")


def _entries(block: Entries, limit: int) -> Picture:
    cut = [(first or EMPTY, _joined(rest, " ")) for first, rest in map(_cut, block.equations)]
    for columns in range(max(1, min(block.columns, common.ON_A_SCREEN, len(cut))), 0, -1):
        padded = cut + [(EMPTY, EMPTY)] * (-len(cut) % columns)
        rows = [[part for pair in line for part in pair] for line in common.in_lines(padded, columns)]
        levelled = draw.level(rows, "rl" * columns)
        pairs = [[_joined(pair, " ") for pair in common.in_lines(row, 2)] for row in levelled]
        picture = _spread([_joined(row, "     ") for row in pairs])
        if picture.width <= limit:
            break
    return picture


# --- blocks -------------------------------------------------------------------------------------------


def write(document: Document) -> str:
    """The whole document, for a terminal 100 columns wide."""
    document = settled(document)
    title = visible(document.title)
    head = [title, "═" * columns_of(title)]
    if document.subtitle:
        head.append(visible(document.subtitle))
    parts = ["\n".join(head)]
    if document.fields:
        with speaking(document.look.language):
            parts.append("   ".join(f"{visible(common.label(name))} {'_' * 20}" for name in document.fields))
    parts += _blocks(document.blocks, COLUMNS)
    foot = "   ".join(visible(part) for part in (document.sheet, document.footer) if part)
    if foot:
        parts.append("─" * min(COLUMNS, PROSE) + "\n" + foot)
    lines = "\n\n".join(parts).split("\n")
    return "\n".join(line.replace("\N{NO-BREAK SPACE}", " ").rstrip() for line in lines) + "\n"


def plain(content: Inlines) -> str:
    """Text and formulas on one line, without any mark-up."""
    return "".join(map(_inline, spans(content)))


def _inline(inline: Span) -> str:
    match inline:
        case Words(words) | Strong(words) | Code(words):
            return visible(words)
        case Math(formula):
            return on_one_line(formula).replace(" ", "\N{NO-BREAK SPACE}")
        case _:
            assert_never(inline)


def _filled(content: Inlines, width: int, first: str = "", others: str = "") -> str:
    """A paragraph in lines of a width, with what stands before the first line and before the others."""
    return "\n".join(wrapped(plain(content), min(width, PROSE), first, others))


_WIDE = "\u2e80-\u303f\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff01-\uff60\U00020000-\U0003fffd"
_WIDE_OPENING, _WIDE_CLOSING = "（〔［【《〈「『“‘", "）〕］】》〉」』”’，。、；：！？…"
_OPENING, _CLOSING = rf"\[({_WIDE_OPENING}", rf"\]){_WIDE_CLOSING},.;:!?·%％"
_PLACES = (
    rf"(?<![{_WIDE_OPENING} ])( ++)(?![{_WIDE_CLOSING}])"
    rf"|(?<![ \u00a0{_OPENING}])(?:(?<=[{_WIDE}])|(?=[{_WIDE}]))(?![ \u00a0{_CLOSING}])"
)
"""Where a line may end: at spaces, and beside a Han character.

What opens ends no line, what closes begins none.  It is compiled where it is first used, which takes long."""


def wrapped(words: str, width: int, first: str = "", others: str = "") -> list[str]:
    """Text in lines of `width` columns, with what stands before the first line and before the others.

    >>> wrapped("an exact value", 9), wrapped("求精确值（每行）。", 10)
    (['an exact', 'value'], ['求精确值', '（每行）。'])
    """
    parts = re.split(_PLACES, " ".join(words.splitlines()).rstrip(" "))
    lines: list[str] = []
    for gap, piece in zip(["", *parts[1::2]], parts[::2], strict=True):
        if not piece:  # what begins with a space keeps it
            continue
        longer = f"{lines[-1] if lines else first}{gap or ''}{piece}"
        if lines and columns_of(longer) > width:
            lines.append(others + piece)
        else:
            lines[-1:] = [longer]
    return lines


def _with_marks(words: str, marks: str, width: int) -> str:
    """Words with marks at the right end of their last line, or below it where it is full."""
    if not marks:
        return words
    *lines, last = words.split("\n")
    room = min(width, PROSE) - columns_of(last)
    shown = visible(marks)
    if columns_of(shown) + 2 <= room:
        return "\n".join([*lines, last + draw.right(shown, room)])
    return f"{words}\n{draw.right(shown, min(width, PROSE))}"


def _indented(picture: Picture, by: int = 4) -> str:
    return textwrap.indent(str(picture), " " * by)


def _blocks(blocks: Iterable[Block], width: int) -> list[str]:
    """Blocks one after another, those of which nothing is written left out; space stays, though it is blank."""
    return [_block(block, width) for block in common.without_programs(blocks)]


def _one_below_the_other(blocks: Iterable[Block], width: int) -> str:
    return "\n\n".join(_blocks(blocks, width))


def _block(block: Block, width: int) -> str:
    if (own := common.replaced(block)) is not None:
        return own
    match block:
        case Heading(level=level, marks=marks):
            content = block.whole
            title = plain(content)
            if level > 1:
                return _with_marks(f"── {title} ──", marks, width)
            return f"{_with_marks(title, marks, width)}\n{'━' * columns_of(title)}"
        case Paragraph(content, marks):
            return _with_marks(_filled(content, width), marks, width)
        case Display(lines, lead):
            if not lead:
                return _indented(_display(lines, width - 4))
            words = text(draw.left(plain(lead), 12) + " ")
            return _indented(words + _display(lines, width - 4 - words.width))
        case Entries():
            return _indented(_entries(block, width - 4))
        case AnswerGrid():
            return _indented(_grid(block))
        case WorkingSpace(ruled=True):
            return "\n\n".join(["_" * min(width, PROSE)] * common.ruled_lines(block, common.Page()))
        case WorkingSpace():
            return "\n" * max(1, common.space_height(block, common.Page()) // 6)
        case AnswerSpace() | Flow() | Solved():
            return _one_below_the_other(common.one_after_another(block), width)
        case FillIns(items):
            return _fill_ins(items, width)
        case Choices():
            return _choices(block, width)
        case HeatMap():
            return heat_map(block)
        case HeatMaps():
            return heat_maps(block)
        case ItemList(items, ordered):
            signs = [f"{i}. " if ordered else "• " for i in range(1, len(items) + 1)]
            widest = max(map(len, signs), default=0)
            return "\n".join(
                _filled(item, width, "  " + sign.rjust(widest), "  " + " " * widest)
                for sign, item in zip(signs, items, strict=True)
            )
        case Table():
            return _table(block, width)
        case Box(title, inside):
            body = _one_below_the_other(inside, width - 2)
            bar = textwrap.indent(body, "│ ", lambda line: True)
            return f"╭─ {visible(title)}\n{bar}\n╰─"
        case Together(inside):
            return _one_below_the_other(inside, width)
        case Falk():
            return _scheme(block, width)
        case FlowSheet():  # not drawn in characters: `Flow` has the same in the usual form
            return ""
        case Columns():
            return _columns(block, width)
        case Diagram():
            return figure(block)
        case Program():  # for notebooks
            return ""
        case PageBreak():
            return "─" * min(width, PROSE)
        case _:
            assert_never(block)


def _table(table: Table, width: int) -> str:
    """A table with a line under its heads; columns that would run over the edge have their words wrapped.

    So have matrices, after a row.
    """
    after_row = ";\N{NO-BREAK SPACE}"
    rows = [[plain(cell).replace(after_row, "; ") for cell in row] for row in (table.header, *table.rows)]
    widths = _column_widths(list(zip(*rows, strict=True)), width - 3 * (len(table.header) - 1))
    cells = [[_column(wrapped(*cell)) for cell in zip(row, widths, strict=True)] for row in rows]
    padded = ([text(" " * wide) for wide in widths], *cells)  # so that a column is as wide as it may be
    _, head, *body = [_joined(row, "   ") for row in draw.level(padded, "l")]
    return str(draw.stacked([head, text("─" * head.width), *([draw.lines(body)] if body else [])], 0, "left"))


def _column_widths(columns: Sequence[Sequence[str]], room: int) -> list[int]:
    """As wide as what stands in them, the widest ones narrower where they have no room, but no word is broken."""
    widths = [max(map(columns_of, column)) for column in columns]
    words = ([word or "" for cell in column for word in re.split(_PLACES, cell)] for column in columns)
    least = [max([1, *map(columns_of, column)]) for column in words]
    while sum(widths) > room and (wider := [i for i, wide in enumerate(widths) if wide > least[i]]):
        widths[max(wider, key=widths.__getitem__)] -= 1
    return widths


def _column(lines: Sequence[str]) -> Picture:
    """Lines of text as a picture."""
    return draw.stacked(list(map(text, lines or [""])), 0, "left")


# --- side by side -------------------------------------------------------------------------------------


def _scheme(block: Falk, width: int) -> str:
    """Falk's scheme: the columns of the product stand below those of one factor, its rows beside those of the other."""
    inside = block.inside
    if isinstance(inside, AnswerGrid):
        if inside.row_labels or inside.column_labels:
            return _one_below_the_other(common.one_after_another(block), width)
        gap, apart, name = "   ", True, EMPTY if inside.name == NOTHING else text(" = ") + _picture(inside.name, True)
        bracket: Bracket = "["
    else:
        gap, apart, name, bracket = "  ", False, EMPTY, inside.bracket
    beside_it, over_it, product = (
        [[_picture(cell, True) for cell in row] for row in rows]
        for rows in (block.left.rows, block.above.rows, block.product)
    )
    levelled = draw.level([*over_it, *product], "c" if apart else "r")
    split = len(over_it)
    top = _framed_rows(levelled[:split], block.above.bracket, gap, False)
    bottom = _framed_rows(levelled[split:], bracket, gap, apart) + name
    left = _framed_rows(draw.level(beside_it, "c" if apart else "r"), block.left.bracket, gap, apart)
    names = [_picture(shown, True) + text(" ") for shown in block.names] or [EMPTY, EMPTY]
    left = names[0] + left + text("  ")
    corner = text(draw.right(names[1].lines[0], left.width))
    scheme = draw.stacked([corner + top, EMPTY, left + bottom], 0, "left")
    return _indented(scheme) if scheme.width <= width - 4 else _one_below_the_other(_apart(block), width)


def _apart(block: Falk) -> Iterator[Block]:
    """Factors and product of a scheme that is too wide, each by itself."""
    factors: Sequence[Formula] = (block.left, block.above)
    if block.names:
        factors = [Relation(pair, ("=",)) for pair in zip(block.names, factors, strict=True)]
    yield Display(tuple(factors))
    yield block.inside if isinstance(block.inside, AnswerGrid) else Display((block.inside,))


def _framed_rows(rows: Sequence[Sequence[Picture]], bracket: Bracket, gap: str, apart: bool) -> Picture:
    """Rows of entries in brackets."""
    return bracketed(draw.lines([_joined(row, gap) for row in rows], apart), bracket)


_BAR = " │ "


def _columns(block: Columns, width: int) -> str:
    """Two columns with a line between, if they fit; else one after another."""
    heads = list(map(plain, block.heads))
    lefts = [_side(left, (width - len(_BAR)) * 2 // 5) for left, _ in block.rows]
    wide = max(picture.width for picture in (text(heads[0]), *lefts))
    room = width - wide - len(_BAR)
    rights = [_side(right, room) for _, right in block.rows]
    other = max(picture.width for picture in (text(heads[1]), *rights))
    if wide > width * 3 // 5 or other > room:
        return _one_below_the_other(common.one_after_another(block), width)

    def line(left: str, right: str) -> str:
        return f"{draw.left(left, wide)}{_BAR}{right}".rstrip()

    rule = f"{'─' * wide}─┼─{'─' * other}"
    rows = [line(*heads)]
    for pair in zip(lefts, rights, strict=True):
        high = max(picture.height for picture in pair)
        left, right = (draw.grown(picture, 0, high - 1).lines for picture in pair)
        rows += [rule, *map(line, left, right)]
    return "\n".join(rows)


def _side(blocks: Sequence[Block], width: int) -> Picture:
    """Blocks one after another as a picture."""
    return _column(_one_below_the_other(blocks, width).split("\n"))


# --- places to write and to tick ----------------------------------------------------------------------


def _grid(grid: AnswerGrid) -> Picture:
    """An empty matrix with what stands in it already, and its labels outside the brackets."""
    return _Rows(_boxes(grid), " " if grid.shade else "   ", apart=True).framed(grid, "[")


def _boxes(grid: AnswerGrid) -> list[list[Picture]]:
    """Its cells: places to write, or what stands there already."""
    return [
        [text("☐") if grid.shade and isinstance(cell, Blank) else _picture(cell, True) for cell in row]
        for row in grid.cells
    ]


def place(item: FillIn) -> str:
    """A place to write: a line, or boxes |_|_|_|, with what stands there already."""
    if common.has_character_boxes(item):
        return "|".join(["", *(c or "_" for c in common.in_boxes(item)), ""])
    words = visible(item.value)
    return words + "_" * (max(6, item.width // 2) - columns_of(words))


def _fill_ins(items: Sequence[FillIn], width: int) -> str:
    """Places to write next to one another as far as a line goes; a long one has lines of its own."""
    lines: list[str] = []
    room = 0
    for item in items:
        words = " ".join(filter(None, (plain(item.label).strip(), place(item), plain(item.after))))
        if lines and columns_of(words) + 4 <= room:
            lines[-1] += f"    {words}"
        else:
            lines += _filled(as_text(words), width).split("\n")
        room = min(width, PROSE) - columns_of(lines[-1]) if lines else 0
    return "\n".join(lines)


def _choices(block: Choices, width: int) -> str:
    """Options with a box each; those that are matrices are drawn, side by side as far as a line goes."""
    marks = [f"[{'x' if i in block.ticked else ' '}] {common.letter(i)}." for i in range(len(block.items))]
    widest = max(map(len, marks), default=0)
    if not any(contains(node, MatrixOf) for item in block.items for node in common.formulas_in(item)):
        return "\n".join(
            _filled(item, width, f"  {mark:{widest}}  ", " " * (widest + 4))
            for mark, item in zip(marks, block.items, strict=True)
        )
    pictures = [
        text(f"{mark:{widest}}  ") + beside(*map(_inline_picture, spans(item)))
        for mark, item in zip(marks, block.items, strict=True)
    ]
    wide = max(picture.width for picture in pictures) + 5
    most = max(1, (width + 1) // wide)
    columns = -(-len(pictures) // -(-len(pictures) // most))
    padded = pictures + [EMPTY] * (-len(pictures) % columns)
    rows = draw.level(common.in_lines(padded, columns), "l")
    return _indented(_spread([_joined(row, "     ") for row in rows]), 2)


def _inline_picture(inline: Span) -> Picture:
    return _picture(inline.formula, False) if isinstance(inline, Math) else text(_inline(inline))


# --- figures ------------------------------------------------------------------------------------------


def figure(diagram: Diagram) -> str:
    """The figure as it is drawn on a terminal."""
    return draw.figure(diagram, on_one_line, plain, COLUMNS)


_SHADES = " ░▒▓█"


def heat_map(picture: HeatMap) -> str:
    return str(_set_in(_cells_of(picture)))


def heat_maps(maps: HeatMaps) -> str:
    """Heat maps beside one another as far as a line goes, captions below."""
    rows: list[list[Picture]] = [[]]
    for caption, picture in maps.items:
        one = _set_in(draw.stacked([_cells_of(picture, maps.small), text(plain(caption))], 0))
        if rows[-1] and sum(other.width for other in (*rows[-1], one)) > COLUMNS:
            rows.append([])
        rows[-1].append(one)
    return "\n\n".join(str(draw.beside(*row)) for row in rows)


def _set_in(picture: Picture) -> Picture:
    return Picture(tuple(f"    {line}" for line in picture.lines), picture.baseline)


def _cells_of(picture: HeatMap, small: bool = False) -> Picture:
    """A picture of a matrix with a sign for each level, words between two of them."""
    labels = [_picture(label, True) for label in picture.row_labels] or [EMPTY] * len(picture.levels)
    heads = [_picture(label, True) for label in picture.column_labels]
    words = [columns_of(visible(word)) + 4 for row in picture.words for word in row]
    wide = max([2 if small else 6, *words, *(head.width + 2 for head in heads)])
    columns = len(picture.levels[0]) if picture.levels else 0

    def rule(left: str, between: str, right: str) -> str:
        return left + between.join(["─" * wide] * columns) + right

    rows = [
        "│".join(["", *(_shaded(level, common.word_in(picture, i, j), wide) for j, level in enumerate(row)), ""])
        for i, row in enumerate(picture.levels)
    ]
    rules = [rule(*"┌┬┐"), *[rule(*"├┼┤")] * (len(rows) - 1), rule(*"└┴┘")]
    lines = [line for pair in zip(rules, rows, strict=False) for line in pair]
    margin = [EMPTY, *(part for label in labels for part in (label, EMPTY))]
    drawn = draw.stacked(margin, 0, "left") + text(" ") + _column([*lines, rules[-1]])
    if heads:
        over = " " + " ".join(draw.centre(head.lines[0], wide) for head in heads) + " "
        drawn = draw.stacked([text(over), drawn], 0, "right")
    return drawn


def _shaded(level: int, word: str, wide: int) -> str:
    """A cell of a picture of a matrix, with a word in it if there is one."""
    shade = _SHADES[level]
    if not (shown := visible(word)):
        return shade * wide
    space = wide - columns_of(shown) - 2
    return f"{shade * (space // 2)} {shown} {shade * (space - space // 2)}"
