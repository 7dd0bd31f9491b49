"""Whole exams: papers for a class with hostile names, frozen, continued after any interruption, unpredictable."""

import csv
import hashlib
import json
import os
import re
import shutil
import signal
from collections import Counter
from functools import reduce
from operator import getitem
from pathlib import Path

import pypdf
import pytest
from commands import contents, run, started
from exams import exam_file, freeze_sheets
from sentences import refused_saying
from waiting import until
from wrong_values import spoilt, without

import symattn
from symattn.errors import InputError
from symattn.foundation.dice import Dice
from symattn.foundation.identity import digest, is_identity
from symattn.teaching.exam.class_list import neighbours, places
from symattn.teaching.exam.deploy import write_exam
from symattn.teaching.exam.frozen_exam import copies, freeze, make_exam, thawed
from symattn.teaching.exam.spec import read_exam_file
from symattn.teaching.sheets import thaw_sheets

ROOT = Path(symattn.__file__).parent.parent
EXAM = """
title = "Midterm"
variants = 6
class = "class.csv"
seats_per_row = 5
formula_sheet = "short"

[[question]]
type = "masks"

[[question]]
type = "full"
mechanism = "attention"
points = 12
"""
SMALL = EXAM.replace("variants = 6", "variants = 2")
QUIZ = 'title = "Quiz"\nvariants = 2\nclass = "class.csv"\nnew_page = false\n[[question]]\ntype = "masks"\n'
HOSTILE = [
    "%", "_", "\\input{/etc/passwd}", "$x^2$", "#1 & ~", "^^M", "{", "}", "\\", "a|b", "*bold*", "<b>x</b>", "`rm -rf`",
    "[link](x)", "Zoë Ångström", "Łukasz Żółć", "Nguyễn Văn Đạt", "שלום", "محمد", "李雷", "🙂 Smile", "O'Brien",
    'say "hi"', "=1+1", "@here", "-1 Ada", "//x", "  spaced   out  ", "A" * 120, "1. list", "> quote", "| a | b |",
    "\u200fevil", "e\u0301", "x\u200dy",
]  # fmt: skip


def exam(folder, text=EXAM, students=20):
    return exam_file(folder, text, [(HOSTILE[k % len(HOSTILE)], f"s{k + 1:04}") for k in range(students)])


def made(path, folder, forms=("markdown",), seed=5):
    return write_exam(read_exam_file(path), folder, forms, Dice.seeded(seed) if seed is not None else None)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """An exam for twenty students, in one piece."""
    folder = tmp_path_factory.mktemp("exam")
    result, written = made(exam(folder), folder / "out")
    return folder, result, written


def test_every_student_has_a_paper_and_every_paper_a_key(finished):
    folder, result, written = finished
    found = contents(folder / "out")
    assert sorted(found) == sorted(str(p.relative_to(folder / "out")) for p in written)
    assert len([name for name in found if name.startswith("papers/")]) == 20
    assert len([name for name in found if name.startswith("keys/")]) == 6 == len(set(result.ids))
    assert all(map(is_identity, result.ids))
    lines = found.pop("SHA256SUMS").decode().splitlines()
    assert lines == [f"{hashlib.sha256(data).hexdigest()}  {name}" for name, data in sorted(found.items())]
    rows = list(csv.DictReader(found["assignment.csv"].decode("utf-8").splitlines()))
    frozen = json.loads(found["exam.json"])
    for given in (rows, frozen["students"]):
        assert [one["paper"] for one in given] == [result.ids[p] for p in result.given_out]
    assert frozen["software"] == f"symattn {symattn.__version__}"
    assert [row["name"] for row in rows] == [" ".join(HOSTILE[k % len(HOSTILE)].split()) for k in range(20)]
    for row in rows:
        text = found[f"{row['file']}.md"].decode("utf-8")
        assert row["paper"] in text
        assert row["id"] in text
        assert "seed" not in text


def test_neighbours_have_other_papers_and_every_paper_all_the_marks_and_its_own_variants(finished):
    _, result, _ = finished
    seats = places(result.spec.students, result.spec.seats_per_row)
    assert neighbours(seats, result.given_out) == 0
    assert max(Counter(result.given_out).values()) - min(Counter(result.given_out).values()) <= 2
    for number in range(len(result.spec.questions)):
        assert sorted(paper[number] for paper in result.papers) == list(range(6))
    assert len({sum(q.marks for q in result.questions(p)) for p in range(6)}) == 1
    assert all(result.questions(p)[1].marks == 12 for p in range(6))


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bytes_and_a_secret_others(finished, tmp_path):
    folder, result, _ = finished
    made(folder / "midterm.toml", tmp_path / "again")
    assert contents(tmp_path / "again") == contents(folder / "out")
    secret = tmp_path / "key"
    secret.write_bytes(b"nobody knows this one")
    other, _ = write_exam(read_exam_file(folder / "midterm.toml"), tmp_path / "s", ["markdown"], Dice.secret(secret))
    assert not set(other.ids) & set(result.ids)
    assert b"nobody" not in (tmp_path / "s" / "exam.json").read_bytes()


# ------------------------------------------------------------------------------------------------ what is there already


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """An exam for three students in one piece, without a seed."""
    folder = tmp_path_factory.mktemp("small")
    made(exam(folder, SMALL, 3), folder / "out", seed=None)
    return folder


@pytest.fixture
def begun(small, tmp_path):
    """The same, for a test to change."""
    return shutil.copytree(small, tmp_path / "begun")


@pytest.mark.covering(most=1)
@pytest.mark.parametrize(
    "left",
    [
        {"overview.md": 0, "papers/001-s0001.md": 500},
        {"overview.md": None, "papers/002-s0002.md": None},
        {"overview.md": None, "SHA256SUMS": None},
    ],
    ids=["half a page", "pages that are gone", "as former versions left it"],
)
def test_a_run_that_was_broken_off_is_continued_without_a_seed(begun, left):
    before = contents(begun / "out")
    for name, size in left.items():
        (begun / "out" / name).unlink()
        if size is not None:
            (begun / "out" / name).write_bytes(before[name][:size])
    made(begun / "midterm.toml", begun / "out", seed=None)
    assert contents(begun / "out") == before


def replaced(folder, name, old, new):
    path = folder / name
    path.write_text(path.read_text("utf-8").replace(old, new), "utf-8")


def another_key(folder):
    frozen = folder / "out/exam.json"
    data = json.loads(frozen.read_text("utf-8"))
    data["questions"][1]["variants"][0]["parts"][0]["right"]["[1,1]"] = "99"
    frozen.write_text(json.dumps(data), "utf-8")


def another_exam(folder):
    """The overview and the keys of one run stood beside another's `exam.json`, and a further run kept them."""
    dice = Dice.seeded(6)
    frozen = freeze(make_exam(read_exam_file(folder / "midterm.toml"), dice), dice)
    (folder / "out/exam.json").write_text(frozen, "utf-8")


OTHER = "another exam file, notation or class list"
THERE = "is there already and is not what this exam has there"
REFUSED = {
    "another seed": (lambda folder: None, 6, "another seed or secret"),
    "another exam file": (lambda folder: replaced(folder, "midterm.toml", "points = 12", "points = 13"), None, OTHER),
    "another class list": (lambda folder: exam(folder, SMALL, 4), None, OTHER),
    "another key": (another_key, None, "changed after it was written"),
    "no exam": (lambda folder: (folder / "out/exam.json").write_text("{}"), None, "is not a frozen exam"),
    "another exam": (another_exam, None, rf"-key\.md {THERE}"),
    "no exam.json": (
        lambda folder: (folder / "out/exam.json").unlink(), None, r"of an exam and no exam\.json that it belongs to",
    ),
    "another page": (
        lambda folder: replaced(folder, "out/papers/002-s0002.md", "Midterm", "Another"), None,
        rf"002-s0002\.md {THERE}",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_does_not_belong_to_a_frozen_exam_is_refused_and_no_page_is_written(begun, what):
    change, seed, says = REFUSED[what]
    change(begun)
    before = contents(begun / "out")
    with refused_saying(says):
        made(begun / "midterm.toml", begun / "out", seed=seed)
    assert {name for name, data in contents(begun / "out").items() if before[name] != data} <= {"SHA256SUMS"}


# ------------------------------------------------------------------------------------------------ what is frozen


NOTATION = """
title = "Of our course"
letters.d_k = "d"
[names]
S = "E"
X = "H"
"""
SAME_EVERYWHERE = ("full", "masks", "design", "prove", "estimate", "counts", "shapes", "heatmap", "drills", "translate")


def test_a_frozen_exam_needs_no_notation_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    notation, file = tmp_path / "ours.toml", tmp_path / "exam.toml"
    notation.write_text(NOTATION, "utf-8")
    questions = "".join(f'[[question]]\ntype = "{type}"\n' for type in SAME_EVERYWHERE)
    file.write_text(f'title = "Midterm"\nvariants = 1\nnotation = "ours.toml"\n{questions}', "utf-8")
    dice = Dice.seeded(1)
    exam = make_exam(read_exam_file(file), dice)
    made, text = exam.questions(0), freeze(exam, dice)
    [sheet] = symattn.worksheet("attention", notation="ours.toml", level="starter", jobs=1)
    set_text = freeze_sheets([sheet])

    def frozen():
        return thawed(text, file.with_name("exam.json"))[0].questions(0), thaw_sheets(set_text, "set.json")[sheet.name]

    assert made[0].problem.notation.names["S"].matrix == "E"
    notation.write_text(NOTATION.replace('"E"', '"F"'), "utf-8")
    assert frozen() == (made, sheet.question)
    notation.unlink()
    assert frozen() == (made, sheet.question)


def test_what_a_frozen_exam_lacks_or_has_too_much_is_said_with_its_place(finished):
    folder, _, _ = finished
    whole = json.loads((folder / "out" / "exam.json").read_text("utf-8"))
    del whole["hash"]
    tables = {"": (), "questions 1": ("questions", 0), "questions 2, variants 1": ("questions", 1, "variants", 0),
              "papers 1": ("papers", 0), "students 3": ("students", 2)}  # fmt: skip
    tried = 0
    for place, at in tables.items():
        for key in reduce(getitem, at, whole):
            for wrong in (without(whole, (*at, key)), spoilt(whole, (*at, key), {"a": [None]})):
                sealed = json.dumps({**wrong, "hash": digest(wrong)})
                if (key, wrong.get(key)) == ("exam", {"a": [None]}) or key in ("content", "features", "positions"):
                    continue  # any table
                with pytest.raises(InputError) as error:
                    thawed(sealed, Path("exam.json"))
                said = f"exam.json{': ' if place else ''}{place}"
                held = f"{said}{', ' if place else ': '}{key}"
                says = (f"{said} has no {key}; ", f"{held} is ", "exam.json has the format {'a': [None]};")
                assert str(error.value).startswith(says)
                tried += 1
    assert tried > 30


def test_questions_with_numbers_of_their_own_are_the_same_on_every_paper(tmp_path):
    own = SMALL + 'scale = "none"\n[question.given]\nQ = [[1, 2]]\nK = [[1, 0], [0, 1]]\nV = [[1], [2]]\n'
    result = make_exam(read_exam_file(exam(tmp_path, own, 3)), Dice.seeded(5))
    assert {paper[1] for paper in result.papers} == {0}
    assert str(result.questions(0)[1].problem["S"].result) == "Matrix([[1, 2]])"
    alone = own.replace('[[question]]\ntype = "masks"\n', "")
    single = make_exam(read_exam_file(exam(tmp_path, alone, 3)), Dice.seeded(5))
    assert (len(single.papers), single.given_out) == (1, (0, 0, 0))


# ------------------------------------------------------------------------------------------------ interruptions


def words(out):
    return "worksheet", "midterm.toml", "--seed", "5", "--format", "markdown,text", "--out", out, "--quiet"


@pytest.mark.slow
def test_killed_again_and_again_and_run_to_its_end_the_folder_is_the_same(tmp_path, monkeypatch):
    exam(tmp_path, SMALL, students=6)
    monkeypatch.chdir(tmp_path)
    assert run(*words("whole")).exit_code == 0
    killed = 0
    for count in (4, 12):
        process = started("-m", "symattn", *words("cut"), folder=tmp_path)
        until(lambda: process.poll() is not None or sum(len(files) for *_, files in os.walk(tmp_path / "cut")) >= count)  # noqa: B023
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            killed += 1
        process.wait()
    assert run(*words("cut")).exit_code == 0
    assert killed >= 1
    assert contents(tmp_path / "cut") == contents(tmp_path / "whole")
    assert len(contents(tmp_path / "cut")) == 2 * (6 + 2 + 3) + 3


# ------------------------------------------------------------------------------------------------ secrets


def test_an_exam_that_was_frozen_before_secrets_were_mixed_goes_on_with_its_secret(tmp_path):
    secret, path = tmp_path / "key", exam(tmp_path, QUIZ, 1)
    secret.write_bytes(b"nobody knows this one")
    spec, plain = read_exam_file(path), Dice.secret(secret)
    old = make_exam(spec, plain)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "exam.json").write_text(freeze(old, plain), "utf-8")
    result, _ = write_exam(spec, tmp_path / "out", ["text"], plain)
    assert result.ids == old.ids
    secret.write_bytes(b"somebody knows this one")
    with refused_saying("another seed or secret"):
        write_exam(spec, tmp_path / "out", ["text"], Dice.secret(secret))


# ------------------------------------------------------------------------------------------------ LaTeX


def test_in_latex_all_who_have_a_paper_read_it_from_one_file(tmp_path):
    """So that it is edited once.  Large print is another page; what is a student's stands nowhere else."""
    path = exam(tmp_path, QUIZ)
    listed = "".join(f"{name},s{k},{'18' if k == 3 else ''}\n" for k, name in enumerate(("Ada", "Ёлка", "Max", "Zoë")))
    (tmp_path / "class.csv").write_text(f"name,id,text size\n{listed}", "utf-8")
    result, _ = made(path, tmp_path / "out", ("latex",))
    papers = {file.stem: file.read_text("utf-8") for file in (tmp_path / "out" / "papers").glob("*.tex")}
    read = {}
    for stem, copy in copies(result):
        own = papers.pop(Path(stem).name)
        assert f"\\def\\studentid{{{copy.id}}}\n" in own
        [read[copy.id]] = re.findall(r"^\\input\{(\S+)\}", own, re.MULTILINE)
        assert read[copy.id] == copy.sheet + ("-18" if copy.text_size else "")
    master = papers.pop("class")
    assert {*papers} == {*read.values()}
    assert master.count("\\includesheet{00") == 3
    assert all(name not in text for name in ("Ada", "Ёлка", "Max", "Zo", "s0") for text in papers.values())
    assert all(text.count("\\documentclass") == text.count("{\\studentname}") == 1 for text in papers.values())
    before = contents(tmp_path / "out")
    made(path, tmp_path / "out", ("latex",))
    assert contents(tmp_path / "out") == before


# ------------------------------------------------------------------------------------------------ names


@pytest.mark.slow
def test_students_with_hostile_names_have_a_right_paper_each(tmp_path):
    result, _ = made(exam(tmp_path, QUIZ, len(HOSTILE)), tmp_path / "out", ("pdf", "latex"))
    listed = list(copies(result))
    assert len(listed) == len(HOSTILE)
    for stem, copy in listed:
        first = pypdf.PdfReader(tmp_path / "out" / f"{stem}.pdf").pages[0]
        squeezed = "".join(first.extract_text().split())
        assert copy.id in squeezed
        assert copy.sheet in squeezed
        if copy.name.isascii():
            assert "".join(copy.name.split()).replace("'", "’") in squeezed  # an apostrophe as it is set in type
        source = (tmp_path / "out" / f"{stem}.tex").read_text("utf-8")
        assert "\\input{/etc" not in source
        assert f"\\input{{{copy.sheet}}}" in source
