"""Worksheets with their keys: drawn from a seed, checked by a second route, written whole or not at all.

Beside a set of worksheets stands its frozen form, `<stem>.json`, from which the same questions are marked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, get_args

from symattn.errors import InputError, offered
from symattn.foundation.crew import Crew
from symattn.foundation.dice import Dice
from symattn.foundation.identity import digest, identity
from symattn.foundation.installed import VERSION
from symattn.foundation.languages import speaking
from symattn.foundation.typed import Absent, Place, plain, read
from symattn.foundation.workers import Job
from symattn.page.document import DEFAULT_LOOK, EVERYTHING, Besides, Document, Look, Solutions
from symattn.page.presentation import choices_of, presented
from symattn.page.writers import FORMATS, page
from symattn.page.writers.page import typesetting
from symattn.teaching.derivation_question import proved
from symattn.teaching.explanation import Conventions, Layout
from symattn.teaching.explanation.documents import Pages, booklet, set_overview
from symattn.teaching.explanation.steps import Detail
from symattn.teaching.frozen import FORMAT, FrozenPart, as_frozen, freeze_parts, refused, sealed, unsealed
from symattn.teaching.pool import Tally, chosen_contents, pool, prove
from symattn.teaching.problem import Problem
from symattn.teaching.problems import problem_type
from symattn.teaching.question import Content, Question
from symattn.teaching.recipe import Recipe, option
from symattn.teaching.rendering import (
    DEFAULT_FORMATS,
    THROUGH_PDF,
    check_formats,
    read_besides,
    shown,
    with_macros,
    write_files,
    written_document,
)

SOLUTIONS: tuple[Solutions, ...] = get_args(Solutions)
FOR_STUDENTS: tuple[Solutions, ...] = ("blank", "partly")


# ------------------------------------------------------------------------------------------------ sheets


@dataclass(frozen=True)
class Sheet:
    """One question on paper: as a worksheet, and with its answers.

    `name` is the short identity that stands on every page; `command` makes the set again that it is from, if any, in
    which it has the number `number`; `ask` are the parts that were chosen, if not all are asked.
    """

    question: Question
    name: str
    command: str = ""
    number: int = 0
    ask: tuple[str, ...] = ()

    def document(
        self,
        solutions: Solutions = "blank",
        *,
        layout: Layout = "matrix",
        conventions: Conventions = "full",
        recipe: bool = False,
    ) -> Document:
        """The question blank, partly worked, worked, or as a key for markers.

        The recipe gives the key away: on a student's sheet it is printed only if it is wanted.
        """
        return self._of(Pages(self.question, layout, conventions), solutions, recipe=recipe)

    def _of(
        self,
        pages: Pages,
        solutions: Solutions,
        *,
        recipe: bool = False,
        besides: frozenset[Besides] = EVERYTHING,
        how: str = "",
    ) -> Document:
        """One of its documents from pages of its question, for formats that read so much `besides` what is shown.

        `how` are the options of pages, which go into the command that makes it again.
        """
        document = pages.document(solutions, self.name, self.own_command and self.own_command + how, besides)
        return replace(document, recipe_printed=recipe or solutions not in FOR_STUDENTS)

    @property
    def own_command(self) -> str:
        """The command that makes this sheet: of a set that is as long, the last."""
        return f"{self.command} -n {self.number}" if self.number > 1 else self.command

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


def sheets(recipe: Recipe, count: int, crew: Crew | None = None, tally: Tally | None = None) -> Iterator[Sheet]:
    """`count` different worksheets with their keys; the first ones are the same however many are asked for.

    Every key has been recomputed by a second route (`SelfCheckError` otherwise).  A crew draws and proves them; the
    tally tells how they came about.
    """
    if crew is not None and not crew.alone:
        settings = {"how": _said(Setting()), "typesetting": page.chosen(), "files": False}
        jobs = ((one, asdict(one)) for one in to_set(recipe, count, crew, tally))
        yield from (one.sheet(proved=True) for one, _ in crew.in_order(SETTING, settings, jobs))
        return
    command = recipe.command()
    for number, question in enumerate(islice(pool(recipe.spec, Dice.seeded(recipe.seed), tally), count), 1):
        yield chosen_sheet(question, command, number, recipe.ask, recipe.marks)


def chosen_sheet(
    question: Question, command: str, number: int, ask: tuple[str, ...], marks: Mapping[str, int]
) -> Sheet:
    """The sheet of a question that was drawn, with those of its parts, and those marks, that are wanted."""
    chosen = {name: plain(value) for name, value in (("ask", ask), ("marks", marks)) if value}
    asked = question.asking(ask)
    return Sheet(
        asked.worth(None, marks) if marks else asked, identity({**question.frozen, **chosen}), command, number, ask
    )


@dataclass(frozen=True)
class ToSet:
    """A variant that was chosen and is not yet worked out: enough to make the sheet, anywhere."""

    type: str
    content: Content
    command: str
    number: int
    ask: tuple[str, ...] = ()
    marks: Mapping[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"sheet {self.number}"

    def sheet(self, proved: bool = False) -> Sheet:
        """The sheet; its key is recomputed by a second route unless it was `proved` already."""
        chosen = problem_type(self.type)
        question = chosen.make(self.content)
        if not proved:
            prove(question, chosen)
        return chosen_sheet(question, self.command, self.number, tuple(self.ask), self.marks)


def to_set(recipe: Recipe, count: int, crew: Crew, tally: Tally | None = None) -> Iterator[ToSet]:
    """The same worksheets as `sheets` makes, drawn by a crew, to be made and proved by one."""
    command = recipe.command()
    for number, content in enumerate(chosen_contents(recipe.spec, Dice.seeded(recipe.seed), count, tally), 1):
        yield ToSet(recipe.spec.type, content, command, number, recipe.ask, recipe.marks)


def make_sheet(problem: Problem, detail: Detail | None = None) -> Sheet:
    """Any problem as a worksheet of the full derivation, the key checked first."""
    question = proved(problem, detail)
    return Sheet(question, identity(question.frozen))


# ------------------------------------------------------------------------------------------------ freezing


@dataclass(frozen=True)
class _Frozen:
    """A sheet; `ask` are the parts that were chosen, `hash` is what format 1 has instead of parts."""

    id: str
    content: Content
    parts: tuple[FrozenPart, ...] = ()
    hash: str = ""
    ask: tuple[str, ...] = ()
    command: Annotated[str, Absent()] = ""


def _is_variant(sheet: Sheet) -> bool:
    return "type" in sheet.question.frozen


def _frozen(sheet: Sheet) -> _Frozen:
    return _Frozen(
        sheet.name, sheet.question.frozen, freeze_parts(sheet.question), ask=sheet.ask, command=sheet.command
    )


def _sealed(sheets: Sequence[_Frozen]) -> str:
    return sealed(
        {
            "format": FORMAT,
            "software": f"symattn {VERSION}",
            "recipe": "; ".join(dict.fromkeys(s.command for s in sheets if s.command)),
            "sheets": [plain(sheet) for sheet in sheets],
        }
    )


def thaw_sheets(text: str, where: str | Path) -> Mapping[str, Question]:
    """The questions of a frozen set by the id on their sheets, each made when it is first asked for.

    They are marked as they were frozen, whatever this version asks and gives otherwise.  `InputError` if `text` (read
    from `where`) is no such set or was changed, or, when a question is made, if its key would be another one.
    """
    data = unsealed(text, where, "a frozen set of worksheets", "sheets")
    place = Place(str(where)).at("sheets")
    frozen = read(tuple[_Frozen, ...], data["sheets"], place)
    key = "hash" if data.get("format") == 1 else "parts"
    for number, sheet in enumerate(frozen, 1):
        if not getattr(sheet, key):
            raise place.at(number).lacks(key, "what marking goes by")
    return ThawedSheets(frozen, str(where), data.get("software", "symattn"))


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
            with Place(f"{self._where}, sheet {id}").here():
                question = chosen.make(frozen.content).asking(frozen.ask)
            where = f"Sheet {id} of {self._where}"
            if frozen.parts:
                question = as_frozen(question, frozen.parts, where, self._software)
            elif digest([frozen.content, list(question.entries())]) != frozen.hash:
                raise refused(where, "its file has a hash of the answers, and that is another one now", self._software)
            self._made[id] = question
        return self._made[id]

    def __contains__(self, id: object) -> bool:  # the mixin's would make the question
        return id in self._sheets

    def __iter__(self) -> Iterator[str]:
        return iter(self._sheets)

    def __len__(self) -> int:
        return len(self._sheets)


# ------------------------------------------------------------------------------------------------ writing


def banks_apart(forms: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The formats of documents, and those of question banks."""
    banks = tuple(form for form in forms if form not in THROUGH_PDF and form not in FORMATS)
    return tuple(form for form in forms if form not in banks), banks


def bank_files(
    title: str, pools: Sequence[Sequence[tuple[str, Question]]], forms: Sequence[str], stem: str, look: Look
) -> Iterator[tuple[str, bytes]]:
    """A bank of the variants of each question in several formats, by the names of the files."""
    from symattn.teaching.bank.items import make_bank
    from symattn.teaching.exporters import EXPORTERS, wants

    banks = {wanted: make_bank(title, pools, look, wanted) for wanted in dict.fromkeys(map(wants, forms))}
    for form in forms:
        with speaking(look.language):
            content = EXPORTERS[form].write(banks[wants(form)])
        yield stem + EXPORTERS[form].SUFFIX, content


def check_solutions(asked: Iterable[str]) -> tuple[Solutions, ...]:
    """What is to be written of each worksheet; `InputError` for what there is not."""
    listed = dict.fromkeys(asked)
    if unknown := [name for name in listed if name not in SOLUTIONS] or ([] if listed else ["nothing"]):
        tail = offered(unknown[0], SOLUTIONS, "some of {} were expected")
        raise InputError(f"solutions is {unknown[0]!r}; {tail}")
    return tuple(name for name in SOLUTIONS if name in listed)


@dataclass(frozen=True)
class Setting:
    """How worksheets are written: in which formats, what of each (`Solutions`), how it is laid out, and how it looks.

    `stem` is what files are called; with `recipe`, students' sheets have the command that makes them, and the key, in
    the footer.  `banks` are the formats that are question banks, and not pages.  `InputError` for formats that there
    are not.
    """

    forms: Sequence[str] = DEFAULT_FORMATS
    stem: str = "worksheet"
    solutions: Sequence[Solutions] = ("blank", "key")
    layout: Layout = "matrix"
    conventions: Conventions = "full"
    look: Look = DEFAULT_LOOK
    recipe: bool = False
    banks: Sequence[str] = ()

    def __post_init__(self) -> None:
        forms, banks = banks_apart(check_formats((*self.forms, *self.banks), banks=True))
        object.__setattr__(self, "forms", forms)
        object.__setattr__(self, "banks", banks)
        if self.look.fillable and "pdf" not in self.forms:
            raise InputError("Only PDF has form fields: fillable goes with the format pdf.")

    @property
    def options(self) -> str:
        """The options of the command line by which pages come out like this, each after a space."""
        chosen = {name: getattr(self, name) for name in ("layout", "conventions")}
        chosen = {name: value for name, value in chosen.items() if value != getattr(Setting, name)}  # by default
        if (wanted := page.latex_class()) != page.ARTICLE:
            chosen["latex-class"] = wanted
        chosen |= choices_of(self.look) | ({"recipe": True} if self.recipe else {})
        return "".join(f" {option(name, value)}" for name, value in chosen.items())

    def documents(self, name: str, sheets: Sequence[Sheet], together: bool = False) -> Iterator[tuple[str, Document]]:
        """What is written of some sheets, by the name of the file without its ending."""
        pages = [(sheet, Pages(sheet.question, self.layout, self.conventions)) for sheet in sheets]
        besides = read_besides(self.forms)
        for asked in self.solutions if self.forms else ():
            shown = [(sheet, shared) for sheet, shared in pages if self._has(sheet, asked)]
            written = [
                sheet._of(shared, asked, recipe=self.recipe, besides=besides, how=self.options)
                for sheet, shared in shown
            ]
            if written:
                yield name + ("" if asked == "blank" else f"-{asked}"), booklet(written) if together else written[0]

    def _has(self, sheet: Sheet, asked: Solutions) -> bool:
        """Whether there is such a document; a diagnosis that alone is asked for is refused where there is none."""
        return asked != "diagnosis" or len(self.solutions) == 1 or bool(sheet.question.diagnosis)

    def remarks(self, recipe: Recipe, written: Iterable[Path], questions: Iterable[Question]) -> Iterator[str]:
        """What banks of other systems cannot do, and what was asked for and is not there: a sentence each."""
        if self.banks:
            from symattn.teaching.exporters import not_carried

            yield from not_carried(self.banks, questions)
        if "diagnosis" in self.solutions and self.forms and not any("-diagnosis" in path.name for path in written):
            yield f"Questions of the type {recipe.spec.type} have no common wrong answers, so no diagnosis was written."

    def files(self, documents: Iterable[tuple[str, Document]]) -> Iterator[tuple[str, str, bytes]]:
        """Stem, format and content of every file that documents are written to."""
        for stem, document in documents:
            shown = presented(replace(document, look=self.look))
            for form in self.forms:
                yield stem, form, written_document(shown, form, beside_macros=True)[1]


def setting(settings: Any) -> Job:
    """The job of making a sheet (`ToSet`), proving its key, and writing it: frozen, and file by file."""
    how = Setting(**{**settings["how"], "look": Look(**settings["how"]["look"])})

    def job(asked: Any) -> Any:
        sheet = ToSet(**asked).sheet()
        with typesetting(**settings["typesetting"]):
            files = (
                list(how.files(how.documents(numbered(how.stem, sheet.number), [sheet]))) if settings["files"] else []
            )
        return {"frozen": plain(_frozen(sheet)), "files": files}

    return job


SETTING = f"{__name__}:setting"


def _said(how: Setting) -> dict[str, Any]:
    """A way of writing as JSON."""
    return {**asdict(how), "forms": list(how.forms), "banks": list(how.banks), "solutions": list(how.solutions)}


def numbered(stem: str, number: int) -> str:
    return f"{stem}-{number:02}"


def write_set(
    recipe: Recipe,
    count: int,
    folder: Path,
    how: Setting,
    crew: Crew,
    *,
    together: bool = False,
    overview: bool = False,
    on_sheet: Callable[[object], None] = lambda sheet: None,
    keep: Callable[[Sheet], None] | None = None,
    tally: Tally | None = None,
) -> list[Path]:
    """`write_sheets` of `count` new worksheets, which a crew draws, proves and writes: the same bytes in any crew.

    To `keep` the worksheets, they are made here as well.
    """
    if crew.alone:

        def told(sheet: Sheet) -> None:
            if keep:
                keep(sheet)
            on_sheet(sheet)

        made = sheets(recipe, count, tally=tally)
        return write_sheets(made, folder, how, together=together, overview=overview, on_sheet=told)
    settings = {
        "how": _said(how),
        "typesetting": page.chosen(),
        "templates": page.own_templates(),
        "files": not together,
    }

    def written() -> Iterator[_Written]:
        jobs = ((one, asdict(one)) for one in to_set(recipe, count, crew, tally))
        for one, done in crew.in_order(SETTING, settings, jobs):
            make: Callable[[], Sheet] = partial(one.sheet, proved=True)
            if keep:
                keep(sheet := make())
                make = _made(sheet)
            yield replace(read(_Frozen, done["frozen"], str(one)), command=one.command), make, done["files"]
            on_sheet(one)

    return _write_set(written(), folder, how, together, overview)


def write_sheets(
    made: Iterable[Sheet],
    folder: Path,
    how: Setting,
    *,
    together: bool = False,
    overview: bool = False,
    on_sheet: Callable[[Sheet], None] = lambda sheet: None,
) -> list[Path]:
    """Write worksheets and keys, each in a file of its own, or `together`: all worksheets in one and all keys in one.

    Formats of question banks are one file each, in which all worksheets are one pool.  The frozen set is written beside
    them, and an `overview` of all sheets if it is wanted.  Everything is made in a folder beside first, so that an
    error leaves no file behind.
    """

    def written() -> Iterator[_Written]:
        for number, sheet in enumerate(made, 1):
            documents = how.documents(numbered(how.stem, number), [] if together else [sheet])
            yield _frozen(sheet) if _is_variant(sheet) else None, _made(sheet), how.files(documents)
            on_sheet(sheet)

    return _write_set(written(), folder, how, together, overview)


def _of_all(how: Setting, kept: Sequence[Sheet], together: bool, overview: bool) -> Iterator[tuple[str, Document]]:
    """What is one document for all sheets."""
    if together:
        yield from how.documents(f"{how.stem}-all", kept, together=True)
    if overview and kept:
        listed = [(sheet.name, sheet.question) for sheet in kept]
        yield (
            f"{how.stem}-overview",
            set_overview(kept[0].question.title, listed, f"{kept[-1].own_command}{how.options} --overview"),
        )


_Written = tuple[_Frozen | None, Callable[[], Sheet], Iterable[tuple[str, str, bytes]]]
"""What is frozen of a sheet, what makes it where it is wanted again, and its files."""


def _made(sheet: Sheet) -> Callable[[], Sheet]:
    return lambda: sheet


def _write_set(written: Iterable[_Written], folder: Path, how: Setting, together: bool, overview: bool) -> list[Path]:
    if how.look.fillable and together:
        raise InputError("A form is one student's: fillable worksheets are written one by one, and not together.")
    frozen: list[_Frozen] = []
    kept: list[Sheet] = []

    def files() -> Iterator[tuple[str, str, bytes]]:
        for variant, make, own in written:
            frozen.extend([variant] if variant else [])
            kept.extend([make()] if together or overview or how.banks else [])
            yield from own
        yield from how.files(_of_all(how, kept, together, overview))

    def with_frozen() -> Iterator[tuple[str, bytes]]:
        yield from with_macros(files())
        if how.banks and kept:
            pool = [(sheet.name, sheet.question) for sheet in kept]
            yield from bank_files(kept[0].question.title, [pool], how.banks, how.stem, how.look)
        if frozen:
            yield f"{how.stem}.json", _sealed(frozen).encode()

    return write_files(with_frozen(), folder)
