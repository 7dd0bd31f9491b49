"""Answers in text that follows no sheet: matrices and numbers under, behind or beside their names.

    S = [[1, 2], [3, 4]]        ## Scores        (a) 1 2 / 3 4        The scores are 1, 2 and 3, 4.
                                1 2
    S_12 = 2                    3 4              Step 1: S =  1 2
                                                              3 4

Whatever is not used is given back, so that somebody can be told.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import groupby, islice, takewhile
from typing import Literal

from symattn.foundation.languages import message
from symattn.foundation.languages.words import whole_word
from symattn.marking.submissions import labels
from symattn.marking.submissions.answers import (
    MATRICES,
    Raw,
    RawText,
    Several,
    answer_in,
    grids_of,
    in_rows_of_table,
    is_line,
    shape_of,
    tables_of,
)
from symattn.marking.submissions.entries import (
    Shape,
    begins_with_a_word,
    shape_alone,
    shape_beside,
    stated_shape,
    without_last_shape,
    without_shape,
)
from symattn.marking.submissions.labels import AND, COLUMN, ROW, SO
from symattn.marking.submissions.matrices import (
    HEADS_OF_R,
    NUMBERS,
    another_beside,
    fits,
    has_numbers,
    labelled_block,
    matrix_in,
    open_brackets,
    without_comment,
)
from symattn.marking.submissions.names import (
    AROUND,
    LONGEST_LINE,
    LONGEST_NAME,
    LONGEST_SIGN,
    MARKED,
    MOST_WORDS,
    PLACE,
    Names,
    Resolver,
    words_of,
)
from symattn.marking.submissions.naming import (
    FIRST_NUMBER,
    Naming,
    Place,
    partition,
    section_pattern,
    without_marker,
    without_version,
)
from symattn.marking.submissions.places import (
    IN_ANY_WORDS,
    NO_WORDS,
    PLACED,
    Piece,
    Places,
    is_answer,
    is_title,
    no_answer,
)
from symattn.marking.submissions.tables import (
    LARGEST,
    LONGEST,
    Cells,
    Rows,
    are_counted,
    as_row,
    count_numbers,
    entries_of,
    has_shape,
    has_unread,
    is_entry,
    is_label,
    is_plausible,
    without_kind,
)
from symattn.marking.submissions.written import Written
from symattn.teaching.question import (
    CellsAnswer,
    ChoiceAnswer,
    OrderAnswer,
    Part,
    PropertyAnswer,
    RubricAnswer,
    ShapeAnswer,
    total,
)

_MAY_BE_MATRIX = re.compile(r"[\[({][^=+*·×]*$")
"""What may be a matrix in a notation that nobody reads, and is no calculation."""
_OF_ITS_OWN = re.compile(r"\s*[^\W\d]\w*\s*(?:=|<-)")
"""What a program or a text calls by a name of its own."""
MOST_IN_VAIN = 300
"""Lines without an answer, after which only those with a name are looked at; the others are told, and wait."""
MOST_OF_ONE = 40
"""Statements of one name; further ones are told, and wait."""
USUAL_WIDTH = 80
"""Characters of a line; longer ones count as several."""


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
    passed_over: Piece | None = None
    """The first that was not looked at, because so many before it are no answer, and it has no name."""
    names: Names = field(init=False)
    resolver: Resolver = field(init=False)
    naming: Naming = field(init=False)
    _at: int = 0
    _target: str = ""
    _turned: str = ""
    """The name of a matrix whose transpose is spoken of."""
    _heads: list[Piece] = field(default_factory=list)
    _answered: dict[Piece, str] = field(default_factory=dict)
    """What was answered last in a line."""
    _statements: Counter[str] = field(default_factory=Counter)
    """How often a part or a step was spoken of."""
    _title: Piece | None = None
    """The last line that names what follows for every head or token."""
    _old: frozenset[str] = frozenset()
    """What was answered in a way that was called wrong, or a first try."""
    _twofold: set[str] = field(default_factory=set)
    """What is announced by a word that may mean another part as well."""
    _only_names: set[Piece] = field(default_factory=set)
    """Lines that name a part and say nothing of it."""
    _grids: list[_Grid] = field(default_factory=list)
    _entries: dict[str, dict[Place, tuple[str, ...]]] = field(default_factory=dict)
    """Entries and rows of matrices, as many as stand side by side, by the place of the first."""
    _strange: list[tuple[Piece, str, str, int]] = field(default_factory=list)
    """What stands behind a name and is no matrix: its piece, the text, the name, and the token that was spoken of."""

    def __post_init__(self) -> None:
        self.names = self.written.names
        self._target = self.here
        if not self.beside and not self.here:
            self.pieces = Places(self.written, self.pieces).joined()
        elif (
            self.here
            and not self.beside
            and isinstance(self.written.part(self.here).answer, ChoiceAnswer | OrderAnswer)
        ):
            self.pieces = self._in_one()
        places = filter(None, (PLACED.match(piece.text) for piece in self.pieces))
        lettered = any(place["place"] == "b" for place in places)
        self.resolver = Resolver(self.names, lettered)
        self.naming = Naming(self.written, self.resolver)

    def _in_one(self) -> list[Piece]:
        """All that stands below the heading of a choice or an order is one answer, perhaps in several lines."""
        number = self.names.parts.index(self.here) + 1
        text = "\n".join(piece.text for piece in self.pieces)
        return [Piece(self.pieces[0].start, self.pieces[-1].end, f"{number}) {text}", part=self.here)]

    def unread(self) -> list[Piece]:
        """What is left when everything that can be read has been put under its part."""
        in_vain = 0
        while self._at < len(self.pieces):
            piece, known = self.pieces[self._at], len(self.used)
            is_passed_over = in_vain > MOST_IN_VAIN and not (piece.blank or self._is_named(piece))
            if is_passed_over and self.passed_over is None:
                self.passed_over = piece
            if piece.blank or is_passed_over or not self._read(piece):
                self._at += 1
            if not piece.blank and len(self.used) == known:
                in_vain += 1 + len(piece.text) // USUAL_WIDTH
        for name, found in self._entries.items():
            self._answer(name, self._at_places(name, found), ())
        if not self.beside:
            self._without_names()
        for piece, text, name, token in self._strange:
            answered = name in self.written.parts or name in self.written.more
            if piece in self.used and (token or not answered):  # used for something else
                self.written.not_read(self.where(piece.start), text.strip(" ,;."), name)
        done = self.used | self._only_names
        return [piece for piece in self.pieces if not piece.blank and piece not in done]

    def _is_named(self, piece: Piece) -> bool:
        """Whether a line or a table begins with the name or the place of an answer, or stands right below one."""
        is_below = self._target and self._heads and piece.start <= self._heads[-1].end + self._shape[0] + 2
        head = piece.rows[0][0] if piece.rows else partition(without_marker(piece.text[:LONGEST_NAME]))[0]
        return bool(piece.part or is_below or self.names.sign(head.strip(AROUND)))

    def doubt_beside(self, unread: Sequence[Piece]) -> None:
        """What was not read may belong to the answer above it, to what it speaks of, and to what has no answer."""
        left, above, named = set(unread), "", ""
        own = (piece for piece in unread if len(piece.text) <= LONGEST_LINE and _OF_ITS_OWN.match(piece.text))
        values = {piece: partition(piece.text)[2] for piece in own}
        read = {piece: matrix_in(value, (0, 0)) for piece, value in islice(values.items(), MOST_OF_ONE)}
        self.written.called_otherwise |= {matrix.shape for matrix in read.values() if matrix}
        illegible = {piece for piece, value in values.items() if not read.get(piece) and _MAY_BE_MATRIX.match(value)}
        for is_left, run in groupby((piece for piece in self.pieces if not piece.blank), left.__contains__):
            lines = [piece.text for piece in run if piece in illegible or not _OF_ITS_OWN.match(piece.text)]
            rows = "\n".join(line for line in lines if not begins_with_a_word(line))
            if is_left and any(map(has_numbers, (rows, *lines))):
                self.written.numbers_of.add(self.here)
        for piece in self.pieces:
            if piece in left:
                if named and any(map(str.isdigit, piece.text)):
                    self.written.numbers_of.add(named)
                words = (word.strip(AROUND) for word in words_of(piece.text))
                signs = (self.names.sign(word) for word in words if len(word) <= LONGEST_SIGN)
                head, _, rest = partition(piece.text)
                name = self.names.sign(head.strip(AROUND)) if NUMBERS.search(rest) else ""
                if name in self.names.parts and name not in self.written.parts:
                    self.written.unread.add(name)
                for name in filter(None, dict.fromkeys((above, *signs))):
                    self.written.doubt_beside(piece.text, name)
            elif not piece.blank:
                above = self._answered.get(piece, "")
                named = "" if above else self.naming.label(without_marker(piece.text))[0]

    def titles(self, unread: Sequence[Piece]) -> list[Piece]:
        """Of what is left: headings, and above all answers the lines that say whose work it is, of what and when."""
        left = set(unread)
        lines = (piece for piece in self.pieces if not piece.blank)
        above = takewhile(lambda piece: piece in left and is_title(piece.text) and not self._is_answer(piece), lines)
        headings = [piece for piece in unread if piece.text.lstrip().startswith("#") and is_title(piece.text)]
        return [*headings, *(above if self.used and not self.here else ())]

    def _is_answer(self, piece: Piece) -> bool:
        """Whether a line begins with the number of a part that is no line of a derivation, or with the name of a part
        or a step, or has a sign of one in it: it is no title.
        """
        words = (word.strip(".:!?") for word in words_of(piece.text))
        short = (word for word in words if len(word) <= LONGEST_SIGN and not word.isdigit())
        is_numbered = bool(piece.part) and not is_line(self.written.part(piece.part))
        return is_numbered or bool(self.naming.label(without_marker(piece.text))[0] or any(map(self.names.sign, short)))

    def may_answer(self, piece: Piece) -> Iterator[str]:
        """The parts without an answer that words may be one to."""
        for part in self.written.question.parts:
            in_words = part.name not in self.written.parts and isinstance(part.answer, _IN_WORDS)
            if in_words and answer_in(part, piece.text):
                yield part.name

    # -------------------------------------------------------------------------------- names

    def _read(self, piece: Piece) -> bool:
        """Whether a line or a table was read, with the lines below that belong to it."""
        if piece.rows:
            return self._table(piece, piece.rows)
        if len(piece.text) > LONGEST:
            return False
        if self._one_below_the_other() or self._labelled_rows() or self._named_rows(piece):
            return True
        return (not self._is_of_numbers(piece) and self._statement(piece)) or self._below(piece)

    def _is_of_numbers(self, piece: Piece) -> bool:
        """Whether a line is a row of what is spoken of: 2 2 is what was to come, and not part 2."""
        columns = self._shape[1]
        if columns and count_numbers(piece.text, columns) == columns and not self._is_place(piece):
            return True
        is_digits = piece.text.strip().isdigit()
        return is_digits and bool(piece.row or self._is_alone(piece) or self._goes_on(piece))

    def _statement(self, piece: Piece) -> bool:
        """Whether a line says something of a part or a step by its name; if so, that is read."""
        if piece.part and self._numbered(piece, piece.text.strip()):
            return True
        if self._behind_answer(piece):
            return True
        text = self._in_section(piece, self._without_marks(without_marker(piece.text)))
        if not text:
            self._use(piece)
            return True
        if self._shape_alone(piece, text) or self._some_entries(piece, text) or self._numbered(piece, text):
            return True
        text, version = without_version(text)
        name, rest = self.naming.label(text)
        before = ""
        if not name and (found := _IN_A_SENTENCE.search(text)):
            before, rest = text[: found.start()], text[found.end() :]
            name = self.resolver.find(found[1], self.names.sign)  # … and so I get S = [[1, 2]]
        if turned := self.naming.transposed(text):
            name, rest = turned, partition(text)[2]
        self._statements[name] += 1
        if self._heads_sections() and self.names.is_of_each(partition(text)[2] or text):
            self._title, name = piece, name if self.names.whole(name) else ""  # Step 6: weighted values
            self._only_names.add(piece)
        elif name:
            self._title = None
        if not name or self._statements[name] > MOST_OF_ONE:
            return False
        if (self.beside and name == self.here) or turned in self.written.parts:
            return False
        if len(NUMBERS.findall(before)) > 1:
            self.written.not_read(self.where(piece.start), before, "")
        self._at += 1
        self._target, self._turned, self._heads = name, turned, [piece]
        if version == "old" and name in self.written.parts:
            self._tell((piece.text,), piece)  # what came of it stands above
            self.used.add(piece)
            self._target = ""
            return True
        if version == "new" or name in self._old:
            self._supersede(name, piece)
        self._old = self._old | {name} if version == "old" else self._old - {name}
        if shape := shape_beside(partition(text)[0]):
            self.written.put_shape(name, shape)
        part, section = self._part(name), self.resolver.section
        words = words_of(MARKED.sub(r"\2", text).strip(AROUND))
        alone = {*map(self.names.sign, words)} == {name} or self.names.sign(" ".join(words)) == name
        alone = alone or bool(section and self.names.within(partition(text)[2].strip(AROUND), *section) == name)
        if part and isinstance(part.answer, MATRICES) and alone:
            self._only_names.add(piece)
        self._content(piece, as_row(rest))
        return True

    def _behind_answer(self, piece: Piece) -> bool:
        """Whether a line below a name says that what comes is the answer: Answer: [[1, 2]]."""
        is_spoken_of = bool(self._target) and not (self.beside and self._target == self.here)
        found = labels.before_answer().match(without_marker(piece.text)) if is_spoken_of else None
        if found is None:
            return False
        if self.names.sign(found[1]) not in ("", self._target):  # "result" is a word for the output as well
            self._twofold.add(self._target)
        rest = without_marker(piece.text)[found.end() :]
        self._at += 1
        self._heads.append(piece)
        if rest.strip(NO_WORDS):
            self._content(piece, as_row(rest))
        return True

    def _named_rows(self, piece: Piece) -> bool:
        """Lines that all begin with the name of their matrix, S, 1, 2 and S, 3, 4, or with nothing below it; or the
        first does, before the heads of columns, S, k1, k2.
        """
        first, *heads = piece.text.split("\t")
        name = self.resolver.called(first) if heads and _NAME_IN_A_CELL.fullmatch(first) else ""
        lines = self.pieces[self._at : self._at + self.written.shape(name)[0]] if name else ()
        headed = are_counted(heads) or all(head.strip() and is_label(head) for head in heads)
        is_beside = len(lines) > 1 and all(line.text.startswith((f"{first}\t", "\t")) for line in lines)
        if not lines or not (headed or is_beside):
            return False
        before, self._target = (self._target, self._heads), name
        self._heads = []
        if self._labelled_rows():
            return True
        self._target, self._heads = before
        return False

    def _one_below_the_other(self) -> bool:
        """As many numbers as a matrix has entries, each on a line of its own, as Google Docs saves a table as text."""
        high, wide = self._shape
        if high < 2 or wide < 2 or not is_entry(self.pieces[self._at].text.strip()):
            return False
        lines = [*islice((piece for piece in self.pieces[self._at :] if not piece.blank), high * wide + 1)]
        entries = [*takewhile(is_entry, (line.text.strip() for line in lines))]
        is_other = any(line.rows or self.naming.entries(line.text) for line in lines[: len(entries)])  # S_11 = 2
        if len(entries) != high * wide or is_other:
            return False
        name, rows = self._target, tuple(tuple(entries[i : i + wide]) for i in range(0, len(entries), wide))
        self._at = self.pieces.index(lines[len(entries) - 1]) + 1
        self._put_grid(_Grid(Cells(rows), tuple(lines[: len(entries)])))
        says = message("Its numbers stand one below the other, and were read row by row; a person has to look at it.")
        self.written.doubt(name, says)
        return True

    def _labelled_rows(self, beside: Piece | None = None) -> bool:
        """Lines below a name with labels above or beside the entries, or remarks behind them; the first of them may
        stand `beside` the name.
        """
        in_columns = self._at < len(self.pieces) and _ONE_COLUMN.match(self.pieces[self._at].text)
        shape = self._shape[::-1] if in_columns else self._shape
        most = self.pieces[self._at : self._at + shape[0] + 1] if all(shape) else ()
        lines = [*([beside] if beside else ()), *takewhile(lambda piece: not (piece.blank or piece.rows), most)]

        def are_statements(rows: Sequence[str]) -> bool:
            is_headed = len(rows) > shape[0]
            begins_another = not is_headed and self.naming.begins_another(rows, self._target)
            return begins_another or self.naming.are_statements(rows)

        found = labelled_block([line.text for line in lines], shape, are_statements)
        if found is None:
            return False
        block, count = found
        self._at += count - bool(beside)
        self._tell(block.remarks, lines[0])
        matrix = Cells(block.rows).transposed() if in_columns else Cells(block.rows)
        self._put_grid(_Grid(matrix, tuple(lines[bool(beside) : count])))
        return True

    def _supersede(self, name: str, piece: Piece) -> None:
        """What comes is said to count, or what was there not to: nobody has to decide between them."""
        if self.written.parts.pop(name, None) or self.written.more.pop(name, None):
            says = message("{part} was answered twice; the last answer counts.", part=self.names.shown(name))
            self.written.remark(self.where(piece.start), says)

    def _in_section(self, piece: Piece, text: str) -> str:
        """A line without "Head 2:" or "Token 2:" before it, of which all speaks that follows until there is another."""
        found = section_pattern().match(text)
        if found is None or self.beside:
            return text
        kind: Literal["head", "token"] = "head" if found[1] else "token"
        self.resolver.section = (kind, int(found[1] or found[2]))
        rest = text[found.end() :].strip()
        if FIRST_NUMBER.match(rest) and not MARKED.match(rest):
            return text  # head 1: [[1, 2], [3, 4]]
        above = self.naming.label(without_marker(self._title.text))[0] if self._title else ""
        self._target, self._heads = ("" if rest else self.names.sign(found[0]) or above), [piece]
        return rest

    def _heads_sections(self) -> bool:
        """Whether what comes next is said of one head or of one token: For input 1:."""
        below = next((piece.text for piece in self.pieces[self._at + 1 :] if not piece.blank), "")
        return section_pattern().match(below) is not None

    def _without_marks(self, text: str) -> str:
        """A heading without the marks that it is worth: "1. Means μ = mean(X) [2]", "Means (2 marks)"."""
        found = _MARKS.search(text)
        if found is None or found[2] or not any(map(str.isalpha, text[: found.start()])):  # 4. [2]
            return text[: found.start()] if found and found[2] else text
        name, rest = self.naming.label(text[: found.start()])
        part = self._part(name)
        is_worth = part and (total(part.marks) == int(found[1]) or math.prod(shape_of(part)) > 1)  # or was once
        return text[: found.start()] if is_worth and not any(map(str.isdecimal, without_shape(rest))) else text

    def _shape_alone(self, piece: Piece, text: str) -> bool:
        """A line that states shapes of matrices and nothing else; below a name, that may be the shape alone."""
        text = text.strip(" $")
        part = self._part(self._target)
        below = shape_alone(text) if part and part.shape_counts else None
        if below and sorted(below) == sorted(self._shape):
            self.written.put_shape(self._target, below)
            self.used.update((piece, *self._heads))
            self._at += 1
            return True
        statements = [stated_shape(one) for one in _ALSO.split(text)]
        found = [(self.resolver.called(one[0]), one[1]) for one in statements if one]
        if len(found) < len(statements) or not all(self.written.has_shape(name) for name, _ in found):
            return False
        for name, shape in found:
            self.written.put_shape(name, shape)
        self._use(piece)
        self._target, self._heads = found[0][0] if len(found) == 1 else "", [piece]
        return True

    def _numbered(self, piece: Piece, text: str) -> bool:
        """The number of a part that asks for no matrix, and its answer behind it: "2. A, C", "Question 3: n.d."."""
        found = PLACED.match(text) or labels.question().match(text)
        if found is None or self.beside:
            return False
        part = self._part(self.names.place([*filter(None, found.groups())][-1]))
        rest = text[found.end() :].lstrip(" \t.):：")
        if part is None or isinstance(part.answer, MATRICES) or part.name in self.naming.done or not rest:
            return False
        if piece.part and isinstance(part.answer, _IN_LINES):
            self._at += 1
            self._words(part, piece, rest)
            return True
        answer = answer_in(part, rest)
        if not answer and piece.part:
            self.written.not_read(self.where(piece.start), rest, part.name)
            self._use(piece)
            return True
        if not answer or not self._answer(part.name, RawText(answer), [piece]):
            return False
        if reason := rest[len(answer) :].strip(" ,;:."):
            self.written.not_read(self.where(piece.start), reason, part.name)
        self._at += 1
        return True

    def _some_entries(self, piece: Piece, text: str) -> bool:
        """S_12 = 3, S[1,2] = 3, "s11 = 1·2 + 1 = 3, s12 = 4", "Scores: s1 = (1, 2)", "S row 1: 3 4", "row 2: 5 6"."""
        text = _SO.sub("", text)
        head, sign, rest = partition(text)
        found = self.naming.entries(text)
        if not found and sign and sign != "=":
            found = [one for one in self.naming.entries(rest) if self.resolver.called(head) in ("", one[0])]
        if not found:
            return False
        for name, place, texts in found:
            self.resolver.last = name
            self._entries.setdefault(name, {})[place] = texts
        self._use(piece)
        if _ONE_ROW.fullmatch(head.strip(AROUND)):  # the rows with the numbers that come next stand below
            for number, below in enumerate(self.pieces[self._at :], place[0] + 1):
                row = matrix_in(below.text, (1, len(texts))) if below.row == number else None
                if row is None or len(row.rows[0]) != len(texts):
                    break
                self._entries[name][number,] = row.rows[0]
                self._use(below)
        return True

    def _use(self, *pieces: Piece) -> None:
        self.used.update(pieces)
        self._at += len(pieces)

    def _at_places(self, name: str, found: Mapping[Place, Sequence[str]]) -> Cells:
        """The entries and rows of a matrix, where programmers count from 0."""
        high, wide = self.written.shape(name)
        from_0 = not all(map(all, found))
        cells = {(row + from_0, j): text for (row, *column), texts in found.items()
                 for j, text in enumerate(texts, column[0] + from_0 if column else 1)}  # fmt: skip
        return Cells.at_places(cells, (max([high, *(i for i, _ in cells)]), max([wide, *(j for _, j in cells)])))

    # -------------------------------------------------------------------------------- what belongs to a name

    def _content(self, head: Piece, rest: str) -> None:
        """What stands behind a name, perhaps over several lines, and behind further names on the last of these."""
        name, lines = self._target, [head]
        is_whole = False  # whether all lines up to the last bracket are there
        while name:
            self._target, self._heads = name, lines[-1:]
            part, lines = self._part(name), lines[-1:]
            if part is not None and not isinstance(part.answer, MATRICES):
                text, name, rest = self.naming.apart(rest)
                self._words(part, lines[0], text)
                continue
            if part is not None and self._rows_of_table(part, lines[0], rest):
                return
            if not is_whole:
                rest, further = self._to_its_bracket(lines[0], rest)
                lines, is_whole = [*lines, *further], True
            text, name, rest = self.naming.apart(rest)
            is_alone = not name and len(lines) == 1
            if is_alone and self._labelled_rows(replace(lines[0], text=text)):
                return
            if text.strip(NO_WORDS) and not self._value(lines, text):
                return

    def _value(self, lines: list[Piece], text: str) -> bool:
        """The matrix that stands in lines behind its name; false if they have to be read again, one by one."""
        (head, *further), shape = lines, self._shape
        text, size = without_last_shape(text)
        if size:
            self.written.put_shape(self._target, size)
        text = self._before_prose(head, text, shape)
        of_token = self._token > 0 and shape[0] > 1
        is_unclear = self.naming.ends_in_another(text, self._target)
        row = matrix_in(text, (1, shape[1])) if of_token and not is_unclear else None
        matrix, below = row, list[Piece]()
        if not is_unclear and not (row and self._is_row_of_token(row, shape)):
            matrix, below = self._with_rows_below(text, shape)
        taken = [*lines, *below]
        if of_token and matrix and len(matrix.rows) == 1:
            if self._is_row_of_token(matrix, shape):
                self._entries.setdefault(self._target, {})[self._token,] = matrix.rows[0]
                self.used.update(taken)
            else:
                self._strange.append((head, text, self._target, self._token))
        elif matrix:
            if another := another_beside(text, matrix):
                self.written.not_read(self.where(head.start), another, self._target)
            if not self._answer(self._target, matrix, taken):
                self._target = ""
        elif not any(c.isalnum() or c == "∞" for c in text):
            self.used.update(taken)  # ____ or ?
        elif further:
            self._at -= len(further)
            return False
        else:
            self._strange.append((head, text, self._target, 0))
            if has_numbers(text):
                self._target, self._heads = "", []  # what stands below is something else
        return True

    def _rows_of_table(self, part: Part, head: Piece, text: str) -> bool:
        """Numbers behind words for the rows of the table that a part prints, behind its name or in the lines below."""
        below = self.pieces[self._at : self._at + self._shape[0]] if not text.strip(NO_WORDS) else ()
        lines = [*takewhile(lambda piece: not (piece.blank or piece.rows or piece.part), below)]
        cells = in_rows_of_table(part, "\n".join(line.text for line in lines) or text) if tables_of(part) else None
        if cells is None:
            return False
        self._at += len(lines)
        return self._answer(part.name, cells, [head, *lines])

    def _before_prose(self, head: Piece, text: str, shape: Shape) -> str:
        """Numbers without the sentence that goes on behind them: 4, 9, 25, so the deviations are 2, 3, 5."""
        text = without_kind(text)
        for found in islice(_PROSE.finditer(text[:LONGEST_LINE]), MOST_WORDS):
            numbers = matrix_in(text[: found.start()], shape)
            if numbers and (has_shape(numbers.rows, shape) or self._is_row_of_token(numbers, shape)):
                rest = text[found.start() :].strip(" ,;.")
                self.written.not_read(self.where(head.start), rest, "")
                return text[: found.start()]
        return text

    @property
    def _shape(self) -> Shape:
        """That of the matrix which is spoken of, as it is written."""
        high, wide = self.written.shape(self._target)
        return (wide, high) if self._target and self._turned == self._target else (high, wide)

    @property
    def _token(self) -> int:
        """The token that is spoken of; 0 if none is."""
        return self.resolver.section[1] if self.resolver.section and self.resolver.section[0] == "token" else 0

    def _is_row_of_token(self, matrix: Cells, shape: Shape) -> bool:
        """Whether it can be the row of the token that is spoken of."""
        wanted = self._token > 0 and shape[0] > 1 and self._target not in self.naming.done
        return wanted and has_shape(matrix.rows, (1, shape[1]))

    def _words(self, part: Part, head: Piece, rest: str) -> None:
        """An answer that is no matrix: what stands behind its name, or the next line; an explanation in all lines."""
        below: list[Piece] = []
        is_whole = rest.strip(NO_WORDS) and not isinstance(part.answer, _IN_LINES)
        for piece in () if is_whole else self.pieces[self._at :]:
            if not piece.blank and self._begins_another(piece, part, head):
                break
            below.append(piece)
            if not piece.blank and not isinstance(part.answer, _IN_LINES):
                break
        text = "\n".join([rest.strip(), *(piece.text.strip() for piece in below)]).strip()
        if text:
            self._at += len(below)
            self._answer(part.name, RawText(text), [head, *below])

    def _begins_another(self, piece: Piece, part: Part, head: Piece) -> bool:
        """Whether a line has the name of a part or a step before it, or the place of a later part than this."""
        parts = self.names.parts
        if piece.part and parts.index(piece.part) > parts.index(part.name):
            return True
        text = without_marker(piece.text)
        item = MARKED.match(text) if PLACED.match(head.text) and not piece.part else None
        return bool(self.naming.label(item[2] if item else text)[0])

    def _to_its_bracket(self, head: Piece, text: str) -> tuple[str, list[Piece]]:
        """A text with the lines from here on, up to the bracket that closes what it opens, or to another name; comments
        behind its rows are none of it.
        """
        taken: list[Piece] = []
        remarks: dict[Piece, str] = {}
        text, remarks[head] = without_comment(text)
        lines, opened = [text], open_brackets(text)
        for piece in self.pieces[self._at : self._at + LARGEST]:
            if opened <= 0:
                break
            line, remarks[piece] = without_comment(piece.text)
            taken.append(piece)
            lines.append(line)
            opened += open_brackets(line)
        if opened > 0 and len(taken) == LARGEST:  # no matrix is so long
            taken, lines, remarks = [], lines[:1], {head: remarks[head]}
        self._at += len(taken)
        for piece, remark in remarks.items():
            self._tell([remark] if remark else (), piece)
        return "\n".join(lines), taken

    def _with_rows_below(self, text: str, shape: Shape) -> tuple[Cells | None, list[Piece]]:
        """A row of numbers with the rows below it, between which there may be gaps as long as rows are lacking; any
        other text alone; as a matrix, and the lines below.
        """
        whole = matrix_in(text, shape)
        is_whole = whole is not None and has_shape(whole.rows, shape) and (";" in text or "[[" in text)
        count, rows, lines = count_numbers(text, shape[1]), 1, list[Piece]()
        is_first = count > 1 or count == 1 == shape[1]
        for piece in self.pieces[self._at : self._at + 2 * LARGEST] if is_first else ():
            is_row = not piece.rows and count_numbers(piece.text, count) == count and not self._is_place(piece)
            is_row = is_row and not self.naming.are_statements([piece.text])  # Mean loss → 2
            if not is_row and not (piece.blank and rows < shape[0]):
                break
            rows += is_row
            lines.append(piece)
        while lines and lines[-1].blank:
            lines.pop()
        matrix = matrix_in("\n".join((text, *(line.text for line in lines))), shape) if 1 < rows <= LARGEST else None
        # What was not told apart would vanish; 0,5; 0,25 is a row above others, and else rows with 5 and 25.
        if matrix and (has_shape(matrix.rows, shape) if is_whole else len(matrix.rows) > 1):
            self._at += len(lines)
            return matrix, lines
        return whole, []

    def _below(self, piece: Piece) -> bool:
        """Rows of numbers, or a matrix in brackets, below a name or without one."""
        text = _SIGN_BEFORE.sub("", piece.text)
        in_brackets = "[" in text
        is_something = partition(piece.text)[1] == "=" and in_brackets  # which nobody knows by this name
        if self.naming.is_of_another(text) or (is_something and not self._target) or HEADS_OF_R.match(text):
            return False
        at, shape, is_alone = self._at, self._shape, self._is_alone(piece)
        self._at += 1
        further: list[Piece] = []
        if in_brackets:
            text, further = self._to_its_bracket(piece, text)
        matrix, below = (None, []) if begins_with_a_word(text) else self._with_rows_below(text, shape)
        count = count_numbers(piece.text, shape[1])
        fits = self._target and matrix and has_shape(matrix.rows, shape)  # 1 2 / 3 4
        is_row = in_brackets or below or count > 1 or count == 1 == shape[1] or fits
        if is_alone:
            matrix = Cells(((text.strip(),),))
        elif matrix is None or not is_row or self.naming.ends_in_another(text, self._target):
            self._at = at
            return False
        if another := another_beside(text, matrix) if not below else "":
            self.written.not_read(self.where(piece.start), another, self._target)
        self._put_grid(_Grid(matrix, (piece, *further, *below)))
        return True

    def _put_grid(self, grid: _Grid) -> None:
        if not self._target:
            self._grids.append(grid)
        elif not (self.beside and self._target == self.here):
            self._answer(self._target, grid.cells, [*self._heads, *grid.pieces])
        self._target, self._heads = "", []

    def _is_alone(self, piece: Piece) -> bool:
        """Whether a number is all that stands right below the name of a matrix: it has one entry then."""
        if self._heads != [self.pieces[self._at - 1]] or not _NUMBER.fullmatch(piece.text):
            return False
        below = next((other for other in self.pieces[self._at + 1 :] if not other.blank), None)
        return below is None or not count_numbers(below.text, 0)

    def _goes_on(self, piece: Piece) -> bool:
        """Whether a number goes on what could not be read in the line above, and is no part's."""
        above = self.pieces[self._at - 1] if self._at else piece
        return above.end == piece.start and not above.blank and above not in self.used

    def _is_place(self, piece: Piece) -> bool:
        """Whether a line is the place of a part, and no number or e below others; in a derivation, 3. may be one."""
        is_place = piece.part and PLACE.fullmatch(piece.text.strip(" :"))
        return bool(is_place) and not any(map(is_line, self.written.question.parts))

    # -------------------------------------------------------------------------------- tables and formulas

    def _table(self, piece: Piece, rows: Rows) -> bool:
        """A table below a name, or with one in its first cell, with or without heads of its columns and rows."""
        if statements := self._statements_of(piece, rows):
            self.pieces = [*self.pieces[: self._at], *statements, *self.pieces[self._at + 1 :]]
            return True
        corner, *heads = rows[0]
        name = self.resolver.called(corner) if any(map(str.isalpha, corner)) else ""
        if name and len(rows) > 1 and not (self.beside and name == self.here):
            self._target, self._heads = name, []
            if {len(row) for row in rows[1:]} == {len(heads)}:  # S = | | 1 | 2 |
                rows = (tuple(heads), *rows[1:])
            elif not any(row[0].strip() for row in rows[1:]):  # the name has a column of its own
                rows = tuple(row[1:] for row in rows)
        shape = self._shape
        block = entries_of(rows, shape)
        if block is None or not is_plausible(block.rows):
            return False
        if any(shape) and not has_shape(block.rows, shape):
            of_another = not name and is_label(corner) and corner.strip(NO_WORDS)
            if of_another or has_unread(block.rows):
                return False
        self._at += 1
        self._tell(block.remarks, piece)
        self._put_grid(_Grid(Cells(block.rows), (piece,)))
        return True

    def _statements_of(self, piece: Piece, rows: Rows) -> list[Piece]:
        """A table in which every row but one, perhaps below heads, has the name of another part and, behind it, all
        that is said of that: its rows as lines; none of any other table.
        """
        if not (self.resolver.called(rows[0][0]) or any("[" in cell or count_numbers(cell, 0) for cell in rows[0])):
            rows = rows[1:]  # heads
        cells = [[cell for cell in map(_BREAK_IN_A_CELL, row) if cell] for row in rows]
        if numbered := self._numbered_rows(cells):
            return [replace(piece, text=line, rows=()) for line in numbered]
        names = [self._called_in_row(row) for row in cells]
        named = [(name, said[-1]) for name, said in zip(names, cells, strict=True) if name]
        if len(named) < max(1, len(rows) - 1) or len({name for name, _ in named}) < len(named):
            return []
        if not all(self._answers(name, said) for name, said in named):
            return []
        for name, said in zip(names, cells, strict=True):
            self._tell_between(piece, name, said[bool(self.resolver.called(said[0])) : -1] if name else ())
        lines = map(self._as_statement, names, cells)
        return [replace(piece, text=line, rows=()) for line in lines]

    def _numbered_rows(self, cells: Sequence[Sequence[str]]) -> list[str]:
        """A table with the name and the number of a row before its entries, | S | 2 | 3, 4 | or | S | 2 | 3 | 4 |, as
        lines, S row 2: 3; 4; none if it is any other table.
        """
        if any(len(row) < 3 for row in cells):
            return []
        names = [self.resolver.called(row[0]) for row in cells]
        for name in names:
            high, wide = self.written.shape(name)
            own = {row[1]: row[2:] for row, owner in zip(cells, names, strict=True) if owner == name}
            is_whole = all(count_numbers("; ".join(said), wide) == wide for said in own.values())
            is_numbered = all(number.isdigit() for number in own) and (wide > 1 or len(own) == high)
            if not (name and is_whole and is_numbered and len(own) == names.count(name)):
                return []
        return [f"{first} row {number}: {'; '.join(said).strip('[]')}" for first, number, *said in cells]

    def _called_in_row(self, cells: Sequence[str]) -> str:
        """The part or the step that a row of a table speaks of, in its first cell or in a statement in its last."""
        if not cells:
            return ""
        head, sign, _ = partition(cells[-1])
        return self.resolver.called(cells[0]) or (self.resolver.called(head) if len(cells) > 1 and sign == "=" else "")

    def _tell_between(self, piece: Piece, name: str, cells: Sequence[str]) -> None:
        """What stands between a name and what is said of it, but for its sign or its formula."""
        others = [said for said in cells if self.resolver.called(said) != name]
        self._tell([said for said in others if not has_numbers(said)], piece)
        for said in filter(has_numbers, others):
            self.written.not_read(self.where(piece.start), said, name)

    def _as_statement(self, name: str, cells: Sequence[str]) -> str:
        """A row of such a table as a line; one that has no name is told as it stands."""
        if not name or len(cells) < 2:
            return " ".join(cells)
        first, *said = cells
        if not self.resolver.called(first):  # | the first state | h_1 = [[1, 2]] |
            return said[-1]
        is_place = PLACE.fullmatch(first) and not self.names.sign(first)
        return f"{first.strip('().:')}) {said[-1]}" if is_place else " = ".join(cells)

    def _answers(self, name: str, text: str) -> bool:
        """Whether a text is an answer to a part or a step, and nothing else: a matrix of its shape, where it asks for
        one.
        """
        part = self._part(name)
        return (
            fits(text, self.written.shape(name))
            if part is None or isinstance(part.answer, MATRICES)
            else is_answer(part, text)
        )

    def _tell(self, remarks: Sequence[str], piece: Piece) -> None:
        """Words behind rows are no part of the matrix."""
        for said in dict.fromkeys(remarks):
            self.written.remark(self.where(piece.start), no_answer(said))

    # -------------------------------------------------------------------------------- matrices

    def _part(self, name: str) -> Part | None:
        return next((part for part in self.written.question.parts if part.name == name), None)

    def _answer(self, name: str, raw: Cells | RawText, taken: Sequence[Piece]) -> bool:
        """The answer to a part that has none yet, or a step that nobody asked for."""
        if self._in_space and name not in self.names.parts:
            name = self.here
        part = self._part(name)
        if name in self.naming.done or (self.beside and part is None):
            return False
        if name == self._turned and isinstance(raw, Cells):
            if not has_shape(raw.rows, self.written.shape(name)[::-1]):
                return False
            raw, self._turned = raw.transposed(), ""
        found: Raw = raw
        if part is not None and isinstance(part.answer, PropertyAnswer):
            found = Several({next(iter(part.answer.model)): raw})
        line = min((piece.start for piece in taken), default=0)
        if raw.blank or not self.written.put(name, found, self.where(line)):
            return raw.blank
        if isinstance(raw, Cells) and any(_MAY_BE_ITEM.match(piece.text) for piece in taken) and _is_unclear(raw):
            says = message("The sign before its first number may be a minus or a bullet; a person has to look at it.")
            self.written.doubt(name, says)
        if name in self._twofold:
            says = message("It may be called otherwise than it was read; a person has to look at it.")
            self.written.doubt(name, says)
        self.used.update(taken)
        self._answered |= dict.fromkeys(taken, name)
        self._target, self.resolver.last, self._heads = "", name, []
        return True

    @cached_property
    def _in_space(self) -> bool:
        """Whether all stands in the space of a part that prints no box for its matrix: it may have any name."""
        part = self._part(self.here)
        return part is not None and isinstance(part.answer, MATRICES) and not grids_of(part) and not tables_of(part)

    def _without_names(self) -> None:
        """Matrices without names: of the parts without answers those that they must be, by shape and order."""
        if not self._grids or self.here:
            return
        open_parts = [part for part in self.written.question.parts if isinstance(part.answer, MATRICES)
                      and part.name not in self.written.parts]  # fmt: skip
        shapes, found = [*map(shape_of, open_parts)], [grid.shape for grid in self._grids]
        for k, part in enumerate(open_parts):
            is_one = shapes.count(shapes[k]) == 1 == found.count(shapes[k])
            grid = self._grids[k if shapes == found else found.index(shapes[k])] if shapes == found or is_one else None
            if grid is None or not self._answer(part.name, grid.cells, grid.pieces):
                continue
            sign, head = self.names.shown(part.name), self._head_of(grid)
            said = message(
                "This matrix has no name; from its shape and its place it was taken to be {part}.", part=sign
            )
            if head:
                self.used.add(head)
                said = message("Nothing is called {name} here; from its shape and its place it was taken to be {part}.",
                               name=repr(head.text.strip(AROUND)), part=sign)  # fmt: skip
            self.written.remark(self.where(grid.pieces[0].start), said)
            says = message("It was found by its shape and its place alone; a person has to look at it.")
            self.written.doubt(part.name, says, said)

    def _head_of(self, grid: _Grid) -> Piece | None:
        """The line right above a matrix that names it by a name which is not known here."""
        at = self.pieces.index(grid.pieces[0])
        above = next((piece for piece in reversed(self.pieces[:at]) if not piece.blank), None)
        named = above is not None and above not in self.used and above.text.rstrip().endswith(("=", ":"))
        return above if named else None


_IN_WORDS = (*IN_ANY_WORDS, ChoiceAnswer, OrderAnswer, ShapeAnswer)
_IN_LINES = (RubricAnswer, CellsAnswer)


_MAY_BE_ITEM = re.compile(r"\s*-\s+[\d.√(]")
_MINUS = re.compile(r"-[\d.√(]")


def _is_unclear(matrix: Cells) -> bool:
    """Whether a hyphen with a gap behind it may be no minus: others are written without one, or the row is alone."""
    return len(matrix.rows) == 1 or any(map(_MINUS.match, matrix.texts()))


_BREAK_IN_A_CELL = partial(re.compile(r"\s*<br\s*/?>\s*").sub, " ; ")


_NAME_IN_A_CELL = re.compile(r"(?=[^\t]*[^\W\d_])[^\t]{1,40}")


_IN_A_SENTENCE = re.compile(r"(?<=\s)([^\s\[\]=:,;]{1,6})\s*[=:]\s*(?=\[)")


_PROSE = re.compile(
    r"(?<=[\])\d%])[,;]\s+(?=[^,;=()\[\]]{0,30}[^\W\d_][^,;=()\[\]]{0,20}[=:])"  # …, + b = (3, 4)
    r"|(?<=\])\s+(?=[^\W\d_][^,;=()\[\]]{0,20}=)"  # [[1, 2]] H = [[3, 4]]
    rf"|(?<=[\])\d%])[,;.]?\s+(?!{whole_word('and|approx|rounded|about|over')}|(?:sqrt|exp|ln|log|inf)\b|times\s+[\d(])"
    r"[^\W\d_]{2,}\b"
)


_ALSO = re.compile(rf",?\s+{AND}\s+|[,;]\s+(?=[^\W\d])")


_MARKS = re.compile(rf"(?i)(?<=[^\s=:≈])\s{{1,99}}[\[(]\s?(\d{{1,2}})\s?({labels.MARKS})?\s?[\])]\s*$")


_SO = re.compile(rf"(?i)^(?:(?:{SO}|{AND})[\s,:]+)+")  # y[1,2] is an entry


_ONE_ROW = re.compile(rf"(?i).*{ROW}\s*\d\)?")
_ONE_COLUMN = re.compile(rf"(?i)\s*{COLUMN}\s*\d\b")


_NUMBER = re.compile(r"\s*[-+−]?\d+(?:[.,/]\d+)?\s*")


_SIGN_BEFORE = re.compile(r"^\s*[=≈]\s*(?=\[)")  # S = Q K^T, and below it = [1, 2]
