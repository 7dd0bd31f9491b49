"""The class on a page or two: marks, steps, mistakes, variants beside one another, and what is left to do by hand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

from symattn.derivation.derivation import Orientation
from symattn.derivation.misconceptions import misconceptions
from symattn.derivation.slips import SLIPS
from symattn.exact import decimal_text, square_root
from symattn.foundation.languages import Message, counted, message, sentences
from symattn.marking.grading.record import Result, Row
from symattn.marking.grading.record import counted as statuses
from symattn.marking.marker.report import Event
from symattn.page.document import (
    Block,
    Document,
    Heading,
    Inlines,
    ItemList,
    Paragraph,
    Quoted,
    Strong,
    Table,
    TextLike,
    Words,
    as_text,
    in_turn,
    paragraph,
    sentence,
    table,
)
from symattn.page.writers.characters import plain
from symattn.teaching.explanation.wording import in_signs, step_in_signs


def summary_document(title: str, terms: str, rows: Sequence[Row]) -> Document:
    """Everything that a class's marks say, for the teacher."""
    marked = [row for row in rows if row.has_marks]
    blocks: list[Block] = [_policy(terms, rows)]
    if marked:
        blocks += [
            _heading("Marks"),
            _marks(marked),
            *_left_out(marked),
            *_steps(marked),
            *_mistakes(marked),
            *_variants(marked),
        ]
    blocks += _by_hand(rows)
    return Document(title, tuple(blocks), subtitle="Summary of the class")


def _policy(terms: str, rows: Sequence[Row]) -> Paragraph:
    policy = sentence("Policy: {policy}", policy=Quoted(terms))
    submissions = sentence("Submissions: {counts}", counts=reduce(_parted, statuses(rows) or [""]))
    return Paragraph((*policy, Words(" · "), *submissions))


def _parted(items: str, item: str) -> Message:
    return message("{items}; {item}", items=items, item=item)


# ------------------------------------------------------------------------------------------------ marks and steps


def _marks(marked: Sequence[Row]) -> Table:
    listed = [("Total", _spread(row.total for row in marked if not row.unread), max(row.of for row in marked))]
    if max(len(row.results) for row in marked) > 1:
        for number, results in _questions(marked):
            totals = _spread(result.total for result in results if not result.pending)
            listed.append((_named(number, results), totals, max(result.of for result in results)))
    header = ("", message("Of"), "Mean", "Median", "Standard deviation", "Lowest", "Highest")
    return table(
        header,
        (
            (name, of, two_places(x.mean), two_places(x.median), x.deviation, min(x.marks), max(x.marks))
            if x.count
            else (name, of, *["–"] * 5)
            for name, x, of in listed
        ),
    )


def _spread(totals: Iterable[int]) -> Spread:
    return Spread(tuple(totals))


def _left_out(marked: Sequence[Row]) -> Iterator[Block]:
    """How many totals are not final, and so are no part of any mean."""
    if count := sum(row.unread for row in marked):
        yield paragraph(
            counted(
                "The total of {n} student is not final: marks are pending, which are in no mean and no share.",
                "The totals of {n} students are not final: marks are pending, which are in no mean and no share.",
                n=count,
            )
        )


def _steps(marked: Sequence[Row]) -> Iterator[Block]:
    """How much of the marks of each line of the scheme was earned."""
    yield _heading("Facility")
    yield paragraph("The share of the available marks that was earned, for each line of the scheme.")
    rows = list[tuple[TextLike, ...]]()
    for number, results in _questions(marked):
        for step in _lines(results):
            got, of = _sums(results, step)
            rows.append((str(number), _step(results, step), f"{got}/{of}", percent(Fraction(got, of)) if of else "–"))
    yield table(("Question", "Step", "Marks", "Facility"), rows)


def _step(results: Iterable[Result], step: str) -> Inlines:
    """A line of the scheme, or a step, as the paper calls it: Scaled scores S'."""
    result = next((result for result in results if step in result.points), None)
    called = result.called(step) if result else [("", step)]
    return _apart([_in_words(words, sign) for words, sign in called])


def _in_words(words: str, sign: str) -> Inlines:
    if words and sign:
        return sentence("{matrix} {name}", matrix=message(words), name=step_in_signs(sign))
    return as_text(message(words)) if words else step_in_signs(sign)


def _lines(results: Iterable[Result]) -> list[str]:
    return list(dict.fromkeys(name for result in results for name in result.points))


def _sums(results: Iterable[Result], step: str) -> tuple[int, int]:
    points = [result.points[step] for result in results if step in result.points and step not in result.pending]
    return sum(got for got, _ in points), sum(of for _, of in points)


# ------------------------------------------------------------------------------------------------ mistakes


def _mistakes(marked: Sequence[Row]) -> Iterator[Block]:
    """Each mistake that was made: what, where, by how many; the commonest first."""
    yield _heading("Mistakes")
    made: dict[tuple[Inlines, int, str], list[int]] = {}
    uncertain = False
    for student, row in enumerate(marked):
        for number, result in enumerate(row.results, 1):
            for event in result.events:
                name = _called(event, result.orientation)
                made.setdefault((name, number, event.step), []).append(student)
                uncertain |= event.kind != "slip" and sum(map(bool, event.ids)) > 1
    if not made:
        yield paragraph(message("None."))
        return
    whole: dict[Inlines, set[int]] = {}
    for (name, _, _), students in made.items():
        whole.setdefault(name, set()).update(students)
    several = max(len(row.results) for row in marked) > 1
    places = sorted(
        made.items(), key=lambda item: (-len(whole[item[0][0]]), plain(item[0][0]), item[0][1], -len(item[1]))
    )
    yield table(
        ("Mistake", "Where", "Students", "Share", "Times"),
        (
            (
                name,
                sentence("Question {number}, {step}", number=number, step=_step(_of_question(marked, number), step))
                if several
                else _step(_of_question(marked, number), step),
                len(set(students)),
                percent(Fraction(len(set(students)), len(marked))),
                len(students),
            )
            for (name, number, step), students in places
        ),
    )
    if uncertain:
        yield paragraph("Mistakes joined by “or” could not be told apart from what was written.")


def _called(event: Event, orientation: Orientation) -> Inlines:
    """A mistake in words and by its id: "not scaled (C1)"; slips that cannot be told apart are slips and no more."""
    if event.kind == "slip" and len(event.ids) > 1:
        return as_text(message("slip"))
    said, *others = [sentence("{mistake} ({id})", mistake=_name(id, orientation), id=id) for id in event.ids if id] or [
        as_text(_KINDS.get(event.kind, message(event.kind)))
    ]
    for other in others:
        said = sentence("{mistakes} or {mistake}", mistakes=said, mistake=other)
    return said


_KINDS = {
    "unknown": message("not recognised"),
    "shape": message("another shape"),
    "answer": message("a wrong answer"),
}


def _name(id: str, orientation: Orientation) -> Inlines:
    """What a misconception or a slip is called; its id where it is neither."""
    if known := misconceptions().get(id):
        return in_signs(known.called(orientation), orientation)
    return in_signs(SLIPS[id].name if id in SLIPS else id)


# ------------------------------------------------------------------------------------------------ variants


def _variants(marked: Sequence[Row]) -> Iterator[Block]:
    """Whether the variants of a question were equally hard (rules.md 4.7 (9)); an adjustment is offered, never made.

    A variant is named by the paper that has it, by the id that is printed there.
    """
    families = [(number, rows) for number, rows in _answered(marked) if len(_siblings(number, rows)) > 1]
    if not families:
        return
    yield _heading("Variants")
    yield paragraph(
        message(
            "Each paper has its own variant. A variant that at least {fewest} students had is marked with * if its "
            "mean differs from the overall mean by more than a quarter of a standard deviation; a step of it is "
            "listed if its facility differs from the overall facility by more than 15 percentage points.",
            fewest=FEWEST,
        )
    )
    for number, rows in families:
        yield from _variants_apart(number, rows)


def _answered(marked: Sequence[Row]) -> Iterator[tuple[int, list[Row]]]:
    """Everybody whose marks for a question are final, by its number, from 1."""
    for number, _ in _questions(marked):
        yield number, [row for row in marked if len(row.results) >= number and not row.results[number - 1].pending]


def _siblings(number: int, rows: Sequence[Row]) -> list[tuple[str, list[Result]]]:
    """The results of each variant of a question, by the ids of the papers that have it."""
    papers: dict[str, dict[str, None]] = {}
    results: dict[str, list[Result]] = {}
    for row in sorted(rows, key=lambda row: row.sheet):
        result = row.results[number - 1]
        papers.setdefault(result.variant, {})[row.sheet] = None
        results.setdefault(result.variant, []).append(result)
    return [(", ".join(papers[variant]), own) for variant, own in results.items()]


def _variants_apart(number: int, marked: Sequence[Row]) -> Iterator[Block]:
    siblings = _siblings(number, marked)
    results = [row.results[number - 1] for row in marked]
    family = Spread(tuple(result.total for result in results))
    rows, offers = list[tuple[TextLike, ...]](), list[Inlines]()
    for name, own in siblings:
        spread = Spread(tuple(result.total for result in own))
        off, steps = is_off(spread, family), list(_steps_off(own, results))
        difference = spread.mean - family.mean
        rows.append(
            (
                Quoted(f"{name} *" if off else name),
                spread.count,
                two_places(spread.mean),
                _signed(difference),
                _apart(steps),
            )
        )
        if off:
            offers.append(_offer(name, difference))
    yield _heading(_named(number, results), 2)
    yield table(("Paper", "Students", "Mean", "Difference from the overall mean", "Steps that differ"), rows)
    means = variance([mean([r.total for r in own]) for _, own in siblings])
    within = _pooled([[r.total for r in own] for _, own in siblings])
    text = "Variance of the variants' means: {means}; of the marks within a variant: {within}."
    if within is None:
        text = (
            "Variance of the variants' means: {means}; of the marks within a variant: not known, since no two students "
            "had the same paper."
        )
    yield paragraph(message(text, means=two_places(means), within=two_places(within) if within is not None else ""))
    if offers:
        yield ItemList(tuple(offers))
        yield paragraph("Nothing has been adjusted.")


def _offer(paper: str, difference: Fraction) -> Inlines:
    """What would level a variant whose mean is off that of all."""
    marks = _signed(-difference)
    if difference > 0:
        return sentence(
            "Paper {paper} was easier. {marks} for each student who had it would make the means equal.",
            paper=Quoted(paper), marks=marks,
        )  # fmt: skip
    return sentence(
        "Paper {paper} was harder. {marks} for each student who had it would make the means equal.",
        paper=Quoted(paper), marks=marks,
    )  # fmt: skip


def _apart(items: Sequence[Inlines]) -> Inlines:
    """a · b · c."""
    said, *others = items or [()]
    for item in others:
        said = sentence("{items} · {item}", items=said, item=item)
    return said


def _steps_off(own: Sequence[Result], results: Sequence[Result]) -> Iterator[Inlines]:
    for step in _lines(own):
        (got, of), (all_got, all_of) = _sums(own, step), _sums(results, step)
        if of and all_of and facility_is_off(Fraction(got, of), Fraction(all_got, all_of), len(own)):
            own_share, whole = percent(Fraction(got, of)), percent(Fraction(all_got, all_of))
            yield sentence("{step} ({share}, overall {whole})", step=_step(own, step), share=own_share, whole=whole)


def _pooled(groups: Sequence[Sequence[int]]) -> Fraction | None:
    """The variance within groups: squares off each group's own mean, over what is left of the counts."""
    freedom = sum(len(group) - 1 for group in groups)
    return sum((variance(group) * (len(group) - 1) for group in groups), Fraction(0)) / freedom if freedom else None


def _signed(value: Fraction) -> str:
    text = two_places(value)
    return f"+{text}" if value > 0 and not text.startswith("-") else text.replace("-", "−")


# ------------------------------------------------------------------------------------------------ by hand


def _by_hand(rows: Sequence[Row]) -> Iterator[Block]:
    """What a person still has to do."""
    broken = [(row, [row.reason, *row.notices]) for row in rows if row.is_unmarked]
    missing = [(row, [*row.notices]) for row in rows if row.status == "missing"]
    unread = [message("An answer has to be read by a person.")]
    seen = [
        (row, [*filter(None, [row.reason]), *(unread if _to_read(row) else []), *row.said])
        for row in rows
        if row.has_marks
    ]
    lists = (
        (message("Not marked"), "Handed in, but not marked.", broken),
        (message("Missing"), "In the class list, but nothing was handed in that is clearly theirs.", missing),
        (message("To check"), "Marked, but someone should look at it.", [(row, said) for row, said in seen if said]),
    )
    for title, meaning, listed in lists:
        if listed:
            yield _heading(message("{title}: {count}", title=title, count=len(listed)))
            yield paragraph(meaning)
            yield ItemList(
                tuple(
                    in_turn([(Strong(Quoted(_whose(row) + ":" * bool(said))),), (Words(sentences(*said)),)])
                    for row, said in listed
                )
            )


def _to_read(row: Row) -> bool:
    """Whether it waits for an answer to be read, and not only for whose it is."""
    return row.status == "pending" and (not row.reason or row.unread)


def _whose(row: Row) -> str:
    who = f"{row.name} ({row.id})" if row.name and row.id else row.name or row.id
    return ", ".join(filter(None, (who, row.file)))


# ------------------------------------------------------------------------------------------------ pieces


def _questions(marked: Sequence[Row]) -> Iterator[tuple[int, list[Result]]]:
    """The results of every question, from 1."""
    for number in range(max(len(row.results) for row in marked)):
        yield number + 1, _of_question(marked, number + 1)


def _of_question(marked: Sequence[Row], number: int) -> list[Result]:
    return [row.results[number - 1] for row in marked if len(row.results) >= number]


def _named(number: int, results: Sequence[Result]) -> str:
    titles = dict.fromkeys(result.title for result in results)
    if len(titles) > 1:
        return message("Question {number}", number=number)
    return message("{number}. {title}", number=number, title=message(next(iter(titles))))


def _heading(text: str, level: int = 1) -> Heading:
    return Heading(as_text(text), level)


FEWEST = 20
"""So many of a variant are needed before it is compared."""
MEAN_OFF = Fraction(1, 4)
"""Standard deviations that a variant's mean may be off the family's."""
FACILITY_OFF = Fraction(15, 100)


@dataclass(frozen=True)
class Spread:
    """Some marks: how many, and where they lie.  `variance` is that of a sample, 0 for a single one."""

    marks: tuple[int, ...]

    @property
    def count(self) -> int:
        return len(self.marks)

    @property
    def mean(self) -> Fraction:
        return mean(self.marks)

    @property
    def median(self) -> Fraction:
        ordered, half = sorted(self.marks), self.count // 2
        return Fraction(ordered[half]) if self.count % 2 else Fraction(ordered[half - 1] + ordered[half], 2)

    @property
    def variance(self) -> Fraction:
        return variance(self.marks)

    @property
    def deviation(self) -> str:
        """The standard deviation to two places."""
        return decimal_text(square_root(self.variance), 2)


def mean(values: Sequence[int | Fraction]) -> Fraction:
    return Fraction(sum(values), len(values))


def variance(values: Sequence[int | Fraction]) -> Fraction:
    """Of a sample: divided by one less than there are; 0 for a single one."""
    if len(values) < 2:
        return Fraction(0)
    centre = mean(values)
    return sum(((x - centre) ** 2 for x in values), Fraction(0)) / (len(values) - 1)


def is_off(variant: Spread, family: Spread) -> bool:
    """Whether a variant was harder or easier than its family: |mean − family's mean| > SD/4, of 20 or more."""
    return variant.count >= FEWEST and (variant.mean - family.mean) ** 2 > MEAN_OFF**2 * family.variance


def facility_is_off(variant: Fraction, family: Fraction, count: int) -> bool:
    """The same for the share of the marks of one step."""
    return count >= FEWEST and abs(variant - family) > FACILITY_OFF


def two_places(value: Fraction) -> str:
    return decimal_text(value, 2)


def percent(share: Fraction) -> Message:
    """A share as whole per cent."""
    return message("{number}%", number=decimal_text(100 * share, 0))
