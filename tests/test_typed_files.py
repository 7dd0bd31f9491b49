"""Every kind of file that people write, key by key from its type hints: what is wrong is said in one sentence.

A key that is added to one of these types is tried here without a further test.
"""

import datetime as dt
import re
from collections.abc import Callable
from dataclasses import MISSING, dataclass
from functools import partial
from pathlib import Path
from typing import Any, get_args

import pytest
from trials import at_least_one
from wrong_values import dumps

from symattn.derivation.mechanisms import Settings, custom
from symattn.errors import InputError
from symattn.foundation.typed import (
    Between,
    Choice,
    Constrained,
    Fixed,
    Kind,
    Named,
    OneKindOf,
    OneOrSeveral,
    PartialTable,
    Sequence,
    Table,
)
from symattn.marking.marker.policy import Scheme, read_scheme
from symattn.page.notation import MatrixNames, Notation, read_notation
from symattn.page.presentation import CHOICES
from symattn.teaching.exam.spec import Appearance, ExamFile, QuestionTable, exam_spec
from symattn.teaching.problem import ProblemFile, problem_file
from symattn.teaching.problems import Spec, problem_type

DAY = dt.date(1979, 5, 27)
"""Nothing that is read has a day for a value."""

Data = dict[str, Any]


def step(op, data):
    return custom.run({"A": [[1, 2], [3, 4]]}, [{"name": "B", "op": op, "operands": ["A"], **data}])


FILES = {
    "problem": (ProblemFile, "problem.toml", lambda data: problem_file(data, "problem.toml")),
    "exam": (ExamFile, "exam.toml", lambda data: exam_spec({"question": [{}], **data}, Path("exam.toml"))),
    "question": (
        QuestionTable, "exam.toml: question 1", lambda data: exam_spec({"question": [data]}, Path("exam.toml")),
    ),
    "notation": (Notation, "mine.toml", lambda data: read_notation(data, "mine")),
    "names": (MatrixNames, "mine.toml: names.Q", lambda data: read_notation({"names": {"Q": data}}, "mine")),
    "scheme": (Scheme, "The mark scheme", lambda data: read_scheme(dumps(data))),
    "settings": (Settings, "", Settings.read),
    "worksheet": (Spec, "", lambda data: problem_type("full").spec(data)),
    **{f"step {op}": (kind, "Step 'B'", partial(step, op)) for op, (kind, _) in custom.TOLD.items()},
}  # fmt: skip
FOLLOWING = {("notation", "name"), ("notation", "title"), ("notation", "names"), ("names", "matrix")}
"""What follows from the name of the file or of the role, where it is not said."""
ALSO_GIVEN = {"matrix": "Q", "name": "mine"}
READ_LATER = {"scale", "mask", "angles"}
"""What depends on other keys, and is read with them."""


@dataclass(frozen=True)
class Spot:
    """A key of a table somewhere in a file: what stands there, where that is, and a file with a value in it."""

    kind: Kind
    key: str
    table: str
    required: bool
    hint: Any
    fill: Callable[[Data], Data]
    others: Data
    keys: tuple[str, ...]

    @property
    def place(self):
        return (
            f"{self.table}{', ' if re.search(r' [0-9]+$', self.table) else '.'}{self.key}" if self.table else self.key
        )

    def having(self, value):
        return self.fill({**self.others, self.key: value})


def example(kind):
    """A value for a key that must be there."""
    match kind:
        case Choice():
            return kind.allowed[0]
        case Constrained() | OneOrSeveral():
            return example(kind.kind)
        case Sequence():
            return [example(kind.item)]
        case Table():
            return minimal(kind)
    return {"a text": "x", "a whole number": 1, "true or false": True}.get(kind.expected, {})


def minimal(table):
    must = {key: kind for key, (f, kind) in table.fields.items() if f.default is f.default_factory is MISSING}
    return {key: ALSO_GIVEN.get(key) or example(kind) for key, kind in must.items()}


def spots(table, at="", fill=dict):
    """Every key, at any depth."""
    others = minimal(table)
    rests = {key: spot for rest in table.rest.values() for key, spot in rest.items()}
    for key, (f, kind) in {**table.fields, **rests}.items():
        hint = table.hints.get(f.name)
        spot = Spot(kind, key, at, key in others, hint, fill, others, tuple(table.keys))
        yield spot
        yield from inside(kind, spot)


def inside(kind, spot):
    match kind:
        case Constrained() | OneOrSeveral():
            yield from inside(kind.kind, spot)
        case OneKindOf():
            for one in kind.told:
                yield from inside(one, spot)
        case Table():
            yield from spots(kind, spot.place, spot.having)
        case PartialTable():
            yield from spots(kind.of, spot.place, spot.having)
        case Sequence(item=Table() as table):
            yield from spots(table, f"{spot.place} 1", lambda data: spot.having([data]))
        case Named(item=Table() as table):
            yield from spots(table, f"{spot.place}.k", lambda data: spot.having({"k": data}))


def said(name, data):
    """The sentence; a file that says nothing of it was read."""
    try:
        FILES[name][2](data)
    except InputError as error:
        return str(error)
    return ""


def placed(name, place):
    """How a sentence about a place in a file begins."""
    _, file, _ = FILES[name]
    if not file or not place:
        return file or place
    inner = ", " if file[-1].isdigit() else "." if ": " in file else ": "
    return f"{file}{inner}{place}"


ALL = [(name, spot) for name, (kind, _, _) in FILES.items() for spot in spots(Table(kind))]
NAMES = pytest.mark.parametrize("name", FILES)


def those_of(name):
    return [spot for file, spot in ALL if file == name]


def test_the_keys_of_all_kinds_of_files_are_tried():
    places = {f"{name} {spot.place}" for name, spot in ALL}
    assert {
        "problem ask.places", "problem corrected.names.k.row", "problem erratum 1, kind", "problem rounding.ties",
        "exam text_size", "exam sizes", "question points", "question heads", "question given",
        "notation section 1, items 1, math", "names word", "scheme line 1, marks", "scheme settings.threshold",
    } <= places  # fmt: skip
    assert len(places) > 250
    assert not [spot for _, spot in ALL if isinstance(spot.kind, Fixed)], "these are to be tried as well"


@NAMES
def test_a_value_of_the_wrong_type(name):
    for spot in at_least_one(those_of(name)):
        later = spot.key in READ_LATER and name != "notation"
        if later or (name, spot.key) in {("step scale", "by"), ("step part", "of")}:
            continue
        sentence = said(name, spot.having(DAY))
        assert sentence.startswith(f"{placed(name, spot.place)} is {DAY!r}; ")
        assert sentence.endswith((" was expected.", " were expected.")), sentence


@NAMES
def test_a_key_that_is_missing(name):
    for spot in at_least_one(those_of(name)):
        if spot.required and (name, spot.key) not in FOLLOWING:
            without = {key: value for key, value in spot.others.items() if key != spot.key}
            sentence = said(name, spot.fill(without))
            assert sentence.startswith(f"{placed(name, spot.table) or 'It'} has no {spot.key}; ")
            assert sentence.endswith(" was expected.")


def ranges(hint):
    """The ranges that are said of the value itself."""
    if isinstance(hint, Between):
        yield hint
    if not isinstance(hint, type):
        for part in (*get_args(hint), *getattr(hint, "__metadata__", ())):
            yield from ranges(part)


@NAMES
def test_a_number_out_of_range(name):
    for spot in at_least_one(those_of(name)):
        for at in dict.fromkeys(ranges(spot.hint)) if spot.key not in ("sizes", "marks") else ():
            for value in (at.low - 1, *([] if at.high is None else [at.high + 1])):
                sentence = said(name, spot.having(value))
                assert sentence.startswith(f"{placed(name, spot.place)} is {value!r}; ")
                assert f" from {at.low}" in sentence
                assert sentence.endswith(" was expected.")


@NAMES
def test_a_word_that_is_none_of_the_choices(name):
    for spot in at_least_one(those_of(name)):
        if not isinstance(spot.kind, Choice):
            continue
        sentence = said(name, spot.having("qqqqqqqq"))
        assert sentence.startswith(f"{placed(name, spot.place)} is 'qqqqqqqq'; one of ")
        assert all(str(choice) in sentence for choice in spot.kind.allowed)
        for choice in (one for one in spot.kind.allowed if isinstance(one, str) and len(one) > 4):
            assert re.search(rf"did you mean .*{re.escape(choice)}", said(name, spot.having(choice + "q")))


def test_what_an_exam_says_of_its_pages_is_what_a_page_can_be_told():
    table = Table(Appearance).fields
    assert {key: kind.allowed for key, (_, kind) in table.items() if key not in ("language", "fillable")} == {
        key: tuple(choices) for key, choices in CHOICES.items()
    }
