"""Ten things that teachers do and twenty scripts of students, done in headless Chromium, with the time that each takes.

    NODE_PATH=node_modules python tests/practice/tasks.py SITE FOLDER

SITE is a page made with --teacher and --typst; a picture of each goes to FOLDER.  Printed are seconds by the clock, and
seconds of processor time of the whole browser; of the students' sheets that it took to draw, and to mark.
"""

import json
import os
import subprocess
import sys
import tempfile
from base64 import b64encode
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "marking"))

import browse
import midterm

RUNNER = Path(__file__).with_name("tasks.cjs")
EXAM = """
title = "Midterm"
course = "Sequence models"
variants = 4

[[question]]
mechanism = "causal_self_attention"
points = 12
ask = ["S", "A", "Z"]

[[question]]
type = "masks"

[[question]]
type = "text"
text = "Why is every score divided by the same number?"
points = 2
scheme = ["So that the variance of scores stays.", "So that the softmax stays soft."]
"""


def main(site, folder):
    folder.mkdir(parents=True, exist_ok=True)
    exam = midterm.made()
    handed = {name: b64encode(data).decode() for name, data in midterm.handed_in(exam).items()}
    scripts = [{key: one[key] for key in browse.TOLD} for one in browse.scripts(20)]
    asked = {
        "exam": EXAM, "class": midterm.CLASS, "frozen": exam["exam/exam.json"].decode(), "handed": handed,
        "scripts": scripts,
    }  # fmt: skip
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump(asked, file)
        file.flush()
        subprocess.run(
            ["node", str(RUNNER), str(site), file.name, str(folder)], check=True, env=os.environ | browse.BROWSERS
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
