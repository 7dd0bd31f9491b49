"""Worksheets with their keys: drawn from a seed, checked by a second route, written whole or not at all.

Beside a set of worksheets stands its frozen form, `<stem>.json`, from which whoever marks them has the same questions.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from symattn.derivation.mechanisms import Settings, mechanism
from symattn.derivation.settings import ABOUT
from symattn.errors import InputError, offered
from symattn.exact import Matrix, Outline
from symattn.foundation.dice import Dice
from symattn.foundation.folders import alone_in, remove_empty
from symattn.foundation.identity import digest, identity
from symattn.foundation.typed import Absent, Place, read
from symattn.foundation.version import VERSION
from symattn.page.document import DEFAULT_LOOK, Document, Look, Solutions
from symattn.page.notation import load_notation
from symattn.page.presentation import presented
from symattn.page.writers import FORMATS, html, latex, markdown
from symattn.teaching.bank.items import make_bank
from symattn.teaching.explanation import Conventions, Detail, Layout, booklet, question_document, set_overview
from symattn.teaching.exporters import exporters
from symattn.teaching.fairness import self_check
from symattn.teaching.pool import pool
from symattn.teaching.problem import Problem
from symattn.teaching.problems import Spec, problem_type
from symattn.teaching.problems.full import question as full_question
from symattn.teaching.question import Content, Json, Question

DEFAULT_FORMATS = ("latex", "markdown", "pdf")
FROZEN_FORMAT = 1
SOLUTIONS: tuple[Solutions, ...] = get_args(Solutions)
FOR_STUDENTS: tuple[Solutions, ...] = ("blank", "partly")


@dataclass(frozen=True)
class Recipe:
    """Everything a set of worksheets is made from: the same recipe gives the same bytes."""

    spec: Spec
    seed: int = 1

    def command(self) -> str:
        """The command that makes the same again; it stands in the footer of every key."""
        return " ".join(["symattn worksheet", self.spec.mechanism, *self._options(), f"--seed {self.seed}"])

    def _options(self) -> Iterator[str]:
        spec, settings = self.spec, self.spec.chosen_settings()
        defaults = {**Settings.__dataclass_fields__}
        chosen = mechanism(spec.mechanism)
        preset = {**chosen.defaults, **chosen.layout(load_notation(spec.notation).settings)}
        if spec.softmax.startswith("base"):
            preset["base"] = settings.base
        for name in (name for name in ABOUT if name not in ("by", "rounding")):
            value = getattr(settings, name)
            if value != preset.get(name, defaults[name].default):
                rows: Any = value.rows if isinstance(value, Matrix) else value
                listed = isinstance(rows, list | tuple)
                text = json.dumps([[int(x) for x in row] for row in rows]) if listed else str(value)
                yield f"--{name.replace('_', '-')} {_shell(text)}"
        if settings.by != preset.get("by", "matrix"):
            yield f"--by-{settings.by}"
        if rounding := settings.rounding:
            ties = f":{rounding.ties}" if rounding.ties != "even" else ""
            yield f"--round {rounding.places}:{rounding.method}{ties}"
        if spec.type != "full":
            yield f"--problem {spec.type}"
        if spec.level != "standard":
            yield f"--level {spec.level}"
        if spec.softmax != "e":
            yield f"--softmax {_shell(spec.softmax)}"
        for name, option in spec.options.items():
            yield f"--option {_shell(f'{name}={option_text(option)}')}"
        if spec.sizes:
            yield "--size " + ",".join(f"{name}={size}" for name, size in spec.sizes.items())
        if spec.notation != "standard":
            yield f"--notation {_shell(spec.notation)}"
        if not spec.exact:
            yield "--decimal"
        if spec.places != 4:
            yield f"--places {spec.places}"


def option_text(value: Json) -> str:
    """An option's value as it is typed: true, 3, a text."""
    return value if isinstance(value, str) else json.dumps(value)


def _shell(text: str) -> str:
    plain = all(c.isalnum() or c in "_-.:/,=" for c in text)
    return text if text and plain else "'" + text.replace("'", "'\\''") + "'"


@dataclass(frozen=True)
class Sheet:
    """One question on paper: as a worksheet, and with its answers.

    `name` is the short identity that stands on every page; `command` makes the set again that it is from, if any, in
    which it has the number `number`.
    """

    question: Question
    name: str
    command: str = ""
    number: int = 0

    def document(
        self,
        solutions: Solutions = "blank",
        *,
        layout: Layout = "matrix",
        conventions: Conventions = "full",
        recipe: bool = False,
    ) -> Document:
        """The question blank, partly worked, worked, or as a key for markers.

        Whoever reads the recipe can make the key: on a student's sheet it is printed only if it is wanted.
        """
        command = f"{self.command} (sheet {self.number})" if self.command else ""
        document = question_document(self.question, self.name, command, solutions, layout, conventions)
        return replace(document, recipe_printed=recipe or solutions not in FOR_STUDENTS)

    @cached_property
    def worksheet(self) -> Document:
        """What the student gets."""
        return self.document("blank")

    @cached_property
    def key(self) -> Document:
        """What the marker gets."""
        return self.document("key")

    @property
    def problem(self) -> Problem:
        """The derivation that is asked for; `InputError` where there is none behind the question."""
        if self.question.problem is None:
            raise InputError(f"Questions of the type {self.question.type} have no derivation behind them.")
        return self.question.problem

    def _repr_html_(self) -> str:
        return shown(self.worksheet, "html")

    def _repr_markdown_(self) -> str:
        return shown(self.worksheet, "markdown")


def sheets(recipe: Recipe, count: int) -> Iterator[Sheet]:
    """`count` different worksheets with their keys; the first ones are the same however many are asked for.

    Every key has been recomputed by a second route (`SelfCheckError` otherwise).
    """
    command = recipe.command()
    for number, question in enumerate(islice(pool(recipe.spec, Dice.seeded(recipe.seed)), count), 1):
        yield Sheet(question, identity(question.frozen), command, number)


def make_sheet(problem: Problem, detail: Detail | None = None) -> Sheet:
    """Any problem as a worksheet of the full derivation, the key checked first."""
    self_check(problem.derivation)
    content: dict[str, Json] = {
        "mechanism": problem.mechanism,
        "notation": problem.notation.name,
        "exact": problem.exact,
        "places": problem.places,
        "given": {name: _content(m) for name, m in problem.derivation.givens.items()},
        "steps": [[s.name, repr(s.op)] for s in problem.derivation],
    }
    return Sheet(full_question(problem, content, detail=detail), identity(content))


def _content(matrix: Matrix | Outline) -> Json:
    if isinstance(matrix, Outline):
        return [str(size) for size in matrix.shape]
    return [[str(x) for x in row] for row in matrix.rows]


# ------------------------------------------------------------------------------------------------ freezing


def freeze_sheets(sheets: Iterable[Sheet]) -> str:
    """A set of worksheets as the text of its JSON file: enough to make every question again, and to see any change.

    A problem that is nobody's variant (`make_sheet`) is left out: what it is made from is a file of its own.
    """
    return _sealed([_frozen(sheet) for sheet in sheets if _is_variant(sheet)])


@dataclass(frozen=True)
class _Frozen:
    id: str
    content: Content
    hash: str
    command: Annotated[str, Absent()] = ""


def _is_variant(sheet: Sheet) -> bool:
    return "type" in sheet.question.frozen


def _frozen(sheet: Sheet) -> _Frozen:
    return _Frozen(sheet.name, sheet.question.frozen, _hash(sheet.question), sheet.command)


def _hash(question: Question) -> str:
    """Of what a question is made from and of its answers, as the hash of a variant in `exam.json`."""
    return digest([question.frozen, list(question.entries())])


def _sealed(sheets: Sequence[_Frozen]) -> str:
    data: dict[str, Json] = {
        "format": FROZEN_FORMAT,
        "software": f"symattn {VERSION}",
        "recipe": "; ".join(dict.fromkeys(s.command for s in sheets if s.command)),
        "sheets": [{"id": s.id, "content": dict(s.content), "hash": s.hash} for s in sheets],
    }
    data["hash"] = digest(data)
    return json.dumps(data, ensure_ascii=False, indent=1) + "\n"


def thaw_sheets(text: str, where: str | Path) -> Mapping[str, Question]:
    """The questions of a frozen set by the id on their sheets, each made when it is first asked for.

    `InputError` if `text` (read from `where`) is no such set, was changed, or, when a question is made, comes out
    otherwise than it was frozen.
    """
    try:
        data = json.loads(text)
        stated = data.pop("hash")
        intact = stated == digest(data)
        form, software, listed = data["format"], data["software"], data["sheets"]
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
        raise InputError(f"{where} is not a frozen set of worksheets.") from error
    if not intact:
        raise InputError(f"{where} was changed after it was written (its hash does not fit).")
    if form != FROZEN_FORMAT:
        raise InputError(f"{where} has the format {form}; this version of symattn reads {FROZEN_FORMAT}.")
    frozen = read(tuple[_Frozen, ...], listed, Place(str(where)).at("sheets"))
    return ThawedSheets(frozen, str(where), software)


class ThawedSheets(Mapping[str, Question]):
    """Questions by the id on their sheets, in the order of the sheets."""

    def __init__(self, sheets: Iterable[_Frozen], where: str, software: str) -> None:
        self._sheets = {sheet.id: sheet for sheet in sheets}
        self._where, self._software = where, software
        self._made: dict[str, Question] = {}

    def __getitem__(self, id: str) -> Question:
        if id not in self._made:
            frozen = self._sheets[id]
            chosen = problem_type(str(frozen.content["type"]))
            question = chosen.make(chosen.thaw(frozen.content, f"{self._where}, sheet {id}"))
            if _hash(question) != frozen.hash:
                raise InputError(
                    f"Sheet {id} of {self._where} comes out otherwise than it was frozen: it was made by "
                    f"{self._software}, and this is symattn {VERSION}."
                )
            self._made[id] = question
        return self._made[id]

    def __contains__(self, id: object) -> bool:  # the mixin's would make the question
        return id in self._sheets

    def __iter__(self) -> Iterator[str]:
        return iter(self._sheets)

    def __len__(self) -> int:
        return len(self._sheets)


# ------------------------------------------------------------------------------------------------ writing


def suffix(form: str) -> str:
    """The ending of a file in one format."""
    return {"pdf": ".pdf", "latex-pdf": ".tex.pdf"}.get(form) or FORMATS[form].SUFFIX


def render(document: Document, form: str, *, beside_macros: bool = False) -> tuple[str, bytes]:
    """A document in one format, as its look wants it: the ending of its file, and its bytes.

    LaTeX is complete in one file, unless it goes into a folder where its macros are, `beside_macros`.
    """
    return written_document(presented(document), form, beside_macros)


def shown(document: Document, form: Literal["html", "markdown"]) -> str:
    """A document as a notebook shows it among its output: without a page round it."""
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
        return suffix(form), latex.write_beside_macros(document).encode()
    return suffix(form), FORMATS[form].write(document).encode()


def formats() -> tuple[str, ...]:
    """Every format that a document can be written in."""
    return (*sorted(FORMATS), "pdf", "latex-pdf")


def check_formats(asked: Iterable[str], banks: bool = False) -> tuple[str, ...]:
    """The formats, each once; among them those of question banks, if `banks` can be written as well."""
    listed, known = tuple(dict.fromkeys(asked)), (*formats(), *(exporters() if banks else ()))
    for form in listed:
        if form in exporters() and not banks:
            raise InputError(f"{form} is a format of question banks, which worksheets and exams are written in alone.")
        if form not in known:
            raise InputError(f"There is no format {form!r}; {offered(form, known)}")
    if not listed:
        raise InputError(f"No format was given; there are {', '.join(known)}.")
    return listed


def banks_apart(forms: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The formats of documents, and those of question banks."""
    banks = tuple(form for form in forms if form in exporters())
    return tuple(form for form in forms if form not in banks), banks


def bank_files(
    title: str, pools: Sequence[Sequence[tuple[str, Question]]], forms: Sequence[str], stem: str, look: Look
) -> Iterator[tuple[str, bytes]]:
    """A bank of the variants of each question in several formats, by the names of the files."""
    if forms:
        bank = make_bank(title, pools, look)
        yield from ((stem + exporters()[form].SUFFIX, exporters()[form].write(bank)) for form in forms)


def check_solutions(asked: Iterable[str]) -> tuple[Solutions, ...]:
    """What is to be written of each worksheet; `InputError` for what there is not."""
    listed = dict.fromkeys(asked)
    if unknown := [name for name in listed if name not in SOLUTIONS] or ([] if listed else ["nothing"]):
        tail = offered(unknown[0], SOLUTIONS, "some of {} were expected")
        raise InputError(f"solutions is {unknown[0]!r}; {tail}")
    return tuple(name for name in SOLUTIONS if name in listed)


def write_sheets(
    made: Iterable[Sheet],
    folder: Path,
    forms: Sequence[str] = DEFAULT_FORMATS,
    *,
    stem: str = "worksheet",
    together: bool = False,
    solutions: Sequence[Solutions] = ("blank", "key"),
    layout: Layout = "matrix",
    conventions: Conventions = "full",
    look: Look = DEFAULT_LOOK,
    overview: bool = False,
    recipe: bool = False,
    on_sheet: Callable[[Sheet], None] = lambda sheet: None,
) -> list[Path]:
    """Write worksheets and keys, each in a file of its own, or `together`: all worksheets in one and all keys in one.

    `solutions` says what of each is written: blank, partly worked, worked, with everything for a marker, or the answers
    alone; `recipe`, that students' sheets have the command that makes them, and the key, in the footer.

    Formats of question banks are one file each, in which all worksheets are one pool.  The frozen set is written beside
    them, and an `overview` of all sheets if it is wanted.  Everything is made in a
    folder beside first, so that an error leaves no file behind.
    """
    forms, banks = banks_apart(check_formats(forms, banks=True))
    if look.fillable and "pdf" not in forms:
        raise InputError("Only PDF has form fields: fillable goes with the format pdf.")
    if look.fillable and together:
        raise InputError("A form is one student's: fillable worksheets are written one by one, and not together.")
    frozen: list[_Frozen] = []
    for_bank: list[tuple[str, Question]] = []

    def documents() -> Iterator[tuple[str, Document]]:
        all_of_them: list[Sheet] = []
        listed: list[tuple[str, Question]] = []
        for number, sheet in enumerate(made, 1):
            if _is_variant(sheet):
                frozen.append(_frozen(sheet))
            for_bank.append((sheet.name, sheet.question))
            if together:
                all_of_them.append(sheet)
            else:
                yield from each(f"{stem}-{number:02}", [sheet])
            if overview:
                listed.append((sheet.name, sheet.question))
            on_sheet(sheet)
        if together:
            yield from each(f"{stem}-all", all_of_them)
        if listed:
            yield f"{stem}-overview", set_overview(listed[0][1].title, listed, sheet.command)

    def each(name: str, sheets: Sequence[Sheet]) -> Iterator[tuple[str, Document]]:
        for asked in solutions if forms else ():
            written = [s.document(asked, layout=layout, conventions=conventions, recipe=recipe) for s in sheets]
            yield name + ("" if asked == "blank" else f"-{asked}"), booklet(written) if together else written[0]

    def files() -> Iterator[tuple[str, bytes]]:
        yield from _rendered(((name, replace(document, look=look)) for name, document in documents()), forms)
        if banks:
            yield from bank_files(for_bank[0][1].title, [for_bank], banks, stem, look)
        if frozen:
            yield f"{stem}.json", _sealed(frozen).encode()

    return _write(files(), folder)


def write_documents(documents: Iterable[tuple[str, Document]], folder: Path, forms: Sequence[str]) -> list[Path]:
    """Write named documents in several formats, all of them or none; `InputError` if the folder cannot be written."""
    return _write(_rendered(documents, forms), folder)


def _rendered(documents: Iterable[tuple[str, Document]], forms: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """The files that documents are written to, by name, and what LaTeX needs beside them."""
    beside = latex.Folder()
    for stem, document in documents:
        shown = presented(document)
        for form in forms:
            suffix, content = written_document(shown, form, beside_macros=True)
            if form == "latex":
                beside.add(stem, content.decode(), group=_NUMBER.sub("-class", stem))
            yield stem + suffix, content
    yield from ((name, text.encode()) for name, text in beside.files())


_NUMBER = re.compile(r"-\d\d+(?=(?:-[a-z]+)?\Z)")  # of a sheet among others, in the name of its file


def _write(files: Iterable[tuple[str, bytes]], folder: Path) -> list[Path]:
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
