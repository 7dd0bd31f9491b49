"""What follows from a mistake is easier, or not, as a whole step (rules.md 3.5); NumPy works the scripts out."""

from dataclasses import replace

import numpy as np
from oracles import floats, softmax

import symattn
from symattn.marking.attempt import Attempt
from symattn.marking.marker import mark
from symattn.marking.marker.policy import POLICIES
from symattn.marking.submissions.entries import grid

HIDDEN = -np.inf


def script(places=None, **lines):
    def text(x):
        return "-∞" if x == HIDDEN else repr(float(x)) if places is None else f"{x:.{places}f}"

    return Attempt({name: grid([[text(x) for x in row] for row in rows]) for name, rows in lines.items()})


def vetoes(report):
    return [str(notice.says) for notice in report.notices if notice.kind == "veto"]


def test_the_mirror_image_of_a_causal_mask_is_not_easier():
    """The first row of the right weights is one-hot, and so is the last row of these."""
    [sheet] = symattn.worksheet("causal_self_attention", problem="full", seed=2)
    g = {name: floats(matrix) for name, matrix in sheet.question.problem.derivation.givens.items()}
    q, k, v = (g["X"] @ g[name] for name in ("W_Q", "W_K", "W_V"))
    scores = q @ k.T
    scaled = scores / np.sqrt(k.shape[1])
    masked = np.where(np.tril(np.ones_like(scaled), -1) > 0, HIDDEN, scaled)
    weights = softmax(masked)
    lines = {"Q": q, "K": k, "V": v, "S": scores, "S'": scaled, "M": masked, "A": weights, "Z": weights @ v}
    report = mark(sheet.question, script(8, **lines))
    assert vetoes(report) == []
    assert {g.parts: g.given for g in report.marks if g.code == "A" and g.parts in (("A",), ("Z",))} == {
        ("A",): 3,
        ("Z",): 3,
    }


Q, K, V = [[1, 0, 2], [2, 1, 0], [0, 3, 1]], [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[1], [5], [2]]
"""S = Q Kᵀ is Q here."""


def one_even_row(intended, even=1):
    """Rows of scores that a slip made even, everything after them to two places."""
    sheet = symattn.derive("attention", Q=Q, K=K, V=V).worksheet()
    scores = np.array(Q, dtype=float)
    scores[:even] = 2
    scaled = np.round(scores / np.sqrt(3), 2)
    weights = np.round(softmax(scaled), 2)
    lines = {"S": scores, "S'": scaled, "A": weights, "Z": np.round(weights @ np.array(V), 2)}
    attempt = replace(script(2, **lines), answers={**script(2, **lines).answers, **script(0, S=scores).answers})
    question = replace(sheet.question, intended=intended)
    return mark(question, attempt, POLICIES["ecf"])


def test_one_even_row_of_three_is_not_easier_nor_are_rows_that_rounding_moved():
    report = one_even_row(intended=True)
    assert vetoes(report) == []
    assert report.total == report.available - 1  # the row of the slip


def test_a_step_that_is_trivial_in_every_row_is_easier():
    [said, *_] = vetoes(one_even_row(intended=True, even=3))
    assert "Easier than intended" in said


def test_nothing_is_easier_than_intended_in_somebodys_own_problem():
    assert not symattn.derive("attention", Q=Q, K=K, V=V).worksheet().question.intended
    assert vetoes(one_even_row(intended=False, even=3)) == []


def test_in_ones_own_problem_nobody_else_is_said_to_look_at_what_is_in_doubt(tmp_path):
    """In an exam a person does; whoever checks their own work is asked to write it out."""
    (tmp_path / "own.toml").write_text(f'mechanism = "attention"\n[given]\nQ = {Q}\nK = {K}\nV = {V}\n', "utf-8")
    work = "S = 1 0 2\n2 1 0\n0 3 1\n\nA = 0.5 0.5 0\n0.2 or 0.3 0.5 0.5\n0 1 0\n"
    marking = symattn.check(str(tmp_path / "own.toml"), work)
    assert marking.pending
    text = " ".join(marking.text().split())
    assert "write it out and check again" in text
    assert "person" not in text
    assert "easier" not in text
    assert "person" in " ".join(replace(marking, alone=False).text().split())
