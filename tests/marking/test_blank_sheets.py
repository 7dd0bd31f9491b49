"""A sheet that was handed in as it was printed holds nothing of a student's, in whatever language and look."""

from dataclasses import replace

import pytest

import symattn
from symattn.api import make_recipe
from symattn.foundation.languages import languages
from symattn.page.presentation import make_look, presented
from symattn.page.writers import html, markdown, notebook
from symattn.teaching.problems import drawn_types
from symattn.teaching.sheets import sheets

LOOKS = (
    *({"language": language} for language in languages()),
    {"brackets": "round"},
    {"transpose": "T"},
    {"decimal_sign": "comma"},
    {"language": "de", "decimal_sign": "point"},
)


@pytest.mark.covering(most=2)
@pytest.mark.parametrize("writer", [markdown, html, notebook])
@pytest.mark.parametrize(("turn", "problem"), list(enumerate(drawn_types()))[::3])
def test_nothing_that_was_printed_is_taken_for_somebodys_writing(turn, problem, writer):
    """Pages in other languages were once compared with the English page: all that is printed was left to a person."""
    (sheet,) = sheets(make_recipe(problem=problem, seed=3), 1)
    for look in LOOKS[turn // 3 :: 3]:
        page = presented(replace(sheet.worksheet, look=make_look(**look)))
        marking = symattn.check(sheet, writer.write(page))
        assert (marking.loose, marking.reports[0].pending, marking.reports[0].total) == ([], False, 0), look


def test_what_somebody_adds_is_still_seen():
    (sheet,) = sheets(make_recipe("attention", level="starter", seed=7), 1)
    page = markdown.write(presented(replace(sheet.worksheet, look=make_look(language="de"))))
    found = symattn.check(sheet, page + "\nDie Scores habe ich auf Blatt 2 gerechnet, bitte dort nachsehen.\n")
    assert found.reports[0].pending or found.loose
