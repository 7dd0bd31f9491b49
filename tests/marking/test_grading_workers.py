"""Processes that crash, hang, babble or cannot start: each is told, and no other job is lost."""

import signal
import subprocess
import sys
import threading

import pytest

from symattn.foundation.workers import LostError, Worker, Workers

# A worker that does what it is told: one line of JSON in, one out.
OBEDIENT = """
import json, os, signal, sys, time
settings = json.loads(sys.stdin.readline())["settings"]
if settings == "refuse":
    print("it would not start", file=sys.stderr)
    sys.exit(3)
print(json.dumps({"ready": settings}), flush=True)
for line in sys.stdin:
    job = json.loads(line)
    if job == "crash":
        os.kill(os.getpid(), signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
    if job == "hang":
        time.sleep(3600)
    if job == "half":
        sys.stdout.write('{"answer"')
        sys.stdout.flush()
        sys.exit(0)
    if job == "raise":
        raise RuntimeError("no such thing")
    print(json.dumps({"answer": job, "process": os.getpid()}), flush=True)
"""
COMMAND = (sys.executable, "-c", OBEDIENT)


def done(jobs, count=2, limit=20.0, settings="go"):
    answers = {}

    def on_answer(number, answer):
        assert threading.current_thread() is threading.main_thread()
        assert number not in answers
        answers[number] = answer

    with Workers(COMMAND, settings, count, limit) as workers:
        workers.do(jobs, on_answer)
    return [answers[number] for number in range(len(jobs))]


def test_every_job_is_answered_once_whatever_the_number_of_processes():
    jobs = [f"job {k}" for k in range(40)]
    for count in (1, 3):
        answers = done(jobs, count)
        assert [answer["answer"] for answer in answers] == jobs
        assert len({answer["process"] for answer in answers}) <= count


def test_nothing_to_do_starts_nothing():
    with Workers(("this command does not exist",), "go", 2, 1.0) as workers:
        workers.do([], lambda number, answer: None)


def test_what_crashes_hangs_or_breaks_off_is_told_and_the_rest_is_done():
    answers = done(["a", "crash", "b", "half", "c", "raise", "hang", "d"], limit=0.2)
    assert [a["answer"] if isinstance(a, dict) else "" for a in answers] == ["a", "", "b", "", "c", "", "", "d"]
    crashed, half, raised, hung = (str(answers[k]) for k in (1, 3, 5, 6))
    assert "ended with code" in crashed
    assert half == "The process that marked it ended with code 0."
    assert raised.endswith("RuntimeError: no such thing")
    assert hung == "The process that marked it stood still and was stopped."


def test_the_last_job_may_crash():
    assert isinstance(done(["a", "crash"], count=1)[1], LostError)


def test_a_process_that_does_not_start_is_an_error_of_the_run():
    with pytest.raises(LostError, match="code 3: it would not start"):
        done(["a", "b"], settings="refuse")


def test_an_error_of_the_caller_ends_all_processes(monkeypatch):
    before = threading.active_count()
    started = []

    class Noted(subprocess.Popen):
        def __init__(self, *given, **named):
            super().__init__(*given, **named)
            started.append(self)

    monkeypatch.setattr(subprocess, "Popen", Noted)
    with pytest.raises(KeyError), Workers(COMMAND, "go", 2, 3000) as workers:
        workers.do(["a", "hang"], lambda number, answer: {}["no"])
    assert threading.active_count() == before
    assert started
    assert all(process.returncode == -signal.SIGKILL for process in started)  # none went on to its own end


def test_a_worker_lives_until_it_is_ended():
    worker = Worker(COMMAND, "go", 20)
    try:
        assert worker.alive
        assert worker.ask("a")["answer"] == "a"
    finally:
        worker.end()
    assert not worker.alive
