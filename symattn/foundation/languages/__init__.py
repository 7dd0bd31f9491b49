"""Messages, and the languages that they are read in.

A message is a sentence as data: a template in English with named places, and what stands in them.

    message("Scores are divided by {divisor}.", divisor=2)
    counted("{n} line is empty.", "{n} lines are empty.", n=3)

Both give a `Message`, which is its own English text.  The template is what a catalogue translates, so it is written out
where the message is made, in one piece: nothing that is put together from parts can be translated.  What stands in a
place may be a message itself, a number, or any text; only messages are translated.

A catalogue is a .po file of gettext's, `<code>.po` in this folder or a user's own, as Poedit, Weblate and other
translators' tools read and write them:

    msgid ""
    msgstr ""
    "Language: de\n"
    "X-Language-Name: Deutsch\n"
    "Plural-Forms: nplurals=2; plural=(n != 1);\n"

    msgctxt "sign"
    msgid "decimal"
    msgstr ","

    msgid "Every {line} of {matrix} sums to 1."
    msgstr "Jede {line} von {matrix} hat die Summe 1."

A name in braces is a place, and so is a formula between dollar signs; a translation has the same ones, in any order.
A message without a translation stays English.  `make messages` brings the files up to date with the sources and says
how much of each language is there.
"""

from __future__ import annotations

import gettext
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache, reduce
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symattn.errors import InputError, offered
from symattn.foundation.files import read_text
from symattn.foundation.remembered import remembered

if TYPE_CHECKING:
    import polib

# ------------------------------------------------------------------------------------------------ messages

PLACES = re.compile(r"(\$[^$]*\$|\{\w+\})")
"""A place of a template: a name in braces, or a formula between dollar signs."""

_NAME = re.compile(r"\{(\w+)\}")


class Quoted(str):
    """A student's or a teacher's own words, which are not translated."""

    __slots__ = ()


class Message(str):
    """An English text that knows its template and what stands in its places.

    `plural` is the template for any number but one, told by the place `n`; `context` tells apart messages that are
    alike in English; `capital` says that the sentence begins with it.
    """

    template: str
    plural: str
    context: str
    values: Mapping[str, object]
    capital: bool

    def english(self) -> str:
        """The template that holds in English."""
        return self.plural if self.plural and self.values["n"] != 1 else self.template


def message(template: str, /, **values: object) -> Message:
    """A message whose places have values.

    >>> message("Scores are divided by {divisor}.", divisor=2)
    'Scores are divided by 2.'
    """
    return _made(template, "", "", values)


def counted(one: str, other: str, /, n: int, **values: object) -> Message:
    """A message that depends on a number, `n`.

    >>> counted("{n} line is empty.", "{n} lines are empty.", n=3)
    '3 lines are empty.'
    """
    return _made(one, other, "", {"n": n, **values})


def in_context(context: str, template: str, /, **values: object) -> Message:
    """A message whose translation depends on where it stands, as that of a single word or sign may."""
    return _made(template, "", context, values)


def capitalised(text: str) -> str:
    """A text at the beginning of a sentence, still a message if it is one; a formula stays as it is.

    >>> capitalised("a row is short"), capitalised("e^a + e^b is more"), capitalised("ε is small")
    ('A row is short', 'e^a + e^b is more', 'ε is small')
    """
    if not re.match(r"[a-z]{2}|a [a-z]{2}", text):
        return text
    begun = text[:1].upper() + text[1:]
    if not isinstance(text, Message):
        return _made(text, "", "", {}, capital=True)
    return _made(text.template, text.plural, text.context, text.values, capital=True, text=begun)


def series(items: Iterable[str]) -> str:
    """a; b; c."""
    return reduce(lambda before, item: message("{items}; {item}", items=before, item=item), items)


def listed(items: Sequence[str], last: str = "and") -> str:
    """a; a and b; a, b and c.

    >>> listed(["a", "b", "c"]), listed(["a", "b"], "or")
    ('a, b and c', 'a or b')
    """
    *before, end = items
    if not before:
        return end
    said = before[0]
    for item in before[1:]:
        said = message("{items}, {item}", items=said, item=item)
    if last == "or":
        return message("{items} or {item}", items=said, item=end)
    return message("{items} and {item}", items=said, item=end)


def sentences(*parts: str) -> str:
    """Sentences one after the other, those that end in a quotation with a dot behind; empty ones are left out.

    >>> sentences("Not read: 'x'", "Two files.", "")
    "Not read: 'x' · Two files."
    """
    said, *others = [part for part in parts if part] or [""]
    for part in others:
        if said.endswith(tuple(".!?…:。！？：")):
            said = message("{sentences} {sentence}", sentences=said, sentence=part)
        else:
            said = message("{items} · {item}", items=said, item=part)
    return said


def filled(template: str, values: Mapping[str, object]) -> str:
    """A template with its places filled, those that have a value.

    >>> filled("{width} or $4 d$", {"width": "d", "$4 d$": "4d"})
    'd or 4d'
    """
    said = _NAME.sub(lambda match: str(values.get(match[1], match[0])), template) if "{" in template else template
    for name, value in values.items():
        if name.startswith("$"):
            said = said.replace(name, str(value))
    return said


def packed(text: object) -> Any:
    """A text or a number as plain data, of which `unpacked` makes it again with all its places.

    >>> unpacked(packed(message("row {row}", row=2))).values
    {'row': 2}
    """
    match text:
        case Message():
            values = {name: packed(value) for name, value in text.values.items()}
            return [text.template, text.plural, text.context, values, text.capital]
        case Quoted():
            return {"quoted": str(text)}
    return text if isinstance(text, int) else str(text)


def unpacked(data: Any) -> Any:
    """The text or the number that was packed."""
    match data:
        case [template, plural, context, dict(values), capital]:
            return _made(template, plural, context, {name: unpacked(x) for name, x in values.items()}, capital)
        case {"quoted": text}:
            return Quoted(text)
    return data


def _made(
    template: str, plural: str, context: str, values: Mapping[str, object], capital: bool = False, text: str = ""
) -> Message:
    chosen = plural if plural and values["n"] != 1 else template
    said = text or filled(chosen, values)
    made = Message(said[:1].upper() + said[1:] if capital else said)
    made.template, made.plural, made.context, made.values, made.capital = template, plural, context, values, capital
    return made


# ------------------------------------------------------------------------------------------------ catalogues

SIGNS: Mapping[str, str] = {"decimal": ".", "open": "“", "close": "”", "space": " "}
"""In decimals; round what is quoted; between sentences."""

Key = tuple[str, str]
"""A message's context, "" for most, and its text in English, the singular of two."""


@dataclass(frozen=True)
class Catalogue:
    """The messages of one language with their translations, each in all its plural forms."""

    code: str
    name: str
    messages: Mapping[Key, tuple[str, ...]] = field(default_factory=dict)
    form: Callable[[int], int] = field(default=lambda n: 0)
    """Which of the plural forms goes with a number."""
    signs: Mapping[str, str] = field(default_factory=lambda: SIGNS)

    def template(self, text: str, context: str = "", n: int = 1) -> str | None:
        """The translation with its places; None if there is none.  What stands round a text in blanks stays."""
        core = text.strip()
        forms = self.messages.get((context, core))
        if forms is None:
            return None
        said = forms[self.form(n)] if len(forms) > 1 else forms[0]
        return said if core == text else text.replace(core, said, 1)

    def text(self, text: str, missing: dict[str, None] | None = None) -> str:
        """A text in this language: a message by its template, anything else as it stands in the catalogue.

        What has no translation stays English, and its template is put into `missing`.
        """
        if isinstance(text, Quoted) or self.code == ENGLISH:
            return text
        if not isinstance(text, Message):
            said = self.template(text)
            if said is None and missing is not None and has_words(text):
                missing[text.strip()] = None
            return text if said is None else said
        n = text.values.get("n", 1) if text.plural else 1
        assert isinstance(n, int)
        said = self.template(text.template, text.context, n)
        if said is None and missing is not None and has_words(text.template):
            missing[text.template.strip()] = None
        values = {
            name: self.text(value, missing if isinstance(value, Message) else None) if isinstance(value, str) else value
            for name, value in text.values.items()
        }
        made = filled(text.english() if said is None else said, values)
        return made[:1].upper() + made[1:] if text.capital else made


def has_words(template: str) -> bool:
    """Whether there is anything to translate besides what stands in the places: ids and letters have no words."""
    return bool(_WORD.search(PLACES.sub("", template)))


_WORD = re.compile(r"[a-z]{2}")


# --- files ----------------------------------------------------------------------------------------------

ENGLISH = "en"


@cache
def languages() -> tuple[str, ...]:
    """The codes of the ready languages, English among them."""
    folder = resources.files(__name__)
    return tuple(sorted({ENGLISH, *(f.name.removesuffix(".po") for f in folder.iterdir() if f.name.endswith(".po"))}))


def about(language: str) -> str:
    """A ready language's own name, with how much of it is there; its messages are counted, and not read."""
    if language == ENGLISH:
        return "English"
    head, *entries = ready_catalogue(language).split("\n\n")
    name = re.search(r"X-Language-Name: (.+?)\\n", head)
    assert name
    messages = [entry for entry in entries if not _NO_MESSAGE.search(entry)]
    waiting = sum(bool(_WAITING.search(entry)) for entry in messages)
    if not waiting:
        return name[1]
    count = len(messages)
    return f"{name[1]} ({count - waiting:,} of {count:,} messages; the rest is in English)"


_NO_MESSAGE = re.compile(r'^#~|^msgctxt "sign"', re.MULTILINE)
_WAITING = re.compile(r'^#,.*\bfuzzy\b|^msgstr(\[\d\])? ""\s*\Z', re.MULTILINE)


def ready_catalogue(language: str) -> str:
    return (resources.files(__name__) / f"{language}.po").read_text(encoding="utf-8")


@cache
def catalogue(language: str) -> Catalogue:
    """A language by its code, or by the path of a user's own file; `InputError` says what is wrong, and where."""
    if language == ENGLISH:
        return Catalogue(ENGLISH, "English")
    if language in languages():
        where = f"{language}.po"
        read = remembered(f"language-{language}", language, lambda: _checked(ready_catalogue(language), where))
        return _catalogue(read, where)
    path = Path(language)
    if path.suffix != ".po":
        tail = offered(language, languages(), "there are {}, or a .po file")
        raise InputError(f"There is no language {language!r}; {tail}")
    return read_catalogue(read_text(path, f"language file {path}"), str(path))


def read_catalogue(text: str, where: str) -> Catalogue:
    """A catalogue from the text of its file, every message checked; what is empty or marked as fuzzy is left out."""
    return _catalogue(_checked(text, where), where)


def _catalogue(read: dict[str, Any], where: str) -> Catalogue:
    messages = {(context, text): tuple(forms) for context, text, forms in read["messages"]}
    _, form = _plural(read["plural"], where)
    return Catalogue(read["code"], read["name"], messages, form, read["signs"])


def _checked(text: str, where: str) -> dict[str, Any]:
    """What a file has, as JSON."""
    import polib

    if not text.strip():
        raise InputError(f"{where} is empty; a gettext catalogue was expected.")
    try:
        file = polib.pofile(text)
    except (OSError, ValueError) as error:
        line = re.search(r"line (\d+)", str(error))
        raise InputError(
            f"{where} is not a gettext catalogue{f': line {line[1]} cannot be read' if line else ''}."
        ) from None
    head = file.metadata
    for name in ("Language", "X-Language-Name", "Plural-Forms"):
        if not head.get(name):
            raise InputError(
                f"{where}: its header has no {name!r}; Language, X-Language-Name and Plural-Forms are needed."
            )
    count, _ = _plural(head["Plural-Forms"], where)
    messages: dict[Key, list[str]] = {}
    signs = dict(SIGNS)
    for entry in file:
        if entry.obsolete or entry.fuzzy or not (entry.msgstr or any(entry.msgstr_plural.values())):
            continue
        if entry.msgctxt == "sign":
            if entry.msgid not in SIGNS:
                tail = offered(entry.msgid, SIGNS, "{} are known")
                raise InputError(f"{where}, line {entry.linenum}: there is no sign {entry.msgid!r}; {tail}")
            signs[entry.msgid] = entry.msgstr
            continue
        forms = tuple(entry.msgstr_plural.get(k, "") for k in range(count)) if entry.msgid_plural else (entry.msgstr,)
        if trouble := _trouble(entry, forms):
            raise InputError(f"{where}, line {entry.linenum}: {entry.msgid!r}: {trouble}")
        messages[entry.msgctxt or "", entry.msgid.strip()] = list(map(str.strip, forms))
    return {
        "code": head["Language"],
        "name": head["X-Language-Name"],
        "plural": head["Plural-Forms"],
        "signs": signs,
        "messages": [[*key, forms] for key, forms in messages.items()],
    }


TRIED = 1000
"""For how many numbers a plural rule is tried when it is read, as msgfmt does."""


def _plural(rule: str, where: str) -> tuple[int, Callable[[int], int]]:
    """How many plural forms there are, and which goes with a number."""
    match = re.fullmatch(r"\s*nplurals\s*=\s*([1-9])\s*;\s*plural\s*=\s*([^;]+);?\s*", rule)
    try:
        if not match:
            raise ValueError
        count, form = int(match[1]), gettext.c2py(match[2])
        if not all(0 <= form(n) < count for n in range(TRIED)):
            raise ValueError
        return count, form
    except (ValueError, ZeroDivisionError):
        raise InputError(
            f"{where}: Plural-Forms is {rule!r}; something like 'nplurals=2; plural=(n != 1);' was expected."
        ) from None


def _trouble(entry: polib.POEntry, forms: tuple[str, ...]) -> str:
    """What is wrong with a translation, "" if nothing is: each place must come as often as in English.

    In a plural form, the number may be a word.
    """
    if not all(forms):
        return f"{len(forms)} plural forms were expected."
    expected = Counter(PLACES.findall(entry.msgid_plural or entry.msgid))
    for form in forms:
        places = Counter(PLACES.findall(form))
        if places != expected and not (entry.msgid_plural and places + Counter(["{n}"]) == expected):
            return f"the translation has the places {_names(places)}; {_names(expected)} were expected."
    return ""


def _names(places: Counter[str]) -> str:
    return ", ".join(sorted(places.elements())) or "none"


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


def spoken() -> str:
    """The language that is spoken."""
    return _LANGUAGE.get()


def say(text: str, /, **values: object) -> str:
    """A message in the language that is spoken; with values, a template and what stands in its places, said already.

    >>> say("row {row}", row=2)
    'row 2'
    """
    known = catalogue(_LANGUAGE.get())
    return filled(known.template(text) or text, values) if values else known.text(text)


__all__ = [
    "ENGLISH",
    "PLACES",
    "SIGNS",
    "Catalogue",
    "Message",
    "Quoted",
    "about",
    "capitalised",
    "catalogue",
    "counted",
    "filled",
    "has_words",
    "in_context",
    "languages",
    "listed",
    "message",
    "numbered",
    "packed",
    "read_catalogue",
    "say",
    "sentences",
    "speaking",
    "spoken",
    "unpacked",
]
