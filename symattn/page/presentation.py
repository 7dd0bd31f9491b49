"""A document as its reader wants it: the choices of a `Look`, the language, and formulas in the signs of both."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache, partial
from operator import is_
from typing import Any

from symattn.errors import InputError, offered
from symattn.formula import Call, ListOf, MatrixOf, Name, Number, Shape, Text, Transposed
from symattn.foundation.languages import ENGLISH, PLACES, Catalogue, Quoted, catalogue, has_words, speaking
from symattn.page.document import (
    DEFAULT_LOOK,
    Blocks,
    Code,
    Diagram,
    Document,
    Heading,
    HeatMap,
    Inline,
    Inlines,
    Look,
    Math,
    Sentence,
    Strong,
    Words,
    described,
    joined,
    spans,
)

_LOG = logging.getLogger("symattn")

TEXT_SIZES = (11, 18, 24)
CHOICES: Mapping[str, Mapping[object, object]] = {
    "text_size": {size: size for size in TEXT_SIZES},
    "paper": {"a4": "a4", "letter": "letter"},
    "spacing": {"roomy": "roomy", "compact": "compact"},
    "decimal_sign": {"point": ".", "comma": ","},
    "brackets": {"square": "[", "round": "("},
    "transpose": {"⊤": "⊤", "T": "T", "′": "′", "'": "′"},
}
"""What a reader can choose, as it is said, and what the look then has."""

_NOT_LISTED = {"language": (str, "a name or the path of a language file"), "fillable": (bool, "true or false")}
_FIELDS = {"decimal_sign": "decimal"}


def make_look(**chosen: object) -> Look:
    """A look from named choices (`decimal_sign="comma"`, `language="de"`); those that are None are left out.

    The default decimal sign is that of the language.  `InputError` names a choice that there is not, and
    says what is wrong with a language file.
    """
    values: dict[str, Any] = {}
    for name, choice in chosen.items():
        if choice is None:
            continue
        if name in _NOT_LISTED:
            kind, expected = _NOT_LISTED[name]
            if not isinstance(choice, kind):
                raise InputError(f"{name} is {choice!r}; {expected} was expected.")
            values[name] = choice
        elif name not in CHOICES:
            raise InputError(f"There is no choice {name!r} of a page; {offered(name, (*CHOICES, *_NOT_LISTED))}")
        elif not isinstance(choice, int | str) or isinstance(choice, bool) or choice not in CHOICES[name]:
            raise InputError(f"{name} is {choice!r}; {offered(choice, CHOICES[name], 'one of {} was expected')}")
        else:
            values[_FIELDS.get(name, name)] = CHOICES[name][choice]
    if "language" in values:
        values.setdefault("decimal", catalogue(values["language"]).signs["decimal"])
    return replace(DEFAULT_LOOK, **values)


def choices_of(look: Look) -> dict[str, object]:
    """What `make_look` makes this look of, without what would be chosen anyway."""
    usual = make_look(language=look.language)
    fields = {name: _FIELDS.get(name, name) for name in CHOICES}
    chosen: dict[str, object] = {} if look.language == DEFAULT_LOOK.language else {"language": look.language}
    for name, kept in fields.items():
        if (value := getattr(look, kept)) != getattr(usual, kept):
            chosen[name] = next(said for said, meant in CHOICES[name].items() if meant == value)
    return {**chosen, "fillable": True} if look.fillable else chosen


def presented(document: Document) -> Document:
    """The document as writers are to write it; what a writer decides itself, paper and sizes, it finds in the look."""
    document, look = translated(document), document.look
    if (look.decimal, look.brackets, look.transpose) == (".", "", ""):
        return document
    return replace(document, blocks=_changed(document.blocks, look))


# --- in another language: messages by their templates, formulas with the words in them ----------------


def translated(document: Document) -> Document:
    """The document in the language of its look; what its catalogue does not have stays English, and the log says so."""
    if document.look.language == ENGLISH:
        return document
    translator = _Translator(catalogue(document.look.language))
    changed = translator.document(document)
    if translator.missing and document.look.language not in TOLD:
        TOLD.add(document.look.language)
        message, name = next(iter(translator.missing)), translator.known.name
        _LOG.warning("%s: not everything is in %s yet, and stays English: %s", document.title, name, message)
    return changed


TOLD: set[str] = set()
"""The languages of which it was said that something is missing: once, and not for every page."""


def in_language(text: str, language: str) -> str:
    """A text of our own, a label or a sentence, in a language.

    >>> in_language("Name", "en")
    'Name'
    """
    return catalogue(language).text(text)


def blocks_in_language(blocks: Blocks, language: str) -> Blocks:
    """Parts of a document in a language."""
    changed: Blocks = blocks if language == ENGLISH else _Translator(catalogue(language)).node(blocks)
    return changed


def untranslated(document: Document, known: Catalogue | None = None) -> list[str]:
    """The messages of a document that a catalogue (that of its language) does not have, in reading order."""
    if known is None and document.look.language == ENGLISH:
        return []
    translator = _Translator(known or catalogue(document.look.language))
    translator.document(document)
    return list(translator.missing)


class _Translator:
    """One document on its way into one language."""

    def __init__(self, known: Catalogue) -> None:
        self.known = known
        self.missing: dict[str, None] = {}

    def document(self, document: Document) -> Document:
        changed: Document = self.node(document)
        return replace(changed, fields=tuple(map(self.text, document.fields)))

    def text(self, text: str) -> str:
        return self.known.text(text, self.missing)

    def node(self, node: Any) -> Any:
        """Whatever stands in a page, or a part of it, translated; a figure that is described is described anew."""
        match node:
            case (Sentence() | Words() | Strong() | Code() | Math(), *_):
                return same_or(node, joined(self._spaced(part for inline in node for part in self._inline(inline))))
            case Name(base) if len(base) > 1 and not isinstance(base, Quoted):
                return with_changed(node, self.node, base=self.known.text(base))
            case Code():
                return node
            case Diagram(title=str(title)) if title:
                figure = self._read(replace(node, description=""))
                with speaking(self.known.code):
                    return described(figure, figure.title)
        return self._read(node)

    def _read(self, node: Any) -> Any:
        """A node with the texts of it that are read."""
        texts = (name for name in fields_of(node.__class__) if name in _TEXTS)
        return with_changed(node, self.node, **{name: self._texts(getattr(node, name)) for name in texts})

    def _texts(self, value: Any) -> Any:
        """A text, or texts in rows."""
        return same_or(value, tuple(map(self._texts, value))) if isinstance(value, tuple) else self.text(value)

    # -- text with formulas

    def _inline(self, part: Inline) -> Inlines:
        return self._sentence(part) if isinstance(part, Sentence) else (self.node(part),)

    def _sentence(self, part: Sentence) -> Inlines:
        said = self.known.template(part.template, n=part.n)
        if said is None:
            if has_words(part.template):
                self.missing[part.template.strip()] = None
            said = part.plural if part.plural and part.n != 1 else part.template
        shown = set(PLACES.findall(said))
        standing = tuple((name, self.node(value)) for name, value in part.places if name in shown)
        return replace(part, places=standing).said(said)

    def _spaced(self, content: Iterator[Inline]) -> Iterator[Inline]:
        """Text with the space of the language between sentences."""
        before = ""
        for part in content:
            if part == Words(" ") and before.endswith((".", "!", "?", ":", "。")):
                part = Words(self.known.signs["space"])
            before = part.text if isinstance(part, Words) else ""
            yield part


_TEXTS = frozenset({"text", "title", "subtitle", "marks", "marks_alone", "description", "words"})
"""Fields of a page's nodes that are texts which are read."""


# --- with other signs ----------------------------------------------------------------------------------

_DECIMAL = re.compile(r"(?<![\w.])(\d+)\.(\d+)(?![\w.]*\w)")
"""A number with a decimal point in words; not the number of a section or a version, 3.2.1."""


def _changed(node: Any, look: Look) -> Any:
    """Whatever stands in a page, with every formula and every number in words in it changed.

    With a decimal comma, semicolons part what commas parted.
    """
    comma = look.decimal == ","
    own: dict[str, Any] = {}
    match node:
        case tuple() if any(isinstance(item, Sentence) for item in node):
            return _changed(tuple(spans(node, totals=True)), look)
        case Words(text) | Strong(text) if not isinstance(text, Quoted):
            own["text"] = _decimals(text, look)
        case Heading():  # its words may number sections of a book: Exercise 2.1
            for name in ("content", "label"):
                parts = spans(getattr(node, name))
                own[name] = tuple(x if isinstance(x, Words | Strong) else _changed(x, look) for x in parts)
        case HeatMap(words=rows):
            own["words"] = tuple(tuple(_decimals(word, look) for word in row) for row in rows)
            own["description"] = _decimals(node.description, look)
        case Number(digits) if comma:
            own["digits"] = digits.replace(".", ",")
        case Text(words):
            own["words"] = _decimals(words, look)
        case Transposed() if look.transpose:
            own["sign"] = look.transpose
        case MatrixOf() | ListOf() | Call() | Shape():
            if look.brackets and getattr(node, "bracket", "") in ("[", "("):
                own["bracket"] = look.brackets
            if comma:
                own |= {name: ";" for name in ("separator", "row_end") if getattr(node, name, "") == ","}
    return with_changed(node, partial(_changed, look=look), **own)


def _decimals(words: str, look: Look) -> str:
    return _DECIMAL.sub(r"\1,\2", words) if look.decimal == "," else words


# --- trees of which little changes --------------------------------------------------------------------


def same_or(items: Any, changed: tuple[Any, ...]) -> Any:
    """What came of items; the tuple of them itself where nothing did."""
    return items if len(items) == len(changed) and all(map(is_, items, changed)) else changed


def with_changed(node: Any, change: Callable[[Any], Any], **own: Any) -> Any:
    """A node with everything in it changed, and with fields of its `own`; itself where nothing of it is another."""
    if isinstance(node, tuple):
        return same_or(node, tuple(map(change, node)))
    there = {name: getattr(node, name) for name in fields_of(node.__class__)}
    changed = {name: own[name] if name in own else change(value) for name, value in there.items()}
    new = {name: value for name, value in changed.items() if value is not there[name]}
    return replace(node, **new) if new else node


@cache
def fields_of(kind: type) -> tuple[str, ...]:
    """The names of the fields of nodes of a kind."""
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else ()
