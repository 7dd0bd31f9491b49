"""Form fields of a PDF: every place to write in as a field that a viewer fills in and `marking` reads back.

Typst knows no fields.  So the source has a link over every place, whose address says what field that shall be; Typst
works out the rectangle and the place in the order of reading, and tags it; and in the finished PDF every such link is
made into a field, with its tag.  So a field stands where its box stands, in whatever size and on whatever paper.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from io import BytesIO
from typing import TYPE_CHECKING, Any, Literal, Self
from urllib.parse import quote, unquote

from symattn.foundation.languages import say
from symattn.page.document import Heading
from symattn.page.writers.common import letter

if TYPE_CHECKING:
    from pypdf import PdfWriter

_ADDRESS = "symattn-field:"

Kind = Literal["grid", "table", "copy", "choices", "line", "space", "head"]
"""A box of a matrix, a cell of a table, a number copied for a product, an option, a line, space, the head's lines."""


@dataclass(frozen=True, slots=True)
class Spot:
    """Which place to write in a field stands for; its name is `str(spot)`, and `Spot.of` reads it.

    On an exam paper `question` has a number and `part` one below it, from 1; on a worksheet, whose parts are its
    questions, `part` is 0; before the first of them, both are.  `number` counts the places of one kind there, from 1;
    `at` is a row and a column, or an option, from 1.  At the head, `label` says what for.

    >>> str(Spot("3F9A-0001", 2, 1, "grid", 1, (3, 4))), Spot.of("3F9A-0001/2a/grid/1/3/4").at
    ('3F9A-0001/2a/grid/1/3/4', (3, 4))
    """

    sheet: str
    question: int
    part: int
    kind: Kind
    number: int
    at: tuple[int, ...] = ()
    label: str = ""

    def __str__(self) -> str:
        sheet = re.sub(r"[/.]", "-", self.sheet)
        if self.kind == "head":
            return f"{sheet}/head/{re.sub(r'[/.]', ' ', self.label)}"
        return "/".join((sheet, self.place, self.kind, str(self.number), *map(str, self.at)))

    @property
    def place(self) -> str:
        """The question and its part: 2a; on a worksheet 2."""
        return f"{self.question}{letter(self.part - 1).lower() if self.part else ''}"

    @classmethod
    def of(cls, name: str) -> Spot | None:
        """The spot of this name; None if it is no name of ours."""
        if match := _HEAD.fullmatch(name):
            return cls(match[1], 0, 0, "head", 1, label=match[2])
        if match := _SPOT.fullmatch(name):
            sheet, question, part, kind, number, at = match.groups()
            where = tuple(map(int, at.split("/")[1:]))
            return cls(sheet, int(question), _number(part), kind, int(number), where)  # type: ignore[arg-type]
        return None


_HEAD = re.compile(r"([^/]*)/head/([^/]+)")
_SPOT = re.compile(
    r"([^/]*)/(\d{1,3})([a-z]{0,2})/(grid|table|copy|choices|line|space)/(\d{1,3})((?:/\d{1,4}){0,2})", re.ASCII
)


def _number(letters: str) -> int:
    return 26 * _number(letters[:-1]) + ord(letters[-1]) - ord("a") + 1 if letters else 0


@dataclass
class Form:
    """The fields of one document, named while it is written from its beginning to its end."""

    sheet: str
    size: int
    question: int = 0
    part: int = 0
    _counted: Counter[Kind] = field(default_factory=Counter)

    def heading(self, heading: Heading) -> None:
        """What comes now stands under this heading."""
        if heading.of == "question":
            self.question, self.part = self.question + 1, 0
        elif heading.of == "part":
            self.part += 1
        else:
            return
        self._counted.clear()

    def spot(self, kind: Kind, label: str = "") -> Spot:
        """The next place of this kind."""
        if self.question == 0:
            kind = "head"
        self._counted[kind] += 1
        return Spot(self.sheet, self.question, self.part, kind, self._counted[kind], label=label)

    def address(self, spot: Spot, says: str, *at: int, **how: Any) -> str:
        """The address of a link that shall be a field: `at` is where in the place, `says` what is read out for it."""
        says = " ".join(says.split())
        says = f"{say('{label}:', label=spot.place)} {says}" if spot.question else says
        return Field(str(replace(spot, at=at)), says, self.size, **how).address


@dataclass(frozen=True, slots=True)
class Field:
    """A field: what it is called, what is read out for it, the size of its text in points, and what goes into it.

    That is a line of text, several `lines`, a `tick`, or `boxes` for one character each; a `shade` fills its box.
    """

    name: str
    says: str
    size: int
    holds: Literal["line", "lines", "tick", "shade"] = "line"
    boxes: int = 0

    @property
    def address(self) -> str:
        """As the address of a link: letters of ASCII alone, without those that mean something in a PDF."""
        return _ADDRESS + quote(json.dumps(asdict(self), ensure_ascii=False), safe="")

    @classmethod
    def at(cls, address: str) -> Self:
        return cls(**json.loads(unquote(address.removeprefix(_ADDRESS))))


# ------------------------------------------------------------------------------------ making fields


_MULTILINE, _COMB = 1 << 12, 1 << 24  # flags of fields
_PRINTED = 4  # a flag of what stands on a page
_AUTOMATIC = 32  # points at 11 pt: in a box no higher than this, the viewer chooses a size of text that fits


def with_fields(pdf: bytes) -> bytes:
    """The PDF with every link that stands for a field made into it; the same bytes for the same PDF."""
    from pypdf import PdfReader, PdfWriter
    from pypdf.generic import NameObject, TextStringObject

    from symattn.page.writers.binding import pairs  # only here, for the practice page binds nothing

    writer = PdfWriter(clone_from=PdfReader(BytesIO(pdf)))
    writer.pdf_header = pdf[:8].decode("ascii")
    root: Any = writer.root_object
    tags = {int(number): tag.get_object() for number, tag in pairs(root["/StructTreeRoot"]["/ParentTree"], "/Nums")}
    fields: list[Any] = []
    names: Counter[str] = Counter()
    for page in writer.pages:
        annotations: Any = page.get("/Annots", ())
        for reference in annotations:
            link = reference.get_object()
            address = str(link.get("/A", {}).get("/URI", ""))
            if not address.startswith(_ADDRESS):
                continue
            made = Field.at(address)
            names[made.name] += 1
            if names[made.name] > 1:  # what goes on on the next page
                made = replace(made, name=f"{made.name}/{names[made.name]}")
            _make_field(writer, link, made)
            tags[link["/StructParent"]][NameObject("/S")] = NameObject("/Form")
            fields.append(reference)
        if annotations:
            page[NameObject("/Tabs")] = NameObject("/S")  # in the order of reading
    if not fields:
        return pdf
    form = {"/Fields": fields, "/DA": TextStringObject("/Helv 0 Tf 0 g"), "/DR": {"/Font": _FONTS}}
    root[NameObject("/AcroForm")] = _object(form)
    done = BytesIO()
    writer.write(done)
    return done.getvalue()


def _object(value: Any) -> Any:
    """An object of a PDF made of Python's own: texts are names; what is one already stays as it is."""
    from pypdf.generic import ArrayObject, DictionaryObject, FloatObject, NameObject, NumberObject, PdfObject

    match value:
        case PdfObject():
            return value
        case dict():
            return DictionaryObject({NameObject(key): _object(inner) for key, inner in value.items()})
        case list():
            return ArrayObject(map(_object, value))
        case float():
            return FloatObject(value)
        case int():
            return NumberObject(value)
    return NameObject(value)


# Signs that the usual encoding has no code for, at codes that it leaves free: without them −1/2 would look like 1/2.
_SIGNS = [129, "/minus", 141, "/radical", 143, "/infinity", 144, "/lessequal", 157, "/notequal"]
_FONT = {"/Type": "/Font", "/Subtype": "/Type1"}
_FONTS = {
    "/Helv": {
        **_FONT, "/BaseFont": "/Helvetica",
        "/Encoding": {"/Type": "/Encoding", "/BaseEncoding": "/WinAnsiEncoding", "/Differences": _SIGNS},
    },
    "/ZaDb": {**_FONT, "/BaseFont": "/ZapfDingbats"},
}  # fmt: skip
"""The fonts that viewers write with: two that every viewer has."""


def _make_field(writer: PdfWriter, link: Any, made: Field) -> None:
    """A link made into the field in its place, with how it looks empty and, where it is to be ticked, ticked."""
    from pypdf.generic import TextStringObject

    left, low, right, high = (float(x) for x in link["/Rect"])
    size = wide, tall = abs(right - left), abs(high - low)
    for key in ("/A", "/Border", "/QuadPoints", "/H"):
        link.pop(key, None)
    says = TextStringObject(made.says)
    entries: dict[str, Any] = {
        "/Subtype": "/Widget", "/T": TextStringObject(made.name), "/TU": says, "/Contents": says, "/F": _PRINTED,
        "/MK": {},
    }  # fmt: skip
    if made.holds in ("tick", "shade"):
        ticked = _SHADED if made.holds == "shade" else _CROSSED
        ticked = ticked.format(w=round(wide, 2), h=round(tall, 2), x=round(0.8 * wide, 2), y=round(0.8 * tall, 2),
                               a=round(0.2 * wide, 2), b=round(0.2 * tall, 2))  # fmt: skip
        entries |= {
            "/FT": "/Btn", "/V": "/Off", "/AS": "/Off", "/DA": TextStringObject("/ZaDb 0 Tf 0 g"),
            "/AP": {"/N": {"/Off": _drawing(writer, size, ""), "/Yes": _drawing(writer, size, ticked)}},
            "/MK": {"/CA": TextStringObject("n" if made.holds == "shade" else "8")},
        }  # fmt: skip
    else:
        several = made.holds == "lines"
        automatic = not several and tall * 11 < _AUTOMATIC * made.size
        entries |= {
            "/FT": "/Tx", "/V": TextStringObject(""), "/Ff": _MULTILINE * several | _COMB * bool(made.boxes),
            "/DA": TextStringObject(f"/Helv {0 if automatic else made.size} Tf 0 g"),
            "/AP": {"/N": _drawing(writer, size, "/Tx BMC EMC")},
        }  # fmt: skip
        if made.boxes:
            entries["/MaxLen"] = made.boxes
        elif not several:
            entries["/Q"] = 1 if "/grid/" in made.name or "/copy/" in made.name else 0
    link.update(_object(entries))


_CROSSED = "q 1.2 w {a} {b} m {x} {y} l {a} {y} m {x} {b} l S Q"
_SHADED = "q 0.45 g 0 0 {w} {h} re f Q"


def _drawing(writer: PdfWriter, size: tuple[float, float], content: str) -> Any:
    """How a field looks, with a number of its own in the file."""
    from pypdf.generic import StreamObject

    drawing = StreamObject()
    drawing.set_data(content.encode("ascii"))
    drawing.update(_object({"/Type": "/XObject", "/Subtype": "/Form", "/BBox": [0.0, 0.0, *size]}))
    return writer._add_object(drawing)
