"""Grades back to the learning platform: each file read by what the platform documents of its import.

Moodle: docs.moodle.org, "Grade import".  Canvas: community.canvaslms.com, "How do I import grades in the Gradebook?",
and the importer in its source.  Brightspace: community.d2l.com, "Importing grades".  Gradescope: its own export.
"""

import csv
import io

import pytest
from commands import refusal, run
from hypothesis import given
from hypothesis import strategies as st
from sentences import refused_saying
from tables import tables_beside
from test_grading_summary import ECF, result, row

from symattn.foundation.tables import read_table
from symattn.marking.grading import record
from symattn.marking.grading.gradebook import Gradebook
from symattn.teaching.exam.class_list import read_class

TABLES = tables_beside(__file__)
LISTS = TABLES["lists"]
NAMES = ("Åke Björck", "Emmy Noether", "Kurt Gödel")


def book(folder, text, title="Midterm"):
    """A class of three: 4 of 5 marks, then one whose marks are pending, then nothing handed in."""
    path = folder / "class.csv"
    path.write_text(text, "utf-8")
    listed = {number: student.listed for number, student in enumerate(read_class(path), 1)}
    open_ = result("V", {"S": 2})
    open_.found["marks"][0][record.TABLES["marks"].index("pending")] = True
    marked = [(result("V", {"S": 4}),), (open_,), ()]
    statuses = ("marked", "pending", "missing")
    rows = [
        row(k, *results, name=name, status=status)
        for k, (name, results, status) in enumerate(zip(NAMES, marked, statuses, strict=True), 1)
    ]
    return Gradebook(title, ECF, tuple(rows), listed=listed)


def table(text):
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


@pytest.mark.parametrize("file", TABLES["file"], ids=lambda file: f"{file['platform']} from a list of {file['list']}")
def test_a_platform_gets_what_it_imports(file, tmp_path):
    made = book(tmp_path, LISTS[file["list"]], file.get("title", "Midterm"))
    assert table(made.csv(file["platform"])) == table(file["csv"])


def test_an_unknown_platform_and_a_list_without_ids_are_told(tmp_path):
    with refused_saying(r"no gradebook 'canvass'; .*canvas"):
        book(tmp_path, LISTS["plain"]).csv("canvass")
    nobody = Gradebook("M", ECF, (row(None, result("V", {"S": 1}), name="Ada"),))
    without = Gradebook("M", ECF, tuple(type(r)(**{**vars(r), "id": ""}) for r in nobody.rows))
    with refused_saying(r"moodle needs an ID number, email address or username .* Ada has none"):
        without.csv("moodle")


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1), min_size=1))
def test_no_cell_for_a_platform_is_a_formula(names):
    rows = tuple(row(k, result("V", {"S": 1}), name=f"={name}") for k, name in enumerate(names, 1))
    for platform in ("moodle", "canvas", "gradescope", "brightspace"):
        cells = [cell for line in table(Gradebook("=M", ECF, rows).csv(platform)) for cell in line]
        assert not any(cell.lstrip().startswith(("=", "+", "-", "@")) for cell in cells)


ENTRIES = 'name,differs\nÅke Björck,all right\nEmmy Noether,"Q2 a=""by symmetry"""\n'


def test_a_class_goes_out_and_comes_back_as_the_platform_has_it(tmp_path, monkeypatch):
    """The exam made for a list as exported; grades written, who is pending named, and all of it taken away again."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "canvas.csv").write_text(LISTS["canvas"], "utf-8")
    (tmp_path / "class.csv").write_text(LISTS["plain"], "utf-8")
    exam = (
        'title = "Midterm"\nvariants = 2\nclass = "{}"\n[[question]]\ntype = "drills"\n[[question]]\ntype = "prove"\n'
    )
    for name in ("canvas", "class"):
        (tmp_path / f"{name}.toml").write_text(exam.format(f"{name}.csv"), "utf-8")
        assert run("worksheet", f"{name}.toml", "--format", "markdown").exit_code == 0
    (tmp_path / "entries.csv").write_text(ENTRIES, "utf-8")
    options = ("--entries", "entries.csv", "--format", "markdown", "--feedback", "none", "--jobs", "1", "--out", "out")
    done = run("grade", "output/canvas", *options, "--gradebook", "canvas,moodle", "--gradebook", "plain")
    said = done.output.splitlines()
    assert any(line.startswith("broken: Emmy Noether (20234285): entries.csv/row 3") for line in said), done.output
    assert any(line.split()[0] == "gradebook-canvas.csv" and "empty for 1 broken, 1 missing" in line for line in said)
    (tmp_path / "back.csv").write_bytes((tmp_path / "out/gradebook-canvas.csv").read_bytes())
    (tmp_path / "plain.csv").write_bytes((tmp_path / "out/gradebook.csv").read_bytes())
    assert read_class(tmp_path / "back.csv") == read_class(tmp_path / "canvas.csv")
    assert read_table(tmp_path / "plain.csv")[0][:3] == ["number", "name", "id"]  # our reader takes the mark
    assert run("grade", "output/canvas", *options).exit_code == 0
    assert not list((tmp_path / "out").glob("gradebook-*"))
    other = ("grade", "output/class", *options[:-1], "other", "--gradebook", "canvas", "--class", "canvas.csv")
    assert run(*other).exit_code == 0
    assert "Noether, Emmy" in (tmp_path / "other/gradebook-canvas.csv").read_text("utf-8")
    assert "gives no marks" in refusal(
        "grade", "output/canvas", *options, "--policy", "formative", "--gradebook", "moodle"
    )
