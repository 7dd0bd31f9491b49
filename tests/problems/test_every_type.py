"""What every problem type takes and refuses: added files are tested on arrival; their pages in `tests/catalogue`."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from catalogue_sheets import ROWS, sheet
from problem_laws import questions
from sentences import refused_saying

from symattn.api import make_recipe
from symattn.errors import InputError, SelfCheckError
from symattn.foundation.dice import Dice
from symattn.teaching.exam.spec import exam_spec
from symattn.teaching.problems import drawn_types, problem_type
from symattn.teaching.question import ChoiceAnswer
from symattn.teaching.sheets import sheets

TYPES = list(drawn_types())


ROW = {row.name: row for row in ROWS if row.kind == "type"}


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


@pytest.mark.parametrize("name", TYPES)
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
    chosen, content = problem_type(name), sheet(ROW[name]).question.content
    if "mechanism" not in content:
        with refused_saying(f"^The problem type {name} draws its own numbers; leave given out.$"):
            chosen.spec({"given": {"Q": [[1, 2]]}})
        return
    given = {name: [list(row) for row in rows] for name, rows in content["given"].items()}
    row = ROW[name]
    spec = chosen.spec({"given": given, "level": row.level, "notation": row.notation})
    rng = Dice.seeded(3).rng("given")
    assert chosen.draw(spec, rng, 1, chosen.family(spec, rng))["given"] == content["given"]


@pytest.mark.parametrize("name", TYPES)
def test_options_that_are_alike_or_of_which_none_is_right_are_found(name):
    chosen, question = problem_type(name), sheet(ROW[name]).question
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
