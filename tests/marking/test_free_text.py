"""Right scripts in every ordinary form: read whole, or told, line by line, and never marked 0 in silence."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripts import decimals, exactly, key_of, right_answer
from trials import tries

import symattn
from symattn.api import make_recipe
from symattn.errors import InputError
from symattn.foundation.identity import identity
from symattn.marking.attempt import Attempt, Grid
from symattn.marking.submissions import fill, read_submission
from symattn.marking.submissions.markdown import said_text
from symattn.page.writers import markdown
from symattn.teaching.explanation import question_document
from symattn.teaching.question import ChoiceAnswer, OrderAnswer, Question, ShapeAnswer
from symattn.teaching.sheets import sheets

Rows = list[list[str]]
WORDS = {"Q": "Queries", "K": "Keys", "V": "Values", "S": "Scores", "S'": "Scaled scores", "A": "Weights",
         "Z": "Output"}  # fmt: skip
FORMULAS = {"Q": "X W^Q", "K": "X W^K", "V": "X W^V", "S": "Q K^T", "S'": "S / sqrt(d_k) = S / 2", "A": "softmax(S')",
            "Z": "A V"}  # fmt: skip


@cache
def question() -> Question:
    return symattn.derive("note-002", by="matrix").worksheet().question


@cache
def key() -> dict[str, Rows]:
    """The right matrices, their entries without spaces."""
    found = key_of(question())
    return {part: [[exactly(x).replace(" ", "") for x in row] for row in rows] for part, rows in found.items()}


def lines(rows: Rows, between: str = " ", below: str = "\n") -> str:
    return below.join(between.join(row) for row in rows)


def brackets(rows: Rows) -> str:
    return "[" + ", ".join("[" + ", ".join(row) + "]" for row in rows) + "]"


def table(rows: Rows, *heads: str) -> str:
    head = ["|" + "|".join(heads) + "|", "|---" * len(heads) + "|"] if heads else []
    return "\n".join([*head, *("| " + " | ".join(row) + " |" for row in rows)])


def numbered(rows: Rows, name: str = "") -> str:
    heads = [name, *(str(j) for j in range(1, len(rows[0]) + 1))]
    return table([[f"**{i}**", *row] for i, row in enumerate(rows, 1)], *heads)


LABELLED: dict[str, Callable[[str, Rows], str]] = {
    "S = [[1, 2], [3, 4]]": lambda name, rows: f"{name} = {brackets(rows)}",
    "the same below another line": lambda name, rows: f"{name} =\n{brackets(rows)}",
    "brackets over several lines": lambda name, rows: f"{name} = {brackets(rows)}".replace("], ", "],\n     "),
    "rows below a colon": lambda name, rows: f"{name}:\n{lines(rows)}",
    "rows below an equals sign": lambda name, rows: f"{name} =\n{lines(rows)}",
    "rows below a name": lambda name, rows: f"{name}\n{lines(rows)}",
    "rows beside and below": lambda name, rows: f"{name} = {lines(rows, '  ', chr(10) + '    ')}",
    "rows with commas": lambda name, rows: f"{name} =\n{lines(rows, ', ')}",
    "rows in brackets of their own": lambda name, rows: f"{name} =\n[{lines(rows, ', ', f']{chr(10)}[')}]",
    "such rows beside and below": lambda name, rows: f"{name} = [{lines(rows, ' ', f']{chr(10)}    [')}]",
    "such rows on one line": lambda name, rows: f"{name} = [{lines(rows, ', ', '], [')}]",
    "rows between bars": lambda name, rows: f"{name} =\n" + "\n".join(f"| {'  '.join(row)} |" for row in rows),
    "rows in drawn brackets": lambda name, rows: f"{name} =\n" + "\n".join(f"⎢ {'  '.join(row)} ⎥" for row in rows),
    "LaTeX": lambda name, rows: rf"$${name} = \begin{{bmatrix}}" + lines(rows, " & ", r" \\ ") + r"\end{bmatrix}$$",
    "NumPy's repr": lambda name, rows: f"{name} = array({brackets(rows)})",
    "NumPy's print": lambda name, rows: f"{name}\n[" + "\n ".join(f"[{' '.join(row)}]" for row in rows) + "]",
    "MATLAB": lambda name, rows: f"{name} = [{lines(rows, ' ', '; ')}]",
    "in a sentence": lambda name, rows: f"The matrix {name} is {lines(rows, ', ', ' and ')}.",
    "as a list": lambda name, rows: f"- {name} = {brackets(rows)}",
    "below a heading": lambda name, rows: f"## {name}\n\n{lines(rows)}",
    "below a heading in words": lambda name, rows: f"## {WORDS[name]}\n\n{lines(rows)}",
    "below words and a sign": lambda name, rows: f"{WORDS[name]} {name}:\n{lines(rows)}",
    "words before a colon": lambda name, rows: f"{WORDS[name]}: {brackets(rows)}",
    "bold": lambda name, rows: f"**{name}** =\n\n{lines(rows)}",
    "a formula before the rows": lambda name, rows: f"{name} = the product\n\n{lines(rows)}",
    "rows below a formula": lambda name, rows: f"{name} = {FORMULAS[name]} =\n{lines(rows)}",
    "rows beside a formula": lambda name, rows: f"{name} = {FORMULAS[name]} = {brackets(rows)}",
    "a shape and a formula": lambda name, rows: (
        f"{name} ({len(rows)} x {len(rows[0])}) = {FORMULAS[name]} =\n{lines(rows)}"
    ),
    "a table without heads": lambda name, rows: f"## {name}\n\n{table(rows)}",
    "a table with empty heads": lambda name, rows: f"{name}\n\n{table(rows, *['  '] * len(rows[0]))}",
    "a table with its first row as its head": lambda name, rows: f"## {name}\n\n{table(rows[1:], *rows[0])}",
    "a table with numbers": lambda name, rows: f"## {WORDS[name]}\n\n{numbered(rows)}",
    "a table with its name": lambda name, rows: numbered(rows, name),
    "entry by entry": lambda name, rows: "\n".join(
        f"{name}_{i}{j} = {x}" for i, row in enumerate(rows, 1) for j, x in enumerate(row, 1)
    ),
    "entries with their working": lambda name, rows: "\n".join(
        f"{name.lower()}{i}{j} = 0*7 + {x} = {x}" for i, row in enumerate(rows, 1) for j, x in enumerate(row, 1)
    ),
    "several with their working in a row": lambda name, rows: (
        f"{name} =\n" + lines([[f"0*7 + {x} = {x}" for x in row] for row in rows], ", ")
    ),
    "the same without spaces, its name beside the first row": lambda name, rows: (
        f"{name} = " + lines([[f"1*({x})={x}" for x in row] for row in rows], "   ")
    ),
    "rows with their numbers and working": lambda name, rows: (
        f"{name}\n"
        + "\n".join(f"Row {i}: " + "; ".join(f"0*7+{x} = {x}" for x in row) for i, row in enumerate(rows, 1))
    ),
    "a row's entries on a line": lambda name, rows: "\n".join(
        ", ".join(f"{name}_{i}{j} = {x}" for j, x in enumerate(row, 1)) for i, row in enumerate(rows, 1)
    ),
    "the same without commas": lambda name, rows: "\n".join(
        "  ".join(f"{name}{i}{j}={x}" for j, x in enumerate(row, 1)) for i, row in enumerate(rows, 1)
    ),
    "row by row": lambda name, rows: "\n".join(f"{name} row {i}: {', '.join(row)}" for i, row in enumerate(rows, 1)),
    "a code block": lambda name, rows: f"```python\n{name} = np.array({brackets(rows)})\n```",
    "a bare key of TOML": lambda name, rows: f"{name} = {json.dumps(rows)}",
    "behind an arrow": lambda name, rows: f"{name} -> {brackets(rows)}",
    "after an arrow": lambda name, rows: f"=> {name} = {brackets(rows)}",
    "assigned": lambda name, rows: f"{name} := {brackets(rows)}",
    "MATLAB with its semicolon": lambda name, rows: f"{name} = [{lines(rows, ' ', '; ')}];",
    "after a matrix that is crossed out": lambda name, rows: f"{name} = ~~[[7, 7], [7, 7]]~~ {brackets(rows)}",
    "below a line that is crossed out": lambda name, rows: f"~~{name} = [[7, 7]]~~\n{name} = {brackets(rows)}",
    "rows as a list": lambda name, rows: f"{name}:\n- " + lines(rows, ", ", "\n- "),
    "rows with their numbers": lambda name, rows: (
        f"{name}\n" + "\n".join(f"Row {i}: {', '.join(row[:-1])} and {row[-1]}" for i, row in enumerate(rows, 1))
    ),
    "tokens with their numbers": lambda name, rows: (
        f"{name}:\n" + "\n".join(f"token {i}: {' '.join(row)}" for i, row in enumerate(rows, 1))
    ),
    "CSV": lambda name, rows: f"{name}\n{lines(rows, ',')}",
    "CSV, its name beside the first row": lambda name, rows: f"{name},{lines(rows, ',', chr(10) + ',')}",
    "CSV, its name beside every row": lambda name, rows: f"{name},{lines(rows, ',', f'{chr(10)}{name},')}",
    "CSV with semicolons, its name in a column": lambda name, rows: f"{name};{lines(rows, ';', chr(10) + ';')}",
    "TSV": lambda name, rows: f"{name}\n{lines(rows, chr(9))}",
    "a sign before every number": lambda name, rows: f"{name} =\n≈ {lines(rows, ', ≈ ', chr(10) + '≈ ')}",
    "a separator of its own in every row": lambda name, rows: (
        f"{name} =\n" + "\n".join(between.join(row) for between, row in zip((", ", "; ", "  "), rows, strict=True))
    ),
    "rows in round brackets": lambda name, rows: f"{name} =\n( {lines(rows, '  ', f' ){chr(10)}( ')} )",
    "rows with their numbers in a nested list": lambda name, rows: (
        f"- **{name}**\n" + "\n".join(f"  - row {i}: {', '.join(row)}" for i, row in enumerate(rows, 1))
    ),
    "below a row that is crossed out": lambda name, rows: f"{name} = ~~7 7 8~~\n{lines(rows)}",
    "an aside behind words": lambda name, rows: f"{WORDS[name]} (I checked every row, twice):\n{lines(rows)}",
    "a session of Python": lambda name, rows: (
        f">>> {WORDS[name].lower().replace(' ', '_')}\n" + f"array({brackets(rows)})".replace("], ", "],\n       ")
    ),
    "a session of IPython": lambda name, rows: (
        f"In [1]: print({WORDS[name].lower().replace(' ', '_')})\n["
        + "\n ".join(f"[{' '.join(r)}]" for r in rows)
        + "]"
    ),
    "at the end of a sentence": lambda name, rows: (
        f"Then the next thing that I had to do on this sheet gave me {name} = [{lines(rows, ' ', '; ')}]."
    ),
}
BY_PLACE: dict[str, Callable[[int, Rows], str]] = {
    "(a) 1 2 / 3 4": lambda k, rows: f"({chr(97 + k)}) {lines(rows, ' ', ' / ')}",
    "a) above rows": lambda k, rows: f"{chr(97 + k)})\n{lines(rows)}",
    "part a)": lambda k, rows: f"Part {chr(97 + k)})\n{lines(rows)}",
    "Step 1:": lambda k, rows: f"Step {k + 1}:\n{lines(rows)}",
    "1. a table beside it": lambda k, rows: f"{k + 1}. {list(key())[k]} = {table(rows)}",
    "1. a table below it": lambda k, rows: f"{k + 1}. {list(key())[k]} =\n{table(rows)}",
    "1. a table with lines of dashes below it": lambda k, rows: (
        f"{k + 1}. {list(key())[k]} =\n\n{table(rows[1:], *rows[0])}"
    ),
    "## 1. a table below it": lambda k, rows: f"## {k + 1}. {list(key())[k]}\n\n{table(rows)}",
    "1. in a list": lambda k, rows: f"{k + 1}. {list(key())[k]} = {brackets(rows)}",
}


def read(text: str, form: str = "") -> Attempt:
    return read_submission(text, [question()], form=form).attempts[0]


def values(said: object) -> Rows:
    assert isinstance(said, Grid)
    return [[entry.text.strip('"').rpartition("=")[2].strip() for entry in row] for row in said.rows]


def read_whole(text: str, form: str) -> Attempt:
    """The text read; every matrix of the key must have been found in it."""
    attempt = read(text, form)
    assert {name: values(said) for name, said in attempt.answers.items()} == key(), attempt.remarks
    return attempt


@pytest.mark.covering(most=8, product=False)
@pytest.mark.parametrize("form", ["", "markdown"])
@pytest.mark.parametrize("way", LABELLED)
def test_a_right_script_is_read_in_every_ordinary_form(way: str, form: str) -> None:
    text = "\n\n".join(LABELLED[way](name, rows) for name, rows in key().items())
    assert not read_whole(text, form).remarks


ROWS_ALIKE = sorted(way for way in LABELLED if way.startswith(("rows ", "a table", "below", "bold", "TSV", "CSV")))


@pytest.mark.covering(most=12)
@pytest.mark.parametrize("way", ROWS_ALIKE)
@pytest.mark.parametrize("number", [1, 2, 7])
def test_rows_of_one_number_are_no_numbers_of_parts(way: str, number: int) -> None:
    alike = {name: [[str(number)] * len(row) for row in rows] for name, rows in key().items()}
    attempt = read("\n\n".join(LABELLED[way](name, rows) for name, rows in alike.items()))
    assert {name: values(said) for name, said in attempt.answers.items()} == alike, attempt.remarks


@pytest.mark.parametrize("number", [1, 2, 7])
def test_rows_of_a_column_are_no_numbers_of_parts(number: int) -> None:
    text = "\n\n".join(f"{names[0]} =\n{number}\n{number}" for names in STATISTICS.values())
    (attempt,) = read_submission(text, [norm()], form="markdown").attempts
    assert {name: values(said) for name, said in attempt.answers.items()} == {
        name: [[str(number)]] * 2 for name in STATISTICS
    }


@pytest.mark.parametrize("way", [way for way in LABELLED if "SV" in way])
def test_tables_need_no_empty_lines_between_them(way: str) -> None:
    assert not read_whole("\n".join(LABELLED[way](name, rows) for name, rows in key().items()), "csv").remarks


def test_three_cells_behind_a_name_are_a_row_or_a_place_with_its_answer() -> None:
    rows = [["2", "1", "3"], ["0", "1", "1"], ["2", "2", "2"]]
    labelled = read("\n".join(",".join(["S", *row]) for row in rows), "csv")
    assert values(labelled.answers["S"]) == rows
    entries = "\n".join(f"S,{i},{j},{x}" for i, row in enumerate(rows, 1) for j, x in enumerate(row, 1))
    assert values(read(entries, "csv").answers["S"]) == rows
    assert values(read("S,1,1,2\nS,1,2,1\nS,1,3,3", "csv").answers["S"]) == rows[:1]
    looks_like_places = [["1", "2", "3"], ["2", "1", "4"], ["3", "3", "5"]]
    labelled = read("\n".join(",".join(["S", *row]) for row in looks_like_places), "csv")
    assert values(labelled.answers["S"]) == looks_like_places


def test_lines_that_may_be_rows_or_places_are_marked_as_both_and_it_is_said_which_was_taken() -> None:
    """Rows that begin with 1 1, 1 2 and 1 3, and a first row by places: each is right as it was meant."""
    rows = [["1", "1", "2"], ["1", "2", "1"], ["1", "3", "3"]]
    text = "\n".join(",".join(["S", *row]) for row in rows)
    first = read(text, "csv")
    other = first.otherwise
    assert other is not None
    assert (values(first.answers["S"]), values(other.answers["S"])) == ([["2", "1", "3"]], rows)
    [places], [whole] = ([remark.says for remark in one.remarks] for one in (first, other))
    assert places != whole
    for scores, taken in ((rows, whole), ([["2", "1", "3"], ["4", "0", "5"], ["7", "2", "2"]], places)):
        d = symattn.derive("attention", Q=scores, K=[[1, 0, 0], [0, 1, 0], [0, 0, 1]], V=[[1], [0], [2]], scale="none")
        [report] = symattn.check(d, f"{text}\n").reports
        assert not report.events
        assert taken in [remark.says for remark in report.attempt.remarks]


def test_places_that_no_matrix_has_are_rows_and_places_below_their_heads_are_places() -> None:
    assert read("S,1,1,2\nS,1,2,1\nS,1,4,3", "csv").otherwise is None
    assert read("S,1,1,2\nS,1,1,1\nS,1,3,3", "csv").otherwise is None
    assert read("part,row,column,answer\nS,1,1,2\nS,1,2,1\nS,1,3,3", "csv").otherwise is None


def test_a_matrix_of_one_row_is_a_row_even_if_it_begins_as_its_first_place() -> None:
    (sheet,) = symattn.worksheet("attention", sizes={"n": 1, "m": 3}, seed=3)
    said = read_submission("S,1,1,2", [sheet.question], form="csv").attempts[0].answers["S"]
    assert values(said) == [["1", "1", "2"]]


def test_a_row_behind_an_unknown_name_goes_into_no_matrix() -> None:
    attempt = read_submission("S,1,2,3\nXYZ,4,5,6\n,7,8,9\n", [question()], form="csv")
    assert values(attempt.attempts[0].answers["S"]) == [["1", "2", "3"]]
    assert len(attempt.remarks) == 2


@pytest.mark.parametrize("way", BY_PLACE)
def test_so_it_is_by_the_letters_and_numbers_of_its_parts(way: str) -> None:
    assert not read_whole("\n\n".join(BY_PLACE[way](k, rows) for k, rows in enumerate(key().values())), "").remarks


@pytest.mark.parametrize("write", [lines, brackets])
def test_matrices_without_names_are_taken_in_their_order_and_that_is_told(write: Callable[[Rows], str]) -> None:
    attempt = read_whole("\n\n".join(map(write, key().values())), "")
    assert len(attempt.remarks) == len(key())


@pytest.mark.parametrize("head", ["[answers]\n", "", 'name = "Ada"\n[answers]\n', "# my answers\nname = 'Ada'\n"])
def test_toml_with_bare_keys_that_toml_does_not_know(head: str) -> None:
    text = head + "\n".join(f"{name} = {json.dumps(rows)}" for name, rows in key().items())
    read_whole(text, "toml")


def test_text_that_only_looks_like_toml_is_not_called_toml() -> None:
    with pytest.raises(InputError, match="nothing in it belongs to this sheet; answers to Q, K, V"):
        read('solution = "I did not\nget it', "markdown")


def test_so_it_is_in_a_file_that_is_called_toml(tmp_path: Path) -> None:
    file = tmp_path / "answers.toml"
    file.write_text("\n".join(f"{name} = {json.dumps(rows)}" for name, rows in key().items()), encoding="utf-8")
    assert symattn.check(symattn.derive("note-002", by="matrix"), file).right


@pytest.mark.parametrize(
    ("write", "between"),
    [("{} = {}", "; "), ("{} = {}", ". Then "), ("{} is {}", " and "), ("{}: {}", ", and for "), ("{} ist {}", ". ")],
)
def test_several_matrices_on_one_line(write: str, between: str) -> None:
    text = between.join(write.format(name, brackets(rows)) for name, rows in key().items())
    assert not read_whole(f"I got {text}.", "").remarks


def test_brackets_that_close_in_another_line_hide_no_name_and_a_second_matrix_is_told() -> None:
    first, second = (f"{name}: {brackets(key()[name])}" for name in ("Q", "K"))
    attempt = read(first.replace("], ", "],\n ") + " and " + second + " or [[1, 2], [3, 4]]")
    assert {name: values(said) for name, said in attempt.answers.items()} == {name: key()[name] for name in ("Q", "K")}
    assert ["or [[1, 2], [3, 4]]" in str(remark.says) for remark in attempt.remarks] == [True]


@pytest.mark.parametrize(
    ("behind", "places"), [("", 4), (", dtype=torch.float64", 4), (", grad_fn=<MmBackward0>", 2), (", device='cpu'", 4)]
)
def test_what_pytorch_prints_is_read_over_several_lines(behind: str, places: int) -> None:
    printed = {name: [[decimals(places)(x) for x in row] for row in rows] for name, rows in key_of(question()).items()}
    text = "\n".join(
        f"{name} = tensor([[" + "],\n        [".join(", ".join(row) for row in rows) + f"]]{behind})"
        for name, rows in printed.items()
    )
    attempt = read(text)
    assert {name: values(said) for name, said in attempt.answers.items()} == printed, attempt.remarks
    assert not attempt.remarks


@cache
def norm() -> Question:
    (sheet,) = sheets(make_recipe(problem="block", seed=5), 1)
    return sheet.question


STATISTICS = {
    "N1_mean": ["μ", "mu", "\\mu", "$\\mu$", "mean", "Means"],
    "N1_var": ["σ²", "σ^2", "sigma^2", "sigma²", "\\sigma^2", "variance", "Variances"],
    "N2_mean": ["μ'", "mu'", "\\mu'", "mean'", "second mean", "second means"],
    "N2_var": ["σ'²", "σ²'", "sigma'^2", "sigma^2'", "\\sigma'^2", "variance'", "Second variances"],
}
COLUMNS = ["{}; {}", "[{}; {}]", "[{}, {}]", "({}, {})", "{}, {}", "[[{}], [{}]]", "{} and {}"]


@pytest.mark.covering(most=10)
@pytest.mark.parametrize(("part", "name"), [(part, name) for part, names in STATISTICS.items() for name in names])
def test_means_and_variances_have_greek_names_and_words(part: str, name: str) -> None:
    rows = [["-7/2"], ["3/4"]]
    for way in COLUMNS:
        text = f"{name} = " + way.format("-7/2", "3/4")
        (attempt,) = read_submission(text, [norm()], form="markdown").attempts
        assert {one: values(said) for one, said in attempt.answers.items()} == {part: rows}, (way, attempt.remarks)
        assert not attempt.remarks


CHOICES = [
    "{n}. {x}", "{n}) {x}", "({n}) {x}", "{n}: {x}", "Question {n}: {x}", "question {n}. {x}", "Q{n}: {x}", "{a}) {x}",
    "({a}) {x}", "{a}. {x}", "Part {a}) {x}", "- {n}. {x}", "{n}. {x} because it is so", "Aufgabe {n}: {x}",
]  # fmt: skip
SHORT = ("choice", "shapes", "estimate", "counts")


@cache
def short(kind: str) -> Question:
    (sheet,) = sheets(make_recipe(problem=kind, seed=5), 1)
    return sheet.question


@pytest.mark.parametrize("way", CHOICES)
@pytest.mark.parametrize("kind", SHORT)
def test_short_answers_are_read_behind_the_numbers_and_letters_of_their_parts(kind: str, way: str) -> None:
    """Every choice, shape, order and formula of a sheet, right, below one another."""
    question = short(kind)
    numbered = [
        (k, part, right_answer(part))
        for k, part in enumerate(question.parts)
        if isinstance(part.answer, ChoiceAnswer | ShapeAnswer | OrderAnswer)
    ]
    text = "\n".join(way.format(n=k + 1, a=chr(97 + k), x=said_text(said)) for k, _, said in numbered)
    (attempt,) = read_submission(text, [question], form="markdown").attempts
    assert dict(attempt.answers) == {part.name: said for _, part, said in numbered}, attempt.remarks
    assert len(attempt.remarks) == ("because" in way) * len(numbered)


JUNK = st.lists(st.sampled_from(["lorem", "ipsum", "dolor", "sit", "amet", "elit", "sed"]), min_size=3, max_size=7)


@tries(10)
@given(
    JUNK, st.sampled_from(sorted(way for way in LABELLED if "SV" not in way and "TOML" not in way)), st.integers(0, 3)
)
def test_every_line_that_is_not_used_is_listed_with_its_place(junk: list[str], way: str, at: int) -> None:
    some = {name: key()[name] for name in ("Q", "S", "Z")}
    pieces = [LABELLED[way](name, rows) for name, rows in some.items()]
    pieces.insert(at, " ".join(junk))
    attempt = read("\n\n".join(pieces), "markdown")
    assert {name: values(said) for name, said in attempt.answers.items()} == some, attempt.remarks
    line = "\n\n".join(pieces[:at]).count("\n") + 1 + 2 * (at > 0)
    assert [(remark.where, " ".join(junk) in remark.says) for remark in attempt.remarks] == [(f"line {line}", True)]


TITLES = [
    "Worksheet 3, Ada", "# Worksheet 3, Ada", "12 March 2025", "March 12th, 2025", "2025-03-12", "12.3.2025",
    "le 3 mai 2025", "Answers", "**Answers**", "# My answers", "Homework 2", "Lösungen", "作业 2",
    "# Attention by hand",
]  # fmt: skip
MAY_BE_TITLES = ["Ada Lovelace", "Ada L., group 4", "Ada Lovelace 20251234", "Linear algebra, tutorial 2"]
NO_TITLES = ["ln 2", "Z as before", "0.5 0.5 1", "I took the third column twice and then stopped there", "Output 3,5"]


def half(above: str) -> Attempt:
    first = list(key().items())[:3]
    return read(f"{above}\n\n" + "\n\n".join(LABELLED["rows below a colon"](*one) for one in first), "markdown")


@pytest.mark.parametrize("title", [*TITLES, *MAY_BE_TITLES])
def test_titles_names_and_dates_are_no_answers_and_keep_nothing_open(title: str) -> None:
    attempt = half(f"{title}\n\n{title}")
    assert not attempt.unread
    assert [repr(title) in remark.says for remark in attempt.remarks] == [True] * 2 * (title in MAY_BE_TITLES)


@pytest.mark.parametrize("line", NO_TITLES)
def test_what_may_be_an_answer_is_no_title(line: str) -> None:
    assert set(half(line).unread) == set(list(key())[3:]) or "Z" in half(line).answers


def test_below_answers_only_headings_are_titles() -> None:
    script = LABELLED["rows below a colon"]("Q", key()["Q"])
    assert not read(f"{script}\n\n# The rest", "markdown").unread
    assert read(f"{script}\n\nsee my other notes", "markdown").unread == set(key()) - {"Q"}


def test_a_name_above_may_be_the_answer_to_a_part_that_asks_for_words() -> None:
    named = LABELLED["rows below a colon"]("Q", key()["Q"])
    assert "Z" not in read(f"None of these\n\n{named}", "markdown").unread
    (part, *_), first = short("choice").parts, said_text(right_answer(short("choice").parts[1]))
    (attempt,) = read_submission(f"A friend\n\n2. {first}", [short("choice")], form="markdown").attempts
    assert part.name in attempt.unread


@tries(10)
@given(JUNK, st.sampled_from(["", "## Question 7\n\n", "Ada\n\n"]), st.booleans())
def test_of_a_paper_what_stands_under_no_question_is_listed(junk: list[str], above: str, matrix: bool) -> None:
    said = "S = [[1, 2], [3, 4]]" if matrix else f"{' '.join(junk)}, so 3"
    named = LABELLED["rows below a colon"]("Q", key()["Q"])
    text = f"{above}{said}\n\n## Question 1\n\n{named}\n\n## Question 2\n\n{named}"
    found = read_submission(text, [question()] * 2, form="markdown")
    where = f"line {above.count(chr(10)) + 1}"
    assert [remark.where for remark in found.remarks if remark.loose and said in remark.says] == [where]
    assert len(found.remarks) == 1 + above.startswith("Ada")
    assert [set(attempt.unread) for attempt in found.attempts] == [set(key()) - {"Q"}] * 2


NUMBERS = ["Question {k}", "QUESTION {k}:", "**Question {k}**", "Q{k}.", "Aufgabe {k}", "{title}", "# Question {k}"]


@pytest.mark.covering(most=4, product=False)
@pytest.mark.parametrize("way", [way for way in LABELLED if "SV" not in way])
@pytest.mark.parametrize("number", NUMBERS)
def test_answers_to_a_paper_stand_below_the_numbers_of_its_questions(number: str, way: str) -> None:
    """In a text of somebody's own, whose lines are no headings of Markdown."""
    script = "\n\n".join(LABELLED[way](name, rows) for name, rows in key().items())
    heads = [number.format(k=k, title=f"Question {k}. {question().title}") for k in (1, 2)]
    found = read_submission("\n".join(f"{head}\n{script}" for head in heads), [question()] * 2, form="markdown")
    for attempt in found.attempts:
        assert {name: values(said) for name, said in attempt.answers.items()} == key(), attempt.remarks
    assert not [*found.remarks, *(remark for attempt in found.attempts for remark in attempt.remarks)]


@pytest.mark.parametrize("way", ["{k}({letter}) {answer}", "{k}{letter}) {answer}", "Q{k} ({letter}): {answer}",
                                 "Question {k}\n({letter}) {answer}", "Question {k} ({letter}) {answer}"])  # fmt: skip
def test_short_answers_to_a_paper_stand_behind_the_numbers_of_their_parts(way: str) -> None:
    questions = [short("choice"), short("choice")]
    parts = [(k, chr(97 + j), part) for k, asked in enumerate(questions, 1) for j, part in enumerate(asked.parts)]
    answers = [way.format(k=k, letter=letter, answer=said_text(right_answer(part))) for k, letter, part in parts]
    found = read_submission("\n".join(answers), questions, form="markdown")
    for asked, attempt in zip(questions, found.attempts, strict=True):
        assert {part.name: right_answer(part) for part in asked.parts} == attempt.answers, attempt.remarks


def test_head_ones_queries_are_no_question() -> None:
    asked = symattn.worksheet("multi_head_attention", seed=1)[0].question
    scores = "S_1 =\n0 2\n-4 0"
    found = read_submission(f"Question 1\nQ1 = [[1, 2, 3, 4], [5, 6, 7, 8]]\n{scores}", [asked, asked], form="markdown")
    assert "S_1" in found.attempts[0].answers
    assert values(found.attempts[0].more["Q_1"]) == [["1", "2", "3", "4"], ["5", "6", "7", "8"]]


@pytest.mark.parametrize("text", ["Q =\n7", "Q =\n7\n\nK = [[0, 1, 1], [4, 4, 0], [2, 3, 1]]"])
def test_a_number_alone_below_a_name_is_a_matrix_of_one_entry(text: str) -> None:
    assert values(read(text, "markdown").answers["Q"]) == [["7"]]


def test_masked_scores_may_be_stars_and_their_rows_are_no_numbers_of_parts() -> None:
    attempt = read("S =\n1 * *\n2 1 *\n3 1 4", "markdown")
    assert "Q" not in attempt.answers
    assert attempt.remarks


def test_a_formula_is_no_row_of_numbers() -> None:
    attempt = read(f"S' = 1/2 S\n\nA = {brackets(key()['A'])}", "markdown")
    assert set(attempt.answers) == {"A"}
    assert any("1/2 S" in remark.says for remark in attempt.remarks)


def test_of_a_session_assignments_are_left_out_and_expressions_have_no_name() -> None:
    matrix = f"array({brackets(key()['A'])})"
    attempt = read(f">>> S = Q @ K.T\n>>> for row in S:\n...     print(row)\n>>> A\n{matrix}\n>>> A @ V\n{matrix}", "")
    assert values(attempt.answers["A"]) == key()["A"]
    assert not {"S", "V"} & {*attempt.answers, *attempt.more}


def test_words_behind_a_prompt_are_told() -> None:
    attempt = read(f">>> I did the rest by hand\n>>> S\n{brackets(key()['S'])}", "markdown")
    assert set(attempt.answers) == {"S"}
    assert any("by hand" in remark.says for remark in attempt.remarks)


def test_below_a_line_that_cannot_be_read_a_number_is_no_number_of_a_part() -> None:
    rows = lines(key()["K"])
    attempt = read(f"something =\n16 or so\n4\n\nother =\n{rows}\n\nK =\n{rows}", "markdown")
    assert values(attempt.answers["K"]) == key()["K"]
    assert not any("twice" in remark.says for remark in attempt.remarks)


def test_an_unknown_name_above_a_matrix_is_told_once_by_the_signs_of_the_sheet() -> None:
    asked = symattn.worksheet("rotary_attention", seed=3)[0].question
    names = {"R_Q": "turned queries =", "R_K": "turned keys ="}
    script = {part: lines(rows) for part, rows in key_of_texts(asked).items()}
    text = "\n\n".join(f"{names.get(part, f'{part} =')}\n{rows}" for part, rows in script.items())
    (attempt,) = read_submission(text, [asked], form="markdown").attempts
    assert set(attempt.answers) == set(script)
    says = "Nothing is called 'turned {}' here; from its shape and its place it was taken to be {}."
    assert [remark.says for remark in attempt.remarks] == [
        says.format("queries", "Q^rot"), says.format("keys", "K^rot")
    ]  # fmt: skip


def key_of_texts(asked: Question) -> dict[str, Rows]:
    return {part: [[exactly(x).replace(" ", "") for x in row] for row in rows] for part, rows in key_of(asked).items()}


def test_marks_for_rows_that_stand_in_a_line_nobody_can_read_are_pending() -> None:
    scores = [row[:] for row in key()["S"]]
    text = f"S =\n{lines(scores[:2])}\n{' '.join(scores[2])} zz"
    [report] = symattn.check(question(), text + "\n\nQ = " + brackets(key()["Q"])).reports
    assert {part for given in report.marks if given.pending for part in given.parts} >= {"S"}


@pytest.mark.parametrize("wrong", ["weigths", "Atention", "AA"])
@pytest.mark.parametrize("form", ["", "toml", "json"])
def test_an_unknown_key_makes_no_text_of_data(wrong: str, form: str) -> None:
    rows = {name: value for name, value in key().items() if name != "A"}
    data = {**rows, wrong: key()["A"]}
    toml = "[answers]\n" + "\n".join(f"{json.dumps(name)} = {json.dumps(value)}" for name, value in data.items())
    attempt = read(json.dumps({"answers": data}) if form == "json" else toml, form)
    assert set(attempt.answers) == set(rows)
    assert [(remark.where, remark.says) for remark in attempt.remarks] == [
        (f"answers.{wrong}", f"{wrong!r} is not a part of the question; did you mean A?")
    ]
    assert attempt.unread == {"A"}


@cache
def blank() -> str:
    return markdown.write(question_document(question(), identity("a sheet"), "symattn worksheet x"))


@pytest.mark.parametrize("layout", ["matrix", "columns", "falk"])
@pytest.mark.parametrize("conventions", ["full", "bare", "none"])
def test_a_blank_sheet_has_nothing_unread(layout: str, conventions: str) -> None:
    document = question_document(question(), identity("a sheet"), "symattn worksheet x", "blank", layout, conventions)  # type: ignore[arg-type]
    attempt = read_submission(markdown.write(document), [question()], form="markdown").attempts[0]
    assert (dict(attempt.answers), dict(attempt.more), attempt.remarks) == ({}, {}, ())


def below_heading(text: str, k: int, what: str) -> str:
    """The sheet with something more below the heading of a part."""
    heading = next(line for line in text.splitlines() if line.startswith(f"## {k}\\."))
    return text.replace(heading, f"{heading}\n\n{what}")


@tries(8)
@given(JUNK, st.integers(1, 7))
def test_what_stands_below_an_empty_grid_is_told_and_what_stands_beside_the_parts_too(junk: list[str], k: int) -> None:
    text = blank().replace("## Given", " ".join(junk) + "\n\n## Given")
    says = [remark.says for remark in read(below_heading(text, k, "I did it " + " ".join(junk)), "markdown").remarks]
    assert len(says) == 2
    assert all(" ".join(junk) in said for said in says)
    assert any("I did it" in said for said in says)


@pytest.mark.parametrize("way", ["S = [[1, 2], [3, 4]]", "rows below a colon", "a table without heads", "MATLAB"])
def test_a_matrix_beside_its_empty_grid_counts(way: str) -> None:
    text = blank()
    for k, (name, rows) in enumerate(key().items(), 1):
        text = below_heading(text, k, LABELLED[way](name, rows).removeprefix(f"## {name}\n\n"))
    assert not read_whole(text, "markdown").remarks


def test_working_beside_a_filled_grid_is_working() -> None:
    attempt = read(LABELLED["S = [[1, 2], [3, 4]]"]("Q", key()["Q"]))
    text = fill(blank(), [question()], [attempt]).replace("*Working:*", "*Working:* 1·0 + 2·3 = 6, and so on", 1)
    assert not read(text, "markdown").remarks


@pytest.mark.parametrize("gap", [" " * 200, "\t" * 70, " \t" * 5000, "\N{NO-BREAK SPACE}" * 3000])
def test_long_gaps_between_numbers_change_nothing(gap: str) -> None:
    """They cost no time either: patterns that seek in them would take their square."""
    rows = [["2", "1", "3"], ["0", "1", "1"], ["2", "2", "2"]]
    wide = read("S =\n" + "\n".join(gap.join(row) for row in rows), "markdown")
    assert values(wide.answers["S"]) == rows
