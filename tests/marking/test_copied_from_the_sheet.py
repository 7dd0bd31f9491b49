"""What people copy from a sheet into a text of their own: given matrices, headings with their marks, blanks."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

import pytest
from scripts import exactly, key_of

from symattn.api import make_recipe
from symattn.exact import Matrix
from symattn.marking.attempt import Attempt
from symattn.marking.marker import mark
from symattn.marking.submissions import read_submission
from symattn.page.writers import text as plain
from symattn.teaching.explanation import question_document
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.question import Question
from symattn.teaching.sheets import sheets

MECHANISMS = ["self_attention", "layer_norm", "linear_attention", "recurrent_network", "kv_cache", "feed_forward"]

Rows = list[list[str]]

COPIES: dict[str, Callable[[str, Rows], str]] = {
    "on a line": lambda name, rows: f"{name} = {inline(rows)}",
    "with its shape": lambda name, rows: f"{name} ({len(rows)}×{len(rows[0])}) = {inline(rows)}",
    "rows below": lambda name, rows: f"{name}:\n" + "\n".join(" ".join(row) for row in rows) + "\n",
    "as in Python": lambda name, rows: f"{name} = [{', '.join('[' + ', '.join(row) + ']' for row in rows)}]",
}


def inline(rows: Rows) -> str:
    return f"[{'; '.join(' '.join(row) for row in rows)}]"


@cache
def question(mechanism: str) -> Question:
    (sheet,) = sheets(make_recipe(mechanism, seed=21), 1)
    return sheet.question


def givens(asked: Question) -> dict[str, Rows]:
    """Those that are printed, by their signs."""
    assert asked.problem is not None
    d = asked.problem.derivation
    wording = Wording(d, asked.problem.notation)
    given = {name: value for name, value in d.givens.items() if isinstance(value, Matrix)}
    return {
        plain.on_one_line(wording.name(name)): [[exactly(x).replace(" ", "") for x in row] for row in value.rows]
        for name, value in given.items()
    }


def answers(asked: Question) -> dict[str, Rows]:
    found = {part: [[exactly(x).replace(" ", "") for x in row] for row in rows] for part, rows in key_of(asked).items()}
    return {name: rows for name, rows in found.items() if rows}


def read(asked: Question, text: str, form: str = "markdown") -> Attempt:
    return read_submission(text, [asked], form=form).attempts[0]


@pytest.mark.covering
@pytest.mark.parametrize("form", COPIES)
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_copied_givens_are_no_answers(mechanism: str, form: str) -> None:
    asked = question(mechanism)
    copied = [COPIES[form](name, rows) for name, rows in givens(asked).items()]
    answered = [f"{asked_name(asked, name)} = {inline(rows)}" for name, rows in answers(asked).items()]
    attempt = read(asked, "\n".join([*copied, "", *answered]))
    report = mark(asked, attempt)
    assert (report.total, attempt.remarks, attempt.unread) == (report.available, (), frozenset())


def asked_name(asked: Question, part: str) -> str:
    assert asked.problem is not None
    return plain.on_one_line(Wording(asked.problem.derivation, asked.problem.notation).name(part))


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_copies_alone_answer_nothing(mechanism: str) -> None:
    asked = question(mechanism)
    name, rows = next((name, rows) for name, rows in answers(asked).items())
    copied = [f"{sign} = {inline(given)}" for sign, given in givens(asked).items()]
    attempt = read(asked, "\n".join([*copied, f"{asked_name(asked, name)} = {inline(rows)}"]))
    assert set(attempt.answers) == {name}
    assert not attempt.remarks
    assert not mark(asked, attempt).events


def test_what_differs_from_what_is_given_is_told() -> None:
    asked = question("layer_norm")
    text = f"γ = [9 9 9 9]\nμ = {inline(answers(asked)['N_mean'])}"
    attempt = read(asked, text)
    assert [remark.says for remark in attempt.remarks] == ["This could not be read as an answer: '9 9 9 9'"]
    assert attempt.unread


@pytest.mark.parametrize("end", ["[{n}]", "({n} marks)", "[{n} points]", "   [{n}]", "({n} Punkte)"])
@pytest.mark.parametrize("rule", ["", " = mean(X)"])
@pytest.mark.parametrize("below", ["1\n2\n1", "(1, 2, 1)", "μ = [1; 2; 1]"])
def test_marks_behind_a_heading_are_no_answer(end: str, rule: str, below: str) -> None:
    """The means are 1, 2, 1 and are worth two marks."""
    asked = question("layer_norm")
    assert answers(asked)["N_mean"] == [["1"], ["2"], ["1"]]
    attempt = read(asked, f"1. Means μ{rule} {end.format(n=2)}\n\n{below}\n")
    assert [[entry.value for entry in row] for row in attempt.answers["N_mean"].rows] == [[1], [2], [1]]  # type: ignore[union-attr]


@pytest.mark.parametrize("line", ["b", "7", "Z as before", "## Q\n\n7", "K: see above", "no idea"])
def test_what_is_more_or_less_than_a_name_is_told(line: str) -> None:
    asked = question("self_attention")
    attempt = read(asked, f"V = {inline(answers(asked)['V'])}\n\n{line}\n")
    assert (list(attempt.answers), bool(attempt.unread)) == (["V"], True)
    assert line.split()[-1] in attempt.remarks[-1].says


@pytest.mark.parametrize("line", ["K", "K:", "## Scores S", "3. Values V", "(g) Output"])
def test_a_name_and_nothing_else_says_nothing(line: str) -> None:
    asked = question("self_attention")
    attempt = read(asked, f"Q = {inline(answers(asked)['Q'])}\n\n{line}\n")
    assert (list(attempt.answers), attempt.unread, attempt.remarks) == (["Q"], frozenset(), ())


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_our_plain_text_filled_in(mechanism: str) -> None:
    """What stands in the boxes is right, and nothing that is printed is taken for an answer."""
    asked = question(mechanism)
    sheet = plain.write(question_document(asked))
    entries = iter([x for rows in answers(asked).values() for row in rows for x in row])
    head, _, boxes = sheet.partition("━━━")
    filled = re.sub(r"_{4,}", lambda found: next(entries).ljust(len(found[0])), boxes)
    assert next(entries, None) is None
    attempt = read(asked, head + "━━━" + filled, "text")
    report = mark(asked, attempt)
    assert (report.total, report.events) == (report.available, ())
    blank = read(asked, sheet, "text")
    assert not blank.answers
