"""Exam papers: places to write, to tick and to shade, marks at the margin, and large print from the same source."""

import re
import shutil
import subprocess
from dataclasses import replace
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pdf_marks import LEFT, RIGHT, ink, pages, tags, words_on
from test_writers_documents import plain
from trials import at_least_one
from writer_exam_samples import EVERYTHING, EXAM, KEYS, MAP, QUERIES
from writer_markdown_rules import lint
from writer_samples import HOSTILE, matrix, n, paragraph, plus, sheet, words

from symattn.formula.nodes import NOTHING, Name, Relation, Row, Sum, Text
from symattn.formula.speech import speak
from symattn.formula.width import fold, width
from symattn.page.document import (
    AnswerGrid,
    Choices,
    Display,
    FillIn,
    FillIns,
    Heading,
    HeatMap,
    ItemList,
    Look,
    Math,
    Paragraph,
    Strong,
    Table,
    Together,
    WorkingSpace,
)
from symattn.page.writers import FORMATS, pdf
from symattn.page.writers.common import letter, visible
from symattn.page.writers.paper import Page, box_size, choice_columns, ruled_lines
from symattn.page.writers.tables import laid_out

SIZES = (11, 18, 24)


def made(document, engine):
    if engine == "tex":
        return pdf.latex_pdf(FORMATS["latex"].write(document))[0]
    return pdf.write_pdf(document)


@pytest.fixture(params=["typst", "tex"])
def engine(request):
    if request.param == "tex":
        request.getfixturevalue("tex")
    return str(request.param)


def body(format, *blocks):
    """What a writer makes of blocks, without the title."""
    written = FORMATS[format].write(sheet(*blocks))
    return written.split("A sheet\n", 1)[1].removeprefix("═══════\n").strip("\n")


# --- sizes for handwriting -----------------------------------------------------------------------------

# rules.md 6.1, in millimetres
HANDWRITING = {
    "integer": (12, 10), "decimal": (20, 10), "fraction": (16, 16), "exponential": (32, 16),
}  # fmt: skip


def test_boxes_are_large_enough_for_handwriting_and_squares_to_shade_are_square():
    for kind, (wide, high) in HANDWRITING.items():
        grid = AnswerGrid(n("Q"), 3, 3, kind)
        assert box_size(grid, Page()) == (wide, high)
        for size in (18, 24):
            larger = box_size(grid, Page(Look(text_size=size)))
            assert larger[0] >= wide
            assert larger[1] >= int(high * size / 11)
    for size in SIZES:
        square = box_size(AnswerGrid(n("M"), 4, 4, shade=True), Page(Look(text_size=size)))
        assert square == (int(10 * size / 11),) * 2


@pytest.mark.covering(most=1)
def test_a_box_is_as_large_on_the_page(engine):
    page = sheet(AnswerGrid(n("Q"), 2, 3, filled=(((0, 0), n(7)),)))
    corners = {(round(x, 1), round(y, 1)) for x, y, size in ink(pages(made(page, engine))[0]) if not size}
    assert any(
        {(round(x + 12 * j, 1), round(y + 10 * i, 1)) for i in (0, 2) for j in range(4)} <= _near(corners)
        for x, y in corners
    )


def _near(points):
    """The points and those a tenth of a millimetre beside them."""
    steps = (-0.1, 0, 0.1)
    return {(round(x + dx, 1), round(y + dy, 1)) for x, y in points for dx in steps for dy in steps}


@pytest.mark.covering(most=2, product=False)
@pytest.mark.parametrize("size", SIZES)
def test_ruled_lines_are_8_millimetres_apart(size, engine):
    page = replace(sheet(WorkingSpace(40, ruled=True)), look=Look(text_size=size))
    found = sorted({round(y, 1) for _, y, points in ink(pages(made(page, engine))[0]) if not points})
    lines = [y for y in found if not any(0 < y - other < 2 for other in found)]
    gaps = [b - a for a, b in pairwise(lines)]
    assert sum(abs(gap - int(8 * size / 11)) < 0.2 for gap in gaps) >= 4


@pytest.mark.parametrize("lines", [1, 4, 6, 20])
@pytest.mark.parametrize("size", SIZES)
def test_there_are_as_many_ruled_lines_as_were_asked_for(lines, size):
    """A paper that was written closer to save a page had three of four."""
    space = WorkingSpace(8 * lines, ruled=True)
    for spacing, closer in product(("roomy", "compact"), (False, True)):
        page = Page(Look(text_size=size, spacing=spacing), closer=closer)
        assert ruled_lines(space, page) == min(lines, page.height // int(8 * size / 11))


# --- large print -----------------------------------------------------------------------------------------


@pytest.mark.covering(most=1)
@pytest.mark.parametrize("name", ["exam", "pictures", "wide at 24 pt"])
def test_nothing_stands_in_the_margins(name):
    for page in at_least_one(pages(pdf.write_pdf(EVERYTHING[name]))):
        x = [x for x, _, _ in ink(page)]
        assert min(x) > LEFT - 0.5
        assert max(x) < RIGHT + 0.5


@pytest.mark.covering(most=2, product=False)
@pytest.mark.parametrize("size", SIZES)
def test_text_is_as_large_as_asked_for(size, engine):
    page = replace(sheet(paragraph("Only words. " * 40), Paragraph(words("More."), "[2]")), look=Look(text_size=size))
    sizes = {points for _, y, points in ink(pages(made(page, engine))[0]) if points and 45 < y < 255}
    assert all(abs(found - size) < 0.1 for found in sizes)
    assert sizes


@pytest.mark.parametrize("format", ["markdown", "text"])
def test_text_without_pages_knows_no_sizes(format):
    assert len({FORMATS[format].write(replace(EXAM, look=Look(text_size=size))) for size in SIZES}) == 1


@pytest.mark.covering(most=1, product=False)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("recipe", ["", "symattn exam --seed 7"])
def test_every_page_names_the_sheet_and_its_number(size, recipe, engine):
    found = pages(made(replace(EXAM, look=Look(text_size=size), recipe=recipe), engine))
    for i, page in enumerate(found, 1):
        text = words_on(page)
        assert "TR20-2NEW" in text
        assert f"page {i} of {len(found)}" in text
        assert recipe in text or (size > 11 and i < len(found))  # in large print it stands at the end alone


@given(
    st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=30),
    st.lists(st.integers(0, 10**6), max_size=4),
    st.integers(12, 60),
)
def test_a_chain_is_folded_in_its_sums_as_well(terms, others, limit):
    chain = Relation((n("q"), plus(*terms), *map(n, others)), ("=",) * (1 + len(others)))
    lines = fold(chain, limit)
    assert [leaf for line in lines for leaf in leaves(line)] == list(leaves(chain))
    assert max(map(width, lines)) <= max(limit, 12)


def leaves(formula):
    match formula:
        case Relation(parts, _) | Row(parts) | Sum(parts):
            return [leaf for part in parts if part != NOTHING for leaf in leaves(part)]
        case _:
            return [formula]


def test_a_sum_goes_on_in_every_format():
    page = Display((Relation((n("q"), plus(*range(10**8, 10**8 + 12)), n(7)), ("=", "=")),))
    assert re.search(r"\\\\\n  & \\quad \+ 1000000\d+ \+.* = 7\n", FORMATS["latex"].write(sheet(page)))
    assert re.search(r"\\\n  & quad \"\"  ?\+ 1000000\d+ \+.* = \\7\n", FORMATS["typst"].write(sheet(page)))
    assert lint(FORMATS["markdown"].write(sheet(page))) == []


def test_a_row_of_matrices_is_wrapped():
    given_matrices = tuple(
        Relation((Name(name), matrix(*[[10, 20, 30, 40]] * 3)), ("=",)) for name in ("X", "U", "W", "Y", "Z")
    )
    page = sheet(Display((Row(given_matrices),)))
    assert FORMATS["latex"].write(page).count("qquad") == 3  # two lines
    assert FORMATS["latex"].write(replace(page, look=Look(text_size=24))).count("qquad") == 0


# --- marks -----------------------------------------------------------------------------------------------


@pytest.mark.covering(most=1)
def test_marks_stand_at_the_right_margin(engine):
    """Whether the last line is short or full: each of them, and no other word, begins there."""
    blocks = [Paragraph(words("m" * 30 + " " + "i " * length), "[7]") for length in range(60, 120, 3)]
    found = pages(made(sheet(*blocks, Heading(words("Part"), 2, "[8]")), engine))
    starts = [x for page in found for x, y, points in ink(page) if points and 19 < y < 277]
    assert sum(words_on(page).count("[7]") for page in found) == 20
    assert sum(RIGHT - 6 < x < RIGHT - 3 for x in starts) >= 21


def test_marks_in_text_and_markdown():
    for said, lines in (("Short.", ["Short." + " " * 75 + "[2]"]), ("x" * 80, ["x" * 80, " " * 81 + "[2]"])):
        assert body("text", Paragraph(words(said), "[2]")).split("\n") == lines
    assert body("markdown", Paragraph((Strong("A true. "), *words("Every one.")))) == "**A true.** Every one."
    assert body("markdown", Paragraph(words("Short."), "[2]")) == r"Short. **\[2\]**"
    assert body("markdown", Heading(words("Question 1"), marks="[20]")) == r"## Question 1 **\[20\]**"


# --- options to tick --------------------------------------------------------------------------------------

OPTIONS = Choices(
    ((Math(matrix([1, 2], [3, 4])),), (Math(matrix([1, 3], [2, 4])),), words("none of them")), ticked=frozenset({2})
)


def test_options_in_text_and_markdown():
    assert body("text", OPTIONS) == (
        "  [ ] A.  ⎡ 1  2 ⎤     [ ] B.  ⎡ 1  3 ⎤     [x] C.  none of them\n          ⎣ 3  4 ⎦             ⎣ 2  4 ⎦"
    )
    assert body("markdown", OPTIONS) == (
        "<!-- symattn:choices pick=one -->\n\n"
        "- [ ] **A.** $[1\\;\\; 2;\\; 3\\;\\; 4]$\n- [ ] **B.** $[1\\;\\; 3;\\; 2\\;\\; 4]$\n- [x] **C.** none of them"
    )
    assert "pick=several" in body("markdown", replace(OPTIONS, several=True))


@pytest.mark.skipif(not shutil.which("pandoc"), reason="pandoc is not installed")
@pytest.mark.parametrize(("dialect", "boxes"), [("gfm", ["☐", "☐", "☒"]), ("commonmark", ["[ ]", "[ ]", "[x]"])])
def test_options_are_a_list_in_every_markdown(dialect, boxes):
    source = FORMATS["markdown"].write(sheet(OPTIONS))
    done = subprocess.run(
        ["pandoc", "-f", dialect, "-t", "plain"], input=source, capture_output=True, text=True, check=True
    )
    assert re.findall(r"^- +(☐|☒|\[.\]) +(\w)\.", done.stdout, re.MULTILINE) == list(zip(boxes, "ABC", strict=True))


def test_options_can_be_heard_and_seen():
    text = words_on(pages(pdf.write_pdf(sheet(OPTIONS)))[0])
    assert re.findall("[☐☒] ?[A-Z]", text.replace(" ", "")) == ["☐A", "☐B", "☒C"]


@pytest.mark.parametrize("size", SIZES)
def test_rows_of_options_are_equally_long(size):
    page = Page(Look(text_size=size))
    for count, length in product(range(1, 9), (1, 12, 19, 40, 200)):
        columns = choice_columns(Choices((words("x" * length),) * count), page)
        assert count % columns == 0
        assert columns * length * 0.3 <= page.line or columns == 1
    effects = Choices(tuple(map(words, ("It becomes larger.", "It becomes smaller.", "It stays the same."))))
    assert choice_columns(effects, page) == (3 if size == 11 else 1)


# --- what stays together -------------------------------------------------------------------------------


def pages_with(document, engine, *wanted):
    """For each text, the pages that it stands on."""
    texts = ["".join(words_on(page).split()) for page in pages(made(document, engine))]
    return [[i for i, text in enumerate(texts) if part in text] for part in wanted]


@pytest.mark.slow
def test_what_belongs_together_stands_on_one_page(engine):
    """Options, a list and what announces it, and, in large print, a question above its picture."""
    matrices = Choices(tuple((Math(matrix([i, 2], [3, 4], [5, 6])),) for i in range(6)))
    points = ItemList(tuple(map(words, ("first", "second", "third"))))
    for lines in (38, 42):
        document = sheet(*[paragraph("filled")] * lines, paragraph("One each:"), points, matrices)
        announced, first, *options = pages_with(document, engine, "each:", "first", "A.", "F.")
        assert announced == first
        assert options[0] == options[1]
    picture = HeatMap(((0, 1, 2, 3, 4),) * 5, "", words=(("cat", "", "", "", ""),) + (("",) * 5,) * 4)
    long = Choices((words("A long option that takes more than one line of large print."),) * 5)
    asked = Together((Heading(words("Part")), paragraph("Which one?"), picture, long))
    for lines in (8,):
        document = replace(sheet(*[paragraph("filled")] * lines, asked), look=Look(text_size=24))
        heading, question, shown = pages_with(document, engine, "Part", "Whichone?", "cat")
        assert heading == question == shown


# --- tables --------------------------------------------------------------------------------------------


def test_a_table_that_is_far_too_wide_is_turned():
    letters = [words(letter) for letter in "ABCDEFGHIJKL"]
    table = Table((words("Matrix"), *letters), ((words("Shape"), *[words("14 × 12")] * 12),), row_heads=True)
    turned = laid_out(table, Page(Look(text_size=24)))
    assert turned.header == (words("Matrix"), words("Shape"))
    assert turned.rows == tuple((letter, words("14 × 12")) for letter in letters)
    few = Table(table.header[:4], (table.rows[0][:4],), row_heads=True)
    assert laid_out(few, Page(Look(text_size=24))) == few


@pytest.mark.slow
def test_an_empty_row_is_high_enough_to_write_in(engine):
    def lowest_line(empty_rows):
        rows = ((words("Marks"), words("20")), *(((words("Marked"), words("")),) * empty_rows))
        page = pages(made(sheet(Table((words("Question"), words("1")), rows, row_heads=True)), engine))[0]
        return min(y for _, y, size in ink(page) if size == 0)

    assert lowest_line(1) - lowest_line(2) >= 8  # millimetres


def test_letters():
    assert [letter(i) for i in (0, 1, 25, 26, 27, 52, 701, 702)] == ["A", "B", "Z", "AA", "AB", "BA", "ZZ", "AAA"]


# --- places to write ------------------------------------------------------------------------------------


def test_places_to_write_in_text():
    items = (
        FillIn(words("Name:"), 20, value="Ada"),
        FillIn(words("ID:"), boxes=4, value="7é"),
        FillIn(words("ID:"), boxes=2, value="too long", width=0),
        FillIn((Math(n("q")), *words(" is")), 12, after=words("units")),
    )
    line = "Name: Ada_______    ID: |7|é|_|_|    ID: too long    q is ______ units"
    assert body("text", FillIns(items)) == line
    assert body("markdown", FillIns(items)).split("\n\n") == [
        r"Name: Ada\_\_\_\_\_\_\_", r"ID: \|7\|é\|\_\|\_\|", "ID: too long", r"$q$ is \_\_\_\_\_\_ units",
    ]  # fmt: skip


def test_grids_in_markdown_and_text():
    grid = AnswerGrid(n("S"), 2, 2, filled=(((0, 1), n(-3)),), row_labels=QUERIES[:2], column_labels=KEYS[:2])
    assert body("markdown", grid) == (
        "<!-- symattn:grid id=S rows=2 cols=2 -->\n\n| S | $k_{1}$ | $k_{2}$ |\n| :---: | :---: | :---: |\n"
        "| $q_{1}$ |   | ${}-3$ |\n| $q_{2}$ |   |   |"
    )
    assert body("text", grid).split("\n") == [
        "              k₁     k₂",
        "        q₁ ⎡ ____    −3  ⎤",
        "    S      ⎢             ⎥",
        "        q₂ ⎣ ____   ____ ⎦",
    ]
    named = AnswerGrid(Name("A", (Text("new"),)), 1, 1)
    assert "| $A_{\\text{new}}$ | 1 |" in body("markdown", named)
    shaded = AnswerGrid(n("M"), 1, 2, shade=True)
    assert body("text", shaded) == "    M = [☐ ☐]"
    assert body("markdown", shaded).endswith("| M | 1 | 2 |\n| :---: | :---: | :---: |\n| **1** | ☐ | ☐ |")


def test_a_labelled_grid_is_read_out_with_its_heads():
    grid = AnswerGrid(n("S"), 2, 2, row_labels=QUERIES[:2], column_labels=KEYS[:2])
    [words] = [words for kind, words in tags(pdf.write_pdf(sheet(grid))) if kind == "/Figure"]
    for label in (*QUERIES[:2], *KEYS[:2]):
        assert speak(label) in words


# --- pictures of matrices --------------------------------------------------------------------------------

DRAWN = """
          k₁     k₂     k₃
       ┌──────┬──────┬──────┐
    q₁ │      │░░░░░░│▒▒▒▒▒▒│
       ├──────┼──────┼──────┤
    q₂ │▓▓▓▓▓▓│██████│      │
       ├──────┼──────┼──────┤
    q₃ │░░░░░░│▒▒▒▒▒▒│██████│
       └──────┴──────┴──────┘

""".strip("\n")


def test_a_picture_in_text_and_markdown_keeps_its_words_and_is_described():
    assert body("text", MAP) == DRAWN
    assert body("markdown", MAP) == f"```text\n{DRAWN}\n```\n\n{MAP.description}"
    assert ("/Figure", MAP.description) in list(tags(pdf.write_pdf(sheet(MAP))))
    drawn = body("text", HeatMap(((0, 1), (2, 4)), "", words=(("the", "cat"), ("sat", "日本"))))
    assert "│  the   │░ cat ░░│" in drawn
    assert "│▒ sat ▒▒│█ 日本 █│" in drawn


def test_levels_differ_in_pattern_as_well_as_in_tone():
    source = FORMATS["latex"].write(sheet(MAP))
    styles = [re.search(rf"tone {k}/\.style={{(.*)}}[,}}]", source)[1] for k in range(5)]
    patterns = [re.findall(r"pattern=([a-z ]+)", style) for style in styles]
    tones = [100 if "white" in fill else 100 - int(fill.removeprefix("black!"))
             for fill in (re.search(r"fill=([a-z!\d]+)", style)[1] for style in styles)]  # fmt: skip
    assert tones == sorted(tones, reverse=True)
    assert len(set(tones)) == 5
    assert len({tuple(pattern) for pattern in patterns[1:4]}) == 3
    assert patterns[0] == patterns[4] == []


# --- text from outside -----------------------------------------------------------------------------------


def common_start(one, two):
    return next((i for i, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))


def only(format, *blocks):
    """What blocks add to an empty page, without spaces; the preambles of typst and LaTeX may also change."""
    full, empty = (
        re.split(r"stroke: 0.8pt\)|\\makesheettitle\n", FORMATS[format].write(page))[-1]
        for page in (sheet(*blocks), sheet())
    )
    start = common_start(full, empty)
    end = common_start(full[start:][::-1], empty[::-1])
    return "".join(full[start : len(full) - end].split())


@pytest.mark.covering(product=False)
@pytest.mark.parametrize("text", [text for text in HOSTILE if text.strip()])
@pytest.mark.parametrize("format", ["html", "latex", "markdown", "text", "typst"])
def test_text_from_outside_is_escaped_as_in_a_paragraph(text, format):
    escaped = only(format, paragraph(text)).removeprefix("<p>").removesuffix("</p>")  # of HTML
    assert escaped
    for block in (
        FillIns((FillIn((), 0, value=text),)),
        FillIns((FillIn(words(text)),)),
        FillIns((FillIn((), after=words(text)),)),
        Choices((words(text),)),
        Paragraph((), text),
    ):
        assert escaped in only(format, block)


@pytest.mark.skipif(not shutil.which("pandoc"), reason="pandoc is not installed")
def test_markdown_from_outside_is_verbatim():
    for text in filter(str.strip, HOSTILE):
        read_back(text)


def read_back(text):
    page = sheet(FillIns((FillIn((), 0, value=text),)), paragraph("END"), Choices((words(text),)))
    done = subprocess.run(
        ["pandoc", "-f", "markdown-smart", "-t", "plain", "--wrap=none"],
        input=FORMATS["markdown"].write(page), capture_output=True, text=True, check=True,
    )  # fmt: skip
    first, second = done.stdout.split("A sheet")[1].split("END")
    assert plain(first).rstrip("_") == plain(visible(text)).rstrip("_")
    assert plain(second).removeprefix("☐A.") == plain(visible(text))
