"""What an exam file says: the paper's head, what the paper holds besides questions, the class, and the questions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from symattn.derivation.mechanisms import Settings
from symattn.errors import InputError
from symattn.foundation.files import read_toml
from symattn.foundation.typed import Between, Key, Place, Rest, keys, read
from symattn.page.document import DEFAULT_LOOK, Look
from symattn.page.masthead import NONE, Masthead, read_masthead
from symattn.page.notation import kept_notation
from symattn.page.presentation import make_look
from symattn.teaching.description import refuse_idle
from symattn.teaching.exam.students import Student, read_class
from symattn.teaching.explanation import Layout
from symattn.teaching.problems import Spec, problem_type
from symattn.teaching.problems.base import Shared
from symattn.teaching.question import Json

FEWEST_VARIANTS = 10


@dataclass(frozen=True)
class QuestionSpec:
    """One question of an exam: what is asked for, for how many points (none: as many as its own marks)."""

    spec: Spec
    points: int | None = None
    title: str = ""
    text: str = ""


@dataclass(frozen=True)
class Head:
    """What an exam file says of the paper.  Field by field, what stands at its top.

    institution, course, date, time, aids    the head of the paper; aids are what may be used
    instructions     sentences besides the ready ones
    variants         how many papers are made; without it 10, or a quarter of the class if that is more
    seats_per_row    how students sit, in the order of the list, where the list names no seats
    formula_sheet    none, short (the formula of attention), full (every step's)
    exponentials     a table of e^k on the paper
    data_sheet       the given matrices once more on a last page that may be torn off
    new_page         every question begins on a new page
    blank_pages      pages for rough work at the end
    layout           of products: matrix, falk, or columns (the step at the left, its working at the right); or flow
                     (attention in one picture)
    conventions      the box of what holds for all questions: full, or bare
    id_boxes         boxes for the student's number
    common_answers   the file of common wrong answers
    separators       a sheet before each paper in the PDF of all papers: its id, and whose it is
    header           a file of LaTeX, beside the exam file, that stands above the title of papers and keys in LaTeX
    logo             a picture (SVG, PNG, JPEG, PDF) beside the exam file, for the head of papers and keys in PDF
    """

    title: str = ""
    institution: str = ""
    course: str = ""
    date: str = ""
    time: str = ""
    aids: str = ""
    instructions: tuple[str, ...] = ()
    variants: Annotated[int, Between(1, 500)] = FEWEST_VARIANTS
    seats_per_row: Annotated[int, Between(0, 1000)] = 0
    formula_sheet: Literal["none", "short", "full"] = "none"
    exponentials: bool = False
    data_sheet: bool = False
    new_page: bool = True
    blank_pages: Annotated[int, Between(0, 20)] = 0
    layout: Layout = "matrix"
    conventions: Literal["full", "bare"] = "full"
    id_boxes: Annotated[int, Between(0, 16)] = 8
    common_answers: bool = True
    separators: bool = False
    header: str = ""
    logo: str = ""


@dataclass(frozen=True)
class Appearance:
    """What an exam file says of how its pages look."""

    text_size: Literal[11, 18, 24] = 11
    paper: Literal["a4", "letter"] = "a4"
    spacing: Literal["roomy", "compact"] = "roomy"
    decimal_sign: Literal["point", "comma"] = "point"
    brackets: Literal["square", "round"] = "square"
    transpose: Literal["⊤", "T", "′", "'"] = "⊤"
    language: str = "en"
    fillable: bool = False


@dataclass(frozen=True)
class ExamFile(Head):
    """An exam file: its head, how its pages look, what all questions share, the class and the questions.

    The class is a CSV file of students, beside the exam file: name, id, and perhaps seat, text size.
    """

    appearance: Annotated[Mapping[str, Any], Rest(Appearance)] = field(default_factory=dict)
    shared: Annotated[Mapping[str, Any], Rest(Shared)] = field(default_factory=dict)
    class_list: Annotated[str, Key("class")] = ""
    questions: Annotated[tuple[Mapping[str, Any], ...], Key("question")] = ()


@dataclass(frozen=True)
class QuestionTable:
    """A question in an exam file: the fields of a `Spec` and the settings side by side; options are its type's own."""

    type: str = "full"
    points: Annotated[int, Between(1, 1000)] | None = None
    title: str = ""
    text: str = ""
    given: Mapping[str, Any] = field(default_factory=dict)
    shared: Annotated[Mapping[str, Any], Rest(Shared)] = field(default_factory=dict)
    settings: Annotated[Mapping[str, Any], Rest(Settings)] = field(default_factory=dict)


OF_THE_COMMAND = ("seed", "secret", "format", "out", "solutions", "recipe", "overview", "templates")
"""What somebody may look for in an exam file, and the command that makes the papers is told."""

MEANT = {"problem": "type", "kind": "type", "mark": "points", "marks": "points", "instructions": "text"}
"""Other words for what a question says."""


@dataclass(frozen=True)
class ExamSpec(Head):
    """An exam file, read and checked, with the class that it names."""

    questions: tuple[QuestionSpec, ...] = ()
    stem: str = "exam"
    students: tuple[Student, ...] = ()
    look: Look = DEFAULT_LOOK
    masthead: Masthead = NONE
    source: Mapping[str, Json] = field(default_factory=dict)


def is_exam(path: Path) -> bool:
    """Whether a TOML file is an exam: it has questions."""
    return "question" in read_toml(path)


def read_exam_file(path: Path) -> ExamSpec:
    """Read an exam file and the class list that it names; `InputError` says what is wrong with them, and where."""
    return exam_spec(read_toml(path), path)


def exam_spec(
    data: Mapping[str, Any], path: Path, students: tuple[Student, ...] | None = None, made: bool = False
) -> ExamSpec:
    """What an exam file says, checked; the class is read from the list that it names, unless it is known already.

    In an exam that is `made` already, what a question does not use of a mechanism is passed over, as it was then.
    """
    place = Place(path.name)
    if told := next((key for key in OF_THE_COMMAND if key in data), ""):
        raise place.says(f"{told} is an option of the command: symattn worksheet {path.name} --{told} …")
    file = read(ExamFile, {"title": path.stem, **data}, place)
    if not file.questions:
        raise InputError(f"{place} has no questions; [[question]] tables with at least a type were expected.")
    with place.here():
        look = make_look(**file.appearance)
    if students is None:
        students = read_class(path.parent / file.class_list) if file.class_list else ()
    with place.here():
        masthead = read_masthead(file.header, file.logo, path.parent)
    head = {f.name: getattr(file, f.name) for f in fields(Head)}
    if "variants" not in data:
        head["variants"] = max(FEWEST_VARIANTS, -(-len(students) // 4))
    numbered = enumerate(file.questions, 1)
    return ExamSpec(
        **head,
        questions=tuple(
            _question(question, file.shared, place.at("question", number), made) for number, question in numbered
        ),
        stem=path.stem,
        students=students,
        look=look,
        masthead=masthead,
        source=json.loads(json.dumps(_with_files(data, masthead), default=str)),
    )


def _with_files(data: Mapping[str, Any], masthead: Masthead) -> dict[str, Any]:
    """The exam file with the files in it that it names, which may be gone when papers are printed again or marked."""
    named = {"header": masthead.header, "logo": masthead.logo}
    data = {**data, **{key: file.kept() for key, file in named.items() if file}}
    tables = [data, *data["question"]]
    whole, *questions = [
        {**table, "notation": kept_notation(table["notation"])} if "notation" in table else dict(table)
        for table in tables
    ]
    return {**whole, "question": questions}


def _question(data: Mapping[str, Any], shared: Mapping[str, Any], place: Place, made: bool) -> QuestionSpec:
    with place.here():
        chosen = problem_type(read(str, data.get("type", "full"), place.at("type")))
    place.know(data, [*keys(QuestionTable), *chosen.options], MEANT)
    own = read(QuestionTable, {key: value for key, value in data.items() if key not in chosen.options}, place)
    if chosen.presets:  # it chooses the mechanism itself
        shared = {key: value for key, value in shared.items() if key not in ("mechanism", "sizes")}
    if chosen.mechanisms:  # it has none, and is not meant where the others' is stated once for all
        shared = {key: value for key, value in shared.items() if key != "mechanism"}
    if chosen.mechanisms and made:
        own = replace(
            own,
            shared={key: value for key, value in own.shared.items() if key != "mechanism"},
            settings={key: value for key, value in own.settings.items() if key in chosen.settings},
        )
    options = {key: data[key] for key in chosen.options if key in data}
    stated = {**shared, **own.shared, "given": own.given, "settings": own.settings, "options": options}
    with place.here():
        spec = chosen.spec(stated, place)
        refuse_idle(spec.mechanism, own.settings)
        return QuestionSpec(spec, own.points, own.title, own.text)
