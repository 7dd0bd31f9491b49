"""Templates of the user's own, and the class exam: what they change, what they may not do, what is said of mistakes."""

import re
import shutil
import subprocess
from pathlib import Path

import check_latex
import pytest
from catalogue_sheets import every_row, page
from commands import refusal, run
from writer_samples import SOLVED, matrix, n, paragraph, sheet, words

from symattn.api import derive, make_recipe
from symattn.errors import InputError
from symattn.formula.nodes import NOTHING
from symattn.foundation.installed import templates
from symattn.page.document import AnswerGrid, Choices, Display, Heading, Solved, Table, Together
from symattn.page.writers import FORMATS, latex, pdf
from symattn.page.writers.page import typesetting
from symattn.teaching.sheets import sheets

PAGE = sheet(paragraph("some words"), sheet="3f9a")


def put(folder, name, text):
    (folder / name).write_text(text, "utf-8")
    return folder


# --- a folder of templates --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("format", "name"),
    [
        ("latex", "document.tex.j2"),
        ("html", "document.html.j2"),
        ("markdown", "document.md.j2"),
        ("typst", "document.typ.j2"),
    ],
)
def test_a_template_replaces_ours_in_every_format(format, name, tmp_path):
    ours = FORMATS[format].write(PAGE)
    put(tmp_path, name, "My own: <<body>>\n")
    with typesetting(tmp_path):
        own = FORMATS[format].write(PAGE)
        others = {other: FORMATS[other].write(PAGE) for other in FORMATS if other != format}
    assert own.startswith("My own: ")
    assert "some words" in own
    assert others == {other: FORMATS[other].write(PAGE) for other in others}
    assert FORMATS[format].write(PAGE) == ours


def test_macros_can_be_replaced_alone(tmp_path):
    put(tmp_path, "symattn.sty", "% mine\n")
    with typesetting(tmp_path):
        assert "% mine\n\\makeatother" in latex.write(PAGE)
        folder = latex.Folder()
        folder.add("a", latex.write_beside_macros(PAGE))
        assert dict(folder.files()) == {"symattn.sty": "% mine\n"}


@pytest.mark.parametrize(
    ("template", "line", "said"),
    [
        ("one\n<% if %>\n", 2, "Expected an expression"),
        ("one\ntwo\n<<nonsense>>\n", 3, "'nonsense' is undefined"),
        ("<<title.nonsense>>", 1, "no attribute 'nonsense'"),
        ("\n<< 1 // 0 >>", 2, "zero"),
        ("\n\n<<title.__class__.__mro__>>", 3, "unsafe"),
        ("<<cycler.__init__.__globals__>>", 1, "unsafe"),
        ("<% include 'elsewhere.tex' %>", 1, "elsewhere.tex"),
        ("<% include '../../pyproject.toml' %>", 1, "pyproject.toml"),
    ],
)
def test_a_mistake_is_a_sentence_with_file_and_line(template, line, said, tmp_path):
    put(tmp_path, "document.tex.j2", template)
    with typesetting(tmp_path), pytest.raises(InputError, match=f"document.tex.j2, line {line}: ") as raised:
        latex.write(PAGE)
    assert said in str(raised.value)


def test_a_folder_that_replaces_nothing_is_refused(tmp_path):
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(InputError, match=r"has none of the templates .*document\.tex\.j2"), typesetting(folder):
            pass


def test_a_class_of_ones_own(tmp_path):
    with pytest.raises(InputError, match=r"no LaTeX class 'handout'.*handout\.tex\.j2"), typesetting(None, "handout"):
        pass
    put(tmp_path, "handout.tex.j2", "\\documentclass{handout}\n<<body>>\n")
    with typesetting(tmp_path, "handout"):
        assert latex.write(PAGE).startswith("\\documentclass{handout}\nsome words")


# --- the class exam ---------------------------------------------------------------------------------------


def made(**options):
    [found] = sheets(make_recipe("self_attention", {}, seed=7, **options), 1)
    return found


def for_exam(document):
    with typesetting(latex_class="exam"):
        return latex.write(document)


def heading(label, title, level, marks):
    return Heading(words(title), level, marks, words(label), "question" if level == 1 else "part")


def test_words_that_look_like_a_number_make_no_question():
    """A heading is what it is made as: a lemma's number, or a letter in brackets, counts nothing."""
    source = for_exam(sheet(Heading(words("Lemma 1. Masks")), Heading(words("(a) remark"), 2)))
    body = source.rpartition("\\makesheettitle")[2]
    assert not re.search(r"\\(?:question|part)\b", body)
    assert "Lemma 1. Masks" in body


def test_parts_carry_the_marks_of_their_question():
    source = for_exam(sheet(
        Together((heading("Question 1.", "Masks", 1, "[5]"), paragraph("Given."))),
        heading("(a)", "First", 2, "M1 A2"),
        paragraph("Do it."),
        heading("(b)", "Second", 2, "[2]"),
        heading("Question 2.", "Shapes", 1, "[4]"),
        Heading(words("Data sheet"), 1),
        heading("Question 1.", "Masks", 1, ""),
    ))  # fmt: skip
    body = source.rpartition("\\makesheettitle")[2]
    assert "\\textbf{Masks}" in body  # the class counts, so that no number stands before it
    assert not re.search(r"textbf\{(?:Question|\()", body)
    commands = re.findall(
        r"\\(?:question|part)(?:\[\d+\])?(?= )|\\(?:begin|end)\{(?:questions|parts)\}|\\section\*", body
    )
    assert commands == [
        "\\begin{questions}", "\\question", "\\begin{parts}", "\\part[3]", "\\part[2]", "\\end{parts}",
        "\\question[4]", "\\end{questions}", "\\section*", "\\section*",
    ]  # fmt: skip


def test_solutions_are_those_of_the_class():
    blocks = (heading("1.", "Scores", 1, "[2]"), SOLVED, Solved((), (), (), (paragraph("after"),)))
    key = for_exam(sheet(*blocks, solutions="key"))
    assert "\n\\printanswers" in key
    assert re.search(r"\\ifprintanswers\\else\nasked words.*?\\fi\n\\begin\{solution\}.*worked words", key, re.DOTALL)
    assert "key words" in key
    assert "\\end{questions}\n\n\\ifprintanswers\nafter\n\\fi" in key
    assert "key words" not in for_exam(sheet(*blocks, solutions="worked"))
    blank = for_exam(sheet(*blocks, solutions="blank"))
    assert "asked words" in blank
    assert not [word for word in ("partly", "worked", "key") if f"{word} words" in blank]


def test_options_are_those_of_the_class():
    page = sheet(Choices((words("yes"), words("no")), ticked=frozenset({1})))
    assert "\\begin{choices}\n  \\choice yes\n  \\CorrectChoice no\n\\end{choices}" in for_exam(page)


def test_a_tex_without_the_class_says_so():
    engine = pdf.embedded_engine()
    if engine is None:
        pytest.skip("the embedded TeX is not installed")
    with pytest.raises(InputError, match=r"exam\.cls"):
        pdf.latex_pdf(for_exam(PAGE), engine)


def has_the_class():
    found = shutil.which("kpsewhich") and subprocess.run(["kpsewhich", "exam.cls"], capture_output=True, check=False)
    return bool(found and found.stdout and shutil.which("pdflatex"))


@pytest.mark.slow
@pytest.mark.skipif(not has_the_class(), reason="no TeX with exam.cls (Debian: texlive-latex-extra) is installed")
@pytest.mark.players
@pytest.mark.parametrize("solutions", ["blank", "key"])
def test_the_class_compiles(solutions):
    engine = Path(shutil.which("pdflatex") or "")
    data, log = pdf.latex_pdf(for_exam(made().document(solutions)), engine)
    assert data.startswith(b"%PDF")
    assert not re.findall(r"^(?:Overfull|LaTeX Warning|Class exam Warning).*", log, re.MULTILINE)


# ----------------------------------------------------------------------------------------- in a document of one's own

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


@pytest.mark.covering(most=16, rest=2)
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
@pytest.mark.parametrize(
    ("engine", "latex_class"), [("pdflatex", "article"), ("pdflatex", "scrartcl"), ("xelatex", "beamer")]
)
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
    page = sheet(Heading(words("Scores"), 2, "[2]"), paragraph("So:"), Display((n("S"),)))
    assert code(body(page)).strip() == (
        "\\medskip\\noindent\\textbf{Scores}\\hfill [2]\\par\\nopagebreak\n\n"
        "\\noindent So:\n\\begin{align*}\n  & S\n\\end{align*}"
    )


def test_boxes_tables_and_options_are_plain():
    grid = AnswerGrid(n("S"), 2, 3, filled=(((1, 2), n(7)),))
    assert "\\begin{array}{|*{3}{c|}}" in (source := body(sheet(grid)))
    assert source.count("\\hspace{12mm}") == 5
    assert re.search(r"S =\n *\\left\[", source)
    assert "S =" not in body(sheet(AnswerGrid(NOTHING, 2, 3)))
    ticked = body(sheet(Choices((words("yes"), words("no")), ticked=frozenset({1}))))
    assert re.findall(r"\\item\[\\fbox\{(.*?)\}~\\textbf\{(\w)\.\}\]", ticked) == [
        ("$\\phantom{\\times}$", "A"), ("$\\times$", "B"),
    ]  # fmt: skip
    row = (words("a & b"), words("c"))
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
