"""Reports as plain data: everything, in one order, numbers as text that reads back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from symattn.derivation.derivation import Orientation
from symattn.derivation.misconceptions import SLIPS, misconceptions
from symattn.exact import Value
from symattn.exact.reading import typed
from symattn.formula import Formula
from symattn.marking.attempt import Entry, Grid, Grids, Ordered, Said, Shaded, Shaped, Text, Ticked, Unreadable
from symattn.marking.marker.report import Candidate, Event, Report, Verdict
from symattn.marking.reports import words
from symattn.page.document import Inlines, Math, Words, spans
from symattn.page.writers.characters import plain
from symattn.teaching.explanation.wording import typed_in
from symattn.teaching.question import Json


def report_json(report: Report) -> dict[str, Json]:
    """A report as JSON.

    Rows, columns, options and mistakes are counted from 1.  Exact values are text that `symattn.exact.reading.read`
    gives back (expressions in letters with `symbols=True`); null where there is none.
    """
    return {
        "question": {
            "type": report.question.type,
            "title": report.question.title,
            "parts": [part.name for part in report.question.parts],
            "names": {part.name: list[Json](_called(part.title)) for part in report.question.parts},
            "orientation": report.question.orientation,
        },
        "policy": {"name": report.policy.name, "title": report.policy.title},
        "total": report.total,
        "of": report.available,
        "pending": report.pending,
        "answers": _answers(report.attempt.answers),
        "more": _answers(report.attempt.more),
        "methods": list[Json](sorted(report.attempt.methods)),
        "verdicts": [_verdict(verdict) for verdict in report.verdicts],
        "mistakes": [_event(event, report.question.orientation) for event in report.events],
        "marks": [
            {
                "parts": list[Json](given.parts),
                "code": given.code,
                "given": given.given,
                "of": given.of,
                "why": words.why(given.why),
                "pending": given.pending,
            }
            for given in report.marks
        ],
        "notices": [
            {"part": notice.part, "kind": notice.kind, "says": notice.says, "marks": notice.marks}
            for notice in report.notices
        ],
        "remarks": [{"where": remark.where, "says": remark.says} for remark in report.attempt.remarks],
    }


def _called(title: Inlines) -> tuple[str, str]:
    """What a part is called, in English words and by its sign: Scaled scores, S'; one of them is "" where it has none.

    A title that has both otherwise than one behind the other is words as a whole; one without words is its sign.
    """
    found = [span for span in spans(title) if isinstance(span, Math) or span.text.strip()]
    match found:
        case [Words(words), Math(sign)]:
            return words.strip(), _sign(sign)
        case [Math(sign)]:
            return "", _sign(sign)
    return plain(title), ""


def _sign(formula: Formula) -> str:
    return plain((Math(formula),)).replace("′", "'")


def _verdict(verdict: Verdict) -> dict[str, Json]:
    return {
        "part": verdict.part,
        "row": verdict.i + 1,
        "column": verdict.j + 1,
        "state": verdict.state,
        "written": _entry(verdict.written),
        "compared": _value(verdict.compared),
        "key": _value(verdict.right),
        "way": verdict.way,
        "proof": verdict.proof,
        "flags": list[Json](verdict.flags),
        "mistake": None if verdict.event is None else verdict.event + 1,
    }


def _event(event: Event, orientation: Orientation) -> dict[str, Json]:
    return {
        "number": event.number + 1,
        "part": event.part,
        "step": event.step,
        "kind": event.kind,
        "candidates": [_candidate(candidate, orientation) for candidate in event.candidates],
        "entries": [{"part": part, "row": i + 1, "column": j + 1} for part, i, j in event.entries],
    }


def _candidate(candidate: Candidate, orientation: Orientation) -> dict[str, Json]:
    known, slip = misconceptions().get(candidate.id), SLIPS.get(candidate.id)
    return {
        "kind": candidate.kind,
        "id": candidate.id,
        "name": typed_in(known.called(orientation), orientation) if known else slip.name if slip else "",
        "says": candidate.says,
    }


def _entry(entry: Entry) -> dict[str, Json]:
    """What was typed, how it was read, what it means, and what one more in its last decimal place means."""
    return {
        "text": entry.text,
        "read": entry.echo,
        "value": _value(entry.value),
        "unit": None if entry.unit is None else str(entry.unit),
        "complaint": entry.complaint,
    }


def _value(value: Value | None) -> Json:
    return None if value is None else typed(value)


def _answers(answers: Mapping[str, Said] | Mapping[str, Grid]) -> dict[str, Json]:
    return {name: _said(said) for name, said in answers.items()}


def _said(said: Said) -> Json:
    match said:
        case Grid(rows):
            return [[entry.text for entry in row] for row in rows]
        case Grids(grids):
            return {name: _said(grid) for name, grid in grids.items()}
        case Entry(text):
            return text
        case Ticked(options):
            return [k + 1 for k in sorted(options)]
        case Shaded(cells):
            return [[i + 1, j + 1] for i, j in sorted(cells)]
        case Shaped(shape):
            return list(shape) if shape else None
        case Ordered(groups):
            return [list(group) for group in groups]
        case Text(text, points):
            return {"text": text, "points": points}
        case Unreadable(text, complaint):
            return {"text": text, "complaint": complaint}
        case _:
            assert_never(said)
