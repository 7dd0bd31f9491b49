"""Documents as LaTeX that compiles with any TeX Live of the last years and that a teacher can edit."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import assert_never

from symattn.document import (
    AnswerGrid,
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
    Heading,
    HeatMap,
    Inline,
    Inlines,
    ItemList,
    Math,
    PageBreak,
    Paragraph,
    Solved,
    Strong,
    Table,
    Together,
    Words,
    WorkingSpace,
    settled,
)
from symattn.formula.nodes import NOTHING, CellKind, Formula
from symattn.formula.width import width
from symattn.writers import common, figures, tex
from symattn.writers.common import Page
from symattn.writers.latex_text import code, escaped
from symattn.writers.page import filled

SUFFIX = ".tex"

_BLANK: dict[CellKind, str] = {
    "integer": "1.1cm",
    "decimal": "1.8cm",
    "fraction": "1.5cm",
    "exponential": "3cm",
    "word": "4cm",
}

_ABOVE_HEADING = ("", "[\\abovesection]", "[\\abovesubsection]")  # space of a group that begins with a heading
_TICKED = "[\\ticked]"
_ROWS = 24  # a longer table is cut into several, each with the head, so that it can go on on the next page

# In a document, with the commands its preamble defines.
_TEX = tex.Dialect(
    escaped=escaped,
    transpose="\\T",
    functions=("softmax",),
    blank={kind: f"\\blank[{length}]" for kind, length in _BLANK.items()},
    excluded="\\excluded",
    high_row="\\highrow",
)
# Alone, where only what every TeX knows can be used: in a notebook, in someone else's file.
_TEX_ALONE = tex.Dialect(
    escaped=escaped,
    transpose="\\top",
    functions=(),
    blank={kind: f"\\underline{{\\hspace{{{length}}}}}" for kind, length in _BLANK.items()},
    excluded="\\boxed",
    high_row="\\\\[10pt]",
)


def formula(formula: Formula) -> str:
    """One formula for math mode, without any command that LaTeX and MathJax do not know."""
    return tex.indented(tex.write(formula, _TEX_ALONE))


def write(document: Document) -> str:
    """The whole document."""
    document = settled(document)
    page = Page(document.look)
    return filled(
        "document.tex.j2",
        title=escaped(document.title),
        subtitle=escaped(document.subtitle),
        fields=[escaped(name) for name in document.fields],
        sheet=escaped(document.sheet),
        sheet_comment=" · ".join(filter(None, map(common.visible, (document.title, document.sheet, document.recipe)))),
        recipe=code(document.recipe),
        page=page,
        uses=common.parts_used(document),
        body=_blocks(document.blocks, page),
    )


# --- text ---------------------------------------------------------------------------------------------


def _text(content: Inlines, room: float, style: tex.Style = "normal") -> str:
    """Text with formulas, no formula and no word wider than `room` em."""
    return "".join(_inline(inline, room, style) for inline in content)


def _inline(inline: Inline, room: float, style: tex.Style) -> str:
    match inline:
        case Words(words):
            return escaped(words, room)
        case Strong(words):
            return f"\\textbf{{{escaped(words, room)}}}"
        case Code(words):
            return f"\\texttt{{{code(words)}}}"
        case Math(formula):
            source = _on_one_line(tex.write(formula, _TEX, "tall" if common.has_dense_fraction(formula) else style))
            if width(formula) > room:
                return f"\\fit{{${source}$}}"
            return f"${source}$" if source else ""
        case _:
            assert_never(inline)


def _on_one_line(source: str) -> str:
    return re.sub(r"\s*\n\s*", " ", source).strip()


def _filled(source: str, indent: str = "") -> str:
    """Source in lines that are pleasant to edit."""
    return textwrap.fill(source, 100, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


# --- blocks -------------------------------------------------------------------------------------------


def _blocks(blocks: Sequence[Block], page: Page, together: bool = False) -> str:
    kept = common.stays_with_next(blocks, together)
    sources = (_block(block, page) for block in blocks)
    return "\n\n".join(f"{s}\\nopagebreak" if stays else s for s, stays in zip(sources, kept, strict=True))


def _block(block: Block, page: Page) -> str:
    match block:
        case Heading(content, level, marks):
            command = "section" if level <= 1 else "subsection"
            return f"\\{command}*{{{_text(content, page.line)}{_marks(marks)}}}"
        case Paragraph(content, marks):
            return _filled(_text(content, page.line) + _marks(marks))
        case Display(lines, lead):
            opening = f"[{{{_text(lead, page.line)}}}]" if lead else ""
            return _formulas((tex.aligned(line, _TEX) for line in common.folded(lines, lead, page.line)), opening)
        case Entries(equations, columns):
            columns = common.columns_that_fit(equations, columns, page.line)
            if columns == 1:
                equations = tuple(common.folded(equations, limit=page.line))
            cells = [tex.aligned(equation, _TEX) for equation in equations]
            return _formulas(" & ".join(cells[i : i + columns]) for i in range(0, len(cells), columns))
        case AnswerGrid():
            return _grid(block, page)
        case WorkingSpace(ruled=True):
            lines_to_write_on = common.ruled_lines(block, page)
            return f"\\ruledspace{{{lines_to_write_on}}}{{{page.millimetres(common.RULING)}}}"
        case WorkingSpace():
            return f"\\workingspace{{{common.space_height(block, page)}}}"
        case FillIns(items):
            return _environment("fillins", "\n".join(_fill_in(item, page) for item in items))
        case Choices():
            return _choices(block, page)
        case HeatMap():
            return _heat_map(block, page)
        case ItemList(items, ordered):
            listed = "\n".join(_filled(f"  \\item {_text(item, page.line)}", "    ") for item in items)
            return _environment("enumerate" if ordered else "itemize", listed) if items else ""
        case Table():
            return _table(block, page)
        case Box(title, blocks):
            return _environment("notebox", _blocks(blocks, page), f"{{{escaped(title)}}}")
        case Together(blocks):
            above = _ABOVE_HEADING[min(2, common.level_of_first_heading(block))]
            return _environment("together", _blocks(blocks, page, together=True), above)
        case Falk() | Columns() | Solved():
            return _blocks(common.one_after_another(block), page)
        case Diagram():
            return _diagram(block, page)
        case PageBreak():
            return "\\clearpage"
        case _:
            assert_never(block)


def _marks(marks: str) -> str:
    return f"\\atmargin{{{escaped(marks)}}}" if marks else ""


def _environment(name: str, body: str, arguments: str = "") -> str:
    return f"\\begin{{{name}}}{arguments}\n{body}\n\\end{{{name}}}"


def _formulas(lines: Iterable[str], opening: str = "") -> str:
    body = " \\\\\n".join(line.strip("\n") for line in lines)
    return tex.indented(_environment("formulas", body, opening))


def _formula(formula: Formula) -> str:
    source = _on_one_line(tex.write(formula, _TEX, "tall"))
    return f"${source}$" if source else ""


def _grid(grid: AnswerGrid, page: Page) -> str:
    wide, high = common.box_size(grid, page)
    name = _on_one_line(tex.write(grid.name, _TEX))
    size = f"{{{grid.rows}}}{{{grid.columns}}}{{{wide}}}{{{high}}}"
    if common.is_plain(grid):
        return f"\\answergrid{{{name}}}{size}"
    brackets = not (grid.shade or grid.row_labels or grid.column_labels)
    cells = [f"  \\cell{{{i + 1}}}{{{j + 1}}}{{{_formula(formula)}}}%" for (i, j), formula in grid.filled]
    cells += [f"  \\rowlabel{{{i + 1}}}{{{_formula(label)}}}%" for i, label in enumerate(grid.row_labels)]
    cells += [f"  \\columnlabel{{{j + 1}}}{{{_formula(label)}}}%" for j, label in enumerate(grid.column_labels)]
    equals = f"{name} =" if grid.name != NOTHING else ""
    left = max((width(label) + 0.8 for label in grid.row_labels), default=0.0)
    above = 1.8 if grid.column_labels else 0
    star = "" if brackets else "*"
    return "\n".join([f"\\cellgrid{star}{{{equals}}}{size}{{{left:.1f}em}}{{{above}em}}{{%", *cells, "}"])


def _fill_in(item: FillIn, page: Page) -> str:
    if common.has_character_boxes(item):
        value = common.characters(item.value)
        boxes = "".join(f"\\charbox{{{escaped(c)}}}" for c in (*value, *[""] * (item.boxes - len(value))))
        place = f"\\charboxes{{{boxes}}}"
    else:
        place = f"\\writingline{{{common.line_width(item, page)}}}{{{escaped(item.value)}}}"
    parts = filter(None, (_text(item.label, page.line), place, _text(item.after, page.line)))
    return f"\\fillinshort{{{'~'.join(parts)}}}" if common.is_short(item, page) else f"\\par {' '.join(parts)}\\par"


def _choices(choices: Choices, page: Page) -> str:
    columns = common.choice_columns(choices, page)
    items = (
        f"  \\choice{_TICKED if i in choices.ticked else ''}{{{common.letter(i)}}}{{{_option(item, columns, page)}}}"
        for i, item in enumerate(choices.items)
    )
    return _environment("choices", "\n".join(items), f"{{{columns}}}") if choices.items else ""


def _option(content: Inlines, columns: int, page: Page) -> str:
    match content:
        case [Math(formula)]:
            return f"\\fit{{{_formula(formula)}}}"
        case _:
            room = (page.line + common.CHOICE_GAP) / columns - common.CHOICE_GAP - common.CHOICE_LABEL
            return _text(content, room, "tall")


def _table(table: Table, page: Page) -> str:
    table = common.laid_out(table, page)
    shares = common.column_shares(table, page.line)
    rooms = [share * page.line for share in shares] or [page.line] * len(table.header)
    heads = [f"\\textbf{{{_cell(*cell)}}}" for cell in zip(table.header, rooms, strict=True)]
    rows = []
    for row in table.rows:
        head, *others = (_cell(*cell) for cell in zip(row, rooms, strict=True))
        if common.is_for_writing(row, table):
            others = [f"\\roomtowrite{{{page.millimetres(common.WRITING)}mm}}", *others[1:]]
        rows.append([f"\\textbf{{{head}}}" if table.row_heads else head, *others])
    head, *lines = ["  " + " & ".join(row) + " \\tabularnewline" for row in (heads, *rows)]
    ends = accumulate(map(len, common.table_parts(table, shares, page, page.rows(_ROWS))))
    wrapped = "".join(f"C{{{share:.3f}\\linewidth}}" for share in shares)
    columns = f"{{{wrapped or 'l' * len(heads)}}}"
    parts = ([f"{head} \\hline", *lines[start:end]] for start, end in pairwise((0, *ends)))
    between = " \\thinline\n" if common.has_matrices(table) else "\n"
    bodies = ("\n".join([first, between.join(others)]) for first, *others in parts)
    return "\n\n".join(_environment("sheettable", body, columns) for body in bodies)


def _cell(content: Inlines, room: float) -> str:
    source = _text(content, room)
    return f"\\padded{{{source}}}" if any(map(common.is_tall, common.formulas_in(content))) else source


def _diagram(diagram: Diagram, page: Page) -> str:
    figure = figures.placed(diagram)

    def mm(length: float) -> str:
        return f"{length * page.scale:.1f}mm"

    nodes = [
        f"  \\node[box, minimum width={mm(box.width)}] (n{layer}-{index}) at ({mm(box.x)},{mm(box.y)}) "
        f"{{${_on_one_line(tex.write(box.formula, _TEX))}$}};"
        for (layer, index), box in figure.boxes.items()
    ]
    remarks = [
        f"  \\node[anchor=west] at ({mm(remark.x)},{mm(remark.y)}) {{{_text(remark.content, page.line)}}};"
        for remark in figure.remarks
    ]
    arrows = []
    for (lower, a), (upper, b) in diagram.edges:
        if lower - upper == 1:
            arrows.append(f"  \\draw (n{lower}-{a}.north) -- (n{upper}-{b}.south);")
        else:
            left = figure.passes_left((lower, a), (upper, b))
            side, bend = ("west", "left") if left else ("east", "right")
            arrows.append(f"  \\draw (n{lower}-{a}.{side}) to[bend {bend}=60] (n{upper}-{b}.{side});")
    high = f"{page.millimetres(figures.HEIGHT)}mm"
    options = f"[>=stealth, ->, box/.style={{draw, rounded corners=2pt, minimum height={high}, inner sep=2pt}}]"
    return _picture([*nodes, *remarks, *arrows], options, diagram.description)


def _picture(lines: Sequence[str], options: str, description: str) -> str:
    picture = _environment("tikzpicture", "\n".join(lines), options)
    words = _filled(common.visible(description))
    comment = textwrap.indent(words, "% ") if words else ""
    return f"{comment}\n\\begin{{center}}\\fit{{%\n{picture}}}\\end{{center}}".strip()


def _heat_map(picture: HeatMap, page: Page) -> str:
    """Cells with their upper left corners at (column, −row)."""
    wide, high = common.cell_width(picture) * page.scale, common.SQUARE * page.scale
    lines = [
        f"  \\heatcell{{{j}}}{{{-i}}}{{{level}}}{{{_fitted(common.word_in(picture, i, j), wide / page.scale)}}}"
        for i, row in enumerate(picture.levels)
        for j, level in enumerate(row)
    ]
    lines += [f"  \\node[left] at (0,{-i - 0.5}) {{{_formula(label)}}};" for i, label in enumerate(picture.row_labels)]
    lines += [
        f"  \\node[above] at ({j + 0.5},0) {{{_formula(label)}}};" for j, label in enumerate(picture.column_labels)
    ]
    return _picture(lines, f"[x={wide:.1f}mm, y={high:.1f}mm]", picture.description)


def _fitted(word: str, room: float) -> str:
    """A word for a cell `room` millimetres wide, smaller if it is too long."""
    source = escaped(word)
    return f"\\resizebox{{{room - 4:.1f}\\mm}}{{!}}{{{source}}}" if common.word_width(word) + 3 > room else source
