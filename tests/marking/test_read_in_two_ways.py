"""Whatever can be read in two ways accuses nobody: right answers in any wrapping earn their marks or wait for a person.

The forms below are those of scripts that were once finished at 0.  None of them has to be read; but what is not read as
it was meant is pending, with the reason, and no mistake is told of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache

import pytest
from scripts import decimals, key_of

import symattn
from symattn.api import make_recipe
from symattn.errors import InputError
from symattn.marking.attempt import Attempt
from symattn.marking.marker import mark
from symattn.marking.marker.report import Report
from symattn.marking.submissions import entry, read_submission
from symattn.marking.submissions.blocks import page
from symattn.teaching.question import FormulaAnswer, Question
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
        first, *_ = answers  # plain, so that the file is not refused as a whole
        lines = [f"{part} &= {(LATEX['plain'] if part == first else form)(rows)}" for part, rows in answers.items()]
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


THOROUGH = [pytest.param(sheet, 2, marks=pytest.mark.slow) for sheet in SHEETS]


@pytest.mark.parametrize(("sheet", "labels"), [(SHEETS[0], 1), *THOROUGH])
def test_no_form_of_the_key_accuses(sheet: str, labels: int) -> None:
    reports = {name: marked(sheet, text) for name, text in scripts(sheet, labels)}
    losses = {name: finished_losses(report) for name, report in reports.items() if report}
    assert {name: lost for name, lost in losses.items() if lost} == {}


# ------------------------------------------------------------------------------------ each reason to wait


def in_json(answers: Key, **more: object) -> str:
    return json.dumps({"answers": answers, **more})


def waiting(report: Report) -> set[str]:
    return {part for given in report.marks if given.pending for part in given.parts}


def told(report: Report) -> list[str]:
    return [str(notice.says) for notice in report.notices]


def report_of(text: str, sheet: str = SHEETS[0], form: str = "") -> Report:
    found = marked(sheet, text, form)
    assert found is not None
    return found


def test_another_shape_waits_with_what_follows() -> None:
    wide = [[*row, "7"] for row in key(SHEETS[0])["S"]]
    report = report_of(in_json({**key(SHEETS[0]), "S": wide}))
    assert waiting(report) == {"S"}  # the rest is right as it stands
    assert not finished_losses(report)
    assert "As it was read, the matrix is 2×4, where 2×3 was asked for; a person has to look at it." in told(report)
    other = [[str(float(x) + 1) for x in row] for row in key(SHEETS[0])["Z"]]
    assert waiting(report_of(in_json({**key(SHEETS[0]), "S": wide, "Z": other}))) == {"S", "Z"}


def test_what_a_person_entered_is_told_clearly() -> None:
    wide = [[*row, "7"] for row in key(SHEETS[0])["S"]]
    report = report_of(in_json({**key(SHEETS[0]), "S": wide}, symattn={"entered": True}))
    assert not report.pending
    assert [event.kind for event in report.events] == ["shape"]


@pytest.mark.parametrize("right_first", [True, False])
def test_two_answers_wait_unless_the_last_is_right(right_first: bool) -> None:
    answers = dict(key(SHEETS[0]))
    wrong = [[str(float(x) + 3) for x in row] for row in answers["S"]]
    both = [answers.pop("S"), wrong][:: 1 if right_first else -1]
    text = "\n\n".join(
        f"{name} = {in_brackets(rows)}" for name, rows in [("S", both[0]), ("S", both[1]), *answers.items()]
    )
    report = report_of(text)
    assert waiting(report) == ({"S"} if right_first else set())
    assert not finished_losses(report)


@pytest.mark.parametrize("right_last", [True, False])
def test_what_was_replaced_may_be_meant_for_an_answer_that_is_missing(right_last: bool) -> None:
    """Q and K both under Q: K has no answer, and what Q has may come of it or not."""
    answers = key("self_attention")
    both = [answers["K"], answers["Q"]][:: 1 if right_last else -1]
    text = "\n\n".join(f"Q = {in_brackets(rows)}" for rows in both) + f"\n\nV = {in_brackets(answers['V'])}"
    report = report_of(text, "self_attention")
    assert waiting(report) & {"Q", "K", "V"} == (set() if right_last else {"Q", "K"})
    assert not [event for event in report.events if event.part in ("Q", "K", "V")]


def test_an_answer_that_lacks_rows_is_withdrawn_where_all_before_it_is() -> None:
    """Numbers above the columns, read as the one row of every matrix: those of Z are accused of nothing either."""
    answers = key("self_attention")
    form = with_heads("{}", "{}")
    report = report_of("\n\n".join(f"**{part}**\n\n{form(rows)}" for part, rows in answers.items()), "self_attention")
    assert not finished_losses(report)
    assert waiting(report) == answers.keys()


def test_a_capital_letter_is_no_part() -> None:
    right = "\n\n".join(f"{name} = {in_brackets(rows)}" for name, rows in key("note-002").items())
    report = report_of(right + "\n\nS = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]\n", "note-002")
    assert (report.total, report.pending) == (report.available, False)


def test_a_part_of_a_formula_that_is_not_used_is_told() -> None:
    first, *others = key(SHEETS[0]).items()
    lines = [f"{first[0]} &= {LATEX['plain'](first[1])}", *(f"{n} &= {LATEX['boxed'](rows)}" for n, rows in others)]
    report = report_of("\\begin{align*}\n" + " \\\\\n".join(lines) + "\n\\end{align*}\n")
    assert waiting(report) == {name for name, _ in others}
    remarks = [str(remark.says) for remark in report.attempt.remarks]
    assert all(any(f"'{name} = " in says or f'"{name} = ' in says for says in remarks) for name, _ in others)


def test_no_table_holds_the_reader_up() -> None:
    lines = ["S = | | 0 | 1 |", "| --- | --- | --- |", "| 0 | 2 | 1 |"]
    assert [(block.kind, block.start, block.end) for block in page("\n".join(lines)).blocks] == [("table", 0, 3)]


# ------------------------------------------------------------------------------------ not too generous


def test_a_row_that_cannot_be_read_is_not_implied() -> None:
    rows = [key(SHEETS[0])["S"][0], ["asdf", "??", "#REF!"]]
    for text in (
        in_json({**key(SHEETS[0]), "S": rows}),
        "\n\n".join(f"{name} =\n{aligned(m)}" for name, m in {**key(SHEETS[0]), "S": rows}.items()),
    ):
        report = report_of(text)
        assert report.total < report.available
        assert waiting(report) == {"S"}
        assert not finished_losses(report)


@pytest.mark.parametrize(("box", "full"), [("{} or 0.25", False), ("0.25 or {}", True), ("{} → {}", True)])
def test_two_values_in_a_box_wait_unless_the_last_is_right(box: str, full: bool) -> None:
    weights = [list(row) for row in key(SHEETS[0])["A"]]
    weights[0][0] = box.replace("{}", weights[0][0])
    report = report_of(in_json({**key(SHEETS[0]), "A": weights}))
    assert (report.total == report.available) is full
    assert waiting(report) == (set() if full else {"A"})


def test_a_count_is_not_rounded() -> None:
    (sheet,) = sheets(make_recipe(problem="counts", seed=1), 1)
    counted = {
        part.name: part.answer.value
        for part in sheet.question.parts
        if isinstance(part.answer, FormulaAnswer) and isinstance(part.answer.value, int)
    }
    for name, number in counted.items():
        power = len(str(number)) - 1
        for text, is_right in (
            (f"{number / 10**power:.2f} × 10^{power}", number % 10 ** (power - 2) == 0),
            (str(number), True),
        ):
            report = mark(sheet.question, Attempt({name: entry(text, symbols=True)}))
            assert all((given.given == given.of) is is_right for given in report.marks if name in given.parts), text
    assert any(len(str(number)) > 3 for number in counted.values())


@pytest.mark.parametrize("written", [("N",), ("N_gamma", "N")])
def test_a_norm_without_scale_and_shift_earns_neither(written: tuple[str, ...]) -> None:
    answers = {**key("layer_norm"), **dict.fromkeys(written, key("layer_norm")["N_hat"])}
    answers = {name: rows for name, rows in answers.items() if name in written or name != "N_gamma"}
    report = report_of(in_json(answers), "layer_norm")
    lost = {
        given.parts[0]: given.of - given.given for given in report.marks if given.code != "N" and given.given < given.of
    }
    assert set(lost) == {"N_gamma", "N"}
    assert [candidate.id for event in report.events for candidate in event.candidates][:1] == ["B10"]
