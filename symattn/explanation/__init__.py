"""From a derivation, a problem or a question to a document: to read, to fill in, to mark by."""

from symattn.explanation.documents import (
    booklet,
    conventions_box,
    derivation_document,
    key_document,
    worksheet_document,
)
from symattn.explanation.steps import Detail, WhichEntries

__all__ = [
    "Detail",
    "WhichEntries",
    "booklet",
    "conventions_box",
    "derivation_document",
    "key_document",
    "worksheet_document",
]
