"""Problem files: what they can say, and one sentence for everything that is wrong with one."""

from dataclasses import replace

import oracles
import pytest
import sympy
from sentences import refused_saying

from symattn.api import derive
from symattn.derivation.mechanisms import mechanisms
from symattn.page.notation import load_notation, notations
from symattn.page.presentation import make_look
from symattn.teaching.problem import examples, load_example, problem_file
from symattn.teaching.rendering import render

GOOD = """
title = "Two tokens"
mechanism = "attention"
scale = "none"
base = 2

[given]
Q = [[1, 0], [0, "1/2"]]
K = [[1, 1], [2, 0]]
V = [[1], ["2/3"]]

[ask]
steps = ["S", "A", "Z"]
places = 3
exact = false
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(folder, text, name="problem.toml"):
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def test_a_problem_is_read_and_worked_out(folder):
    (folder / "it.toml").write_bytes(b"\xef\xbb\xbf" + GOOD.encode())  # editors on Windows put that before it
    solution = derive("it.toml")
    half = sympy.Rational(1, 2)
    assert solution["S"].result.sympy() == sympy.Matrix([[1, 2], [half, 0]])
    assert solution["A"].result.sympy()[0, :] == sympy.Matrix([["1/3", "2/3"]])
    assert solution.problem.title == "Two tokens"
    assert [s.name for s in solution.problem.asked_steps] == ["S", "A", "Z"]
    assert (solution.problem.places, solution.problem.exact) == (3, False)


def test_the_worksheet_asks_for_the_steps_that_were_asked(folder):
    from symattn.page.document import AnswerGrid, all_blocks

    sheet = derive(written(folder, GOOD)).worksheet()
    blocks = list(all_blocks(sheet.worksheet.blocks))
    asked = [oracles.plain(b.name) for b in blocks if isinstance(b, AnswerGrid)]
    assert asked == ["S", "A", "Z"]
    assert [b.kind for b in blocks if isinstance(b, AnswerGrid)][1:] == ["decimal", "decimal"]


@pytest.mark.parametrize(
    "name", ["I", "J", "T", "E", "N", "i", "e", "ab", "a b", "Σ", "for", "sqrt", "x_1_2", "W_Q", "2", "S'"]
)
def test_a_matrix_may_have_any_name(name):
    # I for an identity matrix, J for a Jacobian: their letters are also those of indices
    from symattn.api import Solution

    first = {"name": name, "op": "matmul", "operands": ["G", "G"]}
    second = {"name": "H", "op": "transpose", "operands": [name]}
    data = {"mechanism": "custom", "given": {"G": [[1, 2], [0, 1]]}, "step": [first, second]}
    for form in ("text", "latex", "markdown", "typst"):
        assert "4" in Solution(problem_file(data, "it").problem()).text(form)


def test_the_settings_of_a_file_are_those_of_the_mechanism(folder):
    path = written(
        folder,
        'mechanism = "attention"\nmask = [[1, 0], [1, 1]]\nscale = 2\n[rounding]\nplaces = 1\n'
        'method = "truncate"\n[given]\nQ = [[2], [2]]\nK = [[1], [0]]\nV = [[1], [2]]\n',
    )
    found = derive(path)
    assert found["A_rounded"].result.sympy() == sympy.Matrix([[1, 0], ["7/10", "1/5"]])


def test_letters_and_shapes_are_givens_too(folder):
    letters = derive(written(folder, 'mechanism = "attention"\n[given]\nQ = [["a"]]\nK = [[1]]\nV = [["2b"]]\n'))
    assert {s.name for s in letters["Z"].result.sympy().free_symbols} == {"b"}
    shapes = derive(
        written(
            folder,
            'mechanism = "attention"\n[given]\nQ = {rows = "N", columns = 4}\nK = {rows = "N", columns = 4}\n'
            'V = {rows = "N", columns = 2}\n',
        )
    )
    assert shapes["Z"].result.shape == ("N", 2)


# ------------------------------------------------------------------------------------------------ what is wrong


def test_a_file_that_is_a_folder(folder):
    (folder / "it.toml").mkdir()
    with refused_saying("cannot be read"):
        derive("it.toml")


def test_a_file_that_is_no_text(folder):
    (folder / "it.toml").write_bytes(b'title = "\xff\xfe"')
    with refused_saying("not text in UTF-8"):
        derive("it.toml")


# ------------------------------------------------------------------------------------------------ catalogues


def test_a_title_of_ones_own_stands_above_the_page():
    assert derive("attention", Q=[[1]], K=[[1]], V=[[1]], title="Our *example*").text().startswith("Our *example*\n═")


def test_everything_in_the_catalogues_has_a_title():
    for name in examples():
        assert load_example(name).title != name
    for name in notations():
        assert load_notation(name).name == name != load_notation(name).title
    assert all(chosen.title[0].isupper() for chosen in mechanisms().values())


def test_a_notation_of_ones_own(folder):
    written(folder, 'title = "Mine"\nproduct = "·"\n[names]\nA = {matrix = "P", entry = "p_{i,j}"}\n', "mine.toml")
    text = derive("attention", Q=[[1]], K=[[1], [2]], V=[[1], [2]], notation="mine.toml").text()
    assert "p₁₂" in text
    assert "P" in text
    path = written(folder, 'notation = "mine.toml"\n' + GOOD)
    assert "p₁₂" in derive(path).text()


@pytest.mark.parametrize("how", ["file", "dict"])
def test_words_of_ones_own_are_in_no_catalogue(how, tmp_path, caplog):
    """Title and introduction stay as they are typed, in words that pages have, too; no language lacks them."""
    words = "Answer key"
    matrices = {name: [[1]] for name in ("X", "W_Q", "W_K", "W_V")}
    own = tmp_path / "own.toml"
    lines = (f"{name} = {rows}\n" for name, rows in matrices.items())
    own.write_text(f'title = "{words}"\nintroduction = "{words}"\n[given]\n{"".join(lines)}', "utf-8")
    data = {"title": words, "introduction": [words], "given": matrices}
    document = derive(own if how == "file" else data).document
    text = render(replace(document, look=make_look(language="de")), "text")[1].decode()
    assert text.count(words) == 2
    assert "Musterlösung" not in text
    assert "stays English" not in caplog.text
