"""A flow sheet: all of attention on one page, from the inputs at its foot to the output on top, in boxes.

Every matrix stands there once, its factors beside and below it; the powers of a softmax and their sums have boxes of
their own.  There is one for attention with at most two heads; for anything else the usual form stands.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction as Ratio
from functools import cached_property
from types import MappingProxyType
from typing import Literal

from symattn.derivation.derivation import Derivation, Op, Step, StepName, in_decimals
from symattn.derivation.ops.attention import Mask, Softmax
from symattn.derivation.ops.linear import MatMul, Scale, Slice, Stack
from symattn.exact import Matrix, Outline, Value, exponential, indices
from symattn.exact.sums import total
from symattn.formula import (
    NOTHING,
    CellKind,
    Formula,
    Fraction,
    MatrixOf,
    Name,
    Number,
    Power,
    Product,
    Relation,
    Sum,
    Text,
    equal,
)
from symattn.formula.width import fold, width, wrapped
from symattn.foundation.languages import message, sentences
from symattn.page.document import (
    EVERYTHING,
    AnswerGrid,
    Besides,
    Block,
    Blocks,
    Box,
    Display,
    FlowGrid,
    FlowSheet,
    Heading,
    Inlines,
    ItemList,
    Paragraph,
    Solved,
    Strong,
    Words,
    all_blocks,
    as_text,
    in_turn,
)
from symattn.teaching.explanation.layouts import PartialSolution
from symattn.teaching.explanation.parts import (
    TOKENS,
    agreed,
    answer_form,
    in_short,
    unscaled,
    wording_of,
)
from symattn.teaching.explanation.steps import box_kind, cell_kind
from symattn.teaching.explanation.wording import LINE, Wording
from symattn.teaching.problem import Problem
from symattn.teaching.question import Question, StepAnswer

Version = Literal["ask", "partly", "worked"]
Cell = tuple[int, int]
Size = tuple[float, float]
Inside = MatrixOf | AnswerGrid
Marks = tuple[tuple[int, ...], tuple[int, ...]]
"""The tokens that the rows of a matrix are of, and those of its columns."""

_VERSIONS: tuple[Version, ...] = ("ask", "partly", "worked")


def flow_sheet(
    question: Question, headings: Sequence[Heading], conventions: str, wanted: frozenset[Besides] = EVERYTHING
) -> Solved | None:
    """The question as one picture, with what is wanted in its place; None if there is no such picture.

    `headings` are those of its parts.
    """
    problem = question.problem
    if problem is None or not is_laid_out(problem.derivation) or not _is_asked_in_boxes(question):
        return None
    named = {part.name: heading for part, heading in zip(question.parts, headings, strict=True)}
    sheets = _Sheets(problem, named, conventions, question)
    ask, partly, worked = ((sheets.sheet(version),) if version in wanted else () for version in _VERSIONS)
    key: Blocks = ()
    if "key" in wanted:
        key = (*_exact(worked, problem), *_marking(question, headings), *_boxed(question.after))
    return Solved(ask, partly, worked, key)


def sheet_of_derivation(problem: Problem) -> Blocks:
    """A derivation as one picture, if there is one."""
    return (_Sheets(problem).sheet("worked"),) if is_laid_out(problem.derivation) else ()


def _is_asked_in_boxes(question: Question) -> bool:
    """Whether every part is one step with a grid of boxes."""
    return all(isinstance(part.answer, StepAnswer) and _grid_of(part.ask) for part in question.parts)


def _grid_of(blocks: Blocks) -> AnswerGrid | None:
    return next((block for block in all_blocks(blocks) if isinstance(block, AnswerGrid)), None)


def _exact(worked: Sequence[FlowSheet], problem: Problem) -> Iterator[Block]:
    """The exact values of the matrices that had no room for them in their boxes, side by side as far as a line goes.

    Those of a step that only puts other matrices together stand there already.
    """
    wording, values = wording_of(problem), []
    for grid in (grid for sheet in worked for grid in sheet.grids) if problem.exact else ():
        if not grid.heading or not isinstance(grid.inside, AnswerGrid):
            continue
        step = problem.derivation[grid.inside.step]
        if not step.op.trivial and any(_is_rounded(formula) for _, formula in grid.inside.filled):
            values.append(equal(wording.name(step.name), wording.values(step.result)))
    if fit := [value for value in values if width(value) <= LINE]:
        yield Display(wrapped(fit, LINE))
    yield from (Display(fold(value, LINE)) for value in values if value not in fit)


def _is_rounded(formula: Formula) -> bool:
    return isinstance(formula, Relation) and formula.signs == ("≈",)


def _marking(question: Question, headings: Sequence[Heading]) -> Iterator[Block]:
    """What every part is worth, for the marker: all on a few lines, so that the page has room for them."""
    worth = [
        (*heading.label, Words(" "), Words(in_short(part.marks)))
        for part, heading in zip(question.parts, headings, strict=True)
        if part.marks
    ]
    if worth:
        yield Paragraph((Strong("Marks"), Words(" "), *_apart(worth)))
    for part in question.parts:
        yield from part.marking


def _boxed(after: Sequence[Block]) -> Sequence[Block]:
    """The checks below a key in a box, which takes fewer lines than a list."""
    match after:
        case [Heading((Words(title),)), ItemList() as checks]:
            return (Box(title, (checks,)),)
    return after


def _apart(items: Sequence[Inlines]) -> Inlines:
    """Items on one line, with a point between them."""
    return tuple(x for k, item in enumerate(items) for x in (*(as_text(" · ") if k else ()), *item))


# ------------------------------------------------------------------------------------------- what has a sheet

_OPS: Mapping[str, type[Op] | tuple[type[Op], ...]] = {
    "Q": (MatMul, Slice), "K": (MatMul, Slice), "V": (MatMul, Slice), "S": MatMul, "S'": Scale, "M": Mask, "A": Softmax,
    "Z": MatMul, "C": Stack, "O": MatMul,
}  # fmt: skip
"""What a step may be, by its stem."""

_FACTORS: Mapping[str, tuple[tuple[str, bool], tuple[str, bool]]] = {
    "S": (("Q", False), ("K", True)), "Z": (("A", False), ("V", False)), "O": (("C", False), ("W_O", False)),
}  # fmt: skip
"""The factors of products, and whether they are transposed, for tokens as rows; for columns they are turned round."""

MOST_HEADS = 2


def is_laid_out(d: Derivation) -> bool:
    """Whether there is a flow sheet of a derivation."""
    if d.staged or any(isinstance(m, Outline) for m in d.matrices.values()):
        return False
    names = [StepName.of(step.name) for step in d]
    heads = {name.head for name in names if name.stem == "A"}
    if any(name.place or name.token for name in names) or not 0 < len(heads) <= MOST_HEADS:
        return False
    if (len(heads) == 1) != (heads == {None}):
        return False
    if any((f"{role}_{head}" if head else role) not in d for head in heads for role in "QKVSAZ"):
        return False  # heads that share keys and values, or a derivation that ends before the output
    return all(_is_usual(step, d) for step in d)


def _is_usual(step: Step, d: Derivation) -> bool:
    """Whether a step is what its name says, with its operands in their places."""
    stem, rows = StepName.of(step.name).stem, d.orientation == "rows"
    if not isinstance(step.op, _OPS.get(stem, ())):
        return False
    match step.op:
        case Slice(count=count, step=every):
            return every == 1 or count == 1
        case Softmax(along=along, empty=empty):
            return along == d.orientation and empty == "undefined"
        case MatMul():
            factors = tuple((StepName.of(x.name).stem, x.transposed) for x in step.operands)
            given = step.operands[1 if rows else 0].name in d.givens
            return _FACTORS[stem] == (factors if rows else factors[::-1]) if stem in _FACTORS else given
    return True


# ------------------------------------------------------------------------------------------------ the sheets

_EM = 3.9  # millimetres at 11 pt
_WIDE: Mapping[CellKind, float] = {"integer": 10, "decimal": 15, "fraction": 12, "exponential": 18, "word": 20}
_HIGH: Mapping[CellKind, float] = {"integer": 7, "decimal": 7, "fraction": 9.5, "exponential": 11, "word": 7}
_GIVEN = 5.2  # the height of a row of numbers that are given
_ROOM = {1: 154.0, 2: 86.0}  # what the boxes of one head may take of a line, by how many heads there are
_WEIGHT = {1: (13.0, 25.0), 2: (14.0, 20.0)}  # how narrow and how wide boxes of weights and of the output are
_LEVEL = {
    True: (("Q", "S"), ("A", "Z")),
    False: (("W_Q", "Q"), ("K^T", "S"), ("W_V", "V", "Z"), ("W_K", "K")),
}
"""What stands in the same rows, where tokens are rows and where they are columns."""
_OUTPUT = 30.0  # a box of the output of all heads


class _Sheets:
    """Flow sheets of one question: to be filled in, partly filled in, and filled in."""

    def __init__(
        self,
        problem: Problem,
        headings: Mapping[str, Heading] = MappingProxyType({}),
        conventions: str = "bare",
        question: Question | None = None,
    ) -> None:
        """`headings` are those of the parts of a question, by the names of their steps."""
        self.problem, self.headings, self.conventions = problem, headings, conventions
        self.d, self.wording = problem.derivation, wording_of(problem)
        self.rows = self.d.orientation == "rows"
        self.tokens_along, self.features_along = (0, 1) if self.rows else (1, 0)
        self.parts = {part.name: part for part in question.parts} if question else {}
        self.begun = PartialSolution(question) if question else None
        names = [StepName.of(step.name) for step in self.d]
        self.heads = tuple(name.head or 0 for name in names if name.stem == "A")

    def sheet(self, version: Version) -> FlowSheet:
        grids = [grid for head in self.heads for grid in _Head(self, head, version).grids()]
        if "C" in self.d:
            grids += _Head(self, 0, version).joined()
        return FlowSheet(
            tuple(grids),
            self.d.orientation,
            self._tokens(),
            self._dot(version),
            tuple(self.headings.values()),
            self._legend(version),
        )

    # -- tokens

    def source(self, role: str) -> str:
        """The inputs that queries, or keys and values, are made from; "" where these are given."""
        return "" if role in self.d.givens else self.d[role].operands[self.tokens_along].name

    def weights(self, role: str) -> str:
        return self.d[role].operands[self.features_along].name

    def tokens(self, role: str) -> tuple[int, ...]:
        """The tokens that queries, or keys and values, are of: keys have the queries' own unless they are of others."""
        own, queries = (int(self.d.value(of).shape[self.tokens_along]) for of in (role, "Q"))
        start = queries if role != "Q" and (self.source("Q") != self.source(role) or not self.source("Q")) else 0
        return tuple(range(start, start + own))

    def _tokens(self) -> tuple[Formula, ...]:
        """What the tokens are called: by their inputs, or by their queries and keys."""
        roles = ("Q", "K") if self.tokens("K")[0] > 0 else ("Q",)
        return tuple(
            self.wording.row(self.source(role) or role, i)
            for role in roles
            for i in range(1, len(self.tokens(role)) + 1)
        )

    # -- words

    def _legend(self, version: Version) -> Inlines:
        said: list[Inlines] = []
        if version != "worked":
            boxes = message("Fill in every empty box, from the foot of the page upwards.")
            said.append(as_text(sentences(boxes, answer_form(self.problem.exact, self.problem.places))))
            said += [
                one.content
                for part in self.parts.values()
                for one in all_blocks(part.ask)
                if isinstance(one, Paragraph)
            ]
        if self.conventions != "none":
            lines: list[Inlines] = [
                as_text(TOKENS[self.d.orientation]),
                *agreed(self.problem, self.wording, brief=True),
            ]
            if unscaled(self.problem):
                lines.append(as_text("No scaling"))
            said.append(_apart(lines))
        return in_turn(said)

    def _dot(self, version: Version) -> tuple[Formula, ...]:
        """One score as the dot product that it is: in names, and where it may be seen, in numbers."""
        step = next(step for step in self.d if StepName.of(step.name).stem == "S")
        assert isinstance(step.result, Matrix)
        i, j, entry = step.result.shape[0] - 1, 0, self.wording.entry
        terms = [
            (entry("Q", i, k), entry("K", j, k)) if self.rows else (entry("K", k, i), entry("Q", k, j))
            for k in range(self._width_of_heads)
        ]
        parts: list[Formula] = [entry("S", i, j), Sum(tuple(Product(pair, "·") for pair in terms))]
        if version == "worked":
            parts += [self.wording.working(step, i, j), self.wording.number(step.result[i, j])]
        return tuple(parts)

    @property
    def _width_of_heads(self) -> int:
        head = f"_{self.heads[0]}" if self.heads[0] else ""
        return int(self.d.value(f"Q{head}").shape[self.features_along])


class _Head:
    """The matrices of one head, or of what comes after the heads, in one version."""

    def __init__(self, sheets: _Sheets, head: int, version: Version) -> None:
        self.of, self.head, self.version = sheets, head, version
        self.d, self.rows, self.wording = sheets.d, sheets.rows, sheets.wording
        self.count = len(sheets.heads)

    def name(self, role: str) -> str:
        return f"{role}_{self.head}" if self.head else role

    def matrix(self, role: str) -> Matrix:
        return self.value(self.name(role))

    def value(self, name: str) -> Matrix:
        matrix = self.d.value(name)
        assert isinstance(matrix, Matrix)
        return matrix

    def along(self, tokens: tuple[int, ...], others: tuple[int, ...] = ()) -> Marks:
        """The marks of tokens: of rows, of columns; and of `others` across them."""
        return (tokens, others) if self.rows else (others, tokens)

    def grid(self, role: str, rule: Formula, inside: Inside, cell: Size, marks: Marks = ((), ())) -> FlowGrid:
        return FlowGrid(role, rule, inside, cell, *marks, self.head)

    # -- in their order

    def grids(self) -> Iterator[FlowGrid]:
        queries, keys = self.of.tokens("Q"), self.of.tokens("K")
        sources: dict[str, tuple[int, ...]] = {}
        for role, tokens in (("Q", queries), ("K", keys)):
            if source := self.of.source(role):
                sources.setdefault(source, tokens)
        for k, (source, tokens) in enumerate(sources.items()):
            wide = self.weight if not self.rows and k == 0 else self.given(source)
            yield self.numbers(("X", "E")[k], source, (wide, self.low(source)), self.along(tokens))
        yield from self.projected("Q", self.integer if self.rows else self.weight, queries)
        yield from self.projected("K", self.integer, keys)
        yield self.keys_turned(keys)
        yield from self.projected("V", self.weight if self.rows else self.integer, keys)
        marks = self.along(queries, keys)
        for role in ("S", "S'", "M"):
            if self.name(role) in self.d:
                yield self.step(role, self.weight, marks)
        yield from self.powers(marks)
        yield self.step("A", self.weight, marks)
        yield self.step("Z", self.weight, self.along(queries))

    def joined(self) -> Iterator[FlowGrid]:
        """The heads side by side, and their output."""
        marks = self.along(self.of.tokens("Q"))
        yield self.step("C", _WEIGHT[2][0] + 1, marks)
        if "O" in self.d:
            weights = self.of.weights("O")
            yield self.numbers("W_O", weights, (self.given(weights), self.low(weights)))
            yield self.step("O", _OUTPUT, marks)

    # -- sizes

    @property
    def integer(self) -> float:
        """The width of a box for an entry of the queries, keys and values."""
        kinds = {self.kind(role) for role in "QKV"}
        wide = max(_WIDE[kind] for kind in kinds)
        return max(7.5 if wide == _WIDE["integer"] and self.count > 1 else wide, *map(self.given, self._projections()))

    def _projections(self) -> list[str]:
        return [self.of.weights(role) for role in "QKV" if role not in self.d.givens] or [*"QKV"]

    @property
    def weight(self) -> float:
        """The width of a box for a weight: as wide as a line allows."""
        least, most = _WEIGHT[self.count]
        if self.rows:
            rest = self.matrix("Q").shape[1] * self.integer
            boxes = self.matrix("A").shape[1] + self.matrix("V").shape[1]
        else:
            sides = self.matrix("Q").shape[0], self.matrix("K").shape[1], self.matrix("V").shape[1]
            rest = self.integer * (max(sides) + max(sides[1:])) + 6
            boxes = self.matrix("A").shape[1]
        return round(min(most, max(least, (_ROOM[self.count] - rest) / boxes)), 1)

    def given(self, name: str) -> float:
        """The width of a number that is given."""
        return round(max(6.5, *(width(self.wording.number(x)) * _EM + 2.5 for x in self.value(name))), 1)

    def low(self, name: str) -> float:
        """The height of a row of numbers that are given."""
        short = all(width(self.wording.number(x)) <= 3 and not isinstance(x, Ratio) for x in self.value(name))
        return _GIVEN if short else 9.0

    def high(self, role: str) -> float:
        """The height of a box: the same for matrices that stand in the same rows."""
        level = next((group for group in _LEVEL[self.rows] if role in group), (role,))
        return max(_HIGH[self.kind(x.removesuffix("^T").removeprefix("W_"))] for x in level)

    def kind(self, role: str) -> CellKind:
        """The kind of box that a step asks for; of a matrix that is given, by its numbers."""
        if self.name(role) in self.d.givens:
            return "integer" if self.low(self.name(role)) == _GIVEN else "fraction"
        return cell_kind(self.d.value(self.name(role)), self.of.problem.exact)

    # -- matrices

    def numbers(self, role: str, name: str, cell: Size, marks: Marks = ((), ()), own: Slice | None = None) -> FlowGrid:
        """A given matrix, or one head's part of it."""
        matrix = own.apply(self.value(name)) if own else self.value(name)
        return self.grid(role, self.wording.name(name), self.printed(matrix), cell, marks)

    def printed(self, matrix: Matrix) -> MatrixOf:
        return MatrixOf(tuple(tuple(map(self.wording.number, row)) for row in matrix.rows))

    def projected(self, role: str, wide: float, tokens: tuple[int, ...]) -> Iterator[FlowGrid]:
        """Queries, keys or values with the weights that make them; alone where they are given."""
        marks = self.along(tokens)
        if role in self.d.givens:
            if role != "K":
                yield self.numbers(role, role, (wide, self.high(role)), marks)
            return
        weights, op = self.of.weights(role), self.d[self.name(role)].op
        own = op if isinstance(op, Slice) else None
        cell = (wide, self.low(weights)) if self.rows else (self.given(weights), self.high(f"W_{role}"))
        yield self.numbers(f"W_{role}", weights, cell, own=own)
        yield self.step(role, wide, marks, own)

    def step(self, role: str, wide: float, marks: Marks, own: Slice | None = None) -> FlowGrid:
        """The boxes of a step; of one head's `own` part of it."""
        name = role if own else self.name(role)
        step = self.d[name]
        part = self.of.parts.get(name)
        asked = _grid_of(part.ask) if part else None
        kind = asked.kind if asked else box_kind(step, self.of.problem.exact)
        matrix = self.matrix(role)
        start = (0, 0)
        if own is not None:
            start = (0, own.indices[0]) if own.of == "columns" else (own.indices[0], 0)
        filled = {
            (i, j): self.shown(matrix[i, j], wide, self.over(role, i, j))
            for i, j in indices(matrix.shape)
            if self.version == "worked" or (i + start[0], j + start[1]) in self.begun(name)
        }
        grid = AnswerGrid(self.wording.name(name), *matrix.shape, kind, tuple(filled.items()), step=name)
        made = self.grid(role, self.title(step), grid, (wide, self.high(role)), marks)
        return replace(made, heading=self.of.headings.get(name), start=start)

    def title(self, step: Step) -> Formula:
        """Its rule without the number of the head, which stands above; for heads side by side the arrows say it."""
        stem = StepName.of(step.name).stem
        name = self.wording.name(stem)
        if isinstance(step.op, Stack):
            return name
        operands = (self.wording.operand(replace(x, name=StepName.of(x.name).stem)) for x in step.operands)
        return equal(name, step.op.written(self.wording.style, *operands))

    def begun(self, name: str) -> frozenset[Cell]:
        """The boxes that are filled in where some of the work is done."""
        boxes = self.of.begun.boxes.get(name) if self.of.begun else None
        return frozenset(boxes.first) if self.version == "partly" and boxes else frozenset()

    # -- boxes for working

    def keys_turned(self, keys: tuple[int, ...]) -> FlowGrid:
        """The keys as they stand in the product, turned over where tokens are rows and where they are columns."""
        matrix = self.matrix("K").T
        turned = next(operand for operand in self.d[self.name("S")].operands if operand.transposed)
        title = self.wording.operand(replace(turned, name="K"))
        wide = self.weight if self.rows else self.integer
        inside: Inside = self.printed(matrix)
        if "K" not in self.d.givens:
            inside = self.working(title, matrix, self.kind("K"), wide, 1 if self.rows else 0)
        return self.grid("K^T", title, inside, (wide, self.high("K^T")), self.along((), keys))

    def powers(self, marks: Marks) -> Iterator[FlowGrid]:
        """e^s, and the sum of each row, or column."""
        step = self.d[self.name("A")]
        assert isinstance(step.op, Softmax)
        powers, sums = self.exponentials
        above = self.wording.name(StepName.of(step.operands[0].name).stem)
        title = Power(self.wording.base(step.op.base), above)
        kind: CellKind = "exponential" if self.of.problem.exact and not in_decimals(powers) else "decimal"
        line = 0 if self.rows else 1
        high = 8.0
        inside = self.working(title, powers, kind, self.weight, line)
        yield self.grid("exp", title, inside, (self.weight, high), marks)
        wide = self.weight
        if self.rows:
            wide = min(60.0, max(wide, self.weight * self.matrix("V").shape[1] - 8))
        named = equal(Name("r"), Text(_SUMS[self.rows]))
        yield self.grid("sum", named, self.working(named.parts[0], sums, kind, wide, line), (wide, high))

    @cached_property
    def numerators(self) -> Mapping[str, Matrix]:
        """What stands over the sums in the weights and the output."""
        (powers, _), v = self.exponentials, self.matrix("V")
        return {"A": powers, "Z": MatMul().apply(*((powers, v) if self.rows else (v, powers)))}

    @cached_property
    def exponentials(self) -> tuple[Matrix, Matrix]:
        step = self.d[self.name("A")]
        scores = self.value(step.operands[0].name)
        assert isinstance(step.op, Softmax)
        base = step.op.base
        powers = scores.map(lambda x: exponential(x, base))
        sums = Matrix.of([[total(line)] for line in (powers if self.rows else powers.T).rows])
        return powers, sums if self.rows else sums.T

    def working(self, name: Formula, matrix: Matrix, kind: CellKind, wide: float, line: int) -> AnswerGrid:
        """Boxes that no part asks for; where some is done, those of the first token, whose index is at `line`."""
        filled = {
            cell: self.shown(matrix[cell], wide)
            for cell in indices(matrix.shape)
            if self.version == "worked" or (self.version == "partly" and cell[line] == 0)
        }
        return AnswerGrid(name, *matrix.shape, kind, tuple(filled.items()))

    # -- what stands in a box

    def shown(self, value: Value, wide: float, over: Formula | None = None) -> Formula:
        """A value: exact if it has room, over the name of a sum that stands in a box of its own, or in decimals.

        Of these, as many places as are asked for, or as there is room for.
        """
        problem = self.of.problem
        places = None if problem.exact or isinstance(value, int) else problem.places
        exact = Wording(self.d, problem.notation, places).number(value)
        rounded = [
            Relation((NOTHING, self.wording.decimal(value, x)), ("≈",))
            for x in range(problem.places, 1, -1) or (problem.places,)
        ]
        room = (1.25 if self.count == 1 else 1.1) * wide - 1
        forms = [(exact, room), *([(over, room)] if over else []), *((form, wide) for form in rounded)]
        return next((form for form, most in forms if width(form) * _EM <= most), rounded[-1])

    def over(self, role: str, i: int, j: int) -> Formula | None:
        """An entry of the weights or the output over the sum of its row, or column."""
        if role not in ("A", "Z") or not self.of.problem.exact:
            return None
        line = Number(str((i if self.rows else j) + 1))
        return Fraction(self.wording.number(self.numerators[role][i, j]), Name("r", (line,)))


_SUMS = {True: message("row sums"), False: message("column sums")}
