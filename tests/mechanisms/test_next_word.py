"""From logits to the next word, and one step of gradient descent, by hand and by NumPy."""

import re
from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from sentences import refused_saying
from tables import tables_beside
from test_new_operation import program

import symattn
from symattn.derivation.mechanisms import mechanism, mechanisms
from symattn.derivation.ops.gradient import Descent
from symattn.derivation.ops.words import TopK
from symattn.exact import Matrix
from symattn.teaching.rendering import render

TABLES = tables_beside(__file__)

WORDS = "the, students, open, their, books"
E = [[1, 0], [0, 1], [1, 1], [0, 2], [2, 1]]
W_U = [[0, 1, 2, 0, 1], [1, 0, 1, 2, 0]]
MODEL = {"E": E, "W_U": W_U, "words": WORDS, "prompt": "students open"}


def test_the_next_word_by_hand():
    """Of "students open": logits (1, 0, 1, 2, 0) and (1, 1, 3, 2, 1), so "their", then "open"."""
    d = symattn.derive("language_model", **MODEL, top_k=2)
    e = sympy.E
    assert d["X"].result == Matrix([[0, 1], [1, 1]])
    assert d["L"].result == Matrix([[1, 0, 1, 2, 0], [1, 1, 3, 2, 1]])
    assert d["probabilities"].result[0, 3] == Matrix([[e**2 / (2 * e + e**2 + 2)]])[0, 0]
    first = [1 / (1 + e), 0, 0, e / (1 + e), 0]  # of equal ones, the first is kept
    second = [0, 0, e / (1 + e), 1 / (1 + e), 0]
    assert d["top_k"].result == Matrix([first, second])
    assert d["next_word"].result == Matrix([[4], [3]])
    assert "their" in d.text()
    assert "open" in d.text()


LOGITS = st.lists(st.lists(st.integers(0, 9), min_size=4, max_size=4), min_size=1, max_size=3).filter(
    lambda rows: all(map(any, rows))
)


@given(LOGITS, st.integers(1, 4))
def test_top_k_keeps_the_largest_and_of_equal_ones_the_first(rows, k):
    for row, kept in zip(rows, TopK(k).apply(Matrix(rows)).rows, strict=True):
        order = np.argsort(-np.array(row), kind="stable")
        whole = sum(row[j] for j in order[:k])
        assert list(kept) == [Fraction(x, whole) if j in order[:k] else 0 for j, x in enumerate(row)]


def test_its_program_runs_and_finds_the_same():
    names = {}
    exec(program(symattn.derive("language_model", **MODEL, temperature=2, top_k=3).text("notebook")), names)
    assert names["next_word"].tolist() == [[4], [3]]


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "html", "typst"])
def test_every_format_shows_the_words(form):
    """The key those that come next, the worksheet all that there are."""
    d = symattn.derive("language_model", **MODEL)
    assert "their" in d.text(form)
    sheet = render(d.worksheet().worksheet, form)[1].decode()
    assert "books" in sheet
    assert "word or its number" in sheet.replace("\n", " ")


def test_letters_have_no_largest_but_can_be_looked_up():
    sizes = {"d_vocab": 3, "n": 2, "d_model": 2}
    with refused_saying("largest is not known; arg max needs numbers"):
        symattn.derive("language_model", symbolic=True, sizes=sizes, words="a b c")
    with refused_saying("d_vocab must be a number, not d_vocab"):
        symattn.derive("language_model", symbolic=True, top_k=2)
    d = symattn.derive("language_model", symbolic=True, sizes=sizes, prompt="3 1", temperature=2)
    assert [str(x).replace("{", "").replace("}", "") for x in d["X"].result] == ["e_31", "e_32", "e_11", "e_12"]


# ------------------------------------------------------------------------------------------------ marked


RIGHT = TABLES["right"]


@pytest.mark.parametrize(
    "written",
    [[4, 3], ["their", "open"], ["Their", "**open**"], ["4 (their)", "3 = open"], ["their (4)", r"\text{open}"],
     ['"their"', "open."]],
)  # fmt: skip
def test_a_word_or_its_number_is_right(written):
    d = symattn.derive("language_model", **MODEL)
    report = symattn.check(d, {**RIGHT, "next_word": [[x] for x in written]})
    assert report.right
    assert "cannot be read" not in str(report)


@pytest.mark.parametrize(
    ("written", "marks"),
    [("books", "8/9"), (5, "8/9"), ("shops", "8/9, 1 open"), ("their 5", "8/9, 1 open"), ("4 books", "8/9, 1 open")],
)
def test_another_word_is_wrong_and_what_is_no_word_waits_for_a_person(written, marks):
    d = symattn.derive("language_model", **MODEL)
    report = symattn.check(d, {**RIGHT, "next_word": [[written], ["open"]]})
    assert not report.right
    assert re.search(rf"{marks}(?!,)", str(report))
    assert str(written) in str(report)


# ------------------------------------------------------------------------------------------------ gradient descent


DESCENDING = [name for name in mechanisms() if "learning_rate" in mechanism(name).uses]


def test_every_mechanism_with_gradients_can_take_a_step():
    """All but the Jacobians, whose gradients are those of no loss."""
    named = {name for name in mechanisms() if "gradient" in name or "backprop" in name}
    assert named == set(DESCENDING)


def test_descent_by_hand_and_in_letters():
    d = symattn.derive(
        "feed_forward_gradient", X=[[1, 2]], W_1=[[1], [1]], W_2=[[2]], dF=[[1]], function="relu", learning_rate="1/10"
    )
    assert d["W_2^new"].result == Matrix([["17/10"]])  # H = 3
    assert d["W_1^new"].result == Matrix([["8/10"], ["6/10"]])
    w, g, eta = sympy.symbols("w g eta")
    assert Descent(eta).apply(Matrix([[w]]), Matrix([[g]])) == Matrix([[w - eta * g]])


@pytest.mark.slow
def test_the_note_that_ends_in_a_prediction_can_be_drawn():
    """Five words, of which the likeliest after the prompt is asked for."""
    stated = {"prompt": "the students", "words": "the students open their books", "top_k": 2, "sizes": {"d_vocab": 5}}
    [sheet] = symattn.worksheet("language_model", seed=1, **stated)
    logits = np.array(sheet.problem["L"].result, dtype=float)
    assert all(len({*row}) == 5 for row in logits.tolist())
    likeliest = [int(x) - 1 for x in np.array(sheet.problem["next_word"].result, dtype=float).ravel()]
    assert likeliest == logits.argmax(axis=1).tolist()


@pytest.mark.parametrize("typed", ["students", "students (2)", "“students”"])
def test_a_word_is_told_as_a_word_in_which_no_digit_is_wrong(typed):
    d = symattn.derive(
        "language_model", N=[[1, 0], [0, 1]], W_U=[[2, 0, 1], [0, 1, 2]], T=[[1, 0, 0], [0, 1, 0]],
        words="the students open",
    )  # fmt: skip
    told = str(symattn.check(d, {"next_word": [[typed], ["open"]]}))
    assert "You have students; with P it is" in told
    assert "one off" not in told
