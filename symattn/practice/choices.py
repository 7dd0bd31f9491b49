"""What a teacher can choose on the page, as data: problem types, mechanisms with their sizes and settings, notations.

Nothing is said twice: it is read from the package when the page is built, so that the form is there before Python is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, get_args, get_type_hints

from symattn.derivation.mechanisms import Mechanism, mechanisms
from symattn.derivation.settings import ABOUT
from symattn.foundation.typed import OneOf
from symattn.marking.marker.policy import POLICIES
from symattn.page.notation import notation_title, notations
from symattn.page.presentation import CHOICES
from symattn.page.writers import FORMATS
from symattn.practice.words import translated
from symattn.teaching.description import settings_of
from symattn.teaching.explanation import CONVENTIONS, LAYOUTS
from symattn.teaching.exporters import EXPORTERS
from symattn.teaching.problems import ProblemType, drawn_types, problem_type
from symattn.teaching.problems.base import SIZES, Shared
from symattn.teaching.sheets import SOLUTIONS

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
