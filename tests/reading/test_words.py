"""Words that students write, in every language: whichever of them it is, the same is read."""

import pytest
from test_forms import heard, read

from symattn.foundation.languages.words import words_for
from symattn.marking.submissions.office import UNNAMED

SCORES = ["1 0 1/2", "4 4 1"]
WRITTEN = {
    "row|token": "S:\n{} 1: 1 0 1/2\n{} 2: 4 4 1",
    "column|col": "S:\n{} 1: 1 4\n{} 2: 0 4\n{} 3: 1/2 1",
    "is|are": "S {} [[1, 0, 1/2], [4, 4, 1]]",
    "the": "{} Scores = [[1, 0, 1/2], [4, 4, 1]]",
    "and": "S = (1, 0, 1/2) {} (4, 4, 1)",
    "so|then|thus|hence|therefore|also|finally|we get":
        "{} S_11 = 1, S_12 = 0, S_13 = 1/2, S_21 = 4, S_22 = 4, S_23 = 1",
    "first try|first attempt|first version|1st try|1st attempt|1st version|wrong|old|incorrect|draft|scratch":
        "S ({}) = [[1, 1, 1], [4, 4, 1]]\nS = [[1, 0, 1/2], [4, 4, 1]]",
}  # fmt: skip
"""For each set of words a text that has one of them, and says what the scores are."""


def reads(text):
    form = {"what": "words", "sheet": "two queries", "typed": text}
    return heard(form, read(form))


@pytest.mark.parametrize(
    ("text", "word"), [(text, word) for words, text in WRITTEN.items() for word in words_for(words)]
)
def test_the_scores_are_read(text, word):
    assert reads(text.replace("{}", word)) == {"reads": {"S": SCORES}}


@pytest.mark.parametrize("word", [row for row in words_for("row|rows") if row.isascii()])
@pytest.mark.parametrize(("first", "second"), list(zip(words_for("first"), words_for("second"), strict=True)))
def test_rows_by_their_ordinals(word, first, second):
    assert reads(f"S: {first} {word} 1 0 1/2; {second} {word} 4 4 1") == {"reads": {"S": SCORES}}


def test_rows_by_their_ordinals_in_chinese():
    assert reads("分数S: 第一行 1 0 1/2; 第二行 4 4 1") == {"reads": {"S": SCORES}}


@pytest.mark.parametrize("word", words_for("minus|negative"))
def test_minuses_in_words(word):
    assert reads(f"S = [[1, 0, {word} 1/2], [4, 4, 1]]") == {"reads": {"S": ["1 0 -1/2", "4 4 1"]}}


def test_a_sign_that_is_a_word_in_some_language_stays_a_sign():
    assert reads("y[1,2] = 4") == {"reads": {"Z": ["· 4", "· ·"]}}


@pytest.mark.parametrize("word", words_for("sheet|worksheet"))
def test_numbers_of_sheets_are_no_names(word):
    assert UNNAMED.fullmatch(f"{word.capitalize()}1")
