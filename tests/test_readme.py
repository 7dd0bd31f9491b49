"""What the README shows is run here, command by command and line by line."""

import doctest
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from symattn.cli import main

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


COMMANDS = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("symattn ")]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the problem files that the README prints, named by their first line."""
    monkeypatch.chdir(tmp_path)
    for block in (*blocks("toml"), *blocks("csv")):
        name, _, text = block.removeprefix("# ").partition("\n")
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "secret.txt").write_text("what only the teacher has\n", encoding="utf-8")
    return tmp_path


def handed_in(folder: Path) -> None:
    """An exam that was made, and two papers of it handed in: one still blank, and one that is no paper."""
    made = CliRunner().invoke(main, shlex.split("worksheet exam.toml --seed 5 --format markdown --out output"))
    assert made.exit_code == 0, made.output
    submissions = folder / "submissions"
    submissions.mkdir()
    paper = next((folder / "output" / "exam" / "papers").glob("001-*.md"))
    (submissions / paper.name).write_bytes(paper.read_bytes())
    (submissions / "002-1912.md").write_bytes(b"\xff\xfe\x00no paper")


def test_there_are_commands_and_files_to_run() -> None:
    assert len(COMMANDS) >= 10
    assert len(blocks("toml")) == 5


@pytest.mark.parametrize("command", COMMANDS)
def test_command(command: str, folder: Path) -> None:
    if command.startswith("symattn grade"):
        handed_in(folder)
    shortened = command.replace("-n 30", "-n 2")  # the number is tested elsewhere
    done = CliRunner().invoke(main, shlex.split(shortened)[1:])
    assert done.exit_code == 0, done.output
    assert done.output.strip()
    if command.startswith("symattn grade"):
        assert (folder / "marked" / "gradebook.csv").read_text(encoding="utf-8").count("\n") >= 4
    elif "exam.toml" in command:
        made = folder / shlex.split(command)[-1] / "exam"
        assert done.output.startswith(f"{made.relative_to(folder)}: 4 papers with keys")
        assert len(list((made / "papers").glob("*.pdf"))) == 3  # one for every student
        assert len(list((made / "keys").glob("*.pdf"))) == 4
    elif "worksheet" in command or "--out" in command:
        for line in done.output.splitlines():
            assert (folder / line).stat().st_size > 0


def test_python_session() -> None:
    session = "\n".join(block for block in blocks("python") if ">>>" in block)
    examples = doctest.DocTestParser().get_doctest(session, {}, "README", "README.md", 0)
    assert len(examples.examples) >= 6
    failures: list[str] = []
    doctest.DocTestRunner(verbose=False).run(examples, out=failures.append)
    assert not failures, "".join(failures)


def test_the_two_commands_stand_where_ci_finds_them() -> None:
    marked = README.split("<!-- run -->")[1].split("<!-- end -->")[0]
    lines = [line for line in marked.splitlines() if line and not line.startswith("```")]
    assert len(lines) == 2
    assert "symattn worksheet" in lines[0]
    assert "pytest" in lines[1]


def test_the_pictures_are_there() -> None:
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README)
    assert len(pictures) == 5
    for picture in pictures:
        assert (Path(__file__).parent.parent / picture).read_bytes().startswith(b"\x89PNG")
