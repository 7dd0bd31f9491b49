"""Wrong entries that it is known how people come to: by the core misconceptions, by a slip, by miscounting."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from symattn.derivation.derivation import Derivation
from symattn.derivation.misconceptions import (
    COUNTING,
    SLIPS,
    WrongDerivation,
    misconceptions,
    replayed,
    slips,
)
from symattn.exact import NEGATIVE_INFINITY, Matrix, Value, has_symbols
from symattn.exact.approximate import approximate
from symattn.page.document import Inlines, Words, sentence
from symattn.page.notation import Notation, load_notation
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.problems.remarks import feedback
from symattn.teaching.question import FormulaAnswer, MatrixAnswer, Part, Question, asked_step

MOST = 4
"""Of wrong values of one entry: first what a misconception makes of it, then what follows from one, then slips."""

LARGEST = 1e9
"""What nobody writes is left out."""


@dataclass(frozen=True, slots=True)
class KnownWrong:
    """A wrong value, what is told about it, as HTML, and whether it follows from a mistake in an earlier line."""

    value: Value
    told: str
    follows: bool = False


class Known:
    """The wrong values of a question's entries; `said` puts a sentence into the reader's language, as HTML."""

    def __init__(self, question: Question, said: Callable[[Inlines], str]) -> None:
        self.question, self.said = question, said
        self._replayed: dict[int, tuple[WrongDerivation, ...]] = {}

    def of(self, part: Part, cell: tuple[int, int]) -> list[KnownWrong]:
        """Those of one entry (from 0), no two alike and none that is right."""
        right = part.answer.value if isinstance(part.answer, FormulaAnswer) else None
        asked = asked_step(self.question, part)
        if isinstance(part.answer, MatrixAnswer):
            right = part.answer.value[cell]
        elif asked:
            matrix = asked[0].value(asked[1])
            assert isinstance(matrix, Matrix)
            right = matrix[cell]
        found: list[KnownWrong] = []
        for one in [*self._counted(part, cell[0]), *(self._derived(*asked, cell) if asked else ())]:
            if len(found) < MOST and not any(_alike(one.value, other) for other in (right, *(k.value for k in found))):
                found.append(one)
        return found

    def named(self, id: str) -> str:
        """What a misconception is called that leads to a wrong option; nothing for none."""
        if id in COUNTING:
            return self.said((Words(COUNTING[id].feedback),))
        if id in SLIPS:
            return self.said((Words(SLIPS[id].feedback),))
        if id not in misconceptions():
            return ""
        if (problem := self.question.problem) is not None:
            wrong = next((w for w in self._core(problem.derivation) if w.misconception.id == id), None)
            if wrong is not None:
                return self.said(feedback(wrong, Wording(wrong.right, problem.notation)))
        return self.said(sentence("This is what comes of a mistake: {name}.", name=self._signs(id)))

    def _signs(self, id: str) -> Inlines:
        problem = self.question.problem
        name = misconceptions()[id].name
        return Wording(problem.derivation, problem.notation).in_signs(name) if problem else (Words(name),)

    def _counted(self, part: Part, row: int) -> Iterator[KnownWrong]:
        errors = part.answer.errors if isinstance(part.answer, FormulaAnswer | MatrixAnswer) else ()
        for error in errors:
            if error.row == row:
                says = error.says or COUNTING[error.misconception].feedback
                yield KnownWrong(error.value, self.said((Words(says),)))

    def _derived(self, d: Derivation, step: str, cell: tuple[int, int]) -> Iterator[KnownWrong]:
        """What core misconceptions write in a step, those first that begin there, and slips."""
        core = self._core(d)
        for begins in (True, False):
            for wrong in core:
                value = wrong.value(step) if wrong.first is not None else None
                if not isinstance(value, Matrix) or (wrong.first == step) is not begins:
                    continue
                if not (cell[0] < value.shape[0] and cell[1] < value.shape[1]):
                    continue
                wording = Wording(wrong.right, self._notation(d))
                if begins:
                    told = feedback(wrong, wording)
                else:
                    name = wording.in_signs(wrong.misconception.name)
                    told = sentence("This follows from a mistake in an earlier line: {name}.", name=name)
                yield KnownWrong(value[cell], self.said(told), follows=not begins)
        if any(s.name == step for s in d):
            for slip in slips(d, step, *cell):
                yield KnownWrong(slip.value, self.said((Words(slip.slip.feedback),)))

    def _core(self, d: Derivation) -> tuple[WrongDerivation, ...]:
        if id(d) not in self._replayed:
            known = all(isinstance(m, Matrix) and not any(map(has_symbols, m)) for m in _matrices(d))
            core = [m.id for m in misconceptions().values() if m.core]
            self._replayed[id(d)] = replayed(d, core) if known else ()
        return self._replayed[id(d)]

    def _notation(self, d: Derivation) -> Notation:
        problem = self.question.problem
        return problem.notation if problem is not None and problem.derivation is d else load_notation("standard")


def _matrices(d: Derivation) -> Iterator[object]:
    yield from d.givens.values()
    yield from (step.result for step in d)


def _alike(a: Value, b: Value | None) -> bool:
    """Whether two values cannot be told apart when they are typed; or nobody types one of them."""
    if b is None or a is NEGATIVE_INFINITY or b is NEGATIVE_INFINITY:
        return a is b
    if has_symbols(a) or has_symbols(b):
        return bool(a == b)
    return abs(approximate(a)) > LARGEST or abs(approximate(a) - approximate(b)) < 1e-9


__all__ = ["Known", "KnownWrong"]
