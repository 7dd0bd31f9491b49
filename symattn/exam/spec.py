"""What an exam file says: the paper's head, what the paper holds besides questions, the class, and the questions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from symattn.description import refuse_idle
from symattn.document import DEFAULT_LOOK, Look
from symattn.errors import InputError, offered
from symattn.exam.students import Student, read_class
from symattn.explanation import CONVENTIONS, LAYOUTS, Conventions, Layout, known_choice
from symattn.files import read_toml
from symattn.mechanisms import Settings
from symattn.presentation import CHOICES, TEXT_SIZES, make_look
from symattn.problems import Spec, problem_type
from symattn.question import Json

FORMULA_SHEETS = ("none", "short", "full")
FEWEST_VARIANTS = 10
MOST_VARIANTS = 500
SETTINGS = frozenset(f.name for f in fields(Settings))


@dataclass(frozen=True)
class QuestionSpec:
    """One question of an exam: what is asked for, for how many points (none: as many as its own marks)."""

    spec: Spec
    points: int | None = None
    title: str = ""
    text: str = ""


@dataclass(frozen=True)
class ExamSpec:
    """An exam file, read and checked.  Field by field, what stands at its top.

    institution, course, date, time, aids    the head of the paper; aids are what may be used
    instructions     sentences besides the ready ones
    variants         how many papers are made; without it 10, or a quarter of the class if that is more
    class            a CSV file of students, beside the exam file: name, id, and perhaps seat, text size
    seats_per_row    how students sit, in the order of the list, where the list names no seats
    formula_sheet    none, short (the formula of attention), full (every step's)
    exponentials     a table of e^k on the paper
    data_sheet       the given matrices once more on a last page that may be torn off
    new_page         every question begins on a new page
    blank_pages      pages for rough work at the end
    look             what the reader chooses: text_size, paper, spacing, decimal_sign, brackets, transpose, language
    layout           of products: matrix, falk, or columns (the step at the left, its working at the right)
    conventions      the box of what holds for all questions: full, or bare
    id_boxes         boxes for the student's number
    common_answers   the table of common wrong answers in the keys
    """

    title: str
    questions: tuple[QuestionSpec, ...]
    stem: str = "exam"
    institution: str = ""
    course: str = ""
    date: str = ""
    time: str = ""
    aids: str = ""
    instructions: tuple[str, ...] = ()
    variants: int = FEWEST_VARIANTS
    students: tuple[Student, ...] = ()
    seats_per_row: int = 0
    formula_sheet: str = "none"
    exponentials: bool = False
    data_sheet: bool = False
    new_page: bool = True
    blank_pages: int = 0
    look: Look = DEFAULT_LOOK
    layout: Layout = "matrix"
    conventions: Conventions = "full"
    id_boxes: int = 8
    common_answers: bool = True
    source: Mapping[str, Json] = field(default_factory=dict)


HEAD: dict[str, type] = {
    "title": str, "institution": str, "course": str, "date": str, "time": str, "aids": str, "formula_sheet": str,
    "layout": str, "conventions": str,
    "variants": int, "seats_per_row": int, "blank_pages": int, "id_boxes": int,
    "exponentials": bool, "data_sheet": bool, "new_page": bool, "common_answers": bool,
}  # fmt: skip
LOOK = (*CHOICES, "language")
"""What the head says of the look of the pages."""
SHARED = ("notation", "level", "softmax", "exact", "places", "mechanism", "sizes")
"""What stands at the top of the file for all questions that say nothing else."""

_KINDS = {str: "a text", int: "a whole number", bool: "true or false"}
_CHOICES: Mapping[str, Sequence[str]] = {
    "formula_sheet": FORMULA_SHEETS, "layout": LAYOUTS, "conventions": CONVENTIONS
}  # fmt: skip
_RANGES = {"variants": (1, MOST_VARIANTS), "seats_per_row": (0, 1000), "blank_pages": (0, 20), "id_boxes": (0, 16)}


def is_exam(path: Path) -> bool:
    """Whether a TOML file is an exam: it has questions."""
    return "question" in read_toml(path)


def read_exam_file(path: Path) -> ExamSpec:
    """Read an exam file and the class list that it names; `InputError` says what is wrong with them, and where."""
    return exam_spec(read_toml(path), path)


def exam_spec(data: Mapping[str, Any], path: Path, students: tuple[Student, ...] | None = None) -> ExamSpec:
    """What an exam file says, checked; the class is read from the list that it names, unless it is known already."""
    where = path.name
    known = {*HEAD, *LOOK, *SHARED, "instructions", "class", "question"}
    if unknown := sorted(set(data) - known):
        raise InputError(f"{where} has {unknown[0]!r}; {offered(unknown[0], sorted(known), '{} are known')}")
    head: dict[str, Any] = {key: data[key] for key in HEAD if key in data}
    for key, value in head.items():
        if type(value) is not HEAD[key]:
            raise InputError(f"In {where}, {key} is {value!r}; {_KINDS[HEAD[key]]} was expected.")
    for key, (low, high) in _RANGES.items():
        if not low <= head.get(key, low) <= high:
            raise InputError(f"In {where}, {key} is {head[key]}; a number from {low} to {high} was expected.")
    if head.get("conventions") == "none":
        raise InputError(f"In {where}, conventions is 'none'; an exam says them: full or bare was expected.")
    try:
        for key, allowed in _CHOICES.items():
            known_choice(key, head.get(key, allowed[0]), allowed)
        head["look"] = make_look(**{key: data[key] for key in LOOK if key in data})
    except InputError as error:
        raise InputError(f"In {where}, {error}") from error
    instructions = data.get("instructions", [])
    if not isinstance(instructions, list) or not all(isinstance(x, str) for x in instructions):
        raise InputError(f"In {where}, instructions is {instructions!r}; a list of sentences was expected.")
    students = _students(data.get("class", ""), path) if students is None else students
    head.setdefault("title", path.stem)
    head.setdefault("variants", max(FEWEST_VARIANTS, -(-len(students) // 4)))
    shared = {key: data[key] for key in SHARED if key in data}
    return ExamSpec(
        questions=_questions(data.get("question", []), shared, where),
        stem=path.stem,
        instructions=tuple(instructions),
        students=students,
        source=json.loads(json.dumps(data, default=str)),
        **head,
    )


def _students(name: object, path: Path) -> tuple[Student, ...]:
    if not isinstance(name, str):
        raise InputError(f"In {path.name}, class is {name!r}; the name of a CSV file was expected.")
    return read_class(path.parent / name, TEXT_SIZES) if name else ()


def _questions(listed: object, shared: Mapping[str, Any], where: str) -> tuple[QuestionSpec, ...]:
    if not isinstance(listed, list) or not listed or not all(isinstance(q, dict) for q in listed):
        raise InputError(f"{where} has no questions; [[question]] tables with at least a type were expected.")
    found = []
    for number, data in enumerate(listed, 1):
        try:
            found.append(_question(data, shared))
        except InputError as error:
            raise InputError(f"In {where}, question {number}: {error}") from error
    return tuple(found)


def _question(data: Mapping[str, Any], shared: Mapping[str, Any]) -> QuestionSpec:
    """A question's own keys are the fields of `Spec`, the settings and the type's options, side by side."""
    if not isinstance(kind := data.get("type", "full"), str):
        raise InputError(f"type is {kind!r}; the name of a problem type was expected.")
    chosen = problem_type(kind)
    own = {key: value for key, value in data.items() if key not in ("type", "points", "title", "text")}
    names = {f.name for f in fields(Spec)} - {"type", "settings", "options"}
    if chosen.presets:  # it chooses the mechanism itself
        shared = {key: value for key, value in shared.items() if key not in ("mechanism", "sizes")}
    stated = {**shared, **{key: own.pop(key) for key in sorted(names & set(own))}}
    options = {key: own.pop(key) for key in chosen.options if key in own}
    if unknown := [key for key in own if key not in SETTINGS]:
        known = ("type", "points", "title", "text", *sorted(names), *chosen.options, *sorted(SETTINGS))
        raise InputError(f"A question has no {unknown[0]!r}; {offered(unknown[0], known, 'it has {}')}")
    points = data.get("points")
    if points is not None and (isinstance(points, bool) or not isinstance(points, int) or not 1 <= points <= 1000):
        raise InputError(f"points is {points!r}; a whole number from 1 to 1000 was expected.")
    for key in ("title", "text"):
        if not isinstance(data.get(key, ""), str):
            raise InputError(f"{key} is {data[key]!r}; a text was expected.")
    spec = chosen.spec({**stated, "settings": own, "options": options})
    refuse_idle(spec.mechanism, own)
    return QuestionSpec(spec, points, data.get("title", ""), data.get("text", ""))
