"""From a derivation or a problem to a document: to read, to fill in, to mark by."""

from symattn.explanation.documents import derivation_document, key_document, worksheet_document
from symattn.explanation.steps import Detail, WhichEntries

__all__ = ["Detail", "WhichEntries", "derivation_document", "key_document", "worksheet_document"]
