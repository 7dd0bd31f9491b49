"""The properties of rules.md 3.12, P1 to P10: random problems, all problem types, mechanisms, layouts and presets.

Wrong scripts are made below the marker: `misconceptions` says what somebody with a belief writes, `Derivation.replay`
what follows from a line that somebody wrote.  What the marks should be is worked out here, from the scheme of 3.10.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import cycle
from math import ceil
from pathlib import Path
from random import Random

import numpy as np
import oracles
import pytest
import strategies
from commands import python
from hypothesis import assume, given
from hypothesis import strategies as st
from scripts import (
    EXACT_FORMS,
    asked,
    at_random,
    decimals,
    drawn,
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
    script,
    shown,
    turned,
    with_entry,
    without,
)
from tables import tables_beside
from test_golden_variant import GIVENS
from trials import tries

import symattn
from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms import Settings, mechanism
from symattn.derivation.misconceptions import misconception, misconceptions, replayed
from symattn.derivation.misconceptions.base import MatrixwiseDerivation
from symattn.derivation.ops.linear import Stack
from symattn.derivation.slips import slips
from symattn.errors import InputError, SymattnError, UndecidedError
from symattn.exact import NEGATIVE_INFINITY, Matrix, decide, is_symbolic
from symattn.marking.attempt import BLANK, Attempt
from symattn.marking.marker.policy import POLICIES
from symattn.teaching.fairness.separation import separation
from symattn.teaching.question import EntriesAnswer, Question, StepAnswer

EVERY_POLICY = tuple(POLICIES)
WITH_MARKS = tuple(name for name, policy in POLICIES.items() if policy.marks)


# ------------------------------------------------------------------------------------------------ questions


MASKS = (None, None, "causal", "causal", "padding:2", "window:2:both")


@dataclass(frozen=True)
class Variant:
    """A variant by what it is drawn from, so that a failing example can be typed in again."""

    seed: int
    layout: int = 0
    projected: bool = True

    @property
    def settings(self):
        return {**strategies.LAYOUTS[self.layout], "mask": Random(self.seed).choice(MASKS)}

    def derivation(self):
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

    def question(self):
        return asked(self.derivation())


def golden(**chosen):
    """The golden variant with other settings."""
    return mechanism("self_attention").run(GIVENS, Settings.read(chosen))


LAYOUTS = range(len(strategies.LAYOUTS))
variants = st.builds(Variant, st.integers(0, 10**6), st.sampled_from(LAYOUTS), st.booleans())


# ------------------------------------------------------------------------------------------------ wrong scripts


def put(matrix, i, j, new):
    rows = page(matrix)
    rows[i][j] = new
    return Matrix.of(rows)


def carried_on(q, change):
    """Every line of a script whose author works on from the lines as they stand there, printed entries included.

    `change` says what they write for a step, given the derivation with their lines before it; none for what follows.
    """
    d = q.problem.derivation
    cells = {a.step: a.cells for p in q.parts if isinstance(a := p.answer, EntriesAnswer)}
    steps = {a.step for p in q.parts if isinstance(a := p.answer, StepAnswer | EntriesAnswer)}
    own = {}
    for step in d:
        so_far = d.replay(pinned=own)
        new = change(step.name, so_far)
        line = new if new is not None else so_far.value(step.name)
        if line.shape != d.value(step.name).shape:
            raise InputError(f"{step.name} is of another shape.")
        if step.name in cells:
            line = _filled(d.value(step.name), line, cells[step.name])
        if step.name in steps or new is not None:
            own[step.name] = line
    return {name: page(line) for name, line in own.items() if name in steps}


def _filled(printed, line, cells):
    for i, j in cells:
        printed = put(printed, i, j, line[i, j])
    return printed


def belief(id):
    """A misconception as a change, made on the lines as they stand there; tokens as rows, matrix by matrix."""

    def change(name, so_far):
        step = (misconception(id).change(so_far) or {}).get(name)
        if step is None:
            return None
        before = tuple(so_far.steps[: [s.name for s in so_far].index(name)])
        return replace(so_far, steps=before).extended(replace(step, pinned=False)).value(name)

    return change


def spoilt(id, d):
    """The roles of the steps that somebody with this belief writes differently."""
    return frozenset(misconception(id).change(MatrixwiseDerivation(d).rows) or ())


def writes(wrong, q):
    """What somebody writes who goes wrong once and goes on from there."""
    found = pages(wrong.derivation)
    lines = laid(q, found)
    if wrong.first == "Z" or "Z" in spoilt(wrong.misconception.id, q.problem.derivation):
        lines = {part: rows for part, rows in lines.items() if not part.startswith("weighted")}
    return lines


def floats(rows):
    return oracles.floats(Matrix.of(rows))


def agree(a, b):
    """Whether two lines are one, in floating point."""
    if a is None or b is None:
        return a is b
    x, y = floats(a), floats(b)
    return x.shape == y.shape and bool(np.allclose(x, y, rtol=1e-9, atol=1e-9))


# ------------------------------------------------------------------------------------------------ what is expected


def full(report):
    """All the marks but those for what somebody has to read first, and nobody accused of anything."""
    assert not mistakes(report)
    assert all(verdict.accepted for verdict in report.verdicts)
    unread = sum(given.of - given.given for given in report.marks if given.pending)
    assert report.total == report.available - unread


def vetoed(report):
    """How many accuracy marks vetoes may withhold (3.5): half of a part's, rounded up."""
    found = {}
    for notice in report.notices:
        if notice.kind == "veto":
            for given in report.marks:
                if given.code == "A" and notice.part in given.parts:
                    found[given.parts[0]] = ceil(Fraction(given.of, 2))
    return found


def roles_of(report, part):
    """The roles of the steps that share a line of the scheme with a part."""
    parts = {name for given in report.marks if given.parts[0] == part for name in given.parts}
    return {name.partition(".")[0] for name in parts}


# ------------------------------------------------------------------------------------------------ P1: the key


policies = st.sampled_from(EVERY_POLICY)


@pytest.mark.slow
@given(st.booleans().flatmap(lambda exotic: strategies.problems(exotic=exotic)), policies, st.randoms())
@tries(25)
def test_p1_any_problem_in_any_mixture_of_forms(problem, policy, rng):
    """Roots and other bases as well, unless a value is left that is only a symbol."""
    assume(problem.settings.get("base", "e") in ("e", 2, 3))
    d = problem.run()
    assume(not any(is_symbolic(x) for step in d for x in d.value(step.name)))
    q = asked(d)
    form = at_random(rng, list(EXACT_FORMS.values()))
    full(marked(q, key_script(q, form, rng.choice(".,")), policy))


def _as_written(x, places):
    return x if x is NEGATIVE_INFINITY or isinstance(x, int) else Fraction(decimals(places)(x))


# ------------------------------------------------------------------------------------------------ P2: one slip


@dataclass(frozen=True)
class OneSlip:
    """A full question, the entry that is wrong, and the derivation that follows from it."""

    question: Question
    step: str
    i: int
    j: int
    follows: Derivation

    def script(self):
        steps = [part.answer.step for part in self.question.parts]
        return script(self.question, {name: page(self.follows.value(name)) for name in steps})


def one_slip(q, rng):
    """A slip that could happen, in a step with more than one entry, and that no misconception explains as well.

    Weighted values are left out: they have no accuracy mark to lose; so is the line that puts tokens together.  So is
    what no later line shows, such as a score that is hidden: left blank, it would cost nothing either (P5).
    """
    d = q.problem.derivation
    steps = [s for s in d if s.role != "weighted" and not isinstance(s.op, Stack)]
    step = rng.choice([s for s in steps if len(list(d.value(s.name))) > 1])
    right = d.value(step.name)
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


def shifted_line(follows, role, here):
    """Whether scores are wrong that have no other beside them: one constant taken off is right (2.6)."""
    last = next((role for role in ("M", "S'", "S") if role in pages(follows)), "")
    seen = [[x for x in row if x is not NEGATIVE_INFINITY] for row in here or []]
    return role == last and any(len(row) == 1 for row in seen)


def slipped(variant):
    try:
        found = one_slip(variant.question(), Random(variant.seed + 1))
    except (InputError, UndecidedError):
        found = None
    assume(found is not None)
    return found


@pytest.mark.slow
@given(variants)
@tries(8)
def test_p2_a_slip_carried_on_loses_one_mark(variant):
    """Every verdict has its witness (P10), and ecf never gives less than ib or strict (P6)."""
    slip = slipped(variant)
    report = marked(slip.question, slip.script())
    assert len(mistakes(report)) == 1
    [event] = mistakes(report)
    assert event.kind in ("slip", "misread", "unknown")
    at = report.of(slip.step)
    if event.kind != "misread":
        assert [place for place, v in at.items() if not v.accepted] == [(slip.i, slip.j)]
        assert event.step == event.part == slip.step
    assert all(v.accepted for v in report.verdicts if v.part != slip.step)
    off = report.available - report.total
    assert 1 <= off <= 1 + sum(vetoed(report).values())

    compared_with_what_follows(report, slip.follows)
    totals = [report.total, *(marked(slip.question, slip.script(), policy).total for policy in ("ib", "strict"))]
    assert totals == sorted(totals, reverse=True)


def compared_with_what_follows(report, d):
    """P10: the right value stands beside every entry, and what it was compared with is accepted or has an event."""
    right = {name: floats(rows) for name, rows in key_of(report.question).items()}
    follows = {name: oracles.floats(d.value(name)) for name in right}
    assert {(v.part, v.i, v.j) for v in report.verdicts} == {
        (name, i, j) for name, a in right.items() for i in range(a.shape[0]) for j in range(a.shape[1])
    }
    misread = any(event.kind == "misread" for event in report.events)
    for v in report.verdicts:
        assert None not in (v.compared, v.right)
        assert v.proof
        key, followed = right[v.part][v.i, v.j], follows[v.part][v.i, v.j]
        assert _near(v.right, key), v
        if v.state == "correct" and not misread:
            assert _near(v.compared, key), v
        assert _near(v.compared, followed) == v.accepted, v
        assert v.accepted or v.event is not None


def _near(x, y):
    return bool(np.isclose(floats([[x]])[0, 0], y, rtol=1e-9, atol=1e-9))


# ------------------------------------------------------------------------------------------------ P3: one misconception


ROUNDED = ("X11", "R2", "R3", "R4", "R6")
"""Mistakes in rounding: an event, but none that has to cost more than precision."""


def one_misconception(q, wrong, written, same):
    """One event, that misconception or one that writes the same, and marks lost in its own steps alone.

    What no later line shows may cost nothing: left blank, it would not either (P5).
    """
    id = wrong.misconception.id
    report = marked(q, script(q, written, legible))
    found = report.events if id in ROUNDED else mistakes(report)
    assert len(found) == 1, id
    assert {id, *same} & set(ids(found[0])), f"{id}, or {sorted(same)}"
    if wrong.stopped:
        return report
    own, allowed = spoilt(id, q.problem.derivation), vetoed(report)
    own |= {"weighted"} if "Z" in own else set()  # token by token, the output's method mark stands there
    for part, off in lost(report).items():
        if not own & roles_of(report, part):
            assert off <= allowed.get(part, 0), f"{id} also cost {off} at {part}"
    if found[0].kind != "rounding" and any(shown_later(q, written, role) for role in own):
        assert own & {role for part in lost(report) for role in roles_of(report, part)}, id
    return report


def shown_later(q, written, role):
    """Whether the next lines after a step are otherwise than in the key; so is a step with no line after it."""
    key, d = key_of(q), q.problem.derivation
    after = [step.name for step in d if role in {operand.name.partition(".")[0] for operand in step.operands}]
    return not after or any(not agree(key[name], written[name]) for name in after if name in written)


def collisions(found):
    """Who is declared to collide with whom."""
    together = {}
    for c in found.collisions:
        together.setdefault(c.one, set()).add(c.other)
        together.setdefault(c.other, set()).add(c.one)
    return together


def every_misconception(q, share=1, begin=0):
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

        named = {c.id for event in report.events for c in event.candidates if c.kind == "misconception"}
        for other in named & lines.keys():
            made = pages(lines[other].derivation).get(wrong.first)
            assert agree(made, pages(wrong.derivation)[wrong.first]), f"{id}, {other}"
        twins = {i for i, w in lines.items() if w.first == wrong.first and _same_page(written[i], written[id])}
        assert twins <= {id for event in report.events for id in ids(event)}, f"{id}: {twins}"
    return tried


def _same_page(a, b):
    """Whether two beliefs lead to the same page, exactly."""
    return (
        a.keys() == b.keys()
        and all(agree(a[name], b[name]) for name in a)
        and all(_equal(x, y) for n in a for p, q in zip(a[n], b[n], strict=True) for x, y in zip(p, q, strict=True))
    )


GOLDEN = Path(__file__).with_name("cases") / "g1.toml"


@pytest.mark.slow
@pytest.mark.parametrize("layout", [None, *LAYOUTS])
def test_p3_every_misconception(layout):
    """All of them on the golden variant, and a few in every layout."""
    if layout is None:
        assert every_misconception(symattn.derive(str(GOLDEN), mask="causal").worksheet().question) > 30
    else:
        assert every_misconception(Variant(10 + layout, layout).question(), 10, layout) > 1


def test_p3_scores_of_another_shape_after_which_something_is_easier():
    """QᵀK token by token has rows of four scores where the key has three."""
    q = Variant(953830, 1).question()
    wrong = misconception("T3").on(q.problem.derivation)
    written = writes(wrong, q)
    assert np.shape(written["S'.1"]) == (1, 4) != np.shape(key_of(q)["S'.1"])
    one_misconception(q, wrong, written, set())


CARRIED = ("P4", "T2", "C1", "C3", "M1", "X1", "X6", "O7")


@pytest.mark.covering(most=4)
@pytest.mark.parametrize(("id", "places"), [(id, 3 + k % 2) for k, id in enumerate(CARRIED)])
def test_p3_with_every_line_rounded_and_carried_on(id, places):
    """What most scripts are: decimals all the way, each line worked out from the rounded one before."""
    q = asked(golden(mask="causal", scale="sqrt(3)"), exact=False, places=places)
    wrongly = belief(id)

    def change(name, so_far):
        found = wrongly(name, so_far)
        line = so_far.value(name) if found is None else found
        return Matrix.of([[_as_written(x, places) for x in row] for row in line.rows])

    report = marked(q, script(q, carried_on(q, change), decimals(places)))
    assert len(mistakes(report)) == 1, id
    assert id in ids(mistakes(report)[0]), id


@pytest.mark.slow
def test_p3_misconceptions_in_a_faded_example():
    q = drawn("causal_self_attention", seed=2, problem="faded")
    d = q.problem.derivation
    right, cells = key_of(q), {part.name: part.answer.cells for part in q.parts}
    for id in list(misconceptions())[::3]:
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
        assert len(found) == 1, id
        assert found[0].part == wrong_at[0], id
        assert id in ids(found[0]) or found[0].kind == "slip", id


def _equal(a, b):
    return decide(a, b).equal is not False


# ------------------------------------------------------------------------------------------------ P4: two of them


PAIRS = tables_beside(__file__)["pairs"]


@pytest.mark.covering(most=2, rest=2)
@pytest.mark.parametrize(
    ("first", "second", "variant"),
    [
        *((*pair, None) for pair in PAIRS),
        ("P8", "X1", Variant(23755)),  # the scores are symmetric: no sign that they were transposed
        ("T2", "X2", Variant(720720, projected=False)),  # as far as the weights, a script with tokens as columns
    ],
)
def test_p4_two_misconceptions_at_different_steps_are_two_events(first, second, variant):
    """The second goes on from what the first had come to."""
    q = variant.question() if variant else asked(golden(mask="causal"))
    d = MatrixwiseDerivation(q.problem.derivation).given
    one = misconception(first).on(d)
    at = next(s.name for s in d if s.name in spoilt(second, d))
    before = {s.name: one.derivation.value(s.name) for s in d.until(at).steps[:-1]}
    two = misconception(second).on(d.replay(pinned=before))
    report = marked(q, script(q, writes(two, q), legible))
    assert len(mistakes(report)) == 2
    a, b = mistakes(report)
    assert first in ids(a)
    assert second in ids(b)
    assert (a.step, b.step) == (one.first, two.first)


# ------------------------------------------------------------------------------------------------ P5: blanks


@cache
def wrong_scripts(seed, masked):
    """Consistent scripts of one variant: the key, and misconceptions carried on."""
    q = drawn("causal_self_attention" if masked else "self_attention", seed=seed)
    wrongs = [w for w in replayed(q.problem.derivation) if w.first and not w.stopped]
    chosen = Random(seed).sample(wrongs, 6)
    return q, (key_script(q), *(script(q, writes(w, q), legible) for w in chosen))


@pytest.mark.slow
def test_p5_what_is_left_out_never_earns_more():
    """Lines and entries, of scripts that are worked through from line to line, right or wrong."""
    q, attempts = wrong_scripts(1, True)
    rng = Random(1)
    for attempt, policy in zip(attempts, cycle(WITH_MARKS)):
        total = marked(q, attempt, policy).total
        for part, grid in attempt.answers.items():
            i, j = (rng.randrange(size) for size in grid.shape)
            for less in (without(attempt, part), with_entry(attempt, part, i, j, BLANK)):
                report = marked(q, less, policy)
                assert 0 <= report.total <= total, f"{total} with {part}"


GARBAGE = ["0", "1", "-7", "1/2", "e^2", "0.3", "99 %", "", "?", "1/0", "what", "sqrt(-1)", "10^40", "-∞", "2 1/2", "∞"]


# ------------------------------------------------------------------------------------------------ P6: policies


@pytest.mark.slow
@given(st.integers(0, 10**6))
@tries(10)
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
    assert totals["ecf"] >= totals["ib"] >= totals["strict"], f"{totals}"
    for ecf, strict in zip(marks_of(reports["ecf"], "A"), marks_of(reports["strict"], "A"), strict=True):
        assert ecf.given >= strict.given, "what equals the key"


def marks_of(report, code):
    return [given for given in report.marks if given.code == code]


def test_p10_every_event_says_which_entries_it_is_about():
    """The formative policy gives the same diagnosis and no marks."""
    q, attempts = wrong_scripts(1, True)
    for attempt in attempts:
        report = marked(q, attempt)
        spoilt_by = {(v.part, v.i, v.j): v.event for v in report.verdicts if v.state == "wrong"}
        for event in report.events:
            for entry in event.entries:
                assert spoilt_by.pop(entry, event.number) == event.number
        assert not spoilt_by
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


@pytest.mark.slow
def test_p7_the_same_under_every_hash_seed():
    says = "from test_marking_properties import carried_out\nprint(carried_out())"
    assert python("-c", says, PYTHONHASHSEED="1").stdout == f"{carried_out()}\n"


def carried_out():
    """All that is found in a script with a misconception."""
    q = asked(golden(mask="causal"))
    return shown(marked(q, script(q, writes(misconception("X1").on(q.problem.derivation), q), legible)))


# ------------------------------------------------------------------------------------------------ P8: more places


def is_decimal(x):
    return x is not NEGATIVE_INFINITY and not isinstance(x, int)


@pytest.mark.slow
@given(variants, st.integers(0, 10**6), st.sampled_from(WITH_MARKS), st.sampled_from([False, False, True]))
@tries(10)
def test_p8_more_places_of_a_right_decimal_never_cost_a_mark(variant, seed, policy, wrong):
    """Every entry rounded to places of its own; then one of them to more, even after a mistake carried on unrounded."""
    rng = Random(seed)
    q = asked(variant.derivation(), exact=not wrong and rng.random() < 0.5, places=2 if wrong else rng.choice([2, 4]))
    lines = key_of(q)
    if wrong:
        lines = writes(rng.choice([w for w in replayed(q.problem.derivation) if w.first and not w.stopped]), q)
    chosen = {n: [[rng.randint(1 + wrong, 5) for _ in row] for row in rows] for n, rows in lines.items()}
    candidates = [
        (n, i, j) for n, r in lines.items() for i, row in enumerate(r) for j, x in enumerate(row) if is_decimal(x)
    ]
    assume(candidates)

    def total():
        attempt = script(q, {name: _texts(rows, chosen[name]) for name, rows in lines.items()})
        return marked(q, attempt, policy).total

    before = total()
    n, i, j = rng.choice(candidates)
    chosen[n][i][j] += rng.randint(1, 4)
    assert total() >= before, f"{n} ({i + 1}, {j + 1}) had fewer places"


def _texts(rows, places):
    """Each entry to places of its own; whole numbers as they are."""
    return [
        [decimals(p)(x) if is_decimal(x) else exactly(x) for x, p in zip(*lines, strict=True)]
        for lines in zip(rows, places, strict=True)
    ]


# ------------------------------------------------------------------------------------------------ P9: other orders

SIZES = {"n": 3, "m": 4, "f": 2}
LETTERS = {"X": "n m", "W_Q": "m m", "W_K": "m m", "W_V": "m f", "Q": "n m", "K": "n m", "V": "n f", "S": "n n",
           "S'": "n n", "A": "n n", "Z": "n f"}  # fmt: skip


@pytest.mark.slow
@given(st.integers(0, 10**6))
@tries(12)
def test_p9_tokens_and_features_in_another_order(seed):
    rng = Random(seed)
    orders = {letter: rng.sample(range(size), size) for letter, size in SIZES.items()}

    def reordered(name, rows):
        a, b = (orders[letter] for letter in LETTERS[name].split())
        return [[rows[i][j] for j in b] for i in a]

    givens = {}
    for name in ("X", "W_Q", "W_K", "W_V"):
        rows, columns = (SIZES[letter] for letter in LETTERS[name].split())
        givens[name] = [[rng.choice([-1, 0, 1, 2]) for _ in range(columns)] for _ in range(rows)]
    lines = pages(mechanism("self_attention").run(givens, Settings.read({})))
    for _ in range(rng.randrange(3)):
        name = rng.choice(["Q", "K", "V", "S", "S'", "A", "Z"])
        row = rng.choice(lines[name])
        row[rng.randrange(len(row))] += rng.choice([-1, 1, Fraction(1, 2)])
    reports = []
    for order in (lambda name, rows: rows, reordered):
        q = asked(mechanism("self_attention").run({n: order(n, rows) for n, rows in givens.items()}, Settings.read({})))
        reports.append(marked(q, script(q, {n: order(n, lines[n]) for n in key_of(q)})))
    a, b = reports
    assert (a.total, len(a.events)) == (b.total, len(b.events))
    for name in key_of(a.question):
        one, other = ([[r.of(name)[i, j].state for j in range(len(lines[name][0]))] for i in range(3)] for r in reports)
        assert reordered(name, one) == other, name
