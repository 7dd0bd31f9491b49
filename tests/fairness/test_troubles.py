"""Verdicts on a variant are those of the whole replays, compared here by loops of their own; keys and contents, too."""

import random
from fractions import Fraction
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import oracles
import pytest
from strategies import drawn

from symattn.derivation.derivation import Derivation, symbols, transposed
from symattn.derivation.ops.attention import Softmax
from symattn.derivation.ops.linear import MatMul, Scale
from symattn.errors import SelfCheckError
from symattn.exact import Matrix, square_root
from symattn.foundation.dice import Counted, pick, picks, shuffled, whole
from symattn.teaching.fairness.separation import separation, troubles
from symattn.teaching.pool import Keys, alike, prove, shared


def apart(a, b):
    """The largest difference of two results; infinite for other shapes, 0 where both are missing or equal."""
    if a is None or b is None:
        return 0 if a is b else np.inf
    if a.shape != b.shape:
        return np.inf
    with np.errstate(invalid="ignore"):
        largest = np.where(a == b, 0, abs(a - b)).max()
    return 0 if largest < 1e-9 else largest


def by_the_rules(d):
    """rules.md 2.4 and 4.8 (D1, D2), from every core misconception replayed exactly and to the end."""
    found = separation(d)
    steps = [step.name for step in found.derivation]
    right = {name: oracles.floats(found.derivation.value(name)) for name in steps}
    wrong = {
        w.misconception.id: {n: oracles.floats(w.value(n)) if n in w.derivation else None for n in steps}
        for w in found.wrongs
        if w.misconception.core
    }
    first = {w.misconception.id: w.first for w in found.wrongs}
    shown = [id for id in wrong if first[id]]
    said = {id for id in wrong if not first[id]}
    said |= {f"{id}~" for id in shown if apart(wrong[id][first[id]], right[first[id]]) < 0.05}
    for a, b in combinations(shown, 2):
        pair = sorted((a, b))
        if first[a] == first[b]:
            distances = [apart(wrong[a][n], wrong[b][n]) for n in (first[a], *steps)]
            nearest = next(filter(None, distances), 0)
            if nearest < 0.05:
                said.add(("~" if nearest else "=").join(pair))
        ends = [wrong[id][steps[-1]] for id in pair]
        if not any(end is None for end in ends) and apart(*ends) < 0.05:
            said.add("≈".join(pair))
    said |= {f"{id}≈" for id in shown if apart(wrong[id][steps[-1]], right[steps[-1]]) < 0.05}
    return said


ASKED = [
    ("self_attention", {}),
    ("self_attention", {"sizes": {"n": 2, "d_model": 2, "d_k": 2, "d_v": 2}}),
    ("self_attention", {"orientation": "columns", "mask": "causal"}),
    ("self_attention", {"by": "token"}),
    ("self_attention", {"base": 2}),
    ("attention", {"sizes": {"n": 4, "m": 4, "d_k": 4}}),
    ("multi_head_attention", {}),
    ("encoder_block", {"arithmetic": "decimal"}),
]


@pytest.mark.covering(most=2)
@pytest.mark.parametrize(("name", "stated"), ASKED)
def test_verdicts_are_those_of_the_whole_replays(name, stated):
    d = drawn(name, **stated)
    found = by_the_rules(d)
    assert troubles(d) == found
    assert troubles(d, at_the_end=False) == {trouble for trouble in found if "≈" not in trouble}


def attention(q, k, v, divisor):
    d = Derivation({"Q": q if isinstance(q, Matrix) else Matrix(q), "K": Matrix(k), "V": Matrix(v)})
    d = d.then("S", MatMul(), "Q", transposed("K")).then("S'", Scale(divisor, "sqrt(d_k)"), "S")
    return d.then("A", Softmax(), "S'").then("Z", MatMul(), "A", "V")


@pytest.mark.parametrize(
    ("q", "k", "v", "hidden"),
    [
        ([[1, 0], [0, 1]], [[1, 0], [0, 1]], [[1, 2], [3, 4]], "T2"),  # S is symmetric
        ([[2, 1], [1, 2]], [[1, 2], [2, 1]], [[0, 1], [1, 0]], "C5"),  # n = d_k
        ([[30, 0], [0, -30]], [[40, 1], [2, 50]], [[1, 2], [3, 5]], "C4≈"),  # weights of 0 and 1
        ([[1, 0], [0, 1]], [[700, 0], [0, -700]], [[1, 2], [3, 5]], "C5"),  # beyond what floats are trusted with
    ],
)
def test_what_hides_a_mistake_is_told(q, k, v, hidden):
    found = troubles(d := attention(q, k, v, square_root(2)))
    assert hidden in found
    if max(map(abs, map(float, d.value("S")))) < 20:  # else floats see still less
        assert found == by_the_rules(d)


def test_a_variant_with_letters_has_no_troubles():
    assert troubles(attention(symbols("Q", 2, 2), [[1, 0], [0, 1]], [[1, 2], [3, 4]], square_root(2))) == set()


def test_a_key_is_like_the_one_it_shares_most_with():
    rng, keys, earlier = random.Random(1), Keys(), []
    assert keys.likeness(("a", "b")) == 0
    for _ in range(150):
        key = tuple(rng.choice("abc") for _ in range(rng.choice((0, 1, 7, 7, 7, 9))))
        assert keys.likeness(key) == max((shared(key, other) for other in earlier), default=0)
        keys.add(key)
        earlier.append(key)


def test_contents_are_alike_type_for_type():
    content = {"X": ((1, "1/2"), (0, "e")), "n": 3}
    assert alike(content, {"X": ((1, "1/2"), (0, "e")), "n": 3})
    for other in (
        {"X": ((True, "1/2"), (0, "e")), "n": 3},
        {"X": ((1, Fraction(1, 2)), (0, "e")), "n": 3},
        {"X": ([1, "1/2"], (0, "e")), "n": 3},
        {"X": ((1, "1/2"),), "n": 3},
        {"n": 3, "X": ((1, "1/2"), (0, "e"))},
        {"X": ((1, "1/2"), (0, "e")), "n": 3.0},
    ):
        assert not alike(content, other)


@pytest.mark.parametrize(("row", "fails"), [((1, 2), False), ([1, 2], False), ((1, 3), True), ((True, 3), True)])
def test_what_thaws_to_other_answers_is_no_key(row, fails):
    """A list in place of a tuple is another content, of which the same question is made."""

    def make(content, frozen=None):
        return SimpleNamespace(
            type="t", content=content, frozen=frozen, problem=None, parts=(), entries=lambda: map(str, content["row"])
        )

    chosen = SimpleNamespace(make=make, prove=lambda question: None)
    asked = make({"row": (1, 2)}, {"row": row})
    if fails:
        with pytest.raises(SelfCheckError, match="frozen form"):
            prove(asked, chosen)
    else:
        prove(asked, chosen)


def test_several_numbers_are_those_that_come_one_by_one():
    """Shuffled by the definition (Fisher–Yates), with one number for each exchange."""
    one, other = Counted(7), Counted(7)
    listed = list(range(20))
    for i in range(19, 0, -1):
        j = whole(one, 0, i)
        listed[i], listed[j] = listed[j], listed[i]
    assert shuffled(other, range(20)) == listed
    assert picks(other, "abcde", 9) == [pick(one, "abcde") for _ in range(9)]
    assert other.left == one.left == Counted.left - 28
    assert shuffled(other, []) == []
    assert other.left == one.left
