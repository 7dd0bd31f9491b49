"""The answers alone: every part has one, the numbers are those of another route, and a full question takes a page."""

import io

import numpy as np
import pytest
from commands import run
from oracles import floats
from pypdf import PdfReader

import symattn
from symattn.page.writers.markdown import write as written
from symattn.page.writers.text import write
from symattn.teaching.sheets import render


def test_the_name_of_a_wrong_line_is_a_formula():
    """Beside it stands the letter of an option, which may be A as well."""
    for sheet in symattn.worksheet(problem="find-error", seed=11, n=3):
        line = next(line for line in written(sheet.document("answers")).splitlines() if "wrong line" in line)
        assert line.endswith(f"| ${sheet.question.parts[0].answer.word}$ |")


@pytest.mark.parametrize("seed", range(1, 2))
def test_decimals_are_those_of_numpy(seed):
    sheet = symattn.worksheet("attention", seed=seed)[0]
    d = sheet.problem.derivation
    q, k, v = (floats(d.value(name)) for name in "QKV")
    powers = np.exp(q @ k.T / np.sqrt(k.shape[1]))
    weights = powers / powers.sum(axis=1, keepdims=True)
    numbers = {text.lstrip("−") for text in write(sheet.document("answers")).split()}
    for x in map(abs, [*weights.ravel(), *(weights @ v).ravel()]):
        assert {f"{x:.4f}", f"{x:g}"} & numbers, x


@pytest.mark.parametrize("name", ["cross_attention", "multi_head_attention"])
def test_they_take_one_page(name):
    document = symattn.worksheet(name, seed=11)[0].document("answers")
    assert len(PdfReader(io.BytesIO(render(document, "pdf")[1])).pages) == 1


def test_on_the_command_line(tmp_path):
    made = run("worksheet", "attention", "--solutions", "answers", "--format", "markdown", "--out", tmp_path)
    assert made.exit_code == 0, made.output
    [file] = tmp_path.glob("*-answers.md")
    assert "Answers" in file.read_text("utf-8")
    assert "Fill in every box" not in file.read_text("utf-8")
