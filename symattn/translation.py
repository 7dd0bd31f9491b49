"""A document in another language: sentence by sentence, with its formulas where the translation wants them.

Documents are made in English.  What is said in them is cut into sentences; numbers and formulas in a sentence become
placeholders, and what remains is a message of the catalogue (see `symattn.languages`).  A sentence that the catalogue
does not have stays English.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache, cached_property
from typing import Any, TypeVar

from symattn.document import Blocks, Diagram, Document, Inline, Inlines, Math, Quoted, Strong, Words, joined, spans
from symattn.figure_words import ARROWS, described
from symattn.formula import Formula, Marked, Name, Number, Text
from symattn.languages import ENGLISH, PLACEHOLDER, Catalogue, catalogue, speaking

_LOG = logging.getLogger("symattn")


def translated(document: Document) -> Document:
    """The document in the language of its look; what its catalogue does not have stays English, and the log says so."""
    if document.look.language == ENGLISH:
        return document
    translator = _Translator(document.look.language)
    changed = translator.document(document)
    if translator.missing and document.look.language not in _TOLD:
        _TOLD.add(document.look.language)
        message, name = next(iter(translator.missing)), translator.known.name
        _LOG.warning("%s: not everything is in %s yet, and stays English: %s", document.title, name, message)
    return changed


_TOLD: set[str] = set()
"""The languages of which it was said that something is missing: once, and not for every page."""


def in_language(text: str, language: str) -> str:
    """A text of our own, a label or a sentence, in a language.

    >>> in_language("Name", "en")
    'Name'
    """
    return text if language == ENGLISH else _Translator(language).text(text)


def blocks_in_language(blocks: Blocks, language: str) -> Blocks:
    """Parts of a document in a language."""
    return blocks if language == ENGLISH else _Translator(language).blocks(blocks)


def untranslated(document: Document, known: Catalogue | None = None) -> list[str]:
    """The messages of a document that a catalogue (that of its language) does not have, in reading order."""
    if known is None and document.look.language == ENGLISH:
        return []
    translator = _Translator(document.look.language, known)
    translator.document(document)
    return list(translator.missing)


# --- sentences ------------------------------------------------------------------------------------------

# In a sentence, a number and anything else that is not translated are one character each, of areas that are no text.
_NUMBERS, _OTHERS, _BREAK = 0xE000, 0xF0000, "\x1f"
_N, _F = "\ue000-\uf8ff", "\U000f0000-\U0010ffff"
_RESERVED = re.compile(f"[\ue000-\uf8ff\U000f0000-\U0010ffff{{}}{_BREAK}]")
_NUMBER = re.compile(
    r"(?<![\w^])[A-Z]\d+(?:\.\d+)*[a-z]?\b|(?<!\w)[A-Z](?:(?:, | and )[A-Z]\b)+"
    r"|\(−\d+(?:[.,/]\d+)*\)|−?\d{1,3}(?:\N{NO-BREAK SPACE}\d{3})+(?!\d)|−?\d+(?:[.,/–]\d+)*|✓\w*\.?"
)
"""A number; or what names something: a misconception C5, an erratum E2.1, the order B, A, C."""

_COMPOUND = re.compile(f"[{_N}{_F}](?:(?:[×·=]|\\s[×·:=→]\\s)[{_N}{_F}])+|\\([{_N}],\\s[{_N}]\\)")
"""Numbers and formulas that are one thing: 3×4, 1 : 2, n = 5, the place (2, 3)."""

_LISTS = tuple(
    re.compile(f"[{one}](?:, [{one}])+(?: and [{one}])?(?!\\w)|[{one}] and [{one}](?!\\w)") for one in (_N, _F)
)
_QUOTED = re.compile(
    r"""“[^“”]*”|(?<![\w’)\]}])'(?:[^'\\]|\\.)*'(?!\w)(?: \(U\+[0-9A-F]+\))?|"(?:[^"\\]|\\.)*"|U\+[0-9A-F]{4,6}\b"""
    r"""|\\[a-z]+(?:\{[^{}]*\})*"""
)
"""Quoted words, of a student or of a note; a character by its code; a command of TeX."""
_SEPARATOR = re.compile(
    rf"((?<=[.!?;])(?<!et al\.)(?<!e\.g\.)(?<!i\.e\.)[ \n]+|(?<=[.!?][)”\"\]])[ \n]+"
    rf"|\s*{_BREAK}(?:\s*·\s)?\s*| +· +| {{2,}}|\n+)"
)
_LONGEST_LABEL = 8
"""Words before a colon that are a label, and not the sentence itself."""

_START = re.compile(rf"(?:\([A-Za-z]{{1,2}}\) |[A-Z]{{1,2}}: |[{_N}][.):] |[,:–→⇒] )+")
_LETTERS = re.compile(r"[A-Za-z]{2}")
_WORD = re.compile(r"[a-z]{2}")
_SIGNS = re.compile(rf"\b(?:exp|sqrt|ln|log|sin|cos|tanh|inf|pi)\b|[A-Za-z][\w'{_N}]*(?:[_^.][\w'{_N}]+)+")
"""What is the same in every language though it has letters: functions, and names such as W_Q^self."""
_ENDS = {":": "colon", ";": "semicolon", ".": "stop"}


def _pieces(text: str) -> list[str]:
    """Sentences, and what parts them, by turns; a bracket is not parted."""
    pieces: list[str] = []
    for part in _SEPARATOR.split(text):
        if len(pieces) % 2 == 0 and len(pieces) >= 2 and pieces[-2].count("(") > pieces[-2].count(")"):
            pieces[-2:] = ["".join((*pieces[-2:], part))]
        else:
            pieces.append(part)
    return pieces


Node = TypeVar("Node", bound=Any)


class _Translator:
    """One document on its way into one language."""

    def __init__(self, language: str, known: Catalogue | None = None) -> None:
        self.language = language
        self.known = known or catalogue(language)
        self.missing: dict[str, None] = {}

    # -- documents

    def blocks(self, blocks: Blocks) -> Blocks:
        changed: Blocks = self._node(blocks)
        return changed

    def document(self, document: Document) -> Document:
        changed: Document = self._node(document)
        return replace(changed, fields=tuple(map(self.text, document.fields)))

    def _node(self, node: Any) -> Any:
        """Whatever stands in a page, translated."""
        if isinstance(node, tuple):
            if node and all(isinstance(item, Inline) for item in node):
                return self.inlines(node)
            return tuple(map(self._node, node))
        if isinstance(node, Formula):
            return self.formula(node)
        if isinstance(node, Diagram):
            return self._diagram(node)
        if is_dataclass(node) and not isinstance(node, type):
            return self._fields(node)
        return node

    def _fields(self, node: Node) -> Node:
        return replace(node, **{f.name: self._field(node, f.name) for f in fields(node)})

    def _diagram(self, diagram: Diagram) -> Diagram:
        """A figure whose description was made of its boxes is described anew."""
        what, arrows, _ = diagram.description.partition(f". {ARROWS}")
        with speaking(ENGLISH):
            made = bool(arrows) and described(diagram, what) == diagram
        if not made:
            return self._fields(diagram)
        changed = self._fields(replace(diagram, description=""))
        with speaking(self.language):
            return described(changed, self.text(what))

    def _field(self, node: Any, name: str) -> Any:
        value = getattr(node, name)
        if name in _SAID:
            return self._said(value)
        return value if name == "look" else self._node(value)

    def _said(self, value: Any) -> Any:
        """A text, or texts in rows."""
        return tuple(map(self._said, value)) if isinstance(value, tuple) else self.text(value)

    def formula(self, formula: Formula) -> Formula:
        """The formula with the words in it translated; matrices stay as they lie."""
        changed: Formula = _formula(self, formula)
        return changed

    def name(self, base: str) -> str:
        """A name that is a word, if the catalogue has it."""
        if isinstance(base, Quoted):
            return base
        if " " in base:
            return self.text(base)
        found = self._exactly(base, _Line()) or ()
        return "".join(part.text for part in found if isinstance(part, Words)) or base

    # -- words

    def text(self, text: str) -> str:
        """A text without formulas."""
        if isinstance(text, Quoted) or not _LETTERS.search(text):
            return text
        return "".join(part.text for part in spans(self.inlines((Words(text),))) if not isinstance(part, Math))

    def inlines(self, content: Inlines) -> Inlines:
        """Text with formulas in it."""
        line = _Line()
        for part in spans(content):
            match part:
                case Words(text) if not isinstance(text, Quoted):
                    self._add(text, line)
                case Strong(text):
                    line.put((Strong(self.text(text)),), own=True)
                case Math(formula):
                    line.put((Math(self.formula(formula)),))
                case _:
                    line.put((part,))
        pieces = _pieces(line.tokens())
        said: list[Inline] = []
        for position, piece in enumerate(pieces):
            if position % 2:
                plain, sentence = piece.replace(_BREAK, ""), _LETTERS.search(pieces[position - 1])
                said.append(Words(self.known.signs["space"] if sentence and plain == " " else plain))
            else:
                said += self._piece(piece, line)
        return joined(said)

    def _add(self, text: str, line: _Line) -> None:
        """Text into a line; quoted words are translated if they are a message, such as the name of a misconception."""
        at = 0
        for found in _QUOTED.finditer(text):
            line.add(text[at : found.start()])
            line.put((Words(self._quoted(found[0])),))
            at = found.end()
        line.add(text[at:])

    def _quoted(self, text: str) -> str:
        """Quoted words in the marks of the language, and what follows them; a command or a code has none."""
        if text[0] not in "“'\"":
            return text
        last = max(text.rfind(mark) for mark in "”'\"")
        inside, after = text[1:last], text[last + 1 :]
        if text.startswith("“"):
            if isinstance(message := self.known.messages.get(inside), str) and "{" not in message:
                inside = message
            elif (
                isinstance(small := self.known.messages.get(inside[:1].lower() + inside[1:]), str) and "{" not in small
            ):
                inside = small[:1].upper() + small[1:]
        return f"{self.known.signs['open']}{inside}{self.known.signs['close']}{after}"

    def _piece(self, piece: str, line: _Line) -> Iterator[Inline]:
        """A sentence or a label with the space round it, and what numbers it."""
        text = piece.strip(" ")
        before = piece[: len(piece) - len(piece.lstrip(" "))]
        after = piece[len(piece.rstrip(" ")) :] if text else ""
        yield Words(before)
        if start := _START.match(text):
            yield from line.plain(start[0].replace(": ", self._colon), self.known.signs)
            text = text[start.end() :]
        label, colon, rest = text.partition(": ")
        if colon and len(label.split()) <= _LONGEST_LABEL:
            yield from self._sentence(f"{label}:", line)
            yield Words(self.known.signs["space"])
            yield from self._piece(rest, line)
        else:
            yield from self._sentence(text, line)
        yield Words(after)

    @property
    def _colon(self) -> str:
        return self.known.signs["colon"] + self.known.signs["space"]

    def _sentence(self, sentence: str, line: _Line) -> Iterator[Inline]:
        if not _LETTERS.search(_SIGNS.sub("", sentence)):
            end = self.known.signs[_ENDS[sentence[-1]]] if sentence.endswith((":", ";")) else sentence[-1:]
            yield from line.plain(sentence[:-1] + end, self.known.signs)
        elif found := self._find(sentence, line):
            yield from found
        else:
            self.missing[_message(sentence.rstrip(":;"))[0]] = None
            yield from line.plain(sentence, self.known.signs)

    def _find(self, sentence: str, line: _Line) -> Inlines | None:
        """The translation of a sentence, as it stands or without its last sign."""
        end = _ENDS.get(sentence[-1:], "")
        ways = [(sentence, "")] if end in ("", "stop") else []
        ways += [(sentence[:-1], self.known.signs[end])] if end else []
        for text, sign in ways:
            found = self._phrase(text, line) or self._with_words(text, line)
            if found is not None:
                return (*found, Words(sign))
        return None

    def _word(self, text: str, line: _Line) -> Inlines | None:
        """What stands in a message and is one itself, or signs alone, such as V A or sqrt(2)/W_Q."""
        found = self._phrase(text, line)
        return found if found or _WORD.search(_SIGNS.sub("", text)) else tuple(line.plain(text, self.known.signs))

    def _phrase(self, text: str, line: _Line) -> Inlines | None:
        """The translation of a message, of one in brackets, of a label with what it names."""
        if found := self._exactly(text, line):
            return found
        if text.startswith("(") and text.find(")") == len(text) - 1:
            found = self._exactly(text[1:-1], line)
            return found and (Words(self.known.signs["left"]), *found, Words(self.known.signs["right"]))
        if (headed := _HEADED.fullmatch(text)) and headed[2] and (found := self._exactly(headed[1], line)):
            return (*found, *line.plain(headed[2], self.known.signs))
        return None

    def _exactly(self, sentence: str, line: _Line) -> Inlines | None:
        message, values = _message(sentence)
        numbers = {name: line.number(value) for name, value in values.items() if name.isdigit()}
        template = self.known.template(message, numbers)
        if template is None and sentence[:1].isupper():
            template = self.known.template(message[:1].lower() + message[1:], numbers)
            template = template and template[:1].upper() + template[1:]
        if template is None:
            return None
        return tuple(
            self._filled(template, {name: line.value(token, self.known.signs) for name, token in values.items()})
        )

    def _with_words(self, sentence: str, line: _Line) -> Inlines | None:
        """By a message with words in it that are messages themselves."""
        small = sentence[:1].lower() + sentence[1:]
        for pattern, message in self._patterns:
            text = small if message[:1].islower() else sentence
            if not (found := pattern.fullmatch(text)):
                continue
            inside = {name: text for name, text in found.groupdict().items() if name[0] == "w"}
            words = {name: self._word(text, line) or self._with_words(text, line) for name, text in inside.items()}
            if all(words.values()):
                tokens = {name.lstrip("_"): text for name, text in found.groupdict().items() if name[0] != "w"}
                numbers = {name: line.number(token) for name, token in tokens.items() if name.isdigit()}
                template = self.known.template(message, numbers)
                values = {name: line.value(token, self.known.signs) for name, token in tokens.items()}
                assert template is not None
                if text != sentence:
                    template = template[:1].upper() + template[1:]
                return tuple(self._filled(template, {**values, **{n: w for n, w in words.items() if w}}))
        return None

    def _filled(self, template: str, values: Mapping[str, Inlines]) -> Iterator[Inline]:
        for position, part in enumerate(PLACEHOLDER.split(template)):
            if position % 2:
                yield from values[part]
            else:
                yield Words(part)

    @cached_property
    def _patterns(self) -> Sequence[tuple[re.Pattern[str], str]]:
        """The messages with words in them, the longest first, and what they look like."""
        found = (message for message in self.known.messages if "{word" in message)
        return [(_pattern(message), message) for message in sorted(found, key=lambda m: (-len(m), m))]


_SAID = frozenset({"title", "subtitle", "marks", "description", "words"})
"""Fields of a page's nodes that are texts which are read."""

_HEADED = re.compile(rf"(.*?[A-Za-z])((?: [{_N}{_F}])?(?: \((?:[a-z]{{1,2}}|[{_F}])\))?)")
"""A label with the formula of what it names, and perhaps with a part's letter: Queries Q (b)."""


def _pattern(message: str) -> re.Pattern[str]:
    kinds = {"w": ".+?", "n": f"[{_N}]", "f": f"[{_F}]"}
    parts = []
    for position, part in enumerate(PLACEHOLDER.split(message)):
        if position % 2:
            kind = "w" if part.startswith("word") else "n" if part.isdigit() else "f"
            parts.append(f"(?P<{part if kind == 'w' else '_' + part}>{kinds[kind]})")
        else:
            parts.append(re.escape(part))
    return re.compile("".join(parts))


def _message(sentence: str) -> tuple[str, dict[str, str]]:
    """A sentence with named placeholders, and the character that stands for each."""
    values: dict[str, str] = {}
    numbers = others = 0
    parts = []
    for character in sentence:
        if _is_number(character):
            numbers += 1
            name = str(numbers)
        elif _is_other(character):
            others += 1
            name = letter(others - 1)
        else:
            parts.append(character)
            continue
        values[name] = character
        parts.append(f"{{{name}}}")
    return "".join(parts), values


def letter(index: int) -> str:
    """The name of a placeholder for what is no number, from 0: a, b, …, z, aa."""
    before, last = divmod(index, 26)
    return (letter(before - 1) if before else "") + chr(ord("a") + last)


def _is_number(character: str) -> bool:
    return _NUMBERS <= ord(character) < 0xF900


def _is_other(character: str) -> bool:
    return ord(character) >= _OTHERS


class _Line:
    """Text with formulas on its way into tokens, and what the tokens stand for."""

    def __init__(self) -> None:
        self.flat = ""
        self.values: list[Inlines | str] = []

    def add(self, text: str) -> None:
        """Text that is to be translated."""
        self.flat += _RESERVED.sub(lambda found: self._token((Words(found[0]),), _OTHERS), text)

    def put(self, value: Inlines, own: bool = False) -> None:
        """What is not translated here; with `own`, it is no part of the sentence after it."""
        edge = _BREAK if own and (not self.flat.strip() or self.flat.rstrip()[-1] in ".!?;:·") else ""
        self.flat += edge + self._token(value, _OTHERS) + edge

    def _token(self, value: Inlines | str, area: int) -> str:
        self.values.append(value)
        return chr(area + len(self.values) - 1)

    def tokens(self) -> str:
        """The text with every number and every list as one token."""
        text = _NUMBER.sub(self._number, self.flat)
        text = _COMPOUND.sub(lambda found: self._token(found[0], _OTHERS), text)
        for lists in _LISTS:
            text = lists.sub(
                lambda found: self._token(found[0], _NUMBERS if _is_number(found[0][0]) else _OTHERS), text
            )
        return text

    def _number(self, found: re.Match[str]) -> str:
        text = found[0]
        if " " in text:  # a list of letters
            return self._token(text, _OTHERS)
        return self._token((Words(text),), _NUMBERS if text.strip("(−")[0].isdigit() else _OTHERS)

    def number(self, token: str) -> str:
        """The digits behind a token; nothing for a list."""
        match self.values[_index(token)]:
            case (Words(digits),):
                return digits
            case _:
                return ""

    def value(self, token: str, signs: Mapping[str, str]) -> Inlines:
        """What a token stands for; lists are joined as the language joins them."""
        value = self.values[_index(token)]
        if not isinstance(value, str):
            return value
        if value.startswith("("):  # a place
            return self.plain(value.replace(", ", ",\N{NO-BREAK SPACE}"), signs)
        return self.plain(value.replace(" and ", signs["and"]).replace(", ", signs["comma"]), signs)

    def plain(self, text: str, signs: Mapping[str, str]) -> Inlines:
        """Text with its tokens, as it stands."""
        return tuple(
            part
            for character in text
            for part in (
                self.value(character, signs)
                if _is_number(character) or _is_other(character)
                else (Words(signs[_MARKS[character]] if character in _MARKS else character),)
            )
        )


_MARKS = {"“": "open", "”": "close"}
"""The signs that stand for quotation marks round what is no text of ours."""


def _index(token: str) -> int:
    return ord(token) - (_NUMBERS if _is_number(token) else _OTHERS)


# --- formulas -------------------------------------------------------------------------------------------


def _formula(translator: _Translator, node: Any) -> Any:
    """A formula with its words translated; itself where it has none."""
    match node:
        case tuple():
            items = tuple([_formula(translator, item) for item in node])
            return items if any(new is not old for new, old in zip(items, node, strict=True)) else node
        case Number() | str() | int():
            return node
    changed = {}
    for name in _fields_of(node.__class__):
        part = getattr(node, name)
        new = _formula(translator, part)
        match node, name:
            case (Text(), "words") | (Marked(), "words") if part:
                new = translator.text(part)
            case Name(), "base" if len(part) > 1:
                new = translator.name(part)
        if new is not part:
            changed[name] = new
    return replace(node, **changed) if changed else node


@cache
def _fields_of(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else ()
