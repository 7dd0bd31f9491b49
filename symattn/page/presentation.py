"""A document as its reader wants it: the choices of a `Look`, and the formulas written accordingly."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from symattn.errors import InputError, offered
from symattn.formula import Call, Formula, ListOf, MatrixOf, Number, Shape, Text, Transposed
from symattn.foundation.languages import catalogue
from symattn.page.document import (
    DEFAULT_LOOK,
    Block,
    Document,
    Heading,
    HeatMap,
    Inline,
    Look,
    Quoted,
    Sentence,
    Strong,
    Words,
    spans,
)
from symattn.page.translation import fields_of, same_or, translated, with_fields

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
    return replace(document, blocks=tuple(_block(block, look) for block in document.blocks))


_DECIMAL = re.compile(r"(?<![\w.])(\d+)\.(\d+)(?![\w.]*\w)")
"""A number with a decimal point in words; not the number of a section or a version, 3.2.1."""


def _block(block: Block, look: Look) -> Block:
    changed: Block = _changed(block, look)
    return changed


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
