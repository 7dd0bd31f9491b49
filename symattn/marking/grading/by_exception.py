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


@dataclass(frozen=True, slots=True)
class Word:
    """One of the three words."""

    word: str

    def __str__(self) -> str:
        return self.word


@dataclass(frozen=True, slots=True)
class Copied:
    """What stands in the same box of another matrix."""

    source: str

    def __str__(self) -> str:
        return self.source


Said = str | Word | Copied


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

    def called(self, sign: str, fold: bool) -> bool:
        """Whether it may be called so; in any case, if `fold`."""
        return any(sign.casefold() == own.casefold() if fold else sign == own for own in self.shown | self.aliases)


@dataclass(frozen=True)
class Target:
    """What a statement is about: a row or a box (from 0) of a place, all of it, a question or the whole paper."""

    level: Level
    place: Place | None = None
    row: int = 0
    column: int = 0
    question: int = 0

    def __str__(self) -> str:
        """A name that can be taken in one way only."""
        if self.place is None:
            return f"Q{self.question + 1}"
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


class Entered:
    """One paper with everything that was said about what stands on it."""

    def __init__(self, questions: Sequence[Question], decimal_mark: str = AUTO) -> None:
        self.questions = questions
        self.decimal_mark = decimal_mark
        self.places = [place for number, question in enumerate(questions) for place in _places(number, question)]
        self._said: dict[tuple[Place, Box], tuple[Level, Said]] = {}
        self._whole: dict[Place, tuple[tuple[str, ...], ...]] = {}  # matrices of another shape
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
                self._say(statement)
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
        self._set(Target(Level.PAPER), Word(chosen))

    @property
    def unsaid(self) -> int:
        """How many boxes nothing at all was said about."""
        return sum((place, box) not in self._said for place in self.places for box in place.boxes)

    @property
    def misshapen(self) -> list[str]:
        """The matrices of another shape, from which nothing follows."""
        return [self.name(Target(Level.ANSWER, place)) for place in self._whole]

    @property
    def boxes(self) -> int:
        return sum(len(place.boxes) for place in self.places)

    def _say(self, statement: str) -> None:
        bare = " ".join(statement.split())
        if bare.casefold() in WORDS:
            return self.rest(bare)
        if first := _WORD_FIRST.fullmatch(bare):
            for target in self._listed(first[2]):
                self._set(target, Word(WORDS[first[1].casefold()]))
            return None
        if found := _ASSIGNED.fullmatch(bare):
            return self.put(found[1], found[2])
        if self._as_misconception(bare):
            return None
        try:
            target = self.target(bare)
        except InputError:
            names = [*(place.name for place in self.places), *misconceptions()]
            nearest = offered(bare, names, "S12=3, S'=S, blank: A or the like was expected")
            raise InputError(f"{bare!r} says nothing; {nearest}") from None
        raise InputError(f"{bare!r} names {target} and does not say what stands there; {bare}=… was expected.")

    def put(self, name: str, text: str) -> None:
        """What stands in a box, a row or a whole matrix of that name."""
        tokens = self._tokens(name)
        for place in tokens:  # S' = S of a sheet that goes token by token: S'.1 = S.1 and so on
            source = f"{text.strip()}.{place.name.partition('.')[2]}"
            known = any(other.name == source for other in self.places)
            if not known and text.strip().casefold() not in WORDS:
                raise InputError(f"{name} goes token by token here; {', '.join(p.name for p in tokens)} were expected.")
            self._put(Target(Level.ANSWER, place), source if known else text)
        if not tokens:
            self._put(self.target(name), text)

    def _tokens(self, name: str) -> list[Place]:
        """The places of all tokens for a step that is asked token by token, by the name of the whole: A."""
        number, bare = self._question(name)
        places = [place for place in self.places if number in (None, place.question)]
        if any(place.called(normal(bare), fold=False) for place in places):
            return []
        return [place for place in places if "." in place.name and normal(place.name.partition(".")[0]) == normal(bare)]

    def _put(self, target: Target, text: str) -> None:
        """A text for a target, taken apart into its boxes."""
        place, text = target.place, text.strip()
        if not text:
            raise InputError(f"nothing stands behind {target}; a value, or blank, was expected.")
        if word := WORDS.get(text.casefold(), BLANK if entry(text, self.decimal_mark).blank else ""):
            return self._set(target, Word(word))
        if place is None:
            raise InputError(
                f"{target} is question {target.question + 1} and was given {text!r}; key, blank or follows was expected"
                f"{self._row_instead(target)}."
            )
        if place.key is None:
            self._check_text(place, text)
            return self._set(target, text)
        rows, columns = place.shape
        if target.level is Level.BOX:
            return self._set(target, self._number(target, text))
        if target.level is Level.ROW:
            asked = [j for j in range(columns) if (target.row, j) in place.boxes]
            for j, cell in zip(asked, _cells(text, len(asked), target), strict=True):
                at = replace(target, level=Level.BOX, column=j)
                self._set_box(place, (target.row, j), Level.ROW, self._number(at, cell), at)
            return None
        if source := self._source(place, text):
            return self._set(target, Copied(source))
        if 1 in place.shape and "[" not in text:
            line = _cells(text, rows * columns, target)
            cells: Sequence[Sequence[str]] = [line] if rows == 1 else [[cell] for cell in line]
        else:
            matrix = read_matrix(text, place.shape)
            if matrix is None or matrix.name or (len(matrix.rows) == len(matrix.rows[0]) == 1 and "[" not in text):
                names = ", ".join(other.name for other in self.places if other.key is not None and other is not place)
                raise InputError(
                    f"{target} is {text!r}; a matrix such as [[1, 2], [3, 4]], another one's name ({names}), key, "
                    "blank or follows was expected."
                )
            cells = [[f"({matrix.factor})*({x})" if matrix.factor else x for x in row] for row in matrix.rows]
        if (len(cells), len(cells[0])) != place.shape:
            if any(level >= Level.ANSWER for (other, _), (level, _) in self._said.items() if other is place):
                raise InputError(
                    f"two things are said of {target}: {_size((len(cells), len(cells[0])))} boxes and others."
                )
            self._forget()
            self._whole[place] = tuple(tuple(self._text(target, x) for x in row) for row in cells)
            return self._set(target, Word(BLANK))
        for i, row in enumerate(cells):
            for j, cell in enumerate(row):
                at = Target(Level.BOX, place, i, j)
                if (i, j) in place.boxes:
                    self._set_box(place, (i, j), Level.ANSWER, self._number(at, cell), at)
        return None

    def _number(self, target: Target, text: str) -> Said:
        """A number as it was typed; `InputError` if it is none."""
        place = target.place
        symbols = place is not None and place.key is not None and any(map(has_symbols, place.key))
        found = entry(text, self.decimal_mark, symbols=symbols)
        if found.blank:
            return Word(BLANK)
        if found.complaint:
            raise InputError(f"{target} is {text!r}: {found.complaint}")
        return text

    def _text(self, target: Target, text: str) -> str:
        said = self._number(target, text)
        return said if isinstance(said, str) else ""

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

    def _source(self, place: Place, text: str) -> str:
        """The matrix that was copied, if a text is the name of one before this one."""
        others = [other for other in self.places if other.question == place.question and other.key is not None]
        sign = normal(text)
        found = next((other for other in others if sign and other.called(sign, fold=False)), None)
        given = place.derivation.givens.get(text) if place.derivation else None
        shape = found.shape if found else given.shape if given is not None else None
        if shape is None:
            return ""
        name = found.name if found else text
        if found is not None and others.index(found) >= others.index(place):
            raise InputError(f"{place.name} = {text}: only an earlier line can be copied, and {name} is not one.")
        if shape != place.shape:
            raise InputError(
                f"{place.name} = {text}: {place.name} has {_size(place.shape)} boxes and {name} {_size(shape)}; type "
                "the matrix itself."
            )
        return name

    def _set(self, target: Target, said: Said) -> None:
        """For every box of a target."""
        if target.place and target.level >= Level.ROW:
            columns = [target.column] if target.level is Level.BOX else range(target.place.shape[1])
            asked = [(target.row, j) for j in columns if (target.row, j) in target.place.boxes]
            for box in asked or [(target.row, target.column)]:
                self._set_box(target.place, box, target.level, said, target)
            return
        for place in self.places if target.place is None else [target.place]:
            if target.level is Level.QUESTION and place.question != target.question:
                continue
            for box in place.boxes:
                self._set_box(place, box, target.level, said, target)

    def _set_box(self, place: Place, box: Box, level: Level, said: Said, target: Target) -> None:
        if box not in place.boxes:
            raise InputError(f"{target} is printed on the paper; nothing is written there.")
        if place in self._whole and level > Level.ANSWER:
            raise InputError(f"{place.name} has another shape, so {target} cannot be told apart.")
        before = self._said.get((place, box))
        if before and before[0] == level and before[1] != said:
            what = "the rest" if level is Level.PAPER else str(target)
            raise InputError(f"two things are said of {what}: {before[1]} and {said}.")
        if before is None or before[0] <= level:
            self._forget()
            self._said[place, box] = level, said

    def _as_misconception(self, text: str) -> bool:
        """Whether a statement is a misconception; everything from its step on is then as somebody with it has it."""
        number, rest = self._question(text)
        known = {id.casefold(): one for id, one in misconceptions().items()}
        if (chosen := known.get(rest.casefold())) is None:
            return False
        where = {p.question for p in self.places if p.derivation and number in (None, p.question)}
        found = {}
        for q in sorted(where):
            d = self._wrong.get(q) or next(p.derivation for p in self.places if p.question == q and p.derivation)
            if (wrong := chosen.on(d)) is not None and not wrong.stopped and wrong.first is not None:
                found[q] = wrong.derivation
                own = [p for p in self.places if p.question == q and p.derivation]
                if odd := next((p for p in own if p.step not in wrong.derivation), None):
                    raise InputError(f"{chosen.id} cannot be entered where {odd.name} is asked; type what was written.")
        if not found:
            first = next((p.derivation for p in self.places if p.derivation), Derivation({}))
            lies = first.orientation
            named = typed_in(chosen.called(lies), lies)
            raise InputError(f"{chosen.id} ({named}) has no place on this paper.")
        if len(found) > 1:
            named = " or ".join(f"Q{q + 1} {chosen.id}" for q in found)
            raise InputError(f"{chosen.id} has a place in several questions; {named} was expected.")
        if (Level.PAPER, Word(KEY)) in self._said.values():
            raise InputError(f"the rest cannot be as in the key and as somebody with {chosen.id} has it.")
        self._forget()
        self._wrong |= found
        return True

    # -- names

    def target(self, name: str) -> Target:
        """What a name means; `InputError` if it means nothing here, or several things."""
        if (whole := self._numbered(name)) is not None:
            return whole
        number, bare = self._question(name)
        places = [place for place in self.places if number in (None, place.question)]
        shown = " ".join(name.split())
        found: list[Target] = []
        outside: list[str] = []
        for fold in (False, True):
            found = found or list(dict.fromkeys(_meanings(bare, places, fold, outside)))
        if len(found) > 1:  # row 3 of Z is Z.3, where both are asked
            together = [target for target in found if target.place and "." not in target.place.name]
            if len(together) == 1:
                return together[0]
            several = " or ".join(self._in_question(target) for target in found[:3])
            raise InputError(f"{shown} can be taken in several ways; {several} was expected.")
        if not found:
            boxes = ", ".join(self._in_question(Target(Level.ANSWER, place), place.name) for place in places)
            nearest = offered(bare, dict.fromkeys(place.name for place in places), f"there are {boxes}")
            raise InputError(outside[0] if outside else f"there is no box {shown!r}; {nearest}")
        return found[0]

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
        if any(target.level is Level.BOX for target in _meanings(name, self.places, False, [])):
            return None
        raise InputError(
            f"there is no question {found[1]}; the paper has {len(self.questions)}{self._row_instead(whole)}."
        )

    def _row_instead(self, whole: Target) -> str:
        """How to name the rows and boxes that a question's name could be taken for."""
        other = list(dict.fromkeys(_meanings(str(whole), self.places, False, [])))
        what = {Level.ROW: "row", Level.BOX: "box"}
        return "".join(f"; the {what[one.level]} of that name is {self._in_question(one)}" for one in other[:2])

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
        found = _QUESTION.match(name.strip()) if len(self.questions) > 1 else None
        if found is None:
            return None, name.strip()
        number = int(found[1]) - 1
        if not 0 <= number < len(self.questions):
            raise InputError(f"there is no question {number + 1}; the paper has {len(self.questions)}.")
        return number, name.strip()[found.end() :]

    def _listed(self, text: str) -> Iterator[Target]:
        """The targets of a list: A Z, or A, Q2 Z."""
        words = text.replace(",", ", ").split() if "[" not in text else text.split()
        while words:
            word = words.pop(0)
            first = word.strip(",;")
            if words and word == first and len(self.questions) > 1 and _QUESTION_ALONE.fullmatch(first):
                second = words[0].strip(",;")
                if not _QUESTION_ALONE.fullmatch(second):
                    words.pop(0)
                    yield self.target(f"{first} {second}")
                    continue
                self._check_apart(first, second)
            if tokens := self._tokens(first):
                yield from (Target(Level.ANSWER, place) for place in tokens)
            elif first and first != "and":
                yield self.target(first)

    def _check_apart(self, first: str, second: str) -> None:
        """`InputError` if two questions in a list could also be a row in one of them: Q1 Q4."""
        number, bare = self._question(f"{first} {second}")
        places = [place for place in self.places if place.question == number]
        for target in _meanings(bare, places, False, []):
            raise InputError(
                f"{first} {second} can be taken in two ways; {self._in_question(target)}, or {first}, {second} for the "
                "two questions, was expected."
            )

    # -- what stands on the paper

    @cached_property
    def _filled(self) -> dict[Place, _Filled]:
        """All that was said so far; forgotten when something else is."""
        found: dict[Place, _Filled] = {}
        by_derivation: dict[int, list[Place]] = {}
        for place in self.places:
            if place.key is None:
                said = self._said.get((place, (0, 0)), (Level.PAPER, None))[1]
                text = said if isinstance(said, str) else "" if said == Word(BLANK) else place.text
                found[place] = _Filled([[text]])
            else:
                by_derivation.setdefault(id(place.derivation or place), []).append(place)
        for places in by_derivation.values():
            self._follow(places, found)
        return found

    def _forget(self) -> None:
        vars(self).pop("_filled", None)

    def _follow(self, places: Sequence[Place], found: dict[Place, _Filled]) -> None:
        """The matrices of one derivation, each worked out from those before as they stand on the paper."""
        d = places[0].derivation
        base = self._wrong.get(places[0].question, d) if d else None
        lines: dict[str, Matrix] = {}
        current = base
        for place in places:
            key = place.key
            assert key is not None
            right = _laid(base, place) or key
            follows = _laid(current, place) or right
            filled = self._fill(place, right, follows, found)
            found[place] = filled
            assert filled.values is not None
            differs = any(x is not y for x, y in zip(filled.values, follows, strict=True))
            if base is not None and differs and place.step in base and base.value(place.step).shape == key.shape:
                lines[place.step] = filled.values
                current = continued(base, lines)

    def _fill(self, place: Place, right: Matrix, follows: Matrix, found: Mapping[Place, _Filled]) -> _Filled:
        key = place.key
        assert key is not None
        filled, values = _Filled([]), []
        for i in range(key.shape[0]):
            texts: list[str] = []
            row: list[Value] = []
            for j in range(key.shape[1]):
                said = self._said.get((place, (i, j)), (Level.PAPER, None))[1]
                own, value, text = follows[i, j], follows[i, j], ""
                match said:
                    case None if (i, j) not in place.boxes:  # printed
                        value = key[i, j]
                    case None:
                        text = _typed(own)
                        if own is not right[i, j] and decide(own, right[i, j]).equal is False:
                            filled.doubtful[i, j] = own, right[i, j]
                    case Word("key"):
                        value, text = key[i, j], _typed(key[i, j])
                    case Word("follows"):
                        text = _typed(own)
                    case Copied(source):
                        value, text = self._copied(place, source, i, j, found)
                    case str():
                        read = entry(said, self.decimal_mark).value
                        value, text = own if read is None else read, said
                texts.append(text)
                row.append(value)
            filled.rows.append(texts)
            values.append(row)
        filled.values = Matrix.of(values)
        if place in self._whole:
            filled.rows = [list(row) for row in self._whole[place]]
        return filled

    def _copied(self, place: Place, source: str, i: int, j: int, found: Mapping[Place, _Filled]) -> tuple[Value, str]:
        """The value and the text of a box of another matrix, as they stand on the paper."""
        for other, filled in found.items():
            if other.question == place.question and other.name == source and filled.values is not None:
                return filled.values[i, j], filled.rows[i][j]
        given = place.derivation.givens[source] if place.derivation else None
        assert isinstance(given, Matrix)
        return given[i, j], _typed(given[i, j])

    @property
    def doubts(self) -> list[Doubt]:
        """The matrices with boxes of which nothing was said, and which follow from what was, in order."""
        return [self._doubt(place, filled) for place, filled in self._filled.items() if filled.doubtful]

    def _doubt(self, place: Place, filled: _Filled) -> Doubt:
        follows: list[str] = []
        key: list[str] = []
        for i in range(place.shape[0]):
            columns = [j for (row, j) in filled.doubtful if row == i]
            asked = [j for (row, j) in place.boxes if row == i]
            for k, lines in enumerate((follows, key)):
                shown = {j: _shown(filled.doubtful[i, j][k]) for j in columns}
                if columns and len(columns) == place.shape[1] == len(asked):
                    row = Target(Level.ROW if place.shape[0] > 1 else Level.ANSWER, place, i)
                    lines.append(f"{self.name(row)} = {' '.join(shown.values())}")
                else:
                    lines += (f"{self.box(place, i, j)} = {x}" for j, x in shown.items())
        return Doubt(self.name(Target(Level.ANSWER, place)), tuple(follows), tuple(key))

    @property
    def blank(self) -> bool:
        """Whether nothing stands on the paper."""
        return not any(text for filled in self._filled.values() for row in filled.rows for text in row)

    def answers(self) -> Json:
        """Everything that stands on the paper, as a file of JSON has it (`submissions.data`)."""
        questions: dict[str, Json] = {}
        for number in range(len(self.questions)):
            answers: dict[str, Json] = {}
            points: dict[str, Json] = {}
            methods: list[Json] = []
            for place, filled in self._filled.items():
                if place.question != number:
                    continue
                rows: Json = [[*row] for row in filled.rows]
                text, name = filled.rows[0][0], place.part.name
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
            questions[f"q{number + 1}"] = {"answers": answers, "points": points, "methods": methods}
        return questions


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


def _meanings(name: str, places: Sequence[Place], fold: bool, outside: list[str]) -> Iterator[Target]:
    """Everything that a name may mean; of names with indices that a matrix has not, `outside` is told why not."""
    name = _LATE_PRIMES.sub(r"\2\1", visible(name).strip().strip("$"))

    def called(text: str) -> list[Place]:
        """As the page calls it; if it calls several so, those that are called so everywhere; else by its label."""
        if label := _LABEL.fullmatch(text.strip()):
            return [place for place in places if place.label == label[1]]
        sign = normal(text)
        shown = [place for place in places if sign and sign in place.shown]
        own = [place for place in shown if normal(place.name) == sign]
        named = own or shown or [place for place in places if sign and place.called(sign, fold)]
        return named or [place for place in places if fold and place.label == text.strip()]

    for place in called(name):
        yield Target(Level.ANSWER, place)
    if found := _BRACKETED.fullmatch(name):
        splits = [(found["name"], found["first"], found["second"])]
    elif found := _INDEXED.fullmatch(name):
        digits, second = found["first"], found["second"]
        splits = []
        for k in range(len(digits)):
            stem, index = name[: found.start("first")] + digits[:k], digits[k:]
            splits.append((stem, index, second))
            if second is None:
                splits += [(stem, index[:cut], index[cut:]) for cut in range(1, len(index))]
    else:
        return
    for stem, first, other in splits:
        for place in called(stem):
            if place.key is None or first.startswith("0") or (other or "").startswith("0"):
                continue
            if (target := _indexed(place, int(first[:4]), other and int(other[:4]))) is not None:
                yield target
            else:
                rows, columns = place.shape
                said = f"{place.name} has {rows} row{'s' * (rows > 1)} and {columns} column{'s' * (columns > 1)}"
                outside.append(f"{said}; {name} is outside.")


def _indexed(place: Place, first: int, second: int | str | None) -> Target | None:
    """A box or a row of a place (indices from 1); one index is the place in a matrix that is one row or one column."""
    rows, columns = place.shape
    if isinstance(second, int):
        inside = first <= rows and second <= columns
        return Target(Level.BOX, place, first - 1, second - 1) if inside else None
    if rows == 1 and first <= columns:
        return Target(Level.BOX, place, 0, first - 1)
    if columns == 1 and first <= rows:
        return Target(Level.BOX, place, first - 1, 0)
    return Target(Level.ROW, place, first - 1) if first <= rows and rows > 1 else None


def _cells(text: str, count: int, target: Target) -> list[str]:
    """The values of one row, between spaces, bars or commas."""
    bare = text.strip().removeprefix("[").removesuffix("]").strip()
    ways = [re.split(gap, bare) for gap in (r"\s*\|\s*", r"\s+", r"\s*,\s*")]
    cells = next((way for way in ways if len(way) == count), None)
    if cells is None:
        came = min((way for way in ways), key=lambda way: abs(len(way) - count))
        raise InputError(
            f"{target} has {count} boxes, and {len(came)} value{'s' * (len(came) != 1)} came ({text!r}); values with "
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
    order = {}
    for place in found:
        steps = [step.name for step in place.derivation] if place.derivation else []
        order[place] = steps.index(place.step) if place.step in steps else -1
    slots: dict[int, list[Place]] = {}
    for place in found:
        slots.setdefault(id(place.derivation), []).append(place)
    ordered = {key: iter(sorted(places, key=lambda p: order[p])) for key, places in slots.items()}
    for place in found:  # the places of one derivation change among themselves
        yield next(ordered[id(place.derivation)])


def _of_part(number: int, question: Question, part: Part) -> Iterator[Place]:
    problem, answer = question.problem, part.answer
    shown = frozenset(normal(on_one_line(grid.name)) for grid in grids_of(part)) or frozenset({normal(part.name)})
    aliases = frozenset({normal(part.name)})
    match answer:
        case StepAnswer(step) | EntriesAnswer(step) if problem is not None:
            key = matrix_of(problem.derivation, step)
            boxes = answer.cells if isinstance(answer, EntriesAnswer) else tuple(indices(key.shape))
            aliases |= {normal(step)}
            yield Place(number, part, part.name, shown, aliases, boxes, key, "", problem.derivation, step)
        case MatrixAnswer(value, derivation, step):
            yield Place(
                number, part, part.name, shown, aliases, tuple(indices(value.shape)), value, "", derivation, step
            )
        case PropertyAnswer(model=model):
            others = [p.answer.model for p in question.parts if p is not part and isinstance(p.answer, PropertyAnswer)]
            for name, matrix in model.items():
                own = f"{part.name}.{name}" if any(name in other for other in others) else name
                signs = frozenset({normal(own)})
                yield Place(number, part, own, signs, signs, tuple(indices(matrix.shape)), matrix, inside=name)
        case RubricAnswer():
            yield Place(number, part, part.name, shown, aliases, text=str(part.points))
        case FormulaAnswer(value):
            yield Place(number, part, part.name, shown, aliases, text=_typed(value))
        case _:
            text = " ".join(text for _, text in answer_entries(answer, problem))
            yield Place(number, part, part.name, shown, aliases, text=text)
