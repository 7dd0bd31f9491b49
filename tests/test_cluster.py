"""The same runs on a Dask cluster: real schedulers and workers on the loopback address, some killed, some late."""

import logging
import os
import signal
import subprocess
import sys
from concurrent.futures import InvalidStateError
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest
from commands import contents, run
from sentences import refused_saying
from waiting import until

from symattn.foundation.crew import cluster, crew
from symattn.foundation.workers import Limits, LostError

pytestmark = [
    pytest.mark.skipif(not find_spec("distributed"), reason="distributed is not installed"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning"),
]

PATH = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)


@contextmanager
def process(folder, module, *options, path=PATH):
    """One of Dask's programs."""
    command = [sys.executable, "-m", f"distributed.cli.{module}", "--scheduler-file", str(folder / "scheduler.json"),
               "--no-dashboard", *options]  # fmt: skip
    with (folder / "log").open("ab") as log:
        started = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": path}, stdout=log, stderr=log, cwd=folder)
    try:
        yield started
    finally:
        started.kill()
        started.wait()


@contextmanager
def scheduler(folder):
    """A scheduler; its address."""
    file = folder / "scheduler.json"
    with process(folder, "dask_scheduler", "--host", "127.0.0.1", "--port", "0"):
        until(file.is_file)
        yield str(file)


def worker(folder, *options, path=PATH):
    return process(folder, "dask_worker", "--nthreads", "1", "--no-nanny", *options, path=path)


EXAM = """
title = "Quiz"
variants = 2
class = "class.csv"

[[question]]
type = "masks"
"""


@pytest.fixture
def client():
    import distributed  # which takes a second to load

    with distributed.Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0") as started:
        yield started


@pytest.mark.slow
def test_a_cluster_in_this_process_makes_the_same_of_worksheets_exams_classes_and_reports(client, tmp_path):
    (tmp_path / "class.csv").write_text("name,id\nAda,s1\nAlan,s2\n", "utf-8")
    (tmp_path / "quiz.toml").write_text(EXAM, "utf-8")
    (tmp_path / "e.csv").write_text("id,differs\ns1,all right\ns2,blank: a\n", "utf-8")
    found = {}
    for name, who in (("one", ("--jobs", 1)), ("many", ("--cluster", client.scheduler.address))):
        out = tmp_path / name
        text = ("--format", "text")
        ways = (
            ("worksheet", "--problem", "masks", "-n", 3, "--seed", 7, *text, "--out", out / "set"),
            ("worksheet", tmp_path / "quiz.toml", "--seed", 5, *text, "--out", out),
            ("grade", out / "quiz", "--entries", tmp_path / "e.csv", *text, "--out", out / "marked"),
            ("stress", "masks", "-n", 6),
        )
        results = [run(*way, *who) for way in ways]
        assert [result.exit_code for result in results] == [0] * 4, [result.output for result in results]
        marked, told = results[2].output.replace(str(out), ""), results[3].output.split()
        found[name] = contents(out), marked, told[told.index("drawn") :]  # before it are seconds
    assert found["many"] == found["one"]
    assert len(found["one"][0]) > 15


def test_what_crashes_on_a_cluster_is_told_and_the_rest_is_done(client):
    with crew(executor=client.get_executor(pure=False), limits=Limits(60)) as those:
        assert those.hands() == 1
        answers = dict(those.as_done("odd_jobs:told", "go", enumerate(["a", "crash", "b"])))
    assert (answers[0]["answer"], answers[2]["answer"]) == ("a", "b")
    assert isinstance(answers[1], LostError)
    assert "ended its process with code" in str(answers[1])


def test_what_is_dropped_is_dropped_in_silence_and_what_is_wrong_is_told(client, caplog):
    log = logging.getLogger("tornado.application")
    with cluster(client.scheduler.address) as executor, crew(executor=executor) as those:
        asked = [those.ask("odd_jobs:told", "go", 0.01, k) for k in range(20)]
        asked[0]()
        for one in asked[::2]:
            one.drop()
        assert {one()["answer"] for one in asked[1::2]} == {0.01}
        log.error("of a loop", exc_info=ValueError("wrong"))
        log.error("of a loop", exc_info=InvalidStateError("CANCELLED"))
    assert [str(record.exc_info[1]) for record in caplog.records if record.name == log.name] == ["wrong"]
    assert not log.filters


def test_a_scheduler_that_does_not_answer_is_a_sentence(monkeypatch):
    monkeypatch.setattr("symattn.foundation.crew.SECONDS", 0.5)
    with refused_saying(r"^No Dask scheduler answers at tcp://127\.0\.0\.1:1\.$"):
        cluster("tcp://127.0.0.1:1").__enter__()


@pytest.mark.slow
def test_a_worker_that_is_killed_and_one_that_comes_late_change_no_byte(tmp_path):
    """The run waits for workers, and says so.  One of two is killed in the middle, when it has work; another comes when
    the first files are there."""
    options = ("worksheet", "--problem", "masks", "-n", "12", "--seed", "3", "--format", "latex,markdown,pdf")
    assert run(*options, "--jobs", 1, "--out", tmp_path / "one").exit_code == 0
    with scheduler(tmp_path) as file:
        made = subprocess.Popen(
            [sys.executable, "-m", "symattn", *options, "--cluster", file, "--out", str(tmp_path / "many")],
            env={**os.environ, "PYTHONPATH": PATH}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert made.stderr
        until(lambda: "has no workers; this run waits for some." in made.stderr.readline())
        with worker(tmp_path) as first, worker(tmp_path):
            until(lambda: list(tmp_path.glob("many/.symattn-*/*-02.md")) or made.poll() is not None)
            assert made.poll() is None
            first.send_signal(signal.SIGKILL)
            until(lambda: list(tmp_path.glob("many/.symattn-*/*-05.md")) or made.poll() is not None)
            with worker(tmp_path):
                said, _ = made.communicate()
    assert made.returncode == 0
    assert str(tmp_path / "many") in said
    assert contents(tmp_path / "many") == contents(tmp_path / "one")
