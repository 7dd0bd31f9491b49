"""Whole documents of one problem: a derivation to read, a worksheet to fill in, and its answer key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Literal

from symattn.errors import InputError, offered
from symattn.formula import Formula, Row
from symattn.foundation.languages import Message, listed, message
from symattn.page.document import (
    EVERYTHING,
    Besides,
    Block,
    Blocks,
    Box,
    Columns,
    Display,
    Document,
    Entries,
    Flow,
    Heading,
    Inlines,
    ItemList,
    PageBreak,
    Paragraph,
    Solutions,
    Solved,
    Strong,
    Together,
    as_text,
    in_turn,
    sentence,
    settled,
    with_blocks_inside,
)
from symattn.teaching.explanation.answers import answers
from symattn.teaching.explanation.conventions import conventions
from symattn.teaching.explanation.diagrams import default_diagram
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
from symattn.teaching.explanation.parts import given_as_equation, introduction, wording_of
from symattn.teaching.explanation.program import Programs, programs, step_programs, with_programs
from symattn.teaching.explanation.solutions import PartialSolution, marking, with_answer_space
from symattn.teaching.explanation.steps import Detail, explain_step
from symattn.teaching.problem import Problem
from symattn.teaching.question import Part, Question, marks_in_brackets

Conventions = Literal["full", "bare", "none"]
CONVENTIONS: tuple[Conventions, ...] = ("full", "bare", "none")


def derivation_document(
    problem: Problem,
    detail: Detail | None = None,
    layout: Layout = "matrix",
    besides: frozenset[Besides] = EVERYTHING,
) -> Document:
    """The derivation worked out, in its notation, with the errata of a note listed.

    Each step has its program below it, if there shall be `programs` besides what is shown.
    """
    known_choice("layout", layout, LAYOUTS)
    blocks = [*introduction(problem), *default_diagram(problem)]
    code = step_programs(problem) if "programs" in besides else None
    worked = page(problem, detail or Detail(places=problem.notation.decimals), layout, code)
    if layout == "flow" and (picture := sheet_of_derivation(problem)):
        blocks.append(Flow(picture, ()))
    blocks += worked
    return Document(problem.title, tuple(blocks))


def steps_document(problem: Problem, names: Sequence[str], detail: Detail | None = None) -> Document:
    """Some steps alone, each worked out, and some givens; no words before or between them."""
    wording, d = wording_of(problem), problem.derivation
    blocks: list[Block] = []
    for name in names:
        if name in d.givens:
            blocks.append(Display((given_as_equation(name, d.givens[name], wording),)))
        else:
            blocks += explain_step(d[name], wording, detail or Detail(places=problem.notation.decimals))
    return Document(problem.title, tuple(blocks))


def lines_of(problem: Problem, name: str, detail: Detail | None = None) -> list[Formula]:
    """The formulas of one step, its rule, numbers and entries, or the matrix of a given."""
    wording, d = wording_of(problem), problem.derivation
    if name in d.givens:
        return [given_as_equation(name, d.givens[name], wording)]
    lines: list[Formula] = []
    for block in explain_step(d[name], wording, detail or Detail(places=problem.notation.decimals)):
        match block:
            case Display(lines=shown):
                lines += (part for line in shown for part in (line.items if isinstance(line, Row) else (line,)))
            case Entries(equations=shown):
                lines += shown
    return lines


class Pages:
    """A question in one layout; what several of its documents have in common is made once."""

    def __init__(self, question: Question, layout: Layout = "matrix", conventions: Conventions = "full") -> None:
        known_choice("layout", layout, LAYOUTS)
        known_choice("conventions", conventions, CONVENTIONS)
        self.question = question
        self.layout = layout
        self.conventions = conventions

    def document(
        self, solutions: Solutions, sheet: str = "", recipe: str = "", besides: frozenset[Besides] = EVERYTHING
    ) -> Document:
        """The question to be filled in, partly worked, worked out, or with everything that a marker needs.

        It is the same structure each time, `Solved` blocks with what is shown and what is wanted `besides`, for formats
        that have a switch or run programs; a blank one holds no solution at all.
        """
        known_choice("solutions", solutions, tuple(SUBTITLES))
        question, subtitle = self.question, SUBTITLES[solutions]
        if solutions in ("answers", "diagnosis"):
            alone = answers(question) if solutions == "answers" else _diagnosis(question)
            return Document(question.title, alone, subtitle, (), sheet, recipe, solutions="key")
        switch = frozenset[Besides]() if solutions == "blank" else besides - {"programs"}
        blocks = tuple(self._blocks(switch | SHOWN[solutions], "programs" in besides))
        fields = ("Name", "Student ID", "Date") if solutions in ("blank", "partly") else ()
        document = Document(question.title, blocks, subtitle, fields, sheet, recipe, solutions=solutions)
        return document if switch else settled(document)

    def _blocks(self, wanted: frozenset[Besides], programs: bool) -> Iterator[Block]:
        question = self.question
        usual = self._usual(wanted, self._programs if programs else None)
        if self.layout == "flow":
            headings = [_heading(part, number) for number, part in enumerate(question.parts, 1)]
            if picture := flow_sheet(question, headings, self.conventions, wanted):
                usual = iter([Flow((picture,), tuple(usual))])
        yield from usual

    def _usual(self, wanted: frozenset[Besides], code: Programs | None) -> Iterator[Block]:
        question = self.question
        if question.introduction:
            yield Solved(question.introduction, question.introduction, ())
        yield from self._conventions
        yield from question.given
        yield from code.opening if code else ()
        yield from joined(self._parts(wanted, code))
        if "key" in wanted and question.after:
            yield Solved((), (), (), question.after)

    @cached_property
    def _programs(self) -> Programs:
        return programs(self.question)

    @cached_property
    def _conventions(self) -> list[Block]:
        return conventions_box([self.question], self.conventions)

    @cached_property
    def _arranged(self) -> Question:
        return in_schemes(self.question) if self.layout == "falk" else self.question

    @cached_property
    def _headed(self) -> tuple[Part, ...]:
        return tuple(map(headed, self._arranged.parts))

    def _parts(self, wanted: frozenset[Besides], code: Programs | None) -> Iterator[Block]:
        """Each part under its heading, or beside it."""
        begun = PartialSolution(self._arranged)

        def solved(part: Part) -> Solved:
            """A part with what may stand in its place; its boxes and the space for working stay on one page."""
            return Solved(
                ask=_boxed(part.ask) if "ask" in wanted else (),
                partly=_boxed(begun.partly(part)) if "partly" in wanted else (),
                worked=part.key if "worked" in wanted else (),
                key=marking(part) if "key" in wanted else (),
            )

        for number, (part, under) in enumerate(zip(self._arranged.parts, self._headed, strict=True), 1):
            if self.layout == "columns" and (apart := question_apart(part)):
                asked, room = apart
                beside = solved(replace(part, ask=room, key=with_rule_apart(part.key)[1]))
                yield Columns(QUESTION, (((_heading(part, number), *asked), (with_programs(beside, code, number),)),))
            else:
                yield _heading(under, number)
                yield with_programs(solved(under), code, number)


def question_document(
    question: Question,
    sheet: str = "",
    recipe: str = "",
    solutions: Solutions = "blank",
    layout: Layout = "matrix",
    conventions: Conventions = "full",
) -> Document:
    """One document of a question: see `Pages.document`."""
    return Pages(question, layout, conventions).document(solutions, sheet, recipe)


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


SHOWN: Mapping[Solutions, frozenset[Besides]] = {
    "blank": frozenset({"ask"}),
    "partly": frozenset({"partly"}),
    "worked": frozenset({"worked"}),
    "key": frozenset({"worked", "key"}),
}
"""What is shown of every `Solved`."""


def _diagnosis(question: Question) -> tuple[Block, ...]:
    if not question.diagnosis:
        raise InputError(
            f"Questions of the type {question.type} have no common wrong answers to list; leave out diagnosis."
        )
    return question.diagnosis


def _boxed(asked: Blocks) -> Blocks:
    return (Together(with_answer_space(asked)),)


def _heading(part: Part, number: int) -> Heading:
    marks = marks_in_brackets(part.marks)
    return Heading(part.title, 1, marks, as_text(f"{number}."), "question")


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
        return conventions(question.problem, wording_of(question.problem), brief=True)
    return (*question.conventions, *question.spelling)


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
        title: Inlines = as_text(document.subtitle or "Worksheet")
        if document.sheet:
            title = sentence("{document} {sheet}", document=title, sheet=document.sheet)
        blocks.append(Heading(title, 1))
        if document.fields:
            fields = [sentence("{field}: ______________________", field=field) for field in document.fields]
            blocks.append(Paragraph(tuple(x for k, one in enumerate(fields) for x in (*_APART[: 1 if k else 0], *one))))
        blocks += [lowered(block) for block in document.blocks]
    first = documents[0]
    recipe = f"{documents[-1].recipe} --together" if first.recipe else ""
    return replace(first, blocks=tuple(blocks), fields=(), sheet="", recipe=recipe)


_APART = as_text("   ")


def lowered(block: Block) -> Block:
    """The block with its headings one level lower."""
    if isinstance(block, Heading):
        return replace(block, level=block.level + 1)
    return with_blocks_inside(block, lambda inside: tuple(map(lowered, inside)))
