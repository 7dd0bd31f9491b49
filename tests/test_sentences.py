"""docs/sentences.md is what `make sentences` would make now, and has every message that there is to translate."""

from __future__ import annotations

import polib
import sentences
from messages import LANGUAGES

PAGE = sentences.FILE.read_text(encoding="utf-8")


def test_the_page_is_current() -> None:
    assert sentences.sentences() == PAGE, "run `make sentences`"


def test_every_message_of_the_catalogues_stands_there_once() -> None:
    listed = [line for block in PAGE.split("```text\n")[1:] for line in block.partition("\n```")[0].split("\n")]
    assert len(listed) == len(set(listed))
    said = {line.partition(" | ")[0] for line in listed}
    for entry in polib.pofile(str(LANGUAGES / "de.po")):
        assert entry.msgctxt == "sign" or " ".join(entry.msgid.split()) in said, entry.msgid
