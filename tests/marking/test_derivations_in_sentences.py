"""Right scripts in which heads, tokens and steps follow one another as people write them down: read whole, or told."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripts import decimals, key_of
from trials import tries

from symattn.api import make_recipe
from symattn.derivation.derivation import StepName
from symattn.errors import InputError
from symattn.marking.attempt import Attempt, Grid
from symattn.marking.submissions import read_submission
from symattn.teaching.question import Question
from symattn.teaching.sheets import sheets

Rows = list[list[str]]
Answers = dict[str, Rows]


@cache
def question(mechanism: str) -> Question:
    (sheet,) = sheets(make_recipe(mechanism, seed=11), 1)
    return sheet.question


@cache
def key(mechanism: str) -> Answers:
    """The right matrices to three places."""
    return {name: [[decimals(3)(x) for x in row] for row in rows] for name, rows in key_of(question(mechanism)).items()}


def read(mechanism: str, text: str, form: str = "markdown") -> Attempt:
    return read_submission(text, [question(mechanism)], form=form).attempts[0]


def answers(attempt: Attempt) -> Answers:
    return {
        name: [[entry.text.strip("()") for entry in row] for row in said.rows]
        for name, said in attempt.answers.items()
        if isinstance(said, Grid)
    }


def brackets(rows: Rows) -> str:
    return "[" + ", ".join("[" + ", ".join(row) + "]" for row in rows) + "]"


def lists(rows: Rows) -> str:
    return ", ".join("(" + ", ".join(row) + ")" for row in rows)


def lines(rows: Rows) -> str:
    return "\n".join("  ".join(row) for row in rows)


WRITTEN: dict[str, Callable[[Rows], str]] = {
    "S = [[1, 2], [3, 4]]": lambda rows: f" = {brackets(rows)}",
    "rows below": lambda rows: f":\n{lines(rows)}",
    "(1, 2), (3, 4)": lambda rows: f": {lists(rows)}",
    "((1, 2), (3, 4))": lambda rows: f" = ({lists(rows)})",
    "(1 2) (3 4)": lambda rows: " = " + " ".join(f"({' '.join(row)})" for row in rows),
    "(1 2; 3 4)": lambda rows: f" = ({'; '.join(map(' '.join, rows))})",
    "{{1, 2}, {3, 4}}": lambda rows: " = {" + ", ".join("{" + ", ".join(row) + "}" for row in rows) + "}",
    "rows (1 2), (3 4)": lambda rows: ": rows " + ", ".join(f"({' '.join(row)})" for row in rows),
}


@pytest.mark.covering
@pytest.mark.parametrize("way", WRITTEN)
@pytest.mark.parametrize("head", ["Head {}", "**Head {}**", "## Head {}", "Head {}:", "Kopf {}"])
def test_what_stands_below_a_head_is_that_head_s(head: str, way: str) -> None:
    asked, text, of = key("multi_head_attention"), list[str](), 0
    for name, rows in asked.items():
        called = StepName.of(name)
        if called.head not in (None, of):
            of = called.head or 0
            text.append(head.format(of))
        text.append(called.stem + WRITTEN[way](rows))
    attempt = read("multi_head_attention", "\n\n".join(text))
    assert answers(attempt) == asked, attempt.remarks
    assert not attempt.remarks


WORDS = {"S": "scores", "S'": "scaled", "A": "weights", "Z": "output"}


@pytest.mark.covering
@pytest.mark.parametrize("head", ["head {}: ", "Head {} - "])
@pytest.mark.parametrize("between", [", ", "; ", " and "])
@pytest.mark.parametrize("sign", [" ", " = ", " are "])
def test_a_line_for_every_head(head: str, between: str, sign: str) -> None:
    asked = key("multi_head_attention")
    text = [f"{name} = {brackets(rows)}" for name, rows in asked.items() if StepName.of(name).head is None]
    for number in (1, 2):
        named = [(StepName.of(name).stem, rows) for name, rows in asked.items() if StepName.of(name).head == number]
        line = between.join(f"{WORDS[stem]}{sign}{brackets(rows)}" for stem, rows in named)
        text.append(head.format(number) + line)
    attempt = read("multi_head_attention", "\n".join(text))
    assert answers(attempt) == asked, attempt.remarks
    assert not attempt.remarks


def test_head_1_is_still_what_its_output_may_be_called() -> None:
    asked = key("multi_head_attention")
    attempt = read("multi_head_attention", f"head 1 = {brackets(asked['Z_1'])}\nhead 2:\n{lines(asked['Z_2'])}")
    assert answers(attempt) == {"Z_1": asked["Z_1"], "Z_2": asked["Z_2"]}


@pytest.mark.covering
@pytest.mark.parametrize("mechanism", ["self_attention", "kv_cache"])
@pytest.mark.parametrize(
    "token", ["Token {}: ", "token {}\n", "t={}: ", "t = {}, ", "**Token {}**\n\n", "Token {}:\n- "]
)
@pytest.mark.parametrize("between", [" ", ", ", "; "])
def test_a_line_for_every_token(mechanism: str, token: str, between: str) -> None:
    """Rows of whole matrices, or of what is asked token by token."""
    asked, text = key(mechanism), list[str]()
    for number in (1, 2, 3):
        if mechanism == "kv_cache":
            told = {StepName.of(n).stem: rows[0] for n, rows in asked.items() if StepName.of(n).token == number}
        else:
            told = {name: rows[number - 1] for name, rows in asked.items()}
        text.append(token.format(number) + between.join(f"{n.lower()}=({', '.join(row)})" for n, row in told.items()))
    attempt = read(mechanism, "\n".join(text))
    assert answers(attempt) == asked, attempt.remarks
    assert not attempt.remarks


FORMULAS = [
    {"S": "QK^T", "S'": "QK^T/2", "A": "softmax(QK^T/2)", "Z": "AV"},
    {"S": "Q @ K.T", "S'": "S / √d_k", "A": "softmax(S')", "Z": "A @ V"},
    {"S": "Q·Kᵀ", "S'": "S/2", "A": "softmax(S/2)", "Z": "A·V"},
    {"S": "QK^{\\top}", "S'": "\\frac{QK^\\top}{\\sqrt{d_k}}", "A": "\\mathrm{softmax}(S/\\sqrt{4})", "Z": "A V"},
    {"Q": "XW_Q", "K": "X W^K", "V": "X·W_V", "S": "Q*K^T", "Z": "A * V"},
]  # fmt: skip


@pytest.mark.parametrize("formulas", FORMULAS)
@pytest.mark.parametrize("sign", [" = ", ": ", "\n"])
def test_a_step_may_be_called_by_its_formula(formulas: dict[str, str], sign: str) -> None:
    asked = key("self_attention")
    text = "\n\n".join(f"{formulas.get(name, name)}{sign}{brackets(rows)}" for name, rows in asked.items())
    attempt = read("self_attention", text)
    assert answers(attempt) == asked, attempt.remarks
    assert not attempt.remarks


@pytest.mark.parametrize("write", ["q{}·k{} = ", "q_{} . k_{} = ", "q{}ᵀk{} = ", "k{1}·q{0} = ", "q_{}*k_{} = "])
@pytest.mark.parametrize("above", ["", "scores for token {}: ", "Token {}: "])
@pytest.mark.parametrize("between", [", ", "; ", "\n"])
def test_scores_as_products_of_tokens(write: str, above: str, between: str) -> None:
    asked = {"S": key("self_attention")["S"]}
    rows = [
        above.format(i) + between.join(write.format(i, j) + x for j, x in enumerate(row, 1))
        for i, row in enumerate(asked["S"], 1)
    ]
    attempt = read("self_attention", "\n".join(rows))
    assert answers(attempt) == asked, attempt.remarks


@pytest.mark.parametrize("arrow", ["->", "→", "=>", "⇒"])
def test_what_an_arrow_leads_to_is_the_row(arrow: str) -> None:
    asked = {"A": key("self_attention")["A"]}
    working = f"e^4 = 54.60, e^2 = 7.39, e^3 = 20.09, sum 82.07 {arrow} "
    text = "\n".join(f"{'softmax ' if i == 1 else ''}row {i}: {working}{', '.join(row)}"
                     for i, row in enumerate(asked["A"], 1))  # fmt: skip
    attempt = read("self_attention", text)
    assert answers(attempt) == asked, attempt.remarks


@pytest.mark.parametrize("name", ["S", "scores", "S row 1"])
def test_a_row_that_leads_to_another_is_left_to_a_person(name: str) -> None:
    text = f"{name}: 8, 4, 6 -> 4, 2, 3\n\nsoftmax: so 0.67, then 0.09, the rest 0.24\n\nV: (2, 3), (2, -1), (-1, 2)"
    attempt = read("self_attention", text)
    assert "S" not in attempt.answers
    assert "A" not in attempt.answers
    assert {"S", "A"} <= set(attempt.unread)


def test_a_sentence_that_goes_on_behind_numbers_is_told() -> None:
    attempt = read("layer_norm", "variances: 4, 9, 25 so the deviations are 2, 3, 5")
    assert answers(attempt) == {"N_var": [["4"], ["9"], ["25"]]}
    assert ["so the deviations are 2, 3, 5" in remark.says for remark in attempt.remarks] == [True]


MECHANISMS = ["self_attention", "causal_self_attention", "multi_head_attention", "kv_cache", "layer_norm",
              "feed_forward", "attention_gradient"]  # fmt: skip
LISTS: list[Callable[[Rows], str]] = [
    brackets,
    lists,
    lambda rows: "; ".join(map(" ".join, rows)),
    lambda rows: " / ".join(map(" ".join, rows)),
    lambda rows: "rows " + " and ".join(map(", ".join, rows)),
]
BEFORE = ["", "", "so ", "then ", "I get ", "this gives ", "because of that "]
BEHIND = [
    "",
    "",
    " as we saw",
    " (checked)",
    ", I think",
    " that was easy",
    ", + b = 3 4",
    " -> ok",
]


@tries(15)
@given(st.data())
def test_no_sentence_makes_a_right_answer_wrong(data: st.DataObject) -> None:
    """Whatever stands between right answers, each of them is read as it is, or left to a person."""
    mechanism = data.draw(st.sampled_from(MECHANISMS))
    asked, text = key(mechanism), ""
    for name, rows in asked.items():
        called = StepName.of(name)
        if called.head or called.token:
            text += f"\n{'Head' if called.head else 'Token'} {called.head or called.token}: "
        sign = data.draw(st.sampled_from([" = ", ": ", " is ", " are "]))
        below = f"{sign.rstrip()}\n{lines(rows)}" if text.endswith("\n") else sign + brackets(rows)
        said = data.draw(st.sampled_from([below, *(sign + write(rows) for write in LISTS)]))
        text += data.draw(st.sampled_from(BEFORE)) + called.stem + said
        text += data.draw(st.sampled_from(BEHIND)) if "\n" not in said else ""
        text += data.draw(st.sampled_from(["\n", "\n\n", ", ", "; ", ". "])) if "\n" not in said else "\n"
    try:
        attempt = read(mechanism, text)
    except InputError:
        return  # nothing could be read at all
    for name, found in answers(attempt).items():
        assert [len(row) for row in found] == [len(row) for row in asked[name]], (name, text)
        assert all(x in ("", y) for one, other in zip(found, asked[name], strict=True)
                   for x, y in zip(one, other, strict=True)), (name, text)  # fmt: skip
        assert all(map(all, found)) or attempt.unread, (name, text)
    assert set(answers(attempt)) == set(asked) or attempt.unread, text


def shown(rows: Rows) -> str:
    """As NumPy shows it."""
    return repr(np.array([[float(x) for x in row] for row in rows]))


SESSIONS: dict[str, Callable[[int, str, str], str]] = {
    "Python": lambda n, name, value: f">>> {name}\n{value}",
    "Python, printed": lambda n, name, value: f">>> print({name})\n{value}",
    "Python, rounded": lambda n, name, value: f">>> import numpy as np\n>>> np.round({name}, 3)\n{value}",
    "Python, computed before": lambda n, name, value: (
        f">>> {name} = compute(\n...     0)\n>>> {name}.round(3)\n{value}"
    ),
    "IPython": lambda n, name, value: f"In [{n}]: {name}\nOut[{n}]: \n{value}",
    "IPython, beside": lambda n, name, value: f"In [{n}]: {name}\nOut[{n}]: {value}",
}


@pytest.mark.parametrize("form", ["", "markdown"])
@pytest.mark.parametrize("way", SESSIONS)
def test_a_session_at_pythons_prompt(way: str, form: str) -> None:
    asked = key("self_attention")
    text = "\n".join(SESSIONS[way](n, name, shown(rows)) for n, (name, rows) in enumerate(asked.items(), 1)
                     if name != "S'")  # fmt: skip
    attempt = read("self_attention", text, form)
    found = {name: np.array(rows, float).tolist() for name, rows in answers(attempt).items()}
    assert found == {name: np.array(rows, float).tolist() for name, rows in asked.items() if name != "S'"}
    assert not attempt.remarks


def test_numbers_typed_at_the_prompt_count_and_words_are_told() -> None:
    asked = key("self_attention")["S"]
    text = f">>> S = np.array({brackets(asked)})\n>>> # I am not sure of A\n>>> that is all I know"
    attempt = read("self_attention", text)
    assert answers(attempt) == {"S": asked}
    assert ["I am not sure of A / that is all I know" in remark.says for remark in attempt.remarks] == [True]


def test_what_is_computed_and_never_shown_is_told() -> None:
    attempt = read("self_attention", f">>> Q\n{shown(key('self_attention')['Q'])}\n>>> S = Q @ K.T / 2")
    assert set(answers(attempt)) == {"Q"}
    assert ["S = Q @ K.T / 2" in remark.says for remark in attempt.remarks] == [True]
