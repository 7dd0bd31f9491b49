"""Typst in a process of its own: what it makes of hostile or huge source cannot hurt the process that asked.

The process compiles one document after the other, for starting it costs more than a page.  It has an empty folder,
no network, no system fonts unless they are asked for, and limits of memory, processor time and file size; when it ends
or stands still it is replaced.  It ends with its standard input, so also when its parent is killed.
"""

from __future__ import annotations

import atexit
import importlib.util
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from io import BufferedWriter
from pathlib import Path
from typing import Any

from symattn.errors import InputError
from symattn.foundation import confined
from symattn.foundation.installed import fonts
from symattn.foundation.workers import watched, why_it_ended

SECONDS = 60  # of processor time
MEMORY = 4 * 2**30  # bytes; a booklet of 2000 pages takes half of it
SOURCES = 16 * 2**20  # bytes of source after which a process is replaced, so that what it keeps does not add up

SCRIPT = Path(confined.__file__)


class LostError(InputError):
    """The process ended, or was ended, before it had answered."""


class RefusedError(InputError):
    """Typst made no PDF of the source."""


class Compiler:
    """A process that compiles, started when it is first needed."""

    def __init__(self, seconds: float = SECONDS, memory: int = MEMORY) -> None:
        self._seconds, self._memory = seconds, memory
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._read = 0  # bytes of source so far

    def compile(self, source: bytes, *, system_fonts: bool = False) -> bytes:
        """PDF/A-2a and PDF/UA-1 of Typst source; `InputError` if there is none, or not in time."""
        answer, pdf = self._ask({"ask": "compile", "system_fonts": system_fonts}, source)
        if "refused" in answer:
            raise RefusedError(f"Typst could not make a PDF of this document: {answer['refused']}.")
        return pdf

    def printable(self, characters: str) -> str:
        """Those of the characters that the fonts of this machine have."""
        answer, _ = self._ask({"ask": "printable"}, characters.encode())
        return str(answer.get("printable", ""))

    def end(self) -> None:
        """End the process, if there is one; the next document starts another."""
        process, self._process, self._read = self._process, None, 0
        if process is not None:
            process.kill()
            process.communicate()

    @property
    def pid(self) -> int | None:
        """The number of the process that compiles; None while there is none."""
        return self._process.pid if self._process is not None else None

    def abandon(self) -> None:
        """Let go of the process without ending it: it belongs to the process that this one was forked from."""
        if self._process is not None:
            assert isinstance(self._process.stdin, BufferedWriter)
            self._process.stdin.detach().close()
            self._process.returncode = 0  # there is nothing to wait for

    def _ask(self, request: dict[str, Any], source: bytes) -> tuple[dict[str, Any], bytes]:
        with self._lock:
            dead = self._process is not None and self._process.poll() is not None
            if dead or self._read + len(source) > SOURCES:
                self.end()
            self._read += len(source)
            self._process = process = self._process or self._started()
            try:
                with watched(process, self._seconds) as over:
                    return self._asked(process, over, {**request, "seconds": self._seconds}, source)
            except BaseException:  # whatever was interrupted, its answer must not be taken for another's
                self.end()
                raise

    def _asked(
        self, process: subprocess.Popen[bytes], over: Callable[[], bool], request: dict[str, Any], source: bytes
    ) -> tuple[dict[str, Any], bytes]:
        assert process.stdin and process.stdout
        try:
            confined.send(process.stdin, request, source)
            line = process.stdout.readline()
            answer = json.loads(line) if line.endswith(b"\n") else {"size": 1}
            content = process.stdout.read(answer["size"])
        except OSError:  # the pipe is closed; the cause is raised below
            raise LostError(self._why(process, over)) from None
        if len(content) != answer["size"]:
            raise LostError(self._why(process, over))
        return answer, content

    def _started(self) -> subprocess.Popen[bytes]:
        spec = importlib.util.find_spec("typst")
        if spec is None or spec.origin is None:
            raise InputError("PDF needs the package typst, which is not installed: `pip install typst`.")
        folder = Path(spec.origin).parent.parent
        command = [sys.executable, "-I", "-S", str(SCRIPT), "compile", str(fonts()), str(self._memory), str(folder)]
        # Typst fetches packages when source asks for them; ours never does, and this address does not answer.
        nowhere = dict.fromkeys(("ALL_PROXY", "HTTPS_PROXY", "all_proxy", "https_proxy"), "http://127.0.0.1:9")
        steps = {"MALLOC_TOP_PAD_": str(2**24)}  # in which memory is asked for on Linux: small ones take a twentieth
        try:
            return subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                env={**os.environ, **nowhere, **steps, "RAYON_NUM_THREADS": "1"},
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )  # fmt: skip
        except OSError as error:
            raise InputError(f"Python cannot be started to make PDF ({sys.executable}): {error.strerror}.") from error

    def _why(self, process: subprocess.Popen[bytes], over: Callable[[], bool]) -> str:
        code = process.wait()
        if over() or code == -getattr(signal, "SIGXCPU", 0):
            used = f"{self._seconds:g} seconds of processor time"
            return f"Typst was stopped after {used}: the document is too large for one PDF."
        if code == -getattr(signal, "SIGABRT", 0):
            memory = f"{self._memory / 2**30:g} GiB"
            return f"Typst ended without a PDF: the document takes more than {memory} of memory, or a defect of Typst."
        return f"Making this PDF {why_it_ended(code, self._seconds)}."


class InPage(Compiler):
    """Typst in the worker of a page, which has it as a function (`practice/page/worker.js`), and no other fonts."""

    def compile(self, source: bytes, *, system_fonts: bool = False) -> bytes:
        """PDF of Typst source, tagged; `RefusedError` if there is none."""
        from js import compileTypst  # type: ignore[import-not-found]

        made = compileTypst(source.decode())
        if isinstance(made, str):
            raise RefusedError(f"Typst could not make a PDF of this document: {made}.")
        pdf: bytes = made.to_bytes()
        return pdf

    def printable(self, characters: str) -> str:
        return ""


COMPILER = InPage() if sys.platform == "emscripten" else Compiler()
atexit.register(COMPILER.end)
if hasattr(os, "register_at_fork"):

    def _forked() -> None:
        COMPILER.abandon()
        COMPILER.__init__()  # type: ignore[misc]

    os.register_at_fork(after_in_child=_forked)
