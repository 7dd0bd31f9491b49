"""A misconception: a wrong belief, as a function from a derivation to the derivation that someone with it writes.

What someone writes differently is a few steps with other operands or another operation.  Everything is said for tokens
as rows, matrix by matrix; `Misconception.on` puts a derivation into that layout and back.  Steps are worked out again
from whatever their operands are, so that a belief can be tried on what a student wrote.

The core (rules.md 2.4: 20, and 5 for masks) is every entry with an answer of full size in the tables of 2.3 whose prior
is not low, with C9, which 2.4 counts among those that notes 000 and 002 hide, and P7 and O5, which it counts as the
pair that agrees at the output: P4 P7 P8 T2, C1 C2 C3 C4 C5 C8 C9, X1 X2 X3 X6 X10 X13, O1 O5 O7; with a mask M1 M2 M4
M5 M6.  M3 and M7 give themselves away by what is not defined.  For padding M8 stands in for M1, of which it is a case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal, Self, TypeVar

from symattn.derivation.algebra import Index
from symattn.derivation.derivation import (
    Derivation,
    Op,
    Operand,
    Shape,
    Step,
    StepName,
    Style,
    View,
    oriented,
    turned_step,
)
from symattn.derivation.matrixwise import matrixwise
from symattn.derivation.ops.entrywise import Activation
from symattn.derivation.ops.linear import Hadamard
from symattn.errors import InputError, ShapeError, UndecidedError
from symattn.exact import AnyMatrix, Matrix, Outline, Value, decide
from symattn.exact.values import denominator_of, is_finite, is_symbolic, length, numerator_of, parts
from symattn.formula import Formula

Prior = Literal["high", "medium", "low"]
EXPERIENCE = "experience"
"""The source of what is in no collection."""

SomeOp = TypeVar("SomeOp", bound=Op)
T = TypeVar("T")

Rewritten = Mapping[str, Step]
"""Steps as someone with the belief writes them, by name."""

Change = Callable[[Derivation], Rewritten | None]
"""What is written differently in a derivation with tokens as rows; None if the belief does not apply."""


@dataclass(frozen=True)
class Misconception:
    """One entry of the catalogue.

    `change` gives the steps that someone with this belief writes differently; everything after them is right.  It
    returns None where it does not apply (no mask, no projection, a scale that is 1).  It goes by operations and shapes:
    what it says of a key holds for a student's own lines of the same shapes.  `at` is the role of the first step
    that it spoils and `exactly` what is done there, for tokens as rows.  `tell` says how it differs from its
    look-alikes, `feedback` is one sentence to the student, with matrices as `$@name(Q)$` and the divisor as
    `$@scale(S')$`, in the notation's own signs, and with {rows}, {row}, {columns}, {column} for words that turn with
    the orientation.  `source` is where it has been seen, and `prior` how often it comes.  A `core` one must be
    visible in every exam variant.  One that is not `drawn` is known to marking alone: no problem type plants it or
    offers it as an option, so that a seed draws what it drew before.  A name that speaks of rows or columns has
    `turned_name` beside it, for tokens as columns; products in names are those of tokens as rows, and turned where
    they are written.
    """

    id: str
    name: str
    at: str
    change: Change = field(repr=False)
    exactly: str
    tell: str
    feedback: str
    source: str = EXPERIENCE
    prior: Prior = "medium"
    core: bool = False
    turned_name: str = ""
    drawn: bool = True

    def __post_init__(self) -> None:
        for name in ("name", "turned_name"):  # a name stands in sentences, which end for themselves
            object.__setattr__(self, name, getattr(self, name).removesuffix("."))

    def called(self, orientation: Literal["rows", "columns"]) -> str:
        """Its name where tokens are rows, or columns."""
        return (self.turned_name if orientation == "columns" else "") or self.name

    @property
    def is_usual(self) -> bool:
        """Whether it is common enough to be told of, and to be planted."""
        return self.core or self.prior != "low"

    def on(self, derivation: Derivation) -> WrongDerivation | None:
        """What this belief makes of a derivation in numbers; None if it does not apply.

        Steps before the first one that it changes stay as they are, also if they are pinned; what follows from it is
        worked out.  The right values that it is compared with are worked out from the same steps.
        """
        return MatrixwiseDerivation(derivation).wrong(self)


@dataclass(frozen=True)
class WrongDerivation:
    """A derivation with a misconception in it, as far as it goes.

    `first` is the first step whose value is not the right one, none where the misconception cannot be seen in this
    variant; `stopped` says why it goes no further (a product that is not defined), which gives the mistake away: the
    step in question is then the first after the last one in `derivation`.  It is `undefined`, or else its entries would
    be too long.  `right` is what it is compared with.  Both are matrix by matrix, in the orientation of the derivation
    that one started from.
    """

    misconception: Misconception
    derivation: Derivation
    first: str | None
    stopped: str = ""
    right: Derivation = field(default_factory=lambda: Derivation({}), repr=False)
    undefined: bool = False

    def value(self, step: str) -> AnyMatrix | None:
        """What would be written for a step; None if the script ends before."""
        return self.derivation.value(step) if step in self.derivation else None


class MatrixwiseDerivation:
    """A derivation laid out matrix by matrix, as it came (`given`) and with tokens as rows (`rows`)."""

    def __init__(self, derivation: Derivation) -> None:
        self.given = matrixwise(derivation)
        self.rows = oriented(self.given, "rows")
        self.pinned = any(step.pinned for step in self.given)

    @cached_property
    def parts(self) -> tuple[Alone, ...]:
        """Every head and layer taken alone."""
        return alone_in(self.rows)

    def wrong(self, misconception: Misconception) -> WrongDerivation | None:
        """What the misconception makes of it."""
        rewritten = rewritten_everywhere(self.rows, misconception.change, self.parts)
        if not rewritten:
            return None
        right, given = self.rows, self.given
        if self.pinned:  # what was pinned at or after the change is not what follows from it
            right, _ = followed(self.rows, {name: replace(self.rows[name], pinned=False) for name in rewritten})
            given = self._as_given(right)
        wrong, failed = followed(self.rows, {name: replace(step, pinned=False) for name, step in rewritten.items()})
        first = next((s.name for s in wrong if not same(s.result, _value(right, s.name))), None)
        if failed and first is None and failed.name in right:
            first = failed.name
        derivation = self._as_given(wrong)
        if failed is None:
            return WrongDerivation(misconception, derivation, first, right=given)
        undefined, why = self._why(derivation, failed)
        return WrongDerivation(misconception, derivation, first, why, given, undefined)

    def _as_given(self, rows: Derivation) -> Derivation:
        """A derivation with tokens as rows in the orientation of `given`; unchanged steps are shared."""
        if rows.orientation == self.given.orientation:
            return rows
        known = {id(own): step for own, step in zip(self.rows, self.given, strict=True)}
        return replace(self.given, steps=tuple(known.get(id(step)) or turned_step(step) for step in rows))

    def _why(self, derivation: Derivation, failed: Step) -> tuple[bool, str]:
        """Whether a step is not defined, and why it cannot be worked out, in the orientation of `derivation`."""
        step = failed if derivation.orientation == "rows" else turned_step(failed)
        try:
            derivation.extended(step)
        except ShapeError as error:
            matrices = derivation.operands(step)
            said = (f"{o} is {m.shape[0]}×{m.shape[1]}" for o, m in zip(step.operands, matrices, strict=True))
            return True, f"{step.name} is not defined: {_cause(error).rstrip(';')}, but {' and '.join(said)}."
        except (InputError, UndecidedError) as error:
            return True, f"{step.name} is not defined: {_cause(error)}"
        return False, f"{step.name} has entries that are too long to be written."


def rewritten_everywhere(d: Derivation, change: Change, parts: Sequence[Alone] | None = None) -> Rewritten | None:
    """What a belief changes in the derivation itself, and in each of its heads and layers taken alone.

    A head or a layer is laid out as if there were no other: S_2^self is S there, and what it takes from elsewhere is
    given.  Someone who divides by d_k does so in every head.  `parts` are they, if somebody has them.
    """
    changes: dict[str, Step] = dict(change(d) or {})
    for alone in alone_in(d) if parts is None else parts:
        for step in (change(alone.d) or {}).values():
            changes[alone.names[step.name]] = replace(of_matrices(step, alone.names), name=alone.names[step.name])
    return changes or None


def alone_in(d: Derivation) -> tuple[Alone, ...]:
    """Every head and layer taken alone."""
    return tuple(_alone(d, scope) for scope in scopes(d))


def scopes(d: Derivation) -> tuple[str, ...]:
    """The heads and layers of a derivation, as they stand at the end of names: _1, _2^self; without what has none."""
    scopes = (StepName.of(step.name).scope for step in d if step.token is None)
    return tuple(scope for scope in dict.fromkeys(scopes) if scope)


@dataclass(frozen=True)
class Alone:
    """A head or a layer as a derivation of its own, and what its matrices are called in the whole one."""

    d: Derivation
    names: Mapping[str, str]


def _alone(d: Derivation, scope: str) -> Alone:
    own = {step.name: StepName.of(step.name).stem for step in d if StepName.of(step.name).scope == scope}
    own |= {name: StepName.of(name).stem for name in d.givens if StepName.of(name).scope == scope}
    taken = set(own.values())
    steps = [step for step in d if step.name in own]
    used = dict.fromkeys(o.name for step in steps for o in step.operands if o.name not in own)
    if "X" in d.givens and "X" not in taken:
        used.setdefault("X")  # it tells how wide the inputs are
    outer = {}
    for name in used:  # keys of another scope, shared by several heads, are the keys of this one
        stem = StepName.of(name).stem
        free = name if name not in taken else f"|{name}"
        outer[name] = stem if stem in ("Q", "K", "V") and stem not in taken else free
        taken.add(outer[name])
    called = {**own, **outer}
    givens = {called[name]: d.value(name) for name in (*used, *(n for n in d.givens if n in own))}
    renamed = tuple(replace(of_matrices(step, called), name=own[step.name]) for step in steps)
    return Alone(Derivation(givens, renamed, d.staged, d.orientation), {short: name for name, short in called.items()})


LONGEST = 200
"""No entry that a misconception is followed from has more terms: nobody writes one (a norm of e-forms has thousands),
and what comes of it takes minutes."""


MOST_PARTS = 1000
"""The same for what is no exact number: of the expression, with everything in it."""


def is_short_enough(x: Value) -> bool:
    """Whether a number is short enough to compute with by hand."""
    if is_finite(x):
        return length(numerator_of(x)) + length(denominator_of(x)) <= LONGEST
    return not is_symbolic(x) or parts(x, MOST_PARTS + 1) <= MOST_PARTS


def followed(d: Derivation, rewritten: Rewritten) -> tuple[Derivation, Step | None]:
    """A derivation with some steps rewritten and what depends on them worked out again, as far as it goes.

    The step that is not defined, or too long to be followed, comes with it, if there is one.  Steps that do not depend
    on the rewritten ones are kept, pinned or not.
    """
    steps, touched = list[Step](), set[str]()
    for step in d:
        new = rewritten.get(step.name)
        if new is None and any(operand.name in touched for operand in step.operands):
            new = replace(step, pinned=False)
        if new is not None:
            touched.add(step.name)
            so_far = replace(d, steps=tuple(steps))
            try:
                step = so_far.extended(new).last
            except (InputError, UndecidedError):  # of another shape, not defined, or not to be rounded so
                return so_far, new
            if isinstance(step.result, Matrix) and not all(map(is_short_enough, step.result)):
                return so_far, new
        steps.append(step)
    return replace(d, steps=tuple(steps)), None


def _value(d: Derivation, name: str) -> AnyMatrix | None:
    return d.value(name) if name in d else None


def same(a: AnyMatrix, b: AnyMatrix | None) -> bool:
    """Whether two results are equal, proved; what cannot be told apart by any number of digits counts as equal."""
    if a is b:
        return True
    if b is None or a.shape != b.shape:
        return False
    if isinstance(a, Outline) or isinstance(b, Outline):
        return a == b
    return all(decide(x, y).equal is not False for x, y in zip(a, b, strict=True))


def _cause(error: BaseException) -> str:
    return str(error.__cause__ or error)


# ------------------------------------------------------------------------------------------ what changes are made of

COPY = Activation("identity")
"""The line is written down again: no scale, no mask, no softmax."""


def step_of_kind(d: Derivation, name: str, kind: type[SomeOp]) -> tuple[Step, SomeOp] | None:
    """The step of that name with its operation, if there is one and it is of this kind."""
    for step in d:
        if step.name == name:
            return (step, step.op) if isinstance(step.op, kind) else None
    return None


def sizes(d: Derivation) -> dict[str, int]:
    """n, m, d_model, d_k, d_v for tokens as rows, as the givens tell, and where they do not, Q, K and V."""
    known: dict[str, int] = {}
    sources = (("X", "n", "d_model"), ("W_K", "d_model", "d_k"), ("W_V", "d_model", "d_v"))
    for name, *letters in (*sources, ("Q", "n", "d_k"), ("K", "m", "d_k"), ("V", "m", "d_v")):
        if name in d:
            for letter, size in zip(letters, d.value(name).shape, strict=True):
                if isinstance(size, int):
                    known.setdefault(letter, size)
    return known


Rule = Callable[..., Shape]


@dataclass(frozen=True)
class ReplacementOp(Op):
    """What someone does in place of an operation; it is written as that operation.

    `does` gets what is `given`, the operation and its operands, tokens as rows; with `turned` tokens are columns here,
    and the operands are transposed on their way in and the result on its way out.  `rule` gives the shape of the result
    where it is not that of the operation, which needs only the first of the operands: more may follow.
    """

    of: Op
    does: Callable[..., Matrix]
    rule: Rule | None = None
    turned: bool = False
    given: tuple[Any, ...] = ()
    arity = -1

    @property
    def title(self) -> str:
        return self.of.title

    def shape(self, *shapes: Shape) -> Shape:
        rows = self._rows([s[::-1] for s in shapes] if self.turned else shapes)
        result = self.rule(*rows) if self.rule else self.of.shape(*rows[: self._count])
        return result[::-1] if self.turned else result

    def apply(self, *operands: Matrix) -> Matrix:
        result = self.does(*self.given, self.of, *self._rows([m.T for m in operands] if self.turned else operands))
        return result.T if self.turned else result

    def working(self, i: Index, j: Index, *operands: View) -> Formula:
        return self._shown.working(i, j, *self._own(operands))

    def written(self, style: Style, *operands: Formula) -> Formula:
        return self._shown.written(style, *self._own(operands))

    @property
    def reverses(self) -> bool:  # type: ignore[override]
        return self.of.reverses

    def turn(self) -> Self:
        return replace(self, turned=not self.turned)

    @property
    def _shown(self) -> Op:
        return self.of.turn() if self.turned else self.of

    def _rows(self, operands: Sequence[T]) -> Sequence[T]:
        return operands[::-1] if self.turned and self.reverses else operands

    def _own(self, operands: Sequence[T]) -> Sequence[T]:
        """The operands of the operation that this stands for."""
        count = self._count
        return operands[-count:] if count and self.turned and self.reverses else operands[:count]

    @property
    def _count(self) -> int | None:
        """How many of the operands are the operation's own; None for all, where it takes as many as there are."""
        return self.of.arity if self.of.arity >= 0 else None


@dataclass(frozen=True)
class EntryByEntry(Hadamard):
    """A ⊙ B of equal shapes: someone who takes it for the matrix product does not stretch anything."""

    def shape(self, *shapes: Shape) -> Shape:
        if shapes[0] != shapes[1]:
            raise ShapeError("an entry-by-entry product needs equal shapes;")
        return shapes[0]


Kind = type[SomeOp] | tuple[type[SomeOp], ...]


def everywhere(
    kind: Kind[SomeOp], write: Callable[[Derivation, Step, SomeOp], Step | Op | None], *names: str
) -> Change:
    """Every step with such an operation, of these names if some are told, as it is written otherwise.

    `write` gives the step, or another operation in its place, or None where it stays as it is.
    """

    def change(d: Derivation) -> Rewritten | None:
        rewritten = {}
        for step in d:
            if isinstance(step.op, kind) and (not names or step.name in names):
                new = write(d, step, step.op)
                if new is not None:
                    rewritten[step.name] = step.with_op(new) if isinstance(new, Op) else new
        return rewritten or None

    return change


def each(
    kind: Kind[Op],
    write: Callable[[Step], Step | Op | None],
    *names: str,
    where: Callable[[Step], bool] = lambda step: True,
) -> Change:
    """The same for those `where` something holds, by what the step itself says."""
    return everywhere(kind, lambda d, step, own: write(step) if where(step) else None, *names)


def replaced(kind: Kind[SomeOp], op: Op | Callable[[SomeOp], Op | None], *names: str) -> Change:
    """The same with another operation, which may depend on the step's own."""
    return everywhere(kind, lambda d, step, own: op if isinstance(op, Op) else op(own), *names)


def done_otherwise(kind: Kind[SomeOp], does: Callable[..., Matrix], *names: str) -> Change:
    """The same with something else done in place of the operation."""
    return replaced(kind, lambda own: ReplacementOp(own, does), *names)


def copying(step: Step, source: int | str | Operand = 0) -> Step:
    """A line that copies one of its operands, or another matrix."""
    return step.with_op(COPY).with_operands(step.operands[source] if isinstance(source, int) else source)


def of_matrices(step: Step, names: Mapping[str, str]) -> Step:
    """A step with other matrices in the same places, for those that `names` has another one for."""
    return step.with_operands(*(replace(o, name=names.get(o.name, o.name)) for o in step.operands))


def done_later(
    first: tuple[Step, Op] | None,
    then: tuple[Step, Op] | None,
    does: Callable[..., Matrix] = lambda first, then, *operands: first.apply(then.apply(*operands)),
) -> Rewritten | None:
    """A line copied, and its operation done to the result of a later one: `does` gets both, and the operands."""
    if first is None or then is None:
        return None
    late = ReplacementOp(then[1], does, given=(first[1],))
    return {first[0].name: first[0].with_op(COPY), then[0].name: then[0].with_op(late)}


def square(m: Matrix, what: str) -> Matrix:
    """The matrix, which must have as many rows as columns."""
    if m.shape[0] != m.shape[1]:
        raise ShapeError(f"{what} needs as many queries as keys;")
    return m


def first_row_repeated(of: Op, m: Matrix, *others: Matrix) -> Matrix:
    """Only the first row is worked out, and stands in all rows."""
    (first,) = of.apply(m.row(0), *others).rows
    return Matrix.of(first for _ in m.rows)


def in_first_row_only(of: Op, m: Matrix, *others: Matrix) -> Matrix:
    """Only the first row is worked out; the others are copied."""
    (first,) = of.apply(m.row(0), *others).rows
    return Matrix.of((first, *m.rows[1:]))


def where(seen: Callable[[int, int], bool], m: Matrix, other: Callable[[Value], Value]) -> Matrix:
    """The entries at the places (i, j) that are `seen`, and something `other` made of the rest."""
    return Matrix.of([x if seen(i, j) else other(x) for j, x in enumerate(row)] for i, row in enumerate(m.rows))


def reshaped(entries: Iterable[Value], width: int) -> Matrix:
    """Entries row by row, in rows of another width."""
    numbers = list(entries)
    return Matrix.of(numbers[k : k + width] for k in range(0, len(numbers), width))


# ------------------------------------------------------------------------------------ counting


@dataclass(frozen=True)
class Miscount:
    """One entry of the catalogue: what is counted instead, how that shows, and one sentence to the student."""

    id: str
    name: str
    exactly: str
    tell: str
    feedback: str
    source: str = EXPERIENCE
    prior: Prior = "medium"


_ALL = (
    Miscount(
        "N1",
        "biases were forgotten, or counted where there are none",
        "4d² for 4d² + 4d, or the other way about",
        "Off by a multiple of d, with no factor n or h.",
        "Every product with a bias has one number more for each of its columns; say which ones have a bias.",
    ),
    Miscount(
        "N2",
        "every head was given the full width",
        "h·4d² for 4d²: weights d × d in every head, which are d × d/h",
        "The right number times h.",
        "The heads share the width: each has d/h columns, and all of them together have d.",
        prior="high",
    ),
    Miscount(
        "N3",
        "the output weights were left out",
        "3d² for 4d²",
        "Three quarters of the right number.",
        "The heads side by side are multiplied by the output weights, which are d × d as well.",
    ),
    Miscount(
        "N4",
        "multiply-adds and FLOPs were confused",
        "n·d² for 2n·d², or the other way about",
        "Half or twice the right number.",
        "A multiply-add is one multiplication and one addition: one operation, or two FLOPs.",
    ),
    Miscount(
        "N5",
        "the scores and the weighted values were forgotten",
        "4n·d² for 4n·d² + 2n²·d",
        "No term with n².",
        "Every query is multiplied by every key, and every weight by a value: that makes n²·d twice.",
    ),
    Miscount(
        "N6",
        "tied embeddings were counted twice",
        "2V·d for V·d",
        "Too much by V·d.",
        "A tied output layer uses the weights of the embedding: count them once as parameters, but do count its "
        "multiplications.",
        "Press and Wolf 2017",
    ),
    Miscount(
        "N7",
        "a layer norm was given d parameters, or none",
        "d for 2d",
        "Too little by d for every norm.",
        "A layer norm has γ and β, d numbers each; an RMS norm has γ alone.",
    ),
    Miscount(
        "N8",
        "shared weights counted once per token, or operations counted for one token only",
        "n·4d² for 4d², or d² for n·d²",
        "A factor n too much, or too little.",
        "All tokens are multiplied by the same weights: the number of weights does not depend on n, but the number "
        "of operations does.",
        "note 000: nine boxes of weights for three tokens",
    ),
)

COUNTING: Mapping[str, Miscount] = MappingProxyType({m.id: m for m in _ALL})
"""The catalogue by id."""
