"""Tiles: small blocks of lines of characters that are set beside and above others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from symattn.errors import columns_of


def left(text: str, columns: int) -> str:
    return text + " " * (columns - columns_of(text))


def right(text: str, columns: int) -> str:
    return " " * (columns - columns_of(text)) + text


def centre(text: str, columns: int) -> str:
    space = columns - columns_of(text)
    return " " * (space // 2) + text + " " * (space - space // 2)


@dataclass(frozen=True, slots=True)
class Tile:
    """Lines of one width; `baseline` is the index of the line that neighbours are set level with."""

    lines: tuple[str, ...]
    baseline: int = 0

    @property
    def width(self) -> int:
        return columns_of(self.lines[0])

    @property
    def height(self) -> int:
        return len(self.lines)

    @property
    def depth(self) -> int:
        """The number of lines below the baseline."""
        return len(self.lines) - self.baseline - 1

    def __str__(self) -> str:
        return "\n".join(line.rstrip() for line in self.lines)

    def __add__(self, other: Tile) -> Tile:
        return beside(self, other)


def text(line: str) -> Tile:
    return Tile((line,))


EMPTY = text("")


def grown(block: Tile, above: int, below: int) -> Tile:
    """The block with blank lines above and below its baseline, as many as asked for at least."""
    top, bottom = max(0, above - block.baseline), max(0, below - block.depth)
    if not top and not bottom:
        return block
    blank = (" " * block.width,)
    return Tile(blank * top + block.lines + blank * bottom, block.baseline + top)


def beside(*blocks: Tile) -> Tile:
    """Blocks in a row, baselines level."""
    above = max((block.baseline for block in blocks), default=0)
    below = max((block.depth for block in blocks), default=0)
    columns = [grown(block, above, below).lines for block in blocks or (EMPTY,)]
    return Tile(tuple(map("".join, zip(*columns, strict=True))), above)


def stacked(blocks: Sequence[Tile], baseline: int, align: str = "centre") -> Tile:
    """Blocks over one another; `baseline` counts lines from the top."""
    wide = max(block.width for block in blocks)
    place = {"centre": centre, "left": left, "right": right}[align]
    return Tile(tuple(place(line, wide) for block in blocks for line in block.lines), baseline)


def fraction(above: Tile, below: Tile) -> Tile:
    """One block over another with a bar between."""
    bar = text("─" * max(3, above.width, below.width))
    return stacked((above, bar, below), above.height)


# top, middle, bottom, and the one for a single line
_LEFT = {"[": "⎡⎢⎣[", "(": "⎛⎜⎝(", "|": "│││|", "⟨": "⎧⎨⎩⟨", "": "    "}
_RIGHT = {"[": "⎤⎥⎦]", "(": "⎞⎟⎠)", "|": "│││|", "⟨": "⎫⎬⎭⟩", "": "    "}


def _delimiter(signs: str, block: Tile) -> Tile:
    if block.height == 1:
        return text(signs[3])
    column = (signs[0], *(signs[1] * (block.height - 2)), signs[2])
    return Tile(column, block.baseline)


def bracketed(block: Tile, bracket: str) -> Tile:
    """A block in brackets as high as it is."""
    if bracket == "":
        return block
    space = text(" ") if block.height > 1 else EMPTY
    return beside(_delimiter(_LEFT[bracket], block), space, block, space, _delimiter(_RIGHT[bracket], block))


def level(rows: Iterable[Sequence[Tile]], align: str = "c") -> list[list[Tile]]:
    """The same blocks, made equally wide in each column and equally high in each row.

    `align` is one letter (l, c, r) for all columns, or one for each.
    """
    rows = [list(row) for row in rows]
    widths = [max(cell.width for cell in column) for column in zip(*rows, strict=True)]
    places = [{"l": left, "c": centre, "r": right}[letter] for letter in align]
    places *= len(widths) if len(places) == 1 else 1
    result = []
    for row in rows:
        above, below = max(cell.baseline for cell in row), max(cell.depth for cell in row)
        padded = (
            Tile(tuple(place(line, wide) for line in cell.lines), cell.baseline)
            for cell, wide, place in zip(row, widths, places, strict=True)
        )
        result.append([grown(cell, above, below) for cell in padded])
    return result


def lines(rows: Sequence[Tile], apart: bool = False) -> Tile:
    """Rows over one another, level with the middle; blank lines between if `apart`, or if one is higher than a line."""
    if apart or any(row.height > 1 for row in rows):
        rows = [part for row in rows for part in (EMPTY, row)][1:]
    return stacked(rows, (sum(row.height for row in rows) - 1) // 2, "left")


def joined(tiles: Iterable[Tile], gap: str) -> Tile:
    """Tiles in a row with a gap between."""
    return beside(*[part for tile in tiles for part in (text(gap), tile)][1:])


def tile_of_lines(lines: Sequence[str]) -> Tile:
    """Lines of text as a tile."""
    return stacked(list(map(text, lines or [""])), 0, "left")
