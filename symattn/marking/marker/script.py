"""A script: what one student wrote for the steps of one derivation, laid out with tokens as rows.

Its numbers claim the places that they are shown with, percentages are numbers, and words have the numbers of words.

A script is walked through many times: as it was written, with lines left blank, in another layout, by another method.
Most lines are the same each time and come of the same lines; they are worked out once, and kept in its memory.  What
comes of the question alone is the same in every script, and kept for the next.  Things are told apart by identity,
since values are compared by proof and have no hashes, and are kept so that no other gets their identity.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import frexp
from struct import pack, unpack
from types import MappingProxyType
from typing import Any, TypeVar

from symattn.derivation.derivation import Derivation, Step, oriented
from symattn.derivation.ops.attention import Softmax
from symattn.exact import Matrix, Value, exact
from symattn.exact.reading import read
from symattn.exact.values import RATIONAL
from symattn.marking.attempt import Attempt, Entry, Grid
from symattn.marking.marker.report import Cell
from symattn.teaching.question import Question, asked_step

T = TypeVar("T")


class Memory:
    """That of one script; what comes of the question alone is looked up in its `key`."""

    def __init__(self, key: KeyMemory | None = None) -> None:
        self.key = key
        self._known: dict[Hashable, tuple[Sequence[object], Any]] = {}
        self._interned: dict[Any, Any] = {}

    def of(self, things: Iterable[object]) -> Memory:
        """The memory that what comes of these things belongs into."""
        return self._of_ids(map(id, things))

    def _of_ids(self, ids: Iterable[int]) -> Memory:
        return self.key if self.key is not None and self.key.has(ids) else self

    def memoize(self, name: Hashable, things: Sequence[object], work: Callable[[], T]) -> T:
        """What comes of these things, worked out the first time; `name` says what it is."""
        key = (name, *(ids := tuple(map(id, things))))
        memory = self._of_ids(ids)
        if (known := memory._known.get(key)) is None:
            known = memory._known[key] = (things, memory.adopt(work()))
        return known[1]

    def adopt(self, thing: T) -> T:
        """A thing, which from now on belongs to this memory."""
        return thing

    def intern(self, thing: T) -> T:
        """The first thing that came and equals this one; the thing itself where it cannot be told by a hash."""
        try:
            known = None if self.key is None else self.key._interned.get(thing)
            first: T = self._interned.setdefault(thing, thing) if known is None else known
        except TypeError:
            return self.adopt(thing)
        return self.adopt(first)

    def matrix(self, rows: Iterable[Iterable[Value]]) -> Matrix:
        """A matrix of these entries, the same one for the same entries."""
        laid = [list(row) for row in rows]
        return self.memoize(("matrix", *map(len, laid)), [x for row in laid for x in row], lambda: Matrix.of(laid))


class KeyMemory(Memory):
    """What comes of a question's derivation alone."""

    def __init__(self, d: Derivation) -> None:
        super().__init__()
        self._own: dict[int, object] = {id(None): None}
        for thing in (d, *d.givens.values(), *d, *(step.result for step in d)):
            self.adopt(thing)
        for step in d:
            self.intern(step.op)

    def __len__(self) -> int:
        return len(self._known)

    def has(self, ids: Iterable[int]) -> bool:
        """Whether all things of these identities are the question's own."""
        return all(map(self._own.__contains__, ids))

    def adopt(self, thing: T) -> T:
        self._own[id(thing)] = thing
        return thing


MOST_KEYS = 8
"""Number of questions whose keys are remembered; the one that was not asked for longest is forgotten first."""


MOST_KNOWN = 5_000
"""Things remembered of one question, some 2.6 kB each, before its memory begins anew."""


KEYS: dict[int, tuple[Derivation, Derivation, KeyMemory]] = {}
"""Of the questions that were asked for last: the derivation, as it is laid, and what was worked out from it."""


def key_of(d: Derivation) -> tuple[Derivation, KeyMemory]:
    """A question's derivation with tokens as rows, step after step, and what was worked out from it already."""
    known = KEYS.pop(id(d), None)
    if known is None or len(known[2]) > MOST_KNOWN:
        numbers = _with_numbers(d)
        laid = _by_role(oriented(numbers, "rows"))
        known = d, laid, KeyMemory(laid)
    KEYS[id(d)] = known  # behind all others: the last that was asked for
    while len(KEYS) > MOST_KEYS:
        KEYS.pop(next(iter(KEYS)), None)  # another thread may have been quicker
    _, laid, memory = known
    return laid, memory


def _with_numbers(d: Derivation) -> Derivation:
    """The lines that have entries; whatever is made of a matrix of which only the shape is known has none either."""
    givens = {name: matrix for name, matrix in d.givens.items() if isinstance(matrix, Matrix)}
    return replace(d, givens=givens, steps=tuple(step for step in d if isinstance(step.result, Matrix)))


def _by_role(d: Derivation) -> Derivation:
    """Token by token, the lines of all tokens for one step together, then those for the next step."""
    roles = list(dict.fromkeys(step.role for step in d))
    order = {step.name: (roles.index(step.role), k) for k, step in enumerate(d)}
    ordered = sorted(d.steps, key=lambda step: order[step.name])
    there = set(d.givens)
    for step in ordered:  # a recurrent network has no such order: each position needs the one before it
        if any(operand.name not in there for operand in step.operands):
            return d
        there.add(step.name)
    return replace(d, steps=tuple(ordered))


def precision_of(question: Question) -> tuple[bool, int]:
    """Whether a question wants exact values, and the places of decimals."""
    return (question.problem.exact, question.problem.places) if question.problem else (True, 4)


@dataclass(frozen=True)
class Script:
    """Grids by the name of the step.

    `printed` are entries that the question gives away: they count as right and are nobody's.  `asked` are the steps
    that carry marks; `elsewhere` are lines that are not asked for here, as the student has them in another part (a mask
    that was drawn).  `stated` are the steps of which the right shape was stated, `in_doubt` those to which something
    was written that a person has to read: a later line does not say what it is, and `as_blank` what
    was written and counts as blank.  With `exact` the question wants exact
    values, otherwise decimals with `places` places.  Scripts made of one another share their `memory`.
    """

    d: Derivation
    written: Mapping[str, Grid]
    asked: frozenset[str]
    printed: Mapping[str, frozenset[Cell]] = field(default_factory=lambda: MappingProxyType({}))
    exact: bool = True
    places: int = 4
    elsewhere: Mapping[str, Matrix] = field(default_factory=lambda: MappingProxyType({}))
    stated: frozenset[str] = frozenset()
    in_doubt: frozenset[str] = frozenset()
    as_blank: Mapping[str, Grid] = field(default_factory=lambda: MappingProxyType({}))
    memory: Memory = field(default_factory=Memory, repr=False, compare=False)

    @property
    def tolerance(self) -> Fraction:
        """What a final answer may be off by: half a unit of the last place asked for, 0.005 where none is."""
        return Fraction(1, 200) if self.exact else Fraction(1, 2 * 10**self.places)

    def step(self, name: str) -> Step | None:
        """The step of that name; None for a given."""
        return self.d[name] if name in self.d and name not in self.d.givens else None

    def with_written(self, lines: Mapping[str, Grid]) -> Script:
        """The script with some lines written otherwise."""
        return replace(self, written={**self.written, **lines})

    def with_blank(self, left: Mapping[str, Grid | None]) -> Script:
        """The script with of some lines only what is left, None where they count as blank altogether."""
        written = {name: left.get(name, grid) for name, grid in self.written.items()}
        changed = {name: self.written[name] for name in left if left[name] != self.written[name]}
        return replace(
            self,
            written={name: grid for name, grid in written.items() if grid is not None},
            as_blank={**changed, **self.as_blank},
        )

    def is_known(self, step: str) -> bool:
        """Whether the student's own line is there, written here or elsewhere."""
        return step in self.written or step in self.elsewhere

    @cached_property
    def final(self) -> str:
        """The last step that carries marks."""
        return [step.name for step in self.d if step.name in self.asked][-1]

    def sources(self, step: Step) -> Iterator[Step]:
        """The steps that a step is worked out from."""
        names = {operand.name for operand in step.operands}
        return (other for other in self.d if other.name in names)

    def left_out(self, step: Step) -> tuple[Step, ...]:
        """The steps between this one and the nearest lines that were written before it, in order."""
        return self._left_out[step.name]

    @cached_property
    def _left_out(self) -> Mapping[str, tuple[Step, ...]]:
        found: dict[str, frozenset[str]] = {}
        for step in self.d:
            missing = [source.name for source in self.sources(step) if not self.is_known(source.name)]
            found[step.name] = frozenset(missing).union(*(found[name] for name in missing))
        return {name: tuple(step for step in self.d if step.name in names) for name, names in found.items()}

    def gap(self, step: Step) -> int:
        """How many steps in a row that carry marks were left out before this one."""
        missing = {other.name for other in self.left_out(step)}

        def longest(at: Step) -> int:
            return max((longest(s) + (s.name in self.asked) for s in self.sources(at) if s.name in missing), default=0)

        return longest(step)

    def depends(self, step: Step) -> frozenset[str]:
        """The steps that a step rests on, directly or not."""
        return self.d.before(step.name)

    def is_rounded_before(self, step: Step) -> bool:
        """Whether a decimal was written in a line that a step rests on."""
        grids = (self.written[name] for name in self.depends(step) if name in self.written)
        return any(entry.unit is not None for grid in grids for _, _, entry in grid.cells())

    def fitting(self, name: str) -> bool:
        """Whether the grid has the shape of the step."""
        return self.written[name].shape == self.d[name].result.shape

    def turned(self) -> Script:
        """The same script, every grid transposed: the work of somebody who has tokens as columns."""
        return replace(self, written={name: grid.T for name, grid in self.written.items()})


# ------------------------------------------------------------------------------------------------ what numbers mean

MACHINE_DIGITS = 7
"""Digits that a number has which a machine printed: float32 has as many."""

CHANCE = Fraction(1, 20)
"""What is less likely than this for the numbers of a person is taken for a machine's."""

SINGLE, DOUBLE = Fraction(1, 10**6), Fraction(1, 10**12)
"""What the numbers of a machine may be off by, as a share of the largest number beside them, in float32 and float64."""


def with_precision(written: Mapping[str, Grid]) -> dict[str, Grid]:
    """What every number claims: whole numbers among decimals have as many places, and a machine's last digits are none.

    The 0 of [0, 0.5, 0.5] is 0.0.  Beside whole numbers alone, what belongs to other tokens counts (A.1, A.2); where
    that has no decimals either, they stay as they are.  2.9802322e-08 beside 1.1547005 is 0.
    """
    own, of_all = dict[str, Fraction](), dict[str, Fraction]()
    for step, grid in written.items():
        found = [entry.unit for _, _, entry in grid.cells() if entry.unit is not None]
        if found:
            role = step.partition(".")[0]
            own[step] = min(found)
            of_all[role] = min(own[step], of_all.get(role, own[step]))

    def claim(entry: Entry, common: Fraction | None, noise: Fraction) -> Entry:
        if entry.unit is None:
            whole = isinstance(entry.value, int) and common is not None
            return replace(entry, unit=common) if whole else entry
        return replace(entry, unit=max(entry.unit, noise)) if _by_machine(entry) else entry

    claims: dict[str, Grid] = {}
    for step, grid in written.items():
        common = own.get(step, of_all.get(step.partition(".")[0]))
        noise = _noise(grid) if any(_by_machine(e) for _, _, e in grid.cells()) else Fraction(0)
        claims[step] = Grid(tuple(tuple(claim(e, common, noise) for e in row) for row in grid.rows))
    return claims


def _noise(grid: Grid) -> Fraction:
    """What the numbers of a machine may be off by."""
    largest = max((abs(Fraction(e.value)) for _, _, e in grid.cells() if isinstance(e.value, RATIONAL)), default=0)
    return (SINGLE if _in_float32(grid) else DOUBLE) * largest


def _in_float32(grid: Grid) -> bool:
    """Whether all decimals are what a float32 prints, so many and with so many digits that it is no chance.

    Of decimals of eight digits that people write, one in six is near enough to a float32.
    """
    chance = Fraction(1)
    for _, _, entry in grid.cells():
        if entry.unit is not None and isinstance(entry.value, RATIONAL):
            if (gap := _gap_of_float32(Fraction(entry.value), entry.unit)) is None:
                return False
            chance *= min(Fraction(1), entry.unit / gap)
    return chance < CHANCE


def _gap_of_float32(x: Fraction, unit: Fraction) -> Fraction | None:
    """How far apart float32 lie about a decimal; None if it is not what one of them prints, to this unit."""
    try:
        (nearest,) = unpack("f", pack("f", float(x)))
    except OverflowError:
        return None
    return Fraction(2) ** (frexp(nearest)[1] - 24) if abs(Fraction(nearest) - x) <= unit / 2 else None


M = TypeVar("M", Matrix, Grid)


def per_token(softmax: Softmax, laid: M) -> M:
    """A matrix of scores or weights with a row for every token, and back."""
    return laid if softmax.along == "rows" else laid.T


def in_percent(d: Derivation, written: Mapping[str, Grid]) -> dict[str, Grid]:
    """Weights that were written in percent without its sign, as numbers: every token's sum to 100."""
    found = dict(written)
    for step in d:
        if isinstance(step.op, Softmax) and step.name in written:
            grid = per_token(step.op, written[step.name])
            if all(map(_sums_to_hundred, grid.rows)):
                found[step.name] = per_token(step.op, Grid(tuple(tuple(map(_hundredth, row)) for row in grid.rows)))
    return found


def _sums_to_hundred(row: Sequence[Entry]) -> bool:
    values = [Fraction(entry.value) for entry in row if isinstance(entry.value, RATIONAL) and 0 <= entry.value <= 100]
    slack = sum((entry.unit or Fraction(1) for entry in row), Fraction(0)) / 2
    return len(values) == len(row) and abs(sum(values, Fraction(-100))) <= slack


def _hundredth(entry: Entry) -> Entry:
    """25 as 25 %."""
    assert isinstance(entry.value, RATIONAL)
    return replace(entry, value=exact(Fraction(entry.value) / 100), unit=(entry.unit or Fraction(1)) / 100)


def _by_machine(entry: Entry) -> bool:
    """Whether a decimal has so many digits that a machine must have printed it."""
    if entry.reading is None or entry.reading.places is None or not isinstance(entry.value, RATIONAL):
        return False
    return entry.reading.places >= MACHINE_DIGITS or abs(entry.value) >= 10 ** (MACHINE_DIGITS - entry.reading.places)


# ------------------------------------------------------------------------------------------------ answers in words


_BOTH = re.compile(r"(?P<number>\d+)[\s.:=,(]+(?P<word>.+?)\)?|(?P<first>.+?)[\s:=,(]+(?P<second>\d+)\)?")
"""4 their, 4 = their, their (4)."""


_LONGEST = 80
"""Characters of a word with its number; no longer text is searched for them."""


_UPRIGHT = re.compile(r"\\(?:text|textbf|textit|mathrm|operatorname|mbox)\{([^{}]*)\}")


_ROUND_IT = " \t\"'“”‘’„«»*_`$.,;:!"
"""Quotation marks, punctuation, and what editors make words bold with."""


def with_words_read(question: Question, attempt: Attempt) -> Attempt:
    """The attempt with the number of the word for each word in the boxes of steps that have words.

    A word and its number together count as the number; a word that there is not, or one with another number, stays as
    it was read.
    """
    answers, remarks = dict(attempt.answers), attempt.remarks
    for part, words in _parts_with_words(question):
        said = answers.get(part)
        if not isinstance(said, Grid):
            continue
        numbered = Grid(tuple(tuple(_numbered(entry, words) for entry in row) for row in said.rows))
        if numbered == said:
            continue
        read_now = {old.complaint for (_, _, old), (_, _, new) in zip(said.cells(), numbered.cells(), strict=True)
                    if old.complaint and not new.complaint}  # fmt: skip
        remarks = tuple(r for r in remarks if r.says not in read_now or r.where.partition("[")[0] != part)
        answers[part] = numbered
    return replace(attempt, answers=answers, remarks=remarks)


def _parts_with_words(question: Question) -> Iterator[tuple[str, Mapping[str, int]]]:
    """Parts that ask for such a step, each with the numbers of its words."""
    for part in question.parts:
        if (asked := asked_step(question, part)) is not None:
            d, name = asked
            step = next((step for step in d if step.name == name), None)
            if step is not None and step.op.words:
                yield part.name, _numbers(step.op.words)


def _numbers(words: Sequence[str]) -> dict[str, int]:
    """Each word by its plain form; two that differ only in capitals keep them."""
    plain = [word.casefold() for word in words]
    return {word if plain.count(word.casefold()) > 1 else word.casefold(): n for n, word in enumerate(words, 1)}


def _numbered(entry: Entry, numbers: Mapping[str, int]) -> Entry:
    text = entry.text.strip(_ROUND_IT)
    if upright := _UPRIGHT.fullmatch(text):
        text = upright[1].strip(_ROUND_IT)
    number, word = _number_of(text, numbers), text
    if number is None and len(text) <= _LONGEST and (both := _BOTH.fullmatch(text)):
        stated = int(both["number"] or both["second"])
        word = both["word"] or both["first"]
        number = stated if _number_of(word, numbers) == stated else None
    if number is None:
        return entry
    return Entry(entry.text, read(str(number)), number, word=word)


def _number_of(text: str, numbers: Mapping[str, int]) -> int | None:
    return numbers.get(text, numbers.get(text.casefold()))
