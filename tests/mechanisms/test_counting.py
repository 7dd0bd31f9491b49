"""Counts: against PyTorch's layers, published sizes, lists that are really multiplied, and walks through graphs."""

import random
from collections import Counter, deque
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from oracles import kept, softmax
from sentences import refused_saying
from test_work_of_steps import Worker

from symattn.derivation.counting import (
    AdditiveScores,
    Attention,
    Block,
    Embedding,
    FeedForward,
    Linear,
    Model,
    Norm,
    Recurrent,
    chain,
    depth,
    distance,
    formula,
    independent,
    memory,
    multiply_adds,
    operations,
    parameters,
    sizes,
    training,
    works,
)
from symattn.derivation.mechanisms import Settings, mechanism
from symattn.exact import Outline

# ------------------------------------------------------------------------------------------------ public


def test_everything_can_be_counted_without_an_inner_module():
    import symattn
    from symattn import counting

    assert symattn.counting is counting
    assert counting.scores(counting.Attention(d=768, h=12, width=64, n=128)) == 12 * 128 * 128
    n, d, layers = counting.sizes("n d L")
    block = counting.Block(counting.Attention(d, 1, d, n), counting.FeedForward(d, 4 * d, n), counting.Norm(d))
    model = counting.Model(counting.Embedding(50, d), block, layers)
    assert counting.cache(model) == 2 * layers * n * d
    assert counting.cache(block, layers) == counting.cache(model)


def test_a_cache_needs_keys_and_a_model_has_its_own_layers():
    from symattn import counting

    with refused_saying("FeedForward has no keys and values"):
        counting.cache(counting.FeedForward(4, 8))
    block = counting.Block(counting.Attention(4, 2, 2, 3), counting.FeedForward(4, 8, 3), counting.Norm(4))
    with refused_saying("A model has its own number of layers, 5"):
        counting.cache(counting.Model(counting.Embedding(9, 4), block, 5), layers=2)


# ------------------------------------------------------------------------------------------------ layers


def block(d, h, inner, bias, **other):
    return Block(Attention(d, h, d // h, bias=bias), FeedForward(d, inner, bias=bias), Norm(d, shift=bias), **other)


def model(tied):
    """Three blocks with a norm after them, as `torch.nn.TransformerEncoder` has it."""
    whole = Block(Attention(8, 2, 4, bias=True), FeedForward(8, 32), Norm(8))
    return Model(Embedding(50, 8, 12, tied), whole, 3)


def decoder(d, h, inner, bias):
    return block(d, h, inner, bias, cross=Attention(d, h, d // h, bias=bias))


@pytest.mark.parametrize(
    ("layer", "count"),
    [
        (block(8, 2, 16, bias=False), 528), (decoder(8, 2, 16, bias=False), 792),
        (block(12, 3, 20, bias=True), 1184), (decoder(12, 3, 20, bias=True), 1832),
        (Norm(8), 16), (Norm(8, shift=False), 8), (model(tied=False), 3528), (model(tied=True), 3128),
        (Linear(5, 7, bias=False), 35), (Linear(5, 7), 42), (Recurrent(5, 7, bias=False), 84),
        (Recurrent(5, 7, biases=2), 98), (Recurrent(5, 7, gates=4, biases=2), 392),
        (Recurrent(5, 7, gates=3, bias=False), 252), (AdditiveScores(5, 3, 7), 63),
        (Attention(12, 3, 4, memory_width=5), 408),
    ],
)  # fmt: skip
def test_parameters_are_as_many_as_pytorchs_layers_have(layer, count):
    assert parameters(layer) == count


@pytest.mark.parametrize(
    ("d", "layers", "published"),
    [(768, 12, 124_439_808), (1024, 24, 354_823_168), (1280, 36, 774_030_080), (1600, 48, 1_557_611_200)],
)
def test_parameters_of_gpt2_as_published(d, layers, published):
    """The four sizes of the models released with Radford et al. 2019: 50 257 words, 1024 positions, tied."""
    block = Block(Attention(d, 1, d, bias=True), FeedForward(d, 4 * d), Norm(d))
    assert Model(Embedding(50_257, d, 1024), block, layers).parameters == published


def test_parameters_of_llama_2_and_mistral_as_published():
    """No biases, gated feed-forward networks, RMS norms, an output layer of its own."""
    for h, shared, inner, published in ((32, 32, 11_008, 6_738_415_616), (32, 8, 14_336, 7_241_732_096)):
        attention = Attention(4096, h, 128, shared=shared)
        block = Block(attention, FeedForward(4096, inner, bias=False, gated=True), Norm(4096, shift=False))
        assert Model(Embedding(32_000, 4096, tied=False), block, 32).parameters == published


def multiplied(*shapes):
    """Multiplications of matrices of numbers that count them, by NumPy's own product."""
    Worker.done = Counter()
    for a, b, c in shapes:
        np.dot(np.full((a, b), Worker(1), dtype=object), np.full((b, c), Worker(1), dtype=object))
    return Worker.done["multiplications"]


TOY = st.tuples(
    st.integers(1, 4), st.integers(1, 5), st.sampled_from([(1, 1), (2, 1), (2, 2), (4, 2)]), st.integers(1, 3)
)


@given(TOY, st.integers(1, 6), st.booleans())
def test_operations_by_multiplying(toy, inner, gated):
    n, memory, (h, shared), width = toy
    d = h * width
    kv, head = [(memory, d, shared * width)] * 2, [(n, width, memory), (n, memory, width)]
    layer = Attention(d, h, width, n, shared, memory=memory)
    assert multiplied((n, d, d), *kv, (n, d, d)) == layer.projecting
    assert multiplied(*head * h) == layer.scoring + layer.mixing
    assert layer.scores == h * len([0 for _ in range(n) for _ in range(memory)])
    assert layer.cache(3) == 3 * 2 * memory * shared * width
    forward = FeedForward(d, inner, n, gated=gated)
    shapes = [*[(n, d, inner)] * (1 + gated), (n, inner, d)]
    assert multiplied(*shapes) == forward.operations
    own = Attention(d, h, width, n, shared)
    own_shapes = [(n, d, d), (n, d, shared * width), (n, d, shared * width), (n, d, d)]
    own_shapes += [(n, width, n), (n, n, width)] * h
    block = Block(own, forward, Norm(d), cross=layer)
    everything = [*own_shapes, (n, d, d), *kv, (n, d, d), *head * h, *shapes]
    assert multiplied(*everything) == block.operations
    assert multiplied(*everything * 2, (n, d, 7)) == Model(Embedding(7, d), block, 2).operations


# ------------------------------------------------------------------------------------------------ in derivations


def outlined(name, shapes, **settings):
    return mechanism(name).run({given: Outline(shape) for given, shape in shapes.items()}, Settings.read(settings))


def attention(n, d, **settings):
    return outlined("self_attention", {"X": (n, d), "W_Q": (d, d), "W_K": (d, d), "W_V": (d, d)}, **settings)


def recurrent(n, d, **settings):
    shapes = {"X": (n, d), "W_x": (d, d), "W_h": (d, d), "H_0": (1, d)}
    return outlined("recurrent_network", shapes, function="tanh", **settings)


@given(st.integers(1, 6), st.integers(1, 5))
def test_a_derivation_multiplies_as_often_as_its_layer(n, d):
    layer = Attention(d, 1, d, n, output=False)
    assert multiply_adds(attention(n, d)) == layer.operations
    assert multiply_adds(recurrent(n, d)) == multiplied(*[(1, d, d)] * 2 * n)
    h = 2
    many = outlined(
        "multi_head_attention",
        {"X": (n, h * d), **{f"W_{x}": (h * d, h * d) for x in "QKVO"}},
        heads=h,
    )
    assert multiply_adds(many) == Attention(h * d, h, d, n).operations


def longest(edges):
    """The number of nodes in a longest way through a graph without circles: by topological order, from the sources."""
    waiting = {node: set(before) for node, before in edges.items()}
    level, queue = {}, deque(node for node, before in waiting.items() if not before)
    level.update(dict.fromkeys(queue, 1))
    while queue:
        node = queue.popleft()
        for other, before in waiting.items():
            if node in before:
                before.remove(node)
                level[other] = max(level.get(other, 0), level[node] + 1)
                if not before:
                    queue.append(other)
    return max(level.values())


@given(st.integers(1, 12))
def test_the_longest_chain_of_attention_stays_and_that_of_recurrence_grows(n):
    five = {"Q": (), "K": (), "V": (), "S": ("Q", "K"), "S'": ("S",), "A": ("S'",), "Z": ("A", "V")}
    assert depth(attention(n, 3)) == longest(five) == 5
    line = {"P": ()}
    for t in range(1, n + 1):
        before = (f"h{t - 1}",) if t > 1 else ()
        line |= {f"r{t}": before, f"a{t}": (f"r{t}", "P"), f"h{t}": (f"a{t}",)}
    assert depth(recurrent(n, 3)) == longest(line) == 3 * n


@pytest.mark.parametrize("by", ["matrix", "token"])
def test_a_chain_waits_link_by_link(by):
    for d in (attention(4, 2, by=by), recurrent(4, 2, by=by)):
        found = chain(d)
        for before, after in pairwise(found):
            reads = {operand.name for operand in after.operands}
            idle = {s.name for s in d if not works(s) and before.name in {o.name for o in s.operands}}
            assert before.name in reads or idle & reads
        assert all(map(works, found))


def test_what_can_be_done_at_the_same_time():
    d = recurrent(3, 2, by="token")
    assert independent(d, ["H_x.1", "H_x.2", "H_x.3"])
    assert independent(d, ["H_x.3", "H_h.1"])
    assert not independent(d, ["H_h.1", "H_h.2"])
    assert not independent(d, ["H.1", "H.3"])
    assert independent(attention(3, 2), ["Q", "K", "V"])
    assert not independent(attention(3, 2), ["S", "A"])
    with refused_saying("no step 'T'"):
        independent(d, ["T", "H.1"])


# ------------------------------------------------------------------------------------------------ ways


@given(st.integers(1, 6), st.data())
def test_ways_through_layers(n, data):
    i, j = (data.draw(st.integers(0, n - 1)) for _ in "ij")
    assert distance(attention(n, 2), ("X", i), ("Z", j)) == 2, "a value, times its weight"
    d = recurrent(n, 2)
    assert distance(d, ("X", i), ("H", j)) == (3 + 3 * (j - i) if i <= j else None)
    assert distance(d, ("H_0", 0), ("H", j)) == 3 * (j + 1)


def test_a_way_is_there_exactly_where_a_change_of_the_input_is_felt():
    """Masks of many kinds: an input is changed in NumPy's floats, and the outputs that move are those with a way."""
    for seed in range(12):
        rng = random.Random(seed)
        n, mask = 4, ("none", "causal", "window:2", "blocks:1,3", "padding:2", "window:2:both")[seed % 6]
        shapes = {"X": (n, 3), "W_Q": (3, 2), "W_K": (3, 2), "W_V": (3, 2)}
        givens = {
            name: [[Fraction(round(19 * rng.random()) - 9, 7) for _ in range(b)] for _ in range(a)]
            for name, (a, b) in shapes.items()
        }
        d = mechanism("self_attention").run(givens, Settings.read({"mask": mask}))
        seen = kept(mask, n, n)
        seen = np.ones((n, n), dtype=bool) if seen is None else seen
        plain = output(givens, seen)
        for i in range(n):
            changed = np.array(givens["X"], float)
            changed[i] += [rng.random() for _ in changed[i]]
            moved = np.abs(output({**givens, "X": changed}, seen) - plain).max(axis=1) > 1e-9
            assert [distance(d, ("X", i), ("Z", j)) is not None for j in range(n)] == list(moved)


def output(givens, seen):
    x, q, k, v = (np.array(givens[name], float) for name in ("X", "W_Q", "W_K", "W_V"))
    scores = np.where(seen, (x @ q) @ (x @ k).T / np.sqrt(2), -np.inf)
    return softmax(scores) @ (x @ v)


def test_what_cannot_be_counted_is_refused():
    with refused_saying("sizes in numbers"):
        distance(attention("n", 4), ("X", 0), ("Z", 0))
    with refused_saying("'Q' is not a given"):
        distance(attention(2, 2), ("Q", 0), ("Z", 0))


# ------------------------------------------------------------------------------------------------ verbs


@pytest.mark.parametrize(
    ("name", "shapes", "settings", "layer"),
    [
        (
            "multi_head_attention",
            {"X": (3, 5), "W_Q": (5, 8), "W_K": (5, 4), "W_V": (5, 6), "W_O": (12, 6)},
            {"heads": 4, "kv_heads": 2},
            Attention(5, 4, 2, 3, shared=2, value_width=3, out=6),
        ),
        (
            "cross_attention",
            {"X": (2, 4), "E": (5, 3), "W_Q": (4, 4), "W_K": (3, 4), "W_V": (3, 4), "W_O": (4, 4)},
            {"heads": 2},
            Attention(4, 2, 2, 2, memory=5, memory_width=3),
        ),
        (
            "recurrent_network",
            {"X": (4, 3), "W_x": (3, 5), "W_h": (5, 5), "H_0": (1, 5)},
            {"function": "tanh"},
            Recurrent(3, 5, 4, bias=False),
        ),
    ],
)
def test_a_layer_has_the_weights_and_products_of_its_derivation(name, shapes, settings, layer):
    made = outlined(name, shapes, **settings)
    assert multiply_adds(made) == operations(layer)
    assert parameters(layer) == sum(rows * columns for given, (rows, columns) in shapes.items() if given[0] == "W")
    if "K" in made:
        assert layer.cache(7) == 7 * sum(np.prod(made.value(kept).shape) for kept in "KV")


def test_operations_of_lines_and_of_additive_scores():
    assert operations(Linear(3, 5, 4)) == multiplied((4, 3, 5))
    assert operations(AdditiveScores(5, 3, 7, n=2, m=4)) == multiplied((2, 5, 7), (4, 3, 7), *[(1, 7, 1)] * (2 * 4))


def test_formulas_are_polynomials_that_give_the_numbers():
    n, m, d, k, v, h = sizes("n m d k v h")
    at = {n: 3, m: 5, d: 4, k: 2, v: 6, h: 2}
    layer = Attention(d, h, k, n, memory=m, value_width=v)
    number = Attention(4, 2, 2, 3, memory=5, value_width=6)
    for count in (parameters, operations, lambda one: memory(one.cache(2), "float16")):
        assert formula(count(layer)).subs(at) == count(number)
        assert count(layer).is_polynomial(*at)
    assert multiply_adds(attention("n", 4)).subs(n, 3) == multiply_adds(attention(3, 4))


def test_a_stack_of_two_letters_is_their_sum():
    shapes = {"Q": ("n", "d_k"), "K": ("m", "d_k"), "V": ("m", "d_v"), "K_past": ("p", "d_k"), "V_past": ("p", "d_v")}
    n, m, p, d_k, d_v = sizes("n m p d_k d_v")
    assert multiply_adds(outlined("attention", shapes)) == sympy.expand(n * (m + p) * (d_k + d_v))


def test_training_and_memory():
    """Worked by hand for the size of Chinchilla (Hoffmann et al. 2022): 6 · 7 · 10¹⁰ · 1.4 · 10¹² = 5.88 · 10²³."""
    assert training(70 * 10**9, 1400 * 10**9) == 588 * 10**21
    letters = sizes("N, D")
    assert training(*letters) == 6 * letters[0] * letters[1]
    assert memory(10, "bfloat16") == 20
    with refused_saying("format is 'float12'"):
        memory(1, "float12")
    with refused_saying("n is missing"):
        operations(Embedding(10, 4))
    assert operations(Embedding(10, 4), n=3) == multiplied((3, 4, 10))
    with refused_saying("norm has no products"):
        operations(Norm(4))
