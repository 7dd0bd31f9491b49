"""Every type of problem in every format: whatever is declared to be right has all the points, and nothing is lost."""

import re
from collections import defaultdict
from itertools import pairwise
from xml.etree import ElementTree
from zipfile import ZipFile

import canvas_reader
import cloze_reader
import prairielearn_reader
import pytest
import qti_reader
import rexams_reader
from sentences import refused_saying

import symattn
from symattn.api import make_recipe
from symattn.page import presentation
from symattn.page.document import DEFAULT_LOOK, HeatMap, HeatMaps
from symattn.page.presentation import make_look
from symattn.teaching.bank.items import left_out, make_bank
from symattn.teaching.exporters import EXPORTERS, not_carried
from symattn.teaching.problems import drawn_types
from symattn.teaching.question import ChoiceAnswer, PropertyAnswer, RubricAnswer, total
from symattn.teaching.sheets import Setting, sheets, write_sheets

CANVAS_BLANK = re.compile(r"\[([A-Za-z0-9_.-]+)\]")
"""What Canvas's editor takes for a blank, wherever it stands in a text: [3], too."""
ON_PAPER = re.compile(
    r"exact values|(leave answers|[Gg]ive decimals|answers) (as|with)|places, and carry|Show (the|how|your)|show how|"
    r"beside its name|product of letters with"
)
WITH_BLANKS = ("fill_in_multiple_blanks_question", "multiple_dropdowns_question")


class Written:
    """A sheet of a type of problem in every format, as each reader finds it, and its question."""

    def __init__(self, folder, problem, look=DEFAULT_LOOK):
        (sheet,) = sheets(make_recipe(problem=problem, seed=3), 1)
        write_sheets([sheet], folder, Setting([*EXPORTERS], "own", look=look))
        self.folder, self.question, self.worth = folder, sheet.question, sheet.question.marks
        self.worth -= marked_elsewhere(sheet.question)
        ((self.moodle,), self.told) = cloze_reader.read((folder / "own.moodle.xml").read_bytes())
        ((self.selected, (self.canvas,)),) = canvas_reader.read(folder / "own.canvas.zip")
        (self.exercise,) = rexams_reader.read(folder / "own.rexams.zip")
        (self.course,), self.assessment = prairielearn_reader.read(folder / "own.prairielearn.zip")


def marked_elsewhere(question):
    """The marks of what a person has to read."""
    whole = [part for part in question.parts if by_a_person(part)]
    reasons = [mark for part in question.parts if part not in whole for mark in part.marks if mark.rule == "reason"]
    return sum(total(part.marks) for part in whole) + total(reasons)


def by_a_person(part):
    return isinstance(part.answer, RubricAnswer | PropertyAnswer)


@pytest.mark.covering(most=3, rest=2)
@pytest.mark.parametrize("problem", drawn_types())
def test_what_is_declared_to_be_right_has_all_the_points_and_nothing_is_lost(tmp_path, problem):
    written = Written(tmp_path, problem)
    in_moodle(written)
    in_canvas(written)
    in_qti(written)
    in_courses(written)
    looks(written)
    options_have_letters(written)
    no_box_shows_how_long_its_answer_is(written)
    what_needs_a_person_is_told(written)
    for text in (written.moodle.text, written.exercise.text, "".join(written.course.text)):
        assert not ON_PAPER.search(text)  # working has no place, and the grammar says how to answer


@pytest.mark.parametrize(
    ("problem", "language"),
    [("choice", "zh"), pytest.param("full", "de", marks=pytest.mark.slow),
     pytest.param("counts", "fr", marks=pytest.mark.slow)],
)  # fmt: skip
def test_in_another_language_everything_is_said_in_it_and_the_same_answers_are_right(
    tmp_path, problem, language, caplog, monkeypatch
):
    monkeypatch.setattr(presentation, "TOLD", set())
    written = Written(tmp_path, problem, make_look(language=language))
    in_moodle(written)
    in_canvas(written)
    assert {item.get("{http://www.w3.org/XML/1998/namespace}lang") for item in in_qti(written)} == {language}
    assert caplog.messages == []  # of what stayed English


def in_moodle(written):
    found, worth = written.moodle, written.worth
    ((category, sentence),) = written.told.items()
    assert category.startswith("$course$/top/")
    assert "symattn practice" in sentence
    assert found.name.endswith(f"[{worth}]")
    assert found.category == category
    if found.kind == "multichoice":
        shares = [float(answer.get("fraction")) for answer in found.element.iter("answer")]
        assert sum(share for share in shares if share > 0) == 100
        return
    right = [right_of(part) for part in found.parts]
    assert found.points(right, worth) == worth
    assert found.points(["\x00"] * len(right), worth) == 0
    feedback = (alternative.feedback for part in found.parts for alternative in part.alternatives)
    for text in (found.text.replace("□", ""), *feedback):
        ElementTree.fromstring(f"<p>{text}</p>")


def right_of(part):
    """What to answer in a part to be right."""
    right = [a.answer for a in part.alternatives if a.share == 1]
    if part.kind == "MULTIRESPONSE":
        return right
    return {"NUMERICAL": right[0].partition(":")[0], "SHORTANSWER": right[0].replace("\\*", "*")}.get(
        part.kind, right[0]
    )


def in_canvas(written):
    item = written.canvas
    assert written.selected == "1"
    assert item.possible == written.worth
    if item.kind == "fill_in_multiple_blanks_question":
        first = [next(iter(listed.values())) for listed in item.blanks.values()]
        assert item.points(first) == pytest.approx(item.possible)
    blanks = CANVAS_BLANK.findall(item.text)
    assert sorted(blanks) == (sorted(item.blanks) if item.kind in WITH_BLANKS else [])


def in_qti(written):
    """The items, of either version."""
    found = []
    for form in ("qti21", "qti3"):
        (((section, (element,)),), _) = qti_reader.items(written.folder / f"own.{form}.zip")
        assert qti_reader.said(qti_reader.inside(section, "selection")[0], "select") == "1"
        assert qti_reader.said(qti_reader.inside(section, "ordering")[0], "shuffle") == "true"
        item = qti_reader.Item(element)
        right = {
            name: values if qti_reader.said(item.declared[name], "cardinality") == "multiple" else values[0]
            for name, values in item.right().items()
        }
        outcomes = item.worked_out(right)
        assert outcomes["SCORE"] == pytest.approx(written.worth)
        assert outcomes["MAXSCORE"] == written.worth
        assert item.told() == []
        assert item.worked_out({})["SCORE"] == 0
        places = [
            qti_reader.said(interaction, "responseIdentifier")
            for kind in ("textEntry", "choice", "inlineChoice")
            for interaction in qti_reader.everywhere(element, f"{kind}Interaction")
        ]
        assert sorted(places) == sorted(item.declared)
        found.append(element)
    return found


def in_courses(written):
    """In R/exams and PrairieLearn, whose readers refuse what their documentation does not have."""
    exercise, course, (zone,) = written.exercise, written.course, written.assessment["zones"]
    assert len(exercise.kinds) == len(course.elements)
    assert exercise.earned(exercise.solutions) == pytest.approx(sum(exercise.points))
    assert course.score(course.right())[0] == pytest.approx(1)
    assert zone["questions"][0]["points"] == pytest.approx(sum(exercise.points), abs=0.001)
    assert not re.search(r"\{\{|<math|<tex", exercise.text)


def looks(written):
    """Moodle and Canvas keep styles of elements; QTI has a sheet of styles, which the manifest has to name."""
    for shown in (written.moodle, written.canvas):
        assert 'class="symattn-' not in shown.text
        assert 'style="margin-top' in shown.text
    for form in ("qti21", "qti3"):
        with ZipFile(written.folder / f"own.{form}.zip") as archive:
            sheet = archive.read("symattn.css").decode()
            manifest = ElementTree.fromstring(archive.read("imsmanifest.xml"))
            (item,) = (archive.read(name).decode() for name in archive.namelist() if name.startswith("items/"))
        listed = [file.get("href") for file in manifest.iter() if file.tag.endswith("}file")]
        assert listed.count("symattn.css") == 1
        assert " style=" not in item
        assert re.search(r'stylesheet href="../symattn.css"', item)
        used = set(re.findall(r'class="(symattn-[a-z0-9-]+)"', item))
        assert used
        assert all(f".{name} {{" in sheet for name in used)


def options_have_letters(written):
    """In an embedded question Moodle puts none before them; in a multiple choice of its own it does."""
    found, letters = written.moodle, "ABCDEFGHIJ"
    choices = [part for part in found.parts if part.kind in ("MULTICHOICE_V", "MULTIRESPONSE")]
    for part in choices:
        assert [a.answer[:3] for a in part.alternatives] == [f"{x}. " for x in letters[: len(part.alternatives)]]
    keys = [part.answer for part in written.question.parts if isinstance(part.answer, ChoiceAnswer)]
    if found.kind == "cloze":
        right = [{a.answer[0] for a in part.alternatives if a.share == 1} for part in choices]
        by_key = [{letters[k] for k, option in enumerate(key.options) if option.right} for key in keys]
        assert right == [key or {letters[len(own.options)]} for key, own in zip(by_key, keys, strict=True)]
    else:
        assert found.element.findtext("answernumbering") == "ABCD"


def no_box_shows_how_long_its_answer_is(written):
    """Moodle makes a box as wide as the longest answer that it knows: a 0 among fractions would be seen at once."""
    boxed = re.compile(r'min-width:(\d+)ch">' + cloze_reader.PART.pattern, re.DOTALL)
    boxes = 0
    for part in written.moodle.element.findtext("questiontext/text").split("<h4"):
        lengths = defaultdict(set)
        for found in boxed.finditer(part):
            box = cloze_reader.part(cloze_reader.PART.search(found[0]))
            boxes += 1
            lengths[found[1]].add(max(len(a.answer.partition(":")[0]) for a in box.alternatives))
        assert all(len(of_one_size) == 1 for of_one_size in lengths.values())
    assert boxes == sum(part.kind in ("SHORTANSWER", "NUMERICAL") for part in written.moodle.parts)


def what_needs_a_person_is_told(written):
    question = written.question
    assert len(not_carried(["moodle", "qti21"], [question])) == 2 + len(set(left_out(question)))
    needs = sum(by_a_person(part) or any(m.rule == "reason" for m in part.marks) for part in question.parts)
    assert written.moodle.text.count("Not marked here: ") == needs


def test_python_is_told_what_a_bank_cannot_carry(tmp_path, caplog):
    symattn.worksheet("attention", seed=3, level="starter", out=tmp_path, forms=["canvas", "markdown"])
    assert [record.getMessage() for record in caplog.records] == [EXPORTERS["canvas"].LOST]


def test_a_heat_map_is_a_table_of_tones(tmp_path):
    """The darker, the larger: a tone's red, green and blue are the same, and fall from level to level."""
    (sheet,) = sheets(make_recipe(problem="heatmap", seed=3), 1)
    write_sheets([sheet], tmp_path, Setting(["moodle"], "own"))
    question = cloze_reader.only(tmp_path / "own.moodle.xml")
    pictures = [block for block in everything_in(sheet.question) if isinstance(block, HeatMap)]
    assert len(pictures) > 4
    tables = [table for table in re.findall(r"<table.*?</table>", question.text, re.DOTALL) if "background" in table]
    tones = [re.findall(r"background-color:#(..)\1\1", table) for table in tables]
    assert len(tables) == len(pictures)
    darkness = {}
    for picture, found in zip(pictures, tones, strict=True):
        for level, tone in zip((x for row in picture.levels for x in row), found, strict=True):
            darkness.setdefault(level, set()).add(255 - int(tone, 16))
    assert [len(darkness[level]) for level in range(5)] == [1] * 5
    white, *rest = (min(darkness[level]) for level in range(5))
    assert white == 0
    for less, more in pairwise([white, *rest]):
        assert more > less + 25


def everything_in(question):
    """The blocks of a question in the order in which they are read, with those inside others."""
    open_ends = [*question.introduction, *question.given, *(block for part in question.parts for block in part.ask)]
    while open_ends:
        block = open_ends.pop(0)
        yield block
        if isinstance(block, HeatMaps):
            open_ends[:0] = [picture for _, picture in block.items]
        open_ends[:0] = getattr(block, "blocks", ())


def test_a_cell_that_stays_white_has_to_be_said_to_be_white(tmp_path):
    (sheet,) = sheets(make_recipe(problem="masks", seed=4), 1)
    write_sheets([sheet], tmp_path, Setting([*EXPORTERS], "own"))
    for exporter in EXPORTERS.values():
        path = tmp_path / f"own{exporter.SUFFIX}"
        said = path.read_bytes()
        if path.suffix == ".zip":
            with ZipFile(path) as archive:
                said = b"".join(map(archive.read, archive.namelist()))
        assert said.count(b"Give an answer for every cell") == 1


def test_a_question_of_which_all_needs_a_person_is_refused():
    (sheet,) = sheets(make_recipe(problem="prove", seed=3), 1)
    question = sheet.question
    only = tuple(part for part in question.parts if isinstance(part.answer, RubricAnswer))
    assert only
    bare = type(question)(question.type, question.title, question.given, only, question.content)
    with refused_saying(r"Nothing of .* can be marked by a list of answers: all of it needs a person\."):
        make_bank(question.title, [[(sheet.name, bare)]])
