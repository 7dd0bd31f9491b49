"""Where tokens are columns, no page says of rows what is true of columns, nor the other way round."""

import re

import pytest

from symattn.api import worksheet
from symattn.teaching.problems import drawn_types

MINE = """
title = "Tokens c_i are columns"
shapes = "index"
[settings]
orientation = "columns"
[names]
X = {matrix = "C", entry = "c_{i,j}", row = "c_i", word = "Tokens"}
W_Q = {matrix = "W_q", entry = "w^q_{i,j}"}
W_K = {matrix = "W_k", entry = "w^k_{i,j}"}
W_V = {matrix = "W_v", entry = "w^v_{i,j}"}
"""

EITHER = (
    r"A shape is rows × columns", r"\(rows × columns\)",
    r"[Rr]ow N: [\d, ./]+", r"rows and columns (exchanged|were swapped|swapped)", r"^Rows × columns:$",
    r"(sums? of products|one product|a row and a column)", r"in the row and the column",
    r"[Rr]ow N, column N", r"(one|a single) row or column", r"whole rows or columns", r"^[Rr]ow N:$", r"rows=N cols=N",
    r"^Column sums of F|column sums of F times F", "its rows are the columns of the picture", "symattn worksheet",
)  # fmt: skip
"""What is true of both: where a cell stands, how a shape is written."""

SHAPES = re.compile(r"\W*Matrix\W+Rows\W+Columns\W*")
"""The heading of a table of shapes, whose cells are no sentences."""


def directions(text):
    """The sentences that name a direction, without numbers and formulas."""
    found = set()
    for line in text.splitlines():
        if SHAPES.fullmatch(line):
            continue
        line = re.sub(r"\$[^$]*\$", "F", line)
        for said in re.split(r"(?<=[.;:|])\s+", re.sub(r"\d+(?:[./]\d+)?", "N", line)):
            said = said.strip(" |*-")
            if re.search(r"\b(rows?|columns?)\b", said, re.IGNORECASE) and not any(re.search(e, said) for e in EITHER):
                found.add(said)
    return found


def pages(
    folder, notation, problem, mechanism, options = None,
    **sizes,
):  # fmt: skip
    """All that is written of a sheet: blank, its key, common wrong answers, the overview."""
    worksheet(
        mechanism, problem=problem, notation=str(notation), seed=5, out=folder, forms=["markdown"], overview=True,
        solutions=["blank", "key", "diagnosis"], jobs=1, sizes=sizes or None, options=options,
    )  # fmt: skip
    return "\n".join(path.read_text("utf-8") for path in sorted(folder.glob("*.md")))


KINDS = [
    ("full", "attention"), ("full", "layer_norm_gradient"), ("full", "multi_head_attention"), ("full", "kv_cache"),
    ("full", "language_model"), ("full", "recurrent_network"), ("full", "positional_self_attention"),
    *((name, "") for name in drawn_types() if name not in ("full", "block", "extensions", "gradient")),
]  # fmt: skip
"""Every operation that has a direction, and every type that asks in words of its own."""


@pytest.fixture(scope="session")
def mine(tmp_path_factory):
    path = tmp_path_factory.mktemp("notation") / "mine.toml"
    path.write_text(MINE, "utf-8")
    return path


@pytest.mark.covering(most=3)
@pytest.mark.parametrize(("problem", "name"), KINDS)
def test_no_sentence_on_a_direction_is_that_of_the_other_one(problem, name, tmp_path):
    """What is said of rows where tokens are rows is said of columns, or not at all, where they are columns."""
    rows, columns = (
        directions(pages(tmp_path / lies, notation, problem, name))
        for lies, notation in (("rows", "standard"), ("columns", "columns"))
    )
    assert not rows & columns


def test_no_way_of_working_goes_the_other_way(mine, tmp_path):
    """Options that are ways of working, and why each is right or wrong."""
    rows, columns, own = (
        directions(pages(tmp_path / str(k), notation, "choice", "causal_self_attention", {"several": True}))
        for k, notation in enumerate(("standard", "columns", mine))
    )
    assert rows
    assert not {said for said in rows if "column j of F times row j of F" not in said} & (columns | own)


def test_every_letter_is_that_of_the_notation(mine, tmp_path):
    """Inputs are C there, and W_q is one of the weights: no X, and no W^Q as in the standard notation."""
    text = pages(tmp_path, mine, "full", "causal_self_attention", n=3, d_model=4)
    formulas = " ".join(re.findall(r"\$[^$]+\$", text))
    assert re.search(r"\bC\b", formulas)
    assert not re.search(r"\bX\b|W\^\{[QKV]", formulas)
    assert not re.search(r"(?<!\*\*)\b[XZ] [A-Z]ᵀ|[QKX] [QKX]ᵀ", text)
    assert {r"$W^{\top} C$", r"$Q^{\top} K$"} <= set(re.findall(r"\$[^$]+\$", text))  # P1 and T2, turned
