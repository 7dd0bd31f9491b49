"""A midterm of twelve students, as it is dropped into the page for teachers: nine scripts, and three attacks."""

import io
import itertools
import json
import random
import re
import zipfile
from base64 import b64decode, b64encode
from pathlib import Path

from filling import fill
from scripts import key_script, spoilt

from symattn.practice.teacher import answer
from symattn.teaching.exam.frozen_exam import thawed

EXAM = {
    "title": "Midterm", "variants": 3,
    "question": [
        {"type": "full", "mechanism": "attention", "level": "starter", "points": 10},
        {"type": "masks"},
        {"type": "choice", "items": 3},
    ],
}  # fmt: skip
STUDENTS = 12
CLASS = "name,id\n" + "".join(f"Student {k},{1800 + k}\n" for k in range(STUDENTS))
SECRET = "5ecret" * 8
ENDLESS = (
    "9^9^9^9^9", "(e+sqrt(2)+sqrt(3)+sqrt(5)+1)^60", "e^(e^(e^(e^9)))", "1/(e^(1/3)+e^(1/5)+e^(1/7)+sqrt(2))^30",
    "sqrt(2)^(10^99)", "(" * 300 + "1" + ")" * 300, "1/3+" * 300 + "1",
)  # fmt: skip
"""What nobody can work out, or not soon."""
ODD = "<img src=x onerror=alert(1)> $(touch x)'; "
"""A file's name, behind a sign that turns the direction of writing."""


def asked(verb, **values):
    return json.loads(answer(json.dumps({"verb": verb, **values})))


def unpacked(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def made(forms=("markdown",)):
    """The files of the exam, by their paths."""
    students = {"class.csv": b64encode(CLASS.encode()).decode()}
    return unpacked(b64decode(asked("exam", exam=EXAM, students=students, secret=SECRET, forms=[*forms])["data"]))


def handed_in(files):
    """What twelve students hand in, by path: right, with slips, blank; and a bomb, numbers without end, odd names."""
    [exam, *_] = thawed(files["exam/exam.json"].decode(), Path("exam.json"))
    rng = random.Random(39)
    papers = {name: data.decode() for name, data in files.items() if re.fullmatch(r"exam/papers/.*\.md", name)}
    scripts = {}
    for k, (name, paper) in enumerate(sorted(papers.items())):
        questions = exam.questions(exam.ids.index(re.search(r'sheet: "([^"]+)"', paper)[1]))
        written = {0: [key_script(one) for one in questions], 1: [spoilt(one, rng) for one in questions], 2: None}[
            k % 3
        ]
        scripts[name.rpartition("/")[2]] = fill(paper, questions, written) if written else paper
    names = sorted(scripts)
    numbers = itertools.cycle(ENDLESS)
    endless = re.sub(r"\| +(?=\|)", lambda _: f"| {next(numbers)} ", papers[f"exam/papers/{names[9]}"])
    return {
        **{name: scripts[name].encode() for name in names[:9]},
        names[9]: endless.encode(),
        f"{names[10].removesuffix('.md')}.zip": bomb(),
        f"\u202e..{ODD}{names[11]}": scripts[names[11]].encode(),
    }


def bomb():
    """A zip of a hundred files of two million zeros each, and one in it that leads out of its folder."""
    done = io.BytesIO()
    with zipfile.ZipFile(done, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(100):
            archive.writestr(f"{number}.md", b"0" * 2_000_000)
        archive.writestr("../../../escaped.md", b"out")
    return done.getvalue()
