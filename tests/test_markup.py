"""A teacher's own words: Markdown with formulas, as blocks of a page."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.errors import InputError
from symattn.page import markup
from symattn.page.document import Display, Document, ItemList, Paragraph, Table
from symattn.page.writers import markdown, text

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
        shown = text.plain(markup.inlines(typed))
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
