"""Exams as they are run: what is printed at once, whose each paper is, ids that agree, marks that add up."""

import csv
import json
import re

import pypdf
import pytest
from exams import exam_file, written
from trials import at_least_one

from symattn.derivation.misconceptions import misconceptions
from symattn.foundation.identity import is_identity
from symattn.foundation.languages import say, speaking
from symattn.page.presentation import presented
from symattn.page.writers.text import write
from symattn.teaching.exam.deploy import collections, documents
from symattn.teaching.exam.frozen_exam import Copy
from symattn.teaching.exam.papers import paper, separator
from symattn.teaching.rendering import formats, render

QUESTIONS = """
[[question]]
type = "choice"
mechanism = "attention"
items = 2

[[question]]
type = "full"
mechanism = "attention"
level = "starter"
points = 12
"""
ONE = '[[question]]\ntype = "choice"\nmechanism = "attention"\nitems = 1\n'
CLASS = [("Ada Lovelace", "s1", "B2"), ("Alan Turing", "s2", "A3"), ("Emmy Noether", "s3", "A1")]
IN_SEAT_ORDER = ["s3", "s2", "s1"]
ID = re.compile(r"\b[0-9A-Z]{4}-[0-9A-Z]{4}\b")


def exam(folder, head="", forms=("markdown",), seed=5, questions=QUESTIONS):
    """An exam made for the class: what it is, and its folder."""
    text = f'title = "Midterm"\nclass = "class.csv"\nvariants = 3\n{head}\n{questions}'
    return written(exam_file(folder, text, CLASS), forms, seed)


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    return exam(tmp_path_factory.mktemp("printed"), "separators = true", ("pdf", "markdown"))


def pages(path):
    return [" ".join(page.extract_text().split()) for page in pypdf.PdfReader(path).pages]


def given_out(folder):
    """Who has which paper, as the list beside the papers says."""
    with (folder / "assignment.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def ids(text):
    return {found for found in ID.findall(text) if is_identity(found)}


def read(path):
    return path.read_text("utf-8")


# ------------------------------------------------------------------------------------------------ what is printed


def in_parts(path):
    """What is bound, told by the numbers that stand on the pages: where each part begins, from 0, and its pages."""
    parts = []
    for position, text in enumerate(pages(path)):
        found = re.search(r"page (\d+) of (\d+)", text)
        if found is None:
            assert not text, "a page without a number is a blank one"
            assert position % 2 == 1
        elif found[1] == "1":
            parts.append((position, [text]))
        else:
            parts[-1][1].append(text)
        if found:
            assert len(parts[-1][1]) == int(found[1]) <= int(found[2])
    assert all(f"page 1 of {len(part)}" in part[0] for _, part in parts)
    return parts


def test_papers_are_bound_in_the_order_of_the_seats_on_leaves_of_their_own(printed):
    _, folder = printed
    given = {row["id"]: row for row in given_out(folder)}
    parts = in_parts(folder / "papers.pdf")
    assert all(begin % 2 == 0 for begin, _ in parts)
    assert len(parts) == 2 * len(CLASS)
    for number, (student, before, bound) in enumerate(zip(IN_SEAT_ORDER, parts[::2], parts[1::2], strict=True), 1):
        row = given[student]
        for text in (before[1][0], bound[1][0]):
            assert all(said in text for said in (row["name"], student, row["seat"], row["paper"]))
        assert f"Copy {number} of {len(CLASS)}" in before[1][0]
        assert bound[1] == pages(folder / f"{row['file']}.pdf")
        assert all(row["paper"] in page for page in bound[1])


@pytest.mark.slow
def test_keys_and_answers_are_bound_in_the_order_of_the_overview(printed):
    made, folder = printed
    keys = in_parts(folder / "keys.pdf")
    assert all(begin % 2 == 0 for begin, _ in keys)
    assert [part for _, part in keys] == [pages(folder / f"keys/{name}-key.pdf") for name in made.ids]
    answers = in_parts(folder / "answers.pdf")
    assert [ids(part[0]) for _, part in answers] == [{name} for name in made.ids]
    assert all(len(part) <= 2 for _, part in answers)
    assert "Common wrong answers" in read(folder / "diagnosis.md")
    assert not any("Common wrong answers" in read(key) for key in folder.glob("keys/*.md"))


@pytest.mark.slow
def test_parity_holds_for_papers_of_any_length(tmp_path):
    """Papers of one, two, three … pages; no separators."""
    for blank in (0, 1):
        folder = tmp_path / str(blank)
        folder.mkdir()
        head = f"blank_pages = {blank}\nnew_page = false\nfillable = {str(bool(blank)).lower()}"
        made, out = exam(folder, head, ("pdf",), 1, ONE)
        parts = in_parts(out / "papers.pdf")
        assert [begin % 2 for begin, _ in parts] == [0] * len(CLASS)
        assert len({len(part) for _, part in parts}) == 1
        assert "/AcroForm" not in pypdf.PdfReader(out / "papers.pdf").root_object
        single = pypdf.PdfReader(out / "papers" / "001-s1.pdf")
        assert ("/AcroForm" in single.root_object) is bool(blank)
        assert {name for _, part in parts for name in ids(part[0])} == {made.ids[p] for p in made.given_out}


def test_the_overview_says_how_many_pages_every_paper_has(printed):
    made, folder = printed
    told = dict(re.findall(r"(?m)^\| \*\*(\S+)\*\* \| (\d+) \| \d+ \| [\d.\\]+ \|$", read(folder / "overview.md")))
    printed_papers = {row["paper"]: str(len(pages(folder / f"{row['file']}.pdf"))) for row in given_out(folder)}
    assert told.keys() == set(made.ids)
    assert printed_papers.items() <= told.items()


def test_codes_have_their_names_where_they_come_first(printed):
    """In the table that tells mistakes by their weights, and for every mistake that is told of with no table."""
    _, folder = printed
    table = read(folder / "diagnosis.md").split("\n---\n")[1]
    codes = re.findall(r"\b[A-Z]\d+\b", table)
    assert len(codes) >= 15
    for code in codes:
        assert f"{code} ({misconceptions()[code].name})" in table


def test_keys_for_markers_end_with_what_is_marked(printed):
    _, folder = printed
    for path in at_least_one(folder.glob("keys/*.md")):
        assert not re.search("(?i)difficulty|content hash|made with|load", read(path))


def test_without_a_class_there_is_one_copy_of_each_paper(tmp_path):
    made, _ = written(exam_file(tmp_path, f"variants = 2\nseparators = true\n{ONE}"), ("pdf",), 1)
    parts = in_parts(tmp_path / "out" / "papers.pdf")
    assert [ids(part[0]) for _, part in parts] == [{name} for name in made.ids for _ in range(2)]


# ------------------------------------------------------------------------------------------------ ids


def test_one_id_stands_on_papers_keys_answers_and_in_every_list(printed):
    made, folder = printed
    frozen = json.loads(read(folder / "exam.json"))
    known = {paper["id"] for paper in frozen["papers"]}
    assert known == set(made.ids)
    for name in ("overview.md", "answers.md", "diagnosis.md"):
        assert ids(read(folder / name)) == known
    assert {path.name.removesuffix("-key.md") for path in folder.glob("keys/*.md")} == known
    lines = read(folder / "overview.md").splitlines()
    rows = [line for line in lines if line.startswith("| **") and ("(s" in line or "not handed out" in line)]
    assert len(rows) == len(known)
    for row in given_out(folder):
        assert ids(read(folder / f"{row['file']}.md")) == {row["paper"]} <= known
        [line] = [line for line in rows if row["paper"] in line]
        assert f"{row['name']} ({row['id']})" in line


# ------------------------------------------------------------------------------------------------ marks, recipes


def marks_of(text):
    """The row of marks in the table on the first page."""
    [row] = [line for line in text.splitlines() if line.startswith("| **Marks** |")][:1]
    return [int(cell) for cell in row.split("|")[2:-1]]


def test_the_table_of_marks_adds_up_to_what_the_parts_are_worth(printed):
    made, folder = printed
    for path in at_least_one(folder.glob("papers/*.md")):
        text = read(path)
        *each, whole = marks_of(text)
        parts = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
        asked = [[int(n) for n in re.findall(r"^### .*\\\[(\d+)\\\]", part, re.MULTILINE)] for part in parts]
        assert [sum(found) for found in asked if found] == each
        assert sum(each) == whole == sum(q.marks for q in made.questions(0))
        assert f"2 questions and {whole} marks" in text


def test_many_questions_have_several_tables_and_one_total(printed):
    made, _ = printed
    questions = made.questions(0) * 7
    text = render(paper(made.spec, Copy(0, made.ids[0]), questions), "markdown")[1].decode()
    rows = [line for line in text.splitlines() if line.startswith("| **Marks** |")]
    numbers = [int(cell) for row in rows for cell in row.split("|")[2:-1]]
    assert len(rows) == 2
    assert numbers == [*[q.marks for q in questions], sum(q.marks for q in questions)]


def test_no_page_of_a_student_says_how_it_was_made(printed):
    made, folder = printed
    page = dict(documents(made))["papers/001-s1"]()
    texts = [render(page, form)[1].decode() for form in formats() if "pdf" not in form]
    for text in (*texts, *pages(folder / "papers.pdf")):
        assert "symattn worksheet" not in text
        assert "--seed" not in text


# ------------------------------------------------------------------------------------------------ languages


def test_everything_is_said_in_the_language_of_the_exam(tmp_path):
    language = "de"
    made, _ = exam(tmp_path, f'language = "{language}"', ("text",), questions=ONE)
    copy = Copy(0, made.ids[0], "Ada", "s1", "A1")
    found = [make() for _, make in documents(made)] + [d for _, listed in collections(made) for d in listed()]
    text = "\n".join(write(presented(d)) for d in (*found, separator(made.spec, copy, 1, 5)))
    for english in ("Paper", "Awarded", "Copies", "not handed out", "Answers", "Copy", "Students"):
        assert not re.search(rf"\b{english}\b", text)
    with speaking(language):
        assert say("Paper {paper}", paper=made.ids[0]) in text
        assert say("Copy {number} of {count}", number=1, count=5) in text
