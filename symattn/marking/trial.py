"""Marking tried out: every misconception on many variants, as scripts, and whether it is found (rules.md 3.12).

A script is written by somebody with one misconception who goes on consistently.  Exactly one mistake must be found in
it, and named rightly, or together with others that write the very same.  Right scripts, in every form, must be free of
mistakes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from symattn.derivation.derivation import Derivation
from symattn.derivation.misconceptions import misconceptions, replayed
from symattn.derivation.misconceptions.base import WrongDerivation
from symattn.errors import InputError
from symattn.exact import Matrix, Value, decide, decimal_text
from symattn.exact.reading import typed
from symattn.foundation.crew import Crew
from symattn.foundation.dice import Dice
from symattn.foundation.typed import plain, read
from symattn.foundation.workers import Job
from symattn.marking.attempt import Attempt, Grid, Said
from symattn.marking.marker import mark
from symattn.marking.marker.report import Report
from symattn.marking.submissions.entries import entry, grid
from symattn.page.document import Block, Document, Heading, ItemList, as_text, paragraph, table
from symattn.teaching.explanation.wording import typed_in
from symattn.teaching.pool import chosen_contents, prove
from symattn.teaching.problems import Spec, problem_type
from symattn.teaching.question import Question, StepAnswer

Outcome = Literal["found", "collided", "missed", "invisible", "undefined"]
OUTCOMES: Mapping[Outcome, str] = {
    "found": "found: one mistake, named alone",
    "collided": "collided: one mistake, named with others that write the same in every box",
    "missed": "missed",
    "invisible": "invisible: nothing in the boxes is wrong",
    "undefined": "undefined: it cannot be carried out, and gives itself away",
}
PLACES = 6  # of right scripts in decimals
MANY_PLACES = 12  # of what has no exact form that can be typed


@dataclass
class Tried:
    """What came of each misconception, variant by variant.

    `accused` are right scripts with a mistake found in them, of `right` in all; `broken_pairs` are scripts with two
    misconceptions that were not marked as two events, of `pairs`.
    """

    variants: int = 0
    outcomes: dict[str, list[Outcome]] = field(default_factory=dict)
    missed: list[str] = field(default_factory=list)
    accused: list[str] = field(default_factory=list)
    broken_pairs: list[str] = field(default_factory=list)
    right: int = 0
    pairs: int = 0

    def __iadd__(self, other: Tried) -> Tried:
        for id, found in other.outcomes.items():
            self.outcomes.setdefault(id, []).extend(found)
        for name in ("variants", "missed", "accused", "broken_pairs", "right", "pairs"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        return self


@dataclass(frozen=True)
class Trial:
    """What came of a trial of a type of problem."""

    spec: Spec
    tried: Tried

    def document(self) -> Document:
        """The table, and everything that went wrong."""
        tried, lies = self.tried, self.spec.chosen_settings().orientation
        counted = {
            f"{id} {typed_in(m.called(lies), lies)}": Counter(tried.outcomes[id])
            for id, m in misconceptions().items()
            if id in tried.outcomes
        }
        rows = [[name, *(str(counts[o] or "") for o in OUTCOMES)] for name, counts in counted.items()]
        total: Counter[Outcome] = sum(counted.values(), Counter())
        rows.append(["all", *(str(total[o]) for o in OUTCOMES)])
        blocks: list[Block] = [
            paragraph(f"{tried.variants} variants; a script for every misconception that has a place in them."),
            table(("misconception", *OUTCOMES), rows),
            ItemList(tuple(as_text(f"{text}.") for text in OUTCOMES.values())),
            paragraph(f"Right scripts with a mistake found in them: {len(tried.accused)} of {tried.right}."),
        ]
        if tried.pairs:
            broken = len(tried.broken_pairs)
            says = f"Two misconceptions at different steps: {tried.pairs} scripts, {broken} without both."
            blocks.append(paragraph(says))
        if lines := [*tried.missed, *tried.accused, *tried.broken_pairs]:
            blocks += [Heading(as_text("To be looked at")), ItemList(tuple(map(as_text, lines[:40])))]
        return Document(f"Marking of {self.spec.type}, tried out", tuple(blocks))


# ------------------------------------------------------------------------------------------------ scripts


def script(question: Question, d: Derivation, say: Callable[[Value], str] = typed, mark_: str = ".") -> Attempt:
    """An attempt that says for every step asked what a derivation has there, as far as it goes."""
    answers: dict[str, Said] = {}
    for part in question.parts:
        if isinstance(part.answer, StepAnswer) and (matrix := value_of(d, part.answer.step)) is not None:
            matrix = _in_the_shape(question, part.answer.step, matrix)
            answers[part.name] = grid([[_typed(x, say, mark_) for x in row] for row in matrix.rows], mark_)
    return Attempt(answers)


def _typed(x: Value, say: Callable[[Value], str], mark_: str) -> str:
    """What is said, or a decimal where nobody can type the exact value (2^√2)."""
    text = say(x)
    return text if entry(text, mark_).readable else decimal_text(x, MANY_PLACES).replace(".", mark_)


def value_of(d: Derivation, step: str) -> Matrix | None:
    """A step's value; of a token's line, its row (or column) of the whole matrix."""
    if step in d:
        found = d.value(step)
        return found if isinstance(found, Matrix) else None
    role, _, token = step.partition(".")
    if not token.isdigit() or role not in d or not isinstance(whole := d.value(role), Matrix):
        return None
    return whole.row(int(token) - 1) if d.orientation == "rows" else whole.T.row(int(token) - 1).T


def _in_the_shape(question: Question, step: str, value: Matrix) -> Matrix:
    """A token's scores as they stand on the sheet, in a row or in a column."""
    assert question.problem is not None
    lying = question.problem[step].result.shape[0] == 1
    return value.T if "." in step and lying != (value.shape[0] == 1) and 1 in value.shape else value


def right_scripts(question: Question, d: Derivation) -> Iterator[tuple[str, Attempt]]:
    """The key in every form that is accepted."""
    yield "exact", script(question, d)
    yield f"{PLACES} places", script(question, d, lambda x: decimal_text(x, PLACES))
    yield "decimal comma", script(question, d, lambda x: decimal_text(x, PLACES).replace(".", ","), ",")
    yield "percent", script(question, d, lambda x: f"{decimal_text(x * 100, PLACES)} %" if _finite(x) else typed(x))
    answers = script(question, d).answers
    yield "transposed", Attempt({name: said.T for name, said in answers.items() if isinstance(said, Grid)})


def _finite(x: Value) -> bool:
    return typed(x) != "-∞"


# ------------------------------------------------------------------------------------------------ one variant


def trying(settings: Any) -> Job:
    """The job of trying everything on one variant, from its frozen content."""
    chosen = problem_type(settings["type"])

    def job(asked: Any) -> Any:
        question = chosen.make(asked["content"])
        if not all(isinstance(part.answer, StepAnswer) for part in question.parts):
            raise InputError(f"Marking is tried on full derivations; {question.type} asks for other things as well.")
        prove(question, chosen)
        return plain(_variant(question, asked["number"]))

    return job


TRY = f"{__name__}:trying"


def _variant(question: Question, number: int) -> Tried:
    """Everything tried on one variant."""
    assert question.problem is not None
    tried, d = Tried(variants=1), question.problem.derivation
    for form, attempt in right_scripts(question, d):
        report = mark(question, attempt)
        tried.right += 1
        if report.events or report.total < report.available:
            tried.accused.append(f"variant {number}, right script, {form}: {_said(report)}")
    wrongs = {wrong.misconception.id: wrong for wrong in replayed(d)}
    for id, wrong in wrongs.items():
        if wrong.stopped:
            tried.outcomes[id] = ["undefined"]
            continue
        if _alike(question, wrong.derivation, d):
            tried.outcomes[id] = ["invisible"]
            continue
        report = mark(question, script(question, wrong.derivation))
        named = report.events[0].ids if len(report.events) == 1 else ()
        others = [wrongs[other].derivation for other in named if other in wrongs]
        if named == (id,):
            tried.outcomes[id] = ["found"]
        elif id in named and all(_alike(question, wrong.derivation, other) for other in others):
            tried.outcomes[id] = ["collided"]
        else:
            tried.outcomes[id] = ["missed"]
            tried.missed.append(f"variant {number}, {id}: {_said(report)}")
    _two(question, d, [*wrongs.values()], number, tried)
    return tried


def _two(question: Question, d: Derivation, wrongs: Sequence[WrongDerivation], number: int, tried: Tried) -> None:
    """Some pairs of misconceptions at different steps, other ones for every variant."""
    order = {step.name: k for k, step in enumerate(d)}
    core = [w for w in wrongs if w.misconception.core and not w.stopped and w.first is not None]
    later = [(a, b) for a in core for b in core if order.get(a.first or "", 0) < order.get(b.first or "", 0)]
    for a, b in later[number % 7 :: 7]:
        both = b.misconception.on(a.derivation)
        if both is None or both.stopped or both.first is None or both.first != b.first:
            continue
        if _same(value_of(both.derivation, both.first), value_of(d, both.first)):
            continue  # the second mistake takes the first one back
        if {a.misconception.id, b.misconception.id} == {"T2", "X1"}:
            continue  # together the transposed layout, in which only the last product is wrong
        report = mark(question, script(question, both.derivation))
        tried.pairs += 1
        found = {c.id for event in report.events for c in event.candidates}
        if len(report.events) != 2 or not {a.misconception.id, b.misconception.id} <= found:
            names = f"{a.misconception.id} and {b.misconception.id}"
            tried.broken_pairs.append(f"variant {number}, {names}: {_said(report)}")


def _alike(question: Question, one: Derivation, other: Derivation) -> bool:
    """Whether two derivations have the same in every box."""
    steps = [part.answer.step for part in question.parts if isinstance(part.answer, StepAnswer)]
    there = [step for step in steps if step in one or step.partition(".")[0] in one]
    return all(_same(value_of(one, step), value_of(other, step)) for step in there)


def _same(a: Matrix | None, b: Matrix | None) -> bool:
    if a is None or b is None or a.shape != b.shape:
        return a is b
    return all(decide(x, y).equal is not False for x, y in zip(a, b, strict=True))


def _said(report: Report) -> str:
    """The events of a report in short."""
    events = [f"{e.part}: {'/'.join(e.ids) or e.kind}" for e in report.events]
    return f"{report.total} of {report.available}; {', '.join(events) or 'no event'}"


# ------------------------------------------------------------------------------------------------ many variants


def trial(
    spec: Spec,
    count: int,
    dice: Dice,
    step: Callable[[object], None] = lambda done: None,
    crew: Crew | None = None,
) -> Trial:
    """Try the marking on so many variants, by a crew if there is one.

    `InputError` for problem types that do not ask for whole steps of a derivation alone.
    """
    found = Tried()
    contents = enumerate(chosen_contents(spec, dice, count), 1)
    jobs = ((f"variant {number}", {"content": content, "number": number}) for number, content in contents)
    for _, said in (crew or Crew()).in_order(TRY, {"type": spec.type}, jobs):
        found += read(Tried, said)
        step(said)
    return Trial(spec, found)
