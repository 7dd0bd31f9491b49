"""Types that ask for one of several derivations: which mechanism each is of, and that its key is right."""

import json

import pytest

from symattn.api import check, worksheet
from symattn.derivation.mechanisms import mechanisms
from symattn.derivation.misconceptions import misconception
from symattn.teaching.exam.spec import exam_spec
from symattn.teaching.explanation.documents import question_document
from symattn.teaching.problems import problem_type
from symattn.teaching.rendering import render

TYPES = ("block", "extensions", "gradient")
SOME = [
    ("block", "after-attention"), ("block", "layer-norm"), ("extensions", "cache"), ("extensions", "online-softmax"),
    ("extensions", "positions"), ("gradient", "weights-given"), ("gradient", "jacobian"), ("gradient", "layer-norm"),
    ("gradient", "cross-entropy"),
]  # fmt: skip


def drawn(name, what, seed=5):
    [made] = worksheet(problem=name, options={"what": what}, seed=seed)
    return made.question


@pytest.mark.covering(most=4)
@pytest.mark.parametrize(("name", "what"), SOME)
def test_the_key_is_right_and_a_wrong_entry_is_found(name, what):
    """And what it asks for is told before the boxes, also when it comes back from JSON."""
    question, chosen = drawn(name, what), problem_type(name)
    assert question.problem.mechanism == chosen.presets[what]["mechanism"]
    right = {part.name: question.problem[part.name].result.sympy() for part in question.parts}
    assert check(question, right).right
    last = question.parts[-1].name
    assert not check(question, {**right, last: right[last] * 7 + right[last].ones(*right[last].shape)}).right
    again = chosen.make(json.loads(json.dumps(question.frozen)))
    assert list(again.entries()) == list(question.entries())
    text = " ".join(render(question_document(again), "text")[1].decode().split())
    assert ("Gradients are those of the loss" in text) == (name == "gradient")
    if again.introduction:
        [told] = again.introduction[0].content
        assert text.index(told.text) < text.index("Fill in every box")


@pytest.mark.parametrize("name", TYPES)
def test_everything_that_it_may_ask_for_has_a_mechanism_of_its_own(name):
    presets = problem_type(name).presets
    assert problem_type(name).options["what"][0] == next(iter(presets))
    chosen = [preset["mechanism"] for preset in presets.values()]
    assert set(chosen) <= set(mechanisms())
    assert len(set(chosen)) == len(chosen)


def test_gradients_that_are_right_for_a_wrong_line_before_follow():
    question = drawn("gradient", "weights-given")
    wrong = misconception("D2").on(question.problem.derivation).derivation
    report = check(question, {part.name: wrong[part.name].result.sympy() for part in question.parts})
    assert "The scale left out on the way back." in " ".join(str(report).replace("│", "").split())


def test_settings_that_are_stated_go_before_its_own():
    spec = problem_type("block").spec({
        "options": {"what": "encoder"}, "settings": {"heads": 2, "norm_place": "pre"},
    })  # fmt: skip
    settings = spec.chosen_settings()
    assert (settings.heads, settings.norm_place, settings.base) == (2, "pre", 3)


def test_in_an_exam_it_does_not_take_the_mechanism_of_the_others(tmp_path):
    questions = [{"type": "full"}, {"type": "block", "what": "layer-norm"}]
    shared = {"mechanism": "attention", "sizes": {"n": 3, "m": 3, "d_k": 4, "d_v": 2}}
    full, block = exam_spec({**shared, "question": questions}, tmp_path / "exam.toml").questions
    assert (full.spec.mechanism, block.spec.mechanism) == ("attention", "layer_norm")
    assert "d_k" not in block.spec.sizes
