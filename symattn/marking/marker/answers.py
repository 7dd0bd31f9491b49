"""Marking answers that stand alone: each is judged by itself, for none is a step of a derivation (rules.md 3)."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import combinations, pairwise
from math import ceil
from typing import Any, Literal, cast

from symattn.derivation.derivation import Derivation
from symattn.derivation.misconceptions import misconceptions
from symattn.derivation.misconceptions.base import COUNTING
from symattn.derivation.ops.attention import Keep
from symattn.errors import InputError, ReadError, SymattnError, UndecidedError
from symattn.exact import NEGATIVE_INFINITY, Matrix, Value, decide, divide, from_sympy, has_symbols, indices, to_sympy
from symattn.exact.reading import decide_reading
from symattn.exact.values import RATIONAL
from symattn.foundation.languages import Message, counted, listed, message
from symattn.foundation.languages.words import any_of, words_for
from symattn.marking.attempt import (
    BLANK,
    Attempt,
    Entry,
    Grid,
    Grids,
    Ordered,
    Said,
    Shaded,
    Shaped,
    Text,
    Ticked,
    Unreadable,
)
from symattn.marking.marker.diagnosis import LAST_RESORT
from symattn.marking.marker.policy import Policy
from symattn.marking.marker.report import Candidate, Cell, Event, Flag, Given, Kind, Notice, Report, State, Verdict, Why
from symattn.marking.marker.trace import Accepts
from symattn.teaching.question import (
    Answer,
    CellsAnswer,
    ChoiceAnswer,
    FormulaAnswer,
    Lesser,
    Mark,
    MatrixAnswer,
    OneLess,
    OrderAnswer,
    Part,
    PropertyAnswer,
    Question,
    RubricAnswer,
    ShapeAnswer,
    WordAnswer,
    option_letter,
)

Shape = tuple[int | str, int | str]
Groups = tuple[tuple[str, ...], ...]
NoticeKind = Literal["human", "layout", "blank", "method", "reading"]

ORIGIN: Cell = (0, 0)
"""The place of an answer that is one thing."""

PROVED = ("exact", "interval", "modular", "formal", "to 200 digits", "rounding")
"""How it can be proved that an entry may or may not stand for a value; anything else is for a person to look at."""

LONGEST_NAME = 3
"""Words of a name; more of them are a sentence."""

LARGEST_POWER = 10_000
"""The largest number that a student's own exponents may be where powers are multiplied out."""


def mark_answer(
    part: Part,
    said: Said | None,
    question: Question,
    policy: Policy,
    first_event: int = 0,
    attempt: Attempt | None = None,
) -> Report:
    """Mark a part whose answer is no step of a derivation.

    Events are numbered from `first_event`.  `attempt` is the whole attempt at the question: for answers that may follow
    from what was answered in another part, and for the parts whose method a person has ticked.
    """
    attempt = attempt or Attempt({})
    judge = _Judge(part, question, policy, first_event, attempt)
    outcome = judge.judge(said)
    marks = tuple(_marks(part, outcome, policy, judge.ticked)) if policy.marks else ()
    found = tuple(judge.verdicts), tuple(judge.events), marks, tuple(judge.notices)
    return Report(question, attempt, policy, *found)


# ------------------------------------------------------------------------------------------------ marks


def accuracy(mark: Mark, accepted: Sequence[Sequence[bool]], turned: bool = False) -> tuple[int, Why]:
    """How many of the marks a matrix earns, given which of its entries are accepted row by row, and why.

    `turned`: what is a row here is a column on the page.
    `mark.rule` says how they are shared; without one, as many marks as rows are one for each row if nothing else is
    said of them, and others are in proportion, rounded down.  Nothing right earns nothing in any case.  Cells that were
    not asked for are left out.
    """
    rows = [row for row in accepted if row]
    right, of = sum(map(sum, rows)), sum(map(len, rows))
    wrong, why = of - right, Why("right", right, of)
    if not right:
        return 0, why
    if not wrong:
        return mark.number, why
    match mark.rule:
        case "all":
            return 0, why
        case OneLess(each):
            return max(0, mark.number - ceil(Fraction(wrong, each))), why
        case Lesser(share):
            return mark.number // 2 if right >= share * of else 0, why
    if mark.rule == "rows" or (mark.rule is None and not mark.what and 1 < mark.number == len(rows)):
        whole = sum(map(all, rows))
        return mark.number * whole // len(rows), Why("columns" if turned else "rows", whole, len(rows))
    return mark.number * right // of, why


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What marks depend on: what is accepted, row by row, and whether that shows the method.

    `earned` stands in for `accuracy` where marks are counted otherwise.  `pending`: a person has to decide; `worked`:
    on the method only, since there is working.
    """

    rows: Sequence[Sequence[bool]]
    method: bool = False
    pending: bool = False
    earned: Callable[[Mark], tuple[int, Why]] | None = None
    said: bool = True
    worked: bool = False


def _marks(part: Part, outcome: _Outcome, policy: Policy, ticked: bool) -> Iterator[Given]:
    shown = outcome.method or ticked
    needs_method = any(mark.code == "M" for mark in part.marks) and not policy.independent_accuracy
    for k, mark in enumerate(part.marks):
        pending, number, why = outcome.pending, 0, cast(Why | None, None)
        if mark.rule == "reason" or (mark.code == "M" and outcome.worked and not shown):
            pending = outcome.said and not ticked
            number, why = (mark.number, Why("reason seen")) if ticked else (0, Why("to be read") if pending else None)
        elif mark.code == "M":
            number, why = (mark.number, Why("method seen")) if shown else (0, Why("method not seen"))
        elif mark.code == "A" and needs_method and not shown:
            why = Why("no method")
        elif outcome.earned is not None:
            number, why = outcome.earned(mark)
        else:
            number, why = accuracy(mark, _share_of_rows(part, k, outcome.rows), _is_turned(part.answer))
        yield Given((part.name,), mark.code, number, mark.number, why, pending and number < mark.number)


def _is_turned(answer: Answer) -> bool:
    """Whether what is marked row by row are columns on the sheet."""
    match answer:
        case CellsAnswer(turned=turned):
            return turned
        case PropertyAnswer(parameters=parameters):
            return parameters.get("tokens") == "columns"
    return False


def _share_of_rows(part: Part, k: int, rows: Sequence[Sequence[bool]]) -> Sequence[Sequence[bool]]:
    """The rows that the mark is for, where several marks of a kind share them in order."""
    alike = [i for i, mark in enumerate(part.marks) if mark.code == part.marks[k].code and mark.rule != "reason"]
    if len(rows) < len(alike):
        return rows
    position, count = alike.index(k), len(alike)
    return rows[len(rows) * position // count : len(rows) * (position + 1) // count]


# ------------------------------------------------------------------------------------------------ judging


class _Judge:
    """One part being judged; verdicts, events and notices are written down as they are found."""

    def __init__(self, part: Part, question: Question, policy: Policy, first: int, attempt: Attempt) -> None:
        self.part, self.question, self.policy, self.attempt = part, question, policy, attempt
        self.first, self.ticked, self.shows_method = first, part.name in attempt.methods, policy.shows_method
        self.verdicts: list[Verdict] = []
        self.events: list[Event] = []
        self.notices: list[Notice] = []
        problem = question.problem
        self.accepts = Accepts(policy, problem is None or problem.exact, problem.places if problem else 0)

    def judge(self, said: Said | None) -> _Outcome:
        match self.part.answer, said:
            case _, None:
                return self._nothing()
            case _, Unreadable(text, complaint):
                self._note("reading", complaint)
                return self._nothing(Entry(text, complaint=complaint))
            case MatrixAnswer(value), Grid() as grid:
                return self._matrix(value, grid)
            case MatrixAnswer(value), Entry() as entry:
                return self._matrix(value, Grid(((entry,),)))
            case FormulaAnswer(value), (Entry() as entry) | Grid(((Entry() as entry,),)):
                return self._formula(value, entry)
            case ShapeAnswer(shape), Shaped(own):
                return self._shape(shape, own)
            case ChoiceAnswer(several=several) as answer, Ticked(ticks):
                if answer.right and not ticks:
                    return self._nothing()
                return self._options(answer, ticks) if several else self._one_option(answer, sorted(ticks))
            case CellsAnswer() as answer, Shaded(cells):
                return self._cells(answer, cells)
            case OrderAnswer(groups), Ordered(own):
                return self._order(groups, own)
            case PropertyAnswer() as answer, Grids(grids):
                return self._property(answer, grids)
            case PropertyAnswer(model=model) as answer, Grid() as grid if len(model) == 1:
                return self._property(answer, dict.fromkeys(model, grid))
            case WordAnswer(word, accepted), (Text(text) | Entry(text)):
                return self._word((word, *accepted), text)
            case RubricAnswer(), Text() as text:
                return self._rubric(self.part.points, text)
            case answer, _:
                says = message(
                    "Here {asked} was asked for, and {given} was given.",
                    asked=_ASKED[type(answer)], given=_CAME[type(said)],
                )  # fmt: skip
                self._note("reading", says)
                return self._nothing(Entry(complaint=says))

    # -- what is written down

    def _nothing(self, written: Entry | Grid = BLANK, event: int | None = None) -> _Outcome:
        """Nothing is right: a verdict on every place, and no marks."""
        for cell, right in _places(self.part.answer):
            entry = written.get(*cell) if isinstance(written, Grid) else written
            if entry.readable:
                self._verdict("wrong", cell, written=entry, right=right, proof="shape", event=event)
            else:
                self._verdict("missing" if entry.blank else "unreadable", cell, written=entry, right=right)
        return _Outcome([[False] * len(self.verdicts)], said=written is not BLANK)

    def _verdict(self, state: State, cell: Cell = ORIGIN, **more: Any) -> None:
        self.verdicts.append(self._judged(state, cell, **more))

    def _judged(self, state: State, cell: Cell, *, right: Value | None = None, **more: Any) -> Verdict:
        """A verdict on something that was compared with the key, if with nothing else."""
        return Verdict(self.part.name, *cell, state, right=right, **{"compared": right, **more})

    def _whole(
        self, right: bool, written: Entry, candidates: Sequence[Candidate] = (), cell: Cell = ORIGIN, **more: Any
    ) -> bool:
        """The verdict on what is right or wrong as a whole and no number, with its event if it is wrong."""
        event = None if right else self._event(candidates, [cell])
        more = {"written": written, "proof": "exact", "event": event, **more}
        self._verdict("correct" if right else "wrong", cell, **more)
        return right

    def _event(
        self, candidates: Sequence[Candidate], cells: Iterable[Cell] = (ORIGIN,), kind: Kind | None = None
    ) -> int:
        """Write an event down, and give its number; its kind is that of its first explanation by default."""
        number, name = self.first + len(self.events), self.part.name
        places = tuple((name, i, j) for i, j in cells)
        kind = kind or (candidates[0].kind if candidates else "answer")
        self.events.append(Event(number, name, (name,), kind, tuple(candidates), places))
        return number

    def _note(self, kind: NoticeKind, says: str, event: int | None = None) -> None:
        self.notices.append(Notice(self.part.name, kind, says, event=event))

    def _ask_for_method(self) -> bool:
        """Somebody should look for the method where one thing was asked and is wrong; whether it may."""
        if self.ticked or not any(mark.code == "M" for mark in self.part.marks):
            return False
        self._note("method", message("The method shows only in the working; a person has to look at that."))
        return self.part.name in self.attempt.worked

    # -- matrices and numbers

    def _matrix(self, right: Matrix, grid: Grid) -> _Outcome:
        grid = _cut(grid, right.shape)
        if grid.empty:
            return self._nothing()
        if grid.shape != right.shape and grid.shape == right.shape[::-1] and self._reads_turned(right, grid):
            self._note("layout", message("The matrix was written transposed; it is marked as such."))
            grid = grid.T
        if not grid.fits_in(right.shape):
            return self._larger(right, grid)
        if grid.shape != right.shape:
            self._note("blank", short_of(grid.shape, right.shape))
            grid = grid.laid_in(right.shape, lambda entry, i, j: self._fits(entry, right[i, j]))
        self.notices += (Notice(self.part.name, "reading", says) for says in unread(grid.cells()))
        follows = self._following(right, grid)
        found = {(i, j): self._number((i, j), entry, right[i, j], follows.get((i, j))) for i, j, entry in grid.cells()}
        wrong = [cell for cell, verdict in found.items() if verdict.state == "wrong"]
        for candidates, cells in self._mistakes(right, grid, wrong, follows):
            event = self._event(candidates, cells, "slip" if candidates else "unknown")
            found |= {cell: replace(found[cell], event=event) for cell in cells}
        self.verdicts += found.values()
        rows = [[found[i, j].accepted for j in range(right.shape[1])] for i in range(right.shape[0])]
        return _Outcome(rows, self.shows_method(sum(map(sum, rows)), len(found)), any(map(_open, found.values())))

    def _reads_turned(self, right: Matrix, grid: Grid) -> bool:
        """Whether a grid of the turned shape is the matrix transposed: a row for a column, or enough of it right."""
        if 1 in right.shape:
            return True
        fitting = sum(1 for i, j, entry in grid.cells() if self._fits(entry, right[j, i]))
        return self.shows_method(fitting, right.shape[0] * right.shape[1])

    def _larger(self, right: Matrix, grid: Grid) -> _Outcome:
        """A matrix with too many rows or columns: nothing of it is right."""
        (m, n), (rows, columns) = right.shape, grid.shape
        says = message("the matrix is {shape} and must be {expected}", shape=f"{rows}×{columns}", expected=f"{m}×{n}")
        cells = [(i, j) for i, j, entry in grid.cells() if i < m and j < n and entry.readable]
        return self._nothing(grid, self._event([Candidate("shape", "", says)], cells))

    def _formula(self, right: Value, entry: Entry) -> _Outcome:
        verdict = self._number(ORIGIN, entry, right)
        if verdict.state == "wrong":
            candidates = [*self._known(entry, 0), *self._slips(entry, right)] or list(_miscounted(entry, right))
            verdict = replace(verdict, event=self._event(candidates, kind=None if candidates else "unknown"))
        self.verdicts.append(verdict)
        worked = verdict.state == "wrong" and self._ask_for_method()
        return _Outcome([[verdict.accepted]], verdict.accepted, _open(verdict), said=not entry.blank, worked=worked)

    def _number(self, cell: Cell, entry: Entry, right: Value, follows: Value | None = None) -> Verdict:
        """The verdict on one number, as yet without an event."""
        (i, j), an_entry = cell, isinstance(self.part.answer, MatrixAnswer)
        judged = partial(self._judged, cell=cell, written=entry, right=right)
        if entry.blank:
            return judged("missing")
        if an_entry and not entry.readable:  # told with the others of the matrix
            return judged("unreadable")
        try:
            if not entry.readable:
                raise ReadError(entry.complaint, entry.text, 0)
            accepted, proof, flags = self._compare(entry, right)
            if follows is not None and not accepted:
                accepted, own_proof, own_flags = self._compare(entry, follows)
                if accepted:
                    return judged("follows", compared=follows, way="written", proof=own_proof, flags=own_flags)
        except ReadError as error:
            self._note("reading", message("The answer cannot be read: {complaint}", complaint=error.said))
            return judged("unreadable")
        if proof not in PROVED:
            says = message(
                "The answer could be proved neither right nor wrong ({proof}); a person has to look at it.", proof=proof
            )
            self._note("human", undecided(i, j, proof) if an_entry else says)
        return judged("correct" if accepted else "wrong", proof=proof, flags=flags)

    def _compare(self, entry: Entry, value: Value) -> tuple[bool, str, tuple[Flag, ...]]:
        """Whether an entry may stand for a value, how that was decided, and flags; `ReadError` if it has no value."""
        if has_symbols(value) or (entry.value is not None and has_symbols(entry.value)):
            return *in_letters(entry, value), ()
        if isinstance(value, int) and entry.unit is not None and entry.unit > 1:  # what is counted is not rounded
            return entry.value == value, "exact", ()
        accepted, proof, flags = self.accepts(entry, value)
        if entry.value is None and proof not in PROVED:  # there may be letters in it, which agree with everything
            accepted = False
        return accepted, proof, flags

    def _fits(self, entry: Entry, value: Value) -> bool:
        try:
            return entry.readable and self._compare(entry, value)[0]
        except ReadError:
            return False

    # -- what may follow from the student's own numbers

    def _following(self, right: Matrix, grid: Grid) -> Mapping[Cell, Value]:
        """What follows from the student's own answers where the marks say that it may."""
        follows = {mark.follows for mark in self.part.marks}
        if self.policy.follow_through == "never":
            return {}
        if "shading" in follows:
            return self._shaded(right)
        if not follows & {"sum", "quotient"} or self.policy.follow_through == "between parts":
            return {}
        last, own = right.shape[0] - 1, [row[0].value for row in grid.rows]
        counts = [x for x in right if isinstance(x, RATIONAL) and x]
        if right.shape != (len(counts), 1) or not last:  # only numbers in a column follow
            return {}
        times: Mapping[int, Mapping[int, Value]] = {last: {last - 1: divide(counts[-1], counts[-2])}}
        if "sum" in follows:
            assert isinstance(self.part.answer, MatrixAnswer)
            times = self.part.answer.sums or {last: dict.fromkeys(range(last), 1)}
        return {
            (row, 0): sum(n * x for k, n in of.items() if isinstance(x := own[k], RATIONAL))
            for row, of in times.items()
            if all(isinstance(own[k], RATIONAL) for k in of)
        }

    def _shaded(self, right: Matrix) -> Mapping[Cell, Value]:
        """The mask that fits the student's own shading: what is hidden, and what is seen, as the key marks them."""
        grids = ((p.name, p.answer) for p in self.question.parts if isinstance(p.answer, CellsAnswer))
        name, shading = next(grids, ("", None))
        own = self.attempt.answers.get(name)
        if shading is None or shading.shape != right.shape or not isinstance(own, Shaded):
            return {}
        cells = dict(_places(self.part.answer))
        marks = {cell in shading.cells: right[cell] for cell in cells}
        return {cell: marks[cell in own.cells] for cell in cells if (cell in own.cells) in marks}

    # -- what went wrong with numbers

    def _mistakes(
        self, right: Matrix, grid: Grid, wrong: Sequence[Cell], follows: Mapping[Cell, Value]
    ) -> Iterator[tuple[list[Candidate], Sequence[Cell]]]:
        """Each independent mistake: one for all entries that one belief explains, otherwise one an entry."""
        if len(wrong) > 1:
            whole = [
                candidate
                for candidate, other in _rearranged(right)
                if all(not entry.readable or self._fits(entry, other[i, j]) for i, j, entry in grid.cells())
            ]
            if whole or (whole := list(self._other_marks(right, grid))):
                yield whole, wrong
                return
        answer = self.part.answer
        counts = isinstance(answer, MatrixAnswer) and answer.derivation is None and right.shape[1] == 1
        known = {cell: list(self._known(grid[cell], cell[0])) for cell in wrong}
        for belief in dict.fromkeys(candidate for found in known.values() for candidate in found):
            if len(shared := [cell for cell in known if belief in known[cell]]) > 1:
                yield [belief], shared
                known = {cell: found for cell, found in known.items() if cell not in shared}
        for cell, found in known.items():
            candidates = [*found, *self._slips(grid[cell], right[cell])]
            if counts and not candidates:
                candidates = list(_miscounted(grid[cell], right[cell], follows.get(cell)))
            yield candidates, [cell]

    def _other_marks(self, right: Matrix, grid: Grid) -> Iterator[Candidate]:
        """That one of two numbers that a matrix is made of, as a mask is, stands as another one throughout."""
        if len(set(right)) != 2:
            return
        for value in set(right):
            own = {entry.text.strip() for i, j, entry in grid.cells() if right[i, j] == value}
            rest = ((entry, right[i, j]) for i, j, entry in grid.cells() if right[i, j] != value)
            if len(own) == 1 and all(self._fits(entry, other) for entry, other in rest):
                says = message("{own} was written for {value} throughout", own=own.pop(), value=plain_number(value))
                yield Candidate("slip", "", says)

    def _slips(self, entry: Entry, right: Value) -> list[Candidate]:
        """The slips that make this entry of the right one."""
        from symattn.derivation.slips import slips

        if right is NEGATIVE_INFINITY or has_symbols(right) or entry.value is None:
            return []
        made: list[tuple[str, Value, str]] = [("A1", -right, message("the sign is wrong"))]
        made += [(s.slip.id, s.value, s.says) for s in slips(Derivation({"_": Matrix.of([[right]])}), "_", 0, 0)]
        made += (
            [("", divide(1, right), message("the reciprocal was written"))] if decide(right, 0).equal is False else []
        )
        found = [Candidate("slip", id, says) for id, value, says in made if self._fits(entry, value)]
        return [c for c in found if c.id not in LAST_RESORT] or found

    def _known(self, entry: Entry, row: int) -> Iterator[Candidate]:
        """What is known to lead to this number."""
        errors = self.part.answer.errors if isinstance(self.part.answer, FormulaAnswer | MatrixAnswer) else ()
        for error in errors:
            if error.row == row and self._fits(entry, error.value):
                yield Candidate(
                    "answer", error.misconception, error.says or message(COUNTING[error.misconception].name)
                )

    # -- shapes, choices, cells

    def _shape(self, right: Shape | None, own: Shape | None) -> _Outcome:
        right, own = _plain_shape(right), _plain_shape(own)
        turned = right is not None and own == right[::-1] and own != right
        says = [Candidate("answer", "", message("rows and columns are swapped"))] if turned else []
        is_right = self._whole(own == right, Entry(f"{own[0]}×{own[1]}" if own else "not defined"), says)
        return _Outcome([[is_right]], is_right)

    def _one_option(self, answer: ChoiceAnswer, ticks: Sequence[int]) -> _Outcome:
        names = Entry(", ".join(map(option_letter, ticks)))
        if len(ticks) > 1:
            says = message(
                "{count} options are ticked ({options}), where one was asked for", count=len(ticks), options=names.text
            )
            self._whole(False, names, [Candidate("answer", "", says)], flags=("contradiction",))
            self._note("reading", message("{remark}.", remark=says), self.events[-1].number)
            return _Outcome([[False]])
        right = self._whole(set(ticks) <= answer.right, names, [c for k in ticks for c in _diagnosed(answer, k)])
        return _Outcome([[right]], right)

    def _options(self, answer: ChoiceAnswer, ticks: Collection[int]) -> _Outcome:
        """Several options: a verdict for each, an event for each that is ticked wrongly or left out."""
        right, rows = answer.right, []
        for k in sorted({*range(len(answer.options)), *ticks}):
            written, candidates = (Entry(option_letter(k)), _diagnosed(answer, k)) if k in ticks else (BLANK, [])
            rows.append([self._whole((k in ticks) == (k in right), written, candidates, (k, 0))])
        hits = len(right.intersection(ticks))

        def earned(mark: Mark) -> tuple[int, Why]:
            if isinstance(mark.rule, OneLess) or right == set(ticks):
                return accuracy(mark, rows)
            misses = len(ticks) - hits
            number = mark.number * max(0, hits - misses) // len(right) if right else 0
            return number, Why("ticks", hits, len(right), misses)

        return _Outcome(rows, self._overlaps(right, ticks), earned=earned)

    def _overlaps(self, right: Collection[object], own: Collection[object]) -> bool:
        """Whether what was marked is what should be, as far as shows the method: by Jaccard's measure."""
        right, own = set(right), set(own)
        return right == own or self.shows_method(len(right & own), len(right | own))

    def _cells(self, answer: CellsAnswer, own: frozenset[Cell]) -> _Outcome:
        if answer.cells and not own:
            return self._nothing()
        wrong = sorted(answer.cells ^ own)
        candidates = list(_shadings(answer, own))
        event = self._event(candidates, wrong, None if candidates else "unknown") if wrong else None
        rows: dict[int, list[bool]] = {}
        for cell in sorted({*indices(answer.shape), *own}):
            right = cell not in wrong
            rows.setdefault(cell[1 if answer.turned else 0], []).append(right)
            self._verdict(
                "correct" if right else "wrong",
                cell,
                written=Entry("x") if cell in own else BLANK,
                right=int(cell in answer.cells),
                proof="exact",
                event=None if right else event,
            )
        return _Outcome(list(rows.values()), self._overlaps(answer.cells, own))

    # -- orders, properties, words

    def _order(self, groups: Groups, own: Groups) -> _Outcome:
        """Labels in order; those of one group may stand in any order, those that were said to be equal may not."""
        rank = {_label(label): k for k, group in enumerate(groups) for label in group}
        said = [x for group in own for x in sorted(map(_label, group), key=lambda x: -rank.get(x, 0))]
        if not said:
            return self._nothing()
        complete = sorted(said) == sorted(rank)
        ranks = [rank[label] for label in dict.fromkeys(said) if label in rank]
        inversions = sum(1 for a, b in combinations(ranks, 2) if a > b)
        right = complete and not inversions
        turned = complete and ranks == sorted(ranks, reverse=True) and len(groups) > 1
        written = Entry(" < ".join(" = ".join(group) for group in own))
        self._whole(right, written, [Candidate("answer", "", message("the order is reversed"))] if turned else [])

        def earned(mark: Mark) -> tuple[int, Why]:
            if right:
                return mark.number, Why("right order")
            if mark.rule == "one swap":
                near = complete and inversions == 1
                return (mark.number // 2, Why("one swap")) if near else (0, Why("wrong order"))
            if isinstance(mark.rule, OneLess):
                kept = min(_longest_ordered(ranks), len(rank) - 1)
                return accuracy(mark, [[k < kept for k in range(len(rank))]])
            at = {label: k for k, label in reversed(list(enumerate(said)))}
            neighbours = [(_label(a), _label(b)) for g, h in pairwise(groups) for a in g for b in h]
            pairs = [a in at and b in at and at[a] < at[b] for a, b in neighbours]
            return accuracy(mark, [pairs if complete else [*pairs, False]])

        return _Outcome([[right]], right, earned=earned)

    def _property(self, answer: PropertyAnswer, grids: Mapping[str, Grid]) -> _Outcome:
        """Matrices of the student's own choice, by the rule that they must fulfil."""
        grids = {name: grid for name, grid in grids.items() if not grid.empty}
        if not grids:
            return self._nothing()
        written = Entry("; ".join(f"{name} = {rows_text(grid)}" for name, grid in grids.items()))
        unread = [(name, i, j, e) for name, grid in grids.items() for i, j, e in grid.cells() if e.complaint]
        for name, i, j, entry in unread:
            says = message(
                "Entry ({row}, {column}) of {matrix} cannot be read: {complaint}",
                row=i + 1, column=j + 1, matrix=name, complaint=entry.complaint,
            )  # fmt: skip
            self._note("reading", says)
        claims = [_claim(answer, own) for own in _row_by_row(answer, grids)]
        wrong = next((says for holds, says, _ in claims if not holds), "")
        undecided = any(holds is None for holds, *_ in claims)
        right = all(holds for holds, *_ in claims)
        proof = next((proof for *_, proof in claims if proof != "exact"), "exact")
        if undecided:
            self._note("human", message("This was neither proved right nor wrong: {claim}", claim=wrong))
        if unread and not right:
            self._verdict("unreadable", written=written)
        else:
            self._whole(right, written, [Candidate("answer", "", wrong, sentence=True)], proof=proof)
        rows = [[bool(holds)] for holds, *_ in claims]
        method = self.shows_method(sum(map(sum, rows)), len(rows))
        worked = not method and self._ask_for_method()
        return _Outcome(rows, method, undecided, worked=worked)

    def _word(self, words: Sequence[str], text: str) -> _Outcome:
        if not text.strip():
            return self._nothing()
        said = [*map(_bare, text.split())]
        bare = " ".join(word for word in said if folded(word) not in _ROUND_A_NAME)
        right = not {folded(text), folded(bare), _without_kind(text)}.isdisjoint(map(folded, words))
        if not right and len(said) > LONGEST_NAME:  # The wrong line is that of S'.
            signs = {step.role for step in self.question.problem.derivation} if self.question.problem else set()
            named = {*signs, *words}.intersection(said)
            if len(named) != 1 or not signs or not _DENIALS.isdisjoint(map(folded, said)):
                return self._to_be_read()
            right = named <= {*words}
        elif not right and (not {*said}.isdisjoint(words) or any(_is_within(word, text) for word in words)):
            return self._to_be_read()  # not softmax; S' or Z
        return _Outcome([[self._whole(right, Entry(text))]], right)

    def _to_be_read(self) -> _Outcome:
        self._note("human", message("The answer is a sentence, which a person has to read."))
        return _Outcome([[False]], pending=True, earned=lambda mark: (0, Why("to be read")))

    def _rubric(self, marks: int, said: Text) -> _Outcome:
        """Marks are given by a person; until then they are pending, and there is no verdict."""
        if said.points is None and not said.text.strip():
            return self._nothing()
        if said.points is None:
            says = counted(
                "The text has to be read by a person, who gives up to {n} mark.",
                "The text has to be read by a person, who gives up to {n} marks.",
                n=marks,
            )
            self._note("human", says)
            return _Outcome([[False] * marks], pending=True, earned=lambda mark: (0, Why("to be read")))
        given = max(0, min(marks, said.points))
        return _Outcome([[k < given for k in range(marks)]], given > 0)


# ------------------------------------------------------------------------------------------------ places


def _places(answer: Answer) -> Iterator[tuple[Cell, Value | None]]:
    """The places of an answer that are judged, with the right values of numbers; 1 is a cell to be shaded."""
    match answer:
        case MatrixAnswer(value):
            yield from (((i, j), x) for i, row in enumerate(value.rows) for j, x in enumerate(row))
        case CellsAnswer(shape, cells):
            yield from ((cell, int(cell in cells)) for cell in indices(shape))
        case ChoiceAnswer(options, several=True):
            yield from (((k, 0), None) for k in range(len(options)))
        case FormulaAnswer(value):
            yield ORIGIN, value
        case _:
            yield ORIGIN, None


def _open(verdict: Verdict) -> bool:
    """Whether a number was refused for want of a proof only."""
    return verdict.state == "wrong" and verdict.proof not in PROVED


def _miscounted(entry: Entry, right: Value, follows: Value | None = None) -> Iterator[Candidate]:
    """What is wrong with a count: another total than the student's own lines have, a factor, a term in letters."""
    if follows is not None:
        yield Candidate("answer", "", message("with your other lines it is {number}", number=follows))
        return
    own = entry.value
    if own is None or NEGATIVE_INFINITY in (own, right) or 0 in (own, right):
        return
    if has_symbols(right) and not has_symbols(own):
        yield Candidate("answer", "", message("the answer should be in letters, and there are none in it"))
        return
    if not has_symbols(own) and not (isinstance(own, RATIONAL) and isinstance(right, RATIONAL)):
        return
    written, meant = to_sympy(own), to_sympy(right)
    above, below = (written / meant).cancel().as_numer_denom()
    if (
        not above.is_Add
        and not below.is_Add
        and (has_symbols(own) or max(above, below) ** 2 < min(written, meant) ** 2)
    ):
        if below == 1:
            yield Candidate("answer", "", message("there is an extra factor {factor}", factor=_typed(above)))
        elif above == 1:
            yield Candidate("answer", "", message("a factor {factor} is missing", factor=_typed(below)))
        else:
            says = message(
                "there is a factor {written} in place of {meant}", written=_typed(above), meant=_typed(below)
            )
            yield Candidate("answer", "", says)
    elif has_symbols(own) and not (off := (written - meant).expand()).is_Add:
        if off.could_extract_minus_sign():
            yield Candidate("answer", "", message("{term} is missing", term=_typed(-off)))
        else:
            yield Candidate("answer", "", message("there is an extra term {term}", term=_typed(off)))


def _typed(product: Any) -> str:
    """A product as it is typed: 2 n d^2."""
    return str(product).replace("**", "^").replace("*", " ")


def unread(cells: Iterable[tuple[int, int, Entry]]) -> Iterator[Message]:
    """What is said of the entries of a matrix that cannot be read: every complaint once, with its places."""
    places: dict[str, list[str]] = {}
    for i, j, entry in cells:
        if entry.complaint:
            places.setdefault(entry.complaint, []).append(f"({i + 1}, {j + 1})")
    for complaint, found in places.items():
        if len(found) == 1:
            yield message("Entry {place} cannot be read: {complaint}", place=found[0], complaint=complaint)
        else:
            yield message("Entries {places} cannot be read: {complaint}", places=listed(found), complaint=complaint)


def undecided(i: int, j: int, proof: str) -> Message:
    """What is said of an entry of a matrix that nothing was proved of."""
    return message(
        "Entry ({row}, {column}) could be proved neither right nor wrong ({proof}); a person has to look at it.",
        row=i + 1, column=j + 1, proof=proof,
    )  # fmt: skip


def short_of(shape: tuple[int, int], expected: tuple[int, int]) -> Message:
    """What is said of a matrix of which rows or columns are missing."""
    return message(
        "The matrix is {shape} and should be {expected}; what is missing counts as blank.",
        shape=f"{shape[0]}×{shape[1]}", expected=f"{expected[0]}×{expected[1]}",
    )  # fmt: skip


def _cut(grid: Grid, shape: tuple[int, int]) -> Grid:
    """The grid without empty rows below, or empty columns to the right of, what was asked for."""
    rows, columns = shape
    if not any(not entry.blank for i, j, entry in grid.cells() if i >= rows or j >= columns):
        return Grid(tuple(row[:columns] for row in grid.rows[:rows]))
    return grid


# ------------------------------------------------------------------------------------------------ letters


def in_letters(entry: Entry, value: Value) -> tuple[bool, str]:
    """Whether an expression in letters is a value, and how that was decided.

    Letters stand for sizes, so what no identity settles (√(d²) = d) is compared at a few whole numbers: one where they
    differ is a proof, and where they agree throughout they are taken to be equal, which a person must confirm.
    """
    if entry.value is None or (entry.reading and entry.reading.alternatives):
        assert entry.reading is not None
        decision = decide_reading(entry.reading, value)
        return decision.equal is True, decision.proof
    decision = decide(entry.value, value)
    if decision.equal is not None:
        return decision.equal, decision.proof
    known = list(_at_sizes(entry.value, value))
    if False in known:
        return False, "exact"
    return (True, "equal at a few sizes") if True in known else (False, "undecided")


def _at_sizes(a: Value, b: Value) -> Iterator[bool | None]:
    """Whether two values in letters are equal at some whole numbers, different ones for every letter."""
    letters = sorted({letter for v in (a, b) if has_symbols(v) for letter in v.free_symbols}, key=str)
    for first in (2, 11, 23):
        sizes = {letter: first + 7 * k for k, letter in enumerate(letters)}
        try:
            x, y = (from_sympy(v.subs(sizes)) if has_symbols(v) else v for v in (a, b))
            yield decide(x, y).equal
        except SymattnError:  # not defined there, or no real number
            yield None


# ------------------------------------------------------------------------------------------------ diagnoses


def _rearranged(right: Matrix) -> Iterator[tuple[Candidate, Matrix]]:
    """A whole matrix written wrongly in one way: how, and what it looks like."""
    slip, (rows, columns) = partial(Candidate, "slip"), right.shape
    if rows == columns:
        yield slip("", message("rows and columns are swapped")), right.T
    if not any(x is NEGATIVE_INFINITY for x in right):
        yield slip("A1", message("every sign is wrong")), right.map(lambda x: -x)
    for i, k in combinations(range(rows), 2):
        yield slip("", message("rows {one} and {other} are swapped", one=i + 1, other=k + 1)), _exchanged(right, i, k)
    for i, k in combinations(range(columns), 2):
        says = message("columns {one} and {other} are swapped", one=i + 1, other=k + 1)
        yield slip("", says), _exchanged(right.T, i, k).T
    one, *rest = right
    if (other := next((x for x in rest if x != one), None)) is not None and all(x in (one, other) for x in rest):
        yield slip("", message("the two values are swapped")), right.map(lambda x: other if x == one else one)


def _exchanged(matrix: Matrix, i: int, k: int) -> Matrix:
    rows = list(matrix.rows)
    rows[i], rows[k] = rows[k], rows[i]
    return Matrix.of(rows)


def _diagnosed(answer: ChoiceAnswer, k: int) -> list[Candidate]:
    """What leads to an option, if it is known; counting and slips are told here, the catalogue tells the others."""
    from symattn.derivation.slips import SLIPS

    id = answer.options[k].diagnosis if 0 <= k < len(answer.options) else ""
    if id in misconceptions():
        return [Candidate("misconception", id)]
    if id in SLIPS:
        return [Candidate("slip", id, message(SLIPS[id].name))]
    return [Candidate("answer", id, message(COUNTING[id].name))] if id in COUNTING else []


def _shadings(answer: CellsAnswer, own: frozenset[Cell]) -> Iterator[Candidate]:
    """The wrong beliefs about masks that shade these cells, looked at as they are where a row is a query."""
    from symattn.derivation.misconceptions.mask import offset, one_later, other_half, queries_hidden

    if answer.turned:
        answer = CellsAnswer(answer.shape[::-1], frozenset((j, i) for i, j in answer.cells))
        own = frozenset((j, i) for i, j in own)
    rows, columns = answer.shape
    keep: Keep = tuple(tuple((i, j) not in answer.cells for j in range(columns)) for i in range(rows))
    diagonal = offset(keep)
    no_diagonal = tuple(tuple(seen and j != i + diagonal for j, seen in enumerate(row)) for i, row in enumerate(keep))
    patterns = {"M2": other_half(keep), "M3": no_diagonal, "M6": one_later(keep), "M9": queries_hidden(keep)}
    for id, pattern in patterns.items():
        if pattern and own == {(i, j) for i, row in enumerate(pattern) for j, seen in enumerate(row) if not seen}:
            yield Candidate("misconception", id)
    if own == {cell for cell, shaded in _places(answer) if not shaded}:
        yield Candidate("answer", "", message("hidden and visible cells are swapped"))
    if own == {(j, i) for i, j in answer.cells}:
        yield Candidate("answer", "", message("queries and keys are swapped"))


# ------------------------------------------------------------------------------------------------ properties


def _row_by_row(answer: PropertyAnswer, grids: Mapping[str, Grid]) -> Iterator[Mapping[str, Grid]]:
    """Each row of scores alone, the others taken from the model, where the weights are asked for row by row."""
    if answer.rule != "weights of scores" or "S" not in grids or grids["S"].shape != answer.model["S"].shape:
        yield grids
        return
    turned = _is_turned(answer)
    model, own = (answer.model["S"].T, grids["S"].T) if turned else (answer.model["S"], grids["S"])
    known = [[Entry(str(x), value=x) for x in row] for row in model.rows]
    for i, row in enumerate(own.rows):
        one = Grid(tuple(map(tuple, [*known[:i], row, *known[i + 1 :]])))
        yield {"S": one.T if turned else one}


def _claim(answer: PropertyAnswer, grids: Mapping[str, Grid]) -> tuple[bool | None, str, str]:
    """Whether the matrices fulfil the rule, None if that is not decided; a sentence that says so; and its proof."""
    from symattn.teaching.problems.systems import judged  # most questions ask for no property

    whole_powers = answer.parameters["base"] != "e"  # these are multiplied out
    for name, grid in grids.items():
        for i, j, entry in grid.cells():
            value, place = entry.value, {"row": i + 1, "column": j + 1, "matrix": name}
            if value is None and not entry.readable and entry.complaint:
                return False, message("Entry ({row}, {column}) of {matrix} cannot be read.", **place), "exact"
            if value is None and not entry.readable:
                return False, message("Entry ({row}, {column}) of {matrix} is empty.", **place), "exact"
            if value is None or (whole_powers and isinstance(value, RATIONAL) and abs(Fraction(value)) > LARGEST_POWER):
                says = message("Entry ({row}, {column}) of {matrix} is too large to be worked out.", **place)
                return None, says, "undecided"
    own = {
        name: Matrix.of([cast(Value, entry.value) for entry in row] for row in grid.rows)
        for name, grid in grids.items()
    }
    units = {name: Matrix.of([entry.unit or 0 for entry in row] for row in grid.rows) for name, grid in grids.items()}
    try:
        verdict = judged(answer.rule, answer.parameters, own, units)
    except UndecidedError as error:
        return None, error.said, "undecided"
    except InputError as error:  # a number that cannot be worked with, such as an exponent that is too large
        return False, error.said, "exact"
    return verdict.holds, verdict.says, verdict.proof


def rows_text(grid: Grid) -> str:
    """A matrix as it was typed, on one line."""
    return "[" + ", ".join("[" + ", ".join(entry.text for entry in row) + "]" for row in grid.rows) + "]"


# ------------------------------------------------------------------------------------------------ words and labels


_KIND = any_of("function|functions|operation|operations")
_ROUND_A_KIND = re.compile(rf"(?i)^{_KIND}[\s-]+|[\s-]*{_KIND}$|(?<=\w)\([A-Za-z]['′\d]?\)$")
"""What says no more than that an operation is one: softmax function, Softmax-Funktion, softmax(x)."""


def _without_kind(text: str) -> str:
    """softmax for "the softmax function", die Softmax-Funktion and softmax(x), folded.

    >>> [*map(_without_kind, ("the softmax function", "die Softmax-Funktion", "étape softmax(x)", "not softmax"))]
    ['softmax', 'softmax', 'softmax', 'notsoftmax']
    """
    bare = " ".join(word for word in text.strip(" .!").split() if folded(word) not in _ROUND_A_NAME)
    return folded(_ROUND_A_KIND.sub("", bare))


def _is_within(word: str, text: str) -> bool:
    """Whether a word of several letters stands in a text, perhaps as a part of another."""
    return len(folded(word)) > 3 and folded(word) in folded(text)


def _bare(word: str) -> str:
    """A word of a sentence as a sign: S' of S′."""
    return word.strip(',.;:!?()$*"“”').translate(_PRIMES)


def folded(text: str) -> str:
    """A word without case, spaces, punctuation and accents; a symbol of one or two letters keeps accents and primes.

    >>> folded("Scaled scores."), folded("W^Q"), folded("S′") == folded("s'"), folded("S'") == folded("S")
    ('scaledscores', 'wq', True, False)
    """
    text = unicodedata.normalize("NFKD", text).casefold().translate(_PRIMES)
    letters = "".join(c for c in text if c.isalnum())
    return letters if len(letters) > 2 else "".join(c for c in text if c.isalnum() or c in "'\"" or _is_accent(c))


_PRIMES = str.maketrans({"′": "'", "’": "'", "‘": "'", "´": "'", "`": None})


def _is_accent(character: str) -> bool:
    return unicodedata.combining(character) > 0


_ROUND_A_NAME = frozenset(map(folded, words_for("the|in|it|its|is|was|that|of|line|step|row|wrong|mistake|error")))
"""Words round a name that say nothing else: line S', it's S', Zeile S', étape S'."""
_DENIALS = frozenset(map(folded, words_for("not|isn't|no|never")))


def _label(text: str) -> str:
    return text.strip().casefold()


def plain_number(value: Value) -> str:
    return str(value).replace("-", "−")


def _plain_shape(shape: Shape | None) -> Shape | None:
    def plain(size: int | str) -> int | str:
        return int(size) if isinstance(size, str) and size.isdecimal() and len(size) < 10 else size

    return (plain(shape[0]), plain(shape[1])) if shape else None


def _longest_ordered(ranks: Sequence[int]) -> int:
    """How many can stay where they are: the length of the longest part of a sequence that does not decrease."""
    ends: list[int] = []
    for rank in ranks:
        k = bisect_right(ends, rank)
        ends[k : k + 1] = [rank]
    return len(ends)


_ASKED: Mapping[type, str] = {
    MatrixAnswer: message("a matrix"),
    FormulaAnswer: message("a number or a formula"),
    ShapeAnswer: message("a shape"),
    ChoiceAnswer: message("a choice"),
    CellsAnswer: message("a shaded grid"),
    OrderAnswer: message("an order"),
    PropertyAnswer: message("a matrix"),
    RubricAnswer: message("a text"),
    WordAnswer: message("a name"),
}
_CAME: Mapping[type, str] = {
    Entry: message("a number"),
    Grid: message("a matrix"),
    Grids: message("several matrices"),
    Ticked: message("a choice"),
    Shaded: message("a shaded grid"),
    Shaped: message("a shape"),
    Ordered: message("an order"),
    Text: message("a text"),
}
