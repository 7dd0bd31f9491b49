"""What was handed in, spoilt in every way that editors, converters and people spoil files: read, or refused."""

import json
import time
from collections import Counter
from contextlib import suppress
from functools import cache
from random import Random

import fuzz_answers
import pytest
from filling import fill
from hypothesis import settings
from scripts import key_script

from symattn.errors import InputError, SymattnError
from symattn.foundation.dice import Dice
from symattn.marking.marker import mark
from symattn.marking.reports import feedback_document, report_json
from symattn.marking.submissions import read_submission, sheet_of
from symattn.page.writers import latex, markdown, notebook, text
from symattn.teaching.pool import pool
from symattn.teaching.problems import problem_type
from symattn.teaching.sheets import Sheet

PIECES = (
    "| :---: | :---: |", "|", "| |", "```", "$$", "$", "---", "# Question 2", "**Question 9.**", "\\begin{pmatrix}",
    "\\end{pmatrix}", "&", "\\\\", "<!-- symattn:grid id=Z -->", "-->", "- [x] A", "- [ ]", "[[", "]]", "{", "}", '"',
    "\u00b2", "\u0663", "\u202e", "\u200b", "\u2028", "\U0001f642", "1/0", "e^(e^(e^9))", "9" * 200, "sqrt(-1)", "nan",
    "inf", "= =", "\u2248", ",", ";", "\t", "Name: x", "S[\u00b2,1] = 2", "(a)", "x" * 300, "\x1b[31m", "\n\n", "1e999",
    "S = ", "((((((((", "^^", "_" * 40, "*" * 40, "1 2\n3", "\\frac{1}{", "\\sqrt[3]{2}",
)  # fmt: skip


@cache
def questions():
    """A few types with answers of every kind: matrices, choices, shapes, orders, cells, words, own examples."""
    kinds = ("full", "choice", "shapes", "estimate", "masks", "find-error", "design")
    return [next(pool(problem_type(kind).spec({"level": "starter"}), Dice.seeded(5))) for kind in kinds]


@cache
def seeds():
    """Whole files, in every form, for every type of question; and papers with two questions."""
    made = []
    for asked in questions():
        sheet = Sheet(asked, "X6A9-X3ZM")
        blank = markdown.write(sheet.worksheet)
        matrix = [[1, "1/2"], [0, "e"]]
        values = {part.name: matrix for part in asked.parts}
        made += [
            ("markdown", blank, [asked]),
            ("markdown", fill(blank, [asked], [key_script(asked)]), [asked]),
            ("latex", latex.write(sheet.key), [asked]),
            ("notebook", notebook.write(sheet.worksheet), [asked]),
            ("json", json.dumps({"sheet": "X", "answers": values}), [asked]),
            ("toml", "".join(f'"{name}" = {json.dumps(matrix)}\n' for name in values), [asked]),
            ("csv", "part,row,column,answer\n" + "".join(f"{name},1,1,1/2\n" for name in values), [asked]),
        ]
    two = questions()[:2]
    matrix_only = "$S = \\begin{pmatrix} 1 & 2 \\\\ 3 & 4 \\end{pmatrix}$\n\n"
    made.append(("latex", "".join(f"Question {k}\n{matrix_only}" for k in (1, 2)), two))
    sheets = [markdown.write(Sheet(asked, "X").worksheet) for asked in two]
    made.append(("markdown", "\n\n".join(f"# Question {k}\n\n{page}" for k, page in enumerate(sheets, 1)), two))
    return made


def spoilt(content, rng):
    for _ in range(rng.choice([1, 1, 2, 3, 6])):
        i = rng.randrange(len(content) + 1)
        j = min(len(content), i + rng.choice([1, 1, 3, 10, 60, 400]))
        lines = content.split("\n")
        match rng.randrange(7):
            case 0:
                content = content[:i] + rng.choice(PIECES) + content[i:]
            case 1:
                content = content[:i] + rng.choice(PIECES) + content[j:]
            case 2:
                content = content[:i] + content[j:]
            case 3:
                lines[rng.randrange(len(lines))] = rng.choice([rng.choice(lines), "", rng.choice(PIECES)])
                content = "\n".join(lines)
            case 4:
                content = content[:i] + content[i:j] * rng.choice([2, 5]) + content[j:]
            case 5:
                content = content[:j]
            case 6:
                content = (
                    content[:i] + chr(rng.choice([rng.randrange(1, 128), rng.randrange(128, 0x3000)])) + content[j:]
                )
    return content


def taken(form, content, asked):
    """Whether it is read or refused in a sentence; whatever was read is marked and told."""
    try:
        sheet_of(content, form)
        submission = read_submission(content, asked, form=form)
    except SymattnError as refused:
        return "refused" if "\n" not in str(refused) else f"no sentence: {refused}"
    for question, attempt in zip(asked, submission.attempts, strict=True):
        report = mark(question, attempt)
        assert report_json(report)
        assert text.write(feedback_document(report))
    return "read"


@pytest.mark.slow
def test_some_mutated_submissions():
    rng, found = Random(1), set()
    for _ in range(400 if settings.get_current_profile_name() == "thorough" else 40):
        form, content, asked = rng.choice(seeds())
        found.add(taken(rng.choice([form, form, form, ""]), spoilt(content, rng), asked))
    assert found == {"read", "refused"}


LONG = {
    "a key of many parts": (lambda n: "a." * n + "a = 1", 2_500),
    "brackets": (lambda n: "[" * n, 50_000),
    "underscores": (lambda n: "_" * n, 20_000),
    "bullets": (lambda n: "-\n" * n, 10_000),
    "digits": (lambda n: "S = " + "9" * n, 50_000),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", LONG)
def test_the_time_of_long_files_grows_with_their_length_alone(what):
    """Four times as long takes four times the processor time, and sixteen times what is quadratic.

    What was held up once is measured again.
    """
    sheet_of("x")  # what is read once for all
    made, most = LONG[what]

    def seconds(text):
        started = time.process_time()
        for form in ("", "toml", "markdown"):
            with suppress(InputError):
                sheet_of(text, form)
                read_submission(text, questions()[:1], form=form)
        return time.process_time() - started

    assert any(seconds(made(most)) < 8 * seconds(made(most // 4)) + 0.1 for _ in range(2))


# ------------------------------------------------------------------------------------------------ found so


@pytest.mark.parametrize(
    ("form", "content"),
    [
        ("toml", '[points]\nS = "\u00b2"\n'),
        ("csv", "part,row,column,answer\nS,\u00b2,1,2\n"),
        ("toml", "a = 1" + "0" * 5000),
        ("json", '{"points": {"S": "' + "9" * 5000 + '"}}'),
    ],
)
def test_numbers_that_are_none_or_have_no_end(form, content):
    taken(form, content, questions()[:1])


# ------------------------------------------------------------------------------------------------ answers


@pytest.mark.slow
def test_hundreds_of_answers():
    """Numbers, code, and functions of functions, whose time tests/exact/test_exact_hostile.py takes."""
    outcomes, crashes, events = fuzz_answers.fuzz(500, seed=7)
    assert (crashes, dict(events)) == ([], {})
    assert outcomes.keys() >= {"accepted: exact", "refused: interval"}


def test_it_would_see_code_that_is_run():
    """The hook counts what it is there to count."""
    events = Counter()
    with fuzz_answers.watched(events):
        exec("1")
    assert any(event.startswith("exec") for event in events)
