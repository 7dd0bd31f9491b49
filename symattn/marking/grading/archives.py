"""Zips that students hand in: looked into within limits, in a process of their own (`worker`).

A small zip may expand without end, or hold the same bytes many times over.  So bytes are counted while they are read,
whatever the zip says of its size; nothing is unpacked onto the disk, and nothing of it is kept.
"""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from symattn.errors import InputError
from symattn.foundation.languages import message, packed, unpacked
from symattn.marking.submissions.files import LARGEST_FILE

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


def members(archive: bytes) -> list[Member]:
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
                    data = read(opened, info)
                except InputError as error:
                    complaint = error.said
                else:
                    size, digest = size + len(data), hashlib.sha256(data).hexdigest()
            if size > MOST_BYTES:
                raise InputError(message("It is a zip that expands to more than {most} MB.", most=MOST_BYTES >> 20))
            found.append(Member(number, path, digest, complaint))
    return found


def content(archive: bytes, number: int) -> bytes:
    """The bytes of one file of a zip, by its place in the directory; `InputError` if they cannot be read."""
    with _unpacking(), zipfile.ZipFile(io.BytesIO(archive)) as opened:
        return read(opened, opened.infolist()[number])


def read(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
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
