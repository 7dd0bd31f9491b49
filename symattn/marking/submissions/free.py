"""Answers in text that follows no sheet: matrices and numbers under, behind or beside their names.

    S = [[1, 2], [3, 4]]        ## Scores        (a) 1 2 / 3 4        The scores are 1, 2 and 3, 4.
                                1 2
    S_12 = 2                    3 4              Step 1: S =  1 2
                                                              3 4

Whatever is not used is given back, so that somebody can be told.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache
from itertools import accumulate, chain, groupby, islice, pairwise, permutations, takewhile
from typing import Literal

from symattn.foundation.languages import languages, message
from symattn.marking.submissions import labels, stated
from symattn.marking.submissions.blocks import MarkdownBlock, unescaped
from symattn.marking.submissions.blocks import cells as cells_of_line
from symattn.marking.submissions.entries import is_number, kind_of, undecorated
from symattn.marking.submissions.latex import UnreadFormula, latex_formulas
from symattn.marking.submissions.matrices import GAPS, LARGEST, Rows, holds_two, in_round, read_matrix, without_kind
from symattn.marking.submissions.names import LONGEST_SIGN, normal, transposed
from symattn.marking.submissions.stated import Shape
from symattn.marking.submissions.tables import entries_of, labelled_cells
from symattn.marking.submissions.written import (
    ROW_OF,
    Cells,
    Raw,
    RawText,
    Several,
    Written,
    answer_in,
    is_crossed,
    is_line,
    shape_of,
)
from symattn.page.document import Heading, Inlines
from symattn.page.translation import blocks_in_language
from symattn.page.writers import text as plain
from symattn.teaching.question import (
    CellsAnswer,
    ChoiceAnswer,
    EntriesAnswer,
    MatrixAnswer,
    OrderAnswer,
    Part,
    PropertyAnswer,
    RubricAnswer,
    ShapeAnswer,
    StepAnswer,
    WordAnswer,
    total,
)


@dataclass(frozen=True, slots=True)
class Piece:
    """A line of the text, a table, or a formula, with its lines from `start` (from 0) to `end`.

    `row` is the number that a line of numbers has before it, as in "Row 2: 3, 4"; 0 if it has none.  `placed`: it is
    all that is said of the part whose number or letter it begins with.
    """

    start: int
    end: int
    text: str
    rows: Rows = ()
    row: int = 0
    placed: bool = False

    @property
    def blank(self) -> bool:
        return not self.text.strip(_NO_WORDS + ".")


_NO_WORDS = " \t\u00a0*_`~#>-=|$═━─"


@dataclass
class Places:
    """A text in which answers stand behind the numbers or the letters of their parts, as on the sheet: 3) B.

    The first of them says how parts are called; what else is numbered or has letters is the options of a choice, or an
    order in lines.
    """

    written: Written
    pieces: Sequence[Piece]

    def joined(self) -> list[Piece]:
        """Every answer that is no matrix in one piece, with its number before it and without the sheet's heading."""
        self.pieces = self._in_lines()
        found: list[Piece] = []
        style, last, at = "", -1, 0
        while at < len(self.pieces):
            piece = self.pieces[at]
            at += 1
            marker = self._marker(piece)
            place = self.written.names.place(marker["place"]) if marker else ""
            number = self.written.names.parts.index(place) if place else -1
            if marker is None or number <= last or (style and _style(marker) != style):
                found.append(piece)
                continue
            style, last = style or _style(marker), number
            part = self.written.question.parts[number]
            rest = self._without_title(part, piece.text[marker.end() :].strip())
            lines = [piece]
            if not rest and not isinstance(part.answer, _MATRICES):
                below = next((k for k in range(at, len(self.pieces)) if not self.pieces[k].blank), at)
                if below < len(self.pieces) and not self._begins(self.pieces[below], style, last):
                    lines.append(self.pieces[below])
                    rest, at = self.pieces[below].text.strip(), below + 1
            goes_on = _OPTION if isinstance(part.answer, ChoiceAnswer) else _LABEL
            if isinstance(part.answer, ChoiceAnswer | OrderAnswer) and goes_on.match(rest):
                items = [rest]
                for line in self.pieces[at:]:
                    if not line.blank and (not goes_on.match(line.text) or self._begins(line, style, last)):
                        break
                    lines.append(line)
                    items += [] if line.blank else [line.text]
                    at += 1
                rest = "\n".join(items)
            if rest == piece.text[marker.end() :].strip() and _MARKED.match(piece.text):
                found.append(replace(piece, placed=True))
            else:
                before = f"({marker['place']})" if marker["place"].isalpha() else f"{marker['place']})"
                found.append(replace(piece, end=lines[-1].end, text=f"{before} {rest}", placed=True))
        return found

    def _in_lines(self) -> list[Piece]:
        """Answers that stand one behind the other, in a table, or without their numbers, each behind its own: 1a 2b."""
        whole = self._without_numbers()
        if whole is not None:
            return whole
        found: list[Piece] = []
        for lettered, run in groupby(self.pieces, lambda piece: not piece.rows and self._lettered(piece.text) != []):
            lines = [*run]
            below = self._in_turn([one for line in lines for one in self._lettered(line.text)]) if lettered else []
            if below and len(below) == len(lines):
                found += [
                    replace(line, text=f"{place}) {said}") for line, (place, said) in zip(lines, below, strict=True)
                ]
                continue
            for piece in lines:
                answers = self._answers_of_table(piece.rows) if piece.rows else self._answers_of_line(piece.text)
                found += [replace(piece, rows=(), text=f"{place}) {said}") for place, said in answers] or [piece]
        return found

    def _lettered(self, line: str) -> list[tuple[str, str]]:
        """1a 2b 3d: the numbers of parts and the letters of options that a line consists of; none of any other line."""
        found = [(one["place"], one["option"]) for one in _LETTERED.finditer(line)]
        return found if not _LETTERED.sub("", line).strip(" ,;.|") else []

    def _answers_of_line(self, line: str) -> list[tuple[str, str]]:
        """1) A 2) 3×4 3) C < A: the numbers or letters of parts that follow each other, and the answers to them."""
        if short := self._in_turn(self._lettered(line), ChoiceAnswer):
            return short
        places: list[re.Match[str]] = []
        for found in _NEXT_PLACE.finditer(line):
            if not places or self._follows(places[-1]["place"], found["place"]):
                places.append(found)
        ends = [one.start() for one in places[1:]] + [len(line)]
        said = [(one["place"], line[one.end() : end].strip(" ,;")) for one, end in zip(places, ends, strict=False)]
        before = line[: places[0].start()].strip() if places else ""
        return self._in_turn(said) if not before or before.endswith(":") else []

    def _follows(self, before: str, place: str) -> bool:
        """Whether a number or a letter is that of the next part."""
        parts, names = self.written.names.parts, self.written.names
        first, second = names.place(before), names.place(place)
        alike = before.isdigit() == place.isdigit()
        return alike and bool(first and second) and parts.index(second) == parts.index(first) + 1

    def _answers_of_table(self, rows: Rows) -> list[tuple[str, str]]:
        """A table with the numbers of the parts beside or above the answers."""
        table = [tuple(row) for row in rows if any(row)]
        for way in (table, table[1:], [*zip(*table, strict=False)]):
            if all(len(row) == 2 for row in way) and (found := self._in_turn([(row[0], row[1]) for row in way])):
                return found
        return []

    def _in_turn(self, said: list[tuple[str, str]], kind: type = object) -> list[tuple[str, str]]:
        """The same, if it answers parts of the kind that follow each other and ask for no matrix; else nothing."""
        parts, names = self.written.question.parts, self.written.names
        called = [(place.strip("()*. :"), text) for place, text in said]
        places = [names.parts.index(name) for place, _ in called if (name := names.place(place))]
        if len(places) < max(2, len(said)) or places != [*range(places[0], places[0] + len(places))]:
            return []
        meant = [parts[k].answer for k in places]
        fits = all(isinstance(one, kind) and not isinstance(one, _MATRICES) for one in meant)
        return called if fits and all(text for _, text in called) else []

    def _without_numbers(self) -> list[Piece] | None:
        """Answers alone, as many as there are parts of their kind, each of which it answers: DDABD, 8×3; 7×3."""
        lines = [piece for piece in self.pieces if not piece.blank and not is_surely_title(piece.text)]
        ways = [[line.text.strip() for line in lines]]
        if len(lines) == 1:
            ways += [[*map(str.strip, re.split(gap, lines[0].text.strip(" .")))] for gap in _BETWEEN_ANSWERS]
        for first, parts in self._alike():
            for items in ways:
                fits = len(items) == len(parts) and all(map(_answers, parts, items))
                if fits:
                    pieces = lines if len(lines) > 1 else lines * len(items)
                    numbered = enumerate(zip(pieces, items, strict=True), first)
                    return [replace(piece, rows=(), text=f"{k}) {item}") for k, (piece, item) in numbered]
        return None

    def _alike(self) -> Iterator[tuple[int, Sequence[Part]]]:
        """The number of the first of them, and all parts; and those of each kind that stand together."""
        parts = self.written.question.parts
        runs = [[*run] for _, run in groupby(parts, lambda part: type(part.answer))]
        starts = accumulate(map(len, runs), initial=1)
        for first, run in ((1, parts), *zip(starts, runs, strict=False)):
            kinds = Counter(type(part.answer) for part in parts)
            whole = run is parts or kinds[type(run[0].answer)] == len(run)
            if (
                whole
                and len(run) > 1
                and not any(isinstance(part.answer, (*_MATRICES, *_IN_ANY_WORDS)) for part in run)
            ):
                yield first, run

    def _marker(self, piece: Piece) -> re.Match[str] | None:
        """The number or the letter of a part at the beginning of a line; Q1 is one where no derivation has queries."""
        found = None if piece.rows else _PLACED.match(piece.text)
        return None if found and self._has_steps and _style(found).startswith(("q1", "q(")) else found

    @cached_property
    def _has_steps(self) -> bool:
        return any(map(is_line, self.written.question.parts))

    def _begins(self, piece: Piece, style: str, last: int) -> bool:
        """Whether a line begins the answer to a further part."""
        marker = self._marker(piece)
        place = self.written.names.place(marker["place"]) if marker and _style(marker) == style else ""
        return bool(place) and self.written.names.parts.index(place) > last

    def _without_title(self, part: Part, text: str) -> str:
        """What stands behind the heading of a part, in any language, and the marks that it is worth."""
        for title in () if is_line(part) else _titles(part.title):
            length = _length(text, title)
            behind = text[length:]
            if length and (found := _BEHIND_TITLE.match(behind)):
                return behind[found.end() :].strip()
        return text


def _answers(part: Part, text: str) -> bool:
    """Whether a text is an answer to a part, and nothing else."""
    return bool(text) and answer_in(part, text) == text


_BETWEEN_ANSWERS = (r"[;|]", ",", r"\s+", r"(?<=\w)(?=\w)")


def _style(marker: re.Match[str]) -> str:
    """How a marker is written, whatever its number is: 1) and 12) alike."""
    kind = "1" if marker["place"].isdigit() else "a"
    return re.sub(r"[\s*_#]", "", marker[0].replace(marker["place"], kind)).casefold()


@cache
def _titles(title: Inlines) -> tuple[str, ...]:
    """A heading in every language, by its letters and digits."""
    ways = [blocks_in_language((Heading(title, 1),), language) for language in languages()]
    return tuple(dict.fromkeys(_plain(plain.plain(block.content)) for [block] in ways if isinstance(block, Heading)))


def _plain(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKC", text).casefold() if c.isalnum())


def _length(text: str, title: str) -> int:
    """How much of a text says the same as a title; 0 if it does not begin with it."""
    for k in range(len(text) + 1):
        said = _plain(text[:k])
        if said == title:
            return k if said else 0
        if not title.startswith(said):
            return 0
    return 0


_PLACED = re.compile(
    r"\s*(?:#{1,6}\s+)?[*_]{0,2}(?:(?i:part|task|exercise|no\.?|question|aufgabe|frage|teil|q)\s*)?"
    r"\(?(?P<place>[a-z]|\d{1,2})[).:][.:]?[*_]{0,2}(?=\s|$)"
)
_LETTERED = re.compile(r"(?<!\w)\(?(?P<place>\d{1,2})\s?[).:=–-]{0,2}\s?(?P<option>[A-Za-z])(?!\w)[,;.|]?")
_NEXT_PLACE = re.compile(r"(?:^|(?<=[\s,;:]))\(?(?P<place>\d{1,2}|[a-z])(?:[).]|:(?=\s)|\s[:–-](?=\s))+\s*")
_BEHIND_TITLE = re.compile(r"[′'’)]*\s*(?:[\[(]\d{1,2}[^\])]{0,9}[\])])?\s*(?:[:.=–-]\s*|$)")
_OPTION = re.compile(
    r"\s*(?:[-*•+]\s+)?(?:\\?\[\s?[xX✓✔✗]?\s?\\?\]|\([\sxX✓]?\)|[☒☑☐□✓✔✗✘xX])?\s*\(?[A-Za-z](?:[).:]|\s|$)"
)
_LABEL = re.compile(r"\s*(?:[-*•+]\s+)?(?:\d{1,2}[.):])?\s*\(?[A-Za-z]\)?[.,;]?\s*$")


def pieces(blocks: Iterable[MarkdownBlock], lines: Sequence[str]) -> Iterator[Piece]:
    """Blocks taken apart: into their lines, unless one is a table or has an environment of LaTeX in it."""
    for block in blocks:
        yield Piece(block.start, block.start, "")
        if block.kind == "table":
            rows = tuple(tuple(map(unescaped, row)) for row in block.rows)
            yield Piece(block.start, block.end, block.text, rows)
        elif "\\begin{" in block.text or "\\begin {" in block.text:
            yield from _with_formulas(block, lines)
        else:
            bullets = _bulleted(lines[block.start : block.end])
            for number in range(block.start, block.end):
                line = "" if _is_fence(lines[number], block) else lines[number]
                line = _CROSSED_OUT.sub(_unless_entry, BULLET.sub("", line) if bullets else line)
                row = _as_row(_CURLY.sub(lambda found: found[0].translate(_SQUARE), line))
                numbered = ONE_ROW.match(line) if row != line else None
                yield Piece(number, number + 1, row, row=int(numbered[1]) if numbered else 0)


def _with_formulas(block: MarkdownBlock, lines: Sequence[str]) -> Iterator[Piece]:
    """A block with matrices in LaTeX, apart where a line outside them has the number of a part before it."""
    begins, depth = [block.start], 0
    for number in range(block.start, block.end):
        if number > block.start and not depth and (_PLACED.match(lines[number]) or _PLACED.match(lines[number - 1])):
            begins.append(number)
        depth += lines[number].count("\\begin") - lines[number].count("\\end")
    for start, end in pairwise([*begins, block.end]):
        yield Piece(start, end, "\n".join(lines[start:end]).strip() if len(begins) > 1 else block.text)


def _is_fence(line: str, block: MarkdownBlock) -> bool:
    return block.kind == "code" and line.strip().startswith(("```", "~~~"))


@dataclass(frozen=True, slots=True)
class _Grid:
    """A matrix without a name, and the pieces that it stands in."""

    cells: Cells
    pieces: tuple[Piece, ...]

    @property
    def shape(self) -> Shape:
        return len(self.cells.rows), max(map(len, self.cells.rows))


@dataclass
class FreeText:
    """Pieces of text read as answers to one question.

    `where` says of a line how people find it.  `here` is the part under whose heading they stand, "" if there is none.
    Only parts that have no answer yet are answered, and with `beside`, nothing but what has the name of another part.
    """

    written: Written
    pieces: Sequence[Piece]
    where: Callable[[int], str]
    here: str = ""
    beside: bool = False
    used: set[Piece] = field(default_factory=set)
    _at: int = 0
    _target: str = ""
    _last: str = ""
    """The part that was answered last."""
    _heads: list[Piece] = field(default_factory=list)
    _section: tuple[Literal["head", "token"], int] | None = None
    """The head or the token that is spoken of."""
    _answered: dict[Piece, str] = field(default_factory=dict)
    """What was answered last in a line."""
    _old: frozenset[str] = frozenset()
    """What was answered in a way that was called wrong, or a first try."""
    _only_names: set[Piece] = field(default_factory=set)
    """Lines that name a part and say nothing of it."""
    _grids: list[_Grid] = field(default_factory=list)
    _entries: dict[str, dict[tuple[int, int], str]] = field(default_factory=dict)
    _strange: list[tuple[Piece, str, str, int]] = field(default_factory=list)
    """What stands behind a name and is no matrix: its piece, the text, the name, and the token that was spoken of."""

    def __post_init__(self) -> None:
        self._target = self.here
        if not self.beside and not self.here:
            self.pieces = Places(self.written, self.pieces).joined()
        elif (
            self.here
            and not self.beside
            and isinstance(self.written.part(self.here).answer, ChoiceAnswer | OrderAnswer)
        ):
            self.pieces = self._in_one()
        self._done = frozenset(self.written.parts)
        self._lettered = any(_SECOND_PART.match(piece.text) for piece in self.pieces)

    def _in_one(self) -> list[Piece]:
        """All that stands below the heading of a choice or an order is one answer, perhaps in several lines."""
        lines = [piece for piece in self.pieces if not piece.blank]
        if not lines:
            return []
        number = self.written.names.parts.index(self.here) + 1
        text = "\n".join(line.text for line in lines)
        return [Piece(lines[0].start, lines[-1].end, f"{number}) {text}", placed=True)]

    def unread(self) -> list[Piece]:
        """What is left when everything that can be read has been put under its part."""
        while self._at < len(self.pieces):
            piece = self.pieces[self._at]
            if piece.blank or not (self._labelled(piece) or self._below(piece)):
                self._at += 1
        for name, found in self._entries.items():
            asked = self.written.shape(name)
            high, wide = (max(asked[axis], *(place[axis] for place in found)) for axis in (0, 1))
            rows = [[found.get((i, j), "") for j in range(1, wide + 1)] for i in range(1, high + 1)]
            self._answer(name, Cells(tuple(map(tuple, rows))), ())
        if not self.beside:
            self._without_names()
        for piece, text, name, token in self._strange:
            answered = name in self.written.parts or name in self.written.more
            if piece in self.used and (token or not answered):  # used for something else
                self.written.not_read(self.where(piece.start), text.strip(" ,;."), name)
        done = self.used | self._only_names
        return [piece for piece in self.pieces if not piece.blank and piece not in done]

    def doubt_beside(self, unread: Sequence[Piece]) -> None:
        """What was not read may belong to the answer right above it, and to what it speaks of."""
        left, above = set(unread), ""
        for piece in self.pieces:
            if piece in left:
                words = (word.strip(_AROUND) for word in _words(piece.text))
                signs = {self.written.names.sign(word) for word in words if len(word) <= LONGEST_SIGN}
                for name in signs - {""} | ({above} if above else set()):
                    self.written.doubt_beside(piece.text, name)
            elif not piece.blank:
                above = self._answered.get(piece, "")

    def titles(self, unread: Sequence[Piece]) -> list[Piece]:
        """Of what is left: headings, and above all answers the lines that say whose work it is, of what and when."""
        left = set(unread)
        first = list(takewhile(left.__contains__, (piece for piece in self.pieces if not piece.blank)))
        above = list(
            takewhile(
                lambda piece: is_title(piece.text) and not self._speaks_of_parts(piece) and not self._answers(piece),
                first,
            )
        )
        headings = [piece for piece in unread if piece.text.lstrip().startswith("#") and is_title(piece.text)]
        return [*headings, *(above if self.used and not self.here else ())]

    def _answers(self, piece: Piece) -> bool:
        """Whether a line has the number of a part before it that is no line of a derivation: it is no title."""
        marker = _PLACED.match(piece.text) if piece.placed else None
        part = self._part(self.written.names.place(marker["place"])) if marker else None
        return part is not None and not is_line(part)

    def may_answer(self, piece: Piece) -> Iterator[str]:
        """The parts without an answer that words may be one to."""
        for part in self.written.question.parts:
            in_words = part.name not in self.written.parts and isinstance(part.answer, _IN_WORDS)
            if in_words and answer_in(part, piece.text):
                yield part.name

    def _speaks_of_parts(self, piece: Piece) -> bool:
        """Whether a line begins with the name of a part or a step, or has a sign of one in it."""
        words = (word.strip(".:!?") for word in _words(piece.text))
        short = (word for word in words if len(word) <= LONGEST_SIGN and not word.isdigit())
        return bool(self._label(_without_marker(piece.text))[0] or any(map(self.written.names.sign, short)))

    # -------------------------------------------------------------------------------- names

    def _labelled(self, piece: Piece) -> bool:
        """A name with what stands behind it; whether the piece has been dealt with."""
        if piece.rows:
            return self._named_table(piece)
        if self._labelled_rows() or self._named_rows(piece):
            return True
        columns = self.written.shape(self._target)[1]
        if columns and _count(piece.text, columns) == columns and not self._is_place(piece):
            return False  # 2 2 is what was to come, and not part 2
        if piece.text.strip().isdigit() and (piece.row or self._is_alone(piece) or self._goes_on(piece)):
            return False
        if "\\begin{" in piece.text or "\\begin {" in piece.text:
            return self._formula(piece)
        if piece.placed and self._numbered(piece, piece.text.strip()):
            return True
        text = self._in_section(piece, self._without_marks(_without_marker(piece.text)))
        if not text:
            self.used.add(piece)
            self._at += 1
            return True
        if self._shape_alone(piece, text) or self._some_entries(piece, text):
            return True
        if self._numbered(piece, text):
            return True
        text, version = _without_version(text)
        name, rest = self._label(text)
        before = ""
        if not name and (found := _IN_A_SENTENCE.search(text)):
            before, rest = text[: found.start()], text[found.end() :]
            name = self._find(found[1], self.written.names.sign)  # … and so I get S = [[1, 2]]
        if not name or (self.beside and name == self.here):
            return False
        if len(_NUMBERS.findall(before)) > 1:
            self.written.not_read(self.where(piece.start), before, "")
        self._at += 1
        self._target, self._heads = name, [piece]
        if version == "old" and name in self.written.parts:
            self.used.add(piece)
            return True
        if version == "new" or name in self._old:
            self._supersede(name, piece)
        self._old = self._old | {name} if version == "old" else self._old - {name}
        if shape := stated.beside(_partition(text)[0]):
            self.written.put_shape(name, shape)
        part, words = self._part(name), _words(_MARKED.sub(r"\2", text).strip(_AROUND))
        if part and isinstance(part.answer, _MATRICES) and {self.written.names.sign(word) for word in words} == {name}:
            self._only_names.add(piece)
        self._content(piece, _as_row(rest))
        return True

    def _named_rows(self, piece: Piece) -> bool:
        """Lines that all begin with the name of their matrix, as many as it has rows: S, 1, 2 and S, 3, 4."""
        first = piece.text.partition("\t")[0].strip()
        name = self._called(first) if "\t" in piece.text and any(c.isalpha() for c in first) else ""
        shape = self.written.shape(name) if name else (0, 0)
        rows = [line.text.split("\t") for line in self.pieces[self._at : self._at + shape[0]]]
        if len(rows) < 2 or any(row[0].strip() != first for row in rows):
            return False
        block = entries_of([row[1:] for row in rows], shape)
        if block is None or not _has_shape(block.rows, shape):
            return False
        self._target, self._heads, self._at = name, [], self._at + shape[0]
        self._tell(block.remarks, piece)
        self._put_grid(_Grid(Cells(block.rows), tuple(self.pieces[self._at - shape[0] : self._at])))
        return True

    def _labelled_rows(self, beside: Piece | None = None) -> bool:
        """Lines below a name with labels above or beside the entries, or remarks behind them; the first of them may
        stand `beside` the name.
        """
        shape = self.written.shape(self._target)
        most = self.pieces[self._at : self._at + shape[0] + 1] if all(shape) else ()
        lines = [*([beside] if beside else ()), *takewhile(lambda piece: not (piece.blank or piece.rows), most)]
        if any("[[" in line.text or self._is_statement(line.text) for line in lines[: shape[0]]):
            return False
        ways = [(high, gap) for gap in GAPS for high in (shape[0], shape[0] + 1)]  # 0,5  0,25 is not labelled 0
        for high, gap in ways:
            rows = [labelled_cells(line.text, gap) for line in lines[:high]]
            fits = 0 < high == len(rows) and min(map(len, rows)) >= shape[1]
            block = entries_of(rows, shape) if fits else None
            if block and _has_shape(block.rows, shape) and _all_readable(block.rows):
                if not block.labelled:
                    return False
                self._at += high - bool(beside)
                self._tell(block.remarks, lines[0])
                self._put_grid(_Grid(Cells(block.rows), tuple(lines[bool(beside) : high])))
                return True
        return False

    def _supersede(self, name: str, piece: Piece) -> None:
        """What comes is said to count, or what was there not to: nobody has to decide between them."""
        if self.written.parts.pop(name, None) or self.written.more.pop(name, None):
            says = message("{part} was answered twice; the last answer counts.", part=self.written.names.shown(name))
            self.written.remark(self.where(piece.start), says)

    def _is_statement(self, text: str) -> bool:
        """Whether a line says what a step is, and is no row with a word before it."""
        label = text.partition(":")[0].partition("→")[0].partition("->")[0].strip()
        return len(label) < len(text.strip()) and bool(self.written.names.sign(label))

    def _in_section(self, piece: Piece, text: str) -> str:
        """A line without "Head 2:" or "Token 2:" before it, of which all speaks that follows until there is another."""
        found = _section().match(text)
        if found is None or self.beside:
            return text
        kind: Literal["head", "token"] = "head" if found[1] else "token"
        self._section = (kind, int(found[1] or found[2]))
        rest = text[found.end() :].strip()
        if _FIRST_NUMBER.match(rest) and not _MARKED.match(rest):
            return text  # head 1: [[1, 2], [3, 4]]
        self._target, self._heads = ("" if rest else self.written.names.sign(found[0])), [piece]
        return rest

    def _without_marks(self, text: str) -> str:
        """A heading without the marks that it is worth: "1. Means μ = mean(X) [2]", "Means (2 marks)"."""
        found = _MARKS.search(text)
        if found is None or found[2]:
            return text[: found.start()] if found else text
        part = self._part(self._label(text[: found.start()])[0])
        return text[: found.start()] if part and total(part.marks) == int(found[1]) else text

    def _shape_alone(self, piece: Piece, text: str) -> bool:
        """A line that states shapes of matrices and nothing else; below a name, that may be the shape alone."""
        text = text.strip(" $")
        part = self._part(self._target)
        below = stated.alone(text) if part and part.shape_counts else None
        if below and sorted(below) == sorted(self.written.shape(self._target)):
            self.written.put_shape(self._target, below)
            self.used.update((piece, *self._heads))
            self._at += 1
            return True
        statements = [stated.of_something(one) for one in _ALSO.split(text)]
        found = [(self._called(one[0]), one[1]) for one in statements if one]
        if len(found) < len(statements) or not all(self.written.has_shape(name) for name, _ in found):
            return False
        for name, shape in found:
            self.written.put_shape(name, shape)
        self.used.add(piece)
        self._at += 1
        self._target, self._heads = found[0][0] if len(found) == 1 else "", [piece]
        return True

    def _apart(self, text: str) -> tuple[str, str, str]:
        """What stands before another name, that name, and what stands behind it, as in `[[1]], and K is [[2]]`."""
        found = _OTHER_NAME.search(text)
        while found:
            if (found[2].strip() or len(found[1]) > LONGEST_SIGN) and (other := self._called(found[1])):
                return text[: found.start()], other, text[found.end() :]
            found = _OTHER_NAME.search(text, found.start(1) + 1)  # … -> right, so K = [[1]]
        return text, "", ""

    def _numbered(self, piece: Piece, text: str) -> bool:
        """The number of a part that asks for no matrix, and its answer behind it: "2. A, C", "Question 3: n.d."."""
        found = _NUMBERED.match(text) or labels.question().match(text)
        if found is None or self.beside:
            return False
        number = next(group for group in found.groups() if group)
        part = self._part(self.written.names.place(number))
        rest = text[found.end() :].lstrip(" \t.):：")
        if part is None or isinstance(part.answer, _MATRICES) or part.name in self._done or not rest:
            return False
        said, _, value = _partition(rest)
        answer = answer_in(part, rest)
        named = self._called(said) if value and not (piece.placed and answer and part.name not in self._wordy) else ""
        if named and named != part.name and (not piece.placed or self._is_matrix(named)):
            return False
        if not answer and piece.placed:
            self.written.not_read(self.where(piece.start), rest, part.name)
            self.used.add(piece)
            self._at += 1
            return True
        if not answer or not self._answer(part.name, RawText(answer), [piece]):
            return False
        if reason := rest[len(answer) :].strip(" ,;:."):
            self.written.not_read(self.where(piece.start), reason, part.name)
        self._at += 1
        return True

    @property
    def _wordy(self) -> frozenset[str]:
        """The parts that any words may answer."""
        parts = self.written.question.parts
        return frozenset(part.name for part in parts if isinstance(part.answer, RubricAnswer | WordAnswer))

    def _is_matrix(self, name: str) -> bool:
        part = self._part(name)
        return part is None or isinstance(part.answer, _MATRICES)

    def _label(self, text: str, further: int = 3) -> tuple[str, str]:
        """The part or the step that a line begins with, and what stands behind its name; "" if it has none.

        Other names may stand before it: "Step 1: (a) S = …"; but no more than three.
        """
        first = _FIRST_ROW.match(text) if _without_row_numbers(text) != text else None
        if first and (name := self._called(first[1].strip(" =:->→⟶⇒"))):
            return name, text[first.end(1) :]  # for Q I get row 1: 3 4, row 2: 5 6
        head, sign, rest = _partition(text)
        if sign and len(_NUMBERS_ALONE.findall(stated.without(head))) < 2:
            if name := self._called(head):
                is_numbered = sign != "=" and len(_words(head)) < 3 and _PLACE.fullmatch(head.strip())
                inner, behind = self._label(rest, further - 1) if is_numbered and further else ("", "")
                return (inner, behind) if inner else (name, rest)
            inner, behind = self._label(rest, further - 1) if sign != "=" and further else ("", "")
            return inner, behind
        if found := _MARKED.match(text):
            inner, behind = self._label(found[2], further - 1) if further else ("", "")
            if inner:
                return inner, behind
            if found[2] and (numbered := self.written.names.place(found[1])) and not self._called(text):
                return (numbered, found[2]) if any(c.isdigit() for c in found[2]) else ("", "")
        behind = head = rest = ""
        for number in filter(None, (_FIRST_NUMBER.search(text), _MATRIX.search(text))):
            head, rest = text[: number.start()], text[number.start() :]
            if (behind := self._called(head) if head else "") and not _NUMBER_OF_A_NAME.match(rest):
                break  # and not "head 1 are [[1, 2]]"
        if not _MATRIX.search(text) and (name := self._called(text)):
            is_row = (
                self.written.shape(name)[1] > 1
                and _count(rest, self.written.shape(name)[1]) == self.written.shape(name)[1]
            )
            is_whole = name == behind and self.written.shape(name) != (1, 1) and (is_row or self._fits(rest, name))
            return (name, rest) if is_whole else (name, "")
        return (behind, rest) if behind else ("", "")

    def _fits(self, text: str, name: str) -> bool:
        """Whether a text is a matrix of the shape that a part or a step should have."""
        matrix = self._matrix(text, self.written.shape(name))
        return matrix is not None and _has_shape(matrix.rows, self.written.shape(name))

    def _called(self, text: str) -> str:
        """The part or the step that words mean; "" if they mean none or more than one."""
        if _HIDDEN.fullmatch(text) or ONE_ROW.fullmatch(f"{text}:"):
            return ""
        if _FUNCTION.match(text):
            return self.written.names.rule(text)
        if (applied := self.written.names.function_of(text.strip(_AROUND))) is not None:
            return applied
        marked = _MARKED.match(text) if len(_words(text[:_LONGEST_LINE])) <= _MOST_WORDS + 1 else None
        if marked and _LETTERS.search(marked[2]) and (name := self._called(marked[2])):
            return name  # (d) Z_1 is no gradient dZ_1
        text = _ASIDE.sub(_unless_words, text)
        text = stated.without(undecorated(text.strip(_AROUND)).strip(_AROUND))
        words = _words(text)
        if not 0 < len(words) <= _MOST_WORDS:
            return ""
        names = self.written.names
        plain = [word for word in words if word.casefold() not in _FILLERS or word == "A"]
        if self._section and not any(map(names.is_sign, (text, *plain[-1:]))):
            ways = (text, " ".join(plain), plain[-1] if plain else "")
            if found := next(filter(None, (names.within(way, *self._section) for way in ways if way)), ""):
                return found
        if _LETTER.fullmatch(text) and not self._lettered and (sign := self._find(text, names.sign)):
            return sign
        bare = " ".join(word for word in text.split() if word.casefold() not in _FILLERS or word == "A")
        if found := self._find(text) or (self._find(bare) if bare else ""):
            return found
        if rule := names.rule(text):
            return rule
        if step := _PLACE.fullmatch(text):
            return names.place(step[1] if step[1] == text else step[1].lower())  # S, and Part S
        if _MARKED.match(text):
            text = _MARKED.sub(r"\2", text)
            words = _words(text)
        if not any(c.isalpha() for c in text):
            return ""
        plain = [word for k, word in enumerate(words) if word.casefold() not in _FILLERS or (word == "A" and k)]
        plain = ["A"] if words == ["A"] else plain
        if not plain:
            return ""
        if found := self._find(" ".join(plain)):
            return found
        if len(plain) == 1:
            return self._find(plain[0])
        every = {self._find(word) for word in plain}
        if len(every) == 1:
            return every.pop()
        short = (word for k, word in enumerate(words)
                 if (len(word) <= LONGEST_SIGN or names.is_sign(word)) and (k or word != "A"))  # fmt: skip
        signs = {sign for word in short if (sign := self._find(word, names.sign))}
        return signs.pop() if len(signs) == 1 else ""

    def _find(self, text: str, find: Callable[[str], str] | None = None) -> str:
        """The part or the step that is called so: of parts with one sign, as [v̂₁; v̂₂; v̂₃] for every token, the next."""
        names = self.written.names
        if twins := names.twins(text):
            passed = names.parts.index(self._last) if self._last in names.parts else -1
            return next((name for name in twins if names.parts.index(name) > passed), "")
        return (find or names.find)(text)

    def _some_entries(self, piece: Piece, text: str) -> bool:
        """S_12 = 3, S[1,2] = 3, "s11 = 1·2 + 1 = 3, s12 = 4", "Scores: s1 = (1, 2)", "S row 1: 3 4", "row 2: 5 6"."""
        text = _SO.sub("", text)
        head, sign, rest = _partition(text)
        found = self._every_entry(text)
        if not found and sign and sign != "=":
            found = [one for one in self._every_entry(rest) if self._called(head) in ("", one[0])]
        if not found:
            return False
        for name, cells in found:
            self._last = name
            self._entries.setdefault(name, {}).update(cells)
        self.used.add(piece)
        self._at += 1
        if _ROW.fullmatch(head.strip(_AROUND)):
            self._further_rows(*found[-1])
        return True

    def _every_entry(self, text: str) -> list[tuple[str, dict[tuple[int, int], str]]]:
        """The entries and rows that a line consists of; none if there is anything else in it."""
        found = list(map(self._one_entry, _OTHER_ENTRY.split(text)))
        return [one for one in found if one] if all(found) else []

    def _score(self, product: re.Match[str], value: str) -> tuple[str, dict[tuple[int, int], str]] | None:
        """q₁·k₂ = 3, and k₂·q₁ = 3, as the entry of the scores."""
        one, i, other, j = product.groups()
        for (first, row), (second, column) in permutations([(one, int(i)), (other, int(j))]):
            if (name := self.written.names.scores(first, second)) and name not in self._done and row and column:
                return name, {(row, column): value}
        return None

    def _further_rows(self, name: str, cells: Mapping[tuple[int, int], str]) -> None:
        """The rows with the numbers that come next, on the lines below."""
        row, columns = next(iter(cells))[0], len(cells)
        for piece in self.pieces[self._at :]:
            row += 1
            matrix = self._matrix(piece.text, (1, columns)) if piece.row == row else None
            if matrix is None or len(matrix.rows[0]) != columns:
                break
            self._entries[name].update(_row(row, matrix))
            self.used.add(piece)
            self._at += 1

    def _one_entry(self, text: str) -> tuple[str, dict[tuple[int, int], str]] | None:
        """The step that an entry or a row belongs to, and the entries by their places; none if it is neither."""
        head, sign, rest = _partition(text)
        if not sign or not any(c.isdigit() for c in head):
            return None
        head = undecorated(head.strip(" \t*`$"))
        names = self.written.names
        if product := _PRODUCT.fullmatch(head):
            return self._score(product, rest)
        head = head.translate(_LOWERED)
        entry, row = (
            _ENTRY.fullmatch(head) or _SHORT_ENTRY.fullmatch(head),
            _ROW.fullmatch(head) or ROW_OF.fullmatch(head),
        )
        found = entry or row
        name = self._find(found[1], names.sign) or names.find(found[1]) if found else ""
        if found and entry and self._last in names.twins(found[1]):
            written = self._entries.get(self._last, {})
            name = self._last if (int(entry[2]), int(entry[3])) not in written else name
        if not found or not name or name in self._done or int(found[2]) < 1 or names.find(head):
            return None
        if entry:
            alone = int(entry[3]) and not _ANOTHER_ENTRY.search(rest)
            return (name, {(int(entry[2]), int(entry[3])): rest}) if alone else None
        matrix = self._matrix(rest, (1, self.written.shape(name)[1]))
        if matrix is None or len(matrix.rows) != 1 or _WORD_BETWEEN.search(rest.rpartition("=")[0]):
            return None
        return name, _row(int(found[2]), matrix)

    # -------------------------------------------------------------------------------- what belongs to a name

    def _content(self, head: Piece, rest: str) -> None:
        """What stands behind a name, perhaps over several lines, and behind further names on the last of these."""
        while True:
            other, rest, head = self._value(head, rest)
            if not other:
                return
            self._target, self._heads = other, [head]

    def _value(self, head: Piece, rest: str) -> tuple[str, str, Piece]:
        """What stands behind one name; the next name, what stands behind that, and the line that it is in."""
        part = self._part(self._target)
        taken, text = [head], rest
        in_words = part is not None and not isinstance(part.answer, _MATRICES)
        while not in_words and _open(text) > 0 and self._at < len(self.pieces) and len(taken) < LARGEST:
            taken.append(self.pieces[self._at])
            text += "\n" + self.pieces[self._at].text
            self._at += 1
        if len(taken) == 1 and not in_words and self._labelled_rows(replace(head, text=rest)):
            return "", "", head
        if not in_words and self._goes_on_in_table(head, rest):
            return "", "", head
        text, other, behind = self._apart(text)
        if part is not None and in_words:
            self._words(part, head, text)
        elif text.strip(_NO_WORDS):
            shape = self.written.shape(self._target)
            text, size = stated.without_last(text)
            if size:
                self.written.put_shape(self._target, size)
            text = self._before_prose(head, text, shape)
            row = self._token > 0 and shape[0] > 1 == shape[1] and self._matrix(text, (1, 1))
            whole = None if _says_something_else(text) else self._matrix(text, shape)
            matrix = row if row and _has_shape(row.rows, (1, 1)) else whole  # (0,5) said of one token is no column
            if len(taken) == 1 and shape[0] > 1 == shape[1] == _count(text, 1):
                lines = self._rows_below(1)
                if len(lines) + 1 == shape[0]:  # a column whose first entry is 0,5
                    matrix, taken = (
                        self._matrix("\n".join([text, *(line.text for line in lines)]), shape),
                        [head, *lines],
                    )
                    self._at += len(lines)
            if matrix and len(matrix.rows) == 1 and len(taken) == 1:
                lines = self._rows_below(len(matrix.rows[0]))
                if lines and (more := self._matrix("\n".join([text, *(line.text for line in lines)]), shape)):
                    matrix, taken = more, [head, *lines]
                    self._at += len(lines)
            if self._token and shape[0] > 1 and matrix and len(matrix.rows) == 1:
                if self._is_row_of_token(matrix, shape):
                    self._entries.setdefault(self._target, {}).update(_row(self._token, matrix))
                    self.used.update(taken)
                else:
                    self._strange.append((head, text, self._target, self._token))
            elif matrix:
                if another := _ANOTHER.search(text):
                    self.written.not_read(self.where(head.start), another[1], self._target)
                if not self._answer(self._target, matrix, taken):
                    self._target = ""
            elif not any(c.isalnum() or c == "∞" for c in text):
                self.used.update(taken)  # ____ or ?
            elif len(taken) > 1:
                self._at -= len(taken) - 1
                other = ""  # the lines are read again, one by one
            else:
                self._strange.append((head, text, self._target, 0))
                if len(_NUMBERS.findall(text)) > 2:
                    self._target, self._heads = "", []  # what stands below is something else
        return other, behind, taken[-1]

    def _before_prose(self, head: Piece, text: str, shape: Shape) -> str:
        """Numbers without the sentence that goes on behind them: 4, 9, 25, so the deviations are 2, 3, 5."""
        text = without_kind(text)
        for found in islice(_PROSE.finditer(text[:_LONGEST_LINE]), _MOST_WORDS):
            numbers = self._matrix(text[: found.start()], shape)
            if numbers and (_has_shape(numbers.rows, shape) or self._is_row_of_token(numbers, shape)):
                rest = text[found.start() :].strip(" ,;.")
                self.written.not_read(self.where(head.start), rest, "")
                return text[: found.start()]
        return text

    @property
    def _token(self) -> int:
        """The token that is spoken of; 0 if none is."""
        return self._section[1] if self._section and self._section[0] == "token" else 0

    def _is_row_of_token(self, matrix: Cells, shape: Shape) -> bool:
        """Whether it can be the row of the token that is spoken of."""
        wanted = self._token > 0 and shape[0] > 1 and self._target not in self._done
        return wanted and _has_shape(matrix.rows, (1, shape[1]))

    def _words(self, part: Part, head: Piece, rest: str) -> None:
        """An answer that is no matrix: what stands behind its name, or the next line; an explanation in all lines."""
        taken = [head]
        if not rest.strip(_NO_WORDS) or isinstance(part.answer, RubricAnswer | CellsAnswer):
            for piece in self.pieces[self._at :]:
                if not piece.blank and (self._label(_without_marker(piece.text))[0] or self._enough(part, taken)):
                    break
                taken.append(piece)
        lines = [rest.strip(), *(piece.text.strip() for piece in taken[1:])]
        text = "\n".join(lines).strip()
        if text:
            self._at += len(taken) - 1
            self._answer(part.name, RawText(text), taken)

    def _enough(self, part: Part, taken: Sequence[Piece]) -> bool:
        """Whether an answer of one line is there."""
        return not isinstance(part.answer, RubricAnswer | CellsAnswer) and any(not piece.blank for piece in taken[1:])

    def _below(self, piece: Piece) -> bool:
        """Rows of numbers, or a matrix in brackets, below a name or without one."""
        if piece.rows:
            return self._table(piece, piece.rows)
        if self._is_of_another(piece.text):
            return False
        shape = self.written.shape(self._target)
        if "[" in piece.text and not _DRAWN.match(piece.text):
            taken, text = [piece], piece.text
            for other in self.pieces[self._at + 1 : self._at + LARGEST]:
                if _open(text) <= 0:
                    break
                taken.append(other)
                text += "\n" + other.text
            if len(taken) == 1 and (rows := self._rows_below(_count(text, shape[1]))):
                taken = rows
                text = "\n".join(line.text for line in rows)
            if _open(text) == 0 and (matrix := self._matrix(_behind_name(text), shape)):
                self._at += len(taken)
                self._put_grid(_Grid(matrix, tuple(taken)))
                return True
        lines = self._rows_below(shape[1])
        if len(lines) > LARGEST:
            self._at += LARGEST
            return False
        matrix = self._matrix("\n".join(line.text for line in lines), shape) if lines else None
        if not lines and self._is_alone(piece):
            lines, matrix = [piece], Cells(((piece.text.strip(),),))
        elif (
            not lines and self._target and (whole := self._matrix(piece.text, shape)) and _has_shape(whole.rows, shape)
        ):
            lines, matrix = [piece], whole  # 1 2 / 3 4, and (1, 2), (3, 4)
        if matrix is None or len(matrix.rows) == 1 < len(lines):  # what was not told apart would vanish
            return False
        self._at += len(lines)
        self._put_grid(_Grid(matrix, tuple(lines)))
        return True

    def _is_of_another(self, text: str) -> bool:
        """Whether a line says what something else is, that is made of a step: K^T = [[1, 2]], exp(S') = [[1, 2]]."""
        head, sign, _ = _partition(_without_marker(text))
        plain = transposed(head).strip(_AROUND)
        return sign == "=" and bool(_FUNCTION.match(head) or (plain != head.strip(_AROUND) and self._called(plain)))

    def _put_grid(self, grid: _Grid) -> None:
        if not self._target:
            self._grids.append(grid)
        elif not (self.beside and self._target == self.here):
            self._answer(self._target, grid.cells, [*self._heads, *grid.pieces])
        self._target, self._heads = "", []

    def _rows_below(self, columns: int) -> list[Piece]:
        """The lines from here on that are rows of numbers."""
        most = self.pieces[self._at : self._at + LARGEST + 1]
        lines = list(takewhile(lambda piece: self._is_row(piece, columns), most))
        counts = [_count(line.text, columns) for line in lines]
        same = list(takewhile(lambda count: count == counts[0], counts))
        return lines[: len(same)]

    def _goes_on_in_table(self, head: Piece, first: str) -> bool:
        """A table whose first row stands behind its name: S = | 1 | 2 |."""
        below = self.pieces[self._at] if self._at < len(self.pieces) else head
        below = self.pieces[self._at + 1] if below.blank and self._at + 1 < len(self.pieces) else below
        if not (first[:1] == "|" == first[-1:] and below.rows and below.start == head.end):
            return False
        at, self._at = self._at, self.pieces.index(below)
        found = self._table(below, (cells_of_line(first), *below.rows))
        self._at = self._at if found else at
        return found

    def _is_alone(self, piece: Piece) -> bool:
        """Whether a number is all that stands right below the name of a matrix: it has one entry then."""
        below = next((other for other in self.pieces[self._at + 1 :] if not other.blank), None)
        alone = below is None or not _count(below.text, 0)
        return self._heads == [self.pieces[self._at - 1]] and alone and _NUMBER.fullmatch(piece.text) is not None

    def _goes_on(self, piece: Piece) -> bool:
        """Whether a number goes on what could not be read in the line above, and is no part's."""
        above = self.pieces[self._at - 1] if self._at else piece
        return above.end == piece.start and not above.blank and above not in self.used

    def _is_place(self, piece: Piece) -> bool:
        """Whether a line is the place of a part, and no number or e below others; in a derivation, 3. may be one."""
        return (
            piece.placed and self._alone and re.fullmatch(r"\(?(?:[a-z]|\d{1,2})[).:]?", piece.text.strip()) is not None
        )

    @cached_property
    def _alone(self) -> bool:
        """Whether no part is a line of a derivation."""
        return not any(map(is_line, self.written.question.parts))

    def _is_row(self, piece: Piece, columns: int) -> bool:
        count = 0 if piece.blank or piece.rows or self._is_place(piece) else _count(piece.text, columns)
        return count > 1 or count == 1 == columns

    # -------------------------------------------------------------------------------- tables and formulas

    def _named_table(self, piece: Piece) -> bool:
        """A table with a name in its first cell, or before it."""
        (first, *heads), *below = piece.rows
        name = self._called(first) if any(c.isalpha() for c in first) else ""
        if not name or not below or (self.beside and name == self.here):
            return False
        self._target, self._heads = name, []
        before = {len(row) for row in below} == {len(heads)}  # S = | | 1 | 2 |
        return self._table(piece, (tuple(heads), *below) if before else piece.rows)

    def _table(self, piece: Piece, rows: Rows) -> bool:
        """A table below a name, with or without heads of its columns and rows."""
        shape = self.written.shape(self._target)
        block = entries_of(rows, shape)
        cells = block.rows if block else ()
        if not cells or not _plausible(cells) or (any(shape) and not _has_shape(cells, shape) and _has_unread(cells)):
            return False
        self._at += 1
        self._tell(block.remarks if block else (), piece)
        self._put_grid(_Grid(Cells(cells), (piece,)))
        return True

    def _tell(self, remarks: Sequence[str], piece: Piece) -> None:
        """Words behind rows are no part of the matrix."""
        for said in dict.fromkeys(remarks):
            self.written.remark(self.where(piece.start), no_answer(said))

    def _formula(self, piece: Piece) -> bool:
        """Matrices in LaTeX, by their names or below one."""
        found, strange = False, list[tuple[str, str]]()
        for _, matrix in latex_formulas(piece.text):
            if isinstance(matrix, UnreadFormula):
                strange.append((self._called(matrix.name), matrix.text))
                continue
            in_words = not matrix.name and not is_number(matrix.factor)  # for S I get \begin{pmatrix} …
            before = matrix.factor if in_words else matrix.name
            cells, words = Cells(matrix.rows, "" if in_words else matrix.factor), before.split()
            name = (self._called(before) or self._called(words[-1])) if words else ""
            if name and not (self.beside and name == self.here):
                found |= self._answer(name, cells, [piece])
                if shape := stated.beside(matrix.name):
                    self.written.put_shape(name, shape)
            elif not words and self._target and not self.beside:
                found |= self._answer(self._target, cells, [*self._heads, piece])
            elif not name:
                strange.append(("", before if normal(before) else " ".join(cells.texts())))
        for name, said in strange if found else ():
            self.written.not_read(self.where(piece.start), said, name or self.here)
        self._at += found
        return found

    # -------------------------------------------------------------------------------- matrices

    def _matrix(self, text: str, shape: Shape) -> Cells | None:
        """A text as a matrix of the shape, else as any matrix in which numbers stand."""
        text = _behind_arrow(_DRAWING.sub("", text.strip()).replace("\\\\", ";").rstrip("! \t"), shape[1])
        text = text[:-1].strip() if text.endswith((".", ",", ";", "!")) and _open(text) == 0 else text
        text = _without_row_numbers(_ROWS_ARE.sub("", text))
        if rows := _results(text, shape[1]):
            return Cells(rows)
        found = []
        for separator in (None, *_BETWEEN_ROWS):
            way = text if separator is None else re.sub(separator, " ; ", text)
            if way == text and separator:
                continue
            matrix = read_matrix(way, shape)
            if matrix and _plausible(matrix.rows) and not _is_prose(text, matrix.rows, shape):
                found.append(Cells(matrix.rows, matrix.factor))
        found = [one for one in found if not self._is_formula(one.rows) and not _is_run_together(one.rows, shape)]
        found = [one for one in found if _has_shape(one.rows, shape) or not any(shape) or not _has_unread(one.rows)]
        fitting = (one for one in found if _has_shape(one.rows, shape))
        first = next(fitting, None)
        if first is None and found and read_matrix(text, shape) is not None:
            first = found[0] if max(map(len, found[0].rows)) > 1 or shape[1] == 1 else None
        return first

    def _is_formula(self, rows: Rows) -> bool:
        """Whether what looks like a row has the sign of a step in it: 1/2 S."""
        return len(rows) == 1 and any(cell.isalpha() and self.written.names.sign(cell) for cell in rows[0])

    def _part(self, name: str) -> Part | None:
        return next((part for part in self.written.question.parts if part.name == name), None)

    def _answer(self, name: str, raw: Cells | RawText, taken: Sequence[Piece]) -> bool:
        """The answer to a part that has none yet, or a step that nobody asked for."""
        part = self._part(name)
        if name in self._done or (self.beside and part is None):
            return False
        found: Raw = raw
        if part is not None and isinstance(part.answer, PropertyAnswer):
            found = Several({next(iter(part.answer.model)): raw})
        line = min((piece.start for piece in taken), default=0)
        if raw.blank or not self.written.put(name, found, self.where(line)):
            return raw.blank
        self.used.update(taken)
        self._answered |= dict.fromkeys(taken, name)
        self._target, self._last, self._heads = "", name, []
        return True

    def _without_names(self) -> None:
        """Matrices without names: of the parts without answers those that they must be, by shape and order."""
        if not self._grids or self.here:
            return
        open_parts = [part for part in self.written.question.parts if isinstance(part.answer, _MATRICES)
                      and part.name not in self.written.parts]  # fmt: skip
        shapes = [shape_of(part) for part in open_parts]
        pairs: list[tuple[Part, _Grid]] = []
        if [grid.shape for grid in self._grids] == shapes:
            pairs = list(zip(open_parts, self._grids, strict=True))
        else:
            found = [grid.shape for grid in self._grids]
            pairs = [(part, grid) for part, shape in zip(open_parts, shapes, strict=True) for grid in self._grids
                     if grid.shape == shape and shapes.count(shape) == 1 == found.count(shape)]  # fmt: skip
        for part, grid in pairs:
            if self._answer(part.name, grid.cells, grid.pieces):
                where = self.where(grid.pieces[0].start)
                sign = self.written.names.shown(part.name)
                said = message("This matrix has no name; from its shape and its place it was taken to be {part}.",
                               part=sign)  # fmt: skip
                if head := self._head_of(grid):
                    self.used.add(head)
                    called = repr(head.text.strip(_AROUND))
                    said = message(
                        "Nothing is called {name} here; from its shape and its place it was taken to be {part}.",
                        name=called,
                        part=sign,
                    )
                self.written.remark(where, said)
                says = message("It was found by its shape and its place alone; a person has to look at it.")
                self.written.doubt(part.name, says, said)

    def _head_of(self, grid: _Grid) -> Piece | None:
        """The line right above a matrix that names it by a name which is not known here."""
        at = self.pieces.index(grid.pieces[0])
        above = next((piece for piece in reversed(self.pieces[:at]) if not piece.blank), None)
        named = above is not None and above not in self.used and above.text.rstrip().endswith(("=", ":"))
        return above if named else None


_MATRICES = (StepAnswer, EntriesAnswer, MatrixAnswer, PropertyAnswer)
_IN_ANY_WORDS = (RubricAnswer, WordAnswer)
_IN_WORDS = (RubricAnswer, WordAnswer, ChoiceAnswer, OrderAnswer, ShapeAnswer)
_MOST_WORDS = 8
_AROUND = ' \t*_`#:=：."“”'
_FILLERS = frozenset(
    re.findall(
        "[a-z]+",
        "i the a my our matrix matrices vector vectors is are be was were then so hence thus therefore we get have "
        "obtain gives this that these because rows row equals answer of for in as and which now first next finally "
        "compute computing calculate calculating "
        "also dann damit somit ist sind daraus folgt ergibt sich wir haben ich erhalte der die das "
        "donc alors ainsi est sont on obtient trouve nous avons pour le la les "
        "entonces luego por tanto es son se obtiene obtengo tenemos para el los las",
    )
)
_MARKER = re.compile(r"^\s*(?:(?:[-*+•>→⇒∴]|[-=]>|#{1,6})\s+)*")
_CURLY = re.compile(r"(?<![\w}_^])\{\s*\{[^{}]*\}(?:\s*,\s*\{[^{}]*\})*\s*\}")  # {{1, 2}, {3, 4}}
_SQUARE = str.maketrans("{}", "[]")
_FORMULA = re.compile(r"\$([^$]+)\$[.,;]?")  # $Z = 1 2 / 3 4$
# A name before an arrow may hold digits, as S_1, norm 3 or dW_h_2; a row of numbers is none.
_ARROW = re.compile(
    r"^((?:[^=:\[\]\d]|(?<=[^\d,.\s][ ._^])\d(?![\d,]|\.\d)|(?<=[^\W\d_])\d(?![\d,]|\.\d)){1,40}?)\s*(?:[-=]>|[→⟶⇒]|:=)"
)
_CROSSED_OUT = re.compile(r"~~([^~]*)~~")
BULLET = re.compile(r"^\s*[-*+•]\s+")
_ROW_NUMBER = r"\s*(?:row|token|zeile|fila|ligne)\s*(\d{1,2})\s*[:=.)]\s*"
ONE_ROW = re.compile(f"(?i)^{_ROW_NUMBER}")
_FIRST_ROW = re.compile(r"(?i)((?:[^\d\[\n]|(?<=[\w^])\d){0,80}?)(?:row|token|zeile|fila|ligne)\s*1\s*[:=.)]\s*")
_TO = re.compile(r"[-=]>|[→⟶⇒]")
_MARKED = re.compile(r"(?i)^\s*((?:part\s+|step\s+|task\s+)?\(?(?:[a-z]|\d{1,2})[).](?=\s|$))\s*(.*)$")
_NUMBERED = re.compile(r"(?i:part|task|step|exercise|no\.?|q)?\s*\(?([a-z]|\d{1,2})[).:：]{1,2}(?=\s|$)")
_PLACE = re.compile(r"(?i)(?:part|step|task|exercise|no\.?)?\s*(\(?(?:[a-z]|\d{1,2})[).]?)")
_OTHER_NAME = re.compile(
    r"(?:(?<=[\])\d%])[,;.:]?\s+|(?<=\w)[,;.]\s+|(?<=[>→⟶⇒])\s*)"
    r"(?:(?:[-=]>|[→⟶⇒]|and|und|et|y|so|then)\s+)*([^\s\d\[\]=:()+−.-][^\[\]=:]{0,40}?)"
    r"(\s*[=:]\s*|\s+(?:(?:is|are|ist|sind|est|sont|es|son)\s+)?)(?=[\[(+−.\d√-])"
)
_IN_A_SENTENCE = re.compile(r"(?<=\s)([^\s\[\]=:,;]{1,6})\s*[=:]\s*(?=\[)")
_PROSE = re.compile(
    r"(?<=[\])\d%])[,;]\s+(?=[^,;=()\[\]]{0,30}[^\W\d_][^,;=()\[\]]{0,20}[=:])"  # …, + b = (3, 4)
    r"|(?<=[\])\d%])[,;.]?\s+(?!(?:and|und|et|y|approx|rounded|about|sqrt|exp|ln|log|inf|over)\b|times\s+[\d(])"
    r"[^\W\d_]{2,}\b"
)
_ANOTHER = re.compile(  # … or [[1, 2]], and numbers behind a matrix
    r"(?s)\][\s,;]*+([^\W\d_]{2,}\s[^\[\]=]{0,40}\[\s*\[.*|[-+−]?\(?\.?\d[^\[\]=]*$)"
)
_LETTER = re.compile(r"[a-z]")
_SECOND_PART = re.compile(r"\W*(?:part\s+)?\(?b[).:]")
_ENTRY = re.compile(r"(.*?[^\d\s_\[({,])\s*(?:[_\[({]\s*)+(\d)\s*[,;]?\s*(\d)\s*[\])}]*")
_SHORT_ENTRY = re.compile(r"([^\W\d_]{1,6}'*)(\d)(\d)")
_AND = r"\s+(?:and|und|et|y)\s+"
_BETWEEN_ROWS = (r"\s+/\s+|\s*//\s*", f",?{_AND}", r"\s*\|\|\s*", rf",{_AND}|{_AND}|,\s+")
_WORD = re.compile(r"(?!sqrt|array|tensor)[^\W\d_]{4}")
_WORD_BETWEEN = re.compile(r"(?<![\\\w])(?!(?:sqrt|exp|log|max|sum|softmax|array|tensor|matrix)\b)[^\W\d_]{3,}")
_FURTHER_ROW = re.compile(rf"(?i)\s{{0,64}}[,;/|]{{1,2}}{_ROW_NUMBER}")
_ROWS_ARE = re.compile(r"(?i)^(?:(?:with|has|the|these)\s+)*(?:rows?|zeilen|filas|lignes)[\s:]+(?=[\d(+−.√-])")
_NUMBERS = re.compile(r"\d+(?:[.,]\d+)?")
_NUMBERS_ALONE = re.compile(r"(?<![\w^.,])\d+(?:[.,]\d+)?")  # none in R1^1
_ALSO = re.compile(rf",?{_AND}|[,;]\s+(?=[^\W\d])")
_MARKS = re.compile(
    r"(?i)(?<=[^\s=:≈])\s{1,99}[\[(]\s?(\d{1,2})\s?(marks?|points?|pts?\.?|punkte?|p\.?|puntos?|分)?\s?[\])]\s*$"
)
_SO = re.compile(r"(?i)^(?:(?:so|then|thus|hence|therefore|and|also|finally|we get)\b[\s,:]*)+")
_LOWERED = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_FACTOR = r"([^\W\d_]'*)_?\{?(\d)\}?"
_TIMES = r"\s*(?:\^?\{?(?:T|ᵀ|⊤|\\top)\}?\s*)?(?:[·.*⋅∙•×@]|\\cdot|(?<=[Tᵀ⊤}p]))\s*"
_PRODUCT = re.compile(_FACTOR + _TIMES + _FACTOR)
_OTHER_ENTRY = re.compile(
    r"(?:(?<![\s,;·.*⋅∙•×])|(?<=\d\.))[\s,;]+(?:(?:and|und|et|y)\s+)?(?=(?:[^\W\d_]_?\d\s*[·.*⋅∙•×]\s*)?"
    r"[^\W\d_](?:\w|\^(?=[^\W\d_])){0,7}['′’]*"
    r"(?:(?:[_\[({]\s*){0,2}[\d₀-₉]{1,2}(?:\s*,?\s*\d)?[\])}]{0,2}|\s(?:row|zeile|fila|ligne)\s\d)\s*=)"
)
_ANOTHER_ENTRY = re.compile(r"[,;]\s+[^,;=]{0,40}[^\W\d_][^,;=]{0,20}=")  # 1., S_12 = 2
_ROW = re.compile(r"(?i)(.*?[^\d\s,])[\s,:(]*(?:row|zeile|fila|ligne)\s*(\d)\)?")
_ASIDE = re.compile(r"\s\(([^()]{1,80})\)")  # Weights (each row sums to 1)
_HIDDEN = re.compile(r"\s*[-+−]?\d[^*]*(?:\s\*)+\s*")  # 1 * *, a row of masked scores
_FUNCTION = re.compile(r"(?:exp|ln|log|sqrt|sum|√|Σ|\\(?:exp|ln|log|sqrt|sum))\s*[({]|\W*e\s*\^")  # exp(S'), e^S'
_NUMBER = re.compile(r"\s*[-+−]?\d+(?:[.,/]\d+)?\s*")
_NUMBER_OF_A_NAME = re.compile(r"\d{1,2}\s+[^\W\d_]{2,}\s")
_FIRST_NUMBER = re.compile(  # a word in brackets is none, but for e and π that are worked with: (e)/(1 + e)
    r"(?<![\w^_'′])(?:\((?=(?:e|pi)\)\s*[/^*·])|\((?![A-Za-z'′]{1,12}\))|[-+−]?[.√]?\d)|\[|\\begin\b"
)
_LETTERS = re.compile(r"[^\W\d_]")
_MATRIX = re.compile(r"\[\s*\[")
_DRAWN = re.compile(r"^\s*[⎡⎢⎣│|]")
_DRAWING = re.compile(r"[⎡⎢⎣⎤⎥⎦│⎛⎜⎝⎞⎟⎠]")


@cache
def _section() -> re.Pattern[str]:
    """Head 2: and Token 2: or Row 2: at the beginning of a line, in every language."""
    said = (labels.said(message("Head {head}", head=7)), labels.said(message("token {token}", token=7)))
    head, token = ("|".join(re.escape(way.replace("7", "").strip()) for way in ways) for ways in said)
    number = r"\s*=?\s*(\d)(?=\W*$|\s*[:.,)–-]|\s+[^\W\d])[\s*_:.,)–-]*"
    return re.compile(rf"\W*(?:(?i:{head}){number}|(?:(?i:{token}|time|row|zeile|fila|ligne)|t){number})")


def _row(number: int, matrix: Cells) -> dict[tuple[int, int], str]:
    """The entries of a matrix of one row by their places in a larger one."""
    return {(number, j): text for j, text in enumerate(matrix.rows[0], 1)}


def _without_version(text: str) -> tuple[str, str]:
    """A label without what is said of it as one of several: old in "S (first try)", new in "A, corrected:"; else ""."""
    head, sign, rest = _partition(text)
    found = _VERSION.search(head) if sign else None
    if found is None:
        return text, ""
    return f"{head[: found.start()]}{head[found.end() :]}{sign} {rest}", "old" if found["old"] else "new"


_VERSION = re.compile(
    r"(?i)[\s,]*[(\[]?\b(?:(?P<old>(?:first|1st) (?:try|attempt|version)|(?:my )?(?:wrong|old)|incorrect|draft|scratch|"
    r"falsch|erster versuch|alt|faux|premier essai|brouillon|incorrect[oa]|borrador|primer intento)"
    r"|(?P<new>(?:second|2nd|final|last) (?:try|attempt|version)|corrected|correction|revised|fixed|korrigiert|"
    r"zweiter versuch|neu|corrigée?s?|deuxième essai|corregid[oa]|segundo intento))\b[^()\[\]=:]{0,40}[)\]]?"
)


def _unless_words(found: re.Match[str]) -> str:
    """Nothing of an aside in words; a sign in brackets stays."""
    return "" if " " in found[1].strip() and re.search(r"[^\W\d_]{2}", found[1]) else found[0]


def _unless_entry(found: re.Match[str]) -> str:
    """Nothing of a row or a matrix that is crossed out; to an entry, its reader sees."""
    return "" if re.search(r"[\s\[]", found[1]) else found[0]


def _without_marker(text: str) -> str:
    text = _ARROW.sub(r"\1 =", _MARKER.sub("", text)).strip()
    return formula[1].strip() if (formula := _FORMULA.fullmatch(text)) else text


def _bulleted(lines: Sequence[str]) -> bool:
    """Whether every row of numbers is an item of a list, so that "- 3, 4" does not begin with −3."""
    rows = [line for line in lines if _count(BULLET.sub("", line), 0)]
    return len(rows) > 1 and all(map(BULLET.match, rows))


def _as_row(line: str) -> str:
    """Row 2: 3, 4 and 5 as the numbers alone, and so row 1: 3 4, row 2: 5 6; any other line as it is."""
    if ONE_ROW.match(line) and (rows := _without_row_numbers(line)) != line:
        return rows
    line = BULLET.sub("", line) if ONE_ROW.match(BULLET.sub("", line)) else line
    row = re.sub(r",?\s+(?:and|und|et|y)\s+", ", ", _behind_arrow(ONE_ROW.sub("", line), 0))
    return row if row != line and ONE_ROW.match(line) and _count(row, 0) else line


def _without_row_numbers(text: str) -> str:
    """Row 1: 3 4, row 2: 5 6 as 3 4 ; 5 6, also behind words; any other text as it is."""
    first = _FIRST_ROW.match(text)
    numbers = [1, *map(int, _FURTHER_ROW.findall(text))] if first else []
    if first is None or len(numbers) < 2 or numbers != [*range(1, len(numbers) + 1)]:
        return text
    return first[1] + _FURTHER_ROW.sub(" ; ", text[first.end() :])


def _partition(text: str) -> tuple[str, str, str]:
    """At the first equals sign or colon that stands in no bracket."""
    depth = 0
    for k, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if depth <= 0 and character in "=:：≈":
            return text[:k], character, text[k + 1 :].strip()
    return text, "", ""


def _words(text: str) -> list[str]:
    return [word for word in re.split(r"[\s(),;]+", text) if word]


def _behind_name(text: str) -> str:
    """What stands behind the sign or the colon before the first bracket: of "the last one: [[1]]", [[1]]."""
    head, sign, rest = _partition(text)
    return rest if sign and "[" not in head else text


def _behind_arrow(text: str, columns: int) -> str:
    """Of lines that lead to something, "sum 82.07 -> 0.67, 0.09, 0.24", what they lead to.

    Nothing where a row leads to another, as in "8, 4, 6 -> 4, 2, 3": only a person can say which of them is meant.
    """
    lines = []
    for line in text.split("\n"):
        first, *others = _TO.split(line)
        if others and _count(first, columns) > 1:
            return ""
        lines.append(others[-1].strip() if others else line)
    return "\n".join(lines)


def _open(text: str) -> int:
    """How many square brackets are open at the end."""
    return text.count("[") - text.count("]")


def _count(text: str, columns: int) -> int:
    """How many numbers a line has, if it has nothing but numbers, 0 if it has anything else."""
    return _known_count(text, columns) if len(text) <= _LONGEST_KNOWN else _counted(text, columns)


def _counted(text: str, columns: int) -> int:
    text = _DRAWING.sub(" ", text).strip().strip("|").strip()
    text = text.removesuffix("\\\\").rstrip(",;").strip()
    one_pair = text[:1] in ("[", "(") and text[-1:] in ("]", ")") and text.count(text[0]) == 1
    text = text[1:-1].strip() if one_pair or in_round(text) else text
    cell = is_number if _BETWEEN_NUMBERS.search(text) else _readable_or_crossed
    if (
        not text
        or _BEGINS_WRONGLY.match(text)
        or len(text) > _LONGEST_LINE
        or ":" in text
        or not any(c.isdigit() or c in "∞ef½" for c in text)
    ):
        return 0
    if "=" in text:
        return len(_equations(text, columns))
    for right in (columns, 0):
        for gap in _GAPS:
            cells = re.split(gap, text)
            if ";" in text and len(cells) == 1:
                continue  # of 1; 2 the last would be read
            if (len(cells) == right or (not right and len(cells) > 1)) and all(map(cell, cells)):
                return len(cells)
    return 1 if is_number(text) and ";" not in text else 0


_known_count = lru_cache(maxsize=2**11)(_counted)
_LONGEST_KNOWN = 120


def _equations(line: str, columns: int) -> list[str]:
    """Entries with their working, `2.72/3.72 = 0.73, 1/3.72 = 0.27`: as many as there should be, else more than one."""
    line = _ROUND_A_SIGN.sub(r"\1", line.strip())
    for right in (columns, 0):
        for gap in _GAPS:
            cells = re.split(gap, line)
            if (len(cells) == right or (not right and len(cells) > 1)) and all(map(_is_equation, cells)):
                return cells
    return []


def _is_equation(cell: str) -> bool:
    sides = re.split("[=≈]", cell)
    return len(sides) > 1 and all(side and is_number(side) for side in sides)


def _alone(line: str, columns: int) -> list[str]:
    """A number without working, between others that have it, in a column."""
    return [line.strip()] if columns == 1 and "=" not in line and is_number(line) else []


def _results(text: str, columns: int) -> Rows:
    """Lines of such entries, as many in each; none if it is anything else."""
    lines = [line for line in text.splitlines() if line.strip()] if "=" in text and "[" not in text else []
    rows = tuple(tuple(_equations(line, columns) or _alone(line, columns)) for line in lines)
    return rows if len({len(row) for row in rows}) == 1 and len(rows) * len(rows[0]) > 1 and rows[0] else ()


_SPACE = r"(?<!\s)\s*"  # a whole run of it: beginning in the middle of a long one takes its square
_GAPS = (r"\t+", rf"{_SPACE}&\s*", rf"{_SPACE}\|\s*", rf"{_SPACE};\s*", r",\s+", r",", r"\s{2,}", r"\s+")
_ROUND_A_SIGN = re.compile(rf"{_SPACE}([=≈*/·×÷+]|(?<=\s)[-−](?=\s))\s*")
_LONGEST_LINE = 2000
_BEGINS_WRONGLY = re.compile(r";|,(?!\d)")


def _readable_or_crossed(cell: str) -> bool:
    """Also a cross, as in a row of masked scores: 1 x x."""
    return is_crossed(cell) or is_number(cell)


_BETWEEN_NUMBERS = re.compile(r"\d\s*[^\d\s.,;+−-]\s*\d")  # 3 x 4


def _plausible(rows: Rows) -> bool:
    """Whether a matrix has numbers in it: most of what is written can be read."""
    if len(rows) > LARGEST or max(map(len, rows), default=0) > LARGEST:
        return False
    kinds = Counter(kind_of(cell) for row in rows for cell in row)
    return kinds["number"] > 0 and kinds["number"] >= kinds["words"]


def _says_something_else(text: str) -> bool:
    """Whether what a line ends in may not be what it began with: numbers, and words, and an equals sign."""
    before, sign, _ = text.rpartition("=")
    alone = sign and "\n" not in text and len(_NUMBERS.findall(before)) > 2
    return bool(alone) and _WORD_BETWEEN.search(before) is not None


def _has_shape(rows: Rows, shape: Shape) -> bool:
    return len(rows) == shape[0] and {len(row) for row in rows} == {shape[1]}


def _has_unread(rows: Rows) -> bool:
    """Whether an entry is no number, so that a shape that does not fit may be no mistake."""
    return not all(map(_readable_or_crossed, chain.from_iterable(rows)))


def _is_run_together(rows: Rows, shape: Shape) -> bool:
    """Whether entries were not told apart, so that the shape is wrong as well: "1,0  -1,0" is no difference."""
    return not _has_shape(rows, shape) and any(map(holds_two, chain.from_iterable(rows)))


def _is_prose(text: str, rows: Rows, shape: Shape) -> bool:
    """Whether what was read in a line is a sentence with numbers in it: words between them, or rows of any length."""
    if "\n" in text:
        return False
    unread = [cell for row in rows for cell in row if not is_number(cell)]
    if any(map(_WORD.search, unread)):
        return True
    return len(set(map(len, rows))) > 1 if len(rows) > 1 else bool(unread) and len(rows[0]) != shape[1]


def _all_readable(rows: Rows) -> bool:
    """Whether every entry is a number, a cross, or nothing, and one is a number at least."""
    return _plausible(rows) and not _has_unread(rows) and not any(map(holds_two, chain.from_iterable(rows)))


_MONTH = r"[^\W\d_]{3,10}\.?"
_DATE = re.compile(
    rf"(?:[^\W\d_]+,? )?(?:\d{{1,2}}(?:\.|st|nd|rd|th)? (?:de )?{_MONTH},?(?: de)?"
    rf"|{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?,?) \d{{4}}"
    r"|\d{1,2}([./-]) ?\d{1,2}\1 ?\d{4}|\d{4}([./-])\d{1,2}\2\d{1,2}|\d{4}年\d{1,2}月\d{1,2}日"
)
_WORD_OF_A_TITLE = re.compile(r"[^\W\d_][\w'’.-]*|\d{1,3}|\d{5,12}")


def is_title(text: str) -> bool:
    """Whether a line is a title, a name or a date, or may be one: a few words, and nothing to calculate with.

    >>> [is_title(line) for line in ("Worksheet 3, Ada", "# Answers", "12 March 2025", "S = 2", "0.5 0.5", "ln 2")]
    [True, True, True, False, False, False]
    """
    line = " ".join(text.strip(_NO_WORDS + ".:,!").split())
    words = [word for word in re.split(r"[\s,;:()&]+|[-–—](?=\s)", line) if word]
    return _DATE.fullmatch(line) is not None or (
        0 < len(words) <= _MOST_WORDS
        and all(map(_WORD_OF_A_TITLE.fullmatch, words))
        and any(len(word) > 1 + word.isascii() and word.isalpha() for word in words)
        and not is_number(line)
    )


def is_surely_title(text: str) -> bool:
    """Whether a title can be nothing else: a heading, a date, "Worksheet 3, Ada"."""
    line = " ".join(text.strip(_NO_WORDS + ".:,!").split())
    return text.lstrip().startswith("#") or bool(_DATE.fullmatch(line) or labels.title().fullmatch(line))


def no_answer(said: str) -> str:
    return message("This is not an answer: {text}", text=repr(said.strip()))


def told(left: Sequence[Piece]) -> Iterator[tuple[int, str]]:
    """What was left, as runs of lines: where each begins, and its beginning."""
    run: list[Piece] = []
    for piece in [*left, None]:
        if run and (piece is None or piece.start > run[-1].end + 1):
            text = " / ".join(" ".join(one.text.split()) for one in run)
            yield run[0].start, text if len(text) <= 80 else text[:77] + "..."
            run = []
        if piece is not None:
            run.append(piece)


__all__ = ["BULLET", "ONE_ROW", "FreeText", "Piece", "is_surely_title", "is_title", "no_answer", "pieces", "told"]
