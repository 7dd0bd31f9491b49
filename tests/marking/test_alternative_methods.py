"""What looks wrong and is right earns full marks (rules.md 2.6): every way, in every layout, under every policy."""

from functools import cache
from itertools import islice
from pathlib import Path

import pytest
import sympy
from scripts import (
    exactly,
    ids,
    key_of,
    key_script,
    laid,
    log_sum_exp,
    marked,
    mistakes,
    page,
    pages,
    script,
    step_of,
    texts,
    texts_times,
    turned,
    unsimplified,
)

import symattn
from symattn.derivation.ops.linear import Scale
from symattn.exact import NEGATIVE_INFINITY, to_sympy
from symattn.marking.attempt import Attempt, Entry

G1 = str(Path(__file__).with_name("cases") / "g1.toml")
SETTINGS = {
    "matrix": {},
    "causal": {"mask": "causal"},
    "custom mask": {"mask": [[1, 0, 1], [0, 1, 1], [1, 1, 1]]},
    "columns": {"orientation": "columns"},
    "columns, causal": {"orientation": "columns", "mask": "causal"},
    "by token": {"by": "token"},
    "by token, columns, causal": {"by": "token", "orientation": "columns", "mask": "causal"},
    "no scale": {"scale": "none"},
    "divisor 3": {"scale": 3},
}
RANDOM = {f"variant {seed}": (mechanism, seed) for seed in (1, 2) for mechanism in ("self_attention", "attention")}
POLICIES = ("ecf", "ib", "uk", "strict")


@cache
def question(name):
    if name in RANDOM:
        mechanism, seed = RANDOM[name]
        [sheet] = symattn.worksheet(mechanism, seed=seed, **({"mask": "causal"} if seed == 2 else {}))
        return sheet.question
    settings = SETTINGS[name]
    if settings.get("orientation") == "columns":
        given = symattn.derive(G1).problem.givens
        return symattn.derive(
            "self_attention", **settings, **{k: turned(page(m)) for k, m in given.items()}
        ).worksheet().question  # fmt: skip
    return symattn.derive(G1, **settings).worksheet().question


# ------------------------------------------------------------------------------------------------ the ways


def parts(q):
    return {step.role for part in q.parts if (step := step_of(q, part)) is not None}


def divisor(q):
    ops = [step.op for step in q.problem.steps if isinstance(step.op, Scale)]
    return to_sympy(ops[0].divisor) if ops else None


def found(q):
    return pages(q.problem.derivation)


def times(rows, factor):
    """Every entry times a factor, as a text."""
    return [[sympy.sstr(to_sympy(x) * factor).replace("**", "^") for x in row] for row in rows]


def less(rows, off):
    """Something taken off every row."""
    return [[x if x is NEGATIVE_INFINITY else f"{exactly(x)} - ({off(row)})" for x in row] for row in rows]


def written(q, changed, *left_out, more=None):
    """The key with some matrices written otherwise and some left out."""
    lines = laid(q, {k: v for k, v in {**found(q), **changed}.items() if k not in left_out})
    return script(q, lines, more=more)


def scaled_before(q, **exponents):
    """The divisor, to a power, taken into matrices before the scores."""
    if (c := divisor(q)) is not None and "Q" in parts(q):
        p = found(q)
        early = {name: times(p[name], 1 / c**exponent) for name, exponent in exponents.items()} | {"S": p["S'"]}
        yield written(q, early, "S'")
        yield written(q, early)


def scaled_at_the_queries(q):
    return scaled_before(q, Q=1)


def folded_into_the_weights_of_the_queries(q):
    for attempt in islice(scaled_before(q, Q=1), 1):
        extra = script(q, {}, more={"W_Q": times(page(q.problem.givens["W_Q"]), 1 / divisor(q))}).more
        yield Attempt(attempt.answers, extra)


def scaled_at_queries_and_keys(q):
    half = sympy.Rational(1, 2)
    return scaled_before(q, Q=half, K=half)


def scaled_at_the_scores(q):
    if divisor(q) is not None:
        p = found(q)
        yield written(q, {"S": p["S'"]}, "S'")
        yield written(q, {"S": p["S'"]})


def last_scores(q):
    return next(role for role in ("M", "S'", "S") if role in found(q))


def another_constant_taken_off_each_row(q):
    last = last_scores(q)
    rows = found(q)[last]
    constants = {id(row): str(2 * i - 3) for i, row in enumerate(rows)}
    yield written(q, {last: less(rows, lambda row: constants[id(row)])})


def transposed_throughout(q):
    yield script(q, {name: turned(rows) for name, rows in key_of(q).items()})


def keys_times_queries_and_a_softmax_down_the_columns(q):
    if q.problem.derivation.last.token is None and not any("." in part.name for part in q.parts):
        p = found(q)
        yield written(q, {role: turned(p[role]) for role in ("S", "S'", "M", "A") if role in p})


def masked_before_scaled(q):
    if {"S'", "M"} <= parts(q):
        p = found(q)
        hidden = [[x is NEGATIVE_INFINITY for x in row] for row in p["M"]]
        masked = [
            [NEGATIVE_INFINITY if h else s for h, s in zip(*rows, strict=True)]
            for rows in zip(hidden, p["S"], strict=True)
        ]
        yield written(q, {"M": masked, "S'": p["M"]})


def masked_after_the_softmax_and_normalised_again(q):
    if "M" in parts(q):
        yield written(q, {}, "M")


def weights_by_hand(q, shifted):
    p = found(q)
    by_hand = unsimplified(p, last_scores(q), shifted=shifted)
    yield script(q, laid(q, {**texts(p), **by_hand}, texts_times))


def weights_not_simplified(q):
    yield from weights_by_hand(q, shifted=False)


def weights_not_simplified_and_shifted(q):
    yield from weights_by_hand(q, shifted=True)


def weights_by_log_sum_exp(q):
    p = found(q)
    yield script(q, laid(q, {**texts(p), "A": log_sum_exp(p[last_scores(q)])}, texts_times))


WAYS = (
    scaled_at_the_queries,
    folded_into_the_weights_of_the_queries,
    scaled_at_queries_and_keys,
    scaled_at_the_scores,
    another_constant_taken_off_each_row,
    transposed_throughout,
    keys_times_queries_and_a_softmax_down_the_columns,
    masked_before_scaled,
    masked_after_the_softmax_and_normalised_again,
    weights_not_simplified,
    weights_not_simplified_and_shifted,
    weights_by_log_sum_exp,
)


# ------------------------------------------------------------------------------------------------ full marks


def full_marks(q, attempt, policy):
    report = marked(q, attempt, policy)
    assert not mistakes(report)
    assert report.total == report.available > 0


@pytest.mark.covering(most=1)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_another_way_that_is_right(way):
    """On three questions that have a place for it; "strict" implies no line that is left out, so that it needs all."""
    names, begin = [*SETTINGS, *RANDOM], 3 * WAYS.index(way)
    tried = 0
    for k in range(len(names)):
        q = question(names[(begin + k) % len(names)])
        for attempt in way(q):
            tried += 1
            policy = POLICIES[tried % 4]
            complete = {part.name for part in q.parts} == set(attempt.answers)
            full_marks(q, attempt, policy if policy != "strict" or complete else "ecf")
        if tried >= 2:
            break
    assert tried > 1


# ------------------------------------------------------------------------------------------------ no way of working


SAME_VALUES = {"Q": [[1, 0], [2, 1], [0, -1]], "K": [[1, 1], [0, 2], [-1, 1]], "V": [[1, 2], [1, 2], [1, 2]]}
"""Whatever the weights are, the output is the value of all tokens."""


@pytest.mark.parametrize("projected", [False, True])
def test_scores_that_are_not_scaled_are_no_scaled_queries(projected):
    """Also where the output does not tell: queries scaled would show in the scores."""
    given = {**SAME_VALUES}
    if projected:
        ones = [[1, 0], [0, 1]]
        given = {"X": SAME_VALUES["Q"], "W_Q": ones, "W_K": [[0, 1], [1, 1]], "W_V": [[0, 0], [0, 0]]}
    q = symattn.derive("self_attention" if projected else "attention", **given).worksheet().question
    right = found(q)
    powers = [[sympy.exp(to_sympy(x)) for x in row] for row in right["S"]]
    weights = [[power / sum(row) for power in row] for row in powers]
    attempt = written(q, {"S'": right["S"], "A": [list(map(sympy.sstr, row)) for row in weights]})
    report = marked(q, attempt)
    [event] = mistakes(report)
    assert event.step == "S'"
    assert "C1" in ids(event)
    assert not [notice for notice in report.notices if notice.kind == "method"]


def kinds(q, attempt):
    return {notice.kind for notice in marked(q, attempt).notices} & {"layout", "method", "misread"}


def test_transposed_scores_alone_beside_another_mistake_are_no_other_way():
    """K Qᵀ for Q Kᵀ explains them as well; only what is made of them could show a softmax down the columns."""
    q = symattn.derive("self_attention", X=[[1, 2], [0, 1]], W_Q=[[1, 0], [1, 1]], W_K=[[0, 1], [2, 1]],
                       W_V=[[1, 1], [0, 3]]).worksheet().question  # fmt: skip
    p = pages(q.problem.derivation)
    wrong = {**p, "V": [[p["V"][0][0] + 5, p["V"][0][1]], p["V"][1]], "S": turned(p["S"])}
    attempt = script(q, {name: wrong[name] for name in ("Q", "K", "V", "S")})
    assert kinds(q, attempt) == set()
    assert len(marked(q, attempt).events) == 2


def test_entries_that_are_right_by_chance_are_no_transposed_layout():
    q = symattn.derive("attention", Q=[[1, 0], [0, 2]], K=[[1, 3], [4, 1]], V=[[1, 2], [3, 5]]).worksheet().question
    assert pages(q.problem.derivation)["S"] == [[1, 4], [6, 2]]
    assert kinds(q, script(q, {"S": [[7, 6], [9, 8]]})) == set()  # turned, one entry of four would be right


def test_a_single_score_that_became_0_was_not_shifted_where_others_were_not():
    q = symattn.derive("attention", Q=[[1, 1], [1, 2]], K=[[3, 1], [1, 1]], V=[[1, 2], [3, 5]], scale="none",
                       mask="causal").worksheet().question  # fmt: skip
    p = pages(q.problem.derivation)
    last = p["M"]
    slip = {**p, "M": [[0, last[0][1]], last[1]]}
    assert kinds(q, script(q, slip)) == set()
    shifted = {**p, "M": [[0, last[0][1]], [last[1][0] - max(last[1]), last[1][1] - max(last[1])]]}
    assert kinds(q, script(q, shifted)) == {"method"}


# ------------------------------------------------------------------------------------------------ what nobody asked for


def test_entries_not_asked_for_are_ignored():
    [sheet] = symattn.worksheet("attention", seed=1, problem="faded")
    q = sheet.question
    attempt = key_script(q)
    for part in q.parts:
        given = attempt.answers[part.name]
        for i, j, _ in given.cells():
            if (i, j) not in part.answer.cells:
                given = given.put(i, j, Entry("17", None, 17))
        attempt = Attempt({**attempt.answers, part.name: given})
    full_marks(q, attempt, "strict")
