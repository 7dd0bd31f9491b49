"""Recurrent networks: slopes in letters, what is drawn, what a page calls it; values are those of test_values.py."""

import pytest
import sympy
from oracles import plain

from symattn.derivation.matrixwise import matrixwise
from symattn.derivation.mechanisms import Settings, mechanism
from symattn.derivation.misconceptions import replayed
from symattn.derivation.ops.gradient import Slope
from symattn.exact import Matrix, decimal_text
from symattn.foundation.dice import Dice
from symattn.page.notation import load_notation
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.fairness.draw import draw

NETWORK, JACOBIAN = mechanism("recurrent_network"), mechanism("recurrent_jacobian")
GIVENS = {"X": [[1], [2]], "W_x": [[1, 1]], "W_h": [[1, 0], [1, -1]]}


def test_its_lines_are_not_put_together_as_if_they_were_those_of_attention():
    for by in ("matrix", "token"):
        d = NETWORK.run(GIVENS, Settings.read({"by": by}))
        assert matrixwise(d) is d
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
    d = NETWORK.run(GIVENS, Settings())
    wording = Wording(d, load_notation("standard"))
    assert [plain(wording.name(s.name)) for s in d] == ["P", "h_1", "r_2", "l_2", "h_2", "H"]
    assert plain(wording.entry("H.2", 0, 1)) == "h_{2,2}"
