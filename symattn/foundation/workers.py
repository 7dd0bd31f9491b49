"""Processes that answer one question after another, each within limits of its own memory and processor time.

What crashes, hangs or takes too much ends such a process and nothing else.  Lines of JSON go in and come out: nothing
is unpickled, the caller's main module is not run again, and no file of the folder that it is started in is imported,
for there may be submissions in it.  Who has work for several of them gives each a thread: `symattn.foundation.crew`.
"""

from __future__ import annotations

import base64
import gc
import importlib
import json
import logging
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any
from weakref import WeakSet, finalize

from symattn import errors
from symattn.errors import SymattnError
from symattn.foundation.confined import limit, limited
from symattn.foundation.remembered import keep_methods

_LOG = logging.getLogger("symattn")

LIMITED = find_spec("resource") is not None
"""Whether processes can limit their own processor time here."""


@dataclass(frozen=True)
class Limits:
    """What one job may take: seconds of processor time, and bytes of memory of the process that does it."""

    seconds: float = 3600
    memory: int = 8 * 2**30


class LostError(SymattnError):
    """A process ended, or was ended, before it had answered."""

    def __init__(self, why: str, what: str = "The work") -> None:
        super().__init__(f"{what} {why}.")
        self.why = why


Job = Callable[[Any], Any]
"""What answers a job: JSON, and bytes in it, for JSON."""


def text_of(message: object) -> str:
    """JSON, in which there may be bytes, as one line."""
    return json.dumps(message, default=lambda data: {_BYTES: base64.b64encode(data).decode()})


def read_back(text: str | bytes) -> Any:
    return json.loads(text, object_hook=lambda d: base64.b64decode(d[_BYTES]) if d.keys() == {_BYTES} else d)


_BYTES = "\0bytes"


# ------------------------------------------------------------------------------------------------ who asks


@contextmanager
def watched(process: subprocess.Popen[bytes], seconds: float) -> Iterator[Callable[[], bool]]:
    """Where processes cannot limit themselves, end one after `seconds`; yields whether it was ended."""
    if LIMITED:
        yield lambda: False
        return
    over = threading.Event()

    def end() -> None:
        over.set()
        process.kill()

    timer = threading.Timer(seconds, end)
    timer.start()
    try:
        yield over.is_set
    finally:
        timer.cancel()


def why_it_ended(code: int, seconds: float) -> str:
    """Why a process ended that did not answer, of a sentence the end; by the code that it ended with."""
    if code == -getattr(signal, "SIGXCPU", 0):
        return f"took more than {seconds:g} s of processor time and was stopped"
    if code == -getattr(signal, "SIGALRM", 0):
        return "stood still and was stopped"
    return f"ended its process with code {code}"


class Worker:
    """One process, started at once."""

    def __init__(self) -> None:
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  (lives as long)
        path = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", f"from {__name__} import main; main()"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log,
                env={**os.environ, "PYTHONPATH": path, "PYTHONUTF8": "1"},
            )  # fmt: skip
        except OSError:
            self._log.close()
            raise
        self._finish = finalize(self, _finish, self._process, self._log)  # at the latest with the thread it works for

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        return self._process.pid

    def ask(self, order: str, limits: Limits) -> str:
        """The answer to an order, one line of JSON each; `LostError` if there is none within the limits."""
        assert self._process.stdin and self._process.stdout
        with watched(self._process, limits.seconds) as over:
            try:
                self._process.stdin.write(order.encode() + b"\n")
                self._process.stdin.flush()
                line = self._process.stdout.readline()
            except (OSError, ValueError):  # the pipe is closed; the cause is raised below
                line = b""
            if line == _OUT_OF_MEMORY:
                self.end()
                raise LostError(f"takes more than {limits.memory / 2**30:g} GiB of memory and was stopped")
            if not line.endswith(b"\n"):
                why = self._why(limits.seconds)
                raise LostError(f"took longer than {limits.seconds:g} seconds and was stopped" if over() else why)
        return line.decode()

    def kill(self) -> None:
        """End the process; a pending answer is lost."""
        self._process.kill()

    def end(self) -> None:
        """End the process and let go of what goes with it."""
        self._finish()

    def _why(self, seconds: float) -> str:
        why = why_it_ended(self._process.wait(), seconds)
        if "with code" in why:
            self._log.seek(0)
            last = self._log.read().decode(errors="replace").strip().rpartition("\n")[2]
            why += f": {last.rstrip('.')}" if last else ""
        return why


def _finish(process: subprocess.Popen[bytes], log: IO[bytes]) -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout, log):
        if stream is not None:
            with suppress(BrokenPipeError):  # what was not yet written need not be
                stream.close()


class Hands:
    """A process for each thread that has work done, started when it is first needed and replaced when it is lost."""

    def __init__(self) -> None:
        self._mine = threading.local()
        self._all: WeakSet[Worker] = WeakSet()
        self._ended = False

    def do(self, make: str, settings: str, job: str, limits: Limits) -> str:
        """The answer to a job, as `answer_of` reads it.

        `make` names what makes a `Job` of the settings, "package.module:function"; it is made once in every process.
        """
        worker: Worker | None = getattr(self._mine, "worker", None)
        if worker is None or not worker.alive:
            self._let_go(worker)
            try:
                worker = self._mine.worker = Worker()
            except OSError as error:
                return json.dumps({"lost": f"had no process: {error.strerror}"})
            self._all.add(worker)
        if self._ended:  # looked at after it is among those that are ended
            worker.kill()
        order = json.dumps([make, settings, job, limits.seconds, limits.memory])
        try:
            return worker.ask(order, limits)
        except LostError as lost:
            self._let_go(worker)
            return json.dumps({"lost": lost.why})
        except BaseException:  # whatever was interrupted, its answer must not be taken for another's
            self._let_go(worker)
            raise

    def end(self) -> None:
        """End all processes, also those that are at work: who waits for them is told that the work is lost."""
        self._ended = True
        for worker in list(self._all):
            worker.kill()

    def close(self) -> None:
        """Let go of all processes, when no thread asks them any more; later work starts new ones."""
        for worker in list(self._all):
            self._let_go(worker)
        self._ended = False

    def _let_go(self, worker: Worker | None) -> None:
        if worker is not None:
            worker.end()
            self._all.discard(worker)


KEPT = Hands()
"""Processes that are kept for the next job as long as this one lives."""


def answer_of(answer: str, what: str = "The work") -> Any:
    """What a job came to; `LostError` says `what` was lost, and errors of symattn's are raised as they were there.

    Warnings go to this process's log.
    """
    said: Mapping[str, Any] = read_back(answer)
    for text in said.get("log", ()):
        _LOG.warning("%s", text)
    if "lost" in said:
        raise LostError(said["lost"], what)
    if "refused" in said:
        kind, text = said["refused"]
        raised = SymattnError.__new__(getattr(errors, kind, errors.InputError))
        raised.args = (text,)
        raise raised
    return said["said"]


# ------------------------------------------------------------------------------------------------ who answers


def main() -> None:
    """Answer orders from standard input until it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started it ends it
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what anything prints must not be taken for an answer
    limit("RLIMIT_CORE", 0)
    gc.set_threshold(100_000)  # little is rubbish: to look for some took a fifth of the time for a wrong script
    methods = keep_methods()
    jobs: dict[tuple[str, str], Job] = {}
    for line in sys.stdin.buffer:
        try:
            make, settings, job, seconds, memory = json.loads(line)
            limit("RLIMIT_AS", memory)
            said = _answered(jobs, (make, settings), job, seconds).encode() + b"\n"
        except MemoryError:
            said = _OUT_OF_MEMORY
        answers.write(said)
        answers.flush()
        if methods:
            methods.keep()  # at its end it is killed


_OUT_OF_MEMORY = b"out of memory\n"
KINDS_KEPT = 4
"""How many kinds of work a process is ready for at a time; a run has two or three."""


def _answered(jobs: dict[tuple[str, str], Job], kind: tuple[str, str], job: str, seconds: float) -> str:
    with logged() as log:
        said: dict[str, Any]
        try:
            if kind not in jobs:
                make, settings = kind
                while len(jobs) >= KINDS_KEPT:
                    del jobs[next(iter(jobs))]
                jobs[kind] = made(make, read_back(settings))
            with limited(seconds):
                said = {"said": jobs[kind](read_back(job))}
        except SymattnError as error:
            said = {"refused": (type(error).__name__, error.args[0])}
        except MemoryError:
            raise
        except Exception as error:
            said = {"lost": f"failed, which is a defect of symattn: {type(error).__name__}: {error}"}
    return text_of({**said, "log": log})


def made(make: str, settings: Any) -> Job:
    """What "package.module:function" makes of settings."""
    module, _, name = make.partition(":")
    job: Job = getattr(importlib.import_module(module), name)(settings)
    return job


@contextmanager
def logged() -> Iterator[list[str]]:
    """The warnings in the log of symattn, captured and not shown."""
    told: list[str] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: told.append(record.getMessage())  # type: ignore[method-assign]
    _LOG.addHandler(handler)
    propagated, _LOG.propagate = _LOG.propagate, False
    try:
        yield told
    finally:
        _LOG.propagate = propagated
        _LOG.removeHandler(handler)
