"""Limits of processes, and what runs in those that compile: a file of its own, for these have no more of symattn.

    python confined.py compile FONTS MEMORY TYPST      compiles Typst source from standard input until that ends
    python confined.py run SECONDS MEMORY SIZE COMMAND …    becomes another program with these limits

Limits are in seconds and bytes; they hold where the platform has them (not on Windows).
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO, Any

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

STANDARDS = ["a-2a", "ua-1"]
PATIENCE = 10
"""Times the limit of processor time: what stands still for so long, by the clock, is ended."""


def patience() -> float:
    """`PATIENCE`, as many times longer as there are programs waiting for each processor now."""
    try:
        waiting = os.getloadavg()[0]
    except (AttributeError, OSError):  # Windows has none, and a sandbox may hide it
        waiting = 0
    return PATIENCE * max(1, waiting / (os.cpu_count() or 1))


def limit(kind: str, amount: int, *, for_good: bool = False) -> None:
    """Limit one resource of this process; where the platform refuses (macOS has no limit of memory), it stays.

    `for_good`: so that the process cannot raise it again.
    """
    if resource is not None:
        kind_of_limit = getattr(resource, kind)
        _, most = resource.getrlimit(kind_of_limit)
        amount = amount if most == resource.RLIM_INFINITY else min(amount, most)
        with suppress(ValueError, OSError):
            resource.setrlimit(kind_of_limit, (amount, amount if for_good else most))


def memory_held() -> int:
    """Bytes of memory that this process has asked for so far; 0 where the platform does not say."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0


def limit_seconds(seconds: float) -> None:
    """Limit the processor time from now on; by the clock `patience()` times as much: what stands still ends, too.

    The process is ended by a signal, whatever it is doing: SIGXCPU or SIGALRM.
    """
    if resource is not None:
        used = resource.getrusage(resource.RUSAGE_SELF)
        limit("RLIMIT_CPU", int(used.ru_utime + used.ru_stime + seconds) + 1)
        signal.setitimer(signal.ITIMER_REAL, patience() * seconds)


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """While it lasts, time is limited."""
    limit_seconds(seconds)
    try:
        yield
    finally:
        if resource is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)
            limit("RLIMIT_CPU", resource.getrlimit(resource.RLIMIT_CPU)[1])


# --- Typst -------------------------------------------------------------------------------------------------


@cache
def _compiler(fonts: str, system_fonts: bool) -> Any:
    import typst

    fonts_found = typst.Fonts(include_system_fonts=system_fonts, font_paths=[fonts])
    # The root is a file: nothing lies below it that a document could read.
    return typst.Compiler(root=__file__, font_paths=fonts_found, ignore_system_fonts=not system_fonts)


def compiled(source: bytes, fonts: str, system_fonts: bool) -> bytes:
    compiler = _compiler(fonts, system_fonts)
    pdf: bytes = compiler.compile(input=source, format="pdf", pdf_standards=STANDARDS, timestamp=0)
    return pdf


def _printable(characters: str, fonts: str) -> str:
    """Those of the characters that some font of this machine has."""
    if not characters:
        return ""
    source = '#set document(title: "x")\n' + "".join(f'#text("\\u{{{ord(c):x}}}")' for c in characters)
    try:
        compiled(source.encode(), fonts, True)
    except BaseException:  # a panic of Rust among them
        half = len(characters) // 2
        return "".join(_printable(part, fonts) for part in (characters[:half], characters[half:])) if half else ""
    return characters


def answer(request: Mapping[str, Any], source: bytes, fonts: str) -> tuple[dict[str, Any], bytes]:
    """What is said in answer to a request, and the PDF."""
    try:
        with limited(request["seconds"]):
            if request["ask"] == "printable":
                return {"printable": _printable(source.decode(), fonts)}, b""
            return {}, compiled(source, fonts, request["system_fonts"])
    except BaseException as error:  # besides its own errors, typst raises what stands for a panic of Rust
        return {"refused": str(error).rstrip(".")}, b""


def serve(fonts: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started it ends it
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what anything prints must not be taken for an answer
    while line := requests.readline():
        request = json.loads(line)
        send(answers, *answer(request, requests.read(request["size"]), fonts))


def send(stream: IO[bytes], message: Mapping[str, Any], content: bytes) -> None:
    """Send a line of JSON, which says how many bytes follow it, and these bytes."""
    stream.write(json.dumps({**message, "size": len(content)}).encode() + b"\n" + content)
    stream.flush()


def main(task: str, *rest: str) -> None:
    limit("RLIMIT_CORE", 0)
    if task == "compile":
        fonts, memory, folder = rest
        sys.path.insert(0, folder)
        limit("RLIMIT_AS", int(memory))
        limit("RLIMIT_FSIZE", 0)
        serve(fonts)
    else:
        seconds, memory, size, *command = rest
        limit_seconds(int(seconds))
        limit("RLIMIT_AS", int(memory))
        limit("RLIMIT_FSIZE", int(size))
        if resource is None:  # nothing was limited, and Windows has no exec that keeps the process
            sys.exit(subprocess.call(command, timeout=int(seconds)))
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python ignores it, and so would the program, for ever writing
        os.execv(command[0], command)


if __name__ == "__main__":
    main(*sys.argv[1:])
