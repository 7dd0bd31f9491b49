"""The head of papers: a file of LaTeX and a logo of the teacher's own."""

import base64
import json
from io import BytesIO

import pypdf
import pytest
from commands import contents, refusal, run
from exams import exam_file, written
from sentences import refused_saying

from symattn.page.writers.page import LARGEST_LOGO, read_masthead
from symattn.teaching.exam.frozen_exam import thawed
from symattn.teaching.exam.spec import read_exam_file

HEAD = "\\noindent\\textsc{Our School}\\par\n"
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10"><path d="M0 0 L20 0 L10 10 Z"/></svg>'
PNG = base64.b64decode(  # one red pixel
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
)
EXAM = 'title = "Quiz"\nvariants = 1\nheader = "head.tex"\nlogo = "crest.png"\n[[question]]\ntype = "masks"\n'


@pytest.fixture
def exam(tmp_path):
    (tmp_path / "head.tex").write_text(HEAD, "utf-8")
    (tmp_path / "crest.png").write_bytes(PNG)
    (tmp_path / "crest.svg").write_text(SVG, "utf-8")
    return exam_file(tmp_path, EXAM)


def made(path, *forms):
    return written(path, forms)


def pictures(pdf):
    return [len(page.images) for page in pypdf.PdfReader(BytesIO(pdf)).pages]


def test_papers_and_keys_have_the_head_and_nothing_else_has(exam):
    made(exam, "latex", "pdf")
    found = contents(exam.parent / "out")
    sheets = [name for name in found if name.startswith(("papers/", "keys/"))]
    for name in (name for name in sheets if name.endswith("0.tex") or name.endswith("key.tex")):
        assert found[name].count(b"\\input{head.tex}\n\\makesheettitle") == 1
    assert all(b"\\input{head" not in found[name] for name in ("overview.tex", "answers.tex"))
    assert found["papers/head.tex"] == found["keys/head.tex"] == HEAD.encode()
    assert found["papers/crest.png"] == PNG
    for name in (name for name in sheets if name.endswith(".pdf")):
        first, *others = pictures(found[name])
        assert (first, sum(others)) == (1, 0)
    assert sum(pictures(found["overview.pdf"])) == 0


def test_a_frozen_exam_keeps_its_head(exam):
    """Marking needs none of the files; printed again from the same ones, pages are the same; others are refused."""
    made(exam, "pdf")
    before = contents(exam.parent / "out")
    frozen = exam.parent / "out" / "exam.json"
    kept, _ = thawed(frozen.read_text("utf-8"), frozen)
    assert kept.spec.masthead == read_exam_file(exam).masthead
    assert kept.spec.masthead.logo.content == PNG
    for path in (exam.parent / "out").glob("papers/*"):
        path.unlink()
    made(exam, "pdf")
    assert contents(exam.parent / "out") == before
    (exam.parent / "head.tex").write_text(HEAD + "%", "utf-8")
    with refused_saying("made from another exam file"):
        made(exam, "pdf")


@pytest.mark.parametrize("logo", ["crest.svg", "crest.png"])
def test_worksheets_take_them_from_the_command(exam, logo):
    out, plain = exam.parent / "w", exam.parent / "plain"
    head = ("--header", exam.parent / "head.tex", "--logo", exam.parent / logo)
    usual = ("worksheet", "attention", "--seed", "7", "--format", "latex,pdf", "-q", "--jobs", "1")
    assert run(*usual, *head, "--out", out).exit_code == run(*usual, "--out", plain).exit_code == 0
    with_head, without = contents(out), contents(plain)
    assert with_head.keys() - without.keys() == {"head.tex", logo}
    name = next(name for name in without if name.endswith("key.tex"))
    assert with_head[name].replace(b"\\input{head.tex}\n", b"") == without[name]
    pdf = next(name for name in without if name.endswith(".pdf"))
    assert with_head[pdf] != without[pdf]


@pytest.mark.slow
@pytest.mark.usefixtures("tex")
def test_tex_finds_the_logo_that_the_header_names(exam):
    (exam.parent / "head.tex").write_text("\\includegraphics{crest.png}\\par\n", "utf-8")
    made(exam, "latex-pdf")
    found = contents(exam.parent / "out")
    assert pictures(next(data for name, data in found.items() if name.startswith("papers/")))[0] == 1


@pytest.mark.parametrize(
    ("header", "logo", "says"),
    [
        ("gone.tex", "", "header is .*gone.tex, which cannot be read: No such file"),
        ("", "gone.svg", "logo is .*gone.svg, which cannot be read"),
        ("head.txt", "", "header is 'head.txt'; .* with .tex was expected"),
        ("", "crest.gif", "logo is 'crest.gif'; .* with .svg, .png, .jpg, .jpeg, .pdf"),
        ("my head.tex", "", "letters, digits, points and hyphens"),
        ("", "empty.png", "with 0 bytes"),
        ("", "large.png", f"with {LARGEST_LOGO + 1} bytes"),
        ("latin.tex", "", "not UTF-8"),
        ('{"name": 1}', "", "the name of a file was expected"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_sentence(header, logo, says, tmp_path):
    (tmp_path / "empty.png").write_bytes(b"")
    (tmp_path / "large.png").write_bytes(b"x" * (LARGEST_LOGO + 1))
    (tmp_path / "latin.tex").write_bytes("Universität".encode("latin-1"))
    with refused_saying(says):
        read_masthead(header, logo, tmp_path)


def test_a_picture_that_is_none_is_told(exam):
    (exam.parent / "crest.png").write_bytes(b"no picture")
    with refused_saying("Typst could not make a PDF"):
        made(exam, "pdf")


def test_a_pdf_is_a_logo_for_latex_alone(exam):
    (exam.parent / "crest.pdf").write_bytes(b"%PDF-1.4")
    exam.write_text(EXAM.replace('header = "head.tex"\n', "").replace("crest.png", "crest.pdf"), "utf-8")
    made(exam, "latex")
    found = contents(exam.parent / "out")
    assert any(b"\\includegraphics[height=14mm]{crest.pdf}" in data for data in found.values())
    with refused_saying(r"crest\.pdf cannot stand in accessible PDF"):
        made(exam, "pdf")


def test_in_an_exam_they_stand_in_the_file(exam):
    assert "as header = …" in refusal("worksheet", exam, "--header", exam.parent / "head.tex")
    assert json.loads(read_exam_file(exam).source["logo"])["name"] == "crest.png"
