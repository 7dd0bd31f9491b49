"""One cause is one event, with its name: slips from the rule of the step, mistakes in one row, entries swapped."""

from contextlib import suppress
from fractions import Fraction
from functools import cache, partial
from itertools import product
from random import Random

import numpy as np
import pytest
from oracles import softmax
from scripts import decimals, ids, key_of, script

from symattn.api import check, derive, make_recipe
from symattn.derivation.misconceptions import replayed
from symattn.derivation.misconceptions.base import ReplacementOp
from symattn.derivation.slips import SLIPS, slips
from symattn.errors import UndefinedError
from symattn.exact import Matrix, decide
from symattn.exact.reading import typed
from symattn.marking.attempt import Attempt
from symattn.marking.marker import mark
from symattn.marking.submissions.entries import grid
from symattn.marking.trial import script as handed_in
from symattn.marking.trial import value_of
from symattn.teaching.sheets import sheets


@cache
def sheet(name, problem="full", seed=7):
    [made] = sheets(make_recipe(name, problem=problem, seed=seed), 1)
    return made


def events(name, changes):
    """The events of a key with some entries of some parts written otherwise, and nothing after them."""
    question = sheet(name).question
    written = key_of(question)
    for part, cells in changes.items():
        for (i, j), text in cells.items():
            written[part][i][j] = text
    last = max(list(written).index(part) for part in changes)
    only = dict(list(written.items())[: last + 1])
    report = mark(question, script(question, only))
    return [(event.kind, set(ids(event)), len(event.entries)) for event in report.events]


def value(name, step):
    return sheet(name).problem.derivation.value(step)


def test_a_lost_sign_and_an_undivided_entry_in_scaled_scores():
    scaled, scores = value("attention", "S'"), value("attention", "S")
    i, j = next((i, j) for i in range(3) for j in range(3) if abs(scaled[i, j]) > 1)
    assert "A1" in events("attention", {"S'": {(i, j): typed(-scaled[i, j])}})[0][1]
    [(kind, ids, _)] = events("attention", {"S'": {(i, j): typed(scores[i, j])}})
    assert kind == "slip"
    assert "A16" in ids


def test_a_row_that_was_not_scaled_is_one_event():
    scaled, scores = value("attention", "S'"), value("attention", "S")
    rows = [
        i for i in range(3) if sum(decide(*pair).equal is False for pair in zip(scaled[i], scores[i], strict=True)) > 1
    ]
    for i in rows:
        row = {(i, j): typed(x) for j, x in enumerate(scores[i])}
        [(kind, ids, _)] = events("attention", {"S'": row})
        assert kind == "slip"
        assert "C1" in ids
    assert rows


def test_weights_that_changed_places_and_exchanged_digits():
    weights = value("attention", "A")
    [(_, ids, entries)] = events("attention", {"A": {(0, 0): typed(weights[0, 1]), (0, 1): typed(weights[0, 0])}})
    assert "A18" in ids
    assert entries == 2
    turned = {(i, j): typed(weights[j, i]) for i in range(3) for j in range(3)}
    [(_, ids, _)] = events("attention", {"A": turned})
    assert "A18" in ids
    text = f"{float(weights.sympy()[1, 0]):.2f}"
    assert text[2] != text[3]
    assert "A8" in events("attention", {"A": {(1, 0): f"0.{text[3]}{text[2]}"}})[0][1]


def test_two_exchanges_in_one_line_are_each_named():
    weights = value("attention", "A")
    swapped = {(i, j): typed(weights[i, 1 - j]) for i in (0, 1) for j in (0, 1)}
    assert events("attention", {"A": swapped}) == [("slip", {"A18"}, 2)] * 2


def test_a_misconception_is_one_event_whatever_the_places_of_its_lines():
    """Also where a line has more places than the one before: "γ and β left out" was three mistakes there."""
    made = sheet("layer_norm", seed=1)
    question, d = made.question, made.problem.derivation
    for first, wrong in product(range(4), (found for found in replayed(d) if not found.stopped)):
        places = {part.name: 3 + 3 * ((first + k) // 2 % 2) for k, part in enumerate(question.parts)}
        said = {
            part: grid([[decimals(places[part])(x) for x in row] for row in m.rows], ".")
            for part in places
            if (m := value_of(wrong.derivation, part)) is not None
        }
        report = mark(question, Attempt(said))
        assert len(report.events) <= 1, (wrong.misconception.id, places, report.events)


def test_masked_scores_in_reverse_order_are_one_event():
    """The columns of the masked scores reversed, −∞ among them, and gone on with."""
    question = sheet("causal_self_attention", seed=2).question
    d = question.problem.derivation
    reverse = partial(ReplacementOp, does=lambda own, *m: Matrix.of([row[::-1] for row in own.apply(*m).rows]))
    wrong = d.replay(lambda step: step.with_op(reverse(step.op)) if step.name == "M" else step)
    [event] = mark(question, handed_in(question, wrong)).events
    assert event.kind == "unknown"
    assert event.candidates[0].says == "whole rows or columns are in reverse order"


BELIEFS = {
    "twice as much and one": lambda x, i, j: 2 * x + 1,
    "its cube": lambda x, i, j: x**3,
    "its place added": lambda x, i, j: x + i + 2 * j + 1,
    "times the number of its row": lambda x, i, j: (i + 2) * x,
}
"""What nobody has a name for, by what becomes of an entry."""


@pytest.mark.parametrize(
    ("name", "part"),
    [("attention", "S"), ("layer_norm", "N_hat"), ("self_attention", "Q"), ("causal_self_attention", "S")],
)
@pytest.mark.parametrize("belief", BELIEFS.values(), ids=list(BELIEFS))
def test_a_belief_without_a_name_is_one_event(belief, name, part):
    """Some of the entries happen to be what a slip would give: of a line that is wrong throughout, that is chance."""
    right = value(name, part)
    rows = [[(i, j, belief(x, i, j), x) for j, x in enumerate(row)] for i, row in enumerate(right.rows)]
    wrong = {(i, j): typed(y) for row in rows for i, j, y, x in row if decide(x, y).equal is False}
    [(_, _, entries)] = events(name, {part: wrong})
    assert entries == len(wrong)


SMALL = ("attention", "layer_norm", "softmax_jacobian")
OTHERS = ("causal_self_attention", "multi_head_attention", "feed_forward_gradient", "online_softmax", "kv_cache")


@pytest.mark.parametrize("names", [SMALL, pytest.param(OTHERS, marks=pytest.mark.slow)], ids=["small", "others"])
def test_a_slip_is_one_event_with_its_name(names):
    """What each makes of an entry has its witness in tests/misconceptions.  Off by one (A10) is the last resort."""
    tried = 0
    for name, k in product(names, range(5)):
        question, d, rng = sheet(name).question, sheet(name).problem.derivation, Random(f"{name} {k}")
        step = rng.choice(sheet(name).problem.asked_steps)
        i, j = (rng.randrange(size) for size in step.result.shape)
        found = list(slips(d, step.name, i, j))
        with suppress(IndexError, UndefinedError):  # no slip here, or none that can be gone on with
            slip, rows = rng.choice(found), [list(row) for row in step.result.rows]
            rows[i][j] = slip.value
            [event] = mark(question, handed_in(question, d.replay(pinned={step.name: Matrix.of(rows)}))).events
            names_of = ids(event)
            assert slip.slip.id in names_of or (slip.slip.id == "A10" and names_of), (name, step.name)
            tried += 1
    assert tried > 3 * len(names)


def test_a_row_copied_from_the_row_above_is_told_as_such():
    d = derive(
        "attention", Q=[[1, 2], [0, 1], [2, 1]], K=[[1, 0], [1, 1], [0, 2]], V=[[1, 0], [0, 1], [2, 1]], scale="none"
    )
    scores = np.array([[1, 2], [0, 1], [2, 1]]) @ np.array([[1, 0], [1, 1], [0, 2]]).T
    scores[1] = scores[0]
    [event] = check(d, {"S": scores.tolist()}).reports[0].events
    assert ids(event) == ["A19"]
    assert "row 1 was written again in the place of row 2" in event.candidates[0].says
    assert len(event.entries) == 3


def test_a_row_that_a_mask_decides_is_copied_from_nowhere():
    scores = [[1, 3, 2], [0, 2, 1], [2, 0, 1]]
    d = derive("attention", Q=scores, K=np.eye(3, dtype=int).tolist(), V=[[1], [2], [3]], mask="causal", scale="none")
    weights = softmax(
        [[1, -np.inf, -np.inf], [0, -np.inf, -np.inf], scores[2]]
    )  # the second token taken for one that sees the first
    found = check(d, {"S": scores, "A": weights.round(3).tolist()}).reports[0].events
    assert found
    assert "A19" not in {id for event in found for id in ids(event)}


@pytest.mark.parametrize("real", [1, 3])
def test_hidden_queries_of_padding_are_one_event(real):
    scores = [[1, 3, 2, 0], [0, 2, 1, 3], [2, 0, 1, 1], [1, 2, 0, 3]]
    givens = {"Q": scores, "K": np.eye(4, dtype=int).tolist(), "V": [[1, 0], [0, 1], [2, 1], [1, 3]]}
    d = derive("attention", **givens, scale="none", mask=f"padding:{real}+causal")
    seen = np.tril(np.ones((4, 4), int))
    seen[:, real:] = 0
    seen[real:] = 0
    masked = [[x if k else "-inf" for x, k in zip(*rows, strict=True)] for rows in zip(scores, seen, strict=True)]
    weights = softmax(np.array(masked, float)).round(3).tolist()
    [event] = check(d, {"S": scores, "M": masked, "A": weights}).reports[0].events
    assert ids(event) == ["M11"]


def test_a_misconception_that_goes_on_beside_a_slip_is_the_same_mistake():
    """Q and K exchanged, and a lost sign in K: two mistakes, not three."""
    X, queries, keys = (
        np.array([[1, 2, 0], [0, 1, 3], [2, 0, 1]]),
        np.array([[1, 0], [2, 1], [0, 3]]),
        [[0, 1], [1, 1], [5, 2]],
    )
    d = derive("self_attention", X=X.tolist(), W_Q=queries.tolist(), W_K=keys, W_V=keys)
    Q, K = X @ keys, X @ queries
    K[1, 1] *= -1
    exchanged, sign = check(d, {"Q": Q.tolist(), "K": K.tolist()}).reports[0].events
    assert (exchanged.kind, ids(exchanged), exchanged.charged) == ("misconception", ["P4"], ("Q", "K"))
    assert (sign.kind, sign.entries) == ("slip", (("K", 1, 1),))


def test_slips_in_a_softmax_are_told_of_powers():
    scores = np.array([[2, 0, 1], [1, 1, 0], [0, 1, 3]])
    d = derive("attention", Q=scores.tolist(), K=np.eye(3, dtype=int).tolist(), V=[[1], [2], [3]], scale="none")
    powers = np.exp(scores)
    weights = softmax(scores)
    weights[0] = powers[0] / (powers[0].sum() + powers[0, 0])
    marking = check(d, {"S": scores.tolist(), "A": weights.round(4).tolist()})
    [event] = marking.reports[0].events
    assert [candidate.says for candidate in event.candidates] == ["the power e^2 was counted twice in the sum"]
    assert SLIPS["A1"].advice(d["A"].op) != SLIPS["A1"].advice(d["S"].op) == SLIPS["A1"].feedback
    assert SLIPS["A8"].advice(d["A"].op) == SLIPS["A8"].feedback


# ------------------------------------------------------------------------------------------- one rule for every entry

Q, K, V = [[1, 2], [0, 1], [2, 3]], [[1, 0], [1, 1], [0, 3]], [[1, 0], [0, 4], [2, 1]]
SCORES = np.array(Q) @ np.array(K).T

RULES = {
    "every entry is off by the same factor": [SCORES * 7, SCORES * Fraction(3, 2), -3 * SCORES],
    "every entry is squared": [SCORES**2],
    "whole rows or columns are shifted": [np.roll(SCORES, k, axis) for k in (1, 2) for axis in (0, 1)],
    "whole rows or columns are in reverse order": [SCORES[::-1, ::-1]],
    "one row or column stands in the place of all": [SCORES[[1, 1, 1]], SCORES[:, [2, 2, 2]]],
    "every row or column is off by a factor of its own": [SCORES * [[2], [3], [5]], SCORES * [7, -1, Fraction(1, 2)]],
    "every row or column is off by an amount of its own": [SCORES + np.array([5, k, 7]) for k in (-2, 0)],
    "the same number stands in several places": [np.where(SCORES > 2, 4, SCORES), np.where(np.eye(3) == 1, -7, SCORES)],
    "several entries are off by the same factor": [np.where(np.tri(3) == 1, 7 * SCORES, SCORES)],
    "several entries are off by the same amount": [np.where(np.eye(3) == 1, SCORES + 11, SCORES)],
}


def scores_marked(scores, orientation="rows"):
    """The report on scores, with what follows from them: tokens as rows or as columns."""
    across = orientation == "columns"
    given = {name: np.transpose(m).tolist() if across else m for name, m in {"Q": Q, "K": K, "V": V}.items()}
    d = derive("attention", **given, scale="none", orientation=orientation)
    weights = softmax(scores)
    told = {"S": scores.astype(object), "A": np.round(weights, 6), "Z": np.round(weights @ np.array(V), 6)}
    return check(
        d, {name: [list(map(str, row)) for row in (m.T if across else m)] for name, m in told.items()}
    ).reports[0]


@pytest.mark.covering(most=6)
@pytest.mark.parametrize("orientation", ["rows", "columns"])
@pytest.mark.parametrize(("says", "scores"), [(says, one) for says, found in RULES.items() for one in found])
def test_one_rule_for_all_entries_is_one_event(says, scores, orientation):
    [event] = scores_marked(scores, orientation).events
    assert (event.part, event.kind, len(event.entries)) == ("S", "unknown", np.sum(scores != SCORES))
    assert [candidate.says for candidate in event.candidates] == [says]


@pytest.mark.parametrize("amount", [4, -2.25])
def test_one_amount_for_all_entries_is_one_event(amount):
    weights = [["1/2", "1/4", "1/4"], ["1/8", "3/8", "1/2"]]
    right = np.array([[0.5, 0.25, 0.25], [0.125, 0.375, 0.5]]) @ np.array(V)
    [event] = check(derive("weighted_values", A=weights, V=V), {"Z": (right + amount).tolist()}).reports[0].events
    assert [candidate.says for candidate in event.candidates] == ["every entry is off by the same amount"]


def test_slips_that_no_rule_joins_stay_apart():
    spoilt = SCORES.copy()
    spoilt[0, 0], spoilt[1, 1], spoilt[2, 2] = spoilt[0, 0] + 1, -spoilt[1, 1], spoilt[2, 2] + 10
    assert len(scores_marked(spoilt).events) == 3


def test_what_rests_on_a_number_that_is_none_of_ours_follows_from_it():
    """A sine of a whole number, as where degrees were taken for radians: intervals know it."""
    d = derive("attention", Q=[[1, 0]], K=[[1, 0], [0, 1]], V=[[1], [2]], scale="none")
    weights = softmax(np.array([[np.sin(1), 0]]))
    later = {"A": weights, "Z": weights @ [[1], [2]]}
    written = {name: [[f"{x:.4f}" for x in row] for row in rows] for name, rows in later.items()}
    [report] = check(d, {"S": [["sin(1)", "0"]], **written}).reports
    assert [verdict.state for verdict in report.verdicts] == ["wrong", "correct", "follows", "follows", "follows"]
