"""Files of data in every language, blank sheets, files that cannot be used, and who handed in what.

What is read is in tests/reading.
"""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest
from filling import fill
from hypothesis import given
from hypothesis import strategies as st
from scripts import other_answer, other_results
from tables import tables_beside
from test_submissions_markdown import question, values
from trials import tries

import symattn
from symattn.api import make_recipe
from symattn.errors import InputError
from symattn.foundation.identity import identity
from symattn.foundation.languages import languages
from symattn.marking.attempt import Attempt
from symattn.marking.submissions import form_of, read_submission, sheet_of
from symattn.page.presentation import make_look, presented
from symattn.page.writers import html, markdown, notebook
from symattn.teaching.explanation.documents import question_document
from symattn.teaching.problems import drawn_types
from symattn.teaching.question import EntriesAnswer, OrderAnswer, StepAnswer
from symattn.teaching.sheets import sheets

SHEET = identity("a sheet")
FULL = question("full")


# ------------------------------------------------------------------------------------ one matrix, many ways


def test_decimals_of_toml_and_json_keep_their_digits():
    for text, form in (("Q = [[0.50, 1.0]]", "toml"), ('{"Q": [[0.50, 1.0]]}', "json")):
        said = read_submission(text, [FULL], form=form).attempts[0].answers["Q"]
        assert [entry.unit for entry in said.rows[0]] == [Fraction(1, 100), Fraction(1, 10)]
    [found] = read_submission("Q = [[0.5, 1]]", [FULL], form="toml", decimal_mark=",").attempts
    assert values(found.answers["Q"]) == [["1/2", "1"]]


def test_methods_are_named_as_their_lines_are():
    text = "methods = ['Q', 'weights']\n[answers]\nZ = [[1, 2]]"
    assert read_submission(text, [FULL], form="toml").attempts[0].methods == {"Q", "A"}


# ------------------------------------------------------------------------------------ in every language

IN = tables_beside(__file__)["words"]


@pytest.mark.parametrize("language", IN)
def test_labels_are_read_in_every_language(language):
    number, name, student, sheet, part, row, column, answer, queries, weights = IN[language]
    second = f"{number} 2" + (" 题" if language == "zh" else "")
    questions = [FULL, FULL]
    head = f"{sheet},{SHEET}\n{name},Ada\n{student},17\n"
    files = {
        "toml": f'"{sheet}" = "{SHEET}"\n"{name}" = "Ada"\n"{student}" = 17\n'
                f'["{second}"]\n"{queries}" = [[5, 6]]\n"{weights}" = [[7]]\n',
        "json": json.dumps({sheet: SHEET, name: "Ada", student: 17, second: {queries: [[5, 6]], weights: [[7]]}}),
        "csv": f"{head}{number},{part},{row},{column},{answer}\n"
               f"{second},{queries},1,1,5\n2,{queries},1,2,6\n2,{weights},1,1,7\n".replace("第,", "题目,"),
        "blocks": f"{head}\n{second}\n\n{queries}\n5,6\n\n{weights}\n7\n",
        "latex": f"\\documentclass{{article}}\n% {SHEET}\n"
                 f"\\sheetfields{{\\headfield{{{name}: Ada}}\\headfield{{{student}: 17}}}}"
                 f"\n\\begin{{document}}\n\\section*{{{second}. X}}\n$Q = \\begin{{pmatrix}} 5 & 6 \\end{{pmatrix}}$\n"
                 "$A = \\begin{pmatrix} 7 \\end{pmatrix}$\n",
    }  # fmt: skip
    for way, text in files.items():
        form = "csv" if way == "blocks" else way
        found = read_submission(text, questions, form=form)
        assert not found.attempts[0].answers, way
        assert {part: values(said) for part, said in found.attempts[1].answers.items()} == {
            "Q": [["5", "6"]],
            "A": [["7"]],
        }
        assert sheet_of(text, form) == (SHEET, "Ada", "17"), way
        assert not found.remarks


# ------------------------------------------------------------------------------------ what is said about a file


BROKEN = {
    "deep JSON": (b'{"answers": ' + b"[" * 100_000, "deep"),
    "too large": (b"x" * 2_000_001, "2 MB"),
    "too many values": (b"Q = [[" + b"1," * 30_000 + b"1]]", "values"),
}
"""What is too long for the table of forms, which has all else that is refused."""


@pytest.mark.parametrize("what", BROKEN, ids=str)
def test_a_file_that_cannot_be_used_is_refused_in_one_sentence(what):
    content, expected = BROKEN[what]
    with pytest.raises(InputError) as refused:
        read_submission(content, [FULL], source="ada.toml")
    message = str(refused.value)
    assert message.startswith("ada.toml: ")
    assert expected in message
    assert "\n" not in message.strip()


@cache
def worksheet():
    blank = markdown.write(question_document(FULL, SHEET, "symattn x"))
    return fill(blank, [FULL], [Attempt({})], name="Ada", student="17")


@pytest.mark.parametrize(
    ("text", "form"),
    [
        (worksheet, "markdown"),
        (lambda: worksheet().split("---\n", 2)[2], "markdown"),
        (f"sheet = '{SHEET}'\nname = 'Ada'\nstudent = 17\n[answers]\nQ = [[1]]", "toml"),
        (json.dumps({"sheet": SHEET, "name": "Ada", "student": "17", "answers": {"Q": [[1]]}}), "json"),
        (f"sheet,{SHEET}\nname,Ada\nstudent,17\n\nQ\n1\n", "csv"),
        (f"\\documentclass{{article}}\n\\begin{{document}}\n% {SHEET}\nName: Ada\n\nStudent ID: 17\n", "latex"),
    ],
)  # fmt: skip
def test_whose_it_is(text, form):
    text = text() if callable(text) else text
    assert sheet_of(text, form) == (SHEET, "Ada", "17")
    assert form_of(text) == form
    assert sheet_of(text.encode()) == (SHEET, "Ada", "17")


# ------------------------------------------------------------------------------------ laws


FORMS = st.sampled_from(["toml", "json", "csv", "latex", "markdown", ""])


@tries(20)
@given(st.text(st.characters(exclude_characters="\0"), max_size=200), FORMS)
def test_any_text_is_read_or_refused(text, form):
    refusal = ""
    try:
        found = read_submission(text, [FULL], form=form)
    except InputError as error:
        refusal = str(error)
    assert refusal.startswith("The text: ") if refusal else len(found.attempts) == 1


# ------------------------------------------------------------------------------------------------ blank sheets

LOOKS = (
    *({"language": language} for language in languages()),
    {"brackets": "round"},
    {"transpose": "T"},
    {"decimal_sign": "comma"},
    {"language": "de", "decimal_sign": "point"},
)


@pytest.mark.covering(most=2, rest=3)
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


# ------------------------------------------------------------------------------------------------ without the key

TYPES = sorted(set(drawn_types()))[::2]
TEXTS = ["dont know", "A B", "D C B A", "A < B", "3 x", "2x3", "12", "[[1, 2], [3]]", "1 2 ; 3 4", "x", "(9, 9)", "S'",
         "3x + ", "=", "none of these"]  # fmt: skip


@cache
def keys(kind, seed):
    """A question, and the same with another key; what is printed of a derivation stays as it is."""
    (sheet,) = sheets(make_recipe(problem=kind, seed=seed), 1)
    question = sheet.question
    parts = tuple(replace(part, answer=other_answer(part.answer)) for part in question.parts)
    problem = question.problem
    if problem is not None and not any(isinstance(part.answer, EntriesAnswer) for part in parts):
        asked = {part.answer.step for part in parts if isinstance(part.answer, StepAnswer)}
        problem = replace(problem, derivation=other_results(problem.derivation, asked))
    return question, replace(question, parts=parts, problem=problem)


def reading(text, form, question):
    """What a script is read as, with all that is said of it; or why it is refused."""
    try:
        return read_submission(text, [question], form=form)
    except InputError as error:
        return str(error)


@pytest.mark.covering(most=1, rest=2)
@pytest.mark.parametrize("kind", TYPES)
def test_reading_and_its_messages_do_not_depend_on_the_key(kind):
    question, changed = keys(kind, 3)
    for first in range(0, len(TEXTS), 3):
        said = {part.name: TEXTS[(first + k) % len(TEXTS)] for k, part in enumerate(question.parts)}
        script = "\n".join(f"{k}. {text}" for k, text in enumerate(said.values(), 1))
        for text, form in ((json.dumps({"answers": said}), "json"), (script, "markdown")):
            assert reading(text, form, question) == reading(text, form, changed)


def test_labels_of_an_order_are_named_in_the_order_of_the_alphabet():
    question, _ = keys("estimate", 3)
    part = next(part for part in question.parts if isinstance(part.answer, OrderAnswer))
    (attempt,) = read_submission(json.dumps({"answers": {part.name: "dont know"}}), [question], form="json").attempts
    (remark,) = attempt.remarks
    assert remark.says == "Found 'dont know', where A, B, C, D were expected in some order."
