"""Portable Markdown: the rules find what they are there to find, and three readers show all that was written."""

import pytest
from check_markdown import displayed, lost, readers, tables
from tables import tables_beside
from writer_exam_samples import EVERYTHING
from writer_markdown_rules import lint
from writer_samples import FORMULAS, equal, matrix, n, paragraph, sheet, words

from symattn.page.document import (
    AnswerGrid,
    Columns,
    Display,
    Document,
    Falk,
    Heading,
    Math,
    Paragraph,
    Table,
    Words,
)
from symattn.page.writers import FORMATS, text
from symattn.page.writers.characters import COLUMNS

TABLES = tables_beside(__file__)

READERS = ("pandoc", "markdown-it", "mistune")


def markdown(document):
    return FORMATS["markdown"].write(document)


@pytest.fixture(params=READERS)
def reader(request):
    if request.param not in readers():
        pytest.skip(f"{request.param} is not installed")
    return str(request.param)


# ------------------------------------------------------------------------------------------------ the rules

FORMULA = "$$\n\\begin{bmatrix}\n  1 & 2 \\\\\n  3 & 4\n\\end{bmatrix}\n$$"
SOUND = (
    FORMULA,
    f"before\n\n{FORMULA}\n\nafter",
    "$a_{1}$ and $b_{1}$ cost \\$5.",
    "| a | b |\n| --- | --- |\n| $\\lvert x\\rvert$ | \\| |",
    "```text\n$$ <x> * \\cr\n```",
    "`$` and <!-- symattn:grid id=W^Q rows=1 cols=2 -->",
    '---\nrecipe: "a <b> $5"\n---\n\ntext',
)
UNSOUND = TABLES["unsound"]


def test_rules_let_through_what_is_sound_and_find_every_fault():
    assert [source for source in SOUND if lint(source)] == []
    assert {source: lint(source) for source, said in UNSOUND.items() if not any(said in f for f in lint(source))} == {}


# ------------------------------------------------------------------------------------------------ the readers


WRITTEN = {
    **{name: EVERYTHING[name] for name in ("all", "wide", "hostile", "exam")},
    "formulas": sheet(*(Display((formula,)) for formula in FORMULAS.values()),
                      *(Paragraph((Words("so "), Math(formula), Words("."))) for formula in FORMULAS.values())),
}  # fmt: skip


@pytest.mark.covering(most=3)
@pytest.mark.parametrize("name", [*WRITTEN])
def test_every_document_keeps_its_rows(name, reader):
    source = markdown(WRITTEN[name])
    assert lint(source) == []
    assert lost(source, reader) == []


@pytest.mark.parametrize(
    ("broken", "what"),
    [
        (FORMULA.replace("  3", "\n  3"), "dollar signs"),
        ("text " + FORMULA, "formula"),
        ("| a | b |\n| --- | --- |\n| $|x|$ | y |", "table"),
    ],
)
def test_what_a_reader_loses_is_seen(broken, what):
    if set(readers()) != set(READERS):
        pytest.skip("Not every reader is installed, and each loses something else.")
    assert any(what in fault for name in readers() for fault in lost(broken, name))


# ------------------------------------------------------------------------------------------------ side by side

LEFT, ABOVE = matrix([1, 0, 2], [0, -1, 1]), matrix([1, 2], [0, 1], [-1, 12])
PRODUCT = matrix([-1, 26], [-1, 11])
NAMES = (n("Q"), n("K"))


def test_falk_in_markdown_is_one_formula_with_all_numbers(reader):
    source = markdown(sheet(Falk(LEFT, ABOVE, PRODUCT, NAMES)))
    assert lint(source) == []
    assert lost(source, reader) == []
    [formula] = displayed(source)
    assert formula.count("\\begin{bmatrix}") == 3


def test_a_grid_in_falks_scheme_is_found_again():
    grid = AnswerGrid(n("S"), 2, 2)
    source = markdown(sheet(Falk(LEFT, ABOVE, grid, NAMES)))
    assert lint(source) == []
    assert "<!-- symattn:grid id=S rows=2 cols=2 -->" in source
    assert len(displayed(source)) == 1


def drawn(*blocks):
    document = blocks[0] if isinstance(blocks[0], Document) else sheet(*blocks)
    lines = text.write(document).rstrip().split("\n")
    assert max(map(len, lines)) <= COLUMNS
    return lines[3:]


def test_falk_in_text_has_columns_below_columns():
    lines = drawn(Falk(LEFT, ABOVE, PRODUCT, NAMES))
    assert lines == [
        "                    ⎡  1   2 ⎤",
        "                  K ⎢  0   1 ⎥",
        "                    ⎣ −1  12 ⎦",
        "",
        "    Q ⎡ 1   0  2 ⎤  ⎡ −1  26 ⎤",
        "      ⎣ 0  −1  1 ⎦  ⎣ −1  11 ⎦",
    ]


def test_falk_in_text_has_room_to_write():
    lines = drawn(Falk(LEFT, ABOVE, AnswerGrid(n("S"), 2, 2), NAMES))
    assert sum(line.count("____") for line in lines) == 4
    assert any(line.endswith("= S") for line in lines)


def test_falk_too_wide_for_a_line_stands_one_after_another():
    wide, high = matrix([10**20, 10**20, 10**20]), matrix([10**20], [10**20], [10**20])
    lines = drawn(Falk(wide, high, matrix([3 * 10**40]), NAMES))
    assert "".join(lines).count("0" * 20) == 8
    assert lines[0].startswith("    Q = [")


def columns(*workings):
    return sheet(Columns((words("Step"), words("Working")), tuple(((paragraph("Scores"),), w) for w in workings)))


def test_columns_of_lines_are_a_table(reader):
    working = (Display((equal("s", 2),)),)
    source = markdown(columns(working, ()))
    assert tables(source) == [[[" Step ", " Working "], [" Scores ", " s = 2 "], [" Scores ", "  "]]]
    assert lost(source, reader) == []


def test_columns_of_more_stand_one_after_another():
    working = (Display((equal("S", PRODUCT),)), paragraph("done"))
    source = markdown(columns(working))
    assert lint(source) == []
    assert tables(source) == []
    assert source.index("Scores") < source.index("bmatrix") < source.index("done")


def test_columns_in_text_stand_side_by_side():
    working = (Display((equal("S", PRODUCT),)),)
    lines = drawn(columns(working, working))
    assert lines[0].index("│") == lines[2].index("│") == lines[1].index("┼")
    assert "Step" in lines[0]
    assert "Working" in lines[0]
    [first] = [line for line in lines if "⎡" in line][:1]
    assert first.index("⎡") > lines[0].index("│")


def test_columns_that_do_not_fit_stand_one_after_another():
    heads = tuple(words(letter * 31) for letter in "abc")
    wide = (Table(heads, (tuple((Math(n(letter)),) for letter in "xyz"),)),)
    lines = drawn(columns(wide))
    assert not any("┼" in line for line in lines)


def test_a_heading_has_its_formulas_as_formulas():
    source = markdown(sheet(Heading((Math(n("S")), Words(" by $5")))))
    assert lint(source) == []
    assert "## $S$ by \\$5\n" in source
