"""The templates of pages are found in a wheel, a source distribution, an editable install and a checkout."""

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from waiting import GUARD

import symattn
from symattn.foundation.installed import templates
from symattn.practice import engine

ROOT = Path(symattn.__file__).parent.parent
NAMES = sorted(path.name for path in (ROOT / "templates").iterdir())
PAGE = """
import symattn
from symattn.foundation.installed import templates
print(templates())
print(*sorted(path.name for path in templates().iterdir()))
solution = symattn.derive("note-000")
print(all(solution.text(form) for form in ("html", "latex", "markdown", "typst")))
"""
BUILD = "import sys; from hatchling import build; print(getattr(build, sys.argv[1])(sys.argv[2]))"


def python(*arguments, cwd, path=None):
    """What Python prints in a folder that has nothing of ours, with this one on its path."""
    elsewhere = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "SYMATTN_PATH")}
    run = subprocess.run(
        [sys.executable, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, timeout=GUARD, check=False,
        env=elsewhere if path is None else {**elsewhere, "PYTHONPATH": str(path)},
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    return run.stdout


def built(kind, project, into):
    """A wheel, a source distribution or an editable wheel of a project, made as pip has it made."""
    into.mkdir(exist_ok=True)
    return into / python("-c", BUILD, f"build_{kind}", into, cwd=project).split()[-1]


def unpacked(file, into):
    if file.suffix == ".whl":
        with zipfile.ZipFile(file) as wheel:
            wheel.extractall(into)
        return into
    with tarfile.open(file) as source:
        source.extractall(into, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))  # from 3.11.4 on
    return next(into.iterdir())


def expect_found(at, folder, work):
    """What runs from a folder finds all templates in that place, and makes pages with them."""
    place, names, written = python("-c", PAGE, cwd=work, path=folder).splitlines()
    assert Path(place) == at.resolve()
    assert names.split() == NAMES
    assert written == "True"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return built("wheel", ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def site(wheel, tmp_path_factory):
    """A folder in which the wheel is installed."""
    return unpacked(wheel, tmp_path_factory.mktemp("site"))


@pytest.mark.slow
def test_a_wheel_has_the_templates_inside_the_package(site, tmp_path):
    assert sorted(path.name.split("-")[0] for path in site.iterdir()) == ["symattn", "symattn"]  # and its dist-info
    expect_found(site / "symattn" / "templates", site, tmp_path)


def test_a_folder_of_another_package_is_not_taken_for_that_of_ours(tmp_path):
    package = tmp_path / "symattn"
    for folder in (tmp_path / "templates", package / "templates"):
        folder.mkdir(parents=True)
    assert templates(package) == package / "templates"


@pytest.mark.slow
def test_a_source_distribution_finds_them_as_a_checkout_does_and_builds_the_same_wheel(wheel, tmp_path):
    source = unpacked(built("sdist", ROOT, tmp_path / "dist"), tmp_path / "source")
    expect_found(source / "templates", source, tmp_path)
    first, again = (
        {name for name in zipfile.ZipFile(one).namelist() if ".dist-info" not in name}
        for one in (wheel, built("wheel", source, tmp_path / "again"))
    )
    assert first == again


@pytest.mark.slow
def test_an_editable_install_finds_those_of_its_checkout(tmp_path):
    assert not (ROOT / "symattn" / "templates").exists()
    site = unpacked(built("editable", ROOT, tmp_path / "dist"), tmp_path / "site")
    assert not (site / "symattn").exists()
    (pointer,) = site.glob("*.pth")
    expect_found(ROOT / "templates", Path(pointer.read_text("utf-8").strip()), tmp_path)


@pytest.mark.parametrize("where", ["beside", pytest.param("inside", marks=pytest.mark.slow)])
def test_the_archive_of_a_practice_page_has_every_template_once_and_finds_it(tmp_path, where, monkeypatch, request):
    if where == "inside":
        site = request.getfixturevalue("site")
        spec = engine.importlib.util.spec_from_file_location("symattn", site / "symattn" / "__init__.py")
        monkeypatch.setattr(engine.importlib.util, "find_spec", lambda name: spec)
    archive = engine.sources(("symattn",))
    (tmp_path / "symattn.zip").write_bytes(archive)
    with zipfile.ZipFile(tmp_path / "symattn.zip") as packed:
        names = packed.namelist()
        assert len(names) == len(set(names))
        assert sorted(Path(name).name for name in names if Path(name).parent == Path("symattn/templates")) == NAMES
        packed.extractall(tmp_path / "lib")
    say = "from symattn.page.writers.page import text_of, typesetting\nwith typesetting(): print(text_of('saving.js'))"
    assert python("-c", say, cwd=tmp_path, path=tmp_path / "lib").strip()


def test_no_file_of_the_repository_is_a_symbolic_link():
    folders = [ROOT / name for name in ("symattn", "templates", "tests", "docs")]
    assert not [path for folder in folders for path in (folder, *folder.rglob("*")) if path.is_symlink()]


def test_no_pattern_repeats_a_group_possessively():
    """Python 3.11.0 to 3.11.4 reads such groups wrongly where they have branches (python/cpython 106052); characters
    may be repeated so."""
    sources = [path for path in (ROOT / "symattn").rglob("*.py") if "__pycache__" not in path.parts]
    assert len(sources) > 200
    possessive = re.compile(r"(?<!\\)\)(?:[*+?]|\{\d+,?\d*\})\+|\(\?>")
    assert [path.name for path in sources if possessive.search(path.read_text(encoding="utf-8"))] == []
