"""What a command loads before it answers, and what is remembered for the next one."""

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from commands import python
from waiting import GUARD

from symattn.cli import lists, main
from symattn.cli.options import names_of
from symattn.foundation import remembered
from symattn.foundation.languages import catalogue
from symattn.foundation.remembered import Compiled

ROOT = Path(__file__).parent.parent
HEAVY = (
    "sympy", "mpmath", "numpy", "rich", "jinja2", "polib", "openpyxl", "pypdf", "typst", "symattn.exact",
    "symattn.derivation.ops", "symattn.teaching.problems.masks", "symattn.teaching.fairness", "symattn.teaching.exam",
    "symattn.marking.marker", "symattn.marking.grading.run", "symattn.page.writers.typst",
    "symattn.page.writers.latex", "symattn.page.writers.html", "symattn.derivation.mechanisms.encoder",
    "symattn.derivation.mechanisms.custom", "symattn.derivation.ops.online", "symattn.teaching.fairness.search",
    "symattn.teaching.sheets", "symattn.teaching.explanation.documents", "symattn.derivation.slips",
    "symattn.derivation.ops.scores", "symattn.derivation.ops.normalisation", "symattn.derivation.ops.position",
    "symattn.derivation.misconceptions.gradient", "symattn.teaching.fairness.separation", "symattn.teaching.exporters",
    "symattn.teaching.frozen",
)  # fmt: skip
DERIVING = {"symattn.exact", "symattn.derivation.ops"}
WRITING = {*DERIVING, "symattn.teaching.explanation.documents"}
DRAWING = {*WRITING, "symattn.teaching.fairness", "symattn.teaching.sheets", "symattn.teaching.frozen", "jinja2"}
PROBLEM = """
[given]
X = [[1, 0], [0, 2]]
W_Q = [[1, 0], [0, 1]]
W_K = [[1, 1], [0, 1]]
W_V = [[1, 0], [2, 1]]
"""
ANSWERS = "Q = [[1, 0], [0, 2]]\n"


def loaded(folder, code, *arguments, **environment):
    """What is heavy of what some code loads."""
    code = f"import sys\n{code}\nprint('loaded:', *sys.modules)"
    done = python("-c", code, *arguments, folder=folder, **environment)
    assert (done.returncode, done.stderr) == (0, "")
    return set(done.stdout.rpartition("loaded:")[2].split()) & set(HEAVY)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("cold")
    (made / "problem.toml").write_text(PROBLEM, "utf-8")
    (made / "answers.toml").write_text(ANSWERS, "utf-8")
    return made


COMMAND = "from symattn.cli import main; main(sys.argv[1:], standalone_mode=False)"
IN_PYTHON = "import symattn; symattn.{}"


@pytest.mark.covering(most=1)
@pytest.mark.parametrize(
    ("may", "asked"),
    [
        (set(), "--help"),
        (set(), "--version"),
        (set(), "worksheet --help"),
        (set(), "check --help"),
        (set(), "completion bash"),
        (set(), "list"),
        (set(), "list mechanisms"),
        (WRITING, "derive problem.toml --format text --out derived"),
        (DRAWING, "worksheet self_attention --seed 5 --format markdown --out markdown"),
        ({*DRAWING, "symattn.page.writers.typst", "typst"}, "worksheet --seed 5 --format pdf --out pdf"),
        (DERIVING, "derive('attention', Q=[[1, 0]], K=[[1, 0], [0, 1]], V=[[1], [2]])"),
        (
            {
                *DERIVING,
                "symattn.teaching.fairness",
                "symattn.marking.marker",
                "symattn.teaching.exam",
                "polib",
            },
            "check('problem.toml', 'answers.toml').right",
        ),
    ],
)
def test_a_command_and_a_verb_in_python_load_what_they_need(folder, may, asked):
    code = (IN_PYTHON.format(asked),) if "(" in asked else (COMMAND, *asked.split())
    found = loaded(folder, *code)
    assert found <= may, f"{found - may} need not be loaded"


@pytest.mark.slow
def test_a_sheet_of_a_practice_page_is_there_before_marking_and_other_types_are_loaded(folder):
    request = json.dumps({"verb": "draw", "recipe": "attention --level starter", "seed": 7})
    found = loaded(folder, f"from symattn.practice.session import answer; assert 'html' in answer({request!r})")
    assert found == {*DRAWING, "symattn.page.writers.html"} - {"jinja2"}


@pytest.mark.slow
def test_what_is_heavy_is_seen_when_it_is_loaded(folder):
    call = "derive('attention', Q=[['x', 0]], K=[[1, 0], [0, 1]], V=[[1], [2]])"
    assert {"sympy", "mpmath", "symattn.exact"} <= loaded(folder, IN_PYTHON.format(call))


# ------------------------------------------------------------------------------------------------ remembered

DETAILS = ["list settings", "list mechanism layer_norm", "list problem masks", "list misconceptions T2",
           "list settings attention"]  # fmt: skip


def shown(arguments):
    done = CliRunner().invoke(main, arguments.split(), catch_exceptions=False)
    assert done.exit_code == 0
    return done.output


def test_details_are_remembered_and_say_the_same(folder, tmp_path, monkeypatch):
    anew = [shown(arguments) for arguments in DETAILS]
    monkeypatch.setenv("SYMATTN_CACHE", str(tmp_path))
    assert [shown(arguments) for arguments in DETAILS] == anew
    with monkeypatch.context() as patch:
        patch.setattr(lists, "details", lambda: dict.fromkeys(("mechanisms", "problems", *DETAILED), refused))
        patch.setattr(lists, "all_settings", refused)
        assert [shown(arguments) for arguments in DETAILS] == anew
    assert loaded(folder, COMMAND, *DETAILS[1].split(), SYMATTN_CACHE=str(tmp_path)) == set()


DETAILED = ("settings", "misconceptions")


def refused(*_):
    raise AssertionError("what is remembered was made again")


def test_lists_and_names_have_what_lies_in_folders_of_the_users_as_well(tmp_path, monkeypatch):
    assert "self_attention" in names_of("mechanisms")()
    (tmp_path / "exporters").mkdir()
    own = '"""Cards."""\nSUFFIX = ".cards"\nLOST = ""\n\n\ndef write(bank):\n    return b""\n'
    (tmp_path / "exporters" / "cards.py").write_text(own, "utf-8")
    monkeypatch.setenv("SYMATTN_PATH", str(tmp_path))
    done = python("-m", "symattn", "list", "formats", folder=tmp_path)
    assert ["cards", "Cards."] in map(str.split, done.stdout.splitlines())


def test_a_language_is_parsed_once_and_says_the_same(tmp_path, monkeypatch):
    read = catalogue.__wrapped__
    anew = read("de")
    monkeypatch.setenv("SYMATTN_CACHE", str(tmp_path))
    first = read("de")
    monkeypatch.setitem(sys.modules, "polib", None)
    for known in (first, read("de")):
        assert (known.code, known.name, known.signs) == ("de", "Deutsch", anew.signs)
        assert known.messages == anew.messages
        assert [known.form(n) for n in range(5)] == [anew.form(n) for n in range(5)]


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of which something is remembered, and `made`, what was made of it."""
    own = tmp_path / "own"
    (own / "inner").mkdir(parents=True)
    (own / "inner" / "file.py").write_text("1", "utf-8")
    monkeypatch.setattr(remembered, "PACKAGE", own)
    monkeypatch.setenv("SYMATTN_CACHE", str(tmp_path / "kept"))
    return own


def asked(package):
    """What is remembered of a package by a process that begins now."""
    remembered.installation.cache_clear()
    try:
        file = package / "inner" / "file.py"
        return remembered.remembered("group", "name", lambda: MADE.append(1) or file.read_text("utf-8"))
    finally:
        remembered.installation.cache_clear()


MADE = []


def test_what_is_remembered_is_never_stale(package):
    file = package / "inner" / "file.py"
    MADE.clear()
    assert [asked(package), asked(package), len(MADE)] == ["1", "1", 1]
    times = file.stat()
    file.write_text("2", "utf-8")  # as long as it was, and as old
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert [asked(package), asked(package), len(MADE)] == ["2", "2", 2]
    (package / "other.toml").write_text("", "utf-8")
    assert [asked(package), asked(package), len(MADE)] == ["2", "2", 3]
    (package / "__pycache__").mkdir()
    (package / "__pycache__" / "file.pyc").write_text("", "utf-8")
    assert [asked(package), len(MADE)] == ["2", 3]
    (package / "other.toml").rename(package / "another.toml")
    assert [asked(package), len(MADE)] == ["2", 4]


def test_what_changes_while_it_is_made_is_not_kept(package):
    file = package / "inner" / "file.py"

    def make():
        found = file.read_text("utf-8")
        file.write_text("2", "utf-8")
        return found

    remembered.installation.cache_clear()
    assert remembered.remembered("group", "name", make) == "1"
    file.write_text("1", "utf-8")
    MADE.clear()
    assert [asked(package), len(MADE)] == ["1", 1]


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b'{"state": 1}', b"\xff\xfe"])
def test_what_was_spoilt_is_made_anew(package, tmp_path, content):
    asked(package)
    [file] = (tmp_path / "kept").iterdir()
    whole = json.loads(file.read_bytes())
    file.write_bytes(content)
    assert asked(package) == "1"
    assert json.loads(file.read_bytes()) == whole


@pytest.mark.parametrize("why", ["nowhere", "a file", "the user's own", "an archive", "a link to nothing"])
def test_where_nothing_is_kept_it_is_made_each_time(package, tmp_path, monkeypatch, why):
    match why:
        case "nowhere":
            monkeypatch.setenv("SYMATTN_CACHE", "")
        case "a file":
            (tmp_path / "kept").write_text("", "utf-8")
        case "the user's own":
            monkeypatch.setenv("SYMATTN_PATH", str(tmp_path))
        case "an archive":
            monkeypatch.setattr(remembered, "PACKAGE", package / "archive.zip")
        case "a link to nothing":
            (package / ".#file.py").symlink_to("nothing")
    MADE.clear()
    assert [asked(package), asked(package), len(MADE)] == ["1", "1", 2]
    assert not (tmp_path / "kept").is_dir()


TEXTS = 1 if sys.version_info >= (3, 13) else 6
"""That dataclasses write for the class below: of all methods at once, or of each."""


def with_kept_methods(file, monkeypatch):
    """A class of which the methods come from a file, or go there."""
    compiled = Compiled(file)
    with monkeypatch.context() as patched:
        patched.setattr(dataclasses, "exec", compiled.execute, raising=False)
        made = dataclasses.make_dataclass("Pair", ["one", ("two", int, 2)], frozen=True)
    return compiled, made


@pytest.mark.parametrize("spoilt", [None, b"", b"[]", b"x" * 200, 20, -1], ids=repr)
def test_methods_are_compiled_once_and_do_the_same(tmp_path, monkeypatch, spoilt):
    file = tmp_path / "kept" / "code.bin"
    first, made = with_kept_methods(file, monkeypatch)
    assert (first.known, len(first.codes)) == (0, TEXTS)
    first.keep()
    content = file.read_bytes()
    if spoilt is not None:
        file.write_bytes(content[:spoilt] if isinstance(spoilt, int) else spoilt)
    second, again = with_kept_methods(file, monkeypatch)
    assert (second.known, len(second.codes)) == (0 if spoilt is not None else TEXTS, TEXTS)
    second.keep()
    assert file.read_bytes() == content
    for pair in (made, again):
        assert (repr(pair(1)), pair(1) == pair(1, 2), hash(pair(1))) == ("Pair(one=1, two=2)", True, hash((1, 2)))
        with pytest.raises(dataclasses.FrozenInstanceError):
            pair(1).one = 2


def test_methods_that_were_once_kept_do_not_add_up(tmp_path, monkeypatch):
    file = tmp_path / "code.bin"
    with_kept_methods(file, monkeypatch)[0].keep()
    later = Compiled(file)
    later.execute("other = 1", {})
    monkeypatch.setattr("symattn.foundation.remembered.MOST", TEXTS)
    later.keep()
    assert [*Compiled(file).codes] == ["other = 1"]


@pytest.mark.slow
@pytest.mark.parametrize(("command", "kept"), [("derive note-002", True), ("--help", False)])
def test_what_a_command_compiles_is_kept_in_the_users_folder(tmp_path, command, kept):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "SYMATTN_CACHE": str(tmp_path)}
    run = [sys.executable, "-m", "symattn", *command.split()]
    said = [subprocess.run(run, env=environment, capture_output=True, timeout=GUARD, check=True).stdout for _ in "12"]
    assert said[0] == said[1]
    assert len(list(tmp_path.glob("code-*.bin"))) == kept
    assert all(len(Compiled(file).codes) > 80 * TEXTS for file in tmp_path.glob("code-*.bin"))
    nowhere = subprocess.run(run, env={**environment, "SYMATTN_CACHE": ""}, capture_output=True, check=True)
    assert nowhere.stdout == said[0]
