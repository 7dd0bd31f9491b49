"""The answers alone: every part has one, the numbers are those of another route, and a full question takes a page."""

from __future__ import annotations

import io

import numpy as np
import pytest
from click.testing import CliRunner
from oracles import floats
from pypdf import PdfReader

import symattn
from symattn.cli import main
from symattn.derivation.mechanisms import mechanisms
from symattn.page.writers.markdown import write as written
from symattn.page.writers.text import write
from symattn.teaching.problems import problem_types
from symattn.teaching.question import (
    CellsAnswer,
    ChoiceAnswer,
    FormulaAnswer,
    OrderAnswer,
    PropertyAnswer,
    ShapeAnswer,
    WordAnswer,
)
from symattn.teaching.sheets import render


@pytest.mark.covering(most=8)
@pytest.mark.parametrize("problem", sorted(problem_types()))
def test_every_part_has_an_answer_and_its_marks(problem):
    sheet = symattn.worksheet(problem=problem, seed=11)[0]
    lines = write(sheet.document("answers")).splitlines()
    marks = next(line for line in lines if line.startswith("Marks")).split()
    assert sum(map(int, marks[1:-1])) == int(marks[-1]) == sheet.question.marks
    for number, part in enumerate(sheet.question.parts, 1):
        line = next((line for line in lines if line.startswith(f"{number}. ")), "")
        match part.answer:
            case ChoiceAnswer() as answer:
                right = {"ABCDEFGHIJ"[k] for k, option in enumerate(answer.options) if option.right}
                words = line.rsplit("  ", 1)[-1].replace(",", " ").split()
                assert {*words} - {"and"} == right
            case ShapeAnswer(shape):
                assert line.endswith(f"{shape[0]}×{shape[1]}" if shape else "not defined")
            case FormulaAnswer() | OrderAnswer() | WordAnswer() | CellsAnswer() | PropertyAnswer():
                assert line


def test_the_name_of_a_wrong_line_is_a_formula():
    """Beside it stands the letter of an option, which may be A as well."""
    for sheet in symattn.worksheet(problem="find-error", seed=11, n=3):
        line = next(line for line in written(sheet.document("answers")).splitlines() if "wrong line" in line)
        assert line.endswith(f"| ${sheet.question.parts[0].answer.word}$ |")


@pytest.mark.parametrize("seed", range(1, 4))
def test_decimals_are_those_of_numpy(seed):
    sheet = symattn.worksheet("attention", seed=seed)[0]
    d = sheet.problem.derivation
    q, k, v = (floats(d.value(name)) for name in "QKV")
    powers = np.exp(q @ k.T / np.sqrt(k.shape[1]))
    weights = powers / powers.sum(axis=1, keepdims=True)
    numbers = {text.lstrip("−") for text in write(sheet.document("answers")).split()}
    for x in map(abs, [*weights.ravel(), *(weights @ v).ravel()]):
        assert {f"{x:.4f}", f"{x:g}"} & numbers, x


@pytest.mark.parametrize("name", ["self_attention", "causal_self_attention", "cross_attention", "multi_head_attention"])
def test_they_take_one_page(name):
    document = symattn.worksheet(name, seed=11)[0].document("answers")
    assert len(PdfReader(io.BytesIO(render(document, "pdf")[1])).pages) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", list(mechanisms()))
@pytest.mark.parametrize("form", ["latex", "markdown", "html", "typst"])
def test_every_mechanism_in_every_format(name, form):
    assert render(symattn.worksheet(name, seed=1)[0].document("answers"), form)[1]


def test_on_the_command_line(tmp_path):
    made = CliRunner().invoke(
        main, ["worksheet", "attention", "--solutions", "answers", "--format", "markdown", "--out", str(tmp_path)]
    )
    assert made.exit_code == 0, made.output
    [file] = tmp_path.glob("*-answers.md")
    assert "Answers" in file.read_text(encoding="utf-8")
    assert "Fill in every box" not in file.read_text(encoding="utf-8")
