"""Archives: the same bytes for the same files, which can be read where they are unpacked."""

from __future__ import annotations

from collections.abc import Iterable
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

UNIX = 3
"""The system on which modes of files mean something."""


def zipped(files: Iterable[tuple[str, bytes]], level: int = 9) -> bytes:
    """A zip of files by their names, in their order, without a date."""
    whole = BytesIO()
    with ZipFile(whole, "w", ZIP_DEFLATED, compresslevel=level) as archive:
        for name, data in files:
            entry = ZipInfo(name)
            entry.create_system, entry.external_attr, entry.compress_type = UNIX, 0o644 << 16, ZIP_DEFLATED
            archive.writestr(entry, data)
    return whole.getvalue()


def zipped_texts(files: Iterable[tuple[str, str]]) -> bytes:
    """The same of texts."""
    return zipped((name, text.encode()) for name, text in files)
