"""The parts of a question that belong to one derivation, marked together: read as a script, followed and diagnosed."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from symattn.derivation.derivation import Derivation, turned
from symattn.derivation.misconceptions import misconception
from symattn.exact import Matrix, values_of
from symattn.exact.reading import read
from symattn.foundation.languages import Message, message, sentences
from symattn.marking.attempt import Attempt, Entry, Grid, Said, Unreadable
from symattn.marking.marker.answers import plain_number, unread
from symattn.marking.marker.award import Awarding, part_of
from symattn.marking.marker.blanks import Awarded, awarded
from symattn.marking.marker.diagnosis import PRIOR, Diagnosis, diagnosed
from symattn.marking.marker.policy import Policy
from symattn.marking.marker.readings import ScriptReading, likeliest, readings, under_own_masks
from symattn.marking.marker.report import Candidate, Cell, Event, Given, Notice, Report, Verdict
from symattn.marking.marker.scheme import SchemeLine
from symattn.marking.marker.script import KeyMemory, Memory, Script, in_percent, precision_of, with_precision
from symattn.marking.marker.trace import Trace, continued
from symattn.teaching.question import Part, Question, asked_step

MOST_KEYS = 8
"""Number of questions whose keys are remembered; the one that was not asked for longest is forgotten first."""

MOST_KNOWN = 5_000
"""Things remembered of one question, some 2.6 kB each, before its memory begins anew."""

MOST_READINGS = 3
"""A script may be in another layout, by another method, and with a misread number at once."""


def where(question: Question, part: Part) -> tuple[Derivation, str] | None:
    """The derivation and the step that a part asks for; None if it asks for something else, or has no numbers."""
    if (asked := asked_step(question, part)) is None:
        return None
    d, step = asked
    return asked if any(s.name == step and isinstance(s.result, Matrix) for s in d) else None


@dataclass
class DerivationAnswers:
    """The parts of a question that belong to one derivation, each with its step, and what was written for them."""

    question: Question
    attempt: Attempt
    d: Derivation
    steps: dict[str, str] = field(default_factory=dict)
    blanks: dict[str, tuple[Cell, ...]] = field(default_factory=dict)
    held: Collection[str] = ()

    @property
    def upright(self) -> bool:
        return self.d.orientation == "rows"

    def script(self) -> Script:
        """What was written, with tokens as rows."""
        d, memory = _key(self.d)
        written: dict[str, Grid] = {}
        printed: dict[str, frozenset[Cell]] = {}
        for part, step in self.steps.items():
            said = self.attempt.answers.get(part)
            if isinstance(said, Grid) and not said.empty and said.rows[0]:
                written[step] = said if self.upright else said.T
        for step, grid in self.attempt.more.items():
            if step in d and step not in d.givens and step not in written and not grid.empty:
                written[step] = grid if self.upright else grid.T
        if self.blanks:  # what has boxes and is not blank was printed
            assert self.question.problem is not None
            boxed = {step.name for step in self.question.problem.asked_steps}.union(self.blanks)
            for line in (line for line in d if line.name in boxed):
                rows, columns = values_of(line.result).shape
                blank = {c if self.upright else c[::-1] for c in self.blanks.get(line.name, ())}
                everything = frozenset((i, j) for i in range(rows) for j in range(columns))
                printed[line.name] = everything - blank
                if not blank:
                    written[line.name] = Grid.blank(rows, columns)
        return Script(
            d,
            in_percent(d, with_precision(written)),
            frozenset(self.steps.values()),
            printed,
            *precision_of(self.question),
            stated=frozenset(step for part, step in self.steps.items() if self._shape_stated(part) == "right"),
            in_doubt=frozenset(self._in_doubt()),
            memory=Memory(memory),
        )

    def _in_doubt(self) -> Iterator[str]:
        """The steps to which something was written that a person has to read."""
        for part, step in self.steps.items():
            said = self.attempt.answers.get(part)
            entries = said.cells() if isinstance(said, Grid) else ()
            if part in self.held or any(entry.complaint for _, _, entry in entries):
                yield step

    def _shape_stated(self, part: str) -> Literal["right", "wrong", ""]:
        """Whether the shape that was stated is that of the matrix, as it lies on the sheet; "" if it is that of what
        was written, which is marked for itself.
        """
        stated, said = self.attempt.shapes.get(part), self.attempt.answers.get(part)
        if stated == values_of(self.d[self.steps[part]].result).shape:
            return "right"
        return "wrong" if stated and not (isinstance(said, Grid) and said.shape == stated) else ""

    def marked(self, policy: Policy, lines: tuple[SchemeLine, ...], first_event: int) -> Report:
        """The verdicts, events and marks of these parts."""
        script = self.script()
        own_masks = list(under_own_masks(script, self.question, self.attempt))
        masked = likeliest(Trace(script, policy), own_masks) if own_masks else None
        diagnosis, meant = understood(masked.script if masked else script, policy)
        own = tuple(line for line in lines if line.parts[0] in self.steps)
        found = awarded(
            diagnosis.script,
            lambda one: self._awarding(diagnosis if one is diagnosis.script else diagnosed(one, policy), own),
        )
        notices = list(found.notices)
        transposed = any(reading.kind == "layout" for reading in meant)
        events = [self._event(found, event, first_event, transposed) for event in found.events]
        for reading in meant:
            if reading.given:
                number = first_event + len(events)
                event, notice = self._misread(reading, number, policy)
                events.append(event)
                notices.append(notice)
            else:
                notices.append(Notice("", "layout" if reading.kind == "layout" else "method", reading.says))
        verdicts = tuple(self._verdicts(found, script, transposed, first_event))
        notices += self._in_percent(script)
        notices += self._unread()
        notices += self._of_shapes()
        notices += self._read_in_several_ways(diagnosis)
        followed = dict.fromkeys(self.steps, self._own(diagnosis, transposed)) if found.events else {}
        given = tuple(map(self._as_it_lies, found.given))
        report = Report(self.question, self.attempt, policy, verdicts, tuple(events), given, tuple(notices))
        return replace(report, own=followed)

    def _as_it_lies(self, given: Given) -> Given:
        """Marks for whole tokens, which are columns of the sheet where they are rows of the script."""
        if self.upright or given.why is None or given.why.reason != "rows":
            return given
        return replace(given, why=replace(given.why, reason="columns"))

    def _of_shapes(self) -> Iterator[Notice]:
        for part in self.question.parts:
            if part.shape_counts and part.name in self.steps and self._shape_stated(part.name) == "wrong":
                rows, columns = self.attempt.shapes[part.name]
                says = message("The shape is not {shape}: a shape is rows × columns.", shape=f"{rows}×{columns}")
                yield Notice(part.name, "reading", says)

    def _own(self, trace: Trace, transposed: bool) -> Derivation:
        """What was written and what follows from it, as it lies on the student's page."""
        lines = {name: trace.carried[name] for name in trace.script.written if name in trace.carried}
        own = continued(trace.script.d, lines)
        return turned(own) if (not self.upright) != transposed else own

    def _awarding(self, trace: Diagnosis, lines: tuple[SchemeLine, ...]) -> Awarding:
        """The marks of a script.

        Where a mistake may be in a line that was left out or in one that was written, the milder view is taken.
        """
        found = Awarding(trace, trace.policy, lines, self.steps, self.attempt.methods, self.question.intended)
        if trace.disagrees:
            other = replace(found, trace=diagnosed(trace.script, trace.policy, as_written=True))
            return max(found, other, key=lambda one: sum(map(one.earned, lines)))
        return found

    def _place(self, found: Awarded, step: str, i: int, j: int, transposed: bool) -> Cell:
        """Where an entry stands on the student's page."""
        turn = (not self.upright) != (transposed and step in found.script.written)
        return (j, i) if turn else (i, j)

    def _verdicts(self, found: Awarded, script: Script, transposed: bool, first: int) -> Iterator[Verdict]:
        for verdict in found.verdicts:
            step, i, j = verdict.place
            right = values_of(script.d[step].result)
            row, column = self._place(found, step, i, j, transposed)
            yield replace(
                verdict,
                part=part_of(self.steps, step),
                i=row,
                j=column,
                right=right[i, j] if i < right.shape[0] and j < right.shape[1] else None,  # of another shape
                event=None if verdict.event is None else first + verdict.event,
            )

    def _event(self, found: Awarded, event: Event, first: int, transposed: bool) -> Event:
        entries = tuple(
            (part_of(self.steps, step), *self._place(found, step, i, j, transposed)) for step, i, j in event.entries
        )
        candidates = tuple(sorted(event.candidates, key=_likelihood))
        if event.in_part:
            says = _only_in([(i, j) for _, i, j in entries])
            candidates = tuple(replace(c, says=says) if c.kind == "misconception" else c for c in event.candidates)
        part = part_of(self.steps, event.part)
        return replace(event, number=first + event.number, part=part, candidates=candidates, entries=entries)

    def _misread(self, reading: ScriptReading, number: int, policy: Policy) -> tuple[Event, Notice]:
        """One given number misread: one event, one penalty, and everything else marked on what was read."""
        assert reading.given is not None
        name, i, j, right, value = reading.given
        if not self.upright:
            i, j = j, i
        says = message(
            "Entry ({row}, {column}) of {matrix} is {right}, but {read} was used.",
            row=i + 1, column=j + 1, matrix=name, right=plain_number(right), read=plain_number(value),
        )  # fmt: skip
        besides = message("A given number was misread; everything else is marked with the number that was used.")
        shown = next(part for part, step in self.steps.items() if step in reading.decisive)
        event = Event(number, shown, (name,), "misread", (Candidate("misread", "A14", says, sentence=True),))
        return event, Notice("", "misread", sentences(says, besides), policy.misread, number, besides)

    def _read_in_several_ways(self, trace: Trace) -> Iterator[Notice]:
        """Which reading was taken; where none is right, a person has to look."""
        said = (one for one in self.attempt.answers.values() if isinstance(one, Grid))
        twofold = {entry.text: entry.readings for grid in said for _, _, entry in grid.cells()}
        for step, grid in trace.script.written.items():
            for i, j, entry in grid.cells():
                if len(ways := twofold.get(entry.text, ())) < 2:
                    continue
                verdict = trace.at((step, i, j))
                if verdict is not None and verdict.state == "wrong":
                    says = message(
                        "{text} was read as {number}; it may also mean {other}, and a person has to look.",
                        text=entry.text, number=ways[0].echo, other=ways[1].echo,
                    )  # fmt: skip
                    yield Notice(part_of(self.steps, step), "human", says)
                elif entry.echo != ways[0].echo:
                    says = message("{text} was read as {number}.", text=entry.text, number=entry.echo)
                    yield Notice(part_of(self.steps, step), "reading", says)

    def _in_percent(self, script: Script) -> Iterator[Notice]:
        """Where numbers were read as percentages that have no sign of it."""
        for part, step in self.steps.items():
            said, grid = self.attempt.answers.get(part), script.written.get(step)
            if isinstance(said, Grid) and grid is not None:
                own = grid if self.upright else grid.T
                first = next(((entry.value, own[i, j].value) for i, j, entry in said.cells() if entry.value), None)
                if first is not None and first[0] != first[1]:
                    yield Notice(part, "reading", message("These weights were read as percentages."))

    def _unread(self) -> Iterator[Notice]:
        for part in self.steps:
            said: Said | None = self.attempt.answers.get(part)
            if isinstance(said, Unreadable):
                yield Notice(part, "reading", said.complaint)
            elif said is not None and not isinstance(said, Grid):
                yield Notice(part, "reading", message("A matrix was expected here."))
            elif isinstance(said, Grid):
                yield from (Notice(part, "reading", says) for says in unread(said.cells()))


def _only_in(cells: Sequence[Cell]) -> Message:
    """Where alone something was done otherwise."""
    rows, columns = ({c[k] for c in cells} for k in (0, 1))
    if len(rows) == 1:
        return message("in row {row} only", row=rows.pop() + 1)
    if len(columns) == 1:
        return message("in column {column} only", column=columns.pop() + 1)
    return message("not in all rows and columns")


def _likelihood(candidate: Candidate) -> int:
    """The likeliest misconception first, and slips as they were found, before them."""
    return PRIOR[misconception(candidate.id).prior] if candidate.kind == "misconception" else -1


def understood(script: Script, policy: Policy) -> tuple[Diagnosis, tuple[ScriptReading, ...]]:
    """The script as it is meant, diagnosed: in its own layout, by its own method, on the numbers that were read."""
    meant: list[ScriptReading] = []
    found = diagnosed(script, policy)
    for _ in range(MOST_READINGS):
        if not found.wrong or _one_misconception(found):
            break
        best = likeliest(trace := Trace(found.script, policy), readings(trace))
        if best is None:
            break
        as_meant = diagnosed(best.script, policy)
        if _only_misconceptions(found) and len(as_meant.events) > len(found.events):
            break  # fewer beliefs explain all of it as it stands
        found = as_meant
        meant.append(best)
    return found, tuple(meant)


def is_by_misconceptions(script: Script, policy: Policy, steps: Iterable[str]) -> bool:
    """Whether misconceptions explain everything that is wrong in these steps."""
    found = diagnosed(script, policy)
    wrong = (verdict for step in steps for verdict in found.verdicts[step].values() if verdict.state == "wrong")
    events = map(found.of_event, wrong)
    return all(event is not None and event.kind == "misconception" for event in events)


def _one_misconception(found: Diagnosis) -> bool:
    """Whether a single misconception explains everything: then that is what it was."""
    return len(found.events) == 1 and found.events[0].kind == "misconception"


def _only_misconceptions(found: Diagnosis) -> bool:
    """Whether misconceptions explain everything."""
    return all(event.kind == "misconception" and not event.in_part for event in found.events)


KEYS: dict[int, tuple[Derivation, Derivation, KeyMemory]] = {}
"""Of the questions that were asked for last: the derivation, as it is laid, and what was worked out from it."""


def _key(d: Derivation) -> tuple[Derivation, KeyMemory]:
    """A question's derivation with tokens as rows, step after step, and what was worked out from it already."""
    known = KEYS.pop(id(d), None)
    if known is None or len(known[2]) > MOST_KNOWN:
        numbers = _with_numbers(d)
        laid = _by_role(numbers if d.orientation == "rows" else turned(numbers))
        known = d, laid, KeyMemory(laid)
    KEYS[id(d)] = known  # behind all others: the last that was asked for
    while len(KEYS) > MOST_KEYS:
        KEYS.pop(next(iter(KEYS)), None)  # another thread may have been quicker
    _, laid, memory = known
    return laid, memory


def _with_numbers(d: Derivation) -> Derivation:
    """The lines that have entries; whatever is made of a matrix of which only the shape is known has none either."""
    givens = {name: matrix for name, matrix in d.givens.items() if isinstance(matrix, Matrix)}
    return replace(d, givens=givens, steps=tuple(step for step in d if isinstance(step.result, Matrix)))


def _by_role(d: Derivation) -> Derivation:
    """Token by token, the lines of all tokens for one step together, then those for the next step."""
    roles = list(dict.fromkeys(step.role for step in d))
    order = {step.name: (roles.index(step.role), k) for k, step in enumerate(d)}
    ordered = sorted(d.steps, key=lambda step: order[step.name])
    there = set(d.givens)
    for step in ordered:  # a recurrent network has no such order: each position needs the one before it
        if any(operand.name not in there for operand in step.operands):
            return d
        there.add(step.name)
    return replace(d, steps=tuple(ordered))


# ------------------------------------------------------------------------------------------------ answers in words

_BOTH = re.compile(r"(?P<number>\d+)[\s.:=,(]+(?P<word>.+?)\)?|(?P<first>.+?)[\s:=,(]+(?P<second>\d+)\)?")
"""4 their, 4 = their, their (4)."""

_LONGEST = 80
"""Characters of a word with its number; no longer text is searched for them."""

_UPRIGHT = re.compile(r"\\(?:text|textbf|textit|mathrm|operatorname|mbox)\{([^{}]*)\}")
_ROUND_IT = " \t\"'“”‘’„«»*_`$.,;:!"
"""Quotation marks, punctuation, and what editors make words bold with."""


def with_words_read(question: Question, attempt: Attempt) -> Attempt:
    """The attempt with the number of the word for each word in the boxes of steps that have words.

    A word and its number together count as the number; a word that there is not, or one with another number, stays as
    it was read.
    """
    answers, remarks = dict(attempt.answers), attempt.remarks
    for part, words in _parts_with_words(question):
        said = answers.get(part)
        if not isinstance(said, Grid):
            continue
        numbered = Grid(tuple(tuple(_numbered(entry, words) for entry in row) for row in said.rows))
        if numbered == said:
            continue
        read_now = {old.complaint for (_, _, old), (_, _, new) in zip(said.cells(), numbered.cells(), strict=True)
                    if old.complaint and not new.complaint}  # fmt: skip
        remarks = tuple(r for r in remarks if r.says not in read_now or r.where.partition("[")[0] != part)
        answers[part] = numbered
    return replace(attempt, answers=answers, remarks=remarks)


def _parts_with_words(question: Question) -> Iterator[tuple[str, Mapping[str, int]]]:
    """Parts that ask for such a step, each with the numbers of its words."""
    for part in question.parts:
        if (asked := asked_step(question, part)) is not None:
            d, name = asked
            step = next((step for step in d if step.name == name), None)
            if step is not None and step.op.words:
                yield part.name, _numbers(step.op.words)


def _numbers(words: Sequence[str]) -> dict[str, int]:
    """Each word by its plain form; two that differ only in capitals keep them."""
    plain = [word.casefold() for word in words]
    return {word if plain.count(word.casefold()) > 1 else word.casefold(): n for n, word in enumerate(words, 1)}


def _numbered(entry: Entry, numbers: Mapping[str, int]) -> Entry:
    text = entry.text.strip(_ROUND_IT)
    if upright := _UPRIGHT.fullmatch(text):
        text = upright[1].strip(_ROUND_IT)
    number, word = _number_of(text, numbers), text
    if number is None and len(text) <= _LONGEST and (both := _BOTH.fullmatch(text)):
        stated = int(both["number"] or both["second"])
        word = both["word"] or both["first"]
        number = stated if _number_of(word, numbers) == stated else None
    if number is None:
        return entry
    return Entry(entry.text, read(str(number)), number, word=word)


def _number_of(text: str, numbers: Mapping[str, int]) -> int | None:
    return numbers.get(text, numbers.get(text.casefold()))
