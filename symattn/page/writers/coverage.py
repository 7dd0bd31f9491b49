"""Which characters PDF can show, and what stands in the place of those that it cannot.

Typst refuses to make accessible PDF of a character that no font has, so a writer has to know before.  Fonts that are
always there have Latin, Greek, Cyrillic, Hebrew, Armenian and Georgian letters, and the commonest Chinese characters.
Others are printed where this machine has a font for them (`system_fonts`); else they are transliterated, and what
has no transliteration is shown by its code.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache, wraps
from itertools import groupby
from typing import Any, ParamSpec, TypeVar

from symattn.foundation.installed import fonts

P = ParamSpec("P")
T = TypeVar("T")

# What the fonts of the typst wheel 0.15 have as text, bold, as code and in formulas: first and last character.
_RANGES = """
20-4FF 510-513 51A-51D 531-60C 615 61B 61F 621-63A 640-655 65A 660-66D 674 679-67B 67E-680 683-684 686-687 691 698 6A4
6A9 6AF 6BE 6CC 6F0-6F9 900-97F E3F E81-E84 E87-E88 E8A E8D E94-E97 E99-E9F EA1-EA7 EAA-EAB EAD-EB9 EBB-EBC EC8-ECD
10D0-10FF 115F-1160 13A0-13FD 17B4-17B5 17C1-17C3 180B-180F 1D00-1DBF 1E00-2040 2042 2044-2052 2054-20CF 2100-211E
2120 2122 2124 2126-2151 2153-2184 2189 2190-221C 221E-221F 2222-23FF 2422-2423 2460-2606 2609-262F 2638-268B
2690-269C 26A0-26A7 26AA-26AE 26B2 2701-2704 2706-2709 270C-2713 2717-2726 272A-274B 274D 274F-2752 2756 2758-275E
2761-277F 2794 2798-27AF 27B1-2BFF 2C60-2CFF 2E02-2E05 2E08-2E0A 2E17-2E18 2E1F 2E22-2E25 2E2E
"""

NO_CHARACTER = "\ufffd"  # in the place of what is none
_LAST_OF_LATIN = "\u024f"
_LATIN = re.compile(rf"[ -{_LAST_OF_LATIN}]*")
"""Text that can be printed whatever there is."""

_SPANS = [span.split("-") for span in _RANGES.split()]
FIRST = [int(span[0], 16) for span in _SPANS]
LAST = [int(span[-1], 16) for span in _SPANS]


@dataclass
class Printing:
    """What happens to the characters of one document.

    also      characters that fonts of this machine have, beyond those that are always there
    careful   whether nothing but Latin letters is printed: some fonts have a letter and not all that is joined to it
    replaced  text that could not be printed, and what stands in its place
    has_han   whether Chinese characters were printed
    longest   the length of the longest word
    known     what `once_for_a_document` keeps
    """

    also: frozenset[str] = frozenset()
    careful: bool = False
    replaced: dict[str, str] = field(default_factory=dict)
    has_han: bool = False
    longest: int = 0
    known: dict[tuple[object, ...], Any] = field(default_factory=dict)


_PRINTING: ContextVar[Printing | None] = ContextVar("printing", default=None)


@contextmanager
def printing(also: Iterable[str] = (), careful: bool = False) -> Iterator[Printing]:
    """Keeps account, while a document is written, of what could not be printed."""
    account = Printing(frozenset(also), careful)
    token = _PRINTING.set(account)
    try:
        yield account
    finally:
        _PRINTING.reset(token)


@cache
def han() -> frozenset[str]:
    """The characters of our font of Chinese."""
    return frozenset((fonts() / "symattn-han.txt").read_text(encoding="utf-8").strip())


def _account() -> Printing:
    return _PRINTING.get() or Printing()


def once_for_a_document(write: Callable[P, T]) -> Callable[P, T]:
    """The function, its results kept while a document is written: they depend on its language and its fonts."""

    @wraps(write)
    def kept(*arguments: P.args, **named: P.kwargs) -> T:
        known, key = _account().known, (write, arguments, *named.items())
        if key not in known:
            known[key] = write(*arguments, **named)
        result: T = known[key]
        return result

    return kept


def is_printable(character: str) -> bool:
    """Whether a font has the character, among those that are always there or that were found for this document."""
    account = _account()
    if account.careful:
        return character <= _LAST_OF_LATIN
    i = bisect(FIRST, ord(character)) - 1
    if i >= 0 and ord(character) <= LAST[i]:
        return True
    if character in han():
        account.has_han = True
        return True
    return character in account.also


def in_printable_runs(words: str) -> Iterator[tuple[bool, str]]:
    """Text cut into runs that can and that cannot be printed.

    >>> list(in_printable_runs("a\N{HIRAGANA LETTER KA}"))
    [(True, 'a'), (False, 'か')]
    """
    for printable, run in groupby(words, is_printable):
        yield printable, "".join(run)


def shown(words: str) -> list[tuple[bool, str]]:
    """Text as it can be printed: runs of it (True), and characters that only their codes can stand for (False).

    >>> shown("\N{HIRAGANA LETTER KA}\ufffd")
    [(True, 'ka'), (False, '\ufffd')]
    """
    account = _account()
    if _LATIN.fullmatch(words):  # nearly every text, and asking character by character takes ten times as long
        account.longest = max([account.longest, *map(len, words.split())])
        return [(True, words)] if words else []
    parts: list[tuple[bool, str]] = []
    for printable, run in in_printable_runs(words):
        if printable:
            parts.append((True, run))
            continue
        for known, part in groupby(run, lambda c: bool(transliterated(c))):
            text = "".join(part)
            account.replaced[text] = transliterated(text) if known else codes(text)
            parts += [(True, transliterated(text))] if known else [(False, character) for character in text]
    written = "".join(run if printable else codes(run) for printable, run in parts)
    account.longest = max([account.longest, *map(len, written.split())])
    return parts


def transliterated(words: str) -> str:
    """Text in Latin letters; nothing where there is no custom of writing it so."""
    from anyascii import anyascii

    return anyascii(words.replace(NO_CHARACTER, "")).strip()


def codes(words: str) -> str:
    return " ".join(f"U+{ord(character):04X}" for character in words)


def in_words(replaced: Mapping[str, str]) -> str:
    """What stands in the place of text that could not be printed, for a warning.

    >>> in_words({"か": "ka", "😀": "U+1F600"})
    'か as ka, 😀 as U+1F600'
    """
    listed = ", ".join(f"{text} as {shown}" for text, shown in list(replaced.items())[:5])
    return listed + (f", and so on, {len(replaced)} in all" if len(replaced) > 5 else "")
