"""Recurrent networks: against PyTorch's nn.RNN and autograd, a loop in NumPy, SymPy's diff, powers of matrices."""

import random
from fractions import Fraction

import numpy as np
import pytest
import sympy
from oracles import plain

from symattn.api import derive
from symattn.derivation.mechanisms import Settings, mechanism
from symattn.derivation.misconceptions import replayed, whole
from symattn.derivation.ops.jacobian import Slope
from symattn.exact import Matrix, decimal_text
from symattn.foundation.dice import Dice
from symattn.page.notation import load_notation
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.fairness import draw

NETWORK, JACOBIAN = mechanism("recurrent_network"), mechanism("recurrent_jacobian")
FUNCTIONS = {"tanh": np.tanh, "relu": lambda a: np.maximum(a, 0), "identity": lambda a: a}


def entries(rng, rows, columns):
    return Matrix.of([Fraction(int(rng.random() * 9) - 4, 1 + int(rng.random() * 2)) for _ in range(columns)]
                     for _ in range(rows))  # fmt: skip


def drawn(seed):
    """Givens of every kind, and settings of every kind."""
    rng = random.Random(seed)
    n, d, width, out = (1 + int(rng.random() * 3) for _ in range(4))
    shapes = {"X": (n, d), "W_x": (d, width), "W_h": (width, width)}
    if rng.random() < 0.5:
        shapes["b"] = (1, width)
    if rng.random() < 0.5:
        shapes["H_0"] = (1, width)
    if rng.random() < 0.5:
        shapes["W_y"] = (width, out)
        if rng.random() < 0.5:
            shapes["c"] = (1, out)
    function = list(FUNCTIONS)[seed % 3]
    if function == "tanh":  # a tanh of a tanh of a tanh has decimals, and takes its time
        shapes["X"] = (min(n, 2), d)
    settings = {"function": function, "by": "token" if rng.random() < 0.3 else "matrix"}
    return {name: entries(rng, *shape) for name, shape in shapes.items()}, settings


def test_without_a_start_the_start_is_zero():
    givens = {"X": [[1, -2], [3, 1]], "W_x": [[1, 0], [2, 1]], "W_h": [[0, 1], [1, 1]]}
    for function in FUNCTIONS:
        plain = NETWORK.run(givens, Settings.read({"function": function}))
        started = NETWORK.run({**givens, "H_0": [[0, 0]]}, Settings.read({"function": function}))
        assert plain.value("H") == started.value("H")
        assert "H_h.1" not in plain


def test_in_letters_every_state_is_what_sympy_makes_of_the_one_before():
    solution = derive("recurrent_network", symbolic=True, sizes={"n": 2, "d_model": 2, "d_h": 2}, function="tanh")

    def named(letter):
        return sympy.Matrix(2, 2, lambda i, j: sympy.Symbol(f"{letter}_{{{i + 1}{j + 1}}}", real=True))

    x, w, u = named("x"), named("w^x"), named("w^h")
    first = (x[0, :] * w).applyfunc(sympy.tanh)
    second = (x[1, :] * w + first * u).applyfunc(sympy.tanh)
    whole_thing = sympy.Matrix(solution.derivation.expanded().value("H").sympy())
    assert whole_thing == sympy.Matrix.vstack(first, second)


def test_its_lines_are_not_put_together_as_if_they_were_those_of_attention():
    for seed in range(9):
        givens, settings = drawn(seed)
        d = NETWORK.run(givens, Settings.read(settings))
        assert whole(d) is d
        assert all(wrong.misconception.id[0] == "U" for wrong in replayed(d))


# ------------------------------------------------------------------------------------------------ through time


def test_slopes_in_letters_are_the_derivatives():
    a = sympy.Symbol("a", real=True)
    for function, f in (("tanh", sympy.tanh(a)), ("sigmoid", 1 / (1 + sympy.exp(-a)))):
        slope = Slope(function).apply(Matrix.of([[f]]))[0, 0]
        assert sympy.simplify(slope - sympy.diff(f, a)) == 0
    h = sympy.Symbol("h", real=True)
    relu = Slope("relu").apply(Matrix.of([[h]]))[0, 0]
    assert [relu.subs(h, x) for x in (-1, 0, 2)] == [0, 0, 1]


# ------------------------------------------------------------------------------------------------ worksheets


@pytest.mark.parametrize("chosen", [NETWORK, JACOBIAN])
def test_drawn_numbers_show_what_they_are_for(chosen):
    settings = Settings.read(chosen.defaults)
    for number in range(1, 21):
        givens = draw(chosen, settings, chosen.default_sizes, Dice.seeded(3).rng(number)).givens
        d = chosen.run(givens, settings)
        if chosen is NETWORK:
            cut = [x for s in d if s.role == "H_linear" or s.name == "H_x" for x in s.result if x < 0]
            assert cut
            assert all(any(x != 0 for x in s.result) for s in d if s.role == "H" and s.token)
        else:
            first, last = (float(decimal_text(d.value(f"norm.{t}")[0, 0], 12)) for t in (1, 3))
            assert last >= 2 * first or 2 * last <= first
            assert givens["W_h"] != givens["W_h"].T


def test_a_drawn_linear_network_vanishes_one_way_and_explodes_the_other():
    settings = Settings.read({"function": "identity"})
    for number in range(1, 11):
        weights = draw(JACOBIAN, settings, JACOBIAN.default_sizes, Dice.seeded(4).rng(number)).givens["W_h"]
        assert sorted(map(abs, weights.sympy().eigenvals())) == [sympy.Rational(1, 2), 2]


def test_a_page_names_states_and_jacobians():
    d = NETWORK.run({"X": [[1], [2]], "W_x": [[1, 1]], "W_h": [[1, 0], [1, -1]]}, Settings.read({}))
    wording = Wording(d, load_notation("standard"))
    assert [plain(wording.name(s.name)) for s in d] == ["P", "h_1", "r_2", "l_2", "h_2", "H"]
    assert plain(wording.entry("H.2", 0, 1)) == "h_{2,2}"
