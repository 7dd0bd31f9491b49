"""What D1 to D11 make of gradients, in NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms import Settings, mechanism
from symattn.derivation.misconceptions import misconception
from symattn.exact import Matrix
from symattn.exact.approximate import approximate
from symattn.page.notation import load_notation
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.problems.remarks import feedback

A = [["1/2", "1/4", "1/4"], ["1/5", "2/5", "2/5"]]
GIVEN: dict[str, Any] = {
    "A": A,
    "Q": [[1, 0, 2, 1], [0, 1, 1, -1]],
    "K": [[1, 1, 0, 2], [0, -1, 1, 1], [2, 0, 1, 0]],
    "V": [[1, 2], [0, -1], [3, 1]],
    "dZ": [[1, 2], [-1, 1]],
}
SQUARE = {**GIVEN, "A": [["1/4", "3/4"], ["2/5", "3/5"]], "K": GIVEN["K"][:2], "V": GIVEN["V"][:2]}
WEIGHTS = np.array([[0.5, 0.25, 0.25], [0.2, 0.4, 0.4]])


def run(name: str, given: Mapping[str, Any], **settings: object) -> Derivation:
    chosen = mechanism(name)
    return chosen.run(given, Settings.read({**chosen.defaults, **settings}))


def wrong(id: str, d: Derivation, step: str) -> np.ndarray:
    found = misconception(id).on(d)
    assert found is not None
    assert found.first is not None
    return floats(found.value(step))


def floats(value: object) -> np.ndarray:
    assert isinstance(value, Matrix)
    return np.array([[float(approximate(x)) for x in row] for row in value.rows])


def numpy(given: Mapping[str, Any], *names: str) -> list[np.ndarray]:
    return [floats(run_matrix(given[name])) for name in names]


def run_matrix(rows: Any) -> Matrix:
    return Matrix(rows)


def test_only_the_diagonal_of_the_jacobian() -> None:
    d = run("weights_given_gradient", GIVEN)
    v, dz, k = numpy(GIVEN, "V", "dZ", "K")
    da = dz @ v.T
    expected = WEIGHTS * (1 - WEIGHTS) * da
    assert np.allclose(wrong("D1", d, "dS'"), expected)
    assert np.allclose(wrong("D1", d, "dQ"), expected / 2 @ k)
    jacobian = run("softmax_jacobian", {"a": [A[0]], "da": [[4, 0, 2]]})
    a = WEIGHTS[0]
    assert np.allclose(wrong("D1", jacobian, "J_softmax"), np.diag(a * (1 - a)))
    assert np.allclose(wrong("D1", jacobian, "ds"), [a * (1 - a) * [4, 0, 2]])


def test_the_scale_left_out() -> None:
    d = run("weights_given_gradient", GIVEN)
    for name in ("dS", "dQ", "dK"):
        assert np.allclose(wrong("D2", d, name), 2 * floats(d.value(name)))
    assert misconception("D2").on(run("weights_given_gradient", GIVEN, scale="none")) is None


def test_the_scale_of_the_forward_pass_is_none_of_it() -> None:
    d = run("attention_gradient", {name: SQUARE[name] for name in ("Q", "K", "V", "dZ")})
    found = misconception("D2").on(d)
    assert found is not None
    assert found.first == "dS"


def test_not_transposed() -> None:
    d = run("weights_given_gradient", SQUARE)
    q, dz = numpy(SQUARE, "Q", "dZ")
    assert np.allclose(wrong("D3", d, "dV"), np.array([[0.25, 0.75], [0.4, 0.6]]) @ dz)
    assert np.allclose(wrong("D3", d, "dK"), floats(d.value("dS")) @ q)
    found = misconception("D3").on(run("weights_given_gradient", GIVEN))
    assert found is not None
    assert found.first == "dV"
    assert "dV is not defined" in found.stopped


def test_a_gradient_for_what_is_hidden() -> None:
    given = {**GIVEN, "A": [["1/2", "1/2", 0], ["1/5", "2/5", "2/5"]]}
    d = run("weights_given_gradient", given, mask="causal")
    v, dz = numpy(given, "V", "dZ")
    da = dz @ v.T
    expected = floats(d.value("dS'"))
    expected[0, 2] = da[0, 2] - (da[0, 0] + da[0, 1]) / 2
    assert np.allclose(wrong("D4", d, "dS'"), expected)
    assert misconception("D4").on(run("weights_given_gradient", GIVEN)) is None


def test_one_use_alone() -> None:
    given = {
        "X": [[1, 0], [2, 1]], "W_Q": [[1], [2]], "W_K": [[0], [1]], "W_V": [[1], [1]], "dZ": [[1], [2]],
        "A": [["1/4", "3/4"], ["2/5", "3/5"]],
    }  # fmt: skip
    d = run("self_attention_gradient", given)
    assert np.allclose(wrong("D5", d, "dX"), floats(d.value("dX_Q")))


def test_straight_through_the_activation() -> None:
    given = {"X": [[1, -1]], "W_1": [[1, -2], [0, 1]], "W_2": [[1, 0], [2, 1]], "dF": [[1, 3]]}
    d = run("feed_forward_gradient", given)
    dh = np.array([[1, 3]]) @ np.array([[1, 2], [0, 1]])
    assert np.allclose(wrong("D6", d, "dH_linear"), dh)
    assert np.allclose(wrong("D6", d, "dX"), dh @ np.array([[1, 0], [-2, 1]]))


@pytest.mark.parametrize("norm", ["layer", "rms"])
def test_mean_and_variance_for_constants(norm: str) -> None:
    x, g = np.array([[1.0, 3, 3, 9]]), np.array([[2.0, -1, 0, 1]])
    d = run("layer_norm_gradient", {"X": [[1, 3, 3, 9]], "dN": [[2, -1, 0, 1]]}, norm=norm)
    root = x.std() if norm == "layer" else np.sqrt((x * x).mean())
    assert np.allclose(wrong("D7", d, "dX"), g / root)


def test_targets_less_probabilities() -> None:
    given = {"N": [[1], [2]], "W_U": [[1, 0]], "T": [[1, 0], [0, 1]], "probabilities": [["3/4", "1/4"], ["2/5", "3/5"]]}
    d = run("cross_entropy_gradient", given)
    assert np.allclose(wrong("D8", d, "dL"), (np.eye(2) - [[0.75, 0.25], [0.4, 0.6]]) / 2)


def test_in_every_head() -> None:
    square = [[1, 2], [0, 1]]
    given = dict.fromkeys(("X", "W_Q", "W_K", "W_V", "W_O"), square) | {"dO": [[1, 0], [2, 1]]}
    given |= {"A_1": [["1/4", "3/4"], ["1/3", "2/3"]], "A_2": [["1/2", "1/2"], ["1/5", "4/5"]]}
    d = run("multi_head_gradient", given)
    for head, weights in ((1, [[1 / 4, 3 / 4], [1 / 3, 2 / 3]]), (2, [[1 / 2, 1 / 2], [1 / 5, 4 / 5]])):
        a = np.array(weights)
        assert np.allclose(wrong("D1", d, f"dS_{head}"), a * (1 - a) * floats(d.value(f"dA_{head}")))


@pytest.mark.parametrize("id", [f"D{i}" for i in range(1, 9)])
def test_what_is_said_can_be_written(id: str) -> None:
    """Feedback asks for names and divisors that every derivation with such a mistake has."""
    derivations = [
        run("weights_given_gradient", {**GIVEN, "A": [["1/2", "1/2", 0], A[1]]}),
        run("feed_forward_gradient", {"X": [[1]], "W_1": [[1]], "W_2": [[1]], "dF": [[1]]}),
        run("layer_norm_gradient", {"X": [[1, 2]], "dN": [[1, 2]]}),
        run("cross_entropy_gradient", {"N": [[1]], "W_U": [[1, 0]], "T": [[1, 0]]}),
        run("backpropagation_through_time", {"X": [[1], [2]], "W_x": [[1]], "W_h": [[1]], "dH": [[1], [2]]}),
    ]
    found = [(d, w) for d in derivations if (w := misconception(id).on(d)) is not None]
    assert found
    for d, w in found:
        assert feedback(w, Wording(d, load_notation("standard")))


def test_turned_forwards_on_the_way_back() -> None:
    """Angles of 90°: at position 1, (x, y) is turned back to (y, −x), and forwards to (−y, x)."""
    given = {"Q": [[1, 2], [2, 1]], "K": [[1, 0], [0, 1]], "V": [[1], [3]], "dZ": [[1], [2]]}
    d = run("rotary_attention_gradient", given, angles="90", position="rotary", scale="none")
    back = floats(d.value("dR_Q"))
    assert np.allclose(floats(d.value("dQ")), [back[0], [back[1, 1], -back[1, 0]]])
    assert np.allclose(wrong("D9", d, "dQ"), [back[0], [-back[1, 1], back[1, 0]]])


def test_steps_of_gradient_descent_that_go_up_or_too_far() -> None:
    given = {"N": [[1, 2], [0, 1]], "W_U": [[1, 0], [0, 1]], "T": [[1, 0], [0, 1]]}
    d = run("cross_entropy_gradient", given, learning_rate="1/10")
    old, slope = floats(d.value("W_U")), floats(d.value("dW_U"))
    assert np.allclose(wrong("D10", d, "W_U^new"), old + slope / 10)
    assert np.allclose(wrong("D11", d, "W_U^new"), old - slope)
    assert misconception("D11").on(run("cross_entropy_gradient", given, learning_rate=1)) is None
    assert misconception("D10").on(run("cross_entropy_gradient", given)) is None


def test_top_k_without_dividing_and_the_temperature_the_wrong_way_round() -> None:
    given = {"N": [[1, 0], [0, 1]], "W_U": [[3, 1, 2], [0, 1, 3]]}
    d = run("language_model", given, top_k=2, temperature=2)
    shares = floats(d.value("probabilities"))
    assert np.allclose(wrong("X19", d, "top_k"), np.where(shares == shares.min(axis=1, keepdims=True), 0, shares))
    assert np.allclose(wrong("X20", d, "L_T"), 2 * floats(d.value("L")))
    assert misconception("X20").on(run("language_model", given)) is None
