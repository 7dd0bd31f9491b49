"""What a notebook shows of results: Markdown and HTML for whole documents, LaTeX for a matrix and a step."""

from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from writer_markdown_rules import lint

from symattn.api import check, derive, worksheet
from symattn.teaching.sheets import render

GIVEN = {"Q": [[1, 0]], "K": [[1, 0], [0, 1]], "V": [[1], [2]]}


@pytest.fixture(scope="module")
def solution():
    return derive("attention", **GIVEN)


@pytest.fixture(scope="module")
def results(solution):
    [sheet] = worksheet("attention", seed=3)
    marking = check(solution, {"S": [[1, 0]], "A": [["1/2", "1/2"]]})
    return {"solution": solution, "sheet": sheet, "marking": marking}


class _Tags(HTMLParser):
    """The tags of a page, each closed in turn."""

    EMPTY = ("br", "hr", "img", "input", "meta", "link", "col", "wbr")

    def __init__(self):
        super().__init__()
        self.open = []
        self.seen = set()

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.EMPTY:
            assert self.open.pop() == tag


@pytest.mark.parametrize("name", ["solution", "sheet", "marking"])
def test_what_is_shown_is_a_piece_of_a_page(results, name):
    shown = results[name]._repr_markdown_()
    assert shown.startswith("**")
    assert "symattn: 1" not in shown
    assert lint(shown) == []
    tags = _Tags()
    tags.feed(results[name]._repr_html_())
    assert tags.open == []
    assert "math" in tags.seen
    assert not tags.seen & {"html", "head", "body", "script", "title"}


def test_the_same_formulas_are_shown_and_written(solution):
    written = render(solution.document, "markdown")[1].decode()
    body = solution._repr_markdown_().partition("\n\n")[2].strip()
    assert body in written


def test_a_step_and_its_matrix_are_latex(solution):
    step = solution["S'"]
    matrix = step.result._repr_latex_()
    assert matrix.startswith("$\\displaystyle")
    assert step._repr_latex_().startswith("$\\displaystyle S'")
    assert step._repr_latex_().count("matrix}") == matrix.count("matrix}") == 2
    assert "\\sqrt{2}" in matrix


def test_a_step_without_numbers_shows_its_shape():
    assert derive("note-001")["Q"]._repr_latex_() == (
        r"$\displaystyle \operatorname{shape}{\left(Q \right)} = \left( 2, \  64\right)$"
    )


def test_formulas_of_a_shown_piece_are_mathml(solution):
    shown = solution._repr_html_()
    start, end = shown.index("<math"), shown.index("</math>") + len("</math>")
    assert ElementTree.fromstring(shown[start:end]).tag.endswith("math")
