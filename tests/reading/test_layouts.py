"""Right answers in every layout and format earn everything; with one entry changed, that entry is found and no other.

The answers are worked out with NumPy, and `layouts` writes them; neither knows how anything is read.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction
from functools import cache
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from layouts import LAYOUTS, TABLE, Answer, cells, code, numpy_prints, stream
from layouts import text as prose
from oracles import softmax
from sentences import refused_saying
from tables import tables_beside
from trials import some, tries

import symattn
from symattn.api import make_recipe
from symattn.derivation.mechanisms import mechanisms
from symattn.errors import InputError
from symattn.exact.rounding import approximate, decimal_text
from symattn.marking.marker import mark
from symattn.marking.submissions import read_submission
from symattn.marking.submissions.files import FORMS
from symattn.marking.submissions.names import Names
from symattn.page.document import Heading, all_blocks
from symattn.page.writers import FORMATS, markdown
from symattn.page.writers.characters import on_one_line
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.problems import problem_type
from symattn.teaching.question import StepAnswer
from symattn.teaching.sheets import sheets

SHEETS = tables_beside(__file__, "forms.toml")["sheets"]
PAPERS = TABLE["papers"]
NAMES = (
    "two queries", "self attention 2", "self attention in note-002", "multi head attention", "causal self attention",
)  # fmt: skip
WORDS = {"Q": "Queries", "K": "Keys", "V": "Values", "S": "Scores", "S'": "Scaled scores", "M": "Masked scores",
         "A": "Weights", "Z": "Output"}  # fmt: skip


@cache
def sheet(name):
    frozen = json.loads(SHEETS[name])
    kind = problem_type(frozen["type"])
    return kind.make(frozen)


def answer(step, values, head=0):
    return Answer(f"{step}_{head}", f"{WORDS[step]} head {head}", values) if head else Answer(step, WORDS[step], values)


@cache
def work(name):
    """The answers to a sheet (Vaswani et al. 2017, section 3.2), in its order."""
    frozen = json.loads(SHEETS[name])
    given = {
        key: np.array([[float(Fraction(x)) for x in row] for row in rows]) for key, rows in frozen["given"].items()
    }
    settings = frozen["settings"]
    found = []
    if "X" in given:
        Q, K, V = (given["X"] @ given[f"W_{letter}"] for letter in "QKV")
        found += [answer(letter, values) for letter, values in zip("QKV", (Q, K, V), strict=True)]
    else:
        Q, K, V = (given[letter] for letter in "QKV")
    heads = settings.get("heads", 1)
    outputs = []
    for head, (q, k, v) in enumerate(zip(*(np.split(m, heads, axis=1) for m in (Q, K, V)), strict=True), 1):
        number = head if heads > 1 else 0
        scores = q @ k.T
        scaled = scores / settings.get("scale", np.sqrt(q.shape[1]))
        found += [answer("S", scores, number), answer("S'", scaled, number)]
        if settings.get("mask") == "causal":
            scaled = np.where(np.tril(np.ones_like(scaled)) > 0, scaled, -np.inf)
            found.append(answer("M", scaled, number))
        weights = softmax(scaled)
        outputs.append(weights @ v)
        found += [answer("A", weights, number), answer("Z", outputs[-1], number)]
    if heads > 1:
        joined = np.hstack(outputs)
        found += [Answer("C", "Concatenation", joined), Answer("O", "Output", joined @ given["W_O"])]
    return tuple(found)


def attempted(name, file, content):
    form = FORMS.get(f".{file.rpartition('.')[2]}", "")
    return read_submission(content, [sheet(name)], form=form, source=file).attempts[0]


def marked(name, file, content):
    return mark(sheet(name), attempted(name, file, content))


def numbers(grid):
    return np.array([[approximate(x.value) for x in row] for row in grid.rows])


def accused(report):
    return any(event.kind != "rounding" for event in report.events)


def pairs(fast, every=1):
    """Every layout, or every so manyth, with one sheet; in the thorough profile each with all.  Some are fast."""
    thorough = not settings.default.derandomize
    for i, layout in enumerate(LAYOUTS):
        for k in range(len(NAMES)) if thorough else range(i % every == 0):
            marks = [] if k == 0 and i % fast == 0 else [pytest.mark.slow]
            yield pytest.param(layout, name := NAMES[(k - i) % len(NAMES)], id=f"{layout}-{name}", marks=marks)


@pytest.mark.parametrize(("layout", "name"), [*pairs(2)])
def test_what_is_right_earns_everything_in_every_layout(layout, name):
    """Whatever is read is what was written under that name, too: other numbers may be right as well."""
    attempt = attempted(name, *LAYOUTS[layout](work(name)))
    report = mark(sheet(name), attempt)
    assert (report.total, report.pending) == (report.available, False)
    for one in work(name):
        assert numbers(attempt.answers[one.sign]) == pytest.approx(one.values, abs=0.005)


@pytest.mark.parametrize("layout", ["notebook prints with names", "notebook prints f strings"])
def test_the_prime_of_a_printed_name_is_no_quotation_mark(layout):
    attempt = attempted("two queries", *LAYOUTS[layout](work("two queries")))
    for one in work("two queries"):
        assert numbers(attempt.answers[one.sign]) == pytest.approx(one.values, abs=0.005)


@pytest.mark.parametrize(("layout", "name"), [pair for pair in pairs(8, 4) if "first try" not in pair.id])
def test_one_wrong_entry_is_found_in_every_layout(layout, name):
    rng = Random(f"{layout} {name}")
    answers = list(work(name))
    k = rng.randrange(len(answers))
    values = answers[k].values.copy()
    i, j = rng.randrange(values.shape[0]), rng.randrange(values.shape[1])
    values[i, j] = values[i, j] + (0.05 if answers[k].places else 1) if np.isfinite(values[i, j]) else 0.0
    answers[k] = replace(answers[k], values=values)
    report = marked(name, *LAYOUTS[layout](answers))
    wrong = {(verdict.part, verdict.i, verdict.j) for verdict in report.verdicts if not verdict.accepted}
    assert (answers[k].sign, i, j) in wrong
    assert report.total < report.available


def answers_of(mechanism):
    """The answers to a drawn sheet, called by their signs, and by their words where these are no other's."""
    [one] = sheets(make_recipe(mechanism, seed=5), 1)
    wording = Wording(one.question.problem.derivation, one.question.problem.notation)
    steps = [wording.derivation[part.name] for part in one.question.parts]
    words = [wording.word(step) or step.name for step in steps]
    signs = [on_one_line(wording.name(step.name)) for step in steps]
    values = [np.array([[float(approximate(x)) for x in row] for row in step.result.rows]) for step in steps]
    called = [word if words.count(word) == 1 else f"{word} {sign}" for word, sign in zip(words, signs, strict=True)]
    return one.question, [*map(Answer, signs, called, values)]


@pytest.mark.covering(most=4, rest=3)
@pytest.mark.parametrize("mechanism", sorted(mechanisms()))
def test_right_work_of_every_mechanism_is_never_finished_too_low(mechanism):
    """Where names are not clear a person decides; no mistake is told that nobody made."""
    question, right = answers_of(mechanism)
    for layout in some(Random(mechanism).sample(PAPERS["words_and_signs"], 6), 2):
        file, content = LAYOUTS[layout](right)
        form = FORMS.get(f".{file.rpartition('.')[2]}", "")
        try:
            attempt = read_submission(content, [question], form=form, source=file).attempts[0]
        except InputError:
            continue
        report = mark(question, attempt)
        assert report.total == report.available or report.pending, layout
        assert not accused(report), layout


@pytest.mark.parametrize("heading", PAPERS["headings"])
def test_questions_of_a_paper_are_told_apart_by_their_headings(heading):
    names = ("two queries", "self attention 2")
    below = ("\n".join(f"{a.sign} = {numpy_prints(a)}" for a in work(name)) for name in names)
    text = "\n\n".join(f"{heading.format(k=k)}\n{answers}" for k, answers in enumerate(below, 1))
    found = read_submission(text, [sheet(name) for name in names])
    reports = [mark(sheet(name), attempt) for name, attempt in zip(names, found.attempts, strict=True)]
    assert [(report.total, report.pending) for report in reports] == [(report.available, False) for report in reports]


CONSOLES = ("console of r", "julia")
"""Here a name is what a program calls it: `Sp`, which nobody can know to be S′."""

OF_ALL_ANSWERS = ("steps said and printed", "places of lists from zero")
"""Of one answer alone, "Step 1: Values (V)" contradicts a sheet whose first step is another, and where "Row 0 (Query =
Token 0)" is not understood, nothing below it is for sure."""


@cache
def of_text():
    wrote = {
        name: write(work("two queries"))[0]
        for name, write in LAYOUTS.items()
        if name not in (*CONSOLES, *OF_ALL_ANSWERS)
    }
    return sorted(name for name, file in wrote.items() if file.endswith((".txt", ".md", ".org")))


@tries(20)
@given(st.sampled_from(NAMES), st.data())
def test_every_answer_may_be_written_in_another_layout(name, data):
    """Whatever stands above an answer and below it, it is read as it is."""
    answers = [(one,) for one in work(name)]
    layouts = [data.draw(st.sampled_from(of_text())) for _ in answers]
    texts = (LAYOUTS[layout](one)[1] for layout, one in zip(layouts, answers, strict=True))
    report = marked(name, "answers.md", "\n\n".join(str(text).strip("\n") for text in texts) + "\n")
    assert (report.total, report.pending) == (report.available, False), layouts


def in_a_row(gap, between="; ", around="[{}]"):
    return lambda rows: around.format(between.join(gap.join(row) for row in rows))


WRITTEN = (
    in_a_row(", ", "], [", "[[{}]]"),
    in_a_row(" "),
    in_a_row(", "),
    in_a_row(" ", " / "),
    in_a_row(" & ", r" \\ ", r"\begin{{bmatrix}} {} \end{{bmatrix}}"),
    in_a_row(" & ", r" \\ ", r"$\begin{{pmatrix}} {} \end{{pmatrix}}$"),
    in_a_row("  ", "\n", "\n{}"),
    in_a_row(", ", "\n", "\n{}"),
    in_a_row(" | ", " |\n| ", "\n\n| {} |\n"),
)
OF_MECHANISMS = (
    "multi head attention", "causal self attention", "rotary attention", "layer norm", "feed forward", "kv cache",
    "attention gradient", "recurrent network", "encoder", "language model",
)  # fmt: skip


def shown(x):
    return str(x) if isinstance(x, int) else decimal_text(x, 4)


@tries(24)
@given(st.sampled_from(OF_MECHANISMS), st.randoms(use_true_random=False))
def test_a_matrix_is_read_as_that_of_its_own_name_or_told(name, rng):
    """Every matrix of a sheet, each written in another manner: none is taken for another's, and none vanishes."""
    question, names = sheet(name), Names(sheet(name))
    values = question.problem.derivation.value
    asked = {part.name: values(part.answer.step) for part in question.parts if isinstance(part.answer, StepAnswer)}
    typed = {part: [list(map(shown, row)) for row in value.rows] for part, value in asked.items()}
    says, style = rng.choice((" = ", ": ", ":\n", " is ")), rng.choice(("{}", "({letter}) {}", "{number}. {}"))
    text = "".join(
        style.format(names.shown(part), letter=chr(96 + k), number=k)
        + says
        + rng.choice(WRITTEN)(rows)
        + rng.choice(("\n", "\n\n"))
        for k, (part, rows) in enumerate(typed.items(), 1)
    )
    attempt = read_submission(text, [question]).attempts[0]
    read = [part for part in typed if part in attempt.answers and part not in attempt.unread | attempt.doubts.keys()]
    assert 3 * len(read) > len(typed), text
    for part, rows in typed.items():
        known = attempt.answers.get(part)
        assert known or part in attempt.unread, (part, text)
        if part in read:
            assert [[x.text.replace("−", "-") for x in row] for row in known.rows] == rows, (part, text)


@tries(10)
@given(st.sampled_from(sorted(name for name in LAYOUTS if "notebook" in name)), st.data())
def test_cells_without_answers_change_nothing(layout, data):
    """Imports, shapes and checks stand in every notebook."""
    name = data.draw(st.sampled_from(NAMES))
    file, content = LAYOUTS[layout](work(name))
    book = json.loads(content)
    for source in data.draw(st.lists(st.sampled_from(PAPERS["cells"]), min_size=1, max_size=3)):
        shown = [stream("(2, 3)")] if "print" in source else []
        book["cells"].insert(data.draw(st.integers(0, 1)), code(source, *shown))
    report = marked(name, file, json.dumps(book))
    assert (report.total, accused(report)) == (report.available, False)


@pytest.mark.parametrize("source", ["helper()\nprint(A)", "for m in (S, A):\n    print(m)\nA"])
def test_what_a_function_or_a_loop_prints_has_no_variables_name(source):
    """Here the scores are all that can be seen, and A is none of them."""
    scores = next(one for one in work("two queries") if one.sign == "S")
    book = cells(code(source, stream(numpy_prints(scores))))
    try:
        found = read_submission(book, [sheet("two queries")], form="notebook").attempts[0]
    except InputError:
        return
    assert "A" not in found.answers or "A" in found.doubts


@pytest.mark.covering(rest=3)
@pytest.mark.parametrize("unit", PAPERS["long"])
@pytest.mark.parametrize("form", ["markdown", "latex", "notebook"])
def test_whatever_is_long_is_read_or_refused(unit, form):
    """Whatever is repeated is read to its end, or refused in a sentence."""
    text = unit * (2_000 // len(unit))
    if form == "notebook":
        text = cells(code("print(S)", stream(text)))
    try:
        report = mark(sheet("two queries"), read_submission(text, [sheet("two queries")], form=form).attempts[0])
    except InputError:
        return
    assert report.total < report.available


@pytest.mark.parametrize("form", ["markdown", "notebook"])
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("S = 12\n" * 57_150, "It has 400 thousand characters; answers have at most 300 thousand"),
        ("1. 2 3\n" * 20_000, "It has 20000 lines; answers have at most 6000"),
    ],
)
def test_far_too_long_a_text_is_refused(text, says, form):
    with refused_saying(says):
        read_submission(cells(prose(text)) if form == "notebook" else text, [sheet("two queries")], form=form)


@pytest.mark.parametrize("form", ["markdown", "notebook"])
@pytest.mark.parametrize("picture", ["![sketch]({})", "{}"])
def test_a_picture_in_the_midst_of_a_text_is_no_answer_and_is_told(picture, form):
    """As Colab and editors put them there: it is far longer than any answer."""
    picture = picture.format(f"data:image/png;base64,{'iVBORw0KGgo/+' * 40_000}==")
    _, typed = LAYOUTS["markdown headings with signs"](work("two queries"))
    text = f"{picture}\n\n{typed}"
    found = read_submission(cells(prose(text)) if form == "notebook" else text, [sheet("two queries")], form=form)
    report = mark(sheet("two queries"), found.attempts[0])
    assert report.total == report.available
    assert any("data:image/…" in remark.says for remark in found.attempts[0].remarks)


def test_sheets_whose_headings_are_plain_text_are_read_alike():
    """As they were printed until formulas stood in headings: nothing on them is taken for an answer."""
    [one] = sheets(make_recipe("self_attention", seed=7), 1)
    new = FORMATS["markdown"].write(one.worksheet)
    old = new
    for heading in (block for block in all_blocks(one.worksheet.blocks) if isinstance(block, Heading)):
        old = old.replace(markdown.in_line(heading.whole), markdown.in_line(heading.whole, formulas=False))
    assert "Queries Q = X₃ₓ₅" in old
    assert "Queries $Q = X_{3 \\times 5}" in new
    of_new, of_old = (symattn.check(one, re.sub(r"\|   (?=\|)", "| 1 ", page, count=9)) for page in (new, old))
    assert [r.verdicts for r in of_old.reports] == [r.verdicts for r in of_new.reports]
    assert of_old.loose == of_new.loose


@pytest.mark.parametrize("number", ["½", "e", "-inf", "7 (sum)"])
@pytest.mark.parametrize("between", [", ", " | ", "\t"])
def test_a_number_behind_the_entries_of_a_row_is_no_remark_on_it(number, between):
    """A tick there is one, and the row counts; a number may be an entry, and a person looks at it."""

    def report(behind):
        rows = (between.join((*row, behind)) for row in work("two queries")[0].texts)
        _, others = LAYOUTS["printed by numpy"](work("two queries")[1:])
        return marked("two queries", "answers.txt", "S =\n" + "\n".join(rows) + "\n\n" + others)

    assert report("✓").total == report("✓").available
    assert report(number).pending


UNKNOWN = (
    "foo{k} = {listed}",
    "foo{k} = (({bars}) :u)",
    "{sign} <<{bars}>>",
    "{sign}, I guess, comes to {bars}",
    "{word} ... {bars}",
    "what{k} =\n{rows}",
    "{sign} : {{% {bars} %}}",
    "{word}\n\nsee below\n\n{rows}",
)
"""How nobody writes a matrix, or by what name."""


def listed(rows):
    return f"[{', '.join(f'[{chr(44).join(row)}]' for row in rows)}]"


@pytest.mark.parametrize("write", UNKNOWN)
@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_matrix_that_cannot_be_read_is_never_implied(name, write):
    """Later lines imply what was left out, and never what was written and not read."""
    question, answers = sheet(name), work(name)
    for k, own in enumerate(answers[:-1]):
        (first, *row), *others = own.texts
        wrong = [[str(float(first) + 7), *row], *others]
        forms = {
            "listed": listed(wrong),
            "bars": " / ".join(map(" ".join, wrong)),
            "rows": "\n".join(map(" ".join, wrong)),
        }
        lines = [f"{other.sign} = {listed(other.texts)}" for other in answers]
        lines[k] = write.format(k=k, sign=own.sign, word=own.word, **forms)
        [attempt] = read_submission("\n\n".join(lines), [question]).attempts
        report = mark(question, attempt)
        assert report.total < report.available, lines


def test_a_wrong_row_of_two_numbers_that_may_be_a_number_and_its_answer_is_never_implied():
    """Token by token with a cache of keys and values; the row of scores of the second is a table below its name."""
    given = json.loads(SHEETS["kv cache"])["given"]
    X, *weights = (np.array(given[name], dtype=float) for name in ("X", "W_Q", "W_K", "W_V"))
    Q, K, V = (X @ W for W in weights)
    lines = []
    for i in range(len(X)):
        s = K[: i + 1] @ Q[i]
        a = np.exp(s / 2) / np.exp(s / 2).sum()
        rows = {"q": Q[i], "k": K[i], "v": V[i], "s": s, "s'": s / 2, "a": a, "z": a @ V[: i + 1]}
        lines += [f"{sign}_{i + 1} = [{', '.join(f'{x:.4f}' for x in row)}]" for sign, row in rows.items()]

    def report(at_s2):
        text = "\n\n".join(at_s2 if line.startswith("s_2 ") else line for line in lines)
        [attempt] = read_submission(text, [sheet("kv cache")]).attempts
        return mark(sheet("kv cache"), attempt)

    assert report(next(line for line in lines if line.startswith("s_2 "))).total == report("").available
    below = report("s_2\n╒═══╤═══╕\n│ 4 │ 2 │\n╘═══╧═══╛")
    assert below.total < below.available
