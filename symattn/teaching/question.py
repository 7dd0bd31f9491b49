"""A question: what is printed, what is asked in it, what the answers are, and what they are worth.

Problem types make questions from their *content*: everything that was drawn, a frozen dataclass that can be written
as plain JSON, so that an exam can be frozen and made again without a random number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal

from symattn.derivation.derivation import Derivation
from symattn.errors import InputError
from symattn.exact import Matrix, Value, values_of
from symattn.foundation.languages import Message, counted, message
from symattn.foundation.typed import plain
from symattn.page.document import Block, Inlines
from symattn.teaching.problem import Problem

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
Content = Mapping[str, Json]


# ------------------------------------------------------------------------------------------------ answers


@dataclass(frozen=True, slots=True)
class StepAnswer:
    """A whole step of the question's derivation, marked with follow-through."""

    step: str


@dataclass(frozen=True, slots=True)
class EntriesAnswer:
    """Some entries (indices from 0) of a step or of a given matrix; the others are printed."""

    step: str
    cells: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class KnownError:
    """A wrong number that it is known how people come to, in row `row` (from 0) where a column is asked for.

    `misconception` is one about counting, by its id; without one, `says` is what was done.
    """

    value: Value
    misconception: str = ""
    says: str = ""
    row: int = 0


@dataclass(frozen=True, slots=True)
class MatrixAnswer:
    """A matrix or a number that is no step of the question's own derivation.

    Where it is a step of another one, `derivation` is that and `value` its result, laid out as it is asked for: it can
    then be marked with follow-through.  The answer is the same answer either way.  `sums` are the rows of a column that
    are made of others, with how many times each of these is counted: {3: {0: 1, 2: 4}}; none: the last of all others.
    """

    value: Matrix
    derivation: Derivation | None = field(default=None, compare=False, repr=False)
    step: str = field(default="", compare=False, repr=False)
    sums: Mapping[int, Mapping[int, int]] = field(default_factory=dict, compare=False, repr=False)
    errors: tuple[KnownError, ...] = field(default=(), compare=False, repr=False)

    @classmethod
    def of(cls, derivation: Derivation, step: str) -> MatrixAnswer:
        """The result of a step."""
        return cls(matrix_of(derivation, step), derivation, step)


@dataclass(frozen=True, slots=True)
class FormulaAnswer:
    """A number, or an expression in letters (`4*d^2`), as `symattn.exact.reading` reads it."""

    value: Value
    errors: tuple[KnownError, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ShapeAnswer:
    """A shape; none for "not defined"."""

    shape: tuple[int | str, int | str] | None


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a multiple choice; `diagnosis` is the id of the misconception that leads to a wrong one, `why` what
    is said against it, to students too: it names no right one.
    """

    text: Inlines
    right: bool = False
    diagnosis: str = ""
    why: Inlines = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ChoiceAnswer:
    """One option, or exactly the right ones of `several`."""

    options: tuple[Option, ...]
    several: bool = False

    @property
    def right(self) -> frozenset[int]:
        return frozenset(i for i, option in enumerate(self.options) if option.right)


@dataclass(frozen=True, slots=True)
class CellsAnswer:
    """The cells (from 0) of a grid that are to be shaded."""

    shape: tuple[int, int]
    cells: frozenset[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class OrderAnswer:
    """Things in their order, by label; labels in one group may stand in any order ((a,), (b, c))."""

    groups: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class PropertyAnswer:
    """Matrices of the student's own choice, marked by a property that they must have and never by a model answer.

    `rule` names a check of `symattn.teaching.problems.properties`; `parameters` is what it is given besides the
    student's matrices; `model` is one answer that has the property, for the key.
    """

    rule: str
    parameters: Content
    model: Mapping[str, Matrix]


@dataclass(frozen=True, slots=True)
class RubricAnswer:
    """Something explained or proved in words: the points that a marker looks for, one mark each."""

    points: tuple[Inlines, ...]


@dataclass(frozen=True, slots=True)
class WordAnswer:
    """A name in letters, such as a step or an id; `accepted` are other ways of writing it."""

    word: str
    accepted: tuple[str, ...] = ()


Answer = (
    StepAnswer
    | EntriesAnswer
    | MatrixAnswer
    | FormulaAnswer
    | ShapeAnswer
    | ChoiceAnswer
    | CellsAnswer
    | OrderAnswer
    | PropertyAnswer
    | RubricAnswer
    | WordAnswer
)


# ------------------------------------------------------------------------------------------------ marks


@dataclass(frozen=True, slots=True)
class OneLess:
    """All the marks, less one for every wrong entry, or for every `each` of them."""

    each: int = 1


@dataclass(frozen=True, slots=True)
class Lesser:
    """All the marks if every entry is right, and half of them from this share of right entries on."""

    share: Fraction


Rule = OneLess | Lesser | Literal["rows", "one swap", "shapes", "reason", "hidden"]
"""How marks are earned: see `OneLess` and `Lesser`; by whole rows; half of them for an order with one exchange of
neighbours; for the shape alone; for a reason, which only a person can judge; for weights of 0 where the key has 0."""

FollowThrough = Literal["sum", "quotient", "shading"]
"""What may follow from the student's own numbers in an answer that stands alone: the last entry of a column as their
sum (or entries as the answer says), or in the proportion of the key; marks on a mask as it was shaded."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Marks of one kind: M method, A accuracy, B independent; `what` says for what ("one for each row").

    `rule` is how they are earned, if not in proportion to right entries; `follows` is what they may be given for
    besides what is right.
    """

    code: Literal["M", "A", "B"]
    number: int
    what: str = ""
    rule: Rule | None = None
    follows: FollowThrough | None = None

    def __str__(self) -> str:
        return f"{self.code}{self.number}"


Marks = tuple[Mark, ...]


def total(marks: Marks) -> int:
    return sum(mark.number for mark in marks)


def marks_text(marks: Marks) -> str:
    """M1 A2."""
    return " ".join(map(str, marks))


def marks_in_words(number: int) -> Message:
    return counted("{n} mark", "{n} marks", n=number)


def marks_in_brackets(marks: Marks) -> str:
    """[3], as it stands beside a heading; nothing where there are none."""
    return f"[{total(marks)}]" if marks else ""


# ------------------------------------------------------------------------------------------------ questions


@dataclass(frozen=True, slots=True)
class Part:
    """One thing asked for.

    `name` is its letter or the step's name; `ask` is what the student reads and writes into, `key` the answer worked
    out, for anybody who wants to learn from it, and `marking` what only a marker needs besides.  `key` begins where
    `ask` would: neither repeats the heading, which is `title`.
    """

    name: str
    title: Inlines
    ask: tuple[Block, ...]
    key: tuple[Block, ...]
    answer: Answer
    marks: Marks = ()
    marking: tuple[Block, ...] = ()

    @property
    def shape_counts(self) -> bool:
        """Whether there is a mark for the shape of its matrix."""
        return any(mark.rule == "shapes" for mark in self.marks)


@dataclass(frozen=True)
class Question:
    """A problem drawn and worked out, ready to be set.

    `introduction` says on paper what is to be done; `given` is printed above the parts on paper and key alike;
    `checks` makes what stands below them in the key, `after`, and `diagnoses` makes `diagnosis`: common wrong answers,
    and mistakes that cannot be told apart; nobody who only marks waits for either.  `conventions` go into the paper's
    conventions box, each said once.  `content` is what it was made from, of the kind that its problem type has;
    `features` say how hard it is, with `load` among them (rules.md 4.6) where numbers are to be worked out;
    `positions` name what must be balanced over a pool (where the key stands, where the largest weights).
    """

    type: str
    title: str
    given: tuple[Block, ...]
    parts: tuple[Part, ...]
    content: Any
    problem: Problem | None = None
    introduction: tuple[Block, ...] = ()
    conventions: tuple[Inlines, ...] = ()
    checks: Callable[[], tuple[Block, ...]] = field(default=tuple, compare=False)
    diagnoses: Callable[[], tuple[Block, ...]] = field(default=tuple, compare=False)
    features: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    positions: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @cached_property
    def after(self) -> tuple[Block, ...]:
        return self.checks()

    @cached_property
    def diagnosis(self) -> tuple[Block, ...]:
        return self.diagnoses()

    @cached_property
    def frozen(self) -> Content:
        """What it was made from, as JSON."""
        frozen: Content = plain(self.content)
        return frozen

    @property
    def marks(self) -> int:
        return sum(total(part.marks) for part in self.parts)

    def entries(self) -> Iterator[str]:
        """Every answer, entry by entry, as text: what two keys are compared by."""
        for part in self.parts:
            yield from (f"{part.name}{where}={text}" for where, text in answer_entries(part.answer, self.problem))

    def worth(self, points: int) -> Question:
        """The same question for so many marks, shared out as its own marks are, at least one for every part with any.

        `InputError` if there are fewer points than such parts.
        """
        own = [total(part.marks) for part in self.parts if part.marks]
        if points < len(own):
            raise InputError(
                f"points is {points}; {self.type} has {len(own)} parts, so {len(own)} or more were expected."
            )
        shares = share(points, own)
        while 0 in shares:
            shares[shares.index(max(shares))] -= 1
            shares[shares.index(0)] += 1
        left = iter(shares)
        parts = []
        for part in self.parts:
            numbers = share(next(left), [mark.number for mark in part.marks]) if part.marks else []
            marks = (replace(mark, number=n) for mark, n in zip(part.marks, numbers, strict=True) if n)
            parts.append(replace(part, marks=tuple(marks)))
        return replace(self, parts=tuple(parts))


def share(total: int, weights: list[int]) -> list[int]:
    """`total` in whole numbers, in proportion to the weights (largest remainders, ties to the first)."""
    whole = sum(weights)
    exact = [Fraction(total * weight, whole) for weight in weights]
    floors = [int(x) for x in exact]
    by_rest = sorted(range(len(exact)), key=lambda i: (floors[i] - exact[i], i))
    for i in by_rest[: total - sum(floors)]:
        floors[i] += 1
    return floors


def answer_entries(answer: Answer, problem: Problem | None) -> Iterator[tuple[str, str]]:
    """An answer as (place, text) pairs."""
    match answer:
        case StepAnswer(step):
            assert problem is not None
            yield from _matrix_entries(matrix_of(problem.derivation, step))
        case EntriesAnswer(step, cells):
            assert problem is not None
            matrix = matrix_of(problem.derivation, step)
            yield from ((f"[{i + 1},{j + 1}]", str(matrix[i, j])) for i, j in cells)
        case MatrixAnswer(value):
            yield from _matrix_entries(value)
        case FormulaAnswer(value):
            yield "", str(value)
        case ShapeAnswer(shape):
            yield "", f"{shape[0]}×{shape[1]}" if shape else message("not defined")
        case ChoiceAnswer():
            yield "", " ".join(LETTERS[i] for i in sorted(answer.right))
        case CellsAnswer(_, cells):
            yield "", " ".join(f"({i + 1},{j + 1})" for i, j in sorted(cells))
        case OrderAnswer(groups):
            yield "", " < ".join(" = ".join(group) for group in groups)
        case PropertyAnswer(rule, parameters):
            yield "", f"{rule} {dict(parameters)}"
        case RubricAnswer(points):
            yield "", message("{count} points", count=len(points))
        case WordAnswer(word):
            yield "", word


def answer_in_short(answer: Answer, problem: Problem | None) -> str:
    """An answer as one text; a message where it is one."""
    one, *others = [text for _, text in answer_entries(answer, problem)] or [""]
    return "; ".join((one, *others)) if others else one


LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""What options are called."""


def option_letter(k: int) -> str:
    """The letter of an option, from 0; its number from 1 where the letters are used up."""
    return LETTERS[k] if 0 <= k < len(LETTERS) else str(k + 1)


def asked_step(question: Question, part: Part) -> tuple[Derivation, str] | None:
    """The derivation and the step, or the given, that a part asks for; None if it asks for something else."""
    match part.answer:
        case StepAnswer(step) | EntriesAnswer(step) if question.problem is not None:
            return question.problem.derivation, step
        case MatrixAnswer(derivation=Derivation() as derivation, step=step):
            return derivation, step
        case _:
            return None


def matrix_of(derivation: Derivation, name: str) -> Matrix:
    """A step's result or a given matrix whose entries are known, as those of everything that is asked are."""
    return values_of(derivation.value(name))


def _matrix_entries(matrix: Matrix) -> Iterator[tuple[str, str]]:
    for i, row in enumerate(matrix.rows, 1):
        for j, x in enumerate(row, 1):
            yield f"[{i},{j}]", str(x)
