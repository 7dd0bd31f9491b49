"""A midterm from end to end: eight hand-ins, three of them hostile, and one command.

Marks are those that a mistake must cost by rules.md 3.4; what is written is worked out by SymPy (`test_grading`).
"""

import csv
import io
import json
import zipfile
from pathlib import Path

import pytest
from commands import run
from test_grading import WORTH, made_exam, worked
from test_grading_files import overlapping, zipped

from symattn.marking.attempt import Attempt
from symattn.marking.grading.source import papers
from symattn.marking.submissions import fill, grid
from symattn.teaching.exam.deploy import copies, thawed
from symattn.teaching.exam.papers import paper
from symattn.teaching.sheets import render

SECOND = '[[question]]\ntype = "full"\nmechanism = "attention"\nlevel = "starter"\nscale = "sqrt(d_k)"\n'


def as_json(work) -> bytes:
    return json.dumps({"answers": {f"q{number}": steps for number, steps in enumerate(work, 1)}}).encode()


def as_text(work) -> bytes:
    lines = []
    for number, steps in enumerate(work, 1):
        lines.append(f"Question {number}")
        for name, rows in steps.items():
            lines += ["", f"{name} =", *(" | ".join(row) for row in rows)]
    return "\n".join([*lines, ""]).encode()


def as_notebook(work) -> bytes:
    cells = [{"cell_type": "markdown", "metadata": {}, "source": as_text(work).decode()}]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


FORMS = {"my answers.json": as_json, "notes.txt": as_text, "Untitled.ipynb": as_notebook}
"""How each is read is tried in `test_submissions_files` and beside it."""
KINDS = [
    ("slip", "not scaled"),
    ("transposed weights", "slip"),
    ("no output", "right"),
    ("right", "transposed weights"),
]
"""Of the students 1 to 4, one in each form and the last in the paper's own; 5 is entered from paper, 6 to 8 are
hostile."""


def filled_paper(exam: Path, number: int, work) -> bytes:
    """The paper that somebody was given, in Markdown, filled in."""
    made, _ = thawed((exam / "exam.json").read_text(encoding="utf-8"), exam / "exam.json")
    _, copy = list(copies(made))[number - 1]
    questions = made.questions(copy.paper)
    blank = render(paper(made.spec, copy, questions), "markdown")[1].decode()
    attempts = [Attempt({name: grid(rows) for name, rows in steps.items()}) for steps in work]
    return fill(blank, questions, attempts).encode()


@pytest.mark.slow
def test_everybody_gets_her_own_mark_whatever_three_others_hand_in(tmp_path):
    exam = made_exam(tmp_path, 8, 2, SECOND)
    known = papers(exam)
    first, *_, bomber, thief, breaker = known.entrants
    works = [
        [worked(question, kind) for question, kind in zip(known.questions(e.sheet), kinds, strict=True)]
        for e, kinds in zip(known.entrants, KINDS, strict=False)
    ]
    handed = {
        (k, name): form(work) for k, ((name, form), work) in enumerate(zip(FORMS.items(), works, strict=False), 1)
    }
    inside = {
        "photo.png": b"\x89PNG\r\n\x1a\n",
        "__MACOSX/._paper.md": b"",
        "paper.md": filled_paper(exam, 4, works[3]),
    }
    handed[4, "everything.zip"] = zipped(tmp_path / "4.zip", **inside)
    handed[bomber.number, "work.zip"] = overlapping(tmp_path / "bomb.zip", 700)
    listed = f"submission_70001:\n  :submitters:\n  - :name: {first.name}\n    :sid: {first.id}\n"
    handed[thief.number, "submission_metadata.yml"] = listed.encode()
    handed[thief.number, "submission_70001/answers.toml"] = b"[answers.q1]\nS = [[0]]\n"
    handed[thief.number, f"{first.stem} (2).toml"] = f'student = "{first.id}"\n[answers.q1]\nS = [[0]]\n'.encode()
    handed[breaker.number, "homework 2.toml"] = b"a." * 5_000 + b"a = 1\n"
    with zipfile.ZipFile(tmp_path / "Midterm.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for (number, name), data in handed.items():
            folder = f"{known.entrants[number - 1].name}_{900 + number}_assignsubmission_file_"
            archive.writestr(f"{folder}/{name}", data)
    (tmp_path / "paper.csv").write_text("id,differs\ns005,Q1 S'=S; blank: Q2\n", encoding="utf-8")

    words = ["grade", exam, tmp_path / "Midterm.zip", "--entries", tmp_path / "paper.csv", "--out", tmp_path / "marked"]
    result = run(*words, "--format", "text", "--jobs", 1)
    assert result.exit_code == 0, result.output

    rows = list(csv.DictReader(io.StringIO((tmp_path / "marked/gradebook.csv").read_text(encoding="utf-8"))))
    by_id = {row["id"]: row for row in rows[:8]}
    for k, (one, other) in enumerate([*KINDS, ("not scaled", "blank")], 1):
        row = by_id[f"s{k:03}"]
        assert (row["status"], row["Q1"], row["Q2"]) == ("marked", str(WORTH[one]), str(WORTH[other])), row
    assert [row["status"] for row in rows[5:]] == ["broken", "pending", "broken", "pending"]
    assert by_id["s006"]["notices"] == "It is a zip that expands to more than 32 MB."
    assert by_id["s008"]["file"].endswith("/homework 2.toml")
    assert by_id["s007"]["total"] == "?"  # out of files of her own, whatever they say; 1×1 for 3×3 waits (rules.md 3.9)
    assert "S: As it was read, the matrix is 1×1, where 3×3 was asked for" in by_id["s007"]["notices"]
    thiefs = f"{thief.name}_907_assignsubmission_file_"
    assert by_id["s007"]["file"] == f"{thiefs}/submission_70001/answers.toml"
    said = list(csv.DictReader(io.StringIO((tmp_path / "marked/pending.csv").read_text(encoding="utf-8"))))
    assert [row["line"] for row in said] == ["S", "S'", "A", "Z"]
    assert all("the matrix is 1×1, where 3×3 was asked for" in row["why"] for row in said)
    [waiting] = rows[8:]
    assert (waiting["file"], waiting["total"]) == (f"{thiefs}/{first.stem} (2).toml", "")
    assert f"pending: {waiting['file']}: It is not clear whose it is: " in result.output
    told = sorted(path.name for path in (tmp_path / "marked/feedback").iterdir())
    assert told == sorted(f"{e.stem}.txt" for e in (*known.entrants[:5], thief))
