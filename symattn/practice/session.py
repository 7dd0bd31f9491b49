"""What a practice page asks of Python: JSON in, JSON out.

`answer` is all that the page's worker calls.  What is typed on the page comes as the page itself, as it would be saved
and handed in, and is read by whoever reads such files for `symattn check`: so both say the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from symattn.errors import InputError, SymattnError
from symattn.foundation.languages import say, speaking
from symattn.marking.grading.checking import Marking, checked
from symattn.marking.grading.recipes import read_unnumbered
from symattn.marking.grading.record import Terms
from symattn.marking.grading.source import of_question
from symattn.marking.marker.answers import unread
from symattn.marking.marker.policy import policy
from symattn.marking.marker.report import Report
from symattn.marking.reports import exercise_sheet
from symattn.marking.reports import words as report_words
from symattn.marking.reports.told import Told
from symattn.marking.submissions.webpage import as_markdown
from symattn.page.document import Block, Document, Inlines, Paragraph, Words
from symattn.page.presentation import make_look, presented
from symattn.page.writers import html
from symattn.practice import words
from symattn.practice.hints import hint
from symattn.teaching.question import CellsAnswer, ChoiceAnswer, Json, asked_step
from symattn.teaching.sheets import Recipe, Sheet, sheets

MOST_SHEETS = 100
"""Sheets that are kept; of more, the oldest are forgotten."""

TICKED = ChoiceAnswer | CellsAnswer
"""Where nothing is ticked or shaded nothing is told: that would be the key."""

Said = dict[str, Json]


def recipe_of(text: str, seed: int) -> Recipe:
    """A recipe as it stands in an address and in a course, `attention --level starter`; `InputError` if it is none."""
    return read_unnumbered(text, seed)


@dataclass
class Session:
    """The sheets of one open page, by number."""

    _sheets: dict[int, Sheet] = field(default_factory=dict)
    _language: str = "en"

    def draw(self, recipe: str, seed: int, language: str = "en") -> Said:
        """A sheet: the HTML of its blank page, and what its parts are."""
        self._language = language
        return self._shown(next(sheets(recipe_of(recipe, seed), 1)))

    def _shown(self, sheet: Sheet) -> Said:
        number = max(self._sheets, default=0) + 1
        self._sheets[number] = sheet
        for old in sorted(self._sheets)[:-MOST_SHEETS]:
            del self._sheets[old]
        question = sheet.question
        return {
            "sheet": number,
            "name": sheet.name,
            "title": self._say(question.title),
            "marks": question.marks,
            "parts": [{"name": part.name, "hints": asked_step(question, part) is not None} for part in question.parts],
            "html": self._html(replace(sheet.worksheet, fields=())),
        }

    def mark(self, sheet: int, page: str) -> Said:
        """The whole sheet marked: a verdict for every entry, every mistake, and the report that a student reads."""
        marking = self._marked(sheet, page)
        document = replace(marking.document("student"), sheet="")
        return {**self._verdicts(marking.reports[0]), "html": self._html(document)}

    def check(self, sheet: int, page: str, part: int) -> Said:
        """One part of it, from 1: what is told about that alone."""
        marking = self._marked(sheet, page)
        report = marking.reports[0]
        blocks = list(_told(Told(report, "student"), report.question.parts[part - 1].name))
        return {**self._verdicts(report), "html": self._blocks(blocks)}

    def hint(self, sheet: int, page: str, part: int, row: int, column: int, level: int) -> Said:
        """A hint for an entry, each level saying more than the one before, in the student's own numbers."""
        report = self._marked(sheet, page).reports[0]
        blocks, most = hint(report, report.question.parts[part - 1], (row - 1, column - 1), level)
        return {"level": min(level, most), "of": most, "html": self._blocks(blocks)}

    def exercise(self, sheet: int, page: str, part: int) -> Said:
        """A sheet with the step that went wrong in a part, or first of all (0), with new numbers; {} if none."""
        report = self._marked(sheet, page).reports[0]
        if part:
            name = report.question.parts[part - 1].name
            report = replace(report, events=tuple(event for event in report.events if event.part == name))
        made = exercise_sheet([report])
        return self._shown(made) if made else {}

    def attempt(self, sheet: int, page: str) -> Said:
        """What was written as a Markdown file, for `symattn check` and `grade`; its recipe is in it."""
        found = self._sheet(sheet)
        head = f"sheet: {found.name}\n" + (f"recipe: {json.dumps(found.command)}\n" if found.command else "")
        return {"name": f"{found.name}.md", "text": f"---\nlang: {self._language}\n{head}---\n{_markdown(page)}\n"}

    # -- helpers

    def _sheet(self, number: int) -> Sheet:
        if number not in self._sheets:
            raise InputError(f"There is no sheet {number}.")
        return self._sheets[number]

    def _marked(self, sheet: int, page: str) -> Marking:
        found = self._sheet(sheet)
        text = f"---\nlang: {self._language}\nsheet: {found.name}\n---\n{_markdown(page)}\n"
        marking = checked(of_question(found.question, found.name), text, Terms(policy("ecf")))
        return replace(marking, look=self._look)

    @property
    def _look(self) -> Any:
        return make_look(language=self._language)

    def _html(self, document: Document, head: bool = True) -> str:
        return html.bare(presented(replace(document, look=self._look)), head)

    def _blocks(self, blocks: list[Block]) -> str:
        return self._html(Document("", tuple(blocks)), head=False)

    def _say(self, text: str) -> str:
        with speaking(self._language):
            return say(text)

    def _verdicts(self, report: Report) -> Said:
        numbers = {part.name: k for k, part in enumerate(report.question.parts, 1)}
        ticked = {part.name for part in report.question.parts if isinstance(part.answer, TICKED)}
        return {
            "total": report.total,
            "of": report.available,
            "pending": report.pending,
            "entries": [
                {
                    "part": numbers[v.part],
                    "row": v.i + 1,
                    "column": v.j + 1,
                    "state": v.state,
                    "sign": report_words.SIGNS[v.state][0],
                    "says": self._say(report_words.SIGNS[v.state][1]),
                }
                for v in report.verdicts
                if v.part in numbers and not (v.part in ticked and v.written.blank)
            ],
            "events": [
                {
                    "part": numbers.get(event.part, 0),
                    "kind": event.kind,
                    "candidates": [candidate.id for candidate in event.candidates],
                }
                for event in report.events
            ],
        }


_OTHER_HEADING = re.compile(r"<(h[1-6])(?![^>]*\bdata-part)[^>]*>.*?</\1>", re.DOTALL)
_HEADING = re.compile(r"<(h[1-6])\b[^>]*>.*?</\1>", re.DOTALL)
_FORMULA = re.compile(r"<math\b.*?</math>", re.DOTALL)


def _markdown(page: str) -> str:
    """A filled-in page as the Markdown that it is read as, without a head.

    Of headings, the numbers and words of parts are enough: with formulas they would have to be compared with the sheet.
    """
    page = _HEADING.sub(lambda heading: _FORMULA.sub("", heading[0]), _OTHER_HEADING.sub("", page))
    text = as_markdown(f"<html><body>{page}</body></html>")
    return text.split("\n---\n", 1)[1] if text.startswith("---\n") else text


def _told(told: Told, part: str) -> Iterator[Block]:
    """What is to be said about one part: its mistakes, or that there is none."""
    here = [event for event in told.report.events if event.part == part]
    places = not isinstance(told.asked(part), TICKED)
    said = [told.mistake(event) if places else told.says(event) for event in here]
    yield from map(Paragraph, filter(None, said))
    verdicts = told.report.of(part).values()
    if any(said):  # else the remarks on the line say it
        for says in unread((v.i, v.j, v.written) for v in verdicts):
            yield Paragraph((Words(says),))
        return
    states = {verdict.state for verdict in verdicts}
    remarks: Inlines = next((line.remarks for line in told.lines if line.part == part), ())
    if remarks:
        yield Paragraph(remarks)
    if states and all(verdict.accepted for verdict in verdicts):
        yield Paragraph((Words(words.RIGHT),))
    elif "missing" in states and "wrong" not in states:
        yield Paragraph((Words(words.BOXES_EMPTY if states == {"missing"} else words.RIGHT_SO_FAR),))
    elif not remarks:
        yield Paragraph((Words(report_words.NOT_RIGHT if "wrong" in states else words.BY_A_PERSON),))


_SESSION = Session()
VERBS: Mapping[str, Callable[..., Said]] = {
    verb.__name__: verb
    for verb in (
        _SESSION.draw, _SESSION.mark, _SESSION.check, _SESSION.hint, _SESSION.exercise, _SESSION.attempt,
    )
}  # fmt: skip


def answer(request: str) -> str:
    """`{"verb": "draw", …}` answered; a mistake is a sentence: `{"error": "…"}`."""
    asked = json.loads(request)
    try:
        return json.dumps(VERBS[asked.pop("verb")](**asked), ensure_ascii=False)
    except SymattnError as error:
        return json.dumps({"error": str(error)}, ensure_ascii=False)


__all__ = ["Session", "answer", "recipe_of"]
