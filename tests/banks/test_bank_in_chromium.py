"""The scores table in a renderer that is widely used, @citolab/qti-components in Chromium."""

import json
import os
import random
import subprocess
from pathlib import Path
from zipfile import ZipFile

import pytest
import qti_reader
from browser import chromium, missing
from test_bank_grammar import paper
from test_bank_scores import EXACT, PARTS, exact

RUNNER = Path(__file__).with_name("components.cjs")
PACKAGES = ("playwright-core", "@citolab/qti-components/package.json")
LACKING = missing(*PACKAGES)
pytestmark = [pytest.mark.slow, pytest.mark.players, pytest.mark.skipif(bool(LACKING), reason=LACKING)]


def scored(folder, scripts):
    """The score and the number of feedback blocks shown, for each of several scripts: a text for every box."""
    (((_, items),), _) = qti_reader.items(folder / "own.qti3.zip")
    names = list(qti_reader.Item(items[0]).declared)
    cases = [{name: text for name, text in zip(names, texts, strict=True) if text} for texts in scripts]
    with ZipFile(folder / "own.qti3.zip") as archive:
        (name,) = (name for name in archive.namelist() if name.startswith("items/"))
        (folder / "item.xml").write_bytes(archive.read(name))
    (folder / "cases.json").write_text(json.dumps(cases), "utf-8")
    run = subprocess.run(
        ["node", str(RUNNER), str(folder / "item.xml"), str(folder / "cases.json")],
        capture_output=True, text=True, check=False, env={**os.environ, "CHROMIUM": chromium()},
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_exact_answers_in_chromium(exact):
    found = scored(exact, [[text for name in PARTS for text in written[name]] for written, _, _ in EXACT.values()])
    scores = dict(zip(EXACT, (score for score, _ in found), strict=True))
    assert scores == pytest.approx({kind: carried for kind, (_, carried, _) in EXACT.items()})
    assert found[list(EXACT).index("common misconception")][1] == 11
    assert found[list(EXACT).index("right")][1] == 0


@pytest.mark.parametrize("paper", [("e", 1)], indirect=True)
def test_the_stated_grammar_in_chromium(paper):
    """In every box a text of the grammar, and a wrong value: fractions in some boxes, in others decimals."""
    dice = random.Random(9)
    found = [score for score, _ in scored(paper.folder, [paper.right(dice), paper.wrong(dice)])]
    whole = float(paper.item.worked_out({})["MAXSCORE"])
    assert found == pytest.approx([whole, 0], abs=1e-3)


__all__ = ["exact", "paper"]  # fixtures
