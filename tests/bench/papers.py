"""A thousand papers with their keys as PDF: seconds and memory, beside what typst and TeX can do in the same run.

    python tests/bench/papers.py [-n 1000] [--jobs 2] [--different 50]

Machines are noisy and differ; what counts is each line beside the loop of typst alone over the same documents, in one
process and without any confinement.  `--different` papers are drawn once and taken again and again with other
identities, for drawing them is not what is measured.  Seconds of the processor are those of all processes of a line;
memory is the most that one process had, the one that writes and the largest that compiles.
"""

import argparse
import pickle
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path

from symattn.api import make_recipe
from symattn.errors import InputError
from symattn.foundation import confined
from symattn.page.document import Document
from symattn.page.resources import fonts
from symattn.page.writers import FORMATS, latex, typst
from symattn.page.writers.compiling import Compiler
from symattn.page.writers.pdf import latex_engine, latex_pdf
from symattn.teaching.sheets import sheets

Pairs = list[tuple[Document, Document]]
SHARE = {"TeX, one file for all, two runs": 10, "TeX, one document each": 50}  # TeX gets every so many papers only


def papers(pairs, count):
    """Worksheets and keys one after the other, each with an identity of its own."""
    return [
        replace(document, sheet=f"{document.sheet}-{k}")
        for k, pair in enumerate(islice(cycle(pairs), count))
        for document in pair
    ]


def written(documents):
    for document in documents:
        typst.write(document)


def in_one_process(documents):
    """The loop that nothing can be faster than: typst in this process."""
    for document in documents:
        confined.compiled(typst.write(document).encode(), str(fonts()), False)


def confined_in(documents, jobs=1):
    """As `write_pdf` does it, with so many processes that compile."""

    def work(part):
        compiler = Compiler()
        for document in part:
            compiler.compile(typst.write(document).encode())
        compiler.end()

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(work, [documents[k::jobs] for k in range(jobs)]))


def with_tex(documents):
    for document in documents:
        latex_pdf(FORMATS["latex"].write(document))


def with_tex_together(documents):
    """One run of TeX over all sheets, in the file for a whole class that stands beside them, and one for its pages."""
    beside = latex.Folder()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for k, document in enumerate(documents):
            source = latex.write_beside_macros(document)
            beside.add(f"sheet-{k:04}", source, group="class")
            (folder / f"sheet-{k:04}.tex").write_text(source, "utf-8")
        for path, text in beside.files():
            (folder / path).write_text(text, "utf-8")
        command = [str(latex_engine()), "-halt-on-error", "-interaction=batchmode", "class.tex"]
        for _ in range(2):
            subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)


LINES = {
    "only written, not compiled": written,
    "typst alone, in one process": in_one_process,
    "confined, one process": confined_in,
    "confined, several processes": confined_in,
    "TeX, one file for all, two runs": with_tex_together,
    "TeX, one document each": with_tex,
}


def used():
    """Seconds of the processor, and megabytes of this process and of the largest of its children."""
    own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    seconds = own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime
    return seconds, own.ru_maxrss / 1024, others.ru_maxrss / 1024


def one_line(name, pairs, count, jobs):
    """Run in a process of its own: prints wall and processor seconds and megabytes."""
    documents = papers(pickle.loads(pairs.read_bytes()), count)
    start, (before, _, _) = time.perf_counter(), used()
    try:
        if "several" in name:
            confined_in(documents, jobs)
        else:
            LINES[name](documents)
    except InputError as error:
        sys.exit(str(error))
    seconds, own, child = used()
    print(time.perf_counter() - start, seconds - before, own, child)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=1000)
    parser.add_argument("--different", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only:
        one_line(options.only[0], Path(options.only[1]), options.n, options.jobs)
        return

    made = [(s.worksheet, s.key) for s in sheets(make_recipe("self_attention", {}, seed=1), options.different)]
    print(f"{options.n} papers with keys{'':<15} seconds processor MB, own MB, child", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        pairs = Path(folder) / "papers"
        pairs.write_bytes(pickle.dumps(made))
        for name in LINES:
            count = max(1, options.n // SHARE.get(name, 1))
            command = [
                sys.executable,
                __file__,
                "--only",
                name,
                str(pairs),
                "-n",
                str(count),
                "--jobs",
                str(options.jobs),
            ]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                print(f"{name:<36} {done.stderr.strip().splitlines()[-1]}")
                continue
            wall, processor, own, child = map(float, done.stdout.split())
            more = options.n / count
            print(f"{name:<36} {wall * more:>7.1f} {processor * more:>9.1f} {own:>7.0f} {child:>9.0f}", flush=True)


if __name__ == "__main__":
    main()
