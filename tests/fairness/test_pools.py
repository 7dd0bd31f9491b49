"""Pools as a teacher gets them: variants equally hard, none degenerate, none hiding a core mistake, keys apart.

Everything is worked out again by NumPy, by loops of its own; the misconceptions' outputs, too.
"""

import random
import re
from collections import Counter
from dataclasses import dataclass
from itertools import chain, combinations, count, cycle, islice
from types import SimpleNamespace

import numpy as np
import oracles
import pytest
from sentences import refused_saying
from test_features import load
from trials import at_least_one

from symattn.api import derive
from symattn.derivation.derivation import oriented
from symattn.errors import InputError
from symattn.foundation.dice import Dice
from symattn.foundation.identity import identity
from symattn.teaching import pool as module
from symattn.teaching.fairness.separation import separation
from symattn.teaching.pool import Tally, choose, pool, room, shared
from symattn.teaching.problems import problem_type

PAIR = [("self_attention", 0.30, 30), ("attention", 0.30, 12)]


def matrices(question):
    """What NumPy makes of the givens: Q, K, V, scores, weights, output."""
    givens = {name: oracles.floats(m) for name, m in question.problem.givens.items()}
    q, k, v = (givens[r] if r in givens else givens["X"] @ givens[f"W_{r}"] for r in "QKV")
    return givens, {"Q": q, "K": k, "V": v, **oracles.numpy_attention(q, k, v, scale=2)}


@pytest.fixture(scope="module", params=PAIR, ids=lambda p: p[0])
def variants(request):
    """Variants of the standard full derivation, or of given Q, K and V, which have room for fewer."""
    mechanism, overlap, count = request.param
    tally = Tally()
    spec = problem_type("full").spec({"mechanism": mechanism})
    return list(islice(pool(spec, Dice.seeded(1), tally), count)), overlap, tally


@pytest.mark.slow
def test_all_are_different_and_equally_hard(variants):
    questions, _, _ = variants
    assert len({identity(q.frozen) for q in questions}) == len(questions)
    loads = [load(*matrices(q)) for q in questions]
    middle = (min(loads) + max(loads)) / 2
    assert max(loads) <= 1.05 * middle
    assert min(loads) >= 0.95 * middle
    for q, expected in zip(questions, loads, strict=True):
        assert q.features["load"] == pytest.approx(expected, abs=0.06)


@pytest.mark.slow
def test_keys_share_at_most_thirty_percent(variants):
    """The entries that have to be worked out, as far as the family has room; text of the key under test is not used."""
    questions, most, tally = variants
    steps = {"self_attention": "QKVSAZ", "attention": "SAZ"}[questions[0].problem.mechanism]
    keys = [np.concatenate([matrices(q)[1][s].ravel() for s in steps]) for q in questions]
    crowded = [
        k for k, key in enumerate(keys) if any(np.mean(np.abs(key - one) < 1e-9) > most + 1e-9 for one in keys[:k])
    ]
    beyond = len(keys) - min(tally.room or len(keys), len(keys))
    assert len(tally.alike) <= beyond <= 2
    assert len(crowded) == len(tally.alike)


AT_THE_OUTPUT = {"C1", "C2", "C4", "C5", "C9", "T2", "X1", "X2", "X3", "X6", "X13", "O1"}


@pytest.mark.slow
def test_core_misconceptions_are_visible_and_apart_at_the_output(variants):
    """What a core misconception gives is seen in NumPy in tests/misconceptions."""
    for q in at_least_one(variants[0]):
        found = separation(q.problem.derivation)
        outputs = [oracles.floats(w.value("Z")) for w in found.wrongs if w.misconception.id in AT_THE_OUTPUT]
        assert len(outputs) == len(AT_THE_OUTPUT)
        right = matrices(q)[1]["Z"]
        assert all(np.abs(a - b).max() >= 0.05 for a, b in combinations([right, *outputs], 2))
        assert found.nearest >= 0.05


@pytest.mark.slow
def test_the_first_variants_are_the_same_however_many_are_taken_and_seeds_differ():
    spec = problem_type("full").spec({"mechanism": "attention"})
    few = [identity(q.frozen) for q in islice(pool(spec, Dice.seeded(3)), 2)]
    many = [identity(q.frozen) for q in islice(pool(spec, Dice.seeded(3)), 4)]
    other = [identity(q.frozen) for q in islice(pool(spec, Dice.seeded(4)), 4)]
    assert few == many[:2]
    assert not set(many) & set(other)


@pytest.mark.slow
def test_relabelled_keys_are_those_of_the_relabelled_variants():
    """The keys that are permuted and not worked out are what working out gives."""
    for mechanism in ("self_attention", "attention", "causal_self_attention"):
        chosen = problem_type("full")
        spec = chosen.spec({"mechanism": mechanism})
        dice = Dice.seeded(2)
        family = chosen.family(spec, dice.rng("family"))
        content = chosen.draw(spec, dice.rng(1), 1, family)
        for key, made in at_least_one(islice(chosen.relabellings(content, spec, family, dice.rng(2)), 8)):
            assert Counter(chosen.key(made())) == Counter(key)


def test_where_all_draws_are_too_much_like_another_variant_the_least_alike_is_kept(monkeypatch):
    """Draws of keys by hand: aaaa, and then for ever aabb, abbb and aaab, which share a half, a quarter and more."""
    drawn = chain(["aaaa"], cycle(["aabb", "abbb", "aaab"]))
    of_its_own = SimpleNamespace(
        family=lambda spec, rng: None, draw=lambda *given: {"key": next(drawn), "number": next(numbers)},
        key=lambda content: tuple(content["key"]), relabellings=None,
        make=lambda content: SimpleNamespace(content=content, frozen=content), freeze=lambda content: content,
    )  # fmt: skip
    numbers, tally = count(), Tally()
    monkeypatch.setattr("symattn.teaching.pool.problem_type", lambda name: of_its_own)
    monkeypatch.setattr("symattn.teaching.pool.prove", lambda question, chosen: None)
    spec = SimpleNamespace(type="", level="standard", given=False)
    kept = [question.content["key"] for question in islice(pool(spec, Dice.seeded(1), tally, overlap=0.1), 2)]
    assert kept == ["aaaa", "abbb"]
    assert tally.alike == [0.25]


@dataclass
class Drawn:
    key: tuple[str, ...]
    name: str
    more: tuple["Drawn", ...] = ()

    def others(self):
        return self.more


@pytest.mark.parametrize("seed", range(8))
def test_the_variant_chosen_is_the_first_unlike_all_others_or_else_the_least_alike_of_a_few(monkeypatch, seed):
    """Of each draw the least alike of its orders counts, and none that has been set; with no room left, one draw is."""
    enough = 8
    monkeypatch.setattr(module, "ENOUGH_DRAWS", enough)
    rng = random.Random(seed)

    def drawn(more=()):
        return Drawn(tuple(rng.choice("abc") for _ in range(8)), str(rng.randrange(300)), more)

    asked = {}

    def attempt(number, k):
        return asked.setdefault((number, k), drawn(tuple(drawn() for _ in range(rng.choice([0, 0, 3])))))

    chosen = list(islice(choose(SimpleNamespace(level="standard"), SimpleNamespace(drawn=attempt), Tally(), 0.5), 12))
    before = []
    for number, taken in at_least_one(enumerate(chosen, 1)):
        likeness = lambda d: max((shared(d.key, b.key) for b in before), default=0)  # noqa: E731
        fit = []
        for k in range(1000):
            d = attempt(number, k)
            if likeness(d) > 0.5:
                d = min((d, *d.more), key=likeness)
            if d.name not in {b.name for b in before}:
                fit.append(d)
            if fit and (likeness(fit[-1]) <= 0.5 or k + 1 >= enough):
                break
        assert taken is min(fit, key=likeness)
        enough = 1 if likeness(taken) > 0.5 else enough
        before.append(taken)


@pytest.mark.parametrize("notation", ["standard", "columns"])
@pytest.mark.parametrize("name", ["causal_self_attention", "rotary_attention", "encoder_block", "attention_gradient"])
def test_keys_in_floats_have_the_entries_of_the_exact_steps(name, notation):
    """The second variant goes through the steps of the first, and what is compared is its own, worked out exactly."""
    chosen = problem_type("full")
    spec = chosen.spec({"mechanism": name, "notation": notation})
    for question in at_least_one(islice(pool(spec, Dice.seeded(3)), 2)):
        d = oriented(question.problem.derivation, "rows")
        entries = (re.fullmatch(r"(.+)\[(\d+),(\d+)\]=(.+)", entry).groups() for entry in chosen.key(question.content))
        listed = {(step, int(i), int(j)): float(x) for step, i, j, x in entries}
        assert {"A", "Z"} & {step for step, _, _ in listed}
        exact = {step: oracles.floats(d.value(step)) for step, _, _ in listed}
        for (step, i, j), x in listed.items():
            assert x == pytest.approx(exact[step][i - 1, j - 1], abs=1e-8)


@pytest.mark.slow
def test_a_family_says_how_many_it_has_room_for_before_the_first_is_made():
    """Counted here from all pairs of keys, one variant after the other, without looking ahead."""
    chosen, told, seed = problem_type("full"), [], 2
    spec = chosen.spec({"mechanism": "attention", "level": "starter", "sizes": {"n": 2, "d_k": 2, "d_v": 2}})
    keys, most = [], 0.4
    for question in pool(spec, Dice.seeded(seed)):
        key = chosen.key(question.content)
        if any(sum(map(str.__eq__, key, other)) > most * len(key) for other in keys):
            break
        keys.append(key)
    assert room(spec, Dice.seeded(seed)) == len(keys)
    assert room(spec, Dice.seeded(seed), len(keys)) is None
    assert room(spec, Dice.seeded(seed), len(keys) + 1) == len(keys)
    ahead, plain = Tally(ahead=60, told=told.append), pool(spec, Dice.seeded(seed))
    looking = pool(spec, Dice.seeded(seed), ahead)
    first = next(looking)
    assert (ahead.room, told) == (len(keys), [len(keys)])
    for one in (first, *islice(looking, len(keys))):
        assert one.frozen == next(plain).frozen
    assert told == [len(keys)]


@pytest.mark.slow
def test_a_family_that_ends_says_where(monkeypatch):
    monkeypatch.setattr(module, "MOST_DRAWS", 100)
    spec = problem_type("full").spec(
        {"mechanism": "attention", "level": "starter", "sizes": {"n": 2, "d_k": 1, "d_v": 1}}
    )
    there, refused = 0, None
    try:
        for there, _ in enumerate(pool(spec, Dice.seeded(1)), 1):  # noqa: B007
            pass
    except InputError as error:
        refused = str(error)
    assert refused.startswith(f"After {there} variants")
    assert room(spec, Dice.seeded(1)) == there > 0
    with refused_saying(f"After {there} variants"):
        next(pool(spec, Dice.seeded(1), Tally(ahead=there + 1)))  # before the first is made


def test_sharing_is_counted_position_by_position():
    assert shared(("a", "b", "c", "d"), ("a", "c", "b", "d")) == 0.5
    assert shared((), ()) == 0


@pytest.mark.parametrize("note", ["note-000", "note-002"])
def test_the_keys_of_the_notes_name_what_their_numbers_hide(note):
    """rules.md 2.4: P4, T2, C5 and C9 leave the output as it is; C2 = C6; X1 = O1. Note 000 scales by √4, not by √3."""
    page = derive(note, notation="standard").worksheet().document("diagnosis")
    lines = "\n".join(oracles.page_lines(page)).partition("cannot show")[2]
    named = re.findall(r"\b([A-Z]\d+b?) \(", lines)
    assert len(named) == len(set(named)), "a code has its name beside it where it stands first"
    lines = re.sub(r" \([^()]*\)", "", lines)
    assert "T2 – K Q^T changes nothing" in lines
    assert "P4 – Q and K swapped shows at Q, but the last line, Z, comes out right" in lines
    assert "X1 and O1 give the same" in lines
    assert "C2 and C6 give the same result at S' and never differ" in lines
    if note == "note-002":
        assert "C5 – divided by √n changes nothing" in lines
        assert "C9 – divided by √d_v changes nothing" in lines
    else:
        assert "C5 and C9 give the same result at S' and never differ" in lines
