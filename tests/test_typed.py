"""Plain data read by type hints: what is read comes back, and what is wrong is said with its place."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import Annotated, Literal, NewType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sentences import refused_saying
from tables import tables_beside
from trials import tries

from symattn.errors import InputError, ReadError, ShapeError
from symattn.exact import Matrix, matrix
from symattn.foundation.typed import (
    Absent,
    Between,
    Filled,
    Key,
    Matching,
    NotEmpty,
    OneOf,
    Place,
    ReadBy,
    Rest,
    faults,
    plain,
    read,
)

Id = NewType("Id", str)


class Side(Enum):
    LEFT = "left"
    RIGHT = "right"


@dataclass(frozen=True)
class Slip:
    kind: Literal["slip"]
    cell: tuple[int, int]


@dataclass(frozen=True)
class Confusion:
    kind: Literal["confusion"]
    id: Id


@dataclass(frozen=True)
class Manner:
    heads: Annotated[int, Between(1, 8)] = 1
    by: Literal["matrix", "token"] = "matrix"


def _matrix(data, place):
    if not isinstance(data, list):
        raise place.wrong(data, "a matrix")
    return matrix(data)


@dataclass(frozen=True, kw_only=True)
class Content:
    name: Filled
    points: Annotated[int, Between(1, 1000)] | None = None
    share: Annotated[Fraction, Between(0, 1)] = Fraction(1)
    load: float = 0.5
    easy: bool = False
    side: Side = Side.LEFT
    way: Literal["up", "down"] | None = None
    errors: Annotated[tuple[Slip | Confusion, ...], Key("error")] = ()
    rows: tuple[tuple[int | Fraction, ...], ...] = ()
    sizes: Annotated[Mapping[str, int], Key("table sizes")]
    seen: frozenset[tuple[int, int]] = frozenset()
    parts: str | Annotated[tuple[str, ...], NotEmpty()] = "all"
    policy: Annotated[str, OneOf(lambda: ["ecf", "strict"])] = "ecf"
    marks: Annotated[str, Matching(r"[MAB]\d", "a code such as M1")] = "M1"
    given: Annotated[Matrix, ReadBy(_matrix, lambda m: [list(row) for row in m.rows])] = field(
        default_factory=lambda: Matrix.of([[1]])
    )
    manner: Annotated[Mapping[str, object], Rest(Manner)]
    made: Annotated[int, Absent()] = 0


WHOLE = st.integers(-9, 9)
CELLS = st.tuples(WHOLE, WHOLE)
CONTENTS = st.builds(
    Content,
    name=st.text(min_size=1),
    points=st.none() | st.integers(1, 1000),
    share=st.fractions(0, 1),
    load=st.floats(allow_nan=False, allow_infinity=False),
    easy=st.booleans(),
    side=st.sampled_from(Side),
    way=st.sampled_from(["up", "down", None]),
    errors=st.lists(
        st.builds(Slip, st.just("slip"), CELLS) | st.builds(Confusion, st.just("confusion"), st.text())
    ).map(tuple),
    rows=st.lists(st.lists(WHOLE | st.fractions()).map(tuple)).map(tuple),
    sizes=st.dictionaries(st.text(), WHOLE),
    seen=st.frozensets(CELLS),
    parts=st.text() | st.lists(st.text(), min_size=1).map(tuple),
    policy=st.sampled_from(["ecf", "strict"]),
    marks=st.sampled_from(["M1", "A2"]),
    given=st.lists(st.lists(WHOLE, min_size=2, max_size=2), min_size=1, max_size=3).map(Matrix.of),
    manner=st.fixed_dictionaries({}, optional={"heads": st.integers(1, 8), "by": st.just("token")}),
)


@tries(8)
@given(CONTENTS)
def test_what_is_written_reads_back_the_same_through_json_too(content):
    assert read(Content, json.loads(json.dumps(plain(content))), "exam.json") == content


@tries(8)
@given(CONTENTS)
def test_writing_is_stable(content):
    assert plain(read(Content, plain(content))) == plain(content)


LEAST = {"name": "a", "table sizes": {}}


WRONG = tables_beside(__file__, "wrong_input.toml")["typed"]


@pytest.mark.parametrize("row", WRONG, ids=lambda row: row["says"][:40])
def test_what_is_wrong_is_said_with_its_file_and_its_place(row):
    with pytest.raises(InputError) as caught:
        read(Content, {**LEAST, **row["data"]}, "exam.toml")
    sentence = str(caught.value)
    said = sentence.removeprefix("exam.toml").removeprefix(":").strip()
    assert said == row["says"] or (not row["says"].endswith((".", "?")) and said.startswith(row["says"]))
    assert sentence.startswith("exam.toml")


@tries(8)
@given(CONTENTS)
def test_what_reads_has_no_faults(content):
    assert faults(Content, plain(content), Place("exam.toml")) == []


def test_every_fault_is_told_as_if_it_were_the_only_one():
    """Of each key one that is wrong, all at once."""
    rows = {key: row for row in WRONG for key in row["data"] if len(row["data"]) == 1}
    data = {key: row["data"][key] for key, row in rows.items()}
    assert len(data) >= 8
    told = [str(error) for error in faults(Content, {**LEAST, **data}, Place("exam.toml"))]
    alone = []
    for key in data:
        with pytest.raises(InputError) as caught:
            read(Content, {**LEAST, key: data[key]}, "exam.toml")
        alone.append(str(caught.value))
    assert sorted(told) == sorted(alone)
    lacking = [str(error) for error in faults(Content, {"other": 1}, Place("exam.toml"), others=["other"])]
    assert [text.partition(";")[0] for text in lacking] == ["exam.toml has no name", "exam.toml has no table sizes"]


def test_what_is_missing_is_named_with_what_it_should_be():
    with refused_saying(r"^exam.toml: question 2 has no name; a text that is not empty was expected.$"):
        read(Content, {"table sizes": {}}, Place("exam.toml").at("question", 2))


def test_what_is_no_table_at_all_is_said_of_the_file():
    with refused_saying(r"^exam.toml is \[\]; a table was expected.$"):
        read(Content, [], "exam.toml")


def test_what_equals_its_default_is_not_written():
    assert plain(read(Content, LEAST)) == LEAST


def test_a_type_that_cannot_be_read_is_a_fault_of_the_program():
    with pytest.raises(TypeError, match="not a kind of data"):
        read(complex, 1)


def test_a_place_is_added_once_and_the_error_keeps_its_kind():
    inner, outer = Place("exam.toml").at("question", 2), Place("exam.toml")
    said = r"^exam\.toml: question 2: A row is short\.$"
    with pytest.raises(ShapeError, match=said) as caught, outer.here(), inner.here():
        raise ShapeError("A row is short.")
    assert caught.value.file == "exam.toml"
    with pytest.raises(ReadError) as caught, Place("steps[1]").here():
        raise ReadError("No number.", "1/x", 2)
    assert (str(caught.value), caught.value.pointer) == ("steps[1]: No number.", "1/x\n  ^")
