"""The reader's choices: decimal sign, brackets, transpose sign, and that nothing else changes with them."""

import re
from dataclasses import replace

import pytest
from catalogue_sheets import BY_NAME, document, leaves
from hypothesis import given
from hypothesis import strategies as st
from sentences import refused_saying

from symattn.api import derive
from symattn.formula import (
    Call,
    Formula,
    ListOf,
    MatrixOf,
    Name,
    Negative,
    Number,
    Relation,
    Shape,
    Sum,
    Transposed,
)
from symattn.page.document import Document, Heading, Look, Math, Paragraph, Words
from symattn.page.presentation import make_look, presented
from symattn.teaching.exam.spec import exam_spec
from symattn.teaching.rendering import render

COMMA = Look(decimal=",")


@pytest.fixture(scope="module")
def key():
    return document(BY_NAME["self_attention"], "key")


def one(*content):
    return Document("", (Paragraph(tuple(content)),))


def test_without_a_choice_a_document_is_left_alone(key):
    assert presented(key) is key


def test_what_a_look_does_not_change_is_the_same_object():
    formula = Relation((Name("q"), Sum((Number("1"), Negative(Number("2"))))), ("=",))
    page = one(Words("no number"), Math(formula))
    page = replace(page, blocks=(*page.blocks, *one(Math(Number("0.5"))).blocks))
    for look in (COMMA, Look(language="de"), Look(language="de", decimal=",", brackets="(")):
        same, decimal = presented(replace(page, look=look)).blocks
        assert same.content[1].formula is formula
        assert (decimal is page.blocks[1]) == (look.decimal == ".")


@pytest.mark.covering(most=3)
@pytest.mark.parametrize("form", ["text", "markdown", "html", "latex", "typst"])
def test_every_format_has_the_comma(form, key):
    plain, comma = (render(replace(key, look=look), form)[1].decode() for look in (Look(), COMMA))
    weight = re.search(r"0\.\d{4}", render(key, "text")[1].decode())
    assert weight[0] in plain
    assert weight[0] not in comma
    assert re.search(weight[0].replace(".", r"\{?,\}?"), comma.replace("\\,", ","))


@pytest.mark.parametrize("node", [
    ListOf((Number("0.5"), Number("1")), "[", ","),
    Call(Name("max"), (Number("0.5"), Number("1"))),
    Shape(Number("3"), Number("4")),
    MatrixOf(((Number("0.5"), Number("1")),), "[", ","),
])  # fmt: skip
def test_what_commas_parted_semicolons_part(node):
    [paragraph] = presented(replace(one(Math(node)), look=COMMA)).blocks
    [math] = paragraph.content
    assert getattr(math.formula, "separator", "") == ";"


def test_brackets_and_transpose_sign_are_everywhere(key):
    shown = [*leaves(presented(replace(key, look=Look(brackets="(", transpose="T"))).blocks, Formula)]
    assert {n.bracket for n in shown if isinstance(n, MatrixOf)} == {"("}
    assert {n.sign for n in shown if isinstance(n, Transposed)} == {"T"}
    assert any(isinstance(n, Transposed) for n in shown)


def test_bars_are_no_brackets():
    node = MatrixOf(((Number("1"),),), "|")
    [paragraph] = presented(replace(one(Math(node)), look=Look(brackets="("))).blocks
    assert [*leaves(paragraph, MatrixOf)] == [node]


@given(st.integers(0, 999), st.integers(0, 999))
def test_numbers_in_words_have_the_comma(whole, part):
    page = presented(replace(one(Words(f"About {whole}.{part}, at most.")), look=COMMA))
    assert page.blocks == one(Words(f"About {whole},{part}, at most.")).blocks


@pytest.mark.parametrize("words", ["See section 3.2.1.", "symattn 0.9.1", "v1.5", "192.168.0.1", "Part 2. It", "1.5a"])
def test_numbers_of_sections_and_versions_stay(words):
    assert presented(replace(one(Words(words)), look=COMMA)).blocks == one(Words(words)).blocks


def test_headings_are_not_decimals():
    page = Document(
        "",
        (
            Heading(
                (Words("Exercise 2.1"), Math(Number("0.5"))),
            ),
        ),
        look=COMMA,
    )
    assert presented(page).blocks == (
        Heading(
            (Words("Exercise 2.1"), Math(Number("0,5"))),
        ),
    )


def test_a_choice_that_there_is_not_is_named():
    with refused_saying("paper is 'a5'; did you mean a4"):
        make_look(paper="a5")
    with refused_saying("text_size is True; one of 11, 18, 24"):
        make_look(text_size=True)
    with refused_saying("no choice 'colour'"):
        make_look(colour="red")


def test_an_exam_file_says_the_look(tmp_path):
    path = tmp_path / "exam.toml"
    data = {"paper": "letter", "decimal_sign": "comma", "transpose": "T", "question": [{"type": "masks"}]}
    assert exam_spec(data, path).look == Look(paper="letter", decimal=",", transpose="T")
    with refused_saying(r"exam\.toml: brackets is 'angle'; one of square, round was expected"):
        exam_spec({"brackets": "angle", "question": [{"type": "masks"}]}, path)


def test_a_note_keeps_its_words_and_gets_the_brackets():
    solution = replace(derive("note-002"), look=make_look(brackets="round"))
    assert "⎛" in solution.text()
    assert "⎡" not in solution.text()
