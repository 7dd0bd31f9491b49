"""What an exam file says: the paper's head, what the paper holds besides questions, the class, and the questions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from symattn.derivation.mechanisms import Settings, kept_mechanism
from symattn.errors import InputError
from symattn.foundation.files import read_toml
from symattn.foundation.typed import Between, Key, OrOne, Place, Rest, faults, keys, read
from symattn.page import markup
from symattn.page.document import DEFAULT_LOOK, Look
from symattn.page.notation import kept_notation
from symattn.page.presentation import make_look
from symattn.page.writers.page import NONE, Masthead, read_masthead
from symattn.teaching.description import refuse_idle
from symattn.teaching.exam.class_list import Student, read_class, tell_of_lost_zeros
from symattn.teaching.explanation import Layout
from symattn.teaching.problems import Spec, problem_type
from symattn.teaching.problems.draws import ProblemType, Shared
from symattn.teaching.question import Json

FEWEST_VARIANTS = 10


@dataclass(frozen=True)
class QuestionSpec:
    """One question of an exam: what is asked for, for how many points (none: as many as its own marks).

    Of its parts those are asked that `ask` names (all, where it names none); some of them may have other `marks`.
    """

    spec: Spec
    points: int | None = None
    title: str = ""
    text: str = ""
    ask: tuple[str, ...] = ()
    marks: Mapping[str, int] = field(default_factory=dict)

    @property
    def varies(self) -> bool:
        """Whether papers have different variants of it: not of numbers or words of the teacher's own."""
        return not (self.spec.given or problem_type(self.spec.type).fixed)


@dataclass(frozen=True)
class Head:
    """What an exam file says of the paper.  Field by field, what stands at its top.

    institution, course, date, time, aids    the head of the paper; aids are what may be used
    instructions     sentences besides the ready ones
    variants         how many papers are made; without it 10, or a quarter of the class if that is more
    seats_per_row    how students sit, in the order of the list, where the list names no seats
    formula_sheet    none, short (the formula of attention), full (every step's)
    exponentials     a table of e^k on the paper
    data_sheet       the given matrices once more at the end, on a leaf that may be torn off
    new_page         whether questions begin on a new page: all, none but the first, or ("auto") those that do not fit
                     on what is left of a page
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
    new_page: bool | Literal["auto"] = "auto"
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
    ask: Annotated[tuple[str, ...], OrOne()] = ()
    marks: Mapping[str, Annotated[int, Between(1, 1000)]] = field(default_factory=dict)
    given: Mapping[str, Any] = field(default_factory=dict)
    shared: Annotated[Mapping[str, Any], Rest(Shared)] = field(default_factory=dict)
    settings: Annotated[Mapping[str, Any], Rest(Settings)] = field(default_factory=dict)


FORMER: Mapping[str, Json] = {"new_page": True}
"""Keys whose default was another one: what exams that were made without them go by, so that they are printed alike."""

OF_THE_COMMAND = (
    "seed", "secret", "format", "out", "templates", "latex_class", "jobs", "cluster", "quiet",
)  # fmt: skip
"""Keys that one may look for in an exam file, and that are options of the command."""

OF_WORKSHEETS = ("solutions", "recipe", "overview", "together")
"""Options of single worksheets; an exam has all that goes with them."""

MEANT = {
    "problem": "type", "kind": "type", "mark": "points", "parts": "ask", "steps": "ask", "instructions": "text",
    "n": "sizes", "size": "sizes", "decimal": "exact", "round": "rounding", "by_token": "by", "by_matrix": "by",
    "count": "variants",
    "papers": "variants", "students": "class", "class_list": "class", "questions": "question",
}  # fmt: skip
"""Other words for what an exam file and its questions say, those of the command line among them."""


@dataclass(frozen=True)
class ExamSpec(Head):
    """An exam file, read and checked, with the class that it names; `source` is what the file says."""

    questions: tuple[QuestionSpec, ...] = ()
    stem: str = "exam"
    students: tuple[Student, ...] = ()
    look: Look = DEFAULT_LOOK
    masthead: Masthead = NONE
    source: Mapping[str, Json] = field(default_factory=dict)

    @property
    def kept(self) -> dict[str, Json]:
        """What the exam file says, with the defaults that may be others in another version."""
        return {**self.source, **{key: getattr(self, key) for key in FORMER}}

    @property
    def papers(self) -> int:
        """How many different papers there are."""
        return max(map(self.variants_of, self.questions))

    def variants_of(self, asked: QuestionSpec) -> int:
        """How many variants there are of a question."""
        return self.variants if asked.varies else 1

    def as_made(self, kept: Mapping[str, Any]) -> ExamSpec:
        """The same with the defaults of an exam that is made already, of which `kept` is what its file said."""
        return replace(self, **{key: kept.get(key, former) for key, former in FORMER.items()})


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

    In an exam that is `made` already, what a question does not use of a mechanism is passed over, as it was then, and
    keys that it does not have mean what they meant then.
    """
    spec, faults = checked_exam(data, path, students, made)
    if spec is None:
        raise faults[0]
    return spec


def checked_exam(
    data: Mapping[str, Any], path: Path, students: tuple[Student, ...] | None = None, made: bool = False
) -> tuple[ExamSpec | None, list[InputError]]:
    """The same, or everything that is wrong with an exam file and its class list."""
    place, errors = Place(path.name), list[InputError]()
    data, placed = {**FORMER, **data} if made else _beside(data, path), {}
    for key, value in data.items():
        with _collected(errors):
            _refuse_misplaced(key, place)
            placed[key] = value
    errors += faults(ExamFile, placed, place, MEANT)
    usable = {key: value for key, value in placed.items() if not faults(ExamFile, {key: value}, place, MEANT)}
    file = read(ExamFile, {"title": path.stem, **usable}, place)
    if not data.get("question", ()):
        errors.append(InputError(f"{place} has no questions; [[question]] tables with at least a type were expected."))
    look, masthead = DEFAULT_LOOK, NONE
    with _collected(errors), place.here():
        look = make_look(**file.appearance)
    with _collected(errors), place.here():
        for text in file.instructions:
            markup.inlines(text)  # says what is wrong with it
    if students is None:
        students = ()
        with _collected(errors):
            students = read_class(path.parent / file.class_list) if file.class_list else ()
            tell_of_lost_zeros(file.class_list, students)
    with _collected(errors), place.here():
        masthead = read_masthead(file.header, file.logo, path.parent)
    questions = []
    for number, question in enumerate(file.questions, 1):
        asked, wrong = _checked_question(question, file.shared, place.at("question", number), made)
        questions += asked
        errors += wrong
    if errors:
        return None, errors
    head = {f.name: getattr(file, f.name) for f in fields(Head)}
    if "variants" not in data:
        head["variants"] = max(FEWEST_VARIANTS, -(-len(students) // 4))
    source = json.loads(json.dumps(_with_files(data, masthead), default=str))
    return ExamSpec(**head, questions=tuple(questions), stem=path.stem, students=students, look=look,
                    masthead=masthead, source=source), []  # fmt: skip


def _checked_question(
    data: Mapping[str, Any], shared: Mapping[str, Any], place: Place, made: bool
) -> tuple[list[QuestionSpec], list[InputError]]:
    """The question of a table, or everything that is wrong with it."""
    errors, placed, asked = list[InputError](), dict[str, Any](), list[QuestionSpec]()
    with _collected(errors):
        chosen = _type_of(data, place)
        for key in data:
            with _collected(errors):
                if key not in chosen.options:
                    _refuse_misplaced(key, place, QuestionTable)
                if key == "marks" and not isinstance(data[key], Mapping):
                    of_parts = "marks of its parts, such as {S = 5}; points are the whole question's"
                    raise place.at(key).wrong(data[key], of_parts)
                placed[key] = data[key]
        errors += faults(QuestionTable, placed, place, MEANT, chosen.options)
        if not errors:
            asked.append(_question(data, chosen, shared, place, made))
    return asked, errors


@contextmanager
def _collected(errors: list[InputError]) -> Iterator[None]:
    """Goes on after an error, and keeps it."""
    try:
        yield
    except InputError as error:
        errors.append(error)


def _refuse_misplaced(key: str, place: Place, table: type = ExamFile) -> None:
    """`InputError` for a key that belongs to the command, to the top of the file, or to a question."""
    if key in ("option", "options"):
        raise place.says(f"{key}: options of a problem type stand in the question as keys of their own, items = 4.")
    meant, option = MEANT.get(key, key), key.replace("_", "-")
    if {key, meant} & {*keys(table)}:
        return
    if key.replace("-", "_") in OF_THE_COMMAND:
        raise place.says(f"{key} is an option of the command: symattn exam {place.file} --{option} …")
    if key in OF_WORKSHEETS:
        raise place.says(f"{key} is an option of single worksheets; an exam has keys, answers and an overview anyway.")
    if meant in keys(ExamFile):
        raise place.says(f"{meant} belongs at the top of the file, above the first [[question]].")
    if meant in keys(QuestionTable):
        raise place.says(f"{meant} is said by each question; it belongs below [[question]].")


_FILES: Mapping[str, Callable[[str], str]] = {"notation": kept_notation, "mechanism": kept_mechanism}
"""What may be a file of its own, and what is kept of it, which may be gone when the exam is marked."""


def _beside(data: Mapping[str, Any], path: Path) -> Mapping[str, Any]:
    """What an exam file says, the files that it names being looked for beside it first."""

    def with_folder(key: str, value: Any) -> Any:
        is_there = (
            key in _FILES and isinstance(value, str) and value.endswith(".toml") and (path.parent / value).is_file()
        )
        return str(path.parent / value) if is_there else value

    return _changed(data, with_folder)


def _with_files(data: Mapping[str, Any], masthead: Masthead) -> Mapping[str, Any]:
    """What an exam file says, with what stands in the files that it names in their place."""
    named = {"header": masthead.header, "logo": masthead.logo}
    kept = _changed(data, lambda key, value: _FILES[key](value) if key in _FILES else value)
    return {**kept, **{key: file.kept() for key, file in named.items() if file}}


def _changed(data: Mapping[str, Any], change: Callable[[str, Any], Any]) -> Mapping[str, Any]:
    """An exam file with its own keys, and those of its questions, changed."""
    changed = {key: change(key, value) for key, value in data.items()}
    questions = data.get("question")
    if isinstance(questions, list):
        changed["question"] = [
            {key: change(key, value) for key, value in question.items()} if isinstance(question, Mapping) else question
            for question in questions
        ]
    return changed


def _type_of(data: Mapping[str, Any], place: Place) -> ProblemType:
    with place.here():
        return problem_type(read(str, data.get("type", "full"), place.at("type")))


def _question(
    data: Mapping[str, Any], chosen: ProblemType, shared: Mapping[str, Any], place: Place, made: bool
) -> QuestionSpec:
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
        for text in (own.title, own.text):
            markup.blocks(text)  # says what is wrong with it
        return QuestionSpec(spec, own.points, own.title, own.text, own.ask, own.marks)
