"""Who does the work of a command, and what it says meanwhile and after Ctrl-C."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING

from symattn.errors import InputError

if TYPE_CHECKING:
    from concurrent.futures import Executor

HOW_TO_GO_ON = "symattn.how_to_go_on"
"""Where a command leaves in its context what is said after Ctrl-C."""


EVERY = 10.0
"""Seconds between two lines where there is no terminal."""


@contextmanager
def progress(count: int, quiet: bool, what: str) -> Iterator[Callable[[object], None]]:
    """A bar on a terminal; into a file or a pipe a line every ten seconds, with the time that is probably left."""
    if quiet or count < 2:
        yield lambda done: None
        return
    if not sys.stderr.isatty():
        with lines(count, what, EVERY) as step:
            yield step
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=count)
        yield lambda done: bar.advance(task)


@contextmanager
def lines(count: int, what: str, every: float) -> Iterator[Callable[[object], None]]:
    """A line `every` few seconds, also where nothing has been done since the last."""
    import click

    done, begun, over = 0, monotonic(), Event()

    def step(_: object) -> None:
        nonlocal done
        done += 1

    def say() -> None:
        while not over.wait(every):
            click.echo(line(what, done, count, monotonic() - begun), err=True)

    teller = Thread(target=say, daemon=True)
    teller.start()
    try:
        yield step
    finally:
        over.set()
        teller.join()


def line(what: str, done: int, count: int, seconds: float) -> str:
    """How far the run is after some seconds, and how long the rest takes at that speed; the count is an estimate."""
    left, count = "", max(count, done)
    if 0 < done < count:
        rest = seconds * (count - done) / done
        left = f", about {rest:.0f} s to go" if rest < 100 else f", about {rest / 60:.0f} min to go"
    return f"{what}: {done} of {count} done{left}."


@contextmanager
def executor(jobs: int, address: str | None) -> Iterator[Executor | None]:
    """What has the work done by a cluster, if one is named."""
    if address is None:
        yield None
        return
    if jobs:
        raise InputError("--jobs is for the processes of this machine; with --cluster, its workers do the work.")
    from symattn.foundation.crew import cluster

    with cluster(address) as executor:
        yield executor
