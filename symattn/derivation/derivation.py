"""The one data structure in the middle: a straight-line program of named steps with its exact values.

A `Derivation` never changes.  `then` gives a longer one, `replay` gives the one that would have come of another
start, another operation or another intermediate result: that is what a misconception and follow-through marking
are made of.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, lru_cache
from itertools import product
from types import MappingProxyType
from typing import Any, Literal, Protocol, Self, TypeAlias, TypeVar

from symattn.derivation.algebra import FORMULAS, VALUES, Algebra, Entries, Index
from symattn.derivation.sizes import Axis, plus, times
from symattn.derivation.windows import WINDOWS, Box
from symattn.errors import InputError, OutgrownError, ShapeError, UndefinedError, offered
from symattn.exact import AnyMatrix, Matrix, Outline, Size, Value, has_symbols, in_numbers, is_symbolic, matrix
from symattn.exact.real import Real, as_real, going_on
from symattn.exact.values import (
    NEGATIVE_INFINITY,
    RATIONAL,
    Rational,
    denominator_of,
    is_finite,
    length,
    numerator_of,
    parts,
    terms_of,
)
from symattn.formula import Formula, MatrixOf, Name
from symattn.formula.nodes import Bracket

Arithmetic: TypeAlias = Literal["exact", "decimal", "auto"]
"""How results are carried on from step to step.

exact:    every result stays as it is; one that outgrows what can be worked out is an `OutgrownError`.
decimal:  short fractions and −∞ stay, for a fraction is its own best proof; everything else becomes a `Real`.
auto:     a step whose results all are short stays exact; one with a longer result goes on in decimals, all of it.
"""


T = TypeVar("T")
Shape = tuple[Size, Size]
Orientation = Axis
Floats: TypeAlias = list[list[float]]
Brings: TypeAlias = Literal["powers", "sines"]
View: TypeAlias = Entries[Formula]
"""An operand as `Op.working` sees it: its shape, and each entry as it is to be written."""


@dataclass(frozen=True, slots=True)
class Style:
    """The few things about writing an operation that a notation decides."""

    product: str = ""  # between matrices: "", "×" or "·"
    softmax: str = "softmax"
    bracket: Bracket = "["
    letters: Mapping[str, Formula] = field(default_factory=dict)  # d_k, d_model, n → how they are written


class Signs(Protocol):
    """How a page writes numbers, sizes, matrices and steps."""

    @property
    def style(self) -> Style: ...
    def number(self, value: Value) -> Formula: ...
    def base(self, base: Value | Literal["e"]) -> Formula: ...
    def size(self, size: Size) -> Formula: ...
    def shape_of(self, operand: Operand) -> Shape: ...
    def operand(self, operand: Operand) -> Formula: ...
    def equation(self, step: Step) -> Formula: ...


@dataclass(frozen=True)
class Convention:
    """What has to be agreed on before an operation can be worked out: a sentence, and the formulas in its places."""

    sentence: str
    places: Mapping[str, Formula] = field(default_factory=dict)


def convention(sentence: str, /, **places: Formula) -> Convention:
    """A convention whose places have formulas."""
    return Convention(sentence, places)


class Op(ABC):
    """One kind of line.  Subclasses are frozen dataclasses of their own parameters, comparable with ==.

    They do not know the names of their operands: errors say what the op knows, `Derivation` adds the rest.
    """

    arity: int = 1
    """How many operands; −1 for any number."""

    trivial: bool = False
    """Whether nothing has to be worked out: such a step is shown and not asked."""

    moves: bool = False
    """Whether entries only get another place."""

    shows_factors: bool = True
    """Whether it is worth writing with its operands' numbers, as a product is: not where they stand just above."""

    ends_in_decimals: bool = False
    """Whether an entry that is written out ends in its decimals."""

    by_hand: bool = False
    """Whether its entries are worked out on paper, which takes room."""

    weighs: bool = False
    """Whether it makes weights of scores, line by line."""

    norms: bool = False
    """Whether it divides lines by how large they are."""

    entwined: bool = False
    """Whether its operands belong together: a mean is that of the numbers beside it, a maximum the largest of them."""

    by_blocks: bool = False
    """Whether it goes on from block to block of keys, as an online softmax does."""

    by_place: bool = False
    """Whether its rule has another number at every place, as a rotation by positions does."""

    is_loss: bool = False
    """Whether it measures how far probabilities are from what is wanted."""

    in_numpy: str = ""
    """The operation in one line of NumPy, with its operands by number and its parameters as those of `op`."""

    says: str | tuple[str, str] = ""
    """What has to be agreed on, where that is a sentence without formulas, or one for rows and one for columns."""

    in_short: str | tuple[str, str] = ""
    """The same in a word or two."""

    reverses: bool = False
    """Whether operands change places on transposed matrices: (A B)ᵀ = Bᵀ Aᵀ."""

    def turn(self) -> Self:
        """What the operation is on transposed matrices: what goes along rows goes along columns, and back."""
        across = {"rows": "columns", "columns": "rows"}
        parameters = {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]
        turned = {name: across[x] for name, x in parameters.items() if isinstance(x, str) and x in across}
        return replace(self, **turned)  # type: ignore[type-var]

    @abstractmethod
    def shape(self, *shapes: Shape) -> Shape:
        """The shape of the result; `ShapeError` says which rule the operands break."""

    @abstractmethod
    def apply(self, *operands: Matrix) -> Matrix:
        """The exact result; the shapes have been checked."""

    @abstractmethod
    def working(self, i: Index, j: Index, *operands: View) -> Formula:
        """Entry (i, j) written out with the operands' entries, nothing worked out."""

    @abstractmethod
    def written(self, style: Style, *operands: Formula) -> Formula:
        """The operation on whole matrices: X W^Q, softmax(S)."""

    def factors(self, style: Style, *matrices: Formula) -> Formula:
        """The same with the operands' numbers, and its own."""
        return self.written(style, *matrices)

    def own_matrix(self, style: Style) -> tuple[Name, MatrixOf] | None:
        """A matrix that it adds or multiplies by, and what that is called: a mask, a bias."""
        return None

    def numpy(self, *operands: str) -> str | None:
        """The operation in one line of NumPy, from the operands' names; None to have it entry by entry.

        The line may call the helper functions of `numpy_source`.
        """
        return self.in_numpy.format(*operands, op=self) or None

    def numpy_above(self) -> tuple[str, ...]:
        """Assignments that stand above that line: of a mask's matrix, of positions."""
        return ()

    def range(self, *boxes: Box) -> Box | None:
        """All that the result may be for operands in some windows; None if that is not known.

        `UndefinedError` where it is not defined for all of them.
        """
        return None

    def witness(self, *operands: Floats) -> Floats | None:
        """The result once more in floats, by a formula that shares nothing with the rule; None if there is none.

        Keys are compared with it before they are written.
        """
        return None

    def confirmed(self, result: Floats, *operands: Floats) -> Floats | None:
        """What a result is compared with: the same once more.

        An operation that leaves a choice, as rounding does, gives back the entries that it allows, and NaN for others.
        """
        return self.witness(*operands)

    def flows(self, k: int) -> bool:
        """Whether operand k gets a gradient of its own: the mean of a norm does not, for what it is made of does."""
        return True

    def pull(self, use: Use) -> Pull:
        """The gradient with respect to operand k of a step with this operation, for the gradient g of its result.

        `InputError` where none is known.
        """
        raise InputError(f"Step {use.step.name!r}: how a gradient goes back through {self.title!r} is not known.")

    words: tuple[str, ...] = ()
    """What the entries, numbers from 1, stand for; empty if they are plain numbers."""

    def in_numbers(self, i: int, j: int, matrices: Sequence[Matrix], *operands: View) -> Formula:
        """Entry (i, j) written out, where the operands' numbers are known and may decide what is written."""
        return self.working(i, j, *operands)

    @property
    def brings(self) -> Brings | None:
        """What exact values have in them, once it has been applied to fractions."""
        return None

    def conventions(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        """What has to be agreed on before it can be worked out, said once for all `steps` with an op of this class."""
        return self._said(self.says)

    def in_brief(self, steps: Sequence[Step], signs: Signs) -> Sequence[Convention]:
        """The same in formulas and a word or two."""
        return self._said(self.in_short) or self.conventions(steps, signs)

    def _said(self, sentences: str | tuple[str, str]) -> Sequence[Convention]:
        sentence = sentences if isinstance(sentences, str) else sentences[self.turned]
        return [Convention(sentence)] if sentence else []

    @property
    def turned(self) -> bool:
        """Whether it goes along lines that are columns."""
        return False

    @property
    def title(self) -> str:
        """What the line does, in the words of a heading."""
        return type(self).__name__


class InSympy(Protocol):
    """A matrix expression of SymPy, as far as operations need it."""

    @property
    def shape(self) -> tuple[object, object]: ...
    @property
    def T(self) -> InSympy: ...  # noqa: N802  (the name that SymPy gives it)
    def __add__(self, other: InSympy) -> InSympy: ...
    def __mul__(self, other: InSympy) -> InSympy: ...
    def __truediv__(self, number: object) -> InSympy: ...
    def __getitem__(self, place: object) -> InSympy: ...


class RuleOp(Op):
    """An operation that is one rule for an entry: its values and its working are that rule, read in two algebras.

    Its operands and its result have one shape, unless it says otherwise.  Where a quicker way to the values is known,
    `apply` is written beside the rule; they must agree.
    """

    def shape(self, *shapes: Shape) -> Shape:
        return alike(*shapes)

    @abstractmethod
    def rule(self, A: Algebra[T], i: Index, j: Index, *operands: Entries[T]) -> T:
        """Entry (i, j) of the result in an algebra; a letter stands for any index."""

    def whole(self, *operands: InSympy) -> InSympy | None:
        """The operation on whole matrix expressions of SymPy; None if SymPy has none for it."""
        return None

    def read(self, A: Algebra[T], *operands: Sequence[Sequence[T]]) -> tuple[tuple[T, ...], ...]:
        """Every entry of the result in an algebra, from the rows of the operands."""
        return entries_of(self.rule, self.shape, A, *operands)

    def apply(self, *operands: Matrix) -> Matrix:
        return Matrix.of(self.read(VALUES, *(m.rows for m in operands)))

    def range(self, *boxes: Box) -> Box | None:
        """By the rule: the range itself where every number occurs once in it, and else wider."""
        return range_of(self.rule, self.shape, *boxes)

    def working(self, i: Index, j: Index, *operands: View) -> Formula:
        return self.rule(FORMULAS, i, j, *operands)


def entries_of(
    rule: Callable[..., T], shape_of: Callable[..., Shape], A: Algebra[T], *operands: Sequence[Sequence[T]]
) -> tuple[tuple[T, ...], ...]:
    """Every entry that a rule gives in an algebra, from the rows of the operands."""
    rows, columns = shape_of(*((len(m), len(m[0])) for m in operands))
    if isinstance(rows, str) or isinstance(columns, str):
        raise ShapeError("matrices of numbers are needed;")
    seen = [Entries.of(m) for m in operands]
    return tuple(tuple(rule(A, i, j, *seen) for j in range(columns)) for i in range(rows))


def range_of(rule: Callable[..., Any], shape_of: Callable[..., Shape], *boxes: Box) -> Box | None:
    """The ranges of the entries that a rule gives; None for a function whose range is not known."""
    try:
        return entries_of(rule, shape_of, WINDOWS, *boxes)
    except TypeError:
        return None


def alike(*shapes: Shape) -> Shape:
    """The one shape that all have; `ShapeError` if they differ."""
    if len(set(shapes)) != 1:
        raise ShapeError("the matrices must have the same shape;")
    return shapes[0]


@dataclass(frozen=True, slots=True)
class Operand:
    """A use of an earlier matrix: all of it, one row or one column (from 0); then perhaps transposed."""

    name: str
    transposed: bool = False
    row: int | None = None
    column: int | None = None

    def of(self, matrix: AnyMatrix) -> AnyMatrix:
        if self.row is not None:
            matrix = matrix.row(self.row)
        if self.column is not None:
            matrix = matrix.T.row(self.column).T
        return matrix.T if self.transposed else matrix

    def place(self, i: Index, j: Index) -> tuple[Index, Index]:
        """Where entry (i, j) of the operand stands in the matrix that it is taken from."""
        row, column = (j, i) if self.transposed else (i, j)
        return row if self.row is None else self.row, column if self.column is None else self.column

    @property
    def flipped(self) -> Operand:
        return replace(self, transposed=not self.transposed)

    def __str__(self) -> str:
        part = f"[row {self.row + 1}]" if self.row is not None else ""
        part += f"[column {self.column + 1}]" if self.column is not None else ""
        return self.name + part + ("ᵀ" if self.transposed else "")


def transposed(name: str, row: int | None = None) -> Operand:
    """The transpose of a matrix, or of one of its rows: a column."""
    return Operand(name, True, row)


def row_of(name: str, row: int) -> Operand:
    """Row `row` (from 0) of a matrix, as a matrix of one row."""
    return Operand(name, False, row)


_NAME = re.compile(r"(?P<stem>.*?)(?:_(?P<head>\d+))?(?:\^(?P<place>\w+))?(?:\.(?P<token>\d+))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class StepName:
    """A name taken apart: `S'_2^self.3` are the scaled scores (`S'`) of head 2 in the layer `self`, for token 3."""

    stem: str
    head: int | None = None
    place: str = ""
    token: int | None = None

    @staticmethod
    @lru_cache(maxsize=4096)  # the same names come again in every entry
    def of(name: str) -> StepName:
        match = _NAME.fullmatch(name)
        assert match is not None  # the stem takes whatever is left
        head, token = match["head"], match["token"]
        return StepName(match["stem"], int(head) if head else None, match["place"] or "", int(token) if token else None)

    @property
    def scope(self) -> str:
        """What follows the stem but for the token: _2^self."""
        return (f"_{self.head}" if self.head is not None else "") + (f"^{self.place}" if self.place else "")


def own_name(name: str) -> str:
    """A matrix as it is called here: γ and β of the first norm are written as W_1 and b_1 are, and may be without _.

    >>> own_name("gamma1"), own_name("beta2^self"), own_name("b_1")
    ('gamma_1', 'beta_2^self', 'b_1')
    """
    return re.sub(r"^(gamma|beta)(?=\d)", r"\1_", name)


@dataclass(frozen=True, slots=True)
class Step:
    """One named line.  `result` is exactly `op.apply` of the operands, or was pinned.

    `title` is the author's own name for it in words: "Sums".
    """

    name: str
    op: Op
    operands: tuple[Operand, ...]
    result: AnyMatrix
    section: str = ""
    pinned: bool = False
    title: str | None = None

    @property
    def role(self) -> str:
        """What the matrix is for: `S` for the scores, also for those of one token (`S.2`); `S_1` are head 1's."""
        return self.name.partition(".")[0]

    @property
    def stem(self) -> str:
        """The same without its head and its place: `S` for `S_1`, `S^self` and `S.2`."""
        return StepName.of(self.name).stem

    @property
    def token(self) -> int | None:
        """The token (from 1) whose line this is in a token-by-token derivation."""
        number = self.name.partition(".")[2]
        return int(number) if number.isdecimal() else None

    def _repr_latex_(self) -> str:
        """The step's name and its matrix, or its shape, as SymPy shows them in a notebook."""
        import sympy

        if isinstance(self.result, Outline):
            sizes = (sympy.Symbol(size) if isinstance(size, str) else size for size in self.result.shape)
            left, right = sympy.Function("shape")(sympy.Symbol(self.name)), sympy.Tuple(*sizes)
        else:
            left, right = sympy.MatrixSymbol(self.name, *self.result.shape), self.result.sympy()
        shown: str = sympy.Eq(left, right, evaluate=False)._repr_latex_()
        return shown

    def applied(self, matrices: Sequence[AnyMatrix], arithmetic: Arithmetic) -> AnyMatrix:
        """What the operation gives for its operands, each as `Operand.of` leaves it; an outline for outlines."""
        op, shapes = self.op, tuple(m.shape for m in matrices)
        if op.arity >= 0 and len(shapes) != op.arity:
            raise InputError(
                f"Step {self.name!r} ({type(op).__name__}) takes {op.arity} operand{'s' * (op.arity != 1)}; "
                f"{len(shapes)} came."
            )
        shape = op.shape(*shapes)
        if any(isinstance(m, Outline) for m in matrices) or any(isinstance(size, str) for size in shape):
            return Outline(shape)
        return carried(op.apply, [m for m in matrices if isinstance(m, Matrix)], arithmetic)

    def with_op(self, op: Op) -> Step:
        return replace(self, op=op)

    def with_operands(self, *operands: str | Operand) -> Step:
        return replace(self, operands=tuple(map(_operand, operands)))


Change = Callable[[Step], "Step | Iterable[Step]"]

Taken = Literal["result", "other"] | int
"""How a given relates to the result of the forward pass: equal, another matrix, or rounded to n places."""


@dataclass(frozen=True)
class Derivation:
    """Givens and steps, each name assigned once.

    With `staged`, later steps see an earlier result as a matrix of fresh symbols named after its step: q_11 and not
    x_11·w_11 + …; `expanded` puts everything back in, `from_givens`: also into entries for any i and j, where sizes are
    letters.  `orientation` says how tokens lie: as rows or as columns.
    `arithmetic` says how results are carried on (`carried`).  `taken` says of givens from which a pass
    backward starts what they are beside the results of the forward pass.
    """

    givens: Mapping[str, AnyMatrix]
    steps: tuple[Step, ...] = ()
    staged: bool = False
    orientation: Orientation = "rows"
    arithmetic: Arithmetic = "exact"
    taken: tuple[tuple[str, Taken], ...] = ()
    from_givens: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.givens, MappingProxyType):
            object.__setattr__(self, "givens", MappingProxyType(dict(self.givens)))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled and copied without what has been looked up: a proxy of a mapping cannot be."""
        return type(self), tuple(
            dict(x) if isinstance(x, MappingProxyType) else x for x in (getattr(self, f.name) for f in fields(self))
        )

    # -- looking things up

    def __contains__(self, name: object) -> bool:
        return name in self.givens or name in self._named

    def __getitem__(self, name: str) -> Step:
        if name in self._named:
            return self._named[name]
        raise InputError(f"There is no step {name!r}; {_known(name, 'the steps are', (s.name for s in self.steps))}")

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def value(self, name: str) -> AnyMatrix:
        """A given or the result of a step."""
        if name in self.givens:
            return self.givens[name]
        if name in self._named:
            return self._named[name].result
        known = list(self.matrices)
        raise InputError(f"There is no matrix {name!r}; {_known(name, 'there are', known)}")

    def operand(self, operand: Operand) -> AnyMatrix:
        """A given or a result, or the part of it, that a step works on."""
        return operand.of(self.value(operand.name))

    def operands(self, step: Step) -> tuple[AnyMatrix, ...]:
        """What a step works on."""
        return tuple(map(self.operand, step.operands))

    @property
    def matrices(self) -> dict[str, AnyMatrix]:
        """Givens and results by name, in order."""
        return {**self.givens, **{step.name: step.result for step in self.steps}}

    @property
    def in_numbers(self) -> bool:
        """Whether every matrix is, so that everything can be computed with."""
        return all(map(in_numbers, self.matrices.values()))

    def seen(self, name: str) -> AnyMatrix:
        """What later steps compute with: `value`, or the symbols that stand for it (numbers and −∞ stay)."""
        return self.as_seen(name, self.value(name))

    def as_seen(self, name: str, matrix: AnyMatrix) -> AnyMatrix:
        """What later steps would compute with if this were the value."""
        if self.staged and name not in self.givens and isinstance(matrix, Matrix):
            pairs = zip(matrix.rows, symbols(name, *matrix.shape, self.orientation).rows, strict=True)
            return Matrix.of(
                [s if has_symbols(x) else x for x, s in zip(row, named, strict=True)] for row, named in pairs
            )
        return matrix

    @property
    def last(self) -> Step:
        return self.steps[-1]

    def before(self, name: str) -> frozenset[str]:
        """The steps that a step rests on, directly or not."""
        return self._before[name]

    @cached_property
    def _named(self) -> Mapping[str, Step]:
        return {step.name: step for step in self.steps}

    @cached_property
    def _before(self) -> Mapping[str, frozenset[str]]:
        sources: dict[str, frozenset[str]] = {}
        for step in self.steps:
            direct = {operand.name for operand in step.operands if operand.name in sources}
            sources[step.name] = frozenset(direct.union(*(sources[name] for name in direct)))
        return sources

    # -- making longer and other ones

    def then(
        self, name: str, op: Op, *operands: str | Operand, section: str = "", title: str | None = None
    ) -> Derivation:
        """One more step; `ShapeError` or `UndefinedError` name the step, the shapes and a likely cause."""
        step = Step(name, op, tuple(map(_operand, operands)), Outline((0, 0)), section, title=title)
        return self.extended(step)

    def extended(self, step: Step) -> Derivation:
        """This derivation and one more step, its result worked out unless it is pinned."""
        if step.name in self:
            raise InputError(f"The name {step.name!r} is given twice; every matrix needs a name of its own.")
        if not step.pinned:
            step = replace(step, result=self._result(step))
        longer = replace(self, steps=(*self.steps, step))
        vars(longer)["_named"] = {**self._named, step.name: step}
        return longer

    def replay(
        self,
        change: Change | None = None,
        pinned: Mapping[str, object] = MappingProxyType({}),
        givens: Mapping[str, object] = MappingProxyType({}),
    ) -> Derivation:
        """Work everything out again with something changed; `d.replay() == d`.

        `change` maps each step to a step, or to several, or to none; `pinned` replaces results by what someone wrote;
        `givens` replaces givens.  What comes after follows from what was changed.
        """
        for name in pinned:
            self[name]  # an unknown name is an error, not a silent no-op
        for name in givens:
            self.value(name)
            if name not in self.givens:
                raise InputError(f"There is no given {name!r}; {_known(name, 'the givens are', self.givens)}")
        start = {name: matrix(givens.get(name, given)) for name, given in self.givens.items()}
        result = replace(self, givens=start, steps=())
        for step in self.steps:
            changed = step if change is None else change(step)
            for new in (changed,) if isinstance(changed, Step) else changed:
                if new.name in pinned:
                    result = result.extended(replace(new, result=matrix(pinned[new.name]), pinned=True))
                else:
                    result = result.extended(replace(new, pinned=False) if new.pinned else new)
        return result

    def until(self, name: str) -> Derivation:
        """The steps up to and including `name`."""
        steps = list(self.steps)
        last = next((i for i, step in enumerate(steps) if step.name == name), None)
        if last is None:
            self[name]
        return replace(self, steps=tuple(steps[: (last or 0) + 1]))

    def expanded(self) -> Derivation:
        """A staged derivation with every symbol put back in: entries in terms of the givens alone."""
        return replace(self, staged=False, from_givens=True).replay()

    # -- working out

    def _result(self, step: Step) -> AnyMatrix:
        matrices, op = [self._operand(step, operand) for operand in step.operands], step.op
        try:
            return step.applied(matrices, self.arithmetic)
        except ShapeError as error:
            raise ShapeError(self._explain(step, tuple(m.shape for m in matrices), error)) from error
        except OutgrownError as error:
            raise OutgrownError(f"Step {step.name!r} ({type(op).__name__}): {error}") from error
        except UndefinedError as error:
            raise UndefinedError(f"Step {step.name!r} ({type(op).__name__}): {error}") from error

    def _operand(self, step: Step, operand: Operand) -> AnyMatrix:
        try:
            matrix = self.seen(operand.name)
        except InputError as error:
            raise InputError(f"Step {step.name!r}: {error}") from error
        for what, index, size in (("row", operand.row, matrix.shape[0]), ("column", operand.column, matrix.shape[1])):
            if index is not None and isinstance(size, int) and not 0 <= index < size:
                raise InputError(f"Step {step.name!r}: {operand.name} has {size} {what}s, so no {what} {index + 1}.")
        return operand.of(matrix)

    def _explain(self, step: Step, shapes: Sequence[Shape], error: ShapeError) -> str:
        what = ", ".join(
            f"{operand} is {shape[0]}×{shape[1]}" for operand, shape in zip(step.operands, shapes, strict=True)
        )
        return f"Step {step.name!r} ({type(step.op).__name__}): {error} {what}.{self._hint(step, shapes)}"

    def _hint(self, step: Step, shapes: Sequence[Shape]) -> str:
        """A likely cause: the nearest use of the same operands, exchanged or transposed, whose shapes fit."""
        orders = [list(range(len(shapes))), list(reversed(range(len(shapes))))][: 1 + (len(shapes) == 2)]
        trials = [(turned, order) for order in orders for turned in product((False, True), repeat=len(shapes))]
        for turned, order in sorted(trials, key=lambda trial: (sum(trial[0]), trial[1] != orders[0])):
            used = list(zip(order, turned, strict=True))
            try:
                step.op.shape(*(shapes[p][::-1] if turn else shapes[p] for p, turn in used))
            except ShapeError:
                continue
            operands = [replace(step.operands[p], transposed=step.operands[p].transposed != turn) for p, turn in used]
            return f" Did you mean {' and '.join(map(str, operands))}?"
        return ""


# ------------------------------------------------------------------------------------------------ the way back


@dataclass(frozen=True)
class Lines:
    """Some columns (or rows) of a matrix: `count` of them from `start` (from 0), every `step`-th."""

    start: int
    count: int
    step: int = 1
    of: Axis = "columns"

    @property
    def indices(self) -> range:
        return range(self.start, self.start + self.count * self.step, self.step)

    @property
    def slice(self) -> str:
        """The same in NumPy: 0:4:2."""
        return f"{self.start}:{self.indices[-1] + 1}" + (f":{self.step}" if self.step > 1 else "")

    def turn(self) -> Self:
        """The same of the transposed matrix."""
        return replace(self, of="rows" if self.of == "columns" else "columns")


@dataclass(frozen=True)
class HeadLines:
    """The columns (or rows) of head `head` (from 1) of `heads`, where the width of each is a letter."""

    head: int
    heads: int
    width: Size
    split: Literal["consecutive", "interleaved"] = "consecutive"
    of: Axis = "columns"

    @property
    def start(self) -> Size:
        """The first of them (from 0)."""
        return self.head - 1 if self.split == "interleaved" else times(self.head - 1, self.width)

    @property
    def step(self) -> int:
        """How far one is from the next."""
        return self.heads if self.split == "interleaved" else 1

    @property
    def end(self) -> Size:
        """The one after the last."""
        return plus(self.start, times(self.step, self.width), 1 - self.step)

    def turn(self) -> Self:
        """The same of the transposed matrix."""
        return replace(self, of="rows" if self.of == "columns" else "columns")


@dataclass(frozen=True, slots=True)
class Pull:
    """What one operand of a step gets: an operation on what is known, or with no operation a matrix as it stands.

    `after` are operations on its result, each a step of its own.  `part` are the columns or rows of the operand that it
    belongs to, none for all of it.
    """

    operands: tuple[Operand, ...]
    op: Op | None = None
    after: tuple[Op, ...] = ()
    part: Lines | HeadLines | None = None

    @classmethod
    def chain(cls, operands: tuple[Operand, ...], *ops: Op) -> Pull:
        """One operation after the other, or none."""
        return cls(operands, ops[0], ops[1:]) if ops else cls(operands)


@dataclass(frozen=True, slots=True)
class Use:
    """A forward step, the gradient g of its result, and the number k of the operand that is asked about."""

    d: Derivation
    step: Step
    g: Operand
    k: int

    @property
    def operand(self) -> Operand:
        return self.step.operands[self.k]

    @property
    def others(self) -> tuple[Operand, ...]:
        return (*self.step.operands[: self.k], *self.step.operands[self.k + 1 :])

    @property
    def result(self) -> Operand:
        return Operand(self.step.name)

    @property
    def shapes(self) -> tuple[Shape, ...]:
        return tuple(matrix.shape for matrix in self.d.operands(self.step))


# ------------------------------------------------------------------------------------------------ symbols


def symbols(name: str, rows: int, columns: int, orientation: Orientation = "rows") -> Matrix:
    """A matrix of SymPy symbols named after it: X gives x_{11}, x_{12}, …; W_Q gives w^Q_{11}, …"""
    import sympy

    return Matrix.of(
        [sympy.Symbol(s, real=True) for s in row] for row in symbol_names(name, rows, columns, orientation)
    )


def symbol_names(name: str, rows: int, columns: int, orientation: Orientation = "rows") -> list[list[str]]:
    """How the entries of a matrix are called in SymPy: s'_{11}, w^Q_{11}, x_{1,12}.

    What one token's row or column holds (`S.2`) is called as in the whole matrix: s_{21}, s_{22}, …
    """
    token = name.partition(".")[2]
    called = StepName.of(name)
    base, _, label = called.stem.partition("_")
    letter = base.rstrip("'")
    if len(letter) == 1:
        base = base.replace(letter, letter.lower(), 1)
    label = ",".join(filter(None, (label, called.place, f"({called.head})" if called.head is not None else "")))
    if token and rows > 1 and columns > 1:
        label += token
    comma = "," if max(rows, columns, int(token or 0)) > 9 else ""

    def index(i: int, j: int) -> str:
        if token and (rows == 1 or columns == 1):
            other = max(i, j)
            i, j = (int(token), other) if orientation == "rows" else (other, int(token))
        return f"{i}{comma}{j}"

    sup = f"^{label}" if label else ""
    return [[f"{base}{sup}_{{{index(i, j)}}}" for j in range(1, columns + 1)] for i in range(1, rows + 1)]


def _operand(operand: str | Operand) -> Operand:
    return operand if isinstance(operand, Operand) else Operand(operand)


def _known(name: str, words: str, names: Iterable[str]) -> str:
    listed = list(names)
    return offered(name, listed, f"{words} {{}}" if listed else "there are none yet")


# ------------------------------------------------------------------------------------ how results are carried on
LONGEST_COEFFICIENT = 100  # bits above or below the line, some 30 digits: a longer fraction becomes a decimal
MOST_TERMS = 24  # above and below the line together: a longer sum becomes a decimal where arithmetic is auto
MOST_PARTS = 16  # of an expression outside the class, such as sin(1) or 2 − ln(1 + e + e²)


def carried(work: Callable[..., Matrix], operands: Sequence[Matrix], arithmetic: Arithmetic) -> Matrix:
    """The result of an operation on matrices, as it is carried on."""
    if arithmetic == "exact":
        return work(*operands)
    if any(has_symbols(x) for m in operands for x in m):
        if any(map(in_decimals, operands)):
            raise InputError("Letters cannot be worked with beside decimals.")
        return work(*operands)
    outside = arithmetic == "decimal" or any(map(is_symbolic, (x for m in operands for x in m)))
    with going_on("decimal" if outside else "short"):
        try:
            result = work(*operands)
        except OutgrownError:
            result = work(*(in_reals(m) for m in operands))
    stays = is_short_fraction if arithmetic == "decimal" or not all(map(is_short, result)) else is_short
    return result.map(lambda x: x if stays(x) else as_real(x))


def in_reals(m: Matrix) -> Matrix:
    """The same numbers, those known by intervals that are no short fractions."""
    return m.map(lambda x: x if is_short_fraction(x) else as_real(x))


def is_short_fraction(x: Value) -> bool:
    return x is NEGATIVE_INFINITY or (isinstance(x, RATIONAL) and _is_short_coefficient(x))


def is_short(x: Value) -> bool:
    """Whether an exact value can be written on a line and read; a number known by intervals cannot grow."""
    if is_symbolic(x):
        return parts(x, MOST_PARTS + 1) <= MOST_PARTS
    if not is_finite(x):
        return x is NEGATIVE_INFINITY or isinstance(x, Real)
    if isinstance(x, RATIONAL):
        return _is_short_coefficient(x)
    above, below = numerator_of(x), denominator_of(x)
    coefficients = (*terms_of(above).values(), *terms_of(below).values())
    return length(above) + length(below) <= MOST_TERMS and all(map(_is_short_coefficient, coefficients))


def _is_short_coefficient(q: Rational) -> bool:
    return max(q.numerator.bit_length(), q.denominator.bit_length()) <= LONGEST_COEFFICIENT


def in_decimals(m: Matrix) -> bool:
    """Whether some entry is known by intervals alone."""
    return any(isinstance(x, Real) for x in m)


# ------------------------------------------------------------------------------------ rows and columns exchanged


def turned(d: Derivation) -> Derivation:
    """The same derivation with every matrix transposed: tokens as columns become tokens as rows, and back."""
    return replace(
        d,
        givens={name: matrix.T for name, matrix in d.givens.items()},
        steps=tuple(map(turned_step, d.steps)),
        orientation="columns" if d.orientation == "rows" else "rows",
    )


def oriented(d: Derivation, orientation: Orientation) -> Derivation:
    """The derivation with its tokens as rows, or as columns."""
    return d if d.orientation == orientation else turned(d)


def turned_step(step: Step) -> Step:
    """A line for the transposed matrices: (A B)ᵀ = Bᵀ Aᵀ, so that factors change places; the rest stay in theirs."""
    operands = tuple(replace(o, row=o.column, column=o.row) for o in step.operands)
    return replace(
        step,
        op=step.op.turn(),
        operands=operands[::-1] if step.op.reverses else operands,
        result=step.result.T,
    )
