"""What people type, and what is read of it, left unread and said: the tables of forms.toml, and laws over all of them.

A form is a file as somebody hands it in.  `right` are the parts that are read as they were meant, so that they earn all
of their marks (true: every part of the sheet); `reads` is what else is read, `more` what nobody asked for; `unread` are
the parts that a person has to look at, `waits` those whose marks are pending, `twice` those with two
answers; `says` are parts of the remarks, in their order, `refused` one of the sentence with which the file is not
taken.  A number is what stands in one box.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from fractions import Fraction
from functools import cache

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from sentences import refused_saying
from tables import tables_beside
from trials import tries

from symattn.exact import NEGATIVE_INFINITY, decide
from symattn.exact.bridge import from_sympy
from symattn.marking.attempt import (
    Entry,
    Grid,
    Grids,
    Ordered,
    Shaded,
    Shaped,
    Text,
    Ticked,
    Unreadable,
)
from symattn.marking.marker import mark
from symattn.marking.submissions import read_submission
from symattn.marking.submissions.entries import noticed
from symattn.teaching.problems import problem_type

TABLES = tables_beside(__file__)


def rows_of(table):
    """The rows of a table, every fourth of a kind in the fast suite; those that are not right yet say why."""
    kinds = Counter()
    for row in sorted(TABLES[table], key=lambda row: row.get("sheet", "")):  # the marker keeps what it knows of a sheet
        name = row.get("what", row["typed"])
        kind = re.sub(r":.*|[ \d]+$", "", name) if "what" in row else name
        marks = [pytest.mark.xfail(strict=True, reason=row["fails"])] if "fails" in row else []
        repeated = kinds[kind] % 4 and kind not in ("toml", "json", "csv", "latex")  # each of which is another form
        marks += [pytest.mark.slow] if repeated else []
        kinds[kind] += 1
        yield pytest.param(row, id=name, marks=marks)


@cache
def sheet(name):
    """A sheet as it was frozen: it is the same whatever seeds mean."""
    frozen = json.loads(TABLES["sheets"][name])
    kind = problem_type(frozen["type"])
    return kind.make(frozen)


def questions_of(form):
    return [sheet(name) for name in form["sheet"].split(", ")]


def read(form, typed=""):
    content = typed or form["typed"]
    if form.get("bytes") and isinstance(content, str):
        content = content.encode("latin-1")
    file, comma = form.get("file", ""), form.get("decimal_mark", "auto")
    return read_submission(content, questions_of(form), form=file, decimal_mark=comma)


# ------------------------------------------------------------------------------------------------ what is read


def shown(said):
    """What was read, as forms.toml has it: a number by its value, and as it was typed where that is no fraction."""
    match said:
        case Grid(rows):
            return [" ".join(map(number, row)) for row in rows]
        case Grids(grids):
            return {name: shown(grid) for name, grid in grids.items()}
        case Entry():
            return number(said)
        case Ticked(options):
            return ", ".join("ABCDEFGH"[k] for k in sorted(options))
        case Shaded(cells):
            return "; ".join(f"{i + 1},{j + 1}" for i, j in sorted(cells))
        case Shaped(shape):
            return "×".join(map(str, shape)) if shape else "not defined"
        case Ordered(groups):
            return " < ".join(" = ".join(group) for group in groups)
        case Text(text):
            return text
        case Unreadable(text):
            return f"{text}?"


def number(entry):
    if isinstance(entry.value, int | Fraction):
        return str(entry.value)
    if entry.value is NEGATIVE_INFINITY:
        return "-inf"
    return (entry.text.replace(" ", "") or "·") + "?" * bool(entry.complaint)


def is_right(report, part):
    """Whether every entry is accepted and every mark is given."""
    marks = [given for given in report.marks if part in given.parts]
    return all(v.accepted for v in report.verdicts if v.part == part) and all(
        given.given == given.of and not given.pending for given in marks
    )


def heard(form, found):
    """What a form was read as, in the words of forms.toml."""
    questions = questions_of(form)
    right, whole = [], form.get("right") is True
    heard = {key: {} for key in ("reads", "more", "shapes")} | {"unread": [], "waits": [], "twice": []}
    for k, (question, attempt) in enumerate(zip(questions, found.attempts, strict=True), 1):
        of = f"{k} " if questions[1:] else ""
        report = mark(question, attempt) if form.keys() & {"right", "waits"} else None
        for part, said in attempt.answers.items():
            if (whole or of + part in form.get("right", ())) and report and is_right(report, part):
                right.append(of + part)
            else:
                heard["reads"][of + part] = shown(said)
        heard["more"] |= {of + name: shown(grid) for name, grid in attempt.more.items()}
        heard["shapes"] |= {of + part: list(shape) for part, shape in attempt.shapes.items()}
        heard["unread"] += sorted(of + part for part in attempt.unread)
        heard["twice"] += sorted(of + part for part, doubt in attempt.doubts.items() if doubt.of_two)
        if report and "waits" in form:
            heard["waits"] += sorted({of + part for given in report.marks if given.pending for part in given.parts})
            assert not [event for event in report.events if event.kind != "rounding"]
        if whole:
            assert set(attempt.answers) == {part.name for part in question.parts}
    return {key: value for key, value in {**heard, "right": whole or right}.items() if value}


@pytest.mark.parametrize("form", list(rows_of("form")))
def test_what_is_typed_is_read_or_told(form):
    if "refused" in form:
        with refused_saying(re.escape(form["refused"])):
            read(form)
        return
    found = read(form)
    keys = ("right", "reads", "more", "shapes", "unread", "waits", "twice")
    assert heard(form, found) == {key: form[key] for key in keys if form.get(key)}
    remarks = [*found.remarks, *(remark for attempt in found.attempts for remark in attempt.remarks)]
    said = [f"{remark.where}: {remark.says}" for remark in remarks]
    expected = form.get("says", [])
    assert len(said) == len(expected), said
    assert all(part in sentence for part, sentence in zip(expected, said, strict=True)), said


# ------------------------------------------------------------------------------------------------ numbers


@pytest.mark.parametrize("row", list(rows_of("number")))
def test_a_number_means_what_it_says(row):
    """Its value and its last place, and what is said of it; nothing, where nothing was written."""
    found = noticed(row["typed"], row.get("mark", "auto"))
    value = row.get("value")
    if value is None:
        assert (found.entry.value, found.entry.blank) == (None, "complaint" not in row)
        assert row.get("complaint", "") in found.entry.complaint
        assert bool(found.entry.complaint) == ("complaint" in row)
    elif value == "-inf":
        assert found.entry.value is NEGATIVE_INFINITY
    else:
        assert found.entry.value is not None, found.entry.complaint
        assert decide(found.entry.value, from_sympy(sympy.sympify(value))).equal
        assert str(found.entry.unit or "") == row.get("unit", "")
    assert row.get("remark", "") in found.remark
    assert bool(found.remark) == ("remark" in row)


# ------------------------------------------------------------------------------------------------ laws

TEXTS = [
    form for form in TABLES["form"]
    if "right" in form and not form.keys() & {"says", "fails", "closed"} and form.get("file", "") in ("", "markdown")
]  # fmt: skip
"""Forms to which something can be added: text that is no data and no LaTeX (`closed`), and of which nothing is said."""
WORDS = st.lists(st.sampled_from(["lorem", "ipsum", "dolor", "sit", "amet", "elit", "sed"]), min_size=3, max_size=7)


@tries(20)
@given(st.sampled_from(TEXTS), WORDS, st.booleans())
def test_a_line_that_is_not_used_is_listed_with_its_place(form, words, above):
    """Whatever way of writing it stands beside; what else was written is read all the same."""
    stray, typed = " ".join(words), form["typed"]
    text = f"{stray}\n\n{typed}" if above else f"{typed}\n\n{stray}\n"
    found = read({**form, "file": "markdown"}, text)
    assert heard(form, found).get("right") == form["right"]
    [remark] = [*found.remarks, *(remark for attempt in found.attempts for remark in attempt.remarks)]
    assert stray in remark.says
    assert remark.where == f"line {1 if above else typed.count(chr(10)) + 3}"
