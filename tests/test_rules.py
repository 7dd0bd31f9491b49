"""The rules that code cites stand in docs/rules.md, and the figures there are those that the code goes by."""

import re
from fractions import Fraction
from pathlib import Path

import pytest

import symattn
from symattn.derivation.misconceptions import misconceptions
from symattn.marking.marker.award import DIMINISHED
from symattn.marking.marker.diagnosis import LONGEST_GAP
from symattn.marking.marker.policy import POLICIES
from symattn.teaching.fairness import features
from symattn.teaching.fairness.search import TARGETS
from symattn.teaching.pool import OVERLAP
from symattn.teaching.problems import problem_types

ROOT = Path(symattn.__file__).parent.parent
RULES = (ROOT / "docs" / "rules.md").read_text("utf-8")
SECTIONS = set(re.findall(r"^##+ (\d+(?:\.\d+)?)", RULES, re.MULTILINE))
CITED = re.compile(r"rules\.md (\d+(?:\.\d+)?)")


def section(number):
    return re.split(r"^##+ ", RULES.partition(f"# {number} ")[2], maxsplit=1, flags=re.MULTILINE)[0]


def table(number):
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in section(number).splitlines() if "|" in line
    ]
    return {head: cells for head, *cells in rows[2:]}


def test_every_rule_that_is_cited_is_there():
    cited = {}
    for folder in ("symattn", "tests"):
        for path in (ROOT / folder).rglob("*.py"):
            text = path.read_text("utf-8")
            cited |= dict.fromkeys(CITED.findall(text), path.name)
            assert path.name in ("test_rules.py", "test_help.py") or "PEDAGOGY" not in text, path.name
    assert len(cited) > 20
    assert {number: name for number, name in cited.items() if number not in SECTIONS} == {}


def test_the_weights_of_a_load():
    said = re.search(
        r"L = ([\d.]+) z \+ ([\d.]+) u \+ ([\d.]+) h \+ ([\d.]+) add.* \+ ([\d.]+) neg.* \+ ([\d.]+) two", RULES
    )
    assert tuple(map(float, said.groups())) == (
        features.ZERO_PRODUCT, features.UNIT_PRODUCT, features.HARD_PRODUCT, features.ADDITION, features.NEGATIVE_TERM,
        features.TWO_DIGITS,
    )  # fmt: skip


@pytest.mark.parametrize(("column", "level"), [*enumerate(TARGETS)])
def test_the_targets(column, level):
    target, rows = TARGETS[level], table("4.8")

    def numbers(row):
        return tuple(float(x.replace("−", "-")) for x in re.findall(r"−?[\d.]+", rows[row][column]))

    assert numbers("entries") == target.entries
    assert numbers("largest share of entries of size 2") == (target.twos,)
    assert numbers("share of zeros in X and W") == target.zeros
    assert numbers("share of negative terms") == target.negatives
    assert numbers("most hard products, and how far siblings differ") == target.h
    assert numbers("range of a row of scaled scores") == target.reach
    assert numbers("largest weight of a row") == target.max_weight
    assert numbers("most ties") == (target.ties,)
    assert numbers("largest D") == (target.D,)
    assert numbers("spread of the load within a family") == (target.spread,)
    assert numbers("most that two keys share") == (OVERLAP[level],)


def test_the_figures_of_marking():
    assert f"less than {DIMINISHED} of the load" in section("3.5")
    assert LONGEST_GAP == 2
    assert "At most two steps in a row" in section("3.9")
    assert {p.no_working for p in POLICIES.values()} == {Fraction(3, 5)}
    assert "3/5 of the marks" in section("3.9")
    assert all(f"`{name}`" in section("3.1") for name in POLICIES)
    assert all(p.widest_window == 10 for p in POLICIES.values())
    assert "at most 10 final tolerances" in section("3.8")


def test_every_family_and_every_type_is_named():
    families = section("2.2")
    assert all(re.search(rf"\b{code[0]} ", families) for code in misconceptions())
    assert all(f"`{name}`" in RULES for name in problem_types())
    assert set(re.findall(r"\b([PTCMXOHBEFUDR]\d+b?)\b", section("2.1"))) <= {*misconceptions(), "R1"}
