"""A document as its reader wants it: the choices of a `Look`, the language, and formulas in the signs of both."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from operator import is_
from typing import Any

from symattn.errors import InputError, offered
from symattn.formula import Call, Formula, ListOf, Marked, MatrixOf, Name, Number, Shape, Text, Transposed
from symattn.foundation.languages import ENGLISH, PLACES, Catalogue, Quoted, catalogue, has_words, speaking
from symattn.page.document import (
    DEFAULT_LOOK,
    Blocks,
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
        if name == "language":
            if not isinstance(choice, str):
                raise InputError(f"language is {choice!r}; a name or the path of a language file was expected.")
            values[name] = choice
        elif name == "fillable":
            if not isinstance(choice, bool):
                raise InputError(f"fillable is {choice!r}; true or false was expected.")
            values[name] = choice
        elif name not in CHOICES:
            known = (*CHOICES, "language", "fillable")
            raise InputError(f"There is no choice {name!r} of a page; {offered(name, known)}")
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
    return blocks if language == ENGLISH else _Translator(catalogue(language)).blocks(blocks)


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
        changed: Document = self._node(document)
        return replace(changed, fields=tuple(map(self.text, document.fields)))

    def blocks(self, blocks: Blocks) -> Blocks:
        changed: Blocks = self._node(blocks)
        return changed

    def text(self, text: str) -> str:
        return self.known.text(text, self.missing)

    def _node(self, node: Any) -> Any:
        """Whatever stands in a page, translated."""
        match node:
            case tuple() if node and all(isinstance(item, Inline) for item in node):
                return self.inlines(node)
            case tuple():
                return same_or(node, tuple(map(self._node, node)))
            case Diagram():
                return self._diagram(node)
        if isinstance(node, Formula):
            return self.formula(node)
        return self._fields(node) if is_dataclass(node) and not isinstance(node, type) else node

    def _fields(self, node: Any) -> Any:
        return with_fields(node, ((name, self._field(node, name)) for name in fields_of(node.__class__)))

    def _field(self, node: Any, name: str) -> Any:
        value = getattr(node, name)
        if name in _TEXTS:
            return self._texts(value)
        return value if name == "look" else self._node(value)

    def _texts(self, value: Any) -> Any:
        """A text, or texts in rows."""
        return same_or(value, tuple(map(self._texts, value))) if isinstance(value, tuple) else self.text(value)

    def _diagram(self, diagram: Diagram) -> Diagram:
        """A figure whose description is made of its boxes is described in its new words."""
        if not diagram.title:
            said: Diagram = self._fields(diagram)
            return said
        changed: Diagram = self._fields(replace(diagram, description=""))
        with speaking(self.known.code):
            return described(changed, changed.title)

    # -- text with formulas

    def inlines(self, content: Inlines) -> Inlines:
        return same_or(content, joined(self._spaced(part for inline in content for part in self._inline(inline))))

    def _inline(self, part: Inline) -> Inlines:
        match part:
            case Words(text) | Strong(text):
                return (with_fields(part, [("text", self.text(text))]),)
            case Math(formula):
                return (with_fields(part, [("formula", self.formula(formula))]),)
            case Sentence():
                return self._sentence(part)
        return (part,)

    def _sentence(self, part: Sentence) -> Inlines:
        said = self.known.template(part.template, n=part.n)
        if said is None:
            if has_words(part.template):
                self.missing[part.template.strip()] = None
            said = part.plural if part.plural and part.n != 1 else part.template
        shown = set(PLACES.findall(said))
        standing = tuple((name, self.inlines(value)) for name, value in part.places if name in shown)
        return replace(part, places=standing).said(said)

    def _spaced(self, content: Iterator[Inline]) -> Iterator[Inline]:
        """Text with the space of the language between sentences."""
        before = ""
        for part in content:
            if part == Words(" ") and before.endswith((".", "!", "?", ":", "。")):
                part = Words(self.known.signs["space"])
            before = part.text if isinstance(part, Words) else ""
            yield part

    # -- formulas

    def formula(self, formula: Formula) -> Formula:
        """The formula with the words in it translated; matrices stay as they lie."""
        changed: Formula = self._part(formula)
        return changed

    def _part(self, node: Any) -> Any:
        """Part of a formula; itself where it has no words."""
        match node:
            case tuple():
                return same_or(node, tuple([self._part(item) for item in node]))
            case Number() | str() | int():
                return node
        return with_fields(node, ((name, self._part_in(node, name)) for name in fields_of(node.__class__)))

    def _part_in(self, node: Any, name: str) -> Any:
        part = getattr(node, name)
        match node, name:
            case (Text(), "words") | (Marked(), "words") if part:
                return self.text(part)
            case Name(), "base" if len(part) > 1 and not isinstance(part, Quoted):
                return self.known.text(part)
        return self._part(part)


_TEXTS = frozenset({"title", "subtitle", "marks", "marks_alone", "description", "words"})
"""Fields of a page's nodes that are texts which are read."""


# --- with other signs ----------------------------------------------------------------------------------

_DECIMAL = re.compile(r"(?<![\w.])(\d+)\.(\d+)(?![\w.]*\w)")
"""A number with a decimal point in words; not the number of a section or a version, 3.2.1."""


def _changed(node: Any, look: Look) -> Any:
    """Whatever stands in a page, with every formula and every number in words in it changed."""
    if isinstance(node, tuple):
        if any(isinstance(item, Sentence) for item in node):
            node = tuple(spans(node, totals=True))
        return same_or(node, tuple([_changed(item, look) for item in node]))
    if isinstance(node, Formula):
        return _formula(node, look)
    if isinstance(node, Words | Strong) and not isinstance(node.text, Quoted):
        return with_fields(node, [("text", _decimals(node.text, look))])
    if isinstance(node, Heading):  # its words may number sections of a book: Exercise 2.1
        content, label = (tuple(_in_heading(part, look) for part in spans(x)) for x in (node.content, node.label))
        return replace(node, content=content, label=label)
    if isinstance(node, HeatMap):
        words = tuple(tuple(_decimals(word, look) for word in row) for row in node.words)
        node = replace(node, words=words, description=_decimals(node.description, look))
    return with_fields(node, ((name, _changed(getattr(node, name), look)) for name in fields_of(node.__class__)))


def _in_heading(part: Inline, look: Look) -> Inline:
    return part if isinstance(part, Words | Strong) else _changed(part, look)


def _decimals(words: str, look: Look) -> str:
    return _DECIMAL.sub(r"\1,\2", words) if look.decimal == "," else words


def _formula(node: Formula, look: Look) -> Formula:
    """The formula with the signs of the look; with a decimal comma, semicolons part what commas parted."""
    kind: type = node.__class__
    parts = {name: _changed(getattr(node, name), look) for name in fields_of(kind)}
    comma = look.decimal == ","
    match node:
        case Number(digits) if comma:
            parts["digits"] = digits.replace(".", ",")
        case Text(words):
            parts["words"] = _decimals(words, look)
        case Transposed() if look.transpose:
            parts["sign"] = look.transpose
        case MatrixOf(bracket=bracket) | ListOf(bracket=bracket) if look.brackets and bracket in ("[", "("):
            parts["bracket"] = look.brackets
    if comma and isinstance(node, MatrixOf | ListOf | Call | Shape):
        for name in ("separator", "row_end"):
            if parts.get(name) == ",":
                parts[name] = ";"
    changed: Formula = with_fields(node, parts.items())
    return changed


# --- trees of which little changes --------------------------------------------------------------------


def same_or(items: tuple[Any, ...], changed: tuple[Any, ...]) -> tuple[Any, ...]:
    """What came of items; the tuple of them itself where nothing did."""
    return items if len(items) == len(changed) and all(map(is_, items, changed)) else changed


def with_fields(node: Any, changed: Iterable[tuple[str, Any]]) -> Any:
    """A node with its fields as they came out; itself where none of them is another."""
    new = {name: value for name, value in changed if value is not getattr(node, name)}
    return replace(node, **new) if new else node


@cache
def fields_of(kind: type) -> tuple[str, ...]:
    """The names of the fields of nodes of a kind."""
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else ()
