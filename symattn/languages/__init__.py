"""Languages of a page: catalogues of messages, whose source is English.

A catalogue is a TOML file, `<code>.toml` in this folder or a user's own:

    [language]
    code = "de"
    name = "Deutsch"
    plural = "one if n == 1"

    [signs]
    and = " und "

    [messages.worksheet]
    "Fill in every box." = "Fülle alle Kästchen aus."
    "This paper has {1} questions." = {one = "… {1} Frage.", other = "… {1} Fragen."}

{1}, {2}, … stand for numbers in the order of the English sentence, {a}, {b}, … for formulas and whatever else is not
translated, {word}, {word2}, … for words that are messages themselves.  Plural forms are those of CLDR, by the first
number or by the one that `plural = "{2}"` names.  A message without a translation stays English.  Signs that are not
given are those of English.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from symattn.errors import InputError, offered
from symattn.files import read_toml
from symattn.languages.messages import (
    PLACE,
    Message,
    capitalised,
    counted,
    filled,
    in_context,
    listed,
    message,
    places,
    sentences,
)

PLURALS: Mapping[str, tuple[str, ...]] = {
    "one if n == 1": ("one", "other"),
    "one if n < 2": ("one", "other"),
    "other": ("other",),
}
"""The rules of CLDR that a language may name, with the forms that each has."""

SIGNS: Mapping[str, str] = {
    "colon": ":",
    "semicolon": ";",
    "stop": ".",
    "space": " ",
    "comma": ", ",
    "and": " and ",
    "decimal": ".",
    "open": "“",
    "close": "”",
    "left": "(",
    "right": ")",
}
"""After a label, after a clause, at the end of a sentence, between sentences, between things listed; in decimals; round
what is quoted; round a remark."""

PLACEHOLDER = re.compile(r"\{(\w+)\}")
Translation = str | Mapping[str, str]


@dataclass(frozen=True)
class Catalogue:
    """The messages of one language with their translations."""

    code: str
    name: str
    plural: str = "one if n == 1"
    messages: Mapping[str, Translation] = field(default_factory=dict)
    signs: Mapping[str, str] = field(default_factory=lambda: SIGNS)

    def template(self, message: str, values: Mapping[str, str]) -> str | None:
        """The translation with its placeholders, in the plural form that its number asks for; None if there is none."""
        translation = self.messages.get(message)
        if translation is None or isinstance(translation, str):
            return translation
        counted = translation.get("plural", "") or f"{{{_first_number(message)}}}"
        return translation[self._form(values.get(counted.strip("{}"), ""))]

    def _form(self, number: str) -> str:
        """The plural form: what is no whole number, such as a list of numbers, has the form `other`."""
        if self.plural == "one if n < 2":
            return "one" if number in ("0", "1") else "other"
        return "one" if self.plural == "one if n == 1" and number == "1" else "other"

    def say(self, message: str, *values: object) -> str:
        """The message in this language, with values for {1}, {2}, …; in English if there is no translation."""
        named = {str(k): str(value) for k, value in enumerate(values, 1)}
        return PLACEHOLDER.sub(lambda found: named.get(found[1], found[0]), self.template(message, named) or message)


def _first_number(message: str) -> str:
    return next((name for name in PLACEHOLDER.findall(message) if name.isdigit()), "")


# --- files ----------------------------------------------------------------------------------------------

ENGLISH = "en"


@cache
def languages() -> tuple[str, ...]:
    """The codes of the ready languages, English among them."""
    folder = resources.files(__name__)
    return tuple(sorted(f.name.removesuffix(".toml") for f in folder.iterdir() if f.name.endswith(".toml")))


@cache
def catalogue(language: str) -> Catalogue:
    """A language by its code, or by the path of a user's own file; `InputError` says what is wrong with it, and where.

    >>> catalogue("en").say("page {1} of {2}", 1, 3)
    'page 1 of 3'
    """
    if language in languages():
        text = (resources.files(__name__) / f"{language}.toml").read_text(encoding="utf-8")
        return read_catalogue(tomllib.loads(text), f"{language}.toml")
    path = Path(language)
    if path.suffix != ".toml":
        tail = offered(language, languages(), "there are {}, or a .toml file")
        raise InputError(f"There is no language {language!r}; {tail}")
    return read_catalogue(read_toml(path, f"language file {path}"), str(path))


def read_catalogue(data: Mapping[str, Any], where: str) -> Catalogue:
    """A catalogue from the contents of its file, every message checked; empty translations are left out."""
    head, groups = data.get("language"), data.get("messages", {})
    if not isinstance(head, dict) or not all(isinstance(head.get(key), str) for key in ("code", "name", "plural")):
        raise InputError(f"{where}: a table [language] with the texts code, name and plural was expected.")
    if head["plural"] not in PLURALS:
        rules = ", ".join(map(repr, PLURALS))
        raise InputError(f"{where}: plural is {head['plural']!r}; one of {rules} was expected.")
    if unknown := sorted(set(data) - {"language", "signs", "messages"}):
        tail = offered(unknown[0], ("language", "signs", "messages"), "the tables {} are known")
        raise InputError(f"{where} has {unknown[0]!r}; {tail}")
    signs = data.get("signs", {})
    for table in (groups, signs):
        if not isinstance(table, dict):
            raise InputError(f"{where}: {table!r} came where a table was expected.")
    if wrong := [name for name, sign in signs.items() if name not in SIGNS or not isinstance(sign, str)]:
        tail = offered(wrong[0] if wrong[0] not in SIGNS else None, SIGNS, "{} are known")
        raise InputError(f"{where}: the sign {wrong[0]!r} is unknown or no text; {tail}")
    messages = dict(_messages(groups))
    for said, translation in messages.items():
        if trouble := _trouble(said, translation, PLURALS[head["plural"]]):
            raise InputError(f"{where}: {said!r}: {trouble}")
    known = {said: translation for said, translation in messages.items() if translation}
    return Catalogue(head["code"], head["name"], head["plural"], known, {**SIGNS, **signs})


_FORMS = {"one", "other", "plural"}


def _messages(group: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The messages of all groups; a table of plural forms is told from a group by the names in it."""
    for key, value in group.items():
        if isinstance(value, dict) and not (value and set(value) <= _FORMS):
            yield from _messages(value)
        else:
            yield key, value


def _trouble(message: str, translation: object, forms: Sequence[str]) -> str:
    """What is wrong with a translation, "" if nothing is."""
    if isinstance(translation, str):
        return _wrong_placeholders(message, translation) if translation else ""
    if not isinstance(translation, dict) or not all(isinstance(text, str) for text in translation.values()):
        return "a text was expected, or a table of plural forms."
    texts = {form: text for form, text in translation.items() if form != "plural"}
    if set(texts) != set(forms):
        return f"the plural forms are {', '.join(texts) or 'none'}; {', '.join(forms)} were expected."
    counted = translation.get("plural", f"{{{_first_number(message)}}}")
    if counted not in re.findall(r"\{\d+\}", message):
        return f"the plural is that of {counted}, which is no number in the message."
    return next(filter(None, (_wrong_placeholders(message, text, counted) for text in texts.values())), "")


def _wrong_placeholders(message: str, translation: str, counted: str = "") -> str:
    """Which placeholders differ: each must come as often as in English; in a plural form, the number may be a word."""
    expected, found = (sorted(PLACEHOLDER.findall(text)) for text in (message, translation))
    if found in (expected, [name for name in expected if f"{{{name}}}" != counted]):
        return ""
    return f"the translation has the placeholders {_listed(found)}; {_listed(expected)} were expected."


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"{{{name}}}" for name in names) or "none"


# --- the language of the moment -------------------------------------------------------------------------

_LANGUAGE: ContextVar[str] = ContextVar("language", default=ENGLISH)


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """While this lasts, `say` speaks the language."""
    catalogue(language)
    token = _LANGUAGE.set(language)
    try:
        yield
    finally:
        _LANGUAGE.reset(token)


def say(template: str, /, **values: object) -> str:
    """The message in the language that is spoken, with what stands in its places.

    >>> say("row {row}", row=2), say(message("row {row}", row=2))
    ('row 2', 'row 2')
    """
    standing: Mapping[str, object] = values
    if isinstance(template, Message):
        standing = template.values
        template = template.english()
    named = dict.fromkeys(places(template))
    return catalogue(_LANGUAGE.get()).say(numbered(template), *(standing[name] for name in named))


def numbered(template: str) -> str:
    """A template as catalogues have it, its places numbered in order: "row {row}" is "row {1}"."""
    numbers = {name: str(k) for k, name in enumerate(dict.fromkeys(places(template)), 1)}
    return PLACE.sub(lambda found: f"{{{numbers[found[1]]}}}", template)


__all__ = [
    "ENGLISH",
    "PLACEHOLDER",
    "PLURALS",
    "SIGNS",
    "Catalogue",
    "Message",
    "capitalised",
    "catalogue",
    "counted",
    "filled",
    "in_context",
    "languages",
    "listed",
    "message",
    "numbered",
    "read_catalogue",
    "say",
    "sentences",
    "speaking",
]
