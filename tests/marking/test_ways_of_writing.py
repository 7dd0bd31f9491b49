"""Right answers in ways of writing that were once read as something else: read as they stand, or told."""

from __future__ import annotations

import json
import re
from functools import cache
from xml.sax.saxutils import quoteattr

import numpy as np
import pytest
from scripts import decimals, key_of, marked

import symattn
from symattn.api import make_recipe
from symattn.derivation.mechanisms import mechanisms
from symattn.errors import InputError
from symattn.marking.attempt import Attempt, Grid
from symattn.marking.submissions import entry, read_submission
from symattn.page.writers import html
from symattn.page.writers import text as plain
from symattn.teaching.explanation import question_document
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.question import Question
from symattn.teaching.sheets import sheets

Rows = list[list[str]]


@cache
def question(mechanism: str, notation: str = "standard", seed: int = 1) -> Question:
    (sheet,) = sheets(make_recipe(mechanism, seed=seed, notation=notation), 1)
    return sheet.question


def key(asked: Question) -> dict[str, Rows]:
    """The right matrices to four places, all of them with all four: NumPy's 1. and Germany's 1,0000 come of these."""
    return {name: [[decimals(4)(x) for x in row] for row in rows] for name, rows in key_of(asked).items()}


def read(asked: Question, text: str, form: str = "markdown") -> Attempt:
    return read_submission(text, [asked], form=form).attempts[0]


def is_key(asked: Question, attempt: Attempt) -> bool:
    """Whether all of the key was read, as decimals of any form."""
    return {name: [list(map(_plain, row)) for row in rows] for name, rows in key(asked).items()} == {
        name: [[_plain(x.text) for x in row] for row in said.rows]
        for name, said in attempt.answers.items()
        if isinstance(said, Grid)
    }


def brackets(rows: Rows) -> str:
    return "[" + ", ".join("[" + ", ".join(row) + "]" for row in rows) + "]"


def _plain(text: str) -> str:
    number = text.replace(",", ".").replace("∞", "inf").replace("−", "-").strip("()")
    return f"{float(number):.4f}"


LONG = [pytest.param(name, marks=pytest.mark.slow) for name in ("encoder", "multi_head_gradient")]

# ------------------------------------------------------------------------------------ decimal commas


@pytest.mark.parametrize(
    "write",
    [
        lambda rows: "\n".join("    " + "  ".join(row) for row in rows),
        lambda rows: "\n".join(f"| {'  '.join(row)} |" for row in rows),
        lambda rows: "\n".join(" ".join(row) for row in rows),
        lambda rows: "[" + "; ".join(" ".join(row) for row in rows) + "]",
        lambda rows: "(" + "; ".join("  ".join(row) for row in rows) + ")",
        lambda rows: "[[" + "]\n [".join("  ".join(row) for row in rows) + "]]",
    ],
    ids=["indented", "bars", "plain", "brackets", "round", "numpy"],
)
@pytest.mark.parametrize("mechanism", ["self_attention", *LONG])
def test_decimal_commas_between_spaces(mechanism, write):
    """Also where a whole number stands beside: -2,6  3 is no row of -2 and 6 3."""
    asked = question(mechanism)
    rows = {
        name: [[x.rstrip("0").rstrip(".").replace(".", ",") for x in row] for row in m]
        for name, m in key(asked).items()
    }
    text = "\n\n".join(f"{name} =\n{write(m)}" for name, m in rows.items())
    attempt = read(asked, text)
    assert is_key(asked, attempt), attempt.remarks


@pytest.mark.parametrize("cells", ["(9.0*10^(-2)  -9.0*10^(-2); 1  2)", "S = 1,5  -2,5  and more"])
def test_entries_that_cannot_be_told_apart_are_left_to_a_person(cells):
    asked = question("self_attention")
    attempt = read(asked, f"Q = [[1, 2, 0, 0], [-1, 0, 1, 1], [2, 0, 0, 2]]\n\nS = {cells}")
    assert "S" not in attempt.answers
    assert "S" in attempt.unread


@pytest.mark.parametrize("says", ["For {} I get {}.", "My {} is {}", "So the {} are {}", "{} {}"])
@pytest.mark.parametrize("mechanism", ["layer_norm", "self_attention", LONG[0]])
def test_rows_in_brackets_with_semicolons_behind_a_name(says, mechanism):
    """Of a column, no line of words is an entry: "For σ² I get (9)" was one of the means above it."""
    asked = question(mechanism)
    text = "\n".join(says.format(name, "; ".join(f"({', '.join(row)})" for row in m)) for name, m in key(asked).items())
    attempt = read(asked, text)
    assert is_key(asked, attempt), attempt.remarks


def in_rows(rows: Rows) -> str:
    return ", ".join(f"row {i}: {' '.join(row)}" for i, row in enumerate(rows, 1))


def in_round(rows: Rows) -> str:
    return "(" + "; ".join(", ".join(row) for row in rows) + ")"


def in_curly(rows: Rows) -> str:
    return "{" + ", ".join("{" + ", ".join(row) + "}" for row in rows) + "}"


def in_latex(rows: Rows) -> str:
    return r"\begin{pmatrix}" + r" \\ ".join(" & ".join(row) for row in rows) + r"\end{pmatrix}"


WRITTEN = [in_rows, in_round, in_curly, in_latex, lambda rows: " / ".join(map(" ".join, rows))]


@pytest.mark.covering(most=7, product=False)
@pytest.mark.parametrize("mechanism", ["layer_norm", "encoder", "self_attention", "cross_entropy_gradient"])
@pytest.mark.parametrize(
    "says", ["{} = {}", "{}: {}", "For {} I get {}.", "{}\n\n{}", "Then {} = f(X) = {}", "${} = {}$"]
)
@pytest.mark.parametrize("write", WRITTEN)
def test_a_matrix_on_one_line(write, says, mechanism):
    """All of it is read, or told and left to a person; never is a part of it a matrix of another shape."""
    asked = question(mechanism)
    lines = [says.format(name, write(m)) for name, m in key(asked).items()]
    attempt = read(asked, "Q: see my sheet\n\nX = [[1]]\n\n" + "\n\n".join(lines))
    report = marked(asked, attempt)
    assert not [event for event in report.events if event.kind != "rounding"], attempt.remarks
    assert report.total == report.available or report.pending
    if write is not in_latex and not says.startswith(("Then", "{}\n")) and mechanism != "encoder":
        assert is_key(asked, attempt), attempt.remarks


@pytest.mark.parametrize("strange", ["0.25?!x", "1.2.3", "see above", "0.5, rounded"])
def test_a_mark_that_waits_for_an_entry_that_cannot_be_read_is_pending(strange):
    """In the last line, where nothing shows what was meant."""
    asked = question("self_attention")
    rows = {**key(asked), "Z": [[strange, *key(asked)["Z"][0][1:]], *key(asked)["Z"][1:]]}
    tables = [
        f"{name} =\n\n|{' |' * len(m[0])}\n|{'---|' * len(m[0])}\n" + "\n".join(f"| {' | '.join(row)} |" for row in m)
        for name, m in rows.items()
    ]
    report = marked(asked, read(asked, "\n\n".join(tables)))
    assert [(given.parts, given.pending) for given in report.marks if given.given < given.of] == [(("Z",), True)]


BESIDE_BRACKETS = ["{0}, [{1}]", "{0}, [{1}], {2}", "[{0}; {1}; {2}] 7, 8", "[{0}; {1}; {2}] -7", "7 8 [{0}; {1}; {2}]"]


@pytest.mark.parametrize("cells", BESIDE_BRACKETS)
def test_no_number_beside_brackets_is_lost(cells):
    asked = question("layer_norm")
    means = [x for (x,) in key(asked)["N_mean"]]
    attempt = read(asked, f"N_mean: {cells.format(*means)}\n\nN_var = [[9], [9], [9]]")
    assert "N_mean" in attempt.unread


# ------------------------------------------------------------------------------------ what machines print


def numpys(rows: Rows) -> Rows:
    return [[np.array2string(np.array(float(x))) for x in row] for row in rows]


@pytest.mark.parametrize("between", [", ", "; ", ","])
def test_entries_with_numpys_point_behind_whole_numbers(between):
    """S_11 = 1., S_12 = 0.2 are two entries, and not one whose last value counts."""
    asked = question("weights_given_gradient")
    text = "\n\n".join(
        between.join(f"{name}_{i}{j} = {x}" for i, row in enumerate(numpys(rows), 1) for j, x in enumerate(row, 1))
        for name, rows in key(asked).items()
    )
    attempt = read(asked, text)
    assert is_key(asked, attempt) or (attempt.unread and not attempt.answers)
    assert is_key(asked, attempt) or between == ","


@pytest.mark.parametrize("sign", [pytest.param("dW_Q", marks=pytest.mark.slow), "dW^Q"])
def test_entries_of_what_has_a_sign_of_its_own(sign):
    asked = question("cross_attention_gradient")
    rows = key(asked)["dW_Q"]
    text = "; ".join(f"{sign}_{i}{j} = {x}" for i, row in enumerate(rows, 1) for j, x in enumerate(row, 1))
    attempt = read(asked, text)
    found = attempt.answers.get("dW_Q")
    assert isinstance(found, Grid)
    assert [[x.text for x in row] for row in found.rows] == rows


@pytest.mark.parametrize(
    ("text", "value"), [("1.", 1), ("(1.)", 1), ("2.e+00", 2), ("-5.e-01", -0.5), ("1./(1.+1.)", 0.5), ("[3.]", 3)]
)
def test_numbers_with_nothing_behind_their_point(text, value):
    found = entry(text.strip("[]"))
    assert found.value == value, found.complaint


# ------------------------------------------------------------------------------------ names


@pytest.mark.parametrize(
    "mechanism",
    [
        "causal_self_attention",
        "cross_attention_gradient",
        pytest.param("encoder_block_gradient", marks=pytest.mark.slow),
    ],
)
def test_parts_with_one_sign_are_answered_in_their_order(mechanism):
    """Note 003 calls the weighted values of every token [v̂₁; v̂₂; v̂₃], and has dK for two matrices."""
    asked = question(mechanism, "note-003")
    wording = Wording(asked.problem.derivation, asked.problem.notation)
    signs = {name: plain.on_one_line(wording.name(name)) for name in key(asked)}
    assert len(set(signs.values())) < len(signs)
    text = "\n\n".join(f"{signs[name]} = {brackets(rows)}" for name, rows in key(asked).items())
    attempt = read(asked, text)
    assert is_key(asked, attempt), attempt.remarks
    assert not attempt.remarks


def test_after_the_last_part_with_a_sign_nobody_knows_which_is_meant():
    asked = question("causal_self_attention", "note-003")
    rows = "[[1, 2], [3, 4], [5, 6]]"
    attempt = read(asked, f"Output 3 = [[1, 2]]\n\n[v̂₁; v̂₂; v̂₃] = {rows}")
    assert not {name for name in attempt.answers if name.startswith("weighted")}
    assert "weighted.1" in attempt.unread


@pytest.mark.parametrize("sign", ["exp(S')", "e^S'", "e^{S'}", "sqrt(S')", "ln(S')", "\\exp(S')", "sum(S')"])
@pytest.mark.parametrize("before", ["S' = {}\n\n", "S':\n\n", ""])
def test_a_function_of_a_step_is_not_the_step(sign, before):
    asked = question("self_attention")
    rows = brackets(key(asked)["S'"])
    other = "[[2, 3, 4], [5, 6, 7], [8, 9, 1]]"
    attempt = read(asked, f"Q = {brackets(key(asked)['Q'])}\n\n{before.format(rows)}{sign} = {other}")
    if "{}" in before:
        assert [[x.text for x in row] for row in attempt.answers["S'"].rows] == key(asked)["S'"]
    else:
        assert "S'" not in attempt.answers
        assert "S'" in attempt.unread


@pytest.mark.parametrize("says", ["K^T = [[1, 2, 0], [7, 1, 1]]", "Kᵀ = [[1, 2, 0], [7, 1, 1]]"])
def test_a_transpose_is_not_what_stands_above_it(says):
    attempt = read(
        question("self_attention"), f"Q = [[1, 2, 0, 0], [-1, 0, 1, 1], [2, 0, 0, 2]]\n\nS: see below\n\n{says}"
    )
    assert set(attempt.answers) == {"Q"}


@pytest.mark.parametrize("says", ["On obtient {}", "Also ist {}", "Damit ergibt sich {}", "Se obtiene {}", "Donc {}"])
def test_sentences_in_other_languages_before_a_name(says):
    asked = question("feed_forward_gradient")
    text = "\n".join(says.format(f"{name} = {brackets(rows)}") for name, rows in key(asked).items())
    attempt = read(asked, text)
    assert is_key(asked, attempt), attempt.remarks


@pytest.mark.parametrize("rows", ["[[1, -1, 2, 0], [0, 0, 0, 0]]", "[[1, 2]]"])
def test_is_between_a_name_and_a_matrix_of_any_shape(rows):
    attempt = read(question("self_attention"), f"So Q is {rows}")
    assert "Q" in attempt.answers


@pytest.mark.parametrize("row", ["Row {}: {}", "row {} = {}", "Zeile {}: {}"])
def test_a_column_row_by_row(row):
    asked = question("layer_norm", "note-003")
    text = "\n\n".join(
        f"{sign}:\n" + "\n".join(row.format(i, x) for i, (x,) in enumerate(key(asked)[name], 1))
        for sign, name in (("μ", "N_mean"), ("σ²", "N_var"))
    )
    attempt = read(asked, text)
    found = {name: [[x.text for x in line] for line in attempt.answers[name].rows] for name in attempt.answers}
    assert found == {name: key(asked)[name] for name in ("N_mean", "N_var")}, attempt.remarks


# ------------------------------------------------------------------------------------ files


@pytest.mark.covering(most=4)
@pytest.mark.parametrize("mechanism", sorted(set(mechanisms()) - {"custom"}))
def test_a_sheet_filled_in_in_a_browser(mechanism):
    """Of every mechanism, so that every sign that a sheet prints is found again: N̂ is not N."""
    asked = question(mechanism)
    written = iter([x for rows in key(asked).values() for row in rows for x in row])
    page = html.write(question_document(asked, "", "symattn worksheet x"))
    boxes = iter(re.findall(r'<input type="text"[^>]*>', page))
    text = re.sub(
        r'<input type="text"',
        lambda found: found[0] + ("" if 'class="line"' in next(boxes) else f" value={quoteattr(next(written))}"),
        page,
    )
    report = marked(asked, read(asked, text, "html"))
    assert not [event for event in report.events if event.kind != "rounding"]
    assert report.total == report.available


def cells(*sources: str) -> str:
    found = [
        {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": x} for x in sources
    ]
    return json.dumps({"cells": found, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def test_matrices_in_the_code_of_a_notebook_by_the_names_that_people_use():
    asked = question("recurrent_network")
    attempt = read(asked, cells("h1 = [[0, 4]]", "H_2 = np.array([[1, 3]])", "h_3 = np.array([6, 1])"), "notebook")
    assert {"H.1", "H.2", "H.3"} == set(attempt.answers)


def test_a_matrix_in_code_that_belongs_to_nothing_is_told():
    asked = question("recurrent_network")
    attempt = read(
        asked, cells("H_1 = [[0, 4]]", "step_two = np.array([[1, 3]])", "X = np.array([[1, 2], [3, 4]])"), "notebook"
    )
    assert ["step_two" in remark.says for remark in attempt.remarks] == [True]
    assert "H.2" in attempt.unread


# ------------------------------------------------------------------------------------ masks, shapes, and nothing


@pytest.mark.covering
@pytest.mark.parametrize("cross", ["x", "X", "×", "✗", "*", "/", "masked"])
@pytest.mark.parametrize(
    "write",
    [
        brackets,
        lambda rows: "\n" + "\n".join(" ".join(row) for row in rows),
        lambda rows: "\n\n| | | |\n|---|---|---|\n" + "\n".join(f"| {' | '.join(row)} |" for row in rows),
    ],
)
def test_a_cross_hides_a_score(cross, write):
    """1 x x in the masked scores; in any other matrix a cross is no number."""
    if cross == "masked" and write is brackets:
        pytest.skip("words in brackets are told")
    asked = question("causal_self_attention")
    rows = [[cross if "∞" in x else x for x in row] for row in key(asked)["M"]]
    others = "\n\n".join(f"{name} = {brackets(m)}" for name, m in key(asked).items() if name in "QKVSS'")
    attempt = read(asked, f"{others}\n\nM = {write(rows)}")
    assert not attempt.remarks
    assert not [v for v in marked(asked, attempt).verdicts if v.part == "M" and v.state != "correct"]
    elsewhere = read(asked, f"{others}\n\nA = {write(rows)}")
    assert elsewhere.remarks
    assert not [
        v for v in marked(asked, elsewhere).verdicts if v.part == "A" and v.written.text == cross and v.accepted
    ]


@pytest.mark.parametrize(("text", "earned"), [("Q = 7", 0), ("Q = [[7, 7, 7, 7], [7, 7, 7, 7], [7, 7, 7, 7]]", 1)])
def test_one_number_alone_shows_no_shape(text, earned):
    asked = question("self_attention")
    report = marked(asked, read(asked, text))
    assert [given.given for given in report.marks if given.code == "B"] == [earned]


@pytest.mark.parametrize("text", ["Q = [[1, 2", "## Q\n\n7", "Scores: see my other sheet"])
def test_of_a_file_without_an_answer_it_is_told_what_could_not_be_read(text):
    with pytest.raises(InputError, match=re.escape(repr(text.removeprefix("## Q\n\n")))):
        read(question("self_attention"), text)


# ------------------------------------------------------------------------------------ roundings


@pytest.mark.parametrize(("at", "right"), [((1, 1), True), ((2, 1), False)])
def test_a_whole_number_among_decimals_has_the_places_of_its_own_matrix(at, right):
    """0 beside 1.82 is 0.00, though the same number has six places in another line: 0.004277, and not 0.271649."""
    asked = question("self_attention", "note-003", 2)
    rows = {name: [[decimals(6)(x) for x in row] for row in m] for name, m in key_of(asked).items()}
    exact = float(rows["Z"][at[0]][at[1]])
    assert (abs(exact) <= 0.005) is right
    rows["Z"] = [
        ["0" if (i, j) == at else f"{float(x):.2f}" for j, x in enumerate(row)] for i, row in enumerate(rows["Z"])
    ]
    text = "\n\n".join(f"{name} = {brackets(m)}" for name, m in rows.items())
    report = marked(asked, read(asked, text))
    assert report.of("Z")[at].accepted is right


@pytest.mark.parametrize("off", ["-1.9", "2.1"])
def test_a_whole_number_is_never_cut_off_to_a_tenth(off):
    """What is worked out from whole numbers alone has no digits to be cut off."""
    d = symattn.derive("self_attention", X=[[1], [-1]], W_Q=[[2]], W_K=[[1]], W_V=[[1]], scale="none")
    page = {name: [[str(x) for x in row] for row in d[name].result.rows] for name in ("Q", "K", "V", "S", "A", "Z")}
    assert page["Q"] == [["2"], ["-2"]]
    assert symattn.check(d, page).right
    page["Q"] = [["2"], [off]] if off.startswith("-") else [[off], ["-2"]]
    assert not symattn.check(d, page).right


@pytest.mark.parametrize("name", ["R1^1", "N1_mean^1", "N1^1"])
def test_numbers_in_a_name_are_no_numbers_beside_it(name):
    asked = question("encoder")
    rows = key(asked)[name]
    attempt = read(asked, f"{name} = tensor({brackets(rows)})".replace("], [", "],\n        ["))
    assert [[x.text for x in row] for row in attempt.answers[name].rows] == rows


# ------------------------------------------------------------------------------------ rows, working, headings


@pytest.mark.parametrize("mechanism", ["self_attention", "multi_head_attention", "feed_forward_gradient"])
def test_working_within_brackets(mechanism):
    """[[1·2 + 0·1 = 2, …], …] has the results for its entries."""
    asked = question(mechanism)
    rows = {
        name: [[f"({x})·1 + 0·2 = {x}" if "∞" not in x else x for x in row] for row in m]
        for name, m in key(asked).items()
    }
    attempt = read(asked, "\n\n".join(f"**{name}**\n\n{brackets(m)}" for name, m in rows.items()))
    assert not attempt.remarks
    assert marked(asked, attempt).total == marked(asked, attempt).available


@pytest.mark.parametrize("number", ["0,5294", "-2,0000", "(0,5294)", "(0,0414)", "(-3,0000E0)"])
def test_a_decimal_comma_in_brackets_said_of_one_token(number):
    asked = question("layer_norm")
    text = "\n\n".join(f"Token {t}:\nN_mean = {number}\nN_hat = (0,5; 1,5; -0,5; 1)" for t in (1, 2, 3))
    attempt = read(asked, text)
    found = [[x.text for x in row] for row in attempt.answers["N_mean"].rows]
    assert found in ([[number]] * 3, [[number.strip("()")]] * 3)
    assert len(attempt.answers["N_hat"].rows) == 3


def test_a_single_decimal_in_brackets_is_no_row():
    attempt = read(question("language_model"), "loss = (0,4076), (2,7586)\n\nmean_loss = (1,5831)")
    assert [[x.text.strip("()") for x in row] for row in attempt.answers["mean_loss"].rows] == [["1,5831"]]


@pytest.mark.parametrize(
    "head",
    ["(d) {}:", "d) {} =", "Schritt 22 ({}):", "Step 22 ({}):", "22) {} =", "### {}", "{} (2x1):", "**{}** (2 × 1)"],
)
@pytest.mark.parametrize("name", ["Z_1", "dX_K"])
def test_what_stands_before_a_name_is_no_part_of_it(head, name):
    """(d) Z_1 is no gradient of it, and dX_K in brackets no size d times K."""
    asked = question("multi_head_gradient")
    rows = key(asked)[name]
    attempt = read(asked, head.format(name) + "\n" + "\n".join("  ".join(row) for row in rows))
    assert {part: [[x.text for x in row] for row in said.rows] for part, said in attempt.answers.items()} == {
        name: rows
    }
    assert not attempt.more


def test_marks_for_working_that_was_not_read_are_left_to_a_person():
    asked = question("attention_gradient")
    rows = key(asked)
    last = list(rows)[-1]
    text = f"my rows above are (2, -2) and then so on, as in class, 1 2 3 or so\n\n{last} = {brackets(rows[last])}"
    report = marked(asked, read(asked, text))
    assert [given for given in report.marks if given.given < given.of]
    assert all(given.pending for given in report.marks if given.given < given.of)


@pytest.mark.parametrize("first", ["0,100000", "0,5", "-3"])
def test_a_column_in_brackets_line_by_line(first):
    """Its first line is no column of two: [ 0,5 ] and below it [ 1,5 ]."""
    attempt = read(
        question("multi_head_gradient"), f"Z_1 = [ {first} ]\n      [ -1,1 ]\n\nZ_2 = [ -0,7 ]\n      [ 0,1 ]"
    )
    found = {name: [[x.text for x in row] for row in said.rows] for name, said in attempt.answers.items()}
    assert found == {"Z_1": [[first], ["-1,1"]], "Z_2": [["-0,7"], ["0,1"]]}
