"""What cannot be read is shown with a caret below the character: on the command line, in files, in answers."""

import re
import unicodedata

import pytest
from commands import run
from hypothesis import given
from hypothesis import strategies as st

import symattn
from symattn.errors import InputError, ReadError, pointer_of

PROBLEM = 'mechanism = "attention"\n[given]\nQ = [[1, {}]]\nK = [[1, 0], [0, 1]]\nV = [[1], [2]]\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "problem.toml").write_text(PROBLEM.format(0), "utf-8")
    (tmp_path / "wrong.toml").write_text(PROBLEM.format('"2^^e"'), "utf-8")
    (tmp_path / "answers.toml").write_text(
        '[answers]\nS = [["1", "0"]]\n"S\'" = [["1/sqrt(2", "0"]]\nA = [["1//2", "0.4"]]\n', "utf-8"
    )
    return tmp_path


def refused(*arguments):
    done = run(*arguments)
    assert done.exit_code == 2
    assert done.stdout == ""
    return done.stderr.splitlines()


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=100), st.data())
def test_the_caret_stands_below_the_character(text, data):
    place = data.draw(st.integers(0, len(text)))
    shown, caret = ReadError("", text, place).pointer.split("\n")
    assert caret == " " * (len(caret) - 1) + "^"
    below = shown[len(caret) - 1 :]
    assert below.rstrip("…").startswith(text[place : place + 1])
    assert text.startswith(below.rstrip("…"), place)
    assert text[:place].endswith(shown[: len(caret) - 1].lstrip("…"))


@given(st.text(max_size=80), st.data())
def test_nothing_that_was_typed_moves_the_cursor(text, data):
    pointer = ReadError("", text, data.draw(st.integers(0, len(text)))).pointer
    shown, caret = pointer.split("\n")  # two lines, whatever was typed
    assert not any(unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") for c in shown)
    assert caret.strip(" ") == "^"


def test_wide_and_combining_characters_count_as_they_are_shown():
    assert ReadError("", "日本+", 2).pointer == "日本+\n    ^"
    assert ReadError("", "e\u0301+", 2).pointer == "e\u0301+\n ^"


def test_the_pointer_is_found_behind_other_errors():
    error = InputError("the scale cannot be used")
    error.__cause__ = ReadError("it ends", "1/", 2)
    assert pointer_of(error) == "1/\n  ^"
    assert pointer_of(InputError("something else")) == ""


@pytest.mark.parametrize(
    ("arguments", "text", "place"),
    [
        (["worksheet", "--scale", "sqrt("], "sqrt(", 5),
        (["worksheet", "--base", "3^^4"], "3^^4", 2),
        (["worksheet", "--temperature", "1 +"], "1 +", 3),
        (["derive", "wrong.toml"], "2^^e", 2),
        (["check", "wrong.toml", "answers.toml"], "2^^e", 2),
    ],
)
def test_it_is_shown_below_the_error(folder, arguments, text, place):
    assert refused(*arguments)[1:] == [f"  {text}", f"  {' ' * place}^"]


def test_an_error_that_no_text_is_behind_has_no_caret(folder):
    assert len(refused("worksheet", "--scale", "0")) == 1
    assert len(refused("derive", "nothing.toml")) == 1


def test_check_shows_every_answer_that_could_not_be_read(folder):
    done = run("check", "problem.toml", "answers.toml")
    assert done.exit_code == 0
    lines = done.stderr.splitlines()
    assert [line.partition(":")[0] for line in lines[::3]] == ["S'[1,1]", "A[1,1]"]
    assert lines[1:3] == ["  1/sqrt(2", "  " + " " * 8 + "^"]
    assert lines[4:6] == ["  1//2", "  " + " " * 2 + "^"]
    assert all(re.search(r"\.$", line) for line in lines[::3])
    assert "^\n" not in done.stdout


def test_in_python_too():
    marking = symattn.check(symattn.derive("attention", Q=[[1, 0]], K=[[1, 0]], V=[[2]]), {"S": [["1)"]]})
    assert [text.split("\n")[1:] for text in marking.unread] == [["  1)", "   ^"]]


def test_of_many_entries_that_cannot_be_read_a_few_are_shown_and_the_report_names_all(folder):
    rows = [[f"w{i}{j}" for j in "123"] for i in "123"]
    (folder / "many.toml").write_text(
        'mechanism = "attention"\n[given]\n'
        + "".join(f"{name} = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]\n" for name in "QKV"), "utf-8"
    )  # fmt: skip
    (folder / "nonsense.toml").write_text(f"[answers]\nS = {rows}\n", "utf-8")
    done = run("check", "many.toml", "nonsense.toml")
    assert done.stderr.count("^") == 5
    assert done.stderr.splitlines()[-1] == "4 more could not be read; the report says which."
    said = " ".join(done.stdout.replace("│", "").split())
    assert (
        "15 marks are open: something could not be read for certain. Write it out and check again. "
        "– nothing written · ? could not be read" in said
    )
    assert all(text in said for row in rows for text in row)
