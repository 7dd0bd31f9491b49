"""Wherever a mistake is named, its name speaks of the rows or the columns of the question that it was made in."""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import replace

import pytest
from commands import run
from scripts import drawn
from sentences import refused_saying
from test_grading_summary import ECF, result, row

from symattn.derivation.misconceptions import misconceptions, replayed
from symattn.marking.grading.by_exception import Entered
from symattn.marking.grading.gradebook import Gradebook
from symattn.marking.grading.record import Result
from symattn.marking.marker import mark
from symattn.marking.reports import report_json
from symattn.marking.trial import Trial, Tried, script
from symattn.page.document import Table
from symattn.page.writers.characters import plain
from symattn.teaching.problems import problem_type

TURNED = {"row": "column", "rows": "columns", "column": "row", "columns": "rows"}
PRODUCT = r"\b([A-Z]ᵀ?) ([A-Z]ᵀ?)(?!\w)"
"""Of matrices; entry by entry, A ∘ B is B ∘ A."""


def in_columns(name):
    """A name of the catalogue as somebody says it whose tokens are columns: (A B)ᵀ = Bᵀ Aᵀ, and rows are columns."""
    swapped = re.sub(PRODUCT, r"\2 \1", name)
    return re.sub(r"\b(rows?|columns?)\b", lambda found: TURNED[found[0]], swapped)


def bare(text):
    """A text without what writers choose: blanks, ᵀ as ^T, indices lowered or raised."""
    return re.sub(r"[\s_^{}()]", "", unicodedata.normalize("NFKC", text).replace("∘", "⊙"))


def class_with(*results):
    """The mistakes that a class's page lists, of one student for each result."""
    rows = (row(k, one) for k, one in enumerate(results, 1))
    page = Gradebook("Midterm", ECF, tuple(rows)).summary
    tables = [block for block in page.blocks if isinstance(block, Table) and "Mistake" in plain(block.header[0])]
    return {bare(plain(cells[0])) for table in tables for cells in table.rows}


def result_of(id, **orientation):
    """A result with one mistake; its question says how it lies, or does not, as earlier reports."""
    found = result("V", {"S": 0}, mistakes=[("S", "misconception", [id])])
    return replace(found, question={**found.question, **orientation})


@pytest.mark.parametrize("said", [{"orientation": "columns"}, {"orientation": "rows"}, {}])
def test_a_class_is_told_names_in_its_own_orientation(said):
    called = in_columns if said == {"orientation": "columns"} else str
    names = {f"{bare(called(one.name))}{id}" for id, one in misconceptions().items()}
    assert class_with(*(result_of(id, **said) for id in misconceptions())) == names


@pytest.mark.parametrize("notation", ["standard", "columns"])
def test_a_script_s_report_names_its_mistake_as_the_class_does(notation):
    """From a marked script to the class: X1 goes by columns where tokens are rows, T2 is K Qᵀ there."""
    question = drawn(notation=notation)
    assert question.problem is not None
    for wrong in replayed(question.problem.derivation, ["X1", "T2"]):
        report = mark(question, script(question, wrong.derivation))
        data = report_json(report)
        [mistake] = data["mistakes"]  # type: ignore[misc, union-attr]
        id, name = wrong.misconception.id, wrong.misconception.name
        called = name if notation == "standard" else in_columns(name)
        assert {c["id"]: c["name"] for c in mistake["candidates"]}[id] == called  # type: ignore[index, call-overload, union-attr]
        assert any(
            f"{bare(called)}{id}" in said for said in class_with(Result.of_json(json.loads(json.dumps(data)), "V"))
        )


@pytest.mark.parametrize("problem", ["full", "drills", "choice", "masks", "heatmap", "shapes"])
def test_every_question_knows_how_its_tokens_lie(problem):
    assert [drawn(problem=problem, notation=notation).orientation for notation in ("standard", "columns")] == [
        "rows",
        "columns",
    ]


def test_marking_tried_out_is_told_in_its_orientation():
    for notation, said in (("standard", "K Qᵀ"), ("columns", in_columns("K Qᵀ"))):
        spec = problem_type("full").spec({"notation": notation})
        page = Trial(spec, Tried(1, {"T2": ["found"]})).document()
        assert f"T2 {said}" in str(page)


def test_what_has_no_place_on_a_paper_is_named_as_it_would_be_there():
    for notation, called in (
        ("standard", "rows masked instead of columns"),
        ("columns", "columns masked instead of rows"),
    ):
        with refused_saying(re.escape(f"M9 ({called})")):
            Entered([drawn(notation=notation)]).say("M9")


def test_the_catalogue_lists_both_names():
    listed = run("list", "misconceptions", "X1").output
    assert "X1: softmax over columns" in listed
    assert re.search("for columns +softmax over rows", listed)
