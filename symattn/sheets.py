"""Worksheets with their keys: drawn from a seed, checked by a second route, written whole or not at all."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from symattn.document import Document
from symattn.errors import InputError
from symattn.exact import Matrix, Outline
from symattn.explanation import Detail, booklet, key_document, worksheet_document
from symattn.fairness import self_check
from symattn.fairness.dice import Dice
from symattn.identity import identity
from symattn.mechanisms import Settings, mechanism
from symattn.notation import load_notation
from symattn.pool import pool
from symattn.problem import Problem
from symattn.problems import Spec
from symattn.problems.full import question as full_question
from symattn.question import Json, Question
from symattn.writers import FORMATS

DEFAULT_FORMATS = ("latex", "markdown", "pdf")


@dataclass(frozen=True)
class Recipe:
    """Everything a set of worksheets is made from: the same recipe gives the same bytes."""

    spec: Spec
    seed: int = 1

    def command(self) -> str:
        """The command that makes the same again; it stands in every footer."""
        return " ".join(["symattn worksheet", self.spec.mechanism, *self._options(), f"--seed {self.seed}"])

    def _options(self) -> Iterator[str]:
        spec, settings = self.spec, self.spec.chosen_settings()
        defaults = {**Settings.__dataclass_fields__}
        preset = {**mechanism(spec.mechanism).defaults, **load_notation(spec.notation).settings}
        if spec.softmax.startswith("base"):
            preset["base"] = settings.base
        for name in ("scale", "mask", "mask_style", "base", "orientation", "scores", "activation", "order", "stop_at"):
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


@dataclass(frozen=True)
class Sheet:
    """One question, as a worksheet and as an answer key."""

    question: Question
    worksheet: Document
    key: Document

    @property
    def problem(self) -> Problem:
        """The derivation that is asked for; `InputError` where there is none behind the question."""
        if self.question.problem is None:
            raise InputError(f"Questions of the type {self.question.type} have no derivation behind them.")
        return self.question.problem

    @property
    def name(self) -> str:
        """The short identity that stands on every page."""
        return self.worksheet.sheet

    def _repr_markdown_(self) -> str:
        return FORMATS["markdown"].write(self.worksheet)


def sheets(recipe: Recipe, count: int) -> Iterator[Sheet]:
    """`count` different worksheets with their keys; the first ones are the same however many are asked for.

    Every key has been recomputed by a second route (`SelfCheckError` otherwise).
    """
    command = recipe.command()
    for number, question in enumerate(islice(pool(recipe.spec, Dice.seeded(recipe.seed)), count), 1):
        yield _sheet(question, f"{command} (sheet {number})")


def _sheet(question: Question, recipe: str = "") -> Sheet:
    name = identity(question.content)
    return Sheet(question, worksheet_document(question, name, recipe), key_document(question, name, recipe))


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
    return _sheet(full_question(problem, content, detail=detail))


def _content(matrix: Matrix | Outline) -> Json:
    if isinstance(matrix, Outline):
        return [str(size) for size in matrix.shape]
    return [[str(x) for x in row] for row in matrix.rows]


def _shell(text: str) -> str:
    plain = all(c.isalnum() or c in "_-.:/,=" for c in text)
    return text if text and plain else "'" + text.replace("'", "'\\''") + "'"


# ------------------------------------------------------------------------------------------------ files


def suffix(form: str) -> str:
    """The ending of a file in one format."""
    return {"pdf": ".pdf", "latex-pdf": ".tex.pdf"}.get(form) or FORMATS[form].SUFFIX


def render(document: Document, form: str) -> tuple[str, bytes]:
    """A document in one format: the ending of its file, and its bytes."""
    if form == "pdf":
        from symattn.writers.pdf import write_pdf

        return suffix(form), write_pdf(document)
    if form == "latex-pdf":
        from symattn.writers.pdf import latex_pdf

        return suffix(form), latex_pdf(FORMATS["latex"].write(document))[0]
    return suffix(form), FORMATS[form].write(document).encode()


def formats() -> tuple[str, ...]:
    """Every format that a document can be written in."""
    return (*sorted(FORMATS), "pdf", "latex-pdf")


def check_formats(asked: Iterable[str]) -> tuple[str, ...]:
    listed = tuple(dict.fromkeys(asked))
    for form in listed:
        if form not in formats():
            raise InputError(f"There is no format {form!r}; there are {', '.join(formats())}.")
    if not listed:
        raise InputError(f"No format was asked for; there are {', '.join(formats())}.")
    return listed


def write_sheets(
    made: Iterable[Sheet],
    folder: Path,
    forms: Sequence[str] = DEFAULT_FORMATS,
    *,
    stem: str = "worksheet",
    together: bool = False,
    on_sheet: Callable[[Sheet], None] = lambda sheet: None,
) -> list[Path]:
    """Write worksheets and keys, each in a file of its own, or `together`: all worksheets in one and all keys in one.

    Everything is made in a folder beside first, so that an error leaves no file behind.
    """
    forms = check_formats(forms)

    def documents() -> Iterator[tuple[str, Document]]:
        all_of_them: list[Sheet] = []
        for number, sheet in enumerate(made, 1):
            if together:
                all_of_them.append(sheet)
            else:
                yield f"{stem}-{number:02}", sheet.worksheet
                yield f"{stem}-{number:02}-key", sheet.key
            on_sheet(sheet)
        if together:
            yield f"{stem}-all", booklet([s.worksheet for s in all_of_them])
            yield f"{stem}-all-key", booklet([s.key for s in all_of_them])

    return write_documents(documents(), folder, forms)


def write_documents(documents: Iterable[tuple[str, Document]], folder: Path, forms: Sequence[str]) -> list[Path]:
    """Write named documents in several formats, all of them or none; `InputError` if the folder can't be written."""
    written: list[Path] = []
    new = [f for f in (folder, *folder.parents) if not f.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=".symattn-", dir=folder))
    except OSError as error:
        raise InputError(f"Nothing can be written to the folder {folder}: {error.strerror}.") from error
    try:
        for stem, document in documents:
            for form in forms:
                suffix, content = render(document, form)
                (staging / (stem + suffix)).write_bytes(content)
                written.append(folder / (stem + suffix))
        for path in written:
            (staging / path.name).replace(path)
    except OSError as error:
        raise InputError(f"Writing to the folder {folder} failed: {error.strerror}.") from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)
        for made in new:  # a folder that was made for nothing goes again
            if not any(made.iterdir()):
                made.rmdir()
    return written
