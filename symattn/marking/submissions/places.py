"""The pieces that a text is taken apart into, and answers behind the numbers or the letters of their parts."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import accumulate, chain, groupby

from symattn.foundation.languages import languages, message
from symattn.marking.attempt import Ticked
from symattn.marking.submissions import labels
from symattn.marking.submissions.answers import MATRICES, answer_in, is_line, reader_of
from symattn.marking.submissions.blocks import MarkdownBlock, unescaped
from symattn.marking.submissions.code import in_square
from symattn.marking.submissions.entries import is_number, shape_alone, shortened
from symattn.marking.submissions.latex import statements
from symattn.marking.submissions.names import MARKED, MOST_WORDS, ONE_ROW
from symattn.marking.submissions.tables import BULLET, Rows, are_bulleted, as_row
from symattn.marking.submissions.written import Written
from symattn.page.document import Heading, Inlines
from symattn.page.presentation import blocks_in_language
from symattn.page.writers.characters import plain
from symattn.teaching.question import ChoiceAnswer, OrderAnswer, Part, RubricAnswer, WordAnswer


@dataclass(frozen=True, slots=True)
class Piece:
    """A line of the text, a table, or a formula, with its lines from `start` (from 0) to `end`.

    `row` is the number that a line of numbers has before it, as in "Row 2: 3, 4"; 0 if it has none.  `part` is the one
    whose number or letter it begins with, where all that is said of it stands here.
    """

    start: int
    end: int
    text: str
    rows: Rows = ()
    row: int = 0
    part: str = ""

    @property
    def blank(self) -> bool:
        return not self.text.strip(NO_WORDS + ".")


Answer = tuple[str, str]
"""The number or the letter of a part, and what is said of it."""


@dataclass
class Places:
    """A text in which answers stand behind the numbers or the letters of their parts, as on the sheet: 3) B.

    The first of them says how parts are called; what else is numbered or has letters is the options of a choice, or an
    order in lines.
    """

    written: Written
    pieces: Sequence[Piece]

    def __post_init__(self) -> None:
        self.pieces = self._with_signs()

    def _with_signs(self) -> Sequence[Piece]:
        """The same with the usual sign behind the letters of parts that have another or none, a B or [b] 3×4, where
        the letters of all lines that begin with one come in turn.
        """
        lines = [piece for piece in self.pieces if not piece.rows]
        for letters in _SMALL_LETTER, _CAPITAL:
            found = {piece: one for piece in lines if (one := letters.fullmatch(piece.text))}
            answers = {piece: (self._number(one["place"].lower()), one["said"]) for piece, one in found.items()}
            if not all(map(PLACED.match, (piece.text for piece in found))) and self._are_in_turn(answers):
                placed = {piece: f"{chr(ord('a') + k)}) {said}" for piece, (k, said) in answers.items()}
                return [replace(piece, text=placed.get(piece, piece.text)) for piece in self.pieces]
        return self.pieces

    def _are_in_turn(self, answers: Mapping[Piece, tuple[int, str]]) -> bool:
        """Whether these are the places of all parts, or of some with an answer to each; no line is one as a whole."""
        parts, numbers = self.written.question.parts, [number for number, _ in answers.values()]
        if len(numbers) < 2 or numbers[0] < 0 or numbers != sorted({*numbers}):
            return False
        if all(said and is_answer(parts[number], piece.text.strip()) for piece, (number, said) in answers.items()):
            return False
        is_whole = numbers == [*range(len(parts))] and not any(map(is_line, parts))
        return is_whole or all(is_answer(parts[number], said.strip()) for number, said in answers.values())

    def joined(self) -> list[Piece]:
        """Every answer that is no matrix in one piece, with its number before it and without the sheet's heading."""
        found: list[Piece] = []
        style, last, lines = "", -1, deque(self._in_lines())
        while lines:
            piece = lines.popleft()
            marker = self._further(piece, style, last)
            if marker is None:
                found.append(piece)
                continue
            style, last = style or _style(marker), self._number(marker["place"])
            part, behind = self.written.question.parts[last], piece.text[marker.end() :].strip()
            said = _behind_label(self._without_title(part, behind))
            goes_on = {ChoiceAnswer: _OPTION, OrderAnswer: _LABEL}.get(type(part.answer), _NOTHING)
            below: list[Piece] = []
            for line in lines:
                is_first = not said and not isinstance(part.answer, MATRICES)
                is_item = goes_on.match(said) and goes_on.match(line.text)
                if not line.blank and (self._further(line, style, last) or not (is_first or is_item)):
                    break
                below.append(line)
                said += "" if line.blank else _behind_label(line.text.strip()) if is_first else f"\n{line.text}"
            while below and below[-1].blank:
                below.pop()
            for _ in below:
                lines.popleft()
            if said != behind or not MARKED.match(piece.text):
                piece = replace(piece, end=[piece, *below][-1].end, text=f"{marker['place']}) {said}")
            found.append(replace(piece, part=part.name))
        return found

    def _number(self, place: str) -> int:
        """The place in the question of the part with a number or a letter, from 0; -1 if there is none."""
        name = self.written.names.place(place)
        return self.written.names.parts.index(name) if name else -1

    def _further(self, piece: Piece, style: str, last: int) -> re.Match[str] | None:
        """The number or the letter of a part behind the last one at the beginning of a line, in the same style; Q1 is
        one where no derivation has queries.
        """
        marker = None if piece.rows else PLACED.match(piece.text)
        if marker is None or self._number(marker["place"]) <= last or _style(marker) != (style or _style(marker)):
            return None
        has_steps = any(map(is_line, self.written.question.parts))
        return None if has_steps and _style(marker).startswith(("q1", "q(")) else marker

    def _in_lines(self) -> list[Piece]:
        """Answers that stand one behind the other, in a table, or without their numbers, each behind its own: 1a 2b."""
        whole = self._without_numbers()
        if whole is not None:
            return whole
        found: list[Piece] = []
        said = [[] if piece.rows or PLACED.match(piece.text) else _numbered(piece.text) for piece in self.pieces]
        for numbered, run in groupby(zip(self.pieces, said, strict=True), lambda one: one[1] != []):
            lines, answered = zip(*run, strict=True)
            below = self._in_turn([*chain.from_iterable(answered)]) if numbered else []
            each = [[one] for one in below] if len(below) == len(lines) else [*map(self._answers_of, lines)]
            for piece, answers in zip(lines, each, strict=True):
                found += [replace(piece, rows=(), text=f"{place}) {said}") for place, said in answers] or [piece]
        return found

    def _answers_of(self, piece: Piece) -> list[Answer]:
        """The answers to parts that follow each other in a line, or beside or below their numbers in a table."""
        table = [tuple(row) for row in piece.rows if any(row)]
        tables = (table, table[1:], [*zip(*table, strict=False)])
        ways = [[(row[0], row[1]) for row in way] for way in tables if all(len(row) == 2 for row in way)]
        if not piece.rows:
            ways = [_lettered(piece.text), self._one_behind_the_other(piece.text)]
        return next(filter(None, map(self._in_turn, ways)), [])

    def _one_behind_the_other(self, line: str) -> list[Answer]:
        """1) A 2) 3×4 3) C < A: the numbers or letters of parts that follow each other, and the answers to them."""
        places: list[re.Match[str]] = []
        for found in _NEXT_PLACE.finditer(line):
            before, place = places[-1]["place"] if places else "", found["place"]
            alike = before.isdigit() == place.isdigit()
            if not places or (alike and self._number(place) == self._number(before) + 1 > 0):
                places.append(found)
        ends = [one.start() for one in places[1:]] + [len(line)]
        title = line[: places[0].start()].strip() if places else ""
        said = [(one["place"], line[one.end() : end].strip(" ,;")) for one, end in zip(places, ends, strict=False)]
        return said if not title or title.endswith(":") else []

    def _in_turn(self, said: Sequence[Answer]) -> list[Answer]:
        """The same, if it answers parts that follow each other and ask for no matrix; else nothing."""
        called = [(place.strip("()*. :"), text) for place, text in said]
        numbers = [self._number(place) for place, _ in called]
        if len(numbers) < 2 or -1 in numbers or numbers != sorted({*numbers}) or not all(text for _, text in called):
            return []
        answered = [(self.written.question.parts[k], text) for k, (_, text) in zip(numbers, called, strict=True)]
        gaps = numbers[-1] - numbers[0] >= len(numbers)
        if any(isinstance(part.answer, MATRICES) or (gaps and not is_answer(part, text)) for part, text in answered):
            return []
        return called

    def _without_numbers(self) -> list[Piece] | None:
        """Answers alone, as many as there are parts of their kind, each of which it answers: DDABD, 8×3; 7×3."""
        lines = [piece for piece in self.pieces if not piece.blank and not is_surely_title(piece.text)]
        ways = [[line.text.strip() for line in lines]]
        if len(lines) == 1:
            ways += [[*map(str.strip, re.split(gap, lines[0].text.strip(" .")))] for gap in _BETWEEN_ANSWERS]
        for first, parts in self._alike():
            for items in map(partial(self._without_own_places, first), ways):
                fits = len(items) == len(parts) and all(map(is_answer, parts, items))
                if fits:
                    pieces = lines if len(lines) > 1 else lines * len(items)
                    numbered = enumerate(zip(pieces, items, strict=True), first)
                    return [replace(piece, rows=(), text=f"{k}) {item}") for k, (piece, item) in numbered]
        return None

    def _without_own_places(self, first: int, items: Sequence[str]) -> Sequence[str]:
        """What stands behind the numbers or letters of their parts, if all have them: a) C, b) C is no AC, BC."""
        found = [_OWN_PLACE.fullmatch(item) for item in items]
        if all(one and self._number(one["place"].lower()) == k for k, one in enumerate(found, first - 1)):
            return [one["said"] for one in found if one]
        return items

    def _alike(self) -> Iterator[tuple[int, Sequence[Part]]]:
        """The number of the first of them, and all parts; and those of each kind that stand together."""
        parts = self.written.question.parts
        runs = [[*run] for _, run in groupby(parts, lambda part: type(part.answer))]
        starts = accumulate(map(len, runs), initial=1)
        for first, run in ((1, parts), *zip(starts, runs, strict=False)):
            kinds = Counter(type(part.answer) for part in parts)
            whole = run is parts or kinds[type(run[0].answer)] == len(run)
            if whole and len(run) > 1 and not any(isinstance(part.answer, (*MATRICES, *IN_ANY_WORDS)) for part in run):
                yield first, run

    def _without_title(self, part: Part, text: str) -> str:
        """What stands behind the heading of a part, in any language, and the marks that it is worth."""
        for title in () if is_line(part) else _titles(part.title):
            length = _length(text, title)
            behind = text[length:]
            if length and (found := _BEHIND_TITLE.match(behind)):
                return behind[found.end() :].strip()
        return text


def _behind_label(text: str) -> str:
    """An answer without the word that says that it is one: C for "**Answer: C**" and for "The answer is C."."""
    label = labels.before_answer().match(text)
    return text[label.end() :].strip().rstrip(".") if label else text


def is_answer(part: Part, text: str) -> bool:
    """Whether a text is an answer to a part, and nothing else; where one option was asked for, it is one."""
    if not text or answer_in(part, text) != text:
        return False
    read = reader_of(part)
    match part.answer, read and read(text):
        case ChoiceAnswer(several=False), Ticked(options):
            return len(options) == 1
    return True


def _numbered(line: str) -> list[Answer]:
    """1a 2b 3d, or an answer behind a number and a dash or a tab: numbers of parts, and what is said of each."""
    found = _BEHIND_A_DASH.fullmatch(line)
    is_value = found is not None and is_number(found["said"]) and not shape_alone(found["said"])
    may_be_minus = found and found["dash"] and found["place"].isdigit() and is_value  # 1 - 3
    return _lettered(line) or ([(found["place"], found["said"])] if found and not may_be_minus else [])


def _lettered(line: str) -> list[Answer]:
    """1a 2b 3d, aB bD: the numbers or letters of parts and the letters of options that a line consists of; none of
    any other line.
    """
    found = [(one["number"] or one["letter"], one["option"] or one["capital"]) for one in _LETTERED.finditer(line)]
    return found if not _LETTERED.sub("", line).strip(" ,;.|") else []


_BETWEEN_ANSWERS = (r"[;|]", ",", r"\s+", r"(?<=\w)(?=\w)")


def _style(marker: re.Match[str]) -> str:
    """How a marker is written, whatever its number is: 1) and 12) alike."""
    kind = "1" if marker["place"].isdigit() else "a"
    return re.sub(r"[\s*_#]", "", marker[0].replace(marker["place"], kind)).casefold()


@cache
def _titles(title: Inlines) -> tuple[str, ...]:
    """A heading in every language, by its letters and digits."""
    ways = [blocks_in_language((Heading(title, 1),), language) for language in languages()]
    return tuple(dict.fromkeys(_plain(plain(block.content)) for [block] in ways if isinstance(block, Heading)))


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


PLACED = re.compile(
    r"\s*(?:#{1,6}\s+)?(?:[✅✔✓☑]\s*)?[*_]{0,2}"
    rf"(?P<word>(?i:{labels.PLACE_WORD}\.?|第)\s*)?"
    r"(?:\d{1,2}\s?(?=\(?[a-z][).:]))?\(?(?P<place>[a-z](?!\s?[-=→⇒])|\d{1,2})"
    r"(?:\s?题)?(?:[).:]{1,2}|\s?(?:[-=]>|[→⇒])|(?(word)(?=[\s*_]*$)|(?!)))[*_]{0,2}(?=\s|$)"
)
"""The number or the letter of a part before what is said of it: 1) or Question 1, also on a line of its own."""


_SMALL_LETTER, _CAPITAL = (
    re.compile(rf"\s*[(\[]?(?P<place>{letter})(?:[\])]?[).:/]?(?:\s?[-–—])?(?=\s|$)|[\])/:–—-])\s*(?P<said>.*)")
    for letter in ("[a-z]", "[A-Z]")
)


_SIGN = r"\s?[\]).:=/–-]{0,2}\s?"
_LETTERED = re.compile(
    rf"(?<!\w)[(\[]?(?:(?P<number>\d{{1,2}}){_SIGN}(?P<option>[A-Za-z])|(?P<letter>[a-z]){_SIGN}(?P<capital>[A-Z]))"
    r"(?!\w)[,;.|]?"
)


_OWN_PLACE = re.compile(r"\(?(?P<place>[a-z]|(?:[A-Z]|\d{1,2})(?=[).:]))[).:]*\s+(?P<said>\S.*)")


_BEHIND_A_DASH = re.compile(
    r"\s*\(?(?P<place>\d{1,2}|[a-z])\)?"
    r"(?:\s?(?P<dash>[-–—])\s+|\s?\t\s*|(?<!\))\s+(?=[A-Za-z](?:\W+[A-Za-z])*\W*$))(?P<said>\S.*)"
)


_NEXT_PLACE = re.compile(r"(?:^|(?<=[\s,;:]))\(?(?P<place>\d{1,2}|[a-z])(?:[).]|:(?=\s)|\s[:–-](?=\s))+\s*")


_BEHIND_TITLE = re.compile(r"[′'’)]*\s*(?:[\[(]\d{1,2}[^\])]{0,9}[\])])?\s*(?:[:.=–-]\s*|$)")


_OPTION = re.compile(
    rf"\s*(?:[{labels.BULLETS}]\s+)?(?:\\?\[\s?[xX✓✔✗]?\s?\\?\]|\([\sxX✓]?\)|[☒☑☐□✓✔✗✘xX])?\s*\(?[A-Za-z](?:[).:]|\s|$)"
)


_NOTHING = re.compile(r"(?!)")


_LABEL = re.compile(rf"\s*(?:[{labels.BULLETS}]\s+)?(?:\d{{1,2}}[.):])?\s*\(?[A-Za-z]\)?[.,;]?\s*$")


def pieces(blocks: Iterable[MarkdownBlock], lines: Sequence[str]) -> Iterator[Piece]:
    """Blocks taken apart: into their lines, unless one is a table or has an environment of LaTeX in it."""
    for _, together in groupby(blocks, lambda block: -1 if BULLET.match(lines[block.start]) else block.start):
        listed = [*together]  # the items of a list, between which there may be gaps, or one other block
        bullets = are_bulleted([line for block in listed for line in lines[block.start : block.end]])
        for block in chain.from_iterable(_at_answers(block, lines) for block in listed):
            yield Piece(block.start, block.start, "")
            yield from _pieces_of(block, lines, bullets)


def _at_answers(block: MarkdownBlock, lines: Sequence[str]) -> Iterator[MarkdownBlock]:
    """A paragraph with environments of LaTeX in it, apart before every line that begins with the place of an answer."""
    start, depth = block.start, 0
    for number in range(block.start, block.end) if block.kind == "text" and "\\begin" in block.text else ():
        if start < number and not depth and PLACED.match(lines[number]):
            yield MarkdownBlock("text", start, number, "\n".join(lines[start:number]))
            start = number
        depth += lines[number].count("\\begin") - lines[number].count("\\end")
    if start > block.start:
        block = MarkdownBlock("text", start, block.end, "\n".join(lines[start : block.end]))
    yield block


def _pieces_of(block: MarkdownBlock, lines: Sequence[str], bullets: bool) -> Iterator[Piece]:
    if block.kind == "table":
        rows = tuple(tuple(map(_cell, row)) for row in block.rows)
        yield Piece(block.start, block.end, block.text, rows)
    elif re.search(r"\\begin ?\{|\\\[", block.text):
        for number, statement in statements(block.text):
            yield Piece(block.start + number, block.start + number + 1, statement)
    else:
        for number in range(block.start, block.end):
            line = "" if _is_fence(lines[number], block) else lines[number]
            line = _CROSSED_OUT.sub(_unless_entry, BULLET.sub("", line) if bullets else line)
            row = as_row(in_square(_FORMULA.sub(r"\1\2", line)))
            numbered = ONE_ROW.match(line) if row != line else None
            yield Piece(number, number + 1, row, row=int(numbered[1]) if numbered else 0)


def _cell(text: str) -> str:
    """The text of a cell, its matrices in LaTeX in brackets."""
    text = unescaped(text)
    return " ".join(said for _, said in statements(text)) if "\\begin{" in text else text


_FORMULA = re.compile(  # - $Z = 1 2 / 3 4$, and Z $= 2$
    rf"^(\s*(?:[{labels.BULLETS}>]\s+)*|[^$\n]*[^$\s=]\s*(?=\$\s?=))\$([^$]+)\$[.,;]?\s*$"
)


def _is_fence(line: str, block: MarkdownBlock) -> bool:
    return block.kind == "code" and line.strip().startswith(("```", "~~~"))


IN_ANY_WORDS = (RubricAnswer, WordAnswer)


_CROSSED_OUT = re.compile(r"~~([^~]*)~~")


def _unless_entry(found: re.Match[str]) -> str:
    """Nothing of a row or a matrix that is crossed out; to an entry, its reader sees."""
    return "" if re.search(r"[\s\[]", found[1]) else found[0]


def no_answer(said: str) -> str:
    return message("This is not an answer: {text}", text=repr(said.strip()))


def told(left: Sequence[Piece]) -> Iterator[tuple[int, str]]:
    """What was left, as runs of lines: where each begins, and its beginning."""
    run: list[Piece] = []
    for piece in [*left, None]:
        if run and (piece is None or piece.start > run[-1].end + 1):
            yield run[0].start, shortened(" / ".join(one.text.strip() for one in run), 80)
            run = []
        if piece is not None:
            run.append(piece)


NO_WORDS = " \t\u00a0*_`~#>-=|$═━─"


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
    line = " ".join(text.strip(NO_WORDS + ".:,!").split())
    words = [word for word in re.split(r"[\s,;:()&]+|[-–—](?=\s)", line) if word]
    return _DATE.fullmatch(line) is not None or (
        0 < len(words) <= MOST_WORDS
        and all(map(_WORD_OF_A_TITLE.fullmatch, words))
        and any(len(word) > 1 + word.isascii() and word.isalpha() for word in words)
        and not is_number(line)
    )


def is_surely_title(text: str) -> bool:
    """Whether a title can be nothing else: a heading, a date, "Worksheet 3, Ada"."""
    line = " ".join(text.strip(NO_WORDS + ".:,!").split())
    return text.lstrip().startswith("#") or bool(_DATE.fullmatch(line) or labels.title().fullmatch(line))
