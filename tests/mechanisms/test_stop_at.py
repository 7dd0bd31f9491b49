"""Stopping at a step: the same steps as in the whole derivation, and nothing worked out that comes after."""

import random

import numpy as np
import oracles
import pytest

from symattn.api import derive
from symattn.derivation import derivation
from symattn.derivation.mechanisms import Settings, mechanisms
from symattn.errors import InputError, UndefinedError
from symattn.exact import Matrix

WAYS = [{"orientation": o, "by": by} for o in ("rows", "columns") for by in ("matrix", "token")]


def given(chosen, settings):
    """Numbers that suit the mechanism, or any where it has no draw."""
    rng, sizes = random.Random(3), {**dict.fromkeys(chosen.letters, 2), **chosen.default_sizes}
    if chosen.draw and settings.orientation == "rows":
        return dict(chosen.draw(settings, sizes, rng))
    shapes = chosen.given_shapes(sizes, settings)
    drawn = {
        name: Matrix([[rng.choice((-2, -1, 1, 2, 3)) for _ in range(columns)] for _ in range(rows)])
        for name, (rows, columns) in shapes.items()
    }
    return {name: _weights(*m.shape) if name[0] == "A" else m for name, m in drawn.items()}


def _weights(rows, columns):
    return Matrix([[int(i == j) for j in range(columns)] for i in range(rows)])


@pytest.mark.covering(most=11, rest=3)
@pytest.mark.parametrize("name", mechanisms())
def test_what_comes_after_the_last_step_is_not_worked_out(name, monkeypatch):
    chosen, worked_out, plain = mechanisms()[name], [], derivation.carried

    def noted(*arguments):
        worked_out.append(plain(*arguments))
        return worked_out[-1]

    for way in WAYS:
        if way["by"] == "token" and "by" not in chosen.uses:
            continue
        settings = Settings.read({**chosen.defaults, **chosen.drawn, **way})
        givens = given(chosen, settings)
        try:
            whole = chosen.run(givens, settings)
        except (InputError, UndefinedError):
            assert way["orientation"] == "columns"  # no draw is for these
            continue
        roles = list(dict.fromkeys(step.role for step in whole))
        for role in random.Random(name).sample(roles, min(5, len(roles))):
            worked_out.clear()
            with monkeypatch.context() as patched:
                patched.setattr(derivation, "carried", noted)
                d = chosen.run(givens, Settings.read({**chosen.defaults, **chosen.drawn, **way, "stop_at": role}))
            if not d.taken:  # else given weights are compared with those of a forward pass
                assert len(worked_out) == sum(isinstance(step.result, Matrix) for step in d)
            assert d.last.role == role
            assert all(step == whole[step.name] for step in d)


def test_a_later_step_that_is_not_defined_or_would_take_for_ever_does_no_harm():
    q = [[1, 2], [3, 1]]
    shared = {"Q": q, "K": q, "V": q, "mask": "hidden:[[1, 1], [0, 0]]"}
    with pytest.raises(UndefinedError):
        derive("attention", **shared)
    assert [s.name for s in derive("attention", **shared, stop_at="M").steps] == ["S", "S'", "M"]
    huge = {"Q": [[10**9]], "K": [[10**9], [1]], "V": [[1], [2]], "base": 2, "scale": "none"}  # 2 to the 10^18
    d = derive("attention", **huge, stop_at="S")
    np.testing.assert_array_equal(oracles.floats(d["S"].result), np.array([[1e18, 1e9]]))


@pytest.mark.parametrize("function", ["relu", "identity"])
def test_a_single_position_without_a_state_before_it_has_a_gradient_of_zero_for_its_weights(function):
    """No state comes of W_h."""
    given = {"X": [[1, 2]], "W_x": [[1, 0], [1, 1]], "W_h": [[1, 2], [0, 1]], "dH": [[1, 2]]}
    for before in ({"H_0": [[0, 0]]}, {}):
        found = derive("backpropagation_through_time", **given, **before, function=function)
        assert found["dW_h"].result == Matrix([[0, 0], [0, 0]])
    assert "Embeddings" not in found.text()
    columns = derive("backpropagation_through_time", **oracles.turned(given), function=function, orientation="columns")
    assert columns["dW_h"].result == Matrix([[0, 0], [0, 0]])
