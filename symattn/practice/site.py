"""A practice page as files: what any web space serves, what a browser keeps for when there is no network, and packages
for learning platforms.

What there is to practise is a course, topics in their order, each a recipe for sheets, as a teacher writes it in TOML:

    title = "Week 3"
    pass = 80                    # percent of the marks with which a topic counts as done

    [[topic]]
    title = "Attention"
    recipe = "attention"         # what follows `symattn worksheet`, without a seed
    levels = ["starter", "standard"]
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from hashlib import sha256
from html import escape
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from symattn.errors import InputError
from symattn.foundation.files import read_toml, toml, zipped
from symattn.foundation.languages import catalogue, languages, speaking
from symattn.foundation.languages import say as said
from symattn.foundation.typed import Between, Key, NotEmpty, Place, read
from symattn.page.writers import html, measure
from symattn.practice import engine
from symattn.practice.session import recipe_of
from symattn.practice.words import PAGE, TEACHER, translated
from symattn.teaching.sheets import sheets

# ------------------------------------------------------------------------------------------------ a course

Level = Literal["starter", "standard", "long"]


@dataclass(frozen=True)
class Topic:
    """A recipe, and the levels between which a student may choose; without any, the recipe's own."""

    title: Annotated[str, NotEmpty("a title")]
    recipe: str
    levels: tuple[Level, ...] = ()

    def recipes(self) -> list[str]:
        """The recipe on every level."""
        return [f"{self.recipe} --level {level}" for level in self.levels] or [self.recipe]


@dataclass(frozen=True)
class Course:
    """Topics in their order, and the percentage of marks with which one is done."""

    topics: Annotated[tuple[Topic, ...], Key("topic"), NotEmpty("[[topic]]")]
    title: str = "Attention by hand"
    passed: Annotated[int, Key("pass"), Between(1, 100)] = 80


def read_course(path: Path | None = None) -> Course:
    """The course of a file, or the one that comes with symattn; `InputError` says what is wrong with it, and where."""
    if path is None:
        where, text = "course.toml", (resources.files(__package__) / "course.toml").read_text(encoding="utf-8")
        data: dict[str, Any] = toml(text, where)
    else:
        where, data = path.name, read_toml(path)
    course = read(Course, data, where)
    seen: set[str] = set()
    for number, topic in enumerate(course.topics, 1):
        place = Place(where).at("topic", number, "recipe")
        with place.here():
            _check(topic, place, drawn=path is not None)
        if seen.intersection(topic.recipes()):
            raise place.says("It is that of another topic.")
        seen.update(topic.recipes())
    return course


def _check(topic: Topic, place: Place, drawn: bool) -> None:
    """A recipe on every level; somebody's own is `drawn`, so that no student meets one of which there is no sheet."""
    if topic.levels and re.search(r"(?<!\S)--level\b", topic.recipe):
        raise place.says('leave out --level: levels = ["starter", …] says it.')
    firsts: dict[str, str] = {}
    for recipe in topic.recipes():
        read = recipe_of(recipe, 1)
        if not drawn:
            continue
        content = repr(next(sheets(read, 1)).question.content)
        if (other := firsts.setdefault(content, recipe)) != recipe:
            levels = " and ".join(one.rpartition(" ")[2] for one in (other, recipe))
            raise place.says(f"The levels {levels} give the same sheets; leave out one of them.")


# ------------------------------------------------------------------------------------------------ a page

OWN = ("index.html", "practice.css", "practice.js", "worker.js", "scorm.js")
TEACHERS = (
    "teacher.html", "teacher.css", "teacher.js", "teacher-asked.js", "teacher-engine.js", "teacher-exam.js",
    "teacher-examples.js", "teacher-form.js", "teacher-marking.js", "teacher-offered.js", "teacher-parts.js",
    "teacher-whatif.js",
)  # fmt: skip
CALLED: Mapping[str, str] = {"pyodide.mjs": "pyodide.js", "pyodide.asm.mjs": "pyodide.asm.js"}
"""Pyodide's scripts by the names they have here: many servers do not know .mjs."""


EITHER = ("pyodide.wasm", "pyodide.bin")
"""Of which a browser takes the first, if the server knows its type."""


def write_site(
    course: Course, folder: Path, pyodide: Path | None = None, scorm: bool = False, teacher: bool = False,
    typst: Path | None = None,
) -> tuple[list[Path], bool]:  # fmt: skip
    """Write the page to a folder, and beside it the packages for learning platforms; the paths, and whether it opens
    fast: from compiled files.  With a page for the `teacher`, if it is wanted, which makes PDF if it has `typst`.
    `InputError` where something cannot be had or written; then nothing is."""
    if typst and not teacher:
        raise InputError("Typst is for the page for teachers: --typst goes with --teacher.")
    pyodide_files = engine.pyodide(pyodide)
    kept = partial(_kept, folder)
    archives, compiled = engine.archives(pyodide, teacher, kept)
    own = {f"{name}.bin": archives.pop(name) for name in engine.TEACHERS if name in archives}
    parts = _parts(course, pyodide_files, archives, kept("pyodide"))
    if typst:
        own |= engine.typst(typst, kept("teacher-typst"))
    parts["licences.txt"] = engine.licences(teacher, engine.TYPST_LICENCES if typst else ()).encode()
    made = {folder / name: data for name, data in _site(parts, course, scorm=False).items()}
    if teacher:
        made |= {folder / name: data for name, data in (_of_teachers(course, pdf=typst is not None) | own).items()}
    if scorm:
        packed = _site(parts, course, scorm=True)
        for edition in EDITIONS:
            made[folder.with_name(f"{folder.name}-scorm-{edition}.zip")] = package(packed, course.title, edition)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, data in made.items():
            path.with_name(f".{path.name}.new").write_bytes(data)
        for path in made:
            path.with_name(f".{path.name}.new").replace(path)
    except OSError as error:
        raise InputError(f"{error.filename or folder} cannot be written: {error.strerror}.") from error
    return list(made), compiled


def _kept(folder: Path, name: str) -> bytes:
    """What an archive was when the page was made before; nothing if it was not."""
    try:
        return (folder / f"{name}.bin").read_bytes()
    except OSError:
        return b""


def _parts(
    course: Course, pyodide: Mapping[str, bytes], archives: Mapping[str, bytes], packed: bytes
) -> dict[str, bytes]:
    """Everything that a page and a package have in common."""
    files = {name: _own(name, course) for name in OWN}
    files["practice.css"] = _styles(files["practice.css"])
    files |= {here: pyodide[name] for name, here in CALLED.items()}
    files["pyodide.wasm"] = pyodide["pyodide.asm.wasm"]
    files |= {
        "pyodide.bin": engine.packed(pyodide["pyodide.asm.wasm"], packed),
        "python.bin": pyodide["python_stdlib.zip"],
    }
    files |= {f"{name}.bin": data for name, data in archives.items()}
    return files


def _styles(own: bytes) -> bytes:
    """The styles of documents, of everything on a page, and its own."""
    base = (resources.files(__package__) / "page" / "base.css").read_bytes()
    return b"\n".join((html.style().encode(), base, own))


def _of_teachers(course: Course, pdf: bool) -> dict[str, bytes]:
    """The page for teachers, which has most of its archives from the page for students."""
    from symattn.practice.choices import (
        choices,  # what these read of the package is much, and only for this page
        examples,
    )

    files = {name: _own(name, course) for name in TEACHERS}
    files["teacher.css"] = _styles(files["teacher.css"])
    page = {
        "choices": choices(pdf),
        "languages": {code: catalogue(code).name for code in languages()},
        "words": {code: _words(code, TEACHER) for code in languages()},
        "line": f"{measure.LINE:g}",
    }
    shown = {f"teacher-examples-{code}.json": _json(of) for code, of in examples(languages()).items()}
    return {**files, **shown, "teacher.json": _json(page)}


def _unopened() -> str:
    """What a page says that could not begin, in every language."""
    words = {code: _words(code, {"": PAGE["failed"]})[""] for code in languages()}
    return "\n".join(f'<p lang="{code}">{escape(text)}</p>' for code, text in words.items())


def _json(data: object) -> bytes:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()


def _own(name: str, course: Course) -> bytes:
    """A file of ours with what is put in."""
    text = (resources.files(__package__) / "page" / name).read_text(encoding="utf-8")
    values = {
        "title": escape(course.title), "line": f"{measure.LINE:g}", "version": engine.VERSION, "unopened": _unopened(),
    }  # fmt: skip
    for key, value in values.items():
        text = text.replace(f"<<{key}>>", value)
    return text.encode()


def _site(parts: Mapping[str, bytes], course: Course, scorm: bool) -> dict[str, bytes]:
    files = dict(parts)
    if scorm:
        del files["pyodide.wasm"]  # platforms limit what a package has
    else:
        del files["scorm.js"]
    files["page.json"] = _json(_page(course, scorm))
    if not scorm:  # platforms keep files themselves
        files["service.js"] = _service(files)
    return files


def _page(course: Course, scorm: bool) -> dict[str, object]:
    """What the page's script reads: the course, and its own words in every language."""
    return {
        "course": {
            "title": translated(course.title),
            "pass": course.passed,
            "topics": [{**asdict(topic), "title": translated(topic.title)} for topic in course.topics],
        },
        "languages": {code: catalogue(code).name for code in languages()},
        "words": {code: _words(code, PAGE) for code in languages()},
        "service": not scorm,
        "scorm": scorm,
    }


def _words(language: str, words: Mapping[str, str]) -> dict[str, str]:
    with speaking(language):
        return {name: said(text) for name, text in words.items()}


def _service(files: Mapping[str, bytes]) -> bytes:
    """The service worker, which keeps these files until one of them is another."""
    digest = sha256()
    for name in sorted(files):
        digest.update(name.encode() + b"\0" + sha256(files[name]).digest())
    text = (resources.files(__package__) / "page" / "service.js").read_text(encoding="utf-8")
    listed = json.dumps(["./", *sorted(name for name in files if name not in EITHER)])
    return text.replace("<<hash>>", digest.hexdigest()[:16]).replace("<<files>>", listed).encode()


# ------------------------------------------------------------------------------------------------ a package
# For a learning platform: SCORM 1.2 and SCORM 2004 (4th edition).

Edition = Literal["1.2", "2004"]
EDITIONS: tuple[Edition, ...] = get_args(Edition)

_MANIFEST: Mapping[Edition, str] = {
    "1.2": """<?xml version="1.0" encoding="UTF-8"?>
<manifest identifier="symattn-practice" version="1.0" xmlns="http://www.imsproject.org/xsd/imscp_rootv1p1p2"
  xmlns:adlcp="http://www.adlnet.org/xsd/adlcp_rootv1p2">
<metadata><schema>ADL SCORM</schema><schemaversion>1.2</schemaversion></metadata>
<organizations default="course"><organization identifier="course"><title>{title}</title>
<item identifier="practice" identifierref="page"><title>{title}</title></item>
</organization></organizations>
<resources><resource identifier="page" type="webcontent" adlcp:scormtype="sco" href="index.html">
{files}
</resource></resources>
</manifest>
""",
    "2004": """<?xml version="1.0" encoding="UTF-8"?>
<manifest identifier="symattn-practice" version="1.0" xmlns="http://www.imsglobal.org/xsd/imscp_v1p1"
  xmlns:adlcp="http://www.adlnet.org/xsd/adlcp_v1p3" xmlns:imsss="http://www.imsglobal.org/xsd/imsss">
<metadata><schema>ADL SCORM</schema><schemaversion>2004 4th Edition</schemaversion></metadata>
<organizations default="course"><organization identifier="course"><title>{title}</title>
<item identifier="practice" identifierref="page"><title>{title}</title>
<imsss:sequencing>
<imsss:deliveryControls completionSetByContent="true" objectiveSetByContent="true"/>
</imsss:sequencing>
</item></organization></organizations>
<resources><resource identifier="page" type="webcontent" adlcp:scormType="sco" href="index.html">
{files}
</resource></resources>
</manifest>
""",
}


def package(files: Mapping[str, bytes], title: str, edition: Edition) -> bytes:
    """The files of a page as a package, with its manifest; the same bytes for the same files."""
    manifest = _MANIFEST[edition].format(title=escape(title), files=_listed(files))
    return zipped({"imsmanifest.xml": manifest.encode(), **files}.items(), level=6)


def _listed(names: Iterable[str]) -> str:
    return "\n".join(f'<file href="{escape(name)}"/>' for name in names)
