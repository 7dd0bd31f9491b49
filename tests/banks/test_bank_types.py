"""Every type of problem in every format: whatever is declared to be right has all the points, and nothing is lost."""

import os
import re
from collections import defaultdict
from itertools import cycle
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
from symattn.foundation.languages import languages
from symattn.page import translation
from symattn.page.document import HeatMap, HeatMaps
from symattn.page.presentation import make_look
from symattn.teaching.bank.items import left_out, make_bank
from symattn.teaching.exporters import EXPORTERS, not_carried
from symattn.teaching.problems import problem_types
from symattn.teaching.question import ChoiceAnswer, PropertyAnswer, RubricAnswer, total
from symattn.teaching.sheets import Setting, sheets, write_sheets

SCHEMAS = os.environ.get("QTI_SCHEMAS", "")
"""A folder with 1EdTech's schemas of QTI 2.1 (qtiv2p1/imsqti_v2p1.xsd and what it needs), which are theirs."""


CANVAS_BLANK = re.compile(r"\[([A-Za-z0-9_.-]+)\]")
"""What Canvas's editor takes for a blank, wherever it stands in a text: [3], too."""
ON_PAPER = re.compile(
    r"exact values|(leave answers|[Gg]ive decimals|answers) (as|with)|places, and carry|Show (the|how|your)|show how|"
    r"beside its name|product of letters with"
)
WITH_BLANKS = ("fill_in_multiple_blanks_question", "multiple_dropdowns_question")


@pytest.fixture(scope="module", params=problem_types())
def written(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bank")
    return folder, bank(folder, request.param, make_look())


def bank(folder, problem, look):
    """Two variants of a type of problem in every format, and their questions."""
    made = list(sheets(make_recipe(problem=problem, seed=3), 2))
    write_sheets(made, folder, Setting([*EXPORTERS], "own", look=look))
    return [sheet.question for sheet in made]


@pytest.mark.parametrize(
    ("problem", "language"),
    list(zip(problem_types(), cycle(code for code in languages() if code != "en"), strict=False)),
)
@pytest.mark.covering(most=2)
def test_in_another_language_everything_is_said_in_it_and_the_same_answers_are_right(
    tmp_path, problem, language, caplog, monkeypatch
):
    monkeypatch.setattr(translation, "TOLD", set())
    written = tmp_path, bank(tmp_path, problem, make_look(language=language))
    test_moodle(written)
    test_canvas(written)
    for form in ("qti21", "qti3"):
        test_qti(written, form)
        (((_, items),), _) = qti_reader.items(tmp_path / f"own.{form}.zip")
        assert {item.get("{http://www.w3.org/XML/1998/namespace}lang") for item in items} == {language}
    assert caplog.messages == []  # of what stayed English


def marked_elsewhere(question):
    """The marks of what a person has to read."""
    whole = [part for part in question.parts if isinstance(part.answer, RubricAnswer | PropertyAnswer)]
    reasons = [mark for part in question.parts if part not in whole for mark in part.marks if mark.rule == "reason"]
    return sum(total(part.marks) for part in whole) + total(reasons)


@pytest.mark.covering(most=2)
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


@pytest.mark.covering(most=2)
def test_nothing_is_asked_that_only_paper_has_room_for(written):
    """In what form a box is answered is said by the grammar beside it, and working has no place."""
    folder, _ = written
    read, _ = cloze_reader.read((folder / "own.moodle.xml").read_bytes())
    for question in read:
        assert not ON_PAPER.search(question.text)


def right_of(part):
    """What to answer in a part to be right."""
    right = [a.answer for a in part.alternatives if a.share == 1]
    if part.kind == "MULTIRESPONSE":
        return right
    return {"NUMERICAL": right[0].partition(":")[0], "SHORTANSWER": right[0].replace("\\*", "*")}.get(
        part.kind, right[0]
    )


@pytest.mark.covering(most=2)
def test_in_moodle_no_box_shows_how_long_its_answer_is(written):
    """Moodle makes a box as wide as the longest answer that it knows: a 0 among fractions would be seen at once."""
    folder, _ = written
    read, _ = cloze_reader.read((folder / "own.moodle.xml").read_bytes())
    boxed = re.compile(r'min-width:(\d+)ch">' + cloze_reader.PART.pattern, re.DOTALL)
    for question in read:
        boxes = 0
        for part in question.element.findtext("questiontext/text").split("<h4"):
            lengths = defaultdict(set)
            for found in boxed.finditer(part):
                box = cloze_reader.part(cloze_reader.PART.search(found[0]))
                boxes += 1
                lengths[found[1]].add(max(len(a.answer.partition(":")[0]) for a in box.alternatives))
            assert all(len(of_one_size) == 1 for of_one_size in lengths.values())
        assert boxes == sum(part.kind in ("SHORTANSWER", "NUMERICAL") for part in question.parts)


@pytest.mark.covering(most=2)
def test_options_have_the_letters_by_which_keys_call_them(written):
    """In an embedded question Moodle puts none before them; in a multiple choice of its own it does."""
    folder, questions = written
    read, _ = cloze_reader.read((folder / "own.moodle.xml").read_bytes())
    for found, question in zip(read, questions, strict=True):
        choices = [part for part in found.parts if part.kind in ("MULTICHOICE_V", "MULTIRESPONSE")]
        for part in choices:
            assert [a.answer[:3] for a in part.alternatives] == [
                f"{x}. " for x in "ABCDEFGHIJ"[: len(part.alternatives)]
            ]
        keys = [part.answer for part in question.parts if isinstance(part.answer, ChoiceAnswer)]
        if found.kind == "cloze":
            right = [{a.answer[0] for a in part.alternatives if a.share == 1} for part in choices]
            by_key = [{"ABCDEFGHIJ"[k] for k, option in enumerate(key.options) if option.right} for key in keys]
            assert right == [key or {"ABCDEFGHIJ"[len(own.options)]} for key, own in zip(by_key, keys, strict=True)]
        else:
            assert found.element.findtext("answernumbering") == "ABCD"


@pytest.mark.covering(most=2)
def test_how_it_looks_is_said_as_each_system_keeps_it(written):
    """Moodle and Canvas keep styles of elements; QTI has a sheet of styles, which the manifest has to name."""
    folder, _ = written
    read, _ = cloze_reader.read((folder / "own.moodle.xml").read_bytes())
    ((_, items),) = canvas_reader.read(folder / "own.canvas.zip")
    for shown in (*(question.text for question in read), *(item.text for item in items)):
        assert 'class="symattn-' not in shown
        assert 'style="margin-top' in shown
    for form in ("qti21", "qti3"):
        with ZipFile(folder / f"own.{form}.zip") as archive:
            sheet = archive.read("symattn.css").decode()
            manifest = ElementTree.fromstring(archive.read("imsmanifest.xml"))
            names = [name for name in archive.namelist() if name.startswith("items/")]
            items = [archive.read(name).decode() for name in names]
        listed = [file.get("href") for file in manifest.iter() if file.tag.endswith("}file")]
        assert listed.count("symattn.css") == len(items)
        for item in items:
            assert " style=" not in item
            assert re.search(r'stylesheet href="../symattn.css"', item)
            used = set(re.findall(r'class="(symattn-[a-z0-9-]+)"', item))
            assert used
            assert all(f".{name} {{" in sheet for name in used)


@pytest.mark.covering(most=3)
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
        blanks = CANVAS_BLANK.findall(item.text)
        assert sorted(blanks) == (sorted(item.blanks) if item.kind in WITH_BLANKS else [])


@pytest.mark.covering(most=3)
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
            if name.endswith(".xml") and name != "imsmanifest.xml":
                assert schema.validate(etree.fromstring(archive.read(name))), (name, schema.error_log)


def test_a_heat_map_is_a_table_of_tones(tmp_path):
    """The darker, the larger: a tone's red, green and blue are the same, and fall from level to level."""
    (sheet,) = sheets(make_recipe(problem="heatmap", seed=3), 1)
    write_sheets([sheet], tmp_path, Setting(["moodle"], "own"))
    ((question,), _) = cloze_reader.read((tmp_path / "own.moodle.xml").read_bytes())
    pictures = [block for block in everything_in(sheet.question) if isinstance(block, HeatMap)]
    assert len(pictures) > 4
    tables = [table for table in re.findall(r"<table.*?</table>", question.text, re.DOTALL) if "background" in table]
    tones = [re.findall(r"background-color:#(..)\1\1", table) for table in tables]
    assert len(tables) == len(pictures)
    darkness = {}
    for picture, found in zip(pictures, tones, strict=True):
        for level, tone in zip((x for row in picture.levels for x in row), found, strict=True):
            darkness.setdefault(level, set()).add(255 - int(tone, 16))
    assert sorted(darkness) == [0, 1, 2, 3, 4]
    (white,), *rest = (darkness[level] for level in range(5))
    assert white == 0
    previous = white
    for (tone,) in rest:
        assert tone > previous + 25
        previous = tone


def everything_in(question):
    """The blocks of a question in the order in which they are read, with those inside others."""
    open_ends = [*question.introduction, *question.given, *(block for part in question.parts for block in part.ask)]
    while open_ends:
        block = open_ends.pop(0)
        yield block
        if isinstance(block, HeatMaps):
            open_ends[:0] = [picture for _, picture in block.items]
        open_ends[:0] = getattr(block, "blocks", ())


@pytest.mark.parametrize("form", ["moodle", "qti21", "qti3", "canvas"])
def test_a_cell_that_stays_white_has_to_be_said_to_be_white(tmp_path, form):
    (sheet,) = sheets(make_recipe(problem="masks", seed=4), 1)
    write_sheets([sheet], tmp_path, Setting([form], "own"))
    (path,) = tmp_path.glob(f"own{EXPORTERS[form].SUFFIX}")
    if path.suffix == ".zip":
        with ZipFile(path) as archive:
            said = "".join(archive.read(name).decode() for name in archive.namelist())
    else:
        said = path.read_text(encoding="utf-8")
    assert said.count("Give an answer for every cell") == 1


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
