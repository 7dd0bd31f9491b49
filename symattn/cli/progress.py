"""Who does the work of a command, and what it says meanwhile and after Ctrl-C."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from symattn.errors import InputError

if TYPE_CHECKING:
    from concurrent.futures import Executor

HOW_TO_GO_ON = "symattn.how_to_go_on"
"""Where a command leaves in its context what is said after Ctrl-C."""


@contextmanager
def progress(count: int, quiet: bool, what: str) -> Iterator[Callable[[object], None]]:
    """A bar on the terminal; nothing where nobody looks."""
    if quiet or count < 2 or not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=count)
        yield lambda done: bar.advance(task)


@contextmanager
def executor(jobs: int, address: str | None) -> Iterator[Executor | None]:
    """What has the work done by a cluster, if one is named."""
    if address is None:
        yield None
        return
    if jobs:
        raise InputError("--jobs is for the processes of this machine; with --cluster, its workers do the work.")
    from symattn.foundation.cluster import cluster

    with cluster(address) as found:
        yield found
