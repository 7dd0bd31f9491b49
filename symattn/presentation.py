"""A document as its reader wants it: the decimal sign, brackets and the sign of a transposed matrix of its `Look`."""

from __future__ import annotations

from symattn.document import Document


def presented(document: Document) -> Document:
    """The document as writers are to write it; what a writer decides itself, paper and sizes, it finds in the look."""
    return document
