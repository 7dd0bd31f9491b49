"""What goes with a key: common wrong answers with their diagnosis, and what cannot be told apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symattn.derivation.misconceptions.base import WrongDerivation
from symattn.exact import NEGATIVE_INFINITY, AnyMatrix, Matrix
from symattn.exact.rounding import approximate
from symattn.formula import Formula
from symattn.formula.width import width
from symattn.foundation.languages import filled
from symattn.page.document import (
    Block,
    Blocks,
    Heading,
    Inlines,
    ItemList,
    Math,
    Strong,
    Table,
    TextLike,
    Words,
    as_text,
    sentence,
    spans,
    table,
)
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.problem import Problem

if TYPE_CHECKING:
    from symattn.teaching.fairness.separation import Separation


def diagnoses(problem: Problem, separated: Separation) -> Blocks:
    """Common wrong answers with their diagnosis, a table for each line, and what this variant cannot tell apart.

    A mistake is left out where its results look right, and where it spoils a line but not the last one.
    """
    blocks: list[Block] = []
    together = Wording(separated.derivation, problem.notation)  # token by token, misconceptions are told by matrix
    shown = [
        w
        for w in separated.wrongs
        if w.misconception.is_usual
        and w.misconception.id not in separated.silent
        and w.value(w.first or "") is not None
        and _looks_wrong(w, together, problem.places)
    ]
    for step in separated.derivation:
        if here := [w for w in shown if w.first == step.name]:
            blocks.append(_wrong_answers(here, together, problem.places))
    if lines := _hidden(separated, together, {w.misconception.id for w in shown}):
        blocks += [Heading(as_text("What this variant cannot show"), 1), ItemList(tuple(lines))]
    return tuple(blocks)


def _looks_wrong(wrong: WrongDerivation, wording: Wording, places: int) -> bool:
    """Whether what is written first differs from the right line as it is printed, which may be rounded."""
    assert wrong.first is not None
    right = wrong.right.value(wrong.first)
    return _shown(wrong.value(wrong.first), wording, places) != _shown(right, wording, places)


def _wrong_answers(wrongs: list[WrongDerivation], wording: Wording, places: int) -> Table:
    """Misconceptions that show at the same step: what is written there, what comes of it in the end, what it means."""
    first, last = wrongs[0].first, wrongs[0].right.last.name
    assert first is not None
    shown = [[_written(wrong, step, wording, places) for step in dict.fromkeys((first, last))] for wrong in wrongs]
    widths = [max(_width(cell) for cell in column) for column in zip(*shown, strict=True)]
    if sum(widths) > MATRICES:  # what comes of it is left out where it would leave no room for words
        last, shown = first, [cells[:1] for cells in shown]
    then = [sentence("then {matrix} is", matrix=wording.name(last))] if first != last else []
    heads: list[TextLike] = [sentence("If {matrix} is", matrix=wording.name(first)), *then, "Diagnosis and feedback"]
    rows = ((*cells, diagnosis(wrong, wording, strong=True)) for wrong, cells in zip(wrongs, shown, strict=True))
    return table(heads, rows, row_heads=False)


MATRICES = 24.0
"""What the matrices of a table of wrong answers may take of a line of 38 em; the rest is for the diagnosis."""


def _width(cell: Inlines) -> float:
    return sum(width(part.formula) for part in spans(cell) if isinstance(part, Math))


def _written(wrong: WrongDerivation, step: str, wording: Wording, places: int) -> Inlines:
    matrix = wrong.value(step)
    if not isinstance(matrix, Matrix):
        return as_text("not defined" if wrong.undefined else "too long to write")
    if any(x is not NEGATIVE_INFINITY and not abs(approximate(x)) < LARGEST_WRITTEN for x in matrix):
        return as_text("too long to write")
    return as_text(_shown(matrix, wording, places))


LARGEST_WRITTEN = 1e9
"""Wrong answers in the key stay below this: e to a power of hundreds is never written."""


def _shown(matrix: AnyMatrix | None, wording: Wording, places: int) -> Formula:
    """Whole numbers as they are, others as decimals."""
    assert isinstance(matrix, Matrix)
    whole = all(isinstance(x, int) for x in matrix)
    return wording.values(matrix) if whole else wording.rounded(matrix, min(places, 3))


def diagnosis(wrong: WrongDerivation, wording: Wording, strong: bool = False) -> Inlines:
    """X1 – softmax over columns.  Normalise the row of each query: …"""
    m = wrong.misconception
    code = Strong(m.id) if strong else Words(m.id)
    name, told = wording.in_signs(m.called(wording.orientation)), feedback(wrong, wording)
    return sentence("{code} – {name}. {feedback}", code=code, name=name, feedback=told)


def feedback(wrong: WrongDerivation, wording: Wording) -> Inlines:
    """The sentence to the student, in the problem's own signs; of the weights that there are, where there is no W_Q."""
    rows = wording.orientation == "rows"
    words = {"row": "row", "rows": "rows", "column": "column", "columns": "columns"}
    turned = {"row": "column", "rows": "columns", "column": "row", "columns": "rows"}
    said, d = filled(wrong.misconception.feedback, words if rows else turned), wording.derivation
    weights = next((name for name in ("W_Q", "W_K", "W_V") if name in d), "W_Q")
    return wording.inlines(said.replace("W_Q", weights), {})


def _hidden(separated: Separation, wording: Wording, explained: set[str]) -> list[Inlines]:
    """What cannot be seen, or cannot be told apart, in words; `last` is the line that ends the derivation.

    Codes that are not `explained` have their names beside them where they stand first.
    """
    by_id, told = {w.misconception.id: w for w in separated.wrongs}, set(explained)

    def at(step: str | None) -> Math:
        assert step is not None
        return Math(wording.name(step))

    def explained_as(template: str, id: str) -> Inlines:
        told.add(id)
        called = by_id[id].misconception.called(wording.orientation)
        return sentence(template, code=id, name=wording.in_signs(called))

    def name(id: str) -> Inlines:
        return explained_as("{code} – {name}", id)

    def code(id: str) -> Inlines:
        return as_text(id) if id in told else explained_as("{code} ({name})", id)

    def usual(*ids: str) -> bool:
        beliefs = [by_id[id].misconception for id in ids]
        return all(m.is_usual for m in beliefs) or any(m.core for m in beliefs)

    last = at(separated.derivation.last.name)
    lines = [sentence("{mistake} changes nothing here.", mistake=name(id)) for id in separated.invisible if usual(id)]
    for id in filter(usual, separated.silent):
        text = "{mistake} shows at {step}, but the last line, {last}, comes out right."
        lines.append(sentence(text, mistake=name(id), step=at(by_id[id].first), last=last))
    for c in separated.collisions:
        if usual(c.one, c.other):
            same = "{one} and {other} give the same result at {step} and never differ."
            until = "{one} and {other} give the same result at {step}; they first differ at {later}."
            later = {"later": at(c.parts)} if c.parts else {}
            lines.append(
                sentence(until if c.parts else same, one=code(c.one), other=code(c.other), step=at(c.at), **later)
            )
    for one, other in separated.merged:
        if usual(one, other):
            same = "{one} and {other} give the same {last}."
            lines.append(sentence(same, one=code(one), other=code(other), last=last))
    return lines
