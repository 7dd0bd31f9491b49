"""Feedback that teaches: the student's own numbers, where to begin, and a fresh exercise on that step."""

import re
from fractions import Fraction
from functools import cache
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import softmax
from scripts import decimals, exactly, key_of, key_script, marked, page, script, step_of, texts, with_entry
from scripts import drawn as drawn_question
from test_worked_cases import CASES
from trials import at_least_one

import symattn
from symattn.derivation.misconceptions import replayed
from symattn.derivation.ops.linear import MatMul
from symattn.derivation.slips import slips
from symattn.exact import NEGATIVE_INFINITY, Matrix
from symattn.exact.rounding import approximate
from symattn.formula import Number, Sum
from symattn.formula.width import width
from symattn.marking.attempt import Attempt, Entry, Ticked
from symattn.marking.marker import mark
from symattn.marking.reports import exercise_sheet, feedback_document
from symattn.marking.reports.documents import where_to_look
from symattn.marking.reports.exercise import drawn
from symattn.marking.reports.mistakes import MOST_FITS
from symattn.marking.reports.text import ReportText
from symattn.marking.reports.words import NOT_RIGHT
from symattn.marking.reports.worked import MOST_TERMS, shortened
from symattn.marking.submissions.entries import entry, grid
from symattn.page.document import Math, spans
from symattn.page.writers import FORMATS
from symattn.page.writers.characters import on_one_line
from symattn.teaching.question import ChoiceAnswer

SOME = (
    "causal_self_attention",
    "layer_norm",
    "online_softmax",
    "kv_cache",
    "linear_attention",
    "self_attention_gradient",
)
SLOW = ("recurrent_network", "language_model")


def question(mechanism):
    return drawn_question(mechanism, seed=3)


def plain(text):
    return "".join(on_one_line(x.formula) if isinstance(x, Math) else x.text for x in spans(text))


def looked_at(report):
    """Where a student is told to look first, and what about it."""
    return "\n".join(map(plain, where_to_look(ReportText(report, "student"))))


@cache
def slipped(mechanism):
    """A report for every line of a script: one entry wrong in it, by a slip where there is one."""
    asked, rng = question(mechanism), Random(1)
    base, found = key_script(asked), []
    for part in asked.parts:
        step, rows = step_of(asked, part), key_of(asked)[part.name]
        i, j = rng.randrange(len(rows)), rng.randrange(len(rows[0]))
        if step is None or rows[i][j] is NEGATIVE_INFINITY:
            continue
        made = list(slips(asked.problem.derivation, step.name, i, j))
        wrong = rng.choice(made).value if made else rows[i][j] + 1
        found.append((part.name, marked(asked, with_entry(base, part.name, i, j, entry(exactly(wrong))))))
    return tuple(found)


mechanisms = pytest.mark.parametrize(
    "mechanism", [*SOME, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)]
)


# ------------------------------------------------------------------------------------------------ in one's own numbers


def test_the_sentence_of_the_issue():
    """Q K^T = (1, -2, 0)·(0, 2, 1) = -4, and 3 was written; NumPy multiplies."""
    d = symattn.derive("attention", Q=[[1, -2, 0], [0, 0, 1]], K=[[1, 1, 1], [0, 2, 1]], V=[[1], [2]], scale="none")
    said = looked_at(symattn.check(d, {"S": [[-1, 3], [1, 1]]}).reports[0])
    assert int(np.array([1, -2, 0]) @ np.array([0, 2, 1])) == -4
    assert "You have 3; row 1 of Q times row 2 of K is 1·0 + (−2)·2 + 0·1 = −4." in said
    assert "Right so far: 3 of 4 entries of S." in said


def test_what_the_student_wrote_is_called_so_and_what_was_given_is_not():
    said = {part: looked_at(report) for part, report in slipped("causal_self_attention")}
    assert "of X times column" in said["Q"]
    assert re.search(r"row \d of your Q times row \d of your K", said["S"])
    assert re.search(r"row \d of your A times column \d of your V", said["Z"])


@pytest.mark.covering(most=1)
@mechanisms
def test_a_product_is_worked_out_from_the_lines_before(mechanism):
    """The factors and the product against NumPy, from the right lines, which were written but for one entry."""
    asked, tried = question(mechanism), 0
    d = asked.problem.derivation
    for part, report in slipped(mechanism):
        step = next(step_of(asked, p) for p in asked.parts if p.name == part)
        if not isinstance(step.op, MatMul):
            continue
        left, right = (np.array([[float(approximate(x)) for x in row] for row in o.of(d.value(o.name)).rows])
                       for o in step.operands)  # fmt: skip
        [(_, i, j)] = [place for place in report.events[0].entries if place[0] == part][:1]
        said = looked_at(report)
        found = re.search(r"ou have .*?; .*? is (.*?)\.(?: |$)", said)
        assert found, said
        working, *_, result = re.split(r" [=≈] ", found[1])
        assert number(result) == pytest.approx(float(left[i] @ right[:, j]), abs=6e-5)
        terms = [left[i, k] * right[k, j] for k in range(left.shape[1])]
        assert number(working) == pytest.approx(sum(terms), abs=2e-3)
        tried += 1
    assert tried or mechanism in ("layer_norm", "rms_norm", "layer_norm_gradient")


def number(formula):
    """A working as it stands on the page, worked out by Python."""
    text = formula.replace("−", "-").replace("·", "*").replace("√", "sqrt")
    for sup, digit in zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-", strict=True):
        text = text.replace(sup, digit if sup == "⁻" else f"^{digit}")
    text = re.sub(r"e-\^?(\d)", r"e^(-\1)", text)
    text = re.sub(r"(\d)(?=e)", r"\1*", text)
    text = re.sub(r"\be\b", repr(np.e), text.replace("^", "**"))
    return float(eval(text, {"sqrt": np.sqrt, "ln": np.log}))


@pytest.mark.covering(most=1)
@mechanisms
def test_every_single_mistake_is_shown_in_numbers_and_with_two_explanations_at_most(mechanism):
    for part, report in at_least_one(slipped(mechanism)):
        said = looked_at(report)
        assert "You have " in said, (part, said)
        told = ReportText(report, "student")
        for mistake in told.mistakes:
            assert len(re.findall(r"as if ", plain(mistake.says))) <= MOST_FITS == 2


def test_decimals_stand_as_they_were_typed_and_results_in_as_many_places_as_are_asked():
    """Weights to two places: 0.71, and 0.2652·… shown to four; the sum of the row is Python's."""
    asked = question("causal_self_attention")
    base = key_script(asked, decimals(4))
    written = base.answers["A"]
    last = written.shape[0] - 1
    attempt = with_entry(base, "A", last, 0, entry("0.9000"))
    said = looked_at(marked(asked, attempt))
    assert "You have 0.9000;" in said
    total = Fraction("0.9") + sum(Fraction(e.text) for e in written.rows[last][1:])
    assert f"Row {last + 1} of your A sums to {float(total):.4f}, not to 1." in said


def test_rows_that_sum_to_1_as_far_as_they_were_rounded_are_left_in_peace():
    asked = question("causal_self_attention")
    base = key_script(asked, decimals(2))
    row = base.answers["A"].rows[-1]
    swapped = with_entry(with_entry(base, "A", 2, 0, row[1]), "A", 2, 1, row[0])
    assert "sums to" not in looked_at(marked(asked, swapped))


def test_both_shapes_are_told():
    asked = question("causal_self_attention")
    base = key_script(asked)
    rows, columns = base.answers["Q"].shape
    own = [[e.text for e in row] for row in base.answers["Q"].rows]
    wide, cut = (
        marked(asked, Attempt({**base.answers, "Q": grid(written, ".")}))
        for written in ([[*row, "1"] for row in own], [row[:-1] for row in own])
    )
    assert f"Q is {rows}×{columns + 1}; it should be {rows}×{columns}." in looked_at(wide)
    assert [notice.says for notice in cut.notices if notice.part == "Q"] == [
        f"The matrix is {rows}×{columns - 1} and should be {rows}×{columns}; what is missing counts as blank."
    ]


@given(st.integers(1, 80))
def test_long_sums_are_told_by_their_ends(count):
    terms = tuple(Number(str(k)) for k in range(count))
    found = shortened(Sum(terms))
    if count <= MOST_TERMS:
        assert found.terms == terms
    else:
        assert (found.terms[0], found.terms[1], found.terms[-1]) == (terms[0], terms[1], terms[-1])
        assert len(found.terms) == 4
        assert width(found) < width(Sum(terms))


# ------------------------------------------------------------------------------------------------ plain words


def text_of(report, exercise=False):
    return FORMATS["text"].write(feedback_document(report, exercise=exercise))


@pytest.mark.covering(most=5, rest=3)
@pytest.mark.parametrize("name", sorted(CASES))
def test_students_are_told_nothing_in_the_examiners_words(name):
    said = text_of(CASES[name].report)
    for jargon in ("symattn", "onsistent with", "before rounding", "ECF", "Off by one"):
        assert jargon not in said
    assert not re.search(r"\b[MABN]\d(/\d)?\b", said)
    assert not re.search(r"\b[MABN]: \d", said)


def test_no_slip_says_its_name_twice():
    """ "Off by one. You are off by one." teaches nobody."""
    asked = question("layer_norm")
    rows = key_of(asked)["N"]
    report = marked(asked, with_entry(key_script(asked), "N", 0, 0, entry(exactly(rows[0][0] + 1))))
    said = looked_at(report).lower()
    assert "off by one" not in said
    assert "one off" in said


@pytest.mark.parametrize("form", [exactly, decimals(4), decimals(6)])
@pytest.mark.parametrize("mechanism", SOME[:3])
def test_a_right_script_hears_no_reproach(mechanism, form):
    asked = question(mechanism)
    report = marked(asked, key_script(asked, form))
    assert not report.events
    said = text_of(report)
    assert "✗" not in said
    assert "•" not in said  # no remark on any line
    assert exercise_sheet([report]) is None
    assert report.own == {}


def test_what_is_right_is_said_first():
    said = looked_at(CASES["04-softmax-over-columns"].report)
    assert said.startswith("Right so far: Q, K, V, S and S′. Begin with Weights A")


# ------------------------------------------------------------------------------------------------ a fresh exercise


@pytest.mark.covering(most=3)
@mechanisms
def test_an_exercise_is_the_same_step_on_other_numbers_of_the_same_shapes(mechanism):
    """Every step that rests on a matrix has one, and its key is what the operation's witness gives, in floats."""
    d = question(mechanism).problem.derivation
    for step in at_least_one(d):
        fresh = drawn(d, step, Random(5))
        if fresh is None:
            assert step.op.trivial or not step.operands, step.name
            continue
        again = drawn(d, step, Random(5))
        assert again.givens == fresh.givens
        assert fresh.last.op == step.op
        for name, matrix in fresh.givens.items():
            assert matrix.shape == d.value(name).shape
        assert any(fresh.givens[name] != d.value(name) for name in fresh.givens)
        operands = [o.of(fresh.value(o.name)) for o in step.operands]
        floats = step.op.witness(*(as_floats(m) for m in operands))
        if floats is not None and isinstance(fresh.last.result, Matrix):
            assert np.allclose(as_floats(fresh.last.result), floats, atol=1e-9)


def as_floats(matrix):
    return [[-np.inf if x is NEGATIVE_INFINITY else float(approximate(x)) for x in row] for row in matrix.rows]


def test_the_exercise_is_on_the_step_that_went_wrong_and_the_same_for_everybody():
    reports = dict(slipped("causal_self_attention"))
    for part in ("Q", "S", "A", "Z"):
        sheet = exercise_sheet([reports[part]])
        [asked] = sheet.question.parts
        assert asked.answer.step == part
        again = exercise_sheet([reports[part]])
        assert FORMATS["text"].write(again.key) == FORMATS["text"].write(sheet.key)
    other = with_entry(reports["S"].attempt, "Z", 0, 0, Entry())
    same = exercise_sheet([marked(question("causal_self_attention"), other)])
    assert same.name == exercise_sheet([reports["S"]]).name
    assert same.name != exercise_sheet([reports["A"]]).name


def test_weights_of_an_exercise_are_weights():
    d = question("causal_self_attention").problem.derivation
    for seed in range(5):
        fresh = drawn(d, d["Z"], Random(seed))
        for row in fresh.givens["A"].rows:
            assert sum(row) == 1
            assert min(row) >= 0


def test_a_misconception_in_a_step_left_out_is_practised_there():
    sheet = exercise_sheet([CASES["03-scaled-after-softmax-blank"].report])
    assert sheet.question.parts[0].answer.step == "S'"


def test_the_blank_exercise_has_no_answer_in_it_and_the_key_has():
    report = CASES["02-lost-sign"].report
    sheet = exercise_sheet([report])
    answer = sheet.question.parts[0].answer.value
    blank, key = (FORMATS["text"].write(sheet.document(form)) for form in ("blank", "worked"))
    row = r"\s+".join(str(x).replace("-", "−") for x in answer.rows[0])
    assert re.search(row, key)
    assert not re.search(row, blank)
    assert "this sheet comes with" in " ".join(text_of(report, exercise=True).split())


@pytest.mark.parametrize(("mark", "other"), [(",", "."), (".", ",")])
def test_decimals_stand_with_the_students_own_mark(mark, other):
    """Weights of two equal scores are a half each; 0.40 was written."""
    d = symattn.derive("attention", Q=[[1, 0]], K=[[1, 0], [1, 1]], V=[[1], [2]], scale="none")
    answers = {"S": [[1, 1]], "A": [[f"0{mark}50", f"0{mark}40"]], "Z": [[f"1{mark}50"]]}
    told = " ".join(symattn.check(d, answers).text("text").replace("│", "").split())
    assert f"You have 0{mark}40;" in told
    assert f"sum to 0{mark}9," in told
    assert f"0{other}" not in told


def test_whole_numbers_with_zeros_behind_are_worked_with_as_whole_numbers():
    """3.0000 in Q times 1.0000 in K is 3·1; rows that sum to 2 sum to 2."""
    asked = drawn_question("self_attention", seed=2, exact=False)
    base, rows = key_script(asked, decimals(4)), key_of(asked)
    said = looked_at(marked(asked, with_entry(base, "S", 1, 2, entry(exactly(rows["S"][1][2] + 1)))))
    assert ".0000" not in said
    doubled = exactly(rows["A"][0][0] + 1)
    assert "Row 1 of your A sums to 2, not to 1." in looked_at(
        marked(asked, with_entry(key_script(asked), "A", 0, 0, entry(doubled)))
    )


def test_rows_and_columns_are_those_of_the_page():
    """Tokens as columns: S = Kᵀ Q there, so that what is told of a slip must be turned, too."""
    asked = drawn_question("self_attention", seed=2, orientation="columns")
    d = asked.problem.derivation
    keys, base, tried = key_of(asked), key_script(asked), 0
    for i, j in ((0, 1), (1, 2), (2, 0)):
        k = np.array([[int(x) for x in row] for row in keys["K"]])
        q = np.array([[int(x) for x in row] for row in keys["Q"]])
        for slip in slips(d, "S", i, j):
            if slip.slip.id not in ("A2", "A6"):
                continue
            said = looked_at(marked(asked, with_entry(base, "S", i, j, entry(exactly(slip.value)))))
            assert f"column {i + 1} of your K times column {j + 1} of your Q" in said
            for a, b in re.findall(r"the term (\S+)·(\S+) was dropped", said):
                terms = {(int(x), int(y)) for x, y in zip(k[:, i], q[:, j], strict=True)}
                assert (number(a), number(b)) in terms
                tried += 1
            for line, taken in re.findall(r"(row|column) (\d) instead of", said):
                wrong = k[:, int(taken) - 1] @ q[:, j] if line == "row" else k[:, i] @ q[:, int(taken) - 1]
                assert wrong == int(slip.value)
                tried += 1
    assert tried


CHOICES = ("choice", "estimate", "find-error", "masks", "recurrence", "shapes")


def ticked_wrongly(question):
    for part in question.parts:
        if isinstance(part.answer, ChoiceAnswer):
            yield from ((part.name, part.answer, k) for k, one in enumerate(part.answer.options) if not one.right)


@pytest.mark.parametrize("kind", CHOICES)
def test_a_wrong_option_is_told_what_is_wrong_with_it_and_never_which_one_is_right(kind):
    question = drawn_question(problem=kind)
    for part, answer, k in at_least_one(ticked_wrongly(question)):
        report = mark(question, Attempt({part: Ticked(frozenset({k}))}))
        place = (part, k if answer.several else 0, 0)
        said = [plain(one.says) for one in ReportText(report, "student").mistakes if place in one.event.entries]
        assert said
        for one in answer.right:
            right = plain(answer.options[one].text).rstrip(".")
            for text in (right, right.partition(":")[0]):  # Line 2: X has d_model columns
                assert not any(re.search(rf"(?<!\w){re.escape(text)}(?!\w)", sentence) for sentence in said)
        assert NOT_RIGHT not in said or answer.options[k].why == () or kind == "shapes", (part, k)


def test_a_reader_who_sees_the_wrong_mistake_in_a_script_is_not_told_to_have_made_it():
    question = drawn_question(problem="find-error")
    for part, _, k in at_least_one(ticked_wrongly(question)):
        report = mark(question, Attempt({part: Ticked(frozenset({k}))}))
        assert [(event.kind, event.candidates) for event in report.events] == [("answer", ())]


def test_of_right_options_that_were_not_ticked_only_their_number_is_told():
    question = drawn_question(problem="heatmap")
    for part in question.parts:
        answer = part.answer
        if not isinstance(answer, ChoiceAnswer) or not answer.several:
            continue
        for k in answer.right:
            report = mark(question, Attempt({part.name: Ticked(frozenset({k}))}))
            told, left = ReportText(report, "student"), len(answer.right) - 1
            assert len(report.events) == left
            says = "One more option should be ticked." if left == 1 else f"{left} more options should be ticked."
            assert not left or [plain(one.remarks) for one in told.lines if one.remarks] == [says]
            assert not any(mistake.says for mistake in told.mistakes)


def test_weights_that_were_made_to_sum_to_1_are_told_to_be_so():
    scores = [3, 1, 0]
    exact = softmax(scores)
    nearest = [f"{x:.2f}" for x in exact]
    made = [nearest[0], f"{1 - float(nearest[0]) - float(nearest[2]):.2f}", nearest[2]]
    assert sum(map(float, nearest)) == pytest.approx(0.99)
    given = {"Q": [[1]], "K": [scores], "V": [[1, 0, 0]], "orientation": "columns"}
    d = symattn.derive("attention", scale="none", places=2, **given)
    for weights, told in ((made, True), (nearest, False)):
        report = symattn.check(d, {"A": [[x] for x in weights]}).reports[0]
        (line,) = (line for line in ReportText(report, "student").lines if line.part == "A")
        said = f"Column 1: rounded so that it sums to 1; to the nearest, {made[1]} would be {nearest[1]}."
        assert (said in plain(line.remarks)) == told


@pytest.mark.parametrize(("mechanism", "id"), [("multi_head_attention", "C2"), ("attention", "X7")])
def test_a_line_says_once_what_its_entries_follow_from(mechanism, id):
    """Rounded before or not, it is the same to a student: the sign says it, and nothing beside it."""
    q = question(mechanism)
    report = marked(q, script(q, wrong_by(q, id), decimals(3)))
    ways = {(v.part, v.way) for v in report.verdicts if v.state == "follows"}
    said = re.findall("right, given your (?!own)", " ".join(text_of(report).casefold().split()))
    assert len({part for part, _ in ways}) < len(ways)
    assert not said


@pytest.mark.parametrize(("mechanism", "id"), [("recurrent_network", "U2"), ("kv_cache", "F7")])
def test_what_became_easier_is_told_where_something_follows(mechanism, id):
    """And not beside the first token of the line, whose entries are the key's."""
    q = question(mechanism)
    report = marked(q, script(q, wrong_by(q, id), decimals(3)))
    told = [notice.part for notice in report.notices if notice.kind == "veto"]
    assert told
    for part in told:
        assert {"follows"} <= {v.state for v in report.verdicts if v.part == part}


def wrong_by(q, id):
    """What somebody with a misconception has throughout."""
    [wrong] = replayed(q.problem.derivation, [id])
    return {part.name: page(wrong.value(part.name)) for part in q.parts}


def gradients():
    """Attention and its gradients, worked to four places."""
    asked = question("attention_gradient")
    return asked, texts(key_of(asked), lambda x: f"{approximate(x):.4f}")


def feedback_on(asked, answers):
    return " ".join(symattn.check(asked, answers).text("text").replace("│", " ").split())


def test_a_term_with_powers_is_told_as_a_decimal():
    """Somebody who leaves the sum out of dS' = A ⊙ (dA − Σ A dA) is told of numbers, not of (−24 e^2 − 2)/(e^2 + 1)."""
    asked, answers = gradients()
    weights, back = (np.array([[float(x) for x in row] for row in answers[name]]) for name in ("A", "dA"))
    answers["dS'"] = [[f"{x:.4f}" for x in row] for row in weights * back]
    said = feedback_on(asked, answers)
    assert "was dropped" in said
    dropped = re.search(r"the term (.+?) was dropped", said)[1]
    assert not re.search("e|/", dropped)
    assert float(entry(dropped).value) == pytest.approx(-(weights * back).sum(), abs=1e-3)


def test_a_matrix_with_a_missing_column_is_not_everything_right():
    """Its entries are implied by the next line, and earn their marks."""
    asked = question("attention")
    answers = texts(key_of(asked))
    assert "Everything is right." in feedback_on(asked, answers)
    answers["S"] = [row[:-1] for row in answers["S"]]
    marking = symattn.check(asked, answers)
    assert marking.total == marking.available
    assert "Everything is right." not in feedback_on(asked, answers)


def test_what_was_noticed_in_reading_is_placed_by_the_signs_of_the_sheet():
    asked = question("layer_norm")
    answers = texts(key_of(asked))
    answers["N_var"][1][0] += "?"
    answers["N_hat"][0][1] += "?"
    said = feedback_on(asked, answers)
    assert "σ², row 2: " in said
    assert "N̂, row 1, column 2: " in said
    assert "N_" not in said
