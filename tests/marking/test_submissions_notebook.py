"""Notebooks handed in: what stands in tables, in code and in printed results is read, and nothing in them is run."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from filling import fill_notebook
from hypothesis import given
from hypothesis import strategies as st
from scripts import key_script, marked
from sentences import refused_saying
from tables import tables_beside
from test_submissions_markdown import question, values

from symattn.exact import decide
from symattn.exact.reading import read as read_number
from symattn.foundation.identity import identity
from symattn.marking.attempt import Attempt
from symattn.marking.submissions import form_of, read_submission, sheet_of
from symattn.marking.submissions.code import printed
from symattn.page.writers import notebook
from symattn.teaching.exam.frozen_exam import Copy
from symattn.teaching.exam.papers import paper
from symattn.teaching.exam.spec import ExamSpec
from symattn.teaching.explanation.documents import question_document
from symattn.teaching.explanation.program import variables
from symattn.teaching.problems import drawn_types
from symattn.teaching.question import PropertyAnswer

TYPES = sorted(drawn_types())


@cache
def blank(name):
    q = question(name)
    return notebook.write(question_document(q, identity(q.frozen), "symattn worksheet x"))


def read(text, *questions, mark="auto"):
    return read_submission(text, questions, source="ada.ipynb", decimal_mark=mark)


def changed(text, change):
    """A notebook with something done to its cells."""
    data = json.loads(text)
    change(data["cells"])
    return json.dumps(data)


def code(source, *outputs):
    shown = [{"output_type": "execute_result", "data": {"text/plain": output.splitlines(True)}} for output in outputs]
    return {"cell_type": "code", "source": source, "outputs": shown, "metadata": {}}


def coded(text, sources, outputs=None):
    """A notebook with code in place of `Q = ...`, by the variable, and with what it shows."""

    def put(cells):
        for i, cell in enumerate(cells):
            found = re.match(r"(\w+) = \.\.\.", "".join(cell["source"]))
            if found and found[1] in sources:
                shown = [outputs[found[1]]] if outputs and found[1] in outputs else []
                cells[i] = code(sources[found[1]] + f"\n{found[1]}", *shown)

    return changed(text, put)


# ------------------------------------------------------------------------------------ what was filled in comes back


@pytest.mark.covering(most=3)
@pytest.mark.parametrize("name", [*dict.fromkeys(("drills", *TYPES[::3]))])
def test_a_key_written_as_code_has_full_marks_in_every_part_that_has_code(name):
    """Exact values as texts; every part, also where givens of another part are called like its answer."""
    q = question(name)
    key, own = key_script(q), variables(q).parts

    def put(cells):
        asked = iter(own)
        for i, cell in enumerate(cells):
            if cell["cell_type"] == "code" and " = ...  # to compute" in "".join(cell["source"]):
                part = next(asked)
                rows = [[repr(entry.text) if entry.text else "..." for entry in row] for row in key.answers[part].rows]
                cells[i] = code(f"{own[part]} = [{', '.join('[' + ', '.join(row) + ']' for row in rows)}]\n{own[part]}")
        assert next(asked, None) is None

    found = read(changed(blank(name), put), q).attempts[0]
    assert set(found.answers) == set(own)
    for part in own:
        for i, j, expected in key.answers[part].cells():
            assert expected.blank or found.answers[part][i, j].value == expected.value


def test_questions_of_an_exam_may_call_their_matrices_alike():
    questions = [question(name) for name in ("full", "choice", "full")]
    text = notebook.write(paper(ExamSpec("An exam"), Copy(0, identity("x"), name="Bo", id="3"), questions))
    assert not any(a.answers or a.more or a.remarks for a in read(text, *questions).attempts)

    def put(cells):
        for number, cell in enumerate(cells):
            source = "".join(cell["source"])
            if cell["cell_type"] == "code" and source.startswith("S = ..."):
                cell["source"] = f"S = np.array([[{number}]])"

    found = read(changed(text, put), *questions)
    said = [values(a.answers["S"]) for a in found.attempts if "S" in a.answers]
    assert len(said) == 2
    assert said[0] != said[1]
    assert (found.sheet, found.name, found.student) == (identity("x"), "Bo", "3")


# ------------------------------------------------------------------------------------ ways of writing a matrix in code

TABLES = tables_beside(__file__)
CODE, EXACT = TABLES["code"], TABLES["exact"]
Q = [["1", "1/2"], ["1/4", "-3"]]


@pytest.mark.parametrize("way", CODE)
def test_one_matrix_many_ways(way):
    found = read(coded(blank("full"), {"Q": CODE[way]}), question("full"))
    assert values(found.attempts[0].answers["Q"]) == Q


@pytest.mark.parametrize("source", EXACT)
def test_exact_values_in_code(source):
    found = one([code(f"Q = [[{source}]]")]).answers["Q"]
    assert decide(found[0, 0].value, read_number(EXACT[source]).value).equal


NUMBERS = st.floats(-1000, 1000).filter(lambda x: x == 0 or abs(x) > 1e-20)


ROWS = st.lists(st.lists(NUMBERS, min_size=3, max_size=3), min_size=1, max_size=4)


@given(ROWS, st.integers(1, 8), st.booleans(), st.sampled_from([repr, str]))
def test_what_numpy_prints_is_read_to_the_last_place(rows, precision, suppress, show):
    with np.printoptions(precision=precision, suppress=suppress):
        shown = show(np.array(rows))
    found = [[read_number(text) for text in row] for row in printed(shown).rows]
    assert [len(row) for row in found] == [len(row) for row in rows]
    for written, number in zip(itertools.chain(*found), itertools.chain(*rows), strict=True):
        off = abs(float(written.value) - number)
        assert off <= 0.51 * 10.0 ** -(written.places or 0) if "e" not in shown else off <= abs(number) * 0.1**precision


NOT_READ = {
    "shortened": repr(np.arange(2000).reshape(2, 1000)), "not a matrix": "<Figure size 640x480 with 1 Axes>",
    "nothing": "", "an Ellipsis": "Ellipsis", "an error": "NameError: name 'Q' is not defined",
    "too long": "[" * 30_000,
}  # fmt: skip


@pytest.mark.parametrize("what", NOT_READ)
def test_outputs_that_are_no_matrix(what):
    assert printed(NOT_READ[what]) is None


# ------------------------------------------------------------------------------------ what students do


def one(sources, name="full"):
    """The attempt in a worksheet with these cells below the heading of its first part."""

    def put(cells):
        at = next(i for i, cell in enumerate(cells) if "".join(cell["source"]).startswith("Q = ..."))
        cells[at : at + 1] = sources

    return read(changed(blank(name), put), question(name)).attempts[0]


def test_a_filled_table_counts_before_code():
    q = question("full")
    key = Attempt({"Q": key_script(q).answers["Q"]})
    filled = fill_notebook(blank("full"), [q], [key])
    for source in ("Q = [[7]]", "Q = X @ W_Q"):
        found = read(coded(filled, {"Q": source}), q).attempts[0]
        assert (found.answers, found.remarks) == (key.answers, ())


def test_a_result_counts_only_for_what_was_computed():
    exact, rounded = "Q = [['1/3', '√2']]\nQ", "array([[0.3333, 1.4142]])"
    assert [e.text for e in one([code(exact, rounded)]).answers["Q"].rows[0]] == ["1/3", "√2"]
    hidden = "Q = [[1, float('-inf')], [-np.inf, 1 - 2]]"
    assert [[e.text for e in row] for row in one([code(hidden)]).answers["Q"].rows] == [
        ["1", "-inf"],
        ["-inf", "(1 - 2)"],
    ]
    computed = one([code("Q = X @ W_Q"), code("print(Q)", "[[ 1 -2]]")])
    assert values(computed.answers["Q"]) == [["1", "-2"]]
    later = one([code("Q = [[1, 2]]"), code("Q = Q * 2\nQ", "[[2, 4]]")])
    assert values(later.answers["Q"]) == [["2", "4"]]
    assert ["twice" in remark.says for remark in later.remarks] == [True]


@pytest.mark.parametrize(
    ("source", "told"),
    [
        *((source, ["Q"]) for source in ("Q = X @ W_Q\nQ", "Q[0] = 1", "(Q, K), _ = f(X)", "for Q in X:\n    pass")),
        *((source, ["Q"]) for source in ("Q += 1", "Q = [[1]*3]*4")),
        ("Q = [[2^3, 1]]", ["Q"]),  # 8 for people, and 1 for Python
        ("Q = [['1/2' + '3', 1]]", ["Q"]),  # 7/2 for people, and 1/23 for Python
        ("def f(X):\n    Q = [[5]]\n    return Q\n", []),
    ],
)
def test_what_was_computed_and_not_shown_is_told(source, told):
    found = one([code("pass"), code(source)])
    assert "Q" not in found.answers
    assert [remark.where for remark in found.remarks if "Run the cell" in remark.says][:1] == told


def test_what_was_shown_before_its_name_was_computed_anew_waits_unless_it_is_right():
    shown = code("Q = X @ W_K\nQ", "[[9, 9, 9, 9], [9, 9, 9, 9], [9, 9, 9, 9]]")
    assert not one([shown]).doubts
    again = one([shown, code("Q = X @ W_Q")])
    assert "Run the cell" in again.doubts["Q"].says
    assert marked(question("full"), again).pending


def test_steps_that_nobody_asked_for_and_matrices_of_ones_own_choice():
    full = question("full")
    q = replace(full, parts=tuple(part for part in full.parts if part.name != "S'"))
    text = changed(notebook.write(question_document(q)), lambda cells: cells.append(code("S_scaled = [[1, 2]]")))
    assert values(read(text, q).attempts[0].more["S'"]) == [["1", "2"]]
    design = question("design")
    heading, part = next((n, p) for n, p in enumerate(design.parts, 1) if isinstance(p.answer, PropertyAnswer))
    matrix = next(iter(part.answer.model))

    def below(cells):
        at = next(i for i, cell in enumerate(cells) if "".join(cell["source"]).startswith(f"## {heading}\\."))
        cells.insert(at + 1, code(f"{matrix} = [[1, 2], [3, 4]]"))

    said = read(changed(blank("design"), below), design).attempts[0].answers[part.name]
    assert values(said.grids[matrix]) == [["1", "2"], ["3", "4"]]


def test_code_below_an_explanation_is_none():
    q = question("design")
    text = changed(blank("design"), lambda cells: cells.append(code("S = [[1, 2], [3, 4]]")))
    assert set(read(text, q).attempts[0].answers) == {"a"}


def test_a_variable_of_ones_own_is_told_and_casts_no_doubt_on_what_stands_above_it():
    square = "[[1, 2, 3], [4, 5, 6], [7, 8, 9]]"
    for beside in (code("mine = [[1, 2], [3, 4]]"), code("mine = f(S)\nmine", "[[1, 2], [3, 4]]")):
        text = notebook_of(cells=[code(f"S = {square}"), beside])
        found = read(text, question("full")).attempts[0]
        assert (set(found.answers), found.doubts) == ({"S"}, {})
        assert ["mine = " in remark.says for remark in found.remarks] == [True]


def test_a_list_of_numbers_may_be_a_column():
    q = question("block")
    found = read(coded(blank("block"), {"N1_mean": "N1_mean = [-1, -3]"}), q).attempts[0]
    assert values(found.answers["N1_mean"]) == [["-1"], ["-3"]]


def test_a_decimal_mark_that_was_stated_holds_for_texts():
    text = coded(blank("full"), {"Q": "Q = [[0.5, '0,25']]"})
    assert values(read(text, question("full"), mark=",").attempts[0].answers["Q"]) == [["1/2", "1/4"]]


def test_code_that_is_no_python_is_told_and_the_rest_is_read():
    found = read(coded(blank("full"), {"Q": "Q = [[1, 2", "K": "K = [[3]]"}), question("full"))
    assert values(found.attempts[0].answers["K"]) == [["3"]]
    assert [remark.says for remark in found.remarks] == ["It cannot be read as Python, so nothing in it counts."]
    assert re.fullmatch(r"cell \d+", found.remarks[0].where)


def test_what_a_cell_shows_counts_where_its_code_is_no_python():
    q = question("full")
    book = json.loads(blank("full"))
    shown = {"output_type": "stream", "name": "stdout", "text": "[[3. 4.]\n [5. 6.]]\n"}
    book["cells"].append(
        {"cell_type": "code", "metadata": {}, "execution_count": 1, "source": "S₂ = ?\nprint(K)", "outputs": [shown]}
    )
    found = read(json.dumps(book), q)
    assert values(found.attempts[0].answers["K"]) == [["3", "4"], ["5", "6"]]
    assert found.attempts[0].unread >= {"Q", "V"}


def test_another_kernel_leaves_the_tables():
    q = question("full")
    data = json.loads(fill_notebook(blank("full"), [q], [Attempt({"K": key_script(q).answers["K"]})]))
    data["metadata"]["kernelspec"] = {"name": "ir", "language": "R"}
    found = read(coded(json.dumps(data), {"Q": "Q = [[1]]"}), q)
    assert set(found.attempts[0].answers) == {"K"}
    assert ["in 'R'" in remark.says for remark in found.remarks] == [True]


# ------------------------------------------------------------------------------------ nothing is run


def test_nothing_in_a_notebook_is_run(tmp_path):
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


HUGE = {
    "brackets": "(" * 6000 + "1" + ")" * 6000, "lists": "[" * 90 + "1" + "]" * 90, "signs": "-" * 6000 + "1",
    "not": "not " * 6000 + "1", "a sum": "1" + "+1" * 9000, "calls": "np.array(" * 90 + "1" + ")" * 90,
    "turned": "np.array([[1]])" + ".T" * 9000, "hexadecimal": "0x" + "f" * 19_000,
    "a repeated list": "[[1]*10**9]*10**9", "wide": f"[[{'1,' * 9000}]]", "long": "1\n" * 10_000,
    "a power of a power": "[[9**9**9**9]]", "an exponent": "[[1e999, 1e-999]]", "a surrogate": "'\ud800'",
    "a NUL": "\0", "not a number": "[[np.nan, 1]]",
}  # fmt: skip


@pytest.mark.covering(most=8)
@pytest.mark.parametrize("what", HUGE)
def test_what_is_huge_is_read_or_told(what):
    said = {"Q": f"Q = {HUGE[what]}", "K": "K = [[3]]"}
    found = read(coded(blank("full"), said, {"Q": HUGE[what]}), question("full"))
    assert values(found.attempts[0].answers["K"]) == [["3"]]
    assert all(remark.says.endswith((".", "'")) for a in found.attempts for remark in (*a.remarks, *found.remarks))


def notebook_of(**changes):
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
    "cut off": (notebook_of()[:30], "cut off"),
    "large": (notebook_of() + " " * 2_000_000, "2 MB"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_notebook_that_cannot_be_used_is_refused_in_one_sentence(what):
    text, says = BROKEN[what]
    with refused_saying(rf"^ada\.ipynb: .*{says}.*$"):
        read_submission(text, [question("full")], form="notebook", source="ada.ipynb")


def test_what_notebooks_hold_besides_does_no_harm():
    odd = [
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


# ------------------------------------------------------------------------------------ where notebooks are taken


def test_a_notebook_is_known_by_what_it_is():
    q = question("full")
    filled = fill_notebook(blank("full"), [q], [Attempt({})], name="Ada", student="17")
    assert form_of(filled) == "notebook"
    for form in ("", "notebook", "json", "markdown"):
        assert sheet_of(filled, form) == (identity(q.frozen), "Ada", "17")
        assert not read_submission(filled, [q], form=form).attempts[0].answers
