"""Every mechanism in every layout gives what NumPy gives in float64, and what PyTorch gives."""

import numpy as np
import oracles
import pytest
import strategies
import sympy
from hypothesis import given
from hypothesis import strategies as st
from trials import tries

from symattn.derivation.mechanisms import Settings, mechanism
from symattn.errors import UndefinedError


def expected(problem: strategies.RandomProblem) -> dict[str, np.ndarray]:
    """The same problem by NumPy, tokens as rows."""
    givens = {name: oracles.array(rows) for name, rows in problem.givens.items()}
    if problem.name == "weighted_values":
        return {"Z": givens["A"] @ givens["V"]}
    found = {}
    for role in "QKV":
        if role in givens:
            found[role] = givens[role]
            continue
        found[role] = givens["X"] @ givens[f"W_{role}"] + givens.get(f"b_{role}", 0)
        if problem.settings["activation"] == "relu":
            found[role] = np.maximum(found[role], 0)
    scale = float(oracles.divisor(problem.settings["scale"], problem.sizes))
    keep = oracles.kept(problem.settings["mask"], problem.sizes["n"], problem.sizes["m"])
    base = {"e": np.e, "1/2": 0.5}.get(problem.settings["base"], problem.settings["base"])
    attended = oracles.numpy_attention(found["Q"], found["K"], found["V"], scale=scale, keep=keep, base=base)
    return found | attended


def whole(derivation, name: str, n: int, upright: bool, columns: bool) -> np.ndarray | None:
    """A matrix with tokens as rows, put together from the tokens' lines where there is none."""
    if name in derivation:
        found = oracles.floats(derivation.value(name))
        return found.T if columns else found
    if f"{name}.1" not in derivation:
        return None
    lines = [oracles.floats(derivation.value(f"{name}.{t + 1}")) for t in range(n)]
    return np.vstack([line.T if upright else line for line in lines])


def compare(problem: strategies.RandomProblem) -> set[str]:
    derivation = problem.run()
    columns = problem.settings["orientation"] == "columns"
    upright = columns or problem.settings.get("scores") == "column"
    seen = set()
    for name, witness in expected(problem).items():
        found = whole(derivation, name, problem.sizes["n"], upright, columns)
        if found is not None:
            np.testing.assert_allclose(found, witness, rtol=1e-12, atol=1e-12, err_msg=f"{name} of {problem}")
            seen.add(name)
    return seen


@pytest.mark.covering(most=5)
@pytest.mark.parametrize("name", strategies.MECHANISMS)
@pytest.mark.parametrize("layout", strategies.LAYOUTS, ids=lambda layout: "-".join(layout.values()))
def test_every_mechanism_in_every_layout_gives_what_numpy_gives(name, layout):
    @tries(6)
    @given(strategies.problems(name, layout))
    def check(problem):
        names = compare(problem)
        assert "Z" in names
        assert name == "weighted_values" or {"Q", "K", "V", "S", "A"} <= names

    check()


CASES = [
    *({"scale": scale} for scale in ("none", "sqrt(d_k)", "sqrt(d_model)", "sqrt(d_x)", "d_k", 3, "1/3", "sqrt(7)")),
    *({"base": base} for base in ("e", 2, 3, 10, "1/2", "sqrt(2)")),
    *({"mask": mask} for mask in ("causal", "padding:1", "padding:3", "window:1", "window:2", "window:2:both")),
    *({"mask": mask} for mask in ("blocks:1,2", "blocks:3", [[1, 0, 1], [0, 1, 0], [1, 1, 1]])),
    *({"mask": "causal", "mask_style": style} for style in ("additive", "keep", "block")),
]


@pytest.mark.covering
@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("layout", strategies.LAYOUTS, ids=lambda layout: "-".join(layout.values()))
def test_every_setting_gives_what_numpy_gives(case, layout):
    # G1's givens: no two sizes are equal, so nothing passes by coincidence
    givens = {
        "X": [[0, 1, -1, -1, -1], [1, 1, 1, 1, 1], [0, 1, 1, -1, -1]],
        "W_Q": [[0, -1, -1, -1], [0, 1, -1, -1], [0, 1, 1, 0], [0, 0, 0, 1], [0, 0, -1, 0]],
        "W_K": [[-1, 1, 0, 1], [0, 1, 0, 0], [1, 0, 1, 0], [-1, 1, -1, 0], [-1, -1, 0, 1]],
        "W_V": [[0, 1], [1, -1], [-1, 2], [-1, 2], [0, 2]],
    }
    sizes = {"n": 3, "m": 3, "d_model": 5, "d_x": 5, "d_k": 4, "d_v": 2}
    chosen = {"scale": "sqrt(d_k)", "mask": None, "base": "e", "activation": "identity", **layout, **case}
    witness = dict(chosen)
    if witness["base"] == "sqrt(2)":
        witness["base"] = float(np.sqrt(2))
    problem = strategies.RandomProblem("self_attention", sizes, givens, chosen)

    derivation = problem.run()

    columns = layout["orientation"] == "columns"
    upright = columns or layout.get("scores") == "column"
    named = strategies.RandomProblem("self_attention", sizes, givens, witness)
    for name, right in expected(named).items():
        found = whole(derivation, name, 3, upright, columns)
        if found is not None:
            np.testing.assert_allclose(found, right, rtol=1e-12, atol=1e-12, err_msg=name)
    assert "Z" in derivation


@pytest.mark.parametrize("layout", strategies.LAYOUTS, ids=lambda layout: "-".join(layout.values()))
def test_a_multiplicative_mask_is_right_where_hidden_scores_are_positive(layout):
    givens = {"Q": [[1, 2], [3, 1], [1, 1]], "K": [[1, 1], [2, 1], [1, 3]], "V": [[1], [5], [-2]]}
    problem = strategies.RandomProblem(
        "attention", {"n": 3, "m": 3, "d_k": 2, "d_v": 1}, givens,
        {**layout, "mask": "causal", "mask_style": "multiplicative", "scale": "sqrt(d_k)", "base": "e"},
    )  # fmt: skip
    assert "Z" in compare(problem)


@pytest.mark.parametrize(
    ("mask", "n", "m", "first_blind"),
    [("causal", 3, 2, 1), ("window:1", 3, 2, 1), ([[1, 0], [0, 0]], 2, 2, 2), ([[0], [1]], 2, 1, 1)],
)
@pytest.mark.parametrize("layout", strategies.LAYOUTS, ids=lambda layout: "-".join(layout.values()))
def test_a_token_that_sees_nothing_has_no_weights(layout, mask, n, m, first_blind):
    givens = {"Q": [[1]] * n, "K": [[1]] * m, "V": [[2]] * m}
    problem = strategies.RandomProblem("attention", {}, givens, {**layout, "mask": mask, "scale": "none"})
    with pytest.raises(UndefinedError, match="no visible score") as error:
        problem.run()
    place = f"'A.{first_blind}'" if layout["by"] == "token" else f" {first_blind} has no"
    assert place in str(error.value)


def test_the_last_query_of_a_causal_mask_sees_every_key():
    # decoding with a cache: 2 new queries, 5 keys
    givens = {"Q": [[1], [2]], "K": [[1]] * 5, "V": [[1], [10], [100], [1000], [10000]]}
    problem = strategies.RandomProblem("attention", {}, givens, {"mask": "causal", "scale": "none"})
    weights = oracles.floats(problem.run().value("A"))
    np.testing.assert_allclose(weights, [[0.25, 0.25, 0.25, 0.25, 0], [0.2, 0.2, 0.2, 0.2, 0.2]])


@tries(40)
@given(strategies.problems("attention", {"orientation": "rows", "by": "matrix"}), st.booleans())
def test_attention_gives_what_pytorch_gives(problem, by_token):
    torch = pytest.importorskip("torch")
    settings_used = {**problem.settings, "base": "e"}
    q, k, v = (torch.from_numpy(oracles.array(problem.givens[name])) for name in "QKV")
    keep = oracles.kept(problem.settings["mask"], problem.sizes["n"], problem.sizes["m"])
    scale = 1 / float(oracles.divisor(problem.settings["scale"], problem.sizes))
    mask = None if keep is None else torch.from_numpy(keep)
    witness = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=scale).numpy()

    if by_token:
        settings_used["by"] = "token"
    found = strategies.RandomProblem("attention", problem.sizes, problem.givens, settings_used).run().value("Z")

    np.testing.assert_allclose(oracles.floats(found), witness, rtol=1e-10, atol=1e-10)


@tries(15)
@given(strategies.problems("causal_self_attention", {"orientation": "rows", "by": "matrix"}))
def test_causal_self_attention_gives_what_pytorch_gives(problem):
    torch = pytest.importorskip("torch")
    givens = {name: torch.from_numpy(oracles.array(rows)) for name, rows in problem.givens.items()}
    q, k, v = (givens["X"] @ givens[f"W_{r}"] + givens.get(f"b_{r}", 0) for r in "QKV")
    if problem.settings["activation"] == "relu":
        q, k, v = map(torch.relu, (q, k, v))
    witness = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True).numpy()  # its own √d_k

    found = problem.run(scale="sqrt(d_k)", base="e").value("Z")

    np.testing.assert_allclose(oracles.floats(found), witness, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("base", [2, 3])
@pytest.mark.parametrize("mask", [None, "causal", "window:2:both"])
def test_small_cases_equal_sympy_exactly(base, mask):
    q, k, v = [[1, 2], [0, -1], [1, 1]], [[1, 0], ["1/2", 1], [2, -1]], [[1, 0], [0, 3], [-2, "1/3"]]
    keep = oracles.kept(mask, 3, 3)
    witness = oracles.sympy_attention(
        oracles.table(q), oracles.table(k), oracles.table(v), scale=2, keep=keep, base=sympy.Integer(base)
    )

    found = mechanism("attention").run({"Q": q, "K": k, "V": v}, Settings(scale=2, mask=mask, base=base))

    for name, right in witness.items():
        assert oracles.same_matrix(found.value(name).sympy(), right), name
