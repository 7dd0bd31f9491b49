r"""LaTeX to \input into a document of one's own: plain amsmath, no preamble, no command or environment of ours.

Fonts, margins and pages are left to the document.  Formulas and boxes fit into the line of article,
scrartcl and beamer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from symattn.formula.nodes import NOTHING, Blank, Formula, MatrixOf, Relation
from symattn.formula.width import width
from symattn.foundation.languages import speaking
from symattn.page.document import (
    DEFAULT_LOOK,
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
    PageBreak,
    Together,
    Total,
    WorkingSpace,
    settled,
)
from symattn.page.writers import common, figures, measure, paper, tex
from symattn.page.writers.latex import comment, formula, noted
from symattn.page.writers.latex_blocks import ALONE, Blocks, comment_lines, environment, filled_lines
from symattn.page.writers.latex_text import escaped
from symattn.page.writers.paper import Page

__all__ = ["BESIDES", "SUFFIX", "formula", "write"]

SUFFIX = ".tex"
BESIDES: frozenset[Besides] = frozenset()

LINE = 0.6
"""Of the line of our own pages: 26 em or 104 mm, which article has at 10 points, and beamer."""

_FIGURE = "A figure stands here on the page; it needs commands of symattn.sty and is left out."
_AFTER_HEADING = "\\par\\nopagebreak"
_EXPANDED = {"\\wbr{}": "\\allowbreak{}", "\\tick{}": "$\\surd$", "\\thenright{}": "$\\hookrightarrow$"}
_OF_OURS = re.compile(r"\\(?:wbr|tick|thenright)\{\}|\\unprintable\{([0-9A-F]{4,6})\}")


def write(document: Document) -> str:
    """The document without its title, which stands in a comment, and without a place for names."""
    document = settled(document)
    with speaking(document.look.language):
        page = Page(replace(DEFAULT_LOOK, paper=document.look.paper, language=document.look.language), share=LINE)
        body = BodyBlocks(page, document.solutions, page.line).body(document.blocks)
    source = "\n".join(f"% {line}" for line in _head(document, body)) + f"\n\n{body}\n"
    return _OF_OURS.sub(_expanded, noted(document, source))


def _head(document: Document, body: str) -> Iterable[str]:
    """The comment at the head of the file."""
    yield " · ".join(map(comment, filter(None, (document.title, document.subtitle))))
    if document.sheet:
        yield f"{comment(document.sheet)}: print this name beside the work that is to be marked by symattn."
    if document.footer:
        yield comment(document.footer)
    wanted = "amsmath and, for its figures, tikz" if "tikzpicture" in body else "amsmath"
    yield f"Made by symattn, to be read with \\input: the document needs {wanted}, and no other package."


def _expanded(match: re.Match[str]) -> str:
    """What a command of symattn.sty stands for."""
    return f"[U+{match[1]}]" if match[1] else _EXPANDED[match[0]]


class BodyBlocks(Blocks):
    """The same blocks in what every document has."""

    dialect = ALONE
    thin_line = "\\hline"
    wrapped_column = "p"

    def body(self, blocks: Sequence[Block]) -> str:
        return self.blocks(blocks)

    # --- text ---

    def fitted(self, source: str) -> str:
        return source

    def total(self, marks: Total) -> str:
        return str(marks)

    def at_margin(self, marks: str) -> str:
        return f"\\hfill {escaped(marks).replace('{[}', '[')}" if marks else ""

    def heading(self, heading: Heading) -> str:
        """A line in bold: sections are the document's, and a slide has none."""
        above = "\\bigskip" if heading.level <= 1 else "\\medskip"
        return f"{above}\\noindent\\textbf{{{self.text(heading.whole)}}}{self.at_margin(heading.marks)}{_AFTER_HEADING}"

    # --- blocks ---

    def blocks(self, blocks: Sequence[Block], together: bool = False) -> str:
        r"""One after the other; a formula belongs to the paragraph above it, so that no blank line parts them."""
        written = ""
        for source in filter(None, map(self.block, common.without_programs(blocks))):
            if source.startswith(("\\begin{align*}", "\\[")):
                written = written.removesuffix(_AFTER_HEADING) + "\n" * bool(written) + source
                continue
            begins = "" if source.startswith("\\") or not written.endswith(_AFTER_HEADING) else "\\noindent "
            written += "\n\n" * bool(written) + begins + source
        return written

    def block(self, block: Block) -> str:
        match block:
            case Display() if line := measure.in_one_line(block):
                return filled_lines(self.text(line))
            case Display(lines, lead):
                return self.formulas(self._rows(lines), lead)
            case Entries(equations, columns) if measure.columns_that_fit(equations, columns, self.line) == 1:
                return self.formulas(self._rows(equations))
            case WorkingSpace(ruled=True):
                rule = "\\noindent\\rule{\\linewidth}{0.4pt}\\par"
                space = f"\\vspace{{{paper.RULING}mm}}"
                return "\n".join(f"{space}{rule}" for _ in range(paper.ruled_lines(block, self.page)))
            case WorkingSpace():
                return f"\\vspace{{{paper.space_height(block, self.page)}mm}}\\par"
            case AnswerSpace(boxes):
                below = paper.below_boxes(block, self.page)
                return self.block(boxes) + (f"\n\\vspace{{{below}mm}}\\par" if below else "")
            case FillIns(items):
                return "\\par\\noindent\n" + "\n".join(map(self._fill_in, items)) + "\\par"
            case HeatMap() | HeatMaps():
                return _left_out(block.description)
            case FlowSheet():
                return _left_out("")
            case Box(title, blocks):
                heading = f"\\medskip\\noindent\\textbf{{{escaped(title)}}}{_AFTER_HEADING}"
                return f"{heading}\n\n{self.blocks(blocks)}\n\n\\medskip"
            case Together(blocks):
                return self.blocks(blocks)
            case Falk(inside=MatrixOf()):
                return self.formulas([tex.write(common.as_matrix(block), self.dialect)])
            case Falk() | Flow() | Columns():
                return self.blocks(common.one_after_another(block))
            case PageBreak():
                return "\\bigskip"
            case _:
                return super().block(block)

    def formulas(self, lines: Iterable[str], lead: Inlines = ()) -> str:
        words = f"{self.text(lead)}\n" if lead else ""
        return words + tex.indented(environment("align*", _apart(lines)))

    def _rows(self, lines: Sequence[Formula]) -> Iterator[str]:
        """Lines aligned at their first relation sign, or begun below what stands before it where it leaves no room."""
        folded = measure.folded(lines, limit=self.line)
        sides = [_sides(line) for line in folded]
        if max(left for left, _ in sides) + max(right for _, right in sides) <= self.line:
            yield from (tex.aligned(line, self.dialect) for line in folded)
            return
        for line in folded:
            match line:
                case Relation((first, *others), signs) if signs:
                    beside = width(Relation((first, others[0]), signs[:1])) <= self.line
                    start = Relation((first, others[0]), signs[:1]) if beside else first
                    indent = "\\quad " if first == NOTHING else ""
                    if start != NOTHING:
                        yield f"& {indent}{tex.write(start, self.dialect)}"
                    for sign, part in zip(signs[beside:], others[beside:], strict=True):
                        yield f"& \\quad {tex.write(Relation((NOTHING, part), (sign,)), self.dialect)}"
                case _:
                    yield tex.aligned(line, self.dialect)

    def _grid(self, grid: AnswerGrid) -> str:
        """Boxes as an array with rules."""
        wide, high = paper.box_size(grid, self.page)
        empty = f"\\hspace{{{wide}mm}}"
        strut = f"\\rule[-{high / 2 - 1:.1f}mm]{{0pt}}{{{high}mm}}"
        labels = [f"{self.formula(label)} & ".replace("$", "") for label in grid.row_labels] or [""] * grid.rows
        columns = f"|*{{{grid.columns}}}{{c|}}"
        rule = f"\\cline{{2-{grid.columns + 1}}}" if grid.row_labels else "\\hline"
        rows = []
        for label, row in zip(labels, grid.cells, strict=True):
            cells = (empty if isinstance(cell, Blank) else self._bare(cell, "tall") for cell in row)
            rows.append(f"{label}{strut}{' & '.join(cells)} \\\\ {rule}")
        heads = " & ".join(self._bare(label) for label in grid.column_labels)
        head = [f"{'& ' if grid.row_labels else ''}{heads} \\\\"] if heads else []
        body = "\n".join((*head, rule, *rows))
        array = environment("array", body, f"{{{'c' if grid.row_labels else ''}{columns}}}")
        name = "" if grid.name == NOTHING else self._bare(grid.name) + ("" if grid.row_labels else " =")
        return tex.indented(
            "\n".join(("\\[", name, f"\\left[\n{array}\n\\right]" if grid.in_brackets else array, "\\]"))
        )

    def _fill_in(self, item: FillIn) -> str:
        if common.has_character_boxes(item):
            boxes = (f"\\framebox[{paper.CHARACTER_BOX}mm]{{\\strut {escaped(c)}}}" for c in common.in_boxes(item))
            place = "".join(boxes)
        else:
            wide = min(paper.line_width(item, self.page), self.page.width - 10)
            place = f"\\underline{{\\makebox[{wide}mm][l]{{\\strut {escaped(item.value)}}}}}"
        parts = "~".join(filter(None, (self.text(item.label), place, self.text(item.after))))
        return f"{parts}\\quad" if paper.is_short(item, self.page) else f"{parts}\\par"

    def choices(self, choices: Choices) -> str:
        items = []
        for i, item in enumerate(choices.items):
            sign = "\\times" if i in choices.ticked else "\\phantom{\\times}"
            items.append(f"  \\item[\\fbox{{${sign}$}}~\\textbf{{{common.letter(i)}.}}] {self.option(item)}")
        return environment("itemize", "\n".join(items))

    # --- tables and figures ---

    def tabular(self, body: str, columns: str) -> str:
        table = environment("tabular", f"\\hline\n{body}\n\\hline", f"{{@{{}}{columns}@{{}}}}")
        return environment("center", table)

    def room_to_write(self, millimetres: int) -> str:
        return f"\\rule{{0pt}}{{{millimetres}mm}}\\hspace{{{millimetres}mm}}"

    def padded(self, source: str) -> str:
        return source

    def _diagram(self, diagram: Diagram) -> str:
        """TikZ, where the document has it."""
        drawn = environment("center", self._drawing(figures.drawn(diagram)))
        return f"% A figure, in a document that has loaded tikz.\n\\ifdefined\\tikzpicture\n{drawn}\n\\fi"


def _apart(lines: Iterable[str]) -> str:
    """Rows of formulas, those with matrices clear of one another."""
    listed = [line.strip("\n") for line in lines]
    ends = [" \\\\[4pt]\n" if any("matrix}" in x for x in pair) else " \\\\\n" for pair in pairwise(listed)]
    return "".join(line + end for line, end in zip(listed, [*ends, ""], strict=True))


def _sides(line: Formula) -> tuple[float, float]:
    """The widths of what stands before the first relation sign, and behind it; of a line without one, of all of it."""
    left = width(line.parts[0]) if isinstance(line, Relation) and line.signs else 0.0
    return left, width(line) - left


def _left_out(description: str) -> str:
    return comment_lines(" ".join(filter(None, (_FIGURE, description))))
