"""Reports as documents and as data: everything that was read and judged is there, and the key is not."""

import itertools
import json
import re
from collections import Counter
from dataclasses import replace
from functools import cache
from io import BytesIO
from random import Random
from xml.etree import ElementTree

import pytest
from pypdf import PdfReader
from scripts import drawn, key_of, key_script, marked, other_answer, other_results, script, spoilt, with_entry, without
from tables import tables_beside
from test_worked_cases import CASES

import symattn
from symattn.exact import decide
from symattn.exact.decide import Decision
from symattn.exact.reading import read
from symattn.formula.speech import speak
from symattn.marking.attempt import Attempt, Entry, Grid, Remark, Submission, Text, Ticked
from symattn.marking.marker import trace
from symattn.marking.marker.policy import POLICIES
from symattn.marking.marker.report import Given
from symattn.marking.reports import feedback_document, marking_document, report_json, words
from symattn.marking.reports.parts import places
from symattn.marking.reports.text import MOST_TOLD, ReportText
from symattn.marking.reports.worked import LONGEST, formula_of, short
from symattn.marking.submissions.entries import entry, grid
from symattn.page.document import Document, ItemList, Paragraph, Words, all_blocks
from symattn.page.presentation import make_look, presented
from symattn.page.writers import FORMATS, pdf
from symattn.page.writers.characters import on_one_line
from symattn.page.writers.common import visible
from symattn.teaching.problems import drawn_types, problem_types
from symattn.teaching.question import (
    CellsAnswer,
    ChoiceAnswer,
    Mark,
    Option,
    OrderAnswer,
    Part,
    ShapeAnswer,
)

DOCUMENTS = {"student": feedback_document, "teacher": marking_document}
NAMES = list(CASES)
TABLES = tables_beside(__file__)
HOSTILE = (
    r"\input{/etc/passwd} \end{document} $x^2$ % & # ~ {",
    '#read("x") *bold* _it_ = heading <label> @ref // comment',
    "<script>alert(1)</script> &amp; <!-- x -->",
    "[link](http://x) `code` | pipe | **b** # no",
)


def plain(document):
    """What the terminal shows, without white space and the edges of boxes."""
    return squeezed(FORMATS["text"].write(document)).replace("│", "")


def squeezed(words):
    return re.sub(r"\s+", "", words)


# ------------------------------------------------------------------------------------------------ scripts with mistakes


def question_of(problem, seed):
    return drawn("causal_self_attention" if problem == "full" else "", seed=seed, problem=problem)


@cache
def spoilt_report(problem, seed):
    question = question_of(problem, seed % 3)
    return marked(question, spoilt(question, Random(seed)))


every_type = pytest.mark.parametrize("problem", sorted(drawn_types()))


# ------------------------------------------------------------------------------------------------ every format


@pytest.mark.covering(most=1)
@pytest.mark.parametrize("problem", ["full", "choice", "design"])
def test_every_format_names_the_student_and_the_sheet(problem):
    report = spoilt_report(problem, 1)
    for make in DOCUMENTS.values():
        document = make([report, report], Submission("", (), "3f9a-0007", "Ada Lovelace", "1815"))
        assert squeezed(f"{report.total}/{report.available}") in plain(document)
        assert squeezed(f"{2 * report.total}/{2 * report.available}") in plain(document)
        assert b"pdfuaid:part" in pdf.write_pdf(document)  # text for every formula and every picture
        for writer in FORMATS.values():
            source = writer.write(document)
            assert "Ada Lovelace" in source
            assert "3f9a-0007" in source


# ------------------------------------------------------------------------------------------------ signs


SIGNS = {"correct": "✓", "follows": "✓ft", "implied": "✓imp.", "wrong": "✗", "missing": "–", "unreadable": "?"}


@pytest.mark.covering(most=4, rest=3)
@pytest.mark.parametrize("name", [name for name in NAMES if "by-token" not in name])
def test_every_entry_that_was_written_has_its_sign(name):
    """Signs counted in the formulas, against the verdicts of lines that were written."""
    report = CASES[name].report
    found = Counter(
        re.findall(r'<mtext class="sign">([^<]*)</mtext>', FORMATS["html"].write(feedback_document(report)))
    )
    counted = Counter()
    for part, said in report.attempt.answers.items():
        if isinstance(said, Grid) and not said.empty:
            for verdict in report.of(part).values():
                number = str((verdict.event or 0) + 1).translate(str.maketrans("123456789", "₁₂₃₄₅₆₇₈₉"))
                wrong = verdict.state == "wrong" and verdict.event is not None
                counted[SIGNS[verdict.state] + (number if wrong else "")] += 1
    left_out = [p for p in report.question.parts if p.name not in report.attempt.answers]
    for part in left_out:
        states = {verdict.state for verdict in report.of(part.name).values()}
        counted["✓imp." if states == {"implied"} else "–"] += 1
    assert found == counted


def test_signs_are_explained_once_and_read_out():
    source = FORMATS["html"].write(feedback_document([CASES["02-lost-sign"].report, CASES["10-blank-row"].report]))
    assert "color" not in source.partition("<body>")[2]
    assert source.count("<strong>✓ft</strong> right, given your own earlier lines") == 1
    assert source.count("<strong>✗</strong> wrong, with the number of the mistake") == 1
    label = next(x for x in re.findall(r'aria-label="([^"]*)"', source) if x.startswith("Q equals"))
    assert "2 wrong, mistake 1" in label
    assert "0 right" in label
    assert "not written down, but shown by a later line" in source
    assert speak(formula_of(read("1/2").tree)) == "1 over 2"


# ------------------------------------------------------------------------------------------------ what is said


@pytest.mark.parametrize(("name", "reader", "sentences"), TABLES["told"])
def test_what_a_case_is_told(name, reader, sentences):
    found = plain(DOCUMENTS[reader](CASES[name].report))
    assert [sentence for sentence in sentences if squeezed(sentence) not in found] == []
    assert squeezed("given your Q and K") not in found  # the sign at the entry says it


@pytest.mark.covering(most=1)
@pytest.mark.parametrize("seed", range(2))
def test_of_a_made_up_script_the_first_mistakes_are_told_once_and_that_there_are_more(seed):
    """Numbers that have nothing to do with the question."""
    q, rng = CASES["02-lost-sign"].question, Random(seed)
    numbers = {name: [[rng.randint(20, 99) for _ in row] for row in rows] for name, rows in key_of(q).items()}
    report = marked(q, script(q, numbers))
    student, teacher = plain(feedback_document(report)), plain(marking_document(report))
    told = {int(number) for number in re.findall(r"Mistake(\d+)", student)}
    assert told <= set(range(1, MOST_TOLD + 1))
    more = len(report.events) - MOST_TOLD
    says = "is one more mistake, which is" if more == 1 else f"are {more} more mistakes, which are"
    assert squeezed(f"There {says} marked above.") in student
    assert {int(number) for number in re.findall(r"Mistake(\d+)", teacher)} == {e.number + 1 for e in report.events}
    for mistake in ReportText(report, "student").mistakes:
        if mistake.says:
            assert student.count(f":{plain(Document('', (Paragraph(mistake.says),)))}") <= 1
    assert squeezed(words.AGAIN) not in teacher


def test_what_a_person_or_a_policy_leaves_open_is_told():
    question = question_of("prove", 1)
    report = marked(question, key_script(question))
    waiting = replace(report.attempt, answers={**report.attempt.answers, "a": Text("Because e^c cancels.")})
    found = plain(feedback_document(marked(question, waiting)))
    for told in ("3 marks are pending: a person has to read the answer first.", "?/3", "“Because e^c cancels.”"):
        assert squeezed(told) in found
    case = CASES["02-lost-sign"]
    found = plain(feedback_document(marked(case.question, Attempt(case.script), "formative")))
    assert squeezed("No marks: this is a diagnosis") in found
    assert "0/0" not in found


@pytest.mark.parametrize("reader", DOCUMENTS)
def test_a_question_left_empty_takes_one_line(reader):
    question = question_of("prove", 1)
    written, blank = marked(question, key_script(question)), marked(question, Attempt({}))
    *_, heading, last = DOCUMENTS[reader]([written, blank]).blocks
    assert (heading.marks, last) == (f"0/{question.marks}", Paragraph((Words(words.LEFT_EMPTY),)))
    unread = marked(question, Attempt({}, remarks=(Remark("", "What stands here is not clear."),)))
    for one in (written, unread):
        assert Paragraph((Words(words.LEFT_EMPTY),)) not in DOCUMENTS[reader]([one, written]).blocks


def test_lines_and_what_is_taken_off_add_up_to_the_total():
    for name, case in CASES.items():
        told = ReportText(case.report, "student")
        if marks := [text for _, text in told.marks()]:
            numbers = [int(text.partition("/")[0].replace("−", "-")) for text in marks if "?" not in text]
            other = sum(g.given for g in case.report.marks if case.report.question and told.of(g.parts[0]).step is None)
            assert max(0, sum(numbers) + other) == case.report.total, name
    misread = CASES["06-misread"].report
    assert [text for _, text in ReportText(misread, "student").marks()][-1] == "−1"


def test_of_an_answer_to_be_read_only_what_is_still_open_is_pending():
    """Two of five marks are given already."""
    report = replace(CASES["02-lost-sign"].report, marks=(Given(("Q",), "A", 2, 5, pending=True),))
    assert squeezed("2/5, 3 pending") in plain(feedback_document(report))


@pytest.mark.covering(most=4)
@pytest.mark.parametrize(
    ("left_out", "first_column_of_z", "empty"),
    [
        (("S", "S'"), False, 0),  # the weights show both
        (("S", "A", "Z"), False, 2),  # S' shows S
        (("S'", "A", "Z"), False, 3),
        (("V",), False, 0),
        (("V",), True, 1),  # the first column of Z shows that of V alone
        (("V", "A", "S'"), True, 3),
    ],
)
def test_empty_lines_are_counted_but_for_those_that_later_ones_show_whole(left_out, first_column_of_z, empty):
    """A line that is written in part is not empty; one of which a later line shows only a part is."""
    question = drawn("self_attention")
    attempt = without(key_script(question), *left_out)
    if first_column_of_z:
        for i in range(3):
            attempt = with_entry(attempt, "Z", i, 1, entry(""))
    told = plain(feedback_document(marked(question, attempt)))
    if empty:
        count = "Onelineis" if empty == 1 else f"{empty}linesare"
        assert f"Nothingthatwaswritteniswrong.{count}stillempty." in told
    else:
        assert "stillempty" not in told
        assert ("Everythingisright." in told) is not first_column_of_z


# ------------------------------------------------------------------------------------------------ places

SQUARE = list(itertools.product(range(3), repeat=2))


@pytest.mark.parametrize(
    ("chosen", "says"),
    [
        ([(0, 1)], "row 1, column 2"),
        (SQUARE[3:6], "row 2"),
        (SQUARE[2::3], "column 3"),
        ([*SQUARE[:3], *SQUARE[6:]], "rows 1 and 3"),
        (SQUARE, "every entry"),
        ([(0, 0), (1, 2)], "entries (1,\xa01) and (2,\xa03)"),
    ],
)
def test_places_say_which_entries_are_meant(chosen, says):
    assert places(chosen, SQUARE) == says


# ------------------------------------------------------------------------------------------------ nothing of the key


def blinded(report):
    """The same report with every right value replaced: what the key says, and what explanations say of it."""

    def said_of(event, candidate):
        answers = {part.name: part.answer for part in report.question.parts}
        tells = isinstance(answers.get(event.part), ShapeAnswer | OrderAnswer | CellsAnswer)
        tells |= candidate.kind in ("slip", "shape")
        own = candidate.kind == "misread" or event.part in report.own  # what was done in the student's own lines
        return replace(candidate, says="the key") if tells and not own else candidate

    def other(value):
        return value if value is None else 987654321

    verdicts = tuple(replace(v, right=other(v.right), compared=other(v.compared)) for v in report.verdicts)
    events = tuple(replace(e, candidates=tuple(said_of(e, c) for c in e.candidates)) for e in report.events)
    parts = tuple(replace(part, answer=other_answer(part.answer), key=()) for part in report.question.parts)
    question = replace(report.question, parts=parts, checks=tuple, diagnoses=tuple)
    if question.problem is not None:
        question = replace(
            question, problem=replace(question.problem, derivation=other_results(question.problem.derivation))
        )
    return replace(report, verdicts=verdicts, events=events, question=question)


@pytest.mark.covering(rest=2)
@pytest.mark.slow
@every_type
def test_a_student_is_told_the_same_whatever_the_key_is(problem):
    """Nothing that a student reads depends on a right value, other than by the verdicts and the student's own lines.

    Why an option is wrong is told by its own sentence, for which there is a law of its own.
    """
    reports = [spoilt_report(problem, seed) for seed in range(2)]
    for report in reports:
        bare = [
            replace(p, answer=replace(p.answer, options=tuple(replace(o, why=()) for o in p.answer.options)))
            if isinstance(p.answer, ChoiceAnswer) else p
            for p in report.question.parts
        ]  # fmt: skip
        report = replace(report, question=replace(report.question, parts=tuple(bare)))
        assert feedback_document(report) == feedback_document(blinded(report))
        assert marking_document(report) != marking_document(blinded(report))  # which has a key


# ------------------------------------------------------------------------------------------------ what was typed


@pytest.mark.covering(most=2)
@pytest.mark.parametrize("typed", [*HOSTILE, "x" * 500, "7" * 59 + " apples"])
def test_what_was_typed_comes_out_as_it_was_typed(typed):
    """As an entry, as a name, as a heading that belongs to nothing: cut, and otherwise verbatim."""
    question = question_of("full", 1)
    right = key_script(question)
    answers = {**right.answers, "Q": right.answers["Q"].put(0, 0, Entry(typed, complaint="It cannot be read."))}
    report = marked(question, replace(right, answers=answers, remarks=(Remark(typed, "It belongs to no part."),)))
    shown = squeezed(short(visible(typed)))
    assert len(shown) <= LONGEST + 1
    for make in DOCUMENTS.values():
        document = make(report, Submission("", (), "$1", typed[:60], "<b>1</b>"))
        assert plain(document).count(shown) >= 2
        tree = ElementTree.fromstring(FORMATS["html"].write(document))
        assert squeezed("".join(tree.itertext())).count(shown) >= 2
        assert tree.find(".//script") is None
        words = "".join(page.extract_text() for page in PdfReader(BytesIO(pdf.write_pdf(document))).pages)
        alike = str.maketrans("’‘”“", "''\"\"")
        if not typed.startswith(("x", "7")):
            assert re.sub(r"[\s-]", "", shown) in re.sub(r"[\s-]", "", words.translate(alike))


@pytest.mark.parametrize("typed", TABLES["drawn"])
def test_an_entry_is_drawn_as_what_it_means(typed):
    """The drawing, read again, is the same number; the reader of numbers is the witness."""
    reading = read(typed)
    drawn_again = on_one_line(formula_of(reading.tree))
    assert decide(read(drawn_again).value, reading.value).equal, drawn_again


# ------------------------------------------------------------------------------------------------ data


@pytest.mark.covering(most=3, product=False)
@every_type
@pytest.mark.parametrize("seed", [0, 1])
def test_numbers_in_json_read_back_exactly(problem, seed):
    report = spoilt_report(problem, seed)
    data = json.loads(json.dumps(report_json(report), ensure_ascii=False))
    assert len(data["verdicts"]) == len(report.verdicts)
    for written, verdict in zip(data["verdicts"], report.verdicts, strict=True):
        assert (written["row"], written["column"]) == (verdict.i + 1, verdict.j + 1)
        for key, value in (("key", verdict.right), ("compared", verdict.compared)):
            assert (written[key] is None) == (value is None)
            if value is not None:
                assert decide(read(written[key], symbols=True).value, value).equal
        own = written["written"]["value"]
        if own is not None:
            assert decide(read(own, symbols=True).value, verdict.written.value).equal


def test_options_are_called_by_their_letters_and_those_left_out_are_not_told():
    options = tuple(Option((Words(x),), right) for x, right in (("a", True), ("b", False), ("c", True), ("d", False)))
    part = Part("a", (Words("Part a"),), (), (), ChoiceAnswer(options, True), (Mark("A", 2),))
    question = replace(question_of("choice", 1), parts=(part,))
    report = marked(question, Attempt({"a": Ticked(frozenset({0, 1}))}))
    [student, teacher] = (plain(make(report)) for make in DOCUMENTS.values())
    assert "optionB" in student
    assert "optionC" not in student
    assert "row" not in student
    assert "optionC" in teacher


def test_parts_that_are_called_alike_are_told_apart_as_their_headings_are():
    [sheet] = symattn.worksheet("attention", problem="drills", options={"step": "scores"}, level="starter", seed=7)
    report = marked(sheet.question, Attempt({"b": grid([["99", "99"], ["99", "99"]])}))
    headings = FORMATS["text"].write(sheet.worksheet)
    assert "2. Scores S" in headings
    for make in DOCUMENTS.values():
        alone, on_paper = plain(make(report)), plain(make(report, of_exam=True))
        assert "ScoresS(2)" in alone
        assert "S(1)S(2)S(3)" in alone
        assert "ScoresS(b)" in on_paper
        assert "(2)" not in on_paper


def typed(attempt):
    """The matrices of an attempt as somebody types them into a file."""
    return {
        part: [[entry.text for entry in row] for row in said.rows]
        for part, said in attempt.answers.items()
        if isinstance(said, Grid)
    }


def remarks_of(document):
    """Everything that is said of a line, of a mistake or of the file, each as one text in the document's language."""
    items = [item for block in all_blocks(document.blocks) if isinstance(block, ItemList) for item in block.items]
    pages = (presented(replace(document, blocks=(Paragraph(item),), title="", subtitle="")) for item in items)
    return [" ".join(FORMATS["text"].write(page).split()) for page in pages]


SAID_ABOUT = ("causal_self_attention", "layer_norm", "online_softmax")


@pytest.mark.covering(most=3, product=False)
@pytest.mark.parametrize("language", ["en", "de", "zh"])
@pytest.mark.parametrize("problem", [*SAID_ABOUT, "choice", "design", "find-error", "masks"])
def test_no_sentence_stands_twice_in_what_is_said_of_one_thing(problem, language):
    question = question_of(problem, 1) if problem in problem_types() else drawn(problem)
    answers = typed(spoilt(question, Random(0))) or typed(spoilt(question, Random(1)))
    if not answers:
        return
    marking = symattn.check(question, answers)
    for reader in DOCUMENTS:
        document = marking.document(reader)
        said = remarks_of(replace(document, look=replace(document.look, language=language)))
        for remark in said:
            sentences = [x for x in re.split(r"(?<=[.。]) ?(?!\d)", remark.split(": ", 1)[-1]) if len(x) > 12]
            assert len(set(sentences)) == len(sentences), remark
        assert len(set(said)) == len(said)


@pytest.mark.parametrize("rows", [[["1/2e", "0", "2"], ["2", "2", "1/2e"], ["2", "1", "3"]], [["1", "1/2e"]]])
@pytest.mark.parametrize("reader", DOCUMENTS)
def test_an_entry_that_cannot_be_read_is_told_once_with_its_place(reader, rows):
    complaint = entry("1/2e").complaint
    said = remarks_of(symattn.check(symattn.derive("note-000"), {"Q": rows}).document(reader))
    [told] = [remark for remark in said if complaint in remark]
    assert told.startswith("Queries Q: ")
    assert told.count(complaint) == 1
    for i, row in enumerate(rows, 1):
        for j, written in enumerate(row, 1):
            assert (f"({i}, {j})" in told) == (written == "1/2e")


def test_what_is_equal_to_many_digits_and_not_proved_is_for_a_person(monkeypatch):
    """Such numbers are rare: here nothing that is equal can be proved to be."""

    def unproved(a, b):
        return Decision(None, "undecided", 400) if decide(a, b).equal else decide(a, b)

    given = CASES["01-note-002"]
    proved = marked(given.question, Attempt(given.script), POLICIES["strict"])
    monkeypatch.setattr(trace, "decide", unproved)
    report = marked(given.question, Attempt(given.script), POLICIES["strict"])
    told = [notice for notice in report.notices if notice.kind == "human"]
    assert [notice for notice in proved.notices if notice.kind == "human"] == []
    assert len(told) == sum(v.proof == "equal to 400 digits, not proved" for v in report.verdicts) > 3
    assert told[0].says == "Entry (1, 1) is equal to 400 digits, not proved."
    assert report.total == proved.total


@pytest.mark.parametrize(
    ("language", "said"), [("de", "nicht definiert"), ("fr", "non défini"), ("es", "no definido"), ("zh", "无定义")]
)
def test_what_is_not_defined_is_said_in_the_language_of_the_page(language, said):
    """Whatever the language that it was written in."""
    one = drawn(problem="shapes", seed=7)
    written = {part.name: "not defined" for part in one.parts if isinstance(part.answer, ShapeAnswer)}
    reports = symattn.check(one, written).reports
    for page in (feedback_document(reports), marking_document(reports)):
        shown = plain(presented(replace(page, look=make_look(language=language))))
        assert "notdefined" not in shown
        assert squeezed(said) in shown
