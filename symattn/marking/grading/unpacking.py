"""The files of a folder or of a zip, within limits, and those in the zips that students hand in.

Students' zips are looked into in a process of their own (`worker`).  A small zip may expand without end, or hold the
same bytes many times over.  So bytes are counted while they are read, whatever the zip says of its size; nothing is
unpacked onto the disk, and nothing of it is kept.
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
from typing import Any, Self

from symattn.errors import InputError
from symattn.foundation.languages import message, packed, unpacked
from symattn.marking.grading.roster import printable
from symattn.marking.submissions.files import FORMS, LARGEST_FILE

MOST_PATHS = 1_000_000
MOST_HANDED_IN = 20_000
MOST_OF_ONE = 5_000
"""Files of one student, or of one folder that holds students' own."""
RECORDS = ".marks"

MOST_MEMBERS = 1_000
MOST_BYTES = 32 * 2**20
"""Of one student's zip; an answer has ten thousand bytes."""

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
    def place(self) -> tuple[str, ...]:
        """The parts of its path, or of that of the zip that it is in."""
        return self.parts[: self.outer or None]

    @property
    def in_zip(self) -> tuple[str, ...]:
        """The parts of its path in the zip that it is in."""
        return self.parts[self.outer :] if self.outer else ()

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

    @property
    def is_hidden(self) -> bool:
        return self.path.rpartition("/")[2].startswith(".")

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


# ------------------------------------------------------------------------------------------------ finding files


def files(source: Path) -> list[File]:
    """The files of a folder, at any depth, or of a zip, in the order of their names.

    Links, what computers add by themselves and folders that marking wrote are left out.
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
    top = len(common_folder(listed)) + 1
    count = Counter(file.parts[:top] for file in listed)
    if len(count) > MOST_HANDED_IN:
        raise InputError(f"{source} holds more than {MOST_HANDED_IN:,} files; a folder of submissions was expected.")
    kept = [file for file in listed if count[file.parts[:top]] <= MOST_OF_ONE]
    for parts, many in count.items():
        if many > MOST_OF_ONE:
            says = message("It holds {count} files; at most {most} are read.", count=many, most=MOST_OF_ONE)
            kept.append(File("/".join(parts), says))
    return kept


def common_folder(found: Sequence[File]) -> tuple[str, ...]:
    """The folders from the top that hold all files."""
    above = zip(*(file.place[:-1] for file in found), strict=False)
    return tuple(names[0] for names in takewhile(lambda names: len(set(names)) == 1, above))


def _of_folder(folder: Path) -> Iterator[File]:
    for here, below, names in os.walk(folder):
        if RECORDS in below:
            below.clear()
            continue
        below[:] = [name for name in below if not is_left_out(f"{name}/")]
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
            if not is_folder(info) and not is_left_out(name):
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


def is_left_out(path: str) -> bool:
    """Whether a computer put it there: it lies in a hidden folder, or has a name that programs alone give."""
    *folders, name = path.split("/")
    hidden = any(folder == "__MACOSX" or re.match(r"\.[^.]", folder) for folder in folders)
    return hidden or bool(_BY_COMPUTERS.fullmatch(name))


_BY_COMPUTERS = re.compile(r"Thumbs\.db|desktop\.ini|\.DS_Store|\._.*|~\$.*|\.~lock\..*#")
"""Pictures of folders, what macOS keeps beside files, and what Word and LibreOffice do while a file is open."""


# ------------------------------------------------------------------------------------------------ files in a zip


@dataclass(frozen=True, slots=True)
class Member(PlainData):
    """One file of a zip: its place in the directory, its path, and the hash of its bytes; or why it was not read."""

    number: int
    path: str
    hash: str = ""
    complaint: str = ""


def members_of(archive: bytes) -> list[Member]:
    """Everything in a zip, each file read once; `InputError` if it is no zip, has no file in it, or expands to too
    much."""
    found, size = list[Member](), 0
    with _unpacking(), zipfile.ZipFile(io.BytesIO(archive)) as opened:
        for number, info in enumerate(opened.infolist()):
            path = path_of(info)
            if is_folder(info) or is_left_out(path):
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
    if not found:
        raise InputError(message("It is a zip with no work in it."))
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
    """The path of a member, without the points that mean the folder itself: ./a.md is a.md."""
    return "/".join(part for part in info.filename.replace("\\", "/").split("/") if part != ".")


def is_folder(info: zipfile.ZipInfo) -> bool:
    return info.filename.replace("\\", "/").endswith(("/", "/."))


def too_large(size: int) -> str:
    return message("It has {size} bytes; at most {most} are read.", size=size, most=LARGEST_FILE)
