"""Sentences as data: a template in English with named places, and what stands in them.

    message("Scores are divided by {divisor}.", divisor=2)
    counted("{n} line is empty.", "{n} lines are empty.", n=3)

Both give a `Message`, which is its own English text.  The template is what a catalogue translates, so it is written out
where the message is made, in one piece: nothing that is put together from parts can be translated.  What stands in a
place may be a message itself, a number, or any text; only messages are translated.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

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
    """Sentences one after the other; empty ones are left out."""
    said, *others = [part for part in parts if part] or [""]
    for part in others:
        said = message("{sentences} {sentence}", sentences=said, sentence=part)
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
