"""The type `block`: what it asks for, and in PyTorch what comes of it."""

import json
from functools import cache

import numpy as np
import oracles
import pytest

from symattn.api import check, worksheet
from symattn.errors import InputError
from symattn.exact import Matrix
from symattn.teaching.exam.spec import exam_spec
from symattn.teaching.explanation import question_document
from symattn.teaching.problems import problem_type
from symattn.teaching.problems.block import TYPE
from symattn.teaching.sheets import render

WHATS = list(TYPE.presets)
SLOW_LAST = [pytest.param(what, marks=pytest.mark.slow) if what == "encoder" else what for what in WHATS]


@cache
def sheet(what):
    [made] = worksheet(problem="block", options={"what": what}, seed=11)
    return made


def answers(question):
    """The key, as SymPy has it."""
    found = {}
    for part in question.parts:
        result = question.problem[part.name].result
        assert isinstance(result, Matrix)
        found[part.name] = result.sympy()
    return found


@pytest.mark.parametrize("what", SLOW_LAST)
def test_the_key_is_right_and_a_wrong_entry_is_found(what):
    question = sheet(what).question
    assert question.type == "block"
    right = answers(question)
    assert check(question, right).right
    name = question.parts[-1].name
    assert not check(question, {**right, name: right[name] * 7}).right


@pytest.mark.parametrize("what", SLOW_LAST)
def test_what_it_asks_for_is_told_first_and_comes_back_from_json(what):
    question = sheet(what).question
    again = TYPE.make(TYPE.thaw(json.loads(json.dumps(question.frozen)), "exam.json"))
    assert list(again.entries()) == list(question.entries())
    text = " ".join(render(question_document(again), "text")[1].decode().split())
    [told] = again.introduction[0].content
    assert told.text in text
    assert text.index(told.text) < text.index("Fill in every box")


@pytest.mark.parametrize("seed", range(1, 5))
def test_the_second_half_of_a_block_is_that_of_pytorch(seed):
    torch = pytest.importorskip("torch")
    [made] = worksheet(problem="block", seed=seed)
    d = made.problem.derivation
    t = {name: torch.tensor(oracles.floats(m), dtype=torch.float64) for name, m in d.givens.items()}
    width = t["X"].shape[1:]
    norm = torch.nn.functional.layer_norm
    first = norm(t["X"] + t["Z"], width, eps=0.0)
    hidden = torch.relu(first @ t["W_1"] + t["b_1"])
    right = norm(first + hidden @ t["W_2"] + t["b_2"], width, eps=0.0)
    np.testing.assert_allclose(oracles.floats(d["N1"].result), first.numpy(), atol=1e-10)
    np.testing.assert_allclose(oracles.floats(d["N2"].result), right.numpy(), atol=1e-10)


@pytest.mark.parametrize("what", ["after-attention", "layer-norm", pytest.param("encoder", marks=pytest.mark.slow)])
def test_the_numbers_come_out(what):
    """G3's kind of numbers (rules.md 2.3): every standard deviation is rational."""
    norms = [step for step in sheet(what).problem.derivation if step.stem.startswith("N")]
    assert norms
    assert all(x.is_Rational for step in norms for x in step.result.sympy())


def test_what_is_not_there_is_named():
    with pytest.raises(InputError, match="The option what of block is 'dropout'; one of after-attention, "):
        worksheet(problem="block", options={"what": "dropout"})
    with pytest.raises(InputError, match="worked out with layer_norm, not with self_attention"):
        worksheet("self_attention", problem="block", options={"what": "layer-norm"})


def test_settings_that_are_stated_go_before_its_own():
    spec = TYPE.spec({"options": {"what": "encoder"}, "settings": {"heads": 2, "norm_place": "pre"}})
    settings = spec.chosen_settings()
    assert (settings.heads, settings.norm_place, settings.base) == (2, "pre", 3)


def test_in_an_exam_it_does_not_take_the_mechanism_of_the_others(tmp_path):
    questions = [{"type": "full"}, {"type": "block", "what": "layer-norm"}]
    shared = {"mechanism": "attention", "sizes": {"n": 3, "m": 3, "d_k": 4, "d_v": 2}}
    full, block = exam_spec({**shared, "question": questions}, tmp_path / "exam.toml").questions
    assert (full.spec.mechanism, block.spec.mechanism) == ("attention", "layer_norm")
    assert "d_k" not in block.spec.sizes


def test_the_type_is_in_the_catalogue():
    assert problem_type("block") is TYPE
    assert TYPE.options["what"][0] == WHATS[0]
