"""Finished PDFs bound into one, to be printed at once: every page as it is, tags, language and standards kept."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pypdf import PdfWriter
    from pypdf.generic import DictionaryObject


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
    from pypdf import PdfReader, PdfWriter
    from pypdf.generic import ByteStringObject, NameObject, NumberObject

    first = parts[0].pdf
    writer = PdfWriter(clone_from=PdfReader(BytesIO(first)))
    writer.pdf_header = first[:8].decode("ascii")
    root: Any = writer.root_object
    root.pop("/Outlines", None)  # bookmarks are those of the parts
    tree: Any = root.get("/StructTreeRoot")
    tags = _Tags(writer, tree.get_object()) if tree is not None else None
    count = len(writer.pages)
    writer.add_outline_item(title=parts[0].name, page_number=0)
    for part in parts[1:]:
        if double_sided and count % 2:
            writer.add_blank_page()
            count += 1
        reader = PdfReader(BytesIO(part.pdf))
        pages: list[Any] = []
        for page in reader.pages:
            pages.append(writer.add_page(page))
            if (numbered := page.get("/StructParents")) is not None:  # pypdf leaves it out
                pages[-1][NameObject("/StructParents")] = NumberObject(numbered)
        copied: Any = reader.root_object.get("/StructTreeRoot")
        if tags is not None and copied is not None:
            tags.add(copied.clone(writer), pages)
        if part.name:
            writer.add_outline_item(title=part.name, page_number=count)
        count += len(pages)
    if tags is not None:
        tags.finish()
    if double_sided:
        _for_both_sides(root)
    digest = hashlib.sha256(b"".join(hashlib.sha256(part.pdf).digest() for part in parts)).digest()[:16]
    for k in range(2):
        writer._ID[k] = ByteStringObject(digest)  # type: ignore[index]
    _state(root, count, digest.hex())
    done = BytesIO()
    writer.write(done)
    return done.getvalue()


def _for_both_sides(root: Any) -> None:
    """What a viewer's dialogue for printing begins with."""
    from pypdf.generic import DictionaryObject, NameObject

    preferences: Any = root.setdefault(NameObject("/ViewerPreferences"), DictionaryObject()).get_object()
    preferences[NameObject("/Duplex")] = NameObject("/DuplexFlipLongEdge")


def _state(root: Any, pages: int, name: str) -> None:
    """The number of pages, and the name of this file among all files, in what it says of itself."""
    if (metadata := root.get("/Metadata")) is None:
        return
    stream: Any = metadata.get_object()
    said = stream.get_data()
    said = re.sub(rb"(<xmpTPg:NPages>)\d+", rb"\g<1>%d" % pages, said)
    said = re.sub(rb"(<xmpMM:(?:Instance|Document)ID>)[^<]*", rb"\g<1>%s" % name.encode(), said)
    stream.set_data(said)


class _Tags:
    """The tags of all parts in one tree: each part's are a Part of the document."""

    def __init__(self, writer: PdfWriter, tree: DictionaryObject) -> None:
        from pypdf.generic import ArrayObject, DictionaryObject, NameObject

        self._writer, self._tree = writer, tree
        self._parts: list[Any] = []
        self._numbered: list[Any] = []  # number, tags, number, tags …
        self._named: dict[str, Any] = {}
        self._next = 0
        made = {"/Type": NameObject("/StructElem"), "/S": NameObject("/Document"), "/P": tree.indirect_reference}
        self._whole: Any = DictionaryObject({NameObject(key): value for key, value in made.items()})
        self._place: Any = writer._add_object(self._whole)
        self._array, self._name = ArrayObject, NameObject
        self._take(tree)

    def add(self, tree: Any, pages: Sequence[Any]) -> None:
        """The tags of another part, whose pages have been added."""
        from pypdf.generic import NumberObject

        for page in pages:
            links = (reference.get_object() for reference in page.get("/Annots", ()))
            for held, key in ((page, "/StructParents"), *((link, "/StructParent") for link in links)):
                if key in held:
                    held[self._name(key)] = NumberObject(held[key] + self._next)
        self._tree.setdefault(self._name("/RoleMap"), type(self._tree)()).update(tree.get("/RoleMap", {}))
        self._take(tree)
        tree.clear()  # only its branches are wanted

    def _take(self, tree: Any) -> None:
        from pypdf.generic import NumberObject

        prefix = f"{len(self._parts)}-" if self._parts else ""
        for kid in _listed(tree["/K"]):
            element = kid.get_object()
            element[self._name("/S")] = self._name("/Part" if element["/S"] == "/Document" else element["/S"])
            element[self._name("/P")] = self._place
            self._parts.append(kid)
            if prefix and "/IDTree" in tree:
                _rename(element, prefix)
        highest = -1
        for number, held in _pairs(tree["/ParentTree"].get_object(), "/Nums"):
            self._numbered += [NumberObject(number + self._next), held]
            highest = max(highest, int(number))
        for name, held in _pairs(tree.get("/IDTree", {}), "/Names"):
            self._named[prefix + _text(name)] = held
        self._next += highest + 1

    def finish(self) -> None:
        from pypdf.generic import DictionaryObject, NumberObject, TextStringObject

        self._whole[self._name("/K")] = self._array(self._parts)
        listed = self._array(x for name in sorted(self._named) for x in (TextStringObject(name), self._named[name]))
        self._tree.update({
            self._name("/K"): self._array([self._place]),
            self._name("/ParentTree"): DictionaryObject({self._name("/Nums"): self._array(self._numbered)}),
            self._name("/ParentTreeNextKey"): NumberObject(self._next),
        })  # fmt: skip
        if listed:
            self._tree[self._name("/IDTree")] = DictionaryObject({self._name("/Names"): listed})


def _rename(element: Any, prefix: str) -> None:
    """Give every tag below this one that has a name a longer one, also where headers of tables are named."""
    from pypdf.generic import ArrayObject, DictionaryObject, NameObject, TextStringObject

    waiting = [element]
    while waiting:
        tag = waiting.pop()
        if "/ID" in tag:
            tag[NameObject("/ID")] = TextStringObject(prefix + _text(tag["/ID"]))
        for attributes in map(_whole, _listed(tag.get("/A", ()))):
            if isinstance(attributes, DictionaryObject) and "/Headers" in attributes:
                headers: Any = attributes["/Headers"]
                named = [TextStringObject(prefix + _text(name)) for name in headers.get_object()]
                attributes[NameObject("/Headers")] = ArrayObject(named)
        for kid in map(_whole, _listed(tag.get("/K", ()))):
            if isinstance(kid, DictionaryObject) and "/S" in kid:
                waiting.append(kid)


def _whole(held: Any) -> Any:
    return held.get_object()


def _listed(held: Any) -> Sequence[Any]:
    held = held.get_object() if hasattr(held, "get_object") and not isinstance(held, list) else held
    return held if isinstance(held, list | tuple) else [held]


def _text(name: Any) -> str:
    return name.decode("latin-1") if isinstance(name, bytes) else str(name)


def _pairs(tree: Any, leaves: str) -> Iterator[tuple[Any, Any]]:
    """The entries of a tree of numbers or of names."""
    for kid in tree.get("/Kids", ()):
        yield from _pairs(kid.get_object(), leaves)
    found = tree.get(leaves, ())
    yield from zip(found[::2], found[1::2], strict=True)


__all__ = ["Leaves", "bound"]
