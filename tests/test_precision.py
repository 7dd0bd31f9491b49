"""Witnesses have the digits that their own test asks for: what one test sets must not reach the next."""

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
SET, OF_ALL = {"dps", "prec"}, ("mp", "mpmath", "getcontext()")


def set_for_good(tree):
    """Where the precision of mpmath or of decimals is set and not given back, as by `workdps` and `localcontext`."""
    stored = (n for n in ast.walk(tree) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store))
    return sorted(n.lineno for n in stored if n.attr in SET and ast.unparse(n.value).endswith(OF_ALL))


@pytest.mark.slow
def test_precision_is_given_back():
    lines = {path.name: set_for_good(ast.parse(path.read_text("utf-8"))) for path in TESTS.rglob("*.py")}
    assert not {name: found for name, found in lines.items() if found}


def test_a_precision_set_for_good_is_seen():
    assert set_for_good(
        ast.parse("mpmath.mp.dps = 40\nwith mpmath.workdps(40):\n    mp.prec = 9\ngetcontext().prec = 60")
    ) == [1, 3, 4]
