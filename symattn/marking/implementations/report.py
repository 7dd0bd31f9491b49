"""A comparison as a document: what departs, by which misconception, and every step that was seen."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from symattn.derivation.derivation import Derivation
from symattn.derivation.misconceptions.base import Misconception, WrongDerivation
from symattn.exact import Value
from symattn.exact.rounding import near
from symattn.formula import Formula, Infinity, Negative, Text, decimal
from symattn.foundation.languages import message
from symattn.marking.implementations.running import MEMORY, PRECISIONS, Failure
from symattn.page.document import Block, Code, Document, Inlines, Math, Paragraph, as_text, listing, sentence, table
from symattn.page.notation import Notation
from symattn.teaching.explanation.diagnoses import feedback
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.rendering import render, shown

Status = Literal["right", "follows", "departs", "not seen"]


class Difference(NamedTuple):
    """The entry (from 0) that is farthest from what was expected."""

    row: int
    column: int
    came: float
    expected: float


@dataclass(frozen=True)
class StepComparison:
    """A step as it came: `right`; what `follows` from a step that departed; `departs`; or `not seen`.

    `shape` is that of what came where it is another than the step's; `transposed` says that it is its transpose.
    """

    step: str
    status: Status
    largest: Difference | None = None
    shape: tuple[int, ...] | None = None
    transposed: bool = False


@dataclass(frozen=True)
class Departure:
    """A step that is not what the derivation has, and the misconceptions that give the same, the likeliest first.

    Where the step itself was not seen and nothing explains it, it lies after those that are right and not after `step`.
    `elsewhere` says that it was returned as it should be, but not where it was looked for.
    """

    step: str
    misconceptions: tuple[Misconception, ...] = ()
    seen: bool = True
    elsewhere: bool = False


@dataclass(frozen=True)
class Comparison:
    """Somebody's steps beside a derivation.

    `format` is the floating-point format in which they were taken to be worked out; `coarser` one with fewer digits in
    which all of them would be right, where something departs that no misconception explains, and `epsilon` another ε
    under the roots of norms with which they would.  `failure` says why a program returned nothing.
    """

    derivation: Derivation
    notation: Notation
    lines: tuple[StepComparison, ...]
    departures: tuple[Departure, ...]
    format: str
    coarser: str = ""
    epsilon: Value | None = None
    failure: Failure | None = None

    @property
    def right(self) -> bool:
        """Whether a result came, and everything that came is what the derivation has, as the format allows."""
        return not self.departures and self.failure is None

    @property
    def first(self) -> str:
        """The step that departs first; "" if none does."""
        return self.departures[0].step if self.departures else ""

    @property
    def named(self) -> tuple[str, ...]:
        """The likeliest misconception of each departure, by its id in `symattn list misconceptions`."""
        return tuple(one.misconceptions[0].id for one in self.departures if one.misconceptions)

    @property
    def document(self) -> Document:
        """The comparison as a document, which a notebook shows."""
        return comparison_document(self)

    def __str__(self) -> str:
        return render(self.document, "text")[1].decode()

    def __repr__(self) -> str:
        if self.failure is not None:
            return f"<no result: {self.failure.how}>"
        return f"<{'all right' if self.right else f'wrong from {self.first} on'}>"

    def _repr_html_(self) -> str:
        return shown(self.document, "html")

    def _repr_markdown_(self) -> str:
        return shown(self.document, "markdown")


STATUS: Mapping[Status, str] = {
    "right": message("right"),
    "follows": message("follows from the mistake"),
    "departs": message("wrong"),
    "not seen": message("not seen"),
}
MOST_DIGITS = 6
"""Of a number in the table, and no more than its format has."""

TITLE = message("Your program, step by step")


def comparison_document(found: Comparison) -> Document:
    """What a notebook shows, and what a failing test says."""
    wording = Wording(found.derivation, found.notation)
    blocks: list[Block] = [Paragraph(said) for said in _said(found, wording)]
    header = (message("Step"), message("Result"), message("Largest difference"), message("Yours"), message("Expected"))
    rows = tuple(
        _row(line, wording, min(MOST_DIGITS, round(PRECISIONS[found.format].digits * 0.301) + 1))
        for line in found.lines
    )
    return Document(TITLE, (*blocks, table(header, rows)))


def _said(found: Comparison, wording: Wording) -> Iterator[Inlines]:
    """What to tell, a sentence or two each."""
    seen = [(Math(wording.name(line.step)),) for line in found.lines if line.status == "right"]
    if found.failure is not None:
        yield _failed(found.failure)
        if seen:
            yield sentence("Before that, {steps} came out right.", steps=listing(seen))
    if found.right:
        yield sentence("Everything that was seen is right: {steps}.", steps=listing(seen))
    lines = {line.step: line for line in found.lines}
    for position, departure in enumerate(found.departures):
        step = wording.name(departure.step)
        if departure.elsewhere:
            yield sentence("{step} is right but comes too late in what was returned: it has to come first.", step=step)
        elif found.epsilon is not None and not departure.misconceptions:
            yield sentence(
                "{step} is right with ε = {epsilon} under the root of the norm, but the task has another ε.",
                step=step, epsilon=Math(_number(near(found.epsilon), MOST_DIGITS)),
            )  # fmt: skip
            continue
        elif found.coarser and not departure.misconceptions:
            yield sentence(
                "{step} is right to the precision of {coarser}, but not of {format}. If the program may work in "
                "{coarser}, say precision=\"{coarser}\".",
                step=step, coarser=found.coarser, format=found.format,
            )  # fmt: skip
            continue
        elif not departure.misconceptions and not departure.seen:
            yield _between(found, departure, wording)
        elif position == 0:
            yield sentence("{step} is the first step that goes wrong.", step=step)
        else:
            yield sentence("{step} goes wrong as well.", step=step)
        yield from _why(lines[departure.step], departure, wording)


def _failed(failure: Failure) -> Inlines:
    """Why a program returned nothing."""
    match failure.how:
        case "exited":
            return sentence("The program ended itself (SystemExit) instead of returning a result.")
        case "recursion":
            return sentence("The program calls itself without end (RecursionError).")
        case "memory":
            return sentence("The program took more memory than it may ({gigabytes} GiB).", gigabytes=MEMORY >> 30)
        case "stopped":
            return sentence(
                "The program had not ended after {seconds} seconds and was stopped.", seconds=f"{failure.seconds:g}"
            )
        case "raised" if failure.line:
            return sentence(
                "The program raised {error} (line {line}, in {function}).",
                error=Code(failure.error), line=failure.line, function=Code(failure.function),
            )  # fmt: skip
        case "raised":
            return sentence("The program raised {error}.", error=Code(failure.error))
        case _:
            return sentence(
                "The process of the program ended (code {code}) before a result was returned.", code=failure.code
            )


def _between(found: Comparison, departure: Departure, wording: Wording) -> Inlines:
    """Where something departs among steps that were not seen."""
    unseen = [
        (Math(wording.name(line.step)),)
        for line in found.lines
        if line.status == "not seen" and line.step in found.derivation.before(departure.step)
    ]
    return sentence(
        "{step} is wrong, or a step before it that was not seen: {unseen}. To see more, return a dict of the steps.",
        step=wording.name(departure.step), unseen=listing(unseen, "or"),
    )  # fmt: skip


def _why(line: StepComparison, departure: Departure, wording: Wording) -> Iterator[Inlines]:
    step = wording.name(line.step)
    if departure.misconceptions:
        first, *others = departure.misconceptions
        yield sentence("The mistake is {mistake}.", mistake=_mistake(first, wording))
        yield feedback(WrongDerivation(first, wording.derivation, None), wording)
        if others:
            named = listing([_mistake(one, wording) for one in others], "or")
            yield sentence("{mistakes} would give the same result.", mistakes=named)
    elif line.transposed:
        yield sentence("{step} came out transposed.", step=step)
    elif line.shape is not None:
        expected = "×".join(map(str, wording.derivation[line.step].result.shape))
        came = "×".join(map(str, line.shape))
        yield sentence("{step} is {came}; {expected} was expected.", step=step, came=came, expected=expected)
    elif line.largest is not None and math.isnan(line.largest.came):
        yield sentence(
            "{step} has entries that are not numbers (NaN), because a whole row is hidden or because exponentials "
            "overflow.",
            step=step,
        )  # fmt: skip
    elif departure.seen:
        yield as_text(message("No misconception in the catalogue explains this result."))


def _mistake(one: Misconception, wording: Wording) -> Inlines:
    return sentence("{code} ({name})", code=one.id, name=wording.in_signs(one.called(wording.orientation)))


def _row(line: StepComparison, wording: Wording, digits: int) -> tuple[Inlines, ...]:
    name: Inlines = (Math(wording.name(line.step)),)
    status = as_text(STATUS[line.status])
    if line.largest is None or line.status == "right":
        return name, status, (), (), ()
    i, j, came, expected = line.largest
    where = sentence("row {row}, column {column}", row=i + 1, column=j + 1)
    return name, status, where, (Math(_number(came, digits)),), (Math(_number(expected, digits)),)


def _number(x: float, most: int) -> Formula:
    if math.isinf(x):
        return Infinity() if x > 0 else Negative(Infinity())
    digits = f"{x:.{most}g}"
    return decimal(digits) if digits.strip("-0123456789.") == "" else Text(digits)  # nan, 1e-07
