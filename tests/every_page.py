"""Every example, problem type and mechanism, on paper and on the screen, in every format: `make pages` looks at all.

It takes half an hour; `tests/test_every_page.py` looks at a part of it.  Names after the command choose subjects,
`--look=language=de,paper=letter` another look, `--formats=pdf,html` some formats only, `--layout=falk` another layout.
LaTeX is looked at with every TeX there is, in the classes article and exam, and in all versions of the solutions:
`--engines=lualatex --classes=exam --solutions=key`.
"""

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import cast

sys.path.insert(0, str(Path(__file__).parent / "writers"))

import check_html
import check_latex
import check_markdown
import check_notebook
import check_pdf

from symattn.api import derive, make_recipe
from symattn.derivation.mechanisms import mechanisms
from symattn.page.document import Document
from symattn.page.presentation import make_look, presented
from symattn.teaching.examples import examples
from symattn.teaching.explanation import Layout
from symattn.teaching.problems import drawn_types
from symattn.teaching.sheets import SOLUTIONS, check_solutions, sheets

Check = Callable[[Document], list[str]]
ONE_BY_ONE = {
    "pdf": check_pdf.complaints,
    "markdown": check_markdown.complaints,
    "notebook": check_notebook.complaints,
}
SUBJECTS = (
    *(f"example {name}" for name in examples()),
    *(f"type {name}" for name in drawn_types()),
    *(f"mechanism {name}" for name in mechanisms()),
)
PAGES_AT_ONCE = 8
"""So many pages are looked at in one run of the browser."""
SHEETS_AT_ONCE = 60
"""So many are in one run of TeX."""


def pages(subject, layout="matrix"):
    """What there is on paper: a note as written and corrected, or a worksheet and its key."""
    return _note(subject, layout) or tuple(_sheet(subject).document(s, layout=layout) for s in ("blank", "key"))


def versions(subject, layout="matrix", solutions=SOLUTIONS):
    """The same, worksheets in these versions of their solutions, and what each is called."""
    if note := _note(subject, layout):
        return tuple(zip(("as written", "corrected"), note, strict=True))
    return tuple((s, _sheet(subject).document(s, layout=layout)) for s in solutions)


def _note(subject, layout):
    kind, _, name = subject.partition(" ")
    if kind != "example":
        return ()
    return derive(name, corrected=False).document, derive(name, layout=layout).document  # as written has its own layout


@cache
def _sheet(subject):
    kind, _, name = subject.partition(" ")
    recipe = make_recipe("", {}, problem=name, seed=7) if kind == "type" else make_recipe(name, {}, seed=7)
    [sheet] = sheets(recipe, 1)
    return sheet


def dressed(subject, look, layout):
    return (presented(replace(document, look=look)) for document in pages(subject, layout))


def complaints(subject, form, look, layout):
    """What is wrong with the pages of a subject in a format that is looked at page by page."""
    found = dressed(subject, look, layout)
    return [f"{subject}, {d.subtitle or 'page'}: {c}" for d in found for c in ONE_BY_ONE[form](d)]


def complaints_of_tex(listed, engines, classes):
    """What is wrong with named pages in TeX, many in one run."""
    there = {name: engine for name, engine in check_latex.engines().items() if not engines or name in engines}
    for name, engine in there.items():
        for latex_class in classes:
            if not check_latex.has_class(engine, latex_class):
                print(f"latex: {name} has no class {latex_class}", flush=True)
                continue
            for start in range(0, len(listed), SHEETS_AT_ONCE):
                some = listed[start : start + SHEETS_AT_ONCE]
                found = check_latex.complaints_of_class(some, engine, latex_class)
                yield from (f"{name}, {latex_class}, {complaint}" for complaint in found)
            print(f"latex: {len(listed)} sheets in {name}, {latex_class}", flush=True)


def complaints_of_browser(subjects, look, layout):
    """What is wrong with the pages in a browser, a few at a time."""
    listed = [(subject, document) for subject in subjects for document in dressed(subject, look, layout)]
    for start in range(0, len(listed), PAGES_AT_ONCE):
        some = listed[start : start + PAGES_AT_ONCE]
        found = check_html.complaints([document for _, document in some])
        yield from (f"{', '.join(dict.fromkeys(s for s, _ in some))}: {complaint}" for complaint in found)


def main(arguments):
    stated = dict(a.removeprefix("--").split("=", 1) for a in arguments if a.startswith("--"))
    chosen = [a for a in arguments if not a.startswith("--")]
    subjects = [s for s in SUBJECTS if not chosen or any(c in s for c in chosen)]
    formats = stated.get("formats", "pdf,latex,markdown,notebook,html").split(",")
    said = dict(part.split("=") for part in stated["look"].split(",")) if "look" in stated else {}
    look = make_look(**{k: int(v) if v.isdecimal() else v for k, v in said.items()})
    layout = cast(Layout, stated.get("layout", "matrix"))
    engines = stated["engines"].split(",") if "engines" in stated else []
    classes = stated.get("classes", "article,exam").split(",")
    wrong = 0
    for form in formats:
        if form == "html":
            found = complaints_of_browser(subjects, look, layout)
        elif form == "latex":
            solutions = check_solutions(stated.get("solutions", ",".join(SOLUTIONS)).split(","))
            listed = [
                (f"{subject}, {name}", presented(replace(document, look=look)))
                for subject in subjects
                for name, document in versions(subject, layout, solutions)
            ]
            found = complaints_of_tex(listed, engines, classes)
        else:
            found = (c for subject in subjects for c in complaints(subject, form, look, layout))
        for complaint in found:
            wrong += 1
            print(f"{form}: {complaint}", flush=True)
        print(f"{form}: {len(subjects)} subjects looked at", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
