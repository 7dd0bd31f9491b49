"""The type `extensions`: every key is right, and in NumPy it comes out as plain attention does where it should."""

import json
from functools import cache

import numpy as np
import oracles
import pytest

from symattn.api import check, worksheet
from symattn.errors import InputError
from symattn.exact import Matrix
from symattn.teaching.problems.extensions import TYPE

WHATS = list(TYPE.presets)


@cache
def sheet(what):
    [made] = worksheet(problem="extensions", options={"what": what}, seed=11)
    return made


def floats(d):
    return {name: np.array(oracles.floats(m)) for name, m in d.givens.items()}


def softmax(scores):
    powers = np.exp(scores)
    return powers / powers.sum(axis=1, keepdims=True)


@pytest.mark.covering(most=1)
@pytest.mark.parametrize("what", WHATS)
def test_the_key_is_right_and_a_wrong_entry_is_found(what):
    question = sheet(what).question
    assert question.type == "extensions"
    right = {}
    for part in question.parts:
        result = question.problem[part.name].result
        assert isinstance(result, Matrix)
        right[part.name] = result.sympy()
    assert check(question, right).right
    wrong = {**right, question.parts[0].name: right[question.parts[0].name] * 7}
    assert not check(question, wrong).right
    again = TYPE.make(TYPE.thaw(json.loads(json.dumps(question.frozen)), "exam.json"))
    assert list(again.entries()) == list(question.entries())


def test_queries_of_one_sequence_and_keys_of_another():
    d = sheet("cross-attention").problem.derivation
    t = floats(d)
    q, k, v = t["X"] @ t["W_Q"], t["E"] @ t["W_K"], t["E"] @ t["W_V"]
    right = softmax(q @ k.T / np.sqrt(q.shape[1])) @ v
    assert len(t["X"]) != len(t["E"])
    np.testing.assert_allclose(oracles.floats(d["Z"].result), right, atol=1e-10)


@pytest.mark.slow
def test_rotated_by_right_angles_whole_numbers_stay_whole():
    d = sheet("rotary").problem.derivation
    t = floats(d)

    def turned(rows):
        complex_rows = rows[:, 0::2] + 1j * rows[:, 1::2]
        return complex_rows * (1j ** np.arange(len(rows)))[:, None]

    scores = np.real(turned(t["Q"]) @ turned(t["K"]).conj().T)
    assert all(isinstance(x, int) for x in d["S"].result)
    np.testing.assert_allclose(oracles.floats(d["S"].result), scores, atol=1e-12)


def test_the_cache_gives_the_full_causal_pass():
    d = sheet("cache").problem.derivation
    t = floats(d)
    q, k, v = (t["X"] @ t[f"W_{role}"] for role in "QKV")
    hidden = np.triu(np.full((len(q), len(q)), -np.inf), 1)
    right = softmax(q @ k.T / np.sqrt(q.shape[1]) + hidden) @ v
    np.testing.assert_allclose(oracles.floats(d["Z"].result), right, atol=1e-10)


def test_block_by_block_gives_the_plain_softmax():
    d = sheet("online-softmax").problem.derivation
    t = floats(d)
    right = softmax(t["Q"] @ t["K"].T / np.sqrt(t["Q"].shape[1])) @ t["V"]
    np.testing.assert_allclose(oracles.floats(d.last.result), right, atol=1e-10)


def test_linear_attention_is_the_quadratic_form_with_rows_that_sum_to_1():
    d = sheet("linear-attention").problem.derivation
    t = floats(d)
    q, k = (np.where(t[role] > 0, t[role] + 1, np.exp(t[role])) for role in "QK")  # elu + 1
    weights = q @ k.T
    right = weights / weights.sum(axis=1, keepdims=True) @ t["V"]
    np.testing.assert_allclose(oracles.floats(d["Z"].result), right, atol=1e-10)


def test_positions_are_sines_and_cosines_added_to_the_inputs():
    d = sheet("positions").problem.derivation
    rows, width = d.givens["E"].shape
    angles = np.arange(rows)[:, None] / 10000 ** (2 * np.arange(width // 2) / width)
    encoded = np.stack([np.sin(angles), np.cos(angles)], axis=2).reshape(rows, width)
    np.testing.assert_allclose(oracles.floats(d.last.result), floats(d)["E"] + encoded, atol=1e-10)


def test_a_mechanism_that_is_not_asked_for_is_refused():
    with pytest.raises(InputError, match="worked out with kv_cache, not with attention"):
        worksheet("attention", problem="extensions", options={"what": "cache"})
