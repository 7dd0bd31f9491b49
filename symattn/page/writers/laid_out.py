"""The pages of a PDF by typst as its bytes tell of them: how much stands on each, and how far down.

In a browser it writes spaces and line ends where it writes none here.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from functools import cached_property

from symattn.page.writers.common import Page

_PAGE = re.compile(rb"\n(\d+) 0 obj\s*<<\s*/Type\s*/Page(?=[\s/]).*?/Contents (\d+) 0 R", re.DOTALL)
_STREAM = rb"\n%s 0 obj\s*<<\s*/Length (\d+)[^>]*>>\s*stream\r?\n"
_PLACE = re.compile(rb"1 0 0 -1 [-\d.]+ ([-\d.]+) cm")  # of text or a line, in points from the lower left corner
_FOOTER = re.compile(rb"/Subtype\s*/Footer")
_LAST_LINES = 6_000  # bytes
_POINT = 25.4 / 72  # millimetres


class LaidOut:
    """The pages of a finished PDF."""

    def __init__(self, pdf: bytes) -> None:
        self.pdf = pdf
        self._numbers = [(page, contents) for page, contents in _PAGE.findall(pdf)]

    def __len__(self) -> int:
        return len(self._numbers)

    @cached_property
    def _streams(self) -> list[tuple[int, int]]:
        """Where the contents of each page begin, and how many bytes typst used for them."""
        found = (re.search(_STREAM % contents, self.pdf) for _, contents in self._numbers)
        return [(stream.end(), int(stream[1])) if stream else (len(self.pdf), 0) for stream in found]

    def ends_within(self, share: float) -> bool:
        """Whether less stands on the last page than such a share of what stands on others."""
        *others, last = [size for _, size in self._streams] or [0]
        return bool(others) and last * len(others) < share * sum(others)

    @property
    def last_headings(self) -> int:
        """How many headings stand on the last page: their places are in the outline."""
        return len(re.findall(rb"\[%s 0 R\s*/XYZ" % self._numbers[-1][0], self.pdf))

    def lacking(self, page: Page) -> float:
        """The share of all that stands on the pages for which one of them fewer, each like `page`, has no room."""
        top = page.paper_height - page.top
        used = sum(
            top - min((_POINT * place for place in self._places(*stream)), default=top) for stream in self._streams
        )
        return 1 - (len(self) - 1) * page.text_height / used if used else 0.0

    def _places(self, start: int, size: int) -> Iterator[float]:
        """How far above the lower edge the last lines of a page stand, in points."""
        content = _FOOTER.split(zlib.decompress(self.pdf[start : start + size]), maxsplit=1)[0]
        return map(float, _PLACE.findall(content[-_LAST_LINES:]))
