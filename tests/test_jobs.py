"""However many processes do the work, and whoever they belong to: the same bytes, and all of them or none."""

import os
import signal
import subprocess
import sys
from concurrent.futures import Executor, Future
from pathlib import Path

import pytest
from commands import contents, run
from sentences import refused_saying
from waiting import until

import symattn
from symattn.api import make_recipe
from symattn.errors import SelfCheckError
from symattn.foundation.crew import WORK, Crew, crew
from symattn.foundation.dice import Dice
from symattn.foundation.workers import LostError, made, read_back, text_of
from symattn.page.document import Look
from symattn.teaching.exam.deploy import write_exam
from symattn.teaching.exam.spec import read_exam_file
from symattn.teaching.sheets import Setting, write_set
from symattn.teaching.stress import stress


class Here(Executor):
    """Does everything in this process, at once or when it is asked for; what travels has been JSON."""

    _max_workers = 1

    def submit(self, call, text, names):
        assert (call, text) == (eval, WORK)
        _, make, settings, job, *_ = names["given"]
        done = Future()
        try:
            done.set_result(text_of({"said": made(make, read_back(settings))(read_back(job))}))
        except symattn.SymattnError as error:
            done.set_result(text_of({"refused": (type(error).__name__, error.args[0])}))
        return done


@pytest.fixture
def here():
    with crew(executor=Here()) as those:
        yield those


HOW = Setting(["latex", "text"], "set", ("blank", "key"), "columns", look=Look(text_size=18))


@pytest.mark.parametrize(
    "kinds", [{}, pytest.param({"together": True}, marks=pytest.mark.slow), {"overview": True}], ids=str
)
def test_a_set_is_the_same_byte_for_byte_whoever_writes_it(kinds, here, tmp_path):
    recipe = make_recipe("attention", {}, seed=3, level="starter", parts=["S", "A"], marks={"A": 2})
    steps = []
    alone = write_set(recipe, 2, tmp_path / "one", HOW, Crew(), **kinds)
    by_many = write_set(recipe, 2, tmp_path / "many", HOW, here, on_sheet=steps.append, **kinds)
    assert [p.name for p in by_many] == [p.name for p in alone]
    assert contents(tmp_path / "many") == contents(tmp_path / "one")
    assert len(steps) == 2


def test_sheets_in_python_and_a_report_are_the_same(here):
    alone, by_many = (symattn.worksheet("attention", n=2, seed=3, executor=those) for those in (None, Here()))
    assert [(s.name, s.command, s.key) for s in by_many] == [(s.name, s.command, s.key) for s in alone]
    spec, count = make_recipe("attention", {}, level="starter").spec, 6
    alone, together = (stress(spec, count, Dice.seeded(5), crew=those) for those in (None, here))
    assert (together.variants, together.tally) == (alone.variants, alone.tally)


def test_a_key_that_is_wrong_leaves_nothing_behind(here, tmp_path, monkeypatch):
    def wrong(question, chosen):
        raise SelfCheckError("a key is wrong")

    monkeypatch.setattr("symattn.teaching.sheets.prove", wrong)
    with pytest.raises(SelfCheckError, match="a key is wrong"):
        write_set(make_recipe("attention", {}, seed=3), 2, tmp_path / "out", HOW, here)
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_process_that_is_lost_is_named_and_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("symattn.teaching.sheets.SETTING", "odd_jobs:crashing")
    with (
        pytest.raises(LostError, match=r"^Work on sheet 1 ended its process with code -?\d+\.$"),
        crew(2) as those,
    ):
        write_set(make_recipe(problem="masks", seed=3), 3, tmp_path / "out", HOW, those)
    assert not (tmp_path / "out").exists()


EXAM = """
title = "Midterm"
variants = 2
class = "class.csv"
fillable = true

[[question]]
type = "masks"
title = "Masks"
text = "Mind the diagonal."

[[question]]
type = "full"
mechanism = "attention"
points = 12

[[question]]
type = "full"
mechanism = "attention"
given = { Q = [[1, 0]], K = [[1, 0], [0, 1]], V = [[1], [2]] }
"""


@pytest.mark.slow
def test_an_exam_is_the_same_byte_for_byte_and_a_crew_continues_it(here, tmp_path):
    (tmp_path / "class.csv").write_text("name,id,text size\nAda,s1,18\nAlan,s2,\nEmmy,s3,\n", "utf-8")
    (tmp_path / "midterm.toml").write_text(EXAM, "utf-8")
    spec, steps, out = read_exam_file(tmp_path / "midterm.toml"), [], tmp_path / "out"
    write_exam(spec, tmp_path / "alone", ("latex", "pdf"), Dice.seeded(5))
    write_exam(spec, out, ("latex", "pdf"), Dice.seeded(5), steps.append, crew=here)
    assert len(steps) == 2 + 2 + 1
    assert contents(out) == contents(tmp_path / "alone")
    for name in ("papers/002-s2.pdf", "papers.pdf", "keys.pdf", "papers/001-s1.tex"):
        (out / name).unlink()
    half = out / "papers" / "003-s3.tex"
    half.write_bytes(half.read_bytes()[:100])
    write_exam(spec, out, ("latex", "pdf"), None, crew=here)
    assert contents(out) == contents(tmp_path / "alone")


ALONE = 'level = "starter"\nsizes = {n = 1, m = 1, d_k = 1, d_v = 1}'


def test_what_an_exam_cannot_have_is_said_before_anything_is_frozen(here, tmp_path):
    (tmp_path / "class.csv").write_text("name,id\nAda,s1\n", "utf-8")
    (tmp_path / "e.toml").write_text(EXAM.replace("points = 12", ALONE), "utf-8")
    said = []
    for those in (Crew(), here):
        with refused_saying(r"Question 2: A family needs at least two keys") as refused:
            write_exam(read_exam_file(tmp_path / "e.toml"), tmp_path / "o", ("text",), Dice.seeded(5), crew=those)
        said.append(str(refused.value))
    assert said[0] == said[1]
    assert not (tmp_path / "o").exists()


# ------------------------------------------------------------------------------------------------ the command


@pytest.mark.slow
def test_the_command_makes_the_same_with_any_number_of_jobs(tmp_path):
    options = ("worksheet", "--problem", "masks", "-n", 3, "--seed", 7, "--format", "markdown,pdf")
    for jobs in (1, 3):
        result = run(*options, "--jobs", jobs, "--out", tmp_path / str(jobs))
        assert result.exit_code == 0, result.output
    assert contents(tmp_path / "3") == contents(tmp_path / "1")


@pytest.mark.slow
def test_ctrl_c_in_the_middle_leaves_nothing_half_written_and_no_process(tmp_path):
    path = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)
    program = (  # SIGINT is ignored by what a shell runs in the background
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from symattn.cli import main; main()"
    )
    command = [sys.executable, "-c", program, "worksheet", "--problem", "masks", "-n", "2000", "--jobs", "3", "--out",
               "out", "--seed", "1", "--format", "text"]  # fmt: skip
    process = subprocess.Popen(
        command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": path}, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    until(lambda: list(tmp_path.glob("out/.symattn-*/*-03.txt")) or process.poll() is not None)
    children = _children(process.pid)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130
    assert "Interrupted. The same command makes the whole set." in said
    assert "Traceback" not in said
    assert list(tmp_path.iterdir()) == []
    assert len(children) >= 2 or not Path("/proc/self").exists()
    until(lambda: not any(Path(f"/proc/{child}").exists() for child in children))


def _children(pid):
    found = Path(f"/proc/{pid}/task")
    return [child for task in found.glob("*") for child in (task / "children").read_text().split()]


def test_a_cluster_that_is_not_there_is_a_sentence(tmp_path):
    for words in (
        ("worksheet", "--cluster", "nowhere", "--out", tmp_path),
        ("stress", "masks", "--cluster", "nowhere"),
    ):
        said = run(*words, "-n", 2).output
        assert said.startswith("Error: ")
        assert said.count("\n") == 1
    said = run("stress", "masks", "-n", 2, "--cluster", "tcp://127.0.0.1:1", "--jobs", 2).output
    assert said == "Error: --jobs is for the processes of this machine; with --cluster, its workers do the work.\n"
