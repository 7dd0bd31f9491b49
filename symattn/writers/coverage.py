"""Which characters PDF can show, and what stands in the place of those that it cannot.

Typst refuses to make accessible PDF of a character that no font has, so a writer has to know before.  Fonts that are
always there have Latin, Greek, Cyrillic, Hebrew, Armenian and Georgian letters, and the commonest Chinese characters.
Others are printed where this machine has a font for them (`system_fonts`); else they are transliterated, and what
has no transliteration is shown by its code.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby

from symattn.resources import fonts

# What a text font of the typst wheel 0.15 has both upright and bold, from left to right: first and last character.
_RANGES = """
20-331 370-482 48A-4FF 510-513 51A-51D 531-58F 591-5C7 5D0-5EA 5EF-5F4 6F0-6F9 E81-E84 E94-E97 E99-E9F EA1-EA7 EAD-EB0
10D0-10FF 13A0-13FD 1D00-1DBF 1E00-2027 2029-2037 2039-2040 2044-204B 205F-20C0 2100-2103 210C-210F 2115-2117
211C-211E 2135-2139 214F-2151 2153-2184 2190-2220 2222-222D 2234-223D 2241-226B 226D-228B 228D-22A5 22B2-22B5
22C2-22C6 22CD-22D1 22DA-22E9 2300-2306 2308-2315 231C-2322 2325-232B 2335-237A 2380-2383 2388-238B 239B-23AE
2460-262F 2638-268B 2690-269C 26A0-26A5 26B0-26B2 2701-2704 2706-2709 270C-2727 2729-274B 274F-2752 2758-275E
2761-277F 2798-27AF 27B1-27BE 27E6-27EB 27F5-27F7 2800-28FF 2B05-2B0D 2B12-2B1A
"""

_SPANS = [span.split("-") for span in _RANGES.split()]
_FIRST = [int(span[0], 16) for span in _SPANS]
_LAST = [int(span[-1], 16) for span in _SPANS]


@dataclass
class Printing:
    """What happens to the characters of one document.

    also      characters that fonts of this machine have, beyond those that are always there
    replaced  text that could not be printed, and what stands in its place
    has_han   whether Chinese characters were printed
    longest   the length of the longest word
    """

    also: frozenset[str] = frozenset()
    replaced: dict[str, str] = field(default_factory=dict)
    has_han: bool = False
    longest: int = 0


_PRINTING: ContextVar[Printing] = ContextVar("printing")


@contextmanager
def printing(also: Iterable[str] = ()) -> Iterator[Printing]:
    """Keeps account, while a document is written, of what could not be printed."""
    account = Printing(frozenset(also))
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
    return _PRINTING.get(Printing())


def is_printable(character: str) -> bool:
    """Whether a font has the character, among those that are always there or that were found for this document."""
    i = bisect(_FIRST, ord(character)) - 1
    if i >= 0 and ord(character) <= _LAST[i]:
        return True
    account = _account()
    if character in han():
        account.has_han = True
        return True
    return character in account.also


def in_printable_runs(words: str) -> Iterator[tuple[bool, str]]:
    """Text cut into runs that can and that cannot be printed.

    >>> list(in_printable_runs("a\N{DEVANAGARI LETTER KA}"))
    [(True, 'a'), (False, 'क')]
    """
    for printable, run in groupby(words, is_printable):
        yield printable, "".join(run)


def shown(words: str) -> Iterator[tuple[bool, str]]:
    """Text as it can be printed: runs of it (True), and characters that only their codes can stand for (False).

    >>> list(shown("\N{DEVANAGARI LETTER KA}\ufffd"))
    [(True, 'k'), (False, '\ufffd')]
    """
    account = _account()
    account.longest = max([account.longest, *map(len, words.split())])
    for printable, run in in_printable_runs(words):
        if printable:
            yield True, run
            continue
        for known, part in groupby(run, lambda c: bool(transliterated(c))):
            text = "".join(part)
            account.replaced[text] = transliterated(text) if known else codes(text)
            yield from [(True, transliterated(text))] if known else [(False, character) for character in text]


def transliterated(words: str) -> str:
    """Text in Latin letters; nothing where there is no custom of writing it so."""
    from anyascii import anyascii

    return anyascii(words).strip()


def codes(words: str) -> str:
    return " ".join(f"U+{ord(character):04X}" for character in words)


def notice(replaced: Mapping[str, str]) -> str:
    """What a user is told about text that could not be printed, in one sentence; nothing if there is none."""
    if not replaced:
        return ""
    listed = ", ".join(f"{text} is printed as {shown}" for text, shown in list(replaced.items())[:5])
    more = f", and so on ({len(replaced)} in all)" if len(replaced) > 5 else ""
    return f"no font here has these characters: {listed}{more}."
