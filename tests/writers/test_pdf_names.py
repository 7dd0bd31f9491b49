"""Names in any script: printed where a font has the letters, else transliterated or shown by their codes, and told."""

import logging
import unicodedata
from io import BytesIO

import page as checker
import pytest
from check_pdf import faults
from pdf_marks import words_of
from pypdf import PdfReader
from writer_samples import paragraph, words

from symattn.formula.nodes import MatrixOf, Name, Number, Text
from symattn.foundation.installed import fonts
from symattn.page.document import Code, Document, Heading, Math, Paragraph, Strong, Words
from symattn.page.writers import coverage, typst
from symattn.page.writers.compiling import COMPILER
from symattn.page.writers.pdf import write_pdf

NAMES = {
    "Latin": "Łukasz Žižek Øre Æsir Ğ ß",
    "Vietnamese": "Nguyễn Thị Hậu",
    "Greek": "Ἀριστοτέλης Ωμέγα",
    "Cyrillic": "Привет Їжак Ђорђе",
    "Hebrew": "שלום כהן",
    "Armenian": "Արամ",
    "Georgian": "გიორგი",
    "Chinese": "张伟 注意力，矩阵。",
}
"""Names in scripts that are printed everywhere."""

JOINED = {"Arabic": "محمد", "Devanagari": "नमस्ते"}
"""The same, where letters are joined and reordered, so that they are not read out of a PDF one by one."""

ELSEWHERE = {
    "Thai": "สมชาย",
    "Japanese": "ひらがな",
    "Korean": "김철수",
    "rare Chinese": "龘",
    "emoji": "😀",
    "hieroglyph": "\N{EGYPTIAN HIEROGLYPH A001}",
}
"""Names in scripts that need fonts of the machine."""


def everywhere(name):
    """A document with a name in all places that text stands in."""
    return Document(
        name,
        (
            Heading(words(name)),
            Paragraph((Words(name), Words(" "), Strong(name), Words(" "), Code(name))),
            Paragraph((Math(Text(name)), Math(Name(name)), Math(Name("q", (Text(name),))))),
        ),
        subtitle=name, fields=(name,), sheet=name, recipe=name,
    )  # fmt: skip


@pytest.fixture
def without_fonts(monkeypatch):
    """As on a machine that has no fonts."""
    monkeypatch.setattr(COMPILER, "printable", lambda characters: "")


@pytest.mark.covering(most=5)
@pytest.mark.usefixtures("without_fonts")
@pytest.mark.parametrize("script", [*NAMES, *JOINED])
def test_scripts_of_our_own_fonts_are_printed_everywhere(script, caplog):
    name = {**NAMES, **JOINED}[script]
    assert not typst.written(everywhere(name))[1]
    data = write_pdf(everywhere(name))
    assert data == write_pdf(everywhere(name))
    assert faults(data) == []
    assert caplog.text == ""
    found = sorted(unicodedata.normalize("NFC", words_of(data)))
    for letter in set(unicodedata.normalize("NFC", name)) - {" "}:
        assert found.count(letter) >= (1 if script in JOINED else 8 * name.count(letter)), letter


@pytest.mark.usefixtures("without_fonts")
@pytest.mark.parametrize("script", ELSEWHERE)
def test_other_scripts_are_replaced_and_the_user_is_told(script, caplog):
    name = ELSEWHERE[script]
    with caplog.at_level(logging.WARNING, "symattn"):
        data = write_pdf(everywhere(name))
    shown = coverage.transliterated(name) or "".join(coverage.codes(name).split())
    assert shown.isascii()
    assert words_of(data).count(shown) >= 7
    assert len(caplog.messages) == 1
    assert f" stand {name} as " in caplog.messages[0]


@pytest.mark.parametrize("script", ELSEWHERE)
def test_fonts_of_the_machine_are_used_where_it_has_them(script, caplog):
    name = ELSEWHERE[script]
    with caplog.at_level(logging.WARNING, "symattn"):
        words = words_of(write_pdf(Document("x", (Paragraph((Words(name),)),))))
    if set(COMPILER.printable(name)) == set(name):
        assert caplog.messages == []
        assert set(name) <= set(words)
    else:
        assert len(caplog.messages) == 1
        assert coverage.transliterated(name) in words or "U+" in words


def test_only_documents_that_need_them_see_fonts_of_the_machine(monkeypatch):
    asked = []
    compiled = COMPILER.compile

    def compile_(source, *, system_fonts=False):
        asked.append(system_fonts)
        return compiled(source)

    monkeypatch.setattr(COMPILER, "compile", compile_)
    monkeypatch.setattr(COMPILER, "printable", lambda characters: "")
    for name in (*NAMES.values(), *ELSEWHERE.values()):
        write_pdf(Document(name, ()))
    assert asked == [False] * (len(NAMES) + len(ELSEWHERE))


@pytest.mark.usefixtures("without_fonts")
def test_a_letter_without_a_transliteration_is_shown_by_its_code():
    assert coverage.shown("a\ufffd") == [(True, "a"), (False, "\ufffd")]
    assert "U+FFFD" in words_of(write_pdf(Document("a\x00b", (paragraph("a\x00b"),))))


def test_the_list_says_what_the_font_of_chinese_has():
    """Witness: typst itself, which refuses what no font has."""
    listed = sorted(coverage.han())
    assert COMPILER.compile(f'#set document(title: "x")\n#set text(font: "Symattn Han")\n{"".join(listed)}'.encode())
    assert len(listed) > 3755
    assert {"symattn-han.otf", "symattn-han-OFL.txt"} <= {path.name for path in fonts().iterdir()}


@pytest.mark.parametrize("face", ["text", "strong", "raw"])
def test_what_is_said_to_be_printable_is(face):
    spans = zip(coverage.FIRST, coverage.LAST, strict=True)
    there = [c for first, last in spans for c in map(chr, range(first, last + 1)) if unicodedata.category(c)[0] != "C"]
    shown = "\n\n".join(f'#{face}("\\u{{{ord(c):x}}}")' for c in there)
    assert COMPILER.compile(f'#set document(title: "x")\n#set text(font: "New Computer Modern")\n{shown}'.encode())


def test_chinese_passes_every_rule_of_the_checker():
    """None is left out here, as it is for fonts of a machine."""
    data = write_pdf(everywhere(NAMES["Chinese"]))
    for profile in (checker.ValidationProfile.PDF_UA_1, checker.ValidationProfile.PDF_A_2A):
        assert checker.validate_pdf_bytes(data, profile=profile).failures == []


def test_a_name_from_right_to_left_leaves_matrices_as_they_are():
    matrix = MatrixOf(((Number("1"), Number("2")), (Number("3"), Number("4"))))
    data = write_pdf(Document("שלום", (Paragraph((Words("שלום "), Math(matrix), Words(" כהן"))),)))
    places = {}

    def see(text, cm, tm, font, size):
        if text.strip() in ("1", "2", "3", "4"):
            places.setdefault(text.strip(), (tm[4] * cm[0] + cm[4], tm[5] * cm[3] + cm[5]))

    PdfReader(BytesIO(data)).pages[0].extract_text(visitor_text=see)
    assert places["1"][0] == places["3"][0] < places["2"][0] == places["4"][0]
    assert places["1"][1] == places["2"][1] > places["3"][1] == places["4"][1]
