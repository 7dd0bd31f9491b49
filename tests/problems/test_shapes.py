"""Shapes: every expression evaluated by NumPy on arrays of random numbers, every faulty line too."""

from dataclasses import replace
from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import softmax
from problem_laws import variant_of

from symattn.errors import SelfCheckError, ShapeError
from symattn.formula import Bracketed, Call, Name, Product, Sum, Transposed, read_formula, written
from symattn.page.document import spans
from symattn.teaching.problems.shapes import BANK, FAULTS, LINES, TYPE, by_ops, output_weights, shape_of, signs
from symattn.teaching.question import MatrixAnswer, ShapeAnswer

question = variant_of(TYPE, 11)


def evaluated(expression, arrays):
    """The shape that comes out when NumPy works it out; None where it refuses, or would have to stretch something."""

    def same(a, b):
        if a.shape != b.shape:
            raise ValueError("NumPy might stretch these")
        return a, b

    def value(node):
        match node:
            case Name():
                return arrays[written(node)]
            case Transposed(body):
                return value(body).T
            case Bracketed(body):
                return value(body)
            case Call(Name("Concat"), parts):
                return np.hstack([value(part) for part in parts])
            case Call(Name("softmax"), (body,)):
                return softmax(value(body))
            case Product(factors, ""):
                return reduce(np.matmul, map(value, factors))
            case Product(factors, "⊙"):
                return reduce(lambda a, b: np.multiply(*same(a, b)), map(value, factors))
            case Sum(terms):
                return reduce(lambda a, b: np.add(*same(a, b)), map(value, terms))
        raise TypeError(node)

    try:
        return value(read_formula(expression)).shape
    except ValueError:
        return None


def arrays(n, d_model, d_k, d_v):
    shapes = {"X": (n, d_model), "W_V": (d_model, d_v), "A": (n, n), "W_O": (2 * d_v, d_model)}
    shapes |= dict.fromkeys(("W_Q", "W_K"), (d_model, d_k)) | dict.fromkeys("QK", (n, d_k))
    shapes |= dict.fromkeys(("V", "H_1", "H_2"), (n, d_v))
    rng = np.random.default_rng(1)
    return {name: rng.uniform(size=shape) for name, shape in shapes.items()}


SIZES = st.lists(st.integers(2, 12), min_size=4, max_size=4, unique=True).filter(lambda s: 2 * s[3] not in s)


@pytest.mark.parametrize("defined", [True, False], ids=["defined", "undefined"])
@given(sizes=SIZES)
def test_the_banks_are_what_they_say_whatever_the_sizes(defined, sizes):
    of = BANK.expressions
    bank = of["defined"] + of["with_heads"] if defined else of["undefined"] + of["with_heads_undefined"]
    given_arrays = arrays(*sizes)
    shapes = {name: array.shape for name, array in given_arrays.items()}
    for text in bank:
        expected = evaluated(text, given_arrays)
        assert (expected is not None) == defined, text
        formula = read_formula(text)
        assert by_ops(formula, shapes) == expected, text
        if expected is None:
            with pytest.raises(ShapeError):
                shape_of(formula, shapes)
        else:
            assert shape_of(formula, shapes) == expected, text


@pytest.mark.covering(most=1)
@pytest.mark.parametrize("level", ["starter", "standard", "long"])
def test_every_answer_by_numpy(level):
    for number in range(1, 13):
        q = question(number, level=level)
        s = q.content["sizes"]
        known = arrays(s["n"], s["d_model"], s["d_k"], s["d_v"])
        expressions = q.content["expressions"]
        assert len(set(expressions)) == len(expressions)
        answers = [part.answer for part in q.parts if isinstance(part.answer, ShapeAnswer)]
        assert [a.shape for a in answers] == [evaluated(text, known) for text in expressions]
        assert 2 <= sum(a.shape is None for a in answers) < len(answers) / 2


def test_the_table_is_what_multi_head_attention_makes():
    for number in range(1, 13):
        q = question(number)
        s = q.content["table sizes"]
        n, d_model, d_k, d_v, h = (s[name] for name in ("n", "d_model", "d_k", "d_v", "h"))
        assert len({n, d_model, d_k, d_v, h, h * d_v}) == 6
        rng = np.random.default_rng(2)
        x = rng.normal(size=(n, d_model))
        heads = []
        for _ in range(h):
            w_q, w_k, w_v = (rng.normal(size=(d_model, d)) for d in (d_k, d_k, d_v))
            q_, k, v = x @ w_q, x @ w_k, x @ w_v
            scores = q_ @ k.T
            heads.append(scores @ v)
        concat = np.hstack(heads)
        w_o = rng.normal(size=(h * d_v, d_model))
        made = [w_k, q_, v, scores, heads[0], concat, w_o, concat @ w_o]
        (table,) = [part.answer for part in q.parts if isinstance(part.answer, MatrixAnswer)]
        assert [tuple(row) for row in table.value.rows] == [array.shape for array in made]


@given(sizes=SIZES)
def test_faults_break_where_they_say(sizes):
    for fault in FAULTS.values():
        known = {name: array for name, array in arrays(*sizes).items() if name[0] in "XW"}
        for k, line in enumerate(LINES, 1):
            name, _, text = (fault.formula if k == fault.line else line).partition(" = ")
            shape = evaluated(text, known)
            if shape is None:
                assert k == fault.breaks, fault
                break
            known[name] = np.zeros(shape)
        else:
            pytest.fail(f"{fault} breaks nowhere")


def test_the_first_broken_line_is_among_four_and_its_place_is_balanced():
    places = []
    for number in range(1, 41):
        q = question(number)
        part = q.parts[-1]
        (right,) = part.answer.right
        places.append(right)
        fault = FAULTS[q.content["fault"]]
        lines = [next(spans(option.text)).text[:6] for option in part.answer.options]
        assert lines[right] == f"Line {fault.breaks}"
        assert len(set(lines)) == 4
    assert [places.count(at) for at in range(4)] == [10] * 4
    assert len(BANK.excuses) == len(LINES)


def test_a_fault_that_breaks_elsewhere_is_found(monkeypatch):
    q = question(1)
    fault = FAULTS[q.content["fault"]]
    late = replace(fault, breaks=fault.breaks % 6 + 1)
    monkeypatch.setattr("symattn.teaching.problems.shapes.FAULTS", {**FAULTS, fault.formula: late})
    with pytest.raises(SelfCheckError, match="breaks where"):
        TYPE.prove(q)
    wrong = replace(q.parts[0], answer=ShapeAnswer((99, 1)))
    with pytest.raises(SelfCheckError, match="99"):
        TYPE.prove(replace(q, parts=(wrong, *q.parts[1:])))


def test_notations_lend_their_names():
    assert signs("note-000").formula("d_model") == read_formula("d_x")
    assert signs("note-004").formula("X W_Q^T") == read_formula("C W_q^T")
    assert signs("note-003").notation.letters == {}, "m would be two sizes at once"
    assert output_weights(signs("standard").notation) == read_formula("W^O")
    assert output_weights(signs("note-002").notation) == read_formula("W_output")
    assert output_weights(signs("note-004").notation) == read_formula("W_o")
