"""Templates of the user's own, and the class exam: what they change, what they may not do, what is said of mistakes."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from writer_samples import matrix, n, sheet

from symattn.api import make_recipe
from symattn.errors import InputError
from symattn.page.document import AnswerGrid, Choices, Display, Heading, Paragraph, Solved, Together, Words
from symattn.page.writers import FORMATS, latex, pdf
from symattn.page.writers.page import typesetting
from symattn.teaching.sheets import sheets

PAGE = sheet(Paragraph((Words("some words"),)), sheet="3f9a")


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
    return Heading((Words(title),), level, marks, (Words(label),), "question" if level == 1 else "part")


def test_words_that_look_like_a_number_make_no_question():
    """A heading is what it is made as: a lemma's number, or a letter in brackets, counts nothing."""
    source = for_exam(sheet(Heading((Words("Lemma 1. Masks"),)), Heading((Words("(a) remark"),), 2)))
    body = source.rpartition("\\makesheettitle")[2]
    assert not re.search(r"\\(?:question|part)\b", body)
    assert "Lemma 1. Masks" in body


def test_parts_carry_the_marks_of_their_question():
    source = for_exam(sheet(
        Together((heading("Question 1.", "Masks", 1, "[5]"), Paragraph((Words("Given."),)))),
        heading("(a)", "First", 2, "M1 A2"),
        Paragraph((Words("Do it."),)),
        heading("(b)", "Second", 2, "[2]"),
        heading("Question 2.", "Shapes", 1, "[4]"),
        Heading((Words("Data sheet"),), 1),
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


SOLVED = Solved(
    (Paragraph((Words("asked words"),)), AnswerGrid(n("S"), 2, 2)),
    (Paragraph((Words("partly words"),)),),
    (Display((matrix([1, 2], [3, 4]),)), Paragraph((Words("worked words"),))),
    (Paragraph((Words("key words"),)),),
)


def test_solutions_are_those_of_the_class():
    blocks = (heading("1.", "Scores", 1, "[2]"), SOLVED, Solved((), (), (), (Paragraph((Words("after"),)),)))
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
    page = sheet(Choices(((Words("yes"),), (Words("no"),)), ticked=frozenset({1})))
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
