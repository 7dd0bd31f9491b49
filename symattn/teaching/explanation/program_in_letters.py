"""A derivation in letters as a program for SymPy alone, for notebooks: a cell for every step, and a comparison.

Each cell builds its matrix from the matrices before it, as one types it; the last finds the result equal to symattn's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from symattn.derivation.algebra import WRITTEN_OUT, size_in_sympy
from symattn.derivation.derivation import Derivation
from symattn.derivation.symbolic import Stage, in_stages
from symattn.derivation.sympy_source import (
    assumptions,
    declared,
    imported,
    letters_in,
    source,
    symbol_list,
    typed_name,
)
from symattn.exact import AnyMatrix, Matrix, in_numbers
from symattn.teaching.explanation.program import identifier, unlike

LONGEST = 30
"""The most parts of an entry that is still read; what comes after a longer one has its matrix by name."""

SMALL = {"n": 3, "m": 4}
"""Sizes with which results are compared; every other size is 2, so that features can be paired."""

COMPARISON = '''
# What the cells above come to is compared with what symattn has in letters.
from random import Random

from sympy.matrices.expressions.matexpr import MatrixElement

sizes = SIZES


def number(letter):
    """Any number for a letter or an entry, the same each time."""
    dice = Random(str(letter))
    return Rational(dice.randint(1, 9), dice.randint(2, 5))


def value(x, at):
    """An expression with numbers for its letters; those of sizes and of indices are in `at`."""
    if x in at:
        return at[x]
    if isinstance(x, Sum):
        *inner, (k, first, last) = x.limits
        term = Sum(x.function, *inner) if inner else x.function
        return Add(*(value(term, {**at, k: r}) for r in range(value(first, at), value(last, at) + 1)))
    if isinstance(x, MatrixElement):
        matrix, i, j = x.args[0], value(x.i, at), value(x.j, at)
        if isinstance(matrix, MatrixSymbol):
            return number(f"{matrix.name}[{i}, {j}]")
        return value(sympify(matrix.subs(sizes)[i, j]), sizes)
    if isinstance(x, Symbol):
        return number(x)
    return x.func(*(value(part, at) for part in x.args)) if x.args else x


def in_numbers(matrix):
    """Every entry with numbers for its letters."""
    rows, columns = (value(sympify(size), sizes) for size in matrix.shape)
    return Matrix(rows, columns, lambda i, j: value(sympify(matrix[i, j]), sizes))


def is_same(x, y):
    """Whether two numbers are equal, exactly; what differs in its decimals is not."""
    return x == y or (abs(complex((x - y).n(30))) < 1e-20 and (x - y).equals(0) is True)


def are_equal(found, printed):
    """Whether two matrices are the same as they stand, or else in every entry for any numbers."""
    if found == printed:
        return True
    return all(is_same(x, y) for x, y in zip(in_numbers(found), in_numbers(printed), strict=True))
'''


WIDEST = 100  # characters of a line

USED = frozenset(
    {
        *("Add", "Rational", "Float", "Symbol", "symbols", "sympify", "oo", "pi", "sqrt", "exp", "log", "sin", "cos"),
        *("tanh", "erf", "Abs", "Max", "Min", "Mod", "floor", "Heaviside", "KroneckerDelta", "Piecewise", "Eq", "Ne"),
        *("Matrix", "MatrixSymbol", "MatrixElement", "BlockMatrix", "FunctionMatrix", "Lambda", "Sum", "Function"),
        *("Random", "sizes", "number", "value", "in_numbers", "is_same", "are_equal", "printed", "i", "j"),
    }
)
"""What programs are made of: no matrix and no letter is called so."""


class ComputationInLetters:
    """The program of one derivation in letters: its names, its givens, a cell for every step, and the comparison."""

    def __init__(self, derivation: Derivation) -> None:
        self.derivation = derivation
        # SymPy writes out a sum of 512 terms, so matrices of such sizes are never put together
        sizes = {size for given in derivation.givens.values() for size in given.shape}
        longest = 0 if any(isinstance(size, int) and size > WRITTEN_OUT for size in sizes) else LONGEST
        self.stages = {stage.step.name: stage for stage in in_stages(derivation, longest)}
        self.names: dict[Any, str] = {}
        self.letters = self._letters()
        for name in (*derivation.givens, *self.stages):
            self.names[name] = self._unlike(identifier(name))
        self.cells = {name: self._cell(stage) for name, stage in self.stages.items()}

    def opening(self) -> Iterator[str]:
        """What comes before the steps: what is imported, letters, and givens."""
        givens = "\n".join(f"{self.names[name]} = {self._given(name)}" for name in self.derivation.givens)
        letters = "\n".join(declared(self.letters))
        yield "\n\n".join(filter(None, (imported([letters, givens, *self.cells.values(), *self.closing()]), letters)))
        yield givens

    def closing(self) -> Iterator[str]:
        """The comparison of what the steps come to with what symattn has put together."""
        with_formula = [stage for stage in self.stages.values() if not stage.lacks]
        used = {operand.name for stage in with_formula for operand in stage.step.operands}
        compared = [stage for stage in with_formula if stage.kept or stage.step.name not in used]
        if not compared:
            return
        sizes = ", ".join(
            f"{self.names[letter]}: {SMALL.get(letter.name, 2)}"
            for letter in self.letters
            if letter.is_positive and letter.is_integer
        )
        yield COMPARISON.strip().replace("SIZES", f"{{{sizes}}}")
        last = compared[-1]
        lines, equal = [], []
        for stage in compared:
            name, whole = self.names[stage.step.name], self._whole(stage)
            printed = "printed" if stage is last else f"printed_{name}"
            lines.append(self._assigned(printed, stage.whole, isinstance(stage.step.result, Matrix)))
            equal.append(f"are_equal({whole}, {printed})")
        yield "\n".join([*lines, *_all(equal)])

    def _letters(self) -> dict[Any, str]:
        """What every letter is called: sizes, indices, parameters, and those in givens."""
        letters = letters_in(
            [
                *(size_in_sympy(size) for given in self.derivation.givens.values() for size in given.shape),
                *(x for name, given in self.derivation.givens.items() if not self._is_of_symbols(name)
                  for x in (given.sympy() if isinstance(given, Matrix) else ())),
                *(x for stage in self.stages.values() if not stage.lacks for x in (stage.own, stage.whole)),
            ]
        )  # fmt: skip
        sums = 0
        for letter in letters:
            if letter.is_Dummy:  # every sum has an index of its own; equal ones are of one sum
                sums += 1
                self.names[letter] = f"k_{sums}"
            elif letter.name in ("i", "j") and assumptions(letter) == ", integer=True, nonnegative=True":
                self.names[letter] = letter.name
            else:
                self.names[letter] = self._unlike(identifier(typed_name(letter)))
        return {letter: self.names[letter] for letter in letters}

    def _unlike(self, name: str) -> str:
        return unlike({*USED, *self.names.values()}, name)

    def _is_of_symbols(self, name: str) -> bool:
        """Whether each entry of a given is a symbol of its own, so that a list of names says all."""
        given = self.derivation.givens[name]
        if not isinstance(given, Matrix):
            return False
        entries = list(given.sympy())
        elsewhere = {s for other, m in self.derivation.givens.items() if other != name and isinstance(m, Matrix)
                     for s in m.sympy().free_symbols}  # fmt: skip
        return (
            all(x.is_Symbol for x in entries)
            and len({typed_name(x) for x in entries}) == len(entries)
            and len(set(map(assumptions, entries))) == 1
            and not elsewhere & set(entries)
        )

    def _given(self, name: str) -> str:
        given = self.derivation.givens[name]
        if isinstance(given, Matrix) and self._is_of_symbols(name):
            rows, columns = given.shape
            return f"Matrix({rows}, {columns}, {symbol_list(given.sympy(), rows, columns)})"
        return source(given.sympy(), self.names) if isinstance(given, Matrix) else self._named(name, given)

    def _named(self, name: str, value: AnyMatrix) -> str:
        """A matrix by its name."""
        shape = ", ".join(source(size_in_sympy(size), self.names) for size in value.shape)
        symbol = f'MatrixSymbol("{self.names[name]}", {shape})'
        return f"Matrix({symbol})" if isinstance(value, Matrix) else symbol

    def _whole(self, stage: Stage) -> str:
        """What a step is called before it goes on by its name."""
        name = self.names[stage.step.name]
        return f"{name}_whole" if stage.kept else name

    def _cell(self, stage: Stage) -> str:
        name, result = self.names[stage.step.name], stage.step.result
        explicit = isinstance(result, Matrix)
        if stage.lacks:
            return self._without_formula(stage)
        lines = [self._assigned(self._whole(stage), stage.own, explicit)]
        shown = self._whole(stage) + ("" if explicit else self._any_entry(stage))
        if stage.kept:
            lines.append(
                f"{name} = {self._named(stage.step.name, result)}  # its entries are long: from here on a name"
            )
        return "\n".join([*lines, shown])

    def _without_formula(self, stage: Stage) -> str:
        """A step that goes on from its numbers, or by its name."""
        name, result = self.names[stage.step.name], stage.step.result
        value = source(result.sympy(), self.names) if in_numbers(result) else self._named(stage.step.name, result)
        return f"# {stage.lacks}\n{name} = {value}\n{name}"

    def _any_entry(self, stage: Stage) -> str:
        """[i, j] of a matrix that is its entry as a function of these."""
        if type(stage.own).__name__ != "FunctionMatrix":
            return ""
        rows, columns = stage.step.result.shape
        return f"[{'0' if rows == 1 else 'i'}, {'0' if columns == 1 else 'j'}]"

    def _assigned(self, name: str, matrix: Any, explicit: bool) -> str:
        line = f"{name} = {source(matrix, self.names, explicit)}"
        if len(line) > WIDEST and type(matrix).__name__ == "FunctionMatrix":
            head, opens, body = line.partition("Lambda(")
            indices, _, entry = body.removesuffix("))").partition("), ")
            return f"{head}{opens}\n    {indices}),\n    {entry},\n))"
        return line


def _all(equal: list[str]) -> list[str]:
    if len(equal) == 1:
        return equal
    return ["all([", *(f"    {one}," for one in equal), "])"]
