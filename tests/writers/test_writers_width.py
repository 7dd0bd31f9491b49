"""The estimate of widths, against what typst and TeX measure."""

import json
import re

import pytest
from writer_samples import FORMULAS, equal, plus, sheet

from symattn.formula.nodes import NOTHING, Fraction, Name, Number, Product, Relation, Sum, Text, children
from symattn.formula.width import fold, width
from symattn.page.document import Document, Entries, Paragraph, Table, Words
from symattn.page.writers import FORMATS, common, pdf, typst

# Names and text are as wide as their letters: single ones are not worth a table of all letters.
MEASURED = {name: formula for name, formula in FORMULAS.items() if not isinstance(formula, Text | Name)}


def check(measured, least, most, small=1.3):
    """Small formulas may be `small` em too wide, all others are within the ratios given."""
    estimates = {name: (width(MEASURED[name]), em) for name, em in measured.items()}
    assert not {
        name: (round(estimate, 2), round(em, 2))
        for name, (estimate, em) in estimates.items()
        if not least * em - 0.1 <= estimate <= max(most * em, em + small)
    }


def test_width_against_typst():
    import typst as engine

    equations = "".join(
        f"#context [#metadata(measure(math.equation(block: true, $ {typst.formula(formula)} $)).width / 11pt)<w>]\n"
        for formula in MEASURED.values()
    )
    furniture = typst.write(Document("t", ()))
    answer = engine.query((furniture + equations).encode(), "<w>", field="value", ignore_system_fonts=True)
    check(dict(zip(MEASURED, json.loads(answer), strict=True)), 0.88, 1.2)


@pytest.mark.slow
@pytest.mark.usefixtures("tex")
def test_width_against_tex():
    boxes = "".join(
        f"\\sbox{{\\formulabox}}{{$\\displaystyle {FORMATS['latex'].formula(formula)}$}}"
        "\\typeout{WIDTH \\the\\wd\\formulabox}\n"
        for formula in MEASURED.values()
    )
    ticked = Document("t", (Paragraph((Words("✓"),)),))  # the command for ticks is only there where one is
    source = FORMATS["latex"].write(ticked).replace("\\end{document}", boxes + "\\end{document}")
    _, log = pdf.latex_pdf(source)
    points = re.findall(r"WIDTH ([\d.]+)pt", log)
    measured = {name: float(point) / 10.95 for name, point in zip(MEASURED, points, strict=True)}
    check(measured, 0.88, 1.22, 2.1)  # its columns are equally wide where they have numbers alone


Q, WIDE = Name("q"), Number("1" * 30)
CHAINS = [Relation((Q, formula), ("=",)) for formula in FORMULAS.values()] + [
    Relation((Q, Fraction(Sum((WIDE,)), WIDE)), ("=",)),
    Relation((Q, Sum((WIDE,)), Q), ("=", "=")),
    Relation((Q, Fraction(Sum((Q, Sum((WIDE, Q)))), Q)), ("=",)),
    Relation((Q, Product((Q, Sum((Sum((WIDE, Q)), Q))))), ("=",)),
]


def leaves(formulas):
    """Whatever stands in them that nothing else stands in."""
    found = [(leaves(tuple(inside)) if (inside := children(formula)) else {formula}) for formula in formulas]
    return set().union(*found) - {NOTHING}


MARKS = {
    "Line": "Marks",
    "Q": "B1 M1 A1",
    "K": "A1",
    "V": "A1",
    "S": "M2 A3",
    "S'": "M1 A1",
    "A": "M1 A3",
    "Z": "M1 A3",
}
LAST = {"Number misread": "−1", "Total": "19/20"}
BOLD = {"Marks": 3.185, "Total": 2.7}
"""How wide words are in bold type, in em: the widths of Latin Modern's letters in its own metrics (lmbx10.afm)."""


def test_no_column_is_narrower_than_a_short_word_and_no_table_wider_for_it():
    """A table of marks whose words have to be wrapped."""
    cells = MARKS | LAST
    rows = [tuple((Words(text),) for text in texts) for texts in (cells, cells.values())]
    shares = common.column_shares(Table(rows[0], (rows[1],), row_heads=True))
    rooms = dict(zip(cells, (share * common.LINE for share in shares), strict=True))
    assert rooms["Line"] >= BOLD["Marks"]
    assert rooms["Total"] >= BOLD["Total"]
    assert all(rooms[head] >= 1.2 for head in MARKS)
    assert sum(shares) <= 1 - 0.02 * len(cells)  # an em between two columns


def test_entries_wider_than_a_terminal_have_a_line_each():
    entries = Entries((equal("x", plus(*range(60))), equal("y", plus(*range(60)))), 2)
    assert re.findall(r"^ *([xy]) = 0 \+ .* \+ 59$", FORMATS["text"].write(sheet(entries)), re.MULTILINE) == ["x", "y"]


def test_a_chain_keeps_everything_at_any_width():
    for limit in (0.5, 5, 14, 30):
        assert [chain for chain in CHAINS if leaves(fold(chain, limit)) != leaves((chain,))] == []
