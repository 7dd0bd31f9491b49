"""The planted faults of tests/bench/mutants.toml fit the code; `make mutants` sees whether the suite finds them."""

import ast
from collections import Counter
from pathlib import Path

from bench.mutants import ROOT, mutants

import symattn

STOREYS = ("foundation", "exact", "formula", "derivation", "page", "teaching", "marking", "practice")


def test_a_mutant_can_be_planted_is_python_and_names_tests_that_there_are():
    for mutant in mutants():
        assert mutant.new != mutant.old, mutant
        ast.parse(mutant.planted())
        assert mutant.tests, mutant
        assert all((ROOT / test.partition("::")[0]).exists() for test in mutant.tests.split()), mutant


def test_there_are_ten_for_each_storey_and_each_is_told_by_its_name():
    package = Path(symattn.__file__).parent
    assert set(STOREYS) == {path.name for path in package.iterdir() if (path / "__init__.py").exists()} - {"cli"}
    storeys = Counter(mutant.file.split("/")[1] for mutant in mutants())
    least = {storey: storeys.pop(storey) for storey in STOREYS}
    least["arguments, api, cli"] = storeys.total()
    assert min(least.values()) >= 10, least
    assert sum(least.values()) == len({mutant.what for mutant in mutants()}) >= 130
