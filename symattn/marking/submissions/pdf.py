"""Fillable PDF, filled in: the fields of its form by the names that `symattn.page.writers.forms` gave them.

A PDF is data here: nothing in it is run, drawn or followed, and whatever is wrong with it ends in one sentence.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from itertools import chain
from typing import Any

from symattn.errors import InputError
from symattn.formula import Blank
from symattn.foundation.languages import ENGLISH, languages, message
from symattn.marking.attempt import Remark
from symattn.marking.submissions import labels
from symattn.marking.submissions.answers import Raw, RawText, Several, shape_of
from symattn.marking.submissions.entries import is_blank, quoted
from symattn.marking.submissions.markdown import matrix_name
from symattn.marking.submissions.tables import Cells, read_matrix
from symattn.marking.submissions.written import Paper, Written
from symattn.page.document import AnswerGrid, Choices, FillIn, FillIns, Math, Table, WorkingSpace, all_blocks
from symattn.page.writers import common
from symattn.page.writers.characters import on_one_line
from symattn.page.writers.forms import Kind, Spot
from symattn.teaching.question import CellsAnswer, Part, PropertyAnswer, Question, RubricAnswer

MOST_FIELDS = 20_000
LONGEST_TEXT = 20_000
DEEPEST = 32

_NO_FIELDS = message(
    "It is a PDF without form fields: it was printed, scanned or flattened. Hand in the fillable PDF itself, saved "
    "with what was filled in; or type the answers, as Markdown, TOML, JSON or CSV."
)


def pdf_head(data: bytes) -> tuple[str, str, str]:
    """The sheet's identity, the name and the number of the student."""
    return _head(*_form(data))


def read_pdf(data: bytes, questions: Sequence[Question]) -> Paper:
    """Everything that was filled in; `InputError` if it is no form that can be read, or none of ours."""
    texts, language = _form(data)
    paper = Paper.of(questions, *_head(texts, language))
    filled: dict[tuple[int, int], dict[tuple[Kind, int], dict[tuple[int, ...], str]]] = {}
    for name, text in texts.items():
        if is_blank(text):
            continue
        spot = Spot.of(name)
        place = _place(spot, questions) if spot else None
        if spot and place:
            filled.setdefault(place, {}).setdefault((spot.kind, spot.number), {})[spot.at] = text
        elif spot and spot.kind == "space":
            paper.remarks.append(Remark("PDF", message("What is written on the page for rough work was not marked.")))
        elif spot is None or spot.kind != "head":
            says = message("The form field {name}, with {text}, belongs to no part of this sheet.",
                           name=repr(name[:80]), text=quoted(text, 200))  # fmt: skip
            paper.not_read("PDF", says)
    for q, (written, question) in enumerate(zip(paper.written, questions, strict=True)):
        own = [(part, filled[q, p]) for p, part in enumerate(question.parts) if (q, p) in filled]
        beside = [part.name for part, texts in own if _read_part(written, part, texts)]
        if beside:
            says = message("Working and copied numbers beside the boxes were not marked; the boxes were.")
            written.remark(", ".join(beside), says)
    return paper


def _place(spot: Spot, questions: Sequence[Question]) -> tuple[int, int] | None:
    """The question and the part, from 0; none if the sheet has no such thing."""
    question, part = (spot.question - 1, spot.part - 1) if spot.part else (0, spot.question - 1)
    if not spot.part and len(questions) > 1:
        return None
    there = 0 <= question < len(questions) and 0 <= part < len(questions[question].parts)
    return (question, part) if there else None


def _head(texts: Mapping[str, str], language: str) -> tuple[str, str, str]:
    spots = [(spot, text) for name, text in texts.items() if (spot := Spot.of(name))]
    if not spots:
        raise InputError("Its form fields are not those of a worksheet or a paper of symattn.")
    known = labels.fields(language)
    heads = [(known.get(spot.label), " ".join(text.split())) for spot, text in spots if spot.kind == "head"]
    name, student = (
        next((text for key, text in heads if key == sought and text), "") for sought in ("name", "student")
    )
    [(sheet, _)] = Counter(spot.sheet for spot, _ in spots).most_common(1)
    return sheet, name, student


# ------------------------------------------------------------------------------------ the parts of a question


_Block = AnswerGrid | Table | Choices | FillIn | WorkingSpace
_Texts = dict[tuple[int, ...], str]
"""What was filled in, by places that count from 1: a row and a column, an option, or () for a line."""


def _blocks(part: Part) -> Iterator[tuple[tuple[Kind, int], _Block, tuple[int, ...]]]:
    """What a part has to be filled in, numbered by kind as the writer of the form does, each with its largest place."""
    counted: Counter[Kind] = Counter()
    kind: Kind
    size: tuple[int, ...]
    for outer in all_blocks(part.ask):
        for block in outer.items if isinstance(outer, FillIns) else (outer,):
            match block:
                case AnswerGrid(rows=high, columns=wide):
                    kind, size = "grid", (high, wide)
                case Table(header=header, rows=rows) if any(map(_is_blank_cell, chain.from_iterable(rows))):
                    kind, size = "table", (len(rows), len(header) - 1)
                case Choices(items=items, ticked=ticked) if not ticked:
                    kind, size = "choices", (len(items),)
                case FillIn():
                    kind, size = "line", ()
                case WorkingSpace():
                    kind, size = "space", ()
                case _:
                    continue
            counted[kind] += 1
            yield (kind, counted[kind]), block, size


def _is_blank_cell(cell: object) -> bool:
    match cell:
        case (Math(Blank()),):
            return True
    return False


def _read_part(written: Written, part: Part, filled: dict[tuple[Kind, int], _Texts]) -> bool:
    """Whether something stands beside its boxes that was not taken for an answer."""
    spaces: list[str] = []
    nowhere: list[str] = []
    for place, block, size in _blocks(part):
        own = filled.pop(place, {})
        if isinstance(block, WorkingSpace):
            spaces += own.values()
        elif own:
            here = {at: text for at, text in own.items() if _is_in(at, size)}
            nowhere += (text for at, text in own.items() if at not in here)
            written.put(part.name, _raw(part, block, here, size), part.name)
    nowhere += (text for (kind, _), own in filled.items() if kind not in ("copy", "space") for text in own.values())
    for text in nowhere:
        says = message("{text} is in a field that this part does not have.", text=quoted(text, 200))
        written.remark(part.name, says)
    answered = not spaces or _answered_in_space(written, part, "\n\n".join(spaces))
    if not answered:
        written.worked.add(part.name)
    return not answered or any(kind in ("copy", "space") for kind, _ in filled)


def _is_in(at: tuple[int, ...], size: tuple[int, ...]) -> bool:
    return len(at) == len(size) and all(0 < place <= most for place, most in zip(at, size, strict=True))


def _raw(part: Part, block: AnswerGrid | Table | Choices | FillIn, own: _Texts, size: tuple[int, ...]) -> Raw:
    """What was filled in as it was written."""
    own = {at: " ".join(text.split()) for at, text in own.items()}
    match block:
        case Choices():
            return RawText(" ".join(common.letter(option - 1) for (option,) in sorted(own)))
        case FillIn():
            return RawText(own.get((), ""))
        case AnswerGrid(shade=True):
            return Cells.at_places(dict.fromkeys(own, "x"), size)
    cells = Cells.at_places(own, size)
    if isinstance(block, AnswerGrid) and isinstance(part.answer, PropertyAnswer):
        return Several({matrix_name(part.answer.model, on_one_line(block.name)): cells})
    return cells


def _answered_in_space(written: Written, part: Part, text: str) -> bool:
    """An explanation; or an answer where the part's boxes are empty, or where it has none: all else is working."""
    if isinstance(part.answer, RubricAnswer):
        return written.put(part.name, RawText(text), part.name)
    has_boxes = any(kind != "space" for (kind, _), *_ in _blocks(part))
    if part.name not in written.parts and not isinstance(part.answer, CellsAnswer):
        pieces = [text, *reversed(text.split("\n\n"))]
        shape = shape_of(part)
        matrix = next((piece for piece in pieces if (found := read_matrix(piece, shape)) and len(found.rows) > 1), "")
        if matrix or not has_boxes or (shape == (0, 0) and "\n" not in text and len(text) <= 80):
            return written.put(part.name, RawText(matrix or text), part.name)
    return False


# ------------------------------------------------------------------------------------ the file


def _form(data: bytes) -> tuple[dict[str, str], str]:
    """The text of every field by its name, x for a box that is ticked, and the language of the document."""
    from pypdf import PdfReader
    from pypdf.errors import DependencyError

    encrypted = message("It is encrypted; a PDF that opens without a password was expected.")
    try:
        with _quietly():
            reader = PdfReader(BytesIO(data))
            if reader.is_encrypted and not reader.decrypt(""):
                raise InputError(encrypted)
            root: Any = reader.trailer["/Root"]
            form = _resolved(root.get("/AcroForm")) or {}
            if "/XFA" in form:
                raise InputError(
                    "Its form is of the kind XFA, which is not read; the fillable PDF itself was expected."
                )
            # Programs that take pages from one file into another lose the list of fields and keep the fields.
            fields = [*(_resolved(form.get("/Fields")) or ()), *(x for page in reader.pages for x in _alone(page))]
            texts = dict(_texts(fields, "", None, None, [], 0))
            language = str(root.get("/Lang", ""))
    except (InputError, MemoryError):
        raise
    except DependencyError as error:  # of modern ciphers
        raise InputError(encrypted) from error
    except Exception as error:  # whatever a damaged file leads to in a reader of PDF
        raise InputError(
            message("It is a damaged PDF that cannot be read: save it again, or type the answers.")
        ) from error
    if not texts:
        raise InputError(_NO_FIELDS)
    return texts, language if language in languages() else ENGLISH


@contextmanager
def _quietly() -> Iterator[None]:
    """While this lasts, pypdf prints nothing about what it mends."""
    log = logging.getLogger("pypdf")
    before, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = before


def _texts(fields: Any, above: str, kind: Any, value: Any, seen: list[Any], depth: int) -> Iterator[tuple[str, str]]:
    """The fields of a tree, each once; kind and value are handed down from what they hang from."""
    if depth > DEEPEST:
        raise InputError(f"Its form is nested more than {DEEPEST} deep; that is not a worksheet.")
    for reference in _resolved(fields) or ():
        field = _resolved(reference)
        if not isinstance(field, Mapping) or any(field is other for other in seen[-DEEPEST:]):
            continue
        seen.append(field)
        if len(seen) > MOST_FIELDS:
            raise InputError(f"Its form has more than {MOST_FIELDS} fields; that is not a worksheet.")
        own = _resolved(field.get("/T"))
        name = ".".join(filter(None, (above, "" if own is None else _string(own))))
        own_kind, own_value = field.get("/FT", kind), field.get("/V", value)
        kids = [_resolved(kid) for kid in _resolved(field.get("/Kids")) or ()]
        if any(isinstance(kid, Mapping) and "/T" in kid for kid in kids):
            yield from _texts(kids, name, own_kind, own_value, seen, depth + 1)
        elif own_kind == "/Btn":
            states = [str(w.get("/AS")) for w in (field, *kids) if isinstance(w, Mapping) and "/AS" in w]
            ticked = any(state not in _OFF for state in states or [str(_resolved(own_value))])
            yield name, "x" if ticked else ""
        elif name:
            text = _string(_resolved(own_value)).replace("\r\n", "\n").replace("\r", "\n").strip()
            if len(text) > LONGEST_TEXT:
                raise InputError(f"The field {name[:80]!r} holds {len(text)} characters; that is not an answer.")
            yield name, text


def _alone(page: Any) -> Iterator[Any]:
    """The fields on a page that hang from no other."""
    for reference in _resolved(page.get("/Annots")) or ():
        thing = _resolved(reference)
        if (
            isinstance(thing, Mapping)
            and thing.get("/Subtype") == "/Widget"
            and "/T" in thing
            and "/Parent" not in thing
        ):
            yield thing


_OFF = ("", "None", "/Off", "/", "Off")


def _resolved(thing: Any) -> Any:
    return thing.get_object() if hasattr(thing, "get_object") else thing


def _string(value: Any) -> str:
    """A text of a PDF, which long ones keep in a stream."""
    if hasattr(value, "get_data"):
        value = value.get_data()
    if isinstance(value, bytes):
        utf_16 = value.startswith((b"\xfe\xff", b"\xff\xfe"))
        return value.decode("utf-16" if utf_16 else "utf-8", "replace").removeprefix("\ufeff")
    return value if isinstance(value, str) else " ".join(map(_string, value)) if isinstance(value, list) else ""
