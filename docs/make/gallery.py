"""Every layout, problem type and mechanism in a picture: docs/gallery.md and output/samples/gallery, by `make gallery`.

A picture has the first two pages of a worksheet side by side, small and in sixteen greys.  Names after the command
choose pictures; the page is made anew each time.
"""

from __future__ import annotations

import shlex
import struct
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import cast

import typst

from symattn.api import make_recipe
from symattn.derivation.mechanisms import mechanisms
from symattn.page.document import Document
from symattn.page.presentation import presented
from symattn.teaching.explanation import LAYOUTS, Layout
from symattn.teaching.problems import drawn_types, problem_type
from symattn.teaching.rendering import render
from symattn.teaching.sheets import sheets

ROOT = Path(__file__).parents[2]
FILE = ROOT / "docs" / "gallery.md"
PICTURES = ROOT / "output" / "samples" / "gallery"
DENSITY = 75.0
"""Dots to the inch."""
SHOWN = 2
"""Pages in a picture."""
SEED = 7
SHOWN_IN = "self_attention"
"""The mechanism whose worksheet shows the layouts."""


@dataclass(frozen=True)
class Entry:
    """One picture: what it is of, what it is called, how it is made."""

    kind: str
    name: str
    title: str
    options: tuple[str, ...]

    @property
    def stem(self) -> str:
        return f"{self.kind}-{self.name}"

    @property
    def command(self) -> str:
        return shlex.join(("symattn", "worksheet", *self.options, "--seed", str(SEED), "--format", "pdf"))

    @property
    def picture(self) -> Path:
        return PICTURES / f"{self.stem}.png"

    @property
    def document(self) -> Document:
        layout: Layout = "matrix"
        if self.kind == "layout":
            layout = cast(Layout, self.name)
        if self.kind == "type":
            recipe = make_recipe("", {}, problem=self.name, seed=SEED)
        else:
            recipe = make_recipe(SHOWN_IN if self.kind == "layout" else self.name, {}, seed=SEED)
        [sheet] = sheets(recipe, 1)
        return presented(sheet.document("blank", layout=layout))


CALLED = {"matrix": "Matrices", "falk": "Falk's scheme", "columns": "Two columns", "flow": "Flow sheet"}


def entries() -> Iterator[Entry]:
    """One for everything that the catalogues have."""
    for layout in LAYOUTS:
        yield Entry("layout", layout, CALLED.get(layout, layout.capitalize()), (SHOWN_IN, "--layout", layout))
    for name in drawn_types():
        kind = problem_type(name)
        yield Entry("type", name, kind.title, ("--problem", name))
    for name, mechanism in mechanisms().items():
        yield Entry("mechanism", name, mechanism.title, (name,))


HEADINGS = {
    "layout": ("Layouts", "The same worksheet, laid out otherwise."),
    "type": ("Problem types", "What `symattn list problems` has; each with its defaults."),
    "mechanism": ("Mechanisms", "What `symattn list mechanisms` has, as a full derivation in answer boxes."),
}


def gallery() -> str:
    """The whole page."""
    return "\n".join(lines()).rstrip() + "\n"


def lines() -> Iterator[str]:
    listed = list(entries())
    yield from (
        "# Gallery",
        "",
        "Made by `make gallery`: the first pages of a worksheet of everything there is, and the",
    )
    yield from (
        "command that makes it. Without `--format pdf` it comes as LaTeX and Markdown as well, with its key.",
        "",
    )
    yield from (f"- [{title}](#{title.lower().replace(' ', '-')})" for title, _ in HEADINGS.values())
    for kind, (title, about) in HEADINGS.items():
        yield from ("", f"## {title}", "", about)
        for entry in listed:
            if entry.kind == kind:
                path = f"../{entry.picture.relative_to(ROOT).as_posix()}"
                yield from ("", f"### {entry.title}", "", f"`{entry.command}`", "")
                yield f"![{entry.title}: the first pages of the worksheet]({path})"


# ------------------------------------------------------------------------------------------------ pictures


def picture(document: Document) -> bytes:
    """The first pages side by side, as PNG in sixteen greys."""
    made = typst.compile(
        render(document, "typst")[1], format="png", ppi=DENSITY, ignore_system_fonts=True, sys_inputs={}
    )
    pages = [rows_of(page) for page in ([made] if isinstance(made, bytes) else made)[:SHOWN]]
    edge, white = b"\xc0", b"\xff"
    rows = [edge.join(row or white * len(pages[0][0]) for row in line) for line in zip_longest(*pages)]
    wide = len(rows[0]) + 2
    framed = [edge * wide, *(edge + row + edge for row in rows), edge * wide]
    return png([packed(row) for row in framed], wide)


def rows_of(image: bytes, channel: int = 0) -> list[bytes]:
    """One channel of a PNG of 8 bits a channel, as a row of bytes for every line; of a grey one any."""
    at, width, channels, data = 8, 0, 4, b""
    while at < len(image):
        length, kind = struct.unpack(">I4s", image[at : at + 8])
        body = image[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, _, depth, colour = struct.unpack(">IIBB", body[:10])
            assert depth == 8
            channels = {0: 1, 2: 3, 4: 2, 6: 4}[colour]
        elif kind == b"IDAT":
            data += body
        at += 12 + length
    raw = zlib.decompress(data)
    found, above = list[bytes](), bytes(width)
    for start in range(0, len(raw), 1 + width * channels):
        line = raw[start + 1 + channel : start + 1 + width * channels : channels]
        above = unfiltered(raw[start], line, above)
        found.append(above)
    return found


def unfiltered(kind: int, line: bytes, above: bytes) -> bytes:
    """A line of a PNG as it is, from what was written of it (PNG specification, section 9)."""
    if kind == 0:
        return line
    row = bytearray(len(line))
    left = corner = 0
    for i, (x, up) in enumerate(zip(line, above, strict=True)):
        guess = left + up - corner
        near = min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))[2]
        left = (x + (0, left, up, (left + up) // 2, near)[kind]) & 255
        row[i], corner = left, up
    return bytes(row)


def packed(row: bytes) -> bytes:
    """Two dots in a byte."""
    return in_halves(bytes((x * 15 + 127) // 255 for x in row))


def in_halves(tones: bytes) -> bytes:
    """Tones below 16, two in a byte."""
    return bytes(first << 4 | second for first, second in zip(tones[::2], (tones + b"\x0f")[1::2], strict=False))


def png(rows: list[bytes], width: int, palette: bytes = b"") -> bytes:
    """Rows of half bytes as PNG: sixteen greys, or the colours of a palette."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", width, len(rows), 4, 3 if palette else 0, 0, 0, 0)
    colours = chunk(b"PLTE", palette) if palette else b""
    body = zlib.compress(b"".join(b"\x00" + row for row in rows), 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + colours + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def main(chosen: list[str]) -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    listed = list(entries())
    for entry in listed:
        if not chosen or any(name in entry.stem for name in chosen):
            entry.picture.write_bytes(picture(entry.document))
            print(f"{entry.stem}: {entry.picture.stat().st_size // 1024} kB", flush=True)
    for old in set(PICTURES.iterdir()) - {entry.picture for entry in listed}:
        old.unlink()
    FILE.write_text(gallery(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
