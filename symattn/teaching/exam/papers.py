"""The pages of an exam: the paper that a student gets, its key, its answers alone, common wrong answers, the sheet that
stands before it in a pile, and the overview of all papers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Literal

from symattn.derivation.derivation import Operand, Orientation, Step
from symattn.derivation.misconceptions import misconception
from symattn.derivation.ops.attention import Softmax
from symattn.exact import Size, decimal_text, exponential
from symattn.formula import Bracketed, Formula, Name, Power, Product, Sum, Transposed, decimal, equal, number
from symattn.formula.width import wrapped
from symattn.foundation.languages import Message, counted, message
from symattn.page import markup
from symattn.page.document import (
    Block,
    Box,
    Columns,
    Display,
    Document,
    FillIn,
    FillIns,
    Flow,
    Heading,
    Inlines,
    ItemList,
    Look,
    PageBreak,
    Paragraph,
    Quoted,
    Sentence,
    Solved,
    Strong,
    Table,
    TextLike,
    Together,
    Total,
    Words,
    WorkingSpace,
    as_text,
    in_turn,
    listing,
    paragraph,
    sentence,
    settled,
    table,
)
from symattn.page.presentation import TEXT_SIZES
from symattn.page.writers.rows import on_new_pages
from symattn.teaching.exam.class_list import Student
from symattn.teaching.exam.frozen_exam import Copy
from symattn.teaching.exam.spec import ExamSpec
from symattn.teaching.explanation import Layout
from symattn.teaching.explanation.documents import (
    answers,
    conventions_box,
    last_answer,
    lowered,
    questions_of,
    weights_overview,
)
from symattn.teaching.explanation.flow import flow_sheet
from symattn.teaching.explanation.layouts import QUESTION, headed, in_schemes, joined, question_apart
from symattn.teaching.explanation.parts import explained, with_answer_space, wording_of
from symattn.teaching.explanation.program import Programs, programs_of
from symattn.teaching.explanation.wording import LINE, Wording, in_signs
from symattn.teaching.pool import Keys
from symattn.teaching.problem import Problem
from symattn.teaching.problems import problem_type
from symattn.teaching.question import (
    CellsAnswer,
    ChoiceAnswer,
    EntriesAnswer,
    FormulaAnswer,
    MatrixAnswer,
    OrderAnswer,
    Part,
    PropertyAnswer,
    Question,
    RubricAnswer,
    ShapeAnswer,
    StepAnswer,
    WordAnswer,
    marks_in_brackets,
    marks_in_words,
    marks_text,
    total,
)

WORKING_PAGE = 225  # millimetres
MARK_COLUMNS = 11  # of a table of marks
FEATURES_BESIDE = 6  # in one table, so that it need not be made smaller in any language
EXPONENTS = range(-4, 5)


DIAGNOSIS = message("Common wrong answers")


def letter(position: int) -> str:
    """(a), (b), … (z), (aa) …: how the parts of a question are named."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    return letters[position] if position < 26 else letter(position // 26 - 1) + letters[position % 26]


# ------------------------------------------------------------------------------------------------ the paper


def paper(spec: ExamSpec, copy: Copy, questions: Sequence[Question]) -> Document:
    """The whole paper: cover, questions, pages for rough work, data sheet."""
    blocks: list[Block] = list(_cover(spec, copy, questions))
    look = replace(spec.look, text_size=copy.text_size or spec.look.text_size)
    asked: list[list[Block]] = []
    for position, (question, code) in enumerate(zip(questions, programs_of(questions), strict=True)):
        closing = (Paragraph((Strong("END OF QUESTIONS"),)),) if position == len(questions) - 1 else ()
        asked.append(joined(_asked(question, position + 1, spec.layout, code, closing)))
    for begins, of_question in zip(_on_new_pages(spec.new_page, asked, look), asked, strict=True):
        blocks += [PageBreak(), *of_question] if begins else of_question
    for _ in range(spec.blank_pages):
        blocks += [PageBreak(), paragraph("Page for rough work"), WorkingSpace(WORKING_PAGE)]
    if spec.data_sheet and any(q.given for q in questions):
        blocks += [PageBreak(leaf=True), Heading(as_text("Data sheet (you may tear this page off)"), 1)]
        for position, question in enumerate(questions):
            if question.given:
                blocks += [_heading(question, position + 1, ""), *map(lowered, question.given)]
    return Document(Quoted(spec.title), tuple(blocks), sheet=copy.sheet, look=look)


def _on_new_pages(new_page: bool | Literal["auto"], asked: Sequence[Sequence[Block]], look: Look) -> list[bool]:
    """Which questions begin on a new page; the first always does, behind the cover."""
    if new_page == "auto":
        return on_new_pages([settled(Document("", tuple(blocks))).blocks for blocks in asked], look)
    return [new_page or position == 0 for position in range(len(asked))]


def _for_teachers(spec: ExamSpec) -> Look:
    """The look of keys and overview: in ordinary print, whatever the size of the papers, and not to be filled in."""
    return replace(spec.look, text_size=TEXT_SIZES[0], fillable=False)


def _cover(spec: ExamSpec, copy: Copy, questions: Sequence[Question]) -> Iterator[Block]:
    head = " · ".join(text for text in (spec.institution, spec.course, spec.date) if text)
    yield Paragraph((Strong(_named(copy.sheet)), *((Words(" · "), Words(Quoted(head))) if head else ())))
    yield FillIns(
        (
            FillIn(as_text("Name"), 75, value=copy.name, student="name"),
            FillIn(as_text("Seat"), 20, value=copy.seat, student="seat"),
            FillIn(as_text("Student ID"), 60, 0 if copy.id else spec.id_boxes, value=copy.id, student="id"),
            FillIn(as_text("Signature"), 55),
        )
    )
    marks = sum(q.marks for q in questions)
    items: list[Inlines] = [markup.inlines(text) for text in spec.instructions]
    if spec.time:
        items.append(sentence("Time allowed: {time}.", time=Quoted(spec.time)))
    asked = counted("{n} question", "{n} questions", n=len(questions))
    items.append(sentence("This paper has {questions} and {marks}.", questions=Words(asked), marks=_total(marks, 0)))
    if spec.aids:
        items.append(sentence("Materials allowed: {aids}.", aids=Quoted(spec.aids)))
    items.append(
        as_text("Write in the boxes and show your working beside them; cross out anything that you do not want marked.")
    )
    items.append(as_text("Work that follows correctly from an earlier mistake can still earn marks."))
    yield Box("Instructions", (ItemList(tuple(items)),))
    yield from conventions_box(questions, spec.conventions)
    yield Together(tuple(_mark_tables(questions)))
    yield from _formulas(spec, questions)


def _named(sheet: str) -> Message:
    """A paper by the id that stands on each of its pages."""
    return message("Paper {paper}", paper=Quoted(sheet))


def _mark_tables(questions: Sequence[Question]) -> Iterator[Table]:
    """What there is to earn, question by question, with boxes for what was awarded; the last one has the total."""
    columns = [(str(k), Total(question.marks, k)) for k, question in enumerate(questions, 1)]
    columns.append(("Total", Total(sum(question.marks for question in questions), 0)))
    for begin in range(0, len(columns), MARK_COLUMNS):
        part = columns[begin : begin + MARK_COLUMNS]
        heads, marks = zip(*part, strict=True)
        yield table(("Question", *heads), (("Marks", *marks), ("Awarded", *[""] * len(part))))


def _heading(question: Question, number: int, marks: str) -> Heading:
    label = sentence("Question {number}.", number=number)
    return Heading(question.heading or as_text(question.title), 1, marks, label, "question")


def _asked(
    question: Question, number: int, layout: Layout, code: Programs, closing: tuple[Block, ...]
) -> Iterator[Block]:
    """A question with its parts; what closes the paper stays with the last one."""
    usual = _one_by_one(question, number, layout, code, closing)
    if sheets := _flow(question, layout):
        heading = _heading(question, number, f"[{question.marks}]")
        yield Flow((heading, *sheets.ask, _end(question, number), *closing), tuple(usual))
    else:
        yield from usual


def _end(question: Question, number: int) -> Paragraph:
    marks = _total(question.marks, number)
    return Paragraph(sentence("(Total for Question {number} is {marks})", number=number, marks=marks))


def _total(marks: int, of: int) -> Inlines:
    """15 marks."""
    said = marks_in_words(marks)
    return (Sentence(said.template, (("{n}", as_text(Total(marks, of))),), said.plural, marks),)


def _flow(question: Question, layout: Layout) -> Solved | None:
    """The question as one picture, blank and filled in, if that is asked for and can be drawn."""
    if layout != "flow":
        return None
    headings = [_part(part.title, place, marks_in_brackets(part.marks)) for place, part in enumerate(question.parts)]
    return flow_sheet(question, headings, "none")


def _one_by_one(
    question: Question, number: int, layout: Layout, code: Programs, closing: tuple[Block, ...]
) -> Iterator[Block]:
    first, *rest = [*question.introduction, *map(lowered, question.given)] or [Paragraph(())]
    yield Together((_heading(question, number, f"[{question.marks}]"), first))
    yield from (*rest, *code.opening)
    end = _end(question, number)
    for position, part in enumerate(_arranged(question, layout).parts):
        marks = marks_in_brackets(part.marks)
        last = (end, *closing) if position == len(question.parts) - 1 else ()
        program = code.asked[position]
        if layout == "columns" and (apart := question_apart(part)):
            asked, room = apart
            heading = _part(part.title, position, marks)
            yield Columns(QUESTION, (((heading, *asked), (*with_answer_space(room), *program, *last)),))
            continue
        part = headed(part)
        headings, asked = _part_heading(question, part, position, marks), with_answer_space(part.ask)
        yield from (Together((*headings, *asked, *program, *last)),) if last else (*headings, Together(asked), *program)


def _arranged(question: Question, layout: Layout) -> Question:
    return in_schemes(question) if layout == "falk" else question


def _part_heading(question: Question, part: Part, position: int, marks: str) -> tuple[Heading, ...]:
    """The heading of a part, unless that of the question is its own."""
    return () if question.has_one_part else (_part(part.title, position, marks),)


def _part(title: Inlines, position: int, marks: str) -> Heading:
    return Heading(title, 2, marks, as_text(_numbered(position)), "part")


def _numbered(position: int) -> str:
    """(a), (b), …"""
    return f"({letter(position)})"


# ------------------------------------------------------------------------------------------------ formulas


def _formulas(spec: ExamSpec, questions: Sequence[Question]) -> Iterator[Block]:
    """The formula sheet, each question's formulas once, and the table of exponentials."""
    sheets: dict[tuple[Formula, ...], list[int]] = {}
    for position, question in enumerate(questions, 1):
        if question.problem is not None and (lines := _sheet(spec.formula_sheet, question.problem)):
            sheets.setdefault(lines, []).append(position)
    blocks: list[Block] = []
    for lines, numbers in sheets.items():
        if len(sheets) > 1:
            blocks.append(paragraph(questions_of(numbers)))
        blocks.append(Display(wrapped(lines, LINE)))
    boxes = [Box("Formulas", tuple(blocks))] if blocks else []
    if spec.exponentials:
        boxes.append(Box("Powers of e", (_exponentials(),)))
    if boxes:
        yield Together(tuple(boxes))


def _sheet(kind: str, problem: Problem) -> tuple[Formula, ...]:
    wording = wording_of(problem)
    if kind == "full":
        steps = (step for step in problem.steps if step.token in (None, 1))
        return tuple(dict.fromkeys(wording.equation(step) for step in steps))
    return tuple(_short(problem, wording)) if kind == "short" else ()


def _short(problem: Problem, wording: Wording) -> list[Formula]:
    """The output in one line, from Q, K and V: Z = softmax(Q Kᵀ/√d_k) V."""
    steps = {step.name: step for step in problem.steps}
    inner = {"S", "S'", "M", "A", "A_rounded"}

    def put(operand: Operand) -> Formula:
        step = steps.get(operand.name)
        if step is None or operand.name not in inner or operand.row is not None:
            return wording.operand(operand)
        formula = written(step)
        if operand.transposed:
            return Transposed(Bracketed(formula))
        return Bracketed(formula) if isinstance(formula, Sum) else formula

    def written(step: Step) -> Formula:
        return step.op.written(problem.notation.style, *map(put, step.operands))

    last = problem.steps[-1]
    if not any(isinstance(s.op, Softmax) and s.name == "A" for s in problem.steps) or last.name not in ("Z", "A"):
        return []
    return [equal(wording.name(last.name), written(last))]


def _exponentials() -> Table:
    """e^k to four places, correctly rounded."""
    values = (decimal(decimal_text(exponential(k), 4)) for k in EXPONENTS)
    return table((Name("k"), *map(number, EXPONENTS)), ((Power(Name("e"), Name("k")), *values),))


# ------------------------------------------------------------------------------------------------ the key


ALSO_RIGHT = (
    "Any equivalent form: unsimplified fractions and powers of e, a common factor outside the matrix, percentages.",
    "Scaling the queries, or queries and keys, before their product instead of the scores.",
    "Subtracting the same number from every score of a query before the softmax.",
    "Masking after the softmax, if the weights of every query are divided by their sum again.",
    "The transposed layout throughout: rows and columns exchanged, also for the softmax.",
    "Working token by token.",
)
"""Of tokens as rows and as columns."""

TRIAGE = (
    ("the weights of every key sum to 1, those of a query do not", ("X1",)),
    ("all entries together sum to 1", ("X2",)),
    ("the weights of every query sum to the same number below 1", ("C8",)),
    ("the weights of a query sum to less than 1 where some are masked", ("M5",)),
    ("entries above 1", ("X6", "X13")),
    ("negative entries", ("X5", "X13")),
    ("the largest score has the weight 0", ("X8",)),
    ("the smallest score has the largest weight", ("X9",)),
    ("only 0 and 1 where nothing is masked", ("X10", "C4")),
    ("nearly uniform, ratios of at most e", ("X7",)),
    ("not 0 where masked", ("M1", "M2", "M4", "M6")),
    ("0 on the diagonal", ("M3", "X12")),
    ("the weights of a query sum to 0.9 or 1.1 in rounded figures", ()),
)
"""What weights look like, and the misconceptions that make them so (none: they were rounded); queries may be rows or
columns."""


def key(spec: ExamSpec, sheet: str, questions: Sequence[Question]) -> Document:
    """One paper worked out, with the marks of every line."""
    said = "M: method, A: accuracy, B: independent of method. Answers may follow from the student's own lines."
    blocks: list[Block] = [paragraph(said), *conventions_box(questions, spec.conventions)]
    if any(isinstance(part.answer, StepAnswer) for question in questions for part in question.parts):
        blocks.append(Box("Also accepted", (ItemList(tuple(_also_right(questions))),)))
    for position, (question, code) in enumerate(zip(questions, programs_of(questions), strict=True)):
        given = question.given or (Paragraph(()),)
        begins = 2 if isinstance(given[0], Heading) else 1  # a heading does not stand alone at the foot of a page
        heading = _heading(question, position + 1, f"[{question.marks}]")
        first = Together((heading, *map(lowered, given[:begins])))
        opening: list[Block] = [first, *map(lowered, given[begins:]), *code.opening]
        sheets = _flow(question, spec.layout)
        blocks += [Flow((heading, *sheets.worked), tuple(opening))] if sheets else opening
        for place, part in enumerate(map(headed, _arranged(question, spec.layout).parts)):
            start, *more = part.key
            headings = _part_heading(question, part, place, marks_text(part.marks))
            blocks += [Together((*headings, start)), *more, *code.worked[place]]
            blocks += part.marking
            if told := explained(part.marks):
                blocks.append(Paragraph(told))
        blocks += map(lowered, question.after)
    return _for_marking(spec, of_paper("Answer key", sheet), tuple(blocks), sheet)


def _also_right(questions: Sequence[Question]) -> Iterator[Inlines]:
    """Ways that are marked in full; the output in another order by the names of each question."""
    yield from (as_text(text) for text in ALSO_RIGHT)
    outputs = (_mixed_first(question.problem) for question in questions if question.problem is not None)
    for product in dict.fromkeys(output for output in outputs if output is not None):
        yield sentence("The output as {product}.", product=product)


def _mixed_first(problem: Problem) -> Formula | None:
    """(A X) W_V, or W_V (X A) where tokens are columns; None if V is more than X times W_V, or heads share it."""
    d, wording = problem.derivation, wording_of(problem)
    values = next((step for step in d if step.name == "V"), None)
    if values is None or "A" not in d or {operand.name for operand in values.operands} != {"X", "W_V"}:
        return None
    pair = wording.name("A"), wording.name("X")
    if d.orientation == "rows":
        return Product((Bracketed(Product(pair)), wording.name("W_V")))
    return Product((wording.name("W_V"), Bracketed(Product(pair[::-1]))))


def of_paper(what: str, sheet: str) -> Message:
    """Answers, paper 3GBT-G8S0: what is printed below the title of an exam."""
    return message("{document}, paper {paper}", document=what, paper=Quoted(sheet))


def _for_marking(spec: ExamSpec, subtitle: Message | str, blocks: tuple[Block, ...], sheet: str = "") -> Document:
    """A page for those who mark: nothing is written into it, so that its lines are as close as a worksheet's key's."""
    look = _for_teachers(spec)
    return Document(Quoted(spec.title), blocks, subtitle=subtitle, sheet=sheet, solutions="key", look=look)


def answers_alone(spec: ExamSpec, sheet: str, questions: Sequence[Question]) -> Document:
    """The final answers and the marks of one paper, without any working."""
    blocks: list[Block] = []
    for position, question in enumerate(questions, 1):
        first, *rest = answers(question, _numbered)
        blocks += [Together((_heading(question, position, f"[{question.marks}]"), first)), *rest]
    if len(questions) > 1:
        whole = sum(question.marks for question in questions)
        blocks.append(Paragraph((Strong(message("Total: {marks}", marks=marks_in_words(whole))),)))
    return _for_marking(spec, "Answers", tuple(blocks), sheet)


def has_diagnosis(spec: ExamSpec, papers: Iterable[tuple[str, Sequence[Question]]]) -> bool:
    """Whether there are common wrong answers to tell of."""
    return spec.common_answers and any(_told(questions) for _, questions in papers)


def diagnosis(spec: ExamSpec, papers: Iterable[tuple[str, Sequence[Question]]]) -> Iterator[Document]:
    """What common misconceptions write: first in words, then in the numbers of every paper, by its id."""
    told = [(sheet, numbered) for sheet, questions in papers if (numbered := _told(questions))]
    if any(_has_weights(question) for _, numbered in told for _, question in numbered):
        orientations = {question.orientation for _, numbered in told for _, question in numbered}
        rows = ((seen, _looked_for(ids, sorted(orientations))) for seen, ids in TRIAGE)
        heads = message("What the written weights show"), "Look for"
        yield _for_marking(spec, DIAGNOSIS, (table(heads, rows, row_heads=False),))
    for sheet, numbered in told:
        blocks: list[Block] = []
        for position, question in numbered:
            first, *rest = map(lowered, question.diagnosis)
            blocks += [_heading(question, position, ""), first, *rest]
        yield _for_marking(spec, DIAGNOSIS, tuple(blocks), sheet)


def _looked_for(ids: Sequence[str], orientations: Sequence[Orientation]) -> Inlines:
    """X6 (not normalised) or X13 (softmax skipped): by code and by name, in every orientation that there is."""
    names_of_codes: list[Inlines] = []
    for id in ids:
        names = dict.fromkeys(misconception(id).called(orientation) for orientation in orientations)
        names_of_codes.append(
            sentence("{code} ({name})", code=id, name=listing([in_signs(name) for name in names], "or"))
        )
    return listing(names_of_codes, "or") if names_of_codes else as_text("rounding, no misconception")


def _told(questions: Sequence[Question]) -> list[tuple[int, Question]]:
    """The questions, from 1, that have common wrong answers."""
    return [(position, question) for position, question in enumerate(questions, 1) if question.diagnosis]


def _has_weights(question: Question) -> bool:
    return question.problem is not None and any(isinstance(step.op, Softmax) for step in question.problem.steps)


# ------------------------------------------------------------------------------------------------ separator sheets


def separator(spec: ExamSpec, copy: Copy, number: int, of: int) -> Document:
    """The sheet before a paper in a printed pile: which it is, whose, and where it is put down."""
    said = (("Paper", copy.sheet), ("Name", copy.name), ("Student ID", copy.id), ("Seat", copy.seat))
    first, *others = [(what, Quoted(value)) for what, value in said if value]
    pile = paragraph(message("Copy {number} of {count}", number=number, count=of))
    blocks = table(first, others, row_heads=bool(others)), pile
    look = replace(spec.look, text_size=TEXT_SIZES[-1], fillable=False)
    return Document(Quoted(spec.title), blocks, sheet=copy.sheet, look=look)


# ------------------------------------------------------------------------------------------------ the overview

HEADS = (
    message("load"), message("scores"), message("output"), message("hard"), message("additions"), message("negative"),
    message("two digits"), message("ties"), message("size"), message("blanks"), message("hidden"), message("true"),
    message("parameters"), message("impossible request"), message("effect"), message("limit"),
    message("largest weights"), message("wrong step"), message("matrix"), message("mask"), message("head"),
    message("reading"), message("picture"), message("key"), message("fault"), message("least"), message("most"),
)  # fmt: skip
"""What problem types call the features of a variant, and the places where answers lie, to be translated."""


def overview(
    spec: ExamSpec,
    ids: Sequence[str],
    papers: Sequence[Sequence[Question]],
    given_out: Sequence[int] = (),
    pages: Mapping[int, int] = MappingProxyType({}),
) -> Document:
    """All papers on a page or two: who has which, how long and how hard they are, where things lie, the last answers.

    `given_out` are the numbers of the papers, from 0, in the order of the class; `pages` how many pages papers have, by
    their numbers, where that is known.
    """
    blocks: list[Block] = [*_class(spec.students, ids, given_out), *_effort(ids, papers, pages)]
    for position in range(len(papers[0])):
        questions = [paper[position] for paper in papers]
        places = list(dict.fromkeys(name for q in questions for name in q.positions))
        answers: list[tuple[TextLike, ...]] = [
            (Quoted(name), *(q.positions.get(p, "") for p in places), last_answer(q))
            for name, q in zip(ids, questions, strict=True)
        ]
        heading = _heading(questions[0], position + 1, f"[{questions[0].marks}]")
        blocks += [heading, paragraph(_about_minutes(questions))]
        blocks.append(table(("Paper", *places, "Final answer"), answers))
        blocks += _measured(ids, questions)
        blocks += weights_overview(list(zip(ids, questions, strict=True)), PAPERS_WEIGHTS)
        if (alike := _overlap(questions)) is not None:
            said = message(
                "Two keys share at most {percentage}% of the entries that have to be worked out.",
                percentage=f"{100 * alike:.0f}",
            )
            blocks.append(paragraph(said))
    subtitle = counted("Overview of {n} paper", "Overview of {n} papers", n=len(ids))
    return _for_marking(spec, subtitle, tuple(blocks))


def _effort(ids: Sequence[str], papers: Sequence[Sequence[Question]], pages: Mapping[int, int]) -> Iterator[Block]:
    """What every paper takes: pages, if their number is known, minutes and load."""
    rows = []
    for k, (name, questions) in enumerate(zip(ids, papers, strict=True)):
        load = sum(question.features.get("load", 0.0) for question in questions)
        takes = [*([str(pages.get(k, ""))] if pages else []), f"{sum(map(minutes, questions)):.0f}", f"{load:.4g}"]
        rows.append((Quoted(name), *takes))
    yield table(("Paper", *(["Pages"] if pages else []), "Minutes", "Load"), rows)
    yield Paragraph(in_turn([as_text(MINUTES), as_text(LOAD)]))


def _about_minutes(questions: Sequence[Question]) -> Message:
    """How long the variants of a question take."""
    return about_minutes(*(round(limit(map(minutes, questions))) for limit in (min, max)))


def _measured(ids: Sequence[str], questions: Sequence[Question]) -> Iterator[Table]:
    """How hard the variants of a question are, by all that they differ in, with the least and the most of it."""
    names = dict.fromkeys(name for question in questions for name in question.features)
    values = {name: [question.features.get(name, 0.0) for question in questions] for name in names}
    differing = [name for name in names if len(set(values[name])) > 1]
    for begin in range(0, len(differing), FEATURES_BESIDE):
        shown = differing[begin : begin + FEATURES_BESIDE]
        columns = [values[name] for name in shown]
        rows = [(Quoted(name), *_numbers(column[k] for column in columns)) for k, name in enumerate(ids)]
        rows += [("least", *_numbers(map(min, columns))), ("most", *_numbers(map(max, columns)))]
        yield table(("Paper", *shown), rows)


def _numbers(values: Iterable[float]) -> Iterator[str]:
    return (f"{x:g}" for x in values)


PAPERS_WEIGHTS: Mapping[str, Message] = {
    "rows": message(
        "The weights of every paper: a row is a query, a column a key; white is 0 and black more than 0.7."
    ),
    "columns": message(
        "The weights of every paper: a column is a query, a row a key; white is 0 and black more than 0.7."
    ),
}


def _class(students: Sequence[Student], ids: Sequence[str], given_out: Sequence[int]) -> Iterator[Table]:
    """The papers with the students who have them, and how many these are."""
    if not students:
        return
    rows = []
    for position, name in enumerate(ids):
        whose = [student for student, paper in zip(students, given_out, strict=True) if paper == position]
        names = listing([_student(student) for student in whose], "") if whose else as_text("not handed out")
        rows.append((Quoted(name), len(whose), names))
    yield table(("Paper", "Copies", "Students"), rows)


def _student(student: Student) -> Inlines:
    if not student.name:
        return as_text(Quoted(student.id))
    return sentence("{name} ({id})", name=Quoted(student.name), id=Quoted(student.id))


def _overlap(questions: Sequence[Question]) -> float | None:
    """The largest share of entries that two keys have in common; None if keys are not numbers."""
    key_of = problem_type(questions[0].type).key
    if key_of is None:
        return None
    keys, overlaps = Keys(), list[float]()
    for question in questions:
        overlaps.append(keys.likeness(key := key_of(question.content)))
        keys.add(key)
    return max(overlaps[1:], default=None)


# -------------------------------------------------------------------------------- how long a question takes
# An estimate for the teacher, made from its load and from what is to be written.  The seconds of an answer are the
# rules of thumb by which tests are planned (rules.md 4.6); nothing is fitted to timings.

READING = 60
UNIT_OF_LOAD = 5
ENTRY = 5
CHOICE = 60
MOST_FOR_A_CHOICE = 90
FILL_IN = 40
SHORT_ANSWER = 120
MARK = 60
"""Seconds: for reading a question, a unit of load, a number that is written, options and at most their arithmetic, a
shape or a word that is filled in, a formula or a point of an explanation, and a mark of anything else."""

LOAD = message(
    "Load measures the arithmetic: 1 stands for a product with 1 or −1, 1.5 for an addition, 2.5 for a product of two "
    "larger numbers."
)
MINUTES = message(
    "Minutes are a rough estimate for a student who is prepared: five seconds for a unit of load and for a number "
    "that is written, one minute for a choice, two for a formula or for a point of an explanation."
)


def minutes(question: Question) -> float:
    """About how many minutes a student who is prepared takes for a question."""
    written = sum(_seconds(part, question.problem) for part in question.parts)
    return (READING + _arithmetic(question) + written) / 60


def _arithmetic(question: Question) -> float:
    """For the load, which is that of a whole derivation: of blanks in it their share, of options a row each."""
    whole = UNIT_OF_LOAD * question.features.get("load", 0.0)
    answers = [part.answer for part in question.parts]
    if all(isinstance(answer, ChoiceAnswer) for answer in answers):
        return min(whole, MOST_FOR_A_CHOICE * len(answers))
    blanks = [len(answer.cells) for answer in answers if isinstance(answer, EntriesAnswer)]
    if blanks and question.problem is not None:
        entries = sum(_entries(step.result.shape) for step in question.problem.steps)
        return whole * sum(blanks) / max(sum(blanks), entries)
    return whole


def _entries(shape: tuple[Size, Size]) -> int:
    """How many numbers there are to write; None if a size is a letter."""
    rows, columns = shape
    return rows * columns if isinstance(rows, int) and isinstance(columns, int) else 0


def about_minutes(least: int, most: int) -> Message:
    """About 20 minutes.  About 20 to 25 minutes."""
    if least < most:
        return message("About {least} to {most} minutes.", least=least, most=most)
    return counted("About {n} minute.", "About {n} minutes.", n=most)


def _seconds(part: Part, problem: Problem | None) -> float:
    """For deciding on the answer of a part and writing it down, without the arithmetic that makes up the load."""
    match part.answer:
        case StepAnswer(step) if problem is not None:
            return ENTRY * _entries(problem[step].result.shape) or FILL_IN
        case EntriesAnswer(_, cells):
            return ENTRY * len(cells)
        case MatrixAnswer(value):
            return ENTRY * value.shape[0] * value.shape[1]
        case PropertyAnswer(model=model):
            return SHORT_ANSWER + ENTRY * sum(matrix.shape[0] * matrix.shape[1] for matrix in model.values())
        case ChoiceAnswer():
            return CHOICE
        case ShapeAnswer() | WordAnswer() | CellsAnswer():
            return FILL_IN
        case OrderAnswer(groups):
            return FILL_IN * sum(map(len, groups))
        case FormulaAnswer():
            return SHORT_ANSWER
        case RubricAnswer(points) if points:
            return SHORT_ANSWER * len(points)
    return MARK * total(part.marks)
