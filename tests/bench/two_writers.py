"""Two runs of one exam in one folder, begun at once or not, and killed or not: what is left in the end?

    python tests/bench/two_writers.py -n 20

A trial ends with one more run, which must leave the whole exam, the same bytes as are made of its `exam.json` alone in
another folder.
"""

import argparse
import csv
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAM = """
title = "Midterm"
variants = 4
class = "class.csv"

[[question]]
type = "masks"

[[question]]
type = "full"
mechanism = "attention"
"""
STUDENTS = 16


def start(folder, out, *options):
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    return subprocess.Popen(
        [sys.executable, "-m", "symattn", "worksheet", "midterm.toml", "--format", "markdown,text", "--out", out,
         "--quiet", *options],
        cwd=folder, env={**os.environ, "PYTHONPATH": path}, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def contents(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def prepared(folder):
    (folder / "midterm.toml").write_text(EXAM, "utf-8")
    with (folder / "class.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["name", "id"], *([f"Student {k}", f"s{k:03}"] for k in range(1, STUDENTS + 1))])


def files_in(folder):
    """How many files there are in a folder, while others write to it."""
    return sum(len(files) for _, _, files in os.walk(folder))


def files_of_a_run(folder):
    """How many files a run leaves."""
    start(folder, "alone").communicate()
    count = files_in(folder / "alone")
    shutil.rmtree(folder / "alone")
    return count


def trial(folder, rng, whole):
    """What is wrong after two runs and a last one, and how many of the two were killed.

    Runs begin and are killed when there are so many files; `whole` is how many a run leaves.
    """
    events, together = [], rng.random() < 0.5
    for number in (0, 1):
        begin = 0 if together else rng.randrange(whole * 6 // 10)
        events.append((begin, number, "start"))
        if rng.random() < 0.75:
            events.append((min(begin + rng.randrange(whole), whole - 1), number, "kill"))
    runs = {}
    killed = 0
    for count, number, what in sorted(events, key=lambda event: (event[0], event[2] == "kill")):
        while files_in(folder / "out") < count and any(run.poll() is None for run in runs.values()):
            time.sleep(0.002)
        if what == "start":
            runs[number] = start(folder, "out")
        elif runs[number].poll() is None:
            runs[number].send_signal(signal.SIGKILL)
            killed += 1
    wrong = []
    for run in (*runs.values(), start(folder, "out")):
        _, said = run.communicate()
        if run.returncode not in (0, -signal.SIGKILL) or "Traceback" in said:
            wrong.append(f"a run ended with {run.returncode}: {said}")
    return [*wrong, *complaints(folder)], killed


def complaints(folder):
    """What is wrong with the exam in the folder `out`: papers, keys and lists must be those of `exam.json`."""
    out, found = folder / "out" / "midterm", []
    made = contents(out)
    data = json.loads(made["exam.json"])
    ids = {paper["id"] for paper in data["papers"]}
    if {name[5:-7] for name in made if name.startswith("keys/") and name.endswith("-key.md")} != ids:
        found.append("the keys are not those of the papers")
    if not all(name in made["overview.md"].decode() for name in ids):
        found.append("the overview is not that of the papers")
    rows = list(csv.DictReader(made["assignment.csv"].decode().splitlines()))
    if [row["paper"] for row in rows] != [student["paper"] for student in data["students"]]:
        found.append("the list of who gets what is not that of exam.json")
    if not all(row["paper"] in made[f"{row['file']}.md"].decode() for row in rows):
        found.append("a paper is not the one that was given out")
    sums = dict(line.split("  ")[::-1] for line in made["SHA256SUMS"].decode().splitlines())
    if sums != {name: hashlib.sha256(made[name]).hexdigest() for name in made if name != "SHA256SUMS"}:
        found.append("the hashes are not those of the files")
    (folder / "again" / "midterm").mkdir(parents=True)
    shutil.copy(out / "exam.json", folder / "again" / "midterm")
    start(folder, "again").communicate()
    if contents(folder / "again" / "midterm") != made:
        found.append("other bytes than of exam.json alone")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=20, help="how many trials")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng, counted = random.Random(options.seed), Counter[str]()
    for number in range(1, options.n + 1):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            prepared(folder)
            if number == 1:
                whole = files_of_a_run(folder)
            wrong, killed = trial(folder, rng, whole)
        counted["whole" if not wrong else "broken"] += 1
        counted["runs killed"] += killed
        print(f"{number:3}  {killed} killed  {'; '.join(wrong) or 'whole'}", flush=True)
    print(", ".join(f"{count} {what}" for what, count in counted.items()))


if __name__ == "__main__":
    main()
