"""docs/gallery.md has everything that there is, with commands that are understood; its pictures are made by hand."""

import re
import shlex

import click
import gallery
import pytest

from symattn.cli import main
from symattn.derivation.mechanisms import mechanisms
from symattn.teaching.explanation import LAYOUTS
from symattn.teaching.problems import drawn_types

PAGE = gallery.FILE.read_text("utf-8")
LISTED = list(gallery.entries())


def test_the_page_is_current():
    assert gallery.gallery() == PAGE, "run `make gallery`"


def test_everything_has_its_entry():
    stems = re.findall(r"/([\w-]+)\.png\)", PAGE)
    assert len(set(stems)) == len(stems)
    assert set(stems) == {
        *(f"layout-{name}" for name in LAYOUTS),
        *(f"type-{name}" for name in drawn_types()),
        *(f"mechanism-{name}" for name in mechanisms()),
    }


def test_there_is_a_picture_of_everything_and_together_they_are_small():
    there = {path.stem: path.stat().st_size for path in gallery.PICTURES.iterdir()}
    assert set(there) == {entry.stem for entry in LISTED}, "run `make gallery`"
    assert sum(there.values()) < 3_000_000


@pytest.mark.parametrize("entry", LISTED, ids=lambda entry: entry.stem)
def test_every_command_is_understood(entry):
    assert f"`{entry.command}`" in PAGE
    program, verb, *arguments = shlex.split(entry.command)
    assert program == "symattn"
    command = main.get_command(click.Context(main), verb)
    told = command.make_context(verb, arguments).params  # refuses what it does not know
    assert told["seed"] == gallery.SEED
