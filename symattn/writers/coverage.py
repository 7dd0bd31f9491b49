"""Which characters can be printed with the fonts inside typst.

Typst refuses to make accessible PDF of a character that no font has, so a writer has to know before.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator
from itertools import groupby

# What a text font of the typst wheel 0.15 has both upright and bold, from left to right: first and last character.
_RANGES = """
20-331 370-482 48A-4FF 510-513 51A-51D 531-58F 6F0-6F9 E81-E84 E94-E97 E99-E9F EA1-EA7 EAD-EB0 10D0-10FF
13A0-13FD 1D00-1DBF 1E00-2027 2029-2037 2039-2040 2044-204B 205F-20C0 2100-2103 210C-210F 2115-2117 211C-211E
2135-2139 214F-2151 2153-2184 2190-2220 2222-222D 2234-223D 2241-226B 226D-228B 228D-22A5 22B2-22B5 22C2-22C6
22CD-22D1 22DA-22E9 2300-2306 2308-2315 231C-2322 2325-232B 2335-237A 2380-2383 2388-238B 239B-23AE 2460-262F
2638-268B 2690-269C 26A0-26A5 26B0-26B2 2701-2704 2706-2709 270C-2727 2729-274B 274F-2752 2758-275E 2761-277F
2798-27AF 27B1-27BE 27E6-27EB 27F5-27F7 2800-28FF 2B05-2B0D 2B12-2B1A
"""

_SPANS = [span.split("-") for span in _RANGES.split()]
_FIRST = [int(span[0], 16) for span in _SPANS]
_LAST = [int(span[-1], 16) for span in _SPANS]


def is_printable(character: str) -> bool:
    i = bisect(_FIRST, ord(character)) - 1
    return i >= 0 and ord(character) <= _LAST[i]


def in_printable_runs(words: str) -> Iterator[tuple[bool, str]]:
    """Text cut into runs that can and that cannot be printed.

    >>> list(in_printable_runs("a中"))
    [(True, 'a'), (False, '中')]
    """
    for printable, run in groupby(words, is_printable):
        yield printable, "".join(run)
