"""311 strings that were not meant to be read as markup come back from the text of a PDF as they were, in both engines.

Nothing changes but what is documented: text is on one line, characters that cannot be seen are left out, and a control
character is shown by the code of the sign for none.  TeX has quotes of one form.  Letters that only one of the engines
prints, and signs that a PDF spells otherwise (≠ as = and a stroke), are left to other tests.
"""

import itertools
import re
import unicodedata
from io import BytesIO

import pytest
from pypdf import PdfReader
from tables import tables_beside

from symattn.page.document import Document, Paragraph, Words
from symattn.page.writers import FORMATS, pdf
from symattn.page.writers.common import visible

TABLES = tables_beside(__file__)

PUNCTUATION = "".join(c for c in map(chr, range(33, 127)) if not c.isalnum())
MARKUP = "\\{}$&#%_^~`*<>[]@|\"'-=/+!,"

ATTACKS = TABLES["attacks"]

WORDS = TABLES["words"]

UNSEEN = (
    "a\u200bb", "a\u200cb", "a\u200db", "a\u2060b", "a\ufeffb", "a\u00adb", "\u202eabc\u202c", "\u2066abc\u2069",
    "\u200fabc", "a\tb", "a\nb", "a\r\nb", "a\u2028b", "a\u2029b", "a\x00b", "a\x07b", "a\x1b[31mb", "a\x7fb",
    "a\x85b", "a\u00a0b", "a\u2009b", " a ", "a  b", "\ud800", "\ufffe", "\ue000",
)  # fmt: skip

LONG = ("a" * 120, "0123456789" * 12, "x" * 60 + " " + "-" * 60, "W" * 80, "-" * 90)

PAIRS = [a + b for a, b in itertools.product(MARKUP, repeat=2)]
OTHERS = list(dict.fromkeys((*PUNCTUATION, *ATTACKS, *WORDS, *UNSEEN, *LONG)))
STRINGS = [*OTHERS, *[pair for pair in PAIRS if pair not in OTHERS][:: len(PAIRS) // (311 - len(OTHERS))]][:311]

PAGE = Document("Verbatim", tuple(Paragraph((Words(f"({k}:{text}:{k})"),)) for k, text in enumerate(STRINGS)))

SAME_IN_TEX = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "′": "'", "\u2217": "*", "\u00ad": "", "‐": "-"})
LIGATURES = {"ﬁ": "fi", "ﬂ": "fl", "ﬀ": "ff", "ﬃ": "ffi", "ﬄ": "ffl"}


def wanted(text):
    return without_space(unicodedata.normalize("NFC", visible(text)).replace("\ufffd", "U+FFFD"))


def without_space(text):
    """Where a line ends depends on the page."""
    return re.sub(r"\s+", "", text)


def found_in(data):
    """What the paragraphs of `PAGE` say, read out of a PDF, without the feet of its pages."""
    pages = (re.sub(r"\n?page\s\d+\sof\s\d+\s*$", "", page.extract_text()) for page in PdfReader(BytesIO(data)).pages)
    words = unicodedata.normalize("NFC", "".join(page.removeprefix("Verbatim\n") + "\n" for page in pages))
    for ligature, letters in LIGATURES.items():
        words = words.replace(ligature, letters)
    return {
        k: without_space(match[1])
        for k in range(len(STRINGS))
        if (match := re.search(rf"\({k}:(.*?):\s*{k}\s*\)", words, re.DOTALL))
    }


def test_typst_prints_every_string_verbatim(monkeypatch):
    monkeypatch.setattr(pdf.COMPILER, "printable", lambda characters: "")
    found = found_in(pdf.write_pdf(PAGE))
    assert {STRINGS[k]: found.get(k) for k in range(311) if found.get(k) != wanted(STRINGS[k])} == {}


@pytest.mark.slow
@pytest.mark.usefixtures("tex")
def test_tex_prints_every_string_verbatim():
    def alike(text):
        return text.translate(SAME_IN_TEX).replace("''", '"')

    found = found_in(pdf.latex_pdf(FORMATS["latex"].write(PAGE))[0])
    told = {k: alike(text) for k, text in found.items()}
    assert {STRINGS[k]: found.get(k) for k in range(311) if told.get(k) != alike(wanted(STRINGS[k]))} == {}
