"""A paper script entered by exception: what differs from the key is said, and the rest is as in the key.

    S12 = 3; A1 = .5 .5 0; S' = S; Z = [[1, 2], [3, 4]]; (b) = C; blank: A Z; C1

Statements stand between semicolons.  A target is a box (S12, S[1,2]), a row (A1), a whole matrix or answer (Z), also
by the label that is printed before it ((c)), of one of several questions with its number in front (Q2 S12).  It gets
what was written, the name of another matrix that was copied, or one of three words: key, blank (nothing is written
there) and follows (what follows from the lines before).  With several questions, Q4 is the fourth of them, and row 4 of
a matrix Q is Q[4].
Words may stand first and have many targets, or stand alone, for everything that is not said otherwise.  The id of a
misconception changes what everything after it is compared with: somebody with it goes on consistently.  Of two
statements about a box the narrower one counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from fractions import Fraction
from functools import cached_property, lru_cache

from symattn.derivation.derivation import Derivation
from symattn.derivation.misconceptions import misconceptions
from symattn.errors import InputError, offered
from symattn.exact import Matrix, Value, decide, decimal_text, has_symbols, indices
from symattn.exact.reading import typed
from symattn.marking.marker.trace import continued
from symattn.marking.submissions.answers import RawText, grids_of
from symattn.marking.submissions.entries import AUTO, entry, visible
from symattn.marking.submissions.names import normal
from symattn.marking.submissions.tables import read_matrix
from symattn.marking.submissions.written import Written
from symattn.marking.trial import value_of
from symattn.page.writers.characters import on_one_line
from symattn.page.writers.common import letter
from symattn.teaching.explanation.wording import typed_in
from symattn.teaching.question import (
    EntriesAnswer,
    FormulaAnswer,
    Json,
    MatrixAnswer,
    Part,
    PropertyAnswer,
    Question,
    RubricAnswer,
    StepAnswer,
    answer_entries,
    matrix_of,
)

Box = tuple[int, int]
KEY, FOLLOWS, BLANK = "key", "follows", "blank"
WORDS = {
    **dict.fromkeys((KEY, "right", "all right", "alright", "all", "correct", "ok", "✓"), KEY),
    FOLLOWS: FOLLOWS,
    **dict.fromkeys((BLANK, "nothing", "empty"), BLANK),
}
LETTERS = {"k": KEY, "f": FOLLOWS, "b": BLANK}
ON_PAPER = "(on paper)"
MANY_PLACES = 12  # of a value that nobody can type exactly
SHOWN_PLACES, LONGEST_SHOWN = 4, 8


class Level(IntEnum):
    """How narrow a statement is; the narrower one counts."""

    PAPER, QUESTION, ANSWER, ROW, BOX = range(5)


@dataclass(frozen=True, eq=False)
class Place:
    """One thing that is written: a matrix in boxes, those of `boxes` being asked for, or an answer of another kind.

    Of a matrix, `key` is what the key has; `text` is the answer of another kind.  `shown` is how it is named on the
    page, `aliases` how it may be called besides.  `derivation` and `step` are what it may follow from.  `inside` is its
    name in a part that asks for several matrices; `label` is the letter that is printed before its part.
    """

    question: int
    part: Part
    name: str
    shown: frozenset[str]
    aliases: frozenset[str]
    boxes: tuple[Box, ...] = ((0, 0),)
    key: Matrix | None = None
    text: str = ""
    derivation: Derivation | None = None
    step: str = ""
    inside: str = ""
    label: str = ""

    @property
    def shape(self) -> Box:
        return self.key.shape if self.key is not None else (1, 1)

    def called(self, sign: str, fold: bool = False) -> bool:
        """Whether it may be called so; in any case, if `fold`."""
        return any(sign.casefold() == own.casefold() if fold else sign == own for own in self.shown | self.aliases)


@dataclass(frozen=True, slots=True)
class Said:
    """What is said of a box: one of the three words, what was typed, or that it is copied from another matrix.

    `source` is that matrix where it is written on the paper too; else it is given, and `text` is its name.
    """

    text: str
    word: bool = False
    copied: bool = False
    source: Place | None = None

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Target:
    """What a statement is about: a row or a box (from 0) of a place, all of it, a question or the whole paper."""

    level: Level
    place: Place | None = None
    row: int = 0
    column: int = 0
    question: int = 0

    def covers(self, place: Place, box: Box) -> bool:
        """Whether a statement about it is about a box of a place."""
        if self.place is None:
            return self.level is Level.PAPER or place.question == self.question
        in_row = self.level < Level.ROW or box[0] == self.row
        return self.place is place and in_row and (self.level < Level.BOX or box[1] == self.column)

    def __str__(self) -> str:
        """A name that can be taken in one way only."""
        if self.place is None:
            return f"Q{self.question + 1}" if self.level is Level.QUESTION else "the rest"
        indices = {Level.BOX: f"[{self.row + 1},{self.column + 1}]", Level.ROW: f"[{self.row + 1}]"}
        return self.place.name + indices.get(self.level, "")

    @property
    def short(self) -> str:
        """The same without brackets: S12."""
        return re.sub(r"[\[\],]", "", str(self))


@dataclass(frozen=True)
class Doubt:
    """Boxes of one matrix of which nothing was said and which follow from what was: `follows` and `key` are their
    values as they could be typed, a row each; `name` is that of the matrix."""

    name: str
    follows: tuple[str, ...]
    key: tuple[str, ...]


@dataclass
class _Filled:
    """A place with everything in it: the texts, their values, and the boxes in doubt with what follows there and the
    key.
    """

    rows: list[list[str]]
    values: Matrix | None = None
    doubtful: dict[Box, tuple[Value, Value]] = field(default_factory=dict)


class Names:
    """The places of a paper, and what their boxes and rows are called."""

    def __init__(self, questions: Sequence[Question]) -> None:
        self.questions = questions
        self.places = [place for number, question in enumerate(questions) for place in _places(number, question)]

    def target(self, name: str) -> Target:
        """What a name means; `InputError` if it means nothing here, or several things."""
        if (whole := self._numbered(name)) is not None:
            return whole
        bare, places = self._among(name)
        shown = " ".join(name.split())
        outside: list[str] = []
        found = _meanings(bare, places, False, outside) or _meanings(bare, places, True, outside)
        if len(found) == 1:
            return found[0]
        if found:
            together = [target for target in found if target.place and "." not in target.place.name]
            if len(together) == 1:  # row 3 of Z is Z.3, where both are asked
                return together[0]
            several = " or ".join(self._in_question(target) for target in found[:3])
            raise InputError(f"{shown} can be taken in several ways; {several} was expected.")
        boxes = ", ".join(self._in_question(Target(Level.ANSWER, place)) for place in places)
        nearest = offered(bare, dict.fromkeys(place.name for place in places), f"there are {boxes}")
        raise InputError(outside[0] if outside else f"there is no box {shown!r}; {nearest}")

    def _numbered(self, name: str) -> Target | None:
        """The question that a name such as Q4 means, where there are several; None for any other name.

        `InputError` if there is no such question, and the name is not that of a single box (Q12) either.
        """
        found = _QUESTION_ALONE.fullmatch(name.strip()) if len(self.questions) > 1 else None
        if found is None:
            return None
        whole = Target(Level.QUESTION, question=int(found[1]) - 1)
        if 0 <= whole.question < len(self.questions):
            return whole
        if any(target.level is Level.BOX for target in _meanings(name, self.places)):
            return None
        raise InputError(
            f"there is no question {found[1]}; the paper has {len(self.questions)}{self._row_instead(whole)}."
        )

    def _row_instead(self, whole: Target) -> str:
        """How to name the rows and boxes that a question's name could be taken for."""
        what = {Level.ROW: "row", Level.BOX: "box"}
        other = _meanings(str(whole), self.places)[:2]
        return "".join(f"; the {what[one.level]} of that name is {self._in_question(one)}" for one in other)

    def name(self, target: Target) -> str:
        """The shortest name of a target that means nothing else."""
        short = self._in_question(target, target.short)
        try:
            return short if self.target(short) == target else self._in_question(target)
        except InputError:
            return self._in_question(target)

    def _in_question(self, target: Target, name: str = "") -> str:
        """With the question in front, where there are several."""
        front = f"Q{target.place.question + 1} " if len(self.questions) > 1 and target.place else ""
        return front + (name or str(target))

    def box(self, place: Place, i: int, j: int) -> str:
        """The name of a box."""
        return self.name(Target(Level.BOX, place, i, j) if place.key is not None else Target(Level.ANSWER, place))

    def _question(self, name: str) -> tuple[int | None, str]:
        """The question that stands before a name, from 0, and the name: Q2 S12."""
        name = name.strip()
        found = _QUESTION.match(name) if len(self.questions) > 1 else None
        if found is None:
            return None, name
        if not 0 < int(found[1]) <= len(self.questions):
            raise InputError(f"there is no question {int(found[1])}; the paper has {len(self.questions)}.")
        return int(found[1]) - 1, name[found.end() :]

    def _among(self, name: str) -> tuple[str, list[Place]]:
        """A name without the question before it, and the places that it may be of."""
        number, bare = self._question(name)
        return bare, [place for place in self.places if number in (None, place.question)]

    def _tokens(self, name: str) -> list[Place]:
        """The places of all tokens for a step that is asked token by token, by the name of the whole: A."""
        bare, places = self._among(name)
        sign = normal(bare)
        if any(place.called(sign) for place in places):
            return []
        return [place for place in places if "." in place.name and normal(place.name.partition(".")[0]) == sign]

    def _listed(self, text: str) -> Iterator[Target]:
        """The targets of a list: A Z, or A, Q2 Z."""
        words = text.replace(",", ", ").split() if "[" not in text else text.split()
        while words:
            word = words.pop(0)
            first = word.strip(",;")
            if words and word == first and len(self.questions) > 1 and _QUESTION_ALONE.fullmatch(first):
                both = f"{first} {words[0].strip(',;')}"
                if not _QUESTION_ALONE.fullmatch(words[0].strip(",;")):
                    words.pop(0)
                    yield self.target(both)
                    continue
                for target in _meanings(*self._among(both)):
                    raise InputError(
                        f"{both} can be taken in two ways; {self._in_question(target)}, or "
                        f"{both.replace(' ', ', ')} for the two questions, was expected."
                    )
            if tokens := self._tokens(first):
                yield from (Target(Level.ANSWER, place) for place in tokens)
            elif first and first != "and":
                yield self.target(first)


class Entered(Names):
    """One paper with everything that was said about what stands on it."""

    def __init__(self, questions: Sequence[Question], decimal_mark: str = AUTO) -> None:
        super().__init__(questions)
        self.decimal_mark = decimal_mark
        self._said: dict[tuple[Place, Box], tuple[Level, Said]] = {}
        self._whole: dict[Place, list[list[str]]] = {}  # matrices of another shape
        for place in self.places:
            if place.key is not None and any(has_symbols(x) and not _readable(x) for x in place.key):
                raise InputError(
                    f"{place.name} has letters in it that cannot be typed; it cannot be entered in a table."
                )
        self._wrong: dict[int, Derivation] = {}  # by question, what somebody with a misconception works out

    # -- saying

    def say(self, text: str) -> None:
        """Statements; `InputError` says which of them cannot be understood, all of them, and why."""
        wrong = list[str]()
        for statement in _statements(text):
            try:
                self._say(" ".join(statement.split()))
            except InputError as error:
                wrong.append(str(error))
        if wrong:
            raise InputError(" ".join(wrong))

    def rest(self, word: str) -> None:
        """What everything is of which nothing is said."""
        chosen = (WORDS | LETTERS).get(word.casefold(), "")
        if not chosen:
            raise InputError(f"the rest is {word!r}; {offered(word, (KEY, BLANK, FOLLOWS), 'one of {} was expected')}")
        if self._wrong and chosen == KEY:
            raise InputError("the rest cannot be as in the key and as somebody with a misconception has it.")
        self._set(Target(Level.PAPER), Said(chosen, word=True))

    @property
    def unsaid(self) -> int:
        """How many boxes nothing at all was said about."""
        return self.boxes - len(self._said)

    @property
    def misshapen(self) -> list[str]:
        """The matrices of another shape, from which nothing follows."""
        return [self.name(Target(Level.ANSWER, place)) for place in self._whole]

    @property
    def boxes(self) -> int:
        return sum(len(place.boxes) for place in self.places)

    def _say(self, statement: str) -> None:
        if statement.casefold() in WORDS:
            self.rest(statement)
        elif first := _WORD_FIRST.fullmatch(statement):
            for target in self._listed(first[2]):
                self._set(target, Said(WORDS[first[1].casefold()], word=True))
        elif found := _ASSIGNED.fullmatch(statement):
            self.put(found[1], found[2])
        elif not self._as_misconception(statement):
            try:
                target = self.target(statement)
            except InputError:
                names = [*(place.name for place in self.places), *misconceptions()]
                nearest = offered(statement, names, "S12=3, S'=S, blank: A or the like was expected")
                raise InputError(f"{statement!r} says nothing; {nearest}") from None
            raise InputError(
                f"{statement!r} names {target} and does not say what stands there; {statement}=… was expected."
            )

    def put(self, name: str, text: str) -> None:
        """What stands in a box, a row or a whole matrix of that name."""
        text = text.strip()
        tokens = self._tokens(name)
        for place in tokens:  # S' = S of a sheet that goes token by token: S'.1 = S.1 and so on
            source = f"{text}.{place.name.partition('.')[2]}"
            known = any(other.name == source for other in self.places)
            if not known and text.casefold() not in WORDS:
                raise InputError(f"{name} goes token by token here; {', '.join(p.name for p in tokens)} were expected.")
            self._put(Target(Level.ANSWER, place), source if known else text)
        if not tokens:
            self._put(self.target(name), text)

    def _put(self, target: Target, text: str) -> None:
        """A text for a target: a word or the name of a matrix for all of it, or else a text for each of its boxes."""
        place = target.place
        if not text:
            raise InputError(f"nothing stands behind {target}; a value, or blank, was expected.")
        if word := WORDS.get(text.casefold(), BLANK if entry(text, self.decimal_mark).blank else ""):
            self._set(target, Said(word, word=True))
        elif place is None:
            raise InputError(
                f"{target} is question {target.question + 1} and was given {text!r}; key, blank or follows was expected"
                f"{self._row_instead(target)}."
            )
        elif place.key is None:
            self._check_text(place, text)
            self._set(target, Said(text))
        elif target.level is Level.ANSWER and (copied := self._source(place, text)):
            self._set(target, copied)
        else:
            self._put_cells(target, place, text)

    def _put_cells(self, target: Target, place: Place, text: str) -> None:
        """Numbers for the boxes of a target; all of a matrix may have another shape."""
        if target.level is Level.BOX:
            cells = {(target.row, target.column): text}
        elif target.level is Level.ROW:
            asked = [box for box in place.boxes if target.covers(place, box)]
            cells = dict(zip(asked, _cells(text, len(asked), target), strict=True))
        else:
            rows = self._rows(target, place, text)
            if (shape := (len(rows), len(rows[0]))) != place.shape:
                if any(level >= Level.ANSWER for (other, _), (level, _) in self._said.items() if other is place):
                    raise InputError(f"two things are said of {target}: {_size(shape)} boxes and others.")
                numbers = [[self._number(target, x) for x in row] for row in rows]
                self._set(target, Said(BLANK, word=True))
                self._whole[place] = [["" if x.word else x.text for x in row] for row in numbers]
                return
            cells = {(i, j): cell for i, row in enumerate(rows) for j, cell in enumerate(row) if (i, j) in place.boxes}
        said = {Target(Level.BOX, place, *box): cell for box, cell in cells.items()}
        for at, number in {at: self._number(at, cell) for at, cell in said.items()}.items():
            self._set(at, number, target.level)

    def _rows(self, target: Target, place: Place, text: str) -> Sequence[Sequence[str]]:
        """What was typed for a whole matrix, row by row; of a matrix that is one line, its values alone will do."""
        if 1 in place.shape and "[" not in text:
            line = _cells(text, place.shape[0] * place.shape[1], target)
            return [line] if place.shape[0] == 1 else [[cell] for cell in line]
        matrix = read_matrix(text, place.shape)
        if matrix is None or "=" in text or (len(matrix.rows) == len(matrix.rows[0]) == 1 and "[" not in text):
            names = ", ".join(other.name for other in self.places if other.key is not None and other is not place)
            raise InputError(
                f"{target} is {text!r}; a matrix such as [[1, 2], [3, 4]], another one's name ({names}), key, "
                "blank or follows was expected."
            )
        return [[f"({matrix.factor})*({x})" if matrix.factor else x for x in row] for row in matrix.rows]

    def _number(self, target: Target, text: str) -> Said:
        """A number as it was typed; `InputError` if it is none."""
        place = target.place
        symbols = place is not None and place.key is not None and any(map(has_symbols, place.key))
        found = entry(text, self.decimal_mark, symbols=symbols)
        if found.complaint:
            raise InputError(f"{target} is {text!r}: {found.complaint}")
        return Said(BLANK, word=True) if found.blank else Said(text)

    def _check_text(self, place: Place, text: str) -> None:
        """`InputError` if an answer that is no matrix cannot be read as its part asks."""
        if isinstance(place.part.answer, RubricAnswer):
            most = place.part.points
            if not (text.isdecimal() and len(text) < 4 and int(text) <= most):
                raise InputError(f"{place.name} is {text!r}; the marks given, from 0 to {most}, were expected.")
            return
        written = Written(self.questions[place.question])
        written.put(place.part.name, RawText(text), place.name)
        for remark in written.attempt(self.decimal_mark).remarks:
            raise InputError(f"{place.name}: {remark.says}")

    def _source(self, place: Place, text: str) -> Said | None:
        """The matrix that was copied, if a text is the name of one before this one."""
        others = [other for other in self.places if other.question == place.question and other.key is not None]
        sign = normal(text)
        source = next((other for other in others if sign and other.called(sign)), None)
        given = place.derivation.givens.get(text) if place.derivation else None
        if source is None and given is None:
            return None
        name, shape = (source.name, source.shape) if source else (text, given.shape if given is not None else ())
        if source and others.index(source) >= others.index(place):
            raise InputError(f"{place.name} = {text}: only an earlier line can be copied, and {name} is not one.")
        if shape != place.shape:
            raise InputError(
                f"{place.name} = {text}: {place.name} has {_size(place.shape)} boxes and {name} {_size(shape)}; type "
                "the matrix itself."
            )
        return Said(name, copied=True, source=source)

    def _set(self, target: Target, said: Said, level: Level | None = None) -> None:
        """For every box of a target; `level` is that of the statement, if that is about more."""
        level = target.level if level is None else level
        found = [(place, box) for place in self.places for box in place.boxes if target.covers(place, box)]
        if not found and target.level >= Level.ROW:
            raise InputError(f"{target} is printed on the paper; nothing is written there.")
        for place, box in found:
            if place in self._whole and level > Level.ANSWER:
                raise InputError(f"{place.name} has another shape, so {target} cannot be told apart.")
            before, former = self._said.get((place, box), (Level.PAPER, said))
            if before == level and former != said:
                raise InputError(f"two things are said of {target}: {former} and {said}.")
            if before <= level:
                self._said[place, box] = level, said
        self._forget()

    def _as_misconception(self, text: str) -> bool:
        """Whether a statement is a misconception; everything from its step on is then as somebody with it has it."""
        number, rest = self._question(text)
        chosen = {id.casefold(): one for id, one in misconceptions().items()}.get(rest.casefold())
        if chosen is None:
            return False
        derived = [place for place in self.places if place.derivation]
        found = {}
        for q in sorted({place.question for place in derived if number in (None, place.question)}):
            own = [place for place in derived if place.question == q]
            d = self._wrong.get(q) or own[0].derivation
            wrong = chosen.on(d) if d else None
            if wrong is None or wrong.stopped or wrong.first is None:
                continue
            if odd := next((place for place in own if place.step not in wrong.derivation), None):
                raise InputError(f"{chosen.id} cannot be entered where {odd.name} is asked; type what was written.")
            found[q] = wrong.derivation
        if not found:
            lies = next((p.derivation.orientation for p in derived if p.derivation), Derivation({}).orientation)
            raise InputError(f"{chosen.id} ({typed_in(chosen.called(lies), lies)}) has no place on this paper.")
        if len(found) > 1:
            named = " or ".join(f"Q{q + 1} {chosen.id}" for q in found)
            raise InputError(f"{chosen.id} has a place in several questions; {named} was expected.")
        if (Level.PAPER, Said(KEY, word=True)) in self._said.values():
            raise InputError(f"the rest cannot be as in the key and as somebody with {chosen.id} has it.")
        self._forget()
        self._wrong |= found
        return True

    # -- what stands on the paper

    @cached_property
    def _filled(self) -> dict[Place, _Filled]:
        """All that was said so far; forgotten when something else is."""
        found: dict[Place, _Filled] = {}
        by_derivation: dict[int, list[Place]] = {}
        for place in self.places:
            if place.key is None:
                said = self._about(place, (0, 0))
                text = said.text if said and not said.word else "" if said == Said(BLANK, word=True) else place.text
                found[place] = _Filled([[text]])
            else:
                by_derivation.setdefault(id(place.derivation or place), []).append(place)
        for places in by_derivation.values():
            self._follow(places, found)
        return found

    def _about(self, place: Place, box: Box) -> Said | None:
        """What is said of a box, if anything."""
        return self._said[place, box][1] if (place, box) in self._said else None

    def _forget(self) -> None:
        vars(self).pop("_filled", None)

    def _follow(self, places: Sequence[Place], found: dict[Place, _Filled]) -> None:
        """The matrices of one derivation, each worked out from those before as they stand on the paper."""
        d = places[0].derivation
        base = current = self._wrong.get(places[0].question, d) if d else None
        lines: dict[str, Matrix] = {}
        for place in places:
            assert place.key is not None
            right = _laid(base, place) or place.key
            follows = _laid(current, place) or right
            found[place] = filled = self._fill(place, place.key, right, follows, found)
            assert filled.values is not None
            differs = any(x is not y for x, y in zip(filled.values, follows, strict=True))
            if base is not None and differs and place.step in base and base.value(place.step).shape == place.shape:
                lines[place.step] = filled.values
                current = continued(base, lines)

    def _fill(
        self, place: Place, key: Matrix, right: Matrix, follows: Matrix, found: Mapping[Place, _Filled]
    ) -> _Filled:
        """A matrix with everything in it; in doubt are boxes that nothing is said of and that do not follow as in the
        key."""
        cells = [
            [self._stands(place, (i, j), key, follows, found) for j in range(key.shape[1])] for i in range(key.shape[0])
        ]
        texts = self._whole_of(place) or [[text for _, text in row] for row in cells]
        doubtful = {
            box: (follows[box], right[box])
            for box in sorted(place.boxes)
            if self._about(place, box) is None and follows[box] is not right[box]
            if decide(follows[box], right[box]).equal is False
        }
        return _Filled([[*row] for row in texts], Matrix.of([[value for value, _ in row] for row in cells]), doubtful)

    def _stands(
        self, place: Place, box: Box, key: Matrix, follows: Matrix, found: Mapping[Place, _Filled]
    ) -> tuple[Value, str]:
        """The value in a box, as it is gone on with, and what is written there."""
        if box not in place.boxes:
            return key[box], ""  # it is printed
        match self._about(place, box):
            case Said("key", word=True):
                return key[box], _typed(key[box])
            case Said("blank", word=True):
                return follows[box], ""
            case None | Said(word=True):
                return follows[box], _typed(follows[box])
            case Said(copied=True) as said:
                return self._copied(place, said, box, found)
            case Said(text):
                read = entry(text, self.decimal_mark).value
                return follows[box] if read is None else read, text

    def _whole_of(self, place: Place) -> list[list[str]] | None:
        """What stands there, if it is a matrix of another shape, or a copy of one."""
        said = self._about(place, place.boxes[0])
        if place in self._whole or said is None or said.source is None:
            return self._whole.get(place)
        return self._whole_of(said.source)

    def _copied(self, place: Place, said: Said, box: Box, found: Mapping[Place, _Filled]) -> tuple[Value, str]:
        """The value and the text of a box of another matrix, as they stand on the paper."""
        if said.source is None:
            given = place.derivation.givens[said.text] if place.derivation else None
            assert isinstance(given, Matrix)
            return given[box], _typed(given[box])
        filled = found[said.source]
        assert filled.values is not None
        return filled.values[box], "" if self._whole_of(said.source) else filled.rows[box[0]][box[1]]

    @property
    def doubts(self) -> list[Doubt]:
        """The matrices with boxes of which nothing was said, and which follow from what was, in order."""
        return [self._doubt(place, filled) for place, filled in self._filled.items() if filled.doubtful]

    def _doubt(self, place: Place, filled: _Filled) -> Doubt:
        lines: tuple[list[str], list[str]] = ([], [])
        for i in range(place.shape[0]):
            columns = [j for row, j in filled.doubtful if row == i]
            row = Target(Level.ROW if place.shape[0] > 1 else Level.ANSWER, place, i)
            for k, said in enumerate(lines):
                shown = {j: _shown(filled.doubtful[i, j][k]) for j in columns}
                if columns and len(columns) == place.shape[1]:
                    said.append(f"{self.name(row)} = {' '.join(shown.values())}")
                else:
                    said += (f"{self.box(place, i, j)} = {x}" for j, x in shown.items())
        return Doubt(self.name(Target(Level.ANSWER, place)), *map(tuple, lines))

    @property
    def blank(self) -> bool:
        """Whether nothing stands on the paper."""
        return not any(text for filled in self._filled.values() for row in filled.rows for text in row)

    def answers(self) -> Json:
        """Everything that stands on the paper, as a file of JSON has it (`submissions.data`)."""
        return {f"q{number + 1}": self._answers(number) for number in range(len(self.questions))}

    def _answers(self, number: int) -> Json:
        answers: dict[str, Json] = {}
        points: dict[str, Json] = {}
        methods: list[Json] = []
        for place, filled in self._filled.items():
            rows: Json = [[*row] for row in filled.rows]
            text, name = filled.rows[0][0], place.part.name
            if place.question != number:
                continue
            if place.inside:
                inner = answers.setdefault(name, {})
                assert isinstance(inner, dict)
                inner[place.inside] = rows
            elif place.key is not None:
                answers[name] = rows
            elif text and isinstance(place.part.answer, RubricAnswer):
                answers[name], points[name] = ON_PAPER, int(text)
            elif text:
                answers[name] = text
            if text == place.text and any(mark.rule == "reason" for mark in place.part.marks):
                methods.append(name)  # as in the key, with its reason
        return {"answers": answers, "points": points, "methods": methods}


_WORD_FIRST = re.compile(r"(?i)(key|right|follows|blank|nothing|empty)(?:\s*:\s*|\s+)(?=[^=:\s])(.+)")
_ASSIGNED = re.compile(r"([^=:]+?)\s*[=:]\s*(.*)")
_QUESTION = re.compile(r"[qQ]\s?(\d{1,2})(?:\s*\.\s*|\s+|(?=\([a-z]{1,2}\)))(?=[^\s=:\d])")
_QUESTION_ALONE = re.compile(r"[qQ](\d{1,2})\.?")
_INDEXED = re.compile(r"(?P<name>.*?[^\d\s_,{(\[])(?:_?\{?|\s+)(?P<first>\d+)(?:,(?P<second>\d+))?\}?")
_BRACKETED = re.compile(r"(?P<name>.+?)_?\s*[\[(]\s*(?P<first>\d+)\s*(?:[,;\s]\s*(?P<second>\d+)\s*)?[\])]")
_LABEL = re.compile(r"\(\s*([a-z]{1,2})\s*\)")
_LATE_PRIMES = re.compile(r"([_{]*\d[\d,{}]*)(['′’‘´]+)")


def _statements(text: str) -> Iterator[str]:
    """Pieces between semicolons and line ends that stand in no bracket."""
    depth, start = 0, 0
    for at, character in enumerate(f"{text};"):
        depth = max(0, depth + (character in "[({") - (character in "])}"))
        if character in ";\n" and (depth == 0 or at == len(text)):
            if piece := text[start:at].strip():
                yield piece
            start = at + 1


def _called(text: str, places: Sequence[Place], fold: bool) -> list[Place]:
    """As the page calls it; if it calls several so, those that are called so everywhere; else by its label."""
    if label := _LABEL.fullmatch(text.strip()):
        return [place for place in places if place.label == label[1]]
    sign = normal(text)
    shown = [place for place in places if sign and sign in place.shown]
    own = [place for place in shown if normal(place.name) == sign]
    named = own or shown or [place for place in places if sign and place.called(sign, fold)]
    return named or [place for place in places if fold and place.label == text.strip()]


def _splits(name: str) -> Iterator[tuple[str, str, str]]:
    """The ways in which a name may be a matrix and one or two indices: S112 is S1 and 12, or S and 1, 12 or 11, 2."""
    if found := _BRACKETED.fullmatch(name):
        yield found["name"], found["first"], found["second"] or ""
    elif found := _INDEXED.fullmatch(name):
        digits, second = found["first"], found["second"] or ""
        for k in range(len(digits)):
            stem, index = name[: found.start("first")] + digits[:k], digits[k:]
            yield stem, index, second
            if not second:
                yield from ((stem, index[:cut], index[cut:]) for cut in range(1, len(index)))


def _meanings(name: str, places: Sequence[Place], fold: bool = False, outside: list[str] | None = None) -> list[Target]:
    """Everything that a name may mean; of names with indices that a matrix has not, `outside` is told why not."""
    name = _LATE_PRIMES.sub(r"\2\1", visible(name).strip().strip("$"))
    found = [Target(Level.ANSWER, place) for place in _called(name, places, fold)]
    for stem, first, second in _splits(name):
        for place in _called(stem, places, fold):
            if place.key is None or first.startswith("0") or second.startswith("0"):
                continue
            if target := _indexed(place, int(first[:4]), int(second[:4] or 0)):
                found.append(target)
            elif outside is not None:
                rows, columns = place.shape
                said = f"{place.name} has {rows} row{'s' * (rows > 1)} and {columns} column{'s' * (columns > 1)}"
                outside.append(f"{said}; {name} is outside.")
    return list(dict.fromkeys(found))


def _indexed(place: Place, first: int, second: int) -> Target | None:
    """A box or a row (`second` 0) of a place, indices from 1; one index is the place in a matrix that is one line."""
    rows, columns = place.shape
    if not second and rows > 1 < columns:
        return Target(Level.ROW, place, first - 1) if first <= rows else None
    i, j = (first, second) if second else (1, first) if rows == 1 and first <= columns else (first, 1)
    return Target(Level.BOX, place, i - 1, j - 1) if i <= rows and j <= columns else None


def _cells(text: str, count: int, target: Target) -> list[str]:
    """The values of one row, between spaces, bars or commas."""
    bare = text.strip().removeprefix("[").removesuffix("]").strip()
    ways = [re.split(gap, bare) for gap in (r"\s*\|\s*", r"\s+", r"\s*,\s*")]
    cells = min(ways, key=lambda way: abs(len(way) - count))
    if len(cells) != count:
        raise InputError(
            f"{target} has {count} boxes, and {len(cells)} value{'s' * (len(cells) != 1)} came ({text!r}); values with "
            "spaces between them were expected."
        )
    return [cell.rstrip(",") for cell in cells]


def _size(shape: Sequence[object]) -> str:
    return f"{shape[0]}×{shape[1]}"


def _typed(x: Value) -> str:
    """A value as it can be typed and read again; a decimal where nobody can type the exact one (2^√2)."""
    text = typed(x)
    if isinstance(x, int | Fraction) or has_symbols(x) or _can_be_read(text):
        return text
    return decimal_text(x, MANY_PLACES)


@lru_cache(maxsize=2**12)  # every student's paper has most of the key
def _can_be_read(text: str) -> bool:
    return entry(text).readable


def _readable(x: Value) -> bool:
    return entry(typed(x), symbols=True).readable


def _shown(x: Value) -> str:
    """A value in short."""
    text = _typed(x).replace(" ", "")
    return text if len(text) <= LONGEST_SHOWN or has_symbols(x) else decimal_text(x, SHOWN_PLACES)


def _laid(d: Derivation | None, place: Place) -> Matrix | None:
    """What a derivation has for a place, if it has the place's shape."""
    found = value_of(d, place.step) if d is not None and place.step else None
    if found is not None and found.shape != place.shape and found.T.shape == place.shape and 1 in place.shape:
        found = found.T
    return found if found is not None and found.shape == place.shape else None


def _places(number: int, question: Question) -> Iterator[Place]:
    """Everything that is written in a question: matrices in the order of their steps, so that each comes after those
    that it is worked out from."""
    found = [
        replace(place, label=letter(position).lower())
        for position, part in enumerate(question.parts)
        for place in _of_part(number, question, part)
    ]

    def order(place: Place) -> int:
        steps = [step.name for step in place.derivation] if place.derivation else []
        return steps.index(place.step) if place.step in steps else -1

    ordered = sorted(found, key=order)
    for place in found:  # the places of one derivation change among themselves
        following = next(other for other in ordered if other.derivation is place.derivation)
        ordered.remove(following)
        yield following


def _of_part(number: int, question: Question, part: Part) -> Iterator[Place]:
    problem, answer = question.problem, part.answer
    name = normal(part.name)
    shown = frozenset(normal(on_one_line(grid.name)) for grid in grids_of(part)) or {name}
    place = Place(number, part, part.name, frozenset(shown), frozenset({name}))
    match answer:
        case StepAnswer(step) | EntriesAnswer(step) if problem is not None:
            key = matrix_of(problem.derivation, step)
            boxes = answer.cells if isinstance(answer, EntriesAnswer) else tuple(indices(key.shape))
            aliases = place.aliases | {normal(step)}
            yield replace(place, aliases=aliases, boxes=boxes, key=key, derivation=problem.derivation, step=step)
        case MatrixAnswer(value, derivation, step):
            yield replace(place, boxes=tuple(indices(value.shape)), key=value, derivation=derivation, step=step)
        case PropertyAnswer(model=model):
            others = [p.answer.model for p in question.parts if p is not part and isinstance(p.answer, PropertyAnswer)]
            for inside, matrix in model.items():
                own = f"{part.name}.{inside}" if any(inside in other for other in others) else inside
                sign = frozenset({normal(own)})
                yield Place(number, part, own, sign, sign, tuple(indices(matrix.shape)), matrix, inside=inside)
        case RubricAnswer():
            yield replace(place, text=str(part.points))
        case FormulaAnswer(value):
            yield replace(place, text=_typed(value))
        case _:
            yield replace(place, text=" ".join(text for _, text in answer_entries(answer, problem)))
