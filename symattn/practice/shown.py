"""What a practice page shows of symattn's documents: HTML and sentences in the language of its reader."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from symattn.errors import SymattnError
from symattn.foundation.languages import say, speaking
from symattn.page.document import Block, Document, Look
from symattn.page.presentation import make_look, presented
from symattn.page.writers import html
from symattn.teaching.question import Json

Said = dict[str, Json]
"""What the page is told."""
Verb = Callable[..., Said]
Told = Callable[[int, int], None]
"""Is told how many of how many are done."""


def silent(done: int, of: int) -> None:
    """No progress shown."""


def verbs_of(page: object) -> Mapping[str, Verb]:
    """The methods of a page by their names: what it can be asked for."""
    names = (name for name, verb in vars(type(page)).items() if callable(verb) and not name.startswith("_"))
    return {name: getattr(page, name) for name in names}


def answered(verb: Callable[[str], Verb], request: str, told: Told = silent) -> str:
    """`{"verb": "draw", …}` answered by what the verb stands for; a mistake is a sentence: `{"error": "…"}`.

    What takes long takes `told`, and says how far it is.
    """
    asked = json.loads(request)
    try:
        asked_for = verb(asked.pop("verb"))
        more = {"told": told} if "told" in asked_for.__annotations__ else {}
        return json.dumps(asked_for(**asked, **more), ensure_ascii=False)
    except SymattnError as error:
        return json.dumps({"error": str(error)}, ensure_ascii=False)


def file(name: str, data: bytes, notes: Iterable[str] | None = None) -> Said:
    """A file to be kept, with what is to be noted of it, each once."""
    said: Said = {"name": name, "data": b64encode(data).decode()}
    return said if notes is None else {**said, "notes": [*dict.fromkeys(notes)]}


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
