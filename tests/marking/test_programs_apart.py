"""A program that is judged runs apart: whatever it patches, ends or fills up, the verdict is that on its numbers."""

import os
import signal
import sys
import time
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from sentences import refused_saying

import symattn
import symattn.testing
from symattn import derive, trace
from symattn.errors import InputError
from symattn.foundation import confined
from symattn.marking.implementations import running
from symattn.marking.implementations.report import Comparison
from symattn.testing import assert_attention

forks = pytest.mark.skipif(not running.FORKS, reason="a function runs apart where the system forks")


@cache
def plain():
    return derive("attention", Q=[[1, 0], [0, 2]], K=[[1, 1], [0, 2]], V=[[1], [2]])


def right(q, k, v):
    powers = np.exp(q @ k.T / np.sqrt(k.shape[1]))
    weights = powers / powers.sum(axis=1, keepdims=True)
    return weights @ v


def unscaled(q, k, v):
    powers = np.exp(q @ k.T)
    return powers / powers.sum(axis=1, keepdims=True) @ v


# ------------------------------------------------------------------------------------------------ who patches


def patches_the_verdict(q, k, v):
    Comparison.right = property(lambda self: True)
    return unscaled(q, k, v)


def patches_what_demands(q, k, v):
    symattn.testing._demand = lambda held, otherwise: None  # noqa: SLF001
    return unscaled(q, k, v)


def patches_what_compares(q, k, v):
    sys.modules["symattn.marking.implementations.comparison"].fits = lambda rows, box: True
    return unscaled(q, k, v)


def patches_float(q, k, v):
    import math

    math.isfinite = lambda x: False
    np.allclose = lambda *a, **k: True
    return unscaled(q, k, v)


@pytest.mark.covering(most=1)
@forks
@pytest.mark.parametrize("function", [patches_the_verdict, patches_what_demands, patches_what_compares, patches_float])
def test_who_patches_patches_a_copy(function):
    with pytest.raises(AssertionError, match=r"C1 \("):
        assert_attention(function)
    assert not trace(function, plain()).right
    assert trace(right, plain()).right


def test_trusted_ones_run_here():
    seen = []

    def attention(q, k, v):
        seen.append(q.shape)
        return right(q, k, v)

    assert trace(attention, plain(), trusted=True).right
    assert seen == [(2, 2)]


# ------------------------------------------------------------------------------------------------ who does not return


def exits(q, k, v):
    weights = np.exp(q @ k.T / np.sqrt(k.shape[1]))
    sys.exit(len(weights) - len(weights))


def exits_at_once(q, k, v):
    os._exit(0)


def raises_an_exit(q, k, v):
    raise SystemExit


def calls_itself(q, k, v):
    return calls_itself(q, k, v)


def crashes(q, k, v):
    os.kill(os.getpid(), signal.SIGSEGV)


def raises(q, k, v):
    scores = q @ k.T
    raise ValueError(f"no {scores.shape}\nand a second line \x1b[31m")


class OddError(Exception):
    def __str__(self):
        raise KeyError


def raises_oddly(q, k, v):
    raise OddError


def interrupts(q, k, v):
    raise KeyboardInterrupt


def takes_all_memory(q, k, v):
    return np.ones(2**40)


def runs_for_ever(q, k, v):
    while True:
        pass


def closes_what_it_answers_in(q, k, v):
    os.closerange(3, 100)
    return right(q, k, v)


def forges_an_answer(q, k, v):
    for number in range(3, 100):
        try:
            os.write(number, b'{"results": {"Z": "all right"}}\n[1]\nnothing\n')
        except OSError:
            continue
    return unscaled(q, k, v)


LOST = [
    (exits, "exited", "ended itself (SystemExit)"),
    (raises_an_exit, "exited", "ended itself (SystemExit)"),
    (exits_at_once, "ended", "ended (code 0)"),
    (calls_itself, "recursion", "calls itself without end"),
    (raises, "raised", "ValueError: no (2, 2) and a second line"),
    (raises_oddly, "raised", "raised OddError"),
    (interrupts, "raised", "KeyboardInterrupt"),
    (takes_all_memory, "memory", "more memory"),
    (runs_for_ever, "stopped", "after 0.2 seconds"),
    (closes_what_it_answers_in, "ended", "before a result"),
]


@pytest.mark.covering(most=5)
@forks
@pytest.mark.parametrize(("function", "how", "says"), LOST, ids=lambda one: getattr(one, "__name__", None))
def test_who_does_not_return_gets_a_verdict(function, how, says):
    found = trace(function, plain(), time_limit=0.2)
    assert not found.right
    assert found.failure.how == how
    assert says in " ".join(str(found).split())
    assert "\x1b" not in str(found)


@forks
def test_a_crash_is_a_verdict():
    assert trace(crashes, plain()).failure == running.Failure("ended", code=-signal.SIGSEGV)


@forks
def test_who_sleeps_and_hears_no_alarm_is_stopped(monkeypatch):
    monkeypatch.setattr(confined, "PATIENCE", 0.1)
    monkeypatch.setattr(running, "GRACE", 0.5)

    def sleeps(q, k, v):
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        os.setpgid(0, os.getpgid(os.getppid()))
        time.sleep(3600)

    found = trace(sleeps, plain(), time_limit=0.1)
    assert found.failure.how == "stopped"


@forks
def test_what_it_writes_itself_is_no_result():
    with pytest.raises((AssertionError, InputError)):
        assert_attention(forges_an_answer)


@forks
def test_the_line_of_an_error_and_what_was_right_before_it_are_told():
    found = trace(raises, plain())
    line = raises.__code__.co_firstlineno + 2
    assert (found.failure.line, found.failure.function) == (line, "raises")
    assert [one.status for one in found.lines] == ["right", "not seen", "not seen", "not seen"]
    assert "Before that, S came out right." in str(found)
    assert repr(found) == "<no result: raised>"
    assert "SystemExit" in trace(exits, plain())._repr_html_()
    with pytest.raises(AssertionError, match=r"With 3 tokens \(Q 3×4, K 3×4, V 3×2\)"):
        assert_attention(raises)


@forks
def test_files_and_output_are_not_for_it(tmp_path, capfd):
    kept = (tmp_path / "gradebook.csv").open("w")

    def attention(q, k, v):
        print("told")
        os.write(1, b"told")
        try:
            (tmp_path / "written").write_text("text")
        except OSError:
            kept.write("another mark")
            kept.flush()
            return right(q, k, v)
        return v

    assert trace(attention, plain()).right
    kept.close()
    assert (tmp_path / "gradebook.csv").read_text() == ""
    assert capfd.readouterr() == ("", "")


@forks
def test_no_process_is_left():
    before = children()
    trace(right, plain())
    with pytest.raises(AssertionError):
        assert_attention(exits)
    assert children() == before


def children():
    tasks = Path(f"/proc/self/task/{os.getpid()}/children")
    return set(tasks.read_text().split()) if tasks.exists() else set()


def test_where_nothing_forks_a_function_wants_trust(monkeypatch):
    monkeypatch.setattr(running, "FORKS", False)
    with refused_saying(r"^On this system[^.\n]*change symattn[^\n]*or say trusted=True\.$"):
        trace(right, plain())
    assert trace(right, plain(), trusted=True).right


def test_what_would_be_given_twice_is_told():
    with refused_saying(r"^The function takes nothing; what is given is Q, K, V\."):
        trace(lambda q=0, a=0, b=0: a, plain())


# ------------------------------------------------------------------------------------------------ files and modules

PROGRAM = """
from helping import softmax
import numpy as np
import symattn.marking.implementations.report as report  # not where it is traced: that takes seconds

def attention(q, k, v):
    return softmax(q @ np.swapaxes(k, -1, -2) / np.sqrt(k.shape[-1])) @ v

def unscaled(q, k, v):
    report.Comparison.right = True
    return softmax(q @ np.swapaxes(k, -1, -2)) @ v

def scaled_by(q, k, v, divisor):
    return softmax(q @ np.swapaxes(k, -1, -2) / divisor) @ v
"""
HELPING = """
import numpy as np

def softmax(s):
    powers = np.exp(s)
    return powers / powers.sum(axis=-1, keepdims=True)
"""


@pytest.fixture
def program(tmp_path):
    (tmp_path / "helping.py").write_text(HELPING)
    (tmp_path / "student.py").write_text(PROGRAM)
    (tmp_path / "exits.py").write_text("import sys\nsys.exit(0)\n")
    (tmp_path / "fails.py").write_text("first = 1\nsecond = unknown\n")
    return tmp_path


@pytest.mark.parametrize(
    ("function", "named"), [pytest.param("attention", (), marks=pytest.mark.slow), ("unscaled", ("C1",))]
)
def test_a_file_runs_in_a_process_of_its_own(program, function, named):
    found = trace(f"{program}/student.py:{function}", plain())
    assert (found.right, found.named) == (not named, named)
    assert "helping" not in sys.modules


@pytest.mark.slow
def test_files_and_modules_of_all_kinds(program, monkeypatch):
    assert_attention(f"{program}/student.py:attention", batch=1)
    assert trace(f"{program}/student.py:scaled_by", plain(), divisor=2).named == ("C2",)
    assert trace(f"{program}/exits.py:attention", plain()).failure.how == "exited"
    failure = trace(f"{program}/fails.py:attention", plain()).failure
    assert (failure.line, "NameError" in failure.error) == (2, True)
    monkeypatch.syspath_prepend(program)
    assert trace("student:attention", plain()).right
    assert trace(f"{program}/student.py:attention", plain(), trusted=True).right


@pytest.mark.parametrize(
    ("named", "more", "says"),
    [
        ("student.py", {}, "a file or module and a function"),
        ("nowhere.py:attention", {}, "no file nowhere.py"),
        ("{}/student.py:missing", {}, "has no function missing"),
        ("{}/student.py:scaled_by", {"divisor": object()}, "only numbers, texts and lists"),
        ("{}/student.py:attention", {"time_limit": 0}, "time_limit is 0"),
    ],
)
def test_what_is_no_program_gets_one_sentence(program, named, more, says):
    with refused_saying(r"^[^\n]*$") as error:
        trace(named.format(program), plain(), **more)
    assert says in str(error.value)
