"""A belief without a name is one event where one rule gives every entry, and the event says which."""

from fractions import Fraction

import numpy as np
import pytest

from symattn.api import check, derive

Q, K, V = [[1, 2], [0, 1], [2, 3]], [[1, 0], [1, 1], [0, 3]], [[1, 0], [0, 4], [2, 1]]
SCORES = np.array(Q) @ np.array(K).T

RULES = {
    "every entry is off by the same factor": [SCORES * 7, SCORES * Fraction(3, 2), -3 * SCORES],
    "every entry is squared": [SCORES**2],
    "whole rows or columns are shifted": [np.roll(SCORES, k, axis) for k in (1, 2) for axis in (0, 1)],
    "whole rows or columns are in reverse order": [SCORES[::-1, ::-1]],
}


def scores_marked(scores, orientation="rows"):
    """The report on scores, with what follows from them: tokens as rows or as columns."""
    across = orientation == "columns"
    given = {name: np.transpose(m).tolist() if across else m for name, m in {"Q": Q, "K": K, "V": V}.items()}
    d = derive("attention", **given, scale="none", orientation=orientation)
    powers = np.exp((scores - scores.max(axis=1, keepdims=True)).astype(float))
    weights = powers / powers.sum(axis=1, keepdims=True)
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
