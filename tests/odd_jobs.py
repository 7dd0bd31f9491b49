"""Jobs for processes that misbehave, named as "odd_jobs:…"; they run in processes of their own."""

import logging
import os
import signal
import time
import warnings

from symattn.errors import InputError, SelfCheckError


def told(settings):
    """Does what it is told."""
    if settings == "refuse":
        raise InputError("it would not start")

    def job(asked):
        match asked:
            case "crash":
                os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
            case "half":
                os._exit(0)
            case "raise":
                raise RuntimeError("no such thing")
            case "refuse":
                raise SelfCheckError("the key is wrong")
            case "spin":
                sum(iter(int, 1))  # for ever, in C
            case "grow":
                "x" * 10**11
            case "print":
                print("this is no answer")
            case "warn":
                logging.getLogger("symattn").warning("look at %s", "this")
                warnings.warn("and that", stacklevel=1)
            case float():
                time.sleep(asked)
            case bytes():
                return asked[::-1]
        return {"answer": asked, "process": os.getpid(), "settings": settings}

    return job


def late(settings):
    """One after the other, the later the earlier: answers do not come in order."""

    def job(number):
        time.sleep(0.02 * (5 - number))
        return number * number

    return job


def hungry(settings):
    """Takes memory that any machine promises and no limit allows."""
    return lambda size: len(bytearray(size))


def crashing(settings):
    """Ends its process, whatever it is asked."""
    return lambda asked: os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))


def faulty(settings):
    """Marks, but hangs on one submission, crashes on another and meets a defect on a third."""
    from symattn.marking.grading import worker

    marker = worker.Marker(settings)
    plain = marker._marked  # noqa: SLF001

    def marked(row, data, given):
        if row.id == "s001":
            sum(iter(int, 1))
        if row.id == "s002":
            os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
        if row.id == "s003":
            raise KeyError("no such thing")
        return plain(row, data, given)

    marker._marked = marked  # noqa: SLF001
    return marker.mark


def hanging_check(settings):
    """`symattn check` whose marker never ends."""
    return _check(lambda *given: sum(iter(int, 1)))


def defective_check(settings):
    """`symattn check` whose marker has a defect."""
    return _check(lambda *given: {}["no"])


def _check(checked):
    import symattn.cli.check as command
    import symattn.marking.grading.checking as checking

    def job(asked):
        before, checking.checked = checking.checked, checked
        try:
            return command.answer(asked)
        finally:
            checking.checked = before

    return job
