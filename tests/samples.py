"""What stands in output/samples: made here, by `make samples`, and compared by a test."""

from __future__ import annotations

from pathlib import Path

import typst

from symattn.api import derive, make_recipe
from symattn.document import Document
from symattn.sheets import render, sheets

FOLDER = Path(__file__).parent.parent / "output" / "samples"


def samples() -> dict[str, bytes]:
    """File name to content; every file that is committed under output/samples."""
    files: dict[str, bytes] = {}

    def add(stem: str, document: Document, *forms: str) -> None:
        for form in forms:
            suffix, content = render(document, form)
            files[stem + suffix] = content

    [sheet] = sheets(make_recipe("self_attention", {}, seed=7), 1)
    add("worksheet", sheet.worksheet, "latex", "markdown", "pdf")
    add("key", sheet.key, "latex", "markdown", "pdf")
    [causal] = sheets(make_recipe("causal_self_attention", {}, seed=7, exact=False, places=3), 1)
    add("causal-worksheet", causal.worksheet, "pdf")
    add("causal-key", causal.key, "pdf")
    for note in ("note-000", "note-001", "note-002", "note-003", "note-004"):
        add(f"{note}-as-written", derive(note, corrected=False).document, "text")
        add(f"{note}-corrected", derive(note).document, "text")
    files["key.png"] = picture(sheet.key, page=2)
    files["worksheet.png"] = picture(sheet.worksheet, page=1)
    return files


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
        if old.name not in made:
            old.unlink()
    for name, content in made.items():
        (FOLDER / name).write_bytes(content)


if __name__ == "__main__":
    main()
