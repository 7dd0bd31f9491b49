"""Signs and numbers are written one way on all pages."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape

import pytest

import symattn
from symattn.api import make_recipe
from symattn.derivation.misconceptions import SLIPS, misconceptions
from symattn.exact import NEGATIVE_INFINITY
from symattn.foundation.languages import say, speaking
from symattn.page.document import Look, Words, spans
from symattn.page.presentation import presented
from symattn.page.writers import FORMATS
from symattn.teaching.explanation.wording import in_signs, step_in_signs
from symattn.teaching.sheets import Sheet, sheets

GAP = "\N{NO-BREAK SPACE}"


def sheet(problem: str, **options: object) -> Sheet:
    [made] = sheets(make_recipe("", {}, problem=problem, **options), 1)
    return made


def words_on(made: Sheet) -> str:
    return "\n".join(
        FORMATS["text"].write(replace(document, sheet="", recipe="")) for document in (made.worksheet, made.key)
    )


@pytest.mark.parametrize(("problem", "level"), [("counts", "standard"), ("counts", "long"), ("recurrence", "long")])
def test_thousands_are_written_one_way(problem: str, level: str) -> None:
    """1 048 576 and 10 240, but 4096: a gap before every three digits, from five digits on."""
    made = sheet(problem, seed=11, level=level)
    said = "\n".join(FORMATS["markdown"].write(replace(x, sheet="", recipe="")) for x in (made.worksheet, made.key))
    found = re.findall(rf"(?<![\w.])\d+(?:{GAP}\d+)*(?![\w{GAP}]|\.\d)", said)
    long = [number for number in found if len(number.replace(GAP, "")) > 3]
    assert len(long) > 2
    assert any(GAP in number for number in long)
    for number in long:
        digits = number.replace(GAP, "")
        groups = [digits[max(0, i - 3) : i] for i in range(len(digits), 0, -3)][::-1]
        assert number == (digits if len(digits) == 4 else GAP.join(groups)), number


@pytest.mark.covering(most=6)
@pytest.mark.parametrize("language", ["fr", "zh"])
@pytest.mark.parametrize("writer", ["html", "latex", "markdown", "notebook", "text", "typst"])
def test_a_label_has_the_colon_of_its_language(writer: str, language: str) -> None:
    document = replace(sheet("full", seed=7).worksheet, look=Look(language=language))
    written = unescape(FORMATS[writer].write(presented(document)))
    gap = GAP
    if writer == "latex":
        written, gap = re.sub("%.*", "", written), "~"
    elif writer == "text":  # which is copied into other things
        gap = " "
    colon = {"fr": f"{gap}:", "zh": "："}[language]
    with speaking(language):
        names = [say(field) for field in ("Name", "Student ID", "Date")]
    for name in names:
        assert re.search(rf"{name}{colon}", written), name
        assert not re.search(rf"{name}:", written), name


@pytest.mark.parametrize("problem", ["full", "gradient", "recurrence"])
def test_headings_of_markdown_have_no_signs_of_tex(problem: str) -> None:
    """Readers of Markdown show what stands in a heading in their outlines too, so it is plain: Q₃ₓ₄."""
    headings = re.findall(r"^#.*", FORMATS["markdown"].write(sheet(problem, seed=11).worksheet), re.MULTILINE)
    assert not any(re.search(r"[{}$]|_(?!_)", heading) for heading in headings), headings


@pytest.mark.parametrize("problem", ["recurrence", "counts"])
def test_weights_have_one_sign_in_a_notation(problem: str) -> None:
    for seed in (1, 2, 11):
        said = words_on(sheet(problem, seed=seed))
        assert not re.search(r"W_[QKVO]", said)


def test_no_name_of_a_matrix_runs_into_the_number_of_its_rows() -> None:
    """mask = 2: the equals sign beside row 2 of four."""
    assert not re.search(r"mask *= *\d", words_on(sheet("masks", seed=11)))


@pytest.mark.parametrize("known", [*misconceptions().values(), *SLIPS.values()], ids=lambda known: known.id)
def test_names_and_powers_are_formulas_in_what_is_said_of_mistakes(known: object) -> None:
    said = in_signs(known.name)  # type: ignore[attr-defined]
    assert not any("_" in part.text or "^" in part.text for part in spans(said) if isinstance(part, Words))
    around = known.feedback.split("$")[::2]  # type: ignore[attr-defined]
    assert not re.search(r"[_^]", "".join(re.sub(r"\{\w+\}", "", part) for part in around))


def test_steps_are_formulas_where_they_are_names_of_matrices() -> None:
    assert [isinstance(part, Words) for step in ("S'", "A_1", "Z", "(b)", "A.1") for part in step_in_signs(step)] == [
        False, False, False, True, True,
    ]  # fmt: skip


@pytest.mark.covering(most=1)
@pytest.mark.parametrize(
    ("settings", "fractions"),
    [({"scale": "none"}, False), ({"scale": "none", "mask": "causal"}, False), ({"mask": "causal"}, True)],
)
def test_fractions_are_spoken_of_where_there_are_any(settings: dict[str, str], fractions: bool) -> None:
    [made] = symattn.worksheet(
        "self_attention", seed=4, sizes={"d_k": 3}, stop_at="M" if "mask" in settings else "S", **settings
    )
    entries = [entry for step in made.problem.asked_steps for entry in step.result]
    assert fractions == any(not isinstance(entry, int) and entry is not NEGATIVE_INFINITY for entry in entries)
    assert ("fractions" in FORMATS["text"].write(made.worksheet)) == fractions
