"""What is wrong with documents as HTML, as a browser, a validator and axe see them: all of them in one run of Chromium.

On a machine without Node, Chromium or the npm packages (playwright-core, axe-core, html-validate, found through
NODE_PATH) `browser.missing` says what there is not.
"""

import json
import os
import subprocess
import tempfile
from pathlib import Path

from browser import chromium

PACKAGES = ("playwright-core", "axe-core", "html-validate")
RUNNER = Path(__file__).with_name("browser.cjs")


def complaints_about(sources):
    """Everything that is wrong with each of some pages."""
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for i, source in enumerate(sources):
            files.append(Path(folder) / f"{i}.html")
            files[-1].write_text(source, "utf-8")
        return _looked_at(files)


def _looked_at(files):
    run = subprocess.run(
        ["node", str(RUNNER), *map(str, files)],
        capture_output=True, text=True, check=False, env={**os.environ, "CHROMIUM": chromium()},
    )  # fmt: skip
    if run.returncode:
        raise RuntimeError(run.stderr)
    return [json.loads(line) for line in run.stdout.splitlines()]
