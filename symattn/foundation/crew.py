"""Who does the work of a run: this process alone, processes of this machine, or those of a cluster.

Whoever does it, the answers are the same.  A job is JSON for a function that is named, so that nothing but small
messages travels; any executor of `concurrent.futures` can carry them.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    CancelledError,
    Executor,
    Future,
    InvalidStateError,
    ThreadPoolExecutor,
    wait,
)
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any, TypeVar

from symattn.errors import InputError, SymattnError
from symattn.foundation.workers import KEPT, Hands, Job, Limits, LostError, answer_of, made, text_of

_LOG = logging.getLogger("symattn")

T = TypeVar("T")

AHEAD = 4
"""How many jobs for each process are given out before their answers are wanted: so much is kept at a time."""
PAYS = 6
"""Default number of variants from which another process is worth starting."""
PAYS_FOR_STRANGERS = 50
"""Default number of scripts for which another process is worth starting: until it marks the first one it has read the
exam and made its questions, for which a process that has done so marks some thirty, and half of them are its own."""


@dataclass(frozen=True)
class Asked:
    """A job that was given out: called, it waits for the answer; what is not wanted any more is dropped."""

    answer: Callable[[], Any]
    drop: Callable[[], object] = lambda: None
    ready: Callable[[], bool] = lambda: True

    def __call__(self) -> Any:
        return self.answer()


class Crew:
    """Does jobs.  `make` names what makes a job of settings: "package.module:function" (`symattn.foundation.workers`).

    `submit` has a job done elsewhere, given what makes it, the settings and the job, as text; without it jobs are done
    here, when their answers are asked for.  `hands` says how many can be done elsewhere at a time.  Where this process
    `helps`, it does pending jobs while it waits for an answer.  Of work that is done elsewhere, an error of
    symattn's is raised here as it was there, and `LostError` where a process ended or was ended.
    """

    def __init__(
        self,
        submit: Callable[[str, str, str], Future[str]] | None = None,
        hands: Callable[[], int] = lambda: 1,
        helps: bool = False,
    ) -> None:
        self._submit, self.hands, self._helps = submit, hands, helps
        self._here: dict[tuple[str, str], Job] = {}
        self._out: set[Future[str]] = set()
        self._open: dict[Future[str], Callable[[], Any]] = {}
        """Pending jobs that this process can do, in the order in which they were given out."""
        self._helped: dict[Future[str], Future[Any]] = {}
        """What it has done so, by what was given out."""

    @property
    def alone(self) -> bool:
        """Whether this process does everything itself."""
        return self._submit is None

    @property
    def ahead(self) -> int:
        """How many jobs may be out at a time."""
        return AHEAD * max(self.hands(), 1)

    def prepare(self, make: str, settings: object) -> None:
        """Have the processes start and make themselves ready for jobs (by a job of None), in advance.

        Where this process does not help, it waits for them anyway.
        """
        if self._submit and self._helps:
            for _ in range(self.hands()):
                self._submit(make, text_of(settings), text_of(None))

    def ask(self, make: str, settings: object, job: object, name: object) -> Asked:
        """Have a job done; what is returned waits for the answer, or says of what is named so that it was lost."""
        kind = (make, text_of(settings))

        def here() -> Any:
            return self._made(kind, settings)(job)

        if self._submit is None:
            return Asked(here)
        future = self._given_out(kind, text_of(job))
        if self._helps:
            self._open[future] = here
        return Asked(lambda: self._answer(future, name), lambda: self._dropped(future), future.done)

    def in_order(self, make: str, settings: object, jobs: Iterable[tuple[T, object]]) -> Iterator[tuple[T, Any]]:
        """The answers to jobs in their order, each with what it is called; jobs are taken a little ahead."""
        waiting: deque[tuple[T, Asked]] = deque()
        for name, job in jobs:
            waiting.append((name, self.ask(make, settings, job, name)))
            while waiting and (waiting[0][1].ready() or len(waiting) > self.ahead):
                name, answer = waiting.popleft()
                yield name, answer()
        while waiting:
            name, answer = waiting.popleft()
            yield name, answer()

    def as_done(self, make: str, settings: object, jobs: Iterable[tuple[T, object]]) -> Iterator[tuple[T, Any]]:
        """The same as they come; a job that was lost is answered with `LostError`."""
        if self._submit is None:
            yield from self.in_order(make, settings, jobs)
            return
        kind, out = (make, text_of(settings)), dict[Future[str], T]()
        listed = iter(jobs)
        while True:
            for name, job in listed:
                out[self._given_out(kind, text_of(job))] = name
                if len(out) > self.ahead:
                    break
            if not out:
                return
            for future in self._wait(out):
                try:
                    answer = self._answer(future, out[future])
                except LostError as lost:
                    answer = lost
                yield out.pop(future), answer

    def drop(self) -> None:
        """Give up what is out."""
        for future in list(self._out):
            self._dropped(future)

    def _dropped(self, future: Future[str]) -> None:
        future.cancel()
        self._forget(future)

    def _forget(self, future: Future[str]) -> None:
        self._out.discard(future)
        self._open.pop(future, None)
        self._helped.pop(future, None)

    def _made(self, kind: tuple[str, str], settings: object) -> Job:
        if kind not in self._here:
            self._here[kind] = made(kind[0], settings)
        return self._here[kind]

    def _given_out(self, kind: tuple[str, str], job: str) -> Future[str]:
        assert self._submit
        future = self._submit(*kind, job)
        self._out.add(future)
        return future

    def _answer(self, future: Future[str], name: object) -> Any:
        while not future.done() and self._help(future):
            pass
        if helped := self._helped.get(future):
            self._forget(future)
            return helped.result()
        what = f"Work on {name}"
        try:
            self._wait([future])
            answer = future.result()
        except SymattnError:
            raise
        except (ImportError, AttributeError) as error:
            raise InputError(f"The workers have no symattn, or another one than this process: {error}.") from error
        except Exception as error:  # whatever an executor says of a worker that is gone
            raise LostError(f"was lost with the worker that did it ({type(error).__name__})", what) from error
        finally:
            self._forget(future)
        return answer_of(answer, what)

    def _help(self, wanted: Future[str]) -> bool:
        """Do one pending job, urgent ones first; False if there was none."""
        for future in (wanted, *self._open):
            here = self._open.pop(future, None)
            if here and future.cancel():
                self._helped[future] = done = Future[Any]()
                try:
                    done.set_result(here())
                except Exception as error:  # raised where its answer is asked for
                    done.set_exception(error)
                return True
        return False

    def _wait(self, futures: Iterable[Future[str]]) -> set[Future[str]]:
        """Those that are done first; meanwhile it is looked whether there still is anybody to do them."""
        while not (done := wait(futures, SECONDS, FIRST_COMPLETED).done):
            self.hands()
        return done


def work(software_there: str, make: str, settings: str, job: str, seconds: float, memory: int) -> str:
    """A job done for another machine, in a process of its own; refused where software differs, as bytes then might."""
    from symattn.foundation.installed import software

    here, there = software(), json.loads(software_there)
    if differing := [name for name in there if there[name] != here.get(name)]:
        name = differing[0]
        said = f"A worker differs in {name}: {here.get(name)} there, {there[name]} here; all need the same software."
        return json.dumps({"refused": ["InputError", said]})
    return KEPT.do(make, settings, job, Limits(seconds, memory))


WORK = f"__import__({__name__!r}, fromlist=['work']).work(*given)"
"""The call of `work`, to be sent as text: where there is no symattn, it is the call that fails and not the worker."""


@contextmanager
def crew(
    jobs: int = 0,
    executor: Executor | None = None,
    *,
    of: int | None = None,
    strangers: float = inf,
    limits: Limits = Limits(),  # noqa: B008  (it is frozen)
) -> Iterator[Crew]:
    """A crew for one run: an executor's, or `jobs` processes of our own (0: one for each processor, where it pays).

    This process is one of them, and one job by itself, or `of` so few that another does not pay, are done here.
    Strangers' work (`of` is None) always has a process of its own, and one more for every `PAYS_FOR_STRANGERS` of so
    many jobs.  When it is over, also by an error or Ctrl-C, all processes have ended.
    """
    if executor is not None:
        from symattn.foundation.installed import software

        same = json.dumps(software())
        give: Callable[..., Future[str]] = executor.submit

        def submit(*order: str) -> Future[str]:
            return give(eval, WORK, {"given": (same, *order, limits.seconds, limits.memory)})

        remote = Crew(submit, _hands_of(executor))
        try:
            yield remote
        finally:
            remote.drop()
        return
    count = jobs or processors()
    if of is not None:
        count = min(count, of if jobs else of // PAYS) - 1  # this process is one of them
        if count <= 0:
            yield Crew()
            return
    elif not jobs:
        count = int(min(count, 1 + strangers / PAYS_FOR_STRANGERS))
    own_hands = Hands()
    pool = ThreadPoolExecutor(count, "symattn")
    usual = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH)
    try:

        def given(make: str, settings: str, job: str) -> Future[str]:
            return pool.submit(own_hands.do, make, settings, job, limits)

        yield Crew(given, lambda: count, helps=of is not None)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        own_hands.end()
        pool.shutdown()
        own_hands.close()
        sys.setswitchinterval(usual)


SWITCH = 0.0005
"""Seconds after which a thread that is busy lets another go on: after Python's 5 ms, several times for each job, the
other processes would stand still for half of their time."""


def _hands_of(executor: Executor) -> Callable[[], int]:
    """How many jobs an executor does at a time, as far as it says so; of a Dask cluster, as it is now."""
    client: Any = getattr(executor, "_client", None)
    if client is None:
        return lambda: getattr(executor, "_max_workers", None) or processors()
    known, asked = 1, -SECONDS

    def hands() -> int:
        nonlocal known, asked
        if time.monotonic() - asked >= SECONDS:
            try:
                before, known, asked = known, sum(client.nthreads().values()), time.monotonic()
            except OSError as error:
                raise InputError(f"The scheduler at {client.scheduler.address} does not answer any more.") from error
            if before and not known:
                _LOG.warning("The cluster at %s has no workers; this run waits for some.", client.scheduler.address)
        return known

    return hands


SECONDS = 5.0
"""After which a cluster is asked again how large it is."""


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# ------------------------------------------------------------------------------------------------ a cluster

TIMEOUT = 10
"""Seconds that a scheduler may take to answer."""


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
            client = Client(scheduler_file=address, timeout=TIMEOUT, set_as_default=False)
        elif "://" in address:
            client = Client(address, timeout=TIMEOUT, set_as_default=False)
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
