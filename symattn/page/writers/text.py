"""Documents as plain text for the terminal: matrices drawn over several lines with Unicode characters."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import assert_never

from symattn.errors import columns_of
from symattn.formula.nodes import (
    NOTHING,
    Blank,
    Bracket,
    Formula,
    MatrixOf,
    Relation,
    contains,
)
from symattn.foundation.languages import speaking
from symattn.page.document import (
    AnswerGrid,
    AnswerSpace,
    Besides,
    Block,
    Box,
    Choices,
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
    Table,
    Together,
    WorkingSpace,
    as_text,
    settled,
    spans,
)
from symattn.page.writers import common, measure, paper, tiles
from symattn.page.writers.characters import (
    COLUMNS,
    PLACES,
    CellRows,
    display,
    entries,
    heat_map,
    heat_maps,
    place,
    plain,
    spread,
    tile_of,
    wrapped,
)
from symattn.page.writers.common import visible
from symattn.page.writers.tiles import EMPTY, Tile, beside, bracketed, joined, text, tile_of_lines

SUFFIX = ".txt"
BESIDES: frozenset[Besides] = frozenset()

PROSE = 84  # the width of prose, which is read more easily in shorter lines than formulas

# --- formulas -----------------------------------------------------------------------------------------


def formula(formula: Formula) -> str:
    """A formula as it is printed on a terminal, over several lines if need be."""
    return str(display((formula,), COLUMNS))


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


def _filled(content: Inlines, width: int, first: str = "", others: str = "") -> str:
    """A paragraph in lines of a width, with what stands before the first line and before the others."""
    return "\n".join(wrapped(plain(content), min(width, PROSE), first, others))


def _with_marks(words: str, marks: str, width: int) -> str:
    """Words with marks at the right end of their last line, or below it where it is full."""
    if not marks:
        return words
    *lines, last = words.split("\n")
    room = min(width, PROSE) - columns_of(last)
    shown = visible(marks)
    if columns_of(shown) + 2 <= room:
        return "\n".join([*lines, last + tiles.right(shown, room)])
    return f"{words}\n{tiles.right(shown, min(width, PROSE))}"


def _indented(picture: Tile, by: int = 4) -> str:
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
        case Heading():
            return _heading(block, width)
        case Paragraph(content, marks):
            return _with_marks(_filled(content, width), marks, width)
        case Display(lines, lead):
            if not lead:
                return _indented(display(lines, width - 4))
            words = text(tiles.left(plain(lead), 12) + " ")
            return _indented(words + display(lines, width - 4 - words.width))
        case Entries():
            return _indented(entries(block, width - 4))
        case AnswerGrid():
            return _indented(_grid(block))
        case WorkingSpace(ruled=True):
            return "\n\n".join(["_" * min(width, PROSE)] * paper.ruled_lines(block, paper.Page()))
        case WorkingSpace():
            return "\n" * max(1, paper.space_height(block, paper.Page()) // 6)
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
        case ItemList():
            return _list(block, width)
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
            from symattn.page.writers.figures import in_characters  # only here, for most pages have none

            return in_characters(block)
        case Program():  # for notebooks
            return ""
        case PageBreak():
            return "─" * min(width, PROSE)
        case _:
            assert_never(block)


def _heading(heading: Heading, width: int) -> str:
    title = plain(heading.whole)
    if heading.level > 1:
        return _with_marks(f"── {title} ──", heading.marks, width)
    return f"{_with_marks(title, heading.marks, width)}\n{'━' * columns_of(title)}"


def _list(listed: ItemList, width: int) -> str:
    signs = [f"{i}. " if listed.ordered else "• " for i in range(1, len(listed.items) + 1)]
    widest = max(map(len, signs), default=0)
    return "\n".join(
        _filled(item, width, "  " + sign.rjust(widest), "  " + " " * widest)
        for sign, item in zip(signs, listed.items, strict=True)
    )


def _table(table: Table, width: int) -> str:
    """A table with a line under its heads; columns that would run over the edge have their words wrapped.

    So have matrices, after a row.
    """
    after_row = ";\N{NO-BREAK SPACE}"
    rows = [[plain(cell).replace(after_row, "; ") for cell in row] for row in (table.header, *table.rows)]
    widths = _column_widths(list(zip(*rows, strict=True)), width - 3 * (len(table.header) - 1))
    cells = [[tile_of_lines(wrapped(*cell)) for cell in zip(row, widths, strict=True)] for row in rows]
    padded = ([text(" " * wide) for wide in widths], *cells)  # so that a column is as wide as it may be
    _, head, *body = [joined(row, "   ") for row in tiles.level(padded, "l")]
    return str(tiles.stacked([head, text("─" * head.width), *([tiles.lines(body)] if body else [])], 0, "left"))


def _column_widths(columns: Sequence[Sequence[str]], room: int) -> list[int]:
    """As wide as what stands in them, the widest ones narrower where they have no room, but no word is broken."""
    widths = [max(map(columns_of, column)) for column in columns]
    words = ([word or "" for cell in column for word in re.split(PLACES, cell)] for column in columns)
    least = [max([1, *map(columns_of, column)]) for column in words]
    while sum(widths) > room and (wider := [i for i, wide in enumerate(widths) if wide > least[i]]):
        widths[max(wider, key=widths.__getitem__)] -= 1
    return widths


# --- side by side -------------------------------------------------------------------------------------


def _scheme(block: Falk, width: int) -> str:
    """Falk's scheme: the columns of the product stand below those of one factor, its rows beside those of the other."""
    inside = block.inside
    if isinstance(inside, AnswerGrid):
        if inside.row_labels or inside.column_labels:
            return _one_below_the_other(common.one_after_another(block), width)
        gap, apart, name = "   ", True, EMPTY if inside.name == NOTHING else text(" = ") + tile_of(inside.name, True)
        bracket: Bracket = "["
    else:
        gap, apart, name, bracket = "  ", False, EMPTY, inside.bracket
    beside_it, over_it, product = (
        [[tile_of(cell, True) for cell in row] for row in rows]
        for rows in (block.left.rows, block.above.rows, block.product)
    )
    levelled = tiles.level([*over_it, *product], "c" if apart else "r")
    split = len(over_it)
    top = _framed_rows(levelled[:split], block.above.bracket, gap, False)
    bottom = _framed_rows(levelled[split:], bracket, gap, apart) + name
    left = _framed_rows(tiles.level(beside_it, "c" if apart else "r"), block.left.bracket, gap, apart)
    names = [tile_of(shown, True) + text(" ") for shown in block.names] or [EMPTY, EMPTY]
    left = names[0] + left + text("  ")
    corner = text(tiles.right(names[1].lines[0], left.width))
    scheme = tiles.stacked([corner + top, EMPTY, left + bottom], 0, "left")
    return _indented(scheme) if scheme.width <= width - 4 else _one_below_the_other(_apart(block), width)


def _apart(block: Falk) -> Iterator[Block]:
    """Factors and product of a scheme that is too wide, each by itself."""
    factors: Sequence[Formula] = (block.left, block.above)
    if block.names:
        factors = [Relation(pair, ("=",)) for pair in zip(block.names, factors, strict=True)]
    yield Display(tuple(factors))
    yield block.inside if isinstance(block.inside, AnswerGrid) else Display((block.inside,))


def _framed_rows(rows: Sequence[Sequence[Tile]], bracket: Bracket, gap: str, apart: bool) -> Tile:
    """Rows of entries in brackets."""
    return bracketed(tiles.lines([joined(row, gap) for row in rows], apart), bracket)


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
        return f"{tiles.left(left, wide)}{_BAR}{right}".rstrip()

    rule = f"{'─' * wide}─┼─{'─' * other}"
    rows = [line(*heads)]
    for pair in zip(lefts, rights, strict=True):
        high = max(picture.height for picture in pair)
        left, right = (tiles.grown(picture, 0, high - 1).lines for picture in pair)
        rows += [rule, *map(line, left, right)]
    return "\n".join(rows)


def _side(blocks: Sequence[Block], width: int) -> Tile:
    """Blocks one after another as a picture."""
    return tile_of_lines(_one_below_the_other(blocks, width).split("\n"))


# --- places to write and to tick ----------------------------------------------------------------------


def _grid(grid: AnswerGrid) -> Tile:
    """An empty matrix with what stands in it already, and its labels outside the brackets."""
    return CellRows(_boxes(grid), " " if grid.shade else "   ", apart=True).framed(grid, "[")


def _boxes(grid: AnswerGrid) -> list[list[Tile]]:
    """Its cells: places to write, or what stands there already."""
    return [
        [text("☐") if grid.shade and isinstance(cell, Blank) else tile_of(cell, True) for cell in row]
        for row in grid.cells
    ]


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
    if not any(contains(node, MatrixOf) for item in block.items for node in measure.formulas_in(item)):
        return "\n".join(
            _filled(item, width, f"  {mark:{widest}}  ", " " * (widest + 4))
            for mark, item in zip(marks, block.items, strict=True)
        )
    pictures = [
        text(f"{mark:{widest}}  ") + beside(*map(_inline_tile, spans(item)))
        for mark, item in zip(marks, block.items, strict=True)
    ]
    wide = max(picture.width for picture in pictures) + 5
    most = max(1, (width + 1) // wide)
    columns = -(-len(pictures) // -(-len(pictures) // most))
    padded = pictures + [EMPTY] * (-len(pictures) % columns)
    rows = tiles.level(measure.in_lines(padded, columns), "l")
    return _indented(spread([joined(row, "     ") for row in rows]), 2)


def _inline_tile(inline: Span) -> Tile:
    return tile_of(inline.formula, False) if isinstance(inline, Math) else text(plain((inline,)))
