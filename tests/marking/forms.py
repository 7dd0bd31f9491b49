"""PDF forms filled in as viewers do, and the fields of a form with their places on the page."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO

from filling import said_text
from pypdf import PdfReader, PdfWriter
from pypdf.generic import NameObject, TextStringObject

from symattn.marking.attempt import Grid, Grids, Shaded, Ticked
from symattn.marking.submissions.answers import grids_of, tables_of
from symattn.page.document import FillIns, all_blocks

MILLIMETRE = 72 / 25.4


@dataclass(frozen=True)
class Box:
    """A field where it stands: millimetres from the lower left corner of its page."""

    name: str
    page: int
    left: float
    low: float
    right: float
    high: float

    @property
    def kind(self):
        return self.name.split("/")[2] if "/head/" not in self.name else "head"

    @property
    def place(self):
        """Its part."""
        return self.name.split("/")[1]

    @property
    def group(self):
        """The name of what it is a box of."""
        return "/".join(self.name.split("/")[:4])

    @property
    def at(self):
        return tuple(map(int, self.name.split("/")[4:]))


def boxes(data):
    """The fields of a form, in the order of reading."""
    found = []
    for number, page in enumerate(PdfReader(BytesIO(data)).pages):
        for reference in page.get("/Annots", ()):  # type: ignore[union-attr]
            widget = reference.get_object()
            if widget.get("/Subtype") == "/Widget":
                sides = [float(x) / MILLIMETRE for x in widget["/Rect"]]
                found.append(Box(str(widget["/T"]), number, *sides))
    return found


def widgets(writer):
    for page in writer.pages:
        for reference in page.get("/Annots", ()):  # type: ignore[union-attr]
            yield reference.get_object()


def typed(data, texts, *, states="both", incremental=False):
    """A form with texts in its fields; a box to tick is ticked if it has any.

    `states` says what of a ticked box is set: its value, its appearance, or both, as viewers differ.
    """
    writer = PdfWriter(BytesIO(data), incremental=True) if incremental else PdfWriter(clone_from=BytesIO(data))
    left = dict(texts)
    for widget in widgets(writer):
        text = left.pop(str(widget.get("/T")), None)
        if text is None:
            continue
        if widget["/FT"] == "/Btn":
            widget.update({NameObject(key): NameObject("/Yes") for key in ("/V", "/AS") if states in ("both", key)})
            if states == "/V":
                del widget["/AS"]
        else:
            widget[NameObject("/V")] = TextStringObject(text)
    assert not left, f"The form has no fields {sorted(left)}."
    done = BytesIO()
    writer.write(done)
    return done.getvalue()


def texts_of(sheet, questions, attempts, letters):
    """What is to be typed into which field: on an exam paper parts have `letters`, on a worksheet numbers."""
    found = {}
    for q, (question, attempt) in enumerate(zip(questions, attempts, strict=True), 1):
        for p, part in enumerate(question.parts):
            if part.name in attempt.answers:
                place = f"{q}{'abcdefghijklmnopqrstuvwxyz'[p]}" if letters else str(p + 1)
                said = _said(part, attempt.answers[part.name])
                found |= {f"{sheet}/{place}/{where}": text for where, text in said.items()}
    return found


def _said(part, said):
    match said:
        case Grid() if grids_of(part):
            return _cells("grid/1", said)
        case Grid() if tables_of(part):
            return _cells("table/1", said)
        case Grid(rows):
            return {"space/1": "\n".join("  ".join(entry.text for entry in row) for row in rows)}
        case Grids(grids):
            return {k: v for n, grid in enumerate(grids.values(), 1) for k, v in _cells(f"grid/{n}", grid).items()}
        case Shaded(cells):
            return {f"grid/1/{i + 1}/{j + 1}": "x" for i, j in cells}
        case Ticked(options):
            return {f"choices/1/{i + 1}": "x" for i in options}
    lines = any(isinstance(block, FillIns) for block in all_blocks(part.ask))
    return {"line/1" if lines else "space/1": said_text(said)}


def _cells(place, grid):
    return {f"{place}/{i + 1}/{j + 1}": entry.text for i, j, entry in grid.cells() if entry.text}
