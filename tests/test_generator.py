"""Random variants are worth setting: judged again by NumPy, over many seeds, mechanisms and sizes."""

import random

import numpy as np
import oracles
import pytest
from sentences import refused_saying
from strategies import drawn

from symattn.api import worksheet
from symattn.derivation.mechanisms import Settings, mechanism
from symattn.teaching.fairness.draw import draw
from symattn.teaching.problems import problem_type
from symattn.teaching.problems.draws import DEFAULT_SIZES

SIZES = [
    dict(DEFAULT_SIZES),
    {"n": 3, "m": 3, "d_model": 4, "d_k": 3, "d_v": 3},
    {"n": 4, "m": 4, "d_model": 5, "d_k": 4, "d_v": 2},
    {"n": 2, "m": 4, "d_model": 3, "d_k": 4, "d_v": 3},
]
LIMITS = {"Q": 4, "K": 4, "V": 9, "S": 12}


def dull(rows):
    """Rows of zeros, or two equal rows."""
    if (rows == 0).all(axis=1).any():
        return True
    return len(rows) > 1 and len(np.unique(rows, axis=0)) < len(rows)


def check(name, givens, mask, scale, activation="identity", most=1):
    """What a student would see of a variant with tokens as rows; what a weight matrix hides shows in its product."""
    arrays = {key: oracles.floats(m) for key, m in givens.items()}
    for key, rows in arrays.items():
        assert key.startswith("W_") or not dull(rows), f"{key} has a row of zeros or two equal rows"
        assert set(np.unique(rows)) <= {*range(-most, most + 1)}
    q, k, v = (arrays[r] if r in arrays else arrays["X"] @ arrays[f"W_{r}"] for r in "QKV")
    if activation == "relu":
        q, k, v = (np.maximum(m, 0) for m in (q, k, v))
    n, m = len(q), len(k)
    found = oracles.numpy_attention(q, k, v, scale=scale, keep=oracles.kept(mask, n, m))
    for key, rows in {"Q": q, "K": k, "V": v, "S": found["S"]}.items():
        assert not dull(rows), f"{key} has a row of zeros or two equal rows"
        assert abs(rows).max() <= LIMITS[key], f"{key} has a number too large to work with by hand"
    scores = found["S"]
    assert n != m or not np.array_equal(scores, scores.T), "symmetric scores hide an exchange of Q and K"
    for row in found["A"]:
        seen = row[row > 0]
        if len(seen) > 1:
            assert seen.max() <= 0.95, "a saturated row"
            assert seen.max() - seen.min() > 1e-6, "a uniform row"
    assert name == "weighted_values" or np.isfinite(found["Z"]).all()


@pytest.mark.covering(most=2, product=False)
@pytest.mark.parametrize("name", ["self_attention", "causal_self_attention", "attention"])
@pytest.mark.parametrize("sizes", SIZES, ids=lambda sizes: "-".join(map(str, sizes.values())))
def test_no_variant_is_degenerate(name, sizes):
    chosen = mechanism(name)
    settings = Settings.read(chosen.defaults)
    shapes = {key: chosen.shapes(settings)[key] for key in chosen.givens}
    letters = {letter for shape in shapes.values() for letter in shape}
    used = {letter: size for letter, size in sizes.items() if letter in letters}
    for seed in range(20):
        givens = draw(chosen, settings, used, random.Random(str(seed))).givens
        assert {key: m.shape for key, m in givens.items()} == {
            key: tuple(used[letter] for letter in shape) for key, shape in shapes.items()
        }
        check(name, givens, chosen.defaults.get("mask"), np.sqrt(sizes["d_k"]))


@pytest.mark.parametrize("sizes", [{"n": 3, "m": 3, "d_v": 2}, {"n": 2, "m": 4, "d_v": 3}])
def test_drawn_weights_are_tenths_that_sum_to_1(sizes):
    chosen = mechanism("weighted_values")
    for seed in range(40):
        givens = draw(chosen, Settings(), sizes, random.Random(str(seed))).givens
        weights = oracles.floats(givens["A"])
        np.testing.assert_allclose(weights.sum(axis=1), 1, atol=1e-12)
        np.testing.assert_allclose(weights * 10, np.round(weights * 10), atol=1e-9)
        assert weights.min() > 0
        assert not dull(weights)
        assert not dull(oracles.floats(givens["V"]))


@pytest.mark.covering(most=2)
@pytest.mark.parametrize(
    "stated",
    [*({"mask": mask} for mask in ("padding:2", "window:2", "blocks:1,2")), {"activation": "relu"},
     {"orientation": "columns"}],
    ids=str,
)  # fmt: skip
def test_other_masks_and_layouts_and_an_activation_are_no_worse(stated):
    settings = Settings.read(stated)
    for seed in range(3 if "activation" in stated else 8):
        givens = draw(mechanism("self_attention"), settings, dict(DEFAULT_SIZES), random.Random(str(seed))).givens
        givens = {key: m.T if "orientation" in stated else m for key, m in givens.items()}
        check("self_attention", givens, stated.get("mask"), 2.0, stated.get("activation", "identity"))


@pytest.mark.slow
def test_sizes_that_leave_no_room_are_an_error_that_says_why():
    chosen = mechanism("attention")
    with refused_saying(r"No variant of attention with .*worth setting"):
        draw(chosen, Settings(), {"n": 9, "m": 9, "d_k": 1, "d_v": 1}, random.Random(1))


@pytest.mark.covering(most=5)
@pytest.mark.parametrize(
    ("name", "settings", "sizes"),
    [
        ("attention", {"bias": "alibi"}, {}),
        ("self_attention", {"bias": "alibi", "mask": "causal"}, {}),
        ("attention", {"temperature": 37}, {}),
        ("attention", {"scale": 41, "cap": 2}, {}),
        ("attention", {"bias": "alibi", "heads": 2}, {}),
        ("multi_head_attention", {"bias": "alibi", "heads": 3}, {}),
        ("multi_head_attention", {"bias": "alibi", "heads": 6}, {"d_k": 1, "d_v": 1}),
        ("attention", {}, {"n": 3, "m": 3, "d_k": 1, "d_v": 1}),
        ("attention", {}, {"n": 4, "m": 4, "d_k": 1, "d_v": 1}),
        ("positional_encoding", {}, {"d_model": 3}),
        ("positional_self_attention", {}, {"d_model": 5}),
    ],
)
def test_no_stated_number_and_no_ordinary_size_leaves_nothing_to_set(name, settings, sizes):
    """Slopes of 1/256 stand in every variant, and are no reason to draw another; nor is a single feature."""
    scores = [step.result for step in drawn(name, sizes=sizes, **settings) if step.stem == "S"]
    for rows in (oracles.floats(m) for m in scores):
        assert len(np.unique(rows, axis=0)) == len(rows)


@pytest.mark.slow
def test_a_seed_that_takes_long_is_no_seed_without_a_sheet():
    """Numbers drawn in vain end after a count; this seed once took more than were allowed."""
    [sheet] = worksheet("cross_attention_gradient", seed=94793)
    assert sheet.key


@pytest.mark.parametrize("size", [0, -1, "N"])
def test_numbers_are_drawn_for_sizes_that_are_numbers(size):
    with refused_saying("n must be a number from 1"):
        draw(mechanism("attention"), Settings(), {"n": size, "m": 2, "d_k": 2, "d_v": 1}, random.Random(1))


def test_what_a_seed_means_has_not_changed():
    # whoever changes this on purpose changes every worksheet that has been printed: raise the version then
    givens = draw(mechanism("weighted_values"), Settings(), {"n": 2, "m": 2, "d_v": 1}, random.Random("a seed")).givens
    np.testing.assert_allclose(oracles.floats(givens["A"]), [[0.9, 0.1], [0.6, 0.4]])
    np.testing.assert_allclose(oracles.floats(givens["V"]), [[-1], [0]])


# ------------------------------------------------------------------------------------------------ sheets


@pytest.mark.slow
def test_more_sheets_than_there_are_is_an_error():
    with refused_saying("more draws gave none"):
        worksheet("attention", n=100, sizes={"n": 1, "m": 1, "d_k": 1, "d_v": 1})


@pytest.mark.parametrize(
    ("sizes", "settings", "base"),
    [
        ({}, {}, 2),
        ({"d_k": 3}, {}, "e"),
        ({"d_k": 3}, {"scale": "none"}, 2),
        ({"d_k": 3}, {"base": 2}, 2),
        ({}, {"base": 3}, 3),
        ({}, {"weights": "hardmax"}, "e"),
    ],
)
def test_weights_are_powers_of_2_where_that_makes_them_rational(sizes, settings, base):
    """Of the exponents s/√d_k, those with d_k = 3 are irrational, and so are powers of 2."""
    spec = problem_type("full").spec({"mechanism": "encoder_block", "sizes": sizes, "settings": settings})
    assert spec.chosen_settings().base == base
