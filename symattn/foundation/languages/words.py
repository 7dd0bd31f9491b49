"""Words that are read, not printed, in every language: a file need not say which one it is in.

They stand in the language files as messages in the context "words", those for one thing parted by bars:

    msgctxt "words"
    msgid "column|col"
    msgstr "spalte"
"""

from __future__ import annotations

import re
from functools import cache

from symattn.foundation.languages import ENGLISH, catalogue, in_context, languages


@cache
def words_for(words: str) -> tuple[str, ...]:
    """What people type for one thing, in small letters: in English and in every other language.

    >>> words_for("column|col")
    ('column', 'col', 'spalte', 'columna', 'colonne', '列')
    """
    in_each = (catalogue(code).text(in_context("words", words)) for code in (ENGLISH, *languages()))
    return tuple(dict.fromkeys(word for said in in_each for word in said.split("|")))


def any_of(words: str) -> str:
    """A regular expression for what people type for one thing.

    >>> re.findall(any_of("row|token"), "row1, zeile 2")
    ['row', 'zeile']
    """
    return f"(?:{'|'.join(_escaped(words))})"


def whole_word(words: str) -> str:
    """The same, where it is no part of another word; Chinese words have no ends that can be seen.

    >>> re.findall(whole_word("is|are"), "this is 是")
    ['is', '是']
    """
    in_letters = "|".join(way for way in _escaped(words) if way < _HAN)
    in_chinese = "".join(f"|{way}" for way in _escaped(words) if way >= _HAN)
    return rf"(?:(?<!\w)(?:{in_letters})(?!\w){in_chinese})"


_HAN = "\u2e80"


def _escaped(words: str) -> list[str]:
    """As patterns, the longest first."""
    return [re.escape(word).replace("'", "['’]") for word in sorted(words_for(words), key=len, reverse=True)]
