"""What the page for teachers asks of Python: JSON in, JSON out.

`answer` is all that the page's worker calls.  Files come as the command line writes them, byte for byte.
"""

from __future__ import annotations

import json
import re
import shlex
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Annotated, Any

from symattn.derivation.algebra import Entries, Index
from symattn.derivation.derivation import Derivation, Operand
from symattn.derivation.settings import typed_rounding
from symattn.errors import InputError, SymattnError
from symattn.exact import Matrix, Value
from symattn.formula import NOTHING, Formula, Relation
from symattn.formula.speech import speak
from symattn.foundation.crew import Crew
from symattn.foundation.files import zipped
from symattn.foundation.languages import say, speaking
from symattn.foundation.typed import Between, read
from symattn.foundation.workers import logged
from symattn.page.document import Document, Look, Math, Paragraph, Solutions, paragraph
from symattn.page.notation import Notation
from symattn.page.presentation import make_look, presented
from symattn.page.writers import html
from symattn.practice.shown import Said, Told, Verb, answered, file, silent, verbs_of
from symattn.teaching.explanation import Conventions, Layout
from symattn.teaching.explanation.wording import Wording, terminates
from symattn.teaching.pool import AHEAD, Tally, no_more_room
from symattn.teaching.problem import Problem, read_given
from symattn.teaching.problems import problem_type
from symattn.teaching.question import Json, Question, marked_together, total
from symattn.teaching.recipe import Recipe, read_unnumbered
from symattn.teaching.rendering import check_formats, suffix, written_document
from symattn.teaching.sheets import Setting, Sheet, chosen_sheet, sheets, write_set

MOST_VARIANTS = 500
"""In one download: a browser has one processor and little memory."""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What the form says; what is left empty is the problem type's, the mechanism's or the notation's own choice."""

    problem: str = "full"
    mechanism: str = ""
    level: str = ""
    softmax: str = ""
    sizes: Mapping[str, int] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    notation: str = ""
    exact: bool = True
    places: Annotated[int, Between(0, 50)] | None = None
    seed: Annotated[int, Between(0)] = 1
    ask: tuple[str, ...] = ()
    marks: Mapping[str, Annotated[int, Between(1, 1000)]] = field(default_factory=dict)
    look: Mapping[str, Any] = field(default_factory=dict)
    layout: Layout = "matrix"
    conventions: Conventions = "full"
    solutions: tuple[Solutions, ...] = ("blank", "key")
    printed: bool = False

    @property
    def recipe(self) -> Recipe:
        """`InputError` says what does not go together."""
        settings = {"settings": self.stated_settings, "options": self.options}
        spec = problem_type(self.problem).spec({**self.stated, **settings})
        return Recipe(spec, self.seed, self.ask, self.marks)

    @property
    def stated(self) -> dict[str, Any]:
        """What is not left open, in the words of an exam file; without parts and settings."""
        said = {name: getattr(self, name) for name in ("mechanism", "level", "softmax", "notation", "sizes")}
        said |= {"exact": None if self.exact else False, "places": self.places}
        return {name: value for name, value in said.items() if value not in ("", {}, None)}

    @property
    def stated_settings(self) -> dict[str, Any]:
        """The settings that are not left to the mechanism."""
        settings: dict[str, Any] = {name: text for name, text in self.settings.items() if text}
        if "rounding" in settings:
            settings["rounding"] = typed_rounding(settings["rounding"])
        return settings

    @cached_property
    def made_look(self) -> Look:
        return make_look(**{name: value for name, value in self.look.items() if value != ""})

    def setting(self, forms: Iterable[str]) -> Setting:
        """How its sheets are written, in formats of pages and of question banks."""
        listed = check_formats(forms, banks=True)
        stem = self.recipe.stem
        return Setting(listed, stem, self.solutions, self.layout, self.conventions, self.made_look, self.printed)


_USUAL = ("standard", "e")
"""What an exam file need not say of level, notation and weights."""


# ------------------------------------------------------------------------------------------------ one open page


@dataclass
class Teacher:
    """What one open page has drawn last, so that it is not drawn again for each file."""

    _drawn: tuple[str, Question] | None = None
    _whatif: WhatIf | None = None

    def draw(self, choice: Json) -> Said:
        """A sheet with what is wanted of it, each as HTML, and how to make the same elsewhere."""
        chosen = _choice(choice)
        sheet = self._sheet(chosen)
        question, how = sheet.question, chosen.setting(("html",))
        with speaking(chosen.made_look.language):
            title = say(question.title)
        return {
            "name": sheet.name,
            "title": title,
            "marks": question.marks,
            "parts": _parts(self._whole(chosen), chosen.ask, question, chosen.made_look),
            "papers": [
                {"solutions": name.removeprefix("-") or "blank", "html": html.bare(document)}
                for name, document in _documents(sheet, how)
            ],
            "stem": how.stem,
            "mechanism": chosen.recipe.spec.mechanism,
            "recipe": _unnumbered(chosen.recipe),
            "seed": chosen.seed,
            "language": chosen.made_look.language,
            "what_if": question.problem is not None,
        }

    def content(self, choice: Json) -> Said:
        """What a sheet is made of, in short: choices that give the same are not worth offering."""
        made = next(sheets(_choice(choice).recipe, 1)).question.content
        return {"content": sha256(repr(made).encode()).hexdigest()[:16]}

    def paper(self, choice: Json, solutions: Solutions, form: str) -> Said:
        """One of its documents as a file in one format; of LaTeX, with its macros in it."""
        chosen = _choice(choice)
        how = replace(chosen.setting((form,)), solutions=(solutions,))
        for stem, document in _documents(self._sheet(chosen), how, how.stem):
            with logged() as notes:
                data = written_document(document, form)[1]
            return file(f"{stem}{suffix(form)}", data, notes)
        raise InputError(f"There is no {solutions} of this sheet.")

    def files(
        self,
        choice: Json,
        forms: list[str],
        count: int = 1,
        together: bool = False,
        overview: bool = False,
        told: Told = silent,
    ) -> Said:
        """So many variants in several formats, with their class file, as the command writes them: one archive."""
        chosen = _choice(choice)
        if not 1 <= count <= MOST_VARIANTS:
            raise InputError(f"{count} variants were asked for; 1 to {MOST_VARIANTS} can be made here at a time.")
        how, done = chosen.setting(forms), 0

        def step(sheet: object) -> None:
            nonlocal done
            done += 1
            told(done, count)

        questions: list[Question] = []
        tally = Tally(
            ahead=min(count, AHEAD), told=lambda room: notes.append(no_more_room(room, chosen.recipe.spec.level))
        )
        with tempfile.TemporaryDirectory() as name, logged() as notes:
            written = write_set(
                chosen.recipe, count, Path(name), how, Crew(), together=together, overview=overview, on_sheet=step,
                keep=(lambda sheet: questions.append(sheet.question)) if how.banks else None, tally=tally,
            )  # fmt: skip
            archive = zipped((path.name, path.read_bytes()) for path in written)
        notes += how.remarks(chosen.recipe, written, questions)
        return file(f"{how.stem}.zip", archive, notes)

    def command(
        self, choice: Json, forms: list[str], count: int = 1, together: bool = False, overview: bool = False
    ) -> Said:
        """The command that writes the same files."""
        chosen = _choice(choice)
        how = chosen.setting(forms)
        words = chosen.recipe.command() + how.options
        if count > 1:
            words += f" -n {count}"
        words += f" --format {','.join((*how.forms, *how.banks))}"
        if tuple(how.solutions) != Setting.solutions:
            words += f" --solutions {','.join(how.solutions)}"
        words += (" --together" if together else "") + (" --overview" if overview else "")
        return {"command": words}

    def opened(self, recipe: str, seed: int) -> Said:
        """The choices that a recipe stands for, as the form has them."""
        read_back = read_unnumbered(recipe, seed)
        spec, settings = read_back.spec, read_back.spec.settings
        return {
            "problem": spec.type,
            "mechanism": spec.mechanism,
            "level": spec.level,
            "softmax": spec.softmax,
            "sizes": dict(spec.sizes),
            "settings": {name: _typed(value) for name, value in settings.items() if value is not None},
            "options": dict(spec.options),
            "notation": spec.notation,
            "exact": spec.exact,
            "places": spec.places,
            "ask": [*read_back.ask],
            "marks": dict(read_back.marks),
            "seed": seed,
        }

    def what_if(self, choice: Json, givens: Mapping[str, list[list[str]]] | None = None, places: int = -1) -> Said:
        """The derivation of a sheet with every number, and with other givens; in decimals from 0 places on."""
        chosen = _choice(choice)
        problem = self._sheet(chosen).problem
        self._whatif = WhatIf.of(problem, givens or {}, chosen.made_look, None if places < 0 else places)
        return self._whatif.shown()

    def entry(self, step: str, row: int, column: int) -> Said:
        """How one entry of it comes about, from 1."""
        if self._whatif is None:
            raise InputError("No derivation is shown yet.")
        return self._whatif.entry(step, row - 1, column - 1)

    def question(self, choice: Json) -> Said:
        """A choice as a question of an exam."""
        chosen = _choice(choice)
        _ = chosen.recipe  # refuses what does not go together
        stated = {name: value for name, value in chosen.stated.items() if value not in _USUAL}
        table: dict[str, Json] = {"type": chosen.problem, **stated}
        table |= {"ask": [*chosen.ask]} if chosen.ask else {}
        table |= {"marks": dict(chosen.marks)} if chosen.marks else {}
        table |= {**chosen.stated_settings, **chosen.options}
        return {"question": table}

    def question_shown(self, question: dict[str, Json], seed: int) -> Said:
        """The choices that a question of an exam stands for, as the form has them."""
        from symattn.practice import exams

        return self.opened(_unnumbered(exams.recipe(question, seed)), seed)

    def _sheet(self, chosen: Choice) -> Sheet:
        recipe = chosen.recipe
        return chosen_sheet(self._whole(chosen), recipe.command(), 1, recipe.ask, recipe.marks)

    def _whole(self, chosen: Choice) -> Question:
        """What is drawn, with all of its parts."""
        recipe = replace(chosen.recipe, ask=(), marks={})
        command = recipe.command()
        if self._drawn is None or self._drawn[0] != command:
            self._drawn = command, next(sheets(recipe, 1)).question
        return self._drawn[1]


def _choice(data: Json) -> Choice:
    return read(Choice, data, "")


def _parts(whole: Question, ask: Sequence[str], asked: Question, look: Look) -> list[Json]:
    """Every part that there is, in order: what it is called, and as it is printed (nothing, if it is not asked); with
    the marks of its line at the first part that has any, and whether that line goes through several parts.
    """
    printed = dict(zip((part.name for part in whole.named(ask)), asked.parts, strict=True))
    lines = [[part for part in line if part.marks] for line in marked_together(asked.parts)]
    heads = {line[0].name: line for line in lines if line}
    parts: list[Json] = []
    for part in whole.parts:
        name = printed[part.name].name if part.name in printed else ""
        line = heads.get(name, [])
        title = presented(Document("", (Paragraph(part.title),), look=look))
        parts.append({
            "name": part.name, "printed": name, "html": html.bare(title, head=False),
            "marks": sum(total(one.marks) for one in line), "together": len(line) > 1,
        })  # fmt: skip
    return parts


def _unnumbered(recipe: Recipe) -> str:
    """The recipe as it stands in an address: what follows the command, without the seed."""
    words = shlex.split(recipe.command())[2:]
    return shlex.join(words[: words.index("--seed")])


def _typed(value: Any) -> str:
    """A setting as it is typed."""
    if isinstance(value, Mapping):
        return ":".join(map(str, value.values()))
    return value if isinstance(value, str) else json.dumps(value)


def _documents(sheet: Sheet, how: Setting, stem: str = "") -> list[tuple[str, Document]]:
    """What is wanted of a sheet, ready to be written, by the stems of its files."""
    return [(name, presented(replace(document, look=how.look))) for name, document in how.documents(stem, [sheet])]


# ------------------------------------------------------------------------------------------------ what if
# A given were another one?  A derivation in which every number can be pointed at, worked out again at once.

LONGEST = 20
"""Characters of an entry that somebody types."""
LARGEST = 400
"""Entries of a matrix that is shown number by number."""


class _Decimals(Wording):
    """A wording in which whole numbers stay whole, and all others are decimals."""

    def __init__(self, derivation: Derivation, notation: Notation, places: int) -> None:
        super().__init__(derivation, notation)
        self._fixed = places

    def number(self, value: Value, guard: int = 0) -> Formula:
        return super().number(value, guard) if terminates(value) else self.decimal(value, self._fixed)


@dataclass(frozen=True)
class WhatIf:
    """A problem with its givens as they are now, for a page with a look: exact, or in decimals with some places."""

    problem: Problem
    look: Look
    places: int | None = None

    @classmethod
    def of(
        cls, problem: Problem, givens: Mapping[str, Sequence[Sequence[str]]], look: Look, places: int | None
    ) -> WhatIf:
        """The same with other givens; `InputError` says what cannot be read or worked out."""
        d = problem.derivation
        read = {name: _read(name, d, rows) for name, rows in givens.items()}
        return cls(replace(problem, derivation=d.replay(givens=read)) if read else problem, look, places)

    def shown(self) -> Said:
        """The givens as they are typed, and each step: its rule, and every entry."""
        d, w = self.problem.derivation, self._wording
        steps = [step for step in d if isinstance(step.result, Matrix) and len(list(step.result)) <= LARGEST]
        formulas: list[Formula] = [w.name(name) for name in d.givens]
        for step in steps:
            formulas += [w.equation(step), *(w.number(x) for row in _rows(step.result) for x in row)]
        written = iter(self._written(formulas))
        with speaking(self.look.language):
            return {
                "givens": [
                    {"name": name, "html": next(written), "rows": [[str(x) for x in row] for row in _rows(given)]}
                    for name, given in d.givens.items()
                ],
                "steps": [
                    {
                        "name": step.name,
                        "word": say(w.word(step)),
                        "html": next(written),
                        "rows": [[next(written) for _ in row] for row in _rows(step.result)],
                    }
                    for step in steps
                ],
            }

    def entry(self, name: str, i: int, j: int) -> Said:
        """How an entry (from 0) comes about, and the entries that it is made of, from 1."""
        step, w = self.problem.derivation[name], self._wording
        result = step.result
        if not (isinstance(result, Matrix) and 0 <= i < result.shape[0] and 0 <= j < result.shape[1]):
            raise InputError(f"{name} has no entry ({i + 1}, {j + 1}).")
        uses: list[tuple[str, int, int]] = []
        worked: list[Formula] = []
        with suppress(SymattnError, TypeError):  # a rule that cannot be read in formulas here
            worked.append(
                step.op.working(i, j, *(_names(operand, self._derivation, w, uses) for operand in step.operands))
            )
            worked.append(w.working(step, i, j))
        equals = "=" if self.places is None or terminates(result[i, j]) else "≈"
        lines = [
            Relation((w.entry(name, i, j), *worked[:1]), ("=",) * len(worked[:1])) if worked else w.entry(name, i, j)
        ]
        lines += (Relation((NOTHING, line), ("=",)) for line in worked[1:])
        lines.append(Relation((NOTHING, w.number(result[i, j])), (equals,)))
        return {"html": [*self._written(lines)], "uses": [[*use] for use in dict.fromkeys(uses)]}

    @property
    def _derivation(self) -> Derivation:
        return self.problem.derivation

    @cached_property
    def _wording(self) -> Wording:
        d, notation = self._derivation, self.problem.notation
        return Wording(d, notation) if self.places is None else _Decimals(d, notation, self.places)

    def _written(self, formulas: Sequence[Formula]) -> list[str]:
        """Formulas as HTML, in the signs of the look."""
        page = Document("", tuple(paragraph(formula) for formula in formulas), look=self.look)
        with speaking(self.look.language):
            return [
                f'<math alttext="{escape(speak(formula))}">{html.formula(formula)}</math>'
                for formula in _formulas(presented(page))
            ]


def _formulas(document: Document) -> Iterator[Formula]:
    for block in document.blocks:
        assert isinstance(block, Paragraph)
        for inline in block.content:
            assert isinstance(inline, Math)
            yield inline.formula


def _names(operand: Operand, d: Derivation, w: Wording, uses: list[tuple[str, int, int]]) -> Entries[Formula]:
    """The entries of an operand by name; those that a rule reads are told, from 1."""

    def named(i: Index, j: Index) -> Formula:
        row, column = operand.place(i, j)
        if isinstance(row, int) and isinstance(column, int):
            uses.append((operand.name, row + 1, column + 1))
        return w.entry(operand.name, row, column)

    return Entries(d.operand(operand).shape, named, first=w.notation.first_index)


def _rows(matrix: object) -> tuple[tuple[Value, ...], ...]:
    return matrix.rows if isinstance(matrix, Matrix) else ()


def _read(name: str, d: Derivation, rows: Sequence[Sequence[str]]) -> Matrix:
    """A given as it was typed, of the shape that it has; `InputError` says which entry is not read."""
    now = d.givens.get(name)
    if not isinstance(now, Matrix):
        raise InputError(f"There is no given {name!r}.")
    shape = (len(rows), len(rows[0]) if rows else 0)
    if shape != now.shape or any(len(row) != shape[1] for row in rows):
        raise InputError(f"{name} is {now.shape[0]} × {now.shape[1]}.")
    for i, row in enumerate(rows, 1):
        for j, text in enumerate(row, 1):
            if not text.strip() or len(text) > LONGEST or not _IS_NUMBER.issuperset(_WORD.findall(text)):
                raise InputError(f"{name} ({i}, {j}) is {text!r}; a number was expected, such as 2, 1/2 or sqrt(3).")
    read = read_given(name, rows)
    assert isinstance(read, Matrix)
    return read


_WORD = re.compile(r"[^\W\d_]+")
_IS_NUMBER = frozenset({"sqrt", "e", "exp", "log", "ln", "pi"})
"""Words that stand in numbers; of any other, SymPy would have to be fetched to say that it is a letter."""


VERBS = verbs_of(Teacher())


def _verb(name: str) -> Verb:
    if name in VERBS:
        return VERBS[name]
    from symattn.practice import exams  # what makes an exam is loaded when it is first asked for

    return exams.VERBS[name]


def answer(request: str, told: Told = silent) -> str:
    """`{"verb": "draw", …}` answered."""
    return answered(_verb, request, told)
