"""What if a given were another one?  A derivation in which every number can be pointed at, worked out again at once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape

from symattn.derivation.algebra import Entries
from symattn.derivation.derivation import Derivation, Index, Operand
from symattn.errors import InputError, SymattnError
from symattn.exact import Matrix, Value
from symattn.formula import NOTHING, Formula, Relation
from symattn.formula.speech import speak
from symattn.foundation.languages import say, speaking
from symattn.page.document import Document, Look, Math, Paragraph, paragraph
from symattn.page.notation import Notation
from symattn.page.presentation import presented
from symattn.page.writers import html
from symattn.practice.shown import Said
from symattn.teaching.explanation.wording import Wording, terminates
from symattn.teaching.problem import Problem
from symattn.teaching.problem_file import read_given

LONGEST = 20
"""Characters of an entry that somebody types."""
LARGEST = 400
"""Entries of a matrix that is shown number by number."""


class _Decimals(Wording):
    """A wording in which whole numbers stay whole, and all others are decimals."""

    def __init__(self, derivation: Derivation, notation: Notation, places: int) -> None:
        super().__init__(derivation, notation)
        self._fixed = places

    def number(self, value: Value, guard: int = 0) -> Formula:
        return super().number(value, guard) if terminates(value) else self.decimal(value, self._fixed)


@dataclass(frozen=True)
class WhatIf:
    """A problem with its givens as they are now, for a page with a look: exact, or in decimals with some places."""

    problem: Problem
    look: Look
    places: int | None = None

    @classmethod
    def of(
        cls, problem: Problem, givens: Mapping[str, Sequence[Sequence[str]]], look: Look, places: int | None
    ) -> WhatIf:
        """The same with other givens; `InputError` says what cannot be read or worked out."""
        d = problem.derivation
        read = {name: _read(name, d, rows) for name, rows in givens.items()}
        return cls(replace(problem, derivation=d.replay(givens=read)) if read else problem, look, places)

    def shown(self) -> Said:
        """The givens as they are typed, and each step: its rule, and every entry."""
        d, w = self.problem.derivation, self._wording
        steps = [step for step in d if isinstance(step.result, Matrix) and len(list(step.result)) <= LARGEST]
        formulas: list[Formula] = [w.name(name) for name in d.givens]
        for step in steps:
            formulas += [w.equation(step), *(w.number(x) for row in _rows(step.result) for x in row)]
        written = iter(self._written(formulas))
        with speaking(self.look.language):
            return {
                "givens": [
                    {"name": name, "html": next(written), "rows": [[str(x) for x in row] for row in _rows(given)]}
                    for name, given in d.givens.items()
                ],
                "steps": [
                    {
                        "name": step.name,
                        "word": say(w.word(step)),
                        "html": next(written),
                        "rows": [[next(written) for _ in row] for row in _rows(step.result)],
                    }
                    for step in steps
                ],
            }

    def entry(self, name: str, i: int, j: int) -> Said:
        """How an entry (from 0) comes about, and the entries that it is made of, from 1."""
        step, w = self.problem.derivation[name], self._wording
        result = step.result
        if not (isinstance(result, Matrix) and 0 <= i < result.shape[0] and 0 <= j < result.shape[1]):
            raise InputError(f"{name} has no entry ({i + 1}, {j + 1}).")
        uses: list[tuple[str, int, int]] = []
        worked: list[Formula] = []
        with suppress(SymattnError, TypeError):  # a rule that cannot be read in formulas here
            worked.append(
                step.op.working(i, j, *(_names(operand, self._derivation, w, uses) for operand in step.operands))
            )
            worked.append(w.working(step, i, j))
        equals = "=" if self.places is None or terminates(result[i, j]) else "≈"
        lines = [
            Relation((w.entry(name, i, j), *worked[:1]), ("=",) * len(worked[:1])) if worked else w.entry(name, i, j)
        ]
        lines += (Relation((NOTHING, line), ("=",)) for line in worked[1:])
        lines.append(Relation((NOTHING, w.number(result[i, j])), (equals,)))
        return {"html": [*self._written(lines)], "uses": [[*use] for use in dict.fromkeys(uses)]}

    @property
    def _derivation(self) -> Derivation:
        return self.problem.derivation

    @cached_property
    def _wording(self) -> Wording:
        d, notation = self._derivation, self.problem.notation
        return Wording(d, notation) if self.places is None else _Decimals(d, notation, self.places)

    def _written(self, formulas: Sequence[Formula]) -> list[str]:
        """Formulas as HTML, in the signs of the look."""
        page = Document("", tuple(paragraph(formula) for formula in formulas), look=self.look)
        with speaking(self.look.language):
            return [
                f'<math alttext="{escape(speak(formula))}">{html.formula(formula)}</math>'
                for formula in _formulas(presented(page))
            ]


def _formulas(document: Document) -> Iterator[Formula]:
    for block in document.blocks:
        assert isinstance(block, Paragraph)
        for inline in block.content:
            assert isinstance(inline, Math)
            yield inline.formula


def _names(operand: Operand, d: Derivation, w: Wording, uses: list[tuple[str, int, int]]) -> Entries[Formula]:
    """The entries of an operand by name; those that a rule reads are told, from 1."""

    def named(i: Index, j: Index) -> Formula:
        row, column = operand.place(i, j)
        if isinstance(row, int) and isinstance(column, int):
            uses.append((operand.name, row + 1, column + 1))
        return w.entry(operand.name, row, column)

    return Entries(operand.of(d.value(operand.name)).shape, named, first=w.notation.first_index)


def _rows(matrix: object) -> tuple[tuple[Value, ...], ...]:
    return matrix.rows if isinstance(matrix, Matrix) else ()


def _read(name: str, d: Derivation, rows: Sequence[Sequence[str]]) -> Matrix:
    """A given as it was typed, of the shape that it has; `InputError` says which entry is not read."""
    now = d.givens.get(name)
    if not isinstance(now, Matrix):
        raise InputError(f"There is no given {name!r}.")
    shape = (len(rows), len(rows[0]) if rows else 0)
    if shape != now.shape or any(len(row) != shape[1] for row in rows):
        raise InputError(f"{name} is {now.shape[0]} × {now.shape[1]}.")
    for i, row in enumerate(rows, 1):
        for j, text in enumerate(row, 1):
            if not text.strip() or len(text) > LONGEST or not _IS_NUMBER.issuperset(_WORD.findall(text)):
                raise InputError(f"{name} ({i}, {j}) is {text!r}; a number was expected, such as 2, 1/2 or sqrt(3).")
    read = read_given(name, rows)
    assert isinstance(read, Matrix)
    return read


_WORD = re.compile(r"[^\W\d_]+")
_IS_NUMBER = frozenset({"sqrt", "e", "exp", "log", "ln", "pi"})
"""Words that stand in numbers; of any other, SymPy would have to be fetched to say that it is a letter."""
