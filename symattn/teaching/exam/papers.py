"""The pages of an exam: the paper that a student gets, its key, and the overview of all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from symattn.derivation.derivation import Operand, Step
from symattn.derivation.ops import Softmax
from symattn.exact import decimal_text, exponential
from symattn.formula import Bracketed, Formula, Name, Power, Relation, Sum, Transposed, decimal, number
from symattn.foundation.identity import digest
from symattn.foundation.languages import Message, counted, message
from symattn.foundation.version import VERSION
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
    Math,
    PageBreak,
    Paragraph,
    Quoted,
    Solved,
    Strong,
    Table,
    Together,
    Words,
    WorkingSpace,
    sentence,
)
from symattn.page.presentation import TEXT_SIZES
from symattn.teaching.exam.spec import ExamSpec
from symattn.teaching.explanation import Layout, conventions_box
from symattn.teaching.explanation.documents import lowered
from symattn.teaching.explanation.flow import flow_sheet
from symattn.teaching.explanation.layouts import QUESTION, in_schemes, joined, question_apart
from symattn.teaching.explanation.overview import last_answer, weights_overview
from symattn.teaching.explanation.page import rows_of
from symattn.teaching.explanation.parts import wording_of
from symattn.teaching.explanation.program import Programs, programs_of
from symattn.teaching.explanation.solutions import explained, space_apart
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.pool import shared
from symattn.teaching.problem import Problem
from symattn.teaching.problems import problem_type
from symattn.teaching.question import Part, Question, StepAnswer, marks_text, total

WORKING_PAGE = 225  # millimetres
EXPONENTS = range(-4, 5)


@dataclass(frozen=True, slots=True)
class Copy:
    """One printed paper: its number among the papers (from 0), its short name, and whose it is, if anybody's."""

    paper: int
    sheet: str
    name: str = ""
    id: str = ""
    seat: str = ""
    text_size: int = 0  # that of the exam, where it is 0


def letter(position: int) -> str:
    """(a), (b), … (z), (aa) …: how the parts of a question are named."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    return letters[position] if position < 26 else letter(position // 26 - 1) + letters[position % 26]


# ------------------------------------------------------------------------------------------------ the paper


def paper(spec: ExamSpec, copy: Copy, questions: Sequence[Question]) -> Document:
    """The whole paper: cover, questions, data sheet, pages for rough work."""
    blocks: list[Block] = list(_cover(spec, copy, questions))
    look = replace(spec.look, text_size=copy.text_size or spec.look.text_size)
    for position, (question, code) in enumerate(zip(questions, programs_of(questions), strict=True)):
        if spec.new_page or position == 0:
            blocks.append(PageBreak())
        blocks += joined(_asked(question, position + 1, spec.layout, code))
    blocks.append(Paragraph((Strong("END OF QUESTIONS"),)))
    if spec.data_sheet and any(q.given for q in questions):
        blocks += [PageBreak(), Heading((Words("Data sheet (you may tear this page off)"),), 1)]
        for position, question in enumerate(questions):
            if question.given:
                blocks += [_heading(question, position + 1, ""), *map(lowered, question.given)]
    for _ in range(spec.blank_pages):
        blocks += [PageBreak(), Paragraph((Words("Page for rough work"),)), WorkingSpace(WORKING_PAGE)]
    return Document(Quoted(spec.title), tuple(blocks), sheet=copy.sheet, look=look)


def _for_teachers(spec: ExamSpec) -> Look:
    """The look of keys and overview: in ordinary print, whatever the size of the papers, and not to be filled in."""
    return replace(spec.look, text_size=TEXT_SIZES[0], fillable=False)


def _cover(spec: ExamSpec, copy: Copy, questions: Sequence[Question]) -> Iterator[Block]:
    if line := " · ".join(text for text in (spec.institution, spec.course, spec.date) if text):
        yield Paragraph((Words(Quoted(line)),))
    yield FillIns(
        (
            FillIn((Words("Name"),), 75, value=copy.name),
            FillIn((Words("Seat"),), 20, value=copy.seat),
            FillIn((Words("Student ID"),), 60, 0 if copy.id else spec.id_boxes, value=copy.id),
            FillIn((Words("Signature"),), 55),
        )
    )
    marks = sum(q.marks for q in questions)
    items: list[Inlines] = [(Words(Quoted(text)),) for text in spec.instructions]
    if spec.time:
        items.append(sentence("Time allowed: {time}.", time=Quoted(spec.time)))
    asked = counted("{n} question", "{n} questions", n=len(questions))
    items.append((Words(message("This paper has {questions} and {marks}.", questions=asked, marks=_marks(marks))),))
    if spec.aids:
        items.append(sentence("Aids allowed: {aids}.", aids=Quoted(spec.aids)))
    items.append((Words("Write in the boxes and show your working beside them; cross out what is not to be marked."),))
    items.append((Words("An answer that follows from a line of your own can earn marks even if that line is wrong."),))
    yield Box("Instructions", (ItemList(tuple(items)),))
    yield from conventions_box(questions, spec.conventions)
    yield Together((_mark_table(questions),))
    yield from _formulas(spec, questions)


def _mark_table(questions: Sequence[Question]) -> Table:
    numbers = tuple((Words(str(k)),) for k in range(1, len(questions) + 1))
    marks = tuple((Words(str(q.marks)),) for q in questions)
    whole = sum(q.marks for q in questions)
    empty = ((Words(""),),) * (len(questions) + 1)
    return Table(
        ((Words("Question"),), *numbers, (Words("Total"),)),
        (((Words("Marks"),), *marks, (Words(str(whole)),)), ((Words("Marked"),), *empty)),
        row_heads=True,
    )


def _heading(question: Question, number: int, marks: str) -> Heading:
    label = sentence("Question {number}.", number=number)
    return Heading((Words(question.title),), 1, marks, label, "question")


def _asked(question: Question, number: int, layout: Layout, code: Programs) -> Iterator[Block]:
    usual = _one_by_one(question, number, layout, code)
    if sheets := _flow(question, layout):
        heading = _heading(question, number, f"[{question.marks}]")
        yield Flow((heading, *sheets.ask, _end(question, number)), tuple(usual))
    else:
        yield from usual


def _end(question: Question, number: int) -> Paragraph:
    total_of = message("(Total for Question {number} is {marks})", number=number, marks=_marks(question.marks))
    return Paragraph((Words(total_of),))


def _flow(question: Question, layout: Layout) -> Solved | None:
    """The question as one picture, blank and filled in, if that is asked for and can be drawn."""
    if layout != "flow":
        return None
    marks = (f"[{total(part.marks)}]" if part.marks else "" for part in question.parts)
    headings = [_part(part, place, own) for place, (part, own) in enumerate(zip(question.parts, marks, strict=True))]
    return flow_sheet(question, headings, "none")


def _one_by_one(question: Question, number: int, layout: Layout, code: Programs) -> Iterator[Block]:
    first, *rest = [*question.introduction, *map(lowered, question.given)] or [Paragraph(())]
    yield Together((_heading(question, number, f"[{question.marks}]"), first))
    yield from (*rest, *code.opening)
    end = _end(question, number)
    for position, part in enumerate(_arranged(question, layout).parts):
        heading = _part(part, position, f"[{total(part.marks)}]" if part.marks else "")
        last = (end,) if position == len(question.parts) - 1 else ()
        program = code.asked[position]
        if layout == "columns" and (apart := question_apart(part)):
            asked, room = apart
            boxes, space = space_apart(room, _numbered(position))
            yield Columns(QUESTION, (((heading, *asked), (*boxes, *space, *program, *last)),))
        else:
            asked, space = space_apart(part.ask, _numbered(position))
            yield Together((heading, *asked, *(() if space else (*program, *last))))
            if space:
                yield from (Together((*space, *program, *last)),) if last else (*space, *program)


def _arranged(question: Question, layout: Layout) -> Question:
    return in_schemes(question) if layout == "falk" else question


def _part(part: Part, position: int, marks: str) -> Heading:
    return Heading(part.title, 2, marks, (Words(_numbered(position)),), "part")


def _numbered(position: int) -> str:
    """(a), (b), …"""
    return f"({letter(position)})"


def _marks(number: int) -> Message:
    return counted("{n} mark", "{n} marks", n=number)


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
            blocks.append(Paragraph((Words(_formulas_of(numbers)),)))
        blocks.append(Display(tuple(rows_of(list(lines)))))
    boxes = [Box("Formulas", tuple(blocks))] if blocks else []
    if spec.exponentials:
        boxes.append(Box("Powers of e", (_exponentials(),)))
    if boxes:
        yield Together(tuple(boxes))


def _formulas_of(numbers: list[int]) -> Message:
    """Question 1: Questions 1, 3:"""
    return message("Question {numbers}:", numbers=", ".join(map(str, numbers)))


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
    return [Relation((wording.name(last.name), written(last)), ("=",))]


def _exponentials() -> Table:
    """e^k to four places, correctly rounded."""
    header = tuple((Math(number(k)),) for k in EXPONENTS)
    values = tuple((Math(decimal(decimal_text(exponential(k), 4))),) for k in EXPONENTS)
    power = (Math(Power(Name("e"), Name("k"))),)
    return Table(((Math(Name("k")),), *header), ((power, *values),), row_heads=True)


# ------------------------------------------------------------------------------------------------ the key


ALSO_RIGHT = (
    "Any equal form: unsimplified fractions and powers of e, a common factor outside the matrix, percentages.",
    "Scaling the queries, or queries and keys, before their product instead of the scores.",
    "Subtracting the same number from every score of a row before the softmax.",
    "Masking after the softmax, if every row is divided by its sum again.",
    "The transposed layout throughout: columns for rows, and softmax along columns.",
    "Working row by row, and the output as (A X) times the weights of the values.",
)

TRIAGE = (
    ("columns sum to 1, rows do not", "X1"),
    ("all entries together sum to 1", "X2"),
    ("every row sums to the same number below 1", "C8"),
    ("rows sum to less than 1 where entries are masked", "M5"),
    ("entries above 1", "X6 or X13"),
    ("negative entries", "X5 or X13"),
    ("the largest score has the weight 0", "X8"),
    ("the smallest score has the largest weight", "X9"),
    ("only 0 and 1 where nothing is masked", "X10, or C4"),
    ("nearly uniform, ratios of at most e", "X7"),
    ("not 0 where masked", "M1, M2, M4 or M6"),
    ("0 on the diagonal", "M3 or X12"),
    ("rows sum to 0.9 or 1.1 in rounded figures", "rounding, no misconception"),
)


def key(spec: ExamSpec, sheet: str, questions: Sequence[Question]) -> Document:
    """Everything a marker needs for one paper."""
    blocks: list[Block] = [
        Paragraph(
            (
                Words(
                    "M: method, A: accuracy, B: independent of method. Answers may follow from the student's own lines."
                ),
            )
        ),
        *conventions_box(questions, spec.conventions),
    ]
    if derived := [q for q in questions if any(isinstance(p.answer, StepAnswer) for p in q.parts)]:
        blocks += [Box("Also right", (ItemList(tuple((Words(text),) for text in ALSO_RIGHT)),))]
        if any(isinstance(s.op, Softmax) for q in derived if q.problem for s in q.problem.steps):
            header = ((Words("What the written weights show"),), (Words("Look for"),))
            rows = tuple(((Words(seen),), (Words(ids),)) for seen, ids in TRIAGE)
            blocks.append(Table(header, rows))
    for position, (question, code) in enumerate(zip(questions, programs_of(questions), strict=True)):
        blocks.append(PageBreak())
        first, *rest = question.given or (Paragraph(()),)
        heading = _heading(question, position + 1, f"[{question.marks}]")
        opening: list[Block] = [Together((heading, lowered(first))), *map(lowered, rest), *code.opening]
        sheets = _flow(question, spec.layout)
        blocks += [Flow((heading, *sheets.worked), tuple(opening))] if sheets else opening
        for place, part in enumerate(_arranged(question, spec.layout).parts):
            start, *more = part.key
            blocks += [Together((_part(part, place, marks_text(part.marks)), start)), *more, *code.worked[place]]
            blocks += part.marking
            if told := explained(part.marks):
                blocks.append(Paragraph(told))
        if spec.common_answers:
            blocks += map(lowered, question.after)
        blocks.append(_about(question))
    return Document(Quoted(spec.title), tuple(blocks), subtitle="Answer key", sheet=sheet, look=_for_teachers(spec))


def _about(question: Question) -> Box:
    """What identifies the variant and how hard it is."""
    made = sentence("Type {type}, made with symattn {version}.", type=Quoted(question.type), version=VERSION)
    items: list[Inlines] = [made]
    if features := [sentence("{feature} {value}", feature=n, value=f"{x:g}") for n, x in question.features.items()]:
        items.append(sentence("Difficulty: {features}", features=_parted(features)))
    if places := [sentence("{position} {value}", position=n, value=Quoted(x)) for n, x in question.positions.items()]:
        items.append(sentence("Positions: {positions}", positions=_parted(places)))
    items.append(sentence("Content hash {hash}.", hash=Quoted(digest(question.frozen)[:16])))
    return Box("About this variant", (ItemList(tuple(items)),))


def _parted(items: Sequence[Inlines]) -> Inlines:
    """a; b; c."""
    said, *others = items
    for item in others:
        said = sentence("{items}; {item}", items=said, item=item)
    return said


# ------------------------------------------------------------------------------------------------ the overview


def overview(spec: ExamSpec, ids: Sequence[str], papers: Sequence[Sequence[Question]]) -> Document:
    """All papers on a page or two: how hard they are, where things lie, and the last answer of every question."""
    blocks: list[Block] = []
    for position in range(len(papers[0])):
        questions = [paper[position] for paper in papers]
        names = list(dict.fromkeys(name for q in questions for name in q.features))
        places = list(dict.fromkeys(name for q in questions for name in q.positions))
        answers = [
            ((Words(Quoted(name)),), *((Words(q.positions.get(p, "")),) for p in places), last_answer(q))
            for name, q in zip(ids, questions, strict=True)
        ]
        heading = _heading(questions[0], position + 1, f"[{questions[0].marks}]")
        blocks += [heading, _table(("Paper", *places, "Final answer"), answers)]
        if names:
            loads = [
                ((Words(Quoted(name)),), *((Words(f"{q.features.get(f, 0):g}"),) for f in names))
                for name, q in zip(ids, questions, strict=True)
            ]
            for word, extreme in (("least", min), ("most", max)):
                numbers = ((Words(f"{extreme(q.features.get(name, 0) for q in questions):g}"),) for name in names)
                loads.append(((Words(word),), *numbers))
            blocks.append(_table(("Paper", *names), loads))
        blocks += weights_overview(list(zip(ids, questions, strict=True)))
        if (alike := _overlap(questions)) is not None:
            said = message(
                "Two keys share at most {percentage} % of the entries that have to be worked out.",
                percentage=f"{100 * alike:.0f}",
            )
            blocks.append(Paragraph((Words(said),)))
    if len(papers[0]) > 1:
        totals = [sum(q.features.get("load", 0.0) for q in paper) for paper in papers]
        least, most = min(totals), max(totals)
        said = message("Load of a whole paper: {least} to {most}.", least=f"{least:.4g}", most=f"{most:.4g}")
        blocks.append(Paragraph((Words(said),)))
    subtitle = counted("Overview of {n} paper", "Overview of {n} papers", n=len(ids))
    return Document(Quoted(spec.title), tuple(blocks), subtitle=subtitle, look=_for_teachers(spec))


def _table(heads: Iterable[str], rows: Iterable[tuple[Inlines, ...]]) -> Table:
    return Table(tuple((Words(head),) for head in heads), tuple(rows), row_heads=True)


def _overlap(questions: Sequence[Question]) -> float | None:
    """The largest share of entries that two keys have in common; None if keys are not numbers."""
    key_of = problem_type(questions[0].type).key
    if key_of is None:
        return None
    return max((shared(a, b) for a, b in combinations([key_of(q.content) for q in questions], 2)), default=None)
