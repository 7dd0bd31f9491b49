"""Decoding with a key/value cache: the same as a causal pass, against PyTorch, NumPy and ourselves, exactly."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import numpy_attention

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms import Settings, mechanism
from symattn.derivation.misconceptions import misconception
from symattn.derivation.ops import Append
from symattn.errors import InputError, SelfCheckError
from symattn.exact import Matrix, decide, decimal_text
from symattn.formula import Sum
from symattn.page.document import Math, Words, spans
from symattn.page.notation import load_notation
from symattn.teaching.explanation.agreement import agreement
from symattn.teaching.explanation.parts import wording_of
from symattn.teaching.fairness.selfcheck import self_check
from symattn.teaching.problem import Problem


def run(name: str, givens: dict[str, object], **settings: object) -> Derivation:
    return mechanism(name).run(givens, Settings.read(settings))


def floats(matrix: object) -> np.ndarray:
    assert isinstance(matrix, Matrix)
    return np.array([[float(decimal_text(x, 15)) for x in row] for row in matrix.rows])


def whole_numbers(rng: random.Random, rows: int, columns: int, largest: int = 2) -> list[list[int]]:
    return [[rng.randint(-largest, largest) for _ in range(columns)] for _ in range(rows)]


def random_givens(rng: random.Random, n: int, d_model: int, d_k: int, d_v: int) -> dict[str, object]:
    givens: dict[str, object] = {"X": whole_numbers(rng, n, d_model)}
    for role, width in (("Q", d_k), ("K", d_k), ("V", d_v)):
        givens[f"W_{role}"] = whole_numbers(rng, d_model, width)
        if rng.random() < 0.3:
            givens[f"b_{role}"] = whole_numbers(rng, 1, width)
    return givens


@pytest.mark.parametrize("seed", range(40))
def test_a_causal_pass_of_pytorch_and_decoding_in_numpy(seed: int) -> None:
    torch = pytest.importorskip("torch")
    rng = random.Random(f"cache {seed}")
    n, d_model, d_k, d_v = rng.randint(1, 4), rng.randint(1, 3), rng.randint(1, 4), rng.randint(1, 3)
    givens = random_givens(rng, n, d_model, d_k, d_v)
    activation = rng.choice(["identity", "relu"])
    scale, divisor = rng.choice([("sqrt(d_k)", d_k**0.5), ("none", 1.0), (Fraction(3, 2), 1.5)])
    base = rng.choice(["e", "e", 2, Fraction(1, 3)])
    columns = rng.random() < 0.3
    given = {k: [list(c) for c in zip(*v, strict=True)] for k, v in givens.items()} if columns else givens
    d = run(
        "kv_cache", given, activation=activation, scale=scale, base=base, mask=rng.choice([None, "causal"]),
        order="".join(rng.sample("QKV", 3)), orientation="columns" if columns else "rows",
    )  # fmt: skip
    self_check(d)

    def projected(role: str) -> np.ndarray:
        x = np.array(givens["X"]) @ np.array(givens[f"W_{role}"]) + np.array(givens.get(f"b_{role}", 0))
        return (np.maximum(x, 0) if activation == "relu" else x).astype(float)

    q, k, v = map(projected, "QKV")
    factor = float(np.log(float(base))) if base != "e" else 1.0
    whole = torch.nn.functional.scaled_dot_product_attention(
        *map(torch.from_numpy, (q, k, v)), is_causal=True, scale=factor / divisor
    )
    upright = floats(d.value("Z")).T if columns else floats(d.value("Z"))
    np.testing.assert_allclose(upright, whole.numpy(), rtol=0, atol=1e-10)
    keys: list[np.ndarray] = []
    values: list[np.ndarray] = []
    for t in range(n):  # the definition of decoding, with a cache of its own
        keys.append(k[t])
        values.append(v[t])
        scores = np.array(keys) @ q[t] * factor / divisor
        weights = np.exp(scores - scores.max())
        output = weights / weights.sum() @ np.array(values)
        np.testing.assert_allclose(floats(d.value(f"A.{t + 1}")).ravel(), weights / weights.sum(), rtol=0, atol=1e-10)
        np.testing.assert_allclose(floats(d.value(f"Z.{t + 1}")).ravel(), output, rtol=0, atol=1e-10)
        kept = floats(d.value(f"K_cache.{t + 1}"))
        np.testing.assert_allclose(kept.T if columns else kept, np.array(keys), rtol=0, atol=1e-12)


rows = st.integers(-2, 2)


@given(st.data(), st.integers(1, 3), st.sampled_from(["e", 2]))
def test_the_cache_gives_exactly_what_a_causal_pass_gives(data: st.DataObject, n: int, base: object) -> None:
    def matrix(height: int, width: int) -> list[list[int]]:
        return data.draw(st.lists(st.lists(rows, min_size=width, max_size=width), min_size=height, max_size=height))

    givens: dict[str, object] = {
        "X": matrix(n, 2), "W_Q": matrix(2, 4), "W_K": matrix(2, 4), "W_V": matrix(2, 2), "b_V": matrix(1, 2)
    }  # fmt: skip
    by_cache, at_once = (
        run("kv_cache", givens, base=base),
        run("causal_self_attention", givens, base=base, mask="causal"),
    )
    pairs = zip(by_cache.value("Z"), at_once.value("Z"), strict=True)
    assert all(decide(x, y).equal for x, y in pairs)


GIVENS: dict[str, object] = {
    "X": [[1, 0, -1], [1, -1, 1], [1, 0, 1]],
    "W_Q": [[1, -1], [1, 1], [0, 1]],
    "W_K": [[1, 0], [0, 1], [-1, 1]],
    "W_V": [[0, -1], [1, 0], [-1, -1]],
}
X, W_Q, W_K, W_V = (np.array(GIVENS[name]) for name in ("X", "W_Q", "W_K", "W_V"))


def test_rounded_weights_go_on_as_in_a_causal_pass() -> None:
    rounding = {"places": 1, "method": "nearest"}
    by_cache = run("kv_cache", GIVENS, rounding=rounding)
    at_once = run("causal_self_attention", GIVENS, rounding=rounding, mask="causal")
    assert by_cache.value("Z") == at_once.value("Z")


def test_what_is_kept_is_shown_and_not_asked() -> None:
    d = run("kv_cache", GIVENS)
    kept = [step for step in d if isinstance(step.op, Append)]
    assert [step.name for step in kept if step.role == "K_cache"] == ["K_cache.1", "K_cache.2", "K_cache.3"]
    assert all(step.op.trivial for step in kept)
    assert d.value("K_cache.2") == Matrix((X @ W_K)[:2].tolist())


@pytest.mark.parametrize("orientation", ["rows", "columns"])
def test_the_key_says_that_both_ways_agree(orientation: str) -> None:
    turn = orientation == "columns"
    givens = {k: [list(c) for c in zip(*v, strict=True)] if turn else v for k, v in GIVENS.items()}
    problem = Problem("", "kv_cache", run("kv_cache", givens, orientation=orientation), load_notation("standard"))
    agreed, (saved,) = agreement(problem, wording_of(problem))
    first, weights, then, output, end = spans(agreed)
    assert saved == Words("With the cache, 3 keys and 3 values are worked out; without it, 6 of each.")
    assert (first, then, end) == (Words("All weights at once: "), Words(", and exactly "), Words("."))
    assert isinstance(weights, Math)
    assert isinstance(output, Math)
    other = problem.derivation.replay(pinned={"Z": [[0, 0, 0], [0, 0, 0]] if turn else [[0, 0], [0, 0], [0, 0]]})
    spoilt = Problem("", "kv_cache", other, load_notation("standard"))
    with pytest.raises(SelfCheckError):
        agreement(spoilt, wording_of(spoilt))


def test_another_mask_or_a_letter_for_the_number_of_tokens_is_refused() -> None:
    with pytest.raises(InputError, match="a token sees itself and all before it"):
        run("kv_cache", GIVENS, mask="window:2")
    chosen = mechanism("kv_cache")
    with pytest.raises(InputError, match="must be a number, not n"):
        chosen.run(chosen.symbolic({"n": "n", "d_model": 2, "d_k": 2, "d_v": 1}, Settings()), Settings())


def test_in_letters_every_kept_key_has_its_own_name() -> None:
    chosen = mechanism("kv_cache")
    sizes = {"n": 2, "d_model": 1, "d_k": 1, "d_v": 1}
    d = chosen.run(chosen.symbolic(sizes, Settings()), Settings(), staged=True)
    wording = wording_of(Problem("", "kv_cache", d, load_notation("standard")))
    assert wording.working(d["S.2"], 0, 1) == Sum((wording.read("q_{2,1}·k_{2,1}"),))
    assert wording.working(d["S.2"], 0, 0) == Sum((wording.read("q_{2,1}·k_{1,1}"),))


# ------------------------------------------------------------------------------------------------ misconceptions


def outputs(seen: list[list[int]]) -> np.ndarray:
    """Each token's output when it sees these tokens."""
    found = []
    for t, tokens in enumerate(seen):
        z = numpy_attention((X @ W_Q)[[t]], (X @ W_K)[tokens], (X @ W_V)[tokens], scale=2**0.5)["Z"]
        found.append(z[0])
    return np.array(found)


@pytest.mark.parametrize(("id", "seen"), [("F6", [[0], [0], [0, 1]]), ("F7", [[0], [0], [0]])])
def test_what_comes_of_a_token_that_sees_too_little(id: str, seen: list[list[int]]) -> None:
    wrong = misconception(id).on(run("kv_cache", GIVENS))
    assert wrong is not None
    assert wrong.first == {"F6": "S.2", "F7": "A.2"}[id]
    np.testing.assert_allclose(floats(wrong.value("Z")), outputs(seen), rtol=0, atol=1e-10)


def test_they_have_no_place_where_nothing_is_kept() -> None:
    d = run("causal_self_attention", GIVENS, mask="causal", by="token")
    assert misconception("F6").on(d) is None
    assert misconception("F7").on(d) is None
