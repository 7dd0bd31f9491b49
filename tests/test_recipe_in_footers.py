"""The command that makes a sheet, and so its key: on keys, and on students' sheets only where it is wanted."""

import json
import re
import shlex
from io import BytesIO

import pypdf
import pytest
from click.testing import CliRunner

import symattn
from symattn.cli import main
from symattn.teaching.sheets import formats, render

[SHEET] = symattn.worksheet("attention", seed=3)
COMMAND = "symattn worksheet attention --seed 3"


def printed(document, form: str) -> str:
    """What a reader of one format sees."""
    content = render(document, form)[1]
    if form == "pdf":
        text = " ".join(page.extract_text() for page in pypdf.PdfReader(BytesIO(content)).pages)
    elif form == "notebook":
        text = " ".join("".join(cell["source"]) for cell in json.loads(content)["cells"])
    elif form == "markdown":
        text = content.decode().partition("\n---\n")[2]  # below its head
    else:
        text = re.sub(r"\\-|\\-\\-", "--", content.decode())
    return re.sub(r"[\s{}]+", " ", text)


@pytest.mark.parametrize("form", [form for form in formats() if form != "latex-pdf"])
def test_students_sheets_have_no_recipe_unless_it_is_wanted(form):
    for solutions in ("blank", "partly"):
        assert "--seed" not in printed(SHEET.document(solutions), form)
        assert "seed 3" in printed(SHEET.document(solutions, recipe=True), form)
    for solutions in ("worked", "key", "answers"):
        assert "seed 3" in printed(SHEET.document(solutions), form)


def test_what_check_reads_has_the_recipe_in_its_head():
    for form in ("markdown", "notebook"):
        assert COMMAND in render(SHEET.worksheet, form)[1].decode()


def test_the_option_is_for_all_sheets_of_a_set(tmp_path):
    for recipe in (False, True):
        folder = tmp_path / str(recipe)
        symattn.worksheet("attention", n=2, seed=3, out=folder, forms=["text"], together=True, recipe=recipe)
        assert ("--seed 3" in (folder / "attention-3-all.txt").read_text("utf-8")) is recipe
        assert "--seed 3" in (folder / "attention-3-all-key.txt").read_text("utf-8")


COMMANDS = re.compile(r"`(symattn worksheet [^`]*)`")


def test_the_printed_command_makes_the_same_file_again(tmp_path):
    """As it stands in the footer, split as a shell does."""
    how = ["--format", "markdown", "--quiet", "--out"]
    made, again = tmp_path / "made", tmp_path / "again"
    asked = [
        "worksheet",
        "attention",
        "--level",
        "starter",
        "--mask",
        "[[1, 0, 1], [1, 1, 0], [0, 1, 1]]",
        "--seed",
        "3",
    ]
    for options in ([], ["--together", "--overview"]):
        assert CliRunner().invoke(main, [*asked, "-n", "3", *options, *how, str(made)]).exit_code == 0
    papers = [path for path in sorted(made.glob("*.md")) if path.stem.endswith(("-key", "-overview"))]
    assert len(papers) == 5
    for path in papers:
        [command] = set(COMMANDS.findall(path.read_text("utf-8")))
        _, *words = shlex.split(command)
        assert CliRunner().invoke(main, [*words, *how, str(again / path.stem)]).exit_code == 0
        assert (again / path.stem / path.name).read_bytes() == path.read_bytes()
