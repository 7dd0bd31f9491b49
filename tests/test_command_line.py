"""The command line: every command, every option, and one line with exit code 2 for whatever is wrong."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click import Context
from click.shell_completion import BashComplete
from commands import contents, python, run
from tables import tables_beside
from waiting import GUARD
from wrong_values import without_caret

import symattn
from symattn.cli import main
from symattn.derivation.mechanisms import mechanisms
from symattn.derivation.ops import operations
from symattn.page.notation import notations
from symattn.teaching.exporters import EXPORTERS
from symattn.teaching.problem import examples
from symattn.teaching.problems import problem_types
from symattn.teaching.rendering import formats

TABLES = tables_beside(__file__)

ROOT = Path(symattn.__file__).parent.parent
PROBLEM = 'mechanism = "attention"\n[given]\nQ = [[1, 0]]\nK = [[1, 0], [0, 1]]\nV = [[1], [2]]\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def process(*arguments, cwd, **environment):
    """A real process, as a person starts it."""
    return python("-m", "symattn", *arguments, folder=cwd, **environment)


def files(folder):
    return sorted(contents(folder))


# ------------------------------------------------------------------------------------------------ what works


def test_the_version_is_that_of_the_package():
    assert symattn.__version__ in run("--version").output


def test_a_worksheet_and_its_key_are_written(folder):
    result = run("worksheet", "--seed", 7, "--format", "latex,markdown")
    assert result.exit_code == 0
    right = [f"output/self-attention-7-01{key}{end}" for key in ("", "-key") for end in (".md", ".tex")]
    right += ["output/self-attention-7.json", "output/symattn.sty"]
    assert files(folder) == sorted(right)
    assert sorted(result.output.split()) == sorted(right)

    again = run("worksheet", "--seed", 7, "--format", "latex,markdown", "--quiet")  # replaces what is there

    assert (again.exit_code, again.output) == (0, "")
    assert files(folder) == sorted(right)


def test_an_option_with_a_list_may_be_given_several_times():
    commands = [main.get_command(Context(main), name) for name in main.list_commands(Context(main))]
    lists = [
        (command, o) for command in commands for o in command.params if ",…" in (getattr(o, "metavar", None) or "")
    ]
    assert len(lists) >= 10
    for command, option in lists:
        context = Context(command, **command.context_settings)

        def read(*words, command=command, context=context, option=option):
            return option.process_value(context, command.make_parser(context).parse_args([*words])[0][option.name])

        assert read(option.opts[0], "a,b,c") == read(option.opts[0], "a", option.opts[0], "b,c") == "a,b,c"


@pytest.mark.slow
def test_without_a_seed_one_is_taken_and_named(folder):
    names = [run("worksheet", "--format", "text", "--out", str(i)).output for i in range(2)]
    assert names[0].replace("0/", "", 1) != names[1].replace("1/", "", 1)


@pytest.mark.slow
def test_another_process_with_another_hash_seed_gives_the_same_bytes_in_every_format(folder):
    listed = [f for f in formats() if f not in ("latex-pdf", "latex-body")]  # tested with the writers
    forms = ",".join(listed)
    for seed in ("1", "2"):
        done = process("worksheet", "--seed", 3, "--format", forms, "--out", seed, cwd=folder, PYTHONHASHSEED=seed)
        assert (done.returncode, done.stderr) == (0, "")
        assert "\x1b" not in done.stdout  # no colours and no bars where there is no terminal
    written = contents(folder / "1")
    shared = {"self-attention-3.json", "symattn.sty"}
    assert shared <= set(written)
    assert len(written) == 2 * len(listed) + len(shared)
    assert contents(folder / "2") == written


@pytest.mark.covering(most=2, product=False)
@pytest.mark.parametrize("source", [*examples(), "problem.toml"])
@pytest.mark.parametrize("kind", ["derivation", "worksheet", "key"])
def test_examples_and_files_are_derived(folder, source, kind):
    (folder / "problem.toml").write_text(PROBLEM, "utf-8")
    result = run("derive", source, "--as", kind)
    assert result.exit_code == 0, result.output
    assert result.output.strip()
    written = run("derive", source, "--as", kind, "--format", "latex,markdown", "--out", "o")
    assert written.exit_code == 0
    stem = Path(source).stem + ("" if kind == "derivation" else f"-{kind}")
    assert files(folder / "o") == [f"{stem}.md", f"{stem}.tex", "symattn.sty"]


@pytest.mark.covering(most=2)
@pytest.mark.parametrize(
    "options",
    TABLES["derive"],
    ids=" ".join,
)  # fmt: skip
def test_every_option_of_derive(folder, options):
    result = run("derive", "note-000", *options)
    assert result.exit_code == 0, result.output
    plain = run("derive", "note-000").output
    assert (result.output == plain) == (options in (["--corrected"], ["--by-matrix"], ["--entries", "all"]))


def test_chosen_entries_only_are_written_out():
    output = run("derive", "note-000", "--entries", "2,3", "--notation", "standard").output
    assert "s₂₃ =" in output
    assert "s₁₁ =" not in output


def test_a_shape_note_has_a_miniature():
    assert "×512" not in run("derive", "note-001", "--miniature", "--notation", "standard").output


# ------------------------------------------------------------------------------------------------ lists


@pytest.mark.parametrize(
    ("what", "names"),
    [
        ("mechanisms", mechanisms()), ("examples", examples()), ("notations", notations()),
        ("problems", problem_types()), ("formats", (*formats(), *EXPORTERS)), ("ops", operations()),
    ],
)  # fmt: skip
def test_each_list_shows_its_own(what, names):
    lines = run("list", what).output.splitlines()
    assert [line.split()[0] for line in lines] == list(names)
    assert all(len(line.split()) > 1 for line in lines), "a name without a word on what it is"


def test_the_list_of_ops_says_what_a_step_may_say():
    """In brackets, and of what is only measured, that it is."""
    lines = {line.split()[0]: line for line in run("list", "ops").output.splitlines()}
    assert lines["part"].endswith("[first, count, every, of]")
    assert lines["sinusoids"].endswith("[wavelength, angles, first_position, layout]")
    assert lines["positions"].endswith("[formula, first_position]")
    assert all("the one operand, which is only measured" in lines[name] for name in ("positions", "sinusoids"))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell):
    result = run("completion", shell)
    assert result.exit_code == 0
    assert "_SYMATTN_COMPLETE" in result.output


@pytest.mark.parametrize(
    ("typed", "begun", "right"),
    [
        (["derive"], "", [*examples(), *mechanisms(), "mine.toml"]),
        (["derive"], "note-00", examples()),
        (["worksheet"], "", mechanisms()),
        (["worksheet", "--notation"], "", notations()),
        (["derive", "note-000", "--notation"], "st", ["standard"]),
    ],
)
def test_completion_knows_the_catalogues(folder, typed, begun, right):
    (folder / "mine.toml").write_text("", "utf-8")
    complete = BashComplete(main, {}, "symattn", "_SYMATTN_COMPLETE")
    offered = [item.value for item in complete.get_completions(typed, begun)]
    assert sorted(offered) == sorted(right)


# ------------------------------------------------------------------------------------------------ what doesn't


def test_an_error_in_a_real_process_is_one_line_too(folder):
    done = process("derive", "nothing.toml", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: ")
    assert len(without_caret(done.stderr)) == 1
    assert files(folder) == []


def test_a_folder_that_cannot_be_made_is_one_line(folder):
    (folder / "taken").write_text("a file", "utf-8")
    for out in ("taken", "taken/inside", "/proc/nowhere"):
        result = run("worksheet", "--seed", 1, "--format", "text", "--out", out)
        assert (result.exit_code, result.stdout) == (2, "")
        assert "Nothing can be written to the folder" in result.stderr
        assert result.stderr.count("\n") == 1
    assert files(folder) == ["taken"]
    assert (folder / "taken").read_text("utf-8") == "a file"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_is_one_line(folder):
    locked = folder / "locked"
    locked.mkdir(mode=0o500)
    result = run("worksheet", "--seed", 1, "--format", "text", "--out", locked)
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1


def test_a_file_in_the_way_is_one_line_and_the_rest_is_as_it_was(folder):
    # a folder where one of the files should go: the writing fails half-way
    (folder / "o" / "self-attention-1-01.txt").mkdir(parents=True)
    result = run("worksheet", "--seed", 1, "--format", "text", "--out", "o")
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert files(folder) == []


def test_after_an_interruption_it_is_said_whether_the_same_command_continues(folder, monkeypatch):
    from symattn.teaching.exam import deploy

    (folder / "exam.toml").write_text('variants = 2\n[[question]]\ntype = "masks"\n', "utf-8")
    command = ["worksheet", "exam.toml", "--format", "text", "--out", "o"]

    def interrupted(*args, **others):
        raise KeyboardInterrupt

    for name, says in (
        ("make_exam", "Nothing was written yet; the same command starts again."),
        ("key", f"The same command continues: {Path('o/exam/exam.json')} holds the exam, and pages that are finished"),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(deploy, name, interrupted)
            result = run(*command)
        assert result.exit_code == 130
        assert f"Interrupted. {says}" in result.stderr
    frozen = (folder / "o/exam/exam.json").read_bytes()
    assert run(*command).exit_code == 0
    assert (folder / "o/exam/exam.json").read_bytes() == frozen


@pytest.mark.slow
def test_a_reader_that_goes_away_is_no_error(folder):
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    command = f"{shlex.quote(sys.executable)} -m symattn derive note-000 --entries all --format text,latex | head -1"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"], cwd=folder, capture_output=True, text=True, timeout=GUARD,
        env={**os.environ, "PYTHONPATH": path, "PYTHONUTF8": "1"}, check=False,
    )  # fmt: skip
    assert done.returncode == 0
    assert done.stderr == ""


@pytest.mark.parametrize("mask", ["[" * 5000, "[[" + "1," * 5000 + "1]]"])
def test_a_mask_that_is_no_mask_by_thousands_of_signs(mask, folder):
    done = run("worksheet", "attention", "--mask", mask)
    assert done.exit_code == 2
    assert "mask" in done.output
    assert files(folder) == []


def test_as_many_places_as_are_asked_for(folder):
    assert run("worksheet", "attention", "--seed", 1, "--decimal", "--places", 2, "--format", "text").exit_code == 0
    key = (folder / "output/attention-1-01-key.txt").read_text("utf-8")
    assert "--places 2" in key
    assert {len(digits) for digits in re.findall(r"\b\d+\.(\d+)\b", key)} == {2}
