"""What a line of characters can show: words, formulas over several lines or on one, and pictures of matrices.

Terminals show it, and so does every format that has a formula or a name as plain text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
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
from symattn.page.document import (
    AnswerGrid,
    Code,
    Entries,
    FillIn,
    HeatMap,
    HeatMaps,
    Inlines,
    Math,
    Span,
    Strong,
    Words,
    spans,
)
from symattn.page.writers import common, measure
from symattn.page.writers.tiles import (
    EMPTY,
    Tile,
    beside,
    bracketed,
    centre,
    fraction,
    joined,
    level,
    lines,
    stacked,
    text,
    tile_of_lines,
)

COLUMNS = 100  # the width of formulas and figures on a terminal


# --- words on lines ------------------------------------------------------------------------------------


def plain(content: Inlines) -> str:
    """Text and formulas on one line, without any mark-up."""
    return "".join(map(_inline, spans(content)))


def _inline(inline: Span) -> str:
    match inline:
        case Words(words) | Strong(words) | Code(words):
            return common.visible(words)
        case Math(formula):
            return on_one_line(formula).replace(" ", "\N{NO-BREAK SPACE}")
        case _:
            assert_never(inline)


_WIDE = "\u2e80-\u303f\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff01-\uff60\U00020000-\U0003fffd"
_WIDE_OPENING, _WIDE_CLOSING = "（〔［【《〈「『“‘", "）〕］】》〉」』”’，。、；：！？…"
_OPENING, _CLOSING = rf"\[({_WIDE_OPENING}", rf"\]){_WIDE_CLOSING},.;:!?·%％"
PLACES = (
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
    parts = re.split(PLACES, " ".join(words.splitlines()).rstrip(" "))
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


# --- formulas ------------------------------------------------------------------------------------------

_SUPERSCRIPT = dict(zip("0123456789+−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", strict=True))
_SUBSCRIPT = dict(zip("0123456789aehijklmnoprstuvx×=−,", "₀₁₂₃₄₅₆₇₈₉ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓₓ₌₋,", strict=True))
_DOTS = {"horizontal": "…", "vertical": "⋮", "diagonal": "⋱", "cell": "·"}
_BLANK: dict[CellKind, int] = {"integer": 4, "decimal": 6, "fraction": 6, "exponential": 12, "word": 12}


def on_one_line(node: Formula) -> str:
    """A formula for a line of text: a matrix as [1 0; 0 1], a fraction with a slash."""
    return tile_of(node, flat=True).lines[0]


@lru_cache(maxsize=2**13)
def tile_of(node: Formula, flat: bool) -> Tile:
    """A formula as a block of characters, one line high if `flat`."""

    def inner(child: Formula) -> Tile:
        return tile_of(child, flat)

    match explicit(node):
        case Number(digits):
            return text(common.visible(digits))
        case Name() as name:
            return text(_name(name))
        case Text(words):
            return text(common.visible(words))
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
            return fraction(_part_of_fraction(above), _part_of_fraction(below))
        case Sum() | Fraction() as chain:
            return beside(*(text(f" {s} " if s in ("+", "−") else s) + inner(part) for s, part in pieces(chain)))
        case Power(base, exponent):
            return _scripted(inner(base), _exponent(exponent))
        case Root(body):
            return text("√") + inner(body if isinstance(body, Number | Name) else Bracketed(body))
        case Transposed(body, sign):
            return _scripted(inner(body), "′" if sign == "′" else "ᵀ")
        case Call(function, arguments, separator):
            return text(_name(function)) + bracketed(joined(map(inner, arguments), f"{separator} "), "(")
        case Bracketed(body, bracket):
            return bracketed(inner(body), bracket)
        case ListOf(items, bracket, separator):
            gap = f"{separator} " if separator else "  "
            return bracketed(joined(map(inner, items), gap), bracket)
        case MatrixOf() as matrix:
            return text(_matrix_on_one_line(matrix)) if flat else _matrix(matrix)
        case Shape(rows, columns):
            return joined((inner(rows), inner(columns)), "×")
        case Annotated() as annotated:
            return _annotated(annotated, flat)
        case Marked(body, sign, _):
            return joined((part for part in (inner(body), text(common.visible(sign))) if part.width), " ")
        case BigSum() as total:
            return _big_sum(total, flat)
        case Relation() as relation:
            return joined((part for part in _segments(relation, flat) if part is not EMPTY), " ")
        case Row(items):
            return joined(map(inner, items), "    ")
        case unknown:
            assert_never(unknown)


def _part_of_fraction(node: Formula) -> Tile:
    """A numerator or a denominator: a Σ in it takes one line only."""
    return tile_of(node, flat=not contains(node, Fraction, MatrixOf))


def _name(name: Name) -> str:
    base = common.visible(name.base) + ("\N{COMBINING CIRCUMFLEX ACCENT}" if name.hat else "")
    label = f"^{common.visible(name.sup)}" if name.sup else ""
    return common.composed(base) + "′" * name.primes + _index(name.sub) + label


def _index(sub: tuple[Formula, ...]) -> str:
    """Small characters if there are any for all of it; else after a low line."""
    words = measure.index_comma(sub).join(map(on_one_line, sub))
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


def _scripted(base: Tile, script: str, at: int = 0) -> Tile:
    """A script at the right end of a line, the first one if nothing else is said."""
    lines = (f"{line}{script if i == at else ' ' * columns_of(script)}" for i, line in enumerate(base.lines))
    return Tile(tuple(lines), base.baseline)


_ENDS_IN_SCRIPT = re.compile(r"[\^_√][^\s()\[\]{}]*$")


def _factors(product: Product, flat: bool) -> Iterator[Tile]:
    """Factors and the signs between them: a dot is set tight; words and what ends in an index get a space."""
    before = EMPTY
    for i, (sign, factor) in enumerate(pieces(product, slashed=flat)):
        tile = tile_of(factor, flat)
        apart = before.height > 1 or tile.height > 1 or (i > 0 and run_together(*product.factors[i - 1 : i + 1]))
        match sign:
            case "":
                pass
            case "\N{INVISIBLE TIMES}" | "\N{THIN SPACE}":
                yield text(" " if apart or _ENDS_IN_SCRIPT.search(before.lines[-1]) else "")
            case "·":
                yield text(" · " if apart else "·")
            case _:
                yield text(f" {sign} ")
        yield tile
        before = tile


def _segments(node: Relation, flat: bool) -> list[Tile]:
    """What stands before the first sign, and every sign with what follows it."""
    first, *others = (EMPTY if part == NOTHING else tile_of(part, flat) for part in node.parts)
    return [first, *(text(f"{sign} ") + part for sign, part in zip(node.signs, others, strict=True))]


def _matrix_on_one_line(node: MatrixOf) -> str:
    rows = [[on_one_line(cell) for cell in row] for row in node.rows]
    comma = node.separator or ("," if any(" " in cell for row in rows for cell in row) else "")
    inside = [(f"{comma} " if comma else " ").join(row) for row in rows]
    if node.nested:
        inside = [bracketed(text(row), node.bracket).lines[0] for row in inside]
    between = f"{node.row_end} " if node.nested else "; "
    return bracketed(text(between.join(inside)), node.bracket).lines[0]


def _matrix(node: MatrixOf) -> Tile:
    """A matrix with its labels, if any, outside the brackets."""
    flat = not any(map(measure.has_tall_fraction, node.entries))
    cells = [[_cell(node, i, j, flat) for j in range(len(row))] for i, row in enumerate(node.rows)]
    numbers = not node.column_labels and all(map(is_signed_number, node.entries))
    rows = CellRows(cells, " " if node.separator else "  ", "r" if numbers else "c")
    return rows.framed(node, node.bracket, (node.bracket or "[") if node.nested else "")


@dataclass(frozen=True)
class CellRows:
    """Cells in rows and columns with a gap between columns, and with blank lines between rows if set `apart`."""

    cells: Sequence[Sequence[Tile]]
    gap: str
    align: str = "c"
    apart: bool = False

    def framed(self, labelled: MatrixOf | AnswerGrid, bracket: Bracket, inner: Bracket = "") -> Tile:
        """In brackets, each row in `inner` ones; labels stand outside."""
        heads = [tile_of(label, True) for label in labelled.column_labels]
        *cells, above = level([*self.cells, heads or [EMPTY] * len(self.cells[0])], self.align)
        rows = [bracketed(joined(row, self.gap), inner) for row in cells]
        body = bracketed(lines(rows, self.apart), bracket)
        edge = (body.width - rows[0].width) // 2
        if labels := [tile_of(label, True) for label in labelled.row_labels]:
            margin = level([[label, row] for label, row in zip(labels, rows, strict=True)], "lc")
            body = lines([label for label, _ in margin], self.apart) + text(" ") + body
        if isinstance(labelled, AnswerGrid) and labelled.name != NOTHING:
            body = tile_of(labelled.name, True) + text("   " if labels else " = ") + body
        if not heads:
            return body
        over = " " * (body.width - rows[0].width - edge) + joined(above, self.gap).lines[0] + " " * edge
        return Tile((over, *body.lines), body.baseline + 1)


def _cell(node: MatrixOf, i: int, j: int, flat: bool) -> Tile:
    tile = tile_of(node.rows[i][j], flat)
    if (i, j) in node.excluded:
        tile = text("░") + tile + text("░")
    return tile + text(measure.sign_after(node, i, j))


def _annotated(node: Annotated, flat: bool) -> Tile:
    body = tile_of(node.body, flat)
    note = tile_of(node.note, flat=True)
    match node.place:
        case "under" if not flat:
            return stacked((body, note), body.baseline)
        case "index":
            return _scripted(body, _below(note.lines[0].strip("()")), body.height - 1)
        case "under" | "beside":
            return beside(body, text("  " if node.place == "beside" else " "), note)
        case _:
            assert_never(node.place)


def _big_sum(node: BigSum, flat: bool) -> Tile:
    index, lower, upper = map(on_one_line, (node.index, node.lower, node.upper))
    below = f"{index}={lower}" if lower else index
    body = tile_of(node.body, flat)
    if flat:
        small = all(character in _SUBSCRIPT for character in below)
        bound = "".join(_SUBSCRIPT[character] for character in below) if small else f"_({below})"
        return text(f"Σ{bound}{_exponent(node.upper) if upper else ''} ") + body
    return stacked((text(upper), text("Σ"), text(below)), 1) + text(" ") + body


# --- lines of formulas --------------------------------------------------------------------------------


def _cut(line: Formula) -> tuple[Tile | None, list[Tile]]:
    """What stands before the first relation sign, if there is one, and the pieces a line may be broken between."""
    if isinstance(line, Relation) and line.signs:
        first, *others = _segments(line, flat=False)
        return first, others
    return None, [tile_of(line, flat=False)]


def _wrapped(parts: Sequence[Tile], limit: int) -> list[Tile]:
    """Pieces joined to lines no wider than `limit` where that is possible."""
    done: list[Tile] = []
    current = parts[0]
    for piece in parts[1:]:
        longer = joined((current, piece), " ")
        if longer.width <= limit:
            current = longer
        else:
            done.append(current)
            current = piece
    return [*done, current]


def display(lines: Sequence[Formula], limit: int) -> Tile:
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
    return spread(rows)


def spread(rows: Sequence[Tile]) -> Tile:
    """Rows under one another, with a blank line wherever one of two neighbours is high."""
    spaced = list(rows[:1])
    for above, below in pairwise(rows):
        spaced += [EMPTY, below] if above.height > 1 or below.height > 1 else [below]
    return stacked(spaced, rows[0].baseline, "left")


def entries(block: Entries, limit: int) -> Tile:
    """Equations in as many columns as have room."""
    cut = [(first or EMPTY, joined(rest, " ")) for first, rest in map(_cut, block.equations)]
    for columns in range(max(1, min(block.columns, measure.ON_A_SCREEN, len(cut))), 0, -1):
        padded = cut + [(EMPTY, EMPTY)] * (-len(cut) % columns)
        rows = [[part for pair in line for part in pair] for line in measure.in_lines(padded, columns)]
        levelled = level(rows, "rl" * columns)
        pairs = [[joined(pair, " ") for pair in measure.in_lines(row, 2)] for row in levelled]
        tile = spread([joined(row, "     ") for row in pairs])
        if tile.width <= limit:
            break
    return tile


# --- places to write, and pictures of matrices ----------------------------------------------------------


def place(item: FillIn) -> str:
    """A place to write: a line, or boxes |_|_|_|, with what stands there already."""
    if common.has_character_boxes(item):
        return "|".join(["", *(c or "_" for c in common.in_boxes(item)), ""])
    words = common.visible(item.value)
    return words + "_" * (max(6, item.width // 2) - columns_of(words))


_SHADES = " ░▒▓█"


def heat_map(picture: HeatMap) -> str:
    return str(_set_in(_cells_of(picture)))


def heat_maps(maps: HeatMaps) -> str:
    """Heat maps beside one another as far as a line goes, captions below."""
    rows: list[list[Tile]] = [[]]
    for caption, picture in maps.items:
        one = _set_in(stacked([_cells_of(picture, maps.small), text(plain(caption))], 0))
        if rows[-1] and sum(other.width for other in (*rows[-1], one)) > COLUMNS:
            rows.append([])
        rows[-1].append(one)
    return "\n\n".join(str(beside(*row)) for row in rows)


def _set_in(tile: Tile) -> Tile:
    return Tile(tuple(f"    {line}" for line in tile.lines), tile.baseline)


def _cells_of(picture: HeatMap, small: bool = False) -> Tile:
    """A picture of a matrix with a sign for each level, words between two of them."""
    labels = [tile_of(label, True) for label in picture.row_labels] or [EMPTY] * len(picture.levels)
    heads = [tile_of(label, True) for label in picture.column_labels]
    words = [columns_of(common.visible(word)) + 4 for row in picture.words for word in row]
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
    drawn = stacked(margin, 0, "left") + text(" ") + tile_of_lines([*lines, rules[-1]])
    if heads:
        over = " " + " ".join(centre(head.lines[0], wide) for head in heads) + " "
        drawn = stacked([text(over), drawn], 0, "right")
    return drawn


def _shaded(level: int, word: str, wide: int) -> str:
    """A cell of a picture of a matrix, with a word in it if there is one."""
    shade = _SHADES[level]
    if not (shown := common.visible(word)):
        return shade * wide
    space = wide - columns_of(shown) - 2
    return f"{shade * (space // 2)} {shown} {shade * (space - space // 2)}"
