"""What was handed in: the files of a folder or of a zip, and whose each of them is.

Folders and zips may be those that Moodle, Canvas and Gradescope hand out:

    Anna Maria Muster_12345_assignsubmission_file_/sheet.md      Anna Maria Muster_12345_assignsubmission_file_sheet.md
    musterannamaria_LATE_123_456_sheet.md
    submission_123/sheet.md, and submission_metadata.yml, which says whose it is
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import unicodedata
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice, takewhile
from pathlib import Path, PurePosixPath
from typing import Any

from anyascii import anyascii

from symattn.errors import InputError
from symattn.foundation.languages import message, packed, sentences, unpacked
from symattn.marking.grading.source import Entrant, Papers, plain_name
from symattn.marking.submissions.files import EMPTY, FORMS, LARGEST_FILE

MOST_FILES = 20_000
MOST_BYTES = 512 * 2**20
METADATA = "submission_metadata.yml"
LONGEST_NAME = 100
RECORDS = ".marks"
_NOT_HANDED_IN = ("__MACOSX", "Thumbs.db", "desktop.ini")


@dataclass(frozen=True, slots=True)
class File:
    """One file, by its path below the folder; `complaint` says why it was not read, "" if it was.

    `submitters` are the names and ids of whoever handed it in, where a list beside it says so.
    """

    path: str
    data: bytes = b""
    complaint: str = ""
    submitters: tuple[tuple[str, str], ...] = ()

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
class Head:
    """What a file says about itself; `complaint` says why it cannot be read, "" if it can."""

    sheet: str = ""
    name: str = ""
    id: str = ""
    complaint: str = ""

    def json(self) -> dict[str, Any]:
        return {**asdict(self), "complaint": packed(self.complaint)}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Head:
        return cls(**{**data, "complaint": unpacked(data["complaint"])})


@dataclass(frozen=True, slots=True)
class Handed:
    """A file and what it is taken for.

    `entrant` is whoever of the class list it belongs to, if there is a class list; `sheet`, `name` and `id` are as the
    file states them.  `complaint` says why it is not marked, "" if it is; `doubt` why somebody has to see it before its
    marks hold; `notices` are for whoever marks.  `stem` is the name, unlike all others, of the files that are written
    about it.
    """

    file: File
    sheet: str = ""
    name: str = ""
    id: str = ""
    entrant: Entrant | None = None
    complaint: str = ""
    doubt: str = ""
    notices: tuple[str, ...] = ()
    stem: str = ""


# ------------------------------------------------------------------------------------------------ finding files


def files(source: Path) -> list[File]:
    """The files of a folder, at any depth, or of a zip, in the order of their names.

    Zips in it are looked into.  Hidden files, links, what computers add by themselves and folders that marking wrote
    are left out.
    """
    if source.is_dir():
        found = list(_bounded(_of_folder(source), source))
    elif source.suffix.lower() == ".zip":
        found = list(_bounded(_of_zip(source), source))
    else:
        what = "is neither a folder nor a zip file" if source.exists() else "is not there"
        raise InputError(f"{source} {what}; a folder or a zip of submissions was expected.")
    found = _with_submitters(found)
    if not found:
        raise InputError(f"{source} holds no submissions: there is not one file in it.")
    return sorted(found, key=lambda file: natural(file.path))


def _bounded(found: Iterable[File], source: Path) -> Iterator[File]:
    """The files, and those in zips among them, as long as there are not too many and too much of them."""
    count = size = 0
    for file in found:
        inside = [file]
        if PurePosixPath(file.path).suffix.lower() == ".zip" and not file.complaint:
            try:
                inside = list(islice(_members(io.BytesIO(file.data), f"{file.path}/"), MOST_FILES + 1))
            except (OSError, zipfile.BadZipFile) as error:
                inside = [File(file.path, complaint=message("It cannot be unpacked: {error}.", error=error))]
        for one in inside:
            count, size = count + 1, size + len(one.data)
            if count > MOST_FILES:
                raise InputError(f"{source} holds more than {MOST_FILES} files; a folder of submissions was expected.")
            if size > MOST_BYTES:
                raise InputError(f"{source} holds more than {MOST_BYTES // 2**20} MB; submissions have far less.")
            yield one


def _with_submitters(found: Sequence[File]) -> list[File]:
    """The files with whoever Gradescope's list says that they are from, without the list."""
    lists = [file for file in found if PurePosixPath(file.path).name == METADATA]
    told: dict[str, tuple[tuple[str, str], ...]] = {}
    for file in lists:
        folder = PurePosixPath(file.path).parent
        told |= {str(folder / name): said for name, said in _submitters(file.data.decode("utf-8", "replace")).items()}
    owned = []
    for file in found:
        if file not in lists:
            path = PurePosixPath(file.path)
            said = next((told[str(above)] for above in (path, *path.parents) if str(above) in told), ())
            owned.append(replace(file, submitters=said))
    return owned


_SUBMITTER = re.compile(r"\s+(-)?\s*:(name|sid):\s*(.*?)\s*")


def _submitters(text: str) -> dict[str, tuple[tuple[str, str], ...]]:
    """The names and ids of submitters by the folder or file, from a list in YAML as Gradescope writes it."""
    told: dict[str, list[dict[str, str]]] = {}
    current: list[dict[str, str]] = []
    for line in text.splitlines():
        if line and not line[0].isspace() and line.rstrip().endswith(":"):
            current = told.setdefault(line.rstrip()[:-1].strip("'\""), [])
        elif found := _SUBMITTER.fullmatch(line):
            if found[1] or not current:
                current.append({})
            current[-1][found[2]] = found[3].strip("'\"")
    return {key: tuple((one.get("name", ""), one.get("sid", "")) for one in people) for key, people in told.items()}


def _of_folder(folder: Path) -> Iterator[File]:
    for here, below, names in os.walk(folder):
        if RECORDS in below:
            below.clear()
            continue
        below[:] = [name for name in below if not _is_left_out(name)]
        for name in names:
            path = Path(here, name)
            if _is_left_out(name) or path.is_symlink() or not path.is_file():
                continue
            label = _label(path.relative_to(folder).as_posix())
            try:
                if path.stat().st_size > LARGEST_FILE:
                    yield File(label, complaint=_too_large(path.stat().st_size))
                else:
                    yield File(label, path.read_bytes())
            except OSError as error:
                yield File(label, complaint=message("It cannot be read: {error}.", error=error.strerror))


def _of_zip(path: Path) -> Iterator[File]:
    try:
        yield from _members(path)
    except (OSError, zipfile.BadZipFile) as error:
        raise InputError(f"{path} cannot be read as a zip: {error}.") from error


def _members(path: Path | io.BytesIO, above: str = "") -> Iterator[File]:
    """Nothing is unpacked onto the disk, and no more is read of a file than may be in it."""
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            name = info.filename.replace("\\", "/")
            parts = name.split("/")
            if not info.is_dir() and not any(_is_left_out(part) for part in parts if part != ".."):
                yield _unpacked(archive, info, above + name)


def _unpacked(archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: str) -> File:
    label = _label(path)
    if path.startswith("/") or ".." in path.split("/") or re.match(r"[A-Za-z]:", path):
        return File(label, complaint=message("Its path leads out of the folder."))
    if info.flag_bits & 1:
        return File(label, complaint=message("It is encrypted."))
    if info.file_size > LARGEST_FILE:
        return File(label, complaint=_too_large(info.file_size))
    try:
        with archive.open(info) as stream:
            data = stream.read(LARGEST_FILE + 1)
    except (OSError, zipfile.BadZipFile, NotImplementedError, EOFError, ValueError, RuntimeError) as error:
        return File(label, complaint=message("It cannot be unpacked: {error}.", error=error))
    return File(label, complaint=_too_large(info.file_size)) if len(data) > LARGEST_FILE else File(label, data)


def _is_left_out(name: str) -> bool:
    return name.startswith(".") or name in _NOT_HANDED_IN


def _too_large(size: int) -> str:
    return message("It has {size} bytes; at most {most} are read.", size=size, most=LARGEST_FILE)


def _label(path: str) -> str:
    """A path as it can be printed anywhere: no control character, nothing that is no character at all."""
    return _printable(path.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))


def _printable(text: str) -> str:
    return "".join("\ufffd" if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cs") else c for c in text)


def natural(text: str) -> list[tuple[int, int, str, str]]:
    """A key by which names are sorted as people count: s2 before s10.  Numbers may have any length."""
    key = []
    for part in filter(None, re.split(r"([0-9]+)", text)):
        digits = part.lstrip("0")
        key.append((0, len(digits), digits, part) if part[0] in "0123456789" else (1, 0, part, ""))
    return key


# ------------------------------------------------------------------------------------------------ whose they are


def matched(
    found: Sequence[File], heads: Sequence[Head], papers: Papers, entered: Sequence[Handed] = ()
) -> list[Handed]:
    """Every file, with its head, and whoever it is from, in the order of the class list, then of the files' names.

    Somebody of the class list is told by the names of the file and of its folders: that of the paper, or with the id
    or the name in it.  What is written inside says nothing about whose it is, for anybody can write anything there;
    where it says something else, somebody has to look.  Of several files of one person the last by name is marked, and
    that is said; what was `entered` in a table counts before any file.
    """
    handed = [_handed(file, head) for file, head in zip(found, heads, strict=True)]
    if papers.entrants:
        roster = _Roster(papers.entrants, _shared(found))
        owned = [_on_sheet(roster.owned(one), papers) for one in handed]
        handed = _entered_first(_once_each(owned), entered, owned)
        handed.sort(key=lambda one: one.entrant.number if one.entrant else len(papers.entrants) + 1)
    else:
        handed = _said_if_twice([*(_on_sheet(one, papers) for one in handed), *entered])
    return _with_stems(handed)


def _handed(file: File, head: Head) -> Handed:
    sheet, name, id = (_printable(said)[:LONGEST_NAME] for said in (head.sheet, head.name, head.id))
    return Handed(file, sheet, name, id, complaint=head.complaint)


def head_without_reading(file: File) -> Head | None:
    """The head of a file that cannot be read or has nothing in it; None if it has to be looked into."""
    complaint = file.complaint or ("" if file.data.strip() else EMPTY)
    return Head(complaint=complaint) if complaint else None


def _shared(found: Sequence[File]) -> int:
    """How many folders from the top hold all files, and so speak against no file's name."""
    above = zip(*(PurePosixPath(file.path).parts[:-1] for file in found), strict=False)
    return sum(1 for _ in takewhile(lambda names: len(set(names)) == 1, above))


class _Roster:
    """The class list, looked up by what files and folders are called."""

    def __init__(self, entrants: Sequence[Entrant], shared: int) -> None:
        self._shared = shared
        self._by_id = {folded(e.id): e for e in entrants}
        self._by_stem = {e.stem: e for e in entrants}
        given = Counter(e.sheet for e in entrants)
        self._by_sheet = {plain_name(e.sheet): e for e in entrants if e.sheet and given[e.sheet] == 1}
        self._by_name = _typed(_by_name(entrants))
        self._joined = {key.replace(" ", ""): e for key, e in self._by_name.items()}
        self._stem = re.compile(rf"(?:{_any_of(self._by_stem)}){_NO_MORE}")
        self._id = re.compile(rf"{_NO_LESS}(?:{_any_of(self._by_id)}){_NO_MORE}")
        self._name = re.compile(rf"{_NO_LESS}(?:{_any_of(self._by_name) or '(?!)'}){_NO_MORE}")

    def owned(self, one: Handed) -> Handed:
        """With whoever the names mean."""
        if one.file.submitters:
            return self._submitted(one)
        path = PurePosixPath(one.file.path)
        file = self._meant(path.name if _DOWNLOADED.match(path.name) else one.file.stem)
        above = path.parts[self._shared : -1] if file else path.parts[:-1]
        folder = next((found for part in reversed(above) if (found := self._meant(part))), None)
        if file and folder and file is not folder:
            said = message(
                "It is not clear whose it is: the file has the name of {one}, and its folder that of {other}.",
                one=_who(file),
                other=_who(folder),
            )
            return _refused(one, said)
        entrant = file or folder
        if entrant is None:
            said = message(
                "It is not clear whose it is: neither the file's name nor its folder's has an id or "
                "a name from the class list, and what is written inside does not count."
            )
            return _refused(one, said)
        inside = self._by_id.get(folded(one.id))
        if inside and inside is not entrant:
            doubt = message(
                "The id inside is that of {student}; the file's name says whose it is.", student=_who(inside)
            )
            return replace(one, entrant=entrant, doubt=doubt)
        said = message(
            "The id inside, {id}, is not in the class list; the file's name says whose it is.", id=repr(one.id)
        )
        return replace(one, entrant=entrant, notices=() if inside or not one.id else (said,))

    def _submitted(self, one: Handed) -> Handed:
        """With whoever of the class list handed it in, as a list says."""
        known = [self._by_id.get(folded(id)) or self._by_name.get(_words(name)) for name, id in one.file.submitters]
        entrants = {entrant.number: entrant for entrant in known if entrant}
        if len(entrants) == 1:
            return replace(one, entrant=next(iter(entrants.values())))
        names = ", ".join(f"{_printable(name)} ({_printable(id)})" for name, id in one.file.submitters)[:LONGEST_NAME]
        if entrants:
            return _refused(
                one, message("Several students handed it in: {names}; mark it for each of them.", names=names)
            )
        return _refused(one, message("It was handed in by {names}: not in the class list.", names=names))

    def _meant(self, name: str) -> Entrant | None:
        """Whoever is meant by the name of a file or a folder.

        Of a name that Moodle or Canvas made, first what they call the student: the numbers in it are no ids of ours.
        """
        if (found := _DOWNLOADED.match(name)) is None:
            return self._named(name)
        behind = PurePosixPath(name[found.end() :]).stem
        if found["moodle"]:
            return self._named(found["moodle"]) or self._named(behind)
        own = _words(found["canvas"])
        other = self._named(PurePosixPath(name).stem)  # Lovelace_1815_2_sheet
        is_own = other is not None and own in _words(other.name).split()
        return self._joined.get(own) or self._named(behind) or (other if is_own else None)

    def _named(self, name: str) -> Entrant | None:
        """Whoever's paper has this name, with or without a number before it; else the one whose id, else the one whose
        name, stands in it alone.
        """
        if owner := self._by_sheet.get(plain_name(name)):
            return owner
        if beginning := self._stem.match(name):
            return self._by_stem[beginning[0]]
        ids = {self._by_id[found].number: self._by_id[found] for found in self._id.findall(folded(name))}
        if ids:
            return next(iter(ids.values())) if len(ids) == 1 else None
        names = set(self._name.findall(_words(name)))
        return self._by_name[names.pop()] if len(names) == 1 else None


_NO_LESS = r"(?<![^\W_])"
_NO_MORE = r"(?![^\W_])"


_DOWNLOADED = re.compile(
    r"(?P<moodle>.+?)_\d+_assignsubmission_[a-z]+_?|(?P<canvas>[^\W\d_]+)(?:_LATE)?_\d+_\d+_", re.IGNORECASE
)


def _by_name(entrants: Sequence[Entrant]) -> dict[str, Entrant]:
    """Everybody by the words of the name, and in any other order (Muster, Anna Maria) that is nobody else's."""
    own = Counter(_words(e.name) for e in entrants)
    turned: dict[str, list[Entrant]] = {}
    for entrant in entrants:
        words = _words(entrant.name).split()
        for k in range(1, len(words)):
            turned.setdefault(" ".join(words[k:] + words[:k]), []).append(entrant)
    found = {name: one for name, (one, *others) in turned.items() if not others and name not in own}
    return found | {_words(e.name): e for e in entrants if own[_words(e.name)] == 1 and e.name}


def _typed(names: Mapping[str, Entrant]) -> dict[str, Entrant]:
    """Names as they are, and in the letters a to z, where that is nobody else's: Jürgen, Jurgen and Juergen."""
    ways: dict[str, dict[int, Entrant]] = {}
    for name, entrant in names.items():
        for way in (name, name.translate(_UMLAUTS)):
            ways.setdefault(_plain_letters(way), {})[entrant.number] = entrant
    return {way: next(iter(whose.values())) for way, whose in ways.items() if len(whose) == 1} | dict(names)


_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"})


def _plain_letters(text: str) -> str:
    """Latin letters as a to z, as many programs and people write them."""
    return "".join(anyascii(c) if unicodedata.name(c, "").startswith("LATIN") else c for c in text)


def _words(text: str) -> str:
    """The words of a text alone: Ada_Lovelace and "ada lovelace" are the same."""
    return " ".join(re.findall(r"[^\W_]+", folded(text)))


def _any_of(texts: Iterable[str]) -> str:
    return "|".join(re.escape(text) for text in sorted(texts, key=len, reverse=True))


def _who(entrant: Entrant) -> str:
    return f"{entrant.name!r} ({entrant.id!r})"


def _refused(one: Handed, complaint: str) -> Handed:
    return replace(one, complaint=one.complaint or complaint)


def _on_sheet(one: Handed, papers: Papers) -> Handed:
    """The sheet that is marked: the one named in the file, or where there is none, as in a text of somebody's own, the
    one given out, or the one that the file is called by.

    A sheet that was not given out to whoever it is from is marked, and somebody has to look.
    """
    if one.complaint:
        return one
    given_out = one.entrant.sheet if one.entrant else ""
    try:
        named = papers.sheet(one.sheet or given_out or papers.called(one.file.stem))
    except InputError as error:
        if not given_out:
            return _refused(one, error.said)
        said = message("{error} It is marked as {sheet}, which was handed out.", error=error.said, sheet=given_out)
        return _doubted(one, given_out, said)
    if given_out and one.sheet and named != given_out:
        said = message(
            "It answers paper {named}, but {given} was handed out; it is marked as {named}.",
            named=named,
            given=given_out,
        )
        return _doubted(one, named, said)
    return replace(one, sheet=named)


def _doubted(one: Handed, sheet: str, doubt: str) -> Handed:
    return replace(one, sheet=sheet, doubt=sentences(one.doubt, doubt))


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
            said = message(
                "{count} files were handed in; the last by name is marked, not {others}.", count=len(files), others=left
            )
            last = replace(last, notices=(*last.notices, said))
        kept.append(last)
    return kept


def _entered_first(handed: Sequence[Handed], entered: Sequence[Handed], every: Sequence[Handed]) -> list[Handed]:
    """The rows of a table, each with all of its student's files, and the files of those who have no row."""
    files: dict[int, list[str]] = {}
    for one in every:
        if one.entrant:
            files.setdefault(one.entrant.number, []).append(one.file.path)
    rows = {one.entrant.number for one in entered if one.entrant}
    said = []
    for one in entered:
        if one.entrant and (paths := files.get(one.entrant.number)):
            notice = message("It was entered in the table; files not marked: {files}.", files=", ".join(paths))
            one = replace(one, notices=(*one.notices, notice))
        said.append(one)
    return [*(one for one in handed if not (one.entrant and one.entrant.number in rows)), *said]


def _said_if_twice(handed: Sequence[Handed]) -> list[Handed]:
    same: dict[str, list[str]] = {}
    for one in handed:
        same.setdefault(folded(one.id), []).append(one.file.path)
    said = []
    for one in handed:
        others = [path for path in same[folded(one.id)] if one.id and path != one.file.path]
        if others:
            notice = message("The id {id} is also in {files}.", id=repr(one.id), files=", ".join(others))
            one = replace(one, notices=(*one.notices, notice))
        said.append(one)
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


def folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


__all__ = ["RECORDS", "File", "Handed", "Head", "files", "folded", "head_without_reading", "matched", "natural"]
