"""Finished PDFs bound into one, to be printed at once: every page as it is, tags, language and standards kept.

Objects are copied as they are written, with other numbers: reading and writing each one takes seven times as long.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from typing import Any


@dataclass(frozen=True, slots=True)
class Leaves:
    """A finished PDF, and what it is called among the bookmarks; without a name it has none."""

    name: str
    pdf: bytes


def bound(parts: Sequence[Leaves], double_sided: bool = True) -> bytes:
    """All parts one after the other under the first one's title: the same bytes for the same parts.

    Printed `double_sided`, each begins on a right-hand page: a blank page is put in where it would not.  Pages keep the
    numbers that stand on them.
    """
    book = _Book()
    for part in parts:
        if double_sided and book.pages % 2:
            book.add_blank_page()
        book.add(part)
    digest = hashlib.sha256(b"".join(hashlib.sha256(part.pdf).digest() for part in parts)).hexdigest()[:32]
    return book.finished(digest, double_sided)


def page_count(pdf: bytes) -> int:
    """How many pages a finished PDF has."""
    from pypdf import PdfReader

    return len(PdfReader(BytesIO(pdf)).pages)


# ------------------------------------------------------------------------------------------------ what is bound

_TOKEN = re.compile(
    rb"\\.|[()]|(\d+) 0 R|(/StructParents? )(\d+)|(/ID ?\(|/Headers ?\[[^]]*\])|stream\r?\n",
    re.DOTALL,
)
"""Where strings begin and end and a stream begins, and, outside them, what is another in another file."""


Pieces = list["bytes | re.Match[bytes]"]
"""An object as it is written, cut at what is another in another file."""


def _cut(body: bytes) -> Pieces:
    pieces: Pieces = []
    depth = begin = 0
    for match in _TOKEN.finditer(body):
        sign = match[0]
        if sign in (b"(", b")"):
            depth += 1 if sign == b"(" else -1
        elif depth or sign[:1] == b"\\":  # words of a string
            continue
        elif sign[:1] == b"s":  # a stream is what it is
            break
        else:
            begin, before = match.end(), begin
            pieces += (body[before : match.start()], match)
            depth += sign[-1:] == b"("
    return [*pieces, body[begin:]]


class _Part:
    """A finished PDF, whose objects get numbers of the book; what is not reached from what is kept, is left out.

    The numbers of its tags in the tree of all begin with `place`, and their names with `prefix`.
    """

    def __init__(self, pdf: bytes, place: int, prefix: bytes) -> None:
        from pypdf import PdfReader, PdfWriter

        self.reader: Any = PdfReader(BytesIO(pdf))
        if self.reader.xref_objStm:  # TeX packs objects into others
            unpacked = BytesIO()
            PdfWriter(clone_from=self.reader).write(unpacked)
            pdf = unpacked.getvalue()
            self.reader = PdfReader(BytesIO(pdf))
        self.pdf, self.place, self.prefix = pdf, place, prefix
        self.root: Any = self.reader.root_object
        begins = self.reader.xref[0]
        offsets = sorted(begins.values())
        after = dict(zip(offsets, [*offsets[1:], pdf.rindex(b"startxref")], strict=True))
        self.spans = {number: (begin, after[begin]) for number, begin in begins.items()}
        self.numbers: dict[int, int] = {}

    def body(self, number: int) -> bytes:
        begin, end = self.spans[number]
        return self.pdf[self.pdf.index(b"obj", begin) + 3 : self.pdf.rindex(b"endobj", begin, end)].strip()

    @cached_property
    def tree(self) -> Any:
        """The root of its tags; None without tags."""
        tree = self.root.get("/StructTreeRoot")
        return tree and tree.get_object()

    def reached(self, values: Iterable[bytes]) -> Mapping[int, Pieces]:
        """The objects that values refer to, and those that these refer to, without those that have numbers already."""
        bodies: dict[int, Pieces] = {}
        waiting = [_cut(value) for value in values]
        while waiting:
            for number in {int(piece[1]) for piece in waiting.pop()[1::2] if piece[1]}:
                if number in self.spans and number not in bodies and number not in self.numbers:
                    bodies[number] = _cut(self.body(number))
                    waiting.append(bodies[number])
        return dict(sorted(bodies.items()))

    def moved(self, value: Any) -> bytes:
        """Something of pypdf's with the numbers and names that it has in the book."""
        return self.put_together(_cut(_written(value)))

    def put_together(self, pieces: Pieces) -> bytes:
        return b"".join(piece if isinstance(piece, bytes) else self._moved(piece) for piece in pieces)

    def _moved(self, match: re.Match[bytes]) -> bytes:
        reference, key, place, named = match.groups()
        if reference:
            number = self.numbers.get(int(reference))
            return b"null" if number is None else _reference(number)
        if key:
            return bytes(key) + b"%d" % (int(place) + self.place)
        return bytes(named).replace(b"(", b"(" + self.prefix)


# ------------------------------------------------------------------------------------------------ the book

_CATALOG, _PAGES, _OUTLINES, _TREE, _WHOLE = range(1, 6)
_REMADE = ("/Pages", "/Outlines", "/StructTreeRoot")
"""What the catalogue of a book has of its own."""


class _Book:
    """Parts one after the other.  `bodies` are its objects, from the first; the tags of a part are a Part of it."""

    def __init__(self) -> None:
        self.bodies = [b"null"] * _WHOLE
        self.first: _Part | None = None
        self.pages = 0
        self._size = b""
        self._kids: list[bytes] = []
        self._marks: list[tuple[str, bytes]] = []
        self._tags: list[bytes] = []
        self._places: list[bytes] = []  # number, tags, number, tags …
        self._next_place = 0
        self._named: dict[bytes, bytes] = {}
        self._roles: dict[bytes, bytes] = {}

    def _add(self, body: bytes) -> int:
        self.bodies.append(body)
        return len(self.bodies)

    def add_blank_page(self) -> None:
        """A page as large as the last one."""
        page = b"<</Type/Page/Parent %s/MediaBox%s/Resources<<>>>>" % (_reference(_PAGES), self._size)
        self._kids.append(_reference(self._add(page)))
        self.pages += 1

    def add(self, leaves: Leaves) -> None:
        part = _Part(leaves.pdf, self._next_place, b"%d-" % len(self._tags) if self._tags else b"")
        pages = part.reader.pages
        kept = [part.root.raw_get("/Pages")]
        tags: list[Any] = []
        places: list[tuple[int, Any]] = []
        if part.tree is not None:
            tags = _listed(part.tree["/K"])
            places = [(int(number), held) for number, held in pairs(part.tree["/ParentTree"].get_object(), "/Nums")]
            part.numbers[part.root.raw_get("/StructTreeRoot").idnum] = _WHOLE
        kept += [*tags, *(held for _, held in places)]
        if self.first is None:
            self.first = part
            kept += [part.root.raw_get(key) for key in part.root if key not in _REMADE]
            kept += [part.reader.trailer.raw_get("/Info")] if "/Info" in part.reader.trailer else []
        numbers = part.reached(map(_written, kept))
        part.numbers.update(zip(numbers, range(len(self.bodies) + 1, len(self.bodies) + 1 + len(numbers)), strict=True))
        own = {kept[0].idnum: (rb"<<", b"<</Parent %s" % _reference(_PAGES))}
        own |= {tag.idnum: (rb"/S ?/Document\b", b"/S/Part") for tag in tags}
        for number, pieces in numbers.items():
            moved = part.put_together(pieces)
            self.bodies.append(re.sub(*own[number], moved, count=1) if number in own else moved)
        self._kids.append(part.moved(kept[0]))
        self._size = _written(pages[-1].mediabox)
        if leaves.name:
            self._marks.append((leaves.name, _reference(part.numbers[pages[0].indirect_reference.idnum])))
        self.pages += len(pages)
        if part.tree is not None:
            self._take_tags(part, tags, places)

    def _take_tags(self, part: _Part, tags: Sequence[Any], places: Sequence[tuple[int, Any]]) -> None:
        self._tags += [part.moved(tag) for tag in tags]
        for number, held in places:
            self._places += [b"%d" % (number + part.place), part.moved(held)]
            self._next_place = max(self._next_place, number + part.place + 1)
        for name, held in pairs(part.tree.get("/IDTree", {}), "/Names"):
            self._named[part.prefix + _text(name)] = part.moved(held)
        roles = part.tree.get("/RoleMap", {})
        self._roles |= {_written(role): _written(meaning) for role, meaning in roles.items()}

    def finished(self, name: str, double_sided: bool) -> bytes:
        """The file, called by this name among all files."""
        first = self.first
        assert first is not None
        catalog = {key: first.moved(first.root.raw_get(key)) for key in first.root if key not in _REMADE}
        catalog |= {"/Pages": _reference(_PAGES), "/Outlines": _reference(_OUTLINES)}
        self.bodies[_PAGES - 1] = b"<</Type/Pages/Count %d/Kids%s>>" % (self.pages, _array(self._kids))
        self._bookmark()
        if self._tags:
            catalog["/StructTreeRoot"] = _reference(_TREE)
            self._bind_tags()
        if double_sided:  # what a viewer's dialogue for printing begins with
            from pypdf.generic import NameObject

            preferences: Any = first.root.get("/ViewerPreferences", {})
            preferences = {**preferences.get_object()} if preferences else {}
            preferences["/Duplex"] = NameObject("/DuplexFlipLongEdge")
            catalog["/ViewerPreferences"] = _dictionary({key: first.moved(v) for key, v in preferences.items()})
        if "/Metadata" in first.root:
            self.bodies[first.numbers[first.root.raw_get("/Metadata").idnum] - 1] = self._metadata(first, name)
        self.bodies[_CATALOG - 1] = _dictionary(catalog)
        return self._file(first, name)

    def _bookmark(self) -> None:
        """Bookmarks of the parts; those of their own are left out."""
        from pypdf.generic import TextStringObject

        count, begin = len(self._marks), len(self.bodies) + 1
        for k, (name, page) in enumerate(self._marks):
            beside = b"/Prev " + _reference(begin + k - 1) if k else b""
            beside += b"/Next " + _reference(begin + k + 1) if k < count - 1 else b""
            title = _written(TextStringObject(name))
            self._add(b"<</Title%s/Dest[%s/Fit]/Parent %s%s>>" % (title, page, _reference(_OUTLINES), beside))
        ends = (_reference(begin), _reference(begin + count - 1))
        self.bodies[_OUTLINES - 1] = b"<</Type/Outlines/First %s/Last %s/Count %d>>" % (*ends, count)

    def _bind_tags(self) -> None:
        tree = {
            "/Type": b"/StructTreeRoot",
            "/RoleMap": b"<<%s>>" % b" ".join(b"%s %s" % pair for pair in self._roles.items()),
            "/K": _array([_reference(_WHOLE)]),
            "/ParentTree": b"<</Nums%s>>" % _array(self._places),
            "/ParentTreeNextKey": b"%d" % self._next_place,
        }
        if self._named:
            names = _array(b"(%s) %s" % pair for pair in sorted(self._named.items()))
            tree["/IDTree"] = b"<</Names%s>>" % names
        self.bodies[_TREE - 1] = _dictionary(tree)
        whole = {"/Type": b"/StructElem", "/S": b"/Document", "/P": _reference(_TREE), "/K": _array(self._tags)}
        self.bodies[_WHOLE - 1] = _dictionary(whole)

    def _metadata(self, first: _Part, name: str) -> bytes:
        """What the first part says of itself, with the number of pages, and the name of this file among all files."""
        stream: Any = first.root["/Metadata"]
        said = stream.get_data()
        said = re.sub(rb"(<xmpTPg:NPages>)\d+", rb"\g<1>%d" % self.pages, said)
        said = re.sub(rb"(<xmpMM:(?:Instance|Document)ID>)[^<]*", rb"\g<1>%s" % name.encode(), said)
        stream.set_data(said)
        return first.moved(stream)

    def _file(self, first: _Part, name: str) -> bytes:
        made, offsets = BytesIO(), []
        made.write(first.pdf[:8] + b"\n%\x80\x80\x80\x80\n")
        for number, body in enumerate(self.bodies, 1):
            offsets.append(made.tell())
            made.write(b"%d 0 obj\n%s\nendobj\n" % (number, body))
        table, size = made.tell(), len(self.bodies) + 1
        made.write(b"xref\n0 %d\n0000000000 65535 f \n" % size)
        made.writelines(b"%010d 00000 n \n" % offset for offset in offsets)
        trailer = {"/Size": b"%d" % size, "/Root": _reference(_CATALOG), "/ID": _array([b"<%s>" % name.encode()] * 2)}
        if "/Info" in first.reader.trailer:
            trailer["/Info"] = first.moved(first.reader.trailer.raw_get("/Info"))
        made.write(b"trailer\n%s\nstartxref\n%d\n%%%%EOF\n" % (_dictionary(trailer), table))
        return made.getvalue()


def _reference(number: int) -> bytes:
    return b"%d 0 R" % number


def _array(items: Iterable[bytes]) -> bytes:
    return b"[%s]" % b" ".join(items)


def _dictionary(entries: Mapping[str, bytes]) -> bytes:
    return b"<<%s>>" % b"".join(b"%s %s" % (key.encode(), value) for key, value in entries.items())


def _written(value: Any) -> bytes:
    """An object of pypdf's as it stands in a file."""
    there = BytesIO()
    value.write_to_stream(there)
    return there.getvalue()


def _listed(held: Any) -> list[Any]:
    return [*held] if isinstance(held, list | tuple) else [held]


def _text(name: Any) -> bytes:
    return name if isinstance(name, bytes) else str(name).encode("latin-1")


def pairs(tree: Any, leaves: str) -> Iterator[tuple[Any, Any]]:
    """The entries of a tree of numbers or of names."""
    for kid in tree.get("/Kids", ()):
        yield from pairs(kid.get_object(), leaves)
    entries = tree.get(leaves, ())
    yield from zip(entries[::2], entries[1::2], strict=True)
