"""The figures of the pedagogy notes: variant G1 in every row, and how far its answers lie apart (rules.md 2.3)."""

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import oracles
import pytest
from test_golden_variant import worked_out

from symattn.derivation.misconceptions import misconception, replayed

PAGE = (Path(__file__).parent / "golden-variant.md").read_text("utf-8")
MASKS = {"Unmasked": None, "Causal": "causal"}


def table(heading):
    section = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (\S.*?) \| (.+?) \|$", section, re.MULTILINE)
    return [(name, said) for name, said in rows if name != "Misconception"]


FIGURES = [(MASKS[heading], name, said) for heading in MASKS for name, said in table(heading)]


def test_the_whole_page_is_read():
    assert [len(table(h)) for h in (*MASKS, "Giving themselves away")] == [26, 9, 5]


@pytest.mark.parametrize(("mask", "name", "said"), FIGURES, ids=lambda x: str(x)[:12])
def test_every_figure_of_the_table(mask, name, said):
    right = worked_out(mask=mask)
    if name == "correct":
        output = right.value("Z")
    else:
        wrong = misconception(name).on(right)
        assert wrong.stopped == ""
        output = wrong.value("Z")
    printed = [row.split(",") for row in said.replace("−", "-").split("; ")]
    assert output.shape == (3, 2)
    for i, row in enumerate(printed):
        for j, figure in enumerate(row):
            places = len(figure.partition(".")[2])
            assert output.decimals(places)[i][j] == figure, (i, j)


@pytest.mark.parametrize(("names", "how"), table("Giving themselves away"))
def test_what_gives_itself_away(names, how):
    for name in names.split():
        wrong = misconception(name).on(worked_out(mask="causal" if "causal" in how else None))
        if "columns" in how:
            assert wrong.value("Z").shape == (3, int(how.split()[0]))
            assert wrong.stopped == ""
        else:
            assert wrong.value("Z") is None
            assert wrong.stopped.endswith(".")


def test_the_sum_0_is_in_row_2():
    wrong = misconception("X5").on(worked_out())
    assert wrong.first == "A"
    assert "token 2" in wrong.stopped
    assert wrong.value("S'") == worked_out().value("S'")
    assert wrong.value("A") is None


# ------------------------------------------------------------------------------------------ what can be told apart


def distance(a, b):
    """The largest difference of two entries; infinite where the shapes differ or only one goes so far."""
    if a is None or b is None:
        return 0.0 if a is b else np.inf
    if a.shape != b.shape:
        return np.inf
    pairs = zip(oracles.floats(a).flat, oracles.floats(b).flat, strict=True)
    return max(0.0 if x == y else abs(float(x) - float(y)) for x, y in pairs)


@pytest.mark.parametrize("mask", [None, "causal"])
def test_core_outputs_lie_apart(mask):
    # "pairwise separation ≥ 0.23 in some entry", but for the pairs that are the same thing at the output
    same = {("P4", "T2"), ("P7", "O5")}
    wrongs = [w for w in replayed(worked_out(mask=mask)) if w.misconception.core]
    assert len(wrongs) == (20 if mask is None else 25)
    for a, b in combinations(wrongs, 2):
        if (a.misconception.id, b.misconception.id) not in same:
            assert distance(a.value("Z"), b.value("Z")) >= 0.23, (a.misconception.id, b.misconception.id)
    for w in wrongs:
        assert distance(w.value("Z"), worked_out(mask=mask).value("Z")) >= 0.25, w.misconception.id
