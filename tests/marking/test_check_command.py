"""One piece of work checked, from the command line and in Python: against what, from what, told to whom."""

import json
import shlex
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
import sympy
from commands import refusal, run
from sentences import refused_saying
from tables import tables_beside

import symattn
from symattn.errors import InputError
from symattn.foundation.dice import Dice
from symattn.marking.grading.source import papers
from symattn.marking.marker.policy import POLICIES
from symattn.teaching.exam.deploy import write_exam
from symattn.teaching.exam.spec import read_exam_file

REFUSED = tables_beside(__file__, "wrong_checks.toml")

# One query, two keys, no scale: S = [1 0], A = [e/(e+1) 1/(e+1)], Z = [(e+2)/(e+1)]; 7 marks.
PROBLEM = 'mechanism = "attention"\nscale = "none"\n[given]\nQ = [[1, 0]]\nK = [[1, 0], [0, 1]]\nV = [[1], [2]]\n'
RIGHT = 'S = [[1, 0]]\nA = [["e/(e+1)", "1/(1+e)"]]\nZ = [["(e+2)/(e+1)"]]\n'
# The softmax left out: A = S, so Z = S V = [1].  The weights lose M1 A1, what follows is right.
WRONG = "S = [[1, 0]]\nA = [[1, 0]]\nZ = [[1]]\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "problem.toml").write_text(PROBLEM, "utf-8")
    (tmp_path / "right.toml").write_text(RIGHT, "utf-8")
    (tmp_path / "wrong.toml").write_text(WRONG, "utf-8")
    return tmp_path


@pytest.fixture(scope="module")
def solution():
    return symattn.derive("attention", Q=[[1, 0]], K=[[1, 0], [0, 1]], V=[[1], [2]], scale="none")


said = partial(refusal, "check")


# ------------------------------------------------------------------------------------------------ the command


@pytest.mark.slow
def test_the_exit_code_says_whether_all_is_right_if_it_is_asked_for(folder):
    """Without marks, right means that nothing is wrong."""
    for file, code in (("right.toml", 0), ("wrong.toml", 1)):
        assert run("check", "problem.toml", file).exit_code == 0
        assert run("check", "problem.toml", file, "--exit-code").exit_code == code
        assert run("check", "problem.toml", file, "--exit-code", "--policy", "formative").exit_code == code


def test_only_the_teacher_is_told_the_key(folder):
    """A student is told one right number of a mistake: e/(e+1) = 0.7311, and not 1/(e+1) = 0.2689 as well."""
    teacher = run("check", "problem.toml", "wrong.toml", "--for", "teacher").output
    assert "0.7311" in teacher
    assert "0.2689" in teacher
    assert "0.2689" not in run("check", "problem.toml", "wrong.toml").output


def test_files_are_written_where_they_are_wanted(folder):
    result = run("check", "problem.toml", "wrong.toml", "--format", "text,json,pdf", "--out", "o")
    stems = ("wrong-marked", "wrong-marked-exercise", "wrong-marked-exercise-key")
    written = {"o/wrong-marked.json", *(f"o/{stem}.{end}" for stem in stems for end in ("pdf", "txt"))}
    assert set(result.output.split()) == written
    assert (folder / "o/wrong-marked.pdf").read_bytes().startswith(b"%PDF-")
    assert json.loads((folder / "o/wrong-marked.json").read_bytes())["file"] == "wrong.toml"


def test_options_reach_the_marking(folder):
    (folder / "scheme.toml").write_text('[[line]]\npart = "S"\nmarks = "M1 A3"\n', "utf-8")
    options = ["--scheme", "scheme.toml", "--rounding", "truncate", "--precision-mark", "--decimal-mark", ","]
    (folder / "comma.toml").write_text('S = [[1, 0]]\nA = [["0,73", "0,26"]]\nZ = [["1,26"]]\n', "utf-8")
    data = json.loads(run("check", "problem.toml", "comma.toml", "--format", "json", *options).output)
    # e/(e+1) = 0.7310…, 1/(e+1) = 0.2689…, 1 + 1/(e+1) = 1.2689…: cut off after two places, less the precision mark
    assert (data["total"], data["of"]) == (7, 8)


def test_settings_of_the_problem(folder):
    """With the scale of the mechanism, sqrt(2), the answers without it are not right."""
    (folder / "scaled.toml").write_text(PROBLEM.replace('scale = "none"\n', ""), "utf-8")
    for more, code in ([], 1), (["--scale", "none"], 0):
        assert run("check", "scaled.toml", "right.toml", "--exit-code", *more).exit_code == code


def test_answers_from_standard_input(folder):
    right = (folder / "right.toml").read_text("utf-8")
    piped = run("check", "problem.toml", "-", "--exit-code", answers=right)
    assert piped.exit_code == 0
    assert piped.output == run("check", "problem.toml", "right.toml").output
    assert "empty" in run("check", "problem.toml", "-", answers="").output


@pytest.mark.parametrize(("arguments", "says"), REFUSED.items())
def test_what_is_wrong_is_one_sentence(folder, arguments, says):
    for name, text in {
        "other.toml": '[[line]]\npart = "T"\n', "ib.toml": 'policy = "ib"\n', "sheet.md": "# Sheet\n",
        "broken.json": "{", "list.json": "[]", "exam.toml": '[[question]]\ntype = "full"\n',
        "named.toml": 'sheet = "AAAA-AAAA"\nS = [[1, 0]]\n', "picture.png": "\x89PNG\r\n\x1a\n",
    }.items():  # fmt: skip
        (folder / name).write_text(text, encoding="latin-1")
    before = sorted(folder.rglob("*"))
    assert says in said(*shlex.split(arguments))
    assert sorted(folder.rglob("*")) == before


# ------------------------------------------------------------------------------------------------ against what


@pytest.mark.slow
def test_a_worksheet_is_made_again_from_its_recipe(folder):
    """From a worksheet, from its key and from the frozen set: the same question, by the name of the sheet."""
    run("worksheet", "attention", "--level", "starter", "--seed", 1, "-n", 2, "--format", "markdown",
        "--out", "w", "--recipe")  # fmt: skip
    page, key, whole = (f"w/attention-1{end}" for end in ("-02.md", "-02-key.md", ".json"))
    second = [papers(path) for path in (page, key, whole)]
    sheet = next(iter(second[0].papers))
    assert sheet in second[2].papers
    assert len(second[2].papers) == 2
    assert len({tuple(known.questions(sheet)[0].entries()) for known in second}) == 1
    assert run("check", key, page, "--exit-code").exit_code == 1  # nothing is filled in
    assert "was answered, and this problem is sheet" in said("w/attention-1-01.md", page)


def test_a_worksheet_that_lost_its_head_is_known_by_its_foot_and_one_that_was_changed_refused(folder):
    run("worksheet", "attention", "--level", "starter", "--seed", 1, "--format", "markdown", "--out", "w", "--recipe")
    path = folder / "w/attention-1-01.md"
    known, text = papers(path), path.read_text("utf-8")
    path.write_text(text.split("---\n", 2)[2], "utf-8")
    assert list(papers(path).papers) == list(known.papers)
    for old, new, says in (
        ("--seed 1", "--seed 7", "it was made by another version of symattn, or was changed"),
        ("symattn worksheet attention", "symattn worksheet; ls", "is not a recipe that this version of symattn writes"),
    ):
        path.write_text(text.replace(old, new), "utf-8")
        assert says in said(path, path)


@pytest.mark.slow
def test_an_exams_paper_is_checked_against_the_exams_folder(folder):
    (folder / "exam.toml").write_text(
        'variants = 2\n[[question]]\ntype = "full"\nmechanism = "attention"\nlevel = "starter"\nscale = "sqrt(d_k)"\n',
        "utf-8",
    )
    exam, _ = write_exam(read_exam_file(folder / "exam.toml"), folder / "exam", ("markdown",), Dice.seeded(7))
    paper = folder / f"exam/papers/{exam.ids[1]}.md"
    data = json.loads(run("check", "exam", paper, "--format", "json").output)
    assert (data["sheet"], data["total"], data["of"]) == (exam.ids[1], 0, 15)
    assert "is not one of this exam's 2 papers" in said("exam", _named(folder, "AAAA-AAAA"))
    unnamed = said("exam/exam.json", _named(folder, ""))
    assert f'this exam has 2; it can be named in the file, in TOML as paper = "{exam.ids[0]}", or by' in unnamed
    assert "an exam's paper against the exam's folder" in said(paper, paper)


def _named(folder, sheet):
    path = folder / "answers.toml"
    path.write_text(f'sheet = "{sheet}"\n{RIGHT}', "utf-8")
    return path


# ------------------------------------------------------------------------------------------------ in Python


def test_answers_may_be_matrices_of_any_kind(solution):
    e = sympy.E
    for answers in (
        {
            "S": np.array([[1, 0]]),
            "A": sympy.Matrix([[e / (e + 1), 1 / (1 + e)]]),
            "Z": sympy.Matrix([[1 + 1 / (1 + e)]]),
        },
        {"S": solution["S"].result, "A": solution["A"].result, "Z": solution["Z"].result},
        {"S": ((Fraction(2, 2), 0),), "A": [[e / (e + 1), 1 / (e + 1)]], "Z": [[(e + 2) / (e + 1)]]},
        {"A": [[0.7311, 0.2689]], "S": [[1, 0]], "Z": [[1.2689]]},
    ):
        marking = symattn.check(solution, answers)
        assert (marking.total, marking.available) == (7, 7), answers


def test_what_is_no_number_is_refused(solution):
    with pytest.raises(InputError):
        symattn.check(solution, {"S": [[object(), 0]]})
    with refused_saying("nothing in it belongs to this sheet"):
        symattn.check(solution, {"T": [[1, 0]]})


def test_everything_that_was_made_can_be_checked_against(solution, folder):
    sheet = solution.worksheet()
    for problem in (solution, sheet, sheet.question, "problem.toml", folder / "problem.toml"):
        for answers in (folder / "right.toml", "right.toml", RIGHT):
            assert symattn.check(problem, answers).right
        assert not symattn.check(problem, "wrong.toml").right
    with refused_saying("This problem is worked out already"):
        symattn.check(solution, RIGHT, scale="none")


def test_a_marking_shows_itself(solution, folder):
    marking = symattn.check(solution, WRONG)
    assert repr(marking) == "<5/7 marks, 1 mistake>"
    assert "5" in str(marking)
    page = marking.text("markdown")
    assert marking._repr_markdown_().partition("\n")[2] in page  # without the page's head, and its title a line
    names = ["marking.txt", "marking-exercise.txt", "marking-exercise-key.txt", "marking.json"]
    assert [path.name for path in marking.write("o", forms=("text", "json"))] == names
    with refused_saying("pdf is not text"):
        marking.text("pdf")
    with refused_saying("cannot be written"):
        marking.write("right.toml/o", forms=("json",))


def test_a_policy_may_be_ones_own(solution):
    kind = replace(POLICIES["strict"], name="kind", threshold=Fraction(0))
    assert symattn.check(solution, WRONG, policy=kind).reports[0].policy == kind
