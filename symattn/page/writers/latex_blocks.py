r"""The blocks of a document as LaTeX, in the commands of `symattn.sty`, for the classes article and exam.

The class exam has `\question`, `\part[marks]`, `\begin{solution}` and `\printanswers` of its own.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, assert_never

from symattn.formula.nodes import NOTHING, Blank, Formula, is_tall
from symattn.formula.width import width
from symattn.foundation.identity import digest
from symattn.foundation.languages import say
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
    Solutions,
    Solved,
    Span,
    Strong,
    Table,
    Together,
    Total,
    Words,
    WorkingSpace,
    all_blocks,
    spans,
)
from symattn.page.writers import common, figures, flow, measure, paper, tables, tex
from symattn.page.writers.latex_text import code, escaped
from symattn.page.writers.paper import Page

_BLANK = {kind: f"{millimetres / 10:g}cm" for kind, millimetres in paper.BLANK.items()}

_TIMES = re.compile(r"(?<!\\)\$\$\\times\$\$")  # between two formulas: they are one
_ABOVE_HEADING = ("", "[\\abovesection]", "[\\abovesubsection]")  # space of a group that begins with a heading
_TICKED = "[\\ticked]"
_ROWS = 24  # a longer table is cut into several, each with the head, so that it can go on on the next page
_EM = 3.85  # millimetres at 11 pt
_BRACKETS = 6  # em: what brackets and gaps of Falk's scheme take
_STEP, _WORKING = 0.32, 0.65  # of a line: the two columns of the environment steps


# Where only what every TeX knows can be used: in a notebook, in someone else's file.
ALONE = tex.Dialect(
    escaped=escaped,
    transpose="\\top",
    functions=(),
    blank={kind: f"\\underline{{\\hspace{{{length}}}}}" for kind, length in _BLANK.items()},
    excluded="\\boxed",
    high_row="\\\\[10pt]",
    most_columns=10,  # MaxMatrixCols of amsmath
)

# In a document with the commands of symattn.sty, and names that the document says once.
_TEX = tex.Dialect(
    escaped=escaped,
    transpose="\\T",
    functions=("softmax",),
    blank={kind: f"\\blank[{length}]" for kind, length in _BLANK.items()},
    excluded="\\excluded",
    high_row="\\highrow",
    columns=True,
    commands=True,
)


@dataclass(frozen=True)
class Blocks:
    r"""Writes blocks as the class article has them.

    `notation` gathers the commands that were used for names, `line` is the room for a line in em, and
    `solutions` says what is to be shown of every `Solved`.  What is a student's is written as \studentname,
    \studentid and \studentseat on a page `for_many`.
    """

    page: Page
    solutions: Solutions
    line: float
    notation: dict[str, str] = field(default_factory=dict)
    for_many: bool = False
    questions: dict[Heading, Question] = field(default_factory=dict)
    dialect: ClassVar[tex.Dialect] = _TEX
    thin_line: ClassVar[str] = "\\thinline"  # between rows of matrices
    wrapped_column: ClassVar[str] = "C"  # of a table, with its width

    def body(self, blocks: Sequence[Block]) -> str:
        r"""Everything between \begin{document} and \end{document}."""
        self.questions.update(questions_of(blocks))
        return self.blocks(blocks)

    # --- text ---

    def text(self, content: Inlines, style: tex.Style = "normal", room: float | None = None) -> str:
        """Text with formulas, no formula and no word wider than a line, or than `room` em."""
        source = "".join(self._inline(inline, room or self.line, style) for inline in spans(content, totals=True))
        return _TIMES.sub(r" \\times ", source)

    def _inline(self, inline: Span, room: float, style: tex.Style) -> str:
        match inline:
            case Words(Total() as marks):
                return self.total(marks)
            case Words(words):
                return escaped(words, room)
            case Strong(words):
                return f"\\textbf{{{escaped(words, room)}}}"
            case Code(words):
                return f"\\texttt{{{code(words)}}}"
            case Math(formula):
                source = self.formula(formula, "tall" if measure.has_dense_fraction(formula) else style)
                return self.fitted(source) if width(formula) > room else source
            case _:
                assert_never(inline)

    def formula(self, formula: Formula, style: tex.Style = "normal") -> str:
        """A formula in a line of text; nothing for an empty one."""
        source = self._bare(formula, style)
        return f"${source}$" if source else ""

    def _bare(self, formula: Formula, style: tex.Style = "normal") -> str:
        return _on_one_line(tex.write(formula, self.dialect, style, self.notation))

    def fitted(self, source: str) -> str:
        """What may be wider than the line."""
        return f"\\fit{{{source}}}"

    def total(self, marks: Total) -> str:
        """A sum of marks as TeX adds it up, where it does."""
        if any(question.number == marks.of for question in self.questions.values()):
            return f"\\pointsofquestion{{{marks.of}}}"
        return "\\numpoints{}" if self.questions and not marks.of else str(marks)

    def at_margin(self, marks: str) -> str:
        return f"\\atmargin{{{escaped(marks)}}}" if marks else ""

    # --- blocks ---

    def blocks(self, blocks: Sequence[Block], together: bool = False) -> str:
        blocks = common.without_programs(blocks)
        kept = common.stays_with_next(blocks, together)
        sources = map(self.block, blocks)
        return "\n\n".join(f"{s}\\nopagebreak" if stays else s for s, stays in zip(sources, kept, strict=True))

    def block(self, block: Block) -> str:
        page = self.page
        if (own := common.replaced(block)) is not None:
            return own
        match block:
            case Heading():
                return self.heading(block)
            case Paragraph(content, marks):
                return filled_lines(self.text(content) + self.at_margin(marks))
            case Display(lines, lead):
                folded = measure.folded(lines, lead, self.line)
                return self.formulas(map(self.aligned, folded), lead)
            case Entries():
                rows = measure.entries_in_lines(block, self.line)
                return self.formulas(" & ".join(map(self.aligned, line)) for line in rows)
            case AnswerGrid():
                return self._grid(block)
            case WorkingSpace(ruled=True):
                lines_to_write_on = paper.ruled_lines(block, page)
                return f"\\ruledspace{{{lines_to_write_on}}}{{{page.millimetres(paper.RULING)}}}"
            case WorkingSpace():
                return f"\\workingspace{{{escaped(say('Working'))}}}{{{paper.space_height(block, page)}}}"
            case AnswerSpace(boxes):
                inside = self.block(boxes)
                below = paper.below_boxes(block, page)
                return environment("answerspace", inside, f"{{{escaped(paper.working_label(block, page))}}}{{{below}}}")
            case FillIns(items):
                return environment("fillins", "\n".join(map(self._fill_in, items)))
            case Choices():
                return self.choices(block) if block.items else ""
            case HeatMap():
                return _figure(self._cells(block), block.description)
            case HeatMaps():
                return self._heat_maps(block)
            case ItemList(items, ordered):
                listed = "\n".join(filled_lines(f"  \\item {self.text(item)}", "    ") for item in items)
                return environment("enumerate" if ordered else "itemize", listed) if items else ""
            case Table():
                return self._table(block)
            case Box(title, blocks):
                return environment("notebox", self.blocks(blocks), f"{{{escaped(title)}}}")
            case Together():
                return self.together(block)
            case Falk():
                return self._falk(block)
            case Flow():
                return self.blocks(flow.shown(block, page))
            case FlowSheet():
                return self._flow_sheet(block)
            case Columns():
                return self._columns(block)
            case Solved():
                return self.solved(block)
            case Diagram():
                return self._diagram(block)
            case Program():
                return ""
            case PageBreak(leaf):
                return "\\frontpage" if leaf else "\\clearpage"
            case _:
                assert_never(block)

    def aligned(self, line: Formula) -> str:
        return tex.aligned(line, self.dialect, self.notation)

    def formulas(self, lines: Iterable[str], lead: Inlines = ()) -> str:
        """Rows of formulas aligned at &, behind some words."""
        opening = f"[{{{self.text(lead)}}}]" if lead else ""
        return tex.indented(environment("formulas", in_rows(lines), opening))

    def heading(self, heading: Heading) -> str:
        narrow = self.line < self.page.line
        command = "stephead" if narrow else "section*" if heading.level <= 1 else "subsection*"
        title = self.text(heading.whole)
        if question := self.questions.get(heading):
            marks = "" if question.adds_up else points(heading.marks)
            return f"\\questionhead{{{question.number}}}{{{title}}}{f'[{marks}]' if marks else ''}"
        return f"\\{command}{{{title}{self.marks(heading)}}}"

    def marks(self, heading: Heading) -> str:
        """The marks of a part, to be added to those of its question."""
        added = heading.of and not any(heading in question.alone for question in self.questions.values())
        return points(heading.marks) if added else self.at_margin(heading.marks)

    def together(self, group: Together) -> str:
        above = _ABOVE_HEADING[min(2, common.level_of_first_heading(group))]
        return environment("together", self.blocks(group.blocks, together=True), above)

    def solved(self, solved: Solved) -> str:
        r"""All versions, of which \solutions chooses; only what is asked if the document has no solutions."""
        if self.solutions == "blank":
            return self.blocks(solved.ask)
        asked = {"asked": solved.ask} if solved.ask == solved.partly else {"ask": solved.ask, "partly": solved.partly}
        versions = {**asked, "worked": solved.worked, "key": solved.key}
        return "\n".join(environment(name, self.blocks(blocks)) for name, blocks in versions.items() if blocks)

    def _grid(self, grid: AnswerGrid) -> str:
        wide, high = paper.box_size(grid, self.page)
        name = self._bare(grid.name)
        size = f"{{{grid.rows}}}{{{grid.columns}}}{{{wide}}}{{{high}}}"
        if common.is_plain(grid):
            return f"\\answergrid{{{name}}}{size}"
        cells = [f"  \\cell{{{i + 1}}}{{{j + 1}}}{{{self.formula(x, 'tall')}}}%" for (i, j), x in grid.filled]
        cells += [f"  \\rowlabel{{{i}}}{{{self.formula(x, 'tall')}}}%" for i, x in enumerate(grid.row_labels, 1)]
        cells += [f"  \\columnlabel{{{j}}}{{{self.formula(x, 'tall')}}}%" for j, x in enumerate(grid.column_labels, 1)]
        equals = f"{name} =" if grid.name != NOTHING and not grid.row_labels else name
        left = max((width(label) + 0.8 for label in grid.row_labels), default=0.0)
        above = 1.8 if grid.column_labels else 0
        star = "" if grid.in_brackets else "*"
        return "\n".join([f"\\cellgrid{star}{{{equals}}}{size}{{{left:.1f}em}}{{{above}em}}{{%", *cells, "}"])

    def _fill_in(self, item: FillIn) -> str:
        if self.for_many and item.student:
            place = f"\\writingline{{{paper.line_width(item, self.page)}}}{{\\student{item.student}}}"
        elif common.has_character_boxes(item):
            boxes = "".join(f"\\charbox{{{escaped(c)}}}" for c in common.in_boxes(item))
            place = f"\\charboxes{{{boxes}}}"
        else:
            place = f"\\writingline{{{paper.line_width(item, self.page)}}}{{{escaped(item.value)}}}"
        parts = filter(None, (self.text(item.label), place, self.text(item.after)))
        if paper.is_short(item, self.page):
            return f"\\fillinshort{{{'~'.join(parts)}}}"
        return f"\\par {' '.join(parts)}\\par"

    def choices(self, choices: Choices) -> str:
        columns = paper.choice_columns(choices, self.page)
        items = (
            f"  \\choice{_TICKED if i in choices.ticked else ''}{{{common.letter(i)}}}{{{self.option(item, columns)}}}"
            for i, item in enumerate(choices.items)
        )
        return environment("choices", "\n".join(items), f"{{{columns}}}")

    def option(self, content: Inlines, columns: int = 1) -> str:
        """What stands beside a box to tick, with the options in `columns` columns."""
        match content:
            case [Math(formula)]:
                return self.fitted(self.formula(formula, "tall"))
            case _:
                room = (self.line + paper.CHOICE_GAP) / columns - paper.CHOICE_GAP - paper.CHOICE_LABEL
                return self.text(content, "tall", room)

    # --- tables, and what stands in rows and columns ---

    def _table(self, table: Table) -> str:
        page = self.page
        table = tables.laid_out(table, page)
        shares = tables.column_shares(table, self.line)
        boxes = tables.has_rows_for_writing(table)
        if page.large and not boxes and tables.is_too_wide(table, shares, self.line):
            return "\n\n".join(f"\\tablerow{{{self._one_below_the_other(table.header, row)}}}" for row in table.rows)
        rooms = [share * self.line for share in shares] or [self.line] * len(table.header)
        wrapped = "".join(f"{self.wrapped_column}{{{share:.3f}\\linewidth}}" for share in shares)
        columns = wrapped or ("|" if boxes else "").join("l" * len(rooms))
        between = " \\hline\n" if boxes else f" {self.thin_line}\n" if tables.has_matrices(table) else "\n"
        head = self._row(table.header, rooms, len(rooms))
        parts = tables.table_parts(table, shares, page, page.rows(_ROWS))
        bodies = (between.join(self._row_of(row, table, rooms) for row in part) for part in parts)
        return "\n\n".join(self.tabular(f"{head} \\hline\n{body}", columns) for body in bodies)

    def _row_of(self, row: Sequence[Inlines], table: Table, rooms: Sequence[float]) -> str:
        if not tables.is_for_writing(row, table):
            return self._row(row, rooms, int(table.row_heads))
        place = self.room_to_write(self.page.millimetres(paper.WRITING))
        return self._row(row[:1], rooms[:1], 1, [place] * len(row[1:]))

    def _row(self, row: Sequence[Inlines], rooms: Sequence[float], heads: int, more: Sequence[str] = ()) -> str:
        """The cells of a row, some of which are heads, and what stands behind them."""
        cells = (self._cell(*cell) for cell in zip(row, rooms, strict=True))
        shown = (f"\\textbf{{{cell}}}" if k < heads else cell for k, cell in enumerate(cells))
        return f"  {' & '.join((*shown, *more))} \\tabularnewline"

    def tabular(self, body: str, columns: str) -> str:
        return environment("sheettable", body, f"{{{columns}}}")

    def room_to_write(self, millimetres: int) -> str:
        """In a cell of a table."""
        return f"\\roomtowrite{{{millimetres}mm}}"

    def padded(self, source: str) -> str:
        """A matrix in a table, clear of the rules."""
        return f"\\padded{{{source}}}"

    def _one_below_the_other(self, heads: Sequence[Inlines], row: Sequence[Inlines]) -> str:
        """The cells of a row of a table that is too wide in large print, each with its head."""
        cells = ((self.text(head), self.text(cell)) for head, cell in zip(heads, row, strict=True))
        colon = escaped(common.label(""))
        return "\\par\n".join(f"\\textbf{{{head}{colon}}} {cell}" if head else cell for head, cell in cells)

    def _cell(self, content: Inlines, room: float) -> str:
        source = self.text(content, room=room)
        return self.padded(source) if any(map(is_tall, measure.formulas_in(content))) else source

    def _falk(self, falk: Falk) -> str:
        """Falk's scheme, if there is room for it: boxes are not made smaller, and numbers only a little."""
        left, above, inside, product = falk.left.rows, falk.above.rows, falk.inside, falk.product
        wide = high = 0.0
        name, room, command = "", 1.3 * self.line, "product"
        if isinstance(inside, AnswerGrid):
            product = tuple(tuple(NOTHING if isinstance(x, Blank) else x for x in row) for row in falk.product)
            wide, high = (size / (_EM * self.page.scale) for size in paper.box_size(inside, self.page))
            name = "" if inside.name == NOTHING else f"= {self._bare(inside.name)}"
            room, command = self.line, "productboxes"
        beside, wide = _column_width(left), max(wide, _column_width([*above, *product]))
        if beside * len(left[0]) + wide * len(above[0]) + sum(map(width, falk.names)) + _BRACKETS > room:
            return self.blocks(common.one_after_another(falk))
        high = max(high, _row_height([*left, *product]))
        left_name, above_name = (f"{self._bare(name)} =" for name in falk.names) if falk.names else ("", "")
        parts = (
            ("factorabove", above_name, wide, _row_height(above), above),
            ("factorleft", left_name, beside, high, left),
            (command, name, wide, high, product),
        )
        return environment("falk", "\n".join(self._falk_part(*part) for part in parts))

    def _falk_part(self, command: str, name: str, wide: float, high: float, rows: Sequence[Sequence[Formula]]) -> str:
        end = " \\\\ \\hline\n" if command == "productboxes" else " \\\\\n"
        lines = end.join("    " + " & ".join(self._bare(x, "tall") for x in row) for row in rows)
        return f"  \\{command}{{{name}}}{{{len(rows[0])}}}{{{wide:.2f}em}}{{{high:.2f}em}}{{\n{lines}}}"

    def _columns(self, columns: Columns) -> str:
        step, working = (replace(self, line=share * self.line) for share in (_STEP, _WORKING))
        rows = (
            environment("step", step.blocks(left)) + "\n" + environment("working", working.blocks(right))
            for left, right in columns.rows
        )
        heads = "".join(f"{{{self.text(head)}}}" for head in columns.heads)
        return environment("steps", "\n".join(rows), heads)

    # --- pictures: nothing but what TikZ itself has, with y downwards in millimetres ---

    def _diagram(self, diagram: Diagram) -> str:
        picture = self._drawing(figures.drawn(diagram))
        once = f"\\figureonce{{{digest(picture)[:8]}}}{{%\n{picture}}}"
        return _figure(once, diagram.description)

    def _drawing(self, drawing: figures.Drawing) -> str:
        return self._tikz(drawing, _STYLES, self._drawn)

    def _tikz(
        self, picture: figures.Drawing | flow.Picture, styles: Sequence[str], drawn: Callable[[Any], Iterator[str]]
    ) -> str:
        """A picture as large as a page has room for."""
        smaller = picture.smaller(self.page)
        unit = f"{self.page.scale * smaller:.3f}mm"
        options = [f"x={unit}", f"y=-{unit}", *styles]
        if smaller < 1:
            options.append(f"every node/.append style={{scale={smaller:.3f}}}")
        lines = (f"  {line}" for shape in picture.shapes for line in drawn(shape))
        return environment("tikzpicture", "\n".join(lines), f"[{', '.join(options)}]")

    def _drawn(self, shape: figures.Shape) -> Iterator[str]:
        scale = self.page.scale
        match shape:
            case figures.Box(content, x, y, wide, high, shaded):
                size = f"minimum width={wide * scale:.1f}mm, minimum height={high * scale:.1f}mm"
                kind = "given" if shaded else "box"
                yield f"\\node[{kind}, {size}] at {_at(x, y)} {{{self.formula(content)}}};"
            case figures.Line(points, arrow):
                yield f"\\draw{'[->]' if arrow else ''} {_at(*points[0])}{''.join(map(_piece, shape.pieces()))};"
            case figures.Remark(content, x, y, _):
                yield f"\\node[anchor=west, inner sep=0pt] at {_at(x, y)} {{{self.text(content)}}};"
            case figures.Frame(label, x, y, wide, high):
                yield f"\\draw[frame] {_at(x, y)} rectangle {_at(x + wide, y + high)};"
                if label:
                    yield f"\\node[anchor=north west, inner sep=4pt] at {_at(x, y)} {{{self.text(label)}}};"

    def _flow_sheet(self, sheet: FlowSheet) -> str:
        """In the commands of symattn.sty."""
        pictures = (self._tikz(picture, (), self._drawn_flow) for picture in flow.fitted(sheet, self.page))
        legend = [filled_lines(self.text(sheet.legend))] if sheet.legend else []
        return "\n\n".join([*legend, *(environment("flowsheet", picture) for picture in pictures)])

    def _drawn_flow(self, shape: flow.Shape) -> Iterator[str]:
        match shape:
            case flow.Boxes(grid, x, y):
                rows, columns = flow.shape_of(grid)
                wide, high = grid.cell
                command = "flowboxes" if isinstance(grid.inside, AnswerGrid) else "flowgiven"
                yield f"\\{command}{_braced(x, y)}{{{rows}}}{{{columns}}}{_braced(wide, high)}"
                for i, row in enumerate(grid.cells):
                    for j, cell in enumerate(row):
                        if not isinstance(cell, Blank):
                            at = _braced(x + (j + 0.5) * wide, y + (i + 0.5) * high, wide - 0.6)
                            yield f"\\flowentry{at}{{{self.formula(cell, 'tall')}}}"
            case flow.Title(_, lines, x, y, ends):
                content = r" \\ ".join(self.text(line, "tall") for line in lines)
                yield f"\\flowtitle{_braced(x, y)}{{{'r' if ends else 'l'}}}{{{content}}}"
            case flow.Token(token, x, y, wide, high):
                yield f"\\flowtoken{{{token % flow.PATTERNS}}}{_braced(x, y, wide, high)}"
            case flow.Outline(x, y, wide, high):
                yield f"\\flowoutline{_braced(x, y, wide, high)}"
            case flow.Note(content, x, y):
                source = self.text(content, "tall")
                if any(map(measure.goes_on_with_a_sum, measure.formulas_in(content))):  # its sign stands between two
                    source = source.replace("$", "${}", 1)
                yield f"\\flownote{_braced(x, y)}{{{source}}}"
            case figures.Line(points):
                yield f"\\draw[flow arrow] {' -- '.join(_at(*point) for point in points)};"

    def _heat_maps(self, maps: HeatMaps) -> str:
        """Next to one another as far as a line goes, captions below."""
        pictures = (
            environment("heatmap", self._cells(picture, paper.SMALL if maps.small else 1), f"{{{self.text(caption)}}}")
            for caption, picture in maps.items
        )
        return environment("heatmaps", "\n".join(pictures))

    def _cells(self, picture: HeatMap, size: float = 1) -> str:
        """Cells with their upper left corners at (column, −row)."""
        page = self.page
        wide, high = (side * page.scale * size for side in (paper.cell_width(picture), paper.SQUARE))
        lines = [
            f"  \\heatcell{{{j}}}{{{-i}}}{{{level}}}{{{_fitted(common.word_in(picture, i, j), wide / page.scale)}}}"
            for i, row in enumerate(picture.levels)
            for j, level in enumerate(row)
        ]
        lines += [
            f"  \\node[left] at (0,{-i - 0.5}) {{{self.formula(label, 'tall')}}};"
            for i, label in enumerate(picture.row_labels)
        ]
        lines += [
            f"  \\node[above] at ({j + 0.5},0) {{{self.formula(label, 'tall')}}};"
            for j, label in enumerate(picture.column_labels)
        ]
        options = f"[x={wide:.1f}mm, y={high:.1f}mm]"
        return environment("tikzpicture", "\n".join(lines), options)


# --- marks ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Question:
    """A question of a paper: whether the marks of its parts are its own, and the parts whose marks stand `alone`."""

    number: int
    adds_up: bool
    alone: frozenset[Heading]


def questions_of(blocks: Sequence[Block]) -> dict[Heading, Question]:
    """The questions of a paper that says their sums, by their headings; none of another document, or of flow sheets."""
    every = list(all_blocks(blocks))
    said = {words.text.of for block in every for words in words_of(block) if isinstance(words.text, Total)}
    if not said or any(isinstance(block, Flow) for block in every):
        return {}
    questions: dict[Heading, list[Heading]] = {}
    for heading in (block for block in every if isinstance(block, Heading) and block.marks):
        if heading.of == "question" and heading.level == 1:
            questions[heading] = []
        elif heading.of == "part" and questions:
            questions[next(reversed(questions))].append(heading)
    listed = {}
    for number, (heading, parts) in enumerate(questions.items(), 1):
        adds_up = bool(parts) and sum(number_of_points(part.marks) for part in parts) == number_of_points(heading.marks)
        listed[heading] = Question(number, adds_up, frozenset(() if adds_up else parts))
    return listed


def words_of(block: Block) -> Iterator[Words]:
    match block:
        case Paragraph(content):
            yield from (part for part in spans(content, totals=True) if isinstance(part, Words))
        case Table(_, rows):
            yield from (part for row in rows for cell in row for part in cell if isinstance(part, Words))
        case _:
            return


def number_of_points(marks: str) -> int:
    """[7] and M4 A3 are seven marks."""
    return sum(map(int, re.findall(r"\d+", marks)))


def points(marks: str) -> str:
    r"""\points{7}, and what is printed in its place if that is another thing: \points[M4 A3]{7}."""
    number = number_of_points(marks)
    shown = "" if marks == f"[{number}]" else f"[{escaped(marks).replace('{[}', '[')}]"
    return f"\\points{shown}{{{number}}}" if number else f"\\atmargin{{{escaped(marks)}}}" if marks else ""


# --- points of pictures ---------------------------------------------------------------------------------

_STYLES = (
    ">=stealth",
    "box/.style={draw, rounded corners=1.5pt, fill=white, inner sep=0pt}",
    "given/.style={box, fill=black!7}",
    "frame/.style={draw=black!55, dashed, rounded corners=3pt}",
)


def _at(x: float, y: float) -> str:
    return f"({x:.1f},{y:.1f})"


def _braced(*lengths: float) -> str:
    return "".join(f"{{{length:.1f}}}" for length in lengths)


def _piece(piece: tuple[figures.Point, ...]) -> str:
    *bends, end = [_at(*point) for point in piece]
    return f" .. controls {' and '.join(bends)} .. {end}" if bends else f" -- {end}"


# --- pieces of source -----------------------------------------------------------------------------------


def environment(name: str, body: str, arguments: str = "") -> str:
    return f"\\begin{{{name}}}{arguments}\n{body}\n\\end{{{name}}}"


def in_rows(lines: Iterable[str]) -> str:
    """The rows of an environment in which & parts the columns."""
    return " \\\\\n".join(line.strip("\n") for line in lines)


def _column_width(rows: Sequence[Sequence[Formula]]) -> float:
    """Of the columns of a matrix, all equally wide, in em."""
    return max((width(entry) for row in rows for entry in row), default=0.0) + 0.9


def _row_height(rows: Sequence[Sequence[Formula]]) -> float:
    """Of the rows of a matrix, in em."""
    return 2.9 if any(is_tall(x) for row in rows for x in row) else 1.6


def comment_lines(words: str) -> str:
    """Words as lines behind %."""
    return textwrap.indent(filled_lines(common.visible(words)), "% ")


def _figure(picture: str, description: str) -> str:
    return f"{comment_lines(description)}\n\\begin{{center}}\\fit{{%\n{picture}}}\\end{{center}}".strip()


def _fitted(word: str, room: float) -> str:
    """A word for a cell `room` millimetres wide, smaller if it is too long."""
    source = escaped(word)
    return f"\\resizebox{{{room - 4:.1f}\\mm}}{{!}}{{{source}}}" if paper.word_width(word) + 3 > room else source


def _on_one_line(source: str) -> str:
    return re.sub(r"\s*\n\s*", " ", source).strip()


def filled_lines(source: str, indent: str = "") -> str:
    """Source in lines that are pleasant to edit."""
    return textwrap.fill(source, 100, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


# --- for LaTeX's class exam ------------------------------------------------------------------------------

_IN_A_ROW = 10  # questions in a table of marks


@dataclass(frozen=True)
class ExamBlocks(Blocks):
    """Headings of questions and parts become the class's own, which it counts itself."""

    def body(self, blocks: Sequence[Block]) -> str:
        self.questions.update(questions_of(blocks))
        return "\n\n".join(filter(None, self._pieces(blocks)))

    def heading(self, heading: Heading) -> str:
        """Of what is no question or part of the class."""
        return super().heading(replace(heading, of=""))

    def _table(self, table: Table) -> str:
        """The table of marks is the class's own, in several rows where it was several tables."""
        totals = [words.text.of for words in words_of(table) if isinstance(words.text, Total)]
        if not self.questions or not totals:
            return super()._table(table)
        rows = -(-len(self.questions) // _IN_A_ROW)
        whole = "\\gradetable[h][questions]" if rows == 1 else f"\\multirowgradetable{{{rows}}}[questions]"
        return whole if 0 in totals else ""

    def _pieces(self, blocks: Sequence[Block]) -> Iterator[str]:
        """The blocks one after the other, with the beginnings and ends of the lists in which questions stand.

        A question stands in one list and its parts in two, what follows a heading of another kind in one at most, and
        what comes after all questions in none.
        """
        open_lists: list[str] = []
        over = False
        for position, block in enumerate(blocks):
            heading, rest = _headed(block)
            kind = _kind(heading)
            over = over or (isinstance(block, Solved) and not block.worked and bool(block.key))
            over = over or bool(heading and not kind and heading.level <= 1 and open_lists)
            if over:
                kind, depth = "", 0
            elif kind:
                depth = 2 if kind == "part" and open_lists else 1
            else:
                depth = 1 if heading else len(open_lists)
            while len(open_lists) > depth:
                yield f"\\end{{{open_lists.pop()}}}"
            if heading is None or not kind:
                yield self.block(block)
                continue
            if len(open_lists) < depth:
                open_lists.append("questions" if depth == 1 else "parts")
                yield f"\\begin{{{open_lists[-1]}}}"
            marks = "" if depth == 1 and _has_parts(blocks[position + 1 :]) else _points(heading)
            yield "\\needroom\n" + self._numbered("question" if depth == 1 else "part", heading, marks)
            yield self.together(Together(rest)) if rest else ""
        yield from (f"\\end{{{name}}}" for name in reversed(open_lists))

    def _numbered(self, command: str, heading: Heading, marks: str) -> str:
        title = self.text(heading.content)
        codes = "" if not heading.marks or heading.marks.startswith("[") else f" \\quad({escaped(heading.marks)})"
        return f"\\{command}{f'[{marks}]' if marks else ''} \\textbf{{{title}}}{codes}\\nopagebreak"

    def together(self, group: Together) -> str:
        """Solutions may be longer than a page and are not held together."""
        if any(isinstance(block, Solved) for block in all_blocks(group.blocks)):
            return self.blocks(group.blocks, together=True)
        return super().together(group)

    def solved(self, solved: Solved) -> str:
        if self.solutions in ("blank", "partly"):
            return self.blocks(solved.shown(self.solutions))
        asked = f"\\ifprintanswers\\else\n{self.blocks(solved.ask)}\n\\fi" if solved.ask else ""
        answered = self.blocks(solved.shown(self.solutions))
        if answered and solved.worked:
            answered = environment("solution", answered)
        elif answered:
            answered = f"\\ifprintanswers\n{answered}\n\\fi"
        return "\n".join(filter(None, (asked, answered)))

    def choices(self, choices: Choices) -> str:
        items = (
            f"  \\{'CorrectChoice' if i in choices.ticked else 'choice'} {self.option(item)}"
            for i, item in enumerate(choices.items)
        )
        return environment("choices", "\n".join(items))


def _headed(block: Block) -> tuple[Heading | None, tuple[Block, ...]]:
    """The heading with which a block begins, and what comes after it."""
    match block:
        case Heading():
            return block, ()
        case Together((Heading() as heading, *rest)):
            return heading, tuple(rest)
        case _:
            return None, ()


def _kind(heading: Heading | None) -> Literal["", "question", "part"]:
    """What the class has an environment for; a question that is a chapter of something else is none here."""
    match heading:
        case Heading(of="part") | Heading(of="question", level=1):
            return heading.of  # type: ignore[return-value]
    return ""


def _has_parts(blocks: Sequence[Block]) -> bool:
    """Whether parts with marks of their own come before the next question: they are what the class adds up."""
    for heading, _ in map(_headed, blocks):
        kind = _kind(heading)
        if heading and (kind == "question" or (kind and heading.marks)):
            return kind == "part"
    return False


def _points(heading: Heading) -> str:
    """[7] and M4 A3 are seven marks; nothing where there are none."""
    return str(number_of_points(heading.marks) or "")
