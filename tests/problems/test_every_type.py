"""What every problem type takes, refuses and says: added files are tested on arrival; pages in `tests/catalogue`."""

import re
from dataclasses import replace
from functools import cache
from math import isqrt
from pathlib import Path

import pytest
from catalogue_sheets import BY_NAME, sheet_of
from problem_laws import contents, questions
from sentences import refused_saying
from strategies import drawn

from symattn.api import make_recipe
from symattn.derivation.mechanisms import Settings, mechanism
from symattn.derivation.misconceptions import replayed
from symattn.derivation.ops.normalisation import Rescale, Standardise
from symattn.errors import InputError, SelfCheckError
from symattn.foundation.dice import Dice
from symattn.teaching.exam.spec import exam_spec
from symattn.teaching.problems import drawn_types, problem_type, problem_types
from symattn.teaching.question import ChoiceAnswer, MatrixAnswer
from symattn.teaching.sheets import sheets

TYPES = list(drawn_types())


@pytest.mark.parametrize(
    ("name", "mechanism"), [*((name, "causal_self_attention") for name in TYPES), ("block", "cross_attention")]
)
def test_a_stated_mechanism_is_used_or_refused(name, mechanism):
    """In one sentence, which names the mechanism; used, it is that of the derivation that is asked about."""
    try:
        (made,) = questions(problem_type(name), 1, mechanism=mechanism, level="starter")
    except InputError as error:
        said = str(error)
    else:
        assert made.problem.mechanism == mechanism
        return
    assert mechanism in said
    assert re.fullmatch(r"[^.\n]+\.", said)


STATED = {"mask": "window:2", "scale": "none", "by": "token", "mask_style": "keep", "orientation": "columns"}


@pytest.mark.parametrize("setting", STATED)
@pytest.mark.parametrize("name", [name for name in TYPES if problem_type(name).mechanisms])
def test_a_stated_setting_is_used_or_refused(name, setting):
    """Of the types whose questions are the same for every mechanism: another question comes of it, or a sentence."""
    options = {"step": "mask"} if name == "drills" else {}

    def contents(**settings):
        return [
            s.question.content for s in sheets(make_recipe("", settings, problem=name, seed=11, options=options), 1)
        ]

    if setting in problem_type(name).settings:
        assert contents(**{setting: STATED[setting]}) != contents()
        return
    with refused_saying(rf"^The problem type {name} has no setting '{setting}'; [^\n]+\.$"):
        contents(**{setting: STATED[setting]})


@pytest.mark.parametrize("name", TYPES)
def test_what_a_type_takes_anyhow_may_be_stated(name):
    """As recipes in the footers of keys do."""
    recipe = make_recipe(problem=name)
    assert make_recipe(recipe.spec.mechanism, problem=name) == recipe


def exam_of(data):
    return exam_spec(data, Path("exam.toml"))


def test_a_mechanism_for_a_whole_exam_is_for_the_questions_that_have_one():
    exam = exam_of({
        "title": "Quiz", "mechanism": "causal_self_attention",
        "question": [{"type": "full"}, *({"type": name} for name in TYPES if problem_type(name).mechanisms)],
    })  # fmt: skip
    first, *others = (question.spec.mechanism for question in exam.questions)
    assert first == "causal_self_attention"
    assert set(others) <= {"attention", "self_attention"}
    unused = {"question": [{"type": "drills", "mechanism": "causal_self_attention", "scale": "none"}]}
    assert (
        exam_spec(unused, Path("exam.json"), (), made=True).questions[0].spec
        == exam_of({"question": [{"type": "drills"}]}).questions[0].spec
    )
    with refused_saying(r"question 1: The questions of drills are the same for every mechanism"):
        exam_of(unused)
    heads = exam_of({"question": [{"type": "shapes", "mechanism": "multi_head_attention"}]})  # whose shapes are asked
    assert heads.questions[0].spec.mechanism == "multi_head_attention"


@pytest.mark.parametrize("name", [name for name in TYPES if problem_type(name).options])
def test_an_option_that_cannot_be_is_refused_by_name(name):
    chosen = problem_type(name)
    for option, (default, _, *kinds) in chosen.options.items():
        wrong = {
            bool: "perhaps",
            int: 0 if kinds else "two",
            str: "guess" if kinds else 1,
            list: ["guess"] if kinds else 1,
        }
        with refused_saying(f"^The option {option} of {name}.*'?{wrong[type(default)]}"):
            chosen.spec({"options": {option: wrong[type(default)]}})
        if isinstance(default, bool):
            with refused_saying("true or false"):
                chosen.spec({"options": {option: int(default)}})


@pytest.mark.covering(most=8)
@pytest.mark.parametrize("name", TYPES)
def test_given_matrices_are_used_or_refused(name):
    chosen, content = problem_type(name), sheet_of(name).question.content
    if "mechanism" not in content:
        with refused_saying(f"^The problem type {name} draws its own numbers; leave given out.$"):
            chosen.spec({"given": {"Q": [[1, 2]]}})
        return
    given = {name: [list(row) for row in rows] for name, rows in content["given"].items()}
    row = BY_NAME[name]
    spec = chosen.spec({"given": given, "level": row.level, "notation": row.notation})
    rng = Dice.seeded(3).rng("given")
    assert chosen.draw(spec, rng, 1, chosen.family(spec, rng))["given"] == content["given"]


@pytest.mark.parametrize("name", TYPES)
def test_options_that_are_alike_or_of_which_none_is_right_are_found(name):
    chosen, question = problem_type(name), sheet_of(name).question
    chosen.prove(question)
    for k, part in enumerate(question.parts):
        if isinstance(part.answer, ChoiceAnswer):
            first, *others = part.answer.options
            for options, said in (
                ((first, replace(others[0], text=first.text), *others[1:]), "alike"),
                (tuple(replace(option, right=False) for option in part.answer.options), "0 right"),
            ):
                wrong = replace(part, answer=replace(part.answer, options=options))
                with pytest.raises(SelfCheckError, match=said):
                    chosen.prove(replace(question, parts=(*question.parts[:k], wrong, *question.parts[k + 1 :])))


@pytest.mark.covering(most=3)
@pytest.mark.parametrize("name", ["counts", "design", "estimate", "heatmap", "masks", "prove", "shapes"])
def test_the_right_options_of_one_worksheet_stand_anywhere(name):
    """A worksheet alone is the first variant of its family: over seeds its answers do not always stand at A."""
    chosen, places = problem_type(name), {}
    for seed in range(8):
        dice = Dice.seeded(seed)
        spec = chosen.spec({"type": name})
        question = chosen.make(chosen.draw(spec, dice.rng(1), 1, chosen.family(spec, dice.rng("family"))))
        for what, found in question.positions.items():
            places.setdefault(what, set()).add(found)
    places.pop("mask" if name == "masks" else "", None)  # whose kinds come in turn, the causal one first
    assert places
    assert all(len(found) > 1 for found in places.values()), places


# ------------------------------------------------------------------------------------------------ sentences

NORMS = {"B2", "B3", "B4", "B5", "B6", "B7", "B10", "B11"}


@pytest.mark.parametrize("name", ["attention", "feed_forward", "cross_entropy_gradient", "recurrent_network"])
def test_where_there_is_no_norm_nothing_is_said_of_one(name):
    """Neither "changes nothing here" nor anything else, whatever means and variances there are."""
    d = drawn(name)
    assert not any(isinstance(step.op, Standardise | Rescale) for step in d)
    assert not NORMS & {wrong.misconception.id for wrong in replayed(d)}


def test_a_mean_loss_is_no_norm_and_nothing_is_said_of_one():
    chosen = mechanism("language_model")
    given = {"N": [[1, 0], [0, 1]], "W_U": [[1, 0], [0, 2]], "T": [[1, 0], [0, 1]]}
    assert "B3" not in {wrong.misconception.id for wrong in replayed(chosen.run(given, Settings()))}


def test_what_a_design_question_says_of_its_inputs_and_keys_is_so():
    """Other ones differ in every row; where it names two equal keys or a zero input, the wish needs unequal weights."""
    for content in contents(problem_type("design"), 20, options={"items": ["impossible"]}):
        [item] = content["items"]
        for name in ("X", "K"):
            assert not any(row in content[name] for row in item[name])
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


# ------------------------------------------------------------------------------------------- answers from derivations

STEPS = {
    "drills": {"Q", "K", "V", "S", "S'", "M", "A", "Z"},
    "find-error": {"S", "S'", "A", "Z"},
    "translate": {"S", "Z"},
}
"""Which steps are asked for so."""


@cache
def made(name):
    """Enough to see every step of the types that ask for some."""
    return list(questions(problem_types()[name], 8 if name in STEPS else 1))


def matrix_parts(made):
    return [(question, part) for question in made for part in question.parts if isinstance(part.answer, MatrixAnswer)]


@pytest.mark.covering(most=4)
@pytest.mark.parametrize("name", drawn_types())
def test_the_answer_is_exactly_the_result_of_its_step(name):
    steps = set()
    for _, part in matrix_parts(made(name)):
        answer, d = part.answer, part.answer.derivation
        assert (d is None) == (answer.step == "")
        if d is not None:
            step = d[answer.step]
            assert answer.value == d.value(answer.step)
            assert answer.value == step.op.apply(*d.operands(step))
            steps.add(answer.step)
    assert steps == STEPS.get(name, set())


@pytest.mark.slow
def test_the_script_with_the_error_is_not_the_derivation():
    for question, part in matrix_parts(made("find-error")):
        derivation = part.answer.derivation
        assert not any(step.pinned for step in derivation)
        assert derivation.givens == question.problem.derivation.givens


def test_where_an_answer_comes_from_does_not_change_it():
    [(_, part), *_] = matrix_parts(made("drills"))
    bare = MatrixAnswer(part.answer.value)
    assert part.answer == bare
    assert repr(part.answer) == repr(bare) == f"MatrixAnswer(value={bare.value!r})"
