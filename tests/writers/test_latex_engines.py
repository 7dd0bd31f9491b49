"""Which TeX makes a PDF: the first that there is, or, for letters that pdfTeX has not, one that prints them."""

import logging
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sentences import refused_saying
from writer_samples import paragraph, sheet

from symattn.errors import InputError
from symattn.formula.nodes import Name, Text
from symattn.page.document import Code, Math, Paragraph, Strong, Words
from symattn.page.writers import latex, pdf
from symattn.page.writers.page import typesetting
from symattn.teaching.rendering import render

LATIN = sheet(paragraph("Plain words, naïve αβ — 1/2."))
CHINESE = sheet(Paragraph((Words("张伟 注意力"), Strong("矩阵"))), sheet="名")
RUSSIAN = sheet(Paragraph((Words("Привет Ђорђе"), Strong("код"), Code("код"), Math(Text("п")), Math(Name("п")))))
MIXED = sheet(paragraph("张伟 한국 Привет 😀"))


def only(monkeypatch, *names, embedded=False):
    """As on a machine that has these engines and no others; skips where one of them is not there."""
    which = shutil.which
    if missing := [name for name in names if which(name) is None] + ["embedded"] * (embedded and not EMBEDDED):
        pytest.skip(f"{', '.join(missing)}: not installed")
    monkeypatch.setattr(shutil, "which", lambda name: which(name) if name in names else None)
    if not embedded:
        monkeypatch.setattr(pdf, "embedded_engine", lambda: None)


EMBEDDED = pdf.embedded_engine() is not None
KPSEWHICH, PDFTOTEXT = map(shutil.which, ("kpsewhich", "pdftotext"))


def has(*files):
    """Whether the TeX that is installed finds these files."""
    found = (
        KPSEWHICH and subprocess.run([KPSEWHICH, *files], capture_output=True, text=True, check=False).stdout.split()
    )
    return len(found or ()) == len(files)


def words_of(data):
    """Without spaces; pypdf does not know how XeTeX encodes Chinese."""
    if PDFTOTEXT is None:
        pytest.skip("pdftotext is not installed (Debian: poppler-utils)")
    found = subprocess.run([PDFTOTEXT, "-", "-"], input=data, capture_output=True, check=True).stdout.decode()
    return "".join(found.split())


# --- the choice, with a TeX that is made up -----------------------------------------------------------------


def pretend(monkeypatch, engines):
    """Engines that say this in their logs, or fail; the names of those that are run are listed."""
    run = []

    def made(source, engine):
        run.append(engine.stem)
        log = engines[engine.stem]
        if log is None:
            raise InputError("LaTeX could not make a PDF of this source: it is broken.")
        return engine.stem.encode(), log

    monkeypatch.setattr(pdf, "latex_engines", lambda: [Path(name) for name in engines])
    monkeypatch.setattr(pdf, "latex_pdf", made)
    return run


def without(*letters):
    return "".join(f"symattn: no letter for U+{ord(x):04X}, in its place U+{ord(x):04X}\n" for x in letters)


def test_pdftex_is_asked_for_its_own_letters_alone(monkeypatch, caplog):
    """The first engine is used where it has all letters; where another may help, it is not run at all; where none
    helps, it is the first again."""
    cases = [(LATIN, ["", "", ""], "pdflatex"), (CHINESE, [without("张"), "", ""], "xelatex"),
             (CHINESE, [without(*"张伟")] * 3, "pdflatex")]  # fmt: skip
    for document, logs, chosen in cases:
        run = pretend(monkeypatch, dict(zip(["pdflatex", "lualatex", "xelatex"], logs, strict=True)))
        caplog.clear()
        assert pdf.write_latex_pdf(document).decode() == chosen
        assert logs[1] or (run, caplog.messages) == ([chosen], [])


@pytest.mark.parametrize("xelatex", [None, without(*"张伟"), "Missing character: There is no 张 (U+5F20) in font x!\n"])
def test_an_engine_that_fails_or_loses_letters_gives_way(xelatex, monkeypatch, caplog):
    pretend(monkeypatch, {"pdflatex": without(*"张伟力"), "lualatex": "", "xelatex": xelatex})
    assert pdf.write_latex_pdf(CHINESE) == b"lualatex"
    assert caplog.messages == []


def test_a_code_is_better_than_nothing(monkeypatch, caplog):
    gap = "Missing character: There is no 张 (U+5F20) in font x!\n"
    pretend(monkeypatch, {"pdflatex": without(*"张伟力"), "xelatex": gap})
    assert pdf.write_latex_pdf(CHINESE) == b"pdflatex"
    [said] = caplog.messages
    assert "stand 伟 as U+4F1F, 力 as U+529B, 张 as U+5F20." in said


def test_where_every_engine_fails_the_reason_is_told(monkeypatch):
    pretend(monkeypatch, {"pdflatex": None, "xelatex": None})
    with refused_saying("it is broken"):
        pdf.write_latex_pdf(CHINESE)


LETTERS = "张伟注意力矩阵"


@given(st.lists(st.frozensets(st.sampled_from(LETTERS)), min_size=1, max_size=3))
def test_no_other_engine_would_have_lost_less(lost):
    names = ["pdflatex", "lualatex", "xelatex"][: len(lost)]
    with pytest.MonkeyPatch.context() as monkeypatch:
        pretend(monkeypatch, {name: without(*letters) for name, letters in zip(names, lost, strict=True)})
        chosen = pdf.write_latex_pdf(CHINESE).decode()
    assert len(lost[names.index(chosen)]) == min(map(len, lost))


# --- the source -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("document", "wanted"),
    [(LATIN, False), (CHINESE, True), (RUSSIAN, True), (sheet(paragraph("😀 שלום")), False)],
)
def test_other_engines_are_asked_where_they_may_help(document, wanted):
    assert latex.has_letters_for_others(latex.complete(document)) is wanted


def test_a_formula_alone_has_its_letters():
    assert [latex.formula(Name(letter)) for letter in "中п"] == ["\\text{中}", "\\text{п}"]


# --- what is printed --------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.players
def test_chinese_is_printed(monkeypatch, caplog):
    only(monkeypatch, "pdflatex", "xelatex")
    if not has("ctex.sty", "FandolSong-Regular.otf", "xeCJK.sty"):
        pytest.skip("ctex and what it needs are not installed (Debian: texlive-lang-chinese)")
    words = words_of(render(CHINESE, "latex-pdf")[1])
    assert all(word in words for word in ("张伟", "注意力", "矩阵", "名"))
    assert caplog.messages == []


@pytest.mark.slow
@pytest.mark.players
def test_letters_of_a_font_are_printed(monkeypatch, caplog):
    only(monkeypatch, "xelatex")
    if not has("DejaVuSerif.ttf", "DejaVuSerif-Bold.ttf"):
        pytest.skip("the font DejaVu Serif is not installed (Debian: fonts-dejavu-core, fonts-dejavu-extra)")
    words = words_of(render(RUSSIAN, "latex-pdf")[1])
    assert "ПриветЂорђекодкод" in words
    assert words.count("п") == 2
    assert caplog.messages == []


@pytest.mark.slow
@pytest.mark.players
@pytest.mark.parametrize(
    "make", [lambda m: only(m, "pdflatex"), lambda m: only(m, embedded=True)], ids=["pdflatex", "embedded"]
)
def test_pdftex_alone_prints_codes_and_latin_letters(make, monkeypatch, caplog):
    make(monkeypatch)
    words = words_of(render(MIXED, "latex-pdf")[1])
    assert "Privet" in words
    assert all(f"U+{ord(letter):04X}" in words for letter in "张伟한국😀")
    [said] = caplog.messages
    assert "in the PDF stand П as P, в as v, " in said
    assert said.endswith("and so on, 11 in all.")


@pytest.mark.slow
@pytest.mark.players
def test_whatever_has_no_letter_is_told(monkeypatch, caplog):
    """Each letter is in the PDF, or its code is; those whose codes are there are told, and no others."""
    only(monkeypatch, "lualatex")
    caplog.set_level(logging.WARNING)
    words = words_of(render(MIXED, "latex-pdf")[1])
    coded = {letter for letter in "张伟한국😀" if f"U+{ord(letter):04X}" in words}
    assert "😀" in coded
    assert all(letter in words for letter in set("张伟한국") - coded)
    assert not coded & set("张伟") or not has("ctex.sty", "FandolSong-Regular.otf", "luatexja.sty")
    [said] = caplog.messages
    assert {letter for letter in "张伟한국😀" if f"{letter} as U+" in said} == coded


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda m: only(m, embedded=True), r"The TeX of symattn\[latex\] has no nowhere\.cls; install TeX Live"),
        (lambda m: only(m, "pdflatex"), r"pdflatex found no nowhere\.cls; install what brings it"),
    ],
    ids=["embedded", "pdflatex"],
)
def test_a_class_that_is_not_installed_is_named(make, says, monkeypatch, tmp_path):
    make(monkeypatch)
    (tmp_path / "nowhere.tex.j2").write_text("\\documentclass{nowhere}\\begin{document}x\\end{document}", "utf-8")
    with typesetting(tmp_path, "nowhere"), refused_saying(f"^{says}.*, or leave out --latex-class"):
        pdf.write_latex_pdf(LATIN)
