"""The record of a class: rows survive being written and read, and nothing that many of them have is said twice.

The files in tests/frozen_marks were written by the release that had their format: they are the witness.
"""

import json
from collections import Counter
from pathlib import Path

import pytest
from exams import frozen

import symattn
from symattn.foundation.languages import Message, say, speaking
from symattn.marking.grading.gradebook import Change, Gradebook
from symattn.marking.grading.record import FORMAT, TABLES, of_format_1, read_record, record
from symattn.marking.grading.source import papers
from symattn.marking.marker.policy import Terms
from symattn.teaching.rendering import render

FOLDER = Path(__file__).parent.parent / "frozen_marks"
EXAM = """
title = "Midterm"
variants = 2
class = "class.csv"

[[question]]
type = "full"
mechanism = "attention"
level = "starter"

[[question]]
type = "full"
mechanism = "self-attention"
level = "starter"
"""
STUDENTS = 12


def kept(name):
    return (FOLDER / "format-1" / name).read_bytes()


def of_release_1():
    return json.loads(kept("marks.json"))


@pytest.fixture(scope="module")
def harsh(tmp_path_factory):
    """A class of which everybody writes sevens everywhere: the exam, the submissions and the folder of the marks."""
    folder = tmp_path_factory.mktemp("harsh")
    exam = frozen(folder, EXAM, [(f"Student {k}", f"s{k:03}") for k in range(1, STUDENTS + 1)])
    (folder / "in").mkdir()
    known = papers(exam)
    for entrant in known.entrants:
        answers = {
            str(number): {
                part.name: [["7"] * shape[1]] * shape[0]
                for part in question.parts
                for shape in [question.problem.derivation.value(part.answer.step).shape]
            }
            for number, question in enumerate(known.questions(entrant.sheet), 1)
        }
        text = json.dumps({"sheet": entrant.sheet, "answers": answers})
        (folder / "in" / f"{entrant.stem}.json").write_text(text, "utf-8")
    symattn.grade(exam, folder / "in", out=folder / "marked", forms=("text",), feedback=())
    return folder


def test_a_format_1_record_gives_its_gradebook_and_its_summary():
    data = of_format_1(of_release_1())
    rows = tuple(read_record(data))
    book = Gradebook(data["exam"]["title"], Terms.read(data["terms"]), rows)
    assert book.csv().encode("utf-8-sig") == kept("gradebook.csv")
    assert render(book.summary, "text")[1] == kept("summary.txt")
    assert data["runs"] == of_release_1()["runs"]


def test_a_format_1_record_keeps_every_answer_and_verdict():
    old, new = of_release_1(), of_format_1(of_release_1())
    for before, after in zip(old["rows"], new["rows"], strict=True):
        for one, other in zip(before["results"], after["results"], strict=True):
            assert other["answers"] == one["report"]["answers"]
            verdicts = [dict(zip(TABLES["verdicts"], verdict, strict=True)) for verdict in other["verdicts"]]
            assert [verdict | {"written": None} for verdict in verdicts] == [
                {head: verdict[head] for head in TABLES["verdicts"]} | {"written": None}
                for verdict in one["report"]["verdicts"]
            ]
            assert [verdict["written"] for verdict in verdicts] == [
                verdict["written"]["text"] for verdict in one["report"]["verdicts"]
            ]


def test_the_entries_of_a_mistake_are_those_of_its_verdicts_and_those_besides():
    """Also where a matrix has more columns than were asked for, on which there are no verdicts."""
    old = of_release_1()
    result = next(one for row in old["rows"] for one in row["results"] if one["report"]["mistakes"])
    mistake = result["report"]["mistakes"][0]
    mistake["entries"].append({"part": mistake["part"], "row": 1, "column": 9})
    for before, after in zip(old["rows"], of_format_1(old)["rows"], strict=True):
        for one, other in zip(before["results"], after["results"], strict=True):
            listed = [
                [(entry["part"], entry["row"], entry["column"]) for entry in mistake["entries"]]
                for mistake in one["report"]["mistakes"]
            ]
            besides, number = TABLES["mistakes"].index("besides"), TABLES["verdicts"].index("mistake")
            entries = [
                {tuple(verdict[:3]) for verdict in other["verdicts"] if verdict[number] == k}
                | set(map(tuple, made[besides]))
                for k, made in enumerate(other["mistakes"], 1)
            ]
            assert entries == list(map(set, listed))
    assert mistake["entries"][-1]["column"] == 9


def test_marks_in_a_folder_of_format_1_are_changes_of_those(harsh, tmp_path):
    exam, old = harsh / "midterm", of_release_1()
    old["exam"]["hash"] = papers(exam).hash
    (tmp_path / "marks.json").write_text(json.dumps(old), "utf-8")
    book = symattn.grade(exam, harsh / "in", out=tmp_path, forms=("text",), feedback=())
    before = [Change(**change) for change in old["changes"]]
    assert list(book.changes[: len(before)]) == before
    totals = {(row["id"], k): r["report"]["total"] for row in old["rows"] for k, r in enumerate(row["results"], 1)}
    told = {(change.student, change.question): change.old_total for change in book.changes[len(before) :]}
    assert told.items() <= totals.items()
    assert told
    now = json.loads((tmp_path / "marks.json").read_bytes())
    assert (now["format"], [run["run"] for run in now["runs"]]) == (FORMAT, [1, 2, 3])


def test_rows_survive_being_written_and_read():
    rows = read_record(of_format_1(of_release_1()))
    again = read_record(json.loads(json.dumps(record(rows))))
    assert again == rows
    notices = [notice.says for row in again for result in row.results for notice in result.notices]
    assert len(notices) > 5
    assert all(isinstance(says, Message) for says in notices)
    with speaking("de"):
        assert not {say(says) for says in notices} & set(notices)


def test_what_many_rows_have_is_said_once(harsh):
    text = (harsh / "marked" / "marks.json").read_text("utf-8")
    data = json.loads(text)
    assert len(data["rows"]) == STUDENTS
    assert len(data["questions"]) == 2
    said = Counter(json.dumps(message) for message in data["messages"])
    assert set(said.values()) == {1}
    assert text.count("Scaled dot-product attention") == 1
    assert '"policy"' not in text.partition('"rows"')[2].partition('"runs"')[0]


def test_a_class_of_two_thousand_that_is_all_wrong_has_ten_million_characters(harsh):
    data = json.loads((harsh / "marked" / "marks.json").read_bytes())
    verdicts = [verdict for row in data["rows"] for result in row["results"] for verdict in result["verdicts"]]
    assert len(verdicts) > 30 * STUDENTS
    lines = [line for line in (harsh / "marked" / "marks.json").read_text("utf-8").splitlines() if '"hash":' in line]
    assert max(map(len, lines)) < 5_000
