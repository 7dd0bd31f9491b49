"""How much of a text is looked at: nothing twice, and no more where hundreds of lines are no answer; all is told."""

from __future__ import annotations

import re
from functools import cache
from random import Random
from re import _constants as sign
from re import _parser as parser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from layouts import listed
from scripts import decimals, key_of, texts

from symattn.api import make_recipe
from symattn.marking.marker import mark
from symattn.marking.submissions import alphabet, entries, matrices, read_submission, tables
from symattn.teaching.sheets import sheets


@cache
def question():
    (sheet,) = sheets(make_recipe("self_attention", seed=11), 1)
    return sheet.question


@cache
def right():
    """The whole key, a line for every matrix."""
    found = texts(key_of(question()), decimals(3))
    return "\n".join(f"{name} = {listed(rows)}" for name, rows in found.items())


def read(text):
    return read_submission(text, [question()], form="markdown").attempts[0]


def chance(characters, length, width=24, seed=1):
    rng = Random(seed)
    return "\n".join("".join(rng.choices(characters, k=width)) for _ in range(length // width))


# ------------------------------------------------------------------------------------------------ where reading stops

PROSE = "Softmax turns every row of scores into weights that add up to one.\n"
NUMBERS = "1 2 3 4 5\n1 2\n"


@pytest.mark.parametrize("line", [PROSE, NUMBERS], ids=["prose", "numbers"])
@pytest.mark.parametrize("count", [100, 2000])
def test_an_answer_with_a_name_is_read_below_any_number_of_lines(line, count):
    report = mark(question(), read(line * count + "\n" + right()))
    assert report.total == report.available


def test_a_heading_is_read_with_the_rows_below_it_below_any_number_of_lines():
    rows = texts(key_of(question()), decimals(3))["S"]
    text = f"{PROSE * 2000}\n## Scores\n\n" + "\n".join("  ".join(row) for row in rows)
    assert [[entry.text for entry in row] for row in read(text).answers["S"].rows] == [[*row] for row in rows]


@pytest.mark.parametrize("line", [PROSE, NUMBERS], ids=["prose", "numbers"])
def test_what_was_passed_over_is_told_and_waits(line):
    first, *others = right().split("\n")
    attempt = read(f"{first}\n\n{line * 1000}\n" + "\n".join(f"I think that {other}" for other in others))
    assert set(attempt.answers) == {first.partition(" = ")[0]}
    assert any("only lines with a name were looked at" in remark.says for remark in attempt.remarks)
    report = mark(question(), attempt)
    assert all(given.pending for given in report.marks if given.given < given.of)
    assert not any(verdict.state == "wrong" for verdict in report.verdicts)


def test_what_is_answered_a_hundred_times_is_read_some_times_told_and_waits(monkeypatch):
    several = [f"S = [[{k}, 2, 3], [4, 5, 6], [7, 8, 9]]" for k in range(400)]
    attempt = read("\n".join((right(), *several)))
    report = mark(question(), attempt)
    assert report.total < report.available
    assert all(given.pending for given in report.marks if given.given < given.of)
    assert any("S = [[39, 2, 3]" in remark.says for remark in attempt.remarks)
    assert looked_at("\n".join(several), monkeypatch) < 6_000


# ------------------------------------------------------------------------------------------------ nothing is read twice


def looked_at(text, monkeypatch):
    """Characters of a text that are read as matrices, all in all."""
    seen, read_matrix = [], tables.read_matrix
    with monkeypatch.context() as patched:
        patched.setattr(
            matrices, "read_matrix", lambda text, *shape: seen.append(len(text)) or read_matrix(text, *shape)
        )
        read_submission(f"Q = [[1]]\n{text}", [question()], form="markdown")
    return sum(seen)


@pytest.mark.parametrize("characters", ["ab12=,.[ ", "[1 2", "a[(1,"])
def test_a_bracket_that_nothing_closes_is_sought_once(characters, monkeypatch):
    text = chance(characters, 6_000)
    assert looked_at(text, monkeypatch) < 12 * len(text)


def test_a_line_longer_than_any_matrix_is_no_matrix_and_told(monkeypatch):
    text = "S = [[1, 2, 3]] " * 2_000
    assert looked_at(text, monkeypatch) < 1_000
    assert any("S = [[1, 2, 3]]" in remark.says for remark in read(f"{right()}\n{text}").remarks)


# ------------------------------------------------------------------------------------------------ what is skipped


def has_one_of(pattern, needs):
    """Whether in all that a pattern finds, or right beside it, there is one of these characters, by its parts."""

    def must(parts, ignoring):
        return any(must_one(kind, value, ignoring) for kind, value in parts)

    def must_one(kind, value, ignoring):
        match kind:
            case sign.LITERAL:
                return {chr(value), *(chr(value).swapcase() if ignoring else "")} <= needs
            case sign.IN:
                return all(
                    (of is sign.LITERAL and {chr(one)} <= needs)
                    or (of is sign.RANGE and {*map(chr, range(one[0], one[1] + 1))} <= needs)
                    for of, one in value
                )
            case sign.BRANCH:
                return all(must(branch, ignoring) for branch in value[1])
            case sign.SUBPATTERN:
                return must(value[3], ignoring or bool(value[1] & re.IGNORECASE))
            case sign.MAX_REPEAT | sign.MIN_REPEAT | sign.POSSESSIVE_REPEAT:
                return value[0] > 0 and must(value[2], ignoring)
            case sign.ASSERT:
                return must(value[1], ignoring)
        return False

    parsed = parser.parse(pattern, re.MULTILINE)
    return must(parsed, bool(parsed.state.flags & re.IGNORECASE))


GUARDED = [row for row in (*alphabet.NUMBERS, *alphabet.LINES) if len(row) > 2]


@pytest.mark.parametrize("row", GUARDED, ids=lambda row: row[2])
def test_a_pattern_that_is_not_sought_would_find_nothing(row):
    pattern, _, needs = row
    assert has_one_of(pattern, set(needs))
    assert not has_one_of(pattern, set("~"))


@given(st.from_regex(entries.PLAIN_NUMBER, fullmatch=True))
def test_plain_numbers_are_numbers_without_being_read(text):
    assert entries.entry(text, entries.AUTO).readable
