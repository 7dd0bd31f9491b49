"""Scripts on paper entered in a table: the same marks as typed in full, nothing taken in silence, errors in a sentence.

Full scripts are worked out by SymPy (`paper_class`); the marks of single statements are those of rules.md 3.4.
"""

import csv
import io
import json
import os
import pty
import re
import sys
import threading
from fractions import Fraction
from pathlib import Path

import numpy as np
import openpyxl
import paper_class
import pytest
from catalogue_sheets import ROWS, sheet, the
from commands import run
from exams import frozen
from hypothesis import given
from hypothesis import strategies as st
from scripts import drawn
from sentences import refused_saying
from tables import tables_beside

import symattn
from symattn.errors import InputError
from symattn.foundation.tables import harmless, read_table, table, typed_again
from symattn.marking.grading.by_exception import Entered, Level
from symattn.marking.grading.checking import mark_all
from symattn.marking.grading.entries import read_entries, write_table
from symattn.marking.grading.source import papers
from symattn.marking.marker.policy import POLICIES, Terms
from symattn.marking.submissions import read_submission
from symattn.marking.submissions.data import ABOUT, ENTERED

TERMS = Terms(POLICIES["ecf"])
TABLES = tables_beside(__file__)


def rows_of(table):
    """What is typed, and what is made or said of it."""
    return [tuple(row.values()) for row in TABLES[table]]


@pytest.fixture(scope="module")
def exam(tmp_path_factory):
    return paper_class.made_exam(tmp_path_factory.mktemp("exam"))


@pytest.fixture(scope="module")
def question(exam):
    known = papers(exam)
    return known.questions(known.entrants[0].sheet)[0]


def entered(questions, *statements):
    paper = Entered(questions)
    for statement in statements:
        paper.say(statement)
    return paper


def marked(paper):
    data = {"sheet": "here", "answers": paper.answers(), ABOUT: ENTERED}
    return mark_all(read_submission(json.dumps(data), paper.questions, form="json"), paper.questions, TERMS)


def boxes(paper, step):
    return paper.answers()["q1"]["answers"][step]


# ------------------------------------------------------------------------------------------------ a class


def same_marks(folder, exam, scripts):
    by_exception = symattn.grade(exam, entries=folder / "class.csv", jobs=1)
    in_full = symattn.grade(exam, folder / "submissions", jobs=1)
    for a, b in zip(by_exception.rows, in_full.rows, strict=True):
        assert (a.id, a.status, a.total, a.of) == (b.id, b.status, b.total, b.of)
        if a.has_marks:
            assert [r.points for r in a.results] == [r.points for r in b.results], scripts[a.id].differs
            assert [list(map(str, r.events)) for r in a.results] == [list(map(str, r.events)) for r in b.results]


def test_a_few_scripts_by_exception_get_the_marks_of_scripts_in_full(exam, tmp_path):
    scripts = paper_class.made_class(exam, tmp_path, 2)
    assert sum("S'=S" in one.differs for one in scripts.values()) == 1
    assert all(len(one.differs.split(";")) == 5 for one in scripts.values())
    same_marks(tmp_path, exam, scripts)


# ------------------------------------------------------------------------------------------------ statements


def test_what_is_not_said_is_as_in_the_key(question):
    paper = entered([question], "all right")
    assert marked(paper).right
    Q, K = (np.array(question.problem.givens[n].rows, dtype=float) for n in "QK")
    assert np.array_equal(np.array([[Fraction(x) for x in row] for row in boxes(paper, "S")], dtype=float), Q @ K.T)


@pytest.mark.parametrize(("statement", "step", "text"), rows_of("filled"))
def test_boxes_rows_and_matrices_are_named_as_people_name_them(question, statement, step, text):
    assert boxes(entered([question], statement), step)[0][1] == text


def test_a_copied_matrix_is_copied_with_its_mistakes(question):
    """Not scaled, as who has that misconception, whose later lines are those of S."""
    assert marked(entered([question], "C1")).total == marked(entered([question], "S'=S")).total
    paper = entered([question], "S'=S; S12=77")
    assert boxes(paper, "S'") == boxes(paper, "S")
    assert boxes(paper, "S'")[0][1] == "77"
    assert [e.candidates[0].id for r in marked(entered([question], "S'=S")).reports for e in r.events] == ["C1"]


def test_a_copy_of_a_matrix_of_another_shape_has_that_shape(question):
    paper = entered([question], "S'=S; S=[[1,2],[3,4]]")
    assert boxes(paper, "S'") == boxes(paper, "S") == [["1", "2"], ["3", "4"]]


def test_of_a_refused_statement_nothing_is_kept(question):
    paper = entered([question])
    with refused_saying("is 'x'"):
        paper.say("S=[[1,2,3],[4,x,6],[7,8,9]]")
    paper.say("S=[[9,2,3],[4,5,6],[7,8,9]]")
    assert boxes(paper, "S")[0][0] == "9"


def test_whole_parts_are_blank(question):
    full = {"S": 5, "S'": 2, "A": 4, "Z": 4}
    for step, worth in full.items():
        later = {"S": "S' A Z", "S'": "A Z", "A": "Z", "Z": ""}[step]
        paper = entered([question], f"blank: {step} {later}")
        assert marked(paper).total == 15 - worth - sum(full[name] for name in later.split())
    assert marked(entered([question], "blank")).total == 0


@pytest.mark.parametrize(("statement", "says"), rows_of("refused"))
def test_what_cannot_be_understood_is_said_in_one_sentence(question, statement, says):
    with refused_saying(f"^{re.escape(says)}"):
        entered([question], statement)


def test_from_ten_rows_on_digits_need_a_comma():
    Q = K = V = [[k % 2, k % 3 - 1] for k in range(12)]
    question = symattn.derive("attention", Q=Q, K=K, V=V).worksheet().question
    paper = Entered([question])
    with refused_saying(re.escape("S112 can be taken in several ways; S[1,12] or S[11,2]")):
        paper.say("S112=3")
    paper.say("S1,12=3; S[11,2]=4; S99=5; S[12]=-1 2 3 4 5 6 7 8 9 10 11 12")
    rows = boxes(paper, "S")
    assert (rows[0][11], rows[10][1], rows[8][8], rows[11][0]) == ("3", "4", "5", "-1")


def test_what_is_printed_cannot_be_entered():
    question = drawn(problem="faded")
    paper = Entered([question])
    place = next(p for p in paper.places if p.key is not None and 0 < len(p.boxes) < p.shape[0] * p.shape[1])
    rows, columns = place.shape
    printed = next((i, j) for i in range(rows) for j in range(columns) if (i, j) not in place.boxes)
    name = paper.box(place, *printed)
    for text in ("3", "blank"):
        with refused_saying("is printed on the paper; nothing is written there"):
            paper.say(f"{name} = {text}")
    i, j = place.boxes[0]
    paper.say(f"{place.name}[{i + 1}] = {' '.join('7' for row, _ in place.boxes if row == i)}")
    assert boxes(paper, place.part.name)[i][j] == "7"


def test_token_by_token_the_name_of_the_whole_means_every_token():
    question = drawn("self_attention", by="token")
    paper = entered([question], "blank: A")
    assert [name for name in paper.answers()["q1"]["answers"] if name.startswith("A.")] != []
    assert all(set(row) == {""} for k in (1, 2) for row in boxes(paper, f"A.{k}"))
    paper = entered([question], "S'=S; S12=7; A2: blank")
    assert boxes(paper, "S.1")[0][1] == boxes(paper, "S'.1")[0][1] == "7"
    assert boxes(paper, "S'.2") == boxes(paper, "S.2")
    assert set(boxes(paper, "A.2")[0]) == {""}


@pytest.fixture(scope="module")
def four_questions(question):
    """Q is asked for and has four rows; the third question has parts (a) to (i), and the last one parts (a) to (d)."""
    rows = np.eye(4, dtype=int).tolist()
    masked = symattn.derive("self_attention", X=rows, W_Q=rows, W_K=rows, W_V=rows).worksheet().question
    choices = (symattn.worksheet(problem="choice", seed=3, options={"items": n})[0].question for n in (9, 4))
    return (question, masked, *choices)


def lost(questions, *statements):
    """The marks that go, question by question."""
    return [report.available - report.total for report in marked(entered(questions, *statements)).reports]


def test_with_several_questions_a_number_is_the_question(four_questions):
    """Left blank it costs its own marks and no other's; the dash says the same as the word."""
    available = [report.available for report in marked(entered(four_questions, "all right")).reports]
    assert lost(four_questions, "blank: Q4") == [0, 0, 0, available[3]]
    blank = entered(four_questions, "blank: Q4").answers()
    for said in ("Q4=blank", "Q4 = -", "blank: q4."):
        assert entered(four_questions, said).answers() == blank, said
    assert lost(four_questions, "blank: Q3, Q4") == [0, 0, *available[2:]]
    assert lost(four_questions, "blank: Q1 Z Q4") == [4, 0, 0, available[3]]
    assert lost(four_questions, "blank; key: Q4") == [*available[:3], 0]
    right = min(four_questions[3].parts[0].answer.right)
    paper = entered(four_questions, f"Q1 S12=77; Q4 a={'ABCD'[right - 1]}")
    answers = paper.answers()
    assert answers["q1"]["answers"]["S"][0][1] == "77"
    assert answers["q4"]["answers"]["a"] == "ABCD"[right - 1]
    with refused_saying(r"there is no question 5; the paper has 4\."):
        paper.say("Q5 S12=1")


@pytest.mark.covering(most=2)
@pytest.mark.parametrize("name", ["Q2 Q4", "Q[4]", "Q(4)", "Q2 Q[4]", "q2 Q_4"])
def test_a_row_of_q_has_a_name_that_is_no_question(four_questions, name):
    paper = entered(four_questions, f"{name} = 7 8 9 6")
    assert paper.answers()["q2"]["answers"]["Q"][3] == ["7", "8", "9", "6"]
    assert paper.target(name) == paper.target("Q2 Q[4]")


@pytest.mark.parametrize(("statement", "says"), rows_of("of_four"))
def test_what_can_be_taken_in_two_ways_names_both(four_questions, statement, says):
    with refused_saying(f"^{re.escape(says)}"):
        entered(four_questions, statement)


def test_all_that_is_wrong_in_a_row_is_told(four_questions):
    with refused_saying(r"there is no box 'X';.* Q4 is question 4 and was given '3'"):
        entered(four_questions, "blank: X; Q4=3")


def test_printed_labels_are_names(four_questions):
    """(i) is the ninth part of the third question, and of no other."""
    [*spoken] = (
        entered(four_questions, f"{name}={said}").answers() for name in ("(i)", "i", "Q3(i)") for said in ("-", "blank")
    )
    assert all(answers == spoken[0] for answers in spoken)
    assert sum(found := lost(four_questions, "(i)=-")) == found[2] > 0
    named = [entered(four_questions).target(f"Q2 ({letter})").place.name for letter in "abcd"]
    assert named == [part.name for part in four_questions[1].parts[:4]]


def test_letters_that_cannot_be_typed_are_refused():
    with refused_saying("has letters in it that cannot be typed"):
        Entered([symattn.derive("note-002", symbolic=True).worksheet().question])


@pytest.mark.covering(most=3)
@the(*ROWS[::6])
def test_the_key_is_right_and_every_box_has_a_name_whatever_is_asked(row):
    question = sheet(row).question
    paper = entered([question], "all right")
    marking = marked(paper)
    assert marking.right
    assert not marking.submission.remarks
    assert marked(entered([question], "blank")).total == 0
    for place in paper.places:
        for i, j in place.boxes:
            target = paper.target(paper.box(place, i, j))
            assert target.place is place
            assert target.level is (Level.ANSWER if place.key is None else Level.BOX)
            assert place.key is None or (target.row, target.column) == (i, j)


# ------------------------------------------------------------------------------------------------ what follows


def test_what_would_follow_is_told_and_taken(question):
    paper = entered([question], "S12=77")
    assert [doubt.name for doubt in paper.doubts] == ["S'", "A", "Z"]
    [scaled] = paper.doubts[0].follows
    assert scaled.startswith("S'12 = 77")
    assert len(paper.doubts[1].follows) == len(paper.doubts[2].follows) == 1  # row 1 alone rests on it
    assert marked(paper).total == 14


@pytest.mark.parametrize("word", ["follows", "key", "blank"])
def test_what_was_decided_is_asked_no_more(question, word):
    paper = entered([question], "S12=77", f"{word}: S'")
    assert [doubt.name for doubt in paper.doubts] == ([] if word == "key" else ["A", "Z"])
    key = boxes(entered([question], "all right"), "S'")
    text = boxes(paper, "S'")[0][1]
    assert {"key": text == key[0][1], "blank": text == "", "follows": text not in ("", key[0][1])}[word]


def test_without_a_terminal_what_follows_is_taken_and_a_sheet_says_so(exam, tmp_path):
    (tmp_path / "class.csv").write_text("id;differs;\ns001;S12=77;Z31=99\ns002;all right\n", "utf-8")
    out = tmp_path / "marked"
    result = run("grade", exam, "--entries", tmp_path / "class.csv", "--out", out, "--format", "text")
    assert result.exit_code == 0
    assert "follows: Student 1 (s001): S'12 = 77" in result.output
    sheet = tmp_path / "class-to-fill.csv"
    assert f"edit the column “then” in {sheet}" in result.output
    head, first, second = read_table(sheet)
    assert head[-2:] == ["then", "would be"]
    assert (first[-2], second[-2]) == ("follows: S' A Z", "")
    assert first[-1].startswith("S'12 = 77")
    rows = list(csv.DictReader(io.StringIO((out / "gradebook.csv").read_text("utf-8-sig"))))
    assert [row["total"] for row in rows[:3]] == ["13", "15", ""]
    assert "What follows from the entries was assumed to be on the paper" in rows[0]["notices"]
    again = read_entries(sheet, papers(exam))
    assert (again.taken, again.sheet) == ((), None)
    assert sorted(path.name for path in tmp_path.glob("*.csv")) == ["class-to-fill.csv", "class.csv"]
    sheet.write_text(sheet.read_text("utf-8").replace("follows: S' A Z", "key: S' A; blank: Z"), "utf-8")
    run("grade", exam, "--entries", sheet, "--out", out, "--format", "text")
    rows = list(csv.DictReader(io.StringIO((out / "gradebook.csv").read_text("utf-8-sig"))))
    assert rows[0]["Q1 Output Z"] == "0"
    read_entries(tmp_path / "class.csv", papers(exam))
    assert (tmp_path / "class-to-fill-2.csv").exists()  # what was changed is not overwritten


def test_on_a_terminal_it_is_asked_and_the_answers_are_kept(exam, tmp_path):
    (tmp_path / "class.csv").write_text("id,differs\ns001,S12=77\ns002,S21=66\ns003,S11=55\n", "utf-8")
    asked = []

    def ask(question):
        asked.append((question.who, question.doubt.name, question.complaint))
        return iter_answers.pop(0)

    iter_answers = ["f", "A19=3", "A11=.5", "k", "", "k", "F"]
    entries = read_entries(tmp_path / "class.csv", papers(exam), ask=ask)
    assert [(who, name) for who, name, _ in asked] == [
        ("Student 1 (s001)", "S'"), ("Student 1 (s001)", "A"), ("Student 1 (s001)", "A"), ("Student 1 (s001)", "A"),
        ("Student 1 (s001)", "Z"), ("Student 2 (s002)", "S'"), ("Student 3 (s003)", "S'"),
    ]  # fmt: skip
    assert [complaint for *_, complaint in asked if complaint] == ["A has 3 rows and 3 columns; A19 is outside."]
    then = [row[2] for row in read_table(tmp_path / "class-answered.csv")]
    assert then == ["then", "follows: S'; A11=.5; key: A; follows: Z", "key: S'", "follows: S'; follows: A; follows: Z"]
    again = read_entries(entries.sheet, papers(exam), ask=lambda question: pytest.fail("asked again"))
    assert [one.file.read() for one in again.handed] == [one.file.read() for one in entries.handed]


@pytest.mark.slow
def test_the_dialogue_stands_on_a_terminal(exam, tmp_path):
    (tmp_path / "class.csv").write_text("id,differs\ns001,S12=77\n", "utf-8")
    command = [sys.executable, "-m", "symattn", "grade", str(exam), "--entries", str(tmp_path / "class.csv"), "--out",
               str(tmp_path / "marked"), "--format", "text"]  # fmt: skip
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["PYTHONPATH"] = str(Path(symattn.__file__).parent.parent)
        os.execv(command[0], command)
    os.write(terminal, b"f\nk\n")
    said = b""

    def read():
        nonlocal said
        try:
            while chunk := os.read(terminal, 4096):
                said += chunk
        except OSError:  # the other end is closed
            pass

    reader = threading.Thread(target=read)
    reader.start()
    _, status = os.waitpid(pid, 0)
    reader.join()
    assert os.waitstatus_to_exitcode(status) == 0
    text = said.decode()
    assert "Student 1 (s001): S12=77" in text
    assert "A on paper: [f]ollows, [k]ey, [b]lank, values" in text
    assert "Z on paper" not in text  # it rests on the weights, which are the key's
    assert (tmp_path / "class-answered.csv").exists()


# ------------------------------------------------------------------------------------------------ tables


@pytest.mark.covering(most=1)
@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_an_empty_table_is_written_filled_in_and_read_back(exam, tmp_path, kind):
    path = tmp_path / f"class.{kind}"
    result = run("grade", exam, "--table", path)
    assert result.output.startswith(f"{path}: 33 boxes.")
    rows = read_table(path)
    assert rows[0][:6] == ["name", "id", "paper", "rest", "S11", "S12"]
    assert rows[0][-1] == "Z32"
    assert len(rows) == 31
    rows = [[*row, *[""] * (len(rows[0]) - len(row))] for row in rows]
    rows[1][3] = "key"
    rows[2][3], rows[2][rows[0].index("Z11")] = "key", "77"
    rows[3][3], rows[3][rows[0].index("Z11")] = "blank", "-1/2"
    rows[4][5] = "77"
    path.write_bytes(table(path, rows))
    handed = read_entries(path, papers(exam)).handed
    assert [(one.name, one.complaint) for one in handed[:3]] == [(f"Student {k}", "") for k in (1, 2, 3)]
    assert handed[3].complaint == (
        "1 of 33 boxes are filled in; whether the rest is as in the key or blank must stand in the column “rest” (key "
        "or blank)."
    )
    assert [
        row.total if row.has_marks else row.status for row in symattn.grade(exam, entries=path, jobs=1).rows[:5]
    ] == [15, 14, 0, "broken", "missing"]
    with refused_saying("is there already, and nothing is overwritten"):
        write_table(path, papers(exam))


def test_a_spreadsheet_is_read_as_it_was_typed(exam, tmp_path):
    book = openpyxl.Workbook()
    sheet = book.active
    for row in (["id", "S11", "S12", "S13", "S'11", "rest"], ["s001", 0.1, "=1/2", 0.25, 7, "key"]):
        sheet.append(row)
    sheet["D2"].number_format = "0%"
    book.save(tmp_path / "class.xlsx")
    assert read_table(tmp_path / "class.xlsx")[1] == ["s001", "0.1", "1/2", "25%", "7", "key"]
    sheet["C2"] = __import__("datetime").datetime(2024, 2, 1)
    book.save(tmp_path / "class.xlsx")
    with refused_saying(r"class\.xlsx: C2 is a date \(01\.02\.2024\): the spreadsheet made one"):
        read_entries(tmp_path / "class.xlsx", papers(exam))


@given(st.lists(st.lists(st.text("S'=;[]-+1,2 @|", max_size=8), min_size=1, max_size=3), max_size=3))
def test_what_is_made_harmless_for_spreadsheets_is_read_back(rows):
    for cell in (" ".join(cell.split()) for row in rows for cell in row):
        if typed_again(cell) == cell:  # nobody typed the apostrophe
            assert typed_again(harmless(cell)) == cell


@pytest.mark.parametrize(("text", "says"), rows_of("table"))
def test_a_table_that_cannot_be_used_is_refused_in_one_sentence(exam, tmp_path, text, says):
    (tmp_path / "class.csv").write_text(text, "utf-8")
    result = run("grade", exam, "--entries", tmp_path / "class.csv", "--out", tmp_path / "marked")
    assert result.exit_code == 2
    assert says in result.output
    assert result.output.count("\n") == 1
    assert not (tmp_path / "marked").exists()


def test_every_row_that_is_nobodys_is_told_at_once(exam, tmp_path):
    rows = ["s0091,", "s001,", "S001,", ",Student X", *(f"x{k}," for k in range(9)), "s002,"]
    (tmp_path / "class.csv").write_text("\n".join(["id,name,differs", *(f"{row},S=-" for row in rows)]), "utf-8")
    with pytest.raises(InputError) as refused:
        read_entries(tmp_path / "class.csv", papers(exam))
    said = refused.value.said
    assert [int(row) for row in re.findall(r"\brow (\d+): ", said)] == [2, 4, 5, 6, 7, 8, 9, 10]
    assert said.endswith(" … and 4 more.")


def test_whose_a_row_is_may_be_typed_as_for_files(tmp_path):
    """In the letters a to z, in another order, in capitals or not; what fits two is refused, and both are named."""
    names = {"Jürgen Müller": "j1", "Łukasz Żółć": "l1", "Ada King Lovelace": "a1", "Alan Turing": "A1"}
    listed = [*names.items(), ("Li Wei", "w1"), ("Li Wei", "w2")]
    made = frozen(tmp_path, paper_class.EXAM.replace("variants = 3", "variants = 1"), listed)
    table = tmp_path / "entries.csv"
    rows = ["Juergen Mueller,", "LUKASZ ZOLC,", '"Lovelace, Ada King",', "Turing Alan,A1", "Li Wei,W2"]
    table.write_text("\n".join(["name,id,differs", *(f"{row},all right" for row in rows)]), "utf-8")
    assert [one.id for one in read_entries(table, papers(made)).handed] == ["j1", "l1", "a1", "A1", "w2"]
    table.write_text("name,id,differs\nLi Wei,,all right\nAlan Turing,a1,all right\n", "utf-8")
    with pytest.raises(
        InputError,
        match=r"row 2: the name 'Li Wei' may be that of Li Wei \(w1\) or Li Wei \(w2\);.* "
        r"row 3: the id a1 is that of Ada King Lovelace, and the name is Alan Turing",
    ):
        read_entries(table, papers(made))


PLATFORMS = {
    "Moodle": ("First name,Last name,ID number,Email address,differs", "Student,2,s002,s@x.example,S12=3"),
    "Canvas": ("Student,ID,SIS User ID,SIS Login ID,Section,differs", '"2, Student",77,s002,s,A,S12=3'),
    "Brightspace": ("OrgDefinedId,Username,Last Name,First Name,Email,differs", "s002,#s,2,Student,s@x.example,S12=3"),
    "Gradescope": ("First Name,Last Name,SID,Email,Sections,differs", "Student,2,s002,s@x.example,A,S12=3"),
    "in German": ("Vorname;Nachname;Matrikelnummer;differs", "Student;2;s002;S12=3"),
    "with our own numbers": ("number,name,differs", "1,Student 2,S12=3"),
}


@pytest.mark.parametrize("of", PLATFORMS)
def test_a_list_of_a_platform_with_a_column_more_is_a_table(exam, tmp_path, of):
    head, row = PLATFORMS[of]
    no_student = 'Points Possible,,,,,\n"Student, Test",,,,A,\n' if of == "Canvas" else ""
    table = tmp_path / "class.csv"
    table.write_text(f"{head}\n{no_student}{row}\n", "utf-8")
    [one] = read_entries(table, papers(exam)).handed
    assert (one.entrant.id, one.complaint) == ("s002", "")
    assert json.loads(one.file.read())["answers"]["q1"]["answers"]["S"][0][1] == "3"


def test_a_row_that_cannot_be_used_is_named_and_the_rest_is_marked(exam, tmp_path):
    (tmp_path / "class.csv").write_text(
        "name,id,differs\nStudent 1,,S19=3\nStudent 2,,all right\n,,S12=3\nStudent 4,,\n", "utf-8"
    )
    book = symattn.grade(exam, entries=tmp_path / "class.csv", jobs=1)
    assert [row.status for row in book.rows[:4]] == ["broken", "marked", "missing", "missing"]
    assert book.rows[0].reason == "column differs: S has 3 rows and 3 columns; S19 is outside."
    assert (book.rows[-1].status, book.rows[-1].reason) == ("broken", "it has no name and no id.")


def test_a_row_counts_before_a_file_and_that_is_said(exam, tmp_path):
    known = papers(exam)
    (tmp_path / "files").mkdir()
    for entrant in known.entrants[:2]:
        (tmp_path / f"files/{entrant.stem}.toml").write_text("S = [[1]]\n", "utf-8")
    (tmp_path / f"files/{known.entrants[0].stem}-again.toml").write_text("S = [[1]]\n", "utf-8")
    (tmp_path / "class.csv").write_text("id,differs\ns001,all right\n", "utf-8")
    book = symattn.grade(exam, tmp_path / "files", entries=tmp_path / "class.csv", jobs=1)
    assert (book.rows[0].total, book.rows[1].total) == (15, 0)
    stem = known.entrants[0].stem
    [told] = [said for said in book.rows[0].notices if said.startswith("It was entered")]
    assert {*told.removesuffix(".").partition(": ")[2].split(", ")} == {f"{stem}.toml", f"{stem}-again.toml"}
    assert [row.id for row in book.rows].count("s001") == 1


def test_another_paper_than_was_given_out_waits_for_somebody(exam, tmp_path):
    known = papers(exam)
    first = known.entrants[0]
    other = next(e.sheet for e in known.entrants if e.sheet != first.sheet)
    (tmp_path / "class.csv").write_text(f"id,paper,differs\ns001,{other},all right\ns002,ZZZZ,all right\n", "utf-8")
    book = symattn.grade(exam, entries=tmp_path / "class.csv", jobs=1)
    assert (book.rows[0].status, book.rows[0].total, book.rows[0].sheet) == ("pending", 15, other)
    assert book.rows[1].reason.startswith("Paper ZZZZ is not one of this exam's 3 papers")


def test_the_command_says_what_does_not_go_together(exam, tmp_path):
    assert "SUBMISSIONS, a folder or a zip, or --entries FILE was expected." in run("grade", exam).output
    assert "--table writes an empty table and marks nothing" in run("grade", exam, tmp_path, "--table", "x.csv").output
    assert "a file that ends in .csv or .xlsx was expected" in run("grade", exam, "--table", tmp_path / "x.ods").output
    (tmp_path / "x.xlsx").write_bytes(b"PK no")
    assert "cannot be read as a spreadsheet" in run("grade", exam, "--entries", tmp_path / "x.xlsx").output
