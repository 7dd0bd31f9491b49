"""The command line: `symattn worksheet`, `exam`, `derive`, `check`, `grade`, `stress`, `list`.

Everything heavy is imported inside the commands, so that help and completion answer at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from textwrap import indent
from typing import Any

import click

from symattn import __version__
from symattn.cli import check, derive, exam, grade, lists, practice, stress, worksheet
from symattn.cli.options import HELP, HOW_TO_GO_ON, Command
from symattn.errors import SymattnError, pointer_of

INPUT_WAS_WRONG = 2
INTERRUPTED = 130  # as a shell has it


class _Group(click.Group):
    """Turns every error raised on purpose into one sentence and exit code 2, and says after Ctrl-C how to go on."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except SymattnError as error:
            _refuse(ctx, str(error), pointer_of(error))
        except KeyboardInterrupt:
            how_to_go_on: Callable[[], str] = ctx.meta.get(HOW_TO_GO_ON, lambda: "")
            click.echo(f"\nInterrupted. {how_to_go_on()}".rstrip(), err=True)
            ctx.exit(INTERRUPTED)
        except BrokenPipeError:  # `symattn derive … | head`
            sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115
            ctx.exit(0)
        except OSError as error:
            if error.filename is not None:
                _refuse(ctx, f"{error.filename} cannot be used: {error.strerror or error}.")
            sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115  (what is left cannot be written either)
            _refuse(ctx, f"The output cannot be written: {error.strerror or error}.")  # `symattn derive … > /dev/full`
        except (MemoryError, RecursionError):
            _refuse(ctx, "This is too large, or nested too deeply, for the memory there is.")


def _refuse(ctx: click.Context, sentence: str, pointer: str = "") -> None:
    click.echo(click.style("Error: ", fg="red", bold=True) + str(SymattnError(sentence)), err=True)
    if pointer:
        click.echo(indent(pointer, "  "), err=True)
    ctx.exit(INPUT_WAS_WRONG)


@click.group(cls=_Group, context_settings={"help_option_names": HELP, "max_content_width": 100})
@click.version_option(__version__, prog_name="symattn")
def main() -> None:
    """Exact transformer attention, step by step: worksheets, answer keys, derivations.

    \b
    symattn worksheet                      a worksheet and its answer key
    symattn worksheet -n 30 --seed 7       thirty different ones, equally hard
    symattn exam midterm.toml              a whole exam for a class, from one file (--new writes one)
    symattn derive note-000                a note worked out, in its own notation
    symattn derive problem.toml            your own numbers
    symattn check note-000 answers.md      one piece of work marked, with follow-through
    symattn grade exam/ submissions/       a whole class: gradebook and feedback sheets
    symattn practice --out site            a page to practise on, for any web space
    symattn list                           what there is to choose from
    """


for _verb in (
    worksheet.worksheet,
    exam.exam,
    derive.derive,
    check.check,
    grade.grade,
    practice.practice,
    stress.stress_,
    lists.list_,
):
    main.add_command(_verb)


@main.command(cls=Command)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, /, shell: str) -> None:
    """Print the completion script for a shell.

    \b
    symattn completion bash >> ~/.bashrc
    """
    from click.shell_completion import get_completion_class

    shell_class = get_completion_class(shell)
    assert shell_class is not None
    click.echo(shell_class(ctx.find_root().command, {}, "symattn", "_SYMATTN_COMPLETE").source())
