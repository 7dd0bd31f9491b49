"""What the README and the pages in docs/ show is run here, command by command and line by line."""

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from shutil import copytree

import pytest
from commands import run

from symattn.derivation.mechanisms import mechanisms
from symattn.practice import engine
from symattn.teaching.exam.preview import starter
from symattn.teaching.problems import problem_types

ROOT = Path(__file__).parent.parent
GENERATED = "reference.md"
"""It has tests of its own."""

PAGES = {path.relative_to(ROOT): path.read_text("utf-8")
         for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))) if path.name != GENERATED}  # fmt: skip
README = PAGES[Path("README.md")]
LINK = re.compile(r"(!?)\[([^\]]+)\]\(([^)#]*)(?:#([^)]+))?\)")


def blocks(language, text):
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def everywhere(language):
    return [block for text in PAGES.values() for block in blocks(language, text)]


def named(language):
    """Blocks whose first line says what the file is called."""
    return [block for block in everywhere(language) if re.match(r"# \w+\.\w+$", block, re.MULTILINE)]


COMMANDS = list(dict.fromkeys(
    line for block in everywhere("sh") for line in block.splitlines() if line.startswith("symattn ")
))  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the files that the pages print, named by their first line."""
    monkeypatch.chdir(tmp_path)
    for block in (*everywhere("toml"), *everywhere("csv"), *named("text"), *named("python")):
        name, _, text = block.removeprefix("# ").partition("\n")
        (tmp_path / name).write_text(text, "utf-8")
    (tmp_path / "secret.txt").write_text("what only the teacher has\n", "utf-8")
    return tmp_path


@pytest.fixture(scope="module")
def exam_of_two_papers(tmp_path_factory):
    """The exam of the pages with fewer papers, made once."""
    folder = tmp_path_factory.mktemp("exam")
    for block in (*everywhere("toml"), *everywhere("csv")):
        name, _, text = block.removeprefix("# ").partition("\n")
        (folder / name).write_text(text.replace("variants = 4", "variants = 2"), "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        made = run(*shlex.split("worksheet exam.toml --seed 5 --format markdown --out output"))
    assert made.exit_code == 0, made.output
    return folder / "output"


def handed_in(made, folder):
    """An exam that was made, and two papers of it handed in: one still blank, and one that is no paper."""
    copytree(made, folder / "output")
    submissions = folder / "submissions"
    submissions.mkdir()
    paper = next((made / "exam" / "papers").glob("001-*.md"))
    (submissions / paper.name).write_bytes(paper.read_bytes())
    (submissions / "002-1912.md").write_bytes(b"\xff\xfe\x00no paper")


def test_there_are_commands_and_files_to_run():
    assert len(COMMANDS) >= 40
    assert len(everywhere("toml")) >= 7
    assert len(named("text")) == 1
    assert len(PAGES) >= 7


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_command(command, folder, monkeypatch, request):
    monkeypatch.setattr(engine, "pyodide", lambda folder: dict.fromkeys(engine.HASHES, b""))  # it is not ours
    monkeypatch.setattr(engine, "archives", lambda *about: (dict.fromkeys(engine.PACKAGES, b""), True))
    monkeypatch.setattr(engine, "typst", lambda *about: {"teacher-typst.bin": b""})
    if command.startswith("symattn grade"):
        handed_in(request.getfixturevalue("exam_of_two_papers"), folder)
    if command.startswith("symattn check practice/"):
        (made,) = (one for one in COMMANDS if one.endswith("--out practice"))
        assert run(*shlex.split(made)[1:]).exit_code == 0
    shortened = command.replace("-n 30", "-n 2").replace("--marking -n 2", "--marking -n 1")  # tested elsewhere
    file = folder / "exam.toml"
    file.write_text(file.read_text("utf-8").replace("variants = 4", "variants = 2"), "utf-8")
    if "midterm.toml" in command and "--new" not in command:
        (folder / "midterm.toml").write_text(starter("midterm.toml").replace("variants = 4", "variants = 2"), "utf-8")
    done = run(*shlex.split(shortened)[1:])
    assert done.exit_code == 0, done.output
    assert done.output.strip()
    if "midterm.toml" in command:
        assert (folder / "midterm.toml").is_file()
        assert (folder / "private" / "midterm" / "papers.pdf").is_file() is ("--out private" in command)
    elif command.startswith("symattn grade"):
        assert (folder / "marked" / "gradebook.csv").read_text("utf-8-sig").count("\n") >= 4
    elif "exam.toml" in command:
        made = folder / shlex.split(command)[-1] / "exam"
        assert done.output.startswith(f"{made.relative_to(folder)}: 2 papers with keys")
        assert len(list((made / "papers").glob("*.pdf"))) == 3  # one for every student
        assert len(list((made / "keys").glob("*.pdf"))) == 2
    elif "symattn practice" in command:
        assert any((folder / place / "index.html").is_file() for place in ("site", "week-3"))
    elif "worksheet" in command or "--out" in command:
        for line in done.stdout.splitlines():
            assert (folder / line).stat().st_size > 0


@pytest.mark.parametrize("page", [page for page, text in PAGES.items() if ">>>" in text], ids=str)
def test_python_session(page):
    session = "\n".join(block for block in blocks("python", PAGES[page]) if ">>>" in block)
    examples = doctest.DocTestParser().get_doctest(session, {}, str(page), str(page), 0)
    assert len(examples.examples) >= 3
    failures = []
    doctest.DocTestRunner(verbose=False).run(examples, out=failures.append)
    assert not failures, "".join(failures)


def test_the_students_page_shows_what_check_says(folder):
    shown = next(block for block in blocks("text", PAGES[Path("docs/students.md")]) if "Begin with" in block)
    said = run("check", "mine.toml", "mywork.txt").output
    assert " ".join(shown.split()) in " ".join(said.replace("│", " ").split())
    assert not re.search("person|easier", said)


@pytest.mark.slow
def test_the_autograder_of_the_pages_names_the_mistake_and_passes_what_is_right(folder):
    wrong, test = ((folder / name).read_text("utf-8") for name in ("student.py", "test_student.py"))
    (folder / "another.py").write_text(wrong.replace("sum(axis=0)", "sum(axis=-1, keepdims=True)"), "utf-8")
    (folder / "test_another.py").write_text(test.replace("student", "another"), "utf-8")
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_student.py", "test_another.py"]
    paths = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    done = subprocess.run(words, cwd=folder, env=paths, capture_output=True, text=True, check=False)
    assert "X1" in done.stdout
    assert "2 failed, 2 passed" in done.stdout
    assert "FAILED test_another" not in done.stdout


def test_the_two_commands_stand_where_ci_finds_them():
    marked = README.split("<!-- run -->")[1].split("<!-- end -->")[0]
    lines = [line for line in marked.splitlines() if line and not line.startswith("```")]
    assert len(lines) == 2
    assert "symattn worksheet" in lines[0]
    assert "pytest" in lines[1]


def anchors(text):
    """What headings can be linked by, as GitHub makes them."""
    plain = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", plain, re.MULTILINE)
    return [re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings]


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_link_leads_somewhere(page):
    for picture, _, target, anchor in LINK.findall(PAGES[page]):
        if target.startswith("http"):
            continue
        there = (ROOT / page).parent / target if target else ROOT / page
        assert there.is_file(), target
        if picture:
            assert there.read_bytes().startswith(b"\x89PNG")
        if anchor:
            assert anchor in anchors(there.read_text("utf-8")), f"{target}#{anchor}"


def test_every_page_is_linked_from_the_readme_and_has_its_contents():
    linked = {target for _, _, target, _ in LINK.findall(README)}
    assert {f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md")} <= linked
    for page, text in PAGES.items():
        listed = re.findall(r"^- \[[^\]]+\]\(#([^)]+)\)$", text, re.MULTILINE)
        sections = [a for a in anchors(re.sub(r"^#(#{2,})? .*$", "", text, flags=re.MULTILINE)) if a != "contents"]
        assert listed == sections, page


def test_the_tables_name_problem_types_and_mechanisms_that_there_are():
    """Those that are not there are in docs/reference.md, which is made: who adds one has no table to fill in."""
    types, chosen = PAGES[Path("docs/worksheets.md")].split("## Types of problem")[1].split("## Mechanisms")
    named = re.findall(r"^\| `([\w-]+)` \|", types, re.MULTILINE)
    worked_out = [
        name for row in re.findall(r"^\|(.*?)\|", chosen, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)
    ]
    assert named
    assert worked_out
    assert set(named) <= set(problem_types())
    assert set(worked_out) <= set(mechanisms())


def test_the_readme_says_that_there_is_no_licence_yet():
    assert "No licence has been chosen yet." in README
    assert not [path for path in ROOT.iterdir() if re.match(r"(?i)licen[cs]e|copying", path.name)]
