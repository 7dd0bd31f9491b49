"""Frozen files for good: what a format of frozen sets and exams writes, with right answers and the marks on paper.

    PYTHONPATH=tests/marking python tests/frozen_files.py        makes those of today's format, in tests/frozen/format-N

Files of a format stay as the first release that wrote it made them; a new problem type gets a file in the newest.
"""

import json
import sys
import tempfile
from pathlib import Path

from exams import freeze_sheets
from filling import said_text
from scripts import key_script

from symattn.api import worksheet
from symattn.foundation.dice import Dice
from symattn.marking.attempt import Grid, Grids, Shaded
from symattn.teaching.exam.deploy import write_exam
from symattn.teaching.exam.spec import read_exam_file
from symattn.teaching.frozen import FORMAT
from symattn.teaching.problems import drawn_types
from symattn.teaching.question import FROZEN, marks_text

FOLDER = Path(__file__).parent / "frozen"
EXAM = """title = "Midterm"
institution = "Open University"
variants = 2
mechanism = "attention"

[[question]]
type = "full"
points = 10

[[question]]
type = "masks"

[[question]]
type = "full"
mechanism = "self_attention"
points = 30
text = "Work to the end."
"""


def right(question, part):
    """The key of a part as somebody would type it."""
    match key_script(question).answers[part.name]:
        case Grid() as said:
            return texts(said)
        case Grids(grids):
            return {name: texts(said) for name, said in grids.items()}
        case Shaded(cells):
            return [[i + 1, j + 1] for i, j in sorted(cells)]
        case said:
            return said_text(said)


def texts(said):
    return [[entry.text for entry in row] for row in said.rows]


def told(question):
    """The marks of every part as they are printed, and right answers."""
    return {
        "type": question.type,
        "marks": {part.name: marks_text(part.marks) for part in question.parts},
        "answers": {part.name: right(question, part) for part in question.parts},
    }


def make(folder):
    """A set with a sheet of every type, an exam, and what stands on their keys."""
    folder.mkdir(parents=True)
    made = [worksheet(problem=name, seed=32)[0] for name in drawn_types()]
    (folder / "worksheets.json").write_text(freeze_sheets(made), "utf-8")
    _write(folder / "worksheets-marks.json", {sheet.name: told(sheet.question) for sheet in made})
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "exam.toml")
        path.write_text(EXAM, "utf-8")
        exam, _ = write_exam(read_exam_file(path), path.parent / "out", ["text"], Dice.seeded(32))
        (folder / FROZEN).write_bytes((path.parent / "out" / FROZEN).read_bytes())
    _write(folder / "exam-marks.json", {p: [told(q) for q in exam.questions(k)] for k, p in enumerate(exam.ids)})


def _write(path, data):
    path.write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    newest = FOLDER / f"format-{FORMAT}"
    if newest.exists():
        sys.exit(f"{newest} is there; what a format wrote once stays.")
    make(newest)
