"""Documents as LaTeX that compiles with any TeX Live of the last years and that a teacher can edit."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable
from typing import assert_never

from symattn.document import (
    AnswerGrid,
    Block,
    Box,
    Code,
    Diagram,
    Display,
    Document,
    Entries,
    Heading,
    Inline,
    Inlines,
    ItemList,
    Math,
    PageBreak,
    Paragraph,
    Strong,
    Table,
    Together,
    Words,
    WorkingSpace,
)
from symattn.formula.nodes import CellKind, Formula
from symattn.formula.width import width
from symattn.writers import common, figures, tex
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
    return filled(
        "document.tex.j2",
        title=escaped(document.title),
        subtitle=escaped(document.subtitle),
        fields=[escaped(name) for name in document.fields],
        sheet=escaped(document.sheet),
        sheet_comment=" · ".join(filter(None, map(common.visible, (document.title, document.sheet, document.recipe)))),
        recipe=code(document.recipe),
        figures=any(isinstance(block, Diagram) for block in common.all_blocks(document.blocks)),
        body="\n\n".join(map(_block, document.blocks)),
    )


# --- text ---------------------------------------------------------------------------------------------


def _text(content: Inlines) -> str:
    return "".join(map(_inline, content))


def _inline(inline: Inline) -> str:
    match inline:
        case Words(words):
            return escaped(words)
        case Strong(words):
            return f"\\textbf{{{escaped(words)}}}"
        case Code(words):
            return f"\\texttt{{{code(words)}}}"
        case Math(formula):
            source = _on_one_line(tex.write(formula, _TEX))
            if width(formula) > common.LINE:
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


def _block(block: Block) -> str:
    match block:
        case Heading(content, level):
            command = "section" if level <= 1 else "subsection"
            return f"\\{command}*{{{_text(content)}}}"
        case Paragraph(content):
            return _filled(_text(content))
        case Display(lines, lead):
            opening = f"[{{{_text(lead)}}}]" if lead else ""
            return _formulas((tex.aligned(line, _TEX) for line in common.folded(lines, lead)), opening)
        case Entries(equations, columns):
            columns = common.columns_that_fit(equations, columns)
            cells = [tex.aligned(equation, _TEX) for equation in equations]
            return _formulas(" & ".join(cells[i : i + columns]) for i in range(0, len(cells), columns))
        case AnswerGrid(name, rows, columns, _):
            wide, high = common.box_size(block)
            return f"\\answergrid{{{_on_one_line(tex.write(name, _TEX))}}}{{{rows}}}{{{columns}}}{{{wide}}}{{{high}}}"
        case WorkingSpace(height):
            return f"\\workingspace{{{height}}}"
        case ItemList(items, ordered):
            listed = "\n".join(_filled(f"  \\item {_text(item)}", "    ") for item in items)
            return _environment("enumerate" if ordered else "itemize", listed) if items else ""
        case Table():
            return _table(block)
        case Box(title, blocks):
            return _environment("notebox", "\n\n".join(map(_block, blocks)), f"{{{escaped(title)}}}")
        case Together(blocks):
            return _environment("together", "\n\n".join(map(_block, blocks)))
        case Diagram():
            return _diagram(block)
        case PageBreak():
            return "\\clearpage"
        case _:
            assert_never(block)


def _environment(name: str, body: str, arguments: str = "") -> str:
    return f"\\begin{{{name}}}{arguments}\n{body}\n\\end{{{name}}}"


def _formulas(lines: Iterable[str], opening: str = "") -> str:
    body = " \\\\\n".join(line.strip("\n") for line in lines)
    return tex.indented(_environment("formulas", body, opening))


def _table(table: Table) -> str:
    heads = [f"\\textbf{{{_cell(cell)}}}" for cell in table.header]
    rows = [[_cell(cell) for cell in row] for row in table.rows]
    if table.row_heads:
        rows = [[f"\\textbf{{{head}}}", *others] for head, *others in rows]
    head, *lines = ["  " + " & ".join(row) + " \\tabularnewline" for row in (heads, *rows)]
    shares = common.column_shares(table)
    wrapped = "".join(f">{{\\raggedright\\arraybackslash}}m{{{share:.3f}\\linewidth}}" for share in shares)
    columns = f"{{{wrapped or 'l' * len(heads)}}}"
    parts = [lines[i : i + _ROWS] for i in range(0, len(lines), _ROWS)] or [[]]
    return "\n\n".join(_environment("sheettable", "\n".join([f"{head} \\hline", *part]), columns) for part in parts)


def _cell(content: Inlines) -> str:
    source = _text(content)
    return f"\\padded{{{source}}}" if any(map(common.is_tall, common.formulas_in(content))) else source


def _diagram(diagram: Diagram) -> str:
    figure = figures.placed(diagram)
    nodes = [
        f"  \\node[box, minimum width={box.width:.1f}mm] (n{layer}-{index}) at ({box.x:.1f}mm,{box.y:.1f}mm) "
        f"{{${_on_one_line(tex.write(box.formula, _TEX))}$}};"
        for (layer, index), box in figure.boxes.items()
    ]
    remarks = [
        f"  \\node[anchor=west] at ({remark.x:.1f}mm,{remark.y:.1f}mm) {{{_text(remark.content)}}};"
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
    options = "[>=stealth, ->, box/.style={draw, rounded corners=2pt, minimum height=8mm, inner sep=2pt}]"
    picture = _environment("tikzpicture", "\n".join([*nodes, *remarks, *arrows]), options)
    description = _filled(common.visible(diagram.description))
    comment = textwrap.indent(description, "% ") if description else ""
    return f"{comment}\n\\begin{{center}}\\fit{{%\n{picture}}}\\end{{center}}".strip()
