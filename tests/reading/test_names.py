"""Names of steps in words, in programs and in other languages (names.toml).

`called` are ways to call a step of a sheet, by the step; `other` are names of which none is a step's.
"""

import pytest
from tables import tables_beside
from test_forms import sheet

from symattn.exact import decimal_text
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
