"""Figures as SVG inside a page of HTML: lines in the colour of the text, so that they are seen in the dark as well.

Formulas and words are the page's own, in foreign objects: they are set in its fonts and grow with its text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from html import escape

from symattn.formula.nodes import Formula
from symattn.foundation.languages import say
from symattn.page.document import Inlines
from symattn.page.writers.common import visible
from symattn.page.writers.figures import Box, Drawing, Frame, Line, Remark, Shape

_EM = 16.0  # units of the picture
_UNIT = _EM / 3.88  # a millimetre, where 11 pt are 3.88 mm


def svg(drawing: Drawing, formula: Callable[[Formula], str], words: Callable[[Inlines], str]) -> str:
    """An `svg` that is read out as its description; `formula` and `words` write what stands in it."""
    shapes = "\n".join(part for shape in drawing.shapes for part in _drawn(shape, formula, words))
    first, _, rest = visible(drawing.description).partition(". ")
    described = f"<desc>{escape(rest)}</desc>" if rest else ""
    wide, high = drawing.width + 1, drawing.height + 1
    return (
        f'<svg role="img" class="figure" viewBox="{_n(-0.5)} {_n(-0.5)} {_n(wide)} {_n(high)}" '
        f'style="width: {wide * _UNIT / _EM:.1f}em" xmlns="http://www.w3.org/2000/svg">\n'
        f"<title>{escape(first or say('Figure'))}</title>{described}\n{shapes}\n</svg>"
    )


def svg_of_lines(wide: float, high: float, lines: Iterable[Line]) -> str:
    """Arrows alone, which say nothing that is not said elsewhere."""
    drawn = "\n".join(part for line in lines for part in _line(line))
    size = f'viewBox="0 0 {_n(wide)} {_n(high)}"'
    return f'<svg aria-hidden="true" class="figure" {size} xmlns="http://www.w3.org/2000/svg">\n{drawn}\n</svg>'


def _n(length: float) -> str:
    return f"{length * _UNIT:.1f}"


def _points(*points: tuple[float, float]) -> str:
    return " ".join(f"{_n(x)},{_n(y)}" for x, y in points)


def _drawn(shape: Shape, formula: Callable[[Formula], str], words: Callable[[Inlines], str]) -> Iterator[str]:
    match shape:
        case Box(content, x, y, wide, high, shaded):
            at = _rectangle(x - wide / 2, y - high / 2, wide, high)
            yield f'<rect class="{"given" if shaded else "box"}" {at} rx="3"/>'
            yield _foreign(at, "inside", formula(content))
        case Line():
            yield from _line(shape)
        case Remark(content, x, y, wide):
            yield _foreign(_rectangle(x, y - 4, wide + 2, 8), "beside", words(content))
        case Frame(label, x, y, wide, high):
            yield f'<rect class="frame" {_rectangle(x, y, wide, high)} rx="6"/>'
            if label:
                yield _foreign(_rectangle(x + 1.5, y, wide - 3, 7), "beside", words(label))


def _line(line: Line) -> Iterator[str]:
    path = "".join(f" {'L' if len(piece) == 1 else 'C'} {_points(*piece)}" for piece in line.pieces())
    yield f'<path class="line" d="M {_points(line.points[0])}{path}"/>'
    if line.arrow:
        (x, y), (right, down) = line.head
        back = [(x - 2.2 * right + 0.8 * s * down, y - 2.2 * down + 0.8 * s * right) for s in (1, -1)]
        yield f'<polygon class="tip" points="{_points((x, y), *back)}"/>'


def _rectangle(x: float, y: float, wide: float, high: float) -> str:
    return f'x="{_n(x)}" y="{_n(y)}" width="{_n(wide)}" height="{_n(high)}"'


def _foreign(at: str, place: str, source: str) -> str:
    inside = f'<div xmlns="http://www.w3.org/1999/xhtml" class="{place}"><span>{source}</span></div>'
    return f"<foreignObject {at}>{inside}</foreignObject>"
