"""An example of each thing that a teacher chooses between on the page: how a sheet begins, formulas, a mask drawn.

They are made when the page is built, and fetched when somebody wants to see them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from symattn.derivation.mechanisms import mechanisms
from symattn.derivation.mechanisms.masks import mask_keep
from symattn.foundation.languages import speaking
from symattn.page.document import Document, Heading, Look, Program, paragraph
from symattn.page.notation import notations
from symattn.page.presentation import make_look, presented
from symattn.page.writers import html
from symattn.teaching.explanation import LAYOUTS, Layout
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.problem import Problem
from symattn.teaching.problems import drawn_types, problem_type
from symattn.teaching.sheets import Recipe, Sheet, sheets

SEED = 7
MOST_BLOCKS, MOST_FORMULAS = 9, 10
MASKS: Mapping[str, str] = {
    "none": "", "causal": "causal", "past": "past",
    "padding:": "padding:3", "window:": "window:2", "prefix:": "prefix:2",
}  # fmt: skip
"""The masks that the form has by name, and those that stand for them."""
TOKENS = 4
"""On a picture of a mask."""

Examples = dict[str, dict[str, str]]
"""HTML by what is chosen, and by its value."""


def examples(languages: Iterable[str]) -> dict[str, Examples]:
    """Every example, by language."""
    types = {name: _drawn(name) for name in drawn_types()}
    usual = _drawn("full", mechanism="attention")
    derived = {name: _drawn("full", mechanism=name).problem for name in mechanisms()}
    noted = {name: _drawn("full", notation=name).problem for name in notations()}
    masks = {name: _mask(spec) for name, spec in MASKS.items()}
    made: dict[str, Examples] = {}
    for language in languages:
        look = make_look(language=language)
        with speaking(language):
            made[language] = {
                "problem": {name: _page(sheet.document(conventions="none"), look) for name, sheet in types.items()},
                "layout": {name: _page(_laid_out(usual, name), look) for name in LAYOUTS},
                "mechanism": {name: _formulas(problem, look) for name, problem in derived.items()},
                "notation": {name: _formulas(problem, look) for name, problem in noted.items()},
                "mask": masks,
            }
    return made


def _drawn(problem: str, **stated: object) -> Sheet:
    return next(sheets(Recipe(problem_type(problem).spec(stated), SEED), 1))


def _page(document: Document, look: Look) -> str:
    """How a sheet begins."""
    shown = [block for block in document.blocks if not isinstance(block, Program)]
    return html.bare(presented(replace(document, blocks=tuple(shown[:MOST_BLOCKS]), look=look)), head=False)


def _laid_out(sheet: Sheet, layout: Layout) -> Document:
    """A sheet in a layout, from its first product on, since what is given is printed alike."""
    document = sheet.document(layout=layout, conventions="none")
    given = next((k for k, block in enumerate(document.blocks) if isinstance(block, Heading)), None)
    return document if given is None or layout == "flow" else replace(document, blocks=document.blocks[given + 2 :])


def _formulas(problem: Problem, look: Look) -> str:
    """The rules of its first steps."""
    words, steps = Wording(problem.derivation, problem.notation), list(problem.derivation)
    rules = tuple(paragraph(words.equation(step)) for step in steps[:MOST_FORMULAS])
    more = (paragraph("…"),) if len(steps) > MOST_FORMULAS else ()
    return html.bare(presented(Document("", (*rules, *more), look=look)), head=False)


def _mask(spec: str) -> str:
    """What each query sees: a row of squares for each."""
    seen = mask_keep(spec, TOKENS, TOKENS) if spec else None
    squares = (
        f'<rect x="{j}" y="{i}" width="1" height="1" class="{"seen" if seen is None or seen[i][j] else "unseen"}"/>'
        for i in range(TOKENS)
        for j in range(TOKENS)
    )
    return f'<svg viewBox="-0.1 -0.1 {TOKENS + 0.2} {TOKENS + 0.2}" width="96" height="96">{"".join(squares)}</svg>'
