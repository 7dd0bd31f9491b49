"""What a practice page shows of symattn's documents: HTML and sentences in the language of its reader."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from symattn.foundation.languages import say, speaking
from symattn.page.document import Block, Document, Look
from symattn.page.presentation import make_look, presented
from symattn.page.writers import html
from symattn.teaching.question import Json

Said = dict[str, Json]
"""What the page is told."""


@dataclass(frozen=True)
class Reader:
    """Somebody who reads a page in a language."""

    language: str = "en"

    @property
    def look(self) -> Look:
        return make_look(language=self.language)

    def html(self, document: Document, head: bool = True) -> str:
        return html.bare(presented(replace(document, look=self.look)), head)

    def blocks(self, blocks: Iterable[Block]) -> str:
        return self.html(Document("", tuple(blocks)), head=False)

    def said(self, text: str) -> str:
        with speaking(self.language):
            return say(text)
