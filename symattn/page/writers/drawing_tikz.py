"""Figures as TikZ pictures: nothing but what TikZ itself has, with y downwards in millimetres."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from symattn.formula.nodes import Blank, Formula
from symattn.page.document import AnswerGrid, Inlines, Strong
from symattn.page.writers import flow
from symattn.page.writers.common import Page, goes_on_with_a_sum
from symattn.page.writers.figures import Box, Drawing, Frame, Line, Remark, Shape

_STYLES = (
    ">=stealth",
    "box/.style={draw, rounded corners=1.5pt, fill=white, inner sep=0pt}",
    "given/.style={box, fill=black!7}",
    "frame/.style={draw=black!55, dashed, rounded corners=3pt}",
)


def tikz(drawing: Drawing, page: Page, formula: Callable[[Formula], str], words: Callable[[Inlines], str]) -> str:
    """A `tikzpicture`; `formula` and `words` write what stands in it."""
    unit = f"{page.scale * drawing.smaller(page):.3f}mm"
    smaller = drawing.smaller(page)
    options = ", ".join((f"x={unit}", f"y=-{unit}", *_STYLES))
    if smaller < 1:
        options += f", every node/.append style={{scale={smaller:.3f}}}"
    lines = "\n".join(f"  {line}" for shape in drawing.shapes for line in _drawn(shape, page, formula, words))
    return f"\\begin{{tikzpicture}}[{options}]\n{lines}\n\\end{{tikzpicture}}"


def _drawn(
    shape: Shape, page: Page, formula: Callable[[Formula], str], words: Callable[[Inlines], str]
) -> Iterator[str]:
    match shape:
        case Box(content, x, y, wide, high, shaded):
            size = f"minimum width={wide * page.scale:.1f}mm, minimum height={high * page.scale:.1f}mm"
            yield f"\\node[{'given' if shaded else 'box'}, {size}] at {_at(x, y)} {{{formula(content)}}};"
        case Line(points, arrow):
            yield f"\\draw{'[->]' if arrow else ''} {_at(*points[0])}{''.join(map(_piece, shape.pieces()))};"
        case Remark(content, x, y, _):
            yield f"\\node[anchor=west, inner sep=0pt] at {_at(x, y)} {{{words(content)}}};"
        case Frame(label, x, y, wide, high):
            yield f"\\draw[frame] {_at(x, y)} rectangle {_at(x + wide, y + high)};"
            if label:
                yield f"\\node[anchor=north west, inner sep=4pt] at {_at(x, y)} {{{words(label)}}};"


def flow_tikz(
    picture: flow.Picture, page: Page, formula: Callable[..., str], words: Callable[[Inlines], str]
) -> str:  # fmt: skip
    """A flow sheet in the commands of symattn.sty, as one `tikzpicture`."""
    smaller = picture.smaller(page)
    unit = f"{page.scale * smaller:.3f}mm"
    options = f"x={unit}, y=-{unit}"
    if smaller < 1:
        options += f", every node/.append style={{scale={smaller:.3f}}}"
    lines = "\n".join(f"  {line}" for shape in picture.shapes for line in _drawn_flow(shape, formula, words))
    return f"\\begin{{tikzpicture}}[{options}]\n{lines}\n\\end{{tikzpicture}}"


def _drawn_flow(shape: flow.Shape, formula: Callable[..., str], words: Callable[[Inlines], str]) -> Iterator[str]:
    match shape:
        case flow.Boxes(grid, x, y):
            rows, columns = flow.shape_of(grid)
            wide, high = grid.cell
            command = "flowboxes" if isinstance(grid.inside, AnswerGrid) else "flowgiven"
            yield f"\\{command}{{{x:.1f}}}{{{y:.1f}}}{{{rows}}}{{{columns}}}{{{wide:.1f}}}{{{high:.1f}}}"
            for i, row in enumerate(grid.cells):
                for j, cell in enumerate(row):
                    if not isinstance(cell, Blank):
                        at = f"{{{x + (j + 0.5) * wide:.1f}}}{{{y + (i + 0.5) * high:.1f}}}"
                        yield f"\\flowentry{at}{{{wide - 0.6:.1f}}}{{{formula(cell, 'tall')}}}"
        case flow.Title(_, lines, x, y, ends):
            side = "r" if ends else "l"
            content = r" \\ ".join(map(words, lines))
            yield f"\\flowtitle{{{x:.1f}}}{{{y:.1f}}}{{{side}}}{{{content}}}"
        case flow.Token(token, x, y, wide, high):
            yield f"\\flowtoken{{{token % flow.PATTERNS}}}{{{x:.1f}}}{{{y:.1f}}}{{{wide:.1f}}}{{{high:.1f}}}"
        case flow.Outline(x, y, wide, high):
            yield f"\\flowoutline{{{x:.1f}}}{{{y:.1f}}}{{{wide:.1f}}}{{{high:.1f}}}"
        case flow.Caption(text, x, y):
            yield f"\\flownote{{{x:.1f}}}{{{y:.1f}}}{{{words((Strong(text),))}}}"
        case flow.Note(content, x, y):
            source = formula(content, "tall")
            if goes_on_with_a_sum(content):  # its sign stands between two things
                source = source.replace("$", "${}", 1)
            yield f"\\flownote{{{x:.1f}}}{{{y:.1f}}}{{{source}}}"
        case Line(points):
            yield f"\\draw[flow arrow] {' -- '.join(_at(*point) for point in points)};"


def _at(x: float, y: float) -> str:
    return f"({x:.1f},{y:.1f})"


def _piece(piece: tuple[tuple[float, float], ...]) -> str:
    match piece:
        case [end]:
            return f" -- {_at(*end)}"
        case [one, two, end]:
            return f" .. controls {_at(*one)} and {_at(*two)} .. {_at(*end)}"
    raise AssertionError(piece)
