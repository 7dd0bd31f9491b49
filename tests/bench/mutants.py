"""Faults that are planted in a copy of the tree, one at a time: does the suite find each of them?

    python tests/bench/mutants.py                  the fast suite
    python tests/bench/mutants.py --whole          every test
    python tests/bench/mutants.py -k rounding      those mutants alone in whose text this stands
    python tests/bench/mutants.py --first -j 8     eight at a time, each in a copy of its own, by the tests named for it

The tests that are named in `mutants.toml` run first, in one process unless -n says otherwise, and the others only if
these find nothing.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

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

    def planted(self):
        """The file with the fault in it; `ValueError` if the line is not there once."""
        text = (ROOT / self.file).read_text("utf-8")
        if text.count(self.old) != 1:
            raise ValueError(f"{self.file} has {self.old!r} {text.count(self.old)} times; once was expected.")
        return text.replace(self.old, self.new)


def mutants():
    return [Mutant(**mutant) for mutant in tomllib.loads(FILE.read_text("utf-8"))["mutant"]]


def killed_by(mutant, tree, whole, options, first_alone):
    """The first test that fails with the mutant planted; "" if none does."""
    path = tree / mutant.file
    right = path.read_text("utf-8")
    put(path, mutant.planted())
    try:
        if test := failing(tree, mutant.tests.split(), whole, ["-n", "0", *options]):
            return test
        return "" if first_alone else failing(tree, ["tests"], whole, options)
    finally:
        put(path, right)


def put(path, source):
    """Write a module; what Python keeps of it may be of the same second and length, and would be taken for it."""
    path.write_text(source, "utf-8")
    for kept in path.parent.glob(f"__pycache__/{path.stem}.*"):
        kept.unlink()


def failing(tree, tests, whole, options):
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--whole", action="store_true", help="every test, and not the fast suite alone")
    parser.add_argument("--first", action="store_true", help="only the tests that are named with the mutant")
    parser.add_argument("-k", default="", metavar="TEXT", help="mutants in whose file or description this stands")
    parser.add_argument("-j", type=int, default=1, metavar="N", help="so many at a time, each in a copy of the tree")
    options, own = parser.parse_known_args()
    chosen = [mutant for mutant in mutants() if options.k in f"{mutant.file} {mutant.what}"]
    survivors = 0
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(options.j) as planters:
        trees = copies(Path(name), min(options.j, len(chosen)))

        def killer(mutant):
            tree = trees.get()
            try:
                return killed_by(mutant, tree, options.whole, own, options.first)
            finally:
                trees.put(tree)

        for number, (mutant, test) in enumerate(zip(chosen, planters.map(killer, chosen), strict=True), 1):
            survivors += not test
            print(f"{number:3}  {'killed' if test else 'SURVIVED'}  {mutant.file}: {mutant.what}  {test}", flush=True)
    print(f"{len(chosen) - survivors} of {len(chosen)} killed.")
    sys.exit(survivors > 0)


def copies(folder, count):
    """Trees in which nobody plants yet."""
    left_out = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", ".hypothesis")
    trees = SimpleQueue()
    for number in range(count):
        trees.put(Path(shutil.copytree(ROOT, folder / f"tree-{number}", ignore=left_out)))
    return trees


if __name__ == "__main__":
    main()
