"""Documents as Jupyter notebooks (nbformat 4.5): the text as portable Markdown, programs as cells to run.

No text of a document stands in a code cell, and no cell has output: a notebook shows nothing that was not written here.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Literal

from symattn.formula.nodes import Formula
from symattn.foundation.identity import digest
from symattn.foundation.languages import catalogue, say, speaking
from symattn.page.document import (
    AnswerGrid,
    AnswerSpace,
    Besides,
    Block,
    Columns,
    Document,
    Flow,
    Heading,
    PageBreak,
    Program,
    Strong,
    Together,
    WorkingSpace,
    all_blocks,
    paragraph,
    settled,
)
from symattn.page.writers import common, markdown

SUFFIX = ".ipynb"
BESIDES: frozenset[Besides] = frozenset({"programs"})

Cell = tuple[Literal["code", "markdown"], str]

EXACT = 'Q = [["1/2", "sqrt(3)"], ["e^2/(1 + e)", 0]]'
"""How exact values are written in code, so that it can be read without being run."""


def formula(formula: Formula) -> str:
    """One formula as it stands between dollar signs."""
    return markdown.formula(formula)


def write(document: Document) -> str:
    """The whole document."""
    document = settled(document)
    with speaking(document.look.language):
        cells = [*_head(document), *_cells(common.with_sound_levels(document.blocks)), *_foot(document)]
        first = next((i for i, (kind, _) in enumerate(cells) if kind == "code"), None)
        if first is not None and any(isinstance(block, AnswerGrid) for block in all_blocks(document.blocks)):
            cells.insert(first, ("markdown", _where_to_write()))
    said = {"lang": catalogue(document.look.language).code, "sheet": document.sheet, "recipe": document.footer}
    notebook = {
        "cells": list(_numbered(cells)),
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
            "symattn": {"format": 1, **{key: common.visible(text) for key, text in said.items() if text}},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def _head(document: Document) -> Iterator[Cell]:
    lines = [f"# {markdown.escaped(document.title)}"]
    if document.subtitle:
        lines.append(markdown.in_line((Strong(document.subtitle),)))
    lines += map(markdown.field, document.fields)
    yield "markdown", "\n\n".join(lines)


def _where_to_write() -> str:
    """How a notebook is filled in, so that it can be read."""
    return say(
        "Write the answers into the tables, or into the code below them: computed with NumPy, or as {form}. "
        "Where a table is filled in, the code below it does not count. Run the notebook and save it.",
        form=markdown.code(EXACT),
    )


def _foot(document: Document) -> Iterator[Cell]:
    said = " · ".join(filter(None, (markdown.escaped(document.sheet), markdown.code(document.footer))))
    if said:
        yield "markdown", said


def _cells(blocks: Iterable[Block]) -> Iterator[Cell]:
    """Programs as code; what is between them as Markdown, with a new cell at every heading."""
    parts = list(_parts(list(_flat(blocks))))
    texts = iter(markdown.bodies(part for part in parts if not isinstance(part, Program)))
    for part in parts:
        if isinstance(part, Program):
            yield "code", part.source
        elif body := next(texts):
            yield "markdown", body


def _flat(blocks: Iterable[Block]) -> Iterator[Block]:
    """The blocks without what only keeps them together on a page, so that programs may stand between any of them."""
    for block in blocks:
        match block:
            case Together(inside):
                yield from _flat(inside)
            case AnswerSpace() | Columns() | Flow():
                yield from _flat(common.one_after_another(block))
            case _:
                yield block


def _parts(blocks: Sequence[Block]) -> Iterator[Program | list[Block]]:
    """Programs, and what is between them cut at headings and at space for working.

    Space is left out where there is a program to work in before the next heading; elsewhere it is a cell to write in.
    """
    part: list[Block] = []
    for i, block in enumerate(blocks):
        match block:
            case Program():
                yield part
                yield block
                part = []
            case WorkingSpace():
                section = takewhile(lambda other: not isinstance(other, Heading), blocks[i:])
                if not any(isinstance(other, Program) for other in section):
                    yield part
                    yield [paragraph(common.label(say("Working")))]
                    part = []
            case Heading():
                yield part
                part = [block]
            case PageBreak():
                pass
            case _:
                part.append(block)
    yield part


def _numbered(cells: Iterable[Cell]) -> Iterator[dict[str, object]]:
    """Cells as JSON, each with an identity that follows from its content."""
    counted: Counter[Cell] = Counter()
    for kind, source in cells:
        counted[kind, source] += 1
        cell: dict[str, object] = {
            "cell_type": kind,
            "id": digest([kind, source, counted[kind, source]])[:12],
            "metadata": {},
            "source": source.splitlines(keepends=True),
        }
        yield cell | {"execution_count": None, "outputs": []} if kind == "code" else cell
