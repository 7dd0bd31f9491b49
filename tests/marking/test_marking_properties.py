"""The properties of rules.md 3.12, P1 to P10: random problems, all problem types, mechanisms, layouts and presets.

Wrong scripts are made below the marker: `misconceptions` says what somebody with a belief writes, `Derivation.replay`
what follows from a line that somebody wrote.  What the marks should be is worked out here, from the scheme of 3.10.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import cycle
from math import ceil
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import oracles
import pytest
import strategies
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scripts import (
    EXACT_FORMS,
    Page,
    at_random,
    decimals,
    derivation_of,
    exactly,
    ids,
    key_of,
    key_script,
    laid,
    legible,
    lost,
    marked,
    mistakes,
    page,
    pages,
    percent,
    script,
    shown,
    texts_times,
    turned,
    unsimplified,
    with_entry,
    without,
)
from test_golden_variant import GIVENS
from trials import tries

import symattn
from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms import Settings, mechanism
from symattn.derivation.misconceptions import WrongDerivation, misconception, misconceptions, replayed, slips
from symattn.derivation.misconceptions.base import MatrixwiseDerivation
from symattn.derivation.ops import Stack
from symattn.errors import InputError, SymattnError, UndecidedError
from symattn.exact import NEGATIVE_INFINITY, Matrix, Value, decide, is_symbolic
from symattn.marking.attempt import BLANK, Attempt
from symattn.marking.marker.policy import POLICIES
from symattn.marking.marker.report import Given, Report
from symattn.page.notation import load_notation
from symattn.teaching.fairness.features import features
from symattn.teaching.fairness.separation import Separation, separation
from symattn.teaching.problem import Problem
from symattn.teaching.problems import problem_types
from symattn.teaching.problems.full import question as full_question
from symattn.teaching.question import EntriesAnswer, MatrixAnswer, Question, StepAnswer

EVERY_POLICY = tuple(POLICIES)
WITH_MARKS = tuple(name for name, policy in POLICIES.items() if policy.marks)


# ------------------------------------------------------------------------------------------------ questions


@cache
def drawn(problem: str, mechanism_name: str, seed: int, **settings: Any) -> Question:
    """A fair variant of a problem type."""
    [sheet] = symattn.worksheet(mechanism_name, problem=problem, seed=seed, **settings)
    return sheet.question


def asked(d: Derivation, exact: bool = True, places: int = 4) -> Question:
    """The full question of any derivation."""
    notation = load_notation("columns" if d.orientation == "columns" else "standard")
    return full_question(Problem("A variant", "", d, notation, exact=exact, places=places), {}, Separation(d, ()))


MASKS: tuple[object, ...] = (None, None, "causal", "causal", "padding:2", "window:2:both")


@dataclass(frozen=True)
class Variant:
    """A variant by what it is drawn from, so that a failing example can be typed in again."""

    seed: int
    layout: int = 0
    projected: bool = True

    @property
    def settings(self) -> dict[str, object]:
        return {**strategies.LAYOUTS[self.layout], "mask": Random(self.seed).choice(MASKS)}

    def derivation(self) -> Derivation:
        rng = Random(self.seed)
        rng.choice(MASKS)
        sizes = {"n": rng.choice([2, 3, 3, 4]), "d_model": rng.choice([3, 5]), "d_k": rng.choice([2, 3, 4, 4])}
        sizes |= {"m": sizes["n"], "d_v": rng.choice([2, 3])}
        if self.settings["mask"] == "padding:2":
            sizes |= {"n": 3, "m": 3}
        shapes = {"Q": "n d_k", "K": "m d_k", "V": "m d_v"}
        if self.projected:
            shapes = {"X": "n d_model", "W_Q": "d_model d_k", "W_K": "d_model d_k", "W_V": "d_model d_v"}
        givens = {}
        for name, letters in shapes.items():
            rows, columns = (sizes[letter] for letter in letters.split())
            givens[name] = [[rng.choice([-1, 0, 1]) for _ in range(columns)] for _ in range(rows)]
        if self.settings["orientation"] == "columns":
            givens = {name: turned(rows) for name, rows in givens.items()}
        name = "self_attention" if self.projected else "attention"
        return mechanism(name).run(givens, Settings.read(self.settings))

    def question(self) -> Question:
        return asked(self.derivation())


def golden(**chosen: object) -> Derivation:
    """The golden variant with other settings."""
    return mechanism("self_attention").run(GIVENS, Settings.read(chosen))


LAYOUTS = range(len(strategies.LAYOUTS))
variants = st.builds(Variant, st.integers(0, 10**6), st.sampled_from(LAYOUTS), st.booleans())
matrix_wise = st.builds(Variant, st.integers(0, 10**6), st.sampled_from([0, 3]), st.booleans())


def test_the_layouts_that_go_matrix_by_matrix():
    assert [i for i in LAYOUTS if strategies.LAYOUTS[i]["by"] == "matrix"] == [0, 3]


# ------------------------------------------------------------------------------------------------ wrong scripts


def value(d: Derivation, name: str) -> Matrix:
    found = d.value(name)
    assert isinstance(found, Matrix)
    return found


def put(matrix: Matrix, i: int, j: int, new: Value) -> Matrix:
    rows = page(matrix)
    rows[i][j] = new
    return Matrix.of(rows)


Change = Callable[[str, Derivation], Matrix | None]
"""What somebody writes for a step, given the derivation with all their lines before it; none for what follows."""


def carried_on(q: Question, change: Change) -> dict[str, Page]:
    """Every line of a script whose author works on from the lines as they stand there, printed entries included."""
    assert q.problem is not None
    d = q.problem.derivation
    cells = {a.step: a.cells for p in q.parts if isinstance(a := p.answer, EntriesAnswer)}
    steps = {a.step for p in q.parts if isinstance(a := p.answer, StepAnswer | EntriesAnswer)}
    own: dict[str, Matrix] = {}
    for step in d:
        so_far = d.replay(pinned=own)
        new = change(step.name, so_far)
        line = new if new is not None else value(so_far, step.name)
        if line.shape != value(d, step.name).shape:
            raise InputError(f"{step.name} is of another shape.")
        if step.name in cells:
            line = _filled(value(d, step.name), line, cells[step.name])
        if step.name in steps or new is not None:
            own[step.name] = line
    return {name: page(line) for name, line in own.items() if name in steps}


def _filled(printed: Matrix, line: Matrix, cells: tuple[tuple[int, int], ...]) -> Matrix:
    for i, j in cells:
        printed = put(printed, i, j, line[i, j])
    return printed


def belief(id: str) -> Change:
    """A misconception as a change, made on the lines as they stand there; tokens as rows, matrix by matrix."""

    def change(name: str, so_far: Derivation) -> Matrix | None:
        step = (misconception(id).change(so_far) or {}).get(name)
        if step is None:
            return None
        before = tuple(so_far.steps[: [s.name for s in so_far].index(name)])
        return value(replace(so_far, steps=before).extended(replace(step, pinned=False)), name)

    return change


def spoilt(id: str, d: Derivation) -> frozenset[str]:
    """The roles of the steps that somebody with this belief writes differently."""
    return frozenset(misconception(id).change(MatrixwiseDerivation(d).rows) or ())


def writes(wrong: WrongDerivation, q: Question) -> dict[str, Page]:
    """What somebody writes who goes wrong once and goes on from there."""
    found = pages(wrong.derivation)
    lines = laid(q, found)
    if wrong.first == "Z" or "Z" in spoilt(wrong.misconception.id, q.problem.derivation):
        lines = {part: rows for part, rows in lines.items() if not part.startswith("weighted")}
    return lines


def floats(rows: Page) -> np.ndarray:
    return oracles.floats(Matrix.of(rows))


def agree(a: Page | None, b: Page | None) -> bool:
    """Whether two lines are one, in floating point."""
    if a is None or b is None:
        return a is b
    x, y = floats(a), floats(b)
    return x.shape == y.shape and bool(np.allclose(x, y, rtol=1e-9, atol=1e-9))


# ------------------------------------------------------------------------------------------------ what is expected


def full(report: Report) -> None:
    """All the marks but those for what somebody has to read first, and nobody accused of anything."""
    assert not mistakes(report), shown(report)
    assert all(verdict.accepted for verdict in report.verdicts), shown(report)
    unread = sum(given.of - given.given for given in report.marks if given.pending)
    assert report.total == report.available - unread, shown(report)


def vetoed(report: Report) -> dict[str, int]:
    """How many accuracy marks vetoes may withhold (3.5): half of a part's, rounded up."""
    found: dict[str, int] = {}
    for notice in report.notices:
        if notice.kind == "veto":
            for given in report.marks:
                if given.code == "A" and notice.part in given.parts:
                    found[given.parts[0]] = ceil(Fraction(given.of, 2))
    return found


def roles_of(report: Report, part: str) -> set[str]:
    """The roles of the steps that share a line of the scheme with a part."""
    parts = {name for given in report.marks if given.parts[0] == part for name in given.parts}
    return {name.partition(".")[0] for name in parts}


# ------------------------------------------------------------------------------------------------ P1: the key


VARIED = [
    ("self_attention", {}),
    ("causal_self_attention", {"notation": "columns"}),
    ("attention", {"by": "token"}),
    ("self_attention", {"softmax": "base 2"}),
]
FAIR = [*((problem, "", {}) for problem in sorted(problem_types())), *(("full", *row) for row in VARIED)]
policies = st.sampled_from(EVERY_POLICY)


@pytest.mark.covering(most=2)
@pytest.mark.parametrize(("problem", "name", "settings"), FAIR, ids=str)
def test_p1_every_problem_type(problem, name, settings):
    """Each policy reads the key in another exact form."""
    q = drawn(problem, name, 2, **settings)
    forms = [exactly, *EXACT_FORMS.values(), at_random(Random(1), list(EXACT_FORMS.values()))]
    begin = FAIR.index((problem, name, settings))
    for k, policy in enumerate(EVERY_POLICY):
        full(marked(q, key_script(q, forms[(begin + k) % len(forms)], ".,"[k % 2]), policy))


@pytest.mark.slow
@given(st.booleans().flatmap(lambda exotic: strategies.problems(exotic=exotic)), policies, st.randoms())
@tries(25)
def test_p1_any_problem_in_any_mixture_of_forms(problem, policy, rng):
    """Roots and other bases as well, unless a value is left that is only a symbol."""
    assume(problem.settings.get("base", "e") in ("e", 2, 3))
    d = problem.run()
    assume(not any(is_symbolic(x) for step in d for x in value(d, step.name)))
    q = asked(d)
    form = at_random(rng, list(EXACT_FORMS.values()))
    full(marked(q, key_script(q, form, rng.choice(".,")), policy))


@pytest.mark.slow
@given(variants, st.booleans(), policies)
@tries(15)
def test_p1_weights_and_outputs_not_simplified(variant, shifted, policy):
    q = variant.question()
    found = pages(q.problem.derivation)
    last = next(role for role in ("M", "S'", "S") if role in found)
    texts = {name: [[exactly(x) for x in row] for row in rows] for name, rows in found.items()}
    lines = laid(q, {**texts, **unsimplified(found, last, shifted=shifted)}, texts_times)
    full(marked(q, script(q, lines), policy))


@pytest.mark.slow
@given(variants, st.integers(4, 8), st.booleans(), st.sampled_from(".,"), policies)
@tries(20)
def test_p1_decimals_where_they_are_asked_for(variant, places, hundredths, mark, policy):
    q = asked(variant.derivation(), exact=False, places=4)
    full(marked(q, key_script(q, percent(places - 2) if hundredths else decimals(places), mark), policy))


@pytest.mark.slow
@given(variants, st.integers(1, 6))
@tries(15)
def test_p1_decimals_are_no_mistake_where_exact_values_are_asked_for(variant, places):
    q = variant.question()
    report = marked(q, key_script(q, decimals(places)))
    full(report)
    strict_about_it = marked(q, key_script(q, decimals(places)), replace(POLICIES["ecf"], precision=1))
    assert strict_about_it.total >= report.total - 1, shown(strict_about_it)
    if any("precision" in v.flags for v in report.verdicts):
        assert strict_about_it.total == report.total - 1, shown(strict_about_it)


@pytest.mark.slow
@given(st.sampled_from(["full", "faded"]), st.integers(1, 4), matrix_wise)
@tries(40)
def test_p1_rounded_on_the_way_and_carried_on(problem, places, variant):
    """Every line rounded, the next worked out from it: right by 3.3 (W), and a question of precision at most."""
    q = variant.question() if problem == "full" else drawn("faded", "self_attention", variant.seed % 3 + 1)

    def rounded(name: str, so_far: Derivation) -> Matrix:
        line = value(so_far, name)
        return Matrix.of([[_as_written(x, places) for x in row] for row in line.rows])

    lines = carried_on(q, rounded)
    full(marked(q, script(q, lines, decimals(places))))


def _as_written(x: Value, places: int) -> Value:
    return x if x is NEGATIVE_INFINITY or isinstance(x, int) else Fraction(decimals(places)(x))


@pytest.mark.slow
@given(matrix_wise, policies)
@tries(8)
def test_p1_transposed_throughout(variant, policy):
    q = variant.question()
    shapes = [(len(rows), len(rows[0])) for rows in key_of(q).values()]
    assume(any(a != b for a, b in shapes))
    attempt = script(q, {name: turned(rows) for name, rows in key_of(q).items()})
    full(marked(q, attempt, policy))


# ------------------------------------------------------------------------------------------------ P2: one slip


@dataclass(frozen=True)
class OneSlip:
    """A full question, the entry that is wrong, and the derivation that follows from it."""

    question: Question
    step: str
    i: int
    j: int
    follows: Derivation

    def script(self) -> Attempt:
        steps = [part.answer.step for part in self.question.parts]
        return script(self.question, {name: page(value(self.follows, name)) for name in steps})


def one_slip(q: Question, rng: Random) -> OneSlip | None:
    """A slip that could happen, in a step with more than one entry, and that no misconception explains as well.

    Weighted values are left out: they have no accuracy mark to lose; so is the line that puts tokens together.  So is
    what no later line shows, such as a score that is hidden: left blank, it would cost nothing either (P5).
    """
    d = q.problem.derivation
    steps = [s for s in d if s.role != "weighted" and not isinstance(s.op, Stack)]
    step = rng.choice([s for s in steps if len(list(value(d, s.name))) > 1])
    right = value(d, step.name)
    places = [(i, j) for i in range(right.shape[0]) for j in range(right.shape[1])]
    i, j = rng.choice([place for place in places if right[place] is not NEGATIVE_INFINITY])
    new = rng.choice([found.value for found in slips(d, step.name, i, j)] or [right[i, j] + 1])
    wrong = put(right, i, j, new)
    follows = d.replay(pinned={step.name: wrong})
    here = pages(follows).get(step.role)
    if any(w.first and agree(here, pages(w.derivation).get(step.role)) for w in replayed(d)):
        return None
    after = {s.role for s in d if step.name in {operand.name for operand in s.operands}}
    if after and all(agree(rows, pages(d).get(role)) for role, rows in pages(follows).items() if role in after):
        return None
    if shifted_line(follows, step.role, here):
        return None
    return OneSlip(q, step.name, i, j, follows)


def shifted_line(follows: Derivation, role: str, here: Page | None) -> bool:
    """Whether scores are wrong that have no other beside them: one constant taken off is right (2.6)."""
    last = next((role for role in ("M", "S'", "S") if role in pages(follows)), "")
    seen = [[x for x in row if x is not NEGATIVE_INFINITY] for row in here or []]
    return role == last and any(len(row) == 1 for row in seen)


def slipped(variant: Variant) -> OneSlip:
    try:
        found = one_slip(variant.question(), Random(variant.seed + 1))
    except (InputError, UndecidedError):
        found = None
    assume(found is not None)
    assert found is not None
    return found


@pytest.mark.slow
@given(variants)
@tries(25)
def test_p2_a_slip_carried_on_loses_one_mark(variant):
    """A veto has its reason, every verdict its witness (P10), and ecf never gives less than ib or strict (P6)."""
    slip = slipped(variant)
    report = marked(slip.question, slip.script())
    assert len(mistakes(report)) == 1, shown(report)
    [event] = mistakes(report)
    assert event.kind in ("slip", "misread", "unknown"), shown(report)
    at = report.of(slip.step)
    if event.kind != "misread":
        assert [place for place, v in at.items() if not v.accepted] == [(slip.i, slip.j)], shown(report)
        assert event.step == event.part == slip.step, shown(report)
    assert all(v.accepted for v in report.verdicts if v.part != slip.step), shown(report)
    off = report.available - report.total
    assert 1 <= off <= 1 + sum(vetoed(report).values()), shown(report)
    if any(notice.kind == "veto" for notice in report.notices):
        assert easier(slip.question.problem.derivation, slip.follows) or impossible(slip.follows), shown(report)
    compared_with_what_follows(report, slip.follows)
    totals = [report.total, *(marked(slip.question, slip.script(), policy).total for policy in ("ib", "strict"))]
    assert totals == sorted(totals, reverse=True)


def compared_with_what_follows(report: Report, d: Derivation) -> None:
    """P10: the right value stands beside every entry, and what it was compared with is accepted or has an event."""
    right = {name: floats(rows) for name, rows in key_of(report.question).items()}
    follows = {name: oracles.floats(value(d, name)) for name in right}
    assert {(v.part, v.i, v.j) for v in report.verdicts} == {
        (name, i, j) for name, a in right.items() for i in range(a.shape[0]) for j in range(a.shape[1])
    }
    misread = any(event.kind == "misread" for event in report.events)
    for v in report.verdicts:
        assert None not in (v.compared, v.right), shown(report)
        assert v.proof, shown(report)
        key, followed = right[v.part][v.i, v.j], follows[v.part][v.i, v.j]
        assert _near(v.right, key), f"{v}\n{shown(report)}"
        if v.state == "correct" and not misread:
            assert _near(v.compared, key), f"{v}\n{shown(report)}"
        assert _near(v.compared, followed) == v.accepted, f"{v}\n{shown(report)}"
        assert v.accepted or v.event is not None, shown(report)


def _near(x: Value, y: float) -> bool:
    return bool(np.isclose(floats([[x]])[0, 0], y, rtol=1e-9, atol=1e-9))


def easier(right: Derivation, wrong: Derivation) -> bool:
    """Whether what follows is easier (3.5): less to work out, weights that are one-hot or uniform, values of 0."""
    a, b = pages(right), pages(wrong)
    if not floats(b["V"]).any() and floats(a["V"]).any():
        return True
    for true, followed in zip(floats(a["A"]), floats(b["A"]), strict=True):
        if _flat(followed) and not _flat(true):
            return True
    return features(wrong).load < features(right).load


def _flat(weights: np.ndarray) -> bool:
    seen = weights[weights > 1e-12]
    return bool(np.allclose(seen, seen[0]))


def impossible(wrong: Derivation) -> bool:
    """Whether there are rows of weights that cannot be weights."""
    weights = floats(pages(wrong)["A"])
    return bool((weights < -1e-12).any() or (weights > 1 + 1e-12).any() or (abs(weights.sum(axis=1) - 1) > 1e-9).any())


def test_p2_a_slip_in_a_faded_example():
    q = drawn("faded", "self_attention", 2)
    rng = Random(1)
    part = rng.choice([part for part in q.parts if len(part.answer.cells) > 1])
    i, j = rng.choice(part.answer.cells)
    right = q.problem.derivation
    wrong = value(right, part.answer.step)[i, j] + Fraction(1, 7)  # nothing that a misconception makes

    def change(name: str, so_far: Derivation) -> Matrix | None:
        return put(value(so_far, name), i, j, wrong) if name == part.answer.step else None

    report = marked(q, script(q, carried_on(q, change)))
    assert len(mistakes(report)) == 1, shown(report)
    assert sum(lost(report).values()) == 1 or vetoed(report), shown(report)
    assert next(iter(lost(report))) == part.name, shown(report)


@pytest.mark.parametrize(("name", "seed"), [("self_attention", 1), ("attention", 2)])
def test_p2_a_slip_in_a_drill(name, seed):
    q = drawn("drills", name, seed)
    key = key_of(q)
    for part in q.parts:
        if len(key[part.name]) * len(key[part.name][0]) < 2:
            continue
        rows = [list(row) for row in key[part.name]]
        i, j = next((i, j) for i, row in enumerate(rows) for j, x in enumerate(row) if x is not NEGATIVE_INFINITY)
        rows[i][j] = rows[i][j] + Fraction(1, 7)
        report = marked(q, script(q, {**key, part.name: rows}))
        assert len(mistakes(report)) == 1, shown(report)
        assert lost(report) == {part.name: 1}, shown(report)


# ------------------------------------------------------------------------------------------------ P3: one misconception


ROUNDED = ("X11", "R2", "R3", "R4", "R6")
"""Mistakes in rounding: an event, but none that has to cost more than precision."""


def one_misconception(q: Question, wrong: WrongDerivation, written: Mapping[str, Page], same: set[str]) -> Report:
    """One event, that misconception or one that writes the same, and marks lost in its own steps alone.

    What no later line shows may cost nothing: left blank, it would not either (P5).
    """
    id = wrong.misconception.id
    report = marked(q, script(q, written, legible))
    found = report.events if id in ROUNDED else mistakes(report)
    assert len(found) == 1, f"{id}\n{shown(report)}"
    assert {id, *same} & set(ids(found[0])), f"{id}, or {sorted(same)}\n{shown(report)}"
    if wrong.stopped:
        return report
    own, allowed = spoilt(id, q.problem.derivation), vetoed(report)
    own |= {"weighted"} if "Z" in own else set()  # token by token, the output's method mark stands there
    for part, off in lost(report).items():
        if not own & roles_of(report, part):
            assert off <= allowed.get(part, 0), f"{id} also cost {off} at {part}\n{shown(report)}"
    if found[0].kind != "rounding" and any(shown_later(q, written, role) for role in own):
        assert own & {role for part in lost(report) for role in roles_of(report, part)}, f"{id}\n{shown(report)}"
    return report


def shown_later(q: Question, written: Mapping[str, Page], role: str) -> bool:
    """Whether the next lines after a step are otherwise than in the key; so is a step with no line after it."""
    key, d = key_of(q), q.problem.derivation
    after = [step.name for step in d if role in {operand.name.partition(".")[0] for operand in step.operands}]
    return not after or any(not agree(key[name], written[name]) for name in after if name in written)


def without_method(report: Report, wrong: WrongDerivation, written: Mapping[str, Page]) -> None:
    """A step that is wrong in every entry has neither method nor accuracy left."""
    key = key_of(report.question)
    first = wrong.first
    if wrong.misconception.id in ROUNDED or first not in key or first not in written or first in ("K", "V"):
        return
    if not shown_later(report.question, written, first):
        return
    a, b = floats(key[first]), floats(written[first])
    if a.shape == b.shape and not np.isclose(a, b, rtol=1e-9, atol=1e-9).any():
        left = [given for given in report.marks if given.parts == (first,) and given.code != "B"]
        assert not any(given.given for given in left), shown(report)


def collisions(found: Separation) -> dict[str, set[str]]:
    """Who is declared to collide with whom."""
    together: dict[str, set[str]] = {}
    for c in found.collisions:
        together.setdefault(c.one, set()).add(c.other)
        together.setdefault(c.other, set()).add(c.one)
    return together


def every_misconception(q: Question, share: int = 1, begin: int = 0) -> int:
    """P3 for all that have a place in a question, or a share of them; how many there were.

    Never guess: whatever is named as an explanation reproduces the line, and all that reproduce the page are named.
    """
    found = separation(q.problem.derivation)
    declared = collisions(found)
    lines = {wrong.misconception.id: wrong for wrong in found.wrongs}
    written = {id: writes(wrong, q) for id, wrong in lines.items()}
    tried = 0
    for id, wrong in list(lines.items())[begin % share :: share]:
        if wrong.first is None:
            if not wrong.stopped:
                full(marked(q, script(q, written[id], legible)))
            continue
        at = {part.name for part in q.parts if part.name.partition(".")[0] == wrong.first}
        if not at & set(written[id]):
            continue  # what is not defined cannot be written
        tried += 1
        report = one_misconception(q, wrong, written[id], declared.get(id, set()))
        without_method(report, wrong, written[id])
        named = {c.id for event in report.events for c in event.candidates if c.kind == "misconception"}
        for other in named & lines.keys():
            made = pages(lines[other].derivation).get(wrong.first)
            assert agree(made, pages(wrong.derivation)[wrong.first]), f"{id}, {other}\n{shown(report)}"
        twins = {i for i, w in lines.items() if w.first == wrong.first and _same_page(written[i], written[id])}
        assert twins <= {c.id for event in report.events for c in event.candidates}, f"{id}: {twins}\n{shown(report)}"
    return tried


def _same_page(a: Mapping[str, Page], b: Mapping[str, Page]) -> bool:
    """Whether two beliefs lead to the same page, exactly."""
    return (
        a.keys() == b.keys()
        and all(agree(a[name], b[name]) for name in a)
        and all(_equal(x, y) for n in a for p, q in zip(a[n], b[n], strict=True) for x, y in zip(p, q, strict=True))
    )


GOLDEN = Path(__file__).with_name("cases") / "g1.toml"


@pytest.mark.slow
@pytest.mark.parametrize("mask", ["none", "causal"])
def test_p3_every_misconception_on_the_golden_variant(mask):
    assert every_misconception(symattn.derive(str(GOLDEN), mask=mask).worksheet().question) > 30


@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS)
def test_p3_misconceptions_in_every_layout(layout):
    assert every_misconception(Variant(10 + layout, layout).question(), 3, layout) > 5


@pytest.mark.slow
@pytest.mark.parametrize("name", ["causal_self_attention", "attention"])
def test_p3_misconceptions_on_fair_variants(name):
    assert every_misconception(drawn("full", name, 1), 2) > 10


def test_p3_scores_of_another_shape_after_which_something_is_easier():
    """QᵀK token by token has rows of four scores where the key has three."""
    q = Variant(953830, 1).question()
    wrong = misconception("T3").on(q.problem.derivation)
    assert wrong is not None
    written = writes(wrong, q)
    assert np.shape(written["S'.1"]) == (1, 4) != np.shape(key_of(q)["S'.1"])
    one_misconception(q, wrong, written, set())


CARRIED = ("P4", "P8", "T2", "C1", "C2", "C3", "C4", "M1", "M4", "X1", "X2", "X3", "X6", "O1", "O7", "O8")


@pytest.mark.covering(most=5)
@pytest.mark.parametrize(("id", "places"), [(id, 3 + k % 2) for k, id in enumerate(CARRIED)])
def test_p3_with_every_line_rounded_and_carried_on(id, places):
    """What most scripts are: decimals all the way, each line worked out from the rounded one before."""
    q = asked(golden(mask="causal", scale="sqrt(3)"), exact=False, places=places)
    wrongly = belief(id)

    def change(name: str, so_far: Derivation) -> Matrix:
        found = wrongly(name, so_far)
        line = value(so_far, name) if found is None else found
        return Matrix.of([[_as_written(x, places) for x in row] for row in line.rows])

    report = marked(q, script(q, carried_on(q, change), decimals(places)))
    assert len(mistakes(report)) == 1, f"{id}\n{shown(report)}"
    assert id in ids(mistakes(report)[0]), f"{id}\n{shown(report)}"


@pytest.mark.slow
@pytest.mark.parametrize(("name", "seed"), [("self_attention", 1), ("causal_self_attention", 2)])
def test_p3_misconceptions_in_a_faded_example(name, seed):
    q = drawn("faded", name, seed)
    d = q.problem.derivation
    right, cells = key_of(q), {part.name: part.answer.cells for part in q.parts}
    for id in misconceptions():
        if not spoilt(id, d):
            continue
        try:
            written = carried_on(q, belief(id))
        except SymattnError:
            continue  # of another shape, or not defined
        wrong_at = [n for n in written if any(not _equal(written[n][i][j], right[n][i][j]) for i, j in cells[n])]
        report = marked(q, script(q, written, legible))
        if not wrong_at:
            full(report)
            continue
        found = report.events if id in ROUNDED else mistakes(report)
        assert len(found) == 1, f"{id}\n{shown(report)}"
        assert found[0].part == wrong_at[0], f"{id}\n{shown(report)}"
        assert id in ids(found[0]) or found[0].kind == "slip", f"{id}\n{shown(report)}"


def _equal(a: Value, b: Value) -> bool:
    return decide(a, b).equal is not False


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_p3_misconceptions_in_drills(seed):
    q = drawn("drills", "self_attention", seed)
    key = key_of(q)
    tried = 0
    for part in q.parts:
        if not isinstance(part.answer, MatrixAnswer) or part.answer.derivation is None:
            continue
        d, step = derivation_of(q, part), part.answer.step
        for wrong in replayed(d):
            made = wrong.value(step)
            if wrong.first != step or not isinstance(made, Matrix):
                continue
            tried += 1
            report = marked(q, script(q, {**key, part.name: page(made)}, legible))
            id = wrong.misconception.id
            found = report.events if id in ROUNDED else mistakes(report)
            assert [event.part for event in found] == [part.name], f"{id}\n{shown(report)}"
            assert id in ids(found[0]), f"{id}\n{shown(report)}"
            assert set(lost(report)) <= {part.name}, f"{id}\n{shown(report)}"
    assert tried > 10


# ------------------------------------------------------------------------------------------------ P4: two of them


PAIRS = [
    ("P4", "C1"), ("P8", "X1"), ("T2", "C2"), ("T2", "X2"), ("C1", "X1"), ("C3", "O1"), ("C2", "X6"), ("X1", "O1"),
    ("M1", "X2"), ("M4", "O7"), ("M6", "X1"), ("P8", "O8"), ("T6", "C4"), ("C5", "X13"), ("X3", "O7"), ("C9", "X10"),
]  # fmt: skip


@pytest.mark.covering(most=4)
@pytest.mark.parametrize(("first", "second", "layout"), [(*pair, 3 * (k % 2)) for k, pair in enumerate(PAIRS)])
def test_p4_two_misconceptions_at_different_steps_are_two_events(first, second, layout):
    givens = symattn.derive(str(GOLDEN)).problem.givens
    chosen = {**strategies.LAYOUTS[layout], "mask": "causal"}
    given_ = {k: page(m) if layout == 0 else turned(page(m)) for k, m in givens.items()}
    d = mechanism("self_attention").run(given_, Settings.read(chosen))
    q = asked(d)
    one = misconception(first).on(d)
    at = next(s.name for s in d if s.name in spoilt(second, d))
    before = {s.name: value(one.derivation, s.name) for s in d.until(at).steps[:-1]}
    two = misconception(second).on(d.replay(pinned=before))
    if two is None or two.first is None or two.stopped or one.stopped:
        return
    report = marked(q, script(q, laid(q, pages(two.derivation)), legible))
    assert len(mistakes(report)) == 2, shown(report)
    a, b = mistakes(report)
    assert first in ids(a), shown(report)
    assert second in ids(b), shown(report)
    assert (a.step, b.step) == (one.first, two.first), shown(report)


@pytest.mark.slow
@given(variants, st.sampled_from(PAIRS))
@tries(15)
@example(Variant(23755), ("P8", "X1"))  # the scores are symmetric: no sign that they were transposed
@example(Variant(720720, projected=False), ("T2", "X2"))  # as far as the weights, a script with tokens as columns
def test_p4_on_random_variants(variant, pair):
    """Two events, unless the second mistake cannot be seen or takes the first one back."""
    first, second = pair
    q = variant.question()
    d = MatrixwiseDerivation(q.problem.derivation).given
    one = misconception(first).on(d)
    assume(one is not None and one.first is not None and not one.stopped and spoilt(second, d))
    at = next(s.name for s in d if s.name in spoilt(second, d))
    names = [s.name for s in d]
    assume(names.index(max(spoilt(first, d), key=names.index)) < names.index(at))
    on = d.replay(pinned={name: value(one.derivation, name) for name in names[: names.index(at)]})
    two = misconception(second).on(on)
    assume(two is not None and two.first == at and not two.stopped)
    rightly, written, key = (pages(x)[at] for x in (two.right, two.derivation, d))
    off = np.array(True)
    if np.shape(written) == np.shape(rightly):
        off = ~np.isclose(floats(written), floats(rightly), rtol=1e-9, atol=1e-9)
    assume(not agree(written, key) and (np.shape(written) != np.shape(key) or not _meets(written, key, off)))
    assume(
        not agree(pages(two.derivation).get("S"), pages(d).get("S'"))
    )  # the key with two lines in each other's boxes
    report = marked(q, script(q, writes(two, q), legible))
    assert len(mistakes(report)) == 2, f"{pair}\n{shown(report)}"
    a, b = mistakes(report)
    assert a.number != b.number
    assert a.step.partition(".")[0] in spoilt(first, d), f"{pair}\n{shown(report)}"
    assert b.step.partition(".")[0] in spoilt(second, d), f"{pair}\n{shown(report)}"


def _meets(written: Page, key: Page, off: np.ndarray) -> bool:
    """Whether a wrong entry happens to be the key's, which counts as right (3.4)."""
    return bool((off & np.isclose(floats(written), floats(key), rtol=1e-9, atol=1e-9)).any())


# ------------------------------------------------------------------------------------------------ P5: blanks


@cache
def wrong_scripts(seed: int, masked: bool) -> tuple[Question, tuple[Attempt, ...]]:
    """Consistent scripts of one variant: the key, and misconceptions carried on."""
    q = drawn("full", "causal_self_attention" if masked else "self_attention", seed)
    wrongs = [w for w in replayed(q.problem.derivation) if w.first and not w.stopped]
    chosen = Random(seed).sample(wrongs, 6)
    return q, (key_script(q), *(script(q, writes(w, q), legible) for w in chosen))


@pytest.mark.slow
@pytest.mark.parametrize("masked", [False, True])
def test_p5_a_line_left_out_never_earns_more(masked):
    """For scripts that are worked through from line to line, right or wrong."""
    q, attempts = wrong_scripts(1, masked)
    for attempt, policy in zip(attempts, cycle(WITH_MARKS)):
        total = marked(q, attempt, policy).total
        assert total >= 0
        for part in attempt.answers:
            report = marked(q, without(attempt, part), policy)
            assert 0 <= report.total <= total, f"{total} with {part}\n{shown(report)}"


@pytest.mark.slow
@given(st.integers(0, 10**6), st.sampled_from(WITH_MARKS))
@tries(30)
def test_p5_an_entry_left_out_never_earns_more(seed, policy):
    rng = Random(seed)
    q, attempts = wrong_scripts(1, rng.random() < 0.5)
    attempt = rng.choice(attempts)
    part = rng.choice(sorted(attempt.answers))
    grid = attempt.answers[part]
    blank = with_entry(attempt, part, rng.randrange(grid.shape[0]), rng.randrange(grid.shape[1]), BLANK)
    before, after = marked(q, attempt, policy), marked(q, blank, policy)
    assert 0 <= after.total <= before.total, f"{before.total} before\n{shown(after)}"


@pytest.mark.parametrize("policy", WITH_MARKS)
def test_p5_nothing_written_earns_nothing(policy):
    for q in (drawn("full", "self_attention", 1), drawn("faded", "self_attention", 1), drawn("drills", "", 1)):
        report = marked(q, Attempt({}), policy)
        assert (report.total, report.events) == (0, ()), shown(report)
        assert {v.state for v in report.verdicts} <= {"missing"}, shown(report)


GARBAGE = ["0", "1", "-7", "1/2", "e^2", "0.3", "99 %", "", "?", "1/0", "what", "sqrt(-1)", "10^40", "-∞", "2 1/2", "∞"]


@pytest.mark.slow
@given(st.integers(0, 10**6), st.sampled_from(GARBAGE))
@tries(5)
def test_p5_anything_at_all_is_marked_and_never_below_nothing(seed, one):
    rng = Random(seed)
    q = wrong_scripts(1, rng.random() < 0.5)[0]
    key = {name: [[exactly(x) for x in row] for row in rows] for name, rows in key_of(q).items()}
    share = rng.random()
    junk = [one, *rng.sample(GARBAGE, 3)]
    lines = {n: [[rng.choice(junk) if rng.random() < share else x for x in row] for row in r] for n, r in key.items()}
    totals = {policy: marked(q, script(q, lines), policy).total for policy in EVERY_POLICY}
    assert min(totals.values()) >= 0
    assert totals["formative"] == 0
    assert totals["ecf"] >= totals["ib"] >= totals["strict"], totals


# ------------------------------------------------------------------------------------------------ P6: policies


@pytest.mark.slow
@given(st.integers(0, 10**6))
@tries(15)
def test_p6_ecf_gives_at_least_as_much_as_ib_and_ib_as_strict(seed):
    rng = Random(seed)
    q, attempts = wrong_scripts(1, rng.random() < 0.5)
    attempt = rng.choice(attempts)
    for _ in range(rng.randrange(3)):  # and up to two entries that are anything
        part = rng.choice(sorted(attempt.answers))
        rows, columns = attempt.answers[part].shape
        new = script(q, {part: [[rng.choice(GARBAGE)]]}).answers[part][0, 0]
        attempt = with_entry(attempt, part, rng.randrange(rows), rng.randrange(columns), new)
    reports = {policy: marked(q, attempt, policy) for policy in WITH_MARKS}
    totals = {policy: report.total for policy, report in reports.items()}
    assert totals["ecf"] >= totals["ib"] >= totals["strict"], f"{totals}\n{shown(reports['ecf'])}"
    for ecf, strict in zip(marks_of(reports["ecf"], "A"), marks_of(reports["strict"], "A"), strict=True):
        assert ecf.given >= strict.given, f"what equals the key\n{shown(reports['ecf'])}"


def marks_of(report: Report, code: str) -> list[Given]:
    return [given for given in report.marks if given.code == code]


@pytest.mark.parametrize("masked", [False, True])
def test_p10_every_event_says_which_entries_it_is_about(masked):
    """The formative policy gives the same diagnosis and no marks."""
    q, attempts = wrong_scripts(1, masked)
    for attempt in attempts:
        report = marked(q, attempt)
        spoilt_by = {(v.part, v.i, v.j): v.event for v in report.verdicts if v.state == "wrong"}
        for event in report.events:
            for entry in event.entries:
                assert spoilt_by.pop(entry, event.number) == event.number, shown(report)
        assert not spoilt_by, shown(report)
        assert [event.number for event in report.events] == list(range(len(report.events)))
    formative = marked(q, attempt, "formative")
    assert (formative.available, formative.total, formative.marks) == (0, 0, ())
    assert [ids(e) for e in formative.events] == [ids(e) for e in report.events]
    assert [v.state for v in formative.verdicts] == [v.state for v in report.verdicts]


# ------------------------------------------------------------------------------------------------ P7: determinism


@pytest.mark.slow
@given(st.integers(0, 10**6), st.randoms(use_true_random=False))
@tries(15)
def test_p7_the_order_of_the_answers_is_nothing(seed, rng):
    q, attempts = wrong_scripts(1, seed % 2 == 0)
    attempt = attempts[seed % len(attempts)]
    names = list(attempt.answers)
    rng.shuffle(names)
    other = Attempt({name: attempt.answers[name] for name in names}, attempt.more, attempt.methods)
    assert replace(marked(q, other), attempt=attempt) == marked(q, attempt)


HASHED = """
from test_marking_properties import marked, wrong_scripts, shown
q, attempts = wrong_scripts(1, True)
for attempt in attempts:
    print(shown(marked(q, attempt)))
"""


@pytest.mark.slow
def test_p7_the_same_under_every_hash_seed():
    paths = {"PYTHONPATH": os.pathsep.join(sys.path)}
    said = [
        subprocess.run(
            [sys.executable, "-c", HASHED],
            env={**os.environ, **paths, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in (0, 1)
    ]
    assert len(said[0]) > 1000
    assert said[0] == said[1]


# ------------------------------------------------------------------------------------------------ P8: more places


def is_decimal(x: Value) -> bool:
    return x is not NEGATIVE_INFINITY and not isinstance(x, int)


@pytest.mark.slow
@given(variants, st.integers(0, 10**6), st.sampled_from(WITH_MARKS), st.sampled_from([False, False, True]))
@tries(30)
def test_p8_more_places_of_a_right_decimal_never_cost_a_mark(variant, seed, policy, wrong):
    """Every entry rounded to places of its own; then one of them to more, even after a mistake carried on unrounded."""
    rng = Random(seed)
    q = asked(variant.derivation(), exact=not wrong and rng.random() < 0.5, places=2 if wrong else rng.choice([2, 4]))
    lines: Mapping[str, Page] = key_of(q)
    if wrong:
        lines = writes(rng.choice([w for w in replayed(q.problem.derivation) if w.first and not w.stopped]), q)
    chosen = {n: [[rng.randint(1 + wrong, 5) for _ in row] for row in rows] for n, rows in lines.items()}
    candidates = [
        (n, i, j) for n, r in lines.items() for i, row in enumerate(r) for j, x in enumerate(row) if is_decimal(x)
    ]
    assume(candidates)

    def total() -> int:
        attempt = script(q, {name: _texts(rows, chosen[name]) for name, rows in lines.items()})
        return marked(q, attempt, policy).total

    before = total()
    n, i, j = rng.choice(candidates)
    chosen[n][i][j] += rng.randint(1, 4)
    assert total() >= before, f"{n} ({i + 1}, {j + 1}) had fewer places"


def _texts(rows: Page, places: list[list[int]]) -> Page:
    """Each entry to places of its own; whole numbers as they are."""
    return [
        [decimals(p)(x) if is_decimal(x) else exactly(x) for x, p in zip(*lines, strict=True)]
        for lines in zip(rows, places, strict=True)
    ]


# ------------------------------------------------------------------------------------------------ P9: other orders


@pytest.mark.slow
@given(st.integers(0, 10**6), st.sampled_from([0, 3]))
@tries(12)
def test_p9_tokens_and_features_in_another_order(seed, layout):
    rng = Random(seed)
    sizes = {"n": 3, "d_model": 4, "d_k": 4, "d_v": 2}
    orders = {name: rng.sample(range(size), size) for name, size in sizes.items()}
    letters = {"X": "n d_model", "W_Q": "d_model d_k", "W_K": "d_model d_k", "W_V": "d_model d_v", "Q": "n d_k",
               "K": "n d_k", "V": "n d_v", "S": "n n", "S'": "n n", "A": "n n", "Z": "n d_v"}  # fmt: skip

    def reordered(name: str, rows: Page) -> Page:
        a, b = (orders[letter] for letter in letters[name].split())
        return [[rows[i][j] for j in b] for i in a]

    givens = {
        name: [[rng.choice([-1, 0, 1, 2]) for _ in range(sizes[b])] for _ in range(sizes[a])]
        for name, (a, b) in ((n, letters[n].split()) for n in ("X", "W_Q", "W_K", "W_V"))
    }
    q, other = (
        _laid_question({name: order(name, rows) for name, rows in givens.items()}, layout)
        for order in (lambda name, rows: rows, reordered)
    )
    rightly = pages(q.problem.derivation)
    lines = {name: rows for name, rows in rightly.items() if name not in givens}
    for _ in range(rng.randrange(3)):
        name = rng.choice(["Q", "K", "V", "S", "S'", "A", "Z"])
        i, j = rng.randrange(len(lines[name])), rng.randrange(len(lines[name][0]))
        lines[name] = [list(row) for row in lines[name]]
        lines[name][i][j] = lines[name][i][j] + rng.choice([-1, 1, Fraction(1, 2)])
    moved = {name: reordered(name, rows) for name, rows in lines.items()}
    a, b = marked(q, script(q, laid(q, lines))), marked(other, script(other, laid(other, moved)))
    assert a.total == b.total, f"{shown(a)}\n\n{shown(b)}"
    assert len(a.events) == len(b.events), f"{shown(a)}\n\n{shown(b)}"
    for name in moved:
        assert reordered(name, _states(a, name, layout)) == _states(b, name, layout), (
            f"{name}\n{shown(a)}\n\n{shown(b)}"
        )


def _laid_question(givens: Mapping[str, Page], layout: int) -> Question:
    chosen = strategies.LAYOUTS[layout]
    rows = givens if chosen["orientation"] == "rows" else {name: turned(rows) for name, rows in givens.items()}
    return asked(mechanism("self_attention").run(rows, Settings.read(chosen)))


def _states(report: Report, part: str, layout: int) -> Page:
    """As a page with tokens as rows."""
    verdicts = report.of(part)
    rows, columns = (1 + max(places) for places in zip(*verdicts, strict=True))
    found = [[verdicts[i, j].state for j in range(columns)] for i in range(rows)]
    return found if strategies.LAYOUTS[layout]["orientation"] == "rows" else turned(found)
