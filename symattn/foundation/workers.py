"""Work in processes of its own, so that what crashes or never ends takes nothing else with it.

A worker is told the settings, answers that it is ready, and then answers one job after the other, a line of JSON each.
It needs no pickling and no guard in the caller's main module.  It limits its own memory and, for every job, its own
processor time (`symattn.marking.grading.worker.serve`), so that a busy machine makes nothing fail.  The clock is
watched from here: it ends what stands still, and, where a system has no such limits (Windows), what takes too long.
"""

from __future__ import annotations

import atexit
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

from symattn.errors import SymattnError

MEMORY = 2 * 2**30  # bytes, of each worker
PATIENCE = 10  # times the limit: what stands still for so long, by the clock, is ended
LIMITED = find_spec("resource") is not None
"""Whether processes can limit their own processor time here."""


def command(module: str) -> tuple[str, ...]:
    """What starts the function `main` of a module as a worker.

    With -P, for the folder that it is started in may hold submissions, and these may be Python files.
    """
    return (sys.executable, "-P", "-c", f"from {module} import main; main()")


class LostError(SymattnError):
    """A worker ended, or was ended, before it had answered."""


class Watch:
    """While this lasts, a process is watched: it is ended if it stands still for `PATIENCE` times so many seconds.

    Where processor time is not limited, it is ended after these seconds.
    """

    def __init__(self, process: subprocess.Popen[bytes], seconds: float) -> None:
        self._process, self._seconds = process, seconds
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self.ended = False

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        still, used = 0, None
        while not self._over.wait(self._seconds):
            before, used = used, processor_time(self._process.pid)
            moved = used is not None and before is not None and used - before > self._seconds / 1000
            still = 0 if moved else still + 1
            if still >= PATIENCE or not LIMITED:
                self.ended = True
                self._process.kill()
                return


def processor_time(pid: int) -> float | None:
    """The seconds of processor time that a process has used; None if that cannot be seen.

    >>> processor_time(-1)
    """
    with suppress(OSError, ValueError, IndexError, AttributeError):
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return None


class Worker:
    """One process; `seconds` is how much processor time a job may take.  Without a log, its warnings are seen."""

    def __init__(self, command: Sequence[str], settings: Any, seconds: float, *, log: bool = True) -> None:
        self._seconds = seconds
        self._log: IO[bytes] | None = tempfile.TemporaryFile() if log else None  # noqa: SIM115  (lives as long)
        path = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log,
            env={**os.environ, "PYTHONPATH": path, "PYTHONUTF8": "1"},
        )  # fmt: skip
        try:
            self._asked({"seconds": seconds, "memory": MEMORY, "settings": settings})
        except LostError:
            self.end()
            raise

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        self._process.kill()

    def ask(self, job: Any) -> Any:
        """The answer to a job; `LostError` if there is none within the limits."""
        with Watch(self._process, self._seconds) as watch:
            try:
                answer = self._asked(job)
            except LostError:
                if watch.ended:
                    raise LostError(self._why_ended()) from None
                raise
        if answer == OUT_OF_MEMORY:
            self.end()
            raise LostError(f"Marking it takes more than {MEMORY / 2**30:g} GiB of memory and was stopped.")
        return answer

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._log):
            if stream is not None:
                with suppress(BrokenPipeError):  # what was not yet written need not be
                    stream.close()

    def _asked(self, message: Any) -> Any:
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
        return json.loads(line)

    def _why_ended(self) -> str:
        if LIMITED:
            return "The process that marked it stood still and was stopped."
        return f"Marking it took longer than {self._seconds:g} seconds and was stopped."

    def _why(self) -> str:
        code = self._process.wait()
        if code == -getattr(signal, "SIGXCPU", 0):
            return f"Marking it took more than {self._seconds:g} seconds of processor time and was stopped."
        last = ""
        if self._log is not None:
            self._log.seek(0)
            last = self._log.read().decode(errors="replace").strip().rpartition("\n")[2]
        return f"The process that marked it ended with code {code}{': ' if last else '.'}{last}"


OUT_OF_MEMORY = {"lost": "memory"}
"""What a worker answers that has no memory left; it ends then."""


class Kept:
    """One process that is started when it is first needed, and kept for the next job."""

    def __init__(self, command: Sequence[str], seconds: float) -> None:
        self._command, self._seconds = command, seconds
        self._worker: Worker | None = None
        atexit.register(self.end)

    def ask(self, job: dict[str, Any]) -> Any:
        """The answer to a job; `LostError` if there is none within the limits."""
        if self._worker is None or not self._worker.alive:
            self.end()
            self._worker = Worker(self._command, None, self._seconds, log=False)
        try:
            return self._worker.ask({**job, "seconds": self._seconds})
        except BaseException:  # whatever was interrupted, its answer must not be taken for another's
            self.end()
            raise

    def end(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.end()


class Workers:
    """So many processes, each started when there is work for it and ended with the whole.

    A process that is lost is replaced, and its job answered with `LostError`.
    """

    def __init__(self, command: Sequence[str], settings: Any, count: int, seconds: float) -> None:
        self._command, self._settings, self._seconds = command, settings, seconds
        self._count = count
        self._workers: list[Worker] = []  # all that were started
        self._idle: list[Worker] = []

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *error: object) -> None:
        for worker in self._workers:
            worker.end()

    def do(self, jobs: Sequence[Any], on_answer: Callable[[int, Any], None]) -> None:
        """Have jobs done; `on_answer` is called here, with the number of the job, as they end.

        Whatever goes wrong but a lost process is raised here, and then all processes are killed.
        """
        waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
        for number in range(len(jobs)):
            waiting.put(number)
        answers: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        stopped = threading.Event()

        def work() -> None:
            worker: Worker | None = None
            try:
                while not (stopped.is_set() or waiting.empty()):
                    worker = worker or self._taken()
                    if stopped.is_set():
                        break
                    number = waiting.get_nowait()
                    try:
                        answers.put((number, worker.ask(jobs[number])))
                    except LostError as lost:
                        worker.end()
                        worker = None
                        answers.put((number, lost))
            except queue.Empty:
                pass
            except BaseException as error:  # raised where the answers are waited for
                answers.put((-1, error))
            finally:
                if worker is not None:
                    self._idle.append(worker)

        threads = [threading.Thread(target=work, daemon=True) for _ in range(min(self._count, len(jobs)))]
        done = False
        try:
            for thread in threads:
                thread.start()
            for _ in jobs:
                number, answer = answers.get()
                if number < 0:
                    raise answer
                on_answer(number, answer)
            done = True
        finally:
            stopped.set()
            if not done:
                for worker in self._workers:
                    worker.kill()
            for thread in threads:
                thread.join()

    def _taken(self) -> Worker:
        """A process that waits for work, or a new one."""
        while self._idle:
            worker = self._idle.pop()
            if worker.alive:
                return worker
        worker = Worker(self._command, self._settings, self._seconds)
        self._workers.append(worker)
        return worker


__all__ = [
    "LIMITED",
    "MEMORY",
    "OUT_OF_MEMORY",
    "Kept",
    "LostError",
    "Watch",
    "Worker",
    "Workers",
    "command",
    "processor_time",
]
