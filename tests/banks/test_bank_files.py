"""Banks as files: beside worksheets, in the folder of an exam, the same bytes each time, and what is told of them."""

from zipfile import ZipFile

import canvas_reader
import cloze_reader
import pytest
import qti_reader
from commands import contents, run
from sentences import refused_saying

from symattn.api import make_recipe
from symattn.teaching.exporters import EXPORTERS
from symattn.teaching.rendering import check_formats
from symattn.teaching.sheets import Setting, sheets, write_sheets

FORMATS = ("moodle", "qti21", "qti3", "canvas")

EXAM = """
title = "Midterm: attention / masks"
variants = 2

[[question]]
type = "full"
mechanism = "attention"
level = "starter"
points = 12

[[question]]
type = "choice"
items = 2

[[question]]
type = "masks"
"""


def test_a_set_of_worksheets_is_one_pool(tmp_path):
    words = ["worksheet", "attention", "--level", "starter", "-n", 2, "--seed", 7, "--format", ",".join(FORMATS)]
    outcome = run(*words, "--out", tmp_path / "one")
    assert run(*words[:-1], ",".join(("markdown", *FORMATS)), "--out", tmp_path / "two", "-q").stderr == ""
    assert contents(tmp_path / "one").items() < contents(tmp_path / "two").items()
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == sorted(
        ["attention-7.json", *(f"attention-7{EXPORTERS[form].SUFFIX}" for form in FORMATS)]
    )
    names = [sheet.name for sheet in sheets(make_recipe("attention", level="starter", seed=7), 2)]
    read, _ = cloze_reader.read((tmp_path / "one" / "attention-7.moodle.xml").read_bytes())
    assert len({question.category for question in read}) == 1
    assert [question.name.split()[-2] for question in read] == names
    ((_, items),) = canvas_reader.read(tmp_path / "one" / "attention-7.canvas.zip")
    assert [item.title.split()[-1] for item in items] == names
    for form in ("qti21", "qti3"):
        path = tmp_path / "one" / f"attention-7.{form}.zip"
        (((_, items),), _) = qti_reader.items(path)
        assert [qti_reader.said(item, "identifier") for item in items] == [f"q1-{name}" for name in names]
        with ZipFile(path) as archive:
            assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    for sentence in ("Moodle marks every entry by itself", "QTI marks every entry", "Canvas compares text only"):
        assert outcome.stderr.count(sentence) == 1


@pytest.mark.slow
def test_an_exam_is_a_pool_for_each_question(tmp_path):
    (tmp_path / "exam.toml").write_text(EXAM, "utf-8")
    words = ["worksheet", tmp_path / "exam.toml", "--seed", 3, "--format", ",".join(FORMATS), "--out", tmp_path]
    assert "Moodle marks every entry by itself" in run(*words).stderr
    folder = tmp_path / "exam"
    assert {path.name for path in folder.iterdir()} == {
        "exam.json", "SHA256SUMS", *(f"bank{EXPORTERS[form].SUFFIX}" for form in FORMATS),
    }  # fmt: skip
    before = contents(folder)
    run(*words)
    assert contents(folder) == before
    read, told = cloze_reader.read((folder / "bank.moodle.xml").read_bytes())
    assert len(read) == 6
    assert [bool(sentence) for sentence in told.values()] == [True, False, False]  # what Moodle cannot do, once
    assert all(category.startswith("$course$/top/Midterm: attention // masks/") for category in told)
    pools, _ = qti_reader.items(folder / "bank.qti3.zip")
    assert [len(qti_reader.inside(section, "rubricBlock")) for section, _ in pools] == [1, 0, 0]
    assert [len(items) for _, items in pools] == [2, 2, 2]
    first = qti_reader.Item(pools[0][1][0])
    assert first.worked_out({name: values[0] for name, values in first.right().items()})["SCORE"] == pytest.approx(12)
    groups = canvas_reader.read(folder / "bank.canvas.zip")
    assert [selected for selected, _ in groups] == ["1"] * 3
    assert groups[0][1][0].possible == 12


def test_one_choice_and_a_grid_are_questions_of_their_own_kind(tmp_path):
    recipe = make_recipe(problem="choice", seed=4, options={"items": 1})
    write_sheets(sheets(recipe, 1), tmp_path, Setting(["moodle", "canvas"], "choice"))
    question = cloze_reader.only(tmp_path / "choice.moodle.xml")
    assert question.kind == "multichoice"
    answers = list(question.element.iter("answer"))
    assert [answer.get("fraction") for answer in answers].count("100") == 1
    assert any(answer.findtext("feedback/text") for answer in answers if answer.get("fraction") == "0")
    item = canvas_reader.only(tmp_path / "choice.canvas.zip")
    assert item.kind == "multiple_choice_question"


def test_what_is_no_page_is_refused_where_pages_are_wanted():
    with refused_saying("moodle is a format of question banks, which worksheets and exams are"):
        check_formats(["moodle"])
    outcome = run("worksheet", "--format", "moodel")
    assert outcome.exit_code != 0
    assert "There is no format 'moodel'; did you mean moodle" in outcome.output
