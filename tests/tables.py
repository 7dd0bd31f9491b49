"""The tables of tests that stand in a file of their own, beside the test: what is typed, and what is said of it."""

import tomllib
from pathlib import Path


def tables_beside(test):
    """Those of the .toml that is named after the test."""
    return tomllib.loads(Path(test.replace("test_", "")).with_suffix(".toml").read_text("utf-8"))
