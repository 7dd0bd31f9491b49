"""Reports as documents: for the student without the key, for the teacher with it (rules.md 6.3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from symattn.derivation.misconceptions import COUNTING, SLIPS, misconceptions
from symattn.exact import NEGATIVE_INFINITY, Matrix, Value, decimal_text, has_symbols
from symattn.formula import Formula, Marked, MatrixOf, Relation, Row, Text, decimal, number
from symattn.formula.width import width, wrapped
from symattn.foundation.languages import Message, counted, message, sentences
from symattn.marking.attempt import Remark
from symattn.marking.marker.report import Event, Report, Verdict
from symattn.marking.reports import words
from symattn.marking.reports.text import Reader, ReportLine, ReportText, explained, remarked
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
    Table,
    Words,
    in_turn,
    listing,
    sentence,
)
from symattn.teaching.explanation.wording import LINE
from symattn.teaching.question import (
    Answer,
    EntriesAnswer,
    FormulaAnswer,
    MatrixAnswer,
    PropertyAnswer,
    RubricAnswer,
    StepAnswer,
    answer_in_short,
)

WIDEST_VALUE = 12.0
"""An exact value that is wider, in em, stands in a report as a decimal alone."""


def feedback_document(
    reports: Report | Sequence[Report],
    *,
    name: str = "",
    student: str = "",
    sheet: str = "",
    remarks: Sequence[Remark] = (),
    of_exam: bool = False,
    exercise: bool = False,
    alone: bool = False,
) -> Document:
    """What a student gets back: what was read, a sign at every entry, what to look at.

    Of the key there is nothing in it but one entry of every mistake, worked out in the student's own numbers.
    `remarks` are those on the file as a whole; a sheet `of_exam` is called a paper; `exercise` says that there is a
    fresh exercise beside it; where the student is `alone`, nobody else will look at what is in doubt.
    """
    document = _document(_several(reports), "student", name, student, sheet, remarks, of_exam, alone)
    return replace(document, blocks=(*document.blocks, Paragraph(_words(words.EXERCISE)))) if exercise else document


def marking_document(
    reports: Report | Sequence[Report],
    *,
    name: str = "",
    student: str = "",
    sheet: str = "",
    remarks: Sequence[Remark] = (),
    of_exam: bool = False,
) -> Document:
    """What a teacher checks the marking by: with the key, what every entry was compared with, and the proof."""
    return _document(_several(reports), "teacher", name, student, sheet, remarks, of_exam)


def _several(reports: Report | Sequence[Report]) -> Sequence[Report]:
    return (reports,) if isinstance(reports, Report) else reports


def _document(
    reports: Sequence[Report],
    reader: Reader,
    name: str,
    student: str,
    sheet: str,
    remarks: Sequence[Remark],
    of_exam: bool,
    alone: bool = False,
) -> Document:
    told = [ReportText(report, reader, of_exam, alone) for report in reports]
    empty = [len(told) > 1 and _was_left_empty(one) for one in told]
    written = [one for one, is_empty in zip(told, empty, strict=True) if not is_empty]
    blocks = [*_head(reports, reader, name, student, sheet, of_exam, alone), *_legend(written)]
    if remarks:
        blocks.append(Box(words.NOTES, (ItemList(tuple(map(remarked, remarks))),)))
    for position, (one, is_empty) in enumerate(zip(told, empty, strict=True), 1):
        if len(told) > 1:
            named = sentence("Question {number}. {title}", number=position, title=one.report.question.title)
            blocks.append(Heading(named, 1, _total([one.report], alone)))
        blocks += [Paragraph(_words(words.LEFT_EMPTY))] if is_empty else _question(one)
    title = words.FEEDBACK if reader == "student" else words.MARKING
    return Document(title, tuple(blocks), subtitle=reports[0].question.title if len(reports) == 1 else "", sheet=sheet)


# ------------------------------------------------------------------------------------------------ the head


def _head(
    reports: Sequence[Report], reader: Reader, name: str, student: str, sheet: str, of_exam: bool, alone: bool
) -> Iterator[Block]:
    whose: list[Inlines] = [(Strong(Quoted(name)),)] * bool(name)
    whose += [sentence("student ID {id}", id=Quoted(student))] * bool(student)
    called = sentence("sheet {sheet}", sheet=Quoted(sheet))
    if of_exam:
        called = sentence("paper {paper}", paper=Quoted(sheet))
    whose += [called] * bool(sheet)
    yield Paragraph(_apart(whose), _total(reports, alone))
    if len(reports) > 1:
        heads = [*(str(k) for k in range(1, len(reports) + 1)), words.TOTAL]
        marks = [words.MARKS, *(_total([report], alone) for report in reports), _total(reports, alone)]
        yield _table(_words_of([words.QUESTION, *heads]), [_words_of(marks)], row_heads=True)
    titles = dict.fromkeys(report.policy.title for report in reports) if reader == "teacher" else ()
    says = [message("Marked by {policy}.", policy=title) for title in titles]
    pending, unmarked = sum(map(_pending, reports)), sum(map(_unmarked, reports)) if alone else 0
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
        yield Paragraph((Words(sentences(*says)),))


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


def _question(told: ReportText) -> Iterator[Block]:
    if told.reader == "student":
        yield Box(words.FIRST, tuple(Paragraph(says) for says in where_to_look(told) if says))
    yield Heading(_words(words.AS_READ), 2)
    yield from _script(told.lines, told.report.policy.marks)
    if lines := [line for line in told.lines if line.remarks]:
        yield ItemList(tuple(sentence("{line}: {remarks}", line=one.label, remarks=one.remarks) for one in lines))
    if marks := tuple(told.marks()):
        heads = [_words(words.LINE), *(label for label, _ in marks), _words(words.TOTAL)]
        given = _words_of([words.MARKS, *(text for _, text in marks), _total([told.report], told.alone)])
        yield _table(heads, [given], row_heads=True)
    if told.reader == "teacher":
        yield from _for_the_teacher(told)
    if notes := tuple(told.notes()):
        yield Box(words.NOTES, (ItemList(notes),))


def _script(lines: Sequence[ReportLine], has_marks: bool) -> Iterator[Block]:
    """What was written: matrices next to one another as far as a line goes, short answers in a table."""
    for count, run in groupby(lines, lambda line: min(2, len(line.formulas))):
        found = list(run)
        if count == 0:
            answers = [[line.label, line.answer, *_words_of([line.marks] * has_marks)] for line in found]
            heads = [words.LINE, words.ANSWER, *[words.MARKS] * has_marks]
            yield _table(_words_of(heads), answers, row_heads=True)
        elif count == 1:
            rows = wrapped((line.formulas[0] for line in found), LINE)
            yield Display(tuple(row if isinstance(row, Row) else Row((row,)) for row in rows))
        else:
            yield from (Display(line.formulas) for line in found)


def where_to_look(told: ReportText) -> Iterator[Inlines]:
    """What is right, where the first mistake is and what to do about it; what is open if there is none."""
    first, report = told.first, told.report
    if first is None:
        empty = sum(1 for line in told.lines if _is_empty(told, line.part))
        unread = {verdict.part for verdict in report.verdicts if verdict.state == "unreadable"}
        waiting = {part for given in report.marks if given.pending for part in given.parts}
        some = empty or any(verdict.state in ("missing", "wrong") for verdict in report.verdicts)
        some = some or any(notice.kind == "blank" for notice in report.notices)
        if waiting and (not waiting <= unread or report.attempt.unread):
            in_words = waiting <= report.question.parts_in_words
            yield _words((words.IN_WORDS if in_words else words.LOOK_AGAIN) if told.alone else words.TO_BE_READ)
        else:
            said = words.NOT_ALL_READ if unread else words.NOTHING_WRONG if some else words.ALL_RIGHT
            left = counted("One line is still empty.", "{n} lines are still empty.", n=empty) if empty else ""
            yield _words(sentences(said, left))
        return
    yield in_turn([told.right_so_far, _begin(told, first)])
    if told.is_line(first.part):
        yield told.says(first, begun=True)
    if _rest_follows(told, first):
        yield _words(words.REST_FOLLOWS)


def _begin(told: ReportText, first: Event) -> Inlines:
    """Where the first mistake is."""
    number = first.number + 1
    if first.kind == "misread" or not first.part:
        return sentence("Compare the given numbers with those that you used (mistake {number}).", number=number)
    if step := told.left_out(first):
        return sentence("Begin with {step}, which is not written down (mistake {number}).", step=step, number=number)
    line, where = told.label(first.part), told.seen_at(first)
    if where:
        return sentence("Begin with {line}, {place} (mistake {number}).", line=line, place=Strong(where), number=number)
    return sentence("Begin with {line} (mistake {number}).", line=line, number=number)


def _is_empty(told: ReportText, part: str) -> bool:
    """Whether nothing was written in a part, and later lines do not imply all of it."""
    states = {verdict.state for verdict in told.report.of(part).values()}
    if not states:
        return told.asked(part) is not None and told.said(part) is None
    return "missing" in states <= {"missing", "implied"}


def _was_left_empty(told: ReportText) -> bool:
    """Whether nothing was written in any part of the question, and nothing is to be said of it."""
    report = told.report
    said = (*report.events, *report.notices, *report.attempt.unread, *report.attempt.remarks)
    return not said and not report.total and all(_is_empty(told, part.name) for part in report.question.parts)


def _rest_follows(told: ReportText, first: Event) -> bool:
    """Whether entries follow from the student's own lines after the only mistake there is."""
    report = told.report
    return len(report.events) == 1 and any(v.state == "follows" and v.part != first.part for v in report.verdicts)


# ------------------------------------------------------------------------------------------------ for the teacher


def _for_the_teacher(told: ReportText) -> Iterator[Block]:
    if told.report.events:
        yield Heading(_words(words.MISTAKES), 2)
        yield ItemList(tuple(_event(told, event) for event in told.report.events))
        if codes := _catalogued(told.report.events):
            command = Code(f"symattn list misconceptions {' '.join(codes)}")
            yield Paragraph(
                sentence("Exactly what was done, and how to tell it from similar mistakes: {command}.", command=command)
            )
    rows = [row for line in told.lines for row in _compared_with_key(told, line)]
    if rows:
        yield Heading(_words(words.DETAIL), 2)
        heads = (words.ENTRY, words.WRITTEN, words.COMPARED, words.HOW, words.KEY)
        yield _table(_words_of(heads), rows)
    proofs = Counter(v.proof for v in told.report.verdicts if v.state == "correct")
    if proofs:
        said, *others = (message("{count} {proof}", count=n, proof=words.proof(p)) for p, n in sorted(proofs.items()))
        for other in others:
            said = message("{proofs}; {proof}", proofs=said, proof=other)
        equal = counted(
            "{n} entry is equal to the key: {proofs}.", "{n} entries are equal to the key: {proofs}.",
            n=proofs.total(), proofs=said,
        )  # fmt: skip
        yield Paragraph(_words(equal))


def _catalogued(events: Iterable[Event]) -> list[str]:
    """The codes of misconceptions and slips among the explanations, which `symattn list` says more about."""
    found = dict.fromkeys(id for event in events for id in event.ids)
    return [code for code in found if code in misconceptions() or code in COUNTING or code in SLIPS]


def _event(told: ReportText, event: Event) -> Inlines:
    """A mistake in full: its kind, where it is charged and seen, every explanation, every entry."""
    kind, step = words.KINDS[event.kind], told.named(event.step)
    parts = list(dict.fromkeys(part for part, _, _ in event.entries)) or [event.part] * bool(event.part)
    places: Inlines = ()
    for part in parts:
        place = told.place(part, told.where(part, [(i, j) for name, i, j in event.entries if name == part]))
        places = sentence("{places}; {place}", places=places, place=place) if places else place
    says: Inlines = (Words(kind),)
    if places and told.step(parts[0]) != event.step:
        says = sentence("{kind} in {step}, seen in {places}", kind=kind, step=step, places=places)
    else:
        says = sentence("{kind} in {place}", kind=kind, place=places or step)
    says = explained(says, told.explained(event))
    return (Strong(words.mistake(event.number + 1)), Words(words.BETWEEN), *says)


def _compared_with_key(told: ReportText, line: ReportLine) -> Iterator[list[Inlines]]:
    """A row for every entry that is not equal to the key, or one for an answer that is no number."""
    verdicts = told.report.of(line.part)
    answer = told.asked(line.part)
    if answer is None or isinstance(answer, StepAnswer | EntriesAnswer | MatrixAnswer | FormulaAnswer):
        unequal = (verdict for verdict in verdicts.values() if verdict.state != "correct" or verdict.flags)
        yield from (_compared(told, verdict) for verdict in unequal)
    elif isinstance(answer, RubricAnswer) or not all(verdict.accepted for verdict in verdicts.values()):
        proofs = dict.fromkeys(verdict.proof for verdict in verdicts.values() if verdict.proof)
        dash = _words(words.SIGNS["missing"][0])
        how = listing([_words(words.proof(proof)) for proof in proofs], last="") or dash
        yield [line.label, line.answer, dash, how, _key(answer)]


def _key(answer: Answer) -> Inlines:
    """The key of an answer that is no number; points for whoever reads a text."""
    match answer:
        case RubricAnswer(()):
            return (Words("See the key."),)
        case RubricAnswer(points):
            return in_turn([(Words(f"{k}. "), *point) for k, point in enumerate(points, 1)])
        case PropertyAnswer(model=model):
            shown = (Relation((Text(name), MatrixOf(_numbers(matrix))), ("=",)) for name, matrix in model.items())
            return listing([(Math(one),) for one in shown], "")
        case _:
            return _words(answer_in_short(answer, None))


def _numbers(matrix: Matrix) -> tuple[tuple[Formula, ...], ...]:
    return tuple(tuple(map(number, row)) for row in matrix.rows)


def _compared(told: ReportText, verdict: Verdict) -> list[Inlines]:
    """A row: where, what was written, what it was compared with and how, the key."""
    sign, says = words.SIGNS[verdict.state]
    entry: Inlines = told.short(verdict.part)
    if told.where(verdict.part, [(verdict.i, verdict.j)]):
        entry = (*entry, Words(f" ({verdict.i + 1},\N{NO-BREAK SPACE}{verdict.j + 1})"))
    written: Inlines = (Math(Marked(told.written(verdict), sign, says)),)
    same = verdict.way == "key" or verdict.compared is verdict.right
    in_short = verdict.way == "key" and verdict.proof  # that it is the key is said in the next column
    how = words.proof(verdict.proof) if in_short else words.how(verdict.way, verdict.proof)
    key = _words(words.SAME_AS_KEY) if same and verdict.right is not None else _value(told, verdict, verdict.right)
    return [entry, written, _value(told, verdict, verdict.compared), _words(how), key]


def _value(told: ReportText, verdict: Verdict, value: Value | None) -> Inlines:
    """A value exactly and as a decimal; a wide one as a decimal alone."""
    if value is None:
        return _words(words.SIGNS["missing"][0])
    wording = told.wording(verdict.part)
    exact = wording.number(value) if wording else number(value)
    if isinstance(value, int) or value is NEGATIVE_INFINITY or has_symbols(value):
        return (Math(exact),)
    problem = told.report.question.problem
    rounded: Formula = decimal(decimal_text(value, max(4, problem.places if problem else 0)))
    return (Math(rounded if width(exact) > WIDEST_VALUE else Relation((exact, rounded), ("≈",))),)


# ------------------------------------------------------------------------------------------------ pieces


def _apart(items: Iterable[Inlines]) -> Inlines:
    """a · b · c."""
    return tuple(x for k, item in enumerate(items) for x in (*(Words(words.BETWEEN),) * bool(k), *item))


def _words_of(texts: Sequence[str]) -> list[Inlines]:
    return [_words(text) for text in texts]


def _words(text: str) -> Inlines:
    return (Words(text),)


def _table(header: Sequence[Inlines], rows: Sequence[Sequence[Inlines]], row_heads: bool = False) -> Table:
    return Table(tuple(header), tuple(map(tuple, rows)), row_heads)
