"""The estimate of widths, against what typst and TeX measure."""

from __future__ import annotations

import json
import re

import pytest
from samples import FORMULAS

from symattn.formula.nodes import Name, Text
from symattn.formula.width import width
from symattn.writers import FORMATS, pdf, typst

# Signs in words and in text are as wide as they are; the estimate need not know Text and stray words well.
MEASURED = {name: formula for name, formula in FORMULAS.items() if not isinstance(formula, Text | Name)}


def check(measured: dict[str, float], least: float, most: float) -> None:
    print({k: (round(width(MEASURED[k]), 2), round(v, 2), round(width(MEASURED[k]) / v, 2)) for k, v in measured.items()})
    ratios = {name: width(MEASURED[name]) / em for name, em in measured.items() if em > 1.5}
    far = {name: round(ratio, 2) for name, ratio in ratios.items() if not least <= ratio <= most}
    assert not far


def test_width_against_typst() -> None:
    import typst as engine

    equations = "".join(
        f"#context [#metadata(measure(math.equation(block: true, $ {typst.formula(formula)} $)).width / 11pt)<w>]\n"
        for formula in MEASURED.values()
    )
    furniture = typst.write(__import__("symattn.document").document.Document("t", ()))
    answer = engine.query((furniture + equations).encode(), "<w>", field="value", ignore_system_fonts=True)
    check(dict(zip(MEASURED, json.loads(answer), strict=True)), 0.85, 1.45)


@pytest.mark.usefixtures("tex")
def test_width_against_tex() -> None:
    boxes = "".join(
        f"\\sbox{{\\formulabox}}{{$\\displaystyle {FORMATS['latex'].formula(formula)}$}}"
        "\\typeout{WIDTH \\the\\wd\\formulabox}\n"
        for formula in MEASURED.values()
    )
    from symattn.document import Document

    source = FORMATS["latex"].write(Document("t", ())).replace("\\end{document}", boxes + "\\end{document}")
    _, log = pdf.latex_pdf(source)
    points = re.findall(r"WIDTH ([\d.]+)pt", log)
    check({name: float(point) / 10.95 for name, point in zip(MEASURED, points, strict=True)}, 0.85, 1.45)
