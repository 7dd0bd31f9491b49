"""Faults that are planted in a copy of the tree, one at a time: does the suite find each of them?

    python tests/bench/mutants.py                  the fast suite
    python tests/bench/mutants.py --whole          every test
    python tests/bench/mutants.py -k rounding      those mutants alone in whose text this stands

The tests of the files that are named in `mutants.toml` run first, and the others only if these find nothing.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILE = Path(__file__).with_name("mutants.toml")
KILLED = 1
"""What pytest ends with where a test has failed."""


@dataclass(frozen=True)
class Mutant:
    """One line of a file with another one in its place; `tests` are those that should find it."""

    what: str
    file: str
    old: str
    new: str
    tests: str

    def planted(self) -> str:
        """The file with the fault in it; `ValueError` if the line is not there once."""
        text = (ROOT / self.file).read_text(encoding="utf-8")
        if text.count(self.old) != 1:
            raise ValueError(f"{self.file} has {self.old!r} {text.count(self.old)} times; once was expected.")
        return text.replace(self.old, self.new)


def mutants() -> list[Mutant]:
    return [Mutant(**mutant) for mutant in tomllib.loads(FILE.read_text(encoding="utf-8"))["mutant"]]


def killed_by(mutant: Mutant, tree: Path, whole: bool, options: list[str], first_alone: bool) -> str:
    """The first test that fails with the mutant planted; "" if none does."""
    path = tree / mutant.file
    right = path.read_text(encoding="utf-8")
    put(path, mutant.planted())
    try:
        for tests in (mutant.tests.split(), [] if first_alone else ["tests"]):
            if tests and (test := failing(tree, tests, whole, options)):
                return test
    finally:
        put(path, right)
    return ""


def put(path: Path, source: str) -> None:
    """Write a module; what Python keeps of it may be of the same second and length, and would be taken for it."""
    path.write_text(source, encoding="utf-8")
    for kept in path.parent.glob(f"__pycache__/{path.stem}.*"):
        kept.unlink()


def failing(tree: Path, tests: list[str], whole: bool, options: list[str]) -> str:
    everything = ["-m", ""] if whole else []
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "--tb=no", "-p", "no:cacheprovider",
         "--deselect", "tests/test_mutants.py", *everything, *options, *tests],
        cwd=tree, env={**os.environ, "PYTHONPATH": str(tree)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode == 0:
        return ""
    if done.returncode not in (KILLED, 2):  # 2: a file of tests cannot even be imported
        raise RuntimeError(done.stdout + done.stderr)
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return failed[0].split(" - ")[0] if failed else done.stdout.strip().rpartition("\n")[2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--whole", action="store_true", help="every test, and not the fast suite alone")
    parser.add_argument("--first", action="store_true", help="only the tests that are named with the mutant")
    parser.add_argument("-k", default="", metavar="TEXT", help="mutants in whose file or description this stands")
    options, own = parser.parse_known_args()
    chosen = [mutant for mutant in mutants() if options.k in f"{mutant.file} {mutant.what}"]
    survivors = 0
    with tempfile.TemporaryDirectory() as name:
        tree = Path(name) / "tree"
        shutil.copytree(
            ROOT, tree, ignore=shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", ".hypothesis")
        )
        for number, mutant in enumerate(chosen, 1):
            test = killed_by(mutant, tree, options.whole, own, options.first)
            survivors += not test
            print(f"{number:2}  {'killed' if test else 'SURVIVED'}  {mutant.file}: {mutant.what}  {test}", flush=True)
    print(f"{len(chosen) - survivors} of {len(chosen)} killed.")
    sys.exit(survivors > 0)


if __name__ == "__main__":
    main()
