"""What stands in output/samples: made here, by `make samples`, and compared by a test."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import typst

from symattn.api import check, derive, make_recipe
from symattn.page.document import Document
from symattn.page.presentation import make_look
from symattn.teaching.explanation.documents import set_overview
from symattn.teaching.rendering import render
from symattn.teaching.sheets import Sheet, sheets

FOLDER = Path(__file__).parents[2] / "output" / "samples"


NOTE_002 = {
    "Q": [[1, 0, 2], [2, 2, 2], [2, 1, 3]],
    "K": [[0, 1, 1], [4, 4, 0], [2, 3, 1]],
    "V": [[1, 2, 3], [2, 8, 0], [2, 6, 3]],
    "S": [[2, 4, 4], [4, 16, 12], [4, 12, 10]],
    "A": [["0", "0.5", "0.5"], ["0", "1", "0"], ["0", "0.9", "0.1"]],
    "Z": [["2.0", "7.0", "1.5"], ["2.0", "8.0", "0.0"], ["2.0", "7.8", "0.3"]],
}
"""What note 002 writes, as a student's answers."""


def samples() -> dict[str, bytes]:
    """File name to content; every file that is committed under output/samples."""
    return pages() | {name: picture(*of) for name, of in pictures().items()}


@cache
def sheet() -> Sheet:
    return next(sheets(make_recipe("self_attention", {}, seed=7), 1))


@cache
def causal() -> Sheet:
    return next(sheets(make_recipe("causal_self_attention", {}, seed=7, exact=False, places=3), 1))


def pages() -> dict[str, bytes]:
    """Text, and PDF."""
    files: dict[str, bytes] = {}

    def add(stem: str, document: Document, *forms: str) -> None:
        for form in forms:
            suffix, content = render(document, form)
            files[stem + suffix] = content

    add("worksheet", sheet().worksheet, "latex", "markdown", "pdf")
    add("key", sheet().key, "latex", "markdown", "pdf")
    add("note-002-as-written", derive("note-002", corrected=False).document, "text")
    add("note-002-marked", check("note-002", NOTE_002, rounding="largest-remainder").document("teacher"), "text")
    return files


def pictures() -> dict[str, tuple[Document, int]]:
    """Of which page of which document each is."""
    four = [(s.name, s.question) for s in sheets(make_recipe("self_attention", {}, seed=7), 4)]
    return {
        "key.png": (sheet().key, 2),
        "worksheet.png": (sheet().worksheet, 1),
        "flow.png": (sheet().document("key", layout="flow"), 1),
        "falk.png": (replace(sheet().document("blank", layout="falk"), look=make_look(spacing="compact")), 2),
        "heads.png": (derive("note-003-multi-head").diagram("heads"), 1),
        "deutsch.png": (replace(causal().key, look=make_look(language="de")), 3),
        "overview.png": (set_overview(sheet().question.title, four, ""), 1),
    }


def picture(document: Document, page: int) -> bytes:
    """One page, from 1, as PNG."""
    pages = typst.compile(
        render(document, "typst")[1], format="png", ppi=100.0, ignore_system_fonts=True, sys_inputs={}
    )
    content = pages[page - 1] if isinstance(pages, list) else pages
    assert isinstance(content, bytes)
    return content


def main() -> None:
    made = samples()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for old in FOLDER.iterdir():
        if old.is_file() and old.name not in made:
            old.unlink()
    for name, content in made.items():
        (FOLDER / name).write_bytes(content)


if __name__ == "__main__":
    main()
