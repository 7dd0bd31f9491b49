"""Reports as documents, for the student without the key, for the teacher with it (rules.md 6.3); and as plain data:
everything, in one order, numbers as text that reads back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, reduce
from itertools import groupby
from typing import assert_never

from symattn.derivation.derivation import Orientation
from symattn.derivation.misconceptions import misconceptions
from symattn.derivation.misconceptions.base import COUNTING
from symattn.derivation.slips import SLIPS
from symattn.exact import NEGATIVE_INFINITY, Matrix, Value, decimal_text, has_symbols
from symattn.exact.reading import typed
from symattn.formula import Formula, Marked, MatrixOf, Relation, Row, decimal, number
from symattn.formula import Text as FormulaText
from symattn.formula.width import width, wrapped
from symattn.foundation.identity import Same
from symattn.foundation.languages import Message, counted, message, sentences
from symattn.marking.attempt import (
    Entry,
    Grid,
    Grids,
    Ordered,
    Said,
    Shaded,
    Shaped,
    Submission,
    Text,
    Ticked,
    Unreadable,
)
from symattn.marking.marker.report import Candidate, Event, Report, Verdict
from symattn.marking.reports import words
from symattn.marking.reports.mistakes import Mistake, explained
from symattn.marking.reports.parts import Reader
from symattn.marking.reports.text import ReportLine, ReportText, remarked
from symattn.page.document import (
    Block,
    Box,
    Code,
    Display,
    Document,
    Heading,
    Inlines,
    ItemList,
    Math,
    Paragraph,
    Quoted,
    Strong,
    TextLike,
    Words,
    as_text,
    in_turn,
    listing,
    paragraph,
    sentence,
    spans,
    table,
)
from symattn.page.writers.characters import plain
from symattn.teaching.explanation.wording import LINE, typed_in
from symattn.teaching.question import (
    Answer,
    EntriesAnswer,
    FormulaAnswer,
    Json,
    MatrixAnswer,
    PropertyAnswer,
    RubricAnswer,
    StepAnswer,
    answer_in_short,
)

WIDEST_VALUE = 12.0
"""An exact value that is wider, in em, stands in a report as a decimal alone."""


UNNAMED = Submission("", ())
"""What was handed in by nobody in particular."""


def feedback_document(
    reports: Report | Sequence[Report],
    submission: Submission = UNNAMED,
    *,
    of_exam: bool = False,
    exercise: bool = False,
    alone: bool = False,
) -> Document:
    """What a student gets back: what was read, a sign at every entry, what to look at.

    Of the key there is nothing in it but one entry of every mistake, worked out in the student's own numbers.
    `submission` says whose it is, and what was remarked on the file as a whole; a sheet `of_exam` is called a paper;
    `exercise` says that there is a fresh exercise beside it; where the student is `alone`, nobody else will look at
    what is in doubt.
    """
    document = _document(_several(reports), "student", submission, of_exam, alone)
    return replace(document, blocks=(*document.blocks, paragraph(words.EXERCISE))) if exercise else document


def marking_document(
    reports: Report | Sequence[Report], submission: Submission = UNNAMED, *, of_exam: bool = False
) -> Document:
    """What a teacher checks the marking by: with the key, what every entry was compared with, and the proof."""
    return _document(_several(reports), "teacher", submission, of_exam)


def _several(reports: Report | Sequence[Report]) -> Sequence[Report]:
    return (reports,) if isinstance(reports, Report) else reports


def _document(
    reports: Sequence[Report], reader: Reader, submission: Submission, of_exam: bool, alone: bool = False
) -> Document:
    told = [_told(Same(report), reader, of_exam, alone) for report in reports]
    empty = [len(told) > 1 and _was_left_empty(one) for one in told]
    written = [one for one, is_empty in zip(told, empty, strict=True) if not is_empty]
    blocks = [*_head(reports, reader, submission, of_exam, alone), *_legend(written)]
    if submission.remarks:
        blocks.append(Box(words.NOTES, (ItemList(tuple(map(remarked, submission.remarks))),)))
    for position, (one, is_empty) in enumerate(zip(told, empty, strict=True), 1):
        if len(told) > 1:
            named = sentence("Question {number}. {title}", number=position, title=one.report.question.title)
            blocks.append(Heading(named, 1, _total([one.report], alone)))
        blocks += [paragraph(words.LEFT_EMPTY)] if is_empty else _question(Same(one))
    title = words.FEEDBACK if reader == "student" else words.MARKING
    subtitle = reports[0].question.title if len(reports) == 1 else ""
    return Document(title, tuple(blocks), subtitle=subtitle, sheet=submission.sheet)


@lru_cache(64)
def _told(report: Same[Report], reader: Reader, of_exam: bool, alone: bool) -> ReportText:
    """A report as it is told; in a class, one report is that of all who wrote the same."""
    return ReportText(report.thing, reader, of_exam, alone)


# ------------------------------------------------------------------------------------------------ the head


def _head(
    reports: Sequence[Report], reader: Reader, submission: Submission, of_exam: bool, alone: bool
) -> Iterator[Block]:
    sheet = Quoted(submission.sheet)
    called = sentence("paper {paper}", paper=sheet) if of_exam else sentence("sheet {sheet}", sheet=sheet)
    whose: list[tuple[str, Inlines]] = [
        (submission.name, (Strong(Quoted(submission.name)),)),
        (submission.student, sentence("student ID {id}", id=Quoted(submission.student))),
        (submission.sheet, called),
    ]
    yield Paragraph(_apart([shown for stated, shown in whose if stated]), _total(reports, alone))
    if len(reports) > 1:
        heads = [*(str(k) for k in range(1, len(reports) + 1)), words.TOTAL]
        marks = [words.MARKS, *(_total([report], alone) for report in reports), _total(reports, alone)]
        yield table([words.QUESTION, *heads], [marks])
    titles = dict.fromkeys(report.policy.title for report in reports) if reader == "teacher" else ()
    says = [message("Marked by {policy}.", policy=title) for title in titles]
    pending, unmarked = sum(map(_pending, reports)), sum(map(_unmarked, reports)) * alone
    if unmarked:
        says.append(
            counted(
                "{n} mark is for words or working, which are not marked here.",
                "{n} marks are for words or working, which are not marked here.",
                n=unmarked,
            )
        )
    if pending > unmarked:
        says.append(_left_open(pending - unmarked, alone))
    if says:
        yield paragraph(sentences(*says))


def _total(reports: Sequence[Report], alone: bool) -> str:
    if not any(report.policy.marks for report in reports):
        return words.NO_MARKS
    total, available = sum(r.total for r in reports), sum(r.available for r in reports)
    if not (pending := sum(map(_pending, reports))):
        return f"{total}/{available}"
    if alone:
        return message("{total}/{available}, {pending} open", total=total, available=available, pending=pending)
    return message("{total}/{available}, {pending} pending", total=total, available=available, pending=pending)


def _left_open(marks: int, alone: bool) -> Message:
    """Why marks are not given yet: a person has to read something, or whoever wrote it to write it out."""
    if alone:
        return counted(
            "{n} mark is open: something could not be read for certain. Write it out and check again.",
            "{n} marks are open: something could not be read for certain. Write it out and check again.",
            n=marks,
        )
    return counted(
        "{n} mark is pending: a person has to read the answer first.",
        "{n} marks are pending: a person has to read the answer first.",
        n=marks,
    )


def _pending(report: Report) -> int:
    return sum(given.of - given.given for given in report.marks if given.pending)


def _unmarked(report: Report) -> int:
    """The marks that wait for a reader of sentences or of working."""
    unmarked = report.question.parts_in_words | {notice.part for notice in report.notices if notice.kind == "method"}
    return sum(given.of - given.given for given in report.marks if given.pending and unmarked.issuperset(given.parts))


def _legend(told: Sequence[ReportText]) -> Iterator[Block]:
    """What the signs say that are used."""
    used = {verdict.state for one in told for verdict in one.report.verdicts}
    parts = [words.SIGNS[state] for state in words.SIGNS if state in used]
    if any(verdict.state == "wrong" and verdict.event is not None for one in told for verdict in one.report.verdicts):
        parts[parts.index(words.SIGNS["wrong"])] = words.NUMBERED
    if any(isinstance(part.answer, EntriesAnswer) for one in told for part in one.report.question.parts):
        parts.append(words.PRINTED)
    if parts:
        yield Paragraph(_apart([sentence("{sign} {meaning}", sign=Strong(sign), meaning=says) for sign, says in parts]))


# ------------------------------------------------------------------------------------------------ one question


@lru_cache(64)
def _question(told: Same[ReportText]) -> tuple[Block, ...]:
    return tuple(_about(told.thing))


def _about(told: ReportText) -> Iterator[Block]:
    if told.reader == "student":
        yield Box(words.FIRST, tuple(Paragraph(says) for says in where_to_look(told) if says))
    yield Heading(as_text(words.AS_READ), 2)
    yield from _script(told.lines, told.report.policy.marks)
    if lines := [line for line in told.lines if line.remarks]:
        yield ItemList(tuple(sentence("{line}: {remarks}", line=one.label, remarks=one.remarks) for one in lines))
    if marks := tuple(told.marks()):
        heads: list[TextLike] = [words.LINE, *(label for label, _ in marks), words.TOTAL]
        yield table(heads, [[words.MARKS, *(text for _, text in marks), _total([told.report], told.alone)]])
    if told.reader == "teacher":
        yield from _for_the_teacher(told)
    if notes := tuple(told.notes()):
        yield Box(words.NOTES, (ItemList(notes),))


def _script(lines: Sequence[ReportLine], has_marks: bool) -> Iterator[Block]:
    """What was written: matrices next to one another as far as a line goes, short answers in a table."""
    for count, run in groupby(lines, lambda line: min(2, len(line.formulas))):
        found = list(run)
        if count == 0:
            answers: list[list[TextLike]] = [[line.label, line.answer, *[line.marks] * has_marks] for line in found]
            titles = [words.LINE, words.ANSWER, *[words.MARKS] * has_marks]
            yield table(titles, answers)
        elif count == 1:
            rows = wrapped((line.formulas[0] for line in found), LINE)
            yield Display(tuple(row if isinstance(row, Row) else Row((row,)) for row in rows))
        else:
            yield from (Display(line.formulas) for line in found)


def where_to_look(told: ReportText) -> Iterator[Inlines]:
    """What is right, where the first mistake is and what to do about it; what is open if there is none."""
    first, report = told.first, told.report
    if first is None:
        empty = sum(_is_empty(told, line.part) for line in told.lines)
        unread = {verdict.part for verdict in report.verdicts if verdict.state == "unreadable"}
        waiting = {part for given in report.marks if given.pending for part in given.parts}
        some = empty or any(verdict.state in ("missing", "wrong") for verdict in report.verdicts)
        some = some or any(notice.kind == "blank" for notice in report.notices)
        if waiting and (not waiting <= unread or report.attempt.unread):
            in_words = waiting <= report.question.parts_in_words
            yield as_text((words.IN_WORDS if in_words else words.LOOK_AGAIN) if told.alone else words.TO_BE_READ)
        else:
            said = words.NOT_ALL_READ if unread else words.NOTHING_WRONG if some else words.ALL_RIGHT
            left = counted("One line is still empty.", "{n} lines are still empty.", n=empty) if empty else ""
            yield as_text(sentences(said, left))
        return
    yield in_turn([told.right_so_far, _begin(told, first)])
    if told.is_line(first.line.name):
        yield first.at_its_place
    if _rest_follows(told, first):
        yield as_text(words.REST_FOLLOWS)


def _begin(told: ReportText, first: Mistake) -> Inlines:
    """Where the first mistake is."""
    number, part = first.number, first.line.name
    if first.event.kind == "misread" or not part:
        return sentence("Compare the given numbers with those that you used (mistake {number}).", number=number)
    if step := first.left_out:
        return sentence("Begin with {step}, which is not written down (mistake {number}).", step=step, number=number)
    line, where = told.label(part), first.place
    if where:
        return sentence("Begin with {line}, {place} (mistake {number}).", line=line, place=Strong(where), number=number)
    return sentence("Begin with {line} (mistake {number}).", line=line, number=number)


def _is_empty(told: ReportText, part: str) -> bool:
    """Whether nothing was written in a part, and later lines do not imply all of it."""
    line = told.of(part)
    if not line.states:
        return line.part is not None and line.said is None
    return "missing" in line.states <= {"missing", "implied"}


def _was_left_empty(told: ReportText) -> bool:
    """Whether nothing was written in any part of the question, and nothing is to be said of it."""
    report = told.report
    said = (*report.events, *report.notices, *report.attempt.unread, *report.attempt.remarks)
    return not said and not report.total and all(_is_empty(told, part.name) for part in report.question.parts)


def _rest_follows(told: ReportText, first: Mistake) -> bool:
    """Whether entries follow from the student's own lines after the only mistake there is."""
    report = told.report
    return len(report.events) == 1 and any(v.state == "follows" and v.part != first.line.name for v in report.verdicts)


# ------------------------------------------------------------------------------------------------ for the teacher


def _for_the_teacher(told: ReportText) -> Iterator[Block]:
    if told.report.events:
        yield Heading(as_text(words.MISTAKES), 2)
        yield ItemList(tuple(_in_full(told, mistake) for mistake in told.mistakes))
        if codes := _catalogued(told.report.events):
            command = Code(f"symattn list misconceptions {' '.join(codes)}")
            yield Paragraph(
                sentence("Exactly what was done, and how to tell it from similar mistakes: {command}.", command=command)
            )
    rows = [row for line in told.lines for row in _compared_with_key(told, line)]
    if rows:
        yield Heading(as_text(words.DETAIL), 2)
        heads = (words.ENTRY, words.WRITTEN, words.COMPARED, words.HOW, words.KEY)
        yield table(heads, rows, row_heads=False)
    proofs = Counter(v.proof for v in told.report.verdicts if v.state == "correct")
    if proofs:
        each = (message("{count} {proof}", count=n, proof=words.proof(p)) for p, n in sorted(proofs.items()))
        equal = counted(
            "{n} entry is equal to the key: {proofs}.", "{n} entries are equal to the key: {proofs}.",
            n=proofs.total(), proofs=reduce(lambda a, b: message("{items}; {item}", items=a, item=b), each),
        )  # fmt: skip
        yield paragraph(equal)


def _catalogued(events: Iterable[Event]) -> list[str]:
    """The codes of misconceptions and slips among the explanations, which `symattn list` says more about."""
    found = dict.fromkeys(id for event in events for id in event.ids)
    return [code for code in found if code in misconceptions() or code in COUNTING or code in SLIPS]


def _in_full(told: ReportText, mistake: Mistake) -> Inlines:
    """A mistake in full: its kind, where it is charged and seen, every explanation, every entry."""
    event = mistake.event
    kind, step = words.KINDS[event.kind], told.named(event.step)
    parts = list(dict.fromkeys(part for part, _, _ in event.entries)) or [event.part] * bool(event.part)
    places = words.parted(
        told.place(part, told.where(part, [(i, j) for name, i, j in event.entries if name == part])) for part in parts
    )
    if parts and told.of(parts[0]).step != event.step:
        says = sentence("{kind} in {step}, seen in {places}", kind=kind, step=step, places=places)
    else:
        says = sentence("{kind} in {place}", kind=kind, place=places or step)
    says = explained(says, mistake.explained())
    return (Strong(words.mistake(mistake.number)), Words(words.BETWEEN), *says)


def _compared_with_key(told: ReportText, line: ReportLine) -> Iterator[list[TextLike]]:
    """A row for every entry that is not equal to the key, or one for an answer that is no number."""
    verdicts, answer = told.of(line.part).verdicts, told.of(line.part).answer
    if answer is None or isinstance(answer, StepAnswer | EntriesAnswer | MatrixAnswer | FormulaAnswer):
        unequal = (verdict for verdict in verdicts.values() if verdict.state != "correct" or verdict.flags)
        yield from (_compared(told, verdict) for verdict in unequal)
    elif isinstance(answer, RubricAnswer) or not all(verdict.accepted for verdict in verdicts.values()):
        proofs = dict.fromkeys(verdict.proof for verdict in verdicts.values() if verdict.proof)
        dash = words.SIGNS["missing"][0]
        how = listing([as_text(words.proof(proof)) for proof in proofs], last="") or dash
        yield [line.label, line.answer, dash, how, _key(answer)]


def _key(answer: Answer) -> Inlines:
    """The key of an answer that is no number; points for whoever reads a text."""
    match answer:
        case RubricAnswer(()):
            return as_text("See the key.")
        case RubricAnswer(points):
            return in_turn([(Words(f"{k}. "), *point) for k, point in enumerate(points, 1)])
        case PropertyAnswer(model=model):
            shown = (
                Relation((FormulaText(name), MatrixOf(_numbers(matrix))), ("=",)) for name, matrix in model.items()
            )
            return listing([(Math(one),) for one in shown], "")
        case _:
            return as_text(answer_in_short(answer, None))


def _numbers(matrix: Matrix) -> tuple[tuple[Formula, ...], ...]:
    return tuple(tuple(map(number, row)) for row in matrix.rows)


def _compared(told: ReportText, verdict: Verdict) -> list[TextLike]:
    """A row: where, what was written, what it was compared with and how, the key."""
    sign, says = words.SIGNS[verdict.state]
    entry: Inlines = told.short(verdict.part)
    if told.where(verdict.part, [(verdict.i, verdict.j)]):
        entry = (*entry, Words(f" ({verdict.i + 1},\N{NO-BREAK SPACE}{verdict.j + 1})"))
    written: Inlines = (Math(Marked(told.of(verdict.part).written(verdict), sign, says)),)
    same = verdict.way == "key" or verdict.compared is verdict.right
    in_short = verdict.way == "key" and verdict.proof  # that it is the key is said in the next column
    how = words.proof(verdict.proof) if in_short else words.how(verdict.way, verdict.proof)
    key = as_text(words.SAME_AS_KEY) if same and verdict.right is not None else _value(told, verdict, verdict.right)
    return [entry, written, _value(told, verdict, verdict.compared), how, key]


def _value(told: ReportText, verdict: Verdict, value: Value | None) -> Inlines:
    """A value exactly and as a decimal; a wide one as a decimal alone."""
    if value is None:
        return as_text(words.SIGNS["missing"][0])
    wording = told.of(verdict.part).wording
    exact = wording.number(value) if wording else number(value)
    if isinstance(value, int) or value is NEGATIVE_INFINITY or has_symbols(value):
        return as_text(exact)
    problem = told.report.question.problem
    rounded: Formula = decimal(decimal_text(value, max(4, problem.places if problem else 0)))
    return as_text(rounded if width(exact) > WIDEST_VALUE else Relation((exact, rounded), ("≈",)))


# ------------------------------------------------------------------------------------------------ pieces


def _apart(items: Iterable[Inlines]) -> Inlines:
    """a · b · c."""
    return tuple(x for k, item in enumerate(items) for x in (*(Words(words.BETWEEN),) * bool(k), *item))


# ------------------------------------------------------------------------------------------------ plain data


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
        "mistakes": [_event_json(event, report.question.orientation) for event in report.events],
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
        "compared": _value_text(verdict.compared),
        "key": _value_text(verdict.right),
        "way": verdict.way,
        "proof": verdict.proof,
        "flags": list[Json](verdict.flags),
        "mistake": None if verdict.event is None else verdict.event + 1,
    }


def _event_json(event: Event, orientation: Orientation) -> dict[str, Json]:
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
        "value": _value_text(entry.value),
        "unit": None if entry.unit is None else str(entry.unit),
        "complaint": entry.complaint,
    }


def _value_text(value: Value | None) -> Json:
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
