"""A batch: every sequence is worked out by itself, from lists, NumPy, PyTorch and problem files; against PyTorch."""

import numpy as np
import oracles
import pytest
from sentences import refused_saying

import symattn
from symattn.exact import Matrix

RNG = np.random.default_rng(4)
Q, K, V = (RNG.integers(-2, 3, shape) for shape in ((3, 2, 4), (3, 5, 4), (3, 5, 2)))


@pytest.mark.parametrize("kind", ["lists", "numpy"])
def test_a_batch_is_what_numpy_makes_of_it(kind):
    made = {"lists": lambda a: a.tolist(), "numpy": np.array}[kind]
    output = np.array([oracles.numpy_attention(*one, scale=2)["Z"] for one in zip(Q, K, V, strict=True)])
    batch = symattn.batch("attention", Q=made(Q), K=made(K), V=made(V))
    assert len(batch) == 3
    assert np.allclose(batch.floats("Z"), output, atol=1e-12)
    assert all(isinstance(one, Matrix) and one.shape == (2, 5) for one in batch.results("A"))
    assert batch[1].output == batch.results("Z")[1]
    assert [len(part) for part in (batch[1:], batch[:1])] == [2, 1]
    assert np.allclose(np.array(batch.total("Z"), dtype=float), output.sum(0), atol=1e-12)


def test_gradients_are_those_of_each_sequence_and_shared_weights_get_their_sum(torch):
    X = RNG.integers(-1, 2, (2, 3, 2))
    weights = {f"W_{role}": RNG.integers(-1, 2, (2, 2)) for role in "QKV"}
    upstream = RNG.integers(-1, 2, (2, 3, 2))
    leaves = {n: torch.tensor(w, dtype=torch.float64, requires_grad=True) for n, w in weights.items()}
    x = torch.tensor(X, dtype=torch.float64)
    output = torch.nn.functional.scaled_dot_product_attention(*(x @ leaves[f"W_{role}"] for role in "QKV"))
    (output * torch.tensor(upstream)).sum().backward()
    batch = symattn.batch("self_attention_gradient", X=X, **weights, dZ=upstream, scale="sqrt(d_k)")
    for name, leaf in leaves.items():
        assert np.allclose(np.array(batch.total(f"d{name}"), dtype=float), leaf.grad.numpy(), atol=1e-12), name


def test_each_sequence_has_its_worksheet_and_is_checked_by_itself():
    batch = symattn.batch("attention", Q=[[[1, 0]], [[0, 1]]], K=[[1, 0], [0, 1]], V=[[1], [2]], base=2, scale="none")
    assert [one.worksheet().key.title for one in batch] == [batch[0].worksheet().key.title] * 2
    assert symattn.check(batch[1], {"S": [[0, 1]], "A": [["1/3", "2/3"]], "Z": [["5/3"]]}).right
    with refused_saying("one sequence at a time"):
        symattn.check(batch, {"Z": [[1]]})


def test_a_problem_file_may_have_a_batch(tmp_path):
    path = tmp_path / "batch.toml"
    path.write_text(
        'mechanism = "attention"\nbase = 2\nscale = "none"\n\n[given]\nQ = [[[1, 0]], [[0, 1]]]\n'
        "K = [[1, 0], [0, 1]]\nV = [[1], [2]]\n",
        "utf-8",
    )
    by_hand = (Matrix([["4/3"]]), Matrix([["5/3"]]))  # weights 2/3 and 1/3 of the values 1 and 2, and back
    assert symattn.batch(path).results("Z") == by_hand
    contents = {"mechanism": "attention", "base": 2, "scale": "none",
                "given": {"Q": [[[1, 0]], [[0, 1]]], "K": [[1, 0], [0, 1]], "V": [[1], [2]]}}  # fmt: skip
    assert symattn.batch(contents).results("Z") == by_hand
    with refused_saying(r"Given Q has three dimensions or more; .* symattn\.batch"):
        symattn.derive(path)


def test_steps_of_ones_own_go_over_a_batch():
    steps = [{"name": "S", "op": "matmul", "of": ["Q", "K^T"]}, {"name": "T", "op": "scale", "of": "S", "by": 2}]
    assert np.allclose(symattn.batch("custom", steps=steps, Q=Q, K=K).floats("T"), Q @ K.transpose(0, 2, 1) / 2)


def test_shapes_have_no_numbers():
    whole = symattn.batch("attention", Q=[[[1]], [[1], [2]]], K=[[1]], V=[[1]])
    with refused_saying("Z is 1×1 and 2×1"):
        whole.total("Z")
    with refused_saying("There is no matrix 'ZZ'"):
        whole.results("ZZ")
