"""output/samples is what `make samples` would make now.

Text byte for byte; PDF by what it holds, for another version of Typst may write other bytes; pictures byte for byte
where the same version draws them, and by their size where another does.
"""

from __future__ import annotations

import struct
from functools import cache
from io import BytesIO

import pytest
import samples
from pdf_marks import tags
from pypdf import PdfReader

MADE_WITH = "key.pdf"
"""The sample that says which Typst made all of them."""


@cache
def made() -> dict[str, bytes]:
    return samples.samples()


def held(pdf: bytes) -> dict[str, object]:
    """What a PDF holds, whichever Typst wrote it: title, language, what is read aloud, every page's size and text."""
    reader = PdfReader(BytesIO(pdf))
    assert reader.metadata
    return {
        "title": reader.metadata.title,
        "language": reader.root_object["/Lang"],
        "sizes": [tuple(round(float(length)) for length in page.mediabox) for page in reader.pages],
        "text": ["".join(page.extract_text().split()) for page in reader.pages],
        "tags": list(tags(pdf)),
    }


def creator(pdf: bytes) -> str | None:
    metadata = PdfReader(BytesIO(pdf)).metadata
    return metadata.creator if metadata else None


def size(png: bytes) -> tuple[int, int]:
    """Width and height: the first two numbers of the first part of a PNG."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    assert png[12:16] == b"IHDR"
    return struct.unpack(">II", png[16:24])


def same(name: str, old: bytes, new: bytes) -> bool:
    if old == new:
        return True
    if name.endswith(".pdf"):
        return held(old) == held(new)
    if name.endswith(".png"):
        other = creator((samples.FOLDER / MADE_WITH).read_bytes()) != creator(made()[MADE_WITH])
        return other and size(old) == size(new)
    return False


def test_samples_are_current() -> None:
    there = {path.name: path.read_bytes() for path in samples.FOLDER.iterdir() if path.is_file()}
    assert sorted(there) == sorted(made()), "run `make samples`"
    stale = [name for name, content in made().items() if not same(name, there[name], content)]
    assert not stale, f"run `make samples`: {', '.join(stale)} changed"


@pytest.mark.parametrize("name", ["worksheet.pdf", "causal-worksheet.pdf"])
def test_a_pdf_of_another_typst_is_the_same_and_one_of_another_page_is_not(name: str) -> None:
    """Witness: bytes as another version would write them, with its name in them; and another sample."""
    sample = (samples.FOLDER / name).read_bytes()
    mark = creator(sample)
    assert mark
    other = sample.replace(mark.encode(), mark[:-1].encode() + b"9")
    assert other != sample
    assert same(name, sample, other)
    assert not same(name, sample, (samples.FOLDER / "key.pdf").read_bytes())
