"""PDFs bound into one: parity of pages and what stands on them, tags, bookmarks, standards."""

import random
from io import BytesIO

import pypdf
from check_pdf import faults
from hypothesis import given, settings
from hypothesis import strategies as st
from pdf_marks import tags
from writer_samples import words

from symattn.formula import Text
from symattn.page.document import Document, Math, PageBreak, Paragraph, Table
from symattn.page.writers.binding import Leaves, bound
from symattn.page.writers.pdf import write_pdf


def leaves(name, pages):
    """A part of so many pages, each of which says whose it is, and a table with heads that are named."""
    table = Table((words("k"), words(name)), ((words("1"), words("2")),), row_heads=True)
    said = [Paragraph(words(f"{name} leaf {k}")) for k in range(1, pages + 1)]
    blocks = [block for paragraph in said for block in (PageBreak(), paragraph)]
    return Leaves(name, write_pdf(Document("A title", (*blocks[1:], table), sheet=name)))


def texts(pdf):
    return [page.extract_text() for page in pypdf.PdfReader(BytesIO(pdf)).pages]


def test_every_part_begins_on_a_right_hand_page_and_keeps_its_own_numbers():
    rng = random.Random(5)
    known = {n: leaves(f"P{n}", n) for n in (1, 2, 3)}
    for _ in range(5):
        counts = [rng.randint(1, 3) for _ in range(rng.randint(1, 6))]
        pages = texts(bound([known[n] for n in counts]))
        expected = []
        for n in counts:
            expected += [None] * (len(expected) % 2)
            assert len(expected) % 2 == 0
            expected += [(n, k) for k in range(1, n + 1)]
        assert len(pages) == len(expected)
        for text, page in zip(pages, expected, strict=True):
            if page is None:
                assert not text.strip()
            else:
                assert f"P{page[0]} leaf {page[1]}" in text
                assert f"page {page[1]} of {page[0]}" in text


def test_without_two_sides_nothing_is_put_in():
    assert len(texts(bound([leaves("A", 1), leaves("B", 3), leaves("C", 1)], double_sided=False))) == 5


def test_independent_checkers_find_nothing_and_no_tag_is_lost():
    parts = [leaves("A", 1), leaves("B", 2), leaves("C", 1)]
    whole = bound(parts)
    assert faults(whole) == []
    assert bound(parts) == whole
    inside = [kind for part in parts for kind, _ in tags(part.pdf) if kind != "/Document"]
    assert [kind for kind, _ in tags(whole) if kind not in ("/Document", "/Part")] == inside
    reader = pypdf.PdfReader(BytesIO(whole))
    names = list(reader.root_object["/StructTreeRoot"]["/IDTree"]["/Names"][::2])
    assert sorted(set(names)) == names
    assert len(names) > 2
    places = [(mark["/Title"], reader.get_destination_page_number(mark)) for mark in reader.outline]
    assert places == [("A", 0), ("B", 2), ("C", 4)]
    assert reader.root_object["/ViewerPreferences"]["/Duplex"] == "/DuplexFlipLongEdge"


def test_another_part_is_another_file():
    one, other = (bound([leaves("A", 1), leaves(name, 1)]) for name in "BC")
    assert pypdf.PdfReader(BytesIO(one)).trailer["/ID"] != pypdf.PdfReader(BytesIO(other)).trailer["/ID"]


LIKE_OBJECTS = ["1 0 R", "(", ")", "\\", "/ID(U1x0)", "/Headers[(U1x0)]", "/StructParents 3", "stream", "endobj", "é"]


@settings(max_examples=15)
@given(st.lists(st.sampled_from(LIKE_OBJECTS), min_size=1, max_size=8).map(" ".join))
def test_words_that_look_like_objects_stay_words(words):
    said = Paragraph((Math(Text(words)),))
    part = Leaves(words, write_pdf(Document(words, (said,), sheet=words)))
    whole = bound([part, leaves("A", 1), part], double_sided=False)
    reader = pypdf.PdfReader(BytesIO(whole))
    assert [mark["/Title"] for mark in reader.outline] == [words, "A", words]
    assert reader.metadata.title == pypdf.PdfReader(BytesIO(part.pdf)).metadata.title
    assert [alt for _, alt in tags(whole) if alt] == [alt for _, alt in tags(part.pdf) if alt] * 2 != []
    assert faults(whole) == []
