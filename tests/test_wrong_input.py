"""Whatever is wrong with an input is said in one sentence, which has where it is, what came and what was expected.

The table is `wrong_input.toml`: problem files, notations, exams, catalogues, commands, arguments in Python.
"""

import shlex

import pytest
from commands import run
from sentences import assert_sentence
from tables import tables_beside
from wrong_values import without_caret

import symattn
from symattn.errors import InputError
from symattn.foundation.languages import read_catalogue

TABLE = tables_beside(__file__)
RIGHT = 'mechanism = "attention"\n[given]\nQ = [[1]]\nK = [[1], [2]]\nV = [[1], [2]]\n'
FILES = {
    "problem": ("problem.toml", "derive problem.toml"),
    "notation": ("mine.toml", "derive right.toml --notation mine.toml"),
    "exam": ("exam.toml", "worksheet exam.toml"),
}
IN_FILES = [(kind, what) for kind in FILES for what in TABLE[kind]]
IN_PYTHON = [(verb, what) for verb, rows in TABLE["python"].items() for what in rows]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def files(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refused(folder, command):
    """The sentence with which a command ends that must fail and write nothing."""
    before = files(folder)
    done = run(*shlex.split(command))
    assert (done.exit_code, done.stdout) == (2, ""), done.output
    assert files(folder) == before
    lines = without_caret(done.stderr)
    if lines[0].startswith("Usage:"):  # what click finds has two more lines, and a blank one
        lines = lines[3:]
    [sentence] = lines
    return sentence.removeprefix("Error: ")


def assert_says(sentence, row):
    assert [words for words in row["says"] if words not in sentence] == [], sentence
    assert_sentence(sentence)


@pytest.mark.parametrize(("kind", "what"), IN_FILES)
def test_what_is_wrong_in_a_file_is_said_with_its_place(folder, kind, what):
    name, command = FILES[kind]
    row = TABLE[kind][what]
    (folder / "right.toml").write_text(RIGHT, "utf-8")
    (folder / name).write_text(row["text"], "utf-8")
    sentence = refused(folder, row.get("run", command))
    assert_says(sentence, row)
    assert (name in sentence) == row.get("placed", True)


@pytest.mark.parametrize("command", TABLE["command"])
def test_what_is_wrong_on_the_command_line_is_said(folder, command):
    assert_says(refused(folder, command), TABLE["command"][command])


@pytest.mark.parametrize(("verb", "what"), IN_PYTHON)
def test_what_is_wrong_in_python_is_said(folder, verb, what):
    row = TABLE["python"][verb][what]
    more = {"problem": "note-002"} if verb == "check" else {}
    with pytest.raises(InputError) as error:
        getattr(symattn, verb)(**more, **row["with"])
    assert_says(str(error.value), row)
    assert files(folder) == {}


@pytest.mark.parametrize("what", TABLE["catalogue"])
def test_what_is_wrong_in_a_catalogue_is_said(what):
    row = TABLE["catalogue"][what]
    with pytest.raises(InputError) as error:
        read_catalogue(row["text"], "xx.po")
    assert_says(str(error.value), row)
    assert str(error.value).startswith("xx.po")
