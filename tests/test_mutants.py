"""The planted faults of tests/bench/mutants.toml fit the code; `make mutants` sees whether the suite finds them."""

import ast
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from bench.mutants import ROOT, mutants

import symattn

STOREYS = ("foundation", "exact", "formula", "derivation", "page", "teaching", "marking", "practice")


@cache
def functions_in(path):
    return [node for node in ast.walk(ast.parse((ROOT / path).read_text())) if isinstance(node, ast.FunctionDef)]


def is_fast(test):
    """Whether there are such tests, and one that is named is none that the fast suite leaves out."""
    path, _, name = test.partition("::")
    if not name:
        return (ROOT / path).exists()
    [found] = (node for node in functions_in(path) if node.name == name.partition("[")[0])
    return not any("slow" in ast.unparse(decorator) for decorator in found.decorator_list)


@pytest.mark.parametrize("mutant", mutants(), ids=lambda mutant: mutant.what)
def test_a_mutant_can_be_planted_is_python_and_names_tests_that_there_are(mutant):
    assert mutant.new != mutant.old
    ast.parse(mutant.planted())
    assert mutant.tests
    assert all(map(is_fast, mutant.tests.split()))


def test_there_are_ten_for_each_storey_and_each_is_told_by_its_name():
    package = Path(symattn.__file__).parent
    assert set(STOREYS) == {path.name for path in package.iterdir() if (path / "__init__.py").exists()} - {"cli"}
    storeys = Counter(mutant.file.split("/")[1] for mutant in mutants())
    least = {storey: storeys.pop(storey) for storey in STOREYS}
    least["arguments, api, cli"] = storeys.total()
    assert min(least.values()) >= 10, least
    assert sum(least.values()) == len({mutant.what for mutant in mutants()}) >= 130
