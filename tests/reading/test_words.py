"""Words that students write, in every language: what each is for, whichever word it is."""

import pytest
from test_forms import heard, read

from symattn.foundation.languages.words import words_for

S = "S = [[1, 0, 1/2], [4, 4, 1]]"


def typed(text, sheet="two queries"):
    form = {"what": "words", "sheet": sheet, "typed": text}
    return heard(form, read(form))


@pytest.mark.parametrize("word", words_for("row|token"))
def test_rows_by_their_numbers(word):
    assert typed(f"S:\n{word} 1: 1 0 1/2\n{word} 2: 4 4 1") == typed(S)


@pytest.mark.parametrize("word", words_for("column|col"))
def test_columns_by_their_numbers(word):
    assert typed(f"S:\n{word} 1: 1 4\n{word} 2: 0 4\n{word} 3: 1/2 1") == typed(S)


@pytest.mark.parametrize("word", words_for("is|are"))
def test_verbs_for_equals(word):
    assert typed(f"S {word} [[1, 0, 1/2], [4, 4, 1]]") == typed(S)


@pytest.mark.parametrize("word", words_for("the"))
def test_articles(word):
    assert typed(f"{word} Scores = [[1, 0, 1/2], [4, 4, 1]]") == typed(S)


@pytest.mark.parametrize("word", words_for("and"))
def test_rows_joined_by_words(word):
    assert typed(f"S = (1, 0, 1/2) {word} (4, 4, 1)") == typed(S)


@pytest.mark.parametrize("word", words_for("and"))
def test_what_stands_before_a_statement(word):
    assert typed(f"{word} S_11 = 1, S_12 = 0, S_13 = 1/2") == typed("S_11 = 1, S_12 = 0, S_13 = 1/2")


def test_a_sign_that_is_a_word_in_some_language_stays_a_sign():
    assert typed("y[1,2] = 4") == typed("Z[1,2] = 4")


@pytest.mark.parametrize("word", words_for("minus|negative"))
def test_minuses_in_words(word):
    assert typed(f"S = [[1, 0, {word} 1/2], [4, 4, 1]]") == typed("S = [[1, 0, -1/2], [4, 4, 1]]")


@pytest.mark.parametrize(
    "word",
    words_for(
        "first try|first attempt|first version|1st try|1st attempt|1st version|wrong|old|incorrect|draft|scratch"
    ),
)
def test_what_was_crossed_out_in_words(word):
    assert typed(f"S ({word}) = [[1, 1, 1], [4, 4, 1]]\n{S}") == typed(S)


@pytest.mark.parametrize("word", words_for("sheet|worksheet"))
def test_numbers_of_sheets_are_no_names(word):
    from symattn.marking.submissions.office import UNNAMED

    assert UNNAMED.fullmatch(f"{word.capitalize()}1")


@pytest.mark.parametrize("word", [row for row in words_for("row|rows") if row.isascii()])
@pytest.mark.parametrize(("first", "second"), list(zip(words_for("first"), words_for("second"), strict=True)))
def test_rows_by_their_ordinals(word, first, second):
    assert typed(f"S: {first} {word} 1 0 1/2; {second} {word} 4 4 1") == typed(S)


def test_rows_by_their_ordinals_in_chinese():
    assert typed("分数S: 第一行 1 0 1/2; 第二行 4 4 1") == typed(S)
