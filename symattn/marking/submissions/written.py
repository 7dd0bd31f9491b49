"""What was written to one question, collected part by part from any file, and then read as answers.

Two passes, because the decimal mark is a matter of the whole file: first the texts are gathered under the parts they
belong to, then all of them are read as numbers, shapes, orders and so on, each as its part asks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain

from symattn.derivation.derivation import StepName
from symattn.derivation.ops.attention import Mask
from symattn.errors import ReadError, SymattnError
from symattn.exact import Matrix, decide, has_symbols, values_of
from symattn.exact.reading import Reading, read
from symattn.foundation.languages import message
from symattn.marking.attempt import (
    BLANK,
    Attempt,
    Doubt,
    Entry,
    Grid,
    Grids,
    Remark,
    Said,
    Text,
    Unreadable,
    cannot_be_read,
)
from symattn.marking.submissions.answers import (
    HIDDEN,
    LINES,
    MATRICES,
    Raw,
    RawText,
    Several,
    grids_of,
    one_text,
    reader_of,
    shaded,
    shape_of,
)
from symattn.marking.submissions.entries import (
    AUTO,
    Noticed,
    Shape,
    grid_of,
    is_blank,
    is_crossed,
    noticed,
    quoted,
    shape_alone,
    undecorated,
    visible,
    without_idle_braces,
)
from symattn.marking.submissions.names import Names, names_of, normal, place_in
from symattn.marking.submissions.tables import LARGEST, Cells, read_matrix
from symattn.page.writers.characters import on_one_line
from symattn.teaching.question import (
    CellsAnswer,
    EntriesAnswer,
    FormulaAnswer,
    MatrixAnswer,
    Part,
    PropertyAnswer,
    Question,
    RubricAnswer,
    StepAnswer,
    WordAnswer,
)

LONGEST_TOLD = 80
"""Characters of what could not be read that are told."""


@dataclass
class Written:
    """Everything written to one question, by part, and by step where nobody asked for it."""

    question: Question
    names: Names = field(init=False)
    parts: dict[str, Raw] = field(default_factory=dict)
    more: dict[str, Raw] = field(default_factory=dict)
    methods: list[str] = field(default_factory=list)
    worked: set[str] = field(default_factory=set)
    points: dict[str, int] = field(default_factory=dict)
    shapes: dict[str, Shape] = field(default_factory=dict)
    """Those that were stated of the matrices that parts ask for."""
    remarks: list[Remark] = field(default_factory=list)
    unread: set[str] = field(default_factory=set)
    """The parts that something was written to that was not read; "" where it may belong to any."""
    numbers_of: set[str] = field(default_factory=set)
    """Of these, those to which numbers were written that nothing else is called by."""
    called_otherwise: set[Shape] = field(default_factory=set)
    """The shapes of matrices by names that nobody knows."""
    entered: bool = False
    """Whether a person who saw the paper entered the answers: none of them is in doubt then."""
    doubts: dict[str, Doubt] = field(default_factory=dict)
    """The answers, by part or step, that may be meant otherwise than they were read; the first reason counts."""
    _by_letter: dict[str, tuple[str, Raw]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.names = names_of(self.question)

    def part(self, name: str) -> Part:
        return next(part for part in self.question.parts if part.name == name)

    def shape(self, name: str) -> Shape:
        """The shape that a part or a step should have; (0, 0) if that is not known."""
        if name in self.names.parts:
            return shape_of(self.part(name))
        problem = self.question.problem
        if problem and (pieces := self.names.pieces(name)):
            high, wide = self.shape(pieces[0])
            if problem[pieces[0]].token is None:  # heads
                return high * len(pieces), wide
            size = len(pieces), max(high, wide)
            return size if problem.derivation.orientation == "rows" else size[::-1]
        value = problem.derivation.value(name) if problem and name else None
        return value.shape if isinstance(value, Matrix) else (0, 0)

    def put(self, name: str, raw: Raw, where: str) -> bool:
        """Under the part or the step that is called so; false where there is no such thing.

        A whole matrix for a step that is asked token by token is taken apart, a row (or a column) for each token, and
        the matrices of all heads that stand in one array.
        """
        pieces = dict(self._in_pieces(name, raw))
        for piece, own in pieces.items():
            self.put(piece, own, where)
        if pieces:
            return True
        target = self.names.find(name)
        if not target:
            return self._put_at(name, raw, where)
        if raw.blank:
            return True
        target = self._part_or_sign(name, target, raw)
        texts = list(filter(None, raw.texts()))
        if len(texts) == 1 and self.has_shape(target) and (shape := shape_alone(texts[0])):
            self.put_shape(target, shape)
            return True
        into = self.parts if target in self.names.parts else self.more
        before = into.get(target, raw)
        differs = before != raw
        if isinstance(before, Several) and isinstance(raw, Several):
            differs = any(before.matrices.get(name, matrix) != matrix for name, matrix in raw.matrices.items())
            raw = Several({**before.matrices, **raw.matrices})
        if differs:
            self.answered_twice(target, where)
            matrices = (one for one in (before, raw) if isinstance(one, Cells))  # of another step, by their shape
            self.called_otherwise.update(one.shape for one in matrices if one.shape != self.shape(target))
        into[target] = raw
        return True

    def has_shape(self, part: str) -> bool:
        """Whether a part asks for a matrix, and not for one entry alone."""
        asks = part in self.names.parts and isinstance(self.part(part).answer, MATRICES)
        return asks and shape_of(self.part(part)) not in ((0, 0), (1, 1))

    def put_shape(self, part: str, shape: Shape) -> None:
        """The shape that was stated of a matrix."""
        if self.has_shape(part):
            self.shapes[part] = shape

    def _put_at(self, name: str, raw: Raw, where: str) -> bool:
        """z1, z_2, Z[3], S_12: a row or an entry of a matrix under a name of its own; the others stay as they are."""
        called, place = place_in(name.strip(" $")) or ("", ())
        target = self.names.sign(called) if called else ""
        if target in self.names.parts and not isinstance(self.part(target).answer, (*LINES, MatrixAnswer)):
            return False
        high, wide = self.shape(target)
        if not place or high == len(place) == 1:
            return False
        i, j, most = (place[0] - 1, place[1] - 1, 1) if len(place) == 2 else (place[0] - 1, 0, wide)
        into = self.parts if target in self.names.parts else self.more
        cells = _cells(raw.text, (1, most)) if isinstance(raw, RawText) else raw
        before = into.get(target, Cells(((),) * high))
        if not (isinstance(cells, Cells) and isinstance(before, Cells)) or cells.factor or before.factor:
            return False
        rows, row = [list(old) + [""] * (wide - len(old)) for old in before.rows], cells.rows[0]
        if len(cells.rows) > 1 or len(row) > most or len(rows) != high or not (0 <= i < high and 0 <= j < wide):
            return False
        if any(not is_blank(old) and old != new for old, new in zip(rows[i][j:], row, strict=False)):
            self.answered_twice(target, where)
        rows[i][j : j + len(row)] = row
        into[target] = Cells(tuple(map(tuple, rows)))
        return True

    def _part_or_sign(self, name: str, target: str, raw: Raw) -> str:
        """What a small letter means: `a` is part (a), and the weights A where (a) is answered otherwise as well."""
        sign = self._sign_instead(name, target)
        if sign and target in self.parts and sign not in self.parts:
            return sign
        if target in self._by_letter:
            letter, before = self._by_letter.pop(target)
            sign = self._sign_instead(letter, target) if letter != name else ""
            if sign and sign not in self.parts:
                self.parts[sign] = before
                del self.parts[target]
        elif sign:
            self._by_letter[target] = name, raw
        return target

    def _sign_instead(self, name: str, target: str) -> str:
        """The other part that a small letter may mean, by its sign."""
        sign = self.names.sign(name) if len(name) == 1 and name.islower() and name not in self.names.parts else ""
        return sign if sign != target else ""

    def _in_pieces(self, name: str, raw: Raw) -> Iterator[tuple[str, Cells]]:
        """Every head with its matrix, and the line of every token with its part of a whole matrix, in a row or a column
        as it stands on the sheet.
        """
        lines, problem = self.names.pieces(name), self.question.problem
        if problem is None or not isinstance(raw, Cells) or len({len(row) for row in raw.rows}) != 1:
            return
        target = self.names.find(name)
        heads = self.names.heads_called(name) if not target or raw.shape != self.shape(target) else ()
        high = len(raw.rows) // max(1, len(heads))
        shapes_of_heads = {problem[head].result.shape for head in heads}
        if shapes_of_heads == {(high, len(raw.rows[0]))} and high * len(heads) == len(raw.rows):
            for k, head in enumerate(heads):
                yield head, Cells(raw.rows[k * high : (k + 1) * high], raw.factor)
            return
        rows = raw.rows if problem.derivation.orientation == "rows" else tuple(zip(*raw.rows, strict=True))
        shapes = [problem[line].result.shape for line in lines]
        if len(rows) == len(lines) and all(shape in ((1, len(rows[0])), (len(rows[0]), 1)) for shape in shapes):
            for line, row, shape in zip(lines, rows, shapes, strict=True):
                yield line, Cells((row,) if shape[0] == 1 else tuple((x,) for x in row), raw.factor)

    def _put_together(self) -> None:
        """A matrix that is asked for besides its rows, one for each token, and has no answer: these rows."""
        for name, pieces in self.names.all_pieces.items():
            lines = [line for line in map(self.parts.get, pieces) if isinstance(line, Cells) and not line.factor]
            is_asked = name in self.names.parts and name not in self.parts and StepName.of(pieces[0]).token is not None
            if is_asked and len(lines) == len(pieces) and len({len([*line.texts()]) for line in lines}) == 1:
                whole = Cells(tuple(tuple(chain.from_iterable(line.rows)) for line in lines))
                self.parts[name] = whole.transposed() if self.shape(pieces[0])[1] == 1 else whole

    def remark(self, where: str, says: str, pointer: str = "") -> None:
        self.remarks.append(Remark(where, says, pointer))

    def answered_twice(self, target: str, where: str) -> None:
        """Told: the last answer counts if it is right; otherwise a person says which of them does."""
        says = message("{part} was answered twice; the last answer counts.", part=self.names.shown(target))
        self.remark(where, says)
        doubt = message("It was answered twice, in different ways; a person has to look at it.")
        self.doubts.setdefault(target, Doubt(doubt, says, of_two=True))

    def doubt(self, target: str, says: str, remark: str = "") -> None:
        """A part or a step may be meant otherwise than it was read."""
        self.doubts.setdefault(target, Doubt(says, remark))

    def not_read(self, where: str, text: str, part: str) -> None:
        """Told: what was written to a part, to any if it is "", and is no answer."""
        told = quoted(text, LONGEST_TOLD)
        says = message("This could not be read as an answer: {text}", text=told)
        if text.count("[") > text.count("]") and not text.endswith("..."):
            says = message(
                "This could not be read as an answer, since a bracket is not closed in it: {text}", text=told
            )
        self.remark(where, says)
        within = map(self.names.place, _PLACES_WITHIN.findall(text) if part else ())
        self.unread |= {part, *filter(None, within)}
        self.doubt_beside(text, part)

    def doubt_beside(self, text: str, part: str) -> None:
        """What was not read may belong to the answer beside it: numbers, or a row of a matrix that lacks some."""
        in_numbers = part in self.more or self._in_numbers(part)
        if in_numbers and (any(map(str.isdigit, text)) or self._lacks_rows(part)):
            self.doubt(part, message("What stands beside it was not used; a person has to look at it."))

    def _lacks_rows(self, part: str) -> bool:
        raw = self.parts.get(part)
        return isinstance(raw, Cells) and len(raw.rows) < shape_of(self.part(part))[0]

    def _in_numbers(self, part: str) -> bool:
        return part in self.names.parts and isinstance(self.part(part).answer, (*MATRICES, FormulaAnswer))

    def numbers(self) -> Iterator[str]:
        """Every text that should hold a number: what the decimal mark is seen from."""
        for part in self.question.parts:
            raw = self.parts.get(part.name)
            if isinstance(raw, RawText) and isinstance(part.answer, MATRICES):
                yield from _cells(raw.text, shape_of(part)).texts()
            elif raw is not None and isinstance(part.answer, (*MATRICES, FormulaAnswer)):
                yield from raw.texts()
        for raw in self.more.values():
            yield from _cells(raw.text, (0, 0)).texts() if isinstance(raw, RawText) else raw.texts()

    # -------------------------------------------------------------------------------- as answers

    def attempt(self, decimal_mark: str) -> Attempt:
        """All of it read; whatever cannot be read is said in a remark."""
        self._put_together()
        reader = _Reader(self, decimal_mark)
        answers = {
            part.name: said
            for part in self.question.parts
            if part.name in self.parts and (said := reader.said(part, self.parts[part.name])) is not None
        }
        more = {}
        for step, raw in self.more.items():
            grid = reader.grid(step, raw, (0, 0))
            if isinstance(grid, Grid) and step in self.names.given.values():
                if reader.is_another(step, grid):
                    self.not_read(step, " ".join(filter(None, raw.texts())), "")
            elif isinstance(grid, Grid):
                more[step] = grid
        open_parts = {part.name for part in self.question.parts if _may_lack(part, answers.get(part.name))}
        unread = (self.unread - {""}) | (open_parts if "" in self.unread else set())
        unreadable = {name for name, said in answers.items() if cannot_be_read(said)}
        unread |= unreadable
        for name, said in (*answers.items(), *more.items()):
            self._doubt_shape(name, said)
        for name in (open_parts - answers.keys()) | unreadable:
            shape = self.shape(name)
            is_of_another = not self.called_otherwise.isdisjoint((shape, shape[::-1]))
            may_be_written = name in unreadable or is_of_another or not self.numbers_of.isdisjoint(("", name))
            if self._in_numbers(name) and may_be_written:
                says = message("Numbers that may be its answer could not be read; a person has to look at them.")
                self.doubts.setdefault(name, Doubt(says, of_blank=True))
        return Attempt(
            answers,
            more,
            frozenset(self.methods),
            tuple(self.remarks),
            frozenset(self.worked),
            frozenset(unread),
            shapes=self.shapes,
            doubts={} if self.entered else self.doubts,
        )

    def _doubt_shape(self, name: str, said: Said) -> None:
        """A matrix of another shape than was asked for may be one of which labels or lines were read wrongly."""
        problem = self.question.problem
        asked = shape_of(self.part(name)) if name in self.names.parts else problem and problem[name].result.shape
        if isinstance(said, Grid) and asked and asked != (0, 0) and said.shape != asked:
            says = message(
                "As it was read, the matrix is {shape}, where {expected} was asked for; a person has to look at it.",
                shape=f"{said.shape[0]}×{said.shape[1]}", expected=f"{asked[0]}×{asked[1]}",
            )  # fmt: skip
            self.doubts.setdefault(name, Doubt(says, of_shape=True))


_PLACES_WITHIN = re.compile(r"(?<!\w)[(\[]?(?:\d{1,2}\s?)?\(?([a-z])\s?[)\]:=/.–-]")
"""The letters of further parts in what is said of one: a) B; b) D."""


def _may_lack(part: Part, said: Said | None) -> bool:
    """Whether a part has no answer, or a matrix with fewer rows or columns than it should have."""
    short = isinstance(said, Grid) and any(map(int.__lt__, said.shape, shape_of(part)))
    return said is None or short


@dataclass
class Paper:
    """A file taken apart: whose it is, which sheet it answers, and what was written to every question."""

    written: list[Written]
    sheet: str = ""
    name: str = ""
    student: str = ""
    remarks: list[Remark] = field(default_factory=list)

    @classmethod
    def of(cls, questions: Iterable[Question], sheet: str = "", name: str = "", student: str = "") -> Paper:
        return cls([Written(question) for question in questions], sheet, name, student)

    def not_read(self, where: str, says: str, *, loose: bool = False) -> None:
        """Told: something that may be an answer to any question; `loose`, it is one that belongs to none."""
        self.remarks.append(Remark(where, says, loose=loose))
        for written in self.written:
            written.unread.add("")

    @property
    def empty(self) -> bool:
        """Whether nothing in it belongs to the sheet."""
        return not any(
            one.parts or one.more.keys() - set(one.names.given.values()) or one.methods or one.shapes
            for one in self.written
        )

    @property
    def names_parts(self) -> bool:
        """Whether something in it was written to a part and could not be read."""
        return any(one.unread - {""} for one in self.written)

    @property
    def left(self) -> int:
        """How much of it nobody can be sure of."""
        return sum(len(written.unread) + len(written.doubts) for written in self.written)


def decimal_mark_of(texts: Iterable[str]) -> str:
    """ "." or ",", whichever stands in the decimals; "auto" where both do.

    >>> decimal_mark_of(["0,5", "1"]), decimal_mark_of(["0,5", "１．５"])
    (',', 'auto')
    """
    marks = {found[0] for text in texts for found in _DECIMAL.findall(visible(without_idle_braces(text)))}
    return marks.pop() if len(marks) == 1 else AUTO if marks else "."


_DECIMAL = re.compile(r"(?<![\d.,])(?:\d{0,200})([.,])\d{1,200}(?![\d.,])")


def _is_counted(part: Part) -> bool:
    """Whether numbers of things are asked for, in a column; nobody expects a unit in a matrix."""
    return isinstance(part.answer, MatrixAnswer) and part.answer.derivation is None and shape_of(part)[1] == 1


class _Reader:
    """Texts read as a part asks, with one decimal mark."""

    def __init__(self, written: Written, mark: str) -> None:
        self.written, self.mark = written, mark
        problem = written.question.problem
        givens = problem.givens.values() if problem else ()
        self.symbols = any(has_symbols(x) for matrix in givens if isinstance(matrix, Matrix) for x in matrix)

    def said(self, part: Part, raw: Raw) -> Said | None:
        """What a part was answered; none for nothing."""
        match part.answer:
            case StepAnswer() | MatrixAnswer():
                crossed = self.is_masked(part.answer)
                return self.grid(part.name, raw, shape_of(part), counted=_is_counted(part), crossed=crossed)
            case EntriesAnswer():
                grid = self.grid(part.name, raw, shape_of(part))
                return self.without_printed(part, grid) if isinstance(grid, Grid) else grid
            case PropertyAnswer(model=model):
                return self.grids(part, raw, model)
            case FormulaAnswer():
                text = one_text(raw)
                found = self.entry(part.name, _in_case(text), symbols=True)
                return None if found.blank else replace(found, text=text.strip())
            case CellsAnswer(shape=size):
                return self.checked(part, shaded(raw, size))
            case WordAnswer():
                said = visible(undecorated(one_text(raw)))
                return Text(self.written.names.step_in_words(said) or said)
            case RubricAnswer():
                return Text(one_text(raw).strip(), self.written.points.get(part.name))
        read = reader_of(part)
        return self.checked(part, read(one_text(raw))) if read else None

    def checked(self, part: Part, said: Said) -> Said:
        if isinstance(said, Unreadable):
            self.written.remark(part.name, said.complaint)
        return said

    def entry(
        self,
        where: str,
        text: str,
        *,
        symbols: bool = False,
        factor: Reading | None = None,
        counted: bool = True,
    ) -> Entry:
        found: Noticed = noticed(text, self.mark, symbols=symbols, factor=factor, counted=counted)
        if found.entry.complaint:
            self.written.remark(where, found.entry.complaint, found.entry.pointer)
        if found.remark:
            self.written.remark(where, found.remark)
        if found.twofold:
            says = message("There are two values in one box; a person has to look at them.")
            self.written.doubt(where.partition("[")[0], says, found.remark)
        return found.entry

    def is_masked(self, answer: StepAnswer | MatrixAnswer) -> bool:
        """Whether a step is asked for that hides entries, so that a cross means −∞."""
        problem = self.written.question.problem
        return isinstance(answer, StepAnswer) and problem is not None and isinstance(problem[answer.step].op, Mask)

    def grid(
        self, where: str, raw: Raw, size: Shape, *, counted: bool = False, crossed: bool = False
    ) -> Grid | Unreadable | None:
        """A matrix of numbers, None if nothing was written; a shape other than `size` is kept."""
        if isinstance(raw, Several):
            raw = next(iter(raw.matrices.values()))
        cells = raw if isinstance(raw, Cells) else _cells(raw.text, size)
        text = " ".join(cells.texts()).strip() if isinstance(raw, Cells) else raw.text
        if len(cells.rows) > LARGEST or max(map(len, cells.rows), default=0) > LARGEST:
            most = message("a matrix of at most {shape} entries", shape=f"{LARGEST}×{LARGEST}")
            return self.unreadable(where, text, most)
        try:
            factor = read(undecorated(cells.factor), "," if self.mark == "," else ".") if cells.factor else None
        except ReadError as error:
            expected = message("a number as the common factor in front ({factor})", factor=cells.factor)
            return self.unreadable(where, text, expected, error.pointer)
        before = len(self.written.remarks)
        rows = [
            [
                replace(HIDDEN, text=cell.strip())
                if crossed and is_crossed(cell)
                else self.entry(f"{where}[{i},{j}]", cell, symbols=self.symbols, factor=factor, counted=counted)
                for j, cell in enumerate(row, 1)
            ]
            for i, row in enumerate(cells.rows, 1)
        ]
        grid = grid_of(_trimmed(rows, size))
        if grid.empty:
            return None
        if isinstance(raw, RawText) and grid.shape == (1, 1) != size and not grid[0, 0].readable:
            del self.written.remarks[before:]  # it is no matrix at all
            return self.unreadable(where, text, message("a matrix"))
        return grid

    def unreadable(self, where: str, text: str, expected: str, pointer: str = "") -> Unreadable:
        says = message("Found {text}, where {expected} was expected.", text=quoted(text), expected=expected)
        said = Unreadable(text, says)
        self.written.remark(where, said.complaint, pointer)
        return said

    def without_printed(self, part: Part, grid: Grid) -> Grid | None:
        """Only the entries that were asked for; where others were printed and have been changed, that is said."""
        assert isinstance(part.answer, EntriesAnswer)
        if grid.shape != shape_of(part):
            return grid
        printed = {place for place, name in grids_of(part)[0].filled if any(c.isdigit() for c in on_one_line(name))}
        rows = [list(row) for row in grid.rows]
        for i, j, entry in grid.cells():
            if (i, j) in part.answer.cells:
                continue
            rows[i][j] = BLANK
            if (i, j) in printed and entry.value is not None and self.differs(part.answer.step, i, j, entry):
                says = message(
                    "{text} was written where a number is printed; the printed number counts.",
                    text=quoted(entry.text),
                )
                self.written.remark(f"{part.name}[{i + 1},{j + 1}]", says)
        own = Grid(tuple(map(tuple, rows)))
        return None if own.empty else own

    def differs(self, step: str, i: int, j: int, entry: Entry) -> bool:
        problem = self.written.question.problem
        matrix = problem.derivation.value(step) if problem else None
        if not isinstance(matrix, Matrix) or entry.value is None or entry.unit is not None:
            return False
        try:
            return decide(entry.value, matrix[i, j]).equal is False
        except SymattnError:
            return False

    def is_another(self, given: str, grid: Grid) -> bool:
        """Whether a matrix has the sign of a given one, and is no copy of it, nor of some of its entries."""
        problem = self.written.question.problem
        fits = problem is not None and grid.fits_in(values_of(problem.derivation.value(given)).shape)
        return not fits or any(self.differs(given, i, j, entry) for i, j, entry in grid.cells())

    def grids(self, part: Part, raw: Raw, model: Mapping[str, Matrix]) -> Said | None:
        """The student's own matrices by the names that the part has for them."""
        if not isinstance(raw, Several):
            raw = Several({next(iter(model)): raw})
        found: dict[str, Grid] = {}
        for name, matrix in raw.matrices.items():
            called = next((known for known in model if normal(known) == normal(name)), "")
            said = self.grid(part.name, matrix, model[called].shape) if called else None
            if isinstance(said, Unreadable):
                return said
            if said:
                found[called] = said
        return Grids(found) if found else None


def _cells(text: str, size: Shape) -> Cells:
    return read_matrix(text, size) or Cells(((text,),))


def _trimmed(rows: list[list[Entry]], size: Shape) -> list[list[Entry]]:
    """Without empty rows below and empty columns beside the shape that was asked for."""
    while len(rows) > max(1, size[0]) and all(entry.blank for entry in rows[-1]):
        rows = rows[:-1]
    wide = max((j for row in rows for j, entry in enumerate(row, 1) if not entry.blank), default=0)
    return [row[: max(1, wide, size[1])] for row in rows]


def _in_case(text: str) -> str:
    """A formula with sizes in small letters, as sheets have them, where a phone has made capitals: 3D² is 3d²."""
    return _FEW_LETTERS.sub(lambda found: "".join(c.lower() if c in _SIZES else c for c in found[0]), text)


_SIZES = "DHKMN"
_FEW_LETTERS = re.compile(r"(?<![A-Za-z\\])[A-Za-z]{1,3}(?![a-z])")
