"""Notebooks handed in: what stands in tables, in code and in printed results is read, and nothing in them is run."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from scripts import key_of, key_script, marked
from test_submissions_markdown import attempts
from trials import tries

from symattn.api import worksheet
from symattn.cli import main
from symattn.errors import InputError
from symattn.exact import decide
from symattn.exact.reading import read as read_number
from symattn.foundation.dice import Dice
from symattn.foundation.identity import identity
from symattn.foundation.languages import languages
from symattn.marking.attempt import Attempt, Entry, Grid, Grids, Submission, Text
from symattn.marking.submissions import fill_notebook, form_of, read_submission, sheet_of
from symattn.marking.submissions.code import printed, read_code
from symattn.page.document import Look
from symattn.page.translation import translated
from symattn.page.writers import notebook
from symattn.teaching.exam.papers import Copy, paper
from symattn.teaching.exam.spec import ExamSpec
from symattn.teaching.explanation import question_document
from symattn.teaching.explanation.program import variables
from symattn.teaching.pool import pool
from symattn.teaching.problems import problem_type, problem_types
from symattn.teaching.question import PropertyAnswer, Question

TYPES = sorted(problem_types())
Cell = dict[str, Any]


@cache
def question(name: str, notation: str = "standard") -> Question:
    return next(iter(pool(problem_type(name).spec({"notation": notation}), Dice.seeded(4))))


@cache
def blank(name: str, notation: str = "standard", language: str = "en") -> str:
    q = question(name, notation)
    document = question_document(q, identity(q.frozen), "symattn worksheet x")
    return notebook.write(translated(replace(document, look=Look(language=language))))


def read(text: str | bytes, *questions: Question, mark: str = "auto") -> Submission:
    return read_submission(text, questions, source="ada.ipynb", decimal_mark=mark)


def changed(text: str, change: Callable[[list[Cell]], object]) -> str:
    """A notebook with something done to its cells."""
    data = json.loads(text)
    change(data["cells"])
    return json.dumps(data)


def code(source: str, *outputs: str) -> Cell:
    shown = [{"output_type": "execute_result", "data": {"text/plain": output.splitlines(True)}} for output in outputs]
    return {"cell_type": "code", "source": source, "outputs": shown, "metadata": {}}


def coded(text: str, sources: dict[str, str], outputs: dict[str, str] | None = None) -> str:
    """A notebook with code in place of `Q = ...`, by the variable, and with what it shows."""

    def put(cells: list[Cell]) -> None:
        for i, cell in enumerate(cells):
            found = re.match(r"(\w+) = \.\.\.", "".join(cell["source"]))
            if found and found[1] in sources:
                shown = [outputs[found[1]]] if outputs and found[1] in outputs else []
                cells[i] = code(sources[found[1]] + f"\n{found[1]}", *shown)

    return changed(text, put)


def values(said: object) -> list[list[object]]:
    assert isinstance(said, Grid), said
    return [[entry.value if entry.readable else entry.text for entry in row] for row in said.rows]


F = Fraction


# ------------------------------------------------------------------------------------ what was filled in comes back


@pytest.mark.covering(most=1)
@pytest.mark.parametrize(("name", "language"), list(zip(TYPES, cycle(languages()))))
def test_a_key_written_into_a_notebook_is_marked_like_the_key(name: str, language: str) -> None:
    q = question(name)
    untouched = read(blank(name, "note-003"), question(name, "note-003")).attempts[0]
    assert not [*untouched.answers, *untouched.more, *untouched.remarks]
    said = {part: Text(x.text) if isinstance(x, Text) else x for part, x in key_script(q).answers.items()}
    key = Attempt(said)  # no points have been given for words yet
    found = read(fill_notebook(blank(name, language=language), [q], [key], name="Ada Lovelace", student="17"), q)
    assert (found.sheet, found.name, found.student) == (identity(q.frozen), "Ada Lovelace", "17")
    report, expected = marked(q, found.attempts[0]), marked(q, key)
    assert [(m.parts, m.given) for m in report.marks] == [(m.parts, m.given) for m in expected.marks]
    assert report.pending or report.total == report.available


@pytest.mark.slow
@given(st.data(), st.sampled_from(TYPES), st.sampled_from([".", ","]))
@tries(25)
def test_whatever_was_written_into_tables_and_boxes_is_read_back(data: st.DataObject, name: str, mark: str) -> None:
    q = question(name)
    attempt = data.draw(attempts(q, mark))
    found = read(fill_notebook(blank(name), [q], [attempt]), q, mark=mark).attempts[0]
    assert dict(found.answers) == dict(attempt.answers)
    assert not found.more


def as_source(entry: Entry) -> str:
    return repr(entry.text) if entry.text else "..."


@pytest.mark.covering(most=3)
@pytest.mark.parametrize("name", TYPES)
def test_a_key_written_as_code_has_full_marks_in_every_part_that_has_code(name: str) -> None:
    """Exact values as texts; every part, also where givens of another part are called like its answer."""
    q = question(name)
    key, own = key_script(q), variables(q).parts

    def put(cells: list[Cell]) -> None:
        asked = iter(own)
        for i, cell in enumerate(cells):
            if cell["cell_type"] == "code" and " = ...  # to compute" in "".join(cell["source"]):
                part = next(asked)
                said = key.answers[part]
                assert isinstance(said, Grid)
                rows = (", ".join(map(as_source, row)) for row in said.rows)
                cells[i] = code(f"{own[part]} = [{', '.join(f'[{row}]' for row in rows)}]\n{own[part]}")
        assert next(asked, None) is None

    found = read(changed(blank(name), put), q).attempts[0]
    assert set(found.answers) == set(own)
    for part in own:
        written, expected = found.answers[part], key.answers[part]
        assert isinstance(written, Grid)
        assert isinstance(expected, Grid)
        right = [(i, j) for i, j, entry in expected.cells() if not entry.blank]
        assert [written[place].value for place in right] == [expected[place].value for place in right]


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", ["multi_head_attention", "attention_gradient"])
def test_who_computes_with_numpy_has_full_marks_for_what_it_prints(mechanism: str) -> None:
    """The key's program is run here, as a student would, and its results put below cells that compute them."""
    [sheet] = worksheet(mechanism, seed=5)
    names: dict[str, Any] = {}
    for cell in json.loads(notebook.write(sheet.key))["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
    own = variables(sheet.question).parts.values()
    with np.printoptions(precision=4, suppress=True):
        shown = {name: repr(np.asarray(names[name])) for name in own}
    text = coded(notebook.write(sheet.worksheet), {name: f"{name} = f(X) @ g" for name in own}, shown)
    report = marked(sheet.question, read(text, sheet.question).attempts[0])
    assert report.total == report.available
    assert not report.events
    assert not read(text, sheet.question).attempts[0].remarks


PAPER = ("full", "choice", "full", "drills")


def test_questions_of_an_exam_may_call_their_matrices_alike() -> None:
    questions = [question(name) for name in PAPER]
    text = notebook.write(paper(ExamSpec("An exam"), Copy(0, identity("x"), name="Bo", id="3"), questions))
    assert not any(a.answers or a.more or a.remarks for a in read(text, *questions).attempts)

    def put(cells: list[Cell]) -> None:
        for number, cell in enumerate(cells):
            source = "".join(cell["source"])
            if cell["cell_type"] == "code" and source.startswith("S = ..."):
                cell["source"] = f"S = np.array([[{number}]])"

    found = read(changed(text, put), *questions)
    said = [values(a.answers["S"]) for a in found.attempts if "S" in a.answers]
    assert len(said) == 2
    assert said[0] != said[1]
    assert (found.sheet, found.name, found.student) == (identity("x"), "Bo", "3")
    keys = [key_script(q) for q in questions]
    filled = read(fill_notebook(text, questions, keys), *questions)
    for q, attempt in zip(questions, filled.attempts, strict=True):
        assert marked(q, attempt).total == marked(q, key_script(q)).total


# ------------------------------------------------------------------------------------ ways of writing a matrix in code

Q = [[1, F(1, 2)], [F(1, 4), -3]]
CODE = {
    "an array": "Q = np.array([[1, 1/2], [0.25, -3]])",
    "lists": "Q = [[1, 1/2], [.25, -3]]",
    "tuples": "Q = ((1, 1/2), (0.25, -3))",
    "texts": "Q = [['1', '1/2'], ['25 %', '−3']]",
    "LaTeX": r"Q = [[r'\frac{2}{2}', r'\tfrac12'], [1/4, -3]]",
    "one text": "Q = '1/4 * [[4, 2], [1, -12]]'",
    "lines": 'Q = """\n1 1/2\n0.25 -3\n"""',
    "a factor": "Q = 1/4 * np.array([[4, 2], [1, -12]])",
    "divided": "Q = np.array([[4, 2], [1, -12]], dtype=float) / 4",
    "turned and negative": "Q = -np.array([[-1, -1/4], [-1/2, 3]]).T",
    "SymPy": "Q = sp.Matrix([[1, sp.Rational(1, 2)], [sp.S('1/4'), -3]])",
    "fractions": "Q = np.array([[Fraction(1), Fraction(1, 2)], [Fraction('1/4'), Fraction(-3)]])",
    "arithmetic": "Q = [[2**0, (3 - 2)/2], [2**-2, -(1 + 2)]]",
    "a type": "Q: np.ndarray = np.asarray([[1, 1/2], [1/4, -3]])",
    "two names": "a = Q = [[1, 1/2], [1/4, -3]]",
    "rows as arrays": "Q = np.array([np.array([1, 1/2]), np.array([0.25, -3])])",
    "magic and comments": "%matplotlib inline\n!pip install numpy\nQ = [[1, 1/2],  # first\n     [1/4, -3]]",
    "the last one": "Q = [[9, 9], [9, 9]]\nQ = [[1, 1/2], [1/4, -3]]",
    "line ends of Windows": "Q = [[1, 1/2],\r\n     [1/4, -3]]\r\n",
}  # fmt: skip


@pytest.mark.parametrize("way", CODE)
def test_one_matrix_many_ways(way: str) -> None:
    found = read(coded(blank("full"), {"Q": CODE[way]}), question("full"))
    assert values(found.attempts[0].answers["Q"]) == Q


EXACT = {
    "np.exp(2)/(1 + 2*np.exp(2))": "e^2/(1+2e^2)", "math.sqrt(3)/3": "√3/3", "exp(-1)": "1/e",
    "sp.sqrt(2)*sp.E": "√2 e",
    "np.log(3)": "ln(3)", "-np.e**2": "-(e^2)", "-np.inf": "−∞", "(1 + sqrt(5))/-2": "-1/2 - √5/2", "-2**2": "-4",
}  # fmt: skip


@pytest.mark.parametrize("source", EXACT)
def test_exact_values_in_code(source: str) -> None:
    found = one([code(f"Q = [[{source}]]")]).answers["Q"]
    assert decide(values(found)[0][0], read_number(EXACT[source]).value).equal


@st.composite
def arithmetic(draw: st.DrawFn, depth: int = 4) -> str:
    """Arithmetic of whole numbers as Python writes it, with brackets here and there."""
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return str(draw(st.integers(0, 12)))
    left, right = draw(arithmetic(depth=depth - 1)), draw(arithmetic(depth=depth - 1))
    match draw(st.integers(0, 6)):
        case 0:
            return f"-{left}"
        case 1:
            return f"({left})"
        case 2:
            return f"({left})**{draw(st.integers(1, 3))}"
        case 3:
            return f"-{draw(st.integers(1, 9))}**2"
    return f"{left}{draw(st.sampled_from([' + ', '-', '*', ' / ']))}{right}"


@given(arithmetic())
@tries(20)
def test_arithmetic_means_what_it_means_in_python(source: str) -> None:
    try:
        expected = eval(re.sub(r"(\d+)", r"Fraction(\1)", source), {"Fraction": Fraction})
    except ZeroDivisionError:
        return
    found = read_code(f"Q = [[{source}]]")
    assert found is not None
    assert read_number(found.names["Q"].rows[0][0]).value == expected  # type: ignore[union-attr]


NUMBERS = st.floats(-1000, 1000).filter(lambda x: x == 0 or abs(x) > 1e-20)


@given(
    st.lists(st.lists(NUMBERS, min_size=3, max_size=3), min_size=1, max_size=4),
    st.integers(1, 8),
    st.booleans(),
    st.sampled_from([repr, str]),
)
def test_what_numpy_prints_is_read_to_the_last_place(
    rows: list[list[float]], precision: int, suppress: bool, show: Callable[[object], str]
) -> None:
    array = np.array(rows)
    with np.printoptions(precision=precision, suppress=suppress):
        shown = show(array)
    found = printed(shown)
    assert found is not None
    assert np.array(found.rows).shape == array.shape
    for text, number in zip(np.ravel(found.rows), np.ravel(array), strict=True):
        written = read_number(text)
        unit = Fraction(1, 10 ** (written.places or 0))
        if "e" not in shown:
            assert abs(Fraction(float(number)) - written.value) <= unit / 2 + Fraction(1, 10**12)
        else:
            assert float(written.value) == pytest.approx(number, rel=10.0**-precision, abs=1e-300)


NOT_READ = {
    "shortened": repr(np.arange(2000).reshape(2, 1000)), "not a matrix": "<Figure size 640x480 with 1 Axes>",
    "words": "Q is\n[[1 2]]", "two of them": "[[1 2]]\n[[3 4]]", "a call": "f([[1, 2]])", "a sum": "[[1]] + [[2]]",
    "nothing": "", "an Ellipsis": "Ellipsis", "an error": "NameError: name 'Q' is not defined",
    "too long": "[" * 30_000,
}  # fmt: skip


@pytest.mark.parametrize("what", NOT_READ)
def test_outputs_that_are_no_matrix(what: str) -> None:
    assert printed(NOT_READ[what]) is None


# ------------------------------------------------------------------------------------ what students do


def one(sources: Sequence[Cell], name: str = "full") -> Attempt:
    """The attempt in a worksheet with these cells below the heading of its first part."""

    def put(cells: list[Cell]) -> None:
        at = next(i for i, cell in enumerate(cells) if "".join(cell["source"]).startswith("Q = ..."))
        cells[at : at + 1] = sources

    return read(changed(blank(name), put), question(name)).attempts[0]


def test_a_filled_table_counts_before_code() -> None:
    q = question("full")
    key = key_of(q)["Q"]
    filled = fill_notebook(blank("full"), [q], [Attempt({"Q": key_script(q).answers["Q"]})])
    found = read(coded(filled, {"Q": "Q = [[7]]"}), q).attempts[0]
    assert values(found.answers["Q"]) == key
    assert not found.remarks
    assert not read(coded(filled, {"Q": "Q = X @ W_Q"}), q).attempts[0].remarks


def test_a_result_counts_only_for_what_was_computed() -> None:
    exact, rounded = "Q = [['1/3', '√2']]\nQ", "array([[0.3333, 1.4142]])"
    assert [e.text for e in one([code(exact, rounded)]).answers["Q"].rows[0]] == ["1/3", "√2"]  # type: ignore[union-attr]
    computed = one([code("Q = X @ W_Q"), code("print(Q)", "[[ 1 -2]]")])
    assert values(computed.answers["Q"]) == [[1, -2]]
    later = one([code("Q = [[1, 2]]"), code("Q = Q * 2\nQ", "[[2, 4]]")])
    assert values(later.answers["Q"]) == [[2, 4]]
    assert ["twice" in remark.says for remark in later.remarks] == [True]


@pytest.mark.parametrize(
    "source", ["Q = X @ W_Q\nQ", "Q[0] = 1", "(Q, K), _ = f(X)", "for Q in X:\n    pass", "Q += 1", "Q = [[1]*3]*4"]
)
def test_what_was_computed_and_not_shown_is_told(source: str) -> None:
    found = one([code("pass"), code(source)])
    assert "Q" not in found.answers
    assert [remark.where for remark in found.remarks if "Run the cell" in remark.says][:1] == ["Q"]


def test_functions_have_names_of_their_own() -> None:
    found = one([code("def f(X):\n    Q = [[5]]\n    return Q\n")])
    assert not found.answers
    assert not found.remarks


def test_steps_that_nobody_asked_for_and_matrices_of_ones_own_choice() -> None:
    full = question("full")
    q = replace(full, parts=tuple(part for part in full.parts if part.name != "S'"))
    text = changed(notebook.write(question_document(q)), lambda cells: cells.append(code("S_scaled = [[1, 2]]")))
    assert values(read(text, q).attempts[0].more["S'"]) == [[1, 2]]
    design = question("design")
    part = next(part for part in design.parts if isinstance(part.answer, PropertyAnswer))
    assert isinstance(part.answer, PropertyAnswer)
    matrix = next(iter(part.answer.model))
    heading = next(i for i, p in enumerate(design.parts) if p is part) + 1

    def below(cells: list[Cell]) -> None:
        at = next(i for i, cell in enumerate(cells) if "".join(cell["source"]).startswith(f"## {heading}\\."))
        cells.insert(at + 1, code(f"{matrix} = [[1, 2], [3, 4]]"))

    said = read(changed(blank("design"), below), design).attempts[0].answers[part.name]
    assert isinstance(said, Grids)
    assert values(said.grids[matrix]) == [[1, 2], [3, 4]]


def test_a_decimal_mark_that_was_stated_holds_for_texts() -> None:
    text = coded(blank("full"), {"Q": "Q = [[0.5, '0,25']]"})
    assert values(read(text, question("full"), mark=",").attempts[0].answers["Q"]) == [[F(1, 2), F(1, 4)]]


def test_code_that_is_no_python_is_told_and_the_rest_is_read() -> None:
    found = read(coded(blank("full"), {"Q": "Q = [[1, 2", "K": "K = [[3]]"}), question("full"))
    assert values(found.attempts[0].answers["K"]) == [[3]]
    assert [remark.says for remark in found.remarks] == ["It cannot be read as Python, so nothing in it counts."]
    assert re.fullmatch(r"cell \d+", found.remarks[0].where)


def test_another_kernel_leaves_the_tables() -> None:
    q = question("full")
    data = json.loads(fill_notebook(blank("full"), [q], [Attempt({"K": key_script(q).answers["K"]})]))
    data["metadata"]["kernelspec"] = {"name": "ir", "language": "R"}
    found = read(coded(json.dumps(data), {"Q": "Q = [[1]]"}), q)
    assert set(found.attempts[0].answers) == {"K"}
    assert ["in 'R'" in remark.says for remark in found.remarks] == [True]


def test_a_number_in_a_python_power_sign_is_not_guessed() -> None:
    """2^3 is 8 for people and 1 for Python."""
    found = one([code("Q = [[2^3, 1]]")])
    assert "Q" not in found.answers


# ------------------------------------------------------------------------------------ nothing is run


def test_nothing_in_a_notebook_is_run(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    write = f"open({str(trace)!r}, 'w').write('x')"
    attacks = (
        write, f"Q = [[{write}]]", f"Q = eval({write!r})", f"Q = np.array(__import__('os').system('touch {trace}'))",
        f"!touch {trace}", f"%run {trace}", f"Q = [[f'{{{write}}}']]", f"class Q:\n    x = {write}",
        f"@(lambda f: {write})\ndef Q(): pass", f"Q: {write} = [[1]]",
        f"Q = [['{{{{{write}}}}}', \"__import__('os')\"]]",
        f"Q = np.load({write!r}, allow_pickle=True)", f"Q = (lambda: {write})()", f"Q = [[1 if {write} else 2]]",
    )  # fmt: skip
    for attack in attacks:
        read(coded(blank("full"), {"Q": attack}, {"Q": f"array([[{write}]])"}), question("full"))
        assert not trace.exists(), attack


def nested(opening: str, closing: str = "", inside: str = "1", times: int = 6000) -> str:
    return "Q = " + opening * times + inside + closing * times


HUGE = {
    "brackets": nested("(", ")"), "lists": nested("[", "]"), "90 lists": nested("[", "]", times=90),
    "signs": nested("-"),
    "not": nested("not "), "a sum": "Q = 1" + "+1" * 9000, "a power": nested("2**"),
    "calls": nested("np.array(", ")", times=90),
    "lambdas": nested("lambda: "), "factors": "Q = np.array([[1]])" + "*2" * 9000,
    "turned": "Q = np.array([[1]])" + ".T" * 9000,
    "digits": "Q = " + "9" * 19_000, "hexadecimal": "Q = 0x" + "f" * 19_000, "a repeated list": "Q = [[1]*10**9]*10**9",
    "wide": f"Q = [[{'1,' * 9000}]]", "long": "Q = 1\n" * 10_000, "a power of a power": "Q = [[9**9**9**9]]",
    "an exponent": "Q = [[1e999, 1e-999]]", "a surrogate": "Q = '\ud800'", "a NUL": "Q = \0",
    "not a number": "Q = [[np.nan, 1]]",
}  # fmt: skip


@pytest.mark.parametrize("what", HUGE)
def test_what_is_huge_is_read_or_told(what: str) -> None:
    found = read(coded(blank("full"), {"Q": HUGE[what], "K": "K = [[3]]"}, {"Q": HUGE[what][4:]}), question("full"))
    assert values(found.attempts[0].answers["K"]) == [[3]]
    assert all(remark.says.endswith(".") for a in found.attempts for remark in (*a.remarks, *found.remarks))


def notebook_of(**changes: object) -> str:
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [], **changes})


BROKEN = {
    "nbformat 3": (notebook_of(nbformat=3), "nbformat 3"),
    "no number": (notebook_of(nbformat=None), "nbformat None"),
    "cells by name": (notebook_of(cells={"a": 1}), "no list of cells"),
    "a cell that is none": (notebook_of(cells=[1]), "cell 1 is broken"),
    "no source": (notebook_of(cells=[{"cell_type": "code"}]), "cell 1 is broken"),
    "a source of numbers": (notebook_of(cells=[{"cell_type": "code", "source": [{}]}]), "cell 1 is broken"),
    "too many cells": (notebook_of(cells=[{}] * 3000), "3000 cells"),
    "deep": ('{"nbformat": 4, "cells": ' + "[" * 100_000, "deep"),
    "nothing of ours": (notebook_of(cells=[code("1 + 1")]), "nothing in it belongs"),
}
SPOILT = {"cut off": lambda text: text[:3000], "2 MB": lambda text: text + " " * 2_000_000}
"""What is said of a notebook, and what has become of it."""


@pytest.mark.parametrize("expected", SPOILT)
def test_a_notebook_that_came_to_harm_is_refused_in_one_sentence(expected: str) -> None:
    refused(SPOILT[expected](blank("full")), expected)


@pytest.mark.parametrize("what", BROKEN)
def test_a_notebook_that_cannot_be_used_is_refused_in_one_sentence(what: str) -> None:
    refused(*BROKEN[what])


def refused(text: str, expected: str) -> None:
    with pytest.raises(InputError) as error:
        read_submission(text, [question("full")], form="notebook", source="ada.ipynb")
    message = str(error.value)
    assert message.startswith("ada.ipynb: ")
    assert expected in message
    assert message.count("\n") == 0


def test_what_notebooks_hold_besides_does_no_harm() -> None:
    odd: list[Cell] = [
        {"cell_type": "raw", "source": "raw"}, {"source": ""}, {"cell_type": "code", "source": "1", "outputs": 7},
        {"cell_type": "code", "source": "Q", "outputs": [3, {}, {"data": 5}, {"data": {"text/plain": {}}}]},
        {"cell_type": "markdown", "source": "```\nopen fence", "attachments": {}},
        {"cell_type": "markdown", "source": "$$"}, {"cell_type": "markdown", "source": "<!-- symattn:grid id=Q"},
        {"cell_type": "markdown", "source": "| a | b |\n|---|---|"},
    ]  # fmt: skip
    q = question("full")
    key = key_script(q)
    filled = changed(fill_notebook(blank("full"), [q], [key]), lambda cells: cells.extend(odd[:4]))
    between = changed(filled, lambda cells: cells.__setitem__(slice(8, 8), odd))
    for text in (filled, between):
        assert marked(q, read(text, q).attempts[0]).total == q.marks


SOUP = st.lists(
    st.sampled_from(
        ["Q", "K", " = ", "[", "]", "[[", "]]", "(", ")", "np.array(", ".T", "*", "/", "**", "-", "1", "2.50", "e", "'",
         '"', "'", ",", "\n", " ", "...", "None", "nan", "np.exp(", "lambda", ":", "for", "in", "def f():", "#", "\\",
         "1e5", "0x1", "1j", "f'", "{", "}", "print(", "@", "é", "−", "√3", "=", "True"]
    ), max_size=40,
).map("".join)  # fmt: skip


@pytest.mark.slow
@given(SOUP, SOUP, st.sampled_from(["Q", "K", "Z"]))
@tries(80)
def test_any_code_and_any_output_is_read(source: str, output: str, name: str) -> None:
    found = read(coded(blank("full"), {name: source}, {name: output}), question("full"))
    assert len(found.attempts) == 1
    if (shown := read_code(source)) is not None:
        tree = ast.parse(re.sub(r"(?m)^[ \t]*[%!?].*", "", source))
        stored = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        assert set(shown.names) <= stored


LEAVES = st.none() | st.booleans() | st.integers(-9, 9) | st.floats() | st.text(max_size=8)
ANYTHING = st.recursive(
    LEAVES | st.sampled_from(["code", "markdown", "Q = [[1]]", "| Q | 1 |\n|---|---|\n| **1** | 2 |"]),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(
        st.sampled_from(["cells", "source", "cell_type", "outputs", "data", "text", "text/plain", "metadata",
                         "kernelspec", "language", "symattn", "sheet", "lang", "name", "nbformat"]), inner, max_size=5
    ),
    max_leaves=25,
)  # fmt: skip


@given(st.dictionaries(st.sampled_from(["cells", "metadata", "nbformat", "nbformat_minor"]), ANYTHING), ANYTHING)
@tries(20)
def test_any_json_is_read_or_refused(data: dict[str, object], cell: object) -> None:
    cells = data.get("cells")
    whole = {"nbformat": 4, **data, "cells": [*cells, cell] if isinstance(cells, list) else [cell]}
    refusal = ""
    try:
        found = read_submission(json.dumps(whole), [question("full")], form="notebook")
    except InputError as error:
        refusal = str(error)
    assert refusal.startswith("The text: ") if refusal else len(found.attempts) == 1


# ------------------------------------------------------------------------------------ where notebooks are taken


def test_a_notebook_is_known_by_what_it_is() -> None:
    q = question("full")
    filled = fill_notebook(blank("full"), [q], [Attempt({})], name="Ada", student="17")
    assert form_of(filled) == "notebook"
    for form in ("", "notebook", "json", "markdown"):
        assert sheet_of(filled, form) == (identity(q.frozen), "Ada", "17")
        assert not read_submission(filled, [q], form=form).attempts[0].answers


@pytest.mark.slow
def test_check_and_grade_take_notebooks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*arguments: str) -> str:
        result = CliRunner().invoke(main, arguments, catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.output

    monkeypatch.chdir(tmp_path)
    run("worksheet", "attention", "--seed", "7", "-n", "2", "--format", "notebook", "--out", "set")
    blanks = sorted(path for path in Path("set").glob("*.ipynb") if "key" not in path.name)
    made = worksheet("attention", seed=7, n=2)
    Path("handed-in").mkdir()
    for path, sheet, name in zip(blanks, made, ("Ada", "Bo"), strict=True):
        key = key_script(sheet.question)
        filled = fill_notebook(path.read_text(encoding="utf-8"), [sheet.question], [key], name=name)
        Path("handed-in", f"{name}.ipynb").write_text(filled, encoding="utf-8")
        told = json.loads(run("check", "set/attention-7.json", f"handed-in/{name}.ipynb", "--format", "json"))
        assert told["total"] == told["of"] == sheet.question.marks
    Path("handed-in", "broken.ipynb").write_text("{", encoding="utf-8")
    run(
        "grade",
        "set/attention-7.json",
        "handed-in",
        "--out",
        "marked",
        "--format",
        "markdown",
        "--quiet",
        "--jobs",
        "1",
    )
    rows = Path("marked", "gradebook.csv").read_text(encoding="utf-8")
    assert "Ada" in rows
    assert "Bo" in rows
    assert "broken" in rows
    assert "notebook" in run("check", "--help")
    assert ".ipynb" in run("grade", "--help")
