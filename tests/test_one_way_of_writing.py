"""Signs and numbers are written one way on all pages."""

import re
from dataclasses import replace
from html import unescape

import pytest
from catalogue_sheets import ROWS, document
from tables import tables_beside

import symattn
from symattn.api import make_recipe
from symattn.derivation.misconceptions import misconceptions
from symattn.derivation.slips import SLIPS
from symattn.exact import NEGATIVE_INFINITY
from symattn.foundation.languages import say, speaking
from symattn.page.document import Look, Words, spans
from symattn.page.presentation import presented
from symattn.page.writers import FORMATS
from symattn.teaching.explanation.wording import in_signs, step_in_signs
from symattn.teaching.sheets import sheets

TABLES = tables_beside(__file__)

GAP = "\N{NO-BREAK SPACE}"


def sheet(problem, **options):
    [made] = sheets(make_recipe("", {}, problem=problem, **options), 1)
    return made


def words_on(made):
    return "\n".join(
        FORMATS["text"].write(replace(document, sheet="", recipe="")) for document in (made.worksheet, made.key)
    )


@pytest.mark.parametrize("language", ["fr", "zh"])
@pytest.mark.parametrize("writer", ["html", "latex", "markdown", "notebook", "text", "typst"])
def test_a_label_has_the_colon_of_its_language(writer, language):
    page = replace(document(ROWS[0]), look=Look(language=language))
    written = unescape(FORMATS[writer].write(presented(page)))
    gap = GAP
    if writer == "latex":
        written, gap = re.sub("%.*", "", written), "~"
    elif writer == "text":  # which is copied into other things
        gap = " "
    colon = {"fr": f"{gap}:", "zh": "："}[language]
    with speaking(language):
        names = [say(field) for field in ("Name", "Student ID", "Date")]
    for name in names:
        if writer == "typst":
            name = name.replace("'", "\N{RIGHT SINGLE QUOTATION MARK}")
        assert re.search(rf"{name}{colon}", written), name
        assert not re.search(rf"{name}:", written), name


@pytest.mark.parametrize("problem", ["recurrence", "counts"])
def test_weights_have_one_sign_in_a_notation(problem):
    for seed in (1, 2, 11):
        said = words_on(sheet(problem, seed=seed))
        assert not re.search(r"W_[QKVO]", said)


def test_no_name_of_a_matrix_runs_into_the_number_of_its_rows():
    """mask = 2: the equals sign beside row 2 of four."""
    assert not re.search(r"mask *= *\d", words_on(sheet("masks", seed=11)))


def test_names_and_powers_are_formulas_in_what_is_said_of_mistakes():
    for known in (*misconceptions().values(), *SLIPS.values()):
        said = in_signs(known.name)
        in_words = "".join(part.text for part in spans(said) if isinstance(part, Words))
        assert not set("_^") & set(in_words), known.id
        around = known.feedback.split("$")[::2]
        assert not re.search(r"[_^]", "".join(re.sub(r"\{\w+\}", "", part) for part in around)), known.id


def test_steps_are_formulas_where_they_are_names_of_matrices():
    assert [isinstance(part, Words) for step in ("S'", "A_1", "Z", "(b)", "A.1") for part in step_in_signs(step)] == [
        False, False, False, True, True,
    ]  # fmt: skip


INTEGERS = TABLES["integers"]


@pytest.mark.parametrize(
    ("settings", "fractions"),
    TABLES["fractions"],
)  # fmt: skip
def test_fractions_are_spoken_of_where_there_are_any(settings, fractions):
    made = symattn.derive("self_attention", **INTEGERS, **settings).worksheet()
    entries = [entry for step in made.problem.asked_steps for entry in step.result]
    assert fractions == any(not isinstance(entry, int) and entry is not NEGATIVE_INFINITY for entry in entries)
    assert ("fractions" in FORMATS["text"].write(made.worksheet)) == fractions
