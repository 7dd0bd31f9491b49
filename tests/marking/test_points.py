"""Points: whatever a question is worth, what is wrong costs something, and a note on the key says what the marker does.

The scheme of a full question is that of rules.md 3.10, as it is printed there.  Notes are read here as a marker would
read them, from their words alone.
"""

import re
from dataclasses import replace
from math import ceil
from random import Random

import pytest
from scripts import drawn, exactly, key_script, legible
from trials import at_least_one

from symattn.api import derive, make_recipe
from symattn.derivation.ops.attention import Softmax
from symattn.derivation.ops.linear import MatMul
from symattn.exact import Matrix
from symattn.marking.attempt import Grid, Grids, Ordered, Shaded, Shaped, Text, Ticked
from symattn.marking.marker import mark
from symattn.marking.marker.policy import POLICIES
from symattn.marking.submissions.entries import entry
from symattn.teaching.derivation_question import scheme
from symattn.teaching.explanation.parts import in_short
from symattn.teaching.problems.systems import verdict
from symattn.teaching.question import (
    CellsAnswer,
    ChoiceAnswer,
    FormulaAnswer,
    OrderAnswer,
    PropertyAnswer,
    RubricAnswer,
    ShapeAnswer,
    WordAnswer,
    marked_together,
    marks_text,
    total,
)
from symattn.teaching.sheets import sheets

WRONG = "7319/11"
"""A number that no answer is, nor any mistake that has a name."""


def question(problem, mechanism="", **settings):
    return drawn(mechanism, seed=7, problem=problem, **settings)


def key(q):
    """Everything right, every reason seen by a person."""
    reasons = frozenset(p.name for p in q.parts if any(m.rule == "reason" for m in p.marks))
    return replace(key_script(q, exactly_if_read), methods=reasons)


def exactly_if_read(value):
    """Exact wherever that can be typed, as 12*log(2)/49 can, so that no policy takes a mark for decimals."""
    text = exactly(value)
    return text if len(text) <= 400 and entry(text).readable else legible(value)


def wrong_answers(part, said):
    """The answer with one thing wrong in it."""
    match part.answer, said:
        case _, Grid():
            yield from (said.put(i, j, entry(WRONG)) for i, j, e in said.cells() if not e.blank)
        case FormulaAnswer(), _:
            yield entry(WRONG)
        case PropertyAnswer(), Grids(grids):
            for name, one in grids.items():
                other = (Grids({**grids, name: one.put(i, j, entry("37"))}) for i, j, _ in one.cells())
                yield from (said for said in other if not has_property(part.answer, said))
        case ShapeAnswer(), _:
            yield Shaped((71, 73))
        case ChoiceAnswer(options, several), Ticked(ticks):
            for k, option in enumerate(options):
                if several or not option.right:
                    yield Ticked(ticks ^ {k} if several else frozenset({k}))
        case CellsAnswer((rows, columns), cells), _:
            yield from (Shaded(cells ^ {(i, j)}) for i in range(rows) for j in range(columns))
        case OrderAnswer(groups), _:
            for k in range(len(groups) - 1):
                yield Ordered((*groups[:k], groups[k + 1], groups[k], *groups[k + 2 :]))
        case WordAnswer(), _:
            yield Text("another word")
        case RubricAnswer(), _:
            yield Text("Read by somebody.", part.points - 1)


def has_property(answer, said):
    """Whether matrices have what was asked for all the same; how this is judged is tested elsewhere."""
    own = {name: Matrix.of([x.value for x in row] for row in one.rows) for name, one in said.grids.items()}
    return verdict(answer.rule, answer.parameters, own).holds


def scripts_with_one_wrong(q, rng, most, parts=None):
    """The key with one thing wrong, at most so many of each part; what only repeats other lines is left alone."""
    right = key(q)
    for part in q.parts:
        if parts is not None and part.name not in parts:
            continue
        wrong = list(wrong_answers(part, right.answers[part.name]))
        for said in rng.sample(wrong, min(most, len(wrong))):
            yield part.name, replace(right, answers={**right.answers, part.name: said})


def law_of_points(own, points, rng, policy):
    """Check that the key gets everything, that no script with one thing wrong does, and count these."""
    worth, count = own.worth(points), 0
    assert worth.marks == points
    report = mark(worth, key(worth), POLICIES[policy])
    assert (report.total, report.available, report.pending) == (points, points, False), (
        f"{own.type}, {points} points, {policy}: the key gets {report.total}"
    )
    for name, attempt in scripts_with_one_wrong(worth, rng, 1, worked_out(own)):
        report = mark(worth, attempt, POLICIES[policy])
        assert report.available == points
        assert report.total < points, f"{own.type}, {points} points, {policy}: {name} wrong, {report.total}"
        count += 1
    return count


def worked_out(own):
    """The parts that are to be worked out: those whose line has marks, as the question stands."""
    lines = [line for line in marked_together(own.parts) if any(part.marks for part in line)]
    return {part.name for line in lines for part in line if not settled(own, part.name)}


def settled(q, name):
    """Whether a part of a token has nothing to be worked out: it sees one token only, and its weight is 1."""
    role, _, token = name.partition(".")
    return token.isdigit() and role == "A" and q.problem is not None and q.problem[name].result.shape == (1, 1)


QUICK = (
    ("full", "causal_self_attention", {}),
    ("full", "self_attention", {"by": "token"}),
    ("counts", "", {}),
    ("masks", "", {}),
    ("estimate", "", {}),
    ("find-error", "", {}),
    ("faded", "", {}),
    ("faded", "backpropagation_through_time", {}),
    ("design", "", {}),
    ("recurrence", "", {}),
)


@pytest.mark.parametrize(
    ("problem", "mechanism", "settings"),
    [
        pytest.param(*one, marks=() if one[0] in ("faded", "design") and not one[1] else pytest.mark.slow)
        for one in QUICK
    ],
    ids=lambda x: str(x or "-"),
)
def test_one_wrong_entry_costs_something_for_any_points(problem, mechanism, settings):
    q, rng = question(problem, mechanism, **settings), Random(1)
    for points in {1, rng.randint(1, 2 * q.marks), 2 * q.marks}:
        assert law_of_points(q, max(1, points), rng, rng.choice(["ecf", "ib", "uk", "strict"]))


@pytest.mark.parametrize("points", [10, 40])
def test_all_of_a_matrix_wrong_costs_its_accuracy(points):
    q = question("full", "causal_self_attention").worth(points)
    right = key(q)
    nothing = Grid(tuple(tuple(entry(f"{WRONG}{i}{j}") for j in range(4)) for i in range(3)))
    report = mark(q, replace(right, answers={**right.answers, "Q": nothing}))
    assert report.total < report.available == points


# ------------------------------------------------------------------------------------------------ notes


def read(note, number, rows):
    """The marks that a note promises for what is right, row by row; None for a note about something else."""
    things = [thing for row in rows for thing in row]
    right, wrong = sum(things), len(things) - sum(things)
    whole = sum(map(all, rows))
    if not wrong:
        return number
    if not right:
        return 0
    match re.sub(r"[AB](\d+)", r"\1", note).split("; "):
        case ["" | "all of it right" | "for all tokens together, all of it right" | "every cell"] if (
            number == 1 or note
        ):
            return 0
        case ["all entries", half]:
            words = {"two thirds": 3 * right >= 2 * len(things), "three quarters": 4 * right >= 3 * len(things)}
            [enough] = [held for share, held in words.items() if share in half]
            return int(half.split()[0]) if enough else 0
        case ["one for every token" | "one for each row" | "one for each column"]:
            assert number == len(rows)
            return whole
        case ["two for every row" | "two for every column"]:
            assert number == 2 * len(rows)
            return 2 * whole
        case [says] if re.fullmatch("in proportion to the (rows|columns|tokens) that are right, rounded down", says):
            return number * whole // len(rows)
        case [says] if says.endswith(("rounded down", "shared equally among the missing entries")):
            return number * right // len(things)
        case [says] if says.startswith("deduct one for every two"):
            return max(0, number - ceil(wrong / 2))
        case [says] if says.startswith("deduct one for e"):
            return max(0, number - wrong)
    return None


NOTED = [one for one in QUICK if one[0] in ("full", "counts", "masks", "faded", "recurrence")]


@pytest.mark.covering(most=1)
@pytest.mark.parametrize(("problem", "mechanism", "settings"), NOTED, ids=lambda x: str(x or "-"))
def test_every_note_on_a_key_says_what_the_marker_does(problem, mechanism, settings):
    """Answers of numbers, with any of them wrong; nothing follows and nothing is implied."""
    own, rng = question(problem, mechanism, **settings), Random(2)
    all_points = {*rng.sample(range(len(own.parts), 2 * own.marks), 2), own.marks}
    assert sum(law_of_notes(own, points, rng) for points in sorted(all_points))


def law_of_notes(own, points, rng):
    """Check notes that can be read here with some entries wrong, and count these."""
    q, count = own.worth(points), 0
    alone = replace(POLICIES["strict"], independent_accuracy=True)
    right = key(q)
    alone_in_line = [line[0] for line in marked_together(q.parts) if len(line) == 1]
    for part in alone_in_line:
        marks = [m for m in part.marks if m.code != "M" and m.rule not in ("shapes", "reason")]
        said = right.answers[part.name]
        if len(marks) != 1 or not isinstance(said, Grid) or "." in part.name or marks[0].joined:
            continue
        cells = [(i, j) for i, j, e in said.cells() if not e.blank]
        wrong = rng.sample(cells, rng.randint(0, len(cells)))
        other = said
        for i, j in wrong:
            other = other.put(i, j, entry(f"{WRONG}{rng.randrange(100)}"))
        across = own.problem is None or own.problem.derivation.orientation == "rows"
        lines = sorted({c[0 if across else 1] for c in cells})
        rows = [[c not in wrong for c in cells if c[0 if across else 1] == line] for line in lines]
        note = re.search(rf"{marks[0]} \(([^)]*)\)", str(in_short(part.marks)))
        promised = read(note[1] if note else "", marks[0].number, rows)
        report = mark(q, replace(right, answers={**right.answers, part.name: other}), alone)
        [given] = [
            g for g in report.marks if g.parts == (part.name,) and g.code == marks[0].code and g.of == marks[0].number
        ]
        if promised is None or (given.why and given.why.reason == "wrong method"):
            continue
        assert given.given == promised, f"{points} points: {in_short(part.marks)}, {rows}"
        count += 1
    return count


def test_one_mark_is_not_said_to_be_shared():
    """A faded line with a single mark: twice that is shared, and the note says so."""
    own, rng = drawn(problem="faded", seed=4), Random(0)
    single = [mark for part in own.parts for mark in part.marks if mark.number == 1]
    assert single
    assert not any("shared" in str(mark.what) for mark in single)
    assert law_of_notes(own, 2 * own.marks, rng)


# ------------------------------------------------------------------------------------------------ joined lines


def test_fewer_points_than_lines_join_them_and_the_key_says_so():
    q = question("full", "causal_self_attention").worth(3)
    heads = [part for part in q.parts if part.marks]
    assert [total(part.marks) for part in heads] == [1, 1, 1]
    for part in heads:
        [joined] = part.marks
        others = len(joined.joined) - 1
        says = "this answer and the next" if others == 1 else f"this answer and the next {others}"
        assert str(joined.what) == f"{says}, all of it right"
    report = mark(q, key(q))
    assert (report.total, report.available) == (3, 3)
    assert [given.parts for given in report.marks] == [part.marks[0].joined for part in heads]


def test_answers_of_several_kinds_are_joined():
    q = question("find-error").worth(1)
    assert mark(q, key(q)).total == 1
    for _, attempt in scripts_with_one_wrong(q, Random(1), 2):
        assert (mark(q, attempt).total, mark(q, attempt).available) == (0, 1)


def test_a_step_that_is_asked_for_twice_is_marked_twice():
    """Where the wrong line is the output, both the correct line and the correct output are that."""
    q = drawn("cross_attention", seed=2, problem="find-error")
    names = [part.name for part in q.parts if getattr(part.answer, "step", "") == "Z"]
    assert len(names) == 2
    right = key(q)
    for name in names:
        said = right.answers[name]
        report = mark(q, replace(right, answers={**right.answers, name: said.put(0, 0, entry(WRONG))}))
        assert report.total == report.available - 1


# ------------------------------------------------------------------------------------------------ totals


@pytest.mark.covering(most=1, product=False)
@pytest.mark.parametrize("policy", [name for name, one in POLICIES.items() if one.marks])
@pytest.mark.parametrize(("problem", "mechanism", "settings"), QUICK[:2] + QUICK[5:7], ids=lambda x: str(x or "-"))
def test_lines_and_parts_add_up_to_the_total(problem, mechanism, settings, policy):
    """Right, wrong and empty parts, for any points: each part is in one line, and all lines make the total."""
    own, rng = question(problem, mechanism, **settings), Random(policy)
    for points in (1, rng.randint(2, len(own.parts)), own.marks, rng.randint(own.marks, 2 * own.marks)):
        q = own.worth(points)
        scripts = [attempt for _, attempt in scripts_with_one_wrong(q, rng, 1)]
        attempt = rng.choice(scripts)
        kept = {name: said for name, said in attempt.answers.items() if rng.random() < 0.7}
        for one in (attempt, replace(attempt, answers=kept)):
            report = mark(q, one, POLICIES[policy])
            lines = [given for given in report.marks if given.code != "N"]
            assert (
                sum(given.of for given in lines) == report.available == points == sum(total(p.marks) for p in q.parts)
            )
            taken = sum(notice.marks for notice in report.notices)
            assert report.total == max(0, sum(given.given for given in report.marks) - taken) <= points
            assert all(0 <= given.given <= given.of for given in lines)
            lined = [set(parts) for parts in {given.parts for given in lines}]
            assert sum(map(len, lined)) == len(set().union(*lined))


# -------------------------------------------------------------------------------------- the scheme of a full question

PRINTED = (
    "shapes B1 · Q M1 A1 · K A1 · V A1 · S M1 A2 (A2: all; A1: ≥ 6 of 9) · scale M1 A1 · mask M1 A1 "
    "(unmasked: give these to S) · weights M1 A3 (one per row) · Y M1 A3 (one per row)"
)
"""rules.md 3.10, for three tokens and one head, 20 marks."""

STEPS = {"Q": "Q", "K": "K", "V": "V", "S": "S", "scale": "S'", "mask": "M", "weights": "A", "Y": "Z"}


def printed():
    """The codes of each step as rules.md prints them; the mark for shapes is Q's."""
    found = {}
    for item in re.sub(r" \([^)]*\)", "", PRINTED).split(" · "):
        name, *codes = item.split()
        found[STEPS.get(name, "shapes")] = codes
    found["Q"] = found.pop("shapes") + found["Q"]
    return found


def codes(problem):
    return {name: marks_text(marks).split() for name, marks in scheme(problem).items() if marks}


def role_marks(problem, role):
    """M2 A3 of all the steps of a role together."""
    summed = {}
    for name, marks in scheme(problem).items():
        if name.partition(".")[0] == role:
            for mark in marks:
                summed[mark.code] = summed.get(mark.code, 0) + mark.number
    return summed


def test_masked_it_is_the_printed_scheme():
    q = drawn("causal_self_attention")
    assert codes(q.problem) == printed()
    assert q.marks == 20


@pytest.mark.covering(most=1)
@pytest.mark.parametrize("stated", [{}, {"orientation": "columns"}, {"order": "KVQ"}])
def test_unmasked_the_marks_of_the_mask_are_the_scores(stated):
    q = drawn(**stated)
    expected = printed()
    del expected["M"]
    expected["S"] = ["M2", "A3"]
    assert codes(q.problem) == expected
    assert q.marks == 20


@pytest.mark.slow
@pytest.mark.parametrize("stated", [{"mask": "causal"}, {"scores": "column", "order": "KVQ"}])
def test_token_by_token_every_role_has_the_marks_that_its_matrix_has(stated):
    whole = drawn(**{k: v for k, v in stated.items() if k != "scores"})
    q = drawn(by="token", **stated)
    assert q.marks == whole.marks == 20
    for role in ("Q", "K", "V", "S", "S'", "M", "A"):
        assert role_marks(q.problem, role) == role_marks(whole.problem, role)
    assert role_marks(q.problem, "weighted") == {"A": 1}
    assert role_marks(q.problem, "Z") == {"A": 3}
    assert scheme(q.problem)["Z"] == ()
    assert [total(scheme(q.problem)[f"A.{t}"]) for t in (1, 2, 3)] == [2, 1, 1]


def test_note_002_is_a_script_of_20_marks():
    """rules.md 3.11, case 1: its key is the corrected note."""
    assert sum(map(total, scheme(derive("note-002").problem).values())) == 20


def test_without_queries_the_keys_have_their_own_method_mark():
    d = derive("note-004").problem  # queries, keys and values are one projection H
    assert codes(d)["H"] == ["M1", "A1"]
    q = drawn("attention")
    assert set(codes(q.problem)) == {"S", "S'", "A", "Z"}


def test_where_sizes_are_letters_each_shape_is_one_mark():
    sheet = derive("self_attention", symbolic=True).worksheet()
    assert [marks_text(part.marks) for part in sheet.question.parts] == ["B1"] * 7


def test_lines_without_marks_stay_without_when_the_points_are_others():
    q = drawn(by="token")
    worth = q.worth(40)
    assert worth.marks == 40
    without = [part.name for part in worth.parts if not part.marks]
    assert {part.name for part in q.parts if not part.marks} <= {*without} != set()


def test_every_product_of_a_cache_has_a_mark_and_the_only_weight_none():
    for seed in (7, 11):
        [sheet] = sheets(make_recipe("kv_cache", {}, seed=seed), 1)
        worth = {name: total(marks) for name, marks in scheme(sheet.problem).items()}
        for step in at_least_one(sheet.problem.asked_steps):
            if isinstance(step.op, MatMul):
                assert worth[step.name] > 0, step.name
            if isinstance(step.op, Softmax):
                assert (worth[step.name] == 0) == (step.result.shape == (1, 1)), step.name
