"""From a derivation, a problem or a question to a document: to read, to fill in, to mark by."""

from symattn.teaching.explanation.documents import (
    CONVENTIONS,
    Conventions,
    Pages,
    booklet,
    conventions_box,
    derivation_document,
    known_choice,
    lines_of,
    question_document,
    set_overview,
    steps_document,
)
from symattn.teaching.explanation.layouts import LAYOUTS, Layout
from symattn.teaching.explanation.steps import Detail, WhichEntries

__all__ = [
    "CONVENTIONS",
    "LAYOUTS",
    "Conventions",
    "Detail",
    "Layout",
    "Pages",
    "WhichEntries",
    "booklet",
    "conventions_box",
    "derivation_document",
    "known_choice",
    "lines_of",
    "question_document",
    "set_overview",
    "steps_document",
]
