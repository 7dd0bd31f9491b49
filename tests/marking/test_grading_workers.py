"""Processes that crash, hang, babble or cannot start: each is told, and no other job is lost."""

import gc
import logging
import os
import subprocess
import sys
import threading
import weakref
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from commands import python
from sentences import refused_saying
from waiting import until

from symattn.errors import InputError, SelfCheckError
from symattn.foundation.crew import Crew, crew, processors
from symattn.foundation.installed import software
from symattn.foundation.workers import Hands, Limits, LostError, answer_of, read_back, text_of

TOLD = "odd_jobs:told"


def done(jobs, count=2, seconds=20.0, settings="go"):
    """The answers to jobs, in their order."""
    with crew(count, limits=Limits(seconds)) as those:
        answers = dict(those.as_done(TOLD, settings, enumerate(jobs)))
    return [answers[number] for number in range(len(jobs))]


def test_every_job_is_answered_once_whatever_the_number_of_processes():
    jobs = [f"job {k}" for k in range(40)]
    answers = done(jobs, 2)
    assert [answer["answer"] for answer in answers] == jobs
    assert {answer["settings"] for answer in answers} == {"go"}
    assert len({answer["process"] for answer in answers} - {os.getpid()}) <= 2


def test_answers_are_in_order_however_they_come_and_jobs_are_taken_only_a_little_ahead():
    taken = []

    def jobs():
        for number in range(30):
            taken.append(number)
            yield f"number {number}", number % 6

    with crew(2, limits=Limits()) as those:
        answers = those.in_order("odd_jobs:late", None, jobs())
        first = next(answers)
        assert len(taken) < 12
        assert [first, *answers] == [(f"number {k}", (k % 6) ** 2) for k in range(30)]


def test_nothing_to_do_starts_nothing(monkeypatch):
    monkeypatch.setattr(sys, "executable", "this command does not exist")
    assert done([]) == []
    [answer] = done(["a"])
    assert answer.why == "had no process: No such file or directory"


@pytest.mark.skipif(os.name != "posix", reason="limits are a matter of POSIX")
def test_what_crashes_hangs_or_breaks_off_is_told_and_the_rest_is_done():
    answers = done(["a", "crash", "b", "half", "c", "raise", 600.0, "d", "crash"], seconds=0.2)
    assert [a["answer"] if isinstance(a, dict) else "" for a in answers] == ["a", "", "b", "", "c", "", "", "d", ""]
    crashed, half, raised, hanging, last = (answers[k].why for k in (1, 3, 5, 6, 8))
    assert crashed.startswith("ended its process with code ")
    assert last == crashed
    assert half == "ended its process with code 0"
    assert raised == "failed, which is a defect of symattn: RuntimeError: no such thing"
    assert hanging == "stood still and was stopped"


@pytest.mark.parametrize(
    ("jobs", "settings", "error"),
    [
        (["a", "b"], "refuse", InputError("it would not start")),
        (["a", "refuse"], "go", SelfCheckError("the key is wrong")),
    ],
)
def test_an_error_of_symattns_is_raised_as_it_was_there(jobs, settings, error):
    with pytest.raises(type(error), match=f"^{error}$"):
        done(jobs, count=1, settings=settings)


def test_bytes_travel_and_what_is_printed_does_not(caplog, capfd):
    with caplog.at_level(logging.WARNING, "symattn"):
        assert done([b"\0\xff{}", "print", "warn"], count=1)[0] == b"}{\xff\0"
    assert [record.getMessage() for record in caplog.records] == ["look at this"]
    assert capfd.readouterr().out == ""


def test_an_error_of_the_caller_ends_all_processes(monkeypatch):
    before, started = threading.active_count(), []

    class Noted(subprocess.Popen):
        def __init__(self, *given, **named):
            super().__init__(*given, **named)
            started.append(self)

    monkeypatch.setattr(subprocess, "Popen", Noted)
    with pytest.raises(KeyError), crew(2, limits=Limits(3000)) as those:  # noqa: PT012  (its end is what is tried)
        next(those.as_done(TOLD, "go", enumerate(["a", 3000.0, 3000.0, 3000.0])))
        raise KeyError
    assert threading.active_count() == before
    assert started
    assert all(process.poll() is not None for process in started)  # none goes on to its own end


def test_a_process_is_kept_for_the_next_job_of_its_thread_and_replaced_when_it_is_lost():
    hands = Hands()

    def process(job):
        return answer_of(hands.do(TOLD, "null", text_of(job), Limits()))["process"]

    first = process("a")
    assert process("b") == first
    with pytest.raises(LostError):
        process("crash")
    assert process("c") != first
    hands.close()


# ------------------------------------------------------------------------------------------------ who works


def test_a_crew_is_as_large_as_pays(processes):
    with crew(of=1000) as those:
        assert those.alone or those.hands() == processors() - 1  # and this one
        assert those.alone == (processors() == 1)
    for alone in (crew(1, of=1000), crew(8, of=1), crew(of=11)):
        with alone as those:
            assert those.alone
            assert dict(those.as_done(TOLD, "go", [("x", "a")]))["x"]["process"] == os.getpid()
    with crew(3, of=1000) as those:
        assert those.hands() == 2
    with crew(1) as those:  # strangers' work is none of ours
        assert those.hands() == 1
        assert os.getpid() not in {those.ask(TOLD, "go", job, job)()["process"] for job in "ab"}
    for made, hands in ((crew(strangers=49), 1), (crew(3, strangers=1), 3), (crew(), processors())):
        with made as those:
            assert those.hands() == hands
    assert Crew().alone


class Slow:
    """Somebody who begins what is in `begun`, and ends it when the job that is named there is taken from them."""

    def __init__(self, **begun):
        self.begun, self.given = begun, {}

    def submit(self, make, settings, job):
        name = read_back(job)
        future = self.given[name] = Future()
        if name in self.begun:
            future.set_running_or_notify_cancel()
        else:
            future.add_done_callback(lambda _: self.end(name))
        return future

    def end(self, taken):
        for name in (name for name, last in self.begun.items() if last == taken):
            self.given[name].set_result(text_of({"said": {"answer": "elsewhere"}}))


def test_who_waits_does_what_nobody_has_begun_and_never_twice():
    slow = Slow(b="e")
    those = Crew(slow.submit, helps=True)
    asked = {job: those.ask(TOLD, "go", job, job) for job in "abcde"}
    asked["d"].drop()
    assert asked["c"]()["process"] == os.getpid()  # what is wanted comes first
    assert not slow.given["a"].done()
    assert asked["b"]() == {"answer": "elsewhere"}
    assert [slow.given[job].cancelled() for job in "abcde"] == [True, False, True, True, True]
    assert [asked[job]()["answer"] for job in "ae"] == ["a", "e"]
    kept = [weakref.ref(future) for future in slow.given.values()]
    slow.given, asked = {}, {}
    gc.collect(1)  # what was made just now; all else that tests have made takes a second
    assert not any(future() for future in kept), "what is over is kept by nobody"


def test_an_error_of_what_was_helped_with_is_raised_where_its_answer_is_asked_for():
    slow = Slow(slow="last")
    answers = Crew(slow.submit, helps=True).in_order(TOLD, "go", [(job, job) for job in ("slow", "refuse", "last")])
    assert next(answers) == ("slow", {"answer": "elsewhere"})
    with pytest.raises(SelfCheckError, match="the key is wrong"):
        next(answers)


def test_the_work_is_shared_and_threads_take_turns_as_before():
    before = sys.getswitchinterval()
    with crew(2, of=200) as those:
        those.prepare(TOLD, "go")
        until(those.ask(TOLD, "go", "there", "it").ready)
        jobs = [(number, 0.001 + number / 1e6) for number in range(200)]
        answers = list(those.in_order(TOLD, "go", jobs))
    assert [(number, answer["answer"]) for number, answer in answers] == jobs
    processes = {answer["process"] for _, answer in answers}
    assert os.getpid() in processes
    assert len(processes) == 2
    assert sys.getswitchinterval() == before


def test_a_process_that_is_lost_is_told_of_also_by_who_helps():
    with crew(2, of=9) as those:
        first = those.ask("odd_jobs:crashing", None, None, "sheet 1")
        until(first.ready)
        with pytest.raises(LostError, match=r"^Work on sheet 1 ended its process with code -?\d+\.$"):
            first()


def test_any_executor_will_do_and_is_left_to_whom_it_belongs():
    with ThreadPoolExecutor(2) as executor:
        with crew(executor=executor) as those:
            answers = dict(those.as_done(TOLD, "go", enumerate(["a", "crash"])))
        assert answers[0]["answer"] == "a"
        assert isinstance(answers[1], LostError)
        assert executor.submit(int, "7").result() == 7


def test_another_symattn_on_a_worker_is_refused_in_a_sentence(monkeypatch):
    with ThreadPoolExecutor(1) as executor, crew(executor=executor) as those:
        monkeypatch.setattr("symattn.foundation.installed.software", lambda: {**software(), "symattn": "0.0.9"})
        with refused_saying(r"^A worker differs in symattn: 0\.0\.9 there, .* here; all need"):
            next(those.in_order(TOLD, "go", [("x", "a")]))


SCRIPT = """
import symattn.foundation.crew as c
print("run", flush=True)
with c.crew(2) as those:
    print(sorted(answer["answer"] for _, answer in those.as_done("odd_jobs:told", "go", enumerate(["a", "b"]))))
"""


def test_a_script_needs_no_guard_and_nothing_of_its_folder_is_run(tmp_path):
    """Its main module is not run again, and what lies beside submissions is not imported for the standard library's."""
    (tmp_path / "script.py").write_text(SCRIPT, "utf-8")
    for name in ("json", "base64", "signal", "selectors", "symattn"):
        (tmp_path / f"{name}.py").write_text(f"print('{name}.py was run')\nraise SystemExit(1)\n", "utf-8")
    result = python("-P", "script.py", folder=tmp_path)
    assert result.stdout.splitlines() == ["run", "['a', 'b']"], result.stderr


INTERRUPTED = """
import os, signal, threading, symattn.foundation.crew as c
signal.signal(signal.SIGINT, signal.default_int_handler)  # it is ignored by what a shell runs in the background
try:
    with c.crew(2) as those:
        for _, answer in those.as_done("odd_jobs:told", "go", enumerate(["a", "spin", "spin", "spin"])):
            print(answer["process"], flush=True)
            threading.Timer(0.1, os.kill, [os.getpid(), signal.SIGINT]).start()
except KeyboardInterrupt:
    print("interrupted", sum(thread.name.startswith("symattn") for thread in threading.enumerate()))
"""


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="there is no /proc to look at processes")
def test_ctrl_c_ends_all_processes_at_once():
    result = python("-c", INTERRUPTED)
    process, said = result.stdout.splitlines()
    assert said == "interrupted 0", result.stderr
    assert not Path(f"/proc/{process}").exists()
