"""Every problem type in the catalogue, on paper: added files are tested on arrival."""

from dataclasses import replace
from functools import cache

import pytest
from writer_markdown_rules import lint

from symattn.api import make_recipe
from symattn.foundation.dice import Dice
from symattn.teaching.problems import problem_type, problem_types
from symattn.teaching.sheets import freeze_sheets, render, sheets, thaw_sheets

TYPES = list(problem_types())
LEVELS = ("starter", "standard", "long")


def drawn(name, level):
    return list(sheets(make_recipe(problem=name, seed=11, level=level), 2))


made = cache(drawn)
"""Two sheets of every type and level, drawn once for all tests."""


@pytest.mark.covering(most=1)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", TYPES)
def test_a_worksheet_and_a_key_in_every_format_and_the_same_bytes_from_the_frozen_set(name, level):
    first = made(name, level)
    frozen = thaw_sheets(freeze_sheets(first), "set.json")
    assert list(frozen) == [sheet.name for sheet in first]
    assert first[0].name != first[1].name
    for sheet in first:
        again = replace(sheet, question=frozen[sheet.name])
        for document, solutions in ((sheet.worksheet, "blank"), (sheet.key, "key")):
            for form in ("latex", "markdown", "typst", "text"):
                assert render(document, form) == render(again.document(solutions), form)
            assert lint(render(document, "markdown")[1].decode()) == []


@pytest.mark.covering(most=1)
@pytest.mark.parametrize("level", ["starter", "standard"])
@pytest.mark.parametrize("name", TYPES)
def test_drawn_again_it_is_the_same(name, level):
    assert drawn(name, level) == made(name, level)


@pytest.mark.covering(most=2)
@pytest.mark.parametrize("name", TYPES)
def test_every_question_has_parts_with_marks_answers_and_a_load(name):
    for sheet in made(name, "standard"):
        question = sheet.question
        assert question.marks >= 4
        assert all(part.marks and part.ask and part.key for part in question.parts)
        assert question.features["load"] > 0
        assert list(question.entries())


def test_titles_and_options_are_said_in_words():
    for chosen in problem_types().values():
        assert chosen.title[0].isupper()
        for default, word in chosen.options.values():
            assert word
            assert isinstance(default, str | int | bool | list)


@pytest.mark.parametrize("name", ["counts", "design", "estimate", "heatmap", "masks", "prove", "shapes"])
def test_the_right_options_of_one_worksheet_stand_anywhere(name):
    """A worksheet alone is the first variant of its family: over seeds its answers do not always stand at A."""
    chosen, places = problem_type(name), {}
    for seed in range(8):
        dice = Dice.seeded(seed)
        spec = chosen.spec({"type": name})
        question = chosen.make(chosen.draw(spec, dice.rng(1), 1, chosen.family(spec, dice.rng("family"))))
        for what, found in question.positions.items():
            places.setdefault(what, set()).add(found)
    places.pop("mask" if name == "masks" else "", None)  # whose kinds come in turn, the causal one first
    assert places
    assert all(len(found) > 1 for found in places.values()), places
