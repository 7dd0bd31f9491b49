"""`symattn practice`: a page to practise on, as files for any web space."""

from __future__ import annotations

from pathlib import Path

import click

from symattn.cli.options import FILES, Command, option, quiet_option


@click.command(cls=Command)
@click.argument("course", required=False, type=click.Path(path_type=Path), metavar="[PRACTICE.toml]")
@option("--out", "folder", group=FILES, default="site", show_default=True, type=click.Path(path_type=Path),
        metavar="FOLDER", help="Where the files go.")  # fmt: skip
@option("--pyodide", group=FILES, type=click.Path(path_type=Path), metavar="FOLDER",
        help="Pyodide from npm's package; else it is fetched.")  # fmt: skip
@option("--scorm", group=FILES, is_flag=True,
        help="Also packages for learning platforms, SCORM 1.2 and 2004.")  # fmt: skip
@option("--teacher", group=FILES, is_flag=True,
        help="Also a page on which teachers make worksheets and keys.")  # fmt: skip
@option("--typst", group=FILES, type=click.Path(path_type=Path), metavar="FOLDER",
        help="Typst from npm's package, for PDF on that page.")  # fmt: skip
@quiet_option
def practice(
    course: Path | None, folder: Path, pyodide: Path | None, scorm: bool, teacher: bool, typst: Path | None, quiet: bool
) -> None:
    """Make a page on which students practise in their own browsers: sheets, marking with follow-through, hints.

    It writes static files: any web space serves them, nothing is sent anywhere, and the second visit works
    offline.  PRACTICE.toml says which topics there are; without it, a course from dot products to multi-head
    attention.  Everything runs on the student's machine and can be forged: for practice, never for exams.

    With --teacher there is a second page, teacher.html: worksheets and keys in every format, question banks, and
    derivations in which every number can be changed, without a terminal.

    \b
    symattn practice --out site --pyodide node_modules/pyodide
    symattn practice practice.toml --out site --scorm
    symattn practice --teacher --out site
    """
    from symattn.practice.site import read_course, write_site

    written, compiled = write_site(read_course(course), folder, pyodide, scorm, teacher, typst)
    if quiet:
        return
    size = sum(path.stat().st_size for path in written if path.suffix != ".zip") / 1e6
    click.echo(f"{folder}: {sum(path.suffix != '.zip' for path in written)} files, {size:.1f} MB")
    for path in written:
        if path.suffix == ".zip":
            click.echo(f"{path}: {path.stat().st_size / 1e6:.1f} MB")
    if not compiled:
        click.echo(
            "The page compiles symattn each time it is opened, which takes a second or two: with Node, and Pyodide in "
            "a folder (--pyodide), it is compiled now.",
            err=True,
        )
    click.echo(f"To look at it: python -m http.server --directory {folder}")
    if teacher:
        click.echo("The page for teachers is teacher.html.")
