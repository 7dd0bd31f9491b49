"""docs/gallery.md has everything that there is, with commands that are understood; its pictures are made by hand."""

import re
import shlex
import struct
import zlib

import click
import gallery
import numpy as np
import pytest

from symattn.cli import main
from symattn.derivation.mechanisms import mechanisms
from symattn.teaching.explanation import LAYOUTS
from symattn.teaching.problems import drawn_types

PAGE = gallery.FILE.read_text("utf-8")
LISTED = list(gallery.entries())


def test_the_page_is_current():
    assert gallery.gallery() == PAGE, "run `make gallery`"


def test_everything_has_its_entry():
    stems = re.findall(r"/([\w-]+)\.png\)", PAGE)
    assert len(set(stems)) == len(stems)
    assert set(stems) == {
        *(f"layout-{name}" for name in LAYOUTS),
        *(f"type-{name}" for name in drawn_types()),
        *(f"mechanism-{name}" for name in mechanisms()),
    }


def test_there_is_a_picture_of_everything_and_together_they_are_small():
    there = {path.stem: path.stat().st_size for path in gallery.PICTURES.iterdir()}
    assert set(there) == {entry.stem for entry in LISTED}, "run `make gallery`"
    assert sum(there.values()) < 3_000_000


@pytest.mark.parametrize("entry", LISTED, ids=lambda entry: entry.stem)
def test_every_command_is_understood(entry):
    assert f"`{entry.command}`" in PAGE
    program, verb, *arguments = shlex.split(entry.command)
    assert program == "symattn"
    command = main.get_command(click.Context(main), verb)
    told = command.make_context(verb, arguments).params  # refuses what it does not know
    assert told["seed"] == gallery.SEED


def filtered(row, above, kind):
    """The filters of the PNG specification, with NumPy: what is subtracted from each byte."""
    x, up = (np.frombuffer(line, np.uint8).astype(int) for line in (row, above))
    left, corner = (np.concatenate(([0], line[:-1])) for line in (x, up))
    guess = left + up - corner
    near = np.argmin([abs(guess - other) for other in (left, up, corner)], axis=0)
    paeth = np.choose(near, [left, up, corner])
    return bytes((x - [0 * x, left, up, (left + up) // 2, paeth][kind]).astype(np.uint8))


def test_a_png_is_read_as_it_was_written():
    rng = np.random.default_rng(1)
    grey = rng.integers(0, 256, (10, 7), dtype=np.uint8)
    above, data = bytes(7), b""
    for i, row in enumerate(map(bytes, grey)):
        pixels = np.repeat(np.frombuffer(filtered(row, above, i % 5), np.uint8), 4)
        data, above = data + bytes([i % 5]) + pixels.tobytes(), row
    parts = [(b"IHDR", struct.pack(">IIBBBBB", 7, 10, 8, 6, 0, 0, 0)), (b"IDAT", zlib.compress(data)), (b"IEND", b"")]
    image = b"\x89PNG\r\n\x1a\n"
    for kind, body in parts:
        image += struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    assert gallery.rows_of(image) == [bytes(row) for row in grey]
