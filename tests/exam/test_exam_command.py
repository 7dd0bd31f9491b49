"""`symattn exam`: a file to start from, what will come of a file, and everything that is refused, at once."""

import os
import re
import stat
import tomllib

import pypdf
import pytest
from commands import contents, refusal, run

from symattn.foundation.dice import Dice
from symattn.foundation.typed import keys
from symattn.teaching.exam.preview import starter
from symattn.teaching.exam.spec import ExamFile

ASKED_FOR_MOST = {"class", "variants", "notation", "language", "formula_sheet", "new_page", "aids", "separators"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_new_file_makes_an_exam_as_it_stands_and_is_never_written_over(folder):
    assert run("exam", "midterm.toml", "--new").exit_code == 0
    written = (folder / "midterm.toml").read_bytes()
    assert b"symattn exam midterm.toml --check" in written
    assert refusal("exam", "midterm.toml", "--new").endswith("left as it is; choose another name.\n")
    assert contents(folder) == {"midterm.toml": written}
    done = run("exam", "midterm.toml", "--check")
    assert done.exit_code == 0, done.output
    assert len(re.findall(r"(?m)^\d\. ", done.output)) == len(tomllib.loads(written.decode())["question"])
    assert contents(folder) == {"midterm.toml": written}


def test_what_is_switched_off_in_a_new_file_can_be_switched_on():
    """Every line with a # before a key; where two say the same, one of them."""
    off = re.findall(r"(?m)^# (\w+) = .*$", starter("exam.toml").split("[[question]]")[0])
    assert set(off) | set(tomllib.loads(starter("exam.toml"))) >= ASKED_FOR_MOST
    assert set(off) <= set(keys(ExamFile))
    text = re.sub(r"(?m)^# (\w+ = |\[\[question)", r"\1", starter("exam.toml").replace('class = "', 'course = "'))
    with pytest.raises(tomllib.TOMLDecodeError, match="overwrite"):  # course stands there already
        tomllib.loads(text)
    assert tomllib.loads(text.replace('course = "class.csv"', ""))["new_page"] is True


EXAM = """
title = "Quiz"
time = "20 minutes"
variants = 3
class = "class.csv"
separators = true

[[question]]
type = "choice"
items = 2
points = 6

[[question]]
mechanism = "attention"
given = {Q = [[1, 0]], K = [[1, 1], [0, 2]], V = [[1, 0], [0, 1]]}
points = 2
"""
CLASS = "name,id,text size\nAda Lovelace,s1,\nAlan Turing,s2,18\nEmmy Noether,s3,\n"


def test_what_was_foreseen_is_what_is_printed(folder):
    """Marks, and the pages and sheets of every copy, counted in the PDF that is made of it."""
    (folder / "quiz.toml").write_text(EXAM, "utf-8")
    (folder / "class.csv").write_text(CLASS, "utf-8")
    told = run("exam", "quiz.toml", "--check").output
    assert re.search(r"1\. +Multiple choice \(choice\) +6 marks +3 variants +about \d+ minutes", told)
    assert re.search(r"2\. .* 2 marks +the same for all +about \d+ minutes?", told)
    assert re.search(r"Total: 8 marks, about \d+ minutes. The paper allows 20 minutes.", told)
    assert "Papers: 3 different ones; 3 students in the class list." in told
    assert "Question 2 has 2 points for" in told
    made = run("exam", "quiz.toml", "--seed", "4", "--format", "pdf", "--quiet")
    assert made.exit_code == 0, made.output
    papers = sorted((folder / "output" / "quiz" / "papers").glob("*.pdf"))
    small, large, other = (len(pypdf.PdfReader(path).pages) for path in papers)
    assert small == other
    for pages, copies in ((small, 2), (large, 1)):
        sheets = -(-pages // 2)
        assert re.search(rf"Pages: {pages} in each of {copies} cop.*{copies * (sheets + 1)} in all", told)


WRONG = """
titel = "Quiz"
class = "nobody.csv"
mask = "causal"
language = "xx"

[[question]]
points = 0
level = "hard"

[[question]]
type = "choice"
item = 3

[[question]]
type = "essay"

[[question]]
mechanism = "attention"
sizes = {q = 3}
"""


def test_everything_that_is_refused_is_said_at_once(folder):
    (folder / "quiz.toml").write_text(WRONG, "utf-8")
    done = run("exam", "quiz.toml", "--check")
    lines = [line for line in done.output.splitlines() if line.startswith("Error: ")]
    assert done.exit_code == 2
    told = (
        "'titel'",
        "nobody.csv",
        "mask is said",
        "'xx'",
        "points is 0",
        "level is 'hard'",
        "mean items",
        "'essay'",
        "no size 'q'",
    )
    assert len(lines) == len(told)
    assert all(sum(what in line for line in lines) == 1 for what in told)
    first = refusal("exam", "quiz.toml").strip()
    assert first in lines


def test_questions_that_cannot_be_drawn_are_all_told_and_nothing_is_written(folder):
    bad = '[[question]]\nmechanism = "attention"\ngiven = {Q = [[1, 2]], K = [[1]], V = [[1]]}\n'
    (folder / "quiz.toml").write_text(bad + '[[question]]\ntype = "masks"\n' + bad, "utf-8")
    done = run("exam", "quiz.toml", "--check")
    assert [line[:18] for line in done.output.splitlines()] == ["Error: Question 1:", "Error: Question 3:"]
    assert list(contents(folder)) == ["quiz.toml"]


def test_a_notation_lies_beside_the_exam_file(folder):
    (folder / "there").mkdir()
    (folder / "there" / "mine.toml").write_text('title = "Mine"\n[names]\nQ = {matrix = "B"}\n', "utf-8")
    (folder / "there" / "quiz.toml").write_text('notation = "mine.toml"\nvariants = 2\n[[question]]\n', "utf-8")
    assert run("exam", "there/quiz.toml", "--check").exit_code == 0


# ------------------------------------------------------------------------------------------------ secrets


def made(folder, *arguments):
    done = run("exam", "quiz.toml", "--format", "markdown", *arguments)
    assert done.exit_code == 0, done.output
    return done


def test_a_secret_that_is_not_there_is_made_for_its_owner_alone_and_used_from_then_on(folder):
    (folder / "quiz.toml").write_text('variants = 2\n[[question]]\ntype = "masks"\n', "utf-8")
    first = made(folder, "--secret", "secret.txt", "--out", "one")
    secret = (folder / "secret.txt").read_text("ascii")
    assert "secret.txt is new" in first.stderr
    assert "Keep it" in first.stderr
    assert len(secret.strip()) >= 43  # 256 bits, six to a letter
    if os.name == "posix":
        assert stat.S_IMODE((folder / "secret.txt").stat().st_mode) == 0o600
    again = made(folder, "--secret", "secret.txt", "--out", "two")
    assert "is new" not in again.stderr
    assert (folder / "secret.txt").read_text("ascii") == secret
    assert contents(folder / "one") == contents(folder / "two")
    assert Dice.secret(folder / "secret.txt").key != Dice.secret(_other(folder)).key
    assert secret.strip() not in "".join(text.decode() for text in contents(folder / "one").values())


def _other(folder):
    assert "other.txt is new" in made(folder, "--secret", "other.txt", "--out", "three").stderr
    return folder / "other.txt"


def test_no_secret_is_made_for_a_file_that_is_refused_or_where_none_can_be(folder):
    (folder / "quiz.toml").write_text('[[question]]\ntype = "essay"\n', "utf-8")
    refusal("exam", "quiz.toml", "--secret", "secret.txt")
    assert not (folder / "secret.txt").exists()
    (folder / "quiz.toml").write_text('[[question]]\ntype = "masks"\n', "utf-8")
    assert "cannot be written" in refusal("exam", "quiz.toml", "--secret", "nowhere/secret.txt")
