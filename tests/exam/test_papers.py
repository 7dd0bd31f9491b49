"""The pages of an exam: what is said to which question, and where."""

from dataclasses import replace

from symattn.exact import Matrix
from symattn.page.document import Box, Paragraph, Strong, Together, Words, spans
from symattn.page.writers.text import plain
from symattn.teaching.exam.papers import Copy, paper
from symattn.teaching.exam.spec import ExamSpec
from symattn.teaching.explanation import conventions_box
from symattn.teaching.question import Mark, MatrixAnswer, Part, Question

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


def test_the_total_and_the_end_stand_with_the_last_part():
    spec = ExamSpec("An exam")
    *_, last = (b for b in paper(spec, Copy(0, "AAAA-AAAA"), [QUESTION]).blocks if isinstance(b, Together))
    total, end = last.blocks[-2:]
    assert tuple(spans(total.content)) == (Words("(Total for Question 1 is 4 marks)"),)
    assert end == Paragraph((Strong("END OF QUESTIONS"),))
