"""A teacher's own words: Markdown with formulas, as blocks of a page."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.derivation.mechanisms import Settings, mechanism, mechanisms
from symattn.errors import InputError, ReadError
from symattn.formula.from_tex import read_tex
from symattn.formula.speech import speak
from symattn.page import markup
from symattn.page.document import Display, Document, ItemList, Paragraph, Table
from symattn.page.notation import load_notation
from symattn.page.writers import latex, markdown, tex, text
from symattn.page.writers.characters import on_one_line, plain
from symattn.teaching.description import in_letters
from symattn.teaching.explanation.wording import Wording

TEXT = """
Explain **why** $Q K^\\top$ costs $5 and $6, `A @ V`:

- the *variance*,
- $d_k$

$$
Z = A V
$$
so that

| token | weight |
|---|---|
| a | $\\frac12$ |
"""


def test_paragraphs_lists_tables_and_formulas():
    kinds = [type(block) for block in markup.blocks(TEXT)]
    assert kinds == [Paragraph, ItemList, Display, Paragraph, Table]
    shown = text.write(Document("", markup.blocks(TEXT)))
    assert "Explain why QKᵀ costs $5 and $6, A @ V:" in shown
    assert "Z = AV" in shown
    assert "1/2" in shown
    assert "so that" in shown


def test_formulas_stand_in_headings():
    assert markdown.body(markup.blocks("## About $x_1$")).strip() == "**About** $x_{1}$"


def test_markdown_of_a_page_is_the_text_that_was_typed():
    written = markdown.body(markup.blocks("Why is **this** $Q$?\n\n1. one\n2. two"))
    assert written.split() == ["Why", "is", "**this**", "$Q$?", "1.", "one", "2.", "two"]


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=60))
def test_words_stay_as_they_were_typed_or_are_told(typed):
    try:
        shown = plain(markup.inlines(typed))
    except InputError:
        return
    letters = [c for c in typed if c.isalnum() and c.isascii()]
    assert [c for c in shown if c.isalnum() and c.isascii()] == letters or any(c in typed for c in "$&<\\[")


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("![crest](crest.svg)", "A text has the picture crest.svg"),
        ("[here](https://example.org)", "A text has a link to https://example.org; paper shows the address alone."),
        ("> quoted", "A text has a quotation, which not every format of pages shows"),
        ("a $\\int x$", "but \\int came"),
        ("- a\n  - b", "A list has another list in it"),
    ],
)
def test_what_no_page_shows_is_told(typed, says):
    with pytest.raises(InputError) as told:
        markup.blocks(typed)
    assert says in str(told.value)


# ------------------------------------------------------------------------------------------------ formulas

TYPED = {
    r"\frac{QK^\top}{\sqrt{d_k}}": "QKᵀ/√dₖ",
    r"Z = \mathrm{softmax}\left(\frac{Q K^T}{\sqrt{d_k}}\right)\!V": "Z = softmax(QKᵀ/√dₖ)V",
    r"Z = softmax(Q K^\mathsf{T}) V": "Z = softmax(QKᵀ)V",
    r"X \in \mathbb{R}^{n \times d_{\text{model}}}": "X ∈ ℝ^(n × d_model)",
    r"d_{model} = 512": "d_model = 512",
    r"W_Q,\; W^K": "W_Q, W^K",
    r"s_{ij} \leq s_{1,2}": "sᵢⱼ ≤ s₁₂",
    r"\begin{pmatrix} 1 & -2 \\ 0{,}5 & \frac12 \\ \end{pmatrix}": "(1 −2; 0,5 1/2)",
    r"O(n^2 d)": "O(n²d)",
    r"\alpha \cdot \hat{y}_1": "α·ŷ₁",
    r"x^{-1} + \lvert x\rvert - (1, 2)": "x⁻¹ + |x| − (1, 2)",
    r"n = 3 \quad m = 4": "n = 3    m = 4",
    r"-\infty": "−∞",
    r"2^T A^T": "2^T Aᵀ",
}


@pytest.mark.parametrize("source", TYPED)
def test_what_teachers_type_is_shown(source):
    assert on_one_line(read_tex(source)) == TYPED[source]
    assert speak(read_tex(source))


def test_sums_have_bounds_and_a_body():
    said = speak(read_tex(r"a_{ij} = \frac{e^{s_{ij}}}{\sum_{l=1}^{n} e^{s_{il}}}"))
    assert "the sum over l from 1 to n of e to the power s sub i l" in said


def same(source):
    """Braces and spaces make no difference."""
    return re.sub(r"[\s{}]|\\[,!]", "", source)


@pytest.mark.parametrize("name", mechanisms())
def test_the_formulas_of_every_mechanism_are_read_as_they_are_written(name):
    chosen = mechanism(name)
    d, _ = in_letters(chosen, Settings.read(chosen.defaults))
    wording = Wording(d, load_notation("standard"))
    sources = [latex.formula(of) for step in d for of in (wording.name(step.name), wording.rule(step))]
    plain = [source for source in sources if not re.search(r"\\text\{[^{}]*[\\-]", source)]  # words, and no formula
    assert len(plain) > len(sources) / 2
    for source in plain:
        assert same(latex.formula(read_tex(source))) == same(source)


def test_every_greek_letter_that_pages_write_is_read():
    for letter, command in tex.COMMANDS.items():
        assert on_one_line(read_tex(command)) == ("ε" if letter == "ε" else letter)


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (r"\int x", r"In the formula $\int x$, at character 1, a formula that can be shown in every format was "
         r"expected, but \int came."),
        (r"\frac{1}{", "at character 10, a number, a name or a bracket was expected, but the formula ends."),
        (r"f \circ g", r"but \circ came."),
        (r"a + ", "a number, a name or a bracket was expected, but the formula ends."),
        (r"\begin{bmatrix}1 & 2 \\ 3\end{bmatrix}", "a matrix whose rows are equally long was expected"),
        (r"\sqrt[3]{x}", "a square root was expected, but [ came."),
        (r"(1 + 2", ") was expected, but the formula ends."),
        (r"x^12", "braces round an index or exponent of several digits were expected, but 12 came."),
        ("{" * 50, "at most 40 levels of nesting were expected"),
        (r"\text{a", "} was expected, but the formula ends."),
    ],
)  # fmt: skip
def test_what_is_no_formula_is_told(source, says):
    with pytest.raises(ReadError, match=re.escape(says)):
        read_tex(source)
