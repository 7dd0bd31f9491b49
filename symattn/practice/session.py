"""What a practice page asks of Python: JSON in, JSON out.

`answer` is all that the page's worker calls.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from symattn.errors import InputError
from symattn.page.document import Paragraph
from symattn.practice.shown import Reader, Said, Verb, answered, verbs_of
from symattn.teaching.question import asked_step
from symattn.teaching.recipe import Recipe, read_unnumbered
from symattn.teaching.sheets import Sheet, sheets

if TYPE_CHECKING:
    from symattn.practice.marked import Marked

MOST_SHEETS = 100
"""Sheets that are kept; of more, the oldest are forgotten."""


def recipe_of(text: str, seed: int) -> Recipe:
    """A recipe as it stands in an address and in a course, `attention --level starter`; `InputError` if it is none."""
    return read_unnumbered(text, seed)


@dataclass
class Session:
    """The sheets of one open page, by number."""

    _sheets: dict[int, Sheet] = field(default_factory=dict)
    _reader: Reader = field(default_factory=Reader)

    def draw(self, recipe: str, seed: int, language: str = "en") -> Said:
        """A sheet: the HTML of its blank page, and what its parts are."""
        self._reader = Reader(language)
        return self._shown(next(sheets(recipe_of(recipe, seed), 1)))

    def _shown(self, sheet: Sheet) -> Said:
        sheet = _on_screen(sheet)
        number = max(self._sheets, default=0) + 1
        self._sheets[number] = sheet
        for old in sorted(self._sheets)[:-MOST_SHEETS]:
            del self._sheets[old]
        question = sheet.question
        return {
            "sheet": number,
            "name": sheet.name,
            "title": self._reader.said(question.title),
            "marks": question.marks,
            "parts": [{"name": part.name, "hints": asked_step(question, part) is not None} for part in question.parts],
            "html": self._reader.html(replace(sheet.worksheet, fields=())),
        }

    def exercise(self, sheet: int, page: str, part: int) -> Said:
        """A sheet with the step that went wrong in a part, or first of all (0), with new numbers; {} if none."""
        made = self.marked(sheet, page).exercise(part)
        return self._shown(made) if made else {}

    def marked(self, sheet: int, page: str) -> Marked:
        from symattn.practice.marked import Marked  # the first sheet is shown before marking is loaded

        if sheet not in self._sheets:
            raise InputError(f"There is no sheet {sheet}.")
        return Marked(self._sheets[sheet], page, self._reader)


def _on_screen(sheet: Sheet) -> Sheet:
    """A sheet that asks for nothing that has no box: the shape beside a name."""
    parts = []
    for part in sheet.question.parts:
        asked = (block for block in part.ask if not (isinstance(block, Paragraph) and block.by_hand))
        parts.append(replace(part, ask=tuple(asked)))
    return replace(sheet, question=replace(sheet.question, parts=tuple(parts)))


_SESSION = Session()
VERBS = verbs_of(_SESSION)
OF_WHAT_IS_WRITTEN = ("mark", "check", "hint", "reading", "attempt")
"""What is asked of a sheet and its page as somebody filled it in: these are methods of `Marked`."""


def _verb(name: str) -> Verb:
    if name not in OF_WHAT_IS_WRITTEN:
        return VERBS[name]

    def verb(sheet: int, page: str, **asked: int) -> Said:
        said: Said = getattr(_SESSION.marked(sheet, page), name)(**asked)
        return said

    return verb


def answer(request: str) -> str:
    """`{"verb": "draw", …}` answered."""
    return answered(_verb, request)
