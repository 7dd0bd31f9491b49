"""Keys take no more pages than they need, and lose nothing by it: results, marks, and what notebooks have besides."""

import math
import re
from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import chain

import pytest
from catalogue_sheets import sheet_of
from check_pdf import complaints
from pdf_marks import LEFT, RIGHT, ink, pages, words_on
from printed_lines import value
from writer_samples import equal, indexed, n, over, paragraph, plus, sheet, words

from symattn.exact import Matrix
from symattn.formula.nodes import (
    MatrixOf,
    Name,
    Negative,
    Number,
    Product,
    Relation,
    Row,
    Text,
    contains,
)
from symattn.formula.width import fold, width
from symattn.page.document import (
    ONLY_MARKS,
    Choices,
    Display,
    Entries,
    Heading,
    HeatMap,
    Look,
    Math,
    PageBreak,
    Paragraph,
    Program,
    Table,
    all_blocks,
    settled,
)
from symattn.page.presentation import presented
from symattn.page.writers import FORMATS, typst
from symattn.page.writers.characters import plain as in_words
from symattn.page.writers.compiling import COMPILER
from symattn.page.writers.paper import PAGE_WIDTH, Page
from symattn.page.writers.pdf import LaidOut, write_pdf
from symattn.page.writers.rows import InRow, Labelled, WorkedRow, beside, worked_in_rows
from symattn.teaching.explanation.layouts import formulas_among
from symattn.teaching.explanation.parts import marking
from symattn.teaching.question import Mark, MatrixAnswer, Part

MECHANISMS = ("layer_norm", "multi_head_attention", "language_model")
"""Short keys and long ones, of several heads, with wide fractions, with words: each is laid out once."""


@cache
def key_of(mechanism):
    """A key with its recipe, its source in Typst, and its pages."""
    key = presented(sheet_of(mechanism).document("key"))
    return key, typst.write(key), pages(write_pdf(key))


def words_of(data):
    """What stands on all pages but for their heads and feet."""
    whole = " ".join(map(words_on, pages(data)))
    return Counter(re.sub(r"page \d+ of \d+|A sheet", "", whole).split())


# --- what stands beside something else is not lost, and stands once ---------------------------------------


@pytest.mark.covering(most=2)
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_every_mark_and_matrix_of_a_key_stands_on_its_pages_once(mechanism):
    key, source, _ = key_of(mechanism)
    blocks = [block for block in all_blocks(settled(key).blocks) if isinstance(block, Paragraph) and block.marks]
    without_purpose = re.sub(r"((?<![\w-])[MAB]\d+) \([^()]+\)", r"\1", source)
    shown = Counter(re.findall(r'(?<![\w-])((?:[MAB]\d+ )*[MAB]\d+)(?: \[\d+\])?"\)', without_purpose))
    assert shown == Counter(block.marks for block in blocks)
    question = sheet_of(mechanism).question
    held = Counter(chain.from_iterable(_matrices(part.key) for part in question.parts))
    matrices = Counter(_matrices(settled(sheet_of(mechanism).document("worked")).blocks))
    assert matrices == held + Counter(_matrices(question.given))


@pytest.mark.covering(most=2)
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_key_is_the_same_to_the_byte_if_all_is_measured_and_if_its_end_can_be_kept_on_one_page(mechanism):
    key, source, _ = key_of(mechanism)
    every = source.replace("= if fits {", "= if false {")
    assert source.count("fits: true") > 0.6 * source.count("#formulas(")
    movable, _ = typst.written(key, ends=True)
    assert len({source, every, movable}) == 3
    assert len({COMPILER.compile(text.encode()) for text in (source, every, movable)}) == 1


@pytest.mark.covering(most=1)
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_headings_stay_whole_and_pages_are_full(mechanism):
    """No heading breaks at its equals sign; marks stand on its first line, for below it they would touch what hangs
    from a formula (those of words alone may break); no page but the last is more than a third empty."""
    key, _, found = key_of(mechanism)
    headings = [block for block in all_blocks(key.blocks) if isinstance(block, Heading)]
    formulas = {block: [m for m in block.content if isinstance(m, Math)] for block in headings}
    short = {in_words(block.label) for block in headings if all(width(m.formula) < 15 for m in formulas[block])}
    words_alone = [block for block in headings if block.of == "question" and not formulas[block]]
    below = []
    for page in found:
        for line in page.extract_text().splitlines():
            assert not (line.split(" ")[0] in short and line.rstrip().endswith("=")), line
        pieces = []
        page.extract_text(visitor_text=lambda text, cm, tm, *_, seen=pieces: seen.append((cm[3] * tm[5] + cm[5], text)))
        starts = [y for y, text in pieces if re.match(r"\s*\d+\. [A-Z]", text)]
        marks = [(y, text) for y, text in pieces if re.fullmatch(r"\s*[MAB]\d .*\[\d+\]\s*", text)]
        below += [text for y, text in marks if not any(abs(y - start) < 0.5 for start in starts)]
    assert len(below) <= len(words_alone), below
    for page in found[:-1]:
        lowest = min(y for _, y, _ in ink(page) if y > 21)  # the foot is below
        assert lowest - 21 < (297 - 18 - 21) / 3


def _matrices(blocks):
    """The matrices of numbers in the equations."""
    for formula in formulas_among(blocks):
        if isinstance(formula, Relation):
            factors = (part.factors if isinstance(part, Product) else (part,) for part in formula.parts)
            found = (part for part in chain.from_iterable(factors) if isinstance(part, MatrixOf))
            yield from (matrix for matrix in found if not contains(matrix, Name))


@pytest.mark.parametrize("purpose", ["", "every row"])
def test_marks_stand_in_the_heading_with_what_they_are_for(purpose):
    part = Part("S", words("Scores"), (), (), MatrixAnswer(Matrix([[1]])), (Mark("M", 1), Mark("A", 1, purpose)))
    blocks = (Heading(words("Scores"), 1, "[2]"), Display((equal("A", 1),)), *marking(part))
    (page,) = pages(plain(sheet(*blocks)))
    said = f" ({purpose})" if purpose else ""
    assert f"Scores M1 A1{said} [2]" in words_on(page)
    assert "Marks" not in words_on(page)


def test_marks_stay_where_they_are_if_no_heading_has_room_for_them():
    said = "A1: every row that is right, and every other one. " * 3
    for blocks in (
        (Heading(words("Scores"), 1, "[2]"), Paragraph(words(said), "M1 A1", f"M1 A1 ({said})")),
        (Paragraph(ONLY_MARKS, "M1 A1", "M1 A1"),),
    ):
        source = typst.write(sheet(*blocks))
        assert '#at-margin[#text("M1 A1")]' in source
        assert "M1 A1 [2]" not in source


# --- questions side by side ----------------------------------------------------------------------------------


def letters_of(data):
    """All signs on the pages; words may be broken."""
    return Counter(re.sub("[-\u00ad]", "", "".join(words_of(data).elements())))


def bare(mechanism):
    """A key with nothing above or below its pages."""
    return replace(sheet_of(mechanism).document("key"), title="A sheet", sheet="", recipe="")


@pytest.mark.parametrize("mechanism", MECHANISMS[:1])
def test_side_by_side_nothing_is_lost_and_all_of_it_stays_on_the_page(mechanism, monkeypatch):
    together = plain(bare(mechanism))
    for page in pages(together):
        across = [x for x, _, _ in ink(page)]
        assert LEFT - 1 < min(across) < max(across) < RIGHT + 1
    monkeypatch.setattr(typst, "worked_in_rows", lambda blocks, page: list(blocks))
    monkeypatch.setattr("symattn.page.writers.rows.beside", lambda blocks, room: None)
    alone = plain(bare(mechanism))
    assert letters_of(alone) <= letters_of(
        together
    )  # a narrow line may break a fraction, and write its denominator twice
    assert len(pages(together)) <= len(pages(alone))


@pytest.mark.covering(most=1)
@pytest.mark.parametrize("letters", ["W", "Ж"])
def test_words_beside_equations_stay_on_the_page_however_wide_their_letters_are(letters):
    """Of words only the mean width is known: whatever their letters are, nothing stands in the margin."""
    few = Entries(tuple(equal(f"x_{k}", n(k)) for k in range(2)), 2)
    side_by_side = 0
    for many in range(4, 60, 9):
        words = Display((equal("y", Text(letters * many)),))
        document = replace(sheet(words, few), solutions="key")
        side_by_side += beside((words, few), Page(document.look).room) is not None
        assert complaints(document) == []
    assert side_by_side  # where there is room for it, it is used


def _question(number, *blocks):
    return [Heading(words("Step"), 1, label=words(f"{number}."), of="question"), *blocks]


@pytest.mark.parametrize(("digits", "count"), [(5, 1), (5, 2), (5, 7), (20, 3), (60, 4)])
def test_questions_of_a_key_stand_in_rows_that_have_room_for_them(digits, count, monkeypatch):
    line = Display((equal("x", Number("1" * digits)),))
    blocks = [block for k in range(count) for block in _question(k + 1, line)]
    monkeypatch.setattr(
        "symattn.page.writers.rows.height_of", lambda _, page: 2 if page.line > digits / 2 + 2 else math.inf
    )
    placed = worked_in_rows(blocks, Page(dense=True))
    rows = [row for row in placed if isinstance(row, WorkedRow)]
    assert [block for row in placed for block in _blocks_of(row)] == blocks
    assert all(sum(row.widths) + 6 * (len(row.widths) - 1) <= PAGE_WIDTH + 0.01 for row in rows)
    # Three to a line of 44 em have 13.4 em each, 5 digits and what is beside them 4.5; 60 have no room for a second.
    assert max((len(row.widths) for row in rows), default=1) == min(count, {5: 3, 20: 3, 60: 1}[digits])


def _blocks_of(placed):
    assert not isinstance(placed, Labelled | InRow)
    return list(chain.from_iterable(placed.questions)) if isinstance(placed, WorkedRow) else [placed]


def test_a_question_with_a_table_stands_alone(monkeypatch):
    table = Table((words("a"),), ((words("b"),),))
    blocks = [*_question(1, Display((equal("x", 1),))), *_question(2, paragraph("Of these:"), table)]
    monkeypatch.setattr("symattn.page.writers.rows.height_of", lambda _, page: 2)
    assert worked_in_rows(blocks, Page(dense=True)) == blocks


@pytest.mark.parametrize(("columns", "digits", "size"), [(3, 4, 11), (4, 64, 11), (12, 4, 11), (3, 4, 18)])
def test_options_stand_beside_a_picture_where_there_is_room(columns, digits, size):
    """Of 174 mm, 12 cells of 10 mm leave too little, and 3 of them less than 64 digits need; so does large print."""
    picture = HeatMap(((0,) * columns,) * 3, "A picture.", row_labels=(n("q"),) * 3)
    options = Choices(((Math(n("1" * digits)),), words("None of them.")))
    document = sheet(picture, options, look=Look(text_size=size))
    beside = columns < 12 and size == 11 and digits < 64
    assert typst.write(document).count("#pictured(") == beside
    (page,) = pages(plain(document))
    assert "1" * digits in words_on(page).replace(" ", "")
    assert "None of them." in words_on(page)
    across = [x for x, _, _ in ink(page)]
    assert LEFT - 1 < min(across) < max(across) < RIGHT + 1


def test_options_in_one_line_of_a_key_are_as_large_as_other_formulas():
    given = Paragraph((Math(Number("5" * 6)),))
    options = Choices(tuple((Math(Number(digits)),) for digits in ("1" * 6, "2" * 6, "3" * 6, "4" * 24)))
    key = replace(sheet(given, options), solutions="key")
    assert "#choices((auto, auto, auto, auto,)" in typst.write(key)
    (page,) = pages(write_pdf(key))
    sizes = Counter(round(size, 2) for _, _, size in ink(page))
    assert sizes[round(11 * Page().formula_size, 2)] == 4 * 6 + 24


# --- the foot of the page ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("paper", "closer", "length"), [("a4", False, 0), ("letter", False, 70), ("a4", True, 140)])
def test_the_last_line_of_a_footer_is_10_mm_above_the_edge(paper, closer, length):
    document = replace(_of_headings(3), sheet="7746-97FH", recipe="symattn " + "gy " * (length // 3))
    document = replace(document, look=Look(paper=paper))
    (page,) = pages(COMPILER.compile(typst.written(document, closer=closer)[0].encode()))
    baseline = min(y for _, y, size in ink(page) if size)
    assert baseline - 0.25 * 9.5 * 25.4 / 72 > 9.99  # what hangs below it is a quarter of its size
    assert len(document.recipe) < 10 or "gy gy" in words_on(page)


# --- equations in columns -----------------------------------------------------------------------------------


def test_a_result_stands_beside_equations_where_that_is_lower():
    short, result = tuple(equal(indexed("h", k), k) for k in (1, 2)), Display((equal("H", MatrixOf(((n(1), n(2)),))),))
    assert typst.write(sheet(Entries(short, 6), result)).count("#beside(fits: true)[") == 1
    long = tuple(equal(indexed("h", k), Number("1" * 70)) for k in (1, 2))
    assert typst.write(sheet(Entries(long, 6), result)).count("#beside") == 0


# --- long fractions -----------------------------------------------------------------------------------------


def worth(formula):
    """What a reader adds up: names, and where a line goes on, are nothing."""
    if isinstance(formula, Relation | Row):
        return sum(map(worth, formula.parts if isinstance(formula, Relation) else formula.items))
    return value(formula, lambda part: 0 if isinstance(part, Name | Text) else None)


@pytest.mark.parametrize("limit", [12, 20, 40])
@pytest.mark.parametrize("product", [False, True])
def test_what_is_too_wide_becomes_a_sum_with_its_value(product, limit):
    """A fraction, or a fraction times brackets."""
    for count in range(2, 9):
        terms = [Negative(Number(str(3**k))) if k % 3 == 1 else Number(str(7**k)) for k in range(6, 6 + count)]
        whole = Product((over(1, 4), plus(*terms)), "·") if product else over(plus(*terms), 4)
        lines = fold(Relation((Name("v"), whole), ("=",)), limit)
        assert all(width(line) <= limit for line in lines) or (product and limit == 12)
        assert sum(map(worth, lines)) == worth(whole)


# --- the last page ------------------------------------------------------------------------------------------


def _of_headings(count):
    """Headings and equations, as keys have them."""
    line = Display((equal("x", 1),))
    blocks = [block for k in range(count) for block in (Heading(words(f"Step {k}"), 1), line)]
    return replace(sheet(*blocks), solutions="key")


@pytest.mark.slow
def test_a_last_page_with_little_on_it_is_pulled_in():
    one_page = next(k for k in range(60, 5, -1) if len(pages(plain(_of_headings(k)))) == 1)
    document = _of_headings(one_page + 1)
    pulled = write_pdf(document)
    assert len(pages(pulled)) == 1 < len(pages(plain(document)))
    assert words_of(pulled) == words_of(plain(document))
    assert write_pdf(document) == pulled
    long = _of_headings(2 * one_page - 2)  # nothing is won where the last page is full
    assert write_pdf(long) == plain(long)


def plain(document):
    return COMPILER.compile(typst.write(document).encode())


@pytest.mark.parametrize("questions", [0, 2])
def test_as_many_of_the_last_questions_as_are_asked_for_stand_on_one_page(questions):
    """Of headings with an equation, and twelve lines below the last one, which the page before has no room for."""
    lines = tuple(paragraph(f"line {k}") for k in range(12))
    made = (replace(document := _of_headings(count), blocks=(*document.blocks, *lines)) for count in range(10, 60))
    document = next(document for document in made if len(pages(plain(document))) == 2)
    source, _ = typst.written(document, ends=True)
    whole = typst.with_whole_end(source, questions)
    _, last = map(words_on, pages(COMPILER.compile(whole.encode())))
    assert last.count("Step") == questions
    assert "line 11" in last


@pytest.mark.parametrize("below", ["", "\n#scale(93%, reflow: true)[A last line, a little smaller.]"])
@pytest.mark.parametrize("count", [30, 45, 70])
def test_what_the_bytes_of_a_pdf_say_of_its_pages_is_so(count, below):
    pdf, page = COMPILER.compile((typst.write(_of_headings(count)) + below).encode()), Page(Look())
    found, laid_out = pages(pdf), LaidOut(pdf)
    lowest = [min(y for _, y, size in ink(one) if size and y > page.bottom) for one in found]
    used = sum(page.paper_height - page.top - y for y in lowest)
    assert len(laid_out) == len(found)
    assert laid_out.last_headings == words_on(found[-1]).count("Step")
    assert laid_out.lacking(page) == pytest.approx(1 - (len(found) - 1) * page.text_height / used, abs=0.001)


def test_questions_that_stand_whole_on_the_last_page_are_not_laid_out_again(monkeypatch):
    *blocks, heading, line = (document := _of_headings(20)).blocks
    key = replace(document, blocks=(*blocks, PageBreak(), heading, line))
    sources = []
    compiled = COMPILER.compile
    monkeypatch.setattr(COMPILER, "compile", lambda source, **how: sources.append(source) or compiled(source, **how))
    assert LaidOut(write_pdf(key)).ends_within(0.42)
    assert not any(b"#let whole-questions = 1" in source for source in sources)


def test_a_pdf_whose_pages_cannot_be_told_is_taken_as_it_is(monkeypatch):
    monkeypatch.setattr(COMPILER, "compile", lambda source, system_fonts: b"%PDF-1.7")
    assert write_pdf(sheet()) == b"%PDF-1.7"


# --- programs -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["typst", "html", "latex", "text", "markdown"])
def test_programs_part_nothing(form):
    marks, line = Paragraph(words("Marks"), "M1 A1"), Display((equal("x", 1),))
    without, program = (Heading(words("Step"), 1), line, marks), Program("x = 1")
    among = tuple(chain.from_iterable((block, program) for block in without))
    assert FORMATS[form].write(sheet(*among)) == FORMATS[form].write(sheet(*without))


def test_pages_are_told_with_white_space_as_the_typst_of_browsers_writes_it():
    data = write_pdf(sheet_of("multi_head_attention").document())
    spaced = re.sub(rb"(?<=<<)/Type/Page(?=[\s/])", b"\n  /Type /Page", data).replace(b" 0 R/XYZ", b" 0 R /XYZ")
    assert spaced != data
    assert len(LaidOut(spaced)) == len(list(pages(data))) > 1
    assert LaidOut(spaced).last_headings == LaidOut(data).last_headings > 0
    assert LaidOut(spaced).ends_within(0.9) == LaidOut(data).ends_within(0.9)
