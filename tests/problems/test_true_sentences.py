"""Sentences on pages are made from what is so."""

import random
from math import isqrt

import pytest
from problem_laws import contents

from symattn.derivation.mechanisms import Settings, mechanism
from symattn.derivation.misconceptions import replayed
from symattn.derivation.ops.normalisation import Rescale, Standardise
from symattn.teaching.fairness import draw
from symattn.teaching.problems import problem_type

NORMS = {"B2", "B3", "B4", "B5", "B6", "B7", "B10", "B11"}


@pytest.mark.parametrize("name", ["attention", "feed_forward", "cross_entropy_gradient", "recurrent_network"])
def test_where_there_is_no_norm_nothing_is_said_of_one(name):
    """Neither "changes nothing here" nor anything else, whatever means and variances there are."""
    spec = problem_type("full").spec({"mechanism": name})
    chosen, settings = mechanism(name), spec.chosen_settings()
    d = chosen.run(draw(chosen, settings, spec.chosen_sizes(), random.Random(1)).givens, settings)
    assert not any(isinstance(step.op, Standardise | Rescale) for step in d)
    assert not NORMS & {wrong.misconception.id for wrong in replayed(d)}


def test_a_mean_loss_is_no_norm_and_nothing_is_said_of_one():
    chosen = mechanism("language_model")
    given = {"N": [[1, 0], [0, 1]], "W_U": [[1, 0], [0, 2]], "T": [[1, 0], [0, 1]]}
    assert "B3" not in {wrong.misconception.id for wrong in replayed(chosen.run(given, Settings()))}


def test_what_a_design_question_says_of_its_inputs_and_keys_is_so():
    """Other ones differ in every row; where it names two equal keys or a zero input, the wish needs unequal weights."""
    for content in contents(problem_type("design"), 20, options={"items": ["impossible"]}):
        frozen = content
        [item] = frozen["items"]
        for name in ("X", "K"):
            assert not any(row in frozen[name] for row in item[name])
        if item["reason"] == "equal keys":
            one, other = item["about"]
            assert item["K"][one] == item["K"][other]
            assert any(parts[one] != parts[other] for parts in item["weights"])
        else:
            [zero] = item["about"]
            assert not any(item["X"][zero])
            assert len(set(item["weights"][item["tokens"].index(zero)])) > 1


def test_starter_sheets_scale_by_whole_numbers_or_not_at_all():
    for name in ("", "self_attention", "causal_self_attention"):
        for d_k in (1, 2, 3, 4):
            spec = problem_type("full").spec({"mechanism": name, "level": "starter", "sizes": {"d_k": d_k}})
            scaled = spec.chosen_settings().scale == "sqrt(d_k)"
            assert scaled == (isqrt(d_k) ** 2 == d_k)
