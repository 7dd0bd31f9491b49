"""Sources: what docstrings show is what comes of it, and tests leave private names alone."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path
from types import ModuleType

import symattn


def modules():
    return [one.name for one in pkgutil.walk_packages(symattn.__path__, "symattn.") if one.name != "symattn.__main__"]


def examples(module):
    return [test for test in doctest.DocTestFinder(exclude_empty=True).find(module) if test.examples]


def test_every_example_of_a_docstring():
    tried, failures = 0, []
    for name in modules():
        for test in examples(importlib.import_module(name)):
            tried += doctest.DocTestRunner(verbose=False).run(test, out=failures.append).attempted
    assert not failures, "".join(failures)
    assert tried > 100


def test_an_example_that_is_not_so_is_found():
    wrong = ModuleType("wrong", "A module.\n\n>>> 1 + 1\n3\n")
    (test,) = examples(wrong)
    assert doctest.DocTestRunner(verbose=False).run(test, out=lambda text: None).failed == 1


# ------------------------------------------------------------------------------------------------ private names


def test_no_test_patches_a_private_name():
    for path in Path(__file__).parent.rglob("*.py"):
        assert not re.search(r"setattr\([^)]*[\"'.]_[a-z]\w*[\"']", path.read_text("utf-8")), path.name
