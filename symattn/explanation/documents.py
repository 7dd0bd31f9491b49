"""Whole documents of one problem: a derivation to read, a worksheet to fill in, and its answer key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from symattn.document import (
    Block,
    Box,
    Document,
    Heading,
    Inlines,
    ItemList,
    PageBreak,
    Paragraph,
    Strong,
    Together,
    Words,
    with_blocks_inside,
)
from symattn.explanation.page import page
from symattn.explanation.parts import introduction
from symattn.explanation.steps import Detail
from symattn.problem import Problem
from symattn.question import Part, Question, marks_text


def derivation_document(problem: Problem, detail: Detail | None = None) -> Document:
    """The derivation worked out, in its notation, with the errata of a note listed."""
    blocks = introduction(problem)
    blocks += page(problem, detail or Detail(places=problem.notation.decimals))
    return Document(problem.title, tuple(blocks))


def worksheet_document(question: Question, sheet: str = "", recipe: str = "") -> Document:
    """What the student gets: instructions, conventions, givens, and room for every answer."""
    blocks = [*question.introduction, *conventions_box([question]), *question.given]
    blocks += [_together(part, number, part.ask) for number, part in enumerate(question.parts, 1)]
    fields = ("Name", "Student ID", "Date")
    return Document(question.title, tuple(blocks), fields=fields, sheet=sheet, recipe=recipe)


def key_document(question: Question, sheet: str = "", recipe: str = "") -> Document:
    """The answer key: every answer worked out, with its marks, and what else a marker looks for."""
    blocks = [*conventions_box([question]), *question.given]
    for number, part in enumerate(question.parts, 1):
        first, *rest = part.key
        blocks += [_together(part, number, (first,), marks_text(part.marks)), *rest]
    blocks += question.after
    return Document(question.title, tuple(blocks), subtitle="Answer key", sheet=sheet, recipe=recipe)


def conventions_box(questions: Sequence[Question]) -> list[Block]:
    """What holds for the questions, those that share their conventions together; nothing where there is none."""
    shared: dict[tuple[Inlines, ...], list[int]] = {}
    for number, question in enumerate(questions, 1):
        shared.setdefault(question.conventions, []).append(number)
    if len(shared) == 1:
        items = questions[0].conventions
    else:
        items = tuple((Strong(f"{_numbered(which)}:"), *_in_a_row(said)) for said, which in shared.items() if said)
    return [Box("Conventions", (ItemList(items),))] if items else []


def _numbered(numbers: list[int]) -> str:
    """Question 1; Questions 1 and 3."""
    *others, last = map(str, numbers)
    return f"Questions {', '.join(others)} and {last}" if others else f"Question {last}"


def _in_a_row(sentences: Sequence[Inlines]) -> Inlines:
    return tuple(part for sentence in sentences for part in (Words(" "), *sentence))


def _together(part: Part, number: int, blocks: tuple[Block, ...], marks: str = "") -> Together:
    return Together((Heading((Words(f"{number}. "), *part.title), 1, marks), *blocks))


def booklet(documents: Sequence[Document]) -> Document:
    """Several documents in one, each on a new page under a heading of its own."""
    blocks: list[Block] = []
    for document in documents:
        if blocks:
            blocks.append(PageBreak())
        blocks.append(Heading((Words(f"{document.subtitle or 'Worksheet'} {document.sheet}"),), 1))
        if document.fields:
            blocks.append(
                Paragraph((Words("   ".join(f"{field}: ______________________" for field in document.fields)),))
            )
        blocks += [lowered(block) for block in document.blocks]
    first = documents[0]
    recipe = first.recipe.partition(" (sheet")[0]
    return Document(first.title, tuple(blocks), subtitle=first.subtitle, recipe=recipe, look=first.look)


def lowered(block: Block) -> Block:
    """The block with its headings one level lower."""
    if isinstance(block, Heading):
        return replace(block, level=block.level + 1)
    return with_blocks_inside(block, lambda inside: tuple(map(lowered, inside)))


__all__ = ["booklet", "conventions_box", "derivation_document", "key_document", "lowered", "worksheet_document"]
