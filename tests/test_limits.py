"""Processes that work on what strangers typed: they end at limits of processor time and memory, never at the clock."""

import os
import sys
import time
from pathlib import Path

import pytest
from commands import python, refusal, run
from sentences import refused_saying
from wrong_values import without_caret

from symattn.cli import main
from symattn.foundation import confined
from symattn.foundation.dice import LARGEST_SECRET, Dice
from symattn.foundation.workers import KEPT, Hands, Limits, LostError, answer_of, text_of

posix = pytest.mark.skipif(os.name != "posix", reason="limits are a matter of POSIX")
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory of a process is limited on Linux only")


@pytest.fixture
def hands():
    own = Hands()
    yield own
    own.close()


def asked(hands, job, seconds, memory=2**31):
    """What comes of a job (`odd_jobs.told`) within limits."""
    return answer_of(hands.do("odd_jobs:told", "null", text_of(job), Limits(seconds, memory)))["answer"]


@linux
def test_what_takes_all_memory_is_ended(hands):
    with pytest.raises(LostError, match=r"^The work takes more than 2 GiB of memory and was stopped\.$"):
        asked(hands, "grow", 60)
    assert asked(hands, "after", 60) == "after"


@posix
def test_the_clock_ends_nothing_that_is_only_late_but_what_stands_still(hands):
    """Three times the limit, and hardly any processor time: as on a machine with too much to do."""
    assert asked(hands, 1.5, 0.5) == 1.5
    with pytest.raises(LostError, match="stood still"):
        asked(hands, 600.0, 0.05)


def test_where_many_programs_wait_for_a_processor_each_is_given_as_many_times_as_long(monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    for waiting, times in ((0.0, 1), (3.9, 1), (12.0, 3), (60.0, 15)):
        monkeypatch.setattr(os, "getloadavg", lambda waiting=waiting: (waiting, 99, 99), raising=False)
        assert confined.patience() == times * confined.PATIENCE
    monkeypatch.delattr(os, "getloadavg")  # as on Windows
    assert confined.patience() == confined.PATIENCE

    def hidden():
        raise OSError("Load averages are unobtainable")

    monkeypatch.setattr(os, "getloadavg", hidden, raising=False)
    assert confined.patience() == confined.PATIENCE


@pytest.mark.slow
@posix
def test_limits_are_those_of_one_job_and_not_of_those_before_it(hands):
    with pytest.raises(LostError, match=r"^The work took more than 1 s of processor time and was stopped\.$"):
        asked(hands, "spin", 1)
    assert [asked(hands, f"job {k}", 0.2) for k in range(20)] == [f"job {k}" for k in range(20)]
    assert asked(hands, 3.0, 10) == 3.0  # the limit of the clock of those before is over


# ------------------------------------------------------------------------------------------------ the command

PROBLEM = 'mechanism = "attention"\nscale = "none"\n[given]\nQ = [[1, 0]]\nK = [[1, 0], [0, 1]]\nV = [[1], [2]]\n'
RIGHT = 'S = [[1, 0]]\nA = [["e/(e+1)", "1/(1+e)"]]\nZ = [["(e+2)/(e+1)"]]\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "problem.toml").write_text(PROBLEM, "utf-8")
    (tmp_path / "right.toml").write_text(RIGHT, "utf-8")
    return tmp_path


@pytest.mark.slow
@posix
@pytest.mark.parametrize(
    ("marker", "says"),
    [
        ("odd_jobs:hanging_check", "Marking it took more than 1 s of processor time and was stopped."),
        ("odd_jobs:defective_check", "a defect of symattn: KeyError: 'no'"),
    ],
)
def test_check_of_what_never_ends_and_a_defect_are_a_sentence(folder, monkeypatch, marker, says):
    """Whatever may happen in marking: here the marker itself is made to."""
    monkeypatch.setattr("symattn.cli.check.CHECKING", marker)
    monkeypatch.setattr("symattn.cli.check.CHECK_SECONDS", 1)
    assert says in refusal("check", "problem.toml", "right.toml")
    KEPT.close()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_is_no_answer(folder):
    os.mkfifo(folder / "pipe.toml")
    assert "pipe.toml is a pipe or a device; a file was expected." in refusal("check", "problem.toml", "pipe.toml")
    assert "a file was expected" in refusal("check", "problem.toml", "/dev/zero")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
def test_a_full_disk_is_a_sentence(folder):
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = python("-m", "symattn", "derive", "problem.toml", output=full)
    assert (done.returncode, done.stderr) == (2, "Error: The output cannot be written: No space left on device.\n")


def test_a_secret_without_end_is_refused(tmp_path):
    (tmp_path / "long").write_bytes(b"x" * (LARGEST_SECRET + 1))
    endless = [Path("/dev/zero")] if Path("/dev/zero").exists() else []
    for path in (tmp_path / "long", *endless):
        with refused_saying("has more than"):
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


@pytest.mark.parametrize("what", [*TEMPLATES, *(pytest.param(what, marks=linux) for what in LARGE)])
def test_a_template_that_cannot_be_filled_is_a_sentence(folder, what):
    template, said = TEMPLATES.get(what) or (LARGE[what], "The template document.md.j2 in the folder own is too large.")
    (folder / "own").mkdir()
    (folder / "own" / "document.md.j2").write_text(template, "utf-8")
    assert said in refusal("derive", "problem.toml", "--format", "markdown", "--templates", "own")
    result = run("derive", "problem.toml", "--format", "markdown")
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
            for value in WRONG[number % 4 :: 4]:
                name = option.opts[-1]
                given = f"{name}={value}" if name.startswith("--") else f"{name}{value}"
                started = time.process_time()
                result = run(*COMMANDS[command], given)
                assert result.exit_code in (0, 2), given
                assert "defect of symattn" not in result.output, given
                if result.exit_code == 2 and "Usage:" not in result.output:
                    assert len(without_caret(result.output)) == 1, given
                    assert len(result.output) < 1500, given
                assert time.process_time() - started < 30, given
