"""The planted faults of tests/bench/mutants.toml fit the code; `make mutants` sees whether the suite finds them."""

import ast
from pathlib import Path

import pytest
from bench.mutants import mutants

import symattn


@pytest.mark.parametrize("mutant", mutants(), ids=lambda mutant: mutant.what)
def test_a_mutant_can_be_planted_and_is_python(mutant):
    assert mutant.new != mutant.old
    ast.parse(mutant.planted())


def test_there_are_sixty_of_all_storeys():
    assert len(mutants()) >= 60
    package = Path(symattn.__file__).parent
    storeys = {path.stem for path in package.iterdir() if path.suffix != ".typed" and path.name[0] not in "._"}
    assert {mutant.file.split("/")[1].removesuffix(".py") for mutant in mutants()} == storeys - {"errors", "counting"}
