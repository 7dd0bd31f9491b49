"""`symattn completion`: the completion script of a shell."""

from __future__ import annotations

import click

from symattn.cli.options import Command


@click.command(cls=Command)
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
