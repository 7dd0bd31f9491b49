"""A command run in this process, and what it left in a folder."""

from contextlib import nullcontext

from click.testing import CliRunner

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


def here(jobs=0, executor=None, **how):
    """In place of `crew`: everything is done here, without processes of its own, which take a second to start."""
    return crew(executor=executor, **how) if executor else nullcontext(Crew())


def contents(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
