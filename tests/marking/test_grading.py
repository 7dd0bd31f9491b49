"""A class graded: everybody is in the gradebook, totals are those that planted mistakes must cost, and nothing is lost.

What the answers are is worked out here by SymPy from the givens; what a mistake costs, by rules.md 3.4 and 3.10.
"""

import csv
import io
import json
import re
import shutil
import signal
import statistics
import subprocess
import zipfile
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
import sympy
from commands import contents, here, run, started
from exams import frozen
from filling import fill
from sentences import refused_saying
from waiting import until

import symattn
from symattn.foundation.files import LOCK
from symattn.marking.attempt import Attempt, Doubt, Text
from symattn.marking.grading import run as run_module
from symattn.marking.grading.handed_in import Handed
from symattn.marking.grading.record import TABLES, line_name, settled
from symattn.marking.grading.source import papers
from symattn.marking.grading.unpacking import File
from symattn.marking.marker import mark
from symattn.marking.marker.policy import POLICIES, Terms
from symattn.marking.submissions import grid
from symattn.page.document import DEFAULT_LOOK
from symattn.teaching.exam.frozen_exam import copies, thawed
from symattn.teaching.exam.papers import paper
from symattn.teaching.rendering import render

ROOT = Path(symattn.__file__).parent.parent
EXAM = """
title = "Midterm"
variants = {variants}
class = "class.csv"
seats_per_row = 4

[[question]]
type = "full"
mechanism = "attention"
level = "starter"
scale = "sqrt(d_k)"
{more}
"""
RUBRIC = '[[question]]\ntype = "prove"\n'
NAMES = ["=HYPERLINK(1)", "Łukasz Żółć", '"quoted", and more', "-1+1", "@here", "O'Brien"]
PICTURE = b"\x89PNG\r\n\x1a\n\x00\x01\x02\xff"


# ------------------------------------------------------------------------------------------------ answers by SymPy


def worked(question, kind):
    """Someone's script: the steps of scaled dot-product attention with one mistake, and right after it."""
    Q, K, V = (
        sympy.Matrix([[sympy.Rational(str(x)) for x in row] for row in question.problem.givens[n].rows]) for n in "QKV"
    )
    S = Q * K.T
    if kind == "slip":
        S[0, 0] += 1
    scaled = S if kind == "not scaled" else S / sympy.sqrt(Q.cols)
    powers = scaled.applyfunc(sympy.exp)
    rows, columns = powers.shape
    A = sympy.Matrix(rows, columns, lambda i, j: powers[i, j] / sum(powers[i, :]))
    Z = A.T * V if kind == "transposed weights" else A * V
    steps = {"S": S, "S'": scaled, "A": A} | ({"Z": Z} if kind != "no output" else {})
    return {name: [[str(x).replace("E", "e") for x in m.row(i)] for i in range(m.rows)] for name, m in steps.items()}


WORTH = {"right": 15, "slip": 14, "not scaled": 13, "transposed weights": 11, "no output": 11, "blank": 0}
"""Of 15: S M2 A3, S' M1 A1, A M1 A3, Z M1 A3.  A slip costs one A; a wrong method at one step its M and A; what
follows is right, and what is missing costs its own marks."""


def script(exam, entrant, kind):
    """A TOML file; of more than one question, the first is answered alone."""
    questions = exam.questions(entrant.sheet)
    lines = [f'sheet = "{entrant.sheet}"', f"name = {json.dumps(entrant.name)}", f'student = "{entrant.id}"']
    lines.append("[answers]" if len(questions) == 1 else "[answers.q1]")
    if kind != "blank":
        lines += [f"{json.dumps(name)} = {json.dumps(rows)}" for name, rows in worked(questions[0], kind).items()]
    return "\n".join(lines) + "\n"


def made_exam(folder, students, variants, more="", head=""):
    names = [*NAMES, *(f"Student {k}" for k in range(len(NAMES) + 1, students + 1))]
    listed = [(name, f"s{k:03}") for k, name in enumerate(names[:students], 1)]
    return frozen(folder, head + EXAM.format(variants=variants, more=more), listed)


KINDS = ["right", "slip", "not scaled", "transposed weights", "no output", "blank"]
BROKEN = {
    "007-s007.png": PICTURE,
    "008-s008.pdf": b"%PDF-1.7\n\xff\xff",
    "009-s009.toml": b"",
    "010-s010.toml": b"[answers]\nS = [[1, 2\n",
    "011-s011.json": b'{"answers": {"S": [[1',
    "012-s012.toml": b"a." * 5_000 + b"a = 1\n",
    "013-s013.ipynb": b"[" * 20_000,
    "014-s014.md": b"\xff\xfe\xff",
    "015-s015.csv": b"x" * 2_000_001,
}
NOBODYS = {"s999.toml": b'student = "s999"\n[answers]\nS = [[1]]\n'}
STUDENTS = len(KINDS) + len(BROKEN) + 1
"""The last hands in nothing."""


@pytest.fixture(scope="module")
def exam(tmp_path_factory):
    return made_exam(tmp_path_factory.mktemp("exam"), STUDENTS, 3)


@pytest.fixture(scope="module")
def with_a_proof(tmp_path_factory):
    """An exam with a second question, whose answers are read by a person."""
    return made_exam(tmp_path_factory.mktemp("proof"), 4, 2, RUBRIC)


@pytest.fixture(scope="module")
def submissions(exam, tmp_path_factory):
    folder = tmp_path_factory.mktemp("submissions")
    known = papers(exam)
    for entrant, kind in zip(known.entrants, KINDS, strict=False):
        (folder / f"{entrant.stem}.toml").write_text(script(known, entrant, kind), "utf-8")
    for name, content in {**BROKEN, **NOBODYS}.items():
        (folder / name).write_bytes(content)
    return folder


@pytest.fixture
def few(submissions, tmp_path):
    """The files of the first three students."""
    (tmp_path / "few").mkdir()
    for path in sorted(submissions.iterdir())[:3]:
        shutil.copy(path, tmp_path / "few")
    return tmp_path / "few"


@pytest.fixture(scope="module")
def graded(exam, submissions, tmp_path_factory):
    """The class marked once by the command: the folder, and what was printed."""
    out = tmp_path_factory.mktemp("graded") / "marked"
    result = run("grade", exam, submissions, "--out", out, "--format", "text,markdown", "--for", "both")
    assert result.exit_code == 0, result.output
    return out, result.output


BOTH = {"forms": ("text", "markdown"), "readers": ("student", "teacher")}
"""As `graded` was."""


def table(out, name="gradebook"):
    return list(csv.DictReader(io.StringIO((out / f"{name}.csv").read_bytes().decode("utf-8-sig"), newline="")))


# ------------------------------------------------------------------------------------------------ a class


def test_everybody_is_in_the_gradebook_in_the_order_of_the_class_list(graded):
    *rows, nobodys = table(graded[0])
    assert [row["number"] for row in rows] == [str(k) for k in range(1, STUDENTS + 1)]
    assert [row["id"] for row in rows] == [f"s{k:03}" for k in range(1, STUDENTS + 1)]
    assert [row["status"] for row in rows] == ["marked"] * len(KINDS) + ["broken"] * len(BROKEN) + ["missing"]
    assert (nobodys["file"], nobodys["status"]) == ("s999.toml", "pending")


CALLED = {"S": "Scores", "S'": "Scaled scores", "A": "Weights", "Z": "Output"}


def test_totals_are_what_the_mistakes_must_cost_and_are_lost_at_their_step_alone(graded):
    full = {"S": 5, "S'": 2, "A": 4, "Z": 4}
    cost = {"slip": {"S": 4}, "not scaled": {"S'": 0}, "transposed weights": {"Z": 0}, "no output": {"Z": 0},
            "right": {}, "blank": dict.fromkeys(full, 0)}  # fmt: skip
    rows = table(graded[0])
    for row, kind in zip(rows, KINDS, strict=False):
        assert (int(row["total"]), row["of"]) == (WORTH[kind], "15")
        assert Fraction(row["percent"]) == round(Fraction(100 * WORTH[kind], 15), 1)
        assert sum(int(row[code]) for code in "MA") == int(row["total"]) == int(row["Q1"])
        assert {step: int(row[f"Q1 {CALLED[step]} {step}"]) for step in full} == full | cost[kind], kind
    events = {kind: row["events"] for row, kind in zip(rows, KINDS, strict=False)}
    assert "C1" in events["not scaled"]
    assert events["transposed weights"].startswith("Z:")
    assert events["slip"].startswith("S:")
    assert (events["right"], events["blank"]) == ("", "")


def test_the_table_has_a_line_for_each_student_and_no_verdict_that_the_answers_say(graded):
    """Nothing is lost but what is right or was left out; a class of two thousand fits into ten million characters."""
    text = (graded[0] / "marks.json").read_text("utf-8")
    rows = dict(zip(KINDS, json.loads(text)["rows"], strict=False))
    own = {kind: [verdict for result in row["results"] for verdict in result["verdicts"]]
           for kind, row in rows.items()}  # fmt: skip
    assert (own["right"], own["blank"]) == ([], [])
    part, state = (TABLES["verdicts"].index(head) for head in ("part", "state"))
    assert {(verdict[part], verdict[state]) for verdict in own["not scaled"]} == {("S'", "wrong")}
    lines = [line for line in text.splitlines() if line.startswith('  {"number"')]
    assert len(lines) == STUDENTS + len(NOBODYS)
    assert len(lines[KINDS.index("right")]) < 2_500


def test_the_file_is_csv_as_rfc_4180_wants_it_and_no_cell_is_a_formula(graded):
    data = (graded[0] / "gradebook.csv").read_bytes()
    assert data.count(b"\n") == data.count(b"\r\n") == STUDENTS + 2
    assert data.startswith(b"\xef\xbb\xbf")  # Excel reads no UTF-8 without
    rows = list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), strict=True))
    assert {len(row) for row in rows} == {len(rows[0])}
    assert not any(cell.startswith(("=", "+", "-", "@", "\t")) for row in rows for cell in row)
    assert [row["name"].removeprefix("'") for row in table(graded[0])[: len(NAMES)]] == NAMES


def test_what_cannot_be_marked_is_named_with_the_reason(graded):
    out, printed = graded
    named = dict(re.findall(r"^(?:broken|pending): (?:.+ \(s\d+\): )?(\S+): (.+)$", printed, re.MULTILINE))
    assert set(named) == {*BROKEN, *NOBODYS}
    assert all(reason.endswith(".") for reason in named.values()), named
    assert "picture" in named["007-s007.png"]
    for row in table(out)[len(KINDS) : -2]:
        assert (row["total"], row["notices"]) == ("", named[row["file"]])
    assert f"\n{out}: 6 marked, 1 pending, 9 broken, 1 missing; " in printed


def test_everybody_with_marks_has_a_sheet_for_either_reader(graded):
    out, _ = graded
    mistaken = [k for k, kind in enumerate(KINDS, 1) if kind in ("slip", "not scaled", "transposed weights")]
    expected = {
        f"{folder}/{k:03}-s{k:03}{end}"
        for folders, numbers in (
            (("feedback", "marked"), range(1, len(KINDS) + 1)),
            (("exercises", "solutions"), mistaken),
        )
        for folder in folders
        for k in numbers
        for end in (".txt", ".md")
    }
    assert {name for name in contents(out) if "/" in name and not name.startswith(".")} == expected
    assert "s002" in (out / "feedback/002-s002.txt").read_text("utf-8")


def test_the_summary_has_the_figures(graded, exam):
    text = (graded[0] / "summary.txt").read_text("utf-8")
    totals = [WORTH[kind] for kind in KINDS]
    for figure in (statistics.mean(totals), statistics.median(totals), statistics.stdev(totals)):
        assert f"{figure:.2f}" in text
    assert re.search(r"S′\s+8/12\s+67%", text)  # two of six without S': not scaled, blank
    assert re.search(r"not scaled \(C1\)\s+Scaled scores S′\s+1\s+17%\s+1", text)
    assert "Missing: 1" in text
    assert all(name in text for name in (*BROKEN, *NOBODYS))
    by_paper = {}
    for entrant, total in zip(papers(exam).entrants, totals, strict=False):
        by_paper.setdefault(entrant.sheet, []).append(total)
    assert len(by_paper) == 3
    for sheet, own in by_paper.items():
        assert re.search(rf"{sheet}( \*)?\s+{len(own)}\s+{statistics.mean(own):.2f}\s", text), sheet


@pytest.mark.slow
def test_pages_about_an_exam_are_in_its_language(tmp_path):
    """Unless another one is asked for; a picture's reason, remarks with places in them and the counts are, too."""
    exam = made_exam(tmp_path, 2, 1, head='language = "de"\n')
    (tmp_path / "in").mkdir()
    (tmp_path / "in/001-s001.png").write_bytes(PICTURE)
    known, given = papers(exam), tmp_path / "in/002-s002.toml"
    unknown = "\n[answers.q1]\nnonsense = 3\n"
    given.write_text(script(known, known.entrants[1], "blank") + unknown, "utf-8")
    german = ("Übersicht über die Klasse", "1 offen; 1 nicht lesbar", "ein Bild", "'nonsense' ist kein Teil")
    english = ("Summary of the class", "1 pending; 1 broken", "a picture", "'nonsense' is not a part")
    for more, said, feedback in (([], german, "Rückmeldung"), (["--language", "en"], english, "Feedback")):
        run("grade", exam, tmp_path / "in", "--format", "markdown", "-q", "--out", tmp_path / feedback, *more)
        summary = (tmp_path / feedback / "summary.md").read_text("utf-8")
        assert all(text in summary for text in said), summary
        assert run("check", exam, given, *more).output.startswith(feedback)
    assert symattn.check(exam, given).text().startswith("Rückmeldung")


def test_a_file_that_is_nobodys_is_pending_and_named(exam, tmp_path):
    """It has no marks, and a page on what is left to do; where that is asked for, the exit code says so."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in/homework 2.toml").write_text("[answers]\nS = [[1]]\n", "utf-8")
    words = ["grade", exam, tmp_path / "in", "--out", tmp_path / "out", "--format", "text", "--exit-code"]
    result = run(*words)
    assert result.exit_code == 1
    assert result.output.startswith("pending: homework 2.toml: It is not clear whose it is: ")
    assert f"\n{tmp_path / 'out'}: 1 pending, {STUDENTS} missing; " in result.output
    last = table(tmp_path / "out")[-1]
    assert (last["file"], last["status"], last["total"], last["of"]) == ("homework 2.toml", "pending", "", "")
    summary = " ".join((tmp_path / "out/summary.txt").read_text("utf-8").split())
    assert "Not marked: 1" in summary
    assert "homework 2.toml: It is not clear whose it is" in summary
    assert not (tmp_path / "out/feedback").exists()
    (tmp_path / "in/homework 2.toml").unlink()
    (tmp_path / "in/001-s001.toml").write_text(script(papers(exam), papers(exam).entrants[0], "blank"), "utf-8")
    assert run(*words).exit_code == 0


def test_answers_that_belong_to_no_question_go_to_a_person_with_the_reason(with_a_proof, tmp_path):
    [one, *_] = papers(with_a_proof).entrants
    (tmp_path / "in").mkdir()
    (tmp_path / f"in/{one.stem}.toml").write_text('name = "A"\n[answers]\nS = [[1, 2]]\n', "utf-8")
    first, *_ = symattn.grade(with_a_proof, tmp_path / "in").rows
    says = "It is not clear which question 'S' belongs to; write [answers.q1], [answers.q2] and so on."
    assert (first.status, first.reason) == ("pending", says)
    assert not any(says in notice for notice in first.notices)  # it is said once


# ------------------------------------------------------------------------------------------------ runs


@pytest.mark.slow
def test_the_same_bytes_from_processes_and_from_a_zip(graded, exam, submissions, tmp_path, processes):
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for path in submissions.iterdir():
            archive.write(path, path.name)
    options = ["--format", "text,markdown", "--for", "both", "--jobs", 2, "--quiet"]
    result = run("grade", exam / "exam.json", tmp_path / "all.zip", "--out", tmp_path / "o", *options)
    assert (result.exit_code, result.output) == (0, "")
    assert contents(tmp_path / "o") == contents(graded[0])


def test_again_marks_nothing_and_changes_nothing(exam, few, tmp_path, monkeypatch):
    out = tmp_path / "marked"
    symattn.grade(exam, few, out=out, **BOTH)
    before = contents(out)
    monkeypatch.setattr(run_module, "MARKED", "no such job")
    assert symattn.grade(exam, few, out=out, **BOTH).changes == ()
    assert contents(out) == before


def test_only_what_is_new_is_marked_and_what_is_gone_goes(graded, exam, submissions, tmp_path):
    out = shutil.copytree(graded[0], tmp_path / "marked")
    mine = shutil.copytree(submissions, tmp_path / "submissions")
    known = papers(exam)
    (mine / "002-s002.toml").write_text(script(known, known.entrants[1], "right"), "utf-8")  # a better one
    (mine / "003-s003.toml").unlink()
    (mine / "007-s007.toml").write_text(script(known, known.entrants[6], "right"), "utf-8")
    untouched = {name: (out / name).stat().st_mtime_ns for name in ("feedback/001-s001.txt", ".marks/001-s001.json")}
    book = symattn.grade(exam, mine, out=out, **BOTH)
    assert {name: (out / name).stat().st_mtime_ns for name in untouched} == untouched
    assert [row.status for row in book.rows[:8]] == ["marked"] * 2 + ["missing"] + ["marked"] * 4 + ["broken"]
    assert not (out / "feedback/003-s003.txt").exists()
    assert not (out / ".marks/003-s003.json").exists()
    assert "2 files were handed in" in table(out)[6]["notices"]
    changes = table(out, "changes")
    assert [(c["run"], c["student"], c["old total"], c["new total"], c["why"]) for c in changes] == [
        ("2", "s002", "14", "15", "another file"),
        ("2", "s003", "13", "", "no file any more"),
    ]
    assert "→" in changes[0]["what"]


def test_feedback_is_written_in_formats_of_its_own_or_not_at_all(exam, few, tmp_path):
    out = tmp_path / "marked"

    def graded(**how):
        rows = symattn.grade(exam, few, out=out, forms=("text",), **how).rows
        return rows, {path.suffix for path in out.glob("*/*.*") if path.parent.name != ".marks"}

    rows, ends = graded(feedback=())
    assert (out / "summary.txt").is_file()
    assert not ends
    assert graded(feedback="html") == (rows, {".html"})
    assert not (out / "summary.html").exists()
    assert graded() == (rows, {".txt"})
    assert graded(feedback=()) == (rows, set())
    with refused_saying("There is no format 'htm1'; did you mean html"):
        graded(feedback="htm1")


def test_another_policy_keeps_a_record_of_what_changed(exam, few, tmp_path):
    out = tmp_path / "marked"
    symattn.grade(exam, few, out=out, **BOTH)
    strict = symattn.grade(exam, few, out=out, forms=("text",), policy="strict")
    totals = {row.id: row.total for row in strict.rows if row.has_marks}
    old = {f"s{k:03}": WORTH[kind] for k, kind in enumerate(KINDS[:3], 1)}
    assert all(totals[id] <= old[id] for id in old)
    assert totals["s003"] < old["s003"]  # nothing follows any more
    differs = [id for id in old if old[id] != totals[id]]
    assert not (out / "feedback/001-s001.md").exists()  # what was told under the other policy holds no more
    symattn.grade(exam, few, out=out, forms=("text",))
    found = [
        (c["run"], c["student"], int(c["old total"]), int(c["new total"]), c["new policy"], c["why"])
        for c in table(out, "changes")
    ]
    why = "another policy"
    assert found == [
        *(("2", id, old[id], totals[id], "strict", why) for id in differs),
        *(("3", id, totals[id], old[id], "ecf", why) for id in differs),
    ]
    runs = json.loads((out / "marks.json").read_bytes())["runs"]
    assert [(run["run"], run["policy"]) for run in runs] == [(1, "ecf"), (2, "strict"), (3, "ecf")]


@pytest.mark.slow
def test_a_run_that_was_killed_goes_on_and_leaves_the_same_bytes(graded, exam, submissions, tmp_path):
    out = tmp_path / "marked"
    words = ("grade", exam, submissions, "--out", out, "--jobs", 1, "--format", "text,markdown", "--for", "both")
    process = started("-m", "symattn", *words, stdout=subprocess.DEVNULL)
    until(lambda: list(out.glob(".marks/*.json")) or process.poll() is not None)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    assert not (out / "gradebook.csv").exists()
    kept = {p: p.read_bytes() for p in out.glob(".marks/*.json")}
    assert kept
    (out / ".marks/unfinished-x").mkdir()
    (out / ".marks/unfinished-x/feedback-x").write_bytes(b"half")
    (out / ".marks/001-s001.json").write_bytes(b'{"half')  # as if the disk had lost its end
    assert run(*words).exit_code == 0
    assert contents(out) == contents(graded[0])


def test_sheets_of_other_terms_that_a_killed_run_left_are_not_taken_for_those_of_these_terms(
    exam, few, tmp_path, monkeypatch
):
    """Marked by one policy, then killed in the middle of another: the first policy's rows must have its sheets."""
    options = {"out": tmp_path / "o", "forms": ("text",)}
    symattn.grade(exam, few, **options)
    before = contents(tmp_path / "o")

    def killed(self, name, content):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(run_module.MarkedFolder, "put", killed)
        with pytest.raises(KeyboardInterrupt):
            symattn.grade(exam, few, policy="strict", **options)
    assert contents(tmp_path / "o") != before  # a sheet of the other policy is there
    symattn.grade(exam, few, **options)
    assert contents(tmp_path / "o") == before


def test_while_a_class_is_graded_the_folder_is_its_own(exam, few, tmp_path, monkeypatch):
    taken = []

    def answered(*given):
        taken.append((tmp_path / "o" / LOCK).exists())
        raise KeyError

    monkeypatch.setattr(run_module, "row_of", answered)
    with pytest.raises(KeyError):
        symattn.grade(exam, few, out=tmp_path / "o", forms=("text",))
    assert taken == [True]
    assert not (tmp_path / "o" / LOCK).exists()


def test_after_an_interruption_the_same_command_continues_and_says_so(exam, few, tmp_path, monkeypatch):
    def interrupted(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(run_module, "row_of", interrupted)
    result = run("grade", exam, few, "--out", tmp_path / "o")
    assert result.exit_code == 130
    assert "Interrupted. The same command continues: what has been marked is kept." in result.output


@pytest.mark.slow
def test_a_submission_that_cannot_be_marked_in_time_is_broken_and_the_rest_is_marked(
    exam, few, tmp_path, processes, monkeypatch
):
    """A worker that hangs on one submission, crashes on another and meets a defect on a third."""
    with monkeypatch.context() as patch:
        patch.setattr(run_module, "MARKED", "odd_jobs:faulty")
        book = symattn.grade(exam, few, out=tmp_path / "o", forms=("text",), time_limit=1, jobs=1)
    first, second, third, *_ = book.rows
    assert [row.status for row in book.rows[:3]] == ["broken"] * 3
    assert first.reason == "Marking it took more than 1 s of processor time and was stopped."
    assert second.reason.startswith("Marking it ended its process with code")
    assert third.reason == "symattn cannot mark it, which is a defect of symattn: KeyError: 'no such thing'"
    monkeypatch.setattr(run_module, "crew", here)
    mended = symattn.grade(exam, few, out=tmp_path / "o", forms=("text",))  # none of it is kept
    assert [row.total for row in mended.rows[:3]] == [WORTH[kind] for kind in KINDS[:3]]
    assert mended.changes == ()


def test_a_file_that_is_nobodys_is_told_beside_whoever_it_may_be_from(exam, tmp_path):
    """Of those who handed in what waits, it is not said that they handed in nothing."""
    path = "s001/s002.toml"
    (tmp_path / path).parent.mkdir()
    (tmp_path / path).write_text("[answers]\n", "utf-8")
    book = symattn.grade(exam, tmp_path)
    assert [row.file for row in book.rows if row.status != "missing"] == [path]
    perhaps = (f"Perhaps from this student: {path}.",)
    assert [row.notices for row in book.rows[:3]] == [perhaps, perhaps, ()]
    said = " ".join(str(book).split())
    assert said.count(*perhaps) == 2
    assert "nothing was handed in that is clearly theirs" in said


# ------------------------------------------------------------------------------------------------ ways of grading


def test_in_python_without_a_folder_nothing_is_written(exam, few, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = contents(tmp_path)
    book = symattn.grade(exam, few)
    assert [row.total for row in book.rows[:3]] == [WORTH[kind] for kind in KINDS[:3]]
    assert (repr(book), book.written) == (f"<Midterm: 3 marked, {STUDENTS - 3} missing>", ())
    assert "Summary of the class" in str(book)
    assert book._repr_markdown_().startswith("**Midterm · Summary of the class**")
    assert len(book.csv().splitlines()) == STUDENTS + 1
    assert contents(tmp_path) == before


@pytest.mark.slow
def test_templates_of_ones_own_reach_every_process_and_a_changed_one_is_used(exam, few, tmp_path, processes):
    """Beside them, feedback is written for the LaTeX class that is asked for."""
    folder, out = tmp_path / "templates", tmp_path / "o"
    folder.mkdir()
    for words in ("My own sheet", "Another sheet"):
        (folder / "document.md.j2").write_text(f"{words}: <<body>>\n", "utf-8")
        options = ("--out", out, "--format", "markdown,latex", "--templates", folder, "--latex-class", "exam")
        result = run("grade", exam, few, *options, "--jobs", 1)
        assert result.exit_code == 0, result.output
        for end, told in (("md", f"{words}: "), ("tex", "]{exam}")):
            written = [*(out / "feedback").glob(f"*.{end}"), out / f"summary.{end}"]
            assert len(written) == 4
            assert all(told in path.read_text("utf-8") for path in written)


def test_a_policy_without_marks_and_a_scheme_of_ones_own(exam, few):
    """Without marks, the mistakes are still counted."""
    book = symattn.grade(exam, few, policy="formative")
    assert {row.of for row in book.rows} == {0}
    assert re.search(r"not scaled \(C1\)\s+S′\s+1\s+33%\s+1", book.text())
    assert {row["percent"] for row in csv.DictReader(io.StringIO(book.csv(), newline=""))} == {""}
    scheme = '[settings]\nprecision = 1\n[[line]]\npart = "S"\nmarks = "M1 A2"\n'
    book = symattn.grade(exam, few, scheme=scheme)
    assert {row.of for row in book.rows if row.has_marks} == {13}
    assert str(book.terms) == "ecf, precision 1, own scheme"
    with refused_saying("The mark scheme has the part 'T', and no question has such a part"):
        symattn.grade(exam, few, scheme='[[line]]\npart = "T"\nmarks = "M1"\n')


# ------------------------------------------------------------------------------------------------ input that is wrong


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("{exam} {exam}/nothing", "nothing is not there"),
        ("{exam}/nothing {subs}", "is nothing to mark against"),
        ("{subs} {subs}", "has no exam.json, so it is not an exam's folder"),
        ("{exam} {subs} --policy kind", "There is no policy 'kind'; there are ecf, ib, uk, strict, formative"),
        ("{exam} {subs} --rounding up", "rounding is 'up'; one of nearest, truncate, largest-remainder"),
        ("{exam} {subs} --scheme no.toml", "There is no file no.toml"),
        ("{exam} {subs} --format docx", "There is no format 'docx'"),
        ("{exam} {subs} --out {subs}", "where the submissions are; choose another --out"),
        ("{exam} {subs} --out {exam}/exam.json/o", "Nothing can be written to the folder"),
    ],
)
def test_what_is_wrong_is_one_sentence(exam, submissions, tmp_path, monkeypatch, arguments, says):
    monkeypatch.chdir(tmp_path)
    result = run("grade", *arguments.format(exam=exam, subs=submissions).split())
    assert result.exit_code == 2
    assert says in result.output
    assert result.output.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_the_marks_of_another_exam_is_refused(graded, exam, submissions, tmp_path):
    out = shutil.copytree(graded[0], tmp_path / "marked")
    data = json.loads((out / "marks.json").read_bytes())
    data["exam"] = {"title": "Final", "hash": "0"}
    for text, says in (
        (json.dumps(data), "holds the marks of 'Final', which is another exam"),
        ("[]", "is not a record of marks"),
        (None, r"has a record of changes and no marks\.json"),
    ):
        if text is None:
            (out / "marks.json").unlink()
            (out / "changes.csv").write_text("run\r\n", "utf-8")
        else:
            (out / "marks.json").write_text(text, "utf-8")
        with refused_saying(says):
            symattn.grade(exam, submissions, out=out)
    before = contents(graded[0])
    assert {name for name, data in contents(out).items() if before.get(name) != data} == {"changes.csv"}


# ------------------------------------------------------------------------------------------------ what a person settles


def test_papers_filled_in_with_several_questions_and_one_that_somebody_has_to_read(with_a_proof, tmp_path):
    """The paper's own Markdown, filled in; what is said in words is pending until somebody has given points for it."""
    folder = with_a_proof
    exam, _ = thawed((folder / "exam.json").read_text("utf-8"), folder / "exam.json")
    submissions = tmp_path / "submissions"
    submissions.mkdir()
    for (stem, copy), kind in zip(copies(exam), ["right", "not scaled", "blank"], strict=False):
        questions = exam.questions(copy.paper)
        blank = render(paper(exam.spec, copy, questions), "markdown")[1].decode()
        first = {} if kind == "blank" else {name: grid(rows) for name, rows in worked(questions[0], kind).items()}
        second = {"a": Text("Because every row of the weights sums to one.")} if kind == "right" else {}
        filled = fill(blank, questions, [Attempt(first), Attempt(second)])
        (submissions / f"{Path(stem).name}.md").write_text(filled, "utf-8")
    book = symattn.grade(folder, submissions, out=tmp_path / "marked", forms=("markdown",))
    rows = table(tmp_path / "marked")
    assert [(row["status"], row["Q1"], row["Q2"], row["total"], bool(row["percent"])) for row in rows] == [
        ("pending", "15", "?", "15+?", False), ("marked", "13", "0", "13", True), ("marked", "0", "0", "0", True),
        ("missing", "", "", "", False),
    ]  # fmt: skip
    assert [row["of"] for row in rows[:3]] == [str(15 + sum(r.of for r in book.rows[0].results[1:]))] * 3
    assert "Q1 S': C1" in rows[1]["events"]
    assert "An answer has to be read by a person." in book.text()
    assert all(not row.notices for row in book.rows)
    assert "The total of 1 student is not final" in book.text()
    assert re.search(r"^Total +\d+ +6\.50 +6\.50 ", book.text(), re.MULTILINE), book.text()  # of 13 and 0
    assert_settled(folder, submissions, tmp_path / "marked")


def assert_settled(folder, submissions, marked):
    """A person gives the pending marks in the table; the same command again settles them, and only for this file."""
    [pending] = table(marked, "pending")
    assert (pending["question"], pending["marks"]) == ("2", "")
    most = int(pending["pending"])

    def given(marks):
        lines = [",".join(pending), ",".join(f'"{x}"' for x in {**pending, "marks": marks}.values())]
        (marked / "pending.csv").write_text("\n".join(lines), "utf-8")

    def again():
        return symattn.grade(folder, submissions, out=marked, forms=("markdown",))

    given(str(most + 1))
    with refused_saying(f"pending.csv, row 2: the marks are '{most + 1}'; .* from 0 to {most} was"):
        again()
    given("1")
    for _ in range(2):  # another run keeps it
        book = again()
        [first, *_] = table(marked)
        assert (first["status"], first["total"], first["Q2"], bool(first["percent"])) == ("marked", "16", "1", True)
        assert [change.why for change in book.changes] == ["pending marks given"]
    feedback = (marked / "feedback" / f"{Path(first['file']).stem}.md").read_text("utf-8")
    assert f"16/{first['of']}" in feedback
    with (submissions / first["file"]).open("a", encoding="utf-8") as file:
        file.write("\n")
    again()
    assert table(marked)[0]["total"] == "15+?"
    assert [row["marks"] for row in table(marked, "pending")] == ["", "1"]


@pytest.mark.parametrize("in_zip", ["", "a7"], ids=["a file of its own", "a file in a zip"])
def test_marks_that_a_person_gave_hold_for_what_was_read(exam, tmp_path, in_zip):
    """`in_zip` is the hash that a zip has of a file; another version of the file has no marks yet."""
    table = f"file,version,question,line,pending,marks\nwork.md,{'a7' * 6},2,a,3,1\n"
    (tmp_path / "pending.csv").write_text(table, "utf-8")
    terms = Terms(POLICIES["ecf"])
    folder = run_module.MarkedFolder(tmp_path, tmp_path, papers(exam), terms, (), (), DEFAULT_LOOK, ("student",))
    handed = Handed(File("work.md", hash=in_zip * 32), hash="a7" * 32)
    assert folder.given(handed) == {"2": {"a": 1}}
    assert folder.given(replace(handed, hash="b8" * 32)) == {}


def test_what_a_person_has_settled_asks_for_nobody_any_more(exam):
    """A matrix of another shape waits with what it may change, until marks are given for it."""
    known = papers(exam)
    question, *_ = known.questions(known.entrants[0].sheet)
    report = mark(question, Attempt({"S": grid([["0"]])}, doubts={"S": Doubt("A person has to look at it.")}))
    asked = [notice.says for notice in report.notices if notice.part == "S"]
    open_lines = {line_name(given.parts) for given in report.marks if given.pending}
    assert asked == ["A person has to look at it."]
    assert "S" in open_lines
    done = settled(report, dict.fromkeys(open_lines, 0))
    assert not done.pending
    assert not [notice for notice in done.notices if notice.part == "S"]
