"""HTML: well formed, complete in itself, nothing in it but text, formulas that can be read and heard."""

import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from xml.etree import ElementTree

import pytest
from writer_exam_samples import EVERYTHING
from writer_samples import ALL, FORMULAS, HOSTILE, equal, matrix, n, over, sheet

from symattn.formula.nodes import Marked
from symattn.formula.speech import speak
from symattn.page.document import (
    AnswerGrid,
    Choices,
    Code,
    Display,
    FillIn,
    FillIns,
    Heading,
    HeatMap,
    ItemList,
    Math,
    Paragraph,
    Strong,
    Table,
    Words,
)
from symattn.page.writers.common import visible
from symattn.page.writers.html import formula, write


def page(*blocks, **furniture):
    """The page as a parser of XML sees it, which knows no entities beyond those of XML."""
    return ElementTree.fromstring(write(sheet(*blocks, **furniture)))


def squeezed(words):
    return re.sub(r"\s+", "", words)


@pytest.mark.parametrize("name", [name for name in EVERYTHING if " 18 " not in name])
def test_every_document_is_well_formed_and_complete_in_itself(name):
    source = write(EVERYTHING[name])
    tree = ElementTree.fromstring(source)
    assert source.startswith("<!DOCTYPE html>")
    assert tree.get("lang")
    assert {element.tag for element in tree.iter()}.isdisjoint({"link", "img", "iframe", "object", "form"})
    for element in tree.iter():
        assert {"src", "href", "id"}.isdisjoint(element.attrib)
        assert not any(key.startswith("on") for key in element.attrib)
    assert source.count("url(") == source.count("url(data:font/woff2;base64,") == ("<math" in source)


@pytest.mark.parametrize("solutions", ["blank", "key"])
def test_a_page_to_fill_in_runs_the_one_script_that_keeps_what_is_typed(solutions):
    for document in (ALL, sheet(Display((n(1),)))):
        tree = ElementTree.fromstring(write(replace(document, solutions=solutions)))
        scripts = [element.text or "" for element in tree.iter("script")]
        asks = solutions == "blank" and any(element.tag in ("input", "textarea") for element in tree.iter())
        assert len(scripts) == len(list(tree.iter("button"))) == asks
        policy = next(meta for meta in tree.iter("meta") if meta.get("http-equiv") == "Content-Security-Policy")
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
    tree = page(*blocks, sheet=words, recipe=words, subtitle=words, fields=(words,))
    body = tree.find("body")
    assert squeezed("".join(body.itertext())).count(squeezed(visible(words))) >= 16


def test_formulas_are_well_formed_and_have_their_words():
    for shown in FORMULAS.values():
        found = list(page(Paragraph((Math(shown),)), Display((shown,))).iter("math"))
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


def test_the_arity_of_mathml():
    """Elements that take two or three children have two or three."""
    counts = {"mfrac": 2, "msup": 2, "msub": 2, "msubsup": 3, "munder": 2, "mover": 2, "munderover": 3}
    seen = set()
    for element in page(Display(tuple(FORMULAS.values()))).iter():
        if element.tag in counts:
            seen.add(element.tag)
            assert len(element) == counts[element.tag]
    assert seen == set(counts)


def test_signs_of_marking_are_heard():
    [element] = page(Paragraph((Math(Marked(n(2), "✗", "wrong")),))).iter("math")
    assert element.get("aria-label") == "2 wrong"
    [plain] = page(Paragraph((Math(n(2)),))).iter("math")
    assert plain.get("aria-label") is None  # a reader of MathML does better


def test_tables_have_scopes():
    tree = page(
        Table(((Words("a"),), (Words("b"),)), (((Words("c"),), (Words("d"),)),), row_heads=True),
        AnswerGrid(n("S"), 2, 3, filled=(((1, 2), n(7)),)),
    )
    table, grid = tree.iter("table")
    assert [(th.text, th.get("scope")) for th in table.iter("th")] == [("a", "col"), ("b", "col"), ("c", "row")]
    assert [th.get("scope") for th in grid.iter("th")] == ["col"] * 3 + ["row"] * 2
    cells = [["".join(td.itertext()) for td in row.iter("td")] for row in grid.findall("tbody/tr")]
    assert cells == [["", "", ""], ["", "", "7"]]


def test_what_is_ticked_is_not_told_by_a_sign_alone():
    tree = page(Choices(((Words("x"),), (Words("y"),)), ticked=frozenset({1})))
    assert [box.get("aria-label") for box in tree.iter("span") if box.get("role") == "img"] == ["not ticked", "ticked"]
