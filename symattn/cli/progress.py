"""What a command says while it runs and after Ctrl-C."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

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
