"""One file that was handed in, whatever its form, as a `Submission`.

What reads a form is imported when the first file of this form is there.
"""

from __future__ import annotations

import codecs
import csv
import re
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any, TypeGuard

from symattn.errors import InputError
from symattn.foundation.languages import Message, message, sentences
from symattn.marking.attempt import Remark, Submission
from symattn.marking.submissions.data import TooMuchError, csv_head, head_of, json_data, read_csv, read_data, toml_data
from symattn.marking.submissions.entries import AUTO
from symattn.marking.submissions.written import Paper, decimal_mark_of
from symattn.teaching.question import Question

LARGEST_FILE = 2_000_000
"""In bytes; a worksheet has ten thousand."""

FORMS: Mapping[str, str] = {
    ".md": "markdown", ".markdown": "markdown", ".txt": "markdown", ".qmd": "markdown", ".toml": "toml",
    ".html": "html", ".htm": "html", ".mhtml": "html", ".mht": "html", ".json": "json", ".ipynb": "notebook",
    ".docx": "markdown", ".org": "markdown", ".rst": "markdown", ".csv": "csv", ".tsv": "csv", ".xlsx": "csv",
    ".tex": "latex", ".latex": "latex", ".pdf": "pdf", ".odt": "markdown", ".ods": "csv",
    ".rtf": "markdown",
}  # fmt: skip

_PICTURE = message(
    "It is a picture, which only a person can read: type the answers, or enter the paper in a table "
    "(`symattn grade --help`)."
)
_DOCUMENT = message(
    "It is a word-processor document of a kind that is not read: save it as .docx, .odt or plain text (.txt)."
)
_ARCHIVE = message("It is an archive: unpack it, and hand in the file that is in it.")
_OTHER = message(
    "It is not text; Markdown, a notebook, HTML, TOML, JSON, CSV, LaTeX, .xlsx, .docx, .odt or a fillable PDF was "
    "expected."
)
_SIGNATURES: tuple[tuple[re.Pattern[bytes], Message], ...] = (
    (re.compile(rb"\x89PNG|\xff\xd8\xff|GIF8|II\*\0|MM\0\*|RIFF.{4}WEBP|.{4}ftyp(?:hei|avif)", re.DOTALL), _PICTURE),
    (re.compile(rb"\xd0\xcf\x11\xe0"), _DOCUMENT),
    (re.compile(rb"PK\x03\x04.{26}(?:\[Content_Types\]|_rels/|docProps/|word/|mimetype|Index/)", re.DOTALL), _DOCUMENT),
    (re.compile(rb"PK\x03\x04|\x1f\x8b|7z\xbc\xaf|Rar!"), _ARCHIVE),
)
"""What the first bytes of a file show it to be, and what is to be done then."""
LONGEST_LINE = 10_000
"""Characters of a line that is looked at closely to tell what a file is."""
MOST_SPACES = 8
"""In a line of a spreadsheet that has no number in it."""
LONGEST_GAP = 64
"""Spaces and tabs on end that are kept: nobody aligns by more, and what seeks in a long run takes its square."""
_PICTURE_INSIDE = re.compile(r"data:image/[\w.+-]{1,40};base64,(?:[\w+/=]|\\/)*")
"""A picture in the midst of a text, as notebooks and editors put it there; that there is one is told."""
_LONG_GAP = re.compile(rf"[ \t\u00a0\u3000]{{{LONGEST_GAP + 1},}}")
EMPTY = message("It is empty: perhaps the work was saved under another name.")


def read_submission(
    text: str | bytes, questions: Sequence[Question], *, form: str = "", source: str = "", decimal_mark: str = AUTO
) -> Submission:
    """One student's answers to all `questions`, in their order.

    `form` is markdown, notebook, html, toml, json, csv, latex or pdf; without it, it is seen from the text.
    `decimal_mark` is ".", "," or "auto": the one that the file uses.  `InputError` if nothing can be made of the file
    as a whole; whatever else is wrong stands in remarks.
    """
    if decimal_mark not in (".", ",", AUTO):
        raise InputError(f"The decimal mark is {decimal_mark!r}; '.', ',' or 'auto' was expected.")
    where = source or "The text"
    try:
        if not text.strip():
            raise InputError(EMPTY)
        if is_pdf(text):
            from symattn.marking.submissions.pdf import read_pdf

            _check_size(text)
            content, paper = "", read_pdf(text, questions)
        else:
            content = decoded(text)
            paper = _paper(content, questions, _form(content, form), decimal_mark)
    except InputError as error:
        raise InputError(f"{where}: {error}") from error
    if paper.empty and not (paper.sheet or paper.name or paper.names_parts or _mentions(content, questions)):
        told = next((remark.says for written in paper.written for remark in written.remarks), "")
        says = sentences(f"{where}: nothing in it belongs to this sheet; {_expected(questions)} expected.", told)
        raise InputError(says if says.endswith((".", "?")) else f"{says}.")
    mark, remarks = decimal_mark, list(paper.remarks)
    if mark == AUTO:
        mark = decimal_mark_of(chain.from_iterable(written.numbers() for written in paper.written))
        if mark == AUTO:
            says = message(
                "Decimals are written both with points and with commas; each was read in the only way possible."
            )
            remarks.append(Remark("", says))
    attempts = tuple(written.attempt(mark) for written in paper.written)
    return Submission(source, attempts, paper.sheet, paper.name, paper.student, tuple(remarks))


def sheet_of(text: str | bytes, form: str = "") -> tuple[str, str, str]:
    """The identity of the sheet that a file answers, the student's name and number, each "" if it is not there."""
    if is_pdf(text):
        from symattn.marking.submissions.pdf import pdf_head

        _check_size(text)
        return pdf_head(text)
    content = decoded(text)
    try:
        return _head(content, _form(content, form))
    except InputError:
        return _head(content, "markdown")  # it is read as a text, whatever form it was to be in


def _head(content: str, form: str) -> tuple[str, str, str]:
    match form:
        case "toml" | "json":
            return head_of(_data(content, form, "."))
        case "csv":
            return csv_head(content)
    from symattn.marking.submissions.blocks import page
    from symattn.marking.submissions.markdown import identity_of

    if form == "notebook":
        from symattn.marking.submissions.notebook import notebook

        return identity_of(notebook(content).page)
    return identity_of(page(_as_text(content, form)))


def _data(content: str, form: str, decimal_mark: str) -> Mapping[str, Any]:
    return toml_data(content, decimal_mark) if form == "toml" else json_data(content, decimal_mark)


def _as_text(content: str, form: str) -> str:
    """A page or a document as a text that is read like any other."""
    match form:
        case "html":
            from symattn.marking.submissions.webpage import as_markdown

            return as_markdown(content)
        case "latex":
            from symattn.marking.submissions.blocks import readable
            from symattn.marking.submissions.latex import latex_text

            return latex_text(readable(content))
    return content


# ------------------------------------------------------------------------------------ what a file is


def is_pdf(content: str | bytes) -> TypeGuard[bytes]:
    """Whether a file is a PDF, as its first bytes say."""
    return isinstance(content, bytes) and content[:1024].removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"%PDF-")


def is_notebook(text: str) -> bool:
    """Whether a text looks like one, whatever its file is called."""
    return text.lstrip().startswith("{") and '"nbformat"' in text and '"cells"' in text


def is_webpage(text: str) -> bool:
    """Whether a text is a page of HTML."""
    return re.match(r"(?is)\s*(?:<\?xml[^>]*>\s*)?<(?:!doctype html|html|head|body)\b", text) is not None


def is_sheet(text: str) -> bool:
    """Whether a text was made from a worksheet or a paper: what it holds then stands in its places."""
    return _SHEET.search(text) is not None


_SHEET = re.compile(r"<!--\s*symattn:(?:grid|choices)|\A\ufeff?---\s*\nsymattn:")


def _form(text: str, stated: str) -> str:
    """A notebook or a web page is one under any name: browsers save them as .txt and .json."""
    seen = form_of(text)
    return seen if seen in ("notebook", "html") else stated or seen


def form_of(text: str) -> str:
    """What a text is written in, as its first lines show."""
    start = text.lstrip()
    if is_webpage(text):
        return "html"
    if start.startswith("{"):
        return "notebook" if is_notebook(text) else "json"
    if "\\begin{document}" in text or "\\documentclass" in text:
        return "latex"
    lines = [line.strip() for line in start.splitlines()[:200] if line.strip()]
    if _is_toml(lines) and (any(map(_HEAD.fullmatch, lines)) or _can_be_toml(text)):
        return "toml"
    if start.startswith(("---", "#", "<!--", "|")):
        return "markdown"
    if "\\begin{" in text and "|" not in text:
        return "latex"
    from symattn.marking.submissions.names import ONE_ROW
    from symattn.marking.submissions.tables import BULLET

    separated = sum(any(mark in line for mark in ",;\t") and not _is_sentence(line) for line in lines)
    told = any("|" in line or ONE_ROW.match(line) or BULLET.match(line) or _has_brackets(line) for line in lines)
    told = told or any(map(_SPACED.search, lines))
    return "csv" if lines and separated * 2 > len(lines) and not told else "markdown"


_SPACED = re.compile(r"\d {1,64}[-+−]?[\d.,]")
"""Numbers with nothing but spaces between them, of which decimals may have commas."""


def _is_sentence(line: str) -> bool:
    """Whether a line has more words than any cell, and no number."""
    return line.count(" ") > MOST_SPACES and not any(map(str.isdigit, line))


def _has_brackets(line: str) -> bool:
    """Whether a bracket that opens before a comma closes behind it: it is a row, and no line of a spreadsheet; before
    a semicolon where there are no commas."""
    cells = next(csv.reader([line]), []) if len(line) < LONGEST_LINE else []
    cells = cells[0].split(";") if len(cells) == 1 else cells
    return any(cell.count(opening) != cell.count(closing) for cell in cells for opening, closing in ("[]", "()"))


def _is_toml(lines: Sequence[str]) -> bool:
    """Whether the first line that is no comment is a key with a value or the head of a table."""
    first = next((line for line in lines if not line.startswith("#")), "")
    key, equals, value = first.partition("=")
    begins = value.strip()[:1]
    return (first.startswith("[") and first.endswith("]") and "=" not in first and "," not in first) or (
        bool(equals and _KEY.fullmatch(key)) and (begins in "\"'[{+-" or begins.isdigit()) and "\\begin" not in value
    )


def _can_be_toml(text: str) -> bool:
    """Whether a text without heads keeps to the rules of TOML: A = [[1/3, 2/3]] is text."""
    with suppress(ValueError, RecursionError):
        tomllib.loads(text)
        return True
    return False


_HEAD = re.compile(r"\[[\w\s\".'-]+\](?:\s*#.*)?")


_KEY = re.compile(r"""\s*(?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*\s*""")
"""A key of TOML, which has no spaces and no primes unless it stands in quotes: `S' = …` is text."""


def decoded(content: str | bytes) -> str:
    """The text of a file in UTF-8, UTF-16 or Windows-1252; `InputError` says what it is instead."""
    _check_size(content)
    if isinstance(content, str):
        text = content
    elif (unpacked := _of_office(content)) is not None:
        text = unpacked
    else:
        for signature, says in _SIGNATURES:
            if signature.match(content):
                raise InputError(says)
        utf_16 = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        try:
            text = content.decode("utf-16" if utf_16 else "utf-8")
        except UnicodeDecodeError as error:
            name = "UTF-16" if utf_16 else "UTF-8"
            if utf_16 or (text := _of_windows(content)) == "":
                raise InputError(f"Byte {error.start + 1} cannot be read; text in {name} was expected.") from error
    if "\0" in text:
        raise InputError(_OTHER)
    text = text.removeprefix("\ufeff")
    if "multipart/related" in text[:2000].lower():
        from symattn.marking.submissions.webpage import out_of_archive

        text = out_of_archive(text)
    return _LONG_GAP.sub(" " * LONGEST_GAP, _PICTURE_INSIDE.sub("data:image/…", text))


def _of_office(content: bytes) -> str | None:
    """The text of a workbook or of a document; None if it is neither."""
    if content.startswith(b"{\\rtf"):
        from symattn.marking.submissions.richtext import rich_text

        return rich_text(content)
    if not content.startswith(b"PK\x03\x04"):
        return None
    from symattn.marking.submissions.office import document_text, is_document, is_workbook, workbook_text
    from symattn.marking.submissions.opendocument import kind_of, opendocument_text

    if is_workbook(content):
        return workbook_text(content)
    if is_document(content):
        return document_text(content)
    return opendocument_text(content) if kind_of(content) else None


def _of_windows(content: bytes) -> str:
    """The text in Windows-1252, as Excel saves CSV; "" where the bytes are hardly that: few of them stand for words."""
    try:
        text = content.decode("cp1252")
    except UnicodeDecodeError:
        return ""
    strange = sum(not character.isascii() for character in text)
    controls = any(character < " " and not character.isspace() for character in text)
    return text if strange * 4 <= len(text) and not controls else ""


def _check_size(content: str | bytes) -> None:
    if len(content) > LARGEST_FILE:
        raise InputError(f"It is larger than {LARGEST_FILE // 1_000_000} MB; that is not a sheet of answers.")


def _read(text: str, questions: Sequence[Question], form: str, decimal_mark: str) -> Paper:
    match form:
        case "toml" | "json":
            return read_data(_data(text, form, decimal_mark), questions)
        case "csv":
            return read_csv(text, questions)
        case "latex" | "html" | "markdown" | "text":
            return _read_text(_as_text(text, form), questions)
        case "notebook":
            from symattn.marking.submissions.notebook import read_notebook

            return read_notebook(text, questions, decimal_mark)
        case "pdf":
            raise InputError(
                message("Its name says PDF, but it is not one: save it again from the program that shows it.")
            )
    raise InputError(f"There is no form {form!r}; there are markdown, notebook, html, toml, json, csv, latex and pdf.")


def _read_text(text: str, questions: Sequence[Question]) -> Paper:
    """A sheet as it was printed and filled in, or a text of somebody's own."""
    from symattn.marking.submissions.alphabet import plain_signs, undrawn, unescaped_export
    from symattn.marking.submissions.blocks import readable
    from symattn.marking.submissions.code import as_text, in_brackets, is_session
    from symattn.marking.submissions.latex import with_matrices
    from symattn.marking.submissions.markdown import read_markdown
    from symattn.marking.submissions.webpage import with_tables

    text = undrawn(readable(text))
    if not is_sheet(text):
        text = in_brackets(plain_signs(with_matrices(with_tables(unescaped_export(text)))))
        text = as_text(text) if is_session(text) else text
    return read_markdown(text, questions)


def _paper(text: str, questions: Sequence[Question], form: str, decimal_mark: str) -> Paper:
    """The file read in its form; a text in the form that it looks like, where that leaves less over; what is no data,
    as plain text.
    """
    papers: list[Paper] = []
    refused: InputError | None = None
    ways: tuple[str, ...] = (form, form_of(text), "markdown")
    if form in ("notebook", "html", "pdf") or is_sheet(text) or (form == "csv" and not _AS_PEOPLE_WRITE.search(text)):
        ways = (form,)
    elif form == "latex" and "\\begin{document}" not in text:
        ways = ("markdown", form)
    for way in dict.fromkeys(ways):
        try:
            paper = _read(text, questions, way, decimal_mark)
        except TooMuchError:
            raise
        except InputError as error:
            if way == form:  # what it only looks like, nobody said that it is
                refused = error
            continue
        if not paper.empty and (not paper.left or way == form in _DATA):
            return paper
        papers.append(paper)
    if refused is not None and all(paper.empty for paper in papers):
        raise refused
    return min(papers, key=lambda paper: (paper.empty, paper.left))


_DATA = ("toml", "json", "csv")
_AS_PEOPLE_WRITE = re.compile(r"[,;] |[\[({]")
"""What a program does not put into a CSV, in which 1,0 is no decimal."""


def _mentions(text: str, questions: Sequence[Question]) -> bool:
    """Whether the text has a place of the sheet in it, even if nothing is written there."""
    return "symattn:" in text or any(question.title in text for question in questions)


def _expected(questions: Sequence[Question]) -> str:
    if len(questions) > 1:
        return f"answers below the numbers of their questions, Question 1 to Question {len(questions)}, were"
    names = [part.name for part in questions[0].parts]
    return f"answers to {', '.join(names[:8])}{' and others' if len(names) > 8 else ''} were"
