"""Tests go in by the front door: nothing here uses a private name of symattn."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import symattn

PACKAGE, TESTS = Path(symattn.__file__).parent, Path(__file__).parent
PROTOCOLS = re.compile(r"_repr_\w+_")
"""Names that others call: notebooks."""


@cache
def private():
    """Every private name that is defined in the package: functions, classes, variables, attributes."""
    nodes = [node for path in PACKAGE.rglob("*.py") for node in ast.walk(ast.parse(path.read_text("utf-8")))]
    names = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    names |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    names |= {node.attr for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)}
    return frozenset(n for n in names if re.match(r"_[a-zA-Z]", n) and not PROTOCOLS.fullmatch(n))


def used(tree):
    """Private names that are imported, reached through a dot, or named to be patched."""
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=str(module), names=names) if module.partition(".")[0] == "symattn":
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.Attribute(attr=name):
                yield node.lineno, name
            case ast.Call(func=ast.Attribute(attr="setattr"), args=arguments):
                yield from ((node.lineno, a.value) for a in arguments if isinstance(a, ast.Constant))


@pytest.mark.slow
def test_no_test_uses_a_private_name():
    for path in TESTS.rglob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        own = {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.ClassDef)}
        own |= {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)}
        for line, name in used(tree):
            name = str(name).rpartition(".")[2]
            assert name in own or name not in private(), f"{path.name}, line {line}: {name}"


@pytest.mark.slow
def test_private_names_are_found():
    assert len(private()) > 500
    tree = ast.parse("from symattn.cli.lists import _misconception\nx._working\nmonkeypatch.setattr(y, '_refuse', 1)")
    assert {name for _, name in used(tree)} >= {"_misconception", "_working", "_refuse"}
