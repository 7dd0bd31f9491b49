"""Sentences on pages are made from what is so."""

import random
from math import isqrt

import numpy as np
import pytest

import symattn
from symattn.derivation.mechanisms import Settings, mechanism, mechanisms
from symattn.derivation.misconceptions import replayed
from symattn.derivation.ops.normalisation import Rescale, Standardise
from symattn.exact import to_sympy
from symattn.teaching.fairness import draw
from symattn.teaching.problems import problem_type

NORMS = {"B2", "B3", "B4", "B5", "B6", "B7", "B10", "B11"}


@pytest.mark.covering(most=10)
@pytest.mark.parametrize("name", sorted(set(mechanisms()) - {"custom"}))
def test_where_there_is_no_norm_nothing_is_said_of_one(name):
    """Neither "changes nothing here" nor anything else, whatever means and variances there are."""
    spec = problem_type("full").spec({"mechanism": name})
    chosen, settings = mechanism(name), spec.chosen_settings()
    d = chosen.run(draw(chosen, settings, spec.chosen_sizes(), random.Random(1)).givens, settings)
    if not any(isinstance(step.op, Standardise | Rescale) for step in d):
        assert not NORMS & {wrong.misconception.id for wrong in replayed(d)}


@pytest.mark.covering(most=5)
@pytest.mark.parametrize("name", sorted(set(mechanisms()) - {"custom"}))
def test_fractions_are_spoken_of_only_where_an_answer_may_be_one(name):
    (sheet,) = symattn.worksheet(name, seed=11)
    whole = all(to_sympy(entry).is_Integer for step in sheet.problem.asked_steps for entry in step.result)
    assert ("leave answers as" in repr(sheet.worksheet)) == (sheet.problem.exact and not whole)


def test_a_mean_loss_is_no_norm_and_nothing_is_said_of_one():
    chosen = mechanism("language_model")
    given = {"N": [[1, 0], [0, 1]], "W_U": [[1, 0], [0, 2]], "T": [[1, 0], [0, 1]]}
    assert "B3" not in {wrong.misconception.id for wrong in replayed(chosen.run(given, Settings()))}


@pytest.mark.parametrize("seed", range(20))
def test_other_inputs_and_keys_are_other_in_every_row(seed):
    design = problem_type("design")
    content = design.freeze(design.draw(design.spec({}), random.Random(seed), seed + 1, {}))
    [item] = [item for item in content["items"] if item["kind"] == "impossible"]
    for name in ("X", "K"):
        assert not any(row in content[name] for row in item[name])


@pytest.mark.parametrize("seed", range(20))
def test_two_keys_are_equal_or_an_input_is_zero_where_a_design_question_says_so(seed):
    """And the wish that it explains has unequal weights for these keys, or for that token."""
    design = problem_type("design")
    content = design.freeze(design.draw(design.spec({}), random.Random(seed), seed + 1, {}))
    [item] = [item for item in content["items"] if item["kind"] == "impossible"]
    if item["reason"] == "equal keys":
        one, other = item["about"]
        assert item["K"][one] == item["K"][other]
        assert any(parts[one] != parts[other] for parts in item["weights"])
    else:
        [zero] = item["about"]
        assert not any(item["X"][zero])
        assert len(set(item["weights"][item["tokens"].index(zero)])) > 1


@pytest.mark.parametrize("seed", range(6))
def test_no_weight_of_a_heat_map_is_where_two_ranges_meet(seed):
    """As the legend says (a 1 is at the end of one, and none begins there); softmax once more in NumPy."""
    heatmap = problem_type("heatmap")
    content = heatmap.freeze(heatmap.draw(heatmap.spec({}), random.Random(seed), seed + 1, {}))
    kinds = set()
    for item in content["items"]:
        kinds.add(item["kind"])
        if item["kind"] == "head":
            parts = np.array(item["parts"], dtype=float)
        else:
            keep = np.ones((len(item["scores"]),) * 2)
            if item["kind"] == "matrix" or item.get("mask") == "causal":
                keep = np.tril(keep)
            elif item.get("mask", "none") != "none":
                continue  # masks of other kinds: tests of heat maps look at their white cells
            parts = np.exp(np.array(item["scores"], dtype=float)) * keep
        weights = parts / parts.sum(axis=1, keepdims=True)
        assert all(abs(w - end) > 1e-3 for w in weights.flat for end in (0.2, 0.4, 0.7))
        assert all(w == 0 or w > 1e-3 for w in weights.flat)
    assert {"matrix", "head"} <= kinds


def test_starter_sheets_scale_by_whole_numbers_or_not_at_all():
    for name in ("", "self_attention", "causal_self_attention"):
        for d_k in (1, 2, 3, 4):
            spec = problem_type("full").spec({"mechanism": name, "level": "starter", "sizes": {"d_k": d_k}})
            scaled = spec.chosen_settings().scale == "sqrt(d_k)"
            assert scaled == (isqrt(d_k) ** 2 == d_k)
