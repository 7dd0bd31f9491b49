"""Tests go in by the front door: ruff refuses private attributes and imports; here, what is named to be patched."""

import re
from pathlib import Path


def test_no_test_patches_a_private_name():
    for path in Path(__file__).parent.rglob("*.py"):
        assert not re.search(r"setattr\([^)]*[\"'.]_[a-z]\w*[\"']", path.read_text("utf-8")), path.name
