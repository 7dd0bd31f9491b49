"""Names of steps in words, in programs and in other languages (names.toml).

`called` are ways to call a step of a sheet, by the step; `other` are names of which none is a step's.
"""

import pytest
from tables import tables_beside
from test_forms import sheet

from symattn.exact import decimal_text
from symattn.marking.marker import mark
from symattn.marking.submissions import read_submission
from symattn.marking.submissions.names import WORDS, Names

TABLES = tables_beside(__file__)
CALLED = [
    (table["sheet"], step, way)
    for table in TABLES["called"]
    for step, ways in table.items()
    if step != "sheet"
    for way in ways
]
OTHERS = [(table["sheet"], name) for table in TABLES["other"] for name in table["names"]]


@pytest.mark.parametrize(("name", "step", "way"), CALLED, ids=map(str, CALLED))
def test_a_step_is_found_by_what_people_call_it(name, step, way):
    question = sheet(name)
    rows = question.problem.derivation.value(step).rows
    matrix = ", ".join(f"[{', '.join(decimal_text(x, 4) for x in row)}]" for row in rows)
    [attempt] = read_submission(f"{way} = [{matrix}]", [question]).attempts
    assert {*attempt.answers, *attempt.more} == {step}
    assert not attempt.doubts


@pytest.mark.parametrize(("name", "way"), OTHERS, ids=map(str, OTHERS))
def test_what_is_called_otherwise_is_no_step(name, way):
    assert Names(sheet(name)).find(way) == ""


def test_no_word_for_a_step_is_found_as_another_one_in_any_number_and_order():
    """Whatever is read by the meaning of its words: plurals, words in other orders and as programs join them."""
    for table in TABLES["called"]:
        names = Names(sheet(table["sheet"]))
        stems = {step.name: step.name.split("_")[0] for step in names.steps}
        for stem, words in WORDS.items():
            for word in words:
                for way in (word, f"{word}s", "_".join(reversed(word.split())), f"{word} matrix"):
                    found = names.find(way)
                    assert not found or found == names.find(word) or stems[found] == stem, (way, found)


# ------------------------------------------------------------------------------------ whole matrices, and own numbers

BELOW = (
    "{name} = {listed}",
    "### {name}\n\n{rows}",
    "### 2. {name}\n\n{rows}",
    "**{name}**\n{rows}",
    "{name}:\n{rows}",
)


def cells(lines):
    listed = ", ".join(f"[{', '.join(row)}]" for row in lines)
    return {"listed": f"[{listed}]", "rows": "\n".join(map(" ".join, lines))}


@pytest.mark.parametrize("write", BELOW)
@pytest.mark.parametrize("name", ["self attention in note-003", "causal self attention in note-003"])
def test_a_whole_matrix_answers_the_lines_of_all_tokens(name, write):
    """Where a step is asked token by token, as in notes 002 and 003, and somebody writes A as one."""
    question = sheet(name)
    d, names = question.problem.derivation, Names(question)
    for role, words in (("S", "Raw scores"), ("S'", "scaled_scores"), ("A", "Attention weights"), ("A", "attn_probs")):
        lines = [[decimal_text(x, 4) for x in d.value(line)] for line in names.pieces(role)]
        assert len(lines) > 1
        matrix = lines if d.orientation == "rows" else [*zip(*lines, strict=True)]
        text = "I did it by hand\n\n" + write.format(name=words, **cells(matrix))
        [attempt] = read_submission(text, [question]).attempts
        read = {line: [entry.text for *_, entry in grid.cells()] for line, grid in attempt.answers.items()}
        assert read == dict(zip(names.pieces(role), lines, strict=True))


@pytest.mark.parametrize("write", ["### {k}. {name}\n\n{rows}", "**{k}) {name}**\n\n{rows}", "{k}. {name}:\n{rows}"])
@pytest.mark.parametrize("first", range(4))
def test_headings_with_numbers_of_ones_own_say_by_their_words_what_stands_below(first, write):
    question = sheet("self attention")
    words = ("Queries", "Keys", "Values", "Raw scores", "Scaled scores", "Attention weights", "Output")
    text = ""
    for k, (part, name) in enumerate(zip(question.parts, words, strict=True), first):
        rows = question.problem.derivation.value(part.answer.step).rows
        text += write.format(k=k, name=name, **cells([[decimal_text(x, 4) for x in row] for row in rows])) + "\n\n"
    [attempt] = read_submission(text, [question]).attempts
    report = mark(question, attempt)
    assert (report.total, report.pending, attempt.remarks) == (report.available, False, ())
