"""Faults that people have reported of other programs, and ways in which they hand work in: none of them is met here.

Each case of public_cases.json names its fault and where it was seen. What is right was worked out with NumPy, apart
from symattn: `full`, everything is earned; `at least`, so many marks; `parts`, those of some parts; `wrong`, the
entries that are wrong, from 0, and no others; `one belief`, whatever it leads to is told as one, and `key` says what
is right.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import symattn
from symattn.teaching.exam.class_list import read_class

CASES = json.loads(Path(__file__).with_name("public_cases.json").read_text("utf-8"))


def of_kind(key):
    return [pytest.param(case, id=case["id"]) for case in CASES if key in case]


def answered(case, folder):
    """The derivation that a case is about, and its report."""
    if "problem" in case:
        (folder / "problem.toml").write_text(case["problem"], "utf-8")
        (folder / case["file"]).write_text(case["content"], "utf-8")
        d = symattn.derive(folder / "problem.toml")
        [report] = symattn.check(d, folder / case["file"]).reports
    else:
        d = symattn.derive(case["mechanism"], steps=case.get("steps", ()), **case["givens"], **case.get("settings", {}))
        [report] = symattn.check(d, case["answers"]).reports
    return d, report


@pytest.mark.parametrize("case", [*of_kind("problem"), *of_kind("givens")])
def test_what_somebody_met_elsewhere_is_marked_rightly(case, tmp_path):
    expected = case["expect"]
    d, report = answered(case, tmp_path)
    marks = [(part, given.given, given.of) for given in report.marks for part in given.parts]
    earned, available = sum(given for _, given, _ in marks), sum(of for *_, of in marks)
    assert earned >= expected.get("at least", available if "full" in expected else 0)
    for name, expected_marks in expected.get("parts", {}).items():
        own = [(given, of) for part, given, of in marks if part == name]
        assert [sum(column) for column in zip(*own, strict=True)] == expected_marks
    wrong = {}
    for verdict in report.verdicts:
        if verdict.state == "wrong":
            wrong.setdefault(verdict.part, []).append([verdict.i, verdict.j])
    assert wrong == expected.get("wrong", wrong if "one belief" in expected else {})
    if "one belief" in expected:
        assert len(report.events) == 1
        for step, rows in expected["key"].items():
            result = d[step].result
            own = [[float(result[i, j]) for j in range(len(row))] for i, row in enumerate(rows)]
            assert own == [pytest.approx(row, abs=2e-4) for row in rows]


@pytest.mark.parametrize("case", of_kind("text"))
def test_a_class_list_is_read_as_it_was_exported(case, tmp_path):
    path = tmp_path / "class.csv"
    path.write_bytes(case["text"].encode(case["encoding"]))
    assert [[student.name, student.id] for student in read_class(path)] == case["expect"]["students"]
