"""Counting: by multiplying lists, by PyTorch's own parameters, by search, and by arithmetic in SymPy."""

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from problem_laws import answer, variant_of
from tables import tables_beside

import symattn
from symattn.derivation.counting import Attention, FeedForward
from symattn.derivation.misconceptions.base import COUNTING
from symattn.errors import InputError
from symattn.exact.reading import decide_reading, read
from symattn.teaching.problems import counts
from symattn.teaching.problems.counts import (
    CROSSOVERS,
    ITEMS,
    LEVEL_ITEMS,
    MODELS,
    TYPE,
    language_model,
    parameter_offers,
    polynomial,
    signs,
)

TABLES = tables_beside(__file__)


question = variant_of(TYPE, 17)


def products(*shapes):
    """Multiply-adds of products of matrices of these shapes."""
    return sum(a * b * c for a, b, c in shapes)


def listed(*shapes):
    """How many numbers matrices of these shapes hold."""
    return sum(rows * columns for rows, columns in shapes)


def test_polynomials_by_their_matrices():
    layers, n, g, h, width, m, w = 3, 5, 2, 4, 7, 11, 13
    numbers = {"L": layers, "n": n, "g": g, "d": h * width, "h": h, "m": m, "w": w}
    for name, item in ITEMS.items():
        shared, d = (g if item.grouped else h), h * width
        inward = listed((d, d), (d, shared * width), (d, shared * width))
        projected = n * inward
        scored, mixed, outward = products(*[(n, width, n)] * h), products(*[(n, n, width)] * h), products((n, d, d))
        done = projected + scored + mixed + outward
        forward, norm = listed((d, 4 * d), (1, 4 * d), (4 * d, d), (1, d)), listed((1, d), (1, d))
        attention, feeding = listed(*[(d, d), (1, d)] * 4), products((n, d, 4 * d), (n, 4 * d, d))
        block, kept = attention + forward + 2 * norm, 2 * n * shared * width
        expected = {
            "weights": inward + d * d, "biased": inward + d * d + 4 * d, "inward": inward, "projecting": projected,
            "scoring": scored, "operations": done, "flops": 2 * done, "scores": h * n * n, "cache": layers * kept,
            "step": done // n, "grouped weights": inward + d * d, "grouped cache": layers * kept,
            "feed forward": forward, "feeding forward": feeding, "norms": 2 * norm,
            "cross": products(*[(n, width, m)] * h), "block": block, "block operations": done + feeding,
            "decoder block": block + attention + norm, "stack": layers * block,
            "model": listed((w, d), (n, d)) + norm + layers * block, "logits": products((n, d, w)),
        }  # fmt: skip
        assert polynomial(name).subs(numbers) == expected[name], name


@pytest.mark.parametrize("name", ITEMS)
def test_the_key_of_a_polynomial_is_read_back_and_its_wrong_answers_are_wrong(name):
    typed = str(polynomial(name)).replace("**", "^")
    assert decide_reading(read(typed, symbols=True), polynomial(name)).equal
    assert decide_reading(read(ITEMS[name].how, symbols=True), polynomial(name)).equal
    for _, wrong, _ in ITEMS[name].wrong:
        assert decide_reading(read(wrong, symbols=True), polynomial(name)).equal is False


@pytest.mark.covering(most=2)
@pytest.mark.parametrize("name", CROSSOVERS)
@given(d=st.integers(1, 300))
def test_crossovers_by_search(name, d):
    pair = CROSSOVERS[name]
    more, less = (
        sympy.sympify(side.replace("^", "**").replace(" ", "*").replace("*+*", "+")) for side in (pair.more, pair.less)
    )
    costs = sympy.lambdify(sympy.symbols("n d L"), (more, less))
    first = pair.first(d)
    assert [costs(n, d, 3)[0] > costs(n, d, 3)[1] for n in (first - 1, first, first + 1)] == [False, True, True]


def test_what_crossovers_name_is_what_they_count():
    n, d, L = sympy.symbols("n d L")
    layer, forward = Attention(d, 1, d, n), FeedForward(d, 4 * d, n, bias=False)
    both, inward = layer.scoring + layer.mixing, Attention(d, 1, d, n, output=False).projecting
    sides = {
        "one": (layer.scoring, n * d * d),
        "both and three": (both, inward),
        "both and four": (both, layer.projecting),
        "scores and three": (layer.scoring, inward),
        "both and feed forward": (both, forward.operations),
        "attention and feed forward": (layer.operations, forward.operations),
        "cache and weights": (layer.cache(L), L * (layer.parameters + forward.parameters)),
    }
    for name, pair in CROSSOVERS.items():
        for typed, counted in zip((pair.more, pair.less), sides[name], strict=True):
            assert sympy.expand(read(typed, symbols=True).value - counted) == 0


def test_published_sizes_and_what_is_known_of_them():
    assert [(m.d, m.h, m.layers) for m in MODELS.values()] == [
        (512, 8, 6), (1024, 16, 6), (768, 12, 12), (1024, 16, 24), (768, 12, 12), (1024, 16, 24), (1600, 25, 48),
        (4096, 32, 32), (8192, 64, 80), (4096, 32, 32),
    ]  # fmt: skip
    assert all(m.d % m.h == 0 and m.h % m.shared == 0 for m in MODELS.values())
    base = MODELS["transformer"]
    assert Attention(base.d, base.h, 64).parameters == 1_048_576  # 4·512²
    assert MODELS["mistral"].d // MODELS["mistral"].h == 128


@pytest.mark.parametrize("bias", [False, True])
def test_options_stand_in_order_and_the_right_one_where_it_is_wanted(bias):
    say = signs("standard")
    for at in range(1 if bias else 0, 4 if bias else 3):
        offers = parameter_offers(512, 8, 100, bias, at, say)
        counts = [int("".join(c for c in offer.text if c.isdigit())) for offer in offers]
        assert counts == sorted(set(counts))
        assert len(counts) == 4
        assert [offer.right for offer in offers] == [k == at for k in range(4)]
        assert counts[at] == 4 * 512 * 512 + bias * 4 * 512


def polynomials(names, **sizes):
    return [polynomial(name).subs(sizes) for name in names.split(", ")]


@pytest.mark.parametrize("level", ["starter", "standard", "long"])
def test_every_answer(level):
    for number in range(1, 9):
        q = question(number, level=level)
        n, h, width = (q.content["toy"][name] for name in ("n", "h", "width"))
        inward, scoring, done = polynomials("projecting, scoring, operations", n=n, d=h * width)
        assert list(answer(q, "operations").value) == [inward, scoring, scoring, inward // 3, done]
        drawn = q.content["scores"]
        assert answer(q, "scores").value == drawn["h"] * drawn["n"] ** 2
        right = answer(q, "parameters")
        assert right.right == {(number - 1) % 4}
        if level == "starter":
            continue
        model = MODELS[q.content["cache"]["model"]]
        tokens, size = q.content["cache"]["n"], q.content["cache"]["bytes"]
        [numbers] = polynomials("grouped cache", n=tokens, d=model.d, h=model.h, g=model.shared, L=model.layers)
        assert list(answer(q, "cache").value) == [numbers, numbers * size]
        assert (model.shared < model.h) == (level == "long")
        words, positions, d, layers = (q.frozen["whole"][x] for x in ("words", "positions", "d", "layers"))
        *parts, stack, model = polynomials(
            "biased, feed forward, norms, stack, model", w=words, n=positions, d=d, L=layers
        )
        assert list(answer(q, "whole").value) == [words * d, positions * d, *parts, stack, 2 * d, model]


def test_a_language_model_of_published_size():
    assert language_model(50_257, 1024, 768, 12).parameters == 124_439_808  # GPT-2, the smallest
    assert language_model(50_257, 1024, 768, 12, tied=False).parameters == 124_439_808 + 50_257 * 768
    assert language_model(50_257, 1024, 768, 12, shift=False).parameters == 124_439_808 - 25 * 768


def test_a_content_frozen_before_there_were_whole_models_comes_out_as_it_was():
    q = question(1)
    old = TYPE.make({name: value for name, value in q.frozen.items() if name != "whole"})
    assert [part.name for part in old.parts] == [part.name for part in q.parts][:-1]
    assert old.marks == 12
    TYPE.prove(old)


def test_every_diagnosis_is_in_the_catalogue():
    told = {id for item in ITEMS.values() for id, _, _ in item.wrong}
    say = signs("standard")
    told |= {
        o.diagnosis for bias in (False, True) for at in range(4) for o in parameter_offers(64, 4, 10, bias, at, say)
    }
    assert told - {""} == set(COUNTING)


def test_levels_ask_for_what_there_is():
    assert {name for names in LEVEL_ITEMS.values() for name in names} == set(ITEMS)


# ------------------------------------------------------------------------------------------------ stated sizes


@pytest.mark.parametrize(
    ("sizes", "toy"),
    TABLES["stated"],
)
def test_sizes_that_are_stated_are_those_of_the_layer(sizes, toy):
    """What is asked of a layer of these sizes is multiplied out above."""
    level = sizes.get("level", "standard")
    sizes = {name: size for name, size in sizes.items() if name != "level"}
    (sheet,) = symattn.worksheet(problem="counts", sizes=sizes, level=level)
    content, (n, h, width) = sheet.question.content, toy
    assert content["toy"] == {"n": n, "h": h, "width": width}
    assert content["scores"] == {"n": n, "h": h}


@given(
    st.fixed_dictionaries({}, optional={name: st.integers(1, 40) for name in ("n", "h", "d_model", "d_k")}).filter(
        bool
    ),
    st.integers(0, 3),
)
def test_options_differ_for_all_sizes_that_are_taken(sizes, at):
    try:
        toy = counts.layer_of(counts.as_stated({"n": 3, "h": 4, "width": 2}, sizes))
    except InputError:
        return
    own = {"n": toy.n, "h": toy.h, "d_k": toy.width, "d_model": toy.h * toy.width}
    assert {name: own[name] for name in sizes} == sizes
    offers = counts.parameter_offers(toy.h * toy.width, toy.h, toy.n, at == 3, at, counts.signs("standard"))
    assert len({str(offer.text) for offer in offers}) == 4
