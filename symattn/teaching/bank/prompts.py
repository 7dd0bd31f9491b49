"""What a question says, as HTML with MathML, which every system shows; places to answer are kept apart.

Of HTML there is only what QTI 2.1 allows as well.  How it looks is said by classes: QTI has a stylesheet for them, and
for other systems `styled` writes them out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import assert_never

from symattn.formula import NOTHING, Formula, Row, equal
from symattn.formula.nodes import Blank
from symattn.formula.speech import speak
from symattn.page.document import (
    AnswerGrid,
    AnswerSpace,
    Block,
    Box,
    Choices,
    Code,
    Columns,
    Diagram,
    Display,
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
    Strong,
    Table,
    Together,
    Words,
    WorkingSpace,
    spans,
)
from symattn.page.writers import common, html, markdown, tables

MATHML = "http://www.w3.org/1998/Math/MathML"
SHADES = ("·", "░", "▒", "▓", "█")
"""The levels of a heat map, to be heard, and to be seen where a system shows no colours."""
TONES = ("#ffffff", "#d9d9d9", "#a6a6a6", "#666666", "#1a1a1a")
_EDGE = "border:1px solid #777777;padding:0.2em 0.6em"
STYLES: Mapping[str, str] = {
    "heading": "margin-top:1.2em",
    "wide": "overflow-x:auto;padding:0.2em 0",
    "table": "border-collapse:collapse;margin-bottom:0.8em",
    "cell": _EDGE,
    "box": "padding:0.15em 0.3em;text-align:center",
    **{
        f"tone-{level}": f"{_EDGE};text-align:center;background-color:{tone};color:{tone}"
        for level, tone in enumerate(TONES)
    },
    "word": "background-color:#ffffff;color:#000000;padding:0 0.3em",
}
"""What classes look like.  Tables with styles are what every importer keeps: Canvas drops pictures within the text, SVG
as well as data:, and so does Moodle where it cleans."""
_CLASS = re.compile(r'class="symattn-([a-z0-9-]+)"')


def styled(shown: str) -> str:
    """HTML with its classes written out.

    >>> styled('<div class="symattn-wide">4</div>')
    '<div style="overflow-x:auto;padding:0.2em 0">4</div>'
    """
    return _CLASS.sub(lambda match: f'style="{STYLES[match[1]]}"', shown)


@dataclass(frozen=True, slots=True)
class Slot:
    """A place to answer: an entry (from 0) of a grid, the next of several places, or options to choose from."""

    cell: tuple[int, int] | None = None
    options: bool = False


Piece = str | Slot


def prompt(blocks: Iterable[Block]) -> Iterator[Piece]:
    """Blocks as they are read, with the places to answer between pieces of HTML; room for working is left out."""
    for block in blocks:
        yield from _block(block)


def plain(blocks: Iterable[Block]) -> str:
    """Blocks without anything to answer."""
    return "".join(piece for piece in prompt(blocks) if isinstance(piece, str))


def inlines(content: Inlines) -> str:
    return "".join(map(_inline, spans(content)))


def grid(rows: int, columns: int) -> Iterator[Piece]:
    """Boxes for a matrix, where a question has none of its own."""
    yield from _grid(AnswerGrid(NOTHING, rows, columns))


_AS_TEX: ContextVar[bool] = ContextVar("as_tex", default=False)


@contextmanager
def formulas_as_tex(as_tex: bool = True) -> Iterator[None]:
    """Formulas are the text of an element `tex` instead of MathML, for systems that typeset it themselves."""
    token = _AS_TEX.set(as_tex)
    try:
        yield
    finally:
        _AS_TEX.reset(token)


def formula(written: Formula, display: bool = False) -> str:
    if _AS_TEX.get():
        source = markdown.formula(written)
        return f"<tex{' display' * display}>{html.escaped(source)}</tex>" if source.strip() else ""
    inside = html.formula(written)
    kind = ' display="block"' if display else ""
    return f'<math xmlns="{MATHML}"{kind} alttext="{html.escaped(speak(written))}">{inside}</math>' if inside else ""


def _inline(inline: Words | Strong | Code | Math) -> str:
    match inline:
        case Words(words):
            return html.escaped(words)
        case Strong(words):
            return f"<strong>{html.escaped(words)}</strong>" if words else ""
        case Code(words):
            return f"<code>{html.escaped(words)}</code>" if words else ""
        case Math(written):
            return formula(written)
        case _:
            assert_never(inline)


def _block(block: Block) -> Iterator[Piece]:
    match block:
        case Heading(level=level, marks=marks):
            name = f"h{min(6, level + 3)}"
            yield f'<{name} class="symattn-heading">{inlines(block.whole)}{_worth(marks)}</{name}>\n'
        case Paragraph(by_hand=True):
            pass
        case Paragraph(content, marks, typed=typed):
            if shown := content if typed is None else typed:
                yield f"<p>{inlines(shown)}{_worth(marks)}</p>\n"
        case Display(lines, lead):
            if lead:
                yield f"<p>{inlines(lead)}</p>\n"
            yield _lines(lines)
        case Entries(equations, columns):
            yield _lines([Row(equations[i : i + columns]) for i in range(0, len(equations), columns)])
        case AnswerGrid():
            yield from _grid(block)
        case FillIns(items):
            for item in items:
                yield from _fill_in(item)
        case Choices():
            yield Slot(options=True)
        case HeatMap():
            yield _heat_map(block)
        case HeatMaps(items):
            for caption, picture in items:
                yield f"<p>{inlines(caption)}</p>\n{_heat_map(picture)}"
        case ItemList(items, ordered):
            name = "ol" if ordered else "ul"
            if items:
                yield f"<{name}>{''.join(f'<li>{inlines(item)}</li>' for item in items)}</{name}>\n"
        case Table():
            yield from _table(block)
        case Box(title, blocks):
            yield f"<div>\n<p><strong>{html.escaped(title)}</strong></p>\n" if title else "<div>\n"
            yield from prompt(blocks)
            yield "</div>\n"
        case Together(blocks):
            yield from prompt(blocks)
        case AnswerSpace() | Falk() | Flow() | Columns() | Solved():
            yield from prompt(common.one_after_another(block))
        case Diagram(description=description):
            yield f"<p>{html.escaped(description)}</p>\n" if description else ""
        case WorkingSpace() | FlowSheet() | Program() | PageBreak():
            pass
        case _:
            assert_never(block)


def _worth(marks: str) -> str:
    return f" {html.escaped(marks)}" if marks else ""


def _lines(lines: Sequence[Formula]) -> str:
    return "".join(f'<div class="symattn-wide">{formula(line, display=True)}</div>\n' for line in lines)


def _grid(grid: AnswerGrid) -> Iterator[Piece]:
    """Boxes in a table whose rows and columns are numbered or labelled, below the name of the matrix."""
    if grid.name != NOTHING:
        yield f"<p>{formula(equal(grid.name, NOTHING))}</p>\n"
    filled = dict(grid.filled)
    above = [formula(label) for label in grid.column_labels] or [str(j + 1) for j in range(grid.columns)]
    before = [formula(label) for label in grid.row_labels] or [str(i + 1) for i in range(grid.rows)]
    yield _opened("".join(_head("col", label, "box") for label in ("", *above)))
    for i in range(grid.rows):
        yield f"<tr>{_head('row', before[i], 'box')}"
        for j in range(grid.columns):
            yield '<td class="symattn-box">'
            yield formula(filled[i, j]) if (i, j) in filled else Slot((i, j))
            yield "</td>"
        yield "</tr>\n"
    yield _CLOSED


def _opened(heads: str) -> str:
    """The beginning of a table, up to its rows."""
    above = f"<thead><tr>{heads}</tr></thead>" if heads else ""
    return f'<div class="symattn-wide"><table class="symattn-table">{above}<tbody>\n'


_CLOSED = "</tbody></table></div>\n"


def _head(scope: str, label: str, kind: str = "cell") -> str:
    return f'<th scope="{scope}" class="symattn-{kind}">{label}</th>' if label else "<td></td>"


def _table(table: Table) -> Iterator[Piece]:
    yield _opened("".join(_head("col", inlines(cell)) for cell in table.header))
    for row in table.rows:
        yield "<tr>"
        by_hand = tables.is_for_writing(row, table)
        for k, cell in enumerate(row):
            head = k == 0 and table.row_heads
            yield '<th scope="row" class="symattn-cell">' if head else '<td class="symattn-cell">'
            blank = len(cell) == 1 and isinstance(cell[0], Math) and isinstance(cell[0].formula, Blank)
            yield Slot() if blank or (by_hand and k) else inlines(cell)
            yield "</th>" if head else "</td>"
        yield "</tr>\n"
    yield _CLOSED


def _fill_in(item: FillIn) -> Iterator[Piece]:
    yield f"<p>{inlines(item.label)} "
    yield html.escaped(item.value) if item.value else Slot()
    yield f" {inlines(item.after)}</p>\n"


def _heat_map(picture: HeatMap) -> str:
    """A table of tones, with characters of their own tone in them."""
    corner = ("",) if picture.row_labels else ()
    rows = []
    for i, levels in enumerate(picture.levels):
        cells = [_head("row", formula(picture.row_labels[i]))] if picture.row_labels else []
        for j, level in enumerate(levels):
            word = html.escaped(common.word_in(picture, i, j))
            shown = f' <span class="symattn-word">{word}</span>' if word else ""
            cells.append(f'<td class="symattn-tone-{level}">{SHADES[level] * 2}{shown}</td>')
        rows.append(f"<tr>{''.join(cells)}</tr>\n")
    heads = "".join(_head("col", label) for label in (*corner, *map(formula, picture.column_labels)))
    return f"{_opened(heads if picture.column_labels else '')}{''.join(rows)}{_CLOSED}"
