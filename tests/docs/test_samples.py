"""output/samples is what `make samples` would make now: text to the byte, PDF by its words, pictures by being there."""

from io import BytesIO

import samples
from pypdf import PdfReader

HINT = "run `make samples`"
PINNED = {"key.md", "key.tex", "note-002-as-written.txt", "note-002-marked.txt", "worksheet.md", "worksheet.tex"}


def words(pdf):
    """Whichever Typst broke the lines and pages, and however wide their margins are."""
    return {word for page in PdfReader(BytesIO(pdf)).pages for word in page.extract_text().split()}


def test_samples_are_current():
    made = samples.pages()
    there = {path.name: path.read_bytes() for path in samples.FOLDER.iterdir() if path.is_file()}
    assert set(there) == {*made, *samples.pictures()}, HINT
    for name in sorted(there):
        if name.endswith(".pdf"):
            assert words(there[name]) == words(made[name]), f"{name}: {HINT}"
        elif name.endswith(".png"):
            assert there[name].startswith(b"\x89PNG\r\n\x1a\n"), name
        else:
            assert name in PINNED
            assert there[name] == made[name], f"{name}: {HINT}"
