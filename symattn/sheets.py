"""Worksheets with their keys: drawn from a seed, checked by a second route, written whole or not at all."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from symattn.document import Document
from symattn.errors import InputError
from symattn.exact import Matrix, Outline, Size
from symattn.explanation import Detail, key_document, worksheet_document
from symattn.explanation.documents import booklet
from symattn.fairness import draw, self_check
from symattn.mechanisms import Settings, mechanism
from symattn.notation import Notation, load_notation
from symattn.problem import Problem
from symattn.problems import problem_type
from symattn.writers import FORMATS

DEFAULT_SIZES: Mapping[str, int] = {"n": 3, "m": 3, "d_model": 5, "d_k": 4, "d_v": 2}
"""All different but for n and m, and d_k a square: then wrong ways give other answers than the right one."""

DEFAULT_SETTINGS = Settings()

DEFAULT_FORMATS = ("latex", "markdown", "pdf")
MOST_REDRAWS = 1000
_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # without I, L, O, U: read aloud without mistakes


@dataclass(frozen=True)
class Recipe:
    """Everything a set of worksheets is made from: the same recipe gives the same bytes."""

    mechanism: str = "self_attention"
    problem: str = "full"
    settings: Settings = DEFAULT_SETTINGS
    sizes: Mapping[str, Size] | None = None
    notation: str = "standard"
    seed: int = 1
    exact: bool = True
    places: int = 4

    def command(self) -> str:
        """The command that makes the same again; it stands in every footer."""
        return " ".join(["symattn worksheet", self.mechanism, *self._options(), f"--seed {self.seed}"])

    def _options(self) -> Iterator[str]:
        defaults = {**Settings.__dataclass_fields__}
        preset = {**mechanism(self.mechanism).defaults, **load_notation(self.notation).settings}
        for name in ("scale", "mask", "mask_style", "base", "orientation", "scores", "activation", "order", "stop_at"):
            value = getattr(self.settings, name)
            if value != preset.get(name, defaults[name].default):
                rows: Any = value.rows if isinstance(value, Matrix) else value
                listed = isinstance(rows, list | tuple)
                text = json.dumps([[int(x) for x in row] for row in rows]) if listed else str(value)
                yield f"--{name.replace('_', '-')} {_shell(text)}"
        if self.settings.by != preset.get("by", "matrix"):
            yield f"--by-{self.settings.by}"
        if rounding := self.settings.rounding:
            ties = f":{rounding.ties}" if rounding.ties != "even" else ""
            yield f"--round {rounding.places}:{rounding.method}{ties}"
        if self.problem != "full":
            yield f"--problem {self.problem}"
        if self.sizes:
            yield "--size " + ",".join(f"{name}={size}" for name, size in self.sizes.items())
        if self.notation != "standard":
            yield f"--notation {_shell(self.notation)}"
        if not self.exact:
            yield "--decimal"
        if self.places != 4:
            yield f"--places {self.places}"


@dataclass(frozen=True)
class Sheet:
    """One problem, as a worksheet and as an answer key."""

    problem: Problem
    worksheet: Document
    key: Document

    def _repr_markdown_(self) -> str:
        return FORMATS["markdown"].write(self.worksheet)


def sheets(recipe: Recipe, count: int) -> Iterator[Sheet]:
    """`count` different worksheets with their keys; the first ones are the same however many are asked for.

    Every key has been recomputed by a second route (`SelfCheckError` otherwise).
    """
    notation = load_notation(recipe.notation)
    seen: set[str] = set()
    for number in range(1, count + 1):
        for attempt in range(MOST_REDRAWS):
            problem = variant(recipe, notation, number, attempt)
            if problem.sheet not in seen:
                break
        else:
            raise InputError(
                f"After {number - 1} different worksheets {MOST_REDRAWS} more draws gave nothing new: "
                "ask for fewer, or for larger sizes."
            )
        seen.add(problem.sheet)
        yield make_sheet(problem, Detail(places=recipe.places))


def make_sheet(problem: Problem, detail: Detail | None = None) -> Sheet:
    """A problem's worksheet and key, the key checked first."""
    self_check(problem.derivation)
    if not problem.sheet:
        problem = replace(problem, sheet=sheet_id(problem))
    return Sheet(problem, worksheet_document(problem), key_document(problem, detail))


def variant(recipe: Recipe, notation: Notation, number: int, attempt: int = 0) -> Problem:
    """One random variant of a recipe."""
    chosen = mechanism(recipe.mechanism)
    letters = {s for shape in chosen.givens.values() for s in shape}
    sizes = {name: size for name, size in {**DEFAULT_SIZES, **(recipe.sizes or {})}.items() if name in letters}
    command = recipe.command()
    drawn = draw(chosen, recipe.settings, sizes, f"{command} #{number}.{attempt}")
    derivation = chosen.run(drawn.givens, recipe.settings)
    problem = Problem(
        title=chosen.title,
        mechanism=chosen.name,
        derivation=derivation,
        notation=notation,
        exact=recipe.exact,
        places=recipe.places,
        recipe=f"{command} (sheet {number})",
    )
    return problem_type(recipe.problem).ask(replace(problem, sheet=sheet_id(problem)))


def sheet_id(problem: Problem) -> str:
    """A short name for what is asked, from the content alone: equal problems have equal ones."""
    content = [problem.mechanism, problem.notation.name, problem.exact, problem.places]
    content += [[name, _content(m)] for name, m in problem.derivation.givens.items()]
    content += [[s.name, repr(s.op)] for s in problem.derivation]
    digest = int.from_bytes(hashlib.sha256(json.dumps(content).encode()).digest()[:5], "big")
    letters = "".join(_ALPHABET[(digest >> shift) & 31] for shift in range(35, -1, -5))
    return f"{letters[:4]}-{letters[4:]}"


def _content(matrix: Matrix | Outline) -> object:
    if isinstance(matrix, Outline):
        return matrix.shape
    return [[str(x) for x in row] for row in matrix.rows]


def _shell(text: str) -> str:
    plain = all(c.isalnum() or c in "_-.:/," for c in text)
    return text if text and plain else "'" + text.replace("'", "'\\''") + "'"


# ------------------------------------------------------------------------------------------------ files


def render(document: Document, form: str) -> tuple[str, bytes]:
    """A document in one format: the ending of its file, and its bytes."""
    if form == "pdf":
        from symattn.writers.pdf import write_pdf

        return ".pdf", write_pdf(document)
    if form == "latex-pdf":
        from symattn.writers.pdf import latex_pdf

        return ".tex.pdf", latex_pdf(FORMATS["latex"].write(document))[0]
    writer = FORMATS[form]
    return writer.SUFFIX, writer.write(document).encode()


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
