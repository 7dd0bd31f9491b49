"""What was handed in: the files of a folder or of a zip, and whose each of them is.

That is said by what the platform or the teacher called it, never by what a student may have chosen:

    Anna Maria Muster_12345_assignsubmission_file_/sheet.md      Moodle, also without a folder
    musterannamaria_LATE_123_456_sheet.md                        Canvas
    submission_123456/sheet.md, and submission_metadata.yml      Gradescope
    Anna Maria Muster/sheet.md, 003-20231954.md                  folders and files named by hand

A path is read from its beginning.  The first part that a platform made, or that names somebody of the class list,
decides; what stands below it is the student's own choice, and may agree or say nothing.  Where it names somebody else,
or nobody can be told for certain, the file waits for a person: it is given to nobody, so that it changes nothing for
anybody else.

Zips that students hand in are looked into within limits, in a process of their own (`worker`).  A small zip may expand
without end, or hold the same bytes many times over.  So bytes are counted while they are read, whatever the zip says of
its size; nothing is unpacked onto the disk, and nothing of it is kept.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import unicodedata
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial, reduce
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import Any, Self

from anyascii import anyascii

from symattn.errors import InputError
from symattn.foundation.languages import message, packed, sentences, unpacked
from symattn.marking.grading.source import Entrant, Papers, plain_name
from symattn.marking.submissions.files import FORMS, LARGEST_FILE

MOST_PATHS = 1_000_000
MOST_HANDED_IN = 20_000
MOST_OF_ONE = 5_000
"""Files of one student, or of one folder that holds students' own."""
METADATA = "submission_metadata.yml"
RECORDS = ".marks"

Read = Callable[[], bytes]


@dataclass(frozen=True, slots=True)
class File:
    """One file, by its path below the folder; `complaint` says why it is not read, "" if it is.

    What is in it is read when it is asked for, and not held.  Of a file in a student's zip, what is read is the zip,
    `zipped` the place in it, `hash` that of what is there, and `outer` how many parts of the path lead to the zip.
    """

    path: str
    complaint: str = ""
    zipped: int | None = None
    outer: int = 0
    hash: str = ""
    reader: Read = field(default=bytes, compare=False, repr=False)

    @classmethod
    def of(cls, path: str, data: bytes) -> File:
        return cls(path, hash=hashlib.sha256(data).hexdigest(), reader=lambda: data)

    def read(self) -> bytes:
        """The bytes of the file, or of the zip that it is in; `InputError` if they cannot be read."""
        return self.reader()

    @property
    def parts(self) -> tuple[str, ...]:
        return PurePosixPath(self.path).parts

    @property
    def stem(self) -> str:
        return PurePosixPath(self.path).stem

    @property
    def form(self) -> str:
        """What it is written in, as its name says; "" where its name says nothing."""
        return FORMS.get(PurePosixPath(self.path).suffix.lower(), "")

    @property
    def is_zip(self) -> bool:
        """Whether it is to be looked into; a zip in a zip is not."""
        return self.zipped is None and not self.complaint and self.path.lower().endswith(".zip")

    def holding(self, member: Member) -> File:
        """One of the files of this zip."""
        path = label(f"{self.path}/{member.path}")
        return replace(
            self,
            path=path,
            complaint=member.complaint,
            zipped=member.number,
            hash=member.hash,
            outer=len(self.parts),
        )


@dataclass(frozen=True, slots=True)
class PlainData:
    """What another process finds in a file, with its `complaint`, as plain data."""

    def json(self) -> dict[str, Any]:
        found = asdict(self)
        return {**found, "complaint": packed(found["complaint"])}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        return cls(**{**data, "complaint": unpacked(data["complaint"])})


@dataclass(frozen=True, slots=True)
class Head(PlainData):
    """What a file says about itself; `complaint` says why it cannot be read, "" if it can; and the hash of it."""

    sheet: str = ""
    name: str = ""
    id: str = ""
    complaint: str = ""
    hash: str = ""


@dataclass(frozen=True, slots=True)
class Handed:
    """A file and what it is taken for.

    `entrant` is whoever of the class list it belongs to, if there is a class list; `sheet`, `name` and `id` are as the
    file states them, `hash` that of what is in it.  `complaint` says why it cannot be marked, "" if it can; `unclear`
    why it waits, unmarked, for somebody to say whose it is; `doubt` why somebody has to see it before its marks hold;
    `notices` are for whoever marks.  `stem` is the name, unlike all others, of the files that are written about it.
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
    hash: str = ""
    unclear: str = ""

    def noticed(self, notice: str) -> Handed:
        """The same with a notice more."""
        return replace(self, notices=(*self.notices, notice))


# ------------------------------------------------------------------------------------------------ finding files


def files(source: Path) -> list[File]:
    """The files of a folder, at any depth, or of a zip, in the order of their names.

    Hidden files, links, what computers add by themselves and folders that marking wrote are left out.
    """
    if source.is_dir():
        found = _of_folder(source)
    elif source.suffix.lower() == ".zip":
        found = _of_zip(source)
    else:
        what = "is neither a folder nor a zip file" if source.exists() else "is not there"
        raise InputError(f"{source} {what}; a folder or a zip of submissions was expected.")
    listed = _bounded(found, source)
    if not listed:
        raise InputError(f"{source} holds no submissions: there is not one file in it.")
    return sorted(listed, key=lambda file: natural(file.path))


def _bounded(found: Iterable[File], source: Path) -> list[File]:
    """The files; of somebody who has far too many, one that says so."""
    listed = list[File]()
    for file in found:
        listed.append(file)
        if len(listed) > MOST_PATHS:
            raise InputError(f"{source} holds more than {MOST_PATHS:,} files; a folder of submissions was expected.")
    shared = _shared(listed)
    count = Counter(file.parts[: shared + 1] for file in listed)
    if len(count) > MOST_HANDED_IN:
        raise InputError(f"{source} holds more than {MOST_HANDED_IN:,} files; a folder of submissions was expected.")
    kept = [file for file in listed if count[file.parts[: shared + 1]] <= MOST_OF_ONE]
    for top, many in count.items():
        if many > MOST_OF_ONE:
            says = message("It holds {count} files; at most {most} are read.", count=many, most=MOST_OF_ONE)
            kept.append(File("/".join(top), says))
    return kept


def _told(found: Sequence[File]) -> tuple[list[File], dict[str, Submitters]]:
    """The files without Gradescope's list, and whose its folders are, as the list says.

    It is Gradescope's at the top of all files alone.  Anywhere else it is a file that a student handed in.
    """
    top = found[0].parts[: _shared(found)] if found else ()
    lists = [file for file in found if file.parts == (*top, METADATA) and file.zipped is None and not file.complaint]
    told = {
        "/".join((*top, name)): said
        for file in lists
        for name, said in _submitters(file.read().decode("utf-8", "replace")).items()
        if _GRADESCOPE.match(name) and said
    }
    others = [file for file in found if file not in lists] if told else list(found)
    return others, told


def _submitters(text: str) -> dict[str, Submitters]:
    """The names and ids of submitters by the folder or file, from a list in YAML as Gradescope writes it."""
    told: dict[str, Submitters] = {}
    _, *parts = re.split(r"(?m)^(\S.*):\s*$", text)
    for name, below in zip(parts[::2], parts[1::2], strict=True):
        each = (dict(_FIELD.findall(person)) for person in re.split(r"(?m)^[ \t]+-", below))
        people = [[one.get(field, "").strip("'\"") for field in ("name", "sid")] for one in each if one]
        told[name.strip("'\"")] = tuple((name, id) for name, id in people)
    return told


_FIELD = re.compile(r"(?m)^[ \t]*:(name|sid):[ \t]*(.*?)[ \t\r]*$")


def _of_folder(folder: Path) -> Iterator[File]:
    for here, below, names in os.walk(folder):
        if RECORDS in below:
            below.clear()
            continue
        below[:] = [name for name in below if not is_left_out(name)]
        for name in names:
            path = Path(here, name)
            if is_left_out(name) or path.is_symlink() or not path.is_file():
                continue
            shown = label(path.relative_to(folder).as_posix())
            size = path.stat().st_size
            yield File(shown, too_large(size) if size > LARGEST_FILE else "", reader=partial(_read, path))


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(LARGEST_FILE + 1)  # if it has grown meanwhile, whoever reads it says so
    except OSError as error:
        raise InputError(message("It cannot be read: {error}.", error=error.strerror)) from error


def _of_zip(path: Path) -> Iterator[File]:
    try:
        archive = zipfile.ZipFile(path)  # closed with the last of its files
        for info in archive.infolist():
            name = path_of(info)
            if not name.endswith("/") and not is_left_out(name):
                reader = partial(read_member, archive, info)
                yield File(label(name), refused(info), reader=reader)
    except (OSError, zipfile.BadZipFile) as error:
        raise InputError(f"{path} cannot be read as a zip: {error}.") from error


def label(path: str) -> str:
    """A path as it can be printed anywhere: no control character, nothing that is no character at all, not empty."""
    return printable(path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")) or "\ufffd"


def natural(text: str) -> list[tuple[int, int, str, str]]:
    """A key by which names are sorted as people count: s2 before s10.  Numbers may have any length."""
    key = []
    for part in filter(None, re.split(r"([0-9]+)", text)):
        digits = part.lstrip("0")
        key.append((0, len(digits), digits, part) if part[0] in "0123456789" else (1, 0, part, ""))
    return key


# ------------------------------------------------------------------------------------------------ files in a zip

MOST_MEMBERS = 1_000
MOST_BYTES = 32 * 2**20
"""Of one student's zip; an answer has ten thousand bytes."""

_NOT_HANDED_IN = ("__MACOSX", "Thumbs.db", "desktop.ini")


@dataclass(frozen=True, slots=True)
class Member(PlainData):
    """One file of a zip: its place in the directory, its path, and the hash of its bytes; or why it was not read."""

    number: int
    path: str
    hash: str = ""
    complaint: str = ""


def members_of(archive: bytes) -> list[Member]:
    """Everything in a zip, each file read once; `InputError` if it is no zip, or expands to too much."""
    found, size = list[Member](), 0
    with _unpacking(), zipfile.ZipFile(io.BytesIO(archive)) as opened:
        for number, info in enumerate(opened.infolist()):
            path = path_of(info)
            if path.endswith("/") or is_left_out(path):
                continue
            if len(found) == MOST_MEMBERS:
                raise InputError(message("It is a zip of more than {most} files.", most=MOST_MEMBERS))
            digest, complaint = "", refused(info)
            if not complaint:
                try:
                    data = read_member(opened, info)
                except InputError as error:
                    complaint = error.said
                else:
                    size, digest = size + len(data), hashlib.sha256(data).hexdigest()
            if size > MOST_BYTES:
                raise InputError(message("It is a zip that expands to more than {most} MB.", most=MOST_BYTES >> 20))
            found.append(Member(number, path, digest, complaint))
    return found


def content_of(archive: bytes, number: int) -> bytes:
    """The bytes of one file of a zip, by its place in the directory; `InputError` if they cannot be read."""
    with _unpacking(), zipfile.ZipFile(io.BytesIO(archive)) as opened:
        return read_member(opened, opened.infolist()[number])


def read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """The bytes of a member, at most as many as a file may have; `InputError` if there are more, or it is broken."""
    with _unpacking(), archive.open(info) as stream:
        data = stream.read(LARGEST_FILE + 1)
    if len(data) > LARGEST_FILE:
        raise InputError(too_large(info.file_size))
    return data


@contextmanager
def _unpacking() -> Iterator[None]:
    """`InputError` for whatever zipfile and its decompressors raise: `zlib.error` is neither a `BadZipFile` nor an
    `OSError`."""
    try:
        yield
    except (MemoryError, InputError):
        raise
    except Exception as error:
        raise InputError(message("It cannot be unpacked: {error}.", error=error)) from error


def refused(info: zipfile.ZipInfo) -> str:
    """Why a member is not read, as its entry in the directory shows; "" if it is."""
    path = path_of(info)
    if path.startswith("/") or ".." in path.split("/") or re.match(r"[A-Za-z]:", path):
        return message("Its path leads out of the folder.")
    if info.flag_bits & 1:
        return message("It is encrypted.")
    return too_large(info.file_size) if info.file_size > LARGEST_FILE else ""


def path_of(info: zipfile.ZipInfo) -> str:
    return info.filename.replace("\\", "/")


def is_left_out(path: str) -> bool:
    """Whether a file or a folder above it is hidden, or is what computers add by themselves."""
    return any(part != ".." and (part.startswith(".") or part in _NOT_HANDED_IN) for part in path.split("/"))


def too_large(size: int) -> str:
    return message("It has {size} bytes; at most {most} are read.", size=size, most=LARGEST_FILE)


# ------------------------------------------------------------------------------------------------ whose they are


Heads = Callable[[Sequence[File]], Sequence[Head]]


def matched(found: Sequence[File], heads: Heads, papers: Papers, entered: Sequence[Handed] = ()) -> list[Handed]:
    """Every file, with its head, and whoever it is from, in the order of the class list, then of the files' names.

    Whose a file is, its path says, and nothing that is written inside: where that says something else,
    somebody has to look.  Of several files of one person the last by name is marked, and that is said; what was
    `entered` in a table counts before any file.  `heads` reads those that are needed.
    """
    if not papers.entrants:
        rows = _read_in([Handed(file) for file in _told(found)[0]], heads)
        return _with_stems(_said_if_twice([*(_on_sheet(one, papers) for one in rows), *entered]))
    roster, owned = Roster(papers.entrants), _owned(found, papers.entrants)
    chosen = _once_each(owned)
    read = _read_in([one for one in chosen if one.entrant], heads)
    theirs = [_on_sheet(_compared(one, roster), papers) for one in read]
    handed = _entered_first([*theirs, *(one for one in chosen if not one.entrant)], entered, owned)
    handed.sort(key=lambda one: one.entrant.number if one.entrant else len(papers.entrants) + 1)
    return _with_stems(handed)


def _read_in(handed: Sequence[Handed], heads: Heads) -> list[Handed]:
    """With what each file says about itself."""
    read = heads([one.file for one in handed])
    return [_with_head(one, head) for one, head in zip(handed, read, strict=True)]


def _with_head(one: Handed, head: Head) -> Handed:
    sheet, name, id = (printable(said)[:LONGEST_NAME] for said in (head.sheet, head.name, head.id))
    return replace(one, sheet=sheet, name=name, id=id, complaint=head.complaint, hash=head.hash)


def _shared(found: Sequence[File]) -> int:
    """How many folders from the top hold all files."""
    above = zip(*(file.parts[: file.outer - 1 if file.zipped is not None else -1] for file in found), strict=False)
    return sum(1 for _ in takewhile(lambda names: len(set(names)) == 1, above))


def _owned(found: Sequence[File], entrants: Sequence[Entrant]) -> list[Handed]:
    """Every file with whoever it is from, or why that is not clear."""
    found, told = _told(found)
    split = [(file.parts[: file.outer or None], file.parts[file.outer :] if file.outer else ()) for file in found]
    owners = Owners(entrants, [outer for outer, _ in split], told)
    owned = []
    for file, (outer, inner) in zip(found, split, strict=True):
        owner = owners.of(outer, inner)
        unclear = owner if isinstance(owner, str) else ""
        entrant = None if isinstance(owner, str) else owner
        owned.append(Handed(file, entrant=entrant, unclear=unclear, complaint=file.complaint))
    return owned


def _compared(one: Handed, roster: Roster) -> Handed:
    """With what speaks against the id in the file, if it is another's or nobody's."""
    assert one.entrant is not None
    inside = roster.with_id(one.id)
    if inside and one.entrant not in inside:
        student = who(min(inside, key=lambda e: e.number))
        doubt = message("The id inside is that of {student}; the file's name says whose it is.", student=student)
        return replace(one, doubt=doubt)
    if inside or not one.id:
        return one
    return one.noticed(
        message("The id inside, {id}, is not in the class list; the file's name says whose it is.", id=repr(one.id))
    )


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
        named = papers.sheet(one.sheet or given_out or papers.called(as_saved(one.file.stem)))
    except InputError as error:
        if not given_out:
            return _refused(one, error.said)
        said = message("{error} It is marked as {sheet}, which was handed out.", error=error.said, sheet=given_out)
        return _doubted(one, given_out, said)
    if given_out and one.sheet and named != given_out:
        return _doubted(one, named, another_paper(named, given_out))
    return replace(one, sheet=named)


def another_paper(named: str, given: str) -> str:
    """Why somebody has to see work on another paper than the one that was handed out."""
    return message(
        "It answers paper {named}, but {given} was handed out; it is marked as {named}.", named=named, given=given
    )


def _doubted(one: Handed, sheet: str, doubt: str) -> Handed:
    return replace(one, sheet=sheet, doubt=sentences(one.doubt, doubt))


def _once_each(handed: Sequence[Handed]) -> list[Handed]:
    """Of several files of one person, the last by name (of those that can be read and may be text); the others are
    named with it."""
    kept = [one for one in handed if not one.entrant]
    for files in _by_entrant(handed).values():
        *others, last = sorted(files, key=_rank)
        if others:
            left = ", ".join(other.file.path for other in others)
            said = message(
                "{count} files were handed in; the last by name is marked, not {others}.", count=len(files), others=left
            )
            last = last.noticed(said)
        kept.append(last)
    return kept


def _rank(one: Handed) -> tuple[bool, bool, object]:
    return not one.complaint, one.file.form != "", natural(one.file.stem)


def _entered_first(handed: Sequence[Handed], entered: Sequence[Handed], every: Sequence[Handed]) -> list[Handed]:
    """The rows of a table, each with all of its student's files, and the files of those who have no row."""
    files, rows = _by_entrant(every), _by_entrant(entered)
    said = []
    for one in entered:
        if one.entrant and one.entrant.number in files:
            paths = ", ".join(other.file.path for other in files[one.entrant.number])
            one = one.noticed(message("It was entered in the table; files not marked: {files}.", files=paths))
        said.append(one)
    return [*(one for one in handed if not (one.entrant and one.entrant.number in rows)), *said]


def _by_entrant(handed: Iterable[Handed]) -> dict[int, list[Handed]]:
    """What is somebody's, by the number in the class list."""
    found: dict[int, list[Handed]] = {}
    for one in handed:
        if one.entrant:
            found.setdefault(one.entrant.number, []).append(one)
    return found


def _said_if_twice(handed: Sequence[Handed]) -> list[Handed]:
    same: dict[str, list[str]] = {}
    for one in handed:
        same.setdefault(folded(one.id), []).append(one.file.path)
    said = []
    for one in handed:
        others = ", ".join(path for path in same[folded(one.id)] if one.id and path != one.file.path)
        if others:
            one = one.noticed(message("The id {id} is also in {files}.", id=repr(one.id), files=others))
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


# ------------------------------------------------------------------------------------------------ whose a path is

SHORT, SHORTEST = 4, 3
"""Digits of a number that may stand in a name for anything else, a homework's or a year; and, if it is the whole name,
the fewest that are taken for an id."""
LONGEST_NAME = 100
LONGEST_PART = 500
"""Characters of a part of a path that are looked at; those in zips may be long, and a pattern takes their square."""

Submitters = tuple[tuple[str, str], ...]
"""Names and ids of whoever handed something in, as a platform's list says."""


@dataclass(frozen=True, slots=True)
class Meant:
    """Whom a name may mean: those that each id and each name in it fits, and those that only a short number fits."""

    fits: tuple[frozenset[Entrant], ...] = ()
    by_number: frozenset[Entrant] = frozenset()

    @property
    def students(self) -> frozenset[Entrant]:
        """Those that everything in it fits."""
        return reduce(frozenset.__and__, self.fits) if self.fits else frozenset()

    @property
    def all(self) -> frozenset[Entrant]:
        return frozenset().union(*self.fits)


class Roster:
    """The class list, looked up by ids and by names as people and programs write them."""

    def __init__(self, entrants: Sequence[Entrant]) -> None:
        self._by_id = _collected((folded(e.id), e) for e in entrants)
        self._by_name = _typed(_by_name(entrants))
        self._joined = _collected((key.replace(" ", ""), e) for key, them in self._by_name.items() for e in them)
        self._by_stem = {e.stem: e for e in entrants}
        given = Counter(e.sheet for e in entrants)
        self._by_sheet = {plain_name(e.sheet): e for e in entrants if e.sheet and given[e.sheet] == 1}
        self._stem = re.compile(rf"(?:{_any_of(self._by_stem)}){_NO_MORE}")
        self._id = re.compile(rf"{_NO_LESS}(?:{_any_of(self._by_id)}){_NO_MORE}")
        self._name = re.compile(rf"{_NO_LESS}(?:{_any_of(self._by_name)}){_NO_MORE}")

    def with_id(self, id: str) -> frozenset[Entrant]:
        """Those with this id, in capitals or not; one of them alone if it is written exactly so."""
        found = self._by_id.get(folded(id), frozenset())
        return frozenset(e for e in found if e.id == id) or found

    def with_name(self, name: str) -> frozenset[Entrant]:
        """Those with this name: in any order of its words, and in the letters a to z."""
        return self._by_name.get(_words(name), frozenset())

    def joined(self, name: str) -> frozenset[Entrant]:
        """Those whose name this is, written in one word, as Canvas does: lovelaceada."""
        return self._joined.get(_words(name).replace(" ", ""), frozenset())

    def meant(self, name: str) -> Meant:
        """Whom a name typed by hand means: its stem or sheet, and every id and every full name in it."""
        name = as_saved(name)
        if owner := self._by_sheet.get(plain_name(name)):
            return Meant((frozenset({owner}),))
        fits = list[frozenset[Entrant]]()
        if beginning := self._stem.match(name):
            fits.append(frozenset({self._by_stem[beginning[0]]}))
            name = name[beginning.end() :]
        elif (whole := folded(name)) in self._by_id and not (whole.isdecimal() and len(whole) < SHORTEST):
            fits.append(self._by_id[whole])
            name = ""
        ids = set(self._id.findall(folded(name)))
        short = {id for id in ids if id.isdecimal() and len(id) <= SHORT}
        fits += [self._by_id[id] for id in sorted(ids - short)]
        fits += [self._by_name[found] for found in sorted(set(self._name.findall(_words(name))))]
        return Meant(tuple(fits), frozenset().union(*(self._by_id[id] for id in short)))


class Owners:
    """Whose each of some files is, by their paths among one another; `told` has Gradescope's folders."""

    def __init__(
        self, entrants: Sequence[Entrant], paths: Iterable[Sequence[str]], told: Mapping[str, Submitters]
    ) -> None:
        self._roster = Roster(entrants)
        self._told = told
        self._seen: dict[str, Meant] = {}
        cut = [_cut(path) for path in paths]
        made = (_MADE.match(part) for path in cut for part in path)
        self._group = _group({found["moodle"] for found in made if found and found["moodle"]})
        folders = {path[: k + 1] for path in cut for k in range(len(path) - 1)}
        self._of_students = {path[:-1] for path in folders if self._platform(path) or self._meant(path[-1]).fits}
        """Folders that hold one for each student."""

    def of(self, outer: Sequence[str], inner: Sequence[str] = ()) -> Entrant | str:
        """Whose a file is, or why that is not clear.

        `outer` are the parts of its path; if it lies in a zip among them, up to that, and `inner` the parts in the zip.
        """
        outer, inner = _cut(outer), _cut(inner)
        names = _names(outer)
        for k, (part, name) in enumerate(zip(outer, names, strict=True)):
            below = [*names[k + 1 :], *_names(inner)]
            if made := self._platform(outer[: k + 1]):
                found = self._by_platform(made, "/".join(outer[: k + 1]))
                below.insert(0, _stem(part)[made.end() :])
            elif (meant := self._meant(name)).fits:
                found = self._by_hand(part, meant)
            elif k < len(outer) - 1 and outer[:k] in self._of_students:
                return message(
                    "It is not clear whose it is: the folder {folder}, beside those of students, names nobody in the "
                    "class list.",
                    folder=repr(part),
                )
            else:
                continue
            return found if isinstance(found, str) else self._unless_contradicted(found, part, below)
        return self._of_nobody(names, bool(inner))

    def _meant(self, name: str) -> Meant:
        if name not in self._seen:
            self._seen[name] = self._roster.meant(name)
        return self._seen[name]

    def _platform(self, path: Sequence[str]) -> re.Match[str] | None:
        """What a platform puts before the name of a student's file, or calls the folder."""
        if "/".join(path) in self._told:
            return _GRADESCOPE.match(path[-1])
        return _MADE.match(path[-1])

    def _by_platform(self, made: re.Match[str], path: str) -> Entrant | str:
        """Whoever a platform says; it says so by the full name, or in a list."""
        match made.lastgroup:
            case "moodle":
                platform, name = "Moodle", made["moodle"]
                found = self._roster.with_name(name) or self._roster.with_name(name.removeprefix(self._group))
            case "canvas" | "blind" as kind:
                platform, name = "Canvas", made[kind]
                found = self._roster.joined(name)
            case _:
                return self._by_list(path)
        if len(found) == 1:
            return next(iter(found))
        if found:
            return message(
                "It is not clear whose it is: {platform} has it from {name}, and that may be {students}.",
                platform=platform,
                name=repr(name),
                students=_listed(found),
            )
        return message(
            "{platform} has it from {name}, and nobody in the class list is called so.",
            platform=platform,
            name=repr(name),
        )

    def _by_list(self, path: str) -> Entrant | str:
        people = self._told.get(path)
        if not people:
            return message(
                "It is in a folder of Gradescope's, and no submission_metadata.yml at the top of the export says whose "
                "that is."
            )
        known = []
        for name, id in people:
            by_id, by_name = self._roster.with_id(id), self._roster.with_name(name)
            if by_id and by_name and not by_id & by_name:
                return self._by_hand(f"{name} ({id})", Meant((by_id, by_name)))
            known.append(by_id or by_name)
        names = printable(", ".join(f"{name} ({id})" for name, id in people))[:LONGEST_NAME]
        students = frozenset().union(*known)
        if len(students) > 1 or (students and len(people) > 1):
            return message("Several students handed it in: {names}; mark it for each of them.", names=names)
        if not students:
            return message("It was handed in by {names}: not in the class list.", names=names)
        return next(iter(students))

    def _by_hand(self, part: str, meant: Meant) -> Entrant | str:
        if len(meant.students) == 1:
            return next(iter(meant.students))
        return message(
            "It is not clear whose it is: the name {part} fits {students}.",
            part=repr(part),
            students=_listed(meant.students or meant.all),
        )

    def _unless_contradicted(self, owner: Entrant, part: str, below: Iterable[str]) -> Entrant | str:
        for other in below:
            for fits in self._meant(other).fits:
                if owner not in fits:
                    return message(
                        "It is not clear whose it is: {part} is the name of {one}, and {other} in it that of "
                        "{students}.",
                        part=repr(part),
                        one=who(owner),
                        other=repr(other),
                        students=_listed(fits),
                    )
        return owner

    def _of_nobody(self, names: Sequence[str], in_a_zip: bool) -> str:
        if in_a_zip:
            return message(
                "It is not clear whose it is: it is in a zip with no student's name, and names in a zip do not count. "
                "If the zip holds a whole class, unpack it first."
            )
        if found := frozenset[Entrant]().union(*(self._meant(name).by_number for name in names)):
            return message(
                "It is not clear whose it is: only a short number in its name fits an id, that of {students}, and it "
                "may be any other number.",
                students=_listed(found),
            )
        return message(
            "It is not clear whose it is: neither the file's name nor its folder's has an id or "
            "a name from the class list, and what is written inside does not count."
        )


_NO_LESS = r"(?<![^\W_])"
_NO_MORE = r"(?![^\W_])"
_GRADESCOPE = re.compile(r"submission_\d+")
_MADE = re.compile(
    r"(?P<moodle>.+?)_\d+_assignsubmission_[a-z]+_?"
    r"|(?P<blind>(?:LATE_)?anon_[^\W_]+)_(?:\d+_|(?:text|link)\.html\Z)"
    r"|(?P<canvas>[^\s.,()-]+?)(?:_LATE)?_\d+_(?:\d+_|(?:text|link)\.html\Z)"
    r"|(?P<gradescope>submission_\d{5,})(?:\.\w+)?\Z",
    re.IGNORECASE,
)
"""What platforms call a student's file or folder, or begin its name with: Moodle with the full name, Canvas with the
name in one word, whose marks and signs `\\w` does not know, or anon and letters; a submission_2 may be anybody's."""
_COPIED = re.compile(r"(?:\s*\(\d{1,3}\))+\Z")


def _cut(path: Sequence[str]) -> tuple[str, ...]:
    return tuple(unicodedata.normalize("NFC", part[:LONGEST_PART]) for part in path)


def _group(names: Set[str]) -> str:
    """What Moodle puts before all names if a group's work is downloaded: "Group 1-"."""
    heads = [{name[: at.end()] for at in re.finditer("-", name)} for name in names]
    return max(set[str].intersection(*heads), key=len, default="") if len(names) > 1 else ""


def _names(path: Sequence[str]) -> list[str]:
    """The parts of a path, the last without its suffix."""
    return [*path[:-1], *map(_stem, path[-1:])]


def _stem(part: str) -> str:
    return PurePosixPath(part).stem


def as_saved(name: str) -> str:
    """A name without what browsers put behind that of a second copy.

    >>> as_saved("003-s003 (2)"), as_saved("answers(1) (2)")
    ('003-s003', 'answers')
    """
    return _COPIED.sub("", unicodedata.normalize("NFC", name))


def _collected(named: Iterable[tuple[str, Entrant]]) -> dict[str, frozenset[Entrant]]:
    found: dict[str, frozenset[Entrant]] = {}
    for name, entrant in named:
        if name:
            found[name] = found.get(name, frozenset()) | {entrant}
    return found


def _by_name(entrants: Sequence[Entrant]) -> dict[str, frozenset[Entrant]]:
    """Everybody by the words of the name, and in any other order (Muster, Anna Maria) that is nobody's own."""
    split = [(_words(e.name).split(), e) for e in entrants]
    turned = _collected((" ".join(words[k:] + words[:k]), e) for words, e in split for k in range(1, len(words)))
    return turned | _collected((" ".join(words), e) for words, e in split)


def _typed(names: Mapping[str, frozenset[Entrant]]) -> dict[str, frozenset[Entrant]]:
    """Names as they are, and in the letters a to z, where that is nobody's own: Jürgen, Jurgen and Juergen."""
    ways = (
        (_plain_letters(way), entrant)
        for name, them in names.items()
        for way in (name, name.translate(_UMLAUTS))
        for entrant in them
    )
    return _collected(ways) | dict(names)


_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"})


def _plain_letters(text: str) -> str:
    """Latin letters as a to z, as many programs and people write them."""
    return "".join(anyascii(c) if unicodedata.name(c, "").startswith("LATIN") else c for c in text)


def _words(text: str) -> str:
    """The words of a text alone: Ada_Lovelace and "ada lovelace" are the same."""
    return " ".join(re.findall(r"[^\W_]+", folded(text)))


def _any_of(texts: Iterable[str]) -> str:
    return "|".join(re.escape(text) for text in sorted(texts, key=len, reverse=True) if text) or "(?!)"


def who(entrant: Entrant) -> str:
    return f"{entrant.name!r} ({entrant.id!r})"


def _listed(students: Iterable[Entrant]) -> str:
    found = sorted(students, key=lambda e: e.number)
    return ", ".join(map(who, found[:3])) + " …" * (len(found) > 3)


def printable(text: str) -> str:
    """A text without control characters and what is no character at all."""
    return "".join("\ufffd" if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cs") else c for c in text)


def folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
