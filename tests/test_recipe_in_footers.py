"""The command that makes a sheet, and so its key: on keys, and on students' sheets only where it is wanted."""

import json
import re
import shlex
from io import BytesIO
from itertools import product

import pypdf
import pytest
from commands import run
from sentences import refused_saying
from tables import tables_beside

import symattn
from symattn.marking.grading.source import papers
from symattn.page.presentation import choices_of, make_look
from symattn.teaching.rendering import formats, render

TABLES = tables_beside(__file__)

[SHEET] = symattn.worksheet("attention", seed=3)


def printed(document, form):
    """All that a reader of one format can find in it; of PDF what is on its pages and what stands in its catalogue."""
    content = render(document, form)[1]
    if form == "pdf":
        reader = pypdf.PdfReader(BytesIO(content))
        text = " ".join((str(reader.metadata), *(page.extract_text() for page in reader.pages)))
    elif form == "notebook":
        notebook = json.loads(content)
        text = " ".join((json.dumps(notebook["metadata"]), *("".join(cell["source"]) for cell in notebook["cells"])))
    else:
        text = re.sub(r"\\-|\\-\\-", "--", content.decode())
    return re.sub(r"[\s{}]+", " ", text)


@pytest.mark.covering(most=3)
@pytest.mark.parametrize("form", [form for form in formats() if form != "latex-pdf"])
def test_students_sheets_have_no_recipe_unless_it_is_wanted(form):
    found = printed(SHEET.document("blank"), form)
    assert "--seed" not in found
    assert "symattn worksheet" not in found
    assert "seed 3" in printed(SHEET.document("blank", recipe=True), form)
    assert "seed 3" in printed(SHEET.document("key"), form)


@pytest.mark.parametrize("form", ["markdown", "notebook"])
def test_a_sheet_without_a_recipe_is_marked_against_the_frozen_set_alone(form, tmp_path):
    symattn.worksheet("attention", seed=3, out=tmp_path, forms=[form])
    [path] = [path for path in tmp_path.glob("attention-3-01.*") if path.suffix != ".json"]
    marking = symattn.check(tmp_path / "attention-3.json", path)
    assert (marking.submission.sheet, marking.total) == (SHEET.name, 0)
    says = rf"^{re.escape(str(path))} has no recipe to make its key from: .* the \.json .* the teacher\.$"
    with refused_saying(says):
        symattn.check(path, path)
    key = next(tmp_path.glob("attention-3-01-key.*"))
    assert symattn.check(key, path).submission.sheet == SHEET.name
    symattn.worksheet("attention", seed=3, out=tmp_path / "whole", forms=[form], recipe=True)
    whole = tmp_path / "whole" / path.name  # its recipe is enough
    assert symattn.check(whole, whole).submission.sheet == SHEET.name


def test_the_option_is_for_all_sheets_of_a_set(tmp_path):
    for recipe in (False, True):
        folder = tmp_path / str(recipe)
        symattn.worksheet("attention", n=2, seed=3, out=folder, forms=["text"], together=True, recipe=recipe)
        assert ("--seed 3" in (folder / "attention-3-all.txt").read_text("utf-8")) is recipe
        assert "--seed 3" in (folder / "attention-3-all-key.txt").read_text("utf-8")


COMMANDS = re.compile(r"`(symattn worksheet [^`]*)`")


LOOKS = {
    "language": ("en", "de", "zh"), "text_size": (11, 24), "paper": ("a4", "letter"), "spacing": ("roomy", "compact"),
    "decimal_sign": (None, "point", "comma"), "brackets": (None, "square", "round"), "transpose": (None, "T", "\u2032"),
    "fillable": (False, True),
}  # fmt: skip


def test_every_look_can_be_said_in_options():
    for choices in product(*LOOKS.values()):
        look = make_look(**dict(zip(LOOKS, choices, strict=True)))
        assert make_look(**choices_of(look)) == look
    assert choices_of(make_look(language="de")) == {"language": "de"}  # whose decimal sign is a comma anyway


@pytest.mark.covering(most=3)
@pytest.mark.parametrize(
    "options",
    TABLES["commands"],
    ids=" ".join,
)
def test_the_printed_command_makes_the_same_page_again(options, tmp_path):
    """Its language and whatever else its reader chose; and marking takes the command whatever the page looks like."""
    how = ["--format", "latex,markdown,typst", "--quiet", "--out"]
    asked = ["worksheet", "attention", "--level", "starter", "--seed", "3", *options]
    assert run(*asked, *how, tmp_path / "made").exit_code == 0
    keys = [path for path in (tmp_path / "made").glob("*.md") if path.stem.endswith(("-key", "-overview"))]
    assert keys
    for key in keys:
        [command] = set(COMMANDS.findall(key.read_text("utf-8")))
        _, *words = shlex.split(command)
        again = tmp_path / key.stem
        assert run(*words, *how, again).exit_code == 0
        assert (again / key.name).read_bytes() == key.read_bytes()
    if "-n" not in options:
        made = {path.name: path.read_bytes() for path in (tmp_path / "made").iterdir()}
        assert made == {path.name: path.read_bytes() for path in again.iterdir()}
        assert list(papers(keys[0]).papers) == list(papers(tmp_path / "made" / "attention-3.json").papers)
