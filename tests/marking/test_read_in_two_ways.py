"""Whatever can be read in two ways accuses nobody: right answers in any wrapping earn their marks or wait for a person.

The forms below are those of scripts that were once finished at 0.  None of them has to be read; but what is not read as
it was meant is pending, with the reason, and no mistake is told of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache

import pytest
from scripts import decimals, key_of

import symattn
from symattn.api import make_recipe
from symattn.errors import InputError
from symattn.marking.marker import mark
from symattn.marking.marker.report import Report
from symattn.marking.submissions import read_submission
from symattn.teaching.question import Question
from symattn.teaching.sheets import sheets

Rows = list[list[str]]
Key = Mapping[str, Rows]

GIVEN = {"Q": [[1, 0], [2, 2]], "K": [[1, 1], [0, 2], ["1/2", 0]], "V": [[1, 0], [0, 4], [2, 2]]}
"""Two queries and three keys, so that no matrix has the shape of its transpose."""


@cache
def asked(sheet: str) -> Question:
    if sheet == "two queries":
        return symattn.derive("attention", **GIVEN).worksheet().question
    if sheet == "note-002":
        return symattn.derive("note-002").worksheet().question
    (drawn,) = sheets(make_recipe(sheet, seed=3), 1)
    return drawn.question


@cache
def key(sheet: str) -> Key:
    return {name: [[decimals(4)(x) for x in row] for row in rows] for name, rows in key_of(asked(sheet)).items()}


SHEETS = ("two queries", "attention", "self_attention", "causal_self_attention", "layer_norm", "note-002")


# ------------------------------------------------------------------------------------ forms of a matrix


def aligned(rows: Rows) -> str:
    return "\n".join("  ".join(row) for row in rows)


def in_brackets(rows: Rows) -> str:
    return "[" + ", ".join("[" + ", ".join(row) + "]" for row in rows) + "]"


def numbered(mark: str) -> Callable[[Rows], str]:
    return lambda rows: "\n".join(f"{mark.format(i)} {'  '.join(row)}" for i, row in enumerate(rows, 1))


def with_heads(heads: str, sides: str, first: int = 1) -> Callable[[Rows], str]:
    """Heads above the columns and before the rows, in aligned columns."""

    def form(rows: Rows) -> str:
        above = [heads.format(j) for j in range(first, len(rows[0]) + first)]
        lines = ["     " + "  ".join(above)]
        return "\n".join(lines + [f"{sides.format(i)}  {'  '.join(row)}" for i, row in enumerate(rows, first)])

    return form


def as_table(heads: str, sides: str, first: int = 1) -> Callable[[Rows], str]:
    """The same between bars."""

    def form(rows: Rows) -> str:
        above = ["", *(heads.format(j) for j in range(first, len(rows[0]) + first))]
        below = [[sides.format(i), *row] for i, row in enumerate(rows, first)]
        lines = [above, ["---"] * len(above), *below]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines)

    return form


def row_lost(rows: Rows) -> str:
    return aligned(rows[:-1] if len(rows) > 1 else rows)


def row_twice(rows: Rows) -> str:
    return aligned([rows[0], *rows])


def numbered_in_brackets(rows: Rows) -> str:
    return in_brackets([[str(i), *row] for i, row in enumerate(rows, 1)])


def in_latex(before: str, behind: str) -> Callable[[Rows], str]:
    def form(rows: Rows) -> str:
        cells = r" \\ ".join(" & ".join(row) for row in rows)
        return rf"{before}\begin{{bmatrix}} {cells} \end{{bmatrix}}{behind}"

    return form


def by_macro(rows: Rows) -> str:
    return r"\mat{" + r" \\ ".join(" & ".join(row) for row in rows) + "}"


FORMS: Mapping[str, Callable[[Rows], str]] = {
    "plain": aligned,
    "brackets": in_brackets,
    **{f"numbered {mark}": numbered(mark) for mark in ("{}.", "{})", "({})", "{}:", "{} |", "r{}:", "{}")},
    "R": with_heads("[,{}]", "[{},]"),
    "data frame": with_heads("{}", "{}", 0),
    "counted": with_heads("{}", "{}"),
    "keys and queries": with_heads("k{}", "q{}"),
    "keys alone": with_heads("k{}", ""),
    "queries alone": with_heads("", "q{}"),
    "table": as_table("{}", "{}"),
    "table of a data frame": as_table("{}", "{}", 0),
    "table of keys": as_table("k{}", "q{}"),
    "a row lost": row_lost,
    "a row twice": row_twice,
    "numbers inside": numbered_in_brackets,
}
LATEX: Mapping[str, Callable[[Rows], str]] = {
    "plain": in_latex("", ""),
    "boxed": in_latex(r"\boxed{", "}"),
    "coloured": in_latex(r"\textcolor{red}{", "}"),
    "underbraced": in_latex(r"\underbrace{", r"}_{3 \times 3}"),
    "framed": in_latex(r"\fbox{$", "$}"),
    "a factor of its own": in_latex(r"1.0 \, I \, ", ""),
    "a macro": by_macro,
}
LABELS = ("{}\n", "{} =\n", "{} = ", "> {}\n", "**{}**\n\n", "1. {}:\n", "{}:\n\n")


def scripts(sheet: str, labels: int = len(LABELS)) -> Iterator[tuple[str, str]]:
    """Everything right, in every form below so many kinds of labels, another one first for every form."""
    answers = key(sheet)
    for k, (name, form) in enumerate(FORMS.items()):
        for label in [*LABELS, *LABELS][k % len(LABELS) :][:labels]:
            yield f"{name}, {label!r}", "\n\n".join(label.format(part) + form(rows) for part, rows in answers.items())
    for name, form in LATEX.items():
        lines = [f"{part} &= {form(rows)}" for part, rows in answers.items()]
        yield f"LaTeX, {name}", "\\begin{align*}\n" + " \\\\\n".join(lines) + "\n\\end{align*}\n"
        yield f"displays, {name}", "\n\n".join(f"\\[ {line.replace('&=', '=')} \\]" for line in lines)


def finished_losses(report: Report) -> list[str]:
    """Marks that are lost for good, and mistakes that are told."""
    lost = [f"{given.parts} {given.code}" for given in report.marks if given.given < given.of and not given.pending]
    told = [f"{event.part}: {event.kind}" for event in report.events if event.kind != "rounding"]
    return [*lost, *told]


def marked(sheet: str, text: str, form: str = "") -> Report | None:
    """The report, None where the file was refused as a whole, in a sentence."""
    try:
        [attempt] = read_submission(text, [asked(sheet)], form=form).attempts
    except InputError:
        return None
    return mark(asked(sheet), attempt)


@pytest.mark.parametrize(("sheet", "labels"), [(SHEETS[0], 1), *(pytest.param(sheet, len(LABELS), marks=pytest.mark.slow) for sheet in SHEETS)])
def test_no_form_of_the_key_accuses(sheet: str, labels: int) -> None:
    reports = {name: marked(sheet, text) for name, text in scripts(sheet, labels)}
    assert {name: finished_losses(report) for name, report in reports.items() if report} == dict.fromkeys(
        (name for name, report in reports.items() if report), []
    )
