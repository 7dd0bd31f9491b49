"""Whole documents of one problem: a derivation to read, a worksheet to fill in, and its answer key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from symattn.errors import InputError, offered
from symattn.foundation.languages import Message, listed, message
from symattn.page.document import (
    Block,
    Box,
    Columns,
    Document,
    Flow,
    Heading,
    Inlines,
    ItemList,
    PageBreak,
    Paragraph,
    Solutions,
    Solved,
    Strong,
    Words,
    in_turn,
    sentence,
    settled,
    with_blocks_inside,
)
from symattn.teaching.explanation.answers import answers
from symattn.teaching.explanation.bare import bare_conventions
from symattn.teaching.explanation.diagrams_kinds import default_diagram
from symattn.teaching.explanation.flow import flow_sheet, sheet_of_derivation
from symattn.teaching.explanation.layouts import (
    LAYOUTS,
    QUESTION,
    Layout,
    headed,
    in_schemes,
    joined,
    question_apart,
    with_rule_apart,
)
from symattn.teaching.explanation.page import page
from symattn.teaching.explanation.parts import introduction, wording_of
from symattn.teaching.explanation.program import Programs, programs, whole_program, with_programs
from symattn.teaching.explanation.solutions import PartialSolution
from symattn.teaching.explanation.steps import Detail
from symattn.teaching.problem import Problem
from symattn.teaching.question import Part, Question, marks_in_brackets

Conventions = Literal["full", "bare", "none"]
CONVENTIONS: tuple[Conventions, ...] = ("full", "bare", "none")


def derivation_document(problem: Problem, detail: Detail | None = None, layout: Layout = "matrix") -> Document:
    """The derivation worked out, in its notation, with the errata of a note listed."""
    known_choice("layout", layout, LAYOUTS)
    blocks = [*introduction(problem), *default_diagram(problem)]
    worked = page(problem, detail or Detail(places=problem.notation.decimals), layout)
    if layout == "flow" and (picture := sheet_of_derivation(problem)):
        blocks.append(Flow(picture, ()))
    blocks += worked
    blocks += whole_program(problem)
    return Document(problem.title, tuple(blocks))


def question_document(
    question: Question,
    sheet: str = "",
    recipe: str = "",
    solutions: Solutions = "blank",
    layout: Layout = "matrix",
    conventions: Conventions = "full",
) -> Document:
    """A question on paper: to be filled in, partly worked, worked out, or with everything that a marker needs.

    It is the same structure each time, `Solved` blocks with all of it; only a blank one holds no solution at all.
    """
    known_choice("layout", layout, LAYOUTS)
    known_choice("conventions", conventions, CONVENTIONS)
    known_choice("solutions", solutions, tuple(SUBTITLES))
    if solutions in ("answers", "diagnosis"):
        alone = answers(question) if solutions == "answers" else _diagnosis(question)
        return Document(question.title, alone, SUBTITLES[solutions], (), sheet, recipe, solutions="key")
    code = programs(question)
    introduction = [Solved(question.introduction, question.introduction, ())] if question.introduction else []
    blocks: list[Block] = [*introduction, *conventions_box([question], conventions), *question.given, *code.opening]
    blocks += joined(_parts(question, layout, code))
    if question.after:
        blocks.append(Solved((), (), (), question.after))
    if layout == "flow":
        headings = [_heading(part, number) for number, part in enumerate(question.parts, 1)]
        if picture := flow_sheet(question, headings, conventions):
            blocks = [Flow((picture,), tuple(blocks))]
    fields = ("Name", "Student ID", "Date") if solutions in ("blank", "partly") else ()
    document = Document(
        question.title, tuple(blocks), SUBTITLES[solutions], fields, sheet, recipe, solutions=solutions
    )  # fmt: skip
    return settled(document) if solutions == "blank" else document


def known_choice(what: str, chosen: str, choices: Sequence[str]) -> None:
    """`InputError` for an unknown choice."""
    if chosen not in choices:
        raise InputError(f"{what} is {chosen!r}; {offered(chosen, choices, 'one of {} was expected')}")


SUBTITLES: Mapping[Solutions, str] = {
    "blank": "",
    "partly": "Partly worked",
    "worked": "Worked solutions",
    "key": "Answer key",
    "answers": "Answers",
    "diagnosis": "Common wrong answers",
}


def _diagnosis(question: Question) -> tuple[Block, ...]:
    if not question.diagnosis:
        raise InputError(
            f"Questions of the type {question.type} have no common wrong answers to list; solutions other than "
            "diagnosis were expected."
        )
    return question.diagnosis


def _parts(question: Question, layout: Layout, code: Programs) -> Iterator[Block]:
    """Each part under its heading, or beside it."""
    arranged = in_schemes(question) if layout == "falk" else question
    begun = PartialSolution(arranged)
    for number, part in enumerate(arranged.parts, 1):
        if layout == "columns" and (apart := question_apart(part)):
            asked, room = apart
            beside = begun.solved(replace(part, ask=room, key=with_rule_apart(part.key)[1]))
            yield Columns(QUESTION, (((_heading(part, number), *asked), (with_programs(beside, code, number),)),))
        else:
            part = headed(part)
            yield _heading(part, number)
            yield with_programs(begun.solved(part), code, number)


def _heading(part: Part, number: int) -> Heading:
    marks = marks_in_brackets(part.marks)
    return Heading(part.title, 1, marks, (Words(f"{number}."),), "question")


def conventions_box(questions: Sequence[Question], form: Conventions = "full") -> list[Block]:
    """What holds for the questions, those that share their conventions together; nothing where there is none."""
    if form == "none":
        return []
    shared: dict[tuple[Inlines, ...], list[int]] = {}
    for number, question in enumerate(questions, 1):
        shared.setdefault(_conventions(question, form), []).append(number)
    if len(shared) == 1:
        (items,) = shared
    else:
        items = tuple(in_turn([(Strong(_numbered(which)),), *said]) for said, which in shared.items() if said)
    return [Box("Conventions", (ItemList(items),))] if items else []


def _conventions(question: Question, form: Conventions) -> tuple[Inlines, ...]:
    """A question without a derivation has its conventions in sentences only."""
    if form == "bare" and question.problem is not None and question.conventions:
        return bare_conventions(question.problem, wording_of(question.problem))
    return question.conventions


def _numbered(numbers: list[int]) -> Message:
    """Question 1: Questions 1 and 3:"""
    if len(numbers) == 1:
        return message("Question {number}:", number=numbers[0])
    return message("Questions {numbers}:", numbers=listed([*map(str, numbers)]))


def booklet(documents: Sequence[Document]) -> Document:
    """Several documents in one, each on a new page under a heading of its own."""
    blocks: list[Block] = []
    for document in documents:
        if blocks:
            blocks.append(PageBreak())
        title: Inlines = (Words(document.subtitle or "Worksheet"),)
        if document.sheet:
            title = sentence("{document} {sheet}", document=title, sheet=document.sheet)
        blocks.append(Heading(title, 1))
        if document.fields:
            fields = [sentence("{field}: ______________________", field=field) for field in document.fields]
            blocks.append(Paragraph(tuple(x for k, one in enumerate(fields) for x in (*_APART[: 1 if k else 0], *one))))
        blocks += [lowered(block) for block in document.blocks]
    first = documents[0]
    recipe = first.recipe.partition(" (sheet")[0]
    return replace(first, blocks=tuple(blocks), fields=(), sheet="", recipe=recipe)


_APART = (Words("   "),)


def lowered(block: Block) -> Block:
    """The block with its headings one level lower."""
    if isinstance(block, Heading):
        return replace(block, level=block.level + 1)
    return with_blocks_inside(block, lambda inside: tuple(map(lowered, inside)))


__all__ = [
    "CONVENTIONS",
    "Conventions",
    "booklet",
    "conventions_box",
    "derivation_document",
    "known_choice",
    "lowered",
    "question_document",
]
