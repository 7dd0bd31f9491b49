"""A question: what is printed, what is asked in it, what the answers are, and what they are worth.

Problem types make questions from their *content*: everything that was drawn, as plain JSON or as a frozen dataclass
that can be written as such, so that an exam can be frozen and made again without a random number.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Literal

from symattn.derivation.derivation import Derivation, Orientation, StepName
from symattn.errors import InputError, offered
from symattn.exact import Matrix, Value, values_of
from symattn.foundation.languages import Message, counted, message
from symattn.foundation.typed import plain
from symattn.page.document import Block, Inlines
from symattn.page.notation import Notation, load_notation
from symattn.teaching.problem import Problem

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
Content = Mapping[str, Json]

FROZEN = "exam.json"
"""The file that a frozen exam is."""


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
    """The cells (from 0) of a grid that are to be shaded; with `turned` a column of it is a query, else a row."""

    shape: tuple[int, int]
    cells: frozenset[tuple[int, int]]
    turned: bool = False


@dataclass(frozen=True, slots=True)
class OrderAnswer:
    """Things in their order, by label; labels in one group may stand in any order ((a,), (b, c))."""

    groups: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class PropertyAnswer:
    """Matrices of the student's own choice, marked by a property that they must have and never by a model answer.

    `rule` names a check of `symattn.teaching.problems.systems`; `parameters` is what it is given besides the
    student's matrices; `model` is one answer that has the property, for the key.
    """

    rule: str
    parameters: Content
    model: Mapping[str, Matrix]


@dataclass(frozen=True, slots=True)
class RubricAnswer:
    """Something explained or proved in words: the points that a marker looks for, among which its marks are shared."""

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


Rule = OneLess | Lesser | Literal["all", "rows", "one swap", "shapes", "reason", "hidden"]
"""How marks are earned: see `OneLess` and `Lesser`; for everything or not at all; by whole rows (columns, where tokens
are columns); half of them for an order with one exchange of neighbours; for the shape alone; for a reason, which only a
person can judge; for weights of 0 where the key has 0."""

FollowThrough = Literal["sum", "quotient", "shading"]
"""What may follow from the student's own numbers in an answer that stands alone: the last entry of a column as their
sum (or entries as the answer says), or in the proportion of the key; marks on a mask as it was shaded."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Marks of one kind: M method, A accuracy, B independent; `what` says for what ("one for each row").

    `rule` is how they are earned, if not in proportion to right entries; `follows` is what they may be given for
    besides what is right.  `joined` are the parts that are one line under this mark, which needs all of them; without
    any, its line is that of `marked_together`.
    """

    code: Literal["M", "A", "B"]
    number: int
    what: str = ""
    rule: Rule | None = None
    follows: FollowThrough | None = None
    joined: tuple[str, ...] = ()

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
    out, for a reader who learns from it, and `marking` what only a marker needs besides.  `key` begins where
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
    def points(self) -> int:
        """Of an answer in words, how many marks a person may give; if it shares a mark with others, its own points."""
        if not isinstance(self.answer, RubricAnswer):
            return 0
        return total(tuple(mark for mark in self.marks if not mark.joined)) or len(self.answer.points) or 1

    @property
    def shape_counts(self) -> bool:
        """Whether there is a mark for the shape of its matrix."""
        return any(mark.rule == "shapes" for mark in self.marks)


@dataclass(frozen=True)
class Question:
    """A problem drawn and worked out, ready to be set.

    `introduction` says on paper what is to be done; `given` is printed above the parts on paper and key alike;
    `checks` makes what stands below them in the key, `after`, and `diagnoses` makes `diagnosis`: common wrong answers,
    and mistakes that cannot be told apart; marking does not wait for either.  `conventions` go into the paper's
    conventions box, each said once, and behind them `spelling`: how answers are written, where no box of a question
    bank says it.  `content` is what it was made from, of the kind that its problem type has;
    `features` say how hard it is, with `load` among them (rules.md 4.6) where numbers are to be worked out;
    `positions` name what must be balanced over a pool (where the key stands, where the largest weights).  `intended`:
    its numbers were chosen to be as hard as they are; in one's own problem they are what they are.  `heading` is
    the title where there are formulas in it.  `of_steps` makes the question that asks for some of its steps alone: it
    says how the others are worked out where they are used.
    """

    type: str
    title: str
    given: tuple[Block, ...]
    parts: tuple[Part, ...]
    content: Any
    problem: Problem | None = None
    introduction: tuple[Block, ...] = ()
    conventions: tuple[Inlines, ...] = ()
    spelling: tuple[Inlines, ...] = ()
    checks: Callable[[], tuple[Block, ...]] = field(default=tuple, compare=False)
    diagnoses: Callable[[], tuple[Block, ...]] = field(default=tuple, compare=False)
    features: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    positions: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    intended: bool = True
    heading: Inlines = ()
    of_steps: Callable[[tuple[str, ...]], Question] | None = field(default=None, compare=False)

    @cached_property
    def after(self) -> tuple[Block, ...]:
        return self.checks()

    @cached_property
    def diagnosis(self) -> tuple[Block, ...]:
        return self.diagnoses()

    @cached_property
    def parts_in_words(self) -> frozenset[str]:
        """The names of the parts whose answer is a text that a person reads."""
        return frozenset(part.name for part in self.parts if isinstance(part.answer, RubricAnswer))

    @cached_property
    def frozen(self) -> Content:
        """What it was made from, as JSON."""
        frozen: Content = plain(self.content)
        return frozen

    @property
    def notation(self) -> Notation:
        """Its signs: those of its derivation, or what its content was made with."""
        return self.problem.notation if self.problem else load_notation(str(self.frozen.get("notation", "standard")))

    @property
    def exact(self) -> bool:
        """Whether its answers are exact values."""
        return self.problem.exact if self.problem else bool(self.frozen.get("exact", True))

    @property
    def places(self) -> int:
        """Of its answers in decimals."""
        return self.problem.places if self.problem else int(str(self.frozen.get("places", 4)))

    @property
    def orientation(self) -> Orientation:
        """Whether tokens are rows or columns: as in its derivations; in its notation, where it has none."""
        answers = (part.answer for part in self.parts)
        of_parts = (a.derivation for a in answers if isinstance(a, MatrixAnswer) and a.derivation is not None)
        if (d := self.problem.derivation if self.problem else next(of_parts, None)) is not None:
            return d.orientation
        return "columns" if self.notation.settings.get("orientation") == "columns" else "rows"

    @property
    def has_one_part(self) -> bool:
        """Whether its only part is all of it, and has no heading of its own."""
        return len(self.parts) == 1 and not self.parts[0].title

    @property
    def marks(self) -> int:
        return sum(total(part.marks) for part in self.parts)

    def entries(self) -> Iterator[str]:
        """Every answer, entry by entry, as text: what two keys are compared by."""
        for part in self.parts:
            yield from (f"{part.name}{where}={text}" for where, text in answer_entries(part.answer, self.problem))

    def asking(self, names: Sequence[str]) -> Question:
        """The same question with those of its parts alone that are named, in its own order; by default all.

        A part is named as it is called here (S, A, b), and all parts of a step in heads or tokens by the step.  Parts
        that are called by letters are lettered anew.  `InputError` names the parts that there are.
        """
        if not names:
            return self
        parts = self.named(names)
        lettered = [part for part in self.parts if len(part.name) == 1 and part.name in LETTERS.lower()]
        if len(lettered) == len(self.parts):
            parts = [replace(part, name=letter) for part, letter in zip(parts, LETTERS.lower(), strict=False)]
        steps = tuple(part.answer.step for part in parts if isinstance(part.answer, StepAnswer | EntriesAnswer))
        if self.of_steps is not None and len(steps) == len(parts):
            alone = self.of_steps(steps)
            return replace(self, parts=alone.parts, problem=alone.problem)
        return replace(self, parts=tuple(parts))

    def named(self, names: Sequence[str]) -> list[Part]:
        """The parts that are named, in its own order; all, where none is named."""
        kept = {part.name for name in names for part in self._called(name, "ask")}
        return [part for part in self.parts if part.name in kept or not names]

    def _called(self, name: str, key: str) -> list[Part]:
        """The parts that are called so, or are of the step that is."""
        parts = [part for part in self.parts if part.name == name]
        parts = parts or [part for part in self.parts if name in (_role(part), StepName.of(part.name).stem)]
        if not parts:
            known = [part.name for part in self.parts]
            raise InputError(f"{key} names {name!r}; {offered(name, known, 'the parts of this question are {}')}")
        return parts

    def worth(self, points: int | None, stated: Mapping[str, int] = MappingProxyType({})) -> Question:
        """The same question for `points` marks, shared out as its own marks are; every line keeps one for accuracy.

        Parts for which marks are `stated` have these, and the others share the rest of the points; without points they
        keep their own marks.  With fewer points than lines, neighbouring parts are joined under one mark that needs all
        of them.  `InputError` if there are no points, or too few.
        """
        lines = [line for line in marked_together(self.parts) if any(part.marks for part in line)]
        fixed = {part.name: number for name, number in stated.items() for part in self._called(name, "marks")}
        own = {line[0].name: number for line in lines for part in line if (number := fixed.get(part.name))}
        others = [line for line in lines if line[0].name not in own]
        marks_of: dict[str, Marks] = {}
        for line in lines:
            if line[0].name in own:
                marks_of |= _scaled(line, own[line[0].name])
        if points is None:
            marks_of |= {part.name: part.marks for line in others for part in line}
        else:
            left = points - sum(own.values())
            if left < (LEAST_POINTS if others else 0) or (left and not others):
                raise InputError(_points_do_not_fit(points, sum(own.values())))
            marks_of |= _shared_out(others, left)
        return replace(self, parts=tuple(replace(part, marks=marks_of.get(part.name, ())) for part in self.parts))


LEAST_POINTS = 1
"""The fewest points of a question: one mark, which needs all of its parts."""


def marked_together(parts: Iterable[Part]) -> list[list[Part]]:
    """The parts line by line: those that a mark joins, or all tokens' where a step is asked token by token."""
    parts = list(parts)
    heads = {name: part.name for part in parts for mark in part.marks for name in mark.joined}
    lines: dict[tuple[str, str], list[Part]] = {}
    for part in parts:
        role, _, token = part.name.partition(".")
        by_token = token.isdigit() and not isinstance(part.answer, ShapeAnswer)  # a shape stands alone
        line = ("joined", heads[part.name]) if part.name in heads else ("", role if by_token else part.name)
        lines.setdefault(line, []).append(part)
    return list(lines.values())


# ------------------------------------------------------------------------------------------------ other points


def _role(part: Part) -> str:
    """What a part is called besides the token that it is of."""
    return part.name.partition(".")[0]


def _points_do_not_fit(points: int, stated: int) -> str:
    if not stated:
        return f"points is {points}; {LEAST_POINTS} or more were expected."
    return f"points is {points}, and the marks that are stated come to {stated}; leave out points, or change them."


def _shared_out(lines: Sequence[Sequence[Part]], points: int) -> dict[str, Marks]:
    """Points shared among some lines, in proportion to their own marks."""
    if not lines:
        return {}
    if points < len(lines):
        return _joined([part for line in lines for part in line], points)
    shares = at_least_one(points, [sum(total(part.marks) for part in line) for line in lines])
    marks_of: dict[str, Marks] = {}
    for line, number in zip(lines, shares, strict=True):
        marks_of |= _scaled(line, number)
    return marks_of


def _joined(parts: Sequence[Part], points: int) -> dict[str, Marks]:
    """Marks of one each, for runs of parts that are worth about as much."""
    weights = [total(part.marks) for part in parts]
    marked = [k for k, weight in enumerate(weights) if weight]
    starts = [0]
    for number in range(1, points):
        later = marked[bisect_right(marked, starts[-1]) : len(marked) - (points - number) + 1]
        aim = Fraction(number * sum(weights), points)
        starts.append(min(later, key=lambda k: abs(sum(weights[:k]) - aim)))
    marks_of: dict[str, Marks] = {}
    for start, end in pairwise([*starts, len(parts)]):
        run = parts[start:end]
        code: Literal["A", "B"] = "B" if all(mark.code == "B" for part in run for mark in part.marks) else "A"
        joined = Mark(code, 1, ALL_OF_IT, "all", joined=tuple(part.name for part in run))
        marks_of[run[0].name] = (replace(joined, what=_note(joined)),)
    return marks_of


def _scaled(line: Sequence[Part], points: int) -> dict[str, Marks]:
    """The marks of a line for its points: as they are shared out, but never without one for accuracy."""
    if points == sum(total(part.marks) for part in line):
        return {part.name: part.marks for part in line}
    places = [(part.name, mark) for part in line for mark in part.marks]
    numbers = share(points, [mark.number for _, mark in places])
    if accurate := [k for k, (_, mark) in enumerate(places) if _is_for_accuracy(mark)]:
        first = accurate[0]
        if not any(numbers[k] for k in accurate):
            numbers[numbers.index(max(numbers))] -= 1
            numbers[first] += 1
        several = len(line) > 1 and len(accurate) > 1
        if several or not all(numbers[k] for k in accurate):  # one mark for all of them
            whole = sum(numbers[k] for k in accurate)
            numbers = [number if k not in accurate else whole if k == first else 0 for k, number in enumerate(numbers)]
            name, mark = places[first]
            places[first] = name, replace(mark, number=0, what="", rule=None)
    answers = [part.answer for part in line]
    marks_of: dict[str, Marks] = {}
    for (name, mark), number in zip(places, numbers, strict=True):
        if number:
            marks_of[name] = (*marks_of.get(name, ()), _worth(mark, number, answers))
    return marks_of


def _is_for_accuracy(mark: Mark) -> bool:
    return mark.code != "M" and mark.rule not in ("shapes", "reason")


def _worth(mark: Mark, number: int, answers: Sequence[Answer]) -> Mark:
    """A mark of another number, with the note that says what is done then."""
    if number == mark.number or mark.code == "M" or isinstance(mark.rule, OneLess):
        return replace(mark, number=number)
    match mark.rule:
        case "all" | "shapes" | "reason" | "hidden":
            return replace(mark, number=number)
        case "one swap" | Lesser() if number > 1:
            mark = replace(mark, number=number)
            return replace(mark, what=_note(mark))
        case "rows" if number > 1:
            return replace(mark, number=number, what=_WHOLE.get(mark.what, _WHOLE_ROWS))
    if mark.number == 1 and mark.what:  # what it says is all or nothing
        return replace(mark, number=number, rule="all")
    if len(answers) == 1 and not isinstance(answers[0], _OF_SEVERAL_THINGS):
        return replace(mark, number=number, rule=None)
    return replace(mark, number=number, rule=None, what=in_proportion(number, len(answers) > 1))


def _note(mark: Mark) -> str:
    """The note of a mark: where there is a number in it, it follows from the mark."""
    half = f"{mark.code}{mark.number // 2}"
    match mark.rule:
        case "all" if mark.joined[1:]:
            return counted("this answer and the next, all of it right", "this answer and the next {n}, all of it right",
                           n=len(mark.joined) - 1)  # fmt: skip
        case "one swap":
            return message("{mark} if two neighbours are swapped", mark=half)
        case Lesser(part) if part in _LESSER:
            return message(_LESSER[part], mark=half)
    return mark.what


def with_notes(marks: Marks) -> Marks:
    """Marks that were read from a file: their notes are English text there, and messages here, for every language."""
    notes = zip(marks, map(_note, marks), strict=True)
    return tuple(replace(mark, what=note) if note == mark.what else mark for mark, note in notes)


def in_proportion(number: int, together: bool = False) -> Message:
    """The note of marks that are given in proportion; `together`: for the lines of all tokens."""
    if together:
        return (
            message("for all tokens together, in proportion to the right entries, rounded down")
            if number > 1
            else message("for all tokens together, all of it right")
        )
    return message("in proportion to what is right, rounded down") if number > 1 else ALL_OF_IT


ALL_OF_IT = message("all of it right")
_WHOLE_ROWS = message("in proportion to the rows that are right, rounded down")
_WHOLE_COLUMNS = message("in proportion to the columns that are right, rounded down")
_WHOLE = {
    "one for each column": _WHOLE_COLUMNS,
    "two for every column": _WHOLE_COLUMNS,
    "one for every token": message("in proportion to the tokens that are right, rounded down"),
}
"""The note of marks for whole rows, by what it was before, where it is not about rows."""
_LESSER = {
    Fraction(2, 3): message("all entries; {mark} for two thirds of them"),
    Fraction(3, 4): message("all entries; {mark} for three quarters of them"),
}
_OF_SEVERAL_THINGS = (
    StepAnswer | EntriesAnswer | MatrixAnswer | ChoiceAnswer | CellsAnswer | OrderAnswer | PropertyAnswer | RubricAnswer
)


def at_least_one(points: int, weights: list[int]) -> list[int]:
    """Shares of points in proportion to weights, none of them 0; there must be points for that."""
    shares = share(points, weights)
    while 0 in shares:
        shares[shares.index(max(shares))] -= 1
        shares[shares.index(0)] += 1
    return shares


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
