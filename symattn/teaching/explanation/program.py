"""A derivation as a program for NumPy alone, for notebooks: to fill in, or worked out and compared with the key.

One with letters is a program for SymPy alone (`program_in_letters`).

Names in it are made of the derivation's own, so that no foreign text stands in it.
"""

from __future__ import annotations

import keyword
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from symattn.derivation.algebra import IN_SYMPY, Entries
from symattn.derivation.derivation import Derivation, Op, Operand, RuleOp, Shape, Step, StepName
from symattn.derivation.numpy_source import HELPERS, array, assigned, helpers_called
from symattn.errors import InputError
from symattn.exact import Matrix
from symattn.formula import Formula, MatrixOf, number, parts_of
from symattn.page.document import Blocks, Display, Program, Solved, all_blocks
from symattn.teaching.problem import Problem
from symattn.teaching.question import Part, Question, asked_step, matrix_of

# --- names ---
RESERVED = frozenset({"np", "math", "mask", "bias", "positions", "angles", *HELPERS, *keyword.kwlist})


def identifier(name: str) -> str:
    """The name of a step as a name in Python.

    >>> identifier("S'_2^self.3"), identifier("W_Q"), identifier("2 x"), identifier("mask")
    ('S_scaled_2_self_token_3', 'W_Q', 'x', 'mask_')
    """
    called = StepName.of(name)
    parts = [called.stem.replace("'", "_scaled"), called.head, called.place]
    parts += [] if called.token is None else ["token", called.token]
    joined = unicodedata.normalize("NFKC", "_".join(str(part) for part in parts if part not in (None, "")))
    letters = "".join(c for c in joined if f"a{c}".isidentifier()).lstrip("_0123456789")
    own = letters if letters.isidentifier() else f"M_{letters}"
    return f"{own}_" if own in RESERVED else own


def unlike(others: Iterable[str], name: str) -> str:
    """A name that none of the others has: itself, or with a number."""
    taken, count, unlike = set(others), 1, name
    while unlike in taken:
        count += 1
        unlike = f"{name}_no_{count}"
    return unlike


# --- programs ---

OPENING = "import numpy as np\n\nnp.set_printoptions(precision=4, suppress=True)"


class Computation:
    """The program of one derivation in numbers: its names, its givens, and its steps one after another."""

    def __init__(self, derivation: Derivation) -> None:
        self.derivation = derivation
        self.names: dict[str, str] = {}
        for name in derivation.matrices:
            self.names[name] = unlike(self.names.values(), identifier(name))

    def givens(self, names: Iterable[str]) -> str:
        """Some of the givens as arrays."""
        return "\n".join(assigned(self.names[name], matrix_of(self.derivation, name)) for name in names)

    def asked(self, step: Step) -> str:
        """A place for a step."""
        name, (rows, columns) = self.names[step.name], step.result.shape
        return f"{name} = ...  # to compute: {rows} by {columns}\n{name}"

    def worked(self, steps: Sequence[Step]) -> str:
        """Steps, each compared with the key, the last of them shown."""
        lines = [line for step in steps for line in self._lines(step)]
        return "\n".join([*lines, self.names[steps[-1].name]])

    def _lines(self, step: Step) -> Iterator[str]:
        """The step in NumPy; what was put in by hand, as it is."""
        name, result = self.names[step.name], step.result
        assert isinstance(result, Matrix)
        if step.pinned:
            yield assigned(name, result)
            return
        shapes = [matrix.shape for matrix in self.derivation.operands(step)]
        yield from step.op.numpy_above()
        yield f"{name} = {numpy_line(step.op, list(map(self._operand, step.operands)), shapes)}"
        yield array(result, f"assert np.allclose({name}, ") + ")"

    def _operand(self, operand: Operand) -> str:
        """A matrix by name, or a row or a column of it: NumPy counts from 0."""
        part = "" if operand.row is None else f"[{operand.row}:{operand.row + 1}]"
        part += "" if operand.column is None else f"[:, {operand.column}:{operand.column + 1}]"
        return self.names[operand.name] + part + (".T" if operand.transposed else "")


def numpy_line(op: Op, names: Sequence[str], shapes: Sequence[Shape]) -> str:
    """An operation on operands by name; they are names, parts of matrices (`X[0:1]`), or transposed (`K.T`).

    Without a line of its own it is written entry by entry, for operands of these shapes.
    """
    if line := op.numpy(*names):
        return line
    if not isinstance(op, RuleOp):
        raise InputError(f"{op.title} ({type(op).__name__}) needs a line of NumPy: its method `numpy`.")
    return _entry_by_entry(op, names, shapes)


def _entry_by_entry(op: RuleOp, names: Sequence[str], shapes: Sequence[Shape]) -> str:
    """The rule in SymPy, printed as NumPy: np.array([[S[0, 0]**3, …], …])."""
    import sympy
    from sympy.printing.numpy import NumPyPrinter

    def seen(name: str, shape: Shape) -> Entries[Any]:
        return Entries(shape, lambda i, j: sympy.Symbol(f"{name}[{i}, {j}]", real=True))

    class Printer(NumPyPrinter):  # type: ignore[misc]
        def _print_Max(self, largest: Any) -> str:  # noqa: N802  (SymPy's own needs functools)
            return f"numpy.max([{', '.join(map(self._print, largest.args))}])"

    printer = Printer({"fully_qualified_modules": True})
    entries = [seen(name, shape) for name, shape in zip(names, shapes, strict=True)]
    rows, columns = op.shape(*shapes)
    lines = [
        ", ".join(printer.doprint(op.rule(IN_SYMPY, i, j, *entries)) for j in range(int(columns)))
        for i in range(int(rows))
    ]
    return f"np.array([{', '.join(f'[{line}]' for line in lines)}])".replace("numpy.", "np.")


def functions(source: str, defined: set[str]) -> str:
    """The helper functions that some source calls, with what they import; those `defined` already grow by them."""
    called = [name for name in helpers_called(source) if name not in defined]
    defined.update(called)
    texts = [HELPERS[name].strip() for name in called]
    imports = ["import math"] if any("math." in text for text in texts) else []
    return "\n\n\n".join(imports + texts)


# --- in documents -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class StepPrograms:
    """A derivation as a program: what opens it, the cells of every step, and what closes it."""

    opening: Blocks
    steps: Mapping[str, Blocks]
    closing: Blocks = ()

    @property
    def whole(self) -> Blocks:
        """All of it, one cell after another."""
        return (*self.opening, *(cell for cells in self.steps.values() for cell in cells), *self.closing)


def step_programs(problem: Problem) -> StepPrograms:
    """A derivation in NumPy, each step compared with its numbers; one with letters in SymPy, compared at its end."""
    if not problem.steps:
        return StepPrograms((), {})
    if not problem.derivation.in_numbers:
        # only here, for the practice page has no programs in letters
        from symattn.teaching.explanation.program_in_letters import ComputationInLetters

        in_letters = ComputationInLetters(problem.derivation)
        steps = {name: _cells(cell) for name, cell in in_letters.cells.items()}
        return StepPrograms(_cells(*in_letters.opening()), steps, _cells(*in_letters.closing()))
    computation, defined = Computation(problem.derivation), set[str]()
    steps = {step.name: _cells(*_with_functions([computation.worked([step])], defined)) for step in problem.steps}
    return StepPrograms(_cells(OPENING, computation.givens(problem.givens)), steps)


@dataclass(frozen=True)
class Programs:
    """The programs beside a question: what comes before its parts, and for each part a place to compute and the key.

    A student gets those givens as arrays that are printed and not asked for, and nothing that is worked out.
    """

    opening: Blocks
    asked: tuple[Blocks, ...]
    worked: tuple[Blocks, ...]

    def below(self, part: Solved, number: int) -> Solved:
        """A part, by its number from 1, with its programs below it."""
        asked, worked = self.asked[number - 1], self.worked[number - 1]
        return replace(part, ask=(*part.ask, *asked), partly=(*part.partly, *asked), worked=(*part.worked, *worked))


@dataclass(frozen=True)
class Variables:
    """What programs call the matrices of a question: by part, what is asked there; and every step, by its variable."""

    parts: Mapping[str, str]
    steps: Mapping[str, str]


def variables(question: Question) -> Variables:
    """The names by which answers are found again in a program that a student filled in."""
    parts = {
        part.name: Computation(line[0]).names[line[1]] for part in question.parts if (line := _line(question, part))
    }
    if question.problem is None:
        return Variables(parts, {})
    names = Computation(question.problem.derivation).names
    return Variables(parts, {names[step.name]: step.name for step in question.problem.derivation})


def programs_of(questions: Sequence[Question]) -> list[Programs]:
    """The programs of questions that stand in one notebook: what all of them need stands beside the first."""
    defined = set[str]()
    made: list[Programs] = []
    for question in questions:
        opened = any(programs.opening for programs in made)
        made.append(_programs(question, "" if opened else OPENING, defined))
    return made


def programs(question: Question) -> Programs:
    """The programs for the parts whose answers are lines of derivations in numbers."""
    return programs_of([question])[0]


def _programs(question: Question, opens: str, defined: set[str]) -> Programs:
    """The same, below other programs in which some helper functions are `defined`."""
    asked_for = {part.name for part in question.parts}
    printed = list(_matrices(question))

    def is_told(name: str, derivation: Derivation) -> bool:
        rows = matrix_of(derivation, name).rows
        return name not in asked_for and tuple(tuple(map(number, row)) for row in rows) in printed

    opening, asked, worked = [opens], list[list[str]](), list[list[str]]()
    computation, done = None, set[str]()
    for part in question.parts:
        asked.append([])
        worked.append([])
        if (line := _line(question, part)) is None:
            continue
        derivation, name = line
        if computation is None or computation.derivation is not derivation:
            computation, done = Computation(derivation), set()
            told = [given for given in derivation.givens if is_told(given, derivation)]
            if question.problem and derivation is question.problem.derivation:
                opening.append(computation.givens(told))
                worked[-1].append(computation.givens(given for given in derivation.givens if given not in told))
            else:
                asked[-1].append(computation.givens(told))
                worked[-1].append(computation.givens(derivation.givens))
        asked[-1].append(computation.asked(derivation[name]))
        if new := [step for step in derivation.until(name) if step.name not in done]:
            worked[-1].append(computation.worked(new))
            done |= {step.name for step in new}
    if not any(asked):
        return Programs((), ((),) * len(asked), ((),) * len(worked))
    complete = [list(_with_functions(cells, defined)) for cells in worked]
    return Programs(_cells(*opening), *(tuple(_cells(*cells) for cells in both) for both in (asked, complete)))


def _with_functions(cells: Iterable[str], defined: set[str]) -> Iterator[str]:
    """Cells, each below the helper functions that it is the first to call."""
    for cell in cells:
        yield functions(cell, defined)
        yield cell


def _line(question: Question, part: Part) -> tuple[Derivation, str] | None:
    """The line of a derivation in numbers that a part asks for, if it is one."""
    if (asked := asked_step(question, part)) is None:
        return None
    derivation, name = asked
    is_step = any(step.name == name for step in derivation)
    return (derivation, name) if is_step and derivation.in_numbers else None


def _matrices(question: Question) -> Iterator[tuple[tuple[Formula, ...], ...]]:
    """The rows of all matrices that are printed on paper."""
    printed = (*question.introduction, *question.given, *(block for part in question.parts for block in part.ask))
    for block in all_blocks(printed):
        if isinstance(block, Display):
            for line in block.lines:
                yield from (part.rows for part in parts_of(line) if isinstance(part, MatrixOf))


def _cells(*sources: str) -> Blocks:
    return tuple(Program(source) for source in sources if source)
