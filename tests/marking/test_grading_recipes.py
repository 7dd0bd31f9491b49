"""Recipes read back: whatever stands in a footer gives the same worksheet, and nothing in it is ever run."""

import random
import re

import pytest
from tables import tables_beside

from symattn.api import make_recipe
from symattn.derivation.mechanisms import mechanisms
from symattn.errors import InputError
from symattn.teaching.problems import drawn_types, problem_types
from symattn.teaching.recipe import read_recipe

TABLES = tables_beside(__file__)
SETTINGS, OTHERS = TABLES["settings"], TABLES["others"]
CASES = [
    *(("self_attention" if {"order", "activation"} & set(said) else "attention", said, OTHERS[k % len(OTHERS)])
      for k, said in enumerate(SETTINGS)),
    *(("attention", {}, other) for other in OTHERS),
    *((name, {}, {}) for name in mechanisms()),
    ("multi_head_attention", {"heads": "4", "kv_heads": 2, "split": "interleaved", "mask": "causal"}, {}),
    ("self_attention", {"temperature": "1/2", "by": "matrix"}, {"notation": "note-003"}),
    ("layer_norm", {"variance": "sample", "epsilon": "1/100"}, {}),
]  # fmt: skip


@pytest.mark.parametrize(("mechanism", "settings", "other"), CASES)
def test_every_setting_comes_back(mechanism, settings, other):
    recipe = make_recipe(mechanism, settings, seed=7, **other)
    again, number = read_recipe(f"{recipe.command()} -n 12")
    assert number == 12
    assert read_recipe(f"{recipe.command()} (sheet 12)") == (again, 12)  # as it was printed before
    assert again.command() == recipe.command()
    assert again.spec.chosen_settings() == recipe.spec.chosen_settings()
    assert again.spec.chosen_sizes() == recipe.spec.chosen_sizes()
    assert (again.seed, again.spec.exact, again.spec.places) == (7, recipe.spec.exact, recipe.spec.places)
    assert (again.ask, again.marks) == (recipe.ask, recipe.marks)


@pytest.mark.parametrize("kind", drawn_types())
def test_every_problem_type_and_option_comes_back(kind):
    known = problem_types()[kind].options
    changed = {bool: lambda x: not x, int: lambda x: x + 1, str: lambda x: x, list: lambda x: ["scores", "mask"]}
    options = {name: changed[type(default)](default) for name, (default, *_) in known.items()}
    recipe = make_recipe(problem=kind, seed=3, options=options)
    assert read_recipe(recipe.command()) == (recipe, 1)


@pytest.mark.parametrize("text", TABLES["none"])
def test_anything_else_is_refused_in_a_sentence(text):
    with pytest.raises(InputError) as raised:
        read_recipe(text)
    assert re.search(r"[^.?][.?]$", str(raised.value))  # a question has no full stop after it
    assert "\n" not in str(raised.value)


def test_token_soup_is_refused_or_read():
    rng = random.Random(5)
    words = [
        "symattn", "worksheet", "attention", "--seed", "5", "--mask", "causal", "--size", "n=3", "=", ",", "'", "\\",
        "--by-token", "--decimal", "--places", "2", "--option", "-n", "(sheet 2)", "(sheet 99999)", "--round",
        "1:truncate",
    ]  # fmt: skip
    read = 0
    for _ in range(300):
        text = " ".join(["symattn worksheet attention --seed 5", *rng.choices(words, k=rng.randrange(4))])
        try:
            recipe, number = read_recipe(text)
        except InputError:
            continue
        read += 1
        assert 1 <= number <= 99999
        assert read_recipe(recipe.command())[0].command() == recipe.command()
    assert read > 3
