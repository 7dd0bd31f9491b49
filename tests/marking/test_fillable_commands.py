"""Forms from the command line: written, filled in, checked and graded."""

import csv
import json
from pathlib import Path

import pytest
from commands import run
from forms import boxes, texts_of, typed
from scripts import key_script
from sentences import refused_saying

from symattn.marking.grading.source import papers
from symattn.page.presentation import make_look

# One query, two keys, no scale: S = [1 0], A = [e/(e+1) 1/(e+1)], Z = [(e+2)/(e+1)]; 7 marks.
PROBLEM = 'mechanism = "attention"\nscale = "none"\n[given]\nQ = [[1, 0]]\nK = [[1, 0], [0, 1]]\nV = [[1], [2]]\n'
RIGHT = {"1/grid/1/1/1": "1", "1/grid/1/1/2": "0", "2/grid/1/1/1": "e/(e+1)", "2/grid/1/1/2": "1/(1+e)",
         "3/grid/1/1/1": "(e+2)/(e+1)"}  # fmt: skip
# The softmax left out.
WRONG = RIGHT | {"2/grid/1/1/1": "1", "2/grid/1/1/2": "0", "3/grid/1/1/1": "1"}
SAME = "S = [[1, 0]]\nA = [[1, 0]]\nZ = [[1]]\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("problem.toml").write_text(PROBLEM, "utf-8")
    return tmp_path


def filled(path, texts, into):
    form = Path(path).read_bytes()
    sheet = boxes(form)[0].name.partition("/")[0]
    Path(into).write_bytes(typed(form, {f"{sheet}/{where}": text for where, text in texts.items()}))


def test_a_problem_as_a_form_is_checked(folder):
    made = run("derive", "problem.toml", "--as", "worksheet", "--format", "pdf", "--fillable", "--out", "made")
    assert made.exit_code == 0, made.output
    filled("made/problem-worksheet.pdf", RIGHT, "right.pdf")
    filled("made/problem-worksheet.pdf", WRONG, "wrong.pdf")
    assert run("check", "problem.toml", "right.pdf", "--exit-code").exit_code == 0
    assert run("check", "problem.toml", "wrong.pdf", "--exit-code").exit_code == 1
    Path("same.toml").write_text(SAME, "utf-8")
    marked = [run("check", "problem.toml", file, "--format", "json").output for file in ("wrong.pdf", "same.toml")]
    form, text = (json.loads(output)["questions"] for output in marked)
    assert form == text


EXAM = """title = "Exam"
fillable = true
variants = 1
[[question]]
type = "full"
mechanism = "attention"
level = "starter"
[[question]]
type = "choice"
"""


@pytest.mark.slow
def test_papers_as_forms_are_graded(folder):
    Path("exam.toml").write_text(EXAM, "utf-8")
    made = run("worksheet", "exam.toml", "--seed", 3, "--format", "pdf", "--out", "made", "--quiet")
    assert made.exit_code == 0, made.output
    against = papers("made/exam")
    Path("handed-in").mkdir()
    for sheet in against.papers:
        questions = against.questions(sheet)
        form = Path(f"made/exam/papers/{sheet}.pdf").read_bytes()
        assert not boxes(Path(f"made/exam/keys/{sheet}-key.pdf").read_bytes())
        texts = texts_of(sheet, questions[:1], [key_script(questions[0])], letters=True)
        Path(f"handed-in/{sheet}.pdf").write_bytes(typed(form, texts))
    graded = run("grade", "made/exam", "handed-in", "--out", "graded", "--format", "text")
    assert graded.exit_code == 0, graded.output
    with Path("graded/gradebook.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["status"], row["Q1"], row["Q2"]) for row in rows] == [("marked", str(questions[0].marks), "0")]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("worksheet", "--seed", 7, "--fillable", "--together"), "A form is one student's"),
        (("worksheet", "--seed", 7, "--fillable", "--format", "latex"), "Only PDF has form fields"),
        (("derive", "problem.toml", "--fillable"), "--as worksheet --format pdf"),
    ],
)
def test_what_has_no_fields_is_refused(folder, arguments, says):
    result = run(*arguments)
    assert result.exit_code == 2
    assert says in result.output
    assert not (folder / "output").exists()


def test_a_look_is_fillable_or_not():
    assert make_look(fillable=True).fillable
    with refused_saying("fillable is 'yes'; true or false was expected"):
        make_look(fillable="yes")
