"""HTML: well formed and complete in itself, and as readers meet it: in a browser, read out, in the dark, on paper."""

import io
import re
import subprocess
from base64 import b64decode, b64encode
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from xml.etree import ElementTree

import browser
import check_html
import pytest
from fontTools.pens.boundsPen import BoundsPen
from fontTools.ttLib import TTFont
from pypdf import PdfReader
from tables import tables_beside
from writer_exam_samples import EVERYTHING
from writer_samples import (
    ALL,
    FIGURE,
    FORMULAS,
    HOSTILE,
    W_Q,
    WEIGHT,
    W,
    X,
    equal,
    indexed,
    matrix,
    n,
    over,
    paragraph,
    plus,
    sheet,
    times,
    words,
)

import symattn
from symattn.formula.nodes import NOTHING, Annotated, Blank, Marked, Shape, Text
from symattn.formula.speech import speak
from symattn.page.document import (
    AnswerGrid,
    Choices,
    Code,
    Columns,
    Display,
    Falk,
    FillIn,
    FillIns,
    Heading,
    HeatMap,
    ItemList,
    Look,
    Math,
    Paragraph,
    Quoted,
    Solved,
    Strong,
    Table,
    Together,
    Words,
    WorkingSpace,
)
from symattn.page.writers.common import visible
from symattn.page.writers.html import formula, fragment, write

TABLES = tables_beside(__file__)


PRODUCT = matrix([3, 1, 12, 4], [0, 1, 2, -3], [9, 8, 7, 6])
NAMES = (Annotated(n("X"), Shape(n(3), n(5), "cross"), "index"), W_Q)
SOLVED = Solved(
    (paragraph("Work out the queries."), AnswerGrid(n("Q"), 3, 4), WorkingSpace(40)),
    (AnswerGrid(n("Q"), 3, 4, filled=(((0, 0), n(3)),)),),
    (Display((equal("Q", times("X", W_Q), times(X, W), PRODUCT),)), paragraph("The worked solution.")),
    (Paragraph(words("A common wrong answer."), "M1 A2"),),
)
LAYOUTS = sheet(
    Heading(words("Products")),
    Falk(X, W, PRODUCT, NAMES),
    Falk(X, W, AnswerGrid(n("Q"), 3, 4), NAMES),
    Falk(matrix([over(1, 2), WEIGHT]), matrix([1], [over(3, 4)]), matrix([WEIGHT]), (n("A"), n("V"))),
    Columns(
        (words("Step"), words("Working")),
        (
            ((paragraph("Queries"),), (Display((equal("Q", times(X, W)), equal(NOTHING, PRODUCT))),)),
            ((paragraph("Keys"),), (AnswerGrid(n("K"), 3, 4), WorkingSpace(30, ruled=True))),
        ),
    ),
    Together((Heading(words("1. Queries"), 1, "[3]"), SOLVED)),
    Together((Heading(words("2. Again"), 1, "[3]"), SOLVED)),
    Choices((words("yes"), (Math(matrix([1, 2])),))),
    Choices((words("one"), words("two")), several=True),
    HeatMap(
        ((0, 1, 2), (3, 4, 0)), "The weights of two tokens.", (indexed("q", 1), indexed("q", 2)),
        tuple(indexed("k", i) for i in (1, 2, 3)), (("0.05", "0.25", "0.50"), ("0.75", "0.95", "0.05")),
    ),
    AnswerGrid(n("M"), 3, 3, shade=True, row_labels=(n("a"), n("b"), n("c"))),
    FIGURE,
    Table((words("Matrix"), words("Rows")), ((words("Q"), (Math(Blank()),)), (words("K"), ()))),
    FillIns((FillIn(words("Student number"), boxes=8), FillIn(words("Memory"), 30, after=words("bytes")))),
    subtitle="Answer key", fields=("Name", "Date"), sheet="3f9a-0007", recipe="symattn worksheet --seed 7",
    solutions="key",
)  # fmt: skip

PAGES = {
    "everything": ALL,
    "exam": EVERYTHING["exam with a recipe"],
    "layouts": LAYOUTS,
    "compact, in large print": replace(LAYOUTS, solutions="blank", look=Look(24, "letter", "compact")),
}
SPOILT = TABLES["spoilt"]


@pytest.mark.slow
@pytest.mark.players
def test_there_is_nothing_wrong_with_a_page_and_what_is_wrong_is_found():
    """Every page, and two that were spoilt on purpose in several ways: one run of the browser for all."""
    if lacking := browser.missing(*check_html.PACKAGES):
        pytest.skip(lacking)
    sources = {name: write(document) for name, document in PAGES.items()}
    for page, ways in SPOILT.items():
        sources[page] = sources["layouts"]
        for complaint, (right, wrong) in ways.items():
            assert right in sources[page], complaint
            sources[page] = sources[page].replace(right, wrong)
    seen = dict(zip(sources, check_html.complaints_about(list(sources.values())), strict=True))
    assert {name: seen[name] for name in PAGES if seen[name]} == {}
    for page, ways in SPOILT.items():
        assert [complaint for complaint in ways if not any(complaint in said for said in seen[page])] == [], seen[page]


@pytest.mark.slow
@pytest.mark.players
def test_solutions_and_what_was_typed_are_on_paper(tmp_path):
    if not (chromium := browser.chromium()):
        pytest.skip("Chromium is not installed")
    source = write(LAYOUTS).replace(
        'aria-label="Q, row 1, column 1"', 'value="4711" aria-label="Q, row 1, column 1"', 1
    )
    (tmp_path / "page.html").write_text(source.replace("></textarea>", ">my own working</textarea>"), "utf-8")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-pdf-header-footer"]
    printed = tmp_path / "page.pdf"
    subprocess.run(
        [chromium, *flags, f"--user-data-dir={tmp_path / 'profile'}", f"--print-to-pdf={printed}",
         (tmp_path / "page.html").as_uri()],
        check=True, capture_output=True,
    )  # fmt: skip
    pages = PdfReader(printed).pages
    text = " ".join(page.extract_text() for page in pages)
    for part in ("The worked solution.", "A common wrong answer.", "4711", "my own working"):
        assert part in text
    for number, page in enumerate(pages, 1):
        assert "3f9a-0007" in page.extract_text()
        assert f"page {number} of {len(pages)}" in page.extract_text()
    assert "Show every solution" not in text
    width, height = (float(length) / 72 * 25.4 for length in pages[0].mediabox[2:])
    assert (round(width), round(height)) == (210, 297)


def tree(document):
    return ElementTree.fromstring(write(document))


def labels(*blocks):
    return [place.get("aria-label") for place in tree(sheet(*blocks)).iter("input")]


def test_places_to_write_are_named():
    assert labels(AnswerGrid(n("S"), 1, 2)) == ["S, row 1, column 1", "S, row 1, column 2"]
    assert labels(AnswerGrid(n("S"), 1, 2, filled=(((0, 1), n(5)),))) == ["S, row 1, column 1"]
    named = AnswerGrid(NOTHING, 1, 1, shade=True, row_labels=(indexed("q", 1),), column_labels=(n("k"),))
    assert labels(named) == ["Answer, row q sub 1, column k"]
    assert labels(FillIns((FillIn((Strong("Bytes of "), Math(n("K")))), FillIn(words("a"), value="b")))) == [
        "Bytes of K"
    ]
    assert labels(FillIns((FillIn(words("ID"), boxes=2),))) == ["ID, box 1 of 2", "ID, box 2 of 2"]
    table = Table((words("Matrix"), words("Rows"), words("Columns")), ((words("Q"), (Math(Blank()),), words("4")),))
    assert labels(table) == ["Q, Rows"]
    places = tree(sheet(Heading(words("Keys")), WorkingSpace(20), WorkingSpace(20, ruled=True))).iter("textarea")
    assert [place.get("aria-label") for place in places] == ["Working, Keys"] * 2


def test_every_place_to_write_has_a_name():
    for page in map(tree, PAGES.values()):
        labelled = {place for label in page.iter("label") for place in label.iter("input")}
        for place in (*page.iter("input"), *page.iter("textarea")):
            assert place.get("aria-label") or place in labelled


def test_options_of_one_question_exclude_one_another_and_no_others():
    two = (words("a"), words("b"))
    page = tree(sheet(Choices(two), Choices(two), Choices(two, several=True), sheet="S1"))
    groups = [[(box.get("type"), box.get("name")) for box in group.iter("input")] for group in page.iter("fieldset")]
    assert [[kind for kind, _ in group] for group in groups] == [["radio"] * 2, ["radio"] * 2, ["checkbox"] * 2]
    names = [{name for _, name in group} for group in groups]
    assert [len(group) for group in names] == [1, 1, 1]
    assert len(set.union(*names)) == 3
    assert len(list(page.iter("legend"))) == 3


def test_a_solution_is_opened_by_the_reader():
    page = tree(sheet(Heading(words("Queries")), SOLVED, solutions="key"))
    [details] = page.iter("details")
    assert details.get("open") is None
    shown = "".join(details.itertext())
    assert "The worked solution." in shown
    assert "A common wrong answer." in shown
    assert "".join(details[0].itertext()) == "Solution, Queries"
    assert len(list(page.iter("input"))) == 12 + 1  # the boxes asked for, and the one that shows every solution


def test_what_is_for_markers_stands_in_keys_alone_and_a_blank_sheet_has_nothing_of_a_solution():
    worked, blank = (write(sheet(SOLVED, solutions=solutions)) for solutions in ("worked", "blank"))
    assert "The worked solution." in worked
    assert "A common wrong answer." not in worked
    [summary] = tree(sheet(Heading(words("Queries")), Solved((), (), (), SOLVED.key), solutions="key")).iter("summary")
    assert summary.text == "For marking"
    assert write(sheet(Solved(SOLVED.ask, (), ()), solutions="key")).count("<details") == 0
    assert blank == write(sheet(*SOLVED.ask))
    assert write(sheet(SOLVED, solutions="partly")) == write(sheet(*SOLVED.partly))


def test_a_product_reads_left_times_above_is_inside():
    [scheme] = (part for part in tree(sheet(Falk(X, W, PRODUCT, NAMES))).iter("div") if part.get("class") == "falk")
    assert [part.get("class") for part in scheme] == ["left-name", "left", "top-name", "top", "inside"]


def test_somebody_s_own_words_keep_to_their_direction():
    page = tree(sheet(Paragraph((Words("for "), Words(Quoted("שלום")))), FillIns((FillIn((), value="مرحبا"),))))
    assert [part.text for part in page.iter("bdi")] == ["שלום", "مرحبا"]
    assert page.get("dir") is None


def test_the_style_sheet_says_nothing_but_its_own():
    """The identity at the foot of every printed page stands in it as a string that nothing ends."""
    string = re.compile(r'(@bottom-left \{ content: )"(?:[a-zA-Z0-9]|\\[0-9a-f]+ )*"')
    sources = [write(sheet(sheet=words, recipe="")) for words in ("A1", *HOSTILE)]
    styles = [re.findall(r"<style>(.*?)</style>", source, re.DOTALL) for source in sources]
    assert {len(found) for found in styles} == {1}
    assert len({string.sub(r"\1", found[0]) for found in styles}) == 1


def test_a_fragment_keeps_to_itself():
    piece = fragment(LAYOUTS)
    root = ElementTree.fromstring(piece)
    assert (root.tag, root.get("class")) == ("div", "symattn roomy")
    [style] = root.iter("style")
    for outside in ("@font-face", "@page", ":root"):
        assert outside not in style.text
    rules = re.findall(r"^(\S.*) \{", style.text, re.MULTILINE)
    assert rules
    assert all(rule.startswith((".symattn", "@supports")) for rule in rules)
    assert not any(part.tag in ("html", "head", "body", "main", "h1") for part in root.iter())
    assert len(piece) < 60_000


def shipped_font():
    found = re.search(r"data:font/woff2;base64,([^)]*)\)", write(ALL))
    assert found
    return TTFont(io.BytesIO(b64decode(found[1])))


def test_the_font_has_every_sign_of_the_formulas():
    font = shipped_font()
    known = set(font.getBestCmap())
    page = tree(sheet(Display(tuple(FORMULAS.values()))))
    signs = {c for part in page.iter() if part.tag in ("mn", "mo", "mi") for c in part.text or ""}
    greek, latin = "αβγδεζηθικλμνξοπρςστυφχψω", "abcdefghijklmnopqrstuvwxyz"
    assert {ord(c) for c in signs | set("⊤′×·⊙∑√≈≤≥≠→∞−∂Σ" + greek + greek.upper() + latin + latin.upper())} <= known
    italic = [0x1D44E + i if c != "h" else 0x210E for i, c in enumerate(latin)]  # what a browser shows letters as
    assert {*italic, *range(0x1D434, 0x1D44E), *range(0x1D6FC, 0x1D715)} <= known
    assert "MATH" in font


def top(font, name):
    """The height of a glyph."""
    glyphs = font.getGlyphSet()
    pen = BoundsPen(glyphs)
    glyphs[name].draw(pen)
    return pen.bounds[3]


def test_primes_have_their_form_for_scripts_in_every_browser():
    """Firefox and WebKit ask for the features of mathematics, Chromium for those of no script, if the style says so."""
    font = shipped_font()
    table, prime = font["GSUB"].table, font.getBestCmap()[ord("′")]
    assert {"DFLT", "math"} <= {record.ScriptTag for record in table.ScriptList.ScriptRecord}
    assert [record.FeatureTag for record in table.FeatureList.FeatureRecord] == ["ssty"]
    [forms] = [one.alternates[prime] for lookup in table.LookupList.Lookup for one in lookup.SubTable]
    assert top(font, forms[0]) < top(font, prime)  # it is raised as a script is
    assert 'font-feature-settings: "ssty"' in write(ALL)


def test_the_font_goes_by_its_own_name_and_keeps_its_licence():
    names = shipped_font()["name"]
    assert names.getDebugName(1) == "Symattn Math"
    assert "GUST" in str(names.getDebugName(13))
    assert (Path(symattn.__file__).parent / "page" / "fonts" / "GUST-FONT-LICENSE.txt").is_file()


# --- well formed ------------------------------------------------------------------------------------------------


def squeezed(words):
    return re.sub(r"\s+", "", words)


@pytest.mark.parametrize("name", [name for name in EVERYTHING if " 18 " not in name])
def test_every_document_is_well_formed_and_complete_in_itself(name):
    source = write(EVERYTHING[name])
    whole = ElementTree.fromstring(source)
    assert source.startswith("<!DOCTYPE html>")
    assert whole.get("lang")
    assert {element.tag for element in whole.iter()}.isdisjoint({"link", "img", "iframe", "object", "form"})
    for element in whole.iter():
        assert {"src", "href", "id"}.isdisjoint(element.attrib)
        assert not any(key.startswith("on") for key in element.attrib)
    assert source.count("url(") == source.count("url(data:font/woff2;base64,") == ("<math" in source)


@pytest.mark.parametrize("solutions", ["blank", "key"])
def test_a_page_to_fill_in_runs_the_one_script_that_keeps_what_is_typed(solutions):
    for document in (ALL, sheet(Display((n(1),)))):
        whole = tree(replace(document, solutions=solutions))
        scripts = [element.text or "" for element in whole.iter("script")]
        asks = solutions == "blank" and any(element.tag in ("input", "textarea") for element in whole.iter())
        assert len(scripts) == len(list(whole.iter("button"))) == asks
        policy = next(meta for meta in whole.iter("meta") if meta.get("http-equiv") == "Content-Security-Policy")
        digests = [b64encode(sha256(script.encode()).digest()).decode() for script in scripts]
        assert re.findall("script-src[^;]*", policy.get("content", "")) == [f"script-src 'sha256-{d}'" for d in digests]


@pytest.mark.parametrize("words", [words for words in HOSTILE if words.strip()])
def test_text_is_text_wherever_it_stands(words):
    blocks = (
        Heading((Words(words),), 1, words),
        Paragraph((Words(words), Strong(words), Code(words)), words),
        ItemList(((Words(words),),)),
        Table(((Words(words),),), (((Words(words),),),)),
        FillIns((FillIn((Words(words),), value=words, after=(Words(words),)),)),
        Choices(((Words(words),),)),
        HeatMap(((0,),), words, words=((words,),)),
        Display((n(words),)),
    )
    whole = tree(sheet(*blocks, sheet=words, recipe=words, subtitle=words, fields=(words,)))
    body = whole.find("body")
    assert squeezed("".join(body.itertext())).count(squeezed(visible(words))) >= 16


def test_formulas_are_well_formed_and_have_their_words():
    for shown in FORMULAS.values():
        found = list(tree(sheet(Paragraph((Math(shown),)), Display((shown,)))).iter("math"))
        assert found
        assert {element.get("alttext") for element in found} == {visible(speak(shown))}


def test_a_formula_in_mathml():
    assert formula(over(1, n(-2))) == (
        '<mfrac><mrow><mn>1</mn></mrow><mrow><mo form="prefix">−</mo><mn>2</mn></mrow></mfrac>'
    )
    assert formula(equal("S", matrix([1, 2]))) == (
        '<mi>S</mi><mo>=</mo><mrow><mo form="prefix">[</mo><mtable class="matrix"><mtr><mtd><mn>1</mn></mtd>'
        '<mtd><mn>2</mn></mtd></mtr></mtable><mo form="postfix">]</mo></mrow>'
    )
    assert formula(plus(Text(""), "x")) == '<mo form="infix">+</mo><mi>x</mi>'  # a sum that goes on: no sign of x


def test_the_arity_of_mathml():
    """Elements that take two or three children have two or three."""
    counts = {"mfrac": 2, "msup": 2, "msub": 2, "msubsup": 3, "munder": 2, "mover": 2, "munderover": 3}
    seen = set()
    for element in tree(sheet(Display(tuple(FORMULAS.values())))).iter():
        if element.tag in counts:
            seen.add(element.tag)
            assert len(element) == counts[element.tag]
    assert seen == set(counts)


def test_signs_of_marking_are_heard():
    [element] = tree(sheet(Paragraph((Math(Marked(n(2), "✗", "wrong")),)))).iter("math")
    assert element.get("aria-label") == "2 wrong"
    [plain] = tree(sheet(Paragraph((Math(n(2)),)))).iter("math")
    assert plain.get("aria-label") is None  # a reader of MathML does better


def test_tables_have_scopes():
    whole = tree(
        sheet(
            Table((words("a"), words("b")), ((words("c"), words("d")),), row_heads=True),
            AnswerGrid(n("S"), 2, 3, filled=(((1, 2), n(7)),)),
        )
    )
    table, grid = whole.iter("table")
    assert [(th.text, th.get("scope")) for th in table.iter("th")] == [("a", "col"), ("b", "col"), ("c", "row")]
    assert [th.get("scope") for th in grid.iter("th")] == ["col"] * 3 + ["row"] * 2
    cells = [["".join(td.itertext()) for td in row.iter("td")] for row in grid.findall("tbody/tr")]
    assert cells == [["", "", ""], ["", "", "7"]]


def test_what_is_ticked_is_not_told_by_a_sign_alone():
    whole = tree(sheet(Choices((words("x"), words("y")), ticked=frozenset({1}))))
    assert [box.get("aria-label") for box in whole.iter("span") if box.get("role") == "img"] == ["not ticked", "ticked"]
