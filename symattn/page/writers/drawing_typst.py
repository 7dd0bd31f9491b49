"""Figures as calls of Typst: the functions that draw stand in the template."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from symattn.formula.nodes import Formula
from symattn.foundation.languages import say
from symattn.page.document import Inlines
from symattn.page.writers.common import Page
from symattn.page.writers.figures import Box, Drawing, Frame, Line, Remark, Shape


def typst(
    drawing: Drawing,
    page: Page,
    formula: Callable[[Formula], str],
    words: Callable[[Inlines], str],
    literal: Callable[[str], str],
) -> str:
    """A call of `drawing`; `formula` and `words` write what stands in it, `literal` a string."""
    parts = "".join(f"  {part},\n" for shape in drawing.shapes for part in _drawn(shape, formula, words))
    size = f"{drawing.width:.1f}, {drawing.height:.1f}, {drawing.smaller(page) * 100:.1f}%"
    return f"#drawing({literal(drawing.description.strip() or say('Figure'))}, {size},\n{parts})"


def _drawn(shape: Shape, formula: Callable[[Formula], str], words: Callable[[Inlines], str]) -> Iterator[str]:
    match shape:
        case Box(content, x, y, wide, high, shaded):
            yield f"node({_numbers(x, y, wide, high)}, {str(shaded).lower()}, [{formula(content)}])"
        case Line(points, arrow):
            yield f"path({_point(*points[0])}, {', '.join(map(_piece, shape.pieces()))})"
            if arrow:
                (x, y), (right, down) = shape.head
                yield f"tip({_numbers(x, y, right, down)})"
        case Remark(content, x, y, _):
            yield f"remark({_numbers(x, y)}, [{words(content)}])"
        case Frame(label, x, y, wide, high):
            yield f"frame({_numbers(x, y, wide, high)}, [{words(label)}])"


def _numbers(*numbers: float) -> str:
    return ", ".join(f"{number:.1f}" for number in numbers)


def _point(x: float, y: float) -> str:
    return f"at({_numbers(x, y)})"


def _piece(piece: tuple[tuple[float, float], ...]) -> str:
    name = "line" if len(piece) == 1 else "cubic"
    return f"curve.{name}({', '.join(_point(*point) for point in piece)})"
