"""Every example, problem type and mechanism, on paper and on the screen, in every format: `make pages` looks at all.

It takes half an hour; `tests/test_every_page.py` looks at a part of it.  Names after the command choose subjects,
`--look language=de,paper=letter` another look, `--formats pdf,html` some formats only.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "writers"))

import check_html
import check_latex
import check_markdown
import check_notebook
import check_pdf

from symattn.api import derive, make_recipe
from symattn.document import Document, Look
from symattn.examples import examples
from symattn.mechanisms import mechanisms
from symattn.presentation import make_look, presented
from symattn.problems import problem_types
from symattn.sheets import sheets

Check = Callable[[Document], list[str]]
ONE_BY_ONE: Mapping[str, Check] = {
    "pdf": check_pdf.complaints,
    "latex": check_latex.complaints,
    "markdown": check_markdown.complaints,
    "notebook": check_notebook.complaints,
}
SUBJECTS = (
    *(f"example {name}" for name in examples()),
    *(f"type {name}" for name in problem_types()),
    *(f"mechanism {name}" for name in mechanisms()),
)
PAGES_AT_ONCE = 8
"""So many pages are looked at in one run of the browser."""


@cache
def pages(subject: str) -> tuple[Document, ...]:
    """What there is on paper: a note as written and corrected, or a worksheet and its key."""
    kind, _, name = subject.partition(" ")
    if kind == "example":
        return tuple(derive(name, corrected=corrected).document for corrected in (False, True))
    if kind == "type":
        [sheet] = sheets(make_recipe("", {}, problem=name, seed=7), 1)
    else:
        [sheet] = sheets(make_recipe(name, {}, seed=7), 1)
    return sheet.worksheet, sheet.key


def dressed(subject: str, look: Look) -> Iterator[Document]:
    return (presented(replace(document, look=look)) for document in pages(subject))


def complaints(subject: str, form: str, look: Look) -> list[str]:
    """What is wrong with the pages of a subject in a format that is looked at page by page."""
    return [f"{subject}, {d.subtitle or 'page'}: {c}" for d in dressed(subject, look) for c in ONE_BY_ONE[form](d)]


def complaints_of_browser(subjects: Sequence[str], look: Look) -> Iterator[str]:
    """What is wrong with the pages in a browser, a few at a time."""
    listed = [(subject, document) for subject in subjects for document in dressed(subject, look)]
    for start in range(0, len(listed), PAGES_AT_ONCE):
        some = listed[start : start + PAGES_AT_ONCE]
        found = check_html.complaints([document for _, document in some])
        yield from (f"{', '.join(dict.fromkeys(s for s, _ in some))}: {complaint}" for complaint in found)


def main(arguments: Iterable[str]) -> int:
    stated = dict(a.removeprefix("--").split("=", 1) for a in arguments if a.startswith("--"))
    chosen = [a for a in arguments if not a.startswith("--")]
    subjects = [s for s in SUBJECTS if not chosen or any(c in s for c in chosen)]
    formats = stated.get("formats", "pdf,latex,markdown,notebook,html").split(",")
    said = dict(part.split("=") for part in stated["look"].split(",")) if "look" in stated else {}
    look = make_look(**{k: int(v) if v.isdecimal() else v for k, v in said.items()})
    wrong = 0
    for form in formats:
        if form == "html":
            found: Iterable[str] = complaints_of_browser(subjects, look)
        else:
            found = (c for subject in subjects for c in complaints(subject, form, look))
        for complaint in found:
            wrong += 1
            print(f"{form}: {complaint}", flush=True)
        print(f"{form}: {len(subjects)} subjects looked at", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
