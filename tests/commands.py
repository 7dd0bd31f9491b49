"""A command run in this process or in one of its own, and what it left in a folder."""

import os
import subprocess
import sys
from contextlib import nullcontext

from click.testing import CliRunner
from waiting import GUARD

from symattn.cli import main
from symattn.foundation.crew import Crew, crew


def run(*arguments, answers=None):
    return CliRunner().invoke(main, [str(a) for a in arguments], input=answers, catch_exceptions=False)


def refusal(*arguments):
    """The one sentence that something wrong gets."""
    done = run(*arguments)
    assert done.exit_code == 2, done.output
    assert done.output.startswith("Error: ")
    assert done.output.count("\n") == 1
    return done.output


def environment(**more):
    """That of a process which finds what this one finds."""
    path = os.pathsep.join(os.path.realpath(entry) for entry in sys.path)
    return {**os.environ, "PYTHONPATH": path, "PYTHONUTF8": "1", **more}


def python(*arguments, folder=None, output=subprocess.PIPE, **more):
    """How a process ended that was given its time, and what it printed."""
    return subprocess.run(
        [sys.executable, *map(str, arguments)], cwd=folder, stdout=output, stderr=subprocess.PIPE, text=True,
        timeout=GUARD, env=environment(**more), check=False,
    )  # fmt: skip


def started(*arguments, folder=None, **how):
    """A process that is at work."""
    return subprocess.Popen([sys.executable, *map(str, arguments)], cwd=folder, env=environment(), **how)


def here(jobs=0, executor=None, **how):
    """In place of `crew`: everything is done here, without processes of its own, which take a second to start."""
    return crew(executor=executor, **how) if executor else nullcontext(Crew())


def contents(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
