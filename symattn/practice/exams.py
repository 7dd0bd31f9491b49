"""An exam made in the browser: its file opened and written, papers for a class, and what was handed in marked.

Everything is what the command line makes of the same file, class list and secret.
"""

from __future__ import annotations

import json
import re
import tempfile
from base64 import b64decode
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any

from symattn.errors import InputError, SymattnError
from symattn.foundation.dice import Dice
from symattn.foundation.files import toml, zipped
from symattn.foundation.identity import digest
from symattn.foundation.languages import say, speaking
from symattn.foundation.workers import logged, made, read_back, text_of
from symattn.marking.grading.record import Row
from symattn.marking.grading.run import grade_class
from symattn.marking.grading.source import language_of
from symattn.marking.marker.policy import Terms
from symattn.marking.marker.policy import policy as policy_called
from symattn.page.presentation import make_look
from symattn.practice.shown import Said, Told, Verb, file, silent
from symattn.teaching.exam.deploy import steps_of, write_exam
from symattn.teaching.exam.preview import preview
from symattn.teaching.exam.spec import exam_spec, read_exam_file
from symattn.teaching.problems import problem_type
from symattn.teaching.question import Json
from symattn.teaching.recipe import Recipe
from symattn.teaching.rendering import check_formats

FILE, SECRET = "exam.toml", "secret.txt"
LARGEST = 64 * 2**20
"""Bytes of everything that is dropped in at once."""

Files = Mapping[str, str]
"""Files by their paths, in base64."""


def exam_opened(text: str) -> Said:
    """What an exam file says, and the class list that it names, which is dropped in by itself.

    `InputError` says what is wrong with it.
    """
    data = toml(text, FILE)
    students = str(data.pop("class", ""))
    with _folder({}) as folder:
        (folder / FILE).write_text(written(data), "utf-8")
        read_exam_file(folder / FILE)
    return {"exam": json.loads(json.dumps(data, default=str)), "class": students}


def exam_foreseen(exam: Mapping[str, Any], students: Files) -> Said:
    """What will come of an exam, from one variant of each question; or everything that is wrong with it."""
    with logged() as notes, _folder(students) as folder:
        _write(folder, exam, students)
        found, faults = preview(folder / FILE, typeset=False)
    if found is None:
        return {"faults": [*map(str, faults)], "notes": [*dict.fromkeys(notes)]}
    return {
        "marks": found.marks,
        "minutes": found.minutes,
        "papers": found.papers,
        "students": len(found.spec.students),
        "notes": [*dict.fromkeys(notes)],
    }


def _write(folder: Path, exam: Mapping[str, Any], students: Files) -> None:
    """The exam file, with the class list that it names, which is one file at most."""
    text = written({**exam, **{"class": name for name in students}})  # noqa: B035
    (folder / FILE).write_text(text, encoding="utf-8")


def recipe(question: Mapping[str, Any], seed: int) -> Recipe:
    """What draws a question of an exam by itself; `InputError` where its numbers or words are the teacher's own."""
    [asked] = exam_spec({"question": [question]}, Path(FILE), ()).questions
    if not asked.varies:
        raise InputError("This question has numbers or words of its own; it is shown on the papers alone.")
    return Recipe(asked.spec, seed, asked.ask, asked.marks)


def exam_file(exam: Mapping[str, Any], language: str = "en") -> Said:
    """An exam as a file, and its questions in words: by their titles, or those of their types."""
    with speaking(language):
        titles: list[Json] = [
            str(one.get("title", "")) or say(problem_type(one.get("type", "full")).title)
            for one in exam.get("question", [])
        ]
    return {"text": written(exam), "titles": titles}


def written(exam: Mapping[str, Any]) -> str:
    """An exam as its file."""
    lines = [f"{_key(name)} = {_value(value)}" for name, value in exam.items() if name != "question"]
    for question in exam.get("question", []):
        lines += ["", "[[question]]", *(f"{_key(name)} = {_value(value)}" for name, value in question.items())]
    return "\n".join(lines) + "\n"


_BARE = re.compile(r"[A-Za-z0-9_-]+")


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else json.dumps(name, ensure_ascii=False)


def _value(value: Any) -> str:
    match value:
        case Mapping():
            return "{" + ", ".join(f"{_key(name)} = {_value(one)}" for name, one in value.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(_value, value)) + "]"
        case bool() | int() | float() | str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(str(value))


def exam(exam: Mapping[str, Any], students: Files, secret: str, forms: list[str], told: Told = silent) -> Said:
    """An exam's papers, keys and overview in several formats, with everything that makes them again: one archive.

    `students` is the class list, at most one file; `secret` is what the variants depend on.
    """
    with logged() as notes:
        archive = _papers(exam, students, secret, forms, told)
    return file("exam.zip", archive, notes)


def _papers(exam: Mapping[str, Any], students: Files, secret: str, forms: list[str], told: Told) -> bytes:
    listed = check_formats(forms, banks=True)
    if len(students) > 1:
        raise InputError("One class list was expected; there are several files.")
    with _folder(students) as folder:
        _write(folder, exam, students)
        (folder / SECRET).write_text(f"{secret}\n", encoding="utf-8")
        spec = read_exam_file(folder / FILE)
        steps, done = steps_of(spec, listed), 0

        def step(what: object) -> None:
            nonlocal done
            done += 1
            told(min(done, steps), steps)

        write_exam(spec, folder / "exam", listed, Dice.secret(folder / SECRET), step, step)
        return _zipped(folder)


def _zipped(folder: Path) -> bytes:
    """Everything in a folder, by its paths there."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return zipped((path.relative_to(folder).as_posix(), path.read_bytes()) for path in files)


@contextmanager
def _folder(files: Files) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        _put(Path(name), files)
        yield Path(name)


def _put(folder: Path, files: Files) -> None:
    """Files that were dropped in, each below the folder, whatever its path says."""
    if sum(map(len, files.values())) * 3 // 4 > LARGEST:
        raise InputError(f"These files have more than {LARGEST // 2**20} MB in all.")
    for name, data in files.items():
        parts = [part for part in PurePosixPath(name.replace("\\", "/")).parts if part not in ("/", "..", ".")]
        if not parts:
            raise InputError(f"{name!r} is not the name of a file.")
        path = folder.joinpath(*parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b64decode(data))


# ------------------------------------------------------------------------------------------------ marking


class Recorded(Executor):
    """The executor of a page that has jobs done elsewhere: it has the answers that are known, and notes what is wanted.

    Nothing that was handed in is read where the gradebook is made.
    """

    def __init__(self, known: Mapping[str, str]) -> None:
        self.known = known
        self.wanted: dict[str, list[str]] = {}

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        _, make, settings, job, *_ = args[1]["given"]
        name = digest([make, settings, job])
        if name not in self.known:
            self.wanted[name] = [make, settings, job]
        done: Future[Any] = Future()
        done.set_result(self.known.get(name) or text_of({"lost": "is still to be done"}))
        return done


def marks(
    exam: str, handed: Files, known: Mapping[str, str], forms: list[str], policy: str = "ecf", language: str = "en"
) -> Said:
    """A class marked: the jobs whose answers are not `known` yet, by name, or, when all are, everything in one archive.

    `exam` is the frozen file of an exam or a set in base64; `handed` is what was handed in.
    """
    with logged() as notes, _folder(handed) as folder, tempfile.TemporaryDirectory() as out:
        executor, source = Recorded(known), _source(exam)
        look = make_look(language=language_of(source))
        book = grade_class(
            source, folder, Terms(policy_called(policy)), out=out, forms=forms, look=look, executor=executor
        )
        if executor.wanted:
            return {"wanted": {name: [*job] for name, job in executor.wanted.items()}}
        archive = _zipped(Path(out))
    with speaking(language):
        return {**file("marked.zip", archive, notes), "rows": list(map(_row, book.rows))}


def _row(row: Row) -> Said:
    """A row of the gradebook, as it is shown at once."""
    return {
        "name": row.name or row.id,
        "file": row.file,
        "status": row.status,
        "total": f"{row.total}/{row.of}" if row.has_marks else "",
        "reason": say(row.reason),
    }


def job(exam: str, make: str, settings: str, job: str) -> Said:
    """One job of marking, which a page has done apart, with a limit of time."""
    _source(exam)
    try:
        answer = {"said": made(make, read_back(settings))(read_back(job))}
    except SymattnError as error:
        answer = {"refused": (type(error).__name__, error.args[0])}
    return {"answer": text_of(answer)}


def _source(exam: str) -> str:
    """Where the frozen file stands: in the same place for whoever marks."""
    data = b64decode(exam)
    folder = Path(tempfile.gettempdir(), f"symattn-{sha256(data).hexdigest()[:16]}")
    folder.mkdir(exist_ok=True)
    if not (folder / "exam.json").exists():
        (folder / "exam.json").write_bytes(data)
    return str(folder / "exam.json")


VERBS: Mapping[str, Verb] = {verb.__name__: verb for verb in (exam_opened, exam_foreseen, exam_file, exam, marks, job)}
