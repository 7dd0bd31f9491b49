"""Programs of steps, batches and problem files given in Python, as from a file; what a notebook shows of results."""

import json
import re
import tomllib
from xml.etree import ElementTree

import numpy as np
import oracles
import pytest
import sympy
import test_self_check
from sentences import refused_saying
from writer_markdown_rules import lint
from wrong_values import dumps

import symattn
from symattn.api import check, derive, worksheet
from symattn.errors import ReadError, ShapeError
from symattn.exact import Matrix
from symattn.foundation.typed import plain
from symattn.teaching.explanation.parts import wording_of
from symattn.teaching.problem import load_example
from symattn.teaching.rendering import render

QK = {"Q": [[1, 0], [2, 1]], "K": [[1, 0], [0, 1]]}
SCORES = {"name": "S", "op": "matmul", "of": ["Q", "K^T"]}
GIVEN = {"Q": [[1, 0]], "K": [[1, 0], [0, 1]], "V": [[1], [2]]}
WEIGHTS = {"name": "A", "op": "softmax", "of": "S", "base": 2}


def test_steps_are_worked_out_as_numpy_has_it():
    steps = [SCORES, WEIGHTS, {"name": "Z", "op": "matmul", "of": ("A", "V")}]
    V = np.array([[1.0, 2], [0.5, 4]])
    d = symattn.derive("custom", steps=steps, **QK, V=V)
    powers = 2.0 ** (np.array(QK["Q"]) @ np.array(QK["K"]).T)
    weights = powers / powers.sum(axis=1, keepdims=True)
    assert np.allclose(np.asarray(d["A"].result, dtype=float), weights)
    assert np.allclose(np.asarray(d.output, dtype=float), weights @ V)
    assert d.problem.title == "The derivation"
    assert d.text("markdown")
    assert d.worksheet().question.parts


@pytest.mark.parametrize("notation", ["standard", "columns", "note-001"])
@pytest.mark.parametrize("name", ["G", "J", "outer", "state", "weighted"])
def test_one_matrix_is_not_called_after_those_of_each_token(notation, name):
    product = {"name": name, "op": "matmul", "of": ["Q", "K^T"]}
    d = symattn.derive("custom", steps=[product], **QK, notation=notation)
    assert all(sign not in d.text("text") for sign in ("t, 1", "ₜ"))


def test_results_of_other_derivations_are_givens_exactly():
    first = symattn.derive("attention", **QK, V=[[1], [2]])
    [step] = (symattn.derive("custom", steps=[{"name": "Z", "op": "matmul", "of": ["A", "V"]}], A=first["A"].result,
                             V=[[1], [2]]).steps)  # fmt: skip
    e, s = sympy.E, sympy.sqrt(2) / 2
    right = sympy.Matrix([[1 + 1 / (e**s + 1)], [1 + e**s / (e ** (2 * s) + e**s)]])
    assert all(sympy.simplify(x) == 0 for x in step.result.sympy() - right)


def test_every_op_comes_out_as_from_a_file(tmp_path):
    steps, givens = test_self_check.STEPS, test_self_check.GIVENS
    path = tmp_path / "every-op.toml"
    path.write_text(dumps({"mechanism": "custom", "given": givens, "step": steps}), "utf-8")
    by_file = symattn.derive(path)
    of = [{**step, "operands": tuple(step["operands"])} for step in steps]
    by_words, by_dict = (
        symattn.derive("custom", steps=of, **givens),
        symattn.derive({"mechanism": "custom", "given": givens, "step": steps, "title": by_file.problem.title}),
    )
    for d in (by_words, by_dict):
        assert d.derivation == by_file.derivation
    assert by_dict.text() == by_file.text()


@pytest.mark.parametrize("name", ["note-002", "note-004"])
def test_the_contents_of_a_file_as_a_dict(name):
    data = json.loads(json.dumps(plain(load_example(name))))
    assert symattn.derive(data).text() == symattn.derive(name).text()
    assert symattn.derive(data, corrected=False).text() == symattn.derive(name, corrected=False).text()


def test_a_dict_takes_settings_and_arrays_and_is_titled_by_its_mechanism():
    data = {"mechanism": "attention", "given": {**QK, "V": np.eye(2)}, "scale": "none"}
    d = symattn.derive(data, base=2, places=3)
    assert d["A"].result.sympy() == sympy.Matrix([["2/3", "1/3"], ["2/3", "1/3"]])
    assert d.problem.title == symattn.derive("attention", **QK, V=[[1], [2]]).problem.title


def test_errors_keep_their_kind():
    wrong = {**SCORES, "name": "T", "of": ["Q", "A"]}
    with pytest.raises(ShapeError, match=r"^steps\[1\]"):
        symattn.derive("custom", steps=[SCORES, wrong], **QK, A=[[1, 2, 3]])
    half = {"name": "D", "op": "scale", "of": "S", "by": 2, "written": "√("}
    with pytest.raises(ReadError, match=r"^steps\[1\]") as error:
        symattn.derive("custom", steps=[SCORES, half], **QK)
    assert "^" in error.value.pointer


def test_a_file_may_say_of_for_operands_and_is_told_of_settings_that_do_nothing(tmp_path):
    path = tmp_path / "custom.toml"
    text = dumps({"mechanism": "custom", "given": QK, "step": [SCORES, WEIGHTS]})
    path.write_text(text, "utf-8")
    assert tomllib.loads(text)["step"][0]["of"] == ["Q", "K^T"]
    assert symattn.derive(path)["A"].result.sympy()[0, 0] == sympy.Rational(2, 3)
    path.write_text(f'scale = "none"\n{text}', "utf-8")
    with refused_saying("A custom problem has no setting 'scale'"):
        symattn.derive(path)


def test_output_is_always_there():
    shapes = symattn.derive("attention", symbolic=True, sizes={"n": "N"})
    assert shapes.output.shape == ("N", "d_v")
    by_token = symattn.derive("note-002", stop_at="S")
    assert by_token.output == by_token["S.3"].result
    assert symattn.derive("note-002").output == symattn.derive("note-002")["Z"].result


def test_a_solution_is_gone_through_step_by_step():
    d = symattn.derive("attention", **GIVEN)
    assert [step.name for step in d] == ["S", "S'", "A", "Z"]
    assert len(d) == 4
    assert [name in d for name in ("Q", "A", "B", 0)] == [True, True, False, False]


def test_a_derivation_has_as_many_places_as_are_asked_for():
    d = symattn.derive("attention", **GIVEN, scale="none", places=2)
    assert d.problem.places == 2
    found = re.findall(r"\b\d+\.(\d+)\b", d.text())
    assert found
    assert {len(digits) for digits in found} == {2}


def test_answers_are_checked_against_what_stands_in_a_file():
    problem = {"mechanism": "attention", "scale": "none", "given": GIVEN}
    answers = {"S": [[1, 0]], "A": [["e/(e+1)", "1/(1+e)"]], "Z": [["(e+2)/(e+1)"]]}
    assert symattn.check(problem, answers).right
    assert not symattn.check(problem, {**answers, "S": [[0, 1]]}).right
    assert not symattn.check(problem, answers, base=2).right


@pytest.mark.parametrize("name", ["F", "N", "O", "P", "T"])
def test_a_step_of_ones_own_is_called_after_its_operation_and_steps_of_attention_as_in_attention(name):
    steps = [
        {"name": name, "op": "add", "of": ["X", "Y"]},
        {"name": "S", "op": "matmul", "of": [name, "X^T"]},
        {"name": f"d{name}", "op": "add", "of": ["S", "S"]},
    ]
    d = symattn.derive("custom", steps=steps, X=[[1, 2]], Y=[[0, 1]])
    assert [wording_of(d.problem).word(step) for step in d] == ["Sum", "Scores", "Gradient"]


# ------------------------------------------------------------------------------------------------ batches

RNG = np.random.default_rng(4)
Q, K, V = (RNG.integers(-2, 3, shape) for shape in ((3, 2, 4), (3, 5, 4), (3, 5, 2)))


@pytest.mark.parametrize("kind", ["lists", "numpy"])
def test_a_batch_is_what_numpy_makes_of_it(kind):
    made = {"lists": lambda a: a.tolist(), "numpy": np.array}[kind]
    output = np.array([oracles.numpy_attention(*one, scale=2)["Z"] for one in zip(Q, K, V, strict=True)])
    batch = symattn.batch("attention", Q=made(Q), K=made(K), V=made(V))
    assert len(batch) == 3
    assert np.allclose(batch.floats("Z"), output, atol=1e-12)
    assert all(isinstance(one, Matrix) and one.shape == (2, 5) for one in batch.results("A"))
    assert batch[1].output == batch.results("Z")[1]
    assert [len(part) for part in (batch[1:], batch[:1])] == [2, 1]
    assert np.allclose(np.array(batch.total("Z"), dtype=float), output.sum(0), atol=1e-12)


def test_each_sequence_has_its_worksheet_and_is_checked_by_itself():
    batch = symattn.batch("attention", **GIVEN | {"Q": [[[1, 0]], [[0, 1]]]}, base=2, scale="none")
    assert [one.worksheet().key.title for one in batch] == [batch[0].worksheet().key.title] * 2
    assert symattn.check(batch[1], {"S": [[0, 1]], "A": [["1/3", "2/3"]], "Z": [["5/3"]]}).right
    with refused_saying("one sequence at a time"):
        symattn.check(batch, {"Z": [[1]]})


def test_a_problem_file_may_have_a_batch(tmp_path):
    path = tmp_path / "batch.toml"
    contents = {"mechanism": "attention", "base": 2, "scale": "none", "given": GIVEN | {"Q": [[[1, 0]], [[0, 1]]]}}
    path.write_text(dumps(contents), "utf-8")
    by_hand = (Matrix([["4/3"]]), Matrix([["5/3"]]))  # weights 2/3 and 1/3 of the values 1 and 2, and back
    assert symattn.batch(path).results("Z") == by_hand
    assert symattn.batch(contents).results("Z") == by_hand
    with refused_saying(r"Given Q has three dimensions or more; .* symattn\.batch"):
        symattn.derive(path)


def test_steps_of_ones_own_go_over_a_batch():
    steps = [{"name": "S", "op": "matmul", "of": ["Q", "K^T"]}, {"name": "T", "op": "scale", "of": "S", "by": 2}]
    assert np.allclose(symattn.batch("custom", steps=steps, Q=Q, K=K).floats("T"), Q @ K.transpose(0, 2, 1) / 2)


def test_shapes_have_no_numbers():
    whole = symattn.batch("attention", Q=[[[1]], [[1], [2]]], K=[[1]], V=[[1]])
    with refused_saying("Z is 1×1 and 2×1"):
        whole.total("Z")
    with refused_saying("There is no matrix 'ZZ'"):
        whole.results("ZZ")


# ------------------------------------------------------------------------------------------------ shown in a notebook


@pytest.fixture(scope="module")
def solution():
    return derive("attention", **GIVEN)


@pytest.fixture(scope="module")
def results(solution):
    [sheet] = worksheet("attention", seed=3)
    marking = check(solution, {"S": [[1, 0]], "A": [["1/2", "1/2"]]})
    return {"solution": solution, "sheet": sheet, "marking": marking}


@pytest.mark.parametrize("name", ["solution", "sheet", "marking"])
def test_what_is_shown_is_a_piece_of_a_page(results, name):
    shown = results[name]._repr_markdown_()
    assert shown.startswith("**")
    assert "symattn: 1" not in shown
    assert lint(shown) == []
    tags = {part.tag for part in ElementTree.fromstring(results[name]._repr_html_()).iter()}
    assert "math" in tags
    assert not tags & {"html", "head", "body", "script", "title"}


def test_the_same_formulas_are_shown_and_written(solution):
    written = render(solution.document, "markdown")[1].decode()
    body = solution._repr_markdown_().partition("\n\n")[2].strip()
    assert body in written


def test_a_step_and_its_matrix_are_latex(solution):
    step = solution["S'"]
    matrix = step.result._repr_latex_()
    assert matrix.startswith("$\\displaystyle")
    assert step._repr_latex_().startswith("$\\displaystyle S'")
    assert step._repr_latex_().count("matrix}") == matrix.count("matrix}") == 2
    assert "\\sqrt{2}" in matrix


def test_a_step_without_numbers_shows_its_shape():
    assert derive("note-001")["Q"]._repr_latex_() == (
        r"$\displaystyle \operatorname{shape}{\left(Q \right)} = \left( 2, \  64\right)$"
    )
