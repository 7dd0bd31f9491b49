"""A document in another language: its messages by their templates, its formulas with the words in them."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass, replace
from functools import cache
from operator import is_
from typing import Any

from symattn.formula import Formula, Marked, Name, Number, Text
from symattn.foundation.languages import ENGLISH, PLACES, Catalogue, Quoted, catalogue, has_words, speaking
from symattn.page.document import Blocks, Diagram, Document, Inline, Inlines, Math, Sentence, Strong, Words, joined
from symattn.page.figure_words import described

_LOG = logging.getLogger("symattn")


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
