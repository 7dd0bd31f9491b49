"""What a student wrote: entry by entry, as it was typed and as it was read.

Readers of files make an `Attempt` (`symattn.marking.submissions`), marking judges it (`symattn.marking.marker`).
Nothing here knows what is right.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from math import comb
from types import MappingProxyType

from symattn.errors import SymattnError
from symattn.exact import Value
from symattn.exact.reading import Reading
from symattn.foundation.identity import Same

MOST_PLACES = 400
"""Ways to choose rows and columns that are looked through; of more, those where they stand together."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One number as it was written.

    `reading` is how it was read, none where nothing was written (`text` is "") or where it cannot be read; `complaint`
    then says why, in one sentence, and `pointer` shows where in the text.  `value` is what it means, with a common
    factor outside the matrix multiplied in; none where the number is too large to be multiplied out, which can still be
    compared.  `unit` is what one more in the last decimal place means (0.01 for "0.25" and for "25 %"), none for an
    exact form; of one that `goes_on` (0.333…), the digits after it were cut off and not rounded.  `word` is a word
    that was written for its number.
    """

    text: str = ""
    reading: Reading | None = None
    value: Value | None = None
    unit: Fraction | None = None
    goes_on: bool = False
    complaint: str = ""
    word: str = ""
    pointer: str = field(default="", compare=False)

    @property
    def blank(self) -> bool:
        return not self.text and not self.complaint

    @property
    def readable(self) -> bool:
        return self.reading is not None

    @property
    def readings(self) -> tuple[Entry, ...]:
        """The entry in every way in which it may honestly be read, the likeliest first."""
        if self.reading is None or not self.reading.alternatives:
            return (self,)
        found = [replace(self, reading=replace(self.reading, alternatives=()))]
        for other in self.reading.alternatives:
            unit = None if other.places is None else Fraction(1, 10**other.places)
            with suppress(SymattnError):  # which has no value, and is nothing that was meant
                found.append(replace(self, reading=other, value=other.evaluate(), unit=unit))
        return tuple(found)

    @property
    def echo(self) -> str:
        """The entry as it was read, in a form that can be read in one way only; "" if it was not."""
        return self.reading.echo() if self.reading else ""


BLANK = Entry()


@dataclass(frozen=True, slots=True)
class Grid:
    """A matrix of entries, all rows of one length."""

    rows: tuple[tuple[Entry, ...], ...]

    @classmethod
    def blank(cls, rows: int, columns: int) -> Grid:
        return cls(((BLANK,) * columns,) * rows)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.rows), len(self.rows[0]) if self.rows else 0

    @property
    def T(self) -> Grid:  # noqa: N802  (the name that NumPy and SymPy give it)
        return Grid(tuple(zip(*self.rows, strict=True)))

    def __getitem__(self, place: tuple[int, int]) -> Entry:
        return self.rows[place[0]][place[1]]

    def get(self, i: int, j: int) -> Entry:
        """An entry; a blank one beside what was written."""
        return self[i, j] if i < self.shape[0] and j < self.shape[1] else BLANK

    def cells(self) -> Iterator[tuple[int, int, Entry]]:
        """Every entry with its place, from 0, row by row."""
        for i, row in enumerate(self.rows):
            for j, entry in enumerate(row):
                yield i, j, entry

    @property
    def empty(self) -> bool:
        """Whether nothing was written into it, not even what cannot be read."""
        return all(entry.blank for row in self.rows for entry in row)

    def fits_in(self, shape: tuple[int, int]) -> bool:
        """Whether no more rows and no more columns were written than that."""
        return self.shape[0] <= shape[0] and self.shape[1] <= shape[1]

    def laid_in(self, shape: tuple[int, int], stands_for: Callable[[Entry, int, int], bool]) -> Grid:
        """A larger grid with these rows and columns, in their order, and the rest blank: where most entries stand for
        what should be there, or first of all."""
        (rows, columns), (m, n) = self.shape, shape
        places: Iterable[tuple[Sequence[int], Sequence[int]]]
        places = product(combinations(range(m), rows), combinations(range(n), columns))
        if comb(m, rows) * comb(n, columns) > MOST_PLACES:
            spans = product(range(m - rows + 1), range(n - columns + 1))
            places = ((range(i, i + rows), range(j, j + columns)) for i, j in spans)
        stands = cache(lambda i, j, r, c: stands_for(self[i, j], r, c))

        def standing(at: tuple[Sequence[int], Sequence[int]]) -> int:
            return sum(stands(i, j, r, c) for i, r in enumerate(at[0]) for j, c in enumerate(at[1]))

        chosen, laid = max(places, key=standing), Grid.blank(m, n)
        for i, r in enumerate(chosen[0]):
            for j, c in enumerate(chosen[1]):
                laid = laid.put(r, c, self[i, j])
        return laid

    def put(self, i: int, j: int, entry: Entry) -> Grid:
        rows = [list(row) for row in self.rows]
        rows[i][j] = entry
        return replace(self, rows=tuple(map(tuple, rows)))


@dataclass(frozen=True, slots=True)
class Grids:
    """Several matrices by name: the student's own choice, where a property is asked for."""

    grids: Mapping[str, Grid]


@dataclass(frozen=True, slots=True)
class Ticked:
    """The options of a choice that were ticked, from 0."""

    options: frozenset[int]


@dataclass(frozen=True, slots=True)
class Shaded:
    """The cells of a grid that were shaded, from 0."""

    cells: frozenset[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Shaped:
    """A shape; none for "not defined"."""

    shape: tuple[int | str, int | str] | None


@dataclass(frozen=True, slots=True)
class Ordered:
    """Labels in their order; those in one group were said to be equal."""

    groups: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Text:
    """Words.  `points` are what a person gave for them, none as long as nobody has read them."""

    text: str
    points: int | None = None


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Something was written where another kind of answer was expected; `complaint` says so in one sentence."""

    text: str
    complaint: str


Said = Grid | Grids | Entry | Ticked | Shaded | Shaped | Ordered | Text | Unreadable


def cannot_be_read(said: Said) -> bool:
    """Whether a whole answer is something that cannot be read; of a matrix, entries may be."""
    return isinstance(said, Unreadable) or (isinstance(said, Entry) and bool(said.complaint))


@dataclass(frozen=True, slots=True)
class Remark:
    """Something about the file that whoever marks should know: where, and one sentence.

    `pointer` shows a text that could not be read with a caret below the place, for terminals.  `loose`: it tells of an
    answer that belongs to no question, which nobody has marked.
    """

    where: str
    says: str
    pointer: str = field(default="", compare=False)
    loose: bool = False


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why an answer may have been read otherwise than it was meant, in one sentence; `remark` is what the file's
    remarks say of it, which is not so any more once the answer waits for a person.  `of_shape`: a matrix of this shape
    was not asked for, which is no doubt where a misconception leads to that very matrix.  `of_two`: it took the place
    of another answer, which may have been meant for a part that has none.  `of_blank`: there is no answer, but numbers
    that may be it, which matters where later lines would imply it.
    """

    says: str
    remark: str = ""
    of_shape: bool = False
    of_two: bool = False
    of_blank: bool = False


@dataclass(frozen=True)
class Attempt:
    """One student's answers to one question.

    `answers` are by the name of the part.  `more` are matrices that were written though nobody asked for them, by the
    name of the step (S' where only the weights are asked).  `methods` are the parts whose method a person ticked, and
    `worked` those beside whose answer there is working, which only a person can read.
    `remarks` say what in the file could not be used: an unreadable entry, a heading that belongs to no part, two values
    for one box.  `unread` are the parts that something was written to, or may have been, that is no answer as it was
    read: a person has to see whether it is one, or shows the method of one.  `shapes` are those that were stated of the
    matrices that parts ask for, as "Q is 3×4".  `doubts`, by the name of the part or the step, are answers that may
    have been read otherwise than they were meant: where they are not right as they were read, a person sees them first.
    """

    answers: Mapping[str, Said]
    more: Mapping[str, Grid] = field(default_factory=lambda: MappingProxyType({}))
    methods: frozenset[str] = frozenset()
    remarks: tuple[Remark, ...] = ()
    worked: frozenset[str] = frozenset()
    unread: frozenset[str] = frozenset()
    shapes: Mapping[str, tuple[int, int]] = field(default_factory=lambda: MappingProxyType({}))
    doubts: Mapping[str, Doubt] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def key(self) -> Hashable:
        """What an attempt is told from others by: entries as the objects that they are, since values have no hash, all
        else by what it is, in its order.
        """
        return (
            *(tuple((name, _key(said)) for name, said in given.items()) for given in (self.answers, self.more)),
            *(tuple(given.items()) for given in (self.shapes, self.doubts)),
            *(self.methods, self.worked, self.unread, self.remarks),
            *(remark.pointer for remark in self.remarks),
        )


def _key(said: Said) -> Hashable:
    match said:
        case Entry():
            return Same(said)
        case Grid(rows):
            return tuple(tuple(map(Same, row)) for row in rows)
        case Grids(grids):
            return tuple((name, _key(grid)) for name, grid in grids.items())
    return said


@dataclass(frozen=True)
class Submission:
    """One file that was handed in: whose it is, which sheet it answers, and an attempt at every question of it.

    `sheet` is the short identity printed on the paper, "" where the file has none.
    """

    source: str
    attempts: tuple[Attempt, ...]
    sheet: str = ""
    name: str = ""
    student: str = ""
    remarks: tuple[Remark, ...] = ()
