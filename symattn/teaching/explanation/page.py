"""A derivation on the page of its notation: the notation's sections in order, and every step that they leave out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal

from symattn.derivation.derivation import Step
from symattn.errors import InputError
from symattn.exact import Outline, has_symbols
from symattn.formula import Formula, Relation, Row, equal, read_formula
from symattn.formula.width import fold, width, wrapped
from symattn.foundation.languages import Message, capitalised
from symattn.page.document import (
    Block,
    Columns,
    Diagram,
    Display,
    Heading,
    Inlines,
    ItemList,
    Paragraph,
    Together,
    Words,
    as_text,
    in_turn,
    sentence,
    spans,
    table,
)
from symattn.page.notation import PageItem, Section
from symattn.teaching.explanation.diagrams import diagram
from symattn.teaching.explanation.layouts import STEP, Layout, Schemes, joined, titled, with_rule_apart
from symattn.teaching.explanation.program import StepPrograms
from symattn.teaching.explanation.steps import Detail, entries, explain_step, step_title
from symattn.teaching.explanation.wording import LINE, Wording
from symattn.teaching.problem import Erratum, Problem

Mode = Literal["as-written", "corrected"]

SHORT = 40
"""Leading words up to this length stand on the line of their formula."""


def page(
    problem: Problem, detail: Detail, layout: Layout = "matrix", programs: StepPrograms | None = None
) -> list[Block]:
    """The body of a derivation's document: givens, then every step, with its program below it if there are any.

    A layout of the reader's choice is another page than the notation's own.  `InputError` if a note is to be printed as
    it was written in another layout than its own.
    """
    if layout != "matrix" and not problem.corrected:
        raise InputError(f"A note as it was written has a layout of its own; {layout} goes with it corrected.")
    builder = _Page(problem, detail, "matrix" if layout == "flow" else layout, programs or StepPrograms((), {}))
    blocks = joined(builder.blocks())
    return [*blocks, *builder.errata()] if problem.errata else blocks


class _Page:
    def __init__(self, problem: Problem, detail: Detail, layout: Layout, programs: StepPrograms) -> None:
        self.problem = problem
        self.detail = detail
        self.layout = layout
        self.derivation = self.problem.derivation
        self.wording = Wording(self.derivation, self.problem.notation)
        self.mode: Mode = "corrected" if self.problem.corrected else "as-written"
        self.patches = {e.at: e.patch for e in self.problem.errata if e.at and self.mode == "as-written"}
        self.covered: set[str] = set()
        self.shown: set[str] = set()
        self.section = ""
        self.programs = programs
        self.opened = False
        self.programmed: set[str] = set()

    def blocks(self) -> Iterator[Block]:
        sections = [s for s in self.notation_sections() if self.applies(s)]
        covered = [self.mentions(s) for s in sections]
        self.covered = set[str]().union(*covered)
        givens = [name for name in self.derivation.givens if name not in self.covered]
        if givens and not (self.mode == "as-written" and sections):
            yield from self.givens(givens)
            yield from self.opening()
        for section, names in zip(sections, covered, strict=True):
            first = next((s.name for s in self.derivation if s.name in names - self.shown), None)
            if first:
                yield from self.catch_up(first)
            with self.wording.notation.place.here():
                yield from self.written_section(section)
            self.shown |= names
        yield from self.catch_up()
        yield from self.programs_until(step.name for step in self.derivation)
        yield from self.programs.closing

    def opening(self) -> Iterator[Block]:
        """What opens the programs, once."""
        if not self.opened:
            self.opened = True
            yield from self.programs.opening

    def programs_until(self, names: Iterable[str]) -> Iterator[Block]:
        """The programs of some steps and of those before them, each once."""
        wanted = set(names)
        last = max((number for number, step in enumerate(self.derivation) if step.name in wanted), default=-1)
        for step in self.derivation.steps[: last + 1]:
            if step.name not in self.programmed:
                self.programmed.add(step.name)
                yield from self.opening()
                yield from self.programs.steps.get(step.name, ())

    def notation_sections(self) -> tuple[Section, ...]:
        """The notation's page; None if tokens lie the other way, for its words and products would be wrong."""
        notation = self.problem.notation
        if self.layout != "matrix":
            return ()
        own = notation.settings.get("orientation", "rows")
        return notation.sections if own == self.derivation.orientation else ()

    def errata(self) -> Iterator[Block]:
        """What a note says, what it should say, and why."""
        title = "Errata corrected here" if self.mode == "corrected" else "Errata of the note, left as they are"
        yield Heading(as_text(title), 1)
        yield ItemList(tuple(map(self.erratum, self.problem.errata)))

    def erratum(self, erratum: Erratum) -> Inlines:
        told = sentence(
            "{id} ({kind}). As written: {written} Correct: {corrected}",
            id=erratum.id, kind=erratum.kind,
            written=self.inlines(erratum.as_written, {}), corrected=self.inlines(erratum.corrected, {}),
        )  # fmt: skip
        return in_turn([told, self.inlines(erratum.why.rstrip(), {})] if erratum.why.strip() else [told])

    # -- what the sections leave out

    def catch_up(self, until: str = "") -> Iterator[Block]:
        """The steps that no section shows, as far as they come before step `until`; all of them without it."""
        if self.mode == "as-written":
            return  # a note is printed as it stands
        for step in self.derivation:
            if step.name == until:
                return
            if step.name not in self.covered and step.name not in self.shown:
                self.shown.add(step.name)
                yield from self.default(step)

    def givens(self, names: list[str]) -> Iterator[Block]:
        formulas: list[Formula] = []
        for name in names:
            value = self.derivation.value(name)
            shaped = self.wording.shaped(self.wording.name(name), value)
            formulas.append(equal(shaped, self.wording.values(value, name)))
        yield Heading(as_text("Given"), 1, of="given")
        yield Display(wrapped(formulas, LINE))

    def default(self, step: Step) -> Iterator[Block]:
        if step.section and step.section != self.section:
            self.section = step.section
            named = isinstance(step.section, Message)
            yield Heading(as_text(capitalised(step.section) if named else _begun(step.section)), 1)
        title, worked = step_title(step, self.wording), tuple(explain_step(step, self.wording, self.detail))
        if self.layout == "columns":
            rule, rest = with_rule_apart(worked)
            yield Columns(STEP, (((titled(title), *rule), (*rest, *self.programs_until([step.name]))),))
            return
        yield Heading(title, 2 if step.section else 1)
        yield from Schemes(self.wording).shown(worked) if self.layout == "falk" else worked
        yield from self.programs_until([step.name])

    # -- the sections

    def applies(self, thing: Section | PageItem) -> bool:
        if thing.only and thing.only != self.mode:
            return False
        needed = [*thing.needs, *(_STEP.findall(" ".join(thing.math)) if isinstance(thing, PageItem) else ())]
        if isinstance(thing, PageItem) and _NUMERIC.search(" ".join(thing.math)):
            needed.append("numbers")
        if any(not self.has(name) for name in needed):
            return False
        if isinstance(thing, Section) and thing.items:
            return any(self.applies(item) for item in thing.items)
        steps = (*thing.steps, *thing.entries) if isinstance(thing, PageItem) else ()
        return not steps or any(map(self.has, steps))

    def has(self, name: str) -> bool:
        """Whether the derivation has the matrix; `S.i` stands for one token's, `!S'` for none such.

        In the same way: `tokens`, as many as a number says; `numbers` in all givens, or `letters` for sizes of some;
        `symbols` among the entries; `note`, the page of a note and not of another problem in its notation.
        """
        if name.startswith("!"):
            return not self.has(name[1:])
        role, dot, token = name.partition(".")
        if name == "tokens":
            return isinstance(self.wording.sizes.get("n"), int)
        if name == "note":
            return bool(self.problem.errata)
        if name == "symbols":
            return any(isinstance(m, Outline) or any(map(has_symbols, m)) for m in self.derivation.givens.values())
        if name in ("numbers", "letters"):
            outlined = any(isinstance(given, Outline) for given in self.derivation.givens.values())
            return outlined == (name == "letters")
        return (role + ".1" if dot and not token.isdigit() else name) in self.derivation

    def mentions(self, section: Section) -> set[str]:
        """The givens and steps that a section shows."""
        shown = list(section.covers)
        for item in filter(self.applies, section.items):
            shown += [*item.steps, *_SHOWN.findall(" ".join(item.math))]
        names = set(shown)
        for name in shown:
            role, dot, _ = name.partition(".")
            names |= {s.name for s in self.derivation if dot and s.role == role and s.token}
        return names

    def tokens(self) -> range:
        n = self.wording.sizes.get("n", 0)
        return range(1, (n if isinstance(n, int) else 0) + 1)

    def written_section(self, section: Section) -> Iterator[Block]:
        if section.repeat:
            for number in self.tokens():
                yield from led(self.section_once(section, {section.repeat: number}))
        else:
            yield from led(self.section_once(section, {}))

    def section_once(self, section: Section, indices: dict[str, int]) -> Iterator[Block]:
        yield from self.heading(section, indices)
        pending: list[str] = []
        for item in filter(self.applies, section.items):
            each = [{**indices, item.repeat: number} for number in self.tokens()] if item.repeat else [indices]
            named = [*item.steps, *item.entries, *_SHOWN.findall(" ".join(item.math))]
            shown = [step.name for own in each for step in self.meant_by(named, own)]
            if pending and not set(pending) & set(shown):
                yield from self.programs_until(pending)
                pending = []
            pending += shown
            if item.math:
                together = len(item.lead) < 3 and not any("{" in lead for lead in item.lead)
                yield from self.displays(item, [(self.lead(item, own), own) for own in each], together)
            else:
                for own in each:
                    yield from self.item(item, own)
        yield from self.programs_until(pending)

    def heading(self, section: Section, indices: dict[str, int]) -> Iterator[Heading]:
        label, title = (self.inlines(text, indices) for text in (section.label, section.title))
        if not (section.label and section.title):
            if section.label or section.title:
                yield Heading(title if section.title else label)
        elif section.label.endswith("."):
            yield Heading(title, label=label, of="question")
        else:
            yield Heading(sentence("{label}: {title}", label=label, title=title))

    def lead(self, item: PageItem, indices: dict[str, int]) -> str:
        """The words before a formula: the first for the first token, and so on; the last for all further ones."""
        number = indices.get(item.repeat, 1)
        return item.lead[min(number, len(item.lead)) - 1] if item.lead else ""

    def displays(self, item: PageItem, each: list[tuple[str, dict[str, int]]], together: bool) -> Iterator[Block]:
        """Formulas with what leads to them: short words on the same line, long ones above."""
        patch = self.patches.get(item.id) if item.id else None
        formulas = (patch,) if patch else item.math
        groups = [
            (lead, indices, [line for f in formulas for line in self.lines(f, indices)]) for lead, indices in each
        ]
        if together and groups:
            lead, indices, _ = groups[0]
            groups = [(lead, indices, [line for _, _, lines in groups for line in lines])]
        above = any(len(lead) > SHORT for lead, _, _ in groups)
        for lead, indices, lines in groups:
            words = self.inlines(lead, indices) if lead else ()
            if above and words:
                yield Paragraph(words)
            yield Display(tuple(lines), () if above else words)

    def item(self, item: PageItem, indices: dict[str, int]) -> Iterator[Block]:
        patch = self.patches.get(item.id) if item.id else None
        if item.text:
            yield Paragraph(self.inlines(patch or item.text, indices))
        elif item.table:
            header, *rows = [[self.inlines(cell, indices) for cell in row] for row in item.table]
            yield table(header, rows)
        elif item.diagram:
            yield diagram(patch or item.diagram, self.wording)
        elif item.entries:
            for step in self.meant_by(item.entries, indices):
                yield from entries(step, self.wording, self.detail)
        else:
            for step in self.meant_by(item.steps, indices):
                yield from self.catch_up(step.name)
                yield from explain_step(step, self.wording, self.detail)

    def meant_by(self, names: Iterable[str], indices: dict[str, int]) -> Iterator[Step]:
        """The steps of these names, in the order of the names."""
        for name in names:
            yield from (step for step in self.derivation if self.meant(step, name, indices))

    def meant(self, step: Step, name: str, indices: dict[str, int]) -> bool:
        """`S.2` is that step; `S.i` is token i's, or every token's where i is no index here."""
        role, _, token = name.partition(".")
        if not token or token.isdigit():
            return step.name == name
        return step.role == role and step.token is not None and step.token == indices.get(token, step.token)

    def lines(self, text: str, indices: dict[str, int]) -> list[Formula]:
        formula = read_formula(text, self.wording.scope(**indices))
        match formula:
            case Relation():
                return list(fold(formula, LINE))
            case Row(items) if width(formula) > LINE:
                return list(wrapped(items, LINE))
        return [formula]

    def inlines(self, text: str, indices: dict[str, int]) -> Inlines:
        return self.wording.inlines(text, {**self.wording.sizes, **indices}, **indices)


_WITH_NUMBERS = "values|nested|decimals|numbers|working|work|visible|entry|sums|weighing|totals|grid"
_STEP = re.compile(rf"@(?:{_WITH_NUMBERS}|named|shape|scale|labelledmask)\(([^,()\[\]^]+)")
_SHOWN = re.compile(rf"@(?:{_WITH_NUMBERS})\(([^,()\[\]^]+)")
_NUMERIC = re.compile(r"@(?:decimals|entry|weight|weighing|sums|totals|grid)\(")


def _begun(text: str) -> str:
    """A person's own text, its first letter large."""
    return text[:1].upper() + text[1:]


def led(blocks: Iterable[Block]) -> Iterator[Block]:
    """Words that lead to a figure or a formula ("That is to say:") stay on its page."""
    before: Paragraph | None = None
    for block in blocks:
        if before and (isinstance(block, Diagram) or (isinstance(block, Display) and _ends_with_colon(before))):
            yield Together((before, block))
            before = None
            continue
        if before:
            yield before
        before = block if isinstance(block, Paragraph) else None
        if not before:
            yield block
    if before:
        yield before


def _ends_with_colon(paragraph: Paragraph) -> bool:
    *_, last = (None, *spans(paragraph.content))
    return isinstance(last, Words) and last.text.rstrip().endswith(":")
