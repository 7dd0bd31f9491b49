"""The worked cases of rules.md 3.11 and any that a teacher adds: one file each in `cases`, read by one runner."""

import re
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, cached_property
from pathlib import Path

import numpy as np
import pytest
from oracles import softmax
from scripts import ids, lost, marked, mistakes
from test_golden_variant import GIVENS

import symattn
from symattn.exact import decimal_text
from symattn.marking.attempt import Attempt
from symattn.marking.marker.policy import POLICIES
from symattn.marking.submissions.entries import grid

FOLDER = Path(__file__).with_name("cases")
FILES = sorted(path for path in FOLDER.glob("*.md") if path.name != "README.md")

Table = list[list[str]]


# ------------------------------------------------------------------------------------------------ reading a case


@dataclass(frozen=True)
class Case:
    """One file: the question, the tables of the script, and those of what is expected by their first heading."""

    title: str
    problem: str
    tables: list[Table]
    expected: dict[str, Table] = field(default_factory=dict)

    @cached_property
    def script(self):
        """What was said, by part."""
        return {head[0]: grid([row[1:] for row in rows]) for head, *rows in self.tables}

    @property
    def question(self):
        return question(self.problem)

    def policies(self):
        """Every policy with the marks under it and those there are."""
        found = []
        for named, marks in self.expected["Policy"]:
            total, available = marks.split("/")
            found.append((policy(named), int(total), int(available)))
        return found

    @cached_property
    def report(self):
        """Marked under the first policy."""
        return self.under(self.policies()[0][0])

    def under(self, chosen):
        return marked(self.question, Attempt(self.script), chosen)


def case(path):
    text = path.read_text("utf-8")
    before, _, rest = text.partition("\n## Script\n")
    script, _, expected = rest.partition("\n## Expected\n")
    title = before.splitlines()[0].removeprefix("# ")
    problem = re.search(r"^Problem: (.*)$", before, re.MULTILINE)
    assert problem, f"{path.name} does not say which problem it is about."
    return Case(title, problem[1], tables(script), {head[0].split()[0]: rows for head, *rows in tables(expected)})


def tables(text):
    """Every Markdown table as rows of cells, without the line under its head."""
    found = []
    for block in re.findall(r"(?:^\|.*\|[ ]*$\n?)+", text, re.MULTILINE):
        lines = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in block.splitlines()]
        found.append([lines[0], *lines[2:]])
    return found


@cache
def question(named):
    """`note-002, by = matrix`, or a problem file of the folder."""
    source, *settings = (part.strip() for part in named.split(","))
    chosen = dict(tuple(map(str.strip, setting.split("="))) for setting in settings)
    path = str(FOLDER / source) if source.endswith(".toml") else source
    return symattn.derive(path, **chosen).worksheet().question


def policy(named):
    """`ecf`, or `ecf, precision = 1`."""
    name, *settings = (part.strip() for part in named.split(","))
    chosen = dict(tuple(map(str.strip, setting.split("="))) for setting in settings)
    return replace(POLICIES[name], **{k: int(v) if v.isdigit() else v for k, v in chosen.items()})


CASES = {path.stem: case(path) for path in FILES}
each_case = pytest.mark.parametrize("given", CASES.values(), ids=CASES.keys())


# ------------------------------------------------------------------------------------------------ what is expected


@each_case
def test_what_a_case_expects(given):
    report = given.report
    for chosen, total, available in given.policies():
        under = report if chosen == report.policy else given.under(chosen)
        assert (under.total, under.available) == (total, available)
    for part, expected in given.expected.get("Part", []):
        found = dict.fromkeys("BMA", 0)
        for line in report.marks:
            if line.parts[0] == part:
                found[line.code] += line.given
        stated = {code: int(number) for code, number in re.findall(r"([BMA])(\d+)", expected)}
        assert {code: n for code, n in found.items() if code in stated or n} == stated, part
    for entries, state in given.expected.get("Entries", []):
        part, _, places = entries.partition(" ")
        for i, j in re.findall(r"\((\d+), (\d+)\)", places):
            assert report.of(part)[int(i) - 1, int(j) - 1].state == state, f"{part} ({i}, {j})"
    notices = {(notice.part, notice.kind) for notice in report.notices}
    for part, kind in given.expected.get("Notice", []):
        assert (part, kind) in notices or (part == "-" and kind in {k for _, k in notices})


@each_case
def test_the_mistakes(given):
    expected, report = given.expected.get("Event", []), given.report
    assert len(mistakes(report)) == len(expected)
    for event, (part, step, kind, explanation) in zip(mistakes(report), expected, strict=True):
        assert event.kind == kind
        assert part in ("-", event.part)
        assert step in ("-", event.step)
        stated = explanation.split(", ") if explanation else []  # the likeliest, or all of them
        assert ids(event)[: len(stated) if stated[1:] else 1] == stated
        assert not stated[1:] or len(ids(event)) == len(stated)


# ------------------------------------------------------------------------------------------------ a witness


def worked_out(changes):
    """The golden variant in NumPy, with a changed line or another softmax."""
    given = {name: np.array(rows, dtype=float) for name, rows in GIVENS.items()} | changes.get("given", {})
    found = {role: given["X"] @ given[f"W_{role}"] for role in "QKV"} | changes.get("lines", {})
    found["S"] = found["Q"] @ found["K"].T
    found["S'"] = found["S"] / 2
    found["A"] = changes.get("softmax", softmax)(found["S'"])
    found["Z"] = found["A"] @ found["V"]
    return found


def lost_sign():
    q = np.array(GIVENS["X"], dtype=float) @ np.array(GIVENS["W_Q"])
    q[1, 2] = -q[1, 2]
    return q


def misread():
    x = np.array(GIVENS["X"], dtype=float)
    x[1, 4] = -1
    return x


def with_base(base):
    return worked_out({"softmax": lambda s: base**s / (base**s).sum(axis=1, keepdims=True)})


def handed_in(values, places, *parts):
    rows = {part: [[f"{x:.{places}f}" for x in row] for row in values[part]] for part in parts}
    return Attempt({part: grid(listed) for part, listed in rows.items()})


@pytest.mark.covering(most=1)
@pytest.mark.parametrize("name", ["ecf", "ib", "uk"])
def test_a_line_left_out_loses_nothing_for_a_mistake_that_was_made_after_it(name):
    """Powers of 10, which the weights show, begin with scaled scores that were right."""
    g1, values = question("g1.toml"), with_base(10)
    report = marked(g1, handed_in(values, 6, "Q", "K", "V", "S", "A", "Z"), POLICIES[name])
    [event] = mistakes(report)
    assert (event.step, ids(event)) == ("A", ["X4"])
    assert {v.state for v in report.of("S'").values()} == {"implied"}
    whole = marked(g1, handed_in(values, 6, "Q", "K", "V", "S", "S'", "A", "Z"), POLICIES[name])
    assert report.total == whole.total  # as if it had been written
    assert set(lost(report)) == set(lost(whole)) <= {"A", "Z"}


def test_nor_for_a_single_wrong_entry_after_it():
    """Whatever it is: the other weights of the row are right, so that the scaled scores were."""
    g1, values = question("g1.toml"), worked_out({})
    values["A"][0, 0] *= 2
    values["Z"] = values["A"] @ values["V"]  # follows
    for parts in (("S", "A", "Z"), ("S", "S'", "A", "Z")):
        report = marked(g1, handed_in(values, 6, "Q", "K", "V", *parts), POLICIES["ecf"])
        assert lost(report) == {"A": 1}


WITNESSES = {
    "02-lost-sign": worked_out({"lines": {"Q": lost_sign()}}),
    "03-scaled-after-softmax-blank": worked_out({"softmax": lambda s: softmax(2 * s) / 2}),
    "04-softmax-over-columns": worked_out({"softmax": lambda s: softmax(s, axis=0)}),
    "05-only-the-output": worked_out({"softmax": lambda s: softmax(2 * s)}),
    "06-misread": worked_out({"given": {"X": misread()}}),
    "08-transposed": {name: a.T for name, a in worked_out({}).items()},
    "10-blank-rows": worked_out({}),
    "12-missing-column-blank": worked_out({}),
    "13-row-one-alone": worked_out({}),
}


@pytest.mark.parametrize("name", WITNESSES)
def test_the_scripts_are_what_their_files_say(name):
    for part, written in CASES[name].script.items():
        for i, j, entry in written.cells():
            if entry.blank:
                continue
            right = WITNESSES[name][part][i, j]
            off = float(entry.unit or Fraction(0)) / 2 + 1e-9
            assert abs(float(decimal_text(entry.value, 12)) - right) <= off, (part, i + 1, j + 1, entry.text, right)
