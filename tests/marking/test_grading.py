"""A class graded: everybody is in the gradebook, totals are those that planted mistakes must cost, and nothing is lost.

What the answers are is worked out here by SymPy from the givens; what a mistake costs, by rules.md 3.4 and 3.10.
"""

import csv
import io
import json
import os
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import zipfile
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
import sympy
from click.testing import CliRunner
from waiting import until

import symattn
from symattn.cli import main
from symattn.errors import InputError
from symattn.foundation.dice import Dice
from symattn.foundation.folders import LOCK
from symattn.marking.attempt import Attempt, Doubt, Text
from symattn.marking.grading import run as run_module
from symattn.marking.grading.handed_in import File, Handed
from symattn.marking.grading.record import Row, Terms, line_name
from symattn.marking.grading.settled import settled
from symattn.marking.grading.source import papers
from symattn.marking.marker import POLICIES, mark
from symattn.marking.submissions import fill, grid
from symattn.page.document import DEFAULT_LOOK
from symattn.teaching.exam import make_exam, read_exam_file
from symattn.teaching.exam.deploy import copies, freeze, thawed
from symattn.teaching.exam.papers import paper
from symattn.teaching.sheets import render

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
PICTURE = b"\x89PNG\r\n\x1a\n\x00\x01\x02\xff"


# ------------------------------------------------------------------------------------------------ answers by SymPy


def worked(question, kind: str) -> dict[str, list[list[str]]]:
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


def answers(questions, kind: str) -> str:
    """The part of a TOML file that holds the answers; of more than one question, the first is answered alone."""
    lines = ["[answers]"] if len(questions) == 1 else ["[answers.q1]"]
    if kind != "blank":
        lines += [f"{json.dumps(name)} = {json.dumps(rows)}" for name, rows in worked(questions[0], kind).items()]
    return "\n".join(lines) + "\n"


def script(exam, entrant, kind: str) -> str:
    head = f'sheet = "{entrant.sheet}"\nname = {json.dumps(entrant.name)}\nstudent = "{entrant.id}"\n'
    return head + answers(exam.questions(entrant.sheet), kind)


def made_exam(folder: Path, students: int, variants: int, more: str = "", head: str = "") -> Path:
    (folder / "midterm.toml").write_text(head + EXAM.format(variants=variants, more=more), encoding="utf-8")
    names = ["=HYPERLINK(1)", "Łukasz Żółć", '"quoted", and more', "-1+1", "@here", "O'Brien"]
    with (folder / "class.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "id"])
        writer.writerows([names[k] if k < len(names) else f"Student {k + 1}", f"s{k + 1:03}"] for k in range(students))
    dice = Dice.seeded(7)
    (folder / "midterm").mkdir()
    frozen = freeze(make_exam(read_exam_file(folder / "midterm.toml"), dice), dice)
    (folder / "midterm/exam.json").write_text(frozen, encoding="utf-8")
    (folder / "midterm.toml").unlink()  # exam.json is enough
    (folder / "class.csv").unlink()
    return folder / "midterm"


@pytest.fixture(scope="module")
def exam(tmp_path_factory):
    return made_exam(tmp_path_factory.mktemp("exam"), 12, 3)


KINDS = ["right", "slip", "not scaled", "transposed weights", "no output", "blank", "right", "right", "slip", "right"]
"""Of the students 1 to 10; 11 hands in a picture, 12 nothing."""


def handed_in(exam: Path, folder: Path, kinds=KINDS) -> Path:
    known = papers(exam)
    folder.mkdir()
    for entrant, kind in zip(known.entrants, kinds, strict=False):
        (folder / f"{entrant.stem}.toml").write_text(script(known, entrant, kind), encoding="utf-8")
    (folder / "011-s011.png").write_bytes(PICTURE)
    return folder


@pytest.fixture(scope="module")
def submissions(exam, tmp_path_factory):
    return handed_in(exam, tmp_path_factory.mktemp("class") / "submissions")


@pytest.fixture(scope="module")
def graded(exam, submissions, tmp_path_factory):
    """The class marked once by the command, in one process."""
    out = tmp_path_factory.mktemp("graded") / "marked"
    result = run("grade", exam, submissions, "--out", out, "--format", "text,markdown", "--for", "both", "--jobs", 1)
    assert result.exit_code == 0, result.output
    return out, result.output


def test_answers_that_belong_to_no_question_go_to_a_person_with_the_reason(tmp_path):
    made = made_exam(tmp_path, 2, 1, RUBRIC)
    [one, *_] = papers(made).entrants
    (tmp_path / "in").mkdir()
    (tmp_path / f"in/{one.stem}.toml").write_text('name = "A"\n[answers]\nS = [[1, 2]]\n', encoding="utf-8")
    first, *_ = symattn.grade(made, tmp_path / "in", jobs=1).rows
    says = "It is not clear which question 'S' belongs to; write [answers.q1], [answers.q2] and so on."
    assert (first.status, first.reason) == ("pending", says)
    assert not any(says in notice for notice in first.notices)  # it is said once


def run(*arguments: object):
    return CliRunner().invoke(main, [str(a) for a in arguments], catch_exceptions=False)


def table(out: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO((out / "gradebook.csv").read_bytes().decode("utf-8"), newline="")))


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


# ------------------------------------------------------------------------------------------------ the gradebook


def test_everybody_is_in_the_gradebook_in_the_order_of_the_class_list(graded):
    rows = table(graded[0])
    assert [row["number"] for row in rows] == [str(k) for k in range(1, 13)]
    assert [row["id"] for row in rows] == [f"s{k:03}" for k in range(1, 13)]
    assert [row["status"] for row in rows] == ["marked"] * 10 + ["broken", "missing"]


def test_totals_are_what_the_mistakes_must_cost(graded):
    rows = table(graded[0])[:10]
    assert [int(row["total"]) for row in rows] == [WORTH[kind] for kind in KINDS]
    assert {row["of"] for row in rows} == {"15"}
    for row, kind in zip(rows, KINDS, strict=True):
        assert Fraction(row["percent"]) == round(Fraction(100 * WORTH[kind], 15), 1)
        assert sum(int(row[code]) for code in "MA") == int(row["total"]) == int(row["Q1"])
        assert sum(int(row[step]) for step in ("Q1 S", "Q1 S'", "Q1 A", "Q1 Z")) == int(row["total"])


def test_marks_are_lost_at_the_step_of_the_mistake_alone(graded):
    full = {"S": 5, "S'": 2, "A": 4, "Z": 4}
    cost = {"slip": {"S": 4}, "not scaled": {"S'": 0}, "transposed weights": {"Z": 0}, "no output": {"Z": 0},
            "right": {}, "blank": dict.fromkeys(full, 0)}  # fmt: skip
    for row, kind in zip(table(graded[0]), KINDS, strict=False):
        assert {step: int(row[f"Q1 {step}"]) for step in full} == full | cost[kind], kind


def test_events_are_named(graded):
    events = {kind: row["events"] for row, kind in zip(table(graded[0]), KINDS, strict=False)}
    assert "C1" in events["not scaled"]
    assert events["transposed weights"].startswith("Z:")
    assert events["slip"].startswith("S:")
    assert (events["right"], events["blank"]) == ("", "")


def test_the_file_is_csv_as_rfc_4180_wants_it(graded):
    data = (graded[0] / "gradebook.csv").read_bytes()
    assert data.count(b"\n") == data.count(b"\r\n") == 13
    rows = list(csv.reader(io.StringIO(data.decode("utf-8"), newline=""), strict=True))
    assert {len(row) for row in rows} == {len(rows[0])}


def test_no_cell_is_a_formula_and_every_name_can_be_read_back(graded):
    names = [row["name"] for row in table(graded[0])][:6]
    assert names == ["'=HYPERLINK(1)", "Łukasz Żółć", '"quoted", and more', "'-1+1", "'@here", "O'Brien"]
    for row in table(graded[0]):
        assert not any(cell.startswith(("=", "+", "-", "@", "\t")) for cell in row.values())


def test_what_is_broken_is_named_with_the_reason(graded):
    out, printed = graded
    broken = table(out)[10]
    assert "picture" in broken["notices"]
    assert (broken["file"], broken["total"]) == ("011-s011.png", "")
    assert re.search(r"^broken: 011-s011\.png: .*picture", printed, re.MULTILINE)
    assert printed.splitlines()[-1].startswith(f"{out}: 10 marked, 1 broken, 1 missing; ")


@pytest.mark.slow
def test_pages_about_an_exam_are_in_its_language(tmp_path):
    """Unless another one is asked for; a picture's reason, remarks with places in them and the counts are, too."""
    exam = made_exam(tmp_path, 2, 1, head='language = "de"\n')
    (tmp_path / "in").mkdir()
    (tmp_path / "in/001-s001.png").write_bytes(PICTURE)
    known = papers(exam)
    unknown = "\n[answers.q1]\nnonsense = 3\n"
    (tmp_path / "in/002-s002.toml").write_text(script(known, known.entrants[1], "blank") + unknown, encoding="utf-8")
    words = ["grade", str(exam), str(tmp_path / "in"), "--format", "markdown", "-q", "--out"]
    for more, said in (
        ([], ("Übersicht über die Klasse", "1 offen; 1 nicht lesbar", "ein Bild", "'nonsense' ist kein Teil")),
        (
            ["--language", "en"],
            ("Summary of the class", "1 pending; 1 broken", "a picture", "'nonsense' is not a part"),
        ),
    ):
        out = tmp_path / f"out{len(more)}"
        outcome = CliRunner().invoke(main, [*words, str(out), *more])
        assert outcome.exit_code == 0, outcome.output
        summary = (out / "summary.md").read_text(encoding="utf-8")
        assert all(text in summary for text in said), summary
        assert [*out.glob("feedback/*.md")] != []
    given = str(tmp_path / "in/002-s002.toml")
    assert CliRunner().invoke(main, ["check", str(exam), given]).output.startswith("Rückmeldung")
    assert CliRunner().invoke(main, ["check", str(exam), given, "--language", "en"]).output.startswith("Feedback")
    assert symattn.check(exam, given).text().startswith("Rückmeldung")


def test_a_file_that_is_nobodys_is_pending_and_named(exam, tmp_path):
    """It has no marks, and a page on what is left to do; where that is asked for, the exit code says so."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in/homework 2.toml").write_text("[answers]\nS = [[1]]\n", encoding="utf-8")
    result = run("grade", exam, tmp_path / "in", "--out", tmp_path / "out", "--format", "text", "--exit-code")
    assert result.exit_code == 1
    assert result.output.startswith("pending: homework 2.toml: It is not clear whose it is: ")
    assert result.output.splitlines()[-1].startswith(f"{tmp_path / 'out'}: 1 pending, 12 missing; ")
    last = table(tmp_path / "out")[-1]
    assert (last["file"], last["status"], last["total"], last["of"]) == ("homework 2.toml", "pending", "", "")
    summary = " ".join((tmp_path / "out/summary.txt").read_text(encoding="utf-8").split())
    assert "Not marked: 1" in summary
    assert "homework 2.toml: It is not clear whose it is" in summary
    assert not (tmp_path / "out/feedback").exists()


@pytest.mark.slow
def test_the_exit_code_says_that_something_could_not_be_marked_where_that_is_asked_for(exam, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/011-s011.png").write_bytes(PICTURE)
    words = ["grade", str(exam), str(tmp_path / "in"), "--format", "text", "--out", str(tmp_path / "out")]
    assert CliRunner().invoke(main, words).exit_code == 0
    assert CliRunner().invoke(main, [*words, "--exit-code"]).exit_code == 1
    known = papers(exam)
    (tmp_path / "in/011-s011.png").unlink()
    (tmp_path / "in/001-s001.toml").write_text(script(known, known.entrants[0], "blank"), encoding="utf-8")
    assert CliRunner().invoke(main, [*words, "--exit-code"]).exit_code == 0


def test_everybody_with_marks_has_a_sheet_for_either_reader(graded):
    out, _ = graded
    stems = [f"{k:03}-s{k:03}" for k in range(1, 11)]
    expected = {
        f"{folder}/{stem}{end}" for folder in ("feedback", "marked") for stem in stems for end in (".txt", ".md")
    }
    found = {name for name in contents(out) if "/" in name and not name.startswith(".")}
    assert {name for name in found if name.startswith(("feedback/", "marked/"))} == expected
    mistaken = [k for k, kind in enumerate(KINDS, 1) if kind in ("slip", "not scaled", "transposed weights")]
    for folder in ("exercises", "solutions"):
        beside = {f"{folder}/{k:03}-s{k:03}{end}" for k in mistaken for end in (".txt", ".md")}
        assert {name for name in found if name.startswith(f"{folder}/")} == beside
    assert "s002" in (out / "feedback/002-s002.txt").read_text(encoding="utf-8")


def test_the_summary_has_the_figures(graded):
    text = (graded[0] / "summary.txt").read_text(encoding="utf-8")
    totals = [WORTH[kind] for kind in KINDS]
    for figure in (statistics.mean(totals), statistics.median(totals), statistics.stdev(totals)):
        assert f"{figure:.2f}" in text
    assert re.search(r"S′\s+16/20\s+80%", text)  # two of ten without S': not scaled, blank
    assert re.search(r"not scaled \(C1\)\s+S′\s+1\s+10%\s+1", text)
    assert "Missing: 1" in text
    assert "011-s011.png" in text


def test_marks_json_has_everything(graded):
    data = json.loads((graded[0] / "marks.json").read_bytes())
    rows = [Row.read(row) for row in data["rows"]]
    assert [row.total for row in rows[:10]] == [WORTH[kind] for kind in KINDS]
    assert json.loads(json.dumps([row.json() for row in rows])) == data["rows"]
    assert all(result["report"] for row in data["rows"] for result in row["results"])
    assert data["terms"]["policy"]["name"] == "ecf"
    assert len(data["exam"]["hash"]) == 64
    assert {len(row.hash) for row in rows} == {0, 64}


# ------------------------------------------------------------------------------------------------ runs


@pytest.mark.slow
def test_the_same_bytes_whatever_the_number_of_processes_and_from_a_zip(graded, exam, submissions, tmp_path):
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for path in submissions.iterdir():
            archive.write(path, path.name)
    options = ["--format", "text,markdown", "--for", "both", "--jobs", 2, "--quiet"]
    result = run("grade", exam / "exam.json", tmp_path / "all.zip", "--out", tmp_path / "o", *options)
    assert (result.exit_code, result.output) == (0, "")
    assert contents(tmp_path / "o") == contents(graded[0])


def test_again_marks_nothing_and_changes_nothing(graded, exam, submissions, tmp_path, monkeypatch):
    out = shutil.copytree(graded[0], tmp_path / "marked")
    monkeypatch.setattr("symattn.marking.grading.run.MARKED", "no such job")
    before = contents(out)
    book = symattn.grade(exam, submissions, out=out, forms=("text", "markdown"), readers=("student", "teacher"))
    assert contents(out) == before
    assert book.changes == ()


def test_only_what_is_new_is_marked_and_what_is_gone_goes(graded, exam, submissions, tmp_path):
    out = shutil.copytree(graded[0], tmp_path / "marked")
    mine = shutil.copytree(submissions, tmp_path / "submissions")
    known = papers(exam)
    (mine / "002-s002.toml").write_text(script(known, known.entrants[1], "right"), encoding="utf-8")  # a better one
    (mine / "003-s003.toml").unlink()
    (mine / "011-s011.toml").write_text(script(known, known.entrants[10], "right"), encoding="utf-8")
    untouched = {name: (out / name).stat().st_mtime_ns for name in ("feedback/001-s001.txt", ".marks/001-s001.json")}
    book = symattn.grade(exam, mine, out=out, forms=("text", "markdown"), readers=("student", "teacher"), jobs=1)
    assert {name: (out / name).stat().st_mtime_ns for name in untouched} == untouched
    assert [row.status for row in book.rows] == ["marked"] * 2 + ["missing"] + ["marked"] * 8 + ["missing"]
    assert not (out / "feedback/003-s003.txt").exists()
    assert not (out / ".marks/003-s003.json").exists()
    assert "2 files were handed in" in table(out)[10]["notices"]
    changes = list(csv.DictReader(io.StringIO((out / "changes.csv").read_text(encoding="utf-8"))))
    assert [(c["run"], c["student"], c["old total"], c["new total"], c["why"]) for c in changes] == [
        ("2", "s002", "14", "15", "another file"),
        ("2", "s003", "13", "", "no file any more"),
    ]
    assert "→" in changes[0]["what"]


@pytest.mark.slow
def test_another_policy_keeps_a_record_of_what_changed(graded, exam, submissions, tmp_path):
    out = shutil.copytree(graded[0], tmp_path / "marked")
    strict = symattn.grade(exam, submissions, out=out, forms=("text",), policy="strict", jobs=2)
    totals = {row.id: row.total for row in strict.rows if row.has_marks}
    old = {f"s{k:03}": WORTH[kind] for k, kind in enumerate(KINDS, 1)}
    assert all(totals[id] <= old[id] for id in old)
    assert totals["s003"] < old["s003"]  # nothing follows any more
    first = (out / "changes.csv").read_bytes()
    read = list(csv.DictReader(io.StringIO(first.decode("utf-8"))))
    assert {c["student"]: (int(c["old total"]), int(c["new total"])) for c in read} == {
        id: (old[id], totals[id]) for id in old if old[id] != totals[id]
    }
    assert {(c["run"], c["old policy"], c["new policy"], c["why"]) for c in read} == {
        ("2", "ecf", "strict", "another policy")
    }
    assert not (out / "feedback/001-s001.md").exists()  # what was told under the other policy holds no more
    assert not (out / "marked").exists() or not any((out / "marked").iterdir())
    symattn.grade(exam, submissions, out=out, forms=("text",), jobs=2)
    second = (out / "changes.csv").read_bytes()
    assert second.startswith(first)
    again = list(csv.DictReader(io.StringIO(second.decode("utf-8"))))[len(read) :]
    assert {(c["run"], c["student"], int(c["new total"])) for c in again} == {
        ("3", c["student"], old[c["student"]]) for c in read
    }
    runs = json.loads((out / "marks.json").read_bytes())["runs"]
    assert [(run["run"], run["policy"]) for run in runs] == [(1, "ecf"), (2, "strict"), (3, "ecf")]


@pytest.mark.slow
def test_a_run_that_was_killed_goes_on_and_leaves_the_same_bytes(graded, exam, submissions, tmp_path):
    out = tmp_path / "marked"
    command = [sys.executable, "-m", "symattn", "grade", str(exam), str(submissions), "--out", str(out), "--jobs", "1",
               "--format", "text,markdown", "--for", "both"]  # fmt: skip
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    process = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": path}, stdout=subprocess.DEVNULL)
    until(lambda: list(out.glob(".marks/*.json")) or process.poll() is not None)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    assert not (out / "gradebook.csv").exists()
    kept = {p: p.read_bytes() for p in out.glob(".marks/*.json")}
    assert kept
    (out / ".marks/unfinished-x").mkdir()
    (out / ".marks/unfinished-x/feedback-x").write_bytes(b"half")
    (out / ".marks/001-s001.json").write_bytes(b'{"half')  # as if the disk had lost its end
    result = run(*command[3:])
    assert result.exit_code == 0
    assert contents(out) == contents(graded[0])


@pytest.mark.slow
def test_sheets_of_other_terms_that_a_killed_run_left_are_not_taken_for_those_of_these_terms(
    exam, submissions, tmp_path, monkeypatch
):
    """Marked by one policy, then killed in the middle of another: the first policy's rows must have its sheets."""
    few = tmp_path / "few"
    few.mkdir()
    for path in sorted(submissions.iterdir())[:2]:
        shutil.copy(path, few)
    options = {"out": tmp_path / "o", "forms": ("text",), "jobs": 1}
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


@pytest.mark.slow
def test_while_a_class_is_graded_the_folder_is_its_own(exam, submissions, tmp_path, monkeypatch):
    taken = []

    @contextmanager
    def alone_in(folder):
        taken.append(folder)
        with real(folder):
            yield

    def answered(*given):
        taken.append((tmp_path / "o" / LOCK).exists())
        raise KeyError

    real = run_module.alone_in
    monkeypatch.setattr(run_module, "alone_in", alone_in)
    monkeypatch.setattr(run_module, "row_of", answered)
    with pytest.raises(KeyError):
        symattn.grade(exam, submissions, out=tmp_path / "o", forms=("text",))
    assert taken == [tmp_path / "o", True]
    assert not (tmp_path / "o" / LOCK).exists()


def test_after_an_interruption_the_same_command_continues_and_says_so(exam, submissions, tmp_path, monkeypatch):
    def interrupted(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(run_module.Crew, "as_done", interrupted)
    result = run("grade", exam, submissions, "--out", tmp_path / "o")
    assert result.exit_code == 130
    assert "Interrupted. The same command continues: what has been marked is kept." in result.output


@pytest.mark.slow
def test_a_submission_that_cannot_be_marked_in_time_is_broken_and_the_rest_is_marked(exam, submissions, tmp_path):
    """A worker that hangs on one submission, crashes on another and meets a defect on a third."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("symattn.marking.grading.run.MARKED", "odd_jobs:faulty")
        book = symattn.grade(exam, submissions, out=tmp_path / "o", forms=("text",), time_limit=2, jobs=2)
    first, second, third, *others = book.rows
    assert [row.status for row in book.rows[:3]] == ["broken"] * 3
    assert first.reason == "Marking it took more than 2 seconds of processor time and was stopped."
    assert second.reason.startswith("Marking it ended its process with code")
    assert third.reason == "symattn cannot mark it, which is a defect of symattn: KeyError: 'no such thing'"
    assert [row.total for row in others[:7]] == [WORTH[kind] for kind in KINDS[3:]]
    mended = symattn.grade(exam, submissions, out=tmp_path / "o", forms=("text",), jobs=2)  # none of it is kept
    assert [row.total for row in mended.rows[:10]] == [WORTH[kind] for kind in KINDS]
    assert mended.changes == ()


# ------------------------------------------------------------------------------------------------ Python


@pytest.mark.slow
def test_in_python_without_a_folder_nothing_is_written(exam, submissions, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    book = symattn.grade(exam, submissions, jobs=2)
    assert [row.total for row in book.rows[:10]] == [WORTH[kind] for kind in KINDS]
    assert (repr(book), book.written) == ("<Midterm: 10 marked, 1 broken, 1 missing>", ())
    assert "Summary of the class" in str(book)
    assert book._repr_markdown_().startswith("**Midterm · Summary of the class**")
    assert len(book.csv().splitlines()) == 13
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_templates_of_ones_own_reach_every_process_and_a_changed_one_is_used(exam, submissions, tmp_path):
    folder = tmp_path / "templates"
    folder.mkdir()
    for words in ("My own sheet", "Another sheet"):
        (folder / "document.md.j2").write_text(f"{words}: <<body>>\n", encoding="utf-8")
        options = ("--out", tmp_path / "o", "--format", "markdown", "--templates", folder, "--jobs", 2)
        result = run("grade", exam, submissions, *options)
        assert result.exit_code == 0, result.output
        written = [*(tmp_path / "o" / "feedback").glob("*.md"), tmp_path / "o" / "summary.md"]
        assert len(written) > 2
        assert all(path.read_text(encoding="utf-8").startswith(f"{words}: ") for path in written)


@pytest.mark.slow
def test_feedback_is_written_for_the_class_that_is_asked_for(exam, submissions, tmp_path):
    options = ("--out", tmp_path / "o", "--format", "latex", "--latex-class", "exam")
    result = run("grade", exam, submissions, *options)
    assert result.exit_code == 0, result.output
    written = [*(tmp_path / "o" / "feedback").glob("*.tex"), tmp_path / "o" / "summary.tex"]
    assert len(written) > 2
    assert all("]{exam}" in path.read_text(encoding="utf-8") for path in written)


@pytest.mark.slow
def test_without_marks_the_mistakes_are_still_counted(exam, submissions):
    book = symattn.grade(exam, submissions, policy="formative", jobs=2)
    assert {row.of for row in book.rows} == {0}
    assert re.search(r"not scaled \(C1\)\s+S′\s+1\s+10%\s+1", book.text())
    assert {row["percent"] for row in csv.DictReader(io.StringIO(book.csv(), newline=""))} == {""}


@pytest.mark.slow
def test_a_scheme_of_ones_own(exam, submissions, tmp_path):
    scheme = '[settings]\nprecision = 1\n[[line]]\npart = "S"\nmarks = "M1 A2"\n'
    book = symattn.grade(exam, submissions, scheme=scheme, jobs=2)
    assert {row.of for row in book.rows if row.has_marks} == {13}
    assert str(book.terms) == "ecf, precision 1, own scheme"
    with pytest.raises(InputError, match="The mark scheme has the part 'T', and no question has such a part"):
        symattn.grade(exam, submissions, scheme='[[line]]\npart = "T"\nmarks = "M1"\n')


# ------------------------------------------------------------------------------------------------ input that is wrong


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["{exam}", "{exam}/nothing"], "nothing is not there"),
        (["{exam}/nothing", "{subs}"], "is nothing to mark against"),
        (["{subs}", "{subs}"], "has no exam.json, so it is not an exam's folder"),
        (
            ["{exam}", "{subs}", "--policy", "kind"],
            "There is no policy 'kind'; there are ecf, ib, uk, strict, formative",
        ),
        (["{exam}", "{subs}", "--rounding", "up"], "rounding is 'up'; one of nearest, truncate, largest-remainder"),
        (["{exam}", "{subs}", "--scheme", "no.toml"], "There is no file no.toml"),
        (["{exam}", "{subs}", "--format", "docx"], "There is no format 'docx'"),
        (["{exam}", "{subs}", "--out", "{subs}"], "where the submissions are; choose another --out"),
        (["{exam}", "{subs}", "--out", "{exam}/exam.json/o"], "Nothing can be written to the folder"),
    ],
)
def test_what_is_wrong_is_one_sentence(exam, submissions, tmp_path, monkeypatch, arguments, says):
    monkeypatch.chdir(tmp_path)
    result = run("grade", *(a.format(exam=exam, subs=submissions) for a in arguments))
    assert result.exit_code == 2
    assert says in result.output
    assert result.output.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_an_exam_that_was_changed_is_refused(exam, submissions, tmp_path):
    data = json.loads((exam / "exam.json").read_text(encoding="utf-8"))
    data["questions"][0]["points"] = 99
    (tmp_path / "exam.json").write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(InputError, match=r"was changed after it was written \(its hash does not fit\)"):
        symattn.grade(tmp_path, submissions)
    (tmp_path / "exam.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match="is not JSON"):
        symattn.grade(tmp_path / "exam.json", submissions)


def test_a_folder_with_the_marks_of_another_exam_is_refused(graded, exam, submissions, tmp_path):
    out = shutil.copytree(graded[0], tmp_path / "marked")
    data = json.loads((out / "marks.json").read_bytes())
    data["exam"] = {"title": "Final", "hash": "0"}
    (out / "marks.json").write_text(json.dumps(data), encoding="utf-8")
    before = contents(out)
    with pytest.raises(InputError, match="holds the marks of 'Final', which is another exam"):
        symattn.grade(exam, submissions, out=out)
    (out / "marks.json").write_text("[]", encoding="utf-8")
    with pytest.raises(InputError, match="is not a record of marks"):
        symattn.grade(exam, submissions, out=out)
    (out / "marks.json").unlink()
    (out / "changes.csv").write_text("run\r\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"has a record of changes and no marks\.json"):
        symattn.grade(exam, submissions, out=out)
    assert {name for name, data in contents(out).items() if before.get(name) != data} == {"changes.csv"}


# ------------------------------------------------------------------------------------------------ papers in Markdown


@pytest.mark.slow
def test_papers_filled_in_with_several_questions_and_one_that_somebody_has_to_read(tmp_path):
    """The paper's own Markdown, filled in; what is said in words is pending until somebody has given points for it."""
    folder = made_exam(tmp_path, 4, 2, RUBRIC)
    exam, _ = thawed((folder / "exam.json").read_text(encoding="utf-8"), folder / "exam.json")
    submissions = tmp_path / "submissions"
    submissions.mkdir()
    for (stem, copy), kind in zip(copies(exam), ["right", "not scaled", "blank"], strict=False):
        questions = exam.questions(copy.paper)
        blank = render(paper(exam.spec, copy, questions), "markdown")[1].decode()
        first = {} if kind == "blank" else {name: grid(rows) for name, rows in worked(questions[0], kind).items()}
        second = {"a": Text("Because every row of the weights sums to one.")} if kind == "right" else {}
        filled = fill(blank, questions, [Attempt(first), Attempt(second)])
        (submissions / f"{Path(stem).name}.md").write_text(filled, encoding="utf-8")
    book = symattn.grade(folder, submissions, out=tmp_path / "marked", forms=("markdown",), jobs=1)
    rows = table(tmp_path / "marked")
    assert [row["status"] for row in rows] == ["pending", "marked", "marked", "missing"]
    assert [row["Q1"] for row in rows] == ["15", "13", "0", ""]
    assert [row["Q2"] for row in rows] == ["?", "0", "0", ""]
    assert [row["total"] for row in rows] == ["15+?", "13", "0", ""]
    assert [bool(row["percent"]) for row in rows] == [False, True, True, False]
    assert [row["of"] for row in rows[:3]] == [str(15 + sum(r.of for r in book.rows[0].results[1:]))] * 3
    assert "Q1 S': C1" in rows[1]["events"]
    assert "An answer has to be read by a person." in book.text()
    assert all(not row.notices for row in book.rows)
    assert "The total of 1 student is not final" in book.text()
    assert re.search(r"^Total +\d+ +6\.50 +6\.50 ", book.text(), re.MULTILINE), book.text()  # of 13 and 0
    assert_settled(folder, submissions, tmp_path / "marked")


@pytest.mark.parametrize("in_zip", ["", "a7"], ids=["a file of its own", "a file in a zip"])
def test_marks_that_a_person_gave_hold_for_what_was_read(exam, tmp_path, in_zip):
    """`in_zip` is the hash that a zip has of a file; another version of the file has no marks yet."""
    table = f"file,version,question,line,pending,marks\nwork.md,{'a7' * 6},2,a,3,1\n"
    (tmp_path / "pending.csv").write_text(table, encoding="utf-8")
    terms = Terms(POLICIES["ecf"])
    folder = run_module.MarkedFolder(tmp_path, tmp_path, papers(exam), terms, (), DEFAULT_LOOK, ("student",))
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


def assert_settled(folder: Path, submissions: Path, marked: Path) -> None:
    """A person gives the pending marks in the table; the same command again settles them, and only for this file."""
    [pending] = csv.DictReader(io.StringIO((marked / "pending.csv").read_text(encoding="utf-8"), newline=""))
    assert (pending["question"], pending["marks"]) == ("2", "")
    most = int(pending["pending"])

    def given(marks: str) -> None:
        lines = [",".join(pending), ",".join(f'"{x}"' for x in {**pending, "marks": marks}.values())]
        (marked / "pending.csv").write_text("\n".join(lines), encoding="utf-8")

    given(str(most + 1))
    with pytest.raises(InputError, match=f"pending.csv, row 2: the marks are '{most + 1}'; .* from 0 to {most} was"):
        symattn.grade(folder, submissions, out=marked, forms=("markdown",), jobs=1)
    given("1")
    for _ in range(2):  # another run keeps it
        book = symattn.grade(folder, submissions, out=marked, forms=("markdown",), jobs=1)
        [first, *_] = table(marked)
        assert (first["status"], first["total"], first["Q2"], bool(first["percent"])) == ("marked", "16", "1", True)
        assert [change.why for change in book.changes] == ["pending marks given"]
    feedback = (marked / "feedback" / f"{Path(first['file']).stem}.md").read_text(encoding="utf-8")
    assert f"16/{first['of']}" in feedback
    with (submissions / first["file"]).open("a", encoding="utf-8") as file:
        file.write("\n")
    symattn.grade(folder, submissions, out=marked, forms=("markdown",), jobs=1)
    assert table(marked)[0]["total"] == "15+?"
    kept = list(csv.DictReader(io.StringIO((marked / "pending.csv").read_text(encoding="utf-8"), newline="")))
    assert [row["marks"] for row in kept] == ["", "1"]


# ------------------------------------------------------------------------------------------------ a large class


@pytest.mark.slow
def test_three_hundred_submissions_ten_of_them_broken(tmp_path):
    """All kinds of mistakes in one command: nobody is missing, totals are as planted, what is broken is named."""
    exam = made_exam(tmp_path, 300, 12)
    known, rng = papers(exam), random.Random(7)
    folder = tmp_path / "submissions"
    folder.mkdir()
    kinds = {e.id: rng.choice(list(WORTH)) for e in known.entrants[:290]}
    scripts = {(s, kind): answers(known.questions(s), kind) for s in known.papers for kind in WORTH}
    for e in known.entrants[:290]:
        head = f'sheet = "{e.sheet}"\nstudent = "{e.id}"\n'
        (folder / f"{e.stem}.toml").write_text(head + scripts[e.sheet, kinds[e.id]], encoding="utf-8")
    broken = {
        "291-s291.png": PICTURE,
        "292-s292.pdf": b"%PDF-1.7\n\xff\xff",
        "293-s293.toml": b"",
        "294-s294.toml": b"[answers]\nS = [[1, 2\n",
        "295-s295.json": b'{"answers": {"S": [[1',
        "296-s296.toml": b"a." * 50_000 + b"a = 1\n",
        "297-s297.ipynb": b"[" * 100_000,
        "s999.toml": b'student = "s999"\n[answers]\nS = [[1]]\n',
        "299-s299.md": b"\xff\xfe\xff",
        "300-s300.csv": b"x" * 2_000_001,
    }
    for name, content in broken.items():
        (folder / name).write_bytes(content)
    result = run("grade", exam, folder, "--out", tmp_path / "marked", "--format", "text")
    assert result.exit_code == 0, result.output
    rows = table(tmp_path / "marked")
    assert [row["id"] for row in rows[:300]] == [f"s{k:03}" for k in range(1, 301)]
    assert {row["id"]: int(row["total"]) for row in rows[:290]} == {id: WORTH[kind] for id, kind in kinds.items()}
    assert {row["file"] for row in rows if row["status"] == "broken"} == set(broken) - {"s999.toml"}
    assert [row["file"] for row in rows if row["status"] == "pending"] == ["s999.toml"]  # it is nobody's
    named = dict(re.findall(r"^(?:broken|pending): (\S+): (.+)$", result.output, re.MULTILINE))
    assert set(named) == set(broken)
    assert all(reason.endswith(".") for reason in named.values()), named
    assert len(list((tmp_path / "marked/feedback").iterdir())) == 290
    summary = (tmp_path / "marked/summary.txt").read_text(encoding="utf-8")
    assert f"{statistics.mean(WORTH[kind] for kind in kinds.values()):.2f}" in summary
    for variant, students in _by_variant(known, kinds).items():
        mean = statistics.mean(WORTH[kinds[id]] for id in students)
        assert re.search(rf"{variant}( \*)?\s+{len(students)}\s+{mean:.2f}\s", summary), variant
    assert "0 of" not in re.sub(r"[1-9]0 of", "", summary)


@pytest.mark.slow
def test_nobody_can_change_the_marks_of_somebody_else(exam, submissions, tmp_path):
    """A file with the id of another inside, at the end of all names, and one with another's sheet in its head."""
    mine = shutil.copytree(submissions, tmp_path / "submissions")
    known = papers(exam)
    first, second = known.entrants[:2]
    (mine / "zzz.json").write_text(json.dumps({"student": first.id, "answers": {"S": [[0]]}}), encoding="utf-8")
    other = next(sheet for sheet in known.papers if sheet != second.sheet)
    taken = (mine / f"{second.stem}.toml").read_text(encoding="utf-8").replace(second.sheet, other)
    (mine / f"{second.stem}.toml").write_text(taken, encoding="utf-8")
    book = symattn.grade(exam, mine, jobs=2)
    assert (book.rows[0].total, book.rows[0].status, book.rows[0].said) == (WORTH[KINDS[0]], "marked", ())
    assert book.rows[1].status == "pending"
    assert book.rows[1].reason == (
        f"It answers paper {other}, but {second.sheet} was handed out; it is marked as {other}."
    )
    assert [row.total for row in book.rows[2:10]] == [WORTH[kind] for kind in KINDS[2:]]
    [nobody] = [row for row in book.rows if row.file == "zzz.json"]
    assert (nobody.number, nobody.status, nobody.has_marks) == (None, "pending", False)
    assert "An answer has to be read" not in book.text()
    assert f"It answers paper {other}" in " ".join(book.text().split())


def _by_variant(known, kinds) -> dict[str, list[str]]:
    """Who had which variant of the first question, by the papers that have it."""
    papers_of: dict[str, set[str]] = {}
    found: dict[str, list[str]] = {}
    for e in known.entrants:
        if e.id in kinds:
            variant = known.papers[e.sheet].variants[0]
            papers_of.setdefault(variant, set()).add(e.sheet)
            found.setdefault(variant, []).append(e.id)
    return {", ".join(sorted(papers_of[variant])): students for variant, students in found.items()}
