"""Whole documents: they compile, nothing overflows, nothing is lost, and no text becomes a command."""

import json
import re
import shutil

import pytest
from check_latex import complaints_of_class
from pdf_marks import words_of
from test_writers_formulas import numbers
from writer_exam_samples import EVERYTHING
from writer_markdown_rules import lint
from writer_samples import ALL, DEEP, FORMULAS, equal, matrix, n, paragraph, plus, sheet, words

from symattn.formula.nodes import NOTHING, Blank, Fraction, Name, Number, Product, Relation, Sum, Text, children
from symattn.formula.width import fold, width
from symattn.page.document import AnswerGrid, Display, Document, Entries, Heading, Math, Paragraph, Table
from symattn.page.writers import FORMATS, measure, pdf, tables, typst
from symattn.page.writers.latex_text import escaped

NUMBERS = [
    number for block in ALL.blocks if isinstance(block, Display) for line in block.lines for number in numbers(line)
]


@pytest.mark.covering(product=False)
@pytest.mark.parametrize("format", list(FORMATS))
@pytest.mark.parametrize("name", ["all", "empty", "deep", "wide", "hostile", "exam", "outside"])
def test_every_format_writes_every_document(name, format):
    text = FORMATS[format].write(EVERYTHING[name])
    assert text.endswith("\n")
    assert text == FORMATS[format].write(EVERYTHING[name])
    assert FORMATS[format].SUFFIX.startswith(".")


@pytest.mark.slow
@pytest.mark.usefixtures("tex")
def test_latex_compiles_and_nothing_overflows():
    """All in one run."""
    names = ("empty", "all", "wide", "hostile", "exam", "outside", "exam at 24 pt")
    assert list(complaints_of_class([(name, EVERYTHING[name]) for name in names], pdf.latex_engine())) == []


@pytest.mark.slow
@pytest.mark.usefixtures("tex")
def test_both_engines_print_every_formula_and_tex_the_same_bytes():
    page = sheet(*(Display((formula,)) for formula in FORMULAS.values()))
    data, log = pdf.latex_pdf(FORMATS["latex"].write(page))
    assert "Overfull" not in log
    assert pdf.latex_pdf(FORMATS["latex"].write(page))[0] == data
    assert pdf.write_pdf(page).startswith(b"%PDF")


@pytest.mark.covering(most=1)
@pytest.mark.parametrize("engine", ["typst", "tex"])
def test_every_number_is_printed(engine, request):
    if engine == "tex":
        request.getfixturevalue("tex")
        data, _ = pdf.latex_pdf(FORMATS["latex"].write(ALL))
    else:
        data = pdf.write_pdf(ALL)
    words = words_of(data)
    for digit in "0123456789":
        assert words.count(digit) >= sum(number.count(digit) for number in NUMBERS)
    for wanted in ("A sheet", "With everything", "3f9a-0007", "--seed 7", "page 1 of", "Conventions", "Queries:"):
        assert wanted in re.sub(r"\s+", " ", words)


# --- text that was not meant to be read as markup ------------------------------------------------------


def plain(text):
    """Text as it can be compared: no spaces, and one form for quotes, dashes and letters."""
    alike = str.maketrans({"’": "'", "‘": "'", "“": "''", "”": "''", "ﬁ": "fi", "ﬂ": "fl", "ﬀ": "ff", "ﬃ": "ffi"})
    return re.sub(r"\s+", "", text.translate(alike)).replace("-", "")


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("50 % of {x_1} & $5 #1", r"50 \% of \{x\_1\} \& \$5 \#1"),
        ("a\\b~c^d", r"a\textbackslash{}b\textasciitilde{}c\textasciicircum{}d"),
        ("[1] *", "{[}1] *"),
        ("-- ---", "-{}- -{}-{}-"),
        ("naïve Žižek Łódź", r"naïve \v{Z}i\v{z}ek \L{}ód\'{z}"),
        ("Nguyễn", r"Nguy\~{\^{e}}n"),
        ("−½ ≤ α²", r"$-$\textonehalf{} $\leq$ $\alpha$\textsuperscript{2}"),
        ("3×4, rows × columns, −∞, √n", r"$3 \times 4$, rows $\times$ columns, $-\infty$, $\sqrt{n}$"),
        ("αβ aᵀᵀ 12×3x", r"$\alpha\beta$ a$^{\mathsf{T}}$$^{\mathsf{T}}$ 12$\times$3x"),
        ("Ёлка", "Ёлка"),
        ("① ↳", r"\textcircled{\scriptsize 1} \thenright{}"),
        ("中 😀", r"中 \unprintable{1F600}"),
        ("a\x00\u202eb\nc", r"a\unprintable{FFFD}b c"),
    ],
)
def test_text_in_latex(text, source):
    assert escaped(text) == source


# --- Markdown -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in EVERYTHING if " at " not in name])
def test_markdown_is_portable(name):
    assert lint(FORMATS["markdown"].write(EVERYTHING[name])) == []


def test_an_answer_grid_in_markdown():
    written = FORMATS["markdown"].write(sheet(AnswerGrid(n("S"), 2, 3), sheet="3f9a", recipe='say "x"'))
    assert written == (
        '---\nsymattn: 1\nsheet: "3f9a"\nrecipe: "say \\"x\\""\n---\n\n# A sheet\n\n'
        "<!-- symattn:grid id=S rows=2 cols=3 -->\n\n"
        "| S | 1 | 2 | 3 |\n| :---: | :---: | :---: | :---: |\n| **1** |   |   |   |\n| **2** |   |   |   |\n\n"
        '---\n\n3f9a · `say "x"`\n'
    )


# --- blocks ----------------------------------------------------------------------------------------------


def test_headings_keep_their_order():
    assert FORMATS["typst"].write(DEEP).count("#heading(level: 1)") == 1
    assert FORMATS["typst"].write(DEEP).count("#heading(level: 2)") == 1


def test_lines_are_aligned_at_their_first_sign():
    page = sheet(Display((equal("S", 1), Relation((n("S"), n(2)), ("≈",)))))
    assert "  S &= 1 \\\\\n  S &\\approx 2\n" in FORMATS["latex"].write(page)
    assert "  S &= \\1 \\\n  S &≈ \\2\n" in FORMATS["typst"].write(page)
    assert "    S = 1\n    S ≈ 2\n" in FORMATS["text"].write(page)


def test_a_worksheet_in_latex_is_good_to_edit():
    source = FORMATS["latex"].write(sheet(
        Heading(words("Scores")),
        Display((equal("S", matrix([1, 2], [3, 4])),), words("So:")),
        AnswerGrid(n("A"), 2, 2),
        Paragraph((Math(Blank()),)),
    ))  # fmt: skip
    body = source.split("\\makesheettitle\n")[-1]
    assert (
        body.strip()
        == r"""
\section*{Scores}

\begin{formulas}[{So:}]
  S &=
  \begin{bmatrix}
    1 & 2 \\
    3 & 4
  \end{bmatrix}
\end{formulas}

\answergrid{A}{2}{2}{12}{10}

$\blank[1.1cm]$

\end{document}
""".strip()
    )


def test_a_long_table_goes_on_with_its_head():
    rows = tuple((words(str(i)),) for i in range(60))
    assert FORMATS["latex"].write(sheet(Table((words("head"),), rows))).count("textbf{head}") == 3


def test_without_tex_there_is_a_sentence(monkeypatch):
    monkeypatch.setattr(pdf, "embedded_engine", lambda: None)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(pdf.InputError, match="No LaTeX was found"):
        pdf.latex_engine()


@pytest.mark.usefixtures("tex")
def test_a_fault_in_latex_is_a_sentence():
    with pytest.raises(pdf.InputError, match="Undefined control sequence"):
        pdf.latex_pdf("\\documentclass{article}\\begin{document}\\nonsense\\end{document}")


# ------------------------------------------------------------------------------------------------ widths

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
    ticked = Document("t", (paragraph("✓"),))  # the command for ticks is only there where one is
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
    rows = [tuple(words(text) for text in texts) for texts in (cells, cells.values())]
    shares = tables.column_shares(Table(rows[0], (rows[1],), row_heads=True))
    rooms = dict(zip(cells, (share * measure.LINE for share in shares), strict=True))
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
