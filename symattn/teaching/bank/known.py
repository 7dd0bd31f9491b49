"""Wrong entries that it is known how people come to: by the core misconceptions, by a slip, by miscounting."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from symattn.derivation.derivation import Derivation, StepName
from symattn.derivation.misconceptions import misconceptions, replayed
from symattn.derivation.misconceptions.base import COUNTING, WrongDerivation
from symattn.derivation.slips import SLIPS, slips
from symattn.exact import NEGATIVE_INFINITY, Matrix, Value, has_symbols, indices
from symattn.exact.rounding import approximate
from symattn.foundation.languages import message
from symattn.page.document import Inlines, as_text, sentence
from symattn.teaching.explanation.diagnoses import feedback
from symattn.teaching.explanation.wording import Wording, in_signs
from symattn.teaching.question import (
    EntriesAnswer,
    FormulaAnswer,
    MatrixAnswer,
    Part,
    Question,
    StepAnswer,
    asked_step,
)

Cell = tuple[int, int]

ENOUGH = 4
"""Wrong values of one entry, beyond which slips are left out; what follows from a mistake never is."""

FOLLOWS = message("This follows from a mistake in an earlier line.")

LARGEST = 1e9
"""Values too long to be written are left out."""


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
        self._seen: dict[tuple[int, str], bool] = {}
        self._before: dict[str, list[Part]] = {}

    def of(self, part: Part, cell: Cell) -> list[KnownWrong]:
        """Those of one entry (from 0), no two alike and none that is right."""
        right = part.answer.value if isinstance(part.answer, FormulaAnswer) else None
        asked = asked_step(self.question, part)
        if isinstance(part.answer, MatrixAnswer):
            right = part.answer.value[cell]
        elif asked:
            matrix = asked[0].value(asked[1])
            assert isinstance(matrix, Matrix)
            right = matrix[cell]
        known: list[KnownWrong] = []

        def add(wrongs: Iterable[KnownWrong], most: int | None = None) -> None:
            for one in wrongs:
                if most is not None and len(known) >= most:
                    return
                if not any(_alike(one.value, other) for other in (right, *(k.value for k in known))):
                    known.append(one)

        add(self._counted(part, cell[0]))
        if asked:
            add(self._believed(*asked, part, cell))
            add(self._slipped(*asked, cell), ENOUGH)
        return known

    def named(self, id: str) -> str:
        """What a misconception is called that leads to a wrong option; nothing for none."""
        if id in COUNTING:
            return self.said(as_text(COUNTING[id].feedback))
        if id in SLIPS:
            return self.said(as_text(SLIPS[id].feedback))
        if id not in misconceptions():
            return ""
        if (problem := self.question.problem) is not None:
            wrong = next((w for w in self._core(problem.derivation) if w.misconception.id == id), None)
            if wrong is not None:
                return self.said(feedback(wrong, Wording(wrong.right, problem.notation)))
        return self.said(sentence("This is the result of a mistake: {name}.", name=self._signs(id)))

    def _signs(self, id: str) -> Inlines:
        problem, known = self.question.problem, misconceptions()[id]
        called, orientation = known.called(self.question.orientation), self.question.orientation
        if problem is None:
            return in_signs(called, orientation)
        return Wording(problem.derivation, problem.notation).in_signs(called)

    def _counted(self, part: Part, row: int) -> Iterator[KnownWrong]:
        errors = part.answer.errors if isinstance(part.answer, FormulaAnswer | MatrixAnswer) else ()
        for error in errors:
            if error.row == row:
                says = error.says or COUNTING[error.misconception].feedback
                yield KnownWrong(error.value, self.said(as_text(says)))

    def _believed(self, d: Derivation, step: str, part: Part, cell: Cell) -> Iterator[KnownWrong]:
        """What core misconceptions write in a step, those first that are made there.

        One that is not made there follows from what the step is worked out from, if that was asked for and shows it; an
        answer that stands alone follows from nothing.
        """
        before = () if isinstance(part.answer, MatrixAnswer) else self._lines_before(d, step)
        for follows in (False, True):
            for wrong in self._core(d):
                value = _value(wrong, d, step)
                if value is None or value.shape != d.value(step).shape:
                    continue
                later = not _made_in(wrong, step) and any(self._shows(wrong, line) for line in before)
                if later is not follows:
                    continue
                told = as_text(FOLLOWS) if follows else feedback(wrong, Wording(wrong.right, self.question.notation))
                yield KnownWrong(value[cell], self.said(told), follows)

    def _lines_before(self, d: Derivation, step: str) -> list[Part]:
        """The parts that ask for something which a step is worked out from, whether at once or over other steps."""
        if step not in self._before:
            known = {s.name: s for s in d}
            used, open_ends = set[str](), [step]
            while open_ends:
                for operand in known[name].operands if (name := open_ends.pop()) in known else ():
                    if operand.name not in used:
                        used.add(operand.name)
                        open_ends.append(operand.name)
            parts = (part for part in self.question.parts if isinstance(part.answer, StepAnswer | EntriesAnswer))
            self._before[step] = [part for part in parts if part.answer.step in used]  # type: ignore[union-attr]
        return self._before[step]

    def _shows(self, wrong: WrongDerivation, part: Part) -> bool:
        """Whether a misconception is seen in what a part asks for."""
        key = (id(wrong), part.name)
        if key not in self._seen:
            asked = asked_step(self.question, part)
            assert asked is not None
            right, value = asked[0].value(asked[1]), _value(wrong, *asked)
            assert isinstance(right, Matrix)
            if value is None or value.shape != right.shape:
                self._seen[key] = value is not None
            else:
                every = indices(right.shape)
                cells = part.answer.cells if isinstance(part.answer, EntriesAnswer) else every
                self._seen[key] = any(not _alike(value[cell], right[cell]) for cell in cells)
        return self._seen[key]

    def _slipped(self, d: Derivation, step: str, cell: Cell) -> Iterator[KnownWrong]:
        if any(s.name == step for s in d):
            for slip in slips(d, step, *cell):
                yield KnownWrong(slip.value, self.said(as_text(slip.slip.feedback)))

    def _core(self, d: Derivation) -> tuple[WrongDerivation, ...]:
        if id(d) not in self._replayed:
            core = [m.id for m in misconceptions().values() if m.core]
            self._replayed[id(d)] = replayed(d, core) if d.in_numbers else ()
        return self._replayed[id(d)]


def _value(wrong: WrongDerivation, d: Derivation, step: str) -> Matrix | None:
    """What a misconception writes in a step: it is told matrix by matrix, and a step of one token is a line of one."""
    value, called = wrong.value(step), StepName.of(step)
    if value is None and called.token is not None:
        value = wrong.value(_by_matrix(step))
        if not isinstance(value, Matrix):
            return None
        tokens = value if d.orientation == "rows" else value.T
        if called.token > tokens.shape[0]:
            return None
        line = Matrix.of([tokens.rows[called.token - 1]])
        return line if d.orientation == "rows" else line.T
    return value if isinstance(value, Matrix) else None


def _by_matrix(step: str) -> str:
    called = StepName.of(step)
    return called.stem + called.scope


def _made_in(wrong: WrongDerivation, step: str) -> bool:
    """Whether a misconception does something else in a step, and does not only go on with other numbers there."""
    name = step if step in wrong.derivation else _by_matrix(step)
    if name not in wrong.derivation or name not in wrong.right:
        return False
    own, right = wrong.derivation[name], wrong.right[name]
    return own.op != right.op or own.operands != right.operands


def _alike(a: Value, b: Value | None) -> bool:
    """Whether two values cannot be told apart when they are typed, or one of them is never typed."""
    if b is None or a is NEGATIVE_INFINITY or b is NEGATIVE_INFINITY:
        return a is b
    if has_symbols(a) or has_symbols(b):
        return bool(a == b)
    return abs(approximate(a)) > LARGEST or abs(approximate(a) - approximate(b)) < 1e-9
