"""Translation: the other notation worked out by NumPy from its own formulas, transposed."""

from collections import Counter

import numpy as np
import pytest
from oracles import floats, numpy_attention, softmax
from problem_laws import contents, questions
from sentences import refused_saying

import symattn
from symattn.errors import SelfCheckError
from symattn.formula import Name, Transposed
from symattn.page.notation import load_notation
from symattn.teaching.problems.translate import OPTIONS, TYPE


def in_columns(d):
    """Attention with tokens as columns: Q = W_Q X, S = Kᵀ Q, softmax down the columns, Z = V A."""
    x = floats(d.givens["X"]).T
    q, k, v = (floats(d.givens[f"W_{role}"]).T @ x for role in "QKV")
    s = k.T @ q
    return {"Q": q, "S": s, "Z": v @ softmax(s / np.sqrt(len(k)), axis=0)}


def answers_are(question, shape, there, turned=False):
    """Those of what NumPy makes of it; a token is a column where it is turned."""
    *_, asked, token, scores, output = (part.answer for part in question.parts)
    assert asked.shape == shape
    t = question.frozen["token"]
    assert np.allclose(floats(token.value), there["Q"][:, t : t + 1] if turned else there["Q"][t : t + 1])
    assert np.allclose(floats(scores.value), there["S"])
    assert np.allclose(floats(output.value), there["Z"])


def test_rows_into_columns_against_numpy():
    for question in questions(TYPE, 4):
        answers_are(question, (4, 5), in_columns(question.problem.derivation), turned=True)


def test_columns_into_rows_against_numpy():
    for question in questions(TYPE, 3, notation="columns", mechanism="attention"):
        d = question.problem.derivation
        assert d.orientation == "columns"
        q, k, v = (floats(d.value(name)).T for name in "QKV")
        answers_are(question, (3, 4), {"Q": q, **numpy_attention(q, k, v, scale=2)})


@pytest.mark.parametrize(("notation", "left", "right"), [("standard", "K", "Q"), ("columns", "Q", "K")])
def test_the_product_of_the_scores(notation, left, right):
    """S = Kᵀ Q in columns, and S = Q Kᵀ in rows."""
    for question in questions(TYPE, 2, notation=notation):
        (only,) = (option for option in question.parts[1].answer.options if option.right)
        first, second = only.text[0].formula.parts[1].factors
        bare = [f.body if isinstance(f, Transposed) else f for f in (first, second)]
        assert [f.body.base if not isinstance(f, Name) else f.base for f in bare] == [left, right]
        assert isinstance(first, Transposed) == (notation == "standard")
        assert isinstance(second, Transposed) == (notation == "columns")


@pytest.mark.slow
def test_names_are_those_of_the_notation():
    """The weights that note 000 calls S'' are what the standard notation calls A."""
    target = load_notation("note-000")
    seen = set()
    for question in questions(TYPE, 12, options={"into": "note-000"}):
        role = question.frozen["role"]
        answer = question.parts[0].answer
        assert [question.frozen["names"][i] for i in answer.right] == [role]
        assert target.named(role).matrix != load_notation("standard").named(role).matrix
        seen.add((role, target.named(role).matrix))
    assert ("A", "S''") in seen


def test_keys_stand_everywhere_equally_often():
    drawn = list(contents(TYPE, 16))
    for places in (
        Counter(content["names"].index(content["role"]) for content in drawn),
        Counter(content["products"].index(3) for content in drawn),
    ):
        assert places == dict.fromkeys(range(OPTIONS), 4)


@pytest.mark.covering(most=2)
@pytest.mark.parametrize(
    ("notation", "into"), [("columns", "note-003"), ("note-002", "standard"), ("standard", "note-004")]
)
def test_between_other_notations(notation, into):
    for question in questions(TYPE, 1, notation=notation, options={"into": into}):
        TYPE.prove(question)


def test_a_wrong_translation_is_found(monkeypatch):
    from symattn.teaching.problems import translate

    question = next(questions(TYPE, 1))
    honest = translate.translated
    monkeypatch.setattr(translate, "translated", lambda d, n: honest(d, n).replay(pinned={"S": d.value("S")}))
    with pytest.raises(SelfCheckError, match="S is not what was translated"):
        TYPE.prove(TYPE.make({**question.content}))


def test_scores_of_other_matrices_are_refused_by_name():
    with refused_saying("made of Q and K; those of rotary_attention of R_Q and R_K"):
        symattn.worksheet("rotary_attention", problem="translate", seed=1)
