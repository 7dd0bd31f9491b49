"""Orders, effects and limits against NumPy's entropies and softmax."""

import itertools
import re

import numpy as np
import oracles
from printed_lines import value
from problem_laws import items_of, questions
from trials import at_least_one

from symattn.page.document import Math, Paragraph, spans
from symattn.page.writers import FORMATS
from symattn.teaching.explanation.documents import question_document
from symattn.teaching.problems.estimate import EFFECTS, OUTCOMES, TYPE


def softmax(scores):
    return oracles.softmax([-np.inf if s is None else s for s in scores])


def entropy(weights):
    visible = weights[weights > 0]
    return float(-(visible * np.log(visible)).sum())


def items(kind, count=20, level="standard"):
    return items_of(questions(TYPE, count, level=level), kind)


def test_rows_of_weights_are_in_the_order_of_their_entropy():
    for item, part in at_least_one(items("entropy")):
        rows = [np.array(item["rows"]["ABCD".index(letter)], float) for (letter,) in part.answer.groups]
        found = [entropy(row / row.sum()) for row in rows]
        assert all(a < b - 1e-9 for a, b in itertools.pairwise(found))


def test_rows_of_scores_are_in_the_order_of_their_largest_weight():
    for item, part in at_least_one(items("largest")):
        largest = [softmax(item["rows"]["ABCD".index(letter)]).max() for (letter,) in part.answer.groups]
        assert all(a < b - 1e-9 for a, b in itertools.pairwise(largest))


def test_the_largest_score_does_not_give_the_order_away():
    """Else one could order the rows by their largest score and never think of the others."""
    by_score = [
        sorted(range(4), key=lambda r: max(item["rows"][r])) == ["ABCD".index(g[0]) for g in part.answer.groups]
        for item, part in items("largest")
    ]
    assert np.mean(by_score) < 0.3


def done(effect, row, key, other):
    """(scores before, scores after, where the key is after): the words of each effect, done over again."""
    s = np.array(row, float)
    match effect:
        case "doubled" | "doubled, smallest" | "unscaled":
            return s, 2 * s
        case "hidden":
            return s, np.where(np.arange(3) == other, -np.inf, s)
        case "colder":
            return s, s / 0.5
        case "warmer":
            return s, s / 2
        case "other lowered" | "other raised":
            return s, s + (np.arange(3) == other) * (1 if effect.endswith("raised") else -1)
        case "copied":
            return s, np.append(s, s[other])
        case "seen":
            return s, np.append(s, 0)
        case "shifted":
            return s, s + 3
        case "exchanged":
            one, two = (j for j in range(3) if j != key)
            after = s.copy()
            after[[one, two]] = s[[two, one]]
            return s, after
        case "value":
            return s, s
        case "balanced":
            return s, (2 * 1.0) * s * 0.5
        case "key bias":
            rng = np.random.default_rng(3)
            q, b = rng.normal(size=4), rng.normal(size=4)
            K = np.outer(s, q) / (q @ q)
            assert np.allclose(K @ q, s)
            return s, (K + b) @ q
    raise AssertionError(effect)


def test_every_effect_is_what_numpy_finds_for_the_key_that_is_named():
    seen = set()
    for item, part in items("effect", 60, "long"):
        text = "".join(x.text if not isinstance(x, Math) else f"[{x.formula}]" for x in spans(part.ask[0].content))
        named = [int(k) - 1 for k in re.findall(r"base='k', sub=\(Number\(digits='(\d)'\)", text)]
        key, other = named[-1], named[0]
        before, after = done(item["effect"], item["row"], key, other)
        change = softmax(after)[key] - softmax(before)[key]
        outcome = "stays" if abs(change) < 1e-12 else "grows" if change > 0 else "falls"
        assert list(OUTCOMES)[min(part.answer.right)] == outcome, item
        seen.add(item["effect"])
    assert seen == set(EFFECTS)


def test_limits_are_where_extreme_temperatures_lead():
    for item, part in at_least_one(items("limit", 20, "long")):
        scores = np.array([-np.inf if s is None else s for s in item["row"]], float)
        near = softmax(scores / (1e-3 if item["limit"] == "cold" else 1e6))
        shown = [option.text[0].formula for option in part.answer.options]
        values = [np.array([value(x) for x in formula.items], dtype=float) for formula in shown]
        fitting = {i for i, v in enumerate(values) if np.allclose(v, near, atol=1e-4)}
        assert part.answer.right == fitting
        assert len(fitting) == 1


def test_no_outcome_follows_from_the_others():
    patterns = [q.positions["effect"] for q in questions(TYPE, 27)]
    assert sorted("".join(sorted(p)) for p in patterns).count("ABC") == 6


def test_no_effect_comes_twice_in_a_question():
    for question in questions(TYPE, 20, level="long"):
        named = [item["effect"] for item in question.frozen["items"] if item["kind"] == "effect"]
        assert len({EFFECTS[name].change for name in named}) == len(named) == 5


def test_reasons_are_worth_a_mark_each_and_can_be_left_out():
    (with_reasons,) = questions(TYPE, 1)
    (without,) = questions(TYPE, 1, options={"reasons": False})
    assert with_reasons.marks == without.marks + len(without.parts)
    asked = [b for part in with_reasons.parts for b in part.ask if isinstance(b, Paragraph)]
    assert sum("reason" in str(b.content) for b in asked) == len(with_reasons.parts)
    assert "reason" not in FORMATS["text"].write(question_document(without)).lower().replace(without.title.lower(), "")
