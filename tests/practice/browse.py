"""Practice pages in a browser: scripts typed by keyboard in headless Chromium, and the same scripts marked here.

    NODE_PATH=node_modules python tests/practice/browse.py docs/pictures      its pictures

On a machine without Node, Chromium or the npm packages (playwright-core, axe-core, pyodide, found through NODE_PATH)
`browser.missing` says what there is not.
"""

import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from browser import chromium, firefox
from catalogue_sheets import folder as catalogue_folder
from practice_pages import cells_of, drawn, filled, lines_of, places, right_values
from tables import tables_beside

import symattn
from symattn.practice.engine import PACKAGES as PACKED
from symattn.practice.engine import TEACHERS
from symattn.practice.session import Session
from symattn.practice.site import read_course, write_site

RUNNER = Path(__file__).with_name("browser.cjs")
PLATFORM = Path(__file__).with_name("platform.cjs")
TEACHER = Path(__file__).with_name("teacher.cjs")
IN_FIREFOX = Path(__file__).with_name("firefox.cjs")
TYPST = "@myriaddreamin/typst-ts-web-compiler"
PACKAGES = ("playwright-core", "axe-core", "pyodide/package.json", f"{TYPST}/wasm")
TABLES = tables_beside(__file__)
RECIPES, TEXTS, SETS, SHEET = (TABLES[name] for name in ("recipes", "texts", "sets", "sheet"))


def resolved(name):
    """Where Node finds a file of an npm package."""
    asked = f"console.log(require.resolve('{name}'))"
    said = subprocess.run(["node", "-e", asked], cwd=RUNNER.parent, capture_output=True, text=True, check=True)
    return Path(said.stdout.strip())


def pyodide():
    """The folder of the npm package."""
    return resolved("pyodide/package.json").parent


def write_kept_site(course, folder, *, teacher=False, **more):
    """A site with Pyodide, whose archives take half a minute to compile: they are kept for all who write a site."""
    archives = catalogue_folder() / "archives"
    names = ["pyodide", *PACKED, *(TEACHERS if teacher else ())]
    with archives.with_suffix(".lock").open("w") as lock:  # whoever comes meanwhile waits, and finds them
        fcntl.flock(lock, fcntl.LOCK_EX)
        put_archives(names, archives, folder)
        write_site(course, folder, pyodide(), teacher=teacher, **more)
        put_archives(names, folder, archives)


def put_archives(names, there, here):
    """Those that are there, each whole or not at all, whoever else does the same."""
    here.mkdir(exist_ok=True)
    for name in names:
        if (there / f"{name}.bin").exists():
            copy = shutil.copyfile(there / f"{name}.bin", here / f"{name}.{os.getpid()}")
            copy.replace(here / f"{name}.bin")


def typst():
    """The folder of the npm package."""
    return resolved(f"{TYPST}/wasm").parents[1]


def scripts(count):
    """Sheets with answers typed in: right, with one more in one place, begun, as decimals, with nonsense in places.

    Of every recipe another, so that a round of all recipes has every kind.
    """
    for number in range(count):
        recipe, seed, kind = RECIPES[number % len(RECIPES)], 11 + number, (number + number // len(RECIPES)) % 5
        session = Session()
        shown, sheet = drawn(session, recipe, seed)
        boxes = places(shown["html"])
        right = right_values(sheet)
        cells = {place: str(right[place]).replace(" ", "") for place in boxes if place in right}
        changed = dict(cells)
        for at, place in enumerate(cells):
            if kind == 1 and at == len(cells) // 3 and isinstance(right[place], int | Fraction):
                changed[place] = str(right[place] + 1)
            if (kind == 2 and at > len(cells) // 2) or (kind == 4 and at % 5 == 3):
                changed[place] = "" if kind == 2 else "1/"
            if kind == 3 and isinstance(right[place], int | Fraction):
                changed[place] = f"{float(right[place]):.3f}"
        order = sorted(boxes, key=lambda b: (b[0], b[2], b[1]))
        yield {
            "recipe": recipe, "seed": seed, "name": sheet.name, "typed": [changed.get(place, "") for place in order],
            "session": session, "sheet": shown["sheet"], "page": filled(shown["html"], changed),
        }  # fmt: skip


def unscaled():
    """A sheet of somebody who forgot to scale the scores, and went on from there without a mistake."""
    session = Session()
    shown, sheet = drawn(session, "attention", 7)
    lines = lines_of(sheet)
    followed = symattn.derive("attention", **sheet.problem.givens, scale="none")
    lines |= {
        "S'": lines["S"],
        **{name: [[str(x) for x in row] for row in followed[name].result.rows] for name in "AZ"},
    }
    cells = {place: text.replace(" ", "") for place, text in cells_of(sheet, lines).items()}
    order = sorted(cells, key=lambda b: (b[0], b[2], b[1]))
    return {
        "recipe": "attention", "seed": 7, "name": sheet.name, "typed": [cells[place] for place in order],
        "session": session, "sheet": shown["sheet"], "page": filled(shown["html"], cells),
    }  # fmt: skip


TOLD = ("recipe", "seed", "name", "typed")
"""What the browser is told of a script."""


def browsed(made, site, pictures=None):
    """What the page said of the scripts."""
    told = [{key: one[key] for key in TOLD} for one in made]
    return _run(RUNNER, site, told, *([str(pictures)] if pictures else []))


def on_platforms(script, packages):
    """What learning platforms were told when the script was typed into one package, and gone on with in another."""
    return _run(PLATFORM, packages, {key: script[key] for key in TOLD})


def taught(asked, site):
    """What the page for teachers said and gave away when a teacher went through it."""
    return _run(TEACHER, site, asked)


def in_firefox(script, choice, site):
    """What both pages said and gave away in Firefox."""
    return _run(IN_FIREFOX, site, {"script": {key: script[key] for key in TOLD}, "choice": choice})


def _run(runner, site, told, *more):
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder) / "scripts.json"
        listed.write_text(json.dumps(told), "utf-8")
        command = ["node", str(runner), str(site), str(listed), *more]
        run = subprocess.run(command, capture_output=True, text=True, env=os.environ | BROWSERS)
        if run.returncode:
            raise RuntimeError(run.stderr)
        return json.loads(run.stdout)


BROWSERS = {"CHROMIUM": chromium(), "FIREFOX": firefox()}


FILES = [(choice, TEXTS[k :: len(SETS)]) for k, choice in enumerate(SETS)]
"""Each set in one or two of the formats; each format of one set."""


def main(pictures):
    """The pictures of a report and of a hint, and of the page for teachers."""
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder) / "site"
        write_site(read_course(), site, pyodide(), teacher=True, typst=typst())
        browsed([unscaled(), *scripts(3)], site, pictures)
        taught({**SHEET, "pictures": str(pictures)}, site)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
