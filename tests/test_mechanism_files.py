"""Mechanisms in files of a teacher's own: drawn, varied, keyed, marked and frozen like those of the catalogue."""

from __future__ import annotations

import json
import shutil
import tomllib
from pathlib import Path

import numpy as np
import pytest
from commands import run
from exams import exam_file, written
from oracles import softmax

import symattn
from symattn.derivation.mechanisms import kept_mechanism, mechanism
from symattn.errors import InputError
from symattn.exact.rounding import approximate
from symattn.page.writers.characters import plain

FILES = Path(__file__).parent / "mechanism_files"
GENERAL, ADDITIVE = str(FILES / "general.toml"), str(FILES / "additive.toml")


def numbers(d, name):
    return np.array([[approximate(x) for x in row] for row in d.value(name).rows])


def general(Q, W, K, V):
    """Luong, Pham and Manning (2015), section 3.1: score(q, k) = q W kᵀ."""
    return softmax(Q @ W @ K.T) @ V


def additive(s, W, H, U, v):
    """Bahdanau, Cho and Bengio (2015), appendix A.1.2: e_j = v tanh(s W + h_j U)ᵀ."""
    return softmax(v @ np.tanh(s @ W + H @ U).T) @ H


def qk_norm(Q, K, V):
    """Rows are divided by their root mean squares before the scores."""
    Q, K = (m / np.sqrt((m**2).mean(axis=1, keepdims=True)) for m in (Q, K))
    return softmax(Q @ K.T) @ V


def sink(Q, K, V, s):
    """One more score in the denominator, whose weight goes nowhere."""
    powers = np.exp(Q @ K.T)
    return powers / (powers.sum(axis=1, keepdims=True) + np.exp(s)) @ V


WITNESSES = {"general": general, "additive": additive, "qk_norm": qk_norm, "sink": sink}


@pytest.mark.covering(most=2)
@pytest.mark.parametrize(("file", "witness"), [(str(FILES / f"{name}.toml"), f) for name, f in WITNESSES.items()])
def test_what_is_drawn_is_worked_out_as_in_the_papers(file, witness):
    for sheet in symattn.worksheet(file, n=3, seed=5):
        d = sheet.problem.derivation
        givens = {name: numbers(d, name) for name in d.givens}
        assert np.allclose(witness(**givens), numbers(d, "Z"))


@pytest.mark.slow
def test_thirty_variants_are_about_equally_much_work():
    loads = [sheet.question.features["load"] for sheet in symattn.worksheet(GENERAL, n=30, seed=7)]
    assert all(abs(load - sorted(loads)[15]) <= 0.1 * sorted(loads)[15] for load in loads)


def test_steps_are_called_by_their_own_titles():
    [sheet] = symattn.worksheet(ADDITIVE, seed=5)
    titles = [plain(part.title).split(" ")[0] for part in sheet.question.parts]
    assert titles == ["Queries", "Keys", "Sums", "Hidden", "Scores", "Weights", "Context"]


def test_a_right_script_gets_everything_and_a_mistake_is_named():
    [sheet] = symattn.worksheet(GENERAL, seed=5)
    d = sheet.problem.derivation
    right = {name: [[str(x) for x in row] for row in d.value(name).rows] for name in ("T", "S", "A", "Z")}
    assert symattn.check(sheet, right).total == sheet.question.marks
    column_wise = softmax(numbers(d, "S").T).T
    wrong = {**right, "A": column_wise.round(4).tolist(), "Z": (column_wise @ numbers(d, "V")).round(4).tolist()}
    marking = symattn.check(sheet, wrong)
    assert marking.total < sheet.question.marks
    assert "Softmax over columns." in marking.text()


def test_an_exam_keeps_the_file_and_needs_it_no_more(tmp_path):
    """Nor its own, after whose name it is called where no title is stated: papers have their ids from the title."""
    for file in (GENERAL, ADDITIVE):
        shutil.copy(file, tmp_path)
    text = 'variants = 2\n[[question]]\nmechanism = "general.toml"\nask = ["S", "Z"]\n'
    exam, _ = written(exam_file(tmp_path, text), seed=3)
    (tmp_path / "general.toml").unlink()
    d = exam.question(0, 0).problem.derivation
    hand_in = [f"{name} = {[[str(x) for x in row] for row in d.value(name).rows]}".replace("'", "") for name in "SZ"]
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / f"{exam.ids[exam.papers.index((0,))]}.txt").write_text("\n".join(hand_in), encoding="utf-8")
    symattn.grade(tmp_path / "out", tmp_path / "in", out=tmp_path / "marked", forms=["markdown"])
    [row] = json.loads((tmp_path / "marked" / "marks.json").read_text(encoding="utf-8"))["rows"]
    assert row["results"][0]["total"] == exam.question(0, 0).marks


def test_worksheets_and_banks_are_made_in_the_shell(tmp_path, monkeypatch):
    shutil.copy(GENERAL, tmp_path)
    monkeypatch.chdir(tmp_path)
    done = run("worksheet", "general.toml", "--seed", "7", "--format", "markdown,moodle", "--out", "out")
    assert done.exit_code == 0, done.output
    assert {path.name for path in (tmp_path / "out").iterdir()} >= {"general-7-01.md", "general-7-01-key.md"}
    assert "symattn worksheet general.toml --seed 7" in (tmp_path / "out" / "general-7-01-key.md").read_text("utf-8")


def test_what_is_kept_is_the_same_mechanism():
    assert mechanism(kept_mechanism(GENERAL)).givens == mechanism(GENERAL).givens
    assert kept_mechanism("self-attention") == "self-attention"  # as frozen exams have it


@pytest.mark.covering(most=2)
@pytest.mark.parametrize("path", sorted(FILES.glob("*.toml")), ids=lambda path: path.stem)
def test_a_file_is_described_as_a_mechanism_is_and_its_example_runs(path, monkeypatch, capsys):
    monkeypatch.chdir(FILES)
    said = symattn.describe(path.name)
    stated = tomllib.loads(path.read_text("utf-8"))
    assert {one.name: one.shape for one in said.givens} == {
        name: (str(shape["rows"]), str(shape["columns"])) for name, shape in stated["given"].items()
    }
    assert [one.name for one in said.steps] == [step["name"] for step in stated["step"]]
    exec(said.example.python, {})
    assert said.steps[-1].name in capsys.readouterr().out
    assert run("list", "mechanism", path.name).output == f"{said}\n"


WRONG = {
    "n = 2": ("n = 0", "general.toml: sizes.n is 0; a whole number from 1 to 50 was expected."),
    "m = 3": ("", "general.toml: sizes has no m; a number for every letter of the shapes was expected."),
    'op = "softmax"': ('op = "sofmax"', "general.toml: Step 'A' has the op 'sofmax'; did you mean softmax?"),
    "d_v = 2": ("d_v = 2\nd_w = 3", "general.toml: sizes has 'd_w'; "),
    "title = ": ("titel = ", "general.toml has 'titel'; did you mean title?"),
}


@pytest.mark.parametrize("old", WRONG)
def test_what_is_wrong_in_a_file_is_told(tmp_path, old):
    new, says = WRONG[old]
    text = (FILES / "general.toml").read_text(encoding="utf-8")
    (tmp_path / "general.toml").write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError) as told:
        symattn.worksheet(str(tmp_path / "general.toml"), seed=1)
    assert str(told.value).startswith(says)
