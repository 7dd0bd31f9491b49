"""One mistake in words: where it is seen, what was done, in the student's own numbers, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from symattn.derivation.misconceptions import misconceptions
from symattn.derivation.misconceptions.base import COUNTING, WrongDerivation
from symattn.derivation.slips import SLIPS
from symattn.exact import NEGATIVE_INFINITY, decide
from symattn.foundation.languages import capitalised, message, sentences
from symattn.marking.attempt import Grid, Ticked
from symattn.marking.marker.diagnosis import LAST_RESORT
from symattn.marking.marker.report import Candidate, Cell, Event
from symattn.marking.reports import words
from symattn.marking.reports.parts import Script
from symattn.page.document import Inlines, Strong, as_text, begun, in_turn, listing, sentence
from symattn.teaching.explanation.diagnoses import feedback
from symattn.teaching.explanation.wording import in_signs
from symattn.teaching.question import (
    Answer,
    CellsAnswer,
    ChoiceAnswer,
    MatrixAnswer,
    OrderAnswer,
    ShapeAnswer,
    WordAnswer,
)

MOST_FITS = 2
"""Explanations of one mistake that are told to a student."""

ADVICE_ONCE: Mapping[type, str] = {ShapeAnswer: words.SHAPES, CellsAnswer: words.CELLS, MatrixAnswer: words.COUNT}
"""What to do about a wrong answer of a kind, the first time; matrices are those in which things are counted."""

ADVICE: Mapping[type, str] = {OrderAnswer: words.NEIGHBOURS, WordAnswer: words.LINES}


class Mistake:
    """One mistake as it is told to one reader; `number` counts from 1, and `line` is what it is seen in."""

    def __init__(self, script: Script, event: Event) -> None:
        self._script, self.event, self._for_student = script, event, script.for_student
        self.number = event.number + 1
        self.line = script.of(event.part)

    @property
    def cells(self) -> list[Cell]:
        """The entries that it spoilt in its line."""
        return [(i, j) for part, i, j in self.event.entries if part == self.line.name]

    @property
    def place(self) -> str:
        """Where it is seen in its line; "" where the whole line has another shape."""
        return "" if self.event.kind == "shape" else self._script.where(self.line.name, self.cells)

    @property
    def at_places(self) -> Inlines:
        """Mistake 2 (row 1, column 3)."""
        name = Strong(words.mistake(self.number))
        return sentence("{mistake} ({place})", mistake=name, place=self.place) if self.place else (name,)

    @property
    def in_full(self) -> Inlines:
        """Number, place, what it was, and what to do about it."""
        return explained(self.at_places, self.says)

    @cached_property
    def left_out(self) -> Inlines:
        """The name of the step that it was made in, where that was not written; else nothing."""
        here, step = self.line.step, self.event.step
        if here in (None, step) or self.event.kind == "misread" or self._script.is_written(step):
            return ()
        return self._script.named(step)

    @cached_property
    def says(self) -> Inlines:
        """What it was, and what to do about it."""
        way_here: Inlines = ()
        if self.left_out:
            way_here = sentence(
                "It was made on the way here, in {step}, which was not written down.", step=self.left_out
            )
        return in_turn([way_here, self.at_its_place])

    @cached_property
    def at_its_place(self) -> Inlines:
        """The same for somebody who has been told where it was made."""
        if not self._for_student or self.event.kind == "misread":
            return self.explained()
        shown = self._shapes or in_turn([self._worked, *self._sums])
        return in_turn([shown, self.explained(bool(shown))])

    def explained(self, shown: bool = False) -> Inlines:
        """What it was: its names, all of them where several fit, and what to do about it.

        `shown` says that the student has been shown what is right in one place.
        """
        told = [pair for pair in dict.fromkeys(self._candidate(c) for c in self.event.candidates) if pair != ((), ())]
        against = self._against_option if self._for_student else ()
        if not told:
            return against or as_text(self._unexplained(shown))
        if self._for_student:
            if slips := self._slips:
                return slips
            told = told[:MOST_FITS]
        if len(told) == 1:
            [(name, says)] = told
            return sentence("{name}. {advice}", name=name, advice=says or against) if name else says or against
        advice = [
            sentence("{name}: {advice}", name=name, advice=says) if name and says else says for name, says in told
        ]
        first, *others = [sentence("“{name}”", name=name) for name, _ in told if name] or [()]
        if not others:
            return in_turn(advice)
        if self._for_student:
            fits = sentence("This looks like {first}, or perhaps {others}.", first=first, others=listing(others, "or"))
        else:
            fits = sentence(
                "This fits {first}, and also {others}; they cannot be told apart here.",
                first=first, others=listing(others),
            )  # fmt: skip
        return in_turn([fits, *advice])

    def _candidate(self, candidate: Candidate) -> tuple[Inlines, Inlines]:
        """An explanation: its name, and what to do; neither where that would give a student the key."""
        line, id = self.line, candidate.id
        says = as_text(_sentence(candidate)) if candidate.says else ()
        if known := misconceptions().get(id):
            lies = self._script.report.question.orientation
            called = known.called(lies)
            name = begun(line.whole.in_signs(called) if line.whole else in_signs(called, orientation=lies))
            if not says and line.whole:  # of a mistake in one row alone, this would be untrue of the whole matrix
                says = feedback(WrongDerivation(known, line.whole.derivation, None), line.whole)
        elif id in SLIPS and candidate.kind != "misread":
            advice = self._advice(candidate)
            if self._for_student:  # the name of a slip is the examiner's
                return (), advice
            name, says = begun(as_text(SLIPS[id].name)), says or advice
        elif self._for_student and candidate.kind != "misread" and _gives_away(candidate, line.answer):
            return (), ()
        else:
            counted = COUNTING.get(id)
            if self._for_student and counted is not None and candidate.says == counted.name:
                says = as_text(sentences(_sentence(candidate), message(counted.feedback)))
            return (), says
        return (name if self._for_student else sentence("{code} – {name}", code=id, name=name)), says

    @property
    def _slips(self) -> Inlines:
        """How a slip was made in the student's own lines, in one or two ways; nothing where it was no such slip."""
        candidates, own = self.event.candidates[:MOST_FITS], self._script.report.own.get(self.line.name)
        if own is None or any(c.kind != "slip" or not c.says for c in candidates):
            return ()
        rows = own.orientation == "rows"  # else what is a row there is a column here
        ways = [] if candidates[0].id in LAST_RESORT else [c.says if rows else self._turned(c) for c in candidates]
        match [*filter(None, ways)]:
            case [slip]:
                return sentence("It looks as if {slip}.", slip=slip)
            case [slip, other, *_]:
                return sentence("It looks as if {slip}, or as if {other}.", slip=slip, other=other)
        return self._advice(candidates[0])

    def _advice(self, candidate: Candidate) -> Inlines:
        """What to do about a slip, in the words of its step: a softmax adds up powers."""
        return as_text(SLIPS[candidate.id].advice(self.line.op))

    def _turned(self, candidate: Candidate) -> str:
        """How a slip was made, in the rows and columns of a page that has tokens as columns."""
        own, here, (_, i, j) = self.line.own, self.line.step, self.event.entries[0]
        if own is None or here is None or (entry := own.entry(here, i, j)) is None or entry.value is None:
            return ""
        made = (s for s in own.slips(here, i, j) if s.slip.id == candidate.id)
        return next((s.says for s in made if decide(s.value, entry.value).equal is True), "")

    @property
    def _against_option(self) -> Inlines:
        """What the key says against a wrong option."""
        answer, said = self.line.answer, self.line.said
        if not isinstance(answer, ChoiceAnswer) or not isinstance(said, Ticked):
            return ()
        wrong = [k for k, option in enumerate(answer.options) if k in said.options and not option.right]
        told = [k for k in wrong if not answer.several or (k, 0) in self.cells]
        return begun(answer.options[told[0]].why) if len(told) == 1 else ()

    def _unexplained(self, shown: bool = False) -> str:
        """What to do about a mistake of which the cause is not known; a teacher knows what to do."""
        line, kind = self.line, self.event.kind
        if shown or not self._for_student:
            return ""
        if kind == "shape":
            return words.OTHER_SHAPE
        counts = line.part is not None and any(mark.follows in ("sum", "quotient") for mark in line.part.marks)
        if not isinstance(line.answer, MatrixAnswer) or counts:
            if advice := ADVICE_ONCE.get(type(line.answer)):
                earlier = (self._script.of(e.part).answer for e in self._earlier if not e.candidates)
                before = any(isinstance(answer, type(line.answer)) for answer in earlier)
                return words.AGAIN if before else advice
            if advice := ADVICE.get(type(line.answer)):
                return advice
        if kind != "answer":
            return words.AT_ONE_ENTRY if kind == "slip" else words.WRONG
        several = isinstance(line.answer, ChoiceAnswer) and line.answer.several and isinstance(line.said, Ticked)
        if several and all(line.verdicts[i, j].written.blank for _, i, j in self.event.entries):
            return ""  # how many right options were not ticked is said of the line
        return words.NOT_RIGHT

    # -- in the student's own numbers

    @property
    def _worked(self) -> Inlines:
        """The first entry that it spoilt, as it comes of the lines before; one of a step left out."""
        line, cells = self.line, self.cells
        if line.work is None:
            return ()
        own, here = line.work
        if self.left_out and self.event.step in own:
            return own.example(self.event.step, cells[0][0] if cells else 0)
        wrong = [c for c in cells if c in line.verdicts and line.verdicts[c].state == "wrong"]
        telling = sorted(wrong, key=lambda c: own.value(own.derivation[here], c) in (None, NEGATIVE_INFINITY, 0, 1))
        told = (own.told(here, c, self._script.where(line.name, [c]) if len(cells) > 1 else "") for c in telling)
        return next(filter(None, told), ())

    @property
    def _sums(self) -> Iterator[Inlines]:
        """Rows of weights that do not sum to 1, among those that it spoilt and no mistake before it did."""
        if self.line.work is not None:
            own, here = self.line.work
            before = [Mistake(self._script, e) for e in self._earlier if e.part == self.line.name]
            known = {says for mistake in before for says in own.sums(here, mistake.cells)}
            yield from (says for says in own.sums(here, self.cells) if says not in known)

    @property
    def _earlier(self) -> list[Event]:
        return [event for event in self._script.report.events if event.number < self.event.number]

    @property
    def _shapes(self) -> Inlines:
        """Both shapes, where a matrix has another than it must have."""
        line = self.line
        if self.event.kind != "shape" or line.work is None or not isinstance(line.said, Grid):
            return ()
        own, here = line.work
        return own.shapes(here, line.shape)


def explained(mistake: Inlines, explanation: Inlines) -> Inlines:
    """A mistake and what it was, if that is known."""
    if not explanation:
        return sentence("{remark}.", remark=mistake)
    return sentence("{mistake}: {explanation}", mistake=mistake, explanation=explanation)


def _sentence(candidate: Candidate) -> str:
    """An explanation as a whole sentence."""
    if candidate.sentence:
        return candidate.says
    return message("{remark}.", remark=capitalised(candidate.says))


def _gives_away(candidate: Candidate, answer: Answer | None) -> bool:
    """Whether an explanation would tell a student what is right: that two rows are exchanged, what shape it is."""
    return candidate.kind in ("slip", "shape") or isinstance(answer, ShapeAnswer | OrderAnswer | CellsAnswer)
