"""Sentences on pages are made from what is so."""

import random
from math import isqrt

import pytest

from symattn.mechanisms import Settings, mechanism
from symattn.misconceptions import replayed
from symattn.problems import problem_type


def test_a_mean_loss_is_no_norm_and_nothing_is_said_of_one():
    chosen = mechanism("language_model")
    given = {"N": [[1, 0], [0, 1]], "W_U": [[1, 0], [0, 2]], "T": [[1, 0], [0, 1]]}
    assert "B3" not in {wrong.misconception.id for wrong in replayed(chosen.run(given, Settings()))}


@pytest.mark.parametrize("seed", range(20))
def test_other_inputs_and_keys_are_other_in_every_row(seed):
    design = problem_type("design")
    content = design.draw(design.spec({}), random.Random(seed), seed + 1, {})
    [item] = [item for item in content["items"] if item["kind"] == "impossible"]
    for name in ("X", "K"):
        assert not any(row in content[name] for row in item[name])


def test_starter_sheets_scale_by_whole_numbers_or_not_at_all():
    for name in ("", "self_attention", "causal_self_attention"):
        for d_k in (1, 2, 3, 4):
            spec = problem_type("full").spec({"mechanism": name, "level": "starter", "sizes": {"d_k": d_k}})
            scaled = spec.chosen_settings().scale == "sqrt(d_k)"
            assert scaled == (isqrt(d_k) ** 2 == d_k)
