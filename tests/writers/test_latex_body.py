r"""latex-body: what \input puts into a document that knows nothing of symattn."""

import re
import subprocess
from itertools import product

import check_latex
import pytest
from catalogue_sheets import every_row, page
from commands import refusal, run
from writer_samples import matrix, n, sheet

from symattn.api import derive, make_recipe
from symattn.formula.nodes import NOTHING
from symattn.foundation.installed import templates
from symattn.page.document import AnswerGrid, Choices, Display, Heading, Paragraph, Table, Words
from symattn.page.writers import FORMATS
from symattn.teaching.sheets import sheets

STYLE = (templates() / "symattn.sty").read_text("utf-8")
OURS = {
    *re.findall(r"\\(?:newcommand\*?|NewDocumentCommand|DeclareRobustCommand|DeclareMathOperator)\{?\\(\w+)", STYLE),
    *re.findall(r"\\new(?:length|savebox|counter|skip|if)\{?\\(\w+)", STYLE),
}
ENVIRONMENTS = {*re.findall(r"\\(?:newenvironment|NewDocumentEnvironment|sheet@version)\{(\w+)\}", STYLE)}
OF_THE_PAGE = {
    "documentclass", "usepackage", "newcommand", "def", "geometry", "clearpage", "newpage", "pagebreak", "fontsize",
    "selectfont", "small", "footnotesize", "large", "resizebox", "setlength", "section", "subsection",
}  # fmt: skip


def body(document):
    return FORMATS["latex-body"].write(document)


def code(source):
    """Without comments."""
    return re.sub(r"(?<!\\)%.*", "", source)


@every_row
def test_nothing_of_ours_and_nothing_of_the_page(row):
    for solutions in ("blank", "key"):
        source = code(body(page(row, solutions)))
        assert not {*re.findall(r"\\([A-Za-z]+)", source)} & (OURS | OF_THE_PAGE)
        assert not {*re.findall(r"\\begin\{(\w+)", source)} & ENVIRONMENTS
        assert source.count("\\begin{") == source.count("\\end{")


DOCUMENTS = {
    "article": r"\documentclass{article}\usepackage{amsmath}",
    "scrartcl": r"\documentclass[12pt]{scrartcl}\usepackage{amsmath,amssymb,tikz}\usepackage[margin=3cm]{geometry}"
    r"\newcommand{\T}{\mathsf{T}}\DeclareMathOperator{\softmax}{softmax}",
    "beamer": r"\documentclass{beamer}",
}


@pytest.mark.slow
@pytest.mark.players
@pytest.mark.parametrize(("latex_class", "engine"), list(product(DOCUMENTS, check_latex.ENGINES)))
def test_it_is_set_in_a_document_of_ones_own(latex_class, engine, tmp_path):
    """A handout, a worksheet with its key, choices and pictures, in one document: no error, and no line too wide."""
    program = check_latex.engines().get(engine)
    if program is None or not check_latex.has_class(program, latex_class):
        pytest.skip(f"no {engine} with {latex_class} is installed")
    made = {"note": derive("note-002").document, "heads": derive("note-003-multi-head").document}
    for problem in ("full", "choice", "heatmap", "shapes"):
        [one] = sheets(make_recipe("", problem=problem, seed=7), 1)
        made |= {problem: one.worksheet, f"{problem}-key": one.key}
    for name, document in made.items():
        (tmp_path / f"{name}.tex").write_text(body(document), "utf-8")
    begin, end = ("\\begin{frame}[allowframebreaks]", "\\end{frame}") if latex_class == "beamer" else ("", "\\par")
    inside = "\n".join(f"{begin}\\input{{{name}}}{end}" for name in made)
    source = f"{DOCUMENTS[latex_class]}\n\\begin{{document}}\n{inside}\n\\end{{document}}\n"
    (tmp_path / "mine.tex").write_text(source, "utf-8")
    done = subprocess.run(
        [str(program), "-interaction=nonstopmode", "-halt-on-error", "mine.tex"],
        cwd=tmp_path, check=False, stdin=subprocess.DEVNULL, capture_output=True, timeout=300,
    )  # fmt: skip
    log = (tmp_path / "mine.log").read_text("utf-8", errors="replace")
    assert done.returncode == 0, log[-2000:]
    wide = [float(points) for points in re.findall(r"^Overfull \\hbox \(([\d.]+)pt", log, re.MULTILINE)]
    assert max(wide, default=0) < 4


def test_formulas_belong_to_the_words_above_them():
    words = Paragraph((Words("So:"),))
    heading = Heading((Words("Scores"),), 2, "[2]")
    assert code(body(sheet(heading, words, Display((n("S"),))))).strip() == (
        "\\medskip\\noindent\\textbf{Scores}\\hfill [2]\\par\\nopagebreak\n\n"
        "\\noindent So:\n\\begin{align*}\n  & S\n\\end{align*}"
    )


def test_boxes_tables_and_options_are_plain():
    grid = AnswerGrid(n("S"), 2, 3, filled=(((1, 2), n(7)),))
    assert "\\begin{array}{|*{3}{c|}}" in (source := body(sheet(grid)))
    assert source.count("\\hspace{12mm}") == 5
    assert re.search(r"S =\n *\\left\[", source)
    assert "S =" not in body(sheet(AnswerGrid(NOTHING, 2, 3)))
    ticked = body(sheet(Choices(((Words("yes"),), (Words("no"),)), ticked=frozenset({1}))))
    assert re.findall(r"\\item\[\\fbox\{(.*?)\}~\\textbf\{(\w)\.\}\]", ticked) == [
        ("$\\phantom{\\times}$", "A"), ("$\\times$", "B"),
    ]  # fmt: skip
    row = ((Words("a & b"),), (Words("c"),))
    assert "\\begin{tabular}{@{}ll@{}}\n\\hline\n  \\textbf{a \\& b} & " in body(sheet(Table(row, (row,))))


def test_more_columns_than_amsmath_takes_are_an_array():
    """MaxMatrixCols is 10."""
    assert "\\begin{bmatrix}" in FORMATS["latex"].formula(matrix(range(10)))
    assert "\\left[" in (wide := FORMATS["latex"].formula(matrix(range(11))))
    assert "\\begin{array}{ccccccccccc}" in wide


def test_single_steps(tmp_path):
    done = run("derive", "note-002", "--format", "latex-body", "--step", "S.1,A.1", "--out", str(tmp_path))
    assert done.exit_code == 0
    [path] = tmp_path.iterdir()
    assert path.name == "note-002-S.1-A.1.tex"
    source = code(path.read_text("utf-8"))
    assert re.sub(r"\\begin\{align\*\}.*?\\end\{align\*\}", "", source, flags=re.DOTALL).strip() == ""


def test_names_of_files_do_not_meet():
    assert "one of them" in refusal("derive", "note-002", "--format", "latex,latex-body", "--out", "x")
    assert "--as" in refusal("derive", "note-002", "--step", "S", "--as", "key")
    assert "There is no step 'Nope'" in refusal("derive", "note-002", "--step", "Nope")
