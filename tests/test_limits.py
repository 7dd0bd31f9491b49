"""Processes that work on what strangers typed: they end at limits of processor time and memory, never at the clock."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from wrong_values import without_caret

from symattn.cli import main
from symattn.errors import InputError
from symattn.foundation.dice import LARGEST_SECRET, Dice
from symattn.foundation.workers import Kept, LostError, Worker, processor_time

posix = pytest.mark.skipif(os.name != "posix", reason="limits are a matter of POSIX")
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory of a process is limited on Linux only")

# What it is asked to do, in C where no signal is handled; within the limits of every worker.
PROGRAM = """
import time
from symattn.marking.grading.worker import serve

def answer(job):
    match job.get("do"):
        case "spin": sum(iter(int, 1))
        case "grow": "x" * 10**11
        case "wait": time.sleep(job["seconds"])
    return {"did": job}

serve(lambda settings: answer)
"""
COMMAND = (sys.executable, "-c", PROGRAM)


@pytest.mark.slow
@posix
def test_what_never_ends_is_ended_by_its_own_processor_time():
    worker = Worker(COMMAND, None, 1)
    with pytest.raises(LostError, match=r"^Marking it took more than 1 seconds of processor time and was stopped\.$"):
        worker.ask({"do": "spin"})
    worker.end()


@linux
def test_what_takes_all_memory_is_ended():
    worker = Worker(COMMAND, None, 60)
    with pytest.raises(LostError, match=r"^Marking it takes more than 2 GiB of memory and was stopped\.$"):
        worker.ask({"do": "grow"})
    assert not worker.alive


@posix
def test_the_clock_ends_nothing_that_is_only_late():
    """Three times the limit, and hardly any processor time: as on a machine with too much to do."""
    worker = Worker(COMMAND, None, 0.5)
    assert worker.ask({"do": "wait", "seconds": 1.5})["did"]
    worker.end()


@posix
def test_what_stands_still_is_ended_in_the_end():
    worker = Worker(COMMAND, None, 0.05)
    with pytest.raises(LostError, match="stood still"):
        worker.ask({"do": "wait", "seconds": 600})
    worker.end()


@pytest.mark.slow
@posix
def test_after_a_loss_the_next_job_is_done():
    kept = Kept(COMMAND, 1)
    with pytest.raises(LostError):
        kept.ask({"do": "spin"})
    assert kept.ask({"do": "nothing"})["did"]
    kept.end()


@linux
def test_processor_time_is_that_of_the_system():
    before = os.times()
    seen = processor_time(os.getpid())
    after = os.times()
    assert before.user + before.system - 0.05 <= seen <= after.user + after.system + 0.05


# ------------------------------------------------------------------------------------------------ the command

PROBLEM = 'mechanism = "attention"\nscale = "none"\n[given]\nQ = [[1, 0]]\nK = [[1, 0], [0, 1]]\nV = [[1], [2]]\n'
RIGHT = 'S = [[1, 0]]\nA = [["e/(e+1)", "1/(1+e)"]]\nZ = [["(e+2)/(e+1)"]]\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "problem.toml").write_text(PROBLEM, encoding="utf-8")
    (tmp_path / "right.toml").write_text(RIGHT, encoding="utf-8")
    return tmp_path


def refusal(*arguments: object) -> str:
    """The one sentence that something gets."""
    result = CliRunner().invoke(main, [str(a) for a in arguments], catch_exceptions=False)
    assert result.exit_code == 2, result.output
    assert result.output.startswith("Error: ")
    assert result.output.count("\n") == 1
    return result.output


@pytest.mark.slow
@posix
def test_check_of_what_never_ends_is_a_sentence(folder, monkeypatch):
    """Whatever may hang in marking: here the marker itself is made to."""
    fault = "import symattn.cli.checker as c\nc.checked = lambda *a: sum(iter(int, 1))\nc.main()\n"
    kept = Kept((sys.executable, "-c", fault), 1)
    monkeypatch.setattr("symattn.cli.check.checker", lambda: kept)
    said = refusal("check", "problem.toml", "right.toml")
    assert said == "Error: right.toml: Marking it took more than 1 seconds of processor time and was stopped.\n"
    kept.end()


@pytest.mark.slow
@posix
def test_a_defect_in_marking_is_a_sentence(folder, monkeypatch):
    fault = "import symattn.cli.checker as c\nc.checked = lambda *a: {}['no']\nc.main()\n"
    kept = Kept((sys.executable, "-c", fault), 10)
    monkeypatch.setattr("symattn.cli.check.checker", lambda: kept)
    assert "a defect of symattn: KeyError: 'no'" in refusal("check", "problem.toml", "right.toml")
    kept.end()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_is_no_answer(folder):
    os.mkfifo(folder / "pipe.toml")
    assert "pipe.toml is a pipe or a device; a file was expected." in refusal("check", "problem.toml", "pipe.toml")
    assert "a file was expected" in refusal("check", "problem.toml", "/dev/zero")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
def test_a_full_disk_is_a_sentence(folder):
    path = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = subprocess.run(
            [sys.executable, "-m", "symattn", "derive", "problem.toml"], stdout=full, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONPATH": path}, check=False,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (2, "Error: The output cannot be written: No space left on device.\n")


def test_a_secret_without_end_is_refused(tmp_path):
    (tmp_path / "long").write_bytes(b"x" * (LARGEST_SECRET + 1))
    endless = [Path("/dev/zero")] if Path("/dev/zero").exists() else []
    for path in (tmp_path / "long", *endless):
        with pytest.raises(InputError, match="has more than"):
            Dice.secret(path)


# ------------------------------------------------------------------------------------------------ templates

TEMPLATES = {
    "one that extends itself": ('<% extends "document.md.j2" %>', "extends or includes itself"),
    "one that includes itself": ('<% include "document.md.j2" %>', "extends or includes itself"),
    "a macro without end": (
        "<% macro m() %><< m() >><% endmacro %><< m() >>",
        "includes itself, or is nested too deep",
    ),
    "a power that fills no page": ("<< (10 ** 9) ** (10 ** 9) >>", "too large"),
    "words without end": ("<< lipsum(n=10000000) >>", "'lipsum' is undefined"),
    "a loop without end": ("<% for i in range(10**9) %>x<% endfor %>", "Range too big"),
}
LARGE = {
    "a text of ten gigabytes": "<< 'x' * 10**10 >>",
    "a list without end": "<< [1] * 10**10 >>",
    "ten gigabytes joined": "<< (['x' * 10**5] * 10**5)|join >>",
    "a wide number": "<< '%100000000000d' % 3 >>",
}


def with_template(folder: Path, template: str) -> str:
    (folder / "own").mkdir(exist_ok=True)
    (folder / "own" / "document.md.j2").write_text(template, encoding="utf-8")
    return refusal("derive", "problem.toml", "--format", "markdown", "--templates", "own")


@pytest.mark.parametrize("what", TEMPLATES)
def test_a_template_that_cannot_be_filled_is_a_sentence(folder, what):
    template, said = TEMPLATES[what]
    assert said in with_template(folder, template)


@linux
@pytest.mark.parametrize("what", LARGE)
def test_a_template_that_would_take_all_memory_is_a_sentence(folder, what):
    assert "The template document.md.j2 in the folder own is too large." in with_template(folder, LARGE[what])
    result = CliRunner().invoke(main, ["derive", "problem.toml", "--format", "markdown"])
    assert result.exit_code == 0  # and nothing is limited any more


# ------------------------------------------------------------------------------------------------ options

WRONG = (
    "", "-1", "0", "1e400", "9" * 5000, "x" * 3000, "nan", "\U0001f642", "1/0", "[[1,0]]", "[[", "a=b", "n=1,n=2",
    "n=99999999999999999999", "../../etc/passwd", "/dev/null", ".", "--", "sqrt(-1)", "1:2:3:4", "1,1;0,0", "window:-1",
    "alibi:1/0", "\u00b2", "\u0663",
)  # fmt: skip
COMMANDS = {
    "derive": ["derive", "problem.toml"],
    "check": ["check", "problem.toml", "right.toml"],
    "worksheet": ["worksheet", "nothing"],  # refused at the latest there: what is drawn is not tried here
    "stress": ["stress", "nothing"],
    "grade": ["grade", "problem.toml", "right.toml"],
}


@pytest.mark.covering(most=1)
@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_with_wrong_values(folder, command):
    """Used, or refused in a sentence: an exception that nobody raised on purpose would come out of `invoke`."""
    for number, option in enumerate(main.commands[command].params):
        if not getattr(option, "is_flag", True) and "--out" not in option.opts:
            for value in WRONG[number % 3 :: 3]:
                name = option.opts[-1]
                given = f"{name}={value}" if name.startswith("--") else f"{name}{value}"
                started = time.process_time()
                result = CliRunner().invoke(main, [*COMMANDS[command], given], catch_exceptions=False)
                assert result.exit_code in (0, 2), given
                assert "defect of symattn" not in result.output, given
                if result.exit_code == 2 and "Usage:" not in result.output:
                    assert len(without_caret(result.output)) == 1, given
                    assert len(result.output) < 1500, given
                assert time.process_time() - started < 30, given
