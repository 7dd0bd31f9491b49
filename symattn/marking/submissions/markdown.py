"""Filled-in Markdown worksheets and exam papers: the places to write in are found again, read, and filled.

A part is found by its heading, a grid by the comment before it, its heading and its first cell together, so that any
one or two of them may have been lost.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache, partial
from itertools import groupby
from typing import Literal

from symattn.exact import Matrix
from symattn.foundation.identity import Same, is_identity
from symattn.foundation.languages import ENGLISH, languages, message
from symattn.foundation.languages.words import any_of
from symattn.marking.attempt import (
    Remark,
)
from symattn.marking.submissions import blocks as md
from symattn.marking.submissions import free, labels, names
from symattn.marking.submissions.alphabet import plain_signs
from symattn.marking.submissions.answers import Raw, RawText, Several, grids_of, is_line, tables_of
from symattn.marking.submissions.blocks import MarkdownBlock, unescaped
from symattn.marking.submissions.entries import is_blank, is_number, shape_beside, undecorated, visible, without_shape
from symattn.marking.submissions.places import Piece, is_surely_title, is_title, no_answer, told
from symattn.marking.submissions.places import pieces as pieces_of
from symattn.marking.submissions.tables import Cells, entries_of, has_shape
from symattn.marking.submissions.webpage import as_markdown
from symattn.marking.submissions.written import Paper, Written
from symattn.page.document import AnswerGrid, Blocks, Choices, FillIn, FillIns, Heading, Table, all_blocks
from symattn.page.presentation import blocks_in_language, presented
from symattn.page.writers import common, markdown, notebook
from symattn.page.writers.characters import on_one_line
from symattn.teaching.explanation import Conventions, Layout
from symattn.teaching.explanation.documents import question_document
from symattn.teaching.explanation.layouts import headed
from symattn.teaching.question import (
    ChoiceAnswer,
    FormulaAnswer,
    OrderAnswer,
    Part,
    PropertyAnswer,
    Question,
    RubricAnswer,
    ShapeAnswer,
    WordAnswer,
    marks_in_brackets,
)


@cache
def _furniture() -> dict[str, re.Pattern[str]]:
    """What stands on a page in any language: the end of the questions, totals of marks, labels."""
    total = labels.pattern("(Total for Question 7 is 7 marks)", "(Total for Question 7 is 1 mark)")
    return {
        "end": re.compile(
            f"(?i){labels.pattern('END OF QUESTIONS', 'Data sheet', _DATA_SHEET, 'Page for rough work')}"
        ),
        "total": re.compile(total),
        "working": re.compile(rf"^[*_]?(?:{labels.pattern('Working')})\s?[:：][*_]?"),
    }


_DATA_SHEET = "Data sheet (you may tear this page off)"
Place = tuple[int | None, int | None]
"""A question and a part of it, from 0; none where that is not known."""

_IDENTITY = re.compile(r"\b[0-9A-Za-z]{4}-[0-9A-Za-z]{4}\b")


@dataclass(frozen=True, slots=True)
class Slot:
    """One place to write in: a grid, a table, boxes to tick, a line; none of these where there is only space."""

    question: int
    position: int
    part: Part
    block: AnswerGrid | Table | Choices | FillIn | None
    id: str = ""

    @property
    def place(self) -> Place:
        return self.question, self.position

    @property
    def name(self) -> str:
        """What the first cell of a grid or a table says."""
        match self.block:
            case AnswerGrid(name=name):
                return on_one_line(name)
            case Table(header=header):
                return "".join(markdown.in_line(header[0]))
        return ""


def slots(questions: Sequence[Question]) -> list[Slot]:
    """Every place to write in, in the order of the paper."""
    found: list[Slot] = []
    ids = markdown.unique(markdown.grid_id(grid) for q in questions for part in q.parts for grid in grids_of(part))
    for number, question in enumerate(questions):
        for position, part in enumerate(question.parts):
            slot = partial(Slot, number, position, part)
            places = [slot(grid, next(ids)) for grid in grids_of(part)] + [*map(slot, tables_of(part))]
            for block in all_blocks(part.ask):
                if isinstance(block, Choices) and isinstance(part.answer, ChoiceAnswer):
                    places.append(slot(block))
                if isinstance(block, FillIns) and isinstance(part.answer, _ON_A_LINE):
                    places += map(slot, block.items)
            found += places or [slot(None)]
    return found


def language_of(page: md.Page) -> str:
    """The language that a file says it is in, English if it says one that is not ready; "" if it has lost its head."""
    said = page.head.get("lang", ENGLISH if page.head else "")
    return said if said in ("", *languages()) else ENGLISH


def question_in_language(question: Question, language: str) -> Question:
    """The question as it stands on a page in a language."""
    parts = [replace(part, ask=blocks_in_language(part.ask, language)) for part in question.parts]
    return replace(question, parts=tuple(parts)) if language != ENGLISH else question


_ON_A_LINE = (FormulaAnswer, ShapeAnswer, OrderAnswer, WordAnswer)


@dataclass
class FilledSheet:
    """A file with the places of its questions found in it."""

    page: md.Page
    asked: Sequence[Question]
    questions: list[Question] = field(init=False)
    """As they stand on the page, in its language."""
    slots: list[Slot] = field(init=False)
    places: list[Place] = field(init=False)
    """The place that each block stands under."""
    headed: frozenset[Place] = field(init=False)
    """The places of which the heading is there."""
    used: set[int] = field(default_factory=set)
    """The blocks, by `id`, that an answer was taken from."""

    def __post_init__(self) -> None:
        language = language_of(self.page) or ENGLISH
        self.questions = [question_in_language(question, language) for question in self.asked]
        self.slots = slots(self.questions)
        if len(self.questions) > 1 and not self.is_printed:
            self.page.blocks = [*map(self._in_lines, self.blocks)]
            self.page.blocks = [part for block in self.blocks for part in self._by_question(block)]
        if len(self.questions) == 1 and not self.is_printed and self._stand_alone:
            self.page.blocks = [
                self._text(block.start, block.end) if _BOLD_NUMBER.match(self.page.lines[block.start]) else block
                for block in self.blocks
            ]
        self.places = list(self._places())
        self.headed = frozenset(self.places)

    @property
    def _stand_alone(self) -> bool:
        """Whether no part is a line of a derivation: their numbers, if only these are bold, are no headings."""
        return not any(map(is_line, self.questions[0].parts))

    @property
    def blocks(self) -> list[MarkdownBlock]:
        return self.page.blocks

    # -------------------------------------------------------------------------------- where blocks stand

    @property
    def standing(self) -> Iterator[tuple[MarkdownBlock, Place]]:
        """Every block, and the place that it stands under."""
        return zip(self.blocks, self.places, strict=True)

    def _places(self) -> Iterator[Place]:
        single = len(self.questions) == 1
        none: Place = (0 if single else None), None
        question, part = none
        for block in self.blocks:
            title = _title(block) if block.kind == "heading" else ""
            if found := title and self._question_in(title):
                question = self._question_called(labels.number_in(found))
                part = 0 if question is not None and self.questions[question].has_one_part else None
            elif question is not None and (found := (single and _NUMBER.match(title)) or _LETTER.match(title)):
                part = self._position(question, found[1], title[found.end() :])
            elif self.ends(block) or (block.kind == "text" and _is_foot(block.text)):
                question, part = none
            yield question, part

    def _by_question(self, block: MarkdownBlock) -> Iterator[MarkdownBlock]:
        """In a text of somebody's own, a line that begins with the number of a question is its heading, and says what
        stands behind the number: Question 1, Q2: (a) C, 3b) D."""
        start, is_split = block.start, False
        for at in range(block.start, block.end) if block.kind in ("text", "output") else ():
            if found := self._parts_in_turn.get(at) or self._number_before(self.page.lines[at]):
                if start < at:
                    yield self._text(start, at)
                number, self.page.lines[at] = found
                yield MarkdownBlock("heading", at, at + 1, f"Question {number}")
                start, is_split = at, True
        yield self._text(start, block.end) if is_split else block

    def _in_lines(self, block: MarkdownBlock) -> MarkdownBlock:
        """A table whose rows begin with the number of a question and the letter of its part, | 2a | B |, as a text."""
        rows = [" ".join(row) for row in block.rows]
        rows = [re.sub(r"^(\d{1,2}) \(?([A-Za-z])\)?(?= )", r"\1\2", row) for row in rows]
        has_head = bool(rows) and not _PLACE_OF_PART.fullmatch(rows[0])
        lines = [at for at in range(block.start, block.end) if not _EDGE_OF_TABLE.fullmatch(self.page.lines[at])]
        if len(lines) != len(rows) or len(rows) == has_head or not all(map(_PLACE_OF_PART.fullmatch, rows[has_head:])):
            return block
        said = dict(zip(lines, ["", *rows[1:]] if has_head else rows, strict=True))
        self.page.lines[block.start : block.end] = [said.get(at, "") for at in range(block.start, block.end)]
        return self._text(block.start, block.end)

    @cached_property
    def _parts_in_turn(self) -> Mapping[int, tuple[str, str]]:
        """By their lines: the numbers of questions before the letters of their parts, and what is said of each, 2a B or
        2b = D, where these come in turn below each number.
        """
        found = {at: one for at, line in enumerate(self.page.lines) if (one := _PLACE_OF_PART.fullmatch(line))}
        places = [(int(one["question"]), letter) for one in found.values() for letter in _letters_of_parts(one)]
        runs = [[*run] for _, run in groupby(places, lambda place: place[0])]
        known = all(0 < number <= len(self.names) and self.names[number - 1].place(part) for number, part in places)
        in_turn = len({run[0][0] for run in runs}) == len(runs) and all(run == sorted({*run}) for run in runs)
        if not known or not in_turn or max(map(len, runs), default=0) < 2:
            return {}
        return {at: (one["question"], _in_brackets(one)) for at, one in found.items()}

    def _number_before(self, line: str) -> tuple[str, str] | None:
        """The number of a question at the beginning of a line, and the rest of the line."""
        text = _RULES_BESIDE.sub("", line).strip(" \t*_")
        if self._in_turn and (found := _ONLY_A_NUMBER.fullmatch(line.strip())):
            return str(labels.number_in(found)), ""
        if found := _NUMBERED_PART.match(text):
            return found[1], f"({found[2] or found[3]}) {text[found.end() :]}"
        found = labels.question().match(text) or _SHORT_QUESTION.match(text)
        if found is None or any(own.sign(found[0]) for own in self.names):
            return None  # Q1 may be the queries of head 1
        number, behind = labels.number_in(found), _WORTH.sub("", text[found.end() :])
        rest = behind.lstrip(" \t*_:.,)–-")
        title = self.questions[number - 1].title if 0 < number <= len(self.questions) else ""
        if title and md.normal(rest).startswith(md.normal(title)):
            return str(number), ""
        return (str(number), rest) if _BEHIND_NUMBER.match(behind) else None

    @cached_property
    def _in_turn(self) -> bool:
        """Whether lines of nothing but a number, 1. or **1**, are those of the questions: they come in turn, each below
        a gap, and nothing else says where a question begins.
        """
        lines = [line.strip() for line in self.page.lines]
        plain_lines = [line.lstrip("#*_=—–- ") for line in lines]
        if any(labels.question().match(line) or _SHORT_QUESTION.match(line) for line in plain_lines):
            return False
        below_gaps = (line for before, line in zip(["", *lines], lines, strict=False) if not before)
        numbers = [labels.number_in(found) for found in map(_ONLY_A_NUMBER.fullmatch, below_gaps) if found]
        return (
            len(numbers) > 1 and numbers == sorted({*numbers}) and 0 < numbers[0] <= numbers[-1] <= len(self.questions)
        )

    def _text(self, start: int, end: int) -> MarkdownBlock:
        return MarkdownBlock("text", start, end, "\n".join(self.page.lines[start:end]).strip())

    def _position(self, question: int, letter: str, words: str) -> int | None:
        """The part of a heading by its letter or number, where somebody's own words do not name another."""
        name = self.names[question].place(letter)
        if not name or self._names_another(question, name, words):
            return None
        return next((i for i, part in enumerate(self.questions[question].parts) if part.name == name), None)

    def _names_another(self, question: int, name: str, words: str) -> bool:
        return not self.is_printed and names.Resolver(self.names[question]).called(words) not in ("", name)

    def _heads_a_part(self, title: str) -> bool:
        """Whether a heading that begins with a number is that of a question or a part, as far as its words say."""
        found = _NUMBER.match(title) or _LETTER.match(title)
        if found is None or len(self.questions) > 1:
            return True
        return not self._names_another(0, self.names[0].place(found[1]), title[found.end() :])

    @cached_property
    def names(self) -> list[names.Names]:
        return [names.names_of(question) for question in self.questions]

    @cached_property
    def printed(self) -> list[list[frozenset[str]]]:
        """By question and part: what was printed there, as `blocks.normal` has it."""
        return [
            [_printed((*before, *part.ask)) for part in question.parts]
            for question in self.questions
            for before in (question.introduction if question.has_one_part else (),)
        ]

    def own(self, question: int, part: int) -> Iterator[MarkdownBlock]:
        """What stands under a part that was not printed there, without what is in its tables and boxes."""
        lines = {id(block) for slot, block, _ in self.lines if slot.question == question}
        for block, place in self.standing:
            if place != (question, part) or block.kind not in ("text", "math", "code") or id(block) in lines:
                continue
            text = _furniture()["working"].sub("", block.text, count=1)
            said, is_total = _said(replace(block, text=text)), _furniture()["total"].match(text)
            if said and said not in self.printed[question][part] and not is_total:
                yield MarkdownBlock(block.kind, block.start, block.end, text.strip())

    def added(self, block: MarkdownBlock, question: int) -> bool:
        """Whether a block holds something that is not printed on the sheet, whatever the sheet's layout is."""
        text = _furniture()["working"].sub("", block.text, count=1)
        said = _said(replace(block, text=text))
        if block.kind in ("grid", "choices", "program"):
            return False
        if block.kind == "tasks" and any(item.ticked for item in block.items):
            return True
        if block.kind in ("text", "output") and (_TICKS if said else _SHADED).search(text):
            return True
        if block.kind == "heading" and not self._heads_a_part(_title(block)):
            return True
        if not said or self._is_furniture(block, text):
            return False
        form: Form = "notebook" if self.page.cells else "markdown"
        pages = [*((*layout, form) for layout in _LAYOUTS), (*_LAYOUTS[0], "html")] if self.is_sheet else ()
        for layout, conventions, printed_as in pages:
            asked = (layout, conventions, language_of(self.page) or ENGLISH, printed_as)
            printed, whole = _printed_page(Same(self.asked[question]), *asked)
            if said in printed or (len(said) >= _TELLING and said in whole):
                return False
        return True

    def begins_question(self, block: MarkdownBlock) -> bool:
        return block.kind == "heading" and self._question_in(_title(block)) is not None

    def _question_in(self, title: str) -> re.Match[str] | None:
        """The number of a question in a heading; of a paper with several, a heading need say nothing else."""
        if self._numbers_parts:
            return None
        return labels.question().match(title) or (_heads_question(title) if len(self.questions) > 1 else None)

    @cached_property
    def _numbers_in_headings(self) -> set[int]:
        """Those of headings such as Question 2."""
        titles = (_title(block) for block in self.blocks if block.kind == "heading")
        return {labels.number_in(found) for found in map(labels.question().match, titles) if found}

    @cached_property
    def _numbers_parts(self) -> bool:
        """Whether the only question has headings such as Question 1 and Question 2: they number its parts."""
        numbers, parts = self._numbers_in_headings, self.questions[0].parts if len(self.questions) == 1 else ()
        return len(numbers) > 1 and numbers <= {*range(1, len(parts) + 1)}

    def _question_called(self, number: int) -> int | None:
        """The question of a number; the only one may have any, where it has that of its course."""
        if len(self.questions) == 1 and self._numbers_in_headings == {number}:
            return 0
        return number - 1 if 0 < number <= len(self.questions) else None

    def ends(self, block: MarkdownBlock) -> bool:
        """Whether the questions end here, so that what follows belongs to none."""
        is_text = block.kind in ("heading", "text")
        return is_text and _furniture()["end"].match(block.text.strip("* ")) is not None

    @cached_property
    def is_printed(self) -> bool:
        """Whether it has a sheet's own marks, so that pages besides its questions were printed as well."""
        return bool(self.page.head) or any(block.kind in ("grid", "choices") for block in self.blocks)

    @cached_property
    def is_sheet(self) -> bool:
        """Whether it was made from a worksheet or a paper, and is no text of somebody's own."""
        return self.is_printed or any(part is not None for _, part in self.headed)

    def _is_furniture(self, block: MarkdownBlock, text: str) -> bool:
        """What stands on every sheet: headings of parts, lines for the name and the date, marks, the foot."""
        if block.kind == "heading":
            title = text.replace("\\", "").replace("*", "").strip()
            label = self._question_in(title) or _NUMBER.match(title) or _LETTER.match(title)
            if label and ("=" not in text or _letters(text) - _letters(label[0]) in self._titles):
                return True
        known = all(self.is_field(line) for line in text.split("\n") if line.strip())
        found = (_furniture()[what].search(text) for what in ("total", "end"))
        return known or _is_foot(text) or any(found)

    @cached_property
    def _titles(self) -> list[Counter[str]]:
        """The letters and digits of every part's heading, as it is printed with its rule and its marks; a transpose may
        be a letter, T."""
        parts = [headed(part) for question in self.questions for part in question.parts]
        headings = [Heading(part.title, 1, marks_in_brackets(part.marks)) for part in parts]
        found = []
        for heading in blocks_in_language(tuple(headings), language_of(self.page) or ENGLISH):
            assert isinstance(heading, Heading)
            for formulas in (True, False):  # as plain text they stood in headings formerly
                text = markdown.in_line(heading.content, formulas)
                letters = _letters(f"{text} {heading.marks}")
                found += [letters, letters + Counter({"T": text.count(r"\top")})]
        return found

    def is_field(self, line: str) -> bool:
        """Whether a line says whose work it is, when it was written, or begins a table of TOML."""
        known = (*labels.fields(language_of(self.page)), *labels.said("Date"), "Sheet", "Paper")
        said = line.casefold()
        fields = (name for name in known if behind_label(said, name.casefold()) is not None)
        return any(not _goes_on(line, name) for name in fields) or _SECTION.fullmatch(line.strip()) is not None

    # -------------------------------------------------------------------------------- what is what

    @cached_property
    def tables(self) -> dict[int, list[MarkdownBlock]]:
        """By the number of a slot: the tables that were filled in for it."""
        found: dict[int, list[MarkdownBlock]] = {}
        comment = ""
        for block, place in self.standing:
            if block.kind == "table":
                scores = [(self._score(block, place, comment, slot), -len(found.get(i, ())), -i)
                          for i, slot in enumerate(self.slots)]  # fmt: skip
                score, _, number = max(scores, default=(0, 0, 0))
                if score > 0:
                    found.setdefault(-number, []).append(block)
            comment = block.text if block.kind == "grid" else ""
        return found

    def _score(self, table: MarkdownBlock, place: Place, comment: str, slot: Slot) -> int:
        """How well a table fits a slot: by the comment before it, its place, its first cell; above 0 if it may.

        Below its head there is something: a line alone, | S | 1 2 |, is no table of a sheet's.
        """
        here, lost = place == slot.place, slot.place not in self.headed  # lost: its heading is not there
        if not table.rows[1:] or place[0] not in (None, slot.question):
            return 0
        corner = md.normal(without_shape(table.rows[0][0]))
        if isinstance(slot.block, Table):
            heads = [md.normal(markdown.in_line(head)) for head in slot.block.header]
            return 1 if (here or lost) and [md.normal(cell) for cell in table.rows[0]][: len(heads)] == heads else 0
        if isinstance(slot.block, AnswerGrid):
            marked, named = comment == slot.id, corner == md.normal(slot.name) != ""
            if not (marked or (named and (here or lost)) or (here and self._is_plain_grid(table, slot))):
                return 0
            return 4 * marked + 3 * here + 2 * named
        explained = isinstance(slot.part.answer, RubricAnswer)
        return int(here and slot.block is None and not explained and self._is_plain_grid(table, slot))

    def _is_plain_grid(self, table: MarkdownBlock, slot: Slot) -> bool:
        """Whether a table has the heads of a grid, and the part's name or none."""
        corner = without_shape(undecorated(unescaped(table.rows[0][0])))
        named = not corner or (not is_number(corner) and self.names[slot.question].find(corner) == slot.part.name)
        return named and "=" not in table.rows[0][0] and _numbered(table.rows[0][1:])

    @cached_property
    def tasks(self) -> dict[int, MarkdownBlock]:
        """By the number of a slot: the list of boxes that belongs to it."""
        found: dict[int, MarkdownBlock] = {}
        for block, (question, part) in self.standing:
            if block.kind != "tasks" or not (self.is_printed or part is not None):
                continue  # in a text of somebody's own its place is what stands before it
            for i, slot in enumerate(self.slots):
                here = question in (None, slot.question) and part in (None, slot.position)
                if here and isinstance(slot.block, Choices) and i not in found:
                    found[i] = block
                    break
        return found

    @cached_property
    def lines(self) -> list[tuple[Slot, MarkdownBlock, str]]:
        """The lines with a label, the block each stands in, and what was written behind the label."""
        found: list[tuple[Slot, MarkdownBlock, str]] = []
        taken: set[int] = set()
        for slot in self.slots:
            if not isinstance(slot.block, FillIn):
                continue
            headed = slot.place in self.headed
            here = (block for block, place in self.standing if place == slot.place or (not headed and place[1] is None))
            for block in here:
                if block.kind != "text" or id(block) in taken:
                    continue
                behind = behind_label(block.text, markdown.in_line(slot.block.label))
                if behind is not None:
                    taken.add(id(block))
                    found.append((slot, block, behind))
                    break
        return found


_LAYOUTS: tuple[tuple[Layout, Conventions], ...] = (
    ("matrix", "full"), ("matrix", "bare"), ("columns", "full"), ("falk", "full"),
)  # fmt: skip
Form = Literal["markdown", "notebook", "html"]
"""In what a page is printed; HTML shows pictures as tables and says formulas in words."""
_SHORT_QUESTION = re.compile(
    rf"(?i){labels.PLACE_WORD}[\s.:]{{0,2}}(?:(?:no|nr)\.?\s?|n?[#°º]\s?)?(\d{{1,2}})(?![\d\w])"
)
_WORTH = re.compile(rf"(?i)^\s*[(\[]\s?\d{{1,3}}\s?{labels.MARKS}\s?[)\]]")
"""The marks behind the number of a question."""
_ONLY_A_NUMBER = re.compile(r"(?:\*\*|__)\(?(\d{1,2})[).:]?(?:\*\*|__)|\(?(\d{1,2})[).:]")
_RULES_BESIDE = re.compile(r"^[ \t]*[=—–-]{2,}(?=[ \t]+\w)|(?<=\w)[ \t]+[=—–-]{2,}[ \t]*$")
_NUMBERED_PART = re.compile(r"(\d{1,2})[.)]?\s?(?:\(([a-z])\)|([a-z])(?:[):]|\.(?=\s)))[\s:.*_]*")
_PLACE_OF_PART = re.compile(
    rf"\s*(?:[{labels.BULLETS}]\s+)?[*_]{{0,2}}(?i:{labels.PLACE_WORD}[\s.:]{{0,2}})?[*_]{{0,2}}[(\[]?(?P<question>\d{{1,2}})"
    rf"(?:[.)/−–-]?(?:\s(?=\(?[A-Za-z][).:]))?|,?\s?(?i:{any_of('part')})\s?)\(?(?P<part>[A-Za-z])[)\]]?[*_]{{0,2}}"
    r"(?:\s*(?:[-=]>|[→⇒=:：.)])+[*_]{0,2}\s*|[;,/]\s+|\s+(?:[-–—]+\s+)?|(?=[A-Z](?!\w))|$)(?P<said>(?![+*/·×^]).*)"
)
"""The number of a question and the letter of its part before what is said of it; the letter may have no sign."""
_BEHIND_NUMBER = re.compile(r"[\s*_]*(?:$|[:.)–-](?=[\s*_]|$)|\([a-z]\))")
_BOLD_NUMBER = re.compile(r"\s*(\*\*|__)\(?(?:[a-z]|\d{1,2})[).:]{0,2}\1(?=\s|$)")
_SECTION = re.compile(r"\[\[?[A-Za-z][\w.]*\]\]?")
_TICKS = re.compile("[☒☑✓✔✅]")
_SHADED = re.compile("[■☒☑█✓✔✗✘⬛●]")
_TELLING = 12
"""Characters of a text that stands in another by no accident."""
_NUMBER = re.compile(r"(\d{1,3})\s*(?:[.):]|$)")
_LETTER = re.compile(r"\(([a-z]{1,2})\)")


@lru_cache(32)
def _printed_page(
    asked: Same[Question], layout: Layout, conventions: Conventions, language: str, form: Form
) -> tuple[frozenset[str], str]:
    """The blocks of a blank sheet, and all of them in one, as `blocks.normal` has them."""
    document = question_document(asked.thing, layout=layout, conventions=conventions)
    document = presented(replace(document, look=replace(document.look, language=language)))
    match form:
        case "notebook":
            cells = ["".join(cell["source"]) for cell in json.loads(notebook.write(document))["cells"]]
        case "html":
            from symattn.page.writers import html  # most work is handed in otherwise

            cells = [as_markdown(f"<html><body>{html.bare(document)}</body></html>")]
        case "markdown":
            cells = [markdown.write(document)]
    found = [_said(block) for cell in cells for block in md.page(cell).blocks]
    return frozenset(found), "".join(found)


def _heads_question(title: str) -> re.Match[str] | None:
    """A heading of nothing but the number of a question, perhaps behind a word for it, or with words behind a colon."""
    found = _SHORT_QUESTION.match(title) or re.match(r"(\d{1,2})(?=[).:]?\s*$)", title)
    return found if found and _BEHIND_NUMBER.match(title[found.end() :]) else None


def _further(found: re.Match[str]) -> re.Pattern[str]:
    """The places of further parts of a question in one line: 2b and 2c behind 2a B."""
    return re.compile(rf"(?<=[\s,;])\(?{found['question']}[.)]?\(?([a-z])\)?[.:)]?(?=\s|[A-Z](?!\w))")


def _letters_of_parts(found: re.Match[str]) -> list[str]:
    return [found["part"].lower(), *_further(found).findall(found["said"])]


def _in_brackets(found: re.Match[str]) -> str:
    """The letter of a part in brackets and what is said of it, and those of further parts in the line."""
    return _further(found).sub(r"(\1) ", f"({found['part'].lower()}) {found['said']}")


_EDGE_OF_TABLE = re.compile(r"[\s|:+=-]*")


def _title(heading: MarkdownBlock) -> str:
    return heading.text.replace("\\", "").replace("*", "").strip()


def _letters(text: str) -> Counter[str]:
    """How often every letter and digit comes: in formulas, formats differ in order and signs, as ᵀ or ⊤, ₓ or ×."""
    plain = unicodedata.normalize("NFKC", _COMMAND.sub("", re.sub("[ᵀₓ]", "", text)))
    return Counter(c for c in plain if c.isascii() and c.isalnum())


_COMMAND = re.compile(r"\\[A-Za-z]+")


def _said(block: MarkdownBlock) -> str:
    """What of a block no reformatting and no look changes: brackets, transposes and decimal signs are chosen."""
    text = "".join("".join(row) for row in block.rows) if block.rows else block.text
    return re.sub("[.,]", "", md.normal(_BRACKETS.sub("", _TRANSPOSES.sub("^T", plain_signs(text)))))


_BRACKETS = re.compile(r"(?<=\\begin\{)[bp](?=matrix)|(?<=\\end\{)[bp](?=matrix)")
_TRANSPOSES = re.compile(r"\^\{\\(?:top|mathsf\{T\})\}")


def _is_foot(text: str) -> bool:
    """The last line of a worksheet: its identity, and the command that makes it again."""
    return text.startswith("`symattn worksheet") or (bool(text) and is_identity(text.split(maxsplit=1)[0]))


def _printed(blocks: Blocks) -> frozenset[str]:
    return frozenset(map(_said, md.page(markdown.body(blocks)).blocks))


def _numbered(heads: Sequence[str]) -> bool:
    """1, 2, 3, …: the heads of a matrix without names for its columns."""
    return bool(heads) and [md.normal(head) for head in heads] == [str(j) for j in range(1, len(heads) + 1)]


def behind_label(text: str, label: str) -> str | None:
    r"""What stands behind a label, without the line that was printed to write on; None if the label is not there.

    >>> behind_label("Count: \\_\\_4 d^2\\_\\_", "Count:"), behind_label("$n$ \\= 12", "$n$ =")
    ('4 d^2', '12')
    >>> behind_label("Which line is wrong? K", "Which line is wrong?")
    'K'
    """
    sought = _sought(label)
    if sought and not sought.startswith(next(filter(None, map(_sign, text)), "")):
        return None
    at = 0
    for character in sought:
        while at < len(text) and not _sign(text[at]):
            at += 1
        if at == len(text) or _sign(text[at]) != character:
            return None
        at += 1
    if label[-1:] in (":", "：", "=") and label[-1] not in text[at : at + 6]:
        return None
    rest = text[at:]
    if label[-1:] in ("?", "？"):
        rest = rest.lstrip().removeprefix(label[-1])
    rest = _BEFORE_ANSWER.sub("", rest)
    rest = rest.rstrip(" \t\n_|\\")
    return rest[:-1].strip() if rest.count("$") % 2 and rest.endswith("$") else rest.strip()


@lru_cache(4096)
def _sign(character: str) -> str:
    """What of a character no reformatting changes."""
    return md.normal(character)


@lru_cache(4096)
def _sought(label: str) -> str:
    return md.normal(label).strip("=:：")


_BEFORE_ANSWER = re.compile(r"^(?:\s|\$(?=\s*\\?=)|\*+(?=\s)|[:：]|\\?[=_|]|\\:)*")


# ------------------------------------------------------------------------------------ reading


def read_markdown(text: str, questions: Sequence[Question]) -> Paper:
    """Everything that was written into a worksheet or an exam paper."""
    return read_page(FilledSheet(md.page(text), questions))


def read_page(sheet: FilledSheet) -> Paper:
    """Everything that was written between its lines."""
    paper = Paper.of(sheet.asked, *identity_of(sheet.page))
    for number, slot in enumerate(sheet.slots):
        for block in sheet.tables.get(number, ()):
            _put(paper, sheet, slot, _table_answer(slot, block), block)
            if shape := shape_beside(unescaped(block.rows[0][0])):
                paper.written[slot.question].put_shape(slot.part.name, shape)
        if number in sheet.tasks:
            block = sheet.tasks[number]
            letters = _ticked_letters(block, slot)
            _put(paper, sheet, slot, RawText(letters), block)
            for line, said in _marked_otherwise(block, slot, sheet) if not letters else ():
                paper.written[slot.question].not_read(sheet.page.where(line), said, slot.part.name)
    for slot, block, behind in sheet.lines:
        _put(paper, sheet, slot, RawText(unescaped(behind)), block)
    _own_words(paper, sheet)
    _free_text(paper, sheet)
    _lost_headings(paper, sheet)
    return paper


def identity_of(page: md.Page) -> tuple[str, str, str]:
    """The sheet's identity, from the head of the file or from its foot; the name and the number of the student."""
    fields = {"name": "", "student": ""}
    for block in page.blocks:
        if block.kind == "heading" and _NUMBER.match(block.text.replace("\\", "")):
            break
        for label, key in labels.fields(language_of(page)).items():
            for line in block.text.split("\n") if block.kind == "text" else ():
                behind = behind_label(line, label)
                if behind is not None and not fields[key] and not _goes_on(line, label):
                    fields[key] = visible(unescaped(behind)).strip()
    candidates = [page.head.get("sheet", ""), *reversed(_IDENTITY.findall("\n".join(page.lines)))]
    sheet = next((name.upper() for name in candidates if is_identity(name)), candidates[0])
    return sheet, *fields.values()


def _goes_on(line: str, label: str) -> bool:
    """Whether the label is only the beginning of a word, `Names`, or stands there with other signs in it: (i) dQ."""
    begins = _IDLE.sub("", line).casefold().startswith(_IDLE.sub("", label).casefold())
    return not begins or line.lstrip("* ")[len(label) : len(label) + 1].isalnum()


_IDLE = re.compile(r"[\s*_\\|#>]")


def _put(paper: Paper, sheet: FilledSheet, slot: Slot, raw: Raw, block: MarkdownBlock) -> None:
    sheet.used.add(id(block))
    paper.written[slot.question].put(slot.part.name, raw, sheet.page.where(block.start))


def _table_answer(slot: Slot, table: MarkdownBlock) -> Raw:
    """The cells of a table that belong to the answer, without heads, working and what was printed."""
    (_, *heads), *body = [[unescaped(cell) for cell in row] for row in table.rows]
    column_labels, row_labels, printed = _expected(slot)
    columns, lines = _labelled(heads, column_labels), _labelled([row[0] for row in body], row_labels)
    inside = tuple(tuple(row[j + 1] if j + 1 < len(row) else "" for j in columns) for row in (body[i] for i in lines))
    if not {*map(_head, column_labels)} <= {*map(_head, heads)} and not _numbered(heads):  # that line was lost
        shape = len(row_labels), len(column_labels)
        block = entries_of(table.rows, shape)
        inside = block.rows if block and has_shape(block.rows, shape) else inside
    cells = Cells(
        tuple(
            tuple(_without_blank(cell, printed.get((i, j), "")) for j, cell in enumerate(row))
            for i, row in enumerate(inside)
        )
    )
    answer = slot.part.answer
    return Several({matrix_name(answer.model, slot.name): cells}) if isinstance(answer, PropertyAnswer) else cells


def _labelled(said: Sequence[str], expected: Sequence[str]) -> list[int]:
    """Which lines have a label that was printed, or a number; all of them if none has one."""
    printed = {_head(label) for label in expected}
    found = [k for k, label in enumerate(map(_head, said)) if label in printed or label.isdigit()]
    return found or [*range(len(said))]


def matrix_name(model: Mapping[str, Matrix], name: str) -> str:
    """What a part calls the matrix of the grid with this name."""
    return next((own for own in model if names.normal(own) == names.normal(name)), next(iter(model)))


def _expected(slot: Slot) -> tuple[list[str], list[str], dict[tuple[int, int], str]]:
    """The heads of columns and rows as they were printed, and the entries that were."""
    match slot.block:
        case AnswerGrid(rows=high, columns=wide) as grid:
            heads, labels = ([*map(on_one_line, own)] for own in (grid.column_labels, grid.row_labels))
            numbers = [str(k) for k in range(1, max(high, wide) + 1)]
            printed = {place: markdown.in_cell(value) for place, value in grid.filled}
            return heads or numbers[:wide], labels or numbers[:high], printed
        case Table(header=header, rows=rows):
            return [markdown.in_line(cell) for cell in header[1:]], [markdown.in_line(row[0]) for row in rows], {}
    return [], [], {}


def _head(label: str) -> str:
    return md.normal(names.normal(undecorated(label)) or label)


_LINE_TO_WRITE_ON = re.compile(r"\$?\\{1,2}underline\s*\{(?:\\{1,2}q?quad)*\}\$?")


def _without_blank(cell: str, printed: str) -> str:
    """What a cell says besides the line that was printed in it, or nothing if it says what was printed."""
    if printed and md.normal(cell) == md.normal(printed):
        return ""
    return _LINE_TO_WRITE_ON.sub("", cell).strip() if "underline" in cell else cell


def _ticked_letters(block: MarkdownBlock, slot: Slot) -> str:
    """The letters of the ticked options, by the letter that each begins with, else by their order."""
    assert isinstance(slot.block, Choices)
    letters = [common.letter(i) for i in range(len(slot.block.items))]
    said = [found[1] if (found := _OPTION.match(item.text)) else "" for item in block.items]
    lettered = all(said) and len({*said}) == len(said) and {*said} <= {*letters}
    own = said if lettered else [*letters, *[""] * len(said)]
    return " ".join(letter for letter, item in zip(own, block.items, strict=False) if item.ticked)


def _marked_otherwise(block: MarkdownBlock, slot: Slot, sheet: FilledSheet) -> Iterator[tuple[int, str]]:
    """The options that somebody marked, but not in their boxes: a tick behind one, another set in bold, a cross."""
    printed = [item.text for part in md.page(markdown.body(slot.part.ask)).blocks for item in part.items]
    same = [_as_typed(item.text) == _as_typed(text) for item, text in zip(block.items, printed, strict=False)]
    for item, is_same in zip(block.items, same, strict=False):
        line = sheet.page.lines[item.line]
        if (any(same) and not is_same) or _CROSS_IN_BOX.search(line):
            yield item.line, line.strip()


def _as_typed(text: str) -> str:
    """A text without spaces, and without the signs that a page's look decides: 0{,}5, and \\; between numbers."""
    return re.sub(r"[\s.,;{}\\]", "", text)


_CROSS_IN_BOX = re.compile(r"\[\s?[✗✘×]\s?\]|[✗✘❌]")
_OPTION = re.compile(r"[*_~]{0,4}([A-Z]{1,2})(?:\\?[.):]|[*_~\s]*$)")


def _own_words(paper: Paper, sheet: FilledSheet) -> None:
    """Explanations; and answers beside the line or the box that was meant for them."""
    for q, question in enumerate(sheet.questions):
        for p, part in enumerate(question.parts):
            if part.name in paper.written[q].parts or not isinstance(
                part.answer, (RubricAnswer, ChoiceAnswer, *_ON_A_LINE)
            ):
                continue
            own = list(sheet.own(q, p))
            if isinstance(part.answer, RubricAnswer):
                said = "\n\n".join(block.text for block in own)
            else:
                said = own[-1].text if len(own) == 1 and len(own[-1].text) <= 80 else ""
                said = unescaped(labels.before_answer().sub("", said, count=1).strip())
            if said and not is_blank(undecorated(said)):
                sheet.used.update(map(id, own))
                paper.written[q].put(part.name, RawText(said), sheet.page.where(own[0].start))


def _free_text(paper: Paper, sheet: FilledSheet) -> None:
    """What stands in no place of the sheet: read if it can be, and told if it cannot."""
    under: dict[tuple[int, int | None], list[MarkdownBlock]] = {}
    beside: list[MarkdownBlock] = []  # under no question
    asked = not any(sheet.begins_question(block) for block in sheet.blocks)  # a paper has pages besides its questions
    rough = sheet.is_printed or any(block.kind == "text" and _is_foot(block.text) for block in sheet.blocks)
    for block, (question, part) in sheet.standing:
        begins = sheet.begins_question(block)
        asked = part is not None or (asked and not sheet.ends(block)) or begins
        rough = (rough or sheet.ends(block)) and not begins
        is_read = asked if question is not None else not rough
        if is_read and id(block) not in sheet.used and sheet.added(block, question or 0):
            (beside if question is None else under.setdefault((question, part), [])).append(block)
    found = {question for question, _ in sheet.places}
    lost = [written for k, written in enumerate(paper.written) if k not in found and not sheet.is_printed]
    for (question, part), blocks in under.items():
        here = "" if part is None else sheet.asked[question].parts[part].name
        for piece in _under_a_question(paper.written[question], here, blocks, sheet):
            named = _OF_A_QUESTION.match(piece.text)
            number = labels.number_in(named) if named else 0
            if 0 < number <= len(paper.written) and number != question + 1:
                paper.written[number - 1].unread.add("")
        for written in lost if paper.written[question].unread else ():  # it may begin somewhere in what is not read
            written.unread.add("")
    _under_none(paper, beside, sheet)


def _under_a_question(
    written: Written, here: str, blocks: Sequence[MarkdownBlock], sheet: FilledSheet
) -> Sequence[Piece]:
    """What is left when all is read.  Below a part that has an answer it is working, in which only matrices by the name
    of another part count.
    """
    working = here in written.parts
    if working:
        written.worked.add(here)
    text = [piece for piece in pieces_of(blocks, sheet.page.lines) if not sheet.is_field(piece.text)]
    reader = free.FreeText(written, text, sheet.page.where, here, beside=working)
    unread = reader.unread()
    titles = reader.titles(unread) if not sheet.is_printed else []
    if working and unread:
        written.unread.add(here)
    left = [piece for piece in unread if piece not in titles] if not working else []
    reader.doubt_beside([piece for piece in left if not (sheet.page.cells and _VARIABLE.match(piece.text))])
    for line, said in told(left):
        written.not_read(sheet.page.where(line), said, here)
    if reader.passed_over:
        says = message("So much above this is no answer that only lines with a name were looked at from here on.")
        written.remark(sheet.page.where(reader.passed_over.start), says)
    for piece in titles:
        if not is_surely_title(piece.text):
            written.remark(sheet.page.where(piece.start), no_answer(piece.text))
            written.unread.update(reader.may_answer(piece))
    return left


_OF_A_QUESTION = re.compile(
    rf"(?i)\W*(?:{labels.PLACE_WORD}[\s.:]{{0,2}}(\d{{1,2}})(?!\d)|(\d{{1,2}})[.)]?\s?\(?[a-z])"
)
"""The number of a question before what is said of it, though its place is not clear."""


_VARIABLE = re.compile(r"[^\W\d]\w*\s*=\s*\[")
"""A matrix of a program, by a name of its own: it belongs to nothing that stands beside it."""


def _under_none(paper: Paper, blocks: Sequence[MarkdownBlock], sheet: FilledSheet) -> None:
    """Nothing of it is an answer; what is no title is told as unread."""
    pieces = [p for p in pieces_of(blocks, sheet.page.lines) if not (p.blank or sheet.is_field(p.text))]
    for line, said in told([piece for piece in pieces if not is_title(piece.text)]):
        says = message("This does not belong to any question: {text}", text=repr(said))
        paper.not_read(sheet.page.where(line), says, loose=True)
    for piece in pieces:
        if is_title(piece.text) and not is_surely_title(piece.text):
            paper.remarks.append(Remark(sheet.page.where(piece.start), no_answer(piece.text)))


def _lost_headings(paper: Paper, sheet: FilledSheet) -> None:
    """Without its heading, what was written into the space of a part cannot be told from anything else."""
    for slot in sheet.slots if sheet.is_sheet else ():
        written = paper.written[slot.question]
        if slot.block is None and slot.place not in sheet.headed and slot.part.name not in written.parts:
            says = message("Its heading is not in the file, so nothing that was written below it could be found.")
            written.remark(slot.part.name, says)
            written.unread.add(slot.part.name)
