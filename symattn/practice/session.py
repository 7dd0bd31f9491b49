"""What a practice page asks of Python: JSON in, JSON out.

`answer` is all that the page's worker calls.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from symattn.errors import InputError, SymattnError
from symattn.marking.grading.recipes import read_unnumbered
from symattn.page.document import Paragraph
from symattn.practice.shown import Reader, Said
from symattn.teaching.question import asked_step
from symattn.teaching.sheets import Recipe, Sheet, sheets

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

    def mark(self, sheet: int, page: str) -> Said:
        """The whole sheet marked."""
        return self._marked(sheet, page).everything()

    def check(self, sheet: int, page: str, part: int) -> Said:
        """One part of it marked."""
        return self._marked(sheet, page).part(part)

    def hint(self, sheet: int, page: str, part: int, row: int, column: int, level: int) -> Said:
        """A hint for an entry."""
        return self._marked(sheet, page).hint(part, row, column, level)

    def exercise(self, sheet: int, page: str, part: int) -> Said:
        """A sheet with the step that went wrong in a part, or first of all (0), with new numbers; {} if none."""
        made = self._marked(sheet, page).exercise(part)
        return self._shown(made) if made else {}

    def reading(self, sheet: int, page: str, part: int, row: int, column: int) -> Said:
        """How what stands in one box is read, or why it cannot be."""
        return self._marked(sheet, page).reading(part, row, column)

    def attempt(self, sheet: int, page: str) -> Said:
        """What was written as a Markdown file."""
        return self._marked(sheet, page).attempt()

    def _marked(self, sheet: int, page: str) -> Marked:
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
VERBS: Mapping[str, Callable[..., Said]] = {
    verb.__name__: verb
    for verb in (
        _SESSION.draw, _SESSION.mark, _SESSION.check, _SESSION.hint, _SESSION.exercise, _SESSION.reading,
        _SESSION.attempt,
    )
}  # fmt: skip


def answer(request: str) -> str:
    """`{"verb": "draw", …}` answered; a mistake is a sentence: `{"error": "…"}`."""
    asked = json.loads(request)
    try:
        return json.dumps(VERBS[asked.pop("verb")](**asked), ensure_ascii=False)
    except SymattnError as error:
        return json.dumps({"error": str(error)}, ensure_ascii=False)
