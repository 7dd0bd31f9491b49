"""Moodle XML: Cloze questions with a box for every entry; a category for each pool."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fractions import Fraction

from symattn.foundation.languages import message, say
from symattn.page.writers.html import escaped
from symattn.teaching.bank.forms import decimal, exact
from symattn.teaching.bank.items import Bank, BankItem, Body, Chosen, Measured, Shaded, Spot, Typed
from symattn.teaching.bank.prompts import styled
from symattn.teaching.question import LETTERS

PLACES = 5
"""Of a decimal, at most, as Moodle keeps shares."""

SUFFIX = ".moodle.xml"
LOST = message(
    "Moodle marks every entry by itself: it follows common mistakes but not a student's own, takes a number only in a "
    "form that is listed or as a decimal within a tolerance, and shares marks for method and for rows out among the "
    "entries; symattn practice follows everything."
)

SHADED, WHITE = "■", "□"


def write(bank: Bank) -> bytes:
    return "".join(_lines(bank)).encode()


def _lines(bank: Bank) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<quiz>\n'
    for number, pool in enumerate(bank.pools, 1):
        path = "/".join(_of_path(part) for part in (bank.title, f"{number} {pool.title}"))
        about = f"<p>{escaped(say(LOST))}</p>" if number == 1 else ""
        yield f'<question type="category"><category><text>$course$/top/{escaped(path)}</text></category>'
        yield f'<info format="html">{_text(about)}</info></question>\n'
        for item in pool.items:
            yield from _question(item)
    yield "</quiz>\n"


def _of_path(name: str) -> str:
    """A name as one step of a category's path, in which slashes are doubled."""
    return name.replace("/", "//")


def _text(html: str) -> str:
    inside = styled(html).replace("]]>", "]]]]><![CDATA[>")
    return f"<text><![CDATA[{inside}]]></text>"


def _question(item: BankItem) -> Iterator[str]:
    match item.places:
        case [Chosen() as place]:
            kind, text, more = "multichoice", item.text, _options(place)
        case _:
            kind, text, more = "cloze", _cloze(item), ""
    yield f'<question type="{kind}"><name><text>{escaped(_name(item))}</text></name>\n'
    yield f'<questiontext format="html">{_text(text)}</questiontext>\n'
    yield f'<generalfeedback format="html">{_text(item.answers)}</generalfeedback>\n'
    if kind == "multichoice":
        yield f"<defaultgrade>{decimal(item.points, PLACES)}</defaultgrade>"
    yield f"<penalty>0.3333333</penalty><hidden>0</hidden><idnumber>symattn-{item.id}</idnumber>{more}"
    yield "<tags><tag><text>symattn</text></tag></tags></question>\n"


def _name(item: BankItem) -> str:
    """The title, the variant, and what it is worth: Cloze questions count weights, and a quiz is told the marks."""
    return f"{item.title} {item.sheet} [{decimal(item.points, PLACES)}]"


# ------------------------------------------------------------------------------------------------ choices


def _options(place: Chosen) -> str:
    """The answers of a question that is nothing but a choice."""
    right = sum(option.right for option in place.options)
    wrong = Fraction(-100, right) if place.several else Fraction(0)
    answers = "".join(
        f'<answer fraction="{decimal(Fraction(100, right) if option.right else wrong, PLACES)}" format="html">'
        f'{_text(option.shown)}<feedback format="html">{_text(option.told)}</feedback></answer>\n'
        for option in place.options
    )
    one = "false" if place.several else "true"
    return (
        f"<single>{one}</single><shuffleanswers>false</shuffleanswers><answernumbering>ABCD</answernumbering>{answers}"
    )


# ------------------------------------------------------------------------------------------------ Cloze


def _cloze(item: BankItem) -> str:
    weights = item.weights
    written = []
    for part in item.parts:
        longest = _longest(part)
        for piece in part:
            match piece:
                case str():
                    written.append(piece)
                case Typed(size=size) | Measured(size=size):
                    boxed = _place(piece, weights[piece], longest[size])
                    written.append(f'<span style="{_BOX};min-width:{size + 3}ch">{boxed}</span>')
                case _:
                    written.append(_place(piece, weights[piece]))
    return "".join(written)


_BOX = "display:inline-block;margin:0.1em 0.4em"
"""A box and the room beside it: themes make boxes wider by their padding."""


def _longest(part: Body) -> dict[int, int]:
    """The characters of the longest answer in all boxes of a part, by the size that they are to have, and no fewer.

    Moodle makes a box as wide as the longest of its own answers, and would show by that where a 0 belongs.
    """
    longest: dict[int, int] = {}
    for place in part:
        if isinstance(place, Typed | Measured):
            longest[place.size] = max(longest.get(place.size, place.size), *map(len, _answers(place)))
    return longest


def _answers(place: Typed | Measured) -> list[str]:
    """All answers that a box knows."""
    if isinstance(place, Typed):
        return [_compared(text) for text in (*place.texts, *(text for one in place.wrong for text in one.texts))]
    return [exact(value) for value in (place.value, *(one.value for one in place.wrong))]


def _place(place: Spot, weight: int, length: int = 0) -> str:
    """A place; one that is written in has some answer of that length, if need be a dummy."""
    match place:
        case Typed(texts=texts, wrong=wrong):
            right = [f"={_literal(text)}" for text in texts]
            known = [_known(_literal(text), one.told, one.follows) for one in wrong for text in one.texts]
            filler = [] if max(map(len, _answers(place))) == length else [f"%0%{'_' * length}"]
            return _part(weight, "SHORTANSWER", [*right, *known, *filler])
        case Measured(value=value, tolerance=tolerance, wrong=wrong):
            off = exact(tolerance)
            known = [_known(f"{exact(one.value)}:{exact(one.tolerance)}", one.told, one.follows) for one in wrong]
            filler = [] if max(map(len, _answers(place))) == length else [f"%0%{'9' * length}:0"]
            return _part(weight, "NUMERICAL", [f"={exact(value)}:{off}", *known, *filler])
        case Chosen(options=options, several=several):
            lettered = [(option, _escaped(f"{LETTERS[k]}. {option.shown}")) for k, option in enumerate(options)]
            listed = [f"={text}" if one.right else f"{text}{_feedback(one.told)}" for one, text in lettered]
            return _part(weight, "MULTIRESPONSE" if several else "MULTICHOICE_V", listed)
        case Shaded(right=right_is_shaded):
            signs = ((SHADED, right_is_shaded), (WHITE, not right_is_shaded))
            return _part(weight, "MULTICHOICE", [f"={sign}" if right else sign for sign, right in signs])


def _part(weight: int, kind: str, alternatives: Iterable[str]) -> str:
    return f"{{{weight}:{kind}:{'~'.join(alternatives)}}}"


def _known(answer: str, told: str, follows: bool) -> str:
    """A wrong answer; what follows from a mistake in an earlier line has its points."""
    return f"%{100 if follows else 0}%{answer}{_feedback(told)}"


def _feedback(told: str) -> str:
    """What is told, as short as may be: it stands behind every form of an answer."""
    return f"#{_escaped(_FORMULA.sub('<math>', told))}" if told else ""


_FORMULA = re.compile("<math [^>]*>")


def _literal(text: str) -> str:
    r"""A text that is compared: an asterisk would stand for anything.

    >>> print(_literal("4*d^2"))
    4&#92;*d^2
    """
    return _escaped(_compared(text))


def _compared(text: str) -> str:
    return text.replace("*", "\\*")


def _escaped(text: str) -> str:
    """Text or HTML inside a part.  A backslash before a sign would be shown; entities are read as what they mean.

    >>> print(_escaped("a~b}#<c>&lt;"))
    a&#126;b&#125;&#35;<c>&amp;lt;
    """
    return "".join(_ENTITIES.get(c, c) for c in text)


_ENTITIES = {"&": "&amp;"} | {c: f"&#{ord(c)};" for c in "}~#\\{"}
