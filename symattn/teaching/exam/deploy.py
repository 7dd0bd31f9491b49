"""Deployment: everything is written from a frozen exam and from nothing else.

A run that was interrupted, however abruptly, continues where it stopped and leaves the same bytes: the exam is frozen
before the first page is written, and every file appears whole or not at all.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from symattn.errors import InputError
from symattn.foundation.crew import Crew
from symattn.foundation.dice import Dice
from symattn.foundation.files import alone_in, put, put_new, staging_in
from symattn.foundation.identity import is_identity
from symattn.foundation.tables import csv_lines
from symattn.foundation.typed import plain, read
from symattn.foundation.workers import Job
from symattn.page.document import Document
from symattn.page.presentation import presented
from symattn.page.writers import latex, page
from symattn.page.writers.binding import Leaves, bound, page_count
from symattn.page.writers.common import visible
from symattn.page.writers.page import typesetting
from symattn.teaching.exam.frozen_exam import (
    BEGUN,
    Begun,
    Copy,
    Exam,
    Variant,
    copies,
    freeze,
    in_order_of_seats,
    make_exam,
    recipe_digest,
    thaw,
    with_exam,
)
from symattn.teaching.exam.papers import (
    answers_alone,
    diagnosis,
    has_diagnosis,
    key,
    of_paper,
    overview,
    paper,
    separator,
)
from symattn.teaching.exam.spec import ExamSpec, exam_spec
from symattn.teaching.explanation.documents import booklet
from symattn.teaching.exporters import EXPORTERS
from symattn.teaching.question import FROZEN, Question
from symattn.teaching.rendering import check_formats, render, suffix
from symattn.teaching.sheets import bank_files, banks_apart

UNFINISHED = ".unfinished"


# ------------------------------------------------------------------------------------------------ writing


def write_exam(
    spec: ExamSpec,
    folder: Path,
    forms: Sequence[str],
    dice: Dice | None,
    on_variant: Callable[[object], None] = lambda variant: None,
    on_file: Callable[[Path], None] = lambda path: None,
    crew: Crew | None = None,
) -> tuple[Exam, list[Path]]:
    """Make or continue the exam in a folder: `exam.json`, papers and keys, one by one and bound, answers alone, common
    wrong answers, an overview, and who gets what.

    Without `dice` a frozen exam is continued as it is.  Files that this exam has already are left as they are;
    `InputError` where there is another file in the place of one, or where pages are that no `exam.json` goes with.
    Another run in the same folder is waited for.  A crew, if there is one, draws variants and writes papers and keys.
    """
    forms = check_formats(forms, banks=True)
    with alone_in(folder):
        try:
            with staging_in(folder, UNFINISHED) as staging:
                crew = crew or Crew()
                exam = _frozen_in(folder, spec, dice, on_variant, staging, crew)
                pages = _Pages.of(folder, staging)
                on_file(folder / FROZEN)
                for path in _written(exam, pages, forms, crew):
                    on_file(path)
                return exam, [folder / FROZEN, *pages.finish()]
        except OSError as error:
            raise InputError(f"Writing to the folder {folder} failed: {error.strerror}.") from error


def _frozen_in(
    folder: Path,
    spec: ExamSpec,
    dice: Dice | None,
    on_variant: Callable[[object], None],
    staging: Path,
    crew: Crew,
) -> Exam:
    """The exam that a folder holds, or a new one, frozen there before anything else is written."""
    where = folder / FROZEN
    if where.exists():
        return thaw(where.read_text(encoding="utf-8"), spec, dice, where)
    if old := next((path for name in _PAGES for path in folder.glob(name)), None):
        raise InputError(
            f"The folder {folder} has {old.name} of an exam and no {FROZEN} that it belongs to; "
            "choose another folder with --out."
        )
    begun = Begun(folder / BEGUN, recipe_digest(spec), with_exam(dice, spec) if dice else None)
    assert begun.dice is not None  # by default it has its own
    try:
        exam = make_exam(spec, begun.dice, on_variant, crew, begun)
    except InputError:  # there is nothing to be continued
        (folder / BEGUN).unlink()
        raise
    try:
        put_new(where, freeze(exam, begun.dice).encode(), staging)
    except FileExistsError as error:
        raise InputError(f"Another run has meanwhile created {where}; the same command continues it.") from error
    (folder / BEGUN).unlink(missing_ok=True)
    return exam


BOUND = ("pdf", "latex-pdf")
"""The formats in which papers and keys are also bound, to be printed at once."""


def steps_of(spec: ExamSpec, forms: Sequence[str]) -> int:
    """About how many variants and files `write_exam` makes, and tells of."""
    pages, banks = banks_apart(forms)
    files = len(pages) * (3 + spec.papers + (len(spec.students) or spec.papers)) + len(banks)
    if "latex" in pages and spec.students:
        files += spec.papers  # which students' files read
    booklets = 2 * sum(form in BOUND for form in pages)
    return sum(map(spec.variants_of, spec.questions)) + 1 + files + booklets + bool(spec.students)


def _written(exam: Exam, pages: _Pages, forms: Sequence[str], crew: Crew) -> Iterator[Path]:
    """Every file beside `exam.json`, in the order in which they are made."""
    forms, banks = banks_apart(forms)
    for form in banks:
        yield pages.put(f"{BANK}{EXPORTERS[form].SUFFIX}", partial(_bank, exam, form))
    if not forms:
        return
    _refuse_other_keys(exam, pages.folder)
    beside = latex.Folder(double_sided=True, masthead=exam.spec.masthead)
    yield from _sheets(exam, pages, forms, crew, beside)
    yield from _collections(exam, pages, forms, beside)
    for name, text in beside.files():
        yield pages.put(name, text.encode)
    for name, content in beside.attachments():
        yield pages.put(name, partial(bytes, content))
    for form in (form for form in forms if form in BOUND):
        yield pages.put("keys" + suffix(form), partial(_bound_keys, exam, pages, form))
        yield pages.put("papers" + suffix(form), partial(_bound_papers, exam, pages, form))
    if exam.spec.students:
        yield pages.put("assignment.csv", lambda: assignment(exam).encode())


def _sheets(exam: Exam, pages: _Pages, forms: Sequence[str], crew: Crew, beside: latex.Folder) -> Iterator[Path]:
    """Papers, keys and whatever has a file of its own; LaTeX's go into the folder's files that print all of them."""
    listed = list(_in_forms(exam, forms, cache(partial(_page_counts, exam, pages, forms))))
    in_turn = sorted(listed, key=_by_paper)
    made = _by_crew(exam, pages, in_turn, crew) if not crew.alone else None
    for stem, form, make in in_turn:
        if isinstance(make, OfStudent):
            yield pages.put(stem + suffix(form), make.source)
        elif made and isinstance(make, OfPaper) and not pages.has(stem + suffix(form)):
            yield pages.put(stem + suffix(form), lambda: next(made)[1])
        else:
            yield pages.put(stem + suffix(form), partial(_page, make, form))
    for stem, form, make in listed:
        if form == "latex":
            for_many = stem if isinstance(make, OfPaper) and make.for_many else ""
            _include(pages, stem, beside, make.page if isinstance(make, OfStudent) else for_many)


def _collections(exam: Exam, pages: _Pages, forms: Sequence[str], beside: latex.Folder) -> Iterator[Path]:
    """What is collected of all papers: each a file in every format."""
    for stem, collect in collections(exam):
        for form in forms:
            collected = (
                partial(_collected, collect) if form == "pdf" else partial(_page, partial(_in_one, collect), form)
            )
            yield pages.put(stem + suffix(form), collected)
            if form == "latex":
                _include(pages, stem, beside)


def _refuse_other_keys(exam: Exam, folder: Path) -> None:
    """`InputError` if there are keys of papers that this exam has not: they would lie among its own."""
    for path in sorted(folder.glob("keys/*-key.*")):
        sheet = path.name.partition("-key.")[0]
        if is_identity(sheet) and sheet not in exam.ids:
            raise _not_of_this_exam(path)


def _not_of_this_exam(path: Path) -> InputError:
    return InputError(
        f"{path} is there already and is not what this exam has there: it was changed, or is another exam's. "
        "Move it away, or choose another folder with --out."
    )


def _bank(exam: Exam, form: str) -> bytes:
    """The variants of every question, for other systems: one of each is drawn for everybody."""
    pools = [
        [(variant.id, exam.question(number, k)) for k, variant in enumerate(variants)]
        for number, variants in enumerate(exam.pools)
    ]
    ((_, content),) = bank_files(exam.spec.title, pools, [form], BANK, exam.spec.look)
    return content


def _in_forms(
    exam: Exam, forms: Sequence[str], page_counts: Callable[[], Mapping[int, int]]
) -> Iterator[tuple[str, str, Callable[[], Document] | OfStudent]]:
    """The files that documents are written to: name, format, and what makes it.

    In LaTeX all students who have the same paper, in the same size, read it from one file.
    """
    usual, shared = exam.spec.look.text_size, set[str]()
    for stem, make in documents(exam, page_counts):
        for form in forms:
            if form != "latex" or not isinstance(make, OfPaper) or not make.is_of_student:
                yield stem, form, make
                continue
            size = make.copy.text_size or usual
            page = f"papers/{make.copy.sheet}" + (f"-{size}" if size != usual else "")
            if page not in shared:
                shared.add(page)
                yield page, form, replace(make, for_many=True)
            yield stem, form, OfStudent(make.copy, page)


def _by_paper(file: tuple[str, str, object]) -> tuple[int, ...]:
    """Puts a file beside those of others who have the same paper: Typst keeps for a while what it laid out."""
    make = file[2]
    if isinstance(make, OfPaper | OfStudent):
        return (0,) if isinstance(make, OfPaper) and make.key else (1, make.copy.paper, make.copy.text_size)
    return (2,)


def _include(pages: _Pages, stem: str, beside: latex.Folder, of: str = "") -> None:
    """Put a LaTeX file of a group into the file that prints all of them.

    Of a student's file, `of` is the name of the paper that it reads: that is no sheet by itself.
    """
    ending = suffix("latex")
    paper = pages.read(of + ending).decode() if of and of != stem else ""
    folder = Path(stem).parent
    beside.add(stem, pages.read(stem + ending).decode(), f"{folder}/class" if folder.name and of != stem else "", paper)


def _page(make: Callable[[], Document], form: str) -> bytes:
    document = make()
    if not isinstance(make, OfPaper):
        return render(document, form, beside_macros=True)[1]
    with page.headed(make.exam.spec.masthead):
        if make.for_many:
            return latex.write_for_many(presented(document)).encode()
        return render(document, form, beside_macros=True)[1]


def _by_crew(
    exam: Exam, pages: _Pages, listed: Sequence[tuple[str, str, Callable[[], Document] | OfStudent]], crew: Crew
) -> Iterator[tuple[str, bytes]]:
    """The papers and keys that are not there yet, by their names, in the order in which they are listed."""
    settings = {
        "exam": exam.spec.kept,
        "stem": exam.spec.stem,
        "typesetting": page.chosen(),
        "templates": page.own_templates(),
        "software": exam.software,
    }
    wanted = [
        (name, form, make)
        for stem, form, make in listed
        if isinstance(make, OfPaper) and not pages.has(name := stem + suffix(form))
    ]
    jobs = ((name, {**make.job(), "form": form}) for name, form, make in wanted)
    return crew.in_order(PRINT, settings, jobs)


def printing(settings: Any) -> Job:
    """The job of writing a paper, or its key, from the frozen variants of its questions."""
    spec = exam_spec(settings["exam"], Path(f"{settings['stem']}.toml"), (), made=True)

    def job(asked: Any) -> bytes:
        pools = tuple((read(Variant, v, "A variant"),) for v in asked["variants"])
        exam = Exam(spec, pools, ((0,) * len(pools),), software=settings["software"])
        copy = Copy(**asked["copy"])
        with typesetting(**settings["typesetting"]):
            return _page(OfPaper(exam, 0, copy, asked["key"], asked["for_many"]), asked["form"])

    return job


PRINT = f"{__name__}:printing"


def _collected(collect: Callable[[], Sequence[Document]]) -> bytes:
    """Documents of several papers in one PDF, each on pages of its own."""
    leaves = []
    for document in collect():
        if document.sheet:
            document = replace(document, subtitle=of_paper(document.subtitle, document.sheet))
        leaves.append(Leaves(document.sheet or document.title, render(document, "pdf")[1]))
    return bound(leaves, double_sided=False)


def _in_one(collect: Callable[[], Sequence[Document]]) -> Document:
    return booklet(collect())


def _bound_keys(exam: Exam, pages: _Pages, form: str) -> bytes:
    return bound([Leaves(name, pages.read(f"keys/{name}-key{suffix(form)}")) for name in exam.ids])


def _bound_papers(exam: Exam, pages: _Pages, form: str) -> bytes:
    """All papers in the order of the seats, each after its separator sheet if there are any."""
    spec, ordered = exam.spec, in_order_of_seats(exam)
    leaves = []
    for number, (stem, copy) in enumerate(ordered, 1):
        name = " ".join(filter(None, (copy.sheet, visible(copy.name or copy.id))))
        if spec.separators:
            leaves.append(Leaves(name, render(separator(spec, copy, number, len(ordered)), form)[1]))
        if spec.look.fillable and form == "pdf":  # on paper there is nothing to click on
            to_print = replace(spec, look=replace(spec.look, fillable=False))
            with page.headed(spec.masthead):
                printed = render(paper(to_print, copy, exam.questions(copy.paper)), form)[1]
        else:
            printed = pages.read(stem + suffix(form))
        leaves.append(Leaves("" if spec.separators else name, printed))
    return bound(leaves)


BANK = "bank"
"""What the files of a question bank are called."""

SUMS = "SHA256SUMS"
"""Beside an exam: what has been written of it, as `sha256sum` lists files, so that `sha256sum --check` reads it."""

_SUM = re.compile(r"([0-9a-f]{64})  (\S.*)")
_PAGES = (SUMS, "assignment.csv", "keys", "papers",
          *(f"{name}.*" for name in ("overview", "answers", "diagnosis", "keys", "papers", BANK)))  # fmt: skip


@dataclass(frozen=True)
class _Pages:
    """The files of an exam.  `sums` are the hashes of those that were written, by name; of no other exam's."""

    folder: Path
    staging: Path
    sums: dict[str, str]
    names: dict[str, None] = field(default_factory=dict)

    @classmethod
    def of(cls, folder: Path, staging: Path) -> _Pages:
        """Those of the exam that is frozen in a folder."""
        frozen, sums = _sha256((folder / FROZEN).read_bytes()), dict[str, str]()
        if (folder / SUMS).exists():
            lines = (folder / SUMS).read_text(encoding="utf-8", errors="replace").splitlines()
            sums = {match[2]: match[1] for line in lines if (match := _SUM.fullmatch(line))}
        pages = cls(folder, staging, sums if sums.get(FROZEN) == frozen else {FROZEN: frozen})
        pages._list()
        return pages

    def has(self, name: str) -> bool:
        """Whether a file is there as it was written."""
        path = self.folder / name
        return name in self.sums and path.exists() and self.sums[name] == _sha256(path.read_bytes())

    def put(self, name: str, content: Callable[[], bytes]) -> Path:
        """Write a file, unless it is there already as it was written or as it would be now.

        Half a file, which a computer may leave that was switched off, is made anew.  `InputError` for any other file.
        """
        path = self.folder / name
        there = path.read_bytes() if path.exists() else None
        self.names[name] = None
        if there is not None and self.sums.get(name) == _sha256(there):
            return path
        made = content()
        if there is not None and not made.startswith(there.rstrip(b"\0")):
            raise _not_of_this_exam(path)
        if there != made:
            put(path, made, self.staging)
        self.sums[name] = _sha256(made)
        with (self.folder / SUMS).open("a", encoding="utf-8", newline="") as file:
            file.write(_line(name, self.sums[name]))
        return path

    def read(self, name: str) -> bytes:
        """What has been written."""
        return (self.folder / name).read_bytes()

    def finish(self) -> list[Path]:
        """Everything that this run wrote or found written."""
        self._list()
        return [self.folder / name for name in (*self.names, SUMS)]

    def _list(self) -> None:
        text = "".join(_line(name, self.sums[name]) for name in sorted(self.sums))
        put(self.folder / SUMS, text.encode(), self.staging)


def _line(name: str, sha256: str) -> str:
    return f"{sha256}  {name}\n"


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@dataclass(frozen=True)
class OfPaper:
    """A paper that is printed, or the key of one: called, it makes the document."""

    exam: Exam
    number: int
    copy: Copy
    key: bool = False
    for_many: bool = False

    @property
    def is_of_student(self) -> bool:
        return not self.key and bool(self.copy.id)

    def __call__(self) -> Document:
        spec, questions, last = self.exam.spec, self.exam.questions(self.number), self.exam.last
        asked = self.number, self.copy, self.key
        if (made := last.get(asked)) is None:
            made = key(spec, self.copy.sheet, questions) if self.key else paper(spec, self.copy, questions)
            last.clear()
            last[asked] = made
        return made

    def job(self) -> dict[str, Any]:
        """What another person needs to make it, besides the exam file."""
        variants = [plain(self.exam.pools[q][v]) for q, v in enumerate(self.exam.papers[self.number])]
        return {"variants": variants, "copy": asdict(self.copy), "key": self.key, "for_many": self.for_many}


@dataclass(frozen=True)
class OfStudent:
    """What is a student's on a paper, in LaTeX, which reads the rest from the `page` of all who have it."""

    copy: Copy
    page: str

    def source(self) -> bytes:
        student = {"name": self.copy.name, "id": self.copy.id, "seat": self.copy.seat}
        return latex.of_student(student, Path(self.page).name).encode()


def documents(
    exam: Exam, page_counts: Callable[[], Mapping[int, int]] = dict
) -> Iterator[tuple[str, Callable[[], Document]]]:
    """Every document of an exam that is a file by itself, by the name of the file, made when it is asked for.

    The overview is the last one, and says how many pages papers have, if `page_counts` does.
    """
    for p, name in enumerate(exam.ids):
        yield f"keys/{name}-key", OfPaper(exam, p, Copy(p, name), key=True)
    for stem, copy in copies(exam):
        yield stem, OfPaper(exam, copy.paper, copy)

    @cache
    def of_all() -> Document:
        questions = [exam.questions(p) for p in range(len(exam.papers))]
        return overview(exam.spec, exam.ids, questions, exam.given_out, page_counts())

    yield "overview", of_all


def _page_counts(exam: Exam, pages: _Pages, forms: Sequence[str]) -> dict[int, int]:
    """How many pages the papers have as PDF, by their numbers: in the smallest print that there is a copy in."""
    if not (printed := [form for form in forms if form in BOUND]):
        return {}
    smallest = {copy.paper: stem for stem, copy in sorted(copies(exam), key=lambda named: -named[1].text_size)}
    return {number: page_count(pages.read(stem + suffix(printed[0]))) for number, stem in smallest.items()}


def collections(exam: Exam) -> Iterator[tuple[str, Callable[[], Sequence[Document]]]]:
    """What a marker has of all papers in one file, by its name, made when it is asked for: the answers alone, and
    common wrong answers.
    """

    def papers() -> Iterator[tuple[str, Sequence[Question]]]:
        return ((name, exam.questions(p)) for p, name in enumerate(exam.ids))

    yield "answers", cache(lambda: [answers_alone(exam.spec, name, questions) for name, questions in papers()])
    if has_diagnosis(exam.spec, papers()):
        yield "diagnosis", cache(lambda: list(diagnosis(exam.spec, papers())))


def assignment(exam: Exam) -> str:
    """Who gets which paper, as CSV."""
    table: list[list[object]] = [["number", "name", "id", "seat", "paper", "file"]]
    for number, (student, (stem, copy)) in enumerate(zip(exam.spec.students, copies(exam), strict=True), 1):
        table.append([number, student.name, student.id, student.seat, copy.sheet, stem])
    return "".join(csv_lines(table, "\n"))
