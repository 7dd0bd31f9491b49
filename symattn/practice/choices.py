"""What a teacher can choose on the page, as data: problem types, mechanisms with their sizes and settings, notations;
and an example of each choice.

Nothing is said twice: it is read from the package when the page is built, so that the form is there before Python is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, get_args, get_type_hints

from symattn.derivation.mechanisms import Mechanism, mechanisms
from symattn.derivation.mechanisms.masks import mask_keep
from symattn.derivation.settings import ABOUT
from symattn.foundation.dice import Dice
from symattn.foundation.languages import speaking
from symattn.foundation.typed import OneOf
from symattn.marking.marker.policy import POLICIES
from symattn.page.document import Document, Heading, Look, Program, paragraph
from symattn.page.notation import notation_title, notations
from symattn.page.presentation import CHOICES, make_look, presented
from symattn.page.writers import FORMATS, html
from symattn.practice.words import translated
from symattn.teaching.description import settings_of
from symattn.teaching.explanation import CONVENTIONS, LAYOUTS, Layout
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.exporters import EXPORTERS
from symattn.teaching.pool import chosen_contents
from symattn.teaching.problem import Problem
from symattn.teaching.problems import ProblemType, drawn_types, problem_type
from symattn.teaching.problems.derived import problem_of
from symattn.teaching.problems.draws import SIZES, Shared
from symattn.teaching.recipe import Recipe
from symattn.teaching.sheets import SOLUTIONS, Sheet, sheets

CALLED: Mapping[str, str] = {
    "latex": "LaTeX", "pdf": "PDF", "markdown": "Markdown", "html": "HTML", "notebook": "Jupyter", "typst": "Typst",
    "text": "TXT", "latex-body": "LaTeX (\\input)", "canvas": "Canvas", "moodle": "Moodle", "qti21": "QTI 2.1",
    "qti3": "QTI 3.0", "rexams": "R/exams", "prairielearn": "PrairieLearn",
}  # fmt: skip
"""Formats by their own names, the same in every language."""


ELSEWHERE = ("mask", "orientation")
"""Settings that the form offers in another way: masks by name, and the orientation by the notation."""


def words() -> Iterator[str]:
    """What the form says of settings and options, for the catalogues of the languages."""
    yield from (_of_page(one.about) for name, one in ABOUT.items() if name not in ELSEWHERE)
    for problem in map(problem_type, drawn_types()):
        for name, (default, about, *kinds) in problem.options.items():
            if not isinstance(default, str) or not (_names(kinds) or (problem.presets and name == "what")):
                yield about


def _of_page(about: str) -> str:
    """A setting in words, without the options of the command line by which it is said there."""
    return re.sub(r" \(--[^)]*\)", "", about)


def choices(pdf: bool = False) -> dict[str, Any]:
    """Everything that the form offers; PDF where the page can make it."""
    return {
        "problems": [_problem(problem_type(name)) for name in drawn_types()],
        "mechanisms": [_mechanism(one) for one in mechanisms().values()],
        "notations": [{"name": name, "title": translated(notation_title(name))} for name in notations()],
        "settings": {
            name: {"about": translated(_of_page(one.about)), "values": one.values}
            for name, one in ABOUT.items()
            if name not in ELSEWHERE
        },
        "levels": list(SIZES),
        "softmax": list(get_args(get_type_hints(Shared)["softmax"])),
        "layouts": list(LAYOUTS),
        "conventions": list(CONVENTIONS),
        "solutions": list(SOLUTIONS),
        "look": {name: [said for said in values if said != "'"] for name, values in CHOICES.items()},
        "formats": [{"name": name, "called": CALLED.get(name, name)} for name in (*["pdf"] * pdf, *FORMATS)],
        "policies": [{"name": one.name, "title": translated(one.title)} for one in POLICIES.values()],
        "banks": [{"name": name, "called": CALLED.get(name, name)} for name in EXPORTERS],
    }


def _problem(one: ProblemType) -> dict[str, Any]:
    return {
        "name": one.name,
        "title": translated(one.title),
        "options": [_option(one, name) for name in one.options],
        "mechanism": not (one.mechanisms or one.presets),
        "presets": {what: str(preset["mechanism"]) for what, preset in one.presets.items()},
        "settings": list(one.settings) if one.mechanisms else None,
        "sizes": list(one.own_sizes) if one.own_sizes else "sizes" not in one.draws,
    }


def _option(one: ProblemType, name: str) -> dict[str, Any]:
    """An option: what kind of value it takes, which ones where they can be listed, and the default."""
    default, about, *kinds = one.options[name]
    values = list(one.presets) if name == "what" and one.presets else _names(kinds)
    kind = {bool: "yes", int: "number", str: "text", list: "list"}[type(default)]
    return {"name": name, "kind": kind, "values": values, "default": default, "about": translated(about)}


def _names(kinds: Iterable[Any]) -> list[str]:
    """The names of which an option is one, or has some."""
    for kind in kinds:
        for hint in (kind, *get_args(kind)):
            for constraint in getattr(hint, "__metadata__", ()):
                if isinstance(constraint, OneOf):
                    return [str(name) for name in constraint.names() if name]
    return []


def _mechanism(one: Mechanism) -> dict[str, Any]:
    usual = {level: {**sizes, **one.default_sizes} for level, sizes in SIZES.items()}
    return {
        "name": one.name,
        "title": translated(one.title),
        "sizes": {
            level: {letter: sizes[letter] for letter in one.letters if letter in sizes}
            for level, sizes in usual.items()
        },
        "settings": list(settings_of(one.name)),
    }


# ------------------------------------------------------------------------------------------------ examples
# How a sheet begins, formulas, a mask drawn: fetched when somebody wants to see them.

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
    derived = {name: _derived(mechanism=name) for name in mechanisms()}
    noted = {name: _derived(notation=name) for name in notations()}
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


def _derived(**stated: object) -> Problem:
    """What is worked out on such a sheet, without the sheet."""
    spec = problem_type("full").spec(stated)
    return problem_of(dict(next(chosen_contents(spec, Dice.seeded(SEED), 1))))


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
