"""LaTeX for teachers: the solutions' switch, names said once, Falk's scheme, columns, whole folders, large print."""

import re
import shutil
import subprocess
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from check_latex import complaints_of_class, trouble
from pdf_marks import words_of
from pypdf import PdfReader
from writer_samples import SOLVED, W_Q, equal, indexed, matrix, n, paragraph, sheet, times, words

from symattn.api import make_recipe
from symattn.formula.nodes import Name, Power
from symattn.page.document import (
    AnswerGrid,
    Columns,
    Display,
    Document,
    Falk,
    Heading,
    Look,
    Math,
    Paragraph,
    Solved,
    Total,
    Words,
    WorkingSpace,
)
from symattn.page.writers import latex, pdf
from symattn.page.writers.latex_text import escaped
from symattn.teaching.rendering import render, write_documents
from symattn.teaching.sheets import Setting, sheets, write_sheets

SHOWN = {"blank": {"asked"}, "partly": {"partly"}, "worked": {"worked"}, "key": {"worked", "key"}}


# --- the switch ---------------------------------------------------------------------------------------


def test_the_switch_stands_as_the_document_says():
    sources = {name: latex.write_beside_macros(sheet(SOLVED, solutions=name)) for name in SHOWN}
    there = {name: {word for word in SHOWN if f"{word} words" in source} for name, source in sources.items()}
    asked = {name: "asked words" in source for name, source in sources.items()}
    assert all(asked.values())
    assert there == {name: {"partly", "worked", "key"} if name != "blank" else set() for name in SHOWN}
    assert [f"\n\\solutions{{{name}}}" in source for name, source in sources.items()] == [False, True, True, True]


def test_what_is_asked_and_partly_done_alike_stands_there_once():
    page = sheet(Solved((paragraph("same"),), (paragraph("same"),), (paragraph("done"),)), solutions="key")
    source = latex.write_beside_macros(page)
    assert source.count("same") == 1
    assert "\\begin{asked}" in source


@pytest.mark.usefixtures("tex")
def test_an_unknown_setting_is_named():
    source = latex.write(sheet(SOLVED, solutions="key")).replace("\n\\solutions{key}", "\n\\solutions{all}")
    with pytest.raises(pdf.InputError, match="blank, partly, worked or key was expected"):
        pdf.latex_pdf(source)


@pytest.mark.slow
@pytest.mark.usefixtures("tex")
def test_what_a_teacher_may_uncomment_works():
    source = latex.write(sheet(SOLVED, solutions="key", sheet="3f9a"))
    for command in ("sheetcourse", "geometry", "hidemarks"):
        assert f"\n% \\{command}" in source
        source = source.replace(f"\n% \\{command}", f"\n\\{command}")
    words = words_of(pdf.latex_pdf(source)[0])
    assert "Course, date" in words
    assert "M1 A2" not in words
    assert list(trouble(source, pdf.latex_engine())) == []


# --- names said once ------------------------------------------------------------------------------------


ITALIC = indexed("W", "Q")


@pytest.mark.parametrize(
    ("blocks", "written"),
    [
        ((Display((equal("Q", times("X", W_Q)), equal("H", times("X", replace(W_Q, sub=(n(1),)))))),),
         ["\\notation{\\WQ}{W^{Q}}\n", "Q &= X \\WQ", "H &= X \\WQ_{1}"]),
        ((Paragraph((Math(W_Q), Math(ITALIC))),), ["$\\WQ$$W_{Q}$"]),
        ((Paragraph((Math(ITALIC), Math(W_Q))),), ["$\\WQ$$W^{Q}$"]),
        ((Paragraph((Math(times(W_Q, ITALIC)),)),), ["$\\WQ W_{Q}$"]),
        ((Paragraph((Math(replace(W_Q, primes=1)), Math(Power(W_Q, n(2))))),), ["$W'^{Q}$$(\\WQ)^{2}$"]),
    ],
    ids=["said once", "another meaning", "of the first one", "in one formula", "primes and powers"],
)  # fmt: skip
def test_weights_have_a_command(blocks, written):
    source = latex.write_beside_macros(sheet(*blocks))
    assert [text for text in written if text not in source] == []
    assert source.count("\\notation{\\WQ}") == 1


def test_a_formula_alone_needs_no_command_of_ours():
    assert latex.formula(equal("Q", times("X", W_Q))) == "Q = X W^{Q}"


@pytest.mark.usefixtures("tex")
def test_a_name_is_changed_in_one_place():
    page = sheet(Paragraph((Words("named "), Math(W_Q))))
    source = latex.write(page).replace("\\begin{document}", "\\renewcommand{\\WQ}{\\mathrm{Weights}}\\begin{document}")
    assert "named Weights" in words_of(pdf.latex_pdf(source)[0])


# --- layouts --------------------------------------------------------------------------------------------

LEFT, ABOVE = matrix([1, 0, -1], [2, 1, 0]), matrix([1, 10], [0, 1], [2, 2])


@pytest.mark.covering(most=1)
@pytest.mark.usefixtures("tex")
@pytest.mark.parametrize(
    ("size", "inside"), [(11, matrix([-1, 8], [2, 21])), (24, AnswerGrid(n("Q"), 2, 2, "fraction"))]
)
def test_schemes_compile_at_every_size(inside, size):
    scheme = Falk(LEFT, ABOVE, inside, (n("X"), W_Q))
    page = sheet(scheme, Columns((words("Step"), words("Working")), (((paragraph("Do it."),), (scheme,)),)))
    page = replace(page, look=Look(text_size=size))
    assert list(trouble(latex.write(page), pdf.latex_engine())) == []


@pytest.mark.slow
@pytest.mark.usefixtures("tex")
def test_the_columns_of_a_scheme_are_level():
    """The same number above and inside stands at the same place of a line, and left and inside in the same line."""
    page = sheet(Falk(matrix([1234], [5678]), matrix([4321, 8765]), matrix([4321, 8765], [1111, 2222]), ()))
    found = {}

    def place(text, _, tm, *rest):
        for number in re.findall(r"\d{4}", text):
            found.setdefault(number, []).append((round(tm[4]), round(tm[5])))

    PdfReader(BytesIO(pdf.latex_pdf(latex.write(page))[0])).pages[0].extract_text(visitor_text=place)
    for number in ("4321", "8765"):
        above, inside = found[number]
        assert abs(above[0] - inside[0]) <= 1
        assert above[1] != inside[1]
    assert found["1234"][0][1] == found["4321"][1][1]
    assert found["5678"][0][1] == found["1111"][0][1]


@pytest.mark.slow
@pytest.mark.usefixtures("tex")
def test_a_row_of_columns_that_is_higher_than_a_page_is_set_one_below_the_other():
    long = tuple(paragraph(f"line {i}") for i in range(120))
    page = sheet(Columns((words("Step"), words("Working")), (((paragraph("left words"),), long),)))
    data, log = pdf.latex_pdf(latex.write(page))
    assert "Overfull" not in log
    assert all(f"line {i}" in words_of(data) for i in (0, 60, 119))


def uprights(page):
    """The heights of the vertical rules of a page, in millimetres."""
    lines = re.findall(rb"0 0 m 0 ([\d.]+) l S", page.get_contents().get_data())
    return [float(high) / 72 * 25.4 for high in lines]


@pytest.mark.slow
@pytest.mark.covering(most=1)
@pytest.mark.usefixtures("tex")
@pytest.mark.parametrize("lines", [18, 26, 38])
def test_a_frame_to_write_in_stays_on_one_page(lines):
    """It is as high as it was asked for."""
    page = sheet(*(paragraph(f"line {i}") for i in range(lines)), WorkingSpace(90))
    engine = shutil.which("pdflatex") or pdf.embedded_engine()
    if engine is None:
        pytest.skip("no pdfTeX is installed, whose rules can be read")
    data, log = pdf.latex_pdf(latex.write(page), Path(engine))
    [frame] = [rules for page in PdfReader(BytesIO(data)).pages if (rules := uprights(page))]
    assert len(frame) == 2
    assert all(86 <= high <= 94 for high in frame)
    assert "Overfull" not in log


# --- folders --------------------------------------------------------------------------------------------


def compiled(folder, name):
    """The pages of a file that reads others of its folder, as text."""
    engine = pdf.latex_engine()
    for _ in range(2):
        subprocess.run(
            [engine, "-interaction=nonstopmode", "-halt-on-error", name], cwd=folder, check=True, capture_output=True
        )
    log = (folder / name).with_suffix(".log").read_text(encoding="utf-8", errors="replace")
    assert not re.findall(r"^(?:Overfull|LaTeX Warning).*", log, re.MULTILINE)
    return [page.extract_text() for page in PdfReader((folder / name).with_suffix(".pdf")).pages]


def in_one_run(folder, sources):
    """The pages of sheets, as they come out of the file that has them all."""
    beside = latex.Folder()
    for k, source in enumerate(sources):
        (folder / f"a-{k}.tex").write_text(source, "utf-8")
        beside.add(f"a-{k}", source, "a-class")
    for name, text in beside.files():
        (folder / name).write_text(text, "utf-8")
    return compiled(folder, "a-class.tex")


@pytest.mark.slow
@pytest.mark.usefixtures("tex")
def test_a_class_is_one_run_and_every_sheet_has_pages_of_its_own(tmp_path):
    made = list(sheets(make_recipe("self_attention", {}, seed=7), 3))
    written = write_sheets(made, tmp_path, Setting(["latex"], "a"))
    names = {path.name for path in written}
    assert {"symattn.sty", "a-class.tex", "a-class-key.tex", "a-01.tex", "a-03-key.tex"} <= names
    pages = compiled(tmp_path, "a-class.tex")
    counts = [re.search(r"page (\d+) of (\d+)", page) for page in pages]
    assert all(counts)
    shown = [(int(c[1]), int(c[2])) for c in counts if c]
    alone = [len(compiled(tmp_path, f"a-0{k}.tex")) for k in (1, 2, 3)]
    assert shown == [(page, whole) for whole in alone for page in range(1, whole + 1)]
    assert [page.count(s.name) for s, page in zip(made, (p for p in pages if "page 1 of" in p), strict=True)] == [1] * 3


@pytest.mark.slow
@pytest.mark.usefixtures("tex")
def test_settings_of_one_sheet_end_with_it(tmp_path):
    one = sheet(Paragraph((Words("first "), Math(W_Q))), SOLVED, solutions="key", sheet="one")
    two = sheet(Paragraph((Words("second "), Math(indexed("W", "Q")))), SOLVED, solutions="partly", sheet="two")
    first, second = in_one_run(tmp_path, map(latex.write_beside_macros, (one, two)))
    assert "worked words" in first
    assert "key words" in first
    assert "partly words" in second
    assert "key words" not in second
    master = tmp_path / "a-class.tex"
    text = master.read_text("utf-8").replace(
        "\\begin{document}", "\\everysheet{\\solutions{blank}}\\newleaf\n\\begin{document}"
    )
    master.write_text(text, "utf-8")
    first, empty, second, _ = compiled(tmp_path, "a-class.tex")
    assert not empty.strip()
    assert "worked" not in first + second
    assert "asked words" in first


def test_large_print_has_a_master_of_its_own():
    beside = latex.Folder()
    for k, size in enumerate((11, 11, 18, 18, 24)):
        page = replace(sheet(paragraph("x")), look=Look(text_size=size))
        beside.add(f"papers/{k}", latex.write_beside_macros(page), "papers/class")
    files = dict(beside.files())
    assert list(files) == ["papers/symattn.sty", "papers/class.tex", "papers/class-18pt.tex"]
    assert "\\documentclass[18pt,a4paper]{article}" in files["papers/class-18pt.tex"]
    assert "\\includesheet{2}\n\\includesheet{3}\n" in files["papers/class-18pt.tex"]


def test_one_sheet_needs_no_master_and_a_printed_one_is_complete(tmp_path):
    page = sheet(paragraph("x"))
    assert [p.name for p in write_documents([("one", page)], tmp_path, ["latex"])] == ["one.tex", "symattn.sty"]
    assert "\\usepackage{symattn}" in (tmp_path / "one.tex").read_text("utf-8")
    assert "\\usepackage{symattn}" not in render(page, "latex")[1].decode()


# --- marks -------------------------------------------------------------------------------------------------


def marked(*parts, whole, label="Question 1."):
    question = Heading(words("Scores"), 1, f"[{whole}]", words(label), "question")
    headings = (Heading(words("S"), 2, marks, words("(a)"), "part") for marks in parts)
    return (question, *headings)


def summed(*totals):
    return Paragraph(tuple(part for marks, of in totals for part in (Words(Total(marks, of)), Words(";"))))


def test_marks_are_set_once_where_they_add_up():
    """Those of parts; of a question that has none, or whose parts have others, its own."""
    source = latex.write_beside_macros(sheet(
        *marked("[2]", "M1 A2", whole=5), *marked(whole=4, label="Question 2."),
        *marked("[1]", whole=9, label="Question 3."), summed((5, 1), (4, 2), (9, 3), (18, 0)),
    )).partition("\\makesheettitle")[2]  # fmt: skip
    assert re.findall(r"\\(?:points\w*|numpoints|atmargin|questionhead)(?:\[.*?\])?\{.*?\}", source) == [
        "\\questionhead{1}", "\\points{2}", "\\points[M1 A2]{3}",
        "\\questionhead{2}", "\\points{4}", "\\questionhead{3}", "\\points{9}", "\\atmargin{{[}",
        "\\pointsofquestion{1}", "\\pointsofquestion{2}", "\\pointsofquestion{3}", "\\numpoints{}",
    ]  # fmt: skip
    alone = latex.write_beside_macros(sheet(*marked("[2]", whole=2))).partition("\\makesheettitle")[2]
    assert "questionhead" not in alone


@pytest.mark.slow
@pytest.mark.usefixtures("tex")
def test_tex_adds_marks_up_and_every_sheet_of_a_class_has_its_own_sums(tmp_path):
    page = sheet(*marked("[2]", "[3]", whole=5), *marked(whole=4, label="Question 2."), summed((5, 1), (4, 2), (9, 0)))
    source = latex.write_beside_macros(page)
    first, second = in_one_run(tmp_path, [source, source.replace("\\points{2}", "\\points{7}")])
    for text, whole in ((first, 5), (second, 7 + 3)):
        assert f"{whole};4;{whole + 4};" in text
        assert f"[{whole}]" in text


# --- looks, letters ----------------------------------------------------------------------------------------


def test_what_tex_cannot_print_is_listed(caplog):
    page = sheet(paragraph("né 中文 😀 Привет"), Display((Name("中"),)), fields=("名",))
    source = latex.write_beside_macros(page)
    assert "\\sheetcharacters{041F=P,0432=v,0435=e,0438=i,0440=r,0442=t,4E2D,540D,6587}" in source
    assert "né 中文 \\unprintable{1F600} Привет" in source
    assert latex.in_place(source) == dict(zip("Приветы中名文😀", [*"Privet"], strict=False)) | {
        letter: f"U+{ord(letter):04X}" for letter in "中名文😀"
    }
    [said_of_it] = caplog.messages
    assert "in their place stand П as P, в as v, е as e, и as i, р as r, and so on, 10 in all (" in said_of_it


def test_text_that_looks_like_codes_of_letters_stays():
    text = "\\unprintable{4E2D} \x00 \\sheetcharacters{4E2D}"
    source = latex.write_beside_macros(Document(text, (paragraph(text),), fields=(text,)))
    assert "中" not in source
    assert source.count(escaped(text)) == 3
    assert "\n\\sheetcharacters" not in source


@pytest.mark.slow
@pytest.mark.usefixtures("tex")
@pytest.mark.parametrize("fault", ["\\noindent\\rule{300mm}{1pt}\\par", "\\nonsense"])
def test_what_is_wrong_in_a_class_is_found_and_named(fault, monkeypatch):
    for name in ("write", "write_beside_macros"):
        written = getattr(latex, name)

        def spoilt(document, written=written):
            words = "words" if document.sheet != "two" else f"words\n\n{fault}\n"
            return written(document).replace("\nwords\n", f"\n{words}\n")

        monkeypatch.setattr(latex, name, spoilt)
    documents = [(name, sheet(paragraph("words"), sheet=name)) for name in ("one", "two", "three")]
    found = list(complaints_of_class(documents, pdf.latex_engine()))
    assert found
    assert all(complaint.startswith("two: ") for complaint in found)
