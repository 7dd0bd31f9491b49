"""What a page of PDF has on it, read from its content stream: where ink is, how large text is, how it is tagged."""

from io import BytesIO

from pypdf import PdfReader
from pypdf.generic import ContentStream

from symattn.page.writers.paper import PAGE_WIDTH

Matrix = tuple[float, float, float, float, float, float]
MILLIMETRE = 72 / 25.4
LEFT = (210 - PAGE_WIDTH) / 2  # the margin of A4, and where the right one begins, in millimetres
RIGHT = 210 - LEFT


def pages(data):
    return list(PdfReader(BytesIO(data)).pages)


def words_of(data):
    return " ".join(map(words_on, pages(data)))


def words_on(page):
    return " ".join(page.extract_text().split())


def _times(one, two):
    a, b, c, d, e, f = one
    g, h, i, j, k, m = two
    return (a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + m)


def ink(page):
    """(x, y, size) of every corner of a path, with size 0, and of the start of every piece of text; millimetres,
    the size of text in points."""
    here = (1, 0, 0, 1, 0, 0)
    text = line = here
    stack = []
    size = 0.0
    font = {}

    def at(matrix, x, y, points=0):
        a, b, c, d, e, f = matrix
        return (a * x + c * y + e) / MILLIMETRE, (b * x + d * y + f) / MILLIMETRE, points * abs(d)

    for operands, operator in ContentStream(page.get_contents(), page.pdf).operations:
        numbers = [float(operand) for operand in operands if isinstance(operand, int | float)]
        match operator:
            case b"q":
                stack.append(here)
            case b"Q":
                here = stack.pop()
            case b"cm":
                here = _times(tuple(numbers), here)
            case b"re":
                x, y, wide, high = numbers
                yield at(here, x, y)
                yield at(here, x + wide, y + high)
            case b"m" | b"l":
                yield at(here, *numbers)
            case b"BT":
                text = line = (1, 0, 0, 1, 0, 0)
            case b"Tm":
                text = line = tuple(numbers)
            case b"Td" | b"TD":
                text = line = _times((1, 0, 0, 1, numbers[0], numbers[1]), line)
            case b"Tf":
                font, size = _widths(page, str(operands[0])), numbers[-1]
            case b"TJ" | b"Tj":
                pieces = operands[0] if operator == b"TJ" else operands
                shift = 0.0
                for piece in pieces:
                    if isinstance(piece, int | float):
                        shift -= float(piece) / 1000 * size
                    elif font or not shift:
                        yield at(_times((1, 0, 0, 1, shift, 0), _times(text, here)), 0, 0, size)
                        shift += sum(font.get(byte, 0.0) for byte in piece.original_bytes) / 1000 * size
                    else:
                        break  # in a font of typst the widths are not known so easily


def _widths(page, name):
    """The widths of a font of TeX, whose characters are single bytes; others are not known."""
    font = page["/Resources"]["/Font"][name].get_object()
    widths = font["/Widths"].get_object() if "/Widths" in font else []
    return {font["/FirstChar"] + i: float(wide) for i, wide in enumerate(widths)}


def tags(data):
    """(kind, alternative text) of every element of the structure, in reading order."""
    yield from _tags(PdfReader(BytesIO(data)).trailer["/Root"]["/StructTreeRoot"])


def _tags(node):
    node = node.get_object() if hasattr(node, "get_object") else node
    if isinstance(node, list):
        for child in node:
            yield from _tags(child)
    elif isinstance(node, dict):
        if "/S" in node:
            yield str(node["/S"]), str(node.get("/Alt", ""))
        yield from _tags(node.get("/K"))
