"""Work in processes of its own, so that what crashes or never ends takes nothing else with it.

A worker runs `symattn.grading.worker.main`.  It is told the settings, answers that it is ready, and then answers one
job after the other, a line of JSON each.  It needs no pickling and no guard in the caller's main module.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any

from symattn.errors import SymattnError
from symattn.question import Json

COMMAND = (sys.executable, "-P", "-c", "from symattn.grading.worker import main; main()")
"""With -P, for the folder that it is started in may hold submissions, and these may be Python files."""


class LostError(SymattnError):
    """A worker ended, or was ended, before it had answered."""


class Worker:
    """One process; `limit` is how many seconds a job may take."""

    def __init__(self, settings: Json, limit: float, command: Sequence[str] = COMMAND) -> None:
        self._limit = limit
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  (lives as long as the process)
        path = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log,
            env={**os.environ, "PYTHONPATH": path, "PYTHONUTF8": "1"},
        )  # fmt: skip
        self._late = False
        try:
            self._asked(settings)
        except LostError:
            self.end()
            raise

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        self._process.kill()

    def ask(self, job: Json) -> Json:
        """The answer to a job; `LostError` if there is none in time."""
        clock = threading.Timer(self._limit, self._end_late)
        clock.start()
        try:
            return self._asked(job)
        finally:
            clock.cancel()
            clock.join()

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._log):
            if stream is not None:
                try:
                    stream.close()
                except BrokenPipeError:  # what was not yet written need not be
                    continue

    def _end_late(self) -> None:
        self._late = True
        self._process.kill()

    def _asked(self, message: Json) -> Json:
        assert self._process.stdin and self._process.stdout
        text = json.dumps(message).encode()
        try:
            self._process.stdin.write(text + b"\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except OSError:  # nobody reads any more: why is found below
            line = b""
        if not line.endswith(b"\n"):
            raise LostError(self._why())
        answer: Json = json.loads(line)
        return answer

    def _why(self) -> str:
        if self._late:
            return f"Marking it took longer than {self._limit:g} seconds and was stopped."
        code = self._process.wait()
        self._log.seek(0)
        last = self._log.read().decode(errors="replace").strip().rpartition("\n")[2]
        return f"The process that marked it ended with code {code}{': ' if last else '.'}{last}"


def in_workers(
    settings: Json,
    jobs: Sequence[Json],
    count: int,
    limit: float,
    on_answer: Callable[[int, Json | LostError], None],
    command: Sequence[str] = (),
) -> None:
    """Have the jobs done by so many processes; `on_answer` is called here, with the number of the job, as they end.

    A process that is lost is replaced, and its job answered with `LostError`.  Whatever else goes wrong is raised here.
    """
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in range(len(jobs)):
        waiting.put(number)
    answers: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
    stopped = threading.Event()
    workers: list[Worker] = []

    def work() -> None:
        worker: Worker | None = None
        try:
            while not (stopped.is_set() or waiting.empty()):
                if worker is None or not worker.alive:
                    if worker is not None:
                        worker.end()
                    worker = Worker(settings, limit, command or COMMAND)
                    workers.append(worker)
                    continue
                number = waiting.get_nowait()
                try:
                    answers.put((number, worker.ask(jobs[number])))
                except LostError as lost:
                    worker.end()
                    answers.put((number, lost))
        except queue.Empty:
            pass
        except BaseException as error:  # raised where the answers are waited for
            answers.put((-1, error))
        finally:
            if worker is not None:
                worker.end()

    threads = [threading.Thread(target=work, daemon=True) for _ in range(min(count, len(jobs)))]
    try:
        for thread in threads:
            thread.start()
        for _ in jobs:
            number, answer = answers.get()
            if number < 0:
                raise answer
            on_answer(number, answer)
    finally:
        stopped.set()
        for worker in workers:
            worker.kill()
        for thread in threads:
            thread.join()


__all__ = ["COMMAND", "LostError", "Worker", "in_workers"]
