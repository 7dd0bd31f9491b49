"""What a page calls a result of the forward pass is the result of the givens that are printed beside it."""

import numpy as np
import pytest
from oracles import softmax
from strategies import drawn
from tables import tables_beside

from symattn.derivation.mechanisms import Settings, mechanism, mechanisms
from symattn.page.writers import FORMATS
from symattn.teaching.explanation.documents import question_document
from symattn.teaching.problems import problem_type
from symattn.teaching.problems.derived import frozen_settings

TABLES = tables_beside(__file__)

SEEDS = range(3)

CASES = TABLES["cases"]


def forward(name, given, settings):
    """The weights, or the probabilities, of the forward pass in floating point."""
    g = {key: np.array(m.sympy().tolist(), dtype=float) for key, m in given.items()}
    if name == "cross_entropy_gradient":
        return {"probabilities": softmax(g["N"] @ g["W_U"])}
    q, k = (g["Q"], g["K"]) if "Q" in g else (g["X"] @ g["W_Q"], g["X"] @ g["W_K"])
    found, d_k = {}, q.shape[1] // settings.heads
    for head in range(settings.heads):
        group = head * settings.groups // settings.heads
        own = q[:, head * d_k : (head + 1) * d_k] @ k[:, group * d_k : (group + 1) * d_k].T
        scores = own if settings.scale == "none" else own / np.sqrt(d_k)
        if settings.mask == "causal":
            scores = np.where(np.tri(*scores.shape) == 0, -np.inf, scores)
        found["A" if settings.heads == 1 else f"A_{head + 1}"] = softmax(scores)
    return found


@pytest.mark.covering(most=2)
@pytest.mark.parametrize(("name", "settings", "sizes"), CASES)
def test_given_results_are_what_numpy_gets_rounded(name, settings, sizes):
    chosen = problem_type("full").spec({"mechanism": name, "settings": settings}).chosen_settings()
    for seed in SEEDS:
        given = drawn(name, seed, sizes, **settings).givens
        for key, result in forward(name, given, chosen).items():
            shown = np.array(given[key].sympy().tolist(), dtype=float)
            assert np.array_equal(shown, np.round(result, 1)), (seed, key)
            assert np.all(np.abs(result * 10 % 1 - 0.5) > 1e-9)  # and rounding is no matter of taste


def test_every_mechanism_that_starts_from_results_compares_them_with_those_of_its_other_givens():
    """Whatever stands for a softmax, beside what that softmax is made of, is compared; no draw contradicts itself."""
    compared = set()
    for name in mechanisms():
        chosen = mechanism(name)
        softmax_of = {"A", "A_{head}", "probabilities"} & {*chosen.givens, *chosen.optional}
        if softmax_of and {"Q", "W_Q", "W_U"} & {*chosen.givens, *chosen.optional}:
            compared.add(name)
            settings = problem_type("full").spec({"mechanism": name}).chosen_settings()
            taken = dict(chosen.run(drawn(name, 5).givens, settings).taken)
            assert taken
            assert set(taken.values()) == {1}
    assert compared == {name for name, _, _ in CASES}


GIVEN = {"Q": [[0, 2]], "K": [[1, 1], [1, 1]], "V": [[1, 0], [0, 1]], "dZ": [[1, 2]]}
"""Equal scores, and so weights of 1/2."""


def said(weights, **settings):
    given = {"A": weights, **GIVEN}
    content = {
        "type": "full", "mechanism": "weights_given_gradient", "notation": "standard", "exact": True, "places": 4,
        "settings": frozen_settings(Settings.read({"scale": "none", **settings})), "given": given,
    }  # fmt: skip
    full = problem_type("full")
    page = FORMATS["text"].write(question_document(full.make(content), "", ""))
    return " ".join(page.replace("│", " ").split())


def test_the_page_says_of_given_weights_what_is_so():
    assert "A comes from the forward pass: take it as given, and do not work it out." in said([["1/2", "1/2"]])
    others = said([["1/4", "3/4"]])
    assert "Take A as given: the other givens do not lead to it." in others
    assert "forward pass" not in others


@pytest.mark.parametrize(("queries", "weights", "says"), TABLES["rounded"])
def test_the_page_says_how_weights_were_rounded(monkeypatch, queries, weights, says):
    """1/(1 + e²) is 0.11920…"""
    monkeypatch.setitem(GIVEN, "K", [[1, 0], [0, 1]])
    monkeypatch.setitem(GIVEN, "Q", queries)
    begins = "A comes from the forward pass, " if says.startswith("rounded") else "Take A as given: "
    assert begins in said([weights])
    assert says in said([weights])
