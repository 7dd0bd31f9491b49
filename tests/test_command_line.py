"""The command line: every command, every option, and one line with exit code 2 for whatever is wrong."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import BashComplete
from click.testing import CliRunner
from waiting import GUARD
from wrong_values import without_caret

import symattn
from symattn.cli import main
from symattn.derivation.mechanisms import mechanisms
from symattn.derivation.ops import OPS
from symattn.page.notation import notations
from symattn.teaching.examples import examples
from symattn.teaching.exporters import EXPORTERS
from symattn.teaching.problems import problem_types
from symattn.teaching.sheets import formats, thaw_sheets

ROOT = Path(symattn.__file__).parent.parent
RECIPE = re.compile(r"(symattn worksheet .*? --seed \d+)")
PROBLEM = 'mechanism = "attention"\n[given]\nQ = [[1, 0]]\nK = [[1, 0], [0, 1]]\nV = [[1], [2]]\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: object):
    return CliRunner().invoke(main, [str(a) for a in arguments], catch_exceptions=False)


def process(*arguments: object, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """A real process, as a person starts it."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    return subprocess.run(
        [sys.executable, "-m", "symattn", *map(str, arguments)], cwd=cwd, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": path, "PYTHONUTF8": "1", **environment}, timeout=GUARD, check=False,
    )  # fmt: skip


def files(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


# ------------------------------------------------------------------------------------------------ what works


@pytest.mark.parametrize("command", [[], *([name] for name in main.commands)])
def test_every_command_has_help(command):
    for flag in ("--help", "-h"):
        result = run(*command, flag)
        assert result.exit_code == 0
        assert result.output.startswith("Usage:")


def test_help_names_every_option():
    for name, command in main.commands.items():
        shown = run(name, "--help").output
        for parameter in command.params:
            for option in parameter.opts:
                assert not option.startswith("--") or option in shown, f"{name} {option}"


def test_the_version_is_that_of_the_package():
    assert symattn.__version__ in run("--version").output


def test_a_worksheet_and_its_key_are_written(folder):
    result = run("worksheet", "--seed", 7, "--format", "latex,markdown")
    assert result.exit_code == 0
    right = [f"output/self-attention-7-01{key}{end}" for key in ("", "-key") for end in (".md", ".tex")]
    right += ["output/self-attention-7.json", "output/symattn.sty"]
    assert files(folder) == sorted(right)
    assert sorted(result.output.split()) == sorted(right)


def test_pdf_is_a_pdf(folder):
    assert run("worksheet", "--seed", 7, "--format", "pdf", "--out", "o").exit_code == 0
    pages = [(folder / f).read_bytes() for f in files(folder) if not f.endswith(".json")]
    assert [page[:5] for page in pages] == [b"%PDF-"] * 2


@pytest.mark.slow
def test_four_together_are_two_files_and_their_frozen_set(folder):
    assert run("worksheet", "-n", 4, "--seed", 7, "--format", "text", "--together", "--out", "o").exit_code == 0
    stem = "o/self-attention-7"
    assert files(folder) == [f"{stem}-all-key.txt", f"{stem}-all.txt", f"{stem}.json"]
    text = (folder / f"{stem}-all.txt").read_text(encoding="utf-8")
    names = dict.fromkeys(re.findall(r"Worksheet ([0-9A-Z]{4}-[0-9A-Z]{4})", text))
    assert len(names) == 4
    assert list(thaw_sheets((folder / f"{stem}.json").read_text(encoding="utf-8"), stem)) == list(names)


def test_quiet_prints_nothing(folder):
    result = run("worksheet", "--seed", 1, "--format", "text", "--quiet")
    assert (result.exit_code, result.output) == (0, "")
    assert len(files(folder)) == 3


@pytest.mark.slow
def test_without_a_seed_one_is_taken_and_named(folder):
    names = [run("worksheet", "--format", "text", "--out", str(i)).output for i in range(2)]
    assert names[0].replace("0/", "", 1) != names[1].replace("1/", "", 1)


OPTIONS = [
    ["--scale", "none"], ["--scale", "sqrt(5)"], ["--mask", "causal"], ["--mask", "window:2:both"],
    ["--mask", "causal", "--mask-style", "keep"], ["--base", "2"], ["--orientation", "columns"],
    ["--activation", "relu"], ["--order", "KVQ"], ["--by-token", "--scores", "column"], ["--by-matrix"],
    ["--round", "2"], ["--round", "1:largest-remainder"], ["--size", "n=3,d_model=4,d_k=3,d_v=2"],
    ["--notation", "note-002"], ["--notation", "note-003", "--by-matrix"], ["--decimal"], ["--places", "2"],
    ["--problem", "full"], ["--decimal", "--places", "3", "--notation", "columns"],
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
def test_the_recipe_in_the_footer_makes_the_same_sheet(folder, options):
    first = run("worksheet", "--seed", 5, "--format", "text,latex,markdown,typst", "--out", "a", *options)
    assert first.exit_code == 0, first.output
    text = (folder / "a/self-attention-5-01-key.txt").read_text(encoding="utf-8")
    found = RECIPE.search(re.sub(r"\s+", " ", text))
    assert found, "no recipe in the footer"
    program, command, *arguments = shlex.split(found[1])
    assert (program, command) == ("symattn", "worksheet")

    again = run(command, *arguments, "--format", "text,latex,markdown,typst", "--out", "b")

    assert again.exit_code == 0, again.output
    assert files(folder / "a") == files(folder / "b")
    for name in files(folder / "a"):
        assert (folder / "a" / name).read_bytes() == (folder / "b" / name).read_bytes(), name


@pytest.mark.slow
@pytest.mark.parametrize("name", mechanisms())
def test_every_mechanism_makes_sheets_that_its_recipe_makes_again(folder, name):
    assert run("worksheet", name, "--seed", 2, "--format", "text", "--out", "a").exit_code == 0
    [key] = [f for f in files(folder / "a") if f.endswith("-key.txt")]
    text = re.sub(r"\s+", " ", (folder / "a" / key).read_text(encoding="utf-8"))
    recipe = shlex.split(RECIPE.search(text)[1])[1:]
    assert run(*recipe, "--format", "text", "--out", "b").exit_code == 0
    assert [(folder / "a" / f).read_bytes() for f in files(folder / "a")] == [
        (folder / "b" / f).read_bytes() for f in files(folder / "b")
    ]


@pytest.mark.slow
def test_the_same_recipe_gives_the_same_bytes_in_every_format(folder):
    forms = ",".join(f for f in formats() if f != "latex-pdf")  # TeX is compiled in the writers' tests
    for out in ("a", "b"):
        assert run("worksheet", "-n", 2, "--seed", 3, "--format", forms, "--out", out).exit_code == 0
    assert files(folder / "a") == files(folder / "b")
    shared = {"self-attention-3.json", "symattn.sty", "self-attention-3-class.tex", "self-attention-3-class-key.tex"}
    assert shared <= set(files(folder / "a"))
    assert len(files(folder / "a")) == 4 * (len(formats()) - 1) + len(shared)
    for name in files(folder / "a"):
        assert (folder / "a" / name).read_bytes() == (folder / "b" / name).read_bytes(), name


@pytest.mark.slow
def test_another_process_with_another_hash_seed_gives_the_same_bytes(folder):
    for seed in ("1", "2"):
        done = process(
            "worksheet", "--seed", 3, "--format", "latex,text", "--out", seed, cwd=folder, PYTHONHASHSEED=seed
        )
        assert (done.returncode, done.stderr) == (0, "")
    for name in files(folder / "1"):
        assert (folder / "1" / name).read_bytes() == (folder / "2" / name).read_bytes(), name


@pytest.mark.covering(most=2)
@pytest.mark.parametrize("source", [*examples(), "problem.toml"])
@pytest.mark.parametrize("kind", ["derivation", "worksheet", "key"])
def test_examples_and_files_are_derived(folder, source, kind):
    (folder / "problem.toml").write_text(PROBLEM, encoding="utf-8")
    result = run("derive", source, "--as", kind)
    assert result.exit_code == 0, result.output
    assert result.output.strip()
    written = run("derive", source, "--as", kind, "--format", "latex,markdown", "--out", "o")
    assert written.exit_code == 0
    stem = Path(source).stem + ("" if kind == "derivation" else f"-{kind}")
    assert files(folder / "o") == [f"{stem}.md", f"{stem}.tex", "symattn.sty"]


@pytest.mark.covering(most=2)
@pytest.mark.parametrize(
    "options",
    [
        ["--symbolic"], ["--corrected"], ["--as-written"], ["--entries", "all"], ["--entries", "none"],
        ["--entries", "first-row"], ["--entries", "1,1;2,3"], ["--places", "7"], ["--notation", "columns"],
        ["--by-token"], ["--by-matrix"], ["--format", "latex,typst,markdown,text"],
        ["--size", "n=2,d_k=d", "--symbolic"],
        *OPTIONS[:13],
    ],
    ids=" ".join,
)  # fmt: skip
def test_every_option_of_derive(folder, options):
    result = run("derive", "note-000", *options)
    assert result.exit_code == 0, result.output
    plain = run("derive", "note-000").output
    assert (result.output == plain) == (options in (["--corrected"], ["--by-matrix"], ["--entries", "all"]))


def test_chosen_entries_only_are_written_out():
    output = run("derive", "note-000", "--entries", "2,3", "--notation", "standard").output
    assert "s₂₃ =" in output
    assert "s₁₁ =" not in output


def test_a_shape_note_has_a_miniature():
    assert "×512" not in run("derive", "note-001", "--miniature", "--notation", "standard").output


def test_letters_alone_need_no_numbers():
    result = run("derive", "self_attention", "--symbolic", "--size", "n=2,d_model=3,d_k=2,d_v=2")
    assert result.exit_code == 0
    assert "q₁₁ = " in result.output


# ------------------------------------------------------------------------------------------------ lists


def test_the_list_shows_every_catalogue():
    output = run("list").output
    listed = [*mechanisms(), *examples(), *notations(), *problem_types(), *formats(), *OPS]
    for name in listed:
        assert re.search(rf"^  {re.escape(name)}\b", output, re.MULTILINE), name


@pytest.mark.parametrize(
    ("what", "names"),
    [
        ("mechanisms", mechanisms()), ("examples", examples()), ("notations", notations()),
        ("problems", problem_types()), ("formats", (*formats(), *EXPORTERS)), ("ops", OPS),
    ],
)  # fmt: skip
def test_each_list_shows_its_own(what, names):
    lines = run("list", what).output.splitlines()
    assert [line.split()[0] for line in lines] == list(names)
    assert all(len(line.split()) > 1 for line in lines), "a name without a word on what it is"


def test_the_list_of_ops_says_what_a_step_may_say():
    """In brackets, and of what is only measured, that it is."""
    lines = {line.split()[0]: line for line in run("list", "ops").output.splitlines()}
    assert lines["part"].endswith("[first, count, every, of]")
    assert lines["sinusoids"].endswith("[wavelength, angles, first_position, layout]")
    assert lines["positions"].endswith("[formula, first_position]")
    assert all("the one operand, which is only measured" in lines[name] for name in ("positions", "sinusoids"))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell):
    result = run("completion", shell)
    assert result.exit_code == 0
    assert "_SYMATTN_COMPLETE" in result.output


@pytest.mark.parametrize(
    ("typed", "begun", "right"),
    [
        (["derive"], "", [*examples(), *mechanisms(), "mine.toml"]),
        (["derive"], "note-00", examples()),
        (["worksheet"], "", mechanisms()),
        (["worksheet", "--notation"], "", notations()),
        (["derive", "note-000", "--notation"], "st", ["standard"]),
    ],
)
def test_completion_knows_the_catalogues(folder, typed, begun, right):
    (folder / "mine.toml").write_text("", encoding="utf-8")
    complete = BashComplete(main, {}, "symattn", "_SYMATTN_COMPLETE")
    offered = [item.value for item in complete.get_completions(typed, begun)]
    assert sorted(offered) == sorted(right)


# ------------------------------------------------------------------------------------------------ what doesn't

WRONG = [
    (["worksheet", "selfish"], "no mechanism 'selfish'"),
    (["worksheet", "custom"], "custom"),
    (["worksheet", "--format", "docx"], "no format 'docx'"),
    (["worksheet", "--format", ","], "No format"),
    (["worksheet", "--problem", "quiz"], "no problem type 'quiz'"),
    (["worksheet", "--notation", "mine"], "no notation 'mine'"),
    (["worksheet", "--notation", "mine.toml"], "no file mine.toml"),
    (["worksheet", "--size", "n=0"], "n=0"),
    (["worksheet", "--size", "n"], "'n'"),
    (["worksheet", "--size", "k=3"], "no size 'k'"),
    (["worksheet", "--size", "n=99999"], "n=99999"),
    (["worksheet", "--size", "n=N"], "must be numbers"),
    (["worksheet", "--scale", "sqrt("], "sqrt("),
    (["worksheet", "--scale", "0"], "0"),
    (["worksheet", "--mask", "casual"], "'casual'"),
    (["worksheet", "--mask", "blocks:1,1"], "'blocks:1,1'"),
    (["worksheet", "--mask-style", "x"], "mask_style"),
    (["worksheet", "--base", "1"], "base"),
    (["worksheet", "--base", "x"], "x"),
    (["worksheet", "--orientation", "up"], "orientation"),
    (["worksheet", "--order", "QK"], "order"),
    (["worksheet", "--activation", "1"], "activation"),
    (["worksheet", "--scores", "up"], "scores"),
    (["worksheet", "--round", "two"], "--round"),
    (["worksheet", "--round", "1:up"], "rounding.method"),
    (["worksheet", "--round", "99"], "rounding.places"),
    (["worksheet", "--by-token", "--by-matrix"], "exclude each other"),
    (["worksheet", "-n", "0"], "0"),
    (["worksheet", "-n", "x"], "x"),
    (["worksheet", "--seed", "x"], "x"),
    (["worksheet", "--places", "51"], "51"),
    (["worksheet", "--frobnicate"], "--frobnicate"),
    (["worksheet", "attention", "-n", "500", "--size", "n=1,m=1,d_k=1,d_v=1"], "more draws gave none"),
    (["worksheet", "weighted_values", "--size", "n=9,m=9,d_v=1"], "worth setting"),
    (["derive", "nothing"], "no mechanism or example 'nothing'"),
    (["derive", "nothing.toml"], "no file nothing.toml"),
    (["derive", "self_attention"], "missing"),
    (["derive", "note-000", "--miniature"], "no miniature"),
    (["derive", "note-000", "--entries", "0,1"], "--entries"),
    (["derive", "note-000", "--entries", "some"], "--entries"),
    (["derive", "note-000", "--as", "poem"], "poem"),
    (["derive", "note-000", "--format", "pdf"], "--out"),
    (["derive", "note-004", "--symbolic"], "custom"),
    (["derive"], "FILE|EXAMPLE|MECHANISM"),
    (["list", "things"], "'things'"),
    (["completion", "cmd"], "cmd"),
    (["mark"], "mark"),
]


@pytest.mark.covering(most=5)
@pytest.mark.parametrize(
    ("arguments", "words"),
    [pytest.param(a, words, id=" ".join(a), marks=[pytest.mark.slow] * ("500" in a)) for a, words in WRONG],
)
def test_what_is_wrong_is_one_sentence_and_exit_code_2_and_nothing_is_written(folder, arguments, words):
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert words in result.stderr
    assert result.stdout == ""
    errors = [line for line in result.stderr.splitlines() if line.startswith("Error:")]
    assert len(errors) == 1
    assert "Usage:" in result.stderr or len(without_caret(result.stderr)) == 1, "one line"
    assert files(folder) == []


@pytest.mark.covering(most=1)
@pytest.mark.parametrize(
    "arguments",
    [["worksheet", "--scale", "sqrt("], ["derive", "nothing.toml"], ["worksheet", "selfish"], ["list", "things"]],
    ids=" ".join,
)
def test_in_a_real_process_too(folder, arguments):
    done = process(*arguments, cwd=folder)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("Error: ")
    assert len(without_caret(done.stderr)) == 1
    assert files(folder) == []


def test_a_folder_that_cannot_be_made_is_one_line(folder):
    (folder / "taken").write_text("a file", encoding="utf-8")
    for out in ("taken", "taken/inside", "/proc/nowhere"):
        result = run("worksheet", "--seed", 1, "--format", "text", "--out", out)
        assert (result.exit_code, result.stdout) == (2, "")
        assert "Nothing can be written to the folder" in result.stderr
        assert result.stderr.count("\n") == 1
    assert files(folder) == ["taken"]
    assert (folder / "taken").read_text(encoding="utf-8") == "a file"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_is_one_line(folder):
    locked = folder / "locked"
    locked.mkdir(mode=0o500)
    result = run("worksheet", "--seed", 1, "--format", "text", "--out", locked)
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1


def test_a_file_in_the_way_is_one_line_and_the_rest_is_as_it_was(folder):
    # a folder where one of the files should go: the writing fails half-way
    (folder / "o" / "self-attention-1-01.txt").mkdir(parents=True)
    result = run("worksheet", "--seed", 1, "--format", "text", "--out", "o")
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert files(folder) == []


@pytest.mark.slow
def test_an_interruption_leaves_no_files_behind(folder, monkeypatch):
    from symattn.teaching import sheets

    calls = []

    def failing(document, form, beside_macros):
        calls.append(form)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return ".txt", b"half"

    monkeypatch.setattr(sheets, "written_document", failing)
    result = CliRunner().invoke(main, ["worksheet", "-n", "3", "--format", "text", "--out", "o"])
    assert result.exit_code == 130
    seed = re.search(r"Interrupted\. The same command with --seed (\d+) makes the whole set\.\n", result.stderr)[1]
    assert files(folder) == []
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    assert run("worksheet", "-n", 3, "--format", "text", "--out", "o", "--seed", seed).exit_code == 0


def test_after_an_interruption_it_is_said_whether_the_same_command_continues(folder, monkeypatch):
    from symattn.teaching.exam import deploy

    (folder / "exam.toml").write_text('variants = 2\n[[question]]\ntype = "masks"\n', encoding="utf-8")
    command = ["worksheet", "exam.toml", "--format", "text", "--out", "o"]

    def interrupted(*args, **others):
        raise KeyboardInterrupt

    for name, says in (
        ("make_exam", "Nothing was written yet; the same command starts again."),
        ("key", f"The same command continues: {Path('o/exam/exam.json')} holds the exam, and pages that are finished"),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(deploy, name, interrupted)
            result = CliRunner().invoke(main, command)
        assert result.exit_code == 130
        assert f"Interrupted. {says}" in result.stderr
    frozen = (folder / "o/exam/exam.json").read_bytes()
    assert run(*command).exit_code == 0
    assert (folder / "o/exam/exam.json").read_bytes() == frozen


@pytest.mark.slow
def test_writing_again_replaces_what_is_there(folder):
    for _ in range(2):
        assert run("worksheet", "--seed", 1, "--format", "text", "--out", "o").exit_code == 0
    assert len(files(folder)) == 3
    assert not [p for p in (folder / "o").iterdir() if p.name.startswith(".")]


@pytest.mark.slow
def test_a_reader_that_goes_away_is_no_error(folder):
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    command = f"{shlex.quote(sys.executable)} -m symattn derive note-000 --entries all --format text,latex | head -1"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"], cwd=folder, capture_output=True, text=True, timeout=GUARD,
        env={**os.environ, "PYTHONPATH": path, "PYTHONUTF8": "1"}, check=False,
    )  # fmt: skip
    assert done.returncode == 0
    assert done.stderr == ""


@pytest.mark.slow
def test_output_that_is_no_terminal_has_no_colours_and_no_bars(folder):
    done = process("worksheet", "-n", 3, "--seed", 1, "--format", "text", cwd=folder)
    assert done.returncode == 0
    assert "\x1b" not in done.stdout + done.stderr
    assert done.stderr == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    "mask", [[[1, 0, 1], [1, 1, 0], [0, 1, 1]], ((True, False, True),) * 2 + ((False, True, True),)]
)
def test_the_recipe_of_a_mask_by_rows_makes_the_same_sheet(mask, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    [sheet] = symattn.worksheet("attention", mask=mask, seed=3)
    command = sheet.worksheet.recipe.partition(" (sheet")[0]
    done = CliRunner().invoke(main, [*shlex.split(command)[1:], "--format", "text", "--out", "again"])
    assert done.exit_code == 0, done.output
    assert sheet.name in (tmp_path / "again" / "attention-3-01.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("mask", ["[[1, 2, 1]]", "[[1, 0]", "[[1,,0]]", "[" * 5000, "[[" + "1," * 5000 + "1]]"])
def test_a_mask_that_is_written_badly(mask, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, ["worksheet", "attention", "--mask", mask])
    assert done.exit_code == 2
    assert "mask" in done.output
    assert not any(tmp_path.iterdir())


def test_as_many_places_as_are_asked_for(folder):
    assert run("worksheet", "attention", "--seed", 1, "--decimal", "--places", 2, "--format", "text").exit_code == 0
    key = (folder / "output/attention-1-01-key.txt").read_text(encoding="utf-8")
    assert "--places 2" in key
    decimals = re.findall(r"\b\d+\.(\d+)\b", key)
    assert decimals
    assert {len(digits) for digits in decimals} == {2}


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [{"stop_at": "A"}, {"rounding": {"places": 1, "ties": "up"}}, {"rounding": {"places": 2, "method": "truncate"}}],
)
def test_the_recipe_says_every_setting(settings, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    [sheet] = symattn.worksheet("attention", seed=4, **settings)
    command = sheet.worksheet.recipe.partition(" (sheet")[0]
    done = CliRunner().invoke(main, [*shlex.split(command)[1:], "--format", "text", "--out", "again"])
    assert done.exit_code == 0, done.output
    assert sheet.name in (tmp_path / "again" / "attention-4-01.txt").read_text(encoding="utf-8")


def test_sizes_do_not_silently_replace_numbers():
    done = CliRunner().invoke(main, ["derive", "note-000", "--size", "n=2"])
    assert done.exit_code == 2
    assert "--symbolic" in done.output


@pytest.mark.parametrize(
    ("words", "said"),
    [(["masks"], "masks is a type of problem, not a mechanism: --problem masks"),
     (["--problem", "layer_norm"], "layer_norm is a mechanism, not a type of problem.")],
)  # fmt: skip
def test_a_mechanism_and_a_type_of_problem_are_told_apart(words, said, folder):
    done = run("worksheet", *words)
    assert done.exit_code == 2
    assert said in done.output
    assert not any(folder.iterdir())


@pytest.mark.parametrize("source", [["note-000"], ["attention", "--symbolic", "--size", "n=2,m=3,d_k=2,d_v=2"]])
def test_an_entry_that_no_matrix_has_is_refused(source):
    outcome = CliRunner().invoke(main, ["derive", *source, "--entries", "1,1;9,9"])
    assert outcome.exit_code == 2
    assert re.fullmatch(r"Error: No matrix has the entry 9,9; they are \d×\d(, \d×\d)*\.\n", outcome.output)
