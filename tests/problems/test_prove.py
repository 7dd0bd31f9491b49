"""The theorems: their instances against NumPy, and the properties of the whole type."""

import re
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from oracles import floats, softmax
from problem_laws import contents, questions

from symattn.errors import SelfCheckError
from symattn.exact import decimal_text, exact
from symattn.page.notation import load_notation
from symattn.page.writers import FORMATS
from symattn.teaching.explanation.documents import question_document
from symattn.teaching.problems.asking import Prose
from symattn.teaching.problems.draws import Draw
from symattn.teaching.problems.prove import INSTANCES, THEOREMS, TYPE
from symattn.teaching.question import ChoiceAnswer, FormulaAnswer, MatrixAnswer, RubricAnswer


def number(value):
    return float(decimal_text(exact(value), 25))


def hide(scores):
    scores = np.array(scores, float)
    return np.where(np.tril(np.ones_like(scores)) > 0, scores, -np.inf)


def shift(x):
    return softmax([x["c"] + np.log(x["parts"])]), None


def permutation(x):
    Q, K, V = (np.array(x[name])[x["new"]] for name in "QKV")
    A = softmax(Q @ K.T, 2)
    return A, A @ V


def key_bias(x):
    q, K, b = (np.array(x[name]) for name in "qKb")
    return q @ (K + b).T, np.exp(q @ b.T).item()


def hull(x):
    return None, np.array([x["parts"]]) / sum(x["parts"])


def mask(x):
    scores = np.log([x["parts"]])
    hidden = np.where(np.isin(np.arange(4), x["hidden"]), -np.inf, scores)
    seen = int(np.argmax(hidden))
    return softmax(hidden), softmax(hidden)[0, seen] / softmax(scores)[0, seen]


def variance(x):
    """Every sign of a few products of entries ±√a, ±√b, and the variance of one times their number."""
    square = np.mean([(a * np.sqrt(x["q"]) * b * np.sqrt(x["k"])) ** 2 for a, b in product((-1, 1), repeat=2)])
    return x["d_k"] * square, np.sqrt(x["d_k"] * square)


def temperature(x):
    scores = np.log(x["parts"])
    i, j = x["pair"]
    t = (scores[i] - scores[j]) / np.log(2.0 ** x["wanted"])
    assert softmax(scores / t)[i] / softmax(scores / t)[j] == pytest.approx(2.0 ** x["wanted"])
    return softmax([x["factor"] * scores]), t


def doubling(x):
    scores = np.log(x["parts"])
    often = softmax(4 * scores)
    return softmax([2 * scores]), often.max() / often.min()


def equal(x):
    V = np.array(x["V"])
    causal = softmax(hide([[x["score"]] * 4] * 4)) @ V
    return causal, np.delete(V, x["hidden"], axis=0).mean(axis=0, keepdims=True)


def copies(x):
    a = softmax([np.log(x["parts"] * x["copies"])])
    return a, a @ np.array(x["V"] * x["copies"])


def the_product(x):
    return np.array(x["W_Q"]) @ np.array(x["W_K"]).T, None


def causal(x):
    scores = hide([*x["scores"][:2], x["row"]])
    return softmax(scores, 2) @ np.array([*x["V"][:2], x["v"]]), None


def order_of_products(x):
    A = np.array([np.array(p) / sum(p) for p in x["parts"]])
    X = np.array(x["X"])
    return A @ X, A @ (X @ np.array(x["W_V"]))


def rounding(x):
    V = np.array(x["V"])
    return np.array([[0, 0.5, 0.5]]) @ V, np.array([[0, 0.5, 0.5]]) @ V - softmax([x["scores"]]) @ V


WITNESSES = {
    "shift": shift, "permutation": permutation, "key bias": key_bias, "convex hull": hull, "mask": mask,
    "variance": variance, "temperature": temperature, "doubling": doubling, "equal scores": equal, "copies": copies,
    "product": the_product, "causal": causal, "order of products": order_of_products, "rounding": rounding,
}  # fmt: skip


@pytest.mark.covering(most=5)
@pytest.mark.parametrize("name", THEOREMS)
def test_the_answers_of_an_instance_are_what_numpy_finds(name):
    for question in questions(TYPE, 10, options={"theorem": name}):
        for part, expected in zip(question.parts[1:], WITNESSES[name](question.frozen["instance"]), strict=True):
            match part.answer:
                case MatrixAnswer(matrix):
                    assert np.allclose(floats(matrix), expected)
                case FormulaAnswer(value):
                    assert number(value) == pytest.approx(expected)
                case ChoiceAnswer():
                    assert expected is None


def test_options_of_a_row_shift_are_told_apart_by_their_weights():
    """The options read back from what is printed, with NumPy."""
    for question in questions(TYPE, 20, options={"theorem": "shift"}):
        x = question.frozen["instance"]
        logs, c, other = np.log(x["parts"]), x["c"], x["other"]
        rows = [other + logs, 2 * c + 2 * logs, c - logs, np.array([other, c, c]) + logs]
        same = [np.allclose(softmax(rows[i]), softmax(c + logs)) for i in x["order"]]
        assert [i for i, s in enumerate(same) if s] == sorted(question.parts[2].answer.right)


def test_only_the_right_vector_lies_in_the_triangle_of_the_values():
    for question in questions(TYPE, 20, options={"theorem": "convex hull"}):
        V = np.array(question.frozen["instance"]["V"], float)
        inside = []
        for i in question.frozen["instance"]["order"]:
            parts = question.frozen["instance"]["parts"]
            numbers = [np.array(parts) / sum(parts), (-1, 1, 1), (2, -1, 0), (0, -1, 2)][i]
            point = np.array(numbers) @ V
            solved = np.linalg.solve(np.vstack([V.T, np.ones(3)]), [*point, 1])
            inside.append(bool((solved > 1e-9).all()))
        assert inside.count(True) == 1
        assert question.parts[1].answer.right == {inside.index(True)}


def test_outputs_that_may_change_are_those_that_do():
    """A causal attention with random numbers, in which one token is changed."""
    rng = np.random.default_rng(7)
    for question in questions(TYPE, 10, options={"theorem": "causal"}):
        x = question.frozen["instance"]
        X, W = rng.normal(size=(x["tokens"], 3)), rng.normal(size=(3, 3, 3))
        Y = X.copy()
        Y[x["changed"] - 1] += 1
        out = [softmax(hide((Z @ W[0]) @ (Z @ W[1]).T)) @ (Z @ W[2]) for Z in (X, Y)]
        changed = {i for i in range(x["tokens"]) if not np.allclose(out[0][i], out[1][i])}
        assert question.parts[2].answer.right == changed


def test_the_handout_changes_by_a_third_in_its_second_coordinate():
    """Note 002, as rules.md 1.3 has it: the rounding moves Output 1 by up to 0.317."""
    handout = {"V": [[1, 2, 3], [2, 8, 0], [2, 6, 3]], "scores": [2, 4, 4]}
    _, change = WITNESSES["rounding"](handout)
    assert abs(change).max() == pytest.approx(0.317, abs=5e-4)
    assert int(abs(change).argmax()) == 1
    instance = INSTANCES["rounding"](Draw(TYPE, handout), Prose(load_notation("standard"), True))
    assert np.allclose(floats(instance.second.again()), change)


def test_all_theorems_come_in_turn_for_the_same_marks():
    made = list(questions(TYPE, 2 * len(THEOREMS)))
    assert [q.content["theorem"] for q in made] == [*THEOREMS, *THEOREMS]
    assert {q.marks for q in made} == {7}


@pytest.mark.covering(most=3)
@pytest.mark.parametrize("name", THEOREMS)
def test_lines_put_in_order_are_the_proof_and_written_ones_have_three_points(name):
    (question,) = questions(TYPE, 1, options={"theorem": name, "lines": True})
    answer, lines = question.parts[0].answer, question.frozen["lines"]
    in_order = [lines["ABCDE".index(letter)] for (letter,) in answer.groups]
    assert in_order == list(range(len(THEOREMS[name].proof))) != lines
    (question,) = questions(TYPE, 1, options={"theorem": name})
    assert isinstance(question.parts[0].answer, RubricAnswer)
    assert len(question.parts[0].answer.points) == question.parts[0].marks[0].number == 3


def test_a_wrong_key_does_not_survive():
    (content,) = contents(TYPE, 1, options={"theorem": "copies"})
    question = TYPE.make(content)
    first, *others = content["instance"]["parts"]
    other = {**content, "instance": {**content["instance"], "parts": [first + 1, *others]}}
    with pytest.raises(SelfCheckError):
        TYPE.prove(replace(question, content=other))


@pytest.mark.parametrize("name", THEOREMS)
def test_sentences_of_an_instance_take_all_that_it_puts_in(name):
    (question,) = questions(TYPE, 1, options={"theorem": name})
    theorem, draw = THEOREMS[name], Draw(TYPE, question.frozen["instance"])
    instance = INSTANCES[name](draw, Prose(load_notation("standard"), True))
    tasks = (theorem.first, theorem.second)
    phrases = [(theorem.given,), *(phrase for task in tasks for phrase in (*task.ask, task.key, task.why))]
    said = " ".join(text for phrase in phrases for text in phrase)
    asked = (instance.first, instance.second)
    of_options = {place for task in asked for _, numbers in getattr(task, "options", ()) for place in numbers}
    put_in = {*instance.shown, *of_options}
    assert put_in <= set(re.findall(r"\w+", said))
    assert not re.search(r"\{\w+\}", FORMATS["text"].write(question_document(question, solutions="key")))
