"""Figures: laws that hold of any diagram, followed in its shapes and, independently, in the characters printed."""

import re
from dataclasses import replace
from itertools import combinations, pairwise

import pytest
from check_latex import trouble
from hypothesis import given
from hypothesis import strategies as st
from pdf_marks import words_of
from trials import tries
from writer_samples import FIGURE, indexed, sheet, words

from symattn.errors import columns_of
from symattn.formula.nodes import Name, Number, Text
from symattn.page.document import (
    Diagram,
    DiagramFrame,
    DiagramLayer,
    HeatMap,
    HeatMaps,
    Look,
    Math,
    Words,
    settled,
)
from symattn.page.writers import FORMATS, pdf
from symattn.page.writers.figures import Box, Frame, Line, Remark, crossings, drawn, in_characters, network
from symattn.page.writers.paper import PAGE_WIDTH, Page


@st.composite
def diagrams(draw, most=4):
    """Layers of boxes with names of their own, and arrows upwards between any two of them."""
    sizes = draw(st.lists(st.integers(1, most), min_size=1, max_size=5))
    places = [(i, j) for i, size in enumerate(sizes) for j in range(size)]
    pairs = [(low, high) for low in places for high in places if low[0] > high[0]]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=14)) if pairs else []
    layers = []
    for i, size in enumerate(sizes):
        words = [Text(f"b{i}{j}" + "x" * draw(st.integers(0, 5))) for j in range(size)]
        layers.append(DiagramLayer(tuple(words), (Words("beside it"),) if draw(st.booleans()) else ()))
    return Diagram(tuple(layers), tuple(edges), "a figure", free=draw(st.booleans()))


def shapes(drawing, kind):
    return [shape for shape in drawing.shapes if isinstance(shape, kind)]


def along(line):
    """Points of a line: on straight pieces and on Bézier curves, by de Casteljau."""
    start = line.points[0]
    for piece in line.pieces():
        for k in range(21):
            t = k / 20
            points = [start, *piece]
            while len(points) > 1:
                points = [((1 - t) * a + t * c, (1 - t) * b + t * d) for (a, b), (c, d) in pairwise(points)]
            yield points[0]
        start = piece[-1]


def inside(point, box, margin=0.2):
    x, y = point
    return abs(x - box.x) < box.width / 2 - margin and abs(y - box.y) < box.height / 2 - margin


@given(diagrams())
@tries(30)
def test_boxes_do_not_overlap_and_arrows_cross_none(diagram):
    drawing = drawn(diagram)
    boxes = shapes(drawing, Box)
    assert len(boxes) == sum(len(layer.boxes) for layer in diagram.layers)
    for a, b in combinations(boxes, 2):
        apart = abs(a.x - b.x) >= (a.width + b.width) / 2 or abs(a.y - b.y) >= (a.height + b.height) / 2
        assert apart, (a, b)
    for line in shapes(drawing, Line):
        assert not any(inside(point, box) for point in along(line) for box in boxes)
    for box in boxes:
        assert box.x - box.width / 2 >= -0.1
        assert box.x + box.width / 2 <= drawing.width + 0.1
        assert box.y + box.height / 2 <= drawing.height + 0.1
    for remark in shapes(drawing, Remark):
        assert all(remark.x > box.x + box.width / 2 for box in boxes)
    assert drawn(diagram) == drawing


@given(diagrams())
@tries(30)
def test_lines_lead_from_every_box_to_where_its_arrows_go(diagram):
    """Followed from point to point, without a look at the diagram."""
    drawing = drawn(diagram)
    boxes = shapes(drawing, Box)
    name = {box: (i, j) for i, layer in enumerate(diagram.layers) for j, box in enumerate(layer.boxes)}
    lines = shapes(drawing, Line)
    starts = {}
    for line in lines:
        starts.setdefault(line.points[0], []).append(line)
    found = set()

    def follow(line, source):
        end = line.points[-1]
        if line.arrow:
            target = next(
                b for b in boxes if abs(end[0] - b.x) <= b.width / 2 and abs(end[1] - b.y) <= b.height / 2 + 0.1
            )
            found.add((source, name[target.content]))
        for further in () if line.arrow else starts[end]:
            follow(further, source)

    for box in boxes:
        top = box.y - box.height / 2
        for start, leaving in starts.items():
            if abs(start[1] - top) < 0.11 and abs(start[0] - box.x) <= box.width / 2 - 0.5:
                for line in leaving:
                    follow(line, name[box.content])
    assert found == set(diagram.edges)


@given(diagrams())
@tries(20)
def test_boxes_that_are_free_cross_no_more_than_those_that_are_not(diagram):
    free, fixed = network(replace(diagram, free=True)), network(replace(diagram, free=False))
    assert crossings(free) <= crossings(fixed)
    assert sorted(map(sorted, free.rows)) == sorted(map(sorted, fixed.rows))


def test_crossings_are_undone_where_they_can_be():
    a, b, c, d = (Text(word) for word in "abcd")
    twisted = Diagram((DiagramLayer((a, b)), DiagramLayer((c, d))), (((1, 0), (0, 1)), ((1, 1), (0, 0))), "")
    assert crossings(network(twisted)) == 1
    assert crossings(network(replace(twisted, free=True))) == 0


def test_a_frame_holds_its_boxes_and_no_others():
    names = tuple(Text(f"box {k}") for k in range(4))
    diagram = Diagram(
        (DiagramLayer(names), DiagramLayer(names), DiagramLayer((Text("X"),))),
        tuple(((1, k), (0, k)) for k in range(4)) + tuple(((2, 0), (1, k)) for k in range(4)),
        "",
        (DiagramFrame(((0, 0), (0, 1), (1, 0), (1, 1)), words("left")), DiagramFrame(((0, 3), (1, 3)))),
    )
    drawing = drawn(diagram)
    frames, boxes = shapes(drawing, Frame), shapes(drawing, Box)
    for frame, count in zip(frames, (4, 2), strict=True):
        ends = {box: ((box.x - frame.x, box.width / 2, frame.width), (box.y - frame.y, box.height / 2, frame.height))
                for box in boxes}  # fmt: skip
        held = {box for box in boxes if all(half < at < room - half for at, half, room in ends[box])}
        assert len(held) == count
        assert held == {box for box in boxes if all(0 < at < room for at, _, room in ends[box])}


# --- characters --------------------------------------------------------------------------------------------------

SIDES = {"─": "LR", "│": "UD", "┘": "UL", "└": "UR", "┐": "DL", "┌": "DR", "┴": "ULR", "┬": "DLR", "┤": "UDL",
         "├": "UDR", "┼": "UDLR", "▲": "D"}  # fmt: skip
STEP = {"U": (-1, 0, "D"), "D": (1, 0, "U"), "L": (0, -1, "R"), "R": (0, 1, "L")}


def traced(lines):
    """What leads where in a picture of characters, as a reader follows it: down from every tip of an arrow."""
    grid = [list(line) for line in lines]
    found = {}
    for r, line in enumerate(lines):
        for word in re.finditer(r"b\d\dx*", line):
            for c in range(word.start() - 2, word.end() + 2):
                for row in (r - 1, r, r + 1):
                    found[row, c] = word.group()

    def at(r, c):
        return grid[r][c] if 0 <= r < len(grid) and 0 <= c < len(grid[r]) else " "

    edges = set()
    for r, line in enumerate(lines):
        for c, sign in enumerate(line):
            if sign != "▲":
                continue
            target, seen, todo = found[r - 1, c], set(), [(r, c)]
            while todo:
                here = todo.pop()
                if here in seen:
                    continue
                seen.add(here)
                for side in SIDES.get(at(*here), "").replace("U", ""):  # lines come from below
                    down, right, facing = STEP[side]
                    there = (here[0] + down, here[1] + right)
                    while right and at(*there) == "│":  # it only crosses
                        there = (there[0], there[1] + right)
                    if there in found and side == "D":
                        edges.add((found[there], target))
                    elif there not in found and facing in SIDES.get(at(*there), "") and at(*there) != "▲":
                        todo.append(there)
    return edges


@given(diagrams(3))
@tries(40)
def test_lines_of_characters_can_be_followed(diagram):
    """Every line of a picture, followed from its arrow back, comes from the right boxes and from no other."""
    adjacent = replace(diagram, edges=tuple(edge for edge in diagram.edges if edge[0][0] - edge[1][0] == 1))
    picture = in_characters(adjacent)
    lines = picture.split("\n")
    names = {box.words: (i, j) for i, layer in enumerate(adjacent.layers) for j, box in enumerate(layer.boxes)}
    wanted = {(low, high) for low, low_at in names.items() for high, high_at in names.items()
              if (low_at, high_at) in adjacent.edges}  # fmt: skip
    said = {(low, high) for line in lines if "←" in line for high, lows in [line.strip().split(" ← ")]
            for low in lows.split(", ")}  # fmt: skip
    assert traced([line for line in lines if "←" not in line]) | said == wanted


@pytest.mark.parametrize("columns", [100, 40, 12])
def test_a_figure_keeps_to_its_columns_or_is_told_in_words(columns):
    wide = Diagram(
        (DiagramLayer(tuple(Text(f"b0{j}") for j in range(6))), DiagramLayer((Text("x"),))),
        tuple(((1, 0), (0, j)) for j in range(6)),
        "",
    )
    picture = in_characters(wide, columns)
    assert all(columns_of(line) <= columns for line in picture.split("\n"))
    assert all(f"b0{j}" in picture for j in range(6))
    assert ("←" in picture) == (columns == 12)
    assert ("┌───" in picture) == (columns == 100)


# --- the back ends -----------------------------------------------------------------------------------------------

HIGH = Diagram(tuple(DiagramLayer((indexed("x", i),)) for i in range(30)), (), "high")
WIDE = Diagram((DiagramLayer(tuple(indexed("x", i) for i in range(40))),), (), "wide")
MAP = HeatMap(((0, 1), (2, 4)), "a map of weights", words=(("0", "1/3"), ("0.42", "1")))


@pytest.mark.parametrize("diagram", [HIGH, WIDE])
@pytest.mark.parametrize("look", [Look(), Look(text_size=24), Look(paper="letter")])
def test_a_large_figure_is_made_smaller_until_it_fits(diagram, look):
    page, drawing = Page(look), drawn(diagram)
    factor = drawing.smaller(page) * page.scale
    assert drawing.width * factor <= PAGE_WIDTH + 0.001
    assert drawing.height * factor < page.height - 20 * page.scale
    assert drawing.smaller(page) < 1


FRAMED = replace(FIGURE, frames=(DiagramFrame(((0, 0), (0, 1)), (Words("a frame & "), Math(Name("h")))),))


def test_every_back_end_draws_every_shape():
    document = sheet(FRAMED)
    drawing = drawn(FRAMED)
    boxes, lines = len(shapes(drawing, Box)), len(shapes(drawing, Line))
    arrows = sum(line.arrow for line in shapes(drawing, Line))
    tex, html, typst = (FORMATS[name].write(document) for name in ("latex", "html", "typst"))
    body = tex.partition("\\begin{document}")[2]
    assert len(re.findall(r"\\node\[(?:box|given),", body)) == boxes
    assert len(re.findall(r"\\draw(?:\[->\])? \(", body)) == lines
    assert body.count("\\draw[->]") == arrows
    figure = html[html.index("<svg") : html.index("</svg>")]
    assert len(re.findall(r'<rect class="(?:box|given)"', figure)) == boxes
    assert figure.count('<path class="line"') == lines
    assert figure.count('<polygon class="tip"') == arrows
    assert figure.count('<rect class="frame"') == 1
    assert "a frame &amp; " in figure
    body = typst[typst.index("#drawing(") :]
    assert [body.count(f"  {name}(") for name in ("node", "path", "tip", "frame")] == [boxes, lines, arrows, 1]


def test_the_description_is_read_out_in_html_and_pdf():
    diagram = replace(FIGURE, description='Says <this> & "that". And more.')
    html = FORMATS["html"].write(sheet(diagram))
    assert "<title>Says &lt;this&gt; &amp; &quot;that&quot;</title><desc>And more.</desc>" in html
    assert '<svg role="img"' in html
    assert b"pdfuaid:part" in pdf.write_pdf(sheet(diagram))


def test_pdf_has_every_label_of_a_figure():
    words = words_of(pdf.write_pdf(sheet(FRAMED)))
    for label in ("outputs", "row by row", "input", "a frame", "softmax"):
        assert label in words


@pytest.mark.parametrize("small", [False, True])
@pytest.mark.parametrize("format", ["text", "latex", "html", "typst", "markdown"])
def test_heat_maps_side_by_side_keep_captions_and_numbers(small, format):
    maps = HeatMaps(tuple((words(f"caption {k}"), MAP) for k in range(7)), small)
    source = FORMATS[format].write(sheet(maps))
    assert all(source.count(f"caption {k}") == 1 for k in range(7))
    numbers = re.findall(r"0\.42", source)
    assert len(numbers) == 7
    assert settled(sheet(maps)) == sheet(maps)


@pytest.mark.slow
@pytest.mark.usefixtures("tex")
def test_pictures_compile_with_tex_and_nothing_overflows():
    maps = HeatMaps(tuple(((Words(f"caption {k}"), Math(Number("1"))), MAP) for k in range(7)))
    document = sheet(FRAMED, HIGH, WIDE, maps, replace(maps, small=True))
    assert list(trouble(FORMATS["latex"].write(document), pdf.latex_engine())) == []
