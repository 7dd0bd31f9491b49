"""The words that a sheet prints for its reader, in every language there is: a file need not say which one it is in.

All of them come from the language files, as the printed ones do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from symattn.foundation.languages import ENGLISH, catalogue, languages, message
from symattn.foundation.languages.words import any_of
from symattn.page.presentation import in_language

FIELDS = {"Name": "name", "Student ID": "student", "Student number": "student", "ID": "student"}
"""Labels of the lines at the head of a page, with what is written behind them."""

TYPED = (
    message("attention"), message("masked"), message("rounded"), message("context"), message("raw scores"),
    message("attention weights"), message("weighted sum"), message("concatenated heads"), message("final output"),
)  # fmt: skip
"""Words for steps that no page prints by themselves; `names.WORDS` has them, and students type them."""

TITLES = (
    message("worksheet"), message("answers"), message("solutions"), message("homework"), message("exam"),
)  # fmt: skip
"""Words that students write at the head of a page of their own."""

BULLETS = "-–—*+•‣▪◦●"
"""Before items of a list."""

AND = any_of("and")
ROW, COLUMN = any_of("row|token"), any_of("column|col")
IS = any_of("is|are")
SO = any_of("so|then|thus|hence|therefore|also|finally|we get")
MATRIX = any_of("matrix|matrices")
MINUS = any_of("minus|negative")
ABOUT = any_of("approx|approx.|approximately|about|around|roughly|ca.|circa|rounded|rounded to")
BY = any_of("by")
MARKS = any_of("marks|mark|points|point|pts|pt") + r"\.?"
"""Behind the number of marks that something is worth."""

_QUESTION = any_of("question|qu|q|exercise|ex|problem|task|part|answer|ans|solution|no|nr")
PLACE_WORD = rf"(?:(?:{any_of('answer to|solution to')} )?{_QUESTION})"
PART_WORD = any_of("part|step|task|exercise|no")
"""Before the number of a question, and before the number or the letter of a part."""

OTHERS = tuple(language for language in languages() if language != ENGLISH)


@cache
def said(label: str) -> tuple[str, ...]:
    """A label in every language, English first.

    >>> said("Answer")
    ('Answer', 'Antwort', 'Respuesta', 'Réponse', '答案')
    """
    return tuple(dict.fromkeys((label, *(in_language(label, language) for language in OTHERS))))


def pattern(*labels: str) -> str:
    """A regular expression for any of the labels in any language; a 7 in a label stands for any number."""
    ways = dict.fromkeys(way.rstrip(".。") for label in labels for way in said(label))
    return "|".join(re.escape(way).replace("7", r"\d{1,3}") for way in ways)


@cache
def question() -> re.Pattern[str]:
    r"""Question 2, Aufgabe~2, question_2: with the number in a group of its own, `number_in` says which.

    >>> number_in(question().match("Aufgabe 2"))
    2
    """
    ways = []
    for label in said(message("Question {number}.", number=7)):
        before, _, after = (re.escape(word.strip()) for word in label.rstrip(".。").partition("7"))
        ways.append(before + _BETWEEN + r"(\d{1,3})(?![0-9])" + (_BETWEEN + after if after else ""))
    return re.compile(f"(?i)(?:{'|'.join(ways)})")


@cache
def before_answer() -> re.Pattern[str]:
    """Answer:, Antwort:, **Résultat :**, the answer is, as it stands before one; the word is in a group."""
    words = pattern("Answer", "Result", "Solution")
    return re.compile(rf"(?i)[*_]{{0,2}}(?:the )?({words})[*_]{{0,2}}(?:\s?[:：=]|\s+is\b:?)[*_]{{0,2}}\s*")


@cache
def of_one() -> re.Pattern[str]:
    """The head or the token of which something is: head 2, Kopf 2, token 3."""
    return re.compile(f"(?i)(?:{pattern(message('Head {head}', head=7), message('token {token}', token=7))})")


_BETWEEN = r"[\s~{}*_-]*"


def number_in(found: re.Match[str]) -> int:
    """The number in whichever group has one."""
    return int(next(filter(None, found.groups())))


@cache
def title() -> re.Pattern[str]:
    """A word of a title in any language, with numbers and names behind it: Worksheet 3, Ada."""
    ways = {way for word in TITLES for way in (word, *(way for language in OTHERS for way in words(word, language)))}
    return re.compile(f"(?i:my )?(?i:{'|'.join(sorted(ways))})(?:[\\s,:–-]+(?:[0-9]+|[A-Z]\\w*))*")


@cache
def fields(language: str = "") -> Mapping[str, str]:
    """The labels of the lines at the head of a page, and what each is for: in every language, or in one and English.

    Whoever knows the language should say so: what is a name in Spanish, *Nombre*, is a number in French.
    """
    if language:
        return {way: key for label, key in FIELDS.items() for way in (label, in_language(label, language))}
    return {way: key for label, key in FIELDS.items() for way in said(label)}


def words(word: str, language: str) -> Iterator[str]:
    """A word of ours in another language, as far as it has one; also without what it adds in brackets.

    >>> list(words("queries", "de")), list(words("nonsense", "de"))
    (['Anfragen (Queries)', 'Anfragen'], [])
    """
    known = catalogue(language)
    found = known.template(word) or known.template(word[:1].upper() + word[1:])
    if found is not None:
        yield found
        if found.endswith(")"):
            yield found.partition(" (")[0]


def in_others(names: Iterable[str], languages: Sequence[str] = OTHERS) -> Iterator[str]:
    """Words of ours in other languages."""
    return (said for word in names for language in languages for said in words(word, language))


def before_item(numbers: str, count: int) -> str:
    """The bullet, the number or the letter of an item in a list."""
    match numbers:
        case "bullet":
            return "• "  # a hyphen might be a minus
        case "lowerLetter" | "upperLetter" if count <= 26:
            return f"({chr(ord('a') + count - 1)}) "
    return f"{count}. "


def in_every_language(meanings: Mapping[str, str]) -> dict[str, str]:
    """Words in small letters, in every language, with what each stands for; English has the first say."""
    found = dict(meanings)
    for word, meaning in meanings.items():
        for language in OTHERS:
            for way in words(word, language):
                found.setdefault(way.casefold(), meaning)
    return found
