"""Processes of other machines, through Dask (the extra `cluster`)."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from concurrent.futures import CancelledError, Executor, InvalidStateError
from contextlib import contextmanager
from pathlib import Path

from symattn.errors import InputError

SECONDS = 10
"""How long a scheduler may take to answer."""


@contextmanager
def cluster(address: str) -> Iterator[Executor]:
    """What has work done by a Dask cluster, given its scheduler's address (tcp://…) or the file that this writes.

    `InputError` if Dask is not installed here, or if no scheduler answers.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise InputError("A cluster needs Dask, which is not installed: `pip install symattn[cluster]`.") from error
    try:
        if Path(address).is_file():
            client = Client(scheduler_file=address, timeout=SECONDS, set_as_default=False)
        elif "://" in address:
            client = Client(address, timeout=SECONDS, set_as_default=False)
        else:
            raise InputError(
                f"The cluster is {address!r}; the address of a Dask scheduler (tcp://…) or its file was expected."
            )
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"No Dask scheduler answers at {address}.") from error
    log = logging.getLogger("tornado.application")
    log.addFilter(_worth_telling)
    try:
        with client:
            yield client.get_executor(pure=False)
    finally:
        log.removeFilter(_worth_telling)


def _worth_telling(record: logging.LogRecord) -> bool:
    """Whether a record of Dask's log says more than that work was dropped."""
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, CancelledError | InvalidStateError)
