"""Every type of problem in every format: whatever is declared to be right has all the points, and nothing is lost."""

import os
from pathlib import Path
from xml.etree import ElementTree
from zipfile import ZipFile

import canvas_reader
import cloze_reader
import pytest
import qti_reader

import symattn
from symattn.api import make_recipe
from symattn.errors import InputError
from symattn.teaching.bank.items import left_out, make_bank
from symattn.teaching.exporters import EXPORTERS, not_carried
from symattn.teaching.problems import problem_types
from symattn.teaching.question import PropertyAnswer, RubricAnswer, total
from symattn.teaching.sheets import Setting, sheets, write_sheets

SCHEMAS = os.environ.get("QTI_SCHEMAS", "")
"""A folder with 1EdTech's schemas of QTI 2.1 (qtiv2p1/imsqti_v2p1.xsd and what it needs), which are theirs."""


@pytest.fixture(scope="module", params=problem_types())
def written(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bank")
    made = list(sheets(make_recipe(problem=request.param, seed=3), 2))
    write_sheets(made, folder, Setting([*EXPORTERS], "own"))
    return folder, [sheet.question for sheet in made]


def marked_elsewhere(question):
    """The marks of what a person has to read."""
    whole = [part for part in question.parts if isinstance(part.answer, RubricAnswer | PropertyAnswer)]
    reasons = [mark for part in question.parts if part not in whole for mark in part.marks if mark.rule == "reason"]
    return sum(total(part.marks) for part in whole) + total(reasons)


@pytest.mark.covering(most=5)
def test_moodle(written):
    folder, questions = written
    read, told = cloze_reader.read((folder / "own.moodle.xml").read_bytes())
    assert len(read) == 2
    ((category, sentence),) = told.items()
    assert category.startswith("$course$/top/")
    assert "symattn practice" in sentence
    for found, question in zip(read, questions, strict=True):
        worth = question.marks - marked_elsewhere(question)
        assert found.name.endswith(f"[{worth}]")
        assert found.category == category
        if found.kind == "multichoice":
            shares = [float(answer.get("fraction")) for answer in found.element.iter("answer")]
            assert sum(share for share in shares if share > 0) == 100
            continue
        right = [right_of(part) for part in found.parts]
        assert found.points(right, worth) == worth
        assert found.points(["\x00"] * len(right), worth) == 0
        ElementTree.fromstring(f"<p>{found.text.replace('□', '')}</p>")
        for part in found.parts:
            for alternative in part.alternatives:
                ElementTree.fromstring(f"<p>{alternative.feedback}</p>")


def right_of(part):
    """What to answer in a part to be right."""
    right = [a.answer for a in part.alternatives if a.share == 1]
    if part.kind == "MULTIRESPONSE":
        return right
    return {"NUMERICAL": right[0].partition(":")[0], "SHORTANSWER": right[0].replace("\\*", "*")}.get(
        part.kind, right[0]
    )


@pytest.mark.covering(most=6)
@pytest.mark.parametrize("form", ["qti21", "qti3"])
def test_qti(written, form):
    folder, questions = written
    (((section, items),), _) = qti_reader.items(folder / f"own.{form}.zip")
    assert qti_reader.said(qti_reader.inside(section, "selection")[0], "select") == "1"
    assert qti_reader.said(qti_reader.inside(section, "ordering")[0], "shuffle") == "true"
    for element, question in zip(items, questions, strict=True):
        item = qti_reader.Item(element)
        right = {
            name: values if qti_reader.said(item.declared[name], "cardinality") == "multiple" else values[0]
            for name, values in item.right().items()
        }
        worth = question.marks - marked_elsewhere(question)
        outcomes = item.worked_out(right)
        assert outcomes["SCORE"] == pytest.approx(worth)
        assert outcomes["MAXSCORE"] == worth
        assert item.told() == []
        assert item.worked_out({})["SCORE"] == 0
        places = [
            qti_reader.said(interaction, "responseIdentifier")
            for kind in ("textEntry", "choice", "inlineChoice")
            for interaction in qti_reader.everywhere(element, f"{kind}Interaction")
        ]
        assert sorted(places) == sorted(item.declared)


@pytest.mark.covering(most=5)
def test_canvas(written):
    folder, questions = written
    ((selected, items),) = canvas_reader.read(folder / "own.canvas.zip")
    assert selected == "1"
    for item, question in zip(items, questions, strict=True):
        assert item.possible == question.marks - marked_elsewhere(question)
        if item.kind == "fill_in_multiple_blanks_question":
            first = [next(iter(listed.values())) for listed in item.blanks.values()]
            assert item.points(first) == pytest.approx(item.possible)
            assert all(item.text.count(f"[{name}]") == 1 for name in item.blanks)


@pytest.mark.covering(most=5)
def test_what_needs_a_person_is_told(written):
    folder, questions = written
    told = not_carried(["moodle", "qti21"], questions)
    assert len(told) == 2 + len(dict.fromkeys(said for question in questions for said in left_out(question)))
    read, _ = cloze_reader.read((folder / "own.moodle.xml").read_bytes())
    for found, question in zip(read, questions, strict=True):
        needs = sum(
            isinstance(part.answer, RubricAnswer | PropertyAnswer) or any(m.rule == "reason" for m in part.marks)
            for part in question.parts
        )
        assert found.text.count("Not marked here: ") == needs


def test_python_is_told_what_a_bank_cannot_carry(tmp_path, caplog):
    symattn.worksheet("attention", seed=3, level="starter", out=tmp_path, forms=["canvas", "markdown"])
    assert [record.getMessage() for record in caplog.records] == [EXPORTERS["canvas"].LOST]


@pytest.mark.slow
@pytest.mark.skipif(not SCHEMAS, reason="QTI_SCHEMAS names no folder with 1EdTech's schemas")
def test_qti_is_valid(written):
    etree = pytest.importorskip("lxml.etree")

    class Here(etree.Resolver):
        def resolve(self, url, _, context):
            found = next(Path(SCHEMAS).rglob(url.rpartition("/")[2]), None)
            return self.resolve_filename(str(found), context) if found and not Path(url).exists() else None

    parser = etree.XMLParser(no_network=True)
    parser.resolvers.add(Here())
    schema = etree.XMLSchema(etree.parse(Path(SCHEMAS, "qtiv2p1", "imsqti_v2p1.xsd"), parser))
    with ZipFile(written[0] / "own.qti21.zip") as archive:
        for name in archive.namelist():
            if name != "imsmanifest.xml":
                assert schema.validate(etree.fromstring(archive.read(name))), (name, schema.error_log)


def test_a_question_of_which_all_needs_a_person_is_refused():
    (sheet,) = sheets(make_recipe(problem="prove", seed=3), 1)
    question = sheet.question
    only = tuple(part for part in question.parts if isinstance(part.answer, RubricAnswer))
    assert only
    bare = type(question)(question.type, question.title, question.given, only, question.content)
    with pytest.raises(
        InputError, match=r"Nothing of .* can be marked by a list of answers: all of it needs a person\."
    ):
        make_bank(question.title, [[(sheet.name, bare)]])
