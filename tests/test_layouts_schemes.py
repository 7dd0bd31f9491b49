"""Layouts: Falk's scheme and columns written out, and how they are chosen; laws of every sheet: `tests/catalogue`."""

import numpy as np
import printed_lines
from catalogue_sheets import ROWS, sheet
from commands import run
from sentences import refused_saying

import symattn
from symattn.page.document import (
    Columns,
    Falk,
    Heading,
    Together,
    Words,
    all_blocks,
)
from symattn.page.writers.text import on_one_line


def schemes(document):
    return [block for block in all_blocks(document.blocks) if isinstance(block, Falk)]


# ------------------------------------------------------------------------------------------------ Falk's scheme


def test_a_scheme_written_out():
    d = symattn.derive("self_attention", X=[[1, 2]], W_Q=[[1, 0], [3, 1]], W_K=[[1, 0], [0, 1]],
                       W_V=[[1], [2]], layout="falk")  # fmt: skip
    first = next(block for block in all_blocks(d.document.blocks) if isinstance(block, Falk))
    assert [on_one_line(x) for x in (first.left, first.above, first.inside)] == ["[1 2]", "[1 0; 3 1]", "[7 2]"]
    [group] = [block for block in d.document.blocks if isinstance(block, Together) and first in block.blocks]
    rule = group.blocks[0]
    assert len(rule.lines) == 1


def test_letters_are_multiplied_in_a_scheme_by_name():
    d = symattn.derive("attention", symbolic=True, sizes={"n": 2, "m": 2, "d_k": 2, "d_v": 2}, layout="falk")
    first = schemes(d.document)[0]
    assert on_one_line(first.left.rows[0][0]) == "q₁₁"
    assert on_one_line(first.inside.rows[0][0]) == "s₁₁"


def test_what_is_missing_from_a_faded_example_is_in_no_factor():
    """Entries of a given matrix may be blank as well: then its numbers stand in no scheme."""
    [made] = symattn.worksheet("attention", problem="faded", seed=3, options={"backwards": True})
    blanks = made.question.frozen["blanks"]
    for scheme in schemes(made.document(layout="falk")):
        for factor in (scheme.left, scheme.above):
            if (shown := printed_lines.floats(factor)) is not None:
                for name in blanks:
                    matrix = made.problem.derivation.value(name)
                    for m in (matrix, matrix.T):
                        values = np.array([[float(symattn.exact.decimal_text(x, 9)) for x in row] for row in m.rows])
                        assert values.shape != shown.shape or not np.allclose(values, shown)


# ------------------------------------------------------------------------------------------------ columns


def test_columns_hold_every_question_of_the_usual_worksheet():
    """The first asks for a shape as well, in a sentence."""
    (made,) = symattn.worksheet(seed=7)
    blocks = made.document(layout="columns").blocks
    (columns,) = (block for block in blocks if isinstance(block, Columns))
    assert len(columns.rows) == len(made.question.parts) == 7


# ------------------------------------------------------------------------------------------------ choosing


def test_the_frozen_set_knows_no_layout(tmp_path):
    for layout in ("matrix", "falk", "columns"):
        done = run("worksheet", "--seed", "3", "--layout", layout, "--format", "text", "--out", tmp_path / layout)
        assert done.exit_code == 0, done.output
    frozen = {layout.name: (layout / "self-attention-3.json").read_bytes() for layout in tmp_path.iterdir()}
    assert len(set(frozen.values())) == 1
    papers = {(layout / "self-attention-3-01.txt").read_text() for layout in tmp_path.iterdir()}
    assert len(papers) == 3


def test_a_layout_that_there_is_not_is_named():
    with refused_saying("layout is 'fancy'; one of matrix, falk, columns, flow was expected"):
        sheet(ROWS[0]).document(layout="fancy")
    with refused_saying("A note as it was written has a layout of its own"):
        assert symattn.derive("note-000", corrected=False, layout="falk").document


def test_a_note_in_another_layout_keeps_its_errata():
    headings = [block for block in symattn.derive("note-000", layout="columns").document.blocks
                if isinstance(block, Heading)]  # fmt: skip
    assert Words("Errata corrected here") in [part for heading in headings for part in heading.content]
