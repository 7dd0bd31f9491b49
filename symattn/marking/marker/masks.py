"""Masks that a student drew or wrote in other parts of a question: the weights may follow from them (rules.md 3.4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from symattn.derivation.ops import Mask
from symattn.derivation.ops.attention import Keep
from symattn.exact import Value, decide, values_of
from symattn.marking.attempt import Attempt, Entry, Grid, Shaded
from symattn.marking.marker.policy import Policy
from symattn.marking.marker.script import Script
from symattn.marking.marker.trace import Trace
from symattn.teaching.question import CellsAnswer, MatrixAnswer, Part, Question


def under_own_mask(script: Script, policy: Policy, question: Question, attempt: Attempt) -> Script:
    """The script as most of it follows: from the mask of the question, or from one that the student gave otherwise."""
    scripts = [script]
    for step in script.d:
        if isinstance(step.op, Mask) and step.name not in script.asked:
            scores = values_of(script.d.value(step.operands[0].name))
            for keep in _own_masks(question, attempt, step.op):
                masked = replace(step.op, keep=keep).apply(scores)
                scripts.append(replace(script, elsewhere={**script.elsewhere, step.name: masked}))
    return min(scripts, key=lambda one: Trace(one, policy).wrong) if scripts[1:] else script


def _own_masks(question: Question, attempt: Attempt, mask: Mask) -> Iterator[Keep]:
    """What the student sees and hides otherwise; a row that sees nothing has no weights, and is left as it is."""
    turned = question.problem is not None and question.problem.derivation.orientation == "columns"
    for part in question.parts:
        keep = _keep(part, attempt, mask, turned)
        if len(keep) == len(mask.keep) and keep != mask.keep:
            yield tuple(own if any(own) else right for own, right in zip(keep, mask.keep, strict=True))


def _keep(part: Part, attempt: Attempt, mask: Mask, turned: bool) -> Keep:
    """The mask of a part that asks for the cells of this one, or for its matrix; none where there is none.

    With `turned` a query is a column of the sheet; here it is a row.
    """
    rows, columns = len(mask.keep), len(mask.keep[0])
    hidden = {(i, j) for i, row in enumerate(mask.keep) for j, seen in enumerate(row) if not seen}

    def upright(cells: frozenset[tuple[int, int]]) -> set[tuple[int, int]]:
        return {(j, i) for i, j in cells} if turned else set(cells)

    match part.answer, attempt.answers.get(part.name):
        case CellsAnswer(shape, cells), Shaded(own) if (
            shape == ((columns, rows) if turned else (rows, columns)) and upright(cells) == hidden
        ):
            shaded = upright(own)
            return tuple(tuple((i, j) not in shaded for j in range(columns)) for i in range(rows))
        case MatrixAnswer(value), Grid() as grid if any(mark.follows == "shading" for mark in part.marks):
            value, grid = (value.T, grid.T) if turned else (value, grid)
            if not grid.shape == value.shape == (rows, columns):
                return ()
            marks = {seen: value[i, j] for i, row in enumerate(mask.keep) for j, seen in enumerate(row)}
            own_rows = [[_seen(entry, marks) for entry in row] for row in grid.rows]
            return tuple(tuple(seen is True for seen in row) for row in own_rows if None not in row)
    return ()


def _seen(entry: Entry, marks: Mapping[bool, Value]) -> bool | None:
    """Whether an entry says that its key is seen; None if it says nothing of the kind."""
    if entry.value is None:
        return None
    return next((seen for seen, mark in marks.items() if decide(entry.value, mark).equal), None)
