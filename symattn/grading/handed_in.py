"""What was handed in: the files of a folder or of a zip, and whose each of them is."""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from symattn.errors import InputError
from symattn.grading.source import Entrant, Papers
from symattn.submissions import sheet_of
from symattn.submissions.files import FORMS, LARGEST_FILE

MOST_FILES = 20_000
LONGEST_NAME = 100
RECORDS = ".marks"
_NOT_HANDED_IN = ("__MACOSX", "Thumbs.db", "desktop.ini")


@dataclass(frozen=True, slots=True)
class File:
    """One file, by its path below the folder; `complaint` says why it was not read, "" if it was."""

    path: str
    data: bytes = b""
    complaint: str = ""

    @property
    def stem(self) -> str:
        return PurePosixPath(self.path).stem

    @property
    def form(self) -> str:
        """What it is written in, as its name says; "" where its name says nothing."""
        return FORMS.get(PurePosixPath(self.path).suffix.lower(), "")

    @property
    def hash(self) -> str:
        return hashlib.sha256(self.data).hexdigest()


@dataclass(frozen=True, slots=True)
class Handed:
    """A file and what it is taken for.

    `entrant` is whoever of the class list it belongs to, if there is a class list; `sheet`, `name` and `id` are as the
    file states them.  `complaint` says why it is not marked, "" if it is; `notices` are for whoever marks.  `stem` is
    the name, unlike all others, of the files that are written about it.
    """

    file: File
    sheet: str = ""
    name: str = ""
    id: str = ""
    entrant: Entrant | None = None
    complaint: str = ""
    notices: tuple[str, ...] = ()
    stem: str = ""


# ------------------------------------------------------------------------------------------------ finding files


def files(source: Path) -> list[File]:
    """The files of a folder, at any depth, or of a zip, in the order of their names.

    Hidden files, links, what computers add by themselves and folders that marking wrote are left out.
    """
    if source.is_dir():
        found = list(_of_folder(source))
    elif source.suffix.lower() == ".zip":
        found = list(_of_zip(source))
    else:
        what = "is no folder and no zip" if source.exists() else "is not there"
        raise InputError(f"{source} {what}; a folder or a zip of submissions was expected.")
    if not found:
        raise InputError(f"{source} holds no submissions: there is not one file in it.")
    return sorted(found, key=lambda file: natural(file.path))


def _of_folder(folder: Path) -> Iterator[File]:
    count = 0
    for here, below, names in os.walk(folder):
        if RECORDS in below:
            below.clear()
            continue
        below[:] = [name for name in below if not _is_left_out(name)]
        for name in names:
            path = Path(here, name)
            if _is_left_out(name) or path.is_symlink() or not path.is_file():
                continue
            count = _counted(count, folder)
            label = _label(path.relative_to(folder).as_posix())
            try:
                if path.stat().st_size > LARGEST_FILE:
                    yield File(label, complaint=_too_large(path.stat().st_size))
                else:
                    yield File(label, path.read_bytes())
            except OSError as error:
                yield File(label, complaint=f"It cannot be read: {error.strerror}.")


def _of_zip(path: Path) -> Iterator[File]:
    """Nothing is unpacked onto the disk, and no more is read of a file than may be in it."""
    try:
        with zipfile.ZipFile(path) as archive:
            count = 0
            for info in archive.infolist():
                parts = info.filename.split("/")
                if info.is_dir() or any(_is_left_out(part) for part in parts if part != ".."):
                    continue
                count = _counted(count, path)
                yield _unpacked(archive, info)
    except (OSError, zipfile.BadZipFile) as error:
        raise InputError(f"{path} cannot be read as a zip: {error}.") from error


def _unpacked(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> File:
    label = _label(info.filename)
    if info.flag_bits & 1:
        return File(label, complaint="It is encrypted.")
    try:
        with archive.open(info) as stream:
            data = stream.read(LARGEST_FILE + 1)
    except (OSError, zipfile.BadZipFile, NotImplementedError, EOFError, ValueError, RuntimeError) as error:
        return File(label, complaint=f"It cannot be unpacked: {error}.")
    return File(label, complaint=_too_large(info.file_size)) if len(data) > LARGEST_FILE else File(label, data)


def _is_left_out(name: str) -> bool:
    return name.startswith(".") or name in _NOT_HANDED_IN


def _counted(count: int, where: Path) -> int:
    if count == MOST_FILES:
        raise InputError(f"{where} holds more than {MOST_FILES} files; a folder of submissions was expected.")
    return count + 1


def _too_large(size: int) -> str:
    return f"It has {size} bytes; {LARGEST_FILE} are read at most."


def _label(path: str) -> str:
    """A path as it can be printed anywhere: no control character, nothing that is no character at all."""
    return _printable(path.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))


def _printable(text: str) -> str:
    return "".join("\ufffd" if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cs") else c for c in text)


def natural(text: str) -> list[tuple[int, int, str]]:
    """A key by which names are sorted as people count: s2 before s10."""
    parts = re.split(r"([0-9]+)", text)
    return [(0, int(part), part) if part.isdigit() and part.isascii() else (1, 0, part) for part in parts if part]


# ------------------------------------------------------------------------------------------------ whose they are


def matched(found: Iterable[File], papers: Papers) -> list[Handed]:
    """Every file with whoever it is from, in the order of the class list, then of the files' names.

    Somebody of the class list is told by the id inside and by the file's name (that of the paper, or with the id in
    it), else by the name inside; these must not say different things.  Of several files of one person the last by name
    is marked, and that is said.
    """
    handed = [_read_head(file) for file in found]
    if papers.entrants:
        roster = _Roster(papers.entrants)
        handed = _once_each([_on_sheet(roster.owned(one), papers) for one in handed])
        handed.sort(key=lambda one: one.entrant.number if one.entrant else len(papers.entrants) + 1)
    else:
        handed = _said_if_twice([_on_sheet(one, papers) for one in handed])
    return _with_stems(handed)


def _read_head(file: File) -> Handed:
    """What the file says about itself."""
    if file.complaint or not file.data.strip():
        return Handed(file, complaint=file.complaint or "It is empty.")
    try:
        sheet, name, id = sheet_of(file.data, file.form)
    except InputError as error:
        return Handed(file, complaint=str(error))
    sheet, name, id = (_printable(said)[:LONGEST_NAME] for said in (sheet, name, id))
    return Handed(file, sheet, name, id)


class _Roster:
    """The class list, looked up by what files say."""

    def __init__(self, entrants: Sequence[Entrant]) -> None:
        self.by_id = {_folded(e.id): e for e in entrants}
        self.by_stem = {e.stem: e for e in entrants}
        self.names = Counter(_folded(e.name) for e in entrants)
        self.by_name = {_folded(e.name): e for e in entrants}
        self._stem = re.compile(rf"(?:{_any_of(self.by_stem)}){_NO_MORE}")
        self._id = re.compile(rf"(?<![^\W_])(?:{_any_of(self.by_id)}){_NO_MORE}")

    def owned(self, one: Handed) -> Handed:
        inside, named = self.by_id.get(_folded(one.id)), self._named(one.file)
        if inside and named and inside is not named:
            said = f"the id inside is that of {_who(inside)}, and the file is named like that of {_who(named)}"
            return _refused(one, f"It is not known whose it is: {said}.")
        if entrant := inside or named:
            said = f"The id inside, {one.id!r}, is not in the class list; the file's name says whose it is."
            notices = () if inside or not one.id else (said,)
            return replace(one, entrant=entrant, notices=notices)
        if not one.id and self.names[_folded(one.name)] == 1:
            return replace(one, entrant=self.by_name[_folded(one.name)])
        has = f"the id {one.id!r}" if one.id else f"the name {one.name!r}" if one.name else "neither name nor id"
        return _refused(one, f"Nobody in the class list is meant: there is {has} in it.")

    def _named(self, file: File) -> Entrant | None:
        """Whoever's paper has this file name; else the one whose id stands in it as a word, or in a folder's name."""
        if beginning := self._stem.match(file.stem):
            return self.by_stem[beginning[0]]
        for part in (file.stem, *reversed(PurePosixPath(file.path).parts[:-1])):
            ids = set(self._id.findall(_folded(part)))
            if len(ids) == 1:
                return self.by_id[ids.pop()]
        return None


_NO_MORE = r"(?![^\W_])"


def _any_of(texts: Iterable[str]) -> str:
    return "|".join(re.escape(text) for text in sorted(texts, key=len, reverse=True))


def _who(entrant: Entrant) -> str:
    return f"{entrant.name!r} ({entrant.id!r})"


def _refused(one: Handed, complaint: str) -> Handed:
    return replace(one, complaint=one.complaint or complaint)


def _on_sheet(one: Handed, papers: Papers) -> Handed:
    """The sheet that is marked: the one named in the file, or where there is none, the one given out."""
    if one.complaint:
        return one
    given_out = one.entrant.sheet if one.entrant else ""
    try:
        named = papers.sheet(one.sheet or given_out)
    except InputError as error:
        return _refused(one, str(error))
    said = ""
    if given_out and not one.sheet:
        said = f"No sheet is named in it; it is marked as {given_out}, which was given out."
    elif given_out and named != given_out:
        said = f"It answers sheet {named}, and {given_out} was given out; it is marked as {named}."
    return replace(one, sheet=named, notices=(*one.notices, *([said] if said else [])))


def _once_each(handed: Sequence[Handed]) -> list[Handed]:
    """Of several files of one person, the last by name (of those that may be text); the others are named with it."""
    whose: dict[int, list[Handed]] = {}
    for one in handed:
        if one.entrant:
            whose.setdefault(one.entrant.number, []).append(one)
    kept = [one for one in handed if not one.entrant]
    for files in whose.values():
        *others, last = sorted(files, key=lambda one: (one.file.form != "", natural(one.file.stem)))
        if others:
            left = ", ".join(other.file.path for other in others)
            said = f"{len(files)} files were handed in; the last by name is marked, not {left}."
            last = replace(last, notices=(*last.notices, said))
        kept.append(last)
    return kept


def _said_if_twice(handed: Sequence[Handed]) -> list[Handed]:
    same: dict[str, list[str]] = {}
    for one in handed:
        same.setdefault(_folded(one.id), []).append(one.file.path)
    said = []
    for one in handed:
        others = [path for path in same[_folded(one.id)] if one.id and path != one.file.path]
        notice = (f"The id {one.id!r} is also in {', '.join(others)}.",) if others else ()
        said.append(replace(one, notices=(*one.notices, *notice)))
    return said


def _with_stems(handed: Iterable[Handed]) -> list[Handed]:
    """A name for each, that of the paper where it is known, else the file's own, made plain and different."""
    taken: set[str] = set()
    named = []
    for one in handed:
        stem = plain = one.entrant.stem if one.entrant else "file-" + _plain(one.file.stem)
        number = 1
        while stem.casefold() in taken:
            number += 1
            stem = f"{plain}-{number}"
        taken.add(stem.casefold())
        named.append(replace(one, stem=stem))
    return named


def _plain(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "", text)[:40] or "unnamed"


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


__all__ = ["RECORDS", "File", "Handed", "files", "matched", "natural"]
