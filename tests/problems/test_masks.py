"""Masks: who sees whom by brute force, weights by NumPy, options by their own words."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from finished_languages import OTHERS
from hypothesis import given
from hypothesis import strategies as st
from oracles import kept, softmax
from problem_laws import variant_of

from symattn.derivation.ops.attention import causal, padding
from symattn.errors import SelfCheckError
from symattn.exact import NEGATIVE_INFINITY, decimal_text
from symattn.foundation.languages import catalogue
from symattn.page.writers import FORMATS
from symattn.teaching.explanation.documents import question_document
from symattn.teaching.problems.masks import (
    KINDS,
    PAD,
    PICTURED,
    PICTURES,
    STYLES,
    TEXTS,
    TYPE,
    keep_of,
    token_words,
)

question = variant_of(TYPE, 7)


def seen(content, rows, columns):
    """Who sees whom, in the words of the question; with a cache, the queries are those of the last tokens."""
    kind, parameters = content["kind"], content["parameters"]
    sizes = [parameters[0], columns - parameters[0]] if kind == "blocks" else parameters
    name = "causal" if kind == "cross" else kind
    return kept(":".join([name, ",".join(map(str, sizes))]) if parameters else name, rows, columns)


def score(text):
    return (
        math.log(float(text[text.index("(") + 1 : -1])) * (-1 if text[0] == "-" else 1) if "ln" in text else int(text)
    )


CASES = [
    {},
    {"level": "starter"},
    {"level": "long"},
    {"options": {"logs": False}},
    {"softmax": "base 2"},
    {"softmax": "base 3"},
    {"softmax": "equal"},
]


@pytest.mark.covering(most=2)
@pytest.mark.parametrize("stated", CASES, ids=str)
def test_every_answer_by_numpy(stated):
    for number in range(1, 13):
        q = question(number, **stated)
        content = q.content
        scores = np.array([[score(x) for x in row] for row in content["scores"]])
        n, m = scores.shape
        keep = seen(content, n, m)
        shade, matrix, weights = (part.answer for part in q.parts[:3])
        assert shade.shape == (n, m)
        assert shade.cells == {(i, j) for i in range(n) for j in range(m) if not keep[i, j]}
        marks = {"additive": (0, NEGATIVE_INFINITY), "keep": (1, 0), "block": (0, 1)}[content["style"]]
        assert [list(row) for row in matrix.value.rows] == [[marks[not x] for x in row] for row in keep]
        base = math.e if content["base"] == "e" else float(content["base"])
        expected = softmax(np.where(keep, scores, -np.inf), base)
        assert {i for i, _ in weights.cells} == set(content["asked"])
        for i, j in weights.cells:
            assert float(decimal_text(q.problem["A"].result[i, j], 12)) == pytest.approx(expected[i, j], abs=1e-11)


@pytest.mark.parametrize("stated", CASES, ids=str)
def test_usual_mistakes_show_in_every_row_asked(stated):
    """No mask (M1), 0 instead of −∞ (M4), masking after softmax (M5) and multiplying by −∞ (M7) change an answer."""
    for number in range(1, 13):
        q = question(number, **stated)
        content, hidden = q.content, q.parts[0].answer.cells
        base = math.e if content["base"] == "e" else float(content["base"])
        signs = set()
        for i in content["asked"]:
            row = np.array([score(x) for x in content["scores"][i]])
            shown = np.array([(i, j) not in hidden for j in range(len(row))])
            right = np.where(shown, base**row, 0)
            right = right / right.sum()
            everything = base**row / (base**row).sum()
            zeros = base ** np.where(shown, row, 0) / (base ** np.where(shown, row, 0)).sum()
            for one, other in combinations((right, everything, zeros, everything * shown), 2):
                assert abs(one - other).max() > 0.0499
            signs |= {math.copysign(1, x) if x else 0 for x in row[~shown]}
        assert signs != {1}, "multiplying by −∞ would go unnoticed"


def test_what_is_read_off_a_mask_is_what_the_numbers_say():
    for number in range(1, 25):
        q = question(number)
        drawn, part = q.content["read"], q.parts[3]
        n = len(q.content["tokens"])
        keys = np.flatnonzero(seen(drawn, n, n)[drawn["query"]]) + 1
        said = {k: option.text[0].text for k, option in enumerate(part.answer.options)}
        assert len(set(said.values())) == 4
        (right,) = part.answer.right
        assert right == drawn["at"] == (number - 1) % 4
        assert [int(x) for x in said[right].replace("and", ",").replace(",", " ").split()[1:]] == keys.tolist()
        assert all(option.right or option.diagnosis in ("M2", "M3", "M6", "M9") for option in part.answer.options)


def test_pictures_are_told_apart_and_fit_their_words():
    grids = {name: [[s(i, j) for j in range(PICTURED)] for i in range(PICTURED)] for name, (s, *_) in PICTURES.items()}
    assert len({str(grid) for grid in grids.values()}) == len(PICTURES)
    lower = np.tril(np.ones((PICTURED, PICTURED), bool))
    assert (np.array(grids["causal"]) == lower).all()
    assert (np.array(grids["future"]) == lower.T).all()
    assert (np.array(grids["others"]) == np.tril(lower, -1)).all()
    assert (np.array(grids["ahead"]) == np.tril(np.ones((PICTURED, PICTURED), bool), 1)).all()
    for number in range(1, 25):
        part = question(number).parts[4]
        (right,) = part.answer.right
        picture = part.ask[1]
        by_words = next(
            name for name, (_, says, _) in PICTURES.items() if says == part.answer.options[right].text[0].text
        )
        assert [[level == 0 for level in row] for row in picture.levels] == grids[by_words]


@given(st.integers(1, 8), st.integers(1, 8))
def test_prefix_lies_between_causal_and_padding(tokens, length):
    """A prefix mask shows what causality or the prompt shows, and nothing more."""
    keep = np.array(keep_of("prefix", (length,), tokens, tokens))
    assert (keep == np.array(causal(tokens, tokens)) | np.array(padding(tokens, tokens, length))).all()


@given(st.integers(1, 6), st.integers(1, 6))
def test_cached_queries_are_the_last_rows_of_the_whole_mask(rows, extra):
    whole = keep_of("causal", (), rows + extra, rows + extra)
    assert keep_of("cross", (), rows, rows + extra) == whole[extra:]


def test_kinds_and_styles_come_in_turn():
    contents = [question(number).content for number in range(1, 37)]
    assert [content["kind"] for content in contents[:6]] == list(KINDS)
    assert {(content["kind"], content["style"]) for content in contents} == {(k, s) for k in KINDS for s in STYLES}


def test_words_are_as_many_as_tokens():
    assert all(len(text.split()) == size for size, texts in TEXTS.items() for text in texts)
    for number in range(1, 31):
        content = question(number).content
        assert len(content["tokens"]) == len(content["scores"][0])


@pytest.mark.parametrize("language", OTHERS)
def test_the_words_of_tokens_are_those_of_the_language(language):
    """A sentence is no word longer or shorter there, since each word is translated in the context of its sentence."""
    for text in (text for texts in TEXTS.values() for text in texts):
        assert len(set(text.split())) == len(text.split())
        assert all(catalogue(language).template(word, text) for word in text.split())


def test_german_tokens_and_their_padding():
    shown = ["Wir", "gingen", "heim", "Schnee", "schmilzt", PAD]
    words = token_words(["We", "walked", "home", "Snow", "melts", PAD], (3, 2))
    assert [catalogue("de").text(word) for word in words] == shown


def test_a_key_that_contradicts_its_shading_is_found():
    q = question(1)
    broken = {**q.content, "kind": "window", "parameters": [2]}
    mixed = TYPE.make(broken)
    wrong = replace(q, parts=(mixed.parts[0], *q.parts[1:]))
    with pytest.raises(SelfCheckError, match=r"Part shade .*by another route"):
        TYPE.prove(wrong)


def test_stated_kind_style_and_sizes():
    q = question(3, options={"kind": "cross", "style": "block"}, sizes={"n": 2, "m": 5})
    assert q.parts[0].answer.shape == (2, 5)
    assert q.content["style"] == "block"


def test_decimals_where_they_are_asked_for():
    q = question(1, exact=False, places=3, options={"logs": False})
    text = " ".join(FORMATS["text"].write(question_document(q)).split())
    assert "decimals with 3 places" in text
