"""Masks of every kind against PyTorch and NumPy, and what is said about those that do not fit."""

import itertools
import random

import numpy as np
import oracles
import pytest
from sentences import refused_saying
from strategies import drawn

from symattn.api import derive
from symattn.derivation.mechanisms import Settings
from symattn.derivation.mechanisms.drawing import neither_flat_nor_steep
from symattn.derivation.mechanisms.masks import mask_keep, masks
from symattn.derivation.mechanisms.steps import mask_op
from symattn.derivation.ops.attention import HIDES, Mask, Softmax
from symattn.derivation.ops.scores import Bias
from symattn.errors import UndefinedError
from symattn.exact import NEGATIVE_INFINITY

SIZES = [(1, 1), (1, 4), (2, 3), (3, 2), (4, 4)]
NAMED = [
    "causal", "causal:top-left", "past", "padding:1", "padding:2", "window:1", "window:2", "window:2:both", "prefix:1",
    "prefix:2", "causal+padding:2", "window:2:both+causal", "causal:top-left+padding:2", "prefix:2+window:3",
    "past+padding:2",
]  # fmt: skip


def rows_of(rng, n, m):
    return [[int(rng.random() < 0.6) for _ in range(m)] for _ in range(n)]


@pytest.mark.parametrize(("n", "m"), SIZES)
@pytest.mark.parametrize("mask", NAMED)
def test_who_sees_whom(mask, n, m):
    if any(int(part) > m for part in mask.replace("+", ":").split(":") if part.isdigit()):
        with refused_saying("does not fit"):
            mask_keep(mask, n, m)
        return
    np.testing.assert_array_equal(mask_keep(mask, n, m), oracles.kept(mask, n, m))


def test_two_tokens_decoded_after_three():
    """Written out by hand: queries 4 and 5 of five tokens."""
    assert mask_keep("causal", 2, 5) == ((True,) * 4 + (False,), (True,) * 5)
    assert mask_keep("causal:top-left", 2, 5) == ((True,) + (False,) * 4, (True,) * 2 + (False,) * 3)
    assert mask_keep("past", 2, 5) == ((True,) * 3 + (False,) * 2, (True,) * 4 + (False,))
    assert mask_keep("window:2", 2, 5) == ((False, False, True, True, False), (False, False, False, True, True))
    assert mask_keep("prefix:2", 4, 4) == ((True, True, False, False),) * 2 + ((True,) * 3 + (False,), (True,) * 4)


def test_rows_say_what_is_seen_whatever_the_style_and_hidden_turns_them_over():
    for style in ("additive", "keep", "block"):
        settings = Settings.read({"mask": [[1, 0], [1, 1]], "mask_style": style})
        assert mask_op(settings, 2, 2).keep == ((True, False), (True, True))
    assert (
        mask_keep("hidden:[[0, 1], [0, 0]]", 2, 2) == mask_keep("[[1, 0], [1, 1]]", 2, 2) == mask_keep("causal", 2, 2)
    )
    for mask in ("hidden:[[0,0],[0,1]]+causal", "causal + [[1,1],[1,0]]"):
        assert mask_keep(mask, 2, 2) == ((True, False), (True, False))


def test_every_kind_has_a_sentence_of_its_own_and_unequal_lengths_are_told():
    assert not [mask for mask in NAMED if HIDES["custom"] in mask_op(Settings(mask=mask), 3, 3).hides]
    square, wide, left = (
        mask_op(Settings(mask=mask), n, 3).hides for mask, n in (("causal", 3), ("causal", 2), ("causal:top-left", 2))
    )
    assert len({square, wide, left}) == 3
    assert masks("causal+[[1, 0]]").kind == "causal+custom"


# ------------------------------------------------------------------------------------------ rows that see nothing


@pytest.mark.covering(product=False)
@pytest.mark.parametrize("orientation", ["rows", "columns"])
@pytest.mark.parametrize("by", ["matrix", "token"])
@pytest.mark.parametrize("weights", ["softmax", "sum", "hardmax"])
def test_a_token_that_sees_nothing_is_undefined_or_declared_to_be_zero(orientation, by, weights):
    if by == "token" and weights != "softmax":
        return
    givens = {name: [[1, 2], [3, 1]] for name in "QKV"}
    shared = {"mask": "hidden:[[1, 1], [0, 0]]", "orientation": orientation, "by": by, "weights": weights}
    with pytest.raises(UndefinedError, match=r"(Row|Column) 1 has no visible score.*empty = 'zero'"):
        derive("attention", **givens, **shared)
    z = derive("attention", **givens, **shared, empty="zero")["Z"].result
    first = z.row(0) if orientation == "rows" else z.T.row(0)
    assert list(first) == [0, 0]


# ------------------------------------------------------------------------------------------ laws


def test_all_zeros_added_are_a_mask_and_minus_infinity_hides():
    settings = Settings(mask="additive:[[0, -∞], [0, 0]]")
    assert mask_op(settings, 2, 2) == Mask(((True, False), (True, True)), "additive", "custom")
    assert isinstance(mask_op(Settings(mask="additive:[[0, -∞], [-1, 0]]"), 2, 2), Bias)
    assert mask_keep("additive:[[0, -∞], [-1, 0]]", 2, 2) == ((True, False), (True, True))


def parts_of(rng, n, m):
    """Masks of every kind as they are written, each with what NumPy adds to the scores for it."""
    rows = rows_of(rng, n, m)
    finite = [[rng.choice(["-∞", "-2", "1/2", "1+1", "0"]) for _ in range(m)] for _ in range(n)]
    values = {"-∞": -np.inf, "-2": -2, "1/2": 0.5, "1+1": 2, "0": 0}
    named = ["causal", "causal:top-left", f"padding:{m}", "window:1:both", "prefix:1", str(rows), f"hidden:{rows}"]
    return [
        *((mask, np.where(oracles.kept(mask, n, m), 0, -np.inf)) for mask in named),
        (f"additive:{finite}".replace("'", ""), np.array([[values[x] for x in row] for row in finite])),
        ("none", np.zeros((n, m))),
    ]


PROGRAMS_HIDE = (-np.inf, -1e9, -1e4, float(np.finfo("float16").min), float(np.finfo("float32").min), "-inf", "−∞")
"""What programs add to a score to hide it."""


@pytest.mark.parametrize("hides", PROGRAMS_HIDE, ids=str)
def test_what_programs_add_to_hide_a_score_hides_it(hides):
    q, rows = [[1, 0], [0, 1]], [[0, hides], [0, 0]]
    for mask in [rows] if isinstance(hides, str) else [rows, np.array(rows), np.array(rows, dtype="float32")]:
        weights = oracles.floats(derive("attention", Q=q, K=q, V=q, scale="none", mask=mask)["A"].result)
        np.testing.assert_allclose(weights, [[1, 0], [1 / (1 + np.e), np.e / (1 + np.e)]], rtol=1e-12)


def test_small_numbers_below_0_are_added_and_others_are_no_mask():
    q, added = [[1, 0], [0, 1]], [[0, -1.5], [-0.25, 0]]
    weights = oracles.floats(derive("attention", Q=q, K=q, V=q, scale="none", mask=np.array(added))["A"].result)
    np.testing.assert_allclose(weights, oracles.softmax(np.eye(2) + added), rtol=1e-12)
    for wrong in ([[0, 2], [0, 0]], [[0, float("nan")], [0, 0]], [[1, -np.inf], [0, 0]]):
        with refused_saying(r"only 0 \(visible\) and −∞ \(hidden\)"):
            derive("attention", Q=q, K=q, V=q, mask=np.array(wrong))


@pytest.mark.parametrize("seed", range(10))
def test_masks_of_any_kind_are_joined_in_any_order(seed):
    """Rows first were refused, and so was additive: beside another one."""
    rng = random.Random(f"joined {seed}")
    n, m = rng.choice(SIZES)
    chosen = rng.sample(parts_of(rng, n, m), 3) + rng.sample(parts_of(rng, n, m)[-2:-1], seed % 2)
    added = sum(values for _, values in chosen)
    made = {
        str(mask_op(Settings.read({"mask": written}), n, m))
        for order in itertools.permutations(mask for mask, _ in chosen)
        for written in ("+".join(order), " + ".join(order), list(order))
    }
    assert len(made) == 1  # the very same step
    op = mask_op(Settings(mask="+".join(mask for mask, _ in chosen)), n, m)
    if isinstance(op, Bias):
        written = [[-np.inf if x is NEGATIVE_INFINITY else float(x) for x in row] for row in op.values.rows]
        np.testing.assert_array_equal(written, added)
    else:
        np.testing.assert_array_equal(op.keep, np.isfinite(added))
        assert not added[np.isfinite(added)].any()


@pytest.mark.parametrize("name", ["attention", "causal_self_attention", "encoder", "rotary_attention"])
def test_a_query_that_sees_nothing_is_drawn(name):
    weights = [step for step in drawn(name, mask="past", empty="zero") if isinstance(step.op, Softmax)]
    assert weights
    assert any(not np.asarray(step.result.rows[0], float).any() for step in weights)


@pytest.mark.parametrize(("row", "suits"), [((), True), ((5,), True), ((1, 1), False), ((0, 2), True), ((0, 9), False)])
def test_only_a_choice_of_keys_can_be_flat_or_steep(row, suits):
    assert neither_flat_nor_steep(row) is suits
