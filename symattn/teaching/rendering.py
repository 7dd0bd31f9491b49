"""Documents written as files, in every format there is: all of them or none.

What a document looks like its `look` says; what a format cannot show of it, its writer leaves out.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from symattn.errors import InputError, offered
from symattn.foundation.files import alone_in, remove_empty
from symattn.page.document import EVERYTHING, Besides, Document
from symattn.page.presentation import presented
from symattn.page.writers import FORMATS

DEFAULT_FORMATS = ("latex", "markdown", "pdf")
THROUGH_PDF = {"pdf": ".pdf", "latex-pdf": ".tex.pdf"}
"""The formats that are no text, and how their files end."""


def suffix(form: str) -> str:
    """The ending of a file in one format."""
    return THROUGH_PDF.get(form) or FORMATS[form].SUFFIX


def render(document: Document, form: str, *, beside_macros: bool = False) -> tuple[str, bytes]:
    """A document in one format, as its look wants it: the ending of its file, and its bytes.

    LaTeX is complete in one file, unless it goes into a folder where its macros are, `beside_macros`.
    """
    return written_document(presented(document), form, beside_macros)


def shown(document: Document, form: Literal["html", "markdown"]) -> str:
    """A document as a notebook shows it among its output: without a page round it."""
    from symattn.page.writers import html, markdown

    write = {"html": html.fragment, "markdown": markdown.fragment}[form]
    return write(presented(document))


def written_document(document: Document, form: str, beside_macros: bool = False) -> tuple[str, bytes]:
    if form == "pdf":
        from symattn.page.writers.pdf import write_pdf

        return suffix(form), write_pdf(document)
    if form == "latex-pdf":
        from symattn.page.writers.pdf import write_latex_pdf

        return suffix(form), write_latex_pdf(document)
    if form == "latex" and beside_macros:
        from symattn.page.writers import latex

        return suffix(form), latex.write_beside_macros(document).encode()
    return suffix(form), FORMATS[form].write(document).encode()


def read_besides(forms: Iterable[str]) -> frozenset[Besides]:
    """What formats read of a document besides what it shows."""
    through = {"pdf": "typst", "latex-pdf": "latex"}
    writers = (FORMATS[through.get(form, form)] for form in forms)
    return frozenset[Besides]().union(*(getattr(writer, "BESIDES", EVERYTHING) for writer in writers))


def formats() -> tuple[str, ...]:
    """Every format that a document can be written in."""
    return (*FORMATS, *THROUGH_PDF)


def check_formats(asked: Iterable[str], banks: bool = False) -> tuple[str, ...]:
    """The formats, each once, by name or by the ending of their files (md, tex); among them those of question banks, if
    `banks` can be written as well.
    """
    listed = tuple(dict.fromkeys(form if _has(form, banks=True) else _by_ending(form) for form in asked))
    for form in listed:
        if _has(form, banks):
            continue
        if form in _banks():
            raise InputError(f"{form} is a format of question banks, which worksheets and exams are written in alone.")
        raise InputError(f"There is no format {form!r}; {offered(form, _known(banks))}")
    if not listed:
        raise InputError(f"No format was given; there are {', '.join(_known(banks))}.")
    if {"latex", "latex-body"} <= {*listed}:
        raise InputError("latex and latex-body write files of the same names (.tex): one of them was expected.")
    return listed


def _has(form: str, banks: bool) -> bool:
    """Asked by name, so that no other writer is loaded."""
    return form in THROUGH_PDF or form in FORMATS or (banks and form in _banks())


def _by_ending(form: str) -> str:
    return next((one for one in FORMATS if suffix(one) == "." + form.removeprefix(".")), form)


def _known(banks: bool) -> tuple[str, ...]:
    return (*formats(), *(_banks() if banks else ()))


def _banks() -> Mapping[str, object]:
    from symattn.teaching.exporters import EXPORTERS  # which few ask for

    return EXPORTERS


def write_documents(documents: Iterable[tuple[str, Document]], folder: Path, forms: Sequence[str]) -> list[Path]:
    """Write named documents in several formats, all of them or none; `InputError` if the folder cannot be written."""

    def files() -> Iterator[tuple[str, str, bytes]]:
        for stem, document in documents:
            shown = presented(document)
            for form in forms:
                yield stem, form, written_document(shown, form, beside_macros=True)[1]

    return write_files(with_macros(files()), folder)


def with_macros(files: Iterable[tuple[str, str, bytes]]) -> Iterator[tuple[str, bytes]]:
    """Files by their names, and what LaTeX needs beside them."""
    beside = None
    for stem, form, content in files:
        if form == "latex":
            if beside is None:
                from symattn.page.writers import latex, page

                beside = latex.Folder(masthead=page.masthead())
            beside.add(stem, content.decode(), group=_NUMBER.sub("-class", stem))
        yield stem + suffix(form), content
    if beside:
        yield from ((name, text.encode()) for name, text in beside.files())
        yield from beside.attachments()


_NUMBER = re.compile(r"-\d\d+(?=(?:-[a-z]+)?\Z)")  # of a sheet among others, in the name of its file


def write_files(files: Iterable[tuple[str, bytes]], folder: Path) -> list[Path]:
    """Everything is made beside first, and put in its place by one run at a time: no set is mixed with another's."""
    new = [f for f in (folder, *folder.parents) if not f.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=".symattn-", dir=folder))
    except OSError as error:
        raise InputError(f"Nothing can be written to the folder {folder}: {error.strerror}.") from error
    written: list[Path] = []
    try:
        for name, content in files:
            (staging / name).write_bytes(content)
            written.append(folder / name)
        with alone_in(folder):
            for path in written:
                (staging / path.name).replace(path)
    except OSError as error:
        raise InputError(f"Writing to the folder {folder} failed: {error.strerror}.") from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)
        remove_empty(new)
    return written
