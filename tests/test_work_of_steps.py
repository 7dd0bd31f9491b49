"""The work of steps: what loops would do, polynomials that agree with numbers, masks that save some."""

from collections import Counter
from dataclasses import fields
from math import exp, sqrt
from typing import ClassVar

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from sentences import refused_saying
from trials import at_least_one

import symattn
from symattn.derivation.counts import Counts, counts
from symattn.derivation.mechanisms import Settings, mechanism, mechanisms
from symattn.exact import Matrix
from symattn.teaching.description import in_letters

NAMES = [field.name for field in fields(Counts)]
ONES = [[1]]


class Worker:
    """A number that counts what is done with it: the witness, which works attention out as a program does."""

    done: ClassVar[Counter[str]] = Counter()

    def __init__(self, value):
        self.value = value

    def __mul__(self, other):
        self.done["multiplications"] += 1
        return Worker(self.value * other.value)

    def __add__(self, other):
        self.done["additions"] += 1
        return Worker(self.value + other.value)

    def __truediv__(self, other):
        self.done["divisions"] += 1
        return Worker(self.value / other.value)

    def exponential(self):
        self.done["exponentials"] += 1
        return Worker(exp(self.value))


def added(terms):
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def worked(n, m, k, v, seen):
    """Attention with every query, key and value of ones, in loops; `seen` says which keys a query sees."""
    Worker.done = Counter()
    q, keys, values = ([[Worker(1.0) for _ in range(w)] for _ in range(r)] for r, w in ((n, k), (m, k), (m, v)))
    for i in range(n):
        scores = [added([q[i][c] * keys[j][c] for c in range(k)]) / Worker(sqrt(k)) for j in range(m)]
        powers = {j: scores[j].exponential() for j in range(m) if seen[i][j]}
        total = added(list(powers.values()))
        weights = [powers[j] / total if j in powers else Worker(0.0) for j in range(m)]
        for c in range(v):
            added([weights[j] * values[j][c] for j in range(m)])
    return Worker.done


SIZES = st.integers(1, 4)


@given(SIZES, SIZES, SIZES, SIZES, st.data())
def test_attention_costs_what_loops_cost(n, m, k, v, data):
    seen = [[True] + [data.draw(st.booleans()) for _ in range(m - 1)] for _ in range(n)]
    whole = all(map(all, seen))
    mask = None if whole else [[int(x) for x in row] for row in seen]
    Q, K, V = ([[2] * width for _ in range(rows)] for rows, width in ((n, k), (m, k), (m, v)))
    d = symattn.derive("attention", Q=Q, K=K, V=V, mask=mask).derivation
    found = sum(counts(d).values(), Counts())
    expected = worked(n, m, k, v, seen)
    for name in ("multiplications", "additions", "exponentials"):
        if name == "additions" and not whole:
            continue  # adding the mask is work as well
        assert getattr(found, name) == expected[name], name
    assert found.divisions == expected["divisions"]


@pytest.mark.covering(most=12, rest=3)
@pytest.mark.parametrize("name", [name for name in mechanisms() if name != "recurrent_jacobian"])
def test_polynomials_with_sizes_put_in_are_the_numbers(name):
    chosen = mechanism(name)
    settings = Settings.read({**chosen.defaults, **({"mask": "none"} if "mask" in chosen.defaults else {})})
    d, fixed = in_letters(chosen, settings)
    sizes = {letter: fixed.get(letter, chosen.default_sizes.get(letter, 2)) for letter in chosen.letters}
    numbers = counts(chosen.run(chosen.symbolic(sizes, settings), settings, staged=True))
    for step, polynomials in at_least_one(counts(d).items()):
        for kind in NAMES:
            polynomial = sympy.sympify(getattr(polynomials, kind))
            value = polynomial.subs({letter: sizes[letter.name] for letter in polynomial.free_symbols})
            assert value == getattr(numbers[step], kind), (step, kind)


def test_scores_and_weighted_values_are_those_that_are_counted_by_hand():
    d = symattn.derive("self_attention", symbolic=True, sizes={"n": "n", "d_model": "d", "d_k": "d", "d_v": "d"})
    n, width = sorted(d.counts("S").multiplications.free_symbols, key=str, reverse=True)
    pairs = d.counts("S").multiplications + d.counts("Z").multiplications
    assert pairs.subs({n: 7, width: 5}) == 2 * 7 * 7 * 5
    assert d.counts("A") == Counts(additions=n * (n - 1), divisions=n**2, exponentials=n**2)


def test_what_a_long_product_costs():
    rows = [[1] * 40]
    d = symattn.derive("custom", steps=[{"name": "P", "op": "matmul", "of": ["A", "A^T"]}], A=rows)
    assert d.counts("P") == Counts(multiplications=40, additions=39)


def test_rounding_costs_nothing_and_a_norm_of_unknown_size_is_told():
    rounded = symattn.derive("attention", Q=ONES, K=ONES, V=ONES, rounding={"places": 2})
    assert rounded.counts("A_rounded") == Counts()
    chosen = mechanism("recurrent_jacobian")
    d, _ = in_letters(chosen, Settings.read(chosen.defaults))
    with refused_saying(r"The work of step 'norm.1' can be counted only where its sizes are numbers"):
        counts(d)


def test_hidden_keys_cost_no_exponential():
    d = symattn.derive("attention", Q=[[1], [1], [1]], K=[[1], [1], [1]], V=[[1], [2], [3]], mask="causal")
    assert isinstance(d["A"].result, Matrix)
    assert d.counts("A") == Counts(additions=0 + 1 + 2, divisions=1 + 2 + 3, exponentials=1 + 2 + 3)
