"""Find the error: scripts in which one line is that of a belief, and the others are what NumPy makes of it."""

from collections import Counter

import numpy as np
import pytest
from oracles import floats, numpy_attention, softmax
from problem_laws import contents, questions

from symattn.derivation.misconceptions import misconception
from symattn.errors import SelfCheckError
from symattn.page.document import Document
from symattn.page.writers.text import write as plain
from symattn.teaching.problems.find_error import OPTIONS, SLIP, TYPE, Planted, with_error


def errors_of(question):
    return [Planted(**error) for error in question.content["errors"]]


def script_of(question):
    script = question.problem.derivation
    for error in errors_of(question):
        script = with_error(script, error)
    return script


@pytest.mark.slow
def test_scripts_go_on_from_their_wrong_line():
    seen = Counter()
    for question in questions(TYPE, 15):
        (error,) = errors_of(question)
        d = question.problem.derivation
        q, k, v = (floats(d.value(name)) for name in "QKV")
        right = numpy_attention(q, k, v, scale=2)
        script = {step.name: floats(step.result) for step in script_of(question)}
        expected, wrong = {}, error.step
        expected["S"] = script["S"] if wrong == "S" else right["S"]
        expected["S'"] = script["S'"] if wrong == "S'" else expected["S"] / 2
        expected["A"] = script["A"] if wrong == "A" else softmax(expected["S'"])
        expected["Z"] = script["Z"] if wrong == "Z" else expected["A"] @ v
        assert all(np.allclose(script[name], expected[name]) for name in script)
        assert not np.allclose(script[wrong], right[wrong])
        if error.id == SLIP:
            assert np.sum(~np.isclose(script[wrong], right[wrong])) == 1
        else:
            assert np.allclose(script[wrong], floats(misconception(error.id).on(d).value(wrong))), error
            seen[error.id] += 1
    assert len(seen) >= 10


@pytest.mark.slow
def test_answers_name_the_step_and_give_the_right_values():
    for question in questions(TYPE, 5, mechanism="self_attention"):
        (error,), d = errors_of(question), question.problem.derivation
        step, what, line, output = (part.answer for part in question.parts)
        assert error.step in (step.word, *step.accepted)
        assert len(what.options) == OPTIONS
        assert len({option.text for option in what.options}) == OPTIONS
        assert [question.content["offered"][0][i] for i in what.right] == [error.id]
        assert line.value == d.value(error.step)
        assert output.value == d.last.result


@pytest.mark.slow
def test_mistakes_and_steps_take_turns():
    drawn = list(contents(TYPE, 20))
    steps = Counter(content["errors"][0]["step"] for content in drawn)
    assert set(steps) == {"S", "S'", "A", "Z"}
    ids = Counter(content["errors"][0]["id"] for content in drawn)
    assert max(count for id, count in ids.items() if id != SLIP) <= 3
    assert len(ids) > 8
    places = Counter(content["offered"][0].index(content["errors"][0]["id"]) for content in drawn)
    assert places == dict.fromkeys(range(OPTIONS), 4)


@pytest.mark.slow
def test_nothing_that_is_offered_besides_writes_the_same_line():
    for question in questions(TYPE, 4, settings={"mask": "causal"}):
        (error,), d = errors_of(question), question.problem.derivation
        written = script_of(question).value(error.step)
        for id in set(question.content["offered"][0]) - {SLIP, error.id}:
            wrong = misconception(id).on(d)
            assert wrong.value(error.step) != written


@pytest.mark.slow
def test_two_errors_are_two_lines():
    for question in questions(TYPE, 2, options={"errors": 2}, settings={"mask": "causal"}):
        steps = [error.step for error in errors_of(question)]
        order = [step.name for step in question.problem.steps]
        assert len(set(steps)) == 2
        assert order.index(steps[0]) < order.index(steps[1])
        script = script_of(question)
        assert [step.name for step in script if step.pinned] == steps


@pytest.mark.slow
def test_a_second_explanation_is_found():
    """With S = Sᵀ, K Qᵀ cannot be seen."""
    content = next(c for c in contents(TYPE, 40) if c["errors"][0]["id"] == "T2")
    given = {**content["given"], "Q": content["given"]["K"]}
    with pytest.raises(SelfCheckError, match="cannot be seen"):
        TYPE.prove(TYPE.make({**content, "given": given}))


def test_the_key_shows_every_dot_product_of_the_output():
    """z₁₁ = 0.2·1 + 0.8·3 = …, for every entry."""
    shown = 0
    for question in questions(TYPE, 6):
        if errors_of(question)[-1].step != "Z":
            said = plain(Document("", question.parts[-1].key))
            rows, columns = question.problem.derivation.value("Z").shape
            dots = [f"z{'₁₂₃₄₅'[i]}{'₁₂₃₄₅'[j]} =" for i in range(rows) for j in range(columns)]
            assert all(dot in said for dot in dots), said
            shown += 1
    assert shown > 1
