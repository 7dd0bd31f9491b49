"""Nobody is accused who is right, however they round on the way; and what is wrong does not pass as rounding."""

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import floats, softmax
from scripts import decimals, drawn, page
from trials import tries

import symattn
from symattn.derivation.derivation import is_short
from symattn.exact import Matrix
from symattn.marking.attempt import Attempt
from symattn.marking.marker import mark
from symattn.marking.marker.policy import POLICIES
from symattn.marking.marker.script import Script
from symattn.marking.marker.trace import Trace
from symattn.marking.submissions.entries import grid
from tests.marking.students import Slip, Style, random_style, right_script, script

SUBJECTS = ("self_attention", "causal_self_attention", "multi_head_attention", "layer_norm", "attention_gradient")
GIVEN = {"Q": [[1, 0, 2], [0, 1, 1]], "K": [[2, 1, 0], [0, 1, 1]], "V": [[1, 0], [2, 3]]}


@tries(8)
@given(st.sampled_from(SUBJECTS), st.integers(0, 10**6))
def test_no_right_script_is_accused(name, seed):
    asked = drawn(name)
    style = random_style(Random(seed), [part.name for part in asked.parts])
    report = mark(asked, right_script(asked, style))
    assert not [event for event in report.events if event.kind != "rounding"], style
    assert report.total == report.available, style


@tries(8)
@given(st.integers(0, 10**6), st.sampled_from([Decimal("-1"), Decimal(1), Decimal("0.1")]))
def test_a_slip_does_not_pass_as_rounding(seed, off):
    asked = drawn("self_attention")
    rng = Random(seed)
    style = Style(places=rng.randint(2, 6), powers=rng.choice([None, 2, 3]), roots=rng.choice([None, 2, 3]))
    step = rng.choice(["Q", "S", "S'", "A", "Z"])
    rows, columns = asked.problem.derivation[step].result.shape
    slip = Slip(step, (rng.randrange(rows), rng.randrange(columns)), lambda x: x + off)
    report = mark(asked, script(asked, asked.problem.derivation, style, slip))
    assert [event for event in report.events if event.kind != "rounding"], (style, slip)


def checked(**written):
    d = symattn.derive("attention", **GIVEN)
    page = {name: [[str(x) for x in row] for row in d[name].result.rows] for name in ("S", "S'", "A", "Z")}
    return symattn.check(d, page | written)


@pytest.mark.parametrize("root", ["1.73", "1.732", "1.7"])
def test_a_root_may_be_rounded_to_two_places(root):
    rows = [[f"{Decimal(x) / Decimal(root):.3f}" for x in row] for row in ((2, 2), (1, 2))]
    assert checked(**{"S'": rows}).right is (root != "1.7")


def test_a_quotient_of_decimals_is_as_near_as_its_decimals():
    """e^(2/√3) = 3.17 and e^(1/√3) = 1.78, so that the second row is 1.78/4.95 and 3.17/4.95."""
    assert checked(A=[["1/2", "1/2"], ["1.78/4.95", "3.17/4.95"]]).right
    assert not checked(A=[["1/2", "1/2"], ["1.18/4.95", "3.17/4.95"]]).right


@pytest.mark.parametrize("hidden", ["-10^9", "-1e9", "-10000", "-1000000000", "-inf"])
def test_a_huge_negative_score_hides_as_infinity_does(hidden):
    d = symattn.derive("causal_self_attention", X=[[1], [2]], W_Q=[[1]], W_K=[[1]], W_V=[[1]])
    page = {
        name: [[str(x) for x in row] for row in d[name].result.rows]
        for name in ("Q", "K", "V", "S", "S'", "M", "A", "Z")
    }
    page["M"][0][1] = hidden
    assert symattn.check(d, page).right


@pytest.mark.parametrize(("value", "typed"), [("2.204", "2·204"), ("160000", "160,000"), ("4", "4 (5)")])
def test_the_reading_that_is_right_is_taken_and_told(value, typed):
    d = symattn.derive("attention", Q=[[1]], K=[[1]], V=[[symattn.exact.exact(value)]], scale="none")
    checked = symattn.check(d, {"S": [[1]], "A": [[1]], "Z": [[typed]]})
    assert checked.right
    assert "was read as" in str(checked.reports[0].notices)


def test_a_person_looks_where_no_reading_is_right():
    d = symattn.derive("attention", Q=[[1]], K=[[1]], V=[[7]], scale="none")
    checked = symattn.check(d, {"S": [[1]], "A": [[1]], "Z": [["4 (5)"]]})
    assert not checked.right
    assert [notice.kind for notice in checked.reports[0].notices] == ["human"]


# ------------------------------------------------------------------------------------ the places that are shown

Q, K, V = (
    [[1, 0, 2, 1], [0, 1, 1, 0], [2, 1, 0, 1]],
    [[2, 1, 0, 0], [0, 1, 1, 2], [1, 1, 0, 1]],
    [[1, -2], [4, 3], [-1, 2]],
)


@cache
def exact_scores():
    return symattn.derive("attention", Q=Q, K=K, V=V)


def typed(matrix, places):
    return [[f"{x:.{places}f}" for x in row] for row in matrix]


def by_numpy(places):
    """Exact scores and weights of so many places, as they are written; and what follows from them."""
    scores = np.array(Q) @ np.array(K).T
    weights = np.round(softmax(scores / 2), places)
    rows = {"S": typed(scores, 0), "S'": typed(scores / 2, 1), "A": typed(weights, places)}
    return rows, np.round(weights @ np.array(V), places)


def told(report):
    """What is said of an output: nothing, that it was rounded on the way, or that it is wrong."""
    if any(event.kind != "rounding" for event in report.events):
        return "wrong"
    return "rounded" if any("rounded" in verdict.flags for verdict in report.verdicts) else ""


@pytest.mark.covering(most=2)
@pytest.mark.parametrize(("places", "at", "sign"), [(2, (0, 1), -1), (3, (1, 0), 1), (4, (2, 1), -1), (2, (2, 1), 1)])
def test_outputs_have_the_places_of_the_weights(places, at, sign):
    """One unit of the last place is rounding; ten are not without a word; forty are wrong."""
    page, output = by_numpy(places)
    found = {}
    for units in (0, 1, 10, 40):
        other = output.copy()
        other[at] += sign * units / 10**places
        found[units] = told(symattn.check(exact_scores(), page | {"Z": typed(other, places)}).reports[0])
    assert (found[0], found[1], found[40]) == ("", "", "wrong")
    assert found[10] in ("rounded", "wrong")


@pytest.mark.parametrize("places", [4, 6, 7])
def test_rounded_products_of_weights_as_they_are_written_are_no_rounding_on_the_way(places):
    """Weights of two places, gone on with as they stand; each product is rounded to the places of the output."""
    page, _ = by_numpy(2)
    sevenths = symattn.derive("attention", Q=Q, K=K, V=[[Fraction(x, 7) for x in row] for row in V])
    weights = [[Decimal(x) for x in row] for row in page["A"]]
    output = [
        [sum(round(a * x / 7, places) for a, x in zip(row, column, strict=True)) for column in zip(*V, strict=True)]
        for row in weights
    ]
    exactly = [[sum(Fraction(a) * x / 7 for a, x in zip(row, c, strict=True)) for c in zip(*V, strict=True)]
               for row in weights]  # fmt: skip
    assert [[str(x) for x in row] for row in output] != [[f"{float(x):.{places}f}" for x in row] for row in exactly]
    assert told(symattn.check(sevenths, page | {"Z": [[str(x) for x in row] for row in output]}).reports[0]) == ""


@pytest.mark.parametrize(("d_k", "factor", "fine"), [
    (3, "0.577", True), (3, "0.58", True), (5, "0.45", True), (5, "0.447", True), (2, "0.71", True), (9, "0.33", True),
    (3, "0.6", False), (5, "0.4", False), (3, "0.56", False),
])  # fmt: skip
@pytest.mark.covering(product=False)
@pytest.mark.parametrize("places", [1, 2, 3])
def test_scores_times_a_rounded_inverse_are_a_matter_of_precision(d_k, factor, fine, places):
    scores = np.array([[7, -4], [11, 9]])
    queries = [[int(x) for x in row] + [0] * (d_k - 2) for row in scores]
    keys = [[1, 0] + [0] * (d_k - 2), [0, 1] + [0] * (d_k - 2)]
    d = symattn.derive("attention", Q=queries, K=keys, V=[[1], [2]])
    rows = [[str(round(Decimal(int(x)) * Decimal(factor), places)) for x in row] for row in scores]
    answers = {"S": typed(scores, 0), "S'": rows}
    [report] = symattn.check(d, answers).reports
    assert (told(report) != "wrong") is fine
    if told(report) == "rounded":
        [strict] = symattn.check(d, answers, policy="uk").reports
        assert sum(notice.marks for notice in strict.notices if notice.kind == "precision") == 1


@pytest.mark.parametrize(("output", "fine"), [
    (["0.7143", "-0.8571"], True), (["0.7140", "-0.8568"], True), (["0.72", "-0.86"], True),  # 1/28 as 0.0357 and 0.036
    (["0.8000", "-0.9600"], False), (["0.7143", "-0.8071"], False), (["0.7143", "-0.7571"], False),  # as 0.04; slips
])  # fmt: skip
def test_noughts_at_the_front_of_an_inverse_are_no_places_of_it(output, fine):
    """Weighted values of linear attention over their divisors: 20/28 and −24/28 in the first row."""
    d = symattn.derive(
        "linear_attention", Q=[[1, 1], [0, 2]], K=[[2, 2], [1, 1], [0, 2]], V=[[-1, -2], [1, 2], [3, -2]]
    )
    answers = {step.name: [[str(x) for x in row] for row in step.result.rows] for step in d}
    assert (answers["above"][0], answers["below"][0], answers["Z"][0]) == (["20", "-24"], ["28"], ["5/7", "-6/7"])
    [report] = symattn.check(d, answers | {"Z": [output, answers["Z"][1]]}).reports
    assert (told(report) != "wrong") is fine


# ------------------------------------------------------------------------------------ what a line shares

ONE_SUM = [  # of the powers of 1 and 0: e/(e + 1) = 0.7311, 2.72/3.72 = 0.7312, 2.71/3.71 = 0.7305, 0.37/1.37 = 0.2701
    (["0.7311", "0.2689"], ""), (["0.7312", "0.2688"], ""), (["0.7305", "0.2695"], "rounded"),
    (["0.7299", "0.2701"], "rounded"), (["0.7384", "0.2689"], "wrong"), (["0.7311", "0.2716"], "wrong"),
    (["0.7350", "0.2689"], "wrong"), (["0.7290", "0.2710"], "rounded"),  # the second is what the first leaves of 1
]  # fmt: skip


@pytest.mark.parametrize(("weights", "says"), ONE_SUM)
def test_all_weights_of_a_token_come_of_one_sum(weights, says):
    d = symattn.derive("attention", Q=[[1], [0]], K=[[1], [0]], V=[[4], [8]], scale="none")
    assert np.allclose(softmax(np.array([1, 0])), [0.7311, 0.2689], atol=5e-5, rtol=0)
    answers = {"S": [["1", "0"], ["0", "0"]], "A": [weights, ["1/2", "1/2"]]}
    assert told(symattn.check(d, answers).reports[0]) == says


@pytest.mark.parametrize(("weights", "says"), [
    (["0.881", "0.119"], ""), (["0.8802", "0.1198"], "rounded"),
    (["0.890", "0.119"], "wrong"), (["0.873", "0.119"], "wrong"),
])  # fmt: skip
def test_all_powers_of_a_row_have_one_base(weights, says):
    """e⁴ and e² give 0.8808 and 0.1192, those of 2.71 give 0.8802 and 0.1198; 2.72⁴ beside 2.71² is no row."""
    for base, shares in ((math.e, [0.8808, 0.1192]), (2.71, [0.8802, 0.1198])):
        powers = np.array([base**4, base**2])
        assert np.allclose(powers / powers.sum(), shares, atol=5e-5, rtol=0)
    d = symattn.derive("attention", Q=[[1], [0]], K=[[4], [2]], V=[[4], [8]], scale="none")
    answers = {"S": [["4", "2"], ["0", "0"]], "A": [weights, ["1/2", "1/2"]]}
    assert told(symattn.check(d, answers).reports[0]) == says


@pytest.mark.parametrize(("entries", "says"), [
    (["1.0000", "-1.0000"], ""), (["0.9900", "-0.9900"], "rounded"), (["0.9990", "-0.9990"], "rounded"),  # 1/3 as 0.33
    (["1.0000", "-0.9900"], "wrong"), (["0.9900", "-1.0000"], "wrong"), (["0.9990", "-0.9900"], "rounded"),
])  # fmt: skip
def test_all_entries_of_a_row_are_normed_by_one_root(entries, says):
    """Of 3 and −3, whose root is 3; of two that are both off, nobody says which."""
    d = symattn.derive("layer_norm", X=[[3, -3]])
    answers = {"N_mean": [["0"]], "N_var": [["9"]], "N": [entries]}
    assert told(symattn.check(d, answers).reports[0]) == says


@pytest.mark.parametrize(("off", "wrong"), [("0.000", False), ("0.041", True), ("-0.083", True), ("0.124", True)])
def test_a_row_of_a_gradient_has_one_mean(off, wrong):
    """Weights of three places may be used with two of them, but for all of the row."""
    asked = drawn("attention_gradient", 3)
    style, at = Style(places=3, carries="all"), (0, 0)
    slip = Slip("dS'", at, lambda x: x + Decimal(off))
    answers = script(asked, asked.problem.derivation, style).answers
    slipped = script(asked, asked.problem.derivation, style, slip).answers
    [part] = [part.name for part in asked.parts if getattr(part.answer, "step", "") == "dS'"]
    report = mark(asked, Attempt({**answers, part: slipped[part]}))
    assert bool([event for event in report.events if event.kind != "rounding"]) is wrong


@pytest.mark.parametrize(("places", "off", "wrong"), [(4, "0", False), (4, "0.0206", True)])
def test_what_counts_as_blank_was_written_all_the_same(places, off, wrong):
    """Half of 4.128, which is right and stands before it, is 2.064, however that was rounded on the way."""
    asked = drawn("attention_gradient", 3)
    style, at = Style(places=places), (0, 1)
    slip = Slip("dS", at, lambda x: x + Decimal(off))
    right, slipped = (script(asked, asked.problem.derivation, style, one).answers for one in (None, slip))
    before, part = (p.name for p in asked.parts if getattr(p.answer, "step", "") in ("dS'", "dS"))
    assert right[before][at].value == pytest.approx(4.128, abs=1e-3)
    report = mark(asked, Attempt({**right, part: slipped[part]}))
    assert bool([event for event in report.events if event.kind != "rounding"]) is wrong


@dataclass(frozen=True)
class Various(Style):
    """Every number on the way to as many places as it happens, where a style says −1."""

    seed: int = 0

    def rounded(self, x, places):
        if places == -1:
            places = Random(f"{self.seed} {x}").choice([None, 2, 2, 3, 3, 4, 5])
        return super().rounded(x, places)


@tries(8)
@given(st.sampled_from(SUBJECTS), st.integers(0, 10**6))
def test_nobody_is_accused_who_rounds_each_number_otherwise(name, seed):
    rng = Random(seed)
    style = Various(
        places=rng.randint(3, 6), powers=-1, sums=rng.choice([None, -1]), roots=-1, quotients=-1, seed=seed,
        cut=rng.random() < 0.2, carries=rng.choice(["written", "all"]), shifted=rng.random() < 0.2,
        inverse=rng.random() < 0.2,
    )  # fmt: skip
    report = mark(drawn(name), right_script(drawn(name), style))
    assert not [event for event in report.events if event.kind != "rounding"], style


def test_a_rounded_output_is_told_in_words_and_costs_precision_once():
    page, output = by_numpy(2)
    rows = typed(output, 2)
    rows[0][1] = str(Decimal(rows[0][1]) - Decimal("0.05"))
    found = symattn.check(exact_scores(), page | {"Z": rows}, policy="uk")
    assert told(found.reports[0]) == "rounded"
    assert found.reports[0].total == found.reports[0].available - 1
    assert "fewer places than are shown" in str(found)


@pytest.mark.parametrize(("name", "places"), [("ecf", 2), ("ib", 3), ("uk", 4), ("strict", 2)])
def test_a_right_answer_alone_earns_its_share_whatever_its_last_digit(name, places):
    _, output = by_numpy(places)
    share, totals = Fraction(3, 5), set()
    for answer in (output, floats(exact_scores()["Z"].result)):
        [report] = symattn.check(exact_scores(), {"Z": typed(answer, places)}, policy=name).reports
        assert all(verdict.accepted for verdict in report.verdicts if verdict.part == "Z")
        assert report.total == share * report.available - sum(notice.marks for notice in report.notices)
        totals.add(report.total)
    assert len(totals) == 1


def test_digits_of_a_machine_claim_less_than_those_of_a_person():
    """A float32 is printed with some eight digits, of which the last are noise; a person's eight are meant."""
    page, output = by_numpy(8)
    assert told(symattn.check(exact_scores(), page | {"Z": typed(output, 8)}).reports[0]) == ""
    output[0, 1] += 1e-7
    assert told(symattn.check(exact_scores(), page | {"Z": typed(output, 8)}).reports[0]) != ""
    scores = (np.array(Q) @ np.array(K).T / 2).astype(np.float32)
    weights = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    machine = {"A": [[str(x) for x in row] for row in weights]}
    off = np.nextafter(np.nextafter(weights @ np.array(V, dtype=np.float32), np.float32(9)), np.float32(9))
    rows = machine | {"Z": [[str(x) for x in row] for row in off]}
    assert told(symattn.check(exact_scores(), page | rows).reports[0]) == ""


# ------------------------------------------------------------------------------------------------ long derivations


def test_what_follows_from_rounded_weights_stays_as_short_as_the_key():
    d = symattn.worksheet("encoder", problem="full", seed=7)[0].question.problem.derivation
    rounded = [[decimals(4)(x) for x in row] for row in page(d.value("A^1"))]
    trace = Trace(Script(d, {"A^1": grid(rounded)}, frozenset({d.last.name}), exact=False), POLICIES["ecf"])
    results = {name: m for name, m in trace.carried.items() if isinstance(m, Matrix)}
    assert {step.name for step in d} <= set(results)
    assert [name for name, m in results.items() if not all(map(is_short, m))] == []
    before, after = (floats(results[name]) for name in ("R1^1", "N1^1"))
    centred = before - before.mean(axis=1, keepdims=True)
    assert np.allclose(after, centred / np.sqrt((centred**2).mean(axis=1, keepdims=True)), rtol=0, atol=1e-9)
