"""Whoever checks a key with a calculator comes to what is printed: a law over keys of every mechanism."""

from fractions import Fraction

import oracles
import printed_lines
import pytest
from tables import tables_beside

from symattn import formula as f
from symattn.api import derive, worksheet
from symattn.marking.reports.worked import StudentWork
from symattn.page.document import Display, Document, Look
from symattn.page.notation import load_notation
from symattn.teaching.explanation.wording import Wording

TABLES = tables_beside(__file__)

FEW = TABLES["few"]
"""Mechanisms with their givens, and how many lines with decimals on the left their pages have at least."""

KEYS = TABLES["keys"]
"""Mechanisms with settings whose keys go on in decimals: those of all others are exact."""


def lines_that_follow(document):
    """How many lines with decimals on the left there are, all of which follow."""
    found = list(printed_lines.lines(document))
    assert [str(line) for line in found if not line.follows] == []
    by_letters = [line for line in printed_lines.unread(document) if "√d_k" not in str(line)]
    assert by_letters == []
    return len(found)


@pytest.mark.parametrize(("mechanism", "given", "least"), FEW)
def test_lines_follow_from_what_is_printed(mechanism, given, least):
    assert lines_that_follow(derive(mechanism, **given, arithmetic="decimal").document) >= least


@pytest.mark.covering(rest=2)
@pytest.mark.slow
@pytest.mark.parametrize(("mechanism", "settings"), KEYS)
def test_lines_of_every_key_follow(mechanism, settings):
    [sheet] = worksheet(mechanism, seed=7, jobs=1, **settings)
    assert lines_that_follow(sheet.document("key")) > 0


# ------------------------------------------------------------------------------------------------ the rule


STEPS = TABLES["steps"]


def sums_of_roots(**settings):
    """√3 − √2 = 0.31784 and √3 + √2 = 3.14626."""
    return derive("custom", steps=STEPS, X=[[3]], Y=[[2]], **settings)


def test_guard_digits_are_the_fewest_that_are_needed():
    wording = Wording(sums_of_roots(arithmetic="decimal").derivation, load_notation("standard"))
    steps = wording.derivation
    assert oracles.plain(wording.working(steps["C"], 0, 0)) == "1.73205 − 1.41421"  # 1.7321 − 1.4142 is 0.3179
    assert oracles.plain(wording.number(steps["C"].result[0, 0])) == "0.3178"
    assert oracles.plain(wording.working(steps["D"], 0, 0)) == "1.7321 + 1.4142"


def test_exact_operands_stay_as_they_are():
    wording = Wording(sums_of_roots().derivation, load_notation("standard"))
    assert oracles.plain(wording.working(wording.derivation["C"], 0, 0)) == "√3 − √2"


def test_feedback_follows_too():
    d = sums_of_roots(arithmetic="decimal").derivation
    own = StudentWork(d, {}, Wording(d, load_notation("standard")), places=4, exact=False)
    assert oracles.plain(own.worked(d["C"], (0, 0))) == "1.73205 − 1.41421 ≈ 0.3178"
    assert oracles.plain(own.worked(d["D"], (0, 0))) == "1.7321 + 1.4142 ≈ 3.1463"


def test_a_result_put_in_by_hand_needs_no_digits():
    d = sums_of_roots(arithmetic="decimal").derivation
    pinned = d.replay(pinned={"C": [[Fraction(1, 2)]]})
    assert Wording(pinned, load_notation("standard")).guard(pinned["C"]) == 0


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("form", ["latex", "markdown", "text", "html"])
def test_every_format_has_the_same_digits(form, language):
    look = Look(language=language, decimal="," if language == "de" else ".")
    page = sums_of_roots(arithmetic="decimal", look=look).text(form).replace("{,}", ",")
    assert all(digits.replace(".", look.decimal) in page for digits in ("1.73205", "1.41421", "0.3178"))


# ------------------------------------------------------------------------------------------------ the witness


def line(*digits):
    """a − b ≈ c."""
    a, b, c = map(f.Number, digits)
    shown = Display((f.Relation((f.Name("x"), f.Sum((a, f.Negative(b))), c), ("≈", "≈")),))
    [found] = printed_lines.lines(Document("", (shown,)))
    return found


def test_the_witness_tells_lines_apart():
    assert not line("0.6421", "0.0838", "0.5584").follows
    assert line("0.64213", "0.08377", "0.5584").follows
    assert not line("0.64205", "0.08370", "0.5584").follows  # a tie, which is rounded both ways
