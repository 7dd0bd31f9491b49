"""What was handed in: the files of a folder or of a zip, and whose each of them is (`whose`).

Zips that students hand in are looked into within limits, in a process of their own (`worker`).  A small zip may expand
without end, or hold the same bytes many times over.  So bytes are counted while they are read, whatever the zip says of
its size; nothing is unpacked onto the disk, and nothing of it is kept.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import Any

from symattn.errors import InputError
from symattn.foundation.languages import message, packed, sentences, unpacked
from symattn.marking.grading.source import Entrant, Papers
from symattn.marking.grading.whose import LONGEST_NAME, Owners, Roster, Submitters, as_saved, folded, printable, who
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
class Head:
    """What a file says about itself; `complaint` says why it cannot be read, "" if it can; and the hash of it."""

    sheet: str = ""
    name: str = ""
    id: str = ""
    complaint: str = ""
    hash: str = ""

    def json(self) -> dict[str, Any]:
        return {**asdict(self), "complaint": packed(self.complaint)}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Head:
        return cls(**{**data, "complaint": unpacked(data["complaint"])})


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
    count = Counter(file.parts[shared] for file in listed)
    if len(count) > MOST_HANDED_IN:
        raise InputError(f"{source} holds more than {MOST_HANDED_IN:,} files; a folder of submissions was expected.")
    kept = [file for file in listed if count[file.parts[shared]] <= MOST_OF_ONE]
    for top, many in count.items():
        if many > MOST_OF_ONE:
            above = next(file.parts[:shared] for file in listed)
            says = message("It holds {count} files; at most {most} are read.", count=many, most=MOST_OF_ONE)
            kept.append(File("/".join((*above, top)), says))
    return kept


def _told(found: Sequence[File]) -> tuple[list[File], dict[str, Submitters]]:
    """The files without Gradescope's list, and whose its folders are, as the list says.

    It is Gradescope's at the top of all files alone.  Anywhere else it is a file that a student handed in.
    """
    top = found[0].parts[: _shared(found)] if found else ()
    lists = [file for file in found if file.parts == (*top, METADATA) and file.zipped is None and not file.complaint]
    told: dict[str, Submitters] = {}
    for file in lists:
        for name, said in _submitters(file.read().decode("utf-8", "replace")).items():
            if re.match(r"submission_\d+", name) and said:
                told["/".join((*top, name))] = said
    others = [file for file in found if file not in lists] if told else list(found)
    return others, told


_SUBMITTER = re.compile(r"\s+(-)?\s*:(name|sid):\s*(.*?)\s*")


def _submitters(text: str) -> dict[str, Submitters]:
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


# ------------------------------------------------------------------------------------------------ whose they are


Heads = Callable[[Sequence[File]], Sequence[Head]]


def matched(found: Sequence[File], heads: Heads, papers: Papers, entered: Sequence[Handed] = ()) -> list[Handed]:
    """Every file, with its head, and whoever it is from, in the order of the class list, then of the files' names.

    Whose a file is, its path says (`whose`), and nothing that is written inside: where that says something else,
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
    said = message("The id inside, {id}, is not in the class list; the file's name says whose it is.", id=repr(one.id))
    return replace(one, notices=(*one.notices, said))


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
    """Of several files of one person, the last by name (of those that can be read and may be text); the others are
    named with it."""
    whose: dict[int, list[Handed]] = {}
    for one in handed:
        if one.entrant:
            whose.setdefault(one.entrant.number, []).append(one)
    kept = [one for one in handed if not one.entrant]
    for files in whose.values():
        *others, last = sorted(files, key=_rank)
        if others:
            left = ", ".join(other.file.path for other in others)
            said = message(
                "{count} files were handed in; the last by name is marked, not {others}.", count=len(files), others=left
            )
            last = replace(last, notices=(*last.notices, said))
        kept.append(last)
    return kept


def _rank(one: Handed) -> tuple[bool, bool, object]:
    return not one.complaint, one.file.form != "", natural(one.file.stem)


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


MOST_MEMBERS = 1_000
MOST_BYTES = 32 * 2**20
"""Of one student's zip; an answer has ten thousand bytes."""

_NOT_HANDED_IN = ("__MACOSX", "Thumbs.db", "desktop.ini")


@dataclass(frozen=True, slots=True)
class Member:
    """One file of a zip: its place in the directory, its path, and the hash of its bytes; or why it was not read."""

    number: int
    path: str
    hash: str = ""
    complaint: str = ""

    def json(self) -> dict[str, Any]:
        return {**asdict(self), "complaint": packed(self.complaint)}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Member:
        return cls(**{**data, "complaint": unpacked(data["complaint"])})


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
