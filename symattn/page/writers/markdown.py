"""Documents as Markdown: the part of it that GitHub, Jupyter, VS Code and pandoc read alike.

A formula stands between lines of `$$` with blank lines round them, one row of a matrix on a line; no line inside
begins with a sign that Markdown would take for a list or a heading.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import assert_never

from symattn.formula.nodes import Blank, CellKind, Formula, MatrixOf, contains
from symattn.foundation.languages import catalogue, say, speaking
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
    settled,
    spans,
)
from symattn.page.writers import common, measure, tex
from symattn.page.writers.characters import heat_map, heat_maps, on_one_line, place
from symattn.page.writers.page import filled

SUFFIX = ".md"
BESIDES: frozenset[Besides] = frozenset()

# A backslash before any sign of ASCII is that sign; only those that can mean something get one.
_SPECIAL = re.compile(r"[\\`*_{}\[\]<>$|~#&]")
_ENTITY = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
_START = re.compile(r"\A(\s*)([-+=]|\d+(?=[.)]))")

# Signs that end \text{…}, stand for themselves there, or mean something to Markdown.
_IN_FORMULA = {
    "\\": r"}\backslash\text{", "{": r"}\lbrace\text{", "}": r"}\rbrace\text{", "$": r"\$",
    "<": r"}\lt\text{", ">": r"}\gt\text{", "|": r"}\vert\text{", "*": r"}\ast\text{", "_": r"\_",
    "^": r"}\wedge\text{", "#": r"\#", "%": r"\%", "&": r"\&{}", "~": r"}\sim\text{", "`": "'",
}  # fmt: skip


def _escaped_in_formula(words: str) -> str:
    return "".join(_IN_FORMULA.get(character, character) for character in common.visible(words))


_BLANK: dict[CellKind, str] = {
    "integer": r"\underline{\quad}",
    "decimal": r"\underline{\qquad}",
    "fraction": r"\underline{\qquad}",
    "exponential": r"\underline{\qquad\qquad}",
    "word": r"\underline{\qquad\qquad}",
}
_TEX = tex.Dialect(
    escaped=_escaped_in_formula,
    transpose="\\top",
    functions=(),
    blank=_BLANK,
    excluded="\\boxed",
    high_row="\\\\",
    guarded=True,
)
# In a line of text GitHub takes the two strokes between the rows of a matrix for one.
_TEX_IN_LINE = replace(_TEX, flat=True)


# --- text ---------------------------------------------------------------------------------------------


def escaped(words: str) -> str:
    """Text that Markdown prints as it is.

    >>> print(escaped("1. *a* costs $5 <b>"))
    1\\. \\*a\\* costs \\$5 &lt;b&gt;
    """
    source = _SPECIAL.sub(lambda sign: _ENTITY.get(sign[0], "\\" + sign[0]), common.visible(words))
    return _START.sub(_harmless, source)


def _harmless(start: re.Match[str]) -> str:
    """The start of a line that would else begin a list, a heading or a rule."""
    space, sign = start.groups()
    return f"{space}{sign}\\" if sign.isdigit() else f"{space}\\{sign}"


def in_line(content: Inlines, formulas: bool = True) -> str:
    """Text with formulas in it, on one line."""
    return "".join(_inline(part, formulas) for part in spans(content))


def _inline(inline: Span, formulas: bool) -> str:
    match inline:
        case Words(words):
            return escaped(words)
        case Strong(words):
            return re.sub(r"\S.*\S|\S", lambda match: f"**{escaped(match[0])}**", common.visible(words))
        case Code(words):
            return code(words)
        case Math(formula) if formulas:
            source = _portable(tex.write(formula, _TEX_IN_LINE)).strip()
            return f"${source}$" if source else ""
        case Math(formula):
            return escaped(on_one_line(formula))
        case _:
            assert_never(inline)


def code(words: str) -> str:
    """Text as it is typed."""
    words = common.visible(words)
    longest = max(map(len, re.findall("`+", words)), default=0)
    fence = "`" * (longest + 1)
    space = " " if words.startswith("`") or words.endswith("`") else ""
    return f"{fence}{space}{words}{space}{fence}" if words else ""


# --- formulas -----------------------------------------------------------------------------------------


def formula(formula: Formula) -> str:
    """One formula as it stands between dollar signs."""
    return _portable(tex.indented(tex.write(formula, _TEX)))


def _portable(source: str) -> str:
    """Source that begins no tag, and no line of which begins as a list, a quotation, a heading or a rule does."""
    return re.sub(r"^(\s*)([-+*>#=])", r"\1{}\2", source.replace("<", "\\lt"), flags=re.MULTILINE)


def _display(source: str) -> str:
    return f"$$\n{_portable(source.strip())}\n$$"


# --- documents ----------------------------------------------------------------------------------------


def write(document: Document) -> str:
    """The whole document."""
    document = settled(document)
    with speaking(document.look.language):
        return filled(
            "document.md.j2",
            language=catalogue(document.look.language).code,
            sheet=json.dumps(document.sheet, ensure_ascii=False) if document.sheet else "",
            recipe=json.dumps(document.footer, ensure_ascii=False) if document.footer else "",
            title=escaped(document.title),
            subtitle=escaped(document.subtitle),
            fields=[field(name) for name in document.fields],
            sheet_line=escaped(document.sheet),
            recipe_line=code(document.footer),
            body=body(common.with_sound_levels(document.blocks)),
        )


def fragment(document: Document) -> str:
    """The document without front matter and furniture, for a notebook's output."""
    document = settled(document)
    with speaking(document.look.language):
        heads = filter(None, (escaped(document.title), escaped(document.subtitle)))
        return f"**{' · '.join(heads)}**\n\n{body(common.with_sound_levels(document.blocks))}\n"


def field(name: str) -> str:
    """A line to fill in at the head of a page."""
    return f"{escaped(common.label(name))} {escaped('_' * 16)}"


def body(blocks: Iterable[Block]) -> str:
    """Blocks without a page round them; grids of one name have ids of their own: S, S-2."""
    return bodies([blocks])[0]


def bodies(groups: Iterable[Iterable[Block]]) -> list[str]:
    """The same for several groups of blocks, whose grids have different ids all the same."""
    sources = [_together(blocks) for blocks in groups]
    ids = unique(match[2] for source in sources for match in _GRID_ID.finditer(source))
    return [_GRID_ID.sub(lambda match: match[1] + next(ids), source) for source in sources]


def _together(blocks: Iterable[Block]) -> str:
    return "\n\n".join(filter(None, map(_block, blocks)))


_GRID_ID = re.compile(r"^(<!-- symattn:grid id=)(\S+)", re.MULTILINE)


def unique(names: Iterable[str]) -> Iterator[str]:
    """Names told apart by number where they come again.

    >>> list(unique(["Q", "K", "Q", "Q"]))
    ['Q', 'K', 'Q-2', 'Q-3']
    """
    counted: Counter[str] = Counter()
    for name in names:
        counted[name] += 1
        yield name if counted[name] == 1 else f"{name}-{counted[name]}"


def _block(block: Block) -> str:
    if (own := common.replaced(block)) is not None:
        return own
    match block:
        case Heading(level=level, marks=marks):
            return f"{'#' * min(6, level + 1)} {in_line(block.whole)}{_marks(marks)}"
        case Paragraph(content, marks):
            return f"{in_line(content)}{_marks(marks)}"
        case Display() if line := measure.in_one_line(block):
            return in_line(line)
        case Display(lines, lead):
            words = f"{in_line(lead)}\n\n" if lead else ""
            return words + _lines(measure.folded(lines))
        case Entries():
            rows = measure.entries_in_lines(block, most=measure.ON_A_SCREEN)
            return _display(_aligned_lines([" & ".join(map(_aligned, line)) for line in rows]))
        case AnswerGrid():
            return _grid(block)
        case WorkingSpace():
            return f"*{common.label(say('Working'))}*\n\n&nbsp;\n\n&nbsp;"
        case AnswerSpace() | Flow() | Solved():
            return _together(common.one_after_another(block))
        case FillIns(items):
            return "\n\n".join(map(_fill_in, items))
        case Choices():
            return _choices(block)
        case HeatMap(description=description):
            return _figure(heat_map(block), description)
        case HeatMaps():
            return _figure(heat_maps(block), block.description)
        case ItemList(items, ordered):
            signs = (f"{i}. " if ordered else "- " for i in range(1, len(items) + 1))
            return "\n".join(sign + in_line(item) for sign, item in zip(signs, items, strict=True))
        case Table():
            return _table(block)
        case Box(title, blocks):
            return f"---\n\n**{escaped(title)}**\n\n{_together(blocks)}\n\n---"
        case Together(blocks):
            return _together(blocks)
        case Falk():
            return _scheme(block)
        case FlowSheet():  # `Flow` has the same in the usual form
            return ""
        case Columns():
            return _columns(block)
        case Diagram(description=description):
            from symattn.page.writers.figures import in_characters  # only here, for most pages have none

            return _figure(in_characters(block), description)
        case Program():  # for notebooks
            return ""
        case PageBreak():
            return "---"
        case _:
            assert_never(block)


def _lines(lines: Sequence[Formula]) -> str:
    if len(lines) == 1:
        return _display(tex.indented(tex.write(lines[0], _TEX)))
    return _display(_aligned_lines(list(map(_aligned, lines))))


def _aligned(line: Formula) -> str:
    return tex.aligned(line, _TEX)


def _aligned_lines(lines: Sequence[str]) -> str:
    body = " \\\\\n".join(line.strip("\n") for line in lines)
    return tex.indented(f"\\begin{{aligned}}\n{body}\n\\end{{aligned}}")


def _scheme(block: Falk) -> str:
    """The two factors and their product in a formula, set as in Falk's scheme; boxes to write in come below."""
    if isinstance(block.inside, AnswerGrid):
        return _together(common.one_after_another(block))
    return _lines((common.as_matrix(block),))


def _columns(block: Columns) -> str:
    """A table, if every cell is a line of text; else one after another."""
    rows = [[_cell(cell) for cell in row] for row in block.rows]
    if not all(cell is not None for row in rows for cell in row):
        return _together(common.one_after_another(block))
    return pipes([in_line(head) for head in block.heads], [[cell or "" for cell in row] for row in rows], "---")


def _cell(blocks: Sequence[Block]) -> str | None:
    """Blocks on one line, if that is a short one."""
    match blocks:
        case (Paragraph(content, ""),) | (Display((), content),):
            pass
        case (Display((formula,), lead),) if not contains(formula, MatrixOf):
            content = (*lead, Words(" " if lead else ""), Math(formula))
        case _:
            return "" if not blocks else None
    return in_line(content) if measure.inlines_width(content) <= measure.LINE / 2 else None


def _figure(drawing: str, description: str) -> str:
    fence = "`" * 3
    return f"{fence}text\n{drawing}\n{fence}\n\n{escaped(description)}".strip()


def _marks(marks: str) -> str:
    return f" {_inline(Strong(marks), formulas=False)}" if marks.strip() else ""


def _grid(grid: AnswerGrid) -> str:
    """The boxes to write in as a table, which a program finds again by its comment or by its first cell."""
    name = on_one_line(grid.name)
    empty = "☐" if grid.shade else " "
    heads = [in_cell(label) for label in grid.column_labels] or [str(j + 1) for j in range(grid.columns)]
    labels = [in_cell(label) for label in grid.row_labels] or [f"**{i + 1}**" for i in range(grid.rows)]
    rows = [
        [label, *(empty if isinstance(cell, Blank) else in_cell(cell) for cell in row)]
        for label, row in zip(labels, grid.cells, strict=True)
    ]
    shade = " shade" if grid.shade else ""
    comment = f"<!-- symattn:grid id={grid_id(grid)} rows={grid.rows} cols={grid.columns}{shade} -->"
    corner = name if name == escaped(name) else in_cell(grid.name)
    return f"{comment}\n\n{pipes([corner, *heads], rows, ':---:')}"


def grid_id(grid: AnswerGrid) -> str:
    """The grid's name as far as it can stand in a comment: W^Q, S′, S.2."""
    return re.sub(r"[^\w.^′]", "", on_one_line(grid.name))


def in_cell(formula: Formula) -> str:
    """A formula in a cell of a table."""
    return _inline(Math(formula), formulas=True)


def _fill_in(item: FillIn) -> str:
    """A label and a place to write, as a line of signs or with what stands there already."""
    label, after = in_line(item.label), in_line(item.after)
    return " ".join(filter(None, (label, escaped(place(item)), after)))


def _choices(choices: Choices) -> str:
    """A list of tasks: boxes to tick on GitHub, and a readable list everywhere else."""
    pick = "several" if choices.several else "one"
    items = (
        f"- [{'x' if i in choices.ticked else ' '}] **{common.letter(i)}.** {in_line(item)}"
        for i, item in enumerate(choices.items)
    )
    return "\n".join([f"<!-- symattn:choices pick={pick} -->\n", *items])


def _table(table: Table) -> str:
    rows = [[in_line(cell) for cell in row] for row in table.rows]
    if table.row_heads:
        rows = [[f"**{head}**" if head and "**" not in head else head, *others] for head, *others in rows]
    return pipes([in_line(cell) for cell in table.header], rows, "---")


def pipes(heads: Sequence[str], rows: Sequence[Sequence[str]], rule: str) -> str:
    """A table of cells that are Markdown already."""
    lines = [heads, [rule] * len(heads), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
