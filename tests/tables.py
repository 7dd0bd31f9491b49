"""The tables of tests that stand in a file of their own, beside the test: what is typed, and what is said of it."""

import tomllib
from pathlib import Path


def tables_beside(test, name=""):
    """Those of the .toml that is named after the test, or of another one."""
    return tomllib.loads(
        Path(test).with_name(name or Path(test).stem.removeprefix("test_") + ".toml").read_text("utf-8")
    )
