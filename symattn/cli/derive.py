"""`symattn derive`: a derivation worked out step by step."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symattn.cli.options import (
    FILES,
    PAGE,
    PROBLEM,
    Command,
    completing,
    fillable_option,
    layout_options,
    look_options,
    names_of,
    option,
    read_entries,
    read_list,
    read_look,
    read_settings,
    settings_options,
    source_names,
    typesetting_options,
)
from symattn.errors import InputError

if TYPE_CHECKING:
    from symattn.page.document import Solutions
    from symattn.teaching.explanation import Conventions, Layout


@click.command(cls=Command)
@click.argument("source", metavar="FILE|EXAMPLE|MECHANISM", shell_complete=completing(source_names))
@option("--as-written/--corrected", "as_written", group=PROBLEM, default=False,
        help="A note with its own mistakes, or with them corrected (default).")  # fmt: skip
@option("--symbolic", group=PROBLEM, is_flag=True, help="Letters instead of numbers: q_11 = x_11 w_11 + …")
@option("--expanded", group=PROBLEM, is_flag=True, help="With --symbolic: every entry in terms of the givens alone.")
@option("--miniature", group=PROBLEM, is_flag=True, help="Small numbers for a note that only has shapes.")
@option("--as", "kind", group=PROBLEM, default="derivation", show_default=True, metavar="KIND",
        type=click.Choice(["derivation", "worksheet", "key"]), help="derivation, worksheet or key.")  # fmt: skip
@option("--solutions", group=PROBLEM, metavar="KIND",
        type=click.Choice(["blank", "partly", "worked", "key", "answers", "diagnosis"]),
        help="A worksheet blank, partly (first rows) or fully worked, or its key.")  # fmt: skip
@option("--diagram", group=PAGE, is_flag=False, flag_value="graph", metavar="KIND",
        shell_complete=completing(names_of("diagrams")),
        help="A figure instead; see `symattn list diagrams`.")  # fmt: skip
@option("--step", "names", group=PAGE, default="", metavar="NAME,…",
        help="Only these steps, or givens, without words: S,A.")  # fmt: skip
@option("--entries", group=PAGE, default="auto", show_default=True, metavar="WHICH",
        help="Entries shown: auto, all, first-row, none or 1,1;2,3.")  # fmt: skip
@option("--places", group=PAGE, type=click.IntRange(0, 50), metavar="N", help="Places of the decimals.")
@option("--format", "forms", group=FILES, default="text", show_default=True, metavar="F,F,…",
        help="See `symattn list formats`.")  # fmt: skip
@option("--out", "folder", group=FILES, type=click.Path(path_type=Path), metavar="FOLDER",
        help="Write files here (needed for PDF) instead of printing.")  # fmt: skip
@settings_options
@layout_options
@look_options
@fillable_option
@typesetting_options
def derive(
    source: str,
    as_written: bool,
    symbolic: bool,
    expanded: bool,
    miniature: bool,
    kind: str,
    solutions: Solutions | None,
    diagram: str | None,
    names: str,
    entries: str,
    places: int | None,
    forms: str,
    folder: Path | None,
    layout: Layout,
    conventions: Conventions,
    **settings: Any,
) -> None:
    """Work out a derivation step by step, with every entry of every product shown.

    \b
    symattn derive note-002 --as-written
    symattn derive note-000 --notation note-002
    symattn derive self_attention --symbolic --size n=2,d_model=3,d_k=2,d_v=2
    symattn derive problem.toml --format latex,pdf --out output
    symattn derive note-002 --diagram
    symattn derive note-002 --format latex-body --step S,A > scores.tex
    """
    from symattn.api import derive as work_out
    from symattn.derivation.mechanisms import typed_sizes
    from symattn.teaching.explanation.documents import derivation_document, steps_document
    from symattn.teaching.rendering import check_formats, read_besides, render, write_documents

    listed = check_formats(read_list(forms))
    look = read_look(settings)
    solution = work_out(
        source,
        notation=settings.pop("notation"),
        symbolic=symbolic,
        sizes=typed_sizes(settings.pop("sizes")),
        corrected=not as_written,
        miniature=miniature,
        entries=read_entries(entries),
        places=places,
        layout=layout,
        **read_settings(settings),
    )
    if expanded and not symbolic:
        raise InputError("--expanded puts everything back into letters: it goes with --symbolic.")
    if expanded:
        solution = solution.expanded()
    _refuse_idle_options(kind, solutions, diagram, names, look.fillable, listed)
    if names:
        document = steps_document(solution.problem, read_list(names), solution.detail)
    elif diagram:
        document = solution.diagram(diagram)
    elif kind == "derivation":
        document = derivation_document(solution.problem, solution.detail, layout, read_besides(listed))
    else:
        shown: Solutions = "key" if kind == "key" else solutions or "blank"
        document = solution.worksheet().document(shown, layout=layout, conventions=conventions)
    document = replace(document, look=look)
    if folder is not None:
        stem = _file_name(source, kind, solutions, diagram, read_list(names))
        for path in write_documents([(stem, document)], folder, listed):
            click.echo(path)
        return
    if binary := [form for form in listed if form.endswith("pdf")]:
        raise InputError(f"{binary[0]} is written to a file: say where with --out FOLDER.")
    for form in listed:
        click.echo(render(document, form)[1].decode(), nl=False)


def _refuse_idle_options(
    kind: str, solutions: Solutions | None, diagram: str | None, names: str, fillable: bool, forms: Sequence[str]
) -> None:
    """`InputError` for what would change nothing of what is written."""
    if solutions and kind != "worksheet":
        raise InputError("--solutions says what of a worksheet is worked: it goes with --as worksheet.")
    if fillable and (kind != "worksheet" or "pdf" not in forms or solutions not in (None, "blank")):
        raise InputError(
            "--fillable gives the PDF of a blank worksheet form fields: it goes with --as worksheet --format pdf."
        )
    if diagram and kind != "derivation":
        raise InputError("--diagram gives a figure in place of the derivation; it does not go with --as.")
    if names and (diagram or kind != "derivation"):
        raise InputError("--step gives steps of a derivation alone; it does not go with --as or --diagram.")


def _file_name(source: str, kind: str, solutions: Solutions | None, diagram: str | None, steps: Sequence[str]) -> str:
    """The name of the file, without its suffix: the source's, and what is shown of it."""
    shown = [
        kind if kind != "derivation" else "",
        solutions if solutions != "blank" else "",
        diagram,
        *map(_in_file_name, steps),
    ]
    return "-".join([Path(source).stem, *filter(None, shown)])


def _in_file_name(step: str) -> str:
    """S' as Sprime, since \\input and shells read quotes in their own way."""
    return re.sub(r"[^\w.^-]", "", step.replace("'", "prime"))
