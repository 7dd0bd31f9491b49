"""Exams made in a folder: the file with its class list, what is frozen, what is written; and sets that are frozen."""

import csv

from symattn.foundation.dice import Dice
from symattn.teaching import sheets
from symattn.teaching.exam.deploy import write_exam
from symattn.teaching.exam.frozen_exam import freeze, make_exam
from symattn.teaching.exam.spec import read_exam_file


def freeze_sheets(made):
    """A set of worksheets as the text of its JSON file."""
    return sheets._sealed([sheets._frozen(one) for one in made if sheets._is_variant(one)])  # noqa: SLF001


def exam_file(folder, text, students=()):
    """The file, and beside it the class list: names and ids, perhaps seats."""
    path = folder / "midterm.toml"
    path.write_text(text, "utf-8")
    if students:
        with (folder / "class.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([("name", "id", "seat")[: len(students[0])], *students])
    return path


def frozen(folder, text, students, seed=7):
    """The folder of an exam in which exam.json stands alone, which is enough to mark by."""
    path, dice, made = exam_file(folder, text, students), Dice.seeded(seed), folder / "midterm"
    made.mkdir()
    (made / "exam.json").write_text(freeze(make_exam(read_exam_file(path), dice), dice), "utf-8")
    path.unlink()
    (folder / "class.csv").unlink()
    return made


def written(path, forms=("markdown",), seed=5):
    """An exam, and the folder `out` beside its file, with papers and keys in it."""
    exam, _ = write_exam(read_exam_file(path), path.parent / "out", forms, Dice.seeded(seed))
    return exam, path.parent / "out"
