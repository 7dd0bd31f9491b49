"""Worksheets and papers as PDF forms: every field stands in its box, and what was filled in is read back."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import cache
from io import BytesIO
from itertools import combinations, groupby

import pytest
from check_pdf import complaints
from forms import boxes, texts_of, typed, widgets
from hypothesis import given
from hypothesis import strategies as st
from pdf_marks import ink, pages, tags
from pypdf import PdfReader, PdfWriter
from pypdf.generic import (
    ArrayObject,
    DictionaryObject,
    NameObject,
    StreamObject,
    TextStringObject,
)
from sentences import refused_saying
from test_submissions_markdown import PAPERS, SPEC, TYPES, agree, numbers_only, question, values
from trials import tries
from writer_exam_samples import EVERYTHING
from writer_samples import DOCUMENTS

from symattn.errors import SymattnError
from symattn.foundation.identity import identity
from symattn.marking.submissions import read_submission, sheet_of
from symattn.page.document import DEFAULT_LOOK
from symattn.page.presentation import presented
from symattn.page.writers.pdf import write_pdf
from symattn.page.writers.typst import write as write_typst
from symattn.teaching.exam.frozen_exam import Copy
from symattn.teaching.exam.papers import paper
from symattn.teaching.explanation.documents import question_document

SAMPLES = {**DOCUMENTS, **EVERYTHING}
FILLABLE = replace(DEFAULT_LOOK, fillable=True)


def worksheet(name, layout="matrix", look=FILLABLE):
    q = question(name)
    return presented(replace(question_document(q, identity(q.frozen), "symattn worksheet x", layout=layout), look=look))


@cache
def form(name, layout="matrix", look=FILLABLE):
    return write_pdf(worksheet(name, layout, look))


@cache
def exam(names, layout="matrix", look=FILLABLE):
    spec = replace(SPEC, layout=layout, look=look)
    return write_pdf(presented(paper(spec, Copy(0, identity(list(names))), [question(name) for name in names])))


# ------------------------------------------------------------------------------------ where fields stand

LARGE = replace(FILLABLE, text_size=24, paper="letter")
COMPACT = replace(FILLABLE, spacing="compact", paper="letter", language="de", decimal=",")
FORMS = {
    "masks": lambda: form("masks"),
    "faded": lambda: form("faded"),
    "columns": lambda: form("full", "columns"),
    "flow": lambda: form("full", "flow"),
    "24 pt, Falk": lambda: form("full", "falk", LARGE),
    "24 pt, order": lambda: form("estimate", "matrix", LARGE),
    "compact, German": lambda: form("masks", "matrix", COMPACT),
    "paper": lambda: exam(PAPERS[1]),
}
NEAR = 0.35  # millimetres: half of the thickest line


@pytest.mark.covering(most=1)
@pytest.mark.parametrize("name", FORMS)
def test_every_field_stands_in_the_box_that_is_drawn_for_it(name):
    data = FORMS[name]()
    found = boxes(data)
    assert found
    for number, page in enumerate(pages(data)):
        here = [box for box in found if box.page == number]
        across, up = lines(page)
        for box in here:
            sides = across if box.kind in ("grid", "copy", "choices", "space") else [*across, box.left, box.right]
            assert all(near(x, sides) for x in (box.left, box.right)), box
            assert near(box.low, up, 0.25 * 24 / 2.8 if box.kind in ("line", "head", "table") else NEAR), box
            assert box.kind in ("line", "head", "table") or near(box.high, up), box
            assert 4 < box.right - box.left < 180, box
            assert 3.5 < box.high - box.low < 280, box
        for one, other in combinations(here, 2):
            across = max(one.left, other.left) - min(one.right, other.right)
            up = max(one.low, other.low) - min(one.high, other.high)
            assert max(across, up) > -NEAR, (one, other)


def test_the_letter_of_an_option_stands_beside_its_box():
    data = form("choice", "matrix", LARGE)
    for box in (box for box in boxes(data) if box.kind == "choices"):
        written = [(x, y) for x, y, size in ink(pages(data)[box.page]) if size]
        assert any(box.right < x < box.right + 6.5 and box.low < y < box.high for x, y in written), box


def lines(page):
    """Where something is drawn on a page: from the left and from below, in millimetres."""
    drawn = [(x, y) for x, y, size in ink(page) if size == 0]  # type: ignore[arg-type]
    return [x for x, _ in drawn], [y for _, y in drawn]


def near(x, others, limit=NEAR):
    return any(abs(x - other) <= limit for other in others)


@pytest.mark.covering(most=2)
@pytest.mark.parametrize("name", FORMS)
def test_names_say_where_a_field_stands(name):
    """Rows from above, columns from the left, and parts one after the other; every name once."""
    found = boxes(FORMS[name]())
    assert len({box.name for box in found}) == len(found)
    for _, group in groupby(found, lambda box: box.group):
        cells = [box for box in group if box.kind in ("grid", "copy", "table")]
        for one, other in combinations(cells, 2):
            (i, j), (k, m) = one.at, other.at
            if one.page == other.page and i != k and j == m:
                assert (one.low > other.low) == (i < k), (one, other)
            if one.page == other.page and i == k and j != m:
                assert (one.left < other.left) == (j < m), (one, other)
    if name == "flow":
        return  # its parts stand where the data flow
    order = list(dict.fromkeys(box.place for box in found if box.kind != "head"))
    assert order == sorted(order, key=lambda place: (int(place.rstrip("abcdefghijkl")), place)), "parts out of order"
    firsts = (next(group) for _, group in groupby((b for b in found if b.kind != "head"), lambda box: box.place))
    tops = [(box.page, -box.high) for box in firsts]
    assert tops == sorted(tops)


@pytest.mark.covering(most=1)
@pytest.mark.parametrize("name", ["masks", "flow", "24 pt, order"])
def test_a_blank_form_is_accessible_and_always_the_same(name):
    data = FORMS[name]()
    kinds = [kind for kind, _ in tags(data)]
    assert kinds.count("/Form") == len(boxes(data))
    assert "/Link" not in kinds
    says = [str(widget["/TU"]) for widget in widgets(PdfWriter(clone_from=BytesIO(data)))]
    assert all(says)
    assert len(set(says)) == len(says)


@pytest.mark.covering(most=1)
@pytest.mark.parametrize(
    ("name", "layout", "look"),
    [("estimate", "matrix", FILLABLE), ("full", "falk", LARGE), ("masks", "columns", COMPACT)],
)
def test_independent_checkers_find_nothing(name, layout, look):
    assert complaints(worksheet(name, layout, look)) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in SAMPLES if " at " not in name][:1])
def test_whatever_stands_on_a_page_its_form_is_sound(name):
    """Pages with hostile text, and with every place to write in that there is."""
    document = presented(replace(SAMPLES[name], look=FILLABLE))
    assert complaints(document) == []
    found = boxes(write_pdf(document))
    assert len({box.name for box in found}) == len(found)


def test_what_is_printed_is_not_changed_by_what_can_be_filled_in():
    """Without the wish, there is no field; a source for Typst and whatever is worked out have none in any case."""
    q = question("full")
    assert write_typst(worksheet("full")) == write_typst(worksheet("full", look=DEFAULT_LOOK))
    assert not boxes(write_pdf(worksheet("full", look=DEFAULT_LOOK)))
    for solutions in ("partly", "key"):
        document = question_document(q, identity(q.frozen), "", solutions)
        assert not boxes(write_pdf(presented(replace(document, look=FILLABLE))))


# ------------------------------------------------------------------------------------ reading them back


@pytest.mark.covering(most=2)
@pytest.mark.parametrize("name", TYPES[::3])
def test_a_worksheet_filled_in_is_read_back(name):
    q = question(name)
    [blank] = read_submission(form(name), [q]).attempts
    assert not [*blank.answers, *blank.more, *blank.remarks]
    sheet, attempt = identity(q.frozen), numbers_only(q)
    head = {f"{sheet}/head/Name": "Ada Lovelace", f"{sheet}/head/Student ID": "17"}
    filled = typed(form(name), head | texts_of(sheet, [q], [attempt], letters=False))
    found = read_submission(filled, [q], form="pdf")
    agree(found.attempts[0], attempt)
    assert (found.sheet, found.name, found.student) == (sheet, "Ada Lovelace", "17")
    assert not found.attempts[0].remarks
    assert sheet_of(filled) == (sheet, "Ada Lovelace", "17")


@pytest.mark.covering(most=2)
@pytest.mark.parametrize(("names", "layout"), list(zip(PAPERS, ("matrix", "falk", "columns", "flow"), strict=False)))
def test_a_paper_filled_in_is_read_back(names, layout):
    questions = [question(name) for name in names]
    expected, sheet = [numbers_only(q) for q in questions], identity(list(names))
    texts = {f"{sheet}/head/Name": "Bo", f"{sheet}/head/Student ID": "3"}
    filled = typed(exam(names, layout), texts | texts_of(sheet, questions, expected, letters=True))
    found = read_submission(filled, questions)
    for attempt, wanted in zip(found.attempts, expected, strict=True):
        agree(attempt, wanted)
    assert (found.sheet, found.name, found.student) == (sheet, "Bo", "3")


def test_the_head_is_read_in_the_language_of_the_sheet():
    q = question("masks")
    filled = typed(form("masks", "matrix", COMPACT), {f"{identity(q.frozen)}/head/Matrikelnummer": "17"})
    assert sheet_of(filled)[2] == "17"


# ------------------------------------------------------------------------------------ beside the boxes


def said(name, texts, layout="matrix"):
    """What was read of a worksheet with these texts, and all remarks."""
    q = question(name)
    sheet = identity(q.frozen)
    found = read_submission(typed(form(name, layout), {f"{sheet}/{where}": text for where, text in texts.items()}), [q])
    [attempt] = found.attempts
    return attempt, [f"{r.where}: {r.says}" for r in (*found.remarks, *attempt.remarks)]


def test_working_beside_a_filled_box_is_listed():
    attempt, remarks = said("full", {"1/grid/1/1/1": "3", "1/space/1": "1 + 2 = 3", "2/space/1": "no idea"})
    assert list(attempt.answers) == ["Q"]
    assert [remark.partition(":")[0] for remark in remarks] == ["Q, K"]


def test_a_matrix_in_the_space_counts_where_the_boxes_are_empty():
    rows = "1 2 3 4\n5 6 7 8\n9 10 11 12"
    attempt, remarks = said("full", {"1/space/1": f"First the products.\n\nQ =\n{rows}"})
    assert values(attempt.answers["Q"]) == [row.split() for row in rows.split("\n")]
    assert remarks == []


def test_numbers_copied_beside_a_product_are_listed():
    attempt, remarks = said("full", {"4/grid/1/1/1": "3", "4/copy/1/1/1": "5"}, "falk")
    assert list(attempt.answers) == ["S"]
    assert len(remarks) == 1
    assert remarks[0].startswith("S: ")


def test_a_sheet_of_somebody_else_is_listed_field_by_field():
    """A form answered for another sheet: what has a place here is read, what has none is listed."""
    sheet = identity(question("full").frozen)
    filled = typed(form("full"), {f"{sheet}/7/grid/1/1/1": "3"})
    other = question("prove")
    found = read_submission(filled, [other])
    assert found.sheet == sheet
    assert any("/7/grid/1/1/1" in remark.says and "'3'" in remark.says for remark in found.remarks)


# ------------------------------------------------------------------------------------ as viewers save


def changed(data, change):
    """Another program's copy of a form."""
    writer = PdfWriter(clone_from=BytesIO(data))
    change(writer)
    done = BytesIO()
    writer.write(done)
    return done.getvalue()


def fields_below(writer):
    """Fields whose widgets hang below them."""
    made = ArrayObject()
    for widget in widgets(writer):
        own = [NameObject(key) for key in ("/T", "/FT", "/V", "/Ff") if key in widget]
        field = DictionaryObject({key: widget.raw_get(key) for key in own})
        for key in own:
            del widget[key]
        field[NameObject("/Kids")] = ArrayObject([widget.indirect_reference])
        reference = writer._add_object(field)  # noqa: SLF001
        widget[NameObject("/Parent")] = reference
        made.append(reference)
    writer.root_object["/AcroForm"][NameObject("/Fields")] = made  # type: ignore[index]


def streams(writer):
    """Long texts in streams."""
    for widget in widgets(writer):
        if widget["/FT"] == "/Tx" and widget["/V"]:
            stream = StreamObject()
            stream.set_data(b"\xfe\xff" + str(widget["/V"]).encode("utf-16-be"))
            widget[NameObject("/V")] = writer._add_object(stream)  # noqa: SLF001


def with_script(writer):
    script = {"/S": NameObject("/JavaScript"), "/JS": TextStringObject("app.alert('x')")}
    action = DictionaryObject({NameObject(key): value for key, value in script.items()})
    writer.root_object[NameObject("/OpenAction")] = action
    for widget in widgets(writer):
        widget[NameObject("/AA")] = DictionaryObject({NameObject("/K"): action})


def pages_alone(writer):
    """The pages without the list of fields."""
    del writer.root_object["/AcroForm"]


SAVED = {
    "fields below": lambda filled: changed(filled, fields_below),
    "streams": lambda filled: changed(filled, streams),
    "a script": lambda filled: changed(filled, with_script),
    "pages alone": lambda filled: changed(filled, pages_alone),
    "an empty line": lambda filled: b"\r\n" + filled,
}


@pytest.mark.covering(most=3)
@pytest.mark.parametrize("way", SAVED)
def test_what_viewers_make_of_a_form_is_read_all_the_same(way):
    reads_back("masks", SAVED[way])


@pytest.mark.parametrize("saved", [{"states": "/V"}, {"states": "/AS"}, {"incremental": True}])
def test_a_box_is_ticked_and_a_file_updated_whichever_way_a_viewer_does(saved):
    reads_back("choice", **saved)


def reads_back(name, change=bytes, **saved):
    q = question(name)
    attempt = numbers_only(q)
    filled = typed(form(name), texts_of(identity(q.frozen), [q], [attempt], letters=False), **saved)
    agree(read_submission(change(filled), [q]).attempts[0], attempt)


def test_signs_that_are_no_letters_can_be_seen_when_they_are_typed():
    """The font that viewers write with has a code for the minus, the root and infinity."""
    font = PdfReader(BytesIO(form("full"))).trailer["/Root"]["/AcroForm"]["/DR"]["/Font"]["/Helv"]  # type: ignore[index]
    assert {"/minus", "/radical", "/infinity"} <= {str(x) for x in font["/Encoding"]["/Differences"]}


# ------------------------------------------------------------------------------------ what is no form


def foreign(writer):
    for widget in widgets(writer):
        widget[NameObject("/T")] = TextStringObject("field " + str(widget["/T"])[-3:])


def endless(writer):
    for widget in widgets(writer):
        widget[NameObject("/Kids")] = ArrayObject([widget.indirect_reference])


def as_xfa(writer):
    writer.root_object["/AcroForm"][NameObject("/XFA")] = TextStringObject("<xdp/>")  # type: ignore[index]


def too_long(writer):
    next(widgets(writer))[NameObject("/V")] = TextStringObject("1" * 30_000)


REFUSED = {
    "printed": (lambda: write_pdf(worksheet("full", look=DEFAULT_LOOK)), "without form fields"),
    "encrypted": (lambda: changed(form("full"), lambda w: w.encrypt("secret", algorithm="RC4-128")), "encrypted"),
    "XFA": (lambda: changed(form("full"), as_xfa), "XFA"),
    "another form": (lambda: changed(form("full"), foreign), "not those of a worksheet"),
    "cut": (lambda: form("full")[:3000], "damaged"),
    "nothing": (lambda: b"%PDF-1.7\n", "damaged"),
    "without an end": (lambda: changed(form("full"), endless), "without form fields"),
    "a long text": (lambda: changed(form("full"), too_long), "30000 characters"),
    "large": (lambda: form("full") + b"\n" * 2_000_000, "larger than"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_form_is_refused_in_one_sentence(name, capfd):
    make, says = REFUSED[name]
    data = make()
    for read in (lambda: read_submission(data, [question("full")], source="a.pdf"), lambda: sheet_of(data)):
        with refused_saying(says):
            read()
    assert capfd.readouterr().err == ""


def test_text_is_no_pdf_by_its_name():
    with refused_saying("name says PDF, but it is not one"):
        read_submission("Q = 1", [question("full")], form="pdf")


@tries(10)
@given(st.data())
def test_a_damaged_form_is_read_or_refused(data):
    whole = form("prove")
    damaged = bytearray(whole)
    for place in data.draw(st.lists(st.integers(0, len(whole) - 1), min_size=1, max_size=40)):
        damaged[place] = data.draw(st.integers(0, 255))
    cut = bytes(damaged)[: data.draw(st.integers(len(whole) // 2, len(whole)))]
    with suppress(SymattnError):
        read_submission(cut if cut.startswith(b"%PDF-") else whole, [question("prove")])
