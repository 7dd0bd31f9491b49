"""Every key of exam files and of problem files stands in the docs, and what stands there is read as it is shown."""

import re
import tomllib
from pathlib import Path

import pytest
from trials import at_least_one

from symattn.derivation.mechanisms import Settings
from symattn.foundation.typed import keys
from symattn.teaching.exam.spec import ExamFile, QuestionTable, read_exam_file
from symattn.teaching.problem import Ask, Assume, Erratum, Mode, ProblemFile, read_problem_file
from symattn.teaching.problems import problem_types

DOCS = Path(__file__).parents[2] / "docs"
CODE = re.compile(r"`([^`]+)`")


def section(page, heading):
    text = (DOCS / page).read_text("utf-8")
    return text.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def rows(page, heading):
    """The rows of the tables in a section: keys, the example, and the cells behind it."""
    lines = [line for line in section(page, heading).splitlines() if line.startswith("| `")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return [(CODE.findall(first), "\n".join(CODE.findall(example)), others) for first, example, *others in cells]


def named(*tables):
    return [key for table in tables for found, *_ in table for key in found]


TOP = rows("exams.md", "Keys of the file")
QUESTION = rows("exams.md", "Keys of a question")
SETTINGS = rows("exams.md", "Settings of a question")
OPTIONS = rows("exams.md", "Options of a problem type")
PROBLEM = rows("derivations.md", "Problem files")
FULL = '[[question]]\ntype = "full"\nmechanism = "attention"\n'


@pytest.fixture
def read(tmp_path):
    """Reads the text of an exam file, beside the files that the page shows."""
    for _, name, text in re.findall(r"```(csv|toml)\n# (\S+)\n(.*?)```", (DOCS / "exams.md").read_text("utf-8"), re.S):
        (tmp_path / name).write_text(text, "utf-8")
    (tmp_path / "head.tex").write_text("University of Example\\par\n", "utf-8")
    (tmp_path / "crest.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>', "utf-8")

    def exam(text):
        path = tmp_path / "tried.toml"
        path.write_text(text, "utf-8")
        return read_exam_file(path)

    return exam


def test_every_key_of_an_exam_file_is_documented_once():
    assert sorted(named(TOP)) == sorted(keys(ExamFile))
    assert sorted(named(QUESTION, SETTINGS)) == sorted(keys(QuestionTable))
    assert sorted(named(SETTINGS)) == sorted(keys(Settings))
    told = [(kind, key) for found, _, (kinds, _) in OPTIONS for key in found for kind in CODE.findall(kinds)]
    assert sorted(told) == sorted((name, key) for name, chosen in problem_types().items() for key in chosen.options)


def says(example, found):
    """That an example states the keys of its row."""
    assert set(found) <= set(tomllib.loads(example))


@pytest.mark.parametrize(("found", "example", "_"), TOP, ids=lambda value: str(value)[:40])
def test_every_example_of_a_key_of_the_file_is_read(found, example, _, read):
    says(example, found)
    read(f"{example}\n" if found == ["question"] else f"{example}\n{FULL.replace('mechanism', '# mechanism')}")


@pytest.mark.parametrize(("found", "example", "_"), QUESTION, ids=lambda value: str(value)[:40])
def test_every_example_of_a_key_of_a_question_is_read(found, example, _, read):
    says(example, found)
    read("\n".join(line for line in FULL.splitlines() if line.split()[0] not in found) + f"\n{example}\n")


@pytest.mark.parametrize(("found", "example", "where"), SETTINGS, ids=lambda value: str(value)[:40])
def test_every_example_of_a_setting_is_read_with_the_mechanism_named(found, example, where, read):
    says(example, found)
    [mechanism] = CODE.findall(where[0])
    read(f'[[question]]\nmechanism = "{mechanism}"\n{example}\n')


@pytest.mark.parametrize(("found", "example", "where"), OPTIONS, ids=lambda value: str(value)[:40])
def test_every_example_of_an_option_is_read_with_the_types_named(found, example, where, read):
    says(example, found)
    for kind in CODE.findall(where[0]):
        read(f'[[question]]\ntype = "{kind}"\n{example}\n')


def test_the_exams_of_the_page_are_read(read, tmp_path):
    exams = [path for path in tmp_path.glob("*.toml") if "[[question]]" in path.read_text("utf-8")]
    assert len(exams) >= 2
    for path in exams:
        read_exam_file(path)


# ------------------------------------------------------------------------------------------------ problem files


def test_every_key_of_a_problem_file_is_documented_once():
    tables = {"ask": Ask, "assume": Assume, "erratum": Erratum}
    inside = [f"{table}.{key}" for table, kind in tables.items() for key in keys(kind)]
    own = [key for key in keys(Mode) if key not in keys(Settings)]
    inside += [f"corrected.{key}" for key in own]
    assert sorted(named(PROBLEM)) == sorted({*keys(ProblemFile), *inside} - {*keys(Settings)})


@pytest.mark.parametrize(("found", "example", "_"), PROBLEM, ids=lambda value: str(value)[:40])
def test_every_example_of_a_problem_file_is_read(found, example, _, tmp_path):
    stated = tomllib.loads(example)
    for key in at_least_one(found):
        table, _, inside = key.partition(".")
        assert table in stated
        assert not inside or any(inside in one for one in _listed(stated[table]))
    path = tmp_path / "problem.toml"
    path.write_text(example, "utf-8")
    read_problem_file(path)


def _listed(tables):
    return tables if isinstance(tables, list) else [tables]
