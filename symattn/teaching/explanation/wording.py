"""A derivation's matrices in the words and signs of a notation."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache, cached_property
from itertools import count, product
from typing import Literal

from symattn.derivation.algebra import VALUES, Entries, Index, size_formula
from symattn.derivation.derivation import (
    Derivation,
    Op,
    Operand,
    Orientation,
    RuleOp,
    Step,
    StepName,
    Style,
    View,
    in_decimals,
    is_short_fraction,
    symbol_names,
)
from symattn.derivation.ops.attention import Mask
from symattn.derivation.ops.entrywise import Round
from symattn.derivation.ops.linear import MatMul, Scale
from symattn.errors import InputError, UndecidedError, UndefinedError
from symattn.exact import (
    NEGATIVE_INFINITY,
    AnyMatrix,
    Matrix,
    Outline,
    Real,
    Size,
    Value,
    compare,
    decimal_text,
    has_symbols,
    indices,
    is_symbolic,
    significant_text,
)
from symattn.exact.real import as_real, going_on
from symattn.formula import (
    Annotated,
    Blank,
    CellKind,
    Dots,
    Formula,
    ListOf,
    MatrixOf,
    Name,
    Names,
    Negative,
    Number,
    Power,
    Product,
    Root,
    Row,
    Scope,
    Shape,
    Sum,
    Text,
    Transposed,
    decimal,
    elided_range,
    equal,
    number,
    read_formula,
    rebuilt,
    shortest,
    symbol_formula,
)
from symattn.formula.width import width
from symattn.page.document import Inlines, Quoted, Sentence, as_text, places_of
from symattn.page.notation import MatrixNames, Notation, Sizes, default_names, load_notation, read_name

Separator = Literal["", ",", ";"]

SMALLEST = Fraction(1, 10**12)
"""A decimal that is carried on has digits of its own down to here."""

MOST_PLACES = 50
"""Of weights that are printed so that what follows from them is right."""

LINE = 40.0
"""The width of a line in em, as `symattn.formula.width` estimates it."""

LONG = 8
"""Rows or columns above this are not written out by name."""


class Wording:
    """Names, entries, numbers and shapes of one derivation in one notation."""

    def __init__(self, derivation: Derivation, notation: Notation, places: int | None = None) -> None:
        """`places` writes every number as a decimal with that number of places.

        With rounding, numbers that end as decimals are written so, as where the notation wants
        it.
        """
        self.places = places
        self.derivation = derivation
        self.notation = notation
        self.orientation = derivation.orientation
        self.letters = notation.letter_formulas
        rounds = any(isinstance(step.op, Round) for step in derivation)
        self._in_decimals = rounds or notation.numbers == "shortest"
        self._named = cache(self._called)
        self._views = cache(self.view)
        self._read = cache(self._read_off)
        self._carries = cache(self._has_decimals)

    # -- names

    def read(self, text: str, **indices: Index) -> Formula:
        """A formula of the notation with its index letters replaced."""
        return read_name(self.notation, text, tuple(indices.items()), self._sizes)

    def name(self, name: str) -> Formula:
        """A given or a step by name: Q; the scores of token 2 as the second row of S."""
        role, token = _split(name)
        if token is not None:
            return self.row(role, token)
        names, called = self._named(role)
        return decorated(self.read(names.matrix), called)

    def row(self, role: str, i: Index, t: Index | None = None) -> Formula:
        """Row i, from 1 or a letter, of a given or a step: q_2."""
        names, called = self._named(role)
        return decorated(self.read(names.row, i=i, t=i if t is None else t), called)

    def _called(self, role: str) -> tuple[MatrixNames, StepName]:
        """How a matrix is called, and the head and the place that its name has to tell besides."""
        return self._told_apart.get(role) or next(self._ways_to_call(role, self._told_apart))

    @cached_property
    def _told_apart(self) -> Mapping[str, tuple[MatrixNames, StepName]]:
        """How the matrices of the derivation are called.

        No name that a notation says nothing of is one that it gives to another matrix; two that it calls alike itself
        are called alike, as by the author of note 001.
        """
        roles = dict.fromkeys(_split(name)[0] for name in self.derivation.matrices)
        called: dict[str, tuple[MatrixNames, StepName]] = {}
        taken = set[Formula]()
        for role in sorted(roles, key=lambda role: (bool(self.differentiated(role)), not self._is_stated(role))):
            for way in self._ways_to_call(role, called):
                formula = decorated(self.read(way[0].matrix), way[1])
                if formula not in taken or self._is_stated(role):
                    break
            called[role] = way
            taken.add(formula)
        return called

    def _is_stated(self, role: str) -> bool:
        """Whether the notation calls a matrix otherwise than is standard, and not for what it is the gradient of."""
        if self.differentiated(role):
            return False
        names, called = self._as_stated(role)
        return names != load_notation("standard").named(called.stem)

    def _ways_to_call(
        self, role: str, others: Mapping[str, tuple[MatrixNames, StepName]]
    ) -> Iterator[tuple[MatrixNames, StepName]]:
        """How a matrix may be called, the best way first: as the notation says, or with primes; a gradient by its own
        name.
        """
        if of := self.differentiated(role):
            yield from self._gradient(of, role, others.get(of) or self._as_stated(of))
            called = StepName.of(role)
            names = replace(self.notation.named(called.stem), word="Gradient")
        else:
            names, called = self._as_stated(role)
        yield names, called
        base, mark, label = called.stem.partition("_")
        for primes in count(1):
            yield replace(default_names(base + "'" * primes + mark + label), word=names.word), called

    def _as_stated(self, role: str) -> tuple[MatrixNames, StepName]:
        called = StepName.of(role)
        if role in self.derivation and self.notation.named(role).are_for_tokens:
            return default_names(role), called  # one matrix, G, is none of those that there are for each token, G.t
        if role in self.notation.names or not called.scope:
            return self.notation.named(role), StepName(role)
        if (plain := role.partition("^")[0]) in self.notation.names:  # W_1^2 is the W_1 of the second block
            return self.notation.named(plain), StepName(plain, place=called.place)
        return self.notation.named(called.stem), called

    def differentiated(self, role: str) -> str:
        """The matrix whose gradient this is, or a part of it: S' for dS', X for dX_Q, what X gets from Q; or ""."""
        if not role.startswith("d") or role in self.notation.names:
            return ""
        whole = StepName.of(role[1:]).stem
        candidates = {role[1:]: role[1:], whole: role[1:], whole.rpartition("_")[0]: whole.rpartition("_")[0]}
        return next((of for name, of in candidates.items() if name in self._matrices), "")

    @cached_property
    def _matrices(self) -> frozenset[str]:
        """Whatever has a name."""
        return frozenset((*self.derivation.matrices, *self.notation.names))

    def _gradient(
        self, of: str, role: str, matrix_of: tuple[MatrixNames, StepName]
    ) -> Iterator[tuple[MatrixNames, StepName]]:
        """It is called after its matrix: dS' and ds'_{i,j}; what X gets from Q is dX^Q.  Words have no gradient."""
        called = StepName.of(role[1:])
        names, own = matrix_of
        if of == role[1:]:
            called = own
        elif of == called.stem.rpartition("_")[0]:
            source = called.stem.rpartition("_")[2]
            called = replace(called, place=",".join(filter(None, (source, called.place))))
        texts = (names.matrix, names.row, names.entry)
        matrix, row, entry = (f"hat(d{t[4:]}" if t.startswith("hat(") else f"d{t}" for t in texts)
        if not any(mark in matrix for mark in ' "'):
            yield MatrixNames(matrix, row, entry, "Gradient"), called

    def word(self, step: Step) -> str:
        """What a step is called in words: Scores."""
        if step.title == step.op.title:
            return step.op.title
        if step.title is not None:
            return Quoted(step.title)
        return self._named(step.role)[0].word

    def operand(self, operand: Operand) -> Formula:
        """An operand by name: Kᵀ, q_2."""
        role, token = _split(operand.name)
        part = operand.row if operand.row is not None else operand.column
        formula = self.name(operand.name) if part is None else self.row(role, part + 1, token or part + 1)
        return Transposed(formula) if operand.transposed else formula

    def entry(self, name: str, i: Index, j: Index) -> Formula:
        """One entry by name; i and j from 0, or letters."""
        role, token = _split(name)
        row, column = (_from_one(i), _from_one(j))
        if token is not None and role not in _OF_ALL_TOKENS:
            rows, columns = self.derivation.value(name).shape
            if 1 in (rows, columns):
                other = column if rows == 1 else row
                row, column = (other, token) if self.orientation == "columns" else (token, other)
        names, called = self._named(role)
        return decorated(self.read(names.entry, i=row, j=column, t=token or "t"), called)

    @cached_property
    def symbols(self) -> Names:
        """How the SymPy symbols of the derivation are written, in the order in which they come up."""
        names: dict[str, Formula] = {}
        for name in self.derivation.matrices:
            matrix = self.derivation.seen(name)
            if not isinstance(matrix, Matrix):
                continue
            called = symbol_names(name, *matrix.shape, self.orientation)
            for i, row in enumerate(matrix.rows):
                for j, x in enumerate(row):
                    if not is_symbolic(x):
                        continue
                    if x.is_Symbol and x.name == called[i][j]:
                        names[x.name] = self.entry(name, i, j)
                    for symbol in sorted(x.free_symbols, key=str):
                        names.setdefault(symbol.name, symbol_formula(symbol.name))
        return names

    def in_signs(self, words: str) -> Inlines:
        """Words in which names such as W_V and √d_k, and powers as e^(a+b), stand as typed, in the notation's signs."""
        return in_signs(words, self.orientation, lambda name: self.letters.get(name) or self.name(name))

    # -- numbers

    def number(self, value: Value, guard: int = 0) -> Formula:
        """A value as the notation writes it; a decimal that is carried on with `guard` digits more than usual."""
        if self.places is not None:
            return self.decimal(value, self.places)
        if self._in_decimals and (digits := shortest(value)) is not None:
            return decimal(digits)
        if isinstance(value, Real):
            return decimal(self._carried(value, guard))
        return number(value, self.symbols if is_symbolic(value) else {})

    def _carried(self, value: Real, guard: int = 0) -> str:
        """A decimal that is carried on: rounded, but to nothing but zeros only below `SMALLEST`."""
        digits = decimal_text(value, self.notation.decimals + guard)
        if not digits.strip("-0.") and (compare(value, SMALLEST) >= 0 or compare(value, -SMALLEST) <= 0):
            digits = significant_text(value, 2 + guard)
        return digits

    def base(self, base: Value | Literal["e"]) -> Formula:
        """That of a power."""
        return self.read("e") if base == "e" else self.number(base)

    def decimal(self, value: Value, places: int) -> Formula:
        """A value correctly rounded; a value with symbols stays as it is."""
        if has_symbols(value):
            return number(value, self.symbols)
        return decimal(decimal_text(value, places))

    def grid(self, rows: Iterable[Iterable[Formula]], style: str = "") -> Formula:
        """Cells in the brackets of the notation; a single row is a list.

        `style` overrides how cells are parted: commas, spaces, or nested (each row in brackets of its own).
        """
        n, cells = self.notation, tuple(map(tuple, rows))
        comma: Separator = "," if style == "commas" else ""
        if len(cells) == 1:
            return ListOf(cells[0], n.bracket, comma if style else n.list_separator)
        if style in ("commas", "spaces"):
            return MatrixOf(cells, n.bracket, comma, comma)
        return MatrixOf(cells, n.bracket, n.separator, n.row_end, n.nested or style == "nested")

    def written(self, matrix: Matrix, number: Callable[[Value], Formula], style: str = "") -> Formula:
        """A matrix, each entry as `number` writes it."""
        return self.grid((map(number, row) for row in matrix.rows), style)

    def values(self, matrix: AnyMatrix, name: str = "", style: str = "") -> Formula:
        """A matrix with its numbers; by named entries, elided, where only its shape is known."""
        if isinstance(matrix, Matrix):
            return self.written(matrix, self.number, style)
        rows, columns = (elided_range(size) for size in matrix.shape)
        return self.grid(((self._outlined(name, r, c) for c in columns) for r in rows), style)

    def _outlined(self, name: str, row: Index | None, column: Index | None) -> Formula:
        if row is None or column is None:
            return Dots("diagonal" if row == column else "vertical" if row is None else "horizontal")
        zero_based = [x - 1 if isinstance(x, int) else x for x in (row, column)]
        return self.entry(name, *zero_based)

    def decimals(self, matrix: Matrix, places: int, style: str = "") -> Formula:
        return self.written(matrix, lambda x: self.decimal(x, places), style)

    def rounded(self, matrix: Matrix, places: int) -> Formula:
        """A matrix in decimals, but for what needs none: a 0 is exactly 0, and 0.0000 is not."""
        return self.written(matrix, lambda x: self.number(x) if terminates(x) else self.decimal(x, places))

    def blank(self, shape: tuple[int, int], kind: CellKind) -> Formula:
        return self.grid([[Blank(kind)] * shape[1]] * shape[0])

    def shape(self, matrix: AnyMatrix) -> Shape:
        rows, columns = (self.size(s) for s in matrix.shape)
        return Shape(rows, columns, self.notation.shape_style)

    def size(self, size: Size) -> Formula:
        if isinstance(size, str) and size in self.letters:
            return self.letters[size]
        return size_formula(size)

    def shaped(self, formula: Formula, matrix: AnyMatrix) -> Formula:
        """The formula with the matrix's shape where the notation puts it."""
        if self.notation.shapes == "none":
            return formula
        if self.notation.shapes == "index" and isinstance(formula, Name) and not formula.sub:
            return replace(formula, sub=(self.shape(matrix),))
        return Annotated(formula, self.shape(matrix), self.notation.shapes)

    # -- operands as an op sees them when it writes out an entry

    def _seen(self, operand: Operand) -> AnyMatrix:
        """What later steps compute with."""
        return operand.of(self.derivation.seen(operand.name))

    def view(self, operand: Operand, by_name: bool = False, guard: int = 0) -> View:
        """The operand's entries as numbers, or by name where there are none; `by_name`, all but rational ones."""
        matrix = self._seen(operand)

        def named(i: Index, j: Index) -> Formula:
            return self.entry(operand.name, *operand.place(i, j))

        if isinstance(matrix, Matrix):
            filled = matrix

            @cache  # of a product, an entry comes in a whole row of results
            def shown(i: Index, j: Index) -> Formula:
                if isinstance(i, str) or isinstance(j, str):  # any entry, beside an operand without numbers
                    return named(i, j)
                value = filled[i, j]
                return named(i, j) if by_name and not _is_rational(value) else self.number(value, guard)

            return Entries(matrix.shape, shown, first=self.notation.first_index)
        long = any(isinstance(size, int) and size > LONG for size in matrix.shape)
        return Entries(matrix.shape, named, long, self.notation.first_index)

    def working(self, step: Step, i: Index, j: Index, by_name: bool = False) -> Formula:
        """Entry (i, j) of a step written out; `by_name`, with the names of numbers that are not rational."""
        guard = self.guard(step, (i, j))
        views = [self._views(operand, by_name, guard) for operand in step.operands]  # the same for every entry
        matrices = list(map(self._seen, step.operands))
        numbers = [m for m in matrices if isinstance(m, Matrix)]
        if isinstance(i, str) or isinstance(j, str) or len(numbers) < len(matrices):
            return step.op.working(i, j, *views)
        return step.op.in_numbers(i, j, numbers, *views)

    def guard(self, step: Step, *cells: tuple[Index, Index]) -> int:
        """How many digits more than usual a step's operands need, so that some entries of it, or all, follow."""
        if self.places is not None or not any(map(self._carries, step.operands)):
            return 0
        result = step.result
        assert isinstance(result, Matrix)
        rows, columns = map(range, result.shape)
        return guard_digits(
            step.op,
            cells or list(product(rows, columns)),
            lambda guard: [self._read(operand, guard) for operand in step.operands],
            lambda i, j: self._printed(result[i, j]),
        )

    def _read_off(self, operand: Operand, guard: int) -> Entries[Value]:
        """An operand's numbers as they are read off the page."""
        matrix = self._seen(operand)
        assert isinstance(matrix, Matrix)
        return Entries.of([[read_off(self.number(x, guard), x) for x in row] for row in matrix.rows])

    def _printed(self, result: Value) -> Printed:
        """A result as it is printed; an exact one must follow to as many places as decimals have."""
        if not isinstance(result, Real):
            return result, self.notation.decimals
        digits = self._carried(result)
        return Fraction(digits), len(digits.partition(".")[2])

    def equals(self, step: Step) -> Literal["=", "≈"]:
        """The sign between a step and its operands' numbers: ≈ where some of those are decimals that are carried on."""
        return "≈" if any(map(self._carries, step.operands)) else "="

    def _has_decimals(self, operand: Operand) -> bool:
        """Whether an operand has decimals that are carried on."""
        matrix = self._seen(operand)
        return isinstance(matrix, Matrix) and in_decimals(matrix)

    # -- what a formula of a notation may ask for with @

    def scope(self, **indices: int) -> Scope:
        """The scope in which the notation's formulas are read.

        A matrix is asked for by name, perhaps one row of it (`Q[2]`) or transposed (`K^T`); indices are from 1.
        """
        return Scope(indices, self.sizes, self.letters, self.slots, self.notation.first_index)

    def inlines(self, text: str, filled: Mapping[str, object], **indices: int) -> Inlines:
        """Text with formulas between dollar signs; {n} stands for what is filled in under that name."""
        scope = self.scope(**indices)
        written = {f"${part}$": as_text(read_formula(part, scope)) for part in text.split("$")[1::2]}
        return (Sentence(text, (*written.items(), *places_of({k: str(x) for k, x in filled.items()}))),)

    @cached_property
    def slots(self) -> dict[str, Callable[..., Formula]]:
        d = self.derivation
        return {
            "name": lambda spec: self.operand(Operand(_spec_name(spec), transposed=spec.endswith("^T"))),
            "named": lambda spec: self.shaped(self.name(_spec_name(spec)), self.spec(spec)),
            "shape": lambda spec: self.shape(self.spec(spec)),
            "size": lambda letter: self.size(self._size(letter)),
            "scale": lambda name: self.divisor(self.first(name)),
            "values": lambda spec, style="": self.values(self.spec(spec), _spec_name(spec), style),
            "nested": lambda spec: self.values(self.spec(spec), _spec_name(spec), "nested"),
            "decimals": lambda spec, places, style="": self.decimals(self.numeric(spec), int(places), style),
            "entry": lambda spec, i, j: self.number(self.numeric(spec)[_from_1(i), _from_1(j)]),
            "numbers": lambda name: self.factors(d[name]),
            "visible": lambda name, i, j: without_zeros(self.working(d[name], _from_1(i), _from_1(j))),
            "weight": lambda t, j, places: self.decimal(self.weights(t)[0, _from_1(j)], int(places)),
            "sums": lambda name, places: Wording(d, self.notation, int(places)).totals(name),
            "weighing": lambda name: self.with_printed_weights.weighing(name),
            "totals": lambda name: self.with_printed_weights.totals(name),
            "grid": lambda name: self.labelled(name),
            "labelledmask": lambda name: self.labelled(name, self.mask(d[name])),
        }

    @cached_property
    def sizes(self) -> dict[str, Size]:
        """n, m, d_model, d_k, d_v as the derivation's matrices tell."""
        sizes: dict[str, Size] = {}
        turned = self.orientation == "columns"
        for name, letters in _SIZE_SOURCES:
            if name in self.derivation:
                shape = self.derivation.value(name).shape
                for letter, size in zip(letters, shape[::-1] if turned else shape, strict=True):
                    sizes.setdefault(letter, size)
        return sizes

    @cached_property
    def _sizes(self) -> Sizes:
        return tuple(self.sizes.items())

    def _size(self, letter: str) -> Size:
        return self.sizes.get(letter, letter)

    def spec(self, spec: str) -> AnyMatrix:
        """A matrix by name, perhaps what belongs to one token (Q[2]), perhaps transposed (K^T)."""
        match = _SPEC.fullmatch(spec)
        if not match:
            raise InputError(f"{spec!r} is not a matrix; a name such as Q, Q[2] or K^T was expected.")
        name, row, turn = match.groups()
        matrix = self.token(name, int(row)) if row else self.derivation.value(name)
        return matrix.T if turn else matrix

    def token(self, name: str, i: int) -> AnyMatrix:
        """What belongs to token i, from 1, as a row: a row, or a column laid down."""
        matrix = self.derivation.value(name)
        if self.orientation == "columns":
            matrix = matrix.T
        if isinstance(matrix, Matrix) and not 1 <= i <= matrix.shape[0]:
            raise InputError(f"{name} has {matrix.shape[0]} tokens, so there is no token {i}.")
        return matrix.row(i - 1)

    def numeric(self, spec: str) -> Matrix:
        matrix = self.spec(spec)
        if isinstance(matrix, Outline):
            raise InputError(f"{spec} is known by its shape only, so it has no numbers to show.")
        return matrix

    def first(self, name: str) -> Step:
        """The step of that name, or the first one of its kind where there are several heads or blocks."""
        steps = (step for step in self.derivation if step.stem == name)
        return self.derivation[name] if name in self.derivation else next(steps, None) or self.derivation[name]

    def divisor(self, step: Step) -> Formula:
        """What a scaling step divides by, by name."""
        if not isinstance(step.op, Scale):
            raise InputError(f"Step {step.name!r} does not scale.")
        return step.op.symbol(self.notation.style)

    def weights(self, token: str | int | None) -> Matrix:
        """The weights that a token's values are multiplied by: the rounded ones, if they are rounded; or given."""
        own = next((name for name in (f"A_rounded.{token}", f"A.{token}") if name in self.derivation), f"A[{token}]")
        return self.numeric(own)

    @cached_property
    def with_printed_weights(self) -> Wording:
        """The derivation as it follows from its weights as they are printed, so that a calculator gives every line.

        Fractionnal weights are printed as they are, others with as many places as outputs need to be right in theirs.
        """
        weights = [step.name for step in self.derivation if step.role == "A"]
        irrational = [name for name in weights if not all(map(_is_rational, self.numeric(name)))]
        if not irrational or any(step.role == "A_rounded" for step in self.derivation):
            return self
        right = self._outputs(self.derivation)
        for places in range(self.notation.decimals, MOST_PLACES):
            rounded = {name: self.numeric(name).decimals(places) for name in irrational}
            followed = self.derivation.replay(pinned={name: [[*row] for row in rows] for name, rows in rounded.items()})
            if self._outputs(followed) == right:
                return Wording(followed, self.notation)
        return self

    def _outputs(self, derivation: Derivation) -> list[tuple[tuple[str, ...], ...]]:
        """Every output in decimals."""
        results = (step.result for step in derivation if step.role == "Z")
        return [result.decimals(self.notation.decimals) for result in results if isinstance(result, Matrix)]

    def weighing(self, name: str) -> Formula:
        """A token's weights times the values, worked out, one after another: 0.5 × [2, 8, 0] = [1, 4, 0]."""
        values, weighted = self.numeric("V"), self.numeric(name)

        def product(j: int, weight: Value) -> Formula:
            before, after = (self.values(matrix.row(j), style="commas") for matrix in (values, weighted))
            return equal(Product((self.number(weight), before), self.notation.product), after)

        return Row(tuple(product(j, weight) for j, weight in enumerate(self.weights(_split(name)[1]))))

    def totals(self, name: str) -> Formula:
        """Every entry of a sum written out, one after another: 0 + 1 + 1 = 2, and the next."""
        step, result = self.derivation[name], self.numeric(name)
        entries = indices(result.shape)
        return Row(tuple(equal(self.working(step, i, j), self.number(result[i, j])) for i, j in entries))

    def labelled(self, name: str, grid: MatrixOf | None = None) -> MatrixOf:
        """A grid with q's before its rows and k's above its columns; numbers are dots, exact zeros are shown.

        Cells that a mask excludes are shaded.
        """
        matrix = self.numeric(name)
        rows, columns = matrix.shape
        dot, zero = Dots("cell"), Number("0")
        masks = [s.op for s in self.derivation if isinstance(s.op, Mask) and s.op.keep]
        hidden = frozenset((i, j) for mask in masks[:1] for i, j in indices(matrix.shape) if not mask.keep[i][j])
        cells = grid.rows if grid else tuple(tuple(zero if x == 0 else dot for x in row) for row in matrix.rows)
        return MatrixOf(
            cells,
            self.notation.bracket,
            row_labels=tuple(self.read(self.notation.named("Q").row, i=i + 1) for i in range(rows)),
            column_labels=tuple(self.read(self.notation.named("K").row, i=j + 1) for j in range(columns)),
            excluded=hidden,
        )

    def shape_of(self, operand: Operand) -> tuple[Size, Size]:
        """Its rows and columns, as numbers or letters."""
        return self.derivation.operand(operand).shape

    @property
    def style(self) -> Style:
        return self.notation.style

    # -- a step by names, by numbers, by dot products

    def rule(self, step: Step, shapes: bool = False) -> Formula:
        """The operation by names: X W^Q."""
        names = [self.operand(operand) for operand in step.operands]
        if shapes:
            matrices = self.derivation.operands(step)
            names = [self.shaped(name, matrix) for name, matrix in zip(names, matrices, strict=True)]
        return step.op.written(self.notation.style, *names)

    def equation(self, step: Step) -> Formula:
        """Q = X W^Q."""
        return equal(self.name(step.name), self.rule(step))

    def block_form(self, step: Step, i: Index, j: Index) -> Formula | None:
        """An entry of Q Kᵀ as a product of whole rows: q_i k_jᵀ; none for other steps."""
        if not isinstance(step.op, MatMul) or step.token is not None:
            return None
        left, right = step.operands
        if left.transposed or not right.transposed or right.row is not None:
            return None
        row = self.row(left.name, _from_one(i))
        other = self.row(right.name, _from_one(j))
        return Product((row, Transposed(other)))

    def factors(self, step: Step, by_name: bool = False) -> Formula:
        """The operation with the operands' numbers; `by_name`, with the names of entries with letters, if shorter."""
        guard = self.guard(step)
        grids = [self._by_name(o, guard) if by_name else self._numbers(o, guard) for o in step.operands]
        return step.op.factors(self.style, *grids)

    def _numbers(self, operand: Operand, guard: int) -> Formula:
        matrix = self._seen(operand)
        if not isinstance(matrix, Matrix):
            return self.values(matrix, operand.name)
        return self.written(matrix, lambda x: self.number(x, guard))

    def _by_name(self, operand: Operand, guard: int) -> Formula:
        """The operand, its entries with letters by their names: [1, 0; α_21, α_22]."""
        matrix = self._seen(operand)
        if not isinstance(matrix, Matrix):
            return self._numbers(operand, guard)

        def shown(i: int, j: int, value: Value) -> Formula:
            own, called = self.number(value, guard), self.entry(operand.name, *operand.place(i, j))
            return called if has_symbols(value) and width(called) < width(own) else own

        return self.grid((shown(i, j, x) for j, x in enumerate(row)) for i, row in enumerate(matrix.rows))

    def mask(self, step: Step) -> MatrixOf:
        """The mask of a masking step, as a matrix."""
        if (mask := step.op.own_matrix(self.style)) is None:
            raise InputError(f"Step {step.name!r} is not a mask.")
        return mask[1]


def decorated(formula: Formula, called: StepName) -> Formula:
    """A name with its block and its head on top: Q^{(1)}, s'^{self,(2)}_{1,2}; so is each name in a matrix of rows."""
    labels = [f"[{called.place}]" if called.place.isdigit() else called.place] if called.place else []
    labels += [f"({called.head})"] if called.head is not None else []
    if not labels:
        return formula
    match formula:
        case Name():
            return replace(formula, sup=",".join(filter(None, (formula.sup, *labels))))
        case Text(words):
            return Name(words, sup=",".join(labels))
        case Power(base):  # σ²
            return replace(formula, base=decorated(base, called))
        case Product() | MatrixOf() | ListOf():
            return rebuilt(formula, lambda part: decorated(part, called))
    return formula


def without_zeros(formula: Formula) -> Formula:
    """A sum of products without the terms that have a factor 0: 0.7·v_1 + 0.3·v_2."""
    if not isinstance(formula, Sum):
        return formula
    zero = Number("0")
    return Sum(tuple(t for t in formula.terms if not (isinstance(t, Product) and zero in t.factors)))


_OF_ALL_TOKENS = ("weighted", "K_cache", "V_cache")
"""Of one token's lines, those that have a row for every token, be they as narrow as they may."""

_SPEC = re.compile(r"([^\[\]^]+)(?:\[(\d+)\])?(\^T)?")


def _standard(name: str) -> Formula:
    return read_formula(re.sub("^W_([A-Z])$", r"W^\1", name))


def in_signs(words: str, orientation: Orientation = "rows", named: Callable[[str], Formula] = _standard) -> Inlines:
    """Words with the names, products and powers that stand in them as typed as formulas: "divided by $d_k$".

    Names are in standard signs where none are given; the factors of products change places where the orientation is
    columns.
    """
    signs = {f"${part}$": as_text(_as_typed(part, named, orientation == "columns")) for part in NAMES.findall(words)}
    return (Sentence(NAMES.sub(r"$\1$", words), tuple(signs.items())),)


def _as_typed(typed: str, named: Callable[[str], Formula], turned: bool) -> Formula:
    """√d_k, e^(a+b), Q Kᵀ, A ∘ V (entry by entry, the same either way round)."""
    if typed.startswith("e^"):
        return read_formula(typed.replace("(", "{").replace(")", "}"))
    if typed.startswith("√"):
        return Root(named(typed[1:]))
    factors = [factor for factor in typed.split() if factor != "∘"]
    written = tuple(Transposed(named(f[:-1])) if f.endswith("ᵀ") else named(f) for f in factors)
    if len(written) == 1:
        return written[0]
    if "∘" in typed:
        return Product(written, "⊙")
    return Product(written[::-1] if turned else written)


def typed_in(name: str, orientation: Orientation) -> str:
    """A name as plain text, in which products stand as they do in that orientation: K Qᵀ, or Qᵀ K for columns."""
    if orientation == "rows":
        return name
    return NAMES.sub(lambda product: product[0] if "∘" in product[0] else " ".join(product[0].split()[::-1]), name)


_STEP = re.compile(r"[A-Z]'*(?:_[A-Za-z0-9]+)?")


def step_in_signs(step: str) -> Inlines:
    """The name of a step as a formula, S'; what is no such name, (b) or A.1, as it is."""
    return as_text(read_formula(step)) if _STEP.fullmatch(step) else as_text(Quoted(step))


NAMES = re.compile(
    r"(\b[A-Z]ᵀ? (?:∘ )?[A-Z]ᵀ?(?!\w)"  # Q Kᵀ, A ∘ V
    r"|√?(?:[A-Z]|\bd)_[A-Za-z]+|\b[QKV]\b|\be\^(?:[a-z0-9]\b|\([a-z]\+[a-z]\)))"
)
_SIZE_SOURCES = (
    ("X", ("n", "d_model")),
    ("Q", ("n", "d_k")),
    ("K", ("m", "d_k")),
    ("V", ("m", "d_v")),
    ("A", ("n", "m")),
    ("A_1", ("n", "m")),
    ("H", ("n", "d_h")),
    ("Z", ("n", "d_v")),
)


def _spec_name(spec: str) -> str:
    return spec.partition("[")[0].removesuffix("^T")


def _from_1(index: str) -> int:
    """An index that a notation counts from 1, counted from 0."""
    if int(index) < 1:
        raise InputError(f"{index} is not a row or column; they are counted from 1.")
    return int(index) - 1


def _split(name: str) -> tuple[str, int | None]:
    role, _, token = name.partition(".")
    return (role, int(token)) if token.isdecimal() else (name, None)


def any_place(step: Step) -> tuple[Index, Index]:
    """The indices of any entry of a step whose sizes are letters, from 0: i and j, or 0 where there is but one."""
    rows, columns = step.result.shape
    if step.op.by_place and isinstance(rows, int) and isinstance(columns, int):
        return rows - 1, columns - 1  # every token and pair has an angle of its own: the last of them for all
    return 0 if rows == 1 else "i", 0 if columns == 1 else "j"


def _from_one(index: Index) -> Index:
    return index + 1 if isinstance(index, int) else index


def _is_rational(value: Value) -> bool:
    """Also −∞."""
    return value is NEGATIVE_INFINITY or isinstance(value, int | Fraction)


def terminates(value: Value) -> bool:
    """Whether the value needs no decimal beside it: an integer, −∞, or a symbol's expression."""
    if value is NEGATIVE_INFINITY or isinstance(value, int):
        return True
    return has_symbols(value)


# --- guard digits ---------------------------------------------------------------------------------------------------
#
# A decimal that is carried on is rounded only where it is printed.  0.64213 − 0.08377 is 0.55836, but the difference of
# 0.6421 and 0.0838 is 0.5583: a check of that line comes to another last digit.  So a line whose result would not
# follow from what is printed has operands with guard digits, the fewest with which it does; the others stay short.

MOST = 20
"""The most guard digits; a result that does not follow with these does not follow from the operands at all."""

Printed = tuple[Value, int]
"""A number as it is printed, and the decimal places to which it is."""


def guard_digits(
    op: Op,
    cells: Iterable[tuple[Index, Index]],
    operands: Callable[[int], Sequence[Entries[Value]]],
    result: Callable[[int, int], Printed],
) -> int:
    """The fewest digits more than usual with which `operands` give every entry of the `result` as it is printed.

    0 where nothing is worked out by a rule, where an index is a letter, or where no number of digits helps: what
    was put in the place of a result need not follow from anything.
    """
    places = [(i, j) for i, j in cells if isinstance(i, int) and isinstance(j, int)]
    if not isinstance(op, RuleOp):
        return 0
    counts = (k for k in range(MOST + 1) if all(_follows(op, operands(k), cell, *result(*cell)) for cell in places))
    return next(counts, 0)


def _follows(op: RuleOp, operands: Sequence[Entries[Value]], cell: tuple[int, int], result: Value, places: int) -> bool:
    """Whether an entry worked out from its operands rounds to the result, however ties are rounded."""
    half = Fraction(1, 2 * 10**places)
    try:
        with going_on("decimal"):
            value = op.rule(VALUES, *cell, *operands)
            if NEGATIVE_INFINITY in (value, result):
                return value is result
            return compare(-half, value - result) < 0 < compare(half, value - result)
    except (UndefinedError, UndecidedError):  # a divisor that is printed as 0
        return False


def read_off(shown: Formula, value: Value) -> Value:
    """A number as it is read off the page: the digits that stand there, or the value of an exact form.

    A form that is no fraction is enclosed, for sums and quotients of such forms outgrow a check of digits.
    """
    match shown:
        case Number(digits):
            return Fraction(digits)
        case Negative(Number(digits)):
            return -Fraction(digits)
    return value if is_short_fraction(value) else as_real(value)
