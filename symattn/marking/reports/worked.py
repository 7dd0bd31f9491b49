"""What a student wrote, as formulas, and an entry worked out in the student's own numbers: "row 1 of your Q times row 2
of your K is 1·0 + (−2)·2 + 0·1 = −4".

The working is the rule of the operation, read as formulas, with the lines that were written as its operands.  What was
written is the tree that was read, drawn as it stands.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import assert_never

from symattn.derivation.algebra import Entries, Index
from symattn.derivation.derivation import Derivation, Operand, Step
from symattn.derivation.ops.attention import Mask, Softmax
from symattn.derivation.ops.linear import MatMul
from symattn.derivation.slips import Slipped, slips
from symattn.errors import SymattnError
from symattn.exact import NEGATIVE_INFINITY, Matrix, Value, compare, decimal_text, exact, has_symbols, tree
from symattn.formula import (
    Call,
    Dots,
    Formula,
    Infinity,
    Name,
    Negative,
    Number,
    Power,
    Product,
    Relation,
    Root,
    Sum,
    Text,
    children,
    decimal,
    number,
    rebuilt,
    shortest,
)
from symattn.formula import Fraction as FormulaFraction
from symattn.formula.width import width
from symattn.marking.attempt import Entry, Grid
from symattn.marking.marker.report import Cell
from symattn.marking.marker.trace import may_be_raised
from symattn.marking.reports import words
from symattn.page.document import Inlines, Math, Quoted, in_turn, listing, sentence
from symattn.teaching.explanation.wording import Wording, guard_digits, read_off

MOST_TERMS = 6
"""Terms of a sum that are written out; of more, the first two and the last."""

WIDEST_NUMBER = 5.0
"""An exact number that is wider, in em, stands in a working as a decimal."""

WIDEST_WORKING = 60.0
"""A working that is wider, in em, says nothing to anybody."""


@dataclass(frozen=True)
class StudentWork:
    """A student's own lines: the derivation with them in it, what was written by step, and how numbers are written."""

    derivation: Derivation
    written: Mapping[str, Grid]
    wording: Wording
    places: int
    exact: bool

    def __contains__(self, step: object) -> bool:
        return any(line.name == step for line in self.derivation)

    def told(self, step: str, cell: Cell, place: str = "") -> Inlines:
        """What was written at a place, and what stands there by the lines before; nothing where nothing is known.

        `place` says where, if that has to be said.
        """
        line, entry = self.derivation[step], self.entry(step, *cell)
        if entry is None or entry.blank or not entry.readable or self._looks_alike(entry, line, cell):
            return ()
        if (working := self.worked(line, cell)) is None:
            return ()
        have = sentence("You have {written}", written=self._have(entry))
        if place:
            have = sentence("In {place}, you have {written}", place=place, written=self._have(entry))
        if isinstance(line.op, MatMul):
            row, column = (self._line(line.operands[k], cell[k], across=k == 0) for k in (0, 1))
            return sentence(
                "{have}; {row} times {column} is {working}.", have=have, row=row, column=column, working=working
            )
        if not line.operands:
            return sentence("{have}; it is {working}.", have=have, working=working)
        lines = listing(list(dict.fromkeys(map(self.name, line.operands))))
        return sentence("{have}; with {lines} it is {working}.", have=have, lines=lines, working=working)

    def slips(self, step: str, i: int, j: int) -> Iterator[Slipped]:
        """Every slip that can be made at a place, with the lines before."""
        until = self.derivation.until(step)
        before = replace(until, steps=until.steps[:-1])
        try:
            yield from slips(before.extended(replace(until.last, pinned=False)), step, i, j)
        except SymattnError:  # not defined with these lines
            return

    def example(self, step: str, row: int) -> Inlines:
        """An entry of a step that was not written, worked out: in a given row, and not 0 if it can be.

        Of a mask it is one that is hidden, since nothing is done to the others.
        """
        line = self.derivation[step]
        if not isinstance(line.result, Matrix):
            return ()
        rows, columns = line.result.shape
        cells = [(row if row < rows else 0, j) for j in range(columns)]
        masked = isinstance(line.op, Mask)
        telling = [c for c in cells if (x := line.result[c]) != 0 and (x is NEGATIVE_INFINITY) is masked]
        cell = (telling or cells)[0]
        worked = self.worked(line, cell)
        if worked is None:
            return ()
        return sentence(
            "For instance, {equation}.", equation=Relation((self.wording.entry(step, *cell), worked), ("=",))
        )

    def sums(self, step: str, cells: Collection[Cell]) -> Iterator[Inlines]:
        """Which tokens' weights, of those in some places, do not sum to 1, and what they sum to."""
        op, grid = self.derivation[step].op, self.written.get(step)
        if not isinstance(op, Softmax) or grid is None:
            return
        rows, along = (grid, 0) if op.along == "rows" else (grid.T, 1)
        for k in dict.fromkeys(cell[along] for cell in cells):
            if k >= rows.shape[0] or (total := _total(rows.rows[k])) is None:
                continue
            yield self._summed(step, op.along == "rows", k, rows.shape[0] == 1, total)
            return  # the first of them says it

    def _summed(self, step: str, in_rows: bool, line: int, alone: bool, total: Value) -> Inlines:
        digits, name = shortest(total), self.name(step)
        rounded = decimal_text(total, self.places) if digits is None else digits
        shown = decimal(rounded)
        if alone:
            return sentence("The weights in {matrix} sum to {sum}, not to 1.", matrix=name, sum=shown)
        if in_rows:
            return sentence("Row {line} of {matrix} sums to {sum}, not to 1.", line=line + 1, matrix=name, sum=shown)
        return sentence("Column {line} of {matrix} sums to {sum}, not to 1.", line=line + 1, matrix=name, sum=shown)

    def shapes(self, step: str, right: tuple[int, int]) -> Inlines:
        """What shape a matrix has, and what shape it must have."""
        (rows, columns), (m, n), line = self.written[step].shape, right, self.derivation[step]
        both = sentence(
            "{matrix} is {written}; it should be {shape}.",
            matrix=self.wording.name(step), written=f"{rows}×{columns}", shape=f"{m}×{n}",
        )  # fmt: skip
        if not isinstance(line.op, MatMul):
            return both
        why = sentence(
            "A product has a row for every row of {left} and a column for every column of {right}.",
            left=self.wording.operand(line.operands[0]), right=self.wording.operand(line.operands[1]),
        )  # fmt: skip
        return in_turn([both, why])

    # -- the working

    def worked(self, step: Step, cell: Cell) -> Formula | None:
        """1·0 + (−2)·2 + 0·1 = −4; none if it is not defined, or too long to tell anybody anything."""
        value = self.value(step, cell)
        if value is None or has_symbols(value):
            return None
        try:
            working = self._working(step, cell)
            if _has_decimals(working):
                working = self._working(step, cell, self._guard(step, cell, value))
        except (SymattnError, TypeError):  # a rule that cannot be read in formulas here
            return None
        result, sign = self._result(value, self.exact and not _has_decimals(working))
        if width(working) > WIDEST_WORKING:
            return None
        copied = working in (result, self._operand(value, None))  # nothing was worked out
        return result if copied else Relation((working, result), (sign,))

    def _working(self, step: Step, cell: Cell, guard: int = 0) -> Formula:
        return shortened(step.op.working(*cell, *(self._view(operand, guard) for operand in step.operands)))

    def _guard(self, step: Step, cell: Cell, value: Value) -> int:
        """How many digits more than usual the key's numbers need, so that the value follows from what is printed."""
        printed = value if value is NEGATIVE_INFINITY else Fraction(decimal_text(value, self.places))
        return guard_digits(
            step.op,
            [cell],
            lambda guard: [self._read(operand, guard) for operand in step.operands],
            lambda i, j: (printed, self.places),
        )

    def _read(self, operand: Operand, guard: int) -> Entries[Value]:
        """An operand's numbers as they are read off the page."""
        matrix, shown = self.derivation.operand(operand), self._view(operand, guard)
        assert isinstance(matrix, Matrix)
        return Entries(matrix.shape, lambda i, j: read_off(shown[i, j], matrix[int(i), int(j)]))

    def value(self, step: Step, cell: Cell) -> Value | None:
        """What an entry is by the lines before it; none if it is not defined."""
        i, j = cell
        try:
            matrices = self.derivation.operands(step)
            found = [m for m in matrices if isinstance(m, Matrix)]
            if len(found) < len(matrices):
                return None
            if isinstance(step.op, Softmax) and not may_be_raised(step.op, found[0]):
                return None
            rows, columns = step.op.shape(*(m.shape for m in found))
            if i >= int(rows) or j >= int(columns):
                return None
            return step.op.apply(*found)[i, j]
        except (SymattnError, IndexError):
            return None

    def _result(self, value: Value, exactly: bool) -> tuple[Formula, str]:
        """A value as it ends a working: exactly where that is short, and no decimals were worked with; else to as many
        places as are asked for."""
        exact = self.wording.number(value)
        if isinstance(value, int) or value is NEGATIVE_INFINITY:
            return exact, "="
        digits = shortest(value)
        if digits is not None and len(digits.partition(".")[2]) <= self.places:
            return (exact if exactly else decimal(digits)), "="
        rounded = decimal(decimal_text(value, self.places))
        if exactly and width(exact) <= WIDEST_NUMBER:
            return Relation((exact, rounded), ("≈",)), "="
        return rounded, "≈"

    def _view(self, operand: Operand, guard: int = 0) -> Entries[Formula]:
        matrix = self.derivation.operand(operand)

        def shown(i: Index, j: Index) -> Formula:
            if isinstance(i, str) or isinstance(j, str) or not isinstance(matrix, Matrix):
                return self.wording.entry(operand.name, *operand.place(i, j))
            row, column = operand.place(i, j)
            assert isinstance(row, int) and isinstance(column, int)
            return self._operand(matrix[i, j], self.entry(operand.name, row, column), guard)

        return Entries(matrix.shape, shown, first=self.wording.notation.first_index)

    def _operand(self, value: Value, entry: Entry | None, guard: int = 0) -> Formula:
        """A number that is worked with: a decimal where one was written, else exactly if that is short, or rounded."""
        if entry and entry.unit is not None and entry.value == value and not isinstance(value, int):
            return decimal(decimal_text(value, _places_of(entry.unit)))
        exact = self.wording.number(value, guard)
        if value is NEGATIVE_INFINITY or has_symbols(value) or width(exact) <= WIDEST_NUMBER:
            return exact
        return decimal(decimal_text(value, self.places + guard))

    # -- names

    def entry(self, step: str, i: int, j: int) -> Entry | None:
        """What was written at a place."""
        grid = self.written.get(step)
        return grid[i, j] if grid is not None and i < grid.shape[0] and j < grid.shape[1] else None

    def name(self, operand: Operand | str) -> Inlines:
        """Q, or "your Q" where the student wrote it."""
        if isinstance(operand, str):
            name, formula = operand, self.wording.name(operand)
        else:
            name, formula = operand.name, self.wording.operand(replace(operand, transposed=False))
        return sentence("your {matrix}", matrix=formula) if name in self.written else (Math(formula),)

    def _line(self, operand: Operand, index: int, across: bool) -> Inlines:
        """A row or a column of a factor, as it lies on the page: row 2 of your K, where K is transposed."""
        whole, as_row = self.derivation.value(operand.name), across is not operand.transposed
        if operand.row is not None or operand.column is not None or whole.shape[not as_row] == 1:
            return self.name(operand)
        if as_row:
            return sentence("row {row} of {matrix}", row=index + 1, matrix=self.name(operand))
        return sentence("column {column} of {matrix}", column=index + 1, matrix=self.name(operand))

    def _have(self, entry: Entry) -> Formula:
        if entry.unit is not None and entry.value is not None and (digits := shortest(entry.value)) is not None:
            percent = entry.text.rstrip().endswith("%")
            return as_read(entry) if percent or len(digits) > 2 * self.places + 4 else decimal(_typed(entry))
        return as_read(entry)

    def _looks_alike(self, entry: Entry, step: Step, cell: Cell) -> bool:
        """Whether what was written cannot be told from what is right, written to as many places."""
        value = self.value(step, cell)
        if value is None or entry.value is None or entry.value is NEGATIVE_INFINITY or value is NEGATIVE_INFINITY:
            return False
        places = self.places if entry.unit is None else min(self.places, _places_of(entry.unit))
        try:
            return decimal_text(entry.value, places) == decimal_text(value, places)
        except SymattnError:  # letters, or too many digits to be written out
            return False


def _total(row: Sequence[Entry]) -> Value | None:
    """What a row sums to; none if that is 1 as far as it was rounded, or not known."""
    total: Value = 0
    for entry in row:
        if entry.value is None or entry.value is NEGATIVE_INFINITY or has_symbols(entry.value):
            return None
        total = exact(total + entry.value)
    off, slack = total - 1, sum(((e.unit or 0) for e in row), Fraction(0)) / 2
    return None if compare(off, slack) <= 0 and compare(off, -slack) >= 0 else total


def _typed(entry: Entry) -> str:
    assert entry.value is not None and entry.unit is not None
    return decimal_text(entry.value, _places_of(entry.unit))


def _places_of(unit: Fraction) -> int:
    """The decimal places that a unit is the last of; 0 for tens."""
    return max(0, len(str(Fraction(unit).denominator)) - 1)


def shortened(formula: Formula) -> Formula:
    """Sums of many terms by the first two and the last, wherever they stand."""
    done = rebuilt(formula, shortened)
    if isinstance(done, Sum) and len(done.terms) > MOST_TERMS:
        return Sum((*done.terms[:2], Dots(), done.terms[-1]))
    return done


def _has_decimals(formula: Formula) -> bool:
    """Whether a decimal stands in a formula."""
    return (isinstance(formula, Number) and "." in formula.digits) or any(map(_has_decimals, children(formula)))


# ---------------------------------------------------------------------------------------- what was written, as formulas

LONGEST = 60
"""Characters of a student's text that are shown."""

LONGEST_TO_READ = 4000
"""Characters that are shown to somebody who has to read the text."""


def short(text: str, longest: int = LONGEST) -> Quoted:
    """A student's text of any length, cut to what is shown of it."""
    return Quoted(text if len(text) <= longest else text[:longest] + words.ELLIPSIS)


def as_read(entry: Entry) -> Formula:
    """An entry as it was read, a word as a word; as text, cut, where it was not read, or where it is long."""
    if entry.word:
        return Text(short(entry.word))
    if entry.reading is None or len(entry.echo) > LONGEST:
        return Text(short(entry.echo or entry.text))
    return formula_of(entry.reading.tree)


def formula_of(node: tree.Node) -> Formula:
    """The formula that a tree says, nothing worked out."""
    match node:
        case tree.Number(value, digits=digits):
            return Number(digits) if digits else number(value)
        case tree.MinusInfinity():
            return Negative(Infinity())
        case tree.Symbol(name):
            base, _, index = name.partition("_")
            return Name(Quoted(base), (Number(index.strip("{}")),) if index else ())
        case tree.Opposite(body):
            return Negative(formula_of(body))
        case tree.Total(terms):
            return Sum(tuple(map(formula_of, terms)))
        case tree.Product(factors):
            return _product(tuple(map(formula_of, factors)))
        case tree.Over(numerator, denominator):
            return FormulaFraction(formula_of(numerator), formula_of(denominator))
        case tree.Power(base, exponent):
            return Power(formula_of(base), formula_of(exponent))
        case tree.Apply("sqrt", (body,)):
            return Root(formula_of(body))
        case tree.Apply(function, ()):
            return Name({"pi": "π"}.get(function, function))
        case tree.Apply(function, arguments):
            return Call(Name(function), tuple(map(formula_of, arguments)))
        case _:
            assert_never(node)


def _product(factors: tuple[Formula, ...]) -> Product:
    """3e² side by side; with a fraction in it with dots, for 1½ would be a sum."""
    return Product(factors, "·" if any(isinstance(factor, FormulaFraction) for factor in factors) else "")
