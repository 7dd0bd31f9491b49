"""Whatever is in the catalogues works with everything else in them; who adds an entry has it tested here at once."""

import re
import tomllib
from importlib import resources

import oracles
import pytest
import sympy
from catalogue_sheets import leaves
from printed_lines import NotReadError, evaluated

from symattn import formula as f
from symattn.api import derive
from symattn.page.document import Display
from symattn.page.notation import load_notation, notations, read_notation
from symattn.page.writers import FORMATS
from symattn.teaching.problem import examples, load_example

MODES = ({}, {"corrected": False}, {"symbolic": True}, {"places": 0, "entries": "none"})


@pytest.mark.covering(most=2, product=False)
@pytest.mark.parametrize("notation", [None, *notations()])
@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("example", examples())
def test_every_example_in_every_notation_is_written(example, mode, notation):
    if "symbolic" in mode and load_example(example).mechanism == "custom":
        pytest.skip("a custom problem has letters of its own")
    document = derive(example, notation=notation, **mode).document
    for form in FORMATS if notation is None else ("text", "latex"):
        text = FORMATS[form].write(document)
        assert text.strip(), form
        assert not re.search(r"Name\(|Number\(|object at|None|Traceback", text), form


def test_the_standard_notation_is_there_and_the_names_are_plain():
    assert "standard" in notations()
    for name in (*notations(), *examples()):
        assert name.replace("-", "").isalnum()
    for name in notations():
        assert load_notation(name) is load_notation(name), "a ready notation is read once"


def numeric(formula):
    """The matrix of numbers that a reader gets; none for anything else."""
    try:
        found = evaluated(formula)
    except NotReadError:
        return None
    return sympy.Matrix(found) if isinstance(found, list) else None


def displayed(document):
    for block in document.blocks:
        yield from block.lines if isinstance(block, Display) else ()


@pytest.mark.covering(most=22, rest=3)
@pytest.mark.parametrize("notation", notations())
@pytest.mark.parametrize("orientation", ["rows", "columns"])
@pytest.mark.parametrize("by", ["matrix", "token"])
def test_every_product_of_numbers_on_a_page_is_right(notation, orientation, by):
    # sizes are different, so that a product in the wrong order is no product
    givens = {"X": [[1, 0, 1, 2], [0, 2, 1, 0], [1, 1, -1, 1]], "W_Q": [[1, 0], [0, 1], [1, 1], [0, -1]]}
    givens |= {"W_K": [[0, 1], [1, 1], [2, 0], [0, 1]], "W_V": [[1], [0], [2], [1]]}
    given = oracles.turned(givens) if orientation == "columns" else givens
    solution = derive("self_attention", **given, orientation=orientation, scale="none", notation=notation, by=by)
    checked = 0
    for relation in leaves(tuple(displayed(solution.document)), f.Relation):
        values = [numeric(part) for part in relation.parts]
        for left, right, sign in zip(values, values[1:], relation.signs, strict=False):
            if sign == "=" and left is not None and right is not None:
                assert oracles.same_matrix(left, right), oracles.plain(relation)
                checked += 1
    # the notes' own pages are written for tokens as rows; the other pages go entry by entry
    assert checked or orientation == "columns" or notation not in ("note-000", "note-002")


@pytest.mark.parametrize("orientation", ["rows", "columns"])
def test_the_inputs_of_the_handout_are_the_tokens(orientation):
    tokens = [[1, 0, 5, 2], [0, 2, 1, 7], [3, 1, 4, 1]]
    weights = {name: [[1, 0], [0, 1], [1, 1], [0, 3]] for name in ("W_Q", "W_K", "W_V")}
    given = oracles.turned({"X": tokens, **weights}) if orientation == "columns" else {"X": tokens, **weights}
    page = oracles.page_lines(derive("self_attention", **given, orientation=orientation, notation="note-002").document)
    shown = [line for line in page if line.startswith("Input ")]
    right = [f"Input {t}: [{', '.join(map(str, token))}]" for t, token in enumerate(tokens, 1)]
    assert shown == right or (orientation == "columns" and not shown)  # left out rather than wrong


def test_givens_stand_in_the_orientation_that_comes_with_them():
    # square matrices fit either way: turned by mistake, they would give another answer without a word
    x, w = [[1, 2], [0, 1]], [[1, 0], [3, 1]]
    found = derive("self_attention", X=x, W_Q=w, W_K=w, W_V=w, orientation="columns", scale="none")
    assert found["Q"].result.sympy() == sympy.Matrix(w) * sympy.Matrix(x)


@pytest.mark.parametrize("name", notations())
def test_the_names_of_a_ready_notation_are_those_of_its_file(name):
    """Each is read when it is wanted; read at once, as those of a user's file are, they are the same and in order."""
    text = (resources.files("symattn.page.notations") / f"{name}.toml").read_text("utf-8")
    ready, at_once = load_notation(name), read_notation(tomllib.loads(text), name)
    assert [*ready.names] == [*at_once.names]
    assert {**ready.names} == {**at_once.names}
    assert ready == at_once
    assert "nothing of this name" not in ready.names
