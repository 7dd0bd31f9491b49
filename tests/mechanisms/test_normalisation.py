"""Norms against NumPy and PyTorch, and by hand: the golden variant G3 of rules.md 2.3."""

import random
from decimal import Decimal

import numpy as np
import pytest
from commands import run
from hypothesis import given
from hypothesis import strategies as st
from sentences import refused_saying
from trials import tries

from symattn.api import derive
from symattn.derivation.mechanisms import Settings, mechanism
from symattn.derivation.mechanisms.layer_norm import normed
from symattn.derivation.ops.normalisation import Variance
from symattn.exact import Matrix
from symattn.exact.intervals import Interval
from symattn.marking.marker.windows import window
from tests import oracles


def test_the_window_of_a_variance_is_its_range():
    """Greatest and least over a fine grid: convex, so that the greatest stands in a corner."""
    line = [(0.5, 1.5), (1.0, 3.0), (2.5, 3.5)]
    boxes = [((*(interval(*ends) for ends in line),),), ((interval(1.5, 2.5),),)]
    ((found,),) = window(Variance(), *boxes)
    grid = [np.linspace(low, high, 21) for low, high in line]
    x, y, z, m = np.meshgrid(*grid, np.linspace(1.5, 2.5, 21))
    values = ((x - m) ** 2 + (y - m) ** 2 + (z - m) ** 2) / 3
    assert float(found.high) == pytest.approx(values.max(), abs=1e-12)
    assert float(found.low) == pytest.approx(values.min(), abs=1e-3)
    assert float(found.low) <= values.min() + 1e-12


def interval(low, high):
    return Interval(Decimal(str(low)), Decimal(str(high)))


# ------------------------------------------------------------------------------------------------ random rows


@pytest.mark.parametrize(("width", "why"), [(2, "so few"), (3, "never rational")])
def test_too_few_features_are_not_drawn(width, why):
    with refused_saying(why):
        mechanism("layer_norm").draw(Settings(), {"n": 2, "d_model": width}, random.Random(1))


@tries(50)
@given(st.lists(st.integers(-5, 5), min_size=2, max_size=5), st.sampled_from(["layer", "rms"]))
def test_normed_rows_are_those_of_the_mechanism(row, kind):
    out = normed(row, Settings(norm=kind))
    if out is not None:
        d = mechanism("layer_norm" if kind == "layer" else "rms_norm").run({"X": [row]}, Settings())
        assert Matrix([out]) == d.last.result


@pytest.mark.parametrize("epsilon", ["1e-5", "1E-5", "10^-5", 1e-5, "0.00001"])
def test_epsilon_as_people_type_it(epsilon):
    """1e-5 was e − 5 once."""
    last = derive("layer_norm", X=[[1, 9]], epsilon=epsilon).derivation.last.result
    np.testing.assert_allclose(oracles.floats(last), np.array([[-4, 4]]) / np.sqrt(16 + 1e-5))


def test_epsilon_on_the_command_line(tmp_path):
    """In the file's TOML and as an option, where it wins."""
    (tmp_path / "norm.toml").write_text('mechanism = "layer_norm"\n[given]\nX = [["1e0", "90E-1"]]\n')
    said = run("derive", tmp_path / "norm.toml", "--epsilon", "1e-5").output
    assert "1.0000" in said
    assert "1600001" in said  # the variance is 16 + 1/100000
