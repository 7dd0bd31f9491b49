"""Exam papers that between them hold every place to write, to tick and to shade."""

from dataclasses import replace

from writer_samples import (
    ALL,
    DOCUMENTS,
    HOSTILE,
    HOSTILES,
    ROOT_D,
    WEIGHT,
    WIDE,
    W,
    X,
    equal,
    exp,
    indexed,
    matrix,
    n,
    over,
    paragraph,
    plus,
    sheet,
    times,
    words,
)

from symattn.formula.nodes import NOTHING, Row, Shape, Transposed
from symattn.page.document import (
    AnswerGrid,
    Box,
    Choices,
    Display,
    Document,
    Entries,
    FillIn,
    FillIns,
    Heading,
    HeatMap,
    ItemList,
    Look,
    Math,
    PageBreak,
    Paragraph,
    Table,
    Together,
    Words,
    WorkingSpace,
)

QUERIES = tuple(indexed("q", i) for i in (1, 2, 3))
KEYS = tuple(indexed("k", i) for i in (1, 2, 3))
HALF, E_FORM = over(1, 2), over(exp(1), plus(exp(1), 2))
MAP = HeatMap(
    ((0, 1, 2), (3, 4, 0), (1, 2, 4)),
    "The weights of three tokens: the first looks mostly at the third, the second at the second.",
    QUERIES,
    KEYS,
)
LONG = "the weighted sum of all value rows, each of them taken with the weight that its key has earned, and no other"


def option(*rows):
    return (Math(matrix(*rows)),)


QUESTIONS = (
    FillIns((
        FillIn(words("Name:"), 70, value="Ada Lovelace"),
        FillIn(words("Seat:"), 18),
        FillIn(words("Student number:"), boxes=8, value="40213"),
        FillIn(words("Signature:"), 60),
    )),
    Box("Conventions", (ItemList((words("Tokens are rows."), (Words("Scores are divided by "), Math(ROOT_D)))),)),
    Heading(words("Question 1"), marks="[20]"),
    Together((
        Paragraph((Words("The input and the weights are given. "), Math(equal("Q", times("X", "W"))))),
        Display((Row((equal("X", X), equal("W", W))),)),
    )),
    Together((
        Heading((Words("Queries "), Math(n("Q"))), 2, "[6]", words("(a)"), "part"),
        Paragraph(words("Work out every entry of Q. Show the products of the first row as you multiply."), "[4]"),
        WorkingSpace(24, ruled=True),
        AnswerGrid(n("Q"), 3, 4, filled=(((0, 0), n(3)), ((1, 2), n(-2)), ((2, 3), HALF))),
    )),
    Together((
        Paragraph((Words("Fill in the scores, scaled by "), Math(ROOT_D), Words(".")), "M1 A2"),
        AnswerGrid(n("S"), 3, 3, "decimal", row_labels=QUERIES, column_labels=KEYS),
    )),
    Together((
        Paragraph(words("Shade every cell that the causal mask leaves out."), "[3]"),
        AnswerGrid(n("M"), 3, 3, shade=True, row_labels=QUERIES, column_labels=KEYS),
        AnswerGrid(NOTHING, 2, 4, shade=True, filled=(((0, 0), n("x")),)),
    )),
    Together((
        Paragraph(words("The weights of the first row, as fractions of powers of e."), "[3]"),
        AnswerGrid(n("A"), 1, 3, "exponential", filled=(((0, 1), E_FORM),), column_labels=KEYS),
        AnswerGrid(n("A"), 2, 3, "fraction"),
    )),
    PageBreak(),
    Heading(words("Question 2 about what a picture shows, with words enough for a second line"), marks="[12]"),
    Paragraph(words("Which of these is the matrix of scores? Tick one box."), "[1]"),
    Choices((option([1, 2], [3, 4]), option([1, 3], [2, 4]), option([2, 1], [4, -3]), option([-1, 0], [0, 12]))),
    Paragraph(words("What does the output of a token hold? Tick all that apply. " * 2), "[2]"),
    Choices((words(LONG), words("the largest value"), (Words("a row of "), Math(n("V")))), several=True,
            ticked=frozenset({0, 2})),
    Paragraph(words("The smallest weight of the row is"), "[1]"),
    Choices(tuple((Math(over(1, k)),) for k in range(2, 8)), ticked=frozenset({4})),
    Choices((option([WEIGHT, 1, 2], [0, 3, HALF]), option([1, 2, 3], [0, WEIGHT, 1]))),
    Together((paragraph("Read the picture."), MAP)),
    Together((
        replace(MAP, levels=((0, 1, 2, 3, 4),) * 2, row_labels=(), column_labels=tuple(map(n, "abcde")),
                words=(("the", "cat", "sat", "on", "mats"), ("0.05", "", "0.40", "0.60", "0.95"))),
        paragraph("Words stand in the cells."),
    )),
    FillIns((
        FillIn(words("The token is"), 40),
        FillIn((Math(equal(indexed("s", 1, 2), NOTHING)),), 30, after=words("units")),
        FillIn(words("How many multiplications are there in the product of Q with the transpose of K?"), 30),
    )),
    Table((words("question"), words("marks"), words("got")), ((words("1"), words("20"), words("")),), row_heads=True),
    WorkingSpace(40),
    Entries(tuple(equal(indexed("q", i, j), plus(*(times(i, k, sign="·") for k in range(-2, 4))), 2 * i)
                  for i in (1, 2) for j in (1, 2, 3)), 3),
    Display((equal("S", times("Q", Transposed(n("K"))), times(X, W),
                   matrix([3, 1, 2, 4], [0, 1, 2, 3], [9, 8, 7, 6])),),
            words("Scores:")),
    Display((equal("z", plus(*([times(WEIGHT, 2)] * 6)), plus(1, -2, 3)),)),
    Paragraph((Words("So the weights are "), Math(equal("A", matrix([WEIGHT, 1], [0, WEIGHT]))),
               Words(" and nothing else, as was to be shown in "), Math(Shape(n(2), n(2))), Words(".")), "[2]"),
    paragraph("END"),
)  # fmt: skip

EXAM = Document(
    "Self-attention by hand", QUESTIONS, "Practice examination, version B", ("Name", "Student ID"), "TR20-2NEW"
)

OUTSIDE = tuple(
    block
    for text in HOSTILE
    for block in (
        Heading(words("Question"), 1, text[:40]),
        Heading(words(text[:200]), 2, "[2]"),
        Paragraph(words(text), text),
        FillIns((
            FillIn(words(text), 40, value=text, after=words(text)),
            FillIn(words("Name:"), 40, value=text),
            FillIn(words("ID:"), boxes=12, value=text[:12]),
            FillIn(words("ID:"), boxes=3, value=text),
        )),
        Choices((words(text), words("other"), (Math(n(text or "x")),))),
    )
)  # fmt: skip

PICTURES = sheet(
    HeatMap((tuple(i % 5 for i in range(len(HOSTILE))),), HOSTILE[2], words=(HOSTILE,)),
    *(HeatMap(((1, 4),), text, words=((text[:20], ""),)) for text in HOSTILE),
    HeatMap(tuple(tuple((i + j) % 5 for j in range(24)) for i in range(12)), "wide and high"),
    HeatMap(((4,),), ""),
    AnswerGrid(n("A"), 12, 14, "exponential", row_labels=(n("x"),) * 12, column_labels=(indexed("k", 1),) * 14,
               filled=(((0, 0), WEIGHT), ((11, 13), equal("a", plus(*range(30)))))),
    AnswerGrid(n("A"), 9, 9, shade=True),
    FillIns(()), FillIns((FillIn((), 400), FillIn((), boxes=60), FillIn((), boxes=4))), Choices(()),
    Choices(((), words("x")), ticked=frozenset({1, 7})), Choices(tuple(map(words, "x" * 30))),
    Choices((option([10**9 + i for i in range(12)]), option([1]))),
    WorkingSpace(1, ruled=True), WorkingSpace(900, ruled=True), WorkingSpace(900),
)  # fmt: skip

EXAMS = {
    "exam": EXAM,
    "exam with a recipe": replace(EXAM, recipe="symattn exam --seed 7 --variants 30 --students class-list.csv"),
    "outside": Document(HOSTILE[5], OUTSIDE, sheet="3f9a"),
    "pictures": PICTURES,
}
LARGE = {
    f"{name} at {size} pt": replace(document, look=Look(text_size=size))
    for size in (18, 24)
    for name, document in {**EXAMS, "all": ALL, "wide": WIDE, "hostile": HOSTILES}.items()
    if (name, size) != ("hostile", 24)  # a heading of 600 characters is higher than a page
}
EVERYTHING = {**DOCUMENTS, **EXAMS, **LARGE}
