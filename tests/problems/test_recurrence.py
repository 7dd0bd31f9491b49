"""Attention beside recurrence: walks over dependency graphs and loops over positions."""

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from problem_laws import answer, variant_of

from symattn.teaching.problems.recurrence import (
    CLAIMS,
    STATEMENTS,
    TYPE,
    WORK,
    dilated_layers,
    stacked_layers,
)

question = variant_of(TYPE, 13)


# ------------------------------------------------------------------------------------------------ graphs


def layers_needed(first, last, n, reads):
    """The fewest layers after which position `last` depends on `first`; `reads(layer, t)`: the positions t reads."""
    seen, layers = {last}, 0
    # From the top: which inputs matter for `last`, when the layers above are `layers` in number.
    while first not in seen:
        layers += 1
        needed = {last}
        for layer in reversed(range(layers)):
            needed = {s for t in needed for s in reads(layer, t) if 1 <= s <= n}
        seen = needed
    return layers


@given(st.integers(2, 40), st.integers(2, 7), st.data())
def test_paths_by_walking_the_dependency_graph(n, k, data):
    first = data.draw(st.integers(1, n - 1))
    last = data.draw(st.integers(first + 1, n))
    assert layers_needed(first, last, n, lambda layer, t: range(t - k + 1, t + 1)) == stacked_layers(last - first, k)
    dilated = layers_needed(first, last, n, lambda layer, t: [t - a * k**layer for a in range(k)])
    assert dilated == dilated_layers(last - first, k)


TOGETHER = {
    "projections": True,
    "scores": True,
    "softmaxes": True,
    "outputs": True,
    "scores and weights": False,
    "weights and output": False,
    "inputs": True,
    "input and state": True,
    "recurrences": False,
    "states": False,
    "product and function": False,
}
"""Whether these can be done at the same time, as Vaswani et al. 2017, section 4 and table 1, have it."""


def test_what_derivations_say_of_waiting_is_what_the_papers_say():
    assert {name: work.parallel for name, work in WORK.items()} == TOGETHER


@pytest.mark.slow
@pytest.mark.parametrize("level", ["starter", "standard", "long"])
def test_every_answer(level):
    for number in range(1, 13):
        q = question(number, level=level)
        n, d, k, wide = (q.frozen[name] for name in ("n", "d", "k", "wide"))
        first, last = q.frozen["from"], q.frozen["to"]
        assert 1 <= first < last <= n
        cost, steps, paths = (list(answer(q, name).value) for name in ("cost", "steps", "paths"))
        assert cost == [3 * n * d**2, 2 * n**2 * d, 2 * n * d**2, k * n * d**2]
        chains = list(answer(q, "chains").value)
        assert chains == [5, 5, 3 * n, 6 * n]  # Q, S, S', A, Z; U h, the sum and f at every position
        parallel, works = answer(q, "parallel"), q.frozen["parallel"]
        assert parallel.right == {i for i, name in enumerate(works) if TOGETHER[name]}
        assert len(parallel.right) == 3
        assert len(set(works)) == 6
        through, w = q.frozen["through"], sympy.Rational(q.frozen["slope"])
        x, h = sympy.symbols("w h_0")
        state = h
        for t in range(through):
            state = x * state + t
        derivative = sympy.diff(sympy.expand(state), h)
        assert [sympy.Rational(v) for v in answer(q, "gradients").value] == [
            derivative.subs(x, y) for y in (1 / w, 1, w)
        ]
        assert steps == [1, n, 1]
        assert paths == [
            1,
            last - first,
            layers_needed(first, last, n, lambda layer, t, k=k: range(t - k + 1, t + 1)),
            layers_needed(first, last, n, lambda layer, t, k=k: [t - a * k**layer for a in range(k)]),
        ]
        smallest = answer(q, "overtaking").value
        assert 2 * smallest**2 * wide > k * smallest * wide**2
        assert 2 * (smallest - 1) ** 2 * wide <= k * (smallest - 1) * wide**2


# ------------------------------------------------------------------------------------------------ statements


def test_the_bank_is_balanced_and_says_why():
    claims = list(STATEMENTS.values())
    assert len(claims) >= 24
    assert sum(claim.true for claim in claims) * 2 == len(claims)
    assert len({claim.text for claim in claims}) == len(claims)
    for claim in claims:
        assert claim.why.endswith(".")
        assert claim.text.endswith(".")
        assert bool(claim.correction) != claim.true


@pytest.mark.slow
def test_claims_are_half_true_and_never_on_one_topic():
    ticks = []
    for level, number in [(level, number) for level in CLAIMS for number in range(1, 13)]:
        q = question(number, level=level)
        names = q.frozen["statements"]
        topics = [STATEMENTS[name].topic or name for name in names]
        assert len(set(topics)) == len(names) == CLAIMS[level]
        judged = answer(q, "claims")
        assert judged.right == {i for i, name in enumerate(names) if STATEMENTS[name].true}
        assert len(judged.right) * 2 == len(names)
        corrected = answer(q, "corrections")
        assert len(corrected.points) == len(names) - len(judged.right)
        ticks.append(0 in judged.right)
    assert 9 < sum(ticks) < 27, "the first statement is as often true as false"


def test_claims_about_counts_hold_when_counted():
    """Where a claim is about numbers, the numbers decide."""
    n, d = 8, 64
    scores, recurrent = [m * m for m in (n, 2 * n)], [2 * m * d * d for m in range(4 * d)]
    assert STATEMENTS["quadratic"].true == (scores[1] == 4 * scores[0])
    assert STATEMENTS["linear"].true == (scores[1] == 2 * scores[0])
    assert STATEMENTS["rn linear"].true == (recurrent[2 * n] == 2 * recurrent[n])
    assert STATEMENTS["cheaper"].true == (n * d * n < recurrent[n])
    longer = [m * m * d < recurrent[m] for m in range(1, 4 * d)]
    assert STATEMENTS["always cheaper"].true == all(longer)
    assert longer.index(False) + 1 == 2 * d, "from n = 2d on they are not fewer"
    assert STATEMENTS["convolution"].true == (stacked_layers(50, 3) == 1)
    assert STATEMENTS["dilated"].true == all(dilated_layers(3**power - 1, 3) == power for power in range(1, 9))


def test_a_content_frozen_before_there_were_chains_and_gradients_comes_out_as_it_was():
    q = question(1)
    frozen = {name: x for name, x in q.frozen.items() if name not in ("parallel", "through", "slope")}
    old = TYPE.make(frozen)
    assert old.frozen == frozen
    assert old.marks == 13
    assert [part.name for part in old.parts] == ["cost", "steps", "paths", "overtaking", "claims", "corrections"]
    TYPE.prove(old)
