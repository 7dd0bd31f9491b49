"""Figures as TikZ pictures: nothing but what TikZ itself has, with y downwards in millimetres."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from symattn.formula.nodes import Formula
from symattn.page.document import Inlines
from symattn.page.writers.common import Page
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


def _at(x: float, y: float) -> str:
    return f"({x:.1f},{y:.1f})"


def _piece(piece: tuple[tuple[float, float], ...]) -> str:
    match piece:
        case [end]:
            return f" -- {_at(*end)}"
        case [one, two, end]:
            return f" .. controls {_at(*one)} and {_at(*two)} .. {_at(*end)}"
    raise AssertionError(piece)
