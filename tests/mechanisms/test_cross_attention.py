"""Cross-attention: queries from one sequence, keys and values from another, against PyTorch."""

import random

import oracles
import pytest

from symattn.api import derive, worksheet


def numbers(rng: random.Random, rows: int, columns: int) -> list[list[int]]:
    return [[int(rng.random() * 5) - 2 for _ in range(columns)] for _ in range(rows)]


# ------------------------------------------------------------------------------------------ laws


def layer(seed: int) -> dict[str, list[list[int]]]:
    rng = random.Random(f"laws {seed}")
    sizes = {"X": (2, 3), "E": (3, 4), "W_Q": (3, 4), "W_K": (4, 4), "W_V": (4, 2)}
    return {name: numbers(rng, *shape) for name, shape in sizes.items()}


@pytest.mark.parametrize("seed", range(5))
def test_the_source_itself_makes_it_self_attention(seed):
    given = layer(seed)
    given |= {"E": given["X"], "W_K": given["W_K"][:3], "W_V": given["W_V"][:3]}
    own = {name: rows for name, rows in given.items() if name != "E"}
    assert derive("cross_attention", **given)["Z"].result == derive("self_attention", **own)["Z"].result


@pytest.mark.parametrize("seed", range(5))
def test_the_source_may_be_in_any_order_and_queries_keep_theirs(seed):
    given = layer(seed)
    z = derive("cross_attention", **given)["Z"].result
    assert derive("cross_attention", **{**given, "E": given["E"][::-1]})["Z"].result == z
    turned = derive("cross_attention", **{**given, "X": given["X"][::-1]})["Z"].result
    assert turned == type(z).of(z.rows[::-1])


def test_padding_of_the_source_is_as_if_it_were_not_there():
    given = layer(1)
    padded = derive("cross_attention", **given, mask="padding:2")["Z"].result
    assert padded == derive("cross_attention", **{**given, "E": given["E"][:2]})["Z"].result


# ------------------------------------------------------------------------------------------ the rest


def test_letters_and_shapes_alone():
    sizes = {"n": 1, "m": 2, "d_model": 1, "d_source": 1, "d_k": 1, "d_v": 1}
    z = derive("cross_attention", symbolic=True, sizes=sizes).derivation.expanded()["Z"].result.sympy()[0, 0]
    assert {x.name for x in z.free_symbols} == {
        "x_{11}", "e_{11}", "e_{21}", "w^Q_{11}", "w^K_{11}", "w^V_{11}"
    }  # fmt: skip
    letters = {name: name for name in sizes}
    d = derive("cross_attention", symbolic=True, sizes=letters)
    assert {s.name: s.result.shape for s in d.steps}["S"] == ("n", "m")


@pytest.mark.slow
def test_random_worksheets_have_unequal_lengths_and_good_weights():
    for sheet in worksheet("cross_attention", n=2, seed=7):
        a = oracles.floats(sheet.problem["A"].result)
        assert a.shape == (2, 3)
        assert a.min() > 0.01
        assert a.max() < 0.96
