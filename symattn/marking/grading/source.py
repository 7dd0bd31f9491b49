"""What is marked against: the questions of a sheet, from an exam, a set of worksheets, a problem or one worksheet.

A worksheet is made again from the recipe in its footer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from symattn.errors import InputError, offered
from symattn.foundation.files import read_text
from symattn.foundation.identity import digest, identity, is_identity, plain_name
from symattn.foundation.languages import ENGLISH, catalogue
from symattn.page.document import Quoted
from symattn.page.notation import load_notation
from symattn.teaching.derivation_question import proved
from symattn.teaching.problem import examples, load_example, read_problem_file
from symattn.teaching.question import FROZEN, Question

if TYPE_CHECKING:  # for exams alone, which most work is not of
    from symattn.marking.grading.roster import Entrant
    from symattn.teaching.exam.frozen_exam import Exam


_EXAM = "this exam"
NOT_ASKED: Mapping[str, object] = {}


@dataclass(frozen=True)
class Paper:
    """What one sheet holds: the variant of each question, by name, and the questions, made when they are wanted."""

    variants: tuple[str, ...]
    make: Callable[[], Sequence[Question]]


@dataclass(frozen=True)
class Papers:
    """All sheets that may be handed in, by the short name printed on them; `hash` is that of everything they hold."""

    title: str
    kind: str
    hash: str
    papers: Mapping[str, Paper]
    entrants: tuple[Entrant, ...] = ()
    made: dict[str, tuple[Question, ...]] = field(default_factory=dict, compare=False, repr=False)

    @property
    def of_exam(self) -> bool:
        """Whether the sheets are an exam's papers, and are called so."""
        return self.kind == _EXAM

    def sheet(self, stated: str) -> str:
        """The name of the sheet that is meant; `InputError` if there is none of this name.

        A sheet need not be named where there is only one.
        """
        word, one = "paper" if self.of_exam else "sheet", next(iter(self.papers))
        if not stated:
            if len(self.papers) > 1:
                raise InputError(
                    f"No {word} is named, and {self.kind} has {len(self.papers)}; it can be named in the file, in TOML "
                    f'as {word} = "{one}", or by the name of the file.'
                )
            return one
        if found := self.called(stated):
            return found
        shown = stated if re.fullmatch(r"[0-9A-Za-z-]{1,20}", stated) else repr(stated[:20])
        if len(self.papers) == 1:
            raise InputError(f"{word.capitalize()} {shown} was answered, and {self.kind} is {word} {one}.")
        typed = "" if is_identity(stated) else ", and its check character does not fit: it was mistyped"
        raise InputError(f"{word.capitalize()} {shown} is not one of {self.kind}'s {len(self.papers)} {word}s{typed}.")

    def called(self, name: str) -> str:
        """The sheet that is called so, with hyphens or without, in capitals or not; "" if there is none."""
        plain = plain_name(name)
        return next((sheet for sheet in self.papers if plain_name(sheet) == plain), "")

    def questions(self, sheet: str) -> tuple[Question, ...]:
        """The questions of a sheet; `InputError` if there is no such sheet."""
        name = self.sheet(sheet)
        if name not in self.made:
            self.made[name] = tuple(self.papers[name].make())
        return self.made[name]

    def some_questions(self) -> tuple[Question, ...]:
        """The questions of the first sheet that can be marked; `InputError`, that of the first, if none can."""
        refused: list[InputError] = []
        for sheet in self.papers:
            try:
                return self.questions(sheet)
            except InputError as error:  # which whoever has that sheet is told
                refused.append(error)
        raise refused[0]


def of_question(question: Question, sheet: str = "") -> Papers:
    """One question as a sheet of its own."""
    name = sheet or identity(question.frozen)
    paper = Paper((name,), lambda: [question])
    return Papers(question.title, "this problem", digest(question.frozen), {name: paper})


def papers(
    source: str | Path,
    *,
    corrected: bool = True,
    notation: str | Path | None = None,
    settings: Mapping[str, object] = NOT_ASKED,
) -> Papers:
    """What a name or a path stands for.

    An exam's folder or its `exam.json`; the `.json` of a set of worksheets; an example or a problem file, worked out
    with the notation and the settings; a key, or a worksheet with its recipe, in Markdown or as a notebook, made again
    from the recipe.
    """
    name, path = str(source), Path(source)
    if name in examples() or name.endswith(".toml"):
        return _problem(name, corrected, notation, settings)

    if stated := [*settings, *(["notation"] if notation else []), *([] if corrected else ["as_written"])]:
        raise InputError(f"{stated[0]} is settled in {name} already; it goes with an example or a problem file.")
    if path.is_dir():
        if not (path / FROZEN).is_file():
            raise InputError(f"The folder {path} has no {FROZEN}, so it is not an exam's folder.")
        return _exam(path / FROZEN)
    match path.suffix.lower():
        case ".json":
            return _frozen(path)
        case ".md" | ".markdown" | ".ipynb":
            return _worksheet(path)
    raise InputError(
        f"{name} is nothing to mark against; "
        + offered(
            name,
            examples(),
            f"an exam's folder or {FROZEN}, the .json of a set of worksheets, an example ({{}}), a problem.toml, or a "
            "key in Markdown or as a notebook was expected",
        )
    )


def language_of(source: str | Path) -> str:
    """The language that an exam is written in; English of anything else, and of what cannot be read."""
    path = Path(source)
    path = path / FROZEN if path.is_dir() else path
    try:
        language = json.loads(path.read_text(encoding="utf-8"))["exam"]["language"]
        catalogue(language)
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return ENGLISH
    return str(language)


def _problem(name: str, corrected: bool, notation: str | Path | None, settings: Mapping[str, object]) -> Papers:
    if name not in examples():
        from symattn.teaching.exam.spec import is_exam

        if is_exam(Path(name)):
            raise InputError(
                f"{name} says how an exam is made; what is marked against is the folder with its {FROZEN}."
            )
    file = load_example(name) if name in examples() else read_problem_file(Path(name))
    chosen = load_notation(notation) if notation else None
    return of_question(proved(file.problem(corrected=corrected, notation=chosen, settings=settings)))


def _frozen(path: Path) -> Papers:
    """An exam or a set of worksheets: both are JSON, and say what they are."""
    text = read_text(path)
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not JSON: {error}.") from error
    if isinstance(data, dict) and "sheets" in data:
        from symattn.teaching.sheets import thaw_sheets

        made = thaw_sheets(text, path)
        known = {name: Paper((name,), lambda name=name: [made[name]]) for name in made}  # type: ignore[misc]
        return Papers(Quoted(path.stem), f"the set {path.name}", digest(data), known)
    return _exam(path)


def _exam(path: Path) -> Papers:
    from symattn.marking.grading.roster import Entrant
    from symattn.teaching.exam.frozen_exam import copies, thawed

    exam, hash = thawed(read_text(path), path)
    known = {name: _paper(exam, number) for number, name in enumerate(exam.ids)}
    given_out = zip(exam.spec.students, copies(exam), strict=True) if exam.spec.students else ()
    entrants = tuple(
        Entrant(number, student.name, student.id, copy.sheet, Path(stem).name, student.seat, student.listed)
        for number, (student, (stem, copy)) in enumerate(given_out, 1)
    )
    return Papers(Quoted(exam.spec.title), _EXAM, hash, known, entrants)


def _paper(exam: Exam, number: int) -> Paper:
    variants = tuple(exam.pools[q][v].id for q, v in enumerate(exam.papers[number]))
    return Paper(variants, lambda: exam.questions(number))


def _worksheet(path: Path) -> Papers:
    """A worksheet or key of which the recipe is at hand: made again, and the same as the one that was printed."""
    from symattn.teaching.recipe import read_recipe
    from symattn.teaching.sheets import sheets

    command, named = _noted_in_notebook(path) if path.suffix.lower() == ".ipynb" else _noted_in_markdown(path)
    if not command:
        raise InputError(
            f"{path} has no recipe to make its key from: it is marked against the .json that was written with its set "
            f"(symattn check SET.json {path.name}), an exam's paper against the exam's folder, or else by the teacher."
        )
    recipe, number = read_recipe(command)
    sheet = next(islice(sheets(recipe, number), number - 1, None))
    if named and plain_name(named) != plain_name(sheet.name):
        raise InputError(
            f"{path} is sheet {named}, and its recipe gives {sheet.name}: "
            "it was made by another version of symattn, or was changed; its set's .json marks it whatever the version."
        )
    return of_question(sheet.question, sheet.name)


_PRINTED = re.compile(r"`(symattn worksheet [^`\n]*)`")


def _noted_in_markdown(path: Path) -> tuple[str, str]:
    """The recipe and the identity at the head of a worksheet, the recipe also from its foot; "" for what is lost."""
    text = read_text(path)
    stated = re.search(r'^recipe: (".*")$', text, re.MULTILINE)
    printed = _PRINTED.search(text)
    try:
        command = json.loads(stated[1]) if stated else printed[1] if printed else ""
    except ValueError as error:
        raise InputError(f"The recipe of {path} cannot be read: {error}.") from error
    named = re.search(r'^sheet: "?([0-9A-Za-z-]{4,12})"?$', text, re.MULTILINE)
    return command, named[1] if named else ""


def _noted_in_notebook(path: Path) -> tuple[str, str]:
    """The same of a notebook."""
    from symattn.marking.submissions.notebook import notebook

    try:
        page = notebook(read_text(path)).page
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    printed = _PRINTED.search("\n".join(page.lines))
    return page.head.get("recipe", printed[1] if printed else ""), page.head.get("sheet", "")
