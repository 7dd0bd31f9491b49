"""Answers that are words: where a step gives numbers that stand for words, the word counts as its number."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from symattn.exact.reading import read
from symattn.marking.attempt import Attempt, Entry, Grid
from symattn.teaching.question import Question, asked_step

_BOTH = re.compile(r"(?P<number>\d+)[\s.:=,(]+(?P<word>.+?)\)?|(?P<first>.+?)[\s:=,(]+(?P<second>\d+)\)?")
"""4 their, 4 = their, their (4)."""

_LONGEST = 80
"""Characters of a word with its number; no longer text is searched for them."""

_UPRIGHT = re.compile(r"\\(?:text|textbf|textit|mathrm|operatorname|mbox)\{([^{}]*)\}")
_ROUND_IT = " \t\"'“”‘’„«»*_`$.,;:!"
"""Quotation marks, punctuation, and what editors make words bold with."""


def with_words_read(question: Question, attempt: Attempt) -> Attempt:
    """The attempt with the number of the word for each word in the boxes of steps that have words.

    A word and its number together count as the number; a word that there is not, or one with another number, stays as
    it was read.
    """
    answers, remarks = dict(attempt.answers), attempt.remarks
    for part, words in _parts_with_words(question):
        said = answers.get(part)
        if not isinstance(said, Grid):
            continue
        numbered = Grid(tuple(tuple(_numbered(entry, words) for entry in row) for row in said.rows))
        if numbered == said:
            continue
        read_now = {old.complaint for (_, _, old), (_, _, new) in zip(said.cells(), numbered.cells(), strict=True)
                    if old.complaint and not new.complaint}  # fmt: skip
        remarks = tuple(r for r in remarks if r.says not in read_now or r.where.partition("[")[0] != part)
        answers[part] = numbered
    return replace(attempt, answers=answers, remarks=remarks)


def _parts_with_words(question: Question) -> Iterator[tuple[str, Mapping[str, int]]]:
    """Parts that ask for such a step, each with the numbers of its words."""
    for part in question.parts:
        if (asked := asked_step(question, part)) is not None:
            d, name = asked
            step = next((step for step in d if step.name == name), None)
            if step is not None and step.op.words:
                yield part.name, _numbers(step.op.words)


def _numbers(words: Sequence[str]) -> dict[str, int]:
    """Each word by its plain form; two that differ only in capitals keep them."""
    plain = [word.casefold() for word in words]
    return {word if plain.count(word.casefold()) > 1 else word.casefold(): n for n, word in enumerate(words, 1)}


def _numbered(entry: Entry, numbers: Mapping[str, int]) -> Entry:
    text = entry.text.strip(_ROUND_IT)
    if upright := _UPRIGHT.fullmatch(text):
        text = upright[1].strip(_ROUND_IT)
    number, word = _number_of(text, numbers), text
    if number is None and len(text) <= _LONGEST and (both := _BOTH.fullmatch(text)):
        stated = int(both["number"] or both["second"])
        word = both["word"] or both["first"]
        number = stated if _number_of(word, numbers) == stated else None
    if number is None:
        return entry
    return Entry(entry.text, read(str(number)), number, word=word)


def _number_of(text: str, numbers: Mapping[str, int]) -> int | None:
    return numbers.get(text, numbers.get(text.casefold()))
